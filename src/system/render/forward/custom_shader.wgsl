// Custom shaders of scenes: the vertex and fragment stage of images that a game's material paints.
// The declarations of gui.wgsl and of the material's own part precede this. Names begin with
// `engine_`, so that they conflict with no others. Light has no effect here.

struct EngineSceneDraw {
#include "draw_fields.wgsl"
}

// The first fields of `View` in view_uniforms.wgsl.
struct EngineSceneView {
#include "view_fields.wgsl"
}

@group(3) @binding(0) var<uniform> engine_view: EngineSceneView;
@group(3) @binding(1) var<storage, read> engine_draws: array<EngineSceneDraw>;
@group(3) @binding(6) var<storage, read> engine_poses: array<vec4f>;
@group(3) @binding(7) var<storage, read> engine_offsets: array<vec4u>;

#include "deformation.wgsl"
#include "fog_depth.wgsl"
#include "fog_grid.wgsl"

@group(3) @binding(13) var engine_froxels_sampler: sampler;
@group(3) @binding(18) var engine_froxels: texture_2d<f32>;

// True if pixels with too little alpha are discarded; if light is added; if it is multiplied.
override ENGINE_MASK: bool = false;
override ENGINE_ADDS: bool = false;
override ENGINE_MULTIPLIES: bool = false;

struct EngineSceneCorner {
    @location(0) position: vec3f,
    @location(3) uv: vec2f,
    @location(4) color: vec4f,
    // Indices of the draw and the surface.
    @location(5) which: vec2u,
}

struct EngineScenePoint {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    // See mesh.wgsl.
    @location(1) @interpolate(perspective, centroid) uv: vec2f,
    @location(2) mesh_uv: vec2f,
    @location(3) position: vec2f,
    @location(4) color: vec4f,
}

@vertex
fn engine_scene_vertex(in: EngineSceneCorner) -> EngineScenePoint {
    let draw = engine_draws[in.which.x];
    return engine_scene_point(in, engine_world(mat3x4f(draw.x, draw.y, draw.z), in.position));
}

// The vertex of a mesh with joints or morph targets.
@vertex
fn engine_deformed_scene_vertex(
    in: EngineSceneCorner,
    by: EngineDeformer,
    @builtin(vertex_index) index: u32,
) -> EngineScenePoint {
    let draw = engine_draws[in.which.x];
    let pose = engine_pose(draw.tint);
    let first = engine_pre_skinned(pose);
    if first != 0.0 {
        return engine_scene_point(in, engine_poses[engine_skinned_row(first, index)].xyz);
    }
    let moved = engine_morphed(pose, by.offsets, in.position, vec3f(0.0)).position;
    let own = mat3x4f(draw.x, draw.y, draw.z);
    let rows = engine_skinned(pose, by.joints, by.weights, own);
    return engine_scene_point(in, engine_world(rows, moved));
}

// Returns the point of a vertex in the world. What its material paints does not change with it.
fn engine_scene_point(in: EngineSceneCorner, world: vec3f) -> EngineScenePoint {
    let draw = engine_draws[in.which.x];
    let flipped = vec2<bool>((draw.tint.w & 1u) != 0u, (draw.tint.w & 2u) != 0u);
    let inside = select(in.uv, 1.0 - in.uv, flipped);
    let across = length(vec3f(draw.x.x, draw.y.x, draw.z.x));
    let along = length(vec3f(draw.x.z, draw.y.z, draw.z.z));
    let tint = unpack4x8unorm(draw.tint.x);
    var out: EngineScenePoint;
    out.clip = engine_view.to_clip * vec4f(world, 1.0);
    out.world = world;
    out.uv = unpack2x16unorm(draw.tint.y) + inside * unpack2x16unorm(draw.tint.z);
    out.mesh_uv = in.uv;
    out.position = in.position.xz * vec2f(across, along);
    let light = engine_from_srgb(in.color.rgb) * engine_from_srgb(tint.rgb);
    out.color = vec4f(light, in.color.a * tint.a);
    return out;
}

@fragment
fn engine_scene_fragment(in: EngineScenePoint) -> @location(0) vec4f {
    var it: Paint;
    it.color = vec4f(in.color.rgb * select(in.color.a, 1.0, ENGINE_PREMULTIPLIED), in.color.a);
    it.base = it.color * textureSample(engine_texture, engine_texture_sampler, in.uv);
    it.uv = in.mesh_uv;
    it.position = in.position;
    it.pixel = in.clip.xy;
    var painted = paint(it);
    if ENGINE_MASK {
        if painted.a < 0.5 {
            discard;
        }
        painted = vec4f(painted.rgb / painted.a, 1.0);
    }
    let way = engine_view.eye.xyz - in.world;
    let endless = engine_view.eye.w < 0.5;
    let metres = select(length(way), -dot(way, engine_view.ahead.xyz), endless);
    var left = exp(-engine_view.fog.w * metres);
    var fog = engine_view.fog.rgb;
    let shape = engine_view.fog_shape;
    if shape.w > 0.5 {
        let ray = select(-way / max(length(way), 1e-5), engine_view.ahead.xyz, endless);
        let begin = in.world.z - ray.z * metres;
        left = exp(-engine_fog_depth(shape, engine_view.fog.w, begin, ray.z, metres));
        let facing = max(dot(ray, engine_view.fog_towards.xyz), 0.0);
        fog += engine_view.fog_glow.rgb * pow(facing, engine_view.fog_glow.w);
    }
    // In fog, added light becomes 0, and multiplied light becomes 1.
    var air = fog * painted.a;
    if ENGINE_ADDS {
        air = vec3f(0.0);
    }
    if ENGINE_MULTIPLIES {
        air = vec3f(painted.a);
    }
    var arriving = mix(air, painted.rgb, left);
    if engine_view.fog_reach.w > 0.5 {
        arriving = engine_through_froxels(arriving, painted.a, in.world);
    }
    // As `kept` in view_uniforms.wgsl.
    return vec4f(min(arriving, vec3f(60000.0)), painted.a);
}

// As `through_froxels` in froxel_fog.wgsl, for light with premultiplied alpha.
fn engine_through_froxels(color: vec3f, alpha: f32, world: vec3f) -> vec3f {
    let clip = engine_view.to_clip * vec4f(world, 1.0);
    let uv = clip.xy / max(clip.w, 1e-6) * vec2f(0.5, -0.5) + 0.5;
    let ahead = dot(world - engine_view.eye.xyz, engine_view.ahead.xyz);
    let fog = engine_fog_before(
        engine_froxels,
        engine_froxels_sampler,
        engine_view.fog_grid,
        engine_view.fog_reach,
        clamp(uv, vec2f(0.0), vec2f(1.0)),
        ahead,
    );
    var light = fog.rgb * alpha;
    if ENGINE_ADDS {
        light = vec3f(0.0);
    }
    if ENGINE_MULTIPLIES {
        light = vec3f(alpha * (1.0 - fog.a));
    }
    return color * fog.a + light;
}
