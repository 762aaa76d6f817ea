//! Tests of the script sandbox: names that a game must not reach, and objects that it may break
//! without breaking the engine.

use crate::bad_input::{Game, check_error, check_prints};

#[test]
fn only_allowed_globals_exist() {
    check_prints(
        "list",
        "for _, name in ipairs { \"newproxy\", \"io\", \"ffi\", \"dofile\", \"loadfile\", \"module\", \"gcinfo\",
    \"core\" } do
  assert(_G[name] == nil, name)
  assert(package.loaded[name] == nil, name)
end
print(string.dump, os.execute, os.exit, os.remove, os.rename, os.tmpname, os.getenv(\"HOME\"))
print(package.loadlib, package.cpath, package.searchpath, package.seeall)
local function names(library)
  local list = {}
  for name in pairs(library) do list[#list + 1] = name end
  table.sort(list)
  return table.concat(list, \" \")
end
print(names(debug), names(jit))
print(package.loaded._G == _G, getmetatable(\"\"), getmetatable(string), getmetatable(Vector3(1, 2, 3)))",
        "nil\tnil\tnil\tnil\tnil\tnil\tnil
nil\tnil\tnil\tnil
getinfo traceback\tarch os status version version_num
true\tprotected\tprotected\tffi",
    );
}

#[test]
fn unavailable_library_error_gives_the_reason() {
    let rows = [
        ("ffi", "native code is out of reach; vectors are values without it"),
        ("io", "files of the game are resources, and what it keeps is written with Save"),
        ("newproxy", "use a table with a metatable"),
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
    for (name, of) in [
        ("[C]", "functions of the engine and of Lua"),
        ("console", "lines that are typed in the console"),
        ("eval", "lines that tools evaluate"),
    ] {
        let main = format!("load(\"error('boom')\", \"={name}\")");
        let expected = format!(
            "Error: load: argument #2 'name' is \"{name}\", which marks {of}: use another name\n    \
             In main.lua:1\n"
        );
        check_error(&format!("pass_{}", name.replace(['[', ']'], "_")), "", &main, &[&expected]);
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

#[test]
fn environments_of_the_engine_are_out_of_reach() {
    check_prints(
        "environments",
        "local engine = { print, pcall, require, Gui.rect, Vector3.add, setmetatable, table.insert,
  debug.getinfo, getfenv, package.searchers[1], package.searchers[2], string.rep, wait, class.of }
local before = {}
for name, value in pairs(_G) do before[name] = value end
for i, fn in ipairs(engine) do
  if getfenv(fn) ~= _G then print(\"getfenv\", i) end
  if pcall(setfenv, fn, {}) then print(\"setfenv\", i) end
  local info = debug.getinfo(fn)
  if info.func or info.source ~= \"=[C]\" or info.what ~= \"C\" then print(\"getinfo\", i) end
end
print(pcall(setfenv, print, {}))
print(pcall(setfenv, 0, {}))
print(getfenv(0) == _G, getfenv() == _G, getfenv(1) == _G)
-- The engine's functions on the stack: those that call `sort`, `init` and this file.
local function levels()
  local list = {}
  for level = 0, 30 do
    local info = debug.getinfo(level, \"SlnufL\")
    if not info then break end
    if info.func or info.activelines or info.source:find(\"engine\") then print(\"leak\", level) end
    local ok, env = pcall(getfenv, level)
    if ok and env ~= _G then print(\"environment\", level) end
    if info.what == \"C\" and level > 0 and pcall(setfenv, level + 1, {}) then
      print(\"set\", level)
    end
    list[#list + 1] = info.what
  end
  return #list
end
print(levels() > 2)
local seen
table.sort({ 1, 2 }, function() seen = levels() return false end)
print(seen > 3)
for name, value in pairs(_G) do if before[name] ~= value then print(\"changed\", name) end end
function init() print(levels() > 2) Vector3(1, 2, 3) end",
        "false\tmain.lua:11: setfenv: argument #1 'f' is a function of the engine or of Lua: only the game's own functions can get another environment
false\tmain.lua:12: setfenv: level 0 means the whole game: pass a function, or a level from 1
true\ttrue\ttrue
true
true
true",
    );
}

#[test]
fn own_functions_can_get_another_environment() {
    check_prints(
        "own_environment",
        "local function read() return value end
print(setfenv(read, { value = 3 }) == read, read(), getfenv(read).value)
local function inner() setfenv(2, { value = 4, print = print }) end
local function outer() inner() return value end
print(outer(), getfenv(outer).value, value)
print(pcall(getfenv, 99))
print(pcall(getfenv, -1))
print(pcall(getfenv, 0 / 0))
print(pcall(getfenv, \"x\"))
print(pcall(setfenv, read))
print(pcall(debug.getinfo, 1, \"X\"))
print(debug.getinfo(1e6), debug.getinfo(read, \"S\").short_src, debug.getinfo(1, \"l\").currentline)
local info = debug.getinfo(read)
print(info.what, info.linedefined, info.nparams, info.isvararg, info.nups)
local co = coroutine.create(function() coroutine.yield() end)
coroutine.resume(co)
print(debug.getinfo(co, 1, \"l\").currentline)",
        "true\t3\t3
4\t4\tnil
false\tmain.lua:6: getfenv: there is no function at level 99 of the stack
false\tmain.lua:7: getfenv: argument #1 'f' must be function or a level of the stack, got number -1
false\tmain.lua:8: getfenv: argument #1 'f' must be function or a level of the stack, got number nan
false\tmain.lua:9: getfenv: argument #1 'f' must be function or a level of the stack, got string \"x\"
false\tmain.lua:10: setfenv: argument #2 'environment' must be table, got nil
false\tmain.lua:11: debug.getinfo: argument #2 'what' must be letters of \"Slnu\", got string \"X\"
nil\tmain.lua\t12
Lua\t1\t0\tfalse\t0
15",
    );
}

#[test]
fn modules_have_one_copy_in_both_spellings() {
    let game = Game::new("spellings", "local a, b = require \"lib/thing\", require \"lib.thing\"
print(a == b, package.loaded[\"lib.thing\"] == a, package.loaded[\"lib/thing\"], a.name, a.runs)
package.preload[\"own/way\"] = function(name) return name end
print(require \"own/way\", pcall(require, \"own.way\"))
for _, name in ipairs { \"../x\", \"a//b\", \"/etc/passwd\", \"a/../b\", \"./main\", \"lib/\", \"lib\\\\thing\",
    \"lib/../../x\", \"lib/..\", \"//lib/thing\", \"C:/x\", \"lib/thing\\0.lua\" } do
  print(select(2, pcall(require, name)))
end")
    .with("lib/thing.lua", "runs = (runs or 0) + 1 return { name = ..., runs = runs }");
    let result = game.play(&[]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    let lines: Vec<&str> = result.out.lines().collect();
    assert_eq!(lines[0], "true\ttrue\tnil\tlib.thing\t1");
    assert!(lines[1].starts_with("own/way\tfalse\t"), "{}", lines[1]);
    assert_eq!(lines.len(), 14, "{}", result.out);
    for line in &lines[2..] {
        let inside = line.contains("must have a name between its dots or slashes")
            || line.contains("must be written with dots");
        assert!(inside, "{line}");
    }
}

#[test]
fn searchers_cannot_load_bytecode_or_replace_the_engine() {
    check_prints(
        "searchers",
        "local searchers = package.searchers
print(searchers == package.loaders, #searchers, type(searchers[1]), type(searchers[2]))
table.insert(searchers, function(name)
  if name == \"made\" then return function(...) return { ... } end, \"made.fnl\" end
  if name == \"bytes\" then return assert(load(\"\\27LJ\\2\", \"=x\", \"b\")), \"b.fnl\" end
  if name == \"text\" then return \"no text today\" end
  if name == \"engine\" then return function() end, \"[engine] boot/core\" end
  return 3
end)
local made = require \"made\"
print(made[1], made[2], require \"made\" == made)
print(pcall(require, \"bytes\"))
print(pcall(require, \"text\"))
print(pcall(require, \"engine\"))
searchers[4] = 5
print(pcall(require, \"other\"))
searchers[4] = nil
print(pcall(function() package.searchers = {} end))
-- Modules of the engine and of Lua that a game replaces are the game's own affair.
package.loaded.jit, package.loaded.debug = { version = \"mine\" }, nil
print(require(\"jit\").version, jit.version:match(\"^LuaJIT\"), (pcall(require, \"debug\")))
package.loaded.string = nil
print((\"x\"):rep(2))
for i = #searchers, 1, -1 do searchers[i] = nil end
print(pcall(require, \"made2\"))
print(require \"made\" == made)",
        "true\t2\tfunction\tfunction
made\tmade.fnl\ttrue
false\tmain.lua:5: load: this is a compiled chunk, and only text can be loaded
false\tmain.lua:13: require: there is no module 'text' (looked for text.lua, \
         text/init.lua, core/text.lua, core/text/init.lua); no text today
false\tmain.lua:14: require: the file that package.searchers[3] returned begins with \"[engine]\", which marks the engine's own code: use another name
false\tmain.lua:16: require: package.searchers[4] must be a function, got number 5
false\tmain.lua:18: package.searchers is the engine's and cannot be replaced: use another name
mine\tLuaJIT\tfalse
xx
false\tmain.lua:25: require: there is no module 'made2': package.searchers is empty
true",
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
