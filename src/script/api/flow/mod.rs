//! The native part of Flow, for the prelude (lua/flow/flow.lua): graphs of units and levels, the
//! events that they get, and the functions that their nodes call. Values are passed one by one, so
//! that a call allocates nothing.

mod lua_nodes;
mod native;
mod nodes;
mod step;
mod unit_nodes;

use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{Integer, TextArgument};
use crate::return_value::ExpectedResult;
use crate::value::ScriptValue;
use engine_flow::{EventKind, InstanceId, Slot};
use engine_foundation::{Color, Handle, HandleKind, Quat, Vec3};
use engine_runtime::Engine;
use engine_world::WorldId;
use engine_world::level::LevelId;
use engine_world::unit::UnitId;

pub use nodes::{engine_names, function_type, function_types, manual_types};

const OWNER: (&str, &str) = ("owner", "a unit or a level");
const AT: (&str, &str) = ("at", "index from 1");

/// Native functions in the prelude's table `core`.
pub static CORE: ModuleRows = module(
    "core",
    "Graphs of visual scripting, for the prelude.",
    "assert(core == nil)",
    &[
        func("flow_is_ready", is_ready, &[], "Returns true if all node types were added.").pure(),
        func("flow_add_functions", nodes::add_functions, &[], "Adds node types of functions."),
        func(
            "flow_add_node",
            nodes::add_node,
            &[("name", ""), ("file", "its file; empty for the engine"), ("node", "its fields")],
            "Adds a node type that is written in Lua.",
        ),
        func("flow_remove_nodes", nodes::remove_nodes, &[], "Removes the node types of the game."),
        func("flow_recompile", recompile, &[], "Compiles all graphs again, if node types changed."),
        func("flow_function", nodes::function, &[AT], "Describes the function of a node type.")
            .pure(),
        func("flow_create_unit", create_unit, &[("unit", "")], "Creates the graph of a unit."),
        func("flow_create_level", create_level, &[("level", "")], "Creates the graph of a level."),
        func(
            "flow_level_has_graph",
            level_has_graph,
            &[("level", "")],
            "Returns true if the file of a level has a graph.",
        )
        .pure(),
        func(
            "flow_variable_type",
            variable_type,
            &[OWNER, ("name", "")],
            "Returns the type of a variable, or nil and the message of an error.",
        )
        .pure(),
        func("flow_start", start, &[OWNER], "Sends the first events."),
        func("flow_end", end, &[OWNER], "Destroys the graph of a unit or a level."),
        func(
            "flow_begin_end",
            begin_end,
            &[OWNER],
            "Sends the last event of a graph; true if it has to run now.",
        ),
        func("flow_finish_nested", finish_nested, &[], "Ends events inside of a function."),
        func("flow_recover", recover, &[], "Ends functions that did not return."),
        hot("flow_count", count, &[], "Returns the number of graphs.").pure(),
        hot("flow_has", has, &[OWNER], "Returns true if a unit or a level has a graph.").pure(),
        func("flow_update", update, &[("world", ""), ("delta", "")], "Sends events of an update."),
        func("flow_action_names", action_names, &[], "Returns the actions.").pure(),
        hot(
            "flow_actions_changes",
            actions_changes,
            &[],
            "Returns the number of their last change.",
        )
        .pure(),
        func("flow_new_owners", new_owners, &[], "Returns units and levels that get a graph."),
        func(
            "flow_raise_action",
            raise_action,
            &[("world", ""), ("name", ""), ("pressed", "")],
            "Sends the change of an action.",
        ),
        func(
            "flow_report_missing_action",
            report_missing_action,
            &[("name", ""), ("hint", "the end of the message")],
            "Reports the nodes of graphs that wait for an action that does not exist.",
        ),
        func(
            "flow_raise",
            raise,
            &[OWNER, ("name", ""), ("kind", "its number")],
            "Sends an event, a custom one with the first result; true if the graph receives it.",
        ),
        func(
            "flow_receives",
            receives,
            &[OWNER, ("name", "")],
            "Returns true if it has the event.",
        )
        .pure(),
        hot(
            "flow_step",
            step::step,
            &[
                ("outputs", "bits of the event outputs that continue; -1 without a call"),
                ("kinds", "the kinds of the results; -1 for those that were added"),
                ("first", "the first result"),
                ("second", "the second result"),
            ],
            "Stores the results and runs events; returns the code of the next call.",
        ),
        func("flow_plain_inputs", step::plain_inputs, &[], "Returns the address of plain inputs.")
            .pure(),
        hot("flow_input_tag", input_tag, &[AT], "Returns the kind of an input.").pure(),
        hot("flow_input_number", input_number, &[AT], "Returns an input.").pure(),
        hot("flow_input_vector", input_vector, &[AT], "Returns an input.").pure(),
        hot("flow_input_rotation", input_rotation, &[AT], "Returns an input.").pure(),
        hot("flow_input_color", input_color, &[AT], "Returns an input.").pure(),
        func("flow_input_text", input_text, &[AT], "Returns an input.").pure(),
        func("flow_open_list", open_list, &[AT], "Adds the items of a list to the inputs.").pure(),
        func("flow_close_list", close_list, &[("before", "")], "Removes added inputs.").pure(),
        hot("flow_clear_results", clear_results, &[], "Removes results."),
        hot("flow_result_nil", result_nil, &[], "Adds a result."),
        hot("flow_result_number", result_number, &[("value", "")], "Adds a result."),
        hot("flow_result_boolean", result_boolean, &[("value", "")], "Adds a result."),
        hot(
            "flow_result_handle",
            result_handle,
            &[("value", "")],
            "Adds a result; false if the number is no handle.",
        ),
        hot(
            "flow_result_object",
            result_object,
            &[("value", "")],
            "Adds a result; false if the number was never an object.",
        ),
        hot("flow_result_vector", result_vector, &[("value", "")], "Adds a result."),
        hot("flow_result_rotation", result_rotation, &[("value", "")], "Adds a result."),
        hot("flow_result_color", result_color, &[("value", "")], "Adds a result."),
        func(
            "flow_result_text",
            result_text,
            &[("value", "")],
            "Adds a result; returns the message of an error.",
        ),
        func(
            "flow_result_list",
            result_list,
            &[("items", "number of results")],
            "Joins results; returns the message of an error.",
        ),
        func(
            "flow_fail",
            fail,
            &[("message", "")],
            "Ends the event of a function that failed; false if none was being called.",
        ),
        func("flow_callback", callback, &[], "Returns owner and name of an event for scripts.")
            .pure(),
        func("flow_context", context, &[], "Returns unit, level, world, graph and node.").pure(),
        func(
            "flow_variable",
            variable,
            &[OWNER, ("name", "")],
            "Makes a variable the input 1; returns the message of an error.",
        ),
        func(
            "flow_set_variable",
            set_variable,
            &[OWNER, ("name", "")],
            "Sets a variable to the result 1; returns the message of an error.",
        ),
        func(
            "flow_inspect",
            inspect,
            &[OWNER],
            "Describes a graph, or returns nil and the message of an error.",
        )
        .pure(),
    ],
);

fn handle(number: f64) -> Option<Handle> {
    Handle::from_number(number)
}

fn instance(engine: &Engine, owner: f64) -> Option<InstanceId> {
    engine.worlds.flow.get().instance_of(handle(owner)?)
}

/// Returns the graph of an owner.
///
/// # Errors
/// Returns a message that names the owner if it has none. The prelude raises it under the name of
/// the function that the game called.
fn graph(engine: &Engine, owner: f64) -> Result<InstanceId, String> {
    instance(engine, owner).ok_or_else(|| {
        let owner = handle(owner).map(|owner| engine.flow_owner_name(owner));
        let owner = owner.unwrap_or_else(|| "the object".to_string());
        format!("{owner} has no graph: its file has no 'flow', or the graph has errors")
    })
}

fn is_ready(engine: &mut Engine) -> bool {
    engine.worlds.flow.ready
}

fn recompile(engine: &mut Engine) {
    engine.recompile_flow();
}

/// Returns running units and levels whose files have a graph since the last reload.
fn new_owners(engine: &mut Engine) -> ScriptValue {
    let owners = engine.new_flow_owners().into_iter();
    ScriptValue::List(owners.map(|owner| ScriptValue::Number(owner.to_number())).collect())
}

fn create_unit(engine: &mut Engine, unit: UnitId) -> bool {
    engine.create_unit_flow(unit).is_some()
}

fn create_level(engine: &mut Engine, level: LevelId) -> bool {
    engine.create_level_flow(level).is_some()
}

fn level_has_graph(engine: &mut Engine, level: LevelId) -> bool {
    engine.worlds.levels.of(level).resource.flow.is_some()
}

fn variable_type(engine: &mut Engine, owner: f64, name: TextArgument) -> ExpectedResult<String> {
    let kind = graph(engine, owner).and_then(|id| {
        let kind = engine.worlds.flow.get().variable_type(id, name.as_str());
        kind.map(|kind| kind.name().to_string())
    });
    ExpectedResult(kind)
}

fn start(engine: &mut Engine, owner: f64) {
    if let Some(instance) = instance(engine, owner) {
        engine.worlds.flow.get_mut().start(instance);
    }
}

fn end(engine: &mut Engine, owner: f64) {
    if let Some(instance) = instance(engine, owner) {
        engine.worlds.flow.get_mut().destroy(instance);
    }
}

fn begin_end(engine: &mut Engine, owner: f64) -> bool {
    let Some(instance) = instance(engine, owner) else { return false };
    let flow = engine.worlds.flow.get_mut();
    if !flow.receives(instance, EventKind::Destroyed, None) || !flow.begin_nested() {
        return false;
    }
    flow.raise(instance, EventKind::Destroyed, "", &[], 0);
    flow.hurry(instance);
    true
}

fn finish_nested(engine: &mut Engine) {
    engine.worlds.flow.get_mut().end_nested();
}

fn recover(engine: &mut Engine) {
    engine.recover_flow();
}

fn count(engine: &mut Engine) -> f64 {
    engine.worlds.flow.get().instance_count() as f64
}

fn has(engine: &mut Engine, owner: f64) -> bool {
    instance(engine, owner).is_some()
}

fn update(engine: &mut Engine, world: WorldId, delta: f64) {
    engine.update_flow(world, delta);
}

fn action_names(engine: &mut Engine) -> Vec<String> {
    engine.worlds.flow.get_mut().action_names().0.to_vec()
}

fn actions_changes(engine: &mut Engine) -> f64 {
    engine.worlds.flow.get().actions_changes() as f64
}

fn raise_action(engine: &mut Engine, world: WorldId, name: TextArgument, pressed: bool) {
    engine.worlds.flow.get_mut().raise_action(world.0, name.as_str(), pressed);
}

fn report_missing_action(engine: &mut Engine, name: TextArgument, hint: TextArgument) {
    engine.report_missing_action(name.as_str(), hint.as_str());
}

/// Kinds of events that the prelude sends, by number from 1.
const SENT_KINDS: [EventKind; 2] = [EventKind::Custom, EventKind::LevelLoaded];

fn raise(engine: &mut Engine, owner: f64, name: TextArgument, kind: Integer) -> bool {
    let values = std::mem::take(&mut engine.worlds.flow.results);
    let kind = SENT_KINDS.get((kind.0 - 1).max(0) as usize).copied();
    let taken = match (instance(engine, owner), kind) {
        (Some(instance), Some(kind)) => {
            let sent = if kind == EventKind::Custom { values.len().min(1) } else { 0 };
            engine.worlds.flow.get_mut().raise(instance, kind, name.as_str(), &values[..sent], 0)
        }
        _ => false,
    };
    engine.worlds.flow.results = values;
    engine.worlds.flow.results.clear();
    taken
}

fn receives(engine: &mut Engine, owner: f64, name: TextArgument) -> bool {
    let Some(instance) = instance(engine, owner) else { return false };
    engine.worlds.flow.get().receives(instance, EventKind::Custom, Some(name.as_str()))
}

#[inline(always)]
fn input(engine: &Engine, at: Integer) -> Slot {
    let inputs = &engine.worlds.flow.inputs;
    inputs.get((at.0 - 1).max(0) as usize).copied().unwrap_or(Slot::NIL)
}

fn input_tag(engine: &mut Engine, at: Integer) -> f64 {
    f64::from(input(engine, at).tag as u32)
}

/// Returns a number, the number of a handle, or 1 for true.
fn input_number(engine: &mut Engine, at: Integer) -> f64 {
    let value = input(engine, at);
    value.as_handle().map_or_else(|| value.as_number(), Handle::to_number)
}

fn input_vector(engine: &mut Engine, at: Integer) -> Vec3 {
    input(engine, at).as_vector()
}

fn input_rotation(engine: &mut Engine, at: Integer) -> Quat {
    input(engine, at).as_rotation()
}

fn input_color(engine: &mut Engine, at: Integer) -> Color {
    let [red, green, blue, alpha] = input(engine, at).as_color();
    Color { red, green, blue, alpha }
}

fn input_text(engine: &mut Engine, at: Integer) -> String {
    let value = input(engine, at);
    engine.worlds.flow.get().heap.text(value).to_string()
}

/// Adds the items of a list to the inputs. Returns the number of inputs before, and of items.
fn open_list(engine: &mut Engine, at: Integer) -> (f64, f64) {
    let value = input(engine, at);
    let mut inputs = std::mem::take(&mut engine.worlds.flow.inputs);
    let before = inputs.len();
    inputs.extend_from_slice(engine.worlds.flow.get().heap.list(value));
    let items = inputs.len() - before;
    engine.worlds.flow.inputs = inputs;
    (before as f64, items as f64)
}

fn close_list(engine: &mut Engine, before: Integer) {
    engine.worlds.flow.inputs.truncate(before.0.max(0) as usize);
}

fn add(engine: &mut Engine, value: Slot) {
    engine.worlds.flow.results.push(value);
}

fn result_nil(engine: &mut Engine) {
    add(engine, Slot::NIL);
}

fn result_number(engine: &mut Engine, value: f64) {
    add(engine, Slot::number(value));
}

fn result_boolean(engine: &mut Engine, value: bool) {
    add(engine, Slot::boolean(value));
}

fn result_handle(engine: &mut Engine, value: f64) -> bool {
    let handle = handle(value).filter(|handle| HandleKind::of(*handle).is_some());
    if let Some(handle) = handle {
        add(engine, Slot::handle(handle));
    }
    handle.is_some()
}

/// Adds an object, living or not.
fn result_object(engine: &mut Engine, value: f64) -> bool {
    let handle = handle(value).filter(|handle| engine.is_object(*handle));
    if let Some(handle) = handle {
        add(engine, Slot::handle(handle));
    }
    handle.is_some()
}

fn clear_results(engine: &mut Engine) {
    engine.worlds.flow.results.clear();
}

fn result_vector(engine: &mut Engine, value: Vec3) {
    add(engine, Slot::vector(value));
}

fn result_rotation(engine: &mut Engine, value: Quat) {
    add(engine, Slot::rotation(value));
}

fn result_color(engine: &mut Engine, value: Color) {
    add(engine, Slot::color([value.red, value.green, value.blue, value.alpha]));
}

/// Makes room for a text or a list.
fn make_room(engine: &mut Engine) -> Result<(), String> {
    let kept = std::mem::take(&mut engine.worlds.flow.results);
    let room = engine.worlds.flow.get_mut().make_room(&kept);
    engine.worlds.flow.results = kept;
    room.map_err(|error| error.message)
}

/// Adds a text to the results. Returns the message of an error.
fn result_text(engine: &mut Engine, value: TextArgument) -> Option<String> {
    let text =
        make_room(engine).and_then(|()| engine.worlds.flow.get_mut().heap.add_text(value.as_str()));
    engine.worlds.flow.results.extend(text.as_ref().ok());
    text.err()
}

/// Replaces the last results by one list of them. Returns the message of an error.
fn result_list(engine: &mut Engine, items: Integer) -> Option<String> {
    let room = make_room(engine);
    let graphs = &mut engine.worlds.flow;
    let first = graphs.results.len().saturating_sub(items.0.max(0) as usize);
    let items: Vec<Slot> = graphs.results.drain(first..).collect();
    let list = room.and_then(|()| graphs.get_mut().heap.add_list(&items));
    graphs.results.extend(list.as_ref().ok());
    list.err()
}

fn fail(engine: &mut Engine, message: TextArgument) -> bool {
    engine.worlds.flow.results.clear();
    engine.worlds.flow.get_mut().fail_call(message.as_str())
}

fn callback(engine: &mut Engine) -> ScriptValue {
    let event = engine.worlds.flow.callback.take();
    match event {
        Some(event) => ScriptValue::List(vec![
            ScriptValue::Number(event.owner.to_number()),
            ScriptValue::Text(event.name),
        ]),
        None => ScriptValue::Nil,
    }
}

fn context(engine: &mut Engine) -> ScriptValue {
    let flow = engine.worlds.flow.get();
    let Some(id) = flow.calling_instance() else { return ScriptValue::Nil };
    let owner = flow.owner(id);
    let number = |handle: Option<Handle>| {
        handle.map_or(ScriptValue::Boolean(false), |it| ScriptValue::Number(it.to_number()))
    };
    let (graph, node) = flow.calling_node().unwrap_or(("", ""));
    ScriptValue::List(vec![
        number(owner.and_then(|owner| owner.unit)),
        number(owner.and_then(|owner| owner.level)),
        number(owner.map(|owner| owner.world)),
        ScriptValue::Text(graph.to_string()),
        ScriptValue::Text(node.to_string()),
    ])
}

/// Makes a variable the first input. Returns the message of an error.
fn variable(engine: &mut Engine, owner: f64, name: TextArgument) -> Option<String> {
    let value =
        graph(engine, owner).and_then(|id| engine.worlds.flow.get().variable(id, name.as_str()));
    engine.worlds.flow.inputs.clear();
    engine.worlds.flow.inputs.extend(value.as_ref().ok());
    value.err()
}

/// Sets a variable to the first result. Returns the message of an error.
fn set_variable(engine: &mut Engine, owner: f64, name: TextArgument) -> Option<String> {
    let value = engine.worlds.flow.results.pop().unwrap_or(Slot::NIL);
    engine.worlds.flow.results.clear();
    let id = match graph(engine, owner) {
        Ok(id) => id,
        Err(message) => return Some(message),
    };
    let set = engine.worlds.flow.get_mut().set_variable(id, name.as_str(), value);
    set.err().map(|message| format!("the variable '{}' {message}", name.as_str()))
}

/// Returns the graph, its variables as text, and the number of its nodes.
fn inspect(engine: &mut Engine, owner: f64) -> ExpectedResult<ScriptValue> {
    ExpectedResult(graph(engine, owner).map(|id| description(engine, id)))
}

fn description(engine: &Engine, id: InstanceId) -> ScriptValue {
    let flow = engine.worlds.flow.get();
    let (_, program) = flow.instance(id).expect("it was found");
    let program = flow.program(program);
    let slots = flow.slots(id);
    let variables = program.variables.iter().map(|variable| {
        let value = slots[variable.slot as usize].describe(&flow.heap);
        (variable.name.clone(), ScriptValue::Text(value))
    });
    let size = program.size();
    let number = |value: usize| ScriptValue::Number(value as f64);
    let events = program.events.iter().filter(|event| event.kind == EventKind::Custom);
    let events = events.map(|event| ScriptValue::Text(event.name.clone())).collect();
    let nodes = program.nodes.iter().filter(|node| !node.hidden).count();
    ScriptValue::Table(vec![
        ("graph".to_string(), ScriptValue::Text(program.name.clone())),
        ("nodes".to_string(), number(nodes)),
        ("static_bytes".to_string(), number(size.program)),
        ("dynamic_bytes".to_string(), number(size.instance)),
        ("variables".to_string(), ScriptValue::Table(variables.collect())),
        ("events".to_string(), ScriptValue::List(events)),
        ("error".to_string(), ScriptValue::Text(flow.last_error().to_string())),
    ])
}
