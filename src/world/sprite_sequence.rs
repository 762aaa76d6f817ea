//! Sequences of sprites: the frames of a sheet's tag with their times. They are created when they
//! are first requested, and again when their sheet was compiled again.

use super::sprite::Sprites;
use engine_foundation::error;
use engine_foundation::{Error, log};
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::store::ResourceStore;
use engine_textures::{PlayDirection, TextureNumber, Textures};

/// Index of a sequence in the table of all sequences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SequenceNumber(pub u32);

/// Frames of a sheet's tag, in the order of one repetition.
#[derive(Clone, PartialEq, Debug)]
pub struct SpriteSequence {
    pub sheet: String,
    /// Name of the tag. Without a tag, all frames of the sheet are repeated forever.
    pub tag: Option<String>,
    /// Frames, each with its end time in seconds.
    pub frames: Vec<(TextureNumber, f64)>,
    /// Number of repetitions; infinite to repeat forever.
    pub repeats: f64,
    /// Frame that is shown after the last repetition.
    pub rest: u32,
}

impl SpriteSequence {
    /// Returns the duration of one repetition in seconds.
    pub fn seconds(&self) -> f64 {
        self.frames.last().map_or(0.0, |(_, end)| *end)
    }

    /// Returns true if all repetitions are over at a time in seconds.
    pub(super) fn is_over(&self, time: f64) -> bool {
        time >= self.seconds() * self.repeats
    }

    /// Returns the frame that is shown at a time in seconds.
    pub(super) fn frame_at(&self, time: f64) -> u32 {
        if self.is_over(time) {
            return self.rest;
        }
        let at = time % self.seconds();
        let last = self.frames.len() - 1;
        self.frames.partition_point(|(_, end)| *end <= at).min(last) as u32
    }
}

impl Sprites {
    /// Returns the sequence of a sheet's tag. It is created on the first request. Without a tag, it
    /// has all frames.
    ///
    /// # Errors
    /// Returns an error if the sheet or tag does not exist or cannot be read.
    pub fn sequence(
        &mut self,
        textures: &mut Textures,
        store: &mut ResourceStore,
        (sheet, tag): (&str, Option<&str>),
    ) -> Result<SequenceNumber, Error> {
        let known = |it: &SpriteSequence| it.sheet == sheet && it.tag.as_deref() == tag;
        if let Some(index) = self.sequences.iter().position(known) {
            return Ok(SequenceNumber(index as u32));
        }
        let sequence = make_sequence(textures, store, (sheet, tag))?;
        self.sequences.push(sequence);
        Ok(SequenceNumber(self.sequences.len() as u32 - 1))
    }

    /// Applies changed sheets (hot reload). If a sheet is invalid, the error is reported and the
    /// previous version stays.
    pub fn reload_sequences(
        &mut self,
        textures: &mut Textures,
        store: &mut ResourceStore,
        changed: &ChangedResources,
    ) {
        for resource in changed.of(ReloadStep::Sequences) {
            for index in 0..self.sequences.len() {
                let SpriteSequence { sheet, tag, .. } = &self.sequences[index];
                if *sheet != resource.name {
                    continue;
                }
                match make_sequence(textures, store, (sheet, tag.as_deref())) {
                    Ok(sequence) => self.redefine(SequenceNumber(index as u32), sequence),
                    Err(error) => {
                        let note = "sprites that play it continue unchanged";
                        log::error(&format!("{}: {note}", error.message));
                    }
                }
            }
        }
    }
}

fn make_sequence(
    textures: &mut Textures,
    store: &mut ResourceStore,
    (name, tag): (&str, Option<&str>),
) -> Result<SpriteSequence, Error> {
    let sheet = textures.sheet(store, name)?;
    let last = sheet.frames.len() - 1;
    let (from, to, direction, repeat) = match tag {
        None => (0, last, PlayDirection::Forward, 0),
        Some(tag) => {
            let found = sheet.tags.iter().find(|known| known.name == tag).ok_or_else(|| {
                let names = sheet.tags.iter().map(|known| known.name.as_str());
                let near = engine_foundation::suggest::hint_or_names(tag, names);
                error!("the sheet '{name}' has no tag '{tag}'{near}")
            })?;
            (found.from as usize, found.to as usize, found.direction, found.repeat)
        }
    };
    let forward = from..=to;
    // Frames between the first and the last, which are shown once per repetition in each
    // direction.
    let between = from + 1..to.max(from + 1);
    let order: Vec<usize> = match direction {
        PlayDirection::Forward => forward.collect(),
        PlayDirection::Reverse => forward.rev().collect(),
        PlayDirection::PingPong => forward.chain(between.rev()).collect(),
        PlayDirection::PingPongReverse => forward.rev().chain(between).collect(),
    };
    let shown: Vec<(String, f64)> = order
        .iter()
        .map(|at| &sheet.frames[*at])
        .map(|frame| (format!("{name}/{}", frame.name), frame.milliseconds / 1000.0))
        .collect();
    let (mut frames, mut end) = (Vec::new(), 0.0);
    for (frame, seconds) in shown {
        end += seconds;
        frames.push((textures.find(store, &frame)?, end));
    }
    let back = matches!(direction, PlayDirection::PingPong | PlayDirection::PingPongReverse);
    let rest = if back { 0 } else { frames.len() as u32 - 1 };
    let repeats = if repeat == 0 { f64::INFINITY } else { f64::from(repeat) };
    let (sheet, tag) = (name.to_string(), tag.map(str::to_string));
    Ok(SpriteSequence { sheet, tag, frames, repeats, rest })
}
