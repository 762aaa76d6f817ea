//! The Lua module `Unit`: functions for the meshes, lights and cameras of units.

use crate::api::decal;
use crate::api::light;
use crate::api::mesh;
use crate::api::sprite;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::{Integer, NameOrIndex, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::{Error, Mat4, Vec3, doing, suggest};
use engine_frame_packet::scene::is_in_range;
use engine_materials::MaterialId;
use engine_models::raycast::{Ray, first_hit};
use engine_runtime::Engine;
use engine_world::camera::{CameraId, Projection};
use engine_world::decal::DecalId;
use engine_world::instance_table::flag;
use engine_world::light::LightId;
use engine_world::mesh::MeshId;
use engine_world::scene_graph::NodePose;
use engine_world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");
const LINKED_ARG: (&str, &str) =
    ("linked", "true to include the units that are linked to it, and so on; false by default");

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "mesh",
            unit_mesh,
            &[UNIT_ARG, ("mesh", "its index from 1, or the name of its node")],
            "Returns one of the unit's meshes.",
        )
        .pure(),
        func(
            "has_mesh",
            has_mesh,
            &[UNIT_ARG, ("mesh", "its index from 1, or the name of its node")],
            "Returns true if the unit has that mesh.",
        )
        .pure(),
        func("num_meshes", num_meshes, &[UNIT_ARG], "Returns the number of the unit's meshes.")
            .pure(),
        func(
            "light",
            unit_light,
            &[UNIT_ARG, ("light", "its index from 1, or the name of its node")],
            "Returns one of the unit's lights.",
        )
        .pure(),
        func(
            "has_light",
            has_light,
            &[UNIT_ARG, ("light", "its index from 1, or the name of its node")],
            "Returns true if the unit has that light.",
        )
        .pure(),
        func("num_lights", num_lights, &[UNIT_ARG], "Returns the number of the unit's lights.")
            .pure(),
        func(
            "decal",
            unit_decal,
            &[UNIT_ARG, ("decal", "its index from 1, or the name of its node")],
            "Returns one of the unit's decals.",
        )
        .pure(),
        func(
            "has_decal",
            has_decal,
            &[UNIT_ARG, ("decal", "its index from 1, or the name of its node")],
            "Returns true if the unit has that decal.",
        )
        .pure(),
        func("num_decals", num_decals, &[UNIT_ARG], "Returns the number of the unit's decals.")
            .pure(),
        func(
            "camera",
            unit_camera,
            &[UNIT_ARG, ("camera", "its index from 1, or the name of its node")],
            "Returns one of the unit's cameras. It moves with its node.",
        )
        .pure(),
        func(
            "has_camera",
            has_camera,
            &[UNIT_ARG, ("camera", "its index from 1, or the name of its node")],
            "Returns true if the unit has that camera.",
        )
        .pure(),
        func("num_cameras", num_cameras, &[UNIT_ARG], "Returns the number of the unit's cameras.")
            .pure(),
        func(
            "set_unit_visibility",
            set_unit_visibility,
            &[UNIT_ARG, ("visible", "true to show them"), LINKED_ARG],
            "Shows or hides all meshes, sprites, tile maps and particles of a unit. Their own \
             visibility settings stay unchanged.",
        ),
        func(
            "set_visibility",
            set_visibility,
            &[
                UNIT_ARG,
                ("group", "a visibility group in the unit's file"),
                ("visible", "true to show it"),
                LINKED_ARG,
            ],
            "Shows or hides a visibility group of a unit: the meshes, sprites, tile maps and \
             particles with that `group`. Linked units without the group are left unchanged.",
        ),
        func(
            "has_visibility_group",
            has_visibility_group,
            &[UNIT_ARG, ("group", "the name of the group")],
            "Returns true if the unit has that visibility group.",
        )
        .pure(),
        func(
            "set_mesh_visibility",
            set_mesh_visibility,
            &[
                UNIT_ARG,
                ("mesh", "its index from 1, or the name of its node"),
                ("visible", "true to show it"),
            ],
            "Shows or hides one mesh of a unit.",
        ),
        func(
            "set_material",
            set_material,
            &[
                UNIT_ARG,
                ("slot", "the name of a material in the unit's models"),
                ("material", "the name of a material with a surface, or of a material of a model"),
            ],
            "Replaces the material of that name wherever the unit uses it.",
        ),
        func(
            "box",
            unit_box,
            &[UNIT_ARG, LINKED_ARG],
            "Returns a box around all meshes and sprites of a unit: the pose of its centre in the \
             world, and half of its size along its axes. The box is rotated like the root. Without \
             meshes and sprites, its size is 0.",
        )
        .returns(&["pose of its centre in the world", "half_size along its axes"])
        .pure(),
    ],
);

/// Native functions for the prelude, which converts their results into vectors
/// (lua/world/unit/rendering.lua).
pub static CORE: ModuleRows = more(
    "Unit",
    &[func(
        "mesh_pick_raycast",
        mesh_pick_raycast,
        &[("unit", ""), ("from", ""), ("direction", ""), ("length", ""), ("camera", "")],
        "Returns where a ray hits a unit's meshes.",
    )
    .pure()],
);

fn find_mesh(engine: &Engine, unit: UnitId, which: NameOrIndex) -> Option<MeshId> {
    let meshes = &engine.worlds.scenes.meshes;
    let mut slots = meshes.of_unit(unit.row());
    let at = match which {
        NameOrIndex::Index(index) => slots.nth(usize::try_from(index).ok()?.checked_sub(1)?),
        NameOrIndex::Name(name) => {
            let name = name.as_str();
            let parts = &engine.worlds.units.of(unit).resource.template.meshes;
            let index = |slot: usize| meshes.slots.at(slot).map(|mesh| usize::from(mesh.index));
            let named = parts.iter().position(|part| part.name == *name);
            let by_part = named.and_then(|named| slots.find(|slot| index(*slot) == Some(named)));
            // The name of a mesh in its model is accepted, too.
            by_part.or_else(|| {
                let shown = |slot: usize| meshes.slots.at(slot).map(|mesh| mesh.mesh);
                meshes.of_unit(unit.row()).find(|slot| {
                    let full = shown(*slot).map(|number| &engine.assets.models.entry(number).name);
                    full.is_some_and(|full| {
                        full.rsplit_once('/').is_some_and(|(_, last)| last == name)
                    })
                })
            })
        }
    };
    at.map(|at| MeshId(meshes.slots.handle_at(at).expect("it is in a chain")))
}

/// Returns the error for a part that a unit does not have.
pub(in crate::api) fn no_such<'a>(
    engine: &Engine,
    unit: UnitId,
    kind: &str,
    which: NameOrIndex,
    (names, count): (impl Iterator<Item = &'a str>, usize),
) -> Error {
    let unit = &engine.worlds.units.of(unit).resource.name;
    let noun = kind.replace('_', " ");
    let plural = match kind {
        "mesh" => "meshes".to_string(),
        "particles" => kind.to_string(),
        _ => format!("{noun}s"),
    };
    match which {
        NameOrIndex::Name(name) => {
            let name = name.as_str();
            let near = suggest::hint_or_names(name, names);
            engine_foundation::error!(
                "argument #2 '{kind}': unit \"{unit}\" has no {noun} '{name}'{near}"
            )
        }
        NameOrIndex::Index(_) if count == 0 => {
            engine_foundation::error!("argument #2 '{kind}': unit \"{unit}\" has no {plural}")
        }
        NameOrIndex::Index(index) => engine_foundation::error!(
            "argument #2 '{kind}': unit \"{unit}\" has the {plural} 1 to {count}, got {index}"
        ),
    }
}

pub(crate) fn unit_mesh(
    engine: &mut Engine,
    unit: UnitId,
    which: NameOrIndex,
) -> Result<MeshId, Error> {
    find_mesh(engine, unit, which).ok_or_else(|| {
        let names = engine.worlds.units.of(unit).resource.template.meshes.iter();
        let count = engine.worlds.scenes.meshes.of_unit(unit.row()).count();
        no_such(engine, unit, "mesh", which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_mesh(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> bool {
    find_mesh(engine, unit, which).is_some()
}

fn num_meshes(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.scenes.meshes.of_unit(unit.row()).count() as u64
}

/// Finds the first intersection of a ray with the visible meshes of a unit. Returns the distance in
/// metres, the three numbers of the normal there, and the mesh; nil if there is none. With a
/// camera, only meshes within their distance range from this camera are tested.
fn mesh_pick_raycast(
    engine: &mut Engine,
    unit: UnitId,
    from: Vec3,
    direction: Vec3,
    length: Option<f64>,
    camera: Option<CameraId>,
) -> Result<ScriptValue, Error> {
    let along = direction.try_normalize().ok_or_else(|| {
        engine_foundation::error!("argument #3 'direction' has no length: it must lead somewhere")
    })?;
    let most = length.map_or(f32::MAX, |length| length as f32);
    if most <= 0.0 {
        return Err(engine_foundation::error!(
            "argument #4 'length' must be above 0 metres, got {most}"
        ));
    }
    // The camera's position, or `None` inside if distance has no effect in its projection.
    let eye = camera.map(|camera| {
        let camera = engine.worlds.camera(camera);
        let perspective = camera.projection == Projection::Perspective;
        perspective.then(|| camera.pose.w_axis.truncate())
    });
    let indices: Vec<usize> = engine.worlds.scenes.meshes.of_unit(unit.row()).collect();
    let mut first: Option<(f32, Vec3, MeshId)> = None;
    for at in indices {
        let handle = engine.worlds.scenes.meshes.slots.handle_at(at).expect("it is in a chain");
        let id = MeshId(handle);
        if engine.worlds.scenes.meshes.of(id).flags & flag::ANY_HIDDEN != 0 {
            continue;
        }
        let pose = mesh::world_pose(engine, id);
        if let Some(eye) = eye {
            let bounds = engine.assets.models.entry(engine.worlds.scenes.meshes.of(id).mesh).bounds;
            let center = pose.transform_point3(bounds.center);
            let distance = eye.map(|eye| center.distance_squared(eye));
            if !is_in_range(engine.worlds.scenes.meshes.of(id).extra.range, distance) {
                continue;
            }
        }
        let back = pose.inverse();
        if !back.is_finite() {
            // The mesh has no size along an axis, and is not visible.
            continue;
        }
        let most = first.map_or(most, |(at, ..)| at);
        let (from, along) = (back.transform_point3(from), back.transform_vector3(along));
        let shape = &engine.assets.models.entry(engine.worlds.scenes.meshes.of(id).mesh).shape;
        if let Some((at, normal)) = first_hit(shape, Ray { from, along, most }) {
            // The inverse transpose keeps normals perpendicular to the surface under any scale.
            let normal = back.transpose().transform_vector3(normal).normalize_or_zero();
            first = Some((at, normal, id));
        }
    }
    let Some((at, normal, MeshId(mesh))) = first else { return Ok(ScriptValue::Nil) };
    let numbers =
        [at, normal.x, normal.y, normal.z].map(|number| ScriptValue::Number(number.into()));
    let mesh = ScriptValue::Number(mesh.to_number());
    Ok(ScriptValue::List(numbers.into_iter().chain([mesh]).collect()))
}

pub(crate) fn unit_light(
    engine: &mut Engine,
    unit: UnitId,
    which: NameOrIndex,
) -> Result<LightId, Error> {
    light::of_unit(engine, unit, which).ok_or_else(|| {
        let names = engine.worlds.units.of(unit).resource.template.lights.iter();
        let count = engine.worlds.scenes.lights.of_unit(unit.row()).len();
        no_such(engine, unit, "light", which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_light(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> bool {
    light::of_unit(engine, unit, which).is_some()
}

fn num_lights(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.scenes.lights.of_unit(unit.row()).len() as u64
}

fn unit_decal(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> Result<DecalId, Error> {
    decal::of_unit(engine, unit, which).ok_or_else(|| {
        let names = engine.worlds.units.of(unit).resource.template.decals.iter();
        let count = engine.worlds.scenes.decals.of_unit(unit.row()).len();
        no_such(engine, unit, "decal", which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_decal(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> bool {
    decal::of_unit(engine, unit, which).is_some()
}

fn num_decals(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.scenes.decals.of_unit(unit.row()).len() as u64
}

fn find_camera(engine: &Engine, unit: UnitId, which: NameOrIndex) -> Option<CameraId> {
    let cameras = engine.worlds.scenes.cameras.of_unit(unit.row());
    let parts = &engine.worlds.units.of(unit).resource.template.cameras;
    let at = which.position(parts.iter().map(|part| &part.name[..]), cameras.len())?;
    cameras.get(at).copied()
}

fn unit_camera(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> Result<CameraId, Error> {
    find_camera(engine, unit, which).ok_or_else(|| {
        let names = engine.worlds.units.of(unit).resource.template.cameras.iter();
        let count = engine.worlds.scenes.cameras.of_unit(unit.row()).len();
        no_such(engine, unit, "camera", which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_camera(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> bool {
    find_camera(engine, unit, which).is_some()
}

fn num_cameras(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.scenes.cameras.of_unit(unit.row()).len() as u64
}

/// Returns a unit, and the units that are linked to it if `linked` is true, as rows.
fn with_linked(engine: &Engine, unit: UnitId, linked: Option<bool>) -> Vec<u32> {
    let mut rows = vec![unit.row()];
    let mut next = 0;
    while linked == Some(true) && next < rows.len() {
        // Links form no circles, so each unit is found once.
        rows.extend(engine.worlds.units.scene.linked_to(rows[next]));
        next += 1;
    }
    rows
}

pub(crate) fn set_unit_visibility(
    engine: &mut Engine,
    unit: UnitId,
    visible: bool,
    linked: Option<bool>,
) {
    for row in with_linked(engine, unit, linked) {
        engine.worlds.scenes.hide(row, None, flag::UNIT_HIDDEN, !visible);
    }
}

fn group(engine: &Engine, unit: UnitId, name: &str) -> Option<u8> {
    group_of_row(engine, unit.row(), name)
}

fn group_of_row(engine: &Engine, row: u32, name: &str) -> Option<u8> {
    let unit = engine.worlds.units.slots.at(row as usize)?;
    let groups = &unit.resource.template.groups;
    groups.iter().position(|known| known == name).map(|index| index as u8)
}

fn set_visibility(
    engine: &mut Engine,
    unit: UnitId,
    name: TextArgument,
    visible: bool,
    linked: Option<bool>,
) -> Result<(), Error> {
    let name = name.as_str();
    let Some(group) = group(engine, unit, name) else {
        let resource = &engine.worlds.units.of(unit).resource;
        let near = suggest::hint(name, resource.template.groups.iter().map(String::as_str));
        return Err(engine_foundation::error!(
            "argument #2 'group': unit \"{}\" has no visibility group '{name}'{near}",
            resource.name
        ));
    };
    engine.worlds.scenes.hide(unit.row(), Some(group), flag::GROUP_HIDDEN, !visible);
    for row in with_linked(engine, unit, linked).into_iter().skip(1) {
        if let Some(group) = group_of_row(engine, row, name) {
            engine.worlds.scenes.hide(row, Some(group), flag::GROUP_HIDDEN, !visible);
        }
    }
    Ok(())
}

fn has_visibility_group(engine: &mut Engine, unit: UnitId, name: TextArgument) -> bool {
    group(engine, unit, name.as_str()).is_some()
}

fn set_mesh_visibility(
    engine: &mut Engine,
    unit: UnitId,
    which: NameOrIndex,
    visible: bool,
) -> Result<(), Error> {
    let mesh = unit_mesh(engine, unit, which)?;
    if (engine.worlds.scenes.meshes.of(mesh).flags & flag::HIDDEN == 0) != visible {
        engine.worlds.scenes.meshes.change(mesh).flags ^= flag::HIDDEN;
    }
    Ok(())
}

fn set_material(
    engine: &mut Engine,
    unit: UnitId,
    slot: TextArgument,
    name: TextArgument,
) -> Result<(), Error> {
    let (slot, name) = (slot.as_str(), name.as_str());
    let meshes = &engine.worlds.scenes.meshes;
    let mut found: Vec<(MeshId, usize)> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for at in meshes.of_unit(unit.row()) {
        let mesh = meshes.slots.at(at).expect("it is in a chain");
        for (index, known) in
            engine.assets.models.entry(mesh.mesh).material_names.iter().enumerate()
        {
            if known == slot {
                let handle = meshes.slots.handle_at(at).expect("it is in a chain");
                found.push((MeshId(handle), index));
            }
            names.push(known.clone());
        }
    }
    if found.is_empty() {
        names.retain(|name| !name.is_empty());
        names.sort_compact();
        names.dedup();
        let near = suggest::hint(slot, names.iter().map(String::as_str));
        let near = match (near.is_empty(), names.is_empty()) {
            (false, _) => near,
            (true, true) => ": its materials have no names, use Mesh.set_material".to_string(),
            (true, false) => format!(" (it has {})", names.join(", ")),
        };
        let unit = &engine.worlds.units.of(unit).resource.name;
        return Err(engine_foundation::error!(
            "argument #2 'slot': no mesh of unit \"{unit}\" has a material '{slot}'{near}"
        ));
    }
    doing!("When applying material:", name);
    let material: MaterialId = engine
        .assets
        .find_mesh_material(name)
        .map_err(|error| engine_foundation::error!("argument #3 'material': {}", error.message))?;
    for (mesh, index) in found {
        mesh::set_material(engine, mesh, Integer(index as i64 + 1), Some(material))?;
    }
    Ok(())
}

fn unit_box(engine: &mut Engine, unit: UnitId, linked: Option<bool>) -> (Mat4, Vec3) {
    let root = engine.worlds.units.scene.world(unit.row(), 0);
    let NodePose { rotation, position, .. } = NodePose::of(root);
    let frame = Mat4::from_rotation_translation(rotation, position);
    let back = frame.inverse();
    let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for row in with_linked(engine, unit, linked) {
        let handle = engine.worlds.units.slots.handle_at(row as usize).expect("the unit is alive");
        for corner in corners(engine, UnitId(handle)) {
            let point = back.transform_point3(corner);
            (min, max) = (min.min(point), max.max(point));
        }
    }
    if min.x > max.x {
        return (frame, Vec3::ZERO);
    }
    (frame * Mat4::from_translation((min + max) * 0.5), (max - min) * 0.5)
}

/// Returns the corners of the boxes around a unit's meshes and sprites, in the world.
fn corners(engine: &mut Engine, unit: UnitId) -> Vec<Vec3> {
    let mut corners = sprite::corners(engine, unit);
    let indices: Vec<usize> = engine.worlds.scenes.meshes.of_unit(unit.row()).collect();
    for at in indices {
        let handle = engine.worlds.scenes.meshes.slots.handle_at(at).expect("it is in a chain");
        let pose = mesh::world_pose(engine, MeshId(handle));
        let bounds =
            engine.assets.models.entry(engine.worlds.scenes.meshes.of(MeshId(handle)).mesh).bounds;
        corners.extend((0..8u8).map(|corner| {
            let pick = |bit: u8, axis: usize| {
                if corner & bit == 0 { bounds.min[axis] } else { bounds.max[axis] }
            };
            pose.transform_point3(Vec3::new(pick(1, 0), pick(2, 1), pick(4, 2)))
        }));
    }
    corners
}
