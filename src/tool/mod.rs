//! The commands, one file each: their flags, and what they do with the application.

pub mod run;
