//! Tests of the debugger in tests: one file, one test, frames that a test plays.

use super::*;

const SUITE: &str = "local orc = require('orc')

describe('an orc', function()
  it('walks', function()
    local before = orc.x
    orc.walk(2)
    assert.equal(before + 2, orc.x)
  end)
  it('waits', function()
    test.boot()
    test.frames(2)
    assert.truthy(frames >= 2)
  end)
end)
";

const ORC: &str = "local orc = { x = 0 }

function orc.walk(by)
  local x = orc.x + by
  orc.x = x
end

return orc
";

fn start(name: &str) -> Editor {
    let editor = Editor::start(name, MAIN);
    editor.folder.write("game/orc.lua", ORC);
    editor.folder.write("game/tests/orc_test.lua", SUITE);
    editor
}

fn launch(editor: &mut Editor, more: &str) {
    let folder = json::quoted(&editor.path("").to_string_lossy());
    editor.ask("launch", &format!("{{\"folder\": {folder}, {more}}}"));
    editor.event("initialized");
}

/// Waits for a line of the console that contains a text.
#[track_caller]
fn printed(editor: &mut Editor, wanted: &str) {
    loop {
        let line = editor.event("output");
        if text(&line, "output").contains(wanted) {
            return;
        }
    }
}

#[test]
fn a_suite_stops_in_itself_its_scripts_and_frames() {
    let mut editor = start("suite");
    launch(&mut editor, "\"suite\": \"tests/orc_test.lua\"");
    editor.set_breakpoints("tests/orc_test.lua", "{\"line\": 1}, {\"line\": 7}");
    editor.set_breakpoints("orc.lua", "{\"line\": 5}");
    editor.set_breakpoints("main.lua", "{\"line\": 16, \"condition\": \"frames == 1\"}");
    editor.ask("configurationDone", "{}");
    assert_eq!(editor.stopped(), ("breakpoint".to_string(), "orc_test.lua:1".to_string()));
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped().1, "orc.lua:5");
    // The file goes on, and its other breakpoints stop it.
    assert!(editor.refused("restart", "{}").contains("tests do not restart"));
    assert_eq!(editor.locations()[1], "orc_test.lua:6");
    assert_eq!(editor.variables("Locals"), ["by = 2", "x = 2"]);
    editor.ask("next", THREAD);
    editor.stopped();
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped().1, "orc_test.lua:7");
    assert_eq!(editor.evaluate("before"), "0");
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped().1, "main.lua:16");
    editor.ask("continue", THREAD);
    printed(&mut editor, "2 passed, 0 failed");
    assert_eq!(number(&editor.event("exited"), "exitCode"), 0.0);
    editor.event("terminated");
    editor.end();
}

#[test]
fn one_test_is_debugged_by_its_name() {
    let mut editor = start("test");
    launch(&mut editor, "\"suite\": \"tests/orc_test.lua\", \"test\": \"an orc waits\"");
    // The other test would stop here.
    editor.set_breakpoints("orc.lua", "{\"line\": 5}");
    editor.set_breakpoints("tests/orc_test.lua", "{\"line\": 12}");
    editor.ask("configurationDone", "{}");
    assert_eq!(editor.stopped().1, "orc_test.lua:12");
    // Time passes for no test while it is stopped.
    std::thread::sleep(Duration::from_secs(1));
    editor.ask("continue", THREAD);
    printed(&mut editor, "1 passed, 0 failed");
    assert_eq!(number(&editor.event("exited"), "exitCode"), 0.0);
    editor.end();
}

#[test]
fn tests_that_cannot_be_debugged_are_refused() {
    let mut editor = start("refused-tests");
    editor.folder.write("game/tests/elf_test.lua", SUITE);
    let folder = json::quoted(&editor.path("").to_string_lossy());
    let mut refused = |more: &str, wanted: &str| {
        let message = editor.refused("launch", &format!("{{\"folder\": {folder}, {more}}}"));
        assert!(message.contains(wanted), "{message}");
    };
    refused("\"test\": \"an orc waits\"", "'test' needs 'suite'");
    refused("\"suite\": \"../secret_test.lua\"", "is not in the game's folder");
    refused("\"suite\": \"none_test.lua\"", "ended before it could be debugged");
    let check = |arguments: &[&str], wanted: &str| {
        let (code, _, err) = editor.folder.engine(arguments);
        assert!(code == 2 && err.contains(wanted), "{arguments:?}: {code} {err}");
    };
    check(&["test", "game", "--debug"], "--debug runs one file, and 2 were found");
    let json = ["test", "game", "elf", "--debug", "-o", "json"];
    check(&json, "--debug has no output 'json'");
    check(&["test", "game", "--debug", "--no-sandbox"], "--no-sandbox");
}
