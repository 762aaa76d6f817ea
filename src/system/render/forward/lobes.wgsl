// The lobes that a surface may have besides the standard ones, as the extensions of glTF 2.0 define
// them: clear coat, sheen, anisotropy, index of refraction, specular strength and transmission.
// Pipelines without LOBES contain nothing of this.

// True if the surfaces of the pipeline have any of them.
override LOBES: bool = false;

struct Lobes {
    // Directions of anisotropy, and the squared roughness along each.
    along: vec3f,
    across: vec3f,
    along_alpha: f32,
    across_alpha: f32,
    // Reflection at a grazing angle.
    f90: f32,
    coat: f32,
    coat_alpha: f32,
    coat_roughness: f32,
    sheen_color: vec3f,
    sheen_roughness: f32,
}

fn largest(x: vec3f) -> f32 {
    return max(x.x, max(x.y, x.z));
}

// Returns Schlick's Fresnel term of a clear coat, which has an index of refraction of 1.5.
fn coat_fresnel(cosine: f32) -> f32 {
    return 0.04 + 0.96 * pow(1.0 - cosine, 5.0);
}

// Returns the fraction of light that a white sheen reflects in all directions. The coefficients are
// a fit to the integral of the lobe in `send_lobes`; for a roughness from 0.25 it differs from it
// by less than 0.035.
fn sheen_albedo(cosine: f32, roughness: f32) -> f32 {
    let m = sqrt(clamp(cosine, 0.03, 1.0));
    let r = clamp(roughness, 0.25, 1.0);
    let powers = vec4f(1.0, r, r * r, r * r * r);
    let fit = dot(vec4f(-2.334, 14.19, -24.304, 12.181), powers)
        + m * dot(vec4f(20.812, -113.515, 174.297, -83.375), powers)
        + m * m * dot(vec4f(-46.418, 236.671, -358.57, 170.083), powers)
        + m * m * m * dot(vec4f(18.543, -116.708, 188.546, -92.04), powers);
    return clamp(exp(fit), 0.0, 1.0);
}

// Returns the fraction of light that passes the sheen.
fn under_sheen(lobes: Lobes, cosine: f32) -> f32 {
    let strongest = largest(lobes.sheen_color);
    return 1.0 - min(strongest, 1.0) * sheen_albedo(cosine, lobes.sheen_roughness);
}

// Returns the parameters of the lobes at a point.
fn lobes_of(out: SurfaceOut, normal: vec3f, tangent: vec4f, alpha: f32) -> Lobes {
    var it: Lobes;
    let flat_along = tangent.xyz - normal * dot(normal, tangent.xyz);
    let square = dot(flat_along, flat_along);
    let axis = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 0.0, 1.0), abs(normal.z) < 0.7);
    let other = cross(axis, normal);
    let t = select(normalize(other), flat_along * inverseSqrt(square), square > 1e-12);
    let b = cross(normal, t) * select(1.0, tangent.w, tangent.w != 0.0);
    let turned = vec2f(cos(out.anisotropy_rotation), sin(out.anisotropy_rotation));
    it.along = t * turned.x + b * turned.y;
    it.across = b * turned.x - t * turned.y;
    it.across_alpha = alpha;
    it.along_alpha = mix(alpha, 1.0, out.anisotropy * out.anisotropy);
    it.f90 = mix(out.specular, 1.0, out.metallic);
    it.coat = out.clear_coat;
    it.coat_roughness = out.clear_coat_roughness;
    it.coat_alpha = max(it.coat_roughness * it.coat_roughness, 0.002);
    it.sheen_color = out.sheen_color;
    it.sheen_roughness = clamp(out.sheen_roughness, 0.25, 1.0);
    return it;
}

// Returns the reflection of a surface seen from the front.
fn f0_of(out: SurfaceOut) -> vec3f {
    let part = (out.ior - 1.0) / (out.ior + 1.0);
    let plain = min(part * part * out.specular_color, vec3f(1.0)) * out.specular;
    return mix(plain, out.base_color, out.metallic);
}

// The visibility of microfacets times their distribution, as in `send`.
fn facets(alpha: f32, n_dot_h: f32, n_dot_l: f32, n_dot_v: f32) -> f32 {
    let a2 = alpha * alpha;
    let d = n_dot_h * n_dot_h * (a2 - 1.0) + 1.0;
    let v = n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - a2) + a2);
    let l = n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2);
    return a2 / max(d * d, 1e-7) * 0.5 / max(v + l, 1e-5);
}

// Returns the light that the sheen adds.
fn sheen_of(lit: Lit, n_dot_h: f32, n_dot_l: f32) -> vec3f {
    let inverse = 1.0 / (lit.lobes.sheen_roughness * lit.lobes.sheen_roughness);
    let sine = sqrt(max(1.0 - n_dot_h * n_dot_h, 0.0));
    let charlie = (2.0 + inverse) * pow(sine, inverse) * 0.5;
    let open = 0.25 / max(n_dot_l + lit.n_dot_v - n_dot_l * lit.n_dot_v, 1e-3);
    return lit.lobes.sheen_color * charlie * open;
}

// Returns the fraction of the light from one direction that is reflected to the camera. Anisotropic
// microfacets: Heitz, "Understanding the Masking-Shadowing Function in Microfacet-Based BRDFs",
// 2014. Sheen: Estevez and Kulla, "Production Friendly Microfacet Sheen BRDF", 2017, with the
// visibility of Neubelt and Pettineo, "Crafting a Next-Gen Material Pipeline for The Order: 1886",
// 2013.
fn send_lobes(lit: Lit, towards: vec3f) -> vec3f {
    let lobes = lit.lobes;
    let h = normalize(towards + lit.back);
    let l_dot_h = clamp(dot(towards, h), 0.0, 1.0);
    let n_dot_l = clamp(dot(lit.normal, towards), 0.0, 1.0);
    var sum = vec3f(0.0);
    if n_dot_l > 0.0 {
        let n_dot_h = clamp(dot(lit.normal, h), 0.0, 1.0);
        let at = lobes.along_alpha;
        let ab = lobes.across_alpha;
        let f = vec3f(dot(lobes.along, h) * ab, dot(lobes.across, h) * at, n_dot_h * at * ab);
        let w = at * ab / max(dot(f, f), 1e-9);
        let distribution = at * ab * w * w;
        let v = n_dot_l * length(vec3f(at * dot(lobes.along, lit.back),
                                       ab * dot(lobes.across, lit.back), lit.n_dot_v));
        let l = lit.n_dot_v * length(vec3f(at * dot(lobes.along, towards),
                                           ab * dot(lobes.across, towards), n_dot_l));
        let visible = 0.5 / max(v + l, 1e-5);
        let fresnel = lit.f0 + (vec3f(lobes.f90) - lit.f0) * pow(1.0 - l_dot_h, 5.0);
        sum = lit.diffuse * (1.0 - largest(fresnel)) + distribution * visible * fresnel;
        sum *= min(under_sheen(lobes, lit.n_dot_v), under_sheen(lobes, n_dot_l));
        sum = (sum + sheen_of(lit, n_dot_h, n_dot_l)) * n_dot_l;
    }
    let coat_l = clamp(dot(lit.flat_normal, towards), 0.0, 1.0);
    let coat_v = max(abs(dot(lit.flat_normal, lit.back)), 1e-4);
    let coat_h = clamp(dot(lit.flat_normal, h), 0.0, 1.0);
    let coated = facets(lobes.coat_alpha, coat_h, coat_l, coat_v) * coat_fresnel(l_dot_h) * coat_l;
    return sum * (1.0 - lobes.coat * coat_fresnel(coat_v)) + lobes.coat * coated;
}

// Returns the light of the sky and of probes around a surface: what it mirrors of a direction, and
// what it gathers.
fn lobe_light(lit: Lit, ray: vec3f, roughness: f32) -> Around {
    if is_map_lit() {
        return light_around(lit.world, lit.normal, ray, roughness);
    }
    return Around(sky(ray, roughness), sky(lit.normal, 1.0));
}

// Returns the sky's light that is reflected to the camera. `behind`: light that comes through,
// which nothing hides. `occlusion`: that of the material.
fn lobes_sky(lit: Lit, roughness: f32, behind: vec3f, occlusion: f32) -> vec3f {
    let lobes = lit.lobes;
    // The reflection of brushed surfaces is stretched: Revie, "Implementing Fur Using Deferred
    // Shading", 2011, bends the normal towards the camera across the lines.
    let stretch = 1.0 - lobes.across_alpha / max(lobes.along_alpha, 1e-4);
    let side = cross(lobes.along, lit.back);
    let bend = cross(side, lobes.along);
    let bent = normalize(mix(lit.normal, bend, stretch * 0.5) + lit.normal * 1e-3);
    let way = select(lit.normal, bent, stretch > 0.0);
    let mean = sqrt(sqrt(lobes.along_alpha * lobes.across_alpha));
    let blur = select(roughness, mean, stretch > 0.0);
    let full = mirrored(lit.f0, blur, lit.n_dot_v);
    // `mirrored` adds the part of a grazing angle of 1.
    let grazing = mirrored(vec3f(0.0), blur, lit.n_dot_v);
    let shine = full - grazing * (1.0 - lobes.f90);
    let around = lobe_light(lit, reflect(-lit.back, way), blur);
    // As in `gather`; the part that is reflected several times does not come through either.
    var several = vec3f(0.0);
    var diffuse = lit.diffuse * (1.0 - largest(shine));
    if is_map_lit() {
        let all = mirrored(vec3f(1.0), blur, lit.n_dot_v).x;
        let white = Around(vec3f(0.0), vec3f(1.0));
        several = around_reflected(white, vec3f(0.0), lit.f0, shine, all).matte;
        diffuse = around_reflected(white, lit.diffuse, lit.f0, shine, all).matte;
    }
    let share = occlusion * view.sky_light.w;
    let screen = open_parts(lit, blur);
    let gathered = around.gathered * screen.matte * share;
    let shown = around.mirrored * (screen.mirror * share);
    var sum = behind * max(1.0 - largest(shine + several), 0.0) + diffuse * gathered;
    sum = (sum + shine * shown) * under_sheen(lobes, lit.n_dot_v);
    let strongest = max(largest(lobes.sheen_color), 1e-6);
    let sheen = min(strongest, 1.0) * sheen_albedo(lit.n_dot_v, lobes.sheen_roughness);
    sum += lobes.sheen_color / strongest * sheen * gathered;
    if lobes.coat <= 0.0 {
        return sum;
    }
    let coat_v = max(abs(dot(lit.flat_normal, lit.back)), 1e-4);
    let coat = lobes.coat * coat_fresnel(coat_v);
    let over = lobe_light(lit, reflect(-lit.back, lit.flat_normal), lobes.coat_roughness).mirrored;
    let coat_open = open_parts(lit, lobes.coat_roughness).mirror * share;
    return sum * (1.0 - coat) + over * (coat_open * coat);
}
