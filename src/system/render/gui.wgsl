// The Gui's shader: bindings, one quadrilateral for each instance, every paint, and the entry
// points. A material's own part declares `fn paint(in: Paint) -> vec4f`; the engine's own materials
// use gui_default_material.wgsl. Constants repeat those of src/frame_packet/gui.rs and texture.rs,
// and a test compares them.

/// The uniform of a Gui in a view.
struct Frame {
    /// Matrix from the Gui's plane to clip space.
    to_clip: mat4x4f,
    /// In pixels.
    target_size: vec2f,
    /// Pixels per logical pixel.
    scale: f32,
    /// Seconds of game time.
    seconds: f32,
    /// Index of the Gui's first transform.
    first_transform: u32,
    /// Ratio of the rows of a whole layer to the rows of each atlas: 1 unless the atlas is small.
    atlas_stretch: f32,
    glyphs_stretch: f32,
    spare: u32,
    /// The position of a target's pixel in the mask is its own plus `xy`; `zw` is the mask's size.
    engine_mask: vec4f,
}

/// The input of a material's own `paint`.
struct Paint {
    /// Output of the engine's own material: linear light, premultiplied alpha.
    base: vec4f,
    /// The instance's color alone, in the same form.
    color: vec4f,
    /// 0 to 1 over the drawn area, v down; texture coordinates if the texture is a batch's own.
    uv: vec2f,
    /// In logical pixels of the Gui (metres in a world's Gui), before any rotation.
    position: vec2f,
    /// The pixel's center in the target, from the top left.
    pixel: vec2f,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> engine_transforms: array<mat4x4f>;
@group(0) @binding(2) var engine_atlas: texture_2d_array<f32>;
@group(0) @binding(3) var engine_glyphs: texture_2d_array<f32>;
@group(0) @binding(4) var engine_smooth: sampler;
@group(1) @binding(0) var engine_texture: texture_2d<f32>;
@group(1) @binding(1) var engine_texture_sampler: sampler;
@group(3) @binding(0) var engine_mask: texture_2d<f32>;

/// The paints that a pipeline needs, one bit each; bit 16: nearest texels, too; bit 17: triangles
/// with colors at their corners; bit 18: gradients. Fewer are much cheaper on a software adapter,
/// which also computes the results that are not selected.
override ENGINE_PAINTS: u32 = 0x703ffu;
/// True if the shader writes colors as sRGB bytes.
override ENGINE_ENCODES: bool = false;
/// True if the colors of instances are premultiplied already.
override ENGINE_PREMULTIPLIED: bool = false;
/// True if the shader writes coverage, for masks.
override ENGINE_COVERS: bool = false;
/// True if colors replace those of the target: a mask then has hard edges.
override ENGINE_REPLACES: bool = false;

const ENGINE_ATLAS: u32 = 0u;
const ENGINE_TEXTURE: u32 = 1u;
const ENGINE_GLYPH: u32 = 2u;
const ENGINE_BOX: u32 = 3u;
const ENGINE_ELLIPSE: u32 = 4u;
const ENGINE_ARC: u32 = 5u;
const ENGINE_SOLID: u32 = 6u;
const ENGINE_TEXTURE_FIELD: u32 = 7u;
const ENGINE_TRIANGLE: u32 = 8u;
const ENGINE_FRINGE: u32 = 9u;
const ENGINE_NEAREST: u32 = 16u;
const ENGINE_MESH: u32 = 32768u;
const ENGINE_GRADIENT_STEPS: f32 = 1022.0;
const ENGINE_ATLAS_SIDE: f32 = 1024.0;
const ENGINE_GLYPH_SPREAD: f32 = 6.0;

struct EngineInstance {
    @builtin(vertex_index) vertex: u32,
    @location(0) bottom: vec4f,
    @location(1) top: vec4f,
    @location(2) uv: vec4f,
    @location(3) color: vec4f,
    @location(4) style: u32,
    @location(5) extra: vec2f,
    /// Colors in the bytes of other fields: the second and third corner of a triangle, and the end
    /// of a gradient.
    @location(6) second: vec4f,
    @location(7) third: vec4f,
    @location(8) gradient: vec4f,
}

struct EngineVarying {
    @builtin(position) clip: vec4f,
    /// Texture coordinates, or the position relative to the center of a shape.
    @location(0) uv: vec2f,
    @location(1) quad_uv: vec2f,
    @location(2) position: vec2f,
    @location(3) @interpolate(flat) color: vec4f,
    @location(4) @interpolate(flat) shape: vec4f,
    @location(5) @interpolate(flat) extra: vec2f,
    @location(6) @interpolate(flat) style: u32,
    /// sRGB: the color of a triangle with premultiplied alpha, or the end of a gradient.
    @location(7) mixed: vec4f,
}

fn engine_from_srgb(c: vec3f) -> vec3f {
    return select(pow((c + 0.055) / 1.055, vec3f(2.4)), c / 12.92, c <= vec3f(0.04045));
}

fn engine_to_srgb(c: vec3f) -> vec3f {
    let high = 1.055 * pow(max(c, vec3f(0.0031308)), vec3f(1.0 / 2.4)) - 0.055;
    return select(high, c * 12.92, c <= vec3f(0.0031308));
}

@vertex
fn engine_vertex(in: EngineInstance) -> EngineVarying {
    // Two triangles: corners 0, 1, 2 and 0, 2, 3, counterclockwise from the bottom left.
    let corner = (0x320210u >> (4u * in.vertex)) & 3u;
    let right = corner == 1u || corner == 2u;
    let up = corner >= 2u;
    let mesh = (in.style & ENGINE_MESH) != 0u;
    let left_top = select(in.top.zw, in.top.xy, right || mesh);
    let position = select(select(in.bottom.xy, in.bottom.zw, right), left_top, up);
    let side = vec2f(select(-1.0, 1.0, right), select(-1.0, 1.0, up));
    let kind = in.style & 15u;
    var reach = in.uv.xy;
    if kind == ENGINE_ARC {
        reach = vec2f(in.uv.x + in.uv.y);
    }
    let shape = kind == ENGINE_BOX || kind == ENGINE_ELLIPSE || kind == ENGINE_ARC;
    let texture_uv = vec2f(select(in.uv.x, in.uv.z, right), select(in.uv.y, in.uv.w, up));

    var at = vec4f(position, 0.0, 1.0);
    let transform = in.style >> 16u;
    if transform > 0u {
        at = engine_transforms[frame.first_transform + transform - 1u] * at;
    }
    var out: EngineVarying;
    out.clip = frame.to_clip * at;
    out.uv = select(texture_uv, side * (reach + in.extra.x), shape);
    if kind == ENGINE_TRIANGLE {
        let along = select(vec2f(0.0), in.uv.zw - in.uv.xy, right);
        let across = select(vec2f(0.0), in.extra - in.uv.xy, up);
        out.uv = in.uv.xy + along + across;
    }
    var colors = in.gradient;
    if mesh {
        out.uv = select(select(in.uv.xy, in.uv.zw, right), in.extra, up);
        colors = select(select(in.color, in.second, right), in.third, up);
        colors = vec4f(colors.rgb * select(colors.a, 1.0, ENGINE_PREMULTIPLIED), colors.a);
    }
    out.mixed = colors;
    out.quad_uv = vec2f(select(0.0, 1.0, right), select(1.0, 0.0, up));
    out.position = position;
    out.color = vec4f(engine_from_srgb(in.color.rgb), in.color.a);
    out.shape = in.uv;
    out.extra = in.extra;
    out.style = in.style;
    return out;
}

fn engine_needs(kind: u32) -> bool {
    return (ENGINE_PAINTS & (1u << kind)) != 0u;
}

/// Returns the length of a pixel along a direction of the shape's plane.
fn engine_footprint(dx: vec2f, dy: vec2f, direction: vec2f) -> f32 {
    return max(length(vec2f(dot(dx, direction), dot(dy, direction))), 1e-6);
}

/// Returns the fraction of a pixel of a width that lies between -half and half.
fn engine_slab(at: f32, half: f32, width: f32) -> f32 {
    return saturate((half - at) / width + 0.5) - saturate((-half - at) / width + 0.5);
}

fn engine_plain_box(p: vec2f, half: vec2f, width: vec2f) -> f32 {
    return engine_slab(p.x, half.x, width.x) * engine_slab(p.y, half.y, width.y);
}

fn engine_box(p: vec2f, shape: vec4f, dx: vec2f, dy: vec2f) -> f32 {
    let half = shape.xy;
    let width = vec2f(engine_footprint(dx, dy, vec2f(1.0, 0.0)),
                      engine_footprint(dx, dy, vec2f(0.0, 1.0)));
    let plain = engine_plain_box(p, half, width);
    let inner = half - shape.w;
    let hollow = shape.w > 0.0 && all(inner > vec2f(0.0));
    let hole = select(0.0, engine_plain_box(p, inner, width), hollow);
    let radius = min(shape.z, min(half.x, half.y));
    if radius <= 0.0 {
        return plain - hole;
    }
    // Signed distance to a rectangle with round corners, and its gradient.
    let q = abs(p) - half + radius;
    let distance = length(max(q, vec2f(0.0))) + min(max(q.x, q.y), 0.0) - radius;
    var normal = select(vec2f(0.0, 1.0), vec2f(1.0, 0.0), q.x > q.y);
    if q.x > 0.0 && q.y > 0.0 {
        normal = normalize(q);
    }
    let pixel = engine_footprint(dx, dy, normal * select(vec2f(1.0), vec2f(-1.0), p < vec2f(0.0)));
    let filled = min(saturate(0.5 - distance / pixel), plain);
    if shape.w <= 0.0 {
        return filled;
    }
    return max(filled - saturate(0.5 - (distance + shape.w) / pixel), 0.0);
}

fn engine_oval(p: vec2f, half: vec2f, dx: vec2f, dy: vec2f) -> f32 {
    // The first-order distance to an ellipse: its equation over the length of its gradient.
    let a = length(p / half);
    let gradient = p / (half * half);
    let steep = length(gradient);
    if steep < 1e-9 {
        return 1.0;
    }
    let pixel = engine_footprint(dx, dy, gradient / steep);
    return saturate(0.5 - a * (a - 1.0) / steep / pixel);
}

fn engine_ellipse(p: vec2f, shape: vec4f, dx: vec2f, dy: vec2f) -> f32 {
    let filled = engine_oval(p, max(shape.xy, vec2f(1e-6)), dx, dy);
    let inner = shape.xy - shape.w;
    if shape.w <= 0.0 || any(inner <= vec2f(0.0)) {
        return filled;
    }
    return filled - engine_oval(p, inner, dx, dy);
}

fn engine_arc(p: vec2f, shape: vec4f, dx: vec2f, dy: vec2f) -> f32 {
    let from_middle = length(p);
    let outward = select(vec2f(1.0, 0.0), p / max(from_middle, 1e-9), from_middle > 1e-9);
    let pixel = engine_footprint(dx, dy, outward);
    var cover = engine_slab(from_middle - shape.x, shape.y, pixel);
    if shape.x <= shape.y {
        // A whole disc: it has no inner edge.
        cover = saturate((shape.x + shape.y - from_middle) / pixel + 0.5);
    }
    if shape.w >= 3.14159 {
        return cover;
    }
    // Rotated so that the middle of the arc is on the right; both of its ends are then symmetric.
    let c = cos(shape.z);
    let s = sin(shape.z);
    let x = c * p.x + s * p.y;
    let y = c * p.y - s * p.x;
    let end = vec2f(cos(shape.w), sin(shape.w));
    let beyond = end.x * abs(y) - end.y * x;
    // The direction across that end, rotated back.
    let across = vec2f(-end.y, end.x * select(1.0, -1.0, y < 0.0));
    let normal = vec2f(c * across.x - s * across.y, s * across.x + c * across.y);
    return cover * saturate(0.5 - beyond / engine_footprint(dx, dy, normal));
}

/// Returns the coverage of a pixel by two sides of a triangle, from the coverage of each side. The
/// uncovered parts add up if the sides are nearly parallel, as in a sliver.
fn engine_between(a: f32, b: f32, across: vec2f, other: vec2f) -> f32 {
    let facing = saturate(-dot(across, other));
    return mix(a * b, max(a + b - 1.0, 0.0), facing);
}

fn engine_triangle(p: vec2f, dx: vec2f, dy: vec2f) -> f32 {
    // Barycentric coordinates (0 on the side opposite to each corner), and their gradients.
    let near = vec3f(1.0 - p.x - p.y, p);
    let a = -vec2f(dx.x + dx.y, dy.x + dy.y);
    let b = vec2f(dx.x, dy.x);
    let c = vec2f(dx.y, dy.y);
    let steep = max(vec3f(length(a), length(b), length(c)), vec3f(1e-9));
    let cover = saturate(near / steep + 0.5);
    let from_a = a / steep.x;
    let from_b = b / steep.y;
    let from_c = c / steep.z;
    return min(min(engine_between(cover.x, cover.y, from_a, from_b),
                   engine_between(cover.y, cover.z, from_b, from_c)),
               engine_between(cover.z, cover.x, from_c, from_a));
}

/// Returns the coverage from a distance in texels; `texels`: number of texels that a pixel spans.
fn engine_edge(distance: f32, extra: vec2f, texels: f32) -> f32 {
    return saturate((distance + extra.x) / max(texels + extra.y, 1e-4) + 0.5);
}

fn engine_glyph(uv: vec2f, layer: u32, extra: vec2f, dx: vec2f, dy: vec2f) -> f32 {
    let at = uv * vec2f(1.0, frame.glyphs_stretch);
    let field = textureSampleLevel(engine_glyphs, engine_smooth, at, layer, 0.0);
    let texels = length(vec4f(dx, dy)) * ENGINE_ATLAS_SIDE * 0.70711;
    // Three distances keep corners sharp; moved or softened edges use the true distance.
    let sharp = max(min(field.r, field.g), min(max(field.r, field.g), field.b));
    let value = select(sharp, field.a, extra.x != 0.0 || extra.y > 0.0 || texels > 3.0);
    return engine_edge((value - 0.5) * 2.0 * ENGINE_GLYPH_SPREAD, extra, texels);
}

/// Returns the center of the texel: there, bilinear filtering returns that texel alone. (GL cannot
/// read one texture with two samplers.)
fn engine_nearest(uv: vec2f, size: vec2f) -> vec2f {
    return (floor(uv * size) + 0.5) / size;
}

/// Clamps a uv to a part of an image, at a distance from its edges: filtering there reads no texels
/// outside of the part. Without a distance, nothing is clamped; a negative one is half a texel.
fn engine_within(uv: vec2f, part: vec4f, inside: vec2f, size: vec2f) -> vec2f {
    if inside.x == 0.0 {
        return uv;
    }
    let distance = select(inside, 0.5 / size, inside.x < 0.0);
    let low = min(part.xy, part.zw) + distance;
    let high = max(part.xy, part.zw) - distance;
    return clamp(uv, min(low, high), high);
}

/// Converts an sRGB color with premultiplied alpha to linear light.
fn engine_light(color: vec4f) -> vec4f {
    let alpha = select(max(color.a, 1e-4), 1.0, ENGINE_PREMULTIPLIED);
    return vec4f(engine_from_srgb(color.rgb / alpha) * alpha, color.a);
}

/// Returns the color of a gradient, between two colors in linear light and in sRGB.
fn engine_gradient(in: EngineVarying, direction: u32) -> vec4f {
    let arc = (in.style & 15u) == ENGINE_ARC;
    let half = max(select(in.shape.xy, vec2f(in.shape.x + in.shape.y), arc), vec2f(1e-6));
    let angle = f32(direction - 2u) / ENGINE_GRADIENT_STEPS * 6.2831853;
    let along = vec2f(cos(angle), sin(angle));
    let reach = dot(abs(along), half);
    let at = select(dot(in.uv, along) / reach * 0.5 + 0.5, length(in.uv / half), direction == 1u);
    let from_alpha = select(in.color.a, 1.0, ENGINE_PREMULTIPLIED);
    let to_alpha = select(in.mixed.a, 1.0, ENGINE_PREMULTIPLIED);
    let first = vec4f(engine_to_srgb(in.color.rgb) * from_alpha, in.color.a);
    return engine_light(mix(first, vec4f(in.mixed.rgb * to_alpha, in.mixed.a), saturate(at)));
}

/// Returns the draw color of a pixel, in linear light with premultiplied alpha.
fn engine_color(in: EngineVarying) -> vec4f {
    let layer = (in.style >> 5u) & 1023u;
    let kind = in.style & 15u;
    if engine_needs(17u) && (in.style & ENGINE_MESH) != 0u {
        return engine_light(in.mixed);
    }
    let shape = kind == ENGINE_BOX || kind == ENGINE_ELLIPSE || kind == ENGINE_ARC;
    if engine_needs(18u) && shape && layer > 0u {
        return engine_gradient(in, layer);
    }
    return vec4f(in.color.rgb * select(in.color.a, 1.0, ENGINE_PREMULTIPLIED), in.color.a);
}

/// Returns the color of a pixel that a shape covers in part. A color that replaces others has hard
/// edges.
fn engine_covered(color: vec4f, cover: f32) -> vec4f {
    if ENGINE_REPLACES {
        if cover < 0.5 {
            discard;
        }
        return color;
    }
    return color * cover;
}

/// Returns the output of the engine's own material, with premultiplied alpha.
fn engine_paint(in: EngineVarying, color: vec4f) -> vec4f {
    let dx = dpdx(in.uv);
    let dy = dpdy(in.uv);
    let kind = in.style & 15u;
    let layer = (in.style >> 5u) & 1023u;
    let near = engine_needs(16u) && (in.style & ENGINE_NEAREST) != 0u;
    let inside = select(in.extra, vec2f(0.0), (in.style & ENGINE_MESH) != 0u);
    if engine_needs(ENGINE_ATLAS) && kind == ENGINE_ATLAS {
        let stretch = vec2f(1.0, frame.atlas_stretch);
        if near {
            let uv = engine_nearest(in.uv, vec2f(ENGINE_ATLAS_SIDE)) * stretch;
            return color * textureSampleLevel(engine_atlas, engine_smooth, uv, layer, 0.0);
        }
        let uv = engine_within(in.uv, in.shape, inside, vec2f(ENGINE_ATLAS_SIDE)) * stretch;
        return color * textureSampleGrad(engine_atlas, engine_smooth, uv, layer, dx * stretch,
                                         dy * stretch);
    }
    if engine_needs(ENGINE_TEXTURE) && kind == ENGINE_TEXTURE {
        if near {
            let uv = engine_nearest(in.uv, vec2f(textureDimensions(engine_texture)));
            return color * textureSampleLevel(engine_texture, engine_texture_sampler, uv, 0.0);
        }
        let size = vec2f(textureDimensions(engine_texture));
        let uv = engine_within(in.uv, in.shape, inside, size);
        return color * textureSampleGrad(engine_texture, engine_texture_sampler, uv, dx, dy);
    }
    if engine_needs(ENGINE_GLYPH) && kind == ENGINE_GLYPH {
        return engine_covered(color, engine_glyph(in.uv, layer, in.extra, dx, dy));
    }
    if engine_needs(ENGINE_BOX) && kind == ENGINE_BOX {
        return engine_covered(color, engine_box(in.uv, in.shape, dx, dy));
    }
    if engine_needs(ENGINE_ELLIPSE) && kind == ENGINE_ELLIPSE {
        return engine_covered(color, engine_ellipse(in.uv, in.shape, dx, dy));
    }
    if engine_needs(ENGINE_ARC) && kind == ENGINE_ARC {
        return engine_covered(color, engine_arc(in.uv, in.shape, dx, dy));
    }
    if engine_needs(ENGINE_TRIANGLE) && kind == ENGINE_TRIANGLE {
        return engine_covered(color, engine_triangle(in.uv, dx, dy));
    }
    if engine_needs(ENGINE_FRINGE) && kind == ENGINE_FRINGE {
        return engine_covered(color, in.quad_uv.y * in.extra.x);
    }
    if engine_needs(ENGINE_TEXTURE_FIELD) && kind == ENGINE_TEXTURE_FIELD {
        let size = vec2f(textureDimensions(engine_texture));
        let value = textureSampleLevel(engine_texture, engine_texture_sampler, in.uv, 0.0).a;
        let texels = length(vec4f(dx * size, dy * size)) * 0.70711;
        let field = (value - 0.5) * f32(layer) * 0.25;
        return engine_covered(color, engine_edge(field, in.extra, texels));
    }
    return color;
}

fn engine_output(in: EngineVarying) -> vec4f {
    var it: Paint;
    it.color = engine_color(in);
    it.base = engine_paint(in, it.color);
    it.uv = select(in.quad_uv, in.uv, (in.style & 15u) == ENGINE_TEXTURE);
    it.position = in.position;
    it.pixel = in.clip.xy;
    return paint(it);
}

fn engine_encoded(painted: vec4f) -> vec4f {
    if ENGINE_ENCODES {
        let alpha = max(painted.a, 1e-6);
        return vec4f(engine_to_srgb(painted.rgb / alpha) * alpha, painted.a);
    }
    return painted;
}

@fragment
fn engine_fragment(in: EngineVarying) -> @location(0) vec4f {
    return engine_encoded(engine_output(in));
}

/// Draws through a mask.
@fragment
fn engine_masked_fragment(in: EngineVarying) -> @location(0) vec4f {
    let painted = engine_output(in);
    let at = in.clip.xy + frame.engine_mask.xy;
    let inside = all(at >= vec2f(0.0)) && all(at < frame.engine_mask.zw);
    let texel = clamp(vec2i(at), vec2i(0), vec2i(textureDimensions(engine_mask)) - 1);
    let mask = select(0.0, textureLoad(engine_mask, texel, 0).r, inside);
    if ENGINE_COVERS {
        return vec4f(saturate(painted.a) * mask);
    }
    if ENGINE_REPLACES {
        if mask < 0.5 {
            discard;
        }
        return engine_encoded(painted);
    }
    return engine_encoded(painted) * mask;
}
