// Checks of the results of games' surface functions: infinite numbers and those that are none must
// not reach the light, where later passes would spread them.

fn is_number(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

fn number(x: f32, least: f32, most: f32) -> f32 {
    return select(least, clamp(x, least, most), is_number(x));
}

fn numbers(x: vec3f, most: f32) -> vec3f {
    return vec3f(number(x.x, 0.0, most), number(x.y, 0.0, most), number(x.z, 0.0, most));
}

// Returns a direction of length 1, or another one if it has none.
fn direction_or(x: vec3f, other: vec3f) -> vec3f {
    let square = dot(x, x);
    return select(other, x * inverseSqrt(square), is_number(square) && square > 1e-12);
}

fn checked_surface(out: SurfaceOut, normal: vec3f) -> SurfaceOut {
    var it = out;
    it.base_color = numbers(out.base_color, 60000.0);
    it.alpha = number(out.alpha, 0.0, 1.0);
    it.metallic = number(out.metallic, 0.0, 1.0);
    it.roughness = number(out.roughness, 0.0, 1.0);
    it.normal = direction_or(out.normal, normal);
    it.occlusion = number(out.occlusion, 0.0, 1.0);
    it.emissive = numbers(out.emissive, 60000.0);
    it.clear_coat = number(out.clear_coat, 0.0, 1.0);
    it.clear_coat_roughness = number(out.clear_coat_roughness, 0.0, 1.0);
    it.sheen_color = numbers(out.sheen_color, 1.0);
    it.sheen_roughness = number(out.sheen_roughness, 0.0, 1.0);
    it.anisotropy = number(out.anisotropy, 0.0, 1.0);
    it.anisotropy_rotation = number(out.anisotropy_rotation, -1000.0, 1000.0);
    it.ior = number(out.ior, 1.0, 5.0);
    it.specular = number(out.specular, 0.0, 1.0);
    it.specular_color = numbers(out.specular_color, 100.0);
    it.transmission = number(out.transmission, 0.0, 1.0);
    it.thickness = number(out.thickness, 0.0, 1000.0);
    return it;
}

// Returns an offset that is at most as long as the bounding spheres of draws allow.
fn checked_offset(offset: vec3f, most: f32) -> vec3f {
    let metres = length(offset);
    let kept_offset = select(offset * (most / max(metres, 1e-20)), offset, metres <= most);
    return select(vec3f(0.0), kept_offset, is_number(metres));
}

// Returns any direction that is perpendicular to a normal.
fn perpendicular(normal: vec3f) -> vec3f {
    let axis = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 0.0, 1.0), abs(normal.z) < 0.7);
    return direction_or(cross(axis, normal), vec3f(1.0, 0.0, 0.0));
}
