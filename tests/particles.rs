//! Tests of particles in a running game: files that are saved, broken and deleted during the game,
//! and the viewer. Their motion is tested next to the code, the API in tests/lua.

use crate::game_folder::{GameFolder, output_lines};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// Maximum wait, longer than any step takes on a busy machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

const MAIN: &str = r#"
local world, id
function init()
  world = Application.new_world()
  id = World.create_particles(world, "fx/a")
end
function update(dt)
  World.update(world, dt)
  print("count " .. World.num_particles(world, id) .. ".")
end
"#;

/// A folder with a game.
struct Scratch(GameFolder);

impl Scratch {
    fn new(name: &str, effect: &str) -> Scratch {
        let scratch = Scratch(GameFolder::new("particles", name));
        scratch.0.write("main.lua", MAIN);
        scratch.save(effect);
        scratch
    }

    fn save(&self, effect: &str) {
        self.0.write("fx/a.particles", effect);
    }

    fn command(&self) -> Command {
        let mut command = self.0.command(&["run"]);
        command.arg(&*self.0).args(["--headless", "--renderer", "null"]).stdin(Stdio::null());
        command
    }
}

/// A game played in its own process, killed on drop.
struct GameProcess(Child, Receiver<String>);

impl GameProcess {
    fn start(mut command: Command) -> GameProcess {
        let command = command.arg("--realtime").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the engine starts");
        let lines = output_lines(&mut process);
        GameProcess(process, lines)
    }

    #[track_caller]
    fn wait_for_line(&self, expected: &str) {
        let (mut output, began) = (Vec::new(), Instant::now());
        let left = || WAIT_MAX.saturating_sub(began.elapsed());
        while let Ok(line) = self.1.recv_timeout(left()) {
            if line.contains(expected) {
                return;
            }
            output.push(line);
            if left().is_zero() {
                break;
            }
        }
        panic!(
            "no line has '{expected}' in it: {:?}",
            output.iter().rev().take(20).collect::<Vec<_>>()
        );
    }
}

impl Drop for GameProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn running_effect_follows_its_file_and_survives_errors() {
    let scratch = Scratch::new("saved", "emitters = { a = { rate = 600 lifetime = 90 } }");
    let game = GameProcess::start(scratch.command());
    game.wait_for_line("count 1000.");
    scratch.save("emitters = { a = { rate = 600 lifetime = 90 max = 5 } }");
    game.wait_for_line("count 5.");
    scratch.save("emitters = {\n a = { rate = -1 } }");
    game.wait_for_line("fx/a.particles:2: emitter 'a': 'rate' must be 0 to 10000000, got -1");
    game.wait_for_line("count 5.");
    scratch.save("emitters = { a = { rate = 600 lifetime = 90 max = 7 } }");
    game.wait_for_line("count 7.");
    fs::remove_file(scratch.0.join("fx/a.particles")).expect("it is there");
    game.wait_for_line("effects that are playing continue unchanged");
    game.wait_for_line("count 7.");
}

#[test]
fn refused_effect_reload_names_emitter_and_changes_nothing() {
    let saved = |more: &str| format!("emitters = {{ a = {{ rate = 600 lifetime = 90 {more} }} }}");
    let scratch = Scratch::new("refused", &saved("max = 5"));
    let surface = "surface = { metallic = 1 }";
    fs::write(scratch.0.join("steel.material"), surface).expect("it can be written");
    fs::write(scratch.0.join("glow.material"), "blend = \"add\"").expect("it can be written");
    let game = GameProcess::start(scratch.command());
    game.wait_for_line("count 5.");
    let rows = [
        (
            "collision = { whiskers = [{ from = [0, 0] to = [1, 1] }] }",
            "the effect \"fx/a\" has whiskers, which only stop particles in Guis: use planes or \
             boxes in a world: effects that are playing continue unchanged",
        ),
        (
            "material = \"steel\"",
            "the effect \"fx/a\", emitter 'a': the material 'steel' is for meshes: particles take \
             one without a block surface: effects that are playing continue unchanged",
        ),
        (
            "material = \"glow\"",
            "the effect \"fx/a\", emitter 'a' has a 'material', which only Guis draw with: name a \
             texture and a blend for a world: effects that are playing continue unchanged",
        ),
        ("texture = \"gone\"", "the effect \"fx/a\", emitter 'a': "),
    ];
    for (body, message) in rows {
        scratch.save(&saved(&format!("max = 9 {body}")));
        game.wait_for_line(message);
        game.wait_for_line("count 5.");
    }
    scratch.save(&saved("max = 7"));
    game.wait_for_line("count 7.");
}

/// Boots the viewer, and prints the text that it shows.
const WATCH: &str = r#"
require("core.tools.particle_viewer")
local text = Debug.text
function Debug.text(words, ...)
  print("shown: " .. words)
  return text(words, ...)
end
"#;

#[test]
fn viewer_wraps_long_errors_to_the_window() {
    let whisker = "whiskers = [{ from = [0, 0] to = [1, 1] }]";
    let effect = format!("emitters = {{ a = {{ collision = {{ {whisker} }} }} }}");
    let scratch = Scratch::new("long", &effect);
    fs::write(scratch.0.join("watch.lua"), WATCH).expect("it can be written");
    let settings = "window = { width = 400 height = 300 }";
    fs::write(scratch.0.join("settings.sjson"), settings).expect("it can be written");
    let mut command = scratch.command();
    let out = command.args(["--boot", "watch", "--frames", "1"]).output();
    let out = out.expect("the engine starts");
    let output = [&out.stdout[..], &out.stderr[..]].map(String::from_utf8_lossy).concat();
    let shown: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("shown: ")).collect();
    // At 16 pixels per em few glyphs are narrower than 6 pixels.
    assert!(shown.iter().all(|line| line.chars().count() * 6 < 400), "{output}");
    let all = shown.join(" ");
    assert!(all.contains("whiskers, which only stop particles in Guis: use planes or"), "{output}");
}

#[test]
fn viewer_shows_effects_and_reports_unknown_names() {
    let scratch = Scratch::new("viewer", "emitters = { a = { rate = 60 } }");
    for boot in ["core/tools/particle_viewer", "core/tools/particle_viewer.lua"] {
        for arguments in [&[][..], &["fx/a"], &["fx/a", "gui"], &["fx/none"]] {
            let mut command = scratch.command();
            command.args(["--boot", boot, "--frames", "5", "--"]).args(arguments);
            let out = command.output().expect("the engine starts");
            let output = [&out.stdout[..], &out.stderr[..]].map(String::from_utf8_lossy).concat();
            let none = arguments == ["fx/none"];
            assert_eq!(out.status.code(), Some(i32::from(none)), "{boot} {arguments:?}: {output}");
            let is_reported =
                output.contains("there is no effect 'fx/none' in this game, which has: fx/a");
            assert_eq!(is_reported, none, "{output}");
        }
    }
    let mut command = scratch.command();
    let out = command.args(["--boot", "core/tools/particle_viwer", "--frames", "5"]).output();
    let out = out.expect("the engine starts");
    let message = String::from_utf8_lossy(&out.stderr);
    let expected = "there is no module 'core.tools.particle_viwer' to start with";
    assert!(message.contains(expected) && out.status.code() == Some(1), "{message}");
}
