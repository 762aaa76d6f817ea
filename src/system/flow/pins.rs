//! Pins of a node in a graph: those of its type, or those that depend on its settings.

use super::node_type::{NodeType, Pin, PinDefault};
use super::source::{GraphSource, NodeSource};
use super::value::FlowType;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::suggest;
use std::sync::Arc;

/// Maximum number of outputs of a sequence, a switch, a random output or a timeline.
pub const OUTPUTS_MAX: usize = 64;
/// Maximum number of points of a curve.
pub const CURVE_POINTS_MAX: usize = 1024;

/// Loads a graph by its name.
pub type GraphLoader<'a> = dyn FnMut(&str) -> Result<Arc<GraphSource>, String> + 'a;

/// Inputs and outputs of a node.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NodePins {
    pub inputs: Vec<Pin>,
    pub outputs: Vec<Pin>,
}

fn event(name: impl Into<String>) -> Pin {
    Pin::new(&name.into(), FlowType::Event)
}

/// Returns the pins of a node, or the message for a setting without which they are unknown.
pub fn pins_of(
    node: &NodeSource,
    kind: &NodeType,
    graph: &GraphSource,
    load: &mut GraphLoader,
) -> Result<NodePins, String> {
    let mut pins = NodePins { inputs: kind.inputs.clone(), outputs: kind.outputs.clone() };
    if !kind.dynamic {
        return Ok(pins);
    }
    match kind.name.as_str() {
        "flow.sequence" | "flow.random" => {
            let count = count(node)?;
            pins.outputs.extend((1..=count).map(|at| event(format!("out{at}"))));
        }
        "flow.switch_number" | "flow.switch_text" => {
            pins.outputs.extend(cases(node)?.into_iter().map(event));
            pins.outputs.push(event("other"));
        }
        "flow.timeline" => {
            let names = curves(node)?.into_iter().map(|(name, _)| name);
            pins.outputs.extend(names.map(|name| Pin::new(&name, FlowType::Number)));
        }
        "flow.for_each" | "list.item" => {
            let item = item_type(node)?;
            pins.outputs.iter_mut().filter(|pin| pin.name == "item").for_each(|p| p.kind = item);
        }
        "variable.value" => {
            pins.outputs.push(Pin::new("value", graph.variables[variable(node, graph)?].kind));
        }
        "variable.set" => {
            let kind = graph.variables[variable(node, graph)?].kind;
            pins.inputs.push(Pin::new("value", kind));
            pins.outputs.push(Pin::new("value", kind));
        }
        "graph" => {
            let name = node.text_setting("graph").ok_or("'graph' must be the name of a graph")?;
            let inner = load(name)?;
            pins = NodePins { inputs: inner.inputs.clone(), outputs: inner.outputs.clone() };
        }
        "graph.inputs" => pins.outputs = graph.inputs.clone(),
        _ => {
            let optional = |pin: &Pin| match pin.kind {
                FlowType::Event => pin.clone(),
                _ => pin.clone().or(PinDefault::Nil),
            };
            pins.inputs = graph.outputs.iter().map(optional).collect();
        }
    }
    Ok(pins)
}

/// Returns the variable that a node names.
pub fn variable(node: &NodeSource, graph: &GraphSource) -> Result<usize, String> {
    let Some(name) = node.text_setting("variable") else {
        return Err("'variable' must be the name of a variable".to_string());
    };
    graph.variable(name).ok_or_else(|| {
        let hint = suggest::hint(name, graph.variables.iter().map(|one| one.name.as_str()));
        format!("the graph has no variable '{name}'{hint}")
    })
}

fn count(node: &NodeSource) -> Result<usize, String> {
    match node.setting("count") {
        None => Ok(2),
        Some(SjsonTree::Number(count))
            if count.fract() == 0.0 && (1.0..=OUTPUTS_MAX as f64).contains(count) =>
        {
            Ok(*count as usize)
        }
        Some(_) => {
            Err(format!("'count' must be a whole number from 1 to {OUTPUTS_MAX} (OUTPUTS_MAX)"))
        }
    }
}

/// Describes the inputs that [`pins_of`] adds to a type of nodes, for the manual.
pub fn added_inputs(name: &str) -> &'static str {
    match name {
        "variable.set" => "`value`: as the variable",
        "graph" => "those of the graph",
        "graph.outputs" => "the outputs of this graph",
        _ => "",
    }
}

/// Describes the outputs that [`pins_of`] adds to a type of nodes, for the manual.
pub fn added_outputs(name: &str) -> &'static str {
    match name {
        "flow.sequence" | "flow.random" => "*out1*, *out2* …",
        "flow.switch_number" | "flow.switch_text" => "one for each case, *other*",
        "flow.timeline" => "a number for each curve",
        "variable.value" | "variable.set" => "`value`: as the variable",
        "graph" => "those of the graph",
        "graph.inputs" => "the inputs of this graph",
        _ => "",
    }
}

/// Returns an example of the cases of a type of switches.
pub fn cases_example(kind: &str) -> &'static str {
    match kind {
        "flow.switch_number" => "cases = { 1 = true 2 = true }",
        _ => "cases = { red = true blue = true }",
    }
}

/// Returns the cases of a switch, sorted.
pub fn cases(node: &NodeSource) -> Result<Vec<String>, String> {
    let example = cases_example(&node.kind);
    let must = || {
        format!("'cases' must be a block of at most {OUTPUTS_MAX} cases (OUTPUTS_MAX): {example}")
    };
    let mut names: Vec<String> = match node.setting("cases") {
        None => Vec::new(),
        Some(SjsonTree::Object(cases)) if cases.len() <= OUTPUTS_MAX => {
            cases.iter().map(|(name, _)| name.clone()).collect()
        }
        Some(_) => return Err(must()),
    };
    if names.iter().any(|name| name == "other") {
        return Err("'other' is the output of values without a case: leave it out".to_string());
    }
    if node.kind == "flow.switch_number"
        && let Some(name) = names.iter().find(|name| name.parse::<f64>().is_err())
    {
        return Err(format!("the case '{name}' must be a number: {example}"));
    }
    names.sort_compact();
    Ok(names)
}

/// A curve: seconds and values, in the order of time.
pub type CurvePoints = Vec<[f64; 2]>;

/// Returns the curves of a timeline, sorted by name.
pub fn curves(node: &NodeSource) -> Result<Vec<(String, CurvePoints)>, String> {
    let mut found = Vec::new();
    let entries = match node.setting("curves") {
        None => return Ok(found),
        Some(SjsonTree::Object(curves)) if curves.len() <= OUTPUTS_MAX => curves,
        Some(_) => {
            return Err(format!(
                "'curves' must be a block of at most {OUTPUTS_MAX} curves (OUTPUTS_MAX): curves \
                 = {{ angle = [[0, 0], [1, 90]] }}"
            ));
        }
    };
    for (name, value) in entries {
        if ["update", "done", "time"].contains(&name.as_str()) {
            return Err(format!("a curve cannot be named '{name}', as another output"));
        }
        found.push((name.clone(), curve(name, value)?));
    }
    found.sort_compact_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn curve(name: &str, value: &SjsonTree) -> Result<CurvePoints, String> {
    let must = || {
        format!(
            "the curve '{name}' must be a list of 1 to {CURVE_POINTS_MAX} points [seconds, value] \
             (CURVE_POINTS_MAX), in the order of time, from 0: [[0, 0], [1, 90]]"
        )
    };
    let SjsonTree::Array(items) = value else { return Err(must()) };
    if items.is_empty() || items.len() > CURVE_POINTS_MAX {
        return Err(must());
    }
    let mut points: CurvePoints = Vec::with_capacity(items.len());
    for item in items {
        let SjsonTree::Array(pair) = item else { return Err(must()) };
        let [SjsonTree::Number(seconds), SjsonTree::Number(value)] = pair[..] else {
            return Err(must());
        };
        let after = points.last().map_or(0.0, |last| last[0]);
        if !(seconds >= after && seconds <= 1e6 && value.abs() <= 1e30) {
            return Err(must());
        }
        points.push([seconds, value]);
    }
    Ok(points)
}

/// Returns the type of the items that a node handles.
pub fn item_type(node: &NodeSource) -> Result<FlowType, String> {
    match node.setting("item_type") {
        None => Ok(FlowType::Any),
        Some(SjsonTree::String(name)) => match FlowType::by_name(name) {
            Some(FlowType::Event | FlowType::List) | None => {
                let hint = suggest::hint(name, FlowType::ALL.map(FlowType::name));
                Err(format!("'{name}' is not the type of an item{hint}"))
            }
            Some(kind) => Ok(kind),
        },
        Some(_) => Err("'item_type' must be the name of a type".to_string()),
    }
}
