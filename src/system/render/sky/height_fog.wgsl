// Fog on surfaces and on the sky, with the view uniform.

#include "fog_depth.wgsl"

// Returns the fog's light towards a direction: it is brighter towards the sun.
fn fog_light(direction: vec3f) -> vec3f {
    let facing = max(dot(direction, view.fog_towards.xyz), 0.0);
    return view.fog.rgb + view.fog_glow.rgb * pow(facing, view.fog_glow.w);
}

// Applies the fog to the light of the sky from a direction.
fn fog_behind(color: vec3f, direction: vec3f) -> vec3f {
    if hidden(view.fog.w) <= 0.0 {
        return color;
    }
    if hidden(view.fog_shape.w) < 0.5 {
        // At a distance only fog is visible, near the horizon.
        return mix(view.fog.rgb, color, smoothstep(0.0, 0.2, direction.z));
    }
    let fog = fog_light(direction);
    if hidden(view.fog_shape.y) <= 0.0 {
        return mix(fog, color, smoothstep(0.0, 0.2, direction.z));
    }
    let shape = view.fog_shape + hidden(0.0);
    let depth = engine_fog_depth_behind(shape, view.fog.w, view.eye.z, direction.z);
    return mix(fog, color, select(exp(-depth), 0.0, depth < 0.0));
}
