//! Units: what exists in worlds, as rows of a table. A unit is no object: it is a number under
//! which components keep their parts. Here is what every unit has: its world, the resource it was
//! made of and its nodes. Knows no components.

use super::WorldId;
use super::scene::{Pose, SceneGraph, UNITS_MAX};
use super::unit_resource::UnitResource;
use crate::foundation::tasks::Pool;
use crate::foundation::{Error, Handle, Kind, Slots};
use std::collections::HashMap;
use std::sync::Arc;

/// The handle of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitId(pub Handle);

impl UnitId {
    /// Its row in every column.
    #[inline(always)]
    pub fn row(self) -> u32 {
        self.0.index() as u32
    }
}

/// What every unit has.
pub struct Unit {
    pub world: WorldId,
    pub resource: Arc<UnitResource>,
}

/// All units of all worlds.
pub struct Units {
    pub slots: Slots<Unit>,
    pub scene: SceneGraph,
    /// What units were made of so far, by name. Emptied when one of them changes: units that are
    /// there keep what they were made of.
    pub resources: HashMap<String, Arc<UnitResource>>,
    /// The rows of units that the last [`Units::update_scene`] moved, in the order in which they
    /// were set.
    pub moved: Vec<u32>,
}

impl Default for Units {
    fn default() -> Units {
        Units {
            slots: Slots::new(Kind::Unit, UNITS_MAX),
            scene: SceneGraph::default(),
            resources: HashMap::new(),
            moved: Vec::new(),
        }
    }
}

impl Units {
    /// Makes a unit; its first node is placed by `pose`.
    pub fn spawn(
        &mut self,
        world: WorldId,
        resource: &Arc<UnitResource>,
        pose: &Pose,
    ) -> Result<UnitId, Error> {
        let unit = Unit { world, resource: resource.clone() };
        let Some(handle) = self.slots.add(unit) else {
            return Err(crate::error!(
                "{UNITS_MAX} units are there already (UNITS_MAX): destroy some first"
            ));
        };
        let id = UnitId(handle);
        if let Err(error) = self.scene.add(id.row(), &resource.parents, &resource.poses) {
            self.slots.remove(handle, "", 0, "");
            return Err(error);
        }
        self.scene.set_local(id.row(), 0, pose);
        Ok(id)
    }

    /// Ends a unit; `frame` and `place` are for the words of its stale handles.
    pub fn destroy(&mut self, unit: UnitId, frame: u64, place: &str) {
        let name = self.of(unit).resource.name.clone();
        self.scene.remove(unit.row());
        self.slots.remove(unit.0, &name, frame, place);
    }

    /// A living unit. Handles are checked where they come in, so it is there.
    #[inline(always)]
    pub fn of(&self, unit: UnitId) -> &Unit {
        self.slots.get(unit.0).expect("the handle was checked where it came in")
    }

    /// Whether the unit of a row is in a world.
    pub fn is_in(&self, row: u32, world: WorldId) -> bool {
        self.slots.at(row as usize).is_some_and(|unit| unit.world == world)
    }

    /// The units of a world, in the order of their rows.
    pub fn in_world(&self, world: WorldId) -> impl Iterator<Item = UnitId> + '_ {
        let units = self.slots.iter().filter(move |(_, unit)| unit.world == world);
        units.map(|(handle, _)| UnitId(handle))
    }

    /// Brings the world poses of a world's units up to date: the system `scene_graph`.
    ///
    /// # Errors
    /// For want of threads.
    pub fn update_scene(&mut self, world: WorldId, pool: &Pool) -> Result<(), Error> {
        let Units { slots, scene, moved, .. } = self;
        moved.clear();
        let has = |row: u32| slots.at(row as usize).is_some_and(|unit| unit.world == world);
        scene.update(has, moved, pool)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::{NO_NODE, NODES_MAX};
    use super::*;
    use crate::foundation::sjson::Tree;

    fn resource(nodes: usize) -> Arc<UnitResource> {
        Arc::new(UnitResource {
            name: "many".to_string(),
            node_names: vec![String::new(); nodes],
            node_hashes: Vec::new(),
            parents: (0..nodes as u32).map(|at| at.checked_sub(1).unwrap_or(NO_NODE)).collect(),
            poses: vec![Pose::IDENTITY; nodes],
            parts: Vec::new(),
            data: Tree::Object(Vec::new()),
            bases: Vec::new(),
            twice: Vec::new(),
            seen: Default::default(),
        })
    }

    /// Spawns until that is refused: how many came, and the words.
    fn fill(nodes: usize) -> (usize, String, Units) {
        let mut worlds = Slots::new(Kind::World, 1);
        let world = WorldId(worlds.add(()).unwrap());
        let (mut units, resource) = (Units::default(), resource(nodes));
        let mut count = 0;
        loop {
            match units.spawn(world, &resource, &Pose::IDENTITY) {
                Ok(_) => count += 1,
                Err(error) => return (count, error.message, units),
            }
        }
    }

    #[test]
    fn more_units_or_nodes_than_the_limits_are_refused_by_their_names() {
        let (count, words, units) = fill(1);
        assert_eq!((count, units.slots.len()), (UNITS_MAX, UNITS_MAX));
        assert_eq!(words, "262144 units are there already (UNITS_MAX): destroy some first");
        let (count, words, units) = fill(4096);
        assert_eq!((count, units.slots.len()), (NODES_MAX / 4096, NODES_MAX / 4096));
        assert_eq!(
            words,
            "there is no room for 4096 more nodes (NODES_MAX is 1048576): destroy units that are \
             not needed"
        );
    }
}
