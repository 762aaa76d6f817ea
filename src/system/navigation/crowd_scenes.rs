//! Scenes for tests of crowds, and the measures of a run: overlaps, the longest times without
//! progress, the changes of direction, and the arrivals.

use super::agent_tests::Crowd;
use super::agents::{Agent, AgentSettings, AgentState};
use super::bake::{BakeSettings, BakeSource};
use super::mesh::NavigationMesh;
use super::passages::Turn;
use super::tests::push_box;
use engine_foundation::deterministic_math::{atan2, sin_cos};
use engine_foundation::random::Random;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};
use std::f32::consts::TAU;

pub const STEP: f32 = 1.0 / 60.0;
/// Part of the smaller radius that two agents may overlap before it counts.
const OVERLAP_PART: f32 = 0.1;
/// Speed below which an agent has no direction that could change.
const SLOW: f32 = 0.2;

/// Distance from all others at which the way of an agent is free, in radii.
const FREE_RADII: f32 = 4.0;

/// Runs of a scene whose measures depend on small differences of its start.
pub const STARTS: u64 = 16;

/// Calls `run` with the number of each start, on several threads. Returns the results in order.
pub fn each_start<T: Send>(starts: u64, run: impl Fn(u64) -> T + Sync) -> Vec<T> {
    const THREADS: u64 = 4;
    let part = |thread: u64| {
        let run = &run;
        move || (0..starts).filter(|at| at % THREADS == thread).map(|at| (at, run(at))).collect()
    };
    let mut results: Vec<(u64, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|at| scope.spawn(part(at))).collect();
        let parts = threads.into_iter().map(|thread| thread.join().expect("a run has failed"));
        parts.flat_map(|part: Vec<(u64, T)>| part).collect()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Measures of a run.
#[derive(Debug, Default, Clone, Copy)]
pub struct Measures {
    pub seconds: f32,
    pub agents: usize,
    pub arrived: usize,
    /// Agents that have come within a radius of their destinations.
    pub reached: usize,
    /// Seconds in which pairs overlap by more than a tenth of a radius, summed over pairs.
    pub overlap_seconds: f32,
    /// Deepest overlap as a part of the smaller radius.
    pub deepest: f32,
    pub longest_stuck: f32,
    pub longest_still: f32,
    /// Longest time without progress of an agent whose way is free: that waits for no turn, and has
    /// nobody near it.
    pub longest_free: f32,
    /// Mean change of the direction of agents that walk, in radians in a second.
    pub jitter: f32,
    turned: f32,
    walked_seconds: f32,
}

impl Measures {
    /// Adds an update of some seconds: the agents with their positions in the world. `before` has
    /// the velocities of the update before.
    pub fn add(&mut self, agents: &[(&Agent, Vec3)], before: &mut [Vec2], step: f32) {
        for (a, (agent, position)) in agents.iter().enumerate() {
            self.longest_stuck = self.longest_stuck.max(agent.stuck_seconds);
            self.longest_still = self.longest_still.max(agent.still_seconds);
            let velocity = agent.velocity;
            if agent.state == AgentState::Moving && velocity.length().min(before[a].length()) > SLOW
            {
                let (sin, cos) = (before[a].perp_dot(velocity), before[a].dot(velocity));
                self.turned += atan2(sin, cos).abs();
                self.walked_seconds += step;
            }
            before[a] = velocity;
            for (other, at_other) in &agents[..a] {
                let smaller = agent.settings.radius.min(other.settings.radius);
                let apart = position.distance(*at_other);
                let part = (agent.settings.radius + other.settings.radius - apart) / smaller;
                self.deepest = self.deepest.max(part);
                if part > OVERLAP_PART {
                    self.overlap_seconds += step;
                }
            }
        }
        self.seconds += step;
        self.jitter = self.turned / self.walked_seconds.max(step);
    }
}

pub fn bake(boxes: &[([f32; 3], [f32; 3])], settings: BakeSettings) -> NavigationMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (low, high) in boxes {
        push_box(&mut vertices, &mut triangles, (*low).into(), (*high).into());
    }
    let source = BakeSource::new(vertices, triangles).unwrap();
    NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap()
}

pub fn square(side: f32) -> NavigationMesh {
    bake(&[([-side, -side, -1.0], [side, side, 0.0])], BakeSettings::DEFAULT)
}

/// Two rooms of 30 by 30 metres, with a wall between them that has a door of a width.
pub fn rooms(door: f32) -> NavigationMesh {
    let boxes = [
        ([-30.0, -15.0, -1.0], [30.0, 15.0, 0.0]),
        ([-0.25, -15.0, 0.0], [0.25, -door * 0.5, 3.0]),
        ([-0.25, door * 0.5, 0.0], [0.25, 15.0, 3.0]),
    ];
    let settings = BakeSettings { radius: 0.4, cell_size: 0.2, ..BakeSettings::DEFAULT };
    bake(&boxes, settings)
}

/// Two floors, the upper one 3 metres higher, with stairs of a width between them.
pub fn storeys(width: f32) -> NavigationMesh {
    let half = width * 0.5;
    let mut boxes =
        vec![([-20.0, -10.0, -1.0], [-3.0, 10.0, 0.0]), ([3.0, -10.0, 2.0], [20.0, 10.0, 3.0])];
    for step in 0..12 {
        let (x, z) = (-3.0 + step as f32 * 0.5, step as f32 * 0.25);
        boxes.push(([x, -half, -1.0], [x + 0.5, half, z + 0.25]));
    }
    let settings = BakeSettings { radius: 0.4, cell_size: 0.2, step: 0.5, ..BakeSettings::DEFAULT };
    bake(&boxes, settings)
}

/// Agents on a circle, each of which walks to the opposite side.
pub fn circle(threads: usize, count: usize, radius: f32, settings: AgentSettings) -> Crowd {
    let mut crowd = Crowd::new(square(radius + 15.0), threads);
    for i in 0..count {
        let (sin, cos) = sin_cos(i as f32 / count as f32 * TAU);
        let at = Vec3::new(cos, sin, 0.0) * radius;
        crowd.send(at, -at, settings);
    }
    crowd
}

/// Returns points in rows and columns that are a distance apart, from a corner on.
pub fn block(low: Vec2, columns: usize, apart: f32) -> impl Iterator<Item = Vec2> {
    (0..).map(move |at| low + Vec2::new((at % columns) as f32, (at / columns) as f32) * apart)
}

impl Crowd {
    /// Updates the crowd for some seconds, or until all have arrived.
    pub fn measure(&mut self, seconds: f32, mut each: impl FnMut(&mut Crowd, u32)) -> Measures {
        let mut measures = Measures { agents: self.handles.len(), ..Measures::default() };
        let mut before: Vec<Vec2> = vec![Vec2::ZERO; self.handles.len()];
        let mut free: Vec<f32> = vec![0.0; self.handles.len()];
        let mut has_come = vec![false; self.handles.len()];
        for update in 0..(seconds / STEP) as u32 {
            each(self, update);
            self.update();
            self.add_to(&mut measures, &mut before);
            self.add_free(&mut measures, &mut free);
            for (agent, has_come) in self.handles.iter().zip(&mut has_come) {
                let agent = self.agents.slots.get(*agent).unwrap();
                let end = agent.destination.map_or(agent.at.position, |end| end.position);
                *has_come |= agent.at.position.distance(end) <= agent.settings.radius;
            }
            measures.reached = has_come.iter().filter(|has_come| **has_come).count();
            measures.arrived = self.arrived();
            if measures.arrived == self.handles.len() {
                break;
            }
        }
        measures
    }

    fn add_to(&self, measures: &mut Measures, before: &mut [Vec2]) {
        let all = self.handles.iter().map(|agent| self.agents.slots.get(*agent).unwrap());
        measures.add(
            &all.map(|agent| (agent, agent.at.position)).collect::<Vec<_>>(),
            before,
            STEP,
        );
    }

    /// Measures the times without progress of those whose way is free. `free` has the seconds for
    /// which it is.
    fn add_free(&self, measures: &mut Measures, free: &mut [f32]) {
        let agents: Vec<_> =
            self.handles.iter().map(|agent| self.agents.slots.get(*agent).unwrap()).collect();
        for (a, agent) in agents.iter().enumerate() {
            let near = agent.settings.radius * FREE_RADII;
            let is_alone = agents
                .iter()
                .enumerate()
                .all(|(b, other)| a == b || agent.at.position.distance(other.at.position) > near);
            let is_free = is_alone && agent.turn == Turn::Free && agent.state == AgentState::Moving;
            free[a] = if is_free { free[a] + STEP } else { 0.0 };
            measures.longest_free = measures.longest_free.max(free[a].min(agent.still_seconds));
        }
    }

    /// Sends each agent to another random point.
    pub fn scatter(&mut self, random: &mut Random) {
        for agent in self.handles.clone() {
            let point = self.mesh.random_point(|| random.next_f64()).unwrap();
            self.agents.set_destination(agent, point);
        }
    }
}
