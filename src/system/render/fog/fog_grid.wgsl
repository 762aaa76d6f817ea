// The grid of froxel fog: the view's frustum is divided into columns, rows and slices of depth, and
// the slices lie side by side in one texture. `grid`: columns, rows, slices, slices in a row of the
// texture. `reach`: depth of the grid in metres, where it begins ahead of the camera, and the
// exponent by which slices grow. Names begin with `engine_`, because custom shaders include this.

// Returns the number of the slice at a distance ahead, from 0 at the beginning of the first one.
fn engine_fog_slice(grid: vec4f, reach: vec4f, ahead: f32) -> f32 {
    let part = clamp((ahead - reach.y) / reach.x, 0.0, 1.0);
    return grid.z * select(sqrt(part), part, reach.z < 1.5);
}

// Returns the distance ahead at which a slice begins.
fn engine_fog_ahead(grid: vec4f, reach: vec4f, slice: f32) -> f32 {
    let part = slice / grid.z;
    return reach.y + reach.x * select(part * part, part, reach.z < 1.5);
}

// Returns the first texel of a slice.
fn engine_fog_texel(grid: vec4f, slice: f32) -> vec2f {
    let row = floor((slice + 0.5) / grid.w);
    return vec2f(slice - row * grid.w, row) * grid.xy;
}

// Returns a slice at a point of the view: 0 to 1, y downwards.
fn engine_fog_read(
    froxels: texture_2d<f32>,
    linear: sampler,
    grid: vec4f,
    uv: vec2f,
    slice: f32,
) -> vec4f {
    let inside = clamp(uv * grid.xy, vec2f(0.5), grid.xy - 0.5);
    let at = (inside + engine_fog_texel(grid, slice)) / vec2f(textureDimensions(froxels));
    return textureSampleLevel(froxels, linear, at, 0.0);
}

// Returns the fog between the camera and a point: the light that it sends, and the part of the
// light behind it that it lets through. Each slice has the sum up to its end.
fn engine_fog_before(
    froxels: texture_2d<f32>,
    linear: sampler,
    grid: vec4f,
    reach: vec4f,
    uv: vec2f,
    ahead: f32,
) -> vec4f {
    let at = engine_fog_slice(grid, reach, ahead);
    let slice = floor(min(at, grid.z - 1.0));
    var nearer = vec4f(0.0, 0.0, 0.0, 1.0);
    if slice >= 1.0 {
        nearer = engine_fog_read(froxels, linear, grid, uv, slice - 1.0);
    }
    let farther = engine_fog_read(froxels, linear, grid, uv, slice);
    return mix(nearer, farther, at - slice);
}
