//! The differences of two versions of a graph as a picture (SVG): nodes at their positions, with
//! wires. Added parts are green, removed ones red and dashed, changed ones amber. The picture needs
//! no catalogue of node types: it shows the pins that have values or wires.

use super::source::natural_order;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// Pixels of a unit of the editor's grid.
const GRID: f64 = 16.0;
const NODE_WIDTH: f64 = 192.0;
const ROW_HEIGHT: f64 = 18.0;
const MARGIN: f64 = 32.0;
/// Height of the legend above the graph.
const LEGEND: f64 = 36.0;
/// Nodes in a row of those that have no position.
const COLUMNS: usize = 6;
/// Maximum number of characters of a row.
const TEXT_CHARACTERS_MAX: usize = 30;

/// Difference of a part of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PartState {
    Same,
    Added,
    Removed,
    Changed,
}

impl PartState {
    fn of<T: PartialEq>(old: Option<&T>, new: Option<&T>) -> PartState {
        match (old, new) {
            (Some(old), Some(new)) if old == new => PartState::Same,
            (Some(_), Some(_)) => PartState::Changed,
            (None, _) => PartState::Added,
            _ => PartState::Removed,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            PartState::Same => "same",
            PartState::Added => "added",
            PartState::Removed => "removed",
            PartState::Changed => "changed",
        }
    }
}

const STYLE: &str = "text { font: 12px sans-serif; fill: #222; } .title { font-weight: bold; } \
    .kind { fill: #666; } rect.node { fill: #fff; stroke-width: 1.5; } \
    path { fill: none; stroke-width: 2; } path.value { stroke-width: 1.5; } \
    .same { stroke: #8a8f98; } .added { stroke: #1a8f3c; } .changed { stroke: #c77700; } \
    .removed { stroke: #c92a2a; stroke-dasharray: 6 4; } text { stroke: none !important; } \
    text.added { fill: #1a8f3c; } text.removed { fill: #c92a2a; text-decoration: line-through; } \
    text.changed { fill: #a86400; }";

/// One line of a node: an input, a setting, or pins with wires.
struct Row {
    /// Name of the pin, for wires; the inputs are at the left side.
    pin: String,
    is_output: bool,
    text: String,
    state: PartState,
}

struct NodeBox {
    state: PartState,
    kind: String,
    x: f64,
    y: f64,
    rows: Vec<Row>,
}

impl NodeBox {
    fn height(&self) -> f64 {
        ROW_HEIGHT * (self.rows.len() + 2) as f64 + 8.0
    }

    /// Returns the point of a pin, which has a row.
    fn pin(&self, name: &str, is_output: bool) -> (f64, f64) {
        let at = self.rows.iter().position(|row| row.pin == name && row.is_output == is_output);
        let row = at.map_or(0.5, |at| at as f64 + 2.0);
        let x = if is_output { self.x + NODE_WIDTH } else { self.x };
        (x, self.y + ROW_HEIGHT * (row + 0.5) + 4.0)
    }
}

/// A wire between two pins.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Wire {
    from: (String, String),
    to: (String, String),
    is_event: bool,
}

/// One version of the graph.
struct Version<'a> {
    nodes: BTreeMap<&'a str, &'a SjsonTree>,
    wires: BTreeSet<Wire>,
    positions: BTreeMap<&'a str, [f64; 2]>,
}

fn entries<'a>(tree: &'a SjsonTree, block: &str) -> &'a [(String, SjsonTree)] {
    match tree.get(block) {
        Some(SjsonTree::Object(entries)) => entries,
        _ => &[],
    }
}

fn ends(text: &str) -> Option<(String, String)> {
    let (node, pin) = text.trim().split_once('.')?;
    Some((node.to_string(), pin.trim().to_string()))
}

impl<'a> Version<'a> {
    fn of(graph: &'a SjsonTree) -> Version<'a> {
        let nodes: BTreeMap<&str, &SjsonTree> =
            entries(graph, "nodes").iter().map(|(id, node)| (id.as_str(), node)).collect();
        let mut wires: BTreeSet<Wire> = entries(graph, "events")
            .iter()
            .filter_map(|(key, _)| {
                let (from, to) = key.split_once('>')?;
                Some(Wire { from: ends(from)?, to: ends(to)?, is_event: true })
            })
            .collect();
        for (id, node) in &nodes {
            for (input, value) in entries(node, "inputs") {
                if let Some(SjsonTree::String(wire)) = value.get("wire")
                    && let Some(from) = ends(wire)
                {
                    let to = (id.to_string(), input.clone());
                    wires.insert(Wire { from, to, is_event: false });
                }
            }
        }
        let positions = entries(graph, "positions").iter().filter_map(|(id, value)| match value {
            SjsonTree::Array(items) => match items[..] {
                [SjsonTree::Number(x), SjsonTree::Number(y)] if (x + y).is_finite() => {
                    Some((id.as_str(), [x.clamp(-1e5, 1e5), y.clamp(-1e5, 1e5)]))
                }
                _ => None,
            },
            _ => None,
        });
        Version { nodes, wires, positions: positions.collect() }
    }
}

/// Returns the values of a node that rows show: settings, and inputs without wires.
fn values(node: Option<&SjsonTree>) -> BTreeMap<(bool, String), String> {
    let mut values = BTreeMap::new();
    let Some(SjsonTree::Object(fields)) = node else { return values };
    for (name, value) in fields.iter().filter(|(name, _)| name != "type" && name != "inputs") {
        values.insert((false, name.clone()), json::write(value));
    }
    for (name, value) in node.map_or(&[][..], |node| entries(node, "inputs")) {
        if value.get("wire").is_none() {
            values.insert((true, name.clone()), json::write(value));
        }
    }
    values
}

fn kind(node: Option<&&SjsonTree>) -> String {
    match node.and_then(|node| node.get("type")) {
        Some(SjsonTree::String(kind)) => kind.clone(),
        _ => String::new(),
    }
}

struct Picture<'a> {
    old: Version<'a>,
    new: Version<'a>,
    /// All wires, each once.
    wires: Vec<Wire>,
    /// Indices of the wires at the pins of each node.
    of_node: HashMap<String, Vec<usize>>,
}

impl Picture<'_> {
    fn wire_state(&self, wire: &Wire) -> PartState {
        PartState::of(self.old.wires.get(wire), self.new.wires.get(wire))
    }

    /// Returns the wires at the pins of a node.
    fn wires_of(&self, id: &str) -> Vec<&Wire> {
        let found = self.of_node.get(id).into_iter().flatten();
        found.map(|at| &self.wires[*at]).collect()
    }

    /// Returns the lines of a node: event inputs, values and wires, outputs.
    fn rows(&self, id: &str) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let own = self.wires_of(id);
        let pin_rows = |rows: &mut Vec<Row>, is_output: bool, events: bool| {
            for wire in own.iter().filter(|wire| wire.is_event == events) {
                let (node, pin) = if is_output { &wire.from } else { &wire.to };
                let known = rows.iter().any(|row| row.pin == *pin && row.is_output == is_output);
                if node == id && !known {
                    let (pin, text) = (pin.clone(), pin.clone());
                    rows.push(Row { pin, is_output, text, state: PartState::Same });
                }
            }
        };
        pin_rows(&mut rows, false, true);
        let (old, new) = (self.old.nodes.get(id), self.new.nodes.get(id));
        let (before, after) = (values(old.copied()), values(new.copied()));
        let mut keys: Vec<&(bool, String)> = before.keys().chain(after.keys()).collect();
        keys.sort_compact();
        keys.dedup();
        for key in keys {
            let (old, new) = (before.get(key), after.get(key));
            let text = match (old, new) {
                (Some(old), Some(new)) if old != new => format!("{}: {old} → {new}", key.1),
                (_, Some(value)) | (Some(value), None) => format!("{}: {value}", key.1),
                (None, None) => continue,
            };
            let state = PartState::of(old, new);
            rows.push(Row { pin: key.1.clone(), is_output: false, text, state });
        }
        pin_rows(&mut rows, false, false);
        pin_rows(&mut rows, true, true);
        pin_rows(&mut rows, true, false);
        rows
    }

    /// Returns the boxes of all nodes, by id.
    fn boxes(&self) -> BTreeMap<String, NodeBox> {
        let mut ids: Vec<&str> =
            self.old.nodes.keys().chain(self.new.nodes.keys()).copied().collect();
        ids.sort_compact_by(|a, b| natural_order(a, b));
        ids.dedup();
        let known =
            |id: &str| self.new.positions.get(id).or_else(|| self.old.positions.get(id)).copied();
        let lowest = ids.iter().filter_map(|id| known(id)).map(|[_, y]| y).fold(0.0, f64::max);
        let mut unplaced = 0;
        let mut boxes = BTreeMap::new();
        for id in ids {
            let [x, y] = known(id).unwrap_or_else(|| {
                let (column, row) = (unplaced % COLUMNS, unplaced / COLUMNS);
                unplaced += 1;
                [column as f64 * 16.0, lowest + 14.0 * (row + 1) as f64]
            });
            let (old, new) = (self.old.nodes.get(id), self.new.nodes.get(id));
            let kind = match (kind(old), kind(new)) {
                (old, new) if new.is_empty() || old == new => old,
                (old, new) if old.is_empty() => new,
                (old, new) => format!("{old} → {new}"),
            };
            let (state, rows) = (PartState::of(old, new), self.rows(id));
            let node = NodeBox { state, kind, x: x * GRID, y: y * GRID, rows };
            boxes.insert(id.to_string(), node);
        }
        boxes
    }
}

fn escaped(text: &str) -> String {
    let mut shown: String = text.chars().take(TEXT_CHARACTERS_MAX).collect();
    if text.chars().count() > TEXT_CHARACTERS_MAX {
        shown.push('…');
    }
    shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn draw_node(svg: &mut String, id: &str, node: &NodeBox) {
    let (x, y, class) = (node.x, node.y, node.state.class());
    let height = node.height();
    let _ = writeln!(
        svg,
        "<rect class=\"node {class}\" x=\"{x}\" y=\"{y}\" width=\"{NODE_WIDTH}\" \
         height=\"{height}\" rx=\"6\"/>\n\
         <text class=\"title {class}\" x=\"{}\" y=\"{}\">{}</text>\n\
         <text class=\"kind\" x=\"{}\" y=\"{}\">{}</text>",
        x + 8.0,
        y + ROW_HEIGHT - 2.0,
        escaped(id),
        x + 8.0,
        y + ROW_HEIGHT * 2.0 - 4.0,
        escaped(&node.kind),
    );
    for (at, row) in node.rows.iter().enumerate() {
        let (end, x) = match row.is_output {
            true => (" text-anchor=\"end\"", x + NODE_WIDTH - 8.0),
            false => ("", x + 8.0),
        };
        let y = y + ROW_HEIGHT * (at as f64 + 3.0) - 1.0;
        let (class, text) = (row.state.class(), escaped(&row.text));
        let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{end}>{text}</text>");
    }
}

/// Returns the picture of the differences between two versions of a graph, as the text of an SVG
/// file. The trees are those of the sources, with their positions.
pub fn difference_svg(old: &SjsonTree, new: &SjsonTree) -> String {
    let (old, new) = (Version::of(old), Version::of(new));
    let wires: Vec<Wire> = old.wires.union(&new.wires).cloned().collect();
    let mut of_node: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, wire) in wires.iter().enumerate() {
        of_node.entry(wire.from.0.clone()).or_default().push(at);
        of_node.entry(wire.to.0.clone()).or_default().push(at);
    }
    let picture = Picture { old, new, wires, of_node };
    let boxes = picture.boxes();
    let edge = |value: fn(&NodeBox) -> f64, pick: fn(f64, f64) -> f64| {
        boxes.values().map(value).reduce(pick).unwrap_or(0.0)
    };
    let (left, top) = (edge(|it| it.x, f64::min), edge(|it| it.y, f64::min));
    let right = edge(|it| it.x + NODE_WIDTH, f64::max);
    let bottom = edge(|it| it.y + it.height(), f64::max);
    let (x, y) = (left - MARGIN, top - MARGIN - LEGEND);
    let (width, height) = (right - x + MARGIN, bottom - y + MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{x} {y} {width} {height}\" \
         width=\"{width}\" height=\"{height}\">\n<style>{STYLE}</style>\n\
         <rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"#f4f5f7\"/>\n"
    );
    for (at, name) in ["added", "removed", "changed"].into_iter().enumerate() {
        let at = x + MARGIN + 80.0 * at as f64;
        let y = y + MARGIN;
        let _ = writeln!(svg, "<text class=\"title {name}\" x=\"{at}\" y=\"{y}\">{name}</text>");
    }
    for wire in &picture.wires {
        let (Some(from), Some(to)) = (boxes.get(&wire.from.0), boxes.get(&wire.to.0)) else {
            continue;
        };
        let ((x1, y1), (x2, y2)) = (from.pin(&wire.from.1, true), to.pin(&wire.to.1, false));
        let bend = ((x2 - x1).abs() / 2.0).clamp(24.0, 120.0);
        let (class, kind) =
            (picture.wire_state(wire).class(), if wire.is_event { "event" } else { "value" });
        let _ = writeln!(
            svg,
            "<path class=\"{kind} {class}\" d=\"M{x1} {y1} C{} {y1} {} {y2} {x2} {y2}\"/>",
            x1 + bend,
            x2 - bend
        );
    }
    boxes.iter().for_each(|(id, node)| draw_node(&mut svg, id, node));
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    const OLD: &str = "nodes = { go = { type = \"event.spawned\" } \
        add = { type = \"variable.add\" variable = \"a<b\" inputs = { amount = 1 } } \
        lost = { type = \"debug.print\" inputs = { value = { wire = \"add.value\" } } } }\n\
        events = { \"go.out > add.in\" = true \"add.out > lost.in\" = true }\n\
        positions = { go = [0, 0] add = [14, 2] }";
    const NEW: &str = "nodes = { go = { type = \"event.spawned\" } \
        add = { type = \"variable.add\" variable = \"a<b\" inputs = { amount = 2 } } \
        wait = { type = \"flow.delay\" } }\n\
        events = { \"go.out > add.in\" = true \"add.out > wait.in\" = true }\n\
        positions = { go = [0, 0] add = [14, 2] wait = [28, 2] }";

    #[test]
    fn differences_are_marked_at_nodes_values_and_wires() {
        let svg = difference_svg(&tree(OLD), &tree(NEW));
        for part in [
            "<rect class=\"node same\" x=\"0\" y=\"0\"",
            "<rect class=\"node changed\" x=\"224\" y=\"32\"",
            "<rect class=\"node added\" x=\"448\" y=\"32\"",
            "<rect class=\"node removed\"",
            "class=\"changed\" x=\"232\"",
            ">amount: 1 → 2</text>",
            ">variable: &quot;a&lt;b&quot;</text>",
            "<path class=\"event same\"",
            "<path class=\"event added\"",
            "<path class=\"event removed\"",
            "<path class=\"value removed\"",
        ] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
        let paths = svg.lines().filter(|line| line.starts_with("<path")).count();
        assert_eq!(paths, 4, "{svg}");
    }

    #[test]
    fn equal_and_wrong_graphs_have_pictures() {
        let svg = difference_svg(&tree(OLD), &tree(OLD));
        assert!(!svg.contains("class=\"node added") && !svg.contains("class=\"node removed"));
        let wrong = "nodes = { a = 3 b = { inputs = 4 } } events = { \"x\" = true \"a.b > q.r\" = \
            true } positions = { a = [1] b = [1e300, 0] }";
        let svg = difference_svg(&tree(wrong), &SjsonTree::Null);
        assert!(svg.ends_with("</svg>\n") && svg.matches("node removed").count() == 2, "{svg}");
    }
}
