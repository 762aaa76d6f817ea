// Tone mapping: every sample is exposed and mapped to the displayable range, and the mean of the
// samples is blended over the background. So edges stay smooth, however bright one side is.

#include "view_uniforms.wgsl"
#include "display.wgsl"

// Number of samples per pixel.
override SAMPLES: i32 = 4;

@group(1) @binding(0) var light: texture_multisampled_2d<f32>;
// Read as plain numbers, because GLSL cannot load from depth textures.
@group(1) @binding(1) var depth: texture_multisampled_2d<f32>;

struct Corner {
    @builtin(position) clip: vec4f,
}

@vertex
fn show_vertex(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Corner(vec4f(at, 0.0, 1.0));
}

#if debug
#include "debug_image.wgsl"
#endif

fn shown(at: vec2i) -> vec4f {
#if debug
    let image = debug_image(at);
    return vec4f(select(image.rgb, encoded(image.rgb), (view.counts.w & 1u) != 0u), image.a);
#else
    var sum = vec4f(0.0);
    for (var i = 0; i < SAMPLES; i++) {
        let color = textureLoad(light, at, i);
        let bright = clamp(color.rgb, vec3f(0.0), vec3f(65504.0)) * view.top.w;
        let cut = min(bright, vec3f(1.0));
        sum += vec4f(select(neutral(bright), cut, view.ground.w > 0.5), color.a);
    }
    sum /= f32(SAMPLES);
    return vec4f(select(sum.rgb, encoded(sum.rgb), (view.counts.w & 1u) != 0u), sum.a);
#endif
}

// Returns the texel of a pixel: the image begins at an offset on its target.
fn texel(clip: vec4f) -> vec2i {
    return vec2i(floor(clip.xy - view.shadow.zw));
}

@fragment
fn show_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    return shown(texel(clip));
}

struct Deep {
    @location(0) color: vec4f,
    @builtin(frag_depth) depth: f32,
}

@fragment
fn show_deep_fragment(@builtin(position) clip: vec4f) -> Deep {
    let at = texel(clip);
    return Deep(shown(at), textureLoad(depth, at, 0).r);
}
