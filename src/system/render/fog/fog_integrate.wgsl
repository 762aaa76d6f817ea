// The sum of the fog between the camera and the end of each froxel. The light of a slice is
// integrated as Hillaire does, "Physically Based and Unified Volumetric Rendering in Frostbite",
// 2015, so that it does not depend on the number of slices.

#include "view_uniforms.wgsl"
#include "fog_grid.wgsl"
#include "fog_inputs.wgsl"

@group(1) @binding(1) var scattering: texture_2d<f32>;

@fragment
fn integrate_fragment(in: Corner) -> @location(0) vec4f {
    let froxel = froxel_at(in.clip.xy);
    let grid = view.fog_grid;
    if froxel.slice >= grid.z {
        return vec4f(0.0, 0.0, 0.0, 1.0);
    }
    let metres_ahead = length(fog_ray(froxel.cell).step);
    var light = vec3f(0.0);
    var left = 1.0;
    var begin = engine_fog_ahead(grid, view.fog_reach, 0.0);
    for (var slice = 0.0; slice <= froxel.slice; slice += 1.0) {
        let end = engine_fog_ahead(grid, view.fog_reach, slice + 1.0);
        let at = vec2i(froxel.cell + engine_fog_texel(grid, slice));
        let slab = textureLoad(scattering, at, 0);
        let metres = (end - begin) * metres_ahead;
        let depth = slab.a * metres;
        // The mean of what is left along the slice. The quotient has few digits where it is small.
        let mean = select((1.0 - exp(-depth)) / max(depth, 1e-3), 1.0 - depth * 0.5, depth < 1e-2);
        light += slab.rgb * (left * mean * metres);
        left *= exp(-depth);
        begin = end;
    }
    return vec4f(kept(light), left);
}
