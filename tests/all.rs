//! The integration tests, one module for each subject: `cargo test --test all golden::tiles` runs
//! some of them. Tests that need an allocator of their own are in tests/allocations and
//! tests/memory, the checks of the source tree in tests/gate.rs.

mod animation_updates;
mod api_coverage;
mod bad_input;
mod bundle;
mod check;
mod command_line;
#[cfg(target_os = "linux")]
mod confinement;
mod content;
mod debugger;
mod editor_extension;
mod examples;
mod explain;
mod flow;
mod flow_loops;
mod flow_merge;
mod flow_nodes;
mod flow_problems;
mod game_folder;
mod golden;
mod hot_reload;
mod images;
mod libraries;
mod lua_suites;
mod manual;
mod manual_search;
mod navigation;
mod navigation_compile;
mod navigation_walls;
mod new;
mod package;
mod particles;
mod porting;
mod profile;
mod ragdoll_reload;
mod reference;
mod remote;
mod report;
mod resource_reload;
mod save;
mod script_reload;
#[cfg(target_os = "linux")]
mod software_renderer;
mod sound;
mod start;
mod tasks;
mod test_runner;
mod variants;
#[cfg(target_os = "linux")]
mod window;
mod workers;

/// The engine's own allocator: the order of objects in memory is part of the tests of hot reload.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs at the start of the program, as the engine's own call, because tests draw in this process:
/// the drivers would print a warning for each device.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = {
    extern "C" fn at_start() {
        engine::platform::silence_driver_warnings();
    }
    at_start
};
