// Omni and spot lights: those of the cluster that a pixel is in (scene/clusters.rs), with their
// shadows. mesh.wgsl includes this.

// Number of clusters across, down and ahead; bits of a cluster's word that hold its count.
const CLUSTER_COLUMNS: u32 = 16u;
const CLUSTER_ROWS: u32 = 9u;
const CLUSTER_SLICES: u32 = 24u;
const CLUSTER_COUNT_BITS: u32 = 13u;

struct Light {
    position: vec3f,
    falloff: f32,
    color: vec3f,
    shadow: f32,
    direction: vec3f,
    cone_scale: f32,
    cone_offset: f32,
    texel: f32,
    // Shadow bias, the distance of its shadows from their casters.
    bias: f32,
    spare: f32,
}

@group(0) @binding(4) var spot_maps: texture_depth_2d_array;
@group(0) @binding(8) var<storage, read> lights: array<Light>;
@group(0) @binding(9) var<storage, read> light_grid: array<u32>;

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

fn spot_arrives(lit: Lit, towards: vec3f, metres: f32, light: Light) -> f32 {
    let layer = u32(light.shadow);
    let point = off_surface(lit, towards, light.texel * light.bias * metres);
    let clip = view.spots[layer] * vec4f(point, 1.0);
    let at = on_map(clip);
    let beyond = clip.w <= 0.0 || any(at.xy < vec2f(0.0)) || any(at.xy > vec2f(1.0));
    if beyond {
        return 1.0;
    }
    return arrives(spot_maps, at, layer, view.shadow.y);
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
        strength *= spot_arrives(lit, towards, metres, light);
    }
    return send(lit, towards, light.color * strength);
}
