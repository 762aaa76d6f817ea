//! Reads the tree that the compilers produce into the structures of `data.rs`.

use super::cell_grid::{CellGrid, CellShape, Stagger};
use super::data::{
    ANIMATION_FRAMES_MAX, IntGrid, LayerKind, MapFile, MapObject, ObjectShape, PlacedTile,
    SETS_MAX, TileLayer, TileSet, TileShape, TileStyle, TilemapData,
};
use super::tree_fields::{ObjectFields, bounded};
use super::{FIRST_MAX, SIDE_MAX, TILES_MAX};
use engine_foundation::Error;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use std::sync::Arc;

/// Reads a tree, without the messages about unknown tiles.
pub fn read(fields: &ObjectFields) -> Result<MapFile, Error> {
    let trees = fields.list("sets");
    if trees.len() > SETS_MAX {
        return Err(error!(
            "it uses {} tile sets and pictures, and {SETS_MAX} is the most (SETS_MAX): put \
             pictures into one image",
            trees.len()
        ));
    }
    let sets = trees.iter().map(|set| tile_set(&ObjectFields(set)));
    let mut sets = sets.collect::<Result<Vec<_>, Error>>()?;
    sets.sort_compact_by_key(|set| set.first);
    let maps = fields.list("maps").iter().map(|of| map(&ObjectFields(of)));
    let maps = maps.collect::<Result<Vec<_>, Error>>()?;
    if maps.is_empty() {
        return Err(error!("there is no map in it"));
    }
    let mut map_file = MapFile { sets, maps, unknown_tiles: Vec::new() };
    check_animations(&map_file)?;
    let MapFile { sets, maps, .. } = &mut map_file;
    let extents = TileExtents::of(sets);
    for layer in maps.iter_mut().flat_map(|map| &mut map.layers) {
        extents.set_reach(layer);
    }
    Ok(map_file)
}

/// Refuses animations with tiles that do not exist.
fn check_animations(map_file: &MapFile) -> Result<(), Error> {
    for set in &map_file.sets {
        for (id, frames) in &set.animations {
            if let Some((outside, _)) =
                frames.iter().find(|(frame, _)| map_file.set_of(*frame).is_none())
            {
                let outside = i64::from(*outside) - i64::from(set.first);
                return Err(error!(
                    "tile {id} is animated with tile {outside}, which does not exist"
                ));
            }
        }
    }
    Ok(())
}

/// Sizes and offsets of the tiles of all sets of a file.
#[derive(Default)]
struct TileExtents {
    /// Largest width or height of tiles that are drawn in their own size.
    width: f32,
    height: f32,
    /// Largest offsets of these tiles: to the left, down, to the right, up.
    offset: [f32; 4],
    /// Largest offsets of tiles that are drawn in the size of the cell, in sides of a tile.
    relative: [f32; 4],
}

impl TileExtents {
    fn of(sets: &[TileSet]) -> TileExtents {
        let mut extents = TileExtents::default();
        for set in sets {
            let [right, up] = set.offset;
            let offset = [-right, -up, right, up];
            match set.fills_cell {
                false => {
                    extents.width = extents.width.max(set.tile_width);
                    extents.height = extents.height.max(set.tile_height);
                    for (known, by) in extents.offset.iter_mut().zip(offset) {
                        *known = known.max(by);
                    }
                }
                true => {
                    let side = set.tile_width.min(set.tile_height);
                    for (known, by) in extents.relative.iter_mut().zip(offset) {
                        *known = known.max(by / side);
                    }
                }
            }
        }
        extents
    }

    /// Sets the distance by which the tiles extend beyond the cells of a layer.
    fn set_reach(&self, layer: &mut TileLayer) {
        let [cell_width, cell_height] = layer.grid.cell;
        let (mut width, mut height) = (self.width.max(cell_width), self.height.max(cell_height));
        let mut slack = 0.0;
        if layer.is_hexagonal {
            // Rotated around its center by any multiple of 60 degrees.
            slack = (width.hypot(height) - width.min(height)) * 0.5;
        } else if width != height && (width, height) != (cell_width, cell_height) {
            // Quarter turns swap the sides.
            (width, height) = (width.max(height), width.max(height));
        }
        let (over_x, over_y) = (width - cell_width, height - cell_height);
        let (below, above) = if layer.from_top { (over_y, 0.0) } else { (0.0, over_y) };
        let mut reach = [slack, below + slack, over_x + slack, above + slack];
        let cell = cell_width.max(cell_height);
        for (axis, reach) in reach.iter_mut().enumerate() {
            *reach += self.offset[axis].max(self.relative[axis] * cell);
        }
        let mut shifts = [0.0f32; 4];
        for (_, style) in layer.styles.iter() {
            let [right, up] = style.shift;
            for (most, by) in shifts.iter_mut().zip([-right, -up, right, up]) {
                *most = most.max(by);
            }
        }
        reach.iter_mut().zip(shifts).for_each(|(reach, shift)| *reach += shift);
        let cells_overlap = layer.grid.shape != CellShape::Rectangles;
        layer.overlaps =
            layer.kind == LayerKind::Objects || cells_overlap || reach.iter().any(|by| *by > 0.0);
        layer.reach = reach;
    }
}

fn tile_set(fields: &ObjectFields) -> Result<TileSet, Error> {
    let first = fields.integer("first", FIRST_MAX)?;
    let mut set = TileSet {
        first,
        count: fields.integer("count", TILES_MAX as u32)?,
        columns: fields.integer("columns", SIDE_MAX)?.max(1),
        texture: fields.text("texture"),
        image: [fields.size("image_width")?, fields.size("image_height")?],
        tile_width: fields.size("tile_width")?,
        tile_height: fields.size("tile_height")?,
        origin: fields.pair("origin")?,
        spacing: fields.float("spacing")?,
        offset: fields.pair("offset")?,
        fills_cell: fields.truth("fills_cell"),
        keeps_aspect: fields.truth("keeps_aspect"),
        properties: Vec::new(),
        shapes: Vec::new(),
        animations: Vec::new(),
    };
    for tile in fields.list("tiles").iter().map(ObjectFields) {
        let id = tile.integer("id", TILES_MAX as u32)?;
        if tile.0.get("properties").is_some() {
            set.properties.push((id, tile.properties()));
        }
        let shapes = tile.list("shapes").iter().map(|shape| tile_shape(&ObjectFields(shape)));
        let shapes = shapes.collect::<Result<Vec<_>, Error>>()?;
        if !shapes.is_empty() {
            set.shapes.push((id, shapes));
        }
        let frames = tile.list("frames").iter().map(ObjectFields).map(|frame| {
            let milliseconds = frame.number("milliseconds")?;
            if milliseconds <= 0.0 || !milliseconds.is_finite() {
                return Err(error!("a frame of tile {id} lasts {milliseconds} milliseconds"));
            }
            Ok((frame.integer("tile", u32::MAX)?, milliseconds))
        });
        let frames = frames.collect::<Result<Vec<_>, Error>>()?;
        if frames.len() > ANIMATION_FRAMES_MAX {
            return Err(error!(
                "tile {id} is animated with {} frames, and {ANIMATION_FRAMES_MAX} is the most \
                 (ANIMATION_FRAMES_MAX)",
                frames.len()
            ));
        }
        if !frames.is_empty() {
            set.animations.push((id, frames));
        }
    }
    // Sorted for the lookup of every drawn tile.
    set.animations.sort_compact_by_key(|(id, _)| *id);
    set.shapes.sort_compact_by_key(|(id, _)| *id);
    Ok(set)
}

fn tile_shape(fields: &ObjectFields) -> Result<TileShape, Error> {
    let number = |value: &SjsonTree| match value {
        SjsonTree::Number(number) => bounded("points", *number),
        _ => Err(error!("'points' of a tile's shape must be numbers")),
    };
    let numbers = fields.list("points").iter().map(number).collect::<Result<Vec<_>, Error>>()?;
    let points = numbers.chunks_exact(2).map(|point| [point[0], point[1]]).collect();
    Ok(TileShape { points, is_open: fields.truth("open"), properties: fields.properties() })
}

fn map(fields: &ObjectFields) -> Result<TilemapData, Error> {
    let grid = CellGrid {
        shape: shape(fields)?,
        columns: fields.integer("columns", SIDE_MAX)?,
        rows: fields.integer("rows", SIDE_MAX)?,
        cell: [fields.size("tile_width")?, fields.size("tile_height")?],
    };
    let is_hexagonal = fields.text("orientation") == "hexagonal";
    let reversed = [fields.truth("from_right"), fields.truth("from_bottom")];
    let mut layers = Vec::new();
    let mut level = None;
    for layer in fields.list("layers") {
        let mut layer = tile_layer(&ObjectFields(layer), grid.shape)?;
        (layer.is_hexagonal, layer.reversed) = (is_hexagonal, reversed);
        if layer.kind == LayerKind::Tiles {
            level = Some(level.map_or(0, |level| level + 1));
        }
        layer.level = level.unwrap_or(0);
        layers.push(layer);
    }
    let objects = fields.list("objects").iter().map(|object| map_object(&ObjectFields(object)));
    Ok(TilemapData {
        name: fields.text("name"),
        grid,
        parallax_origin: fields.pair("parallax_origin")?,
        properties: fields.properties(),
        layers,
        grids: fields.list("grids").iter().map(int_grid).collect::<Result<_, Error>>()?,
        objects: objects.collect::<Result<_, Error>>()?,
    })
}

fn shape(fields: &ObjectFields) -> Result<CellShape, Error> {
    Ok(match &fields.text("orientation")[..] {
        "isometric" => CellShape::Diamonds,
        "staggered" | "hexagonal" => CellShape::Staggered(Stagger {
            columns: fields.truth("stagger_columns"),
            first: fields.truth("stagger_first"),
            side: fields.float("side")?,
        }),
        _ => CellShape::Rectangles,
    })
}

fn tile_layer(fields: &ObjectFields, shape: CellShape) -> Result<TileLayer, Error> {
    let (columns, rows) = (fields.integer("columns", SIDE_MAX)?, fields.integer("rows", SIDE_MAX)?);
    let tile = |number: f64| {
        (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number))
            .then_some(number as u32)
    };
    let tiles = fields.cells("tiles", columns, rows, tile)?;
    let style = |style: &SjsonTree| {
        let style = ObjectFields(style);
        // Cells are listed from the top, as tiles are.
        let cell = style.integer("cell", TILES_MAX as u32)?;
        let (column, down) = (cell % columns.max(1), cell / columns.max(1));
        let row = rows.checked_sub(down + 1);
        let row = row.ok_or_else(|| error!("a tile with a shift is outside of its layer"))?;
        let style = TileStyle { shift: style.pair("shift")?, alpha: style.share("alpha")? };
        Ok((row * columns + column, style))
    };
    let mut styles = fields.list("styles").iter().map(style).collect::<Result<Vec<_>, Error>>()?;
    styles.sort_compact_by_key(|(cell, _)| *cell);
    let placed = fields.list("placed").iter().map(|placed| placed_tile(&ObjectFields(placed)));
    Ok(TileLayer {
        name: fields.text("name"),
        kind: match &fields.text("kind")[..] {
            "image" => LayerKind::Image,
            "objects" => LayerKind::Objects,
            _ => LayerKind::Tiles,
        },
        grid: CellGrid {
            shape,
            columns,
            rows,
            cell: [fields.size("tile_width")?, fields.size("tile_height")?],
        },
        is_hexagonal: false,
        x: fields.float("x")?,
        y: fields.float("y")?,
        opacity: fields.share("opacity")?,
        tint: tint(fields),
        parallax: match fields.list("parallax") {
            [] => [1.0; 2],
            _ => fields.pair("parallax")?,
        },
        visible: !matches!(fields.0.get("visible"), Some(SjsonTree::Bool(false))),
        level: 0,
        tiles: Arc::new(tiles),
        styles: Arc::new(styles),
        placed: Arc::new(placed.collect::<Result<_, Error>>()?),
        repeat: [fields.truth("repeat_x"), fields.truth("repeat_y")],
        reversed: [false; 2],
        from_top: fields.truth("from_top"),
        reach: [0.0; 4],
        overlaps: false,
        properties: fields.properties(),
    })
}

/// Reads the color of a layer; white if there is none.
fn tint(fields: &ObjectFields) -> [u8; 4] {
    let mut tint = [255; 4];
    for (part, value) in tint.iter_mut().zip(fields.list("tint")) {
        if let SjsonTree::Number(value) = value {
            *part = value.clamp(0.0, 255.0) as u8;
        }
    }
    tint
}

/// Reads a tile number with its flip bits.
fn flipped_tile(fields: &ObjectFields) -> Result<u32, Error> {
    let number = fields.number("tile")?;
    match number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) {
        true => Ok(number as u32),
        false => Err(error!("'{number}' is not the number of a tile")),
    }
}

fn placed_tile(fields: &ObjectFields) -> Result<PlacedTile, Error> {
    Ok(PlacedTile {
        tile: flipped_tile(fields)?,
        at: fields.pair("at")?,
        size: fields.pair("size")?,
        rotation: fields.float("rotation")?,
        pivot: fields.pair("pivot")?,
        alpha: fields.share("alpha")?,
    })
}

fn int_grid(grid: &SjsonTree) -> Result<IntGrid, Error> {
    let fields = ObjectFields(grid);
    let (columns, rows) = (fields.integer("columns", SIDE_MAX)?, fields.integer("rows", SIDE_MAX)?);
    let value = |number: f64| (number.abs() < 2e9).then_some(number as i32);
    let values = fields.cells("values", columns, rows, value)?;
    let names = fields.list("names").iter().map(ObjectFields);
    let names = names.map(|name| Ok((name.number("value")? as i32, name.text("name"))));
    Ok(IntGrid {
        name: fields.text("name"),
        columns,
        rows,
        values,
        value_names: names.collect::<Result<_, Error>>()?,
        position: [fields.float("x")?, fields.float("y")?],
        cell: fields.size("cell")?,
    })
}

fn object_shape(fields: &ObjectFields) -> Result<ObjectShape, Error> {
    let name = fields.text("shape");
    match ObjectShape::NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, shape)) => Ok(*shape),
        None if name.is_empty() => Ok(ObjectShape::Rectangle),
        None => Err(error!("'{name}' is not the shape of an object")),
    }
}

fn map_object(fields: &ObjectFields) -> Result<MapObject, Error> {
    let point = |point: &SjsonTree| match point {
        SjsonTree::Array(parts) => match parts[..] {
            [SjsonTree::Number(x), SjsonTree::Number(y)] => {
                Ok([bounded("points", x)?, bounded("points", y)?])
            }
            _ => Ok([0.0; 2]),
        },
        _ => Ok([0.0; 2]),
    };
    Ok(MapObject {
        name: fields.text("name"),
        kind: fields.text("kind"),
        layer: fields.text("layer"),
        x: fields.float("x")?,
        y: fields.float("y")?,
        width: fields.float("width")?,
        height: fields.float("height")?,
        rotation: fields.float("rotation")?,
        tile: flipped_tile(fields)?,
        shape: object_shape(fields)?,
        points: fields.list("points").iter().map(point).collect::<Result<_, Error>>()?,
        properties: fields.properties(),
    })
}
