//! The bytes that a glTF file is about: its own, those beside it, and those that are written into
//! the text. Nothing outside of the game's folder is read.

use crate::error;
use crate::foundation::Error;
use crate::resource::kind::Compiling;
use data_encoding::BASE64;
use gltf::json::Root;

/// The most bytes that all buffers of one file may have.
pub const BUFFER_BYTES_MAX: u64 = 1 << 30;
/// The most buffers, views, accessors, nodes, meshes and the like of one file, of each.
pub const ITEMS_MAX: usize = 1 << 16;

const GLB_HEAD: usize = 12;
const CHUNK_HEAD: usize = 8;

/// The text of a file and, of a GLB, its bytes.
pub struct Parted<'a> {
    pub text: &'a [u8],
    pub bytes: Option<&'a [u8]>,
}

/// Takes a file apart: GLB, or text alone.
pub fn part(file: &[u8]) -> Result<Parted<'_>, Error> {
    if !file.starts_with(b"glTF") {
        return Ok(Parted { text: file, bytes: None });
    }
    let number = |at: usize| {
        let four = file.get(at..at + 4).map(|four| four.try_into().expect("four bytes"));
        four.map(u32::from_le_bytes).ok_or_else(|| error!("the GLB ends within its head"))
    };
    let version = number(4)?;
    if version != 2 {
        return Err(error!("it is GLB of version {version}, and 2 is read: export it as glTF 2.0"));
    }
    let whole = number(8)? as usize;
    if whole > file.len() || whole < GLB_HEAD {
        return Err(error!(
            "the GLB says that it has {whole} bytes, and it has {}: it was not written to its end",
            file.len()
        ));
    }
    let (mut at, mut text, mut bytes) = (GLB_HEAD, None, None);
    while at + CHUNK_HEAD <= whole {
        let (length, kind) = (number(at)? as usize, number(at + 4)?);
        let start = at + CHUNK_HEAD;
        let chunk = start.checked_add(length).filter(|end| *end <= whole);
        let chunk = chunk.map(|end| &file[start..end]).ok_or_else(|| {
            error!("a chunk of the GLB has {length} bytes and lies outside of the file")
        })?;
        match &kind.to_le_bytes() {
            b"JSON" if text.is_none() => text = Some(chunk),
            b"BIN\0" if bytes.is_none() => bytes = Some(chunk),
            // Others are for those who know them (glTF 2.0, 4.4.1).
            _ => {}
        }
        at = start + length.next_multiple_of(4);
    }
    match text {
        Some(text) => Ok(Parted { text, bytes }),
        None => Err(error!("the GLB has no chunk of JSON")),
    }
}

/// Every buffer, as long as the file says.
pub fn load(
    root: &Root,
    own: Option<&[u8]>,
    compiling: &mut Compiling,
) -> Result<Vec<Vec<u8>>, Error> {
    let all = root.buffers.iter().try_fold(0u64, |sum, one| sum.checked_add(one.byte_length.0));
    if all.is_none_or(|all| all > BUFFER_BYTES_MAX) {
        return Err(error!(
            "its buffers together have more than {BUFFER_BYTES_MAX} bytes (BUFFER_BYTES_MAX): \
             split the model"
        ));
    }
    let mut buffers = Vec::new();
    for (index, buffer) in root.buffers.iter().enumerate() {
        let mut bytes = match (&buffer.uri, own) {
            (Some(uri), _) => fetch(uri, compiling)
                .map_err(|fault| error!("buffer {index}: {}", fault.message))?,
            (None, Some(own)) if index == 0 => own.to_vec(),
            _ => {
                return Err(error!(
                    "buffer {index} is nowhere: it has no uri, and the file brings no bytes for it"
                ));
            }
        };
        let wanted = buffer.byte_length.0 as usize;
        if bytes.len() < wanted {
            return Err(error!(
                "buffer {index} should have {wanted} bytes, and {} are there",
                bytes.len()
            ));
        }
        bytes.truncate(wanted);
        buffers.push(bytes);
    }
    Ok(buffers)
}

/// What a uri stands for: bytes within it, or a file beside the model.
pub fn fetch(uri: &str, compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    if let Some(rest) = uri.strip_prefix("data:") {
        let (kind, text) = rest.split_once(',').unwrap_or(("", rest));
        if !kind.ends_with(";base64") {
            return Err(error!("its data uri is not in base64"));
        }
        return BASE64
            .decode(text.trim().as_bytes())
            .map_err(|fault| error!("its data uri is not good base64: {fault}"));
    }
    let path = resolve(uri, &compiling.path)?;
    compiling.read(&path)
}

/// The path from the game's folder that a uri beside a model leads to.
pub fn resolve(uri: &str, model: &str) -> Result<String, Error> {
    let text = decoded(uri)?;
    if text.contains(':') || text.starts_with('/') || text.contains('\\') {
        return Err(error!(
            "'{uri}' is not a path beside the model: keep what it needs in the game's folder"
        ));
    }
    let mut parts: Vec<&str> = model.split('/').collect();
    parts.pop();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err(error!(
                        "'{uri}' leads out of the game's folder: keep what the model needs within"
                    ));
                }
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// A uri without its percent signs.
fn decoded(uri: &str) -> Result<String, Error> {
    let mut out = Vec::with_capacity(uri.len());
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || bytes.next().and_then(|byte| (byte as char).to_digit(16));
        match (digit(), digit()) {
            (Some(high), Some(low)) => out.push((high * 16 + low) as u8),
            _ => return Err(error!("'{uri}' has a '%' without two digits after it")),
        }
    }
    String::from_utf8(out).map_err(|_| error!("'{uri}' is not UTF-8 behind its percent signs"))
}

/// Refuses a file with more of anything than it can have.
pub fn check_counts(root: &Root) -> Result<(), Error> {
    for (what, count) in [
        ("buffers", root.buffers.len()),
        ("buffer views", root.buffer_views.len()),
        ("accessors", root.accessors.len()),
        ("nodes", root.nodes.len()),
        ("meshes", root.meshes.len()),
        ("materials", root.materials.len()),
        ("textures", root.textures.len()),
        ("images", root.images.len()),
        ("skins", root.skins.len()),
        ("animations", root.animations.len()),
    ] {
        if count > ITEMS_MAX {
            return Err(error!("it has {count} {what}, and {ITEMS_MAX} is the most (ITEMS_MAX)"));
        }
    }
    Ok(())
}
