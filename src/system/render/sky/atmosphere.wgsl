// The atmosphere: the density of its parts, and the lookups of its maps. After Hillaire, "A
// Scalable and Production Ready Sky and Atmosphere Rendering Technique", 2020; the coordinates of
// the transmittance are those of Bruneton and Neyret, "Precomputed Atmospheric Scattering", 2008.
// Lengths are in kilometres. celestial.rs has the same constants.

const PI: f32 = 3.14159265;
const TAU: f32 = 6.28318531;
const RAYLEIGH_SCATTERING: vec3f = vec3f(0.005802, 0.013558, 0.0331);
const RAYLEIGH_HEIGHT: f32 = 8.0;
const MIE_SCATTERING: f32 = 0.003996;
const MIE_EXTINCTION: f32 = 0.00444;
const MIE_HEIGHT: f32 = 1.2;
// How much haze scatters light forwards.
const MIE_FORWARD: f32 = 0.8;
const OZONE_ABSORPTION: vec3f = vec3f(0.00065, 0.001881, 0.000085);
const OZONE_HEIGHT: f32 = 25.0;
const OZONE_WIDTH: f32 = 15.0;
const GROUND_RADIUS: f32 = 6360.0;
const ATMOSPHERE_HEIGHT: f32 = 100.0;
const SUNSET_SINE: f32 = 0.01;

struct Air {
    rayleigh: vec3f,
    mie: f32,
    extinction: vec3f,
}

// Returns the scattering and the extinction of the air at a height.
fn air_at(height: f32) -> Air {
    let low = max(height, 0.0);
    let rayleigh = RAYLEIGH_SCATTERING * exp(-low / RAYLEIGH_HEIGHT);
    let haze = exp(-low / MIE_HEIGHT) * sky_inputs.ground.w;
    let ozone = max(1.0 - abs(low - OZONE_HEIGHT) / OZONE_WIDTH, 0.0);
    let extinction = rayleigh + MIE_EXTINCTION * haze + OZONE_ABSORPTION * ozone;
    return Air(rayleigh, MIE_SCATTERING * haze, extinction);
}

// Returns the square of the distance to the horizon, which has few digits if it is subtracted.
fn horizon_square(height: f32) -> f32 {
    return height * (2.0 * GROUND_RADIUS + height);
}

// Returns the cosine between the zenith and the horizon.
fn horizon_cosine(height: f32) -> f32 {
    return -sqrt(horizon_square(height)) / (GROUND_RADIUS + height);
}

// Returns the distance to the upper end of the atmosphere, at an angle to the zenith.
fn distance_to_top(height: f32, cosine: f32) -> f32 {
    let down = (GROUND_RADIUS + height) * cosine;
    let above = ATMOSPHERE_HEIGHT - height;
    let square = down * down + above * (2.0 * GROUND_RADIUS + ATMOSPHERE_HEIGHT + height);
    return max(sqrt(max(square, 0.0)) - down, 0.0);
}

// Returns the distance to the ground, or a negative number.
fn distance_to_ground(height: f32, cosine: f32) -> f32 {
    let down = (GROUND_RADIUS + height) * cosine;
    let square = down * down - horizon_square(height);
    if square < 0.0 || cosine >= 0.0 {
        return -1.0;
    }
    return max(-down - sqrt(square), 0.0);
}

// Returns the height of a point at a distance along a ray, and the cosine between the zenith there
// and a body's direction. `ray` and `body` are cosines to the zenith of the ray's start; `between`
// is the cosine between both.
fn along_ray(height: f32, ray: f32, body: f32, between: f32, metres: f32) -> vec2f {
    let radius = GROUND_RADIUS + height;
    // The square of the new radius, less that of the ground's.
    let square = horizon_square(height) + metres * metres + 2.0 * radius * metres * ray;
    let far = sqrt(max(square + GROUND_RADIUS * GROUND_RADIUS, 1.0));
    let cosine = clamp((radius * body + metres * between) / far, -1.0, 1.0);
    return vec2f(max(square / (far + GROUND_RADIUS), 0.0), cosine);
}

// Returns the coordinates between the centers of the first and the last texel.
fn inner_uv(at: vec2f, size: vec2f) -> vec2f {
    return 0.5 / size + clamp(at, vec2f(0.0), vec2f(1.0)) * (1.0 - 1.0 / size);
}

// Returns the positions from 0 to 1 of the texel at a pixel, the inverse of `inner_uv`.
fn texel_fraction(pixel: vec2f, size: vec2f) -> vec2f {
    return (pixel - 0.5) / (size - 1.0);
}

fn top_square() -> f32 {
    return horizon_square(ATMOSPHERE_HEIGHT);
}

// Returns the fraction of light that passes from the upper end of the atmosphere.
fn transmittance(height: f32, cosine: f32) -> vec3f {
    let rim = sqrt(horizon_square(height));
    let whole = sqrt(top_square());
    let least = ATMOSPHERE_HEIGHT - height;
    let span = max(rim + whole - least, 1e-3);
    let far = (distance_to_top(height, cosine) - least) / span;
    let at = inner_uv(vec2f(far, rim / whole), vec2f(textureDimensions(transmittance_map)));
    return textureSampleLevel(transmittance_map, sky_sampler, at, 0.0).rgb;
}

// Returns the fraction of a body's light that arrives at a height; it sets behind the ground.
fn body_light(height: f32, cosine: f32) -> vec3f {
    let horizon = horizon_cosine(height);
    let shown = smoothstep(-SUNSET_SINE, SUNSET_SINE, cosine - horizon);
    return transmittance(height, max(cosine, horizon)) * shown;
}

// Returns the coordinates of the multiply scattered light.
fn scattering_uv(height: f32, cosine: f32) -> vec2f {
    let size = vec2f(textureDimensions(scattering_map));
    return inner_uv(vec2f(cosine * 0.5 + 0.5, height / ATMOSPHERE_HEIGHT), size);
}

fn rayleigh_phase(cosine: f32) -> f32 {
    return 3.0 / (16.0 * PI) * (1.0 + cosine * cosine);
}

// Cornette and Shanks, "Physically Reasonable Analytic Expression for the Single-Scattering Phase
// Function", 1992.
fn mie_phase(cosine: f32) -> f32 {
    let g = MIE_FORWARD;
    let scale = 3.0 / (8.0 * PI) * (1.0 - g * g) / (2.0 + g * g);
    let wide = max(1.0 + g * g - 2.0 * g * cosine, 1e-4);
    return scale * (1.0 + cosine * cosine) / (wide * sqrt(wide));
}

// Returns the coordinates of a direction in the map of the sky: its rows are denser at the horizon.
fn sky_uv(direction: vec3f, height: f32, size: vec2f) -> vec2f {
    let cosine = clamp(direction.z, -1.0, 1.0);
    let below = PI - acos(clamp(-horizon_cosine(height), -1.0, 1.0));
    let angle = acos(cosine);
    let up = 0.5 - 0.5 * sqrt(clamp(1.0 - angle / below, 0.0, 1.0));
    let down = 0.5 + 0.5 * sqrt(clamp((angle - below) / (PI - below), 0.0, 1.0));
    let v = select(up, down, angle > below);
    let flat = abs(direction.x) + abs(direction.y) < 1e-6;
    let around = select(atan2(direction.y, direction.x), 0.0, flat);
    return vec2f(around / TAU + 0.5, inner_uv(vec2f(0.5, v), size).y);
}

// Returns the direction of a position in the map of the sky, the inverse of `sky_uv`.
fn sky_direction(at: vec2f, height: f32) -> vec3f {
    let below = PI - acos(clamp(-horizon_cosine(height), -1.0, 1.0));
    let part = at.y * 2.0 - 1.0;
    let square = part * part;
    let angle = select(below * (1.0 - square), below + (PI - below) * square, part > 0.0);
    let around = (at.x - 0.5) * TAU;
    return vec3f(vec2f(cos(around), sin(around)) * sin(angle), cos(angle));
}
