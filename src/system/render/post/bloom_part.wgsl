// The part of light that bloom scatters. Include it after post_uniforms.wgsl.

// Returns the part of a light that is scattered, which is above the threshold after exposure.
fn scattered_part(light: vec3f, exposure: f32) -> vec3f {
    let peak = max(light.r, max(light.g, light.b)) * exposure;
    return light * clamp(1.0 - post.bloom.z / max(peak, 1e-6), 0.0, 1.0);
}
