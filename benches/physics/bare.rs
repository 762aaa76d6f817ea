//! The piles of the bench with rapier alone: no units, no nodes, nobody told of contacts. Says what
//! of a figure is the simulation's own, on this machine and at this moment.

use engine::system::platform::ThreadClock;
use rapier3d::prelude::*;

/// Milliseconds of this thread's CPU time that each step takes; the places as the bench has them.
pub fn steps(places: &[[f32; 3]], flat: Option<f32>, count: usize) -> Vec<f64> {
    let gravity = if flat.is_some() { -9.81 * Vector::Y } else { -9.81 * Vector::Z };
    let mut world = PhysicsWorld { gravity, ..PhysicsWorld::default() };
    let mut fixed = |at: Vector, half: Vector| {
        let body = world.insert_body(RigidBodyBuilder::fixed().translation(at).build());
        world.insert_collider(ColliderBuilder::cuboid(half.x, half.y, half.z).build(), Some(body));
    };
    match flat {
        // The ground, and the sides of the bin.
        Some(side) => {
            fixed(Vector::new(0.0, -1.0, 0.0), Vector::new(200.0, 1.0, 1.0));
            fixed(Vector::new(-side - 1.0, 100.0, 0.0), Vector::new(1.0, 100.0, 1.0));
            fixed(Vector::new(side + 1.0, 100.0, 0.0), Vector::new(1.0, 100.0, 1.0));
        }
        None => fixed(Vector::new(0.0, 0.0, -1.0), Vector::new(200.0, 200.0, 1.0)),
    }
    for place in places {
        let mut body = RigidBodyBuilder::dynamic().translation(Vector::from_array(*place));
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
