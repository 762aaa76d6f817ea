// Palette: the brightness of a picture selects a color of a palette. The first column of the
// palette is for black, the last one for white; each row is a palette of its own. For pictures of
// sprites, tile maps and Guis with a filter of the nearest texel.

struct Variables {
    // Row of the palette, from 0. A fraction blends two rows.
    row: f32,
}
@group(2) @binding(0) var<uniform> variables: Variables;
@group(2) @binding(1) var palette: texture_2d<f32>;
@group(2) @binding(2) var palette_sampler: sampler;

fn brightness(linear_light: f32) -> f32 {
    let bright = 1.055 * pow(max(linear_light, 0.0031308), 1.0 / 2.4) - 0.055;
    return clamp(select(bright, linear_light * 12.92, linear_light <= 0.0031308), 0.0, 1.0);
}

fn paint(in: Paint) -> vec4f {
    // The picture without the color that it is drawn with.
    let alpha = in.base.a / max(in.color.a, 1e-6);
    let tint = in.color.rgb;
    let grey = dot(in.base.rgb, tint) / max(dot(tint, tint), 1e-9) / max(alpha, 1e-6);
    let last = vec2f(textureDimensions(palette)) - 1.0;
    let column = i32(round(brightness(grey) * last.x));
    let row = clamp(variables.row, 0.0, last.y);
    let first = textureLoad(palette, vec2i(column, i32(floor(row))), 0);
    let second = textureLoad(palette, vec2i(column, i32(ceil(row))), 0);
    return mix(first, second, fract(row)) * in.color * alpha;
}
