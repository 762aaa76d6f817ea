//! Volumes that change a mesh while a game runs: obstacles, and areas with costs of their own. The
//! tiles that a volume touches are built again from their open spans, which are kept, a few tiles
//! in an update. The mesh is put together again after each of them.

use super::bake::{
    AREAS_MAX, AreaShape, AreaVolume, BakedTile, CompactField, NULL_AREA, TileMesh, bake_tile,
    tile_from_field,
};
use super::mesh::{NavigationMesh, located, nearest_in_polygon};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec2, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of volumes of a mesh.
pub const VOLUMES_MAX: usize = 4096;
/// Number of tiles that are built again in an update.
pub const UPDATE_TILES: usize = 8;
/// Number of tiles whose open spans are kept.
const FIELDS_MAX: usize = 256;
/// Smallest and largest cost of a metre of an area that can be entered.
pub const AREA_COST_MIN: f32 = 0.01;
pub const AREA_COST_MAX: f32 = 1000.0;

/// Volumes of a mesh, and the tiles that have to be built again.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    /// Volumes by number. Obstacles are grown by the radius of the characters.
    volumes: BTreeMap<u32, AreaVolume>,
    last: u32,
    waiting: BTreeSet<usize>,
    /// Open spans of the tiles that were built again last.
    fields: BTreeMap<usize, CompactField>,
}

impl Volumes {
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

/// Tile that is built again.
struct Job {
    tile: usize,
    field: Option<CompactField>,
    mesh: TileMesh,
}

/// Polygons before and after tiles were built again.
#[derive(Debug)]
pub struct Renumbering {
    /// First polygon of each tile before, and the number of all polygons at the end.
    before: Vec<u32>,
    /// First polygon of each tile now; `None` if the tile was built again.
    now: Vec<Option<u32>>,
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
    /// Returns an error if a tile is too complex; it is left as it is. The message names the tile.
    pub fn rebuild(&mut self, pool: &TaskPool) -> Result<Option<Renumbering>, Error> {
        if self.volumes.waiting.is_empty() && !self.jumps.has_changed {
            return Ok(None);
        }
        let mut jobs = Vec::new();
        while jobs.len() < UPDATE_TILES
            && let Some(tile) = self.volumes.waiting.pop_first()
        {
            let field = self.volumes.fields.remove(&tile);
            jobs.push(Job { tile, field, mesh: TileMesh::default() });
        }
        // A tile costs as much as thousands of items of other systems.
        let tasks = pool.tasks(jobs.len() * 1000)?;
        let mesh = &*self;
        tasks.each_slice(pool.task("navigation"), &mut jobs, |_, piece| {
            piece.iter_mut().try_for_each(|job| mesh.build_tile(job))
        })?;
        let mut changed = vec![false; self.tile_meshes.len()];
        let before = std::mem::take(&mut self.tiles);
        if self.volumes.fields.len() + jobs.len() > FIELDS_MAX {
            self.volumes.fields.clear();
        }
        for job in jobs {
            changed[job.tile] = true;
            self.tile_meshes[job.tile] = job.mesh;
            self.volumes.fields.extend(job.field.map(|field| (job.tile, field)));
        }
        let closed = self.closed_polygons();
        self.assemble()?;
        self.version += 1;
        let now = (0..changed.len()).map(|tile| (!changed[tile]).then_some(self.tiles[tile]));
        let renumbering = Renumbering { before, now: now.collect() };
        self.close_again(&closed, &renumbering, &changed);
        Ok(Some(renumbering))
    }

    fn build_tile(&self, job: &mut Job) -> Result<(), Error> {
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
        job.mesh = match job.field.take() {
            Some(field) => {
                let mesh = tile_from_field(&field, &self.layout, job.tile, &volumes);
                job.field = Some(field);
                mesh.map_err(located)?
            }
            None => {
                let baked = bake_tile(&self.source, &self.layout, job.tile, &volumes);
                let BakedTile { mesh, field } = baked.map_err(located)?;
                job.field = Some(field);
                mesh
            }
        };
        Ok(())
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
    fn wait_for(&mut self, shape: &AreaShape) {
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
