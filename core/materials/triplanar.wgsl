// Triplanar: textures that lie on the world instead of following texture coordinates: one on
// surfaces that face up, one on all others. For rocks and terrain.

struct Variables {
    // Metres that a texture covers.
    size: f32,
    // How sharply one direction changes to the next.
    sharpness: f32,
}
@group(2) @binding(0) var<uniform> variables: Variables;
@group(2) @binding(1) var top: texture_2d<f32>;
@group(2) @binding(2) var top_sampler: sampler;
@group(2) @binding(3) var side: texture_2d<f32>;
@group(2) @binding(4) var side_sampler: sampler;

fn surface(in: SurfaceIn) -> SurfaceOut {
    var out = in.base;
    let at = in.world_position / max(variables.size, 0.001);
    let from_x = textureSample(side, side_sampler, vec2f(at.y, -at.z)).rgb;
    let from_y = textureSample(side, side_sampler, vec2f(at.x, -at.z)).rgb;
    let from_z = textureSample(top, top_sampler, vec2f(at.x, -at.y)).rgb;
    let from_below = textureSample(side, side_sampler, vec2f(at.x, at.y)).rgb;
    let weights = pow(abs(in.base.normal), vec3f(clamp(variables.sharpness, 1.0, 16.0)));
    let shares = weights / max(weights.x + weights.y + weights.z, 1e-6);
    let flat_color = select(from_below, from_z, in.base.normal.z > 0.0);
    out.base_color *= from_x * shares.x + from_y * shares.y + flat_color * shares.z;
    return out;
}
