//! Straight lines through the triangles that a mesh was baked from: whether something solid is
//! between two points, and whether a character has room on its way through the air.

use super::bake::{AreaVolume, NULL_AREA};
use super::mesh::NavigationMesh;
use engine_foundation::{Vec2, Vec3};

/// Parts into which the way of a jump is divided, about as long as cells.
const PARTS_MIN: usize = 8;
const PARTS_MAX: usize = 64;
/// Width of the body of a character that jumps, as a part of its own.
const BODY_PART: f32 = 0.7;
/// Ends of a line at which triangles do not count, as a part of it.
const END: f32 = 1e-3;
/// Height of a jump's arc, as a part of its distance.
const ARC_HEIGHT: f32 = 0.2;

/// Triangles that may be compared with lines, counted down.
#[derive(Clone, Copy, Debug)]
pub(super) struct SightBudget(pub usize);

impl SightBudget {
    /// Returns true if the budget is used up: then nothing is known.
    pub fn is_spent(&self) -> bool {
        self.0 == 0
    }

    /// Counts work that is done for something else than triangles.
    pub fn spend(&mut self, work: usize) {
        self.0 = self.0.saturating_sub(work);
    }
}

/// Returns the point of a jump at a part of its way: along an arc, and down as a body falls.
pub(super) fn jump_point(start: Vec3, end: Vec3, part: f32) -> Vec3 {
    let flat = start.truncate().distance(end.truncate());
    let rise = end.z - start.z;
    let left = 1.0 - part;
    let height = if rise < 0.0 { rise * part * part } else { rise * (1.0 - left * left) };
    let arc = flat * ARC_HEIGHT * 4.0 * part * left;
    start.truncate().lerp(end.truncate(), part).extend(start.z + height + arc)
}

/// Returns true if a line crosses a triangle (T. Möller and B. Trumbore, "Fast, minimum storage
/// ray/triangle intersection", 1997).
fn crosses(from: Vec3, way: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    let (ab, ac) = (b - a, c - a);
    let across = way.cross(ac);
    let determinant = ab.dot(across);
    if determinant.abs() < 1e-12 {
        return false;
    }
    let scale = 1.0 / determinant;
    let apart = from - a;
    let u = apart.dot(across) * scale;
    let turned = apart.cross(ab);
    let v = way.dot(turned) * scale;
    let part = ac.dot(turned) * scale;
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && part > END && part < 1.0 - END
}

/// Returns true if a triangle touches a box (T. Akenine-Möller, "Fast 3D triangle-box overlap
/// testing", 2001).
fn touches_box((low, high): (Vec3, Vec3), corners: [Vec3; 3]) -> bool {
    let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
    let corners = corners.map(|corner| corner - middle);
    let [a, b, c] = corners;
    if a.min(b).min(c).cmpgt(half).any() || a.max(b).max(c).cmplt(-half).any() {
        return false;
    }
    let is_apart = |axis: Vec3| {
        let reach = half.dot(axis.abs());
        let parts = corners.map(|corner| corner.dot(axis));
        parts.iter().all(|part| *part > reach) || parts.iter().all(|part| *part < -reach)
    };
    let edges = [b - a, c - b, a - c];
    let mut across =
        edges.iter().flat_map(|edge| [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis.cross(*edge)));
    !is_apart(edges[0].cross(edges[1])) && !across.any(is_apart)
}

impl NavigationMesh {
    /// Calls `each` with the triangles near a box, until it returns true. Triangles can come more
    /// than once. Returns true if it did, or the budget is used up.
    fn any_triangle(
        &self,
        (low, high): (Vec3, Vec3),
        is_near: impl Fn(Vec2, Vec2) -> bool,
        budget: &mut SightBudget,
        mut each: impl FnMut([Vec3; 3]) -> bool,
    ) -> bool {
        let (columns, rows) = self.layout.tiles_in(low, high);
        let side = self.layout.settings.tile_cells as f32 * self.layout.settings.cell_size;
        for row in rows {
            for column in columns.clone() {
                let corner = Vec2::new(column as f32, row as f32) * side;
                let corner = self.layout.low.truncate() + corner;
                if !is_near(corner, corner + Vec2::splat(side)) {
                    continue;
                }
                for triangle in self.source.triangles_of(row * self.layout.tiles_x + column) {
                    if budget.is_spent() {
                        return true;
                    }
                    budget.0 -= 1;
                    let corners = self.source.corners(*triangle);
                    let [a, b, c] = corners;
                    let is_apart =
                        a.min(b).min(c).cmpgt(high).any() || a.max(b).max(c).cmplt(low).any();
                    if !is_apart && each(corners) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Returns true if a triangle of the level is between two points, or the budget is used up.
    pub(super) fn is_hidden(&self, from: Vec3, to: Vec3, budget: &mut SightBudget) -> bool {
        let way = to - from;
        let flat = way.truncate();
        // A little more than the tile, for lines along its side.
        let is_near = |low: Vec2, high: Vec2| {
            let (half, middle) = ((high - low) * 0.51, (low + high) * 0.5 - from.truncate());
            let reach = half.x * flat.y.abs() + half.y * flat.x.abs();
            flat.perp_dot(middle).abs() <= reach + 1e-6
        };
        self.any_triangle((from.min(to), from.max(to)), is_near, budget, |corners| {
            crosses(from, way, corners)
        })
    }

    /// Returns true if a character has room on the way of a jump: no triangle of the level touches
    /// its body, a box as wide as most of it, anywhere on the way.
    pub(super) fn has_room(&self, start: Vec3, end: Vec3, budget: &mut SightBudget) -> bool {
        let settings = *self.settings();
        let flat = (end - start).truncate();
        let along = flat.normalize_or(Vec2::X);
        let side = settings.radius * BODY_PART;
        let lowest = settings.step.max(settings.cell_height * 2.0).min(settings.height * 0.5);
        let parts = (flat.length() / settings.cell_size).ceil();
        let parts = parts.clamp(PARTS_MIN as f32, PARTS_MAX as f32) as usize;
        // Along the way, to its left, and up.
        let turned = |point: Vec3| {
            let by = (point - start).truncate();
            Vec3::new(along.dot(by), along.perp_dot(by), point.z)
        };
        let mut boxes = [(Vec3::ZERO, Vec3::ZERO); PARTS_MAX];
        let boxes = &mut boxes[..parts];
        let (mut low, mut high) = (start, start);
        for (at, body) in boxes.iter_mut().enumerate() {
            let ends = [at, at + 1].map(|at| jump_point(start, end, at as f32 / parts as f32));
            (low, high) = (low.min(ends[1]), high.max(ends[1]));
            let [a, b] = ends.map(turned);
            *body = (
                a.min(b) + Vec3::new(0.0, -side, lowest),
                a.max(b) + Vec3::new(0.0, side, settings.height),
            );
        }
        let margin = Vec3::new(side, side, 0.0);
        let bounds = (low - margin, high + margin + Vec3::Z * settings.height);
        let mut near = 0;
        let is_blocked = self.any_triangle(
            bounds,
            |_, _| true,
            budget,
            |corners| {
                near += 1;
                let corners = corners.map(turned);
                boxes.iter().any(|body| touches_box(*body, corners))
            },
        );
        // A box is compared with most triangles sooner than a triangle is found.
        budget.spend(near * parts / 4);
        !is_blocked
    }

    /// Returns true if an obstacle is in the way of a jump, or the budget is used up. The shapes of
    /// obstacles are those that the feet of a character cannot enter.
    pub(super) fn is_obstacle_between(
        &self,
        start: Vec3,
        end: Vec3,
        budget: &mut SightBudget,
    ) -> bool {
        let flat = start.truncate().distance(end.truncate());
        let (low, high) = (start.min(end), start.max(end) + Vec3::Z * (flat * ARC_HEIGHT));
        let length = flat + (end.z - start.z).abs() * 2.0;
        let parts = (length / (self.settings().cell_size * 0.5)).ceil().clamp(8.0, 4096.0);
        let of_area = |volume: &&AreaVolume| volume.area == NULL_AREA;
        for AreaVolume { shape, .. } in self.volumes.volumes.values().filter(of_area) {
            budget.spend(1);
            if budget.is_spent() {
                return true;
            }
            let (from, to) = shape.bounds();
            if low.cmpgt(Vec3::from(to)).any() || high.cmplt(Vec3::from(from)).any() {
                continue;
            }
            budget.spend(parts as usize);
            let is_inside = |at: usize| {
                let point = jump_point(start, end, at as f32 / parts);
                (from[2]..=to[2]).contains(&point.z) && shape.covers([point.x, point.y])
            };
            if (0..=parts as usize).any(is_inside) {
                return true;
            }
        }
        false
    }
}
