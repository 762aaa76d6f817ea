//! Tests of the headers of executable files, with small files written by hand, and with the
//! executable of the tests.

use super::*;
use std::io::Cursor;

/// Returns an ELF file for x86-64 with one segment, without sections.
pub fn elf_file() -> Vec<u8> {
    let mut bytes = vec![0; 64 + 56];
    bytes[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x00");
    bytes[18] = 62;
    bytes[32] = 64;
    bytes[54] = 56;
    bytes[56] = 1;
    let end = bytes.len() as u8;
    bytes[64 + 32] = end;
    bytes
}

/// Returns a PE file for x86-64 with one section of 512 bytes at 512.
pub fn pe_file() -> Vec<u8> {
    let mut bytes = vec![0; 1024];
    bytes[..2].copy_from_slice(b"MZ");
    bytes[0x3c] = 64;
    bytes[64..68].copy_from_slice(b"PE\0\0");
    bytes[68..70].copy_from_slice(&0x8664u16.to_le_bytes());
    bytes[70] = 1;
    bytes[84] = 240;
    let optional = 88;
    bytes[optional..optional + 2].copy_from_slice(&0x20bu16.to_le_bytes());
    bytes[optional + 108] = 16;
    let section = optional + 240;
    bytes[section..section + 5].copy_from_slice(b".text");
    bytes[section + 16..section + 20].copy_from_slice(&512u32.to_le_bytes());
    bytes[section + 20..section + 24].copy_from_slice(&512u32.to_le_bytes());
    bytes
}

/// Appends a signature of 16 bytes to a PE file of [`pe_file`], at a multiple of 8.
pub fn sign(pe: &mut Vec<u8>) {
    pe.resize(pe.len().next_multiple_of(8), 0);
    let start = pe.len() as u32;
    pe.extend([7; 16]);
    pe[88 + 144..88 + 148].copy_from_slice(&start.to_le_bytes());
    pe[88 + 148..88 + 152].copy_from_slice(&16u32.to_le_bytes());
}

fn inspected(bytes: &[u8]) -> Option<ExecutableFile> {
    inspect(&mut Cursor::new(bytes)).unwrap()
}

#[test]
fn formats_and_processors_are_recognized() {
    let elf = inspected(&elf_file()).unwrap();
    assert_eq!((elf.format, elf.image_end), (ExecutableFormat::Elf, Some(120)));
    assert_eq!(elf.architectures, ["x86_64"]);
    let mut pe = pe_file();
    let found = inspected(&pe).unwrap();
    assert_eq!((found.format, found.image_end), (ExecutableFormat::Pe, Some(1024)));
    assert_eq!((found.architectures, found.signature), (vec!["x86_64".to_string()], None));
    sign(&mut pe);
    let found = inspected(&pe).unwrap();
    assert_eq!((found.image_end, found.signature), (Some(1024), Some(1024..1040)));
    let mut mach = vec![0; 32];
    mach[..8].copy_from_slice(&[0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1]);
    assert_eq!(inspected(&mach).unwrap().architectures, ["aarch64"]);
    let mut universal = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2];
    universal.extend([[1, 0, 0, 7], [0; 4], [0; 4], [0; 4], [0; 4]].concat());
    universal.extend([[1, 0, 0, 12], [0; 4], [0; 4], [0; 4], [0; 4]].concat());
    let found = inspected(&universal).unwrap();
    assert_eq!(found.architectures, ["x86_64", "aarch64"]);
    assert_eq!(found.format.platform(), "macos");
    // A class file of Java 8.
    assert_eq!(inspected(&[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 0, 0, 0]), None);
    for other in [&b""[..], b"#!/bin/sh\n", b"MZ", b"\x7fELF", b"PK\x03\x04"] {
        assert_eq!(inspected(other), None, "{other:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_image_of_this_test_ends_with_its_file() {
    let path = std::env::current_exe().unwrap();
    let mut file = engine_foundation::file_access::open_named(&path).unwrap();
    let found = inspect(&mut file).unwrap().unwrap();
    assert_eq!(found.architectures, [std::env::consts::ARCH]);
    assert_eq!(found.image_end, Some(file.metadata().unwrap().len()));
}

#[test]
fn damaged_headers_are_refused_or_read_without_a_panic() {
    for sample in [elf_file(), pe_file()] {
        for length in 0..sample.len() {
            let _ = inspected(&sample[..length]);
        }
        for at in 0..sample.len().min(400) {
            for value in [0xff, 0x80, 1] {
                let mut bytes = sample.clone();
                bytes[at] ^= value;
                let _ = inspected(&bytes);
            }
        }
    }
}
