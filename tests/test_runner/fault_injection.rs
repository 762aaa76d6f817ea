//! Tests of simulated events: errors in the log, scripts with another source, a full disk, a closed
//! window; and retries of tests.

use super::{Scratch, check};

#[test]
fn logged_error_fails_test_unless_expected() {
    // A script without compiled data is an error in the log, and the game plays on.
    let suite = "local turn = 0\n\
        local function broken()\n  os.execute('rm -rf .engine/data')\n  turn = turn + 1\n  \
        Application.set_property_preference_order('v' .. turn)\n  test.frames(1)\nend\n\
        Application.can_get('lua', 'enemy')\n\
        describe('log', function()\n  it('reports', function() broken() end)\n  \
        it('expects', function() test.expect_error('cannot be read') broken() end)\n  \
        it('expects another', function() test.expect_error('other words') broken() end)\n  \
        it('expects one of two', function() test.expect_error('enemy') broken() broken() end)\n  \
        it('waits in vain', function() test.expect_error('never') end)\n  \
        it('has a bad pattern', function() test.expect_error('[') end)\n  \
        it('has no pattern', function() test.expect_error() end)\n  \
        it('is left alone', function() end)\n  \
        describe('hooks', function()\n    setup(broken)\n    it('runs', function() end)\n  end)\n\
        end)\n";
    let early = "it('is fine', function() end)\ntest.expect_error('x')";
    let mut files = vec![("main.lua", ""), ("enemy.lua", "return 0"), ("a_test.lua", suite)];
    files.push(("early_test.lua", early));
    let variants: Vec<String> = (1..9).map(|i| format!("enemy.v{i}.lua")).collect();
    files.extend(variants.iter().map(|path| (path.as_str(), "return 1")));
    let scratch = Scratch::new("log", &files);
    let (code, out, err) = scratch.test(&[".", "--no-sandbox"]);
    assert_eq!(code, 1, "{out}{err}");
    for message in [
        "FAILED log reports\n  a_test.lua:10\n  an error was logged: the compiled data of enemy.lua (",
        "FAILED log expects another\n",
        "FAILED log expects one of two\n",
        "no error that matches the pattern 'never' was logged",
        "the pattern '[' is malformed: malformed pattern",
        "argument #1 'pattern' must be string, got nil",
        "only a test can expect errors, and none is running",
        "an error was logged: the compiled data of enemy.lua",
        "(only a test can expect errors)",
    ] {
        assert!(out.contains(message), "no '{message}' in:\n{out}\n{err}");
    }
    assert!(!out.contains("FAILED log expects\n"), "{out}");
    assert_eq!(err, "", "expected errors are not reported again");
}

const GAME: [(&str, &str); 4] = [
    (
        "main.lua",
        "local enemy = require('enemy')\nlocal n = 0\n\
         function update() n = n + 1 + enemy.speed() end\n\
         function on_close() return n > 10 end\n\
         function on_reload(names) reloaded = names[1] end\n",
    ),
    (
        "enemy.lua",
        "local M = {}\nlocal count = 0\nfunction M.speed() count = count + 1 return 1 end\n\
         function M.count() return count end\nreturn M\n",
    ),
    ("other.lua", "return 7"),
    ("sounds/step.txt", "x"),
];

fn game(name: &str, suite: &str, sums: &str, parts: &[&str]) {
    let mut files = GAME.to_vec();
    files.push(("a_test.lua", suite));
    let scratch = Scratch::new(name, &files);
    let (_, out, err) = scratch.test(&["."]);
    assert_eq!(out.lines().last(), Some(sums), "{out}\n{err}");
    for word in parts {
        assert!(out.contains(word), "no '{word}' in:\n{out}\n{err}");
    }
    // No file was written.
    for (path, text) in GAME {
        assert_eq!(std::fs::read_to_string(scratch.0.join(path)).unwrap(), text);
    }
}

#[test]
fn test_reload_replaces_script_and_keeps_state() {
    let suite = r#"
it("reloads", function()
  test.boot()
  test.frames(3)
  local enemy = require("enemy")
  local speed = enemy.speed
  local text = "local M = {}\nlocal count = 0\nfunction M.speed() count = count + 1 return 2 end\n"
    .. "function M.count() return count end\nreturn M\n"
  assert.is_true(test.reload("enemy.lua", text))
  assert.equals(2, enemy.speed())
  assert.equals(4, enemy.count())
  assert.equals("enemy.lua", reloaded)
  test.frames(1)
  assert.equals(5, enemy.count())
end)
it("cannot be taken", function()
  local enemy = require("enemy")
  local ok, problem = test.reload("enemy.lua", "x x")
  assert.is_nil(ok)
  assert.equals("enemy.lua:1: '=' expected near 'x': a statement is a call or an assignment", problem)
  assert.equals(2, enemy.speed())
end)
it("is loaded later", function()
  assert.is_true(test.reload("other.lua", "return 8"))
  assert.equals(8, require("other"))
end)
it("is not there", function() test.reload("nothing.lua", "") end)
it("has no text", function() test.reload("other.lua") end)
"#;
    let parts = [
        "FAILED is not there\n  a_test.lua:27\n  test.reload: there is no script 'nothing.lua' in \
         the game's folder",
        "test.reload: argument #2 'text' must be string, got nil",
    ];
    game("reload", suite, "3 passed, 2 failed, 0 skipped", &parts);
}

#[test]
fn injected_faults_last_until_the_test_ends() {
    let suite = r#"
it("is full", function()
  assert.is_true(Save.write("slot", { a = 1 }))
  test.fault("disk full")
  local ok, problem = Save.write("slot", { a = 2 })
  assert.is_nil(ok)
  assert.matches("^the save \"slot\" cannot be written: no storage space", problem)
  ok, problem = Application.save_user_settings()
  assert.is_nil(ok)
  assert.matches("^user_settings.sjson cannot be written: no storage space", problem)
  local request = Save.write_async and Save.write_async("slot", { a = 3 })
  test.clear_fault()
  assert.is_true(Save.write("slot", { a = 4 }))
  test.fault("disk full")
end)
it("has room again", function() assert.is_true(Save.write("slot", { a = 5 })) end)
it("misses a script", function()
  test.fault("missing file", "other.lua")
  assert.is_false(Application.can_get("lua", "other"))
  local _, problem = pcall(require, "other")
  assert.matches("there is no module 'other'", problem)
  assert.not_matches("did you mean 'other'", problem)
end)
it("has it again", function()
  assert.is_true(Application.can_get("lua", "other"))
  assert.equals(7, require("other"))
end)
it("names no fault", function() test.fault("disk ful") end)
it("names no file", function() test.fault("missing file") end)
it("names one too many", function() test.fault("disk full", "x") end)
it("names one that is not there", function() test.fault("missing file", "no.lua") end)
"#;
    let parts = [
        "there is no fault 'disk ful', did you mean 'disk full'?",
        "test.fault: argument #2 'file' must be string, got nil",
        "test.fault: 'disk full' takes no file, got string \"x\"",
        "there is no file 'no.lua' in the game's folder to be missing",
    ];
    game("fault", suite, "4 passed, 4 failed, 0 skipped", &parts);
}

#[test]
fn test_can_simulate_close_request() {
    let suite = r#"
it("may refuse", function()
  test.boot()
  test.frames(2)
  assert.is_false(test.close())
  assert.equals(5, test.frames(5))
  assert.is_true(test.close())
  assert.equals(0, test.frames(3))
end)
it("plays on", function() assert.equals(2, test.frames(2)) end)
it("fails", function()
  on_close = nil
  _G.on_close = function() error("not now") end
  test.close()
end)
"#;
    let parts = ["FAILED fails\n  a_test.lua:14\n  a_test.lua:13: not now"];
    game("close", suite, "2 passed, 1 failed, 0 skipped", &parts);
}

#[test]
fn retried_test_that_passes_is_flaky() {
    // Without the sandbox a test can count its own runs.
    let suite = "local function runs(name)\n  local file = io.open(name, 'a+')\n  \
        local count = #file:read('*a')\n  file:write('x') file:close() return count\nend\n\
        it('jumps', function() assert.equals(2, runs('j')) end)\n\
        it('stands', function() end)\nit('falls', function() error('always') end)\n";
    let scratch = Scratch::new("retry", &[("a_test.lua", suite)]);
    let arguments = [".", "--no-sandbox", "--retry", "3"];
    let (code, out, _) = scratch.test(&arguments);
    assert_eq!(code, 1);
    assert_eq!(out.lines().last(), Some("1 passed, 1 failed, 0 skipped, 1 flaky"), "{out}");
    assert!(out.contains("\nFLAKY jumps\n") && out.contains("\nFAILED falls\n"), "{out}");
    std::fs::remove_file(scratch.0.join("j")).unwrap();
    let (code, out, _) = scratch.test(&[&arguments[..], &["--filter-out", "falls"]].concat());
    assert_eq!((code, out.lines().last()), (0, Some("1 passed, 0 failed, 0 skipped, 1 flaky")));
    check(
        "no-retry",
        "it('falls', error)",
        &["--retry", "2"],
        "0 passed, 1 failed, 0 skipped",
        &[],
    );
    let (code, _, err) = scratch.test(&[".", "--retry", "101"]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn file_of_crashed_worker_is_retried() {
    let suite = "it('dies once', function()\n  local file = io.open('once', 'a+')\n  \
        local before = #file:read('*a')\n  file:write('x') file:close()\n  \
        if before == 0 then require('ffi').cast('int *', 0)[0] = 1 end\nend)";
    let fine = "it('is fine', function() end)";
    let scratch = Scratch::new("dies-once", &[("a_test.lua", suite), ("b_test.lua", fine)]);
    let (code, out, err) = scratch.test(&[".", "--no-sandbox", "-j", "2", "--retry", "1"]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(out.lines().last(), Some("2 passed, 0 failed, 0 skipped, 1 flaky"), "{out}");
}
