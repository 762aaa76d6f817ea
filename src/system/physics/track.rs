//! Which bodies moved, and from where: what is awake is noted before each step, so that nothing
//! that sleeps is visited, and a frame between two steps can show bodies between them.

use super::Moved;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{Pose, RigidBodyHandle};

#[derive(Clone, Default)]
pub(super) struct Track {
    /// The bodies that were awake before the last step, and where they were, if `posed`.
    before: Vec<(RigidBodyHandle, Pose)>,
    posed: bool,
    /// Room for the next of these lists.
    spare: Vec<(RigidBodyHandle, Pose)>,
    /// By a body's place: the round in which it came into `before`.
    stamps: Vec<u32>,
    round: u32,
    /// Bodies that are shown where they are: moved from outside, or fallen asleep.
    pub placed: Vec<RigidBodyHandle>,
    /// Bodies that were added since the last step: they are not among the awake ones yet.
    pub fresh: Vec<RigidBodyHandle>,
    /// Whether frames are no whole numbers of steps: from then on bodies are shown between two.
    pub between: bool,
    /// Whether the last update made a step.
    pub stepped: bool,
}

fn place(body: RigidBodyHandle) -> usize {
    body.into_raw_parts().0 as usize
}

impl Track {
    fn stamp(&mut self, body: RigidBodyHandle) {
        let place = place(body);
        if self.stamps.len() <= place {
            self.stamps.resize(place + 1, 0);
        }
        self.stamps[place] = self.round;
    }

    fn has(&self, body: RigidBodyHandle) -> bool {
        self.stamps.get(place(body)).is_some_and(|stamp| *stamp == self.round)
    }

    /// Takes a body out of those that are shown between two steps.
    pub fn put(&mut self, body: RigidBodyHandle) {
        if self.has(body) {
            self.stamps[place(body)] = 0;
            self.before.retain(|(known, _)| *known != body);
        }
        self.placed.push(body);
    }

    /// Before a step: who is awake, and where.
    pub fn note(&mut self, world: &rapier::PhysicsWorld) {
        let mut old = std::mem::take(&mut self.before);
        let mut before = std::mem::take(&mut self.spare);
        self.round += 1;
        self.posed = self.between;
        let fresh = std::mem::take(&mut self.fresh);
        for handle in world.islands.active_bodies().chain(fresh) {
            if self.has(handle) {
                continue;
            }
            self.stamp(handle);
            // Bodies are large: they are looked at only if somebody wants to know.
            let pose = match self.posed {
                true => world.bodies.get(handle).map_or(Pose::IDENTITY, |body| *body.position()),
                false => Pose::IDENTITY,
            };
            before.push((handle, pose));
        }
        for (handle, _) in old.drain(..) {
            if !self.has(handle) {
                self.placed.push(handle);
            }
        }
        (self.before, self.spare) = (before, old);
    }

    pub fn moved(&mut self, world: &rapier::PhysicsWorld, part: f32, out: &mut Vec<Moved>) {
        let shown = |handle: RigidBodyHandle, from: Option<&Pose>| {
            let body = world.bodies.get(handle).filter(|body| body.is_dynamic())?;
            let (mut position, mut rotation) = (body.translation(), *body.rotation());
            if let Some(from) = from {
                position = from.translation.lerp(position, part);
                rotation = from.rotation.slerp(rotation, part);
            }
            Some(Moved { owner: body.user_data, position, rotation })
        };
        out.extend(self.placed.drain(..).filter_map(|handle| shown(handle, None)));
        if !self.stepped && !self.between {
            return;
        }
        for (handle, pose) in &self.before {
            out.extend(shown(*handle, (self.between && self.posed).then_some(pose)));
        }
        if self.stepped {
            // Woken by the step itself.
            let active = world.islands.active_bodies().filter(|handle| !self.has(*handle));
            out.extend(active.filter_map(|handle| shown(handle, None)));
        }
    }
}
