// Subpixel morphological anti-aliasing: edges are found by their contrast, straightened between
// their ends, and the pixels on both sides are mixed by the areas that are cut off. After Jimenez,
// Echevarria, Sousa and Gutierrez, "SMAA: Enhanced Subpixel Morphological Antialiasing", 2012: one
// sample, horizontal and vertical patterns.

#include "full_screen.wgsl"
#include "post_uniforms.wgsl"

// Difference of brightness from which on there is an edge, and the part of the greatest difference
// around that an edge needs.
const EDGE_MIN: f32 = 0.06;
const CONTRAST_PART: f32 = 0.5;
// Number of pixels in which the end of an edge is searched (smaa_area.rs).
const REACH: i32 = 32;

fn brightness(at: vec2i, last: vec2i) -> f32 {
    return sqrt(luminance(textureLoad(picture, clamp(at, vec2i(0), last), 0).rgb));
}

// Returns 1 for edges to the left (red) and to the top (green) of a pixel.
@fragment
fn edge_fragment(in: Corner) -> @location(0) vec4f {
    let at = vec2i(in.clip.xy);
    let last = vec2i(textureDimensions(picture)) - 1;
    let own = brightness(at, last);
    let left = brightness(at - vec2i(1, 0), last);
    let top = brightness(at - vec2i(0, 1), last);
    let delta = abs(vec2f(own) - vec2f(left, top));
    var edges = step(vec2f(EDGE_MIN), delta);
    if edges.x + edges.y == 0.0 {
        return vec4f(0.0);
    }
    let right = abs(own - brightness(at + vec2i(1, 0), last));
    let bottom = abs(own - brightness(at + vec2i(0, 1), last));
    let far_left = abs(left - brightness(at - vec2i(2, 0), last));
    let far_top = abs(top - brightness(at - vec2i(0, 2), last));
    let greatest = max(max(max(delta.x, delta.y), max(right, bottom)), max(far_left, far_top));
    // An edge next to a much stronger one is not seen.
    edges *= step(vec2f(CONTRAST_PART * greatest), delta);
    return vec4f(edges, 0.0, 0.0);
}

// Returns the edges of a pixel; outside of the image there are none.
fn edges_at(at: vec2i) -> vec2f {
    let size = vec2i(textureDimensions(picture));
    if any(at < vec2i(0)) || any(at >= size) {
        return vec2f(0.0);
    }
    return textureLoad(picture, at, 0).rg;
}

// The end of an edge: its distance from a pixel, and the pattern of the edges that cross it.
struct EdgeEnd {
    distance: i32,
    pattern: i32,
}

// Searches the end of an edge from a pixel. `along`: the direction of the edge; `is_row`: the edge
// is at the top of its pixels; `step`: 1 or -1.
fn edge_end(at: vec2i, is_row: bool, step: i32) -> EdgeEnd {
    let along = select(vec2i(0, 1), vec2i(1, 0), is_row);
    let across = select(vec2i(1, 0), vec2i(0, 1), is_row);
    var out = EdgeEnd(0, 0);
    for (; out.distance < REACH; out.distance++) {
        // An edge that crosses ends this one. It is at the begin of a pixel.
        let begin = at + along * (out.distance * step + select(0, 1, step > 0));
        let before = edges_at(begin - across);
        let behind = edges_at(begin);
        let crosses = vec2f(
            select(before.g, before.r, is_row),
            select(behind.g, behind.r, is_row),
        );
        let next = edges_at(at + along * ((out.distance + 1) * step));
        let continues = select(next.r, next.g, is_row) > 0.5;
        if any(crosses > vec2f(0.5)) || !continues {
            out.pattern = i32(crosses.x > 0.5) + 2 * i32(crosses.y > 0.5);
            return out;
        }
    }
    return out;
}

// Returns the areas of an edge before and behind it in a pixel.
fn cut_areas(at: vec2i, is_row: bool) -> vec2f {
    let begin = edge_end(at, is_row, -1);
    let end = edge_end(at, is_row, 1);
    let texel = vec2i(begin.pattern, end.pattern) * (REACH + 1)
        + vec2i(begin.distance, end.distance);
    return textureLoad(exposure_state, texel, 0).rg;
}

// Returns how much a pixel mixes with its neighbors: red is how much of it covers the pixel at its
// top, green the opposite; blue and alpha are the same for the pixel to the left.
@fragment
fn weight_fragment(in: Corner) -> @location(0) vec4f {
    let at = vec2i(in.clip.xy);
    let edges = edges_at(at);
    var weights = vec4f(0.0);
    if edges.g > 0.5 {
        weights = vec4f(cut_areas(at, true), 0.0, 0.0);
    }
    if edges.r > 0.5 {
        weights = vec4f(weights.rg, cut_areas(at, false));
    }
    return weights;
}

fn weights_at(at: vec2i) -> vec4f {
    let size = vec2i(textureDimensions(exposure_state));
    if any(at >= size) {
        return vec4f(0.0);
    }
    return textureLoad(exposure_state, at, 0);
}

// Returns the image with mixed pixels.
@fragment
fn mix_fragment(in: Corner) -> @location(0) vec4f {
    let at = vec2i(in.clip.xy);
    let own = weights_at(at);
    // How much of the pixels at the top, at the bottom, to the left and to the right covers this
    // one.
    let top = own.g;
    let left = own.a;
    let bottom = weights_at(at + vec2i(0, 1)).r;
    let right = weights_at(at + vec2i(1, 0)).b;
    let texel = 1.0 / vec2f(textureDimensions(picture));
    let is_column = max(top, bottom) > max(left, right);
    let parts = select(vec2f(left, right), vec2f(top, bottom), is_column);
    let sum = parts.x + parts.y;
    if sum <= 0.0 {
        return textureSampleLevel(picture, smooth_sampler, in.uv, 0.0);
    }
    let across = select(vec2f(texel.x, 0.0), vec2f(0.0, texel.y), is_column);
    // Samples between two pixels have the light of both.
    let before = textureSampleLevel(picture, smooth_sampler, in.uv - across * parts.x, 0.0);
    let behind = textureSampleLevel(picture, smooth_sampler, in.uv + across * parts.y, 0.0);
    return (before * parts.x + behind * parts.y) / sum;
}
