//! Sounds that a game generates: samples become a recording with a name, which plays like that of a
//! file. Computes no samples.

use super::SoundSystem;
use super::clip::{self, SoundClipData};
use super::container_selection::FRESH;
use super::data::SoundRules;
use super::registry::{LoadedSound, SoundRegistry};
use engine_foundation::memory::limit;
use engine_foundation::{Error, error};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use std::sync::Arc;

/// Maximum number of generated sounds of a game.
pub const GENERATED_SOUNDS_MAX: usize = 4096;

/// Samples of a generated sound.
#[derive(Clone, Copy, Debug)]
pub struct GeneratedSamples<'a> {
    pub sample_rate: u32,
    /// 1 or 2.
    pub channels: u16,
    /// True for samples of 16 bits, false for floats of 32 bits; both in little endian.
    pub is_int16: bool,
    /// The samples of all channels of a frame, then those of the next one.
    pub bytes: &'a [u8],
}

impl GeneratedSamples<'_> {
    /// Returns the samples as a WAV file.
    fn to_wav(self) -> Result<Vec<u8>, Error> {
        let (format, sample_bytes) = if self.is_int16 { (1u16, 2u16) } else { (3, 4) };
        limit::check_room(self.bytes.len().saturating_mul(4))?;
        let length = u32::try_from(self.bytes.len()).ok().filter(|bytes| *bytes < u32::MAX - 36);
        let Some(length) = length else {
            return Err(error!("{} bytes of samples are too many for a sound", self.bytes.len()));
        };
        let frame = self.channels * sample_bytes;
        let mut wav = Vec::with_capacity(44 + self.bytes.len());
        wav.extend(b"RIFF");
        wav.extend((36 + length).to_le_bytes());
        wav.extend(b"WAVEfmt ");
        wav.extend(16u32.to_le_bytes());
        wav.extend(format.to_le_bytes());
        wav.extend(self.channels.to_le_bytes());
        wav.extend(self.sample_rate.to_le_bytes());
        wav.extend(self.sample_rate.saturating_mul(frame.into()).to_le_bytes());
        wav.extend(frame.to_le_bytes());
        wav.extend((sample_bytes * 8).to_le_bytes());
        wav.extend(b"data");
        wav.extend(length.to_le_bytes());
        wav.extend(self.bytes);
        Ok(wav)
    }
}

impl SoundSystem {
    /// Makes a sound of samples, or exchanges the generated sound of the same name.
    ///
    /// # Errors
    /// Returns an error if another sound has the name, if the samples cannot be played, or if there
    /// are too many sounds.
    pub fn set_generated(
        &mut self,
        store: &ResourceStore,
        name: &str,
        samples: GeneratedSamples,
    ) -> Result<(), Error> {
        let library = &mut self.voices.library;
        library.check_generated_name(store, name)?;
        let clip = {
            // The decoder's own tables outlive the game.
            engine_foundation::owner!("resources/data");
            clip::check(samples.to_wav()?)
        };
        let mut clip = clip.map_err(|message| error!("sound '{name}': {message}"))?;
        engine_foundation::owner!("sounds/generated");
        clip.bytes = Arc::from(&clip.bytes[..]);
        if let Some(exchanged) = library.set_generated(name, clip) {
            self.voices.refresh(exchanged);
        }
        Ok(())
    }
}

impl SoundRegistry {
    /// Returns an error if no sound can be generated under a name.
    fn check_generated_name(&self, store: &ResourceStore, name: &str) -> Result<(), Error> {
        if name.is_empty() {
            return Err(error!("a generated sound needs a name, to be triggered by"));
        }
        let known = self.index_of(name);
        if known.is_some_and(|index| self.sounds[index as usize].generated) {
            return Ok(());
        }
        if known.is_some() || store.has(&ResourceName::new(kind_names::SOUND, name)) {
            return Err(error!("the sound '{name}' already exists: use another name"));
        }
        let count = self.sounds.iter().filter(|sound| sound.generated).count();
        match count < GENERATED_SOUNDS_MAX {
            true => Ok(()),
            false => Err(error!(
                "{GENERATED_SOUNDS_MAX} sounds were generated (GENERATED_SOUNDS_MAX): use the name \
                 of one that is not needed any more"
            )),
        }
    }

    /// Adds a generated sound, or exchanges its recording. Returns the index of an exchanged sound.
    fn set_generated(&mut self, name: &str, clip: SoundClipData) -> Option<u32> {
        let own = self.set_recording(name, clip);
        if let Some(index) = self.index_of(name) {
            return Some(index);
        }
        let definition = SoundRules::of_recording();
        self.add_sound(LoadedSound {
            name: name.to_string(),
            memory: vec![FRESH; definition.nodes.len()],
            definition,
            recordings: Vec::new(),
            own: Some(own),
            voices: 0,
            generated: true,
        });
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(bytes: &[u8], is_int16: bool) -> GeneratedSamples<'_> {
        GeneratedSamples { sample_rate: 8000, channels: 1, is_int16, bytes }
    }

    #[test]
    fn samples_become_a_sound_that_can_be_exchanged() {
        let mut sounds = SoundSystem::silent(0, true);
        let store = ResourceStore::default();
        let floats: Vec<u8> = [0.0f32, 0.5, -1.0].iter().flat_map(|it| it.to_le_bytes()).collect();
        sounds.set_generated(&store, "made/a", samples(&floats, false)).unwrap();
        let whole: Vec<u8> = [0i16, 9, -9, 4].iter().flat_map(|it| it.to_le_bytes()).collect();
        sounds.set_generated(&store, "made/a", samples(&whole, true)).unwrap();
        let library = &sounds.voices.library;
        assert_eq!((library.sounds.len(), library.recordings.len()), (1, 1));
        let recording = &library.recordings[0];
        assert_eq!((recording.file.frames, recording.generation), (4, 1));
    }

    #[test]
    fn unplayable_samples_are_refused() {
        let mut sounds = SoundSystem::silent(0, true);
        let store = ResourceStore::default();
        let mut refused = |name: &str, bytes: &[u8]| {
            let refused = sounds.set_generated(&store, name, samples(bytes, false));
            refused.unwrap_err().message
        };
        assert_eq!(refused("", &[0; 4]), "a generated sound needs a name, to be triggered by");
        assert_eq!(refused("a", &[]), "sound 'a': it has no sound in it");
        assert_eq!(
            refused("a", &f32::NAN.to_le_bytes()),
            "sound 'a': it has samples that are not numbers: export it again"
        );
    }
}
