//! Tiles of layers: lists, base64 with the compressions of Tiled, and chunks of infinite maps.

use super::super::TILES_MAX;
use super::super::source_tree::{list, number, text};
use super::placement::{Placement, chunk_rectangle, parts};
use data_encoding::BASE64;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_resource::image::zstd;
use engine_resource::inflate::{DeflateFormat, unpack};

/// Maximum number of cells in all layers of a map that are packed or joined from chunks. A few
/// bytes can stand for a large layer, and two small chunks that are far apart span one.
pub const JOINED_MAX: usize = 4 * TILES_MAX;

/// Reader of the cells of a map's layers.
pub struct CellReader<'a> {
    pub path: &'a str,
    /// Number of cells read so far of layers that are packed or joined.
    pub joined: usize,
}

impl CellReader<'_> {
    /// Returns the columns, rows and tiles of a layer.
    pub fn read(
        &mut self,
        placement: &Placement,
        layer: &SjsonTree,
    ) -> Result<([f64; 2], Vec<SjsonTree>), Error> {
        if !placement.is_infinite {
            let size = [number(layer, "width"), number(layer, "height")];
            self.check_size(layer, size)?;
            return Ok((size, self.tiles(layer, layer, size)?));
        }
        // All layers of an infinite map have the cells of the whole map.
        let [columns, rows] = placement.cells;
        self.count(columns * rows)?;
        let mut tiles = vec![SjsonTree::Number(0.0); columns as usize * rows as usize];
        for chunk in parts(layer) {
            let [left, top, width, height] = chunk_rectangle(self.path, chunk)?;
            let found = self.tiles(layer, chunk, [width, height])?;
            if found.len() as f64 != width * height {
                return Err(error!(
                    "{}: layer '{}' has {} tiles in place of {width} × {height} in its chunk at \
                     {left}, {top}: save the map again in Tiled",
                    self.path,
                    text(layer, "name"),
                    found.len()
                ));
            }
            let (left, top) = (left - placement.origin[0], top - placement.origin[1]);
            let width = width.max(1.0) as usize;
            for (i, tile) in found.into_iter().enumerate() {
                let (column, row) = (left as usize + i % width, top as usize + i / width);
                if let Some(slot) = tiles.get_mut(row * columns as usize + column) {
                    *slot = tile;
                }
            }
        }
        Ok((placement.cells, tiles))
    }

    /// Refuses a size that no layer can have.
    fn check_size(&self, layer: &SjsonTree, [columns, rows]: [f64; 2]) -> Result<(), Error> {
        let (path, name) = (self.path, text(layer, "name"));
        if [columns, rows].iter().any(|side| side.fract() != 0.0 || *side < 0.0) {
            return Err(error!(
                "{path}: layer '{name}' is {columns} × {rows} tiles, and both must be whole \
                 numbers from 0: set the size of the map in Tiled"
            ));
        }
        if columns * rows > TILES_MAX as f64 {
            return Err(error!(
                "{path}: layer '{name}' has {} tiles, and {TILES_MAX} is the most (TILES_MAX): \
                 split the map",
                columns * rows
            ));
        }
        Ok(())
    }

    /// Refuses layers that are too large together.
    fn count(&mut self, cells: f64) -> Result<(), Error> {
        self.joined = self.joined.saturating_add(cells as usize);
        if self.joined > JOINED_MAX {
            return Err(error!(
                "{}: the packed layers, and those of an infinite map, have more than {JOINED_MAX} \
                 cells in all (JOINED_MAX): split the map",
                self.path
            ));
        }
        Ok(())
    }

    /// Returns the tiles of a layer or chunk.
    fn tiles(
        &mut self,
        layer: &SjsonTree,
        holder: &SjsonTree,
        [columns, rows]: [f64; 2],
    ) -> Result<Vec<SjsonTree>, Error> {
        let Some(SjsonTree::String(packed)) = holder.get("data") else {
            return Ok(list(holder, "data").to_vec());
        };
        let (path, name, cells) = (self.path, text(layer, "name"), columns * rows);
        self.check_size(layer, [columns, rows])?;
        self.count(cells)?;
        let remedy = "save the map again in Tiled, or set its Tile Layer Format to CSV";
        let wrong = |message: &str| {
            error!("{path}: the tiles of layer '{name}' cannot be unpacked: {message}: {remedy}")
        };
        let encoded: Vec<u8> = packed.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let bytes = BASE64.decode(&encoded).map_err(|fault| wrong(&fault.to_string()))?;
        let size = cells as usize * 4;
        let bytes = match text(layer, "compression") {
            "" if bytes.len() == size => Ok(bytes),
            "" => Err(error!("there are {} bytes in place of {size}", bytes.len())),
            "zlib" => unpack(&bytes, size, DeflateFormat::Zlib),
            "gzip" => unpack(&bytes, size, DeflateFormat::Gzip),
            "zstd" => zstd::unpack(&bytes, size),
            other => Err(error!("its compression is '{other}', and zlib, gzip and zstd are known")),
        };
        let bytes = bytes.map_err(|fault| wrong(&fault.message))?;
        let tile = |bytes: &[u8]| {
            let number = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            SjsonTree::Number(number.into())
        };
        Ok(bytes.chunks_exact(4).map(tile).collect())
    }
}
