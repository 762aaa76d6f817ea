//! Tests of keyframes: their numbers, saved states and damaged streams; and of whole clips of
//! recorded motion, which are stored as keyframes.

use super::bit_stream::PADDING;
use super::clip_uniform_data::state_keyframes;
use super::compile::source_pose;
use super::uniform_layout::UniformLayout;
use super::uniform_state::UniformState;
use super::uniform_track::{STEPS_MAX, UniformTrack, UniformTracks, UniformValue};
use super::*;
use engine_foundation::random::Random;
use engine_foundation::{Quat, Vec3};
use std::sync::Arc;

fn uniform_track(bone: u16, property: TrackProperty, has_real: bool) -> UniformTrack {
    let mut track = UniformTrack {
        bone,
        property,
        has_real,
        mean: [0; 3],
        origin: Vec3::ZERO,
        step: Vec3::splat(0.001),
        step_codes: [0; 3],
    };
    if property == TrackProperty::Rotation {
        track.set_rotation_steps(Vec3::new(1e-3, 2e-3, 1e-4));
    }
    track
}

fn number(random: &mut Random, most: i64) -> i32 {
    random.range_i64(-most, most) as i32
}

/// Tracks of several groups, with smooth numbers and noise of any size.
fn tracks(count: usize, noise: i64) -> (Vec<UniformTrack>, Vec<Vec<UniformValue>>) {
    let tracks = vec![
        uniform_track(0, TrackProperty::Rotation, false),
        uniform_track(1, TrackProperty::Rotation, true),
        uniform_track(6, TrackProperty::Rotation, false),
        uniform_track(3, TrackProperty::Position, false),
        uniform_track(3, TrackProperty::Scale, false),
    ];
    let mut random = Random::seed(noise as u64);
    let values = tracks.iter().map(|track| {
        let components = track.components();
        let value = |keyframe: usize| {
            let mut value = [0; 4];
            for (axis, number) in value.iter_mut().enumerate().take(components) {
                let smooth = (keyframe * keyframe * (axis + 1)) as i32 / 40;
                *number = smooth + self::number(&mut random, noise);
            }
            value
        };
        (0..count).map(value).collect()
    });
    let values = values.collect();
    (tracks, values)
}

#[test]
fn keyframes_have_the_numbers_that_were_encoded() {
    for (count, noise) in [(2, 0), (3, 5), (17, 1), (18, 100), (19, 0), (100, 7), (90, 200_000)] {
        let (tracks, values) = tracks(count, noise);
        let keyframes = UniformTracks::encode(tracks, &values, 10).unwrap();
        assert_eq!(keyframes.values(), values, "{count} keyframes");
        let again = UniformTracks::new(
            keyframes.count,
            keyframes.tracks.clone(),
            keyframes.stream.clone(),
            10,
        )
        .unwrap();
        assert_eq!(again, keyframes);
    }
    let (tracks, values) = tracks(200, 0);
    let smooth = UniformTracks::encode(tracks, &values, 10).unwrap();
    assert!(smooth.stream.len() < 200 * 16 * 3 / 8, "{}", smooth.stream.len());
}

#[test]
fn small_numbers_have_the_same_values_in_less_memory() {
    let (tracks, values) = tracks(60, 900);
    let keyframes = UniformTracks::encode(tracks.clone(), &values, 7).unwrap();
    let mut wide = keyframes.clone();
    wide.layout = Arc::new(UniformLayout::new(&tracks));
    wide.save_states();
    assert_eq!((keyframes.layout.unit_count(), wide.layout.unit_count()), (13, 26));
    let mut states = [&keyframes, &wide].map(|keyframes| {
        let mut state = UniformState::default();
        state.restart(&keyframes.states);
        state
    });
    for keyframe in 1..60 {
        let mut poses = [(); 2].map(|()| Pose::new(&[BoneTransform::IDENTITY; 8]));
        #[cfg(target_arch = "x86_64")]
        let states_before = states[0].clone();
        let both = states.iter_mut().zip([&keyframes, &wide]).zip(&mut poses);
        for ((state, keyframes), pose) in both {
            state.sample::<false>(&keyframes.layout, 0.3, &mut pose.groups);
            if keyframe < 59 {
                state.read_keyframe(keyframes);
            }
        }
        assert_eq!(poses[0], poses[1], "keyframe {keyframe}");
        #[cfg(target_arch = "x86_64")]
        if super::dispatch::has_wide_vectors() {
            let before = poses[0].clone();
            // Before the last keyframe was read.
            states_before.sample::<true>(&keyframes.layout, 0.3, &mut poses[0].groups);
            assert_eq!(poses[0], before, "keyframe {keyframe}");
        }
    }
}

#[test]
fn turned_rotations_keep_their_precision_near_half_a_turn() {
    let mut random = Random::seed(8);
    for _ in 0..200 {
        let axis = Vec3::from_array([(); 3].map(|()| number(&mut random, 1000) as f32 + 0.5));
        let mut track = uniform_track(0, TrackProperty::Rotation, false);
        track.set_mean(Quat::from_axis_angle(axis.normalize(), 0.4));
        let mut values: Vec<UniformValue> = (0..20)
            .map(|_| [300, 150, 3000, 0].map(|most| number(&mut random, most)))
            .map(|[x, y, z, _]| [x, y, z, 0])
            .collect();
        let rotations = |track: &UniformTrack, values: &[UniformValue]| -> Vec<Quat> {
            let rotation = |value: &UniformValue| {
                let part =
                    Vec3::new(value[0] as f32, value[1] as f32, value[2] as f32) * track.step;
                let real = (1.0 - part.length_squared()).sqrt();
                track.mean_rotation() * Quat::from_xyzw(part.x, part.y, part.z, real)
            };
            values.iter().map(rotation).collect()
        };
        let before = rotations(&track, &values);
        let angle = std::f32::consts::PI - 0.4 + number(&mut random, 1000) as f32 * 1e-5;
        let turn = Quat::from_axis_angle(axis.normalize(), angle);
        track.turn(turn, &mut values);
        for (before, after) in before.into_iter().zip(rotations(&track, &values)) {
            let difference = ((turn * before).conjugate() * after).xyz().length() * 2.0;
            assert!(difference < 3e-3, "{difference}");
        }
    }
}

#[test]
fn numbers_beyond_the_limit_are_refused() {
    let (tracks, mut values) = tracks(20, 3);
    for sign in [1, -1] {
        values[0][7][1] = STEPS_MAX * sign;
        values[0][8][1] = -STEPS_MAX * sign;
        let keyframes = UniformTracks::encode(tracks.clone(), &values, 4).unwrap();
        assert_eq!(keyframes.values(), values);
    }
    values[0][7][1] = STEPS_MAX + 1;
    let error = UniformTracks::encode(tracks, &values, 4).unwrap_err().to_string();
    assert!(error.contains("more than 2097152 steps (STEPS_MAX)"), "{error}");
}

#[test]
fn damaged_keyframes_are_refused_or_have_valid_numbers() {
    let (tracks, values) = tracks(60, 9);
    let keyframes = UniformTracks::encode(tracks.clone(), &values, 8).unwrap();
    for length in 0..keyframes.stream.len() - PADDING {
        let mut cut = keyframes.stream[..length].to_vec();
        cut.extend([0; PADDING]);
        assert!(UniformTracks::new(60, tracks.clone(), cut, 8).is_err(), "{length}");
    }
    let mut accepted = 0;
    for bit in 0..(keyframes.stream.len() - PADDING) * 8 {
        let mut changed = keyframes.stream.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        if let Ok(keyframes) = UniformTracks::new(60, tracks.clone(), changed, 8) {
            accepted += 1;
            let most = keyframes.values().iter().flatten().flatten().map(|it| it.abs()).max();
            assert!(most.is_some_and(|most| most <= STEPS_MAX));
        }
    }
    assert!(accepted > 0, "a changed difference is still a valid one");
    let mut padded = keyframes.stream.clone();
    padded.extend([0; 2]);
    assert!(UniformTracks::new(60, tracks.clone(), padded, 8).is_err());
    let mut filled = keyframes.stream.clone();
    *filled.last_mut().unwrap() = 1;
    assert!(UniformTracks::new(60, tracks.clone(), filled, 8).is_err());
    assert!(UniformTracks::new(1, tracks.clone(), keyframes.stream.clone(), 8).is_err());
    assert!(UniformTracks::new(u32::MAX, tracks, keyframes.stream, 8).is_err());
}

/// A chain of bones that bend and shake, with a full turn of the first.
fn recording(seconds: u32) -> (Skeleton, SourceClip) {
    let bone = |index: u16| {
        let position = Vec3::new(0.02, if index == 0 { 1.0 } else { 0.25 }, 0.0);
        let rest = BoneTransform { position, ..BoneTransform::IDENTITY };
        (format!("bone_{index}"), index.checked_sub(1), rest)
    };
    let skeleton = Skeleton::new((0..9).map(bone).collect()).unwrap();
    let times: Vec<f32> = (0..=seconds * 30).map(|key| key as f32 / 30.0).collect();
    let mut random = Random::seed(3);
    let mut tracks = Vec::new();
    for bone in 0..9_u16 {
        let mut value = |time: &f32| {
            let shake = Vec3::from_array([(); 3].map(|()| number(&mut random, 1000) as f32 * 5e-7));
            let bend = Vec3::new(0.3, 0.1 * f32::from(bone), 0.2) * (time * 2.0).sin() + shake;
            let turn = Quat::from_rotation_y(if bone == 0 { time * 3.0 } else { 0.0 });
            (turn * Quat::from_scaled_axis(bend)).to_array()
        };
        tracks.push(SourceTrack {
            bone,
            property: TrackProperty::Rotation,
            interpolation: SourceInterpolation::Linear,
            times: times.clone(),
            values: times.iter().map(&mut value).collect(),
        });
    }
    (skeleton, SourceClip { seconds: seconds as f32, tracks })
}

#[test]
fn recorded_motion_becomes_keyframes_within_the_tolerance() {
    let (skeleton, source) = recording(4);
    let compiled = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap();
    let clip = &compiled.clip;
    assert_eq!((clip.stats().keyframes, clip.stats().uniform_tracks), (121, 9));
    assert!(compiled.error_ratio <= 1.0, "{}", compiled.error);
    let turning = clip.keyframes.tracks.iter().filter(|track| track.has_real);
    assert_eq!(turning.count(), 1, "only the first bone turns around");
    let rate = clip.byte_count() as f32 / 9.0 / 4.0;
    assert!(rate < 80.0, "{rate} bytes for each bone and second");
    // Every keyframe and every middle between two keyframes.
    let mut player = ClipPlayer::new(clip, &skeleton);
    let (mut shown, mut exact) = (Pose::default(), Pose::default());
    let (mut shown_matrices, mut exact_matrices) = (Vec::new(), Vec::new());
    for half in 0..=240 {
        let time = half as f32 / 60.0;
        player.seek(clip, time);
        player.sample(&Pose::rest(&skeleton), &mut shown);
        source_pose(&source, &skeleton, time, &mut exact);
        model_matrices(&skeleton, &shown, &mut shown_matrices);
        model_matrices(&skeleton, &exact, &mut exact_matrices);
        for (shown, exact) in shown_matrices.iter().zip(&exact_matrices) {
            for point in [[0.03, 0.0, 0.0], [0.0, 0.03, 0.0], [0.0, 0.0, 0.03]] {
                let (a, b) = (shown.transform_point(point), exact.transform_point(point));
                let distance = (Vec3::from_array(a) - Vec3::from_array(b)).length();
                assert!(distance < 1.02e-4, "{distance} at {time}");
            }
        }
    }
}

#[test]
fn jumps_within_keyframes_have_the_bits_of_playback() {
    let (skeleton, source) = recording(3);
    let settings = ClipSettings { jump_seconds: 0.3, ..ClipSettings::DEFAULT };
    let clip = compile(&source, &skeleton, &settings).unwrap().clip;
    assert!(clip.stats().jump_frames >= 9);
    let rest = Pose::rest(&skeleton);
    let mut playing = ClipPlayer::new(&clip, &skeleton);
    let steps: Vec<f32> = (0..=400).map(|step| step as f32 * 0.0077).collect();
    let played: Vec<Pose> = steps
        .iter()
        .map(|time| {
            let mut pose = Pose::default();
            playing.seek(&clip, *time);
            playing.sample(&rest, &mut pose);
            pose
        })
        .collect();
    let mut jumping = ClipPlayer::new(&clip, &skeleton);
    let mut pose = Pose::default();
    for index in (0..=400).map(|index| index * 173 % 401).chain((0..=400).rev()) {
        jumping.seek(&clip, steps[index]);
        jumping.sample(&rest, &mut pose);
        assert_eq!(pose, played[index], "at {}", steps[index]);
    }
}

#[test]
fn saved_states_of_damaged_clips_do_not_overflow() {
    assert_eq!(state_keyframes(u32::MAX, u16::MAX), u32::MAX - 1);
    assert_eq!(state_keyframes(0, u16::MAX), 1);
}

/// Compiles the position keys of a single bone under a scaled one.
fn compiled_keys(keys: &[(f32, [f32; 2])], scale: f32, tolerance: f32) -> (Skeleton, CompiledClip) {
    let root = BoneTransform { scale: Vec3::splat(scale), ..BoneTransform::IDENTITY };
    let bones = vec![
        ("root".to_string(), None, root),
        ("tip".to_string(), Some(0), BoneTransform::IDENTITY),
    ];
    let skeleton = Skeleton::new(bones).unwrap();
    let track = SourceTrack {
        bone: 1,
        property: TrackProperty::Position,
        interpolation: SourceInterpolation::Linear,
        times: keys.iter().map(|key| key.0).collect(),
        values: keys.iter().map(|(_, [x, y])| [*x, *y, 0.0, 0.0]).collect(),
    };
    let seconds = keys[keys.len() - 1].0;
    let source = SourceClip { seconds, tracks: vec![track] };
    let settings = ClipSettings { tolerance, ..ClipSettings::DEFAULT };
    let compiled = compile(&source, &skeleton, &settings).unwrap();
    (skeleton, compiled)
}

/// Checks that a clip shows the values of its keys at their times.
fn check_keys(keys: &[(f32, [f32; 2])], most: f32) {
    let (skeleton, compiled) = compiled_keys(keys, 1.0, 1e-4);
    assert_eq!(compiled.warning, None);
    let mut player = ClipPlayer::new(&compiled.clip, &skeleton);
    let mut pose = Pose::default();
    for (time, [x, y]) in keys {
        player.seek(&compiled.clip, *time);
        player.sample(&Pose::rest(&skeleton), &mut pose);
        let distance = pose.transform(1).position.distance(Vec3::new(*x, *y, 0.0));
        assert!(distance < most, "{distance} at {time}");
    }
}

#[test]
fn linear_keys_at_irregular_times_are_no_keyframes() {
    let jump = [(0.0, [0.0, 0.0]), (0.05, [1.0, 0.0]), (0.1, [0.0, 0.0]), (1.0, [0.0, 0.5])];
    check_keys(&jump, 1e-3);
    let mut random = Random::seed(11);
    for _ in 0..20 {
        let mut time = 0.0;
        let mut key = || {
            let [x, y] = [(); 2].map(|()| number(&mut random, 1000) as f32 * 1e-5);
            let key = (time, [x, y]);
            time += 0.02 + (number(&mut random, 1000) + 1000) as f32 * 5e-5;
            key
        };
        let keys: Vec<_> = (0..12).map(|_| key()).collect();
        check_keys(&keys, 3e-4);
    }
}

#[test]
fn coarse_tolerances_of_small_bones_give_valid_clips() {
    let keys: Vec<_> = (0..40)
        .map(|key| (key as f32 / 30.0, [(key * key % 17) as f32 * 1e4, key as f32]))
        .collect();
    for tolerance in [1e-4, 1.0] {
        let clip = compiled_keys(&keys, 0.01, tolerance).1.clip;
        let read = read_clip(&clip.write()).map(drop).map_err(|error| error.message);
        assert_eq!(read, Ok(()), "{tolerance}");
    }
}
