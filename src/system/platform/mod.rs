//! What the operating system gives, by subject. The one place that speaks to libc.

pub mod broker;
mod clocks;
pub mod confinement;
mod directories;
mod evdev;
mod process;
mod signals;
mod terminal;

pub use clocks::{ThreadClock, seconds_since_start};
pub use directories::{cache_folder, save_folder};
#[cfg(target_os = "linux")]
pub use evdev::InputNode;
pub use evdev::{AxisRange, RawInput};
pub use process::{end_now, keep_c_heap_small, quiet_drivers, use_small_pages};
pub use process::{let_others_go_first, stack_floor};
pub use signals::{Poke, asked_to_end, note_signals};
pub use terminal::{RawTerminal, divert_input, divert_output};

/// The platform's name, as settings and resource variants spell it.
pub const NAME: &str = std::env::consts::OS;
