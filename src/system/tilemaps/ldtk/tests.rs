//! Tests of LDtk's features: levels in separate files, tiles off the grid and with an opacity,
//! several worlds and tile sets, Aseprite files, backgrounds.

use crate::data::LayerKind;
use crate::quads::TileQuad;
use crate::tests::{compiled, compiled_with, tilemap};
use crate::{MapFile, TileLayer};

/// Returns a tile set of 4 × 2 tiles.
pub(super) fn set(uid: u32, path: &str, size: u32) -> String {
    let (width, height) = (size * 4, size * 2);
    format!(
        "{{\"uid\":{uid},\"relPath\":\"{path}\",\"pxWid\":{width},\"pxHei\":{height},\
         \"tileGridSize\":{size},\"__cWid\":4,\"__cHei\":2}}"
    )
}

/// Returns a layer of 3 × 2 cells of 8 texels with these tiles: x, y, number, and other fields.
pub(super) fn layer(uid: u32, tiles: &[(i32, i32, u32, &str)]) -> String {
    let tiles: Vec<String> = tiles
        .iter()
        .map(|(x, y, tile, more)| format!("{{\"px\":[{x},{y}],\"t\":{tile},\"f\":0{more}}}"))
        .collect();
    format!(
        "{{\"__identifier\":\"Ground\",\"__gridSize\":8,\"__cWid\":3,\"__cHei\":2,\"__opacity\":1,\
         \"visible\":true,\"__tilesetDefUid\":{uid},\"gridTiles\":[{}]}}",
        tiles.join(",")
    )
}

pub(super) fn level(name: &str, more: &str, layers: &[String]) -> String {
    format!(
        "{{\"identifier\":\"{name}\",\"pxWid\":24,\"pxHei\":16{more},\"layerInstances\":[{}]}}",
        layers.join(",")
    )
}

pub(super) fn project(sets: &[String], levels: &[String], more: &str) -> String {
    format!(
        "{{\"defs\":{{\"tilesets\":[{}]}},\"levels\":[{}]{more}}}",
        sets.join(","),
        levels.join(",")
    )
}

/// Compiles a project of one level with these tiles in a set of this size.
fn map(size: u32, tiles: &[(i32, i32, u32, &str)]) -> MapFile {
    let level = level("A", "", &[layer(1, tiles)]);
    let text = project(&[set(1, "rock.png", size)], &[level], "");
    compiled("maps/x.ldtk", &text, &[]).unwrap_or_else(|message| panic!("{message}")).0
}

/// Returns left and bottom of each quad, and its opacity, layer by layer.
fn positions(file: MapFile) -> Vec<Vec<([f32; 2], f32)>> {
    let map = tilemap(file);
    let position = |quad: &TileQuad| ([quad.bounds()[0], quad.bounds()[1]], quad.alpha);
    let layers = 0..map.map().layers.len();
    layers
        .map(|layer| {
            let mut quads = Vec::new();
            map.quads(layer, [-100.0, -100.0, 100.0, 100.0], 0.0, &mut quads);
            quads.iter().map(position).collect()
        })
        .collect()
}

fn tiles(layer: &TileLayer) -> &[u32] {
    &layer.tiles
}

#[test]
fn tiles_off_the_grid_are_moved_and_stay_in_the_nearest_cell() {
    let file = map(8, &[(3, 0, 0, ""), (13, 6, 1, ""), (-3, 8, 2, "")]);
    assert_eq!(file.maps[0].layers.len(), 1);
    assert_eq!(tiles(&file.maps[0].layers[0]), [3, 0, 2, 1, 0, 0]);
    assert_eq!(positions(file), [[([3.0, 8.0], 1.0), ([-3.0, 0.0], 1.0), ([13.0, 2.0], 1.0)]]);
    // Nothing of these tiles is in the layer.
    assert_eq!(map(8, &[(-8, 0, 0, ""), (24, 0, 0, ""), (0, 16, 0, "")]).maps[0].layers, []);
}

#[test]
fn a_moved_tile_loses_its_style_when_the_game_changes_it() {
    let mut map = tilemap(map(8, &[(3, 0, 0, ",\"a\":0.5")]));
    let positions = |map: &crate::Tilemap| {
        let mut quads = Vec::new();
        map.quads(0, [-100.0, -100.0, 100.0, 100.0], 0.0, &mut quads);
        quads.iter().map(|quad| (quad.bounds()[0], quad.alpha)).collect::<Vec<_>>()
    };
    assert_eq!(positions(&map), [(3.0, 0.5)]);
    map.set_tile(0, 1, 2, 5);
    assert_eq!(positions(&map), [(0.0, 1.0)]);
}

#[test]
fn tiles_with_an_opacity_are_drawn_with_it() {
    let file = map(8, &[(0, 0, 0, ",\"a\":0.25"), (8, 0, 1, ",\"a\":1"), (16, 0, 1, "")]);
    assert_eq!(positions(file), [[([0.0, 8.0], 0.25), ([8.0, 8.0], 1.0), ([16.0, 8.0], 1.0)]]);
}

#[test]
fn tiles_cover_each_other_in_the_order_of_the_file() {
    // The second tile covers half of the first, and is drawn after it in the same layer.
    assert_eq!(map(8, &[(0, 0, 0, ""), (4, 0, 1, "")]).maps[0].layers.len(), 1);
    assert_eq!(map(8, &[(4, 0, 1, ""), (0, 0, 0, "")]).maps[0].layers.len(), 2);
    // Large tiles extend to the right and down, over the cells next to theirs.
    let file = map(16, &[(8, 8, 0, ""), (0, 0, 1, ""), (8, 0, 2, "")]);
    assert_eq!(
        positions(file),
        [vec![([8.0, -8.0], 1.0)], vec![([0.0, 0.0], 1.0), ([8.0, 0.0], 1.0)]]
    );
}

#[test]
fn tiles_much_larger_than_the_grid_are_refused() {
    let text =
        project(&[set(1, "r.png", 513)], &[level("A", "", &[layer(1, &[(0, 0, 0, "")])])], "");
    assert_eq!(
        compiled("maps/x.ldtk", &text, &[]).unwrap_err(),
        "maps/x.ldtk: layer 'Ground' has tiles of 513 texels and a grid of 8: a tile can cover 64 \
         cells of a row (TILE_CELLS_MAX), so use a larger grid"
    );
}

#[test]
fn levels_in_separate_files_and_worlds_are_maps() {
    let named = |name: &str| {
        format!(
            "{{\"identifier\":\"{name}\",\"layerInstances\":null,\
             \"externalRelPath\":\"x/{name}.ldtkl\"}}"
        )
    };
    let worlds = format!(",\"externalLevels\":true,\"worlds\":[{{\"levels\":[{}]}}]", named("B"));
    let sets = [set(1, "../rock.png", 8), set(2, "sand.png", 8)];
    let text = project(&sets, &[named("A")], &worlds);
    let a = level("A", "", &[layer(2, &[(8, 0, 1, "")]), layer(1, &[(0, 0, 0, "")])]);
    let b = level("B", "", &[]);
    let files = [("maps/x/A.ldtkl", &a[..]), ("maps/x/B.ldtkl", &b[..])];
    let (file, named) = compiled("maps/x.ldtk", &text, &files).unwrap();
    let names: Vec<_> = file.maps.iter().map(|map| &map.name[..]).collect();
    assert_eq!(
        (names, named),
        (vec!["A", "B"], vec!["rock.texture".into(), "maps/sand.texture".into()])
    );
    // The lowest layer is the last one of the file, and each layer has another tile set.
    let layers = &file.maps[0].layers;
    assert_eq!(
        (tiles(&layers[0]), tiles(&layers[1])),
        (&[0, 0, 0, 1, 0, 0][..], &[0, 0, 0, 0, 10, 0][..])
    );
    let missing = compiled("maps/x.ldtk", &text, &files[..1]).unwrap_err();
    assert_eq!(missing, "maps/x/B.ldtkl is not there");
    let outside = text.replace("x/B.ldtkl", "../../B.ldtkl");
    assert_eq!(
        compiled("maps/x.ldtk", &outside, &files).unwrap_err(),
        "maps/x.ldtk: '../../B.ldtkl' is outside of the game's folder"
    );
    let damaged = [files[0], ("maps/x/B.ldtkl", "{")];
    let message = compiled("maps/x.ldtk", &text, &damaged).unwrap_err();
    assert_eq!(message, "maps/x/B.ldtkl: the file is cut short: save it again in LDtk");
}

#[test]
fn aseprite_files_show_their_first_frame() {
    let level = level("A", "", &[layer(1, &[(0, 0, 0, "")])]);
    let text = project(&[set(1, "rock.aseprite", 8)], &[level], "");
    let (file, named) = compiled("maps/x.ldtk", &text, &[]).unwrap();
    assert_eq!(
        (&file.sets[0].texture[..], named),
        ("maps/rock/1", vec!["maps/rock.sheet".to_string()])
    );
}

#[test]
fn backgrounds_are_the_lowest_layer() {
    let position = "{\"topLeftPx\":[4,2],\"scale\":[2,1],\"cropRect\":[1,3,6,5]}";
    let more = format!(",\"bgRelPath\":\"sky.png\",\"__bgPos\":{position}");
    let levels = [level("A", &more, &[layer(1, &[(0, 0, 0, "")])])];
    let text = project(&[set(1, "rock.png", 8)], &levels, "");
    let png = engine_resource::image::encode_png(10, 20, &[0; 800]);
    let (file, named) = compiled_with("x.ldtk", &text, &[("sky.png", &png)]).unwrap();
    assert_eq!(named, ["rock.texture", "sky.texture"]);
    let layers = &file.maps[0].layers;
    let kinds: Vec<_> = layers.iter().map(|layer| (&layer.name[..], layer.kind)).collect();
    assert_eq!(kinds, [("background", LayerKind::Image), ("Ground", LayerKind::Tiles)]);
    let map = tilemap(file);
    let mut quads = Vec::new();
    map.quads(0, [0.0, 0.0, 24.0, 16.0], 0.0, &mut quads);
    assert_eq!(quads[0].bounds(), [4.0, 9.0, 16.0, 14.0]);
    let [[left, top], [right, bottom]] = quads[0].part;
    let wanted = [0.1, 0.15, 0.7, 0.4];
    let near = [left, top, right, bottom].iter().zip(wanted).all(|(a, b)| (a - b).abs() < 0.001);
    assert!(near, "{:?}", quads[0].part);
}

#[test]
fn entities_and_tiles_move_with_their_layer() {
    let moved =
        |layer: String| layer.replacen('{', "{\"__pxTotalOffsetX\":3,\"__pxTotalOffsetY\":-2,", 1);
    let entities = moved(
        "{\"__identifier\":\"Things\",\"entityInstances\":[{\"__identifier\":\"Key\",\
         \"px\":[8,16],\"__pivot\":[0,1],\"width\":4,\"height\":4}]}"
            .to_string(),
    );
    let levels = [level("A", "", &[entities, moved(layer(1, &[(0, 0, 0, "")]))])];
    let text = project(&[set(1, "rock.png", 8)], &levels, "");
    let (file, _) = compiled("x.ldtk", &text, &[]).unwrap();
    assert_eq!((file.maps[0].objects[0].x, file.maps[0].objects[0].y), (11.0, 2.0));
    assert_eq!(positions(file), [[([3.0, 10.0], 1.0)]]);
}

#[test]
fn parallax_without_scaling_moves_layers_around_the_middle() {
    let layers = |scaling: bool| {
        let tiles = layer(1, &[(0, 0, 0, "")]).replacen('{', "{\"layerDefUid\":5,", 1);
        let text = project(&[set(1, "r.png", 8)], &[level("A", "", &[tiles])], "");
        let definition = format!(
            "\"defs\":{{\"layers\":[{{\"uid\":5,\"parallaxFactorX\":0.25,\
             \"parallaxFactorY\":-0.5,\"parallaxScaling\":{scaling}}}],"
        );
        let text = text.replacen("\"defs\":{", &definition, 1);
        compiled("x.ldtk", &text, &[]).unwrap().0
    };
    let file = layers(false);
    let map = &file.maps[0];
    assert_eq!(map.layers[0].parallax, [0.75, 1.5]);
    assert_eq!(map.layers[0].parallax_shift(map, [16.0, 8.0]), [1.0, 0.0]);
    assert_eq!(layers(true).maps[0].layers[0].parallax, [1.0; 2]);
}

#[test]
fn small_tiles_with_one_nearest_cell_are_all_kept() {
    // A tile of 4 texels covers the right half of the first cell; the second cell is nearest.
    let file = map(4, &[(4, 0, 0, ""), (8, 0, 1, "")]);
    assert_eq!(positions(file), [[([4.0, 12.0], 1.0)], [([8.0, 12.0], 1.0)]]);
    let file = map(4, &[(8, 0, 1, ""), (4, 0, 0, "")]);
    assert_eq!(positions(file), [[([8.0, 12.0], 1.0)], [([4.0, 12.0], 1.0)]]);
}
