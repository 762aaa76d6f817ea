//! Messages about meshes that are too large, and tiles that are too complex.

use super::bake::TileLayout;
use super::mesh::{HEIGHTS_MAX, MESH_POLYGONS_MAX};
use engine_foundation::{Error, error};

pub(super) fn too_many_polygons(count: usize) -> Error {
    error!(
        "the mesh has {count} polygons, and {MESH_POLYGONS_MAX} are the most (MESH_POLYGONS_MAX): \
         increase 'cell_size'"
    )
}

pub(super) fn too_many_heights(count: usize) -> Error {
    error!(
        "the uneven ground of the mesh has {count} heights, and {HEIGHTS_MAX} are the most \
         (HEIGHTS_MAX): increase 'height_error' or 'cell_size'"
    )
}

pub(super) fn located(layout: &TileLayout, tile: usize, message: &str) -> Error {
    let size = layout.settings.tile_cells as f32 * layout.settings.cell_size;
    let (x, y) = ((tile % layout.tiles_x) as f32, (tile / layout.tiles_x) as f32);
    let (x, y) = (layout.low.x + x * size, layout.low.y + y * size);
    error!("baking failed in the tile from ({x:.1}, {y:.1}) on: {message}")
}
