//! Tests of characters that share poses: equal results, limits of time, and their ends.

use super::crowd_tests::Crowd;
use super::merging::MergeOptions;
use super::*;
use engine_foundation::Vec3;
use engine_foundation::hash::StateHash;

pub(super) const MACHINE: &str = r#"
skeleton = "rig"
variables = { speed = { value = 2 min = 0 max = 4 } }
constraints = { look = { type = "aim" bone = "head" } }
layers = [ {
    any = {
        move = { to = "move" blend = 0.3 }
        swing = { to = "swing" blend = 0 }
        rest = { to = "rest" blend = 0.5 to_self = true }
        watch = { to = "watch" blend = 0.1 }
    }
    states = {
        move = { blend = [
            { clip = "a" weight = "match(speed, 0)" }
            { clip = "b" weight = "match(speed, 4)" }
        ] loop = true }
        swing = { clip = "c" loop = true }
        watch = { clip = "c" loop = true constraints = ["look"] }
        rest = { clip = "d" speed = "speed / 2" loop = true }
    }
} ]
"#;

const STEP: f32 = 1.0 / 60.0;

fn crowd(count: usize, threads: usize, options: Option<MergeOptions>) -> Crowd {
    let mut crowd = Crowd::new(count, threads, MACHINE);
    for unit in crowd.crowd.clone() {
        crowd.animations.of_mut(unit.row()).unwrap().set_merge_options(options);
    }
    crowd
}

/// Returns a hash of the matrices of all characters.
fn shown(crowd: &Crowd) -> u64 {
    let mut hash = StateHash::new(0);
    for unit in &crowd.crowd {
        let matrices = crowd.animations.of(unit.row()).unwrap().matrices();
        assert!(!matrices.is_empty());
        let numbers = matrices.iter().flat_map(|matrix| matrix.0).flat_map(|row| row.0);
        numbers.for_each(|number| hash.write_f32(number));
        crowd.units.scene.floats(unit.row()).for_each(|number| hash.write_f32(number));
    }
    hash.finish()
}

fn merged(crowd: &Crowd) -> usize {
    crowd.animations.merges.followers.len()
}

fn send(crowd: &mut Crowd, index: usize, event: &str) {
    let character = crowd.animations.of_mut(crowd.crowd[index].row()).unwrap();
    let machine = character.machine.as_mut().unwrap();
    machine.send_event(machine.bound.machine.find_event(event).unwrap());
}

/// Returns the time in the state of a character.
fn time(crowd: &Crowd, index: usize) -> f32 {
    let machine = crowd.animations.of(crowd.crowd[index].row()).unwrap().machine.as_ref().unwrap();
    machine.state.state_time(0).unwrap().time
}

#[test]
fn equal_poses_are_shared_without_a_difference() {
    let play = |threads: usize, options: Option<MergeOptions>| {
        let mut crowd = crowd(60, threads, options);
        let (mut hashes, mut count) = (Vec::new(), 0);
        for frame in 0..240 {
            if frame % 8 == 0 {
                // Several get the same event in the same frame.
                let event = ["move", "swing", "rest", "watch"][(crowd.random() * 3.99) as usize];
                let first = (crowd.random() * 50.0) as usize;
                (first..first + 10).for_each(|index| send(&mut crowd, index, event));
            }
            crowd.step(STEP);
            hashes.push(shown(&crowd));
            count += merged(&crowd);
        }
        (hashes, count)
    };
    let (alone, none) = play(1, None);
    let (shared, count) = play(1, Some(MergeOptions::DEFAULT));
    assert_eq!((none, alone == shared), (0, true));
    assert!(count > 240 * 20, "{count} of 14,400 poses are shared");
    assert!(play(4, Some(MergeOptions::DEFAULT)) == (shared, count), "on four threads");
}

#[test]
fn clocks_of_merged_characters_come_together() {
    let options = MergeOptions { max_drift: 0.1, clock_fidelity: 0.9, max_start_time: 0.0 };
    let mut crowd = crowd(2, 1, Some(options));
    send(&mut crowd, 0, "rest");
    (0..5).for_each(|_| crowd.step(STEP));
    send(&mut crowd, 1, "rest");
    // The first one is far ahead in its cross-fade.
    crowd.step(STEP);
    assert_eq!(merged(&crowd), 0);
    (0..40).for_each(|_| crowd.step(STEP));
    assert_eq!(merged(&crowd), 1, "both are in the state");
    (0..60).for_each(|_| crowd.step(STEP));
    let apart = (time(&crowd, 0) - time(&crowd, 1)).abs();
    assert!(apart < 1e-3, "{apart} seconds");
    // A slower one is left behind as soon as the drift is too large.
    let slow = crowd.animations.of_mut(crowd.crowd[1].row()).unwrap();
    let machine = slow.machine.as_mut().unwrap();
    machine.state.set_variable(&machine.bound.machine, 0, 0.5);
    let (mut together, mut last) = (0, 0.0);
    for frame in 0..60 {
        crowd.step(STEP);
        if merged(&crowd) == 1 {
            (together, last) = (frame, (time(&crowd, 0) - time(&crowd, 1)).abs());
        }
    }
    assert!((4..30).contains(&together) && last <= 0.1, "{together} frames, {last} seconds");
}

#[test]
fn states_begin_where_another_character_is() {
    let options = MergeOptions { max_start_time: 0.2, ..MergeOptions::DEFAULT };
    let mut crowd = crowd(3, 1, Some(options));
    crowd.step(STEP);
    send(&mut crowd, 2, "swing");
    (0..6).for_each(|_| crowd.step(STEP));
    send(&mut crowd, 0, "swing");
    crowd.step(STEP);
    assert_eq!(time(&crowd, 0), time(&crowd, 2));
    assert_eq!(merged(&crowd), 1);
    (0..10).for_each(|_| crowd.step(STEP));
    send(&mut crowd, 1, "swing");
    crowd.step(STEP);
    assert!(time(&crowd, 1) < 0.02, "the others are beyond the limit");
    assert_eq!(merged(&crowd), 1);
}

#[test]
fn characters_with_poses_of_their_own_are_not_merged() {
    let mut crowd = crowd(5, 1, Some(MergeOptions::DEFAULT));
    crowd.step(STEP);
    assert_eq!(merged(&crowd), 4);
    let rows: Vec<u32> = crowd.crowd.iter().map(|unit| unit.row()).collect();
    crowd.units.scene.set_records_edits(rows[1], true);
    crowd.units.scene.set_local_position(rows[1], 1, Vec3::X);
    let playing = crowd.animations.of_mut(rows[2]).unwrap();
    playing.play(0, PlayOptions::once(2.0)).unwrap();
    crowd.animations.of_mut(rows[3]).unwrap().set_bone_mode(BoneMode::Rotation);
    crowd.step(STEP);
    assert_eq!(merged(&crowd), 1);
    // The leader ends, and the others go on.
    crowd.animations.remove(rows[0]);
    crowd.crowd.remove(0);
    crowd.step(STEP);
    assert_eq!(merged(&crowd), 0);
    shown(&crowd);
    for row in &rows[1..] {
        crowd.animations.of_mut(*row).unwrap().set_merge_options(None);
    }
    crowd.step(STEP);
    assert_eq!(merged(&crowd), 0);
}

#[test]
fn followers_show_poses_while_their_leader_skips_updates() {
    let mut merging = crowd(8, 1, Some(MergeOptions::DEFAULT));
    let mut alone = crowd(8, 1, None);
    for (level, row) in [0_u8, 1, 2, 3, 3, 2, 1, 0].into_iter().zip(0..8) {
        for crowd in [&mut merging, &mut alone] {
            let unit = crowd.crowd[row];
            crowd.animations.of_mut(unit.row()).unwrap().detail.level = Some(level);
        }
    }
    for _ in 0..40 {
        merging.step(STEP);
        alone.step(STEP);
        assert_eq!(shown(&merging), shown(&alone));
    }
}
