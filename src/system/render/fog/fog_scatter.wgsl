// The light that the fog in each froxel sends towards the camera, and its extinction: Wronski,
// "Volumetric Fog: Unified Compute Shader Based Solution to Atmospheric Scattering", 2014. It is
// blended with that of the previous frames.

#include "view_uniforms.wgsl"
#include "sky_light.wgsl"
#include "light_reach.wgsl"
#include "fog_inputs.wgsl"

@group(0) @binding(3) var sun_maps: texture_depth_2d_array;
@group(0) @binding(5) var compare: sampler_comparison;

// The scattering of the previous frame.
@group(1) @binding(1) var history: texture_2d<f32>;

// The fog at a point, per metre: light of the lights around it that is scattered, light of its own,
// and extinction.
struct Medium {
    scattering: vec3f,
    emission: vec3f,
    extinction: f32,
}

fn medium_at(world: vec3f) -> Medium {
    let thin = exp(-fog.shape.y * max(world.z - fog.shape.x, 0.0));
    let density = fog.color.w * thin;
    var out = Medium(fog.color.rgb * density, fog.emission.rgb * density, density);
    for (var i = 0u; i < hidden_count(u32(fog.history_reach.w)); i++) {
        let volume = fog.volumes[i];
        let point = vec4f(world, 1.0);
        let at = abs(vec3f(dot(volume.x, point), dot(volume.y, point), dot(volume.z, point)));
        let of_box = clamp((1.0 - at) * volume.fade.xyz, vec3f(0.0), vec3f(1.0));
        let of_sphere = clamp((1.0 - length(at)) * volume.fade.w, 0.0, 1.0);
        let is_sphere = volume.emission.w > 0.5;
        let inside = select(min(min(of_box.x, of_box.y), of_box.z), of_sphere, is_sphere);
        let own = volume.color.w * inside;
        out.scattering += volume.color.rgb * own;
        out.emission += volume.emission.rgb * own;
        out.extinction += own;
    }
    return out;
}

// Returns the part of the light from a direction that is scattered along a ray: the phase function
// of Henyey and Greenstein, "Diffuse radiation in the Galaxy", 1941, times pi, as the color of a
// light is that of a white surface.
fn phase(towards: vec3f, ray: vec3f) -> f32 {
    let g = fog.emission.w;
    let base = max(1.0 + g * g - 2.0 * g * dot(towards, ray), 1e-4);
    return 0.25 * (1.0 - g * g) / (base * sqrt(base));
}

// Returns the mean light of the sky from all directions.
fn mean_sky() -> vec3f {
    if SKY_MAPS && hidden(view.sky_light.x) >= 0.0 {
        return map_coefficient(0, view.sky_light.x);
    }
    var sum = vec3f(0.0);
    for (var i = 0; i < 4; i++) {
        sum += sky(vec3f(0.0, 0.0, f32(i) * 0.5 - 0.75), 1.0);
    }
    return sum * 0.25;
}

// Returns the light that arrives at a point, weighted by how much of it is scattered along a ray.
fn arriving_light(world: vec3f, ray: vec3f, pixel: vec2f) -> vec3f {
    var sum = vec3f(0.0);
    for (var i = 0u; i < hidden_count(view.counts.x); i++) {
        let sun = view.suns[i];
        var strength = phase(sun.towards.xyz, ray);
        if sun.towards.w > 0.5 {
            strength *= sun_open(world);
        }
        sum += sun.color.rgb * strength;
    }
    let list = lights_at(world, pixel);
    for (var i = list.first; i < list.end; i++) {
        let light = lights[view.cluster_begin.y + light_grid[i]];
        let reach = reach_of(world, light);
        if reach.strength > 0.0 && (light.layers & 255u) != 0u {
            // Close to a lamp, a point would stand for a froxel that is much larger.
            let metres = max(reach.metres, LAMP_METRES_MIN);
            let limited = reach.strength * (reach.metres * reach.metres) / (metres * metres);
            sum += light.color * lamp_tint(light, reach) * limited * phase(reach.towards, ray)
                * lamp_open(world, light);
        }
    }
    return sum * fog.history_ahead.w + mean_sky() * (fog.shape.z * view.sky_light.w);
}

// Lamps shine on fog as if it were at least this far away.
const LAMP_METRES_MIN: f32 = 0.1;

// Returns the froxels of the previous frame at a point; the last is below 0 outside of them.
fn previous(world: vec3f) -> vec4f {
    let clip = fog.history_to_clip * vec4f(world, 1.0);
    let uv = clip.xy / max(clip.w, 1e-6) * vec2f(0.5, -0.5) + 0.5;
    let ahead = dot(world - fog.history_eye.xyz, fog.history_ahead.xyz);
    let grid = view.fog_grid;
    let slice = engine_fog_slice(grid, fog.history_reach, ahead) - 0.5;
    let is_outside = clip.w <= 0.0 || any(uv < vec2f(0.0)) || any(uv > vec2f(1.0))
        || ahead < fog.history_reach.y || ahead > fog.history_reach.y + fog.history_reach.x;
    if is_outside {
        return vec4f(0.0, 0.0, 0.0, -1.0);
    }
    let inside = clamp(slice, 0.0, grid.z - 1.0);
    let lower = floor(inside);
    let upper = min(lower + 1.0, grid.z - 1.0);
    let nearer = engine_fog_read(history, sky_maps_sampler, grid, uv, lower);
    let farther = engine_fog_read(history, sky_maps_sampler, grid, uv, upper);
    return mix(nearer, farther, inside - lower);
}

// Returns numbers that half floats can store, without those that are not finite.
fn storable(color: vec4f) -> vec4f {
    let exponent = bitcast<vec4u>(color) & vec4u(0x7f800000u);
    let finite = select(color, vec4f(0.0), exponent == vec4u(0x7f800000u));
    return clamp(finite, vec4f(0.0), vec4f(60000.0));
}

@fragment
fn scatter_fragment(in: Corner) -> @location(0) vec4f {
    hide_uniforms(in.clip.xy);
    let froxel = froxel_at(in.clip.xy);
    let grid = view.fog_grid;
    if froxel.slice >= grid.z {
        return vec4f(0.0);
    }
    let way = fog_ray(froxel.cell);
    let ahead = engine_fog_ahead(grid, view.fog_reach, froxel.slice + 0.5 + fog.shape.w);
    let world = way.origin + way.step * ahead;
    let medium = medium_at(world);
    var light = medium.emission;
    if any(medium.scattering > vec3f(0.0)) {
        // Clusters have the size of the view's image.
        let columns = vec2f(f32(CLUSTER_COLUMNS), f32(CLUSTER_ROWS));
        let pixel = (froxel.cell + 0.5) / grid.xy * columns / view.cluster_scale.xy;
        light += medium.scattering * arriving_light(world, normalize(way.step), pixel);
    }
    var out = storable(vec4f(light, medium.extinction));
    if hidden(fog.history_eye.w) > 0.0 {
        let middle = engine_fog_ahead(grid, view.fog_reach, froxel.slice + 0.5);
        let before = previous(way.origin + way.step * middle);
        if before.a >= 0.0 {
            out = mix(out, storable(before), fog.history_eye.w);
        }
    }
    return out;
}
