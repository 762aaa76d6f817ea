// Omni and spot lights: those of the cluster that a pixel is in (scene/clusters.rs), with their
// shadows. mesh.wgsl includes this.

// Number of slices of clusters; bits of a cluster's word that hold its count.
const CLUSTER_SLICES: u32 = 24u;
const CLUSTER_COUNT_BITS: u32 = 13u;

struct Light {
    position: vec3f,
    falloff: f32,
    color: vec3f,
    // Its first shadow map; below 0: none.
    shadow: f32,
    direction: vec3f,
    // 0 for an omni light.
    cone_scale: f32,
    cone_offset: f32,
    texel: f32,
    // Shadow bias, the distance of its shadows from their casters.
    bias: f32,
    // Bits of its light layers; from bit 8 on, where its texture begins in `light_grid`, in units
    // of 64 words. 0: it has none.
    layers: u32,
}

// The shadow map of a spot, or of one of the six sides of an omni light.
struct ShadowTile {
    to_clip: mat4x4f,
    // Left, top and side in the atlas, from 0 to 1.
    rectangle: vec4f,
}

@group(0) @binding(4) var shadow_atlas: texture_depth_2d;
@group(0) @binding(8) var<storage, read> lights: array<Light>;
@group(0) @binding(9) var<storage, read> light_grid: array<u32>;
@group(0) @binding(10) var<storage, read> shadow_tiles: array<ShadowTile>;

#include "light_textures.wgsl"

// Returns the index of the cluster in which a pixel's surface lies.
fn cluster_at(lit: Lit) -> u32 {
    let ahead = dot(lit.world - view.eye.xyz, view.ahead.xyz);
    let depth = select(ahead, log2(max(ahead, 1e-6)), view.eye.w > 0.5);
    let slice = depth * view.cluster_scale.z + view.cluster_scale.w;
    let most = vec3u(CLUSTER_COLUMNS, CLUSTER_ROWS, CLUSTER_SLICES) - 1u;
    let at = vec3f(lit.pixel * view.cluster_scale.xy, slice);
    let cell = vec3u(clamp(at, vec3f(0.0), vec3f(most)));
    return (cell.z * CLUSTER_ROWS + cell.y) * CLUSTER_COLUMNS + cell.x;
}

// Returns the light of all omni and spot lights.
fn local_lights(lit: Lit) -> vec3f {
    var sum = vec3f(0.0);
    if view.counts.y == 0u {
        return sum;
    }
    let begin = view.cluster_begin.x;
    let word = light_grid[begin + cluster_at(lit)];
    let count = word & ((1u << CLUSTER_COUNT_BITS) - 1u);
    let clusters = CLUSTER_COLUMNS * CLUSTER_ROWS * CLUSTER_SLICES;
    let first = begin + clusters + (word >> CLUSTER_COUNT_BITS);
    for (var i = first; i < first + count; i++) {
        sum += local_light(lit, lights[view.cluster_begin.y + light_grid[i]]);
    }
    return sum;
}

// Returns the number of the side of an omni light that a direction leaves through: right, left,
// ahead, back, above, below.
fn cube_side(direction: vec3f) -> u32 {
    let along = abs(direction);
    if along.x >= along.y && along.x >= along.z {
        return select(0u, 1u, direction.x < 0.0);
    }
    if along.y >= along.z {
        return select(2u, 3u, direction.y < 0.0);
    }
    return select(4u, 5u, direction.z < 0.0);
}

// Returns the unshadowed fraction of the light: nine samples of four texels each, without those of
// other tiles.
fn tile_arrives(tile: vec4f, at: vec3f) -> f32 {
    let texel = view.shadow.y;
    let first = tile.xy + 0.5 * texel;
    let last = tile.xy + tile.z - 0.5 * texel;
    let middle = tile.xy + at.xy * tile.z;
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let uv = clamp(middle + vec2f(f32(x), f32(y)) * texel, first, last);
            sum += textureSampleCompareLevel(shadow_atlas, compare, uv, at.z);
        }
    }
    return sum / 9.0;
}

fn lamp_arrives(lit: Lit, towards: vec3f, metres: f32, light: Light) -> f32 {
    let point = off_surface(lit, towards, light.texel * light.bias * metres);
    var index = u32(light.shadow);
    if light.cone_scale == 0.0 {
        index += cube_side(point - light.position);
    }
    let tile = shadow_tiles[index];
    let clip = tile.to_clip * vec4f(point, 1.0);
    let at = on_map(clip);
    let beyond = clip.w <= 0.0 || any(at.xy < vec2f(0.0)) || any(at.xy > vec2f(1.0));
    if beyond {
        return 1.0;
    }
    return tile_arrives(tile.rectangle, at);
}

// Returns the light of an omni or spot light. It falls off by the inverse square, and to 0 at its
// range (Karis, "Real Shading in Unreal Engine 4", 2013; KHR_lights_punctual has the cone).
fn local_light(lit: Lit, light: Light) -> vec3f {
    let way = light.position - lit.world;
    let square = dot(way, way);
    let rest = square * light.falloff;
    if rest >= 1.0 {
        return vec3f(0.0);
    }
    if (light.layers & ~lit.excluded & 255u) == 0u {
        return vec3f(0.0);
    }
    let metres = sqrt(square);
    let towards = way / max(metres, 1e-4);
    let window = 1.0 - rest * rest;
    let facing = dot(-towards, light.direction);
    let cone = clamp(facing * light.cone_scale + light.cone_offset, 0.0, 1.0);
    var strength = window * window * cone * cone / max(square, 1e-4);
    if strength <= 0.0 {
        return vec3f(0.0);
    }
    if light.shadow >= 0.0 {
        strength *= lamp_arrives(lit, towards, metres, light);
    }
    var color = light.color * strength;
    if light.layers > 255u {
        color *= light_texture((light.layers >> 8u) * 64u, towards);
    }
    return send(lit, towards, color);
}
