//! Tests of streamed clips: a comparison of their poses with those of whole clips, chunks that are
//! not in memory, other skeletons, and damaged data.

use super::clip_chunks::{ChunkState, check_starts};
use super::tests::{motion, skeleton};
use super::*;
use engine_foundation::{Quat, Vec3};
use std::sync::Arc;

const SECONDS: f32 = 10.0;

/// An animation of ten seconds, in chunks of about two seconds, and the same one as a whole.
fn animations() -> [AnimationData; 2] {
    let skeleton = skeleton(9);
    let source = motion(&skeleton, SECONDS, 3);
    [Some(2.0), None].map(|chunk_seconds| {
        let settings = ClipSettings { chunk_seconds, ..ClipSettings::DEFAULT };
        let clip = compile(&source, &skeleton, &settings).unwrap().clip;
        let source = "dance.gltf#Dance".to_string();
        let (skeleton, warning) = (skeleton.clone(), String::new());
        let (names, unmatched) = (Vec::new(), Vec::new());
        AnimationData { source, skeleton, clip, names, root_line: 0, unmatched, warning }
    })
}

fn pose_of(player: &ClipPlayer, skeleton: &Skeleton) -> Pose {
    let mut pose = Pose::default();
    player.sample(&Pose::rest(skeleton), &mut pose);
    pose
}

fn pose_at(clip: &Clip, skeleton: &Skeleton, time: f32) -> Pose {
    let mut player = ClipPlayer::new(clip, skeleton);
    player.seek(clip, time);
    pose_of(&player, skeleton)
}

/// Returns the largest distance of points near the bones in two poses.
fn distance(skeleton: &Skeleton, a: &Pose, b: &Pose) -> f32 {
    let matrices = |pose: &Pose| {
        let mut matrices = Vec::new();
        model_matrices(skeleton, pose, &mut matrices);
        matrices
    };
    let point = |matrix: &ModelMatrix| Vec3::from_array(matrix.transform_point([0.0, 0.03, 0.0]));
    let pairs = matrices(a).into_iter().zip(matrices(b));
    pairs.map(|(a, b)| point(&a).distance(point(&b))).fold(0.0, f32::max)
}

#[test]
fn a_streamed_clip_moves_like_a_whole_one() {
    let [streamed, whole] = animations();
    let chunks = streamed.clip.chunks().unwrap();
    assert_eq!((chunks.count(), chunks.at(-1.0), chunks.at(SECONDS)), (5, 0, 4));
    assert!(streamed.clip.error() <= 1e-4 && whole.clip.chunks().is_none());
    assert_eq!(streamed.clip.animated_bones(), whole.clip.animated_bones());
    let skeleton = &streamed.skeleton;
    for index in 0..=400 {
        let time = index as f32 * SECONDS / 400.0;
        let [a, b] = [&streamed, &whole].map(|it| pose_at(&it.clip, skeleton, time));
        let apart = distance(skeleton, &a, &b);
        assert!(apart <= 2.1e-4, "both are within the tolerance: {apart} at {time}");
    }
    // A start of a chunk is the time of a key, so that its keys stay regular.
    for chunk in 0..5 {
        let frames = chunks.start(chunk) * 30.0;
        assert!((frames - frames.round()).abs() < 1e-3, "{frames}");
    }
}

#[test]
fn a_jump_has_the_bits_of_playing_there() {
    let [streamed, _] = animations();
    let mut player = ClipPlayer::new(&streamed.clip, &streamed.skeleton);
    let times = (0..500).map(|frame| frame as f32 / 60.0).chain([9.9, 3.99, 4.0, 1.0, 0.0]);
    for time in times {
        player.seek(&streamed.clip, time);
        let played = pose_of(&player, &streamed.skeleton);
        assert!(played == pose_at(&streamed.clip, &streamed.skeleton, time), "{time}");
        assert_eq!(player.time(), time);
    }
}

#[test]
fn a_pose_holds_until_its_chunk_is_there() {
    let [streamed, _] = animations();
    let (clip, skeleton) = (&streamed.clip, &streamed.skeleton);
    let chunks = clip.chunks().unwrap();
    let second = chunks.state(1);
    chunks.set(1, ChunkState::Absent);
    chunks.set(3, ChunkState::Failed);
    let mut player = ClipPlayer::new(clip, skeleton);
    player.seek(clip, 1.9);
    let held = pose_of(&player, skeleton);
    player.seek(clip, 2.5);
    assert_eq!((pose_of(&player, skeleton), player.time()), (held.clone(), 2.5));
    chunks.set(1, ChunkState::Requested);
    player.seek(clip, 2.6);
    assert_eq!(pose_of(&player, skeleton), held);
    chunks.set(1, second);
    player.seek(clip, 2.7);
    assert_eq!(pose_of(&player, skeleton), pose_at(clip, skeleton, 2.7));
    player.seek(clip, 6.5);
    assert_eq!(pose_of(&player, skeleton), pose_at(clip, skeleton, 2.7), "it cannot be read");
    player.seek(clip, 0.5);
    assert_eq!(pose_of(&player, skeleton), pose_at(clip, skeleton, 0.5));
    let start = pose_at(clip, skeleton, 0.0);
    assert_eq!(pose_at(clip, skeleton, 6.5), start, "a new player has no pose to hold");
    chunks.set(0, ChunkState::Absent);
    assert_eq!(pose_at(clip, skeleton, 0.0), start, "the first chunk stays");
}

#[test]
fn a_released_player_has_the_pose_of_a_new_one() {
    let [streamed, _] = animations();
    let (clip, skeleton) = (&streamed.clip, &streamed.skeleton);
    clip.chunks().unwrap().set(3, ChunkState::Failed);
    for time in [0.3, 1.9, 2.5, 9.9] {
        let mut player = ClipPlayer::new(clip, skeleton);
        player.seek(clip, time);
        player.release_chunk(clip);
        player.seek(clip, 6.5);
        assert_eq!(pose_of(&player, skeleton), pose_at(clip, skeleton, 6.5), "{time}");
    }
}

#[test]
fn a_bone_that_rests_in_a_chunk_has_its_rest_transform() {
    let skeleton = skeleton(2);
    let turn = |angle: f32| engine_foundation::Quat::from_rotation_y(angle).to_array();
    let rest = skeleton.rest()[1].rotation.to_array();
    let track = SourceTrack {
        bone: 1,
        property: TrackProperty::Rotation,
        interpolation: SourceInterpolation::Linear,
        times: vec![0.0, 2.0, 3.0, 4.0],
        values: vec![rest, rest, turn(1.0), turn(0.2)],
    };
    let source = SourceClip { seconds: 4.0, tracks: vec![track] };
    let settings = ClipSettings { chunk_seconds: Some(2.0), ..ClipSettings::DEFAULT };
    let clip = compile(&source, &skeleton, &settings).unwrap().clip;
    assert_eq!((clip.chunks().unwrap().count(), clip.animated_bones()), (2, vec![1]));
    let mut below = Pose::rest(&skeleton);
    let rotation = engine_foundation::Quat::from_rotation_z(1.0);
    below.set(1, &BoneTransform { rotation, ..skeleton.rest()[1] });
    let mut pose = Pose::default();
    ClipPlayer::new(&clip, &skeleton).sample(&below, &mut pose);
    assert!(pose.transform(1).rotation.dot(skeleton.rest()[1].rotation).abs() > 0.9999);
}

#[test]
fn chunks_of_files_are_read_alone() {
    let [streamed, whole] = animations();
    let bytes = streamed.write();
    let read = AnimationData::read(&bytes).unwrap();
    assert!(read == streamed);
    // Equality of clips is that of their first chunks.
    let [ours, theirs] = [&read, &streamed].map(|it| it.clip.chunks().unwrap().all_resident());
    assert_eq!(ours.len(), 5);
    assert!(ours == theirs);
    assert!(AnimationData::read(&whole.write()).unwrap() == whole);
    let end = AnimationHead::byte_count(&bytes[..24]).unwrap() as usize;
    assert!(end * 4 < bytes.len(), "{end} of {}", bytes.len());
    let head = AnimationHead::read(&bytes[..end]).unwrap();
    assert_eq!((head.is_streamed(), head.total_bytes()), (true, bytes.len() as u64));
    let chunk = |index: usize| {
        let range = head.range(index);
        head.read_chunk(index, &bytes[range.start as usize..range.end as usize])
    };
    let clip = head.fit(chunk(0).unwrap(), &streamed.skeleton).unwrap();
    let table = clip.chunks().unwrap();
    assert_eq!((table.all_resident().len(), table.count()), (1, 5));
    table.set(2, ChunkState::Resident(Arc::new(chunk(2).unwrap())));
    let wanted = pose_at(&streamed.clip, &streamed.skeleton, 5.0);
    assert_eq!(pose_at(&clip, &streamed.skeleton, 5.0), wanted);
    let sizes: Vec<usize> = table.all_resident().iter().map(|it| it.memory_bytes()).collect();
    assert!(sizes.iter().all(|size| (1000..100_000).contains(size)), "{sizes:?}");
}

#[test]
fn damaged_chunks_are_refused() {
    let [streamed, _] = animations();
    let bytes = streamed.write();
    for cut in (0..bytes.len()).step_by(97) {
        assert!(AnimationData::read(&bytes[..cut]).is_err(), "{cut}");
    }
    for index in (0..bytes.len()).step_by(61) {
        let mut damaged = bytes.clone();
        damaged[index] ^= 0x41;
        assert!(AnimationData::read(&damaged).is_err(), "the checksums cover byte {index}");
    }
    let end = AnimationHead::byte_count(&bytes).unwrap() as usize;
    let head = AnimationHead::read(&bytes[..end]).unwrap();
    let (first, second) = (head.range(0), head.range(1));
    let piece = |range: std::ops::Range<u64>| &bytes[range.start as usize..range.end as usize];
    let read = |index: usize, piece: &[u8]| head.read_chunk(index, piece);
    assert!(read(1, piece(second.clone())).is_ok());
    assert!(read(1, &piece(second)[1..]).is_err());
    assert!(read(3, piece(first)).is_ok(), "all chunks but the last are 2 seconds long");
    let other = compile(&motion(&skeleton(4), 2.0, 1), &skeleton(4), &ClipSettings::DEFAULT);
    let message = read(1, &other.unwrap().clip.write()).unwrap_err().message;
    assert_eq!(message, "it is damaged: a chunk is not of its animation");
    assert!(AnimationHead::byte_count(&[0xff; 24]).is_err(), "a length beyond all numbers");
    for starts in [&[0.5][..], &[0.0, 0.0], &[0.0, 3.0, 2.0], &[0.0, 10.0], &[]] {
        assert!(check_starts(starts, 10.0).is_err(), "{starts:?}");
    }
}

#[test]
fn other_skeletons_play_streamed_clips() {
    let [streamed, whole] = animations();
    let ours = Skeleton::new(
        (0..9)
            .map(|bone: u16| {
                let rest = streamed.skeleton.rest()[usize::from(bone)];
                let position = rest.position * 0.5;
                let parent = streamed.skeleton.parents()[usize::from(bone)];
                let name = streamed.skeleton.names()[usize::from(bone)].clone();
                (name, parent, BoneTransform { position, ..rest })
            })
            .collect(),
    )
    .unwrap();
    let bytes = streamed.write();
    let end = AnimationHead::byte_count(&bytes).unwrap() as usize;
    let head = AnimationHead::read(&bytes[..end]).unwrap();
    let chunk = |index: usize| {
        let range = head.range(index);
        let piece = &bytes[range.start as usize..range.end as usize];
        head.data.fit_clip(&head.read_chunk(index, piece).unwrap(), &ours).unwrap()
    };
    let clip = head.fit(chunk(0), &ours).unwrap();
    let table = clip.chunks().unwrap();
    (1..5).for_each(|index| table.set(index, ChunkState::Resident(Arc::new(chunk(index)))));
    let whole = whole.fit(&ours).unwrap();
    for time in [0.0, 3.3, 7.9, 10.0] {
        let (a, b) = (pose_at(&clip, &ours, time), pose_at(&whole, &ours, time));
        let apart = distance(&ours, &a, &b);
        assert!(apart < 3e-4, "{apart} at {time}");
    }
}

#[test]
fn clips_without_length_and_additive_clips_are_streamed() {
    let skeleton = skeleton(3);
    let stream = ClipSettings { chunk_seconds: Some(0.5), ..ClipSettings::DEFAULT };
    let still = SourceClip { seconds: 0.0, ..motion(&skeleton, 0.02, 2) };
    let still = compile(&still, &skeleton, &stream).unwrap().clip;
    assert_eq!(still.chunks().unwrap().count(), 1);
    let source = motion(&skeleton, 2.0, 5);
    let additive = Some(AdditiveReference { source: None, time: 0.0 });
    let settings = ClipSettings { additive, ..stream };
    let added = compile(&source, &skeleton, &settings).unwrap().clip;
    assert!(added.is_additive() && added.chunks().unwrap().first().is_additive());
    let whole = ClipSettings { chunk_seconds: None, ..settings };
    let whole = compile(&source, &skeleton, &whole).unwrap().clip;
    let difference = |clip: &Clip| {
        let (mut player, mut pose) = (ClipPlayer::new(clip, &skeleton), Pose::default());
        player.seek(clip, 1.7);
        player.sample(&additive_rest(&skeleton), &mut pose);
        pose
    };
    assert!(distance(&skeleton, &difference(&added), &difference(&whole)) < 3e-4);
}

/// Bits of the numbers of a pose.
fn bits(pose: &Pose) -> Vec<u32> {
    let lanes = |group: &pose::PoseGroup| {
        let rows = group.rotation.iter().chain(&group.position).chain(&group.scale);
        rows.flat_map(|row| row.0).map(f32::to_bits).collect::<Vec<u32>>()
    };
    pose.groups.iter().flat_map(lanes).collect()
}

#[test]
fn a_sampled_pose_has_nothing_of_the_pose_before() {
    for bones in [1, 4, 7, 9, 33] {
        let skeleton = skeleton(bones);
        // The whole motion, rotations alone, and some of the tracks of each group.
        for part in 0..3 {
            let mut source = motion(&skeleton, 1.0, u64::from(bones));
            source.tracks.retain(|track| match part {
                0 => true,
                1 => track.property == TrackProperty::Rotation,
                _ => track.bone % 3 == 0,
            });
            for (chunk_seconds, additive) in [(None, None), (Some(0.25), None), (None, Some(0.5))] {
                let additive = additive.map(|time| AdditiveReference { source: None, time });
                let settings = ClipSettings { chunk_seconds, additive, ..ClipSettings::DEFAULT };
                let clip = compile(&source, &skeleton, &settings).unwrap().clip;
                let mut player = ClipPlayer::new(&clip, &skeleton);
                player.seek(&clip, 0.6);
                let rest = match clip.is_additive() {
                    true => additive_rest(&skeleton),
                    false => Pose::rest(&skeleton),
                };
                let (mut fresh, mut used) = (Pose::default(), Pose::rest(&skeleton));
                player.sample(&rest, &mut fresh);
                let dirty = BoneTransform {
                    position: Vec3::NAN,
                    rotation: Quat::from_xyzw(f32::NAN, f32::NAN, f32::NAN, f32::NAN),
                    scale: Vec3::NAN,
                };
                (0..used.groups.len() * 4).for_each(|bone| used.set(bone, &dirty));
                player.sample(&rest, &mut used);
                assert_eq!(bits(&used), bits(&fresh), "{bones} bones, {part}, {chunk_seconds:?}");
            }
        }
    }
}

#[test]
fn chunks_can_have_all_keys_in_their_streams() {
    let skeleton = skeleton(9);
    let mut source = motion(&skeleton, SECONDS, 3);
    // A bone that keeps its rest transform in all chunks but the last one.
    let rest = skeleton.rest()[3].position;
    let moved = |x: f32| (rest + Vec3::new(x, 0.0, 0.0)).extend(0.0).to_array();
    source.tracks.push(SourceTrack {
        bone: 3,
        property: TrackProperty::Position,
        interpolation: SourceInterpolation::Linear,
        times: vec![0.0, 9.0, SECONDS],
        values: vec![moved(0.0), moved(0.0), moved(0.5)],
    });
    let settings =
        ClipSettings { chunk_seconds: Some(2.0), keys: KeyForm::Stream, ..ClipSettings::DEFAULT };
    let compiled = compile(&source, &skeleton, &settings).unwrap();
    assert!(compiled.error <= 1e-4, "{}", compiled.error);
    let chunks = compiled.clip.chunks().unwrap().all_resident();
    assert_eq!(chunks.len(), 5);
    let tracks = |clip: &Clip| {
        clip.tracks.iter().map(|track| (track.property, track.bone)).collect::<Vec<_>>()
    };
    for chunk in &chunks {
        let stats = chunk.stats();
        assert_eq!((stats.constant_tracks, stats.uniform_tracks), (0, 0));
        assert!(tracks(chunk).contains(&(TrackProperty::Position, 3)));
        assert_eq!(tracks(chunk), tracks(&chunks[0]), "each chunk moves the same bones");
    }
}
