//! Dead ends: parts of a mesh whose polygons branch like a tree, and that one polygon connects with
//! the rest. The way from a point outside to another one outside never leads into them, so searches
//! leave them out. Parts with one way in whose polygons form a cycle, such as rooms around a
//! pillar, are not marked. Closed polygons change nothing of that: without them, there are more
//! dead ends, not fewer.

use super::mesh::NavigationMesh;

impl NavigationMesh {
    /// Gives the polygons of each dead end a number of its own, and 0 to all others. Different dead
    /// ends can have the same number: then searches look into both.
    pub(super) fn mark_dead_ends(&mut self) {
        self.polygons.iter_mut().for_each(|polygon| polygon.dead_end = 0);
        // Links in one direction would have to be counted at both ends.
        if self.has_jumps() {
            return;
        }
        // From each end inwards: what has one way left is a dead end behind the polygon to which
        // that leads.
        let mut ways: Vec<u16> = self.polygons.iter().map(|polygon| polygon.links).collect();
        let ends = (0..ways.len() as u32).filter(|polygon| ways[*polygon as usize] == 1);
        let mut order: Vec<u32> = ends.collect();
        let (mut next, mut last) = (0, Vec::new());
        while let Some(polygon) = order.get(next).copied() {
            next += 1;
            // The last one of a part without cycles connects all others.
            if std::mem::take(&mut ways[polygon as usize]) == 0 {
                last.push(polygon);
                continue;
            }
            for link in self.links(polygon) {
                let near = &mut ways[link.target as usize];
                *near = near.saturating_sub(1);
                if *near == 1 {
                    order.push(link.target);
                }
            }
        }
        // From their entrances outwards. Those that were taken away before lead outwards.
        let mut marks = vec![u32::MAX; self.polygons.len()];
        (0..).zip(&order).for_each(|(at, polygon)| marks[*polygon as usize] = at);
        for (at, polygon) in (0..order.len() as u32).zip(&order).rev() {
            let inner = self.links(*polygon).iter().map(|link| link.target);
            let inner = inner.filter(|near| marks[*near as usize] > at).min();
            let known = inner.map_or(0, |near| self.polygons[near as usize].dead_end);
            let number = if known == 0 { (at % u32::from(u16::MAX)) as u16 + 1 } else { known };
            self.polygons[*polygon as usize].dead_end = number;
            if last.last() == Some(polygon) {
                last.pop();
                self.polygons[*polygon as usize].dead_end = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::mesh::NavigationMesh;
    use crate::search::{PointPath, PolygonPath, Searcher};
    use crate::test_worlds::world;
    use engine_foundation::random::Random;
    use engine_foundation::tasks::TaskPool;

    #[test]
    fn searches_leave_dead_ends_out_and_find_the_same_ways() {
        let build = || world(3, 5, |_, _, random| random.next_f64() < 0.38);
        let (mut mesh, mut plain) = (build(), build());
        let mut random = Random::seed(3);
        let points = [(); 60].map(|()| mesh.random_point(|| random.next_f64()).unwrap());
        for is_closed in [false, true] {
            // Doors leave dead ends as they are.
            for mesh in [&mut mesh, &mut plain] {
                let doors = (0..mesh.num_polygons() as u32).step_by(17);
                doors.for_each(|polygon| mesh.set_obstructed(polygon, is_closed));
                mesh.update_hierarchy(&TaskPool::new(Some(1))).unwrap();
            }
            plain.polygons.iter_mut().for_each(|polygon| polygon.dead_end = 0);
            let (mut searcher, mut nodes, mut lengths) = (Searcher::default(), [0; 2], [0.0; 2]);
            let mut search = |mesh: &NavigationMesh, (from, to), at: usize| {
                let (mut path, mut corners) = (PolygonPath::default(), PointPath::default());
                searcher.search(mesh, from, to, usize::MAX, &mut path);
                searcher.corners(mesh, &path, usize::MAX, &mut corners);
                nodes[at] += searcher.num_nodes();
                lengths[at] += f64::from(corners.length());
                path.partial
            };
            for from in points {
                for to in points {
                    let found = search(&mesh, (from, to), 0);
                    assert_eq!(found, search(&plain, (from, to), 1));
                }
            }
            // Some of the plain searches give up, and use the hierarchy.
            assert!(lengths[0] <= lengths[1] * 1.0001, "{lengths:?}");
            assert!(nodes[0] < nodes[1], "{nodes:?}");
        }
    }
}
