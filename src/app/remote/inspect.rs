//! Inspection of one unit by remote tools: its nodes and components. units.rs lists the units.

use super::eval::{INSPECT_SECONDS, refusal};
use super::message_table::number;
use super::{IncomingCall, Refusal};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Handle, HandleKind, Vec3};
use engine_script::ScriptValue;
use engine_world::unit::UnitId;

pub fn vector(v: Vec3) -> SjsonTree {
    // The shortest decimal form of the float, so that 0.1 is sent as 0.1.
    let short = |part: f32| part.to_string().parse().unwrap_or(f64::from(part));
    json::numbers(v.to_array().map(short))
}

/// Returns the handle in a field, checked against a kind.
pub fn handle(fields: &SjsonTree, name: &str, kind: HandleKind) -> Result<Option<Handle>, Refusal> {
    let Some(number) = number(fields, name) else { return Ok(None) };
    let found = Handle::from_number(number).filter(|handle| HandleKind::of(*handle) == Some(kind));
    found.map(Some).ok_or_else(|| Refusal::of(format!("{number} is not a handle of a {name}")))
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
    let in_level = super::units::level_fields(&engine.worlds, UnitId(unit));
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
    let [level, level_unit] = in_level;
    Ok(Some(json::object([
        ("unit", SjsonTree::Number(unit.to_number())),
        ("name", json::text(&resource.name)),
        level,
        level_unit,
        ("world", SjsonTree::Number(world.to_number())),
        ("bases", json::texts(&resource.bases)),
        ("components", SjsonTree::Array(components.collect())),
        ("nodes", SjsonTree::Array(nodes)),
        ("text", json::text(text)),
    ])))
}
