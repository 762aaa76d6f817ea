//! Baking: triangles to the polygons of a tile. The stages are those that M. Mononen published with
//! Recast: solid spans, filters, open spans, erosion, regions, outlines, polygons, and the heights
//! of uneven ground. Every tile is baked from the triangles around it alone, with whole numbers
//! after the first stage, so that the result does not depend on other tiles or on threads.
//!
//! Own code rather than a library: `rerecast`, the only maintained port, has no tiles and no links
//! between them, and its stages follow the data structures of the original.

mod compact;
mod contours;
mod heightfield;
mod polygons;
mod region_merge;
mod regions;
mod settings;
mod source;
mod triangulation;

#[cfg(test)]
mod tests;

pub use compact::CompactField;
pub use polygons::{
    HeightGrid, NO_NEIGHBOR, TILE_HEIGHTS_MAX, TILE_POLYGONS_MAX, TILE_SIDE, TileMesh, TilePolygon,
    fan_height,
};
pub use settings::{
    BORDERED_CELLS_MAX, BakeSettings, CELLS_MAX, TILE_CELLS_MAX, TILE_CELLS_MIN, TILES_MAX,
    TileLayout,
};
pub use source::{BakeSource, SOURCE_TRIANGLES_MAX};
pub use triangulation::CORNERS_OF_POLYGON_MAX;

use engine_foundation::Vec3;
use settings::BakeCells;

/// Area of ground that is not walkable.
pub const NULL_AREA: u8 = 0;
/// Area of ground without an area of its own.
pub const DEFAULT_AREA: u8 = 1;
/// Number of areas, [`NULL_AREA`] included.
pub const AREAS_MAX: usize = 64;

/// Steps to the four sides, in the order of neighbours.
const DIRECTIONS: [(i32, i32); 4] = [(-1, 0), (0, 1), (1, 0), (0, -1)];

/// Shape of a volume that marks ground. Lengths are in metres.
#[derive(Clone, PartialEq, Debug)]
pub enum AreaShape {
    /// `position` is the middle of the lower end.
    Cylinder { position: [f32; 3], radius: f32, height: f32 },
    /// At least three points of an upright prism.
    Prism { points: Vec<[f32; 2]>, low: f32, high: f32 },
}

/// Volume that marks the ground inside it with an area.
#[derive(Clone, PartialEq, Debug)]
pub struct AreaVolume {
    pub shape: AreaShape,
    pub area: u8,
}

/// Result of baking a tile: its polygons, and the open spans from which they can be built again
/// with other volumes.
#[derive(Debug)]
pub struct BakedTile {
    pub mesh: TileMesh,
    pub field: CompactField,
}

/// Bakes a tile of a source.
///
/// # Errors
/// Returns an error message if the tile is too complex.
pub fn bake_tile(
    source: &BakeSource,
    layout: &TileLayout,
    tile: usize,
    volumes: &[AreaVolume],
) -> Result<BakedTile, String> {
    let cells = &layout.cells;
    let (width, depth) = layout.columns_of(tile);
    let corner = layout.corner(tile);
    let mut rasterizer = heightfield::Rasterizer::new(width, depth);
    // Cells are counted from the corner of the layout, so that a triangle has the same corners in
    // every tile that it touches.
    let (scale, level) = (1.0 / cells.size, 1.0 / cells.level);
    let (mut solid, mut mark) = (0, 0);
    for &triangle in source.triangles_of(tile) {
        if source.solid(triangle) != solid {
            if solid != 0 {
                rasterizer.fill(mark);
            }
            (solid, mark) = (source.solid(triangle), rasterizer.mark());
        }
        let points = source.corners(triangle).map(|point| {
            let cell = (point - layout.low) * Vec3::new(scale, scale, level);
            cell - Vec3::new(corner[0] as f32, corner[1] as f32, 0.0)
        });
        rasterizer.add(points, source.area(triangle, layout.slope_cos));
        if rasterizer.is_full() {
            return Err(format!(
                "its triangles fill more than {} spans (SPANS_MAX): use simpler geometry, or \
                 smaller tiles",
                heightfield::SPANS_MAX
            ));
        }
    }
    if solid != 0 {
        rasterizer.fill(mark);
    }
    let mut field = rasterizer.finish(cells.step);
    field.filter(cells);
    let mut field = CompactField::new(&field, cells);
    field.erode(cells.radius);
    let mesh = tile_from_field(&field, layout, tile, volumes)?;
    Ok(BakedTile { mesh, field })
}

/// Builds the polygons of a tile from its open spans, with volumes.
///
/// # Errors
/// Returns an error message if the tile is too complex.
pub fn tile_from_field(
    field: &CompactField,
    layout: &TileLayout,
    tile: usize,
    volumes: &[AreaVolume],
) -> Result<TileMesh, String> {
    let cells = &layout.cells;
    let mut marked;
    let field = if volumes.is_empty() {
        field
    } else {
        marked = field.clone();
        let position = layout.position(layout.corner(tile));
        volumes.iter().for_each(|volume| marked.mark(volume, position, cells));
        &marked
    };
    let regions = regions::build(field, cells)?;
    let contours = contours::build(field, &regions, cells)?;
    polygons::build(field, &regions, &contours, cells, layout.inner_columns(tile))
}
