//! Numbers that follow a target with a limited speed and a limited acceleration, and stop at it in
//! the shortest time. The motion is exact, so that it does not depend on the frame rate while the
//! target stays.

/// Difference from the target at which a number has arrived.
const ARRIVED: f32 = 1e-5;
/// Maximum number of phases of a motion: turn back, accelerate, keep the speed, brake and stop.
const PHASES_MAX: usize = 8;

/// Limits of a motion, per second and per second squared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FollowLimits {
    pub speed: f32,
    /// With 0, nothing moves.
    pub acceleration: f32,
}

/// Number that follows a target.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Follower {
    pub value: f32,
    /// Per second.
    pub speed: f32,
}

impl Follower {
    /// A number at rest at 0.
    pub const ZERO: Follower = Follower { value: 0.0, speed: 0.0 };

    /// Moves towards a target for a number of seconds. Numbers that are not finite begin at 0.
    pub fn advance(&mut self, target: f32, limits: FollowLimits, seconds: f32) {
        if !(self.value.is_finite() && self.speed.is_finite()) {
            *self = Follower::ZERO;
        }
        let FollowLimits { speed: speed_max, acceleration } = limits;
        if !(speed_max > 0.0 && acceleration > 0.0 && target.is_finite()) {
            self.speed = 0.0;
            return;
        }
        let mut left = if seconds > 0.0 { seconds } else { 0.0 };
        for _ in 0..PHASES_MAX {
            if left <= 0.0 {
                break;
            }
            let way = target - self.value;
            // Where it stops if it brakes now.
            let stop = self.speed * self.speed.abs() / (2.0 * acceleration);
            let rest = way - stop;
            if rest.abs() <= ARRIVED {
                let time = self.speed.abs() / acceleration;
                if time <= left {
                    *self = Follower { value: target, speed: 0.0 };
                    break;
                }
                self.accelerate(-acceleration.copysign(self.speed), left);
                break;
            }
            let toward = 1.0_f32.copysign(rest);
            let speed = toward * self.speed;
            let (change, time) = if speed > speed_max * 1.0001 {
                (-acceleration, (speed - speed_max) / acceleration)
            } else if speed >= speed_max * 0.9999 {
                (0.0, rest.abs() / speed)
            } else {
                let peak = (acceleration * toward * way + 0.5 * speed * speed).max(0.0).sqrt();
                (acceleration, (peak.min(speed_max) - speed) / acceleration)
            };
            let time = if time > 0.0 { time.min(left) } else { 0.0 };
            self.accelerate(toward * change, time);
            left -= time;
        }
    }

    fn accelerate(&mut self, acceleration: f32, seconds: f32) {
        self.value += (self.speed + 0.5 * acceleration * seconds) * seconds;
        self.speed += acceleration * seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::random::Random;

    const LIMITS: FollowLimits = FollowLimits { speed: 2.0, acceleration: 20.0 };

    #[test]
    fn motion_keeps_its_limits_and_arrives_in_time() {
        let mut random = Random::seed(1);
        let mut number = |most: i64| random.range_i64(-most, most) as f32 / 1000.0;
        let (mut follower, mut target, mut still) = (Follower::ZERO, 0.0, 0);
        for frame in 0..20_000 {
            let seconds = 1.0 / 60.0;
            if frame % 90 == 0 || (frame / 900 % 2 == 0 && frame % 7 == 0) {
                (target, still) = (number(600), 0);
            }
            let before = follower;
            follower.advance(target, LIMITS, seconds);
            still += 1;
            assert!(follower.speed.abs() <= 2.001, "{follower:?}");
            let change = (follower.speed - before.speed).abs() / seconds;
            assert!(change <= 20.01, "{change} at frame {frame}");
            let mean = (follower.value - before.value) / seconds;
            assert!((mean - before.speed).abs() <= 20.01 * seconds, "{mean} at frame {frame}");
            // 1.2 m at 2 m/s, and 0.1 s each to turn back, to accelerate and to brake.
            if still as f32 * seconds > 0.95 {
                assert_eq!(follower, Follower { value: target, speed: 0.0 }, "frame {frame}");
            }
        }
    }

    #[test]
    fn motion_does_not_depend_on_the_frame_rate() {
        let mut random = Random::seed(2);
        for _ in 0..1000 {
            let mut number = |most: i64| random.range_i64(-most, most) as f32 / 1000.0;
            let start = Follower { value: number(500), speed: number(3000) };
            let (target, seconds) = (number(500), number(400).abs());
            let mut whole = start;
            whole.advance(target, LIMITS, seconds);
            for count in [2, 3, 10, 50] {
                let mut parts = start;
                (0..count).for_each(|_| parts.advance(target, LIMITS, seconds / count as f32));
                let error = (parts.value - whole.value).abs();
                assert!(error < 2e-4, "{error} in {count} parts of {seconds} s from {start:?}");
            }
        }
    }

    #[test]
    fn invalid_numbers_move_nothing() {
        let moved = |start: Follower, target: f32, limits: FollowLimits, seconds: f32| {
            let mut follower = start;
            follower.advance(target, limits, seconds);
            follower
        };
        for seconds in [0.0, -1.0, f32::NAN] {
            assert_eq!(moved(Follower::ZERO, 1.0, LIMITS, seconds), Follower::ZERO);
        }
        assert_eq!(moved(Follower::ZERO, f32::NAN, LIMITS, 1.0), Follower::ZERO);
        let still = FollowLimits { speed: 0.0, acceleration: 0.0 };
        assert_eq!(moved(Follower::ZERO, 1.0, still, 1.0), Follower::ZERO);
        let broken = Follower { value: f32::NAN, speed: 1.0 };
        assert_eq!(moved(broken, 1.0, LIMITS, 1e9), Follower { value: 1.0, speed: 0.0 });
    }
}
