//! Sample files for tests of several crates: small images, sounds and fonts, and corrupted copies
//! of files.

pub mod aseprite;
pub mod bmfont;
pub mod corruption;
pub mod images;
pub mod wav;
