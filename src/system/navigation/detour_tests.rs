//! Tests of agents whose characters are held back by something that the mesh does not know.

use crate::agents::{AgentSettings, AgentState, Agents};
use crate::mesh::NavigationMesh;
use crate::test_worlds::world;
use engine_foundation::handle::{Handle, HandleKind, Slots};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};

const STEP: f32 = 1.0 / 60.0;
const RADIUS: f32 = 0.4;

/// Box that characters cannot enter, from above.
#[derive(Clone, Copy)]
struct Crate {
    low: Vec2,
    high: Vec2,
}

struct Yard {
    mesh: NavigationMesh,
    agents: Agents,
    walker: Handle,
    crates: Vec<Crate>,
    pool: TaskPool,
    hashes: Vec<u64>,
}

fn mesh_id() -> Handle {
    Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap()
}

impl Yard {
    /// Returns a yard in which a character is sent from left to right.
    fn new(crates: Vec<Crate>, threads: usize) -> Yard {
        let mesh = world(2, 3, |_, _, _| false);
        let near = |x: f32| mesh.nearest(Vec3::new(x, 14.0, 0.4), 2.0, 2.0).unwrap();
        let mut agents = Agents::default();
        let settings = AgentSettings { radius: RADIUS, ..AgentSettings::DEFAULT };
        let walker = agents.add(mesh_id(), near(4.0), settings).unwrap();
        agents.set_destination(walker, near(25.0));
        let pool = TaskPool::new(Some(threads));
        Yard { mesh, agents, walker, crates, pool, hashes: Vec::new() }
    }

    fn state(&self) -> AgentState {
        self.agents.slots.get(self.walker).unwrap().state
    }

    /// Moves the character for some seconds. A crate stops it: it does not slide along.
    fn run(&mut self, seconds: f32) {
        for _ in 0..(seconds / STEP) as usize {
            let before = self.agents.slots.get(self.walker).unwrap().at.position;
            self.agents.update(mesh_id(), &self.mesh, STEP, &self.pool).unwrap();
            let after = self.agents.slots.get(self.walker).unwrap().at.position;
            let is_inside = |known: &Crate| {
                let flat = after.truncate();
                flat.clamp(known.low, known.high).distance(flat) < RADIUS
            };
            if self.crates.iter().any(is_inside) {
                self.agents.correct(self.walker, &self.mesh, before);
            }
            let mut hash = 0u64;
            let write = |number: u64| hash = hash.rotate_left(7).wrapping_mul(31) ^ number;
            self.agents.slots.get(self.walker).unwrap().write_state(write);
            self.hashes.push(hash);
        }
    }
}

fn crate_of(half_width: f32) -> Crate {
    let middle = Vec2::new(14.0, 14.0);
    let half = Vec2::new(0.5, half_width);
    Crate { low: middle - half, high: middle + half }
}

#[test]
fn agents_get_around_crates_that_the_mesh_does_not_know() {
    for half_width in [0.3, 1.0, 2.0, 4.0] {
        let mut yard = Yard::new(vec![crate_of(half_width)], 1);
        yard.run(40.0);
        let position = yard.agents.slots.get(yard.walker).unwrap().at.position;
        assert_eq!(yard.state(), AgentState::Arrived, "{half_width} {position}");
        assert!(position.x > 24.0, "{position}");
    }
}

#[test]
fn agents_without_a_way_are_blocked_until_it_is_open() {
    let wall = |low: [f32; 2], high: [f32; 2]| Crate { low: low.into(), high: high.into() };
    // A pen around the start.
    let pen = vec![
        wall([1.0, 10.0], [8.0, 10.5]),
        wall([1.0, 17.5], [8.0, 18.0]),
        wall([1.0, 10.0], [1.5, 18.0]),
        wall([7.5, 10.0], [8.0, 18.0]),
    ];
    let mut yard = Yard::new(pen, 1);
    yard.run(2.0);
    assert_eq!((yard.state(), yard.agents.statistics.held), (AgentState::Moving, 1));
    let mut blocked = 0.0;
    for _ in 0..160 {
        yard.run(0.25);
        if yard.state() == AgentState::Blocked {
            blocked += 0.25;
            assert_eq!(yard.agents.statistics.held, 1);
        }
    }
    assert!(blocked > 2.0 && blocked < 20.0, "{blocked} seconds");
    let before = yard.agents.slots.get(yard.walker).unwrap().at.position;
    assert!(before.x < 7.5, "{before}");
    yard.crates.clear();
    yard.run(20.0);
    assert_eq!((yard.state(), yard.agents.statistics.held), (AgentState::Arrived, 0));
}

#[test]
fn nobody_steps_aside_without_being_held_back() {
    let mut yard = Yard::new(Vec::new(), 1);
    for _ in 0..8 {
        yard.run(1.0);
        let agent = yard.agents.slots.get(yard.walker).unwrap();
        assert!(agent.held.detour.is_none() && !agent.is_held());
    }
    assert_eq!(yard.state(), AgentState::Arrived);
}

#[test]
fn detours_are_equal_on_any_number_of_threads() {
    let run = |threads| {
        let mut yard = Yard::new(vec![crate_of(2.0)], threads);
        yard.run(20.0);
        yard.hashes
    };
    let one = run(1);
    for threads in [2, 4, 8] {
        assert!(run(threads) == one, "{threads} threads");
    }
}
