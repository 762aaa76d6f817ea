//! Compiler for LDtk maps (version 1.5 of the JSON format, ldtk.io). Produces the tree that
//! `data.rs` reads. Each level becomes a map. Levels can be in separate files.

mod budget;
#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod tests;
mod tiles;

use super::data::{LAYER_NAME_MAX, SETS_MAX};
use super::relative_path::resolve;
use super::source_images::{ImageSizes, PictureSet, texture};
use super::source_tree::{
    is_not_false, list, number, numbers, object, pair, required, required_pair, string, text,
};
use super::{field_types, source_tree};
use budget::FileBudget;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::memory::limit;
use engine_foundation::sjson::SjsonTree;
use engine_resource::resource_kind::CompileContext;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Converts `[{ __identifier, __value }]` to an object.
fn fields(tree: &SjsonTree) -> SjsonTree {
    let entry = |field: &SjsonTree| {
        (
            text(field, "__identifier").to_string(),
            field.get("__value").cloned().unwrap_or(SjsonTree::Null),
        )
    };
    SjsonTree::Object(list(tree, "fieldInstances").iter().map(entry).collect())
}

/// Tile sets of a project.
struct LdtkSets {
    /// Compiled sets.
    trees: Vec<SjsonTree>,
    /// Sets by their `uid` in the file.
    by_uid: HashMap<i64, LdtkSet>,
    /// Number of the next set's first tile.
    next: f64,
    images: ImageSizes,
}

/// Numbers and size of a set's tiles.
#[derive(Clone, Copy)]
struct LdtkSet {
    first: f64,
    count: f64,
    size: f64,
}

/// Compiles the text of an LDtk project.
pub fn compile(
    compiling: &mut CompileContext,
    path: &str,
    bytes: &[u8],
) -> Result<SjsonTree, Error> {
    let project = parse(path, bytes)?;
    let definitions = project.get("defs").cloned().unwrap_or(SjsonTree::Null);
    let (trees, by_uid, images) = (Vec::new(), HashMap::new(), ImageSizes::default());
    let mut sets = LdtkSets { trees, by_uid, next: 1.0, images };
    for set in list(&definitions, "tilesets") {
        sets.add(compiling, path, set)?;
    }
    let worlds = list(&project, "worlds").iter().flat_map(|world| list(world, "levels"));
    let (mut maps, mut level_paths, mut budget) = (Vec::new(), HashSet::new(), FileBudget::FULL);
    for level in list(&project, "levels").iter().chain(worlds) {
        budget.charge_level(path)?;
        // Trees need many times the memory of their text.
        limit::check_over()?;
        let external = text(level, "externalRelPath");
        if external.is_empty() {
            maps.push(map(compiling, path, level, (&definitions, &mut sets), &mut budget)?);
            continue;
        }
        let level_path = resolve(path, external)?;
        if !level_paths.insert(level_path.clone()) {
            return Err(error!(
                "{path}: two levels are in the same file, {level_path}: save the project again in \
                 LDtk"
            ));
        }
        let bytes = compiling.read(&level_path)?;
        budget.charge_level_bytes(path, &level_path, bytes.len())?;
        let level = parse(&level_path, &bytes)?;
        maps.push(map(compiling, path, &level, (&definitions, &mut sets), &mut budget)?);
    }
    let sets = SjsonTree::Array(sets.trees);
    Ok(object(vec![("sets", sets), ("maps", SjsonTree::Array(maps))]))
}

fn parse(path: &str, bytes: &[u8]) -> Result<SjsonTree, Error> {
    let tree = source_tree::parse_json(path, bytes, "LDtk")?;
    field_types::check(path, &tree, &field_types::LDTK)?;
    Ok(tree)
}

impl LdtkSets {
    /// Adds a set of the project.
    fn add(
        &mut self,
        compiling: &mut CompileContext,
        path: &str,
        set: &SjsonTree,
    ) -> Result<(), Error> {
        let image_path = text(set, "relPath");
        if image_path.is_empty() {
            // The editor's built-in icons are not a file of the project.
            return Ok(());
        }
        let texture = texture(compiling, &resolve(path, image_path)?);
        let count = number(set, "__cWid") * number(set, "__cHei");
        let (first, size) = (self.next, number(set, "tileGridSize"));
        if !(1.0..=65_536.0).contains(&size) {
            let name = text(set, "identifier");
            return Err(error!(
                "{path}: the tiles of tile set '{name}' have {size} texels, and 1 to 65536 are \
                 possible: set their size in LDtk"
            ));
        }
        self.push(path, tile_set(set, first, &texture, count))?;
        self.by_uid.insert(number(set, "uid") as i64, LdtkSet { first, count, size });
        self.next += count;
        Ok(())
    }

    fn push(&mut self, path: &str, set: SjsonTree) -> Result<(), Error> {
        if self.trees.len() == SETS_MAX {
            return Err(error!(
                "{path}: more than {SETS_MAX} tile sets and backgrounds are used (SETS_MAX): make \
                 two files of it"
            ));
        }
        self.trees.push(set);
        Ok(())
    }

    /// Adds the background image of a level. Returns its layer.
    fn background(
        &mut self,
        compiling: &mut CompileContext,
        path: &str,
        level: &SjsonTree,
    ) -> Result<Option<SjsonTree>, Error> {
        let (named, position) = (text(level, "bgRelPath"), level.get("__bgPos"));
        let Some(position @ SjsonTree::Object(_)) = position.filter(|_| !named.is_empty()) else {
            return Ok(None);
        };
        let image_path = resolve(path, named)?;
        let texture = texture(compiling, &image_path);
        let image = self.images.of(compiling, &image_path)?;
        let ([x, y], scale) = (pair(position, "topLeftPx"), pair(position, "scale"));
        let [left, top, width, height] = match list(position, "cropRect") {
            [
                SjsonTree::Number(left),
                SjsonTree::Number(top),
                SjsonTree::Number(width),
                SjsonTree::Number(height),
            ] => [*left, *top, *width, *height],
            _ => [0.0, 0.0, image[0], image[1]],
        };
        let tile = self.next;
        self.next += 1.0;
        let (origin, size) = ([left, top], [width, height]);
        let set = PictureSet { tile, texture: &texture, image, origin, size };
        self.push(path, object(set.fields()))?;
        let size = [width * scale[0], height * scale[1]];
        let placed = object(vec![
            ("tile", SjsonTree::Number(tile)),
            ("at", numbers(&[x, number(level, "pxHei") - y - size[1]])),
            ("size", numbers(&size)),
        ]);
        Ok(Some(object(vec![
            ("name", string("background")),
            ("kind", string("image")),
            ("tile_width", SjsonTree::Number(1.0)),
            ("tile_height", SjsonTree::Number(1.0)),
            ("placed", SjsonTree::Array(vec![placed])),
        ])))
    }
}

fn tile_set(set: &SjsonTree, first: f64, texture: &str, count: f64) -> SjsonTree {
    let mut properties: BTreeMap<i64, Vec<(&str, SjsonTree)>> = BTreeMap::new();
    for data in list(set, "customData") {
        let of_tile = properties.entry(number(data, "tileId") as i64).or_default();
        of_tile.push(("data", string(text(data, "data"))));
    }
    let mut tags: BTreeMap<i64, Vec<SjsonTree>> = BTreeMap::new();
    for tag in list(set, "enumTags") {
        for tile in list(tag, "tileIds") {
            let SjsonTree::Number(tile) = tile else { continue };
            tags.entry(*tile as i64).or_default().push(string(text(tag, "enumValueId")));
        }
    }
    for (tile, tags) in tags {
        properties.entry(tile).or_default().push(("tags", SjsonTree::Array(tags)));
    }
    let tiles = properties.into_iter().map(|(tile, properties)| {
        object(vec![("id", SjsonTree::Number(tile as f64)), ("properties", object(properties))])
    });
    let tiles: Vec<SjsonTree> = tiles.collect();
    let size = number(set, "tileGridSize");
    object(vec![
        ("first", SjsonTree::Number(first)),
        ("count", SjsonTree::Number(count)),
        ("columns", SjsonTree::Number(number(set, "__cWid"))),
        ("texture", string(texture)),
        ("image_width", SjsonTree::Number(number(set, "pxWid"))),
        ("image_height", SjsonTree::Number(number(set, "pxHei"))),
        ("tile_width", SjsonTree::Number(size)),
        ("tile_height", SjsonTree::Number(size)),
        ("origin", numbers(&[number(set, "padding"), number(set, "padding")])),
        ("spacing", SjsonTree::Number(number(set, "spacing"))),
        ("tiles", SjsonTree::Array(tiles)),
    ])
}

fn map(
    compiling: &mut CompileContext,
    path: &str,
    level: &SjsonTree,
    (definitions, sets): (&SjsonTree, &mut LdtkSets),
    budget: &mut FileBudget,
) -> Result<SjsonTree, Error> {
    let level_name = || format!("level '{}'", text(level, "identifier"));
    let height = required(path, level, "pxHei", level_name)?;
    let width = required(path, level, "pxWid", level_name)?;
    let mut layers: Vec<SjsonTree> = sets.background(compiling, path, level)?.into_iter().collect();
    let (mut grids, mut objects) = (Vec::new(), Vec::new());
    let mut cell = 0.0;
    // The file lists the topmost layer first.
    for layer in list(level, "layerInstances").iter().rev() {
        cell = if cell == 0.0 { number(layer, "__gridSize") } else { cell };
        let name = text(layer, "__identifier");
        if name.len() > LAYER_NAME_MAX {
            return Err(error!(
                "{path}: the name of a layer has {} bytes, and {LAYER_NAME_MAX} is the most \
                 (LAYER_NAME_MAX): rename the layer in LDtk",
                name.len()
            ));
        }
        let cells = list(layer, "intGridCsv");
        budget.charge_grid_cells(path, name, cells.len())?;
        if !cells.is_empty() {
            grids.push(int_grid(path, layer, cells, height, definitions)?);
        }
        let tiles = [list(layer, "autoLayerTiles"), list(layer, "gridTiles")].concat();
        if !tiles.is_empty() {
            let parallax = parallax(layer, definitions);
            let own = tiles::layers(path, layer, &tiles, height, sets, budget)?;
            layers.extend(own.into_iter().map(|layer| with_parallax(layer, parallax)));
        }
        let offset = [number(layer, "__pxTotalOffsetX"), number(layer, "__pxTotalOffsetY")];
        let entities = list(layer, "entityInstances");
        budget.charge_entities(path, name, entities.len())?;
        for entity in entities {
            objects.push(entity_of(path, entity, (name, height, offset))?);
        }
    }
    let cell = cell.max(1.0);
    Ok(object(vec![
        ("name", string(text(level, "identifier"))),
        ("columns", SjsonTree::Number((width / cell).ceil())),
        ("rows", SjsonTree::Number((height / cell).ceil())),
        ("tile_width", SjsonTree::Number(cell)),
        ("tile_height", SjsonTree::Number(cell)),
        ("parallax_origin", numbers(&[width * 0.5, height * 0.5])),
        ("properties", fields(level)),
        ("layers", SjsonTree::Array(layers)),
        ("grids", SjsonTree::Array(grids)),
        ("objects", SjsonTree::Array(objects)),
    ]))
}

/// Returns the definition of a layer.
fn definition<'a>(layer: &SjsonTree, definitions: &'a SjsonTree) -> Option<&'a SjsonTree> {
    let uid = number(layer, "layerDefUid");
    list(definitions, "layers").iter().find(|known| number(known, "uid") == uid)
}

/// Returns the movement of a layer relative to that of the view. Layers that parallax also scales
/// are drawn without both.
fn parallax(layer: &SjsonTree, definitions: &SjsonTree) -> [f64; 2] {
    match definition(layer, definitions) {
        Some(known) if !is_not_false(known, "parallaxScaling") => {
            ["parallaxFactorX", "parallaxFactorY"].map(|key| 1.0 - number(known, key))
        }
        _ => [1.0; 2],
    }
}

fn with_parallax(mut layer: SjsonTree, parallax: [f64; 2]) -> SjsonTree {
    if let SjsonTree::Object(fields) = &mut layer {
        fields.push(("parallax".to_string(), numbers(&parallax)));
    }
    layer
}

/// Converts the values of an IntGrid, with the names that the project gives them.
fn int_grid(
    path: &str,
    layer: &SjsonTree,
    cells: &[SjsonTree],
    height: f64,
    definitions: &SjsonTree,
) -> Result<SjsonTree, Error> {
    let (rows, cell) = (number(layer, "__cHei"), grid_size(path, layer)?);
    let known = definition(layer, definitions);
    let values = known.map_or(&[][..], |known| list(known, "intGridValues"));
    let named = values.iter().filter(|value| !text(value, "identifier").is_empty());
    let names = named.map(|value| {
        object(vec![
            ("value", SjsonTree::Number(number(value, "value"))),
            ("name", string(text(value, "identifier"))),
        ])
    });
    let top = number(layer, "__pxTotalOffsetY");
    Ok(object(vec![
        ("name", string(text(layer, "__identifier"))),
        ("columns", SjsonTree::Number(number(layer, "__cWid"))),
        ("rows", SjsonTree::Number(rows)),
        ("values", SjsonTree::Array(cells.to_vec())),
        ("names", SjsonTree::Array(names.collect())),
        ("x", SjsonTree::Number(number(layer, "__pxTotalOffsetX"))),
        ("y", SjsonTree::Number(height - top - rows * cell)),
        ("cell", SjsonTree::Number(cell)),
    ]))
}

/// Returns the side of a layer's cells in texels.
fn grid_size(path: &str, layer: &SjsonTree) -> Result<f64, Error> {
    let layer_name = || format!("layer '{}'", text(layer, "__identifier"));
    let side = required(path, layer, "__gridSize", layer_name)?;
    match (1.0..=65_536.0).contains(&side) {
        true => Ok(side),
        false => Err(error!(
            "{path}: the cells of {} have {side} texels, and 1 to 65536 are possible: set its Grid \
             Size in LDtk",
            layer_name()
        )),
    }
}

/// Converts an entity of a layer with this name and offset, in a level of this height.
fn entity_of(
    path: &str,
    entity: &SjsonTree,
    (layer, height, offset): (&str, f64, [f64; 2]),
) -> Result<SjsonTree, Error> {
    let entity_name = || format!("entity '{}'", text(entity, "__identifier"));
    let [x, y] = required_pair(path, entity, "px", entity_name)?;
    let pivot = pair(entity, "__pivot");
    let (x, y) = (x + offset[0], y + offset[1]);
    let (width, tall) = (number(entity, "width"), number(entity, "height"));
    let name = text(entity, "__identifier");
    Ok(object(vec![
        ("name", string(name)),
        ("kind", string(name)),
        ("layer", string(layer)),
        ("x", SjsonTree::Number(x - pivot[0] * width)),
        ("y", SjsonTree::Number(height - (y - pivot[1] * tall + tall))),
        ("width", SjsonTree::Number(width)),
        ("height", SjsonTree::Number(tall)),
        ("properties", fields(entity)),
    ]))
}
