// Bloom: light is scattered around where it comes from, as in a lens. A chain of images,
// each half as large as the one before, is filled with 13 samples per texel, and added up again
// with a tent filter (Jimenez, "Next Generation Post Processing in Call of Duty: Advanced Warfare",
// 2014). All filters keep the sum of light.

#include "full_screen.wgsl"
#include "post_uniforms.wgsl"
#include "bloom_part.wgsl"

// Number of samples per pixel.
override SAMPLES: i32 = 4;

@group(1) @binding(0) var light: texture_multisampled_2d<f32>;

// Light that is this many times brighter than white has half the weight in the first image, so that
// single bright pixels do not flicker (Karis, "Tone Mapping", 2013).
const FLICKER_LIGHT: f32 = 16.0;

// Writes the first image: the mean of all samples in 2 x 2 pixels.
@fragment
fn bloom_first_fragment(in: Corner) -> @location(0) vec4f {
    let last = vec2i(textureDimensions(light)) - 1;
    let first = vec2i(in.clip.xy) * 2;
    let scale = exposure();
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var i = 0; i < 4; i++) {
        let at = min(first + vec2i(i & 1, i >> 1u), last);
        for (var number = 0; number < SAMPLES; number++) {
            let lit = finite_light(textureLoad(light, at, number).rgb);
            let part = scattered_part(lit, scale);
            let weight = 1.0 / (1.0 + luminance(lit) * scale / FLICKER_LIGHT);
            sum += part * weight;
            weights += weight;
        }
    }
    return vec4f(min(sum / weights, vec3f(LIGHT_MAX)), 1.0);
}

fn at(uv: vec2f) -> vec3f {
    return textureSampleLevel(picture, smooth_sampler, uv, 0.0).rgb;
}

// Writes an image of half the size. Its texels lie between those of the larger one.
@fragment
fn bloom_down_fragment(in: Corner) -> @location(0) vec4f {
    let t = 1.0 / vec2f(textureDimensions(picture));
    let uv = floor(in.clip.xy) * 2.0 * t + t;
    let inner = at(uv + vec2f(-t.x, -t.y)) + at(uv + vec2f(t.x, -t.y))
        + at(uv + vec2f(-t.x, t.y)) + at(uv + vec2f(t.x, t.y));
    let d = 2.0 * t;
    let edges = at(uv + vec2f(-d.x, 0.0)) + at(uv + vec2f(d.x, 0.0))
        + at(uv + vec2f(0.0, -d.y)) + at(uv + vec2f(0.0, d.y));
    let corners = at(uv + vec2f(-d.x, -d.y)) + at(uv + vec2f(d.x, -d.y))
        + at(uv + vec2f(-d.x, d.y)) + at(uv + vec2f(d.x, d.y));
    let sum = at(uv) * 0.125 + inner * 0.125 + edges * 0.0625 + corners * 0.03125;
    return vec4f(sum, 1.0);
}

// Writes the next smaller image, enlarged, which is mixed with the image of this size.
@fragment
fn bloom_up_fragment(in: Corner) -> @location(0) vec4f {
    let t = 1.0 / vec2f(textureDimensions(picture));
    let uv = in.clip.xy * 0.5 * t;
    let edges = at(uv + vec2f(-t.x, 0.0)) + at(uv + vec2f(t.x, 0.0))
        + at(uv + vec2f(0.0, -t.y)) + at(uv + vec2f(0.0, t.y));
    let corners = at(uv + vec2f(-t.x, -t.y)) + at(uv + vec2f(t.x, -t.y))
        + at(uv + vec2f(-t.x, t.y)) + at(uv + vec2f(t.x, t.y));
    return vec4f(at(uv) * 0.25 + edges * 0.125 + corners * 0.0625, 1.0);
}
