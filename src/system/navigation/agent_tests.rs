//! Tests of agents in small scenes: they arrive, keep off walls and each other, and decide the same
//! on any number of threads.

use super::agents::{AgentSettings, AgentState, Agents};
use super::bake::{BakeSettings, BakeSource};
use super::jumps::JumpSettings;
use super::mesh::NavigationMesh;
use super::search::PartialReason;
use super::tests::{push_box, scene};
use engine_foundation::handle::{Handle, HandleKind, Slots};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};

const STEP: f32 = 1.0 / 60.0;

pub(super) struct Crowd {
    pub mesh: NavigationMesh,
    pub id: Handle,
    pub agents: Agents,
    pub handles: Vec<Handle>,
    pub pool: TaskPool,
}

impl Crowd {
    pub fn new(mesh: NavigationMesh, threads: usize) -> Crowd {
        let id = Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap();
        let pool = TaskPool::new(Some(threads));
        Crowd { mesh, id, agents: Agents::default(), handles: Vec::new(), pool }
    }

    pub fn send(&mut self, from: Vec3, to: Vec3, settings: AgentSettings) {
        let near = |at: Vec3| self.mesh.nearest(at, 2.0, 2.0).expect("there is ground");
        let (from, to) = (near(from), near(to));
        let agent = self.agents.add(self.id, from, settings).unwrap();
        self.agents.set_destination(agent, to);
        self.handles.push(agent);
    }

    pub fn update(&mut self) {
        self.agents.update(self.id, &self.mesh, STEP, &self.pool).unwrap();
    }

    pub fn position(&self, at: usize) -> Vec2 {
        self.agents.slots.get(self.handles[at]).unwrap().at.position.truncate()
    }

    pub fn arrived(&self) -> usize {
        let state = |agent: &Handle| self.agents.slots.get(*agent).unwrap().state_name();
        self.handles.iter().filter(|agent| state(agent) == AgentState::Arrived.name()).count()
    }

    pub fn hash(&self) -> Vec<u64> {
        let mut bits = Vec::new();
        for agent in &self.handles {
            self.agents.slots.get(*agent).unwrap().write_state(|number| bits.push(number));
        }
        bits
    }
}

fn square(side: f32) -> NavigationMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    let low = Vec3::new(-side, -side, -1.0);
    push_box(&mut vertices, &mut triangles, low, Vec3::new(side, side, 0.0));
    let source = BakeSource::new(vertices, triangles).unwrap();
    NavigationMesh::bake(source, BakeSettings::DEFAULT, &TaskPool::new(Some(1))).unwrap()
}

fn circle(threads: usize, count: usize) -> Crowd {
    let mut crowd = Crowd::new(square(40.0), threads);
    for i in 0..count {
        let angle = i as f32 / count as f32 * std::f32::consts::TAU;
        let (sin, cos) = engine_foundation::deterministic_math::sin_cos(angle);
        let at = Vec3::new(cos, sin, 0.0) * 25.0;
        crowd.send(at, -at, AgentSettings::DEFAULT);
    }
    crowd
}

#[test]
fn agents_on_a_circle_change_sides_without_overlaps() {
    let mut crowd = circle(1, 40);
    let mut deepest: f32 = 0.0;
    for _ in 0..3000 {
        crowd.update();
        for a in 0..40 {
            for b in 0..a {
                let apart = crowd.position(a).distance(crowd.position(b));
                deepest = deepest.max(1.2 - apart);
            }
        }
    }
    assert_eq!(crowd.arrived(), 40);
    assert!(deepest < 0.4, "{deepest}");
}

#[test]
fn agents_decide_the_same_on_any_number_of_threads() {
    let run = |threads: usize| {
        let mut crowd = circle(threads, 100);
        (0..200).for_each(|_| crowd.update());
        crowd.hash()
    };
    let one = run(1);
    for threads in [2, 4, 8] {
        assert!(run(threads) == one, "{threads}");
    }
}

#[test]
fn agents_walk_through_a_gap_and_never_through_its_wall() {
    let mut crowd = Crowd::new(scene(48, 1), 1);
    for i in 0..30 {
        let offset = Vec3::new((i % 6) as f32 * 1.5, (i / 6) as f32 * 1.5, 0.0);
        let settings = AgentSettings { radius: 0.5, ..AgentSettings::DEFAULT };
        crowd.send(
            Vec3::new(4.0, 20.0, 0.0) + offset,
            Vec3::new(26.0, 4.0, 0.0) + offset,
            settings,
        );
    }
    for _ in 0..2400 {
        crowd.update();
        for at in 0..30 {
            let position = crowd.position(at);
            let in_wall = (19.5..20.5).contains(&position.x) && position.y < 34.0;
            assert!(!in_wall, "{position}");
        }
    }
    assert_eq!(crowd.arrived(), 30);
}

#[test]
fn agents_of_high_priority_are_let_through() {
    let mut crowd = Crowd::new(square(20.0), 1);
    let important = AgentSettings { priority: 9, ..AgentSettings::DEFAULT };
    crowd.send(Vec3::new(-10.0, 0.0, 0.0), Vec3::new(10.0, 0.0, 0.0), important);
    crowd.send(Vec3::new(10.0, 0.0, 0.0), Vec3::new(-10.0, 0.0, 0.0), AgentSettings::DEFAULT);
    let mut aside: [f32; 2] = [0.0; 2];
    for _ in 0..600 {
        crowd.update();
        for (at, aside) in aside.iter_mut().enumerate() {
            *aside = aside.max(crowd.position(at).y.abs());
        }
    }
    assert_eq!(crowd.arrived(), 2);
    assert!(aside[0] < aside[1], "{aside:?}");
}

#[test]
fn the_end_of_a_mesh_ends_the_ways_of_its_agents() {
    let mut crowd = Crowd::new(square(20.0), 1);
    crowd.send(Vec3::ZERO, Vec3::X * 9.0, AgentSettings::DEFAULT);
    crowd.update();
    crowd.agents.lose_mesh(crowd.id);
    assert_eq!(crowd.agents.slots.get(crowd.handles[0]).unwrap().state, AgentState::Lost);
}

#[test]
fn agents_on_a_small_circle_turn_around_each_other() {
    for count in 3..=30 {
        let mut crowd = Crowd::new(square(20.0), 1);
        for i in 0..count {
            let angle = i as f32 / count as f32 * std::f32::consts::TAU;
            let (sin, cos) = engine_foundation::deterministic_math::sin_cos(angle);
            let at = Vec3::new(cos, sin, 0.0) * 6.0;
            crowd.send(at, -at, AgentSettings { radius: 0.4, ..AgentSettings::DEFAULT });
        }
        let (mut least, mut longest): (f32, f32) = (f32::MAX, 0.0);
        let mut frames = 0;
        while crowd.arrived() < count && frames < 1200 {
            crowd.update();
            frames += 1;
            for a in 0..count {
                let agent = crowd.agents.slots.get(crowd.handles[a]).unwrap();
                longest = longest.max(agent.stuck_seconds);
                for b in 0..a {
                    least = least.min(crowd.position(a).distance(crowd.position(b)));
                }
            }
        }
        assert_eq!(crowd.arrived(), count);
        assert!(least > 0.7 && longest < 6.0, "{count}: {least} {longest}");
    }
}

#[test]
fn agents_do_not_slow_down_at_the_corners_of_walls() {
    let mut crowd = Crowd::new(scene(48, 1), 1);
    crowd.send(Vec3::new(5.0, 5.0, 0.0), Vec3::new(35.0, 5.0, 0.0), AgentSettings::DEFAULT);
    crowd.update();
    let length = crowd.agents.slots.get(crowd.handles[0]).unwrap().remaining_distance(&crowd.mesh);
    let mut frames = 1;
    while crowd.arrived() < 1 && frames < 3000 {
        crowd.update();
        frames += 1;
    }
    // One second to start, to turn twice, and to stop.
    let ideal = length / AgentSettings::DEFAULT.speed;
    assert!(frames as f32 * STEP < ideal + 1.0, "{} {ideal}", frames as f32 * STEP);
}

#[test]
fn agents_arrive_with_any_acceleration_and_step() {
    for (acceleration, speed, step) in [
        (12.0, 3.5, STEP),
        (1e4, 3.5, STEP),
        (1e6, 3.5, STEP),
        (12.0, 3.5, 1.0),
        (1e6, 900.0, STEP),
    ] {
        let mut crowd = Crowd::new(square(40.0), 1);
        let settings = AgentSettings { acceleration, speed, ..AgentSettings::DEFAULT };
        crowd.send(Vec3::ZERO, Vec3::new(20.0, 0.0, 0.0), settings);
        for _ in 0..900 {
            crowd.agents.update(crowd.id, &crowd.mesh, step, &crowd.pool).unwrap();
            if crowd.arrived() == 1 {
                break;
            }
        }
        let left = crowd.position(0).distance(Vec2::new(20.0, 0.0));
        assert!(crowd.arrived() == 1 && left < 0.8, "{acceleration} {speed} {step}: {left}");
    }
}

#[test]
fn time_without_progress_counts_until_there_is_progress() {
    let mut crowd = Crowd::new(square(40.0), 1);
    // So slow to start that it makes no progress for half a minute.
    let settings = AgentSettings { acceleration: 0.01, ..AgentSettings::DEFAULT };
    crowd.send(Vec3::ZERO, Vec3::new(30.0, 0.0, 0.0), settings);
    let mut searches = 0;
    for _ in 0..300 {
        crowd.update();
        searches += crowd.agents.statistics.searches;
    }
    let agent = crowd.agents.slots.get(crowd.handles[0]).unwrap();
    assert!(agent.stuck_seconds > 4.5, "{}", agent.stuck_seconds);
    assert_eq!(crowd.agents.statistics.stuck, 1);
    // The first one, and one in each 0.3 seconds.
    assert!((15..=18).contains(&searches), "{searches}");
}

#[test]
fn agents_search_again_from_the_end_of_a_partial_path() {
    // The second destination is no nearer to the end of the path than its start was.
    for (x, expected) in [(30.0, AgentState::Arrived), (-1.0, AgentState::Partial)] {
        let mut crowd = Crowd::new(square(40.0), 1);
        crowd.send(Vec3::ZERO, Vec3::new(20.0, 0.0, 0.0), AgentSettings::DEFAULT);
        crowd.update();
        let destination = crowd.mesh.nearest(Vec3::new(x, 0.0, 0.0), 2.0, 2.0);
        let agent = crowd.agents.slots.get_mut(crowd.handles[0]).unwrap();
        agent.destination = Some(destination.unwrap());
        agent.partial = Some(PartialReason::Budget);
        (0..900).for_each(|_| crowd.update());
        assert_eq!(crowd.agents.slots.get(crowd.handles[0]).unwrap().state, expected, "{x}");
    }
}

#[test]
fn lost_agents_stay_lost_until_they_are_put_on_ground() {
    let mut crowd = Crowd::new(square(40.0), 1);
    crowd.send(Vec3::ZERO, Vec3::new(20.0, 0.0, 0.0), AgentSettings::DEFAULT);
    let agent = crowd.handles[0];
    let at = crowd.mesh.nearest(Vec3::ZERO, 2.0, 2.0).unwrap();
    crowd.agents.lose_mesh(crowd.id);
    crowd.agents.cancel(agent);
    crowd.agents.set_destination(agent, at);
    assert_eq!(crowd.agents.slots.get(agent).unwrap().state, AgentState::Lost);
    crowd.agents.teleport(agent, at);
    assert_eq!(crowd.agents.slots.get(agent).unwrap().state, AgentState::Idle);
}

#[test]
fn the_hash_of_an_agent_has_its_destination_and_settings() {
    let hash = |speed: f32, to: f32| {
        let mut crowd = Crowd::new(square(40.0), 1);
        let settings = AgentSettings { speed, ..AgentSettings::DEFAULT };
        crowd.send(Vec3::ZERO, Vec3::new(to, 0.0, 0.0), settings);
        crowd.hash()
    };
    assert_eq!(hash(3.5, 20.0), hash(3.5, 20.0));
    assert_ne!(hash(3.5, 20.0), hash(4.5, 20.0));
    assert_ne!(hash(3.5, 20.0), hash(3.5, 21.0));
}

/// Returns a square with a manual link that begins in its middle.
fn square_with_lift() -> NavigationMesh {
    let mut mesh = square(20.0);
    mesh.add_link(JumpSettings {
        name: "lift".to_string(),
        from: Vec3::ZERO,
        to: Vec3::new(0.0, 15.0, 0.0),
        cost: 1.0,
        is_two_way: false,
        is_manual: true,
    });
    let pool = TaskPool::new(Some(1));
    mesh.rebuild(&pool).unwrap();
    mesh.update_hierarchy(&pool).unwrap();
    mesh
}

#[test]
fn agents_that_wait_on_manual_links_are_walked_around() {
    let usual = AgentSettings { radius: 0.4, ..AgentSettings::DEFAULT };
    let mut crowd = Crowd::new(square_with_lift(), 1);
    crowd.send(Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 16.0, 0.0), usual);
    (0..120).for_each(|_| crowd.update());
    let state = |crowd: &Crowd| crowd.agents.slots.get(crowd.handles[0]).unwrap().state;
    assert_eq!(state(&crowd), AgentState::Linking);
    crowd.send(Vec3::new(-6.0, 0.05, 0.0), Vec3::new(6.0, 0.0, 0.0), usual);
    let mut least = f32::MAX;
    for _ in 0..360 {
        crowd.update();
        least = least.min(crowd.position(0).distance(crowd.position(1)));
    }
    let passer = crowd.agents.slots.get(crowd.handles[1]).unwrap();
    assert_eq!((state(&crowd), passer.state), (AgentState::Linking, AgentState::Arrived));
    assert!(least > 0.75, "{least}");
}

#[test]
fn agents_queue_at_a_manual_link() {
    let usual = AgentSettings { radius: 0.4, ..AgentSettings::DEFAULT };
    let mut crowd = Crowd::new(square_with_lift(), 1);
    for at in 0..4 {
        crowd.send(Vec3::new(0.0, -2.0 - at as f32, 0.0), Vec3::new(0.0, 16.0, 0.0), usual);
    }
    for _ in 0..600 {
        crowd.update();
        // Those who wait for their turn are not stuck.
        let stuck = |at: &Handle| crowd.agents.slots.get(*at).unwrap().stuck_seconds;
        assert!(crowd.handles.iter().all(|at| stuck(at) < 1.0));
    }
    for a in 0..4 {
        for b in 0..a {
            let apart = crowd.position(a).distance(crowd.position(b));
            assert!(apart > 0.6, "{a} {b}: {apart}");
        }
    }
    // The lift takes one after another.
    for _ in 0..4 {
        let agents = &mut crowd.agents.slots;
        let left = crowd.handles.iter().filter(|at| agents.get_mut(**at).unwrap().leave_link());
        assert_eq!(left.count(), 1);
        (0..600).for_each(|_| crowd.update());
    }
    assert_eq!(crowd.arrived(), 4);
}
