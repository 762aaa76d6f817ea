//! What touched: gathered while a step runs, settled into plain lists after it.

use crate::foundation::Vec3;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ColliderHandle, CollisionEvent};
use std::sync::Mutex;

/// The most contacts that are kept until somebody asks; the rest of a step is dropped and counted.
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
    pub owners: [u64; 2],
    /// Where, in the world.
    pub position: Vec3,
    /// From the first to the second.
    pub normal: Vec3,
    /// Kilograms times metres a second, of the step in which they met.
    pub impulse: f32,
}

/// Something went into a trigger, or out of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trigger {
    /// The trigger's owner.
    pub trigger: u64,
    pub other: u64,
    pub touch: Touch,
}

/// Hears of a step's events. The steps hand them over behind a lock that nobody else holds.
#[derive(Default)]
pub(super) struct Collector {
    events: Mutex<Vec<(CollisionEvent, [u64; 2], bool)>>,
    contacts: Vec<Contact>,
    triggers: Vec<Trigger>,
}

impl rapier::EventHandler for Collector {
    fn handle_collision_event(
        &self,
        _: &rapier::RigidBodySet,
        colliders: &rapier::ColliderSet,
        event: CollisionEvent,
        _: Option<&rapier::ContactPair>,
    ) {
        let [one, two] = [event.collider1(), event.collider2()];
        let of = |handle: ColliderHandle| colliders.get(handle);
        let owner = |handle| of(handle).map_or(0, |collider| collider.user_data as u64);
        // A trigger stands first.
        let second = of(two).is_some_and(rapier::Collider::is_sensor)
            && !of(one).is_some_and(rapier::Collider::is_sensor);
        let owners = if second { [owner(two), owner(one)] } else { [owner(one), owner(two)] };
        let mut events = self.events.lock().expect("nothing panics while it is held");
        events.push((event, owners, second));
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

impl Collector {
    /// Makes lists of what the last step told: only now are its impulses known.
    pub(super) fn settle(&mut self, world: &rapier::PhysicsWorld) {
        let events = std::mem::take(self.events.get_mut().expect("nothing panics with it held"));
        for (event, owners, _) in events {
            let touch = if event.started() { Touch::Began } else { Touch::Ended };
            if event.sensor() {
                if self.triggers.len() < CONTACTS_MAX {
                    self.triggers.push(Trigger { trigger: owners[0], other: owners[1], touch });
                }
                continue;
            }
            if touch == Touch::Ended || self.contacts.len() >= CONTACTS_MAX {
                continue;
            }
            let pair = world.contact_pair(event.collider1(), event.collider2());
            let Some(pair) = pair else { continue };
            let Some((manifold, point)) = pair.find_deepest_contact() else { continue };
            let Some(collider) = world.colliders.get(pair.collider1) else { continue };
            let owner = |handle| world.colliders.get(handle).map_or(0, |c| c.user_data as u64);
            let local = point.local_p1;
            let local = manifold.subshape_pos1().map_or(local, |pose| *pose * local);
            self.contacts.push(Contact {
                owners: [owner(pair.collider1), owner(pair.collider2)],
                position: *collider.position() * local,
                normal: manifold.data.normal,
                impulse: pair.total_impulse_magnitude(),
            });
        }
    }

    pub(super) fn take(&mut self) -> (Vec<Contact>, Vec<Trigger>) {
        (std::mem::take(&mut self.contacts), std::mem::take(&mut self.triggers))
    }
}
