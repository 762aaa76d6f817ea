//! Graphs and node types as text and as trees: for `engine explain`, for the manual and for tools.

use super::built_in::pin_tree;
use super::literal::Literal;
use super::node_type::{
    Catalogue, NodeOrigin, NodeSetting, NodeType, Pin, PinDefault, SettingKind,
};
use super::pins::{added_inputs, added_outputs, cases_example};
use super::program::{CONSTANT, LEVEL_SLOT, Program, UNIT_SLOT, WORLD_SLOT};
use super::source::{Problem, Severity};
use super::value::{Conversion, FlowHeap, FlowType, conversion};
use engine_foundation::json::{self, object};
use engine_foundation::sjson::{SjsonTree, line};
use engine_resource::resource_kind::kind_names;
use std::fmt::Write;

/// Returns a program as readable text: sizes, variables, and each node with its settings, its
/// inputs and the nodes that follow.
pub fn explain(program: &Program) -> String {
    let size = program.size();
    let count = program.nodes.iter().filter(|node| !node.hidden).count();
    let of_subgraphs = match program.uses.is_empty() {
        true => "",
        false => " with those of its subgraphs",
    };
    let mut text = format!(
        "{}: {count} nodes{of_subgraphs}, {} bytes shared, {} bytes for each instance\n",
        program.name, size.program, size.instance
    );
    let is_other = |graph: &&String| program.name != format!("{graph}.{}", kind_names::FLOW);
    for graph in program.graphs.iter().filter(is_other) {
        let _ = writeln!(text, "contains the graph {graph}");
    }
    for variable in &program.variables {
        let (name, kind) = (&variable.name, variable.kind.name());
        let _ = writeln!(text, "variable {name}: {kind} = {}", literal_text(&variable.initial));
    }
    for (path, graph) in &program.uses {
        let _ = writeln!(text, "{path}: graph(graph = \"{graph}\")");
    }
    for (at, node) in program.nodes.iter().enumerate().filter(|(_, node)| !node.hidden) {
        let record = program.node(node.offset);
        let settings = node.settings.iter();
        let mut values: Vec<String> =
            settings.map(|(name, value)| format!("{name} = {}", line(value))).collect();
        values.extend(node.inputs.iter().enumerate().map(|(input, (name, _))| {
            format!("{name} = {}", operand_text(program, record.operand(input)))
        }));
        let _ = writeln!(text, "{}: {}({})", node.path, node.kind, values.join(", "));
        for wire in program.wires.iter().filter(|wire| wire.from as usize == at) {
            let to = &program.nodes[wire.to as usize].path;
            let _ = writeln!(text, "  {} > {to}.{}", wire.from_pin, wire.to_pin);
        }
    }
    text
}

fn literal_text(literal: &Literal) -> String {
    match literal {
        Literal::Slot(slot) => slot.describe(&FlowHeap::default()),
        Literal::Text(text) | Literal::LevelUnit(text) => line(&json::text(text)),
    }
}

fn operand_text(program: &Program, word: u32) -> String {
    if word & CONSTANT != 0 {
        return literal_text(&program.constants[(word & !CONSTANT) as usize]);
    }
    match word {
        UNIT_SLOT => return "this unit".to_string(),
        LEVEL_SLOT => return "this level".to_string(),
        WORLD_SLOT => return "this world".to_string(),
        _ => {}
    }
    if let Some(variable) = program.variables.iter().find(|variable| variable.slot == word) {
        return format!("variable {}", variable.name);
    }
    let owner = program.nodes.iter().find(|node| {
        let first = program.node(node.offset).outputs() as u32;
        (first..first + node.outputs.len() as u32).contains(&word)
    });
    match owner {
        Some(node) if node.hidden => operand_text(program, program.node(node.offset).operand(0)),
        Some(node) => {
            let output = word as usize - program.node(node.offset).outputs();
            format!("{}.{}", node.path, node.outputs[output].0)
        }
        None => format!("slot {word}"),
    }
}

/// Returns a problem as tools get it.
pub fn problem_tree(problem: &Problem) -> SjsonTree {
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut entries = vec![("severity".to_string(), json::text(severity))];
    let node = problem.node.split('/').next().unwrap_or_default();
    for (key, value) in [("node", node), ("pin", &*problem.pin), ("wire", &*problem.wire)] {
        if !value.is_empty() {
            entries.push((key.to_string(), json::text(value)));
        }
    }
    entries.push(("message".to_string(), json::text(&problem.message)));
    SjsonTree::Object(entries)
}

fn node_tree(node: &NodeType) -> SjsonTree {
    let pins = |pins: &[Pin]| SjsonTree::Array(pins.iter().map(pin_tree).collect());
    let settings = node.settings.iter().map(|setting| {
        let mut entries = vec![
            ("name".to_string(), json::text(setting.name)),
            ("type".to_string(), json::text(setting.kind.name())),
            ("doc".to_string(), json::text(setting.doc)),
        ];
        if let Some(default) = &setting.default {
            entries.push(("default".to_string(), default.clone()));
        }
        SjsonTree::Object(entries)
    });
    let origin = match &node.origin {
        NodeOrigin::BuiltIn => "built_in",
        NodeOrigin::Function => "engine",
        NodeOrigin::Script(_) => "script",
    };
    let mut entries = vec![
        ("type".to_string(), json::text(&node.name)),
        ("name".to_string(), json::text(&node.title)),
        ("category".to_string(), json::text(&node.category)),
        ("doc".to_string(), json::text(&node.doc)),
        ("kind".to_string(), json::text(node.kind.name())),
        ("origin".to_string(), json::text(origin)),
        ("latent".to_string(), SjsonTree::Bool(node.latent)),
        ("dynamic".to_string(), SjsonTree::Bool(node.dynamic)),
        ("settings".to_string(), SjsonTree::Array(settings.collect())),
        ("inputs".to_string(), pins(&node.inputs)),
        ("outputs".to_string(), pins(&node.outputs)),
    ];
    if let NodeOrigin::Script(file) = &node.origin {
        entries.push(("file".to_string(), json::text(file)));
    }
    SjsonTree::Object(entries)
}

/// Returns the catalogue as tools get it: types, conversions and nodes.
pub fn catalogue_tree(catalogue: &Catalogue) -> [(&'static str, SjsonTree); 3] {
    let types = FlowType::ALL.map(FlowType::name);
    let mut conversions = Vec::new();
    for from in FlowType::ALL {
        for to in FlowType::ALL {
            let Some(how) = conversion(from, to).filter(|_| from != to) else { continue };
            conversions.push(object([
                ("from", json::text(from.name())),
                ("to", json::text(to.name())),
                ("checked", SjsonTree::Bool(how == Conversion::Check)),
            ]));
        }
    }
    let nodes = catalogue.types().iter().map(node_tree).collect();
    [
        ("types", json::texts(types)),
        ("conversions", SjsonTree::Array(conversions)),
        ("nodes", SjsonTree::Array(nodes)),
    ]
}

/// Returns the documentation of node types as tables in Markdown, one for each category.
pub fn node_markdown(types: &[NodeType]) -> String {
    let mut text = String::new();
    let mut categories: Vec<&str> = Vec::new();
    for node in types {
        if !categories.contains(&node.category.as_str()) {
            categories.push(&node.category);
        }
    }
    for category in categories {
        let _ = write!(
            text,
            "\n## {category}\n\n| Node | Settings | Inputs | Outputs | Does |\n\
             |---|---|---|---|---|\n"
        );
        for node in types.iter().filter(|node| node.category == category) {
            let row = [
                format!("`{}`", node.name),
                settings_texts(node).join(", "),
                joined(&pins_text(&node.inputs), added_inputs(&node.name)),
                joined(&pins_text(&node.outputs), added_outputs(&node.name)),
                node.doc.clone(),
            ];
            let _ = writeln!(text, "| {} |", row.map(|cell| cell.replace('|', "\\|")).join(" | "));
        }
    }
    text
}

/// Returns the documentation of a node type for a terminal: its description, and a line for each
/// setting and pin.
pub fn node_text(node: &NodeType) -> String {
    let mut text = format!("{}\n\n    {} ({})\n", node.name, node.doc, node.kind.name());
    let mut list = |title: &str, rows: Vec<String>, added: &str| {
        let added = (!added.is_empty()).then(|| added.replace('*', ""));
        let rows: Vec<String> = rows.into_iter().chain(added).collect();
        if !rows.is_empty() {
            let _ = writeln!(text, "\n{title}:\n    {}", rows.join("\n    ").replace('`', ""));
        }
    };
    let pins = |pins: &[Pin]| pins.iter().map(|pin| pin_text(pin).replace('*', "")).collect();
    list("Settings", settings_texts(node), "");
    list("Inputs", pins(&node.inputs), added_inputs(&node.name));
    list("Outputs", pins(&node.outputs), added_outputs(&node.name));
    text
}

fn joined(fixed: &str, added: &str) -> String {
    match fixed.is_empty() || added.is_empty() {
        true => format!("{fixed}{added}"),
        false => format!("{fixed}, {added}"),
    }
}

fn setting_text(node: &NodeType, setting: &NodeSetting) -> String {
    let default = match (setting.kind, &setting.default) {
        (SettingKind::Cases, _) => format!(" (`{}`)", cases_example(&node.name)),
        (SettingKind::Curves, _) => " (`curves = { angle = [[0, 0], [1, 90]] }`)".to_string(),
        (_, Some(value)) => format!(" ({})", json::write(value)),
        (_, None) => String::new(),
    };
    format!("`{}`: {}{default}", setting.name, setting.doc)
}

fn settings_texts(node: &NodeType) -> Vec<String> {
    node.settings.iter().map(|setting| setting_text(node, setting)).collect()
}

/// Returns a pin with its type, its default and its description; events in italics.
fn pin_text(pin: &Pin) -> String {
    if pin.kind == FlowType::Event {
        return format!("*{}*", pin.name);
    }
    let kind = match &pin.resource {
        Some(resource) => format!("{} {resource}", pin.kind.name()),
        None => pin.kind.name().to_string(),
    };
    let default = match &pin.default {
        PinDefault::Value(value) => format!(" ({})", json::write(value)),
        PinDefault::Owner if pin.kind == FlowType::Handle => " (this unit or level)".to_string(),
        PinDefault::Owner => format!(" (this {})", pin.kind.name()),
        PinDefault::Nil => " (optional)".to_string(),
        PinDefault::Required => String::new(),
    };
    let doc = if pin.doc.is_empty() { String::new() } else { format!(", {}", pin.doc) };
    format!("`{}`: {kind}{default}{doc}", pin.name)
}

fn pins_text(pins: &[Pin]) -> String {
    // Descriptions have commas.
    let separator = if pins.iter().any(|pin| !pin.doc.is_empty()) { "; " } else { ", " };
    pins.iter().map(pin_text).collect::<Vec<_>>().join(separator)
}
