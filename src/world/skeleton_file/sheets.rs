//! Sheets that a `.skeleton` file names: their frames become parts, and their tags animations.

use engine_foundation::Error;
use engine_resource::resource_kind::CompileContext;
use engine_textures::PlayDirection;
use engine_textures::sheet_resource::{SheetFrames, SheetTag, read_frames};
use std::collections::BTreeMap;

/// Maximum number of frames that the repetitions of a tag show.
pub const TAG_FRAMES_MAX: usize = 1 << 14;

/// Sheets that were read for a file.
#[derive(Default)]
pub struct Sheets {
    known: BTreeMap<String, SheetFrames>,
}

/// Frames of a tag in the order in which they are shown.
pub struct TagFrames {
    /// Start in seconds and index of each frame.
    pub frames: Vec<(f32, usize)>,
    pub seconds: f32,
    /// True if the tag repeats without end.
    pub loops: bool,
}

impl Sheets {
    /// Returns the frames and tags of a sheet.
    ///
    /// # Errors
    /// Returns an error if the sheet does not exist, or its file is not valid.
    pub fn read(
        &mut self,
        compiling: &mut CompileContext,
        name: &str,
    ) -> Result<&SheetFrames, Error> {
        if !self.known.contains_key(name) {
            let frames = read_frames(compiling, name)?;
            self.known.insert(name.to_string(), frames);
        }
        Ok(&self.known[name])
    }

    /// Returns a sheet that was read before.
    pub fn get(&self, name: &str) -> Option<&SheetFrames> {
        self.known.get(name)
    }
}

/// Returns the frames of a tag with all of its repetitions.
///
/// # Errors
/// Returns a message, which continues a sentence that begins with the sheet, if there are more than
/// [`TAG_FRAMES_MAX`] frames.
pub fn frames_of(sheet: &SheetFrames, tag: &SheetTag) -> Result<TagFrames, String> {
    let forward = tag.from as usize..=tag.to as usize;
    // Frames between the first and the last, which are shown once per repetition in each
    // direction.
    let between = tag.from as usize + 1..(tag.to as usize).max(tag.from as usize + 1);
    let order: Vec<usize> = match tag.direction {
        PlayDirection::Forward => forward.collect(),
        PlayDirection::Reverse => forward.rev().collect(),
        PlayDirection::PingPong => forward.chain(between.rev()).collect(),
        PlayDirection::PingPongReverse => forward.rev().chain(between).collect(),
    };
    let repeats = tag.repeat.max(1) as usize;
    let count = order.len().saturating_mul(repeats);
    if count > TAG_FRAMES_MAX {
        return Err(format!(
            "has the tag '{}' with {count} frames after its repetitions: {TAG_FRAMES_MAX} is the \
             most (TAG_FRAMES_MAX)",
            tag.name
        ));
    }
    let (mut frames, mut milliseconds) = (Vec::new(), 0.0);
    for frame in order.iter().cycle().take(count) {
        frames.push(((milliseconds / 1000.0) as f32, *frame));
        milliseconds += sheet.frames[*frame].1;
    }
    let seconds = (milliseconds / 1000.0) as f32;
    Ok(TagFrames { frames, seconds, loops: tag.repeat == 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_with_too_many_repetitions_are_refused() {
        let frames = vec![("1".to_string(), 100.0), ("2".to_string(), 100.0)];
        let mut tag = SheetTag {
            name: "spin".to_string(),
            from: 0,
            to: 1,
            direction: PlayDirection::Forward,
            repeat: 8192,
        };
        let sheet = SheetFrames { frames, tags: Vec::new() };
        assert_eq!(frames_of(&sheet, &tag).map(|shown| shown.frames.len()), Ok(TAG_FRAMES_MAX));
        tag.repeat = 8193;
        let message = frames_of(&sheet, &tag).map(drop).unwrap_err();
        let wanted = "has the tag 'spin' with 16386 frames after its repetitions: 16384 is the \
                      most (TAG_FRAMES_MAX)";
        assert_eq!(message, wanted);
    }
}
