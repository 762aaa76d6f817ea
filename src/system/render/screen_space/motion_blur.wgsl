// Motion blur: each pixel gathers along the longest motion in its neighbourhood. A sample counts if
// its own motion reaches the pixel, or the pixel's motion reaches it: McGuire, Hennessy, Bukowski
// and Osman, "A Reconstruction Filter for Plausible Motion Blur", 2012.

#include "screen_uniforms.wgsl"

const TAPS: i32 = 12;
// Motion of fewer pixels is not blurred.
const LENGTH_MIN: f32 = 0.5;
// Depths that differ by less than this share of the distance are one surface.
const SAME_DEPTH: f32 = 0.02;

@group(0) @binding(2) var light: texture_2d<f32>;
@group(0) @binding(3) var depth: texture_2d<f32>;
@group(0) @binding(4) var motion: texture_2d<f32>;
@group(0) @binding(5) var longest: texture_2d<f32>;

// Returns the way in pixels while the shutter is open.
fn way(motion: vec2f) -> vec2f {
    let pixels = motion * screen.size.xy * screen.motion.x;
    return pixels * min(1.0, screen.motion.y / max(length(pixels), 1e-3));
}

fn distance_at(at: vec2i) -> f32 {
    let own = textureLoad(depth, at, 0).r;
    var metres = 1e9;
    if own < 1.0 {
        metres = abs(view_z(own));
    }
    return metres;
}

// Returns the share of `a` that is not behind `b`.
fn not_behind(a: f32, b: f32) -> f32 {
    return clamp(1.0 - (a - b) / max(SAME_DEPTH * min(a, b), 1e-4), 0.0, 1.0);
}

fn cone(away: f32, reach: f32) -> f32 {
    return clamp(1.0 - away / max(reach, 1e-3), 0.0, 1.0);
}

fn cylinder(away: f32, reach: f32) -> f32 {
    return 1.0 - smoothstep(0.95 * reach, 1.05 * reach + 1e-3, away);
}

@fragment
fn blur_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let at = vec2i(clip.xy);
    let own_color = textureLoad(light, at, 0);
    let tile = at / max(i32(screen.motion.z), 1);
    let along = way(textureLoad(longest, tile, 0).xy);
    if !(length(along) >= LENGTH_MIN) {
        return own_color;
    }
    // Half of the way lies before this moment, half of it behind.
    let own_reach = 0.5 * length(way(textureLoad(motion, at, 0).xy));
    let own_distance = distance_at(at);
    var weights = 1.0 / max(own_reach, 1.0);
    var sum = own_color * weights;
    let noise = gradient_noise(clip.xy);
    for (var i = 0; i < TAPS; i++) {
        let share = (f32(i) + noise) / f32(TAPS) - 0.5;
        let tap = inside(vec2i(floor(clip.xy + along * share)));
        let away = length(along) * abs(share);
        let reach = 0.5 * length(way(textureLoad(motion, tap, 0).xy));
        let metres = distance_at(tap);
        let weight = not_behind(metres, own_distance) * cone(away, reach)
            + not_behind(own_distance, metres) * cone(away, own_reach)
            + 2.0 * cylinder(away, reach) * cylinder(away, own_reach);
        sum += textureLoad(light, tap, 0) * weight;
        weights += weight;
    }
    return clean(sum / weights);
}
