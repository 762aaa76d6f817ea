//! Tests of the script sandbox: names that a game must not reach, and objects that it may break
//! without breaking the engine.

use crate::bad_input::{Game, check_error, check_prints};

#[test]
fn only_allowed_globals_exist() {
    check_prints(
        "list",
        "for _, name in ipairs { \"getfenv\", \"setfenv\", \"newproxy\", \"io\", \"ffi\", \"jit\", \"dofile\", \"loadfile\",
    \"module\", \"gcinfo\", \"core\" } do
  assert(_G[name] == nil, name)
  assert(package.loaded[name] == nil, name)
end
print(string.dump, os.execute, os.exit, os.getenv, os.remove, os.rename, os.tmpname)
print(package.loadlib, package.cpath, package.searchers, package.loaders)
local names = {}
for name in pairs(getmetatable(debug) and { traceback = 1 }) do names[#names + 1] = name end
print(debug.getinfo, debug.sethook, debug.getregistry, debug.getlocal, debug.setmetatable, names[1])
print(package.loaded._G == _G, getmetatable(\"\"), getmetatable(string), getmetatable(Vector3(1, 2, 3)))",
        "nil\tnil\tnil\tnil\tnil\tnil\tnil
nil\tnil\tnil\tnil
nil\tnil\tnil\tnil\tnil\ttraceback
true\tprotected\tprotected\tffi",
    );
}

#[test]
fn unavailable_library_error_gives_the_reason() {
    let rows = [
        ("ffi", "native code is out of reach; vectors are values without it"),
        ("io", "files of the game are resources, and what it keeps is written with Save"),
        ("jit", "the engine sets up the compiler"),
        ("debug", "'debug' is a global, and there without require"),
    ];
    for (name, why) in rows {
        let expected = format!(
            "Error: require: there is no module '{name}' (looked for {name}.lua, {name}/init.lua, \
             core/{name}.lua, core/{name}/init.lua): {why}\n    In main.lua:1\n"
        );
        check_error(&format!("library_{name}"), "", &format!("require(\"{name}\")"), &[&expected]);
    }
}

#[test]
fn bytecode_is_not_loaded() {
    check_prints(
        "binary",
        "print(load(\"\\27LJ\\2\")) print(loadstring(\"\\27LJ\"))
local pieces = { \"\\27LJ\" }
print(load(function() return table.remove(pieces) end, \"x\", \"b\"))
print(load(\"return 1\", \"x\", \"b\")())",
        "nil\tload: this is a compiled chunk, and only text can be loaded
nil\tload: this is a compiled chunk, and only text can be loaded
nil\tload: this is a compiled chunk, and only text can be loaded
1",
    );
}

#[test]
fn collector_and_library_functions_are_protected() {
    check_prints(
        "replace",
        "print(pcall(collectgarbage, \"stop\"))
print(pcall(function() string.rep = nil end))
print(pcall(function() getmetatable(\"\").__index = nil end))
print(pcall(setmetatable, \"\", {}))
string.shout = function(s) return s:upper() .. \"!\" end
print((\"hi\"):shout())",
        "false\tmain.lua:1: collectgarbage: 'stop' is not for games: the engine paces the collector (Script.configure_garbage_collection)
false\tmain.lua:2: string.rep is the engine's and cannot be replaced: use another name
false\tmain.lua:3: attempt to index a string value
false\tbad argument #1 to '?' (table expected, got string)
HI!",
    );
}

#[test]
fn clearing_globals_does_not_break_the_engine() {
    let main = "local names, type_, print_, Vector = {}, type, print, Vector3
for name in pairs(_G) do if name ~= \"_G\" then names[#names + 1] = name end end
for i = 1, #names do _G[names[i]] = nil end
rawset_, string, table, math = nil, 1, 2, 3
function init() print_(Vector(1, 2, 3) + Vector(1, 1, 1), (\"x\"):rep(3):find(\"x\", 2), type_) end
function update() print_((\"%5.1f\"):format(3)) local t t.x = 1 end";
    let game = Game::new("globals", main);
    let result = game.play(&[]);
    assert!(
        result.out.starts_with("Vector3(2, 3, 4)\t2\tfunction"),
        "{}{}",
        result.out,
        result.err
    );
    assert!(result.out.ends_with("  3.0\n"), "{}{}", result.out, result.err);
    let expected = "Error: attempt to index local 't' (a nil value)\n    In main.lua:6\n";
    crate::bad_input::check_in_order(&result.err, &[expected]);
    assert_eq!(result.code, Some(1));
}

#[test]
fn strict_globals_metatable_works() {
    let main =
        "setmetatable(_G, { __index = function(_, name) error(\"no global \" .. name, 2) end,
  __newindex = function(_, name) error(\"new global \" .. name, 2) end })
rawset(_G, \"update\", function()
  print(hp)
end)";
    check_error("strict", "", main, &["Error: no global hp\n    In main.lua:4\n"]);
}

#[test]
fn traceback_shows_only_game_lines() {
    check_prints(
        "traceback",
        "print(debug.traceback(\"x\"))
local co = coroutine.create(function() coroutine.yield() end)
coroutine.resume(co)
print(debug.traceback(co, \"of the coroutine\"))
print(select(2, xpcall(function() error(\"deep\") end, debug.traceback)))
print(debug.traceback({}) ~= nil)",
        "x
stack traceback:
\tmain.lua:1: in function 'chunk'
of the coroutine
stack traceback:
\t[C]: in function 'yield'
\tmain.lua:2: in function <main.lua:2>
main.lua:5: deep
stack traceback:
\t[C]: in function 'error'
\tmain.lua:5: in function <main.lua:5>
\t[C]: in function 'xpcall'
\tmain.lua:5: in function 'chunk'
true",
    );
}

#[test]
fn loaded_code_cannot_impersonate_the_engine() {
    for name in ["=[engine] context", "@[engine] frame", "=[engine]"] {
        let main = format!("load(\"error('boom')\", \"{name}\")");
        let expected = "Error: load: argument #2 'name' begins with \"[engine]\", which marks the \
                      engine's own code: use another name\n    In main.lua:1\n";
        check_error(&format!("pass_{}", name.len()), "", &main, &[expected]);
    }
    let main = "require(\"[engine] frame\")";
    let result =
        Game::new("pass_file", main).with("[engine] frame.lua", "error(\"boom\")").play(&[]);
    let expected = "Error: require: a file's path begins with \"[engine]\", which marks the \
                    engine's own code: use another name\n    In main.lua:1\n";
    crate::bad_input::check_in_order(&result.err, &[expected]);
    assert_eq!(result.code, Some(1));
}

#[test]
fn loaded_chunk_does_not_replace_file_source_lines() {
    let main = "load(\"return 1 -- not line one\\nreturn 2\\nnor three\", \"@main.lua\")
load(\"\\nerror('first')\", \"@made.lua\")
local made = load(\"\\nerror('second')\", \"@made.lua\")
print(pcall(made))
function init() error(\"mine\") end
function update() end";
    let expected =
        "Error: mine\n    In main.lua:5\n        5 | function init() error(\"mine\") end\n";
    check_error("kept_lines", "", main, &[expected]);
    let main = main.replace("print(pcall(made))", "made()");
    let expected = "Error: second\n    In made.lua:2\n        2 | error('second')\n";
    check_error("made_lines", "", &main, &[expected]);
}

#[test]
fn engine_internals_are_unreachable_from_scripts() {
    check_prints(
        "engine_parts",
        "local kept = 1
function init()
  print((\"\")[\"\\27capture\"], string[\"\\27capture\"], kept)
  for name, module in pairs(_G) do
    if name:find(\"^%u%l\") or name == \"class\" then
      local ok = type(getmetatable(module)) ~= \"table\"
      if not ok then print(name) end
    end
  end
  print(getmetatable(class), getmetatable(Localizer), pcall(setmetatable, class, nil))
end",
        "nil\tnil\t1
module\tmodule\tfalse\tcannot change a protected metatable",
    );
}

/// Plays the same game in two processes and returns their outputs.
fn play_twice(name: &str, main: &str, arguments: &[&str]) -> [String; 2] {
    [1, 2].map(|run| {
        let result = Game::new(&format!("{name}_{run}"), main).play(arguments);
        assert_eq!(result.code, Some(0), "{}", result.err);
        result.out
    })
}

#[test]
fn pairs_order_is_the_same_in_every_process() {
    let main = "local t = {}
for i = 1, 200 do t[\"key\" .. i * 7919] = i t[i * 0.37] = i t[-i * 3] = i end
local names = {}
for key in pairs(t) do names[#names + 1] = tostring(key) end
print(table.concat(names, \" \"))
local globals = {}
for name in pairs(_G) do globals[#globals + 1] = name end
print(table.concat(globals, \" \"))";
    let [first, second] = play_twice("pairs", main, &[]);
    assert!(first.len() > 3000, "{first}");
    assert_eq!(first, second);
}

#[test]
fn random_numbers_depend_only_on_the_seed() {
    let main = "function update()
  print(math.random(), math.random(100), Math.random(), Math.random(1, 1e9), math.random(5, 9))
end";
    let [first, second] = play_twice("random", main, &["--seed", "7"]);
    assert_eq!(first, second);
    let [other, _] = play_twice("random_other", main, &["--seed", "8"]);
    assert_ne!(first, other);
    assert_ne!(first.lines().next(), first.lines().nth(1), "{first}");
}
