//! Lone agents on ground that they have for themselves: each opening through which a path leads
//! lets them through, at each speed and length of an update, and so does ground between many turned
//! obstacles. Then the same openings with others in them.

use super::agents::{AgentSettings, AgentState, Agents};
use super::bake::{BakeSettings, BakeSource};
use super::mesh::{NavigationMesh, NearestPolygon};
use super::search::{PolygonPath, SEARCH_NODES_DEFAULT, Searcher};
use super::tests::push_box;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::handle::{Handle, HandleKind, Slots};
use engine_foundation::random::Random;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};
use std::f32::consts::PI;

/// Radii and sizes of cells.
const CLASSES: [(f32, f32); 5] = [(0.4, 0.2), (0.4, 0.1), (0.6, 0.3), (0.3, 0.15), (0.3, 0.1)];
const SPEEDS: [f32; 4] = [1.4, 3.5, 5.0, 8.0];
const STEPS: [f32; 3] = [1.0 / 60.0, 1.0 / 30.0, 1.0 / 144.0];
/// Size of the floor with a door.
const FLOOR: Vec2 = Vec2::new(16.0, 8.0);
/// Size of the floor with turned boxes, and their number.
const YARD: f32 = 30.0;
const BOXES: usize = 62;

/// Longest times without progress, in seconds: of a lone agent at a door, and of agents that have
/// others or many corners on their way, which includes the time in which they slow down.
const DOOR_STUCK_MAX: f32 = 0.5;
const STUCK_MAX: f32 = 1.0;
/// The same for crowds, where agents push each other back: 2.0 seconds were measured.
const CROWD_STUCK_MAX: f32 = 2.5;

fn class((radius, cell_size): (f32, f32)) -> BakeSettings {
    BakeSettings { radius, cell_size, region_min: 1.0, ..BakeSettings::DEFAULT }
}

/// Returns the least width of an opening that is passable in any case, as the manual says it.
fn least_width(settings: &BakeSettings) -> f32 {
    let cells = (settings.radius / settings.cell_size - 1e-3).ceil();
    2.0 * (cells + 1.0) * settings.cell_size
}

#[derive(Default)]
struct Level {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Level {
    fn new(floor: Vec2) -> Level {
        let mut level = Level::default();
        level.add(Vec3::new(0.0, 0.0, -1.0), floor.extend(0.0), 0.0);
        level
    }

    /// Adds a box, turned about its middle by an angle.
    fn add(&mut self, low: Vec3, high: Vec3, angle: f32) {
        let first = self.vertices.len();
        push_box(&mut self.vertices, &mut self.triangles, low, high);
        let middle = ((low + high) * 0.5).truncate();
        let (sin, cos) = sin_cos(angle);
        for vertex in &mut self.vertices[first..] {
            let turned = Vec2::new(cos, sin).rotate(vertex.truncate() - middle) + middle;
            *vertex = turned.extend(vertex.z);
        }
    }

    fn bake(self, settings: BakeSettings) -> NavigationMesh {
        let source = BakeSource::new(self.vertices, self.triangles).unwrap();
        NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap()
    }
}

/// Two rooms with a door of a width between them, in a wall of some thickness.
fn door(random: &mut Random, width: f32, settings: BakeSettings) -> NavigationMesh {
    let mut between = |low: f32, high: f32| low + (high - low) * random.next_f64() as f32;
    let (x, y) = (between(6.0, 10.0), between(2.5, 5.5));
    let thick = [0.3, 1.0, 2.0, 4.0][between(0.0, 3.99) as usize] * 0.5;
    let mut level = Level::new(FLOOR);
    level.add(Vec3::new(x - thick, 0.0, 0.0), Vec3::new(x + thick, y - width * 0.5, 3.0), 0.0);
    let low = Vec3::new(x - thick, y + width * 0.5, 0.0);
    level.add(low, Vec3::new(x + thick, FLOOR.y, 3.0), 0.0);
    level.bake(settings)
}

/// Many boxes, turned at random.
fn clutter(random: &mut Random, settings: BakeSettings) -> NavigationMesh {
    let mut level = Level::new(Vec2::splat(YARD));
    for _ in 0..BOXES {
        let mut next = |high: f32| random.next_f64() as f32 * high;
        let low = Vec3::new(next(YARD), next(YARD), 0.0);
        let size = Vec3::new(0.3 + next(3.0), 0.3 + next(3.0), 3.0);
        let angle = next(PI);
        level.add(low, low + size, angle);
    }
    level.bake(settings)
}

fn has_way(mesh: &NavigationMesh, from: NearestPolygon, to: NearestPolygon) -> bool {
    let mut path = PolygonPath::default();
    Searcher::default().search(mesh, from, to, SEARCH_NODES_DEFAULT, &mut path);
    path.partial.is_none()
}

/// Length of the way that the corners of a path give.
fn length(mesh: &NavigationMesh, from: NearestPolygon, to: NearestPolygon) -> f32 {
    let mut path = PolygonPath::default();
    Searcher::default().search(mesh, from, to, SEARCH_NODES_DEFAULT, &mut path);
    let (mut sum, mut before) = (0.0, from.position);
    path.corners(mesh, from.position, to.position, |corner, _| {
        sum += before.distance(corner);
        before = corner;
        true
    });
    sum
}

fn first_corner(mesh: &NavigationMesh, from: NearestPolygon, to: NearestPolygon) -> Vec3 {
    let mut path = PolygonPath::default();
    Searcher::default().search(mesh, from, to, SEARCH_NODES_DEFAULT, &mut path);
    let mut corner = from.position;
    path.corners(mesh, from.position, to.position, |point, _| {
        corner = point;
        false
    });
    corner
}

fn mesh_id() -> Handle {
    Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap()
}

/// Trips of lone agents.
#[derive(Default, Debug)]
struct Trips {
    count: usize,
    /// Longest time without progress that is allowed, in seconds.
    stuck_max: f32,
    /// Those that did not arrive in time, or made no progress for longer.
    failures: Vec<String>,
}

impl Trips {
    fn run(
        &mut self,
        mesh: &NavigationMesh,
        (from, to): (NearestPolygon, NearestPolygon),
        settings: AgentSettings,
        step: f32,
    ) {
        let (id, pool, mut agents) = (mesh_id(), TaskPool::new(Some(1)), Agents::default());
        let agent = agents.add(id, from, settings).unwrap();
        agents.set_destination(agent, to);
        let ideal = length(mesh, from, to) / settings.speed + 0.5;
        let (mut seconds, mut stuck): (f32, f32) = (0.0, 0.0);
        let mut state = AgentState::Idle;
        while seconds < ideal * 2.0 + 4.0 && state != AgentState::Arrived {
            agents.update(id, mesh, step, &pool).unwrap();
            let agent = agents.slots.get(agent).unwrap();
            state = agent.state;
            stuck = stuck.max(agent.stuck_seconds);
            seconds += step;
        }
        self.count += 1;
        if state != AgentState::Arrived || stuck > self.stuck_max {
            let agent = agents.slots.get(agent).unwrap();
            self.failures.push(format!(
                "{:?} at {} to {}, {settings:?}, {step} s: {} s without progress",
                agent.state, agent.at.position, to.position, stuck
            ));
        }
    }

    fn check(&self) {
        let Trips { count, failures, .. } = self;
        assert!(failures.is_empty(), "{} of {count}: {failures:#?}", failures.len());
    }
}

#[test]
fn lone_agents_get_through_each_door_that_is_wide_enough() {
    let mut random = Random::seed(25);
    let mut all = Trips { stuck_max: DOOR_STUCK_MAX, ..Trips::default() };
    for class_of in CLASSES {
        let settings = class(class_of);
        for run in 0..60 {
            let width = least_width(&settings) * (1.0 + 0.2 * random.next_f64() as f32);
            let mesh = door(&mut random, width, settings);
            let near = |x: f32, y: f32| mesh.nearest(Vec3::new(x, y, 0.0), 1.0, 1.0).unwrap();
            let ways = (near(1.5, 4.0), near(14.5, 4.0));
            assert!(has_way(&mesh, ways.0, ways.1), "a door of {width} m is passable");
            let speed = SPEEDS[run % SPEEDS.len()];
            let step = STEPS[run / SPEEDS.len() % STEPS.len()];
            let agent = AgentSettings { radius: class_of.0, speed, ..AgentSettings::DEFAULT };
            all.run(&mesh, ways, agent, step);
            all.run(&mesh, (ways.1, ways.0), agent, step);
        }
    }
    all.check();
}

#[test]
fn lone_agents_get_through_ground_between_turned_boxes() {
    let mut random = Random::seed(3);
    let mut all = Trips { stuck_max: STUCK_MAX, ..Trips::default() };
    for class_of in CLASSES {
        let settings = class(class_of);
        for _ in 0..4 {
            let mesh = clutter(&mut random, settings);
            for run in 0..24 {
                let mut point = || mesh.random_point(|| random.next_f64()).unwrap();
                let ways = (point(), point());
                if !has_way(&mesh, ways.0, ways.1) {
                    continue;
                }
                let speed = SPEEDS[run % SPEEDS.len()];
                let step = STEPS[run / SPEEDS.len() % STEPS.len()];
                let agent = AgentSettings { radius: class_of.0, speed, ..AgentSettings::DEFAULT };
                all.run(&mesh, ways, agent, step);
            }
        }
    }
    all.check();
}

#[test]
fn crowds_get_on_between_turned_boxes() {
    for world in 0..3 {
        let mut random = Random::seed(40 + world);
        let mesh = clutter(&mut random, class((0.4, 0.2)));
        let (id, pool, mut agents) = (mesh_id(), TaskPool::new(Some(1)), Agents::default());
        let first = mesh.random_point(|| random.next_f64()).unwrap();
        let mut points = Vec::new();
        while points.len() < 200 {
            let point = mesh.random_point(|| random.next_f64()).unwrap();
            if has_way(&mesh, first, point) {
                points.push(point);
            }
        }
        let settings = AgentSettings { radius: 0.4, ..AgentSettings::DEFAULT };
        let handles: Vec<Handle> =
            points[..40].iter().map(|at| agents.add(id, *at, settings).unwrap()).collect();
        let (mut longest, mut trips, mut next) = (0.0f32, 0, 40);
        for _ in 0..3600 {
            for handle in &handles {
                let state = agents.slots.get(*handle).unwrap().state;
                if matches!(state, AgentState::Idle | AgentState::Arrived) {
                    trips += usize::from(state == AgentState::Arrived);
                    agents.set_destination(*handle, points[next % points.len()]);
                    next += 1;
                }
            }
            agents.update(id, &mesh, STEPS[0], &pool).unwrap();
            let stuck = handles.iter().map(|it| agents.slots.get(*it).unwrap().stuck_seconds);
            longest = stuck.fold(longest, f32::max);
        }
        assert!(
            longest <= CROWD_STUCK_MAX && trips > 150,
            "world {world}: {longest} s, {trips} trips"
        );
    }
}

#[test]
fn agents_get_past_idle_ones_in_doors() {
    for count in [1, 3] {
        let mut random = Random::seed(7);
        for class_of in CLASSES {
            for _ in 0..10 {
                let settings = class(class_of);
                let width = least_width(&settings) * (1.0 + 0.2 * random.next_f64() as f32);
                let mesh = door(&mut random, width, settings);
                let near = |x: f32, y: f32| mesh.nearest(Vec3::new(x, y, 0.0), 1.0, 1.0).unwrap();
                let (from, to) = (near(1.5, 4.0), near(14.5, 4.0));
                let corner = first_corner(&mesh, from, to);
                let (id, pool, mut agents) = (mesh_id(), TaskPool::new(Some(1)), Agents::default());
                let settings = AgentSettings { radius: class_of.0, ..AgentSettings::DEFAULT };
                for at in 0..count {
                    let apart = (at as f32 - (count - 1) as f32 * 0.5) * class_of.0 * 2.2;
                    let at = mesh.nearest(corner + Vec3::X * apart, 2.0, 1.0).unwrap();
                    agents.add(id, at, settings).unwrap();
                }
                let walker = agents.add(id, from, settings).unwrap();
                agents.set_destination(walker, to);
                let (mut stuck, mut state) = (0.0f32, AgentState::Idle);
                for _ in 0..3600 {
                    agents.update(id, &mesh, STEPS[0], &pool).unwrap();
                    let agent = agents.slots.get(walker).unwrap();
                    (state, stuck) = (agent.state, stuck.max(agent.stuck_seconds));
                    if state == AgentState::Arrived {
                        break;
                    }
                }
                assert!(
                    state == AgentState::Arrived && stuck <= STUCK_MAX,
                    "{count} in a door of {width} m for {class_of:?}: {state:?}, {stuck} s"
                );
            }
        }
    }
}
