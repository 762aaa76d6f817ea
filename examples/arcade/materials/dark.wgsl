// The dark of a cave around a lamp: in steps, with a pattern of texels between one and the next, as
// pictures of few colours have it. Places are texels, since that is what the Gui draws in.
struct Variables {
    lamp: vec2f,
    radius: f32,
    night: vec4f,
}
@group(2) @binding(0) var<uniform> variables: Variables;

const STEPS: f32 = 9.0;
const DARKEST: f32 = 0.96;

fn paint(in: Paint) -> vec4f {
    let texel = floor(in.position);
    let away = distance(texel + 0.5, variables.lamp) / max(variables.radius, 0.001);
    let dark = smoothstep(0.3, 1.0, away) * DARKEST;
    // Which of four neighbouring texels goes over to the next step first.
    let place = vec2u(vec2i(texel) & vec2i(1));
    let order = f32((place.x * 2u) ^ (place.y * 3u)) * 0.25 + 0.125;
    let alpha = min(floor(dark * STEPS + order) / STEPS, DARKEST);
    return vec4f(variables.night.rgb * alpha, alpha);
}
