//! Tests of the limits of LDtk files: levels, layers, tiles, IntGrids and entities.

use super::budget::{FileBudget, GRID_CELLS_MAX, LEVEL_BYTES_MAX};
use super::tests::{layer, level, project, set};
use crate::tests::{compiled, compiled_with};

/// Returns the error of a project of one level with these layers.
fn refused(size: u32, layers: &[String]) -> String {
    let text = project(&[set(1, "rock.png", size)], &[level("A", "", layers)], "");
    compiled("x.ldtk", &text, &[]).unwrap_err()
}

#[test]
fn sides_of_a_layer_are_limited_before_its_tiles_are_read() {
    let long = |columns: u32| {
        let layer = layer(1, &[(0, 0, 0, "")]);
        layer.replace("\"__cWid\":3,\"__cHei\":2", &format!("\"__cWid\":{columns},\"__cHei\":1"))
    };
    assert_eq!(
        refused(8, &[long(65_537)]),
        "x.ldtk: layer 'Ground' has 65537 × 1 tiles, and a layer has 1 to 65536 in a row or column \
         (SIDE_MAX) and at most 4194304 in all (TILES_MAX): split the level"
    );
    let text = project(&[set(1, "r.png", 8)], &[level("A", "", &[long(65_536)])], "");
    assert!(compiled("x.ldtk", &text, &[]).is_ok());
}

#[test]
fn large_tiles_share_a_limit_of_covered_cells() {
    // Each tile covers 64 × 64 cells. 64 tiles lie on each other at each of 65 positions.
    let tiles: Vec<_> = (0..64 * 65).map(|at| (at % 65 * 64, 0, 0, "")).collect();
    let layer = layer(1, &tiles).replace(
        "\"__gridSize\":8,\"__cWid\":3,\"__cHei\":2",
        "\"__gridSize\":1,\"__cWid\":4160,\"__cHei\":1",
    );
    assert_eq!(
        refused(64, &[layer]),
        "x.ldtk: the tiles of layer 'Ground' and of the layers before it cover more than 16777216 \
         cells (COVERED_CELLS_MAX): use a larger grid, or make two files of it"
    );
}

#[test]
fn sides_of_tiles_and_cells_are_limited() {
    let without_tiles = project(&[set(1, "r.png", 0)], &[], "");
    assert_eq!(
        compiled("x.ldtk", &without_tiles, &[]).unwrap_err(),
        "x.ldtk: the tiles of tile set '' have 0 texels, and 1 to 65536 are possible: set their \
         size in LDtk"
    );
    let layer = layer(1, &[(0, 0, 0, "")]).replace("\"__gridSize\":8", "\"__gridSize\":0");
    assert_eq!(
        refused(8, &[layer]),
        "x.ldtk: the cells of layer 'Ground' have 0 texels, and 1 to 65536 are possible: set its \
         Grid Size in LDtk"
    );
}

#[test]
fn a_file_of_a_level_is_used_once() {
    let named = "{\"identifier\":\"A\",\"externalRelPath\":\"x/A.ldtkl\"}".to_string();
    let other = named.replace("x/A", "y/../x/A");
    let text = project(&[], &[named, other], "");
    let a = level("A", "", &[]);
    assert_eq!(
        compiled("x.ldtk", &text, &[("x/A.ldtkl", &a)]).unwrap_err(),
        "x.ldtk: two levels are in the same file, x/A.ldtkl: save the project again in LDtk"
    );
}

#[test]
fn the_files_of_levels_share_a_limit() {
    let named = "{\"identifier\":\"A\",\"externalRelPath\":\"A.ldtkl\"}".to_string();
    let text = project(&[], &[named], "");
    let large = vec![b' '; LEVEL_BYTES_MAX + 1];
    assert_eq!(
        compiled_with("x.ldtk", &text, &[("A.ldtkl", &large)]).unwrap_err(),
        "x.ldtk: with A.ldtkl, the files of its levels have more than 128 MiB (LEVEL_BYTES_MAX): \
         make two files of it"
    );
}

#[test]
fn levels_and_entities_are_limited() {
    let text = project(&[], &vec!["{\"pxWid\":8,\"pxHei\":8}".to_string(); 16_385], "");
    assert_eq!(
        compiled("x.ldtk", &text, &[]).unwrap_err(),
        "x.ldtk: it has more than 16384 levels (FILE_LEVELS_MAX): make two files of it"
    );
    let entities = vec!["{}"; 262_145].join(",");
    let entities = format!("{{\"__identifier\":\"Things\",\"entityInstances\":[{entities}]}}");
    assert_eq!(
        refused(8, &[entities]),
        "x.ldtk: with layer 'Things', the levels have more than 262144 entities in all \
         (OBJECTS_MAX): make two files of it"
    );
}

#[test]
fn int_grids_share_a_limit() {
    let mut budget = FileBudget::FULL;
    budget.charge_grid_cells("x.ldtk", "Walls", GRID_CELLS_MAX).expect("it is the limit");
    assert_eq!(
        budget.charge_grid_cells("x.ldtk", "Walls", 1).unwrap_err().message,
        "x.ldtk: with layer 'Walls', the IntGrids have more than 8388608 cells in all \
         (GRID_CELLS_MAX): make two files of it"
    );
}

#[test]
fn a_long_name_of_a_layer_is_refused() {
    let named = |length: usize| layer(1, &[]).replace("Ground", &"n".repeat(length));
    assert_eq!(
        refused(8, &[named(1025)]),
        "x.ldtk: the name of a layer has 1025 bytes, and 1024 is the most (LAYER_NAME_MAX): rename \
         the layer in LDtk"
    );
    let text = project(&[], &[level("A", "", &[named(1024)])], "");
    assert!(compiled("x.ldtk", &text, &[]).is_ok());
}
