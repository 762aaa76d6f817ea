//! Meshes that a game adds to units, from models or from numbers. The prelude (lua/world/mesh.lua)
//! passes a game's lists as bytes.

use crate::api::light::node_of;
use crate::argument::{ByteArgument, Integer, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::memory::limit;
use engine_foundation::{Error, Vec2, Vec3};
use engine_frame_packet::mesh::{INDICES_MAX, MeshFrame, VERTICES_MAX};
use engine_materials::MaterialId;
use engine_models::MeshNumber;
use engine_models::geometry::{NormalSource, TriangleInput};
use engine_runtime::Engine;
use engine_world::instance_table::NO_GROUP;
use engine_world::mesh::{MeshComponent, MeshExtra, MeshId};
use engine_world::unit::UnitId;

fn part(name: &str, node: u16, mesh: MeshNumber) -> MeshComponent {
    MeshComponent {
        name: name.to_string(),
        node,
        mesh,
        casts_shadows: true,
        visible: true,
        group: NO_GROUP,
        tint: [255; 4],
        extra: MeshExtra::none(),
    }
}

/// Number of lists, each with a byte count, in this order: positions, normals, uvs, colors,
/// indices.
const LISTS: usize = 5;

fn split<'a>(lists: &'a ByteArgument, numbers: &ScriptValue) -> Result<[&'a [u8]; LISTS], Error> {
    let wrong = || engine_foundation::error!("the prelude gives {LISTS} lists");
    let ScriptValue::List(counts) = numbers else { return Err(wrong()) };
    let (mut out, mut rest) = ([&[][..]; LISTS], lists.as_slice());
    for (slot, count) in out.iter_mut().zip(counts) {
        let ScriptValue::Number(count) = count else { return Err(wrong()) };
        (*slot, rest) = rest.split_at_checked(*count as usize).ok_or_else(wrong)?;
    }
    Ok(out)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four"))).collect()
}

fn vectors(bytes: &[u8]) -> Vec<Vec3> {
    floats(bytes).chunks_exact(3).map(Vec3::from_slice).collect()
}

/// Bytes that creating a mesh needs for each position and for each index, including the lists and
/// temporary data.
const POSITION_BYTES: usize = 128;
const INDEX_BYTES: usize = 8;

/// Creates a mesh from lists. The prelude has checked the types and the completeness of the lists.
fn mesh_of(name: String, lists: &ByteArgument, numbers: &ScriptValue) -> Result<MeshFrame, Error> {
    let [positions, normals, uvs, colors, indices] = split(lists, numbers)?;
    limit::check_room(positions.len() / 12 * POSITION_BYTES + indices.len() / 4 * INDEX_BYTES)?;
    let word = |four: &[u8]| u32::from_le_bytes(four.try_into().expect("four bytes"));
    let mut corners = TriangleInput {
        positions: vectors(positions),
        normals: vectors(normals),
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
        return Err(engine_foundation::error!(
            "argument #2 'source': a mesh has at most {VERTICES_MAX} vertices and {INDICES_MAX} \
             indices"
        ));
    }
    for (part_name, list) in [
        ("normals", corners.normals.len()),
        ("uvs", corners.uvs.len()),
        ("colors", corners.colors.len()),
    ] {
        if list != 0 && list != count {
            return Err(engine_foundation::error!(
                "argument #2 'source': there are {count} positions and {list} {part_name}: give \
                 one for each"
            ));
        }
    }
    if !corners.indices.len().is_multiple_of(3) {
        return Err(engine_foundation::error!(
            "argument #2 'source': {} corners make no triangles: each takes three",
            corners.indices.len()
        ));
    }
    if let Some(wrong) = corners.indices.iter().find(|index| **index as usize >= count) {
        return Err(engine_foundation::error!(
            "argument #2 'source': an index is {}, and there are {count} positions: indices count \
             from 1",
            u64::from(*wrong) + 1
        ));
    }
    let numbers = corners.positions.iter().chain(&corners.normals);
    if !numbers.clone().all(|v| v.is_finite()) || !corners.uvs.iter().all(|v| v.is_finite()) {
        return Err(engine_foundation::error!(
            "argument #2 'source': a number is not finite (is something divided by zero?)"
        ));
    }
    for normal in &mut corners.normals {
        *normal = normal.normalize_or(Vec3::Z);
    }
    let built = corners.build(NormalSource::Smooth);
    Ok(MeshFrame::of_one_part(name, built.vertices, built.indices))
}

/// Adds a mesh from a model, or without a name from the lists.
pub(in crate::api) fn new(
    engine: &mut Engine,
    unit: UnitId,
    source: Option<TextArgument>,
    node: Option<Integer>,
    lists: ByteArgument,
    counts: ScriptValue,
) -> Result<MeshId, Error> {
    let node = node_of(engine, unit, node)?;
    if let Some(name) = source {
        let mesh = engine.assets.find_mesh(name.as_str()).map_err(|error| {
            engine_foundation::error!("argument #2 'source': {}", error.message)
        })?;
        return engine.worlds.add_mesh(unit, &part(name.as_str(), node, mesh));
    }
    let name = format!("mesh of {}", engine.worlds.units.of(unit).resource.name);
    let mesh = mesh_of(name.clone(), &lists, &counts)?;
    let number = engine.assets.models.add_game_mesh(mesh)?;
    let added = engine.worlds.add_mesh(unit, &part(&name, node, number));
    if added.is_err() {
        engine.assets.models.remove_game_mesh(number);
    }
    added
}

pub(in crate::api) fn rebuild(
    engine: &mut Engine,
    mesh: MeshId,
    lists: ByteArgument,
    counts: ScriptValue,
) -> Result<(), Error> {
    let number = engine.worlds.scenes.meshes.of(mesh).mesh;
    let Some(own) = engine.assets.models.game_mesh(number) else {
        return Err(engine_foundation::error!(
            "argument #1 'mesh': it belongs to a model, and others can share it: only a mesh that \
             Mesh.new created from numbers can be changed"
        ));
    };
    let built = mesh_of(own.name.clone(), &lists, &counts)?;
    engine.assets.models.update_game_mesh(number, built);
    Ok(())
}

pub(in crate::api) fn find_mesh_material(
    engine: &mut Engine,
    name: TextArgument,
) -> Result<MaterialId, Error> {
    engine.assets.find_mesh_material(name.as_str())
}
