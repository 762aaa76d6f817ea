//! Random points to which a way leads from a position.

use super::mesh::{NavigationMesh, NearestPolygon, area};
use super::path::PolygonPath;
use super::queries::{FLOOD_POLYGONS_MAX, Flood, random_in};
use super::search::{SEARCH_NODES_DEFAULT, Searcher};
use engine_foundation::{Error, Vec2, Vec3, error};

/// Points anywhere on a mesh that are tried before the polygons that can be reached are listed.
const TRIES_ANYWHERE: usize = 8;
/// Points within a distance that are tried: the way to some of them bends, and is too long. All
/// their searches together visit so many nodes.
const TRIES_NEAR: usize = 512;
const TRIES_NODES: usize = 4 * SEARCH_NODES_DEFAULT;
/// Factor of the distance within which polygons are listed: the costs of the list are those of
/// one way into each polygon, and to a part of it a shorter one can lead.
const MARGIN: f32 = 1.5;

impl Flood {
    /// Returns a random point to which a way leads from a point, on polygons that can be entered.
    /// All such points are equally likely. `random` gives numbers from 0 to 1. With a distance, the
    /// way costs at most that much; the start is the result if no point is found in many tries.
    /// `None` if nothing can be reached.
    ///
    /// # Errors
    /// Returns an error if too many polygons are within the distance.
    pub fn random_reachable(
        &mut self,
        mesh: &NavigationMesh,
        (searcher, path): (&mut Searcher, &mut PolygonPath),
        start: NearestPolygon,
        distance: Option<f32>,
        mut random: impl FnMut() -> f64,
    ) -> Result<Option<NearestPolygon>, Error> {
        if let Some(distance) = distance {
            return self.random_near(mesh, (searcher, path), start, distance, random);
        }
        if let Some(here) = mesh.two_way_component(start.polygon) {
            // Most of a mesh can be reached from most of it.
            for _ in 0..TRIES_ANYWHERE {
                let found = mesh.random_point(&mut random);
                let is_near = |at: &NearestPolygon| {
                    mesh.two_way_component(at.polygon).is_some_and(|there| there == here)
                };
                if let Some(found) = found.filter(is_near) {
                    return Ok(Some(found));
                }
            }
        }
        let mut polygons = Vec::new();
        self.reach_all(mesh, start, &mut polygons);
        let open = polygons.iter().copied().filter(|polygon| mesh.is_open(*polygon));
        let sum: f64 = open.map(|polygon| f64::from(area(mesh.corners(polygon)))).sum();
        let polygon = mesh.polygon_by_area(polygons.iter().copied(), random() * sum);
        Ok(polygon.map(|polygon| {
            let flat = random_in(mesh.corners(polygon), &mut random);
            NearestPolygon { polygon, position: flat.extend(mesh.height(polygon, flat)) }
        }))
    }

    fn random_near(
        &mut self,
        mesh: &NavigationMesh,
        (searcher, path): (&mut Searcher, &mut PolygonPath),
        start: NearestPolygon,
        distance: f32,
        mut random: impl FnMut() -> f64,
    ) -> Result<Option<NearestPolygon>, Error> {
        let mut polygons = Vec::new();
        // Without room for the margin, those within the distance have to do.
        if !self.fill(mesh, start, distance * MARGIN, &mut polygons)
            && !self.fill(mesh, start, distance, &mut polygons)
        {
            return Err(error!(
                "more than {FLOOD_POLYGONS_MAX} polygons are within {distance} metres of {} \
                 (FLOOD_POLYGONS_MAX): use a smaller distance",
                start.position
            ));
        }
        // The parts of the polygons that can be near enough, so that few points are tried in vain.
        let reach = Vec2::splat(distance / mesh.least_cost());
        let middle = start.position.truncate();
        let mut parts: Vec<(u32, Vec<Vec3>, f64)> = Vec::new();
        let mut sum = 0.0;
        for (polygon, _) in polygons.into_iter().filter(|(polygon, _)| mesh.is_open(*polygon)) {
            let corners = clip(mesh.corners(polygon), middle - reach, middle + reach);
            let size = if corners.len() < 3 { 0.0 } else { f64::from(area(&corners)) };
            if size > 0.0 {
                sum += size;
                parts.push((polygon, corners, sum));
            }
        }
        let mut nodes = 0;
        for _ in 0..TRIES_NEAR {
            let wanted = random() * sum;
            let at = parts.partition_point(|(.., before)| *before <= wanted);
            let Some((polygon, corners, _)) = parts.get(at).or(parts.last()) else { break };
            let flat = random_in(corners, &mut random);
            if flat.distance(middle) > reach.x {
                continue;
            }
            let position = flat.extend(mesh.height(*polygon, flat));
            let found = NearestPolygon { polygon: *polygon, position };
            searcher.search(mesh, start, found, SEARCH_NODES_DEFAULT, path);
            nodes += searcher.num_nodes();
            let cost = || path.cost(mesh, start.position, position);
            if path.partial.is_none() && cost() <= distance {
                return Ok(Some(found));
            }
            if nodes > TRIES_NODES {
                break;
            }
        }
        Ok(mesh.is_open(start.polygon).then_some(start))
    }

    /// Lists the polygons to which a way leads from a point, with that of the point.
    fn reach_all(&mut self, mesh: &NavigationMesh, start: NearestPolygon, polygons: &mut Vec<u32>) {
        self.begin(mesh, start);
        polygons.clear();
        polygons.push(start.polygon);
        let mut next = 0;
        while let Some(polygon) = polygons.get(next).copied() {
            next += 1;
            for link in mesh.links(polygon).iter().filter(|link| mesh.can_follow(link)) {
                if self.mark(link.target) {
                    polygons.push(link.target);
                }
            }
        }
    }
}

impl NavigationMesh {
    /// Returns the connected component of a polygon, if all of it can be reached from the polygon
    /// in both directions. `None` if the polygon is closed, or the mesh has ways in one direction.
    fn two_way_component(&self, polygon: u32) -> Option<u32> {
        let is_known = self.has_hierarchy() && self.jumps.links.values().all(|it| it.is_two_way);
        let member = || self.hierarchy.members[polygon as usize];
        is_known.then(|| self.hierarchy.component(member())).flatten()
    }
}

/// Returns the part of a convex polygon that is within a rectangle, as seen from above (I. E.
/// Sutherland and G. W. Hodgman, "Reentrant polygon clipping", 1974).
fn clip(corners: &[Vec3], low: Vec2, high: Vec2) -> Vec<Vec3> {
    let mut part = corners.to_vec();
    for (axis, limit, sign) in
        [(0, low.x, 1.0), (0, high.x, -1.0), (1, low.y, 1.0), (1, high.y, -1.0)]
    {
        let inside = |corner: &Vec3| (corner[axis] - limit) * sign;
        let before = std::mem::take(&mut part);
        for (at, corner) in before.iter().enumerate() {
            let last = &before[if at == 0 { before.len() - 1 } else { at - 1 }];
            let (here, there) = (inside(corner), inside(last));
            if (here >= 0.0) != (there >= 0.0) {
                part.push(last.lerp(*corner, there / (there - here)));
            }
            if here >= 0.0 {
                part.push(*corner);
            }
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jumps::JumpSettings;
    use crate::test_worlds::{pillars, world};
    use engine_foundation::random::Random;
    use engine_foundation::tasks::TaskPool;

    #[derive(Default)]
    struct Memory {
        flood: Flood,
        searcher: Searcher,
        path: PolygonPath,
    }

    impl Memory {
        fn point(
            &mut self,
            mesh: &NavigationMesh,
            start: NearestPolygon,
            distance: Option<f32>,
            random: &mut Random,
        ) -> Option<NearestPolygon> {
            let Memory { flood, searcher, path } = self;
            let next = || random.next_f64();
            flood.random_reachable(mesh, (searcher, path), start, distance, next).unwrap()
        }

        fn cost(&mut self, mesh: &NavigationMesh, from: NearestPolygon, to: NearestPolygon) -> f32 {
            self.searcher.search(mesh, from, to, SEARCH_NODES_DEFAULT, &mut self.path);
            match self.path.partial {
                None => self.path.cost(mesh, from.position, to.position),
                Some(_) => f32::INFINITY,
            }
        }
    }

    fn near(mesh: &NavigationMesh, x: f32, y: f32) -> NearestPolygon {
        mesh.nearest(Vec3::new(x, y, 0.4), 3.0, 2.0).unwrap()
    }

    /// Two halves without a way between them: the left one has a quarter of the columns.
    fn halves() -> NavigationMesh {
        world(2, 3, |x, _, _| x == 4)
    }

    #[test]
    fn points_are_on_the_part_of_the_mesh_that_can_be_reached() {
        let mut mesh = halves();
        let (mut memory, mut random) = (Memory::default(), Random::seed(5));
        let (left, right) = (near(&mesh, 2.0, 14.0), near(&mesh, 20.0, 14.0));
        for _ in 0..300 {
            let found = memory.point(&mesh, left, None, &mut random).unwrap();
            assert!(found.position.x < 8.0, "{found:?}");
            let found = memory.point(&mesh, right, None, &mut random).unwrap();
            assert!(found.position.x > 8.0, "{found:?}");
        }
        // A link in one direction joins them, for those on the left.
        mesh.add_link(JumpSettings {
            name: String::new(),
            from: left.position,
            to: right.position,
            cost: 1.0,
            is_two_way: false,
            is_manual: false,
        });
        mesh.rebuild(&TaskPool::new(Some(1))).unwrap();
        mesh.update_hierarchy(&TaskPool::new(Some(1))).unwrap();
        let (left, right) = (near(&mesh, 2.0, 14.0), near(&mesh, 20.0, 14.0));
        let mut crossed = 0;
        for _ in 0..300 {
            let found = memory.point(&mesh, left, None, &mut random).unwrap();
            crossed += usize::from(found.position.x > 8.0);
            let found = memory.point(&mesh, right, None, &mut random).unwrap();
            assert!(found.position.x > 8.0, "{found:?}");
        }
        // By area: eleven of the fifteen columns that are left.
        assert!((190..250).contains(&crossed), "{crossed}");
    }

    #[test]
    fn points_are_equally_likely() {
        let mesh = world(1, 8, |_, _, _| false);
        let (mut memory, mut random) = (Memory::default(), Random::seed(1));
        let start = near(&mesh, 7.0, 7.0);
        for distance in [None, Some(100.0)] {
            let mut quarters = [0; 4];
            for _ in 0..2000 {
                let at = memory.point(&mesh, start, distance, &mut random).unwrap().position;
                quarters[usize::from(at.x > 7.2) + 2 * usize::from(at.y > 7.2)] += 1;
            }
            assert!(quarters.iter().all(|count| (430..570).contains(count)), "{quarters:?}");
        }
        // Within a circle: as many in its inner half as its area says.
        let mut inner = 0;
        for _ in 0..2000 {
            let at = memory.point(&mesh, start, Some(4.0), &mut random).unwrap().position;
            let away = at.distance(start.position);
            assert!(away <= 4.001, "{away}");
            inner += usize::from(away < 2.0);
        }
        assert!((430..570).contains(&inner), "{inner}");
    }

    #[test]
    fn all_locations_within_the_distance_are_drawn() {
        const CELLS: usize = 24;
        let cell = |at: Vec3| (at.x * 0.5) as usize + CELLS * (at.y * 0.5) as usize;
        let (mut memory, mut random) = (Memory::default(), Random::seed(12));
        for seed in 0..12 {
            let mesh = pillars(3, seed, [0.03, 0.06, 0.12][seed as usize % 3]);
            let start = near(&mesh, 20.0, 20.0);
            // Points anywhere, of which those count whose way is short enough.
            let mut expected = vec![0; CELLS * CELLS];
            for _ in 0..6000 {
                let found = mesh.random_point(|| random.next_f64()).unwrap();
                if found.position.distance(start.position) <= 12.0
                    && memory.cost(&mesh, start, found) <= 12.0
                {
                    expected[cell(found.position)] += 1;
                }
            }
            let all: usize = expected.iter().sum();
            let mut drawn = vec![0; CELLS * CELLS];
            for _ in 0..all * 2 {
                let found = memory.point(&mesh, start, Some(12.0), &mut random).unwrap();
                drawn[cell(found.position)] += 1;
            }
            for (at, expected) in expected.iter().enumerate().filter(|(_, count)| **count >= 10) {
                assert!(drawn[at] * 2 >= *expected, "{seed}: {at}, {} {expected}", drawn[at]);
            }
        }
    }

    #[test]
    fn ways_to_points_are_within_the_distance() {
        let mut mesh = pillars(3, 5, 0.3);
        let (mut memory, mut random) = (Memory::default(), Random::seed(9));
        let mut far = 0;
        for round in 0..200 {
            let start = mesh.random_point(|| random.next_f64()).unwrap();
            let distance = [0.0, 0.1, 3.0, 15.0][round % 4];
            let found = memory.point(&mesh, start, Some(distance), &mut random).unwrap();
            let cost = memory.cost(&mesh, start, found);
            assert!(cost <= distance, "{cost} {distance}");
            far += usize::from(cost > distance * 0.5);
        }
        // A quarter have distance 0; of the others, three of four are in the outer half.
        assert!(far > 80, "{far}");
        // Equal numbers are equal points, and closed ground is no result.
        let start = near(&mesh, 20.0, 20.0);
        let mut draw = |seed| memory.point(&mesh, start, Some(9.0), &mut Random::seed(seed));
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
        for polygon in 0..mesh.num_polygons() as u32 {
            mesh.set_obstructed(polygon, true);
        }
        mesh.update_hierarchy(&TaskPool::new(Some(1))).unwrap();
        for distance in [None, Some(9.0)] {
            assert_eq!(memory.point(&mesh, start, distance, &mut random), None);
        }
    }
}
