//! The cache of decoded recordings, up to a memory limit. The least recently used is removed first.
//! Decodes nothing itself.

use super::clip::DecodedClip;
use std::collections::HashMap;
use std::sync::Arc;

/// The most memory of decoded recordings that are not playing.
pub const DECODED_BYTES_MAX: usize = 256 << 20;

/// A recording, and its generation.
pub type ClipKey = (u32, u32);

struct CachedClip {
    /// `None` while it is being decoded, and if it cannot be decoded.
    clip: Option<Arc<DecodedClip>>,
    /// Running number of the last use: a lower number is longer ago.
    used: u64,
}

/// The cached recordings.
pub struct ClipCache {
    entries: HashMap<ClipKey, CachedClip>,
    uses: u64,
    bytes: usize,
    bytes_max: usize,
}

impl ClipCache {
    pub fn new(bytes_max: usize) -> ClipCache {
        ClipCache { entries: HashMap::new(), uses: 0, bytes: 0, bytes_max }
    }

    /// Returns the entry of a recording, if there is one; its value is `None` if the recording is
    /// not decoded.
    pub fn get(&mut self, key: ClipKey) -> Option<Option<Arc<DecodedClip>>> {
        let entry = self.entries.get_mut(&key)?;
        self.uses += 1;
        entry.used = self.uses;
        Some(entry.clip.clone())
    }

    /// Returns true if a recording is ready to be played.
    pub fn has(&self, key: ClipKey) -> bool {
        self.entries.get(&key).is_some_and(|entry| entry.clip.is_some())
    }

    /// Adds a recording. Removes others if they exceed the memory limit.
    pub fn insert(&mut self, key: ClipKey, clip: Option<Arc<DecodedClip>>) {
        self.remove(key);
        self.bytes += bytes(&clip);
        self.uses += 1;
        self.entries.insert(key, CachedClip { clip, used: self.uses });
        while self.bytes > self.bytes_max {
            let idle = |(other, entry): &(&ClipKey, &CachedClip)| {
                let is_unshared =
                    entry.clip.as_ref().is_some_and(|clip| Arc::strong_count(clip) == 1);
                **other != key && is_unshared
            };
            let longest = self.entries.iter().filter(idle).min_by_key(|(_, entry)| entry.used);
            let Some(longest) = longest.map(|(key, _)| *key) else { break };
            self.remove(longest);
        }
    }

    /// Removes older generations of a recording.
    pub fn remove_older(&mut self, (recording, generation): ClipKey) {
        let old = self.entries.keys().filter(|key| key.0 == recording && key.1 != generation);
        let old: Vec<ClipKey> = old.copied().collect();
        old.into_iter().for_each(|key| self.remove(key));
    }

    fn remove(&mut self, key: ClipKey) {
        if let Some(entry) = self.entries.remove(&key) {
            self.bytes -= bytes(&entry.clip);
        }
    }
}

fn bytes(clip: &Option<Arc<DecodedClip>>) -> usize {
    clip.as_ref().map_or(0, |clip| size_of_val(&*clip.frames))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kira::Frame;

    fn clip(frames: usize) -> Option<Arc<DecodedClip>> {
        Some(Arc::new(DecodedClip {
            sample_rate: 48_000,
            frames: vec![Frame::ZERO; frames].into(),
        }))
    }

    #[test]
    fn the_least_recently_played_idle_clip_is_evicted() {
        let mut clip_cache = ClipCache::new(3 * 8 * 100);
        let playing = clip(100);
        clip_cache.insert((0, 0), playing.clone());
        clip_cache.insert((1, 0), clip(100));
        clip_cache.insert((2, 0), clip(100));
        assert!(clip_cache.get((1, 0)).is_some(), "it is used again");
        clip_cache.insert((3, 0), clip(100));
        let there: Vec<bool> = (0..4).map(|i| clip_cache.has((i, 0))).collect();
        assert_eq!(there, [true, true, false, true]);
        clip_cache.insert((4, 0), clip(1000));
        let there: Vec<bool> = (0..5).map(|i| clip_cache.has((i, 0))).collect();
        assert_eq!(there, [true, false, false, false, true], "a large one is kept while it plays");
        drop(playing);
    }

    #[test]
    fn a_replaced_recording_is_evicted() {
        let mut clip_cache = ClipCache::new(1 << 20);
        clip_cache.insert((0, 0), clip(10));
        clip_cache.insert((1, 0), clip(10));
        clip_cache.remove_older((0, 1));
        assert!(!clip_cache.has((0, 0)) && clip_cache.has((1, 0)));
        clip_cache.insert((0, 1), None);
        assert!(clip_cache.get((0, 1)).is_some() && !clip_cache.has((0, 1)));
        assert_eq!(clip_cache.bytes, 80);
    }
}
