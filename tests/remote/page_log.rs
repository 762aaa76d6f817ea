//! Tests of the page's log: time and frame, repeated lines, links to the editor.

use super::browser::Browser;
use super::{GameProcess, ask};
use engine::foundation::json;

const LINES: &str = "for _ = 1, 5 do print('again and again') end\nprint('once')\n\
    print('see enemies/orc.lua:12 and main.lua:3.')\nfunction say(text) print(text) end\n";

fn start(name: &str) -> Option<(Browser, GameProcess)> {
    let mut browser = Browser::start(&format!("{name}-browser"))?;
    let create_game = GameProcess::start(name, LINES);
    browser.open(&create_game.session.address());
    browser.wait_for("document.getElementById('lines').innerText.includes('orc.lua')");
    Some((browser, create_game))
}

/// Returns the text of all lines that contain a text, one below the other.
fn lines(browser: &mut Browser, wanted: &str) -> String {
    browser.value(&format!(
        "[...document.querySelectorAll('#lines .line')]\
         .filter(it => it.innerText.includes('{wanted}'))\
         .map(it => [...it.children].filter(part => !part.hidden)\
         .map(part => part.innerText.trim()).join('|')).join('\\n')"
    ))
}

#[test]
fn log_lines_show_time_and_frame_and_repeats_are_folded() {
    let Some((mut browser, create_game)) = start("folded") else { return };
    let again = lines(&mut browser, "again and again");
    let parts: Vec<&str> = again.split('|').collect();
    assert_eq!(parts.len(), 4, "{again}");
    let is_clock = |text: &str| {
        let digits: Vec<&str> = text.split([':', '.']).collect();
        digits.len() == 4 && digits.iter().all(|part| part.parse::<u32>().is_ok())
    };
    assert!(is_clock(parts[0]) && parts[1].starts_with('#'), "{again}");
    assert_eq!(&parts[2..], ["again and again", "× 5"]);
    let once = lines(&mut browser, "once");
    assert_eq!(once.split('|').count(), 3, "{once}");
    // A line that is repeated later continues the count, with the newest frame.
    for _ in 0..3 {
        super::eval(&mut create_game.connect(), "say('later')");
    }
    browser.wait_for(
        "[...document.querySelectorAll('#lines .line')].at(-1).innerText.includes('× 3')",
    );
    // The stamps can be hidden.
    browser.value(
        "(() => { const it = document.getElementById('settings'); it.click(); \
         const choice = document.getElementById('setting-stamps'); choice.value = 'none'; \
         choice.dispatchEvent(new Event('change')) })()",
    );
    let time = "document.querySelector('#lines time').checkVisibility()";
    assert_eq!(browser.value(time), "false");
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// Returns the addresses of all links in the log, one below the other.
const LINKS: &str = "[...document.querySelectorAll('#lines a')].map(it => it.href).join('\\n')";

#[test]
fn log_links_open_only_files_of_the_game() {
    let Some((mut browser, create_game)) = start("links") else { return };
    let folder = create_game.folder.join("game").canonicalize().expect("it exists");
    let base = format!("vscode://file{}", folder.display());
    let wanted = format!("{base}/enemies/orc.lua:12\n{base}/main.lua:3");
    browser.wait_for(&format!("{LINKS} === `{wanted}`"));
    // Paths that lead elsewhere, other files, addresses, and the engine's own files.
    let mut client = create_game.connect();
    for text in [
        "../secret.lua:1",
        "/etc/passwd.lua:1",
        "a/../../x.lua:1",
        "C:/x.lua:1",
        "http://evil.example/x.lua:1",
        "javascript:alert(1).lua:1",
        "127.0.0.1:8080 x.exe:1 core/strict.lua:4",
        "<a href=javascript:alert(1)>x</a>",
        "last",
    ] {
        let fields = vec![("script", json::text(format!("say({text:?})")))];
        ask(&mut client, "script", fields);
    }
    browser.wait_for(
        "[...document.querySelectorAll('#lines .line')].at(-1).innerText.includes('last')",
    );
    let links = browser.value(LINKS);
    let others: Vec<&str> = links.lines().filter(|link| !wanted.contains(link)).collect();
    assert!(others.iter().all(|link| link.starts_with(&format!("{base}/"))), "{others:?}");
    assert!(others.iter().all(|link| !link.contains("..")), "{others:?}");
    // Names are encoded.
    let script = "say('see a+b.lua:7, and odd%23/a+c.lua:8')";
    ask(&mut client, "script", vec![("script", json::text(script))]);
    browser.wait_for(&format!("{LINKS}.includes('/game/a%2Bb.lua:7')"));
    assert_eq!(browser.value(&format!("{LINKS}.includes('a%2Bc.lua')")), "false");
    // Another editor, and none.
    for (editor, start) in [("zed", "zed://file/"), ("idea", "idea://open?file="), ("none", "")] {
        browser.value(&format!(
            "(() => {{ document.getElementById('settings').click(); \
             const choice = document.getElementById('setting-editor'); choice.value = '{editor}'; \
             choice.dispatchEvent(new Event('change')); \
             document.getElementById('options').close() }})()"
        ));
        let links = browser.value(LINKS);
        assert_eq!(links.is_empty(), start.is_empty(), "{editor}: {links}");
        assert!(links.lines().all(|link| link.starts_with(start)), "{editor}: {links}");
    }
    assert_eq!(browser.problems, Vec::<String>::new());
}
