//! Files that the engine itself writes and reads again: the index of compiled data, recordings,
//! saves, user settings, bundles. Checksums are put right first, as whoever forges a file would.

use super::{Target, scratch};
use engine::app::kinds::KINDS;
use engine::app::record::Recording;
use engine::foundation::blob::FRAME_BYTES;
use engine::foundation::hash::murmur64a;
use engine::resource::bundle::{Bundle, VERSION};
use engine::resource::index::Index;
use engine::resource::save::{Saves, Slot, Version};
use engine::system::platform;
use std::collections::BTreeMap;
use std::fs;

pub fn targets() -> Vec<Target> {
    let (bundles, recordings) = (scratch("bundles"), scratch("recordings"));
    let bundle = move |bytes: &[u8]| {
        let path = bundles.join("x.bundle");
        fs::write(&path, forged_bundle(bytes)).expect("a scratch file can be written");
        let Ok(bundle) = Bundle::open(&path, &KINDS, platform::NAME) else { return };
        for (at, part) in bundle.parts().iter().enumerate() {
            assert!(bundle.variants(part.id).contains(&at));
            let _ = bundle.read(at);
        }
    };
    let recording = move |bytes: &[u8]| {
        let path = recordings.join("x.recording");
        fs::write(&path, reframed(bytes)).expect("a scratch file can be written");
        if let Ok(read) = Recording::read(&path) {
            let _ = read.fits(&read.origin.game, &read.origin.game_version);
        }
    };
    vec![
        Target::new("file.bundle", 64 << 10, bundle),
        Target::new("file.index", 4 << 10, index),
        Target::new("file.recording", 8 << 10, recording),
        Target::new("file.save", 2 << 10, save),
    ]
}

/// An input with its frame's length and checksum put right.
pub fn reframed(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if let Some((head, body)) = out.split_at_mut_checked(FRAME_BYTES) {
        let version = u32::from_le_bytes(head[4..8].try_into().expect("four bytes"));
        head[8..16].copy_from_slice(&(body.len() as u64).to_le_bytes());
        head[16..24].copy_from_slice(&murmur64a(body, version.into()).to_le_bytes());
    }
    out
}

fn index(bytes: &[u8]) {
    let Ok(index) = Index::from_bytes(&reframed(bytes)) else { return };
    for entry in &index.entries {
        let _ = (index.variants(&entry.resource).len(), index.failure(&entry.resource));
        index.named_by(&entry.resource).count();
    }
    let again = Index::from_bytes(&index.to_bytes()).expect("what was written is read");
    assert_eq!(again, index);
}

/// A save of two frames: each is put right where it lies.
fn save(bytes: &[u8]) {
    let mut out = bytes.to_vec();
    if let Some(head) = bytes.get(8..16) {
        let length = u64::from_le_bytes(head.try_into().expect("eight bytes")) as usize;
        let end = length.saturating_add(FRAME_BYTES).min(bytes.len());
        out = reframed(&bytes[..end]);
        out.extend(reframed(&bytes[end..]));
    }
    let files = BTreeMap::from([("auto.1.save".to_string(), out)]);
    let mut saves = Saves::of_files(files, "1.2");
    let slot = Slot::new("auto").expect("a good name");
    let _ = saves.list();
    let check = |bytes: &[u8]| engine::resource::data_kinds::read_tree(bytes).map(|_| ());
    for version in [Version::Any, Version::NotNewer] {
        let _ = saves.read(&slot, version, check);
    }
    saves.write(&slot, b"newer", 1.0, Version::Any).expect("memory can be written to");
    let loaded = saves.read(&slot, Version::NotNewer, |_| Ok(())).expect("it was written");
    assert_eq!(loaded.content, b"newer");
}

/// A bundle with the checksums of its head, its parts and its end put right.
fn forged_bundle(bytes: &[u8]) -> Vec<u8> {
    const TRAILER_BYTES: usize = 24;
    let mut out = bytes.to_vec();
    let Some(data_end) = out.len().checked_sub(TRAILER_BYTES) else { return out };
    if let Some(length) = out.get(8..16).filter(|_| data_end >= FRAME_BYTES) {
        let length = u64::from_le_bytes(length.try_into().expect("eight bytes")) as usize;
        let framed = length.saturating_add(FRAME_BYTES).min(data_end);
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
