//! Tests of the page's view of references: the graph around a resource with the keys and the mouse,
//! its filters and lists, names as text, a resource with thousands of users.

use super::GameProcess;
use super::browser::Browser;
use super::page_layout::FAULTS;
use super::references::FILES;

const GRAPH: &str = "document.querySelector('#view-references .reference-graph')";
const TITLE: &str = "document.querySelector('#view-references .reference-title').innerText";
const LIST: &str = "document.querySelector('#view-references .tree')";
const MARK: &str = "<img src=x onerror=owned=1>";
const USERS: usize = 1_500;

/// Opens the view of a game, with files that are written while it runs.
fn open(name: &str, files: &[(&str, &str)]) -> Option<(Browser, GameProcess)> {
    let mut browser = Browser::start(&format!("{name}-browser"))?;
    let main = [("main.lua", "function update() end\n")];
    let game = GameProcess::start_with(name, &main, &["--no-watch"]);
    for (path, content) in files {
        game.write(path, content);
    }
    browser.resize(1280.0, 800.0, 1.0);
    browser.open(&game.session.address());
    browser.press("9", "Digit9", 1.0, "");
    browser.wait_for(&format!("{LIST}.querySelectorAll('[role=treeitem]').length > 1"));
    Some((browser, game))
}

/// Chooses the row of the list whose text begins with a name.
fn choose(browser: &mut Browser, name: &str) {
    let row = format!(
        "[...{LIST}.querySelectorAll('[role=treeitem]')].find(it => \
         it.innerText.startsWith('{name}'))"
    );
    browser.wait_for(&format!("{row} !== undefined"));
    browser.value(&format!("{row}.click()"));
    browser.wait_for(&format!("{TITLE}.startsWith('{name}')"));
}

#[test]
fn reference_graph_is_walked_with_the_keys_and_zoomed() {
    let Some((mut browser, _game)) = open("reference-page", FILES) else { return };
    choose(&mut browser, "brick.material");
    browser.wait_for(&format!("{TITLE}.includes('2 resources use it, 4 in all also through')"));
    let nodes = format!("{GRAPH}.querySelectorAll('[role=option]').length");
    // The material, two units, and the missing texture.
    browser.wait_for(&format!("{nodes} === 4"));
    browser.wait_for(&format!("{GRAPH}.querySelectorAll('.absent[role=option]').length === 1"));
    assert_eq!(browser.value(FAULTS), "[]");
    let active = format!(
        "document.getElementById({GRAPH}.getAttribute('aria-activedescendant'))\
         .getAttribute('aria-label')"
    );
    browser.value(&format!("{GRAPH}.focus()"));
    browser.press("ArrowLeft", "ArrowLeft", 0.0, "");
    browser.wait_for(&format!("{active}.startsWith('h1.unit')"));
    browser.press("ArrowDown", "ArrowDown", 0.0, "");
    browser.wait_for(&format!("{active}.startsWith('h2.unit')"));
    let detail = "document.querySelector('#view-references .reference-detail').innerText";
    browser.wait_for(&format!("{detail}.includes('h2.unit:1')"));
    let zoom = format!("Number({GRAPH}.dataset.zoom)");
    let before: f64 = browser.value(&zoom).parse().expect("a number");
    browser.press("+", "Equal", 0.0, "+");
    browser.wait_for(&format!("{zoom} > {before} * 1.2"));
    browser.press("0", "Digit0", 0.0, "0");
    browser.wait_for(&format!("{zoom} === {before}"));
    // Enter makes the node the middle, and the button leads back.
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for(&format!("{TITLE}.startsWith('h2.unit')"));
    browser.value("document.querySelector('[aria-label=\"Back to the last resource\"]').click()");
    browser.wait_for(&format!("{TITLE}.startsWith('brick.material')"));
    // More steps and a filter: the level, and the way to it.
    browser.value(
        "(() => { const it = document.querySelector('[aria-label=\"Steps to users\"]'); \
         it.value = '64'; it.dispatchEvent(new Event('change')) })()",
    );
    browser.wait_for(&format!("{GRAPH}.textContent.includes('town.level')"));
    browser.value(
        "(() => { const label = 'Filter of the graph by name'; \
         const it = document.querySelector(`[aria-label=\"${label}\"]`); it.value = 'TOWN'; \
         it.dispatchEvent(new Event('input')) })()",
    );
    browser.wait_for(&format!("{GRAPH}.querySelectorAll('.on-the-way').length === 1"));
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn reference_lists_lead_to_graphs_and_details() {
    let Some((mut browser, _game)) = open("reference-lists-page", FILES) else { return };
    let list = |browser: &mut Browser, name: &str| {
        browser.value(&format!(
            "(() => {{ const it = document.querySelector('[aria-label=\"List\"]'); \
             it.value = '{name}'; it.dispatchEvent(new Event('change')) }})()"
        ));
    };
    list(&mut browser, "unused");
    choose(&mut browser, "lonely.unit");
    browser.wait_for(&format!("{TITLE}.includes('Nothing uses it.')"));
    browser.wait_for(&format!("{GRAPH}.querySelector('.unused') !== null"));
    list(&mut browser, "cycles");
    choose(&mut browser, "one.lua");
    browser.wait_for(&format!("{GRAPH}.querySelectorAll('path.ring').length === 2"));
    list(&mut browser, "missing");
    browser.wait_for(&format!("{LIST}.innerText.includes('brik')"));
    browser.wait_for(
        "document.querySelector('#view-references .bar .aside').innerText\
         .includes('1 missing, 2 unused, 1 cycle')",
    );
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn details_count_the_users_of_a_resource_before_its_edit() {
    let Some(mut browser) = Browser::start("sharing-browser") else { return };
    let files = [
        ("main.lua", "function init() World.spawn_unit(Application.main_world(), 'a') end\n"),
        ("a.unit", "inherit = \"base\"\nflow = \"door\"\n"),
        ("b.unit", "inherit = \"base\"\n"),
        ("base.unit", "nodes = { top = {} }\n"),
        ("door.flow", "nodes = {}\n"),
    ];
    let game = GameProcess::start_with("sharing", &files, &[]);
    browser.open(&game.session.address());
    browser.press("6", "Digit6", 1.0, "");
    let row = "document.querySelector('#view-resources tr[data-name=\"base.unit\"]')";
    browser.wait_for(&format!("{row} !== null"));
    browser.value(&format!("{row}.click()"));
    let sharing = "document.querySelector('#view-resources .sharing')?.innerText";
    browser.wait_for(&format!("{sharing}?.startsWith('2 resources use it, 3 in all')"));
    browser.value(
        "[...document.querySelectorAll('#view-resources .headline button')]\
         .find(it => it.innerText === 'Graph').click()",
    );
    browser.wait_for(&format!("{TITLE}.startsWith('base.unit')"));
    // The editor of graphs says it in its status line.
    browser.press("8", "Digit8", 1.0, "");
    let note = "document.querySelector('.flow-note').innerText";
    browser.wait_for(&format!("{note}.startsWith('1 resource uses it')"));
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn a_resource_with_many_users_shows_a_part_and_names_are_text() {
    let hostile = format!("{MARK}.unit");
    let unit = "inherit = \"base\"\n";
    let users: Vec<String> = (0..USERS).map(|at| format!("crowd_u{at:04}.unit")).collect();
    let mut files: Vec<(&str, &str)> = vec![("base.unit", "name = \"base\"\n"), (&hostile, unit)];
    files.extend(users.iter().map(|path| (path.as_str(), unit)));
    let Some((mut browser, _game)) = open("reference-crowd", &files) else { return };
    choose(&mut browser, "base.unit");
    browser.wait_for(&format!("{TITLE}.includes('1,501 resources use it')"));
    browser.wait_for(&format!("{TITLE}.includes('more are not shown')"));
    let nodes = format!("{GRAPH}.querySelectorAll('[role=option]').length");
    assert_eq!(browser.value(&nodes), "80");
    browser.wait_for(&format!("{GRAPH}.textContent.includes('<img')"));
    let rows = format!("{LIST}.querySelectorAll('[role=treeitem]').length");
    let rows: usize = browser.value(&rows).parse().expect("a number");
    assert!(rows < 120, "{rows} rows");
    // The end of the list is asked for when it is shown.
    browser.value(&format!("{LIST}.scrollTop = {LIST}.scrollHeight"));
    browser.wait_for(&format!("{LIST}.innerText.includes('u1499.unit')"));
    let script = "document.querySelectorAll('img:not(.flow-picture), [onerror]').length";
    assert_eq!(
        (browser.value(script), browser.value("typeof owned")),
        ("0".into(), "undefined".into())
    );
    assert_eq!(browser.problems, Vec::<String>::new());
}
