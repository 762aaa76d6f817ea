// The light that a surface reflects to the camera, shared by the engine's and games' surfaces. It
// follows the declarations of mesh.wgsl.

// The shading inputs of a pixel.
struct Lit {
    // Position on the view's image, in pixels from the top left.
    pixel: vec2f,
    world: vec3f,
    // Normal of the triangle, and normal with the normal texture.
    flat_normal: vec3f,
    normal: vec3f,
    // Direction towards the camera.
    back: vec3f,
    diffuse: vec3f,
    f0: vec3f,
    // Roughness squared, as in the distribution.
    alpha: f32,
    n_dot_v: f32,
    // Used in pipelines with LOBES only.
    lobes: Lobes,
    // Ambient occlusion of the pixel, and the share of the sun's light that contact shadows leave.
    open: f32,
    contact: f32,
    // Bits of the light layers whose lights do not light it.
    excluded: u32,
    // True if its normal differs from that of the triangle.
    has_slopes: bool,
}

// Returns the light from one direction, reflected to the camera. Microfacets: GGX (Walter et al.,
// "Microfacet Models for Refraction through Rough Surfaces", 2007), the height-correlated Smith
// term (Heitz, "Understanding the Masking-Shadowing Function in Microfacet-Based BRDFs", 2014),
// and Schlick's Fresnel ("An Inexpensive BRDF Model for Physically-based Rendering", 1994).
fn send(lit: Lit, towards: vec3f, color: vec3f) -> vec3f {
    if LOBES {
        return send_lobes(lit, towards) * color;
    }
    let n_dot_l = clamp(dot(lit.normal, towards), 0.0, 1.0);
    if n_dot_l <= 0.0 {
        return vec3f(0.0);
    }
    let h = normalize(towards + lit.back);
    let n_dot_h = clamp(dot(lit.normal, h), 0.0, 1.0);
    let l_dot_h = clamp(dot(towards, h), 0.0, 1.0);
    let a2 = lit.alpha * lit.alpha;
    let d = n_dot_h * n_dot_h * (a2 - 1.0) + 1.0;
    // Times pi.
    let distribution = a2 / max(d * d, 1e-7);
    let v = n_dot_l * sqrt(lit.n_dot_v * lit.n_dot_v * (1.0 - a2) + a2);
    let l = lit.n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2);
    let visible = 0.5 / max(v + l, 1e-5);
    let fresnel = lit.f0 + (1.0 - lit.f0) * pow(1.0 - l_dot_h, 5.0);
    return (lit.diffuse * (1.0 - fresnel) + distribution * visible * fresnel) * color * n_dot_l;
}

// Returns the unshadowed fraction of the light: nine samples of four texels each.
fn arrives(maps: texture_depth_2d_array, at: vec3f, layer: u32, texel: f32) -> f32 {
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let uv = at.xy + vec2f(f32(x), f32(y)) * texel;
            sum += textureSampleCompareLevel(maps, compare, uv, layer, at.z);
        }
    }
    return sum / 9.0;
}

// Returns the point at an offset from its surface, so that the surface does not shadow itself. The
// offset is larger for surfaces parallel to the light.
fn off_surface(lit: Lit, towards: vec3f, texel: f32) -> vec3f {
    let facing = clamp(dot(lit.flat_normal, towards), 0.0, 1.0);
    return lit.world + lit.flat_normal * texel * (1.0 + 1.5 * sqrt(1.0 - facing * facing));
}

// Returns the unshadowed fraction of a sun's light by the map of one cascade.
fn cascade_arrives(lit: Lit, towards: vec3f, bias: f32, layer: u32) -> f32 {
    let point = off_surface(lit, towards, view.cascade_texels[layer] * bias);
    if hidden(view.right.w) > 0.0 {
        return soft_cascade_arrives(lit, towards, point, layer);
    }
    return hard_cascade_arrives(point, layer);
}

fn hard_cascade_arrives(point: vec3f, layer: u32) -> f32 {
    let at = on_map(view.cascades[layer] * vec4f(point, 1.0));
    return arrives(sun_maps, at, layer, view.shadow.x);
}

fn sun_arrives(lit: Lit, towards: vec3f, bias: f32) -> f32 {
    let ahead = dot(lit.world - view.eye.xyz, view.ahead.xyz);
    let count = hidden_count(view.counts.z);
    let layer = cascade_at(lit.world);
    if layer >= count {
        return 1.0;
    }
    var open = cascade_arrives(lit, towards, bias, layer);
    // Near its end, a map blends into the next one, which is coarser.
    let blend = smoothstep(view.cascade_blends[layer], view.cascade_ends[layer], ahead);
    if blend > 0.0 && layer + 1u < count {
        open = mix(open, cascade_arrives(lit, towards, bias, layer + 1u), blend);
    }
    let end = view.cascade_ends[count - 1u];
    // For an orthographic camera, the maps cover the whole visible range.
    let fade = smoothstep(0.85 * end, end, ahead) * view.eye.w;
    return mix(open, 1.0, fade);
}

// Returns the fraction of the sky's light that a surface mirrors. After Karis, "Physically Based
// Shading on Mobile", 2014, an approximation of Lazarov's.
fn mirrored(f0: vec3f, roughness: f32, n_dot_v: f32) -> vec3f {
    let r = roughness * vec4f(-1.0, -0.0275, -0.572, 0.022) + vec4f(1.0, 0.0425, 1.04, -0.04);
    let a = min(r.x * r.x, exp2(-9.28 * n_dot_v)) * r.x + r.y;
    let scale = vec2f(-1.04, 1.04) * a + r.zw;
    return f0 * scale.x + scale.y;
}

// Increases the squared roughness if a pixel covers many directions of the surface, so highlights
// do not flicker: Tokuyoshi and Kaplanyan, "Improved Geometric Specular Antialiasing", 2019.
fn steadied(alpha: f32, normal: vec3f) -> f32 {
    let across = dpdx(normal);
    let down = dpdy(normal);
    let variance = 0.25 * (dot(across, across) + dot(down, down));
    return sqrt(clamp(alpha * alpha + min(2.0 * variance, 0.18), 0.0, 1.0));
}

// Returns the ambient occlusion of a pixel, and its contact shadow.
fn screen_open(pixel: vec2f) -> vec2f {
    let last = vec2i(textureDimensions(screen_occlusion)) - 1;
    return textureLoad(screen_occlusion, min(vec2i(pixel), last), 0).rg;
}

// Returns the parts of the sky's light that reach a matte surface and a mirroring one. Light that
// bright surfaces reflect to each other: Jimenez et al., "Practical Real-Time Strategies for
// Accurate Indirect Occlusion", 2016. Mirrors: Lagarde and de Rousiers, "Moving Frostbite to
// Physically Based Rendering", 2014.
struct ScreenOpen {
    matte: vec3f,
    mirror: f32,
}

fn open_parts(lit: Lit, roughness: f32) -> ScreenOpen {
    let open = lit.open;
    if open >= 1.0 {
        return ScreenOpen(vec3f(1.0), 1.0);
    }
    let color = lit.diffuse;
    let a = 2.0404 * color - 0.3324;
    let b = -4.7951 * color + 0.6417;
    let c = 2.7552 * color + 0.6903;
    let matte = max(vec3f(open), ((open * a + b) * open + c) * open);
    let narrow = exp2(-16.0 * roughness - 1.0);
    return ScreenOpen(matte, clamp(pow(lit.n_dot_v + open, narrow) - 1.0 + open, 0.0, 1.0));
}

// Returns the light that a pixel emits, and that of suns and lamps.
fn gather_lights(lit: Lit, emissive: vec3f) -> vec3f {
    var sum = emissive;
    for (var i = 0u; i < hidden_count(view.counts.x); i++) {
        let sun = view.suns[i];
        let layers = extractBits(view.cluster_begin.z, 8u * i, 8u);
        if (layers & ~lit.excluded) == 0u {
            continue;
        }
        var color = sun.color.rgb;
        if sun.towards.w > 0.5 && dot(lit.normal, sun.towards.xyz) > 0.0 {
            color *= sun_arrives(lit, sun.towards.xyz, sun.color.w) * lit.contact;
        }
        sum += send(lit, sun.towards.xyz, color);
    }
    return sum + local_lights(lit);
}

// Returns true if the maps of a sky or of probes light the surfaces of the view.
fn is_map_lit() -> bool {
    return SKY_MAPS && (hidden(view.sky_light.x) >= 0.0 || hidden(view.fog_towards.w) > 0.5);
}

// Returns the light of the sky and of probes that a pixel reflects. `occlusion`: that of the
// material.
fn gather_sky(lit: Lit, roughness: f32, occlusion: f32) -> vec3f {
    let shine = mirrored(lit.f0, roughness, lit.n_dot_v);
    let mirrored_from = reflect(-lit.back, lit.normal);
    var reflected: Reflected;
    if !is_map_lit() {
        reflected.matte = lit.diffuse * (1.0 - shine) * sky(lit.normal, 1.0);
        reflected.mirror = shine * sky(mirrored_from, roughness);
    } else {
        let all = mirrored(vec3f(1.0), roughness, lit.n_dot_v).x;
        let around = light_around(lit.world, lit.normal, mirrored_from, roughness);
        reflected = around_reflected(around, lit.diffuse, lit.f0, shine, all);
    }
    let screen = open_parts(lit, roughness);
    let ambient = reflected.matte * screen.matte + reflected.mirror * screen.mirror;
    return ambient * (occlusion * view.sky_light.w);
}
