//! Tile sets of Tiled maps: one image, or a collection of pictures. Files with the ending .tsx or
//! .tsj are read where a map or template names them.

use super::super::data::SETS_MAX;
use super::super::relative_path::resolve;
use super::super::source_images::{ImageSizes, PictureSet, texture};
use super::super::source_tree::{list, number, number_or, numbers, object, string, text};
use super::shapes::shapes;
use super::{class, class_of_text, color, parse, properties};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::memory::limit;
use engine_foundation::sjson::SjsonTree;
use engine_resource::resource_kind::CompileContext;
use std::collections::{HashMap, HashSet};

/// Maximum number of bytes in the files of a map's tile sets, each counted as often as it is named.
pub const SET_BYTES_MAX: usize = 1 << 26;

/// Tile sets of a map, in the compiled form.
#[derive(Default)]
pub struct TiledSets {
    trees: Vec<SjsonTree>,
    /// Sets by the number of their first tile.
    known: Vec<KnownSet>,
    images: ImageSizes,
    /// Number that the next additional set begins with.
    next: f64,
    /// Number of bytes of the files read so far.
    read: usize,
}

/// Set of the file.
struct KnownSet {
    /// Path of its file from the game's folder; empty for a set inside the map.
    path: String,
    first: f64,
    /// Part of the tile's size from its left and bottom, where objects are anchored.
    alignment: Option<[f64; 2]>,
    /// Size of tiles, and of each picture of a collection by its number.
    size: [f64; 2],
    pictures: HashMap<u64, [f64; 2]>,
}

impl TiledSets {
    pub fn into_trees(self) -> Vec<SjsonTree> {
        self.trees
    }

    /// Adds a set that a map or template names. Returns the number of its first tile.
    pub fn add(
        &mut self,
        compiling: &mut CompileContext,
        path: &str,
        named: &SjsonTree,
    ) -> Result<f64, Error> {
        let first = number(named, "firstgid");
        self.add_at(compiling, path, named, first)
    }

    /// Returns the first tile of the set in a file, and adds the set if the map does not have it.
    pub fn find(
        &mut self,
        compiling: &mut CompileContext,
        path: &str,
        named: &SjsonTree,
    ) -> Result<f64, Error> {
        let source = text(named, "source");
        if !source.is_empty() {
            let wanted = resolve(path, source)?;
            if let Some(known) = self.known.iter().find(|set| set.path == wanted) {
                return Ok(known.first);
            }
        }
        let first = self.next.max(1.0);
        self.add_at(compiling, path, named, first)
    }

    fn add_at(
        &mut self,
        compiling: &mut CompileContext,
        path: &str,
        named: &SjsonTree,
        first: f64,
    ) -> Result<f64, Error> {
        if self.known.len() == SETS_MAX {
            return Err(excess(path));
        }
        let (mut path, mut set, mut source) = (path.to_string(), named.clone(), String::new());
        if !text(named, "source").is_empty() {
            let file = resolve(&path, text(named, "source"))?;
            let bytes = compiling.read(&file)?;
            self.read = self.read.saturating_add(bytes.len());
            if self.read > SET_BYTES_MAX {
                return Err(error!(
                    "{path}: with {file}, the files of its tile sets have more than {} MiB \
                     (SET_BYTES_MAX): use each file once, or split the map",
                    SET_BYTES_MAX >> 20
                ));
            }
            // Trees need many times the memory of their text.
            limit::check_over()?;
            path = file;
            (set, source) = (parse(&path, &bytes)?, path.clone());
        }
        let alignment = alignment(text(&set, "objectalignment"));
        let size = [number(&set, "tilewidth"), number(&set, "tileheight")];
        let mut known = KnownSet { path: source, first, alignment, size, pictures: HashMap::new() };
        if text(&set, "image").is_empty() {
            self.add_pictures(compiling, &path, &set, &mut known)?;
        } else {
            let (texture, image) = image_of(compiling, &mut self.images, &path, &set)?;
            let set = image_set(&path, &set, first, (&texture, image))?;
            self.next = self.next.max(first + number(&set, "count"));
            self.push(&path, set)?;
        }
        let at = self.known.partition_point(|set| set.first <= first);
        self.known.insert(at, known);
        Ok(first)
    }

    /// Adds a set of one tile for each picture of a collection.
    fn add_pictures(
        &mut self,
        compiling: &mut CompileContext,
        path: &str,
        set: &SjsonTree,
        known: &mut KnownSet,
    ) -> Result<(), Error> {
        let tiles = list(set, "tiles");
        let ids: HashSet<u64> = tiles.iter().map(|tile| number(tile, "id").to_bits()).collect();
        for tile in tiles.iter().filter(|tile| !text(tile, "image").is_empty()) {
            let id = number(tile, "id");
            let (texture, image) = image_of(compiling, &mut self.images, path, tile)?;
            // Since version 1.9, a picture can be a part of an image.
            let size = [
                number_or(tile, "width", image[0] - number(tile, "x")),
                number_or(tile, "height", image[1] - number(tile, "y")),
            ];
            known.pictures.insert(id.to_bits(), size);
            let exists = |frame: f64| ids.contains(&frame.to_bits());
            let own = tile_data(path, tile, (0.0, size[1]), known.first, &exists)?;
            let origin = [number(tile, "x"), number(tile, "y")];
            let picture =
                PictureSet { tile: known.first + id, texture: &texture, image, origin, size };
            let mut fields = picture.fields();
            fields.push(("tiles", SjsonTree::Array(vec![own])));
            fields.extend(look(set));
            self.push(path, object(fields))?;
            self.next = self.next.max(known.first + id + 1.0);
        }
        Ok(())
    }

    /// Adds the image of an image layer. Returns its tile and size.
    pub fn add_image(
        &mut self,
        compiling: &mut CompileContext,
        path: &str,
        layer: &SjsonTree,
    ) -> Result<(f64, [f64; 2]), Error> {
        let (texture, image) = image_of(compiling, &mut self.images, path, layer)?;
        let first = self.next.max(1.0);
        self.next = first + 1.0;
        let origin = [0.0; 2];
        let set = PictureSet { tile: first, texture: &texture, image, origin, size: image };
        self.push(path, object(set.fields()))?;
        Ok((first, image))
    }

    fn push(&mut self, path: &str, set: SjsonTree) -> Result<(), Error> {
        if self.trees.len() == SETS_MAX {
            return Err(excess(path));
        }
        self.trees.push(set);
        Ok(())
    }

    fn set_of(&self, tile: f64) -> Option<&KnownSet> {
        let after = self.known.partition_point(|set| set.first <= tile);
        self.known.get(after.checked_sub(1)?)
    }

    /// Returns the part of a tile's size, from its left and bottom, where its objects are anchored.
    /// `None` if the map's orientation decides.
    pub fn alignment(&self, tile: f64) -> Option<[f64; 2]> {
        self.set_of(tile)?.alignment
    }

    /// Returns the size of a tile.
    pub fn size(&self, tile: f64) -> [f64; 2] {
        let Some(set) = self.set_of(tile) else { return [0.0; 2] };
        set.pictures.get(&(tile - set.first).to_bits()).copied().unwrap_or(set.size)
    }
}

fn excess(path: &str) -> Error {
    error!(
        "{path}: more than {SETS_MAX} tile sets and pictures are used (SETS_MAX): put pictures \
         into one image"
    )
}

/// Parses an alignment of objects.
fn alignment(name: &str) -> Option<[f64; 2]> {
    let x = match name {
        "topleft" | "left" | "bottomleft" => 0.0,
        "top" | "center" | "bottom" => 0.5,
        "topright" | "right" | "bottomright" => 1.0,
        _ => return None,
    };
    let y = match name {
        _ if name.starts_with("top") => 1.0,
        _ if name.starts_with("bottom") => 0.0,
        _ => 0.5,
    };
    Some([x, y])
}

/// Returns the texture and size of the image that a set, tile or layer names.
fn image_of(
    compiling: &mut CompileContext,
    images: &mut ImageSizes,
    path: &str,
    holder: &SjsonTree,
) -> Result<(String, [f64; 2]), Error> {
    let image_path = resolve(path, text(holder, "image"))?;
    let mut name = texture(compiling, &image_path);
    let key = text(holder, "transparentcolor");
    if !key.is_empty() {
        let [red, green, blue, _] = color(key).ok_or_else(|| {
            error!(
                "{path}: '{key}' is not a color: set the transparent color of the image in Tiled, \
                 for example to #ff00ff"
            )
        })?;
        name = format!("{name}#{red:02x}{green:02x}{blue:02x}");
    }
    let stated = [number(holder, "imagewidth"), number(holder, "imageheight")];
    match stated.iter().all(|side| *side >= 1.0) {
        true => Ok((name, stated)),
        false => Ok((name, images.of(compiling, &image_path)?)),
    }
}

/// Returns the fields of a set that say how its tiles are drawn.
fn look(set: &SjsonTree) -> Vec<(&'static str, SjsonTree)> {
    let offset = set.get("tileoffset").cloned().unwrap_or(SjsonTree::Null);
    vec![
        ("offset", numbers(&[number(&offset, "x"), -number(&offset, "y")])),
        ("fills_cell", SjsonTree::Bool(text(set, "tilerendersize") == "grid")),
        ("keeps_aspect", SjsonTree::Bool(text(set, "fillmode") == "preserve-aspect-fit")),
    ]
}

/// Returns the compiled form of a set with one image.
fn image_set(
    path: &str,
    set: &SjsonTree,
    first: f64,
    (texture, image): (&str, [f64; 2]),
) -> Result<SjsonTree, Error> {
    let (margin, spacing) = (number(set, "margin"), number(set, "spacing"));
    let tile = [number(set, "tilewidth"), number(set, "tileheight")];
    // Files of older versions do not have these numbers.
    let fitting = |axis: usize| {
        let step = tile[axis] + spacing;
        if step < 1.0 { 0.0 } else { ((image[axis] - margin + spacing) / step).floor().max(0.0) }
    };
    let columns = match number(set, "columns") {
        stated if stated >= 1.0 => stated,
        _ => fitting(0),
    };
    let count = number_or(set, "tilecount", columns * fitting(1));
    let exists = |frame: f64| (0.0..count).contains(&frame);
    let tiles = list(set, "tiles");
    let tiles =
        tiles.iter().map(|one| tile_data(path, one, (number(one, "id"), tile[1]), first, &exists));
    let tiles = tiles.collect::<Result<Vec<_>, Error>>()?;
    let mut fields = vec![
        ("first", SjsonTree::Number(first)),
        ("count", SjsonTree::Number(count)),
        ("columns", SjsonTree::Number(columns)),
        ("texture", string(texture)),
        ("image_width", SjsonTree::Number(image[0])),
        ("image_height", SjsonTree::Number(image[1])),
        ("tile_width", SjsonTree::Number(tile[0])),
        ("tile_height", SjsonTree::Number(tile[1])),
        ("origin", numbers(&[margin, margin])),
        ("spacing", SjsonTree::Number(spacing)),
        ("tiles", SjsonTree::Array(tiles)),
    ];
    fields.extend(look(set));
    Ok(object(fields))
}

/// Returns the properties, collision shapes and animation of a tile with this number in its set and
/// this height. `first` is the number of the set's first tile.
fn tile_data(
    path: &str,
    tile: &SjsonTree,
    (id, height): (f64, f64),
    first: f64,
    exists: &dyn Fn(f64) -> bool,
) -> Result<SjsonTree, Error> {
    let mut frames = Vec::new();
    for frame in list(tile, "animation") {
        let shown = number(frame, "tileid");
        if !exists(shown) {
            return Err(error!(
                "{path}: tile {} is animated with tile {shown}, which does not exist",
                number(tile, "id")
            ));
        }
        frames.push(object(vec![
            ("tile", SjsonTree::Number(first + shown)),
            ("milliseconds", SjsonTree::Number(number(frame, "duration"))),
        ]));
    }
    let mut fields = vec![("id", SjsonTree::Number(id)), ("frames", SjsonTree::Array(frames))];
    let own = class_of_text(properties(tile), &class(tile));
    if !matches!(&own, SjsonTree::Object(own) if own.is_empty()) {
        fields.push(("properties", own));
    }
    let shapes = shapes(path, tile, height)?;
    if !shapes.is_empty() {
        fields.push(("shapes", SjsonTree::Array(shapes)));
    }
    Ok(object(fields))
}
