//! Tests of agents whose characters are held back by something that the mesh does not know, or by
//! each other.

use crate::agents::{Agent, AgentSettings, AgentState, Agents};
use crate::bake::BakeSettings;
use crate::crowd_scenes::{bake, block, rooms};
use crate::detours::Obstruction;
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
    walkers: Vec<Handle>,
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
        let mut yard = Yard::without_walkers(world(2, 3, |_, _, _| false), crates, threads);
        yard.send([4.0, 14.0], [25.0, 14.0], AgentSettings::DEFAULT);
        yard
    }

    fn without_walkers(mesh: NavigationMesh, crates: Vec<Crate>, threads: usize) -> Yard {
        let (walkers, hashes) = (Vec::new(), Vec::new());
        let pool = TaskPool::new(Some(threads));
        Yard { mesh, agents: Agents::default(), walkers, crates, pool, hashes }
    }

    fn send(&mut self, from: [f32; 2], to: [f32; 2], settings: AgentSettings) {
        let near =
            |at: [f32; 2]| self.mesh.nearest(Vec3::new(at[0], at[1], 0.4), 2.0, 2.0).unwrap();
        let (from, to) = (near(from), near(to));
        let settings = AgentSettings { radius: RADIUS, ..settings };
        let walker = self.agents.add(mesh_id(), from, settings).unwrap();
        self.agents.set_destination(walker, to);
        self.walkers.push(walker);
    }

    fn walker(&self) -> &Agent {
        self.agents.slots.get(self.walkers[0]).unwrap()
    }

    fn state(&self) -> AgentState {
        self.walker().state
    }

    fn positions(&self) -> Vec<Vec3> {
        let position = |walker: &Handle| self.agents.slots.get(*walker).unwrap().at.position;
        self.walkers.iter().map(position).collect()
    }

    /// Moves the characters for some seconds. A crate stops them: they do not slide along.
    fn run(&mut self, seconds: f32) {
        for _ in 0..(seconds / STEP) as usize {
            let before = self.positions();
            self.agents.update(mesh_id(), &self.mesh, STEP, &self.pool).unwrap();
            let after = self.positions();
            for (at, walker) in self.walkers.iter().enumerate() {
                let flat = after[at].truncate();
                let is_inside = |it: &Crate| flat.clamp(it.low, it.high).distance(flat) < RADIUS;
                if self.crates.iter().any(is_inside) {
                    self.agents.correct(*walker, &self.mesh, before[at]);
                }
            }
            self.note_hash();
        }
    }

    /// Moves the characters for an update. They push each other out of themselves.
    fn run_bodies(&mut self) {
        self.agents.update(mesh_id(), &self.mesh, STEP, &self.pool).unwrap();
        let mut after = self.positions();
        for a in 0..after.len() {
            for b in 0..after.len() {
                let way = (after[a] - after[b]).truncate();
                let overlap = 2.0 * RADIUS - way.length();
                if a != b && overlap > 0.0 {
                    after[a] += (way.normalize_or_zero() * overlap).extend(0.0);
                }
            }
            self.agents.correct(self.walkers[a], &self.mesh, after[a]);
        }
    }

    fn note_hash(&mut self) {
        let mut hash = 0u64;
        let mut write = |number: u64| hash = hash.rotate_left(7).wrapping_mul(31) ^ number;
        self.agents.slots.iter().for_each(|(_, agent)| agent.write_state(&mut write));
        self.hashes.push(hash);
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
        let position = yard.walker().at.position;
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
    let before = yard.walker().at.position;
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
        let agent = yard.walker();
        assert!(agent.obstruction.detour.is_none() && !agent.is_held());
    }
    assert_eq!(yard.state(), AgentState::Arrived);
}

#[test]
fn detours_are_equal_on_any_number_of_threads() {
    // So many that several threads have a part of them.
    const COUNT: usize = 130;
    let run = |threads| {
        let mut yard = Yard::without_walkers(world(4, 3, |_, _, _| false), Vec::new(), threads);
        yard.crates = vec![Crate { low: Vec2::new(20.0, 6.0), high: Vec2::new(21.0, 54.0) }];
        // They do not avoid each other, so that all are held back by the crate.
        for at in 0..COUNT {
            let (x, y) = (14.0 - (at / 13) as f32, 10.0 + (at % 13) as f32 * 3.0);
            let settings = AgentSettings { avoids: false, ..AgentSettings::DEFAULT };
            yard.send([x, y], [26.0, y], settings);
        }
        let mut detours = 0;
        for _ in 0..12 {
            yard.run(1.0);
            let agents = yard.agents.slots.iter();
            detours += agents.filter(|(_, agent)| agent.obstruction.detour.is_some()).count();
        }
        (yard.hashes, detours)
    };
    let one = run(1);
    assert!(one.1 > 13, "{} detours", one.1);
    for threads in [2, 4, 8] {
        assert!(run(threads) == one, "{threads} threads");
    }
}

#[test]
fn agents_that_are_sent_again_get_around_crates_too() {
    for updates in [1, 60] {
        let mut yard = Yard::new(vec![crate_of(1.0)], 1);
        let destination = yard.walker().destination.unwrap();
        for _ in 0..30 * 60 / updates {
            yard.agents.set_destination(yard.walkers[0], destination);
            yard.run(updates as f32 * STEP * 1.001);
            if yard.state() == AgentState::Arrived {
                break;
            }
        }
        assert_eq!(yard.state(), AgentState::Arrived, "{} {updates}", yard.walker().at.position);
    }
}

#[test]
fn characters_that_press_at_a_door_are_never_blocked() {
    let mut yard = Yard::without_walkers(rooms(1.4), Vec::new(), 1);
    for at in block(Vec2::new(-9.0, -4.0), 5, 1.0).take(50) {
        yard.send(at.to_array(), [at.x + 18.0, at.y], AgentSettings::DEFAULT);
    }
    let mut least = f32::MAX;
    for _ in 0..120 * 60 {
        yard.run_bodies();
        for (_, agent) in yard.agents.slots.iter() {
            assert!(agent.state != AgentState::Blocked, "{}", agent.at.position);
            assert!(agent.obstruction.detour.is_none(), "{}", agent.at.position);
        }
        let at = yard.positions();
        let pairs = (0..at.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        least = pairs.map(|(a, b)| at[a].distance(at[b])).fold(least, f32::min);
        if yard.agents.slots.iter().all(|(_, agent)| agent.state == AgentState::Arrived) {
            break;
        }
    }
    assert!(yard.agents.slots.iter().all(|(_, agent)| agent.state == AgentState::Arrived));
    assert!(yard.positions().iter().all(|at| at.x > 0.0));
    assert!(least < 2.0 * RADIUS + 0.01, "they have touched: {least}");
}

#[test]
fn following_ends_a_detour() {
    let mut yard = Yard::new(vec![crate_of(2.0)], 1);
    yard.send([6.0, 6.0], [6.0, 6.0], AgentSettings::DEFAULT);
    for _ in 0..60 * 20 {
        yard.run(STEP * 1.001);
        if yard.walker().obstruction.detour.is_some() {
            break;
        }
    }
    assert!(yard.walker().obstruction.detour.is_some());
    yard.agents.follow(yard.walkers[0], yard.walkers[1], Vec2::new(1.0, 0.0));
    assert!(yard.walker().obstruction == Obstruction::default());
    yard.run(20.0);
    assert_eq!(yard.state(), AgentState::Arrived);
}

/// Corridor for one, in which an agent stands.
fn corridor(standing: AgentSettings) -> (Yard, Handle) {
    let boxes = [
        ([0.0, 0.0, -1.0], [24.0, 8.0, 0.0]),
        ([8.0, 0.0, 0.0], [16.0, 3.4, 3.0]),
        ([8.0, 4.6, 0.0], [16.0, 8.0, 3.0]),
    ];
    let settings = BakeSettings { radius: 0.4, cell_size: 0.2, ..BakeSettings::DEFAULT };
    let mut yard = Yard::without_walkers(bake(&boxes, settings), Vec::new(), 1);
    yard.send([2.0, 4.0], [22.0, 4.0], AgentSettings::DEFAULT);
    let at = yard.mesh.nearest(Vec3::new(12.0, 4.0, 0.0), 1.0, 1.0).unwrap();
    let standing = AgentSettings { radius: RADIUS, ..standing };
    let agent = yard.agents.add(mesh_id(), at, standing).unwrap();
    (yard, agent)
}

#[test]
fn agents_are_blocked_by_those_who_do_not_make_way() {
    let stubborn = AgentSettings { avoids: false, priority: 255, ..AgentSettings::DEFAULT };
    let important = AgentSettings { priority: 5, ..AgentSettings::DEFAULT };
    for standing in [stubborn, important] {
        let (mut yard, other) = corridor(standing);
        yard.run(4.0);
        assert_eq!(yard.state(), AgentState::Moving);
        let mut blocked = 0;
        for _ in 0..200 {
            yard.run(0.1);
            blocked += u32::from(yard.state() == AgentState::Blocked);
            assert!(yard.walker().stuck_seconds < 5.1, "{}", yard.walker().stuck_seconds);
        }
        assert!(blocked > 110, "{blocked} of 200");
        let end = yard.mesh.nearest(Vec3::new(22.0, 6.0, 0.0), 1.0, 1.0).unwrap();
        while yard.state() != AgentState::Blocked {
            yard.run(0.1);
        }
        // It walks away: nobody waits for the end of the four seconds.
        yard.agents.set_destination(other, end);
        yard.run(0.5);
        assert_eq!(yard.state(), AgentState::Moving);
        yard.run(6.0);
        assert_eq!(yard.state(), AgentState::Arrived);
    }
}

#[test]
fn agents_that_make_way_block_nobody() {
    let (mut yard, _) = corridor(AgentSettings::DEFAULT);
    for _ in 0..120 {
        yard.run(0.1);
        assert!(yard.state() != AgentState::Blocked && yard.walker().stuck_seconds < 1.0);
    }
    assert_eq!(yard.state(), AgentState::Arrived);
}
