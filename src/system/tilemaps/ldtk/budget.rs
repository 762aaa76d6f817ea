//! Limits on what the levels of one LDtk file contain in all. A few bytes of text can declare a
//! large layer, and one file can name many others.

use super::super::data::OBJECTS_MAX;
use engine_foundation::Error;
use engine_foundation::error;

/// Maximum number of tiles in all layers of a file.
pub const FILE_TILES_MAX: usize = 1 << 23;
/// Maximum number of cells that the tiles of a file cover in all. A tile that is larger than the
/// grid covers several.
pub const COVERED_CELLS_MAX: usize = 1 << 24;
/// Maximum number of cells in all IntGrids of a file.
pub const GRID_CELLS_MAX: usize = 1 << 23;
/// Maximum number of levels of a file.
pub const FILE_LEVELS_MAX: usize = 1 << 14;
/// Maximum number of bytes in all separate files of levels.
pub const LEVEL_BYTES_MAX: usize = 1 << 27;

/// Amounts that the rest of a file may still have.
pub struct FileBudget {
    tiles: usize,
    covered_cells: usize,
    grid_cells: usize,
    levels: usize,
    level_bytes: usize,
    entities: usize,
}

impl FileBudget {
    pub const FULL: FileBudget = FileBudget {
        tiles: FILE_TILES_MAX,
        covered_cells: COVERED_CELLS_MAX,
        grid_cells: GRID_CELLS_MAX,
        levels: FILE_LEVELS_MAX,
        level_bytes: LEVEL_BYTES_MAX,
        entities: OBJECTS_MAX,
    };

    pub fn charge_tiles(&mut self, path: &str, count: usize) -> Result<(), Error> {
        deduct(&mut self.tiles, count, || {
            error!(
                "{path}: its layers have more than {FILE_TILES_MAX} tiles in all (FILE_TILES_MAX): \
                 make two files of it"
            )
        })
    }

    pub fn charge_covered_cells(
        &mut self,
        path: &str,
        layer: &str,
        count: usize,
    ) -> Result<(), Error> {
        deduct(&mut self.covered_cells, count, || {
            error!(
                "{path}: the tiles of layer '{layer}' and of the layers before it cover more than \
                 {COVERED_CELLS_MAX} cells (COVERED_CELLS_MAX): use a larger grid, or make two \
                 files of it"
            )
        })
    }

    pub fn charge_grid_cells(
        &mut self,
        path: &str,
        layer: &str,
        count: usize,
    ) -> Result<(), Error> {
        deduct(&mut self.grid_cells, count, || {
            error!(
                "{path}: with layer '{layer}', the IntGrids have more than {GRID_CELLS_MAX} cells \
                 in all (GRID_CELLS_MAX): make two files of it"
            )
        })
    }

    pub fn charge_entities(&mut self, path: &str, layer: &str, count: usize) -> Result<(), Error> {
        deduct(&mut self.entities, count, || {
            error!(
                "{path}: with layer '{layer}', the levels have more than {OBJECTS_MAX} entities in \
                 all (OBJECTS_MAX): make two files of it"
            )
        })
    }

    pub fn charge_level(&mut self, path: &str) -> Result<(), Error> {
        deduct(&mut self.levels, 1, || {
            error!(
                "{path}: it has more than {FILE_LEVELS_MAX} levels (FILE_LEVELS_MAX): make two \
                 files of it"
            )
        })
    }

    /// Deducts the bytes of a separate file of a level.
    pub fn charge_level_bytes(
        &mut self,
        path: &str,
        level_path: &str,
        bytes: usize,
    ) -> Result<(), Error> {
        deduct(&mut self.level_bytes, bytes, || {
            error!(
                "{path}: with {level_path}, the files of its levels have more than {} MiB \
                 (LEVEL_BYTES_MAX): make two files of it",
                LEVEL_BYTES_MAX >> 20
            )
        })
    }
}

/// Deducts a count, or returns an error if less is left.
fn deduct(left: &mut usize, count: usize, error: impl FnOnce() -> Error) -> Result<(), Error> {
    *left = left.checked_sub(count).ok_or_else(error)?;
    Ok(())
}
