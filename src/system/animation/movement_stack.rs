//! Movements of the root that cover each other by parts that change within an update, as
//! cross-fades do: their mean weights, and their sum.

use super::rigid_transform::RigidTransform;
use super::state_machine::Curve;
use engine_foundation::{Quat, Vec3, Vec4};

/// Maximum number of movements in a stack.
pub const STACK_MAX: usize = 16;
/// Times at which a stack can change within an update: the start and the end of an update, and for
/// each movement its start, its stop, and the ends of both fades and the start of the second one.
const CUTS_MAX: usize = 2 + 5 * STACK_MAX;
/// Points of the quadrature of Gauss and Legendre in an interval of length 1, exact for cubics.
const POINTS: [f32; 2] = [0.211_324_87, 0.788_675_1];

/// Movement that covers those below it by a part. Times are those at the end of an update.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StackedFade {
    /// Seconds since the start of the fade-in, and its length.
    pub rise: (f32, f32),
    pub curve: Curve,
    /// Seconds since the start of the fade-out, and its length.
    pub fall: Option<(f32, f32)>,
    /// Seconds since the movement stopped within the update, because its clip ended; otherwise 0.
    pub stopped: f32,
}

/// Weights of the movements of a stack in an update.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StackWeights {
    /// Mean weight of each movement while it moves. Those of a whole update sum to 1, unless they
    /// were changed.
    pub moving: [f32; STACK_MAX],
    /// Mean weight of each movement in the update.
    pub all: [f32; STACK_MAX],
}

impl StackedFade {
    /// A movement without fades.
    pub const WHOLE: StackedFade =
        StackedFade { rise: (f32::MAX, 0.0), curve: Curve::Linear, fall: None, stopped: 0.0 };

    /// Returns the part at a number of seconds before the end of the update.
    fn part(&self, before: f32) -> f32 {
        let (elapsed, seconds) = (self.rise.0 - before, self.rise.1);
        if elapsed < 0.0 {
            return 0.0;
        }
        let rise = if elapsed < seconds { self.curve.weight(elapsed / seconds) } else { 1.0 };
        let fall = self.fall.map_or(1.0, |(passed, seconds)| {
            let passed = passed - before;
            match passed > 0.0 {
                true if passed < seconds => 1.0 - passed / seconds,
                true => 0.0,
                false => 1.0,
            }
        });
        rise * fall
    }

    /// Returns true if the part is the same in the whole of an update.
    fn is_constant(&self, seconds: f32) -> bool {
        let rises = self.rise.0 - seconds < self.rise.1;
        let falls =
            self.fall.is_some_and(|(passed, length)| passed > 0.0 && passed - seconds < length);
        !rises && !falls
    }

    /// Returns the times before the end of the update between which the part has no corner.
    fn cuts(&self) -> [f32; 5] {
        let (elapsed, length) = self.rise;
        let (passed, fall) = self.fall.unwrap_or((0.0, 0.0));
        [elapsed, elapsed - length, passed, passed - fall, self.stopped]
    }
}

/// Returns the weights of a stack of at most [`STACK_MAX`] movements, the lowest first, in an
/// update of some seconds. The lowest one covers everything.
pub fn stack_weights(fades: &[StackedFade], seconds: f32) -> StackWeights {
    changed_stack_weights(fades, seconds, |_| {})
}

/// Returns the weights of a stack as [`stack_weights`] does. `change` changes those of each moment
/// before their means are formed.
pub fn changed_stack_weights(
    fades: &[StackedFade],
    seconds: f32,
    change: impl Fn(&mut [f32; STACK_MAX]),
) -> StackWeights {
    let weights_at = |fades: &[StackedFade], before: f32| {
        let mut weights = weights_at(fades, before);
        change(&mut weights);
        weights
    };
    let fades = &fades[..fades.len().min(STACK_MAX)];
    let is_constant = |fade: &StackedFade| fade.is_constant(seconds);
    if seconds.is_nan() || seconds <= 0.0 || fades.iter().skip(1).all(is_constant) {
        let weights = weights_at(fades, 0.0);
        return StackWeights { moving: weights, all: weights };
    }
    let mut cuts = [0.0; CUTS_MAX];
    cuts[1] = seconds;
    let all = fades.iter().flat_map(StackedFade::cuts);
    for (cut, time) in cuts[2..].iter_mut().zip(all.filter(|time| *time < seconds)) {
        *cut = if time > 0.0 { time } else { 0.0 };
    }
    let cuts = &mut cuts[..2 + 5 * fades.len()];
    cuts.sort_unstable_by(f32::total_cmp);
    let mut weights = StackWeights { moving: [0.0; STACK_MAX], all: [0.0; STACK_MAX] };
    let mut durations = [0.0; STACK_MAX];
    for pair in cuts.windows(2).filter(|pair| pair[0] < pair[1]) {
        let length = pair[1] - pair[0];
        let points = POINTS.map(|point| weights_at(fades, pair[0] + length * point));
        for (index, fade) in fades.iter().enumerate() {
            let mean = (points[0][index] + points[1][index]) * 0.5;
            weights.all[index] += mean * (length / seconds);
            if fade.stopped <= pair[0] && (index == 0 || fade.rise.0 >= pair[1]) {
                weights.moving[index] += mean * length;
                durations[index] += length;
            }
        }
    }
    for (weight, duration) in weights.moving.iter_mut().zip(durations) {
        *weight = if duration > 0.0 { *weight / duration } else { 0.0 };
    }
    weights
}

/// Returns the weights at a number of seconds before the end of an update. Their sum is 1.
fn weights_at(fades: &[StackedFade], before: f32) -> [f32; STACK_MAX] {
    let mut weights = [0.0; STACK_MAX];
    let mut left = 1.0;
    for (index, fade) in fades.iter().enumerate().rev() {
        let part = if index == 0 { 1.0 } else { fade.part(before) };
        weights[index] = left * part;
        left *= 1.0 - part;
    }
    weights
}

/// Returns the movement of a stack in an update of some seconds, with the movement of each of its
/// parts in it.
pub fn stack_movement(
    fades: &[StackedFade],
    movements: &[RigidTransform],
    seconds: f32,
) -> RigidTransform {
    let weights = stack_weights(fades, seconds).moving;
    let mut sum = MovementSum::EMPTY;
    movements.iter().zip(weights).for_each(|(movement, weight)| sum.add(movement, weight));
    sum.sum()
}

/// Sum of movements in the same time, each with a weight: that of somebody who moves and turns with
/// the mean of their speeds. The rest up to a weight of 1 stands still.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MovementSum {
    /// Sum of the positions, each turned back by half of its rotation: as seen in the middle of the
    /// time.
    position: Vec3,
    /// Sum of the differences of the quaternions from no rotation.
    turn: Vec4,
    /// The movement, if there is only one, of weight 1.
    only: Option<RigidTransform>,
    is_empty: bool,
}

impl MovementSum {
    pub const EMPTY: MovementSum =
        MovementSum { position: Vec3::ZERO, turn: Vec4::ZERO, only: None, is_empty: true };

    /// Adds a movement. A weight that is not above 0 adds nothing.
    pub fn add(&mut self, movement: &RigidTransform, weight: f32) {
        if weight.is_nan() || weight <= 0.0 || *movement == RigidTransform::IDENTITY {
            return;
        }
        self.only = (self.is_empty && weight == 1.0).then_some(*movement);
        self.is_empty = false;
        let turn = Vec4::from(movement.rotation);
        let turn = if turn.w < 0.0 { -turn } else { turn };
        self.position += half(turn).conjugate() * movement.position * weight;
        self.turn += (turn - Vec4::W) * weight;
    }

    pub fn sum(&self) -> RigidTransform {
        if let Some(only) = self.only {
            return only;
        }
        let turn = (Vec4::W + self.turn).normalize_or(Vec4::W);
        RigidTransform { position: half(turn) * self.position, rotation: Quat::from_vec4(turn) }
    }
}

/// Returns half of a rotation of at most half a turn.
fn half(turn: Vec4) -> Quat {
    Quat::from_vec4((turn + Vec4::W).normalize_or(Vec4::W))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean weights of many steps.
    fn plain(fades: &[StackedFade], seconds: f32) -> [f64; STACK_MAX] {
        let mut sums = [0.0; STACK_MAX];
        let count = 100_000;
        for step in 0..count {
            let before = seconds * ((step as f32 + 0.5) / count as f32);
            for (sum, weight) in sums.iter_mut().zip(weights_at(fades, before)) {
                *sum += f64::from(weight) / f64::from(count);
            }
        }
        sums
    }

    #[test]
    fn weights_are_means_over_the_step() {
        for (_, curve) in Curve::ALL {
            for elapsed in [0.02, 0.05, 0.1, 0.13, 0.29, 0.38] {
                let fade = StackedFade { rise: (elapsed, 0.3), curve, ..StackedFade::WHOLE };
                let late = StackedFade { rise: (elapsed * 0.5, 0.08), ..fade };
                let falls = StackedFade { fall: Some((elapsed * 0.7, 0.15)), ..fade };
                for upper in [late, falls, StackedFade { rise: (0.04, 0.0), ..fade }] {
                    let fades = [StackedFade::WHOLE, fade, upper];
                    let found = stack_weights(&fades, 0.1).all;
                    let wanted = plain(&fades, 0.1);
                    for (found, wanted) in found.iter().zip(wanted) {
                        let apart = (f64::from(*found) - wanted).abs();
                        assert!(apart < 2e-3, "{curve:?} {elapsed} {upper:?}: {found}, {wanted}");
                    }
                    assert!((found.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn movements_that_begin_or_stop_in_a_step_count_while_they_move() {
        let ended = StackedFade { stopped: 0.04, ..StackedFade::WHOLE };
        let next = StackedFade { rise: (0.04, 0.0), ..StackedFade::WHOLE };
        let weights = stack_weights(&[ended, next], 0.1);
        assert!((weights.moving[0] - 1.0).abs() < 1e-6, "{weights:?}");
        assert!((weights.moving[1] - 1.0).abs() < 1e-6, "{weights:?}");
        assert!((weights.all[1] - 0.4).abs() < 1e-6, "{weights:?}");
        for seconds in [0.0, -1.0, f32::NAN] {
            assert_eq!(stack_weights(&[ended, next], seconds).all[1], 1.0);
        }
        assert_eq!(stack_weights(&[], 0.1).all, [0.0; STACK_MAX]);
    }

    #[test]
    fn the_mean_of_equal_turns_is_the_turn() {
        let turning = RigidTransform {
            position: Vec3::new(0.02, 0.3, 0.0),
            rotation: Quat::from_rotation_z(0.4),
        };
        let mut sum = MovementSum::EMPTY;
        sum.add(&turning, 1.0);
        assert_eq!(sum.sum(), turning);
        let mut sum = MovementSum::EMPTY;
        [0.2, 0.5, 0.3].iter().for_each(|weight| sum.add(&turning, *weight));
        assert!(sum.sum().position.distance(turning.position) < 1e-6);
        assert!(sum.sum().rotation.angle_between(turning.rotation) < 1e-3);
    }
}
