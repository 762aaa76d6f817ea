//! `Unit`: what can be asked of a unit and done with it. Spawning, data and components are in the
//! prelude (lua/unit.lua, lua/components.lua), around the native parts at the end of this file.

use super::level;
use crate::engine::Engine;
use crate::foundation::{Error, Handle, Mat4, Quat, Vec3, suggest};
use crate::script::arg::{AnyNumber, Integer, Text};
use crate::script::cx;
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::world::scene::Pose;
use crate::world::unit::UnitId;
use crate::world::unit_resource::UnitResource;
use crate::world::{WorldId, component};
use std::sync::Arc;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");
const NODE_ARG: (&str, &str) = ("node", "which of its nodes; the first, the root, if none");
const NODE_TO_SET: (&str, &str) = ("node", "which of its nodes; 1 is the root");

pub static UNIT: Module = module(
    "Unit",
    "A unit is a thing in a world: nodes that are placed relative to each other, and components. \
     `World.spawn_unit` makes one; a unit is known by a number, its handle, that can be kept \
     anywhere. Nodes count from 1, and node 1 is the root.",
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
            &[("unit", "a number that may be a unit's handle")],
            "Whether the handle leads to a unit that is there. Never raises for a stale handle.",
        )
        .pure(),
        hot(
            "local_position",
            local_position,
            &[UNIT_ARG, NODE_ARG],
            "Where a node is relative to its parent, in metres.",
        )
        .pure(),
        hot(
            "local_rotation",
            local_rotation,
            &[UNIT_ARG, NODE_ARG],
            "How a node is turned relative to its parent.",
        )
        .pure(),
        hot(
            "local_scale",
            local_scale,
            &[UNIT_ARG, NODE_ARG],
            "How large a node is relative to its parent.",
        )
        .pure(),
        func("local_pose", local_pose, &[UNIT_ARG, NODE_ARG], "All three as one matrix.").pure(),
        hot(
            "set_local_position",
            set_local_position,
            &[UNIT_ARG, NODE_TO_SET, ("position", "metres from its parent")],
            "Moves a node.",
        ),
        hot(
            "set_local_rotation",
            set_local_rotation,
            &[UNIT_ARG, NODE_TO_SET, ("rotation", "relative to its parent")],
            "Turns a node.",
        ),
        hot(
            "set_local_scale",
            set_local_scale,
            &[UNIT_ARG, NODE_TO_SET, ("scale", "1 is unchanged; for each axis of the node's own")],
            "Sizes a node.",
        ),
        func(
            "set_local_pose",
            set_local_pose,
            &[UNIT_ARG, NODE_TO_SET, ("pose", "a matrix without shear")],
            "Moves, turns and sizes a node.",
        ),
        hot(
            "world_position",
            world_position,
            &[UNIT_ARG, NODE_ARG],
            "Where a node is in the world, in metres; what it hangs on is brought up to date.",
        )
        .pure(),
        hot(
            "world_rotation",
            world_rotation,
            &[UNIT_ARG, NODE_ARG],
            "How a node is turned in the world.",
        )
        .pure(),
        func("world_pose", world_pose, &[UNIT_ARG, NODE_ARG], "A node's place in the world.")
            .pure(),
        func(
            "node",
            node,
            &[UNIT_ARG, ("name", "the name of a node")],
            "Which of the unit's nodes has that name. Without one, an error.",
        )
        .pure(),
        func(
            "has_node",
            has_node,
            &[UNIT_ARG, ("name", "the name of a node")],
            "Whether one of the unit's nodes has that name.",
        )
        .pure(),
        func("num_nodes", num_nodes, &[UNIT_ARG], "How many nodes the unit has.").pure(),
        func("node_name", node_name, &[UNIT_ARG, NODE_TO_SET], "The name of a node.").pure(),
        func(
            "scene_graph_parent",
            scene_graph_parent,
            &[UNIT_ARG, NODE_TO_SET],
            "The node that a node hangs on, if it is one of the unit's own; nil otherwise.",
        )
        .pure(),
        func("world", world, &[UNIT_ARG], "The world that the unit is in.").pure(),
        func(
            "level",
            level::level_of_unit,
            &[UNIT_ARG],
            "The level that the unit came with; nil for one that came with none.",
        )
        .pure(),
        func("debug_name", debug_name, &[UNIT_ARG], "The name of what it was spawned from.").pure(),
        func(
            "is_a",
            is_a,
            &[UNIT_ARG, ("resource", "the name of a unit")],
            "Whether the unit was spawned from that resource, or from one that inherits from it.",
        )
        .pure(),
    ],
);

/// What the prelude's functions of the same names stand on. They are in its table `core`, and carry
/// the names by which games know them for the words of errors.
pub static WORLD_CORE: Module = module(
    "World",
    "Units, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "spawn_unit",
            spawn_unit,
            &[("world", ""), ("resource", ""), ("position", ""), ("rotation", ""), ("scale", "")],
            "Makes a unit without its scripts' components.",
        ),
        func(
            "destroy_unit",
            check_in_world,
            &[("world", ""), ("unit", "")],
            "Raises where the unit cannot be ended.",
        )
        .pure(),
        func("end_unit", end_unit, &[("unit", "")], "Ends a unit.").when_full(),
        func(
            "link_unit",
            link_unit,
            &[("world", ""), ("child", ""), ("parent", ""), ("node", "")],
            "Hangs a unit on another's node.",
        ),
        func(
            "unlink_unit",
            unlink_unit,
            &[("world", ""), ("unit", "")],
            "Takes a unit off what it hangs on.",
        )
        .when_full(),
        func("units", units, &[("world", "")], "The units of a world.").pure(),
    ],
);

/// The same for `Unit`.
pub static UNIT_CORE: Module = module(
    "Unit",
    "Units, for the prelude.",
    "assert(core == nil)",
    &[
        func("unit_resource", unit_resource, &[("name", "")], "Components and data of a unit.")
            .pure(),
        func("component_names", component_names, &[], "The components of the engine.").pure(),
        func("get_data", check, &[UNIT_ARG], "Raises where the unit is not there.").pure(),
        func("set_data", check, &[UNIT_ARG], "Raises where the unit is not there.").pure(),
        func("inspect", check, &[UNIT_ARG], "Raises where the unit is not there.").pure(),
    ],
);

fn alive(engine: &mut Engine, unit: AnyNumber) -> bool {
    Handle::from_number(unit.0).is_some_and(|handle| engine.units.slots.get(handle).is_some())
}

/// The row of a unit and the place of its node.
#[inline(always)]
fn at(engine: &Engine, unit: UnitId, node: Option<Integer>) -> Result<(u32, usize), Error> {
    let (row, node) = (unit.row(), node.map_or(1, |node| node.0));
    let count = engine.units.scene.count(row);
    match node >= 1 && node <= count as i64 {
        true => Ok((row, node as usize - 1)),
        false => Err(no_such_node(engine, unit, node, count)),
    }
}

#[cold]
fn no_such_node(engine: &Engine, unit: UnitId, node: i64, count: usize) -> Error {
    let name = &engine.units.of(unit).resource.name;
    crate::error!("argument 'node': unit \"{name}\" has the nodes 1 to {count}, got {node}")
}

type Node = Option<Integer>;

fn local_position(engine: &mut Engine, unit: UnitId, node: Node) -> Result<Vec3, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.units.scene.local_position(row, node))
}

fn local_rotation(engine: &mut Engine, unit: UnitId, node: Node) -> Result<Quat, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.units.scene.local_rotation(row, node))
}

fn local_scale(engine: &mut Engine, unit: UnitId, node: Node) -> Result<Vec3, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.units.scene.local_scale(row, node))
}

fn local_pose(engine: &mut Engine, unit: UnitId, node: Node) -> Result<Mat4, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.units.scene.local(row, node).matrix())
}

fn set_local_position(
    engine: &mut Engine,
    unit: UnitId,
    node: Node,
    position: Vec3,
) -> Result<(), Error> {
    let (row, node) = at(engine, unit, node)?;
    engine.units.scene.set_local_position(row, node, position);
    Ok(())
}

fn set_local_rotation(
    engine: &mut Engine,
    unit: UnitId,
    node: Node,
    rotation: Quat,
) -> Result<(), Error> {
    let (row, node) = at(engine, unit, node)?;
    let length = rotation.length_squared();
    if (length - 1.0).abs() > 1e-3 {
        return Err(not_a_rotation(rotation, 3));
    }
    engine.units.scene.set_local_rotation(row, node, rotation);
    Ok(())
}

#[cold]
fn not_a_rotation(rotation: Quat, place: usize) -> Error {
    crate::error!(
        "argument #{place} 'rotation' must have length 1, this one has {}: use \
         Quaternion.normalize",
        rotation.length()
    )
}

fn set_local_scale(
    engine: &mut Engine,
    unit: UnitId,
    node: Node,
    scale: Vec3,
) -> Result<(), Error> {
    let (row, node) = at(engine, unit, node)?;
    engine.units.scene.set_local_scale(row, node, scale);
    Ok(())
}

fn set_local_pose(engine: &mut Engine, unit: UnitId, node: Node, pose: Mat4) -> Result<(), Error> {
    let (row, node) = at(engine, unit, node)?;
    engine.units.scene.set_local(row, node, &Pose::of(pose));
    Ok(())
}

fn world_position(engine: &mut Engine, unit: UnitId, node: Node) -> Result<Vec3, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.units.scene.world_position(row, node))
}

fn world_rotation(engine: &mut Engine, unit: UnitId, node: Node) -> Result<Quat, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.units.scene.world_rotation(row, node))
}

fn world_pose(engine: &mut Engine, unit: UnitId, node: Node) -> Result<Mat4, Error> {
    let (row, node) = at(engine, unit, node)?;
    Ok(engine.units.scene.world(row, node))
}

fn node(engine: &mut Engine, unit: UnitId, name: Text) -> Result<f64, Error> {
    let (name, resource) = (name.as_str(), &engine.units.of(unit).resource);
    if resource.twice.iter().any(|known| known == name) {
        return Err(crate::error!(
            "argument #2 'name': two nodes are named '{name}' in unit \"{}\": rename one, so that \
             it is clear which is meant",
            resource.name
        ));
    }
    resource.node(name).map(|node| node as f64 + 1.0).ok_or_else(|| {
        let names = resource.node_names.iter().map(String::as_str);
        let hint = suggest::hint(name, names);
        crate::error!("argument #2 'name': unit \"{}\" has no node '{name}'{hint}", resource.name)
    })
}

fn has_node(engine: &mut Engine, unit: UnitId, name: Text) -> bool {
    engine.units.of(unit).resource.node(name.as_str()).is_some()
}

fn num_nodes(engine: &mut Engine, unit: UnitId) -> f64 {
    engine.units.scene.count(unit.row()) as f64
}

fn node_name(engine: &mut Engine, unit: UnitId, node: Node) -> Result<String, Error> {
    let (_, node) = at(engine, unit, node)?;
    Ok(engine.units.of(unit).resource.node_names[node].clone())
}

fn scene_graph_parent(engine: &mut Engine, unit: UnitId, node: Node) -> Result<Value, Error> {
    let (row, node) = at(engine, unit, node)?;
    let parent = engine.units.scene.parent(row, node).filter(|(owner, _)| *owner == row);
    Ok(parent.map_or(Value::Nil, |(_, node)| Value::Number(node as f64 + 1.0)))
}

fn world(engine: &mut Engine, unit: UnitId) -> WorldId {
    engine.units.of(unit).world
}

fn debug_name(engine: &mut Engine, unit: UnitId) -> String {
    engine.units.of(unit).resource.name.clone()
}

fn is_a(engine: &mut Engine, unit: UnitId, resource: Text) -> bool {
    let (name, made_of) = (resource.as_str(), &engine.units.of(unit).resource);
    made_of.name == name || made_of.bases.iter().any(|base| base == name)
}

/// The resource of that name, read when it is first asked for.
pub(super) fn resource(engine: &mut Engine, name: &str) -> Result<Arc<UnitResource>, Error> {
    engine.unit_resource(name)
}

fn spawn_unit(
    engine: &mut Engine,
    world: WorldId,
    name: Text,
    position: Option<Vec3>,
    rotation: Option<Quat>,
    scale: Option<Vec3>,
) -> Result<UnitId, Error> {
    let made_of = resource(engine, name.as_str())?;
    if let Some(wrong) = rotation.filter(|turn| (turn.length_squared() - 1.0).abs() > 1e-3) {
        return Err(not_a_rotation(wrong, 4));
    }
    let first = made_of.poses[0];
    let pose = Pose {
        position: position.unwrap_or(first.position),
        rotation: rotation.unwrap_or(first.rotation),
        scale: scale.unwrap_or(first.scale),
    };
    engine.spawn_unit(world, &made_of, &pose)
}

/// Refuses a unit of another world.
fn in_world(engine: &Engine, world: WorldId, unit: UnitId, argument: &str) -> Result<(), Error> {
    match engine.units.of(unit).world == world {
        true => Ok(()),
        false => Err(crate::error!("argument {argument}: the unit is in another world")),
    }
}

fn check_in_world(engine: &mut Engine, world: WorldId, unit: UnitId) -> Result<(), Error> {
    in_world(engine, world, unit, "#2 'unit'")
}

fn end_unit(engine: &mut Engine, unit: UnitId) {
    engine.end_unit(unit, &cx::place());
}

fn check(_: &mut Engine, _: UnitId) {}

fn component_names(_: &mut Engine) -> Value {
    let names = component::COMPONENTS.iter().map(|component| component.name);
    Value::List(names.map(|name| Value::Text(name.to_string())).collect())
}

/// `{ { { name, component, fields }, … }, data }`: the parts whose components are scripts.
fn unit_resource(engine: &mut Engine, name: Text) -> Result<Value, Error> {
    let resource = resource(engine, name.as_str())?;
    let scripted = resource.parts.iter().filter(|part| component::known(&part.component).is_none());
    let parts = scripted.map(|part| {
        Value::List(vec![
            Value::Text(part.name.clone()),
            Value::Text(part.component.clone()),
            Value::from_tree(&part.fields),
        ])
    });
    Ok(Value::List(vec![Value::List(parts.collect()), Value::from_tree(&resource.data)]))
}

fn link_unit(
    engine: &mut Engine,
    world: WorldId,
    child: UnitId,
    parent: UnitId,
    node: Option<Integer>,
) -> Result<(), Error> {
    in_world(engine, world, child, "#2 'child'")?;
    in_world(engine, world, parent, "#3 'parent'")?;
    let (row, node) = at(engine, parent, node)?;
    engine.units.scene.link(child.row(), row, node)
}

fn unlink_unit(engine: &mut Engine, world: WorldId, unit: UnitId) -> Result<(), Error> {
    in_world(engine, world, unit, "#2 'unit'")?;
    engine.units.scene.unlink(unit.row());
    Ok(())
}

fn units(engine: &mut Engine, world: WorldId) -> Value {
    let units = engine.units.in_world(world);
    Value::List(units.map(|unit| Value::Number(unit.0.to_number())).collect())
}
