// The normal of the surface at a pixel, from the depth of its neighbours.

@group(0) @binding(2) var depth: texture_2d<f32>;

// Returns the difference along one axis to the neighbour that continues the surface better.
fn slope(here: vec3f, at: vec2i, by: vec2i) -> vec3f {
    var best = vec3f(0.0);
    var best_jump = 3.4e38;
    for (var side = -1; side <= 1; side += 2) {
        let next = at + by * side;
        if !is_inside(next) {
            continue;
        }
        let there = textureLoad(depth, next, 0).r;
        if there >= 1.0 {
            continue;
        }
        let way = (view_position(vec2f(next) + 0.5, there) - here) * f32(side);
        // The next but one: a plane has a straight depth.
        let further = inside(next + by * side);
        let beyond = textureLoad(depth, further, 0).r;
        let own = textureLoad(depth, at, 0).r;
        let jump = abs(own - 2.0 * there + beyond);
        if jump < best_jump {
            best_jump = jump;
            best = way;
        }
    }
    return best;
}

// Returns the normal of the surface in view space, towards the camera.
fn surface_normal(here: vec3f, at: vec2i, back: vec3f) -> vec3f {
    let across = slope(here, at, vec2i(1, 0));
    let down = slope(here, at, vec2i(0, 1));
    let normal = cross(down, across);
    let square = dot(normal, normal);
    if !(square > 1e-30) {
        return back;
    }
    let unit = normal * inverseSqrt(square);
    return select(unit, -unit, dot(unit, back) < 0.0);
}
