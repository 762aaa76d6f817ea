//! Tests of snapshots of characters: the updates after a restored snapshot are equal to those that
//! followed it before, to the last bit.

use super::crowd_tests::{Crowd, MACHINE};
use super::*;
use engine_foundation::Vec3;
use engine_foundation::hash::StateHash;

/// Returns a hash of the state, the matrices and the nodes of all characters.
fn hash(crowd: &Crowd) -> u64 {
    let mut hash = StateHash::new(0);
    for unit in &crowd.crowd {
        let Some(character) = crowd.animations.of(unit.row()) else { continue };
        character.write_state(&mut hash);
        for matrix in character.matrices() {
            matrix.0.iter().flat_map(|row| row.0).for_each(|number| hash.write_f32(number));
        }
        for node in 0..crowd.units.scene.count(unit.row()) {
            let NodePose { position, rotation, scale } = crowd.units.scene.local(unit.row(), node);
            let numbers = position.to_array().into_iter().chain(rotation.to_array());
            numbers.chain(scale.to_array()).for_each(|number| hash.write_f32(number));
        }
    }
    hash.finish()
}

/// Plays a number of frames in which random events happen, and returns the hash of each.
fn play(crowd: &mut Crowd, frames: usize) -> Vec<u64> {
    let frame = |frame: usize| {
        let index = (crowd.random() * (crowd.crowd.len() as f32 - 0.1)) as usize;
        let unit = crowd.crowd[index];
        if frame.is_multiple_of(3) {
            crowd.disturb(unit);
        }
        if frame.is_multiple_of(5) {
            let y = crowd.random() * 10.0;
            crowd.units.scene.set_local_position(unit.row(), 0, Vec3::new(0.0, y, 0.0));
        }
        if frame.is_multiple_of(20) {
            let node = crowd.units.scene.count(unit.row()) - 1;
            let scale = Vec3::splat(1.0 + crowd.random());
            crowd.units.scene.set_local_scale(unit.row(), node, scale);
        }
        crowd.step(1.0 / 60.0);
        hash(crowd)
    };
    (0..frames).map(frame).collect()
}

/// Options with which clocks come together.
const NEAR: MergeOptions =
    MergeOptions { max_start_time: 0.1, max_drift: 0.2, clock_fidelity: 0.9 };

/// A crowd with springs and feet, targets of constraints, clips of scripts that fade, levels of
/// detail with their bones, and modes of bones and roots. Merging is in [`merging_crowd`].
fn crowd(threads: usize) -> Crowd {
    let mut crowd = Crowd::new(48, threads, &MACHINE.replace("FEET", "[\"feet\"]"));
    let lists = Arc::new(vec![vec!["head".to_string()]]);
    for (index, unit) in crowd.crowd.iter().enumerate() {
        let character = crowd.animations.of_mut(unit.row()).unwrap();
        match index % 6 {
            0 => {
                let id = character.play(1, PlayOptions::once(2.0)).unwrap();
                (character.simple, character.root_mode) = (Some(id), RootMode::Position);
            }
            1 => {
                let fade = PlayOptions { blend: 3.0, loops: true, ..PlayOptions::once(2.0) };
                character.play(2, fade).unwrap();
                character.play(3, PlayOptions { layer: 2, speed: -0.5, ..fade }).unwrap();
            }
            2 => {
                character.set_bone_sets(&lists);
                character.detail.level = Some(2);
            }
            3 => character.set_bone_mode(BoneMode::Rotation),
            _ => {}
        }
    }
    crowd
}

/// A crowd whose characters share poses, and move towards the times of others.
fn merging_crowd(threads: usize) -> Crowd {
    let mut crowd = Crowd::new(48, threads, merging_tests::MACHINE);
    for unit in &crowd.crowd {
        crowd.animations.of_mut(unit.row()).unwrap().set_merge_options(Some(NEAR));
    }
    crowd
}

/// Compares updates after a snapshot with those after it was restored.
fn compare(mut crowd: Crowd) -> Vec<u64> {
    play(&mut crowd, 50);
    let kept = crowd.animations.snapshot(crowd.world, &mut crowd.units, &crowd.bodies).unwrap();
    let seed = crowd.seed;
    let first = play(&mut crowd, 100);
    assert!(first.windows(2).all(|pair| pair[0] != pair[1]), "the characters move");
    for round in 0..2 {
        // Changes that the snapshot takes back.
        for unit in &crowd.crowd {
            let character = crowd.animations.of_mut(unit.row()).unwrap();
            character.set_bone_mode(BoneMode::Ignore);
            character.set_merge_options(None);
            character.detail.level = Some(1);
            (character.simple, character.root_mode) = (None, RootMode::Ignore);
            character.stop(None, 0.0);
            character.play(0, PlayOptions::once(1.0)).unwrap();
            let machine = character.machine.as_mut().unwrap();
            if !machine.bound.constraints.is_empty() {
                machine.constraints.set_target(0, None);
            }
            if round == 1 {
                character.set_machine(None);
            }
        }
        (0..7).for_each(|_| crowd.step(0.02));
        let Crowd { animations, units, bodies, .. } = &mut crowd;
        animations.restore(&kept, units, bodies);
        crowd.seed = seed;
        assert!(play(&mut crowd, 100) == first, "round {round}");
    }
    first
}

#[test]
fn updates_after_a_restored_snapshot_are_equal_to_the_bit() {
    let alone = compare(crowd(1));
    assert!(compare(crowd(4)) == alone, "on four threads");
}

#[test]
fn merging_after_a_restored_snapshot_is_equal_to_the_bit() {
    let shared = |crowd: &Crowd| crowd.animations.merges.followers.len();
    let mut shown = merging_crowd(1);
    play(&mut shown, 50);
    let at_snapshot = shared(&shown);
    play(&mut shown, 100);
    let counts = (at_snapshot, shared(&shown));
    assert!(counts.0 > 5 && counts.1 > 5, "{counts:?} characters share poses");
    let rates = |it: &Character| it.merging.is_some_and(|merging| merging.rate != 1.0);
    assert!(shown.animations.iter().any(rates), "a clock moves towards another one");
    let alone = compare(merging_crowd(1));
    assert!(compare(merging_crowd(4)) == alone, "on four threads");
}

#[test]
fn merging_repeats_although_the_table_has_another_order() {
    let mut crowd = Crowd::new(3, 1, merging_tests::MACHINE);
    let send = |crowd: &mut Crowd, index: usize| {
        let character = crowd.animations.of_mut(crowd.crowd[index].row()).unwrap();
        let machine = character.machine.as_mut().unwrap();
        machine.send_event(machine.bound.machine.find_event("rest").unwrap());
    };
    let options = MergeOptions { max_drift: 0.1, max_start_time: 0.0, ..NEAR };
    for index in [1, 2] {
        let character = crowd.animations.of_mut(crowd.crowd[index].row()).unwrap();
        character.set_merge_options(Some(options));
    }
    send(&mut crowd, 1);
    (0..5).for_each(|_| crowd.step(1.0 / 60.0));
    send(&mut crowd, 2);
    crowd.step(1.0 / 60.0);
    assert!(crowd.animations.merges.followers.is_empty(), "they merge after the snapshot");
    let kept = crowd.animations.snapshot(crowd.world, &mut crowd.units, &crowd.bodies).unwrap();
    let watch = |crowd: &mut Crowd| {
        let frame = |_: usize| {
            crowd.step(1.0 / 60.0);
            let mut hash = StateHash::new(0);
            for unit in &crowd.crowd[1..] {
                crowd.animations.of(unit.row()).unwrap().write_state(&mut hash);
            }
            hash.finish()
        };
        (0..80).map(frame).collect::<Vec<u64>>()
    };
    let first = watch(&mut crowd);
    assert_eq!(crowd.animations.merges.followers.len(), 1);
    // The last character of the table takes the index of the first one.
    crowd.animations.remove(crowd.crowd[0].row());
    let Crowd { animations, units, bodies, .. } = &mut crowd;
    animations.restore(&kept, units, bodies);
    assert!(watch(&mut crowd) == first);
}

#[test]
fn ended_characters_stay_ended_and_new_ones_stay() {
    let mut crowd = crowd(1);
    play(&mut crowd, 20);
    let [removed, other, new] = [3, 4, 5].map(|index| crowd.crowd[index].row());
    // The new one has no character at the time of the snapshot.
    let late = crowd.animations.of(new).unwrap().clone();
    crowd.animations.remove(new);
    let kept = crowd.animations.snapshot(crowd.world, &mut crowd.units, &crowd.bodies).unwrap();
    crowd.animations.add(late);
    let time = |crowd: &Crowd, row: u32| {
        let machine = crowd.animations.of(row).unwrap().machine.as_ref().unwrap();
        machine.state.layer_info(&machine.bound.machine, 0).unwrap().time
    };
    let before = time(&crowd, other);
    crowd.step(0.25);
    assert_ne!(before, time(&crowd, other));
    let late = time(&crowd, new);
    crowd.animations.remove(removed);
    let Crowd { animations, units, bodies, .. } = &mut crowd;
    animations.restore(&kept, units, bodies);
    assert_eq!((before, late), (time(&crowd, other), time(&crowd, new)));
    assert!(crowd.animations.of(removed).is_none());
    let mut sent = Vec::new();
    crowd.animations.take_changed(|character| sent.push(character.unit.row()));
    assert!(sent.contains(&other), "the renderer gets the restored pose");
    crowd.step(0.1);
}
