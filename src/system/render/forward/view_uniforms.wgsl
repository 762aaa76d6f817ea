// Common part of all scene shaders: the view uniform and its colors. Draws nothing itself; the
// other shaders include it.

const SUNS_MAX: u32 = 4u;
const CASCADES_MAX: u32 = 4u;
const VIEW_PROBES_MAX: u32 = 8u;
// Number of clusters across and down.
const CLUSTER_COLUMNS: u32 = 16u;
const CLUSTER_ROWS: u32 = 9u;

struct Sun {
    // Direction towards the sun; w is 1 if it casts shadows.
    towards: vec4f,
    // w: shadow bias, the distance of its shadows from their casters.
    color: vec4f,
}

// A reflection probe.
struct Probe {
    // Rows of the transform from world space to the cube between -1 and 1.
    x: vec4f,
    y: vec4f,
    z: vec4f,
    // Position from which the texture shows the surroundings; w is the layer of its maps.
    position: vec4f,
    // How fast it fades in from each side of the cube; w is the factor for its light.
    fade: vec4f,
}

struct View {
#include "view_fields.wgsl"
    // Number of suns, lights and cascades; flags, and from bit 8 on the number of the debug view.
    counts: vec4u,
    cascade_ends: vec4f,
    // Distance from which each cascade blends into the next.
    cascade_blends: vec4f,
    cascade_texels: vec4f,
    // x, y: 1 / side length in texels of the suns' maps and the atlas; z, w: the image's offset.
    shadow: vec4f,
    suns: array<Sun, SUNS_MAX>,
    cascades: array<mat4x4f, CASCADES_MAX>,
    // x: the view's first word of the grid of clusters; y: its first light; z: the light layers of
    // the suns, with eight bits each; w: where its decals begin in the grid, from 1; 0: none.
    cluster_begin: vec4u,
    // x, y: clusters per pixel; z, w: factor and offset from the depth to the slice.
    cluster_scale: vec4f,
    probes: array<Probe, VIEW_PROBES_MAX>,
}

@group(0) @binding(0) var<uniform> view: View;

// True for software adapters. Their driver (lavapipe of Mesa) compiles a fragment shader for the
// values of the uniforms that its conditions compare: Mesa 22.3 does so at each use of the
// pipeline, and keeps all results. It does not do so for values that depend on the pixel.
override HIDES_UNIFORMS: bool = false;
// 0 in every pixel, which the driver does not know.
var<private> hidden_zero: u32 = 0u;

// Large fragment shaders call this first.
fn hide_uniforms(pixel: vec2f) {
    if HIDES_UNIFORMS {
        hidden_zero = u32(pixel.x < -1.0);
    }
}

// Returns a number of a uniform for a condition.
fn hidden(number: f32) -> f32 {
    return number + f32(hidden_zero);
}

fn hidden_count(number: u32) -> u32 {
    return number + hidden_zero;
}

// Converts sRGB to linear light.
fn linear_light(color: vec3f) -> vec3f {
    let low = color / 12.92;
    let high = pow((color + 0.055) / 1.055, vec3f(2.4));
    return select(high, low, color <= vec3f(0.04045));
}

// Returns the sky's light from a direction. `blur` widens the directions that are averaged: 0 is
// sharp, 1 is all that a matte surface gathers.
fn sky(direction: vec3f, blur: f32) -> vec3f {
    let height = direction.z;
    let edge = mix(0.02, 1.0, blur);
    let rise = pow(clamp(height, 0.0, 1.0), mix(0.5, 1.0, blur));
    let above = mix(view.horizon.rgb, view.top.rgb, rise);
    return mix(view.ground.rgb, above, smoothstep(-edge, edge, height));
}

// Limits light to the storable range: half floats end at 65504, and greater values would be black.
fn kept(color: vec3f) -> vec3f {
    return min(color, vec3f(60000.0));
}
