//! Tests of characters in a running game: the order of the systems of an update, and a state
//! machine that is saved while one of its transitions runs.

use super::game_folder::save as save_file;
use super::start::start;
use engine::app::{self, App, GameLaunch};
use engine::foundation::Vec3;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Game {
    folder: PathBuf,
    app: App,
}

impl Game {
    fn start(name: &str, files: &[(&str, &str)]) -> Game {
        let folder = std::env::temp_dir().join(format!("engine-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("models")).unwrap();
        for (file, text) in files {
            fs::write(folder.join(file), text).unwrap();
        }
        let launch = GameLaunch::headless(app::Game::Folder(folder.clone()));
        let app = start(GameLaunch { watch: true, ..launch });
        Game { folder, app }
    }

    /// Plays a frame.
    fn frame(&mut self) {
        self.app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

const LIFT: &str = r#"
local world, lift
local frame, height = 0, 0
function init()
  world = Application.new_world()
  local legs = World.spawn_unit(world, "legs")
  lift = World.spawn_unit(world, "core/units/empty", Vector3(0, 0, -0.5))
  local floor = { type = "kinematic", shape = "box", size = Vector3(20, 20, 1) }
  Unit.create_actor(lift, "floor", floor)
  local dust = World.create_particles(world, "dust")
  World.link_particles(world, dust, legs, Unit.node(legs, "LeftFoot"))
end
function update(dt)
  frame = frame + 1
  if frame > 40 then height = height + 0.01 end
  Unit.set_local_position(lift, 1, Vector3(0, 0, height - 0.5))
  World.update(world, dt)
end
"#;

const LEGS: &str = r#"
skeleton = "models/walker"
constraints = { feet = { type = "foot_placement" bones = [
  "Pelvis" "LeftThigh" "LeftShin" "LeftFoot" "RightThigh" "RightShin" "RightFoot"
] } }
layers = [ { states = { stand = { empty = true constraints = ["feet"] } } } ]
"#;

#[test]
fn feet_follow_bodies_and_effects_follow_feet_in_one_update() {
    let unit = r#"model = "models/walker"
        components = { animation = { model = "models/walker" state_machine = "legs" } }"#;
    let mut game = Game::start(
        "lift",
        &[
            ("main.lua", LIFT),
            ("legs.unit", unit),
            ("legs.state_machine", LEGS),
            ("dust.particles", "emitters = { a = { rate = 60 lifetime = 90 } }"),
            ("models/walker.gltf", include_str!("lua/models/walker.gltf")),
        ],
    );
    (0..40).for_each(|_| game.frame());
    let mut last = 0.0;
    for rise in 1..=15 {
        game.frame();
        let worlds = &mut game.app.vm().engine().worlds;
        let unit = worlds.animations.iter().next().expect("the legs").unit;
        let names = &worlds.units.of(unit).resource.node_names;
        let node = names.iter().position(|name| name == "LeftFoot").unwrap();
        let foot = worlds.units.scene.world_position(unit.row(), node);
        // The bodies moved before the feet: otherwise, these would stay in the first frame, and be
        // 1 cm lower in the next ones. They are behind while they reach their speed.
        let floor = rise as f32 * 0.01;
        assert!(foot.z - last > 1e-3, "the foot is at {foot} after {last}");
        assert!((foot.z - floor).abs() < 0.013, "the foot is at {foot}, the floor at {floor}");
        last = foot.z;
        // The feet moved before the particle: otherwise, that is 1 cm too low.
        let particles = &worlds.particles;
        let (_, effect) = particles.slots().iter().next().expect("the effect");
        let emitter = particles.emitters(effect).next().expect("its emitter");
        // One block has up to 64 particles.
        assert_eq!(emitter.count, 40 + rise);
        let spawned = emitter.blocks[0].get(emitter.count - 1).position;
        let apart = Vec3::from_array(spawned).distance(foot);
        assert!(apart < 1e-4, "the particle is at {spawned:?}, the foot at {foot}");
    }
}

const BOW: &str = r#"
local world, unit, frame
function init()
  world = Application.new_world()
  unit = World.spawn_unit(world, "column")
  frame = 0
end
function update(dt)
  frame = frame + 1
  if frame == 65 then Unit.animation_event(unit, "go") end
  World.update(world, dt)
end
"#;

const RISE: &str =
    "rise = { clip = \"Rise\" loop = false on = { go = { to = \"bow\" blend = 60 } } }";
const MACHINE: &str = "skeleton = \"models/column\"
masks = { top = { Head = 1 } }
layers = [
  { name = \"body\" states = {
    rise = { clip = \"Rise\" loop = false on = { go = { to = \"bow\" blend = 60 } } }
    bow = { clip = \"Bow\" loop = false }
  } }
  { mask = \"top\" states = { nod = { clip = \"Nod\" } } }
]";

/// A moment of the only character.
struct Shown {
    /// Address of the state machine.
    machine: usize,
    state: String,
    time: f32,
    /// The state that fades out.
    from: Option<String>,
    /// Height of the hip.
    height: f32,
}

fn shown(game: &mut Game) -> Shown {
    let worlds = &game.app.vm().engine().worlds;
    let character = worlds.animations.iter().next().expect("its unit lives");
    let machine = character.machine.as_ref().expect("its file names one");
    let info = machine.state.layer_info(&machine.bound.machine, 0).unwrap();
    let matrices = character.matrices();
    assert!(matrices.iter().flat_map(|it| it.0).flat_map(|row| row.0).all(f32::is_finite));
    Shown {
        machine: Arc::as_ptr(&machine.bound) as usize,
        state: info.state.to_string(),
        time: info.time,
        from: info.transition.map(|(from, _)| from.to_string()),
        height: matrices[0].transform_point([0.0; 3])[2],
    }
}

/// Saves the state machine, and plays until it is reloaded, and for 30 more frames. The hip moves
/// by less than 10 cm in each of them.
fn save(game: &mut Game, text: &str, current: (&str, Option<&str>)) {
    let old = shown(game).machine;
    save_file(&game.folder.join("column.state_machine"), text);
    let end = Instant::now() + Duration::from_secs(60);
    let mut frames = 0;
    while frames < 30 {
        let before = shown(game);
        game.frame();
        let now = shown(game);
        let moved = (now.height - before.height).abs();
        assert!(moved < 0.1, "the hip moves by {moved} m in frame {frames} after the reload");
        if now.machine != old {
            frames += 1;
            assert_eq!((&now.state[..], now.from.as_deref()), current);
            // The animation takes a second, and keeps its last pose.
            assert!(now.time >= before.time, "{} after {}", now.time, before.time);
        } else {
            assert!(Instant::now() < end, "the machine is reloaded");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

#[test]
fn a_saved_machine_continues_its_transition() {
    let unit =
        "model = \"models/column\"\ncomponents = { animation = { state_machine = \"column\" } }";
    let files = [
        ("main.lua", BOW),
        ("column.unit", unit),
        ("column.state_machine", MACHINE),
        ("models/column.gltf", include_str!("lua/models/column.gltf")),
    ];
    let mut game = Game::start("saved-machine", &files);
    (0..70).for_each(|_| game.frame());
    let before = shown(&mut game);
    assert_eq!((&before.state[..], before.from.as_deref()), ("bow", Some("rise")));
    assert!(before.height > 0.9, "{}", before.height);
    // The mask and the order of the states are others.
    let bow = "bow = { clip = \"Bow\" loop = false }";
    let kept = MACHINE.replace("Head = 1", "Chest = 0.5").replace(bow, "");
    let kept = kept.replace("rise = {", &format!("{bow}\n    rise = {{"));
    save(&mut game, &kept, ("bow", Some("rise")));
    // The source of the transition is gone.
    save(&mut game, &MACHINE.replace(RISE, ""), ("bow", None));
    assert!(shown(&mut game).height < 0.1);
}

const INDICES: &str = r#"
local world, first, second, event, variable, target
local frame = 0
function init()
  world = Application.new_world()
  first = World.spawn_unit(world, "column")
  event = Unit.animation_find_event(first, "go")
  variable = Unit.animation_find_variable(first, "lean")
  target = Unit.animation_find_constraint_target(first, "look")
end
local function check(unit)
  assert(not Unit.animation_event(unit, event), "'go' has no transition from the other state")
  Unit.animation_set_variable(unit, variable, 0.25)
  assert(Unit.animation_get_variable(unit, "lean") == 0.25, "the index means 'lean'")
  assert(Unit.animation_get_variable(unit, "age") == 7, "'age' keeps its value")
  Unit.animation_set_constraint_target(unit, target, Vector3(1, 2, 3))
  local found = Unit.animation_get_constraint_target(unit, "look")
  assert(Vector3.distance(Matrix4x4.translation(found), Vector3(1, 2, 3)) < 1e-4, "the index means 'look'")
  assert(Unit.animation_find_variable(unit, "lean") == variable, "its index is the same")
end
function update(dt)
  frame = frame + 1
  if not second and Unit.animation_has_variable(first, "age") then
    check(first)
    -- A unit of another model, whose version of the machine is bound only now.
    second = World.spawn_unit(world, "pillar")
    check(second)
  end
  World.update(world, dt)
end
"#;

#[test]
fn indices_of_scripts_are_those_of_all_models_after_a_reload() {
    let machine = |variables: &str, constraints: &str, events: &str| {
        format!(
            "skeleton = \"models/column\" variables = {{ {variables} }} events = [{events}]
            constraints = {{ {constraints} }}
            layers = [ {{ states = {{
                other = {{ clip = \"Bow\" on = {{ stop = \"bow\" }} }}
                bow = {{ clip = \"Bow\" on = {{ go = \"other\" }} }} }} }} ]"
        )
    };
    let look = "look = { type = \"aim\" bone = \"Head\" }";
    let before = machine("lean = 1", look, "\"go\" \"stop\"");
    let peek = format!("peek = {{ type = \"aim\" bone = \"Chest\" }} {look}");
    let after = machine("age = 7 lean = 1", &peek, "\"stop\" \"go\"");
    let unit = |model: &str| {
        format!(
            "model = \"models/{model}\" components = {{ animation = {{ state_machine = \"m\" }} }}"
        )
    };
    let (column, pillar) = (unit("column"), unit("pillar"));
    let model = include_str!("lua/models/column.gltf");
    let files = [
        ("main.lua", INDICES),
        ("column.unit", &column),
        ("pillar.unit", &pillar),
        ("m.state_machine", &before),
        ("models/column.gltf", model),
        ("models/pillar.gltf", model),
    ];
    let mut game = Game::start("kept-indices", &files);
    (0..3).for_each(|_| game.frame());
    fs::write(game.folder.join("m.state_machine"), after).unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    while game.app.vm().engine().worlds.animations.count() < 2 {
        game.frame();
        assert!(Instant::now() < end, "the machine is reloaded");
        std::thread::sleep(Duration::from_millis(2));
    }
}
