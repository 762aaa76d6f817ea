// Meshes in shadow maps: depth only.

#include "mesh_draw.wgsl"
#if custom
#include "surface_interface.wgsl"
#include "surface_checks.wgsl"
#endif

struct Map {
    to_clip: mat4x4f,
    // x is 1 if objects in front of the map's near plane are clamped to it; y is the time.
    options: vec4f,
}

@group(0) @binding(0) var<uniform> map: Map;

struct Corner {
    @location(0) position: vec3f,
#if custom
    @location(1) normal: vec4f,
#endif
    @location(3) uv: vec2f,
    @location(4) color: vec4f,
    @location(5) which: vec2u,
}

struct Point {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
    @location(1) alpha: f32,
    @location(2) @interpolate(flat) surface: u32,
#if custom
    @location(3) world: vec3f,
    @location(4) normal: vec3f,
    @location(5) color: vec3f,
    @location(6) position: vec3f,
#endif
}

#if custom
fn pass_seconds() -> f32 {
    return map.options.y;
}
#include "functions_without_light.wgsl"
#endif

@vertex
fn shadow_vertex(in: Corner) -> Point {
    let draw = draws[in.which.x];
    return point(in, at_rows(in, mat3x4f(draw.x, draw.y, draw.z)), draw.tint);
}

// The vertex of a mesh with joints or morph targets.
@vertex
fn deformed_shadow_vertex(
    in: Corner,
    by: EngineDeformer,
    @builtin(vertex_index) index: u32,
) -> Point {
    let draw = draws[in.which.x];
    let pose = engine_pose(draw.tint);
    let first = engine_pre_skinned(pose);
    var bent = in;
#if custom
    let moved = engine_morphed(pose, by.offsets, in.position, in.normal.xyz);
    bent.normal = vec4f(moved.normal, 0.0);
    bent.position = moved.position;
    if first != 0.0 {
        return point(bent, engine_skinned_vertex(engine_skinned_row(first, index)), draw.tint);
    }
#else
    if first != 0.0 {
        var at: EnginePlaced;
        at.world = engine_poses[engine_skinned_row(first, index)].xyz;
        return point(in, at, draw.tint);
    }
    bent.position = engine_morphed(pose, by.offsets, in.position, vec3f(0.0)).position;
#endif
    let own = mat3x4f(draw.x, draw.y, draw.z);
    let rows = engine_skinned(pose, by.joints, by.weights, own);
    return point(bent, at_rows(bent, rows), draw.tint);
}

// Transforms a vertex by the rows of a matrix. Only functions need its normal.
fn at_rows(in: Corner, rows: mat3x4f) -> EnginePlaced {
#if custom
    return engine_placed(rows, in.position, in.normal.xyz, vec3f(0.0));
#else
    var at: EnginePlaced;
    at.world = engine_world(rows, in.position);
    return at;
#endif
}

// Returns the point of a vertex in the world.
fn point(in: Corner, at: EnginePlaced, tint: vec4u) -> Point {
    var world = at.world;
    var out: Point;
    out.uv = part_uv(tint, in.uv);
    out.alpha = in.color.a * unpack4x8unorm(tint.x).a;
#if custom
    world += moved_by_functions(in, at.normal, world, tint, &out);
    out.world = world;
#endif
    out.clip = map.to_clip * vec4f(world, 1.0);
    out.clip.z = select(out.clip.z, max(out.clip.z, 0.0), map.options.x > 0.5);
    out.surface = surface_index(in.which.y);
    return out;
}

@fragment
fn shadow_fragment(in: Point) {
    let surface_data = surfaces[in.surface];
    let painted = textureSample(base_color_texture, base_color_sampler, in.uv);
#if custom
    let alpha = alpha_of_functions(in, surface_data, painted);
#else
    let alpha = surface_data.base_color.a * painted.a * in.alpha;
#endif
    if alpha < surface_data.cutoff {
        discard;
    }
}

// A triangle over a whole tile of the atlas, at the largest depth.
@vertex
fn clear_vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4f(at, 1.0, 1.0);
}
