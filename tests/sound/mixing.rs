//! Tests of the mixer's output: levels, exact starts, loops, fades without clicks, effects.

use super::game::{
    FRAME, FRAME_SAMPLES, Game, frames, max_step, number, offline_system, peak, play, ramp,
    sound_system, text, tone, wav,
};
use engine::foundation::hash::IdString32;
use engine::foundation::{Handle, Vec3, sjson};
use engine::system::sound::SoundSystem;
use engine::system::sound::limiter::LATENCY_FRAMES;
use engine::system::sound::mixer::{self, MixerData};
use engine::system::sound::music_clock::ClockGrid;
use engine::system::sound::parameters::ParameterWrite;
use engine::system::sound::voices::TriggerDesc;

/// Limit of the step between samples without a click. For a tone of 440 Hz at half volume the step
/// is at most 0.029, and 0.041 if all of it is on one side.
const NO_CLICK: f32 = 0.043;

const IMPACT: &[u8] = b"play = { switch = \"material\"
    cases = { wood = \"wood\", stone = \"stone\", metal = \"metal\" } }
    curves = [
      { parameter = \"force\", target = \"volume_db\", points = [[0, -40], [50, 0]] }
      { parameter = \"force\", target = \"cutoff_hz\", points = [[0, 300], [50, 20000]] } ]";

#[test]
fn impact_volume_rises_with_force_deterministically() {
    let files: &[(&str, &[u8])] = &[
        ("impact.sound", IMPACT),
        ("wood.wav", &tone(200.0, 0.2)),
        ("stone.wav", &tone(1000.0, 0.2)),
        ("metal.wav", &tone(3000.0, 0.2)),
    ];
    let mut game = Game::new("impact", files);
    let mut run = || {
        let (mut sounds, world) = offline_system(MixerData::standard(), 32);
        let mut heard = Vec::new();
        for material in ["wood", "stone", "metal"] {
            let mut last = 0.0;
            for force in [5.0, 20.0, 35.0, 50.0] {
                let parameters = [number("force", force), text("material", material)];
                let trigger =
                    TriggerDesc { parameters: &parameters, ..TriggerDesc::new("impact", world) };
                sounds.trigger(&mut game.store, &trigger).unwrap();
                let samples = frames(&mut sounds, 15);
                assert!(peak(&samples) > last * 1.5, "{material} at {force}");
                last = peak(&samples);
                heard.extend(samples);
            }
            assert!((last - 0.5).abs() < 0.03, "{material}: {last}");
        }
        heard
    };
    assert!(run() == run(), "bit for bit");
}

/// Returns a game with one endless tone of 440 Hz.
fn endless_tone(name: &str) -> Game {
    let rules = b"play = \"tone\" loop = true";
    Game::new(name, &[("t.sound", rules), ("tone.wav", &tone(440.0, 1.0))])
}

type Change = fn(&mut SoundSystem, Handle);

fn check_no_click(name: &str, changes: &[Change]) {
    let mut game = endless_tone(name);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let voice = play(&mut game, &mut sounds, world, "t");
    let mut heard = frames(&mut sounds, 7);
    assert!(peak(&heard) > 0.45, "{name}: it is heard");
    for change in changes {
        change(&mut sounds, voice);
        heard.extend(frames(&mut sounds, 7));
    }
    assert!(max_step(&heard) < NO_CLICK, "{name}: {}", max_step(&heard));
}

#[test]
fn voice_changes_do_not_click() {
    check_no_click("stop", &[|sounds, voice| assert!(sounds.voices.stop(voice, None))]);
    check_no_click("fade", &[|sounds, voice| assert!(sounds.voices.stop(voice, Some(0.05)))]);
    check_no_click(
        "pause",
        &[
            |sounds, voice| sounds.voices.voice_mut(voice).unwrap().paused = true,
            |sounds, voice| sounds.voices.voice_mut(voice).unwrap().paused = false,
        ],
    );
    check_no_click(
        "volume",
        &[|sounds, voice| sounds.voices.voice_mut(voice).unwrap().volume.start(0.1, 0.0)],
    );
    check_no_click("side", &[|sounds, voice| sounds.voices.voice_mut(voice).unwrap().pan = -0.9]);
    check_no_click(
        "occlusion",
        &[|sounds, voice| sounds.voices.voice_mut(voice).unwrap().occlusion = 1.0],
    );
    check_no_click("bus", &[|sounds, _| sounds.voices.buses.states[1].volume.start(0.2, 0.0)]);
    check_no_click(
        "far and near",
        &[
            |sounds, voice| assert!(sounds.voices.set_position(voice, Vec3::new(1e6, 0.0, 0.0))),
            |sounds, voice| assert!(sounds.voices.set_position(voice, Vec3::ZERO)),
        ],
    );
    check_no_click(
        "world",
        &[|sounds, voice| {
            let world = sounds.voices.voice(voice).unwrap().world;
            sounds.voices.worlds.get_mut(world).unwrap().paused = true;
        }],
    );
}

#[test]
fn clip_ending_in_mid_wave_does_not_click() {
    let files: &[(&str, &[u8])] = &[("t.wav", &tone(440.0, 0.1006))];
    let mut game = Game::new("taper", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    play(&mut game, &mut sounds, world, "t");
    assert!(max_step(&frames(&mut sounds, 8)) < NO_CLICK);
}

#[test]
fn scheduled_sound_starts_at_its_exact_sample() {
    let files: &[(&str, &[u8])] =
        &[("hit.wav", &wav((0..4800).map(|i| if i == 0 { 0.9 } else { 0.1 })))];
    let mut game = Game::new("exact", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    frames(&mut sounds, 3);
    // 97 beats a minute: no bar begins with a frame.
    sounds.voices.start_clock("band", 97.0, 3.0).unwrap();
    let start = 3 * FRAME_SAMPLES;
    let mut heard = Vec::new();
    for _ in 0..4 {
        frames_into(&mut sounds, 5, &mut heard);
        let clock = Some(("band", ClockGrid::Bar));
        let trigger = TriggerDesc { clock, ..TriggerDesc::new("hit", world) };
        sounds.trigger(&mut game.store, &trigger).unwrap();
        frames_into(&mut sounds, 140, &mut heard);
    }
    frames_into(&mut sounds, 60, &mut heard);
    let hits: Vec<usize> =
        heard.iter().enumerate().filter(|(_, sample)| **sample > 0.5).map(|(i, _)| i).collect();
    let bar = 60.0 / 97.0 * 3.0 * 48_000.0;
    assert_eq!(hits.len(), 4, "{hits:?}");
    for hit in hits {
        let hit = hit - LATENCY_FRAMES;
        let bars = hit as f64 / bar;
        let expected = (bars.round() * bar + start as f64).round() as usize - start;
        assert_eq!(hit, expected, "{bars} bars");
    }
}

#[test]
fn pause_delays_a_scheduled_start() {
    let hit = wav((0..480).map(|i| if i == 0 { 0.9 } else { 0.0 }));
    let mut game = Game::new("pausedstart", &[("hit.wav", &hit)]);
    // Paused 0.05 s before its start, when the device has it, and resumed 0.5 s later; and paused
    // long before, when the device does not have it.
    for (before, paused) in [(3, 30), (30, 30), (1, 1)] {
        let (mut sounds, world) = offline_system(MixerData::standard(), 8);
        let trigger = TriggerDesc { delay_seconds: 0.6, ..TriggerDesc::new("hit", world) };
        let voice = sounds.trigger(&mut game.store, &trigger).unwrap().unwrap().0;
        let mut heard = Vec::new();
        frames_into(&mut sounds, 36 - before, &mut heard);
        sounds.voices.voice_mut(voice).unwrap().paused = true;
        frames_into(&mut sounds, paused, &mut heard);
        sounds.voices.voice_mut(voice).unwrap().paused = false;
        frames_into(&mut sounds, 60, &mut heard);
        let hits: Vec<usize> =
            heard.iter().enumerate().filter(|(_, at)| **at > 0.5).map(|(i, _)| i).collect();
        let start = (36 + paused) * FRAME_SAMPLES;
        assert_eq!(hits, [start + LATENCY_FRAMES], "{before} frames before");
    }
}

#[test]
fn clocks_buses_and_globals_are_in_the_state_hash() {
    let mut game = Game::new("hashes", &[("t.wav", &tone(440.0, 0.1))]);
    let (mut sounds, world) = sound_system(MixerData::standard(), 8, None);
    play(&mut game, &mut sounds, world, "t");
    let mut before = sounds.voices.hash();
    let mut differs = |change: &str, sounds: &SoundSystem| {
        let now = sounds.voices.hash();
        assert_ne!(std::mem::replace(&mut before, now), now, "{change}");
    };
    sounds.voices.start_clock("band", 97.0, 3.0).unwrap();
    differs("a clock", &sounds);
    sounds.voices.start_clock("band", 98.0, 3.0).unwrap();
    differs("its tempo", &sounds);
    sounds.voices.buses.states[1].volume.start(0.5, 1.0);
    differs("a fade of a bus", &sounds);
    let voices = &mut sounds.voices;
    let number = ParameterWrite::Number(1.0);
    voices.parameters.set(&mut voices.global, IdString32::new("f"), number).unwrap();
    differs("a global parameter", &sounds);
    let voices = &mut sounds.voices;
    let list = &mut voices.buses.states[1].parameters;
    voices.parameters.set(list, IdString32::new("f"), number).unwrap();
    differs("a parameter of a bus", &sounds);
    sounds.voices.worlds.get_mut(world).unwrap().paused = true;
    differs("the pause of a world", &sounds);
    let voice = sounds.voices.active[0] as usize;
    sounds.voices.voices[voice].as_mut().unwrap().pitch = 2.0;
    differs("the pitch of a voice", &sounds);
}

fn frames_into(sounds: &mut SoundSystem, count: usize, heard: &mut Vec<f32>) {
    heard.extend(frames(sounds, count));
}

#[test]
fn loop_plays_its_intro_once() {
    let rules = b"play = \"levels\" loop = { start_seconds = 0.1, end_seconds = 0.2 }";
    // 0.2, then 0.4 in the loop, then 0.8, which is never reached.
    let levels = wav((0..14_400).map(|i| [0.2, 0.4, 0.8][i / 4800]));
    let mut game = Game::new("intro", &[("l.sound", rules), ("levels.wav", &levels)]);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    play(&mut game, &mut sounds, world, "l");
    let heard = frames(&mut sounds, 60);
    let near =
        |i: usize, expected: f32| assert!((heard[i] - expected).abs() < 0.01, "{i}: {}", heard[i]);
    near(2400, 0.2);
    for i in (7200..48_000).step_by(1200) {
        near(i, 0.4);
    }
}

#[test]
fn virtual_voice_keeps_its_playback_position() {
    let quiet = b"play = \"ramp\" priority = 10";
    let loud = b"play = \"short\" priority = 90";
    let short = wav((0..24_000).map(|_| 0.0));
    let files: &[(&str, &[u8])] = &[
        ("quiet.sound", quiet),
        ("loud.sound", loud),
        ("ramp.wav", &ramp(2.0)),
        ("short.wav", &short),
    ];
    let mut game = Game::new("virtual", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 1);
    let voice = play(&mut game, &mut sounds, world, "quiet");
    frames(&mut sounds, 12);
    play(&mut game, &mut sounds, world, "loud");
    let heard = frames(&mut sounds, 29);
    assert!(peak(&heard[2 * FRAME_SAMPLES..]) < 1e-6, "the more important one is heard alone");
    assert!(sounds.voices.voice(voice).is_some(), "and the other one goes on");
    let heard = frames(&mut sounds, 20);
    let at = heard[heard.len() - 1];
    let expected = (12.0 + 29.0 + 20.0) * FRAME as f32 / 2.0;
    assert!((at - expected).abs() < 0.002, "{at} is not {expected}");
    assert!(max_step(&heard) < 0.01);
}

fn mixer(text: &str) -> MixerData {
    mixer::parse("m.mixer", sjson::parse(text).unwrap().root()).unwrap()
}

/// Returns the levels of a short tone of 2 kHz on the bus `effects`, during and after the tone.
fn effect_levels(name: &str, text: &str) -> (f32, f32) {
    let mut game = Game::new(name, &[("t.wav", &tone(2000.0, 0.25))]);
    let (mut sounds, world) = offline_system(mixer(text), 32);
    frames(&mut sounds, 2);
    play(&mut game, &mut sounds, world, "t");
    let heard = frames(&mut sounds, 40);
    let (during, after) = heard.split_at(15 * FRAME_SAMPLES + 256);
    (peak(during), peak(&after[FRAME_SAMPLES..]))
}

#[test]
fn bus_effects_change_the_output() {
    let (dry, after) = effect_levels("dry", "buses = { effects = {} }");
    assert!((dry - 0.5).abs() < 0.01 && after < 1e-6, "{dry} {after}");
    let bus = |effect: &str| format!("buses = {{ effects = {{ effects = [{{ {effect} }}] }} }}");
    let (_, after) = effect_levels("reverb", &bus("reverb = { mix = 0.5 }"));
    assert!(after > 0.005, "a room goes on: {after}");
    let (_, after) = effect_levels("delay", &bus("delay = { seconds = 0.3, mix = 0.5 }"));
    assert!(after > 0.05, "an echo comes: {after}");
    let (during, _) = effect_levels("filter", &bus("filter = { cutoff_hz = 200 }"));
    assert!(during < 0.1, "what is high is gone: {during}");
    let (during, _) =
        effect_levels("high", &bus("filter = { cutoff_hz = 200, mode = \"high_pass\" }"));
    assert!(during > 0.4, "what is high stays: {during}");
    let (during, _) = effect_levels("volume", "buses = { effects = { volume_db = -20 } }");
    assert!((during - 0.05).abs() < 0.005, "{during}");
    let text = bus("compressor = { threshold_db = -30, ratio = 20, attack_seconds = 0.001 }");
    let mut game = Game::new("compressor", &[("t.wav", &tone(2000.0, 1.0))]);
    let (mut sounds, world) = offline_system(mixer(&text), 32);
    play(&mut game, &mut sounds, world, "t");
    let late = frames(&mut sounds, 30).split_off(20 * FRAME_SAMPLES);
    assert!(peak(&late) < 0.1, "what is loud is pressed down: {}", peak(&late));
}

#[test]
fn music_is_ducked_by_voice() {
    let text = "buses = { voice = {} music = { duck = { by = \"voice\", volume_db = -20,
                attack_seconds = 0.1, release_seconds = 0.1 } } }";
    let files: &[(&str, &[u8])] = &[
        ("music.sound", b"play = \"tone\" loop = true bus = \"music\""),
        ("tone.wav", &tone(440.0, 1.0)),
        ("talk.sound", b"play = \"silence\" bus = \"voice\""),
        ("silence.wav", &wav((0..48_000).map(|_| 0.0))),
    ];
    let mut game = Game::new("duck", files);
    let (mut sounds, world) = offline_system(mixer(text), 32);
    play(&mut game, &mut sounds, world, "music");
    frames(&mut sounds, 5);
    play(&mut game, &mut sounds, world, "talk");
    let heard = frames(&mut sounds, 40);
    assert!((peak(&heard[30 * FRAME_SAMPLES..]) - 0.05).abs() < 0.01);
    assert!(max_step(&heard) < NO_CLICK);
    let heard = frames(&mut sounds, 60);
    assert!((peak(&heard[40 * FRAME_SAMPLES..]) - 0.5).abs() < 0.02);
}

#[test]
fn paused_and_waiting_voices_take_no_mixing_slot() {
    let mut game = endless_tone("places");
    let (mut sounds, world) = offline_system(MixerData::standard(), 64);
    let other = sounds.world(Handle::from_number((1u64 << 40) as f64 + 4_194_305.0).unwrap()).0;
    for _ in 0..70 {
        play(&mut game, &mut sounds, world, "t");
    }
    frames(&mut sounds, 3);
    sounds.voices.worlds.get_mut(world).unwrap().paused = true;
    for _ in 0..70 {
        let later = TriggerDesc { delay_seconds: 100.0, ..TriggerDesc::new("t", other) };
        sounds.trigger(&mut game.store, &later).unwrap();
    }
    frames(&mut sounds, 10);
    let voice = play(&mut game, &mut sounds, other, "t");
    let heard = frames(&mut sounds, 10);
    assert!(peak(&heard) > 0.4, "it has a place");
    sounds.voices.stop(voice, Some(0.0));
    assert!(peak(&frames(&mut sounds, 10)[5 * FRAME_SAMPLES..]) < 1e-6, "the others are silent");
    sounds.voices.worlds.get_mut(world).unwrap().paused = false;
    assert!(peak(&frames(&mut sounds, 10)) > 0.4, "and come back");
}

#[test]
fn sound_with_too_many_layers_leaves_slots_to_others() {
    let layer = "{ play = \"tone\" loop = true } ";
    let layers = format!("priority = 90 layers = [{}]", layer.repeat(4));
    let files: &[(&str, &[u8])] = &[
        ("big.sound", layers.as_bytes()),
        ("t.sound", b"play = \"tone\" loop = true"),
        ("tone.wav", &tone(440.0, 1.0)),
    ];
    let mut game = Game::new("layers-places", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 2);
    play(&mut game, &mut sounds, world, "big");
    play(&mut game, &mut sounds, world, "t");
    assert!((peak(&frames(&mut sounds, 10)) - 0.5).abs() < 0.02);
}

#[test]
fn fade_in_begins_with_its_sound() {
    let mut game = endless_tone("rise");
    let (mut sounds, world) = offline_system(MixerData::standard(), 8);
    let trigger = TriggerDesc {
        fade_in_seconds: Some(0.5),
        delay_seconds: 0.5,
        ..TriggerDesc::new("t", world)
    };
    sounds.trigger(&mut game.store, &trigger).unwrap();
    let heard = frames(&mut sounds, 65);
    assert!(peak(&heard[..30 * FRAME_SAMPLES - 100]) < 1e-6);
    let first = peak(&heard[30 * FRAME_SAMPLES..36 * FRAME_SAMPLES]);
    assert!(first < 0.13, "it rises from silence: {first}");
    let half = peak(&heard[44 * FRAME_SAMPLES..46 * FRAME_SAMPLES]);
    assert!((half - 0.25).abs() < 0.03, "{half}");
    assert!(peak(&heard[62 * FRAME_SAMPLES..]) > 0.48);
}

#[test]
fn voice_that_has_not_started_does_not_duck() {
    let text = "buses = { voice = {} music = { duck = { by = \"voice\", volume_db = -20,
                attack_seconds = 0.1, release_seconds = 0.1 } } }";
    let files: &[(&str, &[u8])] = &[
        ("music.sound", b"play = \"tone\" loop = true bus = \"music\""),
        ("tone.wav", &tone(440.0, 1.0)),
        ("talk.sound", b"play = \"silence\" bus = \"voice\""),
        ("silence.wav", &wav((0..48_000).map(|_| 0.0))),
    ];
    let mut game = Game::new("duck-later", files);
    let (mut sounds, world) = offline_system(mixer(text), 32);
    play(&mut game, &mut sounds, world, "music");
    let talk = TriggerDesc { delay_seconds: 0.5, ..TriggerDesc::new("talk", world) };
    sounds.trigger(&mut game.store, &talk).unwrap();
    let heard = frames(&mut sounds, 60);
    assert!(peak(&heard[20 * FRAME_SAMPLES..29 * FRAME_SAMPLES]) > 0.48, "nobody talks yet");
    assert!((peak(&heard[50 * FRAME_SAMPLES..]) - 0.05).abs() < 0.01);
}
