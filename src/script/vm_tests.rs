//! Tests of the VM from inside, and of engine functions that fail: those are a module of its own,
//! registered in unit tests alone.

use super::super::row::{Module, func, hot, module};
use super::{Config, Outcome, Vm};
use crate::engine::{Build, Engine, Start};
use crate::resource::project::Project;
use crate::resource::settings::Settings;
use crate::resource::store::Store;
use crate::script::cx::LOADED_BYTES_MAX;
use crate::script::{Report, Value};

/// Functions with a fault of the engine's own in them.
pub static BROKEN: Module = module(
    "Broken",
    "Fails.",
    "assert(Broken)",
    &[
        func("fail", fail, &[], "Panics."),
        hot("fail_above", fail_above, &[("n", "a number")], "Panics above 2."),
    ],
);

fn fail(_: &mut Engine) {
    panic!("a fault of the engine's own");
}

fn fail_above(_: &mut Engine, n: f64) -> f64 {
    assert!(n <= 2.0, "a fault of the engine's own");
    n
}

/// Boots a game of one file: its VM, and how that ended.
fn booted(name: &str, main: &str) -> (Vm, Outcome) {
    let root = std::env::temp_dir().join(format!("engine-{}-vm-{name}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("main.lua"), main).unwrap();
    let engine = Engine::new(Start {
        project: Project::open(&root).unwrap(),
        settings: Settings::defaults(),
        store: Store::default(),
        build: Build::Test,
        arguments: Vec::new(),
        seed: 0,
        deterministic: true,
        save_folder: None,
    });
    let mut vm = Vm::new(engine, Config { coverage: true, ..Config::DEFAULT }).unwrap();
    let outcome = vm.call_core("boot", &[Value::Text("main".into())], 10.0);
    std::fs::remove_dir_all(root).unwrap();
    (vm, outcome)
}

/// Runs a game of one file that fails: its report, and how often `fail_above` ran in its fast form.
fn failing(name: &str, main: &str) -> (Report, u64) {
    let (mut vm, outcome) = booted(name, main);
    let fast = vm.usage().into_iter().find(|(_, func, _)| func.name == "fail_above");
    (*outcome.unwrap_err(), fast.unwrap().2[1])
}

/// What is told of a panic: its own words where the process keeps them (`fault::keep_panics`).
const WORDS: &str = "the engine failed";

#[test]
fn a_panic_in_an_engine_call_is_an_error_at_the_scripts_line() {
    let (report, _) = failing("panic", "local hp = 3\nBroken.fail()");
    assert!(report.message.starts_with(&format!("Broken.fail: {WORDS}")), "{report}");
    let place = report.place.clone().unwrap();
    assert_eq!((place.file.as_str(), place.line), ("main.lua", 2), "{report}");
    assert_eq!(report.frames[0].what, "engine function 'fail'", "{report}");
    assert_eq!(report.frames[1].locals, [("hp".to_string(), "3".to_string())], "{report}");
}

#[test]
fn a_fault_of_the_engines_own_is_told_from_an_error_of_the_scripts() {
    assert!(failing("fault", "Broken.fail()").0.engine_fault);
    let fast = "for i = 1, 300 do Broken.fail_above(i == 299 and 3 or 1) end";
    assert!(failing("fault_fast", fast).0.engine_fault);
    assert!(!failing("own", "error('mine')").0.engine_fault);
    assert!(!failing("caught_own", "pcall(Broken.fail) error('mine')").0.engine_fault);
}

#[test]
fn loaded_texts_are_kept_up_to_a_limit_and_files_always() {
    let main = "local pad = ('x'):rep(1024 * 1024)
for i = 1, 40 do load('--' .. pad .. i, '@' .. i .. '.lua') end
for i = 1, 1e5 do load('', '@' .. i .. '.small') end
load('two', '@1.lua')
load(pad, '@main.lua')";
    let (mut vm, outcome) = booted("loaded", main);
    outcome.unwrap();
    let cx = vm.cx();
    let texts = (1..41).filter_map(|i| cx.loaded.get(&format!("{i}.lua"))).collect::<Vec<_>>();
    assert_eq!((texts.len(), texts[0]), (7, "two"));
    assert!(cx.loaded.bytes() <= LOADED_BYTES_MAX);
    assert_eq!(&*cx.sources["main.lua"], main);
}

#[test]
fn an_error_between_a_trial_and_its_end_leaves_the_vm_as_strict_as_it_was() {
    let (mut vm, _) = booted("trial", "");
    let text = "local core = ... core.trial(function() end) error('between')";
    let report = vm.run_prelude("between", text, &Value::Nil).unwrap_err();
    assert!(report.message.starts_with("between\n"), "{report}");
    assert_eq!(vm.cx().memory.lenience(), 0);
}

#[test]
fn a_panic_can_be_caught_in_both_forms_and_both_go_on_working() {
    let main = "
local function run(last)
  local sum = 0
  for i = 1, 300 do
    sum = sum + Broken.fail_above(i == 299 and last or 1)
  end
  return sum
end
local sum = run(2)
local first, fast = pcall(run, 3)
local second, checked = pcall(Broken.fail)
error(table.concat({ sum, tostring(first), fast, tostring(second), checked, run(1) }, ' | '), 0)";
    let (report, fast) = failing("caught", main);
    let parts: Vec<&str> = report.message.split(" | ").collect();
    assert_eq!((parts[0], parts[1], parts[3], parts[5]), ("301", "false", "false", "300"));
    assert!(parts[2].starts_with(&format!("main.lua:5: Broken.fail_above: {WORDS}")), "{report}");
    assert!(parts[4].contains(&format!("Broken.fail: {WORDS}")), "{report}");
    assert!(fast > 800, "the fast form ran {fast} times");
}
