//! Snapshots of the whole state of a simulation. A restored simulation continues exactly as the
//! original did, bit for bit.

use super::async_step::{PendingChange, StepResult};
use super::{BodyId, BodyOwner, Simulation};
use rapier3d::prelude as rapier;
use std::collections::HashSet;

/// A saved state of a simulation.
pub struct SimulationSnapshot {
    simulation: Simulation,
    /// With asynchronous steps, the step in flight. `changes` contains the changes made since it
    /// began.
    step_in_flight: Option<StepResult>,
    changes: Vec<PendingChange>,
}

/// Copies a world, with the given narrow phase in place of its own.
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
        // Working memory, without persistent state.
        ..rapier::PhysicsWorld::default()
    }
}

impl SimulationSnapshot {
    /// Returns the number of bodies in the snapshot.
    pub fn len(&self) -> usize {
        self.simulation.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Simulation {
    /// Saves the state.
    pub fn snapshot(&mut self) -> SimulationSnapshot {
        let step_in_flight = self
            .async_step
            .as_mut()
            .and_then(|async_step| async_step.finish())
            .map(StepResult::copy);
        let changes = self.async_step.as_ref().map(|async_step| async_step.changes.clone());
        SimulationSnapshot {
            simulation: self.copy(),
            step_in_flight,
            changes: changes.unwrap_or_default(),
        }
    }

    /// Restores a state. Bodies and joints that were removed since then do not return; `alive`
    /// returns true for the number of an owner that still exists. Bodies added since then keep
    /// their state and get new handles, and `moved` is called for each of them. Joints added since
    /// then are removed.
    pub fn restore(
        &mut self,
        snapshot: &SimulationSnapshot,
        alive: impl Fn(u64) -> bool,
        mut moved: impl FnMut(BodyOwner, BodyId),
    ) {
        let saved = &snapshot.simulation;
        let restored = copy(&saved.world, saved.world.narrow_phase.clone());
        let old = std::mem::replace(&mut self.world, restored);
        self.touches = saved.touches.clone();
        self.unsimulated = saved.unsimulated;
        self.track = saved.track.clone();
        self.links = saved.links.clone();
        self.planes = saved.planes.clone();
        if let Some(async_step) = &mut self.async_step {
            async_step.replace(
                snapshot.step_in_flight.as_ref().map(StepResult::copy),
                snapshot.changes.clone(),
            );
        }
        let is_destroyed = |owner: BodyOwner| owner != 0 && !alive(owner as u64);
        let bodies = self.world.bodies.iter().filter(|(_, body)| is_destroyed(body.user_data));
        let ended: Vec<_> = bodies.map(|(handle, _)| handle).collect();
        for handle in ended {
            self.change(move |it| {
                it.world.remove_body(handle);
            });
        }
        let joints = self.world.impulse_joints.iter();
        let ended: Vec<_> = joints
            .filter(|(_, joint)| is_destroyed(joint.data.user_data))
            .map(|(handle, _)| handle)
            .collect();
        for handle in ended {
            self.change(move |it| {
                it.world.remove_impulse_joint(handle);
            });
        }
        // A body of the snapshot may have another handle now: bodies added later got new ones.
        let back: HashSet<BodyOwner> =
            self.world.bodies.iter().map(|(_, body)| body.user_data).collect();
        for (_, body) in old.bodies.iter() {
            if body.user_data == 0 || is_destroyed(body.user_data) || back.contains(&body.user_data)
            {
                continue;
            }
            let shapes = body.colliders().iter().filter_map(|shape| old.colliders.get(*shape));
            let shapes: Vec<_> = shapes.cloned().collect();
            let mut recreated = rapier::RigidBodyBuilder::new(body.body_type()).build();
            recreated.copy_from(body);
            recreated.user_data = body.user_data;
            let added = self.change(move |it| {
                let added = it.world.insert_body(recreated.clone());
                for shape in &shapes {
                    it.world.insert_collider(shape.clone(), Some(added));
                }
                it.track.fresh.push(added);
                it.planes.record(&it.world, added);
                added
            });
            moved(body.user_data, BodyId(added));
        }
        // All bodies are shown at their restored transforms.
        self.change(|it| {
            let all = it.world.bodies.iter().filter(|(_, body)| body.is_dynamic());
            it.track.placed.extend(all.map(|(handle, _)| handle));
        });
    }
}
