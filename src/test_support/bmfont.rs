//! Bitmap fonts in the formats of AngelCode's BMFont.

/// Returns a font of two glyphs, A and V, with one page and one kerning pair, in the binary form.
pub fn binary_font() -> Vec<u8> {
    let mut out = b"BMF\x03".to_vec();
    let mut block = |kind: u8, bytes: &[u8]| {
        out.push(kind);
        out.extend((bytes.len() as u32).to_le_bytes());
        out.extend(bytes);
    };
    let u16_bytes =
        |u16_bytes: &[u16]| u16_bytes.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let info = [&[32, 0, 0, 0, 100, 0, 1, 2, 2, 2, 2, 1, 1, 0][..], b"My Font\0"].concat();
    block(1, &info);
    block(2, &[u16_bytes(&[40, 30, 256, 128, 1]), vec![0, 0, 0, 0, 0]].concat());
    block(3, b"my_0.png\0");
    let glyph =
        |id: u32, lengths: &[u16]| [&id.to_le_bytes(), &u16_bytes(lengths)[..], &[0, 15]].concat();
    let minus_one = u16::MAX;
    let a = glyph(65, &[10, 20, 24, 34, minus_one, 2, 20]);
    block(4, &[a, glyph(86, &[40, 20, 24, 34, 0, 2, 21])].concat());
    block(5, &[&65u32.to_le_bytes()[..], &86u32.to_le_bytes(), &(-3i16).to_le_bytes()].concat());
    out
}
