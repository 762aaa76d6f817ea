//! Debian packages (deb(5)): an ar archive with two tar archives.

use super::md5::Md5;
use super::{Archive, Content, EPOCH_SECONDS, tar};
use std::io::{Error, Result, Write};

/// Maximum size of the compressed data in bytes, which is kept in memory: its size precedes it.
const DATA_BYTES_MAX: usize = u32::MAX as usize;

/// Writes a package. `control` is the text of its description, `files` is what it installs, by
/// paths without a leading `/`.
pub fn write_deb(control: &str, files: &Archive, out: &mut impl Write) -> Result<()> {
    let mut sums = String::new();
    for (path, entry) in files.files() {
        let mut md5 = Md5::default();
        entry.content.write_to(&mut md5)?;
        sums += &format!("{}  {path}\n", md5.finish());
    }
    let mut description = Archive::default();
    description.add("control", Content::bytes(control));
    description.add("md5sums", Content::bytes(sums));
    let packed = |archive: &Archive| {
        let mut bytes = Vec::new();
        tar::write_tar_gz(archive, "./", &mut bytes).map(|()| bytes)
    };
    let (description, data) = (packed(&description)?, packed(files)?);
    if data.len() > DATA_BYTES_MAX {
        return Err(Error::other("the package would have more than 4 GiB (DATA_BYTES_MAX)"));
    }
    out.write_all(b"!<arch>\n")?;
    write_member("debian-binary", b"2.0\n", out)?;
    write_member("control.tar.gz", &description, out)?;
    write_member("data.tar.gz", &data, out)
}

fn write_member(name: &str, bytes: &[u8], out: &mut impl Write) -> Result<()> {
    let length = bytes.len();
    writeln!(out, "{name:<16}{EPOCH_SECONDS:<12}{:<6}{:<6}{:<8}{length:<10}`", 0, 0, "100644")?;
    out.write_all(bytes)?;
    // Members start at even positions.
    if length % 2 == 1 { out.write_all(b"\n") } else { Ok(()) }
}
