//! Tools for the files of a game: merges, differences, references between resources with their
//! locations, renames. Knows the formats of source files, and neither Lua's VM nor the engine.

pub mod changes;
pub mod diff;
#[cfg(test)]
mod game_for_tests;
pub mod merge;
pub mod model;
pub mod operations;
pub mod paths;
pub mod references;
