//! The system `physics`: the physics update of a world in a frame. Actors follow the nodes that
//! scripts moved, the simulation advances, and nodes follow the actors that forces moved.

use super::{PhysicsTables, PhysicsWorldId, actor_of, actors::check_position};
use crate::scene_graph::SceneGraph;
use crate::unit::{UnitId, Units};
use engine_foundation::{Error, Quat, Vec3, log};
use engine_physics::{MotionType, POSITION_MAX};

/// Tolerances for equal poses, to ignore rounding: metres, metres per metre of distance from the
/// origin, and the cosine of half the rotation angle.
const SAME: f32 = 1e-4;
const POSITION_TOLERANCE: f32 = 1e-6;
const ROTATION_TOLERANCE: f32 = 1e-6;

/// Returns true if a pose equals a known pose, which is within the allowed range.
fn is_same(one: (Vec3, Quat), known: (Vec3, Quat)) -> bool {
    let far = SAME + POSITION_TOLERANCE * known.0.length();
    one.0.distance_squared(known.0) <= far * far
        && one.1.dot(known.1).abs() >= 1.0 - ROTATION_TOLERANCE
}

/// Moves nodes of units, by row, to the last shown poses of their actors.
pub(super) fn apply_body_poses(scene: &mut SceneGraph, mut nodes: Vec<(u32, usize, (Vec3, Quat))>) {
    // Parents first: children follow them, and may then be in the correct place already.
    nodes.sort_by_key(|(row, node, _)| (*row, *node));
    for (row, node, shown) in nodes {
        let now = (scene.world_position(row, node), scene.world_rotation(row, node));
        if !is_same(now, shown) {
            scene.set_world_pose(row, node, shown.0, shown.1);
        }
    }
}

impl PhysicsTables {
    /// Advances the physics of one world, and returns the number of steps.
    ///
    /// # Errors
    /// Returns an error if an object left the allowed range.
    pub fn update(
        &mut self,
        physics: PhysicsWorldId,
        units: &mut Units,
        seconds: f64,
    ) -> Result<u32, Error> {
        self.follow_nodes(physics, units)?;
        let steps = self.world_mut(physics).simulation.update(seconds);
        let steps = steps.map_err(|error| self.with_name(error))?;
        self.write_back(physics, &mut units.scene);
        self.carry_movers(physics)?;
        Ok(steps)
    }

    /// Replaces the owner number in an error message with the name of the actor.
    fn with_name(&self, error: Error) -> Error {
        let Some(rest) = error.message.strip_prefix("actor ") else { return error };
        let Some((number, message)) = rest.split_once(": ") else { return error };
        let actor = number.parse().ok().and_then(actor_of);
        let name = actor.and_then(|actor| self.actors.get(actor.0)).map(|actor| &*actor.name);
        let message = format!("actor '{}': {message}", name.unwrap_or("?"));
        Error { message, ..error }
    }

    /// Records units that moved after the update of their world, in the order of the moves: the
    /// next update follows them.
    pub fn note_late_moves(&mut self, rows: &[u32]) {
        for row in rows {
            let parts = self.parts.get_mut(*row as usize).and_then(Option::as_deref_mut);
            if let Some(parts) = parts.filter(|parts| !parts.moved_late) {
                parts.moved_late = true;
                self.late_moves.push(*row);
            }
        }
    }

    /// Removes and returns the recorded units of a physics world.
    fn take_late_moves(&mut self, physics: PhysicsWorldId) -> Vec<u32> {
        let PhysicsTables { late_moves, parts, .. } = self;
        let mut taken = Vec::new();
        late_moves.retain(|row| {
            let parts = parts.get_mut(*row as usize).and_then(Option::as_deref_mut);
            // A row without the mark was reused for another unit.
            let Some(parts) = parts.filter(|parts| parts.moved_late) else { return false };
            if parts.physics == physics {
                parts.moved_late = false;
                taken.push(*row);
            }
            parts.moved_late
        });
        taken
    }

    /// Moves bodies to the nodes that scripts moved.
    fn follow_nodes(&mut self, physics: PhysicsWorldId, units: &mut Units) -> Result<(), Error> {
        let mut rows = self.take_late_moves(physics);
        let own = |row: &u32| {
            let parts = self.parts.get(*row as usize).and_then(Option::as_deref);
            parts.is_some_and(|parts| parts.physics == physics)
        };
        rows.extend(units.scene.moved_units().filter(own));
        for row in rows {
            let count = self.parts[row as usize].as_ref().map_or(0, |parts| parts.actors.len());
            for index in 0..count {
                let parts = self.parts[row as usize].as_ref().expect("it is there");
                let Some(id) = parts.actors[index] else { continue };
                let actor = self.actors.get_mut(id.0).expect("its unit has it");
                let node = actor.node as usize;
                let scene = &mut units.scene;
                let pose = (scene.world_position(row, node), scene.world_rotation(row, node));
                if is_same(pose, actor.shown) {
                    continue;
                }
                if let Err(error) = check_position(pose.0) {
                    let (name, unit) = (actor.name.clone(), actor.unit.expect("it has one"));
                    let unit = &units.of(unit).resource.name;
                    let message = format!("unit \"{unit}\", actor '{name}': {}", error.message);
                    return Err(Error { message, ..error });
                }
                actor.shown = pose;
                let body = actor.body;
                let world = self.worlds.get_mut(physics.0).expect("it is updated");
                match world.simulation.motion(body) {
                    MotionType::Kinematic => world.simulation.drive(body, pose.0, pose.1),
                    MotionType::Static | MotionType::Dynamic => {
                        actor.jumps = actor.jumps.wrapping_add(1);
                        world.simulation.teleport(body, pose.0, pose.1);
                    }
                }
            }
        }
        Ok(())
    }

    /// Teleports a unit's actors to its nodes, without collisions.
    ///
    /// # Errors
    /// Returns an error if a node is outside the allowed range.
    pub fn teleport_unit(&mut self, unit: UnitId, units: &mut Units) -> Result<(), Error> {
        for index in 0..self.num_actors(unit) {
            let Some(id) = self.unit_actor(unit, index) else { continue };
            let node = self.actor(id).node as usize;
            let position = units.scene.world_position(unit.row(), node);
            let rotation = units.scene.world_rotation(unit.row(), node);
            check_position(position)?;
            self.actor_mut(id).moved_to(position, rotation);
            let (simulation, body) = self.body_mut(id);
            simulation.teleport(body, position, rotation);
        }
        Ok(())
    }

    /// Moves nodes to the poses of their moved bodies.
    fn write_back(&mut self, physics: PhysicsWorldId, scene: &mut SceneGraph) {
        let PhysicsTables { worlds, actors, moved, .. } = self;
        let world = worlds.get_mut(physics.0).expect("it is updated");
        moved.clear();
        world.simulation.moved(moved);
        for shown in moved.iter() {
            let Some(actor) = actor_of(shown.owner).and_then(|id| actors.get_mut(id.0)) else {
                continue;
            };
            if check_position(shown.position).is_err() {
                log::warning(&format!(
                    "actor '{}' got farther than {POSITION_MAX} metres from the origin, and was \
                     stopped there: destroy what leaves a level",
                    actor.name
                ));
                world.simulation.halt(actor.body);
                continue;
            }
            actor.shown = (shown.position, shown.rotation);
            if let Some(unit) = actor.unit.filter(|_| !actor.is_ragdoll) {
                scene.set_world_pose(
                    unit.row(),
                    actor.node as usize,
                    shown.position,
                    shown.rotation,
                );
            }
        }
    }
}
