//! Tests of the master output: the limiter, and the meter of true peaks.

use super::game::{Game, frames, offline_system, peak, play, sound_system, tone};
use engine::foundation::sjson;
use engine::system::sound::limiter::SILENCE_DB;
use engine::system::sound::mixer::{self, MixerData};

/// Returns the mixer with these settings of its master.
fn mixer(master: &str) -> MixerData {
    let text = format!("master = {{ {master} }} buses = {{ effects = {{}} }}");
    mixer::parse("m.mixer", sjson::parse(&text).unwrap().root()).unwrap()
}

/// Returns the peak of eight tones at half of the full volume, and the level of the meter.
fn loud(mixer: MixerData) -> (f32, f32) {
    let mut game = Game::new("loud", &[("t.wav", &tone(440.0, 1.0))]);
    let (mut sounds, world) = offline_system(mixer, 32);
    assert_eq!(sounds.true_peak_db(), Some(SILENCE_DB));
    for _ in 0..8 {
        play(&mut game, &mut sounds, world, "t");
    }
    let heard = frames(&mut sounds, 30);
    (peak(&heard), sounds.true_peak_db().unwrap())
}

#[test]
fn loud_sounds_stay_below_the_ceiling() {
    let (heard, meter) = loud(MixerData::standard());
    assert!(heard < 0.9 && heard > 0.8, "{heard}");
    assert!((meter + 1.0).abs() < 0.1, "{meter}");
    let (heard, meter) = loud(mixer("limiter = { ceiling_db = -6 }"));
    assert!(heard < 0.51 && heard > 0.45, "{heard}");
    assert!((meter + 6.0).abs() < 0.1, "{meter}");
    let (heard, meter) = loud(mixer("limiter = false"));
    assert_eq!(heard, 1.0, "what is beyond the full scale is cut off");
    assert!((meter - 12.04).abs() < 0.1, "{meter}");
}

#[test]
fn changed_mixer_changes_the_limiter() {
    let mut game = Game::new("limiter", &[("t.wav", &tone(440.0, 2.0))]);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    for _ in 0..8 {
        play(&mut game, &mut sounds, world, "t");
    }
    assert!(peak(&frames(&mut sounds, 20)) < 0.9);
    sounds.exchange_mixer(mixer("limiter = false"));
    let heard = peak(&frames(&mut sounds, 60));
    assert_eq!(heard, 1.0);
}

#[test]
fn silent_system_has_no_true_peak() {
    let (sounds, _) = sound_system(MixerData::standard(), 8, None);
    assert_eq!(sounds.true_peak_db(), None);
}
