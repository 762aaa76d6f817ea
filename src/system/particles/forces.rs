//! Forces on the particles of a block: attractors, vortices, turbulence, wind. The loops run over
//! arrays of known length without branches. The caller resolves the forces of an emitter to numbers
//! for each step.

// Lanes are accessed by index, because most loops read several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::data::Falloff;
use super::particle_block::{BlockColumn, LANES};
use engine_foundation::deterministic_math::sin_cos;

/// Number of waves in a turbulence.
pub const WAVES: usize = 6;

/// A force in one step, in the space in which the particles move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StepForce {
    Attractor {
        at: [f32; 3],
        reach: ForceRange,
    },
    Vortex {
        at: [f32; 3],
        axis: [f32; 3],
        reach: ForceRange,
    },
    Turbulence {
        waves: [TurbulenceWave; WAVES],
    },
    /// Moves velocities toward the wind's velocity by a fraction of the difference.
    Wind {
        velocity: [f32; 3],
        part: f32,
    },
}

/// Strength of a force by distance, as the velocity that it adds in one step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ForceRange {
    pub strength: f32,
    pub falloff: Falloff,
    /// One over the radius beyond which the force has no effect; 0: unlimited.
    pub fade: f32,
}

/// A wave of a turbulence: its propagation vector (turns per unit), its phase (turns), and the
/// velocity that it adds in one step. `push` is perpendicular to `wave_vector`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TurbulenceWave {
    pub wave_vector: [f32; 3],
    pub phase: f32,
    pub push: [f32; 3],
}

/// Smallest squared distance in the computation of forces. Smaller ones are raised to it.
const NEAR_SQUARED: f32 = 1e-6;

/// Returns the sine of an angle in turns with an error of at most 0.0012: a parabola through the
/// zeros and extrema, refined by the square of that parabola. Uses only additions and
/// multiplications, so the result is equal on every CPU.
#[inline(always)]
pub fn sine(turns: f32) -> f32 {
    // Adding and subtracting this number rounds to the nearest integer.
    const ROUND: f32 = 12_582_912.0;
    let part = turns - ((turns + ROUND) - ROUND);
    let arch = part * (8.0 - 16.0 * part.abs());
    arch * (0.775 + 0.225 * arch.abs())
}

/// Returns the factor by which a distance vector and the strength are multiplied to get the force.
#[inline(always)]
fn force_factor(squared: f32, falloff: Falloff, fade: f32) -> f32 {
    let squared = squared.max(NEAR_SQUARED);
    let by_distance = match falloff {
        Falloff::None => 1.0 / squared.sqrt(),
        Falloff::Inverse => 1.0 / squared,
        Falloff::InverseSquare => 1.0 / (squared * squared.sqrt()),
    };
    if fade > 0.0 { by_distance * (1.0 - squared.sqrt() * fade).max(0.0) } else { by_distance }
}

/// Expands a loop once per falloff, so that the falloff is not tested for each particle.
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

/// Adds the effect of every force to the velocities of a block.
#[inline(always)]
pub fn apply_all<const D: usize>(
    pushes: &[StepForce],
    position: &[BlockColumn; 3],
    speed: &mut [BlockColumn; 3],
) {
    for push in pushes {
        match push {
            StepForce::Attractor { at, reach } => {
                with_falloff!(reach, |falloff| apply_attractor::<D>(
                    at, reach, falloff, position, speed
                ));
            }
            StepForce::Vortex { at, axis, reach } => {
                with_falloff!(reach, |falloff| apply_vortex::<D>(
                    at, axis, reach, falloff, position, speed
                ));
            }
            StepForce::Turbulence { waves } => {
                waves.iter().for_each(|wave| apply_turbulence::<D>(wave, position, speed));
            }
            StepForce::Wind { velocity, part } => {
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
fn apply_attractor<const D: usize>(
    at: &[f32; 3],
    reach: &ForceRange,
    falloff: Falloff,
    position: &[BlockColumn; 3],
    speed: &mut [BlockColumn; 3],
) {
    let (strength, fade) = (reach.strength, reach.fade);
    for i in 0..LANES {
        let mut squared = 0.0;
        let mut to = [0.0; D];
        for axis in 0..D {
            to[axis] = at[axis] - position[axis][i];
            squared += to[axis] * to[axis];
        }
        let force = strength * force_factor(squared, falloff, fade);
        for axis in 0..D {
            speed[axis][i] += to[axis] * force;
        }
    }
}

#[inline(always)]
fn apply_vortex<const D: usize>(
    at: &[f32; 3],
    turn: &[f32; 3],
    reach: &ForceRange,
    falloff: Falloff,
    position: &[BlockColumn; 3],
    speed: &mut [BlockColumn; 3],
) {
    let (strength, fade) = (reach.strength, reach.fade);
    for i in 0..LANES {
        let mut from = [0.0; 3];
        for axis in 0..D {
            from[axis] = position[axis][i] - at[axis];
        }
        // Tangent around the axis, as long as the particle's distance from the axis.
        let around = [
            turn[1] * from[2] - turn[2] * from[1],
            turn[2] * from[0] - turn[0] * from[2],
            turn[0] * from[1] - turn[1] * from[0],
        ];
        let squared = around[0] * around[0] + around[1] * around[1] + around[2] * around[2];
        let force = strength * force_factor(squared, falloff, fade);
        for axis in 0..D {
            speed[axis][i] += around[axis] * force;
        }
    }
}

#[inline(always)]
fn apply_turbulence<const D: usize>(
    wave: &TurbulenceWave,
    position: &[BlockColumn; 3],
    speed: &mut [BlockColumn; 3],
) {
    for i in 0..LANES {
        let mut turns = wave.phase;
        for axis in 0..D {
            turns += position[axis][i] * wave.wave_vector[axis];
        }
        let height = sine(turns);
        for axis in 0..D {
            speed[axis][i] += wave.push[axis] * height;
        }
    }
}

/// Returns the waves of a turbulence: the curl of a potential that is a sum of waves in spread
/// directions (curl noise: R. Bridson et al., "Curl-Noise for Procedural Fluid Flow", 2007). Each
/// wave pushes perpendicular to its propagation, so particles neither gather nor thin out.
///
/// `size` is the size of the largest eddies, `push` the approximate velocity added in one step,
/// `time` the phase shift of the waves in turns. `flat` confines the waves to the xy plane.
pub fn waves(size: f32, push: f32, time: f32, flat: bool) -> [TurbulenceWave; WAVES] {
    std::array::from_fn(|i| {
        let number = i as f32;
        // The golden angle spreads directions evenly. Each wave is finer and weaker than the one
        // before.
        let angle = number * 2.399_963;
        let rise = if flat { 0.0 } else { 1.0 - 2.0 * (number + 0.5) / WAVES as f32 };
        let level = (1.0 - rise * rise).sqrt();
        let (sin, cos) = sin_cos(angle);
        let direction = [level * cos, level * sin, rise];
        let finer = 1.0 + number * 0.45;
        let wave_vector = direction.map(|part| part * finer / size);
        let across = match flat {
            true => [-direction[1], direction[0], 0.0],
            false => {
                // Any perpendicular direction will do. A second irrational angle keeps the
                // directions apart.
                let phase = number * 1.237;
                let level = level.max(1e-3);
                let u = [-direction[1] / level, direction[0] / level, 0.0];
                let v = [
                    direction[1] * u[2] - direction[2] * u[1],
                    direction[2] * u[0] - direction[0] * u[2],
                    direction[0] * u[1] - direction[1] * u[0],
                ];
                let (s, c) = sin_cos(phase);
                [0, 1, 2].map(|axis| c * u[axis] + s * v[axis])
            }
        };
        let strength = push / (finer * 0.8);
        let phase = number * 0.381_966 + time * (0.6 + 0.17 * number) + 0.1;
        TurbulenceWave {
            wave_vector,
            phase: phase - phase.floor(),
            push: across.map(|part| part * strength),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_approximation_is_accurate() {
        for i in -4000..4000 {
            let turns = i as f32 * 0.001_7;
            let exact = (turns * std::f32::consts::TAU).sin();
            assert!((sine(turns) - exact).abs() < 1.3e-3, "{turns}: {} {exact}", sine(turns));
        }
    }

    #[test]
    fn turbulence_is_perpendicular_to_its_waves() {
        for flat in [true, false] {
            for wave in waves(3.0, 2.0, 0.7, flat) {
                let dot: f32 = (0..3).map(|axis| wave.wave_vector[axis] * wave.push[axis]).sum();
                assert!(dot.abs() < 1e-5, "{wave:?}");
                assert!(!flat || wave.push[2] == 0.0);
            }
        }
    }

    #[test]
    fn attractors_pull_and_vortices_rotate() {
        let reach = ForceRange { strength: 10.0, falloff: Falloff::Inverse, fade: 0.0 };
        let position = [[2.0; LANES], [0.0; LANES], [0.0; LANES]];
        let mut speed = [[0.0; LANES]; 3];
        let at = [0.0; 3];
        apply_all::<2>(&[StepForce::Attractor { at, reach }], &position, &mut speed);
        assert_eq!([speed[0][5], speed[1][5]], [-5.0, 0.0]);
        let mut speed = [[0.0; LANES]; 3];
        let axis = [0.0, 0.0, 1.0];
        let near = ForceRange { falloff: Falloff::None, fade: 0.25, ..reach };
        apply_all::<3>(&[StepForce::Vortex { at, axis, reach: near }], &position, &mut speed);
        assert_eq!([speed[0][63], speed[1][63], speed[2][63]], [0.0, 5.0, 0.0]);
    }
}
