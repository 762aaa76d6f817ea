// Particles: quads that face the camera, and fade where they are close to the surface behind them.

#include "view_uniforms.wgsl"

struct Batch {
    // Distance in metres over which they fade. `spot` is 1 for the engine's built-in round spot.
    softness: f32,
    spot: f32,
    // The part of their light that comes from suns, lamps and the sky.
    lit: f32,
    // How they are blended: by alpha (0), added (1), multiplied (2).
    blending: f32,
    // Metres by which what is behind them is displaced.
    distortion: f32,
    // 1 if the depth can be read.
    reads_depth: f32,
    spare: vec2f,
}

#if scene
#include "sky_light.wgsl"
#include "light_reach.wgsl"
@group(0) @binding(3) var sun_maps: texture_depth_2d_array;
@group(0) @binding(5) var compare: sampler_comparison;
@group(3) @binding(0) var<uniform> batch: Batch;
#else
@group(0) @binding(1) var<uniform> batch: Batch;
#endif
@group(1) @binding(0) var picture: texture_2d<f32>;
@group(1) @binding(1) var picture_sampler: sampler;
@group(2) @binding(0) var depth: texture_multisampled_2d<f32>;

struct Particle {
    @location(0) position: vec3f,
    @location(1) rotation: f32,
    @location(2) size: vec2f,
    @location(3) color: vec4f,
    @location(4) glow: f32,
    @location(5) uv: vec4f,
    @location(6) stretch: vec3f,
}

struct Point {
    @builtin(position) clip: vec4f,
    // See mesh.wgsl.
    @location(0) @interpolate(perspective, centroid) uv: vec2f,
    @location(1) at: vec2f,
    @location(2) color: vec4f,
    @location(3) world: vec3f,
    @location(4) @interpolate(flat) across: vec3f,
    @location(5) @interpolate(flat) along: vec3f,
}

@vertex
fn particle_vertex(in: Particle, @builtin(vertex_index) index: u32) -> Point {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    var across = view.right.xyz * cos(in.rotation) + view.up.xyz * sin(in.rotation);
    var along = view.up.xyz * cos(in.rotation) - view.right.xyz * sin(in.rotation);
    var extent = in.size;
    let projected = in.stretch - view.ahead.xyz * dot(in.stretch, view.ahead.xyz);
    let reach = length(projected);
    if reach > 1e-6 {
        along = projected / reach;
        across = cross(view.ahead.xyz, along);
        extent.y += reach;
    }
    let world = in.position + across * (corner.x * extent.x) + along * (corner.y * extent.y);
    let part = vec2f(corner.x * 0.5 + 0.5, 0.5 - corner.y * 0.5);
    var out: Point;
    out.clip = view.to_clip * vec4f(world, 1.0);
    out.uv = mix(in.uv.xy, in.uv.zw, part);
    out.at = corner;
    out.color = vec4f(linear_light(in.color.rgb) * in.glow * in.color.a, in.color.a);
    out.world = world;
    out.across = across;
    out.along = along;
    return out;
}

// Returns the distance ahead of the camera of a point of the depth buffer.
fn ahead_of(point: vec4f) -> f32 {
    let world = view.from_clip * point;
    return dot(world.xyz / world.w - view.eye.xyz, view.ahead.xyz);
}

#if scene
// The part of a sun's or lamp's light that reaches around the edge of a particle.
const WRAP: f32 = 0.5;

// Returns the part of the light from a direction that a particle reflects. Light that shines
// through from behind wraps around it.
fn wrapped(normal: vec3f, towards: vec3f) -> f32 {
    return max(dot(normal, towards) + WRAP, 0.0) / ((1.0 + WRAP) * (1.0 + WRAP));
}

// Returns the light that a white particle reflects to the camera: that of a ball in its place.
fn particle_light(in: Point) -> vec3f {
    let square = min(dot(in.at, in.at), 1.0);
    let across = in.across * in.at.x + in.along * in.at.y;
    let normal = normalize(across - view.ahead.xyz * sqrt(max(1.0 - square, 0.05)));
    var sum = vec3f(0.0);
    for (var i = 0u; i < hidden_count(view.counts.x); i++) {
        let sun = view.suns[i];
        var strength = wrapped(normal, sun.towards.xyz);
        if sun.towards.w > 0.5 && strength > 0.0 {
            strength *= sun_open(in.world);
        }
        sum += sun.color.rgb * strength;
    }
    let list = lights_at(in.world, in.clip.xy);
    for (var i = list.first; i < list.end; i++) {
        let light = lights[view.cluster_begin.y + light_grid[i]];
        let reach = reach_of(in.world, light);
        let strength = reach.strength * wrapped(normal, reach.towards);
        if strength > 0.0 && (light.layers & 255u) != 0u {
            sum += light.color * lamp_tint(light, reach) * strength * lamp_open(in.world, light);
        }
    }
    var around = sky(normal, 1.0);
    if SKY_MAPS && hidden(view.sky_light.x) >= 0.0 {
        around = map_gathered(normal, view.sky_light.x);
    }
    return min(sum + around * view.sky_light.w, vec3f(60000.0));
}

// Returns the color of a particle behind the froxel fog of the view.
fn particle_in_fog(color: vec4f, world: vec3f) -> vec4f {
    if hidden(view.fog_reach.w) < 0.5 {
        return color;
    }
    let fog = fog_in_front(world);
    // In fog, added light becomes 0, and multiplied light becomes 1.
    var light = fog.rgb * color.a;
    if batch.blending > 0.5 {
        light = vec3f(color.a * (1.0 - fog.a)) * step(1.5, batch.blending);
    }
    return vec4f(min(color.rgb * fog.a + light, vec3f(60000.0)), color.a);
}
#endif

#if distortion
@group(3) @binding(0) var behind_texture: texture_2d<f32>;
@group(3) @binding(1) var behind_sampler: sampler;

fn encoded(light: vec2f) -> vec2f {
    let high = 1.055 * pow(light, vec2f(1.0 / 2.4)) - 0.055;
    return select(high, 12.92 * light, light <= vec2f(0.0031308));
}

// Returns where a point is on the image of the view: 0 to 1, y downwards.
fn on_image(world: vec3f) -> vec2f {
    let clip = view.to_clip * vec4f(world, 1.0);
    return clip.xy / max(clip.w, 1e-6) * vec2f(0.5, -0.5) + 0.5;
}

// Returns what is behind a particle, displaced by the red and green of its picture: half of them
// displaces nothing. The built-in spot is a lens.
@fragment
fn distortion_fragment(in: Point) -> @location(0) vec4f {
    let painted = textureSample(picture, picture_sampler, in.uv);
    var shift = encoded(clamp(painted.rg / max(painted.a, 1.0 / 255.0), vec2f(0.0), vec2f(1.0)));
    shift = (shift * 2.0 - 1.0) * vec2f(1.0, -1.0);
    var alpha = painted.a;
    if batch.spot > 0.5 {
        let round = clamp(1.0 - dot(in.at, in.at), 0.0, 1.0);
        shift = in.at * round;
        alpha = smoothstep(0.0, 0.5, round);
    }
    alpha *= in.color.a;
    let own = on_image(in.world);
    let moved = in.world + (in.across * shift.x + in.along * shift.y) * batch.distortion;
    var at = clamp(on_image(moved), vec2f(0.0), vec2f(1.0));
    if batch.reads_depth > 0.5 {
        // Surfaces in front of the particle are not behind it.
        let size = vec2f(textureDimensions(depth));
        let there = textureLoad(depth, vec2i(min(at * size, size - 1.0)), 0).r;
        at = select(at, own, there < in.clip.z);
    }
    let behind = textureSampleLevel(behind_texture, behind_sampler, at, 0.0).rgb;
    let tint = in.color.rgb / max(in.color.a, 1.0 / 255.0);
    return vec4f(min(behind * tint * alpha, vec3f(60000.0)), alpha);
}
#endif

// Counts a pixel of a particle.
@fragment
fn overdraw_fragment(in: Point) -> @location(0) vec4f {
    return vec4f(1.0, 0.0, 0.0, 0.0);
}

@fragment
fn particle_fragment(in: Point) -> @location(0) vec4f {
    hide_uniforms(in.clip.xy);
    var color = textureSample(picture, picture_sampler, in.uv);
    if batch.spot > 0.5 {
        let round = clamp(1.0 - dot(in.at, in.at), 0.0, 1.0);
        color = vec4f(round * round);
    }
    color *= in.color;
    if batch.softness > 0.0 {
        let behind = textureLoad(depth, vec2i(in.clip.xy), 0).r;
        let clip = view.to_clip * vec4f(in.world, 1.0);
        let wall = ahead_of(vec4f(clip.xy / clip.w, behind, 1.0));
        let here = dot(in.world - view.eye.xyz, view.ahead.xyz);
        color *= clamp((wall - here) / batch.softness, 0.0, 1.0);
    }
#if scene
    if batch.lit > 0.0 && color.a > 0.0 {
        color = vec4f(color.rgb * mix(vec3f(1.0), particle_light(in), batch.lit), color.a);
    }
    return particle_in_fog(color, in.world);
#else
    return color;
#endif
}
