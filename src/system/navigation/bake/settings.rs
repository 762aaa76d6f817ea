//! Settings of a bake, and the division of a level into tiles.

use super::Vec3;
use engine_foundation::deterministic_math::sin_cos;

/// Largest and smallest size of tiles, in cells.
pub const TILE_CELLS_MAX: u32 = 1024;
pub const TILE_CELLS_MIN: u32 = 16;
/// Maximum number of tiles of a mesh.
pub const TILES_MAX: usize = 1 << 18;
/// Maximum number of cells of a mesh.
pub const CELLS_MAX: usize = 1 << 25;
/// Maximum number of cells of all tiles with their borders, which are baked once for each tile.
pub const BORDERED_CELLS_MAX: usize = 1 << 26;
/// Maximum height of a character in cells.
const HEIGHT_CELLS_MAX: f32 = 60_000.0;
/// Cells around a tile that are baked with it, in addition to the radius of the character.
const BORDER_CELLS: u32 = 3;

/// Rounds a length to tenths of a millimetre, for messages.
fn rounded(metres: f32) -> f32 {
    ((f64::from(metres) * 1e4).round() / 1e4) as f32
}

/// Settings of a bake. Lengths are in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BakeSettings {
    /// Size and height of a cell.
    pub cell_size: f32,
    pub cell_height: f32,
    /// The character: radius, height, highest step, steepest slope in degrees.
    pub radius: f32,
    pub height: f32,
    pub step: f32,
    pub slope: f32,
    /// Distance of straightened edges from walls.
    pub edge_error: f32,
    /// Difference of heights above which the heights of a polygon are stored.
    pub height_error: f32,
    /// Islands smaller than this are removed, and regions merged, in square metres.
    pub region_min: f32,
    pub region_merge: f32,
    /// Size of tiles in cells.
    pub tile_cells: u32,
}

impl BakeSettings {
    pub const DEFAULT: BakeSettings = BakeSettings {
        cell_size: 0.3,
        cell_height: 0.2,
        radius: 0.6,
        height: 2.0,
        step: 0.9,
        slope: 45.0,
        edge_error: 0.39,
        height_error: 0.3,
        region_min: 5.76,
        region_merge: 36.0,
        tile_cells: 48,
    };

    /// Names of the settings in files and scripts.
    pub const NAMES: [&str; 11] = [
        "radius",
        "height",
        "step",
        "slope",
        "cell_size",
        "cell_height",
        "tile_cells",
        "edge_error",
        "height_error",
        "region_min",
        "region_merge",
    ];

    /// Sets a setting by its name. Returns false for an unknown name, and for a number of cells
    /// with a fraction.
    pub fn set(&mut self, name: &str, number: f32) -> bool {
        *match name {
            "radius" => &mut self.radius,
            "height" => &mut self.height,
            "step" => &mut self.step,
            "slope" => &mut self.slope,
            "cell_size" => &mut self.cell_size,
            "cell_height" => &mut self.cell_height,
            "edge_error" => &mut self.edge_error,
            "height_error" => &mut self.height_error,
            "region_min" => &mut self.region_min,
            "region_merge" => &mut self.region_merge,
            "tile_cells" if number.fract() == 0.0 => {
                self.tile_cells = number.clamp(0.0, 1e6) as u32;
                return true;
            }
            _ => return false,
        } = number;
        true
    }

    /// Returns the distance from walls and ledges that a bake keeps: the radius, rounded up to
    /// whole cells.
    pub fn counted_radius(&self) -> f32 {
        rounded(f32::from(ceil(self.radius / self.cell_size)) * self.cell_size)
    }

    /// Returns the width of openings that are passable wherever the cells lie: an edge of the
    /// ground is up to a cell farther away from its wall, on both sides.
    pub fn passable_width(&self) -> f32 {
        rounded((self.counted_radius() + self.cell_size) * 2.0)
    }

    /// Returns the radius for messages, with the distance for which it counts.
    pub fn radius_text(&self) -> String {
        let counted = self.counted_radius();
        match (counted - self.radius).abs() < 1e-3 {
            true => format!("{}", self.radius),
            false => format!(
                "{} (it counts as {counted}, because cells have a 'cell_size' of {})",
                self.radius, self.cell_size
            ),
        }
    }

    /// Returns which ground is missing if a bake has found none, for messages.
    pub fn missing_ground(&self) -> String {
        format!(
            "no {} m² of it ('region_min'), not steeper than {} degrees, have room for characters \
             of the radius {} and the height {}",
            self.region_min,
            self.slope,
            self.radius_text(),
            self.height
        )
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// Returns a message with the setting that is out of range.
    pub fn check(&self) -> Result<(), String> {
        let ranges = [
            ("cell_size", self.cell_size, 0.01, 100.0),
            ("cell_height", self.cell_height, 0.01, 100.0),
            ("radius", self.radius, 0.0, 1000.0),
            ("height", self.height, 0.01, 1000.0),
            ("step", self.step, 0.0, 1000.0),
            ("slope", self.slope, 0.0, 90.0),
            ("edge_error", self.edge_error, 0.0, 1000.0),
            ("height_error", self.height_error, 0.0, 1000.0),
            ("region_min", self.region_min, 0.0, 1e9),
            ("region_merge", self.region_merge, 0.0, 1e9),
            ("tile_cells", self.tile_cells as f32, TILE_CELLS_MIN as f32, TILE_CELLS_MAX as f32),
        ];
        for (name, value, low, high) in ranges {
            if !(low..=high).contains(&value) {
                return Err(format!("'{name}' must be {low} to {high}, got {value}"));
            }
        }
        if self.step >= self.height {
            let (step, height) = (self.step, self.height);
            return Err(format!("'step' must be below 'height', {height}, got {step}"));
        }
        if self.radius / self.cell_size > 128.0 {
            let (radius, size) = (self.radius, self.cell_size);
            return Err(format!(
                "'radius' is {radius}, more than 128 cells of {size} metres: increase 'cell_size'"
            ));
        }
        if self.height / self.cell_height > HEIGHT_CELLS_MAX {
            let (height, size) = (self.height, self.cell_height);
            return Err(format!(
                "'height' is {height}, more than {HEIGHT_CELLS_MAX} cells of {size} metres: \
                 increase 'cell_height'"
            ));
        }
        Ok(())
    }
}

/// Settings in cells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BakeCells {
    pub(super) size: f32,
    /// Height of a cell in metres.
    pub(super) level: f32,
    pub(super) radius: u16,
    pub(super) height: u16,
    pub(super) step: u16,
    pub(super) edge_error: f32,
    pub(super) height_error: u16,
    pub(super) region_min: usize,
    pub(super) region_merge: usize,
    pub(super) border: usize,
}

/// Tiles of a mesh: a grid of squares over the bounds of the level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TileLayout {
    pub settings: BakeSettings,
    pub cells: BakeCells,
    pub low: Vec3,
    pub high: Vec3,
    pub tiles_x: usize,
    pub tiles_y: usize,
    /// Cosine of the steepest slope.
    pub slope_cos: f32,
    total: [usize; 2],
}

fn ceil(number: f32) -> u16 {
    let floor = number.min(HEIGHT_CELLS_MAX) as u16;
    // Lengths that are a whole number of cells, but for rounding.
    if number - f32::from(floor) > 1e-3 { floor + 1 } else { floor }
}

impl TileLayout {
    /// Divides bounds into tiles.
    ///
    /// # Errors
    /// Returns an error message if a setting is out of range or there are too many tiles.
    pub fn new(settings: BakeSettings, low: Vec3, high: Vec3) -> Result<TileLayout, String> {
        settings.check()?;
        let tile = settings.tile_cells as usize;
        let columns = |axis: usize| {
            let cells =
                (f64::from(high[axis]) - f64::from(low[axis])) / f64::from(settings.cell_size);
            (cells + 0.5).clamp(1.0, 1e9) as usize
        };
        let total = [columns(0), columns(1)];
        if total[0].saturating_mul(total[1]) > CELLS_MAX {
            return Err(format!(
                "the level is {:.0} by {:.0} metres and has {} cells, and {CELLS_MAX} are the most \
                 (CELLS_MAX): increase 'cell_size'",
                high.x - low.x,
                high.y - low.y,
                total[0].saturating_mul(total[1]),
            ));
        }
        let [tiles_x, tiles_y] = total.map(|cells| cells.div_ceil(tile));
        if tiles_x.saturating_mul(tiles_y) > TILES_MAX {
            return Err(format!(
                "the level is {:.0} by {:.0} metres and needs {} tiles of {tile} cells, and \
                 {TILES_MAX} are the most (TILES_MAX): increase 'cell_size' or 'tile_cells'",
                high.x - low.x,
                high.y - low.y,
                tiles_x.saturating_mul(tiles_y),
            ));
        }
        let levels = (high.z - low.z) / settings.cell_height;
        if levels > 65_000.0 {
            return Err(format!(
                "the level is {:.0} metres high, more than 65000 cells: increase 'cell_height'",
                high.z - low.z
            ));
        }
        let area = |metres: f32| (metres / (settings.cell_size * settings.cell_size)) as usize;
        let radius = ceil(settings.radius / settings.cell_size);
        let cells = BakeCells {
            size: settings.cell_size,
            level: settings.cell_height,
            radius,
            height: ceil(settings.height / settings.cell_height).max(1),
            step: (settings.step / settings.cell_height + 1e-3) as u16,
            edge_error: settings.edge_error / settings.cell_size,
            height_error: (settings.height_error / settings.cell_height + 1e-3) as u16,
            region_min: area(settings.region_min),
            region_merge: area(settings.region_merge),
            border: usize::from(radius) + BORDER_CELLS as usize,
        };
        let slope_cos = sin_cos(settings.slope.to_radians()).1;
        let layout = TileLayout { settings, cells, low, high, tiles_x, tiles_y, slope_cos, total };
        layout.check_borders()?;
        Ok(layout)
    }

    /// Checks how many cells all tiles have with their borders.
    fn check_borders(&self) -> Result<(), String> {
        let border = self.cells.border * 2;
        let columns = self.total[0] + self.tiles_x * border;
        let rows = self.total[1] + self.tiles_y * border;
        let count = columns.saturating_mul(rows);
        if count > BORDERED_CELLS_MAX {
            return Err(format!(
                "the {} tiles of {} cells have borders of {} cells and {count} cells in all, and \
                 {BORDERED_CELLS_MAX} are the most (BORDERED_CELLS_MAX): increase 'tile_cells' or \
                 'cell_size', or reduce 'radius'",
                self.count(),
                self.settings.tile_cells,
                self.cells.border,
            ));
        }
        Ok(())
    }

    /// Returns the number of tiles.
    pub fn count(&self) -> usize {
        self.tiles_x * self.tiles_y
    }

    /// Returns the size of a tile in cells without its border. Tiles at the upper ends are smaller.
    pub(super) fn inner_columns(&self, tile: usize) -> (usize, usize) {
        let size = self.settings.tile_cells as usize;
        let (x, y) = (tile % self.tiles_x, tile / self.tiles_x);
        (size.min(self.total[0] - x * size), size.min(self.total[1] - y * size))
    }

    /// Returns the size of a tile in cells with its border.
    pub fn columns_of(&self, tile: usize) -> (usize, usize) {
        let (width, depth) = self.inner_columns(tile);
        (width + self.cells.border * 2, depth + self.cells.border * 2)
    }

    /// Returns the first column of a tile's border, in cells from the corner of the layout.
    pub fn corner(&self, tile: usize) -> [i32; 2] {
        let (x, y) = (tile % self.tiles_x, tile / self.tiles_x);
        let size = self.settings.tile_cells as usize;
        let border = self.cells.border as i32;
        [(x * size) as i32 - border, (y * size) as i32 - border]
    }

    /// Returns the position of a column's corner, at the lowest height.
    pub(super) fn position(&self, [x, y]: [i32; 2]) -> [f32; 3] {
        [
            self.low.x + x as f32 * self.cells.size,
            self.low.y + y as f32 * self.cells.size,
            self.low.z,
        ]
    }

    /// Returns the position of a vertex of a tile's mesh.
    pub fn vertex(&self, tile: usize, [x, y, z]: [u16; 3]) -> Vec3 {
        let [left, bottom] = self.corner(tile);
        let border = self.cells.border as i32;
        let [x, y, low] =
            self.position([left + border + i32::from(x), bottom + border + i32::from(y)]);
        Vec3::new(x, y, low + f32::from(z) * self.cells.level)
    }

    /// Returns the tiles that a box touches with their borders, as ranges of columns and rows.
    pub fn tiles_in(
        &self,
        low: Vec3,
        high: Vec3,
    ) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let size = self.settings.tile_cells as f32 * self.cells.size;
        let margin = self.cells.border as f32 * self.cells.size;
        let range = |from: f32, to: f32, origin: f32, count: usize| {
            let first = ((from - margin - origin) / size).clamp(0.0, count as f32) as usize;
            let last = ((to + margin - origin) / size).clamp(-1.0, count as f32 - 1.0);
            let end = if last < 0.0 { 0 } else { last as usize + 1 };
            first..end.max(first)
        };
        (
            range(low.x, high.x, self.low.x, self.tiles_x),
            range(low.y, high.y, self.low.y, self.tiles_y),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_radius_in_cells() {
        let of = |radius, cell_size| BakeSettings { radius, cell_size, ..BakeSettings::DEFAULT };
        // The last two are whole numbers of cells, but for rounding.
        for (radius, cell_size, counted, width) in [
            (0.4, 0.3, 0.6, 1.8),
            (0.4, 0.2, 0.4, 1.2),
            (0.6, 0.3, 0.6, 1.8),
            (0.0, 0.3, 0.0, 0.6),
            (0.6, 0.12, 0.6, 1.44),
            (0.4, 0.1333, 0.3999, 1.0664),
        ] {
            let settings = of(radius, cell_size);
            assert_eq!(settings.counted_radius(), counted);
            assert_eq!(settings.passable_width(), width);
        }
        assert_eq!(of(0.4, 0.2).radius_text(), "0.4");
        let text = "0.4 (it counts as 0.6, because cells have a 'cell_size' of 0.3)";
        assert_eq!(of(0.4, 0.3).radius_text(), text);
    }
}
