//! Scripts: the Lua VM, the rows that declare what Lua can call, and everything made from the rows.
//! The only folder that names Lua's C interface.

pub mod api;
mod arg;
mod bytecode;
mod chunk;
mod collector;
mod ctypes;
mod cx;
mod describe;
pub mod emit;
mod engine_memory;
mod heap;
mod hint;
mod interrupt;
mod layout;
mod lines;
mod load;
pub mod lua_kind;
mod memory;
mod mixed;
pub mod modules;
mod native;
mod outline;
mod pack;
mod pattern;
pub mod prelude;
mod report;
mod ret;
pub mod row;
pub mod sampler;
mod stack;
pub mod syntax;
mod trial;
mod twin;
pub mod types;
mod undo;
mod value;
mod vm;
mod worker;

/// Whether a Lua pattern is found in a text; `None` where it is malformed or too costly.
pub fn pattern_fits(text: &str, pattern: &str) -> Option<bool> {
    let found = pattern::find(text.as_bytes(), pattern.as_bytes(), 0, &mut STEPS_MAX.clone());
    found.ok().map(|found| found.is_some())
}

/// Steps that [`pattern_fits`] may take.
const STEPS_MAX: u64 = 1_000_000;

pub use cx::place;
pub use interrupt::{Interrupt, Stuck};
pub use pack::check_save;
pub use report::{Frame, Place, Report};
pub use value::Value;
pub use vm::{Config, Outcome, Vm, Work, count_all_calls};
