// Shows an image of the renderer as bytes: light, depth, vectors or plain values.

// Number of samples per pixel.
override SAMPLES: i32 = 1;
// Kind of the image: 0 is light, 1 depth, 2 vectors, 3 plain values.
override KIND: u32 = 0u;
// Size of the picture that is drawn.
override WIDTH: f32 = 1.0;
override HEIGHT: f32 = 1.0;

@group(0) @binding(0) var image: texture_multisampled_2d<f32>;

@vertex
fn capture_vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4f(at, 0.0, 1.0);
}

fn encoded(color: vec3f) -> vec3f {
    let low = color * 12.92;
    let bright = 1.055 * pow(max(color, vec3f(0.0031308)), vec3f(1.0 / 2.4)) - 0.055;
    return select(bright, low, color <= vec3f(0.0031308));
}

@fragment
fn capture_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let size = vec2f(textureDimensions(image));
    let at = vec2i(clip.xy / vec2f(WIDTH, HEIGHT) * size);
    var sum = vec4f(0.0);
    for (var i = 0; i < SAMPLES; i++) {
        sum += clamp(textureLoad(image, at, i), vec4f(-65504.0), vec4f(65504.0));
    }
    sum /= f32(SAMPLES);
    if KIND == 0u {
        return vec4f(encoded(clamp(sum.rgb, vec3f(0.0), vec3f(1.0))), 1.0);
    }
    if KIND == 1u {
        // Depths of perspective are close to 1.
        return vec4f(vec3f(pow(clamp(1.0 - sum.r, 0.0, 1.0), 0.25)), 1.0);
    }
    if KIND == 2u {
        return vec4f(sum.rg * 10.0 + 0.5, 0.5, 1.0);
    }
    return vec4f(sum.rgb, 1.0);
}
