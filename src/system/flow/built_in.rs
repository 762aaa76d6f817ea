//! The table of node types that the engine executes itself. A row has the pins as text:
//! `a: number = 0, b: number`.

use super::node_type::{
    NodeKind, NodeOrigin, NodeSetting, NodeType, Pin, PinDefault, SettingKind,
};
use super::op::Op;
use super::value::FlowType;
use engine_foundation::json;
use engine_foundation::sjson::{self, SjsonTree};

use NodeKind::{Action, Event, Graph, Query};

/// A row of the table: name, title, kind, operation, inputs, outputs, documentation.
type Row =
    (&'static str, &'static str, NodeKind, Op, &'static str, &'static str, &'static str);

const EVENTS: &[Row] = &[
    ("event.spawned", "Spawned", Event, Op::Event, "", "out: event",
     "The unit was spawned, or the graph was started."),
    ("event.destroyed", "Destroyed", Event, Op::Event, "", "out: event",
     "The unit is being destroyed. Its chain cannot wait."),
    ("event.update", "Update", Event, Op::Event, "", "out: event, dt: number",
     "Runs in each update of the world. A graph with it is visited in each frame: use a timer or \
      an event if you can."),
    ("event.custom", "Custom event", Event, Op::Event, "",
     "out: event, value: any, sender: unit",
     "A script or another graph sent the event with this name: `Unit.flow_event(unit, name)`."),
    ("event.collision", "Collision", Event, Op::Event, "minimum: number = 0",
     "out: event, unit: unit, actor: actor, other_actor: actor, position: vector, \
      normal: vector, force: number",
     "An actor of the unit began to touch another one, with at least the minimum force."),
    ("event.trigger_enter", "Trigger entered", Event, Op::Event, "",
     "out: event, unit: unit, actor: actor", "An actor entered a trigger of the unit."),
    ("event.trigger_leave", "Trigger left", Event, Op::Event, "",
     "out: event, unit: unit, actor: actor", "An actor left a trigger of the unit."),
    ("event.animation", "Animation event", Event, Op::Event, "", "out: event, layer: number",
     "The unit's animation sent the event with this name."),
    ("event.level_loaded", "Level loaded", Event, Op::Event, "", "out: event",
     "All units of the level were spawned."),
    ("event.input", "Input action", Event, Op::Event, "",
     "pressed: event, released: event",
     "The input action with this name was pressed or released."),
    ("event.timer", "Timer", Event, Op::Event, "seconds: number = 1, loop: boolean = true",
     "out: event", "Runs after some seconds of the world, once or again and again."),
];

const CONTROL: &[Row] = &[
    ("flow.branch", "Branch", Action, Op::Branch, "in: event, condition: boolean",
     "true: event, false: event", "Continues with one of two outputs."),
    ("flow.sequence", "Sequence", Action, Op::Sequence, "in: event", "",
     "Runs its outputs one after the other, each with everything that follows it."),
    ("flow.switch_number", "Switch on number", Action, Op::SwitchNumber,
     "in: event, value: number", "", "Continues with the output of the equal case, or `other`."),
    ("flow.switch_text", "Switch on text", Action, Op::SwitchText, "in: event, value: text", "",
     "Continues with the output of the equal case, or `other`."),
    ("flow.gate", "Gate", Action, Op::Gate,
     "in: event, open: event, close: event, toggle: event, start_open: boolean = true",
     "out: event", "Lets events pass while it is open."),
    ("flow.once", "Do once", Action, Op::Once, "in: event, reset: event", "out: event",
     "Lets only the first event pass, until it is reset."),
    ("flow.do_n", "Do N times", Action, Op::DoN, "in: event, reset: event, count: number = 1",
     "out: event, done: event, number: number",
     "Lets some events pass; later ones continue with `done`."),
    ("flow.latch", "Latch", Action, Op::FlipFlop,
     "in: event, set: event, reset: event", "on: event, off: event, state: boolean",
     "Remembers on or off: `in` changes the state."),
    ("flow.counter", "Counter", Action, Op::Counter,
     "in: event, reset: event, count: number = 3", "out: event, reached: event, number: number",
     "Counts events, and starts again when the count is reached."),
    ("flow.for", "For", Action, Op::Loop,
     "in: event, first: number = 1, last: number, step: number = 1",
     "body: event, done: event, index: number", "Runs its body for each number."),
    ("flow.for_each", "For each", Action, Op::ForEach, "in: event, list: list",
     "body: event, done: event, item: any, index: number",
     "Runs its body for each item of a list."),
    ("flow.while", "While", Action, Op::While, "in: event, condition: boolean",
     "body: event, done: event", "Runs its body as long as the condition is true."),
    ("flow.delay", "Delay", Action, Op::Delay, "in: event, cancel: event, seconds: number = 1",
     "out: event", "Continues after some seconds of the world. Each event is delayed by itself."),
    ("flow.timeline", "Timeline", Action, Op::Timeline,
     "play: event, stop: event, reverse: event, speed: number = 1",
     "update: event, done: event, time: number", "Plays curves: one output for each curve."),
    ("flow.random", "Random output", Action, Op::RandomOutput, "in: event", "",
     "Continues with one output, chosen at random."),
    ("flow.stop", "Stop", Action, Op::Stop, "in: event", "",
     "Cancels all delays and timelines of the graph."),
    ("event.send", "Send event", Action, Op::Send,
     "in: event, to: handle = owner, value: any = nil", "out: event",
     "Sends a custom event to the graphs of a unit or of a level."),
    ("event.raise", "Raise to scripts", Action, Op::Raise, "in: event, value: any = nil",
     "out: event", "Calls the script callback `on_flow_event` with this name."),
    ("debug.print", "Print", Action, Op::Print, "in: event, value: text", "out: event",
     "Writes a line to the log."),
    ("variable.set", "Set variable", Action, Op::SetVariable, "in: event", "out: event",
     "Sets a variable of the graph."),
    ("variable.add", "Add to variable", Action, Op::AddVariable,
     "in: event, amount: number = 1", "out: event, value: number",
     "Adds to a variable that is a number."),
    ("variable.value", "Variable", Query, Op::Alias, "", "",
     "The value of a variable of the graph."),
    ("self.unit", "This unit", Query, Op::Alias, "", "unit: unit", "The unit of the graph."),
    ("self.level", "This level", Query, Op::Alias, "", "level: level",
     "The level of the graph, or of its unit."),
    ("self.world", "This world", Query, Op::Alias, "", "world: world",
     "The world of the graph."),
    ("graph", "Graph", Graph, Op::Alias, "", "", "Another graph, with variables of its own."),
    ("graph.inputs", "Inputs of this graph", Graph, Op::Alias, "", "",
     "The inputs of this graph, when another graph uses it."),
    ("graph.outputs", "Outputs of this graph", Graph, Op::Alias, "", "",
     "The outputs of this graph, when another graph uses it."),
];

const NUMBERS: &[Row] = &[
    ("number.add", "Add", Query, Op::NumberAdd, "a: number = 0, b: number = 0",
     "result: number", "a + b"),
    ("number.subtract", "Subtract", Query, Op::NumberSubtract, "a: number = 0, b: number = 0",
     "result: number", "a - b"),
    ("number.multiply", "Multiply", Query, Op::NumberMultiply, "a: number = 1, b: number = 1",
     "result: number", "a * b"),
    ("number.divide", "Divide", Query, Op::NumberDivide, "a: number = 0, b: number = 1",
     "result: number", "a / b, and 0 if b is 0"),
    ("number.modulo", "Modulo", Query, Op::NumberModulo, "a: number = 0, b: number = 1",
     "result: number", "The remainder of a / b, from 0 to b, and 0 if b is 0"),
    ("number.min", "Minimum", Query, Op::NumberMin, "a: number = 0, b: number = 0",
     "result: number", "The smaller number"),
    ("number.max", "Maximum", Query, Op::NumberMax, "a: number = 0, b: number = 0",
     "result: number", "The larger number"),
    ("number.clamp", "Clamp", Query, Op::NumberClamp,
     "value: number = 0, least: number = 0, most: number = 1", "result: number",
     "The value, limited to a range"),
    ("number.negate", "Negate", Query, Op::NumberNegate, "value: number = 0", "result: number",
     "-value"),
    ("number.absolute", "Absolute", Query, Op::NumberAbs, "value: number = 0",
     "result: number", "The value without its sign"),
    ("number.floor", "Round down", Query, Op::NumberFloor, "value: number = 0",
     "result: number", "The next whole number below"),
    ("number.round", "Round", Query, Op::NumberRound, "value: number = 0", "result: number",
     "The nearest whole number"),
    ("number.square_root", "Square root", Query, Op::NumberSqrt, "value: number = 0",
     "result: number", "The square root, and 0 for negative numbers"),
    ("number.sine", "Sine", Query, Op::NumberSin, "degrees: number = 0", "result: number",
     "The sine of an angle in degrees"),
    ("number.cosine", "Cosine", Query, Op::NumberCos, "degrees: number = 0",
     "result: number", "The cosine of an angle in degrees"),
    ("number.interpolate", "Interpolate", Query, Op::NumberLerp,
     "a: number = 0, b: number = 1, share: number = 0", "result: number",
     "a at share 0, b at share 1"),
    ("number.remap", "Remap", Query, Op::NumberRemap,
     "value: number = 0, from_least: number = 0, from_most: number = 1, to_least: number = 0, \
      to_most: number = 1", "result: number", "Moves a value from one range to another"),
    ("number.random", "Random number", Query, Op::NumberRandom,
     "least: number = 0, most: number = 1", "result: number",
     "A random number of the game's generator"),
    ("number.equal", "Equal", Query, Op::NumberEqual, "a: number = 0, b: number = 0",
     "result: boolean", "True if a = b"),
    ("number.less", "Less", Query, Op::NumberLess, "a: number = 0, b: number = 0",
     "result: boolean", "True if a < b"),
    ("number.less_or_equal", "Less or equal", Query, Op::NumberLessEqual,
     "a: number = 0, b: number = 0", "result: boolean", "True if a <= b"),
    ("number.greater", "Greater", Query, Op::NumberGreater, "a: number = 0, b: number = 0",
     "result: boolean", "True if a > b"),
    ("number.greater_or_equal", "Greater or equal", Query, Op::NumberGreaterEqual,
     "a: number = 0, b: number = 0", "result: boolean", "True if a >= b"),
    ("number.select", "Select number", Query, Op::SelectNumber,
     "condition: boolean, yes: number = 1, no: number = 0", "result: number",
     "One of two numbers"),
    ("number.from_text", "Number from text", Query, Op::ToNumber, "value: text",
     "result: number", "The number that a text shows, and 0 if it shows none"),
    ("logic.and", "And", Query, Op::And, "a: boolean = true, b: boolean = true",
     "result: boolean", "True if both are true"),
    ("logic.or", "Or", Query, Op::Or, "a: boolean = false, b: boolean = false",
     "result: boolean", "True if one is true"),
    ("logic.xor", "Either", Query, Op::Xor, "a: boolean = false, b: boolean = false",
     "result: boolean", "True if exactly one is true"),
    ("logic.not", "Not", Query, Op::Not, "value: boolean", "result: boolean",
     "True if the value is false"),
];

const VALUES: &[Row] = &[
    ("vector.make", "Make vector", Query, Op::VectorMake,
     "x: number = 0, y: number = 0, z: number = 0", "result: vector", "A vector of three numbers"),
    ("vector.split", "Split vector", Query, Op::VectorSplit, "value: vector",
     "x: number, y: number, z: number", "The three numbers of a vector"),
    ("vector.add", "Add vectors", Query, Op::VectorAdd,
     "a: vector = [0 0 0], b: vector = [0 0 0]", "result: vector", "a + b"),
    ("vector.subtract", "Subtract vectors", Query, Op::VectorSubtract,
     "a: vector = [0 0 0], b: vector = [0 0 0]", "result: vector", "a - b"),
    ("vector.scale", "Scale vector", Query, Op::VectorScale,
     "value: vector, factor: number = 1", "result: vector", "value * factor"),
    ("vector.length", "Length", Query, Op::VectorLength, "value: vector", "result: number",
     "The length of a vector"),
    ("vector.distance", "Distance", Query, Op::VectorDistance, "a: vector, b: vector",
     "result: number", "The distance between two points"),
    ("vector.normalize", "Normalize", Query, Op::VectorNormalize, "value: vector",
     "result: vector", "The direction of a vector, with length 1; zero stays zero"),
    ("vector.dot", "Dot product", Query, Op::VectorDot, "a: vector, b: vector",
     "result: number", "The dot product"),
    ("vector.cross", "Cross product", Query, Op::VectorCross, "a: vector, b: vector",
     "result: vector", "The cross product"),
    ("vector.interpolate", "Interpolate vectors", Query, Op::VectorLerp,
     "a: vector, b: vector, share: number = 0", "result: vector", "a at share 0, b at share 1"),
    ("vector.select", "Select vector", Query, Op::SelectVector,
     "condition: boolean, yes: vector = [0 0 0], no: vector = [0 0 0]", "result: vector",
     "One of two vectors"),
    ("rotation.axis_angle", "Rotation about an axis", Query, Op::RotationAxis,
     "axis: vector = [0 0 1], degrees: number = 0", "result: rotation",
     "A rotation by an angle about an axis"),
    ("rotation.multiply", "Combine rotations", Query, Op::RotationMultiply,
     "a: rotation = [0 0 0], b: rotation = [0 0 0]", "result: rotation", "First b, then a"),
    ("rotation.rotate", "Rotate vector", Query, Op::RotationRotate,
     "rotation: rotation, value: vector", "result: vector", "The rotated vector"),
    ("rotation.interpolate", "Interpolate rotations", Query, Op::RotationLerp,
     "a: rotation, b: rotation, share: number = 0", "result: rotation",
     "a at share 0, b at share 1, along the shorter way"),
    ("color.make", "Make color", Query, Op::ColorMake,
     "red: number = 255, green: number = 255, blue: number = 255, alpha: number = 255", "result: color",
     "A color of four numbers from 0 to 255"),
    ("color.interpolate", "Interpolate colors", Query, Op::ColorLerp,
     "a: color, b: color, share: number = 0", "result: color", "a at share 0, b at share 1"),
    ("text.join", "Join texts", Query, Op::TextJoin, "a: text = \"\", b: text = \"\"",
     "result: text", "Two texts as one"),
    ("text.equal", "Equal texts", Query, Op::TextEqual, "a: text = \"\", b: text = \"\"",
     "result: boolean", "True if the texts are equal"),
    ("text.length", "Length of text", Query, Op::TextLength, "value: text", "result: number",
     "The number of characters"),
    ("text.contains", "Text contains", Query, Op::TextContains, "value: text, part: text",
     "result: boolean", "True if the text contains the part"),
    ("text.select", "Select text", Query, Op::SelectText,
     "condition: boolean, yes: text = \"\", no: text = \"\"", "result: text", "One of two texts"),
    ("object.same", "Same object", Query, Op::SameObject, "a: handle, b: handle",
     "result: boolean", "True if both are the same object"),
    ("object.exists", "Exists", Query, Op::Exists, "value: any = nil", "result: boolean",
     "True if there is a value, and it is no destroyed object"),
    ("object.select_unit", "Select unit", Query, Op::SelectUnit,
     "condition: boolean, yes: unit, no: unit", "result: unit", "One of two units"),
    ("list.length", "Length of list", Query, Op::ListLength, "list: list", "result: number",
     "The number of items"),
    ("list.item", "Item of list", Query, Op::ListItem, "list: list, index: number = 1",
     "item: any", "The item with that index, from 1, or nothing"),
    ("time.now", "Time", Query, Op::Time, "", "seconds: number",
     "Seconds of the world's own time"),
];

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
    ("flow.timeline", "curves", SettingKind::Curves,
     "lists of [seconds, value] for each output", "{}"),
    ("flow.for_each", "item_type", SettingKind::Type, "type of the items", "\"any\""),
    ("list.item", "item_type", SettingKind::Type, "type of the item", "\"any\""),
    ("variable.value", "variable", SettingKind::Variable, "name of the variable", ""),
    ("variable.set", "variable", SettingKind::Variable, "name of the variable", ""),
    ("variable.add", "variable", SettingKind::Variable, "name of the variable", ""),
    ("graph", "graph", SettingKind::Graph, "name of the graph", ""),
];

/// Node types whose pins depend on settings or on the graph.
const DYNAMIC: &[&str] = &[
    "flow.sequence", "flow.random", "flow.switch_number", "flow.switch_text", "flow.timeline",
    "flow.for_each", "list.item", "variable.value", "variable.set", "graph", "graph.inputs",
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
            inputs: pins(inputs),
            outputs: pins(outputs),
            settings: settings(name),
            latent: LATENT.contains(&name),
            dynamic: DYNAMIC.contains(&name),
        }
    })
    .collect()
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

/// Parses the pins of a row.
fn pins(text: &str) -> Vec<Pin> {
    let parts = text.split(", ").filter(|part| !part.is_empty());
    parts.map(|part| pin(part.trim())).collect()
}

fn pin(text: &str) -> Pin {
    let (declared, default) = match text.split_once(" = ") {
        Some((declared, default)) => (declared, Some(default)),
        None => (text, None),
    };
    let (name, kind) = declared.split_once(": ").expect("a pin of the table has a type");
    let kind = FlowType::by_name(kind).expect("a pin of the table has a known type");
    let default = match default {
        None if kind == FlowType::Unit && name == "self" => PinDefault::Owner,
        None => PinDefault::Required,
        Some("owner") => PinDefault::Owner,
        Some("nil") => PinDefault::Nil,
        Some(text) => PinDefault::Value(value(text)),
    };
    Pin::new(name, kind).or(default)
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
    SjsonTree::Object(entries)
}
