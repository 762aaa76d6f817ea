//! The piles of the physics benchmark with rapier alone: no units, no nodes, no contact events.
//! Shows the simulation's own share of a time, on this machine and at this moment.

use engine::platform::ThreadClock;
use rapier3d::prelude::*;

/// Returns the milliseconds of this thread's CPU time for each step. `positions` holds the
/// positions of the boxes as in the benchmark.
pub fn steps(positions: &[[f32; 3]], flat: Option<f32>, count: usize) -> Vec<f64> {
    let gravity = if flat.is_some() { -9.81 * Vector::Y } else { -9.81 * Vector::Z };
    let mut world = PhysicsWorld { gravity, ..PhysicsWorld::default() };
    let mut fixed = |at: Vector, half: Vector| {
        let body = world.insert_body(RigidBodyBuilder::fixed().translation(at).build());
        world.insert_collider(ColliderBuilder::cuboid(half.x, half.y, half.z).build(), Some(body));
    };
    match flat {
        // The ground and the sides of the bin.
        Some(side) => {
            fixed(Vector::new(0.0, -1.0, 0.0), Vector::new(200.0, 1.0, 1.0));
            fixed(Vector::new(-side - 1.0, 100.0, 0.0), Vector::new(1.0, 100.0, 1.0));
            fixed(Vector::new(side + 1.0, 100.0, 0.0), Vector::new(1.0, 100.0, 1.0));
        }
        None => fixed(Vector::new(0.0, 0.0, -1.0), Vector::new(200.0, 200.0, 1.0)),
    }
    for position in positions {
        let mut body = RigidBodyBuilder::dynamic().translation(Vector::from_array(*position));
        if flat.is_some() {
            let turned = LockedAxes::ROTATION_LOCKED_X | LockedAxes::ROTATION_LOCKED_Y;
            body = body.locked_axes(LockedAxes::TRANSLATION_LOCKED_Z | turned);
        }
        let body = world.insert_body(body.build());
        let shape = ColliderBuilder::cuboid(0.25, 0.25, 0.25).restitution(0.1);
        world.insert_collider(shape.build(), Some(body));
    }
    let clock = ThreadClock::of_this_thread();
    let one = |_| {
        let before = clock.seconds();
        world.step();
        (clock.seconds() - before) * 1e3
    };
    (0..count).map(one).collect()
}
