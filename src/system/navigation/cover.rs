//! Cover: positions at the edges of a mesh at which something solid is between a character and a
//! threat.

use super::mesh::{NavigationMesh, NearestPolygon};
use super::queries::{FLOOD_POLYGONS_MAX, Flood};
use super::sight::SightBudget;
use engine_foundation::{Error, Vec3, error};

/// Maximum number of positions of an answer.
pub const COVER_POINTS_MAX: usize = 256;
/// Maximum number of positions that are tried.
pub const COVER_TRIES_MAX: usize = 8192;
/// Maximum number of triangles with which lines of sight are compared.
pub const COVER_TRIANGLES_MAX: usize = 1 << 22;
/// Heights of a character that must be hidden, as parts of the height of the cover.
const HIDDEN_PARTS: [f32; 2] = [1.0, 0.5];
/// Its middle and its sides as the threat sees them, in radii. They must be hidden, too.
const HIDDEN_SIDES: [f32; 3] = [0.0, -1.0, 1.0];

/// Properties of cover. Lengths are in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CoverRules {
    /// Distance within which cover is searched.
    pub distance: f32,
    /// Height up to which a character must be hidden.
    pub height: f32,
    /// Height of the eyes of the threat.
    pub eye_height: f32,
    /// Distance between positions.
    pub spacing: f32,
    pub count: usize,
}

impl CoverRules {
    pub const DEFAULT: CoverRules =
        CoverRules { distance: 20.0, height: 1.5, eye_height: 1.6, spacing: 1.0, count: 32 };
}

impl Flood {
    /// Finds positions near a point that can be reached from there, at which a character cannot be
    /// seen from a threat. The nearest ones come first.
    ///
    /// # Errors
    /// Returns an error if there are too many polygons, edges or triangles around the point.
    pub fn cover_points(
        &mut self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        threat: Vec3,
        rules: &CoverRules,
    ) -> Result<Vec<Vec3>, Error> {
        let mut polygons = Vec::new();
        if !self.fill(mesh, start, rules.distance, &mut polygons) {
            return Err(too_many("polygons", FLOOD_POLYGONS_MAX, "FLOOD_POLYGONS_MAX"));
        }
        let mut tries: Vec<(f32, Vec3)> = Vec::new();
        for (polygon, _) in polygons {
            mesh.each_wall(polygon, |a, b| {
                let count = (a.distance(b) / rules.spacing).clamp(1.0, 65_536.0) as usize;
                for at in 0..count.min(COVER_TRIES_MAX + 1 - tries.len().min(COVER_TRIES_MAX + 1)) {
                    let point = a.lerp(b, (at as f32 + 0.5) / count as f32);
                    let point = mesh.constrain(polygon, point);
                    let away = point.distance(start.position);
                    if away <= rules.distance {
                        tries.push((away, point));
                    }
                }
            });
            if tries.len() > COVER_TRIES_MAX {
                return Err(too_many("positions", COVER_TRIES_MAX, "COVER_TRIES_MAX"));
            }
        }
        tries.sort_by(|a, b| a.0.total_cmp(&b.0));
        let viewpoint = threat + Vec3::Z * rules.eye_height;
        let mut budget = SightBudget(COVER_TRIANGLES_MAX);
        let mut found: Vec<Vec3> = Vec::new();
        for (_, point) in tries {
            if found.len() >= rules.count.min(COVER_POINTS_MAX) {
                break;
            }
            if found.iter().any(|known| known.distance(point) < rules.spacing) {
                continue;
            }
            let away = (point - threat).truncate().normalize_or_zero();
            let side = Vec3::new(-away.y, away.x, 0.0) * mesh.settings().radius;
            let is_hidden = HIDDEN_SIDES.iter().all(|turn| {
                HIDDEN_PARTS.iter().all(|part| {
                    let body = point + side * *turn + Vec3::Z * (rules.height * part);
                    mesh.is_hidden(viewpoint, body, &mut budget)
                })
            });
            if budget.is_spent() {
                return Err(too_many("triangles", COVER_TRIANGLES_MAX, "COVER_TRIANGLES_MAX"));
            }
            if is_hidden {
                found.push(point);
            }
        }
        Ok(found)
    }
}

fn too_many(of: &str, most: usize, limit: &str) -> Error {
    error!(
        "the search for cover meets more than {most} {of} ({limit}): search within a smaller \
         distance, or increase 'spacing'"
    )
}
