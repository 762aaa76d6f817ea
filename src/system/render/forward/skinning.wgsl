// Pre-skinning: moves the vertices of meshes that are drawn in several passes once, and stores them
// in the world, behind the rows of all poses. Each workgroup has a chunk of vertices of one draw.

struct Draw {
#include "draw_fields.wgsl"
}

// Words of a vertex, and of its joints and morph offsets (mesh_buffers.rs).
const VERTEX_WORDS: u32 = 8u;
const DEFORMER_WORDS: u32 = 6u;

@group(0) @binding(0) var<storage, read> draws: array<Draw>;
@group(0) @binding(1) var<storage, read_write> engine_poses: array<vec4f>;
@group(0) @binding(2) var<storage, read> engine_offsets: array<vec4u>;
// Index of the draw, the first vertex in the buffer and the number of vertices, and the first row.
@group(0) @binding(3) var<storage, read> chunks: array<vec4u>;
@group(0) @binding(4) var<storage, read> vertices: array<u32>;
@group(0) @binding(5) var<storage, read> deformers: array<u32>;

#include "deformation.wgsl"

@compute @workgroup_size(64)
fn skin(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let chunk = chunks[group.x];
    if lane >= chunk.z {
        return;
    }
    let at = (chunk.y + lane) * VERTEX_WORDS;
    let by = (chunk.y + lane) * DEFORMER_WORDS;
    let position = bitcast<vec3f>(vec3u(vertices[at], vertices[at + 1u], vertices[at + 2u]));
    let normal = unpack4x8snorm(vertices[at + 3u]).xyz;
    let tangent = unpack4x8snorm(vertices[at + 4u]).xyz;
    let pairs = vec2u(deformers[by], deformers[by + 1u]);
    let joints = vec4u(pairs.x & 0xffffu, pairs.x >> 16u, pairs.y & 0xffffu, pairs.y >> 16u);
    let first_two = unpack2x16unorm(deformers[by + 2u]);
    let weights = vec4f(first_two, unpack2x16unorm(deformers[by + 3u]));
    let offsets = vec2u(deformers[by + 4u], deformers[by + 5u]);
    let draw = draws[chunk.x];
    let pose = engine_pose(draw.tint);
    let moved = engine_morphed(pose, offsets, position, normal);
    let rows = engine_skinned(pose, joints, weights, mat3x4f(draw.x, draw.y, draw.z));
    let vertex = engine_placed(rows, moved.position, moved.normal, tangent);
    let row = chunk.w + lane * 3u;
    engine_poses[row] = vec4f(vertex.world, vertex.side);
    engine_poses[row + 1u] = vec4f(vertex.normal, vertex.tangent.x);
    engine_poses[row + 2u] = vec4f(vertex.tangent.yz, 0.0, 0.0);
}
