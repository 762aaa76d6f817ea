//! Level instances: the units that each has spawned, and the transforms of its contents. The
//! resource of levels is in level_resource.rs. The caller spawns the units one after the other,
//! because scripts are notified of each.

use super::WorldId;
use super::level_resource::{LevelPose, LevelResource, SelectedSets};
use super::scene_graph::{NodePose, UNITS_MAX};
use super::unit::UnitId;
use engine_foundation::{Error, Handle, HandleKind, Quat, Slots, Vec3};
use engine_resource::store::ResourceStore;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Handle of a level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LevelId(pub Handle);

/// Maximum number of levels at one time, including nested levels.
pub const LEVELS_MAX: usize = 4096;
/// Maximum nesting depth of levels.
pub const LEVEL_DEPTH_MAX: usize = 16;

/// Transform of a level: rotation, scale and position that apply to all of its contents.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevelTransform {
    pub position: Vec3,
    pub rotation: Quat,
    pub scale: f32,
}

impl LevelTransform {
    pub const ORIGIN: LevelTransform =
        LevelTransform { position: Vec3::ZERO, rotation: Quat::IDENTITY, scale: 1.0 };

    /// Converts a point of the level to world space.
    pub fn to_world(&self, point: Vec3) -> Vec3 {
        self.position + self.rotation * (point * self.scale)
    }

    /// Converts a point in world space to the level's space.
    pub fn to_local(&self, point: Vec3) -> Vec3 {
        self.rotation.inverse() * (point - self.position) / self.scale
    }

    /// Returns true if the transform is usable: a finite position and a positive scale.
    pub fn is_possible(&self) -> bool {
        self.position.is_finite() && self.scale.is_normal() && self.scale > 0.0
    }

    /// Returns the transform of a nested level.
    fn nested_transform(&self, pose: &LevelPose) -> LevelTransform {
        LevelTransform {
            position: self.to_world(pose.position),
            rotation: self.rotation * pose.rotation.unwrap_or(Quat::IDENTITY),
            scale: self.scale * pose.scale.map_or(1.0, |scale| scale.x),
        }
    }

    /// Returns the world pose of a unit in the level; `root` is the pose of the unit's own root.
    pub fn pose(&self, pose: &LevelPose, root: &NodePose) -> NodePose {
        NodePose {
            position: self.to_world(pose.position),
            rotation: self.rotation * pose.rotation.unwrap_or(root.rotation),
            scale: pose.scale.unwrap_or(root.scale) * self.scale,
        }
    }
}

/// A level in a world.
pub struct LevelInstance {
    pub world: WorldId,
    pub resource: Arc<LevelResource>,
    pub transform: LevelTransform,
    /// Units by index in the resource, set when each is spawned. A unit may have been destroyed
    /// since.
    pub units: Vec<Option<UnitId>>,
    /// The object sets that are spawned; `None` for all sets.
    pub(super) object_sets: Option<Vec<String>>,
    /// Indices of the units that are still to be spawned, in order.
    pub(super) waiting: VecDeque<u32>,
    /// Number of units to spawn in this level and its nested levels, in total and (in `left`)
    /// remaining.
    pub(super) wanted: usize,
    pub(super) left: usize,
    /// For a top-level level: the level itself and its nested levels, without the completed ones at
    /// the front.
    pub(super) order: VecDeque<LevelId>,
    pub parent: Option<LevelId>,
    pub nested: Vec<LevelId>,
}

/// All levels of all worlds.
pub struct Levels {
    pub slots: Slots<LevelInstance>,
    /// Level resources that were loaded, by name. Emptied when one of them changes; existing levels
    /// keep their resource.
    pub resources: HashMap<String, Arc<LevelResource>>,
    /// By unit row: the slot of the level that spawned the unit, if any, and the unit's index in
    /// that level.
    pub(super) of_units: Vec<[u32; 2]>,
    /// Number of level lookups.
    #[cfg(test)]
    visits: std::cell::Cell<usize>,
}

impl Levels {
    /// Returns true if a level of a world is still being spawned.
    pub fn is_spawning(&self, world: WorldId) -> bool {
        self.slots.iter().any(|(_, level)| level.world == world && level.left > 0)
    }
}

/// State of the descent from a level into its nested levels.
#[derive(Default)]
struct LevelPath {
    /// Names of the levels on the current path.
    chain: Vec<String>,
    /// Number of units of all levels so far.
    units: usize,
}

/// No level's slot.
const NO_LEVEL: u32 = u32::MAX;

impl Default for Levels {
    fn default() -> Levels {
        Levels {
            slots: Slots::new(HandleKind::Level, LEVELS_MAX),
            resources: HashMap::new(),
            of_units: Vec::new(),
            #[cfg(test)]
            visits: Default::default(),
        }
    }
}

impl Levels {
    /// Returns the resource with that name. It is read on the first request.
    ///
    /// # Errors
    /// Returns an error if the resource is missing or broken.
    pub fn resource(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
    ) -> Result<Arc<LevelResource>, Error> {
        if let Some(known) = self.resources.get(name) {
            return Ok(known.clone());
        }
        let read = Arc::new(LevelResource::read(store, name)?);
        self.resources.insert(name.to_string(), read.clone());
        Ok(read)
    }

    /// Creates a level and its nested levels, without units.
    ///
    /// # Errors
    /// Returns an error if a resource is missing or broken, an object set does not exist, levels
    /// are nested too deep, or there are too many of them.
    pub fn add(
        &mut self,
        store: &mut ResourceStore,
        world: WorldId,
        name: &str,
        transform: LevelTransform,
        object_sets: Option<&[String]>,
    ) -> Result<LevelId, Error> {
        let mut path = LevelPath::default();
        let id = self.add_below(store, (world, None), name, transform, object_sets, &mut path)?;
        self.of_mut(id).order = self.with_nested(id).into();
        Ok(id)
    }

    /// Returns the resource of a level, and the selection of its object sets.
    fn wanted(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        object_sets: Option<&[String]>,
    ) -> Result<(Arc<LevelResource>, SelectedSets), Error> {
        let resource = self.resource(store, name)?;
        let wanted = resource.select_sets(object_sets)?;
        Ok((resource, wanted))
    }

    fn add_below(
        &mut self,
        store: &mut ResourceStore,
        (world, parent): (WorldId, Option<LevelId>),
        name: &str,
        transform: LevelTransform,
        object_sets: Option<&[String]>,
        path: &mut LevelPath,
    ) -> Result<LevelId, Error> {
        let LevelPath { chain, units } = path;
        chain.push(name.to_string());
        let within = chain.len() > 1 && chain[..chain.len() - 1].contains(&chain[chain.len() - 1]);
        if within || chain.len() > LEVEL_DEPTH_MAX {
            return Err(engine_foundation::error!(
                "levels contain each other in a circle, or more than {LEVEL_DEPTH_MAX} deep: {}",
                chain.join(" → ")
            ));
        }
        let found = self.wanted(store, name, object_sets).map_err(|error| match &chain[..] {
            [.., above, _] => engine_foundation::error!("level \"{above}\": {}", error.message),
            _ => error,
        });
        let (resource, wanted) = found?;
        *units += resource.units.len();
        if *units > UNITS_MAX {
            return Err(too_many_units(&chain[0], name));
        }
        let waiting: VecDeque<u32> = (0..resource.units.len() as u32)
            .filter(|unit| resource.is_selected(*unit as usize, &wanted))
            .collect();
        let level = LevelInstance {
            world,
            resource: resource.clone(),
            transform,
            units: vec![None; resource.units.len()],
            object_sets: object_sets.map(<[String]>::to_vec),
            wanted: waiting.len(),
            left: waiting.len(),
            waiting,
            order: VecDeque::new(),
            parent,
            nested: Vec::new(),
        };
        let Some(handle) = self.slots.add(level) else {
            return Err(engine_foundation::error!(
                "{LEVELS_MAX} levels already exist (LEVELS_MAX): destroy some first"
            ));
        };
        let id = LevelId(handle);
        for nested in &resource.nested {
            let below = transform.nested_transform(&nested.pose);
            let sets = nested.object_sets.as_deref();
            let added = match below.is_possible() {
                true => self.add_below(store, (world, Some(id)), &nested.level, below, sets, path),
                false => Err(engine_foundation::error!(
                    "level \"{name}\" has '{}' at {} with the scale {}, which is not possible: \
                     give levels a finite position and a scale above 0",
                    nested.name,
                    below.position,
                    below.scale
                )),
            };
            match added {
                Ok(below) => {
                    let wanted = self.of(below).wanted;
                    let inside = self.of_mut(id);
                    inside.nested.push(below);
                    inside.wanted += wanted;
                    inside.left += wanted;
                }
                Err(error) => {
                    self.remove(id, 0, "");
                    return Err(error);
                }
            }
        }
        path.chain.pop();
        Ok(id)
    }

    /// Removes a level and its nested levels. Their units must be destroyed already.
    pub fn remove(&mut self, level: LevelId, frame: u64, location: &str) {
        for below in std::mem::take(&mut self.of_mut(level).nested) {
            self.remove(below, frame, location);
        }
        let name = self.of(level).resource.name.clone();
        self.slots.remove(level.0, &name, frame, location);
    }

    /// Returns a live level. Handles are checked at the interface, so the level exists.
    pub fn of(&self, level: LevelId) -> &LevelInstance {
        #[cfg(test)]
        self.visits.set(self.visits.get() + 1);
        self.slots.get(level.0).expect("the handle was checked where it came in")
    }

    pub(super) fn of_mut(&mut self, level: LevelId) -> &mut LevelInstance {
        #[cfg(test)]
        self.visits.set(self.visits.get() + 1);
        self.slots.get_mut(level.0).expect("the handle was checked where it came in")
    }

    /// Returns a level and all its nested levels, each one before its own nested levels.
    pub fn with_nested(&self, level: LevelId) -> Vec<LevelId> {
        let mut all = vec![level];
        let mut next = 0;
        while next < all.len() {
            all.extend(&self.of(all[next]).nested);
            next += 1;
        }
        all
    }

    /// Iterates over the spawned units of a level and all its nested levels, in the order in which
    /// they are spawned. Units may have been destroyed since.
    pub fn units(&self, level: LevelId) -> impl Iterator<Item = UnitId> {
        let levels = self.with_nested(level).into_iter();
        levels.flat_map(move |level| self.of(level).units.iter().flatten().copied())
    }

    /// Returns the next unit to spawn of a top-level level and its nested levels. Until all are
    /// spawned, each level is visited once.
    pub fn next_waiting(&mut self, level: LevelId) -> Option<(LevelId, u32)> {
        while let Some(first) = self.of(level).order.front().copied() {
            if let Some(unit) = self.of(first).waiting.front() {
                return Some((first, *unit));
            }
            self.of_mut(level).order.pop_front();
        }
        None
    }

    /// Records that a unit of a level was spawned.
    pub fn spawned(&mut self, level: LevelId, unit: u32, id: UnitId) {
        let inside = self.of_mut(level);
        inside.units[unit as usize] = Some(id);
        if inside.waiting.front() == Some(&unit) {
            self.end_waiting(level);
        }
        let row = id.row() as usize;
        if self.of_units.len() <= row {
            self.of_units.resize(row + 1, [NO_LEVEL, 0]);
        }
        self.of_units[row] = [level.0.index() as u32, unit];
    }

    /// Leaves out the next unit of a top-level level and its nested levels, because it cannot be
    /// spawned.
    pub fn skip_waiting(&mut self, level: LevelId) {
        if let Some((level, _)) = self.next_waiting(level) {
            self.end_waiting(level);
        }
    }

    /// Removes the first waiting unit of a level, which was spawned or is left out.
    fn end_waiting(&mut self, level: LevelId) {
        self.of_mut(level).waiting.pop_front();
        let mut above = Some(level);
        while let Some(level) = above {
            let inside = self.of_mut(level);
            inside.left -= 1;
            above = inside.parent;
        }
    }

    /// Returns the level that spawned a live unit, and the unit's index in that level.
    pub fn of_unit(&self, unit: UnitId) -> Option<(LevelId, u32)> {
        let [slot, index] = *self.of_units.get(unit.row() as usize)?;
        let level = LevelId(self.slots.handle_at(slot as usize)?);
        // The slot of a destroyed unit or level may have been reused.
        let is_current = self.of(level).units.get(index as usize) == Some(&Some(unit));
        is_current.then_some((level, index))
    }

    /// Returns the spawned fraction of a level and its nested levels, from 0 to 1.
    pub fn progress(&self, level: LevelId) -> f64 {
        let LevelInstance { wanted, left, .. } = self.of(level);
        if *wanted == 0 { 1.0 } else { 1.0 - *left as f64 / *wanted as f64 }
    }

    /// Returns the top-level levels of a world, in the order of their slots.
    pub fn in_world(&self, world: WorldId) -> Vec<LevelId> {
        let here = self.slots.iter().filter(|(_, it)| it.world == world && it.parent.is_none());
        here.map(|(handle, _)| LevelId(handle)).collect()
    }

    /// Removes the levels of a world that is destroyed.
    pub fn release_world(&mut self, world: WorldId, frame: u64, location: &str) {
        for level in self.in_world(world) {
            self.remove(level, frame, location);
        }
    }
}

/// Returns the error for a level with too many units; `name` is the level that exceeds the limit.
fn too_many_units(level: &str, name: &str) -> Error {
    engine_foundation::error!(
        "level \"{level}\" and the levels inside of it have more than {UNITS_MAX} units \
         (UNITS_MAX): take some out of \"{name}\", or place it less often"
    )
}

#[cfg(test)]
mod tests {
    use super::super::level_resource::{LevelUnit, NestedLevel};
    use super::*;
    use engine_foundation::sjson::SjsonTree;

    fn resource(name: &str, units: usize, nested: &[&str]) -> Arc<LevelResource> {
        let pose = LevelPose { position: Vec3::ZERO, rotation: None, scale: None };
        let unit = |at: usize| LevelUnit {
            name: at.to_string(),
            unit: "units/box".to_string(),
            pose,
            data: SjsonTree::Object(Vec::new()),
            sets: Vec::new(),
        };
        let below = |name: &&str| NestedLevel {
            name: name.to_string(),
            level: name.to_string(),
            pose,
            object_sets: None,
        };
        let units: Vec<_> = (0..units).map(unit).collect();
        Arc::new(LevelResource {
            name: name.to_string(),
            unit_indices: LevelResource::indices_by_name(&units),
            units,
            nested: nested.iter().map(below).collect(),
            volumes: Vec::new(),
            shading: Vec::new(),
            splines: Vec::new(),
            object_sets: Vec::new(),
            set_indices: HashMap::new(),
            flow: None,
            navigation: None,
            data: SjsonTree::Object(Vec::new()),
        })
    }

    /// Creates a town of 40 streets with 40 houses each, where each house has two units. Returns
    /// the town and its world.
    fn town(levels: &mut Levels) -> (LevelId, WorldId) {
        let known = [
            resource("town", 1, &["street"; 40]),
            resource("street", 0, &["house"; 40]),
            resource("house", 2, &[]),
        ];
        levels.resources = known.into_iter().map(|it| (it.name.clone(), it)).collect();
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = WorldId(worlds.add(()).unwrap());
        let mut store = ResourceStore::without("nothing is read".to_string());
        (levels.add(&mut store, world, "town", LevelTransform::ORIGIN, None).unwrap(), world)
    }

    #[test]
    fn spawning_units_one_by_one_takes_linear_time() {
        let mut levels = Levels::default();
        let (town, _) = town(&mut levels);
        let (count, wanted) = (levels.with_nested(town).len(), 1 + 40 * 40 * 2);
        assert_eq!(count, 1 + 40 + 40 * 40);
        let mut units = Slots::new(HandleKind::Unit, wanted);
        levels.visits.set(0);
        let mut spawned = 0;
        while let Some((level, unit)) = levels.next_waiting(town) {
            levels.spawned(level, unit, UnitId(units.add(()).unwrap()));
            spawned += 1;
            assert_eq!(levels.progress(town), 1.0 - (wanted - spawned) as f64 / wanted as f64);
        }
        assert_eq!((spawned, levels.progress(town)), (wanted, 1.0));
        let visits = levels.visits.get();
        assert!(visits < 8 * (wanted + count), "{visits} looks for {wanted} units");
    }

    #[test]
    fn exponentially_nested_levels_are_refused() {
        let mut levels = Levels::default();
        let known = [
            resource("a", 0, &["b"; 64]),
            resource("b", 0, &["c"; 60]),
            resource("c", 1000, &[]),
            resource("d", 0, &["d2"; 2]),
            resource("d2", 0, &["a", "a"]),
        ];
        levels.resources = known.into_iter().map(|it| (it.name.clone(), it)).collect();
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = WorldId(worlds.add(()).unwrap());
        let mut store = ResourceStore::without("nothing is read".to_string());
        for name in ["a", "d"] {
            let refused =
                levels.add(&mut store, world, name, LevelTransform::ORIGIN, None).unwrap_err();
            assert_eq!(
                refused.message,
                format!(
                    "level \"{name}\" and the levels inside of it have more than 262144 units \
                     (UNITS_MAX): take some out of \"c\", or place it less often"
                )
            );
            assert_eq!(levels.slots.len(), 0, "nothing of it stays");
        }
        levels.add(&mut store, world, "c", LevelTransform::ORIGIN, None).unwrap();
    }

    #[test]
    fn a_unit_has_its_level_until_either_ends() {
        let (mut levels, mut units) = (Levels::default(), Slots::new(HandleKind::Unit, 2));
        let (town, world) = town(&mut levels);
        let (unit, stranger) = (UnitId(units.add(()).unwrap()), UnitId(units.add(()).unwrap()));
        let (level, index) = levels.next_waiting(town).unwrap();
        levels.spawned(level, index, unit);
        assert_eq!((levels.of_unit(unit), levels.of_unit(stranger)), (Some((town, 0)), None));
        units.remove(unit.0, "", 0, "");
        let next = UnitId(units.add(()).unwrap());
        assert_eq!((next.row(), levels.of_unit(next)), (unit.row(), None));
        levels.release_world(world, 0, "");
        assert_eq!((levels.of_unit(unit), levels.slots.len()), (None, 0));
    }
}
