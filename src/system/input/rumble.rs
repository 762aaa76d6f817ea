//! Rumble: the motors of one device. Each motor has a base value and effects on top of it, advanced
//! by frame times. A command to the device lasts one second at most, so that the motors of a hung
//! game stop soon.

use engine_foundation::Error;
use engine_foundation::deterministic_math::sin_cos_f64;
use engine_foundation::error;
use std::f64::consts::TAU;

/// Maximum number of motors of a device: a strong one and a weak one.
pub const MOTORS_MAX: usize = 2;
/// Maximum number of effects that play on one device at once.
pub const EFFECTS_MAX: usize = 64;

/// Duration of a command to the device, unless it is renewed.
const COMMAND_SECONDS: f32 = 1.0;
/// Interval at which an unchanged command is renewed.
const REPEAT_SECONDS: f64 = 0.5;
/// Minimum interval between commands to a device, at any frame rate. Motors do not respond faster,
/// and each command is a system call. The interval is slightly below a sixtieth of a second, so
/// that a 60 Hz display does not skip every other frame.
const SEND_SECONDS: f64 = 1.0 / 64.0;
/// Minimum change of a motor's strength for which a command is sent; smaller changes are not felt.
/// A motor that starts or stops is always sent.
const STEP: f32 = 1.0 / 64.0;
/// Tolerance for inexact sums of frame times, so that an effect does not last a frame too long.
const ROUNDING_SECONDS: f64 = 1e-9;

/// Strength of an effect over time: attack to a level, decay to another level, sustain and release.
/// A wave can modulate all of it. Times are in seconds, levels 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RumbleEnvelope {
    /// Frequency of the wave in Hz; 0 for no wave.
    pub frequency: f64,
    /// Start phase of the wave in cycles: 0 is its minimum, 0.5 its maximum.
    pub offset: f64,
    pub attack_level: f64,
    pub sustain_level: f64,
    pub attack: f64,
    pub decay: f64,
    /// Duration of the sustain phase; may be infinite.
    pub sustain: f64,
    pub release: f64,
}

impl RumbleEnvelope {
    /// Defaults: all durations are 0, and all levels are 1.
    pub const DEFAULT: RumbleEnvelope = RumbleEnvelope {
        frequency: 0.0,
        offset: 0.0,
        attack_level: 1.0,
        sustain_level: 1.0,
        attack: 0.0,
        decay: 0.0,
        sustain: 0.0,
        release: 0.0,
    };

    /// Returns the total duration.
    pub fn seconds(&self) -> f64 {
        self.attack + self.decay + self.sustain + self.release
    }

    /// Returns the strength at this time since the start.
    fn level(&self, seconds: f64) -> f64 {
        let wave = match self.frequency > 0.0 {
            true => {
                let turns = (self.frequency * seconds + self.offset).fract();
                0.5 - 0.5 * sin_cos_f64(turns * TAU).1
            }
            false => 1.0,
        };
        wave * self.outline(seconds)
    }

    fn outline(&self, seconds: f64) -> f64 {
        let mut left = seconds;
        if left < self.attack {
            return self.attack_level * left / self.attack;
        }
        left -= self.attack;
        if left < self.decay {
            let fraction = left / self.decay;
            return self.attack_level + (self.sustain_level - self.attack_level) * fraction;
        }
        left -= self.decay;
        if left < self.sustain {
            return self.sustain_level;
        }
        left -= self.sustain;
        match left < self.release {
            true => self.sustain_level * (1.0 - left / self.release),
            false => 0.0,
        }
    }
}

/// Playing effect.
#[derive(Clone, Copy, Debug)]
struct RumbleEffect {
    number: u32,
    motor: usize,
    envelope: RumbleEnvelope,
    /// Seconds since the start of the effect.
    seconds: f64,
}

/// State of the motors of a device.
#[derive(Clone, Debug, Default)]
pub struct MotorStates {
    count: usize,
    base: [f32; MOTORS_MAX],
    effects: Vec<RumbleEffect>,
    /// Number of the newest effect.
    last: u32,
    muted: bool,
    /// Last command sent to the device, and its age in seconds.
    sent: [f32; MOTORS_MAX],
    sent_ago: f64,
}

impl MotorStates {
    /// Returns the number of motors; 0 if the device is not connected.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Resets the motors after the device was connected or disconnected.
    pub fn reset(&mut self, count: usize) {
        let (last, muted) = (self.last, self.muted);
        let (count, sent_ago) = (count.min(MOTORS_MAX), f64::INFINITY);
        *self = MotorStates { count, last, muted, sent_ago, ..MotorStates::default() };
    }

    /// Sets the strength of a motor without effects, 0 to 1.
    pub fn set_base(&mut self, motor: usize, value: f32) {
        if motor < self.count {
            self.base[motor] = value;
        }
    }

    /// Enables or mutes the motors. Effects continue while muted.
    pub fn set_enabled(&mut self, enabled: bool) {
        self.muted = !enabled;
    }

    /// Starts an effect and returns its number. If the motor does not exist, nothing plays.
    ///
    /// # Errors
    /// Returns an error if [`EFFECTS_MAX`] effects are playing.
    pub fn start(&mut self, motor: usize, envelope: RumbleEnvelope) -> Result<u32, Error> {
        if self.effects.len() >= EFFECTS_MAX {
            return Err(error!(
                "{EFFECTS_MAX} rumble effects play on this device already (EFFECTS_MAX): stop some"
            ));
        }
        self.last += 1;
        let number = self.last;
        if motor < self.count {
            self.effects.push(RumbleEffect { number, motor, envelope, seconds: 0.0 });
        }
        Ok(number)
    }

    /// Returns the number of the newest effect; 0 before the first one.
    pub fn newest(&self) -> u32 {
        self.last
    }

    pub fn is_playing(&self, motor: usize, number: u32) -> bool {
        self.effects.iter().any(|effect| effect.motor == motor && effect.number == number)
    }

    /// Stops an effect if it is playing.
    pub fn stop(&mut self, motor: usize, number: u32) {
        self.effects.retain(|effect| effect.motor != motor || effect.number != number);
    }

    /// Stops the effects of one motor or of all motors.
    pub fn stop_all(&mut self, motor: Option<usize>) {
        self.effects.retain(|effect| motor.is_some_and(|motor| motor != effect.motor));
    }

    /// Returns the current strength of a motor, 0 to 1: its base and its effects together.
    pub fn strength(&self, motor: usize) -> f32 {
        if self.muted {
            return 0.0;
        }
        let own = self.effects.iter().filter(|effect| effect.motor == motor);
        let effects: f64 = own.map(|effect| effect.envelope.level(effect.seconds)).sum();
        (self.base[motor] + effects as f32).clamp(0.0, 1.0)
    }

    /// Advances effects by the game's `seconds`, and the age of the last command by the player's
    /// seconds `passed`.
    pub fn advance(&mut self, seconds: f64, passed: f64) {
        self.sent_ago += passed;
        self.effects.retain_mut(|effect| {
            effect.seconds += seconds;
            effect.envelope.seconds() - effect.seconds > ROUNDING_SECONDS
        });
    }

    /// Returns the command to send now and its duration in seconds, if one is due.
    pub fn next_command(&mut self) -> Option<([f32; MOTORS_MAX], f32)> {
        let now = [0, 1].map(|motor| self.strength(motor));
        let has_changed = |at: usize| {
            (now[at] - self.sent[at]).abs() >= STEP || (now[at] == 0.0) != (self.sent[at] == 0.0)
        };
        let changed = (has_changed(0) || has_changed(1)) && self.sent_ago >= SEND_SECONDS;
        let repeats = now != [0.0; MOTORS_MAX] && self.sent_ago >= REPEAT_SECONDS;
        if !changed && !repeats {
            return None;
        }
        (self.sent, self.sent_ago) = (now, 0.0);
        Some((now, COMMAND_SECONDS))
    }

    /// Returns the values that a state hash covers; none while all motors are still.
    pub fn state(&self) -> impl Iterator<Item = f64> + '_ {
        let base = self.base.into_iter().filter(|base| *base != 0.0).map(f64::from);
        let effects = self.effects.iter();
        base.chain(effects.flat_map(|effect| [f64::from(effect.number), effect.seconds]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motors() -> MotorStates {
        let mut motors = MotorStates::default();
        motors.reset(2);
        motors
    }

    #[test]
    fn an_effect_has_attack_decay_sustain_and_release() {
        let envelope = RumbleEnvelope {
            attack_level: 0.8,
            sustain_level: 0.4,
            attack: 1.0,
            decay: 1.0,
            sustain: 2.0,
            release: 1.0,
            ..RumbleEnvelope::DEFAULT
        };
        let mut motors = motors();
        let number = motors.start(0, envelope).unwrap();
        let mut felt = Vec::new();
        while motors.is_playing(0, number) {
            felt.push((motors.strength(0) * 100.0).round() / 100.0);
            motors.advance(0.5, 0.5);
        }
        assert_eq!(felt, [0.0, 0.4, 0.8, 0.6, 0.4, 0.4, 0.4, 0.4, 0.4, 0.2]);
        assert_eq!((motors.strength(0), motors.strength(1)), (0.0, 0.0));
    }

    #[test]
    fn a_waveform_starts_at_its_minimum_without_an_offset() {
        let felt = |offset: f64| {
            let wave =
                RumbleEnvelope { frequency: 2.0, offset, sustain: 1.0, ..RumbleEnvelope::DEFAULT };
            [0.0, 0.125, 0.25].map(|at| (wave.level(at) * 100.0).round() / 100.0)
        };
        assert_eq!((felt(0.0), felt(0.5)), ([0.0, 0.5, 1.0], [1.0, 0.5, 0.0]));
    }

    #[test]
    fn effects_add_to_the_base_strength_until_ended_or_stopped() {
        let mut motors = motors();
        let half = RumbleEnvelope { sustain_level: 0.5, sustain: 0.1, ..RumbleEnvelope::DEFAULT };
        motors.set_base(0, 0.25);
        let first = motors.start(0, half).unwrap();
        let other = motors.start(1, RumbleEnvelope { sustain: f64::INFINITY, ..half }).unwrap();
        assert_eq!((motors.strength(0), motors.strength(1)), (0.75, 0.5));
        motors.start(0, half).unwrap();
        assert_eq!(motors.strength(0), 1.0, "no more than a motor can");
        // Six sixtieths of a second count as a tenth despite rounding.
        (0..6).for_each(|_| motors.advance(1.0 / 60.0, 1.0 / 60.0));
        assert!(!motors.is_playing(0, first) && motors.is_playing(1, other));
        assert_eq!(motors.strength(0), 0.25);
        motors.stop(0, other);
        assert!(motors.is_playing(1, other), "it is another motor's");
        motors.stop(1, other);
        assert!(!motors.is_playing(1, other) && motors.strength(1) == 0.0);
    }

    #[test]
    fn unplugging_stops_effects_and_ids_are_not_reused() {
        let mut motors = motors();
        let long = RumbleEnvelope { sustain: f64::INFINITY, ..RumbleEnvelope::DEFAULT };
        let number = motors.start(0, long).unwrap();
        motors.reset(0);
        let unfelt = motors.start(0, long).unwrap();
        assert!(unfelt > number && !motors.is_playing(0, unfelt));
        motors.reset(2);
        assert!(!motors.is_playing(0, number) && motors.strength(0) == 0.0);
    }

    #[test]
    fn rumble_is_sent_on_change_and_repeated_before_it_times_out() {
        let mut motors = motors();
        assert!(motors.next_command().is_none());
        motors.set_base(1, 0.5);
        assert_eq!(motors.next_command(), Some(([0.0, 0.5], COMMAND_SECONDS)));
        assert!(motors.next_command().is_none(), "no time has passed");
        motors.advance(0.25, 0.25);
        assert!(motors.next_command().is_none());
        motors.advance(0.25, 0.25);
        assert_eq!(motors.next_command(), Some(([0.0, 0.5], COMMAND_SECONDS)));
        motors.set_enabled(false);
        motors.advance(0.02, 0.02);
        assert_eq!(motors.next_command(), Some(([0.0; 2], COMMAND_SECONDS)));
        motors.advance(9.0, 9.0);
        assert!(motors.next_command().is_none(), "what is still stays so");
    }

    /// Returns the number of commands sent in one second of a wave at this frame rate.
    fn commands_in_a_second(frequency: f64, frames: u32) -> usize {
        let mut motors = motors();
        let wave = RumbleEnvelope { frequency, sustain: 9.0, ..RumbleEnvelope::DEFAULT };
        motors.start(0, wave).unwrap();
        let step = 1.0 / f64::from(frames);
        let sent = |_| {
            motors.advance(step, step);
            motors.next_command()
        };
        (0..frames).filter_map(sent).count()
    }

    #[test]
    fn a_waveform_is_sent_at_most_64_times_a_second() {
        assert!(commands_in_a_second(3.0, 1000) <= 64);
        assert!(commands_in_a_second(500.0, 10_000) <= 64);
        assert!((50..=60).contains(&commands_in_a_second(3.0, 60)), "each frame that is felt");
        // A wave of ten seconds passes its 64 steps twice.
        assert!(commands_in_a_second(0.1, 60) <= 20);
    }

    #[test]
    fn the_end_of_a_very_short_effect_is_still_sent() {
        let mut motors = motors();
        motors.start(0, RumbleEnvelope { sustain: 0.004, ..RumbleEnvelope::DEFAULT }).unwrap();
        assert_eq!(motors.next_command().map(|(now, _)| now[0]), Some(1.0));
        let mut sent = Vec::new();
        for _ in 0..20 {
            motors.advance(0.002, 0.002);
            sent.extend(motors.next_command().map(|(now, _)| now[0]));
        }
        assert_eq!(sent, [0.0]);
    }

    #[test]
    fn effects_beyond_the_limit_are_refused() {
        let mut motors = motors();
        let long = RumbleEnvelope { sustain: 1.0, ..RumbleEnvelope::DEFAULT };
        (0..EFFECTS_MAX).for_each(|_| assert!(motors.start(0, long).is_ok()));
        assert!(motors.start(0, long).unwrap_err().message.contains("EFFECTS_MAX"));
        motors.stop_all(Some(1));
        assert!(motors.start(0, long).is_err());
        motors.stop_all(None);
        assert!(motors.start(0, long).is_ok());
    }
}
