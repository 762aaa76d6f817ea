//! `Mesh`: meshes of units. Making some of numbers is the prelude's (lua/mesh.lua), around the
//! native parts at the end of this file.

use super::mesh_make::{find_mesh_material, new, rebuild};
use crate::engine::Engine;
use crate::foundation::{Color, Error, Handle, Mat4, Quat, Vec3};
use crate::script::arg::{AnyNumber, Integer, Text};
use crate::script::cx;
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::system::materials::MaterialId;
use crate::world::mesh::{Extra, MeshId, flag};
use crate::world::scene::Pose;
use crate::world::unit::UnitId;
use std::sync::Arc;

const MESH_ARG: (&str, &str) = ("mesh", "a mesh");
const PLACE_ARG: (&str, &str) = ("index", "which of its materials, from 1");

pub static MESH: Module = module(
    "Mesh",
    "Meshes are components of units: `Unit.mesh` finds those that a unit came with, and `Mesh.new` \
     adds more. A mesh is at a node of its unit, and has a material for each of its parts.",
    r#"local world = Application.new_world()
local unit = World.spawn_unit(world, "core/units/cube")
local mesh = Unit.mesh(unit, 1)
Mesh.set_visibility(mesh, false)
assert(Mesh.num_materials(mesh) == 1)
Application.release_world(world)"#,
    &[
        hot(
            "alive",
            alive,
            &[("mesh", "a number that may be a mesh's handle")],
            "Whether the handle leads to a mesh that is there. Never raises for a stale handle.",
        )
        .pure(),
        func("unit", unit, &[MESH_ARG], "The unit that the mesh is of.").pure(),
        func("node", node, &[MESH_ARG], "Which of its unit's nodes it hangs on.").pure(),
        func("debug_name", debug_name, &[MESH_ARG], "The name of what it shows.").pure(),
        func("num_triangles", num_triangles, &[MESH_ARG], "How many triangles it has.").pure(),
        func("num_materials", num_materials, &[MESH_ARG], "How many materials it takes.").pure(),
        func(
            "material",
            material,
            &[MESH_ARG, ("which", "which of its materials, from 1, or what its file calls it")],
            "One of its materials; nil where it has none and is plain white. What is set of a \
             material is set for all who are drawn with it: `Material.new` makes one for this mesh \
             alone.",
        )
        .pure(),
        func(
            "has_material",
            has_material,
            &[MESH_ARG, ("name", "what its file calls it")],
            "Whether one of its materials has that name in its file.",
        )
        .pure(),
        func(
            "material_slot_name",
            material_slot_name,
            &[MESH_ARG, PLACE_ARG],
            "What its file calls one of its materials; empty where it has none.",
        )
        .pure(),
        func(
            "set_material",
            set_material,
            &[
                MESH_ARG,
                PLACE_ARG,
                ("material", "a material with a surface; nil: that of its model again"),
            ],
            "Draws one of its parts with another material.",
        ),
        func(
            "visibility",
            visibility,
            &[MESH_ARG],
            "Whether it is seen, as far as it says itself.",
        )
        .pure(),
        hot(
            "set_visibility",
            set_visibility,
            &[MESH_ARG, ("visible", "whether it is seen")],
            "Shows or hides it. It is seen while it, its group and its unit are.",
        ),
        func("casts_shadows", casts_shadows, &[MESH_ARG], "Whether it casts shadows.").pure(),
        func(
            "set_casts_shadows",
            set_casts_shadows,
            &[MESH_ARG, ("casts", "whether it casts shadows")],
            "Sets whether it casts shadows.",
        ),
        func("tint", tint, &[MESH_ARG], "What its colours are multiplied with.").pure(),
        hot(
            "set_tint",
            set_tint,
            &[
                MESH_ARG,
                ("color", "what its colours are multiplied with; white and more change nothing"),
            ],
            "Colours this mesh alone, whatever its materials are.",
        ),
        func(
            "range",
            range,
            &[MESH_ARG],
            "From how many metres of the camera on, and up to how many, it is shown.",
        )
        .pure(),
        func(
            "set_range",
            set_range,
            &[
                MESH_ARG,
                ("near", "metres from the camera"),
                ("far", "metres from the camera; without it, it is shown however far"),
            ],
            "Shows it only in a range of distances: levels of detail are meshes whose ranges meet.",
        ),
        func(
            "bounding_volume",
            bounding_volume,
            &[MESH_ARG],
            "A sphere around it: its middle in the world, and its radius in metres.",
        )
        .pure(),
        func(
            "box",
            bounding_box,
            &[MESH_ARG],
            "A box around it: the pose of its middle in the world, and half of its sizes along its \
             axes.",
        )
        .pure(),
        func("local_pose", local_pose, &[MESH_ARG], "Where it is relative to its node.").pure(),
        func("local_position", local_position, &[MESH_ARG], "Where it is relative to its node.")
            .pure(),
        func(
            "local_rotation",
            local_rotation,
            &[MESH_ARG],
            "How it is turned relative to its node.",
        )
        .pure(),
        func(
            "set_local_pose",
            set_local_pose,
            &[MESH_ARG, ("pose", "a matrix without shear")],
            "Moves, turns and sizes it relative to its node.",
        ),
        func(
            "set_local_position",
            set_local_position,
            &[MESH_ARG, ("position", "metres from its node")],
            "Moves it relative to its node.",
        ),
        func(
            "set_local_rotation",
            set_local_rotation,
            &[MESH_ARG, ("rotation", "relative to its node")],
            "Turns it relative to its node; it loses a size of its own.",
        ),
        func("world_pose", world_pose, &[MESH_ARG], "Where it is in the world.").pure(),
        func("world_position", world_position, &[MESH_ARG], "Where it is in the world, in metres.")
            .pure(),
        func("world_rotation", world_rotation, &[MESH_ARG], "How it is turned in the world.")
            .pure(),
        func(
            "destroy",
            destroy,
            &[MESH_ARG],
            "Takes the mesh off its unit. The unit's other meshes keep their handles; those that \
             came after it move up by one.",
        )
        .when_full(),
    ],
);

/// For the prelude, under the names by which games know them.
pub static CORE: Module = module(
    "Mesh",
    "Meshes, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "new",
            new,
            &[("unit", ""), ("source", ""), ("node", ""), ("lists", ""), ("counts", "")],
            "Adds a mesh of a model, or of numbers, to a unit.",
        ),
        func(
            "rebuild",
            rebuild,
            &[("mesh", ""), ("source", ""), ("counts", "")],
            "Gives a mesh of numbers others.",
        ),
        func(
            "find_mesh_material",
            find_mesh_material,
            &[("name", "")],
            "The material of that name, for meshes.",
        )
        .told_as("Mesh.new"),
    ],
);

fn alive(engine: &mut Engine, mesh: AnyNumber) -> bool {
    let handle = Handle::from_number(mesh.0);
    handle.is_some_and(|handle| engine.scenes.meshes.slots.get(handle).is_some())
}

fn unit(engine: &mut Engine, mesh: MeshId) -> UnitId {
    let row = engine.scenes.meshes.of(mesh).unit;
    UnitId(engine.units.slots.handle_at(row as usize).expect("meshes end with their units"))
}

fn node(engine: &mut Engine, mesh: MeshId) -> f64 {
    f64::from(engine.scenes.meshes.of(mesh).node) + 1.0
}

fn debug_name(engine: &mut Engine, mesh: MeshId) -> String {
    let number = engine.scenes.meshes.of(mesh).mesh;
    engine.models.entry(number).name.clone()
}

fn num_triangles(engine: &mut Engine, mesh: MeshId) -> f64 {
    let number = engine.scenes.meshes.of(mesh).mesh;
    engine.models.entry(number).triangles.into()
}

fn num_materials(engine: &mut Engine, mesh: MeshId) -> f64 {
    let number = engine.scenes.meshes.of(mesh).mesh;
    engine.models.entry(number).materials.len() as f64
}

/// The place of a material, from 0.
fn place(engine: &Engine, mesh: MeshId, index: i64) -> Result<usize, Error> {
    let entry = engine.models.entry(engine.scenes.meshes.of(mesh).mesh);
    let count = entry.materials.len();
    match index >= 1 && index <= count as i64 {
        true => Ok(index as usize - 1),
        false => Err(crate::error!(
            "argument #2 'index': the mesh '{}' has the materials 1 to {count}, got {index}",
            entry.name
        )),
    }
}

fn material(engine: &mut Engine, mesh: MeshId, which: Value) -> Result<Option<MaterialId>, Error> {
    let found = engine.scenes.meshes.of(mesh);
    let entry = engine.models.entry(found.mesh);
    let at = match which {
        Value::Number(number) if number.fract() == 0.0 => place(engine, mesh, number as i64)?,
        Value::Text(name) => {
            let names = entry.material_names.iter();
            names.clone().position(|known| *known == name).ok_or_else(|| {
                let near = crate::foundation::suggest::hint(&name, names.map(String::as_str));
                crate::error!(
                    "argument #2 'which': the mesh '{}' has no material '{name}'{near}",
                    entry.name
                )
            })?
        }
        _ => return Err(crate::error!("argument #2 'which' must be a whole number or a name")),
    };
    let own = found.extra.materials.get(at).copied().flatten();
    let handle = own.or(entry.materials[at]);
    let alive = handle.filter(|handle| engine.materials.slots().get(*handle).is_some());
    Ok(alive.map(MaterialId))
}

fn has_material(engine: &mut Engine, mesh: MeshId, name: Text) -> bool {
    let entry = engine.models.entry(engine.scenes.meshes.of(mesh).mesh);
    entry.material_names.iter().any(|known| known == name.as_str())
}

fn material_slot_name(engine: &mut Engine, mesh: MeshId, index: Integer) -> Result<String, Error> {
    let at = place(engine, mesh, index.0)?;
    let entry = engine.models.entry(engine.scenes.meshes.of(mesh).mesh);
    Ok(entry.material_names[at].clone())
}

pub(super) fn set_material(
    engine: &mut Engine,
    mesh: MeshId,
    index: Integer,
    material: Option<MaterialId>,
) -> Result<(), Error> {
    let at = place(engine, mesh, index.0)?;
    if let Some(material) = material {
        engine
            .check_mesh_material(material)
            .map_err(|fault| crate::error!("argument #3 'material': {}", fault.message))?;
    }
    let materials = &mut extra(engine, mesh).materials;
    if materials.len() <= at {
        materials.resize(at + 1, None);
    }
    materials[at] = material.map(|material| material.0);
    Ok(())
}

fn extra(engine: &mut Engine, mesh: MeshId) -> &mut Extra {
    Arc::make_mut(&mut engine.scenes.meshes.change(mesh).extra)
}

fn visibility(engine: &mut Engine, mesh: MeshId) -> bool {
    engine.scenes.meshes.of(mesh).flags & flag::HIDDEN == 0
}

fn set_flag(engine: &mut Engine, mesh: MeshId, flag: u8, on: bool) {
    if (engine.scenes.meshes.of(mesh).flags & flag != 0) != on {
        engine.scenes.meshes.change(mesh).flags ^= flag;
    }
}

fn set_visibility(engine: &mut Engine, mesh: MeshId, visible: bool) {
    set_flag(engine, mesh, flag::HIDDEN, !visible);
}

fn casts_shadows(engine: &mut Engine, mesh: MeshId) -> bool {
    engine.scenes.meshes.of(mesh).flags & flag::CASTS_SHADOWS != 0
}

fn set_casts_shadows(engine: &mut Engine, mesh: MeshId, casts: bool) {
    set_flag(engine, mesh, flag::CASTS_SHADOWS, casts);
}

fn tint(engine: &mut Engine, mesh: MeshId) -> Color {
    let [red, green, blue, alpha] = engine.scenes.meshes.of(mesh).tint.map(f32::from);
    Color { red, green, blue, alpha }
}

fn set_tint(engine: &mut Engine, mesh: MeshId, color: Color) {
    engine.scenes.meshes.change(mesh).tint = color.to_bytes();
}

fn range(engine: &mut Engine, mesh: MeshId) -> (f64, f64) {
    let [near, far] = engine.scenes.meshes.of(mesh).extra.range;
    (near.into(), far.into())
}

/// Two distances of the camera between which something is shown.
pub(super) fn range_of(near: f64, far: Option<f64>) -> Result<[f32; 2], Error> {
    let far = far.unwrap_or(f64::INFINITY);
    match near >= 0.0 && far > near {
        true => Ok([near as f32, far as f32]),
        false => Err(crate::error!(
            "argument #2 'near' must be 0 or more and less than 'far', got {near} and {far}"
        )),
    }
}

fn set_range(engine: &mut Engine, mesh: MeshId, near: f64, far: Option<f64>) -> Result<(), Error> {
    extra(engine, mesh).range = range_of(near, far)?;
    Ok(())
}

pub(super) fn world_pose(engine: &mut Engine, mesh: MeshId) -> Mat4 {
    let found = engine.scenes.meshes.of(mesh);
    let (row, node) = (found.unit, usize::from(found.node));
    let local = found.extra.local;
    engine.units.scene.world(row, node) * local.unwrap_or(Mat4::IDENTITY)
}

fn bounding_volume(engine: &mut Engine, mesh: MeshId) -> (Vec3, f64) {
    let pose = world_pose(engine, mesh);
    let bounds = engine.models.entry(engine.scenes.meshes.of(mesh).mesh).bounds;
    let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate().length());
    let largest = axes.into_iter().fold(0.0, f32::max);
    (pose.transform_point3(bounds.center), f64::from(bounds.radius * largest))
}

fn bounding_box(engine: &mut Engine, mesh: MeshId) -> (Mat4, Vec3) {
    let pose = world_pose(engine, mesh);
    let bounds = engine.models.entry(engine.scenes.meshes.of(mesh).mesh).bounds;
    let Pose { scale, rotation, .. } = Pose::of(pose);
    let middle = pose.transform_point3((bounds.min + bounds.max) * 0.5);
    let half = (bounds.max - bounds.min) * 0.5 * scale.abs();
    (Mat4::from_rotation_translation(rotation, middle), half)
}

fn local_pose(engine: &mut Engine, mesh: MeshId) -> Mat4 {
    engine.scenes.meshes.of(mesh).extra.local.unwrap_or(Mat4::IDENTITY)
}

fn local_position(engine: &mut Engine, mesh: MeshId) -> Vec3 {
    local_pose(engine, mesh).w_axis.truncate()
}

fn local_rotation(engine: &mut Engine, mesh: MeshId) -> Quat {
    Pose::of(local_pose(engine, mesh)).rotation
}

fn set_local_pose(engine: &mut Engine, mesh: MeshId, pose: Mat4) {
    extra(engine, mesh).local = Some(pose);
}

fn set_local_position(engine: &mut Engine, mesh: MeshId, position: Vec3) {
    let mut pose = local_pose(engine, mesh);
    pose.w_axis = position.extend(1.0);
    set_local_pose(engine, mesh, pose);
}

fn set_local_rotation(engine: &mut Engine, mesh: MeshId, rotation: Quat) -> Result<(), Error> {
    if (rotation.length() - 1.0).abs() > 1e-3 {
        return Err(crate::error!(
            "argument #2 'rotation' must have length 1, this one has {}: use Quaternion.normalize",
            rotation.length()
        ));
    }
    let position = local_position(engine, mesh);
    let pose = Mat4::from_rotation_translation(rotation.normalize(), position);
    set_local_pose(engine, mesh, pose);
    Ok(())
}

fn world_position(engine: &mut Engine, mesh: MeshId) -> Vec3 {
    world_pose(engine, mesh).w_axis.truncate()
}

fn world_rotation(engine: &mut Engine, mesh: MeshId) -> Quat {
    Pose::of(world_pose(engine, mesh)).rotation
}

fn destroy(engine: &mut Engine, mesh: MeshId) {
    engine.remove_mesh(mesh, &cx::place());
}
