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

// A vertex in the world. The normal has any length.
struct EnginePlaced {
    world: vec3f,
    normal: vec3f,
    tangent: vec3f,
    // -1 if the mesh is mirrored.
    side: f32,
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

// Returns the position of a vertex in the world by the rows of a matrix.
fn engine_world(rows: mat3x4f, position: vec3f) -> vec3f {
    let at = vec4f(position, 1.0);
    return vec3f(dot(rows[0], at), dot(rows[1], at), dot(rows[2], at));
}

// Transforms a vertex by the rows of a matrix.
fn engine_placed(rows: mat3x4f, position: vec3f, n: vec3f, t: vec3f) -> EnginePlaced {
    // The columns, and their cofactors: normals stay perpendicular under any scale.
    let a = vec3f(rows[0].x, rows[1].x, rows[2].x);
    let b = vec3f(rows[0].y, rows[1].y, rows[2].y);
    let c = vec3f(rows[0].z, rows[1].z, rows[2].z);
    let side = select(1.0, -1.0, dot(cross(a, b), c) < 0.0);
    let normal = (cross(b, c) * n.x + cross(c, a) * n.y + cross(a, b) * n.z) * side;
    let tangent = a * t.x + b * t.y + c * t.z;
    return EnginePlaced(engine_world(rows, position), normal, tangent, side);
}

// Returns the row that the pre-skinned vertex 0 of a draw's vertex buffer has, or would have; 0:
// the draw is not pre-skinned (pre_skinning.rs).
fn engine_pre_skinned(pose: u32) -> f32 {
    if pose == 0u {
        return 0.0;
    }
    return engine_poses[pose - 1u].w;
}

// Returns the first of the three rows of a pre-skinned vertex (skinning.wgsl). `first` is not 0.
fn engine_skinned_row(first: f32, vertex: u32) -> u32 {
    return u32(i32(first) + 3 * i32(vertex));
}

// Returns a pre-skinned vertex.
fn engine_skinned_vertex(row: u32) -> EnginePlaced {
    let world = engine_poses[row];
    let normal = engine_poses[row + 1u];
    let tangent = vec3f(normal.w, engine_poses[row + 2u].xy);
    return EnginePlaced(world.xyz, normal.xyz, tangent, world.w);
}
