//! Tiles of LDtk's layers. Tiles on top of each other become separate layers, and tiles beside the
//! grid or with an own opacity have a style.

use super::super::TILES_MAX;
use super::super::source_tree::{is_not_false, number, number_or, numbers, object, pair, text};
use super::{LdtkSet, LdtkSets};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use std::collections::HashMap;

/// Maximum number of tiles stacked on one cell of a layer.
const STACKED_MAX: usize = 64;
/// Maximum number of tiles in all layers of a file. One line of text can declare a layer of
/// millions.
pub const FILE_TILES_MAX: usize = 1 << 23;
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
        if !(columns >= 1.0 && rows >= 1.0 && columns * rows <= TILES_MAX as f64) {
            return Err(error!("{path}: layer '{name}' has {columns} × {rows} tiles (TILES_MAX)"));
        }
        if columns.fract() != 0.0 || rows.fract() != 0.0 {
            return Err(error!(
                "{path}: layer '{name}' has {columns} × {rows} tiles, which must be whole numbers: \
                 save the project again in LDtk"
            ));
        }
        Ok(LayerCells { columns, rows, grid: number(layer, "__gridSize").max(1.0) })
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
struct Stacks {
    cells: LayerCells,
    sheets: Vec<Sheet>,
    /// The last tile on each cell of the grid, also outside of the layer: its sheet and its index
    /// in the drawing order of the sheet.
    last: HashMap<(i64, i64), (usize, usize)>,
    unknown: Vec<SjsonTree>,
}

impl Stacks {
    /// Adds a tile at a position from the top left of the layer.
    fn add(
        &mut self,
        (path, name): (&str, &str),
        tile: &SjsonTree,
        set: LdtkSet,
        tiles_left: &mut usize,
    ) -> Result<(), Error> {
        let LayerCells { columns, rows, grid } = self.cells;
        let [x, y] = pair(tile, "px");
        let inside = x > -set.size && y > -set.size && x < columns * grid && y < rows * grid;
        if !inside {
            return Ok(());
        }
        let own = number(tile, "t");
        if !(0.0..set.count).contains(&own) {
            self.unknown.push(SjsonTree::Number(own));
            return Ok(());
        }
        // The nearest cell; the tile is drawn beside it if it is not on the grid.
        let column = (x / grid).round().clamp(0.0, columns - 1.0);
        let row = (y / grid).round().clamp(0.0, rows - 1.0);
        let index = row as usize * columns as usize + column as usize;
        let range =
            |from: f64| (from / grid).floor() as i64..((from + set.size) / grid).ceil() as i64;
        let touched = || range(y).flat_map(|row| range(x).map(move |column| (column, row)));
        // The tile is above each earlier tile in the same sheet if it is drawn after it.
        let above = |(sheet, last): &(usize, usize)| if index > *last { *sheet } else { sheet + 1 };
        let sheet = touched().filter_map(|cell| self.last.get(&cell)).map(above).max().unwrap_or(0);
        if sheet == STACKED_MAX {
            return Err(error!(
                "{path}: layer '{name}' has more than {STACKED_MAX} tiles on one cell \
                 (STACKED_MAX): make layers of them"
            ));
        }
        if sheet == self.sheets.len() {
            self.add_sheet(path, tiles_left)?;
        }
        for cell in touched() {
            let last = self.last.entry(cell).or_insert((sheet, index));
            *last = (*last).max((sheet, index));
        }
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

    fn add_sheet(&mut self, path: &str, tiles_left: &mut usize) -> Result<(), Error> {
        *tiles_left = tiles_left.checked_sub(self.cells.count()).ok_or_else(|| {
            error!(
                "{path}: its layers have more than {FILE_TILES_MAX} tiles in all (FILE_TILES_MAX): \
                 make two files of it"
            )
        })?;
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
    sets: &mut LdtkSets,
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
    let mut stacks = Stacks { cells, sheets, last, unknown: Vec::new() };
    for tile in tiles {
        stacks.add((path, name), tile, set, &mut sets.tiles_left)?;
    }
    if stacks.sheets.is_empty() && !stacks.unknown.is_empty() {
        stacks.add_sheet(path, &mut sets.tiles_left)?;
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
