// Tone mapping with effects: bloom, automatic exposure, a vignette, color grading, tone mappers and
// grain. Every sample is mapped, and the mean of the samples is shown, as in tonemap.wgsl.

#include "full_screen.wgsl"
#include "post_uniforms.wgsl"
#include "bloom_part.wgsl"
#include "display.wgsl"
#include "tone_mappers.wgsl"
#include "grading.wgsl"
#include "grain.wgsl"

// Number of samples per pixel.
override SAMPLES: i32 = 4;
override BLOOM: bool = false;
override VIGNETTE: bool = false;

@group(1) @binding(0) var light: texture_multisampled_2d<f32>;
// Read as plain numbers, because GLSL cannot load from depth textures.
@group(1) @binding(1) var depth: texture_multisampled_2d<f32>;

// Returns the scattered light around a pixel. The first image of bloom has half the size.
fn scattered_light(pixel: vec2f) -> vec3f {
    let texel = 1.0 / vec2f(textureDimensions(picture));
    let uv = pixel * 0.5 * texel;
    let d = texel * 0.5;
    let sum = textureSampleLevel(picture, smooth_sampler, uv + vec2f(-d.x, -d.y), 0.0).rgb
        + textureSampleLevel(picture, smooth_sampler, uv + vec2f(d.x, -d.y), 0.0).rgb
        + textureSampleLevel(picture, smooth_sampler, uv + vec2f(-d.x, d.y), 0.0).rgb
        + textureSampleLevel(picture, smooth_sampler, uv + vec2f(d.x, d.y), 0.0).rgb;
    return sum * 0.25;
}

// Returns the part of the light that reaches a point of the picture. It falls off as in a simple
// lens, with the fourth power of the cosine.
fn vignette(uv: vec2f) -> f32 {
    let aspect = vec2f(post.shape.w, 1.0);
    let from_middle = (uv * 2.0 - 1.0) * aspect * (post.shape.z / length(aspect));
    let falloff = 1.0 / (1.0 + dot(from_middle, from_middle));
    return mix(1.0, falloff * falloff, post.gain.w);
}

fn shown(uv: vec2f) -> vec4f {
    let pixel = floor(uv * vec2f(textureDimensions(light)));
    let at = vec2i(pixel);
    let exposed = exposure();
    var reaching = exposed;
    if VIGNETTE {
        reaching *= vignette(uv);
    }
    var around = vec3f(0.0);
    if BLOOM {
        around = scattered_light(pixel + 0.5);
    }
    var sum = vec4f(0.0);
    for (var i = 0; i < SAMPLES; i++) {
        let color = textureLoad(light, at, i);
        var lit = finite_light(color.rgb);
        if BLOOM {
            lit = max(lit + post.bloom.x * (around - scattered_part(lit, exposed)), vec3f(0.0));
        }
        lit *= reaching;
        if LIGHT_GRADING {
            lit = graded_light(lit);
        }
        let alpha = finite_part(color.a);
        sum += vec4f(finished_color(tone_mapped(lit), alpha), alpha);
    }
    sum /= f32(SAMPLES);
    if GRAIN {
        sum = grained(sum, pixel);
    }
    return vec4f(select(sum.rgb, encoded(sum.rgb), post.display.y > 0.5), sum.a);
}

@fragment
fn grade_fragment(in: Corner) -> @location(0) vec4f {
    return shown(in.uv);
}

struct Deep {
    @location(0) color: vec4f,
    @builtin(frag_depth) depth: f32,
}

@fragment
fn grade_deep_fragment(in: Corner) -> Deep {
    let at = vec2i(in.uv * vec2f(textureDimensions(light)));
    return Deep(shown(in.uv), textureLoad(depth, at, 0).r);
}
