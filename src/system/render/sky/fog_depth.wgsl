// The depth of fog along a ray. Fog has its full density up to a height, and thins out
// exponentially above it. `shape`: that height, the falloff per metre, the distance at which fog
// begins. Names begin with `engine_`, because custom shaders include this.

// Returns the integral of the density from the height of the fog to another height.
fn engine_fog_column(above: f32, falloff: f32) -> f32 {
    let thin = falloff * max(above, 0.0);
    // The difference to 1 has few digits where it is small; these are its first terms.
    let series = max(above, 0.0) * (1.0 - thin * 0.5 + thin * thin / 6.0);
    return min(above, 0.0) + select((1.0 - exp(-thin)) / falloff, series, thin < 0.02);
}

// Returns the optical depth of a ray of some metres that begins at a height. `rise` is the height
// that it gains per metre.
fn engine_fog_depth(shape: vec4f, density: f32, from_height: f32, rise: f32, metres: f32) -> f32 {
    let way = max(metres - shape.z, 0.0);
    if shape.y <= 0.0 {
        return density * way;
    }
    let low = from_height + rise * shape.z - shape.x;
    let climb = rise * way;
    if abs(climb) * max(shape.y, 1.0) < 1e-3 {
        return density * way * exp(-shape.y * max(low + climb * 0.5, 0.0));
    }
    let columns = engine_fog_column(low + climb, shape.y) - engine_fog_column(low, shape.y);
    return density * way * max(columns / climb, 0.0);
}

// Returns the optical depth of a ray that never ends: below 0 if it has no limit.
fn engine_fog_depth_behind(shape: vec4f, density: f32, from_height: f32, rise: f32) -> f32 {
    if shape.y <= 0.0 || rise <= 1e-5 {
        return -1.0;
    }
    let low = from_height + rise * shape.z - shape.x;
    return density * max(1.0 / shape.y - engine_fog_column(low, shape.y), 0.0) / rise;
}
