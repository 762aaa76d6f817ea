// The inputs of a view's froxel fog (uniforms.rs), and the places of its froxels.

const VIEW_FOG_VOLUMES_MAX: u32 = 32u;

// A box or a sphere of fog.
struct FogVolume {
    // Rows of the transform from world space to the cube between -1 and 1.
    x: vec4f,
    y: vec4f,
    z: vec4f,
    // Part of the light that it scatters; w is the density.
    color: vec4f,
    // Light of its own; w is 1 for a sphere.
    emission: vec4f,
    // How fast it fades in from each side.
    fade: vec4f,
}

struct FogInputs {
    // Part of the light that the fog scatters; w is its density.
    color: vec4f,
    // Light of its own; w is the anisotropy.
    emission: vec4f,
    // Height, falloff, factor for the light of the sky, and offset of the points in their slices.
    shape: vec4f,
    // From world space to the clip space of the previous frame.
    history_to_clip: mat4x4f,
    // Position of the previous camera; w is the part of the previous fog that stays.
    history_eye: vec4f,
    // Its direction; w is the factor for the light of suns and lamps.
    history_ahead: vec4f,
    // `reach` of the previous grid; w is the number of volumes.
    history_reach: vec4f,
    volumes: array<FogVolume, VIEW_FOG_VOLUMES_MAX>,
}

@group(1) @binding(0) var<uniform> fog: FogInputs;

// A froxel: its column and row, and its slice, which is too large outside of the grid.
struct Froxel {
    cell: vec2f,
    slice: f32,
}

fn froxel_at(pixel: vec2f) -> Froxel {
    let grid = view.fog_grid;
    let tile = floor(pixel / grid.xy);
    let cell = floor(pixel) - tile * grid.xy;
    let is_outside = tile.x >= grid.w;
    return Froxel(cell, select(tile.y * grid.w + tile.x, grid.z, is_outside));
}

// A ray through the middle of a column: it begins in the plane of the camera, and each metre ahead
// adds `step`.
struct FogRay {
    origin: vec3f,
    step: vec3f,
}

fn fog_ray(cell: vec2f) -> FogRay {
    let uv = (cell + 0.5) / view.fog_grid.xy;
    let at = uv * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
    let near = view.from_clip * vec4f(at, 0.0, 1.0);
    let far = view.from_clip * vec4f(at, 1.0, 1.0);
    let first = near.xyz / near.w;
    let way = far.xyz / far.w - first;
    let step = way / max(dot(way, view.ahead.xyz), 1e-6);
    return FogRay(first - step * dot(first - view.eye.xyz, view.ahead.xyz), step);
}

struct Corner {
    @builtin(position) clip: vec4f,
}

@vertex
fn froxel_vertex(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Corner(vec4f(at, 0.0, 1.0));
}
