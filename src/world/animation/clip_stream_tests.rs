//! Tests of the reading ahead of streamed clips: runs that wait and runs that do not, loops,
//! reverse playback, cross-fades, damaged chunks and replaced clips. Those of the limits are in
//! clip_stream_limit_tests.rs.

use super::animated_model::{AnimatedModel, ClipOrigin, NamedClip};
use super::clip_stream::{self, ClipStream, OpenedAnimation};
use super::clip_streams::ClipUse;
use super::tests::{ONCE, Stage, TestFiles, node};
use super::{
    ANIMATION_FILE, AnimationStep, BoundMachine, CharacterMachine, PlayOptions, compile_clips,
    skeleton_of,
};
use engine_animation::{
    AnimationData, AnimationHead, ChunkState, ClipSettings, SourceClip, SourceInterpolation,
    SourceTrack, TrackProperty, compile, compile_state_machine,
};
use engine_foundation::file_access::FileState;
use engine_foundation::hash::murmur64a;
use engine_foundation::{Error, error, log};
use engine_models::Model;
use engine_models::data::ModelData;
use engine_resource::data_pieces::DataPieces;
use engine_resource::index::{FileStamp, IndexEntry, ResourceIndex};
use engine_resource::resource_kind::{ResourceKinds, SourceForm};
use engine_resource::resource_name::ResourceName;
use engine_resource::store::{DataSource, ResourceStore};
use engine_resource::variant::VariantProperties;
use std::path::Path;
use std::sync::Arc;

/// Seconds of the clip. It moves the hip along x by its time, in chunks of one second.
const SECONDS: f32 = 8.0;

pub(super) fn model() -> Model {
    let nodes = vec![node("hip", None), node("chest", Some(0)), node("head", Some(1))];
    let mut data = ModelData { nodes, ..ModelData::default() };
    compile_clips(&mut data).unwrap();
    Model { name: "rig".to_string(), data, meshes: vec![], materials: vec![] }
}

/// Returns the compiled form of the clip, in chunks of one second.
pub(super) fn data() -> Vec<u8> {
    data_in(Some(1.0))
}

/// Returns the compiled form of the clip, in chunks or as a whole.
pub(super) fn data_in(chunk_seconds: Option<f32>) -> Vec<u8> {
    let skeleton = skeleton_of(&model().data).unwrap();
    let times: Vec<f32> = (0..=240).map(|key| key as f32 / 30.0).collect();
    let values = times.iter().map(|time| [*time, 0.0, 0.0, 0.0]).collect();
    let (property, interpolation) = (TrackProperty::Position, SourceInterpolation::Linear);
    let track = SourceTrack { bone: 0, property, interpolation, times, values };
    let source = SourceClip { seconds: SECONDS, tracks: vec![track] };
    let settings = ClipSettings { chunk_seconds, ..ClipSettings::DEFAULT };
    let clip = compile(&source, &skeleton, &settings).unwrap().clip;
    let (source, warning) = ("dance.gltf".to_string(), String::new());
    let (names, unmatched) = (Vec::new(), Vec::new());
    AnimationData { source, skeleton, clip, names, root_line: 0, unmatched, warning }.write()
}

fn pieces(bytes: &[u8]) -> DataPieces {
    DataPieces::new(ResourceName::new("animation", "dance"), bytes.to_vec().into())
}

pub(super) fn streamed(name: &str, bytes: &[u8]) -> NamedClip {
    let pieces = pieces(bytes);
    let OpenedAnimation::Streamed(head) = clip_stream::open(&pieces).unwrap() else {
        panic!("it is streamed");
    };
    let skeleton = skeleton_of(&model().data).unwrap();
    let first = clip_stream::read_chunk(&pieces, &head, 0).unwrap();
    let (clip, stream) = ClipStream::new(name, (pieces, *head, first), &skeleton).unwrap();
    let named = NamedClip::new(name, clip, ClipOrigin::Animation);
    NamedClip { stream: Some(Arc::new(stream)), ..named }
}

/// A character that can play `names`, each of its own file with the same content.
pub(super) fn stage(names: &[&str], bytes: &[u8]) -> Stage {
    let mut shared = AnimatedModel::read(&model()).unwrap();
    shared.clips.extend(names.iter().map(|name| Arc::new(streamed(name, bytes))));
    let mut stage = Stage::of(shared);
    stage.animations.streams.is_used = true;
    stage
}

pub(super) fn stream_of(stage: &Stage, name: &str) -> Arc<ClipStream> {
    let model = &stage.character().model;
    model.clips[usize::from(model.position(name).unwrap())].stream.clone().unwrap()
}

/// Updates without waiting for chunks.
pub(super) fn step(stage: &mut Stage, seconds: f32) {
    let Stage { animations, units, bodies, pool, world, .. } = stage;
    let step = AnimationStep { world: *world, seconds, viewers: &[], waits: false };
    animations.update(step, units, bodies, pool).unwrap();
}

pub(super) const WHOLE: PlayOptions = PlayOptions { range: [0.0, SECONDS], ..ONCE };

#[track_caller]
pub(super) fn assert_x(stage: &Stage, expected: f32) {
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
pub(super) fn lines_with(text: &str) -> usize {
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
        let use_of_clip = ClipUse { time, speed, range: [0.0, SECONDS], loops, held: None };
        use_of_clip.ahead(chunks).into_iter().flatten().collect::<Vec<usize>>()
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
    assert_eq!(ahead(f32::NAN, f32::NAN, true), none);
    assert_eq!(ahead(0.5, f32::INFINITY, false), [1, 2]);
    assert_eq!(ahead(f32::INFINITY, 1.0, true), none);
    let range = [2.0, 3.5];
    let part = ClipUse { time: 2.5, speed: 2.0, range, loops: true, held: None };
    assert_eq!(part.ahead(chunks), [Some(3), Some(2)]);
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
fn chunks_of_replaced_clips_are_released() {
    let bytes = data();
    let mut stage = stage(&["dance"], &bytes);
    stage.play("dance", WHOLE).unwrap();
    stage.step(3.5);
    assert_eq!(stage.animations.streams.resident()[0], 1);
    reload(&mut stage, &bytes);
    stage.step(0.25);
    assert_x(&stage, 3.75);
    assert_eq!(stage.animations.streams.resident()[0], 1, "that of the new version");
}

/// Replaces the clips of a character by another version with the same content.
fn reload(stage: &mut Stage, bytes: &[u8]) -> Arc<AnimatedModel> {
    let mut shared = AnimatedModel::read(&model()).unwrap();
    shared.clips.push(Arc::new(streamed("dance", bytes)));
    let shared = Arc::new(shared);
    stage.animations.models.insert("rig".to_string(), shared.clone());
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().reload_clips(&shared);
    shared
}

#[test]
fn a_reload_of_a_playing_clip_shows_no_start_pose() {
    let bytes = data();
    let mut stage = stage(&["dance"], &bytes);
    stage.play("dance", WHOLE).unwrap();
    stage.step(3.5);
    reload(&mut stage, &bytes);
    step(&mut stage, 0.25);
    assert_x(&stage, 3.75);
    // Later jumps do not wait.
    let id = stage.character().playing()[0].id;
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().set_clip_time(id, 6.5);
    step(&mut stage, 0.0);
    assert_x(&stage, 3.75);
}

#[test]
fn a_reloaded_state_machine_shows_no_start_pose() {
    let bytes = data();
    let mut stage = stage(&["dance"], &bytes);
    let text = "skeleton = \"rig\"
        layers = [{ initial = \"a\" states = { a = { clip = \"dance\" } } }]";
    let bound = |model: &Arc<AnimatedModel>, number: usize| {
        let machine = compile_state_machine("a.state_machine", text).unwrap();
        let clips = vec![model.position("dance").unwrap()];
        Arc::new(BoundMachine::new("a", number, machine, (model, clips)).unwrap())
    };
    let row = stage.unit.row();
    let machine = CharacterMachine::new(bound(&stage.character().model, 1), 1);
    stage.animations.of_mut(row).unwrap().set_machine(Some(machine));
    stage.step(3.5);
    assert_x(&stage, 3.5);
    let shared = reload(&mut stage, &bytes);
    stage.animations.of_mut(row).unwrap().reload_machine(&bound(&shared, 2));
    step(&mut stage, 0.25);
    assert_x(&stage, 3.75);
}

static KINDS: ResourceKinds = ResourceKinds(&[&ANIMATION_FILE]);

/// Returns the files of a game whose index has the content of `bytes`.
pub(super) fn files_in(folder: &Path, bytes: &[u8]) -> TestFiles {
    let entry = IndexEntry {
        resource: ResourceName::new("animation", "dance"),
        properties: VariantProperties::default(),
        form: SourceForm::Own,
        kind_version: ANIMATION_FILE.version,
        data: "dance".to_string(),
        data_content: murmur64a(bytes, 0),
        files: vec![FileStamp {
            path: "dance.animation".to_string(),
            state: FileState::default(),
            content: 0,
        }],
        references: Vec::new(),
    };
    let index = ResourceIndex { entries: vec![entry], ..ResourceIndex::default() };
    let source = DataSource::Folder(folder.to_path_buf(), KINDS);
    TestFiles { store: ResourceStore::new(index, source), models: Vec::new() }
}

#[test]
fn damaged_files_are_compiled_again() {
    let folder = std::env::temp_dir().join(format!("engine-{}-streams", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, mark) = (folder.join("dance"), folder.join("doubtful"));
    let bytes = data();
    let mut files = files_in(&folder, &bytes);
    let mut open = |stage: &mut Stage, data: &[u8]| {
        std::fs::write(&file, data).unwrap();
        stage.animations.clip("rig", "dance", &mut files).map_err(|error| error.message)
    };
    let mut stage = stage(&[], &bytes);
    // A part of a file is read as a whole, as one in which the head is damaged.
    let head = AnimationHead::byte_count(&bytes).unwrap() as usize;
    let with_damage = |at: usize| {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        damaged
    };
    for damaged in [bytes[..100].to_vec(), with_damage(40), with_damage(head - 3)] {
        let message = open(&mut stage, &damaged).unwrap_err();
        assert!(
            message.starts_with("the compiled data of dance.animation was damaged"),
            "{message}"
        );
        assert!(mark.exists(), "the next start compares all files");
        std::fs::remove_file(&mark).unwrap();
    }
    let message = open(&mut stage, &with_damage(head + 40)).unwrap_err();
    assert!(message.starts_with("the compiled data of dance.animation was damaged"), "{message}");
    assert!(!file.exists() && mark.exists(), "its first chunk is damaged");
    let clip = open(&mut stage, &bytes).unwrap();
    assert!(stage.character().model.clips[usize::from(clip)].stream.is_some());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_temporary_failure_is_reported_once_and_tried_again() {
    let mut stage = stage(&["passing"], &data());
    stage.play("passing", WHOLE).unwrap();
    stage.step(0.5);
    let stream = stream_of(&stage, "passing");
    for kind in 0..3 {
        let message = if kind == 2 { "not enough memory: 1 MiB" } else { "it fails" };
        let (is_transient, is_engine_fault) = (kind == 0, kind == 1);
        let error = Error { is_transient, is_engine_fault, ..error!("{message}") };
        stage.animations.streams.finish(&stream, 1, Err(error));
        assert_eq!(stream.chunks.state(1), ChunkState::Absent);
    }
    assert_eq!(lines_with("animation 'passing': it fails: poses hold until it can be read"), 1);
    assert_eq!(lines_with("animation 'passing':"), 1);
    stage.step(0.75);
    assert_x(&stage, 0.5);
    (0..60).for_each(|_| stage.step(0.0));
    assert_x(&stage, 1.25);
    let late = Error { is_transient: true, ..error!("it fails") };
    stage.animations.streams.finish(&stream, 1, Err(late));
    assert!(stream.chunks.is_resident(1), "an update has read it");
    stage.animations.streams.finish(&stream, 2, Err(error!("it is damaged")));
    assert_eq!(stream.chunks.state(2), ChunkState::Failed);
}

#[test]
fn without_a_thread_frames_wait_with_one_warning() {
    let mut stage = stage(&["alone"], &data());
    stage.animations.streams.keep_reader(Err(error!("the system has no more of them")));
    let id = stage.play("alone", WHOLE).unwrap();
    for time in [2.5, 5.5] {
        let row = stage.unit.row();
        stage.animations.of_mut(row).unwrap().set_clip_time(id, time);
        step(&mut stage, 0.0);
        assert_x(&stage, time);
    }
    assert_eq!(lines_with("the system has no more of them: frames wait for their data"), 1);
}

#[test]
fn a_script_samples_chunks_that_nobody_plays() {
    let mut bytes = data();
    let end = bytes.len();
    bytes[end - 10] ^= 0x10;
    let mut stage = stage(&["dance", "other"], &bytes);
    let model = stage.character().model.clone();
    let [dance, other] = ["dance", "other"].map(|name| model.position(name).unwrap());
    for (clip, time) in [(dance, 0.5), (dance, 6.25), (other, 6.5), (dance, 6.5), (dance, 1.5)] {
        let x = stage.animations.sample(&model, clip, 0, time).unwrap().position.x;
        assert!((x - time).abs() < 1e-3, "{x} is not {time}");
    }
    assert_eq!(stage.animations.streams.resident()[0], 0);
    let message = stage.animations.sample(&model, dance, 0, 7.5).unwrap_err().message;
    assert!(message.starts_with("animation 'dance': the data of dance.animation: "), "{message}");
    let start = stage.animations.sample(&model, dance, 0, f32::NAN).unwrap().position.x;
    assert!(start.abs() < 1e-3, "{start}");
}
