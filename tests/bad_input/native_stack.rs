//! Tests of the native stack: unlimited recursion through any functions, and any work when little
//! stack is left, is an ordinary error.

use crate::bad_input::{Game, check_error, check_in_order};

const TIMER_TOO_DEEP: &str =
    "Timer.run: coroutines start each other too deep: does one start itself without waiting?";
const RESUME_TOO_DEEP: &str =
    "coroutines resume each other too deep: does one resume itself through others?";

#[test]
fn nested_engine_coroutines_are_refused() {
    let rows = [
        ("local function f() Timer.run(f) end f()", TIMER_TOO_DEEP),
        ("local function f() Script.context(\"At:\", \"x\", Timer.run, f) end f()", TIMER_TOO_DEEP),
        ("local function f() Timer.run(Script.context, \"At:\", \"x\", f) end f()", TIMER_TOO_DEEP),
        ("local function f() Timer.run(coroutine.wrap(f)) end f()", "too deep"),
        ("local function f() coroutine.wrap(function() Timer.run(f) end)() end f()", "too deep"),
        (
            "local function f() string.gsub(\"a\", \"a\", function() Timer.run(f) end) end f()",
            "too deep",
        ),
        (
            "local function f() table.sort({ 2, 1 }, function() Timer.run(f) end) end f()",
            "too deep",
        ),
        (
            "local t = setmetatable({}, { __tostring = function(t)
               Timer.run(string.format, \"%s\", t) return \"t\" end })
             local _ = (\"%s\"):format(t)",
            "too deep",
        ),
        (
            "local C = class() function C:init() Timer.run(function() C() end) end C()",
            TIMER_TOO_DEEP,
        ),
        (
            "local function f() Timer.after(0, function() Timer.run(f) Timer.advance(1) end)
               Timer.advance(1) end f()",
            "",
        ),
        ("local function f() Json.decode(Json.encode({ 1 })) Timer.run(f) end f()", TIMER_TOO_DEEP),
        (
            "local function f() local chunk = load(\"Timer.run(...)\") chunk(f) end f()",
            TIMER_TOO_DEEP,
        ),
    ];
    for (i, (body, message)) in rows.iter().enumerate() {
        for callback in ["init", "update"] {
            let main = format!("function {callback}()\n  {body}\nend");
            let name = format!("starts_{callback}_{i}");
            let err =
                check_error(&name, "", &main, &[&format!("When calling: {callback}\n"), message]);
            assert!(err.lines().count() < 120, "the report is short: {err}");
        }
    }
}

/// Script that nests coroutines until they are refused, and calls `op` in the innermost one.
const AT_STACK_LIMIT: &str = r#"
local function at_the_floor(op)
  local reached = false
  local function deeper()
    local ok = pcall(coroutine.wrap(deeper))
    if not ok and not reached then
      reached = true
      op()
    end
  end
  deeper()
  assert(reached)
end
"#;

#[test]
fn calls_near_native_stack_limit_work_or_are_refused() {
    let ops = [
        // A failing handler is called again by its own failure.
        "local n = 0 xpcall(error, function() n = n + 1 pcall(error) error(1) end)",
        "local function handler(e) xpcall(error, handler) error(e) end xpcall(error, handler)",
        // Lua's compiler recurses, here 200 levels deep.
        "load(\"return \" .. (\"(\"):rep(199) .. 1 .. (\")\"):rep(199))",
        "load(\"return \" .. (\"{\"):rep(199) .. (\"}\"):rep(199))",
        "load((\"return function() \"):rep(99) .. (\" end\"):rep(99))",
        "load((\"if a then \"):rep(199) .. (\" end\"):rep(199))",
        "load(\"return a\" .. (\" .. a\"):rep(150))",
        "load(\"return \" .. (\"-\"):rep(199) .. 1)",
        "load(\"a\" .. (\".a\"):rep(10000) .. \" = 1\")",
        "load(\"local a = 1 \" .. (\"elseif a then \"):rep(1000))",
        "string.match((\"a\"):rep(150), (\"a?\"):rep(150) .. (\"a\"):rep(150))",
        "string.find((\"(\"):rep(9000), \"%b()\")",
        "string.gsub((\"a\"):rep(3000), \".\", function() return \"b\" end)",
        "table.sort({ 3, 2, 1 }, function(a, b) return a < b end)",
        "table.sort(setmetatable({ 3, 2, 1 }, { __lt = error }))",
        "local t = {} for _ = 1, 500 do t = { t } end Json.encode(t)",
        "Json.decode((\"[\"):rep(500) .. (\"]\"):rep(500))",
        "Json.decode((\"[\"):rep(100000))",
        "local t = {} for _ = 1, 120 do t = { t } end Save.write(\"deep\", t) Save.read(\"deep\")",
        "local t = {} for _ = 1, 100000 do t = { t } end Save.write(\"deeper\", t)",
        "local t = {} for _ = 1, 100000 do t = { t } end Application.hash(t)",
        "local t = {} for i = 1, 90 do t = setmetatable({}, { __index = t }) end local _ = t.x",
        "local t = setmetatable({}, { __tostring = function() return \"x\" end }) print(t)",
        "error(setmetatable({}, { __tostring = error }))",
        "local w = Application.main_world() World.destroy_unit(w, World.spawn_unit(w, \"sphere\"))",
        "World.update(Application.main_world(), 1 / 60)",
        "Gui.text(World.create_screen_gui(Application.main_world()), \"äöü\", Vector3(1, 1, 1))",
        "Worker.start(\"nothing\")",
        "require(\"absent\")",
        "collectgarbage()",
        "Script.callstack()",
        "Timer.run(function() wait(1) end)",
        "local f = function(x) return x + 1 end local s = 0 for i = 1, 3e5 do s = f(s) end",
    ];
    let ops: String = ops.iter().map(|op| format!("pcall(function() {op} end)\n")).collect();
    let main = format!(
        "{AT_STACK_LIMIT}function init()\nat_the_floor(function()\n{ops}end)\nend\n\
         function shutdown() print(\"alive\") end"
    );
    let result = Game::new("at_the_floor", &main).play(&[]);
    assert_eq!(
        (result.code, result.out.lines().last()),
        (Some(0), Some("alive")),
        "{}",
        result.err
    );
}

#[test]
fn worker_native_stack_is_checked() {
    let worker = format!(
        "{AT_STACK_LIMIT}
         return function()
           at_the_floor(function()
             xpcall(error, function() pcall(error) error(1) end)
             load((\"return function() \"):rep(99) .. (\" end\"):rep(99))
           end)
           local function f() coroutine.wrap(f)() end
           f()
         end"
    );
    let main = "function init()\n  local worker = Worker.start(\"deep\")\n\
                Worker.wait(worker)\n  error(select(2, Worker.result(worker)), 0)\nend";
    let result = Game::new("deep_worker", main).with("deep.lua", worker).play(&[]);
    check_in_order(&result.err, &["coroutine.wrap: ", RESUME_TOO_DEEP]);
    assert_eq!(result.code, Some(1), "{}", result.err);
}
