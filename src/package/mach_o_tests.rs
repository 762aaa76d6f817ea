//! Tests of programs for macOS, with headers written by hand.

use super::*;

pub const INTEL: u32 = 0x0100_0007;
pub const APPLE: u32 = APPLE_SILICON;

/// Returns a program with the commands of a version (major and minor) and of a signature.
pub fn mach_file(processor: u32, (major, minor): (u32, u32), is_signed: bool) -> Vec<u8> {
    let count = 1 + u32::from(is_signed);
    let bytes = 24 + 16 * u32::from(is_signed);
    let mut numbers = vec![0xfeed_facf, processor, 0, 2, count, bytes, 0, 0];
    numbers.extend([COMMAND_BUILD_VERSION, 24, 1, major << 16 | minor << 8, 14 << 16, 0]);
    if is_signed {
        numbers.extend([COMMAND_CODE_SIGNATURE, 16, 72, 12]);
    }
    let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    if is_signed {
        bytes.extend(SIGNATURE_MAGIC);
        bytes.extend([0, 0, 0, 12, 0, 0, 0, 0]);
    }
    bytes
}

/// Returns a universal binary, as the program `lipo` writes it.
pub fn universal(programs: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut out = vec![0xca, 0xfe, 0xba, 0xbe];
    out.extend((programs.len() as u32).to_be_bytes());
    let mut start = 4096u32;
    for (processor, program) in programs {
        for word in [*processor, 0, start, program.len() as u32, 12] {
            out.extend(word.to_be_bytes());
        }
        start = (start + program.len() as u32).next_multiple_of(4096);
    }
    for (_, program) in programs {
        out.resize(out.len().next_multiple_of(4096), 0);
        out.extend(program);
    }
    out
}

#[test]
fn versions_and_signatures_are_found_for_each_processor() {
    let intel = mach_file(INTEL, (10, 15), false);
    let apple = mach_file(APPLE, (11, 2), true);
    let file = universal(&[(INTEL, intel), (APPLE, apple)]);
    let found = programs(&file);
    let versions: Vec<_> = found.iter().map(|program| program.minimum_system).collect();
    assert_eq!(versions, [Some((10, 15, 0)), Some((11, 2, 0))]);
    let signed: Vec<bool> = found.iter().map(|program| program.is_signed).collect();
    assert_eq!(signed, [false, true]);
    // Intel's processors start programs without a signature.
    assert!(found.iter().all(|program| !program.lacks_signature()));
    assert!(programs(&mach_file(APPLE, (11, 0), false))[0].lacks_signature());
}

#[test]
fn a_signature_without_its_data_is_none() {
    let file = mach_file(APPLE, (11, 0), true);
    assert!(programs(&file)[0].is_signed);
    for end in HEADER_BYTES..file.len() - 8 {
        for program in programs(&file[..end]) {
            assert!(!program.is_signed, "{end}");
        }
    }
    let mut other = file.clone();
    other[72] = 0;
    assert!(!programs(&other)[0].is_signed);
}

#[test]
fn damaged_headers_end_the_search() {
    assert_eq!(programs(b""), []);
    assert_eq!(programs(b"\x7fELF"), []);
    let mut file = mach_file(APPLE, (11, 0), true);
    for command_bytes in [0u32, 1, u32::MAX] {
        file[36..40].copy_from_slice(&command_bytes.to_le_bytes());
        assert_eq!(programs(&file).len(), 1, "{command_bytes}");
    }
    let mut fat = universal(&[(INTEL, mach_file(INTEL, (11, 0), false))]);
    fat[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(programs(&fat), []);
    fat[4..8].copy_from_slice(&2u32.to_be_bytes());
    fat[16..20].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(programs(&fat), []);
}
