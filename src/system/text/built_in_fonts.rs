//! Fonts embedded in the engine's executable. Their license is next to them in core/fonts.

/// Name of the font that is always available: Noto Sans, for Latin, Greek and Cyrillic scripts.
pub const DEFAULT_FONT: &str = "core/fonts/default";

/// Monospaced letters, lines and blocks for consoles and tables: Noto Sans Mono. Written by
/// core/fonts/make_mono.py.
pub const MONO_FONT: &str = "core/fonts/mono";

/// Arrows and simple shapes, which the default font lacks and takes from this fallback font. Drawn
/// by core/fonts/make_symbols.py.
const SYMBOLS: &str = "core/fonts/symbols";

const FONTS: &[(&str, &[u8])] = &[
    (DEFAULT_FONT, include_bytes!("../../../core/fonts/default.ttf")),
    (MONO_FONT, include_bytes!("../../../core/fonts/mono.ttf")),
    (SYMBOLS, include_bytes!("../../../core/fonts/symbols.ttf")),
];

/// Returns the fallback fonts of an embedded font.
pub fn fallback(name: &str) -> &'static [&'static str] {
    match name {
        DEFAULT_FONT => &[SYMBOLS],
        MONO_FONT => &[DEFAULT_FONT],
        _ => &[],
    }
}

/// Returns true if a font is embedded in the engine.
pub fn is_built_in_font(name: &str) -> bool {
    find(name).is_some()
}

/// Returns the file of an embedded font.
pub fn find(name: &str) -> Option<&'static [u8]> {
    FONTS.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}
