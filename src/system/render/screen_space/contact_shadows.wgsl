// Contact shadows of the sun: a short ray from each pixel towards the sun, which surfaces in front
// of it end. They close the gap between an object and its shadow in the sun's maps.

#include "screen_uniforms.wgsl"
#include "surface_normal.wgsl"

const STEPS: i32 = 16;
// Rays end after as many pixels: longer ones would miss thin surfaces.
const PIXELS_MAX: f32 = 48.0;
// Rays start as many pixels above their surface.
const PIXELS_ABOVE: f32 = 1.5;

@fragment
fn contact_fragment(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let at = vec2i(clip.xy);
    let own = textureLoad(depth, at, 0).r;
    if !(own < 1.0) {
        return vec4f(1.0);
    }
    let here = view_position(clip.xy, own);
    let straight = screen.offset.z > 0.5;
    let back = select(normalize(-here), vec3f(0.0, 0.0, 1.0), straight);
    let normal = surface_normal(here, at, back);
    let towards = screen.sun.xyz;
    if !(dot(normal, towards) > 0.0) {
        // The sun does not reach it anyway.
        return vec4f(1.0);
    }
    let scale = pixels_per_metre(here.z);
    let pixel = 1.0 / max(max(scale.x, scale.y), 1e-6);
    let start = here + normal * (PIXELS_ABOVE * pixel);
    let reach = min(screen.sun.w, PIXELS_MAX * pixel);
    let thickness = screen.contact.x;
    for (var i = 1; i <= STEPS; i++) {
        let share = f32(i) / f32(STEPS);
        let point = start + towards * (reach * share);
        let w = clip_w(point.z);
        if !(w > 1e-6) {
            break;
        }
        let flat = screen.scale_shear.xy * point.xy + screen.scale_shear.zw * point.z
            + screen.offset.xy;
        let on = vec2f(flat.x / w * 0.5 + 0.5, 0.5 - flat.y / w * 0.5) * screen.size.xy;
        let texel = vec2i(floor(on));
        if !is_inside(texel) {
            break;
        }
        let there = textureLoad(depth, texel, 0).r;
        if there >= 1.0 {
            continue;
        }
        let before = view_z(there) - point.z;
        if before > 0.25 * pixel && before < thickness {
            // The shadow fades with the distance from the surface that casts it.
            return vec4f(smoothstep(0.6, 1.0, share));
        }
    }
    return vec4f(1.0);
}
