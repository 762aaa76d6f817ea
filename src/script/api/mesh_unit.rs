//! What `Unit` says of meshes, lights and cameras of units, and what is done with them by a unit.

use super::light;
use super::mesh;
use super::sprite;
use crate::engine::Engine;
use crate::foundation::{Error, Mat4, Vec3, suggest};
use crate::packet::scene::is_in_range;
use crate::script::arg::{Integer, Text};
use crate::script::row::{Module, func, more};
use crate::script::value::Value;
use crate::system::materials::MaterialId;
use crate::system::models::ray::{Ray, first_hit};
use crate::world::camera::{CameraId, Projection};
use crate::world::light::LightId;
use crate::world::mesh::{MeshId, flag};
use crate::world::scene::Pose;
use crate::world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");

pub static UNIT: Module = more(
    "Unit",
    &[
        func(
            "mesh",
            unit_mesh,
            &[UNIT_ARG, ("mesh", "which of its meshes, from 1, or a name: that of its node")],
            "One of the unit's meshes.",
        )
        .pure(),
        func(
            "has_mesh",
            has_mesh,
            &[UNIT_ARG, ("mesh", "a number from 1, or a name")],
            "Whether the unit has that mesh.",
        )
        .pure(),
        func("num_meshes", num_meshes, &[UNIT_ARG], "How many meshes the unit has.").pure(),
        func(
            "light",
            unit_light,
            &[UNIT_ARG, ("light", "which of its lights, from 1, or a name: that of its node")],
            "One of the unit's lights.",
        )
        .pure(),
        func(
            "has_light",
            has_light,
            &[UNIT_ARG, ("light", "a number from 1, or a name")],
            "Whether the unit has that light.",
        )
        .pure(),
        func("num_lights", num_lights, &[UNIT_ARG], "How many lights the unit has.").pure(),
        func(
            "camera",
            unit_camera,
            &[UNIT_ARG, ("camera", "which of its cameras, from 1, or a name: that of its node")],
            "One of the unit's cameras. It moves with its node.",
        )
        .pure(),
        func(
            "has_camera",
            has_camera,
            &[UNIT_ARG, ("camera", "a number from 1, or a name")],
            "Whether the unit has that camera.",
        )
        .pure(),
        func("num_cameras", num_cameras, &[UNIT_ARG], "How many cameras the unit has.").pure(),
        func(
            "set_unit_visibility",
            set_unit_visibility,
            &[UNIT_ARG, ("visible", "whether it is seen")],
            "Shows or hides all meshes, sprites and tile maps of a unit. What they say themselves \
             stays as it is.",
        ),
        func(
            "set_visibility",
            set_visibility,
            &[UNIT_ARG, ("group", "a visibility group of its file"), ("visible", "whether it is")],
            "Shows or hides a visibility group of a unit: the meshes, sprites and tile maps with \
             that `group`.",
        ),
        func(
            "has_visibility_group",
            has_visibility_group,
            &[UNIT_ARG, ("group", "a name")],
            "Whether the unit has that visibility group.",
        )
        .pure(),
        func(
            "set_mesh_visibility",
            set_mesh_visibility,
            &[
                UNIT_ARG,
                ("mesh", "which of its meshes, from 1, or a name"),
                ("visible", "whether it is seen"),
            ],
            "Shows or hides one mesh of a unit.",
        ),
        func(
            "set_material",
            set_material,
            &[
                UNIT_ARG,
                ("slot", "what the unit's models call a material"),
                ("material", "the name of a material with a surface, or of one of a model"),
            ],
            "Draws with another material whatever of a unit has the material of that name.",
        ),
        func(
            "box",
            unit_box,
            &[UNIT_ARG],
            "A box around all meshes and sprites of a unit: the pose of its middle in the world, \
             turned as the root is, and half of its sizes along its axes. Without any, it has no \
             size.",
        )
        .pure(),
    ],
);

/// For the prelude, which makes vectors of what it returns (lua/mesh.lua).
pub static CORE: Module = more(
    "Unit",
    &[func(
        "mesh_pick_raycast",
        mesh_pick_raycast,
        &[("unit", ""), ("from", ""), ("direction", ""), ("length", ""), ("camera", "")],
        "Where a ray meets a unit's meshes.",
    )
    .pure()],
);

/// A number from 1 as a place among so many.
pub(super) fn place(number: f64, count: usize) -> Option<usize> {
    let fits = number.fract() == 0.0 && number >= 1.0 && number <= count as f64;
    fits.then(|| number as usize - 1)
}

fn find_mesh(engine: &Engine, unit: UnitId, which: &Value) -> Result<Option<MeshId>, Error> {
    let meshes = &engine.scenes.meshes;
    let places: Vec<usize> = meshes.of_unit(unit.row()).collect();
    let at = match which {
        Value::Number(number) => place(*number, places.len()).map(|at| places[at]),
        Value::Text(name) => {
            let parts = &engine.units.of(unit).resource.seen.meshes;
            let index = |place: usize| meshes.slots.at(place).map(|mesh| usize::from(mesh.index));
            let named = parts.iter().position(|part| part.name == *name);
            let by_part = named.and_then(|named| {
                places.iter().copied().find(|place| index(*place) == Some(named))
            });
            // What its model calls it will do, too.
            by_part.or_else(|| {
                let shown = |place: usize| meshes.slots.at(place).map(|mesh| mesh.mesh);
                places.iter().copied().find(|place| {
                    let full = shown(*place).map(|number| &engine.models.entry(number).name);
                    full.is_some_and(|full| {
                        full.rsplit_once('/').is_some_and(|(_, last)| last == name)
                    })
                })
            })
        }
        _ => return Err(crate::error!("argument #2 'mesh' must be a whole number or a name")),
    };
    Ok(at.map(|at| MeshId(meshes.slots.handle_at(at).expect("it is in a chain"))))
}

/// The words for what a unit has not.
pub(super) fn no_such<'a>(
    engine: &Engine,
    unit: UnitId,
    what: &str,
    which: &Value,
    (names, count): (impl Iterator<Item = &'a str>, usize),
) -> Error {
    let unit = &engine.units.of(unit).resource.name;
    let plural = if what == "mesh" { "meshes".to_string() } else { format!("{what}s") };
    match which {
        Value::Text(name) => {
            let near = suggest::hint(name, names);
            crate::error!("argument #2 '{what}': unit \"{unit}\" has no {what} '{name}'{near}")
        }
        Value::Number(number) => match count {
            0 => crate::error!("argument #2 '{what}': unit \"{unit}\" has no {plural}"),
            _ => crate::error!(
                "argument #2 '{what}': unit \"{unit}\" has the {plural} 1 to {count}, got {number}"
            ),
        },
        _ => crate::error!("argument #2 '{what}' must be a whole number or a name"),
    }
}

fn unit_mesh(engine: &mut Engine, unit: UnitId, which: Value) -> Result<MeshId, Error> {
    find_mesh(engine, unit, &which)?.ok_or_else(|| {
        let names = engine.units.of(unit).resource.seen.meshes.iter();
        let count = engine.scenes.meshes.of_unit(unit.row()).count();
        no_such(engine, unit, "mesh", &which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_mesh(engine: &mut Engine, unit: UnitId, which: Value) -> Result<bool, Error> {
    Ok(find_mesh(engine, unit, &which)?.is_some())
}

fn num_meshes(engine: &mut Engine, unit: UnitId) -> f64 {
    engine.scenes.meshes.of_unit(unit.row()).count() as f64
}

/// Metres to where a ray first meets what is seen of a unit's meshes, the three numbers of the
/// normal there, and the mesh; nil where it meets none. With a camera, what that shows by its
/// distance alone.
fn mesh_pick_raycast(
    engine: &mut Engine,
    unit: UnitId,
    from: Vec3,
    direction: Vec3,
    length: Option<f64>,
    camera: Option<CameraId>,
) -> Result<Value, Error> {
    let along = direction.try_normalize().ok_or_else(|| {
        crate::error!("argument #3 'direction' has no length: it must lead somewhere")
    })?;
    let most = length.map_or(f32::MAX, |length| length as f32);
    if most <= 0.0 {
        return Err(crate::error!("argument #4 'length' must be above 0 metres, got {most}"));
    }
    // Where the camera is, and nowhere where distance is nothing to it.
    let eye = camera.map(|camera| {
        let camera = engine.camera(camera);
        let perspective = camera.projection == Projection::Perspective;
        perspective.then(|| camera.pose.w_axis.truncate())
    });
    let places: Vec<usize> = engine.scenes.meshes.of_unit(unit.row()).collect();
    let mut first: Option<(f32, Vec3, MeshId)> = None;
    for at in places {
        let handle = engine.scenes.meshes.slots.handle_at(at).expect("it is in a chain");
        let id = MeshId(handle);
        if engine.scenes.meshes.of(id).flags & flag::ANY_HIDDEN != 0 {
            continue;
        }
        let pose = mesh::world_pose(engine, id);
        if let Some(eye) = eye {
            let bounds = engine.models.entry(engine.scenes.meshes.of(id).mesh).bounds;
            let center = pose.transform_point3(bounds.center);
            let distance = eye.map(|eye| center.distance_squared(eye));
            if !is_in_range(engine.scenes.meshes.of(id).extra.range, distance) {
                continue;
            }
        }
        let back = pose.inverse();
        if !back.is_finite() {
            // It has no size along an axis, and is not seen.
            continue;
        }
        let most = first.map_or(most, |(at, ..)| at);
        let (from, along) = (back.transform_point3(from), back.transform_vector3(along));
        let shape = &engine.models.entry(engine.scenes.meshes.of(id).mesh).shape;
        if let Some((at, normal)) = first_hit(shape, Ray { from, along, most }) {
            // Normals stay upright under any scale: by the inverse's columns, as rows.
            let normal = back.transpose().transform_vector3(normal).normalize_or_zero();
            first = Some((at, normal, id));
        }
    }
    let Some((at, normal, MeshId(mesh))) = first else { return Ok(Value::Nil) };
    let numbers = [at, normal.x, normal.y, normal.z].map(|number| Value::Number(number.into()));
    let mesh = Value::Number(mesh.to_number());
    Ok(Value::List(numbers.into_iter().chain([mesh]).collect()))
}

fn unit_light(engine: &mut Engine, unit: UnitId, which: Value) -> Result<LightId, Error> {
    light::of_unit(engine, unit, &which)?.ok_or_else(|| {
        let names = engine.units.of(unit).resource.seen.lights.iter();
        let count = engine.scenes.lights.of_unit(unit.row()).len();
        no_such(engine, unit, "light", &which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_light(engine: &mut Engine, unit: UnitId, which: Value) -> Result<bool, Error> {
    Ok(light::of_unit(engine, unit, &which)?.is_some())
}

fn num_lights(engine: &mut Engine, unit: UnitId) -> f64 {
    engine.scenes.lights.of_unit(unit.row()).len() as f64
}

fn find_camera(engine: &Engine, unit: UnitId, which: &Value) -> Result<Option<CameraId>, Error> {
    let cameras = engine.scenes.cameras.of_unit(unit.row());
    let at = match which {
        Value::Number(number) => place(*number, cameras.len()),
        Value::Text(name) => {
            let parts = &engine.units.of(unit).resource.seen.cameras;
            parts.iter().position(|part| part.name == *name)
        }
        _ => return Err(crate::error!("argument #2 'camera' must be a whole number or a name")),
    };
    Ok(at.and_then(|at| cameras.get(at).copied()))
}

fn unit_camera(engine: &mut Engine, unit: UnitId, which: Value) -> Result<CameraId, Error> {
    find_camera(engine, unit, &which)?.ok_or_else(|| {
        let names = engine.units.of(unit).resource.seen.cameras.iter();
        let count = engine.scenes.cameras.of_unit(unit.row()).len();
        no_such(engine, unit, "camera", &which, (names.map(|part| &part.name[..]), count))
    })
}

fn has_camera(engine: &mut Engine, unit: UnitId, which: Value) -> Result<bool, Error> {
    Ok(find_camera(engine, unit, &which)?.is_some())
}

fn num_cameras(engine: &mut Engine, unit: UnitId) -> f64 {
    engine.scenes.cameras.of_unit(unit.row()).len() as f64
}

fn set_unit_visibility(engine: &mut Engine, unit: UnitId, visible: bool) {
    engine.scenes.hide(unit.row(), None, flag::UNIT_HIDDEN, !visible);
}

fn group(engine: &Engine, unit: UnitId, name: &str) -> Option<u8> {
    let groups = &engine.units.of(unit).resource.seen.groups;
    groups.iter().position(|known| known == name).map(|place| place as u8)
}

fn set_visibility(
    engine: &mut Engine,
    unit: UnitId,
    name: Text,
    visible: bool,
) -> Result<(), Error> {
    let name = name.as_str();
    let Some(group) = group(engine, unit, name) else {
        let resource = &engine.units.of(unit).resource;
        let near = suggest::hint(name, resource.seen.groups.iter().map(String::as_str));
        return Err(crate::error!(
            "argument #2 'group': unit \"{}\" has no visibility group '{name}'{near}",
            resource.name
        ));
    };
    engine.scenes.hide(unit.row(), Some(group), flag::GROUP_HIDDEN, !visible);
    Ok(())
}

fn has_visibility_group(engine: &mut Engine, unit: UnitId, name: Text) -> bool {
    group(engine, unit, name.as_str()).is_some()
}

fn set_mesh_visibility(
    engine: &mut Engine,
    unit: UnitId,
    which: Value,
    visible: bool,
) -> Result<(), Error> {
    let mesh = unit_mesh(engine, unit, which)?;
    if (engine.scenes.meshes.of(mesh).flags & flag::HIDDEN == 0) != visible {
        engine.scenes.meshes.change(mesh).flags ^= flag::HIDDEN;
    }
    Ok(())
}

fn set_material(engine: &mut Engine, unit: UnitId, slot: Text, name: Text) -> Result<(), Error> {
    let (slot, name) = (slot.as_str(), name.as_str());
    let meshes = &engine.scenes.meshes;
    let mut found: Vec<(MeshId, usize)> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for at in meshes.of_unit(unit.row()) {
        let mesh = meshes.slots.at(at).expect("it is in a chain");
        for (place, known) in engine.models.entry(mesh.mesh).material_names.iter().enumerate() {
            if known == slot {
                let handle = meshes.slots.handle_at(at).expect("it is in a chain");
                found.push((MeshId(handle), place));
            }
            names.push(known.clone());
        }
    }
    if found.is_empty() {
        let near = suggest::hint(slot, names.iter().map(String::as_str));
        let unit = &engine.units.of(unit).resource.name;
        return Err(crate::error!(
            "argument #2 'slot': no mesh of unit \"{unit}\" has a material '{slot}'{near}"
        ));
    }
    let material: MaterialId = engine
        .find_mesh_material(name)
        .map_err(|fault| crate::error!("argument #3 'material': {}", fault.message))?;
    for (mesh, place) in found {
        mesh::set_material(engine, mesh, Integer(place as i64 + 1), Some(material))?;
    }
    Ok(())
}

fn unit_box(engine: &mut Engine, unit: UnitId) -> (Mat4, Vec3) {
    let root = engine.units.scene.world(unit.row(), 0);
    let Pose { rotation, position, .. } = Pose::of(root);
    let frame = Mat4::from_rotation_translation(rotation, position);
    let back = frame.inverse();
    let places: Vec<usize> = engine.scenes.meshes.of_unit(unit.row()).collect();
    let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for corner in sprite::corners(engine, unit) {
        let point = back.transform_point3(corner);
        (min, max) = (min.min(point), max.max(point));
    }
    for at in places {
        let handle = engine.scenes.meshes.slots.handle_at(at).expect("it is in a chain");
        let pose = back * mesh::world_pose(engine, MeshId(handle));
        let bounds = engine.models.entry(engine.scenes.meshes.of(MeshId(handle)).mesh).bounds;
        for corner in 0..8u8 {
            let pick = |bit: u8, axis: usize| {
                if corner & bit == 0 { bounds.min[axis] } else { bounds.max[axis] }
            };
            let point = pose.transform_point3(Vec3::new(pick(1, 0), pick(2, 1), pick(4, 2)));
            (min, max) = (min.min(point), max.max(point));
        }
    }
    if min.x > max.x {
        return (frame, Vec3::ZERO);
    }
    (frame * Mat4::from_translation((min + max) * 0.5), (max - min) * 0.5)
}
