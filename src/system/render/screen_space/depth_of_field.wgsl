// Depth of field: each pixel gathers the neighbours whose blur reaches it, at half resolution. The
// surfaces in front of the focus are a layer of their own, which spreads over sharp surfaces behind
// it; surfaces behind the focus do not spread over sharp ones. After Jimenez, "Next Generation Post
// Processing in Call of Duty: Advanced Warfare", 2014.

#include "screen_uniforms.wgsl"
#include "focus.wgsl"

const TAPS: i32 = 48;
const GOLDEN_ANGLE: f32 = 2.39996323;
// Blur below this radius, in texels, is not gathered.
const RADIUS_MIN: f32 = 0.5;

// The light, or that of half resolution.
@group(0) @binding(2) var light: texture_2d<f32>;
@group(0) @binding(3) var depth: texture_2d<f32>;
// The neighbours' largest blur, or the blurred light.
@group(0) @binding(4) var other: texture_2d<f32>;
@group(0) @binding(5) var blurred_share: texture_2d<f32>;

// Returns the blur of a pixel, in pixels.
fn radius_at(pixel: vec2i) -> f32 {
    return blur_radius(textureLoad(depth, inside(pixel), 0).r);
}

@fragment
fn half_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let first = vec2i(clip.xy) * 2;
    let own = radius_at(first);
    var sum = vec4f(0.0);
    var weights = 0.0;
    for (var i = 0; i < 4; i++) {
        let at = inside(first + vec2i(i & 1, i >> 1));
        // Surfaces with another blur do not mix.
        let weight = 1.0 / (1.0 + abs(radius_at(at) - own));
        sum += clean(textureLoad(light, at, 0)) * weight;
        weights += weight;
    }
    return sum / weights;
}

struct Gathered {
    // The light, and the share of it that surfaces in front of the focus have.
    @location(0) color: vec4f,
    @location(1) share: vec4f,
}

@fragment
fn gather_fragment(@builtin(position) clip: vec4f) -> Gathered {
    let texel = vec2i(clip.xy);
    let last = vec2i(textureDimensions(light)) - 1;
    let side = max(i32(screen.focus.z), 1);
    let largest = textureLoad(other, texel / side, 0).r;
    let own_color = textureLoad(light, texel, 0);
    if !(largest >= RADIUS_MIN) {
        return Gathered(own_color, vec4f(0.0));
    }
    let own = radius_at(texel * 2) * 0.5;
    // The area of a tap, in units of pi, and the radius of a disk with that area.
    let area = largest * largest / f32(TAPS);
    let smallest = sqrt(area);
    let turn = gradient_noise(clip.xy) * 6.28318531;
    var front = vec4f(0.0);
    var front_weights = 0.0;
    let own_size = max(abs(own), smallest);
    var open_weights = 0.0;
    var back = own_color * 1e-3;
    var back_weights = 1e-3;
    for (var i = 0; i < TAPS; i++) {
        let away = largest * sqrt((f32(i) + 0.5) / f32(TAPS));
        let angle = f32(i) * GOLDEN_ANGLE + turn;
        let at = vec2i(floor(clip.xy + away * vec2f(cos(angle), sin(angle))));
        let tap = clamp(at, vec2i(0), last);
        let radius = radius_at(tap * 2) * 0.5;
        let color = textureLoad(light, tap, 0);
        var size = max(abs(radius), smallest);
        if radius > own {
            // What lies behind does not spread over what is sharper.
            size = min(size, max(2.0 * max(own, 0.0), smallest));
        }
        // A disk spreads its light evenly; it reaches the pixel, or it does not.
        let weight = clamp(size - away + 0.5, 0.0, 1.0) * area / (size * size);
        let in_front = smoothstep(0.25, 0.75, -radius);
        front += color * (weight * in_front);
        front_weights += weight * in_front;
        // Behind a blurred surface the background is guessed from what is around.
        let behind = (1.0 - in_front) * max(weight, select(0.0, 1e-2, own < 0.0));
        back += color * behind;
        back_weights += behind;
        let own_weight = clamp(own_size - away + 0.5, 0.0, 1.0) * area / (own_size * own_size);
        open_weights += own_weight * (1.0 - in_front);
    }
    // The share of the disk of a pixel in front of the focus that shows what is behind.
    let share = clamp(front_weights, 0.0, 1.0);
    let inside = front_weights / max(front_weights + open_weights, 1e-6);
    let far = back / back_weights;
    let near = front / max(front_weights, 1e-6);
    // Where nothing is behind, the front is all.
    let cover = select(share, inside, own < -0.25);
    return Gathered(mix(far, near, cover), vec4f(share));
}

@fragment
fn focus_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let at = vec2i(clip.xy);
    let sharp = textureLoad(light, at, 0);
    let own = smoothstep(0.5, 2.0, abs(radius_at(at)));
    let texel = 0.5 / vec2f(textureDimensions(other));
    let uv = clip.xy * 0.5 / vec2f(textureDimensions(other));
    var color = vec4f(0.0);
    var share = 0.0;
    for (var i = 0; i < 4; i++) {
        let corner = uv + texel * (vec2f(f32(i & 1), f32(i >> 1)) * 2.0 - 1.0);
        color += 0.25 * textureSampleLevel(other, linear_sampler, corner, 0.0);
        share += 0.25 * textureSampleLevel(blurred_share, linear_sampler, corner, 0.0).r;
    }
    let amount = max(own, share);
    if !(amount > 0.0) {
        return sharp;
    }
    return clean(mix(sharp, color, amount));
}
