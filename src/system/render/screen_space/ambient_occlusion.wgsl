// Ambient occlusion from the depth of the picture: Jimenez, Wu, Pesce and Jarabo, "Practical
// Real-Time Strategies for Accurate Indirect Occlusion", 2016. In slices around the direction to
// the camera, the horizons of the neighbourhood limit the part of the sky that a surface sees.

#include "screen_uniforms.wgsl"
#include "surface_normal.wgsl"

const PI: f32 = 3.14159265;
const SLICES: i32 = 3;
// Samples to each side of a slice.
const STEPS: i32 = 4;
// A radius of fewer pixels cannot be sampled.
const RADIUS_MIN: f32 = 1.5;
// Larger radii are shortened: their samples would be too far apart.
const RADIUS_MAX: f32 = 128.0;
// Side of the pattern in which slices and steps vary from texel to texel.
const PATTERN: u32 = 4u;

// The point whose occlusion is computed.
struct Center {
    position: vec3f,
    normal: vec3f,
    // Direction towards the camera.
    back: vec3f,
    pixel: vec2f,
    radius: f32,
}

// Returns the cosine of the horizon that one sample raises, or `low`.
fn horizon(center: Center, axis: vec3f, offset: vec2f, low: f32) -> f32 {
    let at = vec2i(floor(center.pixel + offset));
    if !is_inside(at) {
        return low;
    }
    let there = textureLoad(depth, at, 0).r;
    if there >= 1.0 {
        return low;
    }
    var way = view_position(vec2f(at) + 0.5, there) - center.position;
    // The sample is the middle of a pixel, next to the slice. It is moved into the slice along the
    // surface, so that a plane has the horizon of a plane.
    let across = dot(axis, center.normal);
    let along = axis - center.normal * across;
    way -= along * (dot(way, axis) / max(1.0 - across * across, 0.05));
    let metres = length(way);
    if !(metres > 1e-6) {
        return low;
    }
    let fade = center.radius * screen.occlusion.y;
    let weight = clamp((center.radius - metres) / max(fade, 1e-6), 0.0, 1.0);
    return mix(low, max(dot(way, center.back) / metres, low), weight);
}

// Returns the visible part of a slice between a horizon and the direction to the camera.
fn arc(angle: f32, normal_angle: f32) -> f32 {
    return 0.25 * (cos(normal_angle) + 2.0 * angle * sin(normal_angle)
        - cos(2.0 * angle - normal_angle));
}

// Returns the visible light of a slice, and that without any occlusion.
fn slice_light(center: Center, angle: f32, radius: vec2f, start: f32) -> vec2f {
    let toward = vec2f(cos(angle), sin(angle));
    // Pixels run downwards.
    let direction = vec3f(toward.x, -toward.y, 0.0);
    let straight = direction - center.back * dot(direction, center.back);
    let axis = normalize(cross(direction, center.back));
    let projected = center.normal - axis * dot(center.normal, axis);
    let size = length(projected);
    let cosine = clamp(dot(projected, center.back) / max(size, 1e-6), 0.0, 1.0);
    let normal_angle = sign(dot(straight, projected)) * acos(cosine);
    let low = vec2f(cos(normal_angle + 0.5 * PI), cos(normal_angle - 0.5 * PI));
    var high = low;
    for (var i = 0; i < STEPS; i++) {
        let share = (f32(i) + start) / f32(STEPS);
        let reach = share * share * radius + 1.0;
        let offset = toward * reach;
        high.x = max(high.x, horizon(center, axis, offset, low.x));
        high.y = max(high.y, horizon(center, axis, -offset, low.y));
    }
    let angles = vec2f(acos(clamp(high.x, -1.0, 1.0)), -acos(clamp(high.y, -1.0, 1.0)));
    let visible = arc(angles.x, normal_angle) + arc(angles.y, normal_angle);
    let all = cos(normal_angle) + normal_angle * sin(normal_angle);
    return vec2f(visible, all) * size;
}

@fragment
fn occlusion_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let texel = vec2u(clip.xy);
    let at = inside(vec2i(floor(clip.xy * screen.occlusion.w)));
    let own = textureLoad(depth, at, 0).r;
    if !(own < 1.0) {
        return vec4f(1.0);
    }
    var center: Center;
    center.pixel = vec2f(at) + 0.5;
    center.position = view_position(center.pixel, own);
    let straight = screen.offset.z > 0.5;
    center.back = select(normalize(-center.position), vec3f(0.0, 0.0, 1.0), straight);
    center.normal = surface_normal(center.position, at, center.back);
    center.radius = screen.occlusion.x;
    let scale = pixels_per_metre(center.position.z);
    let largest = max(scale.x, scale.y) * center.radius;
    if !(largest >= RADIUS_MIN) {
        return vec4f(1.0);
    }
    center.radius *= min(1.0, RADIUS_MAX / largest);
    let number = (texel.x % PATTERN) * PATTERN + texel.y % PATTERN;
    let turn = f32((number * 7u) % 16u) / 16.0;
    let start = (f32((number * 3u + 5u) % 16u) + 0.5) / 16.0;
    var sum = vec2f(0.0);
    for (var i = 0; i < SLICES; i++) {
        let angle = (f32(i) + turn) * PI / f32(SLICES);
        sum += slice_light(center, angle, scale * center.radius, start);
    }
    let open = pow(clamp(sum.x / max(sum.y, 1e-6), 0.0, 1.0), screen.occlusion.z);
    // Close to the smallest radius it fades.
    let faded = mix(1.0, open, clamp(largest - RADIUS_MIN, 0.0, 1.0));
    // A value that is not a number fails both comparisons.
    return vec4f(select(1.0, faded, faded >= 0.0 && faded <= 1.0));
}
