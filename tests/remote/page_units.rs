//! Tests of the page's list of units: ten thousand of them, the filter, levels, the keyboard.

use super::browser::Browser;
use super::{GameProcess, TOWER};

const CROWD: &str = "function init()\n  local world = Application.main_world()\n  \
    for i = 1, 10000 do\n    local unit = World.spawn_unit(world, 'tower', Vector3(i, 0, 0))\n    \
    if i == 7777 then Unit.set_data(unit, 'loot', 'ruby') end\n  end\n  \
    World.spawn_level(world, 'cave')\nend\n";
const CAVE: &str = "units = { entrance = { unit = \"tower\" } }\n";
const TREE: &str = "document.querySelector('#view-units .tree')";

fn open(name: &str) -> Option<(Browser, GameProcess)> {
    let mut browser = Browser::start(&format!("{name}-browser"))?;
    let files = [("main.lua", CROWD), ("tower.unit", TOWER), ("cave.level", CAVE)];
    let create_game = GameProcess::start_with(name, &files, &[]);
    browser.resize(1280.0, 800.0, 1.0);
    browser.open(&create_game.session.address());
    browser.press("5", "Digit5", 1.0, "");
    browser.wait_for(&format!("{TREE}.querySelectorAll('[data-unit]').length > 10"));
    Some((browser, create_game))
}

#[test]
fn ten_thousand_units_are_scrolled_with_few_elements() {
    let Some((mut browser, _create_game)) = open("crowd") else { return };
    browser.wait_for("document.querySelector('#view-units .aside').innerText === '10,001 units'");
    // Every row has its place, but only the visible rows are elements.
    let height: f64 = browser.value(&format!("{TREE}.scrollHeight")).parse().expect("a number");
    assert!(height > 10_000.0 * 20.0, "{height}");
    let count = format!("{TREE}.querySelectorAll('[role=treeitem]').length");
    let elements: usize = browser.value(&count).parse().expect("a number");
    assert!((10..120).contains(&elements), "{elements} elements");
    for part in [0.5, 0.93, 0.2, 1.0] {
        browser.value(&format!("{TREE}.scrollTop = {TREE}.scrollHeight * {part}"));
        browser.wait_for(&format!(
            "(() => {{ const box = {TREE}.getBoundingClientRect(); const row = document\
             .elementFromPoint(box.x + 60, box.y + box.height / 2).closest('[role=treeitem]'); \
             return row?.innerText.includes('tower') ?? false }})()"
        ));
        let elements: usize = browser.value(&count).parse().expect("a number");
        assert!(elements < 120, "{elements} elements");
    }
    // The last unit is the one of the level, whose name is shown.
    browser.wait_for(&format!("{TREE}.innerText.includes('entrance')"));
    // Each scroll creates only the visible rows.
    let created = format!(
        "(() => {{ const observer = new MutationObserver(() => {{}}); \
         observer.observe({TREE}, {{ childList: true, subtree: true }}); \
         for (let at = 0; at < 200; at += 1) {{ \
         {TREE}.scrollTop = at * 997; {TREE}.dispatchEvent(new Event('scroll')) }} \
         return observer.takeRecords().flatMap(it => [...it.addedNodes])\
         .filter(it => it.role === 'treeitem').length }})()"
    );
    let created: usize = browser.value(&created).parse().expect("a number");
    assert!((200..200 * 120).contains(&created), "{created} rows for 200 scrolls");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn filter_finds_data_levels_and_handles() {
    let Some((mut browser, _create_game)) = open("search") else { return };
    let count = "document.querySelector('#view-units .aside').innerText";
    let mut find = |text: &str, wanted: &str| {
        browser.press("f", "KeyF", 1.0, "");
        browser.value("document.activeElement.select()");
        browser.write(text);
        browser.wait_for(&format!("{count} === '{wanted}'"));
    };
    find("loot = ruby", "1 unit");
    find("entrance", "1 unit");
    find("nobody", "0 units");
    find("loot", "1 unit");
    browser.wait_for(&format!("{TREE}.querySelectorAll('[data-unit]').length === 1"));
    // The list has one stop for Tab; the active row is named by the list.
    browser.press("Tab", "Tab", 0.0, "");
    assert_eq!(browser.value(&format!("document.activeElement === {TREE}")), "true");
    let active = format!(
        "document.getElementById({TREE}.getAttribute('aria-activedescendant'))?.dataset.unit"
    );
    browser.wait_for(&format!("{active} !== undefined"));
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.getElementById('inspected')?.innerText.includes('loot = \"ruby\"')");
    let handle = browser.value(&active);
    let mut find_handle = |text: &str| {
        browser.press("f", "KeyF", 1.0, "");
        browser.value("document.activeElement.select()");
        browser.write(text);
        browser.wait_for(&format!("{count} === '1 unit' && {active} === '{handle}'"));
    };
    find_handle(&handle);
    browser.press("f", "KeyF", 1.0, "");
    browser.value("document.activeElement.select()");
    browser.write("entrance");
    browser.wait_for(&format!("{TREE}.innerText.includes('entrance')"));
    browser.press("Tab", "Tab", 0.0, "");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser
        .wait_for("document.querySelector('#view-units .facts').innerText.includes('level cave')");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn arrow_keys_walk_through_the_units() {
    let Some((mut browser, _create_game)) = open("walk") else { return };
    browser.value(&format!("{TREE}.focus()"));
    let position = format!(
        "Number(document.getElementById({TREE}.getAttribute('aria-activedescendant'))\
         ?.getAttribute('aria-posinset'))"
    );
    browser.wait_for(&format!("{position} === 2"));
    for _ in 0..3 {
        browser.press("ArrowDown", "ArrowDown", 0.0, "");
    }
    assert_eq!(browser.value(&position), "5");
    browser.press("End", "End", 0.0, "");
    browser.wait_for(&format!("{position} === 10002"));
    let visible = format!("{TREE}.scrollTop + {TREE}.clientHeight >= {TREE}.scrollHeight - 1");
    assert_eq!(browser.value(&visible), "true");
    browser.press("Home", "Home", 0.0, "");
    browser.wait_for(&format!("{position} === 2"));
    assert_eq!(browser.problems, Vec::<String>::new());
}
