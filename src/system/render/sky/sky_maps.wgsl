// The maps of a sky: its atmosphere, its light from all directions, and that light filtered for
// rough and for matte surfaces. Each entry point draws one map.

struct Step {
    // Side length in texels of the map that is drawn and of the source; roughness; the level of the
    // source that is read.
    numbers: vec4f,
}

#include "sky_inputs.wgsl"

@group(0) @binding(0) var<uniform> sky_inputs: SkyInputs;
@group(0) @binding(1) var<uniform> drawn: Step;
@group(0) @binding(2) var transmittance_map: texture_2d<f32>;
@group(0) @binding(3) var scattering_map: texture_2d<f32>;
// The map of the sky, the sky's texture, or the source of a filtered map.
@group(0) @binding(4) var picture: texture_2d<f32>;
@group(0) @binding(5) var sky_sampler: sampler;

#include "atmosphere.wgsl"
#include "octahedron.wgsl"

const TRANSMITTANCE_SIZE: vec2f = vec2f(256.0, 64.0);
const SCATTERING_SIZE: vec2f = vec2f(16.0, 16.0);
const SKY_SIZE: vec2f = vec2f(192.0, 108.0);
// Numbers of steps of the integrals, and of samples.
const TRANSMITTANCE_STEPS: i32 = 40;
const SCATTERING_STEPS: i32 = 20;
const SCATTERING_RAYS: i32 = 64;
const SKY_STEPS: i32 = 32;
const GLOSS_SAMPLES: i32 = 48;
// Sine of the elevation below which a body sends no light: the end of astronomical twilight.
const DARK_SINE: f32 = -0.31;
const GOLDEN_ANGLE: f32 = 2.39996323;

@vertex
fn map_vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4f(at, 0.0, 1.0);
}

@fragment
fn transmittance_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let at = texel_fraction(clip.xy, TRANSMITTANCE_SIZE);
    let whole = sqrt(top_square());
    let rim = at.y * whole;
    let square = rim * rim;
    let height = square / (sqrt(square + GROUND_RADIUS * GROUND_RADIUS) + GROUND_RADIUS);
    let least = ATMOSPHERE_HEIGHT - height;
    let far = least + at.x * (rim + whole - least);
    let radius = GROUND_RADIUS + height;
    let opposite = (top_square() - square - far * far) / max(2.0 * radius * far, 1e-3);
    let cosine = select(1.0, clamp(opposite, -1.0, 1.0), far > 1e-3);
    var depth = vec3f(0.0);
    for (var i = 0; i < TRANSMITTANCE_STEPS; i++) {
        let metres = far * (f32(i) + 0.5) / f32(TRANSMITTANCE_STEPS);
        depth += air_at(along_ray(height, cosine, cosine, 1.0, metres).x).extinction;
    }
    return vec4f(exp(-depth * far / f32(TRANSMITTANCE_STEPS)), 1.0);
}

// Light that is scattered twice or more often: the light of the second scattering, and the factor
// of each further one, whose series has a sum.
@fragment
fn scattering_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let at = texel_fraction(clip.xy, SCATTERING_SIZE);
    let body = clamp(at.x * 2.0 - 1.0, -1.0, 1.0);
    let height = clamp(at.y * ATMOSPHERE_HEIGHT, 0.001, ATMOSPHERE_HEIGHT - 0.001);
    let towards = vec3f(sqrt(max(1.0 - body * body, 0.0)), 0.0, body);
    var second = vec3f(0.0);
    var further = vec3f(0.0);
    for (var i = 0; i < SCATTERING_RAYS; i++) {
        let up = 1.0 - (2.0 * f32(i) + 1.0) / f32(SCATTERING_RAYS);
        let flat = sqrt(max(1.0 - up * up, 0.0));
        let around = f32(i) * GOLDEN_ANGLE;
        let ray = vec3f(cos(around) * flat, sin(around) * flat, up);
        let ground = distance_to_ground(height, up);
        let far = select(distance_to_top(height, up), ground, ground >= 0.0);
        let length = far / f32(SCATTERING_STEPS);
        let between = dot(ray, towards);
        var left = vec3f(1.0);
        for (var j = 0; j < SCATTERING_STEPS; j++) {
            let point = along_ray(height, up, body, between, (f32(j) + 0.5) * length);
            let air = air_at(point.x);
            let scattering = air.rayleigh + air.mie;
            let passed = exp(-air.extinction * length);
            let share = left * scattering * (1.0 - passed) / max(air.extinction, vec3f(1e-9));
            second += share * body_light(point.x, point.y) / (4.0 * PI);
            further += share;
            left *= passed;
        }
        if ground >= 0.0 {
            let point = along_ray(height, up, body, between, far);
            let lit = max(point.y, 0.0) * body_light(0.0, point.y) / PI;
            second += left * sky_inputs.ground.rgb * lit;
        }
    }
    second /= f32(SCATTERING_RAYS);
    further /= f32(SCATTERING_RAYS);
    return vec4f(finite_light(second / max(1.0 - further, vec3f(0.05))), 1.0);
}

// Returns the light that a body's light becomes on a ray through the air.
fn scattered(ray: vec3f, body: vec3f, light: vec3f) -> vec3f {
    let height = sky_inputs.numbers.x;
    let ground = distance_to_ground(height, ray.z);
    let far = select(distance_to_top(height, ray.z), ground, ground >= 0.0);
    let between = clamp(dot(ray, body), -1.0, 1.0);
    let rayleigh = rayleigh_phase(between);
    let mie = mie_phase(between);
    var sum = vec3f(0.0);
    var left = vec3f(1.0);
    for (var i = 0; i < SKY_STEPS; i++) {
        // Steps are short near the camera, where the air is dense.
        let begin = f32(i) / f32(SKY_STEPS);
        let end = f32(i + 1) / f32(SKY_STEPS);
        let length = far * (end * end - begin * begin);
        let middle = far * (begin * begin + end * end) * 0.5;
        let point = along_ray(height, ray.z, body.z, between, middle);
        let air = air_at(point.x);
        let once = (air.rayleigh * rayleigh + air.mie * mie) * body_light(point.x, point.y);
        let at = scattering_uv(point.x, point.y);
        let often = textureSampleLevel(scattering_map, sky_sampler, at, 0.0).rgb;
        let passed = exp(-air.extinction * length);
        let sent = once + (air.rayleigh + air.mie) * often;
        sum += left * sent * (1.0 - passed) / max(air.extinction, vec3f(1e-9));
        left *= passed;
    }
    if ground >= 0.0 {
        let point = along_ray(height, ray.z, body.z, between, far);
        let at = scattering_uv(0.0, point.y);
        let often = textureSampleLevel(scattering_map, sky_sampler, at, 0.0).rgb;
        let lit = max(point.y, 0.0) * body_light(0.0, point.y) / PI + often;
        sum += left * sky_inputs.ground.rgb * lit;
    }
    // The light of bodies leaves out pi, as all lights do.
    return sum * light * PI;
}

@fragment
fn sky_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let at = vec2f(clip.x / SKY_SIZE.x, texel_fraction(clip.xy, SKY_SIZE).y);
    let ray = sky_direction(at, sky_inputs.numbers.x);
    var sum = vec3f(0.0);
    if sky_inputs.sun.z > DARK_SINE {
        sum += scattered(ray, sky_inputs.sun.xyz, sky_inputs.sun_light.rgb);
    }
    if sky_inputs.moon.z > DARK_SINE && any(sky_inputs.moon_light.rgb > vec3f(0.0)) {
        sum += scattered(ray, sky_inputs.moon.xyz, sky_inputs.moon_light.rgb);
    }
    return vec4f(finite_light((sum + sky_inputs.night.rgb) * sky_inputs.numbers.y), 1.0);
}

// The sky as the source of filtered maps.
@fragment
fn physical_source_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    var sum = vec3f(0.0);
    for (var i = 0; i < 4; i++) {
        let part = (vec2f(f32(i & 1), f32(i >> 1u)) - 0.5) * 0.5;
        let ray = normalize(octahedron_point(clip.xy + part, drawn.numbers.x));
        let uv = sky_uv(ray, sky_inputs.numbers.x, vec2f(textureDimensions(picture)));
        sum += textureSampleLevel(picture, sky_sampler, uv, 0.0).rgb;
    }
    return vec4f(finite_light(sum * 0.25), 1.0);
}

@fragment
fn texture_source_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let angle = sqrt(4.0 * PI) / drawn.numbers.x * 0.25;
    var sum = vec3f(0.0);
    for (var i = 0; i < 16; i++) {
        let part = (vec2f(f32(i & 3), f32(i >> 2u)) - 1.5) * 0.25;
        sum += picture_light(normalize(octahedron_point(clip.xy + part, drawn.numbers.x)), angle);
    }
    return vec4f(finite_light(sum / 16.0), 1.0);
}

// Returns the solid angle of a texel, up to a factor.
fn texel_weight(at: vec2f, side: f32) -> f32 {
    let point = octahedron_point(at, side);
    let square = max(dot(point, point), 1e-6);
    return 1.0 / (square * sqrt(square));
}

// The next smaller level of the source: the mean of four directions, by their solid angles.
@fragment
fn reduced_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let side = drawn.numbers.x;
    let larger = drawn.numbers.y;
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var i = 0; i < 4; i++) {
        let part = (vec2f(f32(i & 1), f32(i >> 1u)) - 0.5) * 0.5;
        let point = octahedron_point(clip.xy + part, side);
        let weight = texel_weight(clip.xy + part, side);
        let uv = octahedron_uv(normalize(point), larger);
        sum += textureSampleLevel(picture, sky_sampler, uv, 0.0).rgb * weight;
        weights += weight;
    }
    return vec4f(finite_light(sum / weights), 1.0);
}

// Returns the light of the source from a direction, averaged over the texels of a level.
fn source_light(direction: vec3f, level: f32) -> vec3f {
    let side = drawn.numbers.y;
    let last = f32(textureNumLevels(picture) - 1u);
    let limited = clamp(level, 0.0, last);
    let lower = floor(limited);
    let upper = min(lower + 1.0, last);
    let fine = octahedron_uv(direction, side / exp2(lower));
    let coarse = octahedron_uv(direction, side / exp2(upper));
    let near = textureSampleLevel(picture, sky_sampler, fine, lower).rgb;
    let far = textureSampleLevel(picture, sky_sampler, coarse, upper).rgb;
    return mix(near, far, limited - lower);
}

// The light that a surface of a roughness mirrors along its normal: the first sum of Karis,
// "Real Shading in Unreal Engine 4", 2013. Samples follow the distribution of microfacets, and
// each is averaged over its solid angle (Krivanek and Colbert, "Real-time Shading with Filtered
// Importance Sampling", 2008).
@fragment
fn gloss_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let normal = normalize(octahedron_point(clip.xy, drawn.numbers.x));
    let roughness = drawn.numbers.z;
    if roughness <= 0.0 {
        return vec4f(finite_light(source_light(normal, 0.0)), 1.0);
    }
    let alpha = roughness * roughness;
    let a2 = alpha * alpha;
    let other = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 0.0, 1.0), abs(normal.z) < 0.9);
    let tangent = normalize(cross(other, normal));
    let bitangent = cross(normal, tangent);
    let texel = 4.0 * PI / (drawn.numbers.y * drawn.numbers.y);
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var i = 0; i < GLOSS_SAMPLES; i++) {
        let share = (f32(i) + 0.5) / f32(GLOSS_SAMPLES);
        let square = (1.0 - share) / (1.0 + (a2 - 1.0) * share);
        let cosine = sqrt(square);
        let flat = sqrt(max(1.0 - square, 0.0));
        let around = f32(i) * GOLDEN_ANGLE;
        let halfway = (tangent * cos(around) + bitangent * sin(around)) * flat + normal * cosine;
        let towards = 2.0 * cosine * halfway - normal;
        let facing = dot(normal, towards);
        if facing > 0.0 {
            let d = square * (a2 - 1.0) + 1.0;
            let density = a2 / max(PI * d * d, 1e-9) * 0.25;
            let solid = 1.0 / max(f32(GLOSS_SAMPLES) * density, 1e-9);
            let level = 0.5 * log2(max(solid / texel, 1.0)) + 1.0;
            sum += source_light(normalize(towards), level) * facing;
            weights += facing;
        }
    }
    return vec4f(finite_light(sum / max(weights, 1e-6)), 1.0);
}

// The light that matte surfaces gather, as nine coefficients of spherical harmonics, already
// multiplied with those of the cosine: Ramamoorthi and Hanrahan, "An Efficient Representation for
// Irradiance Environment Maps", 2001. The texels of the map are the coefficients.
@fragment
fn harmonics_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let index = i32(clip.x) + 4 * i32(clip.y);
    let level = i32(drawn.numbers.w);
    let side = i32(drawn.numbers.y);
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var y = 1; y < side - 1; y++) {
        for (var x = 1; x < side - 1; x++) {
            let at = vec2f(f32(x), f32(y)) + 0.5;
            let weight = texel_weight(at, f32(side));
            let direction = normalize(octahedron_point(at, f32(side)));
            let light = textureLoad(picture, vec2i(x, y), level).rgb;
            sum += light * (weight * harmonic(index, direction));
            weights += weight;
        }
    }
    let coefficient = sum * (4.0 * PI / weights) * cosine_factor(index);
    return vec4f(clamp(coefficient, vec3f(-60000.0), vec3f(60000.0)), 1.0);
}

fn harmonic(index: i32, at: vec3f) -> f32 {
    switch index {
        case 0: { return 1.0; }
        case 1: { return at.y; }
        case 2: { return at.z; }
        case 3: { return at.x; }
        case 4: { return at.x * at.y; }
        case 5: { return at.y * at.z; }
        case 6: { return 3.0 * at.z * at.z - 1.0; }
        case 7: { return at.x * at.z; }
        case 8: { return at.x * at.x - at.y * at.y; }
        default: { return 0.0; }
    }
}

// Returns the squared norm of a harmonic, times the share of its band that a cosine keeps.
fn cosine_factor(index: i32) -> f32 {
    switch index {
        case 0: { return 0.0795774715; }
        case 1, 2, 3: { return 0.238732415 * 2.0 / 3.0; }
        case 4, 5, 7: { return 1.09254843 * 1.09254843 * 0.25; }
        case 6: { return 0.315391565 * 0.315391565 * 0.25; }
        case 8: { return 0.546274215 * 0.546274215 * 0.25; }
        default: { return 0.0; }
    }
}
