// Automatic exposure. The light of the view is metered in a grid of cells, each with its mean
// logarithm of luminance; a histogram of the cells gives the mean without the darkest and brightest
// ones; the exposure follows it over time.

#include "full_screen.wgsl"
#include "post_uniforms.wgsl"

// Number of samples per pixel.
override SAMPLES: i32 = 4;

@group(1) @binding(0) var light: texture_multisampled_2d<f32>;

// Side length of the grid, in cells, and number of points in a row of a cell.
const CELLS: i32 = 32;
const POINTS: i32 = 8;
const BINS: i32 = 64;
// Range of the histogram, in stops.
const STOPS_MIN: f32 = -16.0;
const STOPS_MAX: f32 = 16.0;

// Writes a cell's mean stops, and the part of it that has light.
@fragment
fn meter_fragment(in: Corner) -> @location(0) vec4f {
    let cell = vec2i(in.uv * f32(CELLS));
    let size = vec2f(textureDimensions(light));
    var sum = 0.0;
    var weights = 0.0;
    for (var y = 0; y < POINTS; y++) {
        for (var x = 0; x < POINTS; x++) {
            let point = (vec2f(cell * POINTS + vec2i(x, y)) + 0.5) / f32(CELLS * POINTS);
            let color = textureLoad(light, vec2i(point * size), (x + y) % SAMPLES);
            // Where nothing is drawn, the view shows its background, which is no light.
            let weight = min(finite_part(color.a), 1.0);
            let lit = luminance(finite_light(color.rgb));
            sum += clamp(log2(max(lit, 1e-6)), STOPS_MIN, STOPS_MAX) * weight;
            weights += weight;
        }
    }
    return vec4f(sum / max(weights, 1e-4), weights / f32(POINTS * POINTS), 0.0, 1.0);
}

fn bin_of(stops: f32) -> f32 {
    return (stops - STOPS_MIN) / (STOPS_MAX - STOPS_MIN) * f32(BINS - 1);
}

// Writes the sum of the cells in one bin. A cell between two bins counts in both, by its distance.
@fragment
fn histogram_fragment(in: Corner) -> @location(0) vec4f {
    let bin = floor(in.uv.x * f32(BINS));
    var sum = 0.0;
    for (var y = 0; y < CELLS; y++) {
        for (var x = 0; x < CELLS; x++) {
            let cell = textureLoad(picture, vec2i(x, y), 0).rg;
            sum += max(1.0 - abs(bin_of(cell.r) - bin), 0.0) * cell.g;
        }
    }
    return vec4f(sum, 0.0, 0.0, 1.0);
}

// Returns the mean stops of the metered part, and the sum of all bins.
fn metered() -> vec2f {
    var all = 0.0;
    for (var i = 0; i < BINS; i++) {
        all += textureLoad(picture, vec2i(i, 0), 0).r;
    }
    let first = post.adaptation.z * all;
    let last = max(post.adaptation.w * all, first + all * 0.01);
    var below = 0.0;
    var sum = 0.0;
    var weights = 0.0;
    for (var i = 0; i < BINS; i++) {
        let bin = textureLoad(picture, vec2i(i, 0), 0).r;
        let weight = max(min(below + bin, last) - max(below, first), 0.0);
        sum += weight * f32(i);
        weights += weight;
        below += bin;
    }
    let stops = sum / max(weights, 1e-4) / f32(BINS - 1) * (STOPS_MAX - STOPS_MIN) + STOPS_MIN;
    return vec2f(stops, all);
}

// Writes the exposure of this frame: stops, and the factor for light. `exposure_state` is that of
// the frame before.
@fragment
fn adapt_fragment() -> @location(0) vec4f {
    let mean = metered();
    let before = textureLoad(exposure_state, vec2i(0), 0).r;
    let begins = post.metering.w > 0.5;
    var now = select(before, 0.0, begins);
    if mean.y > 0.5 {
        let aim = clamp(post.metering.x - mean.x, post.metering.y, post.metering.z);
        let part = select(post.adaptation.y, post.adaptation.x, aim > now);
        now = mix(now, aim, select(part, 1.0, begins));
    }
    now = clamp(now, post.metering.y, post.metering.z);
    return vec4f(now, exp2(now), 0.0, 1.0);
}
