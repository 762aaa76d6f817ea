// Decals: boxes that project pictures onto opaque surfaces. Those of the cluster that a pixel is in
// are read from the grid of the lights (scene/decals.rs). mesh.wgsl includes this.

// True if the view has decals, and the surface is opaque.
override DECALS: bool = false;

const DECAL_SIDE: f32 = 256.0;
const DECAL_HEADER_WORDS: u32 = 4u;
const DECAL_RECORD_WORDS: u32 = 28u;

// Layers with the textures of all decals. Colors are square roots of linear light.
@group(0) @binding(17) var decal_images: texture_2d_array<f32>;

fn decal_numbers(at: u32) -> vec4f {
    let low = vec2u(light_grid[at], light_grid[at + 1u]);
    return bitcast<vec4f>(vec4u(low, light_grid[at + 2u], light_grid[at + 3u]));
}

// Returns the index of the cluster of a pixel. `begin`: the header of the view's decals.
fn decal_cluster(pixel: vec2f, world: vec3f, begin: u32) -> u32 {
    let ahead = dot(world - view.eye.xyz, view.ahead.xyz);
    let depth = select(ahead, log2(max(ahead, 1e-6)), view.eye.w > 0.5);
    let slice = depth * bitcast<f32>(light_grid[begin]) + bitcast<f32>(light_grid[begin + 1u]);
    let most = vec3u(CLUSTER_COLUMNS, CLUSTER_ROWS, CLUSTER_SLICES) - 1u;
    let at = vec3f(pixel * view.cluster_scale.xy, slice);
    let cell = vec3u(clamp(at, vec3f(0.0), vec3f(most)));
    return (cell.z * CLUSTER_ROWS + cell.y) * CLUSTER_COLUMNS + cell.x;
}

// A point on a layer, and how it changes from pixel to pixel.
struct DecalPoint {
    uv: vec2f,
    across: vec2f,
    down: vec2f,
}

// Returns a texel of a layer, counted from 1. Layers end at their edges on each mip level.
fn decal_texel(point: DecalPoint, layer: u32) -> vec4f {
    let widest = max(max(abs(point.across), abs(point.down)), vec2f(1.0 / DECAL_SIDE));
    let edge = min(0.5 * max(widest.x, widest.y), 0.5);
    let uv = clamp(point.uv, vec2f(edge), vec2f(1.0 - edge));
    let at = i32(layer) - 1;
    return textureSampleGrad(decal_images, sky_maps_sampler, uv, at, point.across, point.down);
}

// Returns a surface with the decals that are projected onto it. `across` and `down`: the change of
// the position from pixel to pixel.
fn with_decals(
    in: Point,
    flat_normal: vec3f,
    across: vec3f,
    down: vec3f,
    surface: SurfaceOut,
) -> SurfaceOut {
    var out = surface;
    if hidden_count(view.cluster_begin.w) == 0u {
        return out;
    }
    let begin = view.cluster_begin.w - 1u;
    let clusters = begin + DECAL_HEADER_WORDS;
    let word = light_grid[clusters + decal_cluster(in.clip.xy, in.world, begin)];
    let count = word & ((1u << CLUSTER_COUNT_BITS) - 1u);
    let entries = clusters + CLUSTER_COLUMNS * CLUSTER_ROWS * CLUSTER_SLICES;
    let first = entries + (word >> CLUSTER_COUNT_BITS);
    let records = begin + light_grid[begin + 2u];
    let excluded = in.surface >> SURFACE_INDEX_BITS;
    for (var i = first; i < first + count; i++) {
        let record = records + light_grid[i] * DECAL_RECORD_WORDS;
        let rows = mat3x4f(
            decal_numbers(record),
            decal_numbers(record + 4u),
            decal_numbers(record + 8u),
        );
        let at = vec4f(in.world, 1.0) * rows;
        // Numbers that are NaN are outside, too.
        let is_outside = !all(abs(at) <= vec3f(1.0));
        if is_outside || (light_grid[record + 23u] & ~excluded & 255u) == 0u {
            continue;
        }
        let tint = decal_numbers(record + 12u);
        let fade = decal_numbers(record + 16u);
        let ahead = normalize(rows[1].xyz);
        let facing = dot(flat_normal, -ahead);
        let opacity = tint.a * clamp(facing * fade.x + fade.y, 0.0, 1.0);
        if !(opacity > 0.0) {
            continue;
        }
        let strengths = decal_numbers(record + 20u).xy;
        let layers = light_grid[record + 22u];
        let turn = vec2f(0.5, -0.5);
        var point: DecalPoint;
        point.uv = at.xz * turn + 0.5;
        point.across = vec2f(dot(rows[0].xyz, across), dot(rows[2].xyz, across)) * turn;
        point.down = vec2f(dot(rows[0].xyz, down), dot(rows[2].xyz, down)) * turn;
        // Premultiplied, as all textures.
        var color = vec4f(1.0);
        if (layers & 255u) != 0u {
            let texel = decal_texel(point, layers & 255u);
            color = vec4f(texel.rgb * texel.rgb, texel.a);
        }
        let covered = color.a * opacity;
        let painted = covered * strengths.x;
        let base = out.base_color * (1.0 - painted);
        out.base_color = base + color.rgb * tint.rgb * (opacity * strengths.x);
        // Paint on metal is no metal.
        out.metallic *= 1.0 - painted;
        if fade.z >= 0.0 {
            var roughness = fade.z;
            if extractBits(layers, 16u, 8u) != 0u {
                roughness *= decal_texel(point, extractBits(layers, 16u, 8u)).g;
            }
            out.roughness = mix(out.roughness, clamp(roughness, 0.0, 1.0), covered);
        }
        if extractBits(layers, 8u, 8u) != 0u {
            let slope = decal_texel(point, extractBits(layers, 8u, 8u)).xyz * 2.0 - 1.0;
            let right = normalize(rows[0].xyz) * slope.x;
            let up = normalize(rows[2].xyz) * slope.y;
            let bent = flat_normal * max(slope.z, 0.0) + (right + up) * strengths.y;
            let normal = mix(out.normal, bent, covered);
            out.normal = select(out.normal, normalize(normal), dot(normal, normal) > 1e-8);
        }
        if fade.w > 0.0 {
            var glow = color.rgb * tint.rgb;
            if extractBits(layers, 24u, 8u) != 0u {
                let texel = decal_texel(point, extractBits(layers, 24u, 8u));
                glow = texel.rgb * texel.rgb;
            }
            out.emissive += kept(glow * fade.w) * opacity;
        }
    }
    return out;
}
