//! Links that are found by themselves: from the edges of a mesh over gaps to ground on the other
//! side, and down from ledges. A link is found where a character that leaves an edge straight
//! outward comes to other ground within a distance and a height, has room on its way through the
//! air, and cannot walk there on a way that is little longer.

use super::jumps::{JumpSettings, LINKS_MAX};
use super::mesh::{NavigationMesh, NearestPolygon};
use super::rebake::FILE_NUMBERS;
use super::search::{PointPath, PolygonPath, Searcher};
use super::sight::SightBudget;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec2, Vec3, error};
use std::collections::HashMap;

/// Maximum number of points at the edges of a mesh from which jumps are tried.
pub const JUMP_TRIES_MAX: usize = 1 << 16;
/// Work of the searches for links by all rules of a mesh: polygons, triangles and obstacles with
/// which jumps are compared. As much takes about a second.
pub const JUMP_WORK_MAX: usize = 1 << 29;
/// Work of the search from one point.
pub const JUMP_POINT_WORK_MAX: usize = 1 << 22;
/// Points from which jumps are searched at once, before the work that is left is known.
const ROUND_MIN: usize = 64;
const ROUND_MAX: usize = 4096;
/// Nodes that the search for a way on foot visits, and the work for which it counts.
const WALK_NODES: usize = 256;
const WALK_WORK: usize = 4096;
/// Work for which a straight way over the ground counts.
const RAY_WORK: usize = 256;
/// Corners of a way on foot.
const WALK_POINTS_MAX: usize = 256;
/// Length of a way on foot that makes a jump superfluous, in lengths of the jump.
const WALK_RATIO: f32 = 3.0;
/// Ranges of the rules, in metres.
pub const JUMP_DISTANCE_MAX: f32 = 20.0;
pub const JUMP_HEIGHT_MAX: f32 = 50.0;
pub const JUMP_SPACING_MIN: f32 = 0.5;
pub const JUMP_SPACING_MAX: f32 = 100.0;

/// Rules by which links are found. Lengths are in metres.
#[derive(Clone, PartialEq, Debug)]
pub struct JumpRules {
    /// Name of the links for scripts.
    pub name: String,
    /// Longest distance between the ends of a link, as seen from above.
    pub distance: f32,
    /// How much higher and lower the end of a link can be.
    pub up: f32,
    pub down: f32,
    /// Distance between links at the same edge.
    pub spacing: f32,
    /// Cost of a link in metres of ordinary ground; `None` for the distance of its ends.
    pub cost: Option<f32>,
    pub is_manual: bool,
}

impl JumpRules {
    pub const DEFAULT: JumpRules = JumpRules {
        name: String::new(),
        distance: 3.0,
        up: 0.5,
        down: 2.0,
        spacing: 3.0,
        cost: None,
        is_manual: false,
    };

    /// Names of the lengths in files and scripts.
    pub const LENGTHS: [&str; 4] = ["distance", "up", "down", "spacing"];

    /// Returns the least and the highest value of a length, and the length.
    ///
    /// # Errors
    /// Returns a message if there is no length with this name.
    pub fn length(&mut self, name: &str) -> Result<(f32, f32, &mut f32), String> {
        match name {
            "distance" => Ok((0.1, JUMP_DISTANCE_MAX, &mut self.distance)),
            "up" => Ok((0.0, JUMP_HEIGHT_MAX, &mut self.up)),
            "down" => Ok((0.0, JUMP_HEIGHT_MAX, &mut self.down)),
            "spacing" => Ok((JUMP_SPACING_MIN, JUMP_SPACING_MAX, &mut self.spacing)),
            name => Err(format!("'{name}' is no length of jumps")),
        }
    }

    /// Returns true if a jump can change the height by so much.
    fn allows(&self, rise: f32) -> bool {
        rise <= self.up + 1e-3 && rise >= -self.down - 1e-3
    }

    /// Returns the link between two points.
    fn link(&self, from: Vec3, to: Vec3) -> JumpSettings {
        JumpSettings {
            name: self.name.clone(),
            from,
            to,
            cost: self.cost.unwrap_or_else(|| from.distance(to)),
            is_two_way: self.allows(from.z - to.z),
            is_manual: self.is_manual,
        }
    }
}

/// Point at an edge of the mesh, with the direction away from the ground, and the jump from there.
#[derive(Clone, Copy)]
struct JumpCandidate {
    start: NearestPolygon,
    outward: Vec2,
    end: Option<Vec3>,
    /// Work of the search for the end.
    work: usize,
}

/// Work that may still be done, and the most for one point.
struct JumpWork {
    left: usize,
    of_point: usize,
}

/// Memory of the searches for ways on foot.
#[derive(Default)]
struct FootSearch {
    searcher: Searcher,
    path: PolygonPath,
    points: PointPath,
}

impl FootSearch {
    /// Returns true if a way on foot leads to the end of a jump that is little longer.
    fn can_walk(
        &mut self,
        mesh: &NavigationMesh,
        from: NearestPolygon,
        to: NearestPolygon,
    ) -> bool {
        self.searcher.search(mesh, from, to, WALK_NODES, &mut self.path);
        if self.path.partial.is_some() {
            return false;
        }
        self.path.find_corners(mesh, from, to, WALK_POINTS_MAX, &mut self.points);
        let length: f32 = self.points.points.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
        length <= from.position.distance(to.position) * WALK_RATIO
    }
}

/// Ends of links that were found, by cells that are as large as the distance between links.
struct KnownJumps {
    spacing: f32,
    cells: HashMap<[i32; 3], Vec<(Vec3, Vec3)>>,
}

impl KnownJumps {
    fn cell(&self, point: Vec3) -> [i32; 3] {
        (point / self.spacing).floor().to_array().map(|number| number as i32)
    }

    /// Returns true if a link from near a point to near another one is known.
    fn has(&self, from: Vec3, to: Vec3) -> bool {
        let [x, y, z] = self.cell(from);
        (0..27).any(|at| {
            let cell = [x + at % 3 - 1, y + at / 3 % 3 - 1, z + at / 9 - 1];
            let near = |known: &(Vec3, Vec3)| {
                known.0.distance(from) < self.spacing && known.1.distance(to) < self.spacing * 1.5
            };
            self.cells.get(&cell).is_some_and(|known| known.iter().any(near))
        })
    }

    fn add(&mut self, from: Vec3, to: Vec3) {
        let cell = self.cell(from);
        self.cells.entry(cell).or_default().push((from, to));
    }
}

impl NavigationMesh {
    /// Allows the searches for links as much work as at the beginning. The rules of a file share
    /// [`JUMP_WORK_MAX`].
    pub fn renew_jump_work(&mut self) {
        self.jumps.work = 0;
    }

    /// Finds the links that rules allow, without those that are there already. The mesh is not
    /// changed, but for the work that is left; its hierarchy must be up to date.
    ///
    /// # Errors
    /// Returns an error if the mesh has too many edges, there is too much to compare jumps with, or
    /// the system cannot start another thread.
    pub fn find_jumps(
        &mut self,
        rules: &JumpRules,
        pool: &TaskPool,
    ) -> Result<Vec<JumpSettings>, Error> {
        let mut candidates = self.jump_candidates(rules)?;
        let left = JUMP_WORK_MAX.saturating_sub(self.jumps.work);
        let mut work = JumpWork { left, of_point: JUMP_POINT_WORK_MAX };
        let searched = self.find_ends(&mut candidates, rules, &mut work, pool);
        self.jumps.work = JUMP_WORK_MAX - work.left;
        searched?;
        let mut found = KnownJumps { spacing: rules.spacing, cells: HashMap::new() };
        for link in self.jumps.links.values() {
            found.add(link.from, link.to);
            if link.is_two_way {
                found.add(link.to, link.from);
            }
        }
        let mut links = Vec::new();
        for candidate in candidates {
            let (from, Some(to)) = (candidate.start.position, candidate.end) else { continue };
            if found.has(from, to) {
                continue;
            }
            let link = rules.link(from, to);
            found.add(from, to);
            if link.is_two_way {
                found.add(to, from);
            }
            links.push(link);
        }
        Ok(links)
    }

    /// Finds the ends of jumps. The result is the same on any number of threads.
    fn find_ends(
        &self,
        candidates: &mut [JumpCandidate],
        rules: &JumpRules,
        work: &mut JumpWork,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let (count, of_point) = (candidates.len(), work.of_point);
        // A point costs about as much as hundreds of items of other systems.
        let tasks = pool.tasks(count * 200)?;
        let (mut rest, mut most, mut cut) = (candidates, 0, 0);
        while !rest.is_empty() {
            if work.left == 0 {
                return Err(too_much_work(rules, count - rest.len(), count));
            }
            let round = work.left.checked_div(most).unwrap_or(ROUND_MIN);
            let round = round.clamp(ROUND_MIN, ROUND_MAX).min(rest.len());
            let (round, later) = rest.split_at_mut(round);
            tasks.each_slice(pool.task("navigation_jumps"), round, |_, piece| {
                let mut on_foot = FootSearch::default();
                for candidate in piece {
                    let mut budget = SightBudget(of_point);
                    candidate.end = self.jump_end(candidate, rules, &mut on_foot, &mut budget);
                    candidate.work = of_point - budget.0;
                }
                Ok(())
            })?;
            for candidate in round {
                work.left = work.left.saturating_sub(candidate.work);
                most = most.max(candidate.work);
                cut += usize::from(candidate.work >= of_point);
            }
            rest = later;
        }
        match cut {
            0 => Ok(()),
            cut => Err(error!(
                "the search for links{} has too much to compare jumps with at {cut} of {count} \
                 points: more than {of_point} polygons, triangles and obstacles \
                 (JUMP_POINT_WORK_MAX): reduce 'tile_cells', or use simpler shapes there",
                named(rules)
            )),
        }
    }

    /// Lists the points from which jumps are tried.
    fn jump_candidates(&self, rules: &JumpRules) -> Result<Vec<JumpCandidate>, Error> {
        let mut tries = Vec::new();
        for polygon in 0..self.num_polygons() as u32 {
            if !self.is_open(polygon) {
                continue;
            }
            self.each_wall(polygon, |a, b| {
                let along = (b - a).truncate();
                let outward = Vec2::new(along.y, -along.x).normalize_or_zero();
                let count = (along.length() / rules.spacing).clamp(1.0, 65_536.0) as usize;
                for at in 0..count.min(JUMP_TRIES_MAX + 1 - tries.len().min(JUMP_TRIES_MAX + 1)) {
                    let point = a.lerp(b, (at as f32 + 0.5) / count as f32);
                    let start =
                        NearestPolygon { polygon, position: self.constrain(polygon, point) };
                    tries.push(JumpCandidate { start, outward, end: None, work: 0 });
                }
            });
            if tries.len() > JUMP_TRIES_MAX {
                return Err(error!(
                    "the edges of the mesh have room for more than {JUMP_TRIES_MAX} jumps \
                     (JUMP_TRIES_MAX): increase 'spacing'"
                ));
            }
        }
        Ok(tries)
    }

    /// Returns the ground to which a jump leads.
    fn jump_end(
        &self,
        from: &JumpCandidate,
        rules: &JumpRules,
        on_foot: &mut FootSearch,
        budget: &mut SightBudget,
    ) -> Option<Vec3> {
        let JumpCandidate { start, outward, .. } = *from;
        let settings = self.settings();
        let stride = settings.cell_size.max(settings.radius * 0.5);
        let reach = rules.up.max(rules.down) + settings.cell_height;
        let count = (rules.distance / stride).clamp(1.0, 1e4) as usize;
        for at in 1..=count {
            let point = start.position + (outward * (at as f32 * stride)).extend(0.0);
            budget.spend(1 + self.polygons_around(point, stride * 0.5));
            if budget.is_spent() {
                return None;
            }
            let Some(end) = self.nearest(point, stride * 0.5, reach) else { continue };
            let flat = end.position.truncate().distance(start.position.truncate());
            let rise = end.position.z - start.position.z;
            let is_allowed = rules.allows(rise);
            if !self.is_open(end.polygon) && (is_allowed || rise.abs() <= settings.step) {
                // No jump leads over closed ground, such as that of a door.
                return None;
            }
            if !is_allowed || flat > rules.distance || !self.is_open(end.polygon) {
                continue;
            }
            // Ground around a corner of the same edge is no other side.
            budget.spend(RAY_WORK);
            let ray = self.raycast(start, end.position);
            if ray.wall.is_none() && !ray.is_cut && ray.polygon == end.polygon {
                continue;
            }
            budget.spend(WALK_WORK);
            if on_foot.can_walk(self, start, end) {
                continue;
            }
            let has_room = !self.is_obstacle_between(start.position, end.position, budget)
                && self.has_room(start.position, end.position, budget);
            return (has_room && !budget.is_spent()).then_some(end.position);
        }
        None
    }

    /// Returns the number of polygons of the tiles around a point.
    fn polygons_around(&self, point: Vec3, side: f32) -> usize {
        let (columns, rows) = self.layout.tiles_in(point - side, point + side);
        let in_row = |row: usize| {
            let first = row * self.layout.tiles_x;
            let count = self.tiles[first + columns.end] - self.tiles[first + columns.start];
            if columns.is_empty() { 0 } else { count as usize }
        };
        rows.map(in_row).sum()
    }

    /// Adds a link that was found for a file, whose number is below those of the game. Returns its
    /// number; `None` if there are too many.
    pub fn add_found_link(&mut self, link: JumpSettings) -> Option<u32> {
        let last = self.jumps.links.range(..=FILE_NUMBERS).next_back();
        let number = last.map_or(1, |(number, _)| number + 1);
        if self.jumps.links.len() >= LINKS_MAX || number > FILE_NUMBERS {
            return None;
        }
        self.jumps.links.insert(number, link);
        self.jumps.last = self.jumps.last.max(number);
        self.jumps.has_changed = true;
        Some(number)
    }
}

fn named(rules: &JumpRules) -> String {
    match rules.name.as_str() {
        "" => String::new(),
        name => format!(" '{name}'"),
    }
}

fn too_much_work(rules: &JumpRules, tried: usize, count: usize) -> Error {
    error!(
        "the search for links{} has too much to compare jumps with: more than {JUMP_WORK_MAX} \
         polygons, triangles and obstacles for all rules of the mesh (JUMP_WORK_MAX), after \
         {tried} of {count} points: increase 'spacing', or reduce 'distance'",
        named(rules)
    )
}

#[cfg(test)]
mod tests {
    use super::{JUMP_WORK_MAX, JumpRules, JumpWork};
    use crate::tests::scene;
    use engine_foundation::tasks::TaskPool;

    #[test]
    fn too_much_work_is_an_error_with_its_limit() {
        let (mesh, pool, rules) = (scene(48, 1), TaskPool::new(Some(1)), JumpRules::DEFAULT);
        let rules = JumpRules { spacing: 0.5, distance: 6.0, ..rules };
        let candidates = mesh.jump_candidates(&rules).unwrap();
        let search = |left: usize, of_point: usize| {
            let mut work = JumpWork { left, of_point };
            let result = mesh.find_ends(&mut candidates.clone(), &rules, &mut work, &pool);
            result.map_err(|error| error.message)
        };
        assert!(candidates.len() > 100, "{}", candidates.len());
        assert_eq!(search(JUMP_WORK_MAX, JUMP_WORK_MAX), Ok(()));
        let message = search(JUMP_WORK_MAX, 50).unwrap_err();
        assert!(message.contains("points: more than 50 "), "{message}");
        assert!(message.contains("(JUMP_POINT_WORK_MAX)"), "{message}");
        let message = search(2000, JUMP_WORK_MAX).unwrap_err();
        assert!(message.contains("(JUMP_WORK_MAX), after 64 of "), "{message}");
    }
}
