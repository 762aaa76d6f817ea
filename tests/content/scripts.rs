//! `engine script`: a Lua file that changes the data of many resources.

use super::{PICTURE, game};
use crate::game_folder::GameFolder;
use std::fs;

fn text(game: &GameFolder, path: &str) -> String {
    fs::read_to_string(game.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

const LAMP: &str = "components = {
  light = { type = \"omni\" intensity = 2 }   // warm
  list = { data = [] empty = {} }
}
";
const BRIGHTER: &str = "return function(resource)
  local components = resource.kind == 'unit' and resource.data.components or {}
  for name, block in pairs(components) do
    if (block.component or name) == 'light' then block.intensity = (block.intensity or 1) * 2.5 end
  end
end
";

#[test]
fn a_script_changes_the_data_of_all_resources() {
    let game = game("script");
    game.write("units/lamp.unit", LAMP);
    game.write("brighter.lua", BRIGHTER);
    let (code, out, errors) = game.engine(&["script", "brighter.lua", ".", "--preview"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    assert_eq!(
        out,
        "units/lamp.unit\ncomponents.light.intensity\n  - 2\n  + 5\n1 file would change\n"
    );
    assert_eq!(text(&game, "units/lamp.unit"), LAMP, "a preview changes nothing");
    let (code, out, errors) = game.engine(&["script", "brighter.lua"]);
    assert_eq!(code, 0, "{errors}");
    assert!(out.ends_with("1 file changed: `engine undo .` takes it back\n"), "{out}");
    assert_eq!(text(&game, "units/lamp.unit"), LAMP.replace("= 2 ", "= 5 "));
    assert_eq!(game.engine(&["undo"]).1, "undone: script brighter.lua\n");
    assert_eq!(text(&game, "units/lamp.unit"), LAMP);
}

#[test]
fn a_script_gets_sizes_of_pictures_and_adds_sources() {
    let game = game("script_new");
    game.write("textures/leaf.png", PICTURE);
    game.write(
        "mips.lua",
        "return function(resource)\n  if resource.kind == 'texture' and resource.name:find('leaf') \
         then\n    assert(resource.width > 1 and resource.height > 1 and not resource.data)\n    \
         assert(resource.files[1] == 'textures/leaf.png')\n    resource.data = { filter = \
         'nearest' }\n  end\nend\n",
    );
    let (code, out, errors) = game.engine(&["script", "mips.lua", ".", "--output", "json"]);
    assert_eq!(code, 0, "{out}{errors}");
    assert!(out.contains("\"path\": \"textures/leaf.texture\""), "{out}");
    assert_eq!(text(&game, "textures/leaf.texture"), "filter = \"nearest\"\n");
    assert_eq!(game.engine(&["undo"]).0, 0);
    assert!(!game.join("textures/leaf.texture").exists());
}

#[test]
fn a_script_with_an_error_changes_nothing() {
    let game = game("script_error");
    game.write("units/lamp.unit", LAMP);
    game.write("units/broken.unit", "x = [\n");
    let fails = |script: &str, wanted: &str| {
        game.write("s.lua", script);
        let (code, out, errors) = game.engine(&["script", "s.lua"]);
        assert_eq!(code, 1, "{script}: {out}{errors}");
        assert!(errors.contains(wanted), "{script}: {errors}");
        assert_eq!(text(&game, "units/lamp.unit"), LAMP);
    };
    fails("return function(", "s.lua:1");
    fails("return 5", "s.lua: it must return a function, which gets each resource");
    fails("return function(r) r.data.components.x.y = 1 end", "s.lua:1");
    fails("return function(r) r.data = nil end", "the script removed the data: use `engine rm`");
    fails("return function(r) r.data = { 1, a = 2 } end", "a list or have names as keys");
    fails(
        "return function(r) if r.kind == 'unit' then r.data.components.x = { 1, print } end end",
        "units/box.unit: data.components.x[2] must be plain data (booleans, numbers, strings, \
         tables), got function",
    );
    fails("return function(r) r.data = { r.name } end", "must stay a list or an object");
    fails("return function(r) io.open('/etc/passwd') end", "io");
    fails("return function(r) while true do end end", "seconds of CPU time");
    let (code, _, errors) = game.engine(&["script", "none.lua"]);
    assert_eq!(code, 1);
    assert!(errors.contains("'none.lua' cannot be read"), "{errors}");
    // A source with an error is left out, and the others go on.
    game.write("s.lua", BRIGHTER);
    let (code, out, errors) = game.engine(&["script", "s.lua"]);
    assert_eq!(code, 0, "{errors}");
    assert!((out + &errors).contains("left out: units/broken.unit:1:5"), "{errors}");
    assert!(text(&game, "units/lamp.unit").contains("= 5 "));
}

#[test]
fn a_script_without_an_end_is_stopped_with_advice() {
    let game = game("script_endless");
    game.write("endless.lua", "return function() while true do end end\n");
    let (code, _, errors) = game.engine(&["script", "endless.lua", ".", "--seconds", "0.2"]);
    assert_eq!(code, 1, "{errors}");
    let advice = "stopped: this ran for 0.2 seconds of CPU time without an end (if it needs more, \
                  give engine script a larger number with --seconds)";
    assert!(errors.contains(advice), "{errors}");
    let (code, _, errors) = game.engine(&["script", "endless.lua", ".", "--seconds", "nan"]);
    assert!(code == 2 && errors.contains("give a number from 0.001"), "{errors}");
}

/// Returns the scripts of the manual's page: name and text.
fn scripts_of_the_manual() -> Vec<(String, String)> {
    let page = include_str!("../../docs/content_tools.md");
    let blocks = page.split("```lua\n-- ").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    blocks.map(|text| (text.split_once(':').unwrap().0.into(), format!("-- {text}"))).collect()
}

#[test]
fn scripts_of_the_manual_have_its_results() {
    let game = game("script_manual");
    game.write("units/lamp.unit", LAMP);
    // 12 by 10.
    game.write("plants/fern.png", include_bytes!("../../examples/arcade/pictures/helmet.png"));
    let scripts = scripts_of_the_manual();
    assert_eq!(scripts.len(), 3);
    for (name, script) in &scripts {
        game.write(name, script);
        let (code, out, errors) = game.engine(&["script", name, "."]);
        assert_eq!((code, errors.as_str()), (0, ""), "{name}: {out}");
        let wanted = match name.as_str() {
            "brighter.lua" => {
                assert!(include_str!("../../docs/content_tools.md").contains(&out[..70]), "{out}");
                "intensity\n  - 2\n  + 2.2\n1 file changed"
            }
            "sizes.lua" => "plants/fern.texture\t12\t10\n",
            _ => {
                assert_eq!(text(&game, "plants/fern.texture"), "max_size = 6\n");
                "plants/fern.texture"
            }
        };
        assert!(out.contains(wanted), "{name}: {out}");
    }
}
