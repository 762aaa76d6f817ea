// Copies of a world's light and depth with one sample per pixel, which generators read.

// Number of samples per pixel.
override SAMPLES: i32 = 4;

@group(0) @binding(0) var source: texture_multisampled_2d<f32>;

@vertex
fn resolve_vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4f(at, 0.0, 1.0);
}

// Returns a number from 0 to `most`: 0 for NaN. Compilers may assume that no number is NaN, so the
// bits are compared.
fn limited(number: f32, most: f32) -> f32 {
    let is_number = (bitcast<u32>(number) & 0x7fffffffu) <= 0x7f800000u;
    return select(0.0, clamp(number, 0.0, most), is_number);
}

// The mean of all samples, each limited to what half floats can store.
@fragment
fn resolve_light(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    var sum = vec4f(0.0);
    for (var i = 0; i < SAMPLES; i++) {
        let color = textureLoad(source, vec2i(clip.xy), i);
        let r = limited(color.r, 65504.0);
        let g = limited(color.g, 65504.0);
        let b = limited(color.b, 65504.0);
        sum += vec4f(r, g, b, limited(color.a, 1.0));
    }
    return sum / f32(SAMPLES);
}

// The depth of the first sample.
@fragment
fn resolve_depth(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    return vec4f(textureLoad(source, vec2i(clip.xy), 0).r, 0.0, 0.0, 1.0);
}
