// The resolve of the multisampled light to one sample per pixel. Bright samples count less, so that
// edges of bright surfaces stay smooth after tone mapping: Karis, "Tone mapping", 2013
// (graphicrants.blogspot.com). Values that are no light end here.

#include "screen_uniforms.wgsl"

// Number of samples per pixel.
override SAMPLES: i32 = 4;

@group(0) @binding(2) var light: texture_multisampled_2d<f32>;

@fragment
fn resolve_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let at = vec2i(clip.xy);
    var sum = vec3f(0.0);
    var alpha = 0.0;
    var weights = 0.0;
    for (var i = 0; i < SAMPLES; i++) {
        let color = clean(textureLoad(light, at, i));
        let weight = 1.0 / (1.0 + luminance(color.rgb) * screen.temporal.w);
        sum += color.rgb * weight;
        weights += weight;
        alpha += color.a;
    }
    return vec4f(sum / weights, alpha / f32(SAMPLES));
}
