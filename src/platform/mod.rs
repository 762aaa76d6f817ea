//! The operating system's services, by subject. Only this module calls libc.

pub mod broker;
pub mod browser;
mod clocks;
pub mod confinement;
mod directories;
mod evdev;
pub mod machine;
mod process;
mod signals;
mod terminal;

pub use clocks::{ThreadClock, seconds_since_start};
pub use directories::{cache_folder, save_folder};
#[cfg(target_os = "linux")]
pub use evdev::InputNode;
pub use evdev::{AxisRange, RawInput};
pub use process::{
    exit_immediately, limit_malloc_arenas, silence_driver_warnings, use_small_pages,
};
pub use process::{lower_thread_priority, stack_floor};
pub use signals::{ThreadInterrupt, end_requested, install_signal_handlers};
pub use terminal::{RawTerminal, redirect_input, redirect_output};

/// Name of the platform, as settings and resource variants spell it.
pub const NAME: &str = std::env::consts::OS;
