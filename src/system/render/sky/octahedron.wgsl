// The mapping between directions and a square: the octahedral one of Cigolle et al., "A Survey of
// Efficient Representations for Independent Unit Vectors", 2014. A map has a border of one texel,
// which repeats the texels beyond its edge, so that linear filtering has no seam.

fn octahedron_sign(at: vec2f) -> vec2f {
    return select(vec2f(-1.0), vec2f(1.0), at >= vec2f(0.0));
}

// Returns the coordinates of a direction in the map of a side length in texels, from 0 to 1.
fn octahedron_uv(direction: vec3f, side: f32) -> vec2f {
    let size = abs(direction.x) + abs(direction.y) + abs(direction.z);
    let upper = direction.xy / max(size, 1e-6);
    let lower = (1.0 - abs(upper.yx)) * octahedron_sign(upper);
    let square = select(upper, lower, direction.z < 0.0);
    return (square * 0.5 + 0.5) * ((side - 2.0) / side) + 1.0 / side;
}

// Returns the point of the octahedron at a position in a map in texels; its direction is that of
// the position.
fn octahedron_point(at: vec2f, side: f32) -> vec3f {
    var square = (at - 1.0) / (side - 2.0) * 2.0 - 1.0;
    // The border continues at the mirrored position of the same edge.
    if abs(square.x) > 1.0 {
        square = vec2f(sign(square.x) * (2.0 - abs(square.x)), -square.y);
    }
    if abs(square.y) > 1.0 {
        square = vec2f(-square.x, sign(square.y) * (2.0 - abs(square.y)));
    }
    let height = 1.0 - abs(square.x) - abs(square.y);
    let lower = (1.0 - abs(square.yx)) * octahedron_sign(square);
    return vec3f(select(square, lower, height < 0.0), height);
}
