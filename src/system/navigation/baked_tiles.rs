//! Tiles of meshes as data: what a bake has built is written when a level is compiled, and read
//! when it is spawned, so that a game loads its meshes without baking.

use super::bake::{
    AREAS_MAX, BakeSettings, BakeSource, CORNERS_OF_POLYGON_MAX, HeightGrid, NO_NEIGHBOR,
    TILE_HEIGHTS_MAX, TILE_POLYGONS_MAX, TILE_SIDE, TILES_MAX, TileLayout, TileMesh, TilePolygon,
};
use super::mesh::NavigationMesh;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, error};

/// Version of baked tiles. It changes with their format, and with every change of the bake that
/// gives the same triangles other polygons.
pub const BAKED_TILES_VERSION: u32 = 2;

/// Maximum number of vertices of a tile, whose indices have two bytes.
const TILE_VERTICES_MAX: usize = 1 << 16;
/// Index of a polygon whose ground is even.
const NO_HEIGHTS: u32 = u32::MAX;

/// Writes two numbers of two bytes.
fn write_pair(writer: &mut BlobWriter, low: u16, high: u16) {
    writer.u32(u32::from(low) | u32::from(high) << 16);
}

fn read_pair(reader: &mut BlobReader) -> Result<(u16, u16), Error> {
    let pair = reader.u32()?;
    Ok((pair as u16, (pair >> 16) as u16))
}

fn write_polygon(writer: &mut BlobWriter, polygon: &TilePolygon) {
    writer.u8(polygon.count);
    writer.u8(polygon.area);
    writer.u32(polygon.heights.map_or(NO_HEIGHTS, u32::from));
    let edges = polygon.corners.iter().zip(&polygon.neighbors);
    for (corner, neighbor) in edges.take(usize::from(polygon.count)) {
        write_pair(writer, *corner, *neighbor);
    }
}

fn read_polygon(reader: &mut BlobReader) -> Result<TilePolygon, Error> {
    let (count, area) = (reader.u8()?, reader.u8()?);
    if !(3..=CORNERS_OF_POLYGON_MAX).contains(&usize::from(count)) {
        return Err(error!("it is damaged: a polygon has {count} corners"));
    }
    if area == 0 || usize::from(area) >= AREAS_MAX {
        return Err(error!("it is damaged: a polygon has the area {area}"));
    }
    let heights = match reader.u32()? {
        NO_HEIGHTS => None,
        grid => Some(u16::try_from(grid).map_err(|_| error!("it is damaged: grid {grid}"))?),
    };
    // As the bake leaves the entries that have no meaning.
    let mut polygon = TilePolygon::without_edges(count, area, heights);
    for edge in 0..usize::from(count) {
        (polygon.corners[edge], polygon.neighbors[edge]) = read_pair(reader)?;
    }
    Ok(polygon)
}

/// Writes tiles.
pub fn write_tiles(writer: &mut BlobWriter, tiles: &[TileMesh]) {
    writer.list(tiles, |writer, tile| {
        writer.list(&tile.vertices, |writer, [x, y, z]| {
            write_pair(writer, *x, *y);
            write_pair(writer, *z, 0);
        });
        writer.list(&tile.polygons, write_polygon);
        writer.list(&tile.grids, |writer, grid| {
            write_pair(writer, grid.x, grid.y);
            write_pair(writer, grid.columns, grid.rows);
            writer.u32(grid.first);
        });
        let heights: Vec<u8> = tile.heights.iter().flat_map(|at| at.to_le_bytes()).collect();
        writer.bytes(&heights);
    });
}

/// Reads tiles that [`write_tiles`] wrote.
///
/// # Errors
/// Returns an error if they are not tiles that a bake can have built.
pub fn read_tiles(reader: &mut BlobReader) -> Result<Vec<TileMesh>, Error> {
    reader.list_at_most((TILES_MAX, "TILES_MAX"), |reader| {
        let vertices = reader.list_at_most((TILE_VERTICES_MAX, "TILE_VERTICES_MAX"), |reader| {
            let ((x, y), (z, _)) = (read_pair(reader)?, read_pair(reader)?);
            Ok([x, y, z])
        })?;
        let polygons =
            reader.list_at_most((TILE_POLYGONS_MAX, "TILE_POLYGONS_MAX"), read_polygon)?;
        let grids = reader.list_at_most((TILE_POLYGONS_MAX, "TILE_POLYGONS_MAX"), |reader| {
            let ((x, y), (columns, rows)) = (read_pair(reader)?, read_pair(reader)?);
            Ok(HeightGrid { x, y, columns, rows, first: reader.u32()? })
        })?;
        let (heights, rest) = reader.bytes()?.as_chunks();
        if heights.len() > TILE_HEIGHTS_MAX || !rest.is_empty() {
            return Err(error!("it is damaged: a tile has {} heights", heights.len()));
        }
        let heights = heights.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect();
        let tile = TileMesh { vertices, polygons, grids, heights };
        check(&tile)?;
        Ok(tile)
    })
}

/// Refuses a tile whose parts refer to what it does not have.
fn check(tile: &TileMesh) -> Result<(), Error> {
    for grid in &tile.grids {
        let end = u64::from(grid.first) + u64::from(grid.columns) * u64::from(grid.rows);
        if grid.columns == 0 || grid.rows == 0 || end > tile.heights.len() as u64 {
            return Err(error!("it is damaged: a grid of heights is not in its tile"));
        }
    }
    for (at, polygon) in (0..).zip(&tile.polygons) {
        if polygon.heights.is_some_and(|grid| usize::from(grid) >= tile.grids.len()) {
            return Err(error!("it is damaged: polygon {at} has heights that do not exist"));
        }
        if polygon.corners().iter().any(|corner| usize::from(*corner) >= tile.vertices.len()) {
            return Err(error!("it is damaged: polygon {at} has a corner that does not exist"));
        }
        for edge in 0..usize::from(polygon.count) {
            match polygon.neighbors[edge] {
                NO_NEIGHBOR => {}
                side if (TILE_SIDE..TILE_SIDE + 4).contains(&side) => {}
                neighbor if leads_back(tile, (at, edge), neighbor) => {}
                neighbor => {
                    return Err(error!(
                        "it is damaged: polygon {at} does not have the neighbour {neighbor}"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Returns true if a polygon has an edge in common with the neighbour of that edge.
fn leads_back(tile: &TileMesh, (polygon, edge): (u16, usize), neighbor: u16) -> bool {
    let Some(other) = tile.polygons.get(usize::from(neighbor)) else { return false };
    let ends = |of: &TilePolygon, edge: usize| {
        (of.corners[edge], of.corners[(edge + 1) % usize::from(of.count)])
    };
    let (from, to) = ends(&tile.polygons[usize::from(polygon)], edge);
    (0..usize::from(other.count))
        .any(|back| other.neighbors[back] == polygon && ends(other, back) == (to, from))
}

/// Returns the tiles of triangles, which are sorted by them.
pub(super) fn layout_of(
    source: &mut BakeSource,
    settings: BakeSettings,
) -> Result<TileLayout, Error> {
    let Some((low, high)) = source.bounds() else {
        return Err(error!("there are no triangles to bake a navigation mesh from"));
    };
    let layout = TileLayout::new(settings, low, high).map_err(Error::new)?;
    source.sort(&layout).map_err(Error::new)?;
    Ok(layout)
}

impl NavigationMesh {
    /// Returns the tiles of the mesh, as they are now.
    pub fn baked_tiles(&self) -> &[TileMesh] {
        &self.tile_meshes
    }

    /// Puts a mesh together from tiles that were baked before, of the same triangles with the same
    /// settings.
    ///
    /// # Errors
    /// Returns an error if the tiles cannot be those of the triangles and settings.
    pub fn from_tiles(
        mut source: BakeSource,
        settings: BakeSettings,
        tiles: Vec<TileMesh>,
        pool: &TaskPool,
    ) -> Result<NavigationMesh, Error> {
        let layout = layout_of(&mut source, settings)?;
        let cells = settings.tile_cells;
        let is_inside =
            |tile: &TileMesh| tile.vertices.iter().all(|[x, y, _]| u32::from(*x.max(y)) <= cells);
        if tiles.len() != layout.count() || !tiles.iter().all(is_inside) {
            return Err(error!("it is damaged: its tiles are not those of the level"));
        }
        NavigationMesh::of_tiles(layout, source, tiles, pool)
    }

    /// Leaves the tiles as they are that wait until they are built again: they were baked with the
    /// volumes for which they wait.
    pub fn keep_waiting_tiles(&mut self) {
        self.volumes.waiting.clear();
    }

    /// Returns the number of changes that paths have to know of, which is part of the state.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Sets the number of changes, so that a mesh that was loaded has the state of one that was
    /// baked.
    pub fn set_version(&mut self, version: u32) {
        self.version = version;
    }
}
