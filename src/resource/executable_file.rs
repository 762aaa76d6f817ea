//! Headers of executable files: ELF, PE and Mach-O. Says for which system and processor a file is,
//! where its image ends, and where a signature of Windows is. Numbers of headers are untrusted.
//!
//! Sources: System V ABI (ELF-64), Microsoft's "PE Format", Apple's `mach-o/loader.h` and
//! `mach-o/fat.h`.

use std::io::{Read, Result, Seek, SeekFrom};
use std::ops::Range;

/// Maximum number of sections or segments that are looked at. The loaders have lower limits for
/// real programs.
pub const SECTIONS_MAX: u16 = 1024;
/// Maximum number of architectures in a universal binary. Java's class files begin with the same
/// four bytes, and then have a larger number.
pub const ARCHITECTURES_MAX: u32 = 16;
/// Maximum offset of the PE header.
const PE_OFFSET_MAX: u32 = 1 << 20;

/// Format of an executable file, which is that of one platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutableFormat {
    Elf,
    Pe,
    MachO,
}

impl ExecutableFormat {
    /// Returns the name of the platform whose executables have this format.
    pub fn platform(self) -> &'static str {
        match self {
            ExecutableFormat::Elf => "linux",
            ExecutableFormat::Pe => "windows",
            ExecutableFormat::MachO => "macos",
        }
    }
}

/// Facts about an executable file.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutableFile {
    pub format: ExecutableFormat,
    /// Names of the processors, one unless the file is a universal binary: `x86_64`, `aarch64`.
    pub architectures: Vec<String>,
    /// End of the last part that a header refers to, without a signature. Everything after it was
    /// appended to the image. `None` if it is unknown.
    pub image_end: Option<u64>,
    /// The signature of an executable for Windows, at the end of the file.
    pub signature: Option<Range<u64>>,
}

/// Reads the headers of a file. Returns `None` if it is no executable that is known.
///
/// # Errors
/// Returns an error if the file cannot be read. A header that is cut short is no error.
pub fn inspect(file: &mut (impl Read + Seek)) -> Result<Option<ExecutableFile>> {
    let start = read(file, 0, 64)?;
    Ok(match start.get(..4) {
        Some(b"\x7fELF") => elf(file, &start)?,
        Some([b'M', b'Z', ..]) => pe(file, &start)?,
        Some(&[0xcf, 0xfa, 0xed, 0xfe]) => mach_o(&start),
        Some(&[0xca, 0xfe, 0xba, 0xbe]) => universal(file, &start)?,
        _ => None,
    })
}

/// Reads up to `bytes` bytes at a position; fewer at the end of the file.
fn read(file: &mut (impl Read + Seek), at: u64, bytes: u64) -> Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut found = Vec::new();
    file.take(bytes).read_to_end(&mut found)?;
    Ok(found)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn elf(file: &mut (impl Read + Seek), start: &[u8]) -> Result<Option<ExecutableFile>> {
    let header = || {
        let is_64_bit_little_endian = start.get(4..6)? == [2, 1];
        let architecture = match u16_at(start, 18)? {
            3 => "x86".to_string(),
            40 => "arm".to_string(),
            62 => "x86_64".to_string(),
            183 => "aarch64".to_string(),
            243 => "riscv64".to_string(),
            other => format!("machine {other}"),
        };
        Some((architecture, is_64_bit_little_endian))
    };
    let Some((architecture, is_known)) = header() else { return Ok(None) };
    let image_end = if is_known { elf_end(file, start)? } else { None };
    Ok(Some(ExecutableFile {
        format: ExecutableFormat::Elf,
        architectures: vec![architecture],
        image_end,
        signature: None,
    }))
}

/// Returns the end of the tables and of the segments of an ELF file with 64 bits.
fn elf_end(file: &mut (impl Read + Seek), start: &[u8]) -> Result<Option<u64>> {
    let tables = || {
        let (segments, sections) = (u64_at(start, 32)?, u64_at(start, 40)?);
        let [_, segment_bytes, segment_count, section_bytes, section_count] =
            [52, 54, 56, 58, 60].map(|at| u16_at(start, at));
        let sections_end =
            sections.checked_add(u64::from(section_bytes?) * u64::from(section_count?));
        Some((segments, u64::from(segment_bytes?), segment_count?, sections_end?))
    };
    let Some((segments, segment_bytes, count, mut end)) = tables() else { return Ok(None) };
    if count > SECTIONS_MAX || segment_bytes < 56 {
        return Ok(None);
    }
    let table = read(file, segments, segment_bytes * u64::from(count))?;
    for segment in table.chunks_exact(segment_bytes as usize) {
        let (Some(offset), Some(bytes)) = (u64_at(segment, 8), u64_at(segment, 32)) else {
            return Ok(None);
        };
        end = end.max(offset.saturating_add(bytes));
    }
    Ok(Some(end))
}

fn pe(file: &mut (impl Read + Seek), start: &[u8]) -> Result<Option<ExecutableFile>> {
    let Some(offset) = u32_at(start, 0x3c).filter(|offset| *offset <= PE_OFFSET_MAX) else {
        return Ok(None);
    };
    let header = read(file, offset.into(), 24)?;
    if header.get(..4) != Some(b"PE\0\0") || header.len() < 24 {
        return Ok(None);
    }
    let field = |at| u16_at(&header, at).expect("the header has 24 bytes");
    let architecture = match field(4) {
        0x14c => "x86".to_string(),
        0x8664 => "x86_64".to_string(),
        0xaa64 => "aarch64".to_string(),
        other => format!("machine {other:#x}"),
    };
    let (sections, optional_bytes) = (field(6), u64::from(field(20)));
    if sections > SECTIONS_MAX {
        return Ok(None);
    }
    let optional = read(file, u64::from(offset) + 24, optional_bytes)?;
    let table_at = u64::from(offset) + 24 + optional_bytes;
    let table = read(file, table_at, u64::from(sections) * 40)?;
    let mut end = table_at + table.len() as u64;
    for section in table.chunks_exact(40) {
        let word = |at| u64::from(u32_at(section, at).expect("a row has 40 bytes"));
        if word(16) > 0 {
            end = end.max(word(20) + word(16));
        }
    }
    // The symbols that some linkers leave, and the texts after them.
    let symbol = |at| u64::from(u32_at(&header, at).expect("the header has 24 bytes"));
    if symbol(12) > 0 {
        let texts = symbol(12) + symbol(16) * 18;
        let bytes = u32_at(&read(file, texts, 4)?, 0).unwrap_or(0);
        end = end.max(texts + u64::from(bytes));
    }
    Ok(Some(ExecutableFile {
        format: ExecutableFormat::Pe,
        architectures: vec![architecture],
        image_end: Some(end),
        signature: signature(&optional),
    }))
}

/// Returns the signature that the directory of a PE file's optional header refers to.
fn signature(optional: &[u8]) -> Option<Range<u64>> {
    let directories = match u16_at(optional, 0)? {
        0x20b => 112,
        0x10b => 96,
        _ => return None,
    };
    // The directory of certificates is the fifth.
    if u32_at(optional, directories - 4)? < 5 {
        return None;
    }
    let start = u64::from(u32_at(optional, directories + 32)?);
    let bytes = u64::from(u32_at(optional, directories + 36)?);
    (start > 0 && bytes > 0).then(|| start..start + bytes)
}

fn mach_architecture(kind: u32) -> String {
    match kind {
        0x0100_0007 => "x86_64".to_string(),
        0x0100_000c => "aarch64".to_string(),
        other => format!("processor {other:#x}"),
    }
}

fn mach_o(start: &[u8]) -> Option<ExecutableFile> {
    let architectures = vec![mach_architecture(u32_at(start, 4)?)];
    let format = ExecutableFormat::MachO;
    Some(ExecutableFile { format, architectures, image_end: None, signature: None })
}

fn universal(file: &mut (impl Read + Seek), start: &[u8]) -> Result<Option<ExecutableFile>> {
    let big_endian =
        |bytes: &[u8], at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let Some(count) = big_endian(start, 4).filter(|count| *count <= ARCHITECTURES_MAX) else {
        return Ok(None);
    };
    let table = read(file, 8, u64::from(count) * 20)?;
    let rows = table.chunks_exact(20);
    let kinds = rows.filter_map(|row| big_endian(row, 0));
    let architectures: Vec<String> = kinds.map(mach_architecture).collect();
    if architectures.is_empty() {
        return Ok(None);
    }
    let format = ExecutableFormat::MachO;
    Ok(Some(ExecutableFile { format, architectures, image_end: None, signature: None }))
}

#[cfg(test)]
#[path = "executable_file_tests.rs"]
pub(super) mod tests;
