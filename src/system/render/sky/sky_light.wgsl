// The light of the sky on surfaces, and the air in front of them, for shaders of meshes.

#include "octahedron.wgsl"
#include "height_fog.wgsl"
#include "froxel_fog.wgsl"

// The filtered light of skies (sky_maps.wgsl): a layer for each; a level for each roughness, and
// one level with the coefficients of the light on matte surfaces.
@group(0) @binding(12) var sky_maps: texture_2d_array<f32>;
@group(0) @binding(13) var sky_maps_sampler: sampler;

// True if the maps of a sky or of probes light the view.
override SKY_MAPS: bool = false;

fn sky_level(direction: vec3f, layer: f32, level: f32) -> vec3f {
    let uv = octahedron_uv(direction, view.sky_light.y / exp2(level));
    return textureSampleLevel(sky_maps, sky_maps_sampler, uv, i32(layer), level).rgb;
}

// Returns the light that a surface of a roughness mirrors from a direction, by the maps of a layer.
fn map_mirrored(direction: vec3f, roughness: f32, layer: f32) -> vec3f {
    let last = view.sky_light.z - 1.0;
    let level = clamp(roughness, 0.0, 1.0) * last;
    let lower = floor(level);
    let near = sky_level(direction, layer, lower);
    return mix(near, sky_level(direction, layer, min(lower + 1.0, last)), level - lower);
}

fn map_coefficient(index: i32, layer: f32) -> vec3f {
    let at = vec2i(index & 3, index >> 2u);
    return textureLoad(sky_maps, at, i32(layer), i32(view.sky_light.z)).rgb;
}

// Returns the light that a white matte surface gathers, by the maps of a layer.
fn map_gathered(n: vec3f, layer: f32) -> vec3f {
    let sum = map_coefficient(0, layer)
        + map_coefficient(1, layer) * n.y
        + map_coefficient(2, layer) * n.z
        + map_coefficient(3, layer) * n.x
        + map_coefficient(4, layer) * (n.x * n.y)
        + map_coefficient(5, layer) * (n.y * n.z)
        + map_coefficient(6, layer) * (3.0 * n.z * n.z - 1.0)
        + map_coefficient(7, layer) * (n.x * n.z)
        + map_coefficient(8, layer) * (n.x * n.x - n.y * n.y);
    return max(sum, vec3f(0.0));
}

// The light around a surface.
struct Around {
    mirrored: vec3f,
    gathered: vec3f,
}

// Returns the direction from a probe's position to the point of its box that a ray meets:
// Lagarde and Zanuttini, "Local Image-based Lighting with Parallax-corrected Cubemaps", 2012.
fn on_box(probe: Probe, at: vec3f, world: vec3f, ray: vec3f) -> vec3f {
    let way = vec3f(dot(probe.x.xyz, ray), dot(probe.y.xyz, ray), dot(probe.z.xyz, ray));
    let side = select(vec3f(-1.0), vec3f(1.0), way >= vec3f(0.0));
    let steps = (side - at) / (side * max(abs(way), vec3f(1e-6)));
    let metres = max(min(min(steps.x, steps.y), steps.z), 0.0);
    let towards = world + ray * metres - probe.position.xyz;
    let far = length(towards);
    return select(ray, towards / max(far, 1e-6), far > 1e-4);
}

// Returns the light around a point: that of the probes whose boxes contain it, in their order, and
// that of the sky as far as they let it through.
fn light_around(world: vec3f, normal: vec3f, ray: vec3f, roughness: f32) -> Around {
    var sum = Around(vec3f(0.0), vec3f(0.0));
    var left = 1.0;
    let count = hidden_count(u32(view.fog_towards.w));
    for (var i = 0u; i < count; i++) {
        let probe = view.probes[i];
        let point = vec4f(world, 1.0);
        let at = vec3f(dot(probe.x, point), dot(probe.y, point), dot(probe.z, point));
        let inside = clamp((1.0 - abs(at)) * probe.fade.xyz, vec3f(0.0), vec3f(1.0));
        let part = left * min(min(inside.x, inside.y), inside.z);
        if part > 0.0 {
            let layer = probe.position.w;
            let light = part * probe.fade.w;
            sum.mirrored += map_mirrored(on_box(probe, at, world, ray), roughness, layer) * light;
            sum.gathered += map_gathered(normal, layer) * light;
            left -= part;
        }
    }
    if left > 0.0 && hidden(view.sky_light.x) < 0.0 {
        sum.mirrored += sky(ray, roughness) * left;
        sum.gathered += sky(normal, 1.0) * left;
    } else if left > 0.0 {
        sum.mirrored += map_mirrored(ray, roughness, view.sky_light.x) * left;
        sum.gathered += map_gathered(normal, view.sky_light.x) * left;
    }
    return sum;
}

// The light that a surface reflects: from all sides, and mirrored.
struct Reflected {
    matte: vec3f,
    mirror: vec3f,
}

// Returns the light that a surface reflects from the light around it. `single` is the fraction that
// it mirrors by one reflection, and `all` that of a surface which reflects everything: the rest is
// reflected several times between its facets (Fdez-Aguera, "A Multiple-Scattering Microfacet Model
// for Real-Time Image-based Lighting", 2019).
fn around_reflected(
    around: Around,
    diffuse: vec3f,
    f0: vec3f,
    single: vec3f,
    all: f32,
) -> Reflected {
    let rest = clamp(1.0 - all, 0.0, 1.0);
    let mean = f0 + (1.0 - f0) / 21.0;
    let several = single * mean * rest / max(1.0 - mean * rest, vec3f(1e-3));
    let matte = several + diffuse * max(1.0 - single - several, vec3f(0.0));
    return Reflected(matte * around.gathered, single * around.mirrored);
}

// Applies the air and the fog to light that has come some metres from a point of the world.
fn through_air(color: vec3f, metres: f32, world: vec3f) -> vec3f {
    let has_air = SKY_MAPS && hidden(view.air.w) > 0.5;
    if !has_air && hidden(view.fog_shape.w) < 0.5 {
        return mix(view.fog.rgb, color, exp(-view.fog.w * metres));
    }
    let way = world - view.eye.xyz;
    let ray = way / max(length(way), 1e-5);
    let direction = select(view.ahead.xyz, ray, view.eye.w > 0.5);
    var light = color;
    if has_air {
        // Endless air has the color of the sky above the horizon.
        let above = normalize(vec3f(direction.xy, max(direction.z, 0.02)));
        light = mix(map_mirrored(above, 0.3, view.sky_light.x), light, exp(-view.air.rgb * metres));
    }
    let from_height = world.z - direction.z * metres;
    let shape = view.fog_shape + hidden(0.0);
    let depth = engine_fog_depth(shape, view.fog.w, from_height, direction.z, metres);
    return mix(fog_light(direction), light, exp(-depth));
}
