//! Recordings: the log of a run that lets it be played again, with a hash of each system's state
//! after each frame. A recording holds no absolute path and no clock, so it replays equal from
//! another folder, in another process, at another pace.

use super::given::Given;
use crate::engine::{Engine, SYSTEMS};
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer, unframe};
use crate::foundation::files::write_safely;
use std::path::Path;

const MAGIC: [u8; 4] = *b"EREC";
/// Of the file's format, and of what is hashed: another engine's hashes would differ.
const VERSION: u32 = 2;
/// The most frames of a recording: more than nine hours at 60 frames a second.
pub const FRAMES_MAX: usize = 2_000_000;

/// What has to be the same for a run to be the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The game's id and version, from its settings.
    pub game: String,
    pub game_version: String,
    pub engine_version: String,
    /// Of all the game's resources; another one is told where a replay diverges.
    pub content: u64,
    pub seed: u64,
    pub boot: String,
    /// Whether a window was shown, and said what it did.
    pub display: bool,
    /// What devices and the window said before the start.
    pub given: Given,
    pub arguments: Vec<String>,
}

/// One frame: what went in, and what came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Seconds that were measured.
    pub measured: f64,
    /// What devices and the window said.
    pub given: Given,
    /// A hash for each of [`SYSTEMS`].
    pub hashes: [u64; SYSTEMS.len()],
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub origin: Origin,
    pub frames: Vec<Frame>,
}

impl Recording {
    pub fn new(origin: Origin) -> Recording {
        Recording { origin, frames: Vec::new() }
    }

    /// Notes the frame that was just played.
    pub fn add(&mut self, measured: f64, given: Given, engine: &mut Engine) -> Result<(), Error> {
        if self.frames.len() == FRAMES_MAX {
            return Err(error!("a recording has at most {FRAMES_MAX} frames (FRAMES_MAX)"));
        }
        self.frames.push(Frame { measured, given, hashes: engine.take_state_hashes() });
        Ok(())
    }

    /// Whether the frame that was just played came out as the recorded one; the words say where
    /// not.
    pub fn check(&self, index: usize, engine: &mut Engine) -> Result<(), String> {
        let (wanted, found) = (self.frames[index].hashes, engine.take_state_hashes());
        let differ = SYSTEMS.iter().zip(wanted.iter().zip(&found));
        let differ = differ.filter(|(_, (wanted, found))| wanted != found);
        let names: Vec<&str> = differ.map(|(name, _)| *name).collect();
        match names.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "the replay differs from the recording in frame {}: {}",
                index + 1,
                names.join(", ")
            )),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        let origin = &self.origin;
        for text in [&origin.game, &origin.game_version, &origin.engine_version, &origin.boot] {
            writer.text(text);
        }
        writer.u64(origin.content);
        writer.u64(origin.seed);
        writer.u8(u8::from(origin.display));
        origin.given.write(&mut writer);
        writer.list(&origin.arguments, |writer, text| writer.text(text));
        writer.list(&self.frames, |writer, frame| {
            writer.f64(frame.measured);
            frame.given.write(writer);
            for hash in frame.hashes {
                writer.u64(hash);
            }
        });
        writer.framed(MAGIC, VERSION)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Recording, Error> {
        let mut reader = Reader::new(unframe(bytes, MAGIC, VERSION)?);
        let mut text = || reader.text().map(str::to_string);
        let (game, game_version) = (text()?, text()?);
        let (engine_version, boot) = (text()?, text()?);
        let (content, seed) = (reader.u64()?, reader.u64()?);
        let display = reader.u8()? != 0;
        let given = Given::read(&mut reader)?;
        let arguments = reader.list(|reader| reader.text().map(str::to_string))?;
        let frames = reader.list(|reader| {
            let measured = reader.f64()?;
            let given = Given::read(reader)?;
            let mut hashes = [0; SYSTEMS.len()];
            for hash in &mut hashes {
                *hash = reader.u64()?;
            }
            match measured.is_finite() && measured >= 0.0 {
                true => Ok(Frame { measured, given, hashes }),
                false => Err(error!("it is damaged: a frame took {measured} seconds")),
            }
        })?;
        let origin = Origin {
            game,
            game_version,
            engine_version,
            content,
            seed,
            boot,
            display,
            given,
            arguments,
        };
        Ok(Recording { origin, frames })
    }

    /// Writes the recording to a file.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let shown = path.display();
        write_safely(path, &self.to_bytes())
            .map_err(|reason| error!("the recording '{shown}' cannot be written: {reason}"))
    }

    /// Reads a recording.
    pub fn read(path: &Path) -> Result<Recording, Error> {
        let shown = path.display();
        let bytes = std::fs::read(path)
            .map_err(|reason| error!("the recording '{shown}' cannot be read: {reason}"))?;
        Recording::from_bytes(&bytes)
            .map_err(|reason| error!("the recording '{shown}' cannot be used: {}", reason.message))
    }

    /// Whether a game is the one that was recorded; the words name both.
    pub fn fits(&self, game: &str, game_version: &str) -> Result<(), Error> {
        let Origin { game: its, game_version: its_version, engine_version, .. } = &self.origin;
        if its != game {
            return Err(error!("the recording is of the game '{its}', and this one is '{game}'"));
        }
        if its_version != game_version {
            return Err(error!(
                "the recording is of version {its_version} of the game, and this one is version \
                 {game_version}"
            ));
        }
        let own = env!("CARGO_PKG_VERSION");
        match engine_version == own {
            true => Ok(()),
            false => Err(error!(
                "the recording was made by version {engine_version} of the engine, and this one is \
                 version {own}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::input::{Event, KEYBOARD, What};
    use crate::system::window::Change;

    fn sample() -> Recording {
        let origin = Origin {
            game: "yard".into(),
            game_version: "1.0".into(),
            engine_version: env!("CARGO_PKG_VERSION").into(),
            content: 7,
            seed: 3,
            boot: "main".into(),
            display: true,
            given: Given { events: Vec::new(), changes: vec![Change::Opened] },
            arguments: vec!["--hard".into()],
        };
        let event = Event { device: KEYBOARD, age: 0.0, what: What::Text("a".into()) };
        let given = Given { events: vec![event], changes: vec![Change::Focus(true)] };
        let frame = Frame { measured: 0.016, given, hashes: [1; SYSTEMS.len()] };
        Recording { origin, frames: vec![frame; 3] }
    }

    #[test]
    fn a_recording_is_read_as_it_was_written_and_damage_is_found() {
        let bytes = sample().to_bytes();
        assert_eq!(Recording::from_bytes(&bytes).unwrap(), sample());
        for length in 0..bytes.len() {
            assert!(Recording::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Recording::from_bytes(&damaged).is_err(), "{at}");
        }
    }

    #[test]
    fn a_recording_of_another_game_or_version_is_refused() {
        let words = |game, version| sample().fits(game, version).unwrap_err().message;
        assert_eq!(
            words("cave", "1.0"),
            "the recording is of the game 'yard', and this one is 'cave'"
        );
        let wanted = "the recording is of version 1.0 of the game, and this one is version 2.0";
        assert_eq!(words("yard", "2.0"), wanted);
        assert!(sample().fits("yard", "1.0").is_ok());
    }
}
