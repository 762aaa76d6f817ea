//! Tests of the lint: what it finds in a script, and what it leaves alone.

use super::*;
use engine_resource::resource_name::ResourceName;

/// Returns the findings of a game of one script, as `line: message`.
fn findings(text: &str) -> Vec<String> {
    game(&[("main.lua", text)])
}

fn game(scripts: &[(&str, &str)]) -> Vec<String> {
    checked(scripts, false).into_iter().filter(|line| !line.contains("no script reads")).collect()
}

/// Returns all findings of a game that has one resource of each kind, `here`.
fn checked(scripts: &[(&str, &str)], has_other_languages: bool) -> Vec<String> {
    let scripts: Vec<LintScript> =
        scripts.iter().map(|(path, text)| LintScript { path, text }).collect();
    let line = |finding: LintFinding| match finding.path.as_str() {
        "main.lua" => format!("{}: {}", finding.line, finding.message),
        path => format!("{path}:{}: {}", finding.line, finding.message),
    };
    let missing = |kinds: &[&str], name: &str| {
        (name != "here").then(|| format!("there is no {} '{name}'", kinds.join(" or ")))
    };
    let game = LintGame { scripts: &scripts, has_other_languages, missing: &missing };
    lint(&game).into_iter().map(line).collect()
}

#[track_caller]
fn check(text: &str, wanted: &str) {
    assert_eq!(findings(text).join("\n"), wanted, "{text}");
}

#[test]
fn unknown_functions_of_the_api_are_found() {
    let wanted = "1: World has no function 'updte', did you mean 'update'?";
    check("local w = 1 World.updte(w)", wanted);
    check("Sound.play('x')", "1: Sound has no function 'play', did you mean Sound.trigger?");
    check("local f = math.flor", "1: math has no function 'flor', did you mean 'floor'?");
}

#[test]
fn functions_that_exist_or_are_added_are_not_found() {
    check("local w = 1 World.update(w, 0) math.floor(1) print(Vector3(1, 2, 3).x)", "");
    check("Math.half = function(x) return x / 2 end print(Math.half(1))", "");
    check("function Math.twice(x) return 2 * x end print(Math.twice(1))", "");
    check("if Gui.future then Gui.bitmap(1) end", "");
    check("local World = {} World.updte(1)", "");
    check("World = {} World.updte(1)", "");
}

#[test]
fn unknown_globals_are_found_where_they_fail() {
    check("local a\nenmies[1] = a", "2: there is no global 'enmies'");
    check("prnt('x')", "1: there is no global 'prnt', did you mean 'print'?");
    check("local hp = 1 print(hp + hpp)", "1: there is no global 'hpp'");
    check(
        "score = 0 function update() scoer.x = 1 end",
        "1: there is no global 'scoer', did you mean 'score'?",
    );
}

#[test]
fn globals_that_are_tested_or_assigned_are_not_found() {
    check("if love then love.graphics.print('x') end", "");
    check("local unpack = table.unpack or unpack print(unpack({}))", "");
    check("local jit = jit if type(utf8) == 'table' then utf8.char(1) end", "");
    check("x = 1 print(x) _G.y = 2 print(y) function z() end z()", "");
    let fennel = checked(&[("main.lua", "made_in_fennel()\nunused = 1")], true);
    assert_eq!(fennel, [""; 0], "another language may assign and read any global");
    check("setmetatable(_G, {}) foo()", "");
    check("io.open('x') os.exit() print(debug.getinfo(1), table.pack(1))", "");
    check(
        "local function f(a) local b = a return b end f() for i, v in pairs({}) do f(i, v) end",
        "",
    );
    check("local t = { foo = 1, [2] = 3, 4 } print(t.bar, t.x.y)", "");
    check("goto done ::done:: for i = 1, 2 do continue end", "");
}

#[test]
fn extensions_of_the_language_are_read() {
    check("local a = 1 a += 2 a = a != 1 ? a : 2 local b = a?.x ?? 3 print(b)", "");
    check("const c = x -> x + 1 local d = |p, q| -> p + q print(c(1), d(1, 2), !c)", "");
    check("local e = true && 1 || 2 print(e << 1, e >> 1, e ~>> 1, e & 1, e | 2, ~e)", "");
    check("local f = .5 local s = [==[ x ]==] local t = s:rep(2) print(f, #t, -f ^ 2)", "");
}

#[test]
fn numbers_as_conditions_are_found() {
    let message = "Keyboard.button returns a number, and 0 is true in Lua: write \
                   Keyboard.held(…)";
    for text in [
        "if Keyboard.button('x') then end",
        "local a = Keyboard.button('x') and 1 or 2",
        "while not Keyboard.button('x') do end",
        "local a = true and Keyboard.button('x') ? 1 : 2",
    ] {
        check(text, &format!("1: {message}"));
    }
    for text in [
        "if Keyboard.button('x') > 0 then end",
        "if 0 < Keyboard.button('x') and true then end",
        "local a = Keyboard.button('x') + 1 print(a)",
        "local a = true and Keyboard.button('x') == 1",
        "if Keyboard.pressed('x') then end",
    ] {
        check(text, "");
    }
}

#[test]
fn unknown_fields_of_own_modules_are_found() {
    let hero = "local Hero = { speed = 1 }\nfunction Hero.jump() end\n\
                function Hero:run() end\nreturn Hero";
    let wanted = "2: the module 'actors.hero' has no 'jmp', did you mean 'jump'?";
    let main =
        "local Hero = require 'actors.hero'\nHero.jmp() Hero.jump() Hero:run() print(Hero.speed)";
    assert_eq!(game(&[("actors/hero.lua", hero), ("main.lua", main)]), [wanted]);
    let read = "local Hero = require 'actors.hero' local f = Hero.fly print(Hero.fly, f)";
    assert_eq!(game(&[("actors/hero.lua", hero), ("main.lua", read)]), [""; 0]);
    let added = "local Hero = require 'actors/hero' Hero.fly = 1 print(Hero.fly)";
    assert_eq!(game(&[("actors/hero.lua", hero), ("main.lua", added)]), [""; 0]);
    let open = "local Hero = {} for k, v in pairs({}) do Hero[k] = v end return Hero";
    assert_eq!(game(&[("actors/hero.lua", open), ("main.lua", main)]), [""; 0]);
    let literal = "return { jump = function() end, run = 1, speed = 2 }";
    assert_eq!(game(&[("actors/hero.lua", literal), ("main.lua", main)]), [wanted]);
    let early = "if x then return { jmp = 1 } end return { jump = 1 }";
    assert_eq!(game(&[("actors/hero.lua", early), ("main.lua", main)]), [""; 0]);
    let own = "local Hero = {}\nfunction Hero:init() self.jmp = 1 end\n\
               function Hero:run() setmetatable({}, self) end\nreturn Hero";
    assert_eq!(game(&[("actors/hero.lua", own), ("main.lua", main)]).len(), 1, "only of jump");
    let class = "local Hero = setmetatable({}, {}) return Hero";
    assert_eq!(game(&[("actors/hero.lua", class), ("main.lua", main)]), [""; 0]);
}

#[test]
fn fields_that_functions_give_a_module_are_no_findings() {
    let main = "local M = require 'm'\nM:init() M.fly()";
    let check = |module: &str, wanted: usize| {
        let found = game(&[("m.lua", module), ("main.lua", main)]);
        assert_eq!(found.len(), wanted, "{module}: {found:?}");
    };
    check("local M = {} function M:init() end return M", 1);
    check("local M = {} function M:init() self.fly = print end return M", 0);
    check("local M = {} function M:init(k) self[k] = print end return M", 0);
    check("local M = {} function M:init() return self[1] end return M", 1);
    check("local M = {} function M:init() print(self) end return M", 0);
    check("local M = {} function M.init(m) m.fly = print end return M", 0);
    check("return { init = function(m) m.fly = print end }", 0);
    check("return { init = m -> do m['fly'] = print end }", 0);
    // A function that no method call reaches gets another table.
    let dots = "local M = require 'm'\nM.init({}) M.fly()";
    let module = "local M = {} function M.init(m) m.fly = print end return M";
    assert_eq!(game(&[("m.lua", module), ("main.lua", dots)]).len(), 1);
    let other = "local M = require 'm' function M:more() self.fly = print end";
    let module = "local M = {} function M:init() end return M";
    let scripts = [("m.lua", module), ("other.lua", other), ("main.lua", main)];
    assert_eq!(game(&scripts), [""; 0]);
}

#[test]
fn globals_that_nothing_reads_are_warnings() {
    let check = |text: &str, wanted: &[&str]| {
        assert_eq!(checked(&[("main.lua", text)], false), wanted, "{text}");
    };
    check("lost = 1\nfunction init() end", &["1: no script reads the global 'lost'"]);
    check("function helper() end", &["1: no script reads the global 'helper'"]);
    let wanted = "1: no script reads the global 'scroe', did you mean 'score'?";
    check("score = 1 scroe = 2 print(score)", &[wanted]);
    check("a = 1 print(a) _b = 2 c = 3 print(_G.c)", &[]);
    check("a = 1 local function f(name) return _G[name] end f('a')", &[]);
    let other = [("main.lua", "shared = 1"), ("other.lua", "print(shared)")];
    assert_eq!(checked(&other, false), [""; 0]);
}

#[test]
fn missing_resources_in_certain_positions_are_found() {
    let missing = "1: there is no unit 'units/x'";
    check("local w = 1 World.spawn_unit(w, 'units/x')", missing);
    check("World.spawn_unit(1, 'here') World.spawn_level(1, 'here')", "");
    check("Gui.bitmap(1, \"ship\", 2)", "1: there is no material or texture 'ship'");
    check("Gui.text(1, 'any text', 'fonts/x', 9)", "1: there is no font 'fonts/x'");
    check("Sound.trigger(1, 'boom')", "1: there is no sound 'boom'");
    for text in [
        "local name = 'x' World.spawn_unit(1, name) World.spawn_unit(1, 'units/' .. name)",
        "World.spawn_unit(1, 'units\\047x')",
        "if Application.can_get('unit', 'units/x') then World.spawn_unit(1, 'units/x') end",
        "local can = Application.can_get if can('unit', 'x') then World.spawn_unit(1, 'x') end",
        "local World = { spawn_unit = print } World.spawn_unit(1, 'units/x')",
        "print(Texture.exists('x'))",
    ] {
        check(text, "");
    }
    let suite = "World.spawn_unit(1, 'units/x')";
    assert_eq!(checked(&[("main.lua", ""), ("a_test.lua", suite)], false), [""; 0]);
}

#[test]
fn locals_that_stand_for_modules_are_followed() {
    let wanted = "World has no function 'updte', did you mean 'update'?";
    for text in [
        "local World = World World.updte(w)",
        "local W = World local V = W V.updte(w)",
        "local Unit, W = Unit, World W.updte(w)",
        "local W = _G.World function update() W.updte(w) end",
        "local all = _G local W = all.World W.updte(w)",
        "require 'stingray' local W = stingray.World W.updte(w)",
        "require 'stingray' stingray.World.updte(w)",
        "local stingray = stingray or _G local W = stingray.World W.updte(w)",
        "require 'stingray' local stingray = stingray || _G stingray.World.updte(w)",
        "_G.World.updte(w)",
        "local function f() local W = World return W.updte(w) end f()",
    ] {
        check(&text.replace("(w)", "(1)"), &format!("1: {wanted}"));
    }
    let missing = "1: there is no unit 'units/x'";
    check("local W = World W.spawn_unit(1, 'units/x') W.spawn_unit(1, 'here')", missing);
    check("local s = stingray or _G local W = s.World W.spawn_unit(1, 'units/x')", missing);
    let button =
        "1: Keyboard.button returns a number, and 0 is true in Lua: write Keyboard.held(…)";
    check("local K = Keyboard if K.button('x') then end", button);
    let layer = "1: there is no global 'SwipeDirection': require \"stingray\" adds it";
    check("local S = _G.SwipeDirection S.LEFT()", layer);
}

#[test]
fn locals_that_can_be_another_value_are_not_followed() {
    for text in [
        "local W = World W = { updte = print } W.updte(1)",
        "local W = World function W.updte() end W.updte(1)",
        "local W = World local function f(name, g) W[name] = g end f('updte') W.updte(1)",
        "local W = World print(W) W.updte(1)",
        "World = { updte = print } local W = World W.updte(1)",
        "_G.World = { updte = print } local W = World W.updte(1)",
        "local W = World or Unit W.updte(1)",
        "local W = World and Unit W.updte(1)",
        "local W = (World) W.updte(1)",
        "local W = World if W.updte then W.updte2 = 1 end",
        "local function f(World) World.updte(1) end f({})",
        "local W = Unknown W.updte(1)",
        "local s = stingray s = { World = { updte = print } } s.World.updte(1)",
        "local all = _G all.score = 1 print(all.score, score, all.other)",
        "local unpack = unpack or table.unpack print(unpack({}))",
        "if _G.love then _G.love.update(1) end",
        "local a = _G.future local b = _G.future.x print(a, b)",
        "local S = SwipeDirection if S then print(S.LEFT) end",
    ] {
        check(text, "");
    }
    check("_G.foo.bar()", "1: there is no global 'foo'");
}

#[test]
fn names_of_the_porting_layer_exist_in_games_that_require_it() {
    let uses = "Unit.flow_event(1, 'x') World.load_level(1, 'here') Imgui.text('x')
        print(ShadingEnvironment.scalar(1, 'x'), Wwise.has_event('x'), SwipeDirection.LEFT)
        stingray.Unit.flow_event(1, 'x') stingray.Wwise.has_event('x') local W = stingray.Wwise
        Unit.set_vector2_for_materials(1, 'x', 2) print(Application.DISABLE_PHYSICS, W.has_event(1))
        stingray.score = 1 print(score, stingray.other)";
    for require in ["require 'stingray'", "local S = require(\"core/stingray\")"] {
        check(&format!("{require} {uses}"), "");
    }
    let parts = [("main.lua", "require 'parts.all'"), ("parts/all.lua", "require 'stingray'")];
    assert_eq!(game(&[parts[0], parts[1], ("level.lua", uses)]), [""; 0]);
    check(
        "require 'stingray' Wwise.has_evnt(1) stingray.Unit.flow_evnt(1) stingray.Wrld.x()",
        "1: Wwise has no function 'has_evnt', did you mean 'has_event'?\n\
         1: Unit has no function 'flow_evnt', did you mean 'flow_event'?\n\
         1: there is no global 'Wrld', did you mean 'World'?",
    );
}

#[test]
fn names_of_the_porting_layer_name_it_in_games_without_it() {
    let check = |text: &str, wanted: &str| {
        let found = findings(text).join("\n");
        assert!(found.starts_with(wanted), "{text}: {found}");
    };
    let layer = "require \"stingray\" adds it";
    check(
        "Unit.set_scalar_for_material(1, 'x', 'y', 2)",
        &format!("1: Unit has no function 'set_scalar_for_material': {layer} (Sti"),
    );
    check("stingray.Unit.alive(1)", &format!("1: there is no global 'stingray': {layer}"));
    check("local A = stingray.Unit", &format!("1: there is no global 'stingray': {layer}"));
    check("Wwise.set_state('a', 'b')", &format!("1: there is no global 'Wwise': {layer}"));
    check(
        "Window.set_mouse_focus(1)",
        "1: Window has no function 'set_mouse_focus' (Stingray: not",
    );
    // The game has a module of that name.
    let own = [
        ("main.lua", "require 'stingray' Unit.teleport_local_scale(1)"),
        ("stingray.lua", "return 1"),
    ];
    assert_eq!(game(&own).len(), 1);
}

#[test]
fn scripts_that_are_not_understood_have_no_findings() {
    for text in ["prnt(", "local = 3 prnt()", "if x then", "'", &"(".repeat(10_000)] {
        check(text, "");
    }
    let deep = format!("local a = {}1{}", "(".repeat(5000), ")".repeat(5000));
    check(&deep, "");
    check(&format!("local a = 1{}", " + 1".repeat(50_000)), "");
    check(&format!("local a = {{}} a{} = 1", ".x".repeat(50_000)), "");
}

#[test]
fn scripts_of_the_project_have_no_findings() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = std::fs::read_dir(root.join("examples")).expect("it can be read");
    let folders = entries.flatten().filter(|entry| entry.path().is_dir());
    let examples: Vec<String> =
        folders.map(|entry| format!("examples/{}", entry.file_name().display())).collect();
    for game in examples.iter().map(String::as_str).chain(["game_template"]) {
        let found = engine_resource::folder_scan::files(&root.join(game)).expect("it can be read");
        let paths = found.files.iter().filter(|file| file.path.ends_with(".lua"));
        let texts: Vec<(String, String)> = paths
            .map(|file| {
                let text = std::fs::read_to_string(root.join(game).join(&file.path));
                (file.path.clone(), text.expect("it can be read"))
            })
            .collect();
        let scripts: Vec<LintScript> =
            texts.iter().map(|(path, text)| LintScript { path, text }).collect();
        assert!(scripts.len() > 1, "{game}");
        assert!(scripts.iter().all(|script| parser::parse(script.text).is_some()), "{game}");
        let missing = |_: &[&str], _: &str| None;
        let checked = LintGame { scripts: &scripts, has_other_languages: false, missing: &missing };
        assert_eq!(lint(&checked), [], "{game}");
    }
}

#[test]
fn created_resources_are_literals_or_any_text_of_the_scripts() {
    let creators = ResourceCreators::of_api();
    let check = |texts: &[&str], wanted: &[&str]| {
        let created = creators.created_by(texts);
        let names = ["map", "view", "tiles/rock", "tiles/9"];
        let found: Vec<&str> = names
            .into_iter()
            .filter(|name| created.contains(&ResourceName::new("texture", name)))
            .collect();
        assert_eq!(found, wanted, "{texts:?}");
    };
    check(&["local a = 'tiles/rock'"], &[]);
    check(&["World.create_texture_gui(w, 'map', 8, 8) local a = 'tiles/rock'"], &["map"]);
    check(&["Application.create_viewport('view', 8, 8) Application.create_viewport()"], &["view"]);
    check(&["image:to_texture('map', {}) image:to_texture 'view'"], &["map", "view"]);
    let alias = "local W = stingray.World W.create_texture_gui(w, 'map', 8, 8)";
    check(&[alias, "local a = 'tiles/rock'"], &["map"]);
    let other = "Gui.bitmap(gui, 'tiles/rock')";
    for prefixed in ["Image.to_texture(image, 'tiles/' .. i)", "image:to_texture('tiles/' .. i)"] {
        check(&[prefixed, other], &["tiles/rock", "tiles/9"]);
    }
    for computed in [
        "local name = 'map' World.create_texture_gui(w, name, 8, 8)",
        "local create = World.create_texture_gui create(w, 'map')",
        "local name = 'map' image:to_texture(name)",
    ] {
        check(&[computed, other], &["map", "tiles/rock"]);
    }
    check(&["local = 'map'", other], &["map"]);
    check(&["SoundBuffer.to_sound(buffer, name)", other], &[]);
}
