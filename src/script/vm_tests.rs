//! Internal tests of the VM, and of engine functions that fail. These functions form a module that
//! is registered in unit tests only.

use super::super::api_row::{ModuleRows, func, hot, module};
use super::{CallOutcome, Vm, VmConfig, lua_memory};
use crate::callbacks::CALLBACKS;
use crate::context::{LOADED_BYTES_MAX, ScriptContext};
use crate::familiar_names::familiar_names;
use crate::heap::{MarkTable, lua_upvalueid};
#[cfg(debug_assertions)]
use crate::prelude::{FILES, PreludeFile};
#[cfg(debug_assertions)]
use crate::prelude_check;
use crate::resource::LUA;
use crate::{ErrorReport, ScriptValue};
use engine_foundation::doing;
use engine_foundation::tasks::ITEMS_MIN;
use engine_foundation::{Error, panic};
use engine_resource::compile::{CompileTarget, compile};
use engine_resource::data_resources::TEXT;
use engine_resource::project::Project;
use engine_resource::resource_kind::{ResourceKind, ResourceKinds};
use engine_resource::settings::Settings;
use engine_resource::store::{DataSource, ResourceStore};
use engine_runtime::{BuildMode, Engine, EngineConfig};
use mlua::ffi::*;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Engine functions with internal errors.
pub static BROKEN: ModuleRows = module(
    "Broken",
    "Fails.",
    "assert(Broken)",
    &[
        func("fail", fail, &[], "Panics."),
        func("fail_in_task", fail_in_task, &[], "Panics on whichever thread a task runs on."),
        hot("fail_above", fail_above, &[("n", "a number")], "Panics above 2."),
    ],
);

fn fail(_: &mut Engine) {
    panic!("a fault of the engine's own");
}

fn fail_in_task(engine: &mut Engine) -> Result<(), Error> {
    let mut bones = 0;
    engine.devices.tasks.frame(ITEMS_MIN, |frame| {
        let bones = frame.part("bones", &mut bones);
        frame.system("animation", bones.write(), |_| {
            doing!("When moving:", "bird_3");
            assert!(std::hint::black_box(false), "no feathers");
        });
    })
}

fn fail_above(_: &mut Engine, n: f64) -> f64 {
    assert!(n <= 2.0, "a fault of the engine's own");
    n
}

/// Boots a game that consists of one file. Returns its VM, and the outcome of the boot.
fn booted(name: &str, main: &str) -> (Vm, CallOutcome) {
    booted_with(name, main, |_| ResourceStore::default(), true)
}

/// Boots a game that consists of one file and has resources, which `store` creates in a folder of
/// the game.
fn booted_with(
    name: &str,
    main: &str,
    store: impl FnOnce(&Path) -> ResourceStore,
    jit: bool,
) -> (Vm, CallOutcome) {
    let root = std::env::temp_dir().join(format!("engine-{}-vm-{name}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("main.lua"), main).unwrap();
    let engine = Engine::new(EngineConfig {
        project: Project::open(&root).unwrap(),
        settings: Settings::defaults(),
        store: store(&root),
        build: BuildMode::Test,
        arguments: Vec::new(),
        seed: 0,
        deterministic: true,
        save_folder: None,
    });
    let mut vm = Vm::new(engine, VmConfig { coverage: true, jit, ..VmConfig::DEFAULT }).unwrap();
    let outcome = vm.call_core("boot", &[ScriptValue::Text("main".into())], 10.0);
    std::fs::remove_dir_all(root).unwrap();
    (vm, outcome)
}

/// Runs a game of one file that fails. Returns its report, and the number of calls of `fail_above`
/// in its fast form.
fn failing(name: &str, main: &str) -> (ErrorReport, u64) {
    let (mut vm, outcome) = booted(name, main);
    let fast = vm.usage().into_iter().find(|(_, func, _)| func.name == "fail_above");
    (*outcome.unwrap_err(), fast.unwrap().2[1])
}

/// The error message of a panic in unit tests. A process that calls `panic::install_panic_hook`
/// reports the panic's own message instead.
const PANIC_MESSAGE: &str = "the engine failed";

#[test]
fn a_panic_in_an_engine_call_is_an_error_at_the_lua_line() {
    let (report, _) = failing("panic", "local hp = 3\nBroken.fail()");
    assert!(report.message.starts_with(&format!("Broken.fail: {PANIC_MESSAGE}")), "{report}");
    let location = report.location.clone().unwrap();
    assert_eq!((location.file.as_str(), location.line), ("main.lua", 2), "{report}");
    assert_eq!(report.frames[0].description, "engine function 'fail'", "{report}");
    assert_eq!(report.frames[1].locals, [("hp".to_string(), "3".to_string())], "{report}");
}

#[test]
fn every_name_that_error_hints_suggest_exists() {
    let mut main = String::new();
    for name in crate::handle_hints::conversions().flat_map(|call| call.split('(')) {
        if name.contains('.') {
            main += &format!("assert(type({name}) == 'function', '{name}')\n");
        }
    }
    for row in familiar_names().filter(|row| !row.target.starts_with("docs/")) {
        let target = row.target;
        let is_callback = CALLBACKS.iter().any(|callback| callback.name == target);
        if !is_callback {
            main += &format!("assert({target} ~= nil, '{target}')\n");
        }
        let calls = row.aliases().filter_map(|alias| Some((alias, alias.split_once('.')?)));
        for (alias, (module, name)) in calls {
            main += &format!(
                "assert(type(rawget(_G, '{module}')) ~= 'table' or {module}['{name}'] == nil, \
                 '{alias} is there')\n"
            );
        }
    }
    booted("answers", &main).1.unwrap();
}

#[test]
fn engine_panics_are_distinguished_from_script_errors() {
    assert!(failing("fault", "Broken.fail()").0.engine_fault);
    let fast = "for i = 1, 300 do Broken.fail_above(i == 299 and 3 or 1) end";
    assert!(failing("fault_fast", fast).0.engine_fault);
    assert!(!failing("own", "error('mine')").0.engine_fault);
    assert!(!failing("caught_own", "pcall(Broken.fail) error('mine')").0.engine_fault);
}

/// True while the reader of texts fails.
static READER_FALLS: AtomicBool = AtomicBool::new(false);

/// A resource kind whose reader panics at text that begins with `fall`.
static CLUMSY: ResourceKind = ResourceKind {
    validate: |bytes| {
        let falls = READER_FALLS.load(Ordering::SeqCst) && bytes.starts_with(b"fall");
        assert!(!falls, "the reader fell");
        Ok(())
    },
    ..TEXT
};

#[test]
fn a_panic_in_a_resource_reader_is_a_lua_error() {
    let main = "local ok, words = pcall(Application.data, 'text', 'bad')
assert(not ok)
local start = 'Application.data: the engine failed at bad.text: the reader fell'
assert(tostring(words):find(start, 1, true), tostring(words))
assert(Application.data('text', 'good') == 'one')
Application.data('text', 'bad')";
    let store = |root: &Path| {
        const KINDS: ResourceKinds = ResourceKinds(&[&LUA, &CLUMSY]);
        std::fs::write(root.join("good.txt"), "one").unwrap();
        std::fs::write(root.join("bad.txt"), "fall").unwrap();
        let target = CompileTarget {
            root,
            data: root.join(".data"),
            kinds: KINDS,
            source_platform: "linux",
            release: false,
            exclude: &[],
            threads: 1,
        };
        let compiled = compile(&target, &|_, _| {}).unwrap();
        assert_eq!(compiled.problems, [""; 0]);
        READER_FALLS.store(true, Ordering::SeqCst);
        ResourceStore::new(compiled.index, DataSource::Folder(target.data, KINDS))
    };
    let (_, outcome) = booted_with("reader", main, store, true);
    let report = outcome.unwrap_err();
    let start = "Application.data: the engine failed at bad.text: the reader fell";
    assert!(report.message.starts_with(start), "{report}");
    assert_eq!(report.location.as_ref().unwrap().line, 6, "{report}");
    assert!(report.engine_fault, "it is distinguished from an error of the script");
}

#[test]
fn unpacked_rows_check_arguments_with_and_without_the_jit() {
    let main = "
local gui = World.create_screen_gui(Application.new_world(), 'immediate')
local P, Q, S, red = Vector3(1, 2, 3), Vector2(1, 2), Vector2(4, 5), Color.red()
local function check(message, ...)
  for i = 1, 100 do
    Gui.rect(gui, i % 2 == 0 and P or Q, S, i % 3 == 0 and red or nil)
    local ok, raised = pcall(Gui.rect, ...)
    assert(not ok and raised:find(message, 1, true), tostring(raised))
  end
end
check(\"argument #1 'gui' must be Gui, got nil\")
check(\"argument #1 'gui' must be Gui, got a number of 64 bits\", 5ULL, P, S)
check(\"argument #1 'gui': must be a Gui, and the number 7 never was one\", 7, P, S, red)
check(\"argument #1 'gui': must be a Gui, and the number nan never was one\", 0 / 0, Q, S)
check(\"argument #2 'position' must be Vector3 or Vector2, got number 5\", gui, 5, S, red)
check(\"argument #3 'size' must be Vector2 or Vector3, got Color\", gui, P, red, red)
check(\"argument #4 'color' must be Color or nil, got boolean false\", gui, P, S, false)
check('positions, sizes and layers must be finite', gui, Vector3(0 / 0, 0, 0), S, red)
check('positions, sizes and layers must be finite', gui, Vector2(0, 1 / 0), S)";
    for jit in [true, false] {
        booted_with("unpacked", main, |_| ResourceStore::default(), jit).1.unwrap();
    }
}

#[test]
fn a_panic_in_a_task_is_reported_with_both_contexts() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            panic::store_panic(info);
            before(info);
        }));
    });
    let main = "Script.context('When playing:', 'level_2', Broken.fail_in_task)";
    let (report, _) = failing("task", main);
    let message = "Broken.fail_in_task: the engine failed: no feathers";
    assert!(report.engine_fault && report.message.starts_with(message), "{report}");
    let contexts = ["When playing: level_2", "When running task: animation", "When moving: bird_3"];
    assert_eq!(report.contexts, contexts);
}

#[test]
fn loaded_chunks_are_kept_up_to_a_limit_and_files_always() {
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
    assert_eq!(*cx.sources["main.lua"], *main.as_bytes());
}

#[test]
fn an_error_in_a_dry_run_restores_strict_mode() {
    let (mut vm, _) = booted("dry_run", "");
    let text = "local core = ... core.dry_run(function() end) error('between')";
    let file = crate::prelude::PreludeFile { name: "between", text, bytecode: &[] };
    let report = vm.run_prelude(file, &ScriptValue::Nil).unwrap_err();
    assert!(report.message.starts_with("between\n"), "{report}");
    assert_eq!(vm.cx().memory.lenience(), 0);
}

/// Runs planted files of the prelude in a VM, and returns the message of the error.
#[cfg(debug_assertions)]
fn planted(vm: &mut Vm, texts: &[(&'static str, &'static str)]) -> String {
    let files = texts.iter().map(|&(name, text)| PreludeFile { name, text, bytecode: &[] });
    let outcome = prelude_check::run(vm, files, &ScriptValue::Nil);
    outcome.err().map_or_else(String::new, |report| report.raised)
}

#[cfg(debug_assertions)]
#[test]
fn prelude_files_cannot_replace_each_others_declarations() {
    let (mut vm, _) = booted("replaced", "");
    let mut check = |name: &str, owner: &str, texts: &[(&'static str, &'static str)]| {
        let remedy = "subscribe to an event (lua/boot/events.lua), or choose another name";
        let expected = format!("lua/b.lua replaces {name}, which {owner} declares: {remedy}");
        assert_eq!(planted(&mut vm, texts), expected);
    };
    let empty = ("a", "");
    check(
        "core.read_script",
        "native code",
        &[
            empty,
            (
                "b",
                "local core = ... local old = core.read_script core.read_script = function() end",
            ),
        ],
    );
    check("World.time", "native code", &[empty, ("b", "World.time = nil")]);
    let time = ("b", "for i, name in ipairs({ 'World' }) do _G[name] = {} end");
    check("_G.World", "native code", &[empty, time]);
    check(
        "core.planted",
        "lua/a.lua",
        &[
            ("a", "local core = ... core.planted = 1"),
            ("b", "local core = ... core['plan' .. 'ted'] = 2"),
        ],
    );
    check(
        "Planted.a",
        "lua/a.lua",
        &[
            ("a", "local core = ... local Planted = core.module('Planted') Planted.a = 1"),
            ("b", "Planted.a, Planted.b = 2, 3"),
        ],
    );
    let new = [("a", "local core = ... core.c = 1"), ("b", "local core = ... core.d = core.c")];
    assert_eq!(planted(&mut vm, &new), "");
}

#[cfg(debug_assertions)]
#[test]
fn events_call_their_handlers_in_order_and_refuse_others() {
    let (mut vm, _) = booted("events", "");
    let events = FILES.iter().find(|file| file.name == "boot/events").unwrap().text;
    let mut check = |expected: &str, case: &str| {
        let own = "local core = {}; (function(...)";
        let text = format!("{own} {events} end)(core, {{ tests = true }}) {case}").leak();
        let message = planted(&mut vm, &[("a", text)]);
        assert!(
            message.contains(expected) && message.is_empty() == expected.is_empty(),
            "{message}"
        );
    };
    check(
        "",
        "local order = ''
        core.on('frame_render', 'console', function() order = order .. 'console' end)
        core.on('frame_render', 'graphs', function() order = order .. 'graphs ' end)
        core.on('frame_render', 'debug_ui', function() end)
        core.event('frame_render')()
        assert(order == 'graphs console', order)",
    );
    check("there is no event 'start'", "core.on('start', 'graphs', print)");
    check("there is no event 'start'", "core.event('start')");
    check(
        "the order of the event 'frame_render' has no 'x'",
        "core.on('frame_render', 'x', print)",
    );
    let twice = "for _ = 1, 2 do core.on('frame_render', 'graphs', print) end";
    check("'graphs' subscribes to 'frame_render' twice", twice);
    check("does not subscribe to the event", "core.seal_events()");
    let late = "local core = ... core.on('frame_render', 'graphs', print)";
    let late = planted(&mut vm, &[("a", late)]);
    assert!(late.contains("'graphs' subscribes to 'frame_render' after the start"), "{late}");
}

#[test]
fn pcall_and_xpcall_catch_panics() {
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
    assert!(
        parts[2].starts_with(&format!("main.lua:5: Broken.fail_above: {PANIC_MESSAGE}")),
        "{report}"
    );
    assert!(parts[4].contains(&format!("Broken.fail: {PANIC_MESSAGE}")), "{report}");
    assert!(fast > 800, "the fast form ran {fast} times");
}

thread_local! {
    /// The blocks of [`roomy`], with the number of bytes that Lua requested.
    static ROOMY: RefCell<HashMap<usize, usize>> = RefCell::default();
}

/// An allocator for Lua with room for one more pointer after each new block.
unsafe extern "C" fn roomy(
    user: *mut c_void,
    old: *mut c_void,
    old_size: usize,
    size: usize,
) -> *mut c_void {
    let room = |size: usize| if size == 0 { 0 } else { size + size_of::<usize>() };
    ROOMY.with_borrow_mut(|blocks| {
        let known = blocks.remove(&(old as usize)).is_some();
        let old_size = if known { room(old_size) } else { old_size };
        // SAFETY: blocks of this allocator have the extra room; earlier blocks do not.
        let block = unsafe { lua_memory::allocate(user, old, old_size, room(size)) };
        if !block.is_null() {
            blocks.insert(block as usize, size);
        }
        block
    })
}

#[test]
fn memory_behind_a_function_is_never_read_as_an_upvalue() {
    let (vm, outcome) = booted("joins", "");
    outcome.unwrap();
    let l = vm.l;
    // SAFETY: nothing else runs in the state; no call here raises.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        let mut user = std::ptr::null_mut();
        lua_getallocf(l, &mut user);
        lua_setallocf(l, roomy, user);
        let text = c"local a, b, c = 1, 2, 3
            return function() return a end, function() return b end, function() return c end";
        assert_eq!(luaL_loadstring(l, text.as_ptr()), LUA_OK);
        lua_call(l, 0, 3);
        let upvalue = |function| lua_upvalueid(l, function, 1);
        let (a, b, c) = (upvalue(1), upvalue(2), upvalue(3));
        // The second function's upvalue, which is to be replaced by the third's, is stored at the
        // address where the first function would have a second upvalue.
        let first = lua_topointer(l, 1).cast::<u8>();
        let behind = first.add(ROOMY.with_borrow(|blocks| blocks[&(first as usize)]));
        let behind = behind.cast_mut().cast::<*mut c_void>();
        behind.write_unaligned(b);
        cx.marks = Some(MarkTable::new());
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        lua_getfield(l, -1, c"heap_fix".as_ptr());
        lua_createtable(l, 2, 0);
        for function in [1, 2] {
            lua_pushvalue(l, function);
            lua_rawseti(l, -2, function.into());
        }
        lua_createtable(l, 0, 0);
        lua_createtable(l, 3, 0);
        lua_pushlightuserdata(l, b);
        lua_rawseti(l, -2, 1);
        lua_pushvalue(l, 3);
        lua_rawseti(l, -2, 2);
        lua_pushnumber(l, 1.0);
        lua_rawseti(l, -2, 3);
        assert_eq!(lua_pcall(l, 3, 0, 0), LUA_OK);
        assert_eq!([upvalue(1), upvalue(2), upvalue(3)], [a, c, c]);
        assert_eq!(behind.read_unaligned(), b, "the block behind a function was written to");
        cx.memory.end_lenient();
    }
}

/// A table of 40,000 objects that the game and a coroutine write to at random in every frame; a
/// weak table; closures. Every object holds its expected value.
const WRITTEN_TO: &str = "
    local N, turn, seed = 40000, 0, 1
    local live, weak = {}, setmetatable({}, { __mode = 'k' })
    for i = 1, N do live[i] = { at = i, name = 'n' .. i } end
    local function next_place()
      seed = seed * 16807 % 2147483647
      return seed % N + 1
    end
    local writer = coroutine.wrap(function()
      while true do
        local at = next_place()
        local held = { at = at, name = 'n' .. at, inner = { at } }
        live[at] = setmetatable(held, { __index = function() return at end })
        weak[held] = held.inner
        coroutine.yield(at)
      end
    end)
    function render()
      turn = turn + 1
      for _ = 1, 300 do
        local at = next_place()
        live[at] = { at = at, name = 'n' .. at }
        assert(live[writer()].gone)
      end
      for i = turn % 50 + 1, N, 50 do
        local one = live[i]
        assert(one.at == i and one.name == 'n' .. i and (not one.inner or one.inner[1] == i))
        assert(weak[one] == one.inner)
      end
    end";

#[test]
fn the_write_barrier_keeps_new_values_and_frees_old_ones() {
    let (mut vm, outcome) = booted("written", WRITTEN_TO);
    outcome.unwrap();
    vm.collector = crate::collector::Collector::new(true);
    vm.collect_all();
    let live = vm.memory().0;
    // Small slices, so that a cycle takes many frames.
    vm.engine().frame.collection.milliseconds = 0.2;
    let (mut phases, mut cycles, mut cycling) = (HashMap::new(), 0, false);
    for _ in 0..1500 {
        vm.call_core("render", &[], 10.0).unwrap();
        vm.collect();
        // SAFETY: nothing runs in the state.
        let next = unsafe { crate::luajit_layout::next_step(vm.l) };
        *phases.entry(format!("{next:?}")).or_insert(0) += 1;
        let sweeps = matches!(next, crate::luajit_layout::CollectorPhase::SweepStrings);
        cycles += u32::from(sweeps && !cycling);
        cycling = sweeps;
    }
    assert!(cycles > 2, "cycles come to their end: {phases:?}");
    assert!(phases.keys().any(|next| next.starts_with("MarkLarge(")), "it waits: {phases:?}");
    assert!(phases.contains_key("EndMarking"), "it waits: {phases:?}");
    let most = live * 3 + (64 << 20);
    assert!(vm.memory().0 < most, "{} of {most}", vm.memory().0);
    vm.collect_all();
    vm.call_core("render", &[], 10.0).unwrap();
    // Values that were written later are larger. All the replaced values together would be far more
    // than this.
    assert!(vm.memory().0 < live * 3, "{} of {live}", vm.memory().0);
}
