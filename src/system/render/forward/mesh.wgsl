// Lit meshes: the metallic-roughness model of glTF 2.0. The colors of lights and surfaces are
// scaled so that a white matte surface reflects the color of a light that it faces: pi is left out
// of both.

#include "view_uniforms.wgsl"
#include "mesh_draw.wgsl"
#include "sky_light.wgsl"

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

// The shading inputs of a pixel.
struct Lit {
    world: vec3f,
    // Normal of the triangle, and normal with the normal texture.
    flat_normal: vec3f,
    normal: vec3f,
    // Direction towards the camera.
    back: vec3f,
    diffuse: vec3f,
    f0: vec3f,
    // Roughness squared, as in the distribution.
    alpha: f32,
    n_dot_v: f32,
}

// Returns the light from one direction, reflected to the camera. Microfacets: GGX (Walter et al.,
// "Microfacet Models for Refraction through Rough Surfaces", 2007), the height-correlated Smith
// term (Heitz, "Understanding the Masking-Shadowing Function in Microfacet-Based BRDFs", 2014),
// and Schlick's Fresnel ("An Inexpensive BRDF Model for Physically-based Rendering", 1994).
fn send(lit: Lit, towards: vec3f, color: vec3f) -> vec3f {
    let n_dot_l = clamp(dot(lit.normal, towards), 0.0, 1.0);
    if n_dot_l <= 0.0 {
        return vec3f(0.0);
    }
    let h = normalize(towards + lit.back);
    let n_dot_h = clamp(dot(lit.normal, h), 0.0, 1.0);
    let l_dot_h = clamp(dot(towards, h), 0.0, 1.0);
    let a2 = lit.alpha * lit.alpha;
    let d = n_dot_h * n_dot_h * (a2 - 1.0) + 1.0;
    // Times pi.
    let distribution = a2 / max(d * d, 1e-7);
    let v = n_dot_l * sqrt(lit.n_dot_v * lit.n_dot_v * (1.0 - a2) + a2);
    let l = lit.n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2);
    let visible = 0.5 / max(v + l, 1e-5);
    let fresnel = lit.f0 + (1.0 - lit.f0) * pow(1.0 - l_dot_h, 5.0);
    return (lit.diffuse * (1.0 - fresnel) + distribution * visible * fresnel) * color * n_dot_l;
}

// Returns the unshadowed fraction of the light: nine samples of four texels each.
fn arrives(maps: texture_depth_2d_array, at: vec3f, layer: u32, texel: f32) -> f32 {
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let uv = at.xy + vec2f(f32(x), f32(y)) * texel;
            sum += textureSampleCompareLevel(maps, compare, uv, layer, at.z);
        }
    }
    return sum / 9.0;
}

// Projects a point onto a shadow map: x and y from 0 to 1, y downwards, and its depth.
fn on_map(clip: vec4f) -> vec3f {
    let point = clip.xyz / clip.w;
    return vec3f(point.x * 0.5 + 0.5, 0.5 - point.y * 0.5, point.z);
}

// Returns the point at an offset from its surface, so that the surface does not shadow itself. The
// offset is larger for surfaces parallel to the light.
fn off_surface(lit: Lit, towards: vec3f, texel: f32) -> vec3f {
    let facing = clamp(dot(lit.flat_normal, towards), 0.0, 1.0);
    return lit.world + lit.flat_normal * texel * (1.0 + 1.5 * sqrt(1.0 - facing * facing));
}

fn sun_arrives(lit: Lit, towards: vec3f, bias: f32) -> f32 {
    let ahead = dot(lit.world - view.eye.xyz, view.ahead.xyz);
    let count = view.counts.z;
    var layer = 0u;
    while layer < count && ahead >= view.cascade_ends[layer] {
        layer++;
    }
    if layer >= count {
        return 1.0;
    }
    let point = off_surface(lit, towards, view.cascade_texels[layer] * bias);
    let at = on_map(view.cascades[layer] * vec4f(point, 1.0));
    let end = view.cascade_ends[count - 1u];
    // For an orthographic camera, the maps cover the whole visible range.
    let fade = smoothstep(0.85 * end, end, ahead) * view.eye.w;
    return mix(arrives(sun_maps, at, layer, view.shadow.x), 1.0, fade);
}

fn spot_arrives(lit: Lit, towards: vec3f, metres: f32, light: Light) -> f32 {
    let layer = u32(light.shadow);
    let point = off_surface(lit, towards, light.texel * light.bias * metres);
    let clip = view.spots[layer] * vec4f(point, 1.0);
    let at = on_map(clip);
    let beyond = clip.w <= 0.0 || any(at.xy < vec2f(0.0)) || any(at.xy > vec2f(1.0));
    if beyond {
        return 1.0;
    }
    return arrives(spot_maps, at, layer, view.shadow.y);
}

// Returns the light of an omni or spot light. It falls off by the inverse square, and to 0 at its
// range (Karis, "Real Shading in Unreal Engine 4", 2013; KHR_lights_punctual has the cone).
fn local_light(lit: Lit, light: Light) -> vec3f {
    let way = light.position - lit.world;
    let square = dot(way, way);
    let rest = square * light.falloff;
    if rest >= 1.0 {
        return vec3f(0.0);
    }
    let metres = sqrt(square);
    let towards = way / max(metres, 1e-4);
    let window = 1.0 - rest * rest;
    let facing = dot(-towards, light.direction);
    let cone = clamp(facing * light.cone_scale + light.cone_offset, 0.0, 1.0);
    var strength = window * window * cone * cone / max(square, 1e-4);
    if strength <= 0.0 {
        return vec3f(0.0);
    }
    if light.shadow >= 0.0 {
        strength *= spot_arrives(lit, towards, metres, light);
    }
    return send(lit, towards, light.color * strength);
}

// Returns the fraction of the sky's light that a surface mirrors. After Karis, "Physically Based
// Shading on Mobile", 2014, an approximation of Lazarov's.
fn mirrored(f0: vec3f, roughness: f32, n_dot_v: f32) -> vec3f {
    let r = roughness * vec4f(-1.0, -0.0275, -0.572, 0.022) + vec4f(1.0, 0.0425, 1.04, -0.04);
    let a = min(r.x * r.x, exp2(-9.28 * n_dot_v)) * r.x + r.y;
    let scale = vec2f(-1.04, 1.04) * a + r.zw;
    return f0 * scale.x + scale.y;
}

// Increases the squared roughness if a pixel covers many directions of the surface, so highlights
// do not flicker: Tokuyoshi and Kaplanyan, "Improved Geometric Specular Antialiasing", 2019.
fn steadied(alpha: f32, normal: vec3f) -> f32 {
    let across = dpdx(normal);
    let down = dpdy(normal);
    let variance = 0.25 * (dot(across, across) + dot(down, down));
    return sqrt(clamp(alpha * alpha + min(2.0 * variance, 0.18), 0.0, 1.0));
}

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
        return vec4f(kept(through_air(color, metres, in.world)) * alpha, alpha);
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
    return vec4f(kept(through_air(sent, metres, in.world)) * alpha, alpha);
}

// Returns all light of a pixel.
fn gather(lit: Lit, surface: Surface, roughness: f32, occlusion: f32, glowing: vec4f) -> vec3f {
    var sum = surface.emissive * glowing.rgb;
    for (var i = 0u; i < view.counts.x; i++) {
        let sun = view.suns[i];
        var color = sun.color.rgb;
        if sun.towards.w > 0.5 && dot(lit.normal, sun.towards.xyz) > 0.0 {
            color *= sun_arrives(lit, sun.towards.xyz, sun.color.w);
        }
        sum += send(lit, sun.towards.xyz, color);
    }
    for (var i = 0u; i < view.counts.y; i++) {
        sum += local_light(lit, view.lights[i]);
    }
    let open = 1.0 + surface.occlusion_strength * (occlusion - 1.0);
    let shine = mirrored(lit.f0, roughness, lit.n_dot_v);
    let mirrored_from = reflect(-lit.back, lit.normal);
    var ambient: vec3f;
    if !SKY_MAPS {
        let matte = lit.diffuse * (1.0 - shine) * sky(lit.normal, 1.0);
        ambient = matte + shine * sky(mirrored_from, roughness);
    } else {
        let all = mirrored(vec3f(1.0), roughness, lit.n_dot_v).x;
        let around = light_around(lit.world, lit.normal, mirrored_from, roughness);
        ambient = around_reflected(around, lit.diffuse, lit.f0, shine, all);
    }
    return sum + ambient * (open * view.sky_light.w);
}
