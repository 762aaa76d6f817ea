//! Meshes of parts that several bones deform: a grid over the picture whose weights follow from the
//! distances to bones, or vertices, triangles and weights as the file has them.

use super::bones::Plane;
use super::fields::{Block, COORDINATE_MAX, numbers};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Mat4, Vec2, Vec3, error};
use engine_frame_packet::mesh::{MeshBounds, MeshPart, MeshVertex};
use engine_models::data::{MeshData, ModelData, SkinData};
use engine_models::sprite_skeleton::SpritePart;
use std::collections::BTreeMap;

pub const KEYS: [&str; 5] = ["grid", "bones", "vertices", "triangles", "weights"];
/// Maximum number of cells of a grid along an axis.
pub const GRID_CELLS_MAX: usize = 64;
/// Maximum number of vertices of a part.
pub const MESH_VERTICES_MAX: usize = 8192;
/// Maximum number of triangles of a part.
pub const MESH_TRIANGLES_MAX: usize = 16_384;
/// Maximum number of vertices of all meshes of a skeleton.
pub const SKELETON_VERTICES_MAX: usize = 1 << 17;
/// Maximum number of bones of a mesh.
pub const MESH_BONES_MAX: usize = 128;
/// Number of bones that move a vertex.
const JOINTS_OF_VERTEX: usize = 4;
/// Distance at which the weight of a bone is the same as at the bone itself, as a part of the size
/// of the mesh.
const NEAR_PART: f32 = 0.02;

/// The part that gets a mesh.
pub struct PartShape<'a> {
    /// Name of the mesh.
    pub title: &'a str,
    pub part: &'a SpritePart,
    pub bone: u16,
    pub plane: Plane,
    /// Indices of the bones by their names.
    pub bones: &'a BTreeMap<String, u16>,
}

/// Mesh in the plane of the skeleton.
#[derive(Default)]
struct FlatMesh {
    /// Positions in the space of the bone of the slot, in metres.
    points: Vec<Vec2>,
    uvs: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
    /// Bones that move it.
    bones: Vec<u16>,
    /// Indices into `bones` and weights of each vertex.
    weights: Vec<Vec<(u16, f32)>>,
}

/// Sets the tangents of vertices: the direction to the right in the picture, the mean of the
/// triangles by their areas in the picture. The sign is below 0 where the picture is mirrored.
fn set_tangents(vertices: &mut [MeshVertex], triangles: &[[u32; 3]], normal: Vec3) {
    let mut sums = vec![(Vec3::ZERO, 0.0); vertices.len()];
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| &vertices[corner as usize]);
        let side = |to: &MeshVertex| {
            let way = Vec3::from_array(to.position) - Vec3::from_array(a.position);
            (way, Vec2::from_array(to.uv) - Vec2::from_array(a.uv))
        };
        let ((first, first_uv), (second, second_uv)) = (side(b), side(c));
        let area = first_uv.perp_dot(second_uv);
        let right = (first * second_uv.y - second * first_uv.y) * area.signum();
        // v increases downwards.
        let up = (first * second_uv.x - second * first_uv.x) * area.signum();
        let turn = normal.cross(right).dot(up);
        for corner in corners {
            let (sum, turns) = &mut sums[*corner as usize];
            *sum += right;
            *turns += turn;
        }
    }
    for (vertex, (right, turn)) in vertices.iter_mut().zip(sums) {
        let right = right.try_normalize().unwrap_or(Vec3::X);
        vertex.tangent = MeshVertex::packed(right, if turn < 0.0 { -1.0 } else { 1.0 });
    }
}

/// Adds the mesh of a part and its skin to the model. Returns their indices.
///
/// # Errors
/// Returns an error that names the line and the part.
pub fn add(model: &mut ModelData, block: &Block, shape: &PartShape) -> Result<(u32, u32), Error> {
    let has_grid = block.value.get("grid").is_some();
    let others = ["vertices", "triangles", "weights"];
    if has_grid && others.iter().any(|key| block.value.get(key).is_some()) {
        return Err(block
            .error_at(block.value, "has a grid: leave out 'vertices', 'triangles' and 'weights'"));
    }
    let to_model = world(model, usize::from(shape.bone));
    if !to_model.inverse().is_finite() {
        return Err(without_scale(block));
    }
    let mesh = match has_grid {
        true => grid(model, block, shape)?,
        false => listed(block, shape)?,
    };
    check_vertices(model, block, mesh.points.len())?;
    let normal = if shape.plane.upright { Vec3::NEG_Y } else { Vec3::Z };
    let vertex = |(point, uv): (&Vec2, &[f32; 2])| MeshVertex {
        position: to_model.transform_point3(in_plane(shape.plane, *point)).to_array(),
        normal: MeshVertex::packed(normal, 0.0),
        tangent: MeshVertex::packed(Vec3::X, 1.0),
        uv: *uv,
        color: [255; 4],
    };
    let mut vertices: Vec<MeshVertex> = mesh.points.iter().zip(&mesh.uvs).map(vertex).collect();
    set_tangents(&mut vertices, &mesh.triangles, normal);
    let mut joints = Vec::with_capacity(vertices.len());
    let mut weights = Vec::with_capacity(vertices.len());
    for of_vertex in &mesh.weights {
        let (mut four, mut shares) = ([0; 4], [0.0; 4]);
        for (slot, (bone, weight)) in of_vertex.iter().take(JOINTS_OF_VERTEX).enumerate() {
            (four[slot], shares[slot]) = (*bone, *weight);
        }
        joints.push(four);
        weights.push(shares);
    }
    let inverse = |bone: &u16| world(model, usize::from(*bone)).inverse().to_cols_array();
    let inverse_bind: Vec<[f32; 16]> = mesh.bones.iter().map(inverse).collect();
    if inverse_bind.iter().flatten().any(|number| !number.is_finite()) {
        return Err(without_scale(block));
    }
    let indices: Vec<u32> = mesh.triangles.iter().flatten().copied().collect();
    let name = shape.title.to_string();
    model.meshes.push(MeshData {
        name: name.clone(),
        bounds: MeshBounds::of(&vertices),
        parts: vec![MeshPart { first: 0, count: indices.len() as u32, surface: 0 }],
        surfaces: vec![None],
        vertices,
        indices,
        joints,
        weights,
        targets: Vec::new(),
        target_names: Vec::new(),
        target_weights: Vec::new(),
    });
    let joints = mesh.bones.iter().map(|bone| u32::from(*bone)).collect();
    model.skins.push(SkinData { name, joints, inverse_bind });
    Ok((model.meshes.len() as u32 - 1, model.skins.len() as u32 - 1))
}

fn without_scale(block: &Block) -> Error {
    block.error_at(block.value, "has a bone with a scale of 0, which deforms nothing")
}

/// Checks the number of the vertices of a skeleton with those of a further mesh.
fn check_vertices(model: &ModelData, block: &Block, count: usize) -> Result<(), Error> {
    let known: usize = model.meshes.iter().map(|mesh| mesh.vertices.len()).sum();
    match known + count > SKELETON_VERTICES_MAX {
        true => Err(block.error_at(
            block.value,
            &format!(
                "has a vertex too many: the meshes of a skeleton have at most \
                 {SKELETON_VERTICES_MAX} vertices (SKELETON_VERTICES_MAX): use smaller grids"
            ),
        )),
        false => Ok(()),
    }
}

fn in_plane(plane: Plane, point: Vec2) -> Vec3 {
    if plane.upright { Vec3::new(point.x, 0.0, point.y) } else { Vec3::new(point.x, point.y, 0.0) }
}

/// Returns the matrix from a bone's space into the model's at rest.
fn world(model: &ModelData, bone: usize) -> Mat4 {
    model.world(&model.nodes[bone])
}

/// Returns the index of a bone.
fn find_bone(shape: &PartShape, block: &Block, name: &str) -> Result<u16, Error> {
    shape.bones.get(name).copied().ok_or_else(|| {
        let near = hint(name, shape.bones.keys().map(String::as_str));
        block.error_at(block.value, &format!("has the bone '{name}', which does not exist{near}"))
    })
}

/// Returns a grid over the picture. The weights of a vertex fall with its distances to the bones.
fn grid(model: &ModelData, block: &Block, shape: &PartShape) -> Result<FlatMesh, Error> {
    let value = block.value;
    let cells = block.pair("grid", GRID_CELLS_MAX as f32)?.unwrap_or([0.0; 2]);
    if cells.iter().any(|count| count.fract() != 0.0 || *count < 1.0) {
        let message = format!(
            "has a grid that is not valid: use two whole numbers from 1 to {GRID_CELLS_MAX}, \
             such as [6, 1]"
        );
        return Err(block.error_at(value, &message));
    }
    let [width, height] = shape.part.size;
    if width <= 0.0 {
        return Err(block.error_at(value, "has a grid: the part needs a 'size' in texels"));
    }
    let mut mesh = FlatMesh { bones: bones_of(shape, block)?, ..FlatMesh::default() };
    let [columns, rows] = cells.map(|count| count as usize);
    let SpritePart { position, rotation, scale, pivot, .. } = *shape.part;
    let (sine, cosine) = engine_foundation::deterministic_math::sin_cos(rotation);
    for row in 0..=rows {
        for column in 0..=columns {
            let (u, v) = (column as f32 / columns as f32, row as f32 / rows as f32);
            let x = (u - pivot[0]) * width * scale[0];
            let y = (v - pivot[1]) * height * scale[1];
            let turned = Vec2::new(x * cosine - y * sine, x * sine + y * cosine);
            mesh.points.push(turned + Vec2::from_array(position));
            mesh.uvs.push([u, 1.0 - v]);
        }
    }
    let stride = columns as u32 + 1;
    for row in 0..rows as u32 {
        for column in 0..columns as u32 {
            let corner = row * stride + column;
            let [right, above] = [corner + 1, corner + stride];
            mesh.triangles.extend([[corner, right, above + 1], [corner, above + 1, above]]);
        }
    }
    weigh(model, shape, (width * scale[0]).abs().max((height * scale[1]).abs()), &mut mesh);
    Ok(mesh)
}

/// Reads the list of the bones of a mesh.
fn bones_of(shape: &PartShape, block: &Block) -> Result<Vec<u16>, Error> {
    let names: Option<Vec<&str>> =
        block.value.get("bones").and_then(|list| list.items()?.map(|item| item.as_str()).collect());
    let names = names.filter(|names| (1..=MESH_BONES_MAX).contains(&names.len()));
    let names = names.ok_or_else(|| {
        let message = format!(
            "needs 'bones', a list of 1 to {MESH_BONES_MAX} names of bones (MESH_BONES_MAX) that \
             deform it"
        );
        block.error_at(block.value, &message)
    })?;
    names.into_iter().map(|name| find_bone(shape, block, name)).collect()
}

/// Sets the weights of a grid. A bone reaches from its origin to that of the next one in the list
/// if it is its child, and is a point otherwise.
fn weigh(model: &ModelData, shape: &PartShape, size: f32, mesh: &mut FlatMesh) {
    let to_slot = world(model, usize::from(shape.bone)).inverse();
    let origin = |bone: u16| {
        let [x, y, z] =
            (to_slot * world(model, usize::from(bone))).transform_point3(Vec3::ZERO).to_array();
        Vec2::new(x, if shape.plane.upright { z } else { y })
    };
    let mut segments: Vec<(Vec2, Vec2)> = Vec::with_capacity(mesh.bones.len());
    for (index, bone) in mesh.bones.iter().enumerate() {
        let next = mesh
            .bones
            .get(index + 1)
            .filter(|next| model.nodes[usize::from(**next)].parent == Some(u32::from(*bone)));
        let from = origin(*bone);
        segments.push((from, next.map_or(from, |next| origin(*next))));
    }
    let near = (size * NEAR_PART).max(1e-6);
    mesh.weights = mesh.points.iter().map(|point| nearest_bones(*point, &segments, near)).collect();
}

/// Returns the four nearest bones of a point with their weights.
fn nearest_bones(point: Vec2, segments: &[(Vec2, Vec2)], near: f32) -> Vec<(u16, f32)> {
    let weight = |(bone, (from, to)): (usize, &(Vec2, Vec2))| {
        let along = *to - *from;
        let length = along.length_squared();
        let part = if length > 0.0 { (point - *from).dot(along) / length } else { 0.0 };
        let distance = point.distance_squared(*from + along * part.clamp(0.0, 1.0)) / (near * near);
        let falloff = 1.0 / (distance + 1.0);
        (bone as u16, falloff * falloff)
    };
    let mut all: Vec<(u16, f32)> = segments.iter().enumerate().map(weight).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(JOINTS_OF_VERTEX);
    let sum: f32 = all.iter().map(|(_, weight)| weight).sum();
    all.iter_mut().for_each(|(_, weight)| *weight /= sum);
    all
}

/// Reads a mesh with vertices, triangles and weights.
fn listed(block: &Block, shape: &PartShape) -> Result<FlatMesh, Error> {
    let mut mesh = FlatMesh::default();
    let at = |key: &str, message: String| {
        let value = block.value.get(key).unwrap_or(block.value);
        error!("{}:{}: '{key}' of {} {message}", block.path, value.line(), block.subject)
    };
    let list = |key: &str, most: usize, limit: &str| {
        let items = block.value.get(key).and_then(|value| value.items());
        let items = items.filter(|items| items.len() > 0 && items.len() <= most);
        items.ok_or_else(|| at(key, format!("must be a list of 1 to {most} ({limit})")))
    };
    for item in list("vertices", MESH_VERTICES_MAX, "MESH_VERTICES_MAX")? {
        let inside = |part: f32| (0.0..=1.0).contains(&part);
        let vertex = numbers::<4>(item, COORDINATE_MAX);
        let vertex = vertex.filter(|[_, _, u, v]| inside(*u) && inside(*v));
        let [x, y, u, v] = vertex.ok_or_else(|| {
            at(
                "vertices",
                "must be lists of x and y in texels, and u and v from 0 to 1".to_string(),
            )
        })?;
        mesh.points.push(Vec2::new(x, y) * shape.plane.metres_per_texel);
        mesh.uvs.push([u, v]);
    }
    let count = mesh.points.len();
    for item in list("triangles", MESH_TRIANGLES_MAX, "MESH_TRIANGLES_MAX")? {
        let corners = numbers::<3>(item, count as f32)
            .filter(|corners| corners.iter().all(|it| it.fract() == 0.0 && *it >= 1.0));
        let corners = corners.ok_or_else(|| {
            at("triangles", format!("must be lists of three vertices, from 1 to {count}"))
        })?;
        mesh.triangles.push(corners.map(|corner| corner as u32 - 1));
    }
    if block.value.get("weights").is_none() {
        mesh.bones = vec![shape.bone];
        mesh.weights = vec![vec![(0, 1.0)]; count];
        return Ok(mesh);
    }
    let items = list("weights", MESH_VERTICES_MAX, "MESH_VERTICES_MAX")?;
    if items.len() != count {
        let found = items.len();
        return Err(at("weights", format!("has {found} blocks for {count} vertices")));
    }
    for item in items {
        let shares = read_weights(shape, (block.path, &block.subject), item, &mut mesh.bones)?;
        mesh.weights.push(shares);
    }
    Ok(mesh)
}

/// Reads the weights of a vertex: `{ arm = 0.5 hand = 0.5 }`. Bones are added to `bones`.
fn read_weights(
    shape: &PartShape,
    (path, subject): (&str, &str),
    item: engine_foundation::sjson::SjsonValue,
    bones: &mut Vec<u16>,
) -> Result<Vec<(u16, f32)>, Error> {
    let block = Block::open(path, format!("the weights of {subject}"), item, &[])?;
    let entries = block.entries()?;
    if entries.is_empty() || entries.len() > JOINTS_OF_VERTEX {
        let message =
            format!("have {} bones for a vertex: use 1 to {JOINTS_OF_VERTEX}", entries.len());
        return Err(block.error_at(item, &message));
    }
    let mut shares: Vec<(u16, f32)> = Vec::with_capacity(entries.len());
    for entry in entries {
        let bone = find_bone(shape, &block, entry.key)?;
        let weight = block.number(entry.key, 0.0, COORDINATE_MAX)?.unwrap_or(0.0);
        let index = bones.iter().position(|known| *known == bone).unwrap_or_else(|| {
            bones.push(bone);
            bones.len() - 1
        });
        if index >= MESH_BONES_MAX {
            let message = format!("name more than {MESH_BONES_MAX} bones (MESH_BONES_MAX)");
            return Err(block.error_at(item, &message));
        }
        shares.push((index as u16, weight));
    }
    let sum: f32 = shares.iter().map(|(_, weight)| weight).sum();
    if sum <= 0.0 {
        return Err(block.error_at(item, "add up to 0: one of them must be above 0"));
    }
    shares.iter_mut().for_each(|(_, weight)| *weight /= sum);
    Ok(shares)
}
