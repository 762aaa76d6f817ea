//! Compiler of units: validates a unit's text, that is, its keys, the fields of its nodes, and
//! vectors. Components are validated by their own table. Unit resources are built in
//! unit_resource.rs.

use super::animation::{ANIMATION, refer_clip};
use super::component;
use super::component_fields::text;
use super::scene_graph::UNIT_NODES_MAX;
use super::unit_resource::clash_message;
use engine_flow::resource as flow;
use engine_foundation::hash::find_collision;
use engine_foundation::sjson::{self, SjsonTree, SjsonValue};
use engine_foundation::{Error, Quat, suggest};
use engine_resource::data_resources::{read_document, write_tree};
use engine_resource::resource_kind::{CompileContext, kind_names};

const KEYS: [&str; 6] = ["inherit", "model", "nodes", "components", "data", "flow"];
const NODE_KEYS: [&str; 4] = ["parent", "position", "rotation", "scale"];

/// An error with the offending value.
type UnitError<'a> = (SjsonValue<'a>, String);

/// Validates a unit's text and compiles it.
pub fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|error| Error::new(error.in_file(&compiling.path)))?;
    let mut named = Vec::new();
    if let Err((value, message)) = check(document.root(), &mut named) {
        return Err(engine_foundation::error!("{}:{}: {message}", compiling.path, value.line()));
    }
    let tree = document.to_tree();
    drop(document);
    for (kind, name) in named {
        compiling.refer(&kind, &name);
    }
    for clip in clips(&tree) {
        refer_clip(compiling, clip);
    }
    Ok(write_tree(&compile_flow(compiling, tree)))
}

/// Prepares the graph of a unit or a level, if it has one.
pub fn compile_flow(compiling: &mut CompileContext, mut tree: SjsonTree) -> SjsonTree {
    if let SjsonTree::Object(entries) = &mut tree
        && let Some((_, graph)) = entries.iter_mut().find(|(key, _)| key == "flow")
    {
        *graph = flow::without_editor_keys(std::mem::replace(graph, SjsonTree::Null));
        flow::refer(compiling, graph);
    }
    tree
}

/// Checks the form of a graph. `changes` is true if it can change an inherited one.
pub fn check_flow(value: SjsonValue, changes: bool) -> Result<(), UnitError> {
    flow::check_block(value, changes).map_err(|(line, message)| {
        // The error is shown at the line of a value: the one of the entry that has the problem.
        (entry_at(value, line).unwrap_or(value), message)
    })
}

/// Returns the first value at a line, two levels deep: a node, an input or a wire.
fn entry_at(value: SjsonValue, line: usize) -> Option<SjsonValue> {
    let mut found = None;
    for block in value.entries()? {
        for entry in block.value.entries().into_iter().flatten() {
            if entry.line() <= line {
                found = Some(entry.value);
            }
        }
    }
    found
}

/// Returns the names of the clips in the components of a unit.
fn clips(tree: &SjsonTree) -> impl Iterator<Item = &str> {
    let parts = match tree.get("components") {
        Some(SjsonTree::Object(parts)) => &parts[..],
        _ => &[],
    };
    let of_animation = parts.iter().filter(|(name, fields)| match fields.get("component") {
        Some(SjsonTree::String(component)) => component == ANIMATION.name,
        _ => name == ANIMATION.name,
    });
    of_animation.filter_map(|(_, fields)| text(fields, "clip"))
}

/// Refuses compiled data that no valid text could have produced.
pub fn validate(bytes: &[u8]) -> Result<(), Error> {
    let document = read_document(bytes)?;
    check(document.root(), &mut Vec::new()).map_err(|(_, message)| Error::new(message))
}

/// Validates a unit's text. The resources that it refers to are added to `named`, as types and
/// names.
fn check<'a>(root: SjsonValue<'a>, named: &mut Vec<(String, String)>) -> Result<(), UnitError<'a>> {
    let whole = ["inherit", "model"].iter().all(|base| root.get(base).is_none());
    for entry in root.entries().into_iter().flatten() {
        let (key, value) = (entry.key, entry.value);
        match key {
            "inherit" => match value.as_str() {
                Some(base) => named.push((kind_names::UNIT.to_string(), base.to_string())),
                None => return Err((value, "'inherit' must be the name of a unit".into())),
            },
            "model" => match value.as_str() {
                Some(name) => named.push((kind_names::MODEL.to_string(), name.to_string())),
                None => return Err((value, "'model' must be the name of a model".into())),
            },
            "nodes" => check_nodes(&value)?,
            "components" => component::check(&value, whole, named)?,
            "data" if value.entries().is_none() => {
                let message = "'data' must be a block: data = { material = \"wood\" }";
                return Err((value, message.into()));
            }
            "data" => {}
            "flow" => check_flow(value, root.get("inherit").is_some())?,
            _ => {
                let hint = suggest::hint(key, KEYS);
                return Err((value, format!("unknown key '{key}'{hint}")));
            }
        }
    }
    Ok(())
}

/// Returns true if a value is a list of numbers with one of the lengths in `counts`.
pub fn are_numbers(value: SjsonValue, counts: &[usize]) -> bool {
    value.items().is_some_and(|items| counts.contains(&items.len()))
        && value.items().into_iter().flatten().all(|item| item.as_f32().is_some())
}

/// Returns the error message for a field with an invalid value.
pub fn invalid_value(subject: &str, must: &str, value: SjsonValue) -> String {
    match value.beyond_f32() {
        Some(number) => {
            format!("{subject} has {number:e}: numbers are at most {:e} here", f32::MAX)
        }
        None => format!("{subject} must be {must}"),
    }
}

/// Returns the requirement that a pose field violates, or `None` if the field is valid.
pub fn must_be(key: &str, value: SjsonValue) -> Option<&'static str> {
    let quaternion = || {
        let mut parts = value.items().into_iter().flatten().map(SjsonValue::as_f32);
        let parts: [_; 4] = std::array::from_fn(|_| parts.next().flatten().unwrap_or(f32::NAN));
        Quat::from_array(parts).normalize().is_normalized()
    };
    let turns = || are_numbers(value, &[3]) || are_numbers(value, &[4]) && quaternion();
    match key {
        "position" if !are_numbers(value, &[3]) => Some("three numbers, in metres"),
        "rotation" if !turns() => {
            Some("three angles in degrees, or the four numbers of a quaternion, not all of them 0")
        }
        "scale" if value.as_f32().is_none() && !are_numbers(value, &[3]) => {
            Some("one number, or three")
        }
        _ => None,
    }
}

fn check_nodes<'a>(nodes: &SjsonValue<'a>) -> Result<(), (SjsonValue<'a>, String)> {
    let must = "'nodes' must be a block: nodes = { lid = { position = [0, 0, 1] } }";
    let entries: Vec<_> = nodes.entries().ok_or_else(|| (*nodes, must.to_string()))?.collect();
    if entries.len() >= UNIT_NODES_MAX {
        let message = format!(
            "{} nodes and the root are more than a unit can have (UNIT_NODES_MAX is \
             {UNIT_NODES_MAX})",
            entries.len()
        );
        return Err((*nodes, message));
    }
    let names = entries.iter().map(|node| node.key);
    if let Some((one, other)) = find_collision(std::iter::once("root").chain(names)) {
        let at = entries.iter().find(|node| node.key == other);
        return Err((at.map_or(*nodes, |node| node.value), clash_message(one, other)));
    }
    for node in entries {
        let name = node.key;
        let message = format!("node '{name}' must be a block: {name} = {{ position = [0, 0, 1] }}");
        for field in node.value.entries().ok_or((node.value, message))? {
            let (key, value) = (field.key, field.value);
            let must = match key {
                "parent" if value.as_str().is_none() => Some("the name of a node"),
                "parent" if name == "root" => {
                    let message = "the node 'root' belongs to the unit and has no parent: leave \
                                 out its parent";
                    return Err((value, message.to_string()));
                }
                key => must_be(key, value),
            };
            if let Some(must) = must {
                return Err((
                    value,
                    invalid_value(&format!("'{key}' of node '{name}'"), must, value),
                ));
            }
            if !NODE_KEYS.contains(&key) {
                let hint = suggest::hint(key, NODE_KEYS);
                return Err((value, format!("node '{name}' has the unknown field '{key}'{hint}")));
            }
        }
    }
    Ok(())
}
