// The face of the tower's clock: a ring, and a mark for each hour, lit from behind.

struct Variables { brightness: f32, glow: vec4f }
@group(2) @binding(0) var<uniform> variables: Variables;

fn surface(in: SurfaceIn) -> SurfaceOut {
    var out = in.base;
    let at = in.uv * 2.0 - 1.0;
    let far = length(at);
    let hour = atan2(at.x, at.y) / 6.2831853 * 12.0;
    let across = abs(fract(hour + 0.5) - 0.5) * far; // twelfths of a turn, times the radius
    let long = select(0.06, 0.1, abs(fract(hour / 3.0 + 0.5) - 0.5) < 0.12);
    let mark = step(across, long) * step(0.7, far) * step(far, 0.9);
    let ring = step(0.94, far) + step(abs(far - 0.66), 0.012);
    let ink = clamp(mark + ring, 0.0, 1.0);
    out.base_color = mix(in.base.base_color, vec3f(0.02), ink);
    out.emissive = variables.glow.rgb * variables.brightness * (1.0 - ink) * (1.1 - 0.45 * far);
    return out;
}
