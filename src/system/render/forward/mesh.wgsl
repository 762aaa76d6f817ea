// Lit meshes: the metallic-roughness model of glTF 2.0. The colors of lights and surfaces are
// scaled so that a white matte surface reflects the color of a light that it faces: pi is left out
// of both.

#include "view_uniforms.wgsl"
#include "mesh_draw.wgsl"

const NORMAL_TEXTURE: u32 = 1u;
const UNLIT: u32 = 2u;
const SEEN_THROUGH: u32 = 4u;

// True if pixels with too little alpha are discarded.
override MASK: bool = false;

@group(0) @binding(3) var sun_maps: texture_depth_2d_array;
@group(0) @binding(4) var spot_maps: texture_depth_2d_array;
@group(0) @binding(5) var compare: sampler_comparison;

@group(1) @binding(2) var metal_rough_texture: texture_2d<f32>;
@group(1) @binding(3) var metal_rough_sampler: sampler;
@group(1) @binding(4) var normal_texture: texture_2d<f32>;
@group(1) @binding(5) var normal_sampler: sampler;
@group(1) @binding(6) var occlusion_texture: texture_2d<f32>;
@group(1) @binding(7) var occlusion_sampler: sampler;
@group(1) @binding(8) var emissive_texture: texture_2d<f32>;
@group(1) @binding(9) var emissive_sampler: sampler;

struct Corner {
    @location(0) position: vec3f,
    @location(1) normal: vec4f,
    @location(2) tangent: vec4f,
    @location(3) uv: vec2f,
    @location(4) color: vec4f,
    // Indices of the draw and the surface.
    @location(5) which: vec2u,
}

struct Point {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) tangent: vec4f,
    // At the edge of a triangle, the middle of a pixel is outside of the part of the texture.
    @location(3) @interpolate(perspective, centroid) uv: vec2f,
    @location(4) color: vec4f,
    @location(5) @interpolate(flat) surface: u32,
}

@vertex
fn mesh_vertex(in: Corner) -> Point {
    let draw = draws[in.which.x];
    return point(in, mat3x4f(draw.x, draw.y, draw.z), draw.tint);
}

// The vertex of a mesh with joints or morph targets.
@vertex
fn deformed_mesh_vertex(in: Corner, by: EngineDeformer) -> Point {
    let draw = draws[in.which.x];
    let pose = engine_pose(draw.tint);
    let moved = engine_morphed(pose, by.offsets, in.position, in.normal.xyz);
    let rows = mat3x4f(draw.x, draw.y, draw.z);
    var bent = in;
    bent.position = moved.position;
    bent.normal = vec4f(moved.normal, 0.0);
    return point(bent, engine_skinned(pose, by.joints, by.weights, rows), draw.tint);
}

// Transforms a vertex by the rows of a matrix.
fn point(in: Corner, rows: mat3x4f, draw_tint: vec4u) -> Point {
    let x = rows[0];
    let y = rows[1];
    let z = rows[2];
    let position = vec4f(in.position, 1.0);
    let world = vec3f(dot(x, position), dot(y, position), dot(z, position));
    // The columns, and their cofactors: normals stay perpendicular under any scale.
    let a = vec3f(x.x, y.x, z.x);
    let b = vec3f(x.y, y.y, z.y);
    let c = vec3f(x.z, y.z, z.z);
    let side = select(1.0, -1.0, dot(cross(a, b), c) < 0.0);
    let n = in.normal.xyz;
    let normal = (cross(b, c) * n.x + cross(c, a) * n.y + cross(a, b) * n.z) * side;
    let t = in.tangent.xyz;
    let tint = unpack4x8unorm(draw_tint.x);
    var out: Point;
    out.clip = view.to_clip * vec4f(world, 1.0);
    out.world = world;
    // A mesh that is scaled to 0 along an axis has no normal at its rim.
    let square = dot(normal, normal);
    out.normal = select(vec3f(0.0, 0.0, 1.0), normal * inverseSqrt(square), square > 0.0);
    out.tangent = vec4f(a * t.x + b * t.y + c * t.z, in.tangent.w * side);
    out.uv = part_uv(draw_tint, in.uv);
    out.color = vec4f(linear_light(in.color.rgb) * linear_light(tint.rgb), in.color.a * tint.a);
    out.surface = in.which.y;
    return out;
}

#include "lighting.wgsl"

@fragment
fn mesh_fragment(in: Point, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let surface = surfaces[in.surface];
    let painted = textureSample(base_color_texture, base_color_sampler, in.uv);
    let metal_rough = textureSample(metal_rough_texture, metal_rough_sampler, in.uv);
    let slope = textureSample(normal_texture, normal_sampler, in.uv);
    let occlusion = textureSample(occlusion_texture, occlusion_sampler, in.uv).r;
    let glowing = textureSample(emissive_texture, emissive_sampler, in.uv);
    // Textures have premultiplied alpha.
    let own = painted.rgb / max(painted.a, 1.0 / 255.0);
    let color = surface.base_color.rgb * own * in.color.rgb;
    var alpha = surface.base_color.a * painted.a * in.color.a;
    let side = select(-1.0, 1.0, front);
    let flat_normal = normalize(in.normal) * side;
    let roughness = clamp(surface.roughness * metal_rough.g, 0.0, 1.0);
    let steady = steadied(max(roughness * roughness, 0.002), flat_normal);
    if MASK && alpha < surface.cutoff {
        discard;
    }
    let seen_through = (surface.flags.x & SEEN_THROUGH) != 0u;
    alpha = select(1.0, alpha, seen_through);
    let way = view.eye.xyz - in.world;
    let metres = select(-dot(way, view.ahead.xyz), length(way), view.eye.w > 0.5);
    if (surface.flags.x & UNLIT) != 0u {
        return vec4f(kept(through_air(color, metres)) * alpha, alpha);
    }
    var lit: Lit;
    lit.world = in.world;
    lit.flat_normal = flat_normal;
    lit.normal = flat_normal;
    if (surface.flags.x & NORMAL_TEXTURE) != 0u {
        let tangent = normalize(in.tangent.xyz) * side;
        // From behind, all three have the opposite direction.
        let bitangent = cross(flat_normal, tangent) * in.tangent.w * side;
        let n = (slope.xyz * 2.0 - 1.0) * vec3f(vec2f(surface.normal_scale), 1.0);
        let bent = tangent * n.x + bitangent * n.y + flat_normal * n.z;
        lit.normal = select(flat_normal, normalize(bent), dot(bent, bent) > 1e-8);
    }
    lit.back = select(-view.ahead.xyz, way / max(length(way), 1e-5), view.eye.w > 0.5);
    let metallic = clamp(surface.metallic * metal_rough.b, 0.0, 1.0);
    lit.diffuse = color * (1.0 - metallic);
    lit.f0 = mix(vec3f(0.04), color, metallic);
    lit.alpha = steady;
    lit.n_dot_v = max(abs(dot(lit.normal, lit.back)), 1e-4);
    let sent = gather(lit, surface, roughness, occlusion, glowing);
    return vec4f(kept(through_air(sent, metres)) * alpha, alpha);
}
