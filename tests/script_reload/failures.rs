//! Tests of edits that cannot be reloaded: the old code keeps running with all of its state.

use super::harness::{Game, ReloadResult};

const M: &str = "local M, n = { speed = 1, list = { 1 } }, 0 function M.hit() n = n + 1 return n \
end \
                 function shout() return 'old' end return M";

const UNCHANGED: &str = "assert(m.hit() == 3 and m.speed == 7 and shout() == 'old') \
                         assert(#m.list == 1) m.hit = m.hit n = nil";

/// Reloads `m` with this source, which must fail with this message and change nothing.
fn check(name: &str, new: &str, message: &str) -> ReloadResult {
    let other =
        "local O = { list = {} } function O.add(x) O.list[#O.list + 1] = x O.n = 1 end return O";
    let mut game = Game::start(&[("m.lua", M), ("other.lua", other), ("bad.lua", "x = = 1")]);
    game.budget = 0.3;
    let step = "m = require 'm' m.hit() m.hit() m.speed = 7 o = require 'other'";
    game.step(step).unwrap_or_else(|report| panic!("{name}: {report}"));
    let result = game.try_reload(&[("m.lua", new)]);
    assert!(!result.ok(), "{name}");
    let report = result.text("report").to_string();
    assert!(report.contains(message), "{name}: no '{message}' in:\n{report}");
    game.step(UNCHANGED).unwrap_or_else(|report| panic!("{name}: {report}"));
    game.step("assert(#o.list == 0 and o.n == nil and rawget(_G, 'new') == nil)")
        .unwrap_or_else(|report| panic!("{name}: {report}"));
    // The message is correct: the fixed file is reloaded.
    assert!(game.try_reload(&[("m.lua", M)]).ok(), "{name}");
    result
}

pub const FAILS: &[(&str, &str, &str)] = &[
    (
        "A syntax error.",
        "local M = {}\nfunction M.f( return M",
        "<name> or '...' expected near 'return'\n    In m.lua:2\n",
    ),
    (
        "An error at the top level.",
        "new = 1\nlocal M = {}\nM.x.y = 1",
        "attempt to index field 'x'",
    ),
    (
        "A change of another file's table before the error.",
        "local o = require 'other' o.n = 2 o.add(1) function o.f() end error('late')",
        "late",
    ),
    (
        "A call at the top level of an engine function that has an effect: move it to `init`.",
        "local w = Application.new_world()",
        "Application.new_world: not while reloading: this changes the engine",
    ),
    (
        "The same for a function with a fast form.",
        "for _ = 1, 200 do World.time(1) end Application.quit(3)",
        "World.time",
    ),
    (
        "A timer, a tween or a setting that is created at the top level.",
        "Timer.after(1, function() end)",
        "Timer.after: not while reloading",
    ),
    ("An endless loop at the top level.", "while true do end", "stopped: this ran for 0.3 seconds"),
    (
        "A `require` of a new file that has an error.",
        "new = 1 return require 'bad'",
        "unexpected symbol near '='\n    In bad.lua:1\n        1 | x = = 1",
    ),
    ("A `require` of a file that does not exist.", "require 'nowhere'", "'nowhere'"),
];

#[test]
fn drawing_functions_are_refused_at_the_top_level() {
    let refused = "Gui.rect: not while reloading";
    let code = "Gui.rect(1, Vector3(1, 2, 3), Vector2(4, 5), Color.red())";
    check("in their fast form", code, refused);
    check("in their other form", "Gui.rect(1, Vector2(1, 2), Vector2(4, 5))", refused);
    check("with a wrong argument", "Gui.rect('x')", refused);
}

#[test]
fn failed_reload_leaves_state_unchanged() {
    for (name, new, message) in FAILS {
        check(name, new, message);
    }
}

#[test]
fn failed_reload_shows_location_and_new_line() {
    let result = check("place", "local x = 1\nlocal y = x.z.w", "local y = x.z.w");
    assert_eq!(result.text("location"), "m.lua:2");
    assert!(result.text("message").contains("attempt to index"), "{}", result.text("message"));
    let result = check("syntax", "local x = 1\n\nend", "3 | end");
    assert_eq!(result.text("location"), "m.lua:3");
}

#[test]
fn files_are_reloaded_all_or_none() {
    let a = "local b = require 'b' return { f = function() return 1 + b.f() end }";
    let b = "return { f = function() return 10 end }";
    let mut game = Game::start(&[("a.lua", a), ("b.lua", b)]);
    game.step("a = require 'a' assert(a.f() == 11)").unwrap();
    let new_a = a.replace("1 + b.f()", "2 + b.f() + b.g()");
    let result = game.try_reload(&[("a.lua", &new_a), ("b.lua", "return {")]);
    assert!(!result.ok());
    game.step("assert(a.f() == 11)").unwrap();
    let new_b = "return { f = function() return 20 end, g = function() return 100 end }";
    game.reload(&[("a.lua", &new_a), ("b.lua", new_b)]);
    game.step("assert(a.f() == 122)").unwrap();
}

#[test]
fn files_saved_with_a_broken_one_wait_for_its_fix() {
    let mut game = Game::start(&[("a.lua", "return { v = 1 }"), ("b.lua", "return { v = 1 }")]);
    game.step(
        "a = require 'a' b = require 'b' reported = {} \
               function on_reload(names) reported[#reported + 1] = table.concat(names, ' ') end",
    )
    .unwrap();
    game.swap(&[("a.lua", "return { v = 2 }"), ("b.lua", "return {")]);
    game.step("assert(a.v == 1 and b.v == 1 and #reported == 0)").unwrap();
    game.swap(&[("b.lua", "return { v = 2 }")]);
    game.step("assert(a.v == 2 and b.v == 2)").unwrap();
    game.step("assert(#reported == 1 and reported[1] == 'a.lua b.lua')").unwrap();
    game.swap(&[("a.lua", "return { v = 3 }")]);
    game.step("assert(a.v == 3 and reported[2] == 'a.lua')").unwrap();
}

#[test]
fn removed_broken_file_is_not_waited_for() {
    let files = [("a.lua", "return { v = 1 }"), ("b.lua", "return { v = 1 }")];
    let mut game = Game::start(&files);
    let begin = "a = require 'a' b = require 'b' reported = {} \
                 function on_reload(names) reported[#reported + 1] = table.concat(names, ' ') end";
    game.step(begin).unwrap();
    assert!(game.swap_without(&[("a.lua", "return { v = 2 }"), ("b.lua", "return {")], &[]));
    game.step("assert(a.v == 1 and #reported == 0)").unwrap();
    // Files saved together with it are reloaded when it is removed. After that no file blocks
    // another.
    assert!(!game.swap_without(&[], &["b.lua"]));
    game.step("assert(a.v == 2 and b.v == 1 and reported[1] == 'a.lua b.lua')").unwrap();
    assert!(!game.swap_without(&[("a.lua", "return { v = 3 }")], &[]));
    game.step("assert(a.v == 3)").unwrap();
    // The same in one swap, and alone.
    assert!(game.swap_without(&[("b.lua", "return {")], &[]));
    assert!(!game.swap_without(&[("a.lua", "return { v = 4 }")], &["b.lua"]));
    game.step("assert(a.v == 4)").unwrap();
    assert!(game.swap_without(&[("b.lua", "return {")], &[]));
    assert!(!game.swap_without(&[], &["b.lua"]));
    game.step("assert(a.v == 4 and reported[#reported] == 'b.lua')").unwrap();
}

fn is_logged(expected: &str) -> bool {
    engine::foundation::log::last_lines().iter().any(|line| line == expected)
}

#[test]
fn emptied_file_keeps_its_module() {
    let ship = "local M, n = {}, 0\nfunction M.hit() n = n + 1 return n end\nfunction global() \
                return 1 end\nreturn M";
    let user = "return require 'emptied'";
    let mut game = Game::start(&[("emptied.lua", ship), ("user.lua", user), ("third.lua", "")]);
    let begin = "m = require 'emptied' u = require 'user' assert(u == m and m.hit() == 1)";
    game.step(begin).unwrap();
    let user = "local m = require 'emptied' return m";
    let texts = ["", "\n\n", "--[[ local M = {} return M ]]", "-- all of it", "require 'third'"];
    for (i, new) in texts.iter().enumerate() {
        game.swap(&[("emptied.lua", new), ("user.lua", user)]);
        game.step(&format!("assert(m.hit() == {} and global() == 1)", i + 2)).unwrap();
        game.step("assert(require 'emptied' == m and require 'user' == m)").unwrap();
    }
    assert!(is_logged(
        "warning: emptied.lua returns and defines nothing now: what it made before stays as it \
         was, until the file makes something again"
    ));
    assert!(!is_logged("reloaded emptied.lua") && is_logged("reloaded user.lua"));
    // Its next source is paired with the objects that the others hold, and their reports show the
    // old lines.
    game.swap(&[("emptied.lua", &ship.replace("n + 1", "n + 10").replace("return 1", "return 2"))]);
    game.step("assert(m.hit() == 16 and u.hit() == 26 and global() == 2)").unwrap();
    game.step("assert(require 'emptied' == m)").unwrap();
}

#[test]
fn component_uses_its_new_table_or_keeps_the_old_one() {
    let component = |number: u32| format!("return {{ update = function() said = {number} end }}");
    let unit = ("units/a.unit", "components = { c = {} }");
    let files = [unit, ("components/c.lua", &component(1)), ("other.lua", "return 1")];
    let mut game = Game::start(&files);
    let begin = "w = Application.new_world() World.spawn_unit(w, 'units/a') require 'other'";
    game.step(begin).unwrap();
    game.step("World.update(w, 0.1) assert(said == 1)").unwrap();
    game.swap(&[("components/c.lua", "return 3")]);
    assert!(is_logged(
        "error: components/c.lua must return a table, and returned number 3: what it returned \
         before stays in use"
    ));
    game.step("said = 0 World.update(w, 0.1) assert(said == 1)").unwrap();
    // An unrelated file causes no new message.
    game.swap(&[("other.lua", "return 2")]);
    let count_warnings = || {
        let lines = engine::foundation::log::last_lines();
        lines.iter().filter(|line| line.contains("components/c.lua must return")).count()
    };
    assert_eq!(count_warnings(), 1);
    game.swap(&[("components/c.lua", "return 4")]);
    assert_eq!(count_warnings(), 2);
    game.swap(&[("components/c.lua", &component(2))]);
    game.step("World.update(w, 0.1) assert(said == 2)").unwrap();
}

#[test]
fn random_sequence_is_unaffected_by_reload() {
    let mut game = Game::start(&[("m.lua", "local seed = math.random()")]);
    game.step("require 'm' math.randomseed(5) a = { math.random(1000), math.random(1000) }")
        .unwrap();
    game.step("math.randomseed(5) b = math.random(1000)").unwrap();
    game.reload(&[("m.lua", "local seed = math.random() + math.random(5)")]);
    let seeded = "math.randomseed(3) Math.set_seed(4) local seed = math.random()";
    game.reload(&[("m.lua", seeded)]);
    game.step("assert(a[1] == b and a[2] == math.random(1000))").unwrap();
}

#[test]
fn closures_with_old_bodies_are_reported() {
    let text = "local M = {}\nfunction M.make()\n  return function() return 1 end\nend\nreturn M";
    let mut game = Game::start(&[("m.lua", text)]);
    game.step("m = require 'm' list = { m.make(), m.make(), m.make() }").unwrap();
    let result = game.reload(&[("m.lua", &text.replace("return 1", "return 2"))]);
    assert_eq!(result.kept(), ["m.lua:3 x3"]);
    game.step("assert(list[1]() == 1 and m.make()() == 2) list = nil collectgarbage()").unwrap();
    let result = game.reload(&[("m.lua", &text.replace("return 1", "return 3"))]);
    assert_eq!(result.kept(), [""; 0]);
    // The log contains the message, too.
    let lines = "local M = {}\nfunction M.a() return function() end end\n\
                 function M.b() return function() end end\nreturn M";
    let mut game = Game::start(&[("told.lua", lines)]);
    game.step("m = require 'told' list = { m.a() }").unwrap();
    game.swap(&[("told.lua", &lines.replace("{}", "{ }"))]);
    let message = "reloaded told.lua: 2 functions";
    let one = "1 function of told.lua:2 keeps its old body until it is made again";
    assert!(is_logged(&format!("{message}; {one}")));
    game.step("list = { m.a(), m.a(), m.b() }").unwrap();
    game.swap(&[("told.lua", &format!("{lines} "))]);
    let some =
        "3 functions of told.lua:2, told.lua:3 keep their old bodies until they are made again";
    assert!(is_logged(&format!("{message}; {some}")));
    game.step("list = nil collectgarbage()").unwrap();
    game.swap(&[("told.lua", &format!("{lines}  "))]);
    assert!(is_logged(message));
}

#[test]
fn top_level_calls_take_effect_once() {
    let events = "local E, on = { n = 0 }, {} function E.on(f) E.n = E.n + 1 on[#on + 1] = f \
                  table.sort(on, function() return false end) end \
                  function E.fire() for _, f in ipairs(on) do f() end return #on end return E";
    let text = "local events = require 'events' local function hit() hits = hits + 1 end \
                events.on(hit) loaded = (loaded or 0) + 1";
    let mut game = Game::start(&[("m.lua", text), ("events.lua", events)]);
    game.step("hits = 0 require 'm' e = require 'events'").unwrap();
    for _ in 0..3 {
        game.reload(&[("m.lua", &text.replace("hits + 1", "hits + 10"))]);
    }
    game.step("assert(e.fire() == 1 and hits == 10 and e.n == 1 and loaded == 1)").unwrap();
}

#[test]
fn top_level_calls_of_new_modules_persist() {
    let events = "local E, on = {}, {} function E.on(f) on[#on + 1] = f end \
                  function E.fire() local s = 0 for _, f in ipairs(on) do s = s + f() end return s \
                  end return E";
    let fresh = "local e = require 'events' e.on(function() return 5 end) function e.extra() end \
                 made = 1 return { e = e }";
    let mut game = Game::start(&[("m.lua", ""), ("events.lua", events), ("fresh.lua", fresh)]);
    game.step("require 'm' e = require 'events'").unwrap();
    let new = "fresh = require 'fresh' function get() return fresh end";
    game.reload(&[("m.lua", new)]);
    game.step("assert(e.fire() == 5 and e.extra and made == 1 and get() == require 'fresh')")
        .unwrap();
    game.reload(&[("fresh.lua", &fresh.replace("made = 1", "made = 2"))]);
    game.step("assert(e.fire() == 5 and made == 2 and get().e == e)").unwrap();
}

#[test]
fn file_loaded_under_two_names_is_reloaded_in_both() {
    let mut game = Game::start(&[("d/init.lua", "return { v = ... }")]);
    game.step("a = require 'd' b = require 'd.init' assert(a ~= b and a.v == 'd')").unwrap();
    let result = game.reload(&[("d/init.lua", "return { v = ... .. '!' }")]);
    assert_eq!(result.number("updated"), 2.0);
    game.step("assert(a.v == 'd!' and b.v == 'd.init!' and require 'd' == a)").unwrap();
}

#[test]
fn unloaded_file_is_ignored() {
    let mut game = Game::start(&[("m.lua", "")]);
    let result = game.reload(&[("m.lua", "error('never run')")]);
    assert_eq!(result.number("replaced"), 0.0);
}

#[test]
fn editing_init_gives_a_warning() {
    let text = "local n = 0\nfunction init()\n  n = n + 1\nend\nfunction shown() return n end\n\
                local k = 0\nfunction update() k = k + 1 require('step' .. k) end";
    let mut game = Game::start(&[("main.lua", text)]);
    let count_warnings = || {
        let lines = engine::foundation::log::last_lines();
        let message = "warning: main.lua:2: `init` has run already, and is not called again";
        lines.iter().filter(|line| line.starts_with(message)).count()
    };
    game.swap(&[("main.lua", &text.replace("n + 1", "n + 5"))]);
    assert_eq!(count_warnings(), 1);
    game.step("assert(shown() == 1)").unwrap();
    // Another function, and the same `init` further down.
    let text = text.replace("n + 1", "n + 5").replace("return n", "return -n");
    game.swap(&[("main.lua", &format!("\n\n{text}"))]);
    assert_eq!(count_warnings(), 1);
    game.step("assert(shown() == -1)").unwrap();
}

/// The other lines of the table, each with its test.
pub const LIMITS: &[(&str, fn())] = &[
    (
        "Files that are saved together are reloaded together, or none of them is.",
        files_are_reloaded_all_or_none,
    ),
    (
        "Files that were saved together with a broken file are reloaded when it is fixed; \
         `on_reload` then names all of them.",
        files_saved_with_a_broken_one_wait_for_its_fix,
    ),
    (
        "A broken file that is deleted or renamed no longer delays the others.",
        removed_broken_file_is_not_waited_for,
    ),
    (
        "A file that becomes empty, or only a comment, keeps its objects until it creates new \
         ones. The log says so.",
        emptied_file_keeps_its_module,
    ),
    (
        "A closure created inside a function keeps its old body until it is created again. The \
         log counts the closures that still have old bodies, by line.",
        closures_with_old_bodies_are_reported,
    ),
    (
        "Changes that the top level makes to other files by calling their functions are made by \
         the first load; a reload undoes its own run.",
        top_level_calls_take_effect_once,
    ),
    (
        "Changes that a newly loaded file makes to others by calls are kept.",
        top_level_calls_of_new_modules_persist,
    ),
    (
        "Random numbers that the top level draws during a reload are put back.",
        random_sequence_is_unaffected_by_reload,
    ),
    (
        "A file that was loaded under two names is reloaded under both.",
        file_loaded_under_two_names_is_reloaded_in_both,
    ),
    ("A file that no running code has loaded is not run.", unloaded_file_is_ignored),
    (
        "`init` has run already: an edit of it takes effect at the next start, and so does an \
         `init` that is new. The log says so, and names the key that [restarts](#restart) \
         the game.",
        editing_init_gives_a_warning,
    ),
];
