//! Loops of voices: that of the sound's rules, or one that the game set for a voice.

use super::data::LoopRange;
use super::voices::Voices;
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, Handle, error};

/// The loop of a voice.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum VoiceLoop {
    /// Each layer loops as its sound says.
    #[default]
    AsSound,
    /// All layers play to the end of their recordings.
    Once,
    /// All layers repeat this part.
    Repeat(LoopRange),
}

impl VoiceLoop {
    /// Returns the part that a layer repeats; `rules` is that of its sound.
    pub fn of(self, rules: Option<LoopRange>) -> Option<LoopRange> {
        match self {
            VoiceLoop::AsSound => rules,
            VoiceLoop::Once => None,
            VoiceLoop::Repeat(range) => Some(range),
        }
    }

    pub(super) fn write_hash(self, hash: &mut StateHash) {
        // A loop begins before its end, so the first pair is none.
        let [start, end] = match self {
            VoiceLoop::AsSound => return,
            VoiceLoop::Once => [1.0, 1.0],
            VoiceLoop::Repeat(LoopRange { start_seconds, end_seconds }) => {
                [start_seconds, end_seconds]
            }
        };
        hash.write_f32(start);
        hash.write_f32(end);
    }
}

/// Returns start and end of a loop in a recording of `length` seconds. An invalid loop becomes the
/// whole recording.
pub(super) fn loop_region(repeat: LoopRange, length: f64) -> (f64, f64) {
    let end = match repeat.end_seconds {
        0.0 => length,
        end => f64::from(end).min(length),
    };
    let start = f64::from(repeat.start_seconds);
    if start < end { (start, end) } else { (0.0, length) }
}

impl Voices {
    /// Sets the loop of a voice from the end of the frame on. A voice beyond the end of a new loop
    /// jumps into it. Returns true if the voice existed.
    ///
    /// # Errors
    /// Returns an error if the loop starts after the end of the first layer's recording.
    pub fn set_loop(&mut self, handle: Handle, repeat: VoiceLoop) -> Result<bool, Error> {
        let Some(index) = self.slots.get(handle).map(|index| *index as usize) else {
            return Ok(false);
        };
        let part = &self.parts[index * super::data::LAYERS_MAX];
        let recording = &self.library.recordings[part.recording as usize];
        let length = recording.file.seconds();
        if let VoiceLoop::Repeat(LoopRange { start_seconds, .. }) = repeat
            && f64::from(start_seconds) >= length
        {
            return Err(error!(
                "the loop starts at {start_seconds} seconds, and the recording '{}' is \
                 {length:.3} seconds long",
                recording.name
            ));
        }
        let voice = self.voices[index].as_mut().expect("its slot is alive");
        voice.repeat = repeat;
        // The mixer gets the recordings again, with their new loops.
        voice.stale_choice = true;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voice_loops_as_its_sound_or_as_the_game_sets() {
        let range = |start_seconds, end_seconds| LoopRange { start_seconds, end_seconds };
        let rules = Some(range(1.0, 2.0));
        assert_eq!(VoiceLoop::AsSound.of(rules), rules);
        assert_eq!(VoiceLoop::Once.of(rules), None);
        assert_eq!(VoiceLoop::Repeat(range(0.5, 0.0)).of(None), Some(range(0.5, 0.0)));
    }

    #[test]
    fn a_loop_ends_within_its_recording() {
        let range = |start_seconds, end_seconds| LoopRange { start_seconds, end_seconds };
        assert_eq!(loop_region(range(1.0, 0.0), 3.0), (1.0, 3.0));
        assert_eq!(loop_region(range(1.0, 9.0), 3.0), (1.0, 3.0));
        assert_eq!(loop_region(range(4.0, 9.0), 3.0), (0.0, 3.0));
    }
}
