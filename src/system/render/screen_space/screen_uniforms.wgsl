// Common part of the screen-space shaders: the uniform of the view, and positions from depth. Draws
// nothing itself.

struct Screen {
    // Projection of view space, which looks along -z. Scale of x and y, then their shear by z.
    scale_shear: vec4f,
    // Offset of x and y; z is 1 for an orthographic camera.
    offset: vec4f,
    // Clip z is x * z + y, and clip w is z * z + w.
    depth: vec4f,
    // Width and height in pixels, and 1 divided by both.
    size: vec4f,
    // Radius in metres, share of it that fades, exponent, pixels per side of a texel.
    occlusion: vec4f,
    // Depth of field. x: 1 by a lens, 2 by ranges; y: largest radius in pixels; z: side of a tile
    // in texels of half resolution.
    focus: vec4f,
    // For a lens: the distance of the focus and the radius in pixels at an infinite distance. For
    // ranges: fully blurred and sharp foreground, sharp and fully blurred background.
    focus_range: vec4f,
    // Motion blur. x: share of the frame; y: largest length in pixels; z: side of a tile in pixels.
    motion: vec4f,
    // x: share of the new picture in the history; y and z: jitter in clip space; w: exposure.
    temporal: vec4f,
    // Contact shadows. Direction towards the sun in view space; w: length of the rays in metres.
    sun: vec4f,
    // x: thickness of surfaces in metres.
    contact: vec4f,
    // From clip space to that of the previous frame, both without jitter.
    reprojection: mat4x4f,
}

@group(0) @binding(0) var<uniform> screen: Screen;
@group(0) @binding(1) var linear_sampler: sampler;

struct Corner {
    @builtin(position) clip: vec4f,
}

@vertex
fn screen_vertex(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Corner(vec4f(at, 0.0, 1.0));
}

// Returns the z of view space of a depth below 1.
fn view_z(depth: f32) -> f32 {
    return (screen.depth.y - depth * screen.depth.w) / (depth * screen.depth.z - screen.depth.x);
}

fn clip_w(z: f32) -> f32 {
    return screen.depth.z * z + screen.depth.w;
}

// Converts a location in pixels to clip space.
fn clip_of(pixel: vec2f) -> vec2f {
    return vec2f(2.0 * pixel.x * screen.size.z - 1.0, 1.0 - 2.0 * pixel.y * screen.size.w);
}

// Returns the position in view space of a pixel with a depth below 1.
fn view_position(pixel: vec2f, depth: f32) -> vec3f {
    let z = view_z(depth);
    let flat = clip_of(pixel) * clip_w(z) - screen.scale_shear.zw * z - screen.offset.xy;
    return vec3f(flat / screen.scale_shear.xy, z);
}

// Returns pixels per metre at a z of view space, horizontally and vertically.
fn pixels_per_metre(z: f32) -> vec2f {
    return abs(screen.scale_shear.xy) * screen.size.xy * 0.5 / max(abs(clip_w(z)), 1e-6);
}

// Limits a location in pixels to the image.
fn inside(at: vec2i) -> vec2i {
    return clamp(at, vec2i(0), vec2i(screen.size.xy) - 1);
}

fn is_inside(at: vec2i) -> bool {
    return all(at >= vec2i(0)) && all(at < vec2i(screen.size.xy));
}

fn luminance(color: vec3f) -> f32 {
    return dot(color, vec3f(0.2126, 0.7152, 0.0722));
}

// Removes values that are no light: below 0, not a number, or beyond half floats. A comparison with
// a value that is not a number is false.
fn clean(color: vec4f) -> vec4f {
    return vec4f(cleaned(color.r), cleaned(color.g), cleaned(color.b), min(cleaned(color.a), 1.0));
}

fn cleaned(value: f32) -> f32 {
    var kept = 0.0;
    if value > 0.0 {
        kept = min(value, 60000.0);
    }
    return kept;
}

// A number from 0 to 1 for each pixel, whose neighbours differ: Jimenez, "Next Generation Post
// Processing in Call of Duty: Advanced Warfare", 2014.
fn gradient_noise(pixel: vec2f) -> f32 {
    return fract(52.9829189 * fract(dot(pixel, vec2f(0.06711056, 0.00583715))));
}
