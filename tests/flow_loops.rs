//! Tests of loops of events through scripts and spawned units, of events without a handler, and of
//! graphs that end their own unit, in games that run; and of the manual's tables of nodes.

use super::game_folder::GameFolder;
use engine::script::api::flow::manual_types;
use engine::system::flow::node_markdown;

const SPAWN: &str = r#"
function init()
  unit = World.spawn_unit(Application.main_world(), "units/own")
end
"#;

/// Returns the output of a game with a unit that has this graph.
fn play(name: &str, script: &str, graph: &str) -> String {
    let folder = GameFolder::new("flow_loops", name);
    folder.write("main.lua", format!("{SPAWN}{script}"));
    folder.write("units/own.unit", format!("flow = {{\n{graph}}}\n"));
    let (_, out, err) = folder.engine(&["run", ".", "--headless", "--frames", "5"]);
    out + &err
}

#[test]
fn a_loop_through_a_script_is_named() {
    let output = play(
        "script",
        "function on_flow_event(object, name) Unit.flow_event(object, name) end",
        "nodes = { s = { type = \"event.spawned\" } again = { type = \"event.custom\" name = \
         \"again\" } say = { type = \"debug.print\" inputs = { value = \"round\" } } \
         tell = { type = \"event.raise\" name = \"again\" } }\n\
         events = { \"s.out > say.in\" = true \"again.out > say.in\" = true \
         \"say.out > tell.in\" = true }\n",
    );
    let wanted = "graph units/own.unit, node again (event.custom): 1000 events came in one update \
                  because of each other, which is the limit (limits.flow_events in \
                  settings.sjson), and further ones are dropped: does it send itself? The last \
                  one came from on_flow_event, after the wires ";
    assert!(output.contains(wanted), "{output}");
    assert!(output.contains("again.out > say.in, say.out > tell.in of units/own.unit"), "{output}");
    let rounds = output.lines().filter(|line| *line == "round").count();
    assert!((1000..1010).contains(&rounds), "{rounds}");
}

#[test]
fn a_unit_that_spawns_itself_is_named() {
    let output = play(
        "spawn",
        "",
        "nodes = { s = { type = \"event.spawned\" } more = { type = \"unit.spawn\" inputs = { \
         resource = \"units/own\" } } }\n\
         events = { \"s.out > more.in\" = true }\n",
    );
    let wanted = "node s (event.spawned): 1000 units with this graph were spawned in one update \
                  because of each other, which is the limit (limits.flow_events in \
                  settings.sjson), and further ones are dropped: does it spawn itself? The last \
                  one came after the wires s.out > more.in of \
                  units/own.unit";
    assert!(output.contains(wanted), "{output}");
}

#[test]
fn dropped_events_are_warned_of_again() {
    let folder = GameFolder::new("flow_loops", "dropped");
    let script = "function update() for _ = 1, 3 do Unit.flow_event(unit, 'go') end end";
    folder.write("main.lua", format!("{SPAWN}{script}"));
    folder.write(
        "units/own.unit",
        "flow = {\nnodes = { e = { type = \"event.custom\" name = \"go\" }\n\
         a = { type = \"event.send\" name = \"go\" } }\n\
         events = { \"e.out > a.in\" = true } }\n",
    );
    let run = || {
        let (_, out, err) = folder.engine(&["run", ".", "--headless", "--frames", "700"]);
        out + &err
    };
    let warning = |dropped: u32, limit: u32| {
        format!(
            "graph units/own.unit, node e: {dropped} events were dropped, because it got more \
             than {limit} in one update (limits.flow_events in settings.sjson)"
        )
    };
    let output = run();
    assert_eq!(output.matches("node e (event.custom): 1000 events came").count(), 1, "{output}");
    // Each of the three events of an update drops one: its own loop ends there.
    assert!(output.contains(&warning(3, 1000)), "{output}");
    assert_eq!(output.matches(&warning(900, 1000)).count(), 2, "{output}");
    assert!(!output.contains("NODES_PER_UPDATE_MAX"), "{output}");
    folder.write("settings.sjson", "limits = { flow_events = 20 }");
    let output = run();
    assert!(output.contains("node e (event.custom): 20 events came"), "{output}");
    assert!(output.contains(&warning(900, 20)), "{output}");
}

#[test]
fn an_event_that_no_script_handles_is_reported_once() {
    let graph = "nodes = { t = { type = \"event.update\" } \
                 tell = { type = \"event.raise\" name = \"broke\" } }\n\
                 events = { \"t.out > tell.in\" = true }\n";
    let warning = "a graph raised the event 'broke', and no script has the callback \
                   on_flow_event(object, name, value)";
    let output = play("unhandled", "", graph);
    assert_eq!(output.matches(warning).count(), 1, "{output}");
    let output = play("handled", "function on_flow_event() end", graph);
    assert_eq!(output.matches("on_flow_event").count(), 0, "{output}");
}

#[test]
fn nodes_after_the_end_of_the_own_unit_are_warned_of() {
    let folder = GameFolder::new("flow_loops", "after_end");
    folder.write("main.lua", SPAWN);
    folder.write(
        "units/own.unit",
        "flow = {\nnodes = {\ns = { type = \"event.spawned\" }\nend1 = { type = \"unit.destroy\" }\n\
         say = { type = \"debug.print\" inputs = { value = \"late\" } }\n}\n\
         events = { \"s.out > end1.in\" = true \"end1.out > say.in\" = true }\n}\n",
    );
    let (code, out, err) = folder.engine(&["check", "."]);
    let output = out + &err;
    assert_eq!(code, 0, "{output}");
    let wanted = "node end1: 'say.in' never runs: this node ends the unit of the graph, and the \
                  graph with it. Put it before 'end1'";
    assert!(output.contains(wanted), "{output}");
    let (_, out, err) = folder.engine(&["run", ".", "--headless", "--frames", "3"]);
    assert!(!(out + &err).contains("late"));
}

#[test]
fn a_file_of_nodes_without_a_result_is_an_error() {
    let folder = GameFolder::new("flow_loops", "no_return");
    folder.write("main.lua", "");
    folder.write("nodes/doors.lua", "local nodes = {}\nnodes.open = { run = function() end }\n");
    folder.write("graphs/a.flow", "nodes = { s = { type = \"event.spawned\" } }");
    let (code, out, err) = folder.engine(&["check", "."]);
    let output = out + &err;
    assert_ne!(code, 0, "{output}");
    let wanted = "nodes/doors.lua: it must return a table of nodes, and returned nothing, or true: \
                  add 'return nodes' at its end";
    assert!(output.contains(wanted), "{output}");
}

#[test]
fn the_manual_lists_the_pins_of_all_nodes() {
    const MARK: &str = "\n<!-- nodes -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/flow.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, listed) = text.split_once(MARK).unwrap();
    let wanted = node_markdown(&manual_types());
    assert!(wanted.contains("| `unit.spawn` |") && wanted.contains("| `flow.branch` |"));
    if std::env::var_os("ENGINE_ROWS_UPDATE").is_some() {
        std::fs::write(path, format!("{before}{MARK}{wanted}")).unwrap();
        return;
    }
    assert!(
        listed == wanted,
        "docs/flow.md: ENGINE_ROWS_UPDATE=1 with this test writes its tables"
    );
}
