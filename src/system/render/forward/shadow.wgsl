// Meshes in shadow maps: depth only.

#include "mesh_draw.wgsl"

struct Map {
    to_clip: mat4x4f,
    // x is 1 if objects in front of the map's near plane are clamped to it.
    options: vec4f,
}

@group(0) @binding(0) var<uniform> map: Map;

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
    @location(2) @interpolate(flat) surface: u32,
}

@vertex
fn shadow_vertex(in: Corner) -> Point {
    let draw = draws[in.which.x];
    return point(in, mat3x4f(draw.x, draw.y, draw.z), draw.tint);
}

// The vertex of a mesh with joints or morph targets.
@vertex
fn deformed_shadow_vertex(in: Corner, by: EngineDeformer) -> Point {
    let draw = draws[in.which.x];
    let pose = engine_pose(draw.tint);
    let rows = mat3x4f(draw.x, draw.y, draw.z);
    var bent = in;
    bent.position = engine_morphed(pose, by.offsets, in.position, vec3f(0.0)).position;
    return point(bent, engine_skinned(pose, by.joints, by.weights, rows), draw.tint);
}

// Transforms a vertex by the rows of a matrix.
fn point(in: Corner, rows: mat3x4f, tint: vec4u) -> Point {
    let position = vec4f(in.position, 1.0);
    let world = vec3f(dot(rows[0], position), dot(rows[1], position), dot(rows[2], position));
    var out: Point;
    out.clip = map.to_clip * vec4f(world, 1.0);
    out.clip.z = select(out.clip.z, max(out.clip.z, 0.0), map.options.x > 0.5);
    out.uv = part_uv(tint, in.uv);
    out.alpha = in.color.a * unpack4x8unorm(tint.x).a;
    out.surface = in.which.y;
    return out;
}

@fragment
fn shadow_fragment(in: Point) {
    let surface = surfaces[in.surface];
    let painted = textureSample(base_color_texture, base_color_sampler, in.uv);
    if surface.base_color.a * painted.a * in.alpha < surface.cutoff {
        discard;
    }
}

// A triangle over a whole tile of the atlas, at the largest depth.
@vertex
fn clear_vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4f(at, 1.0, 1.0);
}
