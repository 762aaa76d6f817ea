//! Tests of `engine test` from the view of an author of suites: test discovery, messages about
//! tests that fail, hang, use too much memory or cannot be loaded, and the exit codes.

mod coverage;
mod fault_injection;
mod jobs;
mod limits;
mod output_formats;
mod recordings;
mod screenshots;
mod watch;

use crate::game_folder::{GameFolder, Outcome, outcome};
use std::ffi::OsStr;

/// A folder with suites.
struct Scratch(GameFolder);

impl Scratch {
    fn new(name: &str, files: &[(&str, &str)]) -> Scratch {
        let folder = GameFolder::new("test", name);
        files.iter().for_each(|(path, text)| folder.write(path, text));
        Scratch(folder)
    }

    /// Runs `engine test`. Returns exit code, standard output and standard error.
    fn test<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Outcome {
        outcome(self.0.command(&["test"]).args(arguments))
    }
}

/// Runs one suite, and checks its exit code, its last line, and texts in the output.
fn check(name: &str, suite: &str, arguments: &[&str], sums: &str, parts: &[&str]) {
    let scratch = Scratch::new(name, &[("a_test.lua", suite)]);
    let (code, out, err) = scratch.test(&[&["."], arguments].concat());
    let failed = !sums.contains(" 0 failed");
    assert_eq!(code, failed as i32, "{name}: {out}\n{err}");
    assert_eq!(out.lines().last(), Some(sums), "{name}: {out}\n{err}");
    for word in parts {
        assert!(out.contains(word), "{name}: no '{word}' in:\n{out}\n{err}");
    }
}

#[test]
fn failed_test_report_has_location_diff_locals_and_trace() {
    check(
        "fails",
        "describe('a list', function()\n  it('is the same', function()\n    local lives = 3\n    \
         assert.same({ 1, 2 }, { 1, lives })\n  end)\n  it('is fine', function() end)\n  \
         pending('comes later')\nend)\n",
        &[],
        "1 passed, 1 failed, 1 skipped",
        &[
            "FAILED  a_test.lua  1 passed, 1 failed, 1 skipped",
            "FAILED a list is the same\n  a_test.lua:4\n",
            "    local lives = 3\n",
            "    a_test.lua:4: in function at line 2\n",
            "1 file, 3 tests in ",
        ],
    );
}

#[test]
fn locals_that_compiled_code_lost_are_marked_in_failures() {
    let suite = "local n = 0\nlocal function step(i)\n  local twice = i * 2\n  \
                 local big = twice > 1000\n  n = n + (big and 2 or 1)\n  \
                 if i == 300 then error('late') end\nend\n\
                 it('loops', function() for i = 1, 400 do step(i) end end)\n";
    let parts = ["FAILED loops\n  a_test.lua:6\n", ", or no longer kept by compiled code\n"];
    check("compiled", suite, &[], "0 passed, 1 failed, 0 skipped", &parts);
}

#[test]
fn suite_load_error_shows_its_line() {
    let parts = ["FAILED a_test.lua\n  a_test.lua:2\n  a_test.lua:2: '=' expected near '<eof>'"];
    check("syntax", "\nx", &[], "0 passed, 1 failed, 0 skipped", &parts);
    let parts = ["a_test.lua:1\n  attempt to index global 'nothing' (a nil value)"];
    check("load", "nothing.x = 1", &[], "0 passed, 1 failed, 0 skipped", &parts);
    let parts = ["a_test.lua is a compiled chunk: games are text, put the Lua source there"];
    check("chunk", "\x1bLJ", &[], "0 passed, 1 failed, 0 skipped", &parts);
}

#[test]
fn hanging_test_is_stopped_and_next_test_runs() {
    check(
        "hangs",
        "it('spins', function() while true do end end)\n\
         it('spins on', function()\n  local function spin() while true do end end\n  \
         while true do pcall(spin) end\nend)\n\
         it('spins elsewhere', function() coroutine.wrap(function() while true do end end)() end)\n\
         it('is fine', function() end)\n",
        &["--timeout", "0.2"],
        "1 passed, 3 failed, 0 skipped",
        &["FAILED spins\n  a_test.lua:1\n", "stopped: the test ran for 0.2 seconds of CPU time"],
    );
}

#[test]
fn test_out_of_memory_fails_and_next_test_runs() {
    let suite = "it('eats', function()\n  local t = {}\n  while true do t[#t + 1] = ('x'):rep(999) \
                 .. #t end\nend)\nit('is fine', function() end)\n";
    let files = [("a_test.lua", suite), ("settings.sjson", "limits = { lua_memory_mib = 32 }")];
    let scratch = Scratch::new("memory", &files);
    let (code, out, err) = scratch.test(&["."]);
    assert_eq!(code, 1, "{out}\n{err}");
    assert!(out.contains("not enough memory: Lua holds all of its 32 MiB"), "{out}");
    assert_eq!(out.lines().last(), Some("1 passed, 1 failed, 0 skipped"));
}

#[test]
fn non_text_output_is_escaped() {
    let suite = "it('a\\255\\27[31m', function() error('b\\254\\0') end)";
    let parts = ["FAILED a\\xFF\\u{1b}[31m\n", "  b\\xFE\\u{0}\n"];
    check("binary", suite, &[], "0 passed, 1 failed, 0 skipped", &parts);
}

#[test]
fn test_that_yields_directly_fails() {
    let suite = "it('yields', function() coroutine.yield() end)\n\
                 it('yields a table', function() coroutine.yield({ frames = 'x' }) end)\n\
                 it('waits elsewhere', function()\n  coroutine.wrap(test.frames)(1)\nend)\n\
                 describe('a block', function() test.frames(1) end)\n";
    let parts = [
        "only test.frames and its like may pause a test",
        "test.frames: only the test itself can let time pass, not a coroutine of its own",
        "in describe of 'a block'",
    ];
    check("yields", suite, &[], "0 passed, 4 failed, 0 skipped", &parts);
}

#[test]
fn failing_hook_fails_its_test() {
    let suite = "after_each(function() error('not cleaned') end)\nit('is fine', function() end)";
    let parts = ["in after_each of a_test.lua: not cleaned"];
    check("hooks", suite, &[], "0 passed, 1 failed, 0 skipped", &parts);
}

#[test]
fn globals_do_not_leak_between_files() {
    let leaves = "it('leaves', function() _G.left, left_too = 1, 2 end)";
    let looks = "it('looks', function() assert.is_nil(_G.left) assert.is_nil(left_too) end)";
    let scratch = Scratch::new("globals", &[("a_test.lua", leaves), ("b_test.lua", looks)]);
    let (code, out, _) = scratch.test(&["."]);
    assert_eq!((code, out.lines().last()), (0, Some("2 passed, 0 failed, 0 skipped")), "{out}");
}

#[test]
fn test_cannot_exit_the_process() {
    let suite = "it('exits', function() os.exit(0) end)";
    let parts = ["'exit' does not exist in the sandbox", "runs with: engine test --no-sandbox"];
    check("exit", suite, &[], "0 passed, 1 failed, 0 skipped", &parts);
    let parts = ["os.exit was called: a test must not end the process that runs it"];
    check("exit-free", suite, &["--no-sandbox"], "0 passed, 1 failed, 0 skipped", &parts);
}

#[test]
fn failures_of_suites_have_hints_about_variables() {
    let spawn = "World.spawn_unit(Application.main_world(), 'core/units/cube')";
    let suite = format!(
        "it('reads', function()\n  local unit = {spawn}\n  local x = unit.x\nend)\n\
         it('adds', function()\n  local items = {{ count = 1 }}\n  \
         local x = items.cuont + 1\nend)\n\
         it('expects', function() expect(1) end)"
    );
    let parts = [
        "unit is a unit, and engine objects are numbers without fields: write Unit.world_position(",
        "local unit = core/units/cube#0",
        "items has no field 'cuont', did you mean 'count'?",
        "'expect' is written assert.equals(expected, actual)",
    ];
    check("hints", &suite, &[], "0 passed, 3 failed, 0 skipped", &parts);
    let parts = ["a_test.lua:1: '=' expected near 'x': did you mean `function` by 'functon'?"];
    check("syntax", "functon x() end", &[], "0 passed, 1 failed, 0 skipped", &parts);
}

#[test]
fn full_lua_library_is_available_without_sandbox() {
    let suite = "it('has all', function() assert.is_function(io.open) assert.is_table(debug)\n\
                 assert.is_function(setfenv) assert.is_table(require('ffi')) end)";
    check("free", suite, &["--no-sandbox"], "1 passed, 0 failed, 0 skipped", &[]);
}

#[test]
fn no_tests_found_exits_with_code_3() {
    let scratch = Scratch::new("none", &[("main.lua", ""), ("empty_test.lua", "-- nothing")]);
    let (code, _, err) = scratch.test(&[".", "enemy"]);
    let looked = "no tests found: looked in '.' for *_test.lua, and for *_spec.lua below \
                  a folder spec, specs, tests, test";
    assert_eq!((code, err), (3, format!("error: {looked} with enemy in the path\n")));
    let (code, _, err) = scratch.test(&["."]);
    assert_eq!((code, err), (3, format!("error: {looked}, and through 1 file\n")));
    let (code, _, err) = scratch.test(&["nowhere"]);
    assert_eq!(code, 1);
    assert!(err.starts_with("error: there is no folder 'nowhere'"), "{err}");
}

const GAME: [(&str, &str); 3] = [
    (
        "main.lua",
        "local n = 0\nfunction init() started = true end\nfunction update()\n  n = n + 1\n  \
                  if n == 5 then error('fifth') end\nend\n",
    ),
    ("src/score.lua", "return { best = 7 }"),
    (
        "spec/game_spec.lua",
        "local score = require('score')\n\
      it('finds modules', function() assert.equals(7, score.best) end)\n\
      it('has no game yet', function() assert.is_nil(started) end)\n\
      it('starts the game', function() test.boot() assert.is_true(started) end)\n\
      it('meets an error in a frame', function() test.frames(9) end)\n\
      it('goes on', function() assert.equals(2, test.frames(2)) end)\n\
      it('starts it once', function() test.boot() end)\n",
    ),
];

#[test]
fn suite_boots_game_and_plays_frames() {
    let scratch = Scratch::new("game", &GAME);
    let (code, out, err) = scratch.test(&["."]);
    assert_eq!(
        (code, out.lines().last()),
        (1, Some("4 passed, 2 failed, 0 skipped")),
        "{out}{err}"
    );
    for message in [
        "FAILED meets an error in a frame\n  spec/game_spec.lua:5\n  main.lua:5: fifth\n",
        "in frame 5\n",
        "test.boot: the game was started in this file already",
    ] {
        assert!(out.contains(message), "no '{message}' in:\n{out}");
    }
    // The folder of the specs, or one of them, selects the game that contains it.
    for start in ["spec", "spec/game_spec.lua"] {
        let (code, again, _) = scratch.test(&[start]);
        assert_eq!((code, again.lines().last()), (1, out.lines().last()), "{again}");
    }
}

#[test]
fn test_can_wait_for_time_and_conditions() {
    let suite = "it('waits', function()\n  local rang = 0\n  \
                 Timer.every(0.5, function() rang = rang + 1 end)\n  \
                 assert.equals(96, test.seconds(1.6))\n  assert.equals(3, rang)\n  \
                 assert.equals(24, test.until_(function() return rang == 4 end))\nend)\n\
                 it('gives up', function() test.until_(function() end, 10) end)\n\
                 it('meets an error', function()\n  Timer.after(0, error)\n  \
                 assert.has_error(function() test.frames(1) end)\nend)\n\
                 it('meets it unasked', function()\n  async()\n  \
                 Timer.after(0, function() error('boom') end)\nend)\n";
    let parts = [
        "the predicate was still not true after 10 frames",
        "FAILED meets it unasked\n  a_test.lua:15\n  a_test.lua:15: boom\n",
    ];
    check("time", suite, &[], "2 passed, 2 failed, 0 skipped", &parts);
}

const TAGGED: &str = "describe('math', function()\n  it('adds #fast', function() end)\n  \
                      it('divides #slow', function() end)\n  \
                      it('fails', function() error('x') end)\nend)\n";

#[test]
fn tests_are_selected_by_pattern_name_and_tag() {
    let select = |arguments: &[&str], sums: &str| check("select", TAGGED, arguments, sums, &[]);
    select(&["--filter", "adds"], "1 passed, 0 failed, 0 skipped");
    select(&["--filter", "^math [ad]"], "2 passed, 0 failed, 0 skipped");
    select(&["--filter-out", "fails"], "2 passed, 0 failed, 0 skipped");
    select(&["--name", "math fails"], "0 passed, 1 failed, 0 skipped");
    select(&["--tags", "fast,slow"], "2 passed, 0 failed, 0 skipped");
    select(&["--exclude-tags", "slow", "--filter-out", "fails"], "1 passed, 0 failed, 0 skipped");
    let scratch = Scratch::new("malformed", &[("a_test.lua", TAGGED)]);
    let (code, _, err) = scratch.test(&[".", "--filter", "["]);
    let message = "error: the pattern '[' is malformed: malformed pattern (missing ']')\n";
    assert_eq!((code, err.as_str()), (2, message));
}

#[test]
fn list_prints_tests_without_running_them() {
    let scratch = Scratch::new("list", &[("a_test.lua", TAGGED)]);
    let (code, out, _) = scratch.test(&[".", "--list"]);
    let expected = "a_test.lua:2: math adds #fast\na_test.lua:3: math divides #slow\n\
                  a_test.lua:4: math fails\n";
    assert_eq!((code, out.as_str()), (0, expected));
}

#[test]
fn fail_fast_stops_at_first_failure() {
    let fails = "it('fails', function() error('x') end)\nit('is fine', function() end)";
    let scratch = Scratch::new("fast", &[("a_test.lua", fails), ("b_test.lua", fails)]);
    let (code, out, _) = scratch.test(&[".", "--fail-fast"]);
    assert_eq!((code, out.lines().last()), (1, Some("0 passed, 1 failed, 0 skipped")), "{out}");
}

#[test]
fn shuffled_order_is_reproducible_from_its_seed() {
    let mut suite = String::new();
    for i in 1..=9 {
        suite += &format!("it('t{i}', function() print('ran {i}') end)\n");
    }
    let scratch = Scratch::new("shuffle", &[("a_test.lua", &suite)]);
    let order = |arguments: &[&str]| -> Vec<String> {
        let (code, out, _) = scratch.test(arguments);
        assert_eq!(code, 0, "{out}");
        out.lines().filter(|line| line.starts_with("ran ")).map(str::to_string).collect()
    };
    let first = order(&[".", "--shuffle", "--seed", "4"]);
    assert_eq!(first.len(), 9);
    assert_eq!(first, order(&[".", "--shuffle", "--seed", "4"]));
    assert_ne!(first, order(&["."]));
    let (_, out, _) = scratch.test(&[".", "--shuffle"]);
    assert!(out.contains(", shuffled with --seed "), "{out}");
}

#[test]
fn modules_are_found_on_lpath() {
    let suite = "it('finds', function() assert.equals(1, require('deep')) end)";
    let files = [("a_test.lua", suite), ("other/place/deep.lua", "return 1")];
    let scratch = Scratch::new("lpath", &files);
    let (code, out, _) = scratch.test(&[".", "--lpath", "./other/place/?.lua"]);
    assert_eq!(code, 0, "{out}");
    let (code, _, err) = scratch.test(&[".", "--lpath", "?.so"]);
    assert_eq!(code, 2);
    assert!(err.contains("'?.so' must be a folder, or end in .lua with a ? for"), "{err}");
}
