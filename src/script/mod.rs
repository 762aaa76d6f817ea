//! The script layer: the Lua VM, the rows that declare the functions that Lua can call, and the
//! code and documentation generated from these rows. This is the only folder that names Lua's C
//! interface.

pub mod api;
pub mod api_row;
mod argument;
mod argument_remedies;
mod bundle_chunk;
mod bytecode;
pub mod callbacks;
mod collector;
mod compiled_frames;
mod context;
mod ctypes;
mod debugger;
mod describe_handle;
mod describe_value;
pub mod docgen;
mod engine_memory_limit;
mod error_hints;
mod extra_arguments;
mod familiar_games;
pub mod familiar_names;
mod ffi_wrappers;
mod field_hints;
mod function_hints;
pub mod graph_values;
mod handle_hints;
mod heap;
mod heap_snapshot;
mod interrupt;
mod kept_locals;
mod line_coverage;
pub mod lint;
mod load;
mod lua_memory;
mod lua_variables;
mod luajit_layout;
pub mod modules;
mod pattern;
mod porting_layer;
mod porting_table;
pub mod prelude;
mod prelude_check;
mod prelude_natives;
mod reload_dry_run;
mod report;
pub mod resource;
pub mod resource_arguments;
mod return_value;
pub mod sampler;
mod serialize;
mod source_scanner;
mod stack_trace;
pub mod syntax_check;
mod syntax_hints;
pub mod types;
pub mod unpacked_chunk;
mod unpacked_row;
mod value;
mod vm;
mod worker_vm;

/// Returns true if `text` contains a match of a Lua pattern; `None` if the pattern is malformed or
/// too costly.
pub fn pattern_fits(text: &str, pattern: &str) -> Option<bool> {
    let found = pattern::find(text.as_bytes(), pattern.as_bytes(), 0, &mut STEPS_MAX.clone());
    found.ok().map(|found| found.is_some())
}

/// Maximum number of matching steps that [`pattern_fits`] may take.
const STEPS_MAX: u64 = 1_000_000;

pub use context::script_location;
pub use debugger::{DebugRequest, DebuggerHost, WorkerDebugHub, WorkerEvents, WorkerReply};
pub use interrupt::{HangCause, Interrupt};
pub use report::{ErrorReport, SourceLocation, StackFrame};
pub use serialize::check_save;
pub use source_scanner::KEYWORDS;
pub use value::ScriptValue;
pub use vm::{CallOutcome, ScriptWork, Vm, VmConfig, count_all_calls};
