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
        if frame % 3 == 0 {
            crowd.disturb(unit);
        }
        if frame % 5 == 0 {
            let y = crowd.random() * 10.0;
            crowd.units.scene.set_local_position(unit.row(), 0, Vec3::new(0.0, y, 0.0));
        }
        if frame % 20 == 0 {
            let node = crowd.units.scene.count(unit.row()) - 1;
            let scale = Vec3::splat(1.0 + crowd.random());
            crowd.units.scene.set_local_scale(unit.row(), node, scale);
        }
        crowd.step(1.0 / 60.0);
        hash(crowd)
    };
    (0..frames).map(frame).collect()
}

/// A crowd in which every kind of state is in use: springs and feet, merging, clips of scripts that
/// fade, levels of detail with their bones, bone modes.
fn crowd() -> Crowd {
    let mut crowd = Crowd::new(24, 1, &MACHINE.replace("FEET", "[\"feet\"]"));
    let lists = Arc::new(vec![vec!["head".to_string()]]);
    let options = MergeOptions { max_start_time: 0.1, max_drift: 0.2, clock_fidelity: 0.9 };
    for (index, unit) in crowd.crowd.iter().enumerate() {
        let character = crowd.animations.of_mut(unit.row()).unwrap();
        match index % 6 {
            0 => character.set_merge_options(Some(options)),
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

#[test]
fn updates_after_a_restored_snapshot_are_equal_to_the_bit() {
    let mut crowd = crowd();
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
            character.stop(None, 0.0);
            character.play(0, PlayOptions::once(1.0)).unwrap();
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
}

#[test]
fn ended_characters_stay_ended_and_new_ones_stay() {
    let mut crowd = crowd();
    play(&mut crowd, 20);
    let kept = crowd.animations.snapshot(crowd.world, &mut crowd.units, &crowd.bodies).unwrap();
    let [removed, other] = [crowd.crowd[3].row(), crowd.crowd[4].row()];
    let time = |crowd: &Crowd| {
        let machine = crowd.animations.of(other).unwrap().machine.as_ref().unwrap();
        machine.state.layer_info(&machine.bound.machine, 0).unwrap().time
    };
    let before = time(&crowd);
    crowd.step(0.25);
    assert_ne!(before, time(&crowd));
    crowd.animations.remove(removed);
    let Crowd { animations, units, bodies, .. } = &mut crowd;
    animations.restore(&kept, units, bodies);
    assert_eq!(before, time(&crowd));
    assert!(crowd.animations.of(removed).is_none());
    let mut sent = Vec::new();
    crowd.animations.take_changed(|character| sent.push(character.unit.row()));
    assert!(sent.contains(&other), "the renderer gets the restored pose");
    crowd.step(0.1);
}

#[test]
fn a_snapshot_is_restored_after_its_machine_was_reloaded() {
    let mut crowd = crowd();
    let row = crowd.crowd[4].row();
    play(&mut crowd, 20);
    let kept = crowd.animations.snapshot(crowd.world, &mut crowd.units, &crowd.bodies).unwrap();
    let bound = crowd.animations.of(row).unwrap().machine.as_ref().unwrap().bound.clone();
    let mut reloaded = (*bound).clone();
    reloaded.number = 7;
    let reloaded = Arc::new(reloaded);
    crowd.animations.machines.insert(("rig".to_string(), "rig".to_string()), reloaded.clone());
    let Crowd { animations, units, bodies, .. } = &mut crowd;
    animations.restore(&kept, units, bodies);
    let machine = crowd.animations.of(row).unwrap().machine.as_ref().unwrap();
    assert!(Arc::ptr_eq(&machine.bound, &reloaded));
    crowd.step(0.1);
}
