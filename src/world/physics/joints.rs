//! Joints between actors, created by units' files and by scripts.

use super::actors::{check_position, node_of};
use super::template::JointDesc;
use super::{ActorId, JointId, PhysicsTables, PhysicsWorldId};
use crate::unit::{UnitId, Units};
use engine_foundation::{Error, suggest};
use engine_physics::{
    JointBodies, JointId as SimulationJoint, JointKind, JointPlan, JointState, Simulation,
};

/// A joint between two actors, or between an actor and the world.
#[derive(Clone, Copy, Debug)]
pub struct Joint {
    pub physics: PhysicsWorldId,
    pub simulation_joint: SimulationJoint,
    pub kind: JointKind,
    /// Connected actors. `None` in place of the second actor is the world.
    pub actors: (ActorId, Option<ActorId>),
}

impl PhysicsTables {
    /// Creates a joint; this function sets the owner and the bodies of the plan.
    ///
    /// # Errors
    /// Returns an error if there are too many joints, or if the actors are in different worlds or
    /// the same actor.
    pub fn add_joint(
        &mut self,
        physics: PhysicsWorldId,
        actors: (ActorId, Option<ActorId>),
        mut plan: JointPlan,
    ) -> Result<JointId, Error> {
        for actor in [Some(actors.0), actors.1].into_iter().flatten() {
            if self.actor(actor).physics != physics {
                return Err(engine_foundation::error!(
                    "the actors are not both in that physics world"
                ));
            }
        }
        let body = |actor: ActorId| self.actor(actor).body;
        plan.link = JointBodies(body(actors.0), actors.1.map(body));
        self.insert_joint(physics, actors, plan.kind, |simulation, owner| {
            simulation.add_joint(&JointPlan { owner, ..plan })
        })
    }

    /// Adds a row for a joint; `add` creates it with the number of its owner.
    pub(super) fn insert_joint(
        &mut self,
        physics: PhysicsWorldId,
        actors: (ActorId, Option<ActorId>),
        kind: JointKind,
        add: impl FnOnce(&mut Simulation, u64) -> Result<SimulationJoint, Error>,
    ) -> Result<JointId, Error> {
        // The owner's number is the handle, which is known only after the slot is allocated.
        let joint = Joint { physics, simulation_joint: SimulationJoint::none(), kind, actors };
        let handle = self.joints.add(joint).ok_or_else(|| {
            engine_foundation::error!(
                "{} joints already exist (JOINTS_MAX): destroy some first",
                super::JOINTS_MAX
            )
        })?;
        let owner = handle.to_number() as u64;
        match add(&mut self.world_mut(physics).simulation, owner) {
            Ok(simulation_joint) => {
                self.joints.get_mut(handle).expect("it was added").simulation_joint =
                    simulation_joint;
                Ok(JointId(handle))
            }
            Err(error) => {
                self.joints.remove(handle, "", 0, "");
                Err(error)
            }
        }
    }

    /// Creates a joint that a unit's file declares.
    pub(super) fn add_unit_joint(
        &mut self,
        unit: UnitId,
        units: &mut Units,
        spec: &JointDesc,
    ) -> Result<(), Error> {
        let resource = units.of(unit).resource.clone();
        let at = format!("unit \"{}\", joint '{}'", resource.name, spec.name);
        let named = |error: Error| Error { message: format!("{at}: {}", error.message), ..error };
        let node = node_of(&resource, spec.node.as_deref()).map_err(named)?;
        let actor = |name: &str| {
            let index = self.find_actor(unit, name);
            index.and_then(|index| self.unit_actor(unit, index)).ok_or_else(|| {
                let parts = self.parts(unit).expect("it was made");
                let names = parts.spec.actors.iter().map(|spec| spec.name.as_str());
                let hint = suggest::hint(name, names);
                engine_foundation::error!("{at}: the unit has no actor '{name}'{hint}")
            })
        };
        let one = actor(&spec.actors.0)?;
        let two = spec.actors.1.as_deref().map(actor).transpose()?;
        let world = units.scene.world(unit.row(), node);
        let anchor = world.transform_point3(spec.position);
        let other = match (spec.other, two) {
            (Some(other), _) => world.transform_point3(other),
            (None, Some(two)) if spec.kind == JointKind::Pulley => {
                let (simulation, body) = self.body(two);
                simulation.position(body)
            }
            _ => anchor,
        };
        let physics = self.parts(unit).expect("it was made").physics;
        let ground = [spec.ground, spec.other_ground.or(spec.ground)];
        let ground = ground.map(|point| world.transform_point3(point.unwrap_or_default()));
        let anchors = [anchor, other];
        for point in ground {
            check_position(point).map_err(named)?;
        }
        let pulley = self.world(physics).simulation.pulley_plan(anchors, ground, spec.ratio);
        let length = match spec.kind {
            JointKind::Pulley => pulley.length(anchors),
            _ => anchor.distance(other),
        };
        let plan = JointPlan {
            kind: spec.kind,
            link: JointBodies(self.actor(one).body, None),
            anchors,
            axis: spec.axis.map(|axis| world.transform_vector3(axis)),
            limits: spec.limits,
            length: spec.length.unwrap_or(length),
            pulley,
            spring: spec.spring,
            max_force: spec.max_force,
            break_force: spec.break_force,
            break_torque: spec.break_torque,
            collides: spec.collides,
            owner: 0,
        };
        let joint = self.add_joint(physics, (one, two), plan).map_err(named)?;
        self.parts[unit.row() as usize].as_mut().expect("it was made").joints.push(joint);
        Ok(())
    }

    /// Returns the joint of a unit's file with a name.
    pub fn unit_joint(&self, unit: UnitId, name: &str) -> Option<JointId> {
        let parts = self.parts(unit)?;
        let index = parts.spec.joints.iter().position(|spec| spec.name == name)?;
        parts.joints.get(index).copied().filter(|joint| self.joints.get(joint.0).is_some())
    }

    pub fn end_joint(&mut self, joint: JointId, frame: u64, location: &str) {
        let Some(removed) = self.joints.remove(joint.0, "", frame, location) else { return };
        if let Some(world) = self.worlds.get_mut(removed.physics.0) {
            world.simulation.remove_joint(removed.simulation_joint);
        }
    }

    /// Returns the lengths of the two parts of a pulley's rope, or `None` if the joint is broken or
    /// no pulley.
    pub fn pulley_lengths(&self, joint: JointId) -> Option<[f32; 2]> {
        let joint = self.joints.get(joint.0).expect("the handle was checked where it came in");
        self.world(joint.physics).simulation.pulley_lengths(joint.simulation_joint)
    }

    /// Returns the state of a joint, or `None` if the joint is broken.
    pub fn joint_state(&self, joint: JointId) -> Option<JointState> {
        let joint = self.joints.get(joint.0).expect("the handle was checked where it came in");
        self.world(joint.physics).simulation.joint_state(joint.simulation_joint, joint.kind)
    }
}
