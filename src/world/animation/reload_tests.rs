//! Tests of state machines that are reloaded while a transition runs: no joint jumps, also if the
//! target of the transition is gone.

use super::crowd_tests::{ACCELERATION_MAX, Crowd, Joints};
use super::*;

const MOVE: &str = r#"move = { clip = "b" on = {
    go = { to = "swing" blend = 0.4 }
    wait = { to = "swing" blend = 0.3 mode = "wait_until_end" }
} }"#;
const MOVE_ALONE: &str = "move = { clip = \"b\" }";
const SWING: &str = "swing = { clip = \"c\" constraints = [\"look\"] }";
const REST: &str = "rest = { clip = \"d\" }";

fn machine(states: &[&str], mask: &str) -> String {
    let states = states.join("\n");
    format!(
        r#"skeleton = "rig"
        masks = {{ top = {{ {mask} }} }}
        constraints = {{
            look = {{ type = "aim" bone = "head" }}
        }}
        layers = [
            {{ name = "body" states = {{ {states} }} }}
            {{ mask = "top" weight = 0.5 states = {{ nod = {{ clip = "c" }} }} }}
        ]"#
    )
}

/// Replaces the state machine of the only character, as the reload of a file does.
fn reload(crowd: &mut Crowd, text: &str) {
    let machine = engine_animation::compile_state_machine("rig.state_machine", text).unwrap();
    let character = crowd.animations.of_mut(crowd.crowd[0].row()).unwrap();
    let model = character.model.clone();
    let clips = machine.clips().iter().map(|clip| model.position(&clip.name).unwrap()).collect();
    let bound = BoundMachine::new("rig", 1, machine, (&model, clips)).unwrap();
    character.reload_machine(&Arc::new(bound));
}

/// Returns the current state, its time, and the state that fades out.
fn shown(crowd: &Crowd) -> (String, f32, Option<String>) {
    let character = crowd.animations.of(crowd.crowd[0].row()).unwrap();
    let machine = character.machine.as_ref().unwrap();
    let info = machine.state.layer_info(&machine.bound.machine, 0).unwrap();
    (info.state.to_string(), info.time, info.transition.map(|(from, _)| from.to_string()))
}

#[test]
fn joints_do_not_jump_in_a_reload_within_a_transition() {
    let all = [MOVE, SWING];
    for (name, states, current, from) in [
        // Everything is kept.
        ("go", &[REST, SWING, MOVE][..], "swing", Some("move")),
        // The target of the transition is gone, and that of one that waits.
        ("go", &[REST, MOVE_ALONE], "rest", None),
        ("wait", &[REST], "rest", None),
    ] {
        for start in [10, 31, 52, 73] {
            let mut crowd = Crowd::new(1, 1, &machine(&all, "head = 1"));
            let unit = crowd.crowd[0];
            let mut joints = Joints::default();
            let mut play = |crowd: &mut Crowd, frames: usize| {
                for _ in 0..frames {
                    crowd.step(1.0 / 60.0);
                    joints.note(crowd.animations.of(unit.row()).unwrap());
                }
                joints.most
            };
            play(&mut crowd, start);
            let character = crowd.animations.of_mut(unit.row()).unwrap();
            let sending = character.machine.as_mut().unwrap();
            let event = sending.bound.machine.find_event(name).unwrap();
            assert!(sending.send_event(event));
            play(&mut crowd, 3);
            let before = shown(&crowd);
            assert_eq!(before.0, "swing");
            reload(&mut crowd, &machine(states, "head = 0.2 tail_1 = 1"));
            let most = play(&mut crowd, 1);
            let after = shown(&crowd);
            assert_eq!((&after.0[..], after.2.as_deref()), (current, from), "{states:?}");
            if from.is_some() {
                assert!((after.1 - before.1 - 1.0 / 60.0).abs() < 1e-4, "{} {}", before.1, after.1);
            }
            assert!(most < ACCELERATION_MAX, "{most} m/s² at once, from {start}: {states:?}");
            let most = play(&mut crowd, 60);
            assert!(most < ACCELERATION_MAX, "{most} m/s² from {start}: {states:?}");
            let character = crowd.animations.of_mut(unit.row()).unwrap();
            assert!(character.machine.as_mut().unwrap().replaced().is_none(), "it has faded out");
        }
    }
}

#[test]
fn constraints_go_on_and_their_weights_fade_in_a_reload() {
    let text = |swing: &str, tail: &str| {
        format!(
            r#"skeleton = "rig"
            constraints = {{
                look = {{ type = "aim" bone = "head" }}
                tail = {{ type = "spring" bones = ["{tail}" "tail_3"] }}
            }}
            layers = [ {{ constraints = ["tail"] states = {{ {swing} }} }} ]"#
        )
    };
    let plain = "swing = { clip = \"c\" }";
    for (before, after, weights) in [(SWING, plain, [1.0, 0.0]), (plain, SWING, [0.0, 1.0])] {
        let mut crowd = Crowd::new(1, 1, &text(before, "tail_1"));
        let unit = crowd.crowd[0];
        let mut joints = Joints::default();
        let mut play = |crowd: &mut Crowd, frames: usize| {
            let mut weights = Vec::new();
            for _ in 0..frames {
                crowd.step(1.0 / 60.0);
                let character = crowd.animations.of(unit.row()).unwrap();
                joints.note(character);
                weights.push(character.machine.as_ref().unwrap().output().constraints[0]);
            }
            assert!(joints.most < ACCELERATION_MAX, "{} m/s²: {after}", joints.most);
            weights
        };
        let springs = |crowd: &Crowd| {
            let mut numbers = Vec::new();
            let character = crowd.animations.of(unit.row()).unwrap();
            character.machine.as_ref().unwrap().constraints.save(&mut numbers);
            numbers
        };
        assert_eq!(play(&mut crowd, 60).last(), Some(&weights[0]));
        let swinging = springs(&crowd);
        reload(&mut crowd, &text(after, "tail_1"));
        assert_eq!(springs(&crowd), swinging);
        let fading = play(&mut crowd, 30);
        let halfway = fading.iter().filter(|weight| (0.05..0.95).contains(*weight)).count();
        assert!((fading[0] - weights[0]).abs() < 0.05 && halfway > 8, "{fading:?}");
        assert_eq!(fading.last(), Some(&weights[1]));
        // The chain has other bones.
        reload(&mut crowd, &text(after, "tail_2"));
        assert_ne!(springs(&crowd).len(), swinging.len());
        crowd.step(1.0 / 60.0);
    }
}
