//! Broadphases: spheres with owners in a uniform grid, for fast overlap queries around a point, in
//! a box, in a view frustum or along a ray. Independent of units and worlds: an owner is a number.
//!
//! A sphere is listed in the grid cell of its center. Spheres larger than a cell are in a separate
//! list. Results are in the order in which the spheres were added, independent of the grid. The
//! number of a sphere is valid in its own broadphase only, and never refers to another sphere after
//! the removal.

use engine_foundation::{Error, Handle, Mat4, Vec3};
use std::collections::HashMap;

/// Handle of a broadphase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BroadphaseId(pub Handle);

/// Maximum number of broadphases at one time.
pub const BROADPHASES_MAX: usize = 256;
/// Maximum number of spheres in one broadphase.
pub const ENTRIES_MAX: usize = 1 << 20;
/// Maximum number of categories in one broadphase.
pub const CATEGORIES_MAX: usize = 32;

type GridCell = (i32, i32, i32);

/// Bits of a sphere's number: those of its slot and those that identify its broadphase. The
/// remaining bits, up to the 53 that a double holds exactly, count the reuses of the slot, so that
/// an old number does not refer to another sphere.
const SLOT_BITS: u32 = ENTRIES_MAX.trailing_zeros();
const MARK_BITS: u32 = BROADPHASES_MAX.trailing_zeros();
const GENERATION_BITS: u32 = 53 - SLOT_BITS - MARK_BITS;

#[derive(Clone, Copy, Debug)]
struct BroadphaseEntry {
    position: Vec3,
    radius: f32,
    owner: f64,
    categories: u32,
    /// Serial number in order of addition.
    serial: u64,
    /// Cell that lists the sphere; `None` if it is in the list of large spheres.
    cell: Option<GridCell>,
}

/// A slot: its sphere, and the number of times that it was emptied.
#[derive(Clone, Copy, Debug)]
struct BroadphaseSlot {
    entry: Option<BroadphaseEntry>,
    generation: u32,
}

/// Spheres in a uniform grid.
#[derive(Debug)]
pub struct Broadphase {
    cell: f32,
    slots: Vec<BroadphaseSlot>,
    free: Vec<u32>,
    cells: HashMap<GridCell, Vec<u32>>,
    large: Vec<u32>,
    /// Names of the categories, by bit.
    categories: Vec<String>,
    /// Number of spheres added so far.
    added: u64,
    mark: u64,
}

impl Broadphase {
    /// Creates a broadphase with cells of this size in metres, above 0, and memory for a number of
    /// spheres. The best size is about the size of typical queries.
    pub fn new(cell: f32, count: usize) -> Broadphase {
        Broadphase {
            cell,
            slots: Vec::with_capacity(count.min(ENTRIES_MAX)),
            free: Vec::new(),
            cells: HashMap::new(),
            large: Vec::new(),
            categories: Vec::new(),
            added: 0,
            mark: 0,
        }
    }

    /// Sets the mark that makes the numbers of spheres differ from those of a broadphase with
    /// another mark.
    pub fn set_mark(&mut self, mark: u64) {
        self.mark = mark & ((1 << MARK_BITS) - 1);
    }

    /// Returns the number of spheres.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns true if there are no spheres.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bit mask of categories. Unknown categories are added if `adds` is true;
    /// otherwise they are ignored. Without any name, the mask contains all categories.
    ///
    /// # Errors
    /// Returns an error if there are too many categories.
    pub fn mask<'a>(
        &mut self,
        names: impl Iterator<Item = &'a str>,
        adds: bool,
    ) -> Result<u32, Error> {
        let (mut mask, mut named) = (0, false);
        for name in names {
            named = true;
            match self.categories.iter().position(|known| known == name) {
                Some(bit) => mask |= 1 << bit,
                None if !adds => {}
                None if self.categories.len() == CATEGORIES_MAX => {
                    return Err(engine_foundation::error!(
                        "a broadphase can have {CATEGORIES_MAX} categories (CATEGORIES_MAX): \
                         '{name}' is one more"
                    ));
                }
                None => {
                    mask |= 1 << self.categories.len();
                    self.categories.push(name.to_string());
                }
            }
        }
        Ok(if named { mask } else { u32::MAX })
    }

    fn cell_of(&self, position: Vec3) -> GridCell {
        let cell = (position / self.cell).floor();
        (cell.x as i32, cell.y as i32, cell.z as i32)
    }

    /// Adds a sphere. Returns the number, below 2^53, by which it is moved and removed.
    ///
    /// # Errors
    /// Returns an error if there are too many spheres.
    pub fn add(
        &mut self,
        owner: f64,
        position: Vec3,
        radius: f32,
        categories: u32,
    ) -> Result<u64, Error> {
        if self.len() == ENTRIES_MAX {
            return Err(engine_foundation::error!(
                "{ENTRIES_MAX} are in the broadphase already (ENTRIES_MAX): remove some first"
            ));
        }
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        if slot as usize == self.slots.len() {
            self.slots.push(BroadphaseSlot { entry: None, generation: 0 });
        }
        let cell = (radius <= self.cell).then(|| self.cell_of(position));
        let entry =
            BroadphaseEntry { position, radius, owner, categories, serial: self.added, cell };
        self.added += 1;
        self.slots[slot as usize].entry = Some(entry);
        self.list(cell).push(slot);
        Ok(self.number_of(slot))
    }

    fn number_of(&self, slot: u32) -> u64 {
        let generation = u64::from(self.slots[slot as usize].generation);
        (generation << (MARK_BITS + SLOT_BITS)) | (self.mark << SLOT_BITS) | u64::from(slot)
    }

    /// Returns the slot of the sphere with a number, if the sphere exists.
    fn slot_of(&self, number: u64) -> Option<u32> {
        let slot = (number & ((1 << SLOT_BITS) - 1)) as u32;
        let known = self.slots.get(slot as usize)?;
        (known.entry.is_some() && self.number_of(slot) == number).then_some(slot)
    }

    fn list(&mut self, cell: Option<GridCell>) -> &mut Vec<u32> {
        match cell {
            Some(cell) => self.cells.entry(cell).or_default(),
            None => &mut self.large,
        }
    }

    fn unlist(&mut self, slot: u32, cell: Option<GridCell>) {
        let list = self.list(cell);
        if let Some(at) = list.iter().position(|known| *known == slot) {
            list.swap_remove(at);
        }
        if let Some(cell) = cell
            && self.cells.get(&cell).is_some_and(Vec::is_empty)
        {
            self.cells.remove(&cell);
        }
    }

    /// Moves a sphere. Returns false if no sphere has that number.
    pub fn set_position(&mut self, number: u64, position: Vec3) -> bool {
        let Some(slot) = self.slot_of(number) else { return false };
        let new = self.cell_of(position);
        let Some(entry) = &mut self.slots[slot as usize].entry else { return false };
        entry.position = position;
        let old = entry.cell;
        if old.is_some_and(|old| old != new) {
            entry.cell = Some(new);
            self.unlist(slot, old);
            self.list(Some(new)).push(slot);
        }
        true
    }

    /// Removes a sphere. Returns false if no sphere has that number.
    pub fn remove(&mut self, number: u64) -> bool {
        let Some(slot) = self.slot_of(number) else { return false };
        let known = &mut self.slots[slot as usize];
        known.generation = (known.generation + 1) % (1 << GENERATION_BITS);
        let Some(entry) = known.entry.take() else { return false };
        self.unlist(slot, entry.cell);
        self.free.push(slot);
        true
    }

    fn entry(&self, slot: u32) -> Option<&BroadphaseEntry> {
        self.slots[slot as usize].entry.as_ref()
    }

    /// Returns the owners of all spheres.
    pub fn all(&self) -> Vec<f64> {
        let entries = self.slots.iter().filter_map(|slot| slot.entry);
        let mut all: Vec<_> = entries.map(|entry| (entry.serial, entry.owner)).collect();
        all.sort_unstable_by_key(|(serial, _)| *serial);
        all.into_iter().map(|(_, owner)| owner).collect()
    }

    /// Returns the slots of the spheres that may overlap an axis-aligned box and for which
    /// `touches` returns true.
    fn find(
        &self,
        (low, high): (Vec3, Vec3),
        categories: u32,
        touches: impl Fn(&BroadphaseEntry) -> bool,
    ) -> Vec<u32> {
        // The serial number is in the bits above the slot, so that one sort orders both.
        let mut found = Vec::new();
        let mut take = |slots: &[u32]| {
            for slot in slots {
                if let Some(entry) = self.entry(*slot)
                    && entry.categories & categories != 0
                    && touches(entry)
                {
                    found.push((entry.serial << SLOT_BITS) | u64::from(*slot));
                }
            }
        };
        take(&self.large);
        // A sphere reaches at most one cell beyond the cell of its center.
        let (low, high) = (self.cell_of(low - self.cell), self.cell_of(high + self.cell));
        let span = |low: i32, high: i32| f64::from(high) - f64::from(low) + 1.0;
        let cells = span(low.0, high.0) * span(low.1, high.1) * span(low.2, high.2);
        if cells > self.cells.len() as f64 {
            self.cells.values().for_each(|slots| take(slots));
        } else {
            for x in low.0..=high.0 {
                for y in low.1..=high.1 {
                    for z in low.2..=high.2 {
                        if let Some(slots) = self.cells.get(&(x, y, z)) {
                            take(slots);
                        }
                    }
                }
            }
        }
        found.sort_unstable();
        found.into_iter().map(|key| (key & ((1 << SLOT_BITS) - 1)) as u32).collect()
    }

    fn owners(&self, slots: &[u32]) -> Vec<f64> {
        slots.iter().filter_map(|slot| Some(self.entry(*slot)?.owner)).collect()
    }

    /// Returns the owners of the spheres that overlap a sphere.
    pub fn in_sphere(&self, middle: Vec3, radius: f32, categories: u32) -> Vec<f64> {
        let reach = Vec3::splat(radius);
        let (wide, at) = (f64::from(radius), middle.as_dvec3());
        // In double precision, because squares of large distances exceed the range of floats.
        let touches = |entry: &BroadphaseEntry| {
            let far = wide + f64::from(entry.radius);
            entry.position.as_dvec3().distance_squared(at) <= far * far
        };
        self.owners(&self.find((middle - reach, middle + reach), categories, touches))
    }

    /// Returns the owners of the spheres that overlap a box. `pose` has its center and axes, `half`
    /// half of its size along each axis.
    pub fn in_box(&self, pose: Mat4, half: Vec3, categories: u32) -> Vec<f64> {
        let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate());
        let middle = pose.w_axis.truncate();
        let reach = axes[0].abs() * half.x + axes[1].abs() * half.y + axes[2].abs() * half.z;
        let (pose, half) = (pose.as_dmat4(), half.as_dvec3());
        let inverse = pose.inverse();
        let touches = |entry: &BroadphaseEntry| {
            let (at, radius) = (entry.position.as_dvec3(), f64::from(entry.radius));
            let nearest = inverse.transform_point3(at).clamp(-half, half);
            pose.transform_point3(nearest).distance_squared(at) <= radius * radius
        };
        self.owners(&self.find((middle - reach, middle + reach), categories, touches))
    }

    /// Returns the owners of the spheres that overlap a frustum. `depth` returns the signed
    /// distance of a point from the frustum's planes, negative outside.
    pub fn in_frustum(
        &self,
        bounds: (Vec3, Vec3),
        categories: u32,
        depth: impl Fn(Vec3) -> f32,
    ) -> Vec<f64> {
        self.owners(&self.find(bounds, categories, |entry| depth(entry.position) >= -entry.radius))
    }

    /// Returns the owners of the spheres that a ray of this length hits, with the distance in
    /// metres, nearest first. Spheres at equal distance are in the order of addition.
    pub fn on_ray(
        &self,
        from: Vec3,
        direction: Vec3,
        length: f32,
        categories: u32,
    ) -> Vec<(f64, f32)> {
        let end = from + direction * length;
        let (start, way) = (from.as_dvec3(), direction.as_dvec3());
        let hit = |entry: &BroadphaseEntry| -> Option<f32> {
            let (to, radius) = (entry.position.as_dvec3() - start, f64::from(entry.radius));
            let (along, far) = (to.dot(way), to.length_squared());
            // From inside a sphere, the distance is 0.
            if far <= radius * radius {
                return Some(0.0);
            }
            let distance_squared = (to - way * along).length_squared();
            let depth = radius * radius - distance_squared;
            let first = along - depth.max(0.0).sqrt();
            (depth >= 0.0 && first >= 0.0 && first <= f64::from(length)).then_some(first as f32)
        };
        let touches = |entry: &BroadphaseEntry| hit(entry).is_some();
        let slots = self.find((from.min(end), from.max(end)), categories, touches);
        let met = slots.iter().filter_map(|slot| {
            let entry = self.entry(*slot)?;
            Some((entry.owner, hit(entry)?))
        });
        let mut met: Vec<_> = met.collect();
        met.sort_by(|a, b| a.1.total_cmp(&b.1));
        met
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Quat;
    use engine_foundation::random::Random;

    /// Returns spheres in many places, some larger than a cell, some moved and removed.
    fn filled() -> (Broadphase, Vec<(Vec3, f32)>) {
        let (mut grid, mut random, mut balls) =
            (Broadphase::new(4.0, 0), Random::seed(5), Vec::new());
        let mut at = || {
            (
                Vec3::new(0.0, 0.0, 0.0).map(|_| random.next_f64() as f32 * 80.0 - 40.0),
                random.next_f64(),
            )
        };
        for i in 0..2000 {
            let (position, chance) = at();
            let radius = if chance < 0.05 { 9.0 } else { chance as f32 * 2.0 };
            let id = grid.add(f64::from(i), position, radius, u32::MAX).unwrap();
            assert_eq!(id, i as u64);
            balls.push((position, radius));
        }
        for i in (0..2000).step_by(3) {
            balls[i].0 = at().0;
            assert!(grid.set_position(i as u64, balls[i].0));
        }
        for i in (0..2000).step_by(7) {
            assert!(grid.remove(i as u64) && !grid.remove(i as u64));
            balls[i].1 = f32::NAN;
        }
        (grid, balls)
    }

    fn expected(balls: &[(Vec3, f32)], touches: impl Fn(Vec3, f32) -> bool) -> Vec<f64> {
        let meant = |i: &usize| !balls[*i].1.is_nan() && touches(balls[*i].0, balls[*i].1);
        (0..balls.len()).filter(meant).map(|i| i as f64).collect()
    }

    #[test]
    fn queries_find_the_same_as_a_linear_search() {
        let (grid, balls) = filled();
        for (middle, radius) in [(Vec3::ZERO, 3.0), (Vec3::splat(20.0), 15.0), (Vec3::ZERO, 500.0)]
        {
            let wanted = expected(&balls, |at, r| at.distance(middle) <= radius + r);
            assert_eq!(grid.in_sphere(middle, radius, u32::MAX), wanted);
        }
        let pose =
            Mat4::from_rotation_translation(Quat::from_rotation_z(0.7), Vec3::new(3.0, 4.0, 5.0));
        let half = Vec3::new(10.0, 2.0, 6.0);
        let wanted = expected(&balls, |at, r| {
            let local = pose.inverse().transform_point3(at);
            local.distance(local.clamp(-half, half)) <= r
        });
        assert!(!wanted.is_empty());
        assert_eq!(grid.in_box(pose, half, u32::MAX), wanted);
        assert_eq!(grid.all().len(), grid.len());
    }

    #[test]
    fn a_ray_hits_the_nearest_first() {
        let (grid, balls) = filled();
        let direction = Vec3::new(1.0, 0.2, -0.1).normalize();
        let from = Vec3::new(-40.0, 0.0, 0.0);
        let met = grid.on_ray(from, direction, 60.0, u32::MAX);
        assert!(met.windows(2).all(|pair| pair[0].1 <= pair[1].1) && met.len() > 3);
        let mut owners: Vec<f64> = met.iter().map(|(owner, _)| *owner).collect();
        owners.sort_by(f64::total_cmp);
        let wanted = expected(&balls, |at, r| {
            let along = (at - from).dot(direction).max(0.0);
            let nearest = from + direction * along;
            let first = along - (r * r - nearest.distance_squared(at)).max(0.0).sqrt();
            nearest.distance(at) <= r && (first <= 60.0 || from.distance(at) <= r)
        });
        assert_eq!(owners, wanted);
    }

    #[test]
    fn a_stale_id_never_matches_another_sphere() {
        let (mut grid, mut other) = (Broadphase::new(1.0, 0), Broadphase::new(1.0, 0));
        other.set_mark(1);
        let first = grid.add(1.0, Vec3::ZERO, 0.5, u32::MAX).unwrap();
        let second = grid.add(2.0, Vec3::ZERO, 0.5, u32::MAX).unwrap();
        assert!(grid.remove(first));
        let third = grid.add(3.0, Vec3::ZERO, 0.5, u32::MAX).unwrap();
        assert!(first != third && third < 1 << 53);
        assert!(!grid.set_position(first, Vec3::ONE) && !grid.remove(first));
        assert_eq!(grid.all(), [2.0, 3.0], "the slot is used again, the order is that of adding");
        assert_eq!(grid.in_sphere(Vec3::ZERO, 9.0, u32::MAX), [2.0, 3.0]);
        let elsewhere = other.add(9.0, Vec3::ZERO, 0.5, u32::MAX).unwrap();
        assert!(!grid.remove(elsewhere) && !other.remove(second) && other.remove(elsewhere));
    }

    #[test]
    fn entries_are_found_where_squared_distances_overflow() {
        let mut grid = Broadphase::new(1.0, 0);
        let far = Vec3::new(3.0e38, -3.0e38, 0.0);
        let id = grid.add(1.0, far, 2.0, u32::MAX).unwrap();
        grid.add(2.0, Vec3::ZERO, 1e30, u32::MAX).unwrap();
        assert_eq!(grid.in_sphere(far, 1.0, u32::MAX), [1.0]);
        assert_eq!(grid.in_sphere(Vec3::ZERO, 1.0, u32::MAX), [2.0]);
        assert_eq!(grid.in_box(Mat4::from_translation(far), Vec3::ONE, u32::MAX), [1.0]);
        let ray = grid.on_ray(Vec3::new(-1e31, 0.0, 0.0), Vec3::X, 1e31, u32::MAX);
        assert!(ray.len() == 1 && (ray[0].1 / 9e30 - 1.0).abs() < 1e-3, "{ray:?}");
        assert!(grid.set_position(id, Vec3::new(0.5, 0.0, 0.0)));
        assert_eq!(grid.in_sphere(Vec3::ZERO, 1.0, u32::MAX), [1.0, 2.0]);
    }

    #[test]
    fn the_limit_of_spheres_is_exact() {
        let mut grid = Broadphase::new(1.0, 0);
        for i in 0..ENTRIES_MAX {
            grid.add(i as f64, Vec3::ZERO, 2.0, 1).unwrap();
        }
        let message = grid.add(0.0, Vec3::ZERO, 2.0, 1).unwrap_err().message;
        assert!(message.ends_with("in the broadphase already (ENTRIES_MAX): remove some first"));
        assert!(grid.remove(ENTRIES_MAX as u64 - 1) && grid.add(0.0, Vec3::ZERO, 2.0, 1).is_ok());
    }

    #[test]
    fn categories_are_distinct_and_limited() {
        let mut grid = Broadphase::new(1.0, 0);
        let enemies = grid.mask(["enemy"].into_iter(), true).unwrap();
        let both = grid.mask(["enemy", "flying"].into_iter(), true).unwrap();
        grid.add(1.0, Vec3::ZERO, 1.0, enemies).unwrap();
        grid.add(2.0, Vec3::ZERO, 1.0, both).unwrap();
        let flying = grid.mask(["flying"].into_iter(), false).unwrap();
        assert_eq!(grid.in_sphere(Vec3::ZERO, 1.0, flying), [2.0]);
        let unknown = grid.mask(["none"].into_iter(), false).unwrap();
        assert_eq!(grid.in_sphere(Vec3::ZERO, 1.0, unknown), [0.0; 0]);
        let names: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let message = grid.mask(names.iter().map(String::as_str), true).unwrap_err().message;
        assert_eq!(
            message,
            "a broadphase can have 32 categories (CATEGORIES_MAX): '30' is one more"
        );
    }
}
