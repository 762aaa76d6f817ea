// The motion of each pixel since the previous frame that follows from the camera's motion.

#include "screen_uniforms.wgsl"

// Motion by more than this many pictures is none: the point was not visible.
const MOTION_MAX: f32 = 4.0;

@group(0) @binding(2) var depth: texture_2d<f32>;

@fragment
fn motion_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let here = clip_of(clip.xy) - screen.temporal.yz;
    let point = vec4f(here, textureLoad(depth, vec2i(clip.xy), 0).r, 1.0);
    let before = screen.reprojection * point;
    // Clip space runs from -1 to 1 upwards, the picture from 0 to 1 downwards.
    let motion = (here - before.xy / before.w) * vec2f(0.5, -0.5);
    // A value that is not a number fails both comparisons.
    let valid = abs(motion.x) < MOTION_MAX && abs(motion.y) < MOTION_MAX && before.w > 0.0;
    return vec4f(select(vec2f(0.0), motion, valid), 0.0, 0.0);
}
