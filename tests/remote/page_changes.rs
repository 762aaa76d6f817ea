//! Tests of the page's view of changes: files that have changed since the mark, and the differences
//! as values, pictures and graphs, all as text.

use super::GameProcess;
use super::browser::Browser;
use super::page_layout::FAULTS;
use engine::resource::image::encode_png;

const MARK: &str = "<img src=x onerror=owned=1>";
const LIST: &str = "document.querySelector('#view-changes .tree')";
const DETAIL: &str = "document.querySelector('#view-changes .difference')";

fn choose(browser: &mut Browser, name: &str) {
    let row = format!(
        "[...{LIST}.querySelectorAll('[role=treeitem]')].find(it => \
         it.innerText.startsWith('{name}'))"
    );
    browser.wait_for(&format!("{row} !== undefined"));
    browser.value(&format!("{row}.click()"));
    browser.wait_for(&format!("{DETAIL}.querySelector('h2')?.innerText === '{name}'"));
}

#[test]
fn changes_since_the_mark_are_shown_next_to_each_other() {
    let Some(mut browser) = Browser::start("changes-browser") else { return };
    let flow = |kind: &str| {
        format!("nodes = {{ n1 = {{ type = \"{kind}\" }} }}\npositions = {{ n1 = [1, 2] }}\n")
    };
    let (before, after) = (flow("if"), flow("print"));
    let files = [
        ("main.lua", "function update() end\n"),
        ("tower.unit", "name = \"tower\"\n"),
        ("door.flow", &before),
    ];
    let game = GameProcess::start_with("changes-page", &files, &["--no-watch"]);
    let picture = |light: u8| encode_png(2, 2, &[light; 16]);
    let wall = game.folder.join("game/wall.png");
    std::fs::write(&wall, picture(200)).unwrap();
    browser.resize(1280.0, 800.0, 1.0);
    browser.open(&game.session.address());
    browser.press("0", "Digit0", 1.0, "");
    browser.wait_for(
        "document.querySelector('#view-changes .aside').innerText.startsWith('0 changed since')",
    );
    assert_eq!(browser.value(FAULTS), "[]");
    game.write("tower.unit", &format!("name = \"{MARK}\"\n"));
    game.write("door.flow", &after);
    std::fs::write(&wall, picture(100)).unwrap();
    choose(&mut browser, "tower.unit");
    browser.wait_for(&format!("{DETAIL}.innerText.includes('<img src=x')"));
    browser.wait_for(&format!("{DETAIL}.querySelector('del').innerText === '\"tower\"'"));
    choose(&mut browser, "wall.png");
    browser.wait_for(&format!("{DETAIL}.querySelectorAll('figure img').length === 3"));
    browser.wait_for(&format!(
        "[...{DETAIL}.querySelectorAll('img')].every(it => it.complete && it.naturalWidth === 2)"
    ));
    browser.wait_for(&format!("{DETAIL}.innerText.includes('4 texels differ')"));
    choose(&mut browser, "door.flow");
    browser.wait_for(&format!("{DETAIL}.querySelector('.drawing img')?.naturalWidth > 100"));
    // Two files, given by their paths.
    browser.value(
        "(() => { const form = document.querySelector('#view-changes form'); \
         const [old, now] = form.querySelectorAll('input'); old.value = 'main.lua'; \
         now.value = 'tower.unit'; form.querySelectorAll('select')[0].value = 'disk'; \
         form.requestSubmit() })()",
    );
    browser.wait_for(&format!("{DETAIL}.innerText.includes('line 1')"));
    assert_eq!(browser.value(FAULTS), "[]");
    assert_eq!(browser.value("typeof owned"), "undefined");
    // A new mark has no changes.
    browser.value("document.querySelector('#view-changes .bar button').click()");
    browser.wait_for(&format!("{LIST}.querySelectorAll('[role=treeitem]').length === 0"));
    assert_eq!(browser.problems, Vec::<String>::new());
}
