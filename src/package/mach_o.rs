//! Programs for macOS: the oldest system that they start on, and whether they are signed. Numbers
//! of headers are untrusted.
//!
//! Source: Apple's `mach-o/loader.h`, `mach-o/fat.h` and `kern/cs_blobs.h`.

use engine_resource::executable_file::{ARCHITECTURES_MAX, SECTIONS_MAX};

const APPLE_SILICON: u32 = 0x0100_000c;
const COMMAND_MINIMUM_SYSTEM: u32 = 0x24;
const COMMAND_BUILD_VERSION: u32 = 0x32;
const COMMAND_CODE_SIGNATURE: u32 = 0x1d;
/// The start of the data of a signature, which is big-endian.
const SIGNATURE_MAGIC: &[u8] = &[0xfa, 0xde, 0x0c, 0xc0];
/// Size of the header in front of the load commands in bytes.
const HEADER_BYTES: usize = 32;

/// A program for one processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachProgram {
    processor: u32,
    /// Major, minor and patch version of the oldest system.
    pub minimum_system: Option<(u16, u8, u8)>,
    /// True if it has the data of a signature, by a developer or ad hoc.
    pub is_signed: bool,
}

impl MachProgram {
    /// Returns true if the system refuses to start the program as it is. Processors of Apple start
    /// only signed programs; a signature ad hoc, which linkers write, is enough.
    pub fn lacks_signature(&self) -> bool {
        self.processor == APPLE_SILICON && !self.is_signed
    }
}

/// Returns the programs of an executable file, of which a universal binary has several. Returns an
/// empty list if it is no executable for macOS.
pub fn programs(file: &[u8]) -> Vec<MachProgram> {
    if file.get(..4) != Some(&[0xca, 0xfe, 0xba, 0xbe]) {
        return program(file).into_iter().collect();
    }
    let number = |at: usize| Some(u32::from_be_bytes(*file.get(at..)?.first_chunk()?));
    let count = number(4).filter(|count| *count <= ARCHITECTURES_MAX).unwrap_or(0);
    let slice = |index: u32| {
        let row = 8 + index as usize * 20;
        let (start, bytes) = (number(row + 8)? as usize, number(row + 12)? as usize);
        program(file.get(start..start.checked_add(bytes)?)?)
    };
    (0..count).filter_map(slice).collect()
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn program(image: &[u8]) -> Option<MachProgram> {
    if image.get(..4) != Some(&[0xcf, 0xfa, 0xed, 0xfe]) {
        return None;
    }
    let mut found = MachProgram { processor: number(image, 4)?, ..MachProgram::default() };
    let count = number(image, 16)?.min(SECTIONS_MAX.into());
    let mut at = HEADER_BYTES;
    for _ in 0..count {
        let (Some(command), Some(bytes)) = (number(image, at), number(image, at + 4)) else {
            break;
        };
        match command {
            COMMAND_MINIMUM_SYSTEM => found.minimum_system = number(image, at + 8).map(version),
            COMMAND_BUILD_VERSION => found.minimum_system = number(image, at + 12).map(version),
            COMMAND_CODE_SIGNATURE => {
                let start = number(image, at + 8).and_then(|start| image.get(start as usize..));
                found.is_signed = start.is_some_and(|data| data.starts_with(SIGNATURE_MAGIC));
            }
            _ => {}
        }
        // A command has at least its own two numbers.
        at = at.checked_add(bytes.max(8) as usize)?;
    }
    Some(found)
}

fn version(number: u32) -> (u16, u8, u8) {
    let [patch, minor, ..] = number.to_le_bytes();
    ((number >> 16) as u16, minor, patch)
}

#[cfg(test)]
#[path = "mach_o_tests.rs"]
pub(crate) mod tests;
