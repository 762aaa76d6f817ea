//! Commands of the engine, one file each: the flags of a command, and how it runs the application.

pub mod check;
pub mod cli;
pub mod compile;
pub mod confinement_flag;
pub mod console;
pub mod content_change;
pub mod dap;
pub mod deps;
pub mod diff;
pub mod docs;
mod editor_definitions;
pub mod explain;
pub mod font;
mod git;
mod launcher;
mod local_page;
pub mod merge;
mod merge_page;
pub mod new;
pub mod package;
mod picture_flags;
pub mod report;
pub mod run;
pub mod script;
pub mod test;
mod thread_flags;
mod variant_flags;
