//! Particles of a game that is played: files that are saved, broken and deleted under them, and the
//! viewer. How they move is tested beside the code, what games call in tests/lua.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Nothing takes as long, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

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

/// A folder with a game, removed at the test's end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, effect: &str) -> Scratch {
        let folder = format!("engine-particles-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("fx")).expect("it can be made");
        fs::write(folder.join("main.lua"), MAIN).expect("it can be written");
        let scratch = Scratch(folder);
        scratch.save(effect);
        scratch
    }

    fn save(&self, effect: &str) {
        fs::write(self.0.join("fx/a.particles"), effect).expect("it can be written");
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        command.arg("run").arg(&self.0).args(["--headless", "--renderer", "null"]);
        command.env("ENGINE_SAVE_DIR", self.0.join("saves")).stdin(Stdio::null());
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A game that is played by a process of its own, ended at the test's end.
struct Playing(Child, Receiver<String>);

impl Playing {
    fn start(mut command: Command) -> Playing {
        let command = command.arg("--realtime").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the engine starts");
        let (send, lines) = channel();
        let (out, err) = (process.stdout.take(), process.stderr.take());
        let also = send.clone();
        let out = BufReader::new(out.expect("it is piped")).lines().map_while(Result::ok);
        std::thread::spawn(move || out.for_each(|line| drop(send.send(line))));
        let err = BufReader::new(err.expect("it is piped")).lines().map_while(Result::ok);
        std::thread::spawn(move || err.for_each(|line| drop(also.send(line))));
        Playing(process, lines)
    }

    #[track_caller]
    fn hears(&self, wanted: &str) {
        let (mut said, began) = (Vec::new(), Instant::now());
        let left = || PATIENCE.saturating_sub(began.elapsed());
        while let Ok(line) = self.1.recv_timeout(left()) {
            if line.contains(wanted) {
                return;
            }
            said.push(line);
            if left().is_zero() {
                break;
            }
        }
        panic!(
            "no line has '{wanted}' in it: {:?}",
            said.iter().rev().take(20).collect::<Vec<_>>()
        );
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_effect_that_plays_follows_its_file_and_survives_a_broken_and_a_deleted_one() {
    let scratch = Scratch::new("saved", "emitters = { a = { rate = 600 lifetime = 90 } }");
    let game = Playing::start(scratch.command());
    game.hears("count 1000.");
    scratch.save("emitters = { a = { rate = 600 lifetime = 90 max = 5 } }");
    game.hears("count 5.");
    scratch.save("emitters = {\n a = { rate = -1 } }");
    game.hears("fx/a.particles:2: emitter 'a': 'rate' must be 0 to 10000000, got -1");
    game.hears("count 5.");
    scratch.save("emitters = { a = { rate = 600 lifetime = 90 max = 7 } }");
    game.hears("count 7.");
    fs::remove_file(scratch.0.join("fx/a.particles")).expect("it is there");
    game.hears("what plays goes on as it was");
    game.hears("count 7.");
}

#[test]
fn the_viewer_shows_a_games_effects_and_says_when_there_is_none_of_a_name() {
    let scratch = Scratch::new("viewer", "emitters = { a = { rate = 60 } }");
    for boot in ["core/tools/particle_viewer", "core/tools/particle_viewer.lua"] {
        for arguments in [&[][..], &["fx/a"], &["fx/a", "gui"], &["fx/none"]] {
            let mut command = scratch.command();
            command.args(["--boot", boot, "--frames", "5", "--"]).args(arguments);
            let out = command.output().expect("the engine starts");
            let words = String::from_utf8_lossy(&out.stderr);
            assert_eq!(out.status.code(), Some(0), "{boot} {arguments:?}: {words}");
        }
    }
    let mut command = scratch.command();
    let out = command.args(["--boot", "core/tools/particle_viwer", "--frames", "5"]).output();
    let out = out.expect("the engine starts");
    let words = String::from_utf8_lossy(&out.stderr);
    let wanted = "there is no module 'core.tools.particle_viwer' to start with";
    assert!(words.contains(wanted) && out.status.code() == Some(1), "{words}");
}
