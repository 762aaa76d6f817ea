//! Jumps of a voice to another position in its recordings.

use super::data::LAYERS_MAX;
use super::voice_loop::loop_region;
use super::voices::{DECLICK_FADE_SECONDS, MixerCommand, VoicePartState, Voices};
use engine_foundation::Handle;

impl Voices {
    /// Moves a voice to a position in the recording of its first layer, in seconds at the original
    /// pitch. The other layers keep the distance that their delays set. A position beyond the end
    /// of a loop is a position in the loop; a layer that does not loop ends there. Returns true if
    /// the voice existed.
    pub fn seek(&mut self, handle: Handle, seconds: f64) -> bool {
        let Some(index) = self.slots.get(handle).map(|index| *index as usize) else {
            return false;
        };
        let voice = self.voices[index].as_ref().expect("its slot is alive");
        let repeats = voice.repeat;
        let layers = &self.library.sounds[voice.sound as usize].definition.layers;
        let parts = &mut self.parts[index * LAYERS_MAX..][..LAYERS_MAX];
        // A voice that waits for its start will begin at the new position.
        let begins_at = parts[0].start_at.max(self.time);
        let first_delay = f64::from(layers[0].delay_seconds);
        for (layer, (rules, part)) in layers.iter().zip(parts).enumerate() {
            if part.state == VoicePartState::Empty {
                continue;
            }
            if std::mem::take(&mut part.sent) {
                let part = (index * LAYERS_MAX + layer) as u32;
                self.commands.push(MixerCommand::Stop { part, seconds: DECLICK_FADE_SECONDS });
            }
            let offset = seconds + first_delay - f64::from(rules.delay_seconds);
            let length = self.library.recordings[part.recording as usize].file.seconds();
            part.start_at = begins_at + (-offset).max(0.0);
            part.seconds = offset.max(0.0);
            part.state = VoicePartState::Playing;
            let repeat = repeats.of(rules.repeat);
            match repeat.map(|repeat| loop_region(repeat, length)) {
                Some((start, end)) if part.seconds >= end => {
                    part.seconds = start + (part.seconds - end) % (end - start);
                }
                None if part.seconds >= length => part.state = VoicePartState::Done,
                _ => {}
            }
        }
        true
    }
}
