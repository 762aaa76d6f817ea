//! Straight lines through the triangles that a mesh was baked from: whether something solid is
//! between two points, and whether a character has room on its way through the air.

use super::mesh::NavigationMesh;
use engine_foundation::{Vec2, Vec3};

/// Parts into which the way of a jump is divided.
const PARTS: usize = 8;
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

    /// Returns true if a character has room on the way of a jump.
    pub(super) fn has_room(&self, start: Vec3, end: Vec3, budget: &mut SightBudget) -> bool {
        let settings = *self.settings();
        let along = (end - start).truncate().normalize_or_zero();
        let side = Vec3::new(-along.y, along.x, 0.0) * settings.radius * 0.7;
        let lowest = settings.step.max(settings.cell_height * 2.0).min(settings.height * 0.5);
        let heights = [lowest, (lowest + settings.height) * 0.5, settings.height];
        let mut points = [start; PARTS + 1];
        for (at, point) in points.iter_mut().enumerate() {
            *point = jump_point(start, end, at as f32 / PARTS as f32);
        }
        let bounds = |(low, high): (Vec3, Vec3), point: &Vec3| (low.min(*point), high.max(*point));
        let (low, high) = points.iter().fold((start, start), bounds);
        let margin = Vec3::new(side.x.abs(), side.y.abs(), 0.0);
        let bounds = (low - margin, high + margin + Vec3::Z * settings.height);
        !self.any_triangle(
            bounds,
            |_, _| true,
            budget,
            |corners| {
                points.windows(2).any(|pair| {
                    let way = pair[1] - pair[0];
                    heights.iter().any(|height| {
                        [-1.0, 0.0, 1.0].iter().any(|turn| {
                            crosses(pair[0] + Vec3::Z * *height + side * *turn, way, corners)
                        })
                    })
                })
            },
        )
    }
}
