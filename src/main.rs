//! The executable: an allocator and a command line.

use engine::foundation::memory::{Counting, note_installed};
use engine::system::platform::broker::end as end_broker;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    note_installed();
    let code = engine::cli::main();
    end_broker();
    std::process::exit(code);
}
