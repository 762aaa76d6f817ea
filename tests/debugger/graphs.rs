//! Tests of breakpoints in graphs, through an editor; and of the samples that an editor asks for.

use super::*;

const GAME: &str = "function init()
  world = Application.main_world()
end
function update()
  if not crate and started then crate = World.spawn_unit(world, 'crate') end
end
function hits() return Unit.flow_variable(crate, 'hits') end
";

const CRATE: &str = "inherit = \"core/units/empty\"
flow = {
  variables = { hits = { type = \"number\" value = 0 } }
  nodes = {
    n1 = { type = \"event.custom\" name = \"hit\" }
    n2 = {
      type = \"variable.add\"
      variable = \"hits\"
      inputs = { amount = 1 }
    }
    n3 = { type = \"event.raise\" name = \"counted\" }
  }
  events = { \"n1.out > n2.in\" = true \"n2.out > n3.in\" = true }
}
";

const FLOW: &str = "{\"threadId\": 1000000}";

fn number_of(editor: &mut Editor, expression: &str) -> String {
    let expression = json::quoted(expression);
    text(&editor.ask("evaluate", &format!("{{\"expression\": {expression}}}")), "result").into()
}

#[test]
fn a_graph_stops_before_the_node_of_a_line() {
    let mut editor = Editor::start("graph", GAME);
    editor.folder.write("game/crate.unit", CRATE);
    editor.launch("");
    let set = editor.set_breakpoints("crate.unit", "{\"line\": 8}, {\"line\": 100}");
    let points = items(&set, "breakpoints");
    assert_eq!(number(&points[0], "line"), 6.0, "{set:?}");
    assert!(text(&points[0], "message").contains("runs the graph yet"), "{set:?}");
    assert!(text(&points[1], "message").contains("no node"), "{set:?}");
    number_of(&mut editor, "started = true");
    let verified = editor.event("breakpoint");
    let verified = verified.get("breakpoint").expect("it has one");
    assert_eq!(number(verified, "id"), number(&points[0], "id"));
    number_of(&mut editor, "Unit.flow_event(crate, 'hit')");
    let stopped = editor.event("stopped");
    assert_eq!(text(&stopped, "reason"), "breakpoint");
    assert!(text(&stopped, "description").contains("node n2 of crate.unit"), "{stopped:?}");
    let ids = [SjsonTree::Number(number(&points[0], "id"))];
    assert_eq!(items(&stopped, "hitBreakpointIds"), ids);
    let threads = editor.ask("threads", "{}");
    let names: Vec<&str> = items(&threads, "threads").iter().map(|it| text(it, "name")).collect();
    assert!(names.contains(&"flow"), "{names:?}");
    let stack = editor.ask("stackTrace", FLOW);
    let frame = &items(&stack, "stackFrames")[0];
    assert_eq!(text(frame, "name"), "crate.unit: variable.add (n2)");
    assert_eq!(number(frame, "line"), 6.0);
    let path = frame.get("source").map_or("", |source| text(source, "path")).to_string();
    assert!(path.ends_with("crate.unit"), "{path}");
    let scopes = editor.ask("scopes", &format!("{{\"frameId\": {}}}", number(frame, "id")));
    let reference = number(&items(&scopes, "scopes")[0], "variablesReference");
    let values = editor.ask("variables", &format!("{{\"variablesReference\": {reference}}}"));
    let hits = items(&values, "variables").iter().find(|it| text(it, "name") == "variable hits");
    assert_eq!(hits.map(|it| text(it, "value")), Some("0"), "{values:?}");
    // A step runs one node.
    editor.ask("next", FLOW);
    let stopped = editor.event("stopped");
    assert_eq!(text(&stopped, "reason"), "step");
    assert!(text(&stopped, "description").contains("node n3"), "{stopped:?}");
    editor.ask("continue", FLOW);
    assert_eq!(number_of(&mut editor, "hits()"), "1");
    number_of(&mut editor, "Unit.flow_event(crate, 'hit')");
    editor.event("stopped");
    // A game that its editor leaves plays on.
    let folder = json::quoted(&editor.path("").to_string_lossy());
    editor.ask("disconnect", "{\"terminateDebuggee\": false}");
    let mut second = Editor::start("graph-2", GAME);
    second.ask("attach", &format!("{{\"folder\": {folder}}}"));
    second.event("initialized");
    second.ask("configurationDone", "{}");
    let ends = std::time::Instant::now() + WAIT_MAX;
    while number_of(&mut second, "hits()") != "2" {
        assert!(std::time::Instant::now() < ends, "the graph does not continue");
    }
    second.ask("disconnect", "{\"terminateDebuggee\": true}");
}

#[test]
fn breakpoints_of_graphs_are_chosen_by_lines_or_nodes() {
    let mut editor = Editor::start("graph-nodes", GAME);
    editor.folder.write("game/crate.unit", CRATE);
    editor.launch("");
    // Nothing is set for a breakpoint that would not stop each time.
    let odd = "{\"line\": 5, \"condition\": \"hits > 3\"}, {\"line\": 8}, \
               {\"line\": 6, \"hitCondition\": \"5\"}, {\"line\": 6, \"logMessage\": \"x\"}, \
               {\"line\": 100}";
    let set = editor.set_breakpoints("crate.unit", odd);
    let points = items(&set, "breakpoints");
    let has = |point: &SjsonTree| {
        let is_refused = text(point, "message").contains("have no conditions");
        (number(point, "line"), is_refused)
    };
    let found: Vec<(f64, bool)> = points.iter().map(has).collect();
    let wanted = [(5.0, true), (6.0, false), (6.0, true), (6.0, true), (100.0, false)];
    assert_eq!(found, wanted, "{set:?}");
    number_of(&mut editor, "started = true");
    editor.event("breakpoint");
    // An extension chooses nodes from a list.
    let nodes = editor.ask("engineFlowNodes", "{}");
    let nodes: Vec<(&str, bool)> = items(&nodes, "nodes")
        .iter()
        .map(|it| (text(it, "node"), it.get("breaks") == Some(&SjsonTree::Bool(true))))
        .collect();
    assert_eq!(nodes, [("n1", false), ("n2", true), ("n3", false)]);
    let node = "{\"nodes\": [{\"graph\": \"crate.unit\", \"node\": \"n3\"}]}";
    editor.events.clear();
    editor.ask("engineFlowBreakpoints", node);
    let removed = editor.event("breakpoint");
    assert_eq!(text(&removed, "reason"), "removed");
    let of_line = removed.get("breakpoint").map(|point| number(point, "id"));
    assert_eq!(of_line, Some(number(&points[1], "id")));
    number_of(&mut editor, "Unit.flow_event(crate, 'hit')");
    let stopped = editor.event("stopped");
    assert!(text(&stopped, "description").contains("node n3"), "{stopped:?}");
    editor.end();
}

#[test]
fn a_chosen_node_keeps_the_breakpoint_of_its_line() {
    let mut editor = Editor::start("graph-kept", GAME);
    editor.folder.write("game/crate.unit", CRATE);
    editor.launch("");
    let set = editor.set_breakpoints("crate.unit", "{\"line\": 8}");
    let of_line = number(&items(&set, "breakpoints")[0], "id");
    number_of(&mut editor, "started = true");
    editor.event("breakpoint");
    editor.events.clear();
    let nodes =
        ["n2", "n3"].map(|node| format!("{{\"graph\": \"crate.unit\", \"node\": \"{node}\"}}"));
    let nodes = format!("{{\"nodes\": [{}]}}", nodes.join(", "));
    editor.ask("engineFlowBreakpoints", &nodes);
    number_of(&mut editor, "Unit.flow_event(crate, 'hit')");
    let hits = |stopped: &SjsonTree| items(stopped, "hitBreakpointIds").to_vec();
    let stopped = editor.event("stopped");
    assert!(text(&stopped, "description").contains("node n2"), "{stopped:?}");
    assert_eq!(hits(&stopped), [SjsonTree::Number(of_line)]);
    let removed =
        |editor: &Editor| editor.events.iter().any(|it| text(it, "event") == "breakpoint");
    assert!(!removed(&editor), "{:?}", editor.events);
    editor.ask("continue", FLOW);
    let stopped = editor.event("stopped");
    assert!(text(&stopped, "description").contains("node n3"), "{stopped:?}");
    assert_ne!(hits(&stopped), [SjsonTree::Number(of_line)]);
    editor.ask("continue", FLOW);
    // A list that the editor sends right after the nodes is not replaced by them.
    let lines = |line: f64| {
        let path = json::quoted(&editor.path("crate.unit").to_string_lossy());
        format!("{{\"source\": {{\"path\": {path}}}, \"breakpoints\": [{{\"line\": {line}}}]}}")
    };
    let lines = lines(8.0);
    editor.send("engineFlowBreakpoints", &nodes);
    let set = editor.ask("setBreakpoints", &lines);
    let of_line = number(&items(&set, "breakpoints")[0], "id");
    editor.events.clear();
    editor.ask("restart", "{}");
    loop {
        // The new game runs no graph yet.
        let event = editor.event("breakpoint");
        let point = event.get("breakpoint").expect("it has one");
        if number(point, "id") == of_line {
            assert_eq!(text(&event, "reason"), "changed", "{event:?}");
            break;
        }
    }
    // The nodes alone take its place, and keep it until the next restart.
    editor.ask("engineFlowBreakpoints", &nodes);
    editor.events.clear();
    editor.ask("restart", "{}");
    loop {
        let event = editor.event("breakpoint");
        let point = event.get("breakpoint").expect("it has one");
        if number(point, "id") == of_line && text(&event, "reason") == "removed" {
            break;
        }
    }
    editor.end();
}

#[test]
fn scripts_are_sampled_on_request() {
    let busy = "frames = 0\nfunction update()\n  frames = frames + 1\n  local sum = 0\n  \
                for i = 1, 300000 do sum = sum + i % 7 end\nend\n";
    let mut editor = Editor::start("samples", busy);
    editor.launch("");
    editor.plays_on("frames");
    editor.ask("engineSampling", "{\"on\": true}");
    std::thread::sleep(Duration::from_millis(500));
    // On a busy machine, the game may have had no time yet.
    editor.plays_on("frames");
    editor.plays_on("frames");
    let samples = editor.ask("engineSampling", "{\"on\": false}");
    assert!(number(&samples, "samples") > 0.0, "{samples:?}");
    assert!(text(&samples, "text").contains("main.lua"), "{samples:?}");
    assert_eq!(samples.get("on"), Some(&SjsonTree::Bool(false)));
    editor.end();
}
