//! Removes files from executables in packages, such as the manual: it overwrites them by zeros, of
//! which an archive keeps almost nothing. A packaged engine cannot show them to players.

/// Minimum length of a file that is searched for, in bytes. Shorter ones could be found by chance.
const FILE_BYTES_MIN: usize = 64;

/// Overwrites all copies of the files by zeros. Returns the number of bytes that were overwritten.
pub fn clear(executable: &mut [u8], files: &[&[u8]]) -> u64 {
    let files: Vec<&[u8]> =
        files.iter().copied().filter(|file| file.len() >= FILE_BYTES_MIN).collect();
    // An executable has many bytes and few places at which a file can begin.
    let mut begins = vec![false; 1 << 16];
    let start = |bytes: &[u8]| usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    for file in &files {
        begins[start(file)] = true;
    }
    let (mut at, mut cleared) = (0, 0);
    while at + FILE_BYTES_MIN <= executable.len() {
        let rest = &executable[at..];
        let found = match begins[start(rest)] {
            true => files.iter().filter(|file| rest.starts_with(file)).map(|file| file.len()).max(),
            false => None,
        };
        match found {
            Some(length) => {
                executable[at..at + length].fill(0);
                cleared += length as u64;
                at += length;
            }
            None => at += 1,
        }
    }
    cleared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_files_are_overwritten() {
        let (page, picture) = ([b'p'; 100], [0x89; FILE_BYTES_MIN]);
        let between = [&b"code"[..], &[0x89; 20], b"more code"].concat();
        let mut executable = [&page[..], &between, &picture, &page, b"end"].concat();
        let files: [&[u8]; 4] = [&page, &picture, b"code", b""];
        assert_eq!(clear(&mut executable, &files), 264);
        let wanted = [&[0; 100][..], &between, &[0; 164], b"end"].concat();
        assert!(executable == wanted);
        assert_eq!(clear(&mut executable, &files), 0, "nothing is left");
        let mut cut = page[..99].to_vec();
        assert_eq!((clear(&mut cut, &files), clear(&mut [], &files)), (0, 0));
        assert!(cut == [b'p'; 99]);
    }
}
