// Froxel fog in front of the sky, or of an empty background.

#include "view_uniforms.wgsl"
#include "fog_grid.wgsl"

@group(0) @binding(13) var sky_maps_sampler: sampler;
@group(0) @binding(18) var fog_froxels: texture_2d<f32>;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
}

@vertex
fn over_sky_vertex(@builtin(vertex_index) index: u32) -> Corner {
    // One triangle that covers the screen, at the far plane.
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Corner(vec4f(at, 1.0, 1.0), at * vec2f(0.5, -0.5) + 0.5);
}

@fragment
fn over_sky_fragment(in: Corner) -> @location(0) vec4f {
    let grid = view.fog_grid;
    let fog = engine_fog_read(fog_froxels, sky_maps_sampler, grid, in.uv, grid.z - 1.0);
    return vec4f(fog.rgb, 1.0 - fog.a);
}
