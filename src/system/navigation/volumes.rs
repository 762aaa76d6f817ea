//! Volumes that change a mesh while a game runs: obstacles, and areas with costs of their own. The
//! tiles that a volume touches are built again from their open spans, which are kept, a few tiles
//! in an update. The mesh is put together again after each of them.

use super::bake::{
    AREAS_MAX, AreaShape, AreaVolume, BakedTile, CompactField, NULL_AREA, TileMesh, bake_tile,
    tile_from_field,
};
use super::mesh::{
    HEIGHTS_MAX, MESH_POLYGONS_MAX, NavigationMesh, located, nearest_in_polygon, too_many_heights,
    too_many_polygons,
};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec2, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of volumes of a mesh.
pub const VOLUMES_MAX: usize = 4096;
/// Number of tiles that are built again in an update.
pub const UPDATE_TILES: usize = 8;
/// Memory of the open spans that a mesh keeps, in bytes.
const FIELD_BYTES_MAX: usize = 64 << 20;
/// Smallest and largest cost of a metre of an area that can be entered.
pub const AREA_COST_MIN: f32 = 0.01;
pub const AREA_COST_MAX: f32 = 1000.0;

/// Volumes of a mesh, and the tiles that have to be built again.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    /// Volumes by number. Obstacles are grown by the radius of the characters.
    pub(super) volumes: BTreeMap<u32, AreaVolume>,
    pub(super) last: u32,
    waiting: BTreeSet<usize>,
    /// Open spans of the tiles that were built again last, and their memory.
    fields: BTreeMap<usize, CompactField>,
    field_bytes: usize,
}

impl Volumes {
    /// Takes the open spans of a tile, if they are kept.
    fn take_field(&mut self, tile: usize) -> Option<CompactField> {
        let field = self.fields.remove(&tile)?;
        self.field_bytes -= field.bytes();
        Some(field)
    }

    /// Keeps the open spans of a tile, instead of those of all others if the memory is used up.
    fn keep_field(&mut self, tile: usize, field: Option<CompactField>) {
        let Some(field) = field.filter(|field| field.bytes() <= FIELD_BYTES_MAX) else { return };
        if self.field_bytes + field.bytes() > FIELD_BYTES_MAX {
            self.fields.clear();
            self.field_bytes = 0;
        }
        self.field_bytes += field.bytes();
        self.fields.insert(tile, field);
    }

    pub fn write_state(&self, write: &mut dyn FnMut(u64)) {
        write(u64::from(self.last));
        for (number, volume) in &self.volumes {
            write(u64::from(*number) << 8 | u64::from(volume.area));
            let (low, high) = volume.shape.bounds();
            low.iter().chain(&high).for_each(|number| write(u64::from(number.to_bits())));
        }
        self.waiting.iter().for_each(|tile| write(*tile as u64));
    }
}

/// Tile that is built again, and its mesh if that did not fail.
struct Job {
    tile: usize,
    field: Option<CompactField>,
    mesh: Result<TileMesh, Error>,
}

/// Polygons before and after tiles were built again.
#[derive(Debug)]
pub struct Renumbering {
    /// First polygon of each tile before, and the number of all polygons at the end.
    pub(super) before: Vec<u32>,
    /// First polygon of each tile now; `None` if the tile was built again.
    pub(super) now: Vec<Option<u32>>,
    /// First tile that could not be built again, and was left as it is.
    pub failure: Option<Error>,
}

impl Renumbering {
    /// Returns the number that a polygon has now; `None` if its tile was built again.
    pub fn polygon(&self, before: u32) -> Option<u32> {
        let tile = self.before.partition_point(|first| *first <= before) - 1;
        self.now[tile].map(|now| now + before - self.before[tile])
    }
}

impl NavigationMesh {
    /// Adds a volume that gives the ground inside it an area, or is an obstacle if the area is
    /// [`NULL_AREA`]. The mesh changes in one of the next calls of [`NavigationMesh::rebuild`].
    /// Returns the number of the volume; `None` if there are too many.
    pub fn add_volume(&mut self, shape: AreaShape, area: u8) -> Option<u32> {
        assert!(usize::from(area) < AREAS_MAX, "the caller has checked the area");
        if self.volumes.volumes.len() >= VOLUMES_MAX {
            return None;
        }
        let shape = if area == NULL_AREA { self.grown(shape) } else { shape };
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
        self.volumes.waiting.len()
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
        }
    }

    /// Builds some of the waiting tiles again, and joins the ends of links. Returns how polygons
    /// are numbered now, if there was anything to do.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread. Tiles that are too complex are
    /// left as they are, and named by the result.
    pub fn rebuild(&mut self, pool: &TaskPool) -> Result<Option<Renumbering>, Error> {
        if self.volumes.waiting.is_empty() && !self.jumps.has_changed {
            return Ok(None);
        }
        // A tile costs as much as thousands of items of other systems.
        let tasks = pool.tasks(self.volumes.waiting.len().min(UPDATE_TILES) * 1000)?;
        let mut jobs = Vec::new();
        while jobs.len() < UPDATE_TILES
            && let Some(tile) = self.volumes.waiting.pop_first()
        {
            let field = self.volumes.take_field(tile);
            jobs.push(Job { tile, field, mesh: Ok(TileMesh::default()) });
        }
        let mesh = &*self;
        tasks.each_slice(pool.task("navigation"), &mut jobs, |_, piece| {
            piece.iter_mut().for_each(|job| job.mesh = mesh.build_tile(job));
            Ok(())
        })?;
        let closed = self.closed_polygons();
        let before = self.tiles.clone();
        let (changed, failure) = self.replace_tiles(jobs);
        self.assemble()?;
        self.version += 1;
        let now = (0..changed.len()).map(|tile| (!changed[tile]).then_some(self.tiles[tile]));
        let renumbering = Renumbering { before, now: now.collect(), failure };
        self.close_again(&closed, &renumbering, &changed);
        Ok(Some(renumbering))
    }

    /// Replaces the meshes of tiles, except those that failed. Returns a flag for each tile, true
    /// if it was replaced, and the first failure.
    fn replace_tiles(&mut self, jobs: Vec<Job>) -> (Vec<bool>, Option<Error>) {
        let mut changed = vec![false; self.tile_meshes.len()];
        let mut failure = None;
        let mut count = self.polygons.len();
        let mut heights: usize = self.tile_meshes.iter().map(|tile| tile.heights.len()).sum();
        for job in jobs {
            self.volumes.keep_field(job.tile, job.field);
            match job.mesh {
                Ok(mesh) => {
                    let known = &mut self.tile_meshes[job.tile];
                    let after = count - known.polygons.len() + mesh.polygons.len();
                    if after > MESH_POLYGONS_MAX {
                        failure = failure.or(Some(too_many_polygons(after)));
                        continue;
                    }
                    let heights_after = heights - known.heights.len() + mesh.heights.len();
                    if heights_after > HEIGHTS_MAX {
                        failure = failure.or(Some(too_many_heights(heights_after)));
                        continue;
                    }
                    (count, heights) = (after, heights_after);
                    *known = mesh;
                    changed[job.tile] = true;
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        (changed, failure)
    }

    fn build_tile(&self, job: &mut Job) -> Result<TileMesh, Error> {
        let located = |message: String| located(&self.layout, job.tile, &message);
        let (low, high) = self.tile_bounds(job.tile);
        let volumes: Vec<AreaVolume> = self
            .volumes
            .volumes
            .values()
            .filter(|volume| {
                let (from, to) = volume.shape.bounds();
                (0..2).all(|axis| from[axis] <= high[axis] && to[axis] >= low[axis])
            })
            .cloned()
            .collect();
        if let Some(field) = &job.field {
            return tile_from_field(field, &self.layout, job.tile, &volumes).map_err(located);
        }
        let baked = bake_tile(&self.source, &self.layout, job.tile, &volumes);
        let BakedTile { mesh, field } = baked.map_err(located)?;
        job.field = Some(field);
        Ok(mesh)
    }

    /// Returns the lowest and the highest corner of a tile with its border.
    fn tile_bounds(&self, tile: usize) -> (Vec2, Vec2) {
        let (columns, rows) = self.layout.columns_of(tile);
        let [x, y] = self.layout.corner(tile);
        let size = self.layout.settings.cell_size;
        let low = self.layout.low.truncate() + Vec2::new(x as f32, y as f32) * size;
        (low, low + Vec2::new(columns as f32, rows as f32) * size)
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

    /// Returns the shape of an obstacle as characters meet it: larger by their radius, and down to
    /// the ground on which they would touch it.
    pub(super) fn grown(&self, shape: AreaShape) -> AreaShape {
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

    /// Returns the corners of the polygons that are closed, by number.
    fn closed_polygons(&self) -> Vec<(u32, Vec<Vec3>)> {
        let numbers = 0..self.polygons.len() as u32;
        let closed = numbers.filter(|polygon| self.is_obstructed(*polygon));
        closed.map(|polygon| (polygon, self.corners(polygon).to_vec())).collect()
    }

    /// Closes the polygons that were closed before, and the new ones whose middle is in one.
    fn close_again(
        &mut self,
        closed: &[(u32, Vec<Vec3>)],
        renumbering: &Renumbering,
        changed: &[bool],
    ) {
        for (before, corners) in closed {
            if let Some(now) = renumbering.polygon(*before) {
                self.polygons[now as usize].is_obstructed = true;
                continue;
            }
            let tile = renumbering.before.partition_point(|first| first <= before) - 1;
            assert!(changed[tile], "polygons of other tiles are renumbered");
            let step = self.layout.settings.step;
            for polygon in self.tiles[tile]..self.tiles[tile + 1] {
                let own = self.corners(polygon);
                let middle = own.iter().sum::<Vec3>() / own.len() as f32;
                let flat = middle.truncate();
                let is_inside = nearest_in_polygon(corners, flat) == flat;
                if is_inside && (corners[0].z - middle.z).abs() <= step {
                    self.polygons[polygon as usize].is_obstructed = true;
                }
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::{BakeSettings, BakeSource};
    use engine_foundation::error;

    #[test]
    fn tiles_that_fail_are_left_and_the_others_are_replaced() {
        let points = [[0.0, 0.0], [30.0, 0.0], [30.0, 30.0], [0.0, 30.0]];
        let points = points.map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec();
        let source = BakeSource::new(points, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
        let settings = BakeSettings { tile_cells: 24, ..BakeSettings::DEFAULT };
        let mut mesh = NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap();
        let left = mesh.tile_meshes[1].clone();
        assert!(!left.polygons.is_empty() && !mesh.tile_meshes[0].polygons.is_empty());
        let job = |tile, mesh| Job { tile, field: None, mesh };
        let (changed, failure) = mesh.replace_tiles(vec![
            job(1, Err(error!("too complex"))),
            job(0, Ok(TileMesh::default())),
        ]);
        assert!(changed[0] && !changed[1]);
        assert_eq!(failure.unwrap().message, "too complex");
        assert!(mesh.tile_meshes[1] == left && mesh.tile_meshes[0].polygons.is_empty());
        mesh.assemble().unwrap();
        assert_eq!(mesh.tiles[1], 0);
        // Heights that nobody touches take no memory.
        let uneven = TileMesh { heights: vec![0; HEIGHTS_MAX + 1], ..TileMesh::default() };
        let (changed, failure) = mesh.replace_tiles(vec![job(1, Ok(uneven))]);
        assert!(!changed[1] && mesh.tile_meshes[1] == left);
        assert!(failure.unwrap().message.contains("(HEIGHTS_MAX)"));
    }
}
