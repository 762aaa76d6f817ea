//! Buffers of a glTF file: the binary chunk, files next to the model, and data URIs. Nothing
//! outside of the game's folder is read.

use super::compressed_views::is_fallback;
use data_encoding::BASE64;
use engine_foundation::Error;
use engine_foundation::error;
use engine_resource::resource_kind::CompileContext;
use gltf::json::{Root, buffer};
use std::collections::HashMap;

/// Maximum number of bytes in all buffers of one file.
pub const BUFFER_BYTES_MAX: u64 = 1 << 30;
/// Maximum number of buffers in one file. The limit also applies to views, accessors, nodes, meshes
/// and similar items, each counted separately.
pub const ITEMS_MAX: usize = 1 << 16;

const GLB_HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;

/// JSON text of a file and, for a GLB, its binary chunk.
pub struct GltfParts<'a> {
    pub text: &'a [u8],
    pub bytes: Option<&'a [u8]>,
}

/// Splits a file into its parts: a GLB, or text alone.
pub fn part(file: &[u8]) -> Result<GltfParts<'_>, Error> {
    if !file.starts_with(b"glTF") {
        return Ok(GltfParts { text: file, bytes: None });
    }
    let number = |at: usize| {
        let four = file.get(at..at + 4).map(|four| four.try_into().expect("four bytes"));
        four.map(u32::from_le_bytes).ok_or_else(|| error!("the GLB ends within its header"))
    };
    let version = number(4)?;
    if version != 2 {
        return Err(error!(
            "it is GLB version {version}, and only 2 can be read: export it as glTF 2.0"
        ));
    }
    let whole = number(8)? as usize;
    if whole > file.len() || whole < GLB_HEADER_BYTES {
        return Err(error!(
            "the GLB says that it has {whole} bytes, and it has {}: it was not written completely",
            file.len()
        ));
    }
    let (mut at, mut text, mut bytes) = (GLB_HEADER_BYTES, None, None);
    while at + CHUNK_HEADER_BYTES <= whole {
        let (length, kind) = (number(at)? as usize, number(at + 4)?);
        let start = at + CHUNK_HEADER_BYTES;
        let chunk = start.checked_add(length).filter(|end| *end <= whole);
        let chunk = chunk.map(|end| &file[start..end]).ok_or_else(|| {
            error!("a chunk of the GLB has {length} bytes and lies outside of the file")
        })?;
        match &kind.to_le_bytes() {
            b"JSON" if text.is_none() => text = Some(chunk),
            b"BIN\0" if bytes.is_none() => bytes = Some(chunk),
            // Readers must ignore unknown chunks (glTF 2.0, 4.4.1).
            _ => {}
        }
        at = start + length.next_multiple_of(4);
    }
    match text {
        Some(text) => Ok(GltfParts { text, bytes }),
        None => Err(error!("the GLB has no JSON chunk")),
    }
}

/// Bytes of a buffer; `None` if the file has no data for it, which is an error only where the data
/// is needed.
pub type BufferBytes = Option<Vec<u8>>;

/// Returns the error for a buffer without data that something refers to.
pub fn no_data(buffer: usize) -> Error {
    error!("buffer {buffer} has no data: it has no uri, and the file has no bytes for it")
}

/// Loads every buffer, as long as the file declares.
pub fn load(
    root: &Root,
    glb_chunk: Option<&[u8]>,
    compiling: &mut CompileContext,
) -> Result<Vec<BufferBytes>, Error> {
    let has_data = |(index, buffer): &(usize, &buffer::Buffer)| {
        !is_fallback(buffer) && (buffer.uri.is_some() || *index == 0 && glb_chunk.is_some())
    };
    let lengths = root.buffers.iter().enumerate().filter(has_data);
    let all = lengths.into_iter().try_fold(0u64, |sum, one| sum.checked_add(one.1.byte_length.0));
    if all.is_none_or(|all| all > BUFFER_BYTES_MAX) {
        return Err(error!(
            "its buffers together have more than {BUFFER_BYTES_MAX} bytes (BUFFER_BYTES_MAX): \
             split the model"
        ));
    }
    let mut files = buffers_of_files(root, &compiling.path)?;
    let mut buffers = vec![None; root.buffers.len()];
    for (index, buffer) in root.buffers.iter().enumerate() {
        // The buffer may have its data already, together with an earlier one of the same file.
        if is_fallback(buffer) || buffers[index].is_some() {
            continue;
        }
        let (bytes, path) = match (&buffer.uri, glb_chunk) {
            (Some(uri), _) => {
                let wrong = |fault: Error| error!("buffer {index}: {}", fault.message);
                let path = file_path(uri, &compiling.path).map_err(wrong)?;
                (fetch(uri, compiling).map_err(wrong)?, path)
            }
            (None, Some(glb_chunk)) if index == 0 => (glb_chunk.to_vec(), None),
            _ => continue,
        };
        let same_file = path.and_then(|path| files.remove(&path));
        fill(root, &mut buffers, same_file.as_deref().unwrap_or(&[index]), bytes)?;
    }
    Ok(buffers)
}

/// Returns the indices of the buffers of each file, so that each file is read once.
fn buffers_of_files(root: &Root, model: &str) -> Result<HashMap<String, Vec<usize>>, Error> {
    let mut files: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, buffer) in root.buffers.iter().enumerate() {
        let Some(uri) = buffer.uri.as_ref().filter(|_| !is_fallback(buffer)) else { continue };
        let path = file_path(uri, model);
        let path = path.map_err(|fault| error!("buffer {index}: {}", fault.message))?;
        if let Some(path) = path {
            files.entry(path).or_default().push(index);
        }
    }
    Ok(files)
}

/// Returns the path of the file that a URI names; `None` for embedded bytes.
fn file_path(uri: &str, model: &str) -> Result<Option<String>, Error> {
    match uri.starts_with(DATA_URI) {
        true => Ok(None),
        false => resolve(uri, model).map(Some),
    }
}

/// Gives buffers the start of the same bytes, each as long as it declares.
fn fill(
    root: &Root,
    buffers: &mut [BufferBytes],
    indices: &[usize],
    mut bytes: Vec<u8>,
) -> Result<(), Error> {
    for (number, index) in indices.iter().enumerate() {
        let wanted = root.buffers[*index].byte_length.0 as usize;
        if bytes.len() < wanted {
            return Err(error!(
                "buffer {index} should have {wanted} bytes, and has {}",
                bytes.len()
            ));
        }
        buffers[*index] = Some(match number + 1 == indices.len() {
            false => bytes[..wanted].to_vec(),
            true => {
                bytes.truncate(wanted);
                // The rest of the file's bytes stay in memory otherwise.
                bytes.shrink_to_fit();
                std::mem::take(&mut bytes)
            }
        });
    }
    Ok(())
}

/// Start of a URI that contains bytes.
const DATA_URI: &str = "data:";

/// Reads the content of a URI: embedded bytes, or a file next to the model.
pub fn fetch(uri: &str, compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    if let Some(rest) = uri.strip_prefix(DATA_URI) {
        let (kind, text) = rest.split_once(',').unwrap_or(("", rest));
        if !kind.ends_with(";base64") {
            return Err(error!("its data uri is not in base64"));
        }
        return BASE64
            .decode(text.trim().as_bytes())
            .map_err(|fault| error!("its data uri is not valid base64: {fault}"));
    }
    let path = resolve(uri, &compiling.path)?;
    compiling.read(&path)
}

/// Resolves a URI relative to a model to a path from the game's folder.
pub fn resolve(uri: &str, model: &str) -> Result<String, Error> {
    let text = decoded(uri)?;
    if text.contains(':') || text.starts_with('/') || text.contains('\\') {
        return Err(error!(
            "'{uri}' is not a path relative to the model: keep its files in the game's folder"
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
                        "'{uri}' leads out of the game's folder: keep the model's files inside"
                    ));
                }
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// Decodes the percent-encoding of a URI.
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
    String::from_utf8(out)
        .map_err(|_| error!("'{uri}' is not UTF-8 after its percent signs are decoded"))
}

/// Returns an error if a file has too many items of any type.
pub fn check_counts(root: &Root) -> Result<(), Error> {
    for (noun, count) in [
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
            return Err(error!("it has {count} {noun}, and {ITEMS_MAX} is the most (ITEMS_MAX)"));
        }
    }
    Ok(())
}
