//! Tests that the page shows all names and messages of a game as text, never as HTML: names of the
//! game, of units, resources, scopes and counters, log lines, values, errors.

use super::browser::Browser;
use super::{GameProcess, TOWER};

const MARK: &str = "<img src=x onerror=owned=1>";

#[test]
fn game_texts_are_escaped_on_the_page() {
    let Some(mut browser) = Browser::start("text-browser") else { return };
    let main = format!(
        "print('{MARK}') Script.warn('{MARK}')
local unit
function init() unit = World.spawn_unit(Application.main_world(), '{MARK}') end
function update()
  Profiler.start('{MARK}')
  Profiler.record_statistics('{MARK}', 7)
  Profiler.stop('{MARK}')
end"
    );
    let settings = format!("name = \"{MARK}\"");
    let unit = format!("{MARK}.unit");
    let named = format!("texts/{MARK}.txt");
    let files = [
        ("main.lua", main.as_str()),
        ("settings.sjson", settings.as_str()),
        (unit.as_str(), TOWER),
        (named.as_str(), "<b id=owned>"),
    ];
    let game = GameProcess::start_with("text", &files, &[]);
    browser.open(&game.session.address());
    let has = |selector: &str| {
        format!("document.querySelector('{selector}')?.innerText.includes('<img')")
    };
    browser.wait_for(&has("#game"));
    browser.wait_for(&has("#lines"));
    assert!(browser.value("document.title").contains(MARK));
    // A value, an error, and a name to complete.
    browser.press("e", "KeyE", 1.0, "");
    for typed in [format!("'{MARK}'"), format!("error('{MARK}')"), format!("_G['{MARK}'] = 1")] {
        browser.write(&typed);
        browser.press("Enter", "Enter", 0.0, "\r");
    }
    browser.wait_for(&has("#lines .answer"));
    browser.wait_for(&has("#lines .error"));
    for (digit, selector) in [
        (2, "#view-counters tbody"),
        (3, "#view-profile tbody"),
        (5, "#view-units .tree"),
        (6, "#view-resources tbody"),
    ] {
        browser.press(&digit.to_string(), &format!("Digit{digit}"), 1.0, "");
        browser.wait_for(&has(selector));
    }
    // Details of one resource and one unit.
    browser.value(
        "[...document.querySelectorAll('#view-resources tbody tr')]\
         .find(row => row.innerText.includes('<img')).click()",
    );
    browser.wait_for(&has("#view-resources .detail"));
    browser.press("5", "Digit5", 1.0, "");
    browser.value("document.querySelector('#view-units [data-unit]').click()");
    browser.wait_for(&has("#view-units .detail"));
    let script = "document.querySelectorAll('img:not(.flow-picture), [onerror], #owned').length";
    assert_eq!(
        (browser.value(script), browser.value("typeof owned")),
        ("0".into(), "undefined".into())
    );
    assert_eq!(browser.problems, Vec::<String>::new());
    // Even if markup were injected, the browser would run no inline script of the page.
    browser.value(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.owned=1\">'), \
         (() => { const one = document.createElement('script'); one.textContent = \
         'window.owned = 2'; document.body.append(one) })()",
    );
    browser.wait_for("[...document.images].some(image => image.complete)");
    assert_eq!(browser.value("typeof owned"), "undefined");
}
