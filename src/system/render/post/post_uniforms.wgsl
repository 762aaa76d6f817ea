// Common part of all post effects: their uniform, their images, and light without numbers that are
// not finite. Draws nothing itself.

struct Post {
    // Exposure; 1 if tone mapping writes encoded colors, and if finishing does.
    display: vec4f,
    // Binary logarithm of the key; the least and the greatest exposure in stops; 1 if the exposure
    // begins in this frame.
    metering: vec4f,
    // Parts of the difference by which the exposure rises and falls in this frame; where the
    // metered part of the view begins and ends.
    adaptation: vec4f,
    // Intensity, scatter and threshold.
    bloom: vec4f,
    // White balance: columns of a matrix; the last of each: contrast, saturation, the light that
    // "reinhard" maps to white.
    balance: array<vec4f, 3>,
    // The last of each: strength of the color table, its side length in texels, intensity of the
    // vignette.
    lift: vec4f,
    inverse_gamma: vec4f,
    gain: vec4f,
    // Segments of the filmic curve: start, offset, scale, logarithm of the factor.
    filmic: array<vec4f, 3>,
    // The powers of the segments; the light that becomes white.
    filmic_powers: vec4f,
    // The ends of the filmic curve's line; 1 / radius of the vignette; width divided by height.
    shape: vec4f,
    // Chromatic aberration, sharpening, intensity and size of the grain.
    lens: vec4f,
    // Seed of the grain.
    seed: vec4u,
}

@group(0) @binding(0) var<uniform> post: Post;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var smooth_sampler: sampler;
// Automatic exposure: stops, and the factor for light.
@group(0) @binding(3) var exposure_state: texture_2d<f32>;
// Color table: what is added to each encoded color.
@group(0) @binding(4) var color_table: texture_3d<f32>;

const LIGHT_MAX: f32 = 65504.0;

fn finite_part(value: f32) -> f32 {
    let bits = bitcast<u32>(value);
    // Compared as bits, because compilers may assume that numbers are finite.
    if (bits & 0x7f800000u) != 0x7f800000u {
        return clamp(value, 0.0, LIGHT_MAX);
    }
    return select(0.0, LIGHT_MAX, bits == 0x7f800000u);
}

// Returns light whose numbers are finite and not negative: 0 for what is not a number.
fn finite_light(color: vec3f) -> vec3f {
    return vec3f(finite_part(color.r), finite_part(color.g), finite_part(color.b));
}

fn exposure() -> f32 {
    return post.display.x * textureLoad(exposure_state, vec2i(0), 0).g;
}

fn luminance(color: vec3f) -> f32 {
    return dot(color, vec3f(0.2126, 0.7152, 0.0722));
}
