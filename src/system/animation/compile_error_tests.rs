//! Tests of the error of compiled clips: it is measured here at many times, with the interpolation
//! of the source, and has to be within the tolerance in each form.

use super::compile::source_pose;
use super::*;
use engine_foundation::{Quat, Vec3};

/// Times at which errors are measured, for each second.
const RATE: f32 = 960.0;
/// Largest part of the tolerance of an error between the times at which the compiler measures it.
const BETWEEN: f32 = 1.005;

/// A chain of bones, each half a metre long, the last one a foot.
fn leg() -> Skeleton {
    let bone = |index: usize| {
        let position = if index == 0 { Vec3::ZERO } else { Vec3::new(0.0, 0.0, -0.45) };
        let rest = BoneTransform { position, ..BoneTransform::IDENTITY };
        let name = ["hip", "thigh", "shin", "foot", "toe"][index];
        (name.to_string(), (index > 0).then(|| index as u16 - 1), rest)
    };
    Skeleton::new((0..5).map(bone).collect()).unwrap()
}

/// Keys at 30 times a second, of bones that turn by up to `most` radians between two keys.
fn kicks(skeleton: &Skeleton, most: f32, seconds: f32) -> SourceClip {
    let keys = (seconds * 30.0).round() as usize + 1;
    let times: Vec<f32> = (0..keys).map(|key| seconds * key as f32 / (keys - 1) as f32).collect();
    let track = |bone: usize| {
        let axis = [Vec3::X, Vec3::X, Vec3::new(0.8, 0.6, 0.0), Vec3::Y, Vec3::X][bone];
        let speed = 3.0 + bone as f32;
        let turn = |time: &f32| {
            let angle = most * 30.0 / speed * (time * speed + bone as f32).sin();
            Quat::from_axis_angle(axis, angle * if bone == 0 { 0.2 } else { 1.0 }).to_array()
        };
        SourceTrack {
            bone: bone as u16,
            property: TrackProperty::Rotation,
            interpolation: SourceInterpolation::Linear,
            times: times.clone(),
            values: times.iter().map(turn).collect(),
        }
    };
    SourceClip { seconds, tracks: (0..skeleton.bone_count()).map(track).collect() }
}

/// Returns the largest displacement of points around each bone between a source and a clip.
fn errors(source: &SourceClip, skeleton: &Skeleton, clip: &Clip, shell: f32) -> Vec<f32> {
    let count = (source.seconds * RATE) as u32;
    let mut player = ClipPlayer::new(clip, skeleton);
    let (mut exact, mut shown) = (Pose::default(), Pose::default());
    let (mut wanted, mut found) = (Vec::new(), Vec::new());
    let mut errors = vec![0.0_f32; skeleton.bone_count()];
    for step in 0..=count {
        let time = source.seconds * step as f32 / count as f32;
        source_pose(source, skeleton, time, &mut exact);
        player.seek(clip, time);
        player.sample(&Pose::rest(skeleton), &mut shown);
        model_matrices(skeleton, &exact, &mut wanted);
        model_matrices(skeleton, &shown, &mut found);
        for ((wanted, found), error) in wanted.iter().zip(&found).zip(&mut errors) {
            for point in [[shell, 0.0, 0.0], [0.0, shell, 0.0], [0.0, 0.0, shell]] {
                let [a, b] = [wanted, found].map(|it| Vec3::from_array(it.transform_point(point)));
                *error = error.max(a.distance(b));
            }
        }
    }
    errors
}

#[track_caller]
fn check(source: &SourceClip, settings: &ClipSettings) -> CompiledClip {
    let skeleton = leg();
    let compiled = compile(source, &skeleton, settings).unwrap();
    assert!(compiled.error_ratio <= 1.0, "{} times", compiled.error_ratio);
    assert_eq!(compiled.warning, None);
    let errors = errors(source, &skeleton, &compiled.clip, settings.shell);
    for (name, error) in skeleton.names().iter().zip(errors) {
        let own = settings.joints.iter().find(|joint| joint.0 == *name);
        let tolerance = own.map_or(settings.tolerance, |joint| joint.1);
        assert!(error <= tolerance * BETWEEN, "{name}: {error}, and {tolerance} is the tolerance");
        assert!(error <= compiled.error * 1.1, "{name}: {error}, stated {}", compiled.error);
    }
    compiled
}

#[test]
fn fast_turns_are_within_the_tolerance_in_each_form() {
    for (most, tolerance) in [(0.1, 1e-4), (0.25, 1e-4), (0.5, 1e-4), (0.9, 1e-4), (0.5, 1e-3)] {
        let source = kicks(&leg(), most, 0.8);
        let [smallest, stream] = KeyForm::ALL.map(|keys| {
            let settings = ClipSettings { keys, tolerance, ..ClipSettings::DEFAULT };
            check(&source, &settings).clip.byte_count()
        });
        assert!(smallest * 3 < stream * 2, "{smallest} of {stream} bytes");
    }
}

#[test]
fn joints_have_tolerances_of_their_own() {
    let source = kicks(&leg(), 0.4, 1.0);
    for keys in KeyForm::ALL {
        let joints = vec![("foot".to_string(), 1e-4), ("shin".to_string(), 5e-4)];
        let settings = ClipSettings { keys, tolerance: 2e-3, joints, ..ClipSettings::DEFAULT };
        let fine = check(&source, &settings).clip.byte_count();
        let settings = ClipSettings { joints: Vec::new(), ..settings };
        let coarse = check(&source, &settings).clip.byte_count();
        assert!(coarse < fine, "{coarse}, {fine}");
    }
}

#[test]
fn a_joint_beyond_its_tolerance_keeps_others_within_theirs() {
    // Two legs. The toe of the left one has a tight tolerance, which a fast one exceeds.
    let leg = leg();
    let names = ["root", "hip_l", "thigh_l", "shin_l", "foot_l", "toe_l", "hip_r", "thigh_r"];
    let names = names.into_iter().chain(["shin_r", "foot_r", "toe_r"]);
    let bone = |(index, name): (usize, &str)| {
        let in_leg = (index + 4) % 5;
        let parent = if in_leg == 0 { 0 } else { index.saturating_sub(1) as u16 };
        (name.to_string(), (index > 0).then_some(parent), leg.rest()[in_leg])
    };
    let skeleton = Skeleton::new(names.enumerate().map(bone).collect()).unwrap();
    for (most, tolerance) in [(0.5, 1e-5), (0.1, 3e-6), (0.1, 1e-6)] {
        let mut source = kicks(&leg, most, 0.66);
        let right = source.tracks.clone().into_iter();
        let right: Vec<_> = right.map(|it| SourceTrack { bone: it.bone + 6, ..it }).collect();
        source.tracks.iter_mut().for_each(|track| track.bone += 1);
        source.tracks.extend(right);
        let joints = vec![("toe_l".to_string(), tolerance)];
        let of = |keys| ClipSettings { keys, joints: joints.clone(), ..ClipSettings::DEFAULT };
        let [found, stream] =
            KeyForm::ALL.map(|keys| compile(&source, &skeleton, &of(keys)).unwrap());
        let (bytes, limit) = (found.clip.byte_count(), stream.clip.byte_count());
        assert!(bytes <= limit, "{bytes} bytes, {limit} in the stream");
        for clip in [&found.clip, &stream.clip] {
            let errors = errors(&source, &skeleton, clip, 0.03);
            for (name, error) in skeleton.names().iter().zip(errors) {
                assert!(name == "toe_l" || error <= 1e-4 * BETWEEN, "{name}: {error}");
            }
        }
        for compiled in [found, stream].iter().filter(|it| it.error_ratio > 1.0) {
            let warning = compiled.warning.as_deref().unwrap_or_default();
            assert!(warning.contains("the bone 'toe_l' is up to"), "{warning}");
            assert!(warning.ends_with("a higher tolerance of 'toe_l' in 'joints'"), "{warning}");
        }
    }
}

#[test]
fn fast_turns_take_no_more_bytes_than_the_stream() {
    for (most, tolerance) in [(0.9, 2e-5), (1.2, 5e-5), (1.4, 5e-5), (1.4, 1e-4)] {
        let source = kicks(&leg(), most, 0.66);
        let [smallest, stream] = KeyForm::ALL.map(|keys| {
            let settings = ClipSettings { keys, tolerance, ..ClipSettings::DEFAULT };
            compile(&source, &leg(), &settings).unwrap()
        });
        let is_better = smallest.error_ratio > 1.0 && smallest.error_ratio < stream.error_ratio;
        let [smallest, stream] = [smallest, stream].map(|it| it.clip.byte_count());
        assert!(
            is_better || smallest <= stream,
            "{most}, {tolerance}: {smallest} of {stream} bytes"
        );
    }
}

#[test]
fn chunks_and_cubic_curves_are_within_the_tolerance() {
    let mut source = kicks(&leg(), 0.5, 2.0);
    let chunked = ClipSettings { chunk_seconds: Some(0.5), ..ClipSettings::DEFAULT };
    check(&source, &chunked);
    for track in &mut source.tracks {
        track.interpolation = SourceInterpolation::Cubic;
        let values = track.values.iter().map(|value| [[0.0; 4], *value, [0.0; 4]]);
        track.values = values.flatten().collect();
    }
    for keys in KeyForm::ALL {
        check(&source, &ClipSettings { keys, ..ClipSettings::DEFAULT });
    }
}

#[test]
fn errors_above_the_tolerance_have_a_warning() {
    let skeleton = leg();
    let mut source = kicks(&skeleton, 0.1, 2.0);
    let times = source.tracks[0].times.clone();
    source.tracks.push(SourceTrack {
        bone: 0,
        property: TrackProperty::Position,
        interpolation: SourceInterpolation::Linear,
        values: times.iter().map(|time| [4e5 + (time * 9.0).sin(), 0.0, 0.0, 0.0]).collect(),
        times,
    });
    for keys in KeyForm::ALL {
        let settings = ClipSettings { keys, ..ClipSettings::DEFAULT };
        let compiled = compile(&source, &skeleton, &settings).unwrap();
        assert!(compiled.error_ratio > 1.0);
        let warning = compiled.warning.expect("a warning");
        let millimetres = format!("' is up to {:.3} mm away from the source", compiled.error * 1e3);
        assert!(warning.contains(&millimetres), "{warning}");
        assert!(warning.contains("its tolerance is 0.100 mm"), "{warning}");
        let name = warning.strip_prefix("the bone '").and_then(|it| it.split('\'').next());
        assert!(skeleton.names().iter().any(|it| Some(it.as_str()) == name), "{warning}");
        let coarse = ClipSettings { tolerance: 10.0, ..settings };
        assert_eq!(compile(&source, &skeleton, &coarse).unwrap().warning, None);
    }
}

/// A track of the position of a bone along x.
fn slide(bone: u16, interpolation: SourceInterpolation, keys: &[(f32, f32)]) -> SourceTrack {
    SourceTrack {
        bone,
        property: TrackProperty::Position,
        interpolation,
        times: keys.iter().map(|key| key.0).collect(),
        values: keys.iter().map(|key| [key.1, 0.0, 0.0, 0.0]).collect(),
    }
}

#[test]
fn rounded_times_of_held_values_and_corners_have_no_warning() {
    // A tick is 0.15 ms, in which a change of the speed by 20 m/s moves 3 mm.
    let keys = [(0.0, 0.0), (1.1301, 0.4), (1.2302, 2.4), (1.3304, 0.4), (10.0, 0.4)];
    for interpolation in [SourceInterpolation::Step, SourceInterpolation::Linear] {
        let source = SourceClip { seconds: 10.0, tracks: vec![slide(1, interpolation, &keys)] };
        let settings = ClipSettings { keys: KeyForm::Stream, ..ClipSettings::DEFAULT };
        let compiled = compile(&source, &leg(), &settings).unwrap();
        assert_eq!(compiled.warning, None, "{interpolation:?}");
        let is_rounded = compiled.error_ratio > 1.0;
        assert_eq!(is_rounded, interpolation == SourceInterpolation::Linear);
    }
}

#[test]
fn other_errors_than_those_of_corners_have_a_warning() {
    let settings = ClipSettings { keys: KeyForm::Stream, ..ClipSettings::DEFAULT };
    let warning = |track: SourceTrack, settings: &ClipSettings| {
        let source = SourceClip { seconds: 10.0, tracks: vec![track] };
        compile(&source, &leg(), settings).unwrap().warning
    };
    // A joint that is stricter than numbers can be, and a corner, or a fast start.
    let joints = vec![("thigh".to_string(), 1e-6)];
    let strict = ClipSettings { joints, ..settings.clone() };
    let corner = [(0.0, 0.0), (4.0, 0.1), (5.1301, 0.4), (5.2302, 2.4), (10.0, 0.513)];
    let start = [(0.0, 0.0), (1.0, 20.0), (5.0, 20.3), (10.0, 20.1)];
    for keys in [corner.as_slice(), &start] {
        let keys: Vec<(f32, f32)> = keys.iter().map(|key| (key.0, key.1 + 1000.0)).collect();
        let found = warning(slide(1, SourceInterpolation::Linear, &keys), &strict);
        assert!(found.is_some_and(|it| it.contains("the bone 'thigh'")), "{keys:?}");
    }
    // Held values that are too near to each other.
    let near = [(0.0, 0.0), (5.0, 1.0), (5.00002, 2.0), (5.00004, 3.0), (10.0, 3.0)];
    let found = warning(slide(1, SourceInterpolation::Step, &near), &settings).expect("a warning");
    assert!(found.starts_with("the bone '"), "{found}");
}

#[test]
fn the_work_of_the_search_has_a_limit() {
    let skeleton = leg();
    let normal = kicks(&skeleton, 0.25, 1.0);
    let mut hostile = normal.clone();
    let far = [(0.0, 4e5), (0.31, 4e5 + 2.0), (0.7, 4e5 - 2.0), (1.0, 4e5)];
    hostile.tracks.push(slide(0, SourceInterpolation::Linear, &far));
    let once = 1000 * skeleton.bone_count() as u64;
    for chunk_seconds in [None, Some(0.4)] {
        for keys in KeyForm::ALL {
            let settings = ClipSettings { keys, chunk_seconds, ..ClipSettings::DEFAULT };
            let within = |source: &SourceClip, most: u64| {
                super::compile::compile_within(source, &skeleton, &settings, most).unwrap()
            };
            let whole = within(&hostile, u64::MAX);
            assert!(whole.measured_bones > 10 * once, "{}", whole.measured_bones);
            for most in [0, 2 * once, 6 * once] {
                let found = within(&hostile, most);
                let done = found.measured_bones;
                assert!(done >= most.min(1) && done <= most + 3 * once, "{done} of {most}");
                assert!(found.error_ratio >= whole.error_ratio && found.warning.is_some());
            }
            let found = compile(&normal, &skeleton, &settings).unwrap();
            assert!(found.measured_bones < 50 * once, "{}", found.measured_bones);
            assert_eq!(found, within(&normal, u64::MAX));
            assert_eq!(found.warning, None);
        }
    }
}

#[test]
fn recordings_are_exact_at_their_keys_and_mixed_between() {
    let skeleton = leg();
    let source = kicks(&skeleton, 0.7, 2.0);
    let even = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap();
    let settings = ClipSettings { recorded: true, ..ClipSettings::DEFAULT };
    let mut mixed = source.clone();
    mixed.tracks.iter_mut().for_each(|it| it.interpolation = SourceInterpolation::Mixed);
    let compiled = check(&mixed, &settings);
    assert_eq!(compiled.clip, compile(&source, &skeleton, &settings).unwrap().clip);
    assert_eq!(compiled.clip, compile(&mixed, &skeleton, &ClipSettings::DEFAULT).unwrap().clip);
    let [even, recorded] = [&even, &compiled].map(|it| it.clip.write().len());
    assert!(recorded * 10 < even * 6, "{recorded} bytes, and {even} with even turns");
    // Between two keys, even turns and mixed ones differ by more than the tolerance.
    let between = errors(&source, &skeleton, &compiled.clip, settings.shell);
    assert!(between.iter().any(|error| *error > 2.0 * settings.tolerance), "{between:?}");
    // Cubic curves and held values stay what they are.
    let mut held = source;
    held.tracks.iter_mut().for_each(|it| it.interpolation = SourceInterpolation::Step);
    let [plain, same] = [&ClipSettings::DEFAULT, &settings]
        .map(|settings| compile(&held, &skeleton, settings).unwrap().clip);
    assert_eq!(plain, same);
}

#[test]
fn recordings_with_other_times_are_within_the_tolerance() {
    let skeleton = leg();
    let settings = ClipSettings { recorded: true, ..ClipSettings::DEFAULT };
    let late = |time: f32, _: usize| time + 1.0 / 24.0;
    let uneven = |time: f32, key: usize| time + [0.0, 0.004, -0.005, 0.002][key % 4];
    let rounded = |time: f32, _: usize| (time * 100.0).round() * 0.01;
    let changes: [&dyn Fn(f32, usize) -> f32; 3] = [&late, &uneven, &rounded];
    for (at, change) in changes.into_iter().enumerate() {
        let mut source = kicks(&skeleton, 0.7, 2.0);
        for track in &mut source.tracks {
            let times = track.times.iter().enumerate();
            track.times = times.map(|(key, time)| change(*time, key).max(0.0)).collect();
        }
        let ends = source.tracks.iter().filter_map(|track| track.times.last().copied());
        source.seconds = ends.fold(source.seconds, f32::max);
        let mut mixed = source;
        mixed.tracks.iter_mut().for_each(|it| it.interpolation = SourceInterpolation::Mixed);
        let compiled = compile(&mixed, &skeleton, &settings).unwrap();
        assert_eq!(compiled.warning, None, "{at}");
        // Corners are at the nearest tick.
        let errors = errors(&mixed, &skeleton, &compiled.clip, settings.shell);
        let worst = errors.iter().fold(0.0f32, |worst, error| worst.max(*error));
        assert!(worst < 1.5 * settings.tolerance, "{at}: {worst}");
    }
}

#[test]
fn lengths_of_recorded_rotations_do_not_count() {
    let skeleton = leg();
    let settings = ClipSettings { recorded: true, ..ClipSettings::DEFAULT };
    let source = kicks(&skeleton, 0.7, 2.0);
    let mut scaled = source.clone();
    for track in scaled.tracks.iter_mut().filter(|it| it.property == TrackProperty::Rotation) {
        for value in track.values.iter_mut().step_by(2) {
            *value = value.map(|number| number * 0.25);
        }
    }
    let [plain, scaled] =
        [source, scaled].map(|it| compile(&it, &skeleton, &settings).unwrap().clip);
    assert_eq!(plain, scaled);
}
