//! Funnels of searches: the corner from which a way leads straight on, and the corners to both
//! sides around which it bends until it reaches the portal that was entered last (D. T. Lee and F.
//! P. Preparata, "Euclidean Shortest Paths in the Presence of Rectilinear Barriers", 1984). A
//! search that keeps the funnel of each node knows the length of the way around corners, instead
//! of the length between the middles of edges.

use super::mesh::{Link, NavigationMesh};
use engine_foundation::Vec3;

/// Corners that a side of a funnel keeps. The last one is replaced if there are more: then lengths
/// are a little too short.
const CORNERS: usize = 4;

/// Corners at a side of a funnel, beginning at the apex.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    corners: [Vec3; CORNERS],
    count: u8,
}

impl Chain {
    fn corners(&self) -> &[Vec3] {
        &self.corners[..usize::from(self.count)]
    }

    fn push(&mut self, corner: Vec3) {
        let at = usize::from(self.count).min(CORNERS - 1);
        self.corners[at] = corner;
        self.count = at as u8 + 1;
    }

    fn remove_first(&mut self) {
        self.corners.copy_within(1.., 0);
        self.count -= 1;
    }
}

/// Shortest ways from a point through a row of portals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cone {
    pub apex: Vec3,
    /// Cost of the way to the apex.
    pub cost: f32,
    left: Chain,
    right: Chain,
}

/// Way into a polygon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub cone: Cone,
    /// Point at which the polygon is entered, and the cost of the way to it.
    pub entry: Vec3,
    pub cost: f32,
}

impl Step {
    /// Adds a cost that does not depend on the way.
    #[inline]
    pub fn add(&mut self, cost: f32) {
        self.cost += cost;
        self.cone.cost += cost;
    }
}

impl Cone {
    /// Returns the view of a point in all directions.
    pub fn at(apex: Vec3, cost: f32) -> Cone {
        Cone { apex, cost, ..Cone::default() }
    }

    /// Adds the end of a portal at a side. `rate` is the cost of a metre.
    #[inline]
    fn add(&mut self, is_left: bool, point: Vec3, rate: f32) {
        let (own, other, sign) = match is_left {
            true => (&mut self.left, &mut self.right, 1.0),
            false => (&mut self.right, &mut self.left, -1.0),
        };
        // Corners that are behind the new one are no corners of the way any more.
        while let [before @ .., last] = own.corners() {
            let before = before.last().unwrap_or(&self.apex);
            if turn(*before, *last, point) * sign > 0.0 {
                break;
            }
            own.count -= 1;
        }
        if own.count == 0 {
            // The way bends around the corners of the other side.
            while let Some(&first) = other.corners().first() {
                if turn(self.apex, first, point) * sign >= 0.0 {
                    break;
                }
                self.cost += self.apex.distance(first) * rate;
                self.apex = first;
                other.remove_first();
            }
        }
        own.push(point);
    }

    /// Returns the view through a portal. `rate` is the cost of a metre before it.
    #[inline]
    fn through(&self, left: Vec3, right: Vec3, rate: f32) -> Cone {
        let mut next = *self;
        next.add(false, right, rate);
        next.add(true, left, rate);
        next
    }

    /// Returns the visible point of the last portal on the straight way to a point, or nearest to
    /// it; the visible point that is nearest to the apex if there is none.
    #[inline]
    fn portal_point(&self, left: Vec3, right: Vec3, toward: Option<Vec3>) -> Vec3 {
        let along = left - right;
        let flat = along.truncate();
        let part = |to: Vec3| {
            let way = (to - self.apex).truncate();
            let across = way.perp_dot(flat);
            let is_parallel = across.abs() < 1e-9;
            (!is_parallel).then(|| (right - self.apex).truncate().perp_dot(way) / across)
        };
        let limit = |chain: &Chain, end: Vec3, otherwise: f32| match chain.corners() {
            [corner, _, ..] if *corner != end => part(*corner).unwrap_or(otherwise),
            _ => otherwise,
        };
        let low = limit(&self.right, right, 0.0).clamp(0.0, 1.0);
        let high = limit(&self.left, left, 1.0).clamp(0.0, 1.0);
        let wanted = toward.and_then(part).unwrap_or_else(|| {
            (self.apex - right).truncate().dot(flat) / flat.length_squared().max(1e-12)
        });
        right + along * wanted.min(high).max(low)
    }

    /// Returns the length of the way from the apex to a point of the polygon that was entered last.
    #[inline]
    pub fn distance_to(&self, point: Vec3) -> f32 {
        for (chain, sign) in [(&self.right, -1.0), (&self.left, 1.0)] {
            let (mut at, mut length) = (self.apex, 0.0);
            for &corner in chain.corners() {
                if turn(at, corner, point) * sign <= 0.0 {
                    break;
                }
                length += at.distance(corner);
                at = corner;
            }
            if length > 0.0 {
                return length + at.distance(point);
            }
        }
        self.apex.distance(point)
    }
}

impl NavigationMesh {
    /// Returns the cost of a metre of the ground of a polygon.
    #[inline]
    pub(super) fn rate(&self, polygon: u32) -> f32 {
        self.costs[usize::from(self.polygons[polygon as usize].area)]
    }

    /// Returns true if all ground that can be entered costs the same.
    pub(super) fn has_even_costs(&self) -> bool {
        let mut open = self.costs.iter().filter(|cost| **cost > 0.0);
        let first = open.next();
        open.all(|cost| Some(cost) == first)
    }

    /// Returns the least cost of a metre of any way.
    pub(super) fn least_cost(&self) -> f32 {
        let areas = self.costs.iter().copied().filter(|cost| *cost > 0.0);
        areas.fold(self.jumps.ways.least, f32::min)
    }

    /// Returns the way from a polygon into another. `toward` is the destination, if there is one.
    #[inline]
    pub(super) fn step(
        &self,
        cone: &Cone,
        polygon: u32,
        link: &Link,
        toward: Option<Vec3>,
    ) -> Step {
        let rate = self.rate(polygon);
        if let Some(jump) = self.jump(link) {
            let cost = cone.cost + cone.distance_to(jump.start) * rate + jump.cost;
            return Step { cone: Cone::at(jump.end, cost), entry: jump.end, cost };
        }
        let next = cone.through(link.left, link.right, rate);
        let entry = next.portal_point(link.left, link.right, toward);
        let cost = next.cost + next.apex.distance(entry) * rate;
        // On ground with another cost, the way goes on from the point at which it is entered.
        let is_even = self.rate(link.target) == rate;
        Step { cone: if is_even { next } else { Cone::at(entry, cost) }, entry, cost }
    }
}

/// Returns twice the area of a triangle from above, positive if it is counter-clockwise.
#[inline]
pub(super) fn turn(a: Vec3, b: Vec3, c: Vec3) -> f32 {
    (b - a).truncate().perp_dot((c - a).truncate())
}
