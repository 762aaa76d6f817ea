//! Decoded recordings that are kept, up to a limit: what was not played for longest goes first.
//! Decodes nothing itself.

use super::wave::Wave;
use std::collections::HashMap;
use std::sync::Arc;

/// The most memory that decoded recordings take which nobody plays.
pub const DECODED_BYTES_MAX: usize = 256 << 20;

/// A recording and which of its exchanges.
pub type WaveKey = (u32, u32);

struct Entry {
    /// `None` while it is being decoded, and where it cannot be.
    wave: Option<Arc<Wave>>,
    /// Counts uses of all: the lower, the longer ago.
    used: u64,
}

/// What is kept.
pub struct Waves {
    entries: HashMap<WaveKey, Entry>,
    uses: u64,
    bytes: usize,
    bytes_max: usize,
}

impl Waves {
    pub fn new(bytes_max: usize) -> Waves {
        Waves { entries: HashMap::new(), uses: 0, bytes: 0, bytes_max }
    }

    /// What is known of a recording: nothing, or what there is of it.
    pub fn get(&mut self, key: WaveKey) -> Option<Option<Arc<Wave>>> {
        let entry = self.entries.get_mut(&key)?;
        self.uses += 1;
        entry.used = self.uses;
        Some(entry.wave.clone())
    }

    /// Whether a recording is there to be played.
    pub fn has(&self, key: WaveKey) -> bool {
        self.entries.get(&key).is_some_and(|entry| entry.wave.is_some())
    }

    /// Keeps a recording; others go where there is no room for all.
    pub fn put(&mut self, key: WaveKey, wave: Option<Arc<Wave>>) {
        self.remove(key);
        self.bytes += bytes(&wave);
        self.uses += 1;
        self.entries.insert(key, Entry { wave, used: self.uses });
        while self.bytes > self.bytes_max {
            let idle = |(other, entry): &(&WaveKey, &Entry)| {
                let alone = entry.wave.as_ref().is_some_and(|wave| Arc::strong_count(wave) == 1);
                **other != key && alone
            };
            let longest = self.entries.iter().filter(idle).min_by_key(|(_, entry)| entry.used);
            let Some(longest) = longest.map(|(key, _)| *key) else { break };
            self.remove(longest);
        }
    }

    /// Forgets what a recording was before its last exchange.
    pub fn forget_older(&mut self, (recording, generation): WaveKey) {
        let old = self.entries.keys().filter(|key| key.0 == recording && key.1 != generation);
        let old: Vec<WaveKey> = old.copied().collect();
        old.into_iter().for_each(|key| self.remove(key));
    }

    fn remove(&mut self, key: WaveKey) {
        if let Some(entry) = self.entries.remove(&key) {
            self.bytes -= bytes(&entry.wave);
        }
    }
}

fn bytes(wave: &Option<Arc<Wave>>) -> usize {
    wave.as_ref().map_or(0, |wave| size_of_val(&*wave.frames))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kira::Frame;

    fn wave(frames: usize) -> Option<Arc<Wave>> {
        Some(Arc::new(Wave { sample_rate: 48_000, frames: vec![Frame::ZERO; frames].into() }))
    }

    #[test]
    fn what_was_not_played_for_longest_goes_and_what_plays_stays() {
        let mut waves = Waves::new(3 * 8 * 100);
        let playing = wave(100);
        waves.put((0, 0), playing.clone());
        waves.put((1, 0), wave(100));
        waves.put((2, 0), wave(100));
        assert!(waves.get((1, 0)).is_some(), "it is used again");
        waves.put((3, 0), wave(100));
        let there: Vec<bool> = (0..4).map(|i| waves.has((i, 0))).collect();
        assert_eq!(there, [true, true, false, true]);
        waves.put((4, 0), wave(1000));
        let there: Vec<bool> = (0..5).map(|i| waves.has((i, 0))).collect();
        assert_eq!(there, [true, false, false, false, true], "a large one is kept while it plays");
        drop(playing);
    }

    #[test]
    fn an_exchanged_recording_is_forgotten() {
        let mut waves = Waves::new(1 << 20);
        waves.put((0, 0), wave(10));
        waves.put((1, 0), wave(10));
        waves.forget_older((0, 1));
        assert!(!waves.has((0, 0)) && waves.has((1, 0)));
        waves.put((0, 1), None);
        assert!(waves.get((0, 1)).is_some() && !waves.has((0, 1)));
        assert_eq!(waves.bytes, 80);
    }
}
