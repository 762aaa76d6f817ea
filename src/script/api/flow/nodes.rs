//! Node types from the rows of functions, and from tables in Lua. The flag of a row says what its
//! function is in graphs; the values that graphs have decide here if it can be a node at all.

use super::unit_nodes::{NODES, NativeNode};
use super::{lua_nodes, native};
use crate::api_row::NodeFlag;
use crate::argument::{Integer, TextArgument};
use crate::docgen::ApiModel;
use crate::docgen::model::{FunctionDoc, ParamDoc, first_sentence};
use crate::return_value::ExpectedResult;
use crate::value::ScriptValue;
use engine_flow::{
    CALL_EVENTS_MAX, CALL_PINS_MAX, Catalogue, FlowType, NodeKind, NodeOrigin, NodeType, Op, Pin,
    PinDefault, ambiguous_old_name, check_default, read_was,
};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, HandleKind, error, suggest};
use engine_runtime::Engine;
use std::collections::HashSet;

/// Returns the type of a pin for a type in the documentation; `None` if graphs have no such type.
fn pin_type(kind: &str) -> Option<FlowType> {
    let mut found = None;
    for part in kind.split('|') {
        let part = match part.trim() {
            "number" | "integer" => FlowType::Number,
            "boolean" => FlowType::Boolean,
            "string" => FlowType::Text,
            "Vector3" => FlowType::Vector,
            "Quaternion" => FlowType::Rotation,
            "Color" => FlowType::Color,
            "Unit" => FlowType::Unit,
            "Actor" => FlowType::Actor,
            "Level" => FlowType::Level,
            "World" => FlowType::World,
            "any" => FlowType::Any,
            "nil" | "false" | "Vector2" | "Matrix4x4" | "table" | "IdString32" | "IdString64" => {
                continue;
            }
            list if list.ends_with("[]") => {
                // Items are single values.
                match pin_type(&list[..list.len() - "[]".len()]) {
                    None | Some(FlowType::List) => continue,
                    Some(_) => FlowType::List,
                }
            }
            handle if HandleKind::ALL.iter().any(|kind| kind.name() == handle) => FlowType::Handle,
            _ => return None,
        };
        found = match found {
            None => Some(part),
            Some(known) if known == part => Some(known),
            // A handle, and a number or a handle for other objects.
            Some(known) if known.is_handle() && (part == FlowType::Number || part.is_handle()) => {
                Some(known)
            }
            Some(_) => Some(FlowType::Any),
        };
    }
    found
}

/// Returns the kind of the resource that a parameter names, as its description says.
fn resource_kind(param: &ParamDoc) -> Option<String> {
    let kinds = ["unit", "level", "sound", "texture", "material", "model", "font", "package"];
    let doc = param.doc.as_str();
    let found = kinds.iter().find(|kind| {
        ["name of a ", "name of the "].iter().any(|start| {
            doc.strip_prefix("the ").unwrap_or(doc).starts_with(&format!("{start}{kind}"))
        })
    });
    let effect = doc.contains("name of a particle effect") || doc.contains("name of an effect");
    found.map(|kind| kind.to_string()).or_else(|| effect.then(|| "particles".to_string()))
}

fn input(param: &ParamDoc, index: usize) -> Option<Pin> {
    let kind = pin_type(&param.kind)?;
    let default = match kind {
        _ if param.optional => PinDefault::Nil,
        FlowType::World | FlowType::Level => PinDefault::Owner,
        FlowType::Unit if index == 0 || param.name == "unit" => PinDefault::Owner,
        _ => PinDefault::Required,
    };
    let doc = param.doc.clone();
    let resource = resource_kind(param).filter(|_| kind == FlowType::Text);
    let kind = if resource.is_some() { FlowType::Resource } else { kind };
    Some(Pin { doc, resource, ..Pin::new(&param.name, kind).or(default) })
}

/// Returns the node type of a function; `None` if it has none.
pub fn function_type(function: &FunctionDoc) -> Option<NodeType> {
    if function.node == NodeFlag::Hidden {
        return None;
    }
    let mut inputs = Vec::new();
    for (index, param) in function.params.iter().enumerate() {
        match input(param, index) {
            Some(pin) if param.name != "..." => inputs.push(pin),
            // What follows is left out.
            _ if param.optional || param.name == "..." && param.kind.contains("nil") => break,
            _ => return None,
        }
    }
    let mut outputs: Vec<Pin> = Vec::new();
    for (index, result) in function.returns.iter().enumerate() {
        let Some(kind) = pin_type(&result.kind).filter(|_| !result.rest) else { break };
        let name = match result.name.as_str() {
            "" if function.returns.len() == 1 => "result".to_string(),
            "" => format!("result{}", index + 1),
            name => name.to_string(),
        };
        if outputs.iter().any(|pin| pin.name == name) || name == "out" {
            break;
        }
        outputs.push(Pin { doc: result.doc.clone(), ..Pin::new(&name, kind) });
    }
    if inputs.len() > CALL_PINS_MAX || outputs.len() > CALL_PINS_MAX {
        return None;
    }
    if !function.returns.is_empty() && outputs.is_empty() {
        // It exists for a result that graphs cannot have.
        return None;
    }
    Some(node_type(function, inputs, outputs))
}

fn node_type(function: &FunctionDoc, mut inputs: Vec<Pin>, mut outputs: Vec<Pin>) -> NodeType {
    let is_query = function.node == NodeFlag::Query;
    if !is_query {
        inputs.insert(0, Pin::new("in", FlowType::Event));
        outputs.insert(0, Pin::new("out", FlowType::Event));
    }
    let title = function.name.replace('_', " ");
    NodeType {
        name: function.path(),
        title: title[..1].to_uppercase() + &title[1..],
        category: function.module.clone(),
        doc: first_sentence(&function.doc),
        kind: if is_query { NodeKind::Query } else { NodeKind::Action },
        origin: NodeOrigin::Function,
        op: Op::Call,
        inputs,
        outputs,
        settings: Vec::new(),
        latent: false,
        dynamic: false,
    }
}

/// Returns the node types of all functions of the engine, in the order of the reference.
pub fn function_types() -> Vec<NodeType> {
    let api = ApiModel::new();
    let functions = api.modules.iter().flat_map(|module| &module.functions);
    functions.filter_map(function_type).collect()
}

/// Returns the node types for units and levels, which are no functions of modules.
pub fn object_types() -> Vec<NodeType> {
    NODES.iter().map(NativeNode::node_type).chain(lua_nodes::types()).collect()
}

/// Returns the node types with tables in the manual: those that the engine executes itself, and
/// those for units and levels.
pub fn manual_types() -> Vec<NodeType> {
    let built_in = Catalogue::built_in();
    built_in.types().iter().cloned().chain(object_types()).collect()
}

/// Returns the names of all node types of the engine.
pub fn engine_names() -> HashSet<String> {
    manual_types().into_iter().chain(function_types()).map(|node| node.name).collect()
}

pub(super) fn add_functions(engine: &mut Engine) {
    let types = function_types().into_iter().chain(object_types());
    let graphs = &mut engine.worlds.flow;
    graphs.natives.by_name.clear();
    graphs.natives.call = native::call;
    for node in types {
        if let Some(index) = native::index_of(&node) {
            graphs.natives.by_name.insert(node.name.clone(), index);
        }
        graphs.get_mut().catalogue.set(node);
    }
    graphs.ready = true;
}

pub(super) fn remove_nodes(engine: &mut Engine) {
    let graphs = &mut engine.worlds.flow;
    graphs.scripted = graphs.get().catalogue.scripted();
    graphs.get_mut().catalogue.remove_scripted();
}

fn field<'a>(fields: &'a ScriptValue, name: &str) -> Option<&'a ScriptValue> {
    match fields {
        ScriptValue::Table(entries) => {
            entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
        }
        _ => None,
    }
}

fn text(fields: &ScriptValue, name: &str) -> Result<Option<String>, Error> {
    match field(fields, name) {
        None | Some(ScriptValue::Nil) => Ok(None),
        Some(ScriptValue::Text(text)) => Ok(Some(text.clone())),
        Some(_) => Err(error!("'{name}' must be a text")),
    }
}

/// Returns a field that is true or false.
fn flag(fields: &ScriptValue, name: &str) -> Result<bool, Error> {
    match field(fields, name) {
        None | Some(ScriptValue::Nil) => Ok(false),
        Some(ScriptValue::Boolean(value)) => Ok(*value),
        Some(_) => Err(error!("'{name}' must be true or false")),
    }
}

/// Returns a field that is a list of texts.
fn texts(fields: &ScriptValue, name: &str) -> Result<Option<Vec<String>>, Error> {
    let wrong = || error!("'{name}' must be a list of texts");
    let items = match field(fields, name) {
        None | Some(ScriptValue::Nil) => return Ok(None),
        Some(ScriptValue::List(items)) => items,
        // An empty table.
        Some(ScriptValue::Table(entries)) if entries.is_empty() => return Ok(Some(Vec::new())),
        Some(_) => return Err(wrong()),
    };
    let text = |item: &ScriptValue| match item {
        ScriptValue::Text(text) => Ok(text.clone()),
        _ => Err(wrong()),
    };
    items.iter().map(text).collect::<Result<_, _>>().map(Some)
}

fn check_fields(fields: &ScriptValue, known: &[&str], owner: &str) -> Result<(), Error> {
    let ScriptValue::Table(entries) = fields else {
        return Err(error!("{owner} must be a table with names"));
    };
    for (name, _) in entries {
        if !known.contains(&name.as_str()) {
            let hint = suggest::hint(name, known.iter().copied());
            return Err(error!("{owner} has the unknown field '{name}'{hint}"));
        }
    }
    Ok(())
}

/// Converts plain data of a script to a literal of a graph.
fn literal(value: &ScriptValue) -> SjsonTree {
    match value {
        ScriptValue::Boolean(value) => SjsonTree::Bool(*value),
        ScriptValue::Number(value) => SjsonTree::Number(*value),
        ScriptValue::Text(text) => SjsonTree::String(text.clone()),
        ScriptValue::List(items) => SjsonTree::Array(items.iter().map(literal).collect()),
        _ => SjsonTree::Null,
    }
}

/// Returns the names that a pin had.
fn was(pin: &ScriptValue, name: &str) -> Result<Vec<String>, Error> {
    let value = field(pin, "was").filter(|value| **value != ScriptValue::Nil).map(literal);
    read_was(name, value.as_ref()).map_err(Error::new)
}

fn lua_pin(value: &ScriptValue, is_input: bool) -> Result<Pin, Error> {
    let known: &[&str] = match is_input {
        true => &["name", "type", "doc", "default", "choices", "resource", "optional", "was"],
        false => &["name", "type", "doc", "was"],
    };
    check_fields(value, known, if is_input { "an input" } else { "an output" })?;
    let name =
        text(value, "name")?.ok_or_else(|| error!("a pin needs a name: name = \"speed\""))?;
    let kind = text(value, "type")?.unwrap_or_else(|| "any".to_string());
    let kind =
        FlowType::by_name(&kind).filter(|kind| *kind != FlowType::Event).ok_or_else(|| {
            let hint = suggest::hint(&kind, FlowType::ALL.map(FlowType::name));
            error!("'{name}' has the unknown type '{kind}'{hint}")
        })?;
    let at = |error: Error| error!("'{name}': {}", error.message);
    let optional = flag(value, "optional").map_err(at)?;
    let default = match field(value, "default") {
        Some(ScriptValue::Text(text)) if text == "self" && kind.is_handle() => PinDefault::Owner,
        Some(value) if *value != ScriptValue::Nil => PinDefault::Value(literal(value)),
        _ if optional => PinDefault::Nil,
        _ => PinDefault::Required,
    };
    let choices = texts(value, "choices").map_err(at)?.unwrap_or_default();
    let doc = text(value, "doc")?.unwrap_or_default();
    let resource = text(value, "resource")?;
    let was = was(value, &name).map_err(at)?;
    let pin = Pin { doc, choices, resource, was, ..Pin::new(&name, kind).or(default) };
    check_default(&pin).map_err(|message| error!("the default of '{name}' {message}"))?;
    Ok(pin)
}

fn lua_pins(fields: &ScriptValue, name: &str, is_input: bool) -> Result<Vec<Pin>, Error> {
    let pins = match field(fields, name) {
        None | Some(ScriptValue::Nil) => Vec::new(),
        Some(ScriptValue::List(items)) => {
            items.iter().map(|item| lua_pin(item, is_input)).collect::<Result<_, _>>()?
        }
        Some(ScriptValue::Table(entries)) if entries.is_empty() => Vec::new(),
        Some(_) => return Err(error!("'{name}' must be a list of pins")),
    };
    if pins.len() > CALL_PINS_MAX {
        return Err(error!("'{name}' has more than {CALL_PINS_MAX} pins (CALL_PINS_MAX)"));
    }
    Ok(pins)
}

/// Returns the event outputs of a node: those of its field `events`, or `out`.
fn event_outputs(fields: &ScriptValue, is_query: bool) -> Result<Vec<Pin>, Error> {
    let items = match (field(fields, "events"), is_query) {
        (None | Some(ScriptValue::Nil), true) => return Ok(Vec::new()),
        (None | Some(ScriptValue::Nil), false) => {
            return Ok(vec![Pin::new("out", FlowType::Event)]);
        }
        (Some(_), true) => return Err(error!("a query has no 'events'")),
        (Some(ScriptValue::List(items)), false) => items,
        // An empty table.
        (Some(ScriptValue::Table(entries)), false) if entries.is_empty() => return Ok(Vec::new()),
        (Some(_), false) => return Err(error!("'events' must be a list of names")),
    };
    if items.len() > CALL_EVENTS_MAX {
        return Err(error!("'events' has more than {CALL_EVENTS_MAX} names (CALL_EVENTS_MAX)"));
    }
    items.iter().map(event_output).collect()
}

/// Returns an event output: its name, or a table with its name and its old ones.
fn event_output(item: &ScriptValue) -> Result<Pin, Error> {
    if let ScriptValue::Text(name) = item {
        return Ok(Pin::new(name, FlowType::Event));
    }
    if !matches!(item, ScriptValue::Table(_)) {
        return Err(error!("'events' must be a list of names"));
    }
    check_fields(item, &["name", "was"], "an event")?;
    let name = text(item, "name")?
        .ok_or_else(|| error!("an event needs a name: {{ name = \"locked\", was = \"shut\" }}"))?;
    let at = |error: Error| error!("'{name}': {}", error.message);
    Ok(Pin { was: was(item, &name).map_err(at)?, ..Pin::new(&name, FlowType::Event) })
}

/// Checks that pins have different names and different old names.
fn check_names(pins: &[Pin], noun: &str) -> Result<(), Error> {
    let mut names: Vec<&str> = pins.iter().map(|pin| pin.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(error!("two {noun} have the name '{}'", pair[0]));
    }
    match ambiguous_old_name(pins) {
        Some(old) => Err(error!("two {noun} had the name '{old}': remove it from one 'was'")),
        None => Ok(()),
    }
}

/// Adds a node type from its table in Lua.
///
/// # Errors
/// Returns a message. The prelude, which knows the file, adds the line.
pub(super) fn add_node(
    engine: &mut Engine,
    name: TextArgument,
    file: TextArgument,
    fields: ScriptValue,
) -> ExpectedResult<bool> {
    let added = add_type(engine, name.as_str(), file.as_str(), &fields);
    ExpectedResult(added.map(|()| true).map_err(|error| error.message))
}

fn add_type(
    engine: &mut Engine,
    name: &str,
    file: &str,
    fields: &ScriptValue,
) -> Result<(), Error> {
    let known = ["title", "category", "doc", "inputs", "outputs", "events", "query"];
    check_fields(fields, &known, &format!("the node '{name}'"))?;
    let at = |error: Error| error!("the node '{name}': {}", error.message);
    let mut inputs = lua_pins(fields, "inputs", true).map_err(at)?;
    let mut outputs = lua_pins(fields, "outputs", false).map_err(at)?;
    let is_query = flag(fields, "query").map_err(at)?;
    let events = event_outputs(fields, is_query).map_err(at)?;
    if !is_query {
        inputs.insert(0, Pin::new("in", FlowType::Event));
        outputs = events.into_iter().chain(outputs).collect();
    }
    check_names(&inputs, "inputs").map_err(at)?;
    check_names(&outputs, "outputs").map_err(at)?;
    let title = text(fields, "title").map_err(at)?;
    let default_title = name.rsplit('.').next().unwrap_or(name).replace('_', " ");
    let origin = NodeOrigin::Script(file.to_string());
    let node = NodeType {
        name: name.to_string(),
        title: title.unwrap_or(default_title),
        category: text(fields, "category").map_err(at)?.unwrap_or_else(|| "Game".to_string()),
        doc: text(fields, "doc").map_err(at)?.unwrap_or_default(),
        kind: if is_query { NodeKind::Query } else { NodeKind::Action },
        origin,
        op: Op::Call,
        inputs,
        outputs,
        settings: Vec::new(),
        latent: false,
        dynamic: false,
    };
    let catalogue = &mut engine.worlds.flow.get_mut().catalogue;
    if catalogue.find(name).is_some_and(|known| !matches!(known.origin, NodeOrigin::Script(_))) {
        return Err(error!("the node '{name}' has the name of a node of the engine: rename it"));
    }
    catalogue.set(node);
    Ok(())
}

/// Returns the name of a function, the number of its inputs, the types of its outputs, the names of
/// its event outputs, and the names of the outputs.
pub(super) fn function(engine: &mut Engine, at: Integer) -> ScriptValue {
    let types = engine.worlds.flow.get().catalogue.types();
    let Some(node) = types.get((at.0 - 1).max(0) as usize) else { return ScriptValue::Nil };
    let outputs = |events: bool, text: fn(&Pin) -> &str| {
        let pins = node.outputs.iter().filter(|pin| (pin.kind == FlowType::Event) == events);
        ScriptValue::List(pins.map(|pin| ScriptValue::Text(text(pin).to_string())).collect())
    };
    let inputs = node.inputs.iter().filter(|pin| pin.kind != FlowType::Event).count();
    ScriptValue::List(vec![
        ScriptValue::Text(node.name.clone()),
        ScriptValue::Number(inputs as f64),
        outputs(false, |pin| pin.kind.name()),
        outputs(true, |pin| &pin.name),
        outputs(false, |pin| &pin.name),
    ])
}
