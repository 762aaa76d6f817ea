//! How the particles of a block look: size, turn, colour and frame of each, as arrays. Runs for
//! every particle that is drawn. Knows neither Guis nor scenes.

// Lanes are walked by number, for most loops take from several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::block::{Block, LANES, Lane};
use super::definition::*;
use super::emitter::Emitter;
use super::force::sine;
use super::spawn::between;
use crate::foundation::Vec3;

/// How an emitter's particles look, resolved once a frame.
#[derive(Clone, Debug)]
pub struct Look {
    /// Half the height of the largest, and what all are wide by it.
    half: f32,
    aspect: f32,
    sizes: [f32; TABLE],
    colors: [[u8; 4]; TABLE],
    random: f32,
    over: Over,
    /// The place in the tables by speed.
    by_speed: f32,
    tint: Option<[[f32; 4]; 2]>,
    rotation: [f32; 2],
    spin: [f32; 2],
    /// Turns that are added to all.
    turn: f32,
    pub billboard: Billboard,
    pub stretch: f32,
    pub axis: Vec3,
    flipbook: [u32; 3],
    flipbook_rate: f32,
    flipbook_random: bool,
    seed: u32,
    flat: bool,
    /// From the particles' space to where they are drawn: the rows of a matrix.
    pub rows: [[f32; 4]; 3],
    /// For scenes.
    pub glow: f32,
}

/// What [`Look::compute`] finds.
pub struct Lanes {
    pub half_width: Lane,
    pub half_height: Lane,
    /// Of the turn against the clock; where a particle lies along something, its height does.
    pub cos: Lane,
    pub sin: Lane,
    pub color: [[u8; 4]; LANES],
    pub frame: [u32; LANES],
    /// Where it is drawn.
    pub position: [Lane; 3],
}

impl Lanes {
    pub const EMPTY: Lanes = Lanes {
        half_width: [0.0; LANES],
        half_height: [0.0; LANES],
        cos: [1.0; LANES],
        sin: [0.0; LANES],
        color: [[0; 4]; LANES],
        frame: [0; LANES],
        position: [[0.0; LANES]; 3],
    };
}

/// Mixes the bits of a number (C. Wellons, "Prospecting for Hash Functions", 2018: lowbias32).
#[inline(always)]
pub fn mix(number: u32) -> u32 {
    let number = (number ^ (number >> 16)).wrapping_mul(0x7feb_352d);
    let number = (number ^ (number >> 15)).wrapping_mul(0x846c_a68b);
    number ^ (number >> 16)
}

/// One of the four bytes as a number from 0 to 1.
#[inline(always)]
fn part(bits: u32, byte: u32) -> f32 {
    (bits >> (8 * byte) & 255) as f32 * (1.0 / 255.0)
}

impl Look {
    /// Of an emitter of an effect with these variables.
    pub fn new(emitter: &Emitter, variables: &[[f32; 3]]) -> Look {
        let it = emitter.numbers();
        let bound = |bind: Bind| match it.binds[bind as usize] {
            0 => None,
            place => Some(variables[place as usize - 1]),
        };
        let mut colors = it.colors;
        if let Some(factor) = bound(Bind::Color) {
            for color in &mut colors {
                for (part, factor) in color.iter_mut().zip(factor) {
                    *part = (f32::from(*part) * factor + 0.5) as u8;
                }
            }
        }
        let outward = &emitter.outward;
        let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|a| outward.rotation * a * outward.scale);
        let at = outward.position;
        let tint = it.tint.map(|color| color.map(|part| f32::from(part) / 255.0));
        let axis = Vec3::from_array(it.axis);
        // The size of what moves in the world follows the effect's scale where it is drawn.
        let scale = emitter.order.to.scale * outward.scale;
        Look {
            half: 0.5 * it.size_max * scale * bound(Bind::Size).map_or(1.0, |by| by[0].max(0.0)),
            aspect: it.aspect,
            sizes: it.sizes,
            colors,
            random: it.size_random,
            over: Over::of(it.over),
            by_speed: (TABLE - 1) as f32 / it.over_speed,
            tint: (it.tint != [[255; 4]; 2]).then_some(tint),
            rotation: it.rotation,
            spin: it.spin,
            turn: match emitter.flat {
                true => outward.rotation.to_scaled_axis().z / std::f32::consts::TAU,
                false => 0.0,
            },
            billboard: Billboard::of(it.billboard),
            stretch: it.stretch,
            axis: outward.rotation * axis,
            flipbook: it.flipbook,
            flipbook_rate: it.flipbook_rate,
            flipbook_random: it.flipbook_random > 0,
            seed: mix(emitter.index as u32 + 1),
            flat: emitter.flat,
            rows: [[x.x, y.x, z.x, at.x], [x.y, y.y, z.y, at.y], [x.z, y.z, z.z, at.z]],
            glow: it.glow,
        }
    }

    /// Looks at a block.
    #[inline(always)]
    pub fn compute(&self, block: &Block, out: &mut Lanes) {
        let mut bits = [0u32; LANES];
        for i in 0..LANES {
            bits[i] = mix(block.serial[i] ^ self.seed);
        }
        self.sizes_and_colors(block, &bits, out);
        match self.billboard {
            Billboard::Facing => self.turns(block, &bits, out),
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
    fn sizes_and_colors(&self, block: &Block, bits: &[u32; LANES], out: &mut Lanes) {
        let mut places = [0i32; LANES];
        let last = (TABLE - 1) as f32;
        for i in 0..LANES {
            let at = match self.over {
                Over::Life => block.age[i] * last,
                Over::Speed => {
                    let [x, y, z] = [0, 1, 2].map(|axis| block.velocity[axis][i]);
                    (x * x + y * y + z * z).sqrt() * self.by_speed
                }
            };
            // SAFETY: a number from 0 to 127; `min` and `max` take the other one for NaN.
            places[i] = unsafe { at.min(last).max(0.0).to_int_unchecked() };
        }
        for i in 0..LANES {
            let place = places[i] as usize & (TABLE - 1);
            out.half_height[i] = self.sizes[place];
            out.color[i] = self.colors[place];
        }
        for i in 0..LANES {
            let size = self.half * (1.0 + self.random * (2.0 * part(bits[i], 0) - 1.0));
            out.half_height[i] *= size;
            out.half_width[i] = out.half_height[i] * self.aspect;
        }
        if let Some([a, b]) = &self.tint {
            for i in 0..LANES {
                // The fourth byte also chooses the spin: nobody sees that the two go together.
                let at = part(bits[i], 3);
                for (one, (a, b)) in out.color[i].iter_mut().zip(a.iter().zip(b)) {
                    *one = (f32::from(*one) * (a + (b - a) * at) + 0.5) as u8;
                }
            }
        }
    }

    #[inline(always)]
    fn turns(&self, block: &Block, bits: &[u32; LANES], out: &mut Lanes) {
        if self.rotation == [0.0; 2] && self.spin == [0.0; 2] && self.turn == 0.0 {
            (out.cos, out.sin) = ([1.0; LANES], [0.0; LANES]);
            return;
        }
        for i in 0..LANES {
            let seconds = block.age[i] / block.pace[i].max(1e-6);
            let turns = between(self.rotation, part(bits[i], 1))
                + between(self.spin, part(bits[i], 3)) * seconds
                + self.turn;
            out.sin[i] = sine(turns);
            out.cos[i] = sine(turns + 0.25);
        }
    }

    #[inline(always)]
    fn along_velocity(&self, block: &Block, out: &mut Lanes) {
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
    fn frames(&self, block: &Block, bits: &[u32; LANES], out: &mut Lanes) {
        let count = self.flipbook[2];
        for i in 0..LANES {
            let first = if self.flipbook_random { ((bits[i] >> 16 & 255) * count) >> 8 } else { 0 };
            let gone = match self.flipbook_rate > 0.0 {
                true => block.age[i] / block.pace[i].max(1e-6) * self.flipbook_rate,
                // A random frame is kept.
                false if self.flipbook_random => 0.0,
                false => block.age[i].min(0.9999) * count as f32,
            };
            out.frame[i] = (first + gone as u32) % count;
        }
    }

    /// Left, bottom, right and top of a frame within a texture's place.
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
