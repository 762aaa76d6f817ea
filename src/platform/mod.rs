//! The operating system's services, by subject. Only this module calls libc and the
//! functions of Windows.

pub mod broker;
pub mod browser;
mod clocks;
pub mod confinement;
mod directories;
mod evdev;
pub mod machine;
mod message_window;
mod process;
mod signals;
mod terminal;
#[cfg(windows)]
mod thread_handle;

pub use clocks::{ThreadClock, seconds_since_start};
pub use directories::{cache_folder, save_folder};
#[cfg(target_os = "linux")]
pub use evdev::InputNode;
pub use evdev::{AxisRange, RawInput};
pub use message_window::show_to_player;
pub use process::{
    exit_immediately, limit_malloc_arenas, silence_driver_warnings, use_small_pages,
};
pub use process::{lower_thread_priority, stack_floor};
pub use signals::{ThreadInterrupt, end_requested, install_signal_handlers, request_end};
pub use terminal::{RawTerminal, enable_terminal_colors, redirect_input, redirect_output};

/// Name of the platform, as settings and resource variants spell it.
pub const NAME: &str = std::env::consts::OS;
