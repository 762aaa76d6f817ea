//! The Lua module `Mesh`: meshes of units. Creating meshes from numbers is in the prelude
//! (lua/world/mesh.lua), around the native parts at the end of this file.

pub(super) mod create;

use crate::api::light_layers::layers_of;
use crate::api::mesh::create::{find_mesh_material, new, rebuild};
use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{Integer, MaybeHandle, NameOrIndex, TextArgument};
use crate::context;
use engine_foundation::{Color, Error, Mat4, Quat, Vec3};
use engine_materials::MaterialId;
use engine_runtime::Engine;
use engine_world::instance_table::flag;
use engine_world::mesh::{MeshExtra, MeshId};
use engine_world::scene_graph::NodePose;
use engine_world::unit::UnitId;
use std::sync::Arc;

const MESH_ARG: (&str, &str) = ("mesh", "a mesh");
const MATERIAL_INDEX_ARG: (&str, &str) = ("index", "the material's index, from 1");

pub static MESH: ModuleRows = module(
    "Mesh",
    "Meshes are components of units: `Unit.mesh` finds those that a unit was created with, and \
     `Mesh.new` adds more. A mesh is attached to a node of its unit, and has a material for each \
     of its parts.",
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
            &[("mesh", "a number that may be a mesh's handle; nil and false are none")],
            "Returns true if the handle refers to an existing mesh. Never raises for a stale \
             handle.",
        )
        .pure(),
        func("unit", unit, &[MESH_ARG], "Returns the unit that the mesh belongs to.").pure(),
        func("node", node, &[MESH_ARG], "Returns the index of the node that it is attached to.")
            .pure(),
        func(
            "debug_name",
            debug_name,
            &[MESH_ARG],
            "Returns the name of the geometry that it shows.",
        )
        .pure(),
        func("num_triangles", num_triangles, &[MESH_ARG], "Returns the number of its triangles.")
            .pure(),
        func("num_materials", num_materials, &[MESH_ARG], "Returns the number of its materials.")
            .pure(),
        func(
            "material",
            material,
            &[MESH_ARG, ("which", "the material's index from 1, or its name in the file")],
            "Returns one of its materials; nil if it has none there and is plain white. A change \
             to the material affects everything that is drawn with it. `Material.new` creates one \
             for this mesh alone.",
        )
        .pure(),
        func(
            "has_material",
            has_material,
            &[MESH_ARG, ("name", "the material's name in the file")],
            "Returns true if one of its materials has that name in the file.",
        )
        .pure(),
        func(
            "material_slot_name",
            material_slot_name,
            &[MESH_ARG, MATERIAL_INDEX_ARG],
            "Returns the name of one of its materials in the file; an empty string if it has none.",
        )
        .pure(),
        func(
            "set_material",
            set_material,
            &[
                MESH_ARG,
                MATERIAL_INDEX_ARG,
                ("material", "a material with a surface; nil restores that of its model"),
            ],
            "Sets the material of one of its parts.",
        ),
        func(
            "visibility",
            visibility,
            &[MESH_ARG],
            "Returns true if the mesh itself is visible. Its group or unit can still be hidden.",
        )
        .pure(),
        hot(
            "set_visibility",
            set_visibility,
            &[MESH_ARG, ("visible", "true to show it")],
            "Shows or hides it. A mesh is visible if the mesh itself, its group and its unit are \
             visible.",
        ),
        func("casts_shadows", casts_shadows, &[MESH_ARG], "Returns true if it casts shadows.")
            .pure(),
        func(
            "set_casts_shadows",
            set_casts_shadows,
            &[MESH_ARG, ("casts", "true if it casts shadows")],
            "Sets whether it casts shadows.",
        ),
        func(
            "light_layers",
            light_layers,
            &[MESH_ARG],
            "Returns its light layers: the sum of 1 for the first layer, 2 for the second, 4, 8, \
             and so on, up to 128 for the eighth.",
        )
        .pure(),
        func(
            "set_light_layers",
            set_light_layers,
            &[MESH_ARG, ("layers", "a sum of layers, from 0 to 255; 255 is all")],
            "Sets its light layers. Lights that share no layer with it do not light it: \
             `Light.set_layers`. It still casts their shadows.",
        ),
        func(
            "tint",
            tint,
            &[MESH_ARG],
            "Returns the colour that its own colours are multiplied with.",
        )
        .pure(),
        hot(
            "set_tint",
            set_tint,
            &[
                MESH_ARG,
                (
                    "color",
                    "the factor for its own colours; white and brighter colours change nothing",
                ),
            ],
            "Tints this mesh alone, whatever its materials are.",
        ),
        func(
            "range",
            range,
            &[MESH_ARG],
            "Returns the smallest and largest distance from the camera, in metres, at which it is \
             shown.",
        )
        .returns(&["least distance in metres", "most distance in metres"])
        .pure(),
        func(
            "set_range",
            set_range,
            &[
                MESH_ARG,
                ("near", "the smallest distance from the camera, in metres"),
                ("far", "the largest distance from the camera, in metres; unlimited if left out"),
            ],
            "Shows it only in a range of distances from the camera. Levels of detail are meshes \
             whose ranges follow each other.",
        ),
        func(
            "bounding_volume",
            bounding_volume,
            &[MESH_ARG],
            "Returns a sphere around it: its centre in the world, and its radius in metres.",
        )
        .returns(&["center in the world", "radius in metres"])
        .pure(),
        func(
            "box",
            bounding_box,
            &[MESH_ARG],
            "Returns a box around it: the pose of its centre in the world, and half of its size \
             along its axes.",
        )
        .returns(&["pose of its centre in the world", "half_size along its axes"])
        .pure(),
        func("local_pose", local_pose, &[MESH_ARG], "Returns its pose relative to its node.")
            .pure(),
        func(
            "local_position",
            local_position,
            &[MESH_ARG],
            "Returns its position relative to its node, in metres.",
        )
        .pure(),
        func(
            "local_rotation",
            local_rotation,
            &[MESH_ARG],
            "Returns its rotation relative to its node.",
        )
        .pure(),
        func(
            "set_local_pose",
            set_local_pose,
            &[MESH_ARG, ("pose", "a matrix without shear")],
            "Sets its position, rotation and scale relative to its node.",
        ),
        func(
            "set_local_position",
            set_local_position,
            &[MESH_ARG, ("position", "relative to its node, in metres")],
            "Sets its position relative to its node.",
        ),
        func(
            "set_local_rotation",
            set_local_rotation,
            &[MESH_ARG, ("rotation", "relative to its node")],
            "Sets its rotation relative to its node, and resets its own scale to 1.",
        ),
        func("world_pose", world_pose, &[MESH_ARG], "Returns its pose in the world.").pure(),
        func(
            "world_position",
            world_position,
            &[MESH_ARG],
            "Returns its position in the world, in metres.",
        )
        .pure(),
        func("world_rotation", world_rotation, &[MESH_ARG], "Returns its rotation in the world.")
            .pure(),
        func(
            "destroy",
            destroy,
            &[MESH_ARG],
            "Removes the mesh from its unit. The unit's other meshes keep their handles. The index \
             of each mesh after it decreases by one.",
        )
        .when_full(),
    ],
);

/// Native functions for the prelude, with the names of the public functions.
pub static CORE: ModuleRows = module(
    "Mesh",
    "Meshes, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "new",
            new,
            &[("unit", ""), ("source", ""), ("node", ""), ("lists", ""), ("counts", "")],
            "Adds a mesh to a unit, from a model or from numbers.",
        ),
        func(
            "rebuild",
            rebuild,
            &[("mesh", ""), ("source", ""), ("counts", "")],
            "Replaces the geometry of a mesh of numbers.",
        ),
        func(
            "find_mesh_material",
            find_mesh_material,
            &[("name", "")],
            "Returns the material of that name, for meshes.",
        )
        .public_name("Mesh.new"),
    ],
);

fn alive(engine: &mut Engine, mesh: MaybeHandle) -> bool {
    let handle = mesh.handle();
    handle.is_some_and(|handle| engine.worlds.scenes.meshes.slots.get(handle).is_some())
}

fn unit(engine: &mut Engine, mesh: MeshId) -> UnitId {
    let row = engine.worlds.scenes.meshes.of(mesh).unit;
    UnitId(engine.worlds.units.slots.handle_at(row as usize).expect("meshes end with their units"))
}

fn node(engine: &mut Engine, mesh: MeshId) -> u64 {
    u64::from(engine.worlds.scenes.meshes.of(mesh).node) + 1
}

fn debug_name(engine: &mut Engine, mesh: MeshId) -> String {
    let number = engine.worlds.scenes.meshes.of(mesh).mesh;
    engine.assets.models.entry(number).name.clone()
}

fn num_triangles(engine: &mut Engine, mesh: MeshId) -> u64 {
    let number = engine.worlds.scenes.meshes.of(mesh).mesh;
    engine.assets.models.entry(number).triangles.into()
}

fn num_materials(engine: &mut Engine, mesh: MeshId) -> u64 {
    let number = engine.worlds.scenes.meshes.of(mesh).mesh;
    engine.assets.models.entry(number).materials.len() as u64
}

/// Returns the 0-based index of a material.
fn index_of(engine: &Engine, mesh: MeshId, index: i64) -> Result<usize, Error> {
    let entry = engine.assets.models.entry(engine.worlds.scenes.meshes.of(mesh).mesh);
    let count = entry.materials.len();
    match index >= 1 && index <= count as i64 {
        true => Ok(index as usize - 1),
        false => Err(engine_foundation::error!(
            "argument #2 'index': the mesh '{}' has the materials 1 to {count}, got {index}",
            entry.name
        )),
    }
}

fn material(
    engine: &mut Engine,
    mesh: MeshId,
    which: NameOrIndex,
) -> Result<Option<MaterialId>, Error> {
    let found = engine.worlds.scenes.meshes.of(mesh);
    let entry = engine.assets.models.entry(found.mesh);
    let at = match which {
        NameOrIndex::Index(index) => index_of(engine, mesh, index)?,
        NameOrIndex::Name(name) => {
            let name = name.as_str();
            let names = entry.material_names.iter();
            names.clone().position(|known| known == name).ok_or_else(|| {
                let near = engine_foundation::suggest::hint(name, names.map(String::as_str));
                engine_foundation::error!(
                    "argument #2 'which': the mesh '{}' has no material '{name}'{near}",
                    entry.name
                )
            })?
        }
    };
    let own = found.extra.materials.get(at).copied().flatten();
    let handle = own.or(entry.materials[at]);
    let alive = handle.filter(|handle| engine.assets.materials.slots().get(*handle).is_some());
    Ok(alive.map(MaterialId))
}

fn has_material(engine: &mut Engine, mesh: MeshId, name: TextArgument) -> bool {
    let entry = engine.assets.models.entry(engine.worlds.scenes.meshes.of(mesh).mesh);
    entry.material_names.iter().any(|known| known == name.as_str())
}

fn material_slot_name(engine: &mut Engine, mesh: MeshId, index: Integer) -> Result<String, Error> {
    let at = index_of(engine, mesh, index.0)?;
    let entry = engine.assets.models.entry(engine.worlds.scenes.meshes.of(mesh).mesh);
    Ok(entry.material_names[at].clone())
}

pub(in crate::api) fn set_material(
    engine: &mut Engine,
    mesh: MeshId,
    index: Integer,
    material: Option<MaterialId>,
) -> Result<(), Error> {
    let at = index_of(engine, mesh, index.0)?;
    if let Some(material) = material {
        engine.assets.check_mesh_material(material).map_err(|error| {
            engine_foundation::error!("argument #3 'material': {}", error.message)
        })?;
    }
    let materials = &mut extra(engine, mesh).materials;
    if materials.len() <= at {
        materials.resize(at + 1, None);
    }
    materials[at] = material.map(|material| material.0);
    Ok(())
}

fn extra(engine: &mut Engine, mesh: MeshId) -> &mut MeshExtra {
    Arc::make_mut(&mut engine.worlds.scenes.meshes.change(mesh).extra)
}

fn visibility(engine: &mut Engine, mesh: MeshId) -> bool {
    engine.worlds.scenes.meshes.of(mesh).flags & flag::HIDDEN == 0
}

fn set_flag(engine: &mut Engine, mesh: MeshId, flag: u8, on: bool) {
    if (engine.worlds.scenes.meshes.of(mesh).flags & flag != 0) != on {
        engine.worlds.scenes.meshes.change(mesh).flags ^= flag;
    }
}

pub(crate) fn set_visibility(engine: &mut Engine, mesh: MeshId, visible: bool) {
    set_flag(engine, mesh, flag::HIDDEN, !visible);
}

fn casts_shadows(engine: &mut Engine, mesh: MeshId) -> bool {
    engine.worlds.scenes.meshes.of(mesh).flags & flag::CASTS_SHADOWS != 0
}

fn set_casts_shadows(engine: &mut Engine, mesh: MeshId, casts: bool) {
    set_flag(engine, mesh, flag::CASTS_SHADOWS, casts);
}

fn light_layers(engine: &mut Engine, mesh: MeshId) -> f64 {
    engine.worlds.scenes.meshes.of(mesh).extra.light_layers.into()
}

fn set_light_layers(engine: &mut Engine, mesh: MeshId, layers: f64) -> Result<(), Error> {
    extra(engine, mesh).light_layers = layers_of(layers)?;
    Ok(())
}

fn tint(engine: &mut Engine, mesh: MeshId) -> Color {
    let [red, green, blue, alpha] = engine.worlds.scenes.meshes.of(mesh).tint.map(f32::from);
    Color { red, green, blue, alpha }
}

pub(crate) fn set_tint(engine: &mut Engine, mesh: MeshId, color: Color) {
    engine.worlds.scenes.meshes.change(mesh).tint = color.to_bytes();
}

fn range(engine: &mut Engine, mesh: MeshId) -> (f64, f64) {
    let [near, far] = engine.worlds.scenes.meshes.of(mesh).extra.range;
    (near.into(), far.into())
}

/// Checks the two camera distances between which an object is shown.
pub(in crate::api) fn range_of(near: f64, far: Option<f64>) -> Result<[f32; 2], Error> {
    let far = far.unwrap_or(f64::INFINITY);
    match near >= 0.0 && far > near {
        true => Ok([near as f32, far as f32]),
        false => Err(engine_foundation::error!(
            "argument #2 'near' must be 0 or more and less than 'far', got {near} and {far}"
        )),
    }
}

fn set_range(engine: &mut Engine, mesh: MeshId, near: f64, far: Option<f64>) -> Result<(), Error> {
    extra(engine, mesh).range = range_of(near, far)?;
    Ok(())
}

pub(in crate::api) fn world_pose(engine: &mut Engine, mesh: MeshId) -> Mat4 {
    let found = engine.worlds.scenes.meshes.of(mesh);
    let (row, node) = (found.unit, usize::from(found.node));
    let local = found.extra.local;
    engine.worlds.units.scene.world(row, node) * local.unwrap_or(Mat4::IDENTITY)
}

fn bounding_volume(engine: &mut Engine, mesh: MeshId) -> (Vec3, f64) {
    let pose = world_pose(engine, mesh);
    let bounds = engine.assets.models.entry(engine.worlds.scenes.meshes.of(mesh).mesh).bounds;
    let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate().length());
    let largest = axes.into_iter().fold(0.0, f32::max);
    (pose.transform_point3(bounds.center), f64::from(bounds.radius * largest))
}

fn bounding_box(engine: &mut Engine, mesh: MeshId) -> (Mat4, Vec3) {
    let pose = world_pose(engine, mesh);
    let bounds = engine.assets.models.entry(engine.worlds.scenes.meshes.of(mesh).mesh).bounds;
    let NodePose { scale, rotation, .. } = NodePose::of(pose);
    let middle = pose.transform_point3((bounds.min + bounds.max) * 0.5);
    let half = (bounds.max - bounds.min) * 0.5 * scale.abs();
    (Mat4::from_rotation_translation(rotation, middle), half)
}

fn local_pose(engine: &mut Engine, mesh: MeshId) -> Mat4 {
    engine.worlds.scenes.meshes.of(mesh).extra.local.unwrap_or(Mat4::IDENTITY)
}

fn local_position(engine: &mut Engine, mesh: MeshId) -> Vec3 {
    local_pose(engine, mesh).w_axis.truncate()
}

fn local_rotation(engine: &mut Engine, mesh: MeshId) -> Quat {
    NodePose::of(local_pose(engine, mesh)).rotation
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
        return Err(engine_foundation::error!(
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
    NodePose::of(world_pose(engine, mesh)).rotation
}

fn destroy(engine: &mut Engine, mesh: MeshId) {
    engine.remove_mesh(mesh, &context::script_location());
}
