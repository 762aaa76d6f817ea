//! Tests that measure the memory and the CPU time of the whole process. They take turns:
//! `fuzz::targets::lock_measurement` is held while something is measured.

mod allocator;
mod compiled;
mod fuzz;
mod unit_memory;
