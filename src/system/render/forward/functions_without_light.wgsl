// Surface functions of games in passes without light: where they move vertices, and where they cut
// holes. Shaders with `Corner` and `Point` include this; `pass_seconds` returns their time.

fn set_frame() {
    frame.seconds = pass_seconds();
    frame.sun_direction = vec3f(0.0, 0.0, 1.0);
    frame.sun_color = vec3f(0.0);
}

fn linear_light(color: vec3f) -> vec3f {
    let low = color / 12.92;
    let high = pow((color + 0.055) / 1.055, vec3f(2.4));
    return select(high, low, color <= vec3f(0.04045));
}

// Fills the inputs of surface functions at a vertex, and returns how far they move it. The normal
// is in the world, and has any length.
fn moved_by_functions(
    in: Corner,
    normal: vec3f,
    world: vec3f,
    tint: vec4u,
    to: ptr<function, Point>,
) -> vec3f {
    set_frame();
    (*to).normal = direction_or(normal, vec3f(0.0, 0.0, 1.0));
    (*to).color = linear_light(in.color.rgb) * linear_light(unpack4x8unorm(tint.x).rgb);
    (*to).position = in.position;
    let color = vec4f((*to).color, (*to).alpha);
    let at_vertex = VertexIn(in.position, world, (*to).normal, (*to).uv, color);
    let longest = bitcast<f32>(surfaces[surface_index(in.which.y)].flags.y);
    return checked_offset(vertex_offset(at_vertex), longest);
}

// Returns the inputs of a game's surface function. A map has no camera, and of the textures of the
// material only the color is read.
fn surface_in(in: Point, own: Surface, painted: vec4f) -> SurfaceIn {
    var base: SurfaceOut;
    let texel = painted.rgb / max(painted.a, 1.0 / 255.0);
    base.base_color = own.base_color.rgb * texel * in.color;
    base.alpha = own.base_color.a * painted.a * in.alpha;
    base.metallic = own.metallic;
    base.roughness = own.roughness;
    base.normal = direction_or(in.normal, vec3f(0.0, 0.0, 1.0));
    base.occlusion = 1.0;
    base.emissive = own.emissive;
    base.clear_coat = own.coat.x;
    base.clear_coat_roughness = own.coat.y;
    base.sheen_color = own.sheen.rgb;
    base.sheen_roughness = own.coat.z;
    base.anisotropy = own.anisotropy.x;
    base.anisotropy_rotation = own.anisotropy.y;
    base.ior = own.sheen.w;
    base.specular = own.specular.w;
    base.specular_color = own.specular.rgb;
    base.transmission = own.coat.w;
    base.thickness = own.anisotropy.z;
    var it: SurfaceIn;
    it.base = base;
    it.uv = in.uv;
    it.position = in.position;
    it.world_position = in.world;
    it.normal = base.normal;
    it.tangent = perpendicular(base.normal);
    it.bitangent = cross(base.normal, it.tangent);
    it.color = vec4f(in.color, in.alpha);
    it.view_direction = base.normal;
    it.pixel = in.clip.xy;
    it.front_facing = true;
    return it;
}

// Returns the alpha that a game's surface function returns.
fn alpha_of_functions(in: Point, own: Surface, painted: vec4f) -> f32 {
    set_frame();
    return number(surface(surface_in(in, own, painted)).alpha, 0.0, 1.0);
}
