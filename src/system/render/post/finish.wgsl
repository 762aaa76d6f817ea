// Effects on the tone-mapped image: anti-aliasing, chromatic aberration, sharpening, grain, and
// another size.

#include "full_screen.wgsl"
#include "post_uniforms.wgsl"
#include "display.wgsl"
#include "grading.wgsl"
#include "grain.wgsl"
#include "fxaa.wgsl"

override SMOOTHING: bool = false;
override ABERRATION: bool = false;
override SHARPENING: bool = false;
// True if the image is smaller than the view.
override ENLARGING: bool = false;
// True if the image is drawn onto the view's target, and not onto another image.
override LAST: bool = true;

// Read as plain numbers, because GLSL cannot load from depth textures.
@group(1) @binding(1) var depth: texture_multisampled_2d<f32>;

// Returns a sharpened color. Where contrast is high already, less is added, so that no color leaves
// the range (AMD, "FidelityFX Contrast Adaptive Sharpening", 2019).
fn sharpened(uv: vec2f, texel: vec2f) -> vec4f {
    let middle = image_color(uv);
    let north = image_color(uv + vec2f(0.0, -texel.y)).rgb;
    let south = image_color(uv + vec2f(0.0, texel.y)).rgb;
    let west = image_color(uv + vec2f(-texel.x, 0.0)).rgb;
    let east = image_color(uv + vec2f(texel.x, 0.0)).rgb;
    let lowest = min(middle.rgb, min(min(north, south), min(west, east)));
    let highest = max(middle.rgb, max(max(north, south), max(west, east)));
    let room = min(lowest, vec3f(1.0) - highest) / max(highest, vec3f(1e-4));
    let weight = sqrt(clamp(room, vec3f(0.0), vec3f(1.0))) * -0.2 * post.lens.y;
    let sum = (north + south + west + east) * weight + middle.rgb;
    return vec4f(clamp(sum / (1.0 + 4.0 * weight), vec3f(0.0), vec3f(1.0)), middle.a);
}

// Returns the color of a smaller image, by cubic curves through the texels around (Catmull and Rom,
// "A class of local interpolating splines", 1974). The corners have hardly any weight, so five
// samples between texels are enough.
fn enlarged(uv: vec2f, texel: vec2f) -> vec4f {
    let position = uv / texel;
    let texel_before = floor(position - 0.5) + 0.5;
    let f = position - texel_before;
    let first = f * (f * (1.0 - 0.5 * f) - 0.5);
    let second = 1.0 + f * f * (1.5 * f - 2.5);
    let third = f * (0.5 + f * (2.0 - 1.5 * f));
    let fourth = f * f * (0.5 * f - 0.5);
    let inner = second + third;
    let left = (texel_before - 1.0) * texel;
    let between = (texel_before + third / inner) * texel;
    let right = (texel_before + 2.0) * texel;
    let columns = vec2f(first.x, fourth.x) * inner.y;
    let weights = vec4f(columns, vec2f(first.y, fourth.y) * inner.x);
    let middle = inner.x * inner.y;
    let sum = image_color(vec2f(left.x, between.y)) * weights.x
        + image_color(vec2f(right.x, between.y)) * weights.y
        + image_color(vec2f(between.x, left.y)) * weights.z
        + image_color(vec2f(between.x, right.y)) * weights.w
        + image_color(between) * middle;
    return clamp(sum / (dot(weights, vec4f(1.0)) + middle), vec4f(0.0), vec4f(1.0));
}

fn color_at(uv: vec2f, texel: vec2f) -> vec4f {
    if SMOOTHING {
        return smoothed_color(uv, texel);
    }
    if SHARPENING {
        return sharpened(uv, texel);
    }
    if ENLARGING {
        return enlarged(uv, texel);
    }
    return image_color(uv);
}

fn finished(uv: vec2f) -> vec4f {
    let size = vec2f(textureDimensions(picture));
    let texel = 1.0 / size;
    var color = color_at(uv, texel);
    if ABERRATION {
        // Red and blue are refracted by different angles.
        let apart = (uv - 0.5) * post.lens.x * 0.02;
        color.r = color_at(uv - apart, texel).r;
        color.b = color_at(uv + apart, texel).b;
    }
    if GRAIN {
        color = grained(color, floor(uv * size));
    }
    let encodes = LAST && post.display.z > 0.5;
    return vec4f(select(color.rgb, encoded(color.rgb), encodes), color.a);
}

@fragment
fn finish_fragment(in: Corner) -> @location(0) vec4f {
    return finished(in.uv);
}

struct Deep {
    @location(0) color: vec4f,
    @builtin(frag_depth) depth: f32,
}

@fragment
fn finish_deep_fragment(in: Corner) -> Deep {
    let at = vec2i(in.uv * vec2f(textureDimensions(depth)));
    return Deep(finished(in.uv), textureLoad(depth, at, 0).r);
}
