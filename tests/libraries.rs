//! Tests of `engine test` on libraries that are not games, in the usual layout of such libraries:
//! the `.busted` file, helpers, module search, and Lua's whole library. The suites of third-party
//! libraries that were tried are in docs/compatibility.md.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A library's folder, removed on drop.
struct Library(PathBuf);

impl Library {
    fn new(name: &str, files: &[(&str, &str)]) -> Library {
        let folder = std::env::temp_dir().join(format!("engine-lib-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Library(folder)
    }

    /// Runs `engine test` on the folder, from another working directory. Returns exit code and all
    /// output.
    fn test(&self, options: &[&str]) -> (i32, String) {
        let mut engine = Command::new(env!("CARGO_BIN_EXE_engine"));
        let run = engine.arg("test").arg(&self.0).args(options).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (run.status.code().unwrap(), text(&run.stderr) + &text(&run.stdout))
    }

    fn check_passes(&self, options: &[&str], tests: usize) {
        let (code, out) = self.test(options);
        let sums = format!("{tests} passed, 0 failed, 0 skipped");
        assert_eq!((code, out.lines().last()), (0, Some(sums.as_str())), "{options:?}: {out}");
    }

    fn check_stops(&self, options: &[&str], code: i32, message: &str) {
        let (found, out) = self.test(options);
        assert_eq!(found, code, "{options:?}: {out}");
        assert!(out.contains(message), "{options:?}: no '{message}' in: {out}");
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const BUSTED: &str = r#"return {
  _all = {
    verbose = true, helper = "t/helper.lua", lpath = "ext/?.lua;./ext/?/?.lua",
    ["exclude-tags"] = "slow",
  },
  default = { ROOT = { "t" }, pattern = "_case", ["exclude-pattern"] = "left_out" },
  quick = { ROOT = "t/a_case.lua", tags = { "quick" }, lazy = true },
}"#;

const HELPER: &str = r#"
helped = true
require("luassert"):register("assertion", "big", function(_, list) return list[1] > 10 end)
before_each(function() seen = (seen or 0) + 1 end)
return function(busted, name, options)
  received = { type(busted), name, #options.arguments }
end"#;

const CASES: &str = r#"
it("sees what the helper did", function()
  assert.is_true(helped)
  assert.is_true(require("helped_here"))
  assert.same({ "table", "t/helper.lua", 0 }, received)
  assert.equal(1, seen)
  assert.big(11)
end)
it("is left out #slow", function() error("it ran") end)
it("finds modules #quick", function()
  assert.same({ 1, 2, 3 }, { require("one"), require("two"), require("three") })
end)"#;

fn with_busted_file(name: &str) -> Library {
    Library::new(
        name,
        &[
            (".busted", BUSTED),
            ("t/helper.lua", HELPER),
            ("t/a_case.lua", CASES),
            ("t/left_out_case.lua", "error('it ran')"),
            ("spec/other_spec.lua", "error('it ran')"),
            ("ext/one.lua", "return 1"),
            ("ext/two/two.lua", "return 2"),
            ("src/three/three.lua", "return 3"),
            ("lua/helped_here.lua", "return helped"),
        ],
    )
}

#[test]
fn busted_file_selects_tests_and_helpers() {
    let library = with_busted_file("busted");
    library.check_passes(&[], 2);
    library.check_passes(&["--no-sandbox"], 2);
    library.check_passes(&["--run", "quick"], 1);
    library.check_stops(&["--run", "quick"], 0, "'lazy' is not among the keys that are used here");
    library.check_stops(&["--run", "quik"], 2, "there is no task 'quik', did you mean 'quick'?");
    library.check_stops(&["--helper", "none.lua"], 2, "the helper 'none.lua' cannot be used");
    library.check_stops(&["--no-config"], 1, "spec/other_spec.lua");
    let by_hand = ["--no-config", "--pattern", "^a_case", "--helper", "t/helper.lua"];
    library.check_passes(
        &[&by_hand[..], &["--lpath", "ext;ext/?/?.lua", "--tags", "quick"]].concat(),
        1,
    );
}

#[test]
fn invalid_busted_file_stops_the_run() {
    let library = Library::new("bad_busted", &[("spec/a_spec.lua", "it('a', function() end)")]);
    let check = |text: &str, code: i32, message: &str| {
        fs::write(library.0.join(".busted"), text).unwrap();
        library.check_stops(&[], code, message);
        library.check_passes(&["--no-config"], 1);
    };
    check("return {", 2, ".busted:1: ");
    check("return 3", 2, "it must return a table of profiles, got number 3");
    check("return require 'lfs'", 2, "engine test --no-sandbox has the whole library");
    check("return { default = { ROOT = 3 } }", 2, "'ROOT' must be a list, got number 3");
    check("return { default = { ROOT = { 'x' } } }", 1, "which ROOT names");
    check("return { default = { pattern = '[' } }", 2, "the pattern '[' is malformed");
    check("while true do end", 1, "stopped: ");
}

#[test]
fn busted_file_sets_order_repeats_and_output() {
    let suite = "it('b', function() print('ran b') assert.same({ 'x', 'y' }, given) end)\n\
                 it('c', function() error('it ran') end)\n\
                 it('a', function() print('ran a') end)\n";
    let helper = "return function(_, _, options) given = options.arguments end";
    let busted = r#"return {
      default = {
        ROOT = "spec", recursive = false, sort = true, ["repeat"] = 2, output = "TAP",
        helper = "h.lua", Xhelper = "x,y", ["exclude-names-file"] = "skip.txt",
        ["suppress-pending"] = true,
      },
      lines = { ROOT = "spec", recursive = false, coverage = true, list = false },
      listed = { ROOT = "spec", recursive = false, list = true },
      gone = { ROOT = "spec", ["exclude-names-file"] = "none.txt" },
      often = { ["repeat"] = 0 },
      formed = { output = "braille" },
    }"#;
    let files = [
        (".busted", busted),
        ("h.lua", helper),
        ("skip.txt", "\nc\n"),
        ("spec/a_spec.lua", suite),
        ("spec/deep/c_spec.lua", "error('it ran')"),
    ];
    let library = Library::new("busted_more", &files);
    let (code, out) = library.test(&[]);
    assert_eq!(code, 0, "{out}");
    let ran: Vec<&str> = out.lines().filter(|line| line.starts_with("ran ")).collect();
    assert_eq!(ran, ["ran a", "ran b", "ran a", "ran b"], "{out}");
    assert!(out.contains("TAP version 13") && out.contains("ok 4 "), "{out}");
    assert!(!out.contains("is not among the keys"), "{out}");
    library.check_stops(&["--run", "listed"], 0, "spec/a_spec.lua:1: b");
    library.check_stops(&["--run", "gone"], 2, "exclude-names-file: 'none.txt' cannot be read");
    library.check_stops(
        &["--run", "often"],
        2,
        "'repeat' must be a number from 1 to 10000, got number 0",
    );
    library.check_stops(
        &["--run", "formed"],
        1,
        "'output' must be an output format (TAP, gtest, json,",
    );
    let (_, out) = library.test(&["--run", "lines"]);
    assert!(out.contains("lcov.info") && library.0.join("lcov.info").is_file(), "{out}");
    // Options of the command line.
    let options = ["--no-config", "--sort", "--repeat", "2", "--filter-out", "^c$", "spec/a"];
    let (_, out) = library.test(&options);
    let ran: Vec<&str> = out.lines().filter(|line| line.starts_with("ran ")).collect();
    assert_eq!(ran, ["ran a", "ran b", "ran a", "ran b"], "{out}");
}

#[test]
fn lua_is_complete_without_sandbox() {
    const SUITE: &str = r#"
    it("loads modules again", function()
      local first = require "m"
      assert.equal(first, package.loaded.m)
      package.loaded.m = nil
      assert.not_equal(first, require "m")
      package.loaded.m = false
      assert.is_table(require "m")
      package.loaded.m = 3
      assert.equal(3, require "m")
    end)
    it("finds modules by all of Lua's ways", function()
      package.preload.made = function(name) return name end
      assert.equal("made", require "made")
      package.path = "mocks/?.lua;" .. package.path
      package.loaded.m = nil
      assert.equal("mock", require "m")
      table.insert(package.loaders, 2, function(name)
        return name == "found" and function() return "by a searcher" end or nil
      end)
      assert.equal("by a searcher", require "found")
      assert.equal("mock", require "mocks/m")
    end)
    it("works in the library's folder", function()
      assert.equal("some text", assert(io.open("spec/fixture.txt")):read("*a"))
      assert.equal("spec/a_spec.lua", arg[0])
      assert.equal("mock", dofile("mocks/m.lua"))
    end)
    it("declares C types twice", function()
      local ffi = require "ffi"
      for _ = 1, 2 do
        ffi.cdef "typedef struct { int x; } a_type_of_the_suite;"
        ffi.metatype("a_type_of_the_suite", { __index = { y = 2 } })
      end
      assert.equal(2, ffi.new("a_type_of_the_suite").y)
    end)
    it("changes the libraries", function()
      string.shout = string.upper
      assert.equal("A", ("a"):shout())
      for name in pairs(string) do assert.matches("^%a+$", name) end
    end)
    it("has test as a plain function", function()
      assert.equal("function", type(test))
      assert.equal(test, require("busted").test)
    end)"#;
    let files = [
        ("spec/a_spec.lua", SUITE),
        ("spec/fixture.txt", "some text"),
        ("src/m.lua", "return {}"),
        ("mocks/m.lua", "return 'mock'"),
    ];
    let library = Library::new("whole", &files);
    library.check_passes(&["--no-sandbox"], 6);
    let mut engine = Command::new(env!("CARGO_BIN_EXE_engine"));
    let inside = engine.args(["test", "spec", "--no-sandbox"]).current_dir(&library.0);
    let out = inside.output().unwrap().stdout;
    let out = String::from_utf8_lossy(&out);
    assert!(out.ends_with("6 passed, 0 failed, 0 skipped\n"), "{out}");
}

#[test]
fn sandbox_errors_mention_the_no_sandbox_flag() {
    for (name, code) in [
        ("io", "it('a', function() io.open('x') end)"),
        ("dump", "local dump = string.dump it('a', function() dump(print) end)"),
        ("path", "package.path = 'x/?.lua'"),
        ("stop", "it('a', function() collectgarbage('stop') end)"),
        ("meta", "it('a', function() debug.getmetatable('') end)"),
        ("ffi", "require 'ffi'"),
        ("inner", "it('a', function() assert.has_no.errors(function() io.write() end) end)"),
    ] {
        let library = Library::new(name, &[("spec/a_spec.lua", code)]);
        library.check_stops(&[], 1, "runs with: engine test --no-sandbox");
        let (_, out) = library.test(&["--no-sandbox"]);
        assert!(!out.contains("--no-sandbox"), "{name}: {out}");
    }
}

#[test]
fn suite_using_luacov_runs() {
    let suite = "require('luacov')\nlocal runner = require('luacov.runner')\n\
                 runner.init({ x = 1 })\nrunner('.luacov')\n\
                 it('a', function() runner.shutdown() end)";
    let library = Library::new("luacov", &[("spec/a_spec.lua", suite)]);
    library.check_passes(&[], 1);
    library.check_passes(&["--no-sandbox"], 1);
}

#[test]
fn library_without_sandbox_has_no_engine_globals() {
    let suite = "it('a', function()\n  for name in pairs(_G) do \
                 assert.not_matches('^%u', name) end\n  assert.is_nil(class)\n  \
                 assert.equal(1, test.frames(1))\nend)";
    let library = Library::new("globals", &[("spec/a_spec.lua", suite)]);
    library.check_passes(&["--no-sandbox"], 1);
    library.check_stops(&[], 1, "FAILED a");
    let game = [("spec/a_spec.lua", "it('a', function() assert.is_table(World) end)")];
    let game = Library::new("of_a_game", &[game[0], ("main.lua", "")]);
    game.check_passes(&["--no-sandbox"], 1);
}

#[test]
fn empty_module_name_loads_the_folders_init() {
    let suite = "it('a', function() assert.equal('own', require('')) end)\n\
                 it('b', function() assert.matches('^%./%?%.lua;%./%?/init%.lua;%./src/%?%.lua;', \
                 package.path) end)";
    let files = [("spec/a_spec.lua", suite), ("init.lua", "return 'own'"), ("src/b.lua", "")];
    let library = Library::new("nameless", &files);
    library.check_passes(&["--no-sandbox"], 2);
    library.check_passes(&["--no-sandbox", "--lpath", "./?/init.lua"], 2);
}

#[test]
fn module_set_to_false_is_reloaded_in_sandbox() {
    let suite = "it('a', function() local m = require 'm' package.loaded.m = false \
                 assert.not_equal(m, require 'm') assert.is_table(package.loaded.m) end)";
    Library::new("false", &[("spec/a_spec.lua", suite), ("m.lua", "return {}")])
        .check_passes(&[], 1);
}

#[test]
fn functions_of_newer_lua_exist_without_sandbox_as_in_busted() {
    let suite = "it('a', function()
  local packed = table.pack(1, nil, 3, nil)
  assert.same({ 4, 1, 3 }, { packed.n, packed[1], packed[3] })
  assert.same({ 2, 3 }, { table.unpack({ 1, 2, 3 }, 2) })
  warn('@on')
  warn('so', 'it', 1)
  warn('@off')
  warn('not this')
  assert.has_error(function() warn({}) end)
end)
it('b', function()
  local compatibility = require 'busted.compatibility'
  local f = function() return x end
  compatibility.setfenv(f, { x = 3 })
  assert.equal(3, f())
  assert.equal(3, compatibility.getfenv(f).x)
  assert.equal(5, compatibility.loadstring('return 5')())
  assert.same({ 1, 2 }, { compatibility.unpack({ 1, 2 }) })
  assert.equal(nil, rawget(_G, 'Vector3'))
end)";
    let library = Library::new("newer", &[("spec/a_spec.lua", suite)]);
    library.check_passes(&["--no-sandbox"], 2);
    let (_, out) = library.test(&["--no-sandbox"]);
    assert!(out.contains("Lua warning: soit1\n") && !out.contains("not this"), "{out}");
    // Games have the module, and no function that only newer versions of Lua have.
    let sandboxed = "it('a', function() assert.is_nil(table.pack) assert.is_nil(_G.warn)
  local compatibility = require 'busted.compatibility'
  assert.equal(setfenv, compatibility.setfenv) assert.is_nil(compatibility.execute) end)";
    Library::new("newer_sandboxed", &[("spec/a_spec.lua", sandboxed)]).check_passes(&[], 1);
}

#[test]
fn lfs_is_available_without_sandbox() {
    let suite = fs::read_to_string("tests/libraries/lfs_spec.lua").unwrap();
    let files = [
        ("spec/a_spec.lua", suite.as_str()),
        // A changed working directory does not affect the next suite.
        ("spec/b_spec.lua", "it('b', function() assert(io.open('spec/b_spec.lua')):close() end)"),
    ];
    let library = Library::new("lfs", &files);
    let tests = suite.matches("\n  it(").count();
    library.check_passes(&["--no-sandbox", "-j", "1"], tests + 1);
    library.check_stops(&[], 1, "'lfs' does not exist in the sandbox; a suite that needs the full");
    // A module of the folder takes precedence.
    let suite = "it('a', function() assert.equal('own', require 'lfs') end)";
    let own = [("spec/a_spec.lua", suite), ("lfs.lua", "return 'own'")];
    Library::new("own_lfs", &own).check_passes(&["--no-sandbox"], 1);
}

#[test]
fn own_luacov_module_takes_precedence() {
    let suite = "it('a', function() assert.equal(7, require('luacov.runner').own) end)";
    let files = [("spec/a_spec.lua", suite), ("src/luacov/runner.lua", "return { own = 7 }")];
    let library = Library::new("own_luacov", &files);
    library.check_passes(&[], 1);
    library.check_passes(&["--no-sandbox"], 1);
}

#[test]
fn busted_file_runs_statements_and_logs_successes() {
    let busted = r#"return {
      default = {
        e = { "first = 1", "second = first + 1" }, ["log-success"] = "passed.txt",
        cpath = "lib/?.so", directory = "elsewhere",
      },
      broken = { e = "first = = 1" },
      nowhere = { ["log-success"] = "no/such/folder.txt" },
    }"#;
    let suite = "it('a', function() assert.equal(2, second) end)\n\
                 describe('in', function() it('b', function() end) end)\n\
                 it('c', function() error('it fails') end)";
    let files = [(".busted", busted), ("spec/a_spec.lua", suite)];
    let library = Library::new("busted_rest", &files);
    for jobs in ["1", "2"] {
        let (code, out) = library.test(&["-j", jobs]);
        assert_eq!(code, 1, "{out}");
        assert!(out.contains("'cpath' is ignored: the engine loads no C modules"), "{out}");
        assert!(out.contains("'directory' is ignored: give that folder to"), "{out}");
    }
    let names = fs::read_to_string(library.0.join("passed.txt")).unwrap();
    assert_eq!(names, "a\nin b\na\nin b\n");
    library.check_stops(&["--run", "broken"], 2, "'e' of the .busted file cannot be used: (e):1: ");
    library.check_stops(
        &["--run", "nowhere"],
        1,
        "which 'log-success' of the .busted file names: ",
    );
}
