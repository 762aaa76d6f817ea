//! Fuzz targets for files that the engine itself writes and reads: the index of compiled data,
//! recordings, saves, bundles. Checksums are corrected first, as an attacker would do.

use super::game::CompiledGame;
use super::{Target, contained, data, scratch};
use engine::app::recording::Recording;
use engine::app::resource_kinds::KINDS;
use engine::foundation::Error;
use engine::foundation::blob::{BlobReader, FRAME_BYTES};
use engine::foundation::hash::murmur64a;
use engine::package::pe_resources::{self, VersionInfo, WindowsResources};
use engine::platform;
use engine::resource::bundle::{Bundle, VERSION};
use engine::resource::executable_file::{self, ExecutableFormat};
use engine::resource::index::ResourceIndex;
use engine::resource::resource_name::ResourceName;
use engine::resource::save::{NewerVersions, SaveSlot, Saves};
use engine::resource::store::ResourceStore;
use engine::script::check_save;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub fn targets() -> Vec<Target> {
    let (bundles, recordings) = (scratch("bundles"), scratch("recordings"));
    let names = OnceCell::new();
    let bundle = move |bytes: &[u8]| {
        let all = || CompiledGame::shared().small_index().entries.into_iter();
        let names = names.get_or_init(|| all().map(|entry| entry.resource).collect::<Vec<_>>());
        read_bundle(&bundles.join("x.bundle"), names, bytes);
    };
    let recording = move |bytes: &[u8]| {
        let path = recordings.join("x.recording");
        fs::write(&path, reframed(bytes)).expect("a scratch file can be written");
        if let Ok(read) = Recording::read(&path) {
            let _ = read.check_game(&read.origin.game, &read.origin.game_version);
        }
    };
    vec![
        Target::new("file.bundle", 128 << 10, bundle),
        Target::new("file.executable", 8 << 10, executable),
        Target::new("file.index", 8 << 10, index),
        Target::new("file.recording", 8 << 10, recording),
        Target::new("file.save", 2 << 10, save),
    ]
}

/// Returns an input with the length and checksum of its frame corrected.
pub fn reframed(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if let Some((head, body)) = out.split_at_mut_checked(FRAME_BYTES) {
        let version = u32::from_le_bytes(head[4..8].try_into().expect("four bytes"));
        head[8..16].copy_from_slice(&(body.len() as u64).to_le_bytes());
        head[16..24].copy_from_slice(&murmur64a(body, version.into()).to_le_bytes());
    }
    out
}

/// Returns an input of frames one after another with the checksum of each corrected, and the length
/// of the last one: an animation and its chunks.
pub fn reframed_parts(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut left) = (Vec::with_capacity(bytes.len()), bytes);
    loop {
        let length = left.get(8..16).map(|it| u64::from_le_bytes(it.try_into().expect("eight")));
        let end = length.and_then(|it| usize::try_from(it).ok()?.checked_add(FRAME_BYTES));
        let Some((part, rest)) = end.and_then(|end| left.split_at_checked(end)) else { break };
        if rest.is_empty() {
            break;
        }
        out.extend(reframed(part));
        left = rest;
    }
    out.extend(reframed(left));
    out
}

/// Reads the headers of an executable, and writes resources into it, which are read back.
fn executable(bytes: &[u8]) {
    let _ = executable_file::inspect(&mut Cursor::new(bytes)).expect("bytes can be read");
    let icon = [(16, vec![1; 10])];
    let version = VersionInfo { version: "1.0".to_string(), ..VersionInfo::default() };
    let resources = WindowsResources { icon: &icon, version: &version };
    if let Ok(written) = pe_resources::write(bytes, &resources) {
        let found = executable_file::inspect(&mut Cursor::new(&written));
        let found = found.expect("bytes can be read").expect("it is still an executable");
        assert_eq!((found.format, found.signature), (ExecutableFormat::Pe, None));
    }
}

fn index(bytes: &[u8]) {
    let Ok(index) = ResourceIndex::from_bytes(&reframed(bytes)) else { return };
    for entry in &index.entries {
        let _ = (index.variants(&entry.resource).len(), index.failure(&entry.resource));
        index.named_by(&entry.resource).len();
    }
    let again = ResourceIndex::from_bytes(&index.to_bytes()).expect("what was written is read");
    assert_eq!(again, index);
}

/// Reads a save of two frames, each corrected in place.
fn save(bytes: &[u8]) {
    let mut out = bytes.to_vec();
    if let Some(head) = bytes.get(8..16) {
        let length = u64::from_le_bytes(head.try_into().expect("eight bytes")) as usize;
        let end = length.saturating_add(FRAME_BYTES).min(bytes.len());
        out = reframed(&bytes[..end]);
        out.extend(reframed(&bytes[end..]));
    }
    let files = BTreeMap::from([("auto.1.save".to_string(), out)]);
    let mut saves = Saves::in_memory(files, "1.2");
    let slot = SaveSlot::new("auto").expect("a good name");
    let _ = saves.list();
    for version in [NewerVersions::Any, NewerVersions::NotNewer] {
        let _ = saves.read(&slot, version, check_save);
    }
    if let Err(message) = saves.write(&slot, b"newer", 1.0, NewerVersions::Any) {
        assert!(message.contains("written by a newer engine"), "{message}");
        return;
    }
    let loaded = saves.read(&slot, NewerVersions::NotNewer, |_| Ok(())).expect("it was written");
    assert_eq!(loaded.content, b"newer");
}

/// Opens a bundle, reads every part, and looks resources up by name, as a game does.
fn read_bundle(path: &Path, names: &[ResourceName], bytes: &[u8]) {
    fs::write(path, forged_bundle(bytes)).expect("a scratch file can be written");
    let Ok(bundle) = contained(|| Bundle::open(path, &KINDS, platform::NAME)) else { return };
    for (at, part) in bundle.parts().iter().enumerate() {
        assert!(bundle.variants(part.id).contains(&at));
        let _ = contained(|| bundle.read(at));
    }
    let mut store = ResourceStore::from_bundle(Arc::new(bundle));
    for name in names {
        if store.has(name) {
            let _ = store.path(name);
            let _ = contained(|| store.read(name));
        }
    }
}

/// A part in the bytes of a bundle: the index of its kind, its data, and the offset of the data's
/// checksum.
struct Part {
    kind: u8,
    data: Range<usize>,
    sum: usize,
}

/// Returns the parts of a bundle, as far as its head can be read.
fn parts(head: &[u8], data: Range<usize>) -> Result<Vec<Part>, Error> {
    let mut reader = BlobReader::new(&head[FRAME_BYTES.min(head.len())..]);
    reader.text()?;
    reader.u64()?;
    for _ in 0..3 {
        reader.text()?;
    }
    reader.list(|reader| {
        reader.u64()?;
        reader.list(|reader| reader.u64())?;
        let kind = reader.u8()?;
        let (start, bytes) = (reader.u64()? as usize, reader.u64()? as usize);
        let sum = head.len() - reader.remaining();
        reader.u64()?;
        reader.text()?;
        let start = data.start.saturating_add(start).min(data.end);
        Ok(Part { kind, data: start..start.saturating_add(bytes).min(data.end), sum })
    })
}

/// Returns a bundle with the checksums of its parts, its head and its end corrected.
fn forged_bundle(bytes: &[u8]) -> Vec<u8> {
    const TRAILER_BYTES: usize = 24;
    const ALIGNMENT: usize = 16;
    let mut out = bytes.to_vec();
    let Some(data_end) = out.len().checked_sub(TRAILER_BYTES) else { return out };
    if let Some(length) = out.get(8..16).filter(|_| data_end >= FRAME_BYTES) {
        let length = u64::from_le_bytes(length.try_into().expect("eight bytes")) as usize;
        let framed = length.saturating_add(FRAME_BYTES).min(data_end);
        let data = framed.next_multiple_of(ALIGNMENT).min(data_end)..data_end;
        for Part { kind, data, sum } in parts(&out[..framed], data).unwrap_or_default() {
            if let Some(kind) = KINDS.0.get(usize::from(kind)) {
                let forged = data::forged(kind.name, &out[data.clone()]).into_owned();
                out[data.clone()].copy_from_slice(&forged);
            }
            let right = murmur64a(&out[data], 0).to_le_bytes();
            out[sum..sum + right.len()].copy_from_slice(&right);
        }
        let head = reframed(&out[..framed]);
        out[..framed].copy_from_slice(&head);
    }
    let all = out.len() as u64;
    let end = &mut out[data_end..];
    end[..8].copy_from_slice(b"EBDL end");
    end[8..16].copy_from_slice(&all.to_le_bytes());
    let sum = murmur64a(&end[..16], VERSION.into());
    end[16..].copy_from_slice(&sum.to_le_bytes());
    out
}

/// Checks that a changed part of a bundle is judged by its content, and not by its checksum.
#[test]
fn changed_bundle_parts_pass_checksum_verification() {
    let _alone = super::lock_measurement();
    let good = super::seeds_of("file.bundle", 128 << 10).pop().expect("there is a bundle");
    let path = scratch("changed").join("x.bundle");
    let mut judged = 0;
    let data = good.len() / 2..good.len() - 24;
    for at in data.step_by(97) {
        let mut changed = good.clone();
        changed[at] ^= 1;
        fs::write(&path, forged_bundle(&changed)).expect("a scratch file can be written");
        let bundle = Bundle::open(&path, &KINDS, platform::NAME).expect("its head is as it was");
        for part in 0..bundle.parts().len() {
            let message = bundle.read(part).err().map(|error| error.message).unwrap_or_default();
            assert!(!message.contains("get it again"), "{at}: {message}");
            judged += usize::from(!message.is_empty());
        }
    }
    assert!(judged > 0, "no change was refused by a validator");
    super::remove_scratch();
}
