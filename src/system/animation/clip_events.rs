//! Events and beats of a clip, and the progress of time through it.

use super::clip::Clip;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::{Error, error};

/// Maximum number of events of a clip.
pub const EVENTS_MAX: usize = 1024;
/// Maximum number of beats of a clip.
pub const BEATS_MAX: usize = 1024;
/// Maximum length in bytes of the name of an event, and of the names in its cue.
pub const EVENT_NAME_BYTES_MAX: usize = 256;
/// Maximum number of whole loops for which one call reports events. A clip of a few milliseconds
/// in a slow frame would report thousands of events.
pub const EVENT_LOOPS_MAX: u32 = 4;
/// Maximum number of loops in one step of time.
pub const LOOPS_MAX: i32 = 1_000_000;

/// Sound and particle effect that are played when an event is sent. Events of clips and of state
/// machines have the same cues.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventCue {
    /// Name of the sound.
    pub sound: Option<String>,
    /// Name of the particle effect.
    pub effect: Option<String>,
    /// Name of the bone where they are played. `None` is the first node of the unit.
    pub bone: Option<String>,
    /// True if they follow the bone. Otherwise they stay where they began.
    pub link: bool,
}

impl EventCue {
    /// Keys of a cue in files.
    pub const KEYS: [&'static str; 4] = ["sound", "effect", "bone", "link"];

    /// Returns true if nothing is played.
    pub fn is_empty(&self) -> bool {
        self.sound.is_none() && self.effect.is_none()
    }

    /// Checks the names.
    ///
    /// # Errors
    /// Returns an error if a name is empty or long, or if there is a bone and nothing to play.
    pub fn check(&self) -> Result<(), Error> {
        let texts = [("sound", &self.sound), ("effect", &self.effect), ("bone", &self.bone)];
        for (key, text) in texts {
            let bytes = text.as_ref().map_or(1, String::len);
            if !(1..=EVENT_NAME_BYTES_MAX).contains(&bytes) {
                return Err(error!(
                    "'{key}' of an event has {bytes} bytes: use 1 to {EVENT_NAME_BYTES_MAX} \
                     (EVENT_NAME_BYTES_MAX)"
                ));
            }
        }
        if self.is_empty() && (self.bone.is_some() || self.link) {
            let key = if self.bone.is_some() { "bone" } else { "link" };
            return Err(error!("'{key}' of an event needs a 'sound' or an 'effect'"));
        }
        Ok(())
    }

    /// Writes the compiled form.
    pub fn write(&self, writer: &mut BlobWriter) {
        for text in [&self.sound, &self.effect, &self.bone] {
            writer.u8(u8::from(text.is_some()));
            text.iter().for_each(|text| writer.text(text));
        }
        writer.u8(u8::from(self.link));
    }

    /// Reads the compiled form.
    ///
    /// # Errors
    /// Returns an error if a name is not valid.
    pub fn read(reader: &mut BlobReader) -> Result<EventCue, Error> {
        let mut optional = || match reader.flag()? {
            true => reader.text().map(|text| Some(text.to_string())),
            false => Ok(None),
        };
        let (sound, effect, bone) = (optional()?, optional()?, optional()?);
        let cue = EventCue { sound, effect, bone, link: reader.flag()? };
        cue.check().map(|()| cue).map_err(|error| error!("it is damaged: {}", error.message))
    }
}

/// Event at a time of a clip.
#[derive(Clone, PartialEq, Debug)]
pub struct ClipEvent {
    pub name: String,
    /// Seconds from the start of the clip.
    pub time: f32,
    pub cue: EventCue,
    /// Line of its file; 0 if the file of the clip does not have it.
    pub line: u32,
}

/// Result of a step of time through a clip.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClipStep {
    /// New time in seconds.
    pub time: f32,
    /// Number of times that the end was crossed; negative in reverse.
    pub loops: i32,
}

impl Clip {
    /// Returns true if the start of the clip follows its end.
    pub fn is_looping(&self) -> bool {
        self.features.looping == Some(true)
    }

    /// Returns true if states of state machines without a setting of their own repeat the clip.
    pub fn repeats_in_states(&self) -> bool {
        self.features.looping != Some(false)
    }

    /// Returns the times of the beats in seconds, ascending.
    pub fn beats(&self) -> &[f32] {
        &self.features.beats
    }

    /// Returns the events, ascending in time.
    pub fn events(&self) -> &[ClipEvent] {
        &self.features.events
    }

    /// Adds a number of seconds to a time. Clips that loop wrap around, others are limited to their
    /// start and end. A negative change plays in reverse. A number that is not finite changes
    /// nothing.
    pub fn step(&self, time: f32, change: f32) -> ClipStep {
        self.step_with(time, change, self.is_looping())
    }

    /// Adds a number of seconds to a time, as [`Clip::step`] does, with or without a loop.
    pub fn step_with(&self, time: f32, change: f32, looping: bool) -> ClipStep {
        let start = if time > 0.0 { time.min(self.seconds) } else { 0.0 };
        let sum = start + change;
        if !sum.is_finite() || self.seconds <= 0.0 {
            return ClipStep { time: start, loops: 0 };
        }
        if !looping {
            return ClipStep { time: sum.clamp(0.0, self.seconds), loops: 0 };
        }
        if change < 0.0 && sum >= 0.0 || change >= 0.0 && sum < self.seconds {
            return ClipStep { time: sum, loops: 0 };
        }
        let most = LOOPS_MAX as f32;
        let loops = (sum / self.seconds).floor().clamp(-most, most);
        let rest = sum - loops * self.seconds;
        // Rounding can move the rest out of the clip.
        let rest = if rest > 0.0 { rest.min(self.seconds) } else { 0.0 };
        match change >= 0.0 && rest == self.seconds {
            true => ClipStep { time: 0.0, loops: (loops as i32 + 1).min(LOOPS_MAX) },
            false => ClipStep { time: rest, loops: loops as i32 },
        }
    }

    /// Appends the indices of the events between two times, in the order in which they occur.
    /// `loops` is how often the end was crossed, negative in reverse: the result of [`Clip::step`].
    ///
    /// Forward, an event at `from` is reported and one at `to` is not, so that consecutive calls
    /// report each event once; an event at the very end is reported when the end is reached. In
    /// reverse it is the other way round. Of more than [`EVENT_LOOPS_MAX`] whole loops, the events
    /// of the last ones are reported. NaN reports nothing.
    pub fn append_events(&self, from: f32, to: f32, loops: i32, found: &mut Vec<u16>) {
        let events = &self.features.events;
        if events.is_empty() || from.is_nan() || to.is_nan() || (from == to && loops == 0) {
            return;
        }
        let end = self.seconds;
        let reverse = loops < 0 || loops == 0 && to < from;
        let append = |found: &mut Vec<u16>, from: f32, to: f32| match reverse {
            false => {
                let inside = |time: f32| from <= time && (time < to || time == to && to == end);
                let indices = (0..events.len()).filter(|index| inside(events[*index].time));
                found.extend(indices.map(|index| index as u16));
            }
            true => {
                let inside = |time: f32| time <= from && (time > to || time == to && to == 0.0);
                let indices = (0..events.len()).rev().filter(|index| inside(events[*index].time));
                found.extend(indices.map(|index| index as u16));
            }
        };
        if loops == 0 {
            return append(found, from, to);
        }
        let whole = (loops.unsigned_abs() - 1).min(EVENT_LOOPS_MAX);
        let (first, last) = if loops > 0 { (0.0, end) } else { (end, 0.0) };
        // An event at the end was reported when the end was reached.
        if from != last {
            append(found, from, last);
        }
        for _ in 0..whole {
            append(found, first, last);
        }
        // At the first moment of the next loop, its first event is still to come.
        if first != to {
            append(found, first, to);
        }
    }
}

/// Returns a length for a message, in whole milliseconds.
pub fn rounded_seconds(seconds: f32) -> f32 {
    (seconds * 1000.0).round() / 1000.0
}

/// Sorts beats and events, and checks their times and names.
///
/// # Errors
/// Fails if there are too many, if a time is not within the clip, or if a name is empty or long.
pub(crate) fn sort_and_check(
    seconds: f32,
    beats: &mut [f32],
    events: &mut [ClipEvent],
) -> Result<(), Error> {
    if beats.len() > BEATS_MAX {
        return Err(error!(
            "it has {} beats, and {BEATS_MAX} are the most (BEATS_MAX)",
            beats.len()
        ));
    }
    if events.len() > EVENTS_MAX {
        return Err(error!(
            "it has {} events, and {EVENTS_MAX} are the most (EVENTS_MAX)",
            events.len()
        ));
    }
    let inside = |time: f32| (0.0..=seconds).contains(&time);
    let end = rounded_seconds(seconds);
    if let Some(beat) = beats.iter().find(|beat| !inside(**beat)) {
        return Err(error!("a beat is at {beat} seconds, and the clip ends at {end}"));
    }
    for event in events.iter() {
        let ClipEvent { name, time, cue, .. } = event;
        if !inside(*time) {
            return Err(error!("event '{name}' is at {time} seconds, and the clip ends at {end}"));
        }
        if name.is_empty() || name.len() > EVENT_NAME_BYTES_MAX {
            return Err(error!(
                "a name of an event at {time} seconds has {} bytes: use 1 to \
                 {EVENT_NAME_BYTES_MAX} (EVENT_NAME_BYTES_MAX)",
                name.len()
            ));
        }
        cue.check()?;
    }
    beats.sort_compact_by(f32::total_cmp);
    events.sort_compact_by(|a, b| a.time.total_cmp(&b.time));
    Ok(())
}
