//! Broadphases: balls with owners in a grid of cells, to find fast what is near, in a box, in a
//! camera's sight or on a ray. Knows neither units nor worlds: an owner is a number.
//!
//! A ball is listed in the cell of its middle; those that are larger than a cell are listed apart.
//! What is found comes in the order in which it was added, whatever the grid looks like.

use crate::foundation::{Error, Handle, Mat4, Vec3};
use std::collections::HashMap;

/// The handle of a broadphase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BroadphaseId(pub Handle);

/// The most broadphases that can be there at once.
pub const BROADPHASES_MAX: usize = 256;
/// The most balls in one of them.
pub const ENTRIES_MAX: usize = 1 << 20;
/// The most categories that one of them can tell apart.
pub const CATEGORIES_MAX: usize = 32;

type Cell = (i32, i32, i32);

#[derive(Clone, Copy, Debug)]
struct Entry {
    position: Vec3,
    radius: f32,
    owner: f64,
    categories: u32,
    /// Where it is listed; `None` among the large ones.
    cell: Option<Cell>,
}

/// Balls in a grid.
#[derive(Debug)]
pub struct Broadphase {
    cell: f32,
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    cells: HashMap<Cell, Vec<u32>>,
    large: Vec<u32>,
    /// The names of the categories, by their bits.
    categories: Vec<String>,
}

impl Broadphase {
    /// With cells of that many metres, above 0: about as large as what is looked for around.
    pub fn new(cell: f32) -> Broadphase {
        Broadphase {
            cell,
            entries: Vec::new(),
            free: Vec::new(),
            cells: HashMap::new(),
            large: Vec::new(),
            categories: Vec::new(),
        }
    }

    /// How many balls are there.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bits of categories: those that are not known yet are added where `adds`, else stand for
    /// nothing. No category at all is all of them.
    ///
    /// # Errors
    /// There are too many.
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
                    return Err(crate::error!(
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

    fn cell_of(&self, position: Vec3) -> Cell {
        let cell = (position / self.cell).floor();
        (cell.x as i32, cell.y as i32, cell.z as i32)
    }

    /// Adds a ball: the number by which it is moved and removed.
    ///
    /// # Errors
    /// There are too many.
    pub fn add(
        &mut self,
        owner: f64,
        position: Vec3,
        radius: f32,
        categories: u32,
    ) -> Result<u32, Error> {
        if self.len() == ENTRIES_MAX {
            return Err(crate::error!("{ENTRIES_MAX} are in the broadphase already (ENTRIES_MAX)"));
        }
        let id = self.free.pop().unwrap_or(self.entries.len() as u32);
        if id as usize == self.entries.len() {
            self.entries.push(None);
        }
        let cell = (radius <= self.cell).then(|| self.cell_of(position));
        self.entries[id as usize] = Some(Entry { position, radius, owner, categories, cell });
        self.list(cell).push(id);
        Ok(id)
    }

    fn list(&mut self, cell: Option<Cell>) -> &mut Vec<u32> {
        match cell {
            Some(cell) => self.cells.entry(cell).or_default(),
            None => &mut self.large,
        }
    }

    fn unlist(&mut self, id: u32, cell: Option<Cell>) {
        let list = self.list(cell);
        if let Some(at) = list.iter().position(|known| *known == id) {
            list.swap_remove(at);
        }
        if let Some(cell) = cell
            && self.cells.get(&cell).is_some_and(Vec::is_empty)
        {
            self.cells.remove(&cell);
        }
    }

    /// Moves a ball; false where there is none of that number.
    pub fn place(&mut self, id: u32, position: Vec3) -> bool {
        let new = self.cell_of(position);
        let Some(Some(entry)) = self.entries.get_mut(id as usize) else { return false };
        entry.position = position;
        let old = entry.cell;
        if old.is_some_and(|old| old != new) {
            entry.cell = Some(new);
            self.unlist(id, old);
            self.list(Some(new)).push(id);
        }
        true
    }

    /// Takes a ball out; false where there is none of that number.
    pub fn remove(&mut self, id: u32) -> bool {
        let Some(entry) = self.entries.get_mut(id as usize).and_then(Option::take) else {
            return false;
        };
        self.unlist(id, entry.cell);
        self.free.push(id);
        true
    }

    /// The owners of all balls, by their numbers.
    pub fn all(&self) -> Vec<f64> {
        self.entries.iter().flatten().map(|entry| entry.owner).collect()
    }

    /// The numbers of the balls that may touch a box along the axes, and do by `touches`.
    fn find(
        &self,
        (low, high): (Vec3, Vec3),
        categories: u32,
        touches: impl Fn(&Entry) -> bool,
    ) -> Vec<u32> {
        let mut found = Vec::new();
        let mut take = |ids: &[u32]| {
            let is_meant = |id: &&u32| {
                self.entries[**id as usize]
                    .as_ref()
                    .is_some_and(|entry| entry.categories & categories != 0 && touches(entry))
            };
            found.extend(ids.iter().filter(is_meant));
        };
        take(&self.large);
        // Balls reach at most one cell beyond that of their middle.
        let (low, high) = (self.cell_of(low - self.cell), self.cell_of(high + self.cell));
        let span = |low: i32, high: i32| f64::from(high) - f64::from(low) + 1.0;
        let cells = span(low.0, high.0) * span(low.1, high.1) * span(low.2, high.2);
        if cells > self.cells.len() as f64 {
            self.cells.values().for_each(|ids| take(ids));
        } else {
            for x in low.0..=high.0 {
                for y in low.1..=high.1 {
                    for z in low.2..=high.2 {
                        if let Some(ids) = self.cells.get(&(x, y, z)) {
                            take(ids);
                        }
                    }
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn owners(&self, ids: &[u32]) -> Vec<f64> {
        let owner = |id: &u32| self.entries[*id as usize].as_ref().map(|entry| entry.owner);
        ids.iter().filter_map(owner).collect()
    }

    /// The owners of what touches a ball.
    pub fn in_ball(&self, middle: Vec3, radius: f32, categories: u32) -> Vec<f64> {
        let reach = Vec3::splat(radius);
        let touches = |entry: &Entry| {
            let far = radius + entry.radius;
            entry.position.distance_squared(middle) <= far * far
        };
        self.owners(&self.find((middle - reach, middle + reach), categories, touches))
    }

    /// The owners of what touches a box: its middle and axes, and half its size along each.
    pub fn in_box(&self, pose: Mat4, half: Vec3, categories: u32) -> Vec<f64> {
        let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate());
        let middle = pose.w_axis.truncate();
        let reach = axes[0].abs() * half.x + axes[1].abs() * half.y + axes[2].abs() * half.z;
        let inverse = pose.inverse();
        let touches = |entry: &Entry| {
            let at = inverse.transform_point3(entry.position);
            let nearest = at.clamp(-half, half);
            let outside = pose.transform_point3(nearest).distance_squared(entry.position);
            outside <= entry.radius * entry.radius
        };
        self.owners(&self.find((middle - reach, middle + reach), categories, touches))
    }

    /// The owners of what `depth` says is less deep than its radius outside: a frustum's planes.
    pub fn in_frustum(
        &self,
        bounds: (Vec3, Vec3),
        categories: u32,
        depth: impl Fn(Vec3) -> f32,
    ) -> Vec<f64> {
        self.owners(&self.find(bounds, categories, |entry| depth(entry.position) >= -entry.radius))
    }

    /// The owners of what a ray of that length meets, and after how many metres, the nearest first.
    pub fn on_ray(
        &self,
        from: Vec3,
        direction: Vec3,
        length: f32,
        categories: u32,
    ) -> Vec<(f64, f32)> {
        let end = from + direction * length;
        let hit = |entry: &Entry| -> Option<f32> {
            let to = entry.position - from;
            let (along, far) = (to.dot(direction), to.length_squared());
            let depth = entry.radius * entry.radius - (far - along * along);
            let first = along - depth.max(0.0).sqrt();
            // From inside, it is met at once.
            let first = if far <= entry.radius * entry.radius { 0.0 } else { first };
            (depth >= 0.0 && first >= 0.0 && first <= length).then_some(first)
        };
        let touches = |entry: &Entry| hit(entry).is_some();
        let ids = self.find((from.min(end), from.max(end)), categories, touches);
        let met = ids.iter().filter_map(|id| {
            let entry = self.entries[*id as usize].as_ref()?;
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
    use crate::foundation::Quat;
    use crate::foundation::random::Random;

    /// Balls all over the place, some larger than a cell, some moved and removed.
    fn filled() -> (Broadphase, Vec<(Vec3, f32)>) {
        let (mut grid, mut random, mut balls) = (Broadphase::new(4.0), Random::seed(5), Vec::new());
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
            assert_eq!(id, i);
            balls.push((position, radius));
        }
        for i in (0..2000).step_by(3) {
            balls[i].0 = at().0;
            assert!(grid.place(i as u32, balls[i].0));
        }
        for i in (0..2000).step_by(7) {
            assert!(grid.remove(i as u32) && !grid.remove(i as u32));
            balls[i].1 = f32::NAN;
        }
        (grid, balls)
    }

    fn expected(balls: &[(Vec3, f32)], touches: impl Fn(Vec3, f32) -> bool) -> Vec<f64> {
        let meant = |i: &usize| !balls[*i].1.is_nan() && touches(balls[*i].0, balls[*i].1);
        (0..balls.len()).filter(meant).map(|i| i as f64).collect()
    }

    #[test]
    fn what_is_found_is_what_a_look_at_all_finds() {
        let (grid, balls) = filled();
        for (middle, radius) in [(Vec3::ZERO, 3.0), (Vec3::splat(20.0), 15.0), (Vec3::ZERO, 500.0)]
        {
            let wanted = expected(&balls, |at, r| at.distance(middle) <= radius + r);
            assert_eq!(grid.in_ball(middle, radius, u32::MAX), wanted);
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
    fn a_ray_meets_the_nearest_first() {
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
    fn categories_are_told_apart_and_limited() {
        let mut grid = Broadphase::new(1.0);
        let enemies = grid.mask(["enemy"].into_iter(), true).unwrap();
        let both = grid.mask(["enemy", "flying"].into_iter(), true).unwrap();
        grid.add(1.0, Vec3::ZERO, 1.0, enemies).unwrap();
        grid.add(2.0, Vec3::ZERO, 1.0, both).unwrap();
        let flying = grid.mask(["flying"].into_iter(), false).unwrap();
        assert_eq!(grid.in_ball(Vec3::ZERO, 1.0, flying), [2.0]);
        let unknown = grid.mask(["none"].into_iter(), false).unwrap();
        assert_eq!(grid.in_ball(Vec3::ZERO, 1.0, unknown), [0.0; 0]);
        let names: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let words = grid.mask(names.iter().map(String::as_str), true).unwrap_err().message;
        assert_eq!(words, "a broadphase can have 32 categories (CATEGORIES_MAX): '30' is one more");
    }
}
