//! Measures of a crowd, from the positions of its agents in each update: the same for every engine.

use engine::foundation::{Vec2, Vec3};

pub const STEP: f64 = 1.0 / 60.0;
/// Part of the radius by which two agents may overlap before it counts.
const OVERLAP_PART: f32 = 0.1;
/// Part of the radius by which an agent has to move so that it does not stand.
const MOVE_PART: f32 = 0.5;
/// Part of the sum of two radii within which agents touch each other.
const TOUCH_PART: f32 = 1.1;
/// Speed below which an agent has no direction, in metres a second.
const SLOW: f32 = 0.2;

/// Measures of a run. Times are in seconds; infinite if not all have arrived.
#[derive(Clone, Copy, Default)]
pub struct Measures {
    pub all_arrived: f64,
    pub half_arrived: f64,
    /// Sum over pairs of the time for which they overlap.
    pub overlap: f64,
    /// Longest time for which an agent and all whom it touches have stood.
    pub stuck: f64,
    /// Mean change of the direction of those who walk, in radians a second.
    pub turns: f64,
    /// CPU time of an agent in an update, in microseconds.
    pub micros: f64,
}

/// State of an agent between two updates.
#[derive(Clone, Copy)]
struct Walker {
    anchor: Vec3,
    stood: f64,
    arrived: Option<f64>,
    velocity: Vec2,
}

/// Computes the measures of a run. `frames` has the positions in each update; `ends` is empty if
/// nobody is to arrive.
pub fn measure(frames: &[Vec<Vec3>], ends: &[Vec3], radius: f32, seconds: f64) -> Measures {
    let Some(first) = frames.first() else { return Measures::default() };
    let (mut measures, mut turned, mut walked) = (Measures::default(), 0.0, 0.0);
    let walker =
        |at: &Vec3| Walker { anchor: *at, stood: 0.0, arrived: None, velocity: Vec2::ZERO };
    let mut walkers: Vec<Walker> = first.iter().map(walker).collect();
    for (update, pair) in frames.windows(2).enumerate() {
        let time = (update + 1) as f64 * STEP;
        for (at, walker) in walkers.iter_mut().enumerate() {
            let (before, now) = (pair[0][at], pair[1][at]);
            let velocity = (now - before).truncate() / STEP as f32;
            if velocity.length().min(walker.velocity.length()) > SLOW {
                turned += f64::from(walker.velocity.angle_to(velocity).abs());
                walked += STEP;
            }
            walker.velocity = velocity;
            walker.stood += STEP;
            if now.distance(walker.anchor) > radius * MOVE_PART {
                (walker.anchor, walker.stood) = (now, 0.0);
            }
            let has_come = ends.get(at).is_some_and(|end| end.distance(now) < radius);
            if has_come && walker.arrived.is_none() {
                walker.arrived = Some(time);
            }
        }
        add_pairs(&mut measures, &walkers, &pair[1], radius);
    }
    let mut times: Vec<f64> =
        walkers.iter().map(|walker| walker.arrived.unwrap_or(f64::INFINITY)).collect();
    times.sort_by(f64::total_cmp);
    measures.all_arrived = times[times.len() - 1];
    measures.half_arrived = times[times.len() / 2];
    measures.turns = turned / f64::max(walked, STEP);
    measures.micros = seconds * 1e6 / (frames.len() * walkers.len()) as f64;
    measures
}

/// Adds the overlaps of an update, and the times for which agents are stuck.
fn add_pairs(measures: &mut Measures, walkers: &[Walker], positions: &[Vec3], radius: f32) {
    let mut stuck: Vec<f64> = walkers.iter().map(|walker| walker.stood).collect();
    for (a, at) in positions.iter().enumerate() {
        for (b, other) in positions.iter().enumerate().take(a) {
            let apart = at.distance(*other);
            if apart < radius * (2.0 - OVERLAP_PART) {
                measures.overlap += STEP;
            }
            if apart < radius * 2.0 * TOUCH_PART {
                for (own, other) in [(a, b), (b, a)] {
                    if walkers[other].is_under_way() {
                        stuck[own] = stuck[own].min(walkers[other].stood);
                    }
                }
            }
        }
    }
    for (walker, stuck) in walkers.iter().zip(stuck).filter(|(walker, _)| walker.is_under_way()) {
        measures.stuck = measures.stuck.max(stuck.min(walker.stood));
    }
}

impl Walker {
    fn is_under_way(&self) -> bool {
        self.arrived.is_none()
    }
}

impl Measures {
    /// Returns the mean of several runs.
    pub fn mean(runs: &[Measures]) -> Measures {
        let count = runs.len() as f64;
        let mean = |of: fn(&Measures) -> f64| runs.iter().map(of).sum::<f64>() / count;
        Measures {
            all_arrived: mean(|it| it.all_arrived),
            half_arrived: mean(|it| it.half_arrived),
            overlap: mean(|it| it.overlap),
            stuck: mean(|it| it.stuck),
            turns: mean(|it| it.turns),
            micros: mean(|it| it.micros),
        }
    }
}
