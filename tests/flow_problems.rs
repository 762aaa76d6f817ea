//! Tests of problems of graphs from outside: the files and lines that `engine run` and `engine
//! check` name, nodes in Lua that are wrong or fail, and events that never come.

use super::game_folder::GameFolder;

const MAIN: &str = r#"
local world
function init()
  world = Application.new_world()
  World.spawn_unit(world, "units/own")
end
function update(dt) World.update(world, dt) end
"#;

fn block(graph: &str) -> String {
    format!("flow = {{\n{graph}}}\n")
}

/// Returns a scratch folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> GameFolder {
    let folder = GameFolder::new("flow_problems", name);
    files.iter().for_each(|(file, text)| folder.write(file, text));
    folder
}

#[test]
fn problems_of_nodes_in_lua_have_the_line_of_the_game() {
    let files = [
        ("main.lua", ""),
        ("graphs/a.flow", "nodes = { s = { type = \"event.spawned\" } }"),
        (
            "nodes/doors.lua",
            "local nodes = {}\n\nnodes.close = { run = function() end }\n\nnodes.open = {\n  \
             inputs = {\n    { name = \"unit\", type = \"unit\", default = \"self\" },\n    \
             { name = \"speed\", type = \"numbr\" },\n  },\n  run = function() end,\n}\n\
             return nodes\n",
        ),
        (
            "nodes/field.lua",
            "return {\n  ok = { run = print },\n  a = {\n    inptus = {},\n    \
                             run = print,\n  },\n}\n",
        ),
        ("nodes/plain.lua", "return {\n  ok = { run = print },\n  a = { doc = \"x\" },\n}\n"),
        ("nodes/list.lua", "return 3\n"),
        ("nodes/syntax.lua", "return {\n  a = = 3,\n}\n"),
        ("nodes/number.lua", "local nodes = {}\nnodes.a = nil + 1\nreturn nodes\n"),
    ];
    let (code, out, err) = folder("node_lines", &files).engine(&["check", "."]);
    let output = out + &err;
    assert_ne!(code, 0);
    for part in [
        " nodes/doors.lua:8: the node 'doors.open': 'speed' has the unknown type 'numbr', did you \
         mean 'number'?",
        " nodes/field.lua:4: the node 'a' has the unknown field 'inptus', did you mean 'inputs'?",
        " nodes/plain.lua:3: the node 'a' must be a table with a function 'run'",
        " nodes/list.lua: it must return a table of nodes, and returned number 3",
        " nodes/syntax.lua:2: ",
        " nodes/number.lua:2: ",
    ] {
        assert!(output.contains(part), "{part}\n{output}");
    }
    assert!(!output.contains("[engine]"), "lines of the engine\n{output}");
}

#[test]
fn a_run_names_the_lines_of_graphs_with_errors() {
    let main = "local world\nfunction init()\n  world = Application.new_world()\n  \
                for _, unit in ipairs({ \"own\", \"heir\", \"shared\", \"waits\" }) do\n    \
                World.spawn_unit(world, \"units/\" .. unit)\n  end\n  \
                World.spawn_level(world, \"levels/yard\")\nend\n\
                function update(dt) World.update(world, dt) end\n";
    let wrong = "nodes = {\n  go = { type = \"event.spawned\" }\n  \
                 wait = { type = \"flow.dely\" }\n}\n";
    let level = "units = {\n  gate = { unit = \"units/heir\" }\n}\nflow = {\n  nodes = {\n    \
                 go = { type = \"event.level_loaded\" }\n    \
                 send = { type = \"event.send\" name = \"x\" inputs = { to = \"gaet\" } \
                 }\n  }\n}\n";
    let waits = "flow = {\n  nodes = {\n    \
                 key = { type = \"event.input\" name = \"jmp\" }\n  }\n}\n";
    let own = block(wrong);
    let files = [
        ("main.lua", main),
        ("settings.sjson", "input = { actions = { jump = \"space\" } }\n"),
        ("units/own.unit", &own[..]),
        ("units/heir.unit", "inherit = \"units/own\"\nflow = { variables = {} }\n"),
        ("units/shared.unit", "flow = \"graphs/door\"\n"),
        ("units/waits.unit", waits),
        ("graphs/door.flow", wrong),
        ("levels/yard.level", level),
    ];
    let folder = folder("run_lines", &files);
    let (_, out, err) = folder.engine(&["run", ".", "--headless", "--frames", "3"]);
    let output = out + &err;
    let count = |part: &str| output.matches(part).count();
    let type_error = "node wait: there is no node type 'flow.dely', did you mean 'flow.delay'?";
    // The unit that inherits the error names the file that has it.
    assert_eq!(count(&format!("units/own.unit:4: {type_error}")), 2, "{output}");
    assert_eq!(count(&format!("graphs/door.flow:3: {type_error}")), 1, "{output}");
    assert_eq!(count("levels/yard.level:7: node send, pin 'to': "), 1, "{output}");
    let missing = "units/waits.unit:3: node key: there is no input action 'jmp', did you mean \
                   'jump'?";
    assert_eq!(count(missing), 1, "{output}");
}

/// A game whose graphs compile, and whose nodes fail while they run.
const FAILING: [(&str, &str); 11] = [
    (
        "main.lua",
        r#"
local world
function init()
  world = Application.new_world()
  for _, unit in ipairs({ "native", "heir", "endless", "outer", "dead", "wire" }) do
    World.spawn_unit(world, "units/" .. unit)
  end
end
function update(dt) World.update(world, dt) end
"#,
    ),
    (
        "units/native.unit",
        r#"flow = {
  nodes = {
    go = { type = "event.spawned" }
    find = { type = "unit.position" inputs = { node = "hed" } }
    move = { type = "unit.set_position" inputs = { position = { wire = "find.position" } } }
  }
  events = { "go.out > move.in" = true }
}
"#,
    ),
    ("units/heir.unit", "inherit = \"units/native\"\nflow = { variables = {} }\n"),
    ("units/endless.unit", "flow = \"graphs/endless\"\n"),
    (
        "graphs/endless.flow",
        r#"nodes = {
  go = { type = "event.spawned" }
  loop = { type = "flow.while" inputs = { condition = true } }
  add = { type = "bad.nothing" }
}
events = { "go.out > loop.in" = true "loop.body > add.in" = true }
"#,
    ),
    (
        "units/outer.unit",
        r#"flow = {
  nodes = {
    go = { type = "event.spawned" }
    door = { type = "graph" graph = "graphs/door" }
  }
  events = { "go.out > door.open" = true }
}
"#,
    ),
    (
        "graphs/door.flow",
        r#"inputs = { open = { type = "event" } }
nodes = {
  enter = { type = "graph.inputs" }

  say = { type = "bad.fails" }
}
events = { "enter.open > say.in" = true }
"#,
    ),
    (
        "units/dead.unit",
        r#"flow = {
  nodes = {
    go = { type = "event.spawned" }
    other = { type = "unit.spawn" inputs = { resource = "core/units/empty" } }
    end1 = { type = "unit.destroy" inputs = { unit = { wire = "other.unit" } } }
    show = { type = "unit.set_visible" inputs = { unit = { wire = "other.unit" } } }
  }
  events = {
    "go.out > other.in" = true
    "other.out > end1.in" = true
    "end1.out > show.in" = true
  }
}
"#,
    ),
    (
        "units/wire.unit",
        r#"flow = {
  nodes = {
    go = { type = "event.spawned" }
    get = { type = "unit.data" inputs = { key = "none" } }
    sum = {
      type = "number.add"
      inputs = {
        a = { wire = "get.value" }
      }
    }
    say = { type = "debug.print" inputs = { value = { wire = "sum.result" } } }
  }
  events = { "go.out > say.in" = true }
}
"#,
    ),
    (
        "nodes/bad.lua",
        "return {\n  fails = { run = function() error(\"locked\") end },\n  \
         nothing = { run = function() end },\n}\n",
    ),
    ("settings.sjson", ""),
];

#[test]
fn errors_of_running_nodes_name_their_lines() {
    let folder = folder("running_lines", &FAILING);
    let (_, out, err) = folder.engine(&["run", ".", "--headless", "--frames", "3"]);
    let output = out + &err;
    for part in [
        "units/native.unit:4: graph units/native.unit, node find (unit.position): ",
        // The heir's node is in the file of its base.
        "units/native.unit:4: graph units/heir.unit, node find (unit.position): ",
        "graphs/endless.flow:4: graph graphs/endless.flow, node add (bad.nothing): 10000 nodes ran",
        "graphs/door.flow:5: graph units/outer.unit, node door/say (bad.fails): \
         nodes/bad.lua:2: locked",
        "units/dead.unit:6: graph units/dead.unit, node show (unit.set_visible): ",
        "units/wire.unit:8: graph units/wire.unit, wire into sum.a: must be of type number",
    ] {
        assert_eq!(output.matches(part).count(), 1, "{part}\n{output}");
    }
    // A bundle has no sources.
    let compile = ["compile", ".", "--bundle", "--out", "game.bundle", "--skip-check"];
    let (code, out, err) = folder.engine(&compile);
    assert_eq!(code, 0, "{out}{err}");
    let (_, out, err) = folder.engine(&["run", "game.bundle", "--headless", "--frames", "3"]);
    let output = out + &err;
    let part = " graph units/dead.unit, node show (unit.set_visible): ";
    assert_eq!(output.matches(part).count(), 1, "{output}");
    assert!(!output.contains("units/dead.unit:"), "{output}");
}

#[test]
fn stacks_of_failing_nodes_have_no_lines_of_the_engine() {
    let graph = "flow = { nodes = { go = { type = \"event.spawned\" } \
                 a = { type = \"bad.deep\" } } events = { \"go.out > a.in\" = true } }";
    let nodes = "local function inner(door)\n  return door.speed\nend\n\
                 return { deep = { run = function() local it = inner(nil) return it end } }\n";
    let files = [("main.lua", MAIN), ("units/own.unit", graph), ("nodes/bad.lua", nodes)];
    let folder = folder("noise", &files);
    let (_, out, err) = folder.engine(&["run", ".", "--headless", "--frames", "3"]);
    let output = out + &err;
    let found = "units/own.unit:1: graph units/own.unit, node a (bad.deep): nodes/bad.lua:2: \
                 attempt to index";
    assert_eq!(output.matches(found).count(), 1, "{output}");
    assert!(output.contains("nodes/bad.lua:4: in function"), "{output}");
    assert!(!output.contains("[engine] flow/"), "{output}");
}

#[test]
fn a_check_warns_of_events_that_a_unit_never_gets() {
    let graph = |extra: &str| {
        format!(
            "flow = {{ nodes = {{\nhit = {{ type = \"event.collision\" }}\n\
             enter = {{ type = \"event.trigger_enter\" }}\n\
             step = {{ type = \"event.animation\" name = \"step\" }}\n}} }}\n{extra}"
        )
    };
    let actors = |kind: &str| {
        format!(
            "components = {{ physics = {{ actors = {{ body = {{ type = \"{kind}\" shape = \
             \"box\" size = [1, 1, 1] }} }} }} }}\n"
        )
    };
    let collisions = "nodes = {\nhit = { type = \"event.collision\" }\n}\n";
    let shares = |name: &str, more: &str| format!("flow = \"graphs/{name}\"\n{more}");
    let files = [
        ("main.lua", String::new()),
        ("units/bare.unit", graph("")),
        ("units/body.unit", graph(&actors("dynamic"))),
        ("units/zone.unit", graph(&actors("trigger"))),
        ("units/base.unit", block(collisions)),
        ("units/heir.unit", format!("inherit = \"units/base\"\n{}", actors("static"))),
        ("units/cube.unit", format!("inherit = \"core/units/cube\"\n{}", block(collisions))),
        ("units/one.unit", shares("one", "")),
        ("units/two.unit", shares("two", "")),
        ("units/two_body.unit", shares("two", &actors("dynamic"))),
        ("graphs/one.flow", collisions.to_string()),
        ("graphs/two.flow", collisions.to_string()),
        ("graphs/free.flow", collisions.to_string()),
        ("levels/yard.level", block(collisions)),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &text[..])).collect();
    let (code, out, err) = folder("never", &files).engine(&["check", "."]);
    let output = out + &err;
    assert_eq!(code, 0, "{output}");
    for part in [
        "units/bare.unit:2: node hit: the unit has no actor that reports contacts",
        "units/bare.unit:3: node enter: the unit has no trigger",
        "units/bare.unit:4: node step: the unit has no component 'animation'",
        "units/body.unit:3: node enter: ",
        "units/body.unit:4: node step: ",
        "units/zone.unit:2: node hit: ",
        "units/zone.unit:4: node step: ",
        "graphs/one.flow:2: node hit: ",
        "units/cube.unit:4: node hit: ",
        "levels/yard.level:3: node hit: only units get this event",
    ] {
        assert_eq!(output.matches(part).count(), 1, "{part}\n{output}");
    }
    assert_eq!(output.matches("this event").count(), 10, "{output}");
}
