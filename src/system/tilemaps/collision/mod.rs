//! Collision outlines of tile maps: the edges between solid and empty parts of a map. Inner edges
//! between neighbouring tiles are removed, so that a body slides over the tiles as over one shape.
//! Knows no physics.
//!
//! Outlines are computed for squares of cells, the regions, so that a changed tile changes only its
//! surroundings. Lengths are texels from the map's bottom left, y up.

mod cell_costs;
mod cells;
mod chains;
mod edges;
mod solids;
#[cfg(test)]
mod tests;

pub use cell_costs::CellCosts;
pub use chains::{Chain, chains};
pub use edges::Segment;

use super::data::{LayerKind, MapFile, MapObject, ObjectShape};
use super::{CellGrid, CellShape, Tilemap};
use edges::EdgeSet;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, error, suggest};
use std::collections::{BTreeSet, HashMap};

/// Number of cells along the side of a region, of the layer with the largest ones.
const REGION_CELLS: f64 = 32.0;
/// Maximum number of edges of a map's outlines.
pub const OUTLINE_EDGES_MAX: usize = 1 << 18;
/// Maximum number of edges of the tiles that outlines are computed from, of one region or of a map
/// whose outlines a script requests.
pub const TILE_EDGES_MAX: usize = 1 << 20;
/// Number of points that an ellipse is approximated with.
pub const ELLIPSE_POINTS: usize = 16;

/// Names that make tiles, shapes, layers, objects and values of grids collide: each can be a class,
/// a property that is true, a tag, or the name of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct CollisionRules {
    pub solid: Vec<String>,
    pub one_way: Vec<String>,
    /// Names of the layers, object layers and grids that can collide; if empty, all of them.
    pub layers: Vec<String>,
}

impl Default for CollisionRules {
    fn default() -> CollisionRules {
        CollisionRules {
            solid: vec!["solid".to_string()],
            one_way: vec!["one_way".to_string()],
            layers: Vec::new(),
        }
    }
}

/// Kind of a collision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollisionKind {
    Solid,
    /// Stops bodies from above.
    OneWay,
}

impl CollisionRules {
    /// Returns the kind that one of an object's names has.
    fn kind_of(&self, has_name: impl Fn(&str) -> bool) -> Option<CollisionKind> {
        let any = |names: &[String]| names.iter().any(|name| has_name(name));
        if any(&self.one_way) {
            return Some(CollisionKind::OneWay);
        }
        any(&self.solid).then_some(CollisionKind::Solid)
    }

    /// Returns the kind that properties declare.
    fn kind_of_properties(&self, properties: &SjsonTree) -> Option<CollisionKind> {
        self.kind_of(|name| has_name(properties, name))
    }

    /// Returns true if the layer, object layer or grid with that name can collide.
    fn includes(&self, layer: &str) -> bool {
        self.layers.is_empty() || self.layers.iter().any(|name| name == layer)
    }
}

/// Maximum number of names of a map that a message lists.
const NAMES_LISTED_MAX: usize = 12;

impl CollisionRules {
    /// Returns a message about the names that nothing in a file has, if that may be a mistake. The
    /// default names count only if nothing else can collide.
    pub fn unknown_names_message(&self, file: &MapFile, map: &str) -> Option<String> {
        let known = file.collision_names();
        let default = CollisionRules::default();
        let names: Vec<&str> = self.solid.iter().chain(&self.one_way).map(String::as_str).collect();
        let unknown = names.iter().copied().filter(|name| !known.contains(name));
        let is_default = |name: &str| default.solid[0] == name || default.one_way[0] == name;
        let mut wrong: Vec<&str> = unknown.clone().filter(|name| !is_default(name)).collect();
        let has_shapes = file.sets.iter().any(|set| !set.shapes.is_empty());
        if wrong.is_empty() && !has_shapes && unknown.clone().count() == names.len() {
            wrong = unknown.collect();
        }
        let hint = suggest::hint(wrong.first()?, known.iter().copied());
        let quoted = |names: &[&str]| {
            names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
        };
        let wrong = quoted(&wrong);
        let listed: Vec<&str> = known.iter().copied().take(NAMES_LISTED_MAX).collect();
        let rest = match known.len().saturating_sub(listed.len()) {
            _ if known.is_empty() => {
                "it has none: give the tiles a class in the editor of the map".to_string()
            }
            0 => format!("it has {}", quoted(&listed)),
            more => format!("it has {} and {more} more", quoted(&listed)),
        };
        Some(format!(
            "'collision' names {wrong}, and nothing in the map \"{map}\" has that class, tag or \
             true property{hint} ({rest})"
        ))
    }
}

impl MapFile {
    /// Returns the names by which rules can make parts of the file collide.
    fn collision_names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        for set in &self.sets {
            for (_, properties) in &set.properties {
                collect_names(properties, &mut names);
            }
            for shape in set.shapes.iter().flat_map(|(_, shapes)| shapes) {
                collect_names(&shape.properties, &mut names);
            }
        }
        for map in &self.maps {
            for layer in &map.layers {
                collect_names(&layer.properties, &mut names);
            }
            for object in &map.objects {
                names.insert(object.kind.as_str());
                collect_names(&object.properties, &mut names);
            }
            let values = map.grids.iter().flat_map(|grid| &grid.value_names);
            names.extend(values.map(|(_, name)| name.as_str()));
        }
        names.remove("");
        names
    }
}

/// Adds the names that [`has_name`] finds in properties.
fn collect_names<'a>(properties: &'a SjsonTree, names: &mut BTreeSet<&'a str>) {
    let SjsonTree::Object(fields) = properties else { return };
    for (key, value) in fields {
        match value {
            SjsonTree::Bool(true) => drop(names.insert(key)),
            SjsonTree::String(text) if key == "type" => drop(names.insert(text)),
            SjsonTree::Array(all) if key == "tags" => {
                names.extend(all.iter().filter_map(|tag| match tag {
                    SjsonTree::String(text) => Some(text.as_str()),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
}

/// Returns true if properties have a name: as their class, as a property that is true, or as a tag.
fn has_name(properties: &SjsonTree, name: &str) -> bool {
    let is_name = |tree: &SjsonTree| matches!(tree, SjsonTree::String(text) if text == name);
    properties.get("type").is_some_and(is_name)
        || matches!(properties.get(name), Some(SjsonTree::Bool(true)))
        || matches!(properties.get("tags"), Some(SjsonTree::Array(all)) if all.iter().any(is_name))
}

/// Collision of a tile: its kind, and the kind of each of its shapes.
struct TileCollision {
    kind: Option<CollisionKind>,
    shapes: Vec<CollisionKind>,
}

/// Rules of a map with the collisions of its tiles.
pub struct CollisionTable {
    rules: CollisionRules,
    /// Colliding tiles, by the index of the set and the number in the set.
    tiles: HashMap<(usize, u32), TileCollision>,
}

impl CollisionTable {
    pub fn rules(&self) -> &CollisionRules {
        &self.rules
    }

    pub fn new(file: &MapFile, rules: CollisionRules) -> CollisionTable {
        let mut tiles: HashMap<(usize, u32), TileCollision> = HashMap::new();
        for (at, set) in file.sets.iter().enumerate() {
            for (id, properties) in &set.properties {
                if let kind @ Some(_) = rules.kind_of_properties(properties) {
                    tiles.insert((at, *id), TileCollision { kind, shapes: Vec::new() });
                }
            }
            for (id, shapes) in &set.shapes {
                let empty = || TileCollision { kind: None, shapes: Vec::new() };
                let tile = tiles.entry((at, *id)).or_insert_with(empty);
                let default = tile.kind.unwrap_or(CollisionKind::Solid);
                let kinds = shapes.iter().map(|shape| rules.kind_of_properties(&shape.properties));
                tile.shapes = kinds.map(|kind| kind.unwrap_or(default)).collect();
            }
        }
        CollisionTable { rules, tiles }
    }
}

/// Part of a map whose outline is computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OutlinePart {
    /// Tiles and grids in a square of cells, by its column and row.
    Region([i32; 2]),
    /// All objects of the map.
    Objects,
}

/// Outlines of a part of a map.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outlines {
    /// Edges with the solid side on their left.
    pub solid: Vec<Segment>,
    /// Upper edges of one-way tiles.
    pub one_way: Vec<Segment>,
}

impl Outlines {
    pub fn len(&self) -> usize {
        self.solid.len() + self.one_way.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Area of the cells whose edges are collected: left, bottom, right and top.
#[derive(Clone, Copy)]
struct Area {
    bounds: [f64; 4],
}

impl Area {
    const EVERYTHING: Area = Area { bounds: [f64::MIN, f64::MIN, f64::MAX, f64::MAX] };

    fn contains(&self, [x, y]: [f64; 2]) -> bool {
        let [left, bottom, right, top] = self.bounds;
        x >= left && x < right && y >= bottom && y < top
    }
}

/// Edges of the two kinds.
struct KindEdges {
    solid: EdgeSet,
    one_way: EdgeSet,
}

impl KindEdges {
    fn new(origin: [f64; 2]) -> KindEdges {
        KindEdges { solid: EdgeSet::new(origin), one_way: EdgeSet::new(origin) }
    }

    fn of(&mut self, kind: CollisionKind) -> &mut EdgeSet {
        match kind {
            CollisionKind::Solid => &mut self.solid,
            CollisionKind::OneWay => &mut self.one_way,
        }
    }

    /// Returns an error if there are too many edges.
    fn check(&self, map: &str) -> Result<(), Error> {
        match self.solid.len() + self.one_way.len() > TILE_EDGES_MAX {
            true => Err(error!(
                "the tile map '{map}' has more than {TILE_EDGES_MAX} edges of colliding tiles \
                 (TILE_EDGES_MAX): use simpler shapes, or split the map"
            )),
            false => Ok(()),
        }
    }

    fn outlines(self) -> Outlines {
        let mut one_way = self.one_way.outline();
        // Bodies come from above.
        one_way.retain(|segment| segment.to[0] < segment.from[0]);
        Outlines { solid: self.solid.outline(), one_way }
    }
}

impl Tilemap {
    /// Returns the size of a region in texels.
    fn region_size(&self) -> [f64; 2] {
        let map = self.map();
        let layers = map.layers.iter().filter(|layer| layer.kind == LayerKind::Tiles);
        let cells =
            layers.map(|layer| layer.grid.cell).chain(map.grids.iter().map(|it| [it.cell; 2]));
        let largest =
            cells.fold(map.grid.cell, |most, cell| [0, 1].map(|axis| most[axis].max(cell[axis])));
        largest.map(|side: f32| f64::from(side) * REGION_CELLS)
    }

    /// Returns the parts of the map that can have outlines.
    pub fn outline_parts(&self, table: &CollisionTable) -> BTreeSet<OutlinePart> {
        let mut parts = BTreeSet::new();
        let size = self.region_size();
        let mut add = |[x, y]: [f32; 2], grid: &CellGrid| {
            let [width, height] = grid.size();
            let index = |at: f32, axis: usize| (f64::from(at) / size[axis]).floor() as i32;
            for column in index(x, 0)..=index(x + width, 0) {
                for row in index(y, 1)..=index(y + height, 1) {
                    parts.insert(OutlinePart::Region([column, row]));
                }
            }
        };
        let map = self.map();
        for layer in self.colliding_layers(table) {
            let layer = &map.layers[layer];
            add([layer.x, layer.y], &layer.grid);
        }
        for grid in map.grids.iter().filter(|grid| table.grid_kinds(grid).next().is_some()) {
            add(grid.position, &grid.cells());
        }
        if map.objects.iter().any(|object| table.object_kind(object).is_some()) {
            parts.insert(OutlinePart::Objects);
        }
        parts
    }

    /// Returns the outlines of a part of the map.
    ///
    /// # Errors
    /// Returns an error if there are too many edges.
    pub fn outlines(&self, table: &CollisionTable, part: OutlinePart) -> Result<Outlines, Error> {
        let OutlinePart::Region(region) = part else {
            let mut edges = KindEdges::new([0.0; 2]);
            self.add_objects(table, &mut edges)?;
            return Ok(edges.outlines());
        };
        let size = self.region_size();
        let [left, bottom] = [0, 1].map(|axis| f64::from(region[axis]) * size[axis]);
        let area = Area { bounds: [left, bottom, left + size[0], bottom + size[1]] };
        let mut edges = KindEdges::new([left, bottom]);
        self.add_cells(table, area, &mut edges)?;
        Ok(edges.outlines())
    }

    /// Returns the outlines of the whole map.
    ///
    /// # Errors
    /// Returns an error if there are too many edges.
    pub fn all_outlines(&self, table: &CollisionTable) -> Result<Outlines, Error> {
        let mut edges = KindEdges::new([0.0; 2]);
        self.add_cells(table, Area::EVERYTHING, &mut edges)?;
        self.add_objects(table, &mut edges)?;
        Ok(edges.outlines())
    }

    fn add_objects(&self, table: &CollisionTable, edges: &mut KindEdges) -> Result<(), Error> {
        for object in &self.map().objects {
            let Some(kind) = table.object_kind(object) else { continue };
            let points = object.outline();
            match object.shape {
                ObjectShape::Point => {}
                ObjectShape::Polyline => edges.of(kind).add_open(&points),
                _ => edges.of(kind).add_polygon(&points, true),
            }
            edges.check(&self.name)?;
        }
        Ok(())
    }

    /// Marks the regions around an edited cell of a layer.
    pub(super) fn mark_edited_region(&mut self, layer: usize, column: u32, row: u32) {
        let (size, of) = (self.region_size(), &self.map().layers[layer]);
        let [x, y] = of.grid.center(column.into(), row.into());
        let center = [f64::from(of.x) + x, f64::from(of.y) + y];
        let reach = of.neighbour_distance();
        let ranges = [0, 1].map(|axis| {
            let index = |at: f64| (at / size[axis]).floor() as i32;
            index(center[axis] - reach[axis])..=index(center[axis] + reach[axis])
        });
        for column in ranges[0].clone() {
            for row in ranges[1].clone() {
                let part = OutlinePart::Region([column, row]);
                if self.has_body {
                    self.edited_parts.insert(part);
                }
                if self.has_walls {
                    self.edited_walls.insert(part);
                }
            }
        }
    }

    /// Marks parts of the map as edited.
    pub fn mark_edited_parts(&mut self, parts: impl Iterator<Item = OutlinePart>) {
        self.edited_parts.extend(parts);
    }

    /// Takes the parts of the map whose outlines may have changed since the last call.
    pub fn take_edited_parts(&mut self) -> BTreeSet<OutlinePart> {
        std::mem::take(&mut self.edited_parts)
    }

    /// Takes the parts of the map whose walls may have changed since the last call.
    pub fn take_edited_walls(&mut self) -> BTreeSet<OutlinePart> {
        std::mem::take(&mut self.edited_walls)
    }
}

impl CollisionTable {
    fn object_kind(&self, object: &MapObject) -> Option<CollisionKind> {
        let has = |name: &str| object.kind == name || has_name(&object.properties, name);
        self.rules.kind_of(has).filter(|_| self.rules.includes(&object.layer))
    }
}

impl MapObject {
    /// Returns the corners of the object in the map, rotated as in the editors.
    pub fn outline(&self) -> Vec<[f64; 2]> {
        let size = [f64::from(self.width), f64::from(self.height)];
        let points: Vec<[f64; 2]> = match self.shape {
            ObjectShape::Ellipse => ellipse(size),
            ObjectShape::Rectangle => vec![[0.0, 0.0], [size[0], 0.0], size, [0.0, size[1]]],
            ObjectShape::Point | ObjectShape::Polygon | ObjectShape::Polyline => {
                self.points.iter().map(|point| point.map(f64::from)).collect()
            }
        };
        let at = [f64::from(self.x), f64::from(self.y)];
        // Objects of Tiled rotate around their position in the file, which is the top left of those
        // that are not shown as tiles.
        let pivot = match self.tile {
            0 => [0.0, size[1]],
            _ => [0.0, 0.0],
        };
        let turned = rotated(points, pivot, self.rotation.into());
        turned.into_iter().map(|[x, y]| [at[0] + x, at[1] + y]).collect()
    }
}

/// Returns the points of an ellipse that fills a rectangle at the origin.
pub fn ellipse([width, height]: [f64; 2]) -> Vec<[f64; 2]> {
    let point = |index: usize| {
        let angle = index as f64 / ELLIPSE_POINTS as f64 * std::f64::consts::TAU;
        [width * 0.5 * (1.0 + angle.cos()), height * 0.5 * (1.0 + angle.sin())]
    };
    (0..ELLIPSE_POINTS).map(point).collect()
}

/// Rotates points clockwise around a pivot.
pub fn rotated(mut points: Vec<[f64; 2]>, pivot: [f64; 2], degrees: f64) -> Vec<[f64; 2]> {
    if degrees != 0.0 {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        for point in &mut points {
            let (x, y) = (point[0] - pivot[0], point[1] - pivot[1]);
            *point = [pivot[0] + x * cosine + y * sine, pivot[1] - x * sine + y * cosine];
        }
    }
    points
}

impl CellGrid {
    /// Returns the corners of a cell counterclockwise, and their number.
    fn cell_corners(&self, column: i64, row: i64) -> ([[f64; 2]; 6], usize) {
        let [left, bottom] = self.corner(column, row);
        let [width, height] = self.cell.map(f64::from);
        let [x, y] = self.center(column, row);
        let ([right, top], mut corners) = ([left + width, bottom + height], [[0.0; 2]; 6]);
        let shape: &[[f64; 2]] = match self.shape {
            CellShape::Rectangles => &[[left, bottom], [right, bottom], [right, top], [left, top]],
            CellShape::Diamonds => &[[x, bottom], [right, y], [x, top], [left, y]],
            CellShape::Staggered(stagger) => {
                let [half_width, half_height] = [x - left, y - bottom];
                let ([right, top], side) =
                    ([x + half_width, y + half_height], f64::from(stagger.side).max(0.0) * 0.5);
                match stagger.columns {
                    _ if side == 0.0 => &[[x, bottom], [right, y], [x, top], [left, y]],
                    true => {
                        let side = side.min(half_width - 1.0);
                        &[
                            [x - side, bottom],
                            [x + side, bottom],
                            [right, y],
                            [x + side, top],
                            [x - side, top],
                            [left, y],
                        ]
                    }
                    false => {
                        let side = side.min(half_height - 1.0);
                        &[
                            [x, bottom],
                            [right, y - side],
                            [right, y + side],
                            [x, top],
                            [left, y + side],
                            [left, y - side],
                        ]
                    }
                }
            }
        };
        corners[..shape.len()].copy_from_slice(shape);
        (corners, shape.len())
    }
}
