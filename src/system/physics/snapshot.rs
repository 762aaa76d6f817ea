//! The whole state of a simulation, kept and brought back: what follows is what followed, bit for
//! bit.

use super::{BodyId, Owner, Physics, joints, track};
use rapier3d::prelude as rapier;

/// A simulation as it was.
pub struct Snapshot {
    world: rapier::PhysicsWorld,
    left: f64,
    track: track::Track,
    links: joints::Links,
}

fn copy(world: &rapier::PhysicsWorld) -> rapier::PhysicsWorld {
    rapier::PhysicsWorld {
        gravity: world.gravity,
        integration_parameters: world.integration_parameters,
        islands: world.islands.clone(),
        broad_phase: world.broad_phase.clone(),
        narrow_phase: world.narrow_phase.clone(),
        bodies: world.bodies.clone(),
        colliders: world.colliders.clone(),
        impulse_joints: world.impulse_joints.clone(),
        multibody_joints: world.multibody_joints.clone(),
        soft_bodies: world.soft_bodies.clone(),
        ccd_solver: world.ccd_solver.clone(),
        // Room to work in, and nothing that lasts.
        ..rapier::PhysicsWorld::default()
    }
}

impl Snapshot {
    /// How many bodies are in it.
    pub fn len(&self) -> usize {
        self.world.bodies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Physics {
    /// Keeps the state.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            world: copy(&self.world),
            left: self.left,
            track: self.track.clone(),
            links: self.links.clone(),
        }
    }

    /// Brings a state back. Bodies and joints that ended since do not come back (`alive` says of an
    /// owner's number whether it is there); bodies that came since stay as they are, under other
    /// ids: `moved` is told each of them. Joints that came since are gone.
    pub fn restore(
        &mut self,
        snapshot: &Snapshot,
        alive: impl Fn(u64) -> bool,
        mut moved: impl FnMut(Owner, BodyId),
    ) {
        let old = std::mem::replace(&mut self.world, copy(&snapshot.world));
        self.left = snapshot.left;
        self.track = snapshot.track.clone();
        self.links = snapshot.links.clone();
        let gone = |owner: Owner| owner != 0 && !alive(owner as u64);
        let bodies = self.world.bodies.iter().filter(|(_, body)| gone(body.user_data));
        let ended: Vec<_> = bodies.map(|(handle, _)| handle).collect();
        for handle in ended {
            self.world.remove_body(handle);
        }
        let joints = self.world.impulse_joints.iter();
        let ended: Vec<_> = joints
            .filter(|(_, joint)| gone(joint.data.user_data))
            .map(|(handle, _)| handle)
            .collect();
        for handle in ended {
            self.world.remove_impulse_joint(handle);
        }
        for (handle, body) in old.bodies.iter() {
            let same = self.world.bodies.get(handle);
            if body.user_data == 0
                || gone(body.user_data)
                || same.is_some_and(|known| known.user_data == body.user_data)
            {
                continue;
            }
            let shapes = body.colliders().iter().filter_map(|shape| old.colliders.get(*shape));
            let shapes: Vec<_> = shapes.cloned().collect();
            let mut again = rapier::RigidBodyBuilder::new(body.body_type()).build();
            again.copy_from(body);
            again.user_data = body.user_data;
            let made = self.world.insert_body(again);
            for shape in shapes {
                self.world.insert_collider(shape, Some(made));
            }
            self.track.fresh.push(made);
            moved(body.user_data, BodyId(made));
        }
        // Everything is shown where it was then.
        let all = self.world.bodies.iter().filter(|(_, body)| body.is_dynamic());
        self.track.placed.extend(all.map(|(handle, _)| handle));
    }
}
