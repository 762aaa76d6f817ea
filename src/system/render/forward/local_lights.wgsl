// Omni and spot lights on surfaces, with their shadows. mesh.wgsl includes this.

#include "light_reach.wgsl"

// Returns the light of all omni and spot lights.
fn local_lights(lit: Lit) -> vec3f {
    var sum = vec3f(0.0);
    let list = lights_at(lit.world, lit.pixel);
    for (var i = list.first; i < list.end; i++) {
        sum += local_light(lit, lights[view.cluster_begin.y + light_grid[i]]);
    }
    return sum;
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
    if source_radius(light) > 0.0 {
        return soft_lamp_arrives(lit, towards, metres, point, light);
    }
    return hard_lamp_arrives(point, light);
}

// Returns the unshadowed fraction of a light without a size.
fn hard_lamp_arrives(point: vec3f, light: Light) -> f32 {
    let on = on_tile(point, light);
    if on.is_beyond {
        return 1.0;
    }
    return tile_arrives(on.rectangle, on.at);
}

// Returns the light of an omni or spot light that a surface reflects.
fn local_light(lit: Lit, light: Light) -> vec3f {
    let reach = reach_of(lit.world, light);
    if reach.strength <= 0.0 || (light.layers & ~lit.excluded & 255u) == 0u {
        return vec3f(0.0);
    }
    var open = 1.0;
    if light.shadow >= 0.0 {
        open = lamp_arrives(lit, reach.towards, reach.metres, light);
    }
    if light.source.w != 0.0 {
        return send_area(lit, light, reach) * open;
    }
    let color = light.color * (reach.strength * open) * lamp_tint(light, reach);
    if is_flat(light) {
        return send_flat(lit, light, reach) * color;
    }
    return send(lit, reach.towards, color);
}

// Returns the part of a flat light that a surface reflects. Only a normal texture has directions.
fn send_flat(lit: Lit, light: Light, reach: Reach) -> vec3f {
    if !lit.has_slopes {
        return lit.diffuse;
    }
    let way = reach.towards * reach.metres + lit.flat_normal * light.source.y;
    let facing = dot(lit.normal, way) * inverseSqrt(max(dot(way, way), 1e-8));
    return lit.diffuse * clamp(facing, 0.0, 1.0);
}
