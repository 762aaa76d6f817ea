//! The table of node types that the engine executes itself. A row has the pins as text:
//! `a: number = 0, b: number`.

use super::node_type::{NodeKind, NodeOrigin, NodeSetting, NodeType, Pin, PinDefault, SettingKind};
use super::old_names::was_tree;
use super::op::Op;
use super::value::FlowType;
use engine_foundation::json;
use engine_foundation::sjson::{self, SjsonTree};

use super::control_rows::{CONTROL, EVENTS};
use super::value_rows::{NUMBERS, VALUES};

/// A row of the table: name, title, kind, operation, inputs, outputs, documentation.
pub(super) type Row =
    (&'static str, &'static str, NodeKind, Op, &'static str, &'static str, &'static str);

/// A row of settings: node type, name, kind, documentation, default as SJSON (empty: required).
type SettingRow = (&'static str, &'static str, SettingKind, &'static str, &'static str);

const SETTINGS: &[SettingRow] = &[
    ("event.custom", "name", SettingKind::Text, "name of the event", ""),
    ("event.animation", "name", SettingKind::Text, "name of the event", ""),
    ("event.input", "name", SettingKind::Text, "name of the input action", ""),
    ("event.send", "name", SettingKind::Text, "name of the event", ""),
    ("event.raise", "name", SettingKind::Text, "name of the event", ""),
    ("flow.sequence", "count", SettingKind::Count, "number of outputs", "2"),
    ("flow.random", "count", SettingKind::Count, "number of outputs", "2"),
    ("flow.switch_number", "cases", SettingKind::Cases, "the numbers", "{}"),
    ("flow.switch_text", "cases", SettingKind::Cases, "the texts", "{}"),
    (
        "flow.timeline",
        "curves",
        SettingKind::Curves,
        "lists of [seconds, value] for each output",
        "{}",
    ),
    ("flow.for_each", "item_type", SettingKind::Type, "type of the items", "\"any\""),
    ("list.item", "item_type", SettingKind::Type, "type of the item", "\"any\""),
    ("variable.value", "variable", SettingKind::Variable, "name of the variable", ""),
    ("variable.set", "variable", SettingKind::Variable, "name of the variable", ""),
    ("variable.add", "variable", SettingKind::Variable, "name of the variable", ""),
    ("graph", "graph", SettingKind::Graph, "name of the graph", ""),
];

/// Descriptions of pins whose names do not say enough: node type, pin, description.
const PIN_DOCS: &[(&str, &str, &str)] = &[
    ("event.update", "dt", "in seconds"),
    ("event.collision", "minimum", "an impulse in kilogram metres per second"),
    ("event.collision", "unit", "that of the other actor"),
    ("event.collision", "actor", "that of this unit"),
    ("event.collision", "other_actor", "the one that it touches"),
    ("event.collision", "position", "in metres, in the world"),
    ("event.collision", "normal", "with length 1"),
    ("event.collision", "force", "the impulse in kilogram metres per second"),
    ("event.trigger_enter", "unit", "that of the actor"),
    ("event.trigger_enter", "actor", "the one that entered"),
    ("event.trigger_leave", "unit", "that of the actor"),
    ("event.trigger_leave", "actor", "the one that left"),
    ("event.animation", "layer", "its index, from 1"),
    ("flow.timeline", "time", "in seconds"),
];

/// Node types whose pins depend on settings or on the graph.
const DYNAMIC: &[&str] = &[
    "flow.sequence",
    "flow.random",
    "flow.switch_number",
    "flow.switch_text",
    "flow.timeline",
    "flow.for_each",
    "list.item",
    "variable.value",
    "variable.set",
    "graph",
    "graph.inputs",
    "graph.outputs",
];

/// Node types that send events later.
const LATENT: &[&str] = &["flow.delay", "flow.timeline"];

/// Returns the types of the table.
pub fn types() -> Vec<NodeType> {
    let rows = EVENTS.iter().chain(CONTROL).chain(NUMBERS).chain(VALUES);
    rows.map(|row| {
        let (name, title, kind, op, inputs, outputs, doc) = *row;
        NodeType {
            name: name.to_string(),
            title: title.to_string(),
            category: category(name).to_string(),
            doc: if doc.ends_with('.') { doc.to_string() } else { format!("{doc}.") },
            kind,
            origin: NodeOrigin::BuiltIn,
            op,
            inputs: described(name, inputs),
            outputs: described(name, outputs),
            settings: settings(name),
            latent: LATENT.contains(&name),
            dynamic: DYNAMIC.contains(&name),
        }
    })
    .collect()
}

/// Returns the pins of a row with their descriptions.
fn described(node: &str, pins: &str) -> Vec<Pin> {
    let doc = |pin: &Pin| PIN_DOCS.iter().find(|row| row.0 == node && row.1 == pin.name);
    let pins = pin_list(pins).into_iter();
    pins.map(|pin| Pin { doc: doc(&pin).map_or("", |row| row.2).to_string(), ..pin }).collect()
}

fn category(name: &str) -> &'static str {
    match name.split('.').next().unwrap_or_default() {
        "event" => "Events",
        "flow" => "Flow control",
        "variable" => "Variables",
        "self" => "This graph",
        "graph" => "Graphs",
        "number" => "Numbers",
        "logic" => "Logic",
        "vector" => "Vectors",
        "rotation" => "Rotations",
        "color" => "Colors",
        "text" => "Texts",
        "object" => "Objects",
        "list" => "Lists",
        "time" => "Time",
        _ => "Debugging",
    }
}

fn settings(name: &str) -> Vec<NodeSetting> {
    let rows = SETTINGS.iter().filter(|row| row.0 == name);
    rows.map(|(_, name, kind, doc, default)| NodeSetting {
        name,
        kind: *kind,
        doc,
        default: (!default.is_empty()).then(|| value(default)),
    })
    .collect()
}

/// Parses a default of the table.
fn value(text: &str) -> SjsonTree {
    let document = sjson::parse(&format!("value = {text}")).expect("a row of the table");
    document.to_tree().get("value").cloned().unwrap_or(SjsonTree::Null)
}

/// Parses the pins of a row: `a: number = 0, to: unit = owner, effect: resource particles`.
pub fn pin_list(text: &str) -> Vec<Pin> {
    let parts = text.split(", ").filter(|part| !part.is_empty());
    parts.map(|part| pin(part.trim())).collect()
}

fn pin(text: &str) -> Pin {
    let (declared, default) = match text.split_once(" = ") {
        Some((declared, default)) => (declared, Some(default)),
        None => (text, None),
    };
    let (name, kind) = declared.split_once(": ").expect("a pin of the table has a type");
    let (kind, resource) = match kind.split_once(' ') {
        Some((kind, resource)) => (kind, Some(resource.to_string())),
        None => (kind, None),
    };
    let kind = FlowType::by_name(kind).expect("a pin of the table has a known type");
    let default = match default {
        None if kind == FlowType::Unit && name == "self" => PinDefault::Owner,
        None => PinDefault::Required,
        Some("owner") => PinDefault::Owner,
        Some("nil") => PinDefault::Nil,
        Some(text) => PinDefault::Value(value(text)),
    };
    Pin { resource, ..Pin::new(name, kind).or(default) }
}

/// Returns a pin as tools get it.
pub fn pin_tree(pin: &Pin) -> SjsonTree {
    let mut entries = vec![
        ("name".to_string(), json::text(&pin.name)),
        ("type".to_string(), json::text(pin.kind.name())),
    ];
    if !pin.doc.is_empty() {
        entries.push(("doc".to_string(), json::text(&pin.doc)));
    }
    match &pin.default {
        PinDefault::Required => {}
        PinDefault::Nil => entries.push(("optional".to_string(), SjsonTree::Bool(true))),
        PinDefault::Owner => entries.push(("default".to_string(), json::text("self"))),
        PinDefault::Value(value) => entries.push(("default".to_string(), value.clone())),
    }
    if !pin.choices.is_empty() {
        entries.push(("choices".to_string(), json::texts(pin.choices.iter().map(String::as_str))));
    }
    if let Some(kind) = &pin.resource {
        entries.push(("resource".to_string(), json::text(kind)));
    }
    entries.extend(was_tree(&pin.was).map(|was| ("was".to_string(), was)));
    SjsonTree::Object(entries)
}
