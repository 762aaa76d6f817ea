// Skins and morph targets: the position of a vertex in the pose of its draw. Other shaders include
// this after their declarations of `engine_poses` (rows of four numbers, scene/deformations.rs) and
// `engine_offsets` (offsets of morph targets, morph_buffer.rs). Names begin with `engine_`, because
// custom shaders include it too.

struct EngineDeformer {
    @location(6) joints: vec4u,
    @location(7) weights: vec4f,
    // Position and number of the vertex's offsets.
    @location(8) offsets: vec2u,
}

struct EngineMoved {
    position: vec3f,
    normal: vec3f,
}

// Returns the position of a draw's header, increased by one; 0: the draw has its bind pose.
fn engine_pose(tint: vec4u) -> u32 {
    return tint.w >> 2u;
}

// Adds the morph targets to a vertex. `pose` is also the position of the weights, which follow the
// header: x joints, y targets, z rows of weights.
fn engine_morphed(pose: u32, offsets: vec2u, position: vec3f, normal: vec3f) -> EngineMoved {
    var out = EngineMoved(position, normal);
    if pose == 0u {
        return out;
    }
    let count = u32(engine_poses[pose - 1u].y);
    if count == 0u {
        return out;
    }
    for (var i = 0u; i < offsets.y; i++) {
        let offset = engine_offsets[offsets.x + i];
        let number = offset.w & 0xffu;
        if number < count {
            let four = engine_poses[pose + (number >> 2u)];
            let weight = four[number & 3u];
            out.position += bitcast<vec3f>(offset.xyz) * weight;
            out.normal += unpack4x8snorm(offset.w).yzw * (2.0 * weight);
        }
    }
    return out;
}

// Returns the rows of a draw's matrix for one vertex: its joints move it first. A vertex without
// weights is not moved.
fn engine_skinned(pose: u32, joints: vec4u, weights: vec4f, draw: mat3x4f) -> mat3x4f {
    if pose == 0u {
        return draw;
    }
    let header = vec3u(engine_poses[pose - 1u].xyz);
    let count = header.x;
    if count == 0u || weights.x + weights.y + weights.z + weights.w == 0.0 {
        return draw;
    }
    let at = pose + header.z + 3u * min(joints, vec4u(count - 1u));
    var x = engine_poses[at.x] * weights.x;
    var y = engine_poses[at.x + 1u] * weights.x;
    var z = engine_poses[at.x + 2u] * weights.x;
    for (var i = 1u; i < 4u; i++) {
        let weight = weights[i];
        if weight > 0.0 {
            let first = at[i];
            x += engine_poses[first] * weight;
            y += engine_poses[first + 1u] * weight;
            z += engine_poses[first + 2u] * weight;
        }
    }
    return mat3x4f(
        draw[0].x * x + draw[0].y * y + draw[0].z * z + vec4f(0.0, 0.0, 0.0, draw[0].w),
        draw[1].x * x + draw[1].y * y + draw[1].z * z + vec4f(0.0, 0.0, 0.0, draw[1].w),
        draw[2].x * x + draw[2].y * y + draw[2].z * z + vec4f(0.0, 0.0, 0.0, draw[2].w),
    );
}
