//! The whole state of a simulation, kept and brought back: what follows is what followed, bit for
//! bit.

use super::beside::{Change, Made};
use super::{BodyId, Owner, Physics};
use rapier3d::prelude as rapier;
use std::collections::HashSet;

/// A simulation as it was.
pub struct Snapshot {
    simulation: Physics,
    /// Where steps are made beside scripts: the one on its way, and what was changed meanwhile.
    made: Option<Made>,
    changes: Vec<Change>,
}

/// The same again, with what is known of touches.
pub(super) fn copy(
    world: &rapier::PhysicsWorld,
    touching: rapier::NarrowPhase,
) -> rapier::PhysicsWorld {
    rapier::PhysicsWorld {
        gravity: world.gravity,
        integration_parameters: world.integration_parameters,
        islands: world.islands.clone(),
        broad_phase: world.broad_phase.clone(),
        narrow_phase: touching,
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
        self.simulation.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Physics {
    /// Keeps the state.
    pub fn snapshot(&mut self) -> Snapshot {
        let made = self.beside.as_mut().and_then(|beside| beside.settle()).map(Made::copy);
        let changes = self.beside.as_ref().map(|beside| beside.changes.clone());
        Snapshot { simulation: self.copy(), made, changes: changes.unwrap_or_default() }
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
        let kept = &snapshot.simulation;
        let again = copy(&kept.world, kept.world.narrow_phase.clone());
        let old = std::mem::replace(&mut self.world, again);
        self.touches = kept.touches.clone();
        self.left = kept.left;
        self.track = kept.track.clone();
        self.links = kept.links.clone();
        if let Some(beside) = &mut self.beside {
            beside.replace(snapshot.made.as_ref().map(Made::copy), snapshot.changes.clone());
        }
        let gone = |owner: Owner| owner != 0 && !alive(owner as u64);
        let bodies = self.world.bodies.iter().filter(|(_, body)| gone(body.user_data));
        let ended: Vec<_> = bodies.map(|(handle, _)| handle).collect();
        for handle in ended {
            self.change(move |it| {
                it.world.remove_body(handle);
            });
        }
        let joints = self.world.impulse_joints.iter();
        let ended: Vec<_> = joints
            .filter(|(_, joint)| gone(joint.data.user_data))
            .map(|(handle, _)| handle)
            .collect();
        for handle in ended {
            self.change(move |it| {
                it.world.remove_impulse_joint(handle);
            });
        }
        // One of the snapshot may have another id by now: what came since has got new ones.
        let back: HashSet<Owner> =
            self.world.bodies.iter().map(|(_, body)| body.user_data).collect();
        for (_, body) in old.bodies.iter() {
            if body.user_data == 0 || gone(body.user_data) || back.contains(&body.user_data) {
                continue;
            }
            let shapes = body.colliders().iter().filter_map(|shape| old.colliders.get(*shape));
            let shapes: Vec<_> = shapes.cloned().collect();
            let mut again = rapier::RigidBodyBuilder::new(body.body_type()).build();
            again.copy_from(body);
            again.user_data = body.user_data;
            let made = self.change(move |it| {
                let made = it.world.insert_body(again.clone());
                for shape in &shapes {
                    it.world.insert_collider(shape.clone(), Some(made));
                }
                it.track.fresh.push(made);
                made
            });
            moved(body.user_data, BodyId(made));
        }
        // Everything is shown where it was then.
        self.change(|it| {
            let all = it.world.bodies.iter().filter(|(_, body)| body.is_dynamic());
            it.track.placed.extend(all.map(|(handle, _)| handle));
        });
    }
}
