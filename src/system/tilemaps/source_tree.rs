//! Access to the fields of map files, for the compilers of Tiled and LDtk. Missing fields have the
//! values that the editors use; numbers are checked when the compiled tree is read.

use super::relative_path;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_resource::image::{DecodedImage, decode};
use engine_resource::resource_kind::CompileContext;
use std::collections::HashMap;

/// Returns a number; 0 if the field is missing.
pub(super) fn number(tree: &SjsonTree, key: &str) -> f64 {
    number_or(tree, key, 0.0)
}

pub(super) fn number_or(tree: &SjsonTree, key: &str, missing: f64) -> f64 {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => *number,
        _ => missing,
    }
}

/// Returns a text; an empty one if the field is missing.
pub(super) fn text<'a>(tree: &'a SjsonTree, key: &str) -> &'a str {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text,
        _ => "",
    }
}

pub(super) fn list<'a>(tree: &'a SjsonTree, key: &str) -> &'a [SjsonTree] {
    match tree.get(key) {
        Some(SjsonTree::Array(items)) => items,
        _ => &[],
    }
}

/// Returns two numbers; zeros if the field is missing.
pub(super) fn pair(tree: &SjsonTree, key: &str) -> [f64; 2] {
    match list(tree, key) {
        [SjsonTree::Number(x), SjsonTree::Number(y)] => [*x, *y],
        _ => [0.0; 2],
    }
}

pub(super) fn is_true(tree: &SjsonTree, key: &str) -> bool {
    match tree.get(key) {
        Some(SjsonTree::Bool(truth)) => *truth,
        Some(SjsonTree::Number(number)) => *number != 0.0,
        _ => false,
    }
}

/// Returns true if the field is missing or true.
pub(super) fn is_not_false(tree: &SjsonTree, key: &str) -> bool {
    tree.get(key).is_none() || is_true(tree, key)
}

pub(super) fn object(fields: Vec<(&str, SjsonTree)>) -> SjsonTree {
    SjsonTree::Object(fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

pub(super) fn string(text: &str) -> SjsonTree {
    SjsonTree::String(text.to_string())
}

pub(super) fn numbers(numbers: &[f64]) -> SjsonTree {
    SjsonTree::Array(numbers.iter().copied().map(SjsonTree::Number).collect())
}

/// Name of the texture for the image at a path from the game's folder, and a reference to it. An
/// Aseprite file is a sheet, of which tile sets show the first frame.
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
