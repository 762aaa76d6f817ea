//! Tests of limbs: contacts that stop them softly, and their moments of inertia.

use super::*;

/// A world with a floor, and a sphere above or in it. Spheres of 1 kg do not turn.
fn world(limb: bool, z: f32, speed: f32) -> (Simulation, BodyId) {
    let mut physics = Simulation::new(SimulationSettings::DEFAULT);
    let shape = ColliderShape::Box { half: Vec3::new(5.0, 5.0, 1.0) };
    let parts = vec![ColliderDesc { shape, ..ColliderDesc::DEFAULT }];
    let (motion, position) = (MotionType::Static, Vec3::new(0.0, 0.0, -1.0));
    physics.add(&BodyDesc { motion, position, parts, ..BodyDesc::DEFAULT }).unwrap();
    let shape = ColliderShape::Sphere { radius: 0.1 };
    let parts = vec![ColliderDesc { shape, ..ColliderDesc::DEFAULT }];
    let (position, mass) = (Vec3::new(0.0, 0.0, z), Some(1.0));
    let body = physics.add(&BodyDesc { position, parts, mass, limb, ..BodyDesc::DEFAULT }).unwrap();
    physics.set_velocity(body, Vec3::new(0.0, 0.0, speed));
    (physics, body)
}

/// Returns the largest acceleration within a second, the largest upward speed and the lowest
/// height.
fn play((mut physics, body): (Simulation, BodyId), speed: f32) -> [f32; 3] {
    let (mut before, mut speed) = (physics.position(body).z, speed);
    let (mut most, mut upward, mut lowest) = (0.0_f32, 0.0_f32, before);
    for _ in 0..60 {
        physics.update(1.0 / 60.0).unwrap();
        let now = physics.position(body).z;
        let next = (now - before) * 60.0;
        most = most.max((next - speed).abs() * 60.0);
        (before, speed, upward, lowest) = (now, next, upward.max(next), lowest.min(now));
    }
    assert!((before - 0.1).abs() < 0.02 || upward > 0.0, "it rests at {before}");
    [most, upward, lowest]
}

#[test]
fn limbs_stop_at_the_ground_within_a_few_centimetres() {
    for speed in [-0.5, -1.0, -2.0, -3.0, -4.0, -8.0] {
        let [most, upward, lowest] = play(world(true, 0.1, speed), speed);
        let allowed = (speed * speed * 0.5 / 0.04_f32).max(60.0) + 60.0;
        assert!(most < allowed, "{most} m/s² at {speed} m/s");
        assert!(lowest > 0.1 - 0.08, "it sinks to {lowest} m at {speed} m/s");
        assert!(upward < 0.25, "it leaves the ground with {upward} m/s");
        let [hard, ..] = play(world(false, 0.1, speed), speed);
        let is_exempt = !(-3.5..-1.5).contains(&speed);
        assert!(is_exempt || hard > 1.1 * most, "{hard}, {most} m/s² at {speed} m/s");
    }
}

#[test]
fn limbs_in_the_ground_leave_it_slowly() {
    let [most, upward, _] = play(world(true, 0.0, 0.0), 0.0);
    assert!(upward > 0.05 && upward < 0.25, "{upward} m/s");
    assert!(most < 20.0, "{most} m/s²");
    let [most, upward, _] = play(world(false, 0.0, 0.0), 0.0);
    assert!(upward > 1.0 && most > 60.0, "other bodies jump: {upward} m/s, {most} m/s²");
}

#[test]
fn thin_limbs_turn_slower_about_their_long_axis() {
    let spin = |limb: bool, axis: Vec3| {
        let settings = SimulationSettings { gravity: Vec3::ZERO, ..SimulationSettings::DEFAULT };
        let mut physics = Simulation::new(settings);
        let shape = ColliderShape::Capsule { half_height: 0.3, radius: 0.03 };
        let parts = vec![ColliderDesc { shape, ..ColliderDesc::DEFAULT }];
        let mass = Some(2.0);
        let rod = BodyDesc { parts, mass, limb, angular_damping: 0.0, ..BodyDesc::DEFAULT };
        let rod = physics.add(&rod).unwrap();
        assert!((physics.mass(rod) - 2.0).abs() < 1e-3, "{}", physics.mass(rod));
        physics.add_torque_impulse(rod, axis * 0.001);
        physics.update(1.0 / 60.0).unwrap();
        physics.angular_velocity(rod).length()
    };
    let [across, along] = [Vec3::X, Vec3::Z].map(|axis| spin(false, axis));
    assert!(along > 20.0 * across, "{along} and {across} rad/s");
    let [across_limb, along_limb] = [Vec3::X, Vec3::Z].map(|axis| spin(true, axis));
    assert!((across_limb - across).abs() < 1e-3 * across, "{across_limb} and {across} rad/s");
    assert!((along_limb / across_limb - 2.5).abs() < 0.05, "{along_limb} and {across_limb} rad/s");
}
