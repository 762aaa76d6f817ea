//! The identity of the running engine: compile failures that another engine has found are not
//! trusted, because it may know other fields or formats of the same version.

use engine_foundation::hash::murmur64a;
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

/// Returns a number that differs between engines that were built at different times; 0 if the file
/// of the engine cannot be found.
pub fn engine_stamp() -> u64 {
    static STAMP: OnceLock<u64> = OnceLock::new();
    *STAMP.get_or_init(|| {
        let file = std::env::current_exe().and_then(std::fs::metadata);
        let Ok(file) = file else { return 0 };
        let modified = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |time| time.as_nanos());
        let mut bytes = file.len().to_le_bytes().to_vec();
        bytes.extend(modified.to_le_bytes());
        bytes.extend(env!("CARGO_PKG_VERSION").bytes());
        murmur64a(&bytes, 0)
    })
}
