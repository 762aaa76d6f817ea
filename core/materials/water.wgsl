// Water: four waves move the vertices up and down, smaller ripples only the normal. Seen at an
// angle, it mirrors the sky; seen from above, it is clear.

struct Variables {
    // Height of the waves, and length of the longest one, in metres.
    height: f32,
    length: f32,
    speed: f32,
    deep_color: vec4f,
    shallow_color: vec4f,
}
@group(2) @binding(0) var<uniform> variables: Variables;

// Directions of the waves (x, y), their length and height as shares of the largest.
const WAVES = array<vec4f, 4>(
    vec4f(0.96, 0.28, 1.0, 0.5),
    vec4f(-0.6, 0.8, 0.57, 0.25),
    vec4f(0.38, -0.92, 0.37, 0.15),
    vec4f(-0.85, -0.53, 0.23, 0.1),
);
const RIPPLES = array<vec4f, 3>(
    vec4f(0.71, 0.7, 0.11, 0.022),
    vec4f(-0.93, 0.36, 0.074, 0.014),
    vec4f(0.2, -0.98, 0.051, 0.01),
);

// Returns the phase of a wave. Waves in deep water are faster the longer they are: the square of
// their angular frequency is gravity times the wave number.
fn phase(at: vec2f, wave: vec4f) -> vec2f {
    let number = 6.2831853 / (max(variables.length, 0.01) * wave.z);
    let frequency = variables.speed * sqrt(9.81 * number);
    return vec2f(dot(at, wave.xy) * number - frame.seconds * frequency, number);
}

fn vertex_offset(in: VertexIn) -> vec3f {
    var up = 0.0;
    for (var i = 0; i < 4; i++) {
        let wave = WAVES[i];
        up += sin(phase(in.world_position.xy, wave).x) * wave.w;
    }
    return vec3f(0.0, 0.0, up * variables.height);
}

fn surface(in: SurfaceIn) -> SurfaceOut {
    var out = in.base;
    let at = in.world_position.xy;
    var slope = vec2f(0.0);
    for (var i = 0; i < 4; i++) {
        let wave = WAVES[i];
        let now = phase(at, wave);
        slope += wave.xy * (cos(now.x) * now.y * wave.w * variables.height);
    }
    for (var i = 0; i < 3; i++) {
        let ripple = RIPPLES[i];
        let now = phase(at, ripple);
        slope += ripple.xy * (cos(now.x) * now.y * ripple.w * variables.height);
    }
    out.normal = normalize(vec3f(-slope, 1.0)) * sign(in.normal.z + 1e-6);
    let facing = clamp(dot(out.normal, in.view_direction), 0.0, 1.0);
    let mirrored = 0.02 + 0.98 * pow(1.0 - facing, 5.0);
    out.base_color = mix(variables.shallow_color.rgb, variables.deep_color.rgb, facing);
    out.alpha = clamp(0.72 + mirrored, 0.0, 1.0) * in.base.alpha;
    return out;
}
