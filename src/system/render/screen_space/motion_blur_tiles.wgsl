// The longest motion in each tile of the picture, and that of a tile and its neighbours.

#include "screen_uniforms.wgsl"

// Motion of pixels, or of tiles.
@group(0) @binding(2) var source: texture_2d<f32>;

fn longer(a: vec2f, b: vec2f) -> vec2f {
    let in_pixels = screen.size.xy;
    return select(a, b, length(b * in_pixels) > length(a * in_pixels));
}

@fragment
fn tile_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let side = i32(screen.motion.z);
    let first = vec2i(clip.xy) * side;
    var longest = vec2f(0.0);
    for (var y = 0; y < side; y++) {
        for (var x = 0; x < side; x++) {
            longest = longer(longest, textureLoad(source, inside(first + vec2i(x, y)), 0).xy);
        }
    }
    return vec4f(longest, 0.0, 0.0);
}

@fragment
fn neighbour_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let last = vec2i(textureDimensions(source)) - 1;
    var longest = vec2f(0.0);
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let at = clamp(vec2i(clip.xy) + vec2i(x, y), vec2i(0), last);
            longest = longer(longest, textureLoad(source, at, 0).xy);
        }
    }
    return vec4f(longest, 0.0, 0.0);
}
