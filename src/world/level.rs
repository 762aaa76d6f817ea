//! Levels that are there: which of their units are spawned, and where everything in them is. What
//! a level is made of is in level_resource.rs. Units are spawned from outside, one after the other,
//! for scripts hear of each.

use super::WorldId;
use super::level_resource::{LevelResource, Placed};
use super::scene::Pose;
use super::unit::UnitId;
use crate::foundation::{Error, Handle, Kind, Quat, Slots, Vec3};
use crate::resource::store::Store;
use std::collections::HashMap;
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
    waiting: std::collections::VecDeque<u32>,
    /// How many were wanted.
    wanted: usize,
    pub parent: Option<LevelId>,
    pub nested: Vec<LevelId>,
}

/// All levels of all worlds.
pub struct Levels {
    pub slots: Slots<Level>,
    /// What levels were made of so far, by name. Emptied when one of them changes: levels that are
    /// there keep what they were made of.
    pub resources: HashMap<String, Arc<LevelResource>>,
    /// The level of each unit that came with one, by the unit's row, and its place in it.
    of_units: Vec<Option<(UnitId, LevelId, u32)>>,
}

impl Default for Levels {
    fn default() -> Levels {
        Levels {
            slots: Slots::new(Kind::Level, LEVELS_MAX),
            resources: HashMap::new(),
            of_units: Vec::new(),
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
        let mut chain = Vec::new();
        self.add_below(store, (world, None), name, place, object_sets, &mut chain)
    }

    fn add_below(
        &mut self,
        store: &mut Store,
        (world, parent): (WorldId, Option<LevelId>),
        name: &str,
        place: Place,
        object_sets: Option<&[String]>,
        chain: &mut Vec<String>,
    ) -> Result<LevelId, Error> {
        chain.push(name.to_string());
        let within = chain.len() > 1 && chain[..chain.len() - 1].contains(&chain[chain.len() - 1]);
        if within || chain.len() > LEVEL_DEPTH_MAX {
            return Err(crate::error!(
                "levels stand in each other in a circle, or more than {LEVEL_DEPTH_MAX} deep: {}",
                chain.join(" → ")
            ));
        }
        let resource = self.resource(store, name)?;
        for set in object_sets.into_iter().flatten() {
            resource.object_set(set)?;
        }
        let waiting: std::collections::VecDeque<u32> = (0..resource.units.len() as u32)
            .filter(|unit| resource.is_wanted(*unit as usize, object_sets))
            .collect();
        let level = Level {
            world,
            resource: resource.clone(),
            place,
            units: vec![None; resource.units.len()],
            wanted: waiting.len(),
            waiting,
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
            match self.add_below(store, (world, Some(id)), &nested.level, below, sets, chain) {
                Ok(below) => self.of_mut(id).nested.push(below),
                Err(error) => {
                    self.remove(id, 0, "");
                    return Err(error);
                }
            }
        }
        chain.pop();
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
        self.slots.get(level.0).expect("the handle was checked where it came in")
    }

    fn of_mut(&mut self, level: LevelId) -> &mut Level {
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

    /// The next unit that is to be spawned of a level or of those inside of it.
    pub fn next_waiting(&self, level: LevelId) -> Option<(LevelId, u32)> {
        let all = self.with_nested(level);
        all.into_iter().find_map(|level| Some((level, *self.of(level).waiting.front()?)))
    }

    /// A unit of a level was spawned.
    pub fn spawned(&mut self, level: LevelId, unit: u32, id: UnitId) {
        let inside = self.of_mut(level);
        if inside.waiting.front() == Some(&unit) {
            inside.waiting.pop_front();
        }
        inside.units[unit as usize] = Some(id);
        let row = id.row() as usize;
        if self.of_units.len() <= row {
            self.of_units.resize(row + 1, None);
        }
        self.of_units[row] = Some((id, level, unit));
    }

    /// The level that a living unit came with, and its place in that level's list.
    pub fn of_unit(&self, unit: UnitId) -> Option<(LevelId, u32)> {
        let (id, level, place) = (*self.of_units.get(unit.row() as usize)?)?;
        (id == unit && self.slots.get(level.0).is_some()).then_some((level, place))
    }

    /// How much of a level and of those inside of it is spawned, from 0 to 1.
    pub fn progress(&self, level: LevelId) -> f64 {
        let all = self.with_nested(level);
        let count = |of: fn(&Level) -> usize| -> usize {
            all.iter().map(|level| of(self.of(*level))).sum()
        };
        match count(|level| level.wanted) {
            0 => 1.0,
            wanted => 1.0 - count(|level| level.waiting.len()) as f64 / wanted as f64,
        }
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
