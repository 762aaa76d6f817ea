//! Tests of input on which a suite must not hang: endless frames, long error messages, deep tables,
//! and paths that are named like tests but are not files. Also tests the messages about suite
//! functions such as `it` that are called without a function.

use super::{Scratch, check};
use std::fs;

#[test]
fn test_with_endless_frames_is_stopped_and_hooks_run() {
    check(
        "frames-on",
        "after_each(function() print('cleaned') end)\n\
         it('plays on', function() while true do test.frames(100) end end)\n\
         it('plays on in pcall', function() while true do pcall(test.seconds, 60) end end)\n\
         it('plays many', function() test.frames(1000000) end)\n\
         it('waits', function() test.until_(function() return false end, 1000000) end)\n\
         it('waits long', function() async() settimeout(1e9) end)\n\
         it('is fine', function() test.frames(60) end)\n",
        &["--timeout", "0.3"],
        "1 passed, 5 failed, 0 skipped",
        &[
            "FAILED plays on\n  a_test.lua:2\n",
            "FAILED waits long\n",
            "stopped: the test ran for 0.3 seconds of CPU time without an end",
            "cleaned\ncleaned\ncleaned\ncleaned\ncleaned\ncleaned\n",
        ],
    );
}

#[test]
fn long_error_message_is_truncated() {
    check(
        "letters",
        "it('is fine', function() end)\n\
         it('raises letters', function() error(('x'):rep(300000)) end)\n\
         it('raises a dump', function() error(('ab '):rep(100000) .. 'é') end)\n\
         it('compares', function()\n  assert.same({ ('y'):rep(300000) }, { ('y'):rep(299999) })\n\
         end)\n\
         it('raises an address', function() error('no ' .. tostring({}) .. ' here') end)\n",
        &["--timeout", "5"],
        "1 passed, 4 failed, 0 skipped",
        &["xxxxxxxx\n  ... (", " more bytes)", "  no table here\n"],
    );
}

#[test]
fn deeply_nested_tables_are_compared() {
    check(
        "deep",
        "local function deep(last)\n  local t = { last }\n  for _ = 1, 100000 do t = { t } end\n  \
         return t\nend\n\
         it('is the same', function() assert.same(deep(1), deep(1)) end)\n\
         it('is another', function() assert.same(deep(1), deep(2)) end)\n\
         it('is wide', function()\n  local a, b = {}, {}\n  \
         for i = 1, 200000 do a[i], b[i] = i, i end\n  b[7] = 0\n  assert.same(a, b)\nend)\n",
        &[],
        "1 passed, 2 failed, 0 skipped",
        &[
            "FAILED is another\n",
            "... (199000 more)",
            "Difference (- expected, + passed in):\n",
            "at [7]\n",
        ],
    );
}

#[test]
fn suite_call_without_function_is_pending() {
    let suite = "it 'flies'\ndescribe('a bird', function()\n  it('sings')\n  before_each()\n  \
                 it 'walks' (function() end)\nend)\ndescribe('a fish')\npending('swims')\n";
    let scratch = Scratch::new("bodies", &[("a_test.lua", suite)]);
    let (code, out, err) = scratch.test(&["."]);
    assert_eq!(
        (code, out.lines().last()),
        (0, Some("1 passed, 0 failed, 5 skipped")),
        "{out}{err}"
    );
    for message in [
        "warning: a_test.lua:1: it 'flies' has no function: write one, or pending 'flies'\n",
        "warning: a_test.lua:3: it 'sings' has no function: write one, or pending 'sings'\n",
        "warning: a_test.lua:4: before_each has no function: write one, or pending 'its name'\n",
        "warning: a_test.lua:7: describe 'a fish' has no function: write one, or pending",
    ] {
        assert!(err.contains(message), "no '{message}' in:\n{err}");
    }
}

#[cfg(unix)]
#[test]
fn special_files_named_like_tests_are_skipped_with_warning() {
    let scratch = Scratch::new("pipes", &[("a_test.lua", "it('is fine', function() end)")]);
    let pipe = scratch.0.join("b_test.lua");
    let status = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(status.success());
    std::os::unix::fs::symlink("nowhere", scratch.0.join("c_test.lua")).unwrap();
    std::os::unix::fs::symlink("a_test.lua", scratch.0.join("d_test.lua")).unwrap();
    let (code, out, err) = scratch.test(&["."]);
    assert_eq!(
        (code, out.lines().last()),
        (0, Some("2 passed, 0 failed, 0 skipped")),
        "{out}{err}"
    );
    for message in [
        "warning: 'b_test.lua' is named as a test and left out: it is no file (a pipe, ",
        "warning: 'c_test.lua' is named as a test and left out: ",
    ] {
        assert!(err.contains(message), "no '{message}' in:\n{err}");
    }
    fs::remove_file(pipe).unwrap();
}

#[test]
fn module_without_suite_globals_gets_a_hint() {
    let without_require = "local M = {}\nfunction M.wait() test.frames(2) end\n\
                 function M.check() done() end\nreturn M\n";
    let asking = "local test = require('busted').test\nlocal M = {}\n\
                  function M.wait() return test.frames(2) end\nreturn M\n";
    let suite = "it('waits', function() require('hands').wait() end)\n\
                 it('checks', function() require('hands').check() end)\n\
                 it('asks', function() assert.equals(2, require('asking').wait()) end)\n";
    let files = [("a_test.lua", suite), ("hands.lua", without_require), ("asking.lua", asking)];
    let scratch = Scratch::new("words", &files);
    let (_, out, err) = scratch.test(&["."]);
    assert_eq!(out.lines().last(), Some("1 passed, 2 failed, 0 skipped"), "{out}{err}");
    for message in [
        "the words of suites exist only in suites; a module requires this one: local test = \
         require(\"busted\").test",
        "'done' exists only in tests: a module takes it as an argument",
    ] {
        assert!(out.contains(message), "no '{message}' in:\n{out}");
    }
}
