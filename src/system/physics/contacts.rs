//! What touched: gathered while a step runs, settled into plain lists after it.

use super::Owner;
use crate::foundation::{Vec3, fault};
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ColliderHandle, CollisionEvent};
use std::sync::Mutex;

/// The most contacts, and the most touches of triggers, that one update tells; the rest is counted.
pub const CONTACTS_MAX: usize = 1 << 14;

/// Whether a touch began or ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    Began,
    Ended,
}

/// Two bodies hit each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contact {
    /// The one that moves by forces stands first; if both do, the one with the smaller number.
    pub owners: [Owner; 2],
    /// Where, in the world.
    pub position: Vec3,
    /// From the second to the first.
    pub normal: Vec3,
    /// Kilograms times metres a second, of the step in which they met.
    pub impulse: f32,
}

/// Something went into a trigger, or out of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trigger {
    /// The trigger's owner.
    pub trigger: Owner,
    pub other: Owner,
    pub touch: Touch,
}

/// Hears of a step's events. The steps hand them over behind a lock that nobody else holds.
#[derive(Default)]
pub(super) struct Collector {
    events: Mutex<Vec<CollisionEvent>>,
    contacts: Vec<Contact>,
    triggers: Vec<Trigger>,
    pub left_out: usize,
    /// Owners of shapes that were removed since the last step, and whether those were triggers.
    pub gone: Vec<(ColliderHandle, Owner, bool)>,
}

impl rapier::EventHandler for Collector {
    fn handle_collision_event(
        &self,
        _: &rapier::RigidBodySet,
        _: &rapier::ColliderSet,
        event: CollisionEvent,
        _: Option<&rapier::ContactPair>,
    ) {
        fault::lock(&self.events).push(event);
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

/// An owner before words of a fault, where it has a number.
pub(super) fn named(owner: Owner) -> String {
    match owner as u64 {
        0 => String::new(),
        actor => format!("actor {actor}: "),
    }
}

impl Collector {
    /// A new update: what the last one told is old.
    pub fn begin(&mut self) {
        self.contacts.clear();
        self.triggers.clear();
        self.left_out = 0;
    }

    /// What was told, without what only steps need.
    pub fn copy(&self) -> Collector {
        Collector {
            events: Mutex::default(),
            contacts: self.contacts.clone(),
            triggers: self.triggers.clone(),
            left_out: self.left_out,
            gone: Vec::new(),
        }
    }

    pub fn told(&self) -> (&[Contact], &[Trigger]) {
        (&self.contacts, &self.triggers)
    }

    /// Makes lists of what the last step told: only now are its impulses known.
    pub fn settle(&mut self, world: &rapier::PhysicsWorld) {
        let events = std::mem::take(self.events.get_mut().expect("nothing panics with it held"));
        for event in &events {
            if event.sensor() {
                self.touch(world, event);
            } else if event.started() {
                self.contact(world, event);
            }
        }
        self.gone.clear();
        // The room is used again.
        let mut events = events;
        events.clear();
        *self.events.get_mut().expect("nothing panics with it held") = events;
    }

    /// A shape's owner, and whether it is a trigger.
    fn of(&self, world: &rapier::PhysicsWorld, shape: ColliderHandle) -> Option<(Owner, bool)> {
        if let Some(collider) = world.colliders.get(shape) {
            return Some((collider.user_data, collider.is_sensor()));
        }
        let gone = self.gone.iter().find(|(known, ..)| *known == shape);
        gone.map(|(_, owner, trigger)| (*owner, *trigger))
    }

    fn touch(&mut self, world: &rapier::PhysicsWorld, event: &CollisionEvent) {
        let [one, two] = [event.collider1(), event.collider2()].map(|shape| self.of(world, shape));
        let (Some(one), Some(two)) = (one, two) else { return };
        let (trigger, other) = match (one.1, two.1) {
            (true, false) => (one.0, two.0),
            (false, true) => (two.0, one.0),
            // Triggers do not notice each other.
            _ => return,
        };
        if self.triggers.len() >= CONTACTS_MAX {
            self.left_out += 1;
            return;
        }
        let touch = if event.started() { Touch::Began } else { Touch::Ended };
        self.triggers.push(Trigger { trigger, other, touch });
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
        let turned = match (dynamic(one), dynamic(two)) {
            (true, false) => false,
            (false, true) => true,
            _ => one.user_data > two.user_data,
        };
        let (mut owners, mut normal) = ([one.user_data, two.user_data], -manifold.data.normal);
        if turned {
            owners.reverse();
            normal = -normal;
        }
        let impulse = pair.total_impulse_magnitude();
        let position = *one.position() * local;
        self.contacts.push(Contact { owners, position, normal, impulse });
    }
}
