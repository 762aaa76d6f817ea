//! Tests of pulley joints.

use super::*;
use std::cell::RefCell;

const STEP: f64 = 1.0 / 60.0;
const G: f32 = 9.81;

fn world() -> Simulation {
    Simulation::new(SimulationSettings::DEFAULT)
}

/// Adds a box of half a metre, with a mass of 0 for a static one.
fn weight(physics: &mut Simulation, position: Vec3, mass: f32) -> BodyId {
    let part = ColliderDesc {
        shape: ColliderShape::Box { half: Vec3::splat(0.25) },
        ..ColliderDesc::DEFAULT
    };
    let motion = if mass > 0.0 { MotionType::Dynamic } else { MotionType::Static };
    let mass = Some(mass).filter(|mass| *mass > 0.0);
    let body = BodyDesc {
        motion,
        position,
        parts: vec![part],
        mass,
        angular_damping: 0.0,
        ..BodyDesc::DEFAULT
    };
    physics.add(&body).unwrap()
}

/// Parameters of a taut rope over points `up` metres above the centers of two bodies.
fn plan(physics: &Simulation, [one, two]: [BodyId; 2], up: f32, ratio: f32) -> JointPlan {
    let anchors = [physics.position(one), physics.position(two)];
    let pulley = physics.pulley_plan(anchors, anchors.map(|at| at + Vec3::Z * up), ratio);
    JointPlan {
        kind: JointKind::Pulley,
        link: JointBodies(one, Some(two)),
        anchors,
        axis: None,
        limits: None,
        length: pulley.length(anchors),
        pulley,
        spring: JointSpring::default(),
        max_force: None,
        break_force: None,
        break_torque: None,
        collides: false,
        owner: 1,
    }
}

fn hang(physics: &mut Simulation, bodies: [BodyId; 2], up: f32, ratio: f32) -> JointId {
    let plan = plan(physics, bodies, up, ratio);
    physics.add_joint(&plan).unwrap()
}

fn play(physics: &mut Simulation, frames: usize) {
    (0..frames).for_each(|_| assert_eq!(physics.update(STEP), Ok(1)));
}

fn state(physics: &Simulation, joint: JointId) -> JointState {
    physics.joint_state(joint, JointKind::Pulley).unwrap()
}

fn near(name: &str, value: f32, expected: f32, most: f32) {
    assert!((value - expected).abs() <= most, "{name}: {value}, expected {expected}");
}

#[test]
fn two_weights_accelerate_as_atwood_computed() {
    for (one, two, ratio) in
        [(3.0, 1.0, 1.0), (1.0, 2.0, 1.0), (5.0, 4.9, 1.0), (3.0, 1.0, 2.0), (1.0, 5.0, 0.5)]
    {
        let mut physics = world();
        let bodies = [
            weight(&mut physics, Vec3::new(-1.0, 0.0, 0.0), one),
            weight(&mut physics, Vec3::new(1.0, 0.0, 0.0), two),
        ];
        let joint = hang(&mut physics, bodies, 20.0, ratio);
        play(&mut physics, 60);
        // Downward acceleration of the first weight; the second one moves by 1 / ratio of it.
        let expected = G * (one - two / ratio) / (one + two / (ratio * ratio));
        let name = format!("{one} kg, {two} kg, ratio {ratio}");
        let fall = -physics.velocity(bodies[0]).z;
        near(&name, fall, expected, 0.01 * expected.abs() + 0.005);
        near(&name, physics.velocity(bodies[1]).z, expected / ratio, 0.01 * expected.abs() + 0.01);
        near(&name, state(&physics, joint).force, one * (G - expected), 0.02 * one * G);
        near(&name, state(&physics, joint).velocity, 0.0, 0.01);
    }
}

#[test]
fn a_rope_keeps_its_length_while_its_weights_swing() {
    let mut physics = world();
    let bodies = [
        weight(&mut physics, Vec3::new(-2.0, 0.0, 0.0), 2.0),
        weight(&mut physics, Vec3::new(2.0, 0.0, 0.0), 2.0),
    ];
    let joint = hang(&mut physics, bodies, 4.0, 1.0);
    physics.set_velocity(bodies[0], Vec3::new(2.0, 1.5, 0.0));
    let (mut longest, mut total) = (0f32, 0f32);
    for _ in 0..600 {
        play(&mut physics, 1);
        let [one, two] = physics.pulley_lengths(joint).unwrap();
        near("value", state(&physics, joint).value, one + two, 1e-4);
        longest = longest.max(one + two);
        total = total.max(one.max(two));
    }
    assert!(longest < 8.08, "the rope is {longest} m long");
    assert!(total > 4.2, "the weights swing");
}

#[test]
fn equal_weights_rest_and_sleep_and_one_wakes_the_other() {
    let mut physics = world();
    let bodies = [
        weight(&mut physics, Vec3::new(-1.0, 0.0, 5.0), 2.0),
        weight(&mut physics, Vec3::new(1.0, 0.0, 5.0), 2.0),
    ];
    let joint = hang(&mut physics, bodies, 3.0, 1.0);
    play(&mut physics, 600);
    for body in bodies {
        near("height", physics.position(body).z, 5.0, 0.002);
        assert!(physics.is_sleeping(body));
    }
    near("tension", state(&physics, joint).force, 2.0 * G, 0.1);
    physics.add_impulse(bodies[0], Vec3::Z * -2.0);
    play(&mut physics, 60);
    near("the other rises", physics.position(bodies[1]).z, 5.5, 0.05);
}

#[test]
fn a_weight_on_the_ground_holds_another_in_the_air() {
    let mut physics = world();
    weight(&mut physics, Vec3::new(-1.0, 0.0, -0.25), 0.0);
    let bodies = [
        weight(&mut physics, Vec3::new(-1.0, 0.0, 0.25), 10.0),
        weight(&mut physics, Vec3::new(1.0, 0.0, 2.0), 4.0),
    ];
    let joint = hang(&mut physics, bodies, 5.0, 1.0);
    play(&mut physics, 120);
    let height = physics.position(bodies[1]).z;
    near("height", height, 2.0, 0.05);
    for _ in 0..60 {
        play(&mut physics, 1);
        near("height", physics.position(bodies[1]).z, height, 0.001);
        near("tension", state(&physics, joint).force, 4.0 * G, 0.4);
    }
}

#[test]
fn a_rope_does_not_push() {
    let mut physics = world();
    weight(&mut physics, Vec3::new(-1.0, 0.0, -0.25), 0.0);
    let bodies = [
        weight(&mut physics, Vec3::new(-1.0, 0.0, 0.25), 2.0),
        weight(&mut physics, Vec3::new(1.0, 0.0, 2.0), 1.0),
    ];
    let joint = hang(&mut physics, bodies, 5.0, 1.0);
    play(&mut physics, 60);
    physics.set_velocity(bodies[1], Vec3::Z * 3.0);
    play(&mut physics, 12);
    assert!(state(&physics, joint).value < 9.8, "the rope is loose");
    assert_eq!(state(&physics, joint).force, 0.0);
    near("the first weight stays", physics.position(bodies[0]).z, 0.25, 0.005);
    play(&mut physics, 240);
    near("it is taut again", physics.position(bodies[1]).z, 2.0, 0.1);
}

#[test]
fn kinematic_and_static_bodies_are_not_moved() {
    let mut physics = world();
    let bodies = [
        weight(&mut physics, Vec3::new(-1.0, 0.0, 0.0), 2.0),
        weight(&mut physics, Vec3::new(1.0, 0.0, 0.0), 1.0),
    ];
    hang(&mut physics, bodies, 4.0, 2.0);
    physics.set_motion(bodies[1], MotionType::Kinematic);
    play(&mut physics, 300);
    near("it hangs", physics.position(bodies[0]).z, 0.0, 0.005);
    assert!(physics.is_sleeping(bodies[0]));
    for i in 1..=60 {
        let position = Vec3::new(1.0, 0.0, -0.01 * i as f32);
        physics.drive(bodies[1], position, Quat::IDENTITY);
        play(&mut physics, 1);
    }
    play(&mut physics, 30);
    near("it was pulled up by twice the way", physics.position(bodies[0]).z, 1.2, 0.02);
    physics.set_motion(bodies[1], MotionType::Static);
    play(&mut physics, 60);
    near("it still hangs", physics.position(bodies[0]).z, 1.2, 0.02);
    near("the other one", physics.position(bodies[1]).z, -0.6, 1e-4);
}

#[test]
fn ropes_break_at_their_force_and_end_with_their_bodies() {
    let mut physics = world();
    let bodies = [
        weight(&mut physics, Vec3::new(-1.0, 0.0, 0.0), 2.0),
        weight(&mut physics, Vec3::new(1.0, 0.0, 0.0), 2.0),
    ];
    let joint = hang(&mut physics, bodies, 4.0, 1.0);
    physics.set_break(joint, Some(25.0), None);
    play(&mut physics, 30);
    assert!(physics.contains_joint(joint) && physics.broken().is_empty());
    physics.set_break(joint, Some(15.0), None);
    play(&mut physics, 1);
    assert_eq!(physics.broken(), [1]);
    assert!(!physics.contains_joint(joint) && physics.pulley_lengths(joint).is_none());
    play(&mut physics, 60);
    assert!(physics.position(bodies[0]).z < -4.0);
    let other = hang(&mut physics, bodies, 4.0, 1.0);
    physics.remove(bodies[1]);
    play(&mut physics, 2);
    assert!(!physics.contains_joint(other));
    // A new joint takes the slot of the old one.
    let third = weight(&mut physics, Vec3::new(1.0, 0.0, 0.0), 2.0);
    let again = hang(&mut physics, [bodies[0], third], 4.0, 1.0);
    assert_eq!(physics.pulley_lengths(again).map(|[_, two]| two), Some(4.0));
    assert!(physics.pulley_lengths(other).is_none());
}

#[test]
fn a_snapshot_restores_the_tension() {
    let mut physics = world();
    weight(&mut physics, Vec3::new(-1.0, 0.0, -0.25), 0.0);
    let bodies = [
        weight(&mut physics, Vec3::new(-1.0, 0.0, 0.25), 10.0),
        weight(&mut physics, Vec3::new(1.0, 0.0, 2.0), 4.0),
    ];
    hang(&mut physics, bodies, 5.0, 1.0);
    physics.set_velocity(bodies[1], Vec3::X);
    let hashes = |physics: &mut Simulation| -> Vec<u64> {
        let frame = |_| {
            physics.update(STEP).unwrap();
            let mut hash = engine_foundation::hash::StateHash::new(0);
            physics.write_common(&mut hash);
            bodies.iter().for_each(|body| physics.write_body(*body, &mut hash));
            hash.finish()
        };
        (0..90).map(frame).collect()
    };
    play(&mut physics, 20);
    let snapshot = physics.snapshot();
    let first = hashes(&mut physics);
    physics.restore(&snapshot, |_| true, |_, _| ());
    assert_eq!(first, hashes(&mut physics));
}

#[test]
fn pulleys_with_a_common_body_share_its_weight() {
    let mut physics = world();
    let middle = weight(&mut physics, Vec3::ZERO, 4.0);
    let sides = [-3.0, 3.0].map(|x| weight(&mut physics, Vec3::new(x, 0.0, 0.0), 2.0));
    let joints = sides.map(|side| hang(&mut physics, [side, middle], 6.0, 1.0));
    play(&mut physics, 120);
    near("the middle", physics.position(middle).z, 0.0, 0.01);
    for (side, joint) in sides.into_iter().zip(joints) {
        near("a side", physics.position(side).z, 0.0, 0.01);
        near("tension", state(&physics, joint).force, 2.0 * G, 0.2);
    }
}

#[test]
fn an_anchor_off_the_center_turns_the_body_below_it() {
    let mut physics = world();
    let one = weight(&mut physics, Vec3::ZERO, 1.0);
    let two = weight(&mut physics, Vec3::new(5.0, 0.0, 0.0), 1.0);
    let mut plan = plan(&physics, [one, two], 8.0, 1.0);
    plan.anchors[0] += Vec3::X * 0.25;
    physics.set_damping(one, 0.5, 0.5);
    physics.set_damping(two, 0.5, 0.5);
    let joint = physics.add_joint(&plan).unwrap();
    play(&mut physics, 1200);
    let anchor = physics.rotation(one) * Vec3::new(0.25, 0.0, 0.0);
    near("the anchor is above the center", anchor.z, 0.25, 0.01);
    let [first, second] = physics.pulley_lengths(joint).unwrap();
    near("length", first + second, plan.length, 0.01);
}

#[test]
fn invalid_pulleys_are_refused_with_a_reason() {
    let mut physics = world();
    let bodies = [
        weight(&mut physics, Vec3::ZERO, 2.0),
        weight(&mut physics, Vec3::new(1.0, 0.0, 0.0), 2.0),
    ];
    let valid = plan(&physics, bodies, 4.0, 1.0);
    let alone = JointPlan { link: JointBodies(bodies[0], None), ..valid };
    let short = plan(&physics, bodies, 0.0, 1.0);
    for (plan, expected) in [
        (alone, "a pulley connects two actors"),
        (short, "a pulley's rope must have a length: move its point in the world away from"),
    ] {
        let error = physics.add_joint(&plan).unwrap_err();
        assert!(error.message.starts_with(expected), "{}", error.message);
    }
}

#[test]
fn ropes_are_drawn_until_they_end() {
    let mut physics = world();
    let bodies = [
        weight(&mut physics, Vec3::ZERO, 2.0),
        weight(&mut physics, Vec3::new(1.0, 0.0, 0.0), 2.0),
    ];
    let joint = hang(&mut physics, bodies, 4.0, 1.0);
    let drawn = |physics: &Simulation| {
        let lines = RefCell::new(Vec::new());
        physics.outlines(|class, from, to| {
            if class == BodyColorClass::Rope {
                lines.borrow_mut().push((from, to));
            }
        });
        lines.into_inner()
    };
    let (left, right) = (Vec3::Z * 4.0, Vec3::new(1.0, 0.0, 4.0));
    let expected = [(Vec3::ZERO, left), (Vec3::X, right), (left, right)];
    assert_eq!(drawn(&physics), expected);
    physics.remove_joint(joint);
    assert_eq!(drawn(&physics), []);
}

#[test]
fn a_two_dimensional_pulley_stays_in_its_plane() {
    let mut physics = Simulation::new(SimulationSettings {
        gravity: Vec3::Y * -G,
        flat: true,
        ..SimulationSettings::DEFAULT
    });
    let bodies = [
        weight(&mut physics, Vec3::new(-1.0, 0.0, 3.0), 3.0),
        weight(&mut physics, Vec3::new(1.0, 0.0, 3.0), 1.0),
    ];
    let anchors = bodies.map(|body| physics.position(body));
    let ground = [Vec3::new(-1.0, 9.0, 0.0), Vec3::new(1.0, 9.0, 0.0)];
    let pulley = physics.pulley_plan(anchors, ground, 1.0);
    let length = pulley.length(anchors);
    assert_eq!(length, 18.0);
    let base = plan(&physics, bodies, 1.0, 1.0);
    physics.add_joint(&JointPlan { pulley, length, ..base }).unwrap();
    play(&mut physics, 60);
    near("fall", -physics.velocity(bodies[0]).y, G / 2.0, 0.05);
    near("rise", physics.velocity(bodies[1]).y, G / 2.0, 0.05);
    assert_eq!(physics.position(bodies[0]).z, 3.0);
}
