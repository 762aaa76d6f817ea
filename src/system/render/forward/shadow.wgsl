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
fn set_frame() {
    frame.seconds = map.options.y;
    frame.sun_direction = vec3f(0.0, 0.0, 1.0);
    frame.sun_color = vec3f(0.0);
}

fn linear_light(color: vec3f) -> vec3f {
    let low = color / 12.92;
    let high = pow((color + 0.055) / 1.055, vec3f(2.4));
    return select(high, low, color <= vec3f(0.04045));
}
#endif

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
#if custom
    let moved = engine_morphed(pose, by.offsets, in.position, in.normal.xyz);
    bent.normal = vec4f(moved.normal, 0.0);
    bent.position = moved.position;
#else
    bent.position = engine_morphed(pose, by.offsets, in.position, vec3f(0.0)).position;
#endif
    return point(bent, engine_skinned(pose, by.joints, by.weights, rows), draw.tint);
}

// Transforms a vertex by the rows of a matrix.
fn point(in: Corner, rows: mat3x4f, tint: vec4u) -> Point {
    let position = vec4f(in.position, 1.0);
    var world = vec3f(dot(rows[0], position), dot(rows[1], position), dot(rows[2], position));
    var out: Point;
    out.uv = part_uv(tint, in.uv);
    out.alpha = in.color.a * unpack4x8unorm(tint.x).a;
#if custom
    set_frame();
    // As in mesh.wgsl.
    let a = vec3f(rows[0].x, rows[1].x, rows[2].x);
    let b = vec3f(rows[0].y, rows[1].y, rows[2].y);
    let c = vec3f(rows[0].z, rows[1].z, rows[2].z);
    let side = select(1.0, -1.0, dot(cross(a, b), c) < 0.0);
    let n = in.normal.xyz;
    let normal = (cross(b, c) * n.x + cross(c, a) * n.y + cross(a, b) * n.z) * side;
    out.normal = direction_or(normal, vec3f(0.0, 0.0, 1.0));
    out.color = linear_light(in.color.rgb) * linear_light(unpack4x8unorm(tint.x).rgb);
    out.position = in.position;
    let color = vec4f(out.color, out.alpha);
    let at_vertex = VertexIn(in.position, world, out.normal, out.uv, color);
    let longest = bitcast<f32>(surfaces[surface_index(in.which.y)].flags.y);
    world += checked_offset(vertex_offset(at_vertex), longest);
    out.world = world;
#endif
    out.clip = map.to_clip * vec4f(world, 1.0);
    out.clip.z = select(out.clip.z, max(out.clip.z, 0.0), map.options.x > 0.5);
    out.surface = surface_index(in.which.y);
    return out;
}

#if custom
// Returns the inputs of a game's surface function. A map has no camera, and of the textures of the
// material only the color is read.
fn surface_in(in: Point, own: Surface, painted: vec4f) -> SurfaceIn {
    var base: SurfaceOut;
    let texel = painted.rgb / max(painted.a, 1.0 / 255.0);
    base.base_color = own.base_color.rgb * texel * in.color;
    base.alpha = own.base_color.a * painted.a * in.alpha;
    base.metallic = own.metallic;
    base.roughness = own.roughness;
    base.normal = direction_or(in.normal, vec3f(0.0, 0.0, 1.0));
    base.occlusion = 1.0;
    base.emissive = own.emissive;
    base.clear_coat = own.coat.x;
    base.clear_coat_roughness = own.coat.y;
    base.sheen_color = own.sheen.rgb;
    base.sheen_roughness = own.coat.z;
    base.anisotropy = own.anisotropy.x;
    base.anisotropy_rotation = own.anisotropy.y;
    base.ior = own.sheen.w;
    base.specular = own.specular.w;
    base.specular_color = own.specular.rgb;
    base.transmission = own.coat.w;
    base.thickness = own.anisotropy.z;
    var it: SurfaceIn;
    it.base = base;
    it.uv = in.uv;
    it.position = in.position;
    it.world_position = in.world;
    it.normal = base.normal;
    it.tangent = perpendicular(base.normal);
    it.bitangent = cross(base.normal, it.tangent);
    it.color = vec4f(in.color, in.alpha);
    it.view_direction = base.normal;
    it.pixel = in.clip.xy;
    it.front_facing = true;
    return it;
}
#endif

@fragment
fn shadow_fragment(in: Point) {
    let surface_data = surfaces[in.surface];
    let painted = textureSample(base_color_texture, base_color_sampler, in.uv);
#if custom
    set_frame();
    let out = surface(surface_in(in, surface_data, painted));
    let alpha = number(out.alpha, 0.0, 1.0);
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
