//! Emitter of a playing effect: its particles in blocks, the spawns of a step, deaths, and events
//! for other emitters. Knows nothing of effects and of appearance.

use super::data::{BIRTH, COLLISION, DEATH, EffectData, EmitterData, EmitterDef};
use super::particle_block::{LANES, MotionStep, ParticleBlock, SingleParticle};
use super::pose::EffectTransform;
use super::spawner::{Spawner, between, random_pair};
use super::trail::Trail;
use engine_foundation::Vec3;
use engine_foundation::hash::StateHash;
use engine_foundation::random::Random;
use std::sync::Arc;

/// Event of a particle, in world space.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ParticleEvent {
    pub position: Vec3,
    pub velocity: Vec3,
}

/// A particle that an event spawns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EventSpawn {
    pub position: Vec3,
    /// Velocity inherited from the event's particle.
    pub velocity: Vec3,
}

/// Particles to spawn in one step.
#[derive(Clone, Copy, Debug)]
pub struct SpawnRequest {
    /// Number of particles by rate, spread over the step.
    pub by_rate: u32,
    /// Fraction of the step after which the first of them is born. `interval` is the fraction
    /// between births.
    pub first: f32,
    pub interval: f32,
    /// Number of particles of bursts, all at the end of the step.
    pub burst: u32,
    /// Transform of the effect at the beginning of the step, in the particles' space. `to` is the
    /// transform at its end.
    pub from: EffectTransform,
    pub to: EffectTransform,
    /// Velocity inherited from the effect's motion.
    pub inherited_velocity: Vec3,
    pub position: Vec3,
    pub speed: f32,
    pub spawner: Spawner,
}

/// An emitter in the pool.
pub struct Emitter {
    /// True while an effect owns it. Otherwise it waits to be reused.
    pub in_use: bool,
    pub data: Arc<EffectData>,
    pub index: usize,
    /// True if its particles are confined to the xy plane.
    pub flat: bool,
    /// True if it moves in this step.
    pub stepping: bool,
    pub blocks: Vec<ParticleBlock>,
    pub count: usize,
    pub step: MotionStep,
    pub request: SpawnRequest,
    /// Transform from the particles' space to the world.
    pub to_world: EffectTransform,
    /// Seconds since its start. `carry` is the fraction of a particle carried over to the next
    /// step.
    pub time: f64,
    pub carry: f64,
    pub random: Random,
    pub serial: u32,
    pub events: [Vec<ParticleEvent>; 3],
    pub incoming: Vec<EventSpawn>,
    pub trail: Trail,
    holes: Vec<u32>,
}

impl Emitter {
    /// Creates an emitter for a new effect. `spare` contains blocks to reuse.
    pub fn new(
        data: Arc<EffectData>,
        index: usize,
        flat: bool,
        seed: u64,
        spare: Vec<ParticleBlock>,
    ) -> Emitter {
        let spawner = Spawner::new(&data.emitters[index].numbers, Vec3::ZERO, flat);
        let request = SpawnRequest {
            by_rate: 0,
            first: 0.0,
            interval: 0.0,
            burst: 0,
            from: EffectTransform::IDENTITY,
            to: EffectTransform::IDENTITY,
            inherited_velocity: Vec3::ZERO,
            position: Vec3::ZERO,
            speed: 1.0,
            spawner,
        };
        let trail = Trail::new(data.emitters[index].numbers.trail_points);
        Emitter {
            in_use: true,
            data,
            index,
            flat,
            stepping: false,
            blocks: spare,
            count: 0,
            step: MotionStep::AT_REST,
            request,
            to_world: EffectTransform::IDENTITY,
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

    pub fn numbers(&self) -> &EmitterData {
        &self.data.emitters[self.index].numbers
    }

    /// Returns the cost of moving its particles, in the units of [`MotionStep::cost`].
    pub fn cost(&self) -> usize {
        self.count * self.step.cost()
    }

    /// Returns the blocks that contain particles, and the number of particles in the last one.
    pub fn used(&self) -> (&[ParticleBlock], usize) {
        let blocks = self.count.div_ceil(LANES);
        (&self.blocks[..blocks], self.count - blocks.saturating_sub(1) * LANES)
    }

    /// Returns the arguments of [`move_blocks`], so that the caller can split the work: the blocks,
    /// the motion, the number of particles, and whether they are flat.
    pub fn work(&mut self) -> (&mut [ParticleBlock], &MotionStep, usize, bool) {
        let blocks = self.count.div_ceil(LANES);
        (&mut self.blocks[..blocks], &self.step, self.count, self.flat)
    }

    /// Moves all particles, then removes and spawns particles.
    pub fn run(&mut self) {
        let (blocks, step, count, flat) = self.work();
        move_blocks(blocks, 0, count, step, flat);
        self.finish_step();
    }

    /// Completes a step after all blocks have been moved: deaths, births, trails.
    pub fn finish_step(&mut self) {
        self.events.iter_mut().for_each(Vec::clear);
        self.record_hits();
        self.collect_dead();
        self.spawn();
        self.fill_free_slots();
        let Emitter { trail, blocks, count, step, .. } = self;
        trail.follow(blocks, *count, step.delta);
    }

    fn event_of(&self, index: usize) -> ParticleEvent {
        let one = self.blocks[index / LANES].get(index % LANES);
        let to_world = &self.to_world;
        ParticleEvent {
            position: to_world.point(Vec3::from_array(one.position)),
            velocity: to_world.rotation * (Vec3::from_array(one.velocity) * to_world.scale),
        }
    }

    fn has_sub_emitter(&self, event: usize) -> bool {
        self.numbers().subs[event].emitter > 0
    }

    fn record_hits(&mut self) {
        if !self.has_sub_emitter(COLLISION) {
            return;
        }
        for block in 0..self.count.div_ceil(LANES) {
            let mut hit = self.blocks[block].hit_mask;
            while hit != 0 {
                let index = block * LANES + hit.trailing_zeros() as usize;
                let event = self.event_of(index);
                self.events[COLLISION].push(event);
                hit &= hit - 1;
            }
        }
    }

    /// Collects the slots of dead particles, in order.
    fn collect_dead(&mut self) {
        self.holes.clear();
        let has_sub_emitter = self.has_sub_emitter(DEATH);
        for block in 0..self.count.div_ceil(LANES) {
            let mut dead = std::mem::take(&mut self.blocks[block].dead);
            while dead != 0 {
                let index = block * LANES + dead.trailing_zeros() as usize;
                self.holes.push(index as u32);
                if has_sub_emitter {
                    let event = self.event_of(index);
                    self.events[DEATH].push(event);
                }
                dead &= dead - 1;
            }
        }
        // New particles take the first slot first.
        self.holes.reverse();
    }

    /// Returns the slot for a new particle: that of a dead one, or the next free one.
    #[inline(always)]
    fn allocate_slot(&mut self) -> Option<usize> {
        if let Some(hole) = self.holes.pop() {
            return Some(hole as usize);
        }
        if self.count >= self.numbers().max as usize {
            return None;
        }
        if self.count == self.blocks.len() * LANES {
            self.blocks.push(ParticleBlock::EMPTY);
        }
        self.count += 1;
        Some(self.count - 1)
    }

    fn spawn(&mut self) {
        let request = self.request;
        self.request.by_rate = 0;
        self.request.burst = 0;
        for i in 0..request.by_rate {
            let part = (request.first + request.interval * i as f32).min(1.0);
            let pose = EffectTransform {
                position: request.from.position.lerp(request.to.position, part),
                ..request.to
            };
            if !self.spawn_one(&request, &pose, Vec3::ZERO, 1.0 - part) {
                break;
            }
        }
        for _ in 0..request.burst {
            if !self.spawn_one(&request, &request.to, Vec3::ZERO, 0.0) {
                break;
            }
        }
        let incoming = std::mem::take(&mut self.incoming);
        let from_world = self.to_world.inverse();
        for one in &incoming {
            let pose = EffectTransform { position: from_world.point(one.position), ..request.to };
            let velocity = from_world.rotation * (one.velocity * from_world.scale);
            // The particle begins where the event happened, independent of the emitter's position.
            let at_event =
                SpawnRequest { position: Vec3::ZERO, inherited_velocity: Vec3::ZERO, ..request };
            if !self.spawn_one(&at_event, &pose, velocity, 0.0) {
                break;
            }
        }
        self.incoming = incoming;
        self.incoming.clear();
    }

    /// Spawns a particle that has already lived `lead` of the step. Returns false if there was no
    /// room.
    fn spawn_one(
        &mut self,
        request: &SpawnRequest,
        pose: &EffectTransform,
        velocity: Vec3,
        lead: f32,
    ) -> bool {
        let Some(index) = self.allocate_slot() else { return false };
        let (offset, direction) = request.spawner.draw(&mut self.random);
        let [a, b] = random_pair(&mut self.random);
        let numbers = &self.data.emitters[self.index].numbers;
        let speed = between(numbers.speed, a) * request.speed * pose.scale;
        let velocity = pose.rotation * (direction * speed) + velocity + request.inherited_velocity;
        let lead = lead * self.step.delta;
        let mut position = pose.point(request.position + offset) + velocity * lead;
        if self.flat {
            position.z = 0.0;
        }
        let age_rate = 1.0 / between(numbers.lifetime, b);
        let one = SingleParticle {
            position: position.to_array(),
            velocity: velocity.to_array(),
            age: age_rate * lead,
            age_rate,
            serial: self.serial,
            recent_stops: Default::default(),
        };
        self.serial = self.serial.wrapping_add(1);
        self.blocks[index / LANES].set(index % LANES, &one);
        self.trail.start(index, one.position);
        if self.has_sub_emitter(BIRTH) {
            let event = self.event_of(index);
            self.events[BIRTH].push(event);
        }
        true
    }

    /// Moves the last particles into slots that no new particle took.
    fn fill_free_slots(&mut self) {
        // The list begins with the last hole, so a moved particle is never a hole itself.
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

    /// Switches to another definition. Living particles continue with it.
    pub fn redefine(&mut self, data: &Arc<EffectData>, index: usize) {
        self.data = data.clone();
        self.index = index;
        let (max, points) = (self.numbers().max as usize, self.numbers().trail_points);
        self.count = self.count.min(max);
        if self.trail.points() != points {
            self.trail = Trail::new(points);
            for i in 0..self.count {
                let one = self.blocks[i / LANES].get(i % LANES);
                self.trail.start(i, one.position);
            }
        }
    }

    /// Returns the bounding box of its particles in their space, as measured by the last step.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let (blocks, _) = self.used();
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for block in blocks {
            low = low.min(Vec3::from_array(block.low));
            high = high.max(Vec3::from_array(block.high));
        }
        (!blocks.is_empty() && low.is_finite() && high.is_finite()).then_some((low, high))
    }

    /// Hashes all state that determines the future of the emitter.
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
            for lane in lanes.chain([&block.age, &block.age_rate]) {
                hash.write_bytes(bytemuck::cast_slice(&lane[..count]));
            }
            let own = u64::MAX >> (LANES - count);
            block.recent_stops.iter().for_each(|steps| hash.write_u64(steps & own));
        }
    }
}

/// Moves a range of blocks of an emitter that has `count` particles. `first` is the index of the
/// first block of the range.
pub fn move_blocks(
    blocks: &mut [ParticleBlock],
    first: usize,
    count: usize,
    step: &MotionStep,
    flat: bool,
) {
    for (i, block) in blocks.iter_mut().enumerate() {
        let lanes = count.saturating_sub((first + i) * LANES).min(LANES);
        match flat {
            true => block.step::<2>(lanes, step),
            false => block.step::<3>(lanes, step),
        }
    }
}
