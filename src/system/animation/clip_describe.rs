//! Description of a clip for people: its tracks, keys, sizes and error, root motion, beats and
//! events.

use super::animation_data::AnimationData;
use super::clip::Clip;
use super::source::TrackProperty;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Maximum number of beats and of events that a description lists.
const LISTED_MAX: usize = 32;

impl Clip {
    /// Returns the number of tracks of each property that has some, with its noun.
    fn track_counts(&self) -> Vec<String> {
        if let Some(chunks) = self.chunks() {
            return chunks.first().track_counts();
        }
        let nouns = [
            (TrackProperty::Rotation, "rotations"),
            (TrackProperty::Position, "positions"),
            (TrackProperty::Scale, "scales"),
            (TrackProperty::Weight, "weights of morph targets and slots"),
        ];
        let constants = self.constants.tracks.iter().map(|track| track.property);
        let keyframes = self.keyframes.tracks.iter().map(|track| track.property);
        let own = self.tracks.iter().map(|track| track.property);
        let all: Vec<TrackProperty> = constants.chain(keyframes).chain(own).collect();
        let count = |property| all.iter().filter(|it| **it == property).count();
        let counts = nouns.into_iter().map(|(property, noun)| (count(property), noun));
        counts
            .filter(|(count, _)| *count > 0)
            .map(|(count, noun)| format!("{count} {noun}"))
            .collect()
    }

    /// Returns the description, one fact a line.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        let mut line = |line: String| writeln!(text, "  {line}").expect("texts can grow");
        let additive = if self.is_additive() { ", additive" } else { "" };
        let looping = match (self.is_looping(), self.repeats_in_states()) {
            (true, _) => ", loops",
            (false, true) => "",
            (false, false) => ", plays once",
        };
        line(format!("length: {:.3} s{looping}{additive}", self.seconds));
        let stats = self.stats();
        self.describe_tracks().into_iter().for_each(&mut line);
        let (constant, regular) = (stats.constant_tracks, stats.uniform_tracks);
        if constant + regular > 0 {
            line(format!(
                "of these, {constant} are constant, and {regular} have keys in {} regular \
                 keyframes",
                stats.keyframes
            ));
        } else if stats.tracks > 0 {
            line("all of their keys are in one stream".to_string());
        }
        let bytes = self.byte_count();
        line(format!(
            "keys: {}, from {} of the source, {} bytes in the stream, {} points for jumps",
            stats.keys,
            self.source_keys(),
            stats.stream_bytes,
            stats.jump_frames
        ));
        let per_second = bytes as f32 / (self.bone_count() as f32 * self.seconds);
        line(match self.seconds > 0.0 {
            true => format!("size: {bytes} bytes, {per_second:.1} for each bone and second"),
            false => format!("size: {bytes} bytes"),
        });
        self.describe_chunks().into_iter().for_each(&mut line);
        line(format!("error: {:.4} mm", self.error() * 1000.0));
        self.describe_root().into_iter().for_each(&mut line);
        let more = |count: usize| match count.saturating_sub(LISTED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        if !self.beats().is_empty() {
            let times: Vec<String> =
                self.beats().iter().take(LISTED_MAX).map(|time| format!("{time:.3}")).collect();
            line(format!("beats: {} s{}", times.join(", "), more(self.beats().len())));
        }
        let events = self.events();
        for event in events.iter().take(LISTED_MAX) {
            let sound = event.cue.sound.as_ref().map(|name| format!(", sound '{name}'"));
            let effect = event.cue.effect.as_ref().map(|name| format!(", effect '{name}'"));
            let bone = event.cue.bone.as_ref().map(|name| format!(", at bone '{name}'"));
            let cues = [sound, effect, bone].into_iter().flatten().collect::<String>();
            line(format!("event at {:.3} s: '{}'{cues}", event.time, event.name));
        }
        if events.len() > LISTED_MAX {
            line(format!("events:{}", more(events.len())));
        }
        text
    }

    /// Returns the lines about the tracks.
    fn describe_tracks(&self) -> Vec<String> {
        let kinds = self.track_counts();
        let mut lines = vec![match kinds.is_empty() {
            true => "tracks: none, so that the pose is that of the model".to_string(),
            false => format!(
                "tracks: {} ({}), of {} of the {} nodes of the model",
                self.stats().tracks,
                kinds.join(", "),
                self.animated_bones().len(),
                self.bone_count()
            ),
        }];
        let at_rest: BTreeSet<u16> = self.rest_tracks().tracks.iter().map(|it| it.1).collect();
        if !at_rest.is_empty() {
            lines.push(format!(
                "at rest: {} tracks of {} nodes have keys with the pose of the model: they hold \
                 the nodes over animations of lower layers",
                self.rest_tracks().tracks.len(),
                at_rest.len()
            ));
        }
        lines
    }

    /// Returns the line about the chunks of a streamed clip.
    fn describe_chunks(&self) -> Option<String> {
        let chunks = self.chunks()?;
        let all = chunks.all_resident();
        let longest = all.iter().map(|chunk| chunk.seconds).fold(0.0, f32::max);
        let largest = all.iter().map(|chunk| chunk.byte_count()).max().unwrap_or(0);
        let memory = all.iter().map(|chunk| chunk.memory_bytes()).max().unwrap_or(0);
        Some(format!(
            "streamed: {} chunks of up to {longest:.2} s and {largest} bytes ({memory} in memory)",
            chunks.count()
        ))
    }

    /// Returns the lines about root motion.
    fn describe_root(&self) -> Vec<String> {
        if !self.has_root_motion() {
            return Vec::new();
        }
        let moved = self.root_delta(0.0, self.seconds, 0);
        let [x, y, z] = moved.position.to_array();
        let turned = moved.rotation.to_axis_angle().1.to_degrees();
        let keys = self.stats().root_keys;
        let moved =
            format!("root motion: {x:.3}, {y:.3}, {z:.3} m and {turned:.1} degrees, {keys} keys");
        let warning = self.root_warning().map(|warning| format!("warning: {warning}"));
        [moved].into_iter().chain(warning).collect()
    }
}

impl AnimationData {
    /// Returns the description, one fact a line.
    pub fn describe(&self, name: &str) -> String {
        let mut text = format!("animation {name} of {}\n", self.source);
        text += &self.clip.describe();
        if !self.unmatched.is_empty() {
            let bones = self.unmatched.join(", ");
            writeln!(text, "  bones that the skeleton lacks, left out: {bones}")
                .expect("texts can grow");
        }
        for (bone, other) in &self.names {
            writeln!(text, "  bone '{bone}' is '{other}' in other skeletons")
                .expect("texts can grow");
        }
        text
    }
}
