// Meshes in shadow maps: depth only.

#include "mesh_draw.wgsl"

struct Map {
    to_clip: mat4x4f,
    // x is 1 if objects in front of the map's near plane are clamped to it.
    options: vec4f,
}

@group(0) @binding(0) var<uniform> map: Map;

struct Corner {
    @location(0) position: vec3f,
    @location(3) uv: vec2f,
    @location(4) color: vec4f,
    @location(5) which: vec2u,
}

struct Point {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
    @location(1) alpha: f32,
    @location(2) @interpolate(flat) surface: u32,
}

@vertex
fn shadow_vertex(in: Corner) -> Point {
    let draw = draws[in.which.x];
    let position = vec4f(in.position, 1.0);
    let world = vec3f(dot(draw.x, position), dot(draw.y, position), dot(draw.z, position));
    var out: Point;
    out.clip = map.to_clip * vec4f(world, 1.0);
    out.clip.z = select(out.clip.z, max(out.clip.z, 0.0), map.options.x > 0.5);
    out.uv = part_uv(draw.tint, in.uv);
    out.alpha = in.color.a * unpack4x8unorm(draw.tint.x).a;
    out.surface = in.which.y;
    return out;
}

@fragment
fn shadow_fragment(in: Point) {
    let surface = surfaces[in.surface];
    let painted = textureSample(base_color_texture, base_color_sampler, in.uv);
    if surface.base_color.a * painted.a * in.alpha < surface.cutoff {
        discard;
    }
}
