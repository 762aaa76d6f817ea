//! Resources: where a game's files are, and what its settings say.

pub mod project;
pub mod settings;
