//! Tests of the reading ahead of streamed clips: runs that wait and runs that do not, loops,
//! reverse playback, cross-fades, the limit of memory, damaged chunks and replaced clips.

use super::animated_model::{AnimatedModel, ClipOrigin, NamedClip};
use super::clip_stream::{self, ClipStream, OpenedAnimation};
use super::clip_streams::ClipUse;
use super::tests::{ONCE, Stage, node};
use super::{AnimationStep, PlayOptions, compile_clips, skeleton_of};
use engine_animation::{
    AnimationData, ChunkState, ClipSettings, SourceClip, SourceInterpolation, SourceTrack,
    TrackProperty, compile,
};
use engine_foundation::log;
use engine_models::Model;
use engine_models::data::ModelData;
use engine_resource::data_pieces::DataPieces;
use engine_resource::resource_name::ResourceName;
use std::sync::Arc;

/// Seconds of the clip. It moves the hip along x by its time, in chunks of one second.
const SECONDS: f32 = 8.0;

fn model() -> Model {
    let nodes = vec![node("hip", None), node("chest", Some(0)), node("head", Some(1))];
    let mut data = ModelData { nodes, ..ModelData::default() };
    compile_clips(&mut data).unwrap();
    Model { name: "rig".to_string(), data, meshes: vec![], materials: vec![] }
}

/// Returns the compiled form of the clip.
fn data() -> Vec<u8> {
    let skeleton = skeleton_of(&model().data).unwrap();
    let times: Vec<f32> = (0..=240).map(|key| key as f32 / 30.0).collect();
    let values = times.iter().map(|time| [*time, 0.0, 0.0, 0.0]).collect();
    let (property, interpolation) = (TrackProperty::Position, SourceInterpolation::Linear);
    let track = SourceTrack { bone: 0, property, interpolation, times, values };
    let source = SourceClip { seconds: SECONDS, tracks: vec![track] };
    let settings = ClipSettings { chunk_seconds: Some(1.0), ..ClipSettings::DEFAULT };
    let clip = compile(&source, &skeleton, &settings).unwrap().clip;
    AnimationData { source: "dance.gltf".to_string(), skeleton, clip, names: vec![] }.write()
}

fn pieces(bytes: &[u8]) -> DataPieces {
    DataPieces::new(ResourceName::new("animation", "dance"), bytes.to_vec().into())
}

fn streamed(name: &str, bytes: &[u8]) -> NamedClip {
    let pieces = pieces(bytes);
    let OpenedAnimation::Streamed(head) = clip_stream::open(&pieces).unwrap() else {
        panic!("it is streamed");
    };
    let skeleton = skeleton_of(&model().data).unwrap();
    let (clip, stream) = ClipStream::new(name, (pieces, head), &skeleton).unwrap();
    let named = NamedClip::new(name, clip, ClipOrigin::Animation);
    NamedClip { stream: Some(Arc::new(stream)), ..named }
}

/// A character that can play `names`, each of its own file with the same content.
fn stage(names: &[&str], bytes: &[u8]) -> Stage {
    let mut shared = AnimatedModel::read(&model()).unwrap();
    shared.clips.extend(names.iter().map(|name| Arc::new(streamed(name, bytes))));
    let mut stage = Stage::of(shared);
    stage.animations.streams.is_used = true;
    stage
}

fn stream_of(stage: &Stage, name: &str) -> Arc<ClipStream> {
    let model = &stage.character().model;
    model.clips[usize::from(model.position(name).unwrap())].stream.clone().unwrap()
}

/// Updates without waiting for chunks.
fn step(stage: &mut Stage, seconds: f32) {
    let Stage { animations, units, bodies, pool, world, .. } = stage;
    let step = AnimationStep { world: *world, seconds, viewers: &[], waits: false };
    animations.update(step, units, bodies, pool).unwrap();
}

const WHOLE: PlayOptions = PlayOptions { range: [0.0, SECONDS], ..ONCE };

#[track_caller]
fn assert_x(stage: &Stage, expected: f32) {
    let x = stage.x(1);
    assert!((x - expected).abs() < 1e-3, "{x} is not {expected}");
}

#[test]
fn a_run_that_waits_has_each_chunk_when_it_needs_it() {
    let mut stage = stage(&["dance"], &data());
    let id = stage.play("dance", PlayOptions { loops: true, ..WHOLE }).unwrap();
    for time in [0.5, 3.2, 7.9] {
        let row = stage.unit.row();
        stage.animations.of_mut(row).unwrap().set_clip_time(id, time);
        stage.step(0.0);
        assert_x(&stage, time);
    }
    stage.step(0.3);
    assert_x(&stage, 0.2);
    assert_eq!(stage.animations.streams.resident()[0], 2, "nothing is read ahead");
    assert_eq!(stage.animations.streams.take_counts(), [2, 0]);
    stage.play("dance", PlayOptions { speed: -1.0, ..WHOLE }).unwrap();
    stage.step(2.5);
    assert_x(&stage, 5.5);
}

/// Returns the number of log lines with a text.
fn lines_with(text: &str) -> usize {
    log::last_lines().iter().filter(|line| line.contains(text)).count()
}

#[test]
fn a_pose_holds_while_its_chunk_is_late_and_time_continues() {
    let mut stage = stage(&["late"], &data());
    let id = stage.play("late", WHOLE).unwrap();
    step(&mut stage, 0.25);
    assert_x(&stage, 0.25);
    // Two chunks are read ahead; the other ones are not.
    stage.animations.streams.wait();
    let stream = stream_of(&stage, "late");
    assert!(matches!(stream.chunks.state(1), ChunkState::Resident(_)));
    assert_eq!(stream.chunks.state(2), ChunkState::Absent, "it is more than a second away");
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().set_clip_time(id, 5.5);
    step(&mut stage, 0.1);
    assert_x(&stage, 0.25);
    assert_eq!(stage.character().playing()[0].time, 5.6);
    step(&mut stage, 0.0);
    assert_eq!(lines_with("animation 'late': the data of second 5.0 was not read in time"), 1);
    while !matches!(stream.chunks.state(5), ChunkState::Resident(_)) {
        stage.animations.streams.wait();
    }
    step(&mut stage, 0.1);
    assert_x(&stage, 5.7);
    assert!(stage.animations.streams.take_counts()[1] >= 1);
}

#[test]
fn chunks_ahead_follow_speed_and_direction() {
    let stage = stage(&["dance"], &data());
    let chunks = &stream_of(&stage, "dance").chunks;
    let ahead = |time: f32, speed: f32, loops: bool| {
        ClipUse { time, speed, range: [0.0, SECONDS], loops }.ahead(chunks)
    };
    let none: [usize; 0] = [];
    assert_eq!(ahead(0.0, 0.5, false), none);
    assert_eq!(ahead(0.5, 1.0, false), [1]);
    assert_eq!(ahead(0.5, 5.0, false), [1, 2]);
    assert_eq!(ahead(7.5, 1.0, false), none);
    assert_eq!(ahead(7.5, 3.0, true), [0, 1]);
    assert_eq!(ahead(2.5, -1.0, false), [1]);
    assert_eq!(ahead(0.5, -1.0, true), [7]);
    assert_eq!(ahead(0.5, -1.0, false), none);
    assert_eq!(ahead(0.5, 0.0, true), none);
    assert!(ahead(f32::NAN, f32::NAN, true).len() <= 2);
    let part = ClipUse { time: 2.5, speed: 2.0, range: [2.0, 3.5], loops: true };
    assert_eq!(part.ahead(chunks), [3, 2]);
}

#[test]
fn both_clips_of_a_cross_fade_are_read() {
    let mut stage = stage(&["dance", "other"], &data());
    stage.play("dance", WHOLE).unwrap();
    stage.step(2.0);
    stage.play("other", PlayOptions { blend: 1.0, ..WHOLE }).unwrap();
    stage.step(0.0);
    stage.step(0.5);
    assert_x(&stage, 0.5 * 2.5 + 0.5 * 0.5);
    let other = stage.character().playing()[1].id;
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().set_clip_time(other, 6.5);
    stage.step(0.0);
    assert_x(&stage, 0.5 * 2.5 + 0.5 * 6.5);
}

#[test]
fn a_damaged_chunk_holds_the_pose_and_is_reported_once() {
    let mut bytes = data();
    let end = bytes.len();
    bytes[end - 10] ^= 0x10;
    let mut stage = stage(&["damaged"], &bytes);
    let id = stage.play("damaged", WHOLE).unwrap();
    stage.step(6.5);
    assert_x(&stage, 6.5);
    (0..3).for_each(|_| stage.step(0.4));
    assert_eq!(lines_with("animation 'damaged': the data of dance.animation: it is damaged"), 1);
    assert_eq!(lines_with(": poses hold from second 7.0 to 8.0"), 1);
    assert_x(&stage, 6.9);
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().set_clip_time(id, 1.5);
    stage.step(0.0);
    assert_x(&stage, 1.5);
}

#[test]
fn damaged_heads_are_refused() {
    let bytes = data();
    for cut in [0, 10, 23, bytes.len() - 1] {
        assert!(clip_stream::open(&pieces(&bytes[..cut])).is_err(), "{cut}");
    }
    // What ends in its head is read as a whole, and refused.
    assert!(matches!(clip_stream::open(&pieces(&bytes[..100])), Ok(OpenedAnimation::Whole)));
    assert!(AnimationData::read(&bytes[..100]).is_err());
    let longer = [&bytes[..], &[0]].concat();
    assert!(clip_stream::open(&pieces(&longer)).is_err());
    let mut huge = bytes;
    huge[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(clip_stream::open(&pieces(&huge)).is_err());
}

#[test]
fn the_oldest_chunks_are_released_above_the_limit() {
    let mut stage = stage(&["dance"], &data());
    let id = stage.play("dance", WHOLE).unwrap();
    for second in 1..8 {
        let row = stage.unit.row();
        stage.animations.of_mut(row).unwrap().set_clip_time(id, second as f32 + 0.5);
        stage.step(0.0);
    }
    let [count, bytes] = stage.animations.streams.resident();
    assert_eq!(count, 7);
    stage.animations.streams.set_limit(bytes / 2);
    stage.step(0.0);
    let [count, after] = stage.animations.streams.resident();
    assert!((2..=3).contains(&count) && after <= bytes / 2, "{count} chunks");
    let stream = stream_of(&stage, "dance");
    assert_eq!(stream.chunks.state(1), ChunkState::Absent, "the oldest one");
    assert!(matches!(stream.chunks.state(7), ChunkState::Resident(_)), "it is played");
    stage.animations.streams.set_limit(0);
    stage.step(0.0);
    assert_eq!(stage.animations.streams.resident()[0], 1, "what is played stays");
    assert_x(&stage, 7.5);
}

#[test]
fn chunks_of_replaced_clips_are_released() {
    let bytes = data();
    let mut stage = stage(&["dance"], &bytes);
    stage.play("dance", WHOLE).unwrap();
    stage.step(3.5);
    assert_eq!(stage.animations.streams.resident()[0], 1);
    let mut shared = AnimatedModel::read(&model()).unwrap();
    shared.clips.push(Arc::new(streamed("dance", &bytes)));
    let shared = Arc::new(shared);
    stage.animations.models.insert("rig".to_string(), shared.clone());
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().reload_clips(&shared);
    stage.step(0.25);
    assert_x(&stage, 3.75);
    assert_eq!(stage.animations.streams.resident()[0], 1, "that of the new version");
}

#[test]
fn a_script_samples_chunks_that_nobody_plays() {
    let stage = stage(&["dance"], &data());
    let model = &stage.character().model;
    for time in [0.5, 6.25, 6.5, 1.5] {
        let x = model.sample(model.position("dance").unwrap(), 0, time).position.x;
        assert!((x - time).abs() < 1e-3, "{x} is not {time}");
    }
    assert_eq!(stage.animations.streams.resident()[0], 0);
}
