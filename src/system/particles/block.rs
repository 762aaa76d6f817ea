//! Sixty-four particles as a structure of arrays, and how they move: the loops that run for every
//! particle in every frame. A block fits into the innermost cache, so that each pass over it is
//! cheap, and every loop is over plain arrays of known length, which the compiler turns into vector
//! instructions. Knows no emitters; nothing in a block depends on another block, so any thread may
//! move any of them.

// Lanes are walked by number, for most loops take from several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::collide::{Collide, hit_all};
use super::force::{Push, push_all};

/// Particles of a block.
pub const LANES: usize = 64;
/// One number of each.
pub type Lane = [f32; LANES];

/// For so many steps after something stopped it, a particle hits nothing.
const NEAR_STEPS: usize = 3;

/// Bytes that a particle takes: position, velocity, age, pace and number, and its part of the
/// block's marks and bounds. Trails come on top, 12 bytes a point.
pub const BYTES_PER_PARTICLE: usize = size_of::<Block>() / LANES;

/// Particles side by side.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
pub struct Block {
    pub position: [Lane; 3],
    pub velocity: [Lane; 3],
    /// The part of its life that a particle has lived: from 1 on it is dead.
    pub age: Lane,
    /// By how much the age grows in a second: one over the lifetime.
    pub pace: Lane,
    /// In the order of birth; what is random about a particle's looks follows from it.
    pub serial: [u32; LANES],
    /// Who died in the last step, and who hit something in it: a bit each.
    pub dead: u64,
    pub hit: u64,
    /// Who was stopped by something in the last step, the one before and the one before that. Who
    /// was does not hit it anew: what lies on something is stopped in every second step.
    pub near: [u64; NEAR_STEPS],
    /// The corners of the box around its particles, where that was asked for.
    pub low: [f32; 3],
    pub high: [f32; 3],
}

/// What moves an emitter's particles in one step, in the space in which they move.
#[derive(Clone, Debug)]
pub struct Step {
    pub delta: f32,
    /// What gravity adds to a velocity.
    pub gravity: [f32; 3],
    /// What is left of a velocity.
    pub damping: f32,
    pub pushes: Vec<Push>,
    pub collides: Vec<Collide>,
    /// What a collision leaves, and takes.
    pub bounce: f32,
    pub friction: f32,
    pub radius: f32,
    pub life_loss: f32,
    /// Whether the bounds are wanted.
    pub bounds: bool,
}

impl Step {
    /// Nothing moves.
    pub const STILL: Step = Step {
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

impl Step {
    /// What moving a particle costs: 1 where there are only gravity and drag. As measured: an
    /// attractor and a whisker make 3 of it; a turbulence is six waves, each dearer than a drag.
    pub fn cost(&self) -> usize {
        let push = |push: &Push| if matches!(push, Push::Turbulence { .. }) { 4 } else { 1 };
        1 + self.pushes.iter().map(push).sum::<usize>() + self.collides.len()
    }
}

impl Block {
    pub const EMPTY: Block = Block {
        position: [[0.0; LANES]; 3],
        velocity: [[0.0; LANES]; 3],
        age: [0.0; LANES],
        pace: [0.0; LANES],
        serial: [0; LANES],
        dead: 0,
        hit: 0,
        near: [0; NEAR_STEPS],
        low: [0.0; 3],
        high: [0.0; 3],
    };

    /// Moves the first `count` particles on; the others are moved along, which nobody notices. `D`:
    /// 2 or 3, how many of the axes there are.
    ///
    /// The order of Niklas Frykholm's particle example (Bitsquid, 2009; SYSTEMS A9.9): the new
    /// place follows from the old velocity, the new velocity from the forces at the old place.
    pub fn step<const D: usize>(&mut self, count: usize, step: &Step) {
        let dt = step.delta;
        for i in 0..LANES {
            self.age[i] += self.pace[i] * dt;
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

    /// The usual case: gravity and drag.
    #[inline(always)]
    fn fly<const D: usize>(&mut self, step: &Step) {
        let (dt, damping) = (step.delta, step.damping);
        for axis in 0..D {
            let (place, speed) = (&mut self.position[axis], &mut self.velocity[axis]);
            let gravity = step.gravity[axis];
            for i in 0..LANES {
                place[i] += speed[i] * dt;
                speed[i] = (speed[i] + gravity) * damping;
            }
        }
        self.note_stopped(0, step);
    }

    /// Notes who was stopped in this step, and who hit something by that.
    #[inline(always)]
    fn note_stopped(&mut self, stopped: u64, step: &Step) {
        self.hit = stopped & !self.near.iter().fold(0, |all, steps| all | steps);
        self.near.copy_within(..NEAR_STEPS - 1, 1);
        self.near[0] = stopped;
        if step.life_loss > 0.0 {
            let mut hit = self.hit;
            while hit != 0 {
                self.age[hit.trailing_zeros() as usize] += step.life_loss;
                hit &= hit - 1;
            }
        }
    }

    #[inline(always)]
    fn push<const D: usize>(&mut self, count: usize, step: &Step) {
        let dt = step.delta;
        let mut next = [[0.0; LANES]; 3];
        for axis in 0..D {
            for i in 0..LANES {
                next[axis][i] = self.position[axis][i] + self.velocity[axis][i] * dt;
            }
        }
        let before = self.velocity;
        push_all::<D>(&step.pushes, &self.position, &mut self.velocity);
        for axis in 0..D {
            let (speed, gravity) = (&mut self.velocity[axis], step.gravity[axis]);
            for speed in speed.iter_mut() {
                *speed = (*speed + gravity) * step.damping;
            }
        }
        let mut stopped = 0;
        if !step.collides.is_empty() {
            let mut hit = [0u32; LANES];
            let past = (&self.position, &before);
            hit_all::<D>(step, past, &mut next, &mut self.velocity, &mut hit);
            if hit.iter().fold(0, |any, one| any | one) != 0 {
                for (i, one) in hit[..count].iter().enumerate() {
                    stopped |= u64::from(*one != 0) << i;
                }
            }
        }
        self.note_stopped(stopped, step);
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
        /// So many side by side do not wait for each other.
        const WIDE: usize = 8;
        for axis in 0..D {
            let (mut low, mut high) = ([f32::INFINITY; WIDE], [f32::NEG_INFINITY; WIDE]);
            let (places, rest) = self.position[axis][..count].as_chunks::<WIDE>();
            for places in places {
                for i in 0..WIDE {
                    low[i] = if places[i] < low[i] { places[i] } else { low[i] };
                    high[i] = if places[i] > high[i] { places[i] } else { high[i] };
                }
            }
            self.low[axis] = low.iter().chain(rest).fold(f32::INFINITY, |a, b| a.min(*b));
            self.high[axis] = high.iter().chain(rest).fold(f32::NEG_INFINITY, |a, b| a.max(*b));
        }
    }

    /// One of its particles.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> One {
        One {
            position: [0, 1, 2].map(|axis| self.position[axis][lane]),
            velocity: [0, 1, 2].map(|axis| self.velocity[axis][lane]),
            age: self.age[lane],
            pace: self.pace[lane],
            serial: self.serial[lane],
            near: self.near.map(|steps| steps >> lane & 1 != 0),
        }
    }

    /// Puts a particle in the place of one.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, one: &One) {
        for axis in 0..3 {
            self.position[axis][lane] = one.position[axis];
            self.velocity[axis][lane] = one.velocity[axis];
        }
        self.age[lane] = one.age;
        self.pace[lane] = one.pace;
        self.serial[lane] = one.serial;
        for (steps, near) in self.near.iter_mut().zip(one.near) {
            *steps = *steps & !(1 << lane) | u64::from(near) << lane;
        }
    }
}

/// A particle by itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct One {
    pub position: [f32; 3],
    pub velocity: [f32; 3],
    pub age: f32,
    pub pace: f32,
    pub serial: u32,
    /// Whether something stopped it in the last steps.
    pub near: [bool; NEAR_STEPS],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_particle_takes_fewer_bytes_than_a_cache_line() {
        assert_eq!(BYTES_PER_PARTICLE, 37);
    }

    #[test]
    fn particles_fall_and_die() {
        let mut block = Block::EMPTY;
        for i in 0..LANES {
            block.pace[i] = 0.1 + i as f32 * 0.05;
            block.velocity[0][i] = i as f32;
        }
        let step = Step { delta: 0.5, gravity: [0.0, -5.0, 0.0], bounds: true, ..Step::STILL };
        block.step::<2>(LANES, &step);
        block.step::<2>(LANES, &step);
        assert_eq!((block.position[0][10], block.position[1][10]), (10.0, -2.5));
        assert_eq!((block.low, block.high), ([0.0, -2.5, 0.0], [63.0, -2.5, 0.0]));
        // Those that live no more than a second: from 0.1 + 18 * 0.05 on.
        assert_eq!(block.dead, u64::MAX << 18);
        block.step::<2>(20, &step);
        assert_eq!(block.dead >> 20, 0, "those beyond the count are nobody");
    }

    /// The step of the example as its article has it (SYSTEMS A9.9): place and velocity after it.
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
        let way = [candidate[0] - x, candidate[1] - y];
        let cross = way[0] * along[1] - way[1] * along[0];
        let from = [a[0] - x, a[1] - y];
        let t = (from[0] * along[1] - from[1] * along[0]) / cross;
        let u = (from[0] * way[1] - from[1] * way[0]) / cross;
        if !((0.0..=1.0).contains(&t) && (0.0..=1.0).contains(&u)) {
            return (candidate, v);
        }
        let place = [0, 1].map(|i| [x, y][i] + way[i] * t + 0.01 * normal[i]);
        let into = v[0] * normal[0] + v[1] * normal[1];
        (place, [0, 1].map(|i| v[i] - 2.0 * into * normal[i]))
    }

    #[test]
    fn the_example_of_the_article_comes_out_as_it_should() {
        use crate::foundation::random::Random;
        use crate::system::particles::definition::Falloff;
        use crate::system::particles::force::Reach;
        let reach = Reach { strength: -1000.0, falloff: Falloff::Inverse, fade: 0.0 };
        let step = Step {
            delta: 1.0 / 60.0,
            damping: 0.97,
            pushes: vec![Push::Attractor { at: [640.0, 360.0, 0.0], reach }],
            collides: vec![Collide::Whisker { from: [500.0, 300.0], to: [800.0, 420.0] }],
            bounce: 1.0,
            ..Step::STILL
        };
        let (mut random, mut hits) = (Random::seed(3), 0);
        for _ in 0..500 {
            let mut block = Block::EMPTY;
            for i in 0..LANES {
                let mut draw = |low: f32, high: f32| low + random.next_f64() as f32 * (high - low);
                // Near the whisker, so that many hit it.
                let x = draw(490.0, 810.0);
                let y = 300.0 + (x - 500.0) * 0.4 + draw(-40.0, 40.0);
                (block.position[0][i], block.position[1][i]) = (x, y);
                block.velocity[0][i] = draw(-900.0, 900.0);
                block.velocity[1][i] = draw(-900.0, 900.0);
            }
            let before = block.clone();
            block.step::<2>(LANES, &step);
            hits += block.hit.count_ones();
            for i in 0..LANES {
                let of = |lanes: &[Lane; 3]| [lanes[0][i], lanes[1][i]];
                let (place, v) = example(of(&before.position), of(&before.velocity), step.delta);
                let near = |a: [f32; 2], b: [f32; 2]| {
                    (a[0] - b[0]).abs() + (a[1] - b[1]).abs()
                        < 2e-3 + 1e-5 * (b[0].abs() + b[1].abs())
                };
                let (p, s) = (of(&block.position), of(&block.velocity));
                assert!(near(p, place) && near(s, v), "{p:?} {place:?}, {s:?} {v:?}");
            }
        }
        assert!(hits > 1000, "{hits}");
    }
}
