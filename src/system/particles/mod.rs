//! Particle system: effects that games play in worlds and GUIs, simulated in blocks of arrays.
//! Knows no units, no cameras, no textures and no scripts; the engine connects them
//! (src/engine/particles.rs).
//!
//! A `.particles` file is compiled to flat records (data.rs). A playing effect has an emitter
//! for each emitter of its definition, and all emitters are stored in one pool. A step of a world
//! has three phases. First, the spawns of each emitter are determined, one emitter after the other.
//! Then all emitters are moved in parallel, large ones in pieces. Last, finished effects end. No
//! particle depends on another and every emitter has its own random numbers, so a step has the same
//! result on any number of threads. In a steady state nothing is allocated.

mod appearance;
pub mod built_in_textures;
pub mod collision;
mod compile;
mod compile_emitter;
pub mod data;
pub mod draw;
pub mod emitter;
pub mod forces;
mod limits;
mod orphan_policy;
pub mod particle_block;
pub mod pose;
pub mod resource;
mod ribbon;
mod source_fields;
mod spawner;
mod step_setup;
#[cfg(test)]
mod tests;
mod trail;

pub use compile_emitter::COLORS;
pub use orphan_policy::OrphanPolicy;

use data::EffectData;
use draw::DrawContext;
use emitter::{Emitter, move_blocks};
use engine_foundation::error;
use engine_foundation::hash::StateHash;
use engine_foundation::memory::limit;
use engine_foundation::suggest::hint;
use engine_foundation::tasks::{ITEMS_MIN, TaskPool, split};
use engine_foundation::{Error, Handle, HandleKind, Slots};
use particle_block::{BYTES_PER_PARTICLE, LANES, ParticleBlock};
use pose::EffectTransform;
use std::sync::Arc;

/// Maximum number of effects that play at the same time.
pub const EFFECTS_MAX: usize = 16_384;
/// Maximum number of particles of all effects together.
pub const PARTICLES_MAX: usize = 1 << 22;
/// Minimum cost of a step at which other threads are used, in the units of
/// [`particle_block::MotionStep::cost`]: about 60 µs, twice the time it takes to wake a thread.
/// That is 50,000 particles with only gravity and drag, and some thousand particles with many
/// forces and colliders.
pub const THREADS_COST_MIN: usize = 50_000;
/// Minimum cost at which one emitter is split across threads, if threads are used.
const HEAVY_COST_MIN: usize = 8192;
/// Maximum number of emitters whose blocks are kept for reuse.
const SPARE_EMITTERS_MAX: usize = 256;
/// Length of a step during the warm-up of an effect, in seconds.
const WARM_STEP: f64 = 1.0 / 30.0;

/// Maximum number of particle updates during the warm-up of one effect: about half a second's work.
/// An effect with room for more particles takes fewer, longer steps.
const WARM_WORK_MAX: u64 = 100_000_000;

/// Handle of a playing effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EffectId(pub Handle);

/// Target that an effect plays in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum EffectStage {
    /// The world, in three dimensions.
    World,
    /// A layer of a GUI.
    Gui { gui: Handle, layer: i32 },
}

/// Link of an effect to the node that it follows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NodeLink {
    pub unit: Handle,
    pub node: u32,
    /// Transform of the effect relative to the node.
    pub pose: EffectTransform,
    pub orphaned: OrphanPolicy,
}

/// Parameters for the creation of an effect.
#[derive(Clone, Copy, Debug)]
pub struct EffectDesc {
    pub world: Handle,
    pub stage: EffectStage,
    /// Index of the resource.
    pub resource: usize,
    pub pose: EffectTransform,
}

/// A playing effect.
#[derive(Clone, Debug)]
pub struct ParticleEffect {
    pub world: Handle,
    pub stage: EffectStage,
    pub resource: usize,
    pub pose: EffectTransform,
    /// Transform at its last step.
    previous_pose: EffectTransform,
    pub link: Option<NodeLink>,
    /// Values of its variables, by index.
    pub variables: Vec<[f32; 3]>,
    /// Indices of its emitters in the pool.
    pub emitters: Vec<u32>,
    /// True while it spawns particles.
    pub spawning: bool,
    /// True if it is not drawn.
    pub hidden: bool,
    /// True if a view showed it at the last visibility check.
    pub was_visible: bool,
    /// Seconds that it was paused while no view showed it. `pending_steps` counts these steps.
    pending_seconds: f64,
    pending_steps: u32,
    /// True after its first step.
    stepped: bool,
    /// True if it takes this step after the effects without a link.
    waits: bool,
}

impl ParticleEffect {
    /// Teleports an effect, so that no particles are spawned along the path.
    pub fn jump_to(&mut self, pose: EffectTransform) {
        self.pose = pose;
        self.previous_pose = pose;
    }
}

/// A `.particles` resource in use.
pub struct EffectResource {
    pub name: String,
    pub data: Arc<EffectData>,
    /// True if it has ever played in a world.
    pub in_world: bool,
}

/// The particle system: all effects, their resources and the pool of emitters.
pub struct Particles {
    effects: Slots<ParticleEffect>,
    resources: Vec<EffectResource>,
    emitters: Vec<Emitter>,
    free: Vec<u32>,
    spare: Vec<Vec<ParticleBlock>>,
    /// Effects that ended in a step.
    ended: Vec<EffectId>,
    /// Seed of all random numbers. `created_count` counts the emitters created so far.
    seed: u64,
    created_count: u64,
    /// Changes whenever a resource changes.
    version: u64,
    /// Number of particles rejected for lack of room since it was last read.
    pub refused: u64,
    pub draw_context: DrawContext,
}

impl Particles {
    pub fn new(seed: u64) -> Particles {
        Particles {
            effects: Slots::new(HandleKind::ParticleEffect, EFFECTS_MAX),
            resources: Vec::new(),
            emitters: Vec::new(),
            free: Vec::new(),
            spare: Vec::new(),
            ended: Vec::new(),
            seed,
            created_count: 0,
            version: 1,
            refused: 0,
            draw_context: DrawContext::default(),
        }
    }

    /// Returns the effects by handle.
    pub fn slots(&self) -> &Slots<ParticleEffect> {
        &self.effects
    }

    pub fn slots_mut(&mut self) -> &mut Slots<ParticleEffect> {
        &mut self.effects
    }

    /// Returns a living effect. The caller has validated the handle.
    pub fn effect(&mut self, id: EffectId) -> &mut ParticleEffect {
        self.effects.get_mut(id.0).expect("the handle was checked where it came in")
    }

    pub fn resources(&self) -> &[EffectResource] {
        &self.resources
    }

    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the index of a resource that was used before.
    pub fn get_loaded(&self, name: &str) -> Option<usize> {
        self.resources.iter().position(|known| known.name == name)
    }

    /// Adds a resource and returns its index.
    pub fn add_resource(&mut self, name: &str, data: EffectData) -> usize {
        let (name, data) = (name.to_string(), Arc::new(data));
        self.resources.push(EffectResource { name, data, in_world: false });
        self.version += 1;
        self.resources.len() - 1
    }

    /// Replaces the data of a resource. Playing effects continue with the new data: an emitter
    /// keeps its particles if the new data has an emitter of the same name. Other emitters end, and
    /// new ones begin.
    ///
    /// # Errors
    /// Returns an error, without any change, if the new data cannot play where one of the effects
    /// plays.
    pub fn redefine(&mut self, resource: usize, data: EffectData) -> Result<(), Error> {
        let playing = || self.effects.iter().filter(|(_, it)| it.resource == resource);
        if playing().any(|(_, it)| it.stage == EffectStage::World) {
            data.check_for_world(&self.resources[resource].name)?;
        }
        let playing: Vec<Handle> = playing().map(|(handle, _)| handle).collect();
        let data = Arc::new(data);
        self.version += 1;
        let old = std::mem::replace(&mut self.resources[resource].data, data.clone());
        for handle in playing {
            let effect = self.effects.get_mut(handle).expect("it was just found");
            let variables = data.variables.iter().map(|new| {
                let slot = old.variables.iter().position(|known| known.name == new.name);
                slot.map_or(new.default, |slot| match effect.variables[slot] {
                    same if same == old.variables[slot].default => new.default,
                    set => set,
                })
            });
            effect.variables = variables.collect();
            let flat = effect.stage != EffectStage::World;
            let previous_emitters = std::mem::take(&mut effect.emitters);
            let mut next_emitters = Vec::new();
            for (index, def) in data.emitters.iter().enumerate() {
                let known = old.emitters.iter().position(|known| known.name == def.name);
                next_emitters.push(match known {
                    Some(known) => {
                        self.emitters[previous_emitters[known] as usize].redefine(&data, index);
                        previous_emitters[known]
                    }
                    None => self.acquire_emitter(&data, index, flat),
                });
            }
            for emitter in previous_emitters.into_iter().filter(|it| !next_emitters.contains(it)) {
                self.release_emitter(emitter);
            }
            self.effects.get_mut(handle).expect("it still exists").emitters = next_emitters;
        }
        Ok(())
    }

    fn acquire_emitter(&mut self, data: &Arc<EffectData>, index: usize, flat: bool) -> u32 {
        self.created_count += 1;
        let seed = self.seed ^ self.created_count.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let spare = self.spare.pop().unwrap_or_default();
        let emitter = Emitter::new(data.clone(), index, flat, seed, spare);
        match self.free.pop() {
            Some(slot) => {
                self.emitters[slot as usize] = emitter;
                slot
            }
            None => {
                self.emitters.push(emitter);
                self.emitters.len() as u32 - 1
            }
        }
    }

    fn release_emitter(&mut self, slot: u32) {
        let emitter = &mut self.emitters[slot as usize];
        emitter.in_use = false;
        emitter.stepping = false;
        emitter.count = 0;
        let blocks = std::mem::take(&mut emitter.blocks);
        if self.spare.len() < SPARE_EMITTERS_MAX && !blocks.is_empty() {
            self.spare.push(blocks);
        }
        self.free.push(slot);
    }

    /// Starts an effect.
    ///
    /// # Errors
    /// Returns an error if [`EFFECTS_MAX`] effects play already, or if the effect cannot play on
    /// its stage.
    pub fn create(&mut self, desc: EffectDesc, pool: &TaskPool) -> Result<EffectId, Error> {
        let EffectResource { name, data, .. } = &self.resources[desc.resource];
        let flat = desc.stage != EffectStage::World;
        if !flat {
            data.check_for_world(name)?;
        }
        let data = data.clone();
        if !flat && !self.resources[desc.resource].in_world {
            self.resources[desc.resource].in_world = true;
            self.version += 1;
        }
        let effect = ParticleEffect {
            world: desc.world,
            stage: desc.stage,
            resource: desc.resource,
            pose: desc.pose,
            previous_pose: desc.pose,
            link: None,
            variables: data.variables.iter().map(|variable| variable.default).collect(),
            emitters: Vec::new(),
            spawning: true,
            hidden: false,
            was_visible: true,
            pending_seconds: 0.0,
            pending_steps: 0,
            stepped: false,
            waits: false,
        };
        let Some(handle) = self.effects.add(effect) else {
            return Err(error!(
                "{EFFECTS_MAX} effects play already (EFFECTS_MAX): destroy some first"
            ));
        };
        let emitters =
            (0..data.emitters.len()).map(|index| self.acquire_emitter(&data, index, flat));
        let emitters = emitters.collect();
        let id = EffectId(handle);
        self.effect(id).emitters = emitters;
        if data.warm_seconds > 0.0 {
            self.warm(id, data.warm_seconds.into(), pool)?;
        }
        Ok(id)
    }

    fn warm(&mut self, id: EffectId, seconds: f64, pool: &TaskPool) -> Result<(), Error> {
        let effect = self.effects.get(id.0).expect("it was just created");
        let most = |index: &u32| u64::from(self.emitters[*index as usize].numbers().max);
        let particles: u64 = effect.emitters.iter().map(most).sum();
        let affordable = (WARM_WORK_MAX / particles.max(1)).max(1);
        let steps = ((seconds / WARM_STEP).ceil() as u64).min(affordable) as u32;
        // Nothing else moves meanwhile.
        let others = self.spawn_budget().left;
        for _ in 0..steps {
            let Particles { effects, emitters, .. } = self;
            let effect = effects.get_mut(id.0).expect("it was just created");
            let own = effect.emitters.iter().map(|index| emitters[*index as usize].count);
            let mut room =
                step_setup::SpawnBudget { left: others.saturating_sub(own.sum()), refused: 0 };
            step_setup::begin(effect, emitters, seconds / f64::from(steps), &mut room);
            let moving = effect.emitters.iter().map(|index| emitters[*index as usize].cost());
            if moving.sum::<usize>() >= THREADS_COST_MIN && pool.threads() > 1 {
                self.run(pool)?;
                continue;
            }
            for index in &effect.emitters {
                let emitter = &mut emitters[*index as usize];
                if std::mem::take(&mut emitter.stepping) {
                    emitter.run();
                }
            }
        }
        Ok(())
    }

    /// Destroys an effect and its particles. `frame` and `location` appear in later error messages
    /// about the stale handle.
    pub fn destroy(&mut self, id: EffectId, frame: u64, location: &str) {
        let Some(effect) = self.effects.get(id.0) else { return };
        let name = self.resources[effect.resource].name.clone();
        let effect = self.effects.remove(id.0, &name, frame, location).expect("it was just found");
        effect.emitters.iter().for_each(|emitter| self.release_emitter(*emitter));
    }

    /// Destroys the effects that match a predicate.
    pub fn destroy_matching(
        &mut self,
        ends: impl Fn(&ParticleEffect) -> bool,
        frame: u64,
        location: &str,
    ) {
        let ended = self.effects.iter().filter(|(_, effect)| ends(effect));
        for id in ended.map(|(handle, _)| EffectId(handle)).collect::<Vec<_>>() {
            self.destroy(id, frame, location);
        }
    }

    /// Stops an effect from spawning. It ends with its last particle.
    pub fn stop(&mut self, id: EffectId) {
        self.effect(id).spawning = false;
    }

    /// Returns the 1-based index of an effect's variable.
    pub fn variable(&self, resource: usize, name: &str) -> Result<usize, String> {
        let EffectResource { name: effect, data, .. } = &self.resources[resource];
        let names = data.variables.iter().map(|variable| &variable.name[..]);
        let index = names.clone().position(|known| known == name);
        index.map(|index| index + 1).ok_or_else(|| {
            format!("the effect \"{effect}\" has no variable '{name}'{}", hint(name, names))
        })
    }

    /// Returns the number of particles of an effect.
    pub fn count(&self, id: EffectId) -> usize {
        let effect = self.effects.get(id.0).expect("the handle was checked where it came in");
        effect.emitters.iter().map(|index| self.emitters[*index as usize].count).sum()
    }

    /// Returns the number of particles of a world's effects.
    pub fn count_in(&self, world: Handle) -> usize {
        let own = self.effects.iter().filter(|(_, effect)| effect.world == world);
        own.map(|(handle, _)| self.count(EffectId(handle))).sum()
    }

    /// Returns the emitters of an effect.
    pub fn emitters<'a>(&'a self, effect: &'a ParticleEffect) -> impl Iterator<Item = &'a Emitter> {
        effect.emitters.iter().map(|index| &self.emitters[*index as usize])
    }

    /// Steps all effects of a world, and destroys those that have ended.
    ///
    /// # Errors
    /// Returns an error if the worker threads cannot be created.
    pub fn step(
        &mut self,
        world: Handle,
        delta: f64,
        frame: u64,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        self.step_unlinked(world, delta, pool)?;
        self.step_linked(world, delta, pool)?;
        self.end_finished(world, frame);
        Ok(())
    }

    /// Steps the effects of a world that have no link. The linked effects then wait for
    /// `step_linked`.
    ///
    /// # Errors
    /// Returns an error if the worker threads cannot be created.
    pub fn step_unlinked(
        &mut self,
        world: Handle,
        delta: f64,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let own = self.effects.iter_mut().filter(|(_, effect)| effect.world == world);
        own.for_each(|(_, effect)| effect.waits = effect.link.is_some());
        self.step_active(|it| it.world == world && !it.waits, delta, pool)
    }

    /// Steps the waiting effects of a world, after the nodes that they follow have moved.
    ///
    /// # Errors
    /// Returns an error if the worker threads cannot be created.
    pub fn step_linked(&mut self, world: Handle, delta: f64, pool: &TaskPool) -> Result<(), Error> {
        if !self.has_waiting(world) {
            return Ok(());
        }
        self.step_active(|it| it.world == world && it.waits, delta, pool)?;
        self.effects.iter_mut().for_each(|(_, effect)| effect.waits &= effect.world != world);
        Ok(())
    }

    fn has_waiting(&self, world: Handle) -> bool {
        self.effects.iter().any(|(_, effect)| effect.world == world && effect.waits)
    }

    fn step_active(
        &mut self,
        those: impl Fn(&ParticleEffect) -> bool,
        delta: f64,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let mut room = self.spawn_budget();
        let Particles { effects, emitters, .. } = self;
        for (_, effect) in effects.iter_mut().filter(|(_, effect)| those(effect)) {
            step_setup::begin(effect, emitters, delta, &mut room);
        }
        self.refused += room.refused;
        self.run(pool)
    }

    /// Returns the cost of the next step of a world's effects without a link, see
    /// [`THREADS_COST_MIN`].
    pub fn cost_of_free(&self, world: Handle) -> usize {
        let free = self.effects.iter().filter(|(_, it)| it.world == world && it.link.is_none());
        free.flat_map(|(_, effect)| self.emitters(effect)).map(Emitter::cost).sum()
    }

    fn spawn_budget(&self) -> step_setup::SpawnBudget {
        let all: usize = self.emitters.iter().map(|emitter| emitter.count).sum();
        let left = PARTICLES_MAX.saturating_sub(all).min(limit::available() / BYTES_PER_PARTICLE);
        step_setup::SpawnBudget { left, refused: 0 }
    }

    /// Destroys the effects of a world that have ended.
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

    /// Moves every emitter that has a step to take.
    fn run(&mut self, pool: &TaskPool) -> Result<(), Error> {
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
                    true => emitter.finish_step(),
                    false => emitter.run(),
                }
                emitter.stepping = false;
            }
        })
    }

    /// Hashes all state that determines the future of an effect.
    pub fn hash_of(&self, effect: &ParticleEffect) -> u64 {
        let mut hash = StateHash::new(0);
        let EffectTransform { position, rotation, scale } = effect.pose;
        for number in position.to_array().into_iter().chain(rotation.to_array()) {
            hash.write_f32(number);
        }
        hash.write_f32(scale);
        hash.write_u64(effect.spawning.into());
        effect.variables.iter().flatten().for_each(|number| hash.write_f32(*number));
        self.emitters(effect).for_each(|emitter| emitter.write_state(&mut hash));
        hash.finish()
    }

    /// Calls `each` with every effect, the pool of emitters and the drawing context.
    pub fn each(
        &mut self,
        mut each: impl FnMut(&mut ParticleEffect, &[Emitter], &mut DrawContext),
    ) {
        let Particles { effects, emitters, draw_context, .. } = self;
        for (_, effect) in effects.iter_mut() {
            each(effect, emitters, draw_context);
        }
    }

    /// Returns the number of bytes in the emitters' blocks.
    pub fn bytes(&self) -> usize {
        let blocks: usize = self.emitters.iter().map(|emitter| emitter.blocks.capacity()).sum();
        blocks * LANES * particle_block::BYTES_PER_PARTICLE
    }
}
