//! Tools for the files of a game: merges, differences, references between resources with their
//! locations, renames. Knows the formats of source files, and neither Lua's VM nor the engine.

pub mod merge;
