struct Variables {
    speed: f32,
    count: i32,
    place: vec2f,
    wind: vec3f,
    tint: vec4f,
    turn: mat4x4f,
}
@group(2) @binding(0) var<uniform> variables: Variables;
@group(2) @binding(1) var noise: texture_2d<f32>;
@group(2) @binding(2) var noise_sampler: sampler;

fn paint(in: Paint) -> vec4f {
    let at = in.uv + variables.place + frame.seconds * variables.speed * variables.wind.xy;
    let turned = variables.turn * vec4f(at, 0.0, f32(variables.count));
    return in.base * variables.tint * textureSample(noise, noise_sampler, turned.xy).r;
}
