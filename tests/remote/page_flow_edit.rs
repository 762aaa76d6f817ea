//! Tests of edits on the page of Flow graphs in a real browser: wiring by type, moving, copying as
//! text, aligning, groups and comments, renaming, uses, keys and fingers.

use super::GameProcess;
use super::browser::Browser;
use super::page_flow::{APART, CANVAS, control, drag, note, open_view, start};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;

const OPTION: &str = "document.querySelector('.flow-palette [role=option]')";

/// Replaces the text in the list's search field.
fn search(browser: &mut Browser, text: &str) {
    browser.wait_for(&format!("{OPTION} !== null"));
    browser.value(&format!(
        "(() => {{ const it = document.querySelector('.flow-palette input'); it.value = '{text}'; \
         it.dispatchEvent(new Event('input')) }})()"
    ));
}

fn count(selector: &str, number: usize) -> String {
    format!("document.querySelectorAll('{selector}').length === {number}")
}

fn leave(browser: &mut Browser) {
    browser.value(&format!("{CANVAS}.focus()"));
    browser.press("Escape", "Escape", 0.0, "");
}

/// Adds a node to the selection, or removes it, with the keyboard.
fn toggle(browser: &mut Browser, id: &str) {
    browser.value(&format!("document.querySelector('[data-node={id}]').focus()"));
    browser.press("Enter", "Enter", 8.0, "");
}

#[test]
fn wires_offer_only_nodes_that_fit_and_new_nodes_have_room() {
    let Some(mut browser) = Browser::start("flow-wire-browser") else { return };
    let game = start("flow-wire");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    // The mouse leaves the drawing with its first movement, and is released over the panel.
    drag(&mut browser, "[data-node=n4] [data-pin=result]", &["#flow-page"]);
    browser.wait_for(&format!("{OPTION} !== null"));
    assert_eq!(
        browser.value("document.querySelector('.flow-palette input').placeholder"),
        "Wire result (number) to"
    );
    search(&mut browser, "custom event");
    let names = "[...document.querySelectorAll('.flow-palette [role=option] span')]\
        .map(it => it.innerText).join()";
    assert_eq!(browser.value(names), "Send event", "an event without inputs fits no wire");
    // A pin of the same type comes before conversions.
    search(&mut browser, "add");
    browser.wait_for(&format!("{OPTION}.innerText.startsWith('Add\\n')"));
    assert!(browser.value(&format!("{OPTION}.innerText")).contains("Numbers"));
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for(&count(".flow-node", 5));
    browser.wait_for(&count(".flow-wires path", 4));
    browser.wait_for(APART);
    control(&mut browser, "z");
    browser.wait_for(&count(".flow-node", 4));
    // A click on a pin lists existing pins before new nodes, after the wires of the pin.
    browser.value(&format!("{CANVAS}.focus()"));
    browser.press("0", "Digit0", 0.0, "");
    browser.wait_until_still(".flow-node");
    let pin = "[data-node=n4] [data-pin=result]";
    drag(&mut browser, pin, &[]);
    let options = "[...document.querySelectorAll('.flow-palette [role=option]')]";
    browser
        .wait_for(&format!("{options}.slice(0, 2).some(it => it.innerText.includes('existing'))"));
    search(&mut browser, "greater");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for(&count(".flow-node", 5));
    browser.wait_for(APART);
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn wires_of_a_pin_are_removed_in_its_list() {
    let Some(mut browser) = Browser::start("flow-unwire-browser") else { return };
    let game = start("flow-unwire");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    browser.value("document.querySelector('[data-node=n4]').focus()");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.activeElement.dataset.pin === 'result'");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for(&format!("{OPTION} !== null"));
    let first = browser.value(&format!("{OPTION}.innerText"));
    assert!(first.starts_with("Remove the wire to Set variable: value"), "{first}");
    // Enter at once wires the pin: the removal is not what is chosen at first.
    assert_eq!(browser.value(&format!("{OPTION}.ariaSelected")), "false");
    browser.press("ArrowUp", "ArrowUp", 0.0, "");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for(&count(".flow-wires path", 2));
    control(&mut browser, "z");
    browser.wait_for(&count(".flow-wires path", 3));
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn graphs_without_positions_are_laid_out() {
    let Some(mut browser) = Browser::start("flow-places-browser") else { return };
    let game = start("flow-places");
    let file = game.folder.join("game/barrel.unit");
    let text = std::fs::read_to_string(&file).expect("it exists");
    let end = text.find("  positions").expect("it has positions");
    game.write("barrel.unit", &format!("{}}}\n", &text[..end]));
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    browser.wait_for(APART);
    browser.wait_for("document.querySelector('[aria-label^=\"Save into\"]').disabled");
    // Nothing jumps when one of them gets a position.
    browser.value("document.querySelector('[data-node=n1]').focus()");
    browser.press("ArrowDown", "ArrowDown", 10.0, "");
    browser.wait_for(APART);
    control(&mut browser, "s");
    browser.wait_for(&note("saved"));
    let saved = std::fs::read_to_string(&file).expect("it exists");
    let positions = &saved[saved.find("positions").expect("it has positions again")..];
    for id in ["n1 = [", "n2 = [", "n3 = [", "n4 = ["] {
        assert!(positions.contains(id), "no {id} in {positions}");
    }
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn large_graphs_are_scaled_as_a_picture() {
    let Some(mut browser) = Browser::start("flow-large-browser") else { return };
    let nodes = (0..200).map(|at| format!("n{at} = {{ type = \"event.spawned\" }}\n"));
    let positions = (0..200).map(|at| format!("n{at} = [{}, {}]\n", at % 20 * 17, at / 20 * 9));
    let graph = format!(
        "nodes = {{\n{}}}\npositions = {{\n{}}}\n",
        nodes.collect::<String>(),
        positions.collect::<String>()
    );
    let game =
        GameProcess::start_with("flow-large", &[("main.lua", ""), ("large.flow", &graph)], &[]);
    browser.resize(1500.0, 900.0, 1.0);
    browser.open(&game.session.address());
    browser.value("document.getElementById('tab-flow').click()");
    browser.wait_for("document.querySelector('img.flow-picture')?.naturalWidth > 0");
    let turn = |browser: &mut Browser| {
        browser.value(&format!(
            "(() => {{ {CANVAS}.dispatchEvent(new WheelEvent('wheel', {{ deltaY: -60, clientX: \
             700, clientY: 500, bubbles: true, cancelable: true }})); \
             return {CANVAS}.classList.contains('pictured') }})()"
        ))
    };
    let end = std::time::Instant::now() + super::WAIT_MAX;
    while turn(&mut browser) != "true" {
        assert!(std::time::Instant::now() < end, "the picture is not shown");
        browser.press("0", "Digit0", 0.0, "");
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    // The nodes are back when the view rests.
    browser.wait_for(&format!("!{CANVAS}.classList.contains('pictured')"));
    browser.wait_for("document.querySelector('img.flow-picture').hidden");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn moved_nodes_can_be_moved_again() {
    let Some(mut browser) = Browser::start("flow-move-browser") else { return };
    let game = start("flow-move");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    let position = "(it => `${it.style.left} ${it.style.top}`)\
        (document.querySelector('[data-node=n3]'))";
    assert_eq!(browser.value(position), "0px 160px");
    let head = "[data-node=n3] .head";
    drag(&mut browser, head, &["[data-node=n1] .head", "#flow-page", ".flow-canvas"]);
    browser.wait_for(&format!("{position} !== '0px 160px'"));
    let first = browser.value(position);
    drag(&mut browser, head, &["#flow-page", "[data-node=n1] .head"]);
    browser.wait_for(&format!("{position} === '0px 0px'"));
    // What was dragged is part of the drawing again, with its wire.
    assert_eq!(browser.value("document.querySelector('.flow-lifted .flow-node')"), "null");
    browser.wait_for(&count(".flow-world:not([hidden]) .flow-wires path", 3));
    control(&mut browser, "z");
    browser.wait_for(&format!("{position} === '{first}'"));
    control(&mut browser, "z");
    browser.wait_for(&format!("{position} === '0px 160px'"));
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// Sends an event of the clipboard, and returns its text.
fn clipboard(browser: &mut Browser, event_type: &str, text: &str) -> String {
    browser.value(&format!(
        "(() => {{ const data = new DataTransfer(); data.setData('text/plain', {text}); \
         const more = {{ clipboardData: data, bubbles: true, cancelable: true }}; \
         {CANVAS}.dispatchEvent(new ClipboardEvent('{event_type}', more)); \
         return window.copied = data.getData('text/plain') }})()"
    ))
}

#[test]
fn parts_of_graphs_are_copied_as_text() {
    let Some(mut browser) = Browser::start("flow-copy-browser") else { return };
    let game = start("flow-copy");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    for id in ["n3", "n4"] {
        toggle(&mut browser, id);
    }
    let text = clipboard(&mut browser, "copy", "''");
    for part in ["\"number.add\"", "\"variable.value\"", "\"hits\"", "\"n3.value\""] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    clipboard(&mut browser, "paste", "window.copied");
    browser.wait_for(&count(".flow-node", 6));
    // The wire between the two was copied, too.
    browser.wait_for(&count(".flow-wires path", 4));
    browser.wait_for(&count(".flow-node.selected", 2));
    for bad in ["'no graph'", "'{\"engine_flow\": 3}'", "'{\"engine_flow\": {\"nodes\": []}}'"] {
        clipboard(&mut browser, "paste", bad);
        browser.wait_for(&note("no part of a graph"));
    }
    browser.wait_for(&count(".flow-node", 6));
    control(&mut browser, "z");
    browser.wait_for(&count(".flow-node", 4));
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn nodes_are_aligned_grouped_and_commented() {
    let Some(mut browser) = Browser::start("flow-group-browser") else { return };
    let game = start("flow-group");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    for id in ["n1", "n4"] {
        toggle(&mut browser, id);
    }
    let left = |id: &str| format!("document.querySelector('[data-node={id}]').style.left");
    browser.press("L", "KeyL", 8.0, "");
    browser.wait_for(&format!("{} === {}", left("n4"), left("n1")));
    control(&mut browser, "z");
    browser.wait_for(&format!("{} !== {}", left("n4"), left("n1")));
    browser.press("g", "KeyG", 0.0, "");
    let typing = "document.activeElement.matches('.flow-frame textarea')";
    browser.wait_for(typing);
    browser.write("The <b>sum</b>");
    browser.press("Enter", "Enter", 0.0, "\r");
    let title = "document.querySelector('.flow-frame.group .text').innerHTML";
    browser.wait_for(&format!("{title} === 'The &lt;b&gt;sum&lt;/b&gt;'"));
    // The group is selected: more nodes join it.
    toggle(&mut browser, "n3");
    browser.press("g", "KeyG", 0.0, "");
    browser.wait_for(&note("add to the group"));
    leave(&mut browser);
    browser.value("document.querySelector('[data-node=n2]').focus()");
    browser.press("c", "KeyC", 0.0, "");
    browser.wait_for(typing);
    browser.write("Why");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for(&count(".flow-frame", 2));
    control(&mut browser, "s");
    browser.wait_for(&note("saved"));
    let saved = std::fs::read_to_string(game.folder.join("game/barrel.unit")).expect("it exists");
    for part in ["The <b>sum</b>", "\"Why\"", "n3 = true", "// the start of all"] {
        assert!(saved.contains(part), "no {part} in {saved}");
    }
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn variables_are_renamed_with_all_their_uses() {
    let Some(mut browser) = Browser::start("flow-rename-browser") else { return };
    let game = start("flow-rename");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    browser.value("document.querySelector('[data-page=Values]').click()");
    let name = |browser: &mut Browser, from: &str, to: &str| {
        browser.value(&format!(
            "(it => {{ it.focus(); it.select() }})\
             (document.querySelector('[data-name={from}] input.name'))"
        ));
        browser.write(to);
        browser.press("Enter", "Enter", 0.0, "\r");
    };
    name(&mut browser, "hits", "2 strikes");
    browser.wait_for(&note("is no name"));
    name(&mut browser, "hits", "strikes");
    let shown = "[...document.querySelectorAll('.flow-node .setting .value')]\
        .filter(it => it.textContent === 'strikes').length === 2";
    browser.wait_for(shown);
    let uses = "[...document.querySelectorAll('[data-name=strikes] button')]\
        .find(it => it.innerText === '2 uses')";
    browser.wait_for(&format!("{uses} !== undefined"));
    browser.value(&format!("{uses}.click()"));
    browser.wait_for(&count(".flow-node.selected", 2));
    // A search through all graphs of the game, and back to a node.
    control(&mut browser, "f");
    browser.wait_for("document.activeElement.type === 'search'");
    browser.write("number.add");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for(&count(".flow-found li", 1));
    browser.value("document.querySelector('.flow-found li').click()");
    browser.wait_for("document.querySelector('.flow-node.selected')?.dataset.node === 'n4'");
    // Keys of the whole graph act in the panel, too.
    browser.value("document.querySelector('[data-page=Find]').focus()");
    control(&mut browser, "s");
    browser.wait_for(&note("saved"));
    let saved = std::fs::read_to_string(game.folder.join("game/barrel.unit")).expect("it exists");
    assert!(saved.contains("strikes = {") && !saved.contains("\"hits\""), "{saved}");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn comments_are_edited_with_the_keyboard() {
    let Some(mut browser) = Browser::start("flow-comment-browser") else { return };
    let game = start("flow-comment");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    browser.value("document.querySelector('[data-node=n1]').focus()");
    browser.press("c", "KeyC", 0.0, "");
    browser.wait_for("document.activeElement.matches('.flow-frame textarea')");
    browser.write("Why");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.activeElement.matches('.flow-frame')");
    // It moves with what is on it.
    browser.press("ArrowRight", "ArrowRight", 2.0, "");
    browser.wait_for("document.querySelector('[data-node=n1]').style.left === '16px'");
    browser.wait_for("document.querySelector('.flow-frame').style.left === '0px'");
    let label = "document.activeElement.getAttribute('aria-label')";
    browser.press("ArrowDown", "ArrowDown", 0.0, "");
    browser.wait_for(&format!("{label}.startsWith('Custom event')"));
    browser.press("ArrowUp", "ArrowUp", 0.0, "");
    browser.wait_for(&format!("{label} === 'Comment: Why, selected'"));
    browser.press("Delete", "Delete", 0.0, "");
    browser.wait_for(&count(".flow-frame", 0));
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn subgraphs_are_entered_and_left_in_the_same_instance() {
    let Some(mut browser) = Browser::start("flow-enter-browser") else { return };
    let game = start("flow-enter");
    browser.resize(1500.0, 900.0, 1.0);
    open_view(&mut browser, &game);
    browser.value("document.querySelector('[data-page=Live]').click()");
    browser.wait_for("document.querySelector('.flow-side select').options.length === 2");
    browser.value(
        "(() => { const it = document.querySelector('.flow-side select'); it.value = '0'; \
         it.dispatchEvent(new Event('change')) })()",
    );
    for id in ["n2", "n3", "n4"] {
        toggle(&mut browser, id);
    }
    browser.press("e", "KeyE", 0.0, "");
    browser.wait_for("document.activeElement.closest('dialog[open]') !== null");
    browser.write("counting");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for(&count(".flow-node", 2));
    control(&mut browser, "s");
    browser.wait_for(&note("saved"));
    let shows = |name: &str| {
        format!(
            "document.querySelector('.graph-name').textContent === '{name}' && \
             document.querySelector('.flow-side select')?.value === '0'"
        )
    };
    browser.wait_for(&shows("barrel.unit"));
    browser.press("Enter", "Enter", 2.0, "\r");
    browser.wait_for(&shows("counting.flow"));
    browser.value(&format!("{CANVAS}.focus()"));
    browser.press("b", "KeyB", 0.0, "");
    browser.wait_for(&shows("barrel.unit"));
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// Sends an event of fingers at points of the page.
fn touch(browser: &mut Browser, event_type: &str, points: &[(f64, f64)]) {
    let point = |(at, (x, y)): (usize, &(f64, f64))| {
        json::object([("x", *x), ("y", *y), ("id", at as f64)].map(|(a, b)| (a, number(b))))
    };
    let points = points.iter().enumerate().map(point).collect();
    let fields = vec![("type", json::text(event_type)), ("touchPoints", SjsonTree::Array(points))];
    browser.call("Input.dispatchTouchEvent", fields);
}

/// Returns the middle of an element.
fn middle_of(browser: &mut Browser, selector: &str) -> [(f64, f64); 1] {
    let middle = browser.value(&format!(
        "(box => `${{box.x + box.width / 2}} ${{box.y + box.height / 2}}`)\
         (document.querySelector('{selector}').getBoundingClientRect())"
    ));
    let (x, y) = middle.split_once(' ').expect("two numbers");
    [(x.parse().expect("a number"), y.parse().expect("a number"))]
}

fn number(value: f64) -> SjsonTree {
    SjsonTree::Number(value)
}

#[test]
fn fingers_move_zoom_and_wire() {
    let Some(mut browser) = Browser::start("flow-touch-browser") else { return };
    let game = start("flow-touch");
    browser.resize(400.0, 800.0, 1.0);
    let enabled = vec![("enabled", SjsonTree::Bool(true))];
    browser.call("Emulation.setTouchEmulationEnabled", enabled);
    open_view(&mut browser, &game);
    let view = "document.querySelector('.flow-world').style.transform";
    let before = browser.value(view);
    touch(&mut browser, "touchStart", &[(60.0, 700.0)]);
    for step in 1..6 {
        touch(&mut browser, "touchMove", &[(60.0 + 8.0 * f64::from(step), 700.0)]);
    }
    touch(&mut browser, "touchEnd", &[]);
    browser.wait_for(&format!("{view} !== '{before}'"));
    let zoom = "parseFloat(document.querySelector('.flow-foot .figures').textContent)";
    let scale: f64 = browser.value(zoom).parse().expect("a number");
    touch(&mut browser, "touchStart", &[(180.0, 700.0), (220.0, 700.0)]);
    for step in 1..8 {
        let apart = 10.0 * f64::from(step);
        touch(&mut browser, "touchMove", &[(180.0 - apart, 700.0), (220.0 + apart, 700.0)]);
    }
    touch(&mut browser, "touchEnd", &[]);
    browser.wait_for(&format!("{zoom} > {}", scale * 2.0));
    // A finger that stays on the ground opens the menu.
    browser.value(&format!("{CANVAS}.focus()"));
    touch(&mut browser, "touchStart", &[(40.0, 740.0)]);
    browser.wait_for(&count(".flow-menu", 1));
    touch(&mut browser, "touchEnd", &[]);
    assert_eq!(browser.value("document.scrollingElement.scrollWidth <= innerWidth"), "true");
    browser.press("Escape", "Escape", 0.0, "");
    browser.wait_for(&count(".flow-menu", 0));
    // A tap on a pin lists what it can be wired to.
    browser.value("document.querySelector('[data-node=n4]').focus()");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.activeElement.matches('.pin')");
    browser.wait_until_still(".flow-node");
    let at = middle_of(&mut browser, "[data-node=n4] [data-pin=result]");
    touch(&mut browser, "touchStart", &at);
    touch(&mut browser, "touchEnd", &[]);
    browser.wait_for(&count(".flow-palette", 1));
    browser.press("Escape", "Escape", 0.0, "");
    // A long press adds a node to the selection, and removes it.
    let head = middle_of(&mut browser, "[data-node=n4] .head");
    toggle(&mut browser, "n1");
    browser.wait_for(&count(".flow-node.selected", 1));
    for selected in [2, 1] {
        touch(&mut browser, "touchStart", &head);
        browser.wait_for(&count(".flow-node.selected", selected));
        touch(&mut browser, "touchEnd", &[]);
    }
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// Taps an element with a finger.
fn tap(browser: &mut Browser, selector: &str) {
    browser.wait_for(&format!("document.querySelector('{selector}') !== null"));
    let at = middle_of(browser, selector);
    touch(browser, "touchStart", &at);
    touch(browser, "touchEnd", &[]);
}

#[test]
fn fingers_edit_values_drag_wires_and_choose_events() {
    let Some(mut browser) = Browser::start("flow-fingers-browser") else { return };
    let game = start("flow-fingers");
    browser.resize(420.0, 860.0, 1.0);
    browser.call("Emulation.setTouchEmulationEnabled", vec![("enabled", SjsonTree::Bool(true))]);
    open_view(&mut browser, &game);
    browser.value("document.querySelector('[data-node=n4]').focus()");
    browser.press("f", "KeyF", 0.0, "");
    browser.wait_until_still(".flow-node");
    tap(&mut browser, "[data-node=n4] [data-row=\"in b\"] .value");
    browser.wait_for("document.activeElement.closest('.editing') !== null");
    browser.write("4");
    browser.press("Escape", "Escape", 0.0, "");
    // A wire that is dropped on the ground lists the nodes that fit it.
    let [(x, y)] = middle_of(&mut browser, "[data-node=n4] [data-pin=result]");
    touch(&mut browser, "touchStart", &[(x, y)]);
    for step in 1..6 {
        touch(&mut browser, "touchMove", &[(x - 10.0, y + 30.0 * f64::from(step))]);
        // A tap after a fast movement would only end it, as in lists that scroll on.
        std::thread::sleep(std::time::Duration::from_millis(60));
    }
    touch(&mut browser, "touchEnd", &[]);
    search(&mut browser, "greater or equal");
    browser.wait_for(&format!("{OPTION}.innerText.startsWith('Greater or equal')"));
    tap(&mut browser, ".flow-palette [role=option]");
    browser.wait_for(&note("add Greater or equal"));
    for _ in 0..2 {
        tap(&mut browser, "[aria-label=\"Undo (Ctrl+Z)\"]");
    }
    browser.wait_for("document.querySelector('[aria-label^=\"Save into\"]').disabled");
    // The first tap on the history chooses an event, also while another field has the focus.
    tap(&mut browser, "[aria-label=\"Show the panel\"]");
    tap(&mut browser, "[data-page=Live]");
    browser.wait_for("document.querySelector('.flow-side select')?.value === '0'");
    // Events are recorded once the values of pins are shown.
    browser.wait_for(
        "[...document.querySelectorAll('.flow-node .last')].some(it => it.textContent !== '')",
    );
    tap(&mut browser, "[aria-label=\"Name of a custom event\"]");
    browser.write("hit");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelectorAll('.flow-page [role=treeitem]').length === 2");
    tap(&mut browser, ".flow-page [role=treeitem]");
    browser.wait_for("document.querySelector('.flow-node.selected')?.dataset.node === 'n1'");
    assert_eq!(browser.value("document.scrollingElement.scrollWidth <= innerWidth"), "true");
    assert_eq!(browser.problems, Vec::<String>::new());
}
