//! Objects of Tiled maps, and the templates that objects take their values from.

use super::super::relative_path::resolve;
use super::super::source_tree::{
    is_not_false, list, number, number_or, numbers, object, string, text,
};
use super::placement::Placement;
use super::sets::TiledSets;
use super::{class, parse, properties, split_flips};
use engine_foundation::Error;
use engine_foundation::sjson::SjsonTree;
use engine_resource::resource_kind::CompileContext;
use std::collections::HashMap;

/// Templates that were read, by path from the game's folder: the values of an object, with the
/// number of its tile in the map.
#[derive(Default)]
pub struct Templates(HashMap<String, SjsonTree>);

impl Templates {
    /// Returns an object with the values of its template where it has none.
    pub fn merged(
        &mut self,
        compiling: &mut CompileContext,
        path: &str,
        sets: &mut TiledSets,
        one: &SjsonTree,
    ) -> Result<SjsonTree, Error> {
        let template = text(one, "template");
        if template.is_empty() {
            return Ok(one.clone());
        }
        let template = resolve(path, template)?;
        let values = match self.0.get(&template) {
            Some(values) => values,
            None => {
                let values = read_template(compiling, &template, sets)?;
                self.0.entry(template).or_insert(values)
            }
        };
        let SjsonTree::Object(mut fields) = one.clone() else { return Ok(one.clone()) };
        let SjsonTree::Object(defaults) = values else { return Ok(one.clone()) };
        let outlines = ["polygon", "polyline"];
        let has_outline = outlines.iter().any(|outline| one.get(outline).is_some());
        for (key, value) in defaults {
            let replaced = has_outline && outlines.contains(&&key[..]);
            if key == "properties" {
                let merged = merged_properties(list(one, "properties"), list(values, "properties"));
                fields.retain(|(known, _)| known != "properties");
                fields.push((key.clone(), merged));
            } else if one.get(key).is_none() && !replaced {
                fields.push((key.clone(), value.clone()));
            }
        }
        Ok(SjsonTree::Object(fields))
    }
}

/// Returns the properties of an object, and those of its template that the object does not have.
fn merged_properties(own: &[SjsonTree], defaults: &[SjsonTree]) -> SjsonTree {
    let names: Vec<&str> = own.iter().map(|property| text(property, "name")).collect();
    let others = defaults.iter().filter(|property| !names.contains(&text(property, "name")));
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
    let Some(set) = template.get("tileset") else { return Ok(SjsonTree::Object(fields)) };
    let first = sets.find(compiling, path, set)?;
    for (key, value) in &mut fields {
        if key == "gid"
            && let SjsonTree::Number(tile) = value
        {
            // The template numbers the tiles by its own list of sets.
            let (tile, flips) = split_flips(*tile);
            *value = SjsonTree::Number(tile - number(set, "firstgid") + first + flips);
        }
    }
    Ok(SjsonTree::Object(fields))
}

/// Parameters for the positions of a layer's objects.
pub struct ObjectLook<'a> {
    pub placement: &'a Placement,
    /// Offset of the layer to the right and down.
    pub offset: [f64; 2],
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
    pub fn add(&mut self, look: &ObjectLook, sets: &TiledSets, layer: &str, one: &SjsonTree) {
        let (tile, flips) = split_flips(number(one, "gid"));
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
    }

    /// Returns the tiles of objects in drawing order: from the top, or in the order of the file.
    pub fn placed(mut self, from_top: bool) -> Vec<SjsonTree> {
        if from_top {
            self.shown.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        self.shown.into_iter().map(|(_, placed)| placed).collect()
    }
}
