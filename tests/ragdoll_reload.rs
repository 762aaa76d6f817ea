//! Tests of ragdolls that run while the files of their model and of their state machine change.

use super::game_folder::save;
use super::start::start;
use engine::app::{self, App, GameLaunch};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const MAIN: &str = r#"
local world, unit, frame
function init()
  world = Application.new_world()
  unit = World.spawn_unit(world, "column")
  frame = 0
end
function update(dt)
  frame = frame + 1
  if frame == 5 then Unit.animation_event(unit, "fall") end
  World.update(world, dt)
end
"#;

const UNIT: &str = "model = \"models/column\"
components = { animation = { state_machine = \"column\" ragdoll = true } }";

const MACHINE: &str = "skeleton = \"models/column\"
layers = [ { states = {
  bow = { clip = \"Bow\" on = { fall = { to = \"fallen\" blend = 0 } } }
  fallen = { ragdoll = \"full\" }
} } ]";

struct Game {
    folder: PathBuf,
    app: App,
}

impl Game {
    fn start() -> Game {
        let folder = std::env::temp_dir().join(format!("engine-ragdoll-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("models")).unwrap();
        fs::write(folder.join("main.lua"), MAIN).unwrap();
        fs::write(folder.join("column.unit"), UNIT).unwrap();
        fs::write(folder.join("column.state_machine"), MACHINE).unwrap();
        fs::write(folder.join("models/column.gltf"), Game::model()).unwrap();
        let launch = GameLaunch::headless(app::Game::Folder(folder.clone()));
        let app = start(GameLaunch { watch: true, ..launch });
        Game { folder, app }
    }

    fn model() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lua/models/column.gltf");
        fs::read_to_string(path).unwrap()
    }

    /// Plays a frame.
    fn frame(&mut self) {
        self.app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
    }

    /// Returns the number of bodies, and the address of the model, or that of the state machine.
    fn state(&mut self) -> (usize, [usize; 2]) {
        let worlds = &self.app.vm().engine().worlds;
        let character = worlds.animations.iter().next().expect("its unit lives");
        let machine = character.machine.as_ref().expect("its file names one");
        let bodies = worlds.physics.actors.iter().filter(|(_, actor)| actor.is_ragdoll).count();
        let model = std::sync::Arc::as_ptr(&character.model) as usize;
        (bodies, [model, std::sync::Arc::as_ptr(&machine.bound) as usize])
    }

    /// Plays until a condition holds.
    fn play_until(&mut self, expected: &str, mut holds: impl FnMut(&mut Game) -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !holds(self) {
            assert!(Instant::now() < end, "{expected}");
            self.frame();
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn ragdolls_survive_a_reload_and_end_with_their_state() {
    let mut game = Game::start();
    game.play_until("the ragdoll begins", |game| game.state().0 == 3);
    let (_, [model, _]) = game.state();
    let renamed = Game::model().replace("\"Rise\"", "\"Lift\"");
    save(&game.folder.join("models/column.gltf"), renamed);
    game.play_until("the model is reloaded", |game| game.state().1[0] != model);
    game.frame();
    assert_eq!(game.state().0, 3, "bodies of the same bones continue");
    let (_, [_, machine]) = game.state();
    let without = MACHINE.replace("fallen = { ragdoll = \"full\" }", "fallen = { clip = \"Nod\" }");
    save(&game.folder.join("column.state_machine"), without);
    game.play_until("the machine is reloaded", |game| game.state().1[1] != machine);
    (0..2).for_each(|_| game.frame());
    assert_eq!(game.state().0, 0, "the new state is no ragdoll");
}
