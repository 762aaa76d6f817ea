//! Scenes of crowds, in this engine and in DetourCrowd.

use super::ground::{Ground, from_peer, to_peer};
use super::measures::{Measures, STEP, measure};
use super::peer::Peer;
use crate::table::{Row, named};
use engine::foundation::handle::{Handle, HandleKind, Slots};
use engine::foundation::random::Random;
use engine::foundation::tasks::TaskPool;
use engine::foundation::{Quat, Vec2, Vec3};
use engine::platform::ThreadClock;
use engine::system::navigation::agents::{AgentSettings, Agents};
use engine::system::navigation::bake::BakeSettings;
use engine::system::navigation::mesh::NavigationMesh;
use engine::system::navigation::platforms::{MeshPose, Platform, StopSettings};
use std::f32::consts::TAU;
use std::fmt::Write;

const RUNS: u64 = 3;
/// Distance by which the starts of runs differ, in metres.
const SHIFT: f32 = 0.1;
const USUAL: AgentSettings = AgentSettings { radius: 0.4, ..AgentSettings::DEFAULT };
/// The ferry: half of the width of the water, half of its side, and seconds at a shore and between.
const WATER: f32 = 12.0;
const FERRY: f32 = 4.0;
const FERRY_WAITS: f32 = 4.0;
const FERRY_MOVES: f32 = 4.0;

/// Agents with their starts and the targets that they get one after another.
struct Scene {
    name: &'static str,
    boxes: Vec<(Vec3, Vec3)>,
    settings: BakeSettings,
    agent: AgentSettings,
    seconds: f64,
    /// Seconds between two targets; with several, nobody is to arrive.
    period: f64,
    ways: Vec<(Vec3, Vec<Vec3>)>,
    has_ferry: bool,
}

fn boxed(low: [f32; 3], high: [f32; 3]) -> (Vec3, Vec3) {
    (low.into(), high.into())
}

/// Points in rows and columns.
fn block(low: Vec2, columns: usize, apart: f32, count: usize) -> impl Iterator<Item = Vec2> {
    (0..count).map(move |at| low + Vec2::new((at % columns) as f32, (at / columns) as f32) * apart)
}

impl Scene {
    fn new(name: &'static str, boxes: Vec<(Vec3, Vec3)>, seconds: f64) -> Scene {
        let settings = BakeSettings { radius: 0.4, cell_size: 0.2, ..BakeSettings::DEFAULT };
        let (period, ways) = (seconds, Vec::new());
        Scene { name, boxes, settings, agent: USUAL, seconds, period, ways, has_ferry: false }
    }

    fn square(name: &'static str, side: f32, seconds: f64) -> Scene {
        let ground = boxed([-side, -side, -1.0], [side, side, 0.0]);
        let scene = Scene::new(name, vec![ground], seconds);
        Scene { settings: BakeSettings::DEFAULT, ..scene }
    }

    fn send(&mut self, from: Vec3, to: Vec3) {
        self.ways.push((from, vec![to]));
    }

    fn circle() -> Scene {
        let mut scene = Scene::square("circle of 100", 40.0, 60.0);
        scene.agent = AgentSettings::DEFAULT;
        for at in 0..100 {
            let (sin, cos) = (at as f32 / 100.0 * TAU).sin_cos();
            let start = Vec3::new(cos, sin, 0.0) * 25.0;
            scene.send(start, -start);
        }
        scene
    }

    fn door(name: &'static str, both_ways: bool, seconds: f64) -> Scene {
        let walls = [
            boxed([-30.0, -15.0, -1.0], [30.0, 15.0, 0.0]),
            boxed([-0.25, -15.0, 0.0], [0.25, -0.7, 3.0]),
            boxed([-0.25, 0.7, 0.0], [0.25, 15.0, 3.0]),
        ];
        let mut scene = Scene::new(name, walls.to_vec(), seconds);
        for at in block(Vec2::new(-16.0, -10.0), 10, 1.2, if both_ways { 100 } else { 200 }) {
            let (from, to) = (at.extend(0.0), Vec3::new(-at.x, at.y, 0.0));
            scene.send(from, to);
            if both_ways {
                scene.send(to, from);
            }
        }
        scene
    }

    fn streams() -> Scene {
        let mut scene = Scene::square("crossing streams of 64", 30.0, 60.0);
        for at in block(Vec2::new(-25.0, -6.0), 8, 1.5, 64) {
            scene.send(at.extend(0.0), Vec3::new(at.x + 40.0, at.y, 0.0));
            scene.send(Vec3::new(at.y, at.x, 0.0), Vec3::new(at.y, at.x + 40.0, 0.0));
        }
        scene
    }

    fn stairs() -> Scene {
        let floors = [
            boxed([-20.0, -10.0, -1.0], [-3.0, 10.0, 0.0]),
            boxed([3.0, -10.0, 2.0], [20.0, 10.0, 3.0]),
        ];
        let steps = (0..12).map(|step| {
            let (x, z) = (-3.0 + step as f32 * 0.5, step as f32 * 0.25);
            boxed([x, -1.5, -1.0], [x + 0.5, 1.5, z + 0.25])
        });
        let boxes = floors.into_iter().chain(steps).collect();
        let mut scene = Scene::new("stairs, 36 in each direction", boxes, 80.0);
        scene.settings.step = 0.5;
        for at in block(Vec2::new(-16.0, -4.0), 6, 1.5, 36) {
            let (from, to) = (at.extend(0.0), Vec3::new(-at.x, at.y, 3.0));
            scene.send(from, to);
            scene.send(to, from);
        }
        scene
    }

    fn retargeting() -> Scene {
        let mut scene = Scene::square("100, each to another point in each second", 15.0, 20.0);
        scene.period = 1.0;
        let mut random = Random::seed(4);
        for at in block(Vec2::new(-13.0, -13.0), 10, 2.0, 100) {
            let mut any = || (random.next_f64() as f32 - 0.5) * 28.0;
            let targets = (0..20).map(|_| Vec3::new(any(), any(), 0.0)).collect();
            scene.ways.push((at.extend(0.0), targets));
        }
        scene
    }

    /// Two shores, and a ferry between them. DetourCrowd has a link in place of it.
    fn ferry() -> Scene {
        let far = WATER + 24.0;
        let shores = [
            boxed([-far, -10.0, -1.0], [-WATER, 10.0, 0.0]),
            boxed([WATER, -10.0, -1.0], [far, 10.0, 0.0]),
        ];
        let mut scene = Scene::new("ferry, 30 in each direction", shores.to_vec(), 150.0);
        scene.has_ferry = true;
        for at in block(Vec2::new(-30.0, -5.0), 6, 2.0, 30) {
            let (from, to) = (at.extend(0.0), Vec3::new(-at.x, at.y, 0.0));
            scene.send(from, to);
            scene.send(to, from);
        }
        scene
    }

    /// Returns the ends of the ways, if there are some at which agents arrive.
    fn ends(&self) -> Vec<Vec3> {
        let single = self.ways.iter().filter(|(_, targets)| targets.len() == 1);
        single.map(|(_, targets)| targets[0]).collect()
    }

    /// Returns the scene with other starts.
    fn starts(&self, run: u64) -> Vec<Vec3> {
        let mut random = Random::seed(run);
        let mut shift = || (random.next_f64() as f32 - 0.5) * 2.0 * SHIFT;
        self.ways.iter().map(|(start, _)| *start + Vec3::new(shift(), shift(), 0.0)).collect()
    }

    fn updates(&self) -> usize {
        (self.seconds / STEP) as usize
    }

    fn measured(&self, frames: &[Vec<Vec3>], seconds: f64) -> Measures {
        measure(frames, &self.ends(), self.agent.radius, seconds)
    }
}

/// Agents of the engine in a scene.
struct Crowd {
    meshes: Slots<NavigationMesh>,
    agents: Agents,
    ground: Handle,
    ferry: Option<Handle>,
    handles: Vec<Handle>,
    pool: TaskPool,
}

impl Crowd {
    fn new(scene: &Scene, starts: &[Vec3]) -> Crowd {
        let pool = TaskPool::new(Some(1));
        let bake = |boxes: &[(Vec3, Vec3)], settings: BakeSettings| {
            let source = Ground::of_boxes(scene.name, boxes).source();
            NavigationMesh::bake(source, settings, &pool).expect("boxes can be baked")
        };
        let mut meshes = Slots::new(HandleKind::NavigationMesh, 2);
        let ground = meshes.add(bake(&scene.boxes, scene.settings)).expect("there is room");
        let ferry = scene.has_ferry.then(|| {
            let half = FERRY;
            let deck = boxed([-half, -half, -1.0], [half, half, 0.0]);
            let settings = BakeSettings { region_min: 0.1, ..scene.settings };
            meshes.add(bake(&[deck], settings)).expect("there is room")
        });
        let mut crowd =
            Crowd { meshes, agents: Agents::default(), ground, ferry, handles: Vec::new(), pool };
        crowd.add_stops();
        let mesh = crowd.meshes.get(ground).expect("it was added");
        for start in starts {
            let at = mesh.snap(*start).expect("agents start on the ground");
            crowd.handles.extend(crowd.agents.add(ground, at, scene.agent));
        }
        crowd
    }

    fn add_stops(&mut self) {
        let Some(ferry) = self.ferry else { return };
        let pose = MeshPose { position: ferry_position(0.0), rotation: Quat::IDENTITY };
        let mesh = self.meshes.get(ferry).expect("it was added");
        self.agents.add_platform(Platform::new((ferry, mesh), self.ground, pose, (5.0, None)));
        let ground = self.meshes.get_mut(self.ground).expect("it was added");
        for side in [-1.0, 1.0] {
            let ashore = Vec3::X * side * (WATER + 0.7);
            let aboard = Vec3::X * side * (FERRY - 0.7);
            let name = if side < 0.0 { "west" } else { "east" }.to_string();
            let settings = StopSettings { name, ashore, aboard, distance: 2.0 };
            assert!(self.agents.add_stop(ferry, ground, settings), "there is room for links");
        }
    }

    fn update(&mut self, time: f64) {
        if let Some(ferry) = self.ferry {
            let platform = self.agents.platform_mut(ferry).expect("it was added");
            platform.pose.position = ferry_position(time as f32);
        }
        self.agents.update_rides(&self.meshes, self.ground, STEP as f32);
        for id in self.agents.tree(self.ground) {
            let mesh = self.meshes.get_mut(id).expect("it was added");
            if mesh.waiting_tiles() > 0 || self.ferry.is_some() {
                let renumbering = mesh.rebuild(&self.pool).expect("one thread is enough");
                renumbering.into_iter().for_each(|it| self.agents.renumber(id, mesh, &it));
            }
            mesh.update_hierarchy(&self.pool).expect("one thread is enough");
            self.agents.advance(id, mesh, STEP as f32, &self.pool).expect("one thread is enough");
        }
    }
}

/// Returns where the ferry is: at one shore, on its way, at the other one, and back.
fn ferry_position(time: f32) -> Vec3 {
    let reach = WATER - FERRY;
    let phase = time % ((FERRY_WAITS + FERRY_MOVES) * 2.0);
    let half = FERRY_WAITS + FERRY_MOVES;
    let part = ((phase % half - FERRY_WAITS) / FERRY_MOVES).max(0.0);
    let x = if phase < half { -1.0 + part * 2.0 } else { 1.0 - part * 2.0 };
    Vec3::X * x * reach
}

/// Plays a scene in the engine.
fn play(scene: &Scene, run: u64) -> Measures {
    let mut crowd = Crowd::new(scene, &scene.starts(run));
    let clock = ThreadClock::of_this_thread();
    let (mut frames, mut seconds) = (Vec::new(), 0.0);
    let period = (scene.period / STEP).round() as usize;
    for update in 0..scene.updates() {
        if update % period == 0 {
            let mesh = crowd.meshes.get(crowd.ground).expect("it was added");
            for (agent, (_, targets)) in crowd.handles.iter().zip(&scene.ways) {
                let target = targets[(update / period).min(targets.len() - 1)];
                let at = mesh.snap(target).expect("targets are on the ground");
                crowd.agents.set_target(*agent, crowd.ground, at);
            }
        }
        let before = clock.seconds();
        crowd.update(update as f64 * STEP);
        seconds += clock.seconds() - before;
        let position = |agent: &Handle| {
            crowd.agents.world_position(crowd.agents.slots.get(*agent).expect("it was added"))
        };
        frames.push(crowd.handles.iter().map(position).collect());
    }
    scene.measured(&frames, seconds)
}

/// Plays a scene with DetourCrowd.
fn play_peer(scene: &Scene, run: u64, peer: &Peer) -> Measures {
    let mut text = String::new();
    let period = (scene.period / STEP).round() as usize;
    let targets = scene.ways[0].1.len();
    let AgentSettings { radius, speed, acceleration, .. } = scene.agent;
    let links = usize::from(scene.has_ferry);
    let counts = [scene.updates(), period, links, scene.ways.len(), targets];
    counts.iter().for_each(|count| write!(text, "{count} ").expect("text has room"));
    let point = |text: &mut String, at: Vec3| {
        let [x, y, z] = to_peer(at);
        let _ = write!(text, "{x} {y} {z} ");
    };
    let _ = writeln!(text, "{radius} {speed} {acceleration}");
    if scene.has_ferry {
        [-1.0, 1.0].into_iter().for_each(|side| {
            point(&mut text, Vec3::X * side * (WATER + 0.7));
        });
    }
    for (start, (_, targets)) in scene.starts(run).into_iter().zip(&scene.ways) {
        point(&mut text, start);
        targets.iter().for_each(|target| point(&mut text, *target));
    }
    let [file, out] = ["scene", "positions"].map(|name| peer.file(name));
    std::fs::write(&file, text).expect("the scene can be written");
    let paths = [&file, &out].map(|path| path.to_str().expect("a usual path"));
    let ground = Ground::of_boxes(scene.name, &scene.boxes);
    let output = peer.start(("crowd", &ground), &scene.settings, &paths);
    let seconds = output.trim().strip_prefix("seconds ").and_then(|word| word.parse().ok());
    let bytes = std::fs::read(&out).expect("the positions can be read");
    let numbers: Vec<f32> =
        bytes.chunks_exact(4).map(|of| f32::from_le_bytes([of[0], of[1], of[2], of[3]])).collect();
    let points: Vec<Vec3> =
        numbers.chunks_exact(3).map(|of| from_peer([of[0], of[1], of[2]])).collect();
    let frames: Vec<Vec<Vec3>> = points.chunks(scene.ways.len()).map(<[Vec3]>::to_vec).collect();
    scene.measured(&frames, seconds.expect("it prints its time"))
}

pub fn rows(peer: &Option<Peer>) -> Vec<Row> {
    let scenes = [
        Scene::circle(),
        Scene::door("door, 200 in one direction", false, 200.0),
        Scene::door("door, 100 in each direction", true, 250.0),
        Scene::streams(),
        Scene::stairs(),
        Scene::ferry(),
        Scene::retargeting(),
    ];
    scenes.iter().flat_map(|scene| scene_rows(scene, peer)).collect()
}

/// A figure of a scene: its name, its unit, and its value.
type Column = (&'static str, &'static str, fn(&Measures) -> f64);

fn scene_rows(scene: &Scene, peer: &Option<Peer>) -> Vec<Row> {
    let runs = |play: &dyn Fn(u64) -> Measures| {
        Measures::mean(&(0..RUNS).map(play).collect::<Vec<Measures>>())
    };
    let own = runs(&|run| play(scene, run));
    let other = peer.as_ref().map(|peer| runs(&|run| play_peer(scene, run, peer)));
    let columns: [Column; 6] = [
        ("all have arrived", "s", |it| it.all_arrived),
        ("half have arrived", "s", |it| it.half_arrived),
        ("overlap", "s", |it| it.overlap),
        ("longest stuck", "s", |it| it.stuck),
        ("turns", "rad/s", |it| it.turns),
        ("an agent", "µs", |it| it.micros),
    ];
    let has_ends = !scene.ends().is_empty();
    let shown = columns.into_iter().filter(|(name, ..)| has_ends || !name.ends_with("arrived"));
    let row = |(name, unit, of): Column| {
        let mut row = named(format!("{}: {name}", scene.name), of(&own), unit, None);
        row.note = match &other {
            Some(other) => format!("DetourCrowd {:.2}", of(other)),
            None => "DetourCrowd was not measured".to_string(),
        };
        row
    };
    shown.map(row).collect()
}
