// Fast approximate anti-aliasing (Lottes, "FXAA", 2009): edges are found by contrast, and each
// pixel at an edge is mixed with its neighbor by its distance from the end of the edge. Include it
// after post_uniforms.wgsl.

// Contrast below which a pixel is no edge: absolute, and relative to the brightest neighbor.
const CONTRAST_MIN: f32 = 0.04;
const CONTRAST_PART: f32 = 0.125;
// How much single pixels are smoothed.
const SINGLE_PIXELS: f32 = 0.6;
// Number of steps in which the end of an edge is searched.
const EDGE_STEPS: i32 = 10;

fn image_color(uv: vec2f) -> vec4f {
    return textureSampleLevel(picture, smooth_sampler, uv, 0.0);
}

// Returns the brightness of a color as it is perceived.
fn brightness(uv: vec2f) -> f32 {
    return sqrt(luminance(image_color(uv).rgb));
}

// Returns the distance in pixels from a point to the end of an edge, and how much the brightness at
// the end differs from that of the edge.
fn edge_end(begin: vec2f, along: vec2f, mean: f32, limit: f32) -> vec2f {
    var distance = 1.0;
    var difference = 0.0;
    for (var i = 0; i < EDGE_STEPS; i++) {
        difference = brightness(begin + along * distance) - mean;
        if abs(difference) >= limit {
            break;
        }
        distance += select(1.0, 2.0, i > 4);
    }
    return vec2f(distance, difference);
}

fn smoothed_color(uv: vec2f, texel: vec2f) -> vec4f {
    let middle = brightness(uv);
    let north = brightness(uv + vec2f(0.0, -texel.y));
    let south = brightness(uv + vec2f(0.0, texel.y));
    let west = brightness(uv + vec2f(-texel.x, 0.0));
    let east = brightness(uv + vec2f(texel.x, 0.0));
    let brightest = max(middle, max(max(north, south), max(west, east)));
    let darkest = min(middle, min(min(north, south), min(west, east)));
    let contrast = brightest - darkest;
    if contrast < max(CONTRAST_MIN, brightest * CONTRAST_PART) {
        return image_color(uv);
    }
    let north_west = brightness(uv - texel);
    let south_east = brightness(uv + texel);
    let north_east = brightness(uv + vec2f(texel.x, -texel.y));
    let south_west = brightness(uv + vec2f(-texel.x, texel.y));
    let across_rows = 2.0 * abs(north + south - 2.0 * middle)
        + abs(north_east + south_east - 2.0 * east)
        + abs(north_west + south_west - 2.0 * west);
    let across_columns = 2.0 * abs(west + east - 2.0 * middle)
        + abs(north_west + north_east - 2.0 * north)
        + abs(south_west + south_east - 2.0 * south);
    let is_row = across_rows >= across_columns;
    // The neighbors on both sides of the edge, and the step to the one with more contrast.
    let before = select(west, north, is_row);
    let behind = select(east, south, is_row);
    let is_before = abs(before - middle) >= abs(behind - middle);
    let side = select(behind, before, is_before);
    let across = select(vec2f(texel.x, 0.0), vec2f(0.0, texel.y), is_row);
    let step = across * select(1.0, -1.0, is_before);
    let along = select(vec2f(0.0, texel.y), vec2f(texel.x, 0.0), is_row);
    let mean = 0.5 * (side + middle);
    let limit = 0.25 * abs(side - middle);
    let begin = uv + step * 0.5;
    let one = edge_end(begin, -along, mean, limit);
    let other = edge_end(begin, along, mean, limit);
    let nearer = select(other, one, one.x < other.x);
    let is_inside = (middle < mean) != (nearer.y < 0.0);
    let by_edge = select(0.0, 0.5 - nearer.x / (one.x + other.x), is_inside);
    // A pixel that differs from all around it is mixed too.
    let around = (2.0 * (north + south + west + east)
        + north_west + north_east + south_west + south_east) / 12.0;
    let single = smoothstep(0.0, 1.0, clamp(abs(around - middle) / contrast, 0.0, 1.0));
    return image_color(uv + step * max(by_edge, single * single * SINGLE_PIXELS));
}
