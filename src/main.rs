//! The executable: a global allocator and the command line.

use engine::foundation::memory::{CountingAllocator, mark_installed};
use engine::platform::broker::end as end_broker;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() {
    mark_installed();
    let code = engine::cli::main();
    end_broker();
    std::process::exit(code);
}
