//! Conversion of particles to packet data: quads of a GUI or particle quads of a scene. Knows no
//! views; the caller determines appearance and destination.

use super::appearance::Appearance;
use super::data::{Billboard, Blending, EmitterDef, Sort};
use super::emitter::Emitter;
use super::particle_block::{LANES, ParticleBlock};
use engine_foundation::tasks::{TaskManager, TaskPool, split};
use engine_foundation::{Error, Vec3};
use engine_frame_packet::gui::QuadInstance;
use engine_frame_packet::material::{BlendMode, MaterialSlot};
use engine_frame_packet::scene::ParticleQuad;
use engine_frame_packet::texture::TextureSlot;
use std::mem::MaybeUninit;

pub use super::appearance::AppearanceRules;
pub use super::ribbon::{RibbonScratch, path_quads, paths};

/// Number of buckets for sorting distances and ages.
const SORT_STEPS: usize = 2048;
/// Minimum number of particles drawn by several threads. At 6 ns each, this takes twice as long as
/// waking another thread.
const HEAVY_MIN: usize = 10_000;
/// Factor of the tiny stretch of an aligned particle. The stretch only encodes the axis.
const ALONG: f32 = 1e-3;

/// Texture and material of an emitter's particles.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ParticleTexture {
    pub material: MaterialSlot,
    /// Texture for GUIs.
    pub slot: TextureSlot,
    pub paint: u32,
    /// Left, bottom, right and top in the texture.
    pub uv: [f32; 4],
    /// Texture for scenes: a separate texture, or the renderer's soft spot.
    pub scene: TextureSlot,
    /// True if the texture is the soft spot.
    pub soft: bool,
}

/// Returns the built-in material and blend mode for an emitter's blending.
pub fn blending(def: &EmitterDef) -> (MaterialSlot, BlendMode) {
    match Blending::of(def.numbers.blend) {
        Blending::Alpha => (MaterialSlot::BUILT_IN, BlendMode::Alpha),
        Blending::Add => (MaterialSlot::BUILT_IN_ADD, BlendMode::Add),
        Blending::Multiply => (MaterialSlot::BUILT_IN_MULTIPLY, BlendMode::Multiply),
    }
}

/// Packet representation of a particle.
pub trait ParticleVertex: Copy + Send + Sync {
    /// Converts one particle of a block.
    fn of(
        block: &ParticleBlock,
        lane: usize,
        appearance: &Appearance,
        look: &AppearanceRules,
        texture: &ParticleTexture,
    ) -> Self;
}

impl ParticleVertex for QuadInstance {
    #[inline(always)]
    fn of(
        _: &ParticleBlock,
        i: usize,
        appearance: &Appearance,
        look: &AppearanceRules,
        texture: &ParticleTexture,
    ) -> QuadInstance {
        let (x, y) = (appearance.position[0][i], appearance.position[1][i]);
        let (width, height) = (appearance.half_width[i], appearance.half_height[i]);
        let (cos, sin) = (appearance.cos[i], appearance.sin[i]);
        let (right_x, right_y) = (cos * width, sin * width);
        let (up_x, up_y) = (-sin * height, cos * height);
        let (a, b) = ((right_x + up_x, right_y + up_y), (right_x - up_x, right_y - up_y));
        QuadInstance {
            corners: [x - a.0, y - a.1, x + b.0, y + b.1, x + a.0, y + a.1, x - b.0, y - b.1],
            uv: look.frame(texture.uv, appearance.frame[i]),
            color: appearance.color[i],
            paint: texture.paint,
            extra: [0.0; 2],
        }
    }
}

impl ParticleVertex for ParticleQuad {
    #[inline(always)]
    fn of(
        block: &ParticleBlock,
        i: usize,
        appearance: &Appearance,
        look: &AppearanceRules,
        _: &ParticleTexture,
    ) -> ParticleQuad {
        let [left, bottom, right, top] = look.frame([0.0, 1.0, 1.0, 0.0], appearance.frame[i]);
        let stretch = match look.billboard {
            Billboard::Facing => [0.0; 3],
            Billboard::Aligned => {
                let axis = look.axis;
                (axis * (ALONG * appearance.half_height[i].max(1e-3))).to_array()
            }
            Billboard::Stretched => {
                let velocity = [0, 1, 2].map(|axis| block.velocity[axis][i]);
                let by = 0.5 * look.stretch;
                look.rows
                    .map(|[x, y, z, _]| (x * velocity[0] + y * velocity[1] + z * velocity[2]) * by)
            }
        };
        ParticleQuad {
            position: [0, 1, 2].map(|axis| appearance.position[axis][i]),
            rotation: appearance.sin[i].atan2(appearance.cos[i]),
            size: [appearance.half_width[i], appearance.half_height[i]],
            color: appearance.color[i],
            glow: look.glow,
            uv: [left, top, right, bottom],
            stretch,
            reserved: 0,
        }
    }
}

/// Buffers that are reused for sorting.
pub struct DrawScratch<T> {
    items: Vec<T>,
    keys: Vec<u32>,
    starts: Vec<u32>,
}

impl<T> Default for DrawScratch<T> {
    fn default() -> DrawScratch<T> {
        DrawScratch { items: Vec::new(), keys: Vec::new(), starts: Vec::new() }
    }
}

/// Shared state of all particle drawing.
#[derive(Default)]
pub struct DrawContext {
    /// Textures of the emitters of each resource. `version` identifies the state of everything that
    /// they depend on.
    pub textures: Vec<Vec<ParticleTexture>>,
    pub version: [u64; 3],
    pub instances: DrawScratch<QuadInstance>,
    pub particles: DrawScratch<ParticleQuad>,
    pub ribbons: RibbonScratch,
}

/// Inputs for drawing an emitter's particles.
pub struct DrawStyle<'a> {
    pub emitter: &'a Emitter,
    pub appearance: &'a AppearanceRules,
    pub texture: &'a ParticleTexture,
    /// Position of the viewer, for sorting by distance.
    pub eye: Vec3,
}

impl DrawStyle<'_> {
    /// Adds all particles of an emitter to `out`.
    ///
    /// # Errors
    /// Returns an error if the worker threads cannot be created.
    pub fn add<T: ParticleVertex>(
        &self,
        out: &mut Vec<T>,
        scratch: &mut DrawScratch<T>,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let sort = Sort::of(self.emitter.numbers().sort);
        if sort == Sort::None || self.emitter.count < 2 {
            return self.fill(out, pool);
        }
        scratch.items.clear();
        self.fill(&mut scratch.items, pool)?;
        self.sort_keys(sort, &mut scratch.keys);
        // Counting sort: count by key, compute the start of each key, then copy every particle to
        // the next position of its key.
        scratch.starts.clear();
        scratch.starts.resize(SORT_STEPS + 1, 0);
        for key in &scratch.keys {
            scratch.starts[*key as usize + 1] += 1;
        }
        for i in 0..SORT_STEPS {
            scratch.starts[i + 1] += scratch.starts[i];
        }
        let first = out.len();
        out.extend_from_slice(&scratch.items);
        for (item, key) in scratch.items.iter().zip(&scratch.keys) {
            let slot = &mut scratch.starts[*key as usize];
            out[first + *slot as usize] = *item;
            *slot += 1;
        }
        Ok(())
    }

    /// Computes the bucket of each particle in drawing order.
    fn sort_keys(&self, sort: Sort, keys: &mut Vec<u32>) {
        let count = self.emitter.count;
        let (blocks, _) = self.emitter.used();
        let block_and_lane = |i: usize| (&blocks[i / LANES], i % LANES);
        keys.clear();
        let last = (SORT_STEPS - 1) as f32;
        if sort == Sort::FarthestFirst {
            let distance = |i: usize| {
                let (block, lane) = block_and_lane(i);
                let p = [0, 1, 2].map(|axis| block.position[axis][lane]);
                let slot =
                    self.appearance.rows.map(|[x, y, z, at]| x * p[0] + y * p[1] + z * p[2] + at);
                Vec3::from_array(slot).distance_squared(self.eye)
            };
            let far = (0..count).map(distance).fold(0.0f32, f32::max).sqrt().max(1e-6);
            let near = (0..count).map(distance).fold(f32::INFINITY, f32::min).sqrt();
            let by = last / (far - near).max(1e-6);
            keys.extend((0..count).map(|i| ((far - distance(i).sqrt()) * by) as u32));
        } else {
            let newest = self.emitter.serial;
            let age = |i: usize| {
                let (block, lane) = block_and_lane(i);
                newest.wrapping_sub(block.serial[lane])
            };
            let oldest = (0..count).map(age).max().unwrap_or(1).max(1) as f32;
            let by = last / oldest;
            keys.extend((0..count).map(|i| (age(i) as f32 * by) as u32));
            if sort == Sort::OldestFirst {
                keys.iter_mut().for_each(|key| *key = last as u32 - (*key).min(last as u32));
            }
        }
        keys.iter_mut().for_each(|key| *key = (*key).min(last as u32));
    }

    /// Adds the particles in storage order.
    fn fill<T: ParticleVertex>(&self, out: &mut Vec<T>, pool: &TaskPool) -> Result<(), Error> {
        let count = self.emitter.count;
        out.reserve(count);
        let room = &mut out.spare_capacity_mut()[..count];
        let (blocks, _) = self.emitter.used();
        if count >= HEAVY_MIN && pool.threads() > 1 {
            self.fill_pieces(blocks, room, pool.tasks(count)?, pool)?;
        } else {
            self.fill_piece(blocks, room);
        }
        let length = out.len() + count;
        // SAFETY: every element of `room` was written: the blocks hold `count` particles.
        unsafe { out.set_len(length) };
        Ok(())
    }

    fn fill_pieces<T: ParticleVertex>(
        &self,
        blocks: &[ParticleBlock],
        room: &mut [MaybeUninit<T>],
        tasks: &TaskManager,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let task = pool.task("particles");
        tasks.scope(|scope| {
            let mut graph = scope.graph();
            let mut rest = room;
            for piece in split(blocks.len(), tasks.threads()) {
                let own = &blocks[piece];
                let (slots, others) = rest.split_at_mut(rest.len().min(own.len() * LANES));
                rest = others;
                graph.add(task, move || self.fill_piece(own, slots));
            }
            graph.run().finish()
        })
    }

    fn fill_piece<T: ParticleVertex>(&self, blocks: &[ParticleBlock], room: &mut [MaybeUninit<T>]) {
        let mut appearance = Appearance::EMPTY;
        for (block, slots) in blocks.iter().zip(room.chunks_mut(LANES)) {
            self.appearance.compute(block, &mut appearance);
            for (i, slot) in slots.iter_mut().enumerate() {
                slot.write(T::of(block, i, &appearance, self.appearance, self.texture));
            }
        }
    }
}
