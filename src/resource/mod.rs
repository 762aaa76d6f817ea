//! Resources: the game's folder, its settings and scripts, and the pipeline that compiles, indexes,
//! stores, watches and bundles its resources.

pub mod bundle;
pub mod bundle_end;
pub mod bundle_writer;
pub mod compile;
mod compile_result;
pub mod data_pieces;
pub mod data_resources;
mod derived;
#[cfg(all(test, debug_assertions))]
mod disk_failure_tests;
pub mod engine_stamp;
pub mod executable_file;
mod folder_data;
pub mod folder_scan;
pub mod glob;
pub mod image;
pub mod index;
pub mod inflate;
pub mod material_data;
mod nearby_game;
pub mod package;
pub mod panic_report;
pub mod project;
#[cfg(test)]
mod reader_panic_tests;
pub mod redirects;
mod release_settings;
pub mod reload_steps;
pub mod render_config_data;
#[cfg(test)]
mod render_config_data_tests;
pub mod resource_kind;
pub mod resource_name;
pub mod save;
pub mod settings;
mod settings_table;
pub mod shared_cache;
mod slow_compile_warning;
pub mod source_reader;
pub mod store;
pub mod surface_lobes;
pub mod surface_source;
pub mod variant;
pub mod watcher;
