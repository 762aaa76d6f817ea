// Froxel fog in front of surfaces and particles. The shader declares `sky_maps_sampler`.

#include "fog_grid.wgsl"

// The summed fog of the view. One texel if it has none.
@group(0) @binding(18) var fog_froxels: texture_2d<f32>;

// Returns the fog between the camera and a point, as `engine_fog_before`.
fn fog_in_front(world: vec3f) -> vec4f {
    let clip = view.to_clip * vec4f(world, 1.0);
    let uv = clip.xy / max(clip.w, 1e-6) * vec2f(0.5, -0.5) + 0.5;
    let ahead = dot(world - view.eye.xyz, view.ahead.xyz);
    let inside = clamp(uv, vec2f(0.0), vec2f(1.0));
    let grid = view.fog_grid;
    return engine_fog_before(fog_froxels, sky_maps_sampler, grid, view.fog_reach, inside, ahead);
}

// Returns the light that arrives from a point behind the froxel fog of the view.
fn through_froxels(color: vec3f, world: vec3f) -> vec3f {
    if hidden(view.fog_reach.w) < 0.5 {
        return color;
    }
    let fog = fog_in_front(world);
    return color * fog.a + fog.rgb;
}
