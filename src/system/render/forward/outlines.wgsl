// Outlines: of each pixel, the shape in its row whose outline reaches furthest beyond it, and then
// that of all rows. Distances are exact: Saito and Toriwaki, "New Algorithms for Euclidean Distance Transformation of
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

// Returns the style of a pixel of a row; 0: it has none.
fn shape_at(at: vec2i, size: vec2i) -> u32 {
    if at.x < 0 || at.x >= size.x {
        return 0u;
    }
    return textureLoad(shapes, at, 0).r;
}

@fragment
fn row_fragment(@builtin(position) clip: vec4f) -> @location(0) vec2u {
    let at = vec2i(clip.xy);
    let size = vec2i(textureDimensions(shapes));
    let own = shape_at(at, size);
    if own != 0u {
        return vec2u(own, 0u);
    }
    let reach = i32(ceil(outlines.options.x));
    var nearest = vec2u(0u);
    var most = 0.0;
    for (var distance = 1; distance <= reach; distance++) {
        // Nothing that is further away reaches further.
        if outlines.options.x + 1.0 - f32(distance) <= most {
            break;
        }
        for (var side = -1; side <= 1; side += 2) {
            let style = shape_at(at + vec2i(side * distance, 0), size);
            if style == 0u {
                continue;
            }
            let beyond = width_of(style) + 1.0 - f32(distance);
            if beyond > most {
                most = beyond;
                nearest = vec2u(style, u32(distance));
            }
        }
    }
    return nearest;
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
    var most = 0.0;
    var style = 0u;
    for (var row = max(at.y - reach, 0); row <= min(at.y + reach, last.y); row++) {
        let nearest = textureLoad(shapes, vec2i(at.x, row), 0).rg;
        if nearest.r == 0u {
            continue;
        }
        let away = length(vec2f(f32(nearest.g), f32(row - at.y)));
        let beyond = width_of(nearest.r) + 1.0 - away;
        if beyond > most {
            most = beyond;
            style = nearest.r;
        }
    }
    if style == 0u {
        discard;
    }
    let color = outlines.styles[min(style, STYLES_MAX) - 1u].color * min(most, 1.0);
    let shown = color.rgb / max(color.a, 1e-4);
    let rgb = select(shown, encoded(shown), outlines.options.y > 0.5);
    return vec4f(rgb * color.a, color.a);
}
