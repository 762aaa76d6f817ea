// Color grading, before and after tone mapping. Include it after post_uniforms.wgsl and
// display.wgsl.

// True if white balance, contrast or saturation is not neutral.
override LIGHT_GRADING: bool = false;
// True if lift, gamma or gain is not neutral.
override COLOR_GRADING: bool = false;
// True if there is a color table.
override COLOR_TABLE: bool = false;

const MIDDLE_GRAY: f32 = 0.18;

fn decoded(color: vec3f) -> vec3f {
    let low = color / 12.92;
    let bright = pow((max(color, vec3f(0.0)) + 0.055) / 1.055, vec3f(2.4));
    return select(bright, low, color <= vec3f(0.04045));
}

// Returns light with white balance, contrast and saturation.
fn graded_light(color: vec3f) -> vec3f {
    let balance = mat3x3f(post.balance[0].xyz, post.balance[1].xyz, post.balance[2].xyz);
    let balanced = max(balance * color, vec3f(0.0));
    let contrast = post.balance[0].w;
    // Contrast is a power, so that middle gray stays, and nothing becomes negative.
    let powered = MIDDLE_GRAY * pow(max(balanced, vec3f(1e-7)) / MIDDLE_GRAY, vec3f(contrast));
    let gray = vec3f(luminance(powered));
    let graded = max(mix(gray, powered, post.balance[1].w), vec3f(0.0));
    return min(graded, vec3f(1e9));
}

// Returns a shown color with lift, gamma and gain. `alpha` is how much of the background it hides:
// what is transparent stays so.
fn graded_color(color: vec3f, alpha: f32) -> vec3f {
    let before = encoded(color);
    let lifted = max(before + post.lift.rgb * (vec3f(alpha) - before), vec3f(0.0));
    let graded = post.gain.rgb * pow(lifted, post.inverse_gamma.rgb);
    return decoded(clamp(graded, vec3f(0.0), vec3f(1.0)));
}

// Returns a shown color as the color table changes it. The table has differences, so that a table
// that changes nothing changes no bit.
fn tabled_color(color: vec3f, alpha: f32) -> vec3f {
    let before = clamp(encoded(color), vec3f(0.0), vec3f(1.0));
    let side = post.inverse_gamma.w;
    let at = (before * (side - 1.0) + 0.5) / side;
    let change = textureSampleLevel(color_table, smooth_sampler, at, 0.0).rgb * post.lift.w;
    let to = clamp(before + change, vec3f(0.0), vec3f(1.0));
    return color + (decoded(to) - decoded(before)) * min(alpha, 1.0);
}

// Returns a shown color with everything that follows tone mapping.
fn finished_color(color: vec3f, alpha: f32) -> vec3f {
    var to = color;
    if COLOR_GRADING {
        to = graded_color(to, alpha);
    }
    if COLOR_TABLE {
        to = tabled_color(to, alpha);
    }
    return to;
}
