//! Forces on the particles of a block: attractors, vortices, turbulence, wind. Loops over arrays of
//! known length without branches. A step's forces are resolved by emitters; here are only numbers.

// Lanes are walked by number, for most loops take from several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::block::{LANES, Lane};
use super::definition::Falloff;
use crate::foundation::angles::sin_cos;

/// The waves that a turbulence is made of.
pub const WAVES: usize = 6;

/// A force in one step, in the space in which the particles move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Push {
    Attractor {
        at: [f32; 3],
        reach: Reach,
    },
    Vortex {
        at: [f32; 3],
        axis: [f32; 3],
        reach: Reach,
    },
    Turbulence {
        waves: [Wave; WAVES],
    },
    /// Draws velocities towards its own, by a part of the difference.
    Wind {
        velocity: [f32; 3],
        part: f32,
    },
}

/// How strong something is at a distance: what it adds in one step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reach {
    pub strength: f32,
    pub falloff: Falloff,
    /// One over the radius beyond which it is not felt; 0: it is felt everywhere.
    pub fade: f32,
}

/// A wave of a turbulence: which way it runs (turns a unit), where it stands (turns), which way it
/// pushes and how much in one step. The push lies at right angles to the way.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Wave {
    pub way: [f32; 3],
    pub phase: f32,
    pub push: [f32; 3],
}

/// Nearer than this, distances count as this.
const NEAR_SQUARED: f32 = 1e-6;

/// The sine of so many turns, off by at most 0.0012: a parabola through its zeros and tops, and
/// that parabola once more. Only sums and products, equal on every processor.
#[inline(always)]
pub fn sine(turns: f32) -> f32 {
    // Added and taken away, this number leaves the nearest whole one.
    const ROUND: f32 = 12_582_912.0;
    let part = turns - ((turns + ROUND) - ROUND);
    let arch = part * (8.0 - 16.0 * part.abs());
    arch * (0.775 + 0.225 * arch.abs())
}

/// How much of the strength is felt, times the distance itself turned into a direction.
#[inline(always)]
fn felt(squared: f32, falloff: Falloff, fade: f32) -> f32 {
    let squared = squared.max(NEAR_SQUARED);
    let by_distance = match falloff {
        Falloff::None => 1.0 / squared.sqrt(),
        Falloff::Inverse => 1.0 / squared,
        Falloff::InverseSquare => 1.0 / (squared * squared.sqrt()),
    };
    if fade > 0.0 { by_distance * (1.0 - squared.sqrt() * fade).max(0.0) } else { by_distance }
}

/// Runs a loop with its falloff known, so that it is not asked for each particle.
macro_rules! with_falloff {
    ($reach:expr, |$falloff:ident| $call:expr) => {
        match $reach.falloff {
            Falloff::None => {
                let $falloff = Falloff::None;
                $call
            }
            Falloff::Inverse => {
                let $falloff = Falloff::Inverse;
                $call
            }
            Falloff::InverseSquare => {
                let $falloff = Falloff::InverseSquare;
                $call
            }
        }
    };
}

/// Adds what every force does to the velocities of a block.
#[inline(always)]
pub fn push_all<const D: usize>(pushes: &[Push], place: &[Lane; 3], speed: &mut [Lane; 3]) {
    for push in pushes {
        match push {
            Push::Attractor { at, reach } => {
                with_falloff!(reach, |falloff| attract::<D>(at, reach, falloff, place, speed));
            }
            Push::Vortex { at, axis, reach } => {
                with_falloff!(reach, |falloff| whirl::<D>(at, axis, reach, falloff, place, speed));
            }
            Push::Turbulence { waves } => {
                waves.iter().for_each(|wave| surge::<D>(wave, place, speed));
            }
            Push::Wind { velocity, part } => {
                for axis in 0..D {
                    for speed in speed[axis].iter_mut() {
                        *speed += (velocity[axis] - *speed) * part;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn attract<const D: usize>(
    at: &[f32; 3],
    reach: &Reach,
    falloff: Falloff,
    place: &[Lane; 3],
    speed: &mut [Lane; 3],
) {
    let (strength, fade) = (reach.strength, reach.fade);
    for i in 0..LANES {
        let mut squared = 0.0;
        let mut to = [0.0; D];
        for axis in 0..D {
            to[axis] = at[axis] - place[axis][i];
            squared += to[axis] * to[axis];
        }
        let force = strength * felt(squared, falloff, fade);
        for axis in 0..D {
            speed[axis][i] += to[axis] * force;
        }
    }
}

#[inline(always)]
fn whirl<const D: usize>(
    at: &[f32; 3],
    turn: &[f32; 3],
    reach: &Reach,
    falloff: Falloff,
    place: &[Lane; 3],
    speed: &mut [Lane; 3],
) {
    let (strength, fade) = (reach.strength, reach.fade);
    for i in 0..LANES {
        let mut from = [0.0; 3];
        for axis in 0..D {
            from[axis] = place[axis][i] - at[axis];
        }
        // Around the axis, and as far from it as the particle is.
        let around = [
            turn[1] * from[2] - turn[2] * from[1],
            turn[2] * from[0] - turn[0] * from[2],
            turn[0] * from[1] - turn[1] * from[0],
        ];
        let squared = around[0] * around[0] + around[1] * around[1] + around[2] * around[2];
        let force = strength * felt(squared, falloff, fade);
        for axis in 0..D {
            speed[axis][i] += around[axis] * force;
        }
    }
}

#[inline(always)]
fn surge<const D: usize>(wave: &Wave, place: &[Lane; 3], speed: &mut [Lane; 3]) {
    for i in 0..LANES {
        let mut turns = wave.phase;
        for axis in 0..D {
            turns += place[axis][i] * wave.way[axis];
        }
        let height = sine(turns);
        for axis in 0..D {
            speed[axis][i] += wave.push[axis] * height;
        }
    }
}

/// The waves of a turbulence: the curl of a potential that is a sum of waves of random directions
/// (curl noise: R. Bridson et al., "Curl-Noise for Procedural Fluid Flow", 2007). As each pushes at
/// right angles to its way, nothing gathers or thins out.
///
/// `size`: of the largest eddies; `push`: added in one step, about; `time`: turns that the waves
/// have gone on by; `flat`: in the plane of x and y.
pub fn waves(size: f32, push: f32, time: f32, flat: bool) -> [Wave; WAVES] {
    std::array::from_fn(|i| {
        let number = i as f32;
        // The golden angle spreads directions evenly; each wave is finer and weaker.
        let angle = number * 2.399_963;
        let rise = if flat { 0.0 } else { 1.0 - 2.0 * (number + 0.5) / WAVES as f32 };
        let level = (1.0 - rise * rise).sqrt();
        let (sin, cos) = sin_cos(angle);
        let direction = [level * cos, level * sin, rise];
        let finer = 1.0 + number * 0.45;
        let way = direction.map(|part| part * finer / size);
        let across = match flat {
            true => [-direction[1], direction[0], 0.0],
            false => {
                // Any direction at right angles; a second golden turn keeps them apart.
                let turn = number * 1.237;
                let level = level.max(1e-3);
                let u = [-direction[1] / level, direction[0] / level, 0.0];
                let v = [
                    direction[1] * u[2] - direction[2] * u[1],
                    direction[2] * u[0] - direction[0] * u[2],
                    direction[0] * u[1] - direction[1] * u[0],
                ];
                let (s, c) = sin_cos(turn);
                [0, 1, 2].map(|axis| c * u[axis] + s * v[axis])
            }
        };
        let strength = push / (finer * 0.8);
        let phase = number * 0.381_966 + time * (0.6 + 0.17 * number) + 0.1;
        Wave { way, phase: phase - phase.floor(), push: across.map(|part| part * strength) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_is_near_enough() {
        for i in -4000..4000 {
            let turns = i as f32 * 0.001_7;
            let exact = (turns * std::f32::consts::TAU).sin();
            assert!((sine(turns) - exact).abs() < 1.3e-3, "{turns}: {} {exact}", sine(turns));
        }
    }

    #[test]
    fn turbulence_pushes_at_right_angles_to_its_waves() {
        for flat in [true, false] {
            for wave in waves(3.0, 2.0, 0.7, flat) {
                let dot: f32 = (0..3).map(|axis| wave.way[axis] * wave.push[axis]).sum();
                assert!(dot.abs() < 1e-5, "{wave:?}");
                assert!(!flat || wave.push[2] == 0.0);
            }
        }
    }

    #[test]
    fn an_attractor_draws_and_a_vortex_turns() {
        let reach = Reach { strength: 10.0, falloff: Falloff::Inverse, fade: 0.0 };
        let place = [[2.0; LANES], [0.0; LANES], [0.0; LANES]];
        let mut speed = [[0.0; LANES]; 3];
        let at = [0.0; 3];
        push_all::<2>(&[Push::Attractor { at, reach }], &place, &mut speed);
        assert_eq!([speed[0][5], speed[1][5]], [-5.0, 0.0]);
        let mut speed = [[0.0; LANES]; 3];
        let axis = [0.0, 0.0, 1.0];
        let near = Reach { falloff: Falloff::None, fade: 0.25, ..reach };
        push_all::<3>(&[Push::Vortex { at, axis, reach: near }], &place, &mut speed);
        assert_eq!([speed[0][63], speed[1][63], speed[2][63]], [0.0, 5.0, 0.0]);
    }
}
