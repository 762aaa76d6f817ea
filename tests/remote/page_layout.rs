//! Tests of the page's layout and looks: narrow windows, zoom, themes, splitters, a large picture,
//! contrast, and what screen readers and keyboards need.

use super::browser::{Browser, VISIBLE_TABS};
use super::{GameProcess, TOWER, UNITS};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;

fn start(name: &str) -> Option<(Browser, GameProcess)> {
    let browser = Browser::start(&format!("{name}-browser"))?;
    let main = format!("print('begun, see main.lua:1')\n{UNITS}");
    let files = [("main.lua", main.as_str()), ("tower.unit", TOWER)];
    Some((browser, GameProcess::start_with(name, &files, &[])))
}

/// Lists the visible controls that reach out of the page.
const OUTSIDE: &str = "JSON.stringify([...document.querySelectorAll('button, input, select, \
    textarea, [role=tabpanel]')].filter(it => it.checkVisibility() && !it.closest('#tabs, dialog, \
    .scroll')).filter(it => { const box = it.getBoundingClientRect(); return box.left < -1 || \
    box.right > innerWidth + 1 || box.width < 8 })\
    .map(it => it.id || it.className || it.innerText))";

#[test]
fn page_fits_narrow_windows_and_zoomed_pages() {
    let Some((mut browser, create_game)) = start("narrow") else { return };
    for (width, height, zoom) in [(400.0, 800.0, 1.0), (1280.0, 800.0, 2.0), (1280.0, 800.0, 1.0)] {
        browser.resize(width, height, zoom);
        browser.open(&create_game.session.address());
        let tabs = browser.value(&format!("{VISIBLE_TABS}.length"));
        let tabs: usize = tabs.parse().expect("a number");
        // A narrow page has the picture and the log as tabs, too.
        assert_eq!(tabs, if width / zoom < 820.0 { 13 } else { 11 });
        for at in 0..tabs {
            browser.value(&format!("{VISIBLE_TABS}[{at}].click()"));
            let name = browser.value("document.activeElement.innerText");
            let context = format!("{name} at {width} x {height}, zoom {zoom}");
            let too_wide = "document.scrollingElement.scrollWidth > innerWidth";
            assert_eq!(browser.value(too_wide), "false", "{context}");
            assert_eq!(browser.value(OUTSIDE), "[]", "{context}");
            // The tab that was chosen is in view, and so is its panel.
            let panel = "(() => { const id = document.activeElement.getAttribute('aria-controls'); \
                const box = document.getElementById(id).getBoundingClientRect(); \
                return box.width > 300 && box.height > 180 && box.bottom <= innerHeight + 1 })()";
            assert_eq!(browser.value(panel), "true", "{context}");
        }
    }
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// The lightness of the page's background, from 0 to 255.
const LIGHTNESS: &str = "(getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g)\
    .reduce((sum, part) => sum + Number(part), 0) / 3)";

#[test]
fn theme_follows_the_desktop_or_the_setting() {
    let Some((mut browser, create_game)) = start("theme") else { return };
    browser.prefer_theme("light");
    browser.open(&create_game.session.address());
    browser.wait_for(&format!("{LIGHTNESS} > 200"));
    browser.prefer_theme("dark");
    browser.wait_for(&format!("{LIGHTNESS} < 60"));
    let choose = |browser: &mut Browser, theme: &str| {
        browser.value("document.getElementById('settings').click()");
        browser.value(&format!(
            "(() => {{ const it = document.getElementById('setting-theme'); it.value = '{theme}'; \
             it.dispatchEvent(new Event('change')); \
             document.getElementById('options').close() }})()"
        ));
    };
    choose(&mut browser, "light");
    browser.wait_for(&format!("{LIGHTNESS} > 200"));
    // The choice is kept.
    browser.open(&create_game.session.address());
    browser.wait_for(&format!("{LIGHTNESS} > 200"));
    choose(&mut browser, "auto");
    browser.wait_for(&format!("{LIGHTNESS} < 60"));
    // A damaged setting counts as the default.
    browser.value("localStorage.setItem('settings', '{\"theme\": 7, \"editor\": \"evil\"')");
    browser.open(&create_game.session.address());
    browser.wait_for(&format!("{LIGHTNESS} < 60"));
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// Returns the lowest contrast of the visible texts that match a selector, as in WCAG 2.2.
const CONTRAST: &str = "(selector => { \
    const channel = value => (value /= 255) <= 0.04045 ? value / 12.92 : \
        ((value + 0.055) / 1.055) ** 2.4; \
    const light = color => { const [r, g, b] = color.match(/[0-9.]+/g).map(Number); \
        return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b) }; \
    const back = it => { for (; it; it = it.parentElement) { \
        const color = getComputedStyle(it).backgroundColor; \
        if (!/, 0\\)$|transparent/.test(color)) return color } return 'rgb(255, 255, 255)' }; \
    const texts = [...document.querySelectorAll(selector)].filter(it => it.checkVisibility() && \
        !it.disabled && [...it.childNodes].some(node => node.nodeType === 3 && node.data.trim())); \
    const all = texts.map(it => { \
        const [a, b] = [light(getComputedStyle(it).color), light(back(it))]; \
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); \
        return [contrast, it.className + ' ' + it.innerText] }); \
    all.sort((a, b) => a[0] - b[0]); \
    return all.length ? `${all[0][0].toFixed(2)} ${all[0][1].slice(0, 40)}` : '99 none' })";

#[test]
fn texts_and_selected_rows_have_enough_contrast() {
    let Some((mut browser, create_game)) = start("contrast") else { return };
    for theme in ["dark", "light"] {
        browser.prefer_theme(theme);
        browser.open(&create_game.session.address());
        browser.press("e", "KeyE", 1.0, "");
        for line in ["1 + 1", "error('no')", "Script.warn('look')"] {
            browser.write(line);
            browser.press("Enter", "Enter", 0.0, "\r");
        }
        browser.wait_for("document.querySelector('#lines .error') !== null");
        for (digit, selector) in [
            (2, "#view-counters tbody tr"),
            (5, "#view-units [data-unit]"),
            (6, "#view-resources tbody tr"),
        ] {
            browser.press(&digit.to_string(), &format!("Digit{digit}"), 1.0, "");
            browser.wait_for(&format!("document.querySelector('{selector}') !== null"));
            // A click on a selected counter would close its graph.
            browser.value(&format!(
                "document.querySelector('{selector}[aria-selected=true]') ?? \
                 document.querySelector('{selector}').click()"
            ));
            let selected =
                "document.querySelector('[role=tabpanel]:not([hidden]) [aria-selected=true]')";
            browser.wait_for(&format!("{selected} !== null"));
            // The transitions of colors have ended.
            std::thread::sleep(std::time::Duration::from_millis(200));
            browser
                .wait_for("document.getAnimations().every(it => !(it instanceof CSSTransition))");
            let lowest = browser.value(&format!("{CONTRAST}('body *')"));
            let contrast: f64 = lowest.split(' ').next().unwrap().parse().expect("a number");
            assert!(contrast >= 4.5, "{theme}, {selector}: {lowest}");
            let own = "[role=tabpanel]:not([hidden]) [aria-selected=true], \
                       [role=tabpanel]:not([hidden]) [aria-selected=true] *";
            let lowest = browser.value(&format!("{CONTRAST}('{own}')"));
            assert!(!lowest.ends_with("none"), "a selected row has text");
        }
    }
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn panels_can_be_resized_with_the_mouse_and_the_keyboard() {
    let Some((mut browser, create_game)) = start("splitters") else { return };
    browser.resize(1280.0, 800.0, 1.0);
    browser.open(&create_game.session.address());
    let width = "document.getElementById('console').getBoundingClientRect().width";
    let before: f64 = browser.value(width).parse().expect("a number");
    browser.value("document.getElementById('split-main').focus()");
    for _ in 0..5 {
        browser.press("ArrowRight", "ArrowRight", 0.0, "");
    }
    let wider: f64 = browser.value(width).parse().expect("a number");
    assert!(wider > before + 80.0, "{before} {wider}");
    // The sizes are kept, and a double click resets them.
    browser.open(&create_game.session.address());
    assert_eq!(browser.value(width), wider.to_string());
    browser
        .value("document.getElementById('split-main').dispatchEvent(new MouseEvent('dblclick'))");
    assert_eq!(browser.value(width), before.to_string());
    let drag = "(() => { const bar = document.getElementById('split-left'); \
        const at = y => ({ bubbles: true, pointerId: 1, clientX: 200, clientY: y }); \
        bar.setPointerCapture = () => {}; bar.hasPointerCapture = () => true; \
        bar.dispatchEvent(new PointerEvent('pointerdown', at(300))); \
        bar.dispatchEvent(new PointerEvent('pointermove', at(600))); \
        bar.dispatchEvent(new PointerEvent('pointerup', at(600))); \
        return document.getElementById('picture').getBoundingClientRect().height })()";
    let height: f64 = browser.value(drag).parse().expect("a number");
    assert!((480.0..600.0).contains(&height), "{height}");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn picture_can_be_enlarged_or_shown_alone() {
    if !super::browser::has_adapter() {
        return super::browser::skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let Some(mut browser) = Browser::start("large-browser") else { return };
    let main = "function render() Application.render_world(Application.main_world()) end";
    let files = [("main.lua", main), ("settings.sjson", "window = { width = 64, height = 48 }")];
    let create_game = GameProcess::start_with("large", &files, &["--renderer", "software"]);
    browser.resize(1280.0, 800.0, 1.0);
    browser.open(&create_game.session.address());
    let area = "(() => { \
        const box = document.querySelector('#picture canvas').getBoundingClientRect(); \
        return box.width * box.height / innerWidth / innerHeight })()";
    browser.wait_for(&format!("{area} > 0.05 && {area} < 0.4"));
    browser.press("l", "KeyL", 1.0, "");
    browser.wait_for(&format!("{area} > 0.75"));
    browser.press("l", "KeyL", 1.0, "");
    browser.wait_for(&format!("{area} < 0.4"));
    // A window of its own, which ends when the picture is attached again.
    let detach = "#picture .bar button:nth-of-type(2)";
    let click = |browser: &mut Browser| {
        for event_type in ["mousePressed", "mouseReleased"] {
            let count = ("clickCount", SjsonTree::Number(1.0));
            browser.mouse(event_type, detach, vec![("button", json::text("left")), count]);
        }
    };
    click(&mut browser);
    let shown = "document.querySelector('#picture canvas').checkVisibility()";
    browser.wait_for(&format!("{shown} === false"));
    let note = "document.querySelector('#picture .note').innerText";
    assert_eq!(browser.value(note), "The picture is in a window of its own.");
    click(&mut browser);
    browser.wait_for(&format!("{shown} && {area} > 0.05"));
    // The content of that window. Another fragment alone would not load the page again.
    browser.call("Page.navigate", vec![("url", json::text("about:blank"))]);
    browser.open(&format!("{}#picture", create_game.session.address()));
    browser.wait_for(&format!("{area} > 0.75"));
    browser.wait_for("document.querySelector('#picture canvas').dataset.format === 'jpeg'");
    assert_eq!(browser.value("document.querySelector('header').checkVisibility()"), "false");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn graphs_show_values_under_the_mouse_and_the_keys() {
    let Some((mut browser, create_game)) = start("hover") else { return };
    browser.open(&create_game.session.address());
    browser.press("1", "Digit1", 1.0, "");
    browser.wait_for("document.querySelector('#view-frames .u-over') !== null");
    browser.mouse("mouseMoved", "#view-frames .u-over", vec![]);
    let tip = "([...document.querySelectorAll('.tip')].find(it => !it.hidden)?.innerText ?? '')";
    browser.wait_for(&format!(
        "/^frame [0-9]+\\nmeasured  [0-9.]+ ms\\nstep  [0-9.]+ ms$/.test({tip})"
    ));
    browser.mouse("mouseMoved", "#tabs", vec![]);
    browser.wait_for(&format!("{tip} === ''"));
    browser.value("document.querySelector('#view-frames .plot').focus()");
    browser.press("End", "End", 0.0, "");
    browser.wait_for(&format!("({tip}).startsWith('frame ')"));
    let newest = browser.value(tip);
    browser.press("Home", "Home", 0.0, "");
    browser.wait_for(&format!("({tip}).startsWith('frame ') && {tip} !== {newest:?}"));
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// Lists the faults that screen readers meet: controls without a name, rows with a state that their
/// role does not have, parts of trees and lists outside of them, and focus that cannot be seen.
pub const FAULTS: &str = "(() => { const faults = []; \
    const named = it => it.getAttribute('aria-label') || it.getAttribute('aria-labelledby') || \
        it.innerText?.trim() || it.labels?.length || it.title; \
    for (const it of document.querySelectorAll('button, input, select, textarea, canvas, [role], \
        [tabindex=\"0\"]')) if (!named(it) && !it.parentElement.closest('[role=img]') && !it.matches('[role=status], [role=alert]')) \
        faults.push('no name: ' + it.outerHTML.slice(0, 80)); \
    for (const it of document.querySelectorAll('[aria-selected]')) \
        if (!it.matches('[role=tab], [role=option], [role=treeitem], [role=grid] tr')) \
            faults.push('not selectable: ' + it.outerHTML.slice(0, 80)); \
    for (const it of document.querySelectorAll('[role=tree] [class]:not([role])')) \
        if (it.matches('.space > *')) faults.push('no row: ' + it.outerHTML.slice(0, 80)); \
    for (const it of document.querySelectorAll('[role=slider], [role=separator][tabindex]')) \
        if (it.checkVisibility() && !it.hasAttribute('aria-valuenow')) \
            faults.push('no value: ' + it.outerHTML.slice(0, 80)); \
    return JSON.stringify(faults) })()";

#[test]
fn every_control_has_a_name_a_role_and_a_visible_focus() {
    let Some((mut browser, create_game)) = start("roles") else { return };
    browser.open(&create_game.session.address());
    for (digit, ready) in [
        (2, "#view-counters tbody tr"),
        (3, "#view-profile tbody tr"),
        (4, "#view-memory tbody tr"),
        (5, "#view-units [data-unit]"),
        (6, "#view-resources tbody tr"),
    ] {
        browser.press(&digit.to_string(), &format!("Digit{digit}"), 1.0, "");
        browser.wait_for(&format!("document.querySelector('{ready}') !== null"));
        assert_eq!(browser.value(FAULTS), "[]", "view {digit}");
        // Tab reaches the view, and each stop shows its focus.
        for _ in 0..3 {
            browser.press("Tab", "Tab", 0.0, "");
            let shown = "(() => { const it = document.activeElement, style = getComputedStyle(it); \
                const outer = getComputedStyle(it.parentElement); \
                return it !== document.body && (style.outlineStyle !== 'none' || \
                    outer.boxShadow !== 'none') })()";
            let focus = browser.value("document.activeElement.outerHTML.slice(0, 90)");
            assert_eq!(browser.value(shown), "true", "view {digit}: {focus}");
        }
    }
    let log = "(() => { const it = document.getElementById('lines'); \
        return [it.getAttribute('role'), it.getAttribute('aria-live'), it.tabIndex, \
        document.getElementById('announcer').getAttribute('aria-live')].join() })()";
    assert_eq!(browser.value(log), "log,off,0,polite");
    let tree = "(() => { const it = document.querySelector('#view-units .tree'); \
        const row = it.querySelector('[data-unit]'); return [it.getAttribute('role'), it.tabIndex, \
        row.getAttribute('role'), row.getAttribute('aria-level')].join() })()";
    assert_eq!(browser.value(tree), "tree,0,treeitem,2");
    assert_eq!(browser.problems, Vec::<String>::new());
}
