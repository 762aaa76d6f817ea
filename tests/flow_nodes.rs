//! Tests of nodes in Lua outside of a running folder: in bundles and packages, in the content tools
//! and in the check; and of the notes and the errors of graphs that a person reads.

use super::game_folder::{GameFolder, outcome};
use super::start::start;
use engine::app::{self, App, GameLaunch};
use engine::foundation::log;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// Spawns the unit `u`, whose graph says "hi" by a node in Lua.
const MAIN: &str = "function init() World.spawn_unit(Application.main_world(), \"u\") end\n\
                    function update(dt) World.update(Application.main_world(), dt) end\n";
const UNIT: &str = "flow = {\n  nodes = {\n    s = { type = \"event.spawned\" }\n    \
                    h = { type = \"my.hi\" }\n  }\n  events = { \"s.out > h.in\" = true }\n}\n";
const NODES: &str = "return { hi = { run = function() print(\"hi\") end } }\n";

fn folder(name: &str, files: &[(&str, &str)]) -> GameFolder {
    let folder = GameFolder::new("flow_nodes", name);
    let base = [("main.lua", MAIN), ("u.unit", UNIT), ("nodes/my.lua", NODES)];
    base.iter().chain(files).for_each(|(path, text)| folder.write(path, text));
    folder
}

/// Runs a command. Returns its exit code, and all that it prints.
#[track_caller]
fn run(folder: &GameFolder, arguments: &[&str]) -> (i32, String) {
    let (code, out, err) = folder.engine(arguments);
    (code, out + &err)
}

#[track_caller]
fn text(folder: &GameFolder, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn nodes_in_lua_run_in_a_bundle_and_in_a_package() {
    let main = MAIN.replace("World.update", "Application.quit(7) World.update");
    let unit = UNIT.replace(
        "\n  }\n  events = {",
        "\n    d = { type = \"sub.doors.open\" }\n  }\n  \
                            events = { \"h.out > d.in\" = true ",
    );
    let sub = "return { open = { run = function() print(\"opens\") end } }\n";
    let files = [("main.lua", &main[..]), ("u.unit", &unit[..]), ("nodes/sub/doors.lua", sub)];
    let folder = folder("bundle", &files);
    let wanted = (7, "hi\nopens\n".to_string());
    assert_eq!(run(&folder, &["run", ".", "--headless"]), wanted);
    let (code, output) = run(&folder, &["compile", ".", "--bundle", "--out", "g.bundle"]);
    assert_eq!(code, 0, "{output}");
    assert_eq!(run(&folder, &["run", "g.bundle", "--headless"]), wanted);
    if !cfg!(target_os = "linux") {
        return;
    }
    let package = GameFolder::new("flow_nodes", "package");
    folder.write("settings.sjson", "package = { title = \"Yard\", version = \"1.2\" }\n");
    let (code, output) = run(&package, &["package", folder.to_str().unwrap(), "--out", "out"]);
    assert_eq!(code, 0, "{output}");
    let file = format!("out/yard-1.2-linux-{}.tar.gz", std::env::consts::ARCH);
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(package.join(file)).arg("-C").arg(&*package);
    assert!(tar.status().expect("tar runs").success());
    let game = package.join("yard-1.2/yard");
    let (code, out, err) =
        outcome(&mut package.command(&["run", game.to_str().unwrap(), "--headless"]));
    assert_eq!((code, out + &err), wanted);
}

#[test]
fn a_bundle_without_the_nodes_of_a_graph_is_refused() {
    let exclude = "bundle = { exclude = [\"nodes/**\"] }\n";
    let folder = folder("excluded", &[("settings.sjson", exclude)]);
    let compile = ["compile", ".", "--bundle", "--out", "g.bundle"];
    let refused = |more: &[&str], wanted: &str| {
        let (code, output) = run(&folder, &[&compile, more].concat());
        assert!(code == 1 && output.contains(wanted), "{wanted}: {output}");
        assert!(!folder.join("g.bundle").exists(), "{output}");
    };
    let wanted = "error: u.unit:4: the node type 'my.hi' is in nodes/my.lua, which is not in the \
                  bundle\n";
    refused(&[], wanted);
    refused(&["--skip-check"], wanted);
    // Without the check, too, a type that no script has is found here, and not by the players.
    fs::remove_file(folder.join("settings.sjson")).unwrap();
    folder.write("u.unit", UNIT.replace("my.hi", "mi.hi"));
    refused(&["--skip-check"], "u.unit:4: there is no node type 'mi.hi', did you mean 'my.hi'?");
    // A script of another platform is not in the bundle, either.
    folder.write("u.unit", UNIT);
    fs::rename(folder.join("nodes/my.lua"), folder.join("nodes/my.linux.lua")).unwrap();
    let of = |platform| [&compile[..], &["--skip-check", "--platform", platform]].concat();
    let (code, output) = run(&folder, &of("windows"));
    assert!(code == 1 && output.contains("u.unit:4: the node type 'my.hi' is in"), "{output}");
    assert!(output.contains("that are of another platform"), "{output}");
    let (code, output) = run(&folder, &of("linux"));
    assert_eq!(code, 0, "{output}");
    fs::rename(folder.join("nodes/my.linux.lua"), folder.join("nodes/my.lua")).unwrap();
    folder.write("u.unit", UNIT.replace("my.hi", "mi.hi"));
    // A unit that is not in the bundle needs no nodes.
    folder.write("settings.sjson", "bundle = { exclude = [\"*.unit\"] }\n");
    let (code, output) = run(&folder, &[&compile[..], &["--skip-check"]].concat());
    assert_eq!(code, 0, "{output}");
}

#[test]
fn content_tools_know_the_nodes_that_graphs_use() {
    let shared = "nodes = {\n  s = { type = \"event.spawned\" }\n  h = { type = \"my.hi\" }\n  \
                  v = { type = \"debug.print\" inputs = { value = \"x\" } }\n}\n\
                  events = { \"s.out > h.in\" = true \"h.out > v.in\" = true }\n";
    let level = "units = {}\nflow = \"graphs/door\"\n";
    let main = format!("-- World.spawn_level(w, \"l\")\nlocal l = \"l\"\n{MAIN}");
    let files = [("main.lua", &main[..]), ("graphs/door.flow", shared), ("l.level", level)];
    let folder = folder("tools", &files);
    let has = |arguments: &[&str], code: i32, wanted: &str| {
        let (found, output) = run(&folder, arguments);
        assert!(found == code && output.contains(wanted), "{arguments:?} {found}: {output}");
    };
    has(&["deps", ".", "--unused"], 0, ", 0 unused");
    let own = "flow = { nodes = { v = { type = \"Unit.set_unit_visibility\" inputs = { visible = \
               true } } p = { type = \"unit.position\" } } }\n";
    folder.write("engines.unit", own);
    has(&["deps", ".", "--missing"], 0, ", 0 missing names");
    fs::remove_file(folder.join("engines.unit")).unwrap();
    has(
        &["deps", ".", "nodes/my"],
        0,
        "Used by: 2\n  graphs/door.flow  graphs/door.flow:3\n  u.unit  u.unit:4\n",
    );
    has(&["explain", ".", "graphs/door"], 0, "Names:\n  nodes/my.lua\n");
    has(&["explain", ".", "nodes/my"], 0, "Named by:\n  graphs/door.flow\n  u.unit\n");
    let (_, output) = run(&folder, &["explain", ".", "graphs/door"]);
    assert!(!output.contains("contains the graph"), "{output}");
    let refused =
        "error: 'nodes/my' is used:\n  graphs/door.flow:3: 'my.hi'\n  u.unit:4: 'my.hi'\n";
    has(&["rm", ".", "nodes/my"], 1, refused);
    has(
        &["mv", ".", "nodes/my", "scripts/my"],
        1,
        "'nodes/my.lua' is used as a type of nodes, and types of nodes are in nodes/",
    );
    has(&["mv", ".", "nodes/my", "nodes/sub/your"], 0, "u.unit:4: 'my.hi' -> 'sub.your.hi'");
    assert_eq!(text(&folder, "u.unit"), UNIT.replace("my.hi", "sub.your.hi"));
    assert_eq!(text(&folder, "graphs/door.flow"), shared.replace("my.hi", "sub.your.hi"));
    has(&["check", "."], 0, "checked");
    has(&["undo"], 0, "undone: mv nodes/my nodes/sub/your");
    assert_eq!(text(&folder, "u.unit"), UNIT);
    // While a file has an error, its texts can name nodes.
    folder.write("graphs/door.flow", shared.replace("v = {", "v = = {"));
    has(&["rm", ".", "nodes/my"], 1, "graphs/door.flow:3: 'my.hi' (likely)");
    folder.write("graphs/door.flow", shared);
    let bundle = ["compile", ".", "--bundle", "--reachable", "--out", "g.bundle"];
    let (code, output) = run(&folder, &bundle);
    assert!(code == 0 && !output.contains("not in the bundle"), "{output}");
    assert_eq!(run(&folder, &["run", "g.bundle", "--headless", "--frames", "2"]).1, "hi\n");
    has(&["rm", ".", "nodes/my", "--force"], 0, "remove nodes/my.lua");
    has(&["deps", ".", "--missing"], 1, "u.unit:4: there is no node type 'my.hi'\n");
    folder.write("nodes/mine.lua", NODES);
    has(&["replace", ".", "nodes/my.lua", "nodes/mine.lua"], 0, "'my.hi' -> 'mine.hi'");
    assert_eq!(text(&folder, "u.unit"), UNIT.replace("my.hi", "mine.hi"));
}

#[test]
fn a_check_reports_each_error_of_nodes_once() {
    let graph = "nodes = {\n  s = { type = \"event.spawned\" }\n  g = { type = \"graph\" graph = \
                 \"graphs/none\" }\n}\nevents = { \"s.out > g.in\" = true }\n";
    // The file that never ends takes its whole time.
    let settings = "limits = { init_seconds = 0.2 }\n";
    let endless = ("nodes/aaa.lua", "while true do end\n");
    let folder = folder("once", &[endless, ("graphs/a.flow", graph), ("settings.sjson", settings)]);
    let (code, output) = run(&folder, &["check", "."]);
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("nodes/aaa.lua:1: stopped: this ran for"), "{output}");
    // The other files are used.
    assert!(!output.contains("my.hi"), "{output}");
    assert_eq!(output.matches("graphs/none").count(), 1, "{output}");
    folder.write("nodes/aaa.lua", "return {\n a = { run = function(\n}\n");
    let (_, output) = run(&folder, &["check", "."]);
    assert_eq!(output.matches("nodes/aaa.lua").count(), 1, "{output}");
}

#[test]
fn errors_of_nodes_in_lua_speak_of_the_node() {
    let unit = |node: &str| UNIT.replace("my.hi", node);
    let nodes = "local n = {}\n\
        n.list = { outputs = { { name = \"all\", type = \"list\" } },\n\
        run = function() return { 1, {} } end }\n\
        n.waits = { run = function() coroutine.yield() end }\n\
        n.sorts = { run = function() coroutine.wrap(function()\n\
        table.sort({ 2, 1, 3 }, function() coroutine.yield() end) end)() end }\n\
        n.event = { events = { \"a\" }, run = function()\n\
        Application.flow_callback_return_event(\"c\") end }\n\
        n.light = { run = function() Unit.set_unit_visibility(nil, true) end }\n\
        return n\n";
    let folder = folder("wording", &[("nodes/my.lua", nodes)]);
    let logs = |node: &str, wanted: &[&str]| {
        folder.write("u.unit", unit(node));
        let (_, output) = run(&folder, &["run", ".", "--headless", "--frames", "2"]);
        wanted.iter().for_each(|part| assert!(output.contains(part), "{part}: {output}"));
        for part in ["[engine] boot/core", "in function 'fn'", "C-call boundary"] {
            let is_wanted = wanted.iter().any(|wanted| wanted.contains(part));
            assert!(is_wanted || !output.contains(part), "{part}: {output}");
        }
        output
    };
    logs("my.list", &["the output 'all': item 2 of the list is a list"]);
    logs("my.waits", &["the function waits (coroutine.yield), and a graph needs its results"]);
    // In a coroutine of its own, the graph is not the reason.
    let output = logs("my.sorts", &["attempt to yield across C-call boundary"]);
    assert!(!output.contains("the function waits"), "{output}");
    logs("my.event", &["the node has no event output 'c'", "in function 'run'"]);
    logs("my.light", &["Unit.set_unit_visibility", "in function 'run'"]);
}

fn watched(folder: &GameFolder) -> App {
    let launch = GameLaunch::headless(app::Game::Folder(folder.to_path_buf()));
    start(GameLaunch { watch: true, ..launch })
}

/// Returns the lines after a number of lines. Other tests write to the same log.
fn lines_since(number: u64) -> Vec<String> {
    log::lines_after(number).1.into_iter().map(|(_, line)| line).collect()
}

/// Plays until one of the lines contains a text.
#[track_caller]
fn wait(app: &mut App, lines: &dyn Fn() -> Vec<String>, wanted: &str) {
    let start = Instant::now();
    while !lines().iter().any(|line| line.contains(wanted)) {
        assert!(start.elapsed() < Duration::from_secs(60), "{wanted}: {:?}", lines());
        std::thread::sleep(Duration::from_millis(5));
        app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
    }
}

#[test]
fn a_saved_graph_and_deleted_nodes_are_reported() {
    let shared = |name: &str| {
        format!(
            "nodes = {{ s = {{ type = \"event.custom\" name = \"{name}\" }} h = {{ type = \
             \"my.hi\" }} }}\nevents = {{ \"s.out > h.in\" = true }}\n"
        )
    };
    let files = [("u.unit", "flow = \"graphs/door\"\n"), ("graphs/door.flow", &shared("a")[..])];
    let folder = folder("saved", &files);
    let mut app = watched(&folder);
    let reloaded = "reloaded graphs/door.flow: 1 graph that runs uses it";
    let first = log::lines_after(0).0;
    folder.write("graphs/door.flow", shared("b"));
    wait(&mut app, &|| lines_since(first), reloaded);
    // A graph and its new nodes can be saved together.
    let (errors, second) = (log::error_count(), log::lines_after(0).0);
    let new_errors = || log::errors_since(errors);
    folder.write("nodes/new.lua", NODES);
    folder.write("graphs/door.flow", shared("c").replace("my.hi", "new.hi"));
    wait(&mut app, &|| lines_since(second), reloaded);
    assert!(!new_errors().iter().any(|line| line.contains("new.hi")), "{:?}", new_errors());
    // One that cannot be compiled with them is not reported as used.
    let third = log::lines_after(0).0;
    folder.write("nodes/new.lua", NODES.replace("\"hi\"", "\"hello\""));
    folder.write("graphs/door.flow", shared("d").replace("my.hi", "none.hi"));
    wait(&mut app, &new_errors, "there is no node type 'none.hi'");
    let lines = lines_since(third);
    assert!(!lines.iter().any(|line| line.contains(reloaded)), "{lines:?}");
    folder.write("graphs/door.flow", shared("e").replace("my.hi", "new.hi"));
    wait(&mut app, &|| lines_since(third), reloaded);
    fs::remove_file(folder.join("nodes/new.lua")).unwrap();
    wait(&mut app, &new_errors, "node h: there is no node type 'new.hi'");
}

#[test]
fn a_saved_graph_counts_only_the_graphs_that_use_it() {
    let unit = "flow = { nodes = { g = { type = \"graph\" graph = \"graphs/gate\" } } }\n";
    let gate =
        |name: &str| format!("nodes = {{ s = {{ type = \"event.custom\" name = \"{name}\" }} }}\n");
    let folder = folder("counted", &[("u.unit", unit), ("graphs/gate.flow", &gate("a"))]);
    let mut app = watched(&folder);
    let first = log::lines_after(0).0;
    folder.write("graphs/gate.flow", gate("b"));
    wait(&mut app, &|| lines_since(first), "reloaded graphs/gate.flow: 1 graph that runs uses it");
    // The graph of the unit that is spawned stays as it is when its file has none any more.
    let second = log::lines_after(0).0;
    folder.write("u.unit", "");
    wait(
        &mut app,
        &|| lines_since(second),
        "u.unit: 1 graphs keep the previous version until they are spawned again",
    );
    folder.write("graphs/gate.flow", gate("c"));
    let unused = "reloaded graphs/gate.flow: graphs that start from now on use it";
    wait(&mut app, &|| lines_since(second), unused);
    // The same holds when the file is gone.
    fs::remove_file(folder.join("u.unit")).unwrap();
    wait(&mut app, &|| lines_since(second), "u.unit was deleted");
    let third = log::lines_after(0).0;
    folder.write("graphs/gate.flow", gate("d"));
    wait(&mut app, &|| lines_since(third), unused);
    fs::remove_file(folder.join("graphs/gate.flow")).unwrap();
    wait(&mut app, &|| lines_since(third), "graphs/gate.flow was deleted: 1 graph");
}
