//! Tests of the messages about Flow graphs, and of the page's editor: a graph is built, run,
//! stopped, saved and merged in a real browser.

use super::browser::Browser;
use super::{GameProcess, TOWER, ask, ask_refused, check_running, eval, list, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::RemoteClient;

const MAIN: &str = "function init()\n  world = Application.main_world()\n  \
    barrel = World.spawn_unit(world, 'barrel')\nend\n\
    function hit() Unit.flow_event(barrel, 'hit') end\n";

/// A graph with a comment between its entries, which saves keep.
const GRAPH: &str = "flow = {
  variables = { hits = { type = \"number\" value = 0 } }
  nodes = {
    // the start of all
    n1 = { type = \"event.custom\" name = \"hit\" note = \"<img src=x onerror=owned=1>\" }
    n2 = {
      type = \"variable.set\" variable = \"hits\" inputs = { value = { wire = \"n4.result\" } }
    }
    n3 = { type = \"variable.value\" variable = \"hits\" }
    n4 = { type = \"number.add\" inputs = { a = { wire = \"n3.value\" } b = 1 } }
  }
  events = { \"n1.out > n2.in\" = true }
  positions = { n1 = [0, 0] n2 = [34, 0] n3 = [0, 10] n4 = [17, 8] }
}
";

pub(super) fn start(name: &str) -> GameProcess {
    let unit = format!("{TOWER}{GRAPH}");
    let files = [("main.lua", MAIN), ("barrel.unit", unit.as_str())];
    let game = GameProcess::start_with(name, &files, &[]);
    check_running(&mut game.connect());
    game
}

fn graph() -> (&'static str, SjsonTree) {
    ("graph", json::text("barrel.unit"))
}

/// Returns the tree of a graph's source.
fn open(client: &mut RemoteClient) -> (String, String) {
    let answer = ask(client, "flow_open", vec![graph()]);
    (text(&answer, "source"), text(&answer, "revision"))
}

#[test]
fn graph_of_a_known_revision_is_not_sent_again() {
    let game = start("flow-revision");
    let mut client = game.connect();
    let (source, revision) = open(&mut client);
    assert!(source.contains("\"event.custom\""), "{source}");
    let known = ("known", json::text(&revision));
    let answer = ask(&mut client, "flow_open", vec![graph(), known.clone()]);
    assert_eq!(answer.get("unchanged"), Some(&SjsonTree::Bool(true)));
    assert_eq!(answer.get("source"), None);
    let unit = format!("{TOWER}{}", GRAPH.replace("b = 1", "b = 2"));
    game.write("barrel.unit", &unit);
    let answer = ask(&mut client, "flow_open", vec![graph(), known]);
    assert!(text(&answer, "source").contains("\"b\":2"), "{}", json::write(&answer));
}

#[test]
fn saved_graphs_can_be_new_files_and_nothing_else() {
    let game = start("flow-new");
    let mut client = game.connect();
    let fields = |name: &str| {
        let source = "{\"nodes\":{\"n1\":{\"type\":\"event.spawned\"}}}";
        let sources = [("base", "{}"), ("source", source)].map(|(a, b)| (a, json::text(b)));
        [vec![("graph", json::text(name))], sources.to_vec()].concat()
    };
    let answer = ask(&mut client, "flow_save", fields("door.flow"));
    assert_eq!(answer.get("saved"), Some(&SjsonTree::Bool(true)), "{}", json::write(&answer));
    let written = std::fs::read_to_string(game.folder.join("game/door.flow")).expect("it exists");
    assert!(written.contains("event.spawned"), "{written}");
    // It can be opened at once, and a second file of the name is a conflict.
    let answer = ask(&mut client, "flow_open", vec![("graph", json::text("door.flow"))]);
    assert!(text(&answer, "source").contains("event.spawned"));
    let other = "{\"nodes\":{\"n1\":{\"type\":\"event.update\"}}}";
    let mut again = fields("door.flow");
    again[2].1 = json::text(other);
    let answer = ask(&mut client, "flow_save", again);
    assert_eq!(answer.get("saved"), Some(&SjsonTree::Bool(false)), "{}", json::write(&answer));
    for name in ["../door.flow", "other.unit", "a/../../door.flow", "none.lua", ".hidden.flow"] {
        ask_refused(&mut client, "flow_save", fields(name));
    }
}

#[test]
fn instances_of_subgraphs_have_the_path_of_their_nodes() {
    let inner = "inputs = { go = { type = \"event\" } }\n\
        nodes = { i = { type = \"graph.inputs\" } s = { type = \"variable.set\" variable = \"v\" \
        inputs = { value = 3 } } }\nvariables = { v = { type = \"number\" value = 0 } }\n\
        events = { \"i.go > s.in\" = true }\n";
    let unit = format!(
        "{TOWER}flow = {{ nodes = {{ n1 = {{ type = \"event.custom\" name = \"hit\" }} n8 = {{ \
         type = \"graph\" graph = \"part\" }} }} events = {{ \"n1.out > n8.go\" = true }} }}\n"
    );
    let files = [("main.lua", MAIN), ("barrel.unit", unit.as_str()), ("part.flow", inner)];
    let game = GameProcess::start_with("flow-part", &files, &[]);
    let mut client = game.connect();
    check_running(&mut client);
    let answer = ask(&mut client, "flow_instances", vec![("graph", json::text("part.flow"))]);
    let one = &list(&answer, "instances")[0];
    assert_eq!((text(one, "graph"), text(one, "prefix")), ("barrel.unit".into(), "n8/".into()));
    let answer = ask(&mut client, "flow_instances", vec![graph()]);
    assert_eq!(text(&list(&answer, "instances")[0], "prefix"), "");
    // Breakpoints can be listed without setting one.
    let stop = [("node", json::text("n8/s")), ("on", SjsonTree::Bool(true))];
    ask(&mut client, "flow_breakpoint", [vec![graph()], stop.to_vec()].concat());
    let answer = ask(&mut client, "flow_breakpoint", vec![graph()]);
    assert_eq!(list(&answer, "breakpoints"), [json::text("n8/s")]);
    assert_eq!(answer.get("paused"), Some(&SjsonTree::Null));
}

#[test]
fn watching_tools_get_only_changes() {
    let game = start("flow-watch");
    let mut client = game.connect();
    let answer = ask(&mut client, "flow_instances", vec![graph()]);
    let instance = super::number(&list(&answer, "instances")[0], "instance");
    let live = |client: &mut RemoteClient, after: f64, known: f64| {
        let fields = [("instance", instance), ("after", after), ("known", known)];
        ask(client, "flow_live", fields.map(|(a, b)| (a, SjsonTree::Number(b))).to_vec())
    };
    let first = live(&mut client, 0.0, 0.0);
    let part = |answer: &SjsonTree, name: &str| json::write(answer.get(name).expect(name));
    assert!(part(&first, "values").contains("\"n4.result\""), "{}", json::write(&first));
    eval(&mut client, "hit() hit()");
    let next = live(&mut client, 0.0, super::number(&first, "revision"));
    assert_eq!(part(&next, "wires"), "[[\"\",\"\",\"n1\",\"\"],[\"n1\",\"out\",\"n2\",\"in\"]]");
    assert_eq!(list(&next, "events").len(), 4);
    assert_eq!(part(&next, "counts"), "{\"n1\":2,\"n2\":2}");
    assert!(part(&next, "values").contains("\"variable hits\":\"2\""));
    let sequence = super::number(&next, "sequence");
    let idle = live(&mut client, sequence, super::number(&next, "revision"));
    for (name, empty) in [("events", "[]"), ("counts", "{}"), ("values", "{}")] {
        assert_eq!(part(&idle, name), empty);
    }
}

/// The drawing of the graph.
pub(super) const CANVAS: &str = "document.querySelector('.flow-canvas')";

pub(super) fn open_view(browser: &mut Browser, game: &GameProcess) {
    browser.open(&game.session.address());
    browser.value("document.getElementById('tab-flow').click()");
    browser.wait_for("document.querySelectorAll('.flow-node').length === 4");
    browser.wait_for("document.querySelectorAll('.flow-wires path').length === 3");
    browser.value(&format!("{CANVAS}.focus()"));
}

/// Presses Ctrl and a letter.
pub(super) fn control(browser: &mut Browser, letter: &str) {
    browser.press(letter, &format!("Key{}", letter.to_uppercase()), 2.0, "");
}

/// Presses the mouse on an element, moves it to others, and releases it on the last one.
pub(super) fn drag(browser: &mut Browser, from: &str, path: &[&str]) {
    let number = |value: f64| SjsonTree::Number(value);
    let button = || ("button", json::text("left"));
    browser.mouse("mouseMoved", from, vec![]);
    browser.mouse("mousePressed", from, vec![button(), ("clickCount", number(1.0))]);
    for selector in path {
        browser.mouse("mouseMoved", selector, vec![button(), ("buttons", number(1.0))]);
    }
    let last = path.last().unwrap_or(&from);
    browser.mouse("mouseReleased", last, vec![button(), ("clickCount", number(1.0))]);
}

pub(super) fn note(text: &str) -> String {
    format!("document.querySelector('.flow-note').innerText.includes({text:?})")
}

#[test]
fn graph_is_built_saved_and_undone_on_the_page() {
    let Some(mut browser) = Browser::start("flow-edit-browser") else { return };
    let game = start("flow-edit");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    // A new node with the keyboard, which is found by its type.
    browser.press(" ", "Space", 0.0, "");
    browser.wait_for("document.querySelector('.flow-palette [role=option]') !== null");
    browser.write("flow.branch");
    browser.wait_for(
        "document.querySelector('.flow-palette [role=option]').innerText.includes('Branch')",
    );
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.activeElement.classList.contains('flow-node')");
    let id = browser.value("document.activeElement.dataset.node");
    // Its event comes from a wire that is dragged with the mouse.
    browser.value("document.querySelector('.flow-canvas').focus()");
    browser.press("0", "Digit0", 0.0, "");
    browser.wait_for(&format!("document.querySelector('[data-node={id}] .pin') !== null"));
    let pin = format!("[data-node={id}] .pin[data-side=input]");
    drag(&mut browser, "[data-node=n1] [data-pin=out]", &["#flow-page", &pin, &pin]);
    browser.wait_for("document.querySelectorAll('.flow-wires path').length === 4");
    for _ in 0..2 {
        control(&mut browser, "z");
    }
    browser.wait_for("document.querySelectorAll('.flow-node').length === 4");
    browser.press("z", "KeyZ", 10.0, "");
    browser.press("z", "KeyZ", 10.0, "");
    browser.wait_for("document.querySelectorAll('.flow-wires path').length === 4");
    // A value is edited in place.
    browser
        .value("document.querySelector('[data-node=n4] [data-row=\"in b\"] button.value').click()");
    browser.wait_for("document.activeElement.classList.contains('editing')");
    browser.write("5");
    browser.press("Escape", "Escape", 0.0, "");
    browser.value("document.querySelector('.flow-canvas').focus()");
    control(&mut browser, "s");
    browser.wait_for(&note("saved"));
    let saved = std::fs::read_to_string(game.folder.join("game/barrel.unit")).expect("it exists");
    let wire = format!("n1.out > {id}.in");
    for part in ["// the start of all\n", "b = 5", &wire, "flow.branch", TOWER.trim_end()] {
        assert!(saved.contains(part), "no {part} in {saved}");
    }
    // The game has the saved graph, and its state.
    let mut client = game.connect();
    let end = std::time::Instant::now() + super::WAIT_MAX;
    loop {
        eval(&mut client, "hit()");
        let hits = eval(&mut client, "Unit.flow_variable(barrel, 'hits')");
        if hits.parse::<f64>().is_ok_and(|hits| hits >= 5.0) {
            break;
        }
        assert!(std::time::Instant::now() < end, "the saved graph does not run: {hits}");
    }
    // Texts of a game are no markup.
    assert_eq!(browser.value("document.querySelectorAll('img:not(.flow-picture)').length"), "0");
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// True if no two nodes overlap.
pub(super) const APART: &str = "(() => { const all = [...document.querySelectorAll('.flow-node')]\
    .map(it => it.getBoundingClientRect()); return all.every((a, i) => all.every((b, j) => \
    i === j || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || \
    b.bottom <= a.top)) })()";

#[test]
fn selected_nodes_become_a_subgraph_and_nodes_again() {
    let Some(mut browser) = Browser::start("flow-sub-browser") else { return };
    let game = start("flow-sub");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    let select = |browser: &mut Browser, id: &str| {
        browser.value(&format!("document.querySelector('[data-node={id}]').focus()"));
        browser.press("Enter", "Enter", 8.0, "");
    };
    // A variable that is used on both sides cannot move.
    select(&mut browser, "n2");
    browser.press("e", "KeyE", 0.0, "");
    browser.wait_for(&note("other nodes use these variables, too: hits"));
    select(&mut browser, "n3");
    select(&mut browser, "n4");
    browser.press("e", "KeyE", 0.0, "");
    browser.wait_for("document.activeElement.closest('dialog[open]') !== null");
    browser.write("counting");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelectorAll('.flow-node').length === 2");
    let inner = std::fs::read_to_string(game.folder.join("game/counting.flow")).expect("it exists");
    assert!(inner.contains("graph.inputs") && inner.contains("hits"), "{inner}");
    // Nodes that are out of view have no elements: all of the graph is shown.
    let is_inlined = "document.querySelectorAll('.flow-node').length === 4";
    browser.press("i", "KeyI", 0.0, "");
    for _ in 0..20 {
        browser.press("0", "Digit0", 0.0, "");
        std::thread::sleep(std::time::Duration::from_millis(300));
        if browser.value(is_inlined) == "true" {
            break;
        }
    }
    browser.wait_for(is_inlined);
    // Laid out nodes do not overlap. All of it is one step each.
    browser.press("Escape", "Escape", 0.0, "");
    browser.press("l", "KeyL", 0.0, "");
    browser.wait_for(APART);
    control(&mut browser, "s");
    browser.wait_for(&note("saved"));
    let mut client = game.connect();
    let end = std::time::Instant::now() + super::WAIT_MAX;
    while eval(&mut client, "hit() return Unit.flow_variable(barrel, 'hits')") != "3" {
        assert!(std::time::Instant::now() < end, "the inlined graph does not count");
    }
    for _ in 0..3 {
        control(&mut browser, "z");
    }
    browser.wait_for("document.querySelector('[data-node=n2]') !== null");
    control(&mut browser, "s");
    browser.wait_for("document.querySelector('.flow-note').innerText === 'saved'");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn page_merges_a_changed_file_and_shows_conflicts() {
    let Some(mut browser) = Browser::start("flow-merge-browser") else { return };
    let game = start("flow-merge");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    let write = |graph: &str| game.write("barrel.unit", &format!("{TOWER}{graph}"));
    // Without own changes, and next to own changes of another entry.
    write(&GRAPH.replace("b = 1", "b = 7"));
    let shown = |value: &str| {
        format!(
            "document.querySelector('[data-node=n4] [data-row=\"in b\"] .value')?.innerText === \
             '{value}'"
        )
    };
    browser.press("0", "Digit0", 0.0, "");
    browser.wait_for(&shown("7"));
    browser.value("document.querySelector('[data-node=n1]').focus()");
    browser.press("ArrowRight", "ArrowRight", 2.0, "");
    write(&GRAPH.replace("b = 1", "b = 8"));
    browser.wait_for(&shown("8"));
    control(&mut browser, "s");
    browser.wait_for(&note("saved"));
    let read = || std::fs::read_to_string(game.folder.join("game/barrel.unit")).expect("it exists");
    assert!(read().contains("b = 8") && read().contains("n1 = [1, 0]"), "{}", read());
    // The same entry: a person decides.
    browser.value("document.querySelector('[data-node=n1]').focus()");
    browser.press("ArrowRight", "ArrowRight", 2.0, "");
    write(&read().replace("n1 = [1, 0]", "n1 = [9, 9]").replace(TOWER, ""));
    browser.wait_for(&note("conflict"));
    control(&mut browser, "s");
    browser.wait_for("document.querySelector('dialog[open] td')?.innerText === 'positions.n1'");
    browser.value("document.querySelector('dialog[open] button[value=mine]').click()");
    browser.wait_for("document.querySelector('dialog[open]') === null");
    browser.wait_for(&note("saved"));
    assert!(read().contains("n1 = [2, 0]"), "{}", read());
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn page_watches_an_instance_and_stops_it() {
    let Some(mut browser) = Browser::start("flow-live-browser") else { return };
    let game = start("flow-live");
    let mut client = game.connect();
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    browser.value("document.querySelector('[data-page=Live]').click()");
    // The only instance is watched.
    browser.wait_for("document.querySelector('.flow-side select')?.value === '0'");
    // Events are recorded once the values of pins are shown.
    browser.wait_for(
        "[...document.querySelectorAll('.flow-node .last')].some(it => it.textContent !== '')",
    );
    eval(&mut client, "hit()");
    browser.wait_for(
        "document.querySelector('[data-node=n2] .count').innerText.startsWith('×') || \
         document.querySelector('[data-node=n2] .count').textContent.startsWith('×')",
    );
    browser.wait_for("document.querySelectorAll('.flow-page [role=treeitem]').length > 0");
    // An event of the history leads to its node.
    browser.value("[...document.querySelectorAll('.flow-page [role=treeitem]')].at(-1).click()");
    browser.wait_for("document.querySelector('.flow-node.selected') !== null");
    browser.wait_for(
        "[...document.querySelectorAll('[data-node=n4] .last')].some(it => it.textContent === '1')",
    );
    // A breakpoint, a step, and on.
    browser.value("document.querySelector('[data-node=n2]').focus()");
    browser.press("F9", "F9", 0.0, "");
    browser.wait_for(&note("breakpoint at n2"));
    browser.wait_for("document.querySelector('[data-node=n2] .stop').hidden === false");
    eval(&mut client, "hit()");
    browser.wait_for("document.querySelector('.flow-stopped').hidden === false");
    browser.wait_for("document.querySelector('.flow-stopped').innerText.includes('n2')");
    browser.wait_for("document.querySelector('[data-node=n2]').classList.contains('paused')");
    assert_eq!(eval(&mut client, "Unit.flow_variable(barrel, 'hits')"), "1");
    // A step runs the node. Breakpoints are listed, and removed there.
    browser.press("F10", "F10", 0.0, "");
    let end = std::time::Instant::now() + super::WAIT_MAX;
    while eval(&mut client, "Unit.flow_variable(barrel, 'hits')") != "2" {
        assert!(std::time::Instant::now() < end, "the step ran no node");
    }
    browser.value("document.querySelector('.flow-stops [aria-label^=Remove]').click()");
    browser.wait_for(&note("no breakpoint at n2"));
    browser.value("document.querySelector('[data-node=n2]').focus()");
    browser.press("F8", "F8", 0.0, "");
    browser.wait_for("document.querySelector('.flow-stopped').hidden === true");
    browser.wait_for("document.getElementById('state').innerText === 'running'");
    assert_eq!(eval(&mut client, "Unit.flow_variable(barrel, 'hits')"), "2");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn graph_is_usable_in_a_narrow_window_with_names_for_all() {
    let Some(mut browser) = Browser::start("flow-narrow-browser") else { return };
    let game = start("flow-narrow");
    browser.resize(400.0, 800.0, 1.0);
    open_view(&mut browser, &game);
    assert_eq!(browser.value("document.scrollingElement.scrollWidth <= innerWidth"), "true");
    // Without the keyboard of a desktop: the bar's button, and a node type by name.
    browser.value(
        "[...document.querySelectorAll('#view-flow .bar button')].find(it => it.innerText === \
         '+ Node').click()",
    );
    browser.wait_for("document.querySelector('.flow-palette [role=option]') !== null");
    let inside = "(() => { const box = document.querySelector('.flow-palette')\
        .getBoundingClientRect(); return box.left >= 0 && box.right <= innerWidth })()";
    assert_eq!(browser.value(inside), "true");
    assert_eq!(browser.value(super::page_layout::FAULTS), "[]");
    browser.write("timer");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelectorAll('.flow-node').length === 5");
    assert_eq!(browser.value(super::page_layout::FAULTS), "[]");
    // Problems are shown while the graph is edited.
    browser.value("document.querySelector('[aria-label=\"Show the panel\"]').click()");
    browser.value("document.querySelector('[data-page=Problems]').click()");
    browser.wait_for("document.querySelector('.flow-page').innerText !== ''");
    assert_eq!(browser.value("document.scrollingElement.scrollWidth <= innerWidth"), "true");
    assert_eq!(browser.problems, Vec::<String>::new());
}
