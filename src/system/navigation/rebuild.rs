//! Tiles that are built again: a batch of them at a time, from their open spans, which are kept.
//! Another thread builds them while frames go on, and they are swapped in a fixed number of updates
//! later, so that results do not depend on threads.

use super::bake::{
    AreaVolume, BakeSource, BakedTile, CompactField, TileLayout, TileMesh, bake_tile,
    tile_from_field,
};
use super::mesh::{
    HEIGHTS_MAX, MESH_POLYGONS_MAX, NavigationMesh, located, nearest_in_polygon, too_many_heights,
    too_many_polygons,
};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec2, Vec3, error, owner, panic, scope};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

/// Number of tiles that are built again at a time.
pub const UPDATE_TILES: usize = 8;
/// Updates between the start of a batch and the one that swaps its tiles in.
pub const REBUILD_UPDATES: u32 = 2;

/// Tile that is built again, and its mesh if that did not fail.
#[derive(Debug)]
struct Job {
    tile: usize,
    field: Option<CompactField>,
    volumes: Vec<AreaVolume>,
    mesh: Result<TileMesh, Error>,
}

impl Job {
    fn build(&mut self, source: &BakeSource, layout: &TileLayout) {
        self.mesh = self.mesh(source, layout).map_err(|text| located(layout, self.tile, &text));
    }

    fn mesh(&mut self, source: &BakeSource, layout: &TileLayout) -> Result<TileMesh, String> {
        if let Some(field) = &self.field {
            return tile_from_field(field, layout, self.tile, &self.volumes);
        }
        let BakedTile { mesh, field } = bake_tile(source, layout, self.tile, &self.volumes)?;
        self.field = Some(field);
        Ok(mesh)
    }
}

/// Tiles that are being built.
#[derive(Debug)]
pub(super) struct Batch {
    tiles: Vec<usize>,
    /// Updates until they are swapped in.
    updates: u32,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Done(Vec<Job>),
    Running(Mutex<Receiver<Vec<Job>>>),
}

impl Batch {
    /// Starts to build tiles: on another thread, if the game may use more than one.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    fn start(
        mut jobs: Vec<Job>,
        source: &Arc<BakeSource>,
        layout: TileLayout,
        pool: &TaskPool,
    ) -> Result<Batch, Error> {
        let tiles = jobs.iter().map(|job| job.tile).collect();
        let work = if pool.threads() == 1 {
            jobs.iter_mut().for_each(|job| job.build(source, &layout));
            Work::Done(jobs)
        } else {
            let (sender, receiver) = channel();
            let source = Arc::clone(source);
            let thread = panic::spawn("navigation tiles", move || {
                scope!("navigation_tiles");
                owner!("navigation");
                jobs.iter_mut().for_each(|job| job.build(&source, &layout));
                // Nobody waits for the tiles of a mesh that was destroyed.
                let _ = sender.send(jobs);
            });
            thread.map_err(|cause| error!("no thread for the tiles of a mesh: {cause}"))?;
            Work::Running(Mutex::new(receiver))
        };
        Ok(Batch { tiles, updates: REBUILD_UPDATES, work })
    }

    /// Returns the tiles, and waits until they are built.
    fn finish(self) -> Result<Vec<Job>, Error> {
        match self.work {
            Work::Done(jobs) => Ok(jobs),
            Work::Running(receiver) => panic::lock(&receiver).recv().map_err(|_| {
                error!("the thread that built tiles of a navigation mesh has failed: see the log")
            }),
        }
    }

    pub fn len(&self) -> usize {
        self.tiles.len()
    }

    pub fn write_state(&self, write: &mut dyn FnMut(u64)) {
        self.tiles.iter().for_each(|tile| write(*tile as u64));
        write(u64::from(self.updates));
    }
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
    /// Starts to build some of the waiting tiles again, swaps those in that were started
    /// [`REBUILD_UPDATES`] calls ago, and joins the ends of links. Returns how polygons are
    /// numbered now, if they have changed.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread. Tiles that are too complex are
    /// left as they are, and named by the result.
    pub fn rebuild(&mut self, pool: &TaskPool) -> Result<Option<Renumbering>, Error> {
        if let Some(batch) = &mut self.volumes.batch {
            batch.updates -= 1;
        }
        let jobs = match self.volumes.batch.take_if(|batch| batch.updates == 0) {
            Some(batch) => batch.finish()?,
            None => Vec::new(),
        };
        let mut renumbering = None;
        if !jobs.is_empty() || self.jumps.has_changed {
            renumbering = Some(self.swap_in(jobs)?);
        }
        if self.volumes.batch.is_none() && !self.volumes.waiting.is_empty() {
            self.start_batch(pool)?;
        }
        Ok(renumbering)
    }

    fn start_batch(&mut self, pool: &TaskPool) -> Result<(), Error> {
        let mut jobs = Vec::new();
        while jobs.len() < UPDATE_TILES
            && let Some(tile) = self.volumes.waiting.pop_first()
        {
            let (field, volumes) = (self.volumes.take_field(tile), self.volumes_of(tile));
            jobs.push(Job { tile, field, volumes, mesh: Ok(TileMesh::default()) });
        }
        self.volumes.batch = Some(Batch::start(jobs, &self.source, self.layout, pool)?);
        Ok(())
    }

    /// Replaces tiles, and puts the mesh together again.
    fn swap_in(&mut self, jobs: Vec<Job>) -> Result<Renumbering, Error> {
        let closed = self.closed_polygons();
        let before = self.tiles.clone();
        let (changed, failure) = self.replace_tiles(jobs);
        let mut renumbering = Renumbering { before, now: Vec::new(), failure };
        // Links prefer open ground: what was closed has to be so before they are made.
        self.assemble_closed(|mesh| {
            let now = |tile: usize| (!changed[tile]).then_some(mesh.tiles[tile]);
            renumbering.now = (0..changed.len()).map(now).collect();
            mesh.close_again(&closed, &renumbering, &changed);
        })?;
        self.version += 1;
        Ok(renumbering)
    }

    /// Returns the volumes that a tile has, with its border.
    fn volumes_of(&self, tile: usize) -> Vec<AreaVolume> {
        let (low, high) = self.tile_bounds(tile);
        let is_near = |volume: &&AreaVolume| {
            let (from, to) = volume.shape.bounds();
            (0..2).all(|axis| from[axis] <= high[axis] && to[axis] >= low[axis])
        };
        self.volumes.volumes.values().filter(is_near).cloned().collect()
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

    /// Returns the lowest and the highest corner of a tile with its border.
    fn tile_bounds(&self, tile: usize) -> (Vec2, Vec2) {
        let (columns, rows) = self.layout.columns_of(tile);
        let [x, y] = self.layout.corner(tile);
        let size = self.layout.settings.cell_size;
        let low = self.layout.low.truncate() + Vec2::new(x as f32, y as f32) * size;
        (low, low + Vec2::new(columns as f32, rows as f32) * size)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::{BakeSettings, BakeSource};

    #[test]
    fn tiles_that_fail_are_left_and_the_others_are_replaced() {
        let points = [[0.0, 0.0], [30.0, 0.0], [30.0, 30.0], [0.0, 30.0]];
        let points = points.map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec();
        let source = BakeSource::new(points, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
        let settings = BakeSettings { tile_cells: 24, ..BakeSettings::DEFAULT };
        let mut mesh = NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap();
        let left = mesh.tile_meshes[1].clone();
        assert!(!left.polygons.is_empty() && !mesh.tile_meshes[0].polygons.is_empty());
        let job = |tile, mesh| Job { tile, field: None, volumes: Vec::new(), mesh };
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
