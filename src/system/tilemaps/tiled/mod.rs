//! Compiler for Tiled maps (version 1.10 of the formats, mapeditor.org). Produces the tree that
//! `data.rs` reads. XML files are converted to the tree of the same JSON file first (`xml.rs`).

mod cells;
mod layers;
#[cfg(test)]
mod limit_tests;
mod objects;
mod placement;
mod sets;
mod shapes;
#[cfg(test)]
mod tests;
mod xml;

use super::source_tree::{list, number, numbers, object, string, text};
use super::{field_types, source_tree};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_resource::resource_kind::CompileContext;
use layers::TiledLayers;
use placement::Placement;
use sets::TiledSets;

/// Orientations that the engine draws.
const ORIENTATIONS: [&str; 4] = ["orthogonal", "isometric", "staggered", "hexagonal"];

/// Converts `[{ name, value }]` to an object.
fn properties(tree: &SjsonTree) -> SjsonTree {
    let entry = |property: &SjsonTree| {
        let value = property.get("value").cloned().unwrap_or(SjsonTree::Null);
        (text(property, "name").to_string(), value)
    };
    SjsonTree::Object(list(tree, "properties").iter().map(entry).collect())
}

/// Compiles a map. Its first character tells JSON from XML.
pub fn compile(
    compiling: &mut CompileContext,
    path: &str,
    bytes: &[u8],
) -> Result<SjsonTree, Error> {
    let map = parse(path, bytes)?;
    let orientation = text(&map, "orientation");
    if orientation.is_empty() {
        return Err(error!(
            "{path}: this is not a Tiled map: save the map in Tiled, as .tmx or .tmj"
        ));
    }
    if !ORIENTATIONS.contains(&orientation) {
        return Err(error!(
            "{path}: the map is {orientation}, and the engine draws orthogonal, isometric, \
             staggered and hexagonal ones: set its orientation in Tiled"
        ));
    }
    let mut sets = TiledSets::default();
    for set in list(&map, "tilesets") {
        sets.add(compiling, path, set)?;
    }
    let placement = Placement::of(path, &map)?;
    let mut parts = TiledLayers::new(path, &placement, sets);
    parts.add_map(compiling, &map)?;
    let TiledLayers { layers, objects, sets, .. } = parts;
    let order = text(&map, "renderorder");
    let mut fields = vec![
        ("name", string("")),
        ("properties", properties(&map)),
        ("parallax_origin", numbers(&placement.parallax_origin(&map))),
        ("layers", SjsonTree::Array(layers)),
        ("objects", SjsonTree::Array(objects)),
        // Only orthogonal maps have another order than from the top left.
        ("from_right", SjsonTree::Bool(order.starts_with("left"))),
        ("from_bottom", SjsonTree::Bool(order.ends_with("up"))),
    ];
    fields.extend(placement.fields());
    let sets = SjsonTree::Array(sets.into_trees());
    Ok(object(vec![("sets", sets), ("maps", SjsonTree::Array(vec![object(fields)]))]))
}

/// Parses a file of Tiled.
fn parse(path: &str, bytes: &[u8]) -> Result<SjsonTree, Error> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    // A byte order mark is in front of XML only.
    if matches!(first, Some(b'<' | 0xef)) {
        return xml::parse(path, bytes);
    }
    let tree = source_tree::parse_json(path, bytes, "Tiled")?;
    field_types::check(path, &tree, &field_types::TILED)?;
    Ok(tree)
}

/// Parses a color: `#rrggbb` or `#aarrggbb`, with or without the `#`. Returns red, green, blue and
/// alpha.
fn color(text: &str) -> Option<[u8; 4]> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    if !matches!(digits.len(), 6 | 8) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let number = u32::from_str_radix(digits, 16).ok()?;
    let [alpha, red, green, blue] = number.to_be_bytes();
    Some([red, green, blue, if digits.len() == 6 { 255 } else { alpha }])
}

/// Returns the class of an object or tile, which older versions of Tiled name `type`.
fn class(tree: &SjsonTree) -> String {
    [text(tree, "class"), text(tree, "type")].concat()
}

/// Adds a class to an object of properties, as `type`. Without a class, the object stays as it is.
fn class_of_text(properties: SjsonTree, class: &str) -> SjsonTree {
    let SjsonTree::Object(mut fields) = properties else { unreachable!("they are an object") };
    if !class.is_empty() {
        fields.push(("type".to_string(), string(class)));
    }
    SjsonTree::Object(fields)
}

/// Returns the number of the tile that an object is shown as, and the tile's flip bits. Both are 0
/// if it is shown as none.
fn split_flips(path: &str, object: &SjsonTree) -> Result<(f64, f64), Error> {
    let tile = number(object, "gid");
    if tile.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&tile) {
        return Err(error!(
            "{path}: object '{}' is shown as tile {tile:?}, and the number of a tile is a whole \
             number from 0 to {}: replace its tile in Tiled",
            text(object, "name"),
            u32::MAX
        ));
    }
    let bits = tile as u32;
    let own = super::number_of(bits);
    Ok((f64::from(own), f64::from(bits - own)))
}

/// Returns the sides of a cell, which every length of a map depends on.
fn cell_size(path: &str, map: &SjsonTree) -> Result<[f64; 2], Error> {
    let cell = [number(map, "tilewidth"), number(map, "tileheight")];
    match cell.iter().all(|side| (1.0..=65_536.0).contains(side)) {
        true => Ok(cell),
        false => Err(error!(
            "{path}: its cells are {} × {} texels, and each side must be 1 to 65536: set its Tile \
             Width and Tile Height in Tiled",
            cell[0], cell[1]
        )),
    }
}
