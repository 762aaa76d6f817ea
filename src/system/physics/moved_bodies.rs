//! Tracking of moved bodies and their earlier transforms. Awake bodies are recorded before each
//! step, so that sleeping bodies are never visited, and a frame between two steps can interpolate.

use super::MovedBody;
use super::flat_plane::BodyPlanes;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{Pose, RigidBodyHandle};

#[derive(Clone, Default)]
pub(super) struct MovedBodies {
    /// Bodies that were awake before the last step, with their transforms if `posed` is true.
    previous: Vec<(RigidBodyHandle, Pose)>,
    posed: bool,
    /// Reusable buffer for the next list.
    spare: Vec<(RigidBodyHandle, Pose)>,
    /// For each body index, the round in which the body was added to `previous`.
    stamps: Vec<u32>,
    round: u32,
    /// Bodies shown at their current transforms: moved from outside, or fallen asleep.
    pub placed: Vec<RigidBodyHandle>,
    /// Bodies added since the last step, which are not among the awake bodies yet.
    pub fresh: Vec<RigidBodyHandle>,
    /// True from the first frame that is not a whole number of steps. Bodies are then interpolated
    /// between two steps.
    pub interpolated: bool,
    /// True if the last update ran a step.
    pub stepped: bool,
}

fn slot(body: RigidBodyHandle) -> usize {
    body.into_raw_parts().0 as usize
}

impl MovedBodies {
    fn stamp(&mut self, body: RigidBodyHandle) {
        let slot = slot(body);
        if self.stamps.len() <= slot {
            self.stamps.resize(slot + 1, 0);
        }
        self.stamps[slot] = self.round;
    }

    fn has(&self, body: RigidBodyHandle) -> bool {
        self.stamps.get(slot(body)).is_some_and(|stamp| *stamp == self.round)
    }

    /// Excludes a body from interpolation, and reports its current transform.
    pub fn mark_placed(&mut self, body: RigidBodyHandle) {
        if self.has(body) {
            self.stamps[slot(body)] = 0;
            self.previous.retain(|(known, _)| *known != body);
        }
        self.placed.push(body);
    }

    /// Records the awake bodies and their transforms before a step.
    pub fn record_awake(&mut self, world: &rapier::PhysicsWorld) {
        let mut reused = std::mem::take(&mut self.previous);
        let mut previous = std::mem::take(&mut self.spare);
        self.round += 1;
        self.posed = self.interpolated;
        let fresh = std::mem::take(&mut self.fresh);
        for handle in world.islands.active_bodies().chain(fresh) {
            if self.has(handle) {
                continue;
            }
            self.stamp(handle);
            // Bodies are large, so their transforms are only read if they are needed.
            let pose = match self.posed {
                true => world.bodies.get(handle).map_or(Pose::IDENTITY, |body| *body.position()),
                false => Pose::IDENTITY,
            };
            previous.push((handle, pose));
        }
        for (handle, _) in reused.drain(..) {
            if !self.has(handle) {
                self.placed.push(handle);
            }
        }
        (self.previous, self.spare) = (previous, reused);
    }

    /// Adds the transforms of moved bodies to `out`. `planes` has the z of the bodies of a
    /// two-dimensional world.
    pub fn moved(
        &mut self,
        world: &rapier::PhysicsWorld,
        part: f32,
        planes: Option<&BodyPlanes>,
        out: &mut Vec<MovedBody>,
    ) {
        let moved_body = |handle: RigidBodyHandle, from: Option<&Pose>| {
            let body = world.bodies.get(handle).filter(|body| body.is_dynamic())?;
            let (mut position, mut rotation) = (body.translation(), *body.rotation());
            if let Some(from) = from {
                position = from.translation.lerp(position, part);
                rotation = from.rotation.slerp(rotation, part);
            }
            if let Some(planes) = planes {
                position.z = planes.z(handle);
            }
            Some(MovedBody { owner: body.user_data, position, rotation })
        };
        out.extend(self.placed.drain(..).filter_map(|handle| moved_body(handle, None)));
        if !self.stepped && !self.interpolated {
            return;
        }
        for (handle, pose) in &self.previous {
            out.extend(moved_body(*handle, (self.interpolated && self.posed).then_some(pose)));
        }
        if self.stepped {
            // Bodies that the step itself woke.
            let active = world.islands.active_bodies().filter(|handle| !self.has(*handle));
            out.extend(active.filter_map(|handle| moved_body(handle, None)));
        }
    }
}
