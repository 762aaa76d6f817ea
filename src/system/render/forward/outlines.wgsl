// Outlines: the nearest shape of each pixel in its row, and then the nearest one of all rows.
// Distances are exact: Saito and Toriwaki, "New Algorithms for Euclidean Distance Transformation of
// an n-Dimensional Digitized Picture with Applications", 1994, within the width of the outlines.

#include "display.wgsl"

const STYLES_MAX: u32 = 64u;

struct Style {
    // Linear light, with premultiplied alpha.
    color: vec4f,
    // x: width in pixels.
    width: vec4f,
}

struct Outlines {
    // x: the greatest width; y: 1 if the target needs encoded colors; z, w: offset of the image.
    options: vec4f,
    styles: array<Style, STYLES_MAX>,
}

@group(0) @binding(0) var<uniform> outlines: Outlines;
// Numbers of the styles, from 1; in the second step also the distance within the row.
@group(0) @binding(1) var shapes: texture_2d<u32>;

@vertex
fn outline_vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4f(at, 0.0, 1.0);
}

fn width_of(style: u32) -> f32 {
    return outlines.styles[min(style, STYLES_MAX) - 1u].width.x;
}

// Returns the style of a pixel of a row; 0: it has none within reach.
fn shape_at(at: vec2i, away: i32, size: vec2i) -> u32 {
    if at.x < 0 || at.x >= size.x {
        return 0u;
    }
    let style = textureLoad(shapes, at, 0).r;
    if style == 0u || f32(away) >= width_of(style) + 1.0 {
        return 0u;
    }
    return style;
}

@fragment
fn row_fragment(@builtin(position) clip: vec4f) -> @location(0) vec2u {
    let at = vec2i(clip.xy);
    let size = vec2i(textureDimensions(shapes));
    let reach = i32(ceil(outlines.options.x));
    for (var distance = 0; distance <= reach; distance++) {
        let left = shape_at(at - vec2i(distance, 0), distance, size);
        if left != 0u {
            return vec2u(left, u32(distance));
        }
        let right = shape_at(at + vec2i(distance, 0), distance, size);
        if right != 0u {
            return vec2u(right, u32(distance));
        }
    }
    return vec2u(0u);
}

@fragment
fn show_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let at = vec2i(floor(clip.xy - outlines.options.zw));
    let last = vec2i(textureDimensions(shapes)) - 1;
    let own = textureLoad(shapes, clamp(at, vec2i(0), last), 0).rg;
    if any(at < vec2i(0)) || any(at > last) || (own.r != 0u && own.g == 0u) {
        discard;
    }
    let reach = i32(ceil(outlines.options.x));
    var cover = 0.0;
    var style = 0u;
    for (var row = max(at.y - reach, 0); row <= min(at.y + reach, last.y); row++) {
        let nearest = textureLoad(shapes, vec2i(at.x, row), 0).rg;
        if nearest.r == 0u {
            continue;
        }
        let away = length(vec2f(f32(nearest.g), f32(row - at.y)));
        let part = clamp(width_of(nearest.r) + 1.0 - away, 0.0, 1.0);
        if part > cover {
            cover = part;
            style = nearest.r;
        }
    }
    if style == 0u {
        discard;
    }
    let color = outlines.styles[min(style, STYLES_MAX) - 1u].color * cover;
    let shown = color.rgb / max(color.a, 1e-4);
    let rgb = select(shown, encoded(shown), outlines.options.y > 0.5);
    return vec4f(rgb * color.a, color.a);
}
