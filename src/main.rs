//! The executable: an allocator and a command line.

use engine::foundation::memory::{Counting, note_installed};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    note_installed();
    std::process::exit(engine::cli::main());
}
