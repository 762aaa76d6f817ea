// The inputs of a sky's shaders: `SkyUniform` of inputs.rs.
struct SkyInputs {
    // Directions towards the sun and the moon; w is the radius of the disc in radians.
    sun: vec4f,
    moon: vec4f,
    // Their light above the atmosphere, on a white surface; w of the moon is the disc's brightness.
    sun_light: vec4f,
    moon_light: vec4f,
    // Light of the night; w is the brightness of the stars.
    night: vec4f,
    // Color of the ground; w is the factor for haze.
    ground: vec4f,
    // Height in kilometres, the factor for the sky's light, cosine and sine of the texture's turn.
    numbers: vec4f,
    // Rows of the rotation from directions to the stars.
    stars_x: vec4f,
    stars_y: vec4f,
    stars_z: vec4f,
}

// Returns light without values that are not finite, within the range of half floats.
fn finite_light(color: vec3f) -> vec3f {
    let exponent = bitcast<vec3u>(color) & vec3u(0x7f800000u);
    let finite = select(color, vec3f(0.0), exponent == vec3u(0x7f800000u));
    return clamp(finite, vec3f(0.0), vec3f(60000.0));
}

// Returns the light of the sky's texture, an equirectangular map, from a direction. `angle` is the
// angle in radians over which it is averaged.
fn picture_light(direction: vec3f, angle: f32) -> vec3f {
    let turn = sky_inputs.numbers.zw;
    let x = direction.x * turn.x + direction.y * turn.y;
    let y = direction.y * turn.x - direction.x * turn.y;
    let around = select(atan2(x, y), 0.0, abs(x) + abs(y) < 1e-6);
    let uv = vec2f(around / TAU + 0.5, acos(clamp(direction.z, -1.0, 1.0)) / PI);
    let texels = angle * f32(textureDimensions(picture).y) / PI;
    let color = textureSampleLevel(picture, sky_sampler, uv, max(log2(max(texels, 1.0)), 0.0)).rgb;
    return finite_light(finite_light(color) * sky_inputs.numbers.y);
}
