//! A world's physics in a frame: actors follow the nodes that scripts moved, time goes on, and
//! nodes follow the actors that moved by forces. The system `physics`.

use super::{PhysicsTables, PhysicsWorldId, actor_of, actors::check_place};
use crate::foundation::{Error, Quat, Vec3, log};
use crate::system::physics::{Motion, PLACE_MAX};
use crate::world::scene::SceneGraph;
use crate::world::unit::{UnitId, Units};

/// Metres, for each metre from the origin, and of the cosine of half a turn: what differs by less,
/// which may be rounding, is in the same place.
const SAME: f32 = 1e-4;
const SAME_FAR: f32 = 1e-6;
const SAME_TURN: f32 = 1e-6;

/// Whether a pose is the known one, which is within all bounds.
fn is_same(one: (Vec3, Quat), known: (Vec3, Quat)) -> bool {
    let far = SAME + SAME_FAR * known.0.length();
    one.0.distance_squared(known.0) <= far * far && one.1.dot(known.1).abs() >= 1.0 - SAME_TURN
}

/// Puts nodes of units, by their rows, where their actors were shown.
pub(super) fn put_nodes(scene: &mut SceneGraph, mut nodes: Vec<(u32, usize, (Vec3, Quat))>) {
    // Parents first: what hangs on them follows, and is then in its place.
    nodes.sort_by_key(|(row, node, _)| (*row, *node));
    for (row, node, shown) in nodes {
        let now = (scene.world_position(row, node), scene.world_rotation(row, node));
        if !is_same(now, shown) {
            scene.place(row, node, shown.0, shown.1);
        }
    }
}

impl PhysicsTables {
    /// Moves the physics of one world on; how many steps that took.
    ///
    /// # Errors
    /// Something went out of all bounds.
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

    /// The number in the words of a fault as the name of an actor.
    fn with_name(&self, error: Error) -> Error {
        let Some(rest) = error.message.strip_prefix("actor ") else { return error };
        let Some((number, words)) = rest.split_once(": ") else { return error };
        let actor = number.parse().ok().and_then(actor_of);
        let name = actor.and_then(|actor| self.actors.get(actor.0)).map(|actor| &*actor.name);
        let message = format!("actor '{}': {words}", name.unwrap_or("?"));
        Error { message, ..error }
    }

    /// Brings bodies to where scripts put their units' nodes.
    fn follow_nodes(&mut self, physics: PhysicsWorldId, units: &mut Units) -> Result<(), Error> {
        let own = |row: &u32| {
            let parts = self.parts.get(*row as usize).and_then(Option::as_deref);
            parts.is_some_and(|parts| parts.physics == physics)
        };
        let rows: Vec<u32> = units.scene.marked().filter(own).collect();
        for row in rows {
            let count = self.parts[row as usize].as_ref().map_or(0, |parts| parts.actors.len());
            for place in 0..count {
                let parts = self.parts[row as usize].as_ref().expect("it is there");
                let Some(id) = parts.actors[place] else { continue };
                let actor = self.actors.get_mut(id.0).expect("its unit has it");
                let node = actor.node as usize;
                let scene = &mut units.scene;
                let pose = (scene.world_position(row, node), scene.world_rotation(row, node));
                if is_same(pose, actor.shown) {
                    continue;
                }
                if let Err(error) = check_place(pose.0) {
                    let (name, unit) = (actor.name.clone(), actor.unit.expect("it has one"));
                    let unit = &units.of(unit).resource.name;
                    let words = format!("unit \"{unit}\", actor '{name}': {}", error.message);
                    return Err(Error { message: words, ..error });
                }
                actor.shown = pose;
                let body = actor.body;
                let world = self.worlds.get_mut(physics.0).expect("it is updated");
                match world.simulation.motion(body) {
                    Motion::Kinematic => world.simulation.drive(body, pose.0, pose.1),
                    Motion::Static | Motion::Dynamic => {
                        actor.jumps = actor.jumps.wrapping_add(1);
                        world.simulation.teleport(body, pose.0, pose.1);
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts a unit's actors at once where its nodes are, through whatever is between.
    ///
    /// # Errors
    /// A node is out of all bounds.
    pub fn teleport_unit(&mut self, unit: UnitId, units: &mut Units) -> Result<(), Error> {
        for place in 0..self.num_actors(unit) {
            let Some(id) = self.unit_actor(unit, place) else { continue };
            let node = self.actor(id).node as usize;
            let position = units.scene.world_position(unit.row(), node);
            let rotation = units.scene.world_rotation(unit.row(), node);
            check_place(position)?;
            self.actor_mut(id).moved_to(position, rotation);
            let (simulation, body) = self.body_mut(id);
            simulation.teleport(body, position, rotation);
        }
        Ok(())
    }

    /// Brings nodes to where their bodies moved.
    fn write_back(&mut self, physics: PhysicsWorldId, scene: &mut SceneGraph) {
        let PhysicsTables { worlds, actors, moved, .. } = self;
        let world = worlds.get_mut(physics.0).expect("it is updated");
        moved.clear();
        world.simulation.moved(moved);
        for shown in moved.iter() {
            let Some(actor) = actor_of(shown.owner).and_then(|id| actors.get_mut(id.0)) else {
                continue;
            };
            if check_place(shown.position).is_err() {
                log::warning(&format!(
                    "actor '{}' got farther than {PLACE_MAX} metres from the origin, and was \
                     stopped there: destroy what leaves a level",
                    actor.name
                ));
                world.simulation.halt(actor.body);
                continue;
            }
            actor.shown = (shown.position, shown.rotation);
            if let Some(unit) = actor.unit {
                scene.place(unit.row(), actor.node as usize, shown.position, shown.rotation);
            }
        }
    }
}
