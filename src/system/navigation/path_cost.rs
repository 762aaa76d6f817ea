//! Costs of the ways along paths.

use super::mesh::{Link, NavigationMesh};
use super::path::PolygonPath;
use engine_foundation::Vec3;
use std::ops::Range;

impl PolygonPath {
    /// Returns what the shortest way through the polygons costs: each metre what its area costs,
    /// and each link its own cost.
    pub fn cost(&self, mesh: &NavigationMesh, start: Vec3, destination: Vec3) -> f32 {
        let (mut first, mut from, mut cost) = (0, start, 0.0);
        for (at, link) in self.links.iter().enumerate() {
            let Some(jump) = mesh.jump(&mesh.links[*link as usize]) else { continue };
            cost += self.cost_on_ground(mesh, first..at, (from, jump.start)) + jump.cost;
            (first, from) = (at + 1, jump.end);
        }
        cost + self.cost_on_ground(mesh, first..self.links.len(), (from, destination))
    }

    /// Returns the cost of the part of a path without jumps. `part` has its links, as indices.
    fn cost_on_ground(
        &self,
        mesh: &NavigationMesh,
        part: Range<usize>,
        (start, end): (Vec3, Vec3),
    ) -> f32 {
        let (mut at, mut from, mut cost) = (part.start, start, 0.0);
        self.funnel_corners(mesh, part.clone(), (start, end), |bend| {
            cost += self.cost_straight(mesh, at..bend.at, (from, bend.point));
            (at, from) = (bend.at + 1, bend.point);
            true
        });
        cost + self.cost_straight(mesh, at..part.end, (from, end))
    }

    /// Returns the cost of a straight way that crosses some links, as indices.
    fn cost_straight(
        &self,
        mesh: &NavigationMesh,
        links: Range<usize>,
        (from, to): (Vec3, Vec3),
    ) -> f32 {
        let (mut part, mut rate) = (0.0, 0.0);
        for at in links.clone() {
            let link = &mesh.links[self.links[at] as usize];
            let next = crossing(link, from, to).unwrap_or(part).clamp(part, 1.0);
            rate += (next - part) * mesh.rate(self.polygons[at]);
            part = next;
        }
        rate += (1.0 - part) * mesh.rate(self.polygons[links.end]);
        rate * from.distance(to)
    }
}

/// Returns the part of a straight way at which it crosses a link; `None` if it leads along it.
fn crossing(link: &Link, from: Vec3, to: Vec3) -> Option<f32> {
    let (edge, way) = ((link.right - link.left).truncate(), (to - from).truncate());
    let across = way.perp_dot(edge);
    (across.abs() > 1e-9).then(|| (link.left - from).truncate().perp_dot(edge) / across)
}
