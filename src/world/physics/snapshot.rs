//! State of the physics tables: hashes, snapshots and their restoration.

use super::moving_platforms::CarriedMotion;
use super::{Actor, ActorId, Mover, MoverId, PhysicsTables, PhysicsWorldId, SNAPSHOTS_MAX};
use super::{Joint, JointId, SnapshotId, actor_of, step};
use crate::animation::AnimationSnapshot;
use crate::unit::{UnitId, Units};
use crate::unit_agent_snapshot::UnitAgentSnapshot;
use engine_foundation::hash::StateHash;
use engine_foundation::memory::limit;
use engine_foundation::{Error, Handle, Quat, Vec3};
use engine_navigation::snapshot::NavigationSnapshot;
use engine_physics::{CollisionFilter, JointId as SimulationJoint, SimulationSnapshot};

/// Estimated bytes of a snapshot per body, with its shapes and contacts.
const BODY_BYTES: usize = 2048;

/// Snapshot of a physics world: the simulation and the tables around it. The engine adds the
/// characters of the world and its navigation.
pub struct PhysicsWorldSnapshot {
    pub(super) physics: PhysicsWorldId,
    simulation: SimulationSnapshot,
    actors: Vec<(ActorId, Actor)>,
    movers: Vec<(MoverId, Mover)>,
    joints: Vec<(JointId, Joint)>,
    /// Units, each with true if its physics was disabled.
    units: Vec<(UnitId, bool)>,
    /// The characters of the world.
    pub animation: Option<AnimationSnapshot>,
    /// The navigation meshes of the world, with their agents, and the units of these.
    pub navigation: Option<(NavigationSnapshot, UnitAgentSnapshot)>,
}

impl PhysicsTables {
    /// Takes a snapshot of a physics world.
    ///
    /// # Errors
    /// Returns an error if [`SNAPSHOTS_MAX`] snapshots exist already, or if there is no memory for
    /// another one.
    pub fn snapshot(&mut self, physics: PhysicsWorldId) -> Result<SnapshotId, Error> {
        let bodies = self.world(physics).simulation.len();
        limit::check_room(bodies * BODY_BYTES)?;
        let simulation = self.world_mut(physics).simulation.snapshot();
        let actors = self.actors.iter().filter(|(_, actor)| actor.physics == physics);
        let movers = self.movers.iter().filter(|(_, mover)| mover.physics == physics);
        let joints = self.joints.iter().filter(|(_, joint)| joint.physics == physics);
        let units = self.parts.iter().flatten().filter(|parts| parts.physics == physics);
        let kept = PhysicsWorldSnapshot {
            physics,
            simulation,
            actors: actors.map(|(id, actor)| (ActorId(id), actor.clone())).collect(),
            movers: movers.map(|(id, mover)| (MoverId(id), mover.clone())).collect(),
            joints: joints.map(|(id, joint)| (JointId(id), *joint)).collect(),
            units: units.map(|parts| (parts.unit, parts.disabled)).collect(),
            animation: None,
            navigation: None,
        };
        self.snapshots.add(kept).map(SnapshotId).ok_or_else(|| {
            engine_foundation::error!(
                "{SNAPSHOTS_MAX} snapshots are kept already (SNAPSHOTS_MAX): \
                 PhysicsWorld.drop_snapshot releases one"
            )
        })
    }

    /// Restores a snapshot, including the nodes of its actors. Actors destroyed since the snapshot
    /// stay destroyed; actors created since then stay.
    ///
    /// # Errors
    /// Returns an error if the snapshot is of another physics world.
    pub fn restore(
        &mut self,
        physics: PhysicsWorldId,
        kept: SnapshotId,
        units: &mut Units,
    ) -> Result<(), Error> {
        let PhysicsTables { worlds, actors, movers, joints, snapshots, parts, .. } = self;
        let kept = snapshots.get(kept.0).expect("the handle was checked where it came in");
        if kept.physics != physics {
            return Err(engine_foundation::error!("the snapshot is of another physics world"));
        }
        let alive = |number: u64| {
            Handle::from_number(number as f64)
                .is_some_and(|handle| actors.get(handle).is_some() || joints.get(handle).is_some())
        };
        let (mut moved, mut nodes) = (Vec::new(), Vec::new());
        let world = worlds.get_mut(physics.0).expect("the handle was checked where it came in");
        let simulation = &mut world.simulation;
        simulation.restore(&kept.simulation, alive, |owner, body| moved.push((owner, body)));
        for (id, actor) in &kept.actors {
            let Some(living) = actors.get_mut(id.0) else { continue };
            *living = actor.clone();
            if let Some(unit) = actor.unit.filter(|_| actor.mover.is_none() && !actor.is_ragdoll) {
                nodes.push((unit.row(), actor.node as usize, actor.shown));
            }
        }
        step::apply_body_poses(&mut units.scene, nodes);
        let mut returned = Vec::with_capacity(moved.len());
        for (owner, body) in moved {
            let id = actor_of(owner).expect("what came since is alive");
            actors.get_mut(id.0).expect("what came since is alive").body = body;
            returned.push(id);
        }
        for (id, mover) in &kept.movers {
            if let Some(living) = movers.get_mut(id.0) {
                *living = mover.clone();
            }
        }
        // Movers created since the snapshot are not carried by the restored bodies.
        for (id, mover) in movers.iter_mut().filter(|(_, mover)| mover.physics == physics) {
            if !kept.movers.iter().any(|(known, _)| known.0 == id) {
                (mover.ground, mover.carried) = (None, CarriedMotion::NONE);
            }
        }
        for (id, joint) in &kept.joints {
            if let Some(living) = joints.get_mut(id.0) {
                *living = *joint;
            }
        }
        // Joints created since the snapshot no longer exist in the simulation, and other joints may
        // have reused their slots.
        let simulation = &worlds.get(physics.0).expect("it was there").simulation;
        for (id, joint) in joints.iter_mut().filter(|(_, joint)| joint.physics == physics) {
            if !simulation.is_of(joint.simulation_joint, id.to_number() as u64) {
                joint.simulation_joint = SimulationJoint::none();
            }
        }
        // A unit without physics at the time of the snapshot was not disabled. Units created since
        // then with physics from their file keep their state.
        for living in parts.iter_mut().flatten().filter(|parts| parts.physics == physics) {
            living.disabled &= living.spec.actors.len() + living.spec.movers.len() > 0;
        }
        for (unit, disabled) in &kept.units {
            let living = parts.get_mut(unit.row() as usize).and_then(Option::as_deref_mut);
            if let Some(living) = living.filter(|living| living.unit == *unit) {
                living.disabled = *disabled;
            }
        }
        // Actors created since the snapshot are enabled or disabled like their unit.
        returned.into_iter().for_each(|actor| self.sync_enabled(actor));
        self.note_restored_ragdolls(physics);
        Ok(())
    }

    /// Calls `write` for each object in the order of the slots, with the object's handle and a
    /// function that writes its state.
    pub fn each_state(&self, mut write: impl FnMut(Handle, &dyn Fn(&mut StateHash))) {
        for (handle, world) in self.worlds.iter() {
            write(handle, &|hash| world.simulation.write_common(hash));
        }
        for (handle, actor) in self.actors.iter() {
            let simulation = &self.world(actor.physics).simulation;
            write(handle, &|hash| {
                simulation.write_body(actor.body, hash);
                actor.write_state(hash);
            });
        }
        for (handle, mover) in self.movers.iter() {
            write(handle, &|hash| mover.write_state(hash));
        }
        for parts in self.parts.iter().flatten().filter(|parts| parts.disabled) {
            write(parts.unit.0, &|hash| hash.write_u64(1));
        }
    }
}

fn write_location(hash: &mut StateHash, position: Vec3, rotation: Quat) {
    let numbers = position.to_array().into_iter().chain(rotation.to_array());
    numbers.for_each(|number| hash.write_f32(number));
}

fn write_filter(hash: &mut StateHash, filter: CollisionFilter) {
    [filter.is, filter.collides].into_iter().for_each(|types| hash.write_u64(types.into()));
}

/// Writes an actor that may be missing or destroyed.
fn write_actor(hash: &mut StateHash, actor: Option<ActorId>) {
    hash.write_u64(actor.map_or(0, |actor| actor.0.to_number() as u64));
}

impl Actor {
    /// Writes the state that is not stored in the body.
    fn write_state(&self, hash: &mut StateHash) {
        write_location(hash, self.shown.0, self.shown.1);
        write_filter(hash, self.filter);
        hash.write_u64(self.jumps.into());
        [self.collides, self.found].into_iter().for_each(|is| hash.write_u64(is.into()));
    }
}

impl Mover {
    fn write_state(&self, hash: &mut StateHash) {
        write_location(hash, self.position, self.carried.rotation);
        for vector in [self.ground_velocity, self.carried.displacement] {
            vector.to_array().into_iter().for_each(|number| hash.write_f32(number));
        }
        hash.write_f32(self.slope_max);
        write_filter(hash, self.filter);
        [self.sides, self.up, self.down].into_iter().for_each(|is| hash.write_u64(is.into()));
        let frames = [self.standing_frames, self.flying_frames];
        frames.into_iter().for_each(|count| hash.write_u64(count.into()));
        write_actor(hash, self.standing_on);
        if self.dropping.is_some() {
            write_actor(hash, self.dropping);
        }
        write_actor(hash, self.ground.map(|ground| ground.actor));
        if let Some(ground) = &self.ground {
            write_location(hash, ground.position, ground.rotation);
            hash.write_u64(ground.jumps.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldId;
    use crate::physics::MoverDesc;
    use crate::physics::moving_platforms::StandingOn;
    use engine_foundation::{HandleKind, Slots};
    use engine_physics::{
        BodyDesc, ColliderDesc, ColliderShape, JointBodies, JointKind, JointPlan, JointSpring,
        MotionType, PulleyPlan, Simulation, SimulationSettings,
    };
    use std::sync::Arc;

    fn hash(tables: &PhysicsTables) -> u64 {
        let mut hash = StateHash::new(0);
        tables.each_state(|handle, write| {
            hash.write_u64(handle.to_number() as u64);
            write(&mut hash);
        });
        hash.finish()
    }

    fn physics() -> (PhysicsTables, PhysicsWorldId) {
        physics_of(SimulationSettings::DEFAULT)
    }

    fn physics_of(settings: SimulationSettings) -> (PhysicsTables, PhysicsWorldId) {
        let mut tables = PhysicsTables::default();
        let world = Slots::new(HandleKind::World, 1).add(()).unwrap();
        let physics = tables.make_world(WorldId(world), settings);
        (tables, physics)
    }

    fn cube(motion: MotionType) -> BodyDesc {
        let shape = ColliderShape::Box { half: Vec3::splat(0.5) };
        let parts = vec![ColliderDesc { shape, ..ColliderDesc::DEFAULT }];
        BodyDesc { motion, parts, mass: Some(2.0), ..BodyDesc::DEFAULT }
    }

    #[test]
    fn a_hash_covers_all_state_that_affects_later_steps() {
        let change = |motion: MotionType, change: &dyn Fn(&mut PhysicsTables, ActorId)| {
            let (mut tables, physics) = physics();
            let actor = tables.spawn_actor(physics, cube(motion)).unwrap();
            let before = hash(&tables);
            change(&mut tables, actor);
            (before, hash(&tables))
        };
        let body = |change_body: &dyn Fn(&mut Simulation, engine_physics::BodyId)| {
            change(MotionType::Dynamic, &|tables, actor| {
                let (simulation, body) = tables.body_mut(actor);
                change_body(simulation, body);
            })
        };
        let changes = [
            ("nothing", body(&|_, _| ())),
            ("velocity", body(&|it, body| it.set_velocity(body, Vec3::X))),
            ("mass", body(&|it, body| it.set_mass(body, 3.0))),
            ("damping", body(&|it, body| it.set_damping(body, 0.5, 0.05))),
            ("gravity", body(&|it, body| it.set_gravity_scale(body, 0.0))),
            ("friction", body(&|it, body| it.set_material(body, 0.9, 0.1))),
            ("motion", body(&|it, body| it.set_motion(body, MotionType::Kinematic))),
            ("enabled", body(&|it, body| it.set_enabled(body, false))),
            ("one-way", body(&|it, body| it.set_one_way(body, true))),
            ("asleep", body(&|it, body| it.put_to_sleep(body))),
            (
                "driven",
                change(MotionType::Kinematic, &|tables, actor| {
                    let (simulation, body) = tables.body_mut(actor);
                    simulation.drive(body, Vec3::X, Quat::IDENTITY);
                }),
            ),
            (
                "collides",
                change(MotionType::Dynamic, &|tables, actor| {
                    tables.set_groups(actor, |actor| actor.collides = false);
                }),
            ),
            (
                "jumps",
                change(MotionType::Dynamic, &|tables, actor| {
                    tables.actor_mut(actor).moved_to(Vec3::ZERO, Quat::IDENTITY);
                }),
            ),
            (
                "a unit without physics",
                change(MotionType::Dynamic, &|tables, actor| {
                    let unit = UnitId(Slots::new(HandleKind::Unit, 1).add(()).unwrap());
                    let physics = tables.actor(actor).physics;
                    tables.make_parts(unit, physics, Arc::default());
                    tables.parts[0].as_mut().unwrap().disabled = true;
                }),
            ),
        ];
        for (change, (before, after)) in changes {
            assert_eq!(before == after, change == "nothing", "{change}");
        }
    }

    #[test]
    fn a_hash_covers_the_settings_of_joints() {
        let plan = |kind: JointKind| JointPlan {
            kind,
            link: JointBodies(engine_physics::BodyId::none(), None),
            anchors: [Vec3::ZERO; 2],
            axis: None,
            limits: None,
            length: 1.0,
            pulley: PulleyPlan::DEFAULT,
            spring: JointSpring {
                stiffness: Some(1.0),
                damping: Some(0.0),
                ..JointSpring::default()
            },
            max_force: None,
            break_force: None,
            break_torque: None,
            collides: false,
            owner: 0,
        };
        for kind in [JointKind::Hinge, JointKind::Slider, JointKind::Wheel, JointKind::Mouse] {
            let flat = SimulationSettings { flat: true, ..SimulationSettings::DEFAULT };
            let (mut tables, physics) = physics_of(flat);
            let actor = tables.spawn_actor(physics, cube(MotionType::Dynamic)).unwrap();
            let joint = tables.add_joint(physics, (actor, None), plan(kind)).unwrap();
            let simulation_joint = tables.joints.get(joint.0).unwrap().simulation_joint;
            let mut hashes = vec![hash(&tables)];
            let simulation = |tables: &mut PhysicsTables, change: &dyn Fn(&mut Simulation)| {
                change(&mut tables.world_mut(physics).simulation);
                hash(tables)
            };
            if kind == JointKind::Mouse {
                hashes.push(simulation(&mut tables, &|it| {
                    it.set_joint_target(simulation_joint, Vec3::X)
                }));
            } else {
                hashes.push(simulation(&mut tables, &|it| {
                    it.set_limits(simulation_joint, kind, Some([-1.0, 1.0]));
                }));
                hashes.push(simulation(&mut tables, &|it| {
                    it.set_motor(simulation_joint, kind, Some([1.0, 5.0]));
                }));
            }
            hashes.push(simulation(&mut tables, &|it| {
                it.set_break(simulation_joint, Some(9.0), None)
            }));
            let count = hashes.len();
            hashes.sort_unstable();
            hashes.dedup();
            assert_eq!(hashes.len(), count, "{kind:?}");
        }
    }

    #[test]
    fn a_hash_covers_all_of_a_mover() {
        let (mut tables, physics) = physics();
        let actor = tables.spawn_actor(physics, cube(MotionType::Kinematic)).unwrap();
        let unit = UnitId(Slots::new(HandleKind::Unit, 1).add(()).unwrap());
        let ground = StandingOn { actor, position: Vec3::X, rotation: Quat::IDENTITY, jumps: 0 };
        let spec = MoverDesc::read("m", &engine_foundation::sjson::SjsonTree::Object(Vec::new()));
        let owner = (physics, unit, actor);
        let mover = Mover::new(owner, spec.unwrap(), CollisionFilter::ALL, (Vec3::ZERO, Vec3::Z));
        let of = |mover: &Mover| {
            let mut hash = StateHash::new(0);
            mover.write_state(&mut hash);
            hash.finish()
        };
        let on = Mover { ground: Some(ground), ..mover.clone() };
        let changed = [
            Mover { slope_max: 0.5, ..mover.clone() },
            Mover { position: Vec3::X, ..mover.clone() },
            Mover { filter: CollisionFilter { is: 2, ..CollisionFilter::ALL }, ..mover.clone() },
            Mover { sides: true, ..mover.clone() },
            Mover { up: true, ..mover.clone() },
            Mover { down: true, ..mover.clone() },
            Mover { standing_on: Some(actor), ..mover.clone() },
            Mover { ground_velocity: Vec3::X, ..mover.clone() },
            Mover {
                carried: CarriedMotion { displacement: Vec3::X, ..CarriedMotion::NONE },
                ..mover.clone()
            },
            Mover {
                carried: CarriedMotion {
                    rotation: Quat::from_rotation_z(1.0),
                    ..CarriedMotion::NONE
                },
                ..mover.clone()
            },
            Mover { flying_frames: 1, ..mover.clone() },
            Mover { standing_frames: 1, ..mover.clone() },
            Mover { dropping: Some(actor), ..mover.clone() },
            Mover { ground: Some(StandingOn { position: Vec3::Y, ..ground }), ..mover.clone() },
            Mover {
                ground: Some(StandingOn { rotation: Quat::from_rotation_z(1.0), ..ground }),
                ..mover.clone()
            },
            Mover { ground: Some(StandingOn { jumps: 1, ..ground }), ..mover.clone() },
            on,
        ];
        let mut hashes: Vec<u64> = changed.iter().map(of).chain([of(&mover)]).collect();
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }
}
