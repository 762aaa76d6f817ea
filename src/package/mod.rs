//! Packages: archives of a game for players, made of a prebuilt engine and a bundle. This works on
//! files only, so packages for all platforms are made on any of them. Knows how archives,
//! executables, icons and metadata of desktops are written; compiles nothing.

mod appimage;
mod archive;
mod categories;
mod engine_file;
mod file_names;
mod flatpak;
mod game_files;
mod icon;
mod installer;
mod licenses;
#[cfg(all(test, target_os = "linux"))]
mod linker_script_tests;
mod linux;
mod mach_o;
mod macos;
pub mod pe_resources;
mod removable_files;
mod server;
mod settings;
mod signed_files;
mod signing;
mod stores;
mod unpacked;
mod windows;
mod writer;

pub use appimage::AppImageRuntime;
pub use archive::Compression;
pub use engine_file::{EngineFile, EngineKind, PLATFORMS, SERVER_PLATFORMS};
pub use engine_file::{file_name, missing_message};
pub use licenses::ENGINE_TEXTS;
pub use signing::SigningTool;
pub use stores::{ItchPage, SteamApp, StoreTargets};
pub use writer::{PackageJob, PackageOutput, PackageSources, write_packages};
