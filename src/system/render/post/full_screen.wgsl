// The triangle that covers a whole image, with texture coordinates from its left top.

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
}

@vertex
fn full_screen_vertex(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Corner(vec4f(at, 0.0, 1.0), vec2f(at.x, -at.y) * 0.5 + 0.5);
}
