// The numbers of debug views, and the colors by which they show numbers.

const DEBUG_ALBEDO: u32 = 1u;
const DEBUG_NORMALS: u32 = 2u;
const DEBUG_ROUGHNESS: u32 = 3u;
const DEBUG_METALLIC: u32 = 4u;
const DEBUG_OCCLUSION: u32 = 5u;
const DEBUG_MIP_LEVEL: u32 = 6u;
const DEBUG_LIGHT_COUNT: u32 = 7u;
const DEBUG_CASCADES: u32 = 8u;
const DEBUG_OVERDRAW: u32 = 9u;
const DEBUG_SHADOW_ATLAS: u32 = 10u;
const DEBUG_MOTION_VECTORS: u32 = 11u;

// Returns the number of the debug view.
fn debug_view() -> u32 {
    return view.counts.w >> 8u;
}

// Returns the light that is shown as bytes from 0 to 255 for values from 0 to 1.
fn as_bytes(value: vec3f) -> vec3f {
    return linear_light(clamp(value, vec3f(0.0), vec3f(1.0)));
}

// Returns the color of a part of the whole range: blue, cyan, green, yellow, red; white beyond it.
fn heat(part: f32) -> vec3f {
    if part > 1.0 {
        return vec3f(1.0);
    }
    let at = clamp(part, 0.0, 1.0) * 4.0;
    let red = clamp(at - 2.0, 0.0, 1.0);
    let green = min(clamp(at, 0.0, 1.0), clamp(4.0 - at, 0.0, 1.0));
    let blue = clamp(2.0 - at, 0.0, 1.0);
    return as_bytes(vec3f(red, green, blue));
}
