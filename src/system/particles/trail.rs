//! Trails: earlier positions of particles at regular intervals, stored as ring buffers. All rings
//! of an emitter advance together. Draws nothing.

use super::particle_block::{LANES, ParticleBlock};

/// The trails of an emitter's particles.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// Ring buffers of `points` positions, one for each particle.
    positions: Vec<[f32; 3]>,
    points: usize,
    /// Index of the newest point in every ring.
    head: usize,
    /// Seconds since the newest point. `interval` is the number of seconds between points.
    clock: f32,
    interval: f32,
}

impl Trail {
    /// Creates trails with `points` points each. 0 means no trails.
    pub fn new(points: u32) -> Trail {
        Trail { points: points as usize, ..Trail::default() }
    }

    pub fn points(&self) -> u32 {
        self.points as u32
    }

    pub fn set_interval(&mut self, seconds: f32) {
        self.interval = seconds;
    }

    /// Fills the trail of a new particle with its position.
    #[inline(always)]
    pub fn start(&mut self, index: usize, position: [f32; 3]) {
        if self.points == 0 {
            return;
        }
        let first = index * self.points;
        if self.positions.len() < first + self.points {
            self.positions.resize(first + self.points, [0.0; 3]);
        }
        self.positions[first..first + self.points].fill(position);
    }

    /// Copies the trail of a particle to another slot.
    pub fn copy(&mut self, from: usize, to: usize) {
        let points = self.points;
        if points > 0 {
            self.positions.copy_within(from * points..(from + 1) * points, to * points);
        }
    }

    /// Advances the time, and records the particles' positions at every interval.
    pub fn follow(&mut self, blocks: &[ParticleBlock], count: usize, delta: f32) {
        if self.points == 0 {
            return;
        }
        self.clock += delta;
        if self.clock < self.interval {
            return;
        }
        self.clock = if self.interval > 0.0 { self.clock % self.interval } else { 0.0 };
        self.head = (self.head + 1) % self.points;
        for i in 0..count {
            let (block, lane) = (&blocks[i / LANES], i % LANES);
            self.positions[i * self.points + self.head] =
                [0, 1, 2].map(|a| block.position[a][lane]);
        }
    }

    /// Returns the points of a particle, the newest first.
    pub fn of(&self, index: usize) -> impl Iterator<Item = [f32; 3]> + '_ {
        let ring = &self.positions[index * self.points..(index + 1) * self.points];
        (0..self.points).map(move |i| ring[(self.head + self.points - i) % self.points])
    }
}
