//! Layers of Tiled maps: tiles, objects, pictures and groups of them.

use super::super::data::{LAYER_NAME_MAX, OBJECTS_MAX};
use super::super::source_tree::{
    is_not_false, is_true, list, number, number_or, numbers, object, string, text,
};
use super::super::tree_fields::LENGTH_MAX;
use super::cells::CellReader;
use super::objects::{MapObjects, ObjectLook};
use super::placement::{GROUPS_MAX, Placement};
use super::sets::TiledSets;
use super::{class_of_text, color, properties};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_resource::resource_kind::CompileContext;

/// Properties of a layer that apply to all layers inside of a group.
#[derive(Clone, Copy)]
struct LayerLook {
    /// Offset to the right and down.
    offset: [f64; 2],
    opacity: f64,
    visible: bool,
    tint: [u8; 4],
    parallax: [f64; 2],
}

impl LayerLook {
    const DEFAULT: LayerLook = LayerLook {
        offset: [0.0; 2],
        opacity: 1.0,
        visible: true,
        tint: [255; 4],
        parallax: [1.0; 2],
    };

    /// Returns the look of a layer inside of a group with this look.
    fn of(self, path: &str, layer: &SjsonTree) -> Result<LayerLook, Error> {
        let tint = match text(layer, "tintcolor") {
            "" => [255; 4],
            named => color(named).ok_or_else(|| {
                let name = text(layer, "name");
                error!(
                    "{path}: '{named}' is not a color: set the Tint Color of layer '{name}' in \
                     Tiled, for example to #ff8000"
                )
            })?,
        };
        let both =
            |of: fn(&SjsonTree, &str) -> f64, keys: [&str; 2]| keys.map(|key| of(layer, key));
        let offset = both(number, ["offsetx", "offsety"]);
        let factor = |tree: &SjsonTree, key: &str| number_or(tree, key, 1.0);
        let parallax = both(factor, ["parallaxx", "parallaxy"]);
        let look = LayerLook {
            offset: [0, 1].map(|axis| self.offset[axis] + offset[axis]),
            opacity: self.opacity * number_or(layer, "opacity", 1.0),
            visible: self.visible && is_not_false(layer, "visible"),
            tint: [0, 1, 2, 3].map(|part: usize| {
                (u32::from(self.tint[part]) * u32::from(tint[part]) / 255) as u8
            }),
            parallax: [0, 1].map(|axis| self.parallax[axis] * parallax[axis]),
        };
        look.check(path, text(layer, "name"))?;
        Ok(look)
    }

    /// Refuses numbers that are too large together with those of the groups around a layer.
    fn check(&self, path: &str, name: &str) -> Result<(), Error> {
        let numbers = [
            ("Offset", &self.offset[..]),
            ("Parallax Factor", &self.parallax),
            ("Opacity", std::slice::from_ref(&self.opacity)),
        ];
        for (field, values) in numbers {
            if let Some(value) = values.iter().find(|value| value.abs() > LENGTH_MAX) {
                return Err(error!(
                    "{path}: the {field} of layer '{name}', with those of its groups, is \
                     {value:e}, and {LENGTH_MAX:e} is the most: change it in Tiled"
                ));
            }
        }
        Ok(())
    }

    fn fields(&self) -> Vec<(&'static str, SjsonTree)> {
        vec![
            ("opacity", SjsonTree::Number(self.opacity)),
            ("visible", SjsonTree::Bool(self.visible)),
            ("tint", numbers(&self.tint.map(f64::from))),
            ("parallax", numbers(&self.parallax)),
        ]
    }
}

/// Layers and objects collected from a map.
pub struct TiledLayers<'a> {
    path: &'a str,
    placement: &'a Placement,
    pub layers: Vec<SjsonTree>,
    pub objects: Vec<SjsonTree>,
    pub sets: TiledSets,
    cells: CellReader<'a>,
    templates: super::objects::Templates,
}

impl<'a> TiledLayers<'a> {
    pub fn new(path: &'a str, placement: &'a Placement, sets: TiledSets) -> TiledLayers<'a> {
        TiledLayers {
            path,
            placement,
            layers: Vec::new(),
            objects: Vec::new(),
            sets,
            cells: CellReader { path, joined: 0 },
            templates: Default::default(),
        }
    }

    /// Collects all layers of a map.
    pub fn add_map(
        &mut self,
        compiling: &mut CompileContext,
        map: &SjsonTree,
    ) -> Result<(), Error> {
        self.layers_of(compiling, map, LayerLook::DEFAULT, 0)
    }

    /// Collects the layers of a map or group.
    fn layers_of(
        &mut self,
        compiling: &mut CompileContext,
        tree: &SjsonTree,
        group: LayerLook,
        depth: usize,
    ) -> Result<(), Error> {
        for layer in list(tree, "layers") {
            let name = text(layer, "name");
            if name.len() > LAYER_NAME_MAX {
                return Err(error!(
                    "{}: the name of a layer has {} bytes, and {LAYER_NAME_MAX} is the most \
                     (LAYER_NAME_MAX): rename the layer in Tiled",
                    self.path,
                    name.len()
                ));
            }
            let look = group.of(self.path, layer)?;
            match text(layer, "type") {
                "tilelayer" => self.add_tiles(layer, look)?,
                "objectgroup" => self.add_objects(compiling, layer, look)?,
                "imagelayer" => self.add_image(compiling, layer, look)?,
                "group" if depth == GROUPS_MAX => {
                    let path = self.path;
                    return Err(error!("{path}: groups are more than {GROUPS_MAX} deep"));
                }
                "group" => self.layers_of(compiling, layer, look, depth + 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds a layer. `fields` are those that only its kind has.
    fn push(
        &mut self,
        layer: &SjsonTree,
        look: LayerLook,
        mut fields: Vec<(&'static str, SjsonTree)>,
    ) {
        let cell = self.placement.cell;
        fields.extend([
            ("name", string(text(layer, "name"))),
            ("tile_width", SjsonTree::Number(cell[0])),
            ("tile_height", SjsonTree::Number(cell[1])),
            ("properties", class_of_text(properties(layer), text(layer, "class"))),
        ]);
        fields.extend(look.fields());
        self.layers.push(object(fields));
    }

    fn add_tiles(&mut self, layer: &SjsonTree, look: LayerLook) -> Result<(), Error> {
        let (size, tiles) = self.cells.read(self.placement, layer)?;
        let [x, y] = look.offset;
        let height = self.placement.size_of(size)[1];
        let fields = vec![
            ("columns", SjsonTree::Number(size[0])),
            ("rows", SjsonTree::Number(size[1])),
            ("x", SjsonTree::Number(x)),
            ("y", SjsonTree::Number(self.placement.height() - y - height)),
            ("tiles", SjsonTree::Array(tiles)),
        ];
        self.push(layer, look, fields);
        Ok(())
    }

    fn add_objects(
        &mut self,
        compiling: &mut CompileContext,
        layer: &SjsonTree,
        look: LayerLook,
    ) -> Result<(), Error> {
        let (path, placement, name) = (self.path, self.placement, text(layer, "name"));
        let look_of_objects = ObjectLook { path, placement, offset: look.offset };
        let (own, mut found) = (list(layer, "objects"), MapObjects::default());
        if self.objects.len() + own.len() > OBJECTS_MAX {
            return Err(error!(
                "{path}: with layer '{name}', the map has more than {OBJECTS_MAX} objects \
                 (OBJECTS_MAX): split the map"
            ));
        }
        for one in own {
            let merged = self.templates.merged(compiling, path, &mut self.sets, one)?;
            found.add(&look_of_objects, &self.sets, name, &merged)?;
        }
        self.objects.append(&mut found.objects);
        let placed = found.placed(text(layer, "draworder") != "index");
        if !placed.is_empty() {
            let fields = vec![("kind", string("objects")), ("placed", SjsonTree::Array(placed))];
            self.push(layer, look, fields);
        }
        Ok(())
    }

    fn add_image(
        &mut self,
        compiling: &mut CompileContext,
        layer: &SjsonTree,
        look: LayerLook,
    ) -> Result<(), Error> {
        if text(layer, "image").is_empty() {
            // Nothing was chosen in the editor.
            return Ok(());
        }
        let (tile, [width, height]) = self.sets.add_image(compiling, self.path, layer)?;
        let origin = self.placement.screen_origin();
        let [x, y] = [0, 1].map(|axis| look.offset[axis] + origin[axis]);
        let placed = object(vec![
            ("tile", SjsonTree::Number(tile)),
            ("at", numbers(&[x, self.placement.height() - y - height])),
            ("size", numbers(&[width, height])),
        ]);
        let fields = vec![
            ("kind", string("image")),
            ("placed", SjsonTree::Array(vec![placed])),
            ("repeat_x", SjsonTree::Bool(is_true(layer, "repeatx"))),
            ("repeat_y", SjsonTree::Bool(is_true(layer, "repeaty"))),
        ];
        self.push(layer, look, fields);
        Ok(())
    }
}
