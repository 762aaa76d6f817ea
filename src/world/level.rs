//! Levels that are there: which of their units are spawned, and where everything in them is. What
//! a level is made of is in level_resource.rs. Units are spawned from outside, one after the other,
//! for scripts hear of each.

use super::WorldId;
use super::level_resource::{LevelResource, Placed, WantedSets};
use super::scene::{Pose, UNITS_MAX};
use super::unit::UnitId;
use crate::foundation::{Error, Handle, Kind, Quat, Slots, Vec3};
use crate::resource::store::Store;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The handle of a level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LevelId(pub Handle);

/// The most levels that can be there at once, nested ones included.
pub const LEVELS_MAX: usize = 4096;
/// How deep levels can stand in each other.
pub const LEVEL_DEPTH_MAX: usize = 16;

/// Where a level is: all of it is turned, sized and moved so.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    pub position: Vec3,
    pub rotation: Quat,
    pub scale: f32,
}

impl Place {
    pub const ORIGIN: Place = Place { position: Vec3::ZERO, rotation: Quat::IDENTITY, scale: 1.0 };

    /// A point of the level in the world.
    pub fn out(&self, point: Vec3) -> Vec3 {
        self.position + self.rotation * (point * self.scale)
    }

    /// A point of the world in the level.
    pub fn inside(&self, point: Vec3) -> Vec3 {
        self.rotation.inverse() * (point - self.position) / self.scale
    }

    /// Whether something can be here: it is somewhere, and has a size.
    pub fn is_possible(&self) -> bool {
        self.position.is_finite() && self.scale.is_normal() && self.scale > 0.0
    }

    /// The place of a level inside of one that is here.
    fn within(&self, placed: &Placed) -> Place {
        Place {
            position: self.out(placed.position),
            rotation: self.rotation * placed.rotation.unwrap_or(Quat::IDENTITY),
            scale: self.scale * placed.scale.map_or(1.0, |scale| scale.x),
        }
    }

    /// The pose of a unit inside, whose own root is at `root`.
    pub fn pose(&self, placed: &Placed, root: &Pose) -> Pose {
        Pose {
            position: self.out(placed.position),
            rotation: self.rotation * placed.rotation.unwrap_or(root.rotation),
            scale: placed.scale.unwrap_or(root.scale) * self.scale,
        }
    }
}

/// A level in a world.
pub struct Level {
    pub world: WorldId,
    pub resource: Arc<LevelResource>,
    pub place: Place,
    /// The unit of each of the resource's, once it was spawned; it may be gone since.
    pub units: Vec<Option<UnitId>>,
    /// Which of them are still to be spawned, in order.
    waiting: VecDeque<u32>,
    /// How many units of it and of those inside of it were wanted, and are still to be spawned.
    wanted: usize,
    left: usize,
    /// Of one that stands in no other: itself and those inside of it, without those at the front
    /// of which every unit was spawned.
    order: VecDeque<LevelId>,
    pub parent: Option<LevelId>,
    pub nested: Vec<LevelId>,
}

/// All levels of all worlds.
pub struct Levels {
    pub slots: Slots<Level>,
    /// What levels were made of so far, by name. Emptied when one of them changes: levels that are
    /// there keep what they were made of.
    pub resources: HashMap<String, Arc<LevelResource>>,
    /// By the rows of units: the place of the slot of the level that one came with, if it did, and
    /// its own place in that level.
    of_units: Vec<[u32; 2]>,
    /// How many levels were looked at.
    #[cfg(test)]
    looked: std::cell::Cell<usize>,
}

/// What is known on the way down from a level to those inside of it.
#[derive(Default)]
struct Way {
    /// The names of the levels that stand in each other here.
    chain: Vec<String>,
    /// How many units all levels so far have.
    units: usize,
}

/// No level's slot.
const NO_LEVEL: u32 = u32::MAX;

impl Default for Levels {
    fn default() -> Levels {
        Levels {
            slots: Slots::new(Kind::Level, LEVELS_MAX),
            resources: HashMap::new(),
            of_units: Vec::new(),
            #[cfg(test)]
            looked: Default::default(),
        }
    }
}

impl Levels {
    /// The resource of that name, read when it is first asked for.
    ///
    /// # Errors
    /// It is missing or broken.
    pub fn resource(&mut self, store: &mut Store, name: &str) -> Result<Arc<LevelResource>, Error> {
        if let Some(known) = self.resources.get(name) {
            return Ok(known.clone());
        }
        let read = Arc::new(LevelResource::read(store, name)?);
        self.resources.insert(name.to_string(), read.clone());
        Ok(read)
    }

    /// Makes a level and the levels inside of it; no unit is there yet.
    ///
    /// # Errors
    /// A resource is missing or broken, an object set is not there, levels stand in each other too
    /// deep, or there are too many.
    pub fn add(
        &mut self,
        store: &mut Store,
        world: WorldId,
        name: &str,
        place: Place,
        object_sets: Option<&[String]>,
    ) -> Result<LevelId, Error> {
        let mut way = Way::default();
        let id = self.add_below(store, (world, None), name, place, object_sets, &mut way)?;
        self.of_mut(id).order = self.with_nested(id).into();
        Ok(id)
    }

    /// The resource of a level, and which of its object sets are wanted.
    fn wanted(
        &mut self,
        store: &mut Store,
        name: &str,
        object_sets: Option<&[String]>,
    ) -> Result<(Arc<LevelResource>, WantedSets), Error> {
        let resource = self.resource(store, name)?;
        let wanted = resource.wanted(object_sets)?;
        Ok((resource, wanted))
    }

    fn add_below(
        &mut self,
        store: &mut Store,
        (world, parent): (WorldId, Option<LevelId>),
        name: &str,
        place: Place,
        object_sets: Option<&[String]>,
        way: &mut Way,
    ) -> Result<LevelId, Error> {
        let Way { chain, units } = way;
        chain.push(name.to_string());
        let within = chain.len() > 1 && chain[..chain.len() - 1].contains(&chain[chain.len() - 1]);
        if within || chain.len() > LEVEL_DEPTH_MAX {
            return Err(crate::error!(
                "levels stand in each other in a circle, or more than {LEVEL_DEPTH_MAX} deep: {}",
                chain.join(" → ")
            ));
        }
        let found = self.wanted(store, name, object_sets).map_err(|fault| match &chain[..] {
            [.., above, _] => crate::error!("level \"{above}\": {}", fault.message),
            _ => fault,
        });
        let (resource, wanted) = found?;
        *units += resource.units.len();
        if *units > UNITS_MAX {
            return Err(too_many_units(&chain[0], name));
        }
        let waiting: VecDeque<u32> = (0..resource.units.len() as u32)
            .filter(|unit| resource.is_wanted(*unit as usize, &wanted))
            .collect();
        let level = Level {
            world,
            resource: resource.clone(),
            place,
            units: vec![None; resource.units.len()],
            wanted: waiting.len(),
            left: waiting.len(),
            waiting,
            order: VecDeque::new(),
            parent,
            nested: Vec::new(),
        };
        let Some(handle) = self.slots.add(level) else {
            return Err(crate::error!(
                "{LEVELS_MAX} levels are there already (LEVELS_MAX): destroy some first"
            ));
        };
        let id = LevelId(handle);
        for nested in &resource.nested {
            let below = place.within(&nested.placed);
            let sets = nested.object_sets.as_deref();
            let added = match below.is_possible() {
                true => self.add_below(store, (world, Some(id)), &nested.level, below, sets, way),
                false => Err(crate::error!(
                    "level \"{name}\" has '{}' at {} with the scale {}, which cannot be: give \
                     levels a finite place and a scale above 0",
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
        way.chain.pop();
        Ok(id)
    }

    /// Ends a level and those inside of it; their units are gone already.
    pub fn remove(&mut self, level: LevelId, frame: u64, place: &str) {
        for below in std::mem::take(&mut self.of_mut(level).nested) {
            self.remove(below, frame, place);
        }
        let name = self.of(level).resource.name.clone();
        self.slots.remove(level.0, &name, frame, place);
    }

    /// A living level. Handles are checked where they come in, so it is there.
    pub fn of(&self, level: LevelId) -> &Level {
        #[cfg(test)]
        self.looked.set(self.looked.get() + 1);
        self.slots.get(level.0).expect("the handle was checked where it came in")
    }

    fn of_mut(&mut self, level: LevelId) -> &mut Level {
        #[cfg(test)]
        self.looked.set(self.looked.get() + 1);
        self.slots.get_mut(level.0).expect("the handle was checked where it came in")
    }

    /// A level and all those inside of it, each before those inside of it.
    pub fn with_nested(&self, level: LevelId) -> Vec<LevelId> {
        let mut all = vec![level];
        let mut next = 0;
        while next < all.len() {
            all.extend(&self.of(all[next]).nested);
            next += 1;
        }
        all
    }

    /// The next unit that is to be spawned of a level that stands in no other, or of those inside
    /// of it. Until all are spawned, each level is passed by once.
    pub fn next_waiting(&mut self, level: LevelId) -> Option<(LevelId, u32)> {
        while let Some(first) = self.of(level).order.front().copied() {
            if let Some(unit) = self.of(first).waiting.front() {
                return Some((first, *unit));
            }
            self.of_mut(level).order.pop_front();
        }
        None
    }

    /// A unit of a level was spawned.
    pub fn spawned(&mut self, level: LevelId, unit: u32, id: UnitId) {
        let inside = self.of_mut(level);
        inside.units[unit as usize] = Some(id);
        if inside.waiting.front() == Some(&unit) {
            inside.waiting.pop_front();
            let mut above = Some(level);
            while let Some(level) = above {
                let inside = self.of_mut(level);
                inside.left -= 1;
                above = inside.parent;
            }
        }
        let row = id.row() as usize;
        if self.of_units.len() <= row {
            self.of_units.resize(row + 1, [NO_LEVEL, 0]);
        }
        self.of_units[row] = [level.0.index() as u32, unit];
    }

    /// The level that a living unit came with, and its place in that level's list.
    pub fn of_unit(&self, unit: UnitId) -> Option<(LevelId, u32)> {
        let [slot, place] = *self.of_units.get(unit.row() as usize)?;
        let level = LevelId(self.slots.handle_at(slot as usize)?);
        // A unit or a level that ended since has left its place to another.
        let came = self.of(level).units.get(place as usize) == Some(&Some(unit));
        came.then_some((level, place))
    }

    /// How much of a level and of those inside of it is spawned, from 0 to 1.
    pub fn progress(&self, level: LevelId) -> f64 {
        let Level { wanted, left, .. } = self.of(level);
        if *wanted == 0 { 1.0 } else { 1.0 - *left as f64 / *wanted as f64 }
    }

    /// The levels of a world that stand in no other, in the order of their slots.
    pub fn in_world(&self, world: WorldId) -> Vec<LevelId> {
        let here = self.slots.iter().filter(|(_, it)| it.world == world && it.parent.is_none());
        here.map(|(handle, _)| LevelId(handle)).collect()
    }

    /// The world is gone.
    pub fn release_world(&mut self, world: WorldId, frame: u64, place: &str) {
        for level in self.in_world(world) {
            self.remove(level, frame, place);
        }
    }
}

/// The error for a level with more units than there can be; `name` is the one that adds too many.
fn too_many_units(level: &str, name: &str) -> Error {
    crate::error!(
        "level \"{level}\" and the levels inside of it have more than {UNITS_MAX} units \
         (UNITS_MAX): take some out of \"{name}\", or place it less often"
    )
}

#[cfg(test)]
mod tests {
    use super::super::level_resource::{LevelUnit, Nested};
    use super::*;
    use crate::foundation::sjson::Tree;

    fn resource(name: &str, units: usize, nested: &[&str]) -> Arc<LevelResource> {
        let placed = Placed { position: Vec3::ZERO, rotation: None, scale: None };
        let unit = |at: usize| LevelUnit {
            name: at.to_string(),
            unit: "units/box".to_string(),
            placed,
            data: Tree::Object(Vec::new()),
            sets: Vec::new(),
        };
        let below = |name: &&str| Nested {
            name: name.to_string(),
            level: name.to_string(),
            placed,
            object_sets: None,
        };
        let units: Vec<_> = (0..units).map(unit).collect();
        Arc::new(LevelResource {
            name: name.to_string(),
            places: LevelResource::places_of(&units),
            units,
            nested: nested.iter().map(below).collect(),
            volumes: Vec::new(),
            splines: Vec::new(),
            object_sets: Vec::new(),
            set_places: HashMap::new(),
            data: Tree::Object(Vec::new()),
        })
    }

    /// A town of 40 streets of 40 houses, each with two units, and its world.
    fn town(levels: &mut Levels) -> (LevelId, WorldId) {
        let known = [
            resource("town", 1, &["street"; 40]),
            resource("street", 0, &["house"; 40]),
            resource("house", 2, &[]),
        ];
        levels.resources = known.into_iter().map(|it| (it.name.clone(), it)).collect();
        let mut worlds = Slots::new(Kind::World, 1);
        let world = WorldId(worlds.add(()).unwrap());
        let mut store = Store::without("nothing is read".to_string());
        (levels.add(&mut store, world, "town", Place::ORIGIN, None).unwrap(), world)
    }

    #[test]
    fn spawning_one_by_one_looks_at_each_level_a_few_times() {
        let mut levels = Levels::default();
        let (town, _) = town(&mut levels);
        let (count, wanted) = (levels.with_nested(town).len(), 1 + 40 * 40 * 2);
        assert_eq!(count, 1 + 40 + 40 * 40);
        let mut units = Slots::new(Kind::Unit, wanted);
        levels.looked.set(0);
        let mut spawned = 0;
        while let Some((level, unit)) = levels.next_waiting(town) {
            levels.spawned(level, unit, UnitId(units.add(()).unwrap()));
            spawned += 1;
            assert_eq!(levels.progress(town), 1.0 - (wanted - spawned) as f64 / wanted as f64);
        }
        assert_eq!((spawned, levels.progress(town)), (wanted, 1.0));
        let looked = levels.looked.get();
        assert!(looked < 8 * (wanted + count), "{looked} looks for {wanted} units");
    }

    #[test]
    fn levels_that_multiply_each_others_units_are_refused() {
        let mut levels = Levels::default();
        let known = [
            resource("a", 0, &["b"; 64]),
            resource("b", 0, &["c"; 60]),
            resource("c", 1000, &[]),
            resource("d", 0, &["d2"; 2]),
            resource("d2", 0, &["a", "a"]),
        ];
        levels.resources = known.into_iter().map(|it| (it.name.clone(), it)).collect();
        let mut worlds = Slots::new(Kind::World, 1);
        let world = WorldId(worlds.add(()).unwrap());
        let mut store = Store::without("nothing is read".to_string());
        for name in ["a", "d"] {
            let refused = levels.add(&mut store, world, name, Place::ORIGIN, None).unwrap_err();
            assert_eq!(
                refused.message,
                format!(
                    "level \"{name}\" and the levels inside of it have more than 262144 units \
                     (UNITS_MAX): take some out of \"c\", or place it less often"
                )
            );
            assert_eq!(levels.slots.len(), 0, "nothing of it stays");
        }
        levels.add(&mut store, world, "c", Place::ORIGIN, None).unwrap();
    }

    #[test]
    fn a_unit_knows_its_level_until_one_of_them_ends() {
        let (mut levels, mut units) = (Levels::default(), Slots::new(Kind::Unit, 2));
        let (town, world) = town(&mut levels);
        let (unit, stranger) = (UnitId(units.add(()).unwrap()), UnitId(units.add(()).unwrap()));
        let (level, place) = levels.next_waiting(town).unwrap();
        levels.spawned(level, place, unit);
        assert_eq!((levels.of_unit(unit), levels.of_unit(stranger)), (Some((town, 0)), None));
        units.remove(unit.0, "", 0, "");
        let next = UnitId(units.add(()).unwrap());
        assert_eq!((next.row(), levels.of_unit(next)), (unit.row(), None));
        levels.release_world(world, 0, "");
        assert_eq!((levels.of_unit(unit), levels.slots.len()), (None, 0));
    }
}
