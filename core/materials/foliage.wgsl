// Foliage: vertices move with the wind, the more the higher they are above the origin of the mesh,
// and leaves let some light through.

struct Variables {
    // The offset in metres at a height of one metre.
    wind: vec3f,
    // Gusts per second, times 2 pi.
    speed: f32,
    // Height in metres up to which nothing moves.
    stiffness: f32,
    // The share of the light that comes through from behind.
    light_through: f32,
}
@group(2) @binding(0) var<uniform> variables: Variables;

fn vertex_offset(in: VertexIn) -> vec3f {
    let height = max(in.position.z - variables.stiffness, 0.0);
    let gust = dot(in.world_position.xy, vec2f(0.9, 0.6));
    let sway = 0.6 + 0.4 * sin(frame.seconds * variables.speed + gust);
    let flutter = sin(frame.seconds * variables.speed * 5.3 + gust * 7.0 + in.position.z * 9.0);
    return variables.wind * (sway + 0.12 * flutter) * height * height;
}

fn surface(in: SurfaceIn) -> SurfaceOut {
    var out = in.base;
    // A normal that leans upwards gets light from the sky on both sides of a leaf.
    let up = vec3f(0.0, 0.0, 1.0);
    let through = clamp(variables.light_through, 0.0, 1.0);
    out.normal = normalize(mix(in.base.normal, up, through) + vec3f(0.0, 0.0, 1e-4));
    out.emissive += in.base.base_color * frame.sun_color * (0.3 * through)
        * clamp(dot(-in.view_direction, frame.sun_direction), 0.0, 1.0);
    return out;
}
