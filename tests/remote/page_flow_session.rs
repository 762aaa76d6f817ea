//! Sessions in the editor of Flow graphs with mouse and keyboard, in a real browser: a graph
//! is built from nothing, runs, is broken and repaired; names are picked from lists; the history
//! leads to nodes; conflicts with the file on disk are decided; graphs follow renamed pins.
//!
//!     ENGINE_SHOW_FLOW=/tmp/flow cargo test --test all page_flow_session
//!
//! writes pictures of the first session, and the difference of the saved file, into a folder.

use super::browser::Browser;
use super::inspection::unbase64;
use super::page_flow::{control, drag, note};
use super::{GameProcess, WAIT_MAX, check_running, eval, text};
use crate::game_folder::combined_output;
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use std::fs;
use std::time::{Duration, Instant};

const MAIN: &str = "function init()\n  world = Application.main_world()\n  \
    crate = World.spawn_unit(world, 'crate')\nend\n\
    function hits() return Unit.alive(crate) and Unit.flow_variable(crate, 'hits') end\n";

const CRATE: &str = "// A wooden crate.\ninherit = \"core/units/cube\"\n";

const GRAPH: &str = "flow = {
  variables = { hits = { type = \"number\" value = 0 } }
  nodes = {
    n1 = { type = \"event.custom\" name = \"hit\" }
    n2 = { type = \"variable.add\" variable = \"hits\" inputs = { amount = 1 } }
    n3 = { type = \"event.raise\" name = \"counted\" inputs = { value = { wire = \"n2.value\" } } }
  }
  events = { \"n1.out > n2.in\" = true \"n2.out > n3.in\" = true }
  positions = { n1 = [0, 0] n2 = [17, 0] n3 = [34, 0] }
}
";

/// Starts a game with a crate, and opens the view of graphs with the mouse.
fn open(browser: &mut Browser, name: &str, crate_file: &str, more: &[(&str, &str)]) -> GameProcess {
    let files = [&[("main.lua", MAIN), ("crate.unit", crate_file)], more].concat();
    let game = GameProcess::start_with(name, &files, &[]);
    check_running(&mut game.connect());
    browser.resize(1500.0, 900.0, 1.0);
    browser.open(&game.session.address());
    click(browser, "#tab-flow");
    click(browser, "[aria-label=\"Give the graph the whole page\"]");
    game
}

fn click(browser: &mut Browser, selector: &str) {
    browser.wait_for(&format!("document.querySelector('{selector}') !== null"));
    drag(browser, selector, &[]);
}

/// Types into the list that is open, and chooses the first entry when it contains a text.
fn choose(browser: &mut Browser, typed: &str, name: &str) {
    let option = "document.querySelector('.flow-palette [role=option]')";
    browser.wait_for(&format!("{option} !== null"));
    browser.write(typed);
    browser.wait_for(&format!("{option}?.innerText.startsWith('{name}')"));
    // An entry can open the next list.
    browser.value("window.list = document.querySelector('.flow-palette')");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelector('.flow-palette') !== window.list");
}

/// Focuses the drawing, and shows all of it.
fn show_all(browser: &mut Browser) {
    browser.value("document.querySelector('.flow-canvas').focus()");
    browser.press("0", "Digit0", 0.0, "");
    browser.wait_until_still(".flow-node");
}

/// Returns the node with the focus, after a new one was added.
fn added(browser: &mut Browser, count: usize) -> String {
    browser.wait_for(&format!("document.querySelectorAll('.flow-node').length === {count}"));
    browser.wait_for("document.activeElement.classList.contains('flow-node')");
    browser.value("document.activeElement.dataset.node")
}

/// Edits a value of a node with the mouse and the keyboard.
fn edit(browser: &mut Browser, node: &str, row: &str, value: &str) {
    click(browser, &format!("[data-node={node}] [data-row=\"{row}\"] .value"));
    browser.wait_for("document.activeElement.closest('.editing') !== null");
    browser.write(value);
    browser.press("Escape", "Escape", 0.0, "");
}

/// Moves from pin to pin of a node with the keyboard.
fn walk_to(browser: &mut Browser, node: &str, pin: &str) {
    browser.value(&format!("document.querySelector('[data-node={node}]').focus()"));
    browser.press("Enter", "Enter", 0.0, "\r");
    for _ in 0..12 {
        if browser.value("document.activeElement.dataset.pin") == pin {
            return;
        }
        browser.press("ArrowDown", "ArrowDown", 0.0, "");
    }
    panic!("the pin {pin} of {node} is not reached");
}

fn save(browser: &mut Browser) {
    browser.value("document.querySelector('.flow-canvas').focus()");
    control(browser, "s");
    browser.wait_for("document.querySelector('[aria-label^=\"Save into\"]').disabled");
}

/// Sends the custom event `hit` to the watched instance, as a person types it.
fn send_hit(browser: &mut Browser) {
    // Events are recorded once the values of pins are shown.
    browser.wait_for(
        "[...document.querySelectorAll('.flow-node .last')].some(it => it.textContent !== '')",
    );
    click(browser, "[aria-label=\"Name of a custom event\"]");
    browser.value("document.activeElement.select()");
    browser.write("hit");
    browser.press("Enter", "Enter", 0.0, "\r");
}

/// Waits until an expression of the game has a value.
fn wait_for_value(game: &GameProcess, expression: &str, value: &str) {
    let mut client = game.connect();
    let end = Instant::now() + WAIT_MAX;
    loop {
        let now = eval(&mut client, expression);
        if now == value {
            return;
        }
        assert!(Instant::now() < end, "{expression} is {now}, not {value}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn read(game: &GameProcess, path: &str) -> String {
    fs::read_to_string(game.folder.join("game").join(path)).expect("it exists")
}

/// Writes a picture of the page, if a folder for them is chosen.
fn picture(browser: &mut Browser, name: &str) {
    let Some(folder) = std::env::var_os("ENGINE_SHOW_FLOW") else { return };
    std::thread::sleep(Duration::from_millis(500));
    let taken = browser.call("Page.captureScreenshot", vec![("format", json::text("png"))]);
    let folder = std::path::PathBuf::from(folder);
    fs::create_dir_all(&folder).expect("it can be created");
    let file = folder.join(format!("{name}.png"));
    fs::write(file, unbase64(&text(&taken, "data"))).expect("it can be written");
}

/// Writes the difference of the saved file, if a folder for it is chosen.
fn difference(game: &GameProcess) {
    let Some(folder) = std::env::var_os("ENGINE_SHOW_FLOW") else { return };
    game.folder.write("before.unit", CRATE);
    let arguments = ["diff", "--no-index", "before.unit", "game/crate.unit"];
    let (_, shown) = combined_output(&mut game.folder.program("git", &arguments));
    let file = std::path::PathBuf::from(folder).join("saved.diff");
    fs::write(file, shown).expect("it can be written");
}

/// Builds the graph of the first session of docs/flow.md. Returns the nodes that are used later.
fn build(browser: &mut Browser) -> (String, String) {
    browser.wait_for(&note("no graphs"));
    click(browser, ".graph-name");
    choose(browser, "graph of a unit", "Graph of a unit or level");
    choose(browser, "crate", "crate.unit");
    browser.wait_for("document.querySelector('.graph-name').textContent === 'crate.unit'");
    click(browser, ".flow-canvas");
    browser.press(" ", "Space", 0.0, "");
    choose(browser, "custom", "Custom event");
    let hit = added(browser, 1);
    edit(browser, &hit, "set name", "hit");
    click(browser, "[data-page=Values]");
    click(browser, "#flow-page button.add");
    browser.wait_for("document.activeElement.classList.contains('name')");
    browser.write("hits");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelector('[data-name=hits]') !== null");
    picture(browser, "1_variable");
    // A wire into the ground, which the panel ends.
    drag(browser, &format!("[data-node={hit}] [data-pin=out]"), &["#flow-page", ".flow-canvas"]);
    choose(browser, "add to", "Add to variable");
    let count = added(browser, 2);
    click(browser, &format!("[data-node={count}] [data-row=\"set variable\"] .value"));
    browser.wait_for("document.activeElement.matches('select')");
    browser.press("ArrowDown", "ArrowDown", 0.0, "");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.activeElement.value === '0'");
    browser.press("Escape", "Escape", 0.0, "");
    // From here on with the keyboard: pins, and what fits them.
    walk_to(browser, &count, "value");
    browser.press("Enter", "Enter", 0.0, "\r");
    choose(browser, "greater or equal", "Greater or equal");
    let enough = added(browser, 3);
    edit(browser, &enough, "in b", "3");
    walk_to(browser, &enough, "result");
    browser.press("Enter", "Enter", 0.0, "\r");
    choose(browser, "branch", "Branch");
    let branch = added(browser, 4);
    show_all(browser);
    let from = format!("[data-node={count}] [data-pin=out]");
    drag(browser, &from, &[&format!("[data-node={branch}] [data-pin=in]")]);
    browser.wait_for("document.querySelectorAll('.flow-wires path').length === 4");
    walk_to(browser, &branch, "true");
    browser.press("Enter", "Enter", 0.0, "\r");
    choose(browser, "destroy unit", "Destroy unit");
    added(browser, 5);
    browser.press("l", "KeyL", 0.0, "");
    show_all(browser);
    picture(browser, "2_built");
    (hit, branch)
}

#[test]
fn graph_is_built_run_broken_and_repaired() {
    let Some(mut browser) = Browser::start("flow-session-browser") else { return };
    let game = open(&mut browser, "flow-session", CRATE, &[]);
    let (hit, branch) = build(&mut browser);
    save(&mut browser);
    let saved = read(&game, "crate.unit");
    assert!(saved.starts_with(CRATE), "{saved}");
    for part in ["unit.destroy", "variable = \"hits\"", "b = 3", "name = \"hit\""] {
        assert_eq!(saved.matches(part).count(), 1, "{part} in {saved}");
    }
    difference(&game);
    // The unit that runs already gets the graph, and the only instance is watched.
    click(&mut browser, "[data-page=Live]");
    browser.wait_for("document.querySelector('.flow-side select')?.value === '0'");
    send_hit(&mut browser);
    let ran = |node: &str| {
        format!("document.querySelector('[data-node={node}] .count').textContent.startsWith('×')")
    };
    browser.wait_for(&ran(&branch));
    picture(&mut browser, "3_live");
    // A breakpoint stops the game before the branch.
    click(&mut browser, &format!("[data-node={branch}] .head"));
    browser.press("F9", "F9", 0.0, "");
    browser.wait_for(&note("breakpoint at"));
    send_hit(&mut browser);
    browser.wait_for("!document.querySelector('.flow-stopped').hidden");
    picture(&mut browser, "4_stopped");
    click(&mut browser, &format!("[data-node={branch}] .head"));
    browser.press("F10", "F10", 0.0, "");
    browser.press("F9", "F9", 0.0, "");
    browser.wait_for(&note("no breakpoint"));
    browser.press("F8", "F8", 0.0, "");
    browser.wait_for("document.querySelector('.flow-stopped').hidden");
    wait_for_value(&game, "hits()", "2");
    break_and_repair(&mut browser, &game, &branch);
    // The third hit destroys the crate.
    click(&mut browser, "[data-page=Live]");
    browser.wait_for("document.querySelector('.flow-side select')?.value === '0'");
    send_hit(&mut browser);
    wait_for_value(&game, "hits()", "false");
    // Its last events and values stay, and the panel says that it has ended.
    browser.wait_for("document.querySelector('.flow-side select')?.value === 'ended'");
    browser.wait_for(
        "document.querySelector('.flow-side').innerText.includes('This instance has ended')",
    );
    browser.wait_for("document.querySelector('.flow-side').innerText.includes('Destroy unit')");
    assert!(!hit.is_empty());
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// Removes a wire, saves the graph with its error, and takes that back.
fn break_and_repair(browser: &mut Browser, game: &GameProcess, branch: &str) {
    walk_to(browser, branch, "condition");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelector('.flow-palette [role=option]') !== null");
    browser.press("ArrowUp", "ArrowUp", 0.0, "");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for(&note("remove a wire"));
    browser.wait_for("document.querySelector('[data-page=Problems]').innerText === 'Problems 1'");
    click(browser, "[data-page=Problems]");
    browser.wait_for(
        "document.querySelector('#flow-page').innerText.includes('condition has no value')",
    );
    picture(browser, "5_broken");
    save(browser);
    browser.wait_for(&note("the game keeps the graph before until its error is repaired"));
    wait_for_value(game, "hits()", "2");
    browser.value("document.querySelector('.flow-canvas').focus()");
    control(browser, "z");
    browser.wait_for("document.querySelector('[data-page=Problems]').innerText === 'Problems'");
    save(browser);
    picture(browser, "6_repaired");
}

#[test]
fn resources_are_picked_from_lists() {
    let Some(mut browser) = Browser::start("flow-pick-browser") else { return };
    let graph = GRAPH.replace(
        "n1 = {",
        "n4 = { type = \"unit.spawn\" }\n    n5 = { type = \"unit.effect\" }\n    n1 = {",
    );
    let more = [("props/coin.unit", "inherit = \"core/units/cube\"\n")];
    let game = open(&mut browser, "flow-pick", &format!("{CRATE}{graph}"), &more);
    browser.wait_for("document.querySelectorAll('.flow-node').length === 5");
    show_all(&mut browser);
    // With the mouse: the value, its button, a row of the list.
    click(&mut browser, "[data-node=n4] [data-row=\"in resource\"] .value");
    browser.wait_for("document.activeElement.closest('.editing') !== null");
    click(&mut browser, "[data-node=n4] [data-row=\"in resource\"] .pick");
    let rows = "[...document.querySelectorAll('.flow-palette [role=option]')]\
        .map(it => it.innerText.trim()).join()";
    browser.wait_for(&format!("{rows} === 'crate,props/coin'"));
    click(&mut browser, ".flow-palette [role=option]:nth-child(2)");
    browser.wait_for("document.activeElement.value === 'props/coin'");
    browser.press("Escape", "Escape", 0.0, "");
    let shown = "document.querySelector('[data-node=n4] [data-row=\"in resource\"] .value')";
    browser.wait_for(&format!("{shown}.ariaLabel === 'Spawn unit: resource: props/coin'"));
    // A name that no resource has is a problem while it is typed, with its pin.
    edit(&mut browser, "n4", "in resource", "props/cion");
    let problem = "there is no unit \\'props/cion\\', did you mean \\'props/coin\\'?";
    browser.wait_for(&format!(
        "document.querySelector('[data-node=n4]').ariaLabel.includes('resource: {problem}')"
    ));
    edit(&mut browser, "n4", "in resource", "props/coin");
    // With the keyboard, in a list without entries.
    walk_to(&mut browser, "n5", "effect");
    // From the output of this name to the input, and to its value.
    for _ in 0..2 {
        browser.press("ArrowDown", "ArrowDown", 0.0, "");
    }
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.activeElement.closest('.editing') !== null");
    browser.press("Tab", "Tab", 0.0, "");
    browser.wait_for("document.activeElement.matches('.pick')");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelector('.flow-palette .doc')?.innerText === 'Nothing fits.'");
    browser.press("Escape", "Escape", 0.0, "");
    browser.wait_for("document.querySelector('.flow-palette') === null");
    save(&mut browser);
    assert!(read(&game, "crate.unit").contains("resource = \"props/coin\""));
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn history_leads_to_nodes_out_of_view() {
    let Some(mut browser) = Browser::start("flow-history-browser") else { return };
    let game = open(&mut browser, "flow-history", &format!("{CRATE}{GRAPH}"), &[]);
    browser.wait_for("document.querySelectorAll('.flow-node').length === 3");
    click(&mut browser, "[data-page=Live]");
    browser.wait_for("document.querySelector('.flow-side select')?.value === '0'");
    send_hit(&mut browser);
    browser.wait_for("document.querySelectorAll('.flow-page [role=treeitem]').length === 3");
    // So near that the other nodes are out of view.
    browser.value("document.querySelector('.flow-canvas').focus()");
    for _ in 0..6 {
        browser.press("+", "Equal", 0.0, "");
    }
    for (row, node) in [(3, "n3"), (1, "n1")] {
        click(&mut browser, &format!(".flow-page [role=treeitem]:nth-child({row})"));
        browser.wait_for(&format!(
            "(it => it?.dataset.node === '{node}' && it.getBoundingClientRect().x > 0 && \
             it.getBoundingClientRect().right < innerWidth)\
             (document.querySelector('.flow-node.selected'))"
        ));
    }
    browser.value("document.querySelector('.flow-page [role=tree]').focus()");
    browser.press("ArrowDown", "ArrowDown", 0.0, "");
    browser.wait_for("document.querySelector('.flow-node.selected')?.dataset.node === 'n2'");
    wait_for_value(&game, "hits()", "1");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn conflicts_are_decided_with_the_mouse() {
    let Some(mut browser) = Browser::start("flow-conflict-browser") else { return };
    let game = open(&mut browser, "flow-conflict", &format!("{CRATE}{GRAPH}"), &[]);
    browser.wait_for("document.querySelectorAll('.flow-node').length === 3");
    show_all(&mut browser);
    let amount = |value: &str| {
        format!(
            "document.querySelector('[data-node=n2] [data-row=\"in amount\"] .value')\
             ?.textContent === '{value}'"
        )
    };
    edit(&mut browser, "n2", "in amount", "5");
    let changed = read(&game, "crate.unit").replace("amount = 1", "amount = 7");
    game.write("crate.unit", &changed.replace("\"counted\"", "\"summed\""));
    browser.wait_for(&note("1 entry conflicts"));
    let save_button = "[aria-label^=\"Save into\"]";
    let is_open = "document.querySelector('dialog[open]') !== null";
    click(&mut browser, save_button);
    browser.wait_for(is_open);
    let row = "document.querySelector('dialog tbody tr').innerText.split(/\\s+/).join(' ')";
    assert_eq!(browser.value(row).trim(), "nodes.n2.inputs.amount 1 5 7");
    // Nothing is saved before a person has chosen.
    click(&mut browser, "dialog [data-value=\"\"]");
    browser.wait_for(&format!("!({is_open})"));
    browser.wait_for(&amount("5"));
    assert!(read(&game, "crate.unit").contains("amount = 7"));
    click(&mut browser, save_button);
    browser.wait_for(is_open);
    click(&mut browser, "dialog button[value=disk]");
    browser.wait_for(&note("saved"));
    browser.wait_for(&amount("7"));
    let saved = read(&game, "crate.unit");
    assert!(saved.contains("amount = 7") && saved.contains("\"summed\""), "{saved}");
    // A file that is damaged on disk is not overwritten.
    edit(&mut browser, "n2", "in amount", "6");
    game.write("crate.unit", "flow = {");
    click(&mut browser, save_button);
    browser.wait_for(&note("crate.unit:1:8: object is not closed"));
    assert_eq!(read(&game, "crate.unit"), "flow = {");
    game.write("crate.unit", &saved);
    save(&mut browser);
    assert!(read(&game, "crate.unit").contains("amount = 6"));
    assert_eq!(browser.problems, Vec::<String>::new());
}

const DOOR: &str = "inputs = { go = { type = \"event\" } }
outputs = { done = { type = \"event\" } }
nodes = {
  i = { type = \"graph.inputs\" }
  w = { type = \"debug.print\" inputs = { value = \"opens\" } }
  o = { type = \"graph.outputs\" }
}
events = { \"i.go > w.in\" = true \"w.out > o.done\" = true }
";

#[test]
fn graphs_follow_pins_that_are_renamed_on_the_page() {
    let Some(mut browser) = Browser::start("flow-follow-browser") else { return };
    let user = GRAPH
        .replace("n1 = {", "d = { type = \"graph\" graph = \"door\" }\n    n1 = {")
        .replace("\"n1.out > n2.in\" = true", "\"n1.out > d.go\" = true \"d.done > n2.in\" = true");
    let more = [
        ("door.flow", DOOR),
        (
            "other.flow",
            "nodes = { d = { type = \"graph\" graph = \
        \"door\" } s = { type = \"event.spawned\" } }\nevents = { \"s.out > d.go\" = true }\n",
        ),
    ];
    let game = open(&mut browser, "flow-follow", &format!("{CRATE}{user}"), &more);
    browser.wait_for("document.querySelector('.graph-name').textContent === 'crate.unit'");
    click(&mut browser, ".graph-name");
    choose(&mut browser, "door", "door.flow");
    browser.wait_for("document.querySelector('.graph-name').textContent === 'door.flow'");
    click(&mut browser, "[data-page=Values]");
    click(&mut browser, "[data-name=go] input.name");
    browser.value("document.activeElement.select()");
    browser.write("open");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelector('[data-name=open] .was') !== null");
    save(&mut browser);
    let door = read(&game, "door.flow");
    for part in ["was = \"go\"", "\"i.open > w.in\" = true"] {
        assert!(door.contains(part), "{part} in {door}");
    }
    // The graph that runs goes on, and has the new name when it is opened.
    let mut client = game.connect();
    eval(&mut client, "Unit.flow_event(crate, 'hit')");
    wait_for_value(&game, "hits()", "1");
    click(&mut browser, ".graph-name");
    choose(&mut browser, "crate", "crate.unit");
    browser.wait_for(&note("pins were renamed"));
    browser.wait_for("document.querySelector('[data-node=d] [data-pin=open]') !== null");
    control(&mut browser, "z");
    browser.wait_for(&note("undone: new names of pins"));
    browser.press("z", "KeyZ", 10.0, "");
    save(&mut browser);
    let saved = read(&game, "crate.unit");
    assert!(saved.contains("\"n1.out > d.open\"") && !saved.contains("d.go"), "{saved}");
    // One press writes the new name into all other graphs.
    click(&mut browser, ".graph-name");
    choose(&mut browser, "door", "door.flow");
    click(&mut browser, "[data-page=Values]");
    click(&mut browser, "[data-name=open] .was button");
    browser.wait_for(&note("updated other.flow"));
    assert!(read(&game, "other.flow").contains("\"s.out > d.open\" = true"));
    click(&mut browser, "[data-name=open] [aria-label^=\"Forget\"]");
    browser.wait_for("document.querySelector('[data-name=open] .was') === null");
    save(&mut browser);
    let (code, out, err) = game.folder.engine(&["check", "game"]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// Sends 150 events of the mouse, at most 60 a second. Returns the number of frames that the page
/// drew, and the frames a second.
fn drawn_frames(browser: &mut Browser, mut act: impl FnMut(&mut Browser, f64)) -> (f64, f64) {
    browser.value(
        "(() => { const count = window.count = { shown: 0 }; const next = () => { \
         count.shown += 1; if (count === window.count) requestAnimationFrame(next) }; \
         requestAnimationFrame(next) })()",
    );
    let start = Instant::now();
    for step in 0..150 {
        act(browser, f64::from(step));
        let due = Duration::from_secs_f64(f64::from(step + 1) / 60.0);
        std::thread::sleep(due.saturating_sub(start.elapsed()));
    }
    let shown: f64 = browser.value("window.count.shown").parse().expect("a number");
    (shown, shown / start.elapsed().as_secs_f64())
}

/// Sends an event of the mouse at a point.
fn mouse_at(browser: &mut Browser, event_type: &str, point: [f64; 2], more: &[(&str, f64)]) {
    let button = if event_type == "mouseWheel" { "none" } else { "left" };
    let mut all = vec![("type", json::text(event_type)), ("button", json::text(button))];
    let numbers = [("x", point[0]), ("y", point[1])];
    let numbers = numbers.iter().chain(more);
    all.extend(numbers.map(|(name, value)| (*name, SjsonTree::Number(*value))));
    browser.call("Input.dispatchMouseEvent", all);
}

/// Returns a graph of 500 nodes in 20 chains.
fn large_graph() -> String {
    let (mut nodes, mut events, mut positions) = (String::new(), String::new(), String::new());
    for at in 0..500 {
        let (column, row) = (at % 25, at / 25);
        nodes += &format!("n{at} = {{ type = \"flow.delay\" }}\n");
        positions += &format!("n{at} = [{}, {}]\n", column * 17, row * 10);
        if column > 0 {
            events += &format!("\"n{}.out > n{at}.in\" = true\n", at - 1);
        }
    }
    format!("nodes = {{\n{nodes}}}\nevents = {{\n{events}}}\npositions = {{\n{positions}}}\n")
}

/// Checks only that drawing goes on while the mouse moves, and not its speed, which is measured on
/// a quiet machine.
#[test]
fn graphs_of_500_nodes_go_on_drawing_under_the_mouse() {
    let Some(mut browser) = Browser::start("flow-frames-browser") else { return };
    let graph = large_graph();
    let game = open(&mut browser, "flow-frames", CRATE, &[("large.flow", graph.as_str())]);
    browser.wait_for("document.querySelectorAll('.flow-node').length > 5");
    show_all(&mut browser);
    let middle = [560.0, 480.0];
    let (zooms, zoomed) = drawn_frames(&mut browser, |browser, step| {
        let turn = if step % 60.0 < 30.0 { -25.0 } else { 25.0 };
        mouse_at(browser, "mouseWheel", middle, &[("deltaX", 0.0), ("deltaY", turn)]);
    });
    show_all(&mut browser);
    let head = "document.querySelector('[data-node=n262] .head').getBoundingClientRect()";
    browser.wait_for(&format!("{head}.width > 0"));
    let side = |browser: &mut Browser, name: &str| -> f64 {
        browser.value(&format!("{head}.{name} + 4")).parse().expect("a number")
    };
    let at = [side(&mut browser, "x"), side(&mut browser, "y")];
    mouse_at(&mut browser, "mouseMoved", at, &[]);
    mouse_at(&mut browser, "mousePressed", at, &[("clickCount", 1.0), ("buttons", 1.0)]);
    let (drags, dragged) = drawn_frames(&mut browser, |browser, step| {
        let to = [at[0] + 200.0 * (step / 20.0).sin(), at[1] + 150.0 * (step / 14.0).sin()];
        mouse_at(browser, "mouseMoved", to, &[("buttons", 1.0)]);
    });
    mouse_at(&mut browser, "mouseReleased", at, &[("clickCount", 1.0)]);
    browser.wait_for(&note("move"));
    let numbers = format!("zoom: {zoomed:.0}, drag: {dragged:.0} frames a second\n");
    if let Some(folder) = std::env::var_os("ENGINE_SHOW_FLOW") {
        fs::create_dir_all(&folder).expect("it can be created");
        let file = std::path::Path::new(&folder).join("frames.txt");
        fs::write(file, &numbers).expect("it can be written");
    }
    // The page answers each event before the next one is sent, however slow the machine is.
    assert!(zooms > 10.0 && drags > 10.0, "it stopped: {zooms} and {drags} frames; {numbers}");
    assert_eq!(browser.problems, Vec::<String>::new());
    drop(game);
}
