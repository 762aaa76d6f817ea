//! The bake of all tiles of a mesh. Threads take one tile after another, those with the most work
//! first, so that none of them has to wait for another one that still has many.

use super::bake::{BakeSource, BakedTile, CompactField, TileLayout, TileMesh, bake_tile};
use super::mesh_errors::located;
use super::volumes::FIELD_BYTES_MAX;
use engine_foundation::Error;
use engine_foundation::tasks::TaskPool;
use std::cmp::Reverse;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Mesh of a tile, and its open spans if they are kept.
type Baked = (TileMesh, Option<CompactField>);

/// Bakes the tiles of a source, with the same result on any number of threads.
///
/// # Errors
/// Returns the error of the first tile that is too complex.
pub(super) fn bake_tiles(
    source: &BakeSource,
    layout: &TileLayout,
    pool: &TaskPool,
) -> Result<Vec<Baked>, Error> {
    let count = |tile: &usize| source.triangles_of(*tile).len();
    let mut order: Vec<usize> = (0..layout.count()).filter(|tile| count(tile) > 0).collect();
    order.sort_by_key(|tile| Reverse(count(tile)));
    let mut baked: Vec<OnceLock<Result<Baked, Error>>> = Vec::new();
    baked.resize_with(layout.count(), OnceLock::new);
    let (next, field_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (order, results, next, field_bytes) = (&order, &baked, &next, &field_bytes);
    let bake = move |tile: usize| {
        let BakedTile { mesh, field } = bake_tile(source, layout, tile, &[])
            .map_err(|message| located(layout, tile, &message))?;
        // Which ones are kept if there are too many does not change any mesh.
        let bytes = field.bytes();
        let before = field_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok((mesh, (before + bytes <= FIELD_BYTES_MAX).then_some(field)))
    };
    let tasks = pool.tasks(source.len())?;
    let mut threads = vec![(); pool.threads().min(order.len())];
    tasks.each_slice(pool.task("navigation_bake"), &mut threads, move |_, _: &mut [()]| {
        while let Some(tile) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Each tile is taken once.
            let _ = results[*tile].set(bake(*tile));
        }
    })?;
    let result = |tile: OnceLock<_>| tile.into_inner().unwrap_or_else(|| Ok(Baked::default()));
    baked.into_iter().map(result).collect()
}
