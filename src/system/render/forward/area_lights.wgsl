// The light of rectangles and ellipses that surfaces reflect: Heitz, Dupuy, Hill and Neubelt,
// "Real-Time Polygonal-Light Shading with Linearly Transformed Cosines", 2016. A matrix from a
// table turns the lobe of a surface into one of cosines, whose integral over a polygon is known.
// The table is among the clusters, in frames with such lights only. It follows lobes.wgsl.

// Number of rows (roughness) and columns (directions) of the table.
const AREA_TABLE_SIDE: u32 = 32u;
// An ellipse is a polygon with this number of corners and with its area: they are outside of it by
// this factor.
const ELLIPSE_CORNERS: u32 = 16u;
const ELLIPSE_REACH: f32 = 1.0130;

// An entry of the table: four numbers of the matrix, in the rows x and z and the columns x and z,
// while its middle is 1; the light that a white mirror reflects; the part of Schlick's term.
struct AreaLobe {
    to_cosines: vec4f,
    scale: vec2f,
}

const COSINES: vec4f = vec4f(1.0, 0.0, 0.0, 1.0);

// Axes at a point: the normal, and the direction to the camera along the surface.
struct AreaAxes {
    along: vec3f,
    across: vec3f,
    normal: vec3f,
}

fn area_axes(normal: vec3f, back: vec3f) -> AreaAxes {
    let level = back - normal * dot(back, normal);
    let square = dot(level, level);
    let axis = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 0.0, 1.0), abs(normal.z) < 0.7);
    let along = select(normalize(cross(axis, normal)), level * inverseSqrt(square), square > 1e-10);
    return AreaAxes(along, cross(normal, along), normal);
}

fn area_entry(begin: u32, column: u32, row: u32) -> AreaLobe {
    let at = begin + (row * AREA_TABLE_SIDE + column) * 6u;
    let to_cosines = bitcast<vec4f>(vec4u(
        light_grid[at],
        light_grid[at + 1u],
        light_grid[at + 2u],
        light_grid[at + 3u],
    ));
    let scale = bitcast<vec2f>(vec2u(light_grid[at + 4u], light_grid[at + 5u]));
    return AreaLobe(to_cosines, scale);
}

fn between_lobes(a: AreaLobe, b: AreaLobe, part: f32) -> AreaLobe {
    return AreaLobe(mix(a.to_cosines, b.to_cosines, part), mix(a.scale, b.scale, part));
}

// Returns the lobe of a surface, between four entries.
fn area_lobe(light: Light, roughness: f32, n_dot_v: f32) -> AreaLobe {
    let begin = (light.layers >> 8u) * 64u;
    let column = sqrt(clamp(1.0 - n_dot_v, 0.0, 1.0));
    let at = vec2f(column, clamp(roughness, 0.0, 1.0)) * f32(AREA_TABLE_SIDE - 1u);
    let first = min(vec2u(at), vec2u(AREA_TABLE_SIDE - 2u));
    let part = at - vec2f(first);
    let smooth_pair = between_lobes(
        area_entry(begin, first.x, first.y),
        area_entry(begin, first.x + 1u, first.y),
        part.x,
    );
    let rough_pair = between_lobes(
        area_entry(begin, first.x, first.y + 1u),
        area_entry(begin, first.x + 1u, first.y + 1u),
        part.x,
    );
    return between_lobes(smooth_pair, rough_pair, part.y);
}

// Returns a corner of a light, from the point.
fn area_corner(light: Light, from_point: vec3f, up: vec3f, index: u32) -> vec3f {
    if light.source.w < 0.0 {
        let turn = f32(index) * (6.2831853 / f32(ELLIPSE_CORNERS));
        let at = vec2f(cos(turn), sin(turn)) * ELLIPSE_REACH;
        return from_point + light.source.xyz * at.x + up * at.y;
    }
    let x = select(-1.0, 1.0, index == 1u || index == 2u);
    return from_point + light.source.xyz * x + up * select(-1.0, 1.0, index >= 2u);
}

fn unit_or_zero(way: vec3f) -> vec3f {
    return way * inverseSqrt(max(dot(way, way), 1e-24));
}

// Returns the integral of the cosines along an edge of a polygon, times twice pi: Lambert,
// "Photometria", 1760.
fn area_edge(begin: vec3f, end: vec3f) -> f32 {
    let a = unit_or_zero(begin);
    let b = unit_or_zero(end);
    let turn = cross(a, b);
    let sine = length(turn);
    let part = select(1.0, atan2(sine, dot(a, b)) / max(sine, 1e-9), sine > 1e-6);
    return turn.z * part;
}

// Returns the part of a lobe that a light fills. What is below the horizon of the lobe is cut off.
fn area_part(lit: Lit, light: Light, up: vec3f, axes: AreaAxes, to_cosines: vec4f) -> f32 {
    let from_point = light.position - lit.world;
    let count = select(4u, ELLIPSE_CORNERS, light.source.w < 0.0);
    var sum = 0.0;
    var before = vec3f(0.0);
    var leaves = vec3f(0.0);
    var enters = vec3f(0.0);
    var is_cut = false;
    for (var i = 0u; i <= count; i++) {
        let corner = area_corner(light, from_point, up, i % count);
        let at = vec3f(dot(axes.along, corner), dot(axes.across, corner), dot(axes.normal, corner));
        let x = dot(to_cosines.xy, at.xz);
        let here = vec3f(x, at.y, dot(to_cosines.zw, at.xz));
        if i > 0u && (before.z > 0.0 || here.z > 0.0) {
            var begin = before;
            var end = here;
            if (before.z > 0.0) != (here.z > 0.0) {
                is_cut = true;
                let cut = before + (here - before) * (before.z / (before.z - here.z));
                if before.z > 0.0 {
                    end = vec3f(cut.xy, 0.0);
                    leaves = end;
                } else {
                    begin = vec3f(cut.xy, 0.0);
                    enters = begin;
                }
            }
            sum += area_edge(begin, end);
        }
        before = here;
    }
    if is_cut {
        sum += area_edge(leaves, enters);
    }
    return abs(sum) / 6.2831853;
}

// Returns the light of a rectangle or an ellipse that a surface reflects.
fn send_area(lit: Lit, light: Light, reach: Reach) -> vec3f {
    let up = unit_or_zero(cross(light.source.xyz, light.direction)) * abs(light.source.w);
    let light_color = light.color * (reach.window * 3.1415927 / area_of(light));
    let axes = area_axes(lit.normal, lit.back);
    let matte = area_part(lit, light, up, axes, COSINES);
    let h = normalize(reach.towards + lit.back);
    let grazing = pow(1.0 - clamp(dot(reach.towards, h), 0.0, 1.0), 5.0);
    if LOBES {
        let n_dot_h = clamp(dot(lit.normal, h), 0.0, 1.0);
        return send_area_lobes(lit, light, up, axes, matte, grazing, n_dot_h, reach) * light_color;
    }
    let lobe = area_lobe(light, sqrt(lit.alpha), lit.n_dot_v);
    let shine = area_part(lit, light, up, axes, lobe.to_cosines);
    let mirrored_part = lit.f0 * lobe.scale.x + (1.0 - lit.f0) * lobe.scale.y;
    let fresnel = lit.f0 + (1.0 - lit.f0) * grazing;
    return (lit.diffuse * (1.0 - fresnel) * matte + mirrored_part * shine) * light_color;
}

// As `send_area`, for surfaces with more lobes. Sheen is that of a light at the center, and brushed
// surfaces are as rough in all directions.
fn send_area_lobes(
    lit: Lit,
    light: Light,
    up: vec3f,
    axes: AreaAxes,
    matte: f32,
    grazing: f32,
    n_dot_h: f32,
    reach: Reach,
) -> vec3f {
    let lobes = lit.lobes;
    let alpha = sqrt(lobes.along_alpha * lobes.across_alpha);
    let lobe = area_lobe(light, sqrt(alpha), lit.n_dot_v);
    let shine = area_part(lit, light, up, axes, lobe.to_cosines);
    let edge = vec3f(lobes.f90) - lit.f0;
    let fresnel = lit.f0 + edge * grazing;
    let n_dot_l = clamp(dot(lit.normal, reach.towards), 0.0, 1.0);
    var sum = lit.diffuse * (1.0 - largest(fresnel)) * matte;
    sum += (lit.f0 * lobe.scale.x + edge * lobe.scale.y) * shine;
    sum *= min(under_sheen(lobes, lit.n_dot_v), under_sheen(lobes, n_dot_l));
    sum += sheen_of(lit, n_dot_h, n_dot_l) * matte;
    if lobes.coat <= 0.0 {
        return sum;
    }
    let coat_v = max(abs(dot(lit.flat_normal, lit.back)), 1e-4);
    let coat_axes = area_axes(lit.flat_normal, lit.back);
    let coat = area_lobe(light, sqrt(lobes.coat_alpha), coat_v);
    let coated = area_part(lit, light, up, coat_axes, coat.to_cosines);
    let coat_part = 0.04 * coat.scale.x + 0.96 * coat.scale.y;
    return sum * (1.0 - lobes.coat * coat_fresnel(coat_v)) + lobes.coat * coat_part * coated;
}
