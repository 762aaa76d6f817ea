//! The commands, one file each: their flags, and what they do with the application.

pub mod check;
pub mod compile;
pub mod confine;
pub mod console;
mod definitions;
pub mod docs;
pub mod explain;
pub mod font;
pub mod new;
pub mod report;
pub mod run;
pub mod test;
mod threads;
