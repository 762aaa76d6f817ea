//! Tests of the values that the editor shows: pages of large tables, what the mouse points at, and
//! functions in coroutines.

use super::*;

const VALUES: &str = r#"frames, calls = 0, 0
local list, few = { title = "items" }, { 1, 2, 3 }
for i = 1, 2500 do list[i] = i * 10 end
local Orc = { kind = "orc" }
local orc = setmetatable({ hp = 7, items = { "axe", best = { name = "bow" } } }, { __index = Orc })
local strange = setmetatable({ hp = 1 }, {
  __index = function() calls = calls + 1 end,
  __tostring = function() calls = calls + 1 return "text" end,
})
local box
function init()
  box = World.spawn_unit(Application.main_world(), "units/lamp")
  orc.pet = strange
end
local function play(...)
  local first, at = ..., Vector3(1, 2, 3)
  local all = { list, few, orc, strange, box, first }
  frames = frames + 1
  return all, at
end
local function outer(number)
  local hidden = number + 1
  return (play(hidden, "two")), hidden
end
function update()
  if level then Unit.set_data(box, "glow", "level", level) end
  if direct then Unit.get_data(box, "glow").level = direct end
  level, direct = nil, nil
  outer(4)
end
"#;

fn start(name: &str) -> Editor {
    let mut editor = Editor::start(name, VALUES);
    editor.folder.write("game/units/lamp.unit", "components = { glow = { level = 3 } }\n");
    let glow = "local Glow = {}\nfunction Glow.update(units, dt) end\nreturn Glow\n";
    editor.folder.write("game/components/glow.lua", glow);
    editor.launch("");
    editor.stop_at("frames = frames + 1");
    editor
}

/// Returns a page of variables, as `name = value`.
fn page(editor: &mut Editor, reference: f64, more: &str) -> Vec<String> {
    let arguments = format!("{{\"variablesReference\": {reference}{more}}}");
    let found = editor.ask("variables", &arguments);
    let variables = items(&found, "variables").iter();
    variables.map(|it| format!("{} = {}", text(it, "name"), text(it, "value"))).collect()
}

#[test]
fn large_tables_are_shown_in_pages() {
    let mut editor = start("pages");
    let upvalues = editor.scope("Upvalues");
    let found = editor.ask("variables", &format!("{{\"variablesReference\": {upvalues}}}"));
    let named = |name: &str| items(&found, "variables").iter().find(|it| text(it, "name") == name);
    let list = named("list").expect("it is there");
    assert_eq!(number(list, "indexedVariables"), 2500.0, "{list:?}");
    assert!(number(list, "namedVariables") >= 1.0, "{list:?}");
    assert_eq!(named("few").expect("it is there").get("indexedVariables"), None);
    let list = number(list, "variablesReference");
    // An editor without pages learns that it does not see all.
    let all = page(&mut editor, list, "");
    assert_eq!((all.len(), all[999].as_str()), (1001, "[1000] = 10000"));
    assert!(all[1000].starts_with("… = 1501 or more follow"), "{}", all[1000]);
    let some =
        page(&mut editor, list, ", \"filter\": \"indexed\", \"start\": 2000, \"count\": 100");
    assert_eq!((some.len(), some[0].as_str()), (100, "[2001] = 20010"));
    assert_eq!(some[99], "[2100] = 21000");
    let named = page(&mut editor, list, ", \"filter\": \"named\"");
    assert_eq!(named, ["title = \"items\""]);
    let last = page(&mut editor, list, ", \"start\": 2498");
    assert_eq!(last, ["[2499] = 24990", "[2500] = 25000", "title = \"items\""]);
    for odd in [
        ", \"filter\": \"indexed\", \"start\": 2500",
        ", \"start\": 9000",
        ", \"filter\": \"named\", \"start\": 1, \"count\": 5",
        ", \"filter\": \"indexed\", \"start\": 1e300",
    ] {
        assert_eq!(page(&mut editor, list, odd), [""; 0], "{odd}");
    }
    assert_eq!(
        page(&mut editor, list, ", \"filter\": 7, \"count\": -5, \"start\": -1").len(),
        1001
    );
    editor.end();
}

#[test]
fn vectors_are_one_line_and_units_show_their_components() {
    let mut editor = start("shown");
    let locals = editor.variables("Locals");
    assert!(locals.contains(&"at = Vector3(1, 2, 3)".to_string()), "{locals:?}");
    let upvalues = editor.scope("Upvalues");
    let unit = editor.inner(upvalues, "box");
    let components = editor.inner(unit, "components");
    let components = page(&mut editor, components, "");
    assert!(components.iter().any(|it| it.contains("glow")), "{components:?}");
    // A value inside of the data is followed without the line hook.
    let data = editor.inner(unit, "data");
    let glow = editor.inner(data, "glow");
    let description = editor.follow(glow, "level");
    assert!(description.contains("after each Unit.set_data"), "{description}");
    editor.ask("continue", THREAD);
    let run = |editor: &mut Editor, line: &str| {
        editor.ask("evaluate", &format!("{{\"expression\": {}}}", json::quoted(line)));
    };
    run(&mut editor, "level = 4");
    let stop = editor.event("stopped");
    assert_eq!(text(&stop, "reason"), "data breakpoint");
    assert!(text(&stop, "text").contains("level: 3 → 4"), "{stop:?}");
    editor.ask("continue", THREAD);
    // A script may have the table itself.
    run(&mut editor, "direct = 5");
    let stop = editor.event("stopped");
    assert!(text(&stop, "text").contains("level: 4 → 5"), "{stop:?}");
    editor.ask("setDataBreakpoints", "{\"breakpoints\": []}");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn the_mouse_calls_no_function_of_the_game() {
    let mut editor = start("hover");
    let hover = |expression: &str| {
        let expression = json::quoted(expression);
        format!("{{\"expression\": {expression}, \"frameId\": 1, \"context\": \"hover\"}}")
    };
    let rows = [
        ("orc.hp", "7"),
        // A field of the table from which it inherits.
        ("orc.kind", "\"orc\""),
        ("orc.items[1]", "\"axe\""),
        ("orc.items.best['name']", "\"bow\""),
        ("orc[\"items\"].none", "nil"),
        ("frames", "0"),
        ("few", "{ 1, 2, 3 }"),
        ("strange.hp", "1"),
        ("strange.missing", "nil"),
        ("nothing", "nil"),
        ("Unit.alive", "engine function"),
        ("at", "Vector3(1, 2, 3)"),
        ("at.y", "2"),
        ("at.missing", "nil"),
        ("list[first]", "50"),
    ];
    for (expression, wanted) in rows {
        let shown = editor.ask("evaluate", &hover(expression));
        assert_eq!(text(&shown, "result"), wanted, "{expression}");
    }
    let shown = editor.ask("evaluate", &hover("strange"));
    assert!(text(&shown, "result").contains("hp = 1"), "{shown:?}");
    // The editor opens the table at which the mouse points.
    let shown = editor.ask("evaluate", &hover("orc"));
    let fields = editor.fields(number(&shown, "variablesReference"));
    assert!(fields.contains(&"pet = { hp = 1 }".to_string()), "{fields:?}");
    for (refused, wanted) in [
        ("init()", "only names"),
        ("orc.hp + 1", "only names"),
        ("orc.items[first + 1]", "only names"),
        ("orc.items[missing]", "only names"),
        ("", "only names"),
        ("nothing.x", "'nothing.x' is not there"),
        ("orc.hp.x", "'orc.hp.x' is not there"),
        ("orc..hp", "only names"),
    ] {
        let message = editor.refused("evaluate", &hover(refused));
        assert!(message.contains(wanted), "{refused}: {message}");
    }
    let long = format!("orc{}", ".pet".repeat(2000));
    assert!(editor.refused("evaluate", &hover(&long)).contains("NAME_BYTES_MAX"));
    assert_eq!(editor.evaluate("calls"), "0");
    let running = "{\"expression\": \"frames\", \"context\": \"hover\"}";
    assert!(editor.refused("evaluate", running).contains("while a script is stopped"));
    editor.end();
}

#[test]
fn new_values_are_evaluated_in_the_function_of_a_variable() {
    let mut editor = start("set-there");
    let locals_of = |editor: &mut Editor, frame: usize| {
        let scopes = editor.ask("scopes", &format!("{{\"frameId\": {frame}}}"));
        number(&items(&scopes, "scopes")[0], "variablesReference")
    };
    let inner = locals_of(&mut editor, 1);
    // The editor shows the outer function, too, and opened it last.
    let outer = locals_of(&mut editor, 2);
    let set = |reference: f64, name: &str, value: &str| {
        let (name, value) = (json::quoted(name), json::quoted(value));
        format!("{{\"variablesReference\": {reference}, \"name\": {name}, \"value\": {value}}}")
    };
    editor.ask("setVariable", &set(inner, "first", "first * 100"));
    assert_eq!(editor.evaluate("first"), "500");
    editor.ask("setVariable", &set(outer, "hidden", "number + hidden"));
    assert_eq!(page(&mut editor, outer, ""), ["number = 4", "hidden = 9"]);
    // A value of `...` can be changed.
    let varargs = editor.fields(inner);
    assert!(varargs.contains(&"(vararg 2) = \"two\"".to_string()), "{varargs:?}");
    let answer = editor.ask("setVariable", &set(inner, "(vararg 2)", "'2' .. first"));
    assert_eq!(text(&answer, "value"), "\"2500\"");
    assert_eq!(editor.evaluate("select('#', first)"), "1");
    assert!(editor.fields(inner).contains(&"(vararg 2) = \"2500\"".to_string()));
    let refused = editor.refused("setVariable", &set(inner, "(vararg 3)", "1"));
    assert!(refused.contains("no variable"), "{refused}");
    let followed = editor.ask(
        "dataBreakpointInfo",
        &format!("{{\"variablesReference\": {inner}, \"name\": \"(vararg 2)\"}}"),
    );
    assert_eq!(followed.get("dataId"), Some(&SjsonTree::Null), "{followed:?}");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

const MANY: &str = r#"frames = 0
local function inner()
  local deep = 1
  return deep
end
local function outer()
  local held = 5
  coroutine.wrap(inner)()
  return held
end
local first = coroutine.create(function()
  while true do
    outer()
    coroutine.yield()
  end
end)
local others = {}
for i = 1, 1500 do
  others[i] = coroutine.create(function() coroutine.yield() end)
  coroutine.resume(others[i])
end
function update()
  frames = frames + 1
  coroutine.resume(first)
end
"#;

#[test]
fn a_stack_is_whole_among_many_coroutines() {
    let mut editor = Editor::start("many-coroutines", MANY);
    editor.launch("");
    editor.stop_at("return deep");
    let lines: Vec<String> =
        editor.locations().into_iter().filter(|at| at.starts_with("main.lua")).collect();
    assert_eq!(lines, [4, 8, 13, 24].map(|line| format!("main.lua:{line}")));
    // The list of threads has a limit.
    let threads = editor.ask("threads", "{}");
    assert!((900..=1001).contains(&items(&threads, "threads").len()));
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

const NESTED: &str = r#"frames = 0
local waiting = coroutine.create(function() coroutine.yield() end)
coroutine.resume(waiting)
local function deepest(n)
  local deep = n
  return deep
end
local function second(...)
  local own = 6
  pcall(function() deepest(own) end)
end
local function first(thread)
  local held = 5
  coroutine.wrap(second)(thread, "more")
  return held
end
function update()
  frames = frames + 1
  local thread = coroutine.create(first)
  coroutine.resume(thread, waiting)
end
"#;

#[test]
fn a_stack_leads_through_all_coroutines_to_the_program() {
    let mut editor = Editor::start("nested", NESTED);
    editor.launch("");
    editor.stop_at("return deep");
    let lines: Vec<String> =
        editor.locations().into_iter().filter(|at| at.starts_with("main.lua")).collect();
    let wanted = [6, 10, 10, 14, 20].map(|line| format!("main.lua:{line}"));
    assert_eq!(lines, wanted);
    // Variables of each can be read and changed.
    let stack = editor.ask("stackTrace", THREAD);
    let frame_at = |line: f64| {
        let frames = items(&stack, "stackFrames").iter();
        let mut frames = frames
            .filter(|frame| frame.get("source").is_some_and(|it| text(it, "name") == "main.lua"));
        number(frames.find(|frame| number(frame, "line") == line).expect("it is there"), "id")
    };
    let locals = |editor: &mut Editor, frame: f64| {
        let scopes = editor.ask("scopes", &format!("{{\"frameId\": {frame}}}"));
        number(&items(&scopes, "scopes")[0], "variablesReference")
    };
    let held = locals(&mut editor, frame_at(14.0));
    let shown = editor.fields(held);
    assert!(shown.contains(&"held = 5".to_string()), "{shown:?}");
    let set = format!("{{\"variablesReference\": {held}, \"name\": \"held\", \"value\": \"8\"}}");
    editor.ask("setVariable", &set);
    assert!(editor.fields(held).contains(&"held = 8".to_string()));
    let main = locals(&mut editor, frame_at(20.0));
    assert!(editor.fields(main)[0].starts_with("thread = thread"), "{:?}", editor.fields(main));
    // What is in the stack is no thread of its own.
    let threads = editor.ask("threads", "{}");
    let names: Vec<&str> = items(&threads, "threads").iter().map(|it| text(it, "name")).collect();
    assert_eq!(names, ["coroutine", "coroutine main.lua:2"]);
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}
