// The default tone mapper, and the encoding of colors for screens.

// Returns colors below 0.8 unchanged; brighter ones are compressed, and fade to white. This is the
// Khronos PBR Neutral tone mapper (2024) without its first step, which subtracts the reflection of
// surfaces, because unlit colors must stay unchanged.
fn neutral(color: vec3f) -> vec3f {
    let begin = 0.8;
    let peak = max(color.r, max(color.g, color.b));
    if peak < begin {
        return color;
    }
    let d = 1.0 - begin;
    let high = 1.0 - d * d / (peak + d - begin);
    let pale = 1.0 - 1.0 / (0.15 * (peak - high) + 1.0);
    return mix(color * (high / peak), vec3f(high), pale);
}

fn encoded(color: vec3f) -> vec3f {
    let low = color * 12.92;
    let bright = 1.055 * pow(max(color, vec3f(0.0031308)), vec3f(1.0 / 2.4)) - 0.055;
    return select(bright, low, color <= vec3f(0.0031308));
}
