// What all shaders of scenes share: the view and its colours. Draws nothing by itself; the others
// are put behind it.

const SUNS_MAX: u32 = 4u;
const CASCADES_MAX: u32 = 4u;
const SPOT_SHADOWS_MAX: u32 = 4u;
const VIEW_LIGHTS_MAX: u32 = 64u;

struct Sun {
    // Towards the sun; w is 1 where it casts shadows.
    towards: vec4f,
    // w: how far its shadows are kept off what casts them.
    color: vec4f,
}

struct Light {
    position: vec3f,
    falloff: f32,
    color: vec3f,
    shadow: f32,
    direction: vec3f,
    cone_scale: f32,
    cone_offset: f32,
    texel: f32,
    // How far its shadows are kept off what casts them.
    bias: f32,
    spare: f32,
}

struct View {
    to_clip: mat4x4f,
    from_clip: mat4x4f,
    // w is 0 for a camera without perspective.
    eye: vec4f,
    // w is the time in seconds.
    ahead: vec4f,
    right: vec4f,
    up: vec4f,
    // w is the exposure.
    top: vec4f,
    // w is 1 where the sky is shown.
    horizon: vec4f,
    // w is 1 where light that is too bright is cut off in place of compressed.
    ground: vec4f,
    // w is the density.
    fog: vec4f,
    // Suns, lights, cascades, flags.
    counts: vec4u,
    cascade_ends: vec4f,
    cascade_texels: vec4f,
    // One through the texels on a side of the suns' and the spots' maps.
    shadow: vec4f,
    suns: array<Sun, SUNS_MAX>,
    cascades: array<mat4x4f, CASCADES_MAX>,
    spots: array<mat4x4f, SPOT_SHADOWS_MAX>,
    lights: array<Light, VIEW_LIGHTS_MAX>,
}

@group(0) @binding(0) var<uniform> view: View;

// sRGB to linear light.
fn linear_light(color: vec3f) -> vec3f {
    let low = color / 12.92;
    let high = pow((color + 0.055) / 1.055, vec3f(2.4));
    return select(high, low, color <= vec3f(0.04045));
}

// The sky's light from a direction; blur is how wide around it is looked: 0 is sharp, 1 is all that
// a matte surface gathers.
fn sky(direction: vec3f, blur: f32) -> vec3f {
    let height = direction.z;
    let edge = mix(0.02, 1.0, blur);
    let rise = pow(clamp(height, 0.0, 1.0), mix(0.5, 1.0, blur));
    let above = mix(view.horizon.rgb, view.top.rgb, rise);
    return mix(view.ground.rgb, above, smoothstep(-edge, edge, height));
}

// Light that can be stored: half floats end at 65504, and what is beyond them would turn black.
fn kept(color: vec3f) -> vec3f {
    return min(color, vec3f(60000.0));
}

// Light that has come through the air for some metres.
fn through_air(color: vec3f, metres: f32) -> vec3f {
    return mix(view.fog.rgb, color, exp(-view.fog.w * metres));
}
