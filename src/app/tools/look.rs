//! What exists, for tools: worlds, units, one unit from inside.

use super::messages::{number, text, whole};
use super::script::{LOOK_SECONDS, refusal};
use super::{Call, Refusal};
use crate::engine::Engine;
use crate::foundation::sjson::Tree;
use crate::foundation::{Handle, Kind, Vec3};
use crate::script::Value;
use crate::system::tools::json;
use crate::world::WorldId;
use crate::world::unit::UnitId;
use std::collections::HashMap;

/// How many units are listed where nothing is said.
const UNITS_LISTED: u64 = 1000;

fn vector(v: Vec3) -> Tree {
    // Shortest as a float, so that 0.1 is told as 0.1.
    let short = |part: f32| part.to_string().parse().unwrap_or(f64::from(part));
    json::numbers(v.to_array().map(short))
}

/// A handle of a kind, from a field.
fn handle(fields: &Tree, name: &str, kind: Kind) -> Result<Option<Handle>, Refusal> {
    let Some(given) = number(fields, name) else { return Ok(None) };
    let found = Handle::from_number(given).filter(|handle| Kind::of(*handle) == Some(kind));
    found.map(Some).ok_or_else(|| Refusal::of(format!("{given} is no handle of a {name}")))
}

/// Worlds and their units.
pub fn units(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let only = handle(call.fields, "world", Kind::World)?;
    let filter = text(call.fields, "text").unwrap_or_default();
    let most = whole(call.fields, "max").unwrap_or(UNITS_LISTED) as usize;
    let engine = call.app.vm.engine();
    if let Some(world) = only
        && engine.worlds.get(world).is_none()
    {
        return Err(Refusal::of("the world is gone"));
    }
    let worlds: Vec<(Handle, f64)> =
        engine.worlds.iter().map(|(handle, world)| (handle, world.time)).collect();
    // A unit that hangs on another is told with whom it hangs on.
    let handles = engine.units.slots.iter().map(|(handle, _)| (handle.index() as u32, handle));
    let handles: HashMap<u32, Handle> = handles.collect();
    let mut left = most;
    let mut listed = Vec::new();
    for (world, seconds) in worlds {
        if only.is_some_and(|only| only != world) {
            continue;
        }
        let all: Vec<UnitId> = engine.units.in_world(WorldId(world)).collect();
        let named = |unit: &&UnitId| engine.units.of(**unit).resource.name.contains(filter);
        let named: Vec<UnitId> = all.iter().filter(named).copied().collect();
        let shown: Vec<Tree> =
            named.iter().take(left).map(|unit| in_short(engine, &handles, *unit)).collect();
        left -= shown.len();
        let is_main = engine.main_world == Some(WorldId(world));
        listed.push(json::object([
            ("world", Tree::Number(world.to_number())),
            ("main", Tree::Bool(is_main)),
            ("seconds", Tree::Number(seconds)),
            ("count", json::count(named.len())),
            ("units", Tree::Array(shown)),
        ]));
    }
    Ok(Some(json::object([("worlds", Tree::Array(listed))])))
}

fn in_short(engine: &mut Engine, handles: &HashMap<u32, Handle>, unit: UnitId) -> Tree {
    let resource = engine.units.of(unit).resource.clone();
    let row = unit.row();
    let parent = engine.units.scene.parent(row, 0);
    let parent = parent.and_then(|(above, _)| handles.get(&above));
    let parent = parent.map_or(Tree::Null, |above| Tree::Number(above.to_number()));
    json::object([
        ("unit", Tree::Number(unit.0.to_number())),
        ("name", json::text(&resource.name)),
        ("nodes", json::count(engine.units.scene.count(row))),
        ("parent", parent),
        ("position", vector(engine.units.scene.world_position(row, 0))),
    ])
}

/// A unit from inside.
pub fn unit(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let given = handle(call.fields, "unit", Kind::Unit)?;
    let engine = call.app.vm.engine();
    let Some(unit) = given.filter(|unit| engine.units.slots.get(*unit).is_some()) else {
        return Err(Refusal::of("the unit is gone"));
    };
    let resource = engine.units.of(UnitId(unit)).resource.clone();
    let world = engine.units.of(UnitId(unit)).world.0;
    let row = UnitId(unit).row();
    let count = engine.units.scene.count(row);
    let mut nodes = Vec::with_capacity(count);
    for node in 0..count {
        let scene = &mut engine.units.scene;
        let local = scene.local(row, node);
        let inside = scene.parent(row, node).filter(|(above, _)| *above == row);
        let parent = inside.map_or(Tree::Null, |(_, at)| json::count(at + 1));
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
    let arguments = [Value::Number(unit.to_number())];
    // What components say of themselves is the game's code; where it fails, the rest is still told.
    let text = match call.app.vm.call_core("tool_unit", &arguments, LOOK_SECONDS) {
        Ok(Value::Text(text)) => text,
        Ok(_) => String::new(),
        Err(report) => format!("it could not be inspected: {}", refusal(&report).message),
    };
    Ok(Some(json::object([
        ("unit", Tree::Number(unit.to_number())),
        ("name", json::text(&resource.name)),
        ("world", Tree::Number(world.to_number())),
        ("bases", json::texts(&resource.bases)),
        ("components", Tree::Array(components.collect())),
        ("nodes", Tree::Array(nodes)),
        ("text", json::text(text)),
    ])))
}
