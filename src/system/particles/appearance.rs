//! Appearance of the particles of a block: arrays of size, rotation, color and flipbook frame. Runs
//! for every particle that is drawn. Knows neither GUIs nor scenes.

// Lanes are accessed by index, because most loops read several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::data::*;
use super::emitter::Emitter;
use super::forces::sine;
use super::particle_block::{BlockColumn, LANES, ParticleBlock};
use super::spawner::between;
use engine_foundation::Vec3;

/// Appearance rules of an emitter's particles, resolved once a frame.
#[derive(Clone, Debug)]
pub struct AppearanceRules {
    /// Half the height of the largest particle. `aspect` is width divided by height.
    half_size: f32,
    aspect: f32,
    sizes: [f32; TABLE],
    colors: [[u8; 4]; TABLE],
    random: f32,
    over: Over,
    /// Factor from a speed to an index of the tables.
    by_speed: f32,
    tint: Option<[[f32; 4]; 2]>,
    rotation: [f32; 2],
    spin: [f32; 2],
    /// Rotation in turns that is added to all particles.
    turn: f32,
    pub billboard: Billboard,
    pub stretch: f32,
    pub axis: Vec3,
    flipbook: [u32; 3],
    flipbook_rate: f32,
    flipbook_random: bool,
    seed: u32,
    flat: bool,
    /// Rows of the matrix from the particles' space to the space in which they are drawn.
    pub rows: [[f32; 4]; 3],
    /// Glow factor, for scenes.
    pub glow: f32,
}

/// Result of [`AppearanceRules::compute`].
pub struct Appearance {
    pub half_width: BlockColumn,
    pub half_height: BlockColumn,
    /// Cosine of the counterclockwise rotation. If a particle is aligned, its height is aligned.
    pub cos: BlockColumn,
    pub sin: BlockColumn,
    pub color: [[u8; 4]; LANES],
    pub frame: [u32; LANES],
    /// Position in the space in which it is drawn.
    pub position: [BlockColumn; 3],
}

impl Appearance {
    pub const EMPTY: Appearance = Appearance {
        half_width: [0.0; LANES],
        half_height: [0.0; LANES],
        cos: [1.0; LANES],
        sin: [0.0; LANES],
        color: [[0; 4]; LANES],
        frame: [0; LANES],
        position: [[0.0; LANES]; 3],
    };
}

/// Hashes a number (C. Wellons, "Prospecting for Hash Functions", 2018: lowbias32).
#[inline(always)]
pub fn mix(number: u32) -> u32 {
    let number = (number ^ (number >> 16)).wrapping_mul(0x7feb_352d);
    let number = (number ^ (number >> 15)).wrapping_mul(0x846c_a68b);
    number ^ (number >> 16)
}

/// Returns one of the four bytes as a number from 0 to 1.
#[inline(always)]
fn part(bits: u32, byte: u32) -> f32 {
    (bits >> (8 * byte) & 255) as f32 * (1.0 / 255.0)
}

impl AppearanceRules {
    /// Resolves the rules of an emitter with the variables of its effect.
    pub fn new(emitter: &Emitter, variables: &[[f32; 3]]) -> AppearanceRules {
        let data = emitter.numbers();
        let bound_value = |bind: Bind| match data.binds[bind as usize] {
            0 => None,
            number => Some(variables[number as usize - 1]),
        };
        let mut colors = data.colors;
        if let Some(factor) = bound_value(Bind::Color) {
            for color in &mut colors {
                for (part, factor) in color.iter_mut().zip(factor) {
                    *part = (f32::from(*part) * factor + 0.5) as u8;
                }
            }
        }
        let to_world = &emitter.to_world;
        let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|a| to_world.rotation * a * to_world.scale);
        let at = to_world.position;
        let tint = data.tint.map(|color| color.map(|part| f32::from(part) / 255.0));
        let axis = Vec3::from_array(data.axis);
        // Particles in world space are scaled by the effect's scale when they are drawn.
        let scale = emitter.request.to.scale * to_world.scale;
        AppearanceRules {
            half_size: 0.5
                * data.size_max
                * scale
                * bound_value(Bind::Size).map_or(1.0, |by| by[0].max(0.0)),
            aspect: data.aspect,
            sizes: data.sizes,
            colors,
            random: data.size_random,
            over: Over::of(data.over),
            by_speed: (TABLE - 1) as f32 / data.over_speed,
            tint: (data.tint != [[255; 4]; 2]).then_some(tint),
            rotation: data.rotation,
            spin: data.spin,
            turn: match emitter.flat {
                true => to_world.rotation.to_scaled_axis().z / std::f32::consts::TAU,
                false => 0.0,
            },
            billboard: Billboard::of(data.billboard),
            stretch: data.stretch,
            axis: to_world.rotation * axis,
            flipbook: data.flipbook,
            flipbook_rate: data.flipbook_rate,
            flipbook_random: data.flipbook_random > 0,
            seed: mix(emitter.index as u32 + 1),
            flat: emitter.flat,
            rows: [[x.x, y.x, z.x, at.x], [x.y, y.y, z.y, at.y], [x.z, y.z, z.z, at.z]],
            glow: data.glow,
        }
    }

    /// Computes the appearance of a block.
    #[inline(always)]
    pub fn compute(&self, block: &ParticleBlock, out: &mut Appearance) {
        let mut bits = [0u32; LANES];
        for i in 0..LANES {
            bits[i] = mix(block.serial[i] ^ self.seed);
        }
        self.sizes_and_colors(block, &bits, out);
        match self.billboard {
            Billboard::Facing => self.rotations(block, &bits, out),
            Billboard::Stretched if self.flat => self.along_velocity(block, out),
            Billboard::Aligned if self.flat => {
                (out.cos, out.sin) = ([self.axis.y; LANES], [-self.axis.x; LANES]);
            }
            _ => {}
        }
        if self.flipbook[2] > 1 {
            self.frames(block, &bits, out);
        }
        let axes = if self.flat { 2 } else { 3 };
        for axis in 0..axes {
            let [x, y, z, at] = self.rows[axis];
            for i in 0..LANES {
                let [px, py, pz] = [0, 1, 2].map(|axis| block.position[axis][i]);
                out.position[axis][i] = x * px + y * py + z * pz + at;
            }
        }
    }

    #[inline(always)]
    fn sizes_and_colors(&self, block: &ParticleBlock, bits: &[u32; LANES], out: &mut Appearance) {
        let mut table_slots = [0i32; LANES];
        let last = (TABLE - 1) as f32;
        for i in 0..LANES {
            let at = match self.over {
                Over::Life => block.age[i] * last,
                Over::Speed => {
                    let [x, y, z] = [0, 1, 2].map(|axis| block.velocity[axis][i]);
                    (x * x + y * y + z * z).sqrt() * self.by_speed
                }
            };
            // SAFETY: the number is 0 to 127; `min` and `max` return the other operand for NaN.
            table_slots[i] = unsafe { at.min(last).max(0.0).to_int_unchecked() };
        }
        for i in 0..LANES {
            let slot = table_slots[i] as usize & (TABLE - 1);
            out.half_height[i] = self.sizes[slot];
            out.color[i] = self.colors[slot];
        }
        for i in 0..LANES {
            let size = self.half_size * (1.0 + self.random * (2.0 * part(bits[i], 0) - 1.0));
            out.half_height[i] *= size;
            out.half_width[i] = out.half_height[i] * self.aspect;
        }
        if let Some([a, b]) = &self.tint {
            for i in 0..LANES {
                // The fourth byte also selects the spin. The correlation is not noticeable.
                let at = part(bits[i], 3);
                for (channel, (a, b)) in out.color[i].iter_mut().zip(a.iter().zip(b)) {
                    *channel = (f32::from(*channel) * (a + (b - a) * at) + 0.5) as u8;
                }
            }
        }
    }

    #[inline(always)]
    fn rotations(&self, block: &ParticleBlock, bits: &[u32; LANES], out: &mut Appearance) {
        if self.rotation == [0.0; 2] && self.spin == [0.0; 2] && self.turn == 0.0 {
            (out.cos, out.sin) = ([1.0; LANES], [0.0; LANES]);
            return;
        }
        for i in 0..LANES {
            let seconds = block.age[i] / block.age_rate[i].max(1e-6);
            let turns = between(self.rotation, part(bits[i], 1))
                + between(self.spin, part(bits[i], 3)) * seconds
                + self.turn;
            out.sin[i] = sine(turns);
            out.cos[i] = sine(turns + 0.25);
        }
    }

    #[inline(always)]
    fn along_velocity(&self, block: &ParticleBlock, out: &mut Appearance) {
        let [a, b] = [self.rows[0], self.rows[1]];
        for i in 0..LANES {
            let (u, v) = (block.velocity[0][i], block.velocity[1][i]);
            let (x, y) = (a[0] * u + a[1] * v, b[0] * u + b[1] * v);
            let speed = (x * x + y * y).sqrt();
            let by = 1.0 / speed.max(1e-6);
            let lies = speed > 1e-6;
            out.cos[i] = if lies { y * by } else { 1.0 };
            out.sin[i] = if lies { -x * by } else { 0.0 };
            out.half_height[i] += 0.5 * self.stretch * speed;
        }
    }

    #[inline(always)]
    fn frames(&self, block: &ParticleBlock, bits: &[u32; LANES], out: &mut Appearance) {
        let count = self.flipbook[2];
        for i in 0..LANES {
            let first = if self.flipbook_random { ((bits[i] >> 16 & 255) * count) >> 8 } else { 0 };
            let elapsed_frames = match self.flipbook_rate > 0.0 {
                true => block.age[i] / block.age_rate[i].max(1e-6) * self.flipbook_rate,
                // A random frame stays for the whole life.
                false if self.flipbook_random => 0.0,
                false => block.age[i].min(0.9999) * count as f32,
            };
            out.frame[i] = (first + elapsed_frames as u32) % count;
        }
    }

    /// Returns left, bottom, right and top of a flipbook frame within a texture rectangle.
    #[inline(always)]
    pub fn frame(&self, [left, bottom, right, top]: [f32; 4], frame: u32) -> [f32; 4] {
        let [columns, rows, count] = self.flipbook;
        if count == 1 {
            return [left, bottom, right, top];
        }
        let (column, row) = ((frame % columns) as f32, (frame / columns) as f32);
        let (width, height) = ((right - left) / columns as f32, (bottom - top) / rows as f32);
        let (left, top) = (left + width * column, top + height * row);
        [left, top + height, left + width, top]
    }
}
