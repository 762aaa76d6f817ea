//! Meshes that a game adds to units: of models, or of numbers. What the prelude (lua/mesh.lua) has
//! made of a game's lists comes here as bytes.

use super::light::node_of;
use crate::engine::Engine;
use crate::foundation::memory::limit;
use crate::foundation::{Error, Vec2, Vec3};
use crate::packet::mesh::{Bounds, INDICES_MAX, Mesh, Part, VERTICES_MAX};
use crate::script::arg::{Bytes, Integer, Text};
use crate::script::value::Value;
use crate::system::materials::MaterialId;
use crate::system::models::MeshNumber;
use crate::system::models::geometry::{Corners, Missing};
use crate::world::mesh::{Extra, MeshId, MeshPart, NO_GROUP};
use crate::world::unit::UnitId;

fn part(name: &str, node: u16, mesh: MeshNumber) -> MeshPart {
    MeshPart {
        name: name.to_string(),
        node,
        mesh,
        casts_shadows: true,
        visible: true,
        group: NO_GROUP,
        tint: [255; 4],
        extra: Extra::none(),
    }
}

/// How many bytes each list has, in the order in which they lie: positions, normals, uvs, colours,
/// indices.
const LISTS: usize = 5;

fn split<'a>(lists: &'a Bytes, numbers: &Value) -> Result<[&'a [u8]; LISTS], Error> {
    let wrong = || crate::error!("the prelude gives {LISTS} lists");
    let Value::List(counts) = numbers else { return Err(wrong()) };
    let (mut out, mut rest) = ([&[][..]; LISTS], lists.as_slice());
    for (slot, count) in out.iter_mut().zip(counts) {
        let Value::Number(count) = count else { return Err(wrong()) };
        (*slot, rest) = rest.split_at_checked(*count as usize).ok_or_else(wrong)?;
    }
    Ok(out)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four"))).collect()
}

fn threes(bytes: &[u8]) -> Vec<Vec3> {
    floats(bytes).chunks_exact(3).map(Vec3::from_slice).collect()
}

/// Bytes that making a mesh takes for each position and for each index, with the lists and the work
/// on them.
const POSITION_BYTES: usize = 128;
const INDEX_BYTES: usize = 8;

/// A mesh of lists. The prelude has checked their types and that they are whole.
fn mesh_of(name: String, lists: &Bytes, numbers: &Value) -> Result<Mesh, Error> {
    let [positions, normals, uvs, colors, indices] = split(lists, numbers)?;
    limit::check_room(positions.len() / 12 * POSITION_BYTES + indices.len() / 4 * INDEX_BYTES)?;
    let word = |four: &[u8]| u32::from_le_bytes(four.try_into().expect("four bytes"));
    let mut corners = Corners {
        positions: threes(positions),
        normals: threes(normals),
        tangents: Vec::new(),
        uvs: floats(uvs).chunks_exact(2).map(Vec2::from_slice).collect(),
        colors: floats(colors)
            .chunks_exact(4)
            .map(|four| [four[0], four[1], four[2], four[3]].map(|part| (part + 0.5) as u8))
            .collect(),
        indices: indices.chunks_exact(4).map(word).collect(),
    };
    let count = corners.positions.len();
    if indices.is_empty() {
        corners.indices = (0..count as u32).collect();
    }
    if count > VERTICES_MAX || corners.indices.len() > INDICES_MAX {
        return Err(crate::error!(
            "argument #2 'source': a mesh has at most {VERTICES_MAX} vertices and {INDICES_MAX} \
             indices"
        ));
    }
    for (what, list) in [
        ("normals", corners.normals.len()),
        ("uvs", corners.uvs.len()),
        ("colors", corners.colors.len()),
    ] {
        if list != 0 && list != count {
            return Err(crate::error!(
                "argument #2 'source': there are {count} positions and {list} {what}: give one for \
                 each"
            ));
        }
    }
    if !corners.indices.len().is_multiple_of(3) {
        return Err(crate::error!(
            "argument #2 'source': {} corners make no triangles: each takes three",
            corners.indices.len()
        ));
    }
    if let Some(wrong) = corners.indices.iter().find(|index| **index as usize >= count) {
        return Err(crate::error!(
            "argument #2 'source': an index says {}, and there are {count} positions: indices \
             count from 1",
            u64::from(*wrong) + 1
        ));
    }
    let numbers = corners.positions.iter().chain(&corners.normals);
    if !numbers.clone().all(|v| v.is_finite()) || !corners.uvs.iter().all(|v| v.is_finite()) {
        return Err(crate::error!(
            "argument #2 'source': a number is not finite (is something divided by zero?)"
        ));
    }
    for normal in &mut corners.normals {
        *normal = normal.normalize_or(Vec3::Z);
    }
    let built = corners.build(Missing::Smooth);
    let count = built.indices.len() as u32;
    Ok(Mesh {
        name,
        bounds: Bounds::of(&built.vertices),
        vertices: built.vertices,
        indices: built.indices,
        parts: vec![Part { first: 0, count, place: 0 }],
    })
}

/// Adds a mesh: that of a name, or without one that of the lists.
pub(super) fn new(
    engine: &mut Engine,
    unit: UnitId,
    source: Option<Text>,
    node: Option<Integer>,
    lists: Bytes,
    counts: Value,
) -> Result<MeshId, Error> {
    let node = node_of(engine, unit, node)?;
    if let Some(name) = source {
        let mesh = engine
            .find_mesh(name.as_str())
            .map_err(|fault| crate::error!("argument #2 'source': {}", fault.message))?;
        return engine.add_mesh(unit, &part(name.as_str(), node, mesh));
    }
    let name = format!("mesh of {}", engine.units.of(unit).resource.name);
    let mesh = mesh_of(name.clone(), &lists, &counts)?;
    let number = engine.models.add_own(mesh)?;
    let added = engine.add_mesh(unit, &part(&name, node, number));
    if added.is_err() {
        engine.models.end_own(number);
    }
    added
}

pub(super) fn rebuild(
    engine: &mut Engine,
    mesh: MeshId,
    lists: Bytes,
    counts: Value,
) -> Result<(), Error> {
    let number = engine.scenes.meshes.of(mesh).mesh;
    let Some(own) = engine.models.own(number) else {
        return Err(crate::error!(
            "argument #1 'mesh': it is a model's, which all share who show it: only a mesh that \
             Mesh.new made of numbers can be changed"
        ));
    };
    let made = mesh_of(own.name.clone(), &lists, &counts)?;
    engine.models.set_own(number, made);
    Ok(())
}

pub(super) fn find_mesh_material(engine: &mut Engine, name: Text) -> Result<MaterialId, Error> {
    engine.find_mesh_material(name.as_str())
}
