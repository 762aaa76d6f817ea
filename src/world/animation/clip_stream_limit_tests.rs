//! Tests of the limits of streamed clips: the memory of chunks with characters that are not due,
//! the requests that wait for the thread, and the number of open streams, which models share.

use super::chunk_reader::{ChunkJob, QueuedJobs};
use super::clip_stream_tests::{
    WHOLE, assert_x, data, data_in, files_in, model, stage, step, stream_of, streamed,
};
use super::clip_streams::STREAMS_MAX;
use super::tests::{Stage, TestFiles, node};
use super::{
    AnimatedModel, AnimationStep, Animations, ChangedClips, Character, PlayOptions, bone_nodes,
};
use crate::WorldId;
use crate::scene_graph::NodePose;
use crate::unit::UnitId;
use engine_animation::ChunkState;
use engine_foundation::{HandleKind, Slots};
use engine_models::Model;
use std::sync::Arc;

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

/// Adds a character of the same model in another world.
fn add_in_other_world(stage: &mut Stage) -> (WorldId, UnitId) {
    let mut worlds = Slots::new(HandleKind::World, 2);
    worlds.add(()).unwrap();
    let world = WorldId(worlds.add(()).unwrap());
    let resource = stage.units.of(stage.unit).resource.clone();
    let unit = stage.units.spawn(world, &resource, &NodePose::IDENTITY).unwrap();
    let model = stage.character().model.clone();
    let nodes = bone_nodes(&model, &stage.units, unit);
    stage.animations.add(Character::new(unit, model, nodes));
    (world, unit)
}

#[test]
fn playing_clips_of_other_worlds_are_not_released() {
    let mut stage = stage(&["dance", "other"], &data());
    stage.animations.streams.set_limit(0);
    stage.play("dance", WHOLE).unwrap();
    let (other_world, unit) = add_in_other_world(&mut stage);
    let character = stage.animations.of_mut(unit.row()).unwrap();
    let clip = character.model.position("other").unwrap();
    character.play(clip, WHOLE).unwrap();
    for round in 0..3 {
        stage.step(if round == 0 { 2.5 } else { 0.0 });
        let Stage { animations, units, bodies, pool, .. } = &mut stage;
        let seconds = if round == 0 { 5.5 } else { 0.0 };
        let step = AnimationStep { world: other_world, seconds, viewers: &[], waits: true };
        animations.update(step, units, bodies, pool).unwrap();
        assert!(stream_of(&stage, "dance").chunks.is_resident(2), "round {round}");
        assert!(stream_of(&stage, "other").chunks.is_resident(5), "round {round}");
    }
    assert_eq!(stage.animations.streams.take_counts(), [2, 0], "nothing is read again");
}

#[test]
fn playing_clips_at_coarse_levels_of_detail_are_kept() {
    let mut stage = stage(&["dance"], &data());
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().detail.level = Some(3);
    stage.play("dance", WHOLE).unwrap();
    stage.step(2.25);
    stage.animations.streams.set_limit(0);
    let stream = stream_of(&stage, "dance");
    let mut evaluated = 0;
    for update in 0..24 {
        step(&mut stage, 0.01);
        evaluated += usize::from(stage.character().is_due);
        assert!(stream.chunks.is_resident(2), "update {update}");
    }
    assert_eq!(evaluated, 3);
    assert_eq!(stage.animations.streams.take_counts(), [1, 0]);
}

#[test]
fn a_chunk_that_its_player_holds_is_not_late() {
    let mut stage = stage(&["dance"], &data());
    stage.play("dance", WHOLE).unwrap();
    stage.step(2.25);
    let stream = stream_of(&stage, "dance");
    stream.chunks.set(2, ChunkState::Absent);
    step(&mut stage, 0.25);
    assert_x(&stage, 2.5);
    assert_eq!(stage.animations.streams.take_counts(), [1, 0]);
    assert_eq!(stream.chunks.state(2), ChunkState::Absent, "it is not read again");
}

#[test]
fn requested_chunks_count_as_memory() {
    let mut stage = stage(&["dance"], &data());
    let stream = stream_of(&stage, "dance");
    let bytes = stream.chunk_bytes();
    stage.animations.streams.set_limit(bytes * 3 / 2);
    stage.play("dance", PlayOptions { speed: 5.0, ..WHOLE }).unwrap();
    step(&mut stage, 0.01);
    assert_eq!(stage.animations.streams.requested_bytes(), bytes);
    assert_eq!(stream.chunks.state(2), ChunkState::Absent, "there is room for one chunk");
    stage.animations.streams.wait();
    assert!(stream.chunks.is_resident(1));
    assert_eq!(stage.animations.streams.requested_bytes(), 0);
}

#[test]
fn current_poses_are_read_first_and_old_requests_end() {
    let stage = stage(&["dance"], &data());
    let stream = stream_of(&stage, "dance");
    let mut queued = QueuedJobs::default();
    for (chunk, update, is_current) in
        [(1, 7, false), (2, 5, true), (3, 6, true), (4, 8, false), (5, 6, true), (6, 1, true)]
    {
        assert!(stream.note_use(chunk, update, is_current));
        let stream = Arc::downgrade(&stream);
        queued.jobs.push(ChunkJob { stream, chunk, bytes: 1 });
    }
    assert!(!stream.note_use(4, 8, true), "it was noted as one to read ahead");
    let old: Vec<usize> = queued.remove_old(5).iter().map(|job| job.chunk).collect();
    assert_eq!(old, [6]);
    let order: Vec<usize> = std::iter::from_fn(|| queued.take()).map(|job| job.chunk).collect();
    assert_eq!(order, [4, 3, 5, 2, 1]);
}

#[test]
fn requests_that_nobody_needs_end() {
    let mut stage = stage(&["dance"], &data());
    stage.play("dance", WHOLE).unwrap();
    step(&mut stage, 0.25);
    let stream = stream_of(&stage, "dance");
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().stop(None, 0.0);
    (0..70).for_each(|_| step(&mut stage, 0.0));
    for _ in 0..600 {
        if stage.animations.streams.requested_bytes() == 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        step(&mut stage, 0.0);
    }
    assert_eq!(stage.animations.streams.requested_bytes(), 0);
    assert_ne!(stream.chunks.state(1), ChunkState::Requested);
}

#[test]
fn the_number_of_open_streams_is_limited() {
    let mut stage = stage(&["dance"], &data());
    let streams = &mut stage.animations.streams;
    let stream = streamed("other", &data()).stream.unwrap();
    for _ in 0..STREAMS_MAX {
        streams.check_room().unwrap();
        streams.add(&stream);
    }
    let message = streams.check_room().unwrap_err().message;
    assert!(message.contains("256 streamed animations"), "{message}");
    drop(stream);
    streams.check_room().unwrap();
}

#[test]
fn models_with_the_same_bones_share_a_stream() {
    let folder = std::env::temp_dir().join(format!("engine-{}-shared", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bytes = data();
    std::fs::write(folder.join("dance"), &bytes).unwrap();
    let mut files = files_in(&folder, &bytes);
    let mut stage = stage(&[], &bytes);
    let mut larger = model();
    larger.data.nodes.push(node("tail", Some(0)));
    for (name, model) in [("twin", model()), ("larger", larger)] {
        let model = AnimatedModel::read(&Model { name: name.to_string(), ..model }).unwrap();
        stage.animations.models.insert(name.to_string(), Arc::new(model));
    }
    let Stage { animations, units, .. } = &mut stage;
    let read = |animations: &Animations| {
        ["rig", "twin", "larger"].map(|name| {
            let clips = &animations.models[name].clips;
            clips.iter().find(|clip| clip.name == "dance").expect("it was requested").clone()
        })
    };
    for name in ["rig", "twin", "larger"] {
        animations.clip(name, "dance", &mut files).unwrap();
    }
    let [rig, twin, larger] = read(animations);
    assert!(Arc::ptr_eq(&rig, &twin) && !Arc::ptr_eq(&rig, &larger));
    let changed = ChangedClips { models: Vec::new(), animations: vec!["dance"] };
    let names = animations.reload_clips(&changed, units, &mut files);
    assert_eq!(names.len(), 3);
    let [new_rig, new_twin, new_larger] = read(animations);
    assert!(Arc::ptr_eq(&new_rig, &new_twin) && !Arc::ptr_eq(&new_rig, &rig));
    assert!(!Arc::ptr_eq(&new_larger, &larger) && new_larger.stream.is_some());
    let late = AnimatedModel::read(&Model { name: "late".to_string(), ..model() }).unwrap();
    animations.models.insert("late".to_string(), Arc::new(late));
    let mut without = TestFiles::new(Vec::new());
    assert!(animations.clip("late", "dance", &mut without).is_err(), "the file is missing");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn twins_share_whole_clips_unless_their_rest_differs() {
    for chunk_seconds in [None, Some(1.0)] {
        let folder = std::env::temp_dir().join(format!("engine-{}-twins", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let bytes = data_in(chunk_seconds);
        std::fs::write(folder.join("dance"), &bytes).unwrap();
        let mut files = files_in(&folder, &bytes);
        let mut stage = stage(&[], &data());
        // As another export of the same rig has it.
        let mut rounded = model();
        let [_, _, height] = &mut rounded.data.nodes[1].position;
        *height = height.next_up();
        let names = ["rig", "twin", "rounded"];
        for (name, model) in [("twin", model()), ("rounded", rounded)] {
            let model = AnimatedModel::read(&Model { name: name.to_string(), ..model }).unwrap();
            stage.animations.models.insert(name.to_string(), Arc::new(model));
        }
        let Stage { animations, units, .. } = &mut stage;
        let read = |animations: &Animations| {
            names.map(|name| {
                let clips = &animations.models[name].clips;
                clips.iter().find(|clip| clip.name == "dance").expect("it was requested").clone()
            })
        };
        for name in names {
            animations.clip(name, "dance", &mut files).unwrap();
        }
        let [rig, twin, rounded] = read(animations);
        assert_eq!(rig.stream.is_some(), chunk_seconds.is_some());
        assert!(Arc::ptr_eq(&rig, &twin) && !Arc::ptr_eq(&rig, &rounded));
        // Nobody can read the new version: all keep the previous one.
        std::fs::write(folder.join("dance"), &bytes[..100]).unwrap();
        let changed = ChangedClips { models: Vec::new(), animations: vec!["dance"] };
        assert_eq!(animations.reload_clips(&changed, units, &mut files).len(), 3);
        let kept = read(animations);
        let before = [&rig, &twin, &rounded];
        assert!(kept.iter().zip(before).all(|(kept, before)| Arc::ptr_eq(kept, before)));
        // The next version is shared again.
        std::fs::write(folder.join("dance"), &bytes).unwrap();
        animations.reload_clips(&changed, units, &mut files);
        let [new_rig, new_twin, new_rounded] = read(animations);
        assert!(Arc::ptr_eq(&new_rig, &new_twin) && !Arc::ptr_eq(&new_rig, &rig));
        assert!(!Arc::ptr_eq(&new_rounded, &rounded) && !Arc::ptr_eq(&new_rounded, &new_rig));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
