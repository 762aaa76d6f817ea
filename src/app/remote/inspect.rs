//! Inspection of the game by remote tools: worlds, units, and the nodes and components of one unit.

use super::eval::{INSPECT_SECONDS, refusal};
use super::message_table::{integer, number, text};
use super::{IncomingCall, Refusal};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Handle, HandleKind, Vec3};
use engine_script::ScriptValue;
use engine_world::WorldId;
use engine_world::unit::{UnitId, Units};
use std::collections::HashMap;

/// Default number of units to list.
const UNITS_LISTED: u64 = 1000;

fn vector(v: Vec3) -> SjsonTree {
    // The shortest decimal form of the float, so that 0.1 is sent as 0.1.
    let short = |part: f32| part.to_string().parse().unwrap_or(f64::from(part));
    json::numbers(v.to_array().map(short))
}

/// Returns the handle in a field, checked against a kind.
fn handle(fields: &SjsonTree, name: &str, kind: HandleKind) -> Result<Option<Handle>, Refusal> {
    let Some(number) = number(fields, name) else { return Ok(None) };
    let found = Handle::from_number(number).filter(|handle| HandleKind::of(*handle) == Some(kind));
    found.map(Some).ok_or_else(|| Refusal::of(format!("{number} is not a handle of a {name}")))
}

/// Lists worlds and their units.
pub fn units(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let only = handle(call.fields, "world", HandleKind::World)?;
    let filter = text(call.fields, "text").unwrap_or_default();
    let most = integer(call.fields, "max").unwrap_or(UNITS_LISTED) as usize;
    let engine = call.app.vm.engine();
    if let Some(world) = only
        && engine.worlds.slots.get(world).is_none()
    {
        return Err(Refusal::of("the world is gone"));
    }
    let worlds: Vec<(Handle, f64)> =
        engine.worlds.slots.iter().map(|(handle, world)| (handle, world.time)).collect();
    // The message of a unit linked to another one contains the handle of its parent.
    let handles =
        engine.worlds.units.slots.iter().map(|(handle, _)| (handle.index() as u32, handle));
    let handles: HashMap<u32, Handle> = handles.collect();
    let mut left = most;
    let mut listed = Vec::new();
    for (world, seconds) in worlds {
        if only.is_some_and(|only| only != world) {
            continue;
        }
        let all: Vec<UnitId> = engine.worlds.units.in_world(WorldId(world)).collect();
        let named = |unit: &&UnitId| engine.worlds.units.of(**unit).resource.name.contains(filter);
        let named: Vec<UnitId> = all.iter().filter(named).copied().collect();
        let shown: Vec<SjsonTree> = named
            .iter()
            .take(left)
            .map(|unit| unit_summary(&mut engine.worlds.units, &handles, *unit))
            .collect();
        left -= shown.len();
        let is_main = engine.worlds.main == Some(WorldId(world));
        listed.push(json::object([
            ("world", SjsonTree::Number(world.to_number())),
            ("main", SjsonTree::Bool(is_main)),
            ("seconds", SjsonTree::Number(seconds)),
            ("count", json::count(named.len())),
            ("units", SjsonTree::Array(shown)),
        ]));
    }
    Ok(Some(json::object([("worlds", SjsonTree::Array(listed))])))
}

fn unit_summary(units: &mut Units, handles: &HashMap<u32, Handle>, unit: UnitId) -> SjsonTree {
    let resource = units.of(unit).resource.clone();
    let row = unit.row();
    let parent = units.scene.parent(row, 0);
    let parent = parent.and_then(|(above, _)| handles.get(&above));
    let parent = parent.map_or(SjsonTree::Null, |above| SjsonTree::Number(above.to_number()));
    json::object([
        ("unit", SjsonTree::Number(unit.0.to_number())),
        ("name", json::text(&resource.name)),
        ("nodes", json::count(units.scene.count(row))),
        ("parent", parent),
        ("position", vector(units.scene.world_position(row, 0))),
    ])
}

/// Returns the nodes and components of a unit.
pub fn unit(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let handle = handle(call.fields, "unit", HandleKind::Unit)?;
    let engine = call.app.vm.engine();
    let Some(unit) = handle.filter(|unit| engine.worlds.units.slots.get(*unit).is_some()) else {
        return Err(Refusal::of("the unit is gone"));
    };
    let resource = engine.worlds.units.of(UnitId(unit)).resource.clone();
    let world = engine.worlds.units.of(UnitId(unit)).world.0;
    let row = UnitId(unit).row();
    let count = engine.worlds.units.scene.count(row);
    let mut nodes = Vec::with_capacity(count);
    for node in 0..count {
        let scene = &mut engine.worlds.units.scene;
        let local = scene.local(row, node);
        let inside = scene.parent(row, node).filter(|(above, _)| *above == row);
        let parent = inside.map_or(SjsonTree::Null, |(_, at)| json::count(at + 1));
        let [x, y, z, w] = local.rotation.to_array().map(f64::from);
        let name = resource.node_names.get(node).map_or("", String::as_str);
        nodes.push(json::object([
            ("name", json::text(name)),
            ("parent", parent),
            ("local", vector(local.position)),
            ("rotation", json::numbers([x, y, z, w])),
            ("scale", vector(local.scale)),
            ("position", vector(scene.world_position(row, node))),
        ]));
    }
    let components = resource.parts.iter().map(|part| {
        json::object([
            ("name", json::text(&part.name)),
            ("component", json::text(&part.component)),
            ("fields", part.fields.clone()),
        ])
    });
    let arguments = [ScriptValue::Number(unit.to_number())];
    // The text of components comes from code of the game. If that fails, all other fields are still
    // sent.
    let text = match call.app.vm.call_core("tool_unit", &arguments, INSPECT_SECONDS) {
        Ok(ScriptValue::Text(text)) => text,
        Ok(_) => String::new(),
        Err(report) => format!("it could not be inspected: {}", refusal(&report).message),
    };
    Ok(Some(json::object([
        ("unit", SjsonTree::Number(unit.to_number())),
        ("name", json::text(&resource.name)),
        ("world", SjsonTree::Number(world.to_number())),
        ("bases", json::texts(&resource.bases)),
        ("components", SjsonTree::Array(components.collect())),
        ("nodes", SjsonTree::Array(nodes)),
        ("text", json::text(text)),
    ])))
}
