//! Pages with pictures of two versions: units as they look in the game, materials, textures, and
//! what is said where no picture can be made.

use super::game;
use crate::game_folder::{GameFolder, combined_output};
use crate::remote::browser::{has_adapter, skip};
use engine::resource::image::encode_png;
use std::fs;
use std::time::{Duration, Instant};

/// Writes a page, and returns it with the messages of the command.
fn page(folder: &GameFolder, arguments: &[&str]) -> (String, String) {
    let all = [&["diff"], arguments, &["--html", "page.html"]].concat();
    let (code, _, errors) = folder.engine(&all);
    assert_eq!(code, 0, "{errors}");
    (fs::read_to_string(folder.join("page.html")).unwrap(), errors)
}

fn pictures(page: &str) -> usize {
    page.matches("src=\"data:image/png;base64,").count()
}

#[test]
fn pages_show_units_and_materials_as_in_the_game() {
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let folder = game("drawn-units");
    folder.write("units/shape.unit", "inherit = \"core/units/cube\"\n");
    folder.write("old.unit", "inherit = \"core/units/sphere\"\n");
    folder.write("glow.material", "surface = { base_color = \"#ff8000\" }\n");
    folder.write("old.material", "surface = { base_color = \"#0080ff\" }\n");
    let (text, _) = page(&folder, &["old.unit", "units/shape.unit"]);
    // Before, after, and the texels that differ.
    assert_eq!(pictures(&text), 3, "{text}");
    assert!(text.contains("texels differ") && text.contains("<td>inherit (changed)"), "{text}");
    let (text, _) = page(&folder, &["old.material", "glow.material"]);
    assert_eq!(pictures(&text), 3, "{text}");
    // A version that cannot be drawn has a reason, and the other one its picture.
    folder.write("old.unit", "inherit = \"units/nowhere\"\n");
    let (text, _) = page(&folder, &["old.unit", "units/shape.unit"]);
    assert_eq!(pictures(&text), 1, "{text}");
    assert!(text.contains("<p>no picture: "), "{text}");
    // Versions elsewhere, as git makes them.
    let other = GameFolder::new("content", "drawn-elsewhere");
    other.write("a/old.unit", "inherit = \"core/units/cone\"\n");
    let old = other.join("a/old.unit").display().to_string();
    let arguments = [&old, &old, "--game", ".", "--path", "units/shape.unit"];
    let (text, _) = page(&folder, &arguments);
    assert!(text.contains("0 texels differ"), "{text}");
    // The copies are removed.
    fs::create_dir(other.join("temporary")).unwrap();
    let arguments = ["diff", "old.material", "glow.material", "--html", "page.html"];
    let mut command = folder.command(&arguments);
    let (code, _) = combined_output(command.env("TMPDIR", other.join("temporary")));
    assert_eq!(code, Some(0));
    assert_eq!(fs::read_dir(other.join("temporary")).unwrap().count(), 0);
}

#[test]
fn textures_texts_and_graphs_are_compared_by_their_form() {
    let folder = game("drawn-textures");
    for (name, light) in [("old.png", 200), ("new.png", 100)] {
        fs::write(folder.join(name), encode_png(2, 1, &[light; 8])).unwrap();
    }
    let (text, _) = page(&folder, &["old.png", "new.png"]);
    assert_eq!(pictures(&text), 3);
    let (code, out, _) = folder.engine(&["diff", "old.png", "new.png", "--exit-code"]);
    assert_eq!((code, out.contains("2 differ, by at most 100 of 255")), (1, true), "{out}");
    folder.write("old.lua", "local a = 1\nreturn a\n");
    folder.write("new.lua", "local a = 2\nreturn a\n");
    let (_, out, _) = folder.engine(&["diff", "old.lua", "new.lua"]);
    assert_eq!(out, "line 1\n  - local a = 1\n  + local a = 2\n");
    folder.write("old.flow", "nodes = { n1 = { type = \"if\" } }\n");
    folder.write("new.flow", "nodes = { n1 = { type = \"print\" } }\n");
    let (text, _) = page(&folder, &["old.flow", "new.flow"]);
    assert!(text.contains("data:image/svg+xml;base64,"), "{text}");
    // A damaged file is compared by lines, and the reason is said.
    folder.write("broken.unit", "name = {\n");
    folder.write("whole.unit", "name = \"a\"\n");
    let (code, out, errors) = folder.engine(&["diff", "broken.unit", "whole.unit"]);
    assert!(code == 0 && out.starts_with("line 1\n"), "{out}");
    assert!(
        errors.contains("note: compared by lines: the old version has an error: line 1"),
        "{errors}"
    );
}

#[test]
fn written_pages_and_pictures_are_named() {
    let folder = game("written");
    folder.write("old.flow", "nodes = { n1 = { type = \"flow.once\" } }\n");
    folder.write("new.flow", "nodes = { n1 = { type = \"flow.latch\" } }\n");
    let run = |new: &str, option: &str, file: &str| {
        let (code, out, errors) = folder.engine(&["diff", "old.flow", new, option, file]);
        assert_eq!(code, 0, "{errors}");
        out
    };
    assert_eq!(run("new.flow", "--html", "page.html"), "page.html: written, with 1 change\n");
    assert_eq!(run("old.flow", "--html", "page.html"), "page.html: written, with no changes\n");
    assert_eq!(run("new.flow", "--svg", "graph.svg"), "graph.svg: written, with 1 change\n");
    let missing = ["diff", "old.flow", "new.flow", "--html", "missing/page.html"];
    let (code, out, errors) = folder.engine(&missing);
    assert!(code == 1 && out.is_empty() && errors.contains("cannot be written"), "{out}{errors}");
}

#[test]
fn drawn_versions_use_old_names_and_change_no_saves() {
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let folder = game("drawn-saves");
    folder.write("redirects.sjson", "\"units/ball.unit\" = \"units/round.unit\"\n");
    folder.write("units/round.unit", "inherit = \"core/units/sphere\"\n");
    folder.write(
        "components/saver.lua",
        "return { spawned = function() Save.write(\"drawn\", { value = 1 }) end }\n",
    );
    let unit = "inherit = \"units/ball\"\ncomponents = { saver = {} }\n";
    folder.write("units/new.unit", unit);
    folder.write("old.unit", "inherit = \"core/units/cube\"\n");
    let saves = folder.join("saves");
    let arguments = ["diff", "old.unit", "units/new.unit", "--html", "page.html"];
    let mut command = folder.command(&arguments);
    let (code, output) = combined_output(command.env("ENGINE_SAVE_DIR", &saves));
    assert_eq!(code, Some(0), "{output}");
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert_eq!(pictures(&page), 3, "{page}");
    assert!(!saves.exists(), "the saves of the player stay as they are");
    // The same component writes them in a run of the game.
    folder.write("main.lua", "World.spawn_unit(Application.new_world(), \"units/new\")\n");
    let mut command = folder.command(&["run", ".", "--headless", "--frames", "2"]);
    let (code, output) = combined_output(command.env("ENGINE_SAVE_DIR", &saves));
    assert_eq!((code, saves.exists()), (Some(0), true), "{output}");
}

#[test]
fn a_picture_that_is_missing_has_the_reason_of_its_run() {
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let folder = game("drawn-errors");
    folder
        .write("components/broken.lua", "return { spawned = function() error(\"no luck\") end }\n");
    folder.write("units/new.unit", "components = { broken = {} }\n");
    folder.write("old.unit", "inherit = \"core/units/cube\"\n");
    let (text, _) = page(&folder, &["old.unit", "units/new.unit"]);
    assert!(text.contains("components/broken.lua:1: no luck"), "{text}");
}

#[test]
fn a_page_in_the_browser_is_drawn_again_and_closed() {
    use super::merge_page::WaitingPage;
    let folder = game("page");
    folder.write("old.lua", "local a = 1\n");
    folder.write("new.lua", "local a = 2\n");
    let mut page = WaitingPage::start(&folder, &["diff", "old.lua", "new.lua", "--page"]);
    let first = page.ask("");
    assert!(first.starts_with("HTTP/1.1 200") && first.contains("local a = 2"), "{first}");
    folder.write("new.lua", "local a = 3\n");
    assert!(page.ask("").contains("local a = 2"));
    assert!(page.ask("/again").contains("local a = 3"));
    fs::remove_file(folder.join("new.lua")).unwrap();
    assert!(page.ask("/again").contains("'new.lua' cannot be read"));
    assert!(page.ask("").contains("local a = 3"), "the last page stays");
    assert!(page.ask("/close").contains("You can close this page."));
    assert_eq!(page.process.wait().unwrap().code(), Some(0));
}

#[test]
fn a_page_that_is_closed_during_a_drawing_leaves_no_copies() {
    use super::merge_page::WaitingPage;
    let folder = game("page-closed");
    folder.write("old.unit", "inherit = \"core/units/cube\"\n");
    let arguments = ["diff", "old.unit", "units/box.unit", "--page"];
    let mut page = WaitingPage::start(&folder, &arguments);
    let name = format!("engine-{}-diff-", page.process.id());
    let copies = || {
        let entries = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        entries.filter(|it| it.file_name().to_string_lossy().starts_with(&name)).count()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| page.ask("/again"));
        // Without an adapter, a drawing may end before it is seen.
        let end = Instant::now() + Duration::from_secs(10);
        while copies() == 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(page.ask("/close").contains("You can close this page."));
    });
    assert_eq!(page.process.wait().unwrap().code(), Some(0));
    assert_eq!(copies(), 0);
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let folder = game("refused-options");
    for arguments in [
        &["diff", "--textconv", "main.lua", "--path", "main.lua"][..],
        &["diff", "--textconv", "main.lua", "--output", "json"],
        &["diff", "main.lua", "main.lua", "--html", "page.html", "--output", "json"],
        &["diff", "main.lua", "main.lua", "--svg", "graph.svg", "--output", "json"],
    ] {
        let (code, _, errors) = folder.engine(arguments);
        assert!(code == 2 && errors.contains("cannot be used with"), "{errors}");
    }
}

#[test]
fn a_deleted_file_is_drawn_or_has_the_reason() {
    let folder = game("drawn-deleted");
    folder.write("old.unit", "inherit = \"core/units/cube\"\n");
    let elsewhere = std::env::temp_dir().join("gone.unit").display().to_string();
    for (path, in_game) in
        [("units/gone.unit", true), ("gone/gone.unit", true), (&*elsewhere, false)]
    {
        let (text, _) = page(&folder, &["old.unit", "/dev/null", "--path", path]);
        assert_eq!(text.contains("is in no game: give --game and --path"), !in_game, "{text}");
        // Without an adapter, the page says why there is no picture.
        let is_drawn = pictures(&text) == 1 || text.contains("<p>no picture: ");
        assert_eq!(is_drawn, in_game, "{path}: {text}");
    }
}
