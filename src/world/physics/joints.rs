//! Joints between actors, of units' files and of scripts.

use super::actors::node_of;
use super::spec::JointSpec;
use super::{ActorId, JointId, PhysicsTables, PhysicsWorldId};
use crate::foundation::{Error, suggest};
use crate::system::physics::{JointId as Hold, JointKind, JointPlan, JointState, Link};
use crate::world::unit::{UnitId, Units};

/// What holds two actors together.
#[derive(Clone, Copy, Debug)]
pub struct Joint {
    pub physics: PhysicsWorldId,
    pub hold: Hold,
    pub kind: JointKind,
    /// The second may be the world.
    pub actors: (ActorId, Option<ActorId>),
}

impl PhysicsTables {
    /// Makes a joint; the plan's owner and bodies are filled in.
    ///
    /// # Errors
    /// There is no room, or the actors are in another world or the same.
    pub fn add_joint(
        &mut self,
        physics: PhysicsWorldId,
        actors: (ActorId, Option<ActorId>),
        mut plan: JointPlan,
    ) -> Result<JointId, Error> {
        for actor in [Some(actors.0), actors.1].into_iter().flatten() {
            if self.actor(actor).physics != physics {
                return Err(crate::error!("the actors are not both in that physics world"));
            }
        }
        let body = |actor: ActorId| self.actor(actor).body;
        plan.link = Link(body(actors.0), actors.1.map(body));
        // The owner's number is the handle, which comes with the slot.
        let joint = Joint { physics, hold: Hold::none(), kind: plan.kind, actors };
        let handle = self.joints.add(joint).ok_or_else(|| {
            crate::error!(
                "{} joints are there already (JOINTS_MAX): destroy some first",
                super::JOINTS_MAX
            )
        })?;
        plan.owner = handle.to_number() as u64;
        match self.world_mut(physics).simulation.add_joint(&plan) {
            Ok(hold) => {
                self.joints.get_mut(handle).expect("it was added").hold = hold;
                Ok(JointId(handle))
            }
            Err(error) => {
                self.joints.remove(handle, "", 0, "");
                Err(error)
            }
        }
    }

    /// Makes a joint of a unit's file.
    pub(super) fn add_unit_joint(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        spec: &JointSpec,
    ) -> Result<(), Error> {
        let resource = units.of(unit).resource.clone();
        let at = format!("unit \"{}\", joint '{}'", resource.name, spec.name);
        let named = |error: Error| Error { message: format!("{at}: {}", error.message), ..error };
        let node = node_of(&resource, spec.node.as_deref()).map_err(named)?;
        let actor = |name: &str| {
            let place = self.find_actor(unit, name);
            place.and_then(|place| self.unit_actor(unit, place)).ok_or_else(|| {
                let parts = self.parts(unit).expect("it was made");
                let names = parts.spec.actors.iter().map(|spec| spec.name.as_str());
                let hint = suggest::hint(name, names);
                crate::error!("{at}: the unit has no actor '{name}'{hint}")
            })
        };
        let one = actor(&spec.actors.0)?;
        let two = spec.actors.1.as_deref().map(actor).transpose()?;
        let world = units.scene.world(unit.row(), node);
        let place = world.transform_point3(spec.position);
        let other = spec.other.map_or(place, |other| world.transform_point3(other));
        let physics = self.parts(unit).expect("it was made").physics;
        let plan = JointPlan {
            kind: spec.kind,
            link: Link(self.actor(one).body, None),
            anchors: [place, other],
            axis: world.transform_vector3(spec.axis),
            limits: spec.limits,
            length: spec.length.unwrap_or(place.distance(other)),
            stiffness: spec.stiffness,
            damping: spec.damping,
            break_force: spec.break_force,
            break_torque: spec.break_torque,
            collides: spec.collides,
            owner: 0,
        };
        let made = self.add_joint(physics, (one, two), plan).map_err(named)?;
        self.parts[unit.row() as usize].as_mut().expect("it was made").joints.push(made);
        Ok(())
    }

    /// The joints of a unit's file, in its order.
    pub fn unit_joint(&self, unit: UnitId, name: &str) -> Option<JointId> {
        let parts = self.parts(unit)?;
        let place = parts.spec.joints.iter().position(|spec| spec.name == name)?;
        parts.joints.get(place).copied().filter(|joint| self.joints.get(joint.0).is_some())
    }

    pub fn end_joint(&mut self, joint: JointId, frame: u64, place: &str) {
        let Some(gone) = self.joints.remove(joint.0, "", frame, place) else { return };
        if let Some(world) = self.worlds.get_mut(gone.physics.0) {
            world.simulation.remove_joint(gone.hold);
        }
    }

    /// What a joint does; `None`: it does not hold any more.
    pub fn joint_state(&self, joint: JointId) -> Option<JointState> {
        let joint = self.joints.get(joint.0).expect("the handle was checked where it came in");
        self.world(joint.physics).simulation.joint_state(joint.hold, joint.kind)
    }
}
