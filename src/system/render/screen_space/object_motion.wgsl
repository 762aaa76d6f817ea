// The motion of meshes that have moved since the previous frame: each vertex in its pose of this
// frame and in that of the previous one.

#include "mesh_draw.wgsl"
#if custom
#include "surface_interface.wgsl"
#include "surface_checks.wgsl"
#endif

// See motion_vectors.wgsl.
const MOTION_MAX: f32 = 4.0;

struct Motion {
    // With the jitter of the picture.
    to_clip: mat4x4f,
    // Without jitter, in this frame and in the previous one.
    now: mat4x4f,
    before: mat4x4f,
    // x: the time in seconds.
    options: vec4f,
}

@group(0) @binding(0) var<uniform> motion: Motion;

struct Corner {
    @location(0) position: vec3f,
#if custom
    @location(1) normal: vec4f,
#endif
    @location(3) uv: vec2f,
    @location(4) color: vec4f,
    @location(5) which: vec2u,
    // The first row of the previous pose in `engine_poses`.
    @location(9) row: u32,
}

struct Point {
    @builtin(position) clip: vec4f,
    // x, y and w of clip space.
    @location(0) now: vec3f,
    @location(1) before: vec3f,
    @location(2) uv: vec2f,
    @location(3) alpha: f32,
    @location(4) @interpolate(flat) surface: u32,
#if custom
    @location(5) world: vec3f,
    @location(6) normal: vec3f,
    @location(7) color: vec3f,
    @location(8) position: vec3f,
#endif
}

#if custom
fn pass_seconds() -> f32 {
    return motion.options.x;
}
#include "functions_without_light.wgsl"
#endif

@vertex
fn motion_vertex(in: Corner) -> Point {
    let draw = draws[in.which.x];
    return point(in, mat3x4f(draw.x, draw.y, draw.z), previous(in.row), in.position, in.position);
}

// The vertex of a mesh with joints or morph targets.
@vertex
fn deformed_motion_vertex(in: Corner, by: EngineDeformer) -> Point {
    let draw = draws[in.which.x];
    // Locations of the deformations: that of the previous frame, and that of this one.
    let poses = vec2u(engine_poses[in.row + 3u].xy);
    let rows = mat3x4f(draw.x, draw.y, draw.z);
    let old = engine_morphed(poses.x, by.offsets, in.position, vec3f(0.0)).position;
    let before = engine_skinned(poses.x, by.joints, by.weights, previous(in.row));
    var bent = in;
#if custom
    let shape = engine_morphed(poses.y, by.offsets, in.position, in.normal.xyz);
    bent.normal = vec4f(shape.normal, 0.0);
    let moved = shape.position;
    bent.position = moved;
#else
    let moved = engine_morphed(poses.y, by.offsets, in.position, vec3f(0.0)).position;
#endif
    return point(bent, engine_skinned(poses.y, by.joints, by.weights, rows), before, moved, old);
}

fn previous(row: u32) -> mat3x4f {
    return mat3x4f(engine_poses[row], engine_poses[row + 1u], engine_poses[row + 2u]);
}

fn point(in: Corner, rows: mat3x4f, old_rows: mat3x4f, moved: vec3f, old: vec3f) -> Point {
    var here = vec4f(engine_world(rows, moved), 1.0);
    var there = vec4f(engine_world(old_rows, old), 1.0);
    let draw = draws[in.which.x];
    var out: Point;
    out.uv = part_uv(draw.tint, in.uv);
    out.alpha = in.color.a * unpack4x8unorm(draw.tint.x).a;
    out.surface = surface_index(in.which.y);
#if custom
    // The motion is that of the mesh: functions move it by the same offset in both frames.
    let normal = engine_placed(rows, moved, in.normal.xyz, vec3f(0.0)).normal;
    let offset = moved_by_functions(in, normal, here.xyz, draw.tint, &out);
    here += vec4f(offset, 0.0);
    there += vec4f(offset, 0.0);
    out.world = here.xyz;
#endif
    out.clip = motion.to_clip * here;
    out.now = (motion.now * here).xyw;
    out.before = (motion.before * there).xyw;
    return out;
}

fn motion_of(in: Point) -> vec4f {
    let way = (in.now.xy / in.now.z - in.before.xy / in.before.z) * vec2f(0.5, -0.5);
    let valid = abs(way.x) < MOTION_MAX && abs(way.y) < MOTION_MAX && in.before.z > 0.0;
    return vec4f(select(vec2f(0.0), way, valid), 0.0, 0.0);
}

@fragment
fn motion_fragment(in: Point) -> @location(0) vec4f {
    return motion_of(in);
}

@fragment
fn masked_motion_fragment(in: Point) -> @location(0) vec4f {
    let own = surfaces[in.surface];
    let painted = textureSample(base_color_texture, base_color_sampler, in.uv);
#if custom
    let alpha = alpha_of_functions(in, own, painted);
#else
    let alpha = own.base_color.a * painted.a * in.alpha;
#endif
    if alpha < own.cutoff {
        discard;
    }
    return motion_of(in);
}
