//! One emitter of one living effect: its particles in blocks, what it spawns in a step, who dies,
//! and what it tells other emitters. Knows no effects and no looks.

use super::block::{Block, LANES, One, Step};
use super::definition::{BIRTH, COLLISION, DEATH, EffectData, EmitterDef, Numbers};
use super::pose::Pose;
use super::spawn::{Spawner, between, two};
use super::trail::Trail;
use crate::foundation::Vec3;
use crate::foundation::hash::StateHash;
use crate::foundation::random::Random;
use std::sync::Arc;

/// Something that happened to a particle, in the world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Event {
    pub position: Vec3,
    pub velocity: Vec3,
}

/// A particle that an event brings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Incoming {
    pub position: Vec3,
    /// What it takes along.
    pub velocity: Vec3,
}

/// What is spawned in one step.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// By rate, spread over the step.
    pub steady: u32,
    /// The part of the step after which the first of them comes, and from one to the next.
    pub first: f32,
    pub apart: f32,
    /// At once, at the end of the step.
    pub sudden: u32,
    /// Where the effect was when the step began, and is at its end, in the particles' space.
    pub from: Pose,
    pub to: Pose,
    /// What particles take along of the effect's own velocity.
    pub carried: Vec3,
    pub position: Vec3,
    pub speed: f32,
    pub spawner: Spawner,
}

/// An emitter at work.
pub struct Emitter {
    /// Whether an effect has it; else it waits to be used again.
    pub live: bool,
    pub data: Arc<EffectData>,
    pub index: usize,
    /// Whether its particles are in the plane of x and y.
    pub flat: bool,
    /// Whether it moves in this step.
    pub stepping: bool,
    pub blocks: Vec<Block>,
    pub count: usize,
    pub step: Step,
    pub order: Order,
    /// From its particles' space into the world.
    pub outward: Pose,
    /// Seconds since its start, and the part of a particle that waits.
    pub time: f64,
    pub carry: f64,
    pub random: Random,
    pub serial: u32,
    pub events: [Vec<Event>; 3],
    pub incoming: Vec<Incoming>,
    pub trail: Trail,
    holes: Vec<u32>,
}

impl Emitter {
    /// An emitter of an effect that begins. `spare`: blocks that are used again.
    pub fn new(
        data: Arc<EffectData>,
        index: usize,
        flat: bool,
        seed: u64,
        spare: Vec<Block>,
    ) -> Emitter {
        let spawner = Spawner::new(&data.emitters[index].numbers, Vec3::ZERO, flat);
        let order = Order {
            steady: 0,
            first: 0.0,
            apart: 0.0,
            sudden: 0,
            from: Pose::IDENTITY,
            to: Pose::IDENTITY,
            carried: Vec3::ZERO,
            position: Vec3::ZERO,
            speed: 1.0,
            spawner,
        };
        let trail = Trail::new(data.emitters[index].numbers.trail_points);
        Emitter {
            live: true,
            data,
            index,
            flat,
            stepping: false,
            blocks: spare,
            count: 0,
            step: Step::STILL,
            order,
            outward: Pose::IDENTITY,
            time: 0.0,
            carry: 0.0,
            random: Random::seed(seed),
            serial: 0,
            events: [const { Vec::new() }; 3],
            incoming: Vec::new(),
            trail,
            holes: Vec::new(),
        }
    }

    pub fn def(&self) -> &EmitterDef {
        &self.data.emitters[self.index]
    }

    pub fn numbers(&self) -> &Numbers {
        &self.data.emitters[self.index].numbers
    }

    /// What moving its particles costs, in the units of [`Step::cost`].
    pub fn cost(&self) -> usize {
        self.count * self.step.cost()
    }

    /// The blocks with particles in them, and how many particles the last has.
    pub fn used(&self) -> (&[Block], usize) {
        let blocks = self.count.div_ceil(LANES);
        (&self.blocks[..blocks], self.count - blocks.saturating_sub(1) * LANES)
    }

    /// What [`move_blocks`] needs, in pieces: the blocks, and what moves them.
    pub fn work(&mut self) -> (&mut [Block], &Step, usize, bool) {
        let blocks = self.count.div_ceil(LANES);
        (&mut self.blocks[..blocks], &self.step, self.count, self.flat)
    }

    /// Moves all particles on, and ends and begins those whose time it is.
    pub fn run(&mut self) {
        let (blocks, step, count, flat) = self.work();
        move_blocks(blocks, 0, count, step, flat);
        self.settle();
    }

    /// What follows when all blocks have been moved: deaths, births, trails.
    pub fn settle(&mut self) {
        self.events.iter_mut().for_each(Vec::clear);
        self.note_hits();
        self.bury();
        self.spawn();
        self.close_holes();
        let Emitter { trail, blocks, count, step, .. } = self;
        trail.follow(blocks, *count, step.delta);
    }

    fn event_of(&self, index: usize) -> Event {
        let one = self.blocks[index / LANES].get(index % LANES);
        let outward = &self.outward;
        Event {
            position: outward.point(Vec3::from_array(one.position)),
            velocity: outward.rotation * (Vec3::from_array(one.velocity) * outward.scale),
        }
    }

    fn tells(&self, what: usize) -> bool {
        self.numbers().subs[what].emitter > 0
    }

    fn note_hits(&mut self) {
        if !self.tells(COLLISION) {
            return;
        }
        for block in 0..self.count.div_ceil(LANES) {
            let mut hit = self.blocks[block].hit;
            while hit != 0 {
                let index = block * LANES + hit.trailing_zeros() as usize;
                let event = self.event_of(index);
                self.events[COLLISION].push(event);
                hit &= hit - 1;
            }
        }
    }

    /// Collects the places of the dead, in order.
    fn bury(&mut self) {
        self.holes.clear();
        let tells = self.tells(DEATH);
        for block in 0..self.count.div_ceil(LANES) {
            let mut dead = std::mem::take(&mut self.blocks[block].dead);
            while dead != 0 {
                let index = block * LANES + dead.trailing_zeros() as usize;
                self.holes.push(index as u32);
                if tells {
                    let event = self.event_of(index);
                    self.events[DEATH].push(event);
                }
                dead &= dead - 1;
            }
        }
        // The first is taken first.
        self.holes.reverse();
    }

    /// The place of a new particle: that of a dead one, or the next.
    #[inline(always)]
    fn place(&mut self) -> Option<usize> {
        if let Some(hole) = self.holes.pop() {
            return Some(hole as usize);
        }
        if self.count >= self.numbers().max as usize {
            return None;
        }
        if self.count == self.blocks.len() * LANES {
            self.blocks.push(Block::EMPTY);
        }
        self.count += 1;
        Some(self.count - 1)
    }

    fn spawn(&mut self) {
        let order = self.order;
        self.order.steady = 0;
        self.order.sudden = 0;
        for i in 0..order.steady {
            let part = (order.first + order.apart * i as f32).min(1.0);
            let pose =
                Pose { position: order.from.position.lerp(order.to.position, part), ..order.to };
            if !self.begin(&order, &pose, Vec3::ZERO, 1.0 - part) {
                break;
            }
        }
        for _ in 0..order.sudden {
            if !self.begin(&order, &order.to, Vec3::ZERO, 0.0) {
                break;
            }
        }
        let incoming = std::mem::take(&mut self.incoming);
        let inward = self.outward.inverse();
        for one in &incoming {
            let pose = Pose { position: inward.point(one.position), ..order.to };
            let velocity = inward.rotation * (one.velocity * inward.scale);
            // Where the particle was, whatever the emitter's own place.
            let there = Order { position: Vec3::ZERO, carried: Vec3::ZERO, ..order };
            if !self.begin(&there, &pose, velocity, 0.0) {
                break;
            }
        }
        self.incoming = incoming;
        self.incoming.clear();
    }

    /// Begins a particle, which has lived `lead` of the step already: whether there was room.
    fn begin(&mut self, order: &Order, pose: &Pose, velocity: Vec3, lead: f32) -> bool {
        let Some(index) = self.place() else { return false };
        let (place, direction) = order.spawner.draw(&mut self.random);
        let [a, b] = two(&mut self.random);
        let numbers = &self.data.emitters[self.index].numbers;
        let speed = between(numbers.speed, a) * order.speed * pose.scale;
        let velocity = pose.rotation * (direction * speed) + velocity + order.carried;
        let lead = lead * self.step.delta;
        let mut position = pose.point(order.position + place) + velocity * lead;
        if self.flat {
            position.z = 0.0;
        }
        let pace = 1.0 / between(numbers.lifetime, b);
        let one = One {
            position: position.to_array(),
            velocity: velocity.to_array(),
            age: pace * lead,
            pace,
            serial: self.serial,
            near: Default::default(),
        };
        self.serial = self.serial.wrapping_add(1);
        self.blocks[index / LANES].set(index % LANES, &one);
        self.trail.begin(index, one.position);
        if self.tells(BIRTH) {
            let event = self.event_of(index);
            self.events[BIRTH].push(event);
        }
        true
    }

    /// Moves the last particles into places that nobody took.
    fn close_holes(&mut self) {
        // The holes come last first here, so that what is moved is never a hole itself.
        for i in 0..self.holes.len() {
            let hole = self.holes[i] as usize;
            let last = self.count - 1;
            if hole != last {
                let one = self.blocks[last / LANES].get(last % LANES);
                self.blocks[hole / LANES].set(hole % LANES, &one);
                self.trail.copy(last, hole);
            }
            self.count = last;
        }
        self.holes.clear();
    }

    /// Takes another definition on: what is alive goes on by it.
    pub fn redefine(&mut self, data: &Arc<EffectData>, index: usize) {
        self.data = data.clone();
        self.index = index;
        let (max, points) = (self.numbers().max as usize, self.numbers().trail_points);
        self.count = self.count.min(max);
        if self.trail.points() != points {
            self.trail = Trail::new(points);
            for i in 0..self.count {
                let one = self.blocks[i / LANES].get(i % LANES);
                self.trail.begin(i, one.position);
            }
        }
    }

    /// The box around its particles in their space, as far as the last step measured it.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let (blocks, _) = self.used();
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for block in blocks {
            low = low.min(Vec3::from_array(block.low));
            high = high.max(Vec3::from_array(block.high));
        }
        (!blocks.is_empty() && low.is_finite() && high.is_finite()).then_some((low, high))
    }

    /// All that decides on what comes next.
    pub fn write_state(&self, hash: &mut StateHash) {
        hash.write_u64(self.count as u64);
        hash.write_f64(self.time);
        hash.write_f64(self.carry);
        hash.write_u64(self.serial.into());
        self.random.state().iter().for_each(|word| hash.write_u64(*word));
        let (blocks, last) = self.used();
        for (i, block) in blocks.iter().enumerate() {
            let count = if i + 1 == blocks.len() { last } else { LANES };
            let lanes = block.position.iter().chain(&block.velocity);
            for lane in lanes.chain([&block.age, &block.pace]) {
                hash.write_bytes(bytemuck::cast_slice(&lane[..count]));
            }
            let own = u64::MAX >> (LANES - count);
            block.near.iter().for_each(|steps| hash.write_u64(steps & own));
        }
    }
}

/// Moves blocks of an emitter that has `count` particles; the first of these is its block `first`.
pub fn move_blocks(blocks: &mut [Block], first: usize, count: usize, step: &Step, flat: bool) {
    for (i, block) in blocks.iter_mut().enumerate() {
        let lanes = count.saturating_sub((first + i) * LANES).min(LANES);
        match flat {
            true => block.step::<2>(lanes, step),
            false => block.step::<3>(lanes, step),
        }
    }
}
