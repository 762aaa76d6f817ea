//! Meshes of a glTF file: each primitive becomes a part, and all parts of a mesh share one vertex
//! list.

use super::accessor::{GltfSource, missing};
use super::materials::GltfMaterials;
use super::nodes::{direction, to_z_up};
use crate::data::MeshData;
use crate::geometry::{NormalSource, TriangleInput, to_srgb};
use crate::unique_names::UniqueNames;
use engine_foundation::error;
use engine_foundation::sjson::{self, SjsonValue};
use engine_foundation::{Error, Vec2, Vec3, Vec4};
use engine_frame_packet::mesh::{INDICES_MAX, MeshBounds, MeshPart, PARTS_MAX, VERTICES_MAX};
use gltf::json::accessor::Type;
use gltf::json::mesh::{Mode, Primitive, Semantic};
use gltf::json::validation::Checked;

/// Reads all meshes. Content that cannot be shown is reported in `warnings`.
pub fn read(
    source: &GltfSource,
    surfaces: &GltfMaterials,
    warnings: &mut Vec<String>,
) -> Result<Vec<MeshData>, Error> {
    let mut meshes = empty_meshes(source);
    for (data, mesh) in meshes.iter_mut().zip(&source.root.meshes) {
        for (part, primitive) in mesh.primitives.iter().enumerate() {
            let added = add(source, surfaces, data, primitive, (part, &mut *warnings));
            added.map_err(|fault| {
                error!("mesh '{}', primitive {part}: {}", data.name, fault.message)
            })?;
        }
        data.bounds = MeshBounds::of(&data.vertices);
        name_targets(data, mesh);
    }
    Ok(meshes)
}

/// Returns all meshes with their names alone.
fn empty_meshes(source: &GltfSource) -> Vec<MeshData> {
    let mut names = UniqueNames::default();
    let empty = |(index, mesh): (usize, &gltf::json::Mesh)| MeshData {
        name: names.add(mesh.name.as_deref(), "mesh", index),
        vertices: Vec::new(),
        indices: Vec::new(),
        parts: Vec::new(),
        surfaces: Vec::new(),
        bounds: MeshBounds::of(&[]),
        joints: Vec::new(),
        weights: Vec::new(),
        targets: Vec::new(),
        target_names: Vec::new(),
        target_weights: Vec::new(),
    };
    source.root.meshes.iter().enumerate().map(empty).collect()
}

/// Sets the names of morph targets, which exporters write as an extra (`targetNames`), and their
/// initial weights. Lists that do not fit the targets are left out.
fn name_targets(data: &mut MeshData, mesh: &gltf::json::Mesh) {
    let count = data.targets.len();
    if let Some(weights) = &mesh.weights
        && weights.len() == count
        && weights.iter().all(|weight| weight.is_finite())
    {
        data.target_weights.clone_from(weights);
    }
    let Some(extras) = mesh.extras.as_ref().and_then(|it| sjson::parse(it.get()).ok()) else {
        return;
    };
    let names = extras.root().get("targetNames").and_then(SjsonValue::items).into_iter().flatten();
    let names: Vec<String> = names.filter_map(|it| it.as_str().map(str::to_string)).collect();
    if names.len() == count {
        data.target_names = names;
    }
}

/// Returns all meshes with their names and numbers of morph targets, without vertices.
pub fn outlines(source: &GltfSource) -> Vec<MeshData> {
    let mut meshes = empty_meshes(source);
    for (data, mesh) in meshes.iter_mut().zip(&source.root.meshes) {
        let targets = mesh.primitives.iter().filter_map(|it| it.targets.as_ref()).map(Vec::len);
        data.targets = vec![Vec::new(); targets.max().unwrap_or(0)];
    }
    meshes
}

fn attribute(primitive: &Primitive, semantic: Semantic) -> Option<usize> {
    primitive.attributes.get(&Checked::Valid(semantic)).map(|index| index.value())
}

/// Returns the list, or an error if it is not as long as the positions.
fn check_length<T>(list: Vec<T>, count: usize, name: &str) -> Result<Vec<T>, Error> {
    match list.len() == count {
        true => Ok(list),
        false => Err(error!("it has {count} positions and {} {name}", list.len())),
    }
}

/// Returns the message for triangles that contradict their normals.
fn inside_out_message(corners: &TriangleInput, part: usize, mesh: &str) -> Option<String> {
    corners.is_inside_out().then(|| {
        format!(
            "most triangles of primitive {part} of mesh '{mesh}' are clockwise as seen from the \
             side that their normals point to, so they are drawn from the inside: reverse the \
             order of their indices, or turn the normals around"
        )
    })
}

fn add(
    source: &GltfSource,
    surfaces: &GltfMaterials,
    data: &mut MeshData,
    primitive: &Primitive,
    (part, warnings): (usize, &mut Vec<String>),
) -> Result<(), Error> {
    let material = primitive.material.map(|index| index.value());
    if let Some(index) = material.filter(|index| *index >= source.root.materials.len()) {
        return Err(missing("material", index));
    }
    let Some(positions) = attribute(primitive, Semantic::Positions) else {
        return Err(error!("it has no positions"));
    };
    let count = source.count(positions)?;
    if count > VERTICES_MAX {
        return Err(error!("it has {count} vertices, and {VERTICES_MAX} is the most"));
    }
    let Some(indices) = indices(source, primitive, count)? else {
        warnings.push(format!(
            "primitive {part} of mesh '{}' is points or lines, which are not drawn",
            data.name
        ));
        return Ok(());
    };
    let split = |vertices: usize, indices: usize| {
        let fits = data.vertices.len() + vertices <= VERTICES_MAX
            && data.indices.len() + indices <= INDICES_MAX
            && data.parts.len() < PARTS_MAX;
        fits.then_some(()).ok_or_else(|| {
            error!(
                "the mesh has more than {VERTICES_MAX} vertices, {INDICES_MAX} indices or \
                 {PARTS_MAX} primitives: split it"
            )
        })
    };
    // Charged before anything is built: a few bytes can declare millions of vertices.
    let flat = attribute(primitive, Semantic::Normals).is_none();
    let vertices = if flat { indices.len() } else { count };
    split(vertices, indices.len())?;
    source.charge_vertices(vertices)?;
    let corners = corners(source, primitive, positions, indices, surfaces.transform(material))?;
    if let Some(wrong) = corners.indices.iter().find(|i| **i as usize >= corners.positions.len()) {
        return Err(error!("it has {} vertices, and an index is {wrong}", corners.positions.len()));
    }
    warnings.extend(inside_out_message(&corners, part, &data.name));
    let built = corners.build(NormalSource::Flat);
    split(built.vertices.len(), built.indices.len())?;
    skin(source, primitive, data, &built.from, corners.positions.len())?;
    targets(source, primitive, data, &built.from, corners.positions.len())?;
    let material = material.map(|index| index as u32);
    let surface_index =
        data.surfaces.iter().position(|known| *known == material).unwrap_or_else(|| {
            data.surfaces.push(material);
            data.surfaces.len() - 1
        });
    data.parts.push(MeshPart {
        first: data.indices.len() as u32,
        count: built.indices.len() as u32,
        surface: surface_index as u32,
    });
    let base = data.vertices.len() as u32;
    data.indices.extend(built.indices.iter().map(|index| index + base));
    data.vertices.extend(built.vertices);
    Ok(())
}

/// Returns three indices for each triangle; none for points and lines.
fn indices(
    source: &GltfSource,
    primitive: &Primitive,
    count: usize,
) -> Result<Option<Vec<u32>>, Error> {
    let Checked::Valid(mode) = primitive.mode else {
        return Err(error!("it has a mode that glTF does not know"));
    };
    if !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
        return Ok(None);
    }
    let listed: Vec<u32> = match primitive.indices {
        Some(index) => {
            let listed = source.integers::<1>(index.value(), "indices", Type::Scalar)?;
            listed.into_iter().map(|[index]| index).collect()
        }
        None => (0..count as u32).collect(),
    };
    if mode != Mode::Triangles {
        source.charge("the triangles of a strip or fan", listed.len() as u64 * 3)?;
    }
    Ok(Some(match mode {
        Mode::Triangles if !listed.len().is_multiple_of(3) => {
            return Err(error!("it has {} indices, which do not form triangles", listed.len()));
        }
        Mode::Triangles => listed,
        // Every other triangle of a strip is wound the other way (glTF 2.0, 3.7.2.1).
        Mode::TriangleStrip => (0..listed.len().saturating_sub(2))
            .flat_map(|i| {
                let (a, b) = if i % 2 == 0 { (i + 1, i + 2) } else { (i + 2, i + 1) };
                [listed[i], listed[a], listed[b]]
            })
            .collect(),
        _ => (1..listed.len().saturating_sub(1))
            .flat_map(|i| [listed[i], listed[i + 1], listed[0]])
            .collect(),
    }))
}

fn corners(
    source: &GltfSource,
    primitive: &Primitive,
    positions: usize,
    indices: Vec<u32>,
    transform: super::materials::UvTransform,
) -> Result<TriangleInput, Error> {
    let positions: Vec<Vec3> = source
        .floats::<3>(positions, "positions", Type::Vec3)?
        .into_iter()
        .map(|position| Vec3::from_array(to_z_up(position)))
        .collect();
    let count = positions.len();
    let mut corners = TriangleInput { positions, indices, ..TriangleInput::default() };
    if let Some(index) = attribute(primitive, Semantic::Normals) {
        let normals = check_length(source.floats(index, "normals", Type::Vec3)?, count, "normals")?;
        corners.normals = normals.into_iter().map(direction).collect();
    }
    if let Some(index) = attribute(primitive, Semantic::Tangents)
        && !corners.normals.is_empty()
    {
        let tangents =
            check_length(source.floats(index, "tangents", Type::Vec4)?, count, "tangents")?;
        let of = |[x, y, z, side]: [f32; 4]| -> Vec4 {
            direction([x, y, z]).extend(if side < 0.0 { -1.0 } else { 1.0 })
        };
        corners.tangents = tangents.into_iter().map(of).collect();
    }
    let set = transform.set;
    if let Some(index) = attribute(primitive, Semantic::TexCoords(set)) {
        let uvs = source.floats(index, "texture coordinates", Type::Vec2)?;
        let uvs = check_length(uvs, count, "texture coordinates")?;
        corners.uvs = uvs.into_iter().map(|uv| transform.apply(Vec2::from_array(uv))).collect();
    }
    if let Some(index) = attribute(primitive, Semantic::Colors(0)) {
        corners.colors = check_length(colors(source, index)?, count, "colours")?;
    }
    Ok(corners)
}

/// Reads linear colors of three or four components as sRGB.
fn colors(source: &GltfSource, index: usize) -> Result<Vec<[u8; 4]>, Error> {
    let of = |[r, g, b, a]: [f32; 4]| {
        [to_srgb(r), to_srgb(g), to_srgb(b), (a.clamp(0.0, 1.0) * 255.0 + 0.5) as u8]
    };
    let three = source.root.accessors.get(index).map(|accessor| accessor.type_);
    Ok(match three {
        Some(Checked::Valid(Type::Vec3)) => source
            .floats::<3>(index, "colours", Type::Vec3)?
            .into_iter()
            .map(|[r, g, b]| of([r, g, b, 1.0]))
            .collect(),
        _ => source.floats::<4>(index, "colours", Type::Vec4)?.into_iter().map(of).collect(),
    })
}

/// Reads joints and weights. In a skinned mesh, parts without them are bound to the first joint.
fn skin(
    source: &GltfSource,
    primitive: &Primitive,
    data: &mut MeshData,
    from: &[u32],
    count: usize,
) -> Result<(), Error> {
    let joints = attribute(primitive, Semantic::Joints(0));
    let weights = attribute(primitive, Semantic::Weights(0));
    let before = data.vertices.len();
    let (Some(joints), Some(weights)) = (joints, weights) else {
        if !data.joints.is_empty() {
            data.joints.resize(before + from.len(), [0; 4]);
            data.weights.resize(before + from.len(), [1.0, 0.0, 0.0, 0.0]);
        }
        return Ok(());
    };
    let joints =
        check_length(source.integers::<4>(joints, "joints", Type::Vec4)?, count, "joints")?;
    let weights =
        check_length(source.floats::<4>(weights, "weights", Type::Vec4)?, count, "weights")?;
    data.joints.resize(before, [0; 4]);
    data.weights.resize(before, [1.0, 0.0, 0.0, 0.0]);
    for from in from {
        let four = joints[*from as usize];
        if let Some(wrong) = four.iter().find(|joint| **joint > u32::from(u16::MAX)) {
            return Err(error!("a vertex names joint {wrong}, which no skin has"));
        }
        data.joints.push(four.map(|joint| joint as u16));
        data.weights.push(weights[*from as usize]);
    }
    Ok(())
}

/// Reads morph targets: offsets of the positions.
fn targets(
    source: &GltfSource,
    primitive: &Primitive,
    data: &mut MeshData,
    from: &[u32],
    count: usize,
) -> Result<(), Error> {
    let before = data.vertices.len();
    let targets = primitive.targets.as_deref().unwrap_or_default();
    let more = targets.len().saturating_sub(data.targets.len());
    let numbers = more * before + data.targets.len().max(targets.len()) * from.len();
    source.charge("its morph targets", numbers as u64 * 3)?;
    if data.targets.len() < targets.len() {
        data.targets.resize(targets.len(), vec![[0.0; 3]; before]);
    }
    for (target_index, target) in data.targets.iter_mut().enumerate() {
        let positions = targets.get(target_index).and_then(|target| target.positions);
        match positions {
            None => target.resize(before + from.len(), [0.0; 3]),
            Some(index) => {
                let moved = source.floats::<3>(index.value(), "morph targets", Type::Vec3)?;
                let moved = check_length(moved, count, "moved ones in a morph target")?;
                target.extend(from.iter().map(|from| to_z_up(moved[*from as usize])));
            }
        }
    }
    Ok(())
}
