//! Tests of the events of clips and of replaced state machines, of added clips, and of machines
//! after reloads.

use super::crowd_tests::Crowd;
use super::tests::{ONCE, Stage, roaming};
use super::*;
use engine_animation::{
    ClipEvent, ClipSettings, SourceClip, SourceInterpolation, SourceTrack, TrackProperty, compile,
    compile_state_machine,
};
use engine_foundation::log;

/// A clip of one second that moves the hip along x to `distance`, with events at these times.
fn marked(shared: &AnimatedModel, name: &str, distance: f32, times: &[f32]) -> NamedClip {
    let track = SourceTrack {
        bone: 0,
        property: TrackProperty::Position,
        interpolation: SourceInterpolation::Linear,
        times: vec![0.0, 1.0],
        values: vec![[0.0; 4], [distance, 0.0, 0.0, 0.0]],
    };
    let event = |time: &f32| {
        let (name, cue) = (format!("{name} {time}"), EventCue::default());
        ClipEvent { name, time: *time, cue, line: 0 }
    };
    let events = times.iter().map(event).collect();
    let settings = ClipSettings { looping: Some(true), events, ..ClipSettings::DEFAULT };
    let source = SourceClip { seconds: 1.0, tracks: vec![track] };
    let clip = compile(&source, &shared.skeleton, &settings).unwrap().clip;
    NamedClip::new(name, clip, ClipOrigin::Own)
}

/// A character with the clips `a` and `b`, which have events at 0.25 and 0.75 seconds.
fn stage() -> Stage {
    let mut shared = roaming();
    for (name, distance) in [("a", 1.0), ("b", 3.0)] {
        let clip = marked(&shared, name, distance, &[0.25, 0.75]);
        shared.clips.push(Arc::new(clip));
    }
    Stage::of(shared)
}

/// Returns the names of the events since the last call, with their layers.
fn events(stage: &mut Stage) -> Vec<String> {
    let (taken, _) = stage.animations.events.take(stage.world);
    taken.iter().map(|event| format!("{} on {}", event.origin.name(), event.layer)).collect()
}

const LOOP: PlayOptions = PlayOptions { loops: true, ..ONCE };

#[test]
fn clips_that_scripts_play_send_their_events_once() {
    let mut stage = stage();
    stage.play("a", LOOP).unwrap();
    for _ in 0..10 {
        stage.step(0.125);
    }
    assert_eq!(events(&mut stage), ["a 0.25 on 0", "a 0.75 on 0"], "1.25 s are not passed yet");
    stage.step(2.0);
    let sent = events(&mut stage);
    assert_eq!(sent.len(), 4, "{sent:?}");
    stage.play("b", PlayOptions { layer: 2, ..ONCE }).unwrap();
    stage.animations.of_mut(stage.unit.row()).unwrap().stop(Some(0), 0.0);
    (0..30).for_each(|_| stage.step(0.1));
    assert_eq!(events(&mut stage), ["b 0.25 on 2", "b 0.75 on 2"]);
}

#[test]
fn clips_that_fade_out_send_no_events() {
    let mut stage = stage();
    stage.play("a", LOOP).unwrap();
    stage.step(0.125);
    stage.play("b", PlayOptions { blend: 4.0, ..LOOP }).unwrap();
    stage.step(0.5);
    assert_eq!(events(&mut stage), ["b 0.25 on 0"]);
    // A clip that is added ends none below it, so that both send.
    let added = PlayOptions { adds: true, ..LOOP };
    stage.play("a", added).unwrap();
    stage.step(0.5);
    assert_eq!(events(&mut stage), ["b 0.75 on 0", "a 0.25 on 0"]);
    stage.animations.of_mut(stage.unit.row()).unwrap().stop(None, 4.0);
    stage.step(1.0);
    assert!(events(&mut stage).is_empty());
}

#[test]
fn parts_of_clips_send_the_events_inside() {
    let mut stage = stage();
    let part = PlayOptions { range: [0.5, 1.0], ..LOOP };
    let id = stage.play("a", part).unwrap();
    stage.step(0.375);
    assert_eq!(events(&mut stage), ["a 0.75 on 0"]);
    stage.step(1.0);
    assert_eq!(events(&mut stage), ["a 0.75 on 0"; 2]);
    stage.animations.of_mut(stage.unit.row()).unwrap().set_clip_speed(id, -1.0);
    stage.step(0.5);
    assert_eq!(events(&mut stage), ["a 0.75 on 0"]);
    // A jump passes nothing.
    stage.animations.of_mut(stage.unit.row()).unwrap().set_clip_time(id, 0.5);
    stage.step(0.0);
    assert!(events(&mut stage).is_empty());
}

#[test]
fn clips_can_be_added_to_those_below() {
    let mut stage = stage();
    stage.play("a", PlayOptions { speed: 0.0, range: [0.5, 0.5], ..ONCE }).unwrap();
    stage.step(0.1);
    assert!((stage.x(1) - 0.5).abs() < 1e-3);
    let added = PlayOptions { adds: true, speed: 0.0, range: [1.0, 1.0], ..ONCE };
    stage.play("b", added).unwrap();
    stage.step(0.1);
    stage.step(0.1);
    assert!((stage.x(1) - 3.5).abs() < 1e-3, "{}", stage.x(1));
    assert_eq!(stage.character().playing().len(), 2, "it replaces nothing");
    // The same on a higher layer, half of it.
    let half = PlayOptions { layer: 1, blend: 2.0, ..added };
    stage.play("a", half).unwrap();
    (0..10).for_each(|_| stage.step(0.1));
    assert!((stage.x(1) - 4.0).abs() < 1e-3, "{}", stage.x(1));
}

/// Binds a machine of one layer to the model of a character.
fn bind(stage: &Stage, number: usize, states: &str) -> Arc<BoundMachine> {
    let text = format!("skeleton = \"rig\" layers = [ {{ states = {{ {states} }} }} ]");
    let machine = compile_state_machine("rig.state_machine", &text).unwrap();
    let model = stage.character().model.clone();
    let clips = machine.clips().iter().map(|clip| model.position(&clip.name).unwrap()).collect();
    Arc::new(BoundMachine::new("rig", number, machine, (&model, clips)).unwrap())
}

const WALK: &str = "walk = { clip = \"a\" loop = true exit = [\"left\"] on = { go = \"run\" } }";

fn with_machine(states: &str) -> Stage {
    let mut stage = stage();
    let bound = bind(&stage, 0, states);
    let machine = CharacterMachine::new(bound, 1);
    stage.animations.of_mut(stage.unit.row()).unwrap().set_machine(Some(machine));
    stage
}

#[test]
fn events_of_replaced_machines_are_sent_by_the_next_update() {
    let run = "run = { clip = \"b\" enter = [\"begun\"] }";
    let mut stage = with_machine(&format!("{WALK} {run}"));
    stage.step(0.1);
    let row = stage.unit.row();
    let go = |stage: &mut Stage| {
        let machine = stage.animations.of_mut(row).unwrap().machine.as_mut().unwrap();
        assert!(machine.send_event(0));
    };
    go(&mut stage);
    let reloaded = bind(&stage, 1, "run = { clip = \"a\" loop = true }");
    stage.animations.of_mut(row).unwrap().reload_machine(&reloaded);
    stage.step(0.1);
    assert_eq!(events(&mut stage), ["left on 0", "begun on 0"]);
    let mut stage = with_machine(&format!("{WALK} {run}"));
    stage.step(0.1);
    go(&mut stage);
    stage.animations.of_mut(row).unwrap().set_machine(None);
    stage.step(0.1);
    stage.step(0.1);
    assert_eq!(events(&mut stage), ["left on 0", "begun on 0"], "once");
}

#[test]
fn reloaded_machines_forget_samples_of_their_previous_version() {
    let mut stage = with_machine("walk = { clip = \"a\" loop = true }");
    stage.step(0.1);
    let row = stage.unit.row();
    let samples = |stage: &Stage| {
        let machine = stage.character().machine.as_ref().unwrap();
        machine.output().samples.len()
    };
    assert_eq!(samples(&stage), 1);
    let reloaded = bind(&stage, 1, "walk = { empty = true }");
    stage.animations.of_mut(row).unwrap().reload_machine(&reloaded);
    assert_eq!(samples(&stage), 0, "tools look clips up in the new version");
}

#[test]
fn machines_that_do_not_fit_a_reloaded_model_have_no_ragdolls() {
    let mut stage = with_machine("fallen = { ragdoll = \"full\" }");
    stage.step(0.1);
    let ragdolls = |stage: &Stage| stage.character().machine.as_ref().unwrap().ragdolls().0.len();
    assert_eq!(ragdolls(&stage), 1);
    let nodes = vec![super::tests::node("hip", None)];
    let data = engine_models::data::ModelData { nodes, ..Default::default() };
    let model = Model { name: "rig".to_string(), data, meshes: vec![], materials: vec![] };
    let model = Arc::new(AnimatedModel::read(&model).unwrap());
    let nodes = bone_nodes(&model, &stage.units, stage.unit);
    stage.animations.of_mut(stage.unit.row()).unwrap().reload(&model, nodes);
    assert_eq!(ragdolls(&stage), 0);
}

#[test]
fn the_list_of_changed_characters_keeps_its_memory() {
    let mut stage = stage();
    stage.step(0.1);
    let mut sent = 0;
    stage.animations.take_changed(|_| sent += 1);
    assert_eq!((sent, stage.animations.changed.len()), (1, 0));
    assert!(stage.animations.changed.capacity() > 0);
}

#[test]
fn transitions_and_events_are_logged_on_request() {
    let mut crowd = Crowd::new(
        2,
        1,
        r#"
skeleton = "rig"
layers = [ { name = "logged" states = {
    sits = { clip = "a" on = { jot = "walks" } }
    walks = { clip = "b" enter = ["noted"] }
} } ]
"#,
    );
    let [unit, other] = [crowd.crowd[0], crowd.crowd[1]];
    let lines = |row: u32| {
        let of_unit = format!("animation of unit \"rig\" ({row}): ");
        let is_logged = |line: &&String| line.contains("logged") || line.contains("noted");
        let found = log::last_lines();
        let found = found.iter().filter(|line| line.contains(&of_unit) && line.contains('\''));
        found.filter(|it| is_logged(it) || it.contains("'jot'")).count()
    };
    let send = |crowd: &mut Crowd, unit: UnitId| {
        let machine = crowd.animations.of_mut(unit.row()).unwrap().machine.as_mut().unwrap();
        let is_taken = machine.send_event(0);
        crowd.animations.log_event(&crowd.units, unit, 0, is_taken);
        crowd.step(0.1);
    };
    crowd.animations.set_logging(&crowd.units, unit, true);
    assert_eq!(lines(unit.row()), 1, "the state in which it begins");
    send(&mut crowd, unit);
    // The event, the transition, and the event that the new state sends.
    assert_eq!(lines(unit.row()), 4);
    send(&mut crowd, other);
    assert_eq!(lines(other.row()), 0, "the log of another unit");
    send(&mut crowd, unit);
    assert_eq!(lines(unit.row()), 5, "an event without a transition");
    crowd.animations.set_logging(&crowd.units, unit, false);
    send(&mut crowd, unit);
    assert_eq!(lines(unit.row()), 5);
}

#[test]
fn skeletons_are_drawn_with_a_line_for_each_bone() {
    let machine = "skeleton = \"rig\" layers = [ { states = { a = { clip = \"a\" } } } ]";
    let mut crowd = Crowd::new(2, 1, machine);
    crowd.step(0.1);
    let Crowd { animations, units, crowd, .. } = &mut crowd;
    let world = units.of(crowd[0]).world;
    let mut lines = |animations: &Animations, room: usize| {
        let (lines, left_out) = animations.skeleton_lines(world, units, room);
        (lines.len(), left_out)
    };
    assert_eq!(lines(animations, 100), (0, 0));
    animations.skeletons.set(crowd[0], true);
    let bones = animations.of(crowd[0].row()).unwrap().model.skeleton.bone_count();
    assert_eq!((lines(animations, 100), bones), ((11, 0), 11));
    assert_eq!(lines(animations, 4), (4, 7));
    animations.skeletons.all = true;
    assert_eq!(lines(animations, 100), (22, 0));
    animations.skeletons.all = false;
    animations.skeletons.set(crowd[0], false);
    assert_eq!(lines(animations, 100), (0, 0));
}
