//! Volumes that change a mesh while a game runs: obstacles, and areas with costs of their own. The
//! tiles that a volume touches are built again in rebuild.rs.

pub use super::rebuild::{REBUILD_UPDATES, Renumbering, UPDATE_TILES};

use super::bake::{AREAS_MAX, AreaShape, AreaVolume, CompactField, NULL_AREA};
use super::mesh::NavigationMesh;
use super::rebuild::Batch;
use engine_foundation::Vec2;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of volumes of a mesh.
pub const VOLUMES_MAX: usize = 4096;
/// Memory of the open spans that a mesh keeps, in bytes.
pub(super) const FIELD_BYTES_MAX: usize = 64 << 20;
/// Maximum number of points around which a convex volume is made.
pub const CONVEX_POINTS_MAX: usize = 256;
/// Least width of the ground of an area, in cells: wherever it is, it covers the middle of a cell,
/// and the cells along it touch each other.
const AREA_WIDTH_MIN: f32 = 1.5;
/// Smallest and largest cost of a metre of an area that can be entered.
pub const AREA_COST_MIN: f32 = 0.01;
pub const AREA_COST_MAX: f32 = 1000.0;

/// Volumes of a mesh, and the tiles that have to be built again.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    /// Volumes by number. Obstacles are grown by the radius of the characters.
    pub volumes: BTreeMap<u32, AreaVolume>,
    pub last: u32,
    pub waiting: BTreeSet<usize>,
    /// Tiles that are being built.
    pub batch: Option<Batch>,
    /// Open spans of tiles, from the bake or from when they were built again, each with a number
    /// that is larger the later they were kept; and their memory.
    fields: BTreeMap<usize, (u64, Arc<CompactField>)>,
    kept: u64,
    field_bytes: usize,
}

impl Volumes {
    /// Returns the open spans of a tile, if they are kept.
    pub fn field(&self, tile: usize) -> Option<Arc<CompactField>> {
        self.fields.get(&tile).map(|(_, field)| Arc::clone(field))
    }

    /// Forgets the open spans of a tile. Returns false if they were not kept.
    pub fn forget_field(&mut self, tile: usize) -> bool {
        let known = self.fields.remove(&tile);
        self.field_bytes -= known.as_ref().map_or(0, |(_, field)| field.bytes());
        known.is_some()
    }

    /// Keeps the open spans of a tile, instead of those that are the oldest if the memory is used
    /// up.
    pub fn keep_field(&mut self, tile: usize, field: Option<Arc<CompactField>>) {
        let Some(field) = field.filter(|field| field.bytes() <= FIELD_BYTES_MAX) else { return };
        self.forget_field(tile);
        while self.field_bytes + field.bytes() > FIELD_BYTES_MAX {
            let oldest = self.fields.iter().min_by_key(|(_, (kept, _))| *kept);
            let oldest = *oldest.expect("without any, there is room").0;
            self.forget_field(oldest);
        }
        self.field_bytes += field.bytes();
        self.kept += 1;
        self.fields.insert(tile, (self.kept, field));
    }

    pub fn write_state(&self, write: &mut dyn FnMut(u64)) {
        write(u64::from(self.last));
        for (number, volume) in &self.volumes {
            write(u64::from(*number) << 8 | u64::from(volume.area));
            let mut numbers = |numbers: &[f32]| {
                numbers.iter().for_each(|number| write(u64::from(number.to_bits())));
            };
            match &volume.shape {
                AreaShape::Cylinder { position, radius, height } => {
                    numbers(&[position[0], position[1], position[2], *radius, *height]);
                }
                AreaShape::Prism { points, low, high } => {
                    numbers(&[*low, *high, points.len() as f32]);
                    points.iter().for_each(|point| numbers(point));
                }
            }
        }
        self.waiting.iter().for_each(|tile| write(*tile as u64));
        if let Some(batch) = &self.batch {
            batch.write_state(write);
        }
    }
}

impl NavigationMesh {
    /// Adds a volume that gives the ground inside it an area, or is an obstacle if the area is
    /// [`NULL_AREA`]. Areas that are narrower than one and a half cells are widened. The mesh
    /// changes in one of the next calls of [`NavigationMesh::rebuild`].
    /// Returns the number of the volume; `None` if there are too many.
    pub fn add_volume(&mut self, shape: AreaShape, area: u8) -> Option<u32> {
        assert!(usize::from(area) < AREAS_MAX, "the caller has checked the area");
        if self.volumes.volumes.len() >= VOLUMES_MAX {
            return None;
        }
        let shape = self.effective(shape, area);
        self.wait_for(&shape);
        self.volumes.last += 1;
        self.volumes.volumes.insert(self.volumes.last, AreaVolume { shape, area });
        Some(self.volumes.last)
    }

    /// Removes a volume. Returns false if there is none with this number.
    pub fn remove_volume(&mut self, number: u32) -> bool {
        let Some(volume) = self.volumes.volumes.remove(&number) else { return false };
        self.wait_for(&volume.shape);
        true
    }

    /// Returns the number of volumes.
    pub fn num_volumes(&self) -> usize {
        self.volumes.volumes.len()
    }

    /// Returns the number of tiles that wait until they are built again.
    pub fn waiting_tiles(&self) -> usize {
        let built = self.volumes.batch.as_ref().map_or(0, Batch::len);
        self.volumes.waiting.len() + built
    }

    /// Returns the area of a polygon.
    pub fn area(&self, polygon: u32) -> u8 {
        self.polygons[polygon as usize].area
    }

    /// Returns the cost of a metre of an area; 0 if it is closed.
    pub fn area_cost(&self, area: u8) -> f32 {
        self.costs[usize::from(area)]
    }

    /// Sets the cost of a metre of an area. 0 closes it.
    pub fn set_area_cost(&mut self, area: u8, cost: f32) {
        assert!(area != NULL_AREA, "ground without an area cannot be opened");
        let known = &mut self.costs[usize::from(area)];
        if *known != cost {
            *known = cost;
            self.version += 1;
            self.known_views.clear();
        }
    }

    /// Adds the tiles that a shape touches to the waiting ones.
    pub(super) fn wait_for(&mut self, shape: &AreaShape) {
        let (low, high) = shape.bounds();
        let (columns, rows) = self.layout.tiles_in(low.into(), high.into());
        for row in rows {
            for column in columns.clone() {
                let tile = row * self.layout.tiles_x + column;
                if !self.source.triangles_of(tile).is_empty() {
                    self.volumes.waiting.insert(tile);
                }
            }
        }
    }

    /// Returns the shape in which a volume marks ground.
    pub(super) fn effective(&self, shape: AreaShape, area: u8) -> AreaShape {
        if area == NULL_AREA {
            return self.grown(shape);
        }
        let least = self.layout.settings.cell_size * AREA_WIDTH_MIN;
        match shape {
            AreaShape::Cylinder { position, radius, height } => {
                AreaShape::Cylinder { position, radius: radius.max(least * 0.5), height }
            }
            AreaShape::Prism { points, low, high } => {
                AreaShape::Prism { points: wide_outline(points, least), low, high }
            }
        }
    }

    /// Returns the shape of an obstacle as characters meet it: larger by their radius, and down to
    /// the ground on which they would touch it.
    fn grown(&self, shape: AreaShape) -> AreaShape {
        let settings = &self.layout.settings;
        // Cells are covered if their middle is.
        let (margin, below) = (settings.radius + settings.cell_size * 0.5, settings.height);
        match shape {
            AreaShape::Cylinder { position: [x, y, z], radius, height } => AreaShape::Cylinder {
                position: [x, y, z - below],
                radius: radius + margin,
                height: height + below + settings.cell_height,
            },
            AreaShape::Prism { points, low, high } => AreaShape::Prism {
                points: grown_outline(&points, margin),
                low: low - below,
                high: high + settings.cell_height,
            },
        }
    }
}

/// Returns the corners of the convex hull of points, counter-clockwise (A. M. Andrew, "Another
/// efficient algorithm for convex hulls in two dimensions", 1979).
pub fn convex_hull(mut points: Vec<Vec2>) -> Vec<[f32; 2]> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let mut hull = Vec::new();
    add_chain(points.iter(), &mut hull);
    add_chain(points.iter().rev(), &mut hull);
    hull.dedup_by(|a, b| a.distance_squared(*b) < 1e-10);
    hull.into_iter().map(|point| point.to_array()).collect()
}

/// Adds the convex chain through sorted points to a hull, without its last point.
fn add_chain<'a>(points: impl Iterator<Item = &'a Vec2>, hull: &mut Vec<Vec2>) {
    let first = hull.len();
    for point in points {
        while hull.len() >= first + 2 {
            let (a, b) = (hull[hull.len() - 2], hull[hull.len() - 1]);
            if (b - a).perp_dot(*point - b) > 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(*point);
    }
    hull.pop();
}

/// Returns an outline, or a larger one around it if it is narrower than a width.
fn wide_outline(points: Vec<[f32; 2]>, least: f32) -> Vec<[f32; 2]> {
    let hull = convex_hull(points.iter().copied().map(Vec2::from).collect());
    let corner = |at: usize| Vec2::from(hull[at % hull.len()]);
    if hull.is_empty() {
        return points;
    }
    if hull.len() < 3 {
        // A line, or a point.
        let (a, b) = (corner(0), corner(hull.len() - 1));
        let along = (b - a).try_normalize().unwrap_or(Vec2::X) * least * 0.5;
        let across = along.perp();
        let (from, to) = (a - along, b + along);
        let around = [from - across, to - across, to + across, from + across];
        return around.map(|at| at.to_array()).to_vec();
    }
    let width_at = |at: usize| {
        let along = (corner(at + 1) - corner(at)).normalize_or_zero();
        let across = |to: usize| along.perp_dot(corner(to) - corner(at));
        (0..hull.len()).map(across).fold(0.0, f32::max)
    };
    let width = (0..hull.len()).map(width_at).fold(f32::MAX, f32::min);
    if width < least { grown_outline(&hull, (least - width) * 0.5) } else { points }
}

/// Moves the sides of a convex counter-clockwise outline outwards, and cuts its corners off where
/// they would be far from the outline.
fn grown_outline(points: &[[f32; 2]], margin: f32) -> Vec<[f32; 2]> {
    let count = points.len();
    let mut grown = Vec::with_capacity(count * 2);
    for at in 0..count {
        let point = Vec2::from(points[at]);
        let outward = |a: usize, b: usize| {
            let along = (Vec2::from(points[b]) - Vec2::from(points[a])).normalize_or_zero();
            Vec2::new(along.y, -along.x)
        };
        let first = outward((at + count - 1) % count, at);
        let second = outward(at, (at + 1) % count);
        let corner = (first + second).normalize_or_zero();
        // The corner is cut at the distance of the margin, between the two moved sides.
        let along = Vec2::new(-corner.y, corner.x);
        let part = (1.0 - corner.dot(first)).max(0.0) * margin;
        let across = first.dot(along).abs();
        let half = if across > 1e-3 { part / across } else { 0.0 };
        grown.push((point + (corner * margin) - along * half).to_array());
        grown.push((point + (corner * margin) + along * half).to_array());
    }
    grown
}
