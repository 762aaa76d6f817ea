//! Old names of pins: a pin of a subgraph, or of a node in Lua, lists the names that it had
//! (`was`). Graphs that still use one are compiled as if they had the new name, with a note, and
//! tools write the new names into their sources.

use super::merge::edit_renamed;
use super::node_type::{Catalogue, Pin};
use super::pins::GraphLoader;
use super::source::{
    GraphSource, ID_BYTES_MAX, InputSource, NodeSource, PROBLEMS_MAX, Problem, WireSource, is_id,
};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::sjson::SjsonTree;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Maximum number of old names of a pin.
pub const OLD_NAMES_MAX: usize = 16;

/// Keys to an entry of a graph, and the new name of the last one.
pub type RenamedKey = (Vec<String>, String);

/// Old and new names of the pins on one side of a node.
type Names = HashMap<String, String>;

/// Old and new names of the pins of a node.
#[derive(Default)]
struct NodeNames {
    inputs: Names,
    outputs: Names,
}

/// The old names that the nodes of a graph can use, by node. Nodes of one type or subgraph share
/// theirs.
#[derive(Default)]
pub struct OldNames {
    nodes: HashMap<String, Arc<NodeNames>>,
}

/// Returns the first name that two of the pins had.
pub fn ambiguous_old_name(pins: &[Pin]) -> Option<&str> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let names =
        pins.iter().enumerate().flat_map(|(at, pin)| pin.was.iter().map(move |old| (at, old)));
    for (at, old) in names {
        if *known.entry(old).or_insert(at) != at {
            return Some(old);
        }
    }
    None
}

/// Returns the old names of pins. A pin that has such a name now keeps it, and a name that two pins
/// had means neither.
fn names(pins: &[Pin]) -> Names {
    if pins.iter().all(|pin| pin.was.is_empty()) {
        return Names::new();
    }
    let now: HashSet<&str> = pins.iter().map(|pin| pin.name.as_str()).collect();
    let mut found: HashMap<&str, Option<&str>> = HashMap::new();
    for pin in pins {
        for old in pin.was.iter().filter(|old| !now.contains(&old[..])) {
            let name = found.entry(old).or_insert(Some(&pin.name));
            *name = name.filter(|name| *name == pin.name);
        }
    }
    let known =
        found.into_iter().filter_map(|(old, name)| Some((old.to_string(), name?.to_string())));
    known.collect()
}

/// Returns the old names of the pins of a node, if there are any.
fn names_of(
    node: &NodeSource,
    graph: &GraphSource,
    catalogue: &Catalogue,
    load: &mut GraphLoader,
) -> Option<Arc<NodeNames>> {
    let inner;
    let [inputs, outputs]: [&[Pin]; 2] = match node.kind.as_str() {
        // A graph that cannot be read is reported by the check.
        "graph" => {
            inner = load(node.text_setting("graph")?).ok()?;
            [&inner.inputs, &inner.outputs]
        }
        "graph.inputs" => [&[], &graph.inputs],
        "graph.outputs" => [&graph.outputs, &[]],
        kind => {
            let kind = catalogue.find(kind)?;
            [&kind.inputs, &kind.outputs]
        }
    };
    let found = NodeNames { inputs: names(inputs), outputs: names(outputs) };
    let is_empty = found.inputs.is_empty() && found.outputs.is_empty();
    (!is_empty).then(|| Arc::new(found))
}

impl OldNames {
    /// Returns the old names for the nodes of a graph.
    pub fn of(graph: &GraphSource, catalogue: &Catalogue, load: &mut GraphLoader) -> OldNames {
        let mut found = OldNames::default();
        let mut known: HashMap<(&str, &str), Option<Arc<NodeNames>>> = HashMap::new();
        for node in &graph.nodes {
            let subgraph = node.text_setting("graph").filter(|_| node.kind == "graph");
            let shared = known.entry((&node.kind, subgraph.unwrap_or_default()));
            let names = shared.or_insert_with(|| names_of(node, graph, catalogue, load));
            if let Some(names) = names {
                found.nodes.insert(node.id.clone(), names.clone());
            }
        }
        found
    }

    /// For tests: the number of tables of names, without those that nodes share.
    #[cfg(test)]
    pub fn tables(&self) -> usize {
        self.nodes.values().map(Arc::as_ptr).collect::<HashSet<_>>().len()
    }

    fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn input(&self, node: &str, pin: &str) -> Option<&str> {
        self.nodes.get(node)?.inputs.get(pin).map(String::as_str)
    }

    fn output(&self, node: &str, pin: &str) -> Option<&str> {
        self.nodes.get(node)?.outputs.get(pin).map(String::as_str)
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
        self.renamed(tree).map(|(new, _)| new)
    }

    /// Returns the tree with the new names, and the keys that got one; `None` if it has them all.
    fn renamed(&self, tree: &SjsonTree) -> Option<(SjsonTree, Vec<RenamedKey>)> {
        if self.is_empty() {
            return None;
        }
        let mut new = tree.clone();
        let mut keys = Vec::new();
        let SjsonTree::Object(blocks) = &mut new else { return None };
        for (block, entries) in blocks {
            let SjsonTree::Object(entries) = entries else { continue };
            match block.as_str() {
                "nodes" => entries.iter_mut().for_each(|(id, it)| self.in_node(id, it, &mut keys)),
                "events" => self.in_events(entries, &mut keys),
                _ => {}
            }
        }
        (new != *tree).then_some((new, keys))
    }

    /// Returns the text of a file with the new names in its graph; `None` if it has them. `block`
    /// is the key of the graph in the text, and `tree` the graph.
    ///
    /// # Errors
    /// Returns an error if the text cannot be changed.
    pub fn in_text(
        &self,
        text: &str,
        block: &str,
        tree: &SjsonTree,
    ) -> Result<Option<String>, String> {
        let Some((new, keys)) = self.renamed(tree) else { return Ok(None) };
        edit_renamed(text, block, &keys, &new).map(Some)
    }

    fn in_node(&self, id: &str, node: &mut SjsonTree, keys: &mut Vec<RenamedKey>) {
        let SjsonTree::Object(fields) = node else { return };
        let inputs = fields.iter_mut().find(|(field, _)| field == "inputs");
        let Some((_, SjsonTree::Object(inputs))) = inputs else { return };
        let mut known: HashSet<String> = inputs.iter().map(|(name, _)| name.clone()).collect();
        for (name, value) in inputs {
            if let Some(new) = self.input(id, name)
                && known.insert(new.to_string())
            {
                let path = ["nodes", id, "inputs", name].map(str::to_string).to_vec();
                keys.push((path, new.to_string()));
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

    fn in_events(&self, entries: &mut Vec<(String, SjsonTree)>, keys: &mut Vec<RenamedKey>) {
        let mut known: HashSet<String> = entries.iter().map(|(key, _)| key.clone()).collect();
        entries.retain_mut(|(key, _)| {
            let Some(new) = WireSource::of_key(key).and_then(|wire| self.wire(&wire)) else {
                return true;
            };
            // Both names can be there, after a merge.
            let is_first = known.insert(new.key());
            if is_first {
                keys.push((vec!["events".to_string(), key.clone()], new.key()));
            }
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
        node.inputs.sort_compact_by(|a, b| a.0.cmp(&b.0));
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
pub fn read_was(pin: &str, value: Option<&SjsonTree>) -> Result<Vec<String>, String> {
    let must = || {
        format!(
            "'was' must be an old name of the pin, or a list of at most {OLD_NAMES_MAX} \
             (OLD_NAMES_MAX)"
        )
    };
    let was = match value {
        None => Vec::new(),
        Some(SjsonTree::String(name)) => vec![name.clone()],
        Some(SjsonTree::Array(items)) if items.len() <= OLD_NAMES_MAX => {
            let name = |item: &SjsonTree| match item {
                SjsonTree::String(name) => Ok(name.clone()),
                _ => Err(must()),
            };
            items.iter().map(name).collect::<Result<_, _>>()?
        }
        Some(_) => return Err(must()),
    };
    was.iter().try_for_each(|old| check_old_name(pin, old))?;
    Ok(was)
}

/// Refuses an old name that no pin can have had, or that changes nothing.
fn check_old_name(pin: &str, old: &str) -> Result<(), String> {
    if old == pin {
        return Err("'was' has the name that the pin has now: remove it".to_string());
    }
    match is_id(old) {
        true => Ok(()),
        false => Err(format!(
            "'was' has {:?}, which is no name of a pin: use at most {ID_BYTES_MAX} letters, digits \
             and '_' (ID_BYTES_MAX)",
            old.chars().take(ID_BYTES_MAX).collect::<String>()
        )),
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
