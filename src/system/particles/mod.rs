//! Particles: effects that games play in worlds and Guis, as blocks of arrays. Knows no units, no
//! cameras, no textures and no scripts; the engine brings them together (src/engine/particles.rs).
//!
//! A `.particles` is compiled to flat records (definition.rs). An effect that plays has an emitter
//! for each of the definition's; all emitters stand in one pool, and a step of a world is: what
//! each is to spawn, one after the other; then all of them at once, large ones in pieces; then who
//! has ended. No particle knows of another and every emitter has its own random numbers, so a step
//! has the same result on any number of threads. In a steady state nothing is allocated.

mod begin;
pub mod block;
pub mod collide;
pub mod definition;
pub mod draw;
pub mod emitter;
mod fields;
pub mod force;
pub mod kind;
mod lanes;
pub mod pictures;
pub mod pose;
mod ranges;
mod ribbon;
mod source;
mod source_parts;
mod spawn;
#[cfg(test)]
mod tests;
mod trail;

use crate::error;
use crate::foundation::hash::StateHash;
use crate::foundation::memory::limit;
use crate::foundation::suggest::hint;
use crate::foundation::tasks::{ITEMS_MIN, Pool, split};
use crate::foundation::{Error, Handle, Kind, Slots};
use block::{BYTES_PER_PARTICLE, Block, LANES};
use definition::EffectData;
use draw::Drawn;
use emitter::{Emitter, move_blocks};
use pose::Pose;
use std::sync::Arc;

/// The most effects that can play at once.
pub const EFFECTS_MAX: usize = 16_384;
/// The most particles of all effects together.
pub const PARTICLES_MAX: usize = 1 << 22;
/// How much moving particles has to cost before other threads are woken for it, in the units of
/// [`block::Step::cost`]: about 60 µs, twice what it takes to wake a thread. So these are 50,000
/// particles where there are only gravity and drag, and some thousand where there is much else.
pub const THREADS_COST_MIN: usize = 50_000;
/// Of those that have other threads, emitters that cost less are moved by one.
const HEAVY_COST_MIN: usize = 8192;
/// How many emitters' worth of blocks are kept to be used again.
const SPARE_MAX: usize = 256;
/// The steps in which an effect is warmed up, in seconds.
const WARM_STEP: f64 = 1.0 / 30.0;

/// The most particles, each counted in every step, that a warm start moves: about half a second's
/// work. An effect with room for more takes fewer, longer steps.
const WARM_WORK_MAX: u64 = 100_000_000;

/// The handle of a playing effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EffectId(pub Handle);

/// Where an effect plays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stage {
    /// In the world, in three dimensions.
    World,
    /// In a Gui, on a layer of it.
    Gui { gui: Handle, layer: i32 },
}

/// What an effect does when the unit that it hangs on ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Orphaned {
    /// It ends, too.
    Destroy,
    /// It spawns no more, and ends with its last particle.
    Stop,
    /// It stays where it is, and goes on.
    Unlink,
}

impl Orphaned {
    /// Every one with its word.
    pub const ALL: [(&str, Orphaned); 3] =
        [("destroy", Orphaned::Destroy), ("stop", Orphaned::Stop), ("unlink", Orphaned::Unlink)];
}

/// The node that an effect hangs on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Link {
    pub unit: Handle,
    pub node: u32,
    /// Seen from the node.
    pub pose: Pose,
    pub orphaned: Orphaned,
}

/// What an effect is made of.
#[derive(Clone, Copy, Debug)]
pub struct Making {
    pub world: Handle,
    pub stage: Stage,
    /// Which of the resources.
    pub resource: usize,
    pub pose: Pose,
}

/// A playing effect.
#[derive(Clone, Debug)]
pub struct Effect {
    pub world: Handle,
    pub stage: Stage,
    pub resource: usize,
    pub pose: Pose,
    /// Where it was at its last step.
    before: Pose,
    pub link: Option<Link>,
    /// By their places.
    pub variables: Vec<[f32; 3]>,
    /// Its emitters in the pool.
    pub emitters: Vec<u32>,
    /// Whether it spawns.
    pub spawning: bool,
    /// Whether a view showed it when views were last asked.
    pub seen: bool,
    /// Seconds that it stood still for, and steps, where nobody saw it.
    owed: f64,
    owed_steps: u32,
    /// Whether it took a step yet.
    stepped: bool,
    /// Whether it takes this step after those that hang on nothing.
    waits: bool,
}

impl Effect {
    /// Puts an effect somewhere without a way that it went.
    pub fn jump_to(&mut self, pose: Pose) {
        self.pose = pose;
        self.before = pose;
    }
}

/// A `.particles` in use.
pub struct Resource {
    pub name: String,
    pub data: Arc<EffectData>,
    /// Whether it ever played in a world.
    pub in_world: bool,
}

/// Every effect.
pub struct Particles {
    effects: Slots<Effect>,
    resources: Vec<Resource>,
    emitters: Vec<Emitter>,
    free: Vec<u32>,
    spare: Vec<Vec<Block>>,
    /// Those that have ended in a step.
    ended: Vec<EffectId>,
    /// Where random numbers begin, and how many effects there have been.
    seed: u64,
    made: u64,
    /// Changes whenever a resource does.
    version: u64,
    /// Particles that found no room, since somebody asked.
    pub refused: u64,
    pub drawn: Drawn,
}

impl Particles {
    pub fn new(seed: u64) -> Particles {
        Particles {
            effects: Slots::new(Kind::ParticleEffect, EFFECTS_MAX),
            resources: Vec::new(),
            emitters: Vec::new(),
            free: Vec::new(),
            spare: Vec::new(),
            ended: Vec::new(),
            seed,
            made: 0,
            version: 1,
            refused: 0,
            drawn: Drawn::default(),
        }
    }

    /// The effects behind their handles.
    pub fn slots(&self) -> &Slots<Effect> {
        &self.effects
    }

    pub fn slots_mut(&mut self) -> &mut Slots<Effect> {
        &mut self.effects
    }

    /// A living effect. Handles are checked where they come in, so it is there.
    pub fn effect(&mut self, id: EffectId) -> &mut Effect {
        self.effects.get_mut(id.0).expect("the handle was checked where it came in")
    }

    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    pub fn version(&self) -> u64 {
        self.version
    }

    /// The place of a resource that was used before.
    pub fn known(&self, name: &str) -> Option<usize> {
        self.resources.iter().position(|known| known.name == name)
    }

    /// Takes a resource in.
    pub fn add_resource(&mut self, name: &str, data: EffectData) -> usize {
        let (name, data) = (name.to_string(), Arc::new(data));
        self.resources.push(Resource { name, data, in_world: false });
        self.version += 1;
        self.resources.len() - 1
    }

    /// A resource is another from now on. Effects that play go on by it: emitters keep their
    /// particles where there is one of the same name, others end and begin.
    ///
    /// # Errors
    /// It cannot play where one of them plays; nothing has changed then.
    pub fn redefine(&mut self, resource: usize, data: EffectData) -> Result<(), Error> {
        let playing = || self.effects.iter().filter(|(_, it)| it.resource == resource);
        if playing().any(|(_, it)| it.stage == Stage::World) {
            data.check_for_world(&self.resources[resource].name)?;
        }
        let playing: Vec<Handle> = playing().map(|(handle, _)| handle).collect();
        let data = Arc::new(data);
        self.version += 1;
        let old = std::mem::replace(&mut self.resources[resource].data, data.clone());
        for handle in playing {
            let effect = self.effects.get_mut(handle).expect("it was just found");
            let variables = data.variables.iter().map(|new| {
                let place = old.variables.iter().position(|known| known.name == new.name);
                place.map_or(new.default, |place| match effect.variables[place] {
                    same if same == old.variables[place].default => new.default,
                    set => set,
                })
            });
            effect.variables = variables.collect();
            let flat = effect.stage != Stage::World;
            let before = std::mem::take(&mut effect.emitters);
            let mut after = Vec::new();
            for (index, def) in data.emitters.iter().enumerate() {
                let known = old.emitters.iter().position(|known| known.name == def.name);
                after.push(match known {
                    Some(known) => {
                        self.emitters[before[known] as usize].redefine(&data, index);
                        before[known]
                    }
                    None => self.take_emitter(&data, index, flat),
                });
            }
            for emitter in before.into_iter().filter(|it| !after.contains(it)) {
                self.give_back(emitter);
            }
            self.effects.get_mut(handle).expect("it is still there").emitters = after;
        }
        Ok(())
    }

    fn take_emitter(&mut self, data: &Arc<EffectData>, index: usize, flat: bool) -> u32 {
        self.made += 1;
        let seed = self.seed ^ self.made.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let spare = self.spare.pop().unwrap_or_default();
        let emitter = Emitter::new(data.clone(), index, flat, seed, spare);
        match self.free.pop() {
            Some(place) => {
                self.emitters[place as usize] = emitter;
                place
            }
            None => {
                self.emitters.push(emitter);
                self.emitters.len() as u32 - 1
            }
        }
    }

    fn give_back(&mut self, place: u32) {
        let emitter = &mut self.emitters[place as usize];
        emitter.live = false;
        emitter.stepping = false;
        emitter.count = 0;
        let blocks = std::mem::take(&mut emitter.blocks);
        if self.spare.len() < SPARE_MAX && !blocks.is_empty() {
            self.spare.push(blocks);
        }
        self.free.push(place);
    }

    /// Starts an effect.
    ///
    /// # Errors
    /// There are [`EFFECTS_MAX`], or the effect cannot play there.
    pub fn create(&mut self, making: Making, pool: &Pool) -> Result<EffectId, Error> {
        let Resource { name, data, .. } = &self.resources[making.resource];
        let flat = making.stage != Stage::World;
        if !flat {
            data.check_for_world(name)?;
        }
        let data = data.clone();
        if !flat && !self.resources[making.resource].in_world {
            self.resources[making.resource].in_world = true;
            self.version += 1;
        }
        let effect = Effect {
            world: making.world,
            stage: making.stage,
            resource: making.resource,
            pose: making.pose,
            before: making.pose,
            link: None,
            variables: data.variables.iter().map(|variable| variable.default).collect(),
            emitters: Vec::new(),
            spawning: true,
            seen: true,
            owed: 0.0,
            owed_steps: 0,
            stepped: false,
            waits: false,
        };
        let Some(handle) = self.effects.add(effect) else {
            return Err(error!(
                "{EFFECTS_MAX} effects play already (EFFECTS_MAX): destroy some first"
            ));
        };
        let emitters = (0..data.emitters.len()).map(|index| self.take_emitter(&data, index, flat));
        let emitters = emitters.collect();
        let id = EffectId(handle);
        self.effect(id).emitters = emitters;
        if data.warm_seconds > 0.0 {
            self.warm(id, data.warm_seconds.into(), pool)?;
        }
        Ok(id)
    }

    fn warm(&mut self, id: EffectId, seconds: f64, pool: &Pool) -> Result<(), Error> {
        let effect = self.effects.get(id.0).expect("it was just made");
        let most = |place: &u32| u64::from(self.emitters[*place as usize].numbers().max);
        let particles: u64 = effect.emitters.iter().map(most).sum();
        let affordable = (WARM_WORK_MAX / particles.max(1)).max(1);
        let steps = ((seconds / WARM_STEP).ceil() as u64).min(affordable) as u32;
        for _ in 0..steps {
            let mut room = self.room();
            let Particles { effects, emitters, .. } = self;
            let effect = effects.get_mut(id.0).expect("it was just made");
            begin::begin(effect, emitters, seconds / f64::from(steps), &mut room);
            self.run(pool)?;
        }
        Ok(())
    }

    /// Ends an effect and its particles; `frame` and `place` are for the words of stale handles.
    pub fn destroy(&mut self, id: EffectId, frame: u64, place: &str) {
        let Some(effect) = self.effects.get(id.0) else { return };
        let name = self.resources[effect.resource].name.clone();
        let effect = self.effects.remove(id.0, &name, frame, place).expect("it was just found");
        effect.emitters.iter().for_each(|emitter| self.give_back(*emitter));
    }

    /// Ends those effects for which it holds.
    pub fn destroy_where(&mut self, ends: impl Fn(&Effect) -> bool, frame: u64, place: &str) {
        let ended = self.effects.iter().filter(|(_, effect)| ends(effect));
        for id in ended.map(|(handle, _)| EffectId(handle)).collect::<Vec<_>>() {
            self.destroy(id, frame, place);
        }
    }

    /// Has an effect spawn no more: it ends with its last particle.
    pub fn stop(&mut self, id: EffectId) {
        self.effect(id).spawning = false;
    }

    /// The place of an effect's variable, from 1.
    pub fn variable(&self, resource: usize, name: &str) -> Result<usize, String> {
        let Resource { name: effect, data, .. } = &self.resources[resource];
        let names = data.variables.iter().map(|variable| &variable.name[..]);
        let place = names.clone().position(|known| known == name);
        place.map(|place| place + 1).ok_or_else(|| {
            format!("the effect \"{effect}\" has no variable '{name}'{}", hint(name, names))
        })
    }

    /// How many particles an effect has.
    pub fn count(&self, id: EffectId) -> usize {
        let effect = self.effects.get(id.0).expect("the handle was checked where it came in");
        effect.emitters.iter().map(|place| self.emitters[*place as usize].count).sum()
    }

    /// How many particles a world's effects have.
    pub fn count_in(&self, world: Handle) -> usize {
        let own = self.effects.iter().filter(|(_, effect)| effect.world == world);
        own.map(|(handle, _)| self.count(EffectId(handle))).sum()
    }

    /// The emitters of an effect.
    pub fn emitters<'a>(&'a self, effect: &'a Effect) -> impl Iterator<Item = &'a Emitter> {
        effect.emitters.iter().map(|place| &self.emitters[*place as usize])
    }

    /// Moves all effects of a world on, and ends those that have ended.
    ///
    /// # Errors
    /// For want of threads.
    pub fn step(
        &mut self,
        world: Handle,
        delta: f64,
        frame: u64,
        pool: &Pool,
    ) -> Result<(), Error> {
        self.step_free(world, delta, pool)?;
        self.step_linked(world, delta, pool)?;
        self.end_finished(world, frame);
        Ok(())
    }

    /// Moves the effects of a world on that hang on nothing; the others then wait for
    /// `step_linked`.
    ///
    /// # Errors
    /// For want of threads.
    pub fn step_free(&mut self, world: Handle, delta: f64, pool: &Pool) -> Result<(), Error> {
        let own = self.effects.iter_mut().filter(|(_, effect)| effect.world == world);
        own.for_each(|(_, effect)| effect.waits = effect.link.is_some());
        self.step_those(|it| it.world == world && !it.waits, delta, pool)
    }

    /// Moves the effects of a world on that wait, when what they hang on is in its place.
    ///
    /// # Errors
    /// For want of threads.
    pub fn step_linked(&mut self, world: Handle, delta: f64, pool: &Pool) -> Result<(), Error> {
        if !self.has_waiting(world) {
            return Ok(());
        }
        self.step_those(|it| it.world == world && it.waits, delta, pool)?;
        self.effects.iter_mut().for_each(|(_, effect)| effect.waits &= effect.world != world);
        Ok(())
    }

    fn has_waiting(&self, world: Handle) -> bool {
        self.effects.iter().any(|(_, effect)| effect.world == world && effect.waits)
    }

    fn step_those(
        &mut self,
        those: impl Fn(&Effect) -> bool,
        delta: f64,
        pool: &Pool,
    ) -> Result<(), Error> {
        let mut room = self.room();
        let Particles { effects, emitters, .. } = self;
        for (_, effect) in effects.iter_mut().filter(|(_, effect)| those(effect)) {
            begin::begin(effect, emitters, delta, &mut room);
        }
        self.refused += room.refused;
        self.run(pool)
    }

    /// What the next step of a world's effects costs that hang on nothing, see
    /// [`THREADS_COST_MIN`].
    pub fn cost_of_free(&self, world: Handle) -> usize {
        let free = self.effects.iter().filter(|(_, it)| it.world == world && it.link.is_none());
        free.flat_map(|(_, effect)| self.emitters(effect)).map(Emitter::cost).sum()
    }

    fn room(&self) -> begin::Room {
        let all: usize = self.emitters.iter().map(|emitter| emitter.count).sum();
        let left = PARTICLES_MAX.saturating_sub(all).min(limit::room() / BYTES_PER_PARTICLE);
        begin::Room { left, refused: 0 }
    }

    /// Ends the effects of a world that have ended.
    pub fn end_finished(&mut self, world: Handle, frame: u64) {
        let Particles { effects, emitters, ended, .. } = self;
        ended.clear();
        let own = effects.iter().filter(|(_, effect)| effect.world == world);
        let over = own.filter(|(_, effect)| effect.has_ended(emitters));
        ended.extend(over.map(|(handle, _)| EffectId(handle)));
        for i in 0..self.ended.len() {
            self.destroy(self.ended[i], frame, "");
        }
    }

    /// Moves every emitter that is to move.
    fn run(&mut self, pool: &Pool) -> Result<(), Error> {
        let moving = self.emitters.iter().filter(|emitter| emitter.stepping);
        let cost: usize = moving.map(Emitter::cost).sum();
        if cost < THREADS_COST_MIN || pool.threads() == 1 {
            for emitter in self.emitters.iter_mut().filter(|emitter| emitter.stepping) {
                emitter.run();
                emitter.stepping = false;
            }
            return Ok(());
        }
        let (tasks, task) = (pool.tasks(ITEMS_MIN)?, pool.task("particles"));
        let heavy = |emitter: &Emitter| emitter.stepping && emitter.cost() >= HEAVY_COST_MIN;
        tasks.scope(|scope| {
            let mut graph = scope.graph();
            for emitter in self.emitters.iter_mut().filter(|emitter| heavy(emitter)) {
                let (mut rest, step, count, flat) = emitter.work();
                for piece in split(rest.len(), tasks.threads()) {
                    let (blocks, others) = rest.split_at_mut(piece.len());
                    rest = others;
                    graph.add(task, move || move_blocks(blocks, piece.start, count, step, flat));
                }
            }
            graph.run().finish()
        })?;
        tasks.each_slice(task, &mut self.emitters, |_, piece| {
            for emitter in piece.iter_mut().filter(|emitter| emitter.stepping) {
                match heavy(emitter) {
                    true => emitter.settle(),
                    false => emitter.run(),
                }
                emitter.stepping = false;
            }
        })
    }

    /// Hashes all that decides on what an effect will do.
    pub fn hash_of(&self, effect: &Effect) -> u64 {
        let mut hash = StateHash::new(0);
        let Pose { position, rotation, scale } = effect.pose;
        for number in position.to_array().into_iter().chain(rotation.to_array()) {
            hash.write_f32(number);
        }
        hash.write_f32(scale);
        hash.write_u64(effect.spawning.into());
        effect.variables.iter().flatten().for_each(|number| hash.write_f32(*number));
        self.emitters(effect).for_each(|emitter| emitter.write_state(&mut hash));
        hash.finish()
    }

    /// Calls `each` with every effect, the emitters' pool and what they are drawn with.
    pub fn each(&mut self, mut each: impl FnMut(&mut Effect, &[Emitter], &mut Drawn)) {
        let Particles { effects, emitters, drawn, .. } = self;
        for (_, effect) in effects.iter_mut() {
            each(effect, emitters, drawn);
        }
    }

    /// Bytes of the blocks that emitters have.
    pub fn bytes(&self) -> usize {
        let blocks: usize = self.emitters.iter().map(|emitter| emitter.blocks.capacity()).sum();
        blocks * LANES * block::BYTES_PER_PARTICLE
    }
}
