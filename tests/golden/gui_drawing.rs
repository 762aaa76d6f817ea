//! Golden images of Guis: placement of images, blend modes, matrices, gradients, polygons with
//! images, styles of lines, masks, and textures that keep their content.

use super::compare;
use super::games::RenderedGame;
use std::fs;
use std::path::Path;

/// Returns an image of a letter without any symmetry, as a TGA file.
fn sign() -> Vec<u8> {
    const SIDE: u16 = 16;
    let [low, high] = SIDE.to_le_bytes();
    let mut bytes = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, low, high, low, high, 32, 8];
    for y in 0..SIDE {
        for x in 0..SIDE {
            let letter = (3..6).contains(&x) && (2..14).contains(&y)
                || (6..12).contains(&x) && (11..14).contains(&y)
                || (6..10).contains(&x) && (6..9).contains(&y);
            let edge = x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1;
            bytes.extend(match (letter, edge) {
                (true, _) => [250, 250, 250, 255],
                (_, true) => [0, 0, 0, 255],
                _ => [160, 90, 40, 200],
            });
        }
    }
    bytes
}

fn game(script: &str) -> Option<RenderedGame> {
    let path = format!("tests/golden/game/{script}.lua");
    let main = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("it is there");
    let settings = b"name = \"Golden\" window = { width = 320, height = 200 }".to_vec();
    RenderedGame::game(
        script,
        &[("settings.sjson", settings), ("main.lua", main), ("sign.tga", sign())],
    )
}

fn check(script: &str) {
    let Some(mut game) = game(script) else { return };
    for _ in 0..2 {
        game.frame();
    }
    compare(script, &game.frame());
}

#[test]
fn images_are_placed_blended_and_mixed_with_colors() {
    check("gui_images");
}

#[test]
fn lines_have_joins_caps_and_dashes() {
    check("gui_lines");
}

#[test]
fn masks_hide_and_canvases_keep() {
    check("gui_masks");
}
