//! Tests of state machines that are reloaded while a transition runs: no joint jumps, also if the
//! target of the transition is gone.

use super::crowd_tests::{ACCELERATION_MAX, Crowd, Joints};
use super::jump_tests::bend;
use super::*;
use engine_foundation::Vec3;

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

#[test]
fn constraints_that_a_reload_removes_fade_out() {
    let all = [
        ("look", r#"{ type = "aim" bone = "head" yaw = 180 pitch = 90 }"#),
        ("sway", r#"{ type = "copy" bones = ["tail_3" "head"] position = false }"#),
        ("tail", r#"{ type = "spring" bones = ["tail_1" "tail_3"] }"#),
        (
            "stand",
            r#"{ type = "foot_placement" bones = ["pelvis" "left_thigh" "left_shin" "left_foot"
            "right_thigh" "right_shin" "right_foot"] }"#,
        ),
    ];
    let text = |kept: &[&str]| {
        let chosen = all.iter().filter(|it| kept.contains(&it.0));
        let blocks: String = chosen.map(|(name, block)| format!("{name} = {block}\n")).collect();
        format!(
            r#"skeleton = "rig"
            constraints = {{ {blocks} }}
            layers = [ {{ constraints = {kept:?} states = {{ move = {{ clip = "b" }} }} }} ]"#
        )
    };
    let names = all.map(|it| it.0);
    for kept in [&[][..], &["look"], &["tail"], &["look", "stand"], &["sway"], &names] {
        let mut crowd = Crowd::of(1, 1, &text(&names).replace(',', " "), Some(&bend));
        let unit = crowd.crowd[0];
        // On a step of the stairs, whose height the feet follow.
        crowd.units.scene.set_local_position(unit.row(), 0, Vec3::new(0.0, 0.55, 0.0));
        let mut joints = Joints::default();
        let mut play = |crowd: &mut Crowd, frames: usize| {
            joints.most = 0.0;
            for _ in 0..frames {
                crowd.step(1.0 / 60.0);
                joints.note(crowd.animations.of(unit.row()).unwrap());
            }
            joints.most
        };
        // The feet and the springs come to rest in the motion.
        play(&mut crowd, 60);
        let before = play(&mut crowd, 60);
        reload(&mut crowd, &text(kept).replace(',', " "));
        let fading = play(&mut crowd, 20);
        let most = 1.1 * before.max(ACCELERATION_MAX);
        assert!(fading < most, "{fading} m/s² after {before}: {kept:?} is left");
        let character = crowd.animations.of_mut(unit.row()).unwrap();
        let machine = character.machine.as_mut().unwrap();
        assert!(machine.replaced().is_none() && machine.has_constraints() != kept.is_empty());
    }
}

#[test]
fn indices_of_scripts_keep_their_names_in_a_reload() {
    let text = |names: &[&str]| {
        let variables: String = names.iter().map(|name| format!("{name} = 0 ")).collect();
        let events: String = names.iter().map(|name| format!("\"{name}\" ")).collect();
        let aim = |name: &&str| format!("{name} = {{ type = \"aim\" bone = \"head\" }} ");
        let constraints: String = names.iter().map(aim).collect();
        format!(
            "skeleton = \"rig\" variables = {{ {variables} }} events = [ {events} ]
            constraints = {{ {constraints} }}
            layers = [ {{ states = {{ m = {{ clip = \"b\" }} }} }} ]"
        )
    };
    let mut crowd = Crowd::new(1, 1, &text(&["a", "b", "c"]));
    let row = crowd.crowd[0].row();
    let mut check = |names: &[&str], wanted: &[(i64, Option<&str>)]| {
        let before = crowd.animations.of(row).unwrap().machine.as_ref().unwrap().bound.clone();
        let machine = text(names);
        let machine = engine_animation::compile_state_machine("rig.state_machine", &machine);
        let character = crowd.animations.of_mut(row).unwrap();
        let mut bound =
            BoundMachine::new("rig", 1, machine.unwrap(), (&character.model, vec![1])).unwrap();
        bound.keep_indices(&before);
        for kind in [IndexKind::Event, IndexKind::Variable, IndexKind::Target] {
            assert_eq!(bound.script_index_count(kind), wanted.len(), "{names:?}");
            for (index, name) in wanted {
                let found = bound.machine_index(kind, *index);
                assert_eq!(found.map(|it| names[usize::from(it)]), *name, "{index} of {names:?}");
                if let Some(found) = found {
                    assert_eq!(bound.script_index(kind, found), *index as usize);
                    assert_eq!(bound.removed_name(kind, *index), None);
                }
            }
            for index in [i64::MIN, -1, 0, wanted.len() as i64 + 1, 1 << 16, i64::MAX] {
                assert_eq!(bound.machine_index(kind, index), None, "{index}");
                assert_eq!(bound.removed_name(kind, index), None, "{index}");
            }
        }
        character.reload_machine(&Arc::new(bound));
    };
    // A new name before the others, and another order.
    check(&["z", "c", "b", "a"], &[(1, Some("a")), (2, Some("b")), (3, Some("c")), (4, Some("z"))]);
    // One is gone, and comes back.
    check(&["z", "c", "a"], &[(1, Some("a")), (2, None), (3, Some("c")), (4, Some("z"))]);
    let removed = crowd.animations.of(row).unwrap().machine.as_ref().unwrap().bound.clone();
    assert_eq!(removed.removed_name(IndexKind::Event, 2), Some("b"));
    let check = |names: &[&str]| {
        let machine = engine_animation::compile_state_machine("r", &text(names)).unwrap();
        let model = crowd.animations.of(row).unwrap().model.clone();
        let mut bound = BoundMachine::new("rig", 1, machine, (&model, vec![1])).unwrap();
        bound.keep_indices(&removed);
        bound
    };
    assert_eq!(check(&["b", "a", "c"]).machine_index(IndexKind::Variable, 2), Some(0));
    // Without a difference, nothing is looked up.
    assert!(check(&["a", "b", "c", "z"]).kept.is_none());
}
