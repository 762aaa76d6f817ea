//! Sound in space: how loud, from which side, how shifted in pitch a source is for the listener
//! nearest to it. Plain numbers in, plain numbers out.

use super::definition::{Options, Rolloff};
use crate::foundation::Vec3;

/// Metres that sound travels in a second, in air of 20 °C.
pub const SOUND_SPEED: f32 = 343.3;
/// The most listeners of a sound world (players that share a screen).
pub const LISTENERS_MAX: usize = 4;

/// Faster than this a source did not move, it was put elsewhere.
const SPEED_MAX: f32 = 300.0;

/// Ears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listener {
    pub position: Vec3,
    /// Metres a second.
    pub velocity: Vec3,
    /// Of length 1.
    pub right: Vec3,
}

impl Listener {
    /// At the origin, looking along y.
    pub const DEFAULT: Listener =
        Listener { position: Vec3::ZERO, velocity: Vec3::ZERO, right: Vec3::X };
}

/// What a listener hears of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// 1: as loud as can be.
    pub gain: f32,
    /// From -1, left, to 1, right.
    pub pan: f32,
    /// The doppler effect's factor of pitch.
    pub pitch: f32,
}

/// What the nearest of the listeners (at least one) hears.
pub fn hear(listeners: &[Listener], position: Vec3, velocity: Vec3, options: &Options) -> Heard {
    let far = |listener: &&Listener| (position - listener.position).length_squared();
    let nearest = listeners.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
    let listener = nearest.unwrap_or(&Listener::DEFAULT);
    let offset = position - listener.position;
    let distance = offset.length();
    let direction = offset.normalize_or_zero();
    // Inside of the near distance a source has no clear side: it would jump through the head.
    let width = (distance / options.distance_min).min(1.0);
    Heard {
        gain: attenuation(distance, options),
        pan: direction.dot(listener.right) * width,
        pitch: doppler(direction, listener.velocity, velocity, options.doppler),
    }
}

/// Loudness at a distance, from 1 to 0.
pub fn attenuation(distance: f32, options: &Options) -> f32 {
    let (min, max) = (options.distance_min, options.distance_max);
    let way = ((distance - min) / (max - min)).clamp(0.0, 1.0);
    match options.rolloff {
        Rolloff::None => 1.0,
        Rolloff::Linear => 1.0 - way,
        // The inverse alone never ends: the window takes it to nothing at the far distance.
        Rolloff::Inverse => min / distance.max(min) * (1.0 - way.powi(4)),
    }
}

fn doppler(direction: Vec3, listener: Vec3, source: Vec3, factor: f32) -> f32 {
    if factor == 0.0 {
        return 1.0;
    }
    // Speeds along the line between them; away from the listener is positive for the source.
    let towards = (listener.dot(direction) * factor).clamp(-SPEED_MAX, SPEED_MAX);
    let away = (source.dot(direction) * factor).clamp(-SPEED_MAX, SPEED_MAX);
    ((SOUND_SPEED + towards) / (SOUND_SPEED + away)).clamp(0.25, 4.0)
}

/// The velocity of what moved from one place to another in `delta` seconds. What was put elsewhere
/// has none.
pub fn velocity(from: Vec3, to: Vec3, delta: f32) -> Vec3 {
    if delta <= 0.0 {
        return Vec3::ZERO;
    }
    let velocity = (to - from) / delta;
    if velocity.length() > SPEED_MAX { Vec3::ZERO } else { velocity }
}

/// Factors for the left and the right ear, of equal power on every side; 1 and 1 in the middle.
pub fn sides(pan: f32) -> (f32, f32) {
    let angle = (pan.clamp(-1.0, 1.0) + 1.0) * std::f32::consts::FRAC_PI_4;
    let (right, left) = angle.sin_cos();
    (left * std::f32::consts::SQRT_2, right * std::f32::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(rolloff: Rolloff) -> Options {
        Options { distance_min: 2.0, distance_max: 50.0, rolloff, ..Options::new() }
    }

    #[test]
    fn loudness_falls_with_distance_and_ends_at_the_far_one() {
        for rolloff in [Rolloff::Inverse, Rolloff::Linear] {
            let options = options(rolloff);
            let at = |distance| attenuation(distance, &options);
            assert_eq!((at(0.0), at(2.0), at(50.0), at(1e9)), (1.0, 1.0, 0.0, 0.0));
            let steps: Vec<f32> = (2..=50).map(|metre| at(metre as f32)).collect();
            assert!(steps.windows(2).all(|pair| pair[0] > pair[1]));
        }
        assert!((attenuation(4.0, &options(Rolloff::Inverse)) - 0.5).abs() < 0.01);
        assert_eq!(attenuation(1e9, &options(Rolloff::None)), 1.0);
    }

    #[test]
    fn a_source_is_heard_on_its_side_and_none_inside_of_the_head() {
        let heard = |x| {
            let options = options(Rolloff::Inverse);
            hear(&[Listener::DEFAULT], Vec3::new(x, 0.0, 0.0), Vec3::ZERO, &options).pan
        };
        assert_eq!((heard(10.0), heard(-10.0), heard(0.0), heard(1.0)), (1.0, -1.0, 0.0, 0.5));
        let (left, right) = sides(0.0);
        assert!((left - 1.0).abs() < 1e-6 && (right - 1.0).abs() < 1e-6);
        let (left, right) = sides(1.0);
        assert!(left.abs() < 1e-6 && (right - std::f32::consts::SQRT_2).abs() < 1e-6);
    }

    #[test]
    fn the_nearest_listener_hears() {
        let other = Listener { position: Vec3::new(0.0, 30.0, 0.0), ..Listener::DEFAULT };
        let source = Vec3::new(0.0, 31.0, 0.0);
        let both = hear(&[Listener::DEFAULT, other], source, Vec3::ZERO, &Options::new());
        assert_eq!(both.gain, 1.0);
    }

    #[test]
    fn what_comes_sounds_higher_and_what_goes_lower() {
        let heard = |speed| {
            let velocity = Vec3::new(0.0, speed, 0.0);
            hear(&[Listener::DEFAULT], Vec3::new(0.0, 9.0, 0.0), velocity, &Options::new()).pitch
        };
        assert!((heard(-34.33) - 1.0 / 0.9).abs() < 1e-4);
        assert!((heard(34.33) - 1.0 / 1.1).abs() < 1e-4);
        assert_eq!(velocity(Vec3::ZERO, Vec3::new(1000.0, 0.0, 0.0), 0.016), Vec3::ZERO);
    }
}
