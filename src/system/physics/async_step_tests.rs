//! Tests of asynchronous steps: visible results, and the update in which they appear.

use super::*;
use engine_foundation::hash::StateHash;

const STEP: f64 = 1.0 / 60.0;

fn simulation(async_thread: Option<StepThread>) -> Simulation {
    let mut physics =
        Simulation::new(SimulationSettings { async_thread, ..SimulationSettings::DEFAULT });
    let floor =
        ColliderDesc { shape: ColliderShape::Plane { normal: None }, ..ColliderDesc::DEFAULT };
    let floor =
        BodyDesc { motion: MotionType::Static, parts: vec![floor], owner: 1, ..BodyDesc::DEFAULT };
    physics.add(&floor).unwrap();
    physics
}

fn cube(at: Vec3, owner: BodyOwner) -> BodyDesc {
    let part = ColliderDesc {
        shape: ColliderShape::Box { half: Vec3::splat(0.5) },
        ..ColliderDesc::DEFAULT
    };
    BodyDesc { position: at, parts: vec![part], owner, ..BodyDesc::DEFAULT }
}

fn pile(physics: &mut Simulation, count: u32) -> Vec<BodyId> {
    let at = |i: u32| Vec3::new((i % 3) as f32 * 0.9, (i % 2) as f32 * 0.8, 1.0 + i as f32 * 0.6);
    (0..count).map(|i| physics.add(&cube(at(i), u128::from(i) + 2)).unwrap()).collect()
}

fn state(physics: &Simulation, bodies: &[BodyId]) -> Vec<u64> {
    let mut hash = StateHash::new(0);
    bodies.iter().for_each(|body| physics.write_body(*body, &mut hash));
    physics.write_common(&mut hash);
    let mut bits = vec![hash.finish()];
    bits.extend(physics.contacts().0.iter().map(|contact| u64::from(contact.impulse.to_bits())));
    bits.extend(bodies.iter().flat_map(|body| physics.touching(*body)).map(|owner| owner as u64));
    bits
}

/// Returns the state, and the reported moved bodies.
fn bits(physics: &Simulation, bodies: &[BodyId]) -> Vec<u64> {
    let (mut bits, mut moved) = (state(physics, bodies), Vec::new());
    physics.track.clone().moved(&physics.world, 0.5, None, &mut moved);
    let numbers = moved.iter().flat_map(|it| it.position.to_array());
    bits.extend(numbers.map(|number| u64::from(number.to_bits())));
    bits
}

#[test]
fn async_results_are_equal_one_update_later() {
    let mut plain = simulation(None);
    let mut others = [simulation(Some(StepThread::Own)), simulation(Some(StepThread::Other))];
    let bodies = pile(&mut plain, 30);
    others.iter_mut().for_each(|other| assert_eq!(pile(other, 30), bodies));
    for frame in 0..150 {
        let before = bits(&plain, &bodies);
        // Occasionally, a frame of half a step.
        let seconds = if frame % 7 == 3 { STEP * 0.5 } else { STEP };
        let steps = plain.update(seconds).unwrap();
        for other in &mut others {
            other.update(seconds).unwrap();
            if frame > 0 {
                assert!(bits(other, &bodies) == before, "frame {frame}");
            }
        }
        assert!(steps <= 1);
        let mut moved = Vec::new();
        plain.moved(&mut moved);
        others.iter_mut().for_each(|other| other.moved(&mut moved));
    }
}

#[test]
fn changes_are_visible_at_once_and_simulated_next_step() {
    let mut physics = Simulation::new(SimulationSettings {
        gravity: Vec3::ZERO,
        async_thread: Some(StepThread::Other),
        ..SimulationSettings::DEFAULT
    });
    let ball = physics.add(&cube(Vec3::ZERO, 5)).unwrap();
    physics.update(STEP).unwrap();
    // A step without this change is running.
    physics.set_velocity(ball, Vec3::X * 6.0);
    assert_eq!(physics.velocity(ball), Vec3::X * 6.0);
    physics.update(STEP).unwrap();
    assert_eq!((physics.position(ball), physics.velocity(ball)), (Vec3::ZERO, Vec3::X * 6.0));
    physics.update(STEP).unwrap();
    assert!((physics.position(ball).x - 0.1).abs() < 1e-5, "one update later than without");
    physics.teleport(ball, Vec3::Y * 3.0, Quat::IDENTITY);
    let mut moved = Vec::new();
    physics.update(STEP).unwrap();
    physics.moved(&mut moved);
    assert!((moved.last().unwrap().position.y - 3.0).abs() < 1e-5, "it does not come back");
    let hit = physics.raycast(Vec3::new(0.0, 3.0, 9.0), -Vec3::Z, 20.0, &QueryFilter::DEFAULT);
    assert_eq!(hit.map(|hit| hit.owner), Some(5));
}

/// Adds, removes, pushes, joins and breaks bodies. Returns the state after every frame.
fn storm(thread: StepThread, keep: Option<usize>) -> Vec<Vec<u64>> {
    let mut physics = simulation(Some(thread));
    let mut bodies = pile(&mut physics, 12);
    let (mut saved, mut restored, mut bits_by_frame) = (None, false, Vec::new());
    let mut frame = 0;
    while frame < 90 {
        if keep == Some(frame) && !restored {
            saved = Some((physics.snapshot(), bodies.clone(), frame));
        }
        if frame == 70
            && let Some((snapshot, then, at)) = saved.take()
        {
            // Bodies added since then are removed first.
            let came: Vec<_> = bodies.iter().filter(|body| !then.contains(body)).collect();
            came.into_iter().for_each(|body| physics.remove(*body));
            physics.restore(&snapshot, |_| true, |owner, _| panic!("{owner} came since"));
            (bodies, frame, restored) = (then, at, true);
            bits_by_frame.truncate(at);
            continue;
        }
        let one = bodies[frame % bodies.len()];
        match frame % 6 {
            0 => physics.add_impulse(one, Vec3::new(300.0, 0.0, 900.0)),
            1 => {
                let at = Vec3::new(0.0, frame as f32 * 0.1, 6.0);
                bodies.push(physics.add(&cube(at, frame as u128 + 100)).unwrap());
            }
            2 if keep.is_none() => {
                physics.remove(one);
                bodies.retain(|body| *body != one);
            }
            3 => {
                let other = bodies[(frame + 1) % bodies.len()];
                let plan = JointPlan {
                    kind: JointKind::Ball,
                    link: JointBodies(one, Some(other)),
                    anchors: [physics.position(one); 2],
                    axis: Some(Vec3::Z),
                    limits: None,
                    length: 0.0,
                    pulley: PulleyPlan::DEFAULT,
                    spring: JointSpring {
                        stiffness: Some(0.0),
                        damping: Some(0.0),
                        ..JointSpring::default()
                    },
                    max_force: None,
                    // Most joints break soon.
                    break_force: Some(8000.0),
                    break_torque: None,
                    collides: false,
                    owner: 0,
                };
                physics.add_joint(&plan).unwrap();
            }
            4 => physics.teleport(one, Vec3::new(1.0, 1.0, 9.0), Quat::IDENTITY),
            _ => physics.set_material(one, 0.1, 0.6),
        }
        physics.update(STEP).unwrap();
        let mut numbers = state(&physics, &bodies);
        numbers.push(physics.joints() as u64);
        bits_by_frame.push(numbers);
        physics.moved(&mut Vec::new());
        frame += 1;
    }
    bits_by_frame
}

#[test]
fn results_do_not_depend_on_the_simulation_thread() {
    let own = storm(StepThread::Own, None);
    assert!(own == storm(StepThread::Other, None));
    let joints: Vec<u64> = own.iter().map(|frame| *frame.last().unwrap()).collect();
    assert!(joints.windows(2).any(|pair| pair[1] < pair[0]), "some broke: {joints:?}");
}

#[test]
fn a_snapshot_taken_during_a_step_restores_every_bit() {
    let straight = storm(StepThread::Other, Some(1000));
    for (thread, at) in [(StepThread::Own, 30), (StepThread::Other, 31), (StepThread::Other, 60)] {
        let again = storm(thread, Some(at));
        let differs = straight.iter().zip(&again).position(|(one, other)| one != other);
        assert_eq!((again.len(), differs), (straight.len(), None), "kept at {at}");
    }
}

#[test]
fn a_panic_in_a_step_is_reported_by_the_next_update() {
    let mut physics = simulation(Some(StepThread::Other));
    let ball = physics.add(&cube(Vec3::Z * 5.0, 5)).unwrap();
    physics.set_velocity(ball, Vec3::splat(f32::INFINITY));
    physics.update(STEP).unwrap();
    let message = physics.update(STEP).unwrap_err().message;
    assert!(message.starts_with("actor 5: a body left all bounds"), "{message}");
    for _ in 0..3 {
        physics.update(STEP).unwrap();
    }
}
