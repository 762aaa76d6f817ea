//! Tests of errors in a game's own code: the report's messages and locations.

use crate::bad_input::{Game, check_error, check_fails, check_in_order, run_result};

#[test]
fn syntax_error_shows_its_line() {
    check_fails(
        "syntax",
        "function init()\n  local hp = = 3\nend",
        "
error: the game stopped before its first frame
When loading: main
Error: unexpected symbol near '='
    In main.lua:2
        2 | local hp = = 3",
    );
}

#[test]
fn callback_error_shows_stack_with_locals() {
    check_fails(
        "update",
        "local wave = 2
local function spawn(count)
  local hp = 3
  error(\"no room\")
end
function update()
  spawn(wave)
end",
        "
error: the game stopped in frame 1
When calling: update
Error: no room
    In main.lua:4
        4 | error(\"no room\")
Lua stack, innermost first:
  main.lua:4 in function 'spawn'
          local count = 2
          local hp = 3
  main.lua:7 in function 'update'
        7 | spawn(wave)
          upvalue wave = 2",
    );
    for callback in ["init", "render", "shutdown"] {
        let main = format!("function {callback}()\n  error(\"boom\")\nend");
        let calling = format!("When calling: {callback}\nError: boom\n    In main.lua:2\n");
        let err = check_error(&format!("error_in_{callback}"), "", &main, &[&calling]);
        assert_eq!(err.matches("boom\n").count(), 1, "reported once: {err}");
    }
}

#[test]
fn unreliable_local_value_is_marked() {
    let main = "function update()
  local lost, none, hp = 3.0915074646958e-311, 0, 3
  error(\"boom\")
end";
    let lost = "local lost = 3.0915074646958e-311, or no longer kept by compiled code\n";
    check_error("lost_local", "", main, &[lost, "local none = 0\n", "local hp = 3\n"]);
}

#[test]
fn locals_that_compiled_code_lost_are_marked() {
    let main = "local n, v = 0, {}
for i = 1, 900 do v[i] = 1 end
v[300] = 0 / 0
local world, camera
function init() world, camera = Application.main_world(), Application.main_camera() end
local function step(dt)
  local way = Vector3(dt, 2, 3)
  local wanted = Vector3.length(way) > 0.1 and 4.4 or 0
  local ok = wanted > 1
  local later = dt + 4
  n = n + (ok and 1 or 0)
  Camera.set_vertical_fov(camera, v[n])
  return later
end
function update(dt) step(dt) World.update(world, dt) end";
    let game = Game::new("compiled_locals", main);
    let output = game.command(&["--headless", "--frames", "600"]).output();
    let result = run_result(output.expect("the engine starts"));
    check_in_order(&result.err, &["frame 300", "Lua stack", "main.lua:12 in function 'step'"]);
    let (_, stack) = result.err.split_once("Lua stack").expect("there is a stack");
    let value = |name: &str| {
        let line = stack.lines().find(|line| line.contains(&format!("local {name} = ")));
        line.unwrap_or_else(|| panic!("no {name} in {stack}")).to_string()
    };
    for (name, known) in [("way", "Vector3("), ("wanted", "= 4.4"), ("ok", "= true")] {
        let line = value(name);
        let is_marked = line.ends_with(", or no longer kept by compiled code");
        assert!(is_marked || line.contains(known), "{line}");
    }
    // It is returned, so that compiled code keeps it.
    assert_eq!(value("later").trim(), "local later = 4.0166666666667");
    // The same code, interpreted: every value is true.
    let result = Game::new("interpreted_locals", &main.replace("300", "1")).play(&[]);
    let expected = ["local dt = 0.016666666666667\n", "local wanted = 4.4\n", "local ok = true\n"];
    check_in_order(&result.err, &expected);
}

#[test]
fn error_in_module_names_its_file() {
    let game =
        Game::new("file", "local enemy = require(\"scripts.enemy\")\nfunction init() enemy() end");
    let result =
        game.with("scripts/enemy.lua", "return function()\n  local t\n  t.x = 1\nend").play(&[]);
    let expected = "Error: attempt to index local 't' (a nil value)\n    In scripts/enemy.lua:3\n        \
                    3 | t.x = 1";
    check_in_order(&result.err, &[expected, "main.lua:2 in function 'init'"]);
}

#[test]
fn game_contexts_are_listed_outermost_first() {
    let main = "local function place() error(\"too narrow\") end
function update()
  Script.context(\"When spawning wave:\", \"3\", function()
    Script.context(\"When placing:\", \"bird\", place)
  end)
end";
    let expected =
        "When calling: update\nWhen spawning wave: 3\nWhen placing: bird\nError: too narrow\n";
    check_error("contexts", "", main, &[expected]);
}

#[test]
fn coroutine_error_shows_both_stacks() {
    check_fails(
        "coroutine",
        "local function inner(n)
  local t
  t.x = n
end
function update()
  for step in coroutine.wrap(function() coroutine.yield(1) inner(2) end) do
    print(step)
  end
end",
        "
error: the game stopped in frame 1
When calling: update
Error: attempt to index local 't' (a nil value)
    In main.lua:3
        3 | t.x = n
Coroutine stack, innermost first:
  main.lua:3 in function 'inner'
  main.lua:6 in a function defined at line 6
        6 | for step in coroutine.wrap(function() coroutine.yield(1) inner(2) end) do
Lua stack, innermost first:
  main.lua:6 in function 'update'
        6 | for step in coroutine.wrap(function() coroutine.yield(1) inner(2) end) do",
    );
    let reraised = "function update()
  local co = coroutine.create(function() error(\"inside\") end)
  local ok, problem = coroutine.resume(co)
  error(\"outside: \" .. problem, 0)
end";
    let expected =
        ["Error: outside: main.lua:2: inside\n", "Coroutine stack", "main.lua:2 in", "Lua stack"];
    check_error("coroutine_reraised", "", reraised, &expected);
    let nested = "local function nest(n)
  if n == 0 then error(\"way down\") end
  coroutine.wrap(function() nest(n - 1) end)()
end
function update() nest(3) end";
    let expected = [
        "Error: way down",
        "local n = 0",
        "local n = 1",
        "local n = 2",
        "Lua stack",
        "local n = 3",
    ];
    check_error("coroutines_nested", "", nested, &expected);
}

#[test]
fn earlier_coroutine_error_is_not_in_report() {
    let main = "function init()
  local co = coroutine.create(function() error(\"old\") end)
  coroutine.resume(co)
  error(\"new\")
end";
    let err = check_error("coroutine_old", "", main, &["Error: new"]);
    assert!(!err.contains("Coroutine stack"), "{err}");
}

#[test]
fn any_lua_value_can_be_an_error_value() {
    let rows = [
        ("{ code = 3 }", "error with a table as its value: {code = 3}"),
        (
            "nil",
            "error with nil as its value: `error` was called without a message, or with a variable that is nil",
        ),
        ("false", "error with a value that is not text: boolean false"),
        ("print", "error with a value that is not text: function"),
        ("42", "42"),
        ("setmetatable({}, { __tostring = function() return \"out of fuel\" end })", "out of fuel"),
        (
            "setmetatable({}, { __tostring = function() error(\"again\") end })",
            "error with a table as its value: {}",
        ),
        ("\"one\\ntwo\", 0", "one\n    two"),
    ];
    for (i, (value, message)) in rows.iter().enumerate() {
        let main = format!("function update()\n  error({value})\nend");
        let expected = format!("When calling: update\nError: {message}\n    In main.lua:2\n");
        check_error(&format!("value_{i}"), "", &main, &[&expected]);
    }
}

#[test]
fn long_message_is_truncated_with_its_size() {
    let main = "function init() error((\"ä\"):rep(100000), 0) end";
    let err = check_error("long", "", main, &["ä… (200000 bytes in all)\n    In main.lua:1\n"]);
    assert!(err.len() < 4000, "{} bytes", err.len());
}

#[test]
fn caught_error_is_not_in_later_report() {
    let main = "function init()\n  pcall(error, \"first\")\n  error(\"second\")\nend";
    let err = check_error("two", "", main, &["Error: second\n    In main.lua:3"]);
    assert!(!err.contains("first\n"), "{err}");
}

#[test]
fn tail_call_line_is_reported_as_unknown() {
    let main = "function update()\n  return (\"x\"):rep(1e12)\nend";
    let expected = "Error: string.rep: the result would have 1,000,000,000,000 bytes, a string may \
                    have 67,108,864: build it in parts
    The line is not known: the function had ended in `return f(…)`, which leaves nothing of it behind\n";
    check_error("tail", "", main, &[expected]);
}

#[test]
fn non_function_callback_is_named() {
    check_fails(
        "callback",
        "init = 5",
        "
error: the game stopped before its first frame
When calling: init
Error: the global 'init' is a number, and should be the function that the engine calls",
    );
    let main = "function update() update = \"gone\" end";
    check_error(
        "callback_later",
        "",
        main,
        &["in frame 2\n", "the global 'update' is a string, and"],
    );
}

/// Code that names what does not exist or misuses a value, with the message.
const MISSPELLED: &[(&str, &str)] = &[
    (
        "World.updte(1)",
        "attempt to call field 'updte' (a nil value): World has no function 'updte', did you mean 'update'?",
    ),
    (
        "prnt(1)",
        "attempt to call global 'prnt' (a nil value): there is no global 'prnt', did you mean 'print'?",
    ),
    (
        "love.graphics.print('x')",
        "attempt to index global 'love' (a nil value): this is not LÖVE: 'Coming from LÖVE' in the manual lists the replacements (engine docs --open)",
    ),
    (
        "dofile('x')",
        "attempt to call global 'dofile' (a nil value): games do not have Lua's 'dofile': use require",
    ),
    (
        "Wolrd.update(1)",
        "attempt to index global 'Wolrd' (a nil value): there is no global 'Wolrd', did you mean 'World'?",
    ),
    (
        "local s = \"x\" s:uper()",
        "attempt to call method 'uper' (a nil value): if 's' is a string, did you mean 'upper'?",
    ),
    (
        "local w = Application.new_world() w:update(1)",
        "attempt to index local 'w' (a number value): w is a world, and engine objects are numbers without methods: write World.update(w, …)",
    ),
    (
        "local u = World.spawn_unit(Application.new_world(), \"core/units/light\") u:set_position()",
        "attempt to index local 'u' (a number value): u is a unit, and engine objects are numbers without methods: write Unit.set_local_position(u, …)",
    ),
    (
        "local u = World.spawn_unit(Application.new_world(), \"core/units/light\") u:destroy()",
        "attempt to index local 'u' (a number value): u is a unit, and engine objects are numbers without methods: write World.destroy_unit",
    ),
    (
        "local hp = 3 hp:heal(1)",
        "attempt to index local 'hp' (a number value): engine objects are numbers without methods: write Unit.NAME(hp, …), or the module that it belongs to",
    ),
    (
        "Unit.set_position(1)",
        "attempt to call field 'set_position' (a nil value): Unit has no function 'set_position', did you mean Unit.set_local_position?",
    ),
    (
        "Sound.play('x')",
        "attempt to call field 'play' (a nil value): Sound has no function 'play', did you mean Sound.trigger?",
    ),
    (
        "Keyboard.isDown('x')",
        "attempt to call field 'isDown' (a nil value): Keyboard has no function 'isDown', did you mean Keyboard.held?",
    ),
    (
        "local v = Vector3.new(1, 2, 3)",
        "attempt to call field 'new' (a nil value): Vector3 has no function 'new': write Vector3(…)",
    ),
    (
        "local n = Math.floor(1.5)",
        "attempt to call field 'floor' (a nil value): Math has no function 'floor', did you mean math.floor?",
    ),
    (
        "os.exit()",
        "attempt to call field 'exit' (a nil value): games do not have Lua's 'os.exit': use Application.quit",
    ),
    (
        "WwiseWorld.trigger_event(1)",
        "attempt to index global 'WwiseWorld' (a nil value): there is no global 'WwiseWorld': require \"stingray\" adds it (Stingray: .sound files with parameters and switches (sound); engine docs coming_from_stingray)",
    ),
    (
        "Imgui.begin_window('x')",
        "attempt to index global 'Imgui' (a nil value): there is no global 'Imgui': require \"stingray\" adds it (Stingray: DebugUi.* (debug windows); engine docs coming_from_stingray)",
    ),
    (
        "local enemies = {} enmies[1] = 2",
        "attempt to index global 'enmies' (a nil value): there is no global 'enmies', did you mean 'enemies'?",
    ),
    ("local enemies = {} enemies[3].hp = 2", "attempt to index a nil value: enemies[3] is nil"),
    (
        "local t = {} for i, v in t do print(i, v) end",
        "attempt to call a table value: write pairs(t) or, for a list, ipairs(t)",
    ),
    (
        "local u = World.spawn_unit(Application.new_world(), \"core/units/light\") u.position = 1",
        "attempt to index local 'u' (a number value): u is a unit, and engine objects are numbers without fields: write Unit.set_local_position(u, …)",
    ),
    (
        "local u = World.spawn_unit(Application.new_world(), \"core/units/light\") print(u.x)",
        "attempt to index local 'u' (a number value): u is a unit, and engine objects are numbers without fields: write Unit.world_position(u, …)",
    ),
    (
        "local v = Vector3(1, 2, 3) v.x = 1",
        "Vector3s are values: use Vector3.with_x(v, value), which returns a new one",
    ),
];

#[test]
fn misspelled_name_gets_suggestion_when_called() {
    for (i, (code, message)) in MISSPELLED.iter().enumerate() {
        let main =
            format!("assert(World.updte == nil and prnt == nil)\nfunction init()\n  {code}\nend");
        let expected = format!("Error: {message}\n    In main.lua:3\n");
        check_error(&format!("misspelt_{i}"), "", &main, &[&expected]);
    }
}

#[test]
fn invalid_argument_error_names_expected_type() {
    let rows = [
        (
            "Application.quit(\"x\")",
            "Application.quit: argument #1 'code' must be integer or nil, got string \"x\"",
        ),
        ("Application.quit(1, 2)", "Application.quit: takes 1 argument, got 2"),
        ("World.time()", "World.time: argument #1 'world' must be World, got nil"),
        (
            "World.time(5ULL)",
            "World.time: argument #1 'world' must be World, got a number of 64 bits (5LL, 5ULL)",
        ),
        (
            "World.time(0/0)",
            "World.time: argument #1 'world': must be a World, and the number nan never was one",
        ),
        (
            "World.time(2 ^ 40)",
            "World.time: argument #1 'world': must be a World, and the number 1099511627776 never was one",
        ),
        (
            "World.update(Application.new_world(), 0/0)",
            "World.update: argument #2 'delta': must be a finite number, got nan (is something divided by zero?)",
        ),
        (
            "local w = Application.new_world() Application.release_world(w) World.time(w + 2 ^ 22)",
            "World.time: argument #1 'world': must be a World, and the number 1099520016384 never was one",
        ),
        (
            "Application.hash(1, print, 3)",
            "Application.hash: argument #2 'values': must be plain data (booleans, numbers, strings, tables), got function",
        ),
        (
            "local w = Application.new_world() Application.release_world(w) World.time(w)",
            "World.time: argument #1 'world': world was destroyed in frame 0 at main.lua:2",
        ),
        ("Vector3.length(nil)", "Vector3.length: argument #1 'v' must be Vector3, got nil"),
        ("coroutine.wrap(1)", "coroutine.wrap: argument #1 'fn' must be function, got number 1"),
        (
            "collectgarbage(\"collect\", {})",
            "collectgarbage: argument #2 'argument' must be number or nil, got table",
        ),
    ];
    for (i, (code, message)) in rows.iter().enumerate() {
        let main = format!("function init()\n  {code}\nend");
        let expected = format!("Error: {message}\n    In main.lua:2\n");
        check_error(&format!("argument_{i}"), "", &main, &[&expected]);
    }
}

#[test]
fn jit_compiled_code_raises_the_same_argument_errors() {
    // The call, a valid value, an invalid one.
    let rows = [
        (
            "World.time(value)",
            "world",
            "nil",
            "World.time: argument #1 'world' must be World, got nil",
        ),
        (
            "World.time(value)",
            "world",
            "5ULL",
            "World.time: argument #1 'world' must be World, got a number of 64 bits (5LL, 5ULL)",
        ),
        (
            "World.time(value)",
            "world",
            "gone",
            "World.time: argument #1 'world': world was destroyed in frame 0 at main.lua:4",
        ),
        (
            "Math.noise(value)",
            "0.5",
            "0 / 0",
            "Math.noise: argument #1 'x': must be a finite number, got nan (is something divided by zero?)",
        ),
        (
            "Math.noise(0.5, value)",
            "0.5",
            "\"x\"",
            "Math.noise: argument #2 'y' must be number or nil, got string \"x\"",
        ),
        (
            "Math.noise_at(value)",
            "Vector3(1, 2, 3)",
            "Vector2(1, 2)",
            "Math.noise_at: argument #1 'position' must be Vector3, got Vector2",
        ),
        (
            "Vector3.length(value)",
            "Vector3(1, 2, 3)",
            "nil",
            "Vector3.length: argument #1 'v' must be Vector3, got nil",
        ),
    ];
    for (i, (call, good, wrong, message)) in rows.iter().enumerate() {
        // The invalid value comes last, when the loop is compiled for valid ones.
        let main = format!(
            "local world, gone = Application.new_world(), Application.new_world()
local sum = 0
function init()
  Application.release_world(gone)
  local good, wrong = {good}, {wrong}
  for i = 1, 1000 do
    local value = good
    if i == 1000 then value = wrong end
    sum = sum + {call}
  end
end"
        );
        let expected = format!("Error: {message}\n    In main.lua:9\n");
        check_error(&format!("argument_warm_{i}"), "", &main, &[&expected]);
    }
}
