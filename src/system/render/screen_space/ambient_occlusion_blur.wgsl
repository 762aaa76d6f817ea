// The blur of the ambient occlusion: the mean of the pattern of 4 x 4 texels around a pixel, of
// those that lie on the pixel's surface. It also enlarges half resolution to that of the view.

#include "screen_uniforms.wgsl"

const SIDE: i32 = 4;
// Distance from the surface's plane, as a share of the distance from the camera, at which a texel
// has no weight any more.
const TOLERANCE: f32 = 0.01;

@group(0) @binding(2) var depth: texture_2d<f32>;
@group(0) @binding(3) var occlusion: texture_2d<f32>;

// Returns the slope of the depth along an axis, on the side that is more even.
fn slope(at: vec2i, own: f32, by: vec2i) -> f32 {
    let ahead = textureLoad(depth, inside(at + by), 0).r - own;
    let behind = own - textureLoad(depth, inside(at - by), 0).r;
    return select(behind, ahead, abs(ahead) < abs(behind));
}

@fragment
fn blur_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let at = vec2i(clip.xy);
    let own = textureLoad(depth, at, 0).r;
    if !(own < 1.0) {
        return vec4f(1.0);
    }
    let step = screen.occlusion.w;
    let last = vec2i(textureDimensions(occlusion)) - 1;
    // The depth of a plane is linear in the picture, with and without perspective.
    let slopes = vec2f(slope(at, own, vec2i(1, 0)), slope(at, own, vec2i(0, 1)));
    let z = view_z(own);
    let w = clip_w(z);
    let per_metre = abs(screen.depth.x * screen.depth.w - screen.depth.y * screen.depth.z)
        / max(w * w, 1e-12);
    let allowed = max(per_metre * abs(z) * TOLERANCE, 1e-7);
    let first = vec2i(floor(clip.xy / step - 0.5 * f32(SIDE) + 0.5));
    var sum = 0.0;
    var weights = 0.0;
    for (var y = 0; y < SIDE; y++) {
        for (var x = 0; x < SIDE; x++) {
            let texel = clamp(first + vec2i(x, y), vec2i(0), last);
            let pixel = inside(vec2i(floor((vec2f(texel) + 0.5) * step)));
            let there = textureLoad(depth, pixel, 0).r;
            let expected = own + dot(slopes, vec2f(pixel - at));
            let weight = max(1.0 - abs(there - expected) / allowed, 0.0) + 1e-4;
            sum += textureLoad(occlusion, texel, 0).r * weight;
            weights += weight;
        }
    }
    return vec4f(clamp(sum / weights, 0.0, 1.0));
}
