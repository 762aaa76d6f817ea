// The engine's part of a generator's shader: the input, the uniform of the pass, and the entry
// points. The game's part declares `fn paint(in: Pass) -> vec4f`, and its bindings in group 2.

/// The input of a generator's `paint`.
struct Pass {
    /// 0 to 1 over the output, v down.
    uv: vec2f,
    /// The pixel's center in the output, from the top left.
    pixel: vec2f,
}

/// The uniform of a pass.
struct EnginePass {
    /// Matrices from the world to clip space, and back; the identity without a world.
    to_clip: mat4x4f,
    from_clip: mat4x4f,
    /// Position and direction of the camera.
    camera_position: vec3f,
    /// Exposure of the view's light.
    exposure: f32,
    camera_direction: vec3f,
    /// Seconds of game time.
    seconds: f32,
    /// Size of the output in pixels.
    target_size: vec2f,
    /// Size of the view in pixels.
    view_size: vec2f,
    engine_offset: vec2f,
    /// Pixels per logical pixel.
    scale: f32,
    engine_spare: f32,
}

@group(0) @binding(0) var<uniform> frame: EnginePass;

/// True if the shader writes colors as sRGB bytes.
override ENGINE_ENCODES: bool = false;

/// Returns the position in the world of a pixel of the view with a depth.
fn world_position(uv: vec2f, depth: f32) -> vec3f {
    let clip = vec4f(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, depth, 1.0);
    let world = frame.from_clip * clip;
    return world.xyz / world.w;
}

/// Returns the distance in metres, along the direction of the camera, of a pixel with a depth.
fn view_distance(uv: vec2f, depth: f32) -> f32 {
    return dot(world_position(uv, depth) - frame.camera_position, frame.camera_direction);
}

struct EngineCorner {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
}

@vertex
fn engine_vertex(@builtin(vertex_index) index: u32) -> EngineCorner {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 2.0;
    return EngineCorner(vec4f(at * 2.0 - 1.0, 0.0, 1.0), vec2f(at.x, 1.0 - at.y));
}

// Returns a number that half floats can store: 0 for NaN. Compilers may assume that no number is
// NaN, so the bits are compared.
fn engine_finite(number: f32) -> f32 {
    let is_number = (bitcast<u32>(number) & 0x7fffffffu) <= 0x7f800000u;
    return select(0.0, clamp(number, -65504.0, 65504.0), is_number);
}

fn engine_encoded(color: vec3f) -> vec3f {
    let low = color * 12.92;
    let bright = 1.055 * pow(max(color, vec3f(0.0031308)), vec3f(1.0 / 2.4)) - 0.055;
    return select(bright, low, color <= vec3f(0.0031308));
}

@fragment
fn engine_fragment(in: EngineCorner) -> @location(0) vec4f {
    let painted = paint(Pass(in.uv, in.clip.xy - frame.engine_offset));
    let r = engine_finite(painted.r);
    let g = engine_finite(painted.g);
    let b = engine_finite(painted.b);
    let color = vec3f(r, g, b);
    let alpha = engine_finite(painted.a);
    if ENGINE_ENCODES {
        return vec4f(engine_encoded(clamp(color, vec3f(0.0), vec3f(1.0))), alpha);
    }
    return vec4f(color, alpha);
}
