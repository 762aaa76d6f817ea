//! Parts that the tests of several crates share: small images, sounds and fonts, corrupted copies
//! of files, and the names of tests that run in child processes.

pub mod aseprite;
pub mod bmfont;
mod child_test;
pub mod corruption;
pub mod images;
pub mod wav;

pub use child_test::test_path;
