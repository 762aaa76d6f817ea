//! Particles on their way into a packet: as quadrilaterals of a Gui or squares of a scene. Knows no
//! views; who calls says what things look like and where they go.

use super::block::{Block, LANES};
use super::definition::{Billboard, Blending, EmitterDef, Sort};
use super::emitter::Emitter;
use super::lanes::Lanes;
use crate::foundation::tasks::{Pool, Tasks, split};
use crate::foundation::{Error, Vec3};
use crate::packet::gui::Instance;
use crate::packet::material::{Blend, MaterialSlot};
use crate::packet::scene::Particle;
use crate::packet::texture::TextureSlot;
use std::mem::MaybeUninit;

pub use super::lanes::Look;
pub use super::ribbon::{Room, path_quads, paths};

/// In how many steps distances and ages are sorted.
const SORT_STEPS: usize = 2048;
/// Fewer particles are drawn by one thread: at 6 ns each, these take twice as long as it takes to
/// wake another.
const HEAVY_MIN: usize = 10_000;
/// What a particle that lies along an axis is drawn out by, to say which axis.
const ALONG: f32 = 1e-3;

/// What an emitter's particles are filled with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Skin {
    pub material: MaterialSlot,
    /// For Guis.
    pub slot: TextureSlot,
    pub paint: u32,
    /// Left, bottom, right and top in the texture.
    pub uv: [f32; 4],
    /// For scenes: a texture of its own, or the renderer's soft spot.
    pub scene: TextureSlot,
    /// Whether the texture is the soft spot.
    pub soft: bool,
}

/// The material and the blending that an emitter asks for by words.
pub fn blending(def: &EmitterDef) -> (MaterialSlot, Blend) {
    match Blending::of(def.numbers.blend) {
        Blending::Alpha => (MaterialSlot::BUILT_IN, Blend::Alpha),
        Blending::Add => (MaterialSlot::BUILT_IN_ADD, Blend::Add),
        Blending::Multiply => (MaterialSlot::BUILT_IN_MULTIPLY, Blend::Multiply),
    }
}

/// What particles become in a packet.
pub trait Quad: Copy + Send + Sync {
    /// One of a block's particles.
    fn of(block: &Block, lane: usize, lanes: &Lanes, look: &Look, skin: &Skin) -> Self;
}

impl Quad for Instance {
    #[inline(always)]
    fn of(_: &Block, i: usize, lanes: &Lanes, look: &Look, skin: &Skin) -> Instance {
        let (x, y) = (lanes.position[0][i], lanes.position[1][i]);
        let (width, height) = (lanes.half_width[i], lanes.half_height[i]);
        let (cos, sin) = (lanes.cos[i], lanes.sin[i]);
        let (right_x, right_y) = (cos * width, sin * width);
        let (up_x, up_y) = (-sin * height, cos * height);
        let (a, b) = ((right_x + up_x, right_y + up_y), (right_x - up_x, right_y - up_y));
        Instance {
            corners: [x - a.0, y - a.1, x + b.0, y + b.1, x + a.0, y + a.1, x - b.0, y - b.1],
            uv: look.frame(skin.uv, lanes.frame[i]),
            color: lanes.color[i],
            paint: skin.paint,
            extra: [0.0; 2],
        }
    }
}

impl Quad for Particle {
    #[inline(always)]
    fn of(block: &Block, i: usize, lanes: &Lanes, look: &Look, _: &Skin) -> Particle {
        let [left, bottom, right, top] = look.frame([0.0, 1.0, 1.0, 0.0], lanes.frame[i]);
        let stretch = match look.billboard {
            Billboard::Facing => [0.0; 3],
            Billboard::Aligned => {
                let axis = look.axis;
                (axis * (ALONG * lanes.half_height[i].max(1e-3))).to_array()
            }
            Billboard::Stretched => {
                let velocity = [0, 1, 2].map(|axis| block.velocity[axis][i]);
                let by = 0.5 * look.stretch;
                look.rows
                    .map(|[x, y, z, _]| (x * velocity[0] + y * velocity[1] + z * velocity[2]) * by)
            }
        };
        Particle {
            position: [0, 1, 2].map(|axis| lanes.position[axis][i]),
            rotation: lanes.sin[i].atan2(lanes.cos[i]),
            size: [lanes.half_width[i], lanes.half_height[i]],
            color: lanes.color[i],
            glow: look.glow,
            uv: [left, top, right, bottom],
            stretch,
            reserved: 0,
        }
    }
}

/// Room that is used again.
pub struct Scratch<T> {
    items: Vec<T>,
    keys: Vec<u32>,
    starts: Vec<u32>,
}

impl<T> Default for Scratch<T> {
    fn default() -> Scratch<T> {
        Scratch { items: Vec::new(), keys: Vec::new(), starts: Vec::new() }
    }
}

/// What all drawing shares.
#[derive(Default)]
pub struct Drawn {
    /// Of each resource, what each of its emitters is filled with, and of which state of
    /// everything that they depend on.
    pub skins: Vec<Vec<Skin>>,
    pub version: [u64; 3],
    pub instances: Scratch<Instance>,
    pub particles: Scratch<Particle>,
    pub bands: Room,
}

/// How an emitter's particles are drawn.
pub struct Drawing<'a> {
    pub emitter: &'a Emitter,
    pub look: &'a Look,
    pub skin: &'a Skin,
    /// What sees them, for those that are sorted by distance.
    pub eye: Vec3,
}

impl Drawing<'_> {
    /// Adds all particles of an emitter to `out`.
    ///
    /// # Errors
    /// For want of threads.
    pub fn add<T: Quad>(
        &self,
        out: &mut Vec<T>,
        scratch: &mut Scratch<T>,
        pool: &Pool,
    ) -> Result<(), Error> {
        let sort = Sort::of(self.emitter.numbers().sort);
        if sort == Sort::None || self.emitter.count < 2 {
            return self.fill(out, pool);
        }
        scratch.items.clear();
        self.fill(&mut scratch.items, pool)?;
        self.sort_keys(sort, &mut scratch.keys);
        // Counted by key, each key's begin, then every particle to the next place of its key.
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
            let place = &mut scratch.starts[*key as usize];
            out[first + *place as usize] = *item;
            *place += 1;
        }
        Ok(())
    }

    /// The step of each particle in the order of drawing.
    fn sort_keys(&self, sort: Sort, keys: &mut Vec<u32>) {
        let count = self.emitter.count;
        let (blocks, _) = self.emitter.used();
        let one = |i: usize| (&blocks[i / LANES], i % LANES);
        keys.clear();
        let last = (SORT_STEPS - 1) as f32;
        if sort == Sort::FarthestFirst {
            let distance = |i: usize| {
                let (block, lane) = one(i);
                let p = [0, 1, 2].map(|axis| block.position[axis][lane]);
                let place = self.look.rows.map(|[x, y, z, at]| x * p[0] + y * p[1] + z * p[2] + at);
                Vec3::from_array(place).distance_squared(self.eye)
            };
            let far = (0..count).map(distance).fold(0.0f32, f32::max).sqrt().max(1e-6);
            let near = (0..count).map(distance).fold(f32::INFINITY, f32::min).sqrt();
            let by = last / (far - near).max(1e-6);
            keys.extend((0..count).map(|i| ((far - distance(i).sqrt()) * by) as u32));
        } else {
            let newest = self.emitter.serial;
            let age = |i: usize| {
                let (block, lane) = one(i);
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

    /// Adds them in the order of their places.
    fn fill<T: Quad>(&self, out: &mut Vec<T>, pool: &Pool) -> Result<(), Error> {
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
        // SAFETY: every place of `room` was written: the blocks hold `count` particles.
        unsafe { out.set_len(length) };
        Ok(())
    }

    fn fill_pieces<T: Quad>(
        &self,
        blocks: &[Block],
        room: &mut [MaybeUninit<T>],
        tasks: &Tasks,
        pool: &Pool,
    ) -> Result<(), Error> {
        let task = pool.task("particles");
        tasks.scope(|scope| {
            let mut graph = scope.graph();
            let mut rest = room;
            for piece in split(blocks.len(), tasks.threads()) {
                let own = &blocks[piece];
                let (places, others) = rest.split_at_mut(rest.len().min(own.len() * LANES));
                rest = others;
                graph.add(task, move || self.fill_piece(own, places));
            }
            graph.run().finish()
        })
    }

    fn fill_piece<T: Quad>(&self, blocks: &[Block], room: &mut [MaybeUninit<T>]) {
        let mut lanes = Lanes::EMPTY;
        for (block, places) in blocks.iter().zip(room.chunks_mut(LANES)) {
            self.look.compute(block, &mut lanes);
            for (i, place) in places.iter_mut().enumerate() {
                place.write(T::of(block, i, &lanes, self.look, self.skin));
            }
        }
    }
}
