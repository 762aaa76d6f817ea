//! Tests of tracks with keys at times of their own: the stream in the order in which keys are
//! needed, the active list, and jump frames.

use super::clip::{Key, LAST_TICK, Track};
use super::keyed_player::MOVES;
use super::tests::{motion, skeleton};
use super::*;
use engine_foundation::random::Random;
use engine_foundation::{Quat, Vec3, Vec4};

const SECONDS: f32 = 90.0;
const BONES: u16 = 9;

/// Rare, irregular keys: rotations and positions of all bones, held scales, and weights.
fn source() -> SourceClip {
    let mut random = Random::seed(21);
    let mut tracks = Vec::new();
    let mut track = |bone: u16, property: TrackProperty| {
        let mut number = || random.range_i64(-1000, 1000) as f32 * 1e-3;
        let (mut times, mut values, mut time) = (vec![], vec![], 0.0);
        while time < SECONDS {
            times.push(time);
            time += 0.6 + 0.4 * number();
            let [x, y, z] = [number(), number(), number()];
            values.push(match property {
                TrackProperty::Rotation => Quat::from_scaled_axis(Vec3::new(x, y, z)).to_array(),
                TrackProperty::Scale => [1.0 + 0.5 * x, 1.0, 1.0, 0.0],
                _ => [x, y, z, 0.0],
            });
        }
        let interpolation = match property {
            TrackProperty::Scale => SourceInterpolation::Step,
            _ => SourceInterpolation::Linear,
        };
        tracks.push(SourceTrack { bone, property, interpolation, times, values });
    };
    (0..BONES).for_each(|bone| track(bone, TrackProperty::Rotation));
    (0..BONES).for_each(|bone| track(bone, TrackProperty::Position));
    (0..3).for_each(|bone| track(bone, TrackProperty::Scale));
    (0..5).for_each(|target| track(target, TrackProperty::Weight));
    SourceClip { seconds: SECONDS, tracks }
}

fn clip() -> Clip {
    let clip = compile(&source(), &skeleton(BONES), &ClipSettings::DEFAULT).unwrap().clip;
    assert!(clip.tracks.len() > 20, "{} tracks with keys of their own", clip.tracks.len());
    assert!(clip.jump_frames.len() > 10, "{} jump frames", clip.jump_frames.len());
    clip
}

/// Returns the bits of the pose and of the weights.
fn bits(player: &ClipPlayer) -> Vec<u32> {
    bits_of(player, BONES)
}

fn bits_of(player: &ClipPlayer, bones: u16) -> Vec<u32> {
    let (mut pose, mut weights) = (Pose::default(), Vec::new());
    player.sample(&Pose::rest(&skeleton(bones)), &mut pose);
    player.sample_weights(&[0.0; 5], &mut weights);
    let transform = |bone: usize| {
        let BoneTransform { position, rotation, scale } = pose.transform(bone);
        let numbers = position.to_array().into_iter().chain(rotation.to_array());
        numbers.chain(scale.to_array()).collect::<Vec<f32>>()
    };
    (0..usize::from(bones)).flat_map(transform).chain(weights).map(f32::to_bits).collect()
}

/// Returns a clip with the jump frame at the start alone: its players read all keys up to a time.
fn without_jumps(clip: &Clip) -> Clip {
    let mut plain = clip.clone();
    plain.jump_frames.truncate(1);
    plain
}

#[test]
fn a_jump_among_irregular_keys_has_the_bits_of_playing() {
    let clip = clip();
    let plain = without_jumps(&clip);
    let mut player = ClipPlayer::new(&clip, &skeleton(BONES));
    let at = |time: f32| {
        let mut fresh = ClipPlayer::new(&plain, &skeleton(BONES));
        fresh.seek(&plain, time);
        bits(&fresh)
    };
    let mut check = |time: f32| {
        player.seek(&clip, time);
        assert_eq!(bits(&player), at(time), "{time}");
    };
    // Forward and over the end, backward, and anywhere.
    (0..400).for_each(|step| check(step as f32 * 0.37 % SECONDS));
    (0..400).for_each(|step| check(SECONDS - step as f32 * 0.21));
    let mut random = Random::seed(5);
    (0..400).for_each(|_| check(random.range_i64(0, 90_000) as f32 * 1e-3));
    check(SECONDS);
    check(0.0);
}

#[test]
fn each_jump_frame_has_the_bits_of_playing() {
    let clip = clip();
    let plain = without_jumps(&clip);
    let mut playing = ClipPlayer::new(&plain, &skeleton(BONES));
    for frame in &clip.jump_frames {
        let time = f32::from(frame.tick) * clip.tick_seconds() + 1e-3;
        playing.seek(&plain, time);
        let mut jumping = ClipPlayer::new(&clip, &skeleton(BONES));
        jumping.seek(&clip, time);
        assert_eq!(bits(&jumping), bits(&playing), "{time}");
    }
}

/// Returns the fastest change of the tracks of a property, in their units in a second.
fn fastest(source: &SourceClip, property: TrackProperty) -> f32 {
    let mut most: f32 = 0.0;
    for track in source.tracks.iter().filter(|track| track.property == property) {
        for (times, values) in track.times.windows(2).zip(track.values.windows(2)) {
            let [from, to] = [values[0], values[1]].map(Vec4::from_array);
            // Both signs of a quaternion are the same rotation, which has twice its angle.
            let change = match property {
                TrackProperty::Rotation => 2.0 * from.dot(to).abs().min(1.0).acos(),
                _ => from.distance(to),
            };
            most = most.max(change / (times[1] - times[0]));
        }
    }
    most
}

#[test]
fn irregular_keys_play_the_motion_of_their_source() {
    let (source, clip) = (source(), clip());
    let skeleton = skeleton(BONES);
    let mut player = ClipPlayer::new(&clip, &skeleton);
    let (mut shown, mut exact) = (Pose::default(), Pose::default());
    let (mut weights, mut exact_weights) = (Vec::new(), Vec::new());
    // The times of keys are rounded to ticks. A step is at most a tick early.
    let rounding = |property| fastest(&source, property) * 0.5 * clip.tick_seconds();
    let turn_max = 5e-3 + rounding(TrackProperty::Rotation);
    let move_max = 1.2e-4 + rounding(TrackProperty::Position);
    let weight_max = 2e-3 + rounding(TrackProperty::Weight);
    assert!(turn_max < 0.03 && move_max < 0.02 && weight_max < 0.02);
    let steps = source.tracks.iter().filter(|it| it.property == TrackProperty::Scale);
    let steps: Vec<f32> = steps.flat_map(|it| it.times.clone()).collect();
    let mut compared = 0;
    for frame in 0..4000 {
        let time = frame as f32 * 0.0225;
        if steps.iter().any(|step| (0.0..2e-3).contains(&(step - time))) {
            continue;
        }
        compared += 1;
        player.seek(&clip, time);
        player.sample(&Pose::rest(&skeleton), &mut shown);
        source_pose(&source, &skeleton, time, &mut exact);
        for bone in 0..usize::from(BONES) {
            let (a, b) = (shown.transform(bone), exact.transform(bone));
            let turn = a.rotation.angle_between(b.rotation);
            assert!(turn < turn_max, "{time}: bone {bone} is {turn} radians apart");
            let apart = a.position.distance(b.position);
            assert!(apart < move_max, "{time}: bone {bone} is {apart} metres apart");
            assert!(a.scale.distance(b.scale) < 5e-3, "{time}: bone {bone}, {a:?} {b:?}");
        }
        player.sample_weights(&[0.0; 5], &mut weights);
        source_weights(&source, time, &mut exact_weights);
        for (a, b) in weights.iter().zip(&exact_weights) {
            assert!((a - b).abs() < weight_max, "{time}: {weights:?} {exact_weights:?}");
        }
    }
    assert!(compared > 3000, "{compared}");
}

#[test]
fn the_stream_is_read_only_when_a_key_is_due() {
    let clip = clip();
    let mut player = ClipPlayer::new(&clip, &skeleton(BONES));
    let ticks: std::collections::BTreeSet<u16> = {
        let tracks = clip.tracks.len();
        let mut ticks = std::collections::BTreeSet::new();
        let mut offset = 0;
        while let Some((key, next)) = clip.key_at(offset) {
            ticks.insert(key.tick);
            offset = next;
        }
        assert!(ticks.len() > 10 * tracks);
        ticks
    };
    let plain = without_jumps(&clip);
    let mut moves = 0;
    let frames = 20_000;
    for frame in 0..frames {
        let time = frame as f32 * SECONDS / frames as f32;
        let before = MOVES.get();
        player.seek(&clip, time);
        moves += MOVES.get() - before;
        if frame % 100 == 7 {
            let mut fresh = ClipPlayer::new(&plain, &skeleton(BONES));
            fresh.seek(&plain, time);
            assert_eq!(bits(&player), bits(&fresh), "{time}");
        }
    }
    assert!(moves > 500 && moves <= ticks.len() + clip.tracks.len(), "{moves} of {frames} frames");
}

#[test]
fn damaged_streams_of_keys_are_refused_or_play() {
    let clip = clip();
    let mut random = Random::seed(8);
    let mut refused = 0;
    for _ in 0..400 {
        // Changes inside of a valid frame: written again with its checksum.
        let mut changed = clip.clone();
        let at = random.range_i64(0, changed.stream.len() as i64 - 1) as usize;
        changed.stream[at] ^= 1 << random.range_i64(0, 7);
        let Ok(read) = read_clip(&changed.write()) else {
            refused += 1;
            continue;
        };
        let mut player = ClipPlayer::new(&read, &skeleton(BONES));
        for time in [0.0, 3.0, 89.0, 1.0, 50.0] {
            player.seek(&read, time);
            let numbers = bits(&player).into_iter().map(f32::from_bits);
            assert!(numbers.into_iter().all(f32::is_finite), "{time}");
        }
    }
    assert!((20..400).contains(&refused), "{refused} are refused");
}

/// Recorded motion with four constant tracks: a position, a scale, and two weights, one of them
/// held.
fn recorded() -> SourceClip {
    let mut source = motion(&skeleton(20), 6.0, 12);
    let mut constant = |bone, property, interpolation, value| {
        let times = vec![0.0, 1.0, 2.5, 6.0];
        let values = vec![value; times.len()];
        source.tracks.push(SourceTrack { bone, property, interpolation, times, values });
    };
    let (linear, step) = (SourceInterpolation::Linear, SourceInterpolation::Step);
    constant(3, TrackProperty::Position, linear, [0.1, 0.2, 0.3, 0.0]);
    constant(4, TrackProperty::Scale, step, [1.5, 1.0, 0.5, 0.0]);
    constant(0, TrackProperty::Weight, linear, [0.25, 0.0, 0.0, 0.0]);
    constant(1, TrackProperty::Weight, step, [0.75, 0.0, 0.0, 0.0]);
    source
}

/// Returns the keys of each track, in order of time.
fn keys_of(clip: &Clip) -> Vec<Vec<Key>> {
    let mut keys: Vec<Vec<Key>> = clip.jump_frames[0].keys.iter().map(|it| it.to_vec()).collect();
    let mut offset = 0;
    while let Some((key, next)) = clip.key_at(offset) {
        keys[usize::from(key.track)].push(key);
        offset = next;
    }
    keys
}

#[test]
fn all_keys_can_be_in_one_stream() {
    let (source, skeleton) = (recorded(), skeleton(20));
    let compiled = |keys| {
        let settings = ClipSettings { keys, ..ClipSettings::DEFAULT };
        compile(&source, &skeleton, &settings).unwrap()
    };
    let (stream, smallest) = (compiled(KeyForm::Stream), compiled(KeyForm::Smallest));
    let (clip, other) = (&stream.clip, &smallest.clip);
    let stats = clip.stats();
    assert_eq!((stats.constant_tracks, stats.uniform_tracks, stats.keyframes), (0, 0, 0));
    assert_eq!(stats.tracks, other.stats().tracks, "the same tracks");
    assert!(other.stats().constant_tracks == 2 && other.stats().uniform_tracks > 15);
    assert!(stream.error <= 1e-4 && smallest.error <= 1e-4, "{}", stream.error);
    assert!(other.byte_count() < clip.byte_count(), "the default is smaller");
    // A constant track is exactly two keys: at the start and at the end.
    let is_constant = |track: &Track| match track.property {
        TrackProperty::Position => track.bone == 3,
        TrackProperty::Scale | TrackProperty::Weight => true,
        TrackProperty::Rotation => false,
    };
    let keys = keys_of(clip);
    let constant = clip.tracks.iter().zip(&keys).filter(|it| is_constant(it.0));
    let constant: Vec<&Vec<Key>> = constant.map(|it| it.1).collect();
    assert_eq!(constant.len(), 4);
    for keys in constant {
        let ticks: Vec<u16> = keys.iter().map(|key| key.tick).collect();
        assert_eq!(ticks, [0, LAST_TICK]);
        assert_eq!(keys[0].value, keys[1].value);
    }
    // The keys of all tracks are in the order of the times at which they are needed.
    let (mut offset, mut due) = (0, 0);
    let mut read = vec![2; keys.len()];
    while let Some((key, next)) = clip.key_at(offset) {
        let track = usize::from(key.track);
        let needed = keys[track][read[track] - 1].tick;
        assert!(due <= needed, "{due} is before {needed}");
        (offset, due) = (next, needed);
        read[track] += 1;
    }
    assert!(clip.jump_frames.len() > 5, "{} jump frames", clip.jump_frames.len());
    assert_eq!(&read_clip(&clip.write()).unwrap(), clip);
}

#[test]
fn jumps_in_one_stream_have_the_bits_of_playing() {
    let (source, skeleton) = (recorded(), skeleton(20));
    let settings = ClipSettings { keys: KeyForm::Stream, ..ClipSettings::DEFAULT };
    let clip = compile(&source, &skeleton, &settings).unwrap().clip;
    let plain = without_jumps(&clip);
    let mut playing = ClipPlayer::new(&plain, &skeleton);
    let mut player = ClipPlayer::new(&clip, &skeleton);
    let mut random = Random::seed(40);
    for frame in 0..=360 {
        let time = frame as f32 / 60.0;
        playing.seek(&plain, time);
        let wanted = bits_of(&playing, 20);
        // From anywhere, forward and in reverse.
        player.seek(&clip, random.range_i64(0, 6000) as f32 * 1e-3);
        player.seek(&clip, time);
        assert_eq!(bits_of(&player, 20), wanted, "{time}");
    }
}
