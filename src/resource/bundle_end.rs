//! The location of a bundle in a file: the whole file, or the end of an executable to which it was
//! appended. A signature of Windows, which tools append after it, is skipped.

use super::bundle::{MAGIC, TRAILER_BYTES, trailer};
use super::executable_file;
use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A bundle that is appended to an executable starts at a multiple of this, so that it is mapped as
/// a file of its own would be.
pub const APPENDED_ALIGNMENT: u64 = 4096;
/// Signatures start at a multiple of this; tools fill the gap with zeros.
const SIGNATURE_ALIGNMENT: u64 = 8;

/// Search result for a bundle at the end of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BundleEnd {
    /// A bundle, with its start and its length in bytes.
    Found(u64, u64),
    /// The beginning of a bundle follows the image of an executable, but its end is missing.
    CutShort,
    Absent,
}

/// Finds a bundle that is the whole file or is at its end.
pub(super) fn find(file: &mut File) -> Result<BundleEnd> {
    let file_bytes = file.metadata()?.len();
    if let Some((start, bytes)) = ending_at(file, file_bytes)? {
        return Ok(BundleEnd::Found(start, bytes));
    }
    let Some(executable) = executable_file::inspect(file)? else { return Ok(BundleEnd::Absent) };
    if let Some(signature) = executable.signature.filter(|it| it.end <= file_bytes) {
        for gap in 0..SIGNATURE_ALIGNMENT.min(signature.start) {
            if let Some((start, bytes)) = ending_at(file, signature.start - gap)? {
                return Ok(BundleEnd::Found(start, bytes));
            }
        }
    }
    let start =
        executable.image_end.and_then(|end| end.checked_next_multiple_of(APPENDED_ALIGNMENT));
    let Some(start) = start.filter(|start| *start < file_bytes) else {
        return Ok(BundleEnd::Absent);
    };
    file.seek(SeekFrom::Start(start))?;
    let mut magic = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut magic)?;
    Ok(if magic == MAGIC { BundleEnd::CutShort } else { BundleEnd::Absent })
}

/// Returns the start and the length of a bundle that ends at `end`.
fn ending_at(file: &mut File, end: u64) -> Result<Option<(u64, u64)>> {
    let Some(at) = end.checked_sub(TRAILER_BYTES as u64) else { return Ok(None) };
    let mut found = [0; TRAILER_BYTES];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut found)?;
    let bytes = u64::from_le_bytes(found[8..16].try_into().expect("eight bytes"));
    let is_bundle = found == trailer(bytes) && (TRAILER_BYTES as u64..=end).contains(&bytes);
    Ok(is_bundle.then(|| (end - bytes, bytes)))
}

/// Returns the path of the bundle of an application of macOS by the path of its executable,
/// `Yard.app/Contents/MacOS/yard`. Returns `None` for other paths.
pub fn application_bundle(executable: &Path) -> Option<PathBuf> {
    let folder = executable.parent()?;
    let contents = folder.parent()?;
    let is_application = folder.file_name()? == "MacOS"
        && contents.file_name()? == "Contents"
        && contents.parent()?.extension()? == "app";
    is_application.then(|| contents.join("Resources").join("game.bundle"))
}

#[cfg(test)]
mod tests {
    use super::super::executable_file::tests::{elf_file, pe_file, sign};
    use super::*;
    use engine_foundation::file_access;
    use std::fs;

    /// Returns the smallest bytes that have a bundle's beginning and end.
    fn sample() -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &[0; 40]].concat();
        let length = bytes.len() + TRAILER_BYTES;
        bytes.extend(trailer(length as u64));
        bytes
    }

    fn found(name: &str, bytes: &[u8]) -> BundleEnd {
        let name = format!("engine-{}-end-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).unwrap();
        let found = find(&mut file_access::open_named(&path).unwrap()).unwrap();
        fs::remove_file(path).unwrap();
        found
    }

    fn appended(mut image: Vec<u8>) -> Vec<u8> {
        image.resize(APPENDED_ALIGNMENT as usize, 0);
        [image, sample()].concat()
    }

    #[test]
    fn bundle_is_found_at_the_end_of_executables() {
        let bytes = sample().len() as u64;
        assert_eq!(found("whole", &sample()), BundleEnd::Found(0, bytes));
        assert_eq!(found("elf", &appended(elf_file())), BundleEnd::Found(4096, bytes));
        assert_eq!(found("pe", &appended(pe_file())), BundleEnd::Found(4096, bytes));
        assert_eq!(found("plain", &elf_file()), BundleEnd::Absent);
        assert_eq!(found("other", &[0; 5000]), BundleEnd::Absent);
        assert_eq!(found("empty", b""), BundleEnd::Absent);
    }

    #[test]
    fn bundle_in_front_of_a_signature_is_found() {
        for extra in 0..8 {
            let mut bytes = appended(pe_file());
            // The length of the bundle decides about the gap.
            let length = sample().len() + extra;
            bytes.truncate(4096 + 44);
            bytes.resize(4096 + length - TRAILER_BYTES, 0);
            bytes.extend(trailer(length as u64));
            sign(&mut bytes);
            let wanted = BundleEnd::Found(4096, length as u64);
            assert_eq!(found("signed", &bytes), wanted, "{extra}");
        }
        let mut bytes = pe_file();
        sign(&mut bytes);
        assert_eq!(found("unbundled", &bytes), BundleEnd::Absent);
    }

    #[test]
    fn a_bundle_without_its_end_is_recognized() {
        for (name, image) in [("elf-cut", elf_file()), ("pe-cut", pe_file())] {
            let whole = appended(image);
            for length in [4100, whole.len() - 1] {
                assert_eq!(found(name, &whole[..length]), BundleEnd::CutShort, "{name} {length}");
            }
            assert_eq!(found(name, &whole[..4096]), BundleEnd::Absent);
        }
    }

    #[test]
    fn only_applications_of_macos_have_a_bundle_in_resources() {
        let path = |text: &str| application_bundle(Path::new(text));
        let wanted = Path::new("/a/Yard.app/Contents/Resources/game.bundle").to_path_buf();
        assert_eq!(path("/a/Yard.app/Contents/MacOS/yard"), Some(wanted));
        for other in ["/usr/bin/engine", "MacOS/x", "/Contents/MacOS/x", "/a/Contents/MacOS/x"] {
            assert_eq!(path(other), None, "{other}");
        }
    }
}
