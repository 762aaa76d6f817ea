// The shapes of meshes with outlines: the number of the outline of each pixel.

#include "mesh_draw.wgsl"

// True if pixels with too little alpha are left out.
override MASK: bool = false;

// Bits of an instance's surface from SURFACE_INDEX_BITS on: the number of the outline, and a bit if
// it is shown through what hides it (scene/outlines.rs).
const THROUGH_BIT: u32 = 0x80000000u;

struct Map {
    to_clip: mat4x4f,
    // x, y: texels of the scene's depth per pixel; z: 1 if the depth can be read.
    options: vec4f,
}

@group(0) @binding(0) var<uniform> map: Map;
@group(2) @binding(0) var scene_depth: texture_multisampled_2d<f32>;

struct Corner {
    @location(0) position: vec3f,
    @location(3) uv: vec2f,
    @location(4) color: vec4f,
    @location(5) which: vec2u,
}

struct Point {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
    @location(1) alpha: f32,
    @location(2) @interpolate(flat) word: u32,
}

@vertex
fn shape_vertex(in: Corner) -> Point {
    let draw = draws[in.which.x];
    let world = engine_world(mat3x4f(draw.x, draw.y, draw.z), in.position);
    return point(in, world, draw.tint);
}

// The vertex of a mesh with joints or morph targets.
@vertex
fn deformed_shape_vertex(
    in: Corner,
    by: EngineDeformer,
    @builtin(vertex_index) index: u32,
) -> Point {
    let draw = draws[in.which.x];
    let pose = engine_pose(draw.tint);
    let first = engine_pre_skinned(pose);
    if first != 0.0 {
        return point(in, engine_poses[engine_skinned_row(first, index)].xyz, draw.tint);
    }
    let own = mat3x4f(draw.x, draw.y, draw.z);
    let rows = engine_skinned(pose, by.joints, by.weights, own);
    let moved = engine_morphed(pose, by.offsets, in.position, vec3f(0.0)).position;
    return point(in, engine_world(rows, moved), draw.tint);
}

fn point(in: Corner, world: vec3f, tint: vec4u) -> Point {
    var out: Point;
    out.clip = map.to_clip * vec4f(world, 1.0);
    out.uv = part_uv(tint, in.uv);
    out.alpha = in.color.a * unpack4x8unorm(tint.x).a;
    out.word = in.which.y;
    return out;
}

@fragment
fn shape_fragment(in: Point) -> @location(0) u32 {
    let slope = abs(dpdx(in.clip.z)) + abs(dpdy(in.clip.z));
    if MASK {
        let surface = surfaces[surface_index(in.word)];
        let painted = textureSample(base_color_texture, base_color_sampler, in.uv);
        if surface.base_color.a * painted.a * in.alpha < surface.cutoff {
            discard;
        }
    }
    if map.options.z > 0.5 && (in.word & THROUGH_BIT) == 0u {
        let last = vec2i(textureDimensions(scene_depth)) - 1;
        let at = clamp(vec2i(in.clip.xy * map.options.xy), vec2i(0), last);
        // The depth is that of another point of the pixel.
        if textureLoad(scene_depth, at, 0).r < in.clip.z - 2.0 * slope - 2e-6 {
            discard;
        }
    }
    return extractBits(in.word, SURFACE_INDEX_BITS, 31u - SURFACE_INDEX_BITS);
}
