//! The integration tests, one module for each subject: `cargo test --test all golden::tiles` runs
//! some of them. Tests that need an allocator of their own are in tests/allocations and
//! tests/memory, the checks of the source tree in tests/gate.rs.

mod api_coverage;
mod bad_input;
mod bundle;
mod check;
#[cfg(target_os = "linux")]
mod confinement;
mod driver;
mod examples;
mod explain;
mod golden;
mod libraries;
mod manual;
mod models;
mod new;
mod particles;
mod playing;
mod profile;
mod reference;
mod reload;
mod report;
mod save;
#[cfg(target_os = "linux")]
mod software;
mod sound;
mod start;
mod suites;
mod tasks;
mod tools;
#[cfg(target_os = "linux")]
mod window;
mod workers;

/// The engine's own allocator: the order of objects in memory is part of the tests of hot reload.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
