//! Tests of clips and players against a straightforward evaluation of the curves.

use super::clip::LAST_TICK;
use super::compile::source_pose;
use super::lanes::Lanes;
use super::*;
use engine_foundation::random::Random;
use engine_foundation::{Mat4, Quat, Vec3};

/// A skeleton in which each bone has two children.
pub(super) fn skeleton(bones: u16) -> Skeleton {
    let bone = |index: u16| {
        let parent = index.checked_sub(1).map(|before| before / 2);
        let rest = BoneTransform {
            position: Vec3::new(0.0, 0.02, if index == 0 { 1.0 } else { 0.2 }),
            rotation: Quat::from_rotation_x(0.1 * f32::from(index % 3)),
            scale: Vec3::ONE,
        };
        (format!("bone_{index}"), parent, rest)
    };
    Skeleton::new((0..bones).map(bone).collect()).unwrap()
}

fn number(random: &mut Random) -> f32 {
    random.range_i64(-1000, 1000) as f32 / 1000.0
}

/// Smooth random motion of all bones, with keys at 30 Hz.
pub(super) fn motion(skeleton: &Skeleton, seconds: f32, seed: u64) -> SourceClip {
    let mut random = Random::seed(seed);
    let times: Vec<f32> = (0..=(seconds * 30.0) as u32).map(|key| key as f32 / 30.0).collect();
    let mut tracks = Vec::new();
    for bone in 0..skeleton.bone_count() as u16 {
        let rest = skeleton.rest()[usize::from(bone)];
        let [speed, phase, x, y] = std::array::from_fn(|_| number(&mut random));
        let axis = Vec3::new(x, y, 0.5).normalize();
        let angle = |time: &f32| 0.4 * (time * (2.0 + speed) + phase * 3.0).sin();
        let turned =
            |time: &f32| (rest.rotation * Quat::from_axis_angle(axis, angle(time))).to_array();
        tracks.push(SourceTrack {
            bone,
            property: TrackProperty::Rotation,
            interpolation: SourceInterpolation::Linear,
            times: times.clone(),
            values: times.iter().map(turned).collect(),
        });
        if bone == 0 || bone % 7 == 0 {
            let moved = |time: &f32| {
                let offset = Vec3::new(angle(time), time * 0.3, 0.1 * angle(time));
                (rest.position + offset).extend(0.0).to_array()
            };
            tracks.push(SourceTrack {
                bone,
                property: TrackProperty::Position,
                interpolation: SourceInterpolation::Linear,
                times: times.clone(),
                values: times.iter().map(moved).collect(),
            });
        }
    }
    SourceClip { seconds, tracks }
}

/// Model matrices by plain matrix products.
fn plain_matrices(skeleton: &Skeleton, pose: &Pose) -> Vec<Mat4> {
    let mut all: Vec<Mat4> = Vec::new();
    for (bone, parent) in skeleton.parents().iter().enumerate() {
        let BoneTransform { position, rotation, scale } = pose.transform(bone);
        let local = Mat4::from_scale_rotation_translation(scale, rotation, position);
        let parent = parent.map_or(Mat4::IDENTITY, |parent| all[usize::from(parent)]);
        all.push(parent * local);
    }
    all
}

fn compiled(seconds: f32, seed: u64) -> (Skeleton, SourceClip, Clip) {
    let skeleton = skeleton(37);
    let source = motion(&skeleton, seconds, seed);
    let clip = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
    (skeleton, source, clip)
}

fn played(player: &ClipPlayer, skeleton: &Skeleton) -> Pose {
    let mut pose = Pose::default();
    player.sample(&Pose::rest(skeleton), &mut pose);
    pose
}

#[test]
fn played_clips_follow_their_curves() {
    let (skeleton, source, clip) = compiled(4.0, 1);
    let mut player = ClipPlayer::new(&clip, &skeleton);
    let mut exact = Pose::rest(&skeleton);
    for step in 0..=240 {
        let time = step as f32 / 60.0;
        player.seek(&clip, time);
        source_pose(&source, &skeleton, time, &mut exact);
        let mut matrices = Vec::new();
        model_matrices(&skeleton, &played(&player, &skeleton), &mut matrices);
        for (wanted, shown) in plain_matrices(&skeleton, &exact).iter().zip(&matrices) {
            let wanted = wanted.transform_point3(Vec3::new(0.0, 0.03, 0.0));
            let shown = Vec3::from_array(shown.transform_point([0.0, 0.03, 0.0]));
            assert!((wanted - shown).length() < 1.2e-4, "{time}: {wanted} and {shown}");
        }
    }
}

#[test]
fn turns_between_distant_keys_are_even() {
    let skeleton = skeleton(4);
    for angle in [0.2_f32, 0.35, 1.0, 2.4] {
        let turn = |part: f32| Quat::from_rotation_x(angle * part).to_array();
        let track = SourceTrack {
            bone: 0,
            property: TrackProperty::Rotation,
            interpolation: SourceInterpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![turn(0.0), turn(1.0)],
        };
        let source = SourceClip { seconds: 1.0, tracks: vec![track] };
        let clip = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
        let mut player = ClipPlayer::new(&clip, &skeleton);
        for step in 0..=16 {
            let time = step as f32 / 16.0;
            player.seek(&clip, time);
            let shown = played(&player, &skeleton).transform(0).rotation;
            let apart = shown.angle_between(Quat::from_array(turn(time)));
            assert!(apart < 1e-3, "{angle}: {apart} radians apart at {time}");
        }
    }
}

#[test]
fn compression_keeps_its_tolerance_and_its_size() {
    let skeleton = skeleton(60);
    let source = motion(&skeleton, 8.0, 5);
    let compiled = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap();
    assert!(compiled.error <= ClipSettings::DEFAULT.tolerance, "{}", compiled.error);
    let stats = compiled.clip.stats();
    let rate = stats.stream_bytes as f32 / 60.0 / 8.0;
    println!("{rate} bytes per bone and second, {stats:?}, {}", compiled.error);
    assert!(rate < 60.0, "{rate} bytes for each bone and second");
    let coarse = ClipSettings { tolerance: 1e-2, ..ClipSettings::DEFAULT };
    let coarse = compile(&source, &skeleton, &coarse).unwrap();
    assert!(coarse.error <= 1e-2);
    assert!(coarse.clip.byte_count() * 4 < compiled.clip.byte_count() * 3);
}

#[test]
fn seeking_equals_playing_to_the_bit() {
    let (skeleton, _, clip) = compiled(9.0, 2);
    assert!(clip.stats().jump_frames > 3);
    let mut random = Random::seed(7);
    let mut jumping = ClipPlayer::new(&clip, &skeleton);
    for _ in 0..200 {
        let time = (number(&mut random) + 1.0) * 4.5;
        jumping.seek(&clip, time);
        let mut playing = ClipPlayer::new(&clip, &skeleton);
        let mut now = 0.0;
        while now < time {
            playing.seek(&clip, now);
            now += 0.017;
        }
        playing.seek(&clip, time);
        assert_eq!(played(&jumping, &skeleton), played(&playing, &skeleton), "at {time}");
    }
}

#[test]
fn backward_playback_equals_forward_playback() {
    let (skeleton, _, clip) = compiled(5.0, 3);
    let mut player = ClipPlayer::new(&clip, &skeleton);
    let forward: Vec<Pose> = (0..=100)
        .map(|step| {
            player.seek(&clip, step as f32 * 0.05);
            played(&player, &skeleton)
        })
        .collect();
    for step in (0..=100).rev() {
        player.seek(&clip, step as f32 * 0.05);
        assert_eq!(played(&player, &skeleton), forward[step]);
    }
}

#[test]
fn keys_are_read_only_when_they_are_due() {
    let skeleton = skeleton(1);
    let times = vec![0.0, 1.0, 2.0, 3.0];
    let values = [0.0, 1.0, 0.0, 1.0].map(|x| [x, 0.0, 0.0, 0.0]).to_vec();
    let (property, interpolation) = (TrackProperty::Position, SourceInterpolation::Linear);
    let track = SourceTrack { bone: 0, property, interpolation, times, values };
    let source = SourceClip { seconds: 3.0, tracks: vec![track] };
    let clip = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
    assert_eq!(clip.stats().keys, 4);
    let mut player = ClipPlayer::new(&clip, &skeleton);
    assert_eq!(clip.stats().keyframes, 4);
    player.seek(&clip, 0.99);
    assert_eq!(player.keyframe(), 1, "the third keyframe is needed at 1 second");
    player.seek(&clip, 1.01);
    assert_eq!(player.keyframe(), 2);
    player.seek(&clip, 99.0);
    assert_eq!(player.time(), 3.0);
    let x = played(&player, &skeleton).transform(0).position.x;
    assert!((x - 1.0).abs() < 1e-4, "{x}");
}

#[test]
fn constant_tracks_have_one_value_and_rest_tracks_none() {
    let skeleton = skeleton(2);
    let constant = |bone: u16, value: Vec3| SourceTrack {
        bone,
        property: TrackProperty::Position,
        interpolation: SourceInterpolation::Linear,
        times: vec![0.0, 0.5, 1.0],
        values: vec![value.extend(0.0).to_array(); 3],
    };
    let rest = skeleton.rest()[0].position;
    let tracks = vec![constant(0, rest), constant(1, Vec3::new(3.0, 2.0, 1.0))];
    let source = SourceClip { seconds: 1.0, tracks };
    let clip = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
    assert_eq!((clip.stats().tracks, clip.stats().keys), (1, 1));
    let pose = played(&ClipPlayer::new(&clip, &skeleton), &skeleton);
    assert_eq!(pose.transform(0).position, rest);
    assert_eq!(pose.transform(1).position, Vec3::new(3.0, 2.0, 1.0));
}

#[test]
fn held_values_change_at_their_keys() {
    let skeleton = skeleton(1);
    let track = SourceTrack {
        bone: 0,
        property: TrackProperty::Scale,
        interpolation: SourceInterpolation::Step,
        times: vec![0.0, 1.0, 1.5],
        values: vec![[1.0, 1.0, 1.0, 0.0], [2.0, 2.0, 2.0, 0.0], [5.0, 5.0, 5.0, 0.0]],
    };
    let source = SourceClip { seconds: 2.0, tracks: vec![track] };
    let clip = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
    let mut player = ClipPlayer::new(&clip, &skeleton);
    for (time, wanted) in
        [(0.5, 1.0), (0.99, 1.0), (1.01, 2.0), (1.49, 2.0), (1.51, 5.0), (2.0, 5.0)]
    {
        player.seek(&clip, time);
        let scale = played(&player, &skeleton).transform(0).scale.x;
        assert!((scale - wanted).abs() < 1e-4, "at {time}: {scale}");
    }
}

#[test]
fn a_held_value_is_shown_at_the_time_of_its_key() {
    let skeleton = skeleton(1);
    let mut random = Random::seed(3);
    for seconds in [2.0_f32, 1.0 / 3.0, 7.3, 90.0] {
        // Among them the middle, which is between two ticks, the end, and keys in one tick.
        let parts = (0..40).map(|_| random.range_i64(1, 999_999) as f32 * 1e-6);
        let parts = parts.chain([0.0, 0.5, 0.500_001, 0.25, 1.0 / 3.0, 1.0]);
        let mut times: Vec<f32> = parts.map(|part| part * seconds).collect();
        times.sort_by(f32::total_cmp);
        times.dedup();
        let track = SourceTrack {
            bone: 0,
            property: TrackProperty::Scale,
            interpolation: SourceInterpolation::Step,
            values: (0..times.len()).map(|key| [1.0 + key as f32, 1.0, 1.0, 0.0]).collect(),
            times: times.clone(),
        };
        let source = SourceClip { seconds, tracks: vec![track] };
        let clip = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
        let shown = |time: f32| {
            let mut player = ClipPlayer::new(&clip, &skeleton);
            player.seek(&clip, time);
            played(&player, &skeleton).transform(0).scale.x
        };
        for (key, time) in times.iter().enumerate() {
            let next = times.get(key + 1).copied().unwrap_or(f32::INFINITY);
            // A key whose tick is also that of the next one is not shown.
            if next - time > clip.tick_seconds() {
                let found = shown(*time);
                assert!((found - 1.0 - key as f32).abs() < 1e-2, "at {time}: {found}");
            }
            let before = time - 1.1 * clip.tick_seconds();
            if key > 0 && before > times[key - 1] {
                let found = shown(before);
                assert!((found - key as f32).abs() < 1e-2, "before {time}: {found}");
            }
        }
    }
}

#[test]
fn clips_without_length_show_their_first_key() {
    let skeleton = skeleton(1);
    let track = SourceTrack {
        bone: 0,
        property: TrackProperty::Position,
        interpolation: SourceInterpolation::Linear,
        times: vec![0.0],
        values: vec![[7.0, 0.0, 0.0, 0.0]],
    };
    let source = SourceClip { seconds: 0.0, tracks: vec![track] };
    let clip = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
    let mut player = ClipPlayer::new(&clip, &skeleton);
    for time in [0.0, 1.0, f32::NAN, -5.0, f32::INFINITY] {
        player.seek(&clip, time);
        assert_eq!(player.time(), 0.0);
        assert_eq!(played(&player, &skeleton).transform(0).position.x, 7.0);
    }
}

#[test]
fn blended_poses_are_weighted_means() {
    let turned = |angle: f32, x: f32| {
        Pose::new(&[BoneTransform {
            position: Vec3::new(x, 0.0, 0.0),
            rotation: Quat::from_rotation_z(angle),
            scale: Vec3::ONE,
        }])
    };
    let mut sum = BlendSum::default();
    let mut pose = Pose::default();
    sum.finish(&mut pose);
    assert_eq!(pose, Pose::default(), "without poses nothing changes");
    sum.clear();
    sum.add(&turned(0.2, 1.0), 3.0);
    sum.add(&turned(0.6, 5.0), 1.0);
    sum.add(&turned(9.0, 9.0), 0.0);
    sum.add(&turned(9.0, 9.0), f32::NAN);
    sum.finish(&mut pose);
    let transform = pose.transform(0);
    assert_eq!(transform.position.x, 2.0);
    assert!((transform.rotation.to_scaled_axis().z - 0.3).abs() < 0.01);
    // The opposite quaternion is the same rotation.
    let negative =
        BoneTransform { rotation: -Quat::from_rotation_z(0.2), ..turned(0.2, 1.0).transform(0) };
    sum.clear();
    sum.add(&turned(0.2, 1.0), 1.0);
    sum.add(&Pose::new(&[negative]), 1.0);
    sum.finish(&mut pose);
    assert!((pose.transform(0).rotation.to_scaled_axis().z - 0.2).abs() < 1e-5);
}

#[test]
fn palette_has_bones_after_their_inverse_bind_matrices() {
    let skeleton = skeleton(9);
    let rest = Pose::rest(&skeleton);
    let mut matrices = Vec::new();
    model_matrices(&skeleton, &rest, &mut matrices);
    let plain = plain_matrices(&skeleton, &rest);
    let joint = |bone: usize| {
        (bone as u16, ModelMatrix::from_columns(plain[bone].inverse().to_cols_array()))
    };
    let joints: Vec<_> = [3, 8, 0].map(joint).to_vec();
    let mut out = vec![[[0.0; 4]; 3]; 3];
    palette(&matrices, &joints, &mut out);
    for rows in out {
        let matrix = ModelMatrix(rows.map(Lanes));
        let point = matrix.transform_point([1.0, 2.0, 3.0]);
        let distance = (Vec3::from_array(point) - Vec3::new(1.0, 2.0, 3.0)).length();
        assert!(distance < 1e-5, "the rest pose moves nothing: {point:?}");
    }
}

#[test]
fn written_clips_read_back_and_damaged_clips_are_refused() {
    let (skeleton, _, clip) = compiled(3.0, 4);
    let bytes = clip.write();
    assert_eq!(read_clip(&bytes).unwrap(), clip);
    assert!(read_clip(&bytes[..bytes.len() - 1]).is_err());
    let mut random = Random::seed(11);
    let mut accepted = 0;
    for _ in 0..300 {
        // Changes inside of a valid frame: written again with its checksum.
        let mut changed = clip.clone();
        let at = random.range_i64(0, changed.keyframes.stream.len() as i64 - 9) as usize;
        changed.keyframes.stream[at] ^= 1 << random.range_i64(0, 7);
        if let Ok(read) = read_clip(&changed.write()) {
            accepted += 1;
            let mut player = ClipPlayer::new(&read, &skeleton);
            player.seek(&read, 3.0);
            player.seek(&read, 0.5);
        }
    }
    assert!(accepted > 0, "a changed component is still a valid key");
}

#[test]
fn wrong_animations_are_refused() {
    let skeleton = skeleton(2);
    let track = |times: Vec<f32>, values: usize| SourceTrack {
        bone: 1,
        property: TrackProperty::Position,
        interpolation: SourceInterpolation::Linear,
        times,
        values: vec![[0.0; 4]; values],
    };
    let check = |seconds: f32, tracks: Vec<SourceTrack>, wanted: &str| {
        let source = SourceClip { seconds, tracks };
        let error = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    check(f32::NAN, vec![], "it is NaN seconds long");
    check(601.0, vec![], "600 is the most (CLIP_SECONDS_MAX)");
    check(1.0, vec![track(vec![], 0)], "'bone_1' has keys that are not valid");
    check(1.0, vec![track(vec![0.0, 0.0], 2)], "keys that are not valid");
    check(1.0, vec![track(vec![0.0, 1.0], 1)], "keys that are not valid");
    check(1.0, vec![track(vec![0.0], 1), track(vec![0.0], 1)], "'bone_1' twice");
    let times = (0..=compile::TRACK_KEYS_MAX).map(|key| key as f32 / 1024.0).collect();
    check(600.0, vec![track(times, 1)], "262144 are the most (TRACK_KEYS_MAX)");
    let foreign = SourceTrack { bone: 2, ..track(vec![0.0], 1) };
    check(1.0, vec![foreign], "bone 2, which does not exist");
    let bad = ClipSettings { tolerance: 0.0, ..ClipSettings::DEFAULT };
    let source = SourceClip { seconds: 1.0, tracks: vec![] };
    assert!(
        compile(&source, &skeleton, &bad).unwrap_err().to_string().contains("'tolerance' is 0")
    );
}

#[test]
fn ticks_cover_the_clip() {
    let (_, _, clip) = compiled(2.0, 6);
    assert_eq!(clip.tick_seconds() * f32::from(LAST_TICK), 2.0);
}
