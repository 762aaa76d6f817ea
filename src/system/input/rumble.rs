//! Rumble: what the motors of one device do. Each has a base value and, over it, effects that play
//! by the time of frames. What comes of them is told to the device for a second at most, so that a
//! game which stands still is soon still.

use crate::error;
use crate::foundation::Error;
use crate::foundation::angles::sin_cos_f64;
use std::f64::consts::TAU;

/// The most motors that a device has: a strong one and a weak one.
pub const MOTORS_MAX: usize = 2;
/// The most effects that play on one device at once.
pub const EFFECTS_MAX: usize = 64;

/// How long a device does what it was told, unless it is told again.
const TOLD_SECONDS: f32 = 1.0;
/// When it is told again what it does already.
const AGAIN_SECONDS: f64 = 0.5;
/// How long a device is left alone after it was told something, however many frames are played:
/// motors do not follow faster, and each time is a call of the system. A little less than a
/// sixtieth of a second, not to miss every other frame of such a display.
const TELL_SECONDS: f64 = 1.0 / 64.0;
/// Less than this is no news to a motor, and nobody feels it.
const STEP: f32 = 1.0 / 64.0;
/// Sums of frames are not exact: so little of an effect is not another frame.
const ROUNDING_SECONDS: f64 = 1e-9;

/// How strong an effect is over its time: it rises to a level, goes over to another one, stays
/// there, and goes out. A wave can run through all of it. Times are seconds, levels 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Envelope {
    /// Of the wave, in turns a second; 0: there is none.
    pub frequency: f64,
    /// Where the wave begins, in turns: 0 is where it is lowest, 0.5 where it is highest.
    pub offset: f64,
    pub attack_level: f64,
    pub sustain_level: f64,
    pub attack: f64,
    pub decay: f64,
    /// Can be without end.
    pub sustain: f64,
    pub release: f64,
}

impl Envelope {
    /// What is not said: nothing lasts, levels are all that there is.
    pub const DEFAULT: Envelope = Envelope {
        frequency: 0.0,
        offset: 0.0,
        attack_level: 1.0,
        sustain_level: 1.0,
        attack: 0.0,
        decay: 0.0,
        sustain: 0.0,
        release: 0.0,
    };

    /// How long it lasts.
    pub fn seconds(&self) -> f64 {
        self.attack + self.decay + self.sustain + self.release
    }

    /// How strong it is so many seconds after its beginning.
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
            let way = left / self.decay;
            return self.attack_level + (self.sustain_level - self.attack_level) * way;
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

/// An effect that plays.
#[derive(Clone, Copy, Debug)]
struct Effect {
    number: u32,
    motor: usize,
    envelope: Envelope,
    /// Since its beginning.
    seconds: f64,
}

/// The motors of a device.
#[derive(Clone, Debug, Default)]
pub struct Motors {
    count: usize,
    base: [f32; MOTORS_MAX],
    effects: Vec<Effect>,
    /// The number of the newest effect.
    last: u32,
    muted: bool,
    /// What the device was told last, and how long ago.
    told: [f32; MOTORS_MAX],
    told_ago: f64,
}

impl Motors {
    /// How many there are; none where the device is not there.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The device came, or went: its motors are still.
    pub fn begin(&mut self, count: usize) {
        let (last, muted) = (self.last, self.muted);
        let (count, told_ago) = (count.min(MOTORS_MAX), f64::INFINITY);
        *self = Motors { count, last, muted, told_ago, ..Motors::default() };
    }

    /// How strong a motor is without effects, 0 to 1, until it is set again.
    pub fn set_base(&mut self, motor: usize, value: f32) {
        if motor < self.count {
            self.base[motor] = value;
        }
    }

    /// Whether they may run at all. What plays goes on, unfelt.
    pub fn set_enabled(&mut self, enabled: bool) {
        self.muted = !enabled;
    }

    /// Starts an effect: its number. Where there is no such motor it does not play.
    ///
    /// # Errors
    /// [`EFFECTS_MAX`] play already.
    pub fn start(&mut self, motor: usize, envelope: Envelope) -> Result<u32, Error> {
        if self.effects.len() >= EFFECTS_MAX {
            return Err(error!(
                "{EFFECTS_MAX} rumble effects play on this device already (EFFECTS_MAX): stop some"
            ));
        }
        self.last += 1;
        let number = self.last;
        if motor < self.count {
            self.effects.push(Effect { number, motor, envelope, seconds: 0.0 });
        }
        Ok(number)
    }

    /// The number of the newest effect; 0 before any.
    pub fn newest(&self) -> u32 {
        self.last
    }

    pub fn is_playing(&self, motor: usize, number: u32) -> bool {
        self.effects.iter().any(|effect| effect.motor == motor && effect.number == number)
    }

    /// Ends an effect, where it plays.
    pub fn stop(&mut self, motor: usize, number: u32) {
        self.effects.retain(|effect| effect.motor != motor || effect.number != number);
    }

    /// Ends the effects of a motor, or of all.
    pub fn stop_all(&mut self, motor: Option<usize>) {
        self.effects.retain(|effect| motor.is_some_and(|motor| motor != effect.motor));
    }

    /// What a motor is to do now, 0 to 1: its base and its effects together.
    pub fn strength(&self, motor: usize) -> f32 {
        if self.muted {
            return 0.0;
        }
        let own = self.effects.iter().filter(|effect| effect.motor == motor);
        let effects: f64 = own.map(|effect| effect.envelope.level(effect.seconds)).sum();
        (self.base[motor] + effects as f32).clamp(0.0, 1.0)
    }

    /// Time passes: the game's, and the player's, in which the device forgets.
    pub fn advance(&mut self, seconds: f64, passed: f64) {
        self.told_ago += passed;
        self.effects.retain_mut(|effect| {
            effect.seconds += seconds;
            effect.envelope.seconds() - effect.seconds > ROUNDING_SECONDS
        });
    }

    /// What the device is to be told now, and for how many seconds, if anything.
    pub fn tell(&mut self) -> Option<([f32; MOTORS_MAX], f32)> {
        let now = [0, 1].map(|motor| self.strength(motor));
        let is_news = |at: usize| {
            (now[at] - self.told[at]).abs() >= STEP || (now[at] == 0.0) != (self.told[at] == 0.0)
        };
        let news = (is_news(0) || is_news(1)) && self.told_ago >= TELL_SECONDS;
        let again = now != [0.0; MOTORS_MAX] && self.told_ago >= AGAIN_SECONDS;
        if !news && !again {
            return None;
        }
        (self.told, self.told_ago) = (now, 0.0);
        Some((now, TOLD_SECONDS))
    }

    /// What a state hash covers: nothing while all is still.
    pub fn state(&self) -> impl Iterator<Item = f64> + '_ {
        let base = self.base.into_iter().filter(|base| *base != 0.0).map(f64::from);
        let effects = self.effects.iter();
        base.chain(effects.flat_map(|effect| [f64::from(effect.number), effect.seconds]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motors() -> Motors {
        let mut motors = Motors::default();
        motors.begin(2);
        motors
    }

    #[test]
    fn an_effect_rises_goes_over_stays_and_goes_out() {
        let envelope = Envelope {
            attack_level: 0.8,
            sustain_level: 0.4,
            attack: 1.0,
            decay: 1.0,
            sustain: 2.0,
            release: 1.0,
            ..Envelope::DEFAULT
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
    fn a_wave_begins_where_it_is_lowest_unless_it_is_moved() {
        let felt = |offset: f64| {
            let wave = Envelope { frequency: 2.0, offset, sustain: 1.0, ..Envelope::DEFAULT };
            [0.0, 0.125, 0.25].map(|at| (wave.level(at) * 100.0).round() / 100.0)
        };
        assert_eq!((felt(0.0), felt(0.5)), ([0.0, 0.5, 1.0], [1.0, 0.5, 0.0]));
    }

    #[test]
    fn effects_add_up_over_the_base_and_end_by_themselves_or_when_asked() {
        let mut motors = motors();
        let half = Envelope { sustain_level: 0.5, sustain: 0.1, ..Envelope::DEFAULT };
        motors.set_base(0, 0.25);
        let first = motors.start(0, half).unwrap();
        let other = motors.start(1, Envelope { sustain: f64::INFINITY, ..half }).unwrap();
        assert_eq!((motors.strength(0), motors.strength(1)), (0.75, 0.5));
        motors.start(0, half).unwrap();
        assert_eq!(motors.strength(0), 1.0, "no more than a motor can");
        // Six sixtieths of a second are a tenth, whatever their sum is.
        (0..6).for_each(|_| motors.advance(1.0 / 60.0, 1.0 / 60.0));
        assert!(!motors.is_playing(0, first) && motors.is_playing(1, other));
        assert_eq!(motors.strength(0), 0.25);
        motors.stop(0, other);
        assert!(motors.is_playing(1, other), "it is another motor's");
        motors.stop(1, other);
        assert!(!motors.is_playing(1, other) && motors.strength(1) == 0.0);
    }

    #[test]
    fn a_device_that_goes_forgets_what_played_and_numbers_are_not_used_again() {
        let mut motors = motors();
        let long = Envelope { sustain: f64::INFINITY, ..Envelope::DEFAULT };
        let number = motors.start(0, long).unwrap();
        motors.begin(0);
        let unfelt = motors.start(0, long).unwrap();
        assert!(unfelt > number && !motors.is_playing(0, unfelt));
        motors.begin(2);
        assert!(!motors.is_playing(0, number) && motors.strength(0) == 0.0);
    }

    #[test]
    fn a_device_is_told_what_is_new_and_again_before_it_stops_by_itself() {
        let mut motors = motors();
        assert!(motors.tell().is_none());
        motors.set_base(1, 0.5);
        assert_eq!(motors.tell(), Some(([0.0, 0.5], TOLD_SECONDS)));
        assert!(motors.tell().is_none(), "no time has passed");
        motors.advance(0.25, 0.25);
        assert!(motors.tell().is_none());
        motors.advance(0.25, 0.25);
        assert_eq!(motors.tell(), Some(([0.0, 0.5], TOLD_SECONDS)));
        motors.set_enabled(false);
        motors.advance(0.02, 0.02);
        assert_eq!(motors.tell(), Some(([0.0; 2], TOLD_SECONDS)));
        motors.advance(9.0, 9.0);
        assert!(motors.tell().is_none(), "what is still stays so");
    }

    /// How often a device is told in a second of a wave, at so many frames a second.
    fn told_in_a_second(frequency: f64, frames: u32) -> usize {
        let mut motors = motors();
        let wave = Envelope { frequency, sustain: 9.0, ..Envelope::DEFAULT };
        motors.start(0, wave).unwrap();
        let step = 1.0 / f64::from(frames);
        let told = |_| {
            motors.advance(step, step);
            motors.tell()
        };
        (0..frames).filter_map(told).count()
    }

    #[test]
    fn a_wave_is_told_as_often_as_it_is_felt_and_never_more_than_64_times_a_second() {
        assert!(told_in_a_second(3.0, 1000) <= 64);
        assert!(told_in_a_second(500.0, 10_000) <= 64);
        assert!((50..=60).contains(&told_in_a_second(3.0, 60)), "each frame that is felt");
        // A wave of ten seconds goes over its 64 steps twice.
        assert!(told_in_a_second(0.1, 60) <= 20);
    }

    #[test]
    fn the_end_of_an_effect_is_told_also_where_it_comes_too_soon_to_be_told_at_once() {
        let mut motors = motors();
        motors.start(0, Envelope { sustain: 0.004, ..Envelope::DEFAULT }).unwrap();
        assert_eq!(motors.tell().map(|(now, _)| now[0]), Some(1.0));
        let mut told = Vec::new();
        for _ in 0..20 {
            motors.advance(0.002, 0.002);
            told.extend(motors.tell().map(|(now, _)| now[0]));
        }
        assert_eq!(told, [0.0]);
    }

    #[test]
    fn more_effects_than_there_is_room_for_are_refused() {
        let mut motors = motors();
        let long = Envelope { sustain: 1.0, ..Envelope::DEFAULT };
        (0..EFFECTS_MAX).for_each(|_| assert!(motors.start(0, long).is_ok()));
        assert!(motors.start(0, long).unwrap_err().message.contains("EFFECTS_MAX"));
        motors.stop_all(Some(1));
        assert!(motors.start(0, long).is_err());
        motors.stop_all(None);
        assert!(motors.start(0, long).is_ok());
    }
}
