//! Units: the entities in worlds, as rows of a table. A unit is not an object. It is a number under
//! which components store their data. This module has the data common to all units: world, resource
//! and nodes. It is independent of components.

use super::WorldId;
use super::scene_graph::{NodePose, SceneGraph, UNITS_MAX};
use super::unit_resource::UnitResource;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Handle, HandleKind, Slots};
use std::collections::HashMap;
use std::sync::Arc;

/// Handle of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitId(pub Handle);

impl UnitId {
    /// Returns the unit's row, which is its index in every column.
    #[inline(always)]
    pub fn row(self) -> u32 {
        self.0.index() as u32
    }
}

/// Data common to all units.
pub struct UnitRow {
    pub world: WorldId,
    pub resource: Arc<UnitResource>,
}

/// All units of all worlds.
pub struct Units {
    pub slots: Slots<UnitRow>,
    pub scene: SceneGraph,
    /// Unit resources that were loaded, by name. Emptied when one of them changes; existing units
    /// keep their resource.
    pub resources: HashMap<String, Arc<UnitResource>>,
    /// Rows of the units that the last [`Units::update_scene`] moved, in the order in which their
    /// poses were set.
    pub moved: Vec<u32>,
}

impl Default for Units {
    fn default() -> Units {
        Units {
            slots: Slots::new(HandleKind::Unit, UNITS_MAX),
            scene: SceneGraph::default(),
            resources: HashMap::new(),
            moved: Vec::new(),
        }
    }
}

impl Units {
    /// Spawns a unit; `pose` is the pose of its first node.
    pub fn spawn(
        &mut self,
        world: WorldId,
        resource: &Arc<UnitResource>,
        pose: &NodePose,
    ) -> Result<UnitId, Error> {
        let unit = UnitRow { world, resource: resource.clone() };
        let Some(handle) = self.slots.add(unit) else {
            return Err(engine_foundation::error!(
                "{UNITS_MAX} units already exist (UNITS_MAX): destroy some first"
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

    /// Destroys a unit. `frame` and `location` are recorded for messages about stale handles.
    pub fn destroy(&mut self, unit: UnitId, frame: u64, location: &str) {
        let name = self.of(unit).resource.name.clone();
        self.scene.remove(unit.row());
        self.slots.remove(unit.0, &name, frame, location);
    }

    /// Returns a live unit. Handles are checked at the interface, so the unit exists.
    #[inline(always)]
    pub fn of(&self, unit: UnitId) -> &UnitRow {
        self.slots.get(unit.0).expect("the handle was checked where it came in")
    }

    /// Returns true if the unit in a row is in a world.
    pub fn is_in(&self, row: u32, world: WorldId) -> bool {
        self.slots.at(row as usize).is_some_and(|unit| unit.world == world)
    }

    /// Returns the units of a world, in the order of their rows.
    pub fn in_world(&self, world: WorldId) -> impl Iterator<Item = UnitId> + '_ {
        let units = self.slots.iter().filter(move |(_, unit)| unit.world == world);
        units.map(|(handle, _)| UnitId(handle))
    }

    /// Updates the world poses of a world's units. This is the system `scene_graph`.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started.
    pub fn update_scene(&mut self, world: WorldId, pool: &TaskPool) -> Result<(), Error> {
        let Units { slots, scene, moved, .. } = self;
        moved.clear();
        let has = |row: u32| slots.at(row as usize).is_some_and(|unit| unit.world == world);
        scene.update(has, moved, pool)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene_graph::{NO_NODE, NODES_MAX};
    use super::*;
    use engine_foundation::sjson::SjsonTree;

    fn resource(nodes: usize) -> Arc<UnitResource> {
        Arc::new(UnitResource {
            name: "many".to_string(),
            node_names: vec![String::new(); nodes],
            node_hashes: Vec::new(),
            parents: (0..nodes as u32).map(|at| at.checked_sub(1).unwrap_or(NO_NODE)).collect(),
            poses: vec![NodePose::IDENTITY; nodes],
            parts: Vec::new(),
            flow: None,
            body_hash: 0,
            data: SjsonTree::Object(Vec::new()),
            bases: Vec::new(),
            duplicate_names: Vec::new(),
            template: Default::default(),
        })
    }

    /// Spawns units until spawning fails. Returns their number and the error message.
    fn fill(nodes: usize) -> (usize, String, Units) {
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = WorldId(worlds.add(()).unwrap());
        let (mut units, resource) = (Units::default(), resource(nodes));
        let mut count = 0;
        loop {
            match units.spawn(world, &resource, &NodePose::IDENTITY) {
                Ok(_) => count += 1,
                Err(error) => return (count, error.message, units),
            }
        }
    }

    #[test]
    fn limits_of_units_and_nodes_are_enforced_by_name() {
        let (count, message, units) = fill(1);
        assert_eq!((count, units.slots.len()), (UNITS_MAX, UNITS_MAX));
        assert_eq!(message, "262144 units already exist (UNITS_MAX): destroy some first");
        let (count, message, units) = fill(4096);
        assert_eq!((count, units.slots.len()), (NODES_MAX / 4096, NODES_MAX / 4096));
        assert_eq!(
            message,
            "there is no room for 4096 more nodes (NODES_MAX is 1048576): destroy units that are \
             not needed"
        );
    }
}
