//! The identity of engines. The stamp is that of the running one: compile failures that another
//! engine has found are not trusted, because it may know other fields or formats of the same
//! version. The mark is in every executable file of an engine, so that other engines recognize it.

use engine_foundation::hash::murmur64a;
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

/// Beginning of the mark, in front of the version.
const MARK_START: &str = "engine executable, version ";
/// The mark. It is in the executable file as it is here, because nothing may be optimized away.
#[used]
static MARK: &str = concat!("engine executable, version ", env!("CARGO_PKG_VERSION"), ";");
/// Maximum length of a version in a mark, in bytes.
const VERSION_BYTES_MAX: usize = 40;

/// Returns the version of the engine whose executable file has these bytes. Returns `None` if they
/// are no engine.
pub fn version_of_executable(bytes: &[u8]) -> Option<&str> {
    let (first, start) = (MARK_START.as_bytes()[0], MARK_START.as_bytes());
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == first) {
        at += found;
        let rest = bytes[at..].strip_prefix(start);
        let version = rest.and_then(|rest| {
            let end = rest.iter().take(VERSION_BYTES_MAX).position(|byte| *byte == b';')?;
            std::str::from_utf8(&rest[..end]).ok()
        });
        if version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit())) {
            return version;
        }
        at += 1;
    }
    None
}

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
        bytes.extend(std::hint::black_box(MARK).bytes());
        murmur64a(&bytes, 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::file_access;
    use std::io::Read;

    #[test]
    fn executables_with_the_engine_in_them_have_its_version() {
        assert_ne!(engine_stamp(), 0);
        let path = std::env::current_exe().unwrap();
        let mut bytes = Vec::new();
        file_access::open_named(&path).unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(version_of_executable(&bytes), Some(env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn other_bytes_have_no_version() {
        let long = format!("{MARK_START}1{}", "0".repeat(VERSION_BYTES_MAX));
        for other in ["", "engine", MARK_START, &format!("{MARK_START};"), &long] {
            assert_eq!(version_of_executable(other.as_bytes()), None, "{other}");
        }
        let bytes = format!("\0{MARK_START}\0ee{MARK_START}1.2.3-beta;");
        assert_eq!(version_of_executable(bytes.as_bytes()), Some("1.2.3-beta"));
    }
}
