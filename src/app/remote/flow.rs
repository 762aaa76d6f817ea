//! Graphs for remote tools: their list and their sources, validation and saving, the node types,
//! and the events of instances that run, with breakpoints.

use super::message_table::{boolean, number, text};
use super::{IncomingCall, Refusal};
use crate::App;
use crate::flow::GraphFile;
use engine_flow::{
    EventKind, Flow, InstanceId, LiveKnown, MergeConflict, Pin, Problem, Severity, catalogue_tree,
    edit_text, merge, pin_tree, problem_tree,
};
use engine_foundation::hash::murmur64a;
use engine_foundation::json::{self, object};
use engine_foundation::log;
use engine_foundation::sjson::{self, SjsonTree};
use engine_platform::broker;
use engine_runtime::Engine;
use std::time::Instant;

/// Seconds without a question after which the recording of an instance ends.
const TRACE_SECONDS: f64 = 2.0;
/// Levels of subgraphs in which instances are looked for.
const SUBGRAPH_LEVELS_SHOWN: usize = 8;
/// Uses of a subgraph in another graph that are listed.
const SUBGRAPH_PATHS_MAX: usize = 64;
/// CPU time of the functions that nodes call when a tool steps, in seconds.
const STEP_SECONDS: f64 = 5.0;

type Answer = Result<Option<SjsonTree>, Refusal>;

fn refuse(message: impl Into<String>) -> Refusal {
    Refusal::of(message)
}

fn list<T>(items: impl IntoIterator<Item = T>, write: impl FnMut(T) -> SjsonTree) -> SjsonTree {
    SjsonTree::Array(items.into_iter().map(write).collect())
}

/// Returns the number of bytes shared and of each instance.
fn sizes(size: Option<engine_flow::ProgramSize>) -> SjsonTree {
    size.map_or(SjsonTree::Null, |size| {
        object([("static", json::count(size.program)), ("dynamic", json::count(size.instance))])
    })
}

/// Lists the graphs of the game.
pub fn graphs(call: &mut IncomingCall) -> Answer {
    let mut found = Vec::new();
    for name in call.app.graph_names() {
        let Ok(file) = call.app.read_graph(&name) else { continue };
        let is_empty = file.tree == SjsonTree::Object(Vec::new());
        if is_empty && !file.block().is_empty() {
            continue;
        }
        let validated = call.app.validate_graph(&file, &file.tree);
        let errors = validated.problems.iter().filter(|one| one.severity == Severity::Error);
        let flow = call.app.vm().engine().worlds.flow.get();
        let instances = flow.find_program(&name).map_or(0, |index| flow.instances_of(index).len());
        let nodes = match file.tree.get("nodes") {
            Some(SjsonTree::Object(nodes)) => nodes.len(),
            _ => 0,
        };
        found.push(object([
            ("graph", json::text(&name)),
            ("path", json::text(&file.path)),
            ("instances", json::count(instances)),
            ("nodes", json::count(nodes)),
            ("problems", json::count(errors.count())),
            ("size", sizes(validated.size)),
        ]));
    }
    Ok(Some(object([("graphs", SjsonTree::Array(found))])))
}

/// Returns the node types.
pub fn nodes(call: &mut IncomingCall) -> Answer {
    call.app.ready_flow();
    Ok(Some(object(catalogue_tree(&call.app.vm().engine().worlds.flow.get().catalogue))))
}

fn open_file(call: &mut IncomingCall) -> Result<GraphFile, Refusal> {
    let name = text(call.fields, "graph").unwrap_or_default().to_string();
    let file = call.app.read_graph(&name).map_err(|error| refuse(error.message))?;
    // A graph in the file would replace the shared one, which other units may use.
    let tree = sjson::parse(&file.text).map(|document| document.to_tree());
    match tree.as_ref().ok().and_then(|tree| tree.get(file.block())) {
        Some(SjsonTree::String(shared)) => {
            Err(refuse(format!("{name} uses the shared graph '{shared}': open {shared}.flow")))
        }
        _ => Ok(file),
    }
}

/// Returns the tree of a source in a field.
fn source(fields: &SjsonTree, name: &str) -> Result<SjsonTree, Refusal> {
    let text = text(fields, name).unwrap_or_default();
    json::read(text).map_err(|message| refuse(format!("'{name}' is no JSON: {message}")))
}

/// Returns a text that differs for other contents of a file.
fn revision(text: &str) -> SjsonTree {
    json::text(format!("{:016x}", murmur64a(text.as_bytes(), 0)))
}

/// Returns the source of a graph.
pub fn open(call: &mut IncomingCall) -> Answer {
    let file = open_file(call)?;
    let now = revision(&file.text);
    if call.fields.get("known") == Some(&now) {
        let graph = json::text(file.resource.to_string());
        let unchanged = SjsonTree::Bool(true);
        return Ok(Some(object([("graph", graph), ("revision", now), ("unchanged", unchanged)])));
    }
    Ok(Some(object([
        ("graph", json::text(file.resource.to_string())),
        ("revision", now),
        ("path", json::text(&file.path)),
        ("kind", json::text(&file.resource.kind)),
        ("units", json::texts(file.units.iter().map(String::as_str))),
        ("source", json::text(json::write(&file.tree))),
    ])))
}

/// Validates a source.
pub fn validate(call: &mut IncomingCall) -> Answer {
    let file = open_file(call)?;
    let tree = source(call.fields, "source")?;
    let validated = call.app.validate_graph(&file, &tree);
    let changes = call.app.vm().engine().worlds.flow.get().catalogue.changes();
    // A graph with missing resources runs, so that they are warnings for its editor.
    let missing: Vec<Problem> = validated
        .missing
        .into_iter()
        .map(|problem| Problem { severity: Severity::Warning, ..problem })
        .collect();
    let pins = |pins: &[Pin]| list(pins, pin_tree);
    let dynamic = validated.pins.into_iter().map(|(node, found)| {
        let tree = object([("inputs", pins(&found.inputs)), ("outputs", pins(&found.outputs))]);
        (node, tree)
    });
    Ok(Some(object([
        ("problems", list(validated.problems.iter().chain(&missing), problem_tree)),
        ("pins", SjsonTree::Object(dynamic.collect())),
        ("size", sizes(validated.size)),
        ("catalogue", json::count(changes as usize)),
        (
            "renamed",
            validated.renamed.map_or(SjsonTree::Null, |tree| json::text(json::write(&tree))),
        ),
    ])))
}

fn conflict_tree(conflict: &MergeConflict) -> SjsonTree {
    let mut entries = vec![("path".to_string(), json::text(&conflict.path))];
    let sides = [("base", &conflict.base), ("mine", &conflict.mine), ("disk", &conflict.disk)];
    for (name, side) in sides {
        if let Some(side) = side {
            entries.push((name.to_string(), json::text(json::write(side))));
        }
    }
    SjsonTree::Object(entries)
}

/// Saves a source, merged with the file on disk.
pub fn save(call: &mut IncomingCall) -> Answer {
    let name = text(call.fields, "graph").unwrap_or_default().to_string();
    let file = match open_file(call) {
        Ok(file) => file,
        Err(refusal) => call.app.new_graph(&name).ok_or(refusal)?,
    };
    let base = source(call.fields, "base")?;
    let mine = source(call.fields, "source")?;
    let resolve = text(call.fields, "resolve");
    if let Some(resolve) = resolve
        && !["mine", "disk"].contains(&resolve)
    {
        return Err(refuse("'resolve' is \"mine\" or \"disk\""));
    }
    let (merged, conflicts) = merge(&base, &mine, &file.tree, resolve == Some("disk"));
    if !conflicts.is_empty() && resolve.is_none() {
        return Ok(Some(object([
            ("saved", SjsonTree::Bool(false)),
            ("conflicts", list(&conflicts, conflict_tree)),
        ])));
    }
    let text = edit_text(&file.text, file.block(), &merged).map_err(refuse)?;
    let folder = call.app.game_folder().ok_or_else(|| refuse("a bundle has no sources"))?;
    if text != file.text {
        broker::replace_source(&folder, &file.path, text.as_bytes())
            .map_err(|reason| refuse(format!("{} cannot be written: {reason}", file.path)))?;
    }
    let was_changed = json::write(&base) != json::write(&file.tree);
    Ok(Some(object([
        ("saved", SjsonTree::Bool(true)),
        ("merged", SjsonTree::Bool(was_changed)),
        ("revision", revision(&text)),
        ("source", json::text(json::write(&merged))),
    ])))
}

/// Writes the new names of pins into the files of all graphs that use old ones.
pub fn apply_renames(call: &mut IncomingCall) -> Answer {
    let applied = call.app.apply_renames().map_err(|error| refuse(error.message))?;
    let skipped = list(&applied.skipped, |(path, message)| {
        object([("path", json::text(path)), ("message", json::text(message))])
    });
    Ok(Some(object([
        ("graphs", json::texts(applied.graphs.iter().map(String::as_str))),
        ("skipped", skipped),
        ("more", SjsonTree::Bool(applied.has_more)),
    ])))
}

/// Adds the paths of the nodes of a source that use a subgraph, such as `n8/n3/`.
pub fn subgraph_paths(
    app: &mut App,
    graph: &str,
    wanted: &str,
    start: &str,
    depth: usize,
) -> Vec<String> {
    let Ok(file) = app.read_graph(graph) else { return Vec::new() };
    let Some(SjsonTree::Object(nodes)) = file.tree.get("nodes").cloned() else { return Vec::new() };
    let mut paths = Vec::new();
    for (id, node) in nodes {
        let uses = text(&node, "type") == Some("graph");
        let Some(inner) = text(&node, "graph").filter(|_| uses) else { continue };
        let (inner, path) = (format!("{inner}.flow"), format!("{start}{id}/"));
        if inner == wanted {
            paths.push(path.clone());
        }
        if depth < SUBGRAPH_LEVELS_SHOWN && paths.len() < SUBGRAPH_PATHS_MAX {
            paths.extend(subgraph_paths(app, &inner, wanted, &path, depth + 1));
        }
    }
    paths.truncate(SUBGRAPH_PATHS_MAX);
    paths
}

/// Lists the instances of a graph, and those of other graphs that contain it.
pub fn instances(call: &mut IncomingCall) -> Answer {
    let name = text(call.fields, "graph").unwrap_or_default().to_string();
    let mut rows = Vec::new();
    let subgraph = name.strip_suffix(".flow").map(str::to_string);
    let programs = call.app.vm().engine().worlds.flow.get().program_names();
    for (program, index) in programs {
        let flow = call.app.vm().engine().worlds.flow.get();
        let found = flow.instances_of(index);
        let contains = |sub: &String| flow.program(index).graphs.contains(sub);
        let prefixes = match &subgraph {
            _ if found.is_empty() => continue,
            _ if program == name => vec![String::new()],
            Some(sub) if contains(sub) => subgraph_paths(call.app, &program, &name, "", 0),
            _ => continue,
        };
        for id in found {
            for prefix in &prefixes {
                rows.push(instance_tree(call.app.vm().engine(), id, &program, prefix));
            }
        }
    }
    Ok(Some(object([("instances", SjsonTree::Array(rows))])))
}

fn instance_tree(engine: &Engine, id: InstanceId, program: &str, prefix: &str) -> SjsonTree {
    let flow = engine.worlds.flow.get();
    let mut entries = vec![
        ("instance".to_string(), SjsonTree::Number(id.to_number())),
        ("graph".to_string(), json::text(program)),
        ("prefix".to_string(), json::text(prefix)),
    ];
    let Some(owner) = flow.owner(id) else { return SjsonTree::Object(entries) };
    entries.push(("world".to_string(), SjsonTree::Number(owner.world.to_number())));
    for (name, handle) in [("unit", owner.unit), ("level", owner.level)] {
        if let Some(handle) = handle {
            entries.push((name.to_string(), SjsonTree::Number(handle.to_number())));
        }
    }
    let handle = owner.unit.or(owner.level).unwrap_or(owner.world);
    let name = engine.flow_owner_name(handle);
    entries.push(("name".to_string(), json::text(name)));
    if let Some(unit) = owner.unit.filter(|unit| engine.worlds.units.slots.get(*unit).is_some()) {
        let position = engine.worlds.units.scene.local_position(unit.index() as u32, 0);
        let numbers = position.to_array().map(f64::from);
        entries.push(("position".to_string(), json::numbers(numbers)));
    }
    SjsonTree::Object(entries)
}

fn instance_of(call: &mut IncomingCall) -> Result<InstanceId, Refusal> {
    let number = number(call.fields, "instance").unwrap_or(0.0);
    let flow = call.app.vm().engine().worlds.flow.get();
    let id = InstanceId::from_number(number).filter(|id| flow.instance(*id).is_some());
    id.ok_or_else(|| refuse("the instance is gone"))
}

/// Returns seconds since the first call, for the recording of events.
pub fn now() -> f64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

fn stopped_tree(flow: &Flow) -> SjsonTree {
    flow.stopped_node().map_or(SjsonTree::Null, |stopped| {
        object([
            ("node", json::text(stopped.node)),
            ("instance", SjsonTree::Number(stopped.instance.to_number())),
            ("graph", json::text(stopped.graph)),
        ])
    })
}

/// Returns the newest events of an instance, and its values.
pub fn live(call: &mut IncomingCall) -> Answer {
    let number_of_instance = number(call.fields, "instance").and_then(InstanceId::from_number);
    let flow = call.app.vm().engine().worlds.flow.get_mut();
    flow.end_old_traces(now(), TRACE_SECONDS);
    // The last events of an instance that has ended are still there for a while.
    let id = match number_of_instance.filter(|id| flow.is_recorded(*id)) {
        Some(id) => id,
        None => instance_of(call)?,
    };
    let field = |name| number(call.fields, name).unwrap_or(0.0) as u64;
    let known = LiveKnown { event: field("after"), values: field("known") };
    let frame = call.app.vm().engine().frame.index;
    let flow = call.app.vm().engine().worlds.flow.get_mut();
    let mut entries = vec![("frame".to_string(), json::count(frame as usize))];
    entries.extend(flow.live(id, known, now()).expect("it was checked"));
    entries.push(("paused".to_string(), stopped_tree(flow)));
    Ok(Some(SjsonTree::Object(entries)))
}

/// Sets or removes a breakpoint; without a node, only lists them.
pub fn breakpoint(call: &mut IncomingCall) -> Answer {
    let graph = text(call.fields, "graph").unwrap_or_default().to_string();
    let node = text(call.fields, "node").map(str::to_string);
    let on = boolean(call.fields, "on");
    let flow = call.app.vm().engine().worlds.flow.get_mut();
    let found = match node {
        Some(node) => flow.set_breakpoint(&graph, &node, on).map_err(refuse)?,
        None => flow.breakpoints(&graph),
    };
    let paused = stopped_tree(flow);
    Ok(Some(object([("breakpoints", json::texts(found)), ("paused", paused)])))
}

fn run(call: &mut IncomingCall) -> Result<(), Refusal> {
    let ran = call.app.vm().call_core("run_flow_events", &[], STEP_SECONDS);
    ran.map(|_| ()).map_err(|report| refuse(report.message))
}

/// Runs the events that have waited at a breakpoint, after the debugger has left: nothing else may
/// run the graph's events in this frame.
pub fn continue_events(app: &mut App) {
    if let Err(report) = app.vm().call_core("run_flow_events", &[], STEP_SECONDS) {
        log::error(&report.to_string());
    }
}

/// Runs one node after a breakpoint.
pub fn step(call: &mut IncomingCall) -> Answer {
    let flow = call.app.vm().engine().worlds.flow.get_mut();
    if flow.stopped_node().is_none() {
        return Err(refuse("no graph is stopped: set a breakpoint first"));
    }
    flow.resume(true);
    run(call)?;
    call.state.needs_redraw = true;
    let paused = stopped_tree(call.app.vm().engine().worlds.flow.get());
    Ok(Some(object([("paused", paused)])))
}

/// Continues events and the game.
pub fn resume(call: &mut IncomingCall) -> Answer {
    call.app.vm().engine().worlds.flow.get_mut().resume(false);
    run(call)?;
    let is_stopped = call.app.vm().engine().worlds.flow.get().stopped_node().is_some();
    (call.state.paused, call.state.is_graph_stopped) = (false, is_stopped);
    Ok(Some(object([])))
}

/// Sends a custom event to an instance.
pub fn event(call: &mut IncomingCall) -> Answer {
    let id = instance_of(call)?;
    let name = text(call.fields, "name").unwrap_or_default().to_string();
    let flow = call.app.vm().engine().worlds.flow.get_mut();
    let taken = flow.raise(id, EventKind::Custom, &name, &[], 0);
    run(call)?;
    call.state.needs_redraw = true;
    Ok(Some(object([("taken", SjsonTree::Bool(taken))])))
}
