//! Tests of archives, which are read back field by field.

use super::*;
use flate2::read::{DeflateDecoder, GzDecoder};
use lzma_rust2::XzReader;

fn sample() -> Archive {
    let mut archive = Archive::default();
    archive.add("share/b.txt", Content::bytes("second"));
    archive.add_program("yard", Content::bytes([7; 600]));
    archive.add("share/a/é.txt", Content::bytes(""));
    archive
}

fn text(bytes: &[u8]) -> &str {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).unwrap().trim_end()
}

/// Returns the entries of a tar archive: type, mode, path, content.
fn tar_entries(packed: &[u8]) -> Vec<(String, String, String, Vec<u8>)> {
    let mut bytes = Vec::new();
    if packed.starts_with(b"\xfd7zXZ\0") {
        XzReader::new(packed, false).read_to_end(&mut bytes).unwrap();
    } else {
        GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    }
    assert_eq!(bytes.len() % 512, 0);
    let (mut at, mut found) = (0, Vec::new());
    while bytes[at] != 0 {
        let block = &bytes[at..at + 512];
        let number = |range| u64::from_str_radix(text(&block[range]), 8).unwrap();
        let spaces = block[..148].iter().chain(&[b' '; 8]).chain(&block[156..]);
        assert_eq!(number(148..156), spaces.map(|byte| u64::from(*byte)).sum::<u64>());
        assert_eq!(number(136..148), EPOCH_SECONDS);
        assert_eq!(&block[257..265], b"ustar\x0000");
        let length = number(124..136) as usize;
        let prefix = text(&block[345..500]);
        let slash = if prefix.is_empty() { "" } else { "/" };
        let path = format!("{prefix}{slash}{}", text(&block[..100]));
        let content = bytes[at + 512..at + 512 + length].to_vec();
        let kind = text(&block[156..157]).to_string();
        found.push((kind, text(&block[100..108]).to_string(), path, content));
        at += 512 + length.next_multiple_of(512);
    }
    assert_eq!(bytes[at..], [0; 1024]);
    found
}

#[test]
fn tar_archives_have_sorted_entries_with_modes() {
    let mut packed = Vec::new();
    write_tar_gz(&sample(), "yard-1/", &mut packed).unwrap();
    let entries = tar_entries(&packed);
    let lines: Vec<String> = entries
        .iter()
        .map(|(kind, mode, path, content)| format!("{kind} {mode} {path} {}", content.len()))
        .collect();
    let wanted = [
        "5 0000755 yard-1/ 0",
        "5 0000755 yard-1/share/ 0",
        "5 0000755 yard-1/share/a/ 0",
        "0 0000644 yard-1/share/a/é.txt 0",
        "0 0000644 yard-1/share/b.txt 6",
        "0 0000755 yard-1/yard 600",
    ];
    assert_eq!(lines, wanted);
    assert_eq!(entries[4].3, b"second");
    let mut smaller = Vec::new();
    write_tar_xz(&sample(), "yard-1/", &mut smaller).unwrap();
    assert!(tar_entries(&smaller) == entries);
}

#[test]
fn xz_is_the_same_with_any_number_of_threads() {
    // Three blocks, of which the first and the last are not all zeros.
    let mut bytes = vec![0; 25 << 20];
    bytes[..600].fill(7);
    bytes[(24 << 20) + 5..].fill(9);
    let packed = |threads: usize| {
        let mut out = tar::xz_writer(Vec::new(), threads).unwrap();
        bytes.chunks(100_000).try_for_each(|part| out.write_all(part)).unwrap();
        out.finish().unwrap()
    };
    let one = packed(1);
    assert!(one == packed(3));
    let mut unpacked = Vec::new();
    XzReader::new(&one[..], false).read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == bytes);
}

#[test]
fn long_paths_are_split_in_tar_archives() {
    let (mut archive, id) = (Archive::default(), "i".repeat(80));
    let path = format!("share/icons/hicolor/512x512/apps/{id}.png");
    archive.add(&path, Content::bytes("x"));
    let (prefix, mut packed) = (format!("{}/", "n".repeat(79)), Vec::new());
    write_tar_gz(&archive, &prefix, &mut packed).unwrap();
    let paths: Vec<String> = tar_entries(&packed).into_iter().map(|entry| entry.2).collect();
    assert_eq!(paths.last().unwrap(), &format!("{prefix}{path}"));
}

#[test]
fn zip_archives_have_sums_modes_and_the_data() {
    let mut bytes = Vec::new();
    write_zip(&sample(), "yard-1/", &mut bytes).unwrap();
    let half = |at: usize| usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()));
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let end = bytes.len() - 22;
    assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
    assert_eq!((half(end + 8), half(end + 10)), (3, 3));
    let mut row = word(end + 16);
    assert_eq!(row + word(end + 12), end);
    let mut found = Vec::new();
    for _ in 0..3 {
        assert_eq!(&bytes[row..row + 4], b"PK\x01\x02");
        let (crc, packed, size) = (word(row + 16), word(row + 20), word(row + 24));
        let (mode, start) = (word(row + 38) >> 16, word(row + 42));
        let path = text(&bytes[row + 46..row + 46 + half(row + 28)]);
        assert_eq!(&bytes[start..start + 4], b"PK\x03\x04");
        let data = start + 30 + half(start + 26);
        let mut content = Vec::new();
        let read = DeflateDecoder::new(&bytes[data..data + packed]).read_to_end(&mut content);
        assert_eq!(read.unwrap(), size);
        let mut sum = flate2::Crc::new();
        sum.update(&content);
        assert_eq!(sum.sum() as usize, crc);
        let after = data + packed;
        assert_eq!(&bytes[after..after + 4], b"PK\x07\x08");
        assert_eq!((word(after + 4), word(after + 8), word(after + 12)), (crc, packed, size));
        found.push(format!("{mode:o} {path} {size}"));
        row += 46 + half(row + 28);
    }
    let wanted =
        ["100644 yard-1/share/a/é.txt 0", "100644 yard-1/share/b.txt 6", "100755 yard-1/yard 600"];
    assert_eq!(found, wanted);
}

#[test]
fn debian_packages_have_three_members() {
    let mut bytes = Vec::new();
    write_deb("Package: yard\n", &sample(), &mut bytes).unwrap();
    assert_eq!(&bytes[..8], b"!<arch>\n");
    let (mut at, mut members) = (8, Vec::new());
    while at < bytes.len() {
        let length: usize = text(&bytes[at + 48..at + 58]).parse().unwrap();
        assert_eq!(&bytes[at + 58..at + 60], b"`\n");
        members.push((text(&bytes[at..at + 16]), &bytes[at + 60..at + 60 + length]));
        at = (at + 60 + length).next_multiple_of(2);
    }
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
    let control = tar_entries(members[1].1);
    assert_eq!(control[1].3, b"Package: yard\n");
    let sums = String::from_utf8(control[2].3.clone()).unwrap();
    assert!(sums.contains("d41d8cd98f00b204e9800998ecf8427e  share/a/é.txt\n"), "{sums}");
    assert_eq!(tar_entries(members[2].1).last().unwrap().2, "./yard");
}

#[test]
fn pieces_are_aligned_and_a_changed_file_is_an_error() {
    let path = std::env::temp_dir().join(format!("engine-{}-content", std::process::id()));
    std::fs::write(&path, "bundle").unwrap();
    let mut content = Content::bytes("engine!");
    content.append_aligned(8, Content::file(&path, 6));
    assert_eq!(content.len(), 14);
    let mut out = Vec::new();
    content.write_to(&mut out).unwrap();
    assert_eq!(out, b"engine!\0bundle");
    std::fs::write(&path, "bund").unwrap();
    let message = content.write_to(&mut Vec::new()).unwrap_err().to_string();
    assert_eq!(message, format!("{} was changed meanwhile", path.display()));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn files_above_four_gibibytes_are_refused() {
    let mut archive = Archive::default();
    archive.add("yard", Content::file("/no/file", 1 << 32));
    let message = archive.check_sizes().unwrap_err();
    let wanted = "yard has 4294967296 bytes, and 4 GiB is the most (ENTRY_BYTES_MAX): ";
    assert!(message.starts_with(wanted), "{message}");
}
