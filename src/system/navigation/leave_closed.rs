//! The way out of ground that is closed: for an agent in an area that is closed for it, or on a
//! polygon that was closed under it.

use super::cone::Cone;
use super::mesh::{NavigationMesh, NearestPolygon};
use engine_foundation::Vec3;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Closed polygons that are searched for the way out. An agent that is deeper inside stays there.
const LEAVE_POLYGONS_MAX: usize = 1024;

/// The way out of closed ground.
#[derive(Debug)]
pub(super) struct WayOut {
    /// Closed polygons, with the links that lead out of them; the start is the first one.
    pub closed: Vec<(u32, u32)>,
    /// Open ground at its end.
    pub outside: NearestPolygon,
}

/// Polygon that can be reached through closed ones.
struct Reached {
    polygon: u32,
    position: Vec3,
    /// The polygon before, by its number, and the link that leads here.
    before: usize,
    link: u32,
}

impl NavigationMesh {
    /// Returns true if an agent may walk from a polygon to another one: onto open ground, and from
    /// closed ground also onto ground whose area is closed, so that it can leave the area. A
    /// polygon that was closed itself is never entered.
    pub(super) fn can_cross(&self, from: u32, to: u32) -> bool {
        let target = &self.polygons[to as usize];
        let is_area = !target.is_obstructed && !target.is_left_out;
        self.is_open(to) || is_area && !self.is_open(from)
    }

    /// Returns the way out of a closed polygon: over the open neighbour that is nearest to a
    /// destination, or to the nearest open ground; to ground from which the destination can be
    /// reached, if there is some. Adds the polygons that were searched to `visited`.
    pub(super) fn way_out(
        &self,
        start: NearestPolygon,
        destination: NearestPolygon,
        visited: &mut Vec<u32>,
    ) -> Option<WayOut> {
        if let Some((outside, link)) = self.leave_at_once(start, destination) {
            return Some(WayOut { closed: vec![(start.polygon, link)], outside });
        }
        let wanted = self.component_of(destination.polygon);
        let mut reached =
            vec![Reached { polygon: start.polygon, position: start.position, before: 0, link: 0 }];
        let mut known = BTreeSet::new();
        let mut heap = BinaryHeap::from([Reverse((0, 0))]);
        let mut nearest = None;
        let mut count = 0;
        while let Some(Reverse((distance, at))) = heap.pop() {
            let Reached { polygon, position, .. } = reached[at];
            if !known.insert(polygon) {
                continue;
            }
            if self.is_open(polygon) {
                if self.component_of(polygon) == wanted {
                    nearest = Some(at);
                    break;
                }
                nearest = nearest.or(Some(at));
                continue;
            }
            count += 1;
            if count > LEAVE_POLYGONS_MAX {
                break;
            }
            visited.push(polygon);
            let first = self.polygons[polygon as usize].first_link;
            for (number, link) in (first..).zip(self.links(polygon)) {
                if link.is_jump() || !self.can_cross(polygon, link.target) {
                    continue;
                }
                let entry = nearest_between(link.left, link.right, position);
                let way = f32::from_bits(distance) + entry.distance(position);
                heap.push(Reverse((way.to_bits(), reached.len())));
                let (polygon, position) = (link.target, entry);
                reached.push(Reached { polygon, position, before: at, link: number });
            }
        }
        nearest.map(|at| trace(&reached, at))
    }

    fn component_of(&self, polygon: u32) -> Option<u32> {
        self.hierarchy.component(self.hierarchy.members[polygon as usize])
    }

    /// Returns the open neighbour by which a closed polygon is left, the point at which it is
    /// entered, and the link: the one that is nearest to a destination, of those from which it can
    /// be reached.
    fn leave_at_once(
        &self,
        start: NearestPolygon,
        destination: NearestPolygon,
    ) -> Option<(NearestPolygon, u32)> {
        let wanted = self.component_of(destination.polygon);
        let first = self.polygons[start.polygon as usize].first_link;
        let mut best: Option<((bool, f32), (NearestPolygon, u32))> = None;
        for (at, link) in (first..).zip(self.links(start.polygon)) {
            if !self.can_follow(link) {
                continue;
            }
            let cone = Cone::at(start.position, 0.0);
            let entry = self.step(&cone, start.polygon, link, Some(destination.position)).entry;
            let is_apart = self.component_of(link.target) != wanted;
            let order = (is_apart, entry.distance_squared(destination.position));
            if best.as_ref().is_none_or(|(known, _)| order < *known) {
                let outside = NearestPolygon { polygon: link.target, position: entry };
                best = Some((order, (outside, at)));
            }
        }
        best.map(|(_, found)| found)
    }
}

/// Returns the way to a polygon that was reached.
fn trace(reached: &[Reached], end: usize) -> WayOut {
    let Reached { polygon, position, .. } = reached[end];
    let (mut closed, mut at) = (Vec::new(), end);
    while at != 0 {
        let Reached { before, link, .. } = reached[at];
        closed.push((reached[before].polygon, link));
        at = before;
    }
    closed.reverse();
    WayOut { closed, outside: NearestPolygon { polygon, position } }
}

/// Returns the point between two others that is nearest to a position.
fn nearest_between(a: Vec3, b: Vec3, position: Vec3) -> Vec3 {
    let along = b - a;
    let part = (position - a).dot(along) / along.length_squared().max(1e-12);
    a + along * part.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use crate::agent_tests::Crowd;
    use crate::agents::{AgentSettings, AgentState};
    use crate::test_worlds::world;
    use engine_foundation::Vec3;

    const WATER: u8 = 2;

    /// Returns an agent that began in the middle of a lake, after a minute.
    fn leave(is_closed_for_all: bool) -> (AgentState, Vec3) {
        let mut mesh = world(5, 14, |_, _, _| false);
        for polygon in 0..mesh.num_polygons() {
            let middle = (mesh.polygons[polygon].low + mesh.polygons[polygon].high) * 0.5;
            if (middle.x - 36.0).abs() < 10.0 && (middle.y - 36.0).abs() < 14.0 {
                mesh.polygons[polygon].area = WATER;
            }
        }
        mesh.outdate_hierarchies();
        let mut crowd = Crowd::new(mesh, 1);
        let (from, to) = (Vec3::new(34.0, 36.0, 0.4), Vec3::new(60.0, 36.0, 0.4));
        crowd.send(from, to, AgentSettings::DEFAULT);
        match is_closed_for_all {
            true => crowd.mesh.set_area_cost(WATER, 0.0),
            false => {
                crowd.agents.set_area_cost(crowd.handles[0], WATER, Some(0.0)).unwrap();
            }
        }
        for _ in 0..3600 {
            crowd.mesh.update_hierarchy(&crowd.pool).unwrap();
            crowd.agents.advance(crowd.id, &mut crowd.mesh, 1.0 / 60.0, &crowd.pool).unwrap();
        }
        let agent = crowd.agents.slots.get(crowd.handles[0]).unwrap();
        (agent.state, agent.at.position)
    }

    #[test]
    fn agents_leave_a_large_area_that_is_closed_for_them() {
        for is_closed_for_all in [false, true] {
            let (state, position) = leave(is_closed_for_all);
            assert_eq!(state, AgentState::Arrived, "{is_closed_for_all}: {position}");
            assert!(position.x > 55.0, "{is_closed_for_all}: {position}");
        }
    }
}
