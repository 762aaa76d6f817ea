//! Tests of loops and of jumps in a recording: no seam, no click, the right position.

use super::game::{FRAME_SAMPLES, Game, frames, max_step, offline_system, peak, play, ramp, wav};
use engine::system::sound::data::LoopRange;
use engine::system::sound::limiter::LATENCY_FRAMES;
use engine::system::sound::mixer::MixerData;
use engine::system::sound::voice_loop::VoiceLoop;
use engine::system::sound::voices::TriggerDesc;

/// Returns a WAV of a tone of 400 Hz at half of the full volume, at 24,000 Hz.
fn slow_tone() -> Vec<u8> {
    let step = 400.0 * std::f32::consts::TAU / 24_000.0;
    let mut bytes = wav((0..2400).map(move |i| (i as f32 * step).cos() * 0.5));
    bytes[24..28].copy_from_slice(&24_000u32.to_le_bytes());
    bytes
}

#[test]
fn resampled_loop_has_no_seam() {
    // At another sample rate than the mixer's, samples between those of the file are computed from
    // the neighbours on both sides of the seam.
    let mut game = Game::new(
        "seam",
        &[("t.sound", b"play = \"tone\" loop = true"), ("tone.wav", &slow_tone())],
    );
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    play(&mut game, &mut sounds, world, "t");
    let heard = frames(&mut sounds, 60);
    let bend = |window: &[f32]| (window[2] - 2.0 * window[1] + window[0]).abs();
    let bends: Vec<f32> = heard[2 * LATENCY_FRAMES..].windows(3).map(bend).collect();
    // Within the first turn there is no seam.
    let own = bends[..4000].iter().copied().fold(0.0, f32::max);
    let most = bends.iter().copied().fold(0.0, f32::max);
    assert!(own > 1e-4 && most < own * 1.05, "{most} at a seam, {own} in the tone");
}

#[test]
fn seek_continues_at_the_position_without_a_click() {
    let files: &[(&str, &[u8])] =
        &[("r.wav", &ramp(2.0)), ("l.sound", b"play = \"r\" loop = { start_seconds = 1 }")];
    let mut game = Game::new("seek", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let voice = play(&mut game, &mut sounds, world, "r");
    let mut heard = frames(&mut sounds, 6);
    // The level is the position: half of the seconds. The frame's time has passed in `seconds`.
    for (seconds, played) in [(1.5, 6), (0.25, 10), (1.0, 3)] {
        assert!(sounds.voices.seek(voice, seconds));
        assert_eq!(sounds.voices.seconds(voice), Some(seconds));
        heard.extend(frames(&mut sounds, played));
        let passed = (played * FRAME_SAMPLES - 1 - LATENCY_FRAMES) as f64 / 48_000.0;
        let wanted = ((seconds + passed) / 2.0) as f32;
        let level = heard[heard.len() - 1];
        assert!((level - wanted).abs() < 1e-3, "{level} after a jump to {seconds}, not {wanted}");
    }
    assert!(max_step(&heard) < 0.01, "{}", max_step(&heard));
    // Beyond the end the voice ends, and a loop goes on within.
    assert!(sounds.voices.seek(voice, 2.0));
    frames(&mut sounds, 2);
    assert!(sounds.voices.voice(voice).is_none() && !sounds.voices.seek(voice, 0.0));
    let looped = play(&mut game, &mut sounds, world, "l");
    frames(&mut sounds, 1);
    assert!(sounds.voices.seek(looped, 3.25));
    assert_eq!(sounds.voices.seconds(looped), Some(1.25));
}

#[test]
fn seek_of_a_paused_or_waiting_voice_applies_when_it_plays() {
    let mut game = Game::new("seek-later", &[("r.wav", &ramp(2.0))]);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let voice = play(&mut game, &mut sounds, world, "r");
    frames(&mut sounds, 3);
    sounds.voices.voice_mut(voice).unwrap().paused = true;
    frames(&mut sounds, 3);
    assert!(sounds.voices.seek(voice, 1.6));
    assert!(peak(&frames(&mut sounds, 3)[FRAME_SAMPLES..]) < 1e-6, "it stays paused");
    sounds.voices.voice_mut(voice).unwrap().paused = false;
    let heard = frames(&mut sounds, 3);
    let level = heard[heard.len() - 1];
    assert!((level - 0.82).abs() < 0.01, "{level}");
    assert!(sounds.voices.stop(voice, Some(0.0)));
    frames(&mut sounds, 3);
    let later = TriggerDesc { delay_seconds: 0.1, ..TriggerDesc::new("r", world) };
    let voice = sounds.trigger(&mut game.store, &later).unwrap().unwrap().0;
    assert!(sounds.voices.seek(voice, 1.0));
    let heard = frames(&mut sounds, 12);
    assert!(peak(&heard[..6 * FRAME_SAMPLES]) < 1e-6, "it still waits");
    let level = heard[heard.len() - 1];
    assert!((level - 0.55).abs() < 0.01, "{level}");
}

#[test]
fn seek_moves_all_layers_by_their_delays() {
    let rules = b"layers = [{ play = \"a\" }, { play = \"b\" delay_seconds = 0.5 }]";
    let level = |level: f32| wav((0..48_000).map(move |_| level));
    let files: &[(&str, &[u8])] =
        &[("s.sound", rules), ("a.wav", &level(0.2)), ("b.wav", &level(0.4))];
    let mut game = Game::new("seek-layers", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let voice = play(&mut game, &mut sounds, world, "s");
    frames(&mut sounds, 3);
    let last = |heard: Vec<f32>| heard[heard.len() - 1];
    assert!(sounds.voices.seek(voice, 0.6));
    assert!((last(frames(&mut sounds, 6)) - 0.6).abs() < 0.01, "both play");
    assert!(sounds.voices.seek(voice, 0.2));
    assert!((last(frames(&mut sounds, 6)) - 0.2).abs() < 0.01, "the second one waits again");
    assert!((last(frames(&mut sounds, 18)) - 0.6).abs() < 0.01, "and begins");
    // The first one has ended there, the second one has not.
    assert!(sounds.voices.seek(voice, 1.2));
    assert!((last(frames(&mut sounds, 6)) - 0.4).abs() < 0.01);
    assert!(sounds.voices.seek(voice, 0.1));
    assert!((last(frames(&mut sounds, 6)) - 0.2).abs() < 0.01, "and plays again");
}

#[test]
fn game_switches_the_loop_of_a_voice_without_a_click() {
    let mut game = Game::new("set-loop", &[("r.wav", &ramp(2.0))]);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let voice = play(&mut game, &mut sounds, world, "r");
    let mut heard = frames(&mut sounds, 6);
    let range = LoopRange { start_seconds: 0.0, end_seconds: 0.5 };
    assert!(sounds.voices.set_loop(voice, VoiceLoop::Repeat(range)).unwrap());
    heard.extend(frames(&mut sounds, 60));
    // The level is the position: half of the seconds.
    assert!(peak(&heard) < 0.26, "{}", peak(&heard));
    assert!(sounds.voices.set_loop(voice, VoiceLoop::Once).unwrap());
    let rest = frames(&mut sounds, 119);
    assert!(peak(&rest) > 0.85, "it plays to its end: {}", peak(&rest));
    frames(&mut sounds, 20);
    assert!(!sounds.voices.set_loop(voice, VoiceLoop::Once).unwrap(), "it has ended");
    let again = play(&mut game, &mut sounds, world, "r");
    let late = LoopRange { start_seconds: 2.0, end_seconds: 0.0 };
    let refused = sounds.voices.set_loop(again, VoiceLoop::Repeat(late)).unwrap_err();
    assert_eq!(
        refused.message,
        "the loop starts at 2 seconds, and the recording 'r' is 2.000 seconds long"
    );
}
