//! Tests of files that are saved while sounds play.

use super::game::{FRAME_SAMPLES, Game, frames, max_step, offline_system, peak, play, tone};
use engine::system::sound::mixer::MixerData;

fn rules(volume_db: i32, file: &str) -> Vec<u8> {
    format!(
        "parameters = {{ f = 1, m = \"a\" }} loop = true
         play = {{ switch = \"m\", cases = {{ a = \"{file}\" }} }}
         curves = [{{ parameter = \"f\", target = \"volume_db\", points = [[0, {volume_db}]] }}]"
    )
    .into_bytes()
}

#[test]
fn saved_curves_and_switches_reach_playing_voices() {
    let files: &[(&str, &[u8])] = &[
        ("s.sound", &rules(0, "low")),
        ("low.wav", &tone(100.0, 0.5)),
        ("high.wav", &tone(1000.0, 0.5)),
    ];
    let mut game = Game::new("reload", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let voice = play(&mut game, &mut sounds, world, "s");
    frames(&mut sounds, 5);
    game.save("s.sound", &rules(-20, "low"));
    game.reload(&mut sounds);
    let heard = frames(&mut sounds, 10);
    assert!((peak(&heard[5 * FRAME_SAMPLES..]) - 0.05).abs() < 0.005, "the curve is new");
    game.save("s.sound", b"play = ");
    game.reload(&mut sounds);
    assert_eq!(game.problems.len(), 1);
    let heard = frames(&mut sounds, 5);
    assert!((peak(&heard) - 0.05).abs() < 0.005, "what is broken keeps the old");
    game.save("s.sound", &rules(0, "high"));
    game.reload(&mut sounds);
    let heard = frames(&mut sounds, 20);
    let late = &heard[10 * FRAME_SAMPLES..];
    assert!((peak(late) - 0.5).abs() < 0.02 && max_step(late) > 0.05, "the other file fades over");
    assert!(sounds.voices.voice(voice).is_some(), "in the voice that was there");
}

#[test]
fn saved_clip_is_used_by_the_next_trigger() {
    let files: &[(&str, &[u8])] = &[("t.wav", &tone(440.0, 0.05))];
    let mut game = Game::new("recording", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let mut level = |game: &mut Game| {
        play(game, &mut sounds, world, "t");
        let heard = peak(&frames(&mut sounds, 6));
        game.save("t.wav", &super::game::wav((0..2400).map(|_| 0.25)));
        game.reload(&mut sounds);
        heard
    };
    assert!((level(&mut game) - 0.5).abs() < 0.01);
    assert!((level(&mut game) - 0.25).abs() < 0.01);
}

#[test]
fn removed_layer_ends_and_added_one_waits_for_trigger() {
    let layers = |count: usize| {
        format!("layers = [{}]", "{ play = \"t\", loop = true } ".repeat(count)).into_bytes()
    };
    let files: &[(&str, &[u8])] = &[("s.sound", &layers(2)), ("t.wav", &tone(440.0, 0.5))];
    let mut game = Game::new("layers", files);
    // Two tones at once are louder than the limiter allows.
    let mixer = MixerData { limiter: None, ..MixerData::standard() };
    let (mut sounds, world) = offline_system(mixer, 32);
    play(&mut game, &mut sounds, world, "s");
    assert!(peak(&frames(&mut sounds, 5)) > 0.9);
    game.save("s.sound", &layers(1));
    game.reload(&mut sounds);
    assert!((peak(&frames(&mut sounds, 10)[5 * FRAME_SAMPLES..]) - 0.5).abs() < 0.02);
    game.save("s.sound", &layers(3));
    game.reload(&mut sounds);
    assert!((peak(&frames(&mut sounds, 10)) - 0.5).abs() < 0.02);
}

#[test]
fn mixer_is_replaced_without_a_gap() {
    let rules = b"play = \"tone\" loop = true bus = \"music\"";
    let files: &[(&str, &[u8])] = &[("s.sound", rules), ("tone.wav", &tone(440.0, 1.0))];
    let mut game = Game::new("mixer", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let voice = play(&mut game, &mut sounds, world, "s");
    frames(&mut sounds, 5);
    let mut quiet = MixerData::standard();
    quiet.buses[2].volume_db = -20.0;
    sounds.exchange_mixer(quiet);
    let heard = frames(&mut sounds, 10);
    assert!((peak(&heard[5 * FRAME_SAMPLES..]) - 0.05).abs() < 0.01);
    assert!(sounds.voices.voice(voice).is_some());
}

#[test]
fn removed_loop_ends_and_changed_region_applies() {
    let files: &[(&str, &[u8])] =
        &[("s.sound", b"play = \"t\" loop = true"), ("t.wav", &tone(440.0, 0.2))];
    let mut game = Game::new("unloop", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let voice = play(&mut game, &mut sounds, world, "s");
    frames(&mut sounds, 30);
    game.save("s.sound", b"play = \"t\" loop = { end_seconds = 0.1 }");
    game.reload(&mut sounds);
    assert!(peak(&frames(&mut sounds, 30)[20 * FRAME_SAMPLES..]) > 0.4, "it goes on");
    assert!(sounds.voices.seconds(voice).unwrap() <= 0.1, "in the shorter loop");
    game.save("s.sound", b"play = \"t\"");
    game.reload(&mut sounds);
    let heard = frames(&mut sounds, 40);
    assert!(sounds.voices.voice(voice).is_none(), "it has ended");
    assert!(peak(&heard[20 * FRAME_SAMPLES..]) < 1e-6, "and so has what is heard of it");
}

#[test]
fn saved_pan_and_priority_reach_playing_voices() {
    let rules = |pan: i32, priority: i32| {
        format!("play = \"t\" loop = true pan = {pan} priority = {priority}").into_bytes()
    };
    let files: &[(&str, &[u8])] = &[("s.sound", &rules(-1, 10)), ("t.wav", &tone(440.0, 0.2))];
    let mut game = Game::new("pan", files);
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let voice = play(&mut game, &mut sounds, world, "s");
    assert!(peak(&frames(&mut sounds, 5)) > 0.4);
    game.save("s.sound", &rules(1, 90));
    game.reload(&mut sounds);
    let left = frames(&mut sounds, 20);
    assert!(peak(&left[10 * FRAME_SAMPLES..]) < 0.001, "it is on the right now");
    assert_eq!(sounds.voices.voice(voice).unwrap().priority, 90.0);
}
