// The interface of games' surface functions. mesh.wgsl and shadow.wgsl fill it for a game's module.

// A surface at a point. Colors are linear light.
struct SurfaceOut {
    base_color: vec3f,
    alpha: f32,
    metallic: f32,
    roughness: f32,
    // In world space.
    normal: vec3f,
    // The fraction of the sky's light that arrives.
    occlusion: f32,
    emissive: vec3f,
    // A smooth layer over the surface, from 0 to 1, and its roughness.
    clear_coat: f32,
    clear_coat_roughness: f32,
    // Light that fibres of cloth scatter at the rim.
    sheen_color: vec3f,
    sheen_roughness: f32,
    // Strength of brushed lines, from 0 to 1, and their angle to the tangent in radians.
    anisotropy: f32,
    anisotropy_rotation: f32,
    // Index of refraction; strength and color of the reflection of what is not metal.
    ior: f32,
    specular: f32,
    specular_color: vec3f,
    // The part of the light from behind that comes through, from 0 to 1, and the thickness in
    // metres over which it is refracted.
    transmission: f32,
    thickness: f32,
}

struct SurfaceIn {
    // The surface that the numbers and textures of the material describe.
    base: SurfaceOut,
    uv: vec2f,
    // In the space of the mesh, after joints and morph targets of it have moved the vertex.
    position: vec3f,
    world_position: vec3f,
    // The geometry's normal, tangent and bitangent in world space, towards the camera.
    normal: vec3f,
    tangent: vec3f,
    bitangent: vec3f,
    // The color of the vertex times the tint of the mesh.
    color: vec4f,
    // Direction towards the camera, in world space.
    view_direction: vec3f,
    // Position in the view: from 0, 0 at the top left to 1, 1.
    screen: vec2f,
    // The same in pixels.
    pixel: vec2f,
    front_facing: bool,
}

struct VertexIn {
    position: vec3f,
    world_position: vec3f,
    normal: vec3f,
    uv: vec2f,
    color: vec4f,
}

struct FrameValues {
    // Seconds of game time.
    seconds: f32,
    // Direction towards the first sun, and its light; without a sun, up and black.
    sun_direction: vec3f,
    sun_color: vec3f,
}

var<private> frame: FrameValues;

// Returns the direction in world space of one in the space of normal textures.
fn from_tangent_space(in: SurfaceIn, direction: vec3f) -> vec3f {
    return in.tangent * direction.x + in.bitangent * direction.y + in.normal * direction.z;
}
