//! Inheritance between units as trees of fields: a file's fields replace inherited ones, and `null`
//! removes an inherited component or field.

use crate::component;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Error, suggest};
use std::collections::HashMap;

/// Refuses components that are valid in each file but invalid after merging. A file that overrides
/// a component only by its name does not show which fields the component has.
pub(super) fn check_merged(merged: &SjsonTree) -> Result<(), Error> {
    let Some(components) = merged.get("components") else { return Ok(()) };
    let alone = SjsonTree::Object(vec![("components".to_string(), components.clone())]);
    let text = sjson::write(&alone).map_err(|error| engine_foundation::error!("{error}"))?;
    let document = sjson::parse(&text).map_err(|error| engine_foundation::error!("{error}"))?;
    let components = document.root().get("components").expect("it was written");
    component::check(&components, true, &mut Vec::new()).map_err(|(_, message)| Error::new(message))
}

/// Refuses a file that removes an entry that it does not inherit, because a misspelled name would
/// otherwise have no effect.
pub(super) fn check_taken(base: &SjsonTree, over: &SjsonTree) -> Result<(), Error> {
    for block in ["components", "data", "flow"] {
        let over = over.get(block).unwrap_or(&SjsonTree::Null);
        if let Some((path, near)) = not_taken(block, base.get(block), over) {
            return Err(engine_foundation::error!(
                "'{path}' is null, which removes what is inherited, and nothing of that name is \
                 inherited{near}"
            ));
        }
    }
    Ok(())
}

/// Finds the first `null` that overrides no inherited entry. Returns its path, and a suggestion to
/// append to the message.
fn not_taken(path: &str, base: Option<&SjsonTree>, over: &SjsonTree) -> Option<(String, String)> {
    let SjsonTree::Object(over) = over else { return None };
    let below: &[(String, SjsonTree)] = match base {
        Some(SjsonTree::Object(below)) => below,
        _ => &[],
    };
    let below = below.iter().filter(|(_, value)| *value != SjsonTree::Null);
    let names = || below.clone().map(|(known, _)| known.as_str());
    let known: HashMap<&str, &SjsonTree> =
        names().zip(below.clone().map(|(_, value)| value)).collect();
    over.iter().find_map(|(key, value)| {
        let path = format!("{path}.{key}");
        match (value, known.get(key.as_str())) {
            (SjsonTree::Null, None) => Some((path, suggest::hint(key, names()))),
            (_, found) => not_taken(&path, found.copied(), value),
        }
    })
}

/// Returns an inherited graph with the changes of a file.
pub fn changed_graph(base: &SjsonTree, changes: &SjsonTree) -> SjsonTree {
    let mut graph = base.clone();
    merge(&mut graph, changes);
    take_away_of_graph(&mut graph);
    graph
}

/// Removes the nodes, wires, variables, pins and values of inputs that are overridden with `null`.
fn take_away_of_graph(graph: &mut SjsonTree) {
    let SjsonTree::Object(blocks) = graph else { return };
    for (_, block) in blocks {
        let SjsonTree::Object(entries) = block else { continue };
        entries.retain(|(_, value)| *value != SjsonTree::Null);
        let fields = entries.iter_mut().filter_map(|(_, entry)| match entry {
            SjsonTree::Object(fields) => Some(fields),
            _ => None,
        });
        for fields in fields {
            fields.retain(|(_, value)| *value != SjsonTree::Null);
            let inputs = fields.iter_mut().find(|(field, _)| field == "inputs");
            if let Some((_, SjsonTree::Object(inputs))) = inputs {
                inputs.retain(|(_, value)| *value != SjsonTree::Null);
            }
        }
    }
}

/// Removes the components and the fields of components that are overridden with `null`, and the
/// parts of the graph.
pub(super) fn take_away(merged: &mut SjsonTree) {
    let SjsonTree::Object(blocks) = merged else { return };
    if let Some((_, graph)) = blocks.iter_mut().find(|(block, _)| block == "flow") {
        take_away_of_graph(graph);
    }
    let components = blocks.iter_mut().find(|(block, _)| block == "components");
    let Some((_, SjsonTree::Object(parts))) = components else { return };
    parts.retain(|(_, fields)| *fields != SjsonTree::Null);
    for (_, fields) in parts {
        if let SjsonTree::Object(fields) = fields {
            fields.retain(|(_, value)| *value != SjsonTree::Null);
        }
    }
}

/// Merges `over` into `base`: objects field by field, all other values as a whole.
pub(super) fn merge(base: &mut SjsonTree, over: &SjsonTree) {
    match (base, over) {
        (SjsonTree::Object(base), SjsonTree::Object(over)) if base.is_empty() => {
            base.clone_from(over)
        }
        (SjsonTree::Object(base), SjsonTree::Object(over)) => {
            let keys = base.iter().enumerate().map(|(at, (key, _))| (key.clone(), at));
            let positions: HashMap<String, usize> = keys.collect();
            for (key, value) in over {
                match positions.get(key) {
                    Some(at) => merge(&mut base[*at].1, value),
                    None => base.push((key.clone(), value.clone())),
                }
            }
        }
        (base, over) => *base = over.clone(),
    }
}
