//! Keeps the dynamic bodies of two-dimensional worlds in their planes. rapier could lock their
//! translation along z, but its friction and joints divide by the masses along all axes: without
//! one along z, round bodies have no friction, and joints explode.

use rapier3d::prelude as rapier;
use rapier3d::prelude::RigidBodyHandle;

/// Distance from its plane in metres at which a body is moved back.
const TOLERANCE: f32 = 1e-5;

/// The z of each body, by the index of its handle.
#[derive(Clone, Default)]
pub(super) struct BodyPlanes {
    z: Vec<f32>,
}

impl BodyPlanes {
    /// Stores the current plane of a body.
    pub fn record(&mut self, world: &rapier::PhysicsWorld, handle: RigidBodyHandle) {
        let Some(body) = world.bodies.get(handle) else { return };
        let slot = handle.into_raw_parts().0 as usize;
        if self.z.len() <= slot {
            self.z.resize(slot + 1, 0.0);
        }
        self.z[slot] = body.translation().z;
    }

    /// Returns the z of a body's plane.
    pub fn z(&self, handle: RigidBodyHandle) -> f32 {
        self.z.get(handle.into_raw_parts().0 as usize).copied().unwrap_or_default()
    }

    /// Stops the motion of the awake bodies along z, which comes from rounding, after a step.
    pub fn keep(&self, world: &mut rapier::PhysicsWorld) {
        let rapier::PhysicsWorld { islands, bodies, .. } = world;
        for handle in islands.active_bodies() {
            let Some(body) = bodies.get(handle).filter(|body| body.is_dynamic()) else { continue };
            let (z, velocity) = (self.z(handle), body.linvel());
            let is_off = (body.translation().z - z).abs() > TOLERANCE;
            if velocity.z == 0.0 && !is_off {
                continue;
            }
            let Some(body) = bodies.get_mut(handle) else { continue };
            body.set_linvel(velocity.with_z(0.0), false);
            if is_off {
                let position = body.translation().with_z(z);
                body.set_translation(position, false);
            }
        }
    }
}
