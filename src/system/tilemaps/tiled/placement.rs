//! Conversion of Tiled's positions, which count from the top left of a map that can be infinite,
//! into positions from the bottom left of the drawn map.

use super::super::TILES_MAX;
use super::super::cell_grid::{CellGrid, CellShape, Stagger};
use super::super::source_tree::{is_true, list, number, text};
use super::cell_size;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;

/// Maximum distance from the origin, in cells, at which a chunk can begin.
const CHUNK_AT_MAX: f64 = 1e9;

/// Maximum nesting depth of groups.
pub const GROUPS_MAX: usize = 16;

/// Size and origin of a map.
pub struct Placement {
    orientation: String,
    /// Columns and rows of the map; of an infinite map, all that its chunks cover, or those that
    /// the file states if there are no chunks.
    pub cells: [f64; 2],
    /// First column and row that the map's layers have; 0 in a map that is not infinite.
    pub origin: [f64; 2],
    /// Rows that the file states, from which Tiled places isometric maps.
    stated_rows: f64,
    pub cell: [f64; 2],
    side: f64,
    stagger_columns: bool,
    stagger_first: bool,
    /// True if the tiles of layers are in chunks, and all layers have the cells of the map.
    pub is_infinite: bool,
}

/// Edges of all chunks of an infinite map: left, top, right, bottom in cells.
type Edges = Option<[f64; 4]>;

impl Placement {
    pub fn of(path: &str, map: &SjsonTree) -> Result<Placement, Error> {
        let mut edges = None;
        add_chunks(path, map, &mut edges, list_chunks, 0)?;
        let is_infinite = edges.is_some() || is_true(map, "infinite");
        if is_infinite {
            add_chunks(path, map, &mut edges, parts, 0)?;
        }
        let mut placement = Placement {
            orientation: text(map, "orientation").to_string(),
            cells: [number(map, "width"), number(map, "height")],
            origin: [0.0; 2],
            stated_rows: number(map, "height"),
            cell: cell_size(path, map)?,
            side: number(map, "hexsidelength"),
            stagger_columns: text(map, "staggeraxis") == "x",
            stagger_first: text(map, "staggerindex") == "even",
            is_infinite,
        };
        if !is_infinite {
            return Ok(placement);
        }
        if let Some([left, top, right, bottom]) = edges {
            (placement.cells, placement.origin) = ([right - left, bottom - top], [left, top]);
        }
        let side = 0.0..=TILES_MAX as f64;
        let [columns, rows] = placement.cells;
        if !side.contains(&columns) || !side.contains(&rows) || columns * rows > *side.end() {
            return Err(error!(
                "{path}: the map spans {columns} × {rows} tiles, and a layer has at most \
                 {TILES_MAX} (TILES_MAX): move its parts together, or split it"
            ));
        }
        // The parity of a row or column counts from the first one of the drawn map.
        let first = placement.origin[usize::from(!placement.stagger_columns)];
        placement.stagger_first ^= first.rem_euclid(2.0) == 1.0;
        Ok(placement)
    }

    /// Returns the fields of the compiled map.
    pub fn fields(&self) -> Vec<(&'static str, SjsonTree)> {
        vec![
            ("columns", SjsonTree::Number(self.cells[0])),
            ("rows", SjsonTree::Number(self.cells[1])),
            ("tile_width", SjsonTree::Number(self.cell[0])),
            ("tile_height", SjsonTree::Number(self.cell[1])),
            ("orientation", SjsonTree::String(self.orientation.clone())),
            ("stagger_columns", SjsonTree::Bool(self.stagger_columns)),
            ("stagger_first", SjsonTree::Bool(self.stagger_first)),
            ("side", SjsonTree::Number(if self.is_hexagonal() { self.side } else { 0.0 })),
        ]
    }

    fn is_hexagonal(&self) -> bool {
        self.orientation == "hexagonal"
    }

    pub fn is_isometric(&self) -> bool {
        self.orientation == "isometric"
    }

    /// Returns the size of a grid with this number of cells, in texels.
    pub fn size_of(&self, [columns, rows]: [f64; 2]) -> [f64; 2] {
        let shape = match &self.orientation[..] {
            "isometric" => CellShape::Diamonds,
            "orthogonal" => CellShape::Rectangles,
            _ => CellShape::Staggered(Stagger {
                columns: self.stagger_columns,
                first: self.stagger_first,
                side: if self.is_hexagonal() { self.side as f32 } else { 0.0 },
            }),
        };
        // Larger numbers are refused when the compiled tree is read.
        let [columns, rows] = [columns, rows].map(|count| count.clamp(0.0, 65_536.0) as u32);
        let cell = self.cell.map(|side| side as f32);
        CellGrid { shape, columns, rows, cell }.size().map(f64::from)
    }

    /// Returns the height of the drawn map in texels.
    pub fn height(&self) -> f64 {
        self.size_of(self.cells)[1]
    }

    /// Returns the drawn position of Tiled's origin, from the top left of the map, y down.
    pub fn screen_origin(&self) -> [f64; 2] {
        let ([left, top], [width, height]) = (self.origin, self.cell);
        match &self.orientation[..] {
            "isometric" => {
                let moved = self.cells[1] - self.stated_rows - left + top;
                [moved * width * 0.5, -(left + top) * height * 0.5]
            }
            "orthogonal" => [-left * width, -top * height],
            _ => {
                let even = |side: f64| (side * 0.5).floor() * 2.0;
                let (width, height) = (even(width), even(height));
                let side = if self.is_hexagonal() { self.side } else { 0.0 };
                let near = |size: f64| ((size - side) * 0.5).floor() + side;
                match self.stagger_columns {
                    true => {
                        let full = height;
                        [-left * near(width), -top * full]
                    }
                    false => [-left * width, -top * near(height)],
                }
            }
        }
    }

    /// Returns the drawn position of an object's position in the file, from the top left of the
    /// map, y down.
    pub fn project(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let origin = self.screen_origin();
        if !self.is_isometric() {
            return [x + origin[0], y + origin[1]];
        }
        // Positions in isometric maps count in heights of cells, along the sides of the map.
        let [width, height] = self.cell;
        let (column, row) = (x / height, y / height);
        let top = self.stated_rows * width * 0.5;
        [(column - row) * width * 0.5 + top + origin[0], (column + row) * height * 0.5 + origin[1]]
    }

    /// Returns the origin of the parallax from the bottom left of the map.
    pub fn parallax_origin(&self, map: &SjsonTree) -> [f64; 2] {
        let origin = self.screen_origin();
        let (x, y) = (number(map, "parallaxoriginx"), number(map, "parallaxoriginy"));
        [x + origin[0], self.height() - (y + origin[1])]
    }
}

/// Function that returns the parts of a layer that have tiles.
type PartsOf = fn(&SjsonTree) -> &[SjsonTree];

fn list_chunks(layer: &SjsonTree) -> &[SjsonTree] {
    list(layer, "chunks")
}

/// Returns the parts of a layer of an infinite map: its chunks, or the layer itself if its tiles
/// are listed as in other maps.
pub fn parts(layer: &SjsonTree) -> &[SjsonTree] {
    let chunks = list_chunks(layer);
    let is_empty = match layer.get("data") {
        Some(SjsonTree::Array(tiles)) => tiles.is_empty(),
        Some(SjsonTree::String(packed)) => packed.trim().is_empty(),
        _ => true,
    };
    match chunks.is_empty() && !is_empty {
        true => std::slice::from_ref(layer),
        false => chunks,
    }
}

/// Extends the edges by the parts of all layers of a map or group.
fn add_chunks(
    path: &str,
    tree: &SjsonTree,
    edges: &mut Edges,
    parts_of: PartsOf,
    depth: usize,
) -> Result<(), Error> {
    for layer in list(tree, "layers") {
        if depth < GROUPS_MAX {
            add_chunks(path, layer, edges, parts_of, depth + 1)?;
        }
        for chunk in parts_of(layer) {
            let [left, top, width, height] = chunk_rectangle(path, chunk)?;
            let own = [left, top, left + width, top + height];
            *edges = Some(match *edges {
                None => own,
                Some(all) => {
                    [all[0].min(own[0]), all[1].min(own[1]), all[2].max(own[2]), all[3].max(own[3])]
                }
            });
        }
    }
    Ok(())
}

/// Returns the column, row, width and height of a chunk.
pub fn chunk_rectangle(path: &str, chunk: &SjsonTree) -> Result<[f64; 4], Error> {
    let mut rectangle = [0.0; 4];
    for (at, key) in rectangle.iter_mut().zip(["x", "y", "width", "height"]) {
        *at = number(chunk, key);
        let least = if key.len() > 1 { 0.0 } else { -CHUNK_AT_MAX };
        if at.fract() != 0.0 || !(least..=CHUNK_AT_MAX).contains(at) {
            return Err(error!(
                "{path}: '{key}' of a chunk must be a whole number from {least} to {CHUNK_AT_MAX}, \
                 got {at:?}: save the map again in Tiled"
            ));
        }
    }
    Ok(rectangle)
}
