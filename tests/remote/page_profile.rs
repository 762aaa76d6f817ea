//! Tests of the page's profiler: the chosen frame and its table, zoom and pan, passes on the
//! graphics card.

use super::GameProcess;
use super::browser::{Browser, has_adapter, skip};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use std::time::{Duration, Instant};

/// A game whose frames have different numbers of the scope "odd".
const SCOPES: &str = "function update()\n  \
    for _ = 1, 1 + Application.frame_index() % 2 * 4 do\n    \
    Profiler.start('odd') Profiler.start('inner') Profiler.stop('inner') Profiler.stop('odd')\n  \
    end\nend\nfunction render() local gui = Application.main_gui()\n  \
    Gui.rect(gui, Vector3(0, 0, 0), Vector2(9, 9), Color(255, 0, 0))\n  \
    Application.render_world(Application.main_world())\nend\n";

/// Returns the calls of the scope "odd" in the table.
const CALLS: &str = "[...document.querySelectorAll('#view-profile tbody tr')]\
    .find(it => it.cells[0].innerText.trim() === 'odd')?.cells[1].innerText";
const CAPTION: &str = "document.querySelector('#view-profile caption').innerText";
const FLAME: &str = "document.querySelector('#view-profile .flame canvas')";

fn open(name: &str, arguments: &[&str]) -> Option<(Browser, GameProcess)> {
    let mut browser = Browser::start(&format!("{name}-browser"))?;
    let settings = "window = { width = 64, height = 48 }";
    let files = [("main.lua", SCOPES), ("settings.sjson", settings)];
    let create_game = GameProcess::start_with(name, &files, arguments);
    browser.resize(1280.0, 800.0, 1.0);
    browser.open(&create_game.session.address());
    browser.press("3", "Digit3", 1.0, "");
    browser.wait_for(&format!("{CALLS} !== undefined"));
    Some((browser, create_game))
}

#[test]
fn selected_frame_is_shown_in_the_table() {
    let Some((mut browser, _create_game)) = open("chosen", &[]) else { return };
    assert_eq!(browser.value(CAPTION), "Last frame and averages");
    browser.wait_for(
        "document.querySelector('#view-profile .frames canvas').getAttribute('aria-valuenow') > 60",
    );
    browser.value("document.querySelector('#view-profile .frames canvas').focus()");
    // Frames alternate, and so do the calls of the chosen frame.
    let mut previous = browser.value(CAPTION);
    for _ in 0..4 {
        browser.press("ArrowLeft", "ArrowLeft", 0.0, "");
        browser.wait_for(&format!("{CAPTION}.startsWith('Frame ') && {CAPTION} !== '{previous}'"));
        let shown = browser.value(&format!("{CAPTION} + '|' + {CALLS}"));
        let (caption, calls) = shown.split_once('|').expect("two parts");
        let frame: u64 = caption["Frame ".len()..].parse().expect("a number");
        // The script counts the frame that it is in.
        assert_eq!(calls, if frame % 2 == 1 { "5" } else { "1" }, "{caption}");
        previous = caption.to_string();
        let own = "(() => { const row = [...document.querySelectorAll('#view-profile tbody tr')]\
            .find(it => it.cells[0].innerText.trim() === 'odd').cells; \
            return Number(row[3].innerText) <= Number(row[2].innerText) })()";
        assert_eq!(browser.value(own), "true");
    }
    // A click chooses a frame, too. Without "hold" the table follows the game again.
    browser.mouse("mousePressed", "#view-profile .frames canvas", left());
    browser.mouse("mouseReleased", "#view-profile .frames canvas", left());
    browser.wait_for(&format!("{CAPTION}.startsWith('Frame ')"));
    browser.value("document.querySelector('#view-profile input[type=checkbox]').click()");
    browser.wait_for(&format!("{CAPTION} === 'Last frame and averages'"));
    assert_eq!(browser.problems, Vec::<String>::new());
}

fn left() -> Vec<(&'static str, SjsonTree)> {
    let button = ("button", json::text("left"));
    vec![button, ("clickCount", SjsonTree::Number(1.0))]
}

#[test]
fn flame_graph_zooms_and_pans() {
    let Some((mut browser, _create_game)) = open("zoomed", &[]) else { return };
    browser.value("document.querySelector('#view-profile input[type=checkbox]').click()");
    browser.wait_for(&format!("{CAPTION}.startsWith('Frame ')"));
    let view = |browser: &mut Browser| -> (f64, f64) {
        let view = browser.value(&format!("{FLAME}.dataset.view"));
        let (from, to) = view.split_once(' ').expect("two numbers");
        (from.parse().expect("a number"), to.parse().expect("a number"))
    };
    let whole = view(&mut browser);
    assert_eq!(whole.0, 0.0);
    let wheel = |x: f64, y: f64| {
        let number = SjsonTree::Number;
        vec![("deltaX", number(x)), ("deltaY", number(y))]
    };
    for _ in 0..4 {
        browser.mouse("mouseWheel", "#view-profile .flame canvas", wheel(0.0, -100.0));
    }
    let zoomed = view(&mut browser);
    let length = |(from, to): (f64, f64)| to - from;
    assert!(length(zoomed) < length(whole) * 0.6 && zoomed.0 > 0.0, "{whole:?} {zoomed:?}");
    let status = browser.value("document.querySelector('#view-profile [role=status]').innerText");
    assert!(status.ends_with(" ms"), "{status}");
    browser.mouse("mouseWheel", "#view-profile .flame canvas", wheel(100.0, 0.0));
    let panned = view(&mut browser);
    assert!(panned.0 > zoomed.0, "{zoomed:?} {panned:?}");
    assert!((length(panned) - length(zoomed)).abs() < length(zoomed) * 0.01);
    browser.value(&format!("{FLAME}.focus()"));
    browser.press("ArrowLeft", "ArrowLeft", 0.0, "");
    assert!(view(&mut browser).0 < panned.0);
    browser.press("+", "Equal", 8.0, "+");
    assert!(length(view(&mut browser)) < length(panned));
    // The whole frame, and not beyond its ends.
    browser.press("0", "Digit0", 0.0, "0");
    assert_eq!(view(&mut browser), whole);
    browser.press("ArrowLeft", "ArrowLeft", 0.0, "");
    browser.press("-", "Minus", 0.0, "-");
    assert_eq!(view(&mut browser), whole);
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn flame_graph_has_the_passes_of_the_graphics_card() {
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let Some((mut browser, create_game)) = open("passes", &["--renderer", "software"]) else {
        return;
    };
    let bars = "document.querySelector('#view-profile .frames canvas')";
    browser.value(&format!("{bars}.focus()"));
    let mut client = create_game.connect();
    // A run without a window draws only the frames that are shown on the page, and the newest
    // frames have no times yet. The newest frame with times is chosen.
    let end = Instant::now() + super::WAIT_MAX;
    loop {
        let profile = super::ask(&mut client, "profile", vec![]);
        if let Some(drawn) = super::list(&profile, "gpu").last() {
            assert!(json::write(drawn).contains("\"gui\""), "{}", json::write(drawn));
            let index = super::number(drawn, "index");
            let shown = format!("{FLAME}.dataset.lanes.includes('GPU')");
            let mut current = f64::INFINITY;
            while current > index {
                browser.press("ArrowLeft", "ArrowLeft", 0.0, "");
                std::thread::sleep(Duration::from_millis(40));
                let now = browser.value(&format!("{bars}.getAttribute('aria-valuenow')"));
                let now: f64 = now.parse().expect("a number");
                if now >= current {
                    break;
                }
                current = now;
            }
            if current == index {
                browser.wait_for(&shown);
                break;
            }
            // The page did not have the frame any more.
            browser.value("document.querySelector('#view-profile input[type=checkbox]').click()");
        }
        assert!(Instant::now() < end, "no passes come");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(browser.problems, Vec::<String>::new());
}
