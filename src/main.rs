//! The executable: a global allocator and the command line.

use engine::command::version::BuildFacts;
use engine::foundation::memory::{CountingAllocator, mark_installed};
use engine::platform::broker::end as end_broker;
use engine::platform::exit_immediately;
use engine::system::render::has_abandoned_thread;
use std::io::Write;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The build script finds them out.
const FACTS: BuildFacts = BuildFacts {
    target: env!("ENGINE_BUILD_TARGET"),
    profile: env!("ENGINE_BUILD_PROFILE"),
    commit: env!("ENGINE_BUILD_COMMIT"),
};

/// The mark by which other engines recognize an executable for servers
/// (src/package/engine_file.rs).
#[cfg(not(feature = "desktop"))]
static SERVER_MARK: [u8; 30] = *b"engine executable for servers;";

/// The mark by which they recognize an executable without commands but `run`.
#[cfg(not(feature = "development"))]
static BUNDLES_MARK: [u8; 30] = *b"engine executable for bundles;";

fn main() {
    mark_installed();
    // A use keeps the linker from leaving it out.
    #[cfg(not(feature = "desktop"))]
    std::hint::black_box(&SERVER_MARK);
    #[cfg(not(feature = "development"))]
    std::hint::black_box(&BUNDLES_MARK);
    let code = engine::cli::main(&FACTS);
    end_broker();
    if has_abandoned_thread() {
        // The end of the driver's library would wait for its frame. Output that cannot be written
        // now is lost in any case.
        let _ = std::io::stdout().flush();
        exit_immediately(code);
    }
    std::process::exit(code);
}
