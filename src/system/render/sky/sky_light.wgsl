// The light of the sky on surfaces, and the air in front of them, for shaders of meshes.

#include "octahedron.wgsl"
#include "height_fog.wgsl"

// The filtered light of skies (sky_maps.wgsl): a layer for each; a level for each roughness, and
// one level with the coefficients of the light on matte surfaces.
@group(0) @binding(12) var sky_maps: texture_2d_array<f32>;
@group(0) @binding(13) var sky_maps_sampler: sampler;

fn sky_level(direction: vec3f, level: f32) -> vec3f {
    let uv = octahedron_uv(direction, view.sky_light.y / exp2(level));
    let layer = i32(view.sky_light.x);
    return textureSampleLevel(sky_maps, sky_maps_sampler, uv, layer, level).rgb;
}

// Returns the light that a surface of a roughness mirrors from a direction.
fn sky_mirrored(direction: vec3f, roughness: f32) -> vec3f {
    let level = clamp(roughness, 0.0, 1.0) * (view.sky_light.z - 1.0);
    let lower = floor(level);
    let near = sky_level(direction, lower);
    return mix(near, sky_level(direction, min(lower + 1.0, view.sky_light.z - 1.0)), level - lower);
}

fn sky_coefficient(index: i32) -> vec3f {
    let at = vec2i(index & 3, index >> 2u);
    return textureLoad(sky_maps, at, i32(view.sky_light.x), i32(view.sky_light.z)).rgb;
}

// Returns the light that a white matte surface gathers.
fn sky_gathered(n: vec3f) -> vec3f {
    let sum = sky_coefficient(0)
        + sky_coefficient(1) * n.y + sky_coefficient(2) * n.z + sky_coefficient(3) * n.x
        + sky_coefficient(4) * (n.x * n.y) + sky_coefficient(5) * (n.y * n.z)
        + sky_coefficient(6) * (3.0 * n.z * n.z - 1.0) + sky_coefficient(7) * (n.x * n.z)
        + sky_coefficient(8) * (n.x * n.x - n.y * n.y);
    return max(sum, vec3f(0.0));
}

// The light that a surface reflects from the maps of a sky: from all sides, and mirrored.
struct SkyReflected {
    matte: vec3f,
    mirror: vec3f,
}

// Returns the light that a surface reflects from the maps of a sky. `single` is the fraction that
// it mirrors by one reflection, and `all` that of a surface which reflects everything: the rest is
// reflected several times between its facets (Fdez-Aguera, "A Multiple-Scattering Microfacet Model
// for Real-Time Image-based Lighting", 2019).
fn sky_reflected(
    normal: vec3f,
    mirrored_from: vec3f,
    roughness: f32,
    diffuse: vec3f,
    f0: vec3f,
    single: vec3f,
    all: f32,
) -> SkyReflected {
    let rest = clamp(1.0 - all, 0.0, 1.0);
    let mean = f0 + (1.0 - f0) / 21.0;
    let several = single * mean * rest / max(1.0 - mean * rest, vec3f(1e-3));
    let matte = several + diffuse * max(1.0 - single - several, vec3f(0.0));
    let mirror = single * sky_mirrored(mirrored_from, roughness);
    return SkyReflected(matte * sky_gathered(normal), mirror);
}

// Applies the air and the fog to light that has come some metres from a point of the world.
fn through_air(color: vec3f, metres: f32, world: vec3f) -> vec3f {
    if view.air.w < 0.5 && view.fog_shape.w < 0.5 {
        return mix(view.fog.rgb, color, exp(-view.fog.w * metres));
    }
    let way = world - view.eye.xyz;
    let ray = way / max(length(way), 1e-5);
    let direction = select(view.ahead.xyz, ray, view.eye.w > 0.5);
    var light = color;
    if view.air.w > 0.5 {
        // Endless air has the color of the sky above the horizon.
        let above = normalize(vec3f(direction.xy, max(direction.z, 0.02)));
        light = mix(sky_mirrored(above, 0.3), light, exp(-view.air.rgb * metres));
    }
    let from_height = world.z - direction.z * metres;
    let depth = engine_fog_depth(view.fog_shape, view.fog.w, from_height, direction.z, metres);
    return mix(fog_light(direction), light, exp(-depth));
}
