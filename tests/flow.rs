//! Tests of graphs in running games: saved files of graphs and of nodes in Lua, recordings, errors
//! of games, and `engine check`.

use super::game_folder::GameFolder;
use super::start::start;
use engine::app::{self, App, GameLaunch};
use engine::foundation::log;
use engine::system::flow::{EventKind, InstanceId, explain};
use std::fs;
use std::time::{Duration, Instant};

const MAIN: &str = r#"
local world
function init()
  world = Application.new_world()
  World.spawn_unit(world, "units/own")
  World.spawn_unit(world, "units/heir")
  World.spawn_unit(world, "units/shared")
  World.spawn_unit(world, "units/nested")
  World.spawn_level(world, "levels/yard")
end
function update(dt) World.update(world, dt) end
"#;

/// Returns a graph that adds to a variable at the event `go`.
fn adding(amount: &str) -> String {
    format!(
        "variables = {{ sum = {{ type = \"number\" }} }}\n\
         nodes = {{\n\
         go = {{ type = \"event.custom\" name = \"go\" }}\n\
         add = {{ type = \"variable.add\" variable = \"sum\" inputs = {{ amount = {amount} }} }}\n\
         }}\n\
         events = {{ \"go.out > add.in\" = true }}\n"
    )
}

fn block(graph: &str) -> String {
    format!("flow = {{\n{graph}}}\n")
}

/// Returns a scratch folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> GameFolder {
    let folder = GameFolder::new("flow", name);
    files.iter().for_each(|(file, text)| folder.write(file, text));
    folder
}

/// A running game that watches its files.
struct Game {
    folder: GameFolder,
    app: App,
}

impl Game {
    fn start(name: &str) -> Game {
        let nested = "nodes = { go = { type = \"event.custom\" name = \"go\" } \
                      inner = { type = \"graph\" graph = \"graphs/inner\" } }\n\
                      events = { \"go.out > inner.go\" = true }\n";
        let inner = "inputs = { go = { type = \"event\" } }\n\
                     variables = { sum = { type = \"number\" } }\n\
                     nodes = { in = { type = \"graph.inputs\" } \
                     add = { type = \"variable.add\" variable = \"sum\" } }\n\
                     events = { \"in.go > add.in\" = true }\n";
        let heir =
            "inherit = \"units/own\"\nflow = { variables = { extra = { type = \"text\" } } }\n";
        let folder = folder(
            name,
            &[
                ("main.lua", MAIN),
                ("units/own.unit", &block(&adding("1"))),
                ("units/heir.unit", heir),
                ("units/shared.unit", "flow = \"graphs/shared\"\n"),
                ("units/nested.unit", &block(nested)),
                ("levels/yard.level", "flow = \"graphs/shared\"\n"),
                ("graphs/shared.flow", &adding("1")),
                ("graphs/inner.flow", inner),
            ],
        );
        let launch = GameLaunch::headless(app::Game::Folder(folder.to_path_buf()));
        let app = start(GameLaunch { watch: true, ..launch });
        Game { folder, app }
    }

    fn frame(&mut self) {
        self.app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
    }

    /// Returns the only instance of a graph.
    fn instance(&mut self, graph: &str) -> InstanceId {
        let flow = self.app.vm().engine().worlds.flow.get();
        let program = flow.find_program(graph).unwrap_or_else(|| panic!("{graph} does not run"));
        let found = flow.instances_of(program);
        assert_eq!(found.len(), 1, "{graph}");
        found[0]
    }

    /// Sends the event `go` to a graph, and returns a variable.
    fn go(&mut self, graph: &str, variable: &str) -> f64 {
        let id = self.instance(graph);
        let flow = self.app.vm().engine().worlds.flow.get_mut();
        assert!(flow.raise(id, EventKind::Custom, "go", &[], 0), "{graph}");
        self.frame();
        let flow = self.app.vm().engine().worlds.flow.get();
        flow.variable(id, variable).unwrap_or_else(|message| panic!("{message}")).as_number()
    }

    /// Plays until the explanation of a graph contains a text.
    fn wait_for(&mut self, graph: &str, part: &str) {
        self.wait_until(part, |game| {
            let flow = game.app.vm().engine().worlds.flow.get();
            let program = flow.find_program(graph).unwrap();
            explain(flow.program(program)).contains(part)
        });
    }

    fn wait_until(&mut self, condition: &str, mut holds: impl FnMut(&mut Game) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(start.elapsed() < Duration::from_secs(60), "{condition}");
            std::thread::sleep(Duration::from_millis(5));
            self.frame();
        }
    }

    fn logged(&mut self, count: u64, part: &str) {
        self.wait_until(part, |_| {
            log::errors_since(count).iter().any(|error| error.contains(part))
        });
    }
}

#[test]
fn running_graphs_continue_with_saved_files_and_their_state() {
    let mut game = Game::start("saved");
    let graphs = ["units/own.unit", "units/heir.unit", "graphs/shared.flow", "levels/yard.level"];
    for graph in graphs {
        assert_eq!(game.go(graph, "sum"), 1.0, "{graph}");
    }
    assert_eq!(game.go("units/nested.unit", "inner/sum"), 1.0);
    game.folder.write("units/own.unit", block(&adding("10")));
    game.folder.write("graphs/shared.flow", adding("10"));
    for graph in graphs {
        game.wait_for(graph, "amount = 10");
        assert_eq!(game.go(graph, "sum"), 11.0, "{graph}");
    }
    let inner = fs::read_to_string(game.folder.join("graphs/inner.flow")).unwrap();
    let faster = inner.replace("\"sum\" }", "\"sum\" inputs = { amount = 5 } }");
    assert_ne!(inner, faster);
    game.folder.write("graphs/inner.flow", &faster);
    game.wait_for("units/nested.unit", "amount = 5");
    assert_eq!(game.go("units/nested.unit", "inner/sum"), 6.0);
}

#[test]
fn a_graph_saved_with_an_error_keeps_its_previous_version() {
    let mut game = Game::start("broken");
    assert_eq!(game.go("units/own.unit", "sum"), 1.0);
    let errors = log::error_count();
    game.folder.write("units/own.unit", block(&adding("{ wire = \"ad.value\" }")));
    game.logged(
        errors,
        "units/own.unit:5: node add, pin 'amount': comes from the node 'ad', which does not \
         exist, did you mean 'add'?",
    );
    assert_eq!(game.go("units/own.unit", "sum"), 2.0);
    // A file that is no graph at all is refused by the compiler of resources.
    let errors = log::error_count();
    game.folder.write("units/own.unit", "flow = { nodes = 3 }");
    game.logged(errors, "units/own.unit");
    assert_eq!(game.go("units/own.unit", "sum"), 3.0);
    game.folder.write("units/own.unit", block(&adding("4")));
    game.wait_for("units/own.unit", "amount = 4");
    assert_eq!(game.go("units/own.unit", "sum"), 7.0);
}

#[test]
fn a_unit_whose_file_loses_its_graph_keeps_the_running_one() {
    let mut game = Game::start("lost");
    assert_eq!(game.go("units/own.unit", "sum"), 1.0);
    game.folder.write("units/own.unit", "data = { graph = false }");
    game.wait_until("the file is read", |game| {
        let engine = game.app.vm().engine();
        let unit = engine.worlds.unit_resource(&mut engine.assets, "units/own");
        unit.is_ok_and(|unit| unit.flow.is_none())
    });
    assert_eq!(game.go("units/own.unit", "sum"), 2.0);
}

const FIRST_MAIN: &str = r#"
local world
function init()
  world = Application.new_world()
  World.spawn_unit(world, "units/plain")
  World.spawn_unit(world, "units/child")
  World.spawn_unit(world, "units/user")
  World.spawn_level(world, "levels/empty")
end
function update(dt) World.update(world, dt) end
"#;

#[test]
fn running_units_and_levels_get_the_first_graph_of_their_file() {
    let folder = folder(
        "first",
        &[
            ("main.lua", FIRST_MAIN),
            ("units/plain.unit", "data = { a = 1 }\n"),
            ("units/child.unit", "inherit = \"units/plain\"\n"),
            ("units/user.unit", "flow = \"graphs/late\"\n"),
            ("levels/empty.level", "data = { a = 1 }\n"),
            ("graphs/late.flow", "nodes = { a = { type = \"flow.brnch\" } }"),
        ],
    );
    let launch = GameLaunch::headless(app::Game::Folder(folder.to_path_buf()));
    let app = start(GameLaunch { watch: true, ..launch });
    let mut game = Game { folder, app };
    game.frame();
    let started = |kind: &str| {
        adding("1")
            .replace("nodes = {", &format!("nodes = {{ first = {{ type = \"{kind}\" }}"))
            .replace("events = {", "events = { \"first.out > add.in\" = true")
    };
    game.folder.write("units/plain.unit", block(&started("event.spawned")));
    game.folder.write("levels/empty.level", block(&started("event.level_loaded")));
    game.folder.write("graphs/late.flow", started("event.spawned"));
    let graphs = ["units/plain.unit", "units/child.unit", "graphs/late.flow", "levels/empty.level"];
    for graph in graphs {
        game.wait_until(graph, |game| {
            game.app.vm().engine().worlds.flow.get().find_program(graph).is_some()
        });
        // One from the start of the graph, and one from its event.
        assert_eq!(game.go(graph, "sum"), 2.0, "{graph}");
    }
    // Later versions do not start them again.
    game.folder.write("units/plain.unit", block(&started("event.spawned").replace("= 1", "= 5")));
    game.wait_for("units/plain.unit", "amount = 5");
    assert_eq!(game.go("units/plain.unit", "sum"), 7.0);
}

#[test]
fn a_renamed_input_of_a_shared_graph_is_reported_by_its_users() {
    let mut game = Game::start("renamed");
    assert_eq!(game.go("units/nested.unit", "inner/sum"), 1.0);
    let inner = fs::read_to_string(game.folder.join("graphs/inner.flow")).unwrap();
    let renamed = inner.replace("go = {", "begin = {").replace("in.go", "in.begin");
    let errors = log::error_count();
    game.folder.write("graphs/inner.flow", &renamed);
    game.logged(
        errors,
        "units/nested.unit:3: node go: leads to 'inner.go', and this node has no such input \
         for events: was it renamed to 'begin'?",
    );
    assert_eq!(game.go("units/nested.unit", "inner/sum"), 2.0, "the previous version runs");
}

const NODES_MAIN: &str = r#"
local world
function init()
  world = Application.new_world()
  World.spawn_unit(world, "units/own")
end
function update(dt) World.update(world, dt) end
"#;

/// Returns a file with nodes: one that returns an amount, and one before it in the catalogue.
fn nodes(first: &str, amount: &str) -> String {
    format!(
        "local nodes = {{}}\n\
         {first}\n\
         nodes.amount = {{\n\
         query = true, outputs = {{ {{ name = \"value\", type = \"number\" }} }},\n\
         run = function() return {amount} end,\n\
         }}\n\
         return nodes\n"
    )
}

#[test]
fn saved_nodes_in_lua_are_used_at_once() {
    let graph = adding("{ wire = \"amount.value\" }")
        .replace("go = {", "amount = { type = \"maths.amount\" }\ngo = {");
    let other = "nodes.aaa = { query = true,\n\
                 outputs = { { name = \"value\", type = \"number\" } },\n\
                 run = function() return 1000 end }";
    let folder = folder(
        "nodes",
        &[
            ("main.lua", NODES_MAIN),
            ("units/own.unit", &block(&graph)),
            ("nodes/maths.lua", &nodes(other, "1")),
        ],
    );
    let launch = GameLaunch::headless(app::Game::Folder(folder.to_path_buf()));
    let app = start(GameLaunch { watch: true, ..launch });
    let mut game = Game { folder, app };
    let graph = "units/own.unit";
    assert_eq!(game.go(graph, "sum"), 1.0);
    let mut sum = 1.0;
    let mut added = |game: &mut Game| {
        let before = sum;
        sum = game.go(graph, "sum");
        sum - before
    };
    game.folder.write("nodes/maths.lua", nodes(other, "10"));
    game.wait_until("the new function runs", |game| added(game) == 10.0);
    let running = game.app.vm().engine().worlds.flow.get().find_program(graph).unwrap();
    let before = game.app.vm().engine().worlds.flow.get().program(running).clone();
    game.folder.write("nodes/maths.lua", nodes(other, "11"));
    game.wait_until("the new function runs", |game| added(game) == 11.0);
    let after = game.app.vm().engine().worlds.flow.get().program(running).clone();
    assert!(std::sync::Arc::ptr_eq(&before, &after), "no type has changed");
    // The other node is gone, so that the numbers of the types change.
    game.folder.write("nodes/maths.lua", nodes("", "20"));
    game.wait_until("the new function runs", |game| added(game) == 20.0);
    let errors = log::error_count();
    game.folder.write("nodes/maths.lua", "local nodes = {\nreturn nodes\n");
    game.logged(errors, "nodes/maths.lua");
    assert_eq!(added(&mut game), 20.0, "the previous version is kept");
    let errors = log::error_count();
    let renamed = nodes("", "30").replace("nodes.amount", "nodes.amuont");
    game.folder.write("nodes/maths.lua", &renamed);
    game.logged(
        errors,
        "units/own.unit:4: node amount: there is no node type 'maths.amount', did you mean \
         'maths.amuont'?",
    );
    let errors = log::error_count();
    assert_eq!(added(&mut game), 0.0);
    game.logged(errors, "node amount (maths.amount): its node type does not exist any more");
    game.folder.write("nodes/maths.lua", nodes(other, "40"));
    game.wait_until("the new function runs", |game| added(game) == 40.0);
}

#[test]
fn wrong_nodes_in_lua_are_reported() {
    let names: String = (1..=33).map(|at| format!("\"e{at}\", ")).collect();
    let events = format!("events = {{ {names} }}");
    let cases = [
        (
            "inputs = { { name = \"speed\", type = \"number\", default = \"fast\" } }",
            "the default of 'speed' must be a number",
        ),
        (
            "inputs = { { name = \"a\", choices = \"x\" } }",
            "'a': 'choices' must be a list of texts",
        ),
        (
            "inputs = { { name = \"a\", choices = { 1, 2 } } }",
            "'a': 'choices' must be a list of texts",
        ),
        (
            "inputs = { { name = \"a\", optional = \"yes\" } }",
            "'a': 'optional' must be true or false",
        ),
        ("inputs = { { name = \"a\" }, { name = \"a\" } }", "two inputs have the name 'a'"),
        ("inputs = { { name = \"in\" } }", "two inputs have the name 'in'"),
        ("events = \"opened\"", "'events' must be a list of names"),
        ("events = { { was = \"a\" } }", "an event needs a name"),
        ("events = { { name = \"a\", wsa = \"b\" } }", "an event has the unknown field 'wsa'"),
        ("inputs = { { name = \"a\", was = 3 } }", "'a': 'was' must be an old name of the pin"),
        ("inputs = { { name = \"a\", was = \"a\" } }", "'was' has the name that the pin has now"),
        (
            "inputs = { { name = \"a\", was = \"c\" }, { name = \"b\", was = \"c\" } }",
            "two inputs had the name 'c'",
        ),
        (&events[..], "'events' has more than 32 names (CALL_EVENTS_MAX)"),
        ("query = 1", "'query' must be true or false"),
        ("query = true, events = { \"a\" }", "a query has no 'events'"),
    ];
    let names: Vec<String> = (0..cases.len()).map(|at| format!("nodes/wrong{at}.lua")).collect();
    let texts: Vec<String> = cases
        .iter()
        .map(|(fields, _)| format!("return {{ a = {{ {fields}, run = function() end }} }}"))
        .collect();
    let mut files: Vec<(&str, &str)> = vec![("main.lua", "")];
    files.extend(names.iter().zip(&texts).map(|(name, text)| (&name[..], &text[..])));
    files.push(("graphs/a.flow", "nodes = { s = { type = \"event.spawned\" } }"));
    let (code, out, err) = folder("wrong_nodes", &files).engine(&["check", "."]);
    let output = out + &err;
    assert_ne!(code, 0);
    for (at, (_, message)) in cases.iter().enumerate() {
        let line = format!(" nodes/wrong{at}.lua:1: ");
        let found = output.lines().find(|text| text.contains(&line) && text.contains(message));
        assert!(found.is_some(), "{message}\n{output}");
    }
}

/// A game whose state is only in graphs: variables, delays, timelines, random numbers.
const STATE: &str = "flow = {\n\
    variables = { sum = { type = \"number\" } words = { type = \"text\" } }\n\
    nodes = {\n\
    tick = { type = \"event.timer\" inputs = { seconds = 0.05 } }\n\
    number = { type = \"number.random\" inputs = { most = 10 } }\n\
    add = { type = \"variable.add\" variable = \"sum\" inputs = { amount = { wire = \
    \"number.result\" } } }\n\
    sum = { type = \"variable.value\" variable = \"sum\" }\n\
    keep = { type = \"variable.set\" variable = \"words\" inputs = { value = { wire = \
    \"sum.value\" } } }\n\
    wait = { type = \"flow.delay\" inputs = { seconds = 0.125 } }\n\
    swing = { type = \"flow.timeline\" curves = { x = [[0, 0], [0.3, 1]] } }\n\
    }\n\
    events = { \"tick.out > add.in\" = true \"add.out > keep.in\" = true \
    \"keep.out > wait.in\" = true \"wait.out > swing.play\" = true }\n\
    }\n";

#[test]
fn recordings_compare_the_state_of_graphs() {
    let main = NODES_MAIN.replace("Application.new_world()", "Application.main_world()");
    let folder = folder(
        "recorded",
        &[("main.lua", &main), ("settings.sjson", "id = \"graphs\"\n"), ("units/own.unit", STATE)],
    );
    let record = ["run", ".", "--headless", "--frames", "60", "--seed", "3"];
    let recorded = folder.engine(&[&record[..], &["--record", "a.recording"]].concat());
    assert_eq!(recorded.0, 0, "{}", recorded.2);
    let replay = ["run", ".", "--headless", "--replay", "a.recording"];
    let (code, _, output) = folder.engine(&replay);
    assert!(code == 0 && output.contains("replayed 60 frames"), "{output}");
    // The delay ends one frame later, and nothing else differs.
    folder.write("units/own.unit", STATE.replace("seconds = 0.125", "seconds = 0.14"));
    let (code, _, output) = folder.engine(&replay);
    assert_ne!(code, 0, "{output}");
    assert!(output.contains("worlds") && output.contains("graphs"), "{output}");
}

#[test]
fn an_endless_node_in_lua_is_reported_with_its_graph() {
    let main = NODES_MAIN.replace(
        "function update(dt)",
        "function update(dt) Unit.flow_event(World.units(world)[1], \"go\")",
    );
    let folder = folder(
        "endless",
        &[
            ("main.lua", &main),
            ("settings.sjson", "limits = { update_seconds = 0.2 }"),
            (
                "units/own.unit",
                "flow = { nodes = { go = { type = \"event.custom\" name = \"go\" } \
                 stuck = { type = \"bad.hang\" } } events = { \"go.out > stuck.in\" = true } }",
            ),
            ("nodes/bad.lua", "return { hang = { run = function() while true do end end } }"),
        ],
    );
    let (code, _, output) = folder.engine(&["run", ".", "--headless", "--frames", "3"]);
    assert_ne!(code, 0);
    assert!(output.contains("When running node: stuck of graph units/own.unit"), "{output}");
    assert!(output.contains("without an end") && output.contains("nodes/bad.lua:1"), "{output}");
}

#[test]
fn a_check_reports_all_errors_of_graphs_with_file_and_line() {
    let graph = "nodes = {\n\
        a = { type = \"flow.brnch\" }\n\
        b = { type = \"flow.delay\" inputs = { secnds = 2 } }\n\
        c = { type = \"flow.for\" }\n\
        d = { type = \"number.add\" inputs = {\n\
        a = { wire = \"d.result\" }\n\
        } }\n\
        e = { type = \"event.spawned\" }\n\
        }\n\
        events = {\n\
        \"e.out > gone.in\" = true\n\
        \"c.body > b.in\" = true\n\
        \"e.out > c.in\" = true\n\
        }\n";
    let merged = "nodes = {\n\
        a = { type = \"event.spawned\" }\n\
        a = { type = \"event.destroyed\" }\n\
        }\n";
    let folder = folder(
        "checked",
        &[
            ("main.lua", ""),
            ("graphs/bad.flow", graph),
            ("graphs/merged.flow", merged),
            ("units/heir.unit", "inherit = \"units/base\"\nflow = { nodes = {\n x = null } }\n"),
            ("units/base.unit", &block(&adding("1"))),
            (
                "units/good.unit",
                "inherit = \"units/base\"\nflow = { nodes = { add = null } \
             events = { \"go.out > add.in\" = null } }",
            ),
            (
                "units/idle.unit",
                "flow = { nodes = {\n p = { type = \"debug.print\" inputs = { \
             value = \"x\" } } } }",
            ),
            (
                "levels/yard.level",
                "units = { gate = { unit = \"units/base\" } }\nflow = { nodes = {\n\
             go = { type = \"event.level_loaded\" }\n\
             send = { type = \"event.send\" name = \"go\" inputs = { to = \"gaet\" } } }\n\
             events = { \"go.out > send.in\" = true } }",
            ),
        ],
    );
    let (code, out, err) = folder.engine(&["check", "."]);
    let output = out + &err;
    assert_ne!(code, 0);
    for part in [
        "graphs/bad.flow:2: node a: there is no node type 'flow.brnch', did you mean \
         'flow.branch'?",
        "graphs/bad.flow:3: node b, pin 'secnds': there is no such input, did you mean 'seconds'?",
        "graphs/bad.flow:4: node c, pin 'last': has no value: connect a wire, or set a value",
        "graphs/bad.flow:11: node e: leads to the node 'gone', which does not exist",
        "graphs/merged.flow:3",
        "'flow.nodes.x' is null, which removes what is inherited",
        "units/idle.unit:2: node p: no event reaches this node, so it never runs",
        "levels/yard.level:4: node send, pin 'to'",
    ] {
        assert_eq!(output.matches(part).count(), 1, "{part}\n{output}");
    }
    assert!(!output.contains("units/good"), "{output}");
    assert!(!output.contains("graph graphs/bad.flow"), "reported again\n{output}");
}

#[test]
fn a_check_names_missing_resources_and_broken_subgraphs_once() {
    let inner = "inputs = { go = { type = \"event\" } }\n\
        nodes = { i = { type = \"graph.inputs\" }\n b = { type = \"flow.brnch\" } }\n";
    let user = "flow = { nodes = {\n\
        go = { type = \"event.spawned\" }\n\
        a = { type = \"graph\" graph = \"graphs/inner\" }\n\
        } events = { \"go.out > a.go\" = true } }";
    let names = "nodes = {\n\
        go = { type = \"event.spawned\" }\n\
        a = { type = \"unit.spawn\" inputs = { resource = \"units/usr\" } }\n\
        b = { type = \"sample.show\" inputs = { effect = \"fx/gone\" unit = \"units/user\" } }\n\
        }\n\
        events = { \"go.out > a.in\" = true \"a.out > b.in\" = true }\n";
    let nodes = "return { show = { inputs = {\n\
        { name = \"effect\", type = \"resource\", resource = \"particles\" },\n\
        { name = \"unit\", type = \"resource\", resource = \"unit\" },\n\
        }, run = function() end } }\n";
    let level = "units = { gate = { unit = \"units/user\" } }\nflow = \"graphs/yard\"\n";
    let yard = "nodes = {\n\
        go = { type = \"event.custom\" name = \"go\" }\n\
        a = { type = \"event.send\" name = \"x\" inputs = { to = \"gate\" } }\n\
        b = { type = \"event.send\" name = \"x\" inputs = { to = \"gaet\" } }\n\
        } events = { \"go.out > a.in\" = true \"go.out > b.in\" = true }\n";
    let folder = folder(
        "missing",
        &[
            ("main.lua", ""),
            ("nodes/sample.lua", nodes),
            ("graphs/inner.flow", inner),
            ("graphs/names.flow", names),
            ("graphs/yard.flow", yard),
            ("units/user.unit", user),
            ("levels/yard.level", level),
        ],
    );
    let (code, out, err) = folder.engine(&["check", "."]);
    let output = out + &err;
    assert_ne!(code, 0);
    for part in [
        "graphs/inner.flow:3: node b: there is no node type 'flow.brnch'",
        "flow.brnch",
        "units/user.unit:3: node a: the graph 'graphs/inner' has errors",
        "units/usr",
        "graphs/names.flow:4: node b, pin 'effect': there is no effect 'fx/gone'",
        // A shared graph knows the units of the level that uses it.
        "graphs/yard.flow:4: node b, pin 'to': ",
    ] {
        assert_eq!(output.matches(part).count(), 1, "{part}\n{output}");
    }
    assert!(!output.contains("graphs/yard.flow:3"), "{output}");
}
