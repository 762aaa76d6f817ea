//! Tests of stops around graphs: a restart while one is stopped, breakpoints that are set in one
//! while a script is stopped, and errors of the functions that graphs call.

use super::*;
use engine::system::remote::client::RemoteClient;
use engine::system::remote::endpoint_file::EndpointFile;

const GAME: &str = "frames = 0
function init()
  crate = World.spawn_unit(Application.main_world(), 'crate')
end
function update()
  frames = frames + 1
  if go then
    go = false
    Unit.flow_event(crate, 'hit', 2)
  end
end
";

const CRATE: &str = "inherit = \"core/units/empty\"
flow = {
  nodes = {
    n1 = { type = \"event.custom\" name = \"hit\" }
    n2 = { type = \"my.double\" inputs = { x = { wire = \"n1.value\" } } }
    n3 = { type = \"event.raise\" name = \"done\" }
  }
  events = { \"n1.out > n2.in\" = true \"n2.out > n3.in\" = true }
}
";

const NODES: &str = "return {
  double = {
    inputs = { { name = 'x', type = 'number' } },
    outputs = { { name = 'y', type = 'number' } },
    run = function(x)
      calls = (calls or 0) + 1
      if x == limit then error('too much') end
      if x == wrong then Unit.flow_event(crate, 5) end
      return x * 2
    end,
  },
}
";

const FLOW: &str = "{\"threadId\": 1000000}";

fn start(name: &str, main: &str) -> Editor {
    let editor = Editor::start(name, main);
    editor.folder.write("game/crate.unit", CRATE);
    editor.folder.write("game/nodes/my.lua", NODES);
    editor
}

/// Runs a line while no script is stopped.
fn run(editor: &mut Editor, line: &str) -> String {
    let arguments = format!("{{\"expression\": {}}}", json::quoted(line));
    text(&editor.ask("evaluate", &arguments), "result").into()
}

/// Waits for the stop at a node.
fn stopped_graph(editor: &mut Editor, node: &str) {
    let stopped = editor.event("stopped");
    assert!(text(&stopped, "description").contains(node), "{stopped:?}");
}

#[test]
fn a_restart_ends_the_stop_of_a_graph() {
    let mut editor = start("flow-restart", GAME);
    editor.launch("");
    editor.plays_on("frames");
    editor.set_breakpoints("crate.unit", "{\"line\": 5}");
    run(&mut editor, "go = true");
    stopped_graph(&mut editor, "node n2");
    // The scripts have no stack meanwhile.
    let stack = editor.ask("stackTrace", THREAD);
    assert_eq!((items(&stack, "stackFrames").len(), number(&stack, "totalFrames")), (0, 0.0));
    editor.ask("restart", "{}");
    let continued = editor.event("continued");
    assert_eq!(continued.get("allThreadsContinued"), Some(&SjsonTree::Bool(true)));
    editor.plays_on("frames");
    // The breakpoint is in the new game, which can be paused, too.
    run(&mut editor, "go = true");
    stopped_graph(&mut editor, "node n2");
    editor.ask("continue", FLOW);
    editor.plays_on("frames");
    editor.ask("pause", THREAD);
    assert_eq!(editor.stopped().0, "pause");
    editor.end();
}

#[test]
fn a_restart_during_the_stop_of_a_graph_keeps_a_pause() {
    let mut editor = start("flow-paused", GAME);
    editor.launch("");
    editor.plays_on("frames");
    editor.set_breakpoints("crate.unit", "{\"line\": 5}");
    let session = EndpointFile::read(&editor.path("")).expect("the game lets tools in");
    let mut tool = RemoteClient::connect(&session).expect("a second connection");
    let mut ask = |name: &str, fields| tool.request(name, fields, WAIT_MAX, |_| ()).expect("yes");
    ask("pause", vec![]);
    run(&mut editor, "go = true");
    ask("step", vec![("frames", SjsonTree::Number(1.0))]);
    stopped_graph(&mut editor, "node n2");
    editor.ask("restart", "{}");
    editor.event("continued");
    let end = std::time::Instant::now() + WAIT_MAX;
    // Between the end of the old game and the first line of the new one, there are no globals.
    while run(&mut editor, "go == nil and frames ~= nil") != "true" {
        assert!(std::time::Instant::now() < end, "the game does not restart");
    }
    let before = run(&mut editor, "frames");
    assert_eq!(ask("status", vec![]).get("paused"), Some(&SjsonTree::Bool(true)));
    assert_eq!(run(&mut editor, "frames"), before);
    ask("resume", vec![]);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn breakpoints_of_graphs_are_answered_during_a_stop() {
    let mut editor = start("flow-waits", GAME);
    editor.launch("{\"line\": 6}");
    editor.stopped();
    let conditional = "{\"line\": 5, \"condition\": \"true\"}, {\"line\": 6}";
    editor.set_breakpoints("crate.unit", conditional);
    // The last list counts.
    let set = editor.set_breakpoints("crate.unit", &conditional.replace("6}", "5}"));
    let points = items(&set, "breakpoints");
    assert!(text(&points[0], "message").contains("no conditions"), "{set:?}");
    assert_eq!(points[1].get("verified"), Some(&SjsonTree::Bool(false)), "{set:?}");
    assert!(text(&points[1], "message").contains("a script is stopped"), "{set:?}");
    let id = number(&points[1], "id");
    editor.set_breakpoints("main.lua", "");
    editor.events.clear();
    editor.ask("continue", THREAD);
    let event = editor.event("breakpoint");
    let point = event.get("breakpoint").expect("it has one");
    assert_eq!((text(&event, "reason"), number(point, "id")), ("changed", id), "{event:?}");
    assert_eq!(point.get("verified"), Some(&SjsonTree::Bool(true)), "{event:?}");
    run(&mut editor, "go = true");
    let stopped = editor.event("stopped");
    assert!(text(&stopped, "description").contains("node n2"), "{stopped:?}");
    assert_eq!(items(&stopped, "hitBreakpointIds"), [SjsonTree::Number(id)]);
    editor.end();
}

#[test]
fn breakpoints_of_graphs_are_answered_when_a_script_stops() {
    // The game stops while the list of the graph is on its way.
    let mut first = start("flow-attach", GAME);
    first.launch("");
    first.plays_on("frames");
    let folder = json::quoted(&first.path("").to_string_lossy());
    let graph = json::quoted(&first.path("crate.unit").to_string_lossy());
    let main = json::quoted(&first.path("main.lua").to_string_lossy());
    first.ask("disconnect", "{\"terminateDebuggee\": false}");
    let mut editor = Editor::start("flow-attach-2", GAME);
    editor.ask("attach", &format!("{{\"folder\": {folder}}}"));
    let list = |path: &str, line: u32| {
        format!("{{\"source\": {{\"path\": {path}}}, \"breakpoints\": [{{\"line\": {line}}}]}}")
    };
    editor.ask("setBreakpoints", &list(&main, 6));
    let set = editor.ask("setBreakpoints", &list(&graph, 5));
    assert_eq!(items(&set, "breakpoints").len(), 1, "{set:?}");
    editor.ask("configurationDone", "{}");
    assert_eq!(editor.stopped().1, "main.lua:6");
    editor.ask("disconnect", "{\"terminateDebuggee\": true}");
}

#[test]
fn errors_of_lua_nodes_stop_the_script() {
    let main = format!("{GAME}limit = 2\n");
    let mut editor = start("flow-errors", &main);
    editor.launch("");
    editor.plays_on("frames");
    run(&mut editor, "go = true");
    assert_eq!(editor.stopped(), ("exception".to_string(), "my.lua:7".to_string()));
    assert!(editor.locations().contains(&"main.lua:9".to_string()));
    assert_eq!(editor.variables("Locals"), ["x = 2"]);
    let info = editor.ask("exceptionInfo", THREAD);
    assert!(text(&info, "description").contains("too much"), "{info:?}");
    assert_eq!(text(&info, "breakMode"), "unhandled", "{info:?}");
    editor.events.clear();
    editor.ask("continue", THREAD);
    loop {
        // It is reported as usual.
        let output = editor.event("output");
        if text(&output, "output").contains("too much") {
            break;
        }
    }
    editor.plays_on("frames");
    // So does an error that a function for graphs raises.
    run(&mut editor, "limit, wrong = nil, 2");
    run(&mut editor, "go = true");
    assert_eq!(editor.stopped(), ("exception".to_string(), "my.lua:8".to_string()));
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    // The other filters do not mean it, and a text is looked for.
    let filters = |editor: &mut Editor, filters: &str| {
        editor.ask("setExceptionBreakpoints", filters);
        let before: f64 = run(editor, "calls").parse().expect("a number");
        run(editor, "go = true");
        let end = std::time::Instant::now() + WAIT_MAX;
        while run(editor, "calls").parse::<f64>().expect("a number") <= before {
            assert!(std::time::Instant::now() < end, "the node does not run");
        }
    };
    filters(&mut editor, "{\"filters\": [\"caught\", \"warning\"]}");
    let other = "{\"filterId\": \"uncaught\", \"condition\": \"another text\"}";
    filters(&mut editor, &format!("{{\"filters\": [], \"filterOptions\": [{other}]}}"));
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn errors_for_graphs_in_coroutines_stop_the_script() {
    // Each function that a graph calls for a coroutine has a coroutine of its own.
    let main = "frames = 0
local job = coroutine.wrap(function()
  while true do
    if go then
      go = false
      Unit.flow_event(crate, 'hit', 2)
    end
    coroutine.yield()
  end
end)
function init() crate = World.spawn_unit(Application.main_world(), 'crate') end
function update()
  frames = frames + 1
  job()
end
function on_flow_event(unit, name)
  local kind = name
  return kind + 1
end
";
    let mut editor = start("flow-errors-thread", main);
    editor.launch("");
    editor.plays_on("frames");
    run(&mut editor, "go = true");
    assert_eq!(editor.stopped(), ("exception".to_string(), "main.lua:18".to_string()));
    assert!(editor.locations().contains(&"main.lua:6".to_string()));
    let info = editor.ask("exceptionInfo", THREAD);
    assert!(text(&info, "description").contains("arithmetic"), "{info:?}");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}
