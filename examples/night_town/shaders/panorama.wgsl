// Maps six square views to one picture of all directions: its middle is y, its upper edge z.

@group(2) @binding(1) var right: texture_2d<f32>;
@group(2) @binding(2) var right_sampler: sampler;
@group(2) @binding(3) var left: texture_2d<f32>;
@group(2) @binding(4) var left_sampler: sampler;
@group(2) @binding(5) var front: texture_2d<f32>;
@group(2) @binding(6) var front_sampler: sampler;
@group(2) @binding(7) var back: texture_2d<f32>;
@group(2) @binding(8) var back_sampler: sampler;
@group(2) @binding(9) var top: texture_2d<f32>;
@group(2) @binding(10) var top_sampler: sampler;
@group(2) @binding(11) var bottom: texture_2d<f32>;
@group(2) @binding(12) var bottom_sampler: sampler;

// Returns the position in a view from its axes: to the right, up and forward.
fn position_in_view(right_part: f32, up_part: f32, forward: f32) -> vec2f {
    return vec2f(0.5 + 0.5 * right_part / forward, 0.5 - 0.5 * up_part / forward);
}

fn paint(in: Paint) -> vec4f {
    let azimuth = (in.uv.x - 0.5) * 6.2831853;
    let height = (0.5 - in.uv.y) * 3.1415927;
    let d = vec3f(sin(azimuth) * cos(height), cos(azimuth) * cos(height), sin(height));
    let a = abs(d);
    if a.z >= a.x && a.z >= a.y {
        if d.z > 0.0 {
            let at = position_in_view(d.x, -d.y, d.z);
            return vec4f(textureSampleLevel(top, top_sampler, at, 0.0).rgb, 1.0);
        }
        let at = position_in_view(d.x, d.y, -d.z);
        return vec4f(textureSampleLevel(bottom, bottom_sampler, at, 0.0).rgb, 1.0);
    }
    if a.x >= a.y {
        if d.x > 0.0 {
            let at = position_in_view(-d.y, d.z, d.x);
            return vec4f(textureSampleLevel(right, right_sampler, at, 0.0).rgb, 1.0);
        }
        let at = position_in_view(d.y, d.z, -d.x);
        return vec4f(textureSampleLevel(left, left_sampler, at, 0.0).rgb, 1.0);
    }
    if d.y > 0.0 {
        let at = position_in_view(d.x, d.z, d.y);
        return vec4f(textureSampleLevel(front, front_sampler, at, 0.0).rgb, 1.0);
    }
    let at = position_in_view(-d.x, d.z, -d.y);
    return vec4f(textureSampleLevel(back, back_sampler, at, 0.0).rgb, 1.0);
}
