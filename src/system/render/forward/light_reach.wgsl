// The lights that reach a point, and the shadow maps that it lies in: suns, and the omni and spot
// lights of the cluster that it is in (scene/clusters.rs). Knows no surfaces.

// Number of slices of clusters; bits of a cluster's word that hold its count.
const CLUSTER_SLICES: u32 = 24u;
const CLUSTER_COUNT_BITS: u32 = 13u;

struct Light {
    position: vec3f,
    // 1 divided by the square of its range; of a flat light, the opposite number.
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
    // of 64 words. 0: it has none. Of a rectangle or an ellipse: where the table begins.
    layers: u32,
    // x: radius of its source in metres, for soft shadows; 0: they are not soft. y: height of a
    // flat light in front of surfaces with a normal texture. w is 0. Of a
    // rectangle: from its center to its right side, and half its height, which is below 0 for an
    // ellipse; `cone_offset` is the radius.
    source: vec4f,
}

// The shadow map of a spot, or of one of the six sides of an omni light.
struct ShadowTile {
    to_clip: mat4x4f,
    // Left, top and side in the atlas, from 0 to 1; the near distance of the map in metres.
    rectangle: vec4f,
}

@group(0) @binding(4) var shadow_atlas: texture_depth_2d;
@group(0) @binding(8) var<storage, read> lights: array<Light>;
@group(0) @binding(9) var<storage, read> light_grid: array<u32>;
@group(0) @binding(10) var<storage, read> shadow_tiles: array<ShadowTile>;

#include "light_textures.wgsl"

// Projects a point onto a shadow map: x and y from 0 to 1, y downwards, and its depth.
fn on_map(clip: vec4f) -> vec3f {
    let point = clip.xyz / clip.w;
    return vec3f(point.x * 0.5 + 0.5, 0.5 - point.y * 0.5, point.z);
}

// Returns the cascade of a point; there is none if it is the number of cascades.
fn cascade_at(world: vec3f) -> u32 {
    let ahead = dot(world - view.eye.xyz, view.ahead.xyz);
    var layer = 0u;
    while layer < hidden_count(view.counts.z) && ahead >= view.cascade_ends[layer] {
        layer++;
    }
    return layer;
}

// Returns the unshadowed fraction of the sun's light at a point without a surface, by one sample.
fn sun_open(world: vec3f) -> f32 {
    let layer = cascade_at(world);
    if layer >= hidden_count(view.counts.z) {
        return 1.0;
    }
    let at = on_map(view.cascades[layer] * vec4f(world, 1.0));
    return textureSampleCompareLevel(sun_maps, compare, at.xy, layer, at.z);
}

// The entries in `light_grid` of the lights that may reach a point.
struct LightList {
    first: u32,
    end: u32,
}

// Returns the index of the cluster of a point. `pixel`: where it is on the view's image.
fn cluster_at(world: vec3f, pixel: vec2f) -> u32 {
    let ahead = dot(world - view.eye.xyz, view.ahead.xyz);
    let depth = select(ahead, log2(max(ahead, 1e-6)), view.eye.w > 0.5);
    let slice = depth * view.cluster_scale.z + view.cluster_scale.w;
    let most = vec3u(CLUSTER_COLUMNS, CLUSTER_ROWS, CLUSTER_SLICES) - 1u;
    let at = vec3f(pixel * view.cluster_scale.xy, slice);
    let cell = vec3u(clamp(at, vec3f(0.0), vec3f(most)));
    return (cell.z * CLUSTER_ROWS + cell.y) * CLUSTER_COLUMNS + cell.x;
}

fn lights_at(world: vec3f, pixel: vec2f) -> LightList {
    if hidden_count(view.counts.y) == 0u {
        return LightList(0u, 0u);
    }
    let begin = view.cluster_begin.x;
    let word = light_grid[begin + cluster_at(world, pixel)];
    let count = word & ((1u << CLUSTER_COUNT_BITS) - 1u);
    let clusters = CLUSTER_COLUMNS * CLUSTER_ROWS * CLUSTER_SLICES;
    let first = begin + clusters + (word >> CLUSTER_COUNT_BITS);
    return LightList(first, first + count);
}

// The part of a light that reaches a point, without shadows.
struct Reach {
    // Direction towards the light, and the distance.
    towards: vec3f,
    metres: f32,
    strength: f32,
    // How it ends towards its range, from 1 to 0.
    window: f32,
}

// Returns how an omni or spot light reaches a point. It falls off by the inverse square, and to 0
// at its range (Karis, "Real Shading in Unreal Engine 4", 2013; KHR_lights_punctual has the cone).
// A flat light has only the latter.
fn reach_of(world: vec3f, light: Light) -> Reach {
    let way = light.position - world;
    let square = dot(way, way);
    let rest = square * abs(light.falloff);
    let metres = sqrt(square);
    let towards = way / max(metres, 1e-4);
    if rest >= 1.0 {
        return Reach(towards, metres, 0.0, 0.0);
    }
    let window = 1.0 - rest * rest;
    let facing = dot(-towards, light.direction);
    if light.source.w != 0.0 {
        // As from its center, and no brighter than right in front of it.
        let strength = max(facing, 0.0) / max(square, area_of(light) / 3.1415927);
        return Reach(towards, metres, window * window * strength, window * window);
    }
    let cone = clamp(facing * light.cone_scale + light.cone_offset, 0.0, 1.0);
    let weaker = select(max(square, 1e-4), 1.0, is_flat(light));
    let strength = window * window * cone * cone / weaker;
    return Reach(towards, metres, strength, window * window);
}

// Returns true if a light lights surfaces whatever their direction, for two-dimensional scenes.
fn is_flat(light: Light) -> bool {
    return light.falloff < 0.0;
}

// Returns the square metres of a rectangle or an ellipse that shines.
fn area_of(light: Light) -> f32 {
    let square = length(light.source.xyz) * light.source.w;
    return select(4.0 * square, -3.1415927 * square, square < 0.0);
}

// Returns the part of a light's color that its texture lets through towards a point.
fn lamp_tint(light: Light, reach: Reach) -> vec3f {
    if light.layers > 255u && light.source.w == 0.0 {
        return light_texture((light.layers >> 8u) * 64u, reach.towards);
    }
    return vec3f(1.0);
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

// A point on the shadow map of a light with shadows.
struct TilePoint {
    rectangle: vec4f,
    at: vec3f,
    is_beyond: bool,
}

fn on_tile(point: vec3f, light: Light) -> TilePoint {
    var index = u32(light.shadow);
    if light.cone_scale == 0.0 {
        index += cube_side(point - light.position);
    }
    let tile = shadow_tiles[index];
    let clip = tile.to_clip * vec4f(point, 1.0);
    let at = on_map(clip);
    let is_beyond = clip.w <= 0.0 || any(at.xy < vec2f(0.0)) || any(at.xy > vec2f(1.0));
    return TilePoint(tile.rectangle, at, is_beyond);
}

// Returns the unshadowed fraction of a light at a point without a surface, by one sample.
fn lamp_open(world: vec3f, light: Light) -> f32 {
    if light.shadow < 0.0 {
        return 1.0;
    }
    let on = on_tile(world, light);
    if on.is_beyond {
        return 1.0;
    }
    let half_texel = 0.5 * view.shadow.y;
    let first = on.rectangle.xy + half_texel;
    let last = on.rectangle.xy + on.rectangle.z - half_texel;
    let uv = clamp(on.rectangle.xy + on.at.xy * on.rectangle.z, first, last);
    return textureSampleCompareLevel(shadow_atlas, compare, uv, on.at.z);
}
