// The light of opaque objects and the sky, behind surfaces that let light through: a copy of the
// light with smaller and smoother levels, which rough surfaces read.

// Number of samples per pixel.
override SAMPLES: i32 = 4;

@group(0) @binding(0) var light: texture_multisampled_2d<f32>;
@group(0) @binding(0) var larger: texture_2d<f32>;
@group(0) @binding(1) var larger_sampler: sampler;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
}

@vertex
fn behind_vertex(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Corner(vec4f(at, 0.0, 1.0), vec2f(at.x * 0.5 + 0.5, 0.5 - at.y * 0.5));
}

@fragment
fn copy_fragment(in: Corner) -> @location(0) vec4f {
    var sum = vec4f(0.0);
    for (var i = 0; i < SAMPLES; i++) {
        sum += clamp(textureLoad(light, vec2i(in.clip.xy), i), vec4f(0.0), vec4f(60000.0));
    }
    return sum / f32(SAMPLES);
}

// Halves the size: four samples between the texels of the larger level.
@fragment
fn smaller_fragment(in: Corner) -> @location(0) vec4f {
    let texel = 1.0 / vec2f(textureDimensions(larger));
    var sum = vec4f(0.0);
    for (var i = 0u; i < 4u; i++) {
        let corner = vec2f(f32(i & 1u), f32(i >> 1u)) * 2.0 - 1.0;
        sum += textureSampleLevel(larger, larger_sampler, in.uv + corner * texel, 0.0);
    }
    return sum * 0.25;
}
