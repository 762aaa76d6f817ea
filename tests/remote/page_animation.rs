//! Tests of the messages about characters, and of the page's view of them: the list, the graph of
//! states, variables, events, the skeleton.

use super::browser::Browser;
use super::{GameProcess, ask, ask_refused, check_running, eval, list, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::RemoteClient;

const MAIN: &str = "function init()\n  local world = Application.main_world()\n  \
    heroes = {}\n  for i = 1, 30 do heroes[i] = World.spawn_unit(world, 'hero', Vector3(i, 0, 0)) \
    end\n  World.spawn_unit(world, 'column')\n  World.spawn_unit(world, 'core/units/cube')\nend\n";
const COLUMN: &str = include_str!("../lua/models/column.gltf");
const HERO: &str =
    "model = \"column\"\ncomponents = { animation = { state_machine = \"hero\" } }\n";
const MACHINE: &str = r#"
skeleton = "column"
variables = { bend = { value = 0.25 min = 0 max = 1 } free = 5 }
layers = [
  { name = "body" states = {
      still = { empty = true on = { bow = { to = "bow" blend = 0.5 } measure = "measure" } }
      bow = { clip = "Bow" loop = true enter = ["begins"] on = { "stop <b>" = "still" } }
      measure = { clip = "Bow" time = "bend" on = { bow = "bow" } }
      pick = { random = [ { to = "bow" } { to = "measure" } ] } } }
  { name = "top" states = { quiet = { empty = true on = { nod = "nod" } } nod = { clip = "Nod" } } }
]
"#;

fn start(name: &str) -> GameProcess {
    let files = [
        ("main.lua", MAIN),
        ("column.gltf", COLUMN),
        ("hero.unit", HERO),
        ("hero.state_machine", MACHINE),
    ];
    let create_game = GameProcess::start_with(name, &files, &[]);
    check_running(&mut create_game.connect());
    create_game
}

/// Returns the handle of the first hero.
fn hero(client: &mut RemoteClient) -> SjsonTree {
    let answer = ask(client, "characters", vec![("text", json::text("HERO"))]);
    SjsonTree::Number(number(&list(&answer, "units")[0], "unit"))
}

#[test]
fn characters_are_listed_and_described() {
    let create_game = start("characters");
    let mut client = create_game.connect();
    let all = ask(&mut client, "characters", vec![]);
    assert_eq!((number(&all, "count"), list(&all, "units").len()), (31.0, 31));
    let unit = &list(&all, "units")[0];
    assert_eq!((text(unit, "name"), text(unit, "state_machine")), ("hero".into(), "hero".into()));
    assert_eq!(list(unit, "states"), [json::text("still"), json::text("quiet")]);
    assert_eq!(list(&all, "units")[30].get("state_machine"), Some(&SjsonTree::Null));
    let part = vec![("first", SjsonTree::Number(29.0)), ("max", SjsonTree::Number(5.0))];
    assert_eq!(list(&ask(&mut client, "characters", part), "units").len(), 2);
    let hero = hero(&mut client);
    let plain = ask(&mut client, "character", vec![("unit", hero.clone())]);
    assert_eq!(plain.get("graph"), Some(&SjsonTree::Null));
    assert_eq!(number(&plain, "bones"), 4.0);
    let bend = &list(&plain, "variables")[0];
    assert_eq!((text(bend, "name"), number(bend, "value")), ("bend".into(), 0.25));
    let version = text(&plain, "version");
    create_game.write("hero.state_machine", &MACHINE.replace("free = 5", "free = 6 other = 7"));
    let other = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let now = ask(&mut client, "character", vec![("unit", hero.clone())]);
        text(&now, "version") != version && list(&now, "variables").len() == 3
    });
    assert!(other, "another version of the machine has another number");
    let with_graph = vec![("unit", hero), ("graph", SjsonTree::Bool(true))];
    let answer = ask(&mut client, "character", with_graph);
    let graph = answer.get("graph").expect("it was asked for");
    assert_eq!(list(graph, "events").len(), 4);
    let body = &list(graph, "layers")[0];
    assert_eq!((list(body, "states").len(), list(body, "transitions").len()), (4, 4));
    assert_eq!(list(&list(body, "states")[3], "choices").len(), 2);
}

#[test]
fn characters_are_controlled_and_wrong_messages_refused() {
    let create_game = start("control");
    let mut client = create_game.connect();
    let hero = hero(&mut client);
    let with = |more: Vec<(&'static str, SjsonTree)>| [vec![("unit", hero.clone())], more].concat();
    let answer = ask(&mut client, "control_character", with(vec![("event", json::text("bow"))]));
    assert_eq!(answer.get("taken"), Some(&SjsonTree::Bool(true)));
    let answer =
        ask(&mut client, "control_character", with(vec![("event", json::text("measure"))]));
    assert_eq!(answer.get("taken"), Some(&SjsonTree::Bool(false)));
    let value = SjsonTree::Number(7.0);
    let variable = vec![("variable", json::text("bend")), ("value", value)];
    ask(&mut client, "control_character", with(variable));
    assert_eq!(eval(&mut client, "Unit.animation_get_variable(heroes[1], 'bend')"), "1");
    ask(&mut client, "control_character", with(vec![("skeleton", SjsonTree::Bool(true))]));
    check_running(&mut client);
    let state = ask(&mut client, "character", with(vec![]));
    assert_eq!(state.get("skeleton"), Some(&SjsonTree::Bool(true)));
    let layer = &list(&state, "layers")[0];
    assert_eq!((text(layer, "state"), list(layer, "samples").len()), ("bow".into(), 1));
    assert_eq!(text(&list(&state, "sent")[0], "event"), "begins");
    let mut refuse = |fields: Vec<(&'static str, SjsonTree)>, wanted: &str| {
        let message = ask_refused(&mut client, "control_character", fields);
        assert!(message.contains(wanted), "{message}");
    };
    refuse(with(vec![("event", json::text("bwo"))]), "no event 'bwo', did you mean 'bow'?");
    refuse(with(vec![("variable", json::text("bnd"))]), "no variable 'bnd', did you mean 'bend'?");
    refuse(with(vec![("variable", json::text("bend"))]), "'value' is missing");
    refuse(with(vec![("value", SjsonTree::Number(1e300))]), "'value' must be a number");
    refuse(vec![("unit", SjsonTree::Number(12.0))], "12 is not a handle of a unit");
    let units = ask(&mut client, "characters", vec![]);
    let plain = SjsonTree::Number(number(&list(&units, "units")[30], "unit"));
    let event = vec![("unit", plain), ("event", json::text("bow"))];
    let message = ask_refused(&mut client, "control_character", event);
    assert!(message.contains("has no state machine"), "{message}");
    eval(&mut client, "World.destroy_unit(Application.main_world(), heroes[1])");
    let message = ask_refused(&mut client, "character", vec![("unit", hero)]);
    assert_eq!(message, "the unit is gone");
}

/// The part of the view with the chosen unit.
const DETAIL: &str = "document.querySelector('#view-animation .detail')";

/// Waits until the time line has the states and events of the last seconds.
fn wait_for_timeline(browser: &mut Browser) {
    let timeline = format!(
        "(() => {{ const it = {DETAIL}.querySelector('.timeline canvas'); \
         const box = it.getBoundingClientRect(); const tips = []; \
         for (let x = 1; x < box.width; x++) {{ it.dispatchEvent(new MouseEvent('mousemove', \
         {{clientX: box.left + x, clientY: box.top + 9}})); \
         tips.push([...document.querySelectorAll('.tip')].filter(tip => !tip.hidden)\
         .map(tip => tip.textContent).join()) }} \
         it.dispatchEvent(new MouseEvent('mouseleave')); \
         const pixels = it.getContext('2d').getImageData(0, 0, it.width, it.height).data; \
         return tips.at(-1).includes('s ago\\nstill\\nquiet') && pixels.some(level => level) && \
         ['\\nbow\\nquiet', 'event begins'].every(part => tips.some(tip => tip.includes(part))) \
         }})()"
    );
    browser.wait_for(&timeline);
}

#[test]
fn page_shows_and_controls_a_character() {
    let Some(mut browser) = Browser::start("animation-browser") else { return };
    let create_game = start("animation");
    browser.resize(1280.0, 900.0, 1.0);
    browser.open(&create_game.session.address());
    browser.press("7", "Digit7", 1.0, "");
    let count = "document.querySelector('#view-animation .aside').innerText";
    browser.wait_for(&format!("{count} === '31 units'"));
    browser.press("f", "KeyF", 1.0, "");
    browser.write("hero");
    browser.wait_for(&format!("{count} === '30 units'"));
    browser.press("Tab", "Tab", 0.0, "");
    browser.press("Enter", "Enter", 0.0, "\r");
    let state = |name: &str| format!("{DETAIL}.querySelector('[data-state=\"{name}\"]')");
    browser.wait_for(&format!("{}?.classList.contains('current') ?? false", state("still")));
    // The arrows that leave the current state have their events.
    let events = format!(
        "[...{DETAIL}.querySelectorAll('.states')[0].querySelectorAll('text.event')]\
         .filter(it => it.checkVisibility()).map(it => it.firstChild.data).sort().join()"
    );
    assert_eq!(browser.value(&events), "bow,measure");
    // Boxes are in the view, and do not overlap.
    let apart = format!(
        "(() => {{ const all = [...{DETAIL}.querySelectorAll('.states')[0].querySelectorAll\
         ('.state > rect:not(.bar)')].map(it => it.getBoundingClientRect()); \
         return all.length === 4 && all.every((a, i) => a.width > 80 && all.every((b, j) => \
         i === j || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || \
         b.bottom <= a.top)) }})()"
    );
    assert_eq!(browser.value(&apart), "true");
    let button = |name: &str| {
        format!("[...{DETAIL}.querySelectorAll('button')].find(it => it.innerText === '{name}')")
    };
    browser.value(&format!("{}.click()", button("bow")));
    browser.wait_for(&format!("{}.classList.contains('current')", state("bow")));
    browser.wait_for(&format!("{DETAIL}.querySelector('tbody')?.innerText.includes('Bow')"));
    browser.value(&format!("{}.click()", button("measure")));
    browser.wait_for(&format!(
        "{DETAIL}.innerText.includes(\"'measure': no state has a transition for it now\")"
    ));
    // Names of a game are no markup.
    browser.value(&format!("{}.click()", button("stop <b>")));
    browser.wait_for(&format!("{}.classList.contains('current')", state("still")));
    wait_for_timeline(&mut browser);
    let slider = format!("{DETAIL}.querySelector('.variables input[type=range]')");
    assert_eq!(browser.value(&format!("{slider}.value")), "0.25");
    browser.value(&format!(
        "(() => {{ const it = {slider}; it.value = 0.75; it.dispatchEvent(new Event('input')) }})()"
    ));
    let output = format!("{DETAIL}.querySelector('.variables output').innerText");
    browser.wait_for(&format!("{output} === '0.75'"));
    let mut client = create_game.connect();
    assert_eq!(eval(&mut client, "Unit.animation_get_variable(heroes[1], 'bend')"), "0.75");
    browser.value(&format!("{}.click()", button("Skeleton")));
    browser.wait_for(&format!("{}.getAttribute('aria-pressed') === 'true'", button("Skeleton")));
    // A saved state machine has another graph.
    create_game.write("hero.state_machine", &MACHINE.replace("quiet", "silent"));
    browser.wait_for(&format!("{} !== null", state("silent")));
    // So have other variables, events and transitions alone, while the current states stay.
    let changed =
        MACHINE.replace("quiet", "silent").replace("bend", "lean").replace("free", "loose");
    let changed = changed.replace("measure = \"measure\" }", "gauge = \"measure\" }");
    create_game.write("hero.state_machine", &changed.replace("max = 1 }", "max = 2 }"));
    browser.wait_for(&format!("{} !== undefined", button("gauge")));
    assert_eq!(browser.value(&format!("{slider}.ariaLabel")), "lean");
    assert_eq!(browser.value(&format!("{slider}.max")), "2");
    check_narrow_page(&mut browser, &state("still"));
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// Checks that the view fits a narrow window, with the state that is shown.
fn check_narrow_page(browser: &mut Browser, state: &str) {
    browser.resize(400.0, 800.0, 1.0);
    browser.wait_for("document.body.dataset.pane !== undefined");
    browser.value("document.getElementById('tab-animation').click()");
    browser.wait_for(&format!("{state}?.checkVisibility() ?? false"));
    let fits = "document.scrollingElement.scrollWidth <= innerWidth";
    assert_eq!(browser.value(fits), "true");
    let inside = format!(
        "[...{DETAIL}.querySelectorAll('button, input, progress, canvas')].filter(it => \
         it.checkVisibility()).every(it => it.getBoundingClientRect().right <= innerWidth + 1)"
    );
    assert_eq!(browser.value(&inside), "true");
}
