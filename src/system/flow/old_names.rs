//! Old names of pins: a pin of a subgraph, or of a node in Lua, lists the names that it had (`was`).
//! Graphs that still use one are compiled as if they had the new name, with a note, and tools write
//! the new names into their sources.

use super::node_type::{Catalogue, Pin};
use super::pins::GraphLoader;
use super::source::{GraphSource, InputSource, NodeSource, PROBLEMS_MAX, Problem, WireSource};
use engine_foundation::sjson::SjsonTree;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Maximum number of old names of a pin.
pub const OLD_NAMES_MAX: usize = 16;

/// Old and new names of the pins on one side of a node.
type Names = HashMap<String, String>;

/// The old names that the nodes of a graph can use, by node.
#[derive(Default)]
pub struct OldNames {
    inputs: HashMap<String, Names>,
    outputs: HashMap<String, Names>,
}

/// Returns the old names of pins. A pin that has such a name now keeps it.
fn names(pins: &[Pin]) -> Names {
    if pins.iter().all(|pin| pin.was.is_empty()) {
        return Names::new();
    }
    let now: HashSet<&str> = pins.iter().map(|pin| pin.name.as_str()).collect();
    let mut found = Names::new();
    for pin in pins {
        for old in pin.was.iter().filter(|old| !now.contains(&old[..])) {
            found.entry(old.clone()).or_insert_with(|| pin.name.clone());
        }
    }
    found
}

impl OldNames {
    /// Returns the old names for the nodes of a graph.
    pub fn of(graph: &GraphSource, catalogue: &Catalogue, load: &mut GraphLoader) -> OldNames {
        let mut found = OldNames::default();
        for node in &graph.nodes {
            found.add(node, graph, catalogue, load);
        }
        found
    }

    fn add(
        &mut self,
        node: &NodeSource,
        graph: &GraphSource,
        catalogue: &Catalogue,
        load: &mut GraphLoader,
    ) {
        let inner;
        let sides: [&[Pin]; 2] = match node.kind.as_str() {
            // A graph that cannot be read is reported by the check.
            "graph" => match node.text_setting("graph").map(&mut *load) {
                Some(Ok(graph)) => {
                    inner = graph;
                    [&inner.inputs, &inner.outputs]
                }
                _ => return,
            },
            "graph.inputs" => [&[], &graph.inputs],
            "graph.outputs" => [&graph.outputs, &[]],
            kind => match catalogue.find(kind) {
                Some(kind) => [&kind.inputs, &kind.outputs],
                None => return,
            },
        };
        for (side, pins) in [&mut self.inputs, &mut self.outputs].into_iter().zip(sides) {
            let names = names(pins);
            if !names.is_empty() {
                side.insert(node.id.clone(), names);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.outputs.is_empty()
    }

    fn input(&self, node: &str, pin: &str) -> Option<&str> {
        self.inputs.get(node)?.get(pin).map(String::as_str)
    }

    fn output(&self, node: &str, pin: &str) -> Option<&str> {
        self.outputs.get(node)?.get(pin).map(String::as_str)
    }

    /// Returns an event wire with the new names of its pins; `None` if it has them.
    fn wire(&self, wire: &WireSource) -> Option<WireSource> {
        let from = self.output(&wire.from, &wire.from_pin);
        let to = self.input(&wire.to, &wire.to_pin);
        (from.is_some() || to.is_some()).then(|| WireSource {
            from_pin: from.unwrap_or(&wire.from_pin).to_string(),
            to_pin: to.unwrap_or(&wire.to_pin).to_string(),
            ..wire.clone()
        })
    }

    /// Returns the tree of a source, or of the changes of an inherited graph, with the new names;
    /// `None` if it has them.
    pub fn in_tree(&self, tree: &SjsonTree) -> Option<SjsonTree> {
        if self.is_empty() {
            return None;
        }
        let mut new = tree.clone();
        let SjsonTree::Object(blocks) = &mut new else { return None };
        for (block, entries) in blocks {
            let SjsonTree::Object(entries) = entries else { continue };
            match block.as_str() {
                "nodes" => entries.iter_mut().for_each(|(id, node)| self.in_node(id, node)),
                "events" => self.in_events(entries),
                _ => {}
            }
        }
        (new != *tree).then_some(new)
    }

    fn in_node(&self, id: &str, node: &mut SjsonTree) {
        let SjsonTree::Object(fields) = node else { return };
        let inputs = fields.iter_mut().find(|(field, _)| field == "inputs");
        let Some((_, SjsonTree::Object(inputs))) = inputs else { return };
        let mut known: HashSet<String> = inputs.iter().map(|(name, _)| name.clone()).collect();
        for (name, value) in inputs {
            if let Some(new) = self.input(id, name)
                && known.insert(new.to_string())
            {
                *name = new.to_string();
            }
            let SjsonTree::Object(fields) = value else { continue };
            if let [(_, SjsonTree::String(wire))] = &mut fields[..]
                && let Some((from, pin)) = wire.trim().split_once('.')
                && let Some(new) = self.output(from, pin)
            {
                *wire = format!("{from}.{new}");
            }
        }
    }

    fn in_events(&self, entries: &mut Vec<(String, SjsonTree)>) {
        let mut known: HashSet<String> = entries.iter().map(|(key, _)| key.clone()).collect();
        entries.retain_mut(|(key, _)| {
            let Some(new) = WireSource::of_key(key).and_then(|wire| self.wire(&wire)) else {
                return true;
            };
            // Both names can be there, after a merge.
            let is_first = known.insert(new.key());
            *key = new.key();
            is_first
        });
    }
}

/// Returns a graph in which old names of pins are replaced by the new ones, and a note for each.
pub fn follow(
    graph: Arc<GraphSource>,
    catalogue: &Catalogue,
    load: &mut GraphLoader,
) -> (Arc<GraphSource>, Vec<Problem>) {
    let names = OldNames::of(&graph, catalogue, load);
    if names.is_empty() {
        return (graph, Vec::new());
    }
    let mut notes = Vec::new();
    let mut new = GraphSource::clone(&graph);
    for node in &mut new.nodes {
        let mut known: HashSet<String> = node.inputs.iter().map(|(name, _)| name.clone()).collect();
        for (name, source) in &mut node.inputs {
            if let InputSource::Wire(from, pin) = source
                && let Some(now) = names.output(from, pin)
            {
                let message = format!("comes from '{from}.{pin}', which is '{from}.{now}' now");
                notes.push(Problem::warning(&node.id, name, message));
                *pin = now.to_string();
            }
            if let Some(now) = names.input(&node.id, name)
                && known.insert(now.to_string())
            {
                notes.push(Problem::warning(&node.id, name, format!("its name is '{now}' now")));
                *name = now.to_string();
            }
        }
        node.inputs.sort_by(|a, b| a.0.cmp(&b.0));
    }
    for wire in &mut new.wires {
        let Some(now) = names.wire(wire) else { continue };
        let message = format!("its pins have other names now: \"{}\"", now.key());
        notes.push(Problem { wire: wire.key(), ..Problem::warning("", "", message) });
        *wire = now;
    }
    if notes.is_empty() {
        return (graph, notes);
    }
    new.sort_wires();
    notes.truncate(PROBLEMS_MAX);
    (Arc::new(new), notes)
}

/// Reads the old names of a pin: a name, or a list of names.
pub fn read_was(value: Option<&SjsonTree>) -> Result<Vec<String>, String> {
    let must = || {
        format!(
            "'was' must be an old name of the pin, or a list of at most {OLD_NAMES_MAX} \
             (OLD_NAMES_MAX)"
        )
    };
    match value {
        None => Ok(Vec::new()),
        Some(SjsonTree::String(name)) => Ok(vec![name.clone()]),
        Some(SjsonTree::Array(items)) if items.len() <= OLD_NAMES_MAX => {
            let name = |item: &SjsonTree| match item {
                SjsonTree::String(name) => Ok(name.clone()),
                _ => Err(must()),
            };
            items.iter().map(name).collect()
        }
        Some(_) => Err(must()),
    }
}

/// Returns the old names as a graph has them.
pub fn was_tree(was: &[String]) -> Option<SjsonTree> {
    match was {
        [] => None,
        [one] => Some(SjsonTree::String(one.clone())),
        all => Some(SjsonTree::Array(all.iter().cloned().map(SjsonTree::String).collect())),
    }
}
