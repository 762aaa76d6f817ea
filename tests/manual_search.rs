//! The manual's search in a real browser, if one is installed: it finds the same as `engine docs`.

use crate::game_folder::GameFolder;
use crate::remote::browser::Browser;
use engine::command::docs::site::Site;
use engine::foundation::json;
use engine::script::docgen::ApiModel;

#[path = "../src/command/docs/searches.rs"]
mod searches;

#[test]
fn browser_finds_the_same_as_the_terminal() {
    let Some(mut browser) = Browser::start("manual_search") else { return };
    let folder = GameFolder::new("manual_search", "site");
    let site = Site::new(&ApiModel::new());
    site.write(&folder).expect("a scratch folder can be written");
    let address = format!("file://{}/docs/README.html", folder.display());
    browser.call("Page.navigate", vec![("url", json::text(address))]);
    browser.wait_for("document.readyState === 'complete' && typeof INDEX === 'object'");
    let queries = searches::SEARCHES.iter().flat_map(|(_, queries)| queries.iter());
    for query in queries.chain(&["bitmap xyzzy", "xyzzy", "how to", "drawImage3d"]) {
        let found = site.search_index().find(query);
        let wanted: Vec<&str> = found.iter().map(|entry| entry.address.as_str()).collect();
        let quoted = json::quoted(query);
        let shown = browser.value(&format!("find({quoted}).map((entry) => entry[1]).join(' ')"));
        assert_eq!(shown, wanted.join(" "), "{query}");
    }
    // A result is chosen with the keyboard alone.
    browser.press("/", "Slash", 0.0, "");
    browser.write("draw image");
    browser.wait_for("document.querySelectorAll('#found a').length > 0");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("location.href.endsWith('docs/reference/Gui.html#guibitmap')");
    assert_eq!(browser.problems, Vec::<String>::new());
}
