// The tone mappers that a view can choose. Include it after post_uniforms.wgsl and display.wgsl.

// Index of the tone mapper.
override MAPPER: u32 = 0u;

// Reinhard et al., "Photographic Tone Reproduction for Digital Images", 2002, on luminance.
fn reinhard(color: vec3f) -> vec3f {
    let lit = luminance(color);
    let white = post.balance[2].w;
    return color * ((1.0 + lit / (white * white)) / (1.0 + lit));
}

// AgX (Sobotka, 2022): colors are moved towards gray, mapped by an S-shaped curve of their
// logarithms, and moved back. The curve is the polynomial of Wrensch, "Minimal AgX
// Implementation", 2023.
fn agx(color: vec3f) -> vec3f {
    let inset = mat3x3f(
        vec3f(0.842479, 0.0423282, 0.0423757),
        vec3f(0.0784336, 0.878469, 0.0784336),
        vec3f(0.0792237, 0.0791661, 0.879143),
    );
    let outset = mat3x3f(
        vec3f(1.196879, -0.0528969, -0.0529716),
        vec3f(-0.0980209, 1.151903, -0.0980435),
        vec3f(-0.0990297, -0.0989612, 1.151074),
    );
    let low = -12.47393;
    let high = 4.026069;
    let stops = clamp(log2(max(inset * color, vec3f(1e-10))), vec3f(low), vec3f(high));
    let x = (stops - low) / (high - low);
    let y = ((((((15.5 * x - 40.14) * x) + 31.96) * x - 6.868) * x + 0.4298) * x + 0.1191) * x
        - 0.00232;
    return pow(max(outset * y, vec3f(0.0)), vec3f(2.2));
}

// The curve of the Academy Color Encoding System, as Hill's approximation of its reference and
// display transforms (2016).
fn aces(color: vec3f) -> vec3f {
    let to_film = mat3x3f(
        vec3f(0.59719, 0.07600, 0.02840),
        vec3f(0.35458, 0.90834, 0.13383),
        vec3f(0.04823, 0.01566, 0.83777),
    );
    let from_film = mat3x3f(
        vec3f(1.60475, -0.10208, -0.00327),
        vec3f(-0.53108, 1.10813, -0.07276),
        vec3f(-0.07367, -0.00605, 1.07602),
    );
    // Light so bright that its square would be infinite.
    let v = min(to_film * color, vec3f(1e6));
    let curve = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.432951) + 0.238081);
    return from_film * curve;
}

fn filmic_channel(light: f32) -> f32 {
    let x = min(light, post.filmic_powers.w);
    let number = select(select(2, 1, x < post.shape.y), 0, x < post.shape.x);
    let segment = post.filmic[number];
    let reached = max((x - segment.x) * segment.z, 1e-9);
    return segment.y + segment.z * exp(segment.w + post.filmic_powers[number] * log(reached));
}

// Returns the color of a light, from 0 to 1.
fn tone_mapped(color: vec3f) -> vec3f {
    switch MAPPER {
        case 0u: {
            return neutral(color);
        }
        case 1u: {
            return clamp(reinhard(color), vec3f(0.0), vec3f(1.0));
        }
        case 2u: {
            return clamp(agx(color), vec3f(0.0), vec3f(1.0));
        }
        case 3u: {
            return clamp(aces(color), vec3f(0.0), vec3f(1.0));
        }
        case 4u: {
            let mapped = vec3f(
                filmic_channel(color.r),
                filmic_channel(color.g),
                filmic_channel(color.b),
            );
            return clamp(mapped, vec3f(0.0), vec3f(1.0));
        }
        default: {
            return min(color, vec3f(1.0));
        }
    }
}
