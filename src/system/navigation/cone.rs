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
    #[inline(always)]
    fn add(&mut self, is_left: bool, point: Vec3, rate: f32) {
        let (own, other, sign) = match is_left {
            true => (&mut self.left, &mut self.right, 1.0),
            false => (&mut self.right, &mut self.left, -1.0),
        };
        // Most portals begin or end where the one before does.
        if own.corners().last() == Some(&point) {
            return;
        }
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

    /// Goes through a portal. `rate` is the cost of a metre before it.
    #[inline]
    fn enter(&mut self, left: Vec3, right: Vec3, rate: f32) {
        self.add(false, right, rate);
        self.add(true, left, rate);
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
        let (low, high) = self.cost_range();
        low >= high
    }

    /// Returns the least cost of a metre of any way.
    pub(super) fn least_cost(&self) -> f32 {
        self.cost_range().0.min(self.jumps.ways.least)
    }

    /// Returns the least and the greatest cost of ground that can be entered; infinity and 0 if
    /// there is none.
    fn cost_range(&self) -> (f32, f32) {
        // The bits of numbers that are not negative have the order of the numbers. All searches
        // begin with this, and processors compare several whole numbers at a time.
        let (mut low, mut high) = (f32::INFINITY.to_bits(), 0);
        for cost in self.costs {
            let is_open = cost > 0.0;
            low = low.min(if is_open { cost.to_bits() } else { f32::INFINITY.to_bits() });
            high = high.max(if is_open { cost.to_bits() } else { 0 });
        }
        (f32::from_bits(low), f32::from_bits(high))
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
        let mut cone = *cone;
        let (entry, cost) = self.step_with(&mut cone, polygon, link, toward);
        Step { cone, entry, cost }
    }

    /// Takes a funnel from a polygon into another. Returns the point at which that is entered, and
    /// the cost of the way to it.
    #[inline]
    pub(super) fn step_with(
        &self,
        cone: &mut Cone,
        polygon: u32,
        link: &Link,
        toward: Option<Vec3>,
    ) -> (Vec3, f32) {
        let rate = self.rate(polygon);
        if let Some(jump) = self.jump(link) {
            let cost = cone.cost + cone.distance_to(jump.start) * rate + jump.cost;
            *cone = Cone::at(jump.end, cost);
            return (jump.end, cost);
        }
        cone.enter(link.left, link.right, rate);
        let entry = cone.portal_point(link.left, link.right, toward);
        let cost = cone.cost + cone.apex.distance(entry) * rate;
        // On ground with another cost, the way goes on from the point at which it is entered.
        if self.rate(link.target) != rate {
            *cone = Cone::at(entry, cost);
        }
        (entry, cost)
    }
}

/// Returns twice the area of a triangle from above, positive if it is counter-clockwise.
#[inline]
pub(super) fn turn(a: Vec3, b: Vec3, c: Vec3) -> f32 {
    (b - a).truncate().perp_dot((c - a).truncate())
}
