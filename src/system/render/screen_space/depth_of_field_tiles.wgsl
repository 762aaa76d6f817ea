// The largest blur out of focus in each tile of the picture, and that of a tile and its neighbours,
// in texels of half resolution.

#include "screen_uniforms.wgsl"
#include "focus.wgsl"

// Depth, or tiles.
@group(0) @binding(2) var source: texture_2d<f32>;

@fragment
fn tile_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let side = i32(screen.focus.z);
    let first = vec2i(clip.xy) * side;
    var largest = 0.0;
    for (var y = 0; y < side; y++) {
        for (var x = 0; x < side; x++) {
            let at = inside((first + vec2i(x, y)) * 2);
            largest = max(largest, abs(blur_radius(textureLoad(source, at, 0).r)));
        }
    }
    return vec4f(largest * 0.5);
}

@fragment
fn neighbour_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let last = vec2i(textureDimensions(source)) - 1;
    var largest = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let at = clamp(vec2i(clip.xy) + vec2i(x, y), vec2i(0), last);
            largest = max(largest, textureLoad(source, at, 0).r);
        }
    }
    return vec4f(largest);
}
