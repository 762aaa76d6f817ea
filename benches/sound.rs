//! Sound benchmarks: parameters through curves, compared with a fixed table for each voice;
//! parameters set from Lua; triggers; mixing; the latency from a trigger to audible sound.
//!
//!     cargo bench -- sound

#[path = "../tests/sound/game.rs"]
#[expect(dead_code, reason = "others that share it use the rest")]
mod game;

use crate::run::{Run, launch, start};
use crate::table::{Group, median, named, row};
use engine::foundation::hash::IdString32;
use engine::platform::ThreadClock;
use engine::system::sound::SoundSystem;
use engine::system::sound::curve::{self, Easing};
use engine::system::sound::device::{BATCH_FRAMES, DeviceSetup, SAMPLE_RATE, SampleSink};
use engine::system::sound::mixer::MixerData;
use engine::system::sound::parameters::{
    PARAMETERS_MAX, ParameterList, ParameterTable, ParameterWrite,
};
use engine::system::sound::voices::{TriggerDesc, VOICES_MAX};
use game::{FRAME, Game, number, offline_system, sound_system, tone};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const VOICES: usize = 512;
const PARAMETERS: usize = 10;
const ROUNDS: usize = 200;

pub fn run(run: &mut Run) {
    run.part("curves", evaluation);
    run.part("parameters", parameters);
    run.part("scripts", scripts);
    run.part("mixing", mixing);
    run.part("latency", latency);
}

/// Returns the milliseconds of this thread's CPU time that `f` takes, the median of many runs.
fn milliseconds(mut f: impl FnMut()) -> f64 {
    let clock = ThreadClock::of_this_thread();
    let one = |f: &mut dyn FnMut()| {
        let before = clock.seconds();
        f();
        (clock.seconds() - before) * 1e3
    };
    for _ in 0..ROUNDS / 10 {
        one(&mut f);
    }
    median((0..ROUNDS).map(|_| one(&mut f)).collect())
}

/// Returns a sound that reads ten parameters, each through a curve of three points.
fn rules() -> String {
    let targets = ["volume_db", "pan"];
    let curves: String = (0..PARAMETERS)
        .map(|i| {
            let target = targets[i % 2];
            format!(
                "{{ parameter = \"p{i}\", target = \"{target}\", points = [[0, -1], [5, 0.5], \
                 [10, 1]] }} "
            )
        })
        .collect();
    format!("play = \"tone\" loop = true curves = [{curves}]")
}

/// Starts `count` voices with ten parameters each.
fn voices(
    game: &mut Game,
    sounds: &mut SoundSystem,
    world: engine::foundation::Handle,
    count: usize,
) {
    for voice in 0..count {
        let parameters: Vec<_> = (0..PARAMETERS)
            .map(|i| number(&format!("p{i}"), ((voice * 7 + i * 3) % 100) as f32 / 10.0))
            .collect();
        let trigger = TriggerDesc { parameters: &parameters, ..TriggerDesc::new("s", world) };
        let started = sounds.trigger(&mut game.store, &trigger);
        started.expect("the sound is right").expect("nothing refuses it");
    }
}

fn sample_game() -> Game {
    let rules = rules();
    let files: &[(&str, &[u8])] = &[("s.sound", rules.as_bytes()), ("tone.wav", &tone(440.0, 1.0))];
    let game = Game::new("bench", files);
    assert!(game.problems.is_empty(), "{:?}", game.problems);
    game
}

fn evaluation() -> Group {
    let mut game = sample_game();
    let (mut sounds, world) = sound_system(MixerData::standard(), 64, None);
    voices(&mut game, &mut sounds, world, VOICES);
    let evaluate = milliseconds(|| sounds.voices.evaluate());
    let step = milliseconds(|| sounds.step(FRAME, 1));
    let triggers = milliseconds(|| {
        for _ in 0..10_000 {
            let trigger = TriggerDesc::new("tone", world);
            sounds.trigger(&mut game.store, &trigger).expect("the sound is right");
        }
        sounds.step(FRAME, 1);
    });
    Group {
        name: "evaluate",
        title: "parameters through curves to volume, pitch, filter and side",
        workload: "512 voices of a sound with 10 curves of 3 points, each with its own parameter; \
                   the null device; 64 recordings mixed at most. The flood is 10,000 triggers of a \
                   recording of one second in one frame, of which 1,024 play.",
        rows: vec![
            row("evaluate all voices", evaluate, "ms", Some(0.15)),
            row("the whole step of a frame", step, "ms", None),
            row("10,000 triggers in a frame, and its step", triggers, "ms", None),
        ],
    }
}

/// A fixed table of 32 parameter slots for every sound, used or not, for comparison.
struct FixedTable {
    keys: [u32; 32],
    values: [u32; 32],
}

fn parameters() -> Group {
    let keys: Vec<IdString32> =
        (0..PARAMETERS).map(|i| IdString32::new(&format!("p{i}"))).collect();
    let mut list = ParameterTable::new(VOICES * PARAMETERS, false);
    let mut heads = vec![ParameterList::EMPTY; VOICES];
    let mut fixed: Vec<FixedTable> = Vec::new();
    for (voice, head) in heads.iter_mut().enumerate() {
        let mut table = FixedTable { keys: [0; 32], values: [0; 32] };
        for (i, key) in keys.iter().enumerate() {
            let value = ((voice * 7 + i * 3) % 100) as f32 / 10.0;
            list.set(head, *key, ParameterWrite::Number(value)).expect("there is room");
            (table.keys[i], table.values[i]) = (key.0, value.to_bits());
        }
        fixed.push(table);
    }
    let points = [(0.0, -1.0), (5.0, 0.5), (10.0, 1.0)];
    let curves = |bits: &dyn Fn(IdString32) -> Option<u32>| {
        let one = |key: &IdString32| {
            let x = f32::from_bits(bits(*key).expect("it was set"));
            curve::value(&points, Easing::Linear, x)
        };
        keys.iter().map(one).sum::<f32>()
    };
    let by_list = milliseconds(|| {
        for head in &heads {
            std::hint::black_box(curves(&|key| list.bits(*head, key)));
        }
    });
    let by_table = milliseconds(|| {
        for table in &fixed {
            std::hint::black_box(curves(&|key| {
                let at = table.keys.iter().position(|known| *known == key.0)?;
                Some(table.values[at])
            }));
        }
    });
    let list_bytes = (list.bytes() + size_of_val(&heads[..])) as f64 / 1024.0;
    let table_bytes = size_of_val(&fixed[..]) as f64 / 1024.0;
    let mut set = milliseconds(|| {
        for (i, head) in heads.iter_mut().enumerate() {
            for key in &keys {
                let set = list.set(head, *key, ParameterWrite::Number(i as f32));
                set.expect("they are there");
            }
        }
    });
    set *= 10_000.0 / (VOICES * PARAMETERS) as f64;
    let exact = (12 * VOICES * PARAMETERS + 4 * VOICES) as f64 / 1024.0;
    Group {
        name: "parameters",
        title: "nodes in one array against 32 fixed slots for each sound",
        workload: "512 sounds with 10 parameters each; every parameter looked up once and put \
                   through a curve of 3 points. Memory of an array of just that limit, heads \
                   included.",
        rows: vec![
            row("lists of nodes: look up and evaluate", by_list, "ms", None),
            row("fixed tables: the same", by_table, "ms", None),
            row("lists of nodes: memory", list_bytes, "KiB", Some(exact)),
            row("fixed tables: memory", table_bytes, "KiB", None),
            named(
                format!("the engine's array of {PARAMETERS_MAX}, and {VOICES_MAX} heads"),
                (PARAMETERS_MAX * 12 + VOICES_MAX * 4) as f64 / 1024.0,
                "KiB",
                None,
            ),
            row("10,000 parameters set, from Rust", set, "ms", None),
        ],
    }
}

const MAIN: &str = "
local world, voices, names, set = nil, {}, {}, Sound.set_parameter
for p = 0, 9 do names[p] = 'p' .. p end
function init()
  world = Application.new_world()
  for i = 1, 512 do
    local parameters = {}
    for p = 0, 9 do parameters['p' .. p] = p end
    voices[i] = Sound.trigger(world, 's', { parameters = parameters })
  end
end
function update()
  local turn = Application.frame_index() % 3
  if turn == 0 then
    for i = 1, 10000 do
      set(voices[i % 512 + 1], 'p3', i % 10)
    end
  elseif turn == 1 then
    for i = 1, 10000 do
      set(voices[i % 512 + 1], names[i % 10], i % 10)
    end
  end
end
";

fn scripts() -> Group {
    let game = sample_game();
    game.save("main.lua", MAIN.as_bytes());
    let mut app = start(launch(&game.root));
    let clock = ThreadClock::of_this_thread();
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 1..=3 * ROUNDS {
        let before = clock.seconds();
        app.frame(FRAME).unwrap_or_else(|report| panic!("{report}"));
        let frame = app.vm().engine().frame.index as usize;
        times[frame % 3].push((clock.seconds() - before) * 1e3);
    }
    let [one, each, without] = times.map(median);
    Group {
        name: "scripts",
        title: "parameters set from Lua",
        workload: "10,000 calls of Sound.set_parameter with a number, over 512 voices of 10 \
                   parameters, in a frame of three: all of the same parameter, or of each in turn; \
                   the frames without them are subtracted. Development: every name and type is \
                   checked.",
        rows: vec![
            row("10,000 Sound.set_parameter", one - without, "ms", Some(0.3)),
            row("the same, each parameter in turn", each - without, "ms", None),
            row("the frame without them", without, "ms", None),
        ],
    }
}

fn mixing() -> Group {
    let mut rows = Vec::new();
    for (name, count, cutoff, target) in [
        ("128 voices with filters", 128, true, Some(25.0)),
        ("128 voices without", 128, false, None),
        ("512 voices with filters", 512, true, None),
    ] {
        let filter = "{ parameter = \"p0\", target = \"cutoff_hz\", points = [[0, 2000]] }";
        let more = if cutoff { filter } else { "" };
        let text = rules().replace("curves = [", &format!("pitch_random = 0.3 curves = [{more}"));
        let files: &[(&str, &[u8])] =
            &[("s.sound", text.as_bytes()), ("tone.wav", &tone(440.0, 1.0))];
        let mut game = Game::new("bench-mixing", files);
        assert!(game.problems.is_empty(), "{:?}", game.problems);
        let (mut sounds, world) = offline_system(MixerData::standard(), 512);
        voices(&mut game, &mut sounds, world, count);
        let mut samples = vec![0.0; SAMPLE_RATE as usize / 60 * 2];
        let mut percent = Vec::new();
        let clock = ThreadClock::of_this_thread();
        for _ in 0..ROUNDS / 2 {
            sounds.step(FRAME, 1);
            let before = clock.seconds();
            sounds.pull(&mut samples);
            percent.push((clock.seconds() - before) / FRAME * 100.0);
        }
        rows.push(row(name, median(percent), "%", target));
    }
    Group {
        name: "mixing",
        title: "the audio thread, as a part of one core",
        workload: "Loops of one second at 48,000 Hz, each at another pitch (so that every sample \
                   is interpolated), on one bus without effects.",
        rows,
    }
}

/// A sink that notes when the first audible sample arrives.
struct FirstSampleSink {
    began: Instant,
    heard: Arc<AtomicU64>,
}

impl SampleSink for FirstSampleSink {
    fn write(&mut self, samples: &[f32]) -> Result<(), String> {
        if samples.iter().any(|sample| sample.abs() > 0.001) {
            let now = self.began.elapsed().as_micros() as u64;
            let _ = self.heard.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        }
        let seconds = BATCH_FRAMES as f64 / f64::from(SAMPLE_RATE);
        std::thread::sleep(Duration::from_secs_f64(seconds));
        Ok(())
    }
}

fn latency() -> Group {
    let mut game = sample_game();
    let mut times = Vec::new();
    for _ in 0..20 {
        let (began, heard) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let mut sink = Some(FirstSampleSink { began, heard: heard.clone() });
        let open = move || {
            let sink = sink.take().ok_or_else(|| "it was lost".to_string())?;
            Ok(Box::new(sink) as Box<dyn SampleSink>)
        };
        let (mut sounds, world) =
            sound_system(MixerData::standard(), 8, Some(DeviceSetup::Live(Box::new(open))));
        sounds.preload(&mut game.store, "tone").expect("it is there");
        std::thread::sleep(Duration::from_millis(80));
        let triggered = began.elapsed().as_micros() as u64;
        let trigger = TriggerDesc::new("tone", world);
        sounds.trigger(&mut game.store, &trigger).expect("it is there");
        sounds.step(FRAME, 1);
        while heard.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_micros(200));
        }
        times.push((heard.load(Ordering::Relaxed).saturating_sub(triggered)) as f64 / 1e3);
    }
    let most = times.iter().copied().fold(0.0, f64::max);
    Group {
        name: "latency",
        title: "from a trigger to the device's first sample",
        workload: "A device that takes 256 samples at once and sleeps as long as they last; the \
                   recording is loaded. On top of it: what is left of the game's frame, and the 40 \
                   ms that wait in ALSA.",
        rows: vec![
            row("median of 20", median(times), "ms", None),
            row("the longest", most, "ms", None),
        ],
    }
}
