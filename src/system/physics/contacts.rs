//! Contact and trigger events: collected while a step runs, converted to plain lists after it.

use super::BodyOwner;
use engine_foundation::{Vec3, panic};
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ColliderHandle, CollisionEvent};
use std::sync::Mutex;

/// Maximum number of contacts, and of trigger events, that one update reports. The rest is only
/// counted.
pub const CONTACTS_MAX: usize = 1 << 14;

/// Phase of a contact: began or ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContactPhase {
    Began,
    Ended,
}

/// A contact that began between two bodies.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ContactEvent {
    /// Owners of the two bodies, a dynamic body first. If both are dynamic, the smaller number is
    /// first.
    pub owners: [BodyOwner; 2],
    /// Position in world space.
    pub position: Vec3,
    /// Direction from the second body to the first.
    pub normal: Vec3,
    /// Impulse of the step in which they met, in kilogram metres per second.
    pub impulse: f32,
}

/// A body that entered or left a trigger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TriggerEvent {
    /// Owner of the trigger.
    pub trigger: BodyOwner,
    pub other: BodyOwner,
    pub touch: ContactPhase,
}

/// Receiver of the events of a step. rapier reports them through a lock that nothing else holds.
#[derive(Default)]
pub(super) struct EventCollector {
    events: Mutex<Vec<CollisionEvent>>,
    contacts: Vec<ContactEvent>,
    triggers: Vec<TriggerEvent>,
    pub left_out: usize,
    /// Owners of shapes that were removed since the last step, and true if they were triggers.
    pub removed: Vec<(ColliderHandle, BodyOwner, bool)>,
}

impl rapier::EventHandler for EventCollector {
    fn handle_collision_event(
        &self,
        _: &rapier::RigidBodySet,
        _: &rapier::ColliderSet,
        event: CollisionEvent,
        _: Option<&rapier::ContactPair>,
    ) {
        panic::lock(&self.events).push(event);
    }

    fn handle_contact_force_event(
        &self,
        _: f32,
        _: &rapier::RigidBodySet,
        _: &rapier::ColliderSet,
        _: &rapier::ContactPair,
        _: f32,
    ) {
    }

    fn handle_soft_body_tear_event(&self, _: &rapier::SoftBodySet, _: &rapier::SoftBodyTearEvent) {}
}

/// Returns the owner as a prefix for error messages, or an empty string if it has no number.
pub(super) fn owner_prefix(owner: BodyOwner) -> String {
    match owner as u64 {
        0 => String::new(),
        actor => format!("actor {actor}: "),
    }
}

impl EventCollector {
    /// Begins an update: clears the events of the last one.
    pub fn begin(&mut self) {
        self.contacts.clear();
        self.triggers.clear();
        self.left_out = 0;
    }

    /// Copies the reported events, without the data that only steps need.
    pub fn copy(&self) -> EventCollector {
        EventCollector {
            events: Mutex::default(),
            contacts: self.contacts.clone(),
            triggers: self.triggers.clone(),
            left_out: self.left_out,
            removed: Vec::new(),
        }
    }

    pub fn reported_events(&self) -> (&[ContactEvent], &[TriggerEvent]) {
        (&self.contacts, &self.triggers)
    }

    /// Converts the events of the last step to lists. The impulses are only known after the step.
    pub fn collect_events(&mut self, world: &rapier::PhysicsWorld) {
        let events = std::mem::take(self.events.get_mut().expect("nothing panics with it held"));
        for event in &events {
            if event.sensor() {
                self.touch(world, event);
            } else if event.started() {
                self.contact(world, event);
            }
        }
        self.removed.clear();
        // The allocation is reused.
        let mut events = events;
        events.clear();
        *self.events.get_mut().expect("nothing panics with it held") = events;
    }

    /// Returns the owner of a shape, and true if the shape is a trigger.
    fn of(&self, world: &rapier::PhysicsWorld, shape: ColliderHandle) -> Option<(BodyOwner, bool)> {
        if let Some(collider) = world.colliders.get(shape) {
            return Some((collider.user_data, collider.is_sensor()));
        }
        let removed = self.removed.iter().find(|(known, ..)| *known == shape);
        removed.map(|(_, owner, trigger)| (*owner, *trigger))
    }

    fn touch(&mut self, world: &rapier::PhysicsWorld, event: &CollisionEvent) {
        let [one, two] = [event.collider1(), event.collider2()].map(|shape| self.of(world, shape));
        let (Some(one), Some(two)) = (one, two) else { return };
        let (trigger, other) = match (one.1, two.1) {
            (true, false) => (one.0, two.0),
            (false, true) => (two.0, one.0),
            // Triggers do not detect each other.
            _ => return,
        };
        if self.triggers.len() >= CONTACTS_MAX {
            self.left_out += 1;
            return;
        }
        let touch = if event.started() { ContactPhase::Began } else { ContactPhase::Ended };
        self.triggers.push(TriggerEvent { trigger, other, touch });
    }

    fn contact(&mut self, world: &rapier::PhysicsWorld, event: &CollisionEvent) {
        if self.contacts.len() >= CONTACTS_MAX {
            self.left_out += 1;
            return;
        }
        let Some(pair) = world.contact_pair(event.collider1(), event.collider2()) else { return };
        let Some((manifold, point)) = pair.find_deepest_contact() else { return };
        let [one, two] = [pair.collider1, pair.collider2].map(|shape| world.colliders.get(shape));
        let (Some(one), Some(two)) = (one, two) else { return };
        let local = point.local_p1;
        let local = manifold.subshape_pos1().map_or(local, |pose| *pose * local);
        let dynamic = |collider: &rapier::Collider| {
            collider
                .parent()
                .and_then(|body| world.bodies.get(body))
                .is_some_and(|b| b.is_dynamic())
        };
        let is_flipped = match (dynamic(one), dynamic(two)) {
            (true, false) => false,
            (false, true) => true,
            _ => one.user_data > two.user_data,
        };
        let (mut owners, mut normal) = ([one.user_data, two.user_data], -manifold.data.normal);
        if is_flipped {
            owners.reverse();
            normal = -normal;
        }
        let impulse = pair.total_impulse_magnitude();
        let position = *one.position() * local;
        self.contacts.push(ContactEvent { owners, position, normal, impulse });
    }
}
