//! Places of agents that use a platform: those at which they wait for it, along the walls beside
//! its stop, so that they stand in nobody's way, and those on the platform.

use super::mesh::{NavigationMesh, NearestPolygon};
use super::queries::Flood;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Vec2, Vec3};

/// Maximum number of places at which agents wait for a platform.
const SLOTS_MAX: usize = 32;
/// Distance between places, and between them and the stop, in radii.
const SPACING_RADII: f32 = 2.4;
const MOUTH_RADII: f32 = 3.0;
/// Width of the way to the stop that stays free, in radii.
const WAY_RADII: f32 = 2.0;
/// Distances from the stop at which places are tried, and the directions.
const RINGS: u16 = 10;
const DIRECTIONS: u16 = 36;
/// Metres of distance from the stop that weigh as much as a metre of distance from a wall.
const WALL_WEIGHT: f32 = 4.0;
/// Polygons that the straight way from the stop to a place crosses at most.
const WAY_POLYGONS_MAX: usize = 24;
/// Maximum number of cells of a platform that are tried.
const CELLS_MAX: usize = 1 << 16;

/// Returns the places at which agents wait beside a stop, the nearest ones first. `way` leads from
/// the stop to the platform.
pub(super) fn slots_ashore(mesh: &NavigationMesh, stop: Vec3, way: Vec2) -> Vec<Vec3> {
    let Some(start) = mesh.snap(stop) else { return Vec::new() };
    let radius = mesh.settings().radius.max(0.05);
    let (mut flood, mut tried) = (Flood::default(), Vec::new());
    let way = way.normalize_or_zero();
    for ring in 0..RINGS {
        let distance = radius * (MOUTH_RADII + f32::from(ring) * SPACING_RADII * 0.5);
        for direction in 0..DIRECTIONS {
            let angle = f32::from(direction) / f32::from(DIRECTIONS) * std::f32::consts::TAU;
            let (sin, cos) = sin_cos(angle);
            let by = Vec2::new(cos, sin) * distance;
            if way != Vec2::ZERO && way.perp_dot(by).abs() < radius * WAY_RADII {
                continue;
            }
            let to = start.position + by.extend(0.0);
            let end = mesh.ray_within(start, to, WAY_POLYGONS_MAX);
            if end.wall.is_some() || end.is_cut {
                continue;
            }
            let at = NearestPolygon { polygon: end.polygon, position: end.position };
            let wall = flood.nearest_wall(mesh, at, radius * SPACING_RADII * 2.0);
            let wall = wall.map_or(radius * SPACING_RADII * 2.0, |wall| wall.distance);
            tried.push((distance + wall * WALL_WEIGHT, end.position));
        }
    }
    let mut slots: Vec<Vec3> = Vec::new();
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, slot) in tried {
        let is_free = |known: &Vec3| known.distance(slot) >= radius * SPACING_RADII;
        if slots.len() < SLOTS_MAX && slots.iter().all(is_free) {
            slots.push(slot);
        }
    }
    slots.sort_by(|a, b| a.distance(stop).total_cmp(&b.distance(stop)));
    slots
}

/// Returns places on a platform, at most so many.
pub(super) fn slots_aboard(mesh: &NavigationMesh, most: usize) -> Vec<Vec3> {
    let corners = (0..mesh.num_polygons() as u32).flat_map(|polygon| mesh.corners(polygon));
    let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
    for corner in corners {
        (low, high) = (low.min(*corner), high.max(*corner));
    }
    let mut slots = Vec::new();
    if !low.cmple(high).all() {
        return slots;
    }
    let spacing = mesh.settings().radius.max(0.05) * SPACING_RADII;
    let size = high - low;
    let count = |length: f32| (length / spacing) as usize + 1;
    let (columns, rows) = (count(size.x), count(size.y));
    // In the middle of what is left over at the sides.
    let rest = |length: f32, count: usize| (length - (count - 1) as f32 * spacing) * 0.5;
    let first = Vec2::new(rest(size.x, columns), rest(size.y, rows)) + low.truncate();
    let (middle, up) = ((low.z + high.z) * 0.5, size.z * 0.5 + 0.1);
    for at in 0..columns.saturating_mul(rows).min(CELLS_MAX) {
        let cell = Vec2::new((at % columns) as f32, (at / columns) as f32) * spacing + first;
        let found = mesh.nearest(cell.extend(middle), spacing * 0.1, up);
        let Some(found) = found else { continue };
        if slots.len() < most && mesh.is_open(found.polygon) {
            slots.push(found.position);
        }
    }
    slots
}
