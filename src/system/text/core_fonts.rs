//! The fonts that come with the engine, embedded in the executable. Their licence is beside them in
//! core/fonts.

/// The name of the font that is always there: Noto Sans, for Latin, Greek and Cyrillic scripts.
pub const DEFAULT_FONT: &str = "core/fonts/default";

const FONTS: &[(&str, &[u8])] =
    &[(DEFAULT_FONT, include_bytes!("../../../core/fonts/default.ttf"))];

/// The file of one of the engine's own fonts.
pub fn find(name: &str) -> Option<&'static [u8]> {
    FONTS.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}
