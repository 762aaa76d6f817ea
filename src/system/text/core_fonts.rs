//! The fonts that come with the engine, embedded in the executable. Their licence is beside them in
//! core/fonts.

/// The name of the font that is always there: Noto Sans, for Latin, Greek and Cyrillic scripts.
pub const DEFAULT_FONT: &str = "core/fonts/default";

/// Arrows and plain shapes, which the default font lacks: it falls back to this one. Drawn by
/// core/fonts/make_symbols.py.
const SYMBOLS: &str = "core/fonts/symbols";

const FONTS: &[(&str, &[u8])] = &[
    (DEFAULT_FONT, include_bytes!("../../../core/fonts/default.ttf")),
    (SYMBOLS, include_bytes!("../../../core/fonts/symbols.ttf")),
];

/// What one of them falls back to.
pub fn fallback(name: &str) -> &'static [&'static str] {
    if name == DEFAULT_FONT { &[SYMBOLS] } else { &[] }
}

/// The file of one of the engine's own fonts.
pub fn find(name: &str) -> Option<&'static [u8]> {
    FONTS.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}
