//! Tests of characters at the corners of ledges.

use super::*;

/// Shape and settings of a character.
struct Walker {
    shape: ColliderShape,
    radius: f32,
    settings: ControllerSettings,
}

impl Walker {
    fn new(radius: f32, height: f32, step_height: f32, snap: f32) -> Walker {
        let shape = ColliderShape::Capsule { half_height: height / 2.0 - radius, radius };
        let settings =
            ControllerSettings { step_height, slope_max: 50f32.to_radians(), snap, mass: 70.0 };
        Walker { shape, radius, settings }
    }
}

/// Returns a ledge with its top at y = 0 and its wall at x = 1, above a floor at y = -5.
fn ledge(shape: ColliderShape, position: Vec3) -> Simulation {
    let mut physics = Simulation::new(SimulationSettings {
        gravity: Vec3::new(0.0, -9.81, 0.0),
        flat: true,
        ..SimulationSettings::DEFAULT
    });
    let floor =
        ColliderDesc { shape: ColliderShape::Plane { normal: None }, ..ColliderDesc::DEFAULT };
    let ledge = ColliderDesc { shape, ..ColliderDesc::DEFAULT };
    for (at, part) in [(Vec3::new(0.0, -5.0, 0.0), floor), (position, ledge)] {
        let body = BodyDesc {
            motion: MotionType::Static,
            position: at,
            parts: vec![part],
            ..BodyDesc::DEFAULT
        };
        physics.add(&body).unwrap();
    }
    physics.update(1.0 / 60.0).unwrap();
    physics
}

/// Moves a character to the right for two seconds. Returns its last feet position, the number of
/// frames that it stands, and the depth in the wall.
fn jump(
    physics: &mut Simulation,
    walker: &Walker,
    (speed, gravity): (f32, f32),
    (x, y, rise): (f32, f32, f32),
) -> (Vec3, u32, f32) {
    let ColliderShape::Capsule { half_height, radius } = walker.shape else { unreachable!() };
    let middle = Vec3::Y * (half_height + radius);
    let (mut feet, mut fall, mut standing, mut deepest) = (Vec3::new(x, y, 0.0), rise, 0u32, 0.0);
    for _ in 0..120 {
        if standing > 0 {
            fall = 0.0;
        }
        fall = (fall - gravity / 60.0).max(-18.0);
        let way = Vec3::new(speed, fall, 0.0) / 60.0;
        let query = (&QueryFilter::DEFAULT, &[][..]);
        let from = (feet + middle, standing > 0);
        let moved =
            physics.walk(&walker.shape, from, way, 1.0 / 60.0, &walker.settings, query).unwrap();
        feet = moved.position - middle;
        standing = if moved.grounded { standing + 1 } else { 0 };
        if feet.y < -walker.radius - 0.05 {
            deepest = f32::max(deepest, feet.x - (1.0 - walker.radius));
        }
    }
    (feet, standing, deepest)
}

#[test]
fn characters_do_not_hang_on_the_corner_of_a_ledge() {
    let chain = ColliderShape::Chain {
        points: [(1.0, -4.9), (1.0, 0.0), (60.0, 0.0)].map(engine_foundation::Vec2::from).to_vec(),
        closed: false,
    };
    let block = ColliderShape::Box { half: Vec3::new(30.0, 2.5, 0.5) };
    let mut failures = Vec::new();
    for (name, shape, at) in
        [("chain", chain, Vec3::ZERO), ("box", block, Vec3::new(31.0, -2.5, 0.0))]
    {
        let mut physics = ledge(shape, at);
        for walker in [
            Walker::new(0.3, 1.2, 0.2, 0.0),
            Walker::new(0.3, 1.2, 0.2, 0.2),
            Walker::new(0.3, 1.2, 0.3, 0.2),
            Walker::new(0.3, 1.0, 0.1, 0.2),
            Walker::new(0.35, 1.2, 0.15, 0.25),
            Walker::new(0.3, 1.0, 0.0, 0.2),
        ] {
            let mut top = 0;
            for (motion, start) in jumps() {
                let (feet, standing, deepest) = jump(&mut physics, &walker, motion, start);
                let in_air = feet.y > -4.9 && feet.y < -0.02;
                top += u32::from(feet.y >= -0.02);
                if in_air || standing < 10 || deepest > 0.012 {
                    failures.push(format!(
                        "{name} {:?} {motion:?} {start:?}: {feet} {standing} {deepest}",
                        walker.settings
                    ));
                }
            }
            assert!((20..360).contains(&top), "{name}: {top} jumps reach the top");
        }
    }
    assert!(failures.is_empty(), "{}: {:#?}", failures.len(), failures);
}

/// Horizontal speed and gravity of a jump, and its start and upward speed.
type Jump = ((f32, f32), (f32, f32, f32));

/// Returns jumps at a ledge.
fn jumps() -> Vec<Jump> {
    let mut all = Vec::new();
    for speed in [3.0, 5.0, 7.0] {
        for gravity in [20.0, 34.0] {
            for at in 0..61 {
                let x = -2.05 + at as f32 * 0.045;
                all.push(((speed, gravity), (x, -2.0 + (at % 13) as f32 * 0.11, 8.0)));
            }
        }
    }
    all
}
