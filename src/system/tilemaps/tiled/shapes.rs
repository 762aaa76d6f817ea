//! Collision shapes of tiles, from the collision editor of Tiled.

use super::super::collision::{ellipse, rotated};
use super::super::source_tree::{is_true, list, number, numbers, object, text};
use super::{class_of_text, properties};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;

/// Maximum number of collision shapes of one tile.
pub const TILE_SHAPES_MAX: usize = 64;
/// Maximum number of points of one collision shape of a tile.
pub const SHAPE_POINTS_MAX: usize = 256;

/// Returns the compiled shapes of a tile of this height. Points have no area and are left out.
pub fn shapes(path: &str, tile: &SjsonTree, height: f64) -> Result<Vec<SjsonTree>, Error> {
    let Some(group) = tile.get("objectgroup") else { return Ok(Vec::new()) };
    let objects = list(group, "objects");
    if objects.len() > TILE_SHAPES_MAX {
        return Err(error!(
            "{path}: tile {} has {} collision shapes, and {TILE_SHAPES_MAX} is the most \
             (TILE_SHAPES_MAX): use fewer in Tiled's collision editor",
            number(tile, "id"),
            objects.len()
        ));
    }
    let shapes = objects.iter().map(|one| shape(path, tile, one, height));
    Ok(shapes.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().collect())
}

fn shape(
    path: &str,
    tile: &SjsonTree,
    one: &SjsonTree,
    height: f64,
) -> Result<Option<SjsonTree>, Error> {
    if is_true(one, "point") {
        return Ok(None);
    }
    let (polygon, polyline) = (list(one, "polygon"), list(one, "polyline"));
    let size = [number(one, "width"), number(one, "height")];
    // Points relative to the position of the object, y up.
    let own = polygon.iter().chain(polyline).map(|at| [number(at, "x"), -number(at, "y")]);
    let mut points: Vec<[f64; 2]> = own.collect();
    if points.len() > SHAPE_POINTS_MAX {
        return Err(error!(
            "{path}: a collision shape of tile {} has {} points, and {SHAPE_POINTS_MAX} is the \
             most (SHAPE_POINTS_MAX): simplify it in Tiled's collision editor",
            number(tile, "id"),
            points.len()
        ));
    }
    if points.is_empty() {
        let upright = match is_true(one, "ellipse") {
            true => ellipse(size),
            false => vec![[0.0, 0.0], [size[0], 0.0], size, [0.0, size[1]]],
        };
        points = upright.into_iter().map(|[x, y]| [x, y - size[1]]).collect();
    }
    let (left, top) = (number(one, "x"), height - number(one, "y"));
    let turned = rotated(points, [0.0; 2], number(one, "rotation"));
    let points: Vec<f64> = turned.into_iter().flat_map(|[x, y]| [left + x, top + y]).collect();
    let mut fields = vec![("points", numbers(&points))];
    if !polyline.is_empty() {
        fields.push(("open", SjsonTree::Bool(true)));
    }
    let own = class_of_text(properties(one), &[text(one, "class"), text(one, "type")].concat());
    if !matches!(&own, SjsonTree::Object(own) if own.is_empty()) {
        fields.push(("properties", own));
    }
    Ok(Some(object(fields)))
}
