//! Tests of everything that an editor or a game can do wrong: the game plays on, and the session
//! continues.

use super::{Editor, MAIN, THREAD, items, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::RemoteClient;
use engine::system::remote::endpoint_file::EndpointFile;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

fn breakpoint(line: usize, condition: &str) -> String {
    format!("{{\"line\": {line}, \"condition\": {}}}", json::quoted(condition))
}

#[test]
fn conditions_that_fail_or_never_end_count_as_true() {
    let main = "frames = 0\nlocal strange = setmetatable({}, { __index = function()\n  \
        while true do end\nend })\nlocal function forever() while true do end end\n\
        local function test(i)\n  return i, strange, forever\nend\n\
        function update()\n  frames = frames + 1\n  for i = 1, 3 do test(i) end\nend\n";
    let mut editor = Editor::start("conditions", main);
    editor.folder.write("game/settings.sjson", "limits = { update_seconds = 1 }\n");
    editor.launch("");
    editor.plays_on("frames");
    for condition in ["nothing.here", "forever()", "strange.x", "i < {}", "coroutine.yield()"] {
        editor.set_breakpoints("main.lua", &breakpoint(7, condition));
        for _ in 0..2 {
            let stopped = editor.stopped();
            assert_eq!(
                stopped,
                ("breakpoint".to_string(), "main.lua:7".to_string()),
                "{condition}"
            );
            editor.ask("continue", THREAD);
        }
        editor.set_breakpoints("main.lua", "");
        editor.try_ask("continue", THREAD);
        editor.events.retain(|event| text(event, "event") == "output");
        // It is logged once, with the reason.
        let logged = loop {
            let event = editor.event("output");
            if text(&event, "output").contains("condition of the breakpoint failed") {
                break text(&event, "output").to_string();
            }
        };
        assert!(logged.contains("main.lua:7"), "{logged}");
        editor.plays_on("frames");
    }
    editor.end();
}

#[test]
fn a_condition_that_catches_its_end_ends_the_callback() {
    let main = "local strange = setmetatable({}, { __index = function()\n  \
        while true do pcall(function() while true do end end) end\nend })\n\
        local function test(i)\n  return i, strange\nend\n\
        function update()\n  test(1)\nend\n";
    let mut editor = Editor::start("catches", main);
    editor.folder.write("game/settings.sjson", "limits = { update_seconds = 1 }\n");
    editor.launch(&breakpoint(5, "strange.x"));
    assert_eq!(number(&editor.event("exited"), "exitCode"), 1.0);
    editor.event("terminated");
    editor.end();
}

#[test]
fn conditions_see_locals_upvalues_and_globals() {
    let main = "frames, limit = 0, 3\nlocal late, early = 5, 6\nlocal hidden = 1\n\
        local function test(i, ...)\n  local double = 2 * i\n  local first = early\n  \
        return double + first + late\nend\nfunction update()\n  frames = frames + 1\n  \
        for i = 1, 6 do total = test(i, \"x\") end\nend\n";
    let mut editor = Editor::start("names", main);
    editor.launch("");
    editor.plays_on("frames");
    // Upvalues are in another order than without the condition.
    for (line, condition, expected) in [
        (7, "double == 8 and late == 5 and limit == 3", "4"),
        (5, "late == 5 and i == 2", "2"),
        (6, "i > limit + 2", "6"),
        (7, "math.floor(double) == 10", "5"),
        (7, "({ double })[1] == 4", "2"),
    ] {
        editor.set_breakpoints("main.lua", &breakpoint(line, condition));
        for _ in 0..2 {
            editor.stopped();
            assert_eq!(editor.evaluate("i"), expected, "{condition}");
            editor.ask("continue", THREAD);
        }
        editor.set_breakpoints("main.lua", "");
        editor.try_ask("continue", THREAD);
        editor.events.clear();
        editor.plays_on("frames");
        // All variables of the function still are what they were.
        let total = editor.ask("evaluate", "{\"expression\": \"total\"}");
        assert_eq!(text(&total, "result"), "23");
    }
    let set = editor.set_breakpoints("main.lua", &breakpoint(7, "hidden == 1"));
    let message = text(&items(&set, "breakpoints")[0], "message").to_string();
    assert!(message.contains("'hidden' for a global"), "{message}");
    let hits = "{\"line\": 7, \"condition\": \"i < 5\", \"hitCondition\": \"% 4\"}";
    editor.set_breakpoints("main.lua", hits);
    for _ in 0..2 {
        editor.stopped();
        assert_eq!(editor.evaluate("i"), "4");
        editor.ask("continue", THREAD);
    }
    editor.end();
}

#[test]
#[cfg(target_os = "linux")]
fn a_game_ends_when_its_adapter_is_killed() {
    for line in ["", "{\"line\": 17}"] {
        let mut editor = Editor::start("killed", MAIN);
        editor.launch(line);
        if line.is_empty() {
            editor.plays_on("frames");
        } else {
            editor.stopped();
        }
        let folder = editor.path("").to_string_lossy().into_owned();
        let plays = || {
            let processes = std::fs::read_dir("/proc").expect("processes").flatten();
            let lines = processes.map(|it| std::fs::read(it.path().join("cmdline")));
            lines.flatten().any(|line| {
                let line = String::from_utf8_lossy(&line).into_owned();
                line.contains("\0run\0") && line.contains(folder.trim_end_matches('/'))
            })
        };
        assert!(plays());
        editor.adapter.kill().expect("it can be killed");
        let end = Instant::now() + super::WAIT_MAX;
        while plays() {
            assert!(Instant::now() < end, "the game plays on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn ten_thousand_breakpoints_are_set_or_refused() {
    let mut editor = Editor::start("many", MAIN);
    editor.launch("");
    editor.plays_on("frames");
    let points = |count: usize| {
        let points: Vec<String> = (1..=count).map(|line| format!("{{\"line\": {line}}}")).collect();
        points.join(",")
    };
    let path = json::quoted(&editor.path("main.lua").to_string_lossy());
    let arguments =
        format!("{{\"source\": {{\"path\": {path}}}, \"breakpoints\": [{}]}}", points(10_000));
    assert!(editor.refused("setBreakpoints", &arguments).contains("BREAKPOINTS_MAX"));
    let began = Instant::now();
    for file in 0..10 {
        editor.set_breakpoints(&format!("none{file}.lua"), &points(1000));
    }
    assert!(began.elapsed() < super::WAIT_MAX, "{:?}", began.elapsed());
    editor.plays_on("frames");
    editor.end();
}

/// Breakpoints of each file of a game with ten thousand.
const POINTS: usize = 1000;

#[test]
fn a_game_plays_with_ten_thousand_breakpoints() {
    let mut main = "frames, sum = 0, 0\nlocal parts = {}\n".to_string();
    for i in 0..10 {
        main += &format!("parts[{i}] = require(\"part{i}\")\n");
    }
    main +=
        "function update()\n  frames = frames + 1\n  for i = 0, 9 do sum = parts[i](0) end\nend\n";
    let mut editor = Editor::start("ten-thousand", &main);
    let part = format!("return function(x)\n{}  return x\nend\n", "  x = x + 1\n".repeat(POINTS));
    for i in 0..10 {
        editor.folder.write(&format!("game/part{i}.lua"), &part);
    }
    editor.launch("");
    editor.plays_on("frames");
    let points = |condition: &str| {
        let point = |line: usize| breakpoint(line, condition);
        (2..POINTS + 2).map(point).collect::<Vec<_>>().join(",")
    };
    for i in 0..10 {
        let set = editor.set_breakpoints(&format!("part{i}.lua"), &points("x < 0"));
        let verified = |it: &&SjsonTree| it.get("verified") == Some(&SjsonTree::Bool(true));
        assert_eq!(items(&set, "breakpoints").iter().filter(verified).count(), POINTS, "{i}");
    }
    editor.plays_on("frames");
    let sum = editor.ask("evaluate", "{\"expression\": \"sum\"}");
    assert_eq!(text(&sum, "result"), format!("{POINTS}"));
    assert!(!editor.events.iter().any(|event| text(event, "event") == "stopped"));
    // Each of them is there.
    editor.set_breakpoints("part7.lua", &points("x == 500"));
    assert_eq!(editor.stopped().1, "part7.lua:502");
    for i in 0..10 {
        editor.set_breakpoints(&format!("part{i}.lua"), "");
    }
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn time_of_evaluations_is_no_time_of_the_callback() {
    let mut editor = Editor::start("budget", MAIN);
    editor.folder.write("game/settings.sjson", "limits = { update_seconds = 1 }\n");
    editor.launch("");
    editor.stop_at("local sum");
    // Twice the budget of the callback. Each part is short, because the garbage of all of them is
    // collected in one, whose own limit of half a second includes that.
    let busy = "(function() local until_then = os.clock() + 0.05 \
                while os.clock() < until_then do end return 1 end)()";
    for _ in 0..40 {
        assert_eq!(editor.evaluate(busy), "1");
    }
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    assert!(!editor.events.iter().any(|event| text(event, "event") == "terminated"));
    editor.end();
}

#[test]
fn sounds_pause_during_a_stop_unless_a_setting_is_off() {
    for (settings, held) in [("", true), ("debugger = { pauses_sound = false }\n", false)] {
        let mut editor = Editor::start("sound", MAIN);
        editor.folder.write("game/settings.sjson", settings);
        editor.launch("");
        editor.plays_on("frames");
        let session = EndpointFile::read(&editor.path("")).expect("the game lets tools in");
        let mut tool = RemoteClient::connect(&session).expect("a second connection");
        let mut is_held = || {
            let status =
                tool.request("status", vec![], super::WAIT_MAX, |_| ()).expect("an answer");
            status.get("sound_held") == Some(&SjsonTree::Bool(true))
        };
        assert!(!is_held());
        editor.set_breakpoints("main.lua", "{\"line\": 16}");
        editor.stopped();
        assert_eq!(is_held(), held, "{settings}");
        editor.set_breakpoints("main.lua", "");
        editor.ask("continue", THREAD);
        editor.plays_on("frames");
        assert!(!is_held());
        editor.end();
    }
}

#[test]
fn an_editor_that_reads_nothing_does_not_hold_the_game() {
    let mut editor = Editor::start("unread", MAIN);
    editor.launch("");
    editor.plays_on("frames");
    let session = EndpointFile::read(&editor.path("")).expect("the game lets tools in");
    let mut tool = RemoteClient::connect(&session).expect("a second connection");
    let mut frames = || {
        let fields = vec![("text", json::text("frames"))];
        let answer = tool.request("eval", fields, super::WAIT_MAX, |_| ()).expect("an answer");
        match items(&answer, "values") {
            [SjsonTree::String(number)] => number.parse::<f64>().expect("a number"),
            other => panic!("{other:?}"),
        }
    };
    editor.reads.store(false, Ordering::SeqCst);
    // More than all pipes on the way can hold.
    let long = json::quoted(&"x".repeat(100_000));
    let request = format!("{{\"expression\": {long}, \"context\": \"repl\"}}");
    for _ in 0..20 {
        editor.send("evaluate", &request);
    }
    for _ in 0..200 {
        editor.send("loadedSources", "{}");
    }
    let before = frames();
    let end = Instant::now() + super::WAIT_MAX;
    while frames() < before + 10.0 {
        assert!(Instant::now() < end, "the game does not play on");
    }
    editor.reads.store(true, Ordering::SeqCst);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn a_stopped_game_plays_on_when_its_editor_reads_no_more() {
    // The game is not the adapter's own, or it would end with it.
    let mut first = Editor::start("unread-stopped", MAIN);
    first.launch("");
    let attach = format!("{{\"folder\": {}}}", json::quoted(&first.path("").to_string_lossy()));
    let path = json::quoted(&first.path("main.lua").to_string_lossy());
    first.ask("disconnect", "{\"terminateDebuggee\": false}");
    let mut silent = Editor::start("unread-stopped-1", MAIN);
    silent.ask("attach", &attach);
    let point =
        format!("{{\"source\": {{\"path\": {path}}}, \"breakpoints\": [{{\"line\": 16}}]}}");
    silent.ask("setBreakpoints", &point);
    silent.stopped();
    silent.reads.store(false, Ordering::SeqCst);
    // More than all pipes on the way can hold: the adapter waits for the editor.
    for _ in 0..400 {
        silent.send("loadedSources", "{}");
    }
    std::thread::sleep(Duration::from_millis(500));
    let mut second = Editor::start("unread-stopped-2", MAIN);
    assert!(second.refused("attach", &attach).contains("another tool debugs"));
    // The editor ends, and with it its pipe.
    silent.is_closed.store(true, Ordering::SeqCst);
    let end = Instant::now() + super::WAIT_MAX;
    while silent.adapter.try_wait().expect("it can be asked").is_none() {
        assert!(Instant::now() < end, "the adapter goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    while second.try_ask("attach", &attach).get("success") != Some(&SjsonTree::Bool(true)) {
        assert!(Instant::now() < end, "the game is still debugged");
        std::thread::sleep(Duration::from_millis(50));
    }
    second.event("initialized");
    second.ask("configurationDone", "{}");
    second.plays_on("frames");
    second.ask("disconnect", "{\"terminateDebuggee\": true}");
}

#[test]
fn a_flood_of_requests_is_answered_in_order() {
    let mut editor = Editor::start("flood", MAIN);
    editor.launch("{\"line\": 16}");
    editor.stopped();
    let asked: Vec<u64> = (0..2000)
        .map(|i| match i % 3 {
            0 => editor.send("threads", "{}"),
            1 => editor.send("evaluate", "{\"expression\": \"1 + 1\", \"frameId\": 1}"),
            _ => editor.send("stackTrace", "{\"threadId\": \"x\", \"levels\": -5}"),
        })
        .collect();
    editor.write(b"\xff\xfe\0garbage\r\n\r\n");
    let mut answered = Vec::new();
    while answered.len() < asked.len() {
        let message = editor.receive();
        if text(&message, "type") == "response" {
            answered.push(number(&message, "request_seq") as u64);
        }
    }
    assert_eq!(answered, asked);
    editor.set_breakpoints("main.lua", "");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn huge_and_hostile_values_are_shown_in_parts() {
    let main = "frames = 0\nlocal many, list, strange = {}, {}, setmetatable({ 1 }, {\n  \
        __index = function() error(\"no index\") end,\n  \
        __tostring = function() error(\"no text\") end,\n})\n\
        function init()\n  for i = 1, 1000000 do many[\"key\" .. i] = i; list[i] = i end\nend\n\
        function update()\n  frames = frames + 1\n  local text = (\"x\"):rep(10000000)\n  \
        local used = { many, list, strange }\nend\n";
    let mut editor = Editor::start("huge", main);
    editor.launch("");
    editor.stop_at("local used");
    let upvalues = editor.scope("Upvalues");
    let found = editor.ask("variables", &format!("{{\"variablesReference\": {upvalues}}}"));
    let began = Instant::now();
    for variable in items(&found, "variables") {
        let reference = number(variable, "variablesReference");
        let arguments = format!("{{\"variablesReference\": {reference}, \"count\": 100}}");
        let inner = editor.ask("variables", &arguments);
        let found = items(&inner, "variables");
        let wanted = if text(variable, "name") == "strange" { 2 } else { 100 };
        assert_eq!(found.len(), wanted, "{variable:?}");
        match text(variable, "name") {
            // The items of a list are in their order; of so many fields, some are shown.
            "list" => assert_eq!(text(&found[99], "value"), "100"),
            "many" => assert!(found.iter().all(|it| text(it, "name").starts_with("key"))),
            _ => assert_eq!(text(&found[0], "value"), "1"),
        }
    }
    assert!(began.elapsed() < super::WAIT_MAX, "{:?}", began.elapsed());
    let locals = editor.variables("Locals");
    assert!(locals[0].len() < 2000 && locals[0].contains("10000000 bytes"), "{}", locals[0]);
    let printed = editor.evaluate("print(text)");
    assert_eq!(printed, "nil");
    // 100 MB: all of it, or as much as there is time for.
    let much = "{\"expression\": \"(function() for i = 1, 10 do print(text) end return 7 end)()\", \
                \"frameId\": 1}";
    let answer = editor.try_ask("evaluate", much);
    let is_done = answer.get("body").is_some_and(|body| text(body, "result") == "7");
    assert!(is_done || text(&answer, "message").contains("seconds of CPU time"), "{answer:?}");
    assert_eq!(editor.evaluate("1 + 1"), "2");
    assert!(editor.evaluate("text").len() < 2000);
    editor.evaluate("strange");
    let yields = "{\"expression\": \"coroutine.yield(1)\", \"frameId\": 1}";
    assert!(editor.refused("evaluate", yields).contains("yield"));
    let fails = "{\"expression\": \"strange.x\", \"frameId\": 1}";
    assert!(editor.refused("evaluate", fails).contains("no index"));
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn a_unit_can_be_destroyed_while_it_is_shown() {
    let main = "frames = 0\nlocal box\nfunction init()\n  \
        box = World.spawn_unit(Application.main_world(), \"core/units/empty\")\nend\n\
        function update()\n  frames = frames + 1\n  local unit = box\nend\n";
    let mut editor = Editor::start("destroyed", main);
    editor.launch("");
    editor.stop_at("local unit");
    let upvalues = editor.scope("Upvalues");
    let found = editor.ask("variables", &format!("{{\"variablesReference\": {upvalues}}}"));
    let unit = number(&items(&found, "variables")[0], "variablesReference");
    assert!(editor.fields(unit).iter().any(|it| it.starts_with("nodes")));
    editor.evaluate("World.destroy_unit(Application.main_world(), box)");
    let removed = format!("{{\"variablesReference\": {unit}}}");
    assert!(editor.refused("variables", &removed).contains("destroyed"));
    editor.variables("Engine");
    editor.variables("Upvalues");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

/// A game whose functions are called in different ways.
const CALLS: &str = r#"frames = 0
local point = setmetatable({}, { __add = function(a, b)
  local in_metamethod = b
  return in_metamethod
end })

function init()
  local in_init = 1
  Timer.every(0.01, function()
    local in_timer = 2
  end)
end

function on_reload(names)
  local in_reload = names
end

function update()
  frames = frames + 1
  local sum = point + 1
  pcall(function()
    coroutine.wrap(function()
      local in_coroutine = 3
      error("caught")
    end)()
  end)
end

function render()
  local in_render = 4
end
"#;

#[test]
fn scripts_stop_in_every_kind_of_call() {
    let mut editor = Editor::start("places", CALLS);
    editor.launch("{\"line\": 8}");
    assert_eq!(editor.stopped().1, "main.lua:8");
    editor.set_breakpoints("main.lua", "");
    editor.ask("continue", THREAD);
    for location in ["in_metamethod = b", "in_timer = 2", "in_coroutine = 3", "in_render = 4"] {
        editor.stop_at(location);
        editor.ask("next", THREAD);
        assert_eq!(editor.stopped().0, "step", "{location}");
        editor.ask("continue", THREAD);
        editor.plays_on("frames");
    }
    let line = CALLS.lines().position(|it| it.contains("in_reload")).unwrap() + 1;
    editor.set_breakpoints("main.lua", &format!("{{\"line\": {line}}}"));
    editor.folder.write("game/main.lua", CALLS.replace("in_render = 4", "in_render = 5"));
    assert_eq!(editor.stopped().1, format!("main.lua:{line}"));
    editor.set_breakpoints("main.lua", "");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn a_script_stops_in_a_component() {
    let main = "frames = 0\nfunction init()\n  \
        World.spawn_unit(Application.main_world(), \"units/lamp\")\nend\n\
        function update(dt)\n  frames = frames + 1\n  \
        World.update(Application.main_world(), dt)\nend\n";
    let mut editor = Editor::start("component", main);
    editor.folder.write("game/units/lamp.unit", "components = { glow = { level = 3 } }\n");
    let component = "local Glow = {}\nfunction Glow.update(units, dt)\n  local count = #units\n\
        end\nreturn Glow\n";
    editor.folder.write("game/components/glow.lua", component);
    editor.launch("");
    editor.plays_on("frames");
    editor.set_breakpoints("components/glow.lua", "{\"line\": 3}");
    assert_eq!(editor.stopped().1, "glow.lua:3");
    assert_eq!(editor.evaluate("Unit.get_data(units[1], \"glow\", \"level\")"), "3");
    assert!(editor.locations().contains(&"main.lua:7".to_string()));
    editor.set_breakpoints("components/glow.lua", "");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn a_killed_editor_lets_a_stopped_game_play_on() {
    // The game is not the adapter's own, or it would end with it.
    let mut first = Editor::start("left", MAIN);
    first.launch("");
    let folder = json::quoted(&first.path("").to_string_lossy());
    let path = json::quoted(&first.path("main.lua").to_string_lossy());
    first.ask("disconnect", "{\"terminateDebuggee\": false}");
    let attach = format!("{{\"folder\": {folder}}}");
    let mut killed = Editor::start("left-1", MAIN);
    killed.ask("attach", &attach);
    let point =
        format!("{{\"source\": {{\"path\": {path}}}, \"breakpoints\": [{{\"line\": 16}}]}}");
    killed.ask("setBreakpoints", &point);
    killed.event("stopped");
    killed.adapter.kill().expect("it runs");
    let mut second = Editor::start("left-2", MAIN);
    let end = Instant::now() + super::WAIT_MAX;
    loop {
        let answer = second.try_ask("attach", &attach);
        if answer.get("success") == Some(&SjsonTree::Bool(true)) {
            break;
        }
        assert!(Instant::now() < end, "{answer:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    second.event("initialized");
    second.ask("configurationDone", "{}");
    second.plays_on("frames");
    second.ask("disconnect", "{\"terminateDebuggee\": true}");
}

#[test]
fn a_stopped_game_can_be_ended() {
    let mut editor = Editor::start("ended", MAIN);
    editor.launch("{\"line\": 16}");
    editor.stopped();
    editor.ask("terminate", "{}");
    assert_eq!(number(&editor.event("exited"), "exitCode"), 0.0);
    editor.event("terminated");
    assert!(editor.refused("stackTrace", THREAD).contains("no game is debugged"));
    editor.end();
}

#[test]
fn a_game_that_dies_during_a_stop_ends_its_session() {
    if !cfg!(unix) {
        return;
    }
    let mut editor = Editor::start("dies", MAIN);
    editor.launch("{\"line\": 16}");
    editor.stopped();
    let process = editor.evaluate("Application.process_id()");
    let kill = std::process::Command::new("kill").args(["-9", &process]).status();
    assert!(kill.expect("there is kill").success(), "{process}");
    editor.event("terminated");
    assert!(editor.refused("stackTrace", THREAD).contains("no game is debugged"));
    editor.end();
}

#[test]
fn a_step_does_not_end_in_a_condition() {
    let main = "frames = 0\nfunction check(i)\n  local large = i > 100\n  return large\nend\n\
        local function work(i)\n  local a = i\n  local b = a + 1\n  local c = b + 1\n  \
        return c\nend\nfunction update()\n  frames = frames + 1\n  work(frames % 10)\nend\n";
    let mut editor = Editor::start("condition-step", main);
    editor.launch("{\"line\": 7}");
    editor.stopped();
    // The function runs, so the hook tests the condition, which calls another function.
    editor.set_breakpoints("main.lua", &breakpoint(8, "check(a)"));
    editor.ask("stepIn", THREAD);
    let (reason, at) = editor.stopped();
    assert_eq!(reason, "step");
    assert!(["main.lua:8", "main.lua:9"].contains(&at.as_str()), "{at}");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    assert!(!editor.events.iter().any(|event| text(event, "event") == "stopped"));
    editor.end();
}
