//! Trails: where particles were, at even intervals, as rings of points; all of an emitter's turn
//! together. Draws nothing.

use super::block::{Block, LANES};

/// The trails of an emitter's particles.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// Of each particle, `points` places.
    places: Vec<[f32; 3]>,
    points: usize,
    /// Which point of every ring is the newest.
    head: usize,
    /// Seconds since then, and from one to the next.
    clock: f32,
    interval: f32,
}

impl Trail {
    /// Of so many points each; none: no trails.
    pub fn new(points: u32) -> Trail {
        Trail { points: points as usize, ..Trail::default() }
    }

    pub fn points(&self) -> u32 {
        self.points as u32
    }

    pub fn set_interval(&mut self, seconds: f32) {
        self.interval = seconds;
    }

    /// A particle begins: all of its trail is there.
    #[inline(always)]
    pub fn begin(&mut self, index: usize, position: [f32; 3]) {
        if self.points == 0 {
            return;
        }
        let first = index * self.points;
        if self.places.len() < first + self.points {
            self.places.resize(first + self.points, [0.0; 3]);
        }
        self.places[first..first + self.points].fill(position);
    }

    /// A particle takes another place among the particles.
    pub fn copy(&mut self, from: usize, to: usize) {
        let points = self.points;
        if points > 0 {
            self.places.copy_within(from * points..(from + 1) * points, to * points);
        }
    }

    /// Time goes on; every interval the particles' places are noted.
    pub fn follow(&mut self, blocks: &[Block], count: usize, delta: f32) {
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
            self.places[i * self.points + self.head] = [0, 1, 2].map(|a| block.position[a][lane]);
        }
    }

    /// A particle's points, the newest first.
    pub fn of(&self, index: usize) -> impl Iterator<Item = [f32; 3]> + '_ {
        let ring = &self.places[index * self.points..(index + 1) * self.points];
        (0..self.points).map(move |i| ring[(self.head + self.points - i) % self.points])
    }
}
