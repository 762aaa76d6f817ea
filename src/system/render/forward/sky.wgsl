// The sky, drawn behind everything.

#include "view_uniforms.wgsl"
#include "height_fog.wgsl"

struct Ray {
    @builtin(position) clip: vec4f,
    @location(0) at: vec2f,
}

@vertex
fn sky_vertex(@builtin(vertex_index) index: u32) -> Ray {
    // One triangle that covers the screen, at the far plane.
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Ray(vec4f(at, 1.0, 1.0), at);
}

@fragment
fn sky_fragment(in: Ray) -> @location(0) vec4f {
    let near = view.from_clip * vec4f(in.at, 0.0, 1.0);
    let far = view.from_clip * vec4f(in.at, 1.0, 1.0);
    let direction = normalize(far.xyz / far.w - near.xyz / near.w);
    return vec4f(fog_behind(sky(direction, 0.0), direction), 1.0);
}
