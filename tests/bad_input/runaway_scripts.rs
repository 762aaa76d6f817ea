//! Tests of runaway games: endless loops and recursion, giant strings and tables, memory.

use crate::bad_input::{Game, check_error, check_in_order};

const STOPPED: &str = "Error: stopped: this ran for 0.05 seconds of CPU time without an end (if it \
                       needs more, raise limits.update_seconds or limits.init_seconds in \
                       settings.sjson)\n";

/// Checks that an endless `update` is stopped in compiled code and in the interpreter, and that the
/// report shows the line.
#[track_caller]
fn check_stopped(name: &str, main: &str, expected: &[&str]) {
    for jit in [true, false] {
        let settings = format!("limits = {{ update_seconds = 0.05 }}\nlua = {{ jit = {jit} }}");
        let expected = [&["When calling: update\n", STOPPED], expected].concat();
        let err = check_error(&format!("{name}_{jit}"), &settings, main, &expected);
        assert_eq!(err.matches("Error:").count(), 1, "reported once: {err}");
    }
}

#[test]
fn endless_loop_is_stopped_with_line_and_locals() {
    check_stopped(
        "loop",
        "function update()\n  local turns = 0\n  while true do\n    turns = turns + 1\n  end\nend",
        &["    In main.lua:", "main.lua:", " in function 'update'\n", "local turns = "],
    );
}

#[test]
fn scripts_cannot_evade_the_watchdog() {
    let endless = "local function endless() while true do end end\n";
    let rows = [
        "while true do pcall(endless) end",
        "while true do xpcall(endless, endless) end",
        "while true do xpcall(error, endless, 1) end",
        "while true do xpcall(endless, function(problem) return problem .. 1 end) end",
        "while true do coroutine.resume(coroutine.create(endless)) end",
        "while true do pcall(coroutine.wrap(function() pcall(endless) endless() end)) end",
        "local t = setmetatable({}, { __index = endless, __add = endless }) while true do pcall(function() return t + t.x end) end",
        "local t = {} for i = 1, 100 do t[i] = i % 7 end while true do pcall(table.sort, t, endless) end",
        "local t = setmetatable({}, { __tostring = endless }) while true do pcall(tostring, t) pcall(print, t) end",
        "while true do pcall(string.gsub, \"abc\", \".\", endless) end",
        "while true do pcall(load, endless) end",
        "error(setmetatable({}, { __tostring = endless }))",
    ];
    for (i, body) in rows.iter().enumerate() {
        let main = format!("{endless}function update()\n  {body}\n  print(\"went on\")\nend");
        check_stopped(&format!("held_{i}"), &main, &[]);
    }
}

#[test]
fn init_and_boot_script_have_a_separate_time_limit() {
    let settings = "limits = { init_seconds = 0.05 }";
    let main = "function init() while true do end end";
    check_error("init_loop", settings, main, &["When calling: init\n", STOPPED]);
    check_error("boot_loop", settings, "while true do end", &["When loading: main\n", STOPPED]);
}

#[test]
fn time_budget_is_per_callback() {
    // A frame uses a fifth of the budget, all frames together more than twice the budget. The clock
    // in such a run counts CPU time.
    let main = "function update()
  local began = os.clock()
  while os.clock() - began < 0.1 do end
end
function shutdown() assert(os.clock() > 1.1) end";
    let settings = "limits = { update_seconds = 0.5 }";
    let game = Game::new("budget", main).with("settings.sjson", settings);
    let arguments = ["--headless", "--realtime", "--frames", "12"];
    let result = crate::bad_input::run_result(game.command(&arguments).output().unwrap());
    assert_eq!((result.code, result.err.as_str()), (Some(0), ""));
}

#[test]
fn long_library_calls_are_refused_or_stopped() {
    let rows = [
        (
            "(\"a\"):rep(60):find((\"a?\"):rep(60) .. (\"a\"):rep(60))",
            "string.find: pattern \"a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?…\" took more than 100,000,000 steps on a string of 60 bytes: anchor it or make it simpler",
        ),
        (
            "table.move({}, 1, 1e12, 2)",
            "table.move: 1,000,000,000,000 items are more than 67,108,864 at once",
        ),
        (
            "(\"x\"):rep(1e10)",
            "string.rep: the result would have 10,000,000,000 bytes, a string may have 67,108,864: build it in parts",
        ),
        (
            "local s, t = (\"x\"):rep(1e6), {} for i = 1, 1000 do t[i] = s end table.concat(t)",
            "table.concat: the result would have 1,000,000,000 bytes, a string may have 67,108,864: build it in parts",
        ),
        (
            "load((\" \"):rep(2 ^ 25))",
            "load: the text has more than 16777216 bytes: load it in parts",
        ),
        (
            "local t = { 1 } for i = 1, 26 do t = { t, t } end Application.hash(t)",
            "Application.hash: argument #1 'values': must be less data: all of it together may take 64 MiB (a table that is reached twice counts twice)",
        ),
        (
            "local s = (\"x\"):rep(2 ^ 24) Application.hash(s, s, s, s, s)",
            "Application.hash: argument #4 'values': must be less data: all of it together may take 64 MiB (a table that is reached twice counts twice)",
        ),
        (
            "load(function() return (\" \"):rep(2 ^ 20) end)",
            "load: the text has more than 16777216 bytes: load it in parts",
        ),
    ];
    for (i, (code, message)) in rows.iter().enumerate() {
        let main = format!("function update()\n  {code}\nend");
        let expected = format!("Error: {message}\n    In main.lua:2\n");
        check_error(&format!("giant_{i}"), "", &main, &[&expected]);
    }
}

const OVERFLOW: &str =
    "stack overflow: a function calls itself, directly or through others, without an end\n";

#[test]
fn deep_recursion_error_has_line_and_short_stack() {
    for callback in ["init", "update"] {
        let main = format!(
            "local function f(n)\n  return 1 + f(n + 1)\nend\nfunction {callback}()\n  f(1)\nend"
        );
        let expected = [
            OVERFLOW,
            "    In main.lua:2\n",
            "main.lua:2 in function 'f'\n",
            "… and 9 more of the same\n",
            " left out\n",
            "main.lua:5 in function '",
        ];
        let settings = "lua = { jit = false }";
        let err = check_error(&format!("deep_{callback}"), settings, &main, &expected);
        assert!(err.lines().count() < 40, "{err}");
    }
}

#[test]
fn deep_recursion_in_jit_code_has_line_or_hint() {
    let main = "local function f(n)\n  local x = f(n + 1)\n  return 1 + x\nend\nfunction init()\n  f(1)\nend";
    let err = check_error("deep_compiled", "", main, &["When calling: init\nError: ", OVERFLOW]);
    let known = err.contains("    In main.lua:2\n");
    let remedy =
        "    The line is lost in compiled code: lua = { jit = false } in settings.sjson shows it\n";
    assert!(known || err.contains(remedy), "{err}");
}

#[test]
fn recursion_through_a_native_function_does_not_crash() {
    let rows = [
        (
            "function f() coroutine.wrap(f)() end",
            "coroutine.wrap: coroutines resume each other too deep: does one resume itself through others?",
        ),
        ("function f() local ok = coroutine.resume(coroutine.create(f)) return ok end", ""),
        (
            "function f() string.gsub(\"abc\", \".\", f) end",
            "string.gsub: the replacement calls string.gsub again, too deep: without an end?",
        ),
        (
            "function f() local t = setmetatable({}, { __index = f }) string.gsub(\"abc\", \".\", t) end",
            "string.gsub: the replacement calls string.gsub again, too deep: without an end?",
        ),
        (
            "function f() coroutine.wrap(function() string.gsub(\"a\", \".\", f) end)() end",
            "too deep",
        ),
        ("function f() coroutine.wrap(function() table.sort({ 1, 2 }, f) end)() end", "too deep"),
        (
            "function f() Localizer.fill(\"{a}\", setmetatable({}, { __index = f })) end",
            "Localizer.fill: a value calls Localizer.fill again, too deep: without an end?",
        ),
        ("function f() table.sort({ 1, 2, 3 }, f) end", OVERFLOW),
        (
            "function f() return tostring(setmetatable({}, { __tostring = f })) .. \"\" end",
            OVERFLOW,
        ),
        (
            "function f() return (\"%s\"):format(setmetatable({}, { __tostring = f })) .. \"\" end",
            OVERFLOW,
        ),
    ];
    check_recursion("native", &rows);
}

#[test]
fn recursion_through_several_native_functions_does_not_crash() {
    let rows = [
        // Each function alone has enough stack. None is left when another function has used its
        // share.
        (
            "local object = setmetatable({}, {})
            local function formats() return (\"%s\"):format(object) end
            getmetatable(object).__tostring = formats
            local _, message
            local function deep()
              if not pcall(string.gsub, \"a\", \".\", deep) and not message then
                _, message = pcall(formats)
              end
            end
            function f() deep() error(message, 0) end",
            "string.format: a __tostring calls string.format again, too deep: without an end?",
        ),
        (
            "local function sorts() table.sort({ 1, 2 }, sorts) end
            local _, message
            local function deep()
              if not pcall(string.gsub, \"a\", \".\", deep) and not message then
                _, message = pcall(sorts)
              end
            end
            function f() deep() error(message, 0) end",
            "table.sort: the comparison calls table.sort again, too deep: without an end?",
        ),
        (
            "local function nest(n)
              coroutine.wrap(function()
                local depth = 0
                local function deep()
                  depth = depth + 1
                  if depth > 3000 then nest(n + 1) end
                  table.sort({ 2, 1 }, deep)
                end
                deep()
              end)()
            end
            function f() nest(1) end",
            "too deep",
        ),
    ];
    check_recursion("native_mix", &rows);
}

/// Plays games with an `f` that calls itself. Each fails with its message, or ends successfully if
/// it has none.
#[track_caller]
fn check_recursion(name: &str, rows: &[(&str, &str)]) {
    for (i, (function, message)) in rows.iter().enumerate() {
        let main = format!(
            "{function}\nfunction update() f() end\nfunction shutdown() print(\"alive\") end"
        );
        let result = Game::new(&format!("{name}_{i}"), &main).play(&[]);
        if message.is_empty() {
            assert_eq!((result.code, result.out.as_str()), (Some(0), "alive\n"), "{}", result.err);
        } else {
            check_in_order(&result.err, &["When calling: update\nError: ", message]);
            assert_eq!(result.code, Some(1), "{function}");
        }
    }
}

const OUT_OF_MEMORY: &str = "not enough memory: Lua holds all of its 32 MiB (if the game needs \
                             more, raise limits.lua_memory_mib in settings.sjson)";

#[test]
fn out_of_memory_error_is_at_the_allocating_line() {
    let rows = [
        "t[#t + 1] = { 1, 2, 3 }",
        "t[#t + 1] = #t",
        "t[#t + 1] = \"text \" .. #t",
        "s = s .. s",
        "t[#t + 1] = Vector3(1, 2, 3)",
        "t[#t + 1] = coroutine.create(print)",
        "t[#t + 1] = Application.settings()",
        "t[#t + 1] = { Application.worlds() }",
        "t[#t + 1] = { Application.set_user_setting(\"k\" .. #t, #t) }",
        "t[#t + 1] = load(\"return {}\")",
    ];
    for (i, code) in rows.iter().enumerate() {
        // The first four recurse in every way, so they also run without the JIT. The others differ
        // only in their allocations.
        let jits = if i < 4 { &[true, false][..] } else { &[true] };
        for jit in jits {
            let main = format!(
                "local t, s = {{}}, \"x\"\nfunction update()\n  while true do {code} end\nend"
            );
            let settings = format!("limits = {{ lua_memory_mib = 32 }}\nlua = {{ jit = {jit} }}");
            let expected =
                format!("When calling: update\nError: {OUT_OF_MEMORY}\n    In main.lua:3\n");
            check_error(&format!("memory_{i}_{jit}"), &settings, &main, &[&expected]);
        }
    }
}

#[test]
fn garbage_at_the_memory_limit_is_collected() {
    let main = "function update() for i = 1, 1e6 do local t = { i } s = \"text \" .. i end end";
    let game =
        Game::new("garbage", main).with("settings.sjson", "limits = { lua_memory_mib = 32 }");
    let result = game.play(&[]);
    assert_eq!((result.code, result.err.as_str()), (Some(0), ""));
}

#[test]
fn out_of_memory_error_can_be_caught() {
    let settings = "limits = { lua_memory_mib = 32 }";
    let main = "local function fill() local t = {} while true do t[#t + 1] = {} end end
function update()
  local ok, problem = pcall(fill)
  print(ok, problem)
end";
    let result = Game::new("memory_caught", main).with("settings.sjson", settings).play(&[]);
    assert_eq!((result.code, result.err.as_str()), (Some(0), ""));
    assert_eq!(result.out, format!("false\tmain.lua:1: {OUT_OF_MEMORY}\n").repeat(2));
    let main = format!("{main}\nfunction render() error(\"another\") end");
    let err =
        check_error("memory_then", settings, &main, &["When calling: render\nError: another\n"]);
    assert!(!err.contains("memory"), "{err}");
}
