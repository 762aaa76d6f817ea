// Debug views of surfaces: the end of mesh.wgsl in pipelines that show values instead of light.

#include "debug_values.wgsl"

// Returns the color of a cascade of the sun's shadow maps.
fn cascade_color(at: vec3f) -> vec3f {
    let ahead = dot(at - view.eye.xyz, view.ahead.xyz);
    let count = hidden_count(view.counts.z);
    var layer = 0u;
    while layer < count && ahead >= view.cascade_ends[layer] {
        layer++;
    }
    if layer >= count {
        return vec3f(0.5);
    }
    let colors = array(
        vec3f(1.0, 0.25, 0.25),
        vec3f(0.25, 1.0, 0.25),
        vec3f(0.3, 0.4, 1.0),
        vec3f(1.0, 1.0, 0.25),
    );
    return colors[min(layer, 3u)];
}

// Returns the number of lights of a pixel's cluster.
fn cluster_lights(pixel: vec2f, world: vec3f) -> u32 {
    if hidden_count(view.counts.y) == 0u {
        return 0u;
    }
    var lit: Lit;
    lit.pixel = pixel;
    lit.world = world;
    let word = light_grid[view.cluster_begin.x + cluster_at(lit.world, lit.pixel)];
    return word & ((1u << CLUSTER_COUNT_BITS) - 1u);
}

// Returns the color of a surface in the debug view. With an alpha of 0, colors are added up.
fn debug_color(in: Point, surface: Surface, out: SurfaceOut) -> vec4f {
    let size = vec2f(textureDimensions(base_color_texture));
    let across = dpdx(in.uv) * size;
    let down = dpdy(in.uv) * size;
    if MASK && out.alpha < surface.cutoff {
        discard;
    }
    let facing = abs(dot(out.normal, normalize(view.eye.xyz - in.world)));
    var color = as_bytes(vec3f(facing * 0.5));
    switch debug_view() {
        case DEBUG_ALBEDO: {
            color = out.base_color;
        }
        case DEBUG_NORMALS: {
            color = as_bytes(out.normal * 0.5 + 0.5);
        }
        case DEBUG_ROUGHNESS: {
            color = as_bytes(vec3f(out.roughness));
        }
        case DEBUG_METALLIC: {
            color = as_bytes(vec3f(out.metallic));
        }
        case DEBUG_OCCLUSION: {
            var open = out.occlusion;
            if (view.counts.w & SCREEN_OCCLUSION) != 0u && (surface.flags.x & SEEN_THROUGH) == 0u {
                open *= screen_open(in.clip.xy).r;
            }
            color = as_bytes(vec3f(open));
        }
        case DEBUG_MIP_LEVEL: {
            let level = 0.5 * log2(max(max(dot(across, across), dot(down, down)), 1e-12));
            let last = f32(textureNumLevels(base_color_texture)) - 1.0;
            // Texels that are larger than a pixel are dark.
            let dark = clamp(1.0 + level * 0.25, 0.1, 1.0);
            color = heat(clamp(level, 0.0, last) / 8.0) * dark;
        }
        case DEBUG_LIGHT_COUNT: {
            let count = cluster_lights(in.clip.xy, in.world);
            color = select(heat(f32(count) / 16.0), vec3f(0.0), count == 0u);
        }
        case DEBUG_CASCADES: {
            color = as_bytes(cascade_color(in.world) * (0.4 + 0.6 * facing));
        }
        case DEBUG_OVERDRAW: {
            return vec4f(1.0, 0.0, 0.0, 0.0);
        }
        case DEBUG_MOTION_VECTORS: {
            color = as_bytes(vec3f(0.5));
        }
        default: {}
    }
    return vec4f(kept(max(color, vec3f(0.0))), 1.0);
}
