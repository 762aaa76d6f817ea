//! Tests of bad input and limits with their messages, of formats, and of the command line.

use super::game::{Game, frames, number, offline_system, peak, play, sound_system, text, tone};
use engine::system::sound::mixer::MixerData;
use engine::system::sound::parameters::PARAMETERS_MAX;
use engine::system::sound::voices::{EVENTS_MAX, TriggerDesc, VOICES_MAX};
use std::path::Path;
use std::process::Command;

/// Checks the error message of one file that cannot be compiled.
fn check_refused(path: &str, bytes: &[u8], expected: &str) {
    let game = Game::new(&format!("refused-{}", path.len() * 1000 + bytes.len()), &[(path, bytes)]);
    assert_eq!(game.problems.len(), 1, "{:?}", game.problems);
    assert!(game.problems[0].starts_with(expected), "{}", game.problems[0]);
}

#[test]
fn compile_error_names_the_unplayable_file() {
    let whole = tone(440.0, 0.1);
    check_refused("a.wav", &whole[..whole.len() / 2], "a.wav: it is cut short: export it again");
    check_refused("empty.ogg", b"", "empty.ogg: the file is empty");
    check_refused("page.ogg", b"OggS\0\x02rest", "page.ogg: it is cut short: export it again");
    let message = "text.mp3: it cannot be decoded as WAV, OGG Vorbis, FLAC or MP3 (";
    check_refused("text.mp3", b"This is a sentence, and not a recording of anything.", message);
    check_refused("head.flac", b"fLaC\0\0\0\x22nothing", "head.flac: it cannot be decoded");
    check_refused(
        "b.sound",
        b"play = \"a\" volume_db = \"loud\"",
        "b.sound:1: 'volume_db' must be a number, got text",
    );
    check_refused("c.mixer", b"buses = 3", "c.mixer:1: 'buses' must be a block of names and buses");
}

#[test]
fn random_bytes_never_crash_the_decoder() {
    // Headers of every format, followed by random bytes.
    let heads: [&[u8]; 5] = [
        b"RIFF\xff\xff\xff\x7fWAVEfmt \x10\0\0\0\x01\0\x02\0\x80\xbb\0\0\0\xee\x02\0\x04\0\x10\0da",
        b"OggS\0\x06\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\x1e\x01vorbis",
        b"fLaC\x80\0\0\x22\x10\0\x10\0\0\0\0\0\0\0\x0b\xb8\x02\xf0\xff\xff\xff\xff",
        b"\xff\xfb\x90\x64",
        b"ID3\x04\0\0\x7f\x7f\x7f\x7f",
    ];
    let mut seed = 1u32;
    for (i, head) in heads.iter().enumerate() {
        let mut bytes = head.to_vec();
        bytes.extend((0..4000).map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        }));
        // Refused with a message, or played as it is. The process survives.
        let game = Game::new(&format!("noise-{i}"), &[("noise.wav", &bytes)]);
        assert!(game.problems.len() <= 1, "{:?}", game.problems);
    }
}

#[test]
fn trigger_error_lists_missing_parts() {
    let rules = b"play = { switch = \"m\", cases = { wood = \"t\" } }
        curves = [{ parameter = \"f\", target = \"pitch\", points = [[0, 1]] }]";
    let files: &[(&str, &[u8])] = &[
        ("s.sound", rules),
        ("t.wav", &tone(440.0, 0.1)),
        ("none.sound", b"play = \"missing\""),
        ("rules.sound", b"play = \"s\""),
    ];
    let mut game = Game::new("lacks", files);
    let (mut sounds, world) = sound_system(MixerData::standard(), 8, None);
    let mut explain = |name: &str, parameters: &[_]| {
        let trigger = TriggerDesc { parameters, ..TriggerDesc::new(name, world) };
        sounds.trigger(&mut game.store, &trigger).unwrap_err().message
    };
    assert_eq!(
        explain("s", &[text("m", "wood")]),
        "sound 's': the parameter 'f' has no value: give it in 'parameters', or a default in the \
         sound's file"
    );
    assert_eq!(
        explain("s", &[number("f", 1.0), text("m", "metal")]),
        "sound 's': the switch on 'm' has no value 'metal', and no default (values: wood)"
    );
    assert!(explain("none", &[]).starts_with("sound 'none': there is no sound 'missing' ("));
    assert_eq!(
        explain("rules", &[]),
        "sound 'rules': 's' is a list of rules and not a recording: name a WAV, OGG, FLAC or MP3"
    );
}

#[test]
fn parameter_limit_is_named_and_nothing_leaks() {
    let curves: String = (0..20)
        .map(|i| format!("{{ parameter = \"p{i}\", target = \"pan\", points = [[0, 0]] }} "))
        .collect();
    let rules = format!("play = \"t\" loop = true curves = [{curves}]");
    let files: &[(&str, &[u8])] = &[("s.sound", rules.as_bytes()), ("t.wav", &tone(440.0, 0.1))];
    let mut game = Game::new("full", files);
    let (mut sounds, world) = sound_system(MixerData::standard(), 8, None);
    let parameters: Vec<_> = (0..20).map(|i| number(&format!("p{i}"), 1.0)).collect();
    let trigger = TriggerDesc { parameters: &parameters, ..TriggerDesc::new("s", world) };
    let started = PARAMETERS_MAX / 20;
    for _ in 0..started {
        assert!(sounds.trigger(&mut game.store, &trigger).unwrap().is_some());
    }
    let error = sounds.trigger(&mut game.store, &trigger).unwrap_err();
    assert_eq!(
        error.message,
        "sound 's': 16384 parameters of sounds are set already (PARAMETERS_MAX): stop sounds, or \
         set fewer"
    );
    assert_eq!(sounds.voices.parameters.used(), started * 20);
    sounds.voices.stop_all(world, 0.0);
    assert_eq!(sounds.voices.parameters.used(), 0);
}

#[test]
fn lower_priority_voice_does_not_steal_a_slot() {
    let low = b"play = \"t\" loop = true priority = 10";
    let high = b"play = \"t\" loop = true priority = 90";
    let files: &[(&str, &[u8])] =
        &[("low.sound", low), ("high.sound", high), ("t.wav", &tone(440.0, 0.1))];
    let mut game = Game::new("priority", files);
    let (mut sounds, world) = sound_system(MixerData::standard(), 8, None);
    let first = play(&mut game, &mut sounds, world, "low");
    for _ in 1..VOICES_MAX {
        play(&mut game, &mut sounds, world, "high");
    }
    assert!(sounds.voices.voice(first).is_some());
    play(&mut game, &mut sounds, world, "high");
    assert!(sounds.voices.voice(first).is_none(), "it had the lowest priority");
    let check_refused = sounds.trigger(&mut game.store, &TriggerDesc::new("low", world));
    assert_eq!(check_refused.unwrap(), None);
}

#[test]
fn simulation_is_the_same_without_a_device() {
    let files: &[(&str, &[u8])] = &[("t.wav", &tone(440.0, 0.25))];
    let mut game = Game::new("null", files);
    let run = |game: &mut Game, sounds: &mut engine::system::sound::SoundSystem, world| {
        let mut hashes = Vec::new();
        for i in 0..40 {
            if i % 7 == 0 {
                play(game, sounds, world, "t");
            }
            sounds.step(super::game::FRAME, i);
            hashes.push((sounds.voices.hash(), sounds.voices.readable_events.clone()));
        }
        hashes
    };
    let (mut null, world) = sound_system(MixerData::standard(), 2, None);
    let (mut mixed, same_world) = offline_system(MixerData::standard(), 2);
    let one = run(&mut game, &mut null, world);
    assert!(one == run(&mut game, &mut mixed, same_world));
    frames(&mut mixed, 1);
}

fn engine(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_engine")).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

const MAIN: &str = "
    local world
    function init() world = Application.new_world() end
    function update()
      if Application.frame_index() % 10 == 1 then
        Sound.trigger(world, 'step', { parameters = { floor = 'wood', force = math.random(10) } })
      end
    end";

#[test]
fn run_is_written_as_audio_explained_and_replayed() {
    let rules = b"parameters = { force = 5 }
        play = { switch = \"floor\", cases = { wood = { random = [\"a\", \"b\"] } } }
        curves = [{ parameter = \"force\", target = \"volume_db\", points = [[0, -20], [10, 0]] }]";
    let files: &[(&str, &[u8])] = &[
        ("main.lua", MAIN.as_bytes()),
        ("step.sound", rules),
        ("a.wav", &tone(440.0, 0.2)),
        ("b.wav", &tone(660.0, 0.2)),
    ];
    let game = Game::new("run", files);
    let at = |name: &str| game.root.join(name).to_str().unwrap().to_string();
    let (root, wav, same) = (at(""), at("out.wav"), at("again.wav"));
    for file in [&wav, &same] {
        let run = engine(&["run", &root, "--headless", "--frames", "60", "--audio-out", file]);
        assert!(run.0, "{}", run.1);
    }
    let bytes = std::fs::read(&wav).unwrap();
    assert_eq!((bytes.len(), &bytes[..4]), (44 + 48_000 * 4, &b"RIFF"[..]));
    assert!(bytes[44..].iter().any(|byte| *byte != 0), "there is something to be heard");
    assert!(bytes == std::fs::read(&same).unwrap(), "no two runs differ");
    let (right, output) =
        engine(&["explain", &root, "step", "--param", "floor=wood", "--param", "force=10"]);
    assert!(right && output.contains("=> a or b at 0.0 dB (1.000), pitch 1.000"), "{output}");
    let (right, output) = engine(&["explain", &root, "step", "--param", "flor=wood"]);
    let message = "error: sound 'step': it has no parameter 'flor', did you mean 'floor'?";
    assert!(!right && output.starts_with(message), "{output}");
    let (right, output) = engine(&["explain", &root, "stp", "--param", "floor=wood"]);
    assert!(!right && output.starts_with("error: there is no sound 'stp', did you mean 'step'?"));
    let (right, output) = engine(&["explain", &root, "stpe"]);
    assert!(!right && output.starts_with("error: there is no sound 'stpe', did you mean 'step'?"));
    let recording = at("run.recording");
    let recorded = engine(&["run", &root, "--headless", "--frames", "60", "--record", &recording]);
    assert!(recorded.0, "{}", recorded.1);
    let replayed = engine(&["run", &root, "--headless", "--replay", &recording]);
    assert!(replayed.0, "{}", replayed.1);
}

#[test]
fn the_sound_of_a_run_is_no_resource_of_the_game() {
    let game = Game::new("own_output", &[("main.lua", b"function update() end")]);
    let (root, wav) = (game.root.to_str().unwrap(), game.root.join("out.wav"));
    let wav = wav.to_str().unwrap();
    // Hot reload is on, and the file grows while the game is played.
    let run = ["run", root, "--headless", "--realtime", "--frames", "60", "--audio-out", wav];
    for _ in 0..2 {
        let (right, output) = engine(&run);
        assert!(right && output.contains("played 60 frames, without an error"), "{output}");
    }
    let (right, output) =
        engine(&["run", root, "--headless", "--frames", "1", "--audio-out", "out.mp3"]);
    let message =
        "the sound is written as WAV, and the file's name must end in .wav: write out.wav";
    assert!(!right && output.contains(message), "{output}");
}

#[test]
fn unwritable_output_file_is_reported() {
    let game = Game::new("unwritable", &[("main.lua", b"")]);
    let root = game.root.to_str().unwrap();
    let file = game.root.join("no/such/folder.wav");
    assert!(!Path::new(&file).exists());
    let (right, output) = engine(&[
        "run",
        root,
        "--headless",
        "--frames",
        "1",
        "--audio-out",
        file.to_str().unwrap(),
    ]);
    assert!(!right && output.contains("folder.wav cannot be written: "), "{output}");
}

/// Half a second of a tone of 440 Hz at 24,000 Hz and half volume, as encoded by oggenc, flac and
/// lame.
const FORMATS: [(&str, &[u8]); 3] = [
    ("tone.ogg", include_bytes!("tone.ogg")),
    ("tone.flac", include_bytes!("tone.flac")),
    ("tone.mp3", include_bytes!("tone.mp3")),
];

#[test]
fn every_format_plays_at_its_sample_rate() {
    for (path, bytes) in FORMATS {
        let mut game = Game::new(path, &[(path, bytes)]);
        assert!(game.problems.is_empty(), "{:?}", game.problems);
        let (mut sounds, world) = offline_system(MixerData::standard(), 8);
        play(&mut game, &mut sounds, world, "tone");
        let heard = frames(&mut sounds, 40);
        let level = peak(&heard[4800..20_000]);
        assert!((level - 0.488).abs() < 0.05, "{path}: {level}");
        // 440 Hz cross zero upwards 132 times in 0.3 s.
        let inner = &heard[4800..19_200];
        let crossings = inner.windows(2).filter(|pair| pair[0] <= 0.0 && pair[1] > 0.0).count();
        assert!((131..=133).contains(&crossings), "{path}: {crossings}");
        assert!(peak(&heard[28_000..]) < 0.001, "{path} has ended");
    }
}

#[test]
fn corrupted_files_never_crash_the_decoder() {
    let mut seed = 7u32;
    let mut chance = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below
    };
    for (path, bytes) in FORMATS {
        let cut = engine::system::sound::clip::check(bytes[..bytes.len() / 2].to_vec());
        if path != "tone.mp3" {
            // A truncated MP3 is still a valid MP3.
            assert!(cut.is_err(), "{path}: half of it is not a whole");
        }
        for _ in 0..60 {
            let mut damaged = bytes.to_vec();
            for _ in 0..1 + chance(4) {
                let at = chance(damaged.len());
                damaged[at] ^= 1 << chance(8);
            }
            if let Err(message) = engine::system::sound::clip::check(damaged) {
                assert!(!message.is_empty());
            }
        }
    }
}

/// Returns a FLAC of silence at 8,000 Hz. Its header names `declared` samples, its data has
/// `blocks` blocks of 65,535 samples.
fn silent_flac(declared: u32, blocks: u32) -> Vec<u8> {
    let mut bytes = b"fLaC\x80\0\0\x22\xff\xff\xff\xff\0\0\0\0\0\0".to_vec();
    // 20 bits of rate, 3 of channels - 1, 5 of bits - 1, 36 of samples; a checksum of zeros.
    let head = 8000u64 << 44 | 15 << 36 | u64::from(declared);
    bytes.extend(head.to_be_bytes());
    bytes.extend([0; 16]);
    for block in 0..blocks {
        let mut frame = vec![0xff, 0xf8, 0x70, 0x08];
        match char::from_u32(block) {
            Some(number) => frame.extend(number.to_string().bytes()),
            None => unreachable!("there are not so many"),
        }
        frame.extend([0xff, 0xfe]);
        let sum = frame.iter().fold(0u8, |sum, byte| {
            (0..8).fold(sum ^ byte, |sum, _| sum << 1 ^ if sum & 0x80 != 0 { 7 } else { 0 })
        });
        // A constant value for the whole block.
        frame.extend([sum, 0, 0, 0]);
        let sum = frame.iter().fold(0u16, |sum, byte| {
            let sum = sum ^ u16::from(*byte) << 8;
            (0..8).fold(sum, |sum, _| sum << 1 ^ if sum & 0x8000 != 0 { 0x8005 } else { 0 })
        });
        frame.extend(sum.to_be_bytes());
        bytes.extend(frame);
    }
    bytes
}

#[test]
fn hours_long_file_is_refused_before_decoding() {
    use engine::system::sound::clip::check;
    let honest = check(silent_flac(3 * 65_535, 3)).unwrap();
    assert_eq!((honest.sample_rate, honest.frames), (8000, 3 * 65_535));
    let message = "it is longer than it says, and than the 3600 seconds that can be played \
                 (WAVE_SECONDS_MAX): cut it in pieces";
    for declared in [0, 1000] {
        let file = silent_flac(declared, 20_000);
        assert!(file.len() < 400_000, "{}", file.len());
        let clock = engine::platform::ThreadClock::of_this_thread();
        let start = clock.seconds();
        assert_eq!(check(file).unwrap_err(), message);
        assert!(clock.seconds() - start < 2.0);
    }
    assert_eq!(
        check(silent_flac(1000, 3)).unwrap_err(),
        "it says that it has 1000 samples, and has 196605: export it again"
    );
}

#[test]
fn loop_start_after_the_end_is_refused() {
    let files: &[(&str, &[u8])] = &[
        ("s.sound", b"play = { random = [\"t\"] } loop = { start_seconds = 5 }"),
        ("t.wav", &tone(440.0, 0.1)),
    ];
    let mut game = Game::new("loop", files);
    let (mut sounds, world) = sound_system(MixerData::standard(), 8, None);
    assert_eq!(
        sounds.trigger(&mut game.store, &TriggerDesc::new("s", world)).unwrap_err().message,
        "sound 's': 'loop' starts at 5 seconds, and the recording 't' is 0.100 seconds long"
    );
}

#[test]
fn excess_events_of_a_frame_are_counted() {
    let files: &[(&str, &[u8])] = &[("t.wav", &tone(440.0, 0.1))];
    let mut game = Game::new("events", files);
    let (mut sounds, world) = sound_system(MixerData::standard(), 8, None);
    for _ in 0..VOICES_MAX + EVENTS_MAX + 10 {
        play(&mut game, &mut sounds, world, "t");
    }
    sounds.step(super::game::FRAME, 1);
    assert_eq!((sounds.voices.readable_events.len(), sounds.voices.lost_events), (EVENTS_MAX, 10));
}
