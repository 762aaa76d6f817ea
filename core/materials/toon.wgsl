// Toon: the light of all lamps, shadows included, falls in bands of equal brightness, and the rim
// of the shape is an outline.

struct Variables {
    bands: f32,
    // Cosine of the angle between normal and view direction where the outline begins; 0: none.
    outline: f32,
    outline_color: vec4f,
}
@group(2) @binding(0) var<uniform> variables: Variables;

fn final_color(in: SurfaceIn, color: vec3f) -> vec3f {
    let facing = dot(in.base.normal, in.view_direction);
    if facing < variables.outline {
        return variables.outline_color.rgb;
    }
    let received = color / max(in.base.base_color, vec3f(0.02));
    let brightness = max(max(received.r, received.g), max(received.b, 1e-4));
    let bands = max(variables.bands, 1.0);
    // The edges between the bands are as wide as a fiftieth of the brightness.
    let at = brightness * bands;
    let step_up = smoothstep(0.48, 0.52, fract(at));
    return color * ((floor(at) + step_up + 0.25) / (bands * brightness));
}
