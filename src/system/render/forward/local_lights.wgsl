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
    if is_flat(light) {
        return flat_tile_arrives(on.rectangle, on.at);
    }
    return tile_arrives(on.rectangle, on.at);
}

// Returns four depths of a row of a tile.
fn depth_row(texel: vec2i, first: vec2i, last: vec2i) -> vec4f {
    return vec4f(
        textureLoad(shadow_atlas, clamp(texel, first, last), 0),
        textureLoad(shadow_atlas, clamp(texel + vec2i(1, 0), first, last), 0),
        textureLoad(shadow_atlas, clamp(texel + vec2i(2, 0), first, last), 0),
        textureLoad(shadow_atlas, clamp(texel + vec2i(3, 0), first, last), 0),
    );
}

// Returns the unshadowed fraction of a flat light: nine samples between texels. Walls stand on the
// surface that the light lies in, and may be nearly parallel to it, so their depths can differ by
// any amount from texel to texel. Between texels they are interpolated, and each sample is the mean
// over the width of a texel: a wall casts its shadow along a line, and not in steps.
fn flat_tile_arrives(tile: vec4f, at: vec3f) -> f32 {
    let texels = tile.xyz / view.shadow.y;
    let first = vec2i(round(texels.xy));
    let last = first + i32(round(texels.z)) - 1;
    let middle = texels.xy + at.xy * texels.z - 0.5;
    let corner = vec2i(floor(middle)) - 1;
    let part = fract(middle);
    var above = depth_row(corner, first, last);
    var sum = vec3f(0.0);
    for (var y = 1; y <= 3; y++) {
        let below = depth_row(corner + vec2i(0, y), first, last);
        let row = mix(above, below, part.y);
        let depth = mix(row.xyz, row.yzw, part.x);
        let rise = below - above;
        let slope = abs(row.yzw - row.xyz) + abs(mix(rise.xyz, rise.yzw, part.x));
        let ahead = (depth - at.z) / max(slope, vec3f(1e-7));
        sum += clamp(ahead + 0.5, vec3f(0.0), vec3f(1.0));
        above = below;
    }
    return dot(sum, vec3f(1.0 / 9.0));
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
