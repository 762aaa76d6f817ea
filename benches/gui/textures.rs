//! The eight textures of the game in benches/gui, `sprite1` to `sprite8`.

use std::path::Path;

const SIDE: u8 = 16;

/// Returns a TGA file: 32 bits per texel, uncompressed.
fn picture(shade: u8) -> Vec<u8> {
    let mut bytes = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, SIDE, 0, SIDE, 0, 32, 8];
    for at in 0..u32::from(SIDE) * u32::from(SIDE) {
        bytes.extend([at as u8, shade * 20, 128, 255]);
    }
    bytes
}

/// Writes the textures into a game's folder.
pub fn write(folder: &Path) {
    for i in 1..=8u8 {
        let path = folder.join(format!("sprite{i}.tga"));
        std::fs::write(path, picture(i)).expect("there is room for textures");
    }
}
