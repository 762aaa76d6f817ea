// Film grain. Include it after post_uniforms.wgsl, display.wgsl and grading.wgsl.

override GRAIN: bool = false;

// Returns a random number from -1 to 1, the same for the same numbers (Jarzynski and Olano, "Hash
// Functions for GPU Rendering", 2020: pcg3d).
fn random(numbers: vec3u) -> f32 {
    var v = numbers * 1664525u + 1013904223u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v ^= v >> vec3u(16u);
    v.x += v.y * v.z;
    return f32(v.x >> 8u) / 8388608.0 - 1.0;
}

// Returns the grain of a pixel: random numbers, smooth between the corners of squares.
fn grain_at(pixel: vec2f) -> f32 {
    let at = pixel / post.lens.w;
    let square = vec2u(at);
    let part = fract(at);
    let seed = post.seed.x;
    let right = vec2u(1u, 0u);
    let next = square + vec2u(0u, 1u);
    let upper = mix(random(vec3u(square, seed)), random(vec3u(square + right, seed)), part.x);
    let lower = mix(random(vec3u(next, seed)), random(vec3u(next + right, seed)), part.x);
    return mix(upper, lower, part.y);
}

// Returns a shown color with grain, which is strongest in middle tones.
fn grained(color: vec4f, pixel: vec2f) -> vec4f {
    let before = encoded(color.rgb);
    let lit = clamp(luminance(before), 0.0, 1.0);
    let strength = post.lens.z * 0.25 * (0.2 + 3.2 * lit * (1.0 - lit)) * min(color.a, 1.0);
    let to = clamp(before + grain_at(pixel) * strength, vec3f(0.0), vec3f(1.0));
    return vec4f(decoded(to), color.a);
}
