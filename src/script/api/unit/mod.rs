//! The Lua module `Unit`: queries and changes of a unit. Spawning, data and components are in the
//! prelude (lua/world/unit/, lua/world/units.lua, lua/world/components.lua), around the native
//! parts at the end of this file.

pub(super) mod actors;
pub(super) mod animation;
pub(super) mod animation_events;
pub(super) mod animation_merging;
pub(super) mod components;
pub(super) mod constraints;
pub(super) mod light_occluders;
pub(super) mod meshes;
pub(super) mod nodes;
pub(super) mod outlines;
pub(super) mod ragdoll;
pub(super) mod resource;
pub(super) mod root_motion;
pub(super) mod skeleton;
pub(super) mod sprite_skeleton;
pub(super) mod sprites;
pub(super) mod state_machine;

use crate::api::level;
use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{Integer, MaybeHandle, TextArgument};
use crate::context;
use crate::value::ScriptValue;
use engine_foundation::{Error, Mat4, Quat, Vec3, doing, suggest};
use engine_runtime::Engine;
use engine_world::scene_graph::NodePose;
use engine_world::unit::UnitId;
use engine_world::unit_resource::UnitResource;
use engine_world::{WorldId, component};
use std::sync::Arc;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");
const NODE_ARG: (&str, &str) = ("node", "index of the node; the root by default");
const NODE_TO_SET: (&str, &str) = ("node", "index of the node; 1 is the root");

pub static UNIT: ModuleRows = module(
    "Unit",
    "A unit is an object in a world: nodes that are placed relative to each other, and components. \
     `World.spawn_unit` spawns one and returns its handle, a number that can be stored anywhere. \
     Nodes are numbered from 1, and node 1 is the root.",
    r#"local world = Application.new_world()
local unit = World.spawn_unit(world, "core/units/empty", Vector3(0, 0, 2))
Unit.set_local_position(unit, 1, Unit.local_position(unit, 1) + Vector3.up())
assert(Unit.world_position(unit, 1) == Vector3(0, 0, 3))
World.destroy_unit(world, unit)
assert(not Unit.alive(unit))
Application.release_world(world)"#,
    &[
        hot(
            "alive",
            alive,
            &[("unit", "a number that may be the handle of a unit; nil and false are none")],
            "Returns true if the handle refers to an existing unit. Never raises for a stale \
             handle.",
        )
        .pure(),
        hot(
            "local_position",
            local_position,
            &[UNIT_ARG, NODE_ARG],
            "Returns the position of a node relative to its parent, in metres.",
        )
        .pure(),
        hot(
            "local_rotation",
            local_rotation,
            &[UNIT_ARG, NODE_ARG],
            "Returns the rotation of a node relative to its parent.",
        )
        .pure(),
        hot(
            "local_scale",
            local_scale,
            &[UNIT_ARG, NODE_ARG],
            "Returns the scale of a node relative to its parent.",
        )
        .pure(),
        func(
            "local_pose",
            local_pose,
            &[UNIT_ARG, NODE_ARG],
            "Returns the position, rotation and scale of a node relative to its parent, as one \
             matrix.",
        )
        .pure(),
        hot(
            "set_local_position",
            set_local_position,
            &[UNIT_ARG, NODE_TO_SET, ("position", "metres, relative to its parent")],
            "Sets the position of a node relative to its parent.",
        ),
        hot(
            "set_local_rotation",
            set_local_rotation,
            &[UNIT_ARG, NODE_TO_SET, ("rotation", "relative to its parent")],
            "Sets the rotation of a node relative to its parent.",
        ),
        hot(
            "set_local_scale",
            set_local_scale,
            &[
                UNIT_ARG,
                NODE_TO_SET,
                ("scale", "factor along each of the node's own axes; 1 is unchanged"),
            ],
            "Sets the scale of a node relative to its parent.",
        ),
        func(
            "set_local_pose",
            set_local_pose,
            &[UNIT_ARG, NODE_TO_SET, ("pose", "a matrix without shear, relative to its parent")],
            "Sets the position, rotation and scale of a node relative to its parent.",
        ),
        hot(
            "world_position",
            world_position,
            &[UNIT_ARG, NODE_ARG],
            "Returns the position of a node in the world, in metres. The nodes above it are \
             brought up to date first.",
        )
        .pure(),
        hot(
            "world_rotation",
            world_rotation,
            &[UNIT_ARG, NODE_ARG],
            "Returns the rotation of a node in the world.",
        )
        .pure(),
        func(
            "world_pose",
            world_pose,
            &[UNIT_ARG, NODE_ARG],
            "Returns the pose of a node in the world.",
        )
        .pure(),
        func(
            "node",
            node,
            &[UNIT_ARG, ("name", "the name of a node")],
            "Returns the index of the node with that name. Raises an error if there is none.",
        )
        .pure(),
        func(
            "has_node",
            has_node,
            &[UNIT_ARG, ("name", "the name of a node")],
            "Returns true if the unit has a node with that name.",
        )
        .pure(),
        func("num_nodes", num_nodes, &[UNIT_ARG], "Returns the number of nodes of the unit.")
            .pure(),
        func("node_name", node_name, &[UNIT_ARG, NODE_TO_SET], "Returns the name of a node.")
            .pure(),
        func(
            "scene_graph_parent",
            scene_graph_parent,
            &[UNIT_ARG, NODE_TO_SET],
            "Returns the parent of a node if it is a node of the same unit, or nil.",
        )
        .pure(),
        func("world", world, &[UNIT_ARG], "Returns the world that contains the unit.").pure(),
        func(
            "level",
            level::level_of_unit,
            &[UNIT_ARG],
            "Returns the level that the unit was spawned with, or nil.",
        )
        .pure(),
        func(
            "debug_name",
            debug_name,
            &[UNIT_ARG],
            "Returns the name of the resource that the unit was spawned from.",
        )
        .pure(),
        func(
            "is_a",
            is_a,
            &[UNIT_ARG, ("resource", "the name of a unit resource")],
            "Returns true if the unit was spawned from that resource, or from one that inherits \
             from it.",
        )
        .pure(),
    ],
);

/// Native functions of `World` in the prelude's table `core`, on which the prelude's functions of
/// the same names are built. They have the names of the public functions, which error messages
/// show.
pub static WORLD_CORE: ModuleRows = module(
    "World",
    "Native functions on units, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "spawn_unit",
            spawn_unit,
            &[("world", ""), ("resource", ""), ("position", ""), ("rotation", ""), ("scale", "")],
            "Creates a unit without the components of its scripts.",
        ),
        func(
            "destroy_unit",
            check_in_world,
            &[("world", ""), ("unit", "")],
            "Raises an error if the unit cannot be destroyed.",
        )
        .pure(),
        func("end_unit", end_unit, &[("unit", "")], "Destroys a unit.").when_full(),
        func(
            "link_unit",
            link_unit,
            &[("world", ""), ("child", ""), ("parent", ""), ("node", ""), ("child_node", "")],
            "Links a node of a unit to a node of another unit.",
        ),
        func(
            "unlink_unit",
            unlink_unit,
            &[("world", ""), ("unit", "")],
            "Unlinks a unit from its parent.",
        )
        .when_full(),
        func("units", units, &[("world", "")], "Returns the units of a world.").pure(),
    ],
);

/// Native functions of `Unit` in the prelude's table `core`.
pub static UNIT_CORE: ModuleRows = module(
    "Unit",
    "Native functions on units, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "unit_resource",
            unit_resource,
            &[("name", "")],
            "Returns the script components and the data of a unit resource.",
        )
        .pure(),
        func(
            "spawned_resource",
            spawned_resource,
            &[UNIT_ARG],
            "Returns the script components and the data of the resource that a unit was spawned \
             from.",
        )
        .pure(),
        func(
            "respawn_unit",
            respawn_unit,
            &[UNIT_ARG],
            "Replaces the nodes and native components of a unit by those of its newest resource.",
        ),
        func(
            "component_names",
            component_names,
            &[],
            "Returns the names of the engine's components.",
        )
        .pure(),
        func("get_data", check, &[UNIT_ARG], "Raises an error if the unit does not exist.").pure(),
        func("set_data", check, &[UNIT_ARG], "Raises an error if the unit does not exist.").pure(),
        func(
            "inspect",
            inspect,
            &[UNIT_ARG],
            "Returns the description of the engine's components of a unit, as lines of text.",
        )
        .pure(),
    ],
);

fn alive(engine: &mut Engine, unit: MaybeHandle) -> bool {
    unit.handle().is_some_and(|handle| engine.worlds.units.slots.get(handle).is_some())
}

/// Returns the row of a unit and the index of its node.
#[inline(always)]
fn at(engine: &Engine, unit: UnitId, node: Option<Integer>) -> Result<(u32, usize), Error> {
    let (row, node) = (unit.row(), node.map_or(1, |node| node.0));
    let count = engine.worlds.units.scene.count(row);
    match node >= 1 && node <= count as i64 {
        true => Ok((row, node as usize - 1)),
        false => Err(no_such_node(engine, unit, node, count)),
    }
}

#[cold]
fn no_such_node(engine: &Engine, unit: UnitId, node: i64, count: usize) -> Error {
    let name = &engine.worlds.units.of(unit).resource.name;
    let remedy = node_remedy(node);
    engine_foundation::error!(
        "argument 'node': unit \"{name}\" has the nodes 1 to {count}, got {node}{remedy}"
    )
}

/// Returns the remedy for the index of a node that does not exist.
pub(super) fn node_remedy(node: i64) -> &'static str {
    if node == 0 { " (nodes count from 1, and the root is 1)" } else { "" }
}

pub(crate) type NodeArgument = Option<Integer>;

fn local_position(engine: &mut Engine, unit: UnitId, node: NodeArgument) -> Result<Vec3, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.worlds.units.scene.local_position(row, node))
}

fn local_rotation(engine: &mut Engine, unit: UnitId, node: NodeArgument) -> Result<Quat, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.worlds.units.scene.local_rotation(row, node))
}

fn local_scale(engine: &mut Engine, unit: UnitId, node: NodeArgument) -> Result<Vec3, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.worlds.units.scene.local_scale(row, node))
}

fn local_pose(engine: &mut Engine, unit: UnitId, node: NodeArgument) -> Result<Mat4, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.worlds.units.scene.local(row, node).matrix())
}

pub(crate) fn set_local_position(
    engine: &mut Engine,
    unit: UnitId,
    node: NodeArgument,
    position: Vec3,
) -> Result<(), Error> {
    let (row, node) = at(engine, unit, node)?;
    engine.worlds.units.scene.set_local_position(row, node, position);
    Ok(())
}

pub(crate) fn set_local_rotation(
    engine: &mut Engine,
    unit: UnitId,
    node: NodeArgument,
    rotation: Quat,
) -> Result<(), Error> {
    let (row, node) = at(engine, unit, node)?;
    let length = rotation.length_squared();
    if (length - 1.0).abs() > 1e-3 {
        return Err(not_a_rotation(rotation, 3));
    }
    engine.worlds.units.scene.set_local_rotation(row, node, rotation);
    Ok(())
}

#[cold]
fn not_a_rotation(rotation: Quat, argument: usize) -> Error {
    engine_foundation::error!(
        "argument #{argument} 'rotation' must have length 1, this one has {}: use \
         Quaternion.normalize",
        rotation.length()
    )
}

fn set_local_scale(
    engine: &mut Engine,
    unit: UnitId,
    node: NodeArgument,
    scale: Vec3,
) -> Result<(), Error> {
    let (row, node) = at(engine, unit, node)?;
    engine.worlds.units.scene.set_local_scale(row, node, scale);
    Ok(())
}

fn set_local_pose(
    engine: &mut Engine,
    unit: UnitId,
    node: NodeArgument,
    pose: Mat4,
) -> Result<(), Error> {
    let (row, node) = at(engine, unit, node)?;
    engine.worlds.units.scene.set_local(row, node, &NodePose::of(pose));
    Ok(())
}

pub(crate) fn world_position(
    engine: &mut Engine,
    unit: UnitId,
    node: NodeArgument,
) -> Result<Vec3, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.worlds.units.scene.world_position(row, node))
}

pub(crate) fn world_rotation(
    engine: &mut Engine,
    unit: UnitId,
    node: NodeArgument,
) -> Result<Quat, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.worlds.units.scene.world_rotation(row, node))
}

fn world_pose(engine: &mut Engine, unit: UnitId, node: NodeArgument) -> Result<Mat4, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.worlds.units.scene.world(row, node))
}

pub(crate) fn node(engine: &mut Engine, unit: UnitId, name: TextArgument) -> Result<u64, Error> {
    let (name, resource) = (name.as_str(), &engine.worlds.units.of(unit).resource);
    if resource.duplicate_names.iter().any(|known| known == name) {
        return Err(engine_foundation::error!(
            "argument #2 'name': two nodes are named '{name}' in unit \"{}\": rename one, so that \
             it is clear which is meant",
            resource.name
        ));
    }
    resource.node(name).map(|node| node as u64 + 1).ok_or_else(|| {
        let names = resource.node_names.iter().map(String::as_str);
        let hint = suggest::hint(name, names);
        engine_foundation::error!(
            "argument #2 'name': unit \"{}\" has no node '{name}'{hint}",
            resource.name
        )
    })
}

fn has_node(engine: &mut Engine, unit: UnitId, name: TextArgument) -> bool {
    engine.worlds.units.of(unit).resource.node(name.as_str()).is_some()
}

fn num_nodes(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.units.scene.count(unit.row()) as u64
}

fn node_name(engine: &mut Engine, unit: UnitId, node: NodeArgument) -> Result<String, Error> {
    let (_, node) = at(engine, unit, node)?;
    Ok(engine.worlds.units.of(unit).resource.node_names[node].clone())
}

fn scene_graph_parent(
    engine: &mut Engine,
    unit: UnitId,
    node: NodeArgument,
) -> Result<ScriptValue, Error> {
    let (row, node) = at(engine, unit, node)?;
    let parent = engine.worlds.units.scene.parent(row, node).filter(|(owner, _)| *owner == row);
    Ok(parent.map_or(ScriptValue::Nil, |(_, node)| ScriptValue::Number(node as f64 + 1.0)))
}

fn world(engine: &mut Engine, unit: UnitId) -> WorldId {
    engine.worlds.units.of(unit).world
}

fn debug_name(engine: &mut Engine, unit: UnitId) -> String {
    engine.worlds.units.of(unit).resource.name.clone()
}

fn is_a(engine: &mut Engine, unit: UnitId, resource: TextArgument) -> bool {
    let (name, resource) = (resource.as_str(), &engine.worlds.units.of(unit).resource);
    resource.name == name || resource.bases.iter().any(|base| base == name)
}

/// Returns the unit resource with a name, which is read at the first request.
pub(in crate::api) fn resource(
    engine: &mut Engine,
    name: &str,
) -> Result<Arc<UnitResource>, Error> {
    engine.worlds.unit_resource(&mut engine.assets, name)
}

fn spawn_unit(
    engine: &mut Engine,
    world: WorldId,
    name: TextArgument,
    position: Option<Vec3>,
    rotation: Option<Quat>,
    scale: Option<Vec3>,
) -> Result<UnitId, Error> {
    doing!("When spawning unit:", name.as_str());
    let resource = resource(engine, name.as_str())?;
    if let Some(wrong) = rotation.filter(|turn| (turn.length_squared() - 1.0).abs() > 1e-3) {
        return Err(not_a_rotation(wrong, 4));
    }
    let first = resource.poses[0];
    let pose = NodePose {
        position: position.unwrap_or(first.position),
        rotation: rotation.unwrap_or(first.rotation),
        scale: scale.unwrap_or(first.scale),
    };
    engine.spawn_unit(world, &resource, &pose)
}

/// Returns an error if a unit is in another world.
fn in_world(engine: &Engine, world: WorldId, unit: UnitId, argument: &str) -> Result<(), Error> {
    match engine.worlds.units.of(unit).world == world {
        true => Ok(()),
        false => {
            Err(engine_foundation::error!("argument {argument}: the unit is in another world"))
        }
    }
}

fn check_in_world(engine: &mut Engine, world: WorldId, unit: UnitId) -> Result<(), Error> {
    in_world(engine, world, unit, "#2 'unit'")
}

fn end_unit(engine: &mut Engine, unit: UnitId) {
    engine.end_unit(unit, &context::script_location());
}

fn check(_: &mut Engine, _: UnitId) {}

fn inspect(engine: &mut Engine, unit: UnitId) -> Vec<String> {
    engine.worlds.inspect_components(&engine.assets, &engine.devices, unit)
}

fn component_names(_: &mut Engine) -> ScriptValue {
    let mut names: Vec<_> =
        component::COMPONENTS.0.iter().map(|component| component.name).collect();
    names.sort_unstable();
    ScriptValue::List(names.into_iter().map(|name| ScriptValue::Text(name.to_string())).collect())
}

/// Returns `{ { { name, component, fields }, … }, data }`: the parts whose components are scripts.
fn unit_resource(engine: &mut Engine, name: TextArgument) -> Result<ScriptValue, Error> {
    Ok(script_part(&*resource(engine, name.as_str())?))
}

/// Returns the resource that a unit was spawned or respawned from, as `unit_resource` does.
fn spawned_resource(engine: &mut Engine, unit: UnitId) -> ScriptValue {
    script_part(&engine.worlds.units.of(unit).resource)
}

/// Replaces the nodes and native components of a unit by those of the newest version of its
/// resource.
fn respawn_unit(engine: &mut Engine, unit: UnitId) -> Result<(), Error> {
    let name = engine.worlds.units.of(unit).resource.name.clone();
    let newest = resource(engine, &name)?;
    engine.respawn_unit(unit, &newest)
}

/// Returns the script components and the data of a unit's resource.
fn script_part(resource: &UnitResource) -> ScriptValue {
    let scripted =
        resource.parts.iter().filter(|part| component::engine_component(&part.component).is_none());
    let parts = scripted.map(|part| {
        ScriptValue::List(vec![
            ScriptValue::Text(part.name.clone()),
            ScriptValue::Text(part.component.clone()),
            ScriptValue::from_tree(&part.fields),
        ])
    });
    ScriptValue::List(vec![
        ScriptValue::List(parts.collect()),
        ScriptValue::from_tree(&resource.data),
        ScriptValue::Boolean(resource.flow.is_some()),
    ])
}

/// Links a node of a unit to a node of another one. Without a node of the child, its root.
fn link_unit(
    engine: &mut Engine,
    world: WorldId,
    child: UnitId,
    parent: UnitId,
    node: Option<Integer>,
    child_node: Option<Integer>,
) -> Result<(), Error> {
    in_world(engine, world, child, "#2 'child'")?;
    in_world(engine, world, parent, "'parent'")?;
    let (child_row, child_node) = at(engine, child, child_node)?;
    let (row, node) = at(engine, parent, node)?;
    engine.worlds.units.scene.link((child_row, child_node), (row, node))
}

fn unlink_unit(engine: &mut Engine, world: WorldId, unit: UnitId) -> Result<(), Error> {
    in_world(engine, world, unit, "#2 'unit'")?;
    engine.worlds.units.scene.unlink(unit.row());
    Ok(())
}

fn units(engine: &mut Engine, world: WorldId) -> ScriptValue {
    let units = engine.worlds.units.in_world(world);
    ScriptValue::List(units.map(|unit| ScriptValue::Number(unit.0.to_number())).collect())
}
