//! Tiles that are built again: a batch of them at a time, from their open spans, which are kept.
//! Another thread builds them while frames go on, and they are swapped in a fixed number of updates
//! later, so that results do not depend on threads.

use super::bake::{
    AreaVolume, BakeSource, BakedTile, CompactField, TileLayout, TileMesh, bake_tile,
    tile_from_field,
};
use super::mesh::{HEIGHTS_MAX, MESH_POLYGONS_MAX, NavigationMesh, nearest_in_polygon};
use super::mesh_errors::{located, too_many_heights, too_many_polygons};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec2, Vec3, error, owner, panic, scope};
use std::sync::atomic::{AtomicBool, Ordering};
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
    field: Option<Arc<CompactField>>,
    mesh: Result<TileMesh, Error>,
}

impl Job {
    fn build(&mut self, volumes: &[AreaVolume], source: &BakeSource, layout: &TileLayout) {
        let mesh = self.mesh(volumes, source, layout);
        self.mesh = mesh.map_err(|text| located(layout, self.tile, &text));
    }

    fn mesh(
        &mut self,
        volumes: &[AreaVolume],
        source: &BakeSource,
        layout: &TileLayout,
    ) -> Result<TileMesh, String> {
        if let Some(field) = &self.field {
            return tile_from_field(field, layout, self.tile, volumes);
        }
        let BakedTile { mesh, field } = bake_tile(source, layout, self.tile, volumes)?;
        self.field = Some(Arc::new(field));
        Ok(mesh)
    }
}

/// Tiles that are built again, with the volumes of each.
pub(super) type BatchTiles = Arc<Vec<(usize, Vec<AreaVolume>)>>;

/// Builds tiles while somebody waits for them.
fn build(
    jobs: &mut [Job],
    tiles: &[(usize, Vec<AreaVolume>)],
    (source, layout): (&BakeSource, &TileLayout),
    is_wanted: impl Fn() -> bool,
) {
    for (job, (_, volumes)) in jobs.iter_mut().zip(tiles).take_while(|_| is_wanted()) {
        job.build(volumes, source, layout);
    }
}

/// Tiles that are being built.
#[derive(Debug)]
pub(super) struct Batch {
    pub tiles: BatchTiles,
    /// Updates until they are swapped in.
    pub updates: u32,
    work: Work,
}

#[derive(Debug)]
enum Work {
    /// It begins in the next update.
    Waiting,
    Done(Vec<Job>),
    Running(Running),
}

/// Tiles that another thread builds. It stops after a tile if this was dropped.
#[derive(Debug)]
struct Running {
    receiver: Mutex<Receiver<Vec<Job>>>,
    is_wanted: Arc<AtomicBool>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::Relaxed);
    }
}

impl Batch {
    /// Makes a batch that begins in the next update, and is swapped in after a number of updates.
    pub fn waiting(tiles: BatchTiles, updates: u32) -> Batch {
        Batch { tiles, updates, work: Work::Waiting }
    }

    /// Returns false for one that begins in the next update.
    pub fn has_begun(&self) -> bool {
        !matches!(self.work, Work::Waiting)
    }

    /// Starts to build the tiles: on another thread, if the game may use more than one.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    fn start(
        &mut self,
        mut jobs: Vec<Job>,
        source: &Arc<BakeSource>,
        layout: TileLayout,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        self.work = if pool.threads() == 1 {
            build(&mut jobs, &self.tiles, (source, &layout), || true);
            Work::Done(jobs)
        } else {
            let (sender, receiver) = channel();
            let (source, tiles) = (Arc::clone(source), Arc::clone(&self.tiles));
            let is_wanted = Arc::new(AtomicBool::new(true));
            let wanted = Arc::clone(&is_wanted);
            let thread = panic::spawn("navigation tiles", move || {
                scope!("navigation_tiles");
                owner!("navigation");
                let is_wanted = || wanted.load(Ordering::Relaxed);
                build(&mut jobs, &tiles, (&source, &layout), is_wanted);
                // Nobody waits for the tiles of a mesh that was destroyed, or was restored from a
                // snapshot.
                let _ = sender.send(jobs);
            });
            thread.map_err(|cause| error!("no thread for the tiles of a mesh: {cause}"))?;
            Work::Running(Running { receiver: Mutex::new(receiver), is_wanted })
        };
        Ok(())
    }

    /// Returns the tiles, and waits until they are built.
    fn finish(self) -> Result<Vec<Job>, Error> {
        match self.work {
            Work::Done(jobs) => Ok(jobs),
            Work::Running(running) => panic::lock(&running.receiver).recv().map_err(|_| {
                error!("the thread that built tiles of a navigation mesh has failed: see the log")
            }),
            Work::Waiting => unreachable!("it begins before it ends"),
        }
    }

    pub fn len(&self) -> usize {
        self.tiles.len()
    }

    pub fn write_state(&self, write: &mut dyn FnMut(u64)) {
        self.tiles.iter().for_each(|(tile, _)| write(*tile as u64));
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
    /// Numbers of the volumes in that tile.
    pub failed_volumes: Vec<u32>,
}

impl Renumbering {
    /// Returns the number that a polygon has now; `None` if its tile was built again.
    pub fn polygon(&self, before: u32) -> Option<u32> {
        let tile = self.before.partition_point(|first| *first <= before) - 1;
        self.now[tile].map(|now| now + before - self.before[tile])
    }
}

/// Polygon that was closed before its tile was built again.
struct ClosedPolygon {
    number: u32,
    area: u8,
    corners: Vec<Vec3>,
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
        if let Some(mut batch) = self.volumes.batch.take() {
            if !batch.has_begun() {
                self.build_tiles(&mut batch, pool)?;
            }
            batch.updates -= 1;
            self.volumes.batch = Some(batch);
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
        let mut tiles = Vec::new();
        while tiles.len() < UPDATE_TILES
            && let Some(tile) = self.volumes.waiting.pop_first()
        {
            let volumes = self.volumes_near(tile).map(|(_, volume)| volume.clone()).collect();
            tiles.push((tile, volumes));
        }
        let mut batch = Batch::waiting(Arc::new(tiles), REBUILD_UPDATES);
        self.build_tiles(&mut batch, pool)?;
        self.volumes.batch = Some(batch);
        Ok(())
    }

    /// Starts to build tiles. Their open spans stay known, in case nobody waits for them later.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread. The tiles wait again then.
    fn build_tiles(&mut self, batch: &mut Batch, pool: &TaskPool) -> Result<(), Error> {
        let job = |tile: usize| {
            let field = self.volumes.field(tile);
            Job { tile, field, mesh: Ok(TileMesh::default()) }
        };
        let jobs = batch.tiles.iter().map(|(tile, _)| job(*tile)).collect();
        let started = batch.start(jobs, &self.source, self.layout, pool);
        if started.is_err() {
            self.volumes.waiting.extend(batch.tiles.iter().map(|(tile, _)| *tile));
        }
        started
    }

    /// Replaces tiles, and puts the mesh together again.
    fn swap_in(&mut self, jobs: Vec<Job>) -> Result<Renumbering, Error> {
        let closed = self.closed_polygons();
        let before = self.tiles.clone();
        let tiles: Vec<usize> = jobs.iter().map(|job| job.tile).collect();
        let (changed, failure) = self.replace_tiles(jobs);
        let failed = tiles.into_iter().find(|tile| !changed[*tile]);
        let failed_volumes = failed.map_or_else(Vec::new, |tile| {
            self.volumes_near(tile).map(|(number, _)| *number).collect()
        });
        let mut renumbering = Renumbering { before, now: Vec::new(), failure, failed_volumes };
        // Links prefer open ground: what was closed has to be so before they are made.
        self.assemble_closed(|mesh| {
            let now = |tile: usize| (!changed[tile]).then_some(mesh.tiles[tile]);
            renumbering.now = (0..changed.len()).map(now).collect();
            mesh.close_again(&closed, &renumbering, &changed);
        })?;
        self.version += 1;
        Ok(renumbering)
    }

    /// Returns the volumes that a tile has, with its border, by number.
    fn volumes_near(&self, tile: usize) -> impl Iterator<Item = (&u32, &AreaVolume)> {
        let (low, high) = self.tile_bounds(tile);
        self.volumes.volumes.iter().filter(move |(_, volume)| {
            let (from, to) = volume.shape.bounds();
            (0..2).all(|axis| from[axis] <= high[axis] && to[axis] >= low[axis])
        })
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

    /// Returns the polygons that are closed.
    fn closed_polygons(&self) -> Vec<ClosedPolygon> {
        let numbers = 0..self.polygons.len() as u32;
        let closed = numbers.filter(|polygon| self.is_obstructed(*polygon));
        let copy = |number| {
            let (area, corners) = (self.area(number), self.corners(number).to_vec());
            ClosedPolygon { number, area, corners }
        };
        closed.map(copy).collect()
    }

    /// Closes the polygons that were closed before, and the new ones whose middle is in one. If
    /// there is none, because the ground around it has other polygons now, the one of the same area
    /// in which its middle is.
    fn close_again(
        &mut self,
        closed: &[ClosedPolygon],
        renumbering: &Renumbering,
        changed: &[bool],
    ) {
        for ClosedPolygon { number, area, corners } in closed {
            if let Some(now) = renumbering.polygon(*number) {
                self.polygons[now as usize].is_obstructed = true;
                continue;
            }
            let tile = renumbering.before.partition_point(|first| first <= number) - 1;
            assert!(changed[tile], "polygons of other tiles are renumbered");
            let (step, middle) = (self.layout.settings.step, middle_of(corners));
            let (mut is_closed, mut around) = (false, None);
            for polygon in self.tiles[tile]..self.tiles[tile + 1] {
                let own = self.corners(polygon);
                let own_middle = middle_of(own);
                if (corners[0].z - own_middle.z).abs() > step {
                    continue;
                }
                let is_in = |corners: &[Vec3], point: Vec3| {
                    nearest_in_polygon(corners, point.truncate()) == point.truncate()
                };
                if self.polygons[polygon as usize].area == *area && is_in(own, middle) {
                    around = around.or(Some(polygon));
                }
                if is_in(corners, own_middle) {
                    self.polygons[polygon as usize].is_obstructed = true;
                    is_closed = true;
                }
            }
            if let Some(polygon) = around.filter(|_| !is_closed) {
                self.polygons[polygon as usize].is_obstructed = true;
            }
        }
    }
}

fn middle_of(corners: &[Vec3]) -> Vec3 {
    corners.iter().sum::<Vec3>() / corners.len() as f32
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
