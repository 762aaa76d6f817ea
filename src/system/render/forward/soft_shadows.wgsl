// Shadows of lights with a size: Fernando, "Percentage-Closer Soft Shadows", 2005. The objects that
// cast the shadow of a point are looked for in the shadow map, and their distance gives the width
// in which the map is filtered. It follows lighting.wgsl.
//
// Samples lie on the surface at the point, as the light shows it, so that the surface does not
// shadow itself. Objects are looked for twice, the second time in the width that was found first,
// so the shadow of a high object is narrow at its foot.

// Number of samples that look for objects once, and of those that filter.
const CASTER_SAMPLES: u32 = 16u;
const FILTER_SAMPLES: u32 = 32u;
// The largest radius of an edge: in radii of a lamp's source; as a part of the distance to it; of a
// sun, as a part of its map.
const SOFT_RADII: f32 = 4.0;
const SOFT_REACH: f32 = 0.25;
const SOFT_MAP_PART: f32 = 0.1;
// The smallest radius, in texels: that of a light without a size.
const SOFT_TEXELS: f32 = 1.5;

// Directions on a surface that a light shows as one metre to its right, and upwards.
struct Spread {
    right: vec3f,
    up: vec3f,
}

fn spread_of(lit: Lit, towards: vec3f) -> Spread {
    let axis = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 0.0, 1.0), abs(towards.z) < 0.7);
    let right = normalize(cross(axis, towards));
    let up = cross(towards, right);
    // A surface that the light hardly reaches would be longer without end.
    let facing = max(dot(lit.flat_normal, towards), 0.1);
    let right_rise = dot(right, lit.flat_normal) / facing;
    let up_rise = dot(up, lit.flat_normal) / facing;
    return Spread(right - towards * right_rise, up - towards * up_rise);
}

// Returns a sample of a disc with a radius of 1: Vogel, "A Better Way to Construct the Sunflower
// Head", 1979.
fn on_disc(number: f32, count: f32, turn: f32) -> vec2f {
    let angle = number * 2.3999632 + turn;
    return vec2f(cos(angle), sin(angle)) * sqrt(number / count);
}

// Returns the radius of a lamp's source; 0: its shadows are not soft.
fn source_radius(light: Light) -> f32 {
    return select(light.source.x, light.cone_offset, light.source.w != 0.0);
}

// Returns the angle by which the samples of a pixel are turned, from interleaved gradient noise:
// Jimenez, "Next Generation Post Processing in Call of Duty: Advanced Warfare", 2014.
fn turn_of(pixel: vec2f) -> f32 {
    return 6.2831853 * fract(52.9829189 * fract(dot(floor(pixel), vec2f(0.06711056, 0.00583715))));
}

// Returns a position in the shadow atlas, within the tile.
fn in_tile(on: TilePoint) -> vec2f {
    let texel = view.shadow.y;
    let first = on.rectangle.xy + 0.5 * texel;
    let last = on.rectangle.xy + on.rectangle.z - 0.5 * texel;
    return clamp(on.rectangle.xy + on.at.xy * on.rectangle.z, first, last);
}

// Returns the metres ahead of a lamp for a depth in its map.
fn lamp_metres(depth: f32, near: f32, far: f32) -> f32 {
    return near * far / max(far - depth * (far - near), 1e-6);
}

// Returns the mean radius of the edges of the shadows that reach a point; below 0: nothing casts
// one.
fn lamp_edge(point: vec3f, spread: Spread, light: Light, search: f32, turn: f32) -> f32 {
    let far = inverseSqrt(abs(light.falloff));
    var sum = 0.0;
    var count = 0.0;
    for (var i = 0u; i < CASTER_SAMPLES; i++) {
        let disc = on_disc(f32(i), f32(CASTER_SAMPLES), turn) * search;
        let on = on_tile(point + spread.right * disc.x + spread.up * disc.y, light);
        if on.is_beyond {
            continue;
        }
        let known = textureLoad(shadow_atlas, vec2i(in_tile(on) / view.shadow.y), 0);
        let caster = lamp_metres(known, on.rectangle.w, far);
        let metres = lamp_metres(on.at.z, on.rectangle.w, far);
        let radius = source_radius(light) * (metres - caster) / max(caster, 1e-4);
        if known < on.at.z {
            sum += radius;
            count += 1.0;
        }
    }
    return select(-1.0, sum / count, count > 0.0);
}

// Returns the unshadowed fraction of the light of a lamp with a size. `point` is off the surface.
fn soft_lamp_arrives(lit: Lit, towards: vec3f, metres: f32, point: vec3f, light: Light) -> f32 {
    let spread = spread_of(lit, towards);
    let turn = turn_of(lit.pixel);
    let texel = light.texel * metres;
    let most = min(source_radius(light) * SOFT_RADII, metres * SOFT_REACH);
    let least = SOFT_TEXELS * texel;
    let wide = lamp_edge(point, spread, light, most, turn);
    if wide < 0.0 {
        return hard_lamp_arrives(point, light);
    }
    let narrow = lamp_edge(point, spread, light, clamp(wide, least, max(most, least)), turn);
    let radius = clamp(select(wide, narrow, narrow >= 0.0), least, max(most, least));
    var sum = 0.0;
    for (var i = 0u; i < FILTER_SAMPLES; i++) {
        let disc = on_disc(f32(i) + 0.5, f32(FILTER_SAMPLES), turn) * radius;
        let on = on_tile(point + spread.right * disc.x + spread.up * disc.y, light);
        if on.is_beyond {
            sum += 1.0;
        } else {
            sum += textureSampleCompareLevel(shadow_atlas, compare, in_tile(on), on.at.z);
        }
    }
    return sum / f32(FILTER_SAMPLES);
}

// As `lamp_edge`, for the map of one cascade. `depth_metres`: metres of a depth of 1.
fn sun_edge(
    point: vec3f,
    spread: Spread,
    layer: u32,
    search: f32,
    depth_metres: f32,
    turn: f32,
) -> f32 {
    let last = vec2i(textureDimensions(sun_maps)) - 1;
    var sum = 0.0;
    var count = 0.0;
    for (var i = 0u; i < CASTER_SAMPLES; i++) {
        let disc = on_disc(f32(i), f32(CASTER_SAMPLES), turn) * search;
        let moved = point + spread.right * disc.x + spread.up * disc.y;
        let at = on_map(view.cascades[layer] * vec4f(moved, 1.0));
        let texel = clamp(vec2i(floor(at.xy / view.shadow.x)), vec2i(0), last);
        let known = textureLoad(sun_maps, texel, layer, 0);
        if known < at.z {
            sum += view.right.w * (at.z - known) * depth_metres;
            count += 1.0;
        }
    }
    return select(-1.0, sum / count, count > 0.0);
}

// Returns the unshadowed fraction of the light of a sun with a size, by the map of one cascade.
fn soft_cascade_arrives(lit: Lit, towards: vec3f, point: vec3f, layer: u32) -> f32 {
    let project = view.cascades[layer];
    let depth_metres = 1.0 / length(vec3f(project[0].z, project[1].z, project[2].z));
    let at = on_map(project * vec4f(point, 1.0));
    let spread = spread_of(lit, towards);
    let turn = turn_of(lit.pixel);
    let texel = view.cascade_texels[layer];
    let map_metres = texel / view.shadow.x;
    let most = min(view.right.w * max(at.z, 0.0) * depth_metres, map_metres * SOFT_MAP_PART);
    let least = SOFT_TEXELS * texel;
    let wide = sun_edge(point, spread, layer, most, depth_metres, turn);
    if wide < 0.0 {
        return hard_cascade_arrives(point, layer);
    }
    let search = clamp(wide, least, max(most, least));
    let narrow = sun_edge(point, spread, layer, search, depth_metres, turn);
    let radius = clamp(select(wide, narrow, narrow >= 0.0), least, max(most, least));
    var sum = 0.0;
    for (var i = 0u; i < FILTER_SAMPLES; i++) {
        let disc = on_disc(f32(i) + 0.5, f32(FILTER_SAMPLES), turn) * radius;
        let moved = point + spread.right * disc.x + spread.up * disc.y;
        let there = on_map(project * vec4f(moved, 1.0));
        sum += textureSampleCompareLevel(sun_maps, compare, there.xy, layer, there.z);
    }
    return sum / f32(FILTER_SAMPLES);
}
