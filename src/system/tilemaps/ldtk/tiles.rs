//! Tiles of LDtk's layers. Tiles on top of each other become separate layers, and tiles off the
//! grid or with an own opacity have a style.

use super::super::source_tree::{
    is_not_false, number, number_or, numbers, object, required, required_pair, text,
};
use super::super::{SIDE_MAX, TILES_MAX};
use super::budget::FileBudget;
use super::{LdtkSet, LdtkSets, grid_size};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use std::collections::HashMap;

/// Maximum number of tiles stacked on one cell of a layer.
const STACKED_MAX: usize = 64;
/// Maximum number of cells along a side of one tile.
const TILE_CELLS_MAX: f64 = 64.0;

/// Cells of a layer.
struct LayerCells {
    columns: f64,
    rows: f64,
    /// Side of a cell in texels.
    grid: f64,
}

impl LayerCells {
    /// Returns the cells of a layer after checking their number.
    fn of(path: &str, layer: &SjsonTree) -> Result<LayerCells, Error> {
        let name = text(layer, "__identifier");
        let (columns, rows) = (number(layer, "__cWid"), number(layer, "__cHei"));
        if columns.fract() != 0.0 || rows.fract() != 0.0 {
            return Err(error!(
                "{path}: layer '{name}' has {columns} × {rows} tiles, which must be whole numbers: \
                 save the project again in LDtk"
            ));
        }
        let side = 1.0..=f64::from(SIDE_MAX);
        let fits = side.contains(&columns) && side.contains(&rows);
        if !fits || columns * rows > TILES_MAX as f64 {
            return Err(error!(
                "{path}: layer '{name}' has {columns} × {rows} tiles, and a layer has 1 to \
                 {SIDE_MAX} in a row or column (SIDE_MAX) and at most {TILES_MAX} in all \
                 (TILES_MAX): split the level"
            ));
        }
        Ok(LayerCells { columns, rows, grid: grid_size(path, layer)? })
    }

    fn count(&self) -> usize {
        self.columns as usize * self.rows as usize
    }
}

/// One of the layers that the tiles of a layer become.
struct Sheet {
    /// Tiles row by row from the top.
    tiles: Vec<f64>,
    styles: Vec<SjsonTree>,
}

/// Tiles of a layer, distributed over sheets so that they cover each other as in the file.
struct Stacks<'a> {
    path: &'a str,
    name: &'a str,
    cells: LayerCells,
    sheets: Vec<Sheet>,
    /// The last tile on each cell of the grid, also outside of the layer: its sheet and its index
    /// in the drawing order of the sheet. At most [`TILE_CELLS_MAX`] cells are outside of a side.
    last: HashMap<[i32; 2], (u32, u32)>,
    unknown: Vec<SjsonTree>,
}

impl Stacks<'_> {
    /// Adds a tile at a position from the top left of the layer.
    fn add(
        &mut self,
        tile: &SjsonTree,
        set: LdtkSet,
        budget: &mut FileBudget,
    ) -> Result<(), Error> {
        let LayerCells { columns, rows, grid } = self.cells;
        let tile_owner = || format!("a tile of layer '{}'", self.name);
        let [x, y] = required_pair(self.path, tile, "px", tile_owner)?;
        let inside = x > -set.size && y > -set.size && x < columns * grid && y < rows * grid;
        if !inside {
            return Ok(());
        }
        let own = required(self.path, tile, "t", tile_owner)?;
        if !(0.0..set.count).contains(&own) {
            self.unknown.push(SjsonTree::Number(own));
            return Ok(());
        }
        // The tile belongs to the nearest cell, and is moved if it is not on the grid.
        let column = (x / grid).round().clamp(0.0, columns - 1.0);
        let row = (y / grid).round().clamp(0.0, rows - 1.0);
        let index = row as u32 * columns as u32 + column as u32;
        let sheet = self.top_sheet([x, y], [column, row], index, set.size, budget)?;
        if sheet == self.sheets.len() {
            self.add_sheet(budget)?;
        }
        let index = index as usize;
        let flips = number(tile, "f") as u32;
        let flip_bits = f64::from((flips & 1) << 31 | (flips >> 1 & 1) << 30);
        let (shift, alpha) = ([x - column * grid, row * grid - y], number_or(tile, "a", 1.0));
        let sheet = &mut self.sheets[sheet];
        sheet.tiles[index] = set.first + own + flip_bits;
        if shift != [0.0; 2] || alpha != 1.0 {
            sheet.styles.push(object(vec![
                ("cell", SjsonTree::Number(index as f64)),
                ("shift", numbers(&shift)),
                ("alpha", SjsonTree::Number(alpha)),
            ]));
        }
        Ok(())
    }

    /// Puts a tile on top of those that it covers. Returns the index of its sheet, which can be
    /// one more than there are. `cell` is the tile's own cell, with this index.
    fn top_sheet(
        &mut self,
        at: [f64; 2],
        cell: [f64; 2],
        index: u32,
        size: f64,
        budget: &mut FileBudget,
    ) -> Result<usize, Error> {
        let grid = self.cells.grid;
        let [across, down] =
            at.map(|from| (from / grid).floor() as i32..((from + size) / grid).ceil() as i32);
        budget.charge_covered_cells(self.path, self.name, across.len() * down.len())?;
        // A tile that is smaller than the grid need not cover its own cell.
        let own = cell.map(|at| at as i32);
        let is_covered = across.contains(&own[0]) && down.contains(&own[1]);
        let covered = || {
            let cells = down.clone().flat_map(|row| across.clone().map(move |x| [x, row]));
            cells.chain((!is_covered).then_some(own))
        };
        // The tile is above each earlier tile in the same sheet if it is drawn after it.
        let above = |(sheet, last): &(u32, u32)| if index > *last { *sheet } else { sheet + 1 };
        let sheet = covered().filter_map(|cell| self.last.get(&cell)).map(above).max().unwrap_or(0);
        if sheet as usize == STACKED_MAX {
            return Err(error!(
                "{}: layer '{}' has more than {STACKED_MAX} tiles on one cell (STACKED_MAX): make \
                 layers of them",
                self.path, self.name
            ));
        }
        for cell in covered() {
            let last = self.last.entry(cell).or_insert((sheet, index));
            *last = (*last).max((sheet, index));
        }
        Ok(sheet as usize)
    }

    fn add_sheet(&mut self, budget: &mut FileBudget) -> Result<(), Error> {
        budget.charge_tiles(self.path, self.cells.count())?;
        let tiles = vec![0.0; self.cells.count()];
        self.sheets.push(Sheet { tiles, styles: Vec::new() });
        Ok(())
    }
}

/// Converts the tiles of a layer into as many layers as the tallest stack of tiles needs.
pub fn layers(
    path: &str,
    layer: &SjsonTree,
    tiles: &[SjsonTree],
    height: f64,
    sets: &LdtkSets,
    budget: &mut FileBudget,
) -> Result<Vec<SjsonTree>, Error> {
    let name = text(layer, "__identifier");
    let set = *sets.by_uid.get(&(number(layer, "__tilesetDefUid") as i64)).ok_or_else(|| {
        error!("{path}: layer '{name}' is drawn with a tile set that has no picture")
    })?;
    let cells = LayerCells::of(path, layer)?;
    if set.size > cells.grid * TILE_CELLS_MAX {
        return Err(error!(
            "{path}: layer '{name}' has tiles of {} texels and a grid of {}: a tile can cover \
             {TILE_CELLS_MAX} cells of a row (TILE_CELLS_MAX), so use a larger grid",
            set.size, cells.grid
        ));
    }
    let (sheets, last) = (Vec::new(), HashMap::new());
    let mut stacks = Stacks { path, name, cells, sheets, last, unknown: Vec::new() };
    for tile in tiles {
        stacks.add(tile, set, budget)?;
    }
    if stacks.sheets.is_empty() && !stacks.unknown.is_empty() {
        stacks.add_sheet(budget)?;
    }
    let Stacks { cells, sheets, mut unknown, .. } = stacks;
    let layers = sheets.into_iter().enumerate().map(|(i, sheet)| {
        let unknown = if i == 0 { std::mem::take(&mut unknown) } else { Vec::new() };
        let name = if i == 0 { name.to_string() } else { format!("{name} {}", i + 1) };
        let top = number(layer, "__pxTotalOffsetY");
        object(vec![
            ("name", SjsonTree::String(name)),
            ("columns", SjsonTree::Number(cells.columns)),
            ("rows", SjsonTree::Number(cells.rows)),
            ("tile_width", SjsonTree::Number(cells.grid)),
            ("tile_height", SjsonTree::Number(cells.grid)),
            ("x", SjsonTree::Number(number(layer, "__pxTotalOffsetX"))),
            ("y", SjsonTree::Number(height - top - cells.rows * cells.grid)),
            ("opacity", SjsonTree::Number(number_or(layer, "__opacity", 1.0))),
            ("visible", SjsonTree::Bool(is_not_false(layer, "visible"))),
            ("from_top", SjsonTree::Bool(true)),
            ("tiles", numbers(&sheet.tiles)),
            ("styles", SjsonTree::Array(sheet.styles)),
            ("lacking", SjsonTree::Array(unknown)),
        ])
    });
    Ok(layers.collect())
}
