//! Landmarks: sides of the hierarchy whose distances to all others are known. The difference of the
//! distances of two places from a landmark is a lower bound of the way between them (A. V. Goldberg
//! and C. Harrelson, "Computing the Shortest Path: A* Search Meets Graph Theory", 2005). Between
//! walls, it is much nearer to the way than the straight line. The distances are computed in parts,
//! while the mesh does not change.

use super::clusters::Member;
use super::hierarchy::Hierarchy;
use super::mesh::NavigationMesh;
use super::portals::NO_WAY;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of landmarks.
pub(super) const LANDMARKS: usize = 8;
/// Landmarks at the corners of the mesh; the others are far from these.
const CORNERS: usize = 4;
/// Number of sides that an update visits.
pub const LANDMARK_NODES: usize = 256;

/// Distances of all sides from the landmarks. They follow from the hierarchy.
#[derive(Clone, Debug, Default)]
pub(super) struct Landmarks {
    /// Distances by side; infinite for those that no way joins.
    distances: Vec<[f32; LANDMARKS]>,
    /// Number of landmarks whose distances are complete.
    count: usize,
    /// Sides that are visited next for the landmark that is not complete.
    heap: BinaryHeap<Reverse<u64>>,
    /// True if there are no more landmarks, or ways in one direction, for which there are none.
    is_done: bool,
}

impl PartialEq for Landmarks {
    fn eq(&self, _: &Landmarks) -> bool {
        true
    }
}

impl Landmarks {
    /// Returns the distances of a side from the landmarks that are complete.
    #[inline]
    pub fn of(&self, side: u32) -> &[f32] {
        match self.count {
            0 => &[],
            count => &self.distances[side as usize][..count],
        }
    }
}

/// Returns the order of an entry: by distance, then by side.
fn key(distance: f32, side: u32) -> u64 {
    u64::from(distance.to_bits()) << 32 | u64::from(side)
}

impl Hierarchy {
    /// Goes on with the distances from landmarks, at most for a number of sides.
    fn advance_landmarks(&mut self, sides: usize) {
        let mut landmarks = std::mem::take(&mut self.landmarks);
        let mut left = sides;
        while left > 0 && !landmarks.is_done {
            if landmarks.heap.is_empty() && !self.begin_landmark(&mut landmarks) {
                break;
            }
            let number = landmarks.count;
            while left > 0
                && let Some(Reverse(top)) = landmarks.heap.pop()
            {
                let (distance, at) = (f32::from_bits((top >> 32) as u32), top as u32);
                if distance > landmarks.distances[at as usize][number] {
                    continue;
                }
                left -= 1;
                let cluster = self.sides[at as usize].cluster;
                let (first, sides) = (self.first_side[cluster as usize], self.sides_of(cluster));
                let row = (at - first) as usize * sides.len();
                let costs = &self.tables[cluster as usize].costs[row..row + sides.len()];
                for (side, within) in sides.iter().zip(costs) {
                    let distance = distance + within + side.cross;
                    let known = &mut landmarks.distances[side.twin as usize][number];
                    if distance < *known {
                        *known = distance;
                        landmarks.heap.push(Reverse(key(distance, side.twin)));
                    }
                }
            }
            if landmarks.heap.is_empty() {
                landmarks.count += 1;
                landmarks.is_done = landmarks.count == LANDMARKS;
            }
        }
        self.landmarks = landmarks;
    }

    /// Chooses the next landmark. Returns false if there is none.
    fn begin_landmark(&self, landmarks: &mut Landmarks) -> bool {
        if landmarks.distances.is_empty() {
            landmarks.distances = vec![[f32::INFINITY; LANDMARKS]; self.sides.len()];
        }
        let is_one_way = self.sides.iter().any(|side| side.ordinal == NO_WAY);
        let largest = if is_one_way { None } else { self.largest_component() };
        let number = landmarks.count;
        let of_largest = (0..).zip(&self.sides).filter(|(_, side)| {
            let member = Member { cluster: side.cluster, local: side.local };
            largest.is_some() && self.component(member) == largest
        });
        let far = of_largest.map(|(at, side): (u32, _)| {
            let (x, y) = (side.point.x, side.point.y);
            let away = match number {
                0 => x + y,
                1 => -x - y,
                2 => x - y,
                3 => y - x,
                _ => landmarks.of(at).iter().copied().fold(f32::INFINITY, f32::min),
            };
            (away, at)
        });
        // Not all sides of a component need to have a way between clusters.
        let far = far.filter(|(away, _)| away.is_finite());
        let chosen = far.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some((_, at)) = chosen.filter(|(away, _)| number < CORNERS || *away > 0.0) else {
            landmarks.is_done = true;
            return false;
        };
        for at in [at, self.sides[at as usize].twin] {
            landmarks.distances[at as usize][number] = 0.0;
            landmarks.heap.push(Reverse(key(0.0, at)));
        }
        true
    }

    /// Returns the component of the mesh that has the most sides.
    fn largest_component(&self) -> Option<u32> {
        let mut counts = std::collections::BTreeMap::new();
        for side in &self.sides {
            let member = Member { cluster: side.cluster, local: side.local };
            if let Some(component) = self.component(member) {
                *counts.entry(component).or_insert(0u32) += 1;
            }
        }
        let largest = counts.into_iter().max_by_key(|(component, count)| (*count, !*component));
        largest.map(|(component, _)| component)
    }
}

impl NavigationMesh {
    /// Goes on with the preparation of searches over long distances, which are faster in mazes
    /// then. It takes some updates, in which the mesh has to stay as it is.
    pub fn advance_landmarks(&mut self, sides: usize) {
        if self.has_hierarchy() {
            self.hierarchy.advance_landmarks(sides);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::PolygonPath;
    use crate::search::Searcher;
    use crate::test_worlds::{pillars, rooms};
    use engine_foundation::random::Random;
    use engine_foundation::tasks::TaskPool;

    #[test]
    fn landmarks_make_searches_shorter_and_paths_no_longer() {
        let pool = TaskPool::new(Some(1));
        for (mut mesh, most) in [(rooms(24, 3), 0.6), (pillars(24, 3, 0.2), 1.05)] {
            let mut random = Random::seed(5);
            let points: Vec<_> =
                (0..80).map(|_| mesh.random_point(|| random.next_f64()).unwrap()).collect();
            let mut results = Vec::new();
            for _ in 0..2 {
                let (mut nodes, mut length) = (0, 0.0);
                let (mut searcher, mut path) = (Searcher::default(), PolygonPath::default());
                let mut corners = crate::search::PointPath::default();
                for pair in points.chunks(2) {
                    searcher.search(&mesh, pair[0], pair[1], 100_000, &mut path);
                    path.find_corners(&mesh, pair[0], pair[1], 1000, &mut corners);
                    (nodes, length) = (nodes + searcher.num_nodes(), length + corners.length());
                }
                results.push((nodes as f32, length));
                mesh.advance_landmarks(usize::MAX);
            }
            let [(before, length), (after, with_landmarks)] = results[..] else { panic!("two") };
            assert!(after < before * most, "{before} to {after} nodes");
            assert!(with_landmarks <= length * 1.005, "{length} to {with_landmarks} metres");
            // A change ends them, until they are computed again.
            let polygon = points[0].polygon;
            mesh.set_obstructed(polygon, true);
            mesh.update_hierarchy(&pool).unwrap();
            assert!(mesh.hierarchy.landmarks.of(0).is_empty());
        }
    }

    #[test]
    fn landmarks_are_the_same_in_any_parts() {
        let (mut whole, mut parts) = (rooms(8, 1), rooms(8, 1));
        whole.advance_landmarks(usize::MAX);
        for _ in 0..10_000 {
            parts.advance_landmarks(7);
        }
        assert!(whole.hierarchy.landmarks.is_done && parts.hierarchy.landmarks.is_done);
        assert_eq!(whole.hierarchy.landmarks.distances, parts.hierarchy.landmarks.distances);
        assert_eq!(whole.hierarchy.landmarks.count, LANDMARKS);
    }
}
