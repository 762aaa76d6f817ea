//! Objects of Tiled maps, and the templates that objects take their values from.

use super::super::relative_path::resolve;
use super::super::source_tree::{
    is_not_false, is_true, list, memory_of, number, number_or, numbers, object, string, text,
};
use super::super::tree_fields::LENGTH_MAX;
use super::placement::Placement;
use super::sets::TiledSets;
use super::{class, parse, properties, split_flips};
use engine_foundation::Error;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::memory::limit;
use engine_foundation::sjson::SjsonTree;
use engine_resource::resource_kind::CompileContext;
use std::collections::{HashMap, HashSet};

/// Maximum number of bytes that the values of templates take in all objects of a map.
pub const TEMPLATE_BYTES_MAX: usize = 1 << 27;

/// Templates that were read, by path from the game's folder.
#[derive(Default)]
pub struct Templates {
    known: HashMap<String, Template>,
    /// Number of bytes that objects took so far.
    copied: usize,
}

struct Template {
    /// Values of an object, with the number of its tile in the map.
    values: SjsonTree,
    bytes: usize,
}

impl Templates {
    /// Returns an object with the values of its template where it has none.
    pub fn merged(
        &mut self,
        compiling: &mut CompileContext,
        path: &str,
        sets: &mut TiledSets,
        own: &SjsonTree,
    ) -> Result<SjsonTree, Error> {
        let template = text(own, "template");
        if template.is_empty() {
            return Ok(own.clone());
        }
        let template = resolve(path, template)?;
        if !self.known.contains_key(&template) {
            let values = read_template(compiling, &template, sets)?;
            let bytes = memory_of(&values);
            self.known.insert(template.clone(), Template { values, bytes });
        }
        let Template { values, bytes } = &self.known[&template];
        self.copied = self.copied.saturating_add(*bytes);
        if self.copied > TEMPLATE_BYTES_MAX {
            return Err(error!(
                "{path}: with the {bytes} bytes that object '{}' takes from {template}, its \
                 objects take more than {} MiB from templates (TEMPLATE_BYTES_MAX): use smaller \
                 templates, or split the map",
                text(own, "name"),
                TEMPLATE_BYTES_MAX >> 20
            ));
        }
        limit::check_over()?;
        Ok(merge(own, values))
    }
}

const OUTLINES: [&str; 2] = ["polygon", "polyline"];

/// Returns an object with the values of a template that the object does not have.
fn merge(own: &SjsonTree, template: &SjsonTree) -> SjsonTree {
    let (SjsonTree::Object(fields), SjsonTree::Object(defaults)) = (own, template) else {
        return own.clone();
    };
    let keys: HashSet<&str> = fields.iter().map(|(key, _)| &key[..]).collect();
    let has_outline = OUTLINES.iter().any(|outline| keys.contains(outline));
    let is_missing = |key: &str| {
        let is_replaced = has_outline && OUTLINES.contains(&key);
        !is_replaced && !keys.contains(key)
    };
    let own_fields = fields.iter().filter(|(key, _)| key != "properties");
    let missing = defaults.iter().filter(|(key, _)| key != "properties" && is_missing(key));
    let mut merged: Vec<(String, SjsonTree)> = own_fields.chain(missing).cloned().collect();
    let properties = merged_properties(list(own, "properties"), list(template, "properties"));
    merged.push(("properties".to_string(), properties));
    SjsonTree::Object(merged)
}

/// Returns the properties of an object, and those of its template that the object does not have.
fn merged_properties(own: &[SjsonTree], defaults: &[SjsonTree]) -> SjsonTree {
    let names: HashSet<&str> = own.iter().map(|property| text(property, "name")).collect();
    let others = defaults.iter().filter(|property| !names.contains(text(property, "name")));
    SjsonTree::Array(others.chain(own).cloned().collect())
}

fn read_template(
    compiling: &mut CompileContext,
    path: &str,
    sets: &mut TiledSets,
) -> Result<SjsonTree, Error> {
    let bytes = compiling.read(path)?;
    let template = parse(path, &bytes)?;
    let Some(SjsonTree::Object(mut fields)) = template.get("object").cloned() else {
        return Ok(SjsonTree::Null);
    };
    let (Some(set), Some(values)) = (template.get("tileset"), template.get("object")) else {
        return Ok(SjsonTree::Object(fields));
    };
    let first = sets.find(compiling, path, set)?;
    let (tile, flips) = split_flips(path, values)?;
    if tile == 0.0 {
        return Ok(SjsonTree::Object(fields));
    }
    // The template numbers the tiles by its own list of sets.
    let tile = tile - number(set, "firstgid") + first;
    if tile.fract() != 0.0 || !(1.0..=TILE_NUMBER_MAX).contains(&tile) {
        return Err(error!(
            "{path}: the object is shown as tile {tile:?} of the map, which its tile set does not \
             have: replace its tile in Tiled"
        ));
    }
    for (_, value) in fields.iter_mut().filter(|(key, _)| key == "gid") {
        *value = SjsonTree::Number(tile + flips);
    }
    Ok(SjsonTree::Object(fields))
}

/// Maximum number of a tile without its flip bits.
const TILE_NUMBER_MAX: f64 = 268_435_455.0;

/// Parameters for the positions of a layer's objects.
pub struct ObjectLook<'a> {
    /// Path of the map.
    pub path: &'a str,
    pub placement: &'a Placement,
    /// Offset of the layer to the right and down.
    pub offset: [f64; 2],
}

/// Refuses an object whose size, or whose position in the file or in the map, is too large.
fn check_lengths(
    path: &str,
    name: &str,
    at: [f64; 2],
    size: [f64; 2],
    bottom_left: [f64; 2],
) -> Result<(), Error> {
    let lengths = [at, size, bottom_left];
    match lengths.as_flattened().iter().all(|length| length.abs() <= LENGTH_MAX) {
        true => Ok(()),
        false => Err(error!(
            "{path}: object '{name}' of {:e} × {:e} texels is at {:e}, {:e}, and {LENGTH_MAX:e} is \
             the most: move it in Tiled",
            size[0], size[1], at[0], at[1]
        )),
    }
}

/// Returns the name of an object's shape.
fn shape_of(one: &SjsonTree) -> &'static str {
    match one {
        _ if is_true(one, "point") => "point",
        _ if is_true(one, "ellipse") => "ellipse",
        _ if !list(one, "polygon").is_empty() => "polygon",
        _ if !list(one, "polyline").is_empty() => "polyline",
        _ => "rectangle",
    }
}

/// Objects of a layer, in the compiled form, and those that are shown as tiles.
#[derive(Default)]
pub struct MapObjects {
    pub objects: Vec<SjsonTree>,
    /// Position from the top in the file, and the tile.
    shown: Vec<(f64, SjsonTree)>,
}

impl MapObjects {
    /// Adds an object of a layer with this name.
    pub fn add(
        &mut self,
        look: &ObjectLook,
        sets: &TiledSets,
        layer: &str,
        one: &SjsonTree,
    ) -> Result<(), Error> {
        let (tile, flips) = split_flips(look.path, one)?;
        let mut size = [number(one, "width"), number(one, "height")];
        if tile > 0.0 && size == [0.0; 2] {
            size = sets.size(tile);
        }
        let at = [number(one, "x"), number(one, "y")];
        // Tile objects are placed by a point of their picture, all others by their top left.
        let low = if tile > 0.0 { at } else { [at[0], at[1] + size[1]] };
        let drawn = |at: [f64; 2]| {
            let [x, y] = look.placement.project(at);
            [x + look.offset[0], look.placement.height() - (y + look.offset[1])]
        };
        let (anchor, mut bottom_left) = (drawn(at), drawn(low));
        if tile > 0.0 {
            let middle = if look.placement.is_isometric() { 0.5 } else { 0.0 };
            let part = sets.alignment(tile).unwrap_or([middle, 0.0]);
            bottom_left = [0, 1].map(|axis| anchor[axis] - part[axis] * size[axis]);
        }
        check_lengths(look.path, text(one, "name"), at, size, bottom_left)?;
        let outline = [list(one, "polygon"), list(one, "polyline")].concat();
        let points = outline.iter().map(|point| {
            let [x, y] = drawn([at[0] + number(point, "x"), at[1] + number(point, "y")]);
            numbers(&[x - bottom_left[0], y - bottom_left[1]])
        });
        let rotation = number(one, "rotation");
        self.objects.push(object(vec![
            ("name", string(text(one, "name"))),
            ("kind", SjsonTree::String(class(one))),
            ("layer", string(layer)),
            ("x", SjsonTree::Number(bottom_left[0])),
            ("y", SjsonTree::Number(bottom_left[1])),
            ("width", SjsonTree::Number(size[0])),
            ("height", SjsonTree::Number(size[1])),
            ("rotation", SjsonTree::Number(rotation)),
            ("tile", SjsonTree::Number(tile + flips)),
            ("shape", string(shape_of(one))),
            ("points", SjsonTree::Array(points.collect())),
            ("properties", properties(one)),
        ]));
        if tile > 0.0 && is_not_false(one, "visible") {
            let placed = object(vec![
                ("tile", SjsonTree::Number(tile + flips)),
                ("at", numbers(&bottom_left)),
                ("size", numbers(&size)),
                ("rotation", SjsonTree::Number(rotation)),
                ("pivot", numbers(&anchor)),
                ("alpha", SjsonTree::Number(number_or(one, "opacity", 1.0))),
            ]);
            self.shown.push((at[1], placed));
        }
        Ok(())
    }

    /// Returns the tiles of objects in drawing order: from the top, or in the order of the file.
    pub fn placed(mut self, from_top: bool) -> Vec<SjsonTree> {
        if from_top {
            self.shown.sort_compact_by(|a, b| a.0.total_cmp(&b.0));
        }
        self.shown.into_iter().map(|(_, placed)| placed).collect()
    }
}
