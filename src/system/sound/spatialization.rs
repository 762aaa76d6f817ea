//! Spatialization: loudness, pan and Doppler shift of a source for the nearest listener. Plain
//! numbers in, plain numbers out.

use super::data::{Rolloff, SoundOptions};
use engine_foundation::Vec3;

/// Speed of sound in metres per second, in air of 20 °C.
pub const SOUND_SPEED: f32 = 343.3;
/// The most listeners of a sound world (players that share a screen).
pub const LISTENERS_MAX: usize = 4;

/// A source that moves faster than this is treated as teleported: no Doppler shift. Metres per
/// second.
const SPEED_MAX: f32 = 300.0;

/// The position and orientation of a listener.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listener {
    pub position: Vec3,
    /// Metres per second.
    pub velocity: Vec3,
    /// Direction to the right, of length 1.
    pub right: Vec3,
}

impl Listener {
    /// A listener at the origin, looking along y.
    pub const DEFAULT: Listener =
        Listener { position: Vec3::ZERO, velocity: Vec3::ZERO, right: Vec3::X };
}

/// The spatialization of a source for a listener.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListenerResult {
    /// Volume factor; 1: full volume.
    pub gain: f32,
    /// Pan from -1, left, to 1, right.
    pub pan: f32,
    /// Pitch factor of the Doppler effect.
    pub pitch: f32,
}

/// Spatializes a source for the nearest of the listeners (at least one).
pub fn spatialize(
    listeners: &[Listener],
    position: Vec3,
    velocity: Vec3,
    options: &SoundOptions,
) -> ListenerResult {
    let distance_squared = |listener: &&Listener| (position - listener.position).length_squared();
    let nearest =
        listeners.iter().min_by(|a, b| distance_squared(a).total_cmp(&distance_squared(b)));
    let listener = nearest.unwrap_or(&Listener::DEFAULT);
    let offset = position - listener.position;
    let distance = offset.length();
    let direction = offset.normalize_or_zero();
    // Within the minimum distance a source has no clear direction: it would jump from side to side.
    let width = (distance / options.distance_min).min(1.0);
    ListenerResult {
        gain: attenuation(distance, options),
        pan: direction.dot(listener.right) * width,
        pitch: doppler(direction, listener.velocity, velocity, options.doppler),
    }
}

/// Returns the loudness at a distance, from 1 to 0.
pub fn attenuation(distance: f32, options: &SoundOptions) -> f32 {
    let (min, max) = (options.distance_min, options.distance_max);
    let fraction = ((distance - min) / (max - min)).clamp(0.0, 1.0);
    match options.rolloff {
        Rolloff::None => 1.0,
        Rolloff::Linear => 1.0 - fraction,
        // The inverse alone never reaches 0; the window brings it to 0 at the maximum distance.
        Rolloff::Inverse => min / distance.max(min) * (1.0 - fraction.powi(4)),
    }
}

fn doppler(direction: Vec3, listener: Vec3, source: Vec3, factor: f32) -> f32 {
    if factor == 0.0 {
        return 1.0;
    }
    // Speeds along the line between listener and source. For the source, away from the listener is
    // positive.
    let towards = (listener.dot(direction) * factor).clamp(-SPEED_MAX, SPEED_MAX);
    let away = (source.dot(direction) * factor).clamp(-SPEED_MAX, SPEED_MAX);
    ((SOUND_SPEED + towards) / (SOUND_SPEED + away)).clamp(0.25, 4.0)
}

/// Returns the velocity of a movement within `delta` seconds. A teleported object has velocity 0.
pub fn velocity(from: Vec3, to: Vec3, delta: f32) -> Vec3 {
    if delta <= 0.0 {
        return Vec3::ZERO;
    }
    let velocity = (to - from) / delta;
    if velocity.length() > SPEED_MAX { Vec3::ZERO } else { velocity }
}

/// Returns the gains of the left and the right ear, of equal power in every direction; 1 and 1 in
/// the middle.
pub fn sides(pan: f32) -> (f32, f32) {
    let angle = (pan.clamp(-1.0, 1.0) + 1.0) * std::f32::consts::FRAC_PI_4;
    let (right, left) = angle.sin_cos();
    (left * std::f32::consts::SQRT_2, right * std::f32::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(rolloff: Rolloff) -> SoundOptions {
        SoundOptions { distance_min: 2.0, distance_max: 50.0, rolloff, ..SoundOptions::new() }
    }

    #[test]
    fn loudness_falls_with_distance_to_the_maximum() {
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
    fn a_source_is_panned_to_its_side_except_inside_the_head() {
        let pan_at = |x| {
            let options = options(Rolloff::Inverse);
            spatialize(&[Listener::DEFAULT], Vec3::new(x, 0.0, 0.0), Vec3::ZERO, &options).pan
        };
        assert_eq!((pan_at(10.0), pan_at(-10.0), pan_at(0.0), pan_at(1.0)), (1.0, -1.0, 0.0, 0.5));
        let (left, right) = sides(0.0);
        assert!((left - 1.0).abs() < 1e-6 && (right - 1.0).abs() < 1e-6);
        let (left, right) = sides(1.0);
        assert!(left.abs() < 1e-6 && (right - std::f32::consts::SQRT_2).abs() < 1e-6);
    }

    #[test]
    fn the_nearest_listener_is_used() {
        let other = Listener { position: Vec3::new(0.0, 30.0, 0.0), ..Listener::DEFAULT };
        let source = Vec3::new(0.0, 31.0, 0.0);
        let both =
            spatialize(&[Listener::DEFAULT, other], source, Vec3::ZERO, &SoundOptions::new());
        assert_eq!(both.gain, 1.0);
    }

    #[test]
    fn approaching_sources_sound_higher_and_receding_ones_lower() {
        let pan_at = |speed| {
            let velocity = Vec3::new(0.0, speed, 0.0);
            spatialize(
                &[Listener::DEFAULT],
                Vec3::new(0.0, 9.0, 0.0),
                velocity,
                &SoundOptions::new(),
            )
            .pitch
        };
        assert!((pan_at(-34.33) - 1.0 / 0.9).abs() < 1e-4);
        assert!((pan_at(34.33) - 1.0 / 1.1).abs() < 1e-4);
        assert_eq!(velocity(Vec3::ZERO, Vec3::new(1000.0, 0.0, 0.0), 0.016), Vec3::ZERO);
    }
}
