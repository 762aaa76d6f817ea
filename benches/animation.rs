//! Animation benchmarks: sampling of clips, state machines, events, and the size of clips. The
//! clips are generated: every bone turns by a sum of waves and a little noise, like recorded
//! motion.
//!
//!     cargo bench -- animation
//!
//! Times are CPU time of one thread, the median over 60 frames after 20 frames of warm-up. Each
//! clip and each character has its own memory, so that the data is not in the cache by accident.

mod rigs;
mod world;

use crate::run::Run;
use crate::table::{Group, Row, median, named, row};
use engine::foundation::Vec3;
use engine::foundation::random::Random;
use engine::platform::ThreadClock;
use engine::system::animation::constraints::{
    ConstraintInput, ConstraintSet, ConstraintSetState, ConstraintTarget, ModelPose,
};
use engine::system::animation::{
    BlendSum, BoneTransform, ClipPlayer, ModelMatrix, PaletteEntry, PlayerPool, Pose,
    PoseEvaluator, RigData, SamplePlayers, StateMachine, StateMachineOutput, StateMachineState,
    compile_state_machine, model_matrices, palette,
};
use rigs::{BONES, CLIPS, Rig, SKELETONS, rigs};
use std::hint::black_box;

const WARM: usize = 20;
const FRAMES: usize = 60;
const CHARACTERS: usize = 1000;
const STEP: f32 = 1.0 / 60.0;

pub fn run(run: &mut Run) {
    run.part("clips", || Group {
        name: "animation clips",
        title: "one clip for each character, to the palette of its skin",
        workload: "1,000 characters of 60 bones, which play 50 clips on 10 skeletons, each at its \
                   own time: keys, sample, matrices, and 60 palette entries of 48 bytes. One \
                   skeleton after another; 'animation world' has the order of the engine.",
        rows: clips(),
    });
    run.part("machines", || Group {
        name: "animation machines",
        title: "characters with state machines",
        workload: "10 skeletons, 50 clips, two layers, a blend space of three clips, 20 % in a \
                   transition, 10 % aim, events of clips, root motion: update, poses, constraints, \
                   palettes. One skeleton after another, as for single clips.",
        rows: machines(),
    });
    run.part("calls", || Group {
        name: "animation calls",
        title: "events and variables of a state machine",
        workload: "1,000 characters in turn; natively, without the call from Lua.",
        rows: calls(),
    });
    run.part("world", || Group {
        name: "animation world",
        title: "characters with state machines in the world of a game",
        workload: "As above, but of glTF files, in World.update of a game without meshes, with \
                   variables and events from Lua. Levels of detail begin at 5 metres of a square \
                   of 32 metres; characters in the same state share a pose.",
        rows: world::worlds(),
    });
    run.part("lua", || Group {
        name: "animation lua",
        title: "events and variables from Lua",
        workload: "100 calls for each of 1,000 characters; the same loop without a call is \
                   subtracted. The calls allocate nothing, or the benchmark fails.",
        rows: world::calls(),
    });
    run.part("skeletons", || Group {
        name: "animation skeletons",
        title: "2D skeletons",
        workload: "The puppet of examples/puppet: 17 bones, a mesh of a grid, a state machine; one \
                   half walks, the other stands. World.update on one thread.",
        rows: world::skeletons(),
    });
    run.part("size", || Group {
        name: "animation size",
        title: "the size of compiled clips",
        workload: "The 50 clips, at the tolerance of 0.1 mm on a shell of 3 cm.",
        rows: sizes(),
    });
}

/// Returns the median of the CPU milliseconds that a frame takes.
fn measure(mut frame: impl FnMut()) -> f64 {
    let clock = ThreadClock::of_this_thread();
    let mut times = Vec::with_capacity(FRAMES);
    for step in 0..WARM + FRAMES {
        let before = clock.seconds();
        frame();
        if step >= WARM {
            times.push((clock.seconds() - before) * 1e3);
        }
    }
    median(times)
}

/// A character that plays one clip.
#[derive(Clone)]
struct Actor {
    rig: usize,
    clip: usize,
    time: f32,
    player: ClipPlayer,
    palette: Vec<PaletteEntry>,
}

fn actors(rigs: &[Rig], random: &mut Random) -> Vec<Actor> {
    let actor = |index: usize| {
        let (rig, clip) = (index % SKELETONS, index / SKELETONS % CLIPS);
        let player = ClipPlayer::new(&rigs[rig].clips[clip], &rigs[rig].skeleton);
        let time = random.range_i64(0, 1000) as f32 * 1e-3 * rigs[rig].clips[clip].seconds;
        Actor { rig, clip, time, player, palette: vec![PaletteEntry::default(); BONES] }
    };
    (0..CHARACTERS).map(actor).collect()
}

/// Returns the milliseconds for 1,000 characters of two clips each, blended, to model matrices.
fn blended(rigs: &[Rig], actors: &[Actor], random: &mut Random) -> f64 {
    let mut seconds: Vec<Actor> = actors
        .iter()
        .map(|first| {
            let (rig, clip) = (first.rig, (first.clip + 2) % CLIPS);
            let Rig { skeleton, clips, .. } = &rigs[rig];
            let time = random.range_i64(0, 1000) as f32 * 1e-3 * clips[clip].seconds;
            let player = ClipPlayer::new(&clips[clip], skeleton);
            Actor { rig, clip, time, player, palette: Vec::new() }
        })
        .collect();
    let mut firsts: Vec<Actor> = actors.to_vec();
    let mut all = vec![Vec::with_capacity(BONES); actors.len()];
    let (mut sum, mut pose) = (BlendSum::default(), Pose::default());
    measure(|| {
        for (index, matrices) in all.iter_mut().enumerate() {
            for players in [&firsts, &seconds] {
                if let Some(next) = players.get(index + 1) {
                    next.player.prefetch();
                }
            }
            sum.clear();
            for (actor, weight) in [(&mut firsts[index], 0.6), (&mut seconds[index], 0.4)] {
                let rig = &rigs[actor.rig];
                let clip = &rig.clips[actor.clip];
                actor.time = (actor.time + STEP) % clip.seconds;
                actor.player.seek(clip, actor.time);
                actor.player.sample(&rig.rest, &mut pose);
                sum.add(&pose, weight);
            }
            sum.finish(&mut pose);
            model_matrices(&rigs[firsts[index].rig].skeleton, &pose, matrices);
        }
        black_box(&all);
    })
}

fn clips() -> Vec<Row> {
    let rigs = rigs();
    let mut random = Random::seed(7);
    let mut actors = actors(&rigs, &mut random);
    // The engine evaluates the characters of a model one after another.
    actors.sort_by_key(|actor| actor.rig);
    let two = blended(&rigs, &actors, &mut random);
    let (mut pose, mut matrices) = (Pose::default(), Vec::with_capacity(BONES));
    let played = measure(|| {
        for index in 0..actors.len() {
            // As the engine does.
            if let Some(next) = actors.get(index + 1) {
                next.player.prefetch();
            }
            let actor = &mut actors[index];
            let rig = &rigs[actor.rig];
            let clip = &rig.clips[actor.clip];
            actor.time = (actor.time + STEP) % clip.seconds;
            actor.player.seek(clip, actor.time);
            actor.player.sample(&rig.rest, &mut pose);
            model_matrices(&rig.skeleton, &pose, &mut matrices);
            palette(&matrices, &rig.joints, &mut actor.palette);
        }
        black_box(&actors);
    });
    let sought = measure(|| {
        for actor in &mut actors {
            let clip = &rigs[actor.rig].clips[actor.clip];
            let time = random.range_i64(0, 1000) as f32 * 1e-3 * clip.seconds;
            actor.player.seek(clip, time);
        }
    });
    vec![
        row("1,000 characters", played, "ms", Some(0.6)),
        row("a bone", played * 1e6 / (CHARACTERS * BONES) as f64, "ns", Some(10.0)),
        row(
            "a jump to a random time, a character",
            sought * 1e3 / CHARACTERS as f64,
            "µs",
            Some(5.0),
        ),
        row("two clips, blended, to model matrices", two, "ms", None),
    ]
}

/// A character with a state machine.
struct Character {
    rig: usize,
    state: StateMachineState,
    output: StateMachineOutput,
    players: SamplePlayers,
    constraints: ConstraintSetState,
    target: Option<ConstraintTarget>,
    palette: Vec<PaletteEntry>,
}

/// A rig with its state machine.
struct Driven {
    rig: Rig,
    machine: StateMachine,
    masks: Vec<engine::system::animation::BoneMask>,
    constraints: ConstraintSet,
    pool: PlayerPool,
}

const MACHINE: &str = include_str!("animation/orc.state_machine");

fn driven(rig: Rig) -> Driven {
    let machine = compile_state_machine("benches/animation/orc.state_machine", MACHINE)
        .unwrap_or_else(|error| panic!("{}", error.message));
    let masks = machine.bind(&rig.skeleton).unwrap_or_else(|error| panic!("{}", error.message));
    let constraints = ConstraintSet::new(&rig.skeleton, machine.constraints())
        .unwrap_or_else(|error| panic!("{}", error.message));
    Driven { rig, machine, masks, constraints, pool: PlayerPool::default() }
}

fn crowd(all: &[Driven], count: usize) -> Vec<Character> {
    let character = |index: usize| {
        let rig = index % SKELETONS;
        let driven = &all[rig];
        let aims = index % 10 == 3;
        let position = Vec3::new(2.0, 5.0, 1.5);
        Character {
            rig,
            state: StateMachineState::new(&driven.machine, index as u32),
            output: StateMachineOutput::default(),
            players: SamplePlayers::default(),
            constraints: driven.constraints.new_state(),
            target: aims.then_some(ConstraintTarget { position, rotation: None }),
            palette: vec![PaletteEntry::default(); BONES],
        }
    };
    (0..count).map(character).collect()
}

/// Memory of the evaluation, shared by all characters.
#[derive(Default)]
struct Scratch {
    evaluator: PoseEvaluator,
    pose: Pose,
    matrices: Vec<ModelMatrix>,
    sent: Vec<engine::system::animation::SentEvent>,
}

fn step_character(it: &mut Character, driven: &mut Driven, scratch: &mut Scratch) {
    let Driven { rig, machine, masks, constraints, pool } = driven;
    let Scratch { evaluator, pose, matrices, sent } = scratch;
    it.state.update(machine, &rig.infos, STEP, sent, &mut it.output);
    sent.clear();
    let moved = it.output.samples.iter().map(|sample| {
        let clip = &rig.clips[usize::from(sample.clip)];
        clip.root_delta(sample.time - STEP, sample.time, 0)
    });
    moved.for_each(|delta| _ = black_box(delta));
    let clip = |index: u16| rig.clips.get(usize::from(index));
    let data = RigData { skeleton: &rig.skeleton, rest: &rig.rest, clip: &clip, masks };
    it.players.evaluate(&it.output, &data, pool, evaluator, pose);
    model_matrices(&rig.skeleton, pose, matrices);
    if it.target.is_some() {
        let mut model = ModelPose { skeleton: &rig.skeleton, pose, matrices };
        let input = ConstraintInput {
            world: BoneTransform::IDENTITY,
            seconds: STEP,
            weights: &it.output.constraints,
            targets: &[it.target],
            ground: &[],
        };
        constraints.apply(&mut model, &mut it.constraints, &input);
    }
    palette(matrices, &rig.joints, &mut it.palette);
}

/// Returns the milliseconds of a frame for a number of characters.
fn crowd_frame(count: usize) -> f64 {
    let mut all: Vec<Driven> = rigs().into_iter().map(driven).collect();
    let mut characters = crowd(&all, count);
    // As for single clips.
    characters.sort_by_key(|character| character.rig);
    let mut scratch = Scratch::default();
    let mut frame = 0_usize;
    let attack = all[0].machine.find_event("attack").expect("the machine has it");
    let speed = all[0].machine.find_variable("speed").expect("the machine has it");
    measure(|| {
        for index in 0..characters.len() {
            if let Some(next) = characters.get(index + 1) {
                next.players.prefetch();
            }
            if let Some(second) = characters.get(index + 2) {
                second.players.prefetch_list();
            }
            let it = &mut characters[index];
            let driven = &mut all[it.rig];
            let pace = 3.0 + 2.5 * ((index * 37 + frame) % 200) as f32 / 200.0;
            it.state.set_variable(&driven.machine, speed, pace);
            // A transition of 0.2 seconds each second: a fifth of the characters is in one.
            if (index + frame).is_multiple_of(60) {
                it.state.send_event(&driven.machine, attack, &mut scratch.sent);
            }
            step_character(it, driven, &mut scratch);
        }
        frame += 1;
        black_box(&characters);
    })
}

fn machines() -> Vec<Row> {
    let counts = [100, 1000, 10_000];
    let times = counts.map(crowd_frame);
    let mut rows = vec![row("1,000 characters", times[1], "ms", Some(2.0))];
    for (count, time) in counts.iter().zip(times) {
        let each = time * 1e3 / *count as f64;
        rows.push(named(format!("{count} characters: each"), each, "µs", None));
    }
    rows
}

/// A call for a character.
type Call = dyn FnMut(&mut Character, &Driven);

fn calls() -> Vec<Row> {
    let all: Vec<Driven> = rigs().into_iter().map(driven).collect();
    let mut characters = crowd(&all, CHARACTERS);
    let mut sent = Vec::new();
    let attack = all[0].machine.find_event("attack").expect("the machine has it");
    let speed = all[0].machine.find_variable("speed").expect("the machine has it");
    let mut per_call = |mut call: Box<Call>| {
        let time = measure(|| characters.iter_mut().for_each(|it| call(it, &all[it.rig])));
        time * 1e6 / CHARACTERS as f64
    };
    let variable = per_call(Box::new(move |it, driven| {
        it.state.set_variable(&driven.machine, speed, black_box(2.0));
    }));
    let event = per_call(Box::new(move |it, driven| {
        it.state.send_event(&driven.machine, attack, &mut sent);
        sent.clear();
    }));
    vec![row("an event", event, "ns", Some(35.0)), row("a variable", variable, "ns", Some(5.0))]
}

fn sizes() -> Vec<Row> {
    let rigs = rigs();
    let all = || rigs.iter().flat_map(|rig| &rig.clips);
    let bytes: usize = all().map(|clip| clip.write().len()).sum();
    let seconds: f32 = all().map(|clip| clip.seconds).sum();
    let rate = bytes as f64 / f64::from(seconds) / BONES as f64;
    let error = rigs.iter().map(|rig| rig.error).fold(0.0_f32, f32::max);
    vec![
        row("a bone and a second", rate, "bytes", Some(60.0)),
        row("the largest error", f64::from(error) * 1e3, "mm", Some(0.1)),
    ]
}
