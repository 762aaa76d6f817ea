//! Buffer views that meshopt compressed (EXT_meshopt_compression, KHR_meshopt_compression): each is
//! decoded into a buffer of its own, and the view then refers to that buffer.

use super::accessor::missing;
use super::buffers::{BUFFER_BYTES_MAX, BufferBytes};
use super::fields::ExtensionFields;
use super::meshopt::{MeshoptLayout, MeshoptMode, decode};
use super::meshopt_filters::MeshoptFilter;
use engine_foundation::Error;
use engine_foundation::error;
use gltf::json::validation::USize64;
use gltf::json::{Index, Root, buffer};

/// The extension's names. Both have the same fields.
const NAMES: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

const MODES: [(&str, MeshoptMode); 3] = [
    ("ATTRIBUTES", MeshoptMode::Attributes),
    ("TRIANGLES", MeshoptMode::Triangles),
    ("INDICES", MeshoptMode::Indices),
];

const FILTERS: [(&str, MeshoptFilter); 5] = [
    ("NONE", MeshoptFilter::None),
    ("OCTAHEDRAL", MeshoptFilter::Octahedral),
    ("QUATERNION", MeshoptFilter::Quaternion),
    ("EXPONENTIAL", MeshoptFilter::Exponential),
    ("COLOR", MeshoptFilter::Color),
];

/// Compressed bytes of a view.
struct CompressedView {
    buffer: usize,
    start: u64,
    length: u64,
    layout: MeshoptLayout,
}

/// Returns true if a buffer only stands for the uncompressed data that a reader without the
/// extension would need.
pub fn is_fallback(buffer: &buffer::Buffer) -> bool {
    let others = buffer.extensions.as_ref().map(|all| &all.others);
    let of = |name| others?.get(name)?.get("fallback")?.as_bool();
    NAMES.iter().any(|name| of(*name) == Some(true))
}

/// Decodes all compressed views into additional buffers.
pub fn decompress(root: &mut Root, buffers: &mut Vec<BufferBytes>) -> Result<(), Error> {
    let loaded: usize = buffers.iter().flatten().map(Vec::len).sum();
    let mut left = BUFFER_BYTES_MAX.saturating_sub(loaded as u64);
    for number in 0..root.buffer_views.len() {
        let decoded = compressed(&root.buffer_views[number])
            .and_then(|view| view.map(|view| decode_view(&view, buffers, &mut left)).transpose())
            .map_err(|fault| error!("buffer view {number}: {}", fault.message))?;
        let Some(bytes) = decoded else { continue };
        let view = &mut root.buffer_views[number];
        view.buffer = Index::new(buffers.len() as u32);
        view.byte_offset = None;
        view.byte_length = USize64(bytes.len() as u64);
        buffers.push(Some(bytes));
    }
    Ok(())
}

/// Reads the description of a compressed view; `None` if the view is not compressed.
fn compressed(view: &buffer::View) -> Result<Option<CompressedView>, Error> {
    let others = view.extensions.as_ref().map(|all| &all.others);
    let found = NAMES.iter().find_map(|name| Some((*name, others?.get(*name)?)));
    let Some((name, value)) = found else { return Ok(None) };
    let fields = ExtensionFields::of(name, value);
    let number = |key| {
        let number = fields.required(key)?;
        usize::try_from(number).map_err(|_| error!("'{key}' of {name} is too large"))
    };
    let mode = choice(fields, "mode", "", &MODES)?;
    let filter = choice(fields, "filter", "NONE", &FILTERS)?;
    let layout =
        MeshoptLayout { mode, filter, count: number("count")?, stride: number("byteStride")? };
    Ok(Some(CompressedView {
        buffer: number("buffer")?,
        start: fields.whole("byteOffset")?.unwrap_or(0),
        length: fields.required("byteLength")?,
        layout,
    }))
}

fn choice<T: Copy>(
    fields: ExtensionFields,
    key: &str,
    otherwise: &str,
    known: &[(&str, T)],
) -> Result<T, Error> {
    let name = fields.text(key, "")?;
    let name = if name.is_empty() { otherwise } else { name };
    let found = known.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| error!("its {key} '{name}' is not known: export the model without meshopt"))
}

fn decode_view(
    view: &CompressedView,
    buffers: &[BufferBytes],
    left: &mut u64,
) -> Result<Vec<u8>, Error> {
    let bytes = buffers.get(view.buffer).ok_or_else(|| missing("buffer", view.buffer))?;
    let bytes = bytes.as_ref().ok_or_else(|| super::buffers::no_data(view.buffer))?;
    let end = view.start.checked_add(view.length).filter(|end| *end <= bytes.len() as u64);
    let source = end.map(|end| &bytes[view.start as usize..end as usize]).ok_or_else(|| {
        error!(
            "its compressed data takes {} bytes from {} on, and buffer {} has {}",
            view.length,
            view.start,
            view.buffer,
            bytes.len()
        )
    })?;
    let MeshoptLayout { count, stride, .. } = view.layout;
    let size = (count as u64).checked_mul(stride as u64);
    *left = size.and_then(|size| left.checked_sub(size)).ok_or_else(|| {
        error!(
            "with its {count} elements of {stride} bytes, the buffers together have more than \
             {BUFFER_BYTES_MAX} bytes (BUFFER_BYTES_MAX): split the model"
        )
    })?;
    decode(source, view.layout)
}
