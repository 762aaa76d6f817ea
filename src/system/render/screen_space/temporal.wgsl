// Temporal anti-aliasing: the light of this frame, drawn with an offset of less than a pixel, is
// added to the light of the frames before, where these show the same surface. After Karis,
// "High-Quality Temporal Supersampling", 2014, and Salvi, "An Excursion in Temporal Supersampling",
// 2016.

#include "screen_uniforms.wgsl"

@group(0) @binding(2) var light: texture_2d<f32>;
@group(0) @binding(3) var history: texture_2d<f32>;
@group(0) @binding(4) var motion: texture_2d<f32>;
@group(0) @binding(5) var depth: texture_2d<f32>;

// Compresses light, so that a bright pixel does not outweigh its neighbours, and converts it to
// luma and two differences: bounds in these are tighter around edges of one color.
fn compressed(color: vec4f) -> vec4f {
    let weighted = color.rgb / (1.0 + luminance(color.rgb) * screen.temporal.w);
    let y = dot(weighted, vec3f(0.25, 0.5, 0.25));
    let co = 0.5 * (weighted.r - weighted.b);
    let cg = y - 0.5 * (weighted.r + weighted.b);
    return vec4f(y, co, cg, color.a);
}

fn expanded(color: vec4f) -> vec4f {
    let half = color.x - color.z;
    let weighted = max(vec3f(half + color.y, color.x + color.z, half - color.y), vec3f(0.0));
    let left = max(1.0 - luminance(weighted) * screen.temporal.w, 1e-4);
    return clean(vec4f(weighted / left, color.a));
}

// Returns the history at a location, from 0 to 1. The filter of Catmull and Rom keeps it sharp; its
// corners are left out, as in Jimenez, "Filmic SMAA", 2016.
fn history_at(uv: vec2f) -> vec4f {
    let at = uv * screen.size.xy;
    let center = floor(at - 0.5) + 0.5;
    let f = at - center;
    let before = f * (-0.5 + f * (1.0 - 0.5 * f));
    let first = 1.0 + f * f * (-2.5 + 1.5 * f);
    let second = f * (0.5 + f * (2.0 - 1.5 * f));
    let after = f * f * (-0.5 + 0.5 * f);
    let both = first + second;
    let low = (center - 1.0) * screen.size.zw;
    let middle = (center + second / both) * screen.size.zw;
    let high = (center + 2.0) * screen.size.zw;
    var sum = vec4f(0.0);
    sum += textureSampleLevel(history, linear_sampler, middle, 0.0) * (both.x * both.y);
    sum += textureSampleLevel(history, linear_sampler, vec2f(middle.x, low.y), 0.0)
        * (both.x * before.y);
    sum += textureSampleLevel(history, linear_sampler, vec2f(low.x, middle.y), 0.0)
        * (before.x * both.y);
    sum += textureSampleLevel(history, linear_sampler, vec2f(high.x, middle.y), 0.0)
        * (after.x * both.y);
    sum += textureSampleLevel(history, linear_sampler, vec2f(middle.x, high.y), 0.0)
        * (both.x * after.y);
    let weight = both.x * both.y + both.x * (before.y + after.y) + both.y * (before.x + after.x);
    return clean(sum / weight);
}

@fragment
fn temporal_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let at = vec2i(clip.xy);
    let own = clean(textureLoad(light, at, 0));
    if screen.temporal.x >= 1.0 {
        return own;
    }
    var low = compressed(own);
    var high = low;
    var nearest = at;
    var nearest_depth = 2.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let next = inside(at + vec2i(x, y));
            let color = compressed(clean(textureLoad(light, next, 0)));
            low = min(low, color);
            high = max(high, color);
            // Edges move with the surface in front.
            let there = textureLoad(depth, next, 0).r;
            if there < nearest_depth {
                nearest_depth = there;
                nearest = next;
            }
        }
    }
    let uv = clip.xy * screen.size.zw - textureLoad(motion, nearest, 0).xy;
    if !(all(uv >= vec2f(0.0)) && all(uv <= vec2f(1.0))) {
        return own;
    }
    let known = clamp(compressed(history_at(uv)), low, high);
    return expanded(mix(known, compressed(own), screen.temporal.x));
}
