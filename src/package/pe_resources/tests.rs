//! Tests of resources in executables for Windows, with a small PE file written by hand.

use super::*;

/// Offset of the optional header in [`pe_file`].
const OPTIONAL: usize = 88;

/// Returns a PE file with one section of 512 bytes at 512, which is loaded at 4096.
pub fn pe_file() -> Vec<u8> {
    let mut bytes = vec![0; 1024];
    bytes[..2].copy_from_slice(b"MZ");
    bytes[0x3c] = 64;
    bytes[64..68].copy_from_slice(b"PE\0\0");
    bytes[68..70].copy_from_slice(&0x8664u16.to_le_bytes());
    bytes[70] = 1;
    bytes[84] = 240;
    bytes[OPTIONAL..OPTIONAL + 2].copy_from_slice(&0x20bu16.to_le_bytes());
    let section = OPTIONAL + 240;
    bytes[section..section + 5].copy_from_slice(b".text");
    let fields = [
        (OPTIONAL + 32, 4096u32),
        (OPTIONAL + 36, 512),
        (OPTIONAL + 56, 8192),
        (OPTIONAL + 60, 512),
        (OPTIONAL + 108, 16),
        (section + 8, 100),
        (section + 12, 4096),
        (section + 16, 512),
        (section + 20, 512),
    ];
    for (at, word) in fields {
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    // The subsystem of programs with a console.
    bytes[OPTIONAL + 68] = 3;
    bytes
}

fn version() -> VersionInfo {
    VersionInfo {
        numbers: [1, 2, 3, 0],
        version: "1.2.3".to_string(),
        title: "Yard 🎮".to_string(),
        author: "Émile".to_string(),
        file: "yard.exe".to_string(),
    }
}

fn written(executable: &[u8], icon: &[(u32, Vec<u8>)]) -> Result<Vec<u8>, Error> {
    write(executable, &WindowsResources { icon, version: &version() })
}

fn resources_of(bytes: &[u8]) -> Vec<Resource> {
    let mut file = PeFile { bytes: bytes.to_vec(), optional: 0, sections: 0..0 };
    file.parse().unwrap();
    file.resources().unwrap()
}

#[test]
fn icon_version_and_manifest_are_written_and_read_back() {
    let icon = [(16, vec![1; 10]), (256, vec![2; 21])];
    let bytes = written(&pe_file(), &icon).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(bytes[OPTIONAL + 68], 2, "it is a program without a console");
    assert_eq!(bytes[70], 2, "two sections");
    let row = OPTIONAL + 240 + 40;
    assert_eq!(&bytes[row..row + 6], b".rsrc\0");
    assert_eq!((word(row + 12), word(row + 20)), (8192, 1024));
    assert_eq!(word(OPTIONAL + 56), 12288, "the image is a page longer");
    assert_eq!(bytes.len() % 512, 0);
    let found = resources_of(&bytes);
    let kinds: Vec<ResourceId> = found.iter().map(|resource| resource.kind.clone()).collect();
    let wanted = [3, 3, 14, 16, 24].map(ResourceId::Number);
    assert_eq!(kinds, wanted);
    assert_eq!((found[0].bytes.len(), found[1].bytes.len()), (10, 21));
    let group = &found[2].bytes;
    assert_eq!(group[..6], [0, 0, 1, 0, 2, 0]);
    assert_eq!(group[6..20], [16, 16, 0, 0, 1, 0, 32, 0, 10, 0, 0, 0, 1, 0]);
    assert_eq!(group[20..34], [0, 0, 0, 0, 1, 0, 32, 0, 21, 0, 0, 0, 2, 0]);
    let text: Vec<u8> = "Yard 🎮".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let version = &found[3].bytes;
    assert_eq!(version.windows(text.len()).filter(|part| *part == text).count(), 2);
    let length = u16::from_le_bytes([version[0], version[1]]);
    assert_eq!(usize::from(length), version.len());
    assert!(found[4].bytes.starts_with(b"<?xml"));
}

#[test]
fn other_resources_are_kept_and_old_icons_replaced() {
    let name = |text: &str| ResourceId::Name(text.encode_utf16().collect());
    let mut file = PeFile { bytes: pe_file(), optional: 0, sections: 0..0 };
    file.parse().unwrap();
    let number = ResourceId::Number;
    let resource = |kind: ResourceId, bytes: &[u8]| Resource {
        kind,
        name: name("OWN"),
        language: number(0),
        bytes: bytes.to_vec(),
    };
    let old =
        [resource(name("DATA"), b"kept"), resource(number(3), b"icon"), resource(number(24), b"m")];
    file.append_section(old.to_vec()).unwrap();
    let bytes = written(&file.bytes, &[]).unwrap();
    let found = resources_of(&bytes);
    assert_eq!(found[0], old[0]);
    assert_eq!(found[1].kind, number(16));
    assert_eq!(found[2], old[2], "the manifest of the engine is kept");
    assert_eq!(found.len(), 3);
}

#[test]
fn a_signature_is_removed_because_it_became_invalid() {
    let mut signed = pe_file();
    let start = signed.len() as u32;
    signed.extend([7; 16]);
    let directory = OPTIONAL + 112 + 4 * 8;
    signed[directory..directory + 4].copy_from_slice(&start.to_le_bytes());
    signed[directory + 4] = 16;
    assert_eq!(written(&signed, &[]).unwrap(), written(&pe_file(), &[]).unwrap());
}

#[test]
fn executables_without_room_or_for_32_bits_are_refused() {
    let refused = |bytes: &[u8]| written(bytes, &[]).unwrap_err().message;
    let mut full = pe_file();
    full[OPTIONAL + 60..OPTIONAL + 64].copy_from_slice(&390u32.to_le_bytes());
    let wanted = "its headers have no room for another section: build it without symbols (`strip`)";
    assert_eq!(refused(&full), wanted);
    let mut small = pe_file();
    small[OPTIONAL..OPTIONAL + 2].copy_from_slice(&0x10bu16.to_le_bytes());
    assert!(refused(&small).starts_with("it is a program for 32 bits"));
    assert!(refused(b"MZ").starts_with("its headers are damaged"));
}

#[test]
fn damaged_executables_are_refused_or_written_without_a_panic() {
    let sample = written(&pe_file(), &[(16, vec![1; 10])]).unwrap();
    for length in 0..pe_file().len() {
        let _ = written(&sample[..length], &[]);
    }
    let headers = 0..OPTIONAL + 240 + 80;
    for at in headers.chain(1024..sample.len().min(1400)) {
        for value in [0xff, 0x80, 1] {
            let mut bytes = sample.clone();
            bytes[at] ^= value;
            let _ = written(&bytes, &[]);
        }
    }
}
