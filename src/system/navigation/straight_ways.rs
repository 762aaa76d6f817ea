//! Straight ways between two points of a mesh: why one cannot go straight, and whether a path that
//! was found before can still be walked.

use super::mesh::{NavigationMesh, NearestPolygon};
use super::path::{PointPath, PolygonPath};
use super::queries::SNAP_DISTANCE;
use super::rays::RayEnd;
use super::search::{SEARCH_NODES_DEFAULT, Searcher};
use engine_foundation::Vec3;

/// Distance to the side at which a point is still on the ground, as a part of a cell.
const ON_GROUND: f32 = 0.01;
/// The same for the points of a path: ground that was built again has slightly other edges.
const ON_PATH: f32 = 0.5;
/// Part of the height of characters by which ground at the same place can differ, and is the same.
const SAME_GROUND: f32 = 0.5;
/// Length by which the way between two points is longer than the straight one, in metres, if it
/// only passes corners that this touches. Far from the origin, numbers are coarser: it is at least
/// this part of the largest coordinate.
const STRAIGHT_SLACK: f32 = 1e-3;
const STRAIGHT_SLACK_PART: f32 = 4.0 * f32::EPSILON;
/// Nodes that a search for the way past such corners may visit, and all those of a path together.
const LEG_NODES: usize = 4096;
const PATH_NODES: usize = SEARCH_NODES_DEFAULT;

/// Reason why a character cannot go straight to a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotStraight {
    /// No ground is at one of the points.
    OffMesh,
    /// The edge of the mesh, or a closed polygon, is between them.
    Edge,
    /// The way leads below or above the point.
    Height,
}

impl NotStraight {
    /// Returns the name for scripts.
    pub fn name(self) -> &'static str {
        match self {
            NotStraight::OffMesh => "off_mesh",
            NotStraight::Edge => "edge",
            NotStraight::Height => "height",
        }
    }
}

impl NavigationMesh {
    /// Returns why a character cannot go straight from the start of a way that was followed to a
    /// position; `None` if it can. The ground at both must be open.
    pub fn cannot_go(&self, start: NearestPolygon, end: &RayEnd, to: Vec3) -> Option<NotStraight> {
        let reason = self.not_straight(end, to);
        let is_open = || self.is_open_at(start.position) && self.is_open_at(to);
        if reason.is_none() && !is_open() { Some(NotStraight::Edge) } else { reason }
    }

    /// Returns true if the ground at a position is open. Where polygons meet, one is enough.
    fn is_open_at(&self, position: Vec3) -> bool {
        let Some(ground) = self.ground_at(position, ON_GROUND) else { return false };
        let settings = self.settings();
        let (side, up) = (settings.cell_size * ON_GROUND, settings.height * SAME_GROUND);
        let is_open = |polygon| self.is_open(polygon);
        is_open(ground.polygon) || self.nearest_among(ground.position, side, up, is_open).is_some()
    }

    /// Returns why a straight way that was followed does not lead to a position; `None` if it does.
    fn not_straight(&self, end: &RayEnd, to: Vec3) -> Option<NotStraight> {
        if end.wall.is_some() || end.is_cut {
            return Some(NotStraight::Edge);
        }
        let ground = self.ground_at(to, ON_GROUND);
        let apart = ground.map_or(f32::INFINITY, |at| (at.position.z - end.position.z).abs());
        (apart > self.settings().height * SAME_GROUND).then_some(NotStraight::Height)
    }

    /// Returns the ground below or above a position, within a part of a cell to the side.
    fn ground_at(&self, position: Vec3, cells: f32) -> Option<NearestPolygon> {
        let settings = self.settings();
        self.nearest(position, settings.cell_size * cells, SNAP_DISTANCE.max(settings.height))
    }

    /// Returns the ground at a point of a path. Where polygons meet, an open one comes first.
    fn path_ground(&self, position: Vec3) -> Option<NearestPolygon> {
        let settings = self.settings();
        let (side, up) = (settings.cell_size * ON_PATH, SNAP_DISTANCE.max(settings.height));
        let open = self.nearest_among(position, side, up, |polygon| self.is_open(polygon));
        open.or_else(|| self.ground_at(position, ON_PATH))
    }

    /// Returns the index of the first point of a path from which no character can go on to the next
    /// one: over open ground, on which the next point is, or over a link that joins both. `None` if
    /// all of the path can be walked, or it has no points. Ways that touch the corners of walls are
    /// searched, within a number of nodes for all of the path.
    pub fn first_bad_leg(
        &self,
        memory: (&mut Searcher, &mut PolygonPath),
        points: &[Vec3],
    ) -> Option<usize> {
        self.bad_leg_within(memory, points, PATH_NODES)
    }

    fn bad_leg_within(
        &self,
        (searcher, path): (&mut Searcher, &mut PolygonPath),
        points: &[Vec3],
        mut nodes: usize,
    ) -> Option<usize> {
        if let [point] = points {
            let ground = self.path_ground(*point);
            return ground.is_none_or(|at| !self.is_open(at.polygon)).then_some(0);
        }
        (0..points.len().saturating_sub(1)).find(|at| {
            let (from, to) = (points[*at], points[*at + 1]);
            !self.can_jump(from, to) && !self.can_walk((searcher, path), from, to, &mut nodes)
        })
    }

    /// Returns true if a character can go straight from a point of a path to the next one. Takes
    /// what a search has visited from the nodes that are left.
    fn can_walk(
        &self,
        (searcher, path): (&mut Searcher, &mut PolygonPath),
        from: Vec3,
        to: Vec3,
        nodes: &mut usize,
    ) -> bool {
        let ends = [from, to].map(|point| self.path_ground(point));
        let [Some(from), Some(to)] = ends else { return false };
        if !self.is_open(to.polygon) {
            return false;
        }
        let end = self.raycast(from, to.position);
        if self.not_straight(&end, to.position).is_none() {
            return true;
        }
        // Paths touch the corners of walls. A ray can end there, but the way past them is hardly
        // longer.
        if *nodes == 0 {
            return false;
        }
        searcher.search(self, from, to, LEG_NODES.min(*nodes), path);
        *nodes = nodes.saturating_sub(searcher.num_nodes().max(1));
        if path.partial.is_some() || path.links.iter().any(|at| self.links[*at as usize].is_jump())
        {
            return false;
        }
        let mut corners = PointPath::default();
        path.find_corners(self, from, to, usize::MAX, &mut corners);
        let largest = from.position.abs().max(to.position.abs()).max_element();
        let slack = STRAIGHT_SLACK.max(largest * STRAIGHT_SLACK_PART);
        corners.length() <= from.position.distance(to.position) + slack
    }

    /// Returns true if a link that can be used joins two points.
    fn can_jump(&self, from: Vec3, to: Vec3) -> bool {
        let near = self.settings().cell_size;
        self.jumps.ways.usable.iter().any(|jump| {
            jump.cost < f32::INFINITY
                && self.is_open(jump.target)
                && jump.start.distance(from) <= near
                && jump.end.distance(to) <= near
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::{BakeSettings, BakeSource};
    use crate::jumps::JumpSettings;
    use crate::test_worlds::{pillars, rooms};
    use engine_foundation::random::Random;
    use engine_foundation::tasks::TaskPool;

    fn pool() -> TaskPool {
        TaskPool::new(Some(1))
    }

    fn bad_leg(mesh: &NavigationMesh, points: &[Vec3]) -> Option<usize> {
        mesh.first_bad_leg((&mut Searcher::default(), &mut PolygonPath::default()), points)
    }

    fn points_of(mesh: &NavigationMesh, from: NearestPolygon, to: NearestPolygon) -> PointPath {
        let (mut path, mut points) = (PolygonPath::default(), PointPath::default());
        Searcher::default().search(mesh, from, to, SEARCH_NODES_DEFAULT, &mut path);
        path.find_corners(mesh, from, to, 10_000, &mut points);
        points
    }

    /// Two floors of 20 by 20 metres, 4 metres apart.
    fn floors() -> NavigationMesh {
        let corners = [(0.0, 0.0), (20.0, 0.0), (20.0, 20.0), (0.0, 20.0)];
        let at = |z: f32| corners.map(|(x, y)| Vec3::new(x, y, z));
        let points = [at(0.0), at(4.0)].concat();
        let triangles = vec![[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]];
        let source = BakeSource::new(points, triangles).unwrap();
        NavigationMesh::bake(source, BakeSettings::DEFAULT, &pool()).unwrap()
    }

    fn straight(mesh: &NavigationMesh, from: Vec3, to: Vec3) -> Option<NotStraight> {
        mesh.not_straight(&mesh.raycast(mesh.snap(from).unwrap(), to), to)
    }

    #[test]
    fn straight_ways_end_at_the_height_of_the_point() {
        let mesh = floors();
        let (low, high) = (Vec3::new(3.0, 3.0, 0.0), Vec3::new(16.0, 12.0, 4.0));
        assert_eq!(straight(&mesh, low, high.truncate().extend(0.0)), None);
        assert_eq!(straight(&mesh, low, high.truncate().extend(1.4)), None);
        assert_eq!(straight(&mesh, low, high), Some(NotStraight::Height));
        assert_eq!(straight(&mesh, low, high.truncate().extend(3.0)), Some(NotStraight::Height));
        assert_eq!(straight(&mesh, low, high.truncate().extend(99.0)), Some(NotStraight::Height));
        assert_eq!(straight(&mesh, high, low), Some(NotStraight::Height));
        assert_eq!(straight(&mesh, high, low + Vec3::Z * 4.0), None);
        assert_eq!(straight(&mesh, low, Vec3::new(3.0, 30.0, 0.0)), Some(NotStraight::Edge));
    }

    #[test]
    fn paths_stay_valid_until_something_is_in_their_way() {
        for mut mesh in [pillars(3, 2, 0.3), rooms(3, 4)] {
            let (mut random, mut closed) = (Random::seed(4), 0);
            for _ in 0..150 {
                let mut any = || mesh.random_point(|| random.next_f64()).unwrap();
                let (from, to) = (any(), any());
                let points = points_of(&mesh, from, to).points;
                assert_eq!(bad_leg(&mesh, &points), None, "{points:?}");
                // A polygon in the middle of a leg closes, and opens again.
                let at = random.next_f64() * (points.len() - 1) as f64;
                let leg = (at as usize).min(points.len().saturating_sub(2));
                let Some(next) = points.get(leg + 1) else { continue };
                let middle = points[leg].lerp(*next, 0.5);
                let Some(door) = mesh.nearest(middle, 0.01, 2.0) else { continue };
                // A leg along the edge of the polygon does not need it.
                let is_inside = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y].into_iter().all(|side| {
                    let near = mesh.nearest(middle + side * 0.3, 0.01, 2.0);
                    near.is_some_and(|near| near.polygon == door.polygon)
                });
                if !is_inside || door.polygon == from.polygon {
                    continue;
                }
                mesh.set_obstructed(door.polygon, true);
                mesh.update_hierarchy(&pool()).unwrap();
                let bad = bad_leg(&mesh, &points);
                assert!(bad.is_some_and(|bad| bad <= leg), "{bad:?} {leg} {points:?}");
                mesh.set_obstructed(door.polygon, false);
                mesh.update_hierarchy(&pool()).unwrap();
                assert_eq!(bad_leg(&mesh, &points), None);
                closed += 1;
            }
            assert!(closed > 40, "{closed}");
        }
    }

    #[test]
    fn ground_at_both_ends_must_be_open() {
        let mut mesh = rooms(2, 4);
        let mut random = Random::seed(8);
        let mut any = || mesh.random_point(|| random.next_f64()).unwrap();
        let starts: Vec<NearestPolygon> = (0..20).map(|_| any()).collect();
        for start in starts {
            let corners = mesh.corners(start.polygon);
            let sum: Vec3 = corners.iter().copied().sum();
            let middle = sum / corners.len() as f32;
            let to = start.position.lerp(middle, 0.5);
            let reason =
                |mesh: &NavigationMesh| mesh.cannot_go(start, &mesh.raycast(start, to), to);
            assert_eq!(reason(&mesh), None);
            mesh.set_obstructed(start.polygon, true);
            assert_eq!(reason(&mesh), Some(NotStraight::Edge));
            mesh.set_obstructed(start.polygon, false);
        }
    }

    #[test]
    fn searches_past_corners_have_nodes_for_the_whole_path() {
        let mesh = pillars(3, 2, 0.3);
        let (mut random, mut searched) = (Random::seed(6), 0);
        for _ in 0..150 {
            let mut any = || mesh.random_point(|| random.next_f64()).unwrap();
            let points = points_of(&mesh, any(), any()).points;
            for leg in points.windows(2) {
                let (mut searcher, mut path) = (Searcher::default(), PolygonPath::default());
                assert_eq!(mesh.first_bad_leg((&mut searcher, &mut path), leg), None);
                let nodes = searcher.num_nodes();
                if nodes == 0 {
                    continue;
                }
                searched += 1;
                let way = [leg[0], leg[1], leg[0], leg[1], leg[0], leg[1], leg[0], leg[1]];
                let memory = (&mut searcher, &mut path);
                let bad = mesh.bad_leg_within(memory, &way, nodes + 1);
                assert!(bad.is_some_and(|bad| bad > 0 && bad < 5), "{bad:?} {nodes}");
                assert_eq!(bad_leg(&mesh, &way[..2]), None);
            }
        }
        assert!(searched > 3, "{searched}");
    }

    #[test]
    fn legs_over_links_are_valid_while_the_link_is_there() {
        let mut mesh = floors();
        let ground = |mesh: &NavigationMesh, x, z| mesh.snap(Vec3::new(x, 10.0, z)).unwrap();
        let link = mesh.add_link(JumpSettings {
            name: String::new(),
            from: Vec3::new(15.0, 10.0, 0.0),
            to: Vec3::new(12.0, 10.0, 4.0),
            cost: 1.0,
            is_two_way: false,
            is_manual: false,
        });
        mesh.rebuild(&pool()).unwrap();
        mesh.update_hierarchy(&pool()).unwrap();
        let points = points_of(&mesh, ground(&mesh, 3.0, 0.0), ground(&mesh, 5.0, 4.0)).points;
        assert_eq!(points.len(), 4);
        assert_eq!(bad_leg(&mesh, &points), None);
        // No search is needed for them.
        let mut searcher = Searcher::default();
        let memory = (&mut searcher, &mut PolygonPath::default());
        assert_eq!(mesh.first_bad_leg(memory, &points[1..3]), None);
        assert_eq!(searcher.num_nodes(), 0);
        let back: Vec<Vec3> = points.iter().rev().copied().collect();
        assert_eq!(bad_leg(&mesh, &back), Some(1));
        // A leg that leads to the other floor without the link is none.
        assert_eq!(bad_leg(&mesh, &[points[0], points[3]]), Some(0));
        mesh.remove_link(link.unwrap());
        mesh.rebuild(&pool()).unwrap();
        mesh.update_hierarchy(&pool()).unwrap();
        assert_eq!(bad_leg(&mesh, &points), Some(1));
        assert_eq!(bad_leg(&mesh, &points[2..]), None);
        assert_eq!(bad_leg(&mesh, &points[..1]), None);
        assert_eq!(bad_leg(&mesh, &[Vec3::new(3.0, 90.0, 0.0)]), Some(0));
        assert_eq!(bad_leg(&mesh, &[points[0], Vec3::new(3.0, 90.0, 0.0)]), Some(0));
        assert_eq!(bad_leg(&mesh, &[]), None);
    }
}
