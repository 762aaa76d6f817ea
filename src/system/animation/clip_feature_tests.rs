//! Tests of the features of clips: root motion, loops, events, ranges, additive clips and morph
//! weights.

use super::compile::source_pose;
use super::constant_track::{ConstantTrack, Constants};
use super::uniform_track::UniformTrack;
use super::*;
use engine_foundation::{Quat, Vec3, Vec4};

const UP: Vec3 = Vec3::Z;

fn bone(name: &str, parent: Option<u16>, position: Vec3) -> (String, Option<u16>, BoneTransform) {
    (name.to_string(), parent, BoneTransform { position, ..BoneTransform::IDENTITY })
}

/// An armature with the axes and the scale of an importer, hips, a leg and a foot.
fn skeleton() -> Skeleton {
    let armature = BoneTransform {
        position: Vec3::new(0.0, 0.0, 0.1),
        rotation: Quat::from_rotation_x(1.5),
        scale: Vec3::splat(0.01),
    };
    Skeleton::new(vec![
        ("armature".to_string(), None, armature),
        bone("hips", Some(0), Vec3::new(0.0, 90.0, 3.0)),
        bone("leg", Some(1), Vec3::new(0.0, -40.0, 0.0)),
        bone("foot", Some(2), Vec3::new(0.0, -45.0, 0.0)),
    ])
    .unwrap()
}

fn track(bone: u16, property: TrackProperty, keys: &[(f32, [f32; 4])]) -> SourceTrack {
    SourceTrack {
        bone,
        property,
        interpolation: SourceInterpolation::Linear,
        times: keys.iter().map(|key| key.0).collect(),
        values: keys.iter().map(|key| key.1).collect(),
    }
}

/// A walk along a curve of one second: the hips bob, sway, turn and move in model space.
fn walk(skeleton: &Skeleton) -> SourceClip {
    let armature = skeleton.rest()[0];
    let (mut positions, mut rotations, mut leg) = (Vec::new(), Vec::new(), Vec::new());
    for key in 0..=30 {
        let time = key as f32 / 30.0;
        let swing = (time * std::f32::consts::TAU).sin();
        let in_model = Vec3::new(0.3 * time * time, 1.4 * time, 1.0 + 0.04 * swing);
        let turned = Quat::from_rotation_z(0.9 * time) * Quat::from_rotation_y(0.1 * swing);
        let back = armature.rotation.conjugate();
        let local = back * (in_model - armature.position) / 0.01;
        positions.push((time, local.extend(0.0).to_array()));
        rotations.push((time, (back * turned * armature.rotation).to_array()));
        leg.push((time, Quat::from_rotation_x(0.5 * swing).to_array()));
    }
    let tracks = vec![
        track(1, TrackProperty::Position, &positions),
        track(1, TrackProperty::Rotation, &rotations),
        track(2, TrackProperty::Rotation, &leg),
    ];
    SourceClip { seconds: 1.0, tracks }
}

fn settings(root_motion: RootMotion) -> ClipSettings {
    ClipSettings { root_motion, looping: Some(true), ..ClipSettings::DEFAULT }
}

/// The position of the foot in model space.
fn foot(skeleton: &Skeleton, pose: &Pose) -> Vec3 {
    let mut matrices = Vec::new();
    model_matrices(skeleton, pose, &mut matrices);
    Vec3::from_array(matrices[3].transform_point([1.0, 2.0, 3.0]))
}

fn event(name: &str, time: f32) -> ClipEvent {
    ClipEvent { name: name.to_string(), time, cue: EventCue::default(), line: 0 }
}

#[test]
fn pose_and_root_motion_together_are_the_source() {
    let skeleton = skeleton();
    let source = walk(&skeleton);
    let mut exact = Pose::default();
    for mode in RootMotion::ALL {
        let compiled = compile(&source, &skeleton, &settings(mode)).unwrap();
        let clip = read_clip(&compiled.clip.write()).unwrap();
        assert_eq!(clip, compiled.clip);
        assert_eq!(clip.has_root_motion(), mode != RootMotion::None);
        let mut player = ClipPlayer::new(&clip, &skeleton);
        let mut pose = Pose::default();
        for step in 0..=50 {
            let time = step as f32 / 50.0;
            player.seek(&clip, time);
            player.sample(&Pose::rest(&skeleton), &mut pose);
            source_pose(&source, &skeleton, time, &mut exact);
            let root = clip.root_at(time);
            let shown = root.position + root.rotation * foot(&skeleton, &pose);
            let wanted = foot(&skeleton, &exact);
            assert!((shown - wanted).length() < 4e-4, "{mode:?} at {time}: {shown} and {wanted}");
        }
    }
}

#[test]
fn extracted_parts_leave_the_pose() {
    let skeleton = skeleton();
    let source = walk(&skeleton);
    for mode in [RootMotion::Xy, RootMotion::XyYaw, RootMotion::All] {
        let clip = compile(&source, &skeleton, &settings(mode)).unwrap().clip;
        let mut player = ClipPlayer::new(&clip, &skeleton);
        let (mut pose, mut matrices) = (Pose::default(), Vec::new());
        let rest = Pose::rest(&skeleton);
        model_matrices(&skeleton, &rest, &mut matrices);
        let origin = Vec3::from_array(matrices[1].transform_point([0.0; 3]));
        let (mut heights, mut yaws) = (Vec::new(), Vec::new());
        for step in 0..=20 {
            player.seek(&clip, step as f32 / 20.0);
            player.sample(&rest, &mut pose);
            model_matrices(&skeleton, &pose, &mut matrices);
            let hips = Vec3::from_array(matrices[1].transform_point([0.0; 3]));
            assert!((hips - origin).truncate().length() < 2e-4, "{mode:?}: {hips} {origin}");
            heights.push(hips.z);
            let turned = skeleton.rest()[0].rotation
                * pose.transform(1).rotation
                * skeleton.rest()[0].rotation.conjugate();
            yaws.push(2.0 * (turned.z / turned.w).abs());
        }
        let range = |values: &[f32]| {
            let most = values.iter().copied().fold(f32::MIN, f32::max);
            most - values.iter().copied().fold(f32::MAX, f32::min)
        };
        assert_eq!(range(&heights) > 0.05, mode != RootMotion::All, "{mode:?}");
        assert_eq!(range(&yaws) > 0.5, mode == RootMotion::Xy, "{mode:?}: {yaws:?}");
        let end = clip.root_delta(0.0, 1.0, 0);
        assert_eq!(end.rotation.z.abs() > 0.3, mode != RootMotion::Xy);
        assert!(end.position.length() > 1.0);
    }
}

/// Plays a clip in equal steps and returns the sum of the root's movement.
fn travelled(clip: &Clip, rate: f32, seconds: f32, speed: f32) -> RigidTransform {
    let (mut sum, mut time) = (RigidTransform::IDENTITY, 0.25);
    for _ in 0..(rate * seconds).round() as usize {
        let step = clip.step(time, speed / rate);
        sum = sum.concatenate(&clip.root_delta(time, step.time, step.loops));
        time = step.time;
    }
    sum
}

#[test]
fn root_motion_is_independent_of_the_frame_rate() {
    let skeleton = skeleton();
    for mode in [RootMotion::Xy, RootMotion::XyYaw, RootMotion::All] {
        let clip = compile(&walk(&skeleton), &skeleton, &settings(mode)).unwrap().clip;
        for speed in [1.0, -1.0, 2.5] {
            let wanted = travelled(&clip, 30.0, 10.0, speed);
            for rate in [60.0, 144.0, 7.0, 1.0, 0.1] {
                let moved = travelled(&clip, rate, 10.0, speed);
                let error = (moved.position - wanted.position).length();
                let turned = moved.rotation.dot(wanted.rotation).abs();
                assert!(error < 2e-3 && turned > 0.999_99, "{mode:?} {rate} Hz: {error} {turned}");
            }
        }
        let forward = travelled(&clip, 60.0, 3.0, 1.0);
        let there_and_back = forward.concatenate(&travelled(&clip, 60.0, 3.0, -1.0));
        assert!(there_and_back.position.length() < 1e-3, "{there_and_back:?}");
    }
}

#[test]
fn a_walk_of_one_loop_moves_as_far_as_its_source() {
    let skeleton = skeleton();
    let clip = compile(&walk(&skeleton), &skeleton, &settings(RootMotion::Xy)).unwrap().clip;
    let loops = clip.root_delta(0.5, 0.5, 3);
    assert!((loops.position - Vec3::new(0.9, 4.2, 0.0)).length() < 1e-3, "{loops:?}");
    let back = clip.root_delta(0.5, 0.5, -3);
    assert!((back.position + Vec3::new(0.9, 4.2, 0.0)).length() < 1e-3, "{back:?}");
    let still = clip.root_delta(f32::NAN, 0.0, 0);
    assert_eq!(still.position, Vec3::ZERO);
    assert!(clip.root_delta(-1e30, f32::INFINITY, i32::MAX).position.is_finite());
    assert_eq!(loops.weighted(0.0), RigidTransform::IDENTITY);
    assert_eq!(loops.weighted(f32::NAN), RigidTransform::IDENTITY);
    assert_eq!(loops.weighted(9.0).position, loops.position);
}

#[test]
fn wrong_root_bones_are_refused() {
    let skeleton = skeleton();
    let check = |source: &SourceClip, root: &str, wanted: &str| {
        let settings =
            ClipSettings { root_bone: Some(root.to_string()), ..settings(RootMotion::Xy) };
        let error = compile(source, &skeleton, &settings).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    let source = walk(&skeleton);
    check(&source, "hip", "root bone 'hip' does not exist in the skeleton, did you mean 'hips'?");
    check(&source, "leg", "moves with 'hips', which is animated, too: set root_bone to 'hips'");
    let flat = BoneTransform { scale: Vec3::new(1.0, 0.0, 1.0), ..BoneTransform::IDENTITY };
    let bones = vec![("armature".to_string(), None, flat), bone("hips", Some(0), Vec3::Z)];
    let flat = Skeleton::new(bones).unwrap();
    let source = SourceClip {
        seconds: 1.0,
        tracks: vec![track(1, TrackProperty::Position, &[(0.0, [0.0; 4]), (1.0, [1.0; 4])])],
    };
    let error = compile(&source, &flat, &settings(RootMotion::Xy)).unwrap_err().to_string();
    assert!(error.contains("parents of the root bone 'hips' whose scale is not 0"), "{error}");
}

#[test]
fn clips_without_movement_or_length_have_finite_root_motion() {
    let skeleton = skeleton();
    let tracks = vec![track(1, TrackProperty::Position, &[(0.0, [1.0, 2.0, 3.0, 0.0])])];
    let pose = SourceClip { seconds: 0.0, tracks };
    let clip = compile(&pose, &skeleton, &settings(RootMotion::All)).unwrap().clip;
    assert_eq!(clip.step(0.0, 5.0), ClipStep { time: 0.0, loops: 0 });
    assert!(clip.root_delta(0.0, 0.0, 5).position.length() < 1e-6);
    let still = SourceClip { seconds: 2.0, tracks: vec![] };
    let clip = compile(&still, &skeleton, &settings(RootMotion::All)).unwrap().clip;
    assert!(clip.root_warning().is_some(), "no bone moves");
    assert_eq!(clip.root_delta(0.0, 2.0, 9), RigidTransform::IDENTITY);
}

#[test]
fn root_motion_that_moves_nothing_is_a_warning() {
    let skeleton = skeleton();
    let warning = |looping: Option<bool>, root: RootMotion, middle: f32, end: f32| {
        // The bone above has a scale of 0.01.
        let x = |metres: f32| [metres * 100.0, 0.0, 0.0, 0.0];
        let keys = [(0.0, x(0.0)), (0.5, x(middle)), (1.0, x(end))];
        let tracks = vec![track(1, TrackProperty::Position, &keys)];
        let source = SourceClip { seconds: 1.0, tracks };
        let settings = ClipSettings { looping, ..settings(root) };
        let clip = compile(&source, &skeleton, &settings).unwrap().clip;
        let read = read_clip(&clip.write()).unwrap();
        assert_eq!(read, clip);
        assert_eq!(read.is_looping(), looping == Some(true));
        assert_eq!(read.repeats_in_states(), looping != Some(false));
        read.root_warning().is_some()
    };
    assert!(!warning(Some(true), RootMotion::Xy, 0.7, 1.4));
    assert!(!warning(Some(true), RootMotion::None, 0.0, 0.0), "no root motion was asked for");
    assert!(warning(Some(true), RootMotion::Xy, 0.05, 0.0), "it sways and returns");
    assert!(!warning(Some(false), RootMotion::Xy, 0.5, 0.0), "it goes and comes back once");
    assert!(warning(None, RootMotion::All, 0.004, 0.0));
    // It sways, and nobody has said that it repeats.
    assert!(
        warning(None, RootMotion::Xy, 0.08, 0.0) && warning(Some(false), RootMotion::Xy, 0.08, 0.0)
    );
    assert!(
        !warning(None, RootMotion::Xy, 0.12, 0.0) && !warning(None, RootMotion::Xy, 0.04, 0.05)
    );
}

fn eventful() -> Clip {
    let skeleton = skeleton();
    let events = vec![event("end", 1.0), event("start", 0.0), event("middle", 0.5)];
    let beats = vec![0.5, 0.0];
    let settings = ClipSettings { events, beats, looping: Some(true), ..ClipSettings::DEFAULT };
    let clip = compile(&walk(&skeleton), &skeleton, &settings).unwrap().clip;
    read_clip(&clip.write()).unwrap()
}

#[test]
fn events_are_reported_once_in_order() {
    let clip = eventful();
    assert_eq!(clip.beats(), [0.0, 0.5]);
    let check = |from: f32, to: f32, loops: i32, wanted: &str| {
        let mut found = Vec::new();
        clip.append_events(from, to, loops, &mut found);
        let names = found.iter().map(|index| clip.events()[usize::from(*index)].name.as_str());
        assert_eq!(names.collect::<Vec<_>>().join(" "), wanted, "{from} {to} {loops}");
    };
    check(0.0, 0.5, 0, "start");
    check(0.5, 0.6, 0, "middle");
    check(0.6, 1.0, 0, "end");
    check(1.0, 1.0, 0, "");
    check(0.6, 0.1, 1, "end start");
    check(0.6, 0.0, 1, "end");
    check(0.6, 0.6, 2, "end start middle end start middle");
    check(0.6, 0.4, 0, "middle");
    check(0.5, 0.0, 0, "middle start");
    check(0.2, 0.9, -1, "start end");
    check(0.0, 0.9, -1, "end");
    check(f32::NAN, 0.9, 1, "");
    let mut found = Vec::new();
    clip.append_events(0.6, 0.6, i32::MIN, &mut found);
    assert_eq!(found.len(), 5 * 3, "at most EVENT_LOOPS_MAX whole loops are reported");
}

#[test]
fn every_frame_rate_reports_the_same_events() {
    let clip = eventful();
    for (rate, speed) in [(30.0, 1.0), (60.0, 1.0), (144.0, 1.0), (60.0, -1.0), (144.0, -1.0)] {
        let (mut time, mut found) = (0.7, Vec::new());
        for _ in 0..(rate * 5.0) as usize {
            let step = clip.step(time, speed / rate);
            clip.append_events(time, step.time, step.loops, &mut found);
            time = step.time;
        }
        assert_eq!(found.len(), 15, "{rate} {speed} {found:?}");
    }
}

#[test]
fn time_wraps_in_loops_and_stops_at_ends() {
    let clip = eventful();
    let step = |time: f32, change: f32| clip.step(time, change);
    assert_eq!(step(0.75, 0.5), ClipStep { time: 0.25, loops: 1 });
    assert_eq!(step(0.25, -0.5), ClipStep { time: 0.75, loops: -1 });
    assert_eq!(step(0.5, 0.5), ClipStep { time: 0.0, loops: 1 });
    assert_eq!(step(0.5, -0.5), ClipStep { time: 0.0, loops: 0 });
    assert_eq!(step(0.25, 7.5), ClipStep { time: 0.75, loops: 7 });
    assert_eq!(step(0.5, f32::NAN), ClipStep { time: 0.5, loops: 0 });
    assert_eq!(step(f32::NAN, 0.0), ClipStep { time: 0.0, loops: 0 });
    let far = step(0.5, 1e30);
    assert!(far.loops == 1_000_000 && (0.0..=1.0).contains(&far.time), "{far:?}");
    assert_eq!(clip.step_with(0.75, 0.5, false), ClipStep { time: 1.0, loops: 0 });
    assert_eq!(clip.step_with(0.75, -5.0, false), ClipStep { time: 0.0, loops: 0 });
}

#[test]
fn events_outside_of_the_clip_are_refused() {
    let skeleton = skeleton();
    let check = |beats: Vec<f32>, events: Vec<ClipEvent>, wanted: &str| {
        let settings = ClipSettings { beats, events, ..ClipSettings::DEFAULT };
        let error = compile(&walk(&skeleton), &skeleton, &settings).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    check(vec![1.5], vec![], "a beat is at 1.5 seconds, and the clip ends at 1");
    check(vec![f32::NAN], vec![], "a beat is at NaN");
    check(vec![], vec![event("step", -0.1)], "event 'step' is at -0.1 seconds");
    check(vec![], vec![event("", 0.1)], "a name of an event at 0.1 seconds has 0 bytes");
    check(vec![0.0; 1025], vec![], "1025 beats, and 1024 are the most (BEATS_MAX)");
    check(vec![], vec![event("a", 0.0); 1025], "1025 events, and 1024 are the most");
}

/// A curve of each interpolation, with two seconds and a key in the middle of ranges.
fn curves() -> Vec<SourceTrack> {
    let times = vec![0.0, 0.7, 1.3, 2.0];
    let turned = |angle: f32| Quat::from_axis_angle(UP, angle).to_array();
    let rotations: Vec<[f32; 4]> = [0.0, 1.0, -0.5, 2.0].map(turned).to_vec();
    let vectors: Vec<[f32; 4]> = [0.0, 1.0, -0.5, 2.0].map(|x| [x, 1.0, 2.0 * x, 0.0]).to_vec();
    let cubic = |values: &[[f32; 4]]| -> Vec<[f32; 4]> {
        values
            .iter()
            .flat_map(|value| [[0.3, 0.1, -0.2, 0.1], *value, [0.5, 0.0, 0.3, 0.2]])
            .collect()
    };
    let all = [
        (TrackProperty::Rotation, SourceInterpolation::Linear, rotations.clone()),
        (TrackProperty::Rotation, SourceInterpolation::Cubic, cubic(&rotations)),
        (TrackProperty::Position, SourceInterpolation::Linear, vectors.clone()),
        (TrackProperty::Position, SourceInterpolation::Step, vectors.clone()),
        (TrackProperty::Scale, SourceInterpolation::Cubic, cubic(&vectors)),
    ];
    let track = |(property, interpolation, values)| SourceTrack {
        bone: 0,
        property,
        interpolation,
        times: times.clone(),
        values,
    };
    all.into_iter().map(track).collect()
}

#[test]
fn ranges_follow_the_same_curves() {
    for track in curves() {
        let source = SourceClip { seconds: 2.0, tracks: vec![track] };
        for [from, to] in [[0.0, 2.0], [0.2, 0.5], [0.5, 1.7], [0.7, 1.3], [0.0, 0.1]] {
            let part = cut_clip(&source, from, to).unwrap();
            assert!((part.seconds - (to - from)).abs() < 1e-6);
            for step in 0..40 {
                let time = (to - from) * (step as f32 + 0.37) / 40.0;
                let (wanted, shown) =
                    (source.tracks[0].sample(from + time), part.tracks[0].sample(time));
                for (a, b) in wanted.iter().zip(shown) {
                    assert!((a - b).abs() < 1e-4, "{:?} {from} {time}: {wanted:?} {shown:?}", part);
                }
            }
        }
        let pose = cut_clip(&source, 1.0, 1.0).unwrap();
        assert_eq!((pose.seconds, pose.tracks[0].times.len()), (0.0, 1));
    }
    let source = SourceClip { seconds: 2.0, tracks: curves()[..1].to_vec() };
    for [from, to] in [[1.0, 0.5], [-1.0, 1.0], [0.0, 2.5], [f32::NAN, 1.0], [0.0, f32::NAN]] {
        let error = cut_clip(&source, from, to).unwrap_err().to_string();
        assert!(error.contains("is not within the animation of 2 seconds"), "{error}");
    }
}

#[test]
fn additive_clips_add_to_their_reference_pose() {
    let skeleton = skeleton();
    let source = walk(&skeleton);
    let idle = SourceClip {
        seconds: 1.0,
        tracks: vec![
            track(3, TrackProperty::Rotation, &[(0.0, Quat::from_rotation_y(0.4).to_array())]),
            track(3, TrackProperty::Scale, &[(0.0, [2.0, 1.0, 0.0, 0.0])]),
        ],
    };
    for (other, time) in [(None, 0.3), (Some(idle.clone()), 0.5)] {
        let additive = Some(AdditiveReference { source: other.clone(), time });
        let settings = ClipSettings { additive, ..ClipSettings::DEFAULT };
        let clip = compile(&source, &skeleton, &settings).unwrap().clip;
        let clip = read_clip(&clip.write()).unwrap();
        assert!(clip.is_additive());
        let mut player = ClipPlayer::new(&clip, &skeleton);
        let (mut reference, mut exact) = (Pose::default(), Pose::default());
        source_pose(other.as_ref().unwrap_or(&source), &skeleton, time, &mut reference);
        for step in 0..=20 {
            let time = step as f32 / 20.0;
            player.seek(&clip, time);
            let mut difference = Pose::default();
            player.sample(&additive_rest(&skeleton), &mut difference);
            let mut pose = reference.clone();
            pose.add_difference(&difference, 1.0, None);
            source_pose(&source, &skeleton, time, &mut exact);
            let distance = (foot(&skeleton, &pose) - foot(&skeleton, &exact)).length();
            // The scale of 0 in the reference cannot be undone, and the third axis keeps it.
            assert!(distance < if other.is_some() { 0.04 } else { 4e-4 }, "{time}: {distance}");
            let mut same = reference.clone();
            same.add_difference(&difference, f32::NAN, None);
            same.add_difference(&difference, 0.0, None);
            assert_eq!(same, reference);
        }
    }
    let additive = Some(AdditiveReference { source: None, time: 0.0 });
    let both = ClipSettings { additive, ..settings(RootMotion::Xy) };
    let error = compile(&source, &skeleton, &both).unwrap_err().to_string();
    assert!(error.contains("an additive clip has no root motion"), "{error}");
    let additive = Some(AdditiveReference { source: None, time: f32::NAN });
    let timeless = ClipSettings { additive, ..ClipSettings::DEFAULT };
    assert!(compile(&source, &skeleton, &timeless).is_err());
}

#[test]
fn morph_weights_play() {
    let skeleton = skeleton();
    let weight = |target: u16, keys: &[(f32, f32)]| {
        let keys: Vec<_> =
            keys.iter().map(|(time, value)| (*time, [*value, 0.0, 0.0, 0.0])).collect();
        track(target, TrackProperty::Weight, &keys)
    };
    let tracks = vec![
        weight(5, &[(0.0, 0.0), (1.0, 1.0), (2.0, 0.25)]),
        weight(0, &[(0.0, 0.5)]),
        weight(7, &[(0.0, 0.0), (2.0, 0.0)]),
    ];
    let source = SourceClip { seconds: 2.0, tracks };
    let compiled = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap();
    assert!(compiled.error_ratio <= 1.0);
    let clip = read_clip(&compiled.clip.write()).unwrap();
    assert_eq!((clip.weight_count(), clip.stats().tracks), (8, 3));
    let mut player = ClipPlayer::new(&clip, &skeleton);
    let mut weights = Vec::new();
    for (time, wanted) in [(0.5, 0.5), (1.0, 1.0), (1.5, 0.625), (0.25, 0.25), (9.0, 0.25)] {
        player.seek(&clip, time);
        player.sample_weights(&[0.9, 0.8, 0.7], &mut weights);
        let expected = [0.5, 0.8, 0.7, 0.0, 0.0, wanted, 0.0, 0.0];
        for (shown, wanted) in weights.iter().zip(expected) {
            assert!((shown - wanted).abs() < 1e-3, "{time}: {weights:?}");
        }
        assert_eq!(weights.len(), 8);
    }
    player.sample_weights(&[0.5; 10], &mut weights);
    assert_eq!((weights.len(), weights[9]), (10, 0.5));
    let beyond = SourceClip { seconds: 1.0, tracks: vec![weight(1024, &[(0.0, 1.0)])] };
    let error = compile(&beyond, &skeleton, &ClipSettings::DEFAULT).unwrap_err().to_string();
    assert!(error.contains("1024 targets are the most (MORPH_TARGETS_MAX)"), "{error}");
}

#[test]
fn single_joints_can_have_their_own_tolerance() {
    let skeleton = skeleton();
    let source = walk(&skeleton);
    let with = |joints: Vec<(String, f32)>| {
        let settings = ClipSettings { joints, tolerance: 0.01, ..ClipSettings::DEFAULT };
        compile(&source, &skeleton, &settings)
    };
    let coarse = with(vec![]).unwrap();
    let fine = with(vec![("hips".to_string(), 1e-4), ("leg".to_string(), 1e-4)]).unwrap();
    assert!(coarse.error_ratio <= 1.0 && fine.error_ratio <= 1.0, "{}", fine.error_ratio);
    let bytes = (fine.clip.stats().stream_bytes, coarse.clip.stats().stream_bytes);
    assert!(bytes.0 * 3 > bytes.1 * 4, "{bytes:?}");
    let error = with(vec![("hops".to_string(), 1e-4)]).unwrap_err().to_string();
    assert!(error.contains("joint 'hops' does not exist in the skeleton, did you mean 'hips'?"));
    let error = with(vec![("hips".to_string(), 0.0)]).unwrap_err().to_string();
    assert!(error.contains("'hips' is 0, and must be at least 0.000001"), "{error}");
}

#[test]
fn damaged_features_are_refused() {
    let skeleton = skeleton();
    let clip = compile(&walk(&skeleton), &skeleton, &settings(RootMotion::All)).unwrap().clip;
    let check = |change: fn(&mut Clip), wanted: &str| {
        let mut changed = clip.clone();
        change(&mut changed);
        let error = read_clip(&changed.write()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    check(|clip| clip.features.beats = vec![2.0], "it is damaged: a beat is at 2 seconds");
    check(|clip| clip.features.events = vec![event("a", 9.0)], "it is damaged: event 'a'");
    check(|clip| clip.features.beats = vec![f32::NAN], "NaN is where a finite number should be");
    check(
        |clip| clip.features.root.as_mut().unwrap().positions.reverse(),
        "the order of the root track is not valid",
    );
    check(
        |clip| clip.features.root.as_mut().unwrap().rotations.clear(),
        "the order of the root track is not valid",
    );
    check(
        |clip| {
            clip.features.root.as_mut().unwrap().rotations[0].1 =
                Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)
        },
        "a rotation of the root track is not valid",
    );
    check(
        |clip| clip.features.root.as_mut().unwrap().positions[0].1.x = 1e30,
        "a position of the root track is not valid",
    );
    check_regular_data();
}

/// Constant tracks and keyframes.
fn check_regular_data() {
    let skeleton = skeleton();
    let clip = compile(&walk(&skeleton), &skeleton, &settings(RootMotion::None)).unwrap().clip;
    let check = |change: fn(&mut Clip), wanted: &str| {
        let mut changed = clip.clone();
        change(&mut changed);
        let error = read_clip(&changed.write()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    let range = "the range of a track is not valid";
    check(
        |clip| clip.keyframes.tracks[0].step_codes[1] = 161,
        "the step of a rotation is not valid",
    );
    check(|clip| clip.keyframes.tracks[0].mean = [30000; 3], range);
    check(|clip| clip.keyframes.tracks.last_mut().unwrap().origin.x = 1e30, range);
    check(
        |clip| clip.keyframes.tracks[0].property = TrackProperty::Weight,
        "the property of a track",
    );
    check(|clip| clip.keyframes.tracks.reverse(), "the order of the tracks is not valid");
    check(|clip| clip.keyframes.count = 1, "the clip has 1 keyframes");
    check(|clip| clip.keyframes.count += 1, "a keyframe of the clip is not valid");
    check(|clip| clip.seconds = 0.0, "is not valid");
    check(
        |clip| {
            let UniformTrack { bone, property, .. } = clip.keyframes.tracks[0];
            let value = Vec4::new(0.0, 0.0, 0.0, 1.0);
            clip.constants = Constants::new(vec![ConstantTrack { bone, property, value }]);
        },
        "a bone with two tracks of a property is not valid",
    );
    check(
        |clip| {
            let (bone, property) = (0, TrackProperty::Rotation);
            let value = Vec4::new(0.0, 0.0, 0.0, 0.5);
            clip.constants = Constants::new(vec![ConstantTrack { bone, property, value }]);
        },
        "the value of a constant track is not valid",
    );
}

#[test]
fn reverse_playback_loads_jump_frames_only_at_keys() {
    let skeleton = skeleton();
    let keys = [
        (0.0, [0.0; 4]),
        (1.0, [5.0, 0.0, 0.0, 0.0]),
        (2.0, [0.0; 4]),
        (3.0, [1.0, 1.0, 1.0, 0.0]),
    ];
    let source =
        SourceClip { seconds: 3.0, tracks: vec![track(1, TrackProperty::Position, &keys)] };
    let clip = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
    let mut player = ClipPlayer::new(&clip, &skeleton);
    player.seek(&clip, 2.9);
    let end = player.keyframe();
    assert_eq!(clip.stats().keys, 4, "{:?}", clip.stats());
    for (time, same) in [(2.5, true), (2.1, true), (1.9, false), (1.2, false), (0.5, false)] {
        player.seek(&clip, time);
        assert_eq!(player.keyframe() == end, same, "{time}");
        let mut pose = Pose::default();
        player.sample(&Pose::rest(&skeleton), &mut pose);
        let mut fresh = ClipPlayer::new(&clip, &skeleton);
        fresh.seek(&clip, time);
        let mut wanted = Pose::default();
        fresh.sample(&Pose::rest(&skeleton), &mut wanted);
        assert_eq!(pose, wanted, "{time}");
    }
}
