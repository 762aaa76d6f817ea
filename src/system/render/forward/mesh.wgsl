// Lit meshes: the metallic-roughness model of glTF 2.0. The colors of lights and surfaces are
// scaled so that a white matte surface reflects the color of a light that it faces: pi is left out
// of both.

#include "view_uniforms.wgsl"
#include "mesh_draw.wgsl"
#include "sky_light.wgsl"
#include "local_lights.wgsl"
#include "surface_interface.wgsl"
#if custom
#include "surface_checks.wgsl"
#endif

const NORMAL_TEXTURE: u32 = 1u;
const UNLIT: u32 = 2u;
const SEEN_THROUGH: u32 = 4u;
// A flag of the view: it has ambient occlusion or contact shadows.
const SCREEN_OCCLUSION: u32 = 2u;

// True if pixels with too little alpha are discarded.
override MASK: bool = false;

@group(0) @binding(3) var sun_maps: texture_depth_2d_array;
@group(0) @binding(5) var compare: sampler_comparison;

@group(1) @binding(2) var metal_rough_texture: texture_2d<f32>;
@group(1) @binding(3) var metal_rough_sampler: sampler;
@group(1) @binding(4) var normal_texture: texture_2d<f32>;
@group(1) @binding(5) var normal_sampler: sampler;
@group(1) @binding(6) var occlusion_texture: texture_2d<f32>;
@group(1) @binding(7) var occlusion_sampler: sampler;
@group(1) @binding(8) var emissive_texture: texture_2d<f32>;
@group(1) @binding(9) var emissive_sampler: sampler;

// Red: ambient occlusion of each pixel. Green: contact shadows. One white texel if both are off.
@group(0) @binding(16) var screen_occlusion: texture_2d<f32>;

struct Corner {
    @location(0) position: vec3f,
    @location(1) normal: vec4f,
    @location(2) tangent: vec4f,
    @location(3) uv: vec2f,
    @location(4) color: vec4f,
    // Index of the draw; index of the surface, and above it the light layers that are excluded.
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
#if custom
    @location(6) position: vec3f,
#endif
}

@vertex
fn mesh_vertex(in: Corner) -> Point {
    let draw = draws[in.which.x];
    let rows = mat3x4f(draw.x, draw.y, draw.z);
    let at = engine_placed(rows, in.position, in.normal.xyz, in.tangent.xyz);
    return shown(in, in.position, at, draw.tint);
}

// The vertex of a mesh with joints or morph targets.
@vertex
fn deformed_mesh_vertex(
    in: Corner,
    by: EngineDeformer,
    @builtin(vertex_index) index: u32,
) -> Point {
    let draw = draws[in.which.x];
    let pose = engine_pose(draw.tint);
    let first = engine_pre_skinned(pose);
    if first != 0.0 {
        let vertex = engine_skinned_vertex(engine_skinned_row(first, index));
#if custom
        let moved = engine_morphed(pose, by.offsets, in.position, vec3f(0.0)).position;
        return shown(in, moved, vertex, draw.tint);
#else
        return shown(in, in.position, vertex, draw.tint);
#endif
    }
    let moved = engine_morphed(pose, by.offsets, in.position, in.normal.xyz);
    let own = mat3x4f(draw.x, draw.y, draw.z);
    let rows = engine_skinned(pose, by.joints, by.weights, own);
    let at = engine_placed(rows, moved.position, moved.normal, in.tangent.xyz);
    return shown(in, moved.position, at, draw.tint);
}

// Returns the point of a vertex in the world. `position` is that in the space of the mesh.
fn shown(in: Corner, position: vec3f, at: EnginePlaced, draw_tint: vec4u) -> Point {
    var world = at.world;
    let normal = at.normal;
    let tint = unpack4x8unorm(draw_tint.x);
    // A mesh that is scaled to 0 along an axis has no normal at its rim.
    let square = dot(normal, normal);
    var out: Point;
    out.normal = select(vec3f(0.0, 0.0, 1.0), normal * inverseSqrt(square), square > 0.0);
    out.uv = part_uv(draw_tint, in.uv);
    out.color = vec4f(linear_light(in.color.rgb) * linear_light(tint.rgb), in.color.a * tint.a);
#if custom
    set_frame();
    let at_vertex = VertexIn(position, world, out.normal, out.uv, out.color);
    let longest = bitcast<f32>(surfaces[surface_index(in.which.y)].flags.y);
    world += checked_offset(vertex_offset(at_vertex), longest);
    out.position = position;
#endif
    out.clip = view.to_clip * vec4f(world, 1.0);
    out.world = world;
    // A part of a texture that is mirrored has mirrored slopes.
    let flipped = vec2<bool>((draw_tint.w & 1u) != 0u, (draw_tint.w & 2u) != 0u);
    let turned = select(vec2f(1.0), vec2f(-1.0), flipped);
    out.tangent = vec4f(at.tangent * turned.x, in.tangent.w * at.side * turned.x * turned.y);
    out.surface = in.which.y;
    return out;
}

#include "lobes.wgsl"
#include "lighting.wgsl"
#include "soft_shadows.wgsl"
#include "area_lights.wgsl"
#include "decals.wgsl"

#if custom
// The inputs of the surface function at this pixel.
var<private> inputs: SurfaceIn;

fn set_frame() {
    frame.seconds = view.ahead.w;
    let has_sun = view.counts.x > 0u;
    frame.sun_direction = select(vec3f(0.0, 0.0, 1.0), view.suns[0].towards.xyz, has_sun);
    frame.sun_color = select(vec3f(0.0), view.suns[0].color.rgb, has_sun);
}
#endif

// Returns the surface that the numbers and textures of a material describe at a point.
fn standard_surface(in: Point, surface: Surface, flat_normal: vec3f, side: f32) -> SurfaceOut {
    let painted = textureSample(base_color_texture, base_color_sampler, in.uv);
    let metal_rough = textureSample(metal_rough_texture, metal_rough_sampler, in.uv);
    let slope = textureSample(normal_texture, normal_sampler, in.uv);
    let occlusion = textureSample(occlusion_texture, occlusion_sampler, in.uv).r;
    let glowing = textureSample(emissive_texture, emissive_sampler, in.uv);
    var out: SurfaceOut;
    // Textures have premultiplied alpha.
    let own = painted.rgb / max(painted.a, 1.0 / 255.0);
    out.base_color = surface.base_color.rgb * own * in.color.rgb;
    out.alpha = surface.base_color.a * painted.a * in.color.a;
    out.metallic = clamp(surface.metallic * metal_rough.b, 0.0, 1.0);
    out.roughness = clamp(surface.roughness * metal_rough.g, 0.0, 1.0);
    out.normal = flat_normal;
    if (surface.flags.x & NORMAL_TEXTURE) != 0u {
        let tangent = normalize(in.tangent.xyz) * side;
        // From behind, all three have the opposite direction.
        let bitangent = cross(flat_normal, tangent) * in.tangent.w * side;
        let n = (slope.xyz * 2.0 - 1.0) * vec3f(vec2f(surface.normal_scale), 1.0);
        let bent = tangent * n.x + bitangent * n.y + flat_normal * n.z;
        out.normal = select(flat_normal, normalize(bent), dot(bent, bent) > 1e-8);
    }
    out.occlusion = 1.0 + surface.occlusion_strength * (occlusion - 1.0);
    out.emissive = surface.emissive * glowing.rgb;
    out.clear_coat = surface.coat.x;
    out.clear_coat_roughness = surface.coat.y;
    out.sheen_color = surface.sheen.rgb;
    out.sheen_roughness = surface.coat.z;
    out.anisotropy = surface.anisotropy.x;
    out.anisotropy_rotation = surface.anisotropy.y;
    out.ior = surface.sheen.w;
    out.specular = surface.specular.w;
    out.specular_color = surface.specular.rgb;
    out.transmission = surface.coat.w;
    out.thickness = surface.anisotropy.z;
    return out;
}

#if transmission
@group(3) @binding(0) var behind_texture: texture_2d<f32>;
@group(3) @binding(1) var behind_sampler: sampler;

// Returns the light behind a surface: the ray is refracted where it enters, leaves on the other
// side after the thickness, and a rough surface blurs what it reaches.
fn light_behind(in: Point, out: SurfaceOut, lit: Lit) -> vec3f {
    let entered = refract(-lit.back, out.normal, 1.0 / max(out.ior, 1.0));
    let left = view.to_clip * vec4f(in.world + entered * out.thickness, 1.0);
    let size = vec2f(textureDimensions(behind_texture));
    let own = in.clip.xy / size;
    let there = left.xy / max(left.w, 1e-6) * vec2f(0.5, -0.5) + 0.5;
    let is_bent = out.thickness > 0.0 && left.w > 1e-6;
    let at = select(own, clamp(there, vec2f(0.0), vec2f(1.0)), is_bent);
    // Without refraction, nothing is blurred either.
    let rough = out.roughness * clamp(out.ior * 2.0 - 2.0, 0.0, 1.0);
    let level = log2(max(size.x, 1.0)) * rough;
    return textureSampleLevel(behind_texture, behind_sampler, at, level).rgb * out.base_color;
}
#endif

// Returns the color of a point, with premultiplied alpha.
fn shaded(in: Point, surface: Surface, flat_normal: vec3f, out: SurfaceOut) -> vec4f {
    let steady = steadied(max(out.roughness * out.roughness, 0.002), flat_normal);
    if MASK && out.alpha < surface.cutoff {
        discard;
    }
    let seen_through = (surface.flags.x & SEEN_THROUGH) != 0u;
    let alpha = select(1.0, out.alpha, seen_through);
    let way = view.eye.xyz - in.world;
    let metres = select(-dot(way, view.ahead.xyz), length(way), view.eye.w > 0.5);
    if (surface.flags.x & UNLIT) != 0u {
        var color = out.base_color;
#if custom
        color = numbers(final_color(inputs, color), 60000.0);
#endif
        let arriving = through_froxels(through_air(color, metres, in.world), in.world);
        return vec4f(kept(arriving) * alpha, alpha);
    }
    var lit: Lit;
    lit.pixel = in.clip.xy;
    lit.world = in.world;
    lit.flat_normal = flat_normal;
    lit.normal = out.normal;
    lit.back = select(-view.ahead.xyz, way / max(length(way), 1e-5), view.eye.w > 0.5);
    lit.diffuse = out.base_color * (1.0 - out.metallic);
    lit.f0 = mix(vec3f(0.04), out.base_color, out.metallic);
    lit.alpha = steady;
    lit.n_dot_v = max(abs(dot(lit.normal, lit.back)), 1e-4);
    lit.excluded = in.surface >> SURFACE_INDEX_BITS;
    // A function can return the same normal with other roundings.
    let is_bent = dot(out.normal, flat_normal) < 0.999999;
    lit.has_slopes = (surface.flags.x & NORMAL_TEXTURE) != 0u || is_bent;
    // The occlusion is that of opaque surfaces.
    var screen = vec2f(1.0);
#if transmission
#else
    if (hidden_count(view.counts.w) & SCREEN_OCCLUSION) != 0u && !seen_through {
        screen = screen_open(in.clip.xy);
    }
#endif
    lit.open = screen.r;
    lit.contact = screen.g;
    var emissive = out.emissive;
    var behind = vec3f(0.0);
    if LOBES {
        lit.lobes = lobes_of(out, out.normal, in.tangent, steady);
        lit.f0 = f0_of(out);
        lit.diffuse *= 1.0 - out.transmission;
        let coat_v = abs(dot(flat_normal, lit.back));
        emissive *= 1.0 - out.clear_coat * coat_fresnel(coat_v);
#if transmission
        behind = light_behind(in, out, lit) * (out.transmission * (1.0 - out.metallic));
#endif
    }
    var sent = gather_lights(lit, emissive);
    if LOBES {
        sent += lobes_sky(lit, out.roughness, behind, out.occlusion);
    } else {
        sent += gather_sky(lit, out.roughness, out.occlusion);
    }
#if custom
    sent = numbers(final_color(inputs, sent), 60000.0);
#endif
    let arriving = through_froxels(through_air(sent, metres, in.world), in.world);
    return vec4f(kept(arriving) * alpha, alpha);
}

#if custom
// Returns the inputs of a game's surface function.
fn surface_in(in: Point, base: SurfaceOut, flat_normal: vec3f, front: bool) -> SurfaceIn {
    let side = select(-1.0, 1.0, front);
    let way = view.eye.xyz - in.world;
    let clip = view.to_clip * vec4f(in.world, 1.0);
    let tangent = direction_or(in.tangent.xyz, perpendicular(flat_normal)) * side;
    var it: SurfaceIn;
    it.base = base;
    it.uv = in.uv;
    it.position = in.position;
    it.world_position = in.world;
    it.normal = flat_normal;
    it.tangent = tangent;
    it.bitangent = cross(flat_normal, tangent) * in.tangent.w * side;
    it.color = in.color;
    it.view_direction = select(-view.ahead.xyz, direction_or(way, flat_normal), view.eye.w > 0.5);
    it.screen = clip.xy / max(clip.w, 1e-6) * vec2f(0.5, -0.5) + 0.5;
    it.pixel = in.clip.xy;
    it.front_facing = front;
    return it;
}
#endif

#if debug
#include "debug_surface.wgsl"
#endif

@fragment
fn mesh_fragment(in: Point, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    hide_uniforms(in.clip.xy);
    let surface_data = surfaces[surface_index(in.surface)];
    let side = select(-1.0, 1.0, front);
    let flat_normal = normalize(in.normal) * side;
    var out = standard_surface(in, surface_data, flat_normal, side);
#if custom
    set_frame();
    inputs = surface_in(in, out, flat_normal, front);
    out = checked_surface(surface(inputs), flat_normal);
#endif
    if DECALS {
        out = with_decals(in, flat_normal, dpdx(in.world), dpdy(in.world), out);
    }
#if debug
    return debug_color(in, surface_data, out);
#else
    return shaded(in, surface_data, flat_normal, out);
#endif
}
