//! Tests that characters which play animations allocate no memory.

use super::allocator::{calls, watch};
use engine::app::{App, Game, GameLaunch};
use engine::engine::Worlds;
use engine::foundation::tasks::TaskPool;
use engine::foundation::{Quat, Vec3};
use engine::system::animation::{
    BoneTransform, Clip, ClipInfo, ClipSettings, PlayerPool, Pose, PoseEvaluator, RigData,
    SamplePlayers, Skeleton, SourceClip, SourceInterpolation, SourceTrack, StateMachineOutput,
    StateMachineState, TrackProperty, compile, compile_state_machine, model_matrices,
};
use engine::world::animation::AnimationStep;
use std::path::PathBuf;

const BONES: usize = 9;
/// Length of the animations in seconds, and of their chunks.
const SECONDS: f32 = 3.0;
const CHUNK_SECONDS: f32 = 0.5;
const MACHINE: &str = "skeleton = \"units/orc\" masks = { upper = { bone_2 = 1 } } layers = [
    { initial = \"walk\" states = {
        walk = { clip = \"walk\" on = { go = { to = \"run\" blend = 0.2 } } }
        run = { blend = [ { clip = \"run\" } { clip = \"walk\" } ]
            on = { go = { to = \"walk\" blend = 0.2 } } } } }
    { mask = \"upper\" states = { wave = { clip = \"wave\" } } } ]";

fn skeleton() -> Skeleton {
    let bone = |index: usize| {
        let parent = index.checked_sub(1).map(|parent| parent as u16);
        let rest = BoneTransform { position: Vec3::Z * 0.2, ..BoneTransform::IDENTITY };
        (format!("bone_{index}"), parent, rest)
    };
    Skeleton::new((0..BONES).map(bone).collect()).expect("the skeleton is valid")
}

/// Returns an animation in chunks: bones that turn all the time, and one that turns now and then,
/// which has keys at times of its own in some of the chunks.
fn clip(skeleton: &Skeleton, turns: f32) -> Clip {
    let track = |bone: u16| {
        let keys = if bone == 4 { 4 } else { (SECONDS * 30.0) as usize };
        let times: Vec<f32> = (0..=keys).map(|key| key as f32 * SECONDS / keys as f32).collect();
        let turn = |time: &f32| {
            let angle = (time / SECONDS * std::f32::consts::TAU * turns + f32::from(bone)).sin();
            let noise = (time * 917.0 + f32::from(bone) * 31.0).sin() * 0.002;
            Quat::from_rotation_x(angle * 0.5 + noise).to_array()
        };
        SourceTrack {
            bone,
            property: TrackProperty::Rotation,
            interpolation: SourceInterpolation::Linear,
            values: times.iter().map(turn).collect(),
            times,
        }
    };
    let source = SourceClip { seconds: SECONDS, tracks: (0..BONES as u16).map(track).collect() };
    let settings = ClipSettings {
        chunk_seconds: Some(CHUNK_SECONDS),
        looping: Some(true),
        ..ClipSettings::DEFAULT
    };
    let clip = compile(&source, skeleton, &settings).expect("the animation is valid").clip;
    assert!(clip.chunks().is_some_and(|chunks| chunks.count() > 4));
    clip
}

#[test]
fn characters_with_streamed_animations_do_not_allocate() {
    let skeleton = skeleton();
    let clips = [1.0, 2.0, 3.0].map(|turns| clip(&skeleton, turns));
    let machine = compile_state_machine("orc.state_machine", MACHINE).expect("it is valid");
    let masks = machine.bind(&skeleton).expect("the bones exist");
    let info = ClipInfo { seconds: SECONDS, loops: true, ..ClipInfo::default() };
    let infos = [(); 3].map(|()| info.clone());
    let rest = Pose::rest(&skeleton);
    let rig = RigData {
        skeleton: &skeleton,
        rest: &rest,
        clip: &|index| clips.get(usize::from(index)),
        masks: &masks,
    };
    let event = machine.find_event("go").expect("the machine has it");
    let mut states: Vec<_> = (0..4).map(|seed| StateMachineState::new(&machine, seed)).collect();
    let mut players = [(); 4].map(|()| SamplePlayers::default());
    let (mut pool, mut evaluator) = (PlayerPool::default(), PoseEvaluator::default());
    let (mut output, mut sent) = (StateMachineOutput::default(), Vec::new());
    let (mut pose, mut matrices) = (Pose::default(), Vec::new());
    let mut frame = 0_usize;
    let mut play = |frames: u32| {
        for _ in 0..frames {
            frame += 1;
            for (index, (state, players)) in states.iter_mut().zip(&mut players).enumerate() {
                if (frame + index * 17).is_multiple_of(50) {
                    state.send_event(&machine, event, &mut sent);
                }
                state.update(&machine, &infos, 1.0 / 60.0, &mut sent, &mut output);
                sent.clear();
                players.evaluate(&output, &rig, &mut pool, &mut evaluator, &mut pose);
                model_matrices(&skeleton, &pose, &mut matrices);
            }
        }
    };
    play(1200);
    watch(true);
    play(600);
    watch(false);
    assert_eq!(calls().allocations, 0, "allocations in 600 frames");
}

/// A game whose characters walk and nod all the time. In each frame, the script sends each of them
/// an event and sets a variable; after some frames, a hundred times.
const GAME: &[(&str, &str)] = &[
    (
        "main.lua",
        "local units, speed, bow, frame = {}, 0, 0, 0
        function init()
            local world = Application.main_world()
            for i = 1, 40 do
                units[i] = World.spawn_unit(world, 'units/column', Vector3(i, 0, 0))
            end
            speed = Unit.animation_find_variable(units[1], 'speed')
            bow = Unit.animation_find_event(units[1], 'bow')
        end
        function update(dt)
            frame = frame + 1
            for call = 1, frame > MANY_FROM and 100 or 1 do
                for i = 1, #units do
                    Unit.animation_set_variable(units[i], speed, 1 + (call + i) % 8 / 8)
                    Unit.animation_event(units[i], bow)
                end
            end
            World.update(Application.main_world(), dt)
        end",
    ),
    (
        "units/column.unit",
        "model = \"models/column\" components = {
            animation = { state_machine = \"units/column\" } }",
    ),
    (
        "units/column.state_machine",
        "skeleton = \"models/column\" variables = { speed = { value = 1 min = 0 max = 2 } }
        layers = [
            { any = { bow = { to = \"bow\" blend = 0.2 to_self = true } } states = {
                bow = { clip = \"Bow\" loop = false on_end = { to = \"rest\" blend = 0.2 } }
                rest = { clip = \"Bow\" speed = 0.5 loop = false
                    events = [ { name = \"half_way\" at = 0.5 } ]
                    on_end = { to = \"bow\" blend = 0.3 } } } }
            { states = { nod = { clip = \"Nod\" } } } ]",
    ),
];

/// Frame after which the script makes a hundred times as many calls.
const MANY_FROM: u32 = 90;

/// Starts the game in a folder of a test. Returns it, and the folder.
fn start(test: &str) -> (App, PathBuf) {
    let folder = std::env::temp_dir().join(format!("engine-{test}-{}", std::process::id()));
    for (path, text) in GAME {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("created");
        let text = text.replace("MANY_FROM", &MANY_FROM.to_string());
        std::fs::write(path, text).expect("written");
    }
    std::fs::create_dir_all(folder.join("models")).expect("created");
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lua/models/column.gltf");
    std::fs::copy(model, folder.join("models/column.gltf")).expect("copied");
    let game = GameLaunch::headless(Game::Folder(folder.clone()));
    let mut app = App::open(GameLaunch { seed: 1, threads: Some(1), ..game })
        .unwrap_or_else(|error| panic!("{error}"));
    app.start().unwrap_or_else(|report| panic!("{report}"));
    (app, folder)
}

#[test]
fn events_and_variables_from_scripts_do_not_allocate() {
    let (mut app, folder) = start("animation-calls");
    let mut allocations = |frames: u32| {
        let before = calls().allocations;
        watch(true);
        for _ in 0..frames {
            app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
            app.end_frame();
        }
        watch(false);
        calls().allocations - before
    };
    allocations(60);
    // Of 2,400 calls, and of 240,000: what a frame allocates does not depend on their number.
    let [few, many] = [(); 2].map(|()| allocations(30));
    assert!(many < few + 2400, "{few} allocations, and {many} with more calls");
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn the_update_of_characters_does_not_allocate() {
    let (mut app, folder) = start("characters");
    let worlds = &mut app.vm().engine().worlds;
    let world = worlds.main.expect("the script has requested it");
    assert_eq!(worlds.animations.count(), 40);
    let pool = TaskPool::new(Some(1));
    let update = |worlds: &mut Worlds, frames: u32| {
        for _ in 0..frames {
            let step = AnimationStep { world, seconds: 1.0 / 60.0, viewers: &[], waits: true };
            let Worlds { animations, units, physics, .. } = &mut *worlds;
            animations.update(step, units, physics, &pool).expect("there are threads");
            animations.take_changed(|_| {});
        }
    };
    update(worlds, 1200);
    // As a script does that takes the events: the queue keeps its memory.
    let (events, dropped) = worlds.animations.events.take(world);
    assert!(events.len() > 40 && dropped == 0, "{} events", events.len());
    let before = calls().allocations;
    watch(true);
    update(worlds, 600);
    watch(false);
    assert_eq!(calls().allocations - before, 0, "allocations in 600 frames");
    std::fs::remove_dir_all(&folder).expect("removed");
}
