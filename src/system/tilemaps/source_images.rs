//! Images that map files name: their textures, their sizes, and tile sets of one picture.

use super::relative_path;
use super::source_tree::{numbers, string};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_resource::image::{DecodedImage, decode};
use engine_resource::resource_kind::CompileContext;
use std::collections::HashMap;

/// Returns the name of the texture for the image at a path from the game's folder, and adds a
/// reference to it. An Aseprite file is a sheet, of which tile sets show the first frame.
pub(super) fn texture(compiling: &mut CompileContext, path: &str) -> String {
    let name = relative_path::texture(path);
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    if matches!(&ending[..], "aseprite" | "ase") {
        compiling.refer("sheet", &name);
        return format!("{name}/1");
    }
    compiling.refer("texture", &name);
    name
}

/// Sizes of images that were read, by path.
#[derive(Default)]
pub(super) struct ImageSizes(HashMap<String, [f64; 2]>);

impl ImageSizes {
    /// Returns the width and height of an image, for files that do not have its size.
    pub(super) fn of(
        &mut self,
        compiling: &mut CompileContext,
        path: &str,
    ) -> Result<[f64; 2], Error> {
        if let Some(size) = self.0.get(path) {
            return Ok(*size);
        }
        let size = image_size(compiling, path)?;
        self.0.insert(path.to_string(), size);
        Ok(size)
    }
}

fn image_size(compiling: &mut CompileContext, path: &str) -> Result<[f64; 2], Error> {
    let bytes = compiling.read(path)?;
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    if matches!(&ending[..], "aseprite" | "ase") {
        // The header has the size at a fixed place.
        let side = |at: usize| {
            bytes.get(at..at + 2).map(|side| f64::from(u16::from_le_bytes([side[0], side[1]])))
        };
        let size = side(8).zip(side(10)).map(|(width, height)| [width, height]);
        return size.ok_or_else(|| error!("{path}: the file is cut short"));
    }
    let image = decode(&bytes, &ending).map_err(|fault| error!("{path}: {}", fault.message))?;
    let (width, height) = match image {
        DecodedImage::Image(image) => (image.width, image.height),
        DecodedImage::Blocks(blocks) => (blocks.width, blocks.height),
    };
    Ok([width.into(), height.into()])
}

/// Tile set of one tile, which shows an image or a part of one.
pub(super) struct PictureSet<'a> {
    /// Number of the tile.
    pub tile: f64,
    pub texture: &'a str,
    /// Width and height of the image.
    pub image: [f64; 2],
    /// Left and top of the shown part, and its width and height.
    pub origin: [f64; 2],
    pub size: [f64; 2],
}

impl PictureSet<'_> {
    /// Returns the fields of the compiled set.
    pub(super) fn fields(&self) -> Vec<(&'static str, SjsonTree)> {
        vec![
            ("first", SjsonTree::Number(self.tile)),
            ("count", SjsonTree::Number(1.0)),
            ("columns", SjsonTree::Number(1.0)),
            ("texture", string(self.texture)),
            ("image_width", SjsonTree::Number(self.image[0])),
            ("image_height", SjsonTree::Number(self.image[1])),
            ("origin", numbers(&self.origin)),
            ("tile_width", SjsonTree::Number(self.size[0])),
            ("tile_height", SjsonTree::Number(self.size[1])),
        ]
    }
}
