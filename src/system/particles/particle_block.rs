//! Blocks of 64 particles as a structure of arrays, and their motion: the loops that run for every
//! particle in every frame. A block fits into the L1 cache, so that each pass over it is cheap.
//! Every loop runs over plain arrays of known length, which the compiler vectorizes. Knows no
//! emitters. Nothing in a block depends on another block, so any thread may move any block.

// Lanes are accessed by index, because most loops read several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::collision::{StepCollider, collide_all};
use super::forces::{StepForce, apply_all};

/// Number of particles in a block.
pub const LANES: usize = 64;
/// One component of all particles in a block.
pub type BlockColumn = [f32; LANES];

/// Number of steps after a contact during which a particle reports no further hits.
const CONTACT_STEPS: usize = 3;

/// Bytes per particle: position, velocity, age, pace and serial number, and its share of the
/// block's masks and bounds. Trails take an additional 12 bytes per point.
pub const BYTES_PER_PARTICLE: usize = size_of::<ParticleBlock>() / LANES;

/// A block of particles as a structure of arrays.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
pub struct ParticleBlock {
    pub position: [BlockColumn; 3],
    pub velocity: [BlockColumn; 3],
    /// Age of a particle as a fraction of its lifetime. The particle is dead from 1 on.
    pub age: BlockColumn,
    /// Growth of the age per second: one over the lifetime.
    pub age_rate: BlockColumn,
    /// Serial number in the order of birth. The random parts of a particle's appearance derive from
    /// it.
    pub serial: [u32; LANES],
    /// Bit mask of the particles that died in the last step.
    pub dead: u64,
    /// Bit mask of the particles that hit a collider in the last step.
    pub hit_mask: u64,
    /// Bit masks of the particles that a collider stopped in the last step, the one before and the
    /// one before that. Such a particle does not report a new hit, because a resting particle is
    /// stopped in every second step.
    pub recent_stops: [u64; CONTACT_STEPS],
    /// Corners of the bounding box of its particles, if the step measured it.
    pub low: [f32; 3],
    pub high: [f32; 3],
}

/// Motion of an emitter's particles in one step, in the space in which they move.
#[derive(Clone, Debug)]
pub struct MotionStep {
    pub delta: f32,
    /// Velocity added by gravity.
    pub gravity: [f32; 3],
    /// Factor by which drag reduces the velocity.
    pub damping: f32,
    pub pushes: Vec<StepForce>,
    pub collides: Vec<StepCollider>,
    /// Fraction of the normal velocity that a collision preserves. `friction` is the fraction of
    /// the tangential velocity that it removes.
    pub bounce: f32,
    pub friction: f32,
    pub radius: f32,
    pub life_loss: f32,
    /// True if the bounds must be measured.
    pub bounds: bool,
}

impl MotionStep {
    /// No motion.
    pub const AT_REST: MotionStep = MotionStep {
        delta: 0.0,
        gravity: [0.0; 3],
        damping: 1.0,
        pushes: Vec::new(),
        collides: Vec::new(),
        bounce: 0.5,
        friction: 0.0,
        radius: 0.0,
        life_loss: 0.0,
        bounds: false,
    };
}

impl MotionStep {
    /// Returns the cost of moving a particle: 1 with only gravity and drag. According to
    /// measurements, an attractor and a whisker raise it to 3. A turbulence has six waves, each
    /// costlier than drag.
    pub fn cost(&self) -> usize {
        let push =
            |push: &StepForce| if matches!(push, StepForce::Turbulence { .. }) { 4 } else { 1 };
        1 + self.pushes.iter().map(push).sum::<usize>() + self.collides.len()
    }
}

impl ParticleBlock {
    pub const EMPTY: ParticleBlock = ParticleBlock {
        position: [[0.0; LANES]; 3],
        velocity: [[0.0; LANES]; 3],
        age: [0.0; LANES],
        age_rate: [0.0; LANES],
        serial: [0; LANES],
        dead: 0,
        hit_mask: 0,
        recent_stops: [0; CONTACT_STEPS],
        low: [0.0; 3],
        high: [0.0; 3],
    };

    /// Moves the first `count` particles. The others are also moved, without visible effect. `D` is
    /// the number of axes, 2 or 3.
    ///
    /// The order follows Mick West, "Multithreading Particle Systems", Game Developer, April 2006:
    /// the new position follows from the old velocity, and the new velocity from the forces at the
    /// old position.
    pub fn step<const D: usize>(&mut self, count: usize, step: &MotionStep) {
        let dt = step.delta;
        for i in 0..LANES {
            self.age[i] += self.age_rate[i] * dt;
        }
        if step.pushes.is_empty() && step.collides.is_empty() {
            self.fly::<D>(step);
        } else {
            self.push::<D>(count, step);
        }
        self.mark_dead(count);
        if step.bounds {
            self.measure::<D>(count);
        }
    }

    /// Moves the particles with only gravity and drag, which is the common case.
    #[inline(always)]
    fn fly<const D: usize>(&mut self, step: &MotionStep) {
        let (dt, damping) = (step.delta, step.damping);
        for axis in 0..D {
            let (position, speed) = (&mut self.position[axis], &mut self.velocity[axis]);
            let gravity = step.gravity[axis];
            for i in 0..LANES {
                position[i] += speed[i] * dt;
                speed[i] = (speed[i] + gravity) * damping;
            }
        }
        self.record_collisions(0, step);
    }

    /// Records the particles that a collider stopped in this step, and those for which this is a
    /// new hit.
    #[inline(always)]
    fn record_collisions(&mut self, stopped: u64, step: &MotionStep) {
        self.hit_mask = stopped & !self.recent_stops.iter().fold(0, |all, steps| all | steps);
        self.recent_stops.copy_within(..CONTACT_STEPS - 1, 1);
        self.recent_stops[0] = stopped;
        if step.life_loss > 0.0 {
            let mut hit = self.hit_mask;
            while hit != 0 {
                self.age[hit.trailing_zeros() as usize] += step.life_loss;
                hit &= hit - 1;
            }
        }
    }

    #[inline(always)]
    fn push<const D: usize>(&mut self, count: usize, step: &MotionStep) {
        let dt = step.delta;
        let mut next = [[0.0; LANES]; 3];
        for axis in 0..D {
            for i in 0..LANES {
                next[axis][i] = self.position[axis][i] + self.velocity[axis][i] * dt;
            }
        }
        let velocities_before = self.velocity;
        apply_all::<D>(&step.pushes, &self.position, &mut self.velocity);
        for axis in 0..D {
            let (speed, gravity) = (&mut self.velocity[axis], step.gravity[axis]);
            for speed in speed.iter_mut() {
                *speed = (*speed + gravity) * step.damping;
            }
        }
        let mut stopped = 0;
        if !step.collides.is_empty() {
            let mut hit = [0u32; LANES];
            let past = (&self.position, &velocities_before);
            collide_all::<D>(step, past, &mut next, &mut self.velocity, &mut hit);
            if hit.iter().fold(0, |any, one| any | one) != 0 {
                for (i, one) in hit[..count].iter().enumerate() {
                    stopped |= u64::from(*one != 0) << i;
                }
            }
        }
        self.record_collisions(stopped, step);
        self.position[..D].copy_from_slice(&next[..D]);
    }

    #[inline(always)]
    fn mark_dead(&mut self, count: usize) {
        let mut any = 0u32;
        for age in &self.age {
            any |= u32::from(*age >= 1.0);
        }
        self.dead = 0;
        if any != 0 {
            for (i, age) in self.age[..count].iter().enumerate() {
                self.dead |= u64::from(*age >= 1.0) << i;
            }
        }
    }

    fn measure<const D: usize>(&mut self, count: usize) {
        /// Number of independent accumulators, so that operations do not wait for each other.
        const WIDE: usize = 8;
        for axis in 0..D {
            let (mut low, mut high) = ([f32::INFINITY; WIDE], [f32::NEG_INFINITY; WIDE]);
            let (positions, rest) = self.position[axis][..count].as_chunks::<WIDE>();
            for positions in positions {
                for i in 0..WIDE {
                    low[i] = if positions[i] < low[i] { positions[i] } else { low[i] };
                    high[i] = if positions[i] > high[i] { positions[i] } else { high[i] };
                }
            }
            self.low[axis] = low.iter().chain(rest).fold(f32::INFINITY, |a, b| a.min(*b));
            self.high[axis] = high.iter().chain(rest).fold(f32::NEG_INFINITY, |a, b| a.max(*b));
        }
    }

    /// Returns one particle of the block.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> SingleParticle {
        SingleParticle {
            position: [0, 1, 2].map(|axis| self.position[axis][lane]),
            velocity: [0, 1, 2].map(|axis| self.velocity[axis][lane]),
            age: self.age[lane],
            age_rate: self.age_rate[lane],
            serial: self.serial[lane],
            recent_stops: self.recent_stops.map(|steps| steps >> lane & 1 != 0),
        }
    }

    /// Writes a particle into a lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, one: &SingleParticle) {
        for axis in 0..3 {
            self.position[axis][lane] = one.position[axis];
            self.velocity[axis][lane] = one.velocity[axis];
        }
        self.age[lane] = one.age;
        self.age_rate[lane] = one.age_rate;
        self.serial[lane] = one.serial;
        for (steps, recent_stops) in self.recent_stops.iter_mut().zip(one.recent_stops) {
            *steps = *steps & !(1 << lane) | u64::from(recent_stops) << lane;
        }
    }
}

/// A single particle outside a block.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SingleParticle {
    pub position: [f32; 3],
    pub velocity: [f32; 3],
    pub age: f32,
    pub age_rate: f32,
    pub serial: u32,
    /// For each of the last steps, true if a collider stopped the particle.
    pub recent_stops: [bool; CONTACT_STEPS],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_particle_is_smaller_than_a_cache_line() {
        assert_eq!(BYTES_PER_PARTICLE, 37);
    }

    #[test]
    fn particles_fall_and_die() {
        let mut block = ParticleBlock::EMPTY;
        for i in 0..LANES {
            block.age_rate[i] = 0.1 + i as f32 * 0.05;
            block.velocity[0][i] = i as f32;
        }
        let step = MotionStep {
            delta: 0.5,
            gravity: [0.0, -5.0, 0.0],
            bounds: true,
            ..MotionStep::AT_REST
        };
        block.step::<2>(LANES, &step);
        block.step::<2>(LANES, &step);
        assert_eq!((block.position[0][10], block.position[1][10]), (10.0, -2.5));
        assert_eq!((block.low, block.high), ([0.0, -2.5, 0.0], [63.0, -2.5, 0.0]));
        // Particles with a lifetime of at most a second: from 0.1 + 18 * 0.05 on.
        assert_eq!(block.dead, u64::MAX << 18);
        block.step::<2>(20, &step);
        assert_eq!(block.dead >> 20, 0, "those beyond the count are nobody");
    }

    /// Returns position and velocity after the step of the article that [`ParticleBlock::step`]
    /// names.
    fn example([x, y]: [f32; 2], [vx, vy]: [f32; 2], dt: f32) -> ([f32; 2], [f32; 2]) {
        let (a, b) = ([500.0f32, 300.0], [800.0, 420.0]);
        let to = [x - 640.0, y - 360.0];
        let candidate = [x + vx * dt, y + vy * dt];
        let force = 1000.0 / (to[0] * to[0] + to[1] * to[1]);
        let pushed = [vx + to[0] * force, vy + to[1] * force];
        let v = pushed.map(|v| v - 0.03 * v);
        let along = [b[0] - a[0], b[1] - a[1]];
        let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
        let mut normal = [-along[1] / length, along[0] / length];
        if (x - a[0]) * normal[0] + (y - a[1]) * normal[1] < 0.0 {
            normal = normal.map(|part| -part);
        }
        let to_candidate = [candidate[0] - x, candidate[1] - y];
        let cross = to_candidate[0] * along[1] - to_candidate[1] * along[0];
        let from = [a[0] - x, a[1] - y];
        let t = (from[0] * along[1] - from[1] * along[0]) / cross;
        let u = (from[0] * to_candidate[1] - from[1] * to_candidate[0]) / cross;
        if !((0.0..=1.0).contains(&t) && (0.0..=1.0).contains(&u)) {
            return (candidate, v);
        }
        let position = [0, 1].map(|i| [x, y][i] + to_candidate[i] * t + 0.01 * normal[i]);
        let into = v[0] * normal[0] + v[1] * normal[1];
        (position, [0, 1].map(|i| v[i] - 2.0 * into * normal[i]))
    }

    #[test]
    fn the_step_matches_the_example_of_the_article() {
        use crate::data::Falloff;
        use crate::forces::ForceRange;
        use engine_foundation::random::Random;
        let reach = ForceRange { strength: -1000.0, falloff: Falloff::Inverse, fade: 0.0 };
        let step = MotionStep {
            delta: 1.0 / 60.0,
            damping: 0.97,
            pushes: vec![StepForce::Attractor { at: [640.0, 360.0, 0.0], reach }],
            collides: vec![StepCollider::Whisker { from: [500.0, 300.0], to: [800.0, 420.0] }],
            bounce: 1.0,
            ..MotionStep::AT_REST
        };
        let (mut random, mut hits) = (Random::seed(3), 0);
        for _ in 0..500 {
            let mut block = ParticleBlock::EMPTY;
            for i in 0..LANES {
                let mut draw = |low: f32, high: f32| low + random.next_f64() as f32 * (high - low);
                // Positions near the whisker, so that many particles hit it.
                let x = draw(490.0, 810.0);
                let y = 300.0 + (x - 500.0) * 0.4 + draw(-40.0, 40.0);
                (block.position[0][i], block.position[1][i]) = (x, y);
                block.velocity[0][i] = draw(-900.0, 900.0);
                block.velocity[1][i] = draw(-900.0, 900.0);
            }
            let previous = block.clone();
            block.step::<2>(LANES, &step);
            hits += block.hit_mask.count_ones();
            for i in 0..LANES {
                let of = |lanes: &[BlockColumn; 3]| [lanes[0][i], lanes[1][i]];
                let (position, v) =
                    example(of(&previous.position), of(&previous.velocity), step.delta);
                let near = |a: [f32; 2], b: [f32; 2]| {
                    (a[0] - b[0]).abs() + (a[1] - b[1]).abs()
                        < 2e-3 + 1e-5 * (b[0].abs() + b[1].abs())
                };
                let (p, s) = (of(&block.position), of(&block.velocity));
                assert!(near(p, position) && near(s, v), "{p:?} {position:?}, {s:?} {v:?}");
            }
        }
        assert!(hits > 1000, "{hits}");
    }
}
