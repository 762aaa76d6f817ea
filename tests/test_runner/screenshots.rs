//! Tests of screenshots in tests: lists of draw calls and images; files that are written, compared
//! and missing; a lost device.

use super::Scratch;
use std::fs;
use std::io::Write;

const MAIN: &str = "x = 20\nfunction render()\n  local gui = Application.main_gui()\n  \
    Gui.rect(gui, Vector3(x, 10, 0), Vector2(40, 30), Color(255, 0, 0))\n  \
    Gui.text(gui, 'Lives ' .. x, 'core/fonts/default', 16, nil, Vector3(80, 40, 2))\n  \
    Gui.bitmap(gui, 'ship', Vector3(120, 60, 1), Vector2(32, 32))\n  \
    Application.render_world(Application.main_world())\nend\n";
const SETTINGS: &str = "window = { width = 200, height = 120 }";

/// Creates a game with an image of four colors.
fn game(name: &str, suite: &str) -> Scratch {
    let files = [("main.lua", MAIN), ("settings.sjson", SETTINGS), ("ui/hud_test.lua", suite)];
    let scratch = Scratch::new(name, &files);
    let mut rgba = vec![[255u8, 255, 0, 255]; 8 * 8];
    rgba[..32].fill([0, 160, 255, 255]);
    let png = engine::resource::image::encode_png(8, 8, rgba.as_flattened());
    fs::write(scratch.0.join("ship.png"), png).unwrap();
    scratch
}

const DRAW_LIST: &str = "screen 200 x 120
view, ground #000000ff
  rect, layer 0, from 20 10 to 60 40, #ff0000ff
  bitmap \"ship\", layer 1, from 120 60 to 152 92, #ffffffff
";

#[test]
fn draw_list_is_written_and_compared() {
    let suite = "it('shows', function()\n  test.boot()\n  test.frames(1)\n  \
                 test.screenshot('menu')\nend)\n\
                 it('moves', function()\n  _G.x = 21\n  test.frames(1)\n  \
                 test.screenshot('menu')\nend)\n";
    let scratch = game("screenshots", suite);
    // Without a reference, this is reported, and the exit code says that nothing else failed.
    let (code, out, err) = scratch.test(&[".", "--filter", "shows"]);
    assert_eq!(code, 5, "{out}{err}");
    let message = "FAILED shows\n  ui/hud_test.lua:4\n  test.screenshot: there is no \
                 'ui/hud_test.golden/menu.txt' to compare with.\n  Look at \
                 '.engine/screenshots/ui/hud_test.golden/menu.txt', and if it is right: engine \
                 test --update-golden";
    assert!(out.contains(message), "{out}");
    let found = scratch.0.join(".engine/screenshots/ui/hud_test.golden/menu.txt");
    let found = fs::read_to_string(found).unwrap();
    assert!(found.starts_with(DRAW_LIST), "{found}");
    assert!(found.contains("  text \"Lives 20\", layer 2, from "), "{found}");
    let (code, out, err) = scratch.test(&[".", "--filter", "shows", "--update-golden"]);
    assert_eq!(code, 0, "{out}{err}");
    let golden = scratch.0.join("ui/hud_test.golden/menu.txt");
    assert_eq!(fs::read_to_string(&golden).unwrap(), found);
    let (code, out, err) = scratch.test(&[".", "-j", "2"]);
    assert_eq!(code, 1, "{out}{err}");
    assert_eq!(out.lines().last(), Some("1 passed, 1 failed, 0 skipped"), "{out}");
    for message in [
        "'ui/hud_test.golden/menu.txt' shows something else: from line 3 on",
        "- rect, layer 0, from 20 10 to 60 40, #ff0000ff",
        "+ rect, layer 0, from 21 10 to 61 40, #ff0000ff",
        "+ text \"Lives 21\", layer 2",
    ] {
        assert!(out.contains(message), "no '{message}' in:\n{out}");
    }
    // Other line endings make no difference.
    fs::write(&golden, found.replace('\n', "\r\n")).unwrap();
    assert_eq!(scratch.test(&[".", "--filter", "shows"]).0, 0);
}

#[test]
fn image_comparison_survives_a_lost_device() {
    let suite = "it('shows', function()\n  test.boot()\n  test.frames(3)\n  \
                 test.screenshot('menu', { picture = true })\n  test.fault('device lost')\n  \
                 test.screenshot('menu', { picture = true })\n  test.frames(2)\n  \
                 test.screenshot('menu', { picture = true })\nend)\n\
                 it('is another', function()\n  _G.x = 60\n  test.frames(1)\n  \
                 test.screenshot('menu', { picture = true })\nend)\n\
                 it('may be another', function()\n  \
                 test.screenshot('menu', { picture = true, tolerance = 255 })\nend)\n";
    let scratch = game("pictures", suite);
    let (code, out, err) = scratch.test(&[".", "--update-golden", "--filter", "shows"]);
    if out.contains("1 skipped") {
        let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "{out}");
        writeln!(std::io::stderr(), "SKIPPED: {out}").expect("stderr can be written to");
        return;
    }
    assert_eq!(code, 0, "{out}{err}");
    assert!(err.contains("warning: the graphics adapter was lost and is available again"), "{err}");
    let golden = fs::read(scratch.0.join("ui/hud_test.golden/menu.png")).unwrap();
    let image = image::load_from_memory(&golden).unwrap().into_rgba8();
    assert_eq!(image.dimensions(), (200, 120));
    // The rectangle, the upper and the lower half of the bitmap, the background: from the top left.
    for (x, y, color) in [
        (40, 95, [255, 0, 0]),
        (136, 35, [0, 160, 255]),
        (136, 55, [255, 255, 0]),
        (5, 5, [0, 0, 0]),
    ] {
        let near = image.get_pixel(x, y).0.iter().zip(color).all(|(a, b)| a.abs_diff(b) <= 3);
        assert!(near, "{x}, {y}: {:?}", image.get_pixel(x, y));
    }
    let (code, out, err) = scratch.test(&["."]);
    assert_eq!(code, 1, "{out}{err}");
    assert_eq!(out.lines().last(), Some("2 passed, 1 failed, 0 skipped"), "{out}{err}");
    assert!(out.contains("'ui/hud_test.golden/menu.png' shows something else: the block"), "{out}");
    assert!(out.contains("on average, 6 is allowed, and "), "{out}");
    assert!(scratch.0.join(".engine/screenshots/ui/hud_test.golden/menu.png").is_file());
    fs::write(scratch.0.join("ui/hud_test.golden/menu.png"), "no picture").unwrap();
    let (_, out, _) = scratch.test(&[".", "--filter", "^shows"]);
    assert!(out.contains("menu.png' shows something else: it cannot be read: "), "{out}");
}

#[test]
fn images_without_adapter_are_skipped_or_required() {
    let suite = "it('shows', function()\n  test.boot()\n  test.frames(1)\n  \
                 test.screenshot('menu', { picture = true })\nend)\n\
                 it('loses', function()\n  test.fault('device lost')\nend)\n";
    let scratch = game("no_adapter", suite);
    let run = |require: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_engine"))
            .args(["test", ".", "-o", "spec"])
            .current_dir(&scratch.0)
            // No driver exists at these paths.
            .env("VK_DRIVER_FILES", "/nowhere.json")
            .env("VK_ICD_FILENAMES", "/nowhere.json")
            .env("WGPU_BACKEND", "vulkan")
            .env("ENGINE_TEST_REQUIRE_ALL", require)
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), out)
    };
    let (code, out) = run("0");
    assert_eq!((code, out.lines().last()), (Some(0), Some("0 passed, 0 failed, 2 skipped")));
    let (code, out) = run("1");
    assert_eq!((code, out.lines().last()), (Some(1), Some("0 passed, 2 failed, 0 skipped")));
    assert!(out.contains("no picture can be drawn here: "), "{out}");
    assert!(out.contains("apt install mesa-vulkan-drivers"), "{out}");
}

#[test]
fn invalid_test_calls_are_reported() {
    let suite = "it('has no name', function() test.screenshot() end)\n\
        it('leaves the folder', function() test.screenshot('../x') end)\n\
        it('has no such option', function() test.screenshot('x', { pictur = true }) end)\n\
        it('has another kind', function() test.screenshot('x', { picture = 1 }) end)\n\
        it('allows too much', function() test.screenshot('x', { tolerance = 256 }) end)\n\
        it('comes too early', function() test.screenshot('x') end)\n\
        it('is misspelt', function() test.frame(1) end)\n\
        it('is unlike all', function() test.zebra() end)\n\
        it('loses nothing', function() test.fault('device lost') end)\n";
    let scratch = game("bad_screenshots", suite);
    let (code, out, err) = scratch.test(&["."]);
    assert_eq!((code, out.lines().last()), (1, Some("0 passed, 9 failed, 0 skipped")), "{err}");
    for message in [
        "argument #1 'name' must be of letters, digits, '_' and '-', got nil",
        "argument #1 'name' must be of letters, digits, '_' and '-', got string \"../x\"",
        "has the unknown option string \"pictur\", did you mean 'picture'?",
        "test.screenshot: 'picture' must be boolean, got number 1",
        "test.screenshot: 'tolerance' must be from 0 to 255, got number 256",
        "test.screenshot: no frame was played yet: test.frames(1) first",
        "there is no 'test.frame', did you mean 'test.frames'?",
        "there is no 'test.zebra' (there are boot, clear_fault, ",
        "test.fault: no frame was played yet",
    ] {
        assert!(out.contains(message), "no '{message}' in:\n{out}\n{err}");
    }
}

#[test]
fn module_can_take_screenshots() {
    let suite = "local shots = require('shots')\n\
                 it('shows', function() test.boot() test.frames(1) shots.take(test) end)\n";
    let scratch = game("shots", suite);
    let module = "local M = {}\nfunction M.take(test) test.screenshot('menu') end\nreturn M\n";
    fs::write(scratch.0.join("shots.lua"), module).unwrap();
    let (code, out, err) = scratch.test(&[".", "--update-golden"]);
    assert_eq!(code, 0, "{out}{err}");
    // A module loaded after the frame was played is too late, which is reported.
    let suite = "it('shows', function()\n  test.boot()\n  test.frames(1)\n  \
                 require('shots').take(test)\nend)\n";
    fs::write(scratch.0.join("ui/hud_test.lua"), suite).unwrap();
    let (_, out, _) = scratch.test(&["."]);
    assert!(out.contains("the earlier frames were not kept"), "{out}");
}

/// Runs a game without a window. Returns exit code and standard error, or `None` if there is no
/// software adapter.
fn run_drawn(scratch: &Scratch, arguments: &[&str]) -> Option<(Option<i32>, String)> {
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", ".", "--headless"])
        .args(arguments)
        .current_dir(&scratch.0)
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", scratch.0.join("saves"))
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&run.stderr).into_owned();
    if err.contains("no software adapter was found") {
        let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "{err}");
        writeln!(std::io::stderr(), "SKIPPED: {err}").expect("stderr can be written to");
        return None;
    }
    Some((run.status.code(), err))
}

#[test]
fn replay_can_screenshot_its_last_frame() {
    let scratch = game("replayed-picture", "it('x', function() end)");
    let recorded = run_drawn(&scratch, &["--frames", "5", "--record", "a.recording"]);
    let (code, err) = recorded.expect("nothing is drawn");
    assert_eq!(code, Some(0), "{err}");
    let last = ["--replay", "a.recording", "--renderer", "software", "--screenshot", "a.png"];
    let Some((code, err)) = run_drawn(&scratch, &last) else { return };
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("replayed 5 frames, each as it was recorded"), "{err}");
    let image = image::open(scratch.0.join("a.png")).unwrap().into_rgba8();
    assert_eq!(image.dimensions(), (200, 120));
}

#[test]
fn film_strip_has_eight_frames_of_a_run() {
    let scratch = game("film", "it('x', function() end)");
    let film = |frames: &str| {
        let arguments = ["--renderer", "software", "--frames", "9", "--film", frames];
        run_drawn(&scratch, &arguments)
    };
    let Some((code, err)) = film("strip.png@2-9") else { return };
    assert_eq!(code, Some(0), "{err}");
    let image = image::open(scratch.0.join("strip.png")).unwrap().into_rgba8();
    assert_eq!(image.dimensions(), (4 * 200 + 3 * 4, 2 * 120 + 4));
    let (code, err) = film("late.png@2-90").expect("there is an adapter");
    assert_eq!(code, Some(1), "{err}");
    let message = "there is no film strip: the game ended after frame 9 before frame 15";
    assert!(err.contains(message) && !scratch.0.join("late.png").exists(), "{err}");
    let (code, err) = film("short.png@2-5").expect("nothing is drawn");
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("a film has 8 frames, and 2-5 has fewer"), "{err}");
}

#[test]
fn draw_list_contains_visible_world_objects() {
    let main = "function init()\n  world = Application.new_world()\n  \
                camera = Application.create_camera()\n  \
                Camera.set_local_position(camera, Vector3(0, -10, 0))\n  \
                for x = 0, 2 do\n    \
                World.spawn_unit(world, 'core/units/cube', Vector3(x, 1, 0))\n  end\n  \
                World.spawn_unit(world, 'core/units/sphere', Vector3(0, 0, 0.5))\n  \
                World.spawn_unit(world, 'core/units/sphere', Vector3(0, -50, 0))\nend\n\
                function render() Application.render_world(world, camera) end\n";
    let suite = "it('shows', function()\n  test.boot()\n  test.frames(1)\n  \
                 test.screenshot('world')\nend)\n";
    let files = [("main.lua", main), ("settings.sjson", SETTINGS), ("a_test.lua", suite)];
    let scratch = Scratch::new("world_list", &files);
    let (code, out, err) = scratch.test(&[".", "--update-golden"]);
    assert_eq!(code, 0, "{out}{err}");
    let list = fs::read_to_string(scratch.0.join("a_test.golden/world.txt")).unwrap();
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 4, "{list}");
    assert!(lines[1].ends_with("camera at 0 -10 0 looking 0 1 0"), "{list}");
    let cubes = "  mesh \"core/models/cube/cube\" of \"core/units/cube\"";
    assert!(lines[2].starts_with(cubes), "{list}");
    assert!(lines[2].ends_with(", 3 of them, from 0 1 0 to 2 1 0, #ffffffff"), "{list}");
    assert!(lines[3].contains("of \"core/units/sphere\""), "{list}");
    assert!(lines[3].ends_with(", at 0 0 0.5, #ffffffff"), "{list}");
}
