//! Counters of characters.

use super::{Animations, Character};
use engine_foundation::counter;

impl Character {
    /// Returns the number of clips in the pose of the last update.
    pub fn samples(&self) -> usize {
        let machine = self.machine.as_ref().filter(|machine| machine.enabled);
        self.playing().len() + machine.map_or(0, |machine| machine.output().samples.len())
    }
}

impl Animations {
    /// Counts the characters whose poses the last update has evaluated, with their samples.
    pub fn count_update(&self) {
        if self.characters.is_empty() {
            return;
        }
        let (mut evaluated, mut samples) = (0, 0);
        for character in self.characters.iter().filter(|it| it.is_due) {
            (evaluated, samples) = (evaluated + 1, samples + character.samples());
        }
        let merged = self.merges.followers.len();
        counter!("animation/evaluated") += evaluated - merged;
        counter!("animation/merged") += merged;
        counter!("animation/samples") += samples;
    }

    /// Counts the characters, and the events since the last call. Called once in each frame.
    pub fn count_frame(&mut self) {
        let [sent, dropped] = self.events.take_counts();
        counter!("animation/characters") += self.characters.len();
        counter!("animation/events") += sent;
        counter!("animation/events_dropped") += dropped;
        let ([chunks, bytes], [read, late]) = (self.streams.resident(), self.streams.take_counts());
        counter!("animation/stream_chunks") += chunks;
        counter!("animation/stream_bytes") += bytes;
        counter!("animation/stream_reads") += read;
        counter!("animation/late_chunks") += late;
    }
}
