//! Tests of poses without jumps with feet on stairs, root motion and ragdolls. The joints are those
//! in the world.

use super::crowd_tests::{Crowd, Joints, MACHINE, swing};
use super::root_motion::RootMode;
use super::*;
use engine_animation::{
    ClipSettings, RootMotion, SourceClip, SourceInterpolation, SourceTrack, TrackProperty, compile,
};
use engine_foundation::{Quat, Vec3};
use engine_models::data::AnimationChannel;

const STEP: f32 = 1.0 / 60.0;
/// Transitions of each test.
const TRANSITIONS: usize = 10_000;
/// Largest acceleration in metres per second squared. A foot begins to follow the ground with
/// 20 m/s², and the knee of a straight leg then moves with more than 2 m/s at once.
const FEET_MAX: f32 = 300.0;
/// With animations that bend knees to both sides and twist them, so that they turn over.
const KNEES_MAX: f32 = 500.0;
const ROOT_MAX: f32 = 100.0;
/// In the frame in which bodies take over from the animation.
const FALL_MAX: f32 = 20.0;
/// In the three frames after it, in which the ground slows bodies that overlap it.
const LAND_MAX: f32 = 300.0;
/// While the animation takes over from bodies, whose last movement ends at once.
const RISE_MAX: f32 = 250.0;
/// The same for ragdolls of single limbs.
const LIMB_LAND_MAX: f32 = 180.0;
const LIMB_RISE_MAX: f32 = 140.0;

fn pose_of(crowd: &Crowd) -> NodePose {
    crowd.units.scene.local(crowd.crowd[0].row(), 0)
}

fn note(crowd: &Crowd, joints: &mut Joints) {
    let character = crowd.animations.of(crowd.crowd[0].row()).unwrap();
    joints.note_in(character, &pose_of(crowd));
}

fn send(crowd: &mut Crowd, event: usize) -> bool {
    let character = crowd.animations.of_mut(crowd.crowd[0].row()).unwrap();
    character.machine.as_mut().unwrap().send_event(event as u16)
}

/// Plays random transitions of the first character. Calls `before` before each step. Returns the
/// largest acceleration.
fn play(crowd: &mut Crowd, mut before: impl FnMut(&mut Crowd, usize)) -> f32 {
    let mut joints = Joints::default();
    let (mut taken, mut until, mut frame) = (0, 0, 0);
    while taken < TRANSITIONS {
        if until == 0 {
            let event = (crowd.random() * 2.999) as usize;
            taken += usize::from(send(crowd, event));
            until = 4 + (crowd.random() * 40.0) as u32;
        }
        until -= 1;
        before(crowd, frame);
        crowd.step(STEP);
        note(crowd, &mut joints);
        frame += 1;
    }
    joints.most
}

/// Lets the knees bend to one side alone, as those of people do.
pub(super) fn bend(model: &mut AnimatedModel) {
    for (name, axis, angle) in CLIPS {
        let mut tracks = tracks_of(name, axis, angle);
        for track in tracks.iter_mut().filter(|track| [2, 5].contains(&track.bone)) {
            let phase = |time: f32| time * std::f32::consts::PI + f32::from(track.bone);
            let turn =
                |time: &f32| Quat::from_rotation_x(-0.2 - angle * (1.0 + phase(*time).sin()));
            track.values = track.times.iter().map(|time| turn(time).to_array()).collect();
        }
        set_clip(model, name, tracks, RootMotion::None);
    }
}

#[test]
fn joints_do_not_jump_with_feet_on_stairs() {
    check_feet(Some(&bend), FEET_MAX);
}

#[test]
fn joints_do_not_jump_with_knees_that_turn_over() {
    check_feet(None, KNEES_MAX);
}

fn check_feet(change: Option<&dyn Fn(&mut AnimatedModel)>, limit: f32) {
    let mut crowd = Crowd::of(1, 1, &MACHINE.replace("FEET", "[\"feet\"]"), change);
    let row = crowd.crowd[0].row();
    let mut lifted = 0;
    let most = play(&mut crowd, |crowd, frame| {
        // Along the stairs and back, by up to 0.8 m/s.
        let y = 10.0 + 8.0 * (frame as f32 * STEP * 0.1).sin();
        crowd.units.scene.set_local_position(row, 0, Vec3::new(0.0, y, 0.0));
        let mut numbers = Vec::new();
        let character = crowd.animations.of(row).unwrap();
        character.machine.as_ref().unwrap().constraints.save(&mut numbers);
        lifted += usize::from(numbers.iter().any(|number| number.abs() > 0.05));
    });
    assert!(lifted > 10_000, "the feet follow the stairs in {lifted} frames");
    assert!(most < limit, "{most} m/s²");
}

/// Names, axes and angles of the animations.
const CLIPS: [(&str, Vec3, f32); 4] =
    [("a", Vec3::X, 0.3), ("b", Vec3::X, 0.8), ("c", Vec3::Z, 0.5), ("d", Vec3::Y, 0.2)];

fn tracks_of(name: &str, axis: Vec3, angle: f32) -> Vec<SourceTrack> {
    let data = swing(name, axis, angle);
    let track = |channel: &AnimationChannel| SourceTrack {
        bone: channel.node as u16,
        property: TrackProperty::Rotation,
        interpolation: SourceInterpolation::Linear,
        times: channel.times.clone(),
        values: channel.values.chunks_exact(4).map(|it| it.try_into().unwrap()).collect(),
    };
    data.channels.iter().map(track).collect()
}

fn set_clip(
    model: &mut AnimatedModel,
    name: &str,
    tracks: Vec<SourceTrack>,
    root_motion: RootMotion,
) {
    let settings = ClipSettings { looping: Some(true), root_motion, ..ClipSettings::DEFAULT };
    let source = SourceClip { seconds: 2.0, tracks };
    let clip = compile(&source, &model.skeleton, &settings).unwrap().clip;
    let index = usize::from(model.position(name).unwrap());
    model.clips[index] = Arc::new(NamedClip::new(name, clip, ClipOrigin::Own));
}

/// Gives the animations root motion along y, with turns.
fn roam(model: &mut AnimatedModel) {
    let motions = [(0.0, 0.0), (2.0, 0.2), (1.0, -0.6), (-0.5, 0.0)];
    for ((name, axis, angle), (speed, turn)) in CLIPS.into_iter().zip(motions) {
        let mut tracks = tracks_of(name, axis, angle);
        let times = tracks[0].times.clone();
        // The pelvis walks on a circle, and sways by 2 cm.
        let turned = |time: f32| Quat::from_rotation_z(turn * time);
        let position = |time: &f32| {
            let radius = Vec3::X * if turn == 0.0 { 0.0 } else { speed / turn };
            let way = match turn == 0.0 {
                true => Vec3::Y * speed * *time,
                false => turned(*time) * radius - radius,
            };
            let sway = Vec3::X * 0.02 * (time * std::f32::consts::TAU).sin();
            (way + sway + Vec3::Z).extend(0.0).to_array()
        };
        let mut track = |property, values| {
            let (bone, interpolation) = (0, SourceInterpolation::Linear);
            tracks.push(SourceTrack {
                bone,
                property,
                interpolation,
                times: times.clone(),
                values,
            });
        };
        track(TrackProperty::Position, times.iter().map(position).collect());
        let turns = times.iter().map(|time| turned(*time).to_array()).collect();
        track(TrackProperty::Rotation, turns);
        set_clip(model, name, tracks, RootMotion::XyYaw);
    }
}

#[test]
fn joints_do_not_jump_with_root_motion() {
    let machine = MACHINE.replace("FEET", "[\"look\"]");
    let mut crowd = Crowd::of(1, 1, &machine, Some(&roam));
    let row = crowd.crowd[0].row();
    crowd.animations.of_mut(row).unwrap().root_mode = RootMode::PositionAndRotation;
    let mut way = 0.0;
    let mut last = pose_of(&crowd).position;
    let most = play(&mut crowd, |crowd, frame| {
        let position = pose_of(crowd).position;
        way += position.distance(last);
        last = position;
        if frame == 0 {
            // The target would stay behind.
            let machine = crowd.animations.of_mut(row).unwrap().machine.as_mut().unwrap();
            machine.constraints.set_target(0, None);
        }
    });
    assert!(way > 1000.0, "the unit walks {way} m");
    assert!(most < ROOT_MAX, "{most} m/s²");
}

const FALLING: &str = r#"
skeleton = "rig"
variables = { speed = { value = 2 min = 0 max = 4 } }
layers = [ { states = {
    move = {
        blend = [
            { clip = "a" weight = "match(speed, 0)" }
            { clip = "b" weight = "match(speed, 4)" }
        ]
        on = { die = { to = "fallen" blend = 0 } }
    }
    fallen = { ragdoll = "full" on = { up = { to = "rise" blend = 0.5 } } }
    rise = { clip = "d" on = { go = { to = "move" blend = 0.4 } } }
} } ]
"#;

/// Returns the largest accelerations while the character walks, in the frame in which its ragdoll
/// begins, in the next three frames, and while the animation takes over again. `is_full`: all of
/// its bones are bodies then.
fn fall_and_rise(machine: &str, rounds: usize, is_full: bool) -> [f32; 4] {
    let mut crowd = Crowd::new(1, 1, machine);
    let (row, world) = (crowd.crowd[0].row(), crowd.world);
    let physics = crowd.bodies.of_world(world).unwrap();
    let mut frame = 0;
    // Returns the largest acceleration within a number of frames.
    let mut step = |crowd: &mut Crowd, joints: &mut Joints, frames: u32| {
        joints.most = 0.0;
        for _ in 0..frames {
            crowd.bodies.update(physics, &mut crowd.units, f64::from(STEP)).unwrap();
            crowd.animations.read_ragdolls(world, &crowd.units, &crowd.bodies);
            crowd.step(STEP);
            let Crowd { animations, units, bodies, .. } = crowd;
            animations.update_ragdolls(world, units, bodies, frame);
            frame += 1;
            note(crowd, joints);
        }
        joints.most
    };
    let [mut calm, mut fall, mut land, mut rise] = [0.0_f32; 4];
    for _ in 0..rounds {
        // Back to the middle of the stairs.
        crowd.units.scene.set_local_position(row, 0, Vec3::new(0.0, 10.0, 0.2));
        let mut joints = Joints::default();
        let [pause, lying] = [0; 2].map(|_| (crowd.random() * 60.0) as u32);
        calm = calm.max(step(&mut crowd, &mut joints, 40 + pause));
        assert!(send(&mut crowd, 0), "it falls");
        fall = fall.max(step(&mut crowd, &mut joints, 1));
        land = land.max(step(&mut crowd, &mut joints, 3));
        let ragdoll = crowd.animations.of(row).unwrap().ragdoll.as_ref().expect("a ragdoll");
        assert!(ragdoll.is_active() && ragdoll.is_full() == is_full, "bodies move the bones");
        step(&mut crowd, &mut joints, 147 + lying);
        assert!(pose_of(&crowd).position.z > -1.0, "it lies on the stairs");
        assert!(send(&mut crowd, 1), "it rises");
        rise = rise.max(step(&mut crowd, &mut joints, 36));
        assert!(send(&mut crowd, 2), "it walks");
    }
    [calm, fall, land, rise]
}

#[test]
fn joints_do_not_jump_when_ragdolls_begin_and_end() {
    let [calm, fall, land, rise] = fall_and_rise(FALLING, 300, true);
    assert!(calm > 10.0 && calm < ROOT_MAX, "{calm} m/s² while it walks");
    assert!(fall < FALL_MAX, "{fall} m/s² at the start");
    assert!(land < LAND_MAX, "{land} m/s² in the next three frames");
    assert!(rise < RISE_MAX, "{rise} m/s² at the end");
}

const LIMP: &str = r#"
skeleton = "rig"
variables = { speed = { value = 2 min = 0 max = 4 } }
masks = { limp = { MASK } }
layers = [
    { states = {
        move = { blend = [
            { clip = "a" weight = "match(speed, 0)" }
            { clip = "b" weight = "match(speed, 4)" }
        ] }
    } }
    { states = {
        firm = { empty = true on = { die = { to = "limp" blend = 0 } } }
        limp = { ragdoll = { mask = "limp" } on = { up = { to = "firmer" blend = 0.5 } } }
        firmer = { empty = true on = { go = { to = "firm" blend = 0.4 } } }
    } }
]
"#;

#[test]
fn joints_do_not_jump_when_some_bones_are_a_ragdoll() {
    for mask in ["left_thigh = 1", "head = 1 tail_1 = 1"] {
        let [calm, fall, land, rise] = fall_and_rise(&LIMP.replace("MASK", mask), 100, false);
        assert!(calm > 10.0 && calm < ROOT_MAX, "{mask}: {calm} m/s² while it walks");
        assert!(fall < FALL_MAX, "{mask}: {fall} m/s² at the start");
        assert!(land < LIMB_LAND_MAX, "{mask}: {land} m/s² in the next three frames");
        assert!(rise < LIMB_RISE_MAX, "{mask}: {rise} m/s² at the end");
    }
}
