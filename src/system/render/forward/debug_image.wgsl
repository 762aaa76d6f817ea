// Debug views of images: the part of tonemap.wgsl that shows an image of the renderer instead of
// light. Its texture `light` is that image.

#include "debug_values.wgsl"

// Number of layers of overdraw that are red.
const OVERDRAW_MAX: f32 = 10.0;
// Part of the view's size that is shown as the brightest motion.
const MOTION_MAX: f32 = 0.05;

// Returns the color of the shadow maps of lamps at a pixel: near surfaces are bright.
fn atlas_color(at: vec2i) -> vec4f {
    let columns = vec2f(f32(CLUSTER_COLUMNS), f32(CLUSTER_ROWS));
    let view_size = columns / view.cluster_scale.xy;
    let side = min(view_size.x, view_size.y);
    let part = (vec2f(at) + 0.5 - (view_size - side) * 0.5) / side;
    if any(part < vec2f(0.0)) || any(part >= vec2f(1.0)) {
        return vec4f(as_bytes(vec3f(0.1)), 1.0);
    }
    let depth = textureLoad(light, vec2i(part * vec2f(textureDimensions(light))), 0).r;
    // Depths of perspective are close to 1.
    let near = pow(clamp(1.0 - depth, 0.0, 1.0), 0.25);
    return vec4f(as_bytes(vec3f(near)), 1.0);
}

fn debug_image(at: vec2i) -> vec4f {
    if debug_view() == DEBUG_SHADOW_ATLAS {
        return atlas_color(at);
    }
    if debug_view() == DEBUG_MOTION_VECTORS {
        let motion = textureLoad(light, at, 0).rg;
        return vec4f(as_bytes(vec3f(motion / MOTION_MAX * 0.5 + 0.5, 0.5)), 1.0);
    }
    var count = 0.0;
    for (var i = 0; i < SAMPLES; i++) {
        count += textureLoad(light, at, i).r;
    }
    count /= f32(SAMPLES);
    return vec4f(select(heat((count - 1.0) / OVERDRAW_MAX), vec3f(0.0), count < 0.01), 1.0);
}
