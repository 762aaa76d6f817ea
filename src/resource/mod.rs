//! Resources: where a game's files are, and what its settings say.

pub mod bundle;
pub mod bundling;
pub mod compile;
pub mod containment;
pub mod data_kinds;
#[cfg(test)]
mod fault_tests;
mod folder_data;
pub mod glob;
pub mod image;
pub mod index;
pub mod kind;
pub mod name;
pub mod package;
pub mod project;
#[cfg(test)]
mod reader_tests;
pub mod save;
pub mod scan;
pub mod settings;
pub mod shading;
mod slow;
pub mod sources;
pub mod store;
pub mod surface;
pub mod variant;
pub mod watch;
