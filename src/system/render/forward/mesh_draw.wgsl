// Draws and surfaces of meshes, as the light pass and the shadow maps read them.

struct Draw {
#include "draw_fields.wgsl"
}

struct Surface {
    base_color: vec4f,
    emissive: vec3f,
    normal_scale: f32,
    metallic: f32,
    roughness: f32,
    occlusion_strength: f32,
    cutoff: f32,
    // x: bit 0 it has a normal texture, bit 1 unlit, bit 2 transparent; y: the longest offset of
    // its vertices in metres, as the bits of an f32.
    flags: vec4u,
    // Clear coat and its roughness, roughness of the sheen, transmission.
    coat: vec4f,
    // Color of the sheen; w: index of refraction.
    sheen: vec4f,
    // Color and strength of the reflection.
    specular: vec4f,
    // Strength and angle of anisotropy, thickness.
    anisotropy: vec4f,
}

// Bits of an instance's surface that hold its index; those above are the light layers whose lights
// do not light it.
const SURFACE_INDEX_BITS: u32 = 24u;

// Returns the index of a surface in what an instance has of it.
fn surface_index(word: u32) -> u32 {
    return extractBits(word, 0u, SURFACE_INDEX_BITS);
}

@group(0) @binding(1) var<storage, read> draws: array<Draw>;
@group(0) @binding(2) var<storage, read> surfaces: array<Surface>;
@group(0) @binding(6) var<storage, read> engine_poses: array<vec4f>;
@group(0) @binding(7) var<storage, read> engine_offsets: array<vec4u>;

#include "deformation.wgsl"

@group(1) @binding(0) var base_color_texture: texture_2d<f32>;
@group(1) @binding(1) var base_color_sampler: sampler;

// Maps a uv to the part of the textures that a draw shows.
fn part_uv(tint: vec4u, uv: vec2f) -> vec2f {
    let flipped = vec2<bool>((tint.w & 1u) != 0u, (tint.w & 2u) != 0u);
    return unpack2x16unorm(tint.y) + select(uv, 1.0 - uv, flipped) * unpack2x16unorm(tint.z);
}
