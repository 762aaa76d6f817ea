// Meshes in shadow maps: depth only.

struct Draw {
    x: vec4f,
    y: vec4f,
    z: vec4f,
    tint: vec4u,
}

struct Surface {
    base_color: vec4f,
    emissive: vec3f,
    normal_scale: f32,
    metallic: f32,
    roughness: f32,
    occlusion_strength: f32,
    cutoff: f32,
    flags: vec4u,
}

struct Map {
    to_clip: mat4x4f,
    // x is 1 if objects in front of the map's near plane are clamped to it.
    options: vec4f,
}

@group(0) @binding(0) var<uniform> map: Map;
@group(0) @binding(1) var<storage, read> draws: array<Draw>;
@group(0) @binding(2) var<storage, read> surfaces: array<Surface>;

@group(1) @binding(0) var base_color_texture: texture_2d<f32>;
@group(1) @binding(1) var base_color_sampler: sampler;

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

// Maps a uv to the part of the textures that a draw shows.
fn part_uv(tint: vec4u, uv: vec2f) -> vec2f {
    let flipped = vec2<bool>((tint.w & 1u) != 0u, (tint.w & 2u) != 0u);
    return unpack2x16unorm(tint.y) + select(uv, 1.0 - uv, flipped) * unpack2x16unorm(tint.z);
}

@vertex
fn shadow_vertex(in: Corner) -> Point {
    let draw = draws[in.which.x];
    let place = vec4f(in.position, 1.0);
    let world = vec3f(dot(draw.x, place), dot(draw.y, place), dot(draw.z, place));
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
