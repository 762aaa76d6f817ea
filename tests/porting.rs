//! Checks docs/coming_from_stingray.md against the API: every function that games of that engine
//! family call most is on the page, what the page calls the same exists, what it names instead
//! exists, and the porting layer has what the page lists. Also checks the errors about names and
//! arguments of that family, and a game that uses the layer.

use crate::game_folder::GameFolder;
use engine::script::docgen::model::ApiModel;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../docs/coming_from_stingray.md");

/// Number of functions on the page that are called most.
const MOST_CALLED: usize = 150;

/// Starts of the cells about functions that exist here.
const EXISTING: [&str; 4] = ["the same", "exist", "both return", "an error"];

/// Returns the part of the page under a heading.
fn section(heading: &str) -> &'static str {
    let start = format!("## {heading}\n");
    let (_, rest) = PAGE.split_once(&start).unwrap_or_else(|| panic!("no section '{heading}'"));
    rest.split("\n## ").next().unwrap_or(rest)
}

/// Returns the rows of the tables in a part of the page, each as its two cells.
fn rows(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let cells = |line: &'static str| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ");
    text.lines().filter_map(cells).filter(|(there, _)| !["There", "Part"].contains(there))
}

/// Returns what is written as code in a text.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the name `Module.function` or `Module()` at the start of a piece of code.
fn name_of(code: &str) -> Option<String> {
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
    let (name, rest) = code.split_at(end.unwrap_or(code.len()));
    let is_module = name.starts_with(|c: char| c.is_ascii_uppercase());
    match (is_module, name.contains('.') && !name.ends_with('.')) {
        (true, true) => Some(name.to_string()),
        (true, false) if rest == "()" => Some(code.to_string()),
        _ => None,
    }
}

/// Returns the names of everything that a game can call or read.
fn api() -> BTreeSet<String> {
    let api = ApiModel::new();
    let mut names: BTreeSet<String> = api.functions().map(|function| function.path()).collect();
    for module in &api.modules {
        if !module.class.calls.is_empty() {
            names.insert(format!("{}()", module.name));
        }
        names.extend(
            module.class.fields.iter().map(|field| format!("{}.{}", module.name, field.name)),
        );
    }
    names
}

#[test]
fn most_called_functions_match_their_page() {
    let (api, text) = (api(), section("The most-called functions"));
    let mut names = BTreeSet::new();
    let mut take = |name: &str, exists: bool| {
        assert!(names.insert(name.to_string()), "{name} is there twice");
        assert_eq!(api.contains(name), exists, "{name}: exists here, or does not");
    };
    for (there, here) in rows(text) {
        let exists = EXISTING.iter().any(|start| here.starts_with(start));
        codes(there).for_each(|name| take(name, exists));
    }
    let (_, same) = text.split_once("\nThe same: ").expect("the list of functions");
    codes(same).for_each(|name| take(name, true));
    assert_eq!(names.len(), MOST_CALLED);
}

#[test]
fn functions_that_the_page_names_instead_exist() {
    let (api, layer) = (api(), section("The porting layer"));
    let before = PAGE.split(layer).next().expect("the tables are before it");
    let mut unknown = Vec::new();
    for (there, here) in rows(before) {
        let names = codes(here).filter_map(name_of);
        let missing = names.filter(|name| !api.contains(name));
        unknown.extend(missing.map(|name| format!("{name}, in place of {there}")));
    }
    assert!(unknown.is_empty(), "these do not exist:\n  {}", unknown.join("\n  "));
}

#[test]
fn the_porting_layer_matches_its_page() {
    let mut main = String::from("require('stingray')\nlocal missing = {}\n");
    let mut count = 0;
    for (_, adds) in rows(section("The porting layer")) {
        for name in codes(adds).filter_map(name_of) {
            main += &format!("if {name} == nil then missing[#missing + 1] = '{name}' end\n");
            count += 1;
        }
    }
    assert!(count > 50, "{count} names");
    main += "print('missing: ' .. table.concat(missing, ', '))\n";
    let folder = GameFolder::new("porting", "layer");
    std::fs::write(folder.join("main.lua"), main).unwrap();
    let (code, out, err) = folder.engine(&["run", ".", "--headless", "--frames", "1"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(out.trim(), "missing:");
}

#[test]
fn functions_that_do_not_exist_are_answered() {
    let folder = GameFolder::new("porting", "answers");
    let check = |call: &str, message: &str, remedy: &str| {
        std::fs::write(folder.join("main.lua"), format!("{call}\n")).unwrap();
        let (code, _, err) = folder.engine(&["run", ".", "--headless", "--frames", "1"]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains(message) && err.contains(remedy), "{call}: {err}");
    };
    let unit = "Unit has no function 'set_scalar_for_material";
    check("Unit.set_scalar_for_material(1, 'a', 'b', 2)", unit, "Material.set_scalar");
    let layer = "': require \"stingray\" adds it (Stingray: ";
    let items = "Unit has no function 'num_scene_graph_items";
    check("Unit.num_scene_graph_items(1)", items, layer);
    check("Wwise.set_state('a', 'b')", "there is no global 'Wwise", layer);
    check("local A = stingray.Application", "there is no global 'stingray", layer);
    check("Window.set_mouse_focus(1)", "no function 'set_mouse_focus' (", "the desktop decides");
    let loaded = "require('stingray') ";
    check(
        &format!("{loaded}ShadingEnvironment.bloom()"),
        "no function 'bloom'",
        "ShadingEnvironment",
    );
    check(&format!("{loaded}ShadingEnvironment.appl()"), "no function 'appl'", "mean 'apply'?");
    check("Unit.set_scalar_for_materials(1, 'b', 2)", unit, "Material.set_scalar");
    check("World.set_flow_enabled(1)", "World has no function", "run in World.update");
    check("Application.set_autoload_enabled(1)", "Application has no", "loaded when they are");
    check("Vector3Aux.unbox({})", "there is no global 'Vector3Aux'", "Vectors are values and can");
    check("print(script_data.x)", "there is no global 'script_data'", "Application.argv");
    check("World.storyteller(1)", "World has no function 'storyteller'", "Tween.to");
    check("Level.unit_by_id(1, 2)", "Level has no function 'unit_by_id'", "Level.unit_by_index");
    check("print(Vector3() + Vector2())", "cannot add Vector3 and Vector2", "Vector3(v.x, v.y, 0)");
}

#[test]
fn arguments_of_the_family_are_answered() {
    let folder = GameFolder::new("porting", "arguments");
    let check = |code: &str, message: &str, remedy: &str| {
        let camera = "local world = Application.main_world() local unit = World.spawn_unit(world, \
                      'core/units/camera') local camera = Unit.camera(unit, 1)";
        std::fs::write(folder.join("main.lua"), format!("{camera}\n{code}\n")).unwrap();
        let (code, _, err) = folder.engine(&["run", ".", "--headless", "--frames", "1"]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains(message) && err.contains(remedy), "{code}: {err}");
    };
    let layer = "; require \"stingray\" takes its arguments; engine docs coming_from_stingray)";
    check("Application.create_viewport(world, 'default')", "got World#0 (Stingray: ", layer);
    check("World.create_line_object(world, false)", "takes 1 argument, got 2 (Stingray: ", layer);
    check("Mouse.axis('mouse', Mouse.RAW, 3)", "takes 1 argument, got 3 (Stingray: ", layer);
    check("Pad1.axis(1, 'raw', 1)", "takes 1 argument, got 3 (Stingray: ", "Pad1.set_dead_zone");
    check("Window.set_resizable(1, false)", "(Stingray: the last one: ", layer);
    let pose = "Camera.set_local_pose(camera, unit, Matrix4x4.identity())";
    check(pose, "takes 2 arguments, got 3 (Stingray: a camera knows its unit", layer);
    check(
        &format!("require('stingray') {}", pose.replace("camera, unit", "camera, unit, unit")),
        "Camera.set_local_pose: ",
        "(Stingray: a camera knows its unit: Camera.set_local_pose(camera, pose); engine docs",
    );
    let node = "has the nodes 1 to 1, got 0 (nodes count from 1, and the root is 1)";
    check("Unit.local_position(unit, 0)", node, "argument 'node'");
}

/// A ported game: it uses the layer through globals, `stingray` and locals.
const PORTED: &str = r#"require "stingray"
local stingray = stingray or _G
local World, Unit = stingray.World, Unit
function init()
  local world = stingray.Application.new_world(Application.DISABLE_SOUND)
  local unit = World.spawn_unit_ex(world, "core/units/cube", nil, Vector3(0, 0, 1))
  Unit.flow_event(unit, "spawned")
  print(Unit.num_scene_graph_items(unit))
  stingray.Unit.set_flow_variable(unit, "hp", 3)
  ShadingEnvironment.blend(World.create_shading_environment(world), { "day", 1 })
  for _ = 1, 2 do World.update_animations_with_callback(world, 0.1, print) end
  stingray.WwiseWorld.stop_all(stingray.Wwise.wwise_world(Application.main_world()))
end
"#;

#[test]
fn a_game_that_uses_the_layer_is_checked_and_bundled() {
    let folder = GameFolder::new("porting", "checked");
    std::fs::write(folder.join("main.lua"), PORTED).unwrap();
    let (code, out, err) = folder.engine(&["run", ".", "--headless", "--frames", "1"]);
    assert_eq!(code, 0, "{out}{err}");
    // The line of the game that triggers the event, and no line of the layer.
    assert!(err.contains("warning: main.lua:7: the flow event 'spawned' reaches nothing"), "{err}");
    let callback = "warning: main.lua:11: World.update_animations_with_callback calls nothing: ";
    assert_eq!(err.matches(callback).count(), 1, "{err}");
    let (code, out, err) = folder.engine(&["check", "."]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = folder.engine(&["compile", ".", "--bundle", "--out", "game.bundle"]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = folder.engine(&["run", "game.bundle", "--headless", "--frames", "1"]);
    assert_eq!(code, 0, "{out}{err}");
    let without = PORTED.lines().skip(1).collect::<Vec<_>>().join("\n");
    std::fs::write(folder.join("main.lua"), without).unwrap();
    let (code, out, err) = folder.engine(&["check", "."]);
    assert_eq!(code, 1, "{out}{err}");
    let added =
        "main.lua:7: Unit has no function 'num_scene_graph_items': require \"stingray\" adds";
    let output = out + &err;
    assert!(output.contains(added), "{added}\n{output}");
}
