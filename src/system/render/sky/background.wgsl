// The sky behind everything, if it is an atmosphere or a texture.

#include "view_uniforms.wgsl"
#include "sky_inputs.wgsl"

@group(1) @binding(0) var<uniform> sky_inputs: SkyInputs;
@group(1) @binding(2) var transmittance_map: texture_2d<f32>;
@group(1) @binding(3) var scattering_map: texture_2d<f32>;
// The map of the sky, or the sky's texture.
@group(1) @binding(4) var picture: texture_2d<f32>;
@group(1) @binding(5) var sky_sampler: sampler;

#include "atmosphere.wgsl"
#include "height_fog.wgsl"

// The brightest light of the sun's disc, which is 46,000 times as bright as a surface in its light.
const DISC_LIGHT_MAX: f32 = 10000.0;
// Cells of stars along each axis of a face of a cube, and the share of them that has a star.
const STAR_CELLS: f32 = 48.0;
const STAR_SHARE: f32 = 0.3;
// Radius of a star in radians.
const STAR_RADIUS: f32 = 0.0009;

struct Ray {
    @builtin(position) clip: vec4f,
    @location(0) at: vec2f,
}

@vertex
fn background_vertex(@builtin(vertex_index) index: u32) -> Ray {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Ray(vec4f(at, 1.0, 1.0), at);
}

fn ray_direction(at: vec2f) -> vec3f {
    let near = view.from_clip * vec4f(at, 0.0, 1.0);
    let far = view.from_clip * vec4f(at, 1.0, 1.0);
    return normalize(far.xyz / far.w - near.xyz / near.w);
}

// Returns the angle that a pixel covers.
fn pixel_angle(direction: vec3f) -> f32 {
    return clamp(max(length(dpdx(direction)), length(dpdy(direction))), 1e-5, 0.5);
}

// Returns how much of a pixel at a distance from the center of a disc is covered by it.
fn disc_cover(distance: f32, radius: f32, pixel: f32) -> f32 {
    let outside = smoothstep(radius - pixel * 0.5, radius + pixel * 0.5, distance);
    return select(0.0, 1.0 - outside, radius > 0.0);
}

fn sun_disc(direction: vec3f, pixel: f32) -> vec3f {
    let radius = sky_inputs.sun.w;
    let distance = length(direction - sky_inputs.sun.xyz);
    let part = clamp(distance / max(radius, 1e-5), 0.0, 1.0);
    // The rim is darker: a linear law of limb darkening.
    let rim = 1.0 - 0.6 * (1.0 - sqrt(max(1.0 - part * part, 0.0)));
    let light = sky_inputs.sun_light.rgb / max(radius * radius, 1e-6);
    let arrived = transmittance(sky_inputs.numbers.x, direction.z);
    return min(light * arrived, vec3f(DISC_LIGHT_MAX)) * rim * disc_cover(distance, radius, pixel);
}

// Returns the light of the moon's disc, and how much of the pixel it covers.
fn moon_disc(direction: vec3f, pixel: f32) -> vec4f {
    let radius = sky_inputs.moon.w;
    let offset = direction - sky_inputs.moon.xyz;
    let distance = length(offset);
    let cover = disc_cover(distance, radius, pixel);
    // The normal of the sphere, which the sun lights.
    let flat = offset / max(radius, 1e-5);
    let bulge = sqrt(max(1.0 - dot(flat, flat), 0.0));
    let lit = smoothstep(-0.05, 0.25, dot(flat - sky_inputs.moon.xyz * bulge, sky_inputs.sun.xyz));
    let light = sky_inputs.moon_light.w * lit * transmittance(sky_inputs.numbers.x, direction.z);
    return vec4f(light * cover, cover);
}

fn hash(at: vec3f) -> vec4f {
    // PCG in three dimensions (Jarzynski and Olano, "Hash Functions for GPU Rendering", 2020).
    var v = vec3u(vec3i(at)) * 1664525u + 1013904223u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v ^= v >> vec3u(16u);
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    let parts = vec3f(v >> vec3u(8u)) / 16777216.0;
    return vec4f(parts, fract(parts.x * 91.7 + parts.y * 37.3 + parts.z * 13.9));
}

// Returns the light of the stars: one in some of the cells of a cube around the camera.
fn stars(direction: vec3f, pixel: f32) -> vec3f {
    let at = vec3f(
        dot(sky_inputs.stars_x.xyz, direction),
        dot(sky_inputs.stars_y.xyz, direction),
        dot(sky_inputs.stars_z.xyz, direction),
    );
    let size = abs(at);
    var face = 0.0;
    var plane = at.yz / max(size.x, 1e-5);
    if size.y > size.x && size.y >= size.z {
        face = 1.0;
        plane = at.xz / size.y;
    } else if size.z > size.x {
        face = 2.0;
        plane = at.xy / size.z;
    }
    face += select(0.0, 3.0, select(at.x, select(at.y, at.z, face > 1.5), face > 0.5) < 0.0);
    let cell = floor(plane * STAR_CELLS * 0.5);
    let random = hash(vec3f(cell + 100.0, face));
    if random.x > STAR_SHARE {
        return vec3f(0.0);
    }
    let center = (cell + 0.2 + 0.6 * random.yz) * 2.0 / STAR_CELLS;
    let flat = plane - center;
    // A step on the cube's face is a smaller angle towards its corners.
    let distance = length(flat) / (1.0 + dot(plane, plane));
    let radius = max(STAR_RADIUS, pixel * 0.6);
    let magnitude = random.w * random.w * random.w;
    let light = (0.02 + magnitude * magnitude) * min(STAR_RADIUS / radius * 1.5, 1.0);
    let tint = mix(vec3f(1.0, 0.82, 0.66), vec3f(0.72, 0.83, 1.0), random.x / STAR_SHARE);
    return tint * light * exp(-distance * distance / (radius * radius));
}

@fragment
fn physical_fragment(in: Ray) -> @location(0) vec4f {
    let direction = ray_direction(in.at);
    let pixel = pixel_angle(direction);
    let height = sky_inputs.numbers.x;
    let uv = sky_uv(direction, height, vec2f(textureDimensions(picture)));
    var color = textureSampleLevel(picture, sky_sampler, uv, 0.0).rgb;
    if distance_to_ground(height, direction.z) < 0.0 {
        let moon = moon_disc(direction, pixel);
        if sky_inputs.night.w > 0.0 {
            let arrived = transmittance(height, direction.z);
            color += stars(direction, pixel) * arrived * (sky_inputs.night.w * (1.0 - moon.w));
        }
        color += sun_disc(direction, pixel) * (1.0 - moon.w) + moon.rgb;
    }
    return vec4f(kept(fog_behind(finite_light(color), direction)), 1.0);
}

@fragment
fn texture_fragment(in: Ray) -> @location(0) vec4f {
    let direction = ray_direction(in.at);
    let color = picture_light(direction, pixel_angle(direction));
    return vec4f(kept(fog_behind(color, direction)), 1.0);
}
