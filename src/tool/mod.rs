//! The commands, one file each: their flags, and what they do with the application.

mod definitions;
pub mod docs;
pub mod new;
pub mod compile;
pub mod explain;
pub mod run;
pub mod test;
