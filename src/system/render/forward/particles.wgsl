// Particles: quads that face the camera, and fade where they are close to the surface behind them.

#include "view_uniforms.wgsl"

struct Batch {
    // Distance in metres over which they fade. `spot` is 1 for the engine's built-in round spot.
    softness: f32,
    spot: f32,
    spare: vec2f,
}

@group(0) @binding(1) var<uniform> batch: Batch;
@group(1) @binding(0) var picture: texture_2d<f32>;
@group(1) @binding(1) var picture_sampler: sampler;
@group(2) @binding(0) var depth: texture_multisampled_2d<f32>;

struct Particle {
    @location(0) position: vec3f,
    @location(1) rotation: f32,
    @location(2) size: vec2f,
    @location(3) color: vec4f,
    @location(4) glow: f32,
    @location(5) uv: vec4f,
    @location(6) stretch: vec3f,
}

struct Point {
    @builtin(position) clip: vec4f,
    // See mesh.wgsl.
    @location(0) @interpolate(perspective, centroid) uv: vec2f,
    @location(1) at: vec2f,
    @location(2) color: vec4f,
    @location(3) world: vec3f,
}

@vertex
fn particle_vertex(in: Particle, @builtin(vertex_index) index: u32) -> Point {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    var across = view.right.xyz * cos(in.rotation) + view.up.xyz * sin(in.rotation);
    var along = view.up.xyz * cos(in.rotation) - view.right.xyz * sin(in.rotation);
    var extent = in.size;
    let projected = in.stretch - view.ahead.xyz * dot(in.stretch, view.ahead.xyz);
    let reach = length(projected);
    if reach > 1e-6 {
        along = projected / reach;
        across = cross(view.ahead.xyz, along);
        extent.y += reach;
    }
    let world = in.position + across * (corner.x * extent.x) + along * (corner.y * extent.y);
    let part = vec2f(corner.x * 0.5 + 0.5, 0.5 - corner.y * 0.5);
    var out: Point;
    out.clip = view.to_clip * vec4f(world, 1.0);
    out.uv = mix(in.uv.xy, in.uv.zw, part);
    out.at = corner;
    out.color = vec4f(linear_light(in.color.rgb) * in.glow * in.color.a, in.color.a);
    out.world = world;
    return out;
}

// Returns the distance ahead of the camera of a point of the depth buffer.
fn ahead_of(point: vec4f) -> f32 {
    let world = view.from_clip * point;
    return dot(world.xyz / world.w - view.eye.xyz, view.ahead.xyz);
}

// Counts a pixel of a particle.
@fragment
fn overdraw_fragment(in: Point) -> @location(0) vec4f {
    return vec4f(1.0, 0.0, 0.0, 0.0);
}

@fragment
fn particle_fragment(in: Point) -> @location(0) vec4f {
    var color = textureSample(picture, picture_sampler, in.uv);
    if batch.spot > 0.5 {
        let round = clamp(1.0 - dot(in.at, in.at), 0.0, 1.0);
        color = vec4f(round * round);
    }
    color *= in.color;
    if batch.softness > 0.0 {
        let behind = textureLoad(depth, vec2i(in.clip.xy), 0).r;
        let clip = view.to_clip * vec4f(in.world, 1.0);
        let wall = ahead_of(vec4f(clip.xy / clip.w, behind, 1.0));
        let here = dot(in.world - view.eye.xyz, view.ahead.xyz);
        color *= clamp((wall - here) / batch.softness, 0.0, 1.0);
    }
    return color;
}
