//! Updates of existing levels after a hot reload of their file: the units of both versions are
//! matched by their names. The caller destroys, moves and spawns units, because scripts are
//! notified of each.

use super::level::{LevelId, Levels};
use super::level_resource::{LevelPose, LevelResource};
use super::unit::UnitId;
use std::sync::Arc;

/// A unit that has another pose in the new version of its level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MovedUnit {
    pub unit: UnitId,
    pub before: LevelPose,
    pub now: LevelPose,
}

/// The differences between the two versions of a level that is in a world. Units that the game
/// destroyed before are not among them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LevelUpdate {
    /// Units that the new version does not have, or has as units of another resource.
    pub removed: Vec<UnitId>,
    pub moved: Vec<MovedUnit>,
    /// Number of units of the level that wait to be spawned now.
    pub added: usize,
    /// Number of spawned units with other data in the new version, which they do not get.
    pub other_data: usize,
    /// True if the nested levels are others. They stay as they were.
    pub other_nested: bool,
    /// True if the level's own data is other data. It stays as it was.
    pub other_level_data: bool,
}

impl Levels {
    /// Gives a level the new version of its resource. `exists` tells which units were not destroyed
    /// yet.
    pub fn update(
        &mut self,
        level: LevelId,
        new: &Arc<LevelResource>,
        exists: impl Fn(UnitId) -> bool,
    ) -> LevelUpdate {
        let inside = self.of(level);
        let (old, sets) = (inside.resource.clone(), inside.object_sets.clone());
        let mut update = LevelUpdate {
            other_nested: old.nested != new.nested,
            other_level_data: old.data != new.data,
            ..LevelUpdate::default()
        };
        let mut units = vec![None; new.units.len()];
        let mut indices = Vec::new();
        for (index, before) in old.units.iter().enumerate() {
            let Some(unit) = inside.units[index] else { continue };
            let at = new.unit_index(&before.name);
            let Some(at) = at.filter(|at| new.units[*at].unit == before.unit) else {
                update.removed.extend(exists(unit).then_some(unit));
                continue;
            };
            units[at] = Some(unit);
            indices.push((unit, index as u32, at as u32));
            let now = &new.units[at];
            if exists(unit) {
                update.other_data += usize::from(now.data != before.data);
                let moved = MovedUnit { unit, before: before.pose, now: now.pose };
                update.moved.extend((moved.now != moved.before).then_some(moved));
            }
        }
        let selected = selected_units(new, sets.as_deref());
        let waiting: Vec<u32> =
            selected.iter().copied().filter(|at| units[*at as usize].is_none()).collect();
        update.added = waiting.len();
        let wanted = selected.len() as isize - selected_units(&old, sets.as_deref()).len() as isize;
        let left = waiting.len() as isize - inside.waiting.len() as isize;
        self.set_unit_indices(level, &indices);
        let inside = self.of_mut(level);
        inside.units = units;
        inside.waiting = waiting.into();
        // The nested levels in the world are those of the old version.
        inside.resource = match update.other_nested {
            true => Arc::new(LevelResource { nested: old.nested.clone(), ..(**new).clone() }),
            false => new.clone(),
        };
        self.add_to_progress(level, wanted, left);
        update
    }

    /// Changes the indices of units in their level: unit, old index, new index.
    fn set_unit_indices(&mut self, level: LevelId, indices: &[(UnitId, u32, u32)]) {
        let slot = level.0.index() as u32;
        for (unit, before, now) in indices {
            // The row of a destroyed unit may belong to another one now.
            if let Some(entry) = self.of_units.get_mut(unit.row() as usize)
                && *entry == [slot, *before]
            {
                *entry = [slot, *now];
            }
        }
    }

    /// Changes the numbers of units of a level and of those that contain it, and lets its units be
    /// spawned with those of the outermost one.
    fn add_to_progress(&mut self, level: LevelId, wanted: isize, left: isize) {
        let (mut above, mut top) = (Some(level), level);
        while let Some(id) = above {
            let inside = self.of_mut(id);
            inside.wanted = inside.wanted.saturating_add_signed(wanted);
            inside.left = inside.left.saturating_add_signed(left);
            (above, top) = (inside.parent, id);
        }
        let order = &mut self.of_mut(top).order;
        if !order.contains(&level) {
            order.push_back(level);
        }
    }
}

/// Returns the indices of the units that are spawned for a selection of object sets. Sets that the
/// resource does not have are left out.
fn selected_units(resource: &LevelResource, sets: Option<&[String]>) -> Vec<u32> {
    let known = sets.map(|sets| {
        let known = sets.iter().filter(|set| resource.set_indices.contains_key(*set));
        known.cloned().collect::<Vec<String>>()
    });
    let wanted = resource.select_sets(known.as_deref()).expect("only known sets are left");
    let all = 0..resource.units.len() as u32;
    all.filter(|at| resource.is_selected(*at as usize, &wanted)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::level::LevelTransform;
    use super::super::level_resource::LevelUnit;
    use super::*;
    use engine_foundation::sjson::SjsonTree;
    use engine_foundation::{HandleKind, Slots, Vec3};
    use engine_resource::store::ResourceStore;
    use std::collections::HashMap;

    /// Returns a level with units, each as `name unit x`.
    fn resource(units: &[&str]) -> Arc<LevelResource> {
        let unit = |text: &&str| {
            let parts: Vec<&str> = text.split(' ').collect();
            let position = Vec3::new(parts[2].parse().unwrap(), 0.0, 0.0);
            LevelUnit {
                name: parts[0].to_string(),
                unit: parts[1].to_string(),
                pose: LevelPose { position, rotation: None, scale: None },
                data: SjsonTree::Object(Vec::new()),
                sets: Vec::new(),
            }
        };
        let units: Vec<LevelUnit> = units.iter().map(unit).collect();
        Arc::new(LevelResource {
            name: "yard".to_string(),
            unit_indices: LevelResource::indices_by_name(&units),
            units,
            nested: Vec::new(),
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

    #[test]
    fn units_are_matched_by_name() {
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = crate::WorldId(worlds.add(()).unwrap());
        let mut ids = Slots::new(HandleKind::Unit, 8);
        let mut levels = Levels::default();
        let old = resource(&["a rat 1", "b rat 2", "c rat 3", "d rat 4"]);
        levels.resources.insert("yard".to_string(), old);
        let mut store = ResourceStore::without("no resources".to_string());
        let level =
            levels.add(&mut store, world, "yard", LevelTransform::ORIGIN, None).expect("it fits");
        let mut spawned = Vec::new();
        while let Some((level, index)) = levels.next_waiting(level) {
            let unit = UnitId(ids.add(()).unwrap());
            levels.spawned(level, index, unit);
            spawned.push(unit);
        }
        let [a, b, c, d] = spawned[..] else { panic!("four units are spawned") };
        // `d` was destroyed by the game and is not spawned again.
        let new = resource(&["d rat 4", "e rat 9", "b bat 2", "a rat 5"]);
        let update = levels.update(level, &new, |unit| unit != d);
        assert_eq!(update.removed, [b, c]);
        assert_eq!(update.moved.iter().map(|moved| moved.unit).collect::<Vec<_>>(), [a]);
        assert_eq!(update.moved[0].now.position.x, 5.0);
        assert_eq!((update.added, levels.progress(level)), (2, 0.5));
        assert_eq!(levels.of_unit(a), Some((level, 3)));
        assert_eq!(levels.of_unit(c), None);
        assert_eq!(levels.next_waiting(level), Some((level, 1)), "e");
        levels.spawned(level, 1, UnitId(ids.add(()).unwrap()));
        assert_eq!(levels.next_waiting(level), Some((level, 2)), "b, as another unit");
        levels.skip_waiting(level);
        assert_eq!((levels.next_waiting(level), levels.progress(level)), (None, 1.0));
        let same = levels.update(level, &new, |unit| unit != d);
        assert_eq!((same.added, same.moved.len(), same.removed.len()), (1, 0, 0), "b again");
    }
}
