//! The direction in which the middle joint of a limb bends, over time: it follows the animation,
//! and turns over within a few frames where that bends the limb to its other side.

use super::follower::{FollowLimits, Follower};
use engine_foundation::deterministic_math::{atan2, sin_cos};
use engine_foundation::{Error, Vec3, error};
use std::f32::consts::PI;

/// Limits of the turn in radians per second. Half a turn takes 0.4 seconds.
const LIMITS: FollowLimits = FollowLimits { speed: 12.0, acceleration: 120.0 };
/// Angle in radians from which on both ways around are equally long, so that a turn continues.
const OPPOSITE: f32 = 3.0;

/// Direction in which the middle joint of a limb bends, as an angle around the limb.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LimbBend {
    /// False before the first pose.
    is_known: bool,
    angle: Follower,
}

impl LimbBend {
    /// A limb that takes the direction of its next pose.
    pub const UNKNOWN: LimbBend = LimbBend { is_known: false, angle: Follower::ZERO };

    /// Number of values of [`LimbBend::numbers`].
    pub(super) const NUMBERS: usize = 3;

    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Follows a direction of length 1, and returns the one to bend to. `along` is the direction of
    /// the limb, and `start`, across it, that of the angle 0. Without a wanted direction, it keeps
    /// its angle.
    pub(super) fn follow(
        &mut self,
        wanted: Option<Vec3>,
        (along, start): (Vec3, Vec3),
        seconds: f32,
    ) -> Vec3 {
        let aside = along.cross(start);
        if let Some(wanted) = wanted {
            let angle = atan2(wanted.dot(aside), wanted.dot(start));
            if !self.is_known {
                *self = LimbBend { is_known: true, angle: Follower { value: angle, speed: 0.0 } };
            }
            let mut way = wrap(angle - self.angle.value);
            let speed = self.angle.speed;
            if way.abs() > OPPOSITE && speed != 0.0 && (way > 0.0) != (speed > 0.0) {
                way -= (2.0 * PI).copysign(way);
            }
            self.angle.advance(self.angle.value + way, LIMITS, seconds);
        } else {
            self.angle.advance(self.angle.value, LIMITS, seconds);
        }
        self.angle.value = wrap(self.angle.value);
        let (sin, cos) = sin_cos(self.angle.value);
        start * cos + aside * sin
    }

    /// Returns the state as numbers.
    pub(super) fn numbers(&self) -> [f32; LimbBend::NUMBERS] {
        [f32::from(u8::from(self.is_known)), self.angle.value, self.angle.speed]
    }

    /// # Errors
    /// Fails if the numbers are not those of a limb.
    pub(super) fn from_numbers(
        [known, value, speed]: [f32; LimbBend::NUMBERS],
    ) -> Result<LimbBend, Error> {
        match (known == 0.0 || known == 1.0) && value.abs() <= 2.0 * PI {
            true => Ok(LimbBend { is_known: known == 1.0, angle: Follower { value, speed } }),
            false => Err(error!("the list of an animation state is not the state of a limb")),
        }
    }
}

/// Returns an angle between -π and π.
fn wrap(angle: f32) -> f32 {
    angle - 2.0 * PI * (angle / (2.0 * PI)).round()
}
