//! Tests of the frame's tasks from outside: identical results on any number of threads, the flags
//! and settings that control them, and no thread where none is needed.

#[path = "../benches/tasks/particles.rs"]
mod particles;

use crate::game_folder::{GameFolder, combined_output};
use engine::foundation::hash::StateHash;
use engine::foundation::tasks::{TaskPool, split};
use particles::{Particles, Piece};
use std::fs;
use std::process::{Command, Stdio};

const PARTICLES: usize = 10_000;
const FRAMES: usize = 1000;
const DT: f32 = 1.0 / 60.0;

/// Two swarms, a value that depends on both, and one that depends on neither.
struct Simulation {
    time: f64,
    birds: Particles,
    bats: Particles,
    sums: Vec<f64>,
    clouds: Vec<f64>,
}

/// Updates a swarm in slices on all threads.
fn update_swarm(tasks: &engine::foundation::tasks::TaskManager, swarm: &mut Particles) {
    let mut rest: Piece = swarm.all();
    let done = tasks.scope(|scope| {
        let mut graph = scope.graph();
        for piece in split(PARTICLES, tasks.threads()) {
            let (piece, others) = rest.split_at(piece.len());
            rest = others;
            graph.add("piece", move || piece.update(DT));
        }
        graph.run().finish()
    });
    done.expect("particles do not fail");
}

fn step(pool: &TaskPool, simulation: &mut Simulation) {
    let Simulation { time, birds, bats, sums, clouds } = simulation;
    let frame = pool.frame(PARTICLES, |frame| {
        let (time, sums) = (frame.part("time", time), frame.part("sums", sums));
        let (birds, bats) = (frame.part("birds", birds), frame.part("bats", bats));
        let clouds = frame.part("clouds", clouds);
        let tasks = frame.tasks();
        frame.system("time", time.write(), |time| *time += f64::from(DT));
        frame.system("birds", birds.write(), move |birds| update_swarm(tasks, birds));
        frame.system("bats", bats.write(), move |bats| update_swarm(tasks, bats));
        frame.system("clouds", (time.read(), clouds.write()), move |(time, clouds)| {
            tasks.each_slice("clouds", clouds, |first, piece| {
                for (i, cloud) in piece.iter_mut().enumerate() {
                    *cloud = (*cloud + (first + i) as f64 * *time).sin();
                }
            })
        });
        let all = (birds.read(), bats.read(), clouds.read(), sums.write());
        frame.system("sums", all, |(birds, bats, clouds, sums)| {
            sums[0] += birds.sum() - bats.sum();
            sums[1] = sums[1] * 0.5 + clouds.iter().sum::<f64>();
        });
    });
    frame.expect("nothing in the sky fails");
}

/// Returns the hash of the whole state after each frame.
fn hashes(threads: usize) -> Vec<u64> {
    let pool = TaskPool::new(Some(threads));
    let mut simulation = Simulation {
        time: 0.0,
        birds: Particles::new(PARTICLES),
        bats: Particles::new(PARTICLES),
        sums: vec![0.0; 2],
        clouds: vec![0.5; 2000],
    };
    let mut all = Vec::new();
    for _ in 0..FRAMES {
        step(&pool, &mut simulation);
        let mut hash = StateHash::new(0);
        hash.write_f64(simulation.time);
        simulation.sums.iter().chain(&simulation.clouds).for_each(|number| hash.write_f64(*number));
        simulation.birds.each_bits(|bits| hash.write_u64(bits.into()));
        simulation.bats.each_bits(|bits| hash.write_u64(bits.into()));
        all.push(hash.finish());
    }
    assert_eq!(pool.has_started(), threads > 1);
    all
}

#[test]
fn frames_are_identical_on_any_number_of_threads() {
    let alone = hashes(1);
    assert!(alone.windows(2).all(|two| two[0] != two[1]), "every frame changes something");
    for threads in [2, 4, 8] {
        let first = hashes(threads).iter().zip(&alone).position(|(a, b)| a != b);
        assert_eq!(first, None, "the first frame that differs on {threads} threads");
    }
}

/// A folder with a game.
struct Scratch(GameFolder);

const MAIN: &str = "local world
function init() world = Application.new_world() end
function update(dt)
  World.update(world, dt)
  Application.hash(World.time(world) + Math.random())
end
";

impl Scratch {
    fn new(name: &str, settings: &str) -> Scratch {
        let folder = GameFolder::new("tasks", name);
        folder.write("main.lua", MAIN);
        folder.write("settings.sjson", settings);
        folder.write("a_test.lua", "it(\"holds\", function() end)\n");
        Scratch(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.0.command(arguments)
    }

    fn engine(&self, arguments: &[&str]) -> (Option<i32>, String) {
        combined_output(&mut self.command(arguments))
    }
}

#[test]
fn single_threaded_run_replays_on_any_number_of_threads() {
    let game = Scratch::new("replay", "");
    let run = ["run", ".", "--headless", "--single-threaded", "--frames", "100"];
    let (code, text) = game.engine(&[&run[..], &["--record", "a.recording"]].concat());
    assert_eq!(code, Some(0), "{text}");
    for threads in ["1", "2", "4", "8"] {
        let replay = ["run", ".", "--headless", "--replay", "a.recording", "--threads", threads];
        let (code, text) = game.engine(&replay);
        assert_eq!(code, Some(0), "{threads} threads: {text}");
        let (code, text) = game.engine(&["test", ".", "--threads", threads, "-j", "2"]);
        assert_eq!(code, Some(0), "{threads} threads: {text}");
    }
}

/// Script with a crowd of units of three nodes each. Every node moves in every frame.
const CROWD: &str = r#"
local world, units = nil, {}
function init()
  world = Application.new_world()
  for i = 1, 500 do
    units[i] = World.spawn_unit(world, "bird", Vector3(i, 0, 0))
  end
end
function update(dt)
  for i = 1, #units do
    local angle = Application.frame_index() * 0.01 + i
    Unit.set_local_position(units[i], 1, Vector3(math.sin(angle), i, math.cos(angle)))
    Unit.set_local_rotation(units[i], 1, Quaternion(Vector3.up(), angle))
  end
  World.update(world, dt)
  for i = 1, #units, 7 do
    local position = Unit.world_position(units[i], 3)
    Application.hash(position.x, position.y, position.z)
  end
end
"#;

#[test]
fn crowd_replays_on_any_number_of_threads() {
    let game = Scratch::new("crowd", "");
    fs::write(game.0.join("main.lua"), CROWD).unwrap();
    let nodes = "nodes = {\n  wing = { position = [0, 1, 0] }\n  tip = { parent = \"wing\", \
                 position = [0, 1, 0.5] }\n}\n";
    fs::write(game.0.join("bird.unit"), nodes).unwrap();
    let run = ["run", ".", "--headless", "--frames", "1000", "--record", "a.recording"];
    let (code, text) = game.engine(&[&run[..], &["--single-threaded"]].concat());
    assert_eq!(code, Some(0), "{text}");
    for threads in ["2", "4", "8"] {
        let replay = ["run", ".", "--headless", "--replay", "a.recording", "--threads", threads];
        let (code, text) = game.engine(&replay);
        assert_eq!(code, Some(0), "{threads} threads: {text}");
    }
}

/// Script with falling bodies, bouncing sparks, and smoke linked to the bodies.
const FALL: &str = r#"
local world
function init()
  world = Application.new_world()
  World.spawn_unit(world, "ground")
  for i = 0, 99 do
    local position = Vector3(i % 5 * 0.3, math.floor(i / 5) % 5 * 0.3, 2 + math.floor(i / 25))
    local unit = World.spawn_unit(world, "ball", position)
    if i % 10 == 0 then
      World.link_particles(world, World.create_particles(world, "smoke"), unit, 1)
    end
  end
  World.create_particles(world, "sparks", Vector3(0, 0, 3))
end
function update(dt)
  World.update(world, dt)
end
"#;

const FALL_FILES: [(&str, &str); 4] = [
    (
        "ground.unit",
        "components = { physics = { actors = { floor = { type = \"static\" shape = \"box\"
          size = [40, 40, 1] position = [0, 0, -0.5] } } } }",
    ),
    (
        "ball.unit",
        "components = { physics = { actors = { body = { type = \"dynamic\" shape = \"sphere\"
          radius = 0.2 } } } }",
    ),
    (
        "smoke.particles",
        "emitters = { a = { rate = 90 lifetime = 0.5 speed = [0, 1]
          inherit_velocity = 0.5 forces = [{ type = \"turbulence\" strength = 2 }] } }",
    ),
    (
        "sparks.particles",
        "emitters = { a = { max = 20000 rate = 20000 lifetime = [0.5, 1.5] spread = 60
          direction = [0, 0, 1] speed = [1, 6] gravity = [0, 0, -9.8]
          forces = [{ type = \"vortex\" strength = 3 axis = [0, 0, 1] }]
          collision = { planes = [{ normal = [0, 0, 1] }] space = \"world\" }
          on_collision = { emitter = \"b\" } }
          b = { max = 4000 lifetime = 0.2 speed = 1 } }",
    ),
];

/// Creates a folder with the game above.
fn falling_game(name: &str, settings: &str) -> Scratch {
    let game = Scratch::new(name, settings);
    fs::write(game.0.join("main.lua"), FALL).unwrap();
    FALL_FILES.iter().for_each(|(file, text)| fs::write(game.0.join(file), text).unwrap());
    game
}

#[test]
fn physics_and_particles_replay_on_any_number_of_threads() {
    let game = falling_game("fall", "");
    let run = ["run", ".", "--headless", "--frames", "240", "--record", "a.recording"];
    let (code, text) = game.engine(&[&run[..], &["--single-threaded"]].concat());
    assert_eq!(code, Some(0), "{text}");
    for threads in ["2", "4", "8"] {
        let replay = ["run", ".", "--headless", "--replay", "a.recording", "--threads", threads];
        let (code, text) = game.engine(&replay);
        assert_eq!(code, Some(0), "{threads} threads: {text}");
    }
}

/// Returns the start times of the scopes of a name in microseconds, in the order of a trace.
fn start_times(trace: &str, name: &str) -> Vec<f64> {
    let name = format!("\"name\":\"{name}\",\"ts\":");
    let after = trace.lines().filter_map(|line| line.split_once(&name));
    after.map(|(_, rest)| rest.split(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn single_threaded_systems_run_in_priority_order() {
    for first in ["physics", "particles"] {
        let settings = format!("tasks = {{ priorities = {{ {first} = 31 }} }}");
        let game = falling_game(first, &settings);
        let run = ["run", ".", "--headless", "--frames", "3", "--single-threaded"];
        let (code, text) = game.engine(&[&run[..], &["--profile-trace", "t.json"]].concat());
        assert_eq!(code, Some(0), "{text}");
        let trace = fs::read_to_string(game.0.join("t.json")).unwrap();
        let (physics, particles) =
            (start_times(&trace, "physics"), start_times(&trace, "particles"));
        // First the emitters that are not linked, then those linked to units.
        assert_eq!((physics.len(), particles.len()), (3, 6), "{trace}");
        let order = if physics[0] < particles[0] { "physics" } else { "particles" };
        assert_eq!(order, first);
        assert!(particles[1] > physics[0], "what hangs on bodies is after them");
    }
}

#[test]
fn invalid_thread_count_is_refused() {
    let game = Scratch::new("refused", "");
    for command in [&["run", ".", "--headless", "--frames", "1"][..], &["test", "."]] {
        for number in ["0", "34", "many", "-1", "1.5", ""] {
            let flag = format!("--threads={number}");
            let (code, text) = game.engine(&[command, &[&flag]].concat());
            assert_eq!(code, Some(2), "{flag}: {text}");
            let message = "must be a number of threads, from 1 to 33";
            assert!(text.contains(message), "{flag}: {text}");
        }
        let both = ["--threads", "2", "--single-threaded"];
        let (code, text) = game.engine(&[command, &both].concat());
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("cannot be used with"), "{text}");
    }
}

#[test]
fn priorities_of_unknown_systems_are_refused() {
    let check = |name: &str, settings: &str, expected: &str| {
        let game = Scratch::new(name, settings);
        let (code, text) = game.engine(&["run", ".", "--headless", "--frames", "1"]);
        assert_eq!(code, Some(i32::from(!expected.is_empty())), "{text}");
        assert!(text.contains(expected), "{settings}: {text}");
    };
    check("set", "tasks = { priorities = { physics = 31 } }", "");
    check(
        "unknown",
        "tasks = { priorities = { physisc = 3 } }",
        "settings.sjson:1: unknown setting 'tasks.priorities.physisc', did you mean \
         'physics'?",
    );
    check(
        "high",
        "tasks = { priorities = { physics = 32 } }",
        "settings.sjson:1: 'tasks.priorities.physics' must be 0 to 31, got 32",
    );
    check(
        "part",
        "tasks = { priorities = { physics = 1.5 } }",
        "settings.sjson: 'tasks.priorities.physics' must be a whole number, got 1.5",
    );
}

/// Returns the names of a process's threads.
#[cfg(target_os = "linux")]
fn threads_of(process: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).ok();
    tasks.filter_map(name).map(|name| name.trim().to_string()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn small_game_starts_no_task_threads() {
    let game = Scratch::new("small", "");
    fs::write(game.0.join("main.lua"), format!("{MAIN}print(\"ready\")")).unwrap();
    let run = ["run", ".", "--headless", "--realtime", "--threads", "8"];
    let mut child = game.command(&run).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    // Threads have their names as soon as they run.
    let began = std::time::Instant::now();
    while !threads_of(child.id()).iter().any(|name| name == "watchdog") {
        assert!(began.elapsed().as_secs() < 60, "{:?}", threads_of(child.id()));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    let threads = threads_of(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!threads.iter().any(|name| name.starts_with("task worker")), "{threads:?}");
}
