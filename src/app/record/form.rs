//! The file of a recording: how it is written, and what is checked when it is read.

use super::{FRAMES_MAX, Failure, Frame, MAGIC, NOTES_MAX, Note, Origin, Recording};
use super::{VERSION, VERSION_BEFORE};
use crate::app::earlier::Earlier;
use crate::app::given::Given;
use crate::engine::SYSTEMS;
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer, unframe};

/// The longest that a frame can have taken, in seconds: thirty years.
const MEASURED_SECONDS_MAX: f64 = 1e9;

/// Seconds that were measured.
fn read_measured(reader: &mut Reader) -> Result<f64, Error> {
    let measured = reader.f64()?;
    match (0.0..=MEASURED_SECONDS_MAX).contains(&measured) {
        true => Ok(measured),
        false => Err(error!("it is damaged: a frame took {measured} seconds")),
    }
}

impl Frame {
    fn read(reader: &mut Reader) -> Result<Frame, Error> {
        let (measured, given) = (read_measured(reader)?, Given::read(reader)?);
        let mut hashes = [0; SYSTEMS.len()];
        for hash in &mut hashes {
            *hash = reader.u64()?;
        }
        let notes = reader.list(|reader| {
            let (system, object, hash) = (reader.u8()?, reader.u64()?, reader.u32()?);
            match usize::from(system) < SYSTEMS.len() {
                true => Ok(Note { system, object, hash }),
                false => Err(error!("it is damaged: there is no system {system}")),
            }
        })?;
        Ok(Frame { measured, given, hashes, notes })
    }
}

/// What is there or not, kept as a list.
fn at_most_one<T>(
    reader: &mut Reader,
    read: impl FnMut(&mut Reader) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let mut items = reader.list(read)?;
    match items.len() {
        0 | 1 => Ok(items.pop()),
        count => Err(error!("it is damaged: it has {count} ends")),
    }
}

impl Failure {
    fn read(reader: &mut Reader) -> Result<Failure, Error> {
        let words = reader.text()?.to_string();
        let frame =
            at_most_one(reader, |reader| Ok((read_measured(reader)?, Given::read(reader)?)))?;
        Ok(Failure { frame, words })
    }
}

impl Recording {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
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
            writer.list(&frame.notes, |writer, note| {
                writer.u8(note.system);
                writer.u64(note.object);
                writer.u32(note.hash);
            });
        });
        writer.u64(self.noted as u64);
        self.earlier.write(&mut writer);
        let failures: Vec<_> = self.failure.iter().collect();
        writer.list(&failures, |writer, failure| {
            writer.text(&failure.words);
            let frames: Vec<_> = failure.frame.iter().collect();
            writer.list(&frames, |writer, (measured, given)| {
                writer.f64(*measured);
                given.write(writer);
            });
        });
        writer.framed(MAGIC, VERSION)
    }

    /// Reads a recording, which may come from anybody.
    ///
    /// # Errors
    /// It is damaged, or has numbers that no run has.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Recording, Error> {
        let old = bytes.get(4..8) == Some(&VERSION_BEFORE.to_le_bytes()[..]);
        let version = if old { VERSION_BEFORE } else { VERSION };
        let mut reader = Reader::new(unframe(bytes, MAGIC, version)?);
        let mut text = || reader.text().map(str::to_string);
        let (game, game_version) = (text()?, text()?);
        let (engine_version, boot) = (text()?, text()?);
        let (content, seed) = (reader.u64()?, reader.u64()?);
        let display = reader.flag()?;
        let given = Given::read(&mut reader)?;
        let arguments = reader.list(|reader| reader.text().map(str::to_string))?;
        let frames = reader.list(Frame::read)?;
        let noted = reader.u64()?;
        let earlier = Earlier::read(&mut reader)?;
        let failure = at_most_one(&mut reader, Failure::read)?;
        reader.end()?;
        let notes: usize = frames.iter().map(|frame| frame.notes.len()).sum();
        let right = noted <= frames.len() as u64
            && frames.len() <= FRAMES_MAX
            && notes <= NOTES_MAX
            && frames[noted as usize..].iter().all(|frame| frame.notes.is_empty());
        if !right {
            return Err(error!(
                "it is damaged: it has {} frames, {notes} notes, and {noted} frames with notes \
                 (FRAMES_MAX, NOTES_MAX)",
                frames.len()
            ));
        }
        let noted = noted as usize;
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
        Ok(Recording { origin, frames, noted, earlier, failure, old })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;
    use crate::foundation::blob::FRAME_BYTES;

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
    fn a_recording_that_no_run_made_is_refused_though_its_checksum_is_right() {
        let check = |change: fn(&mut Recording), wanted: &str| {
            let mut recording = sample();
            change(&mut recording);
            let words = Recording::from_bytes(&recording.to_bytes()).unwrap_err().message;
            assert!(words.contains(wanted), "{words}");
        };
        check(|it| it.frames[0].measured = f64::NAN, "a frame took NaN seconds");
        check(|it| it.frames[0].measured = 1e300, "a frame took 1000");
        check(|it| it.frames[0].notes[0].system = 250, "there is no system 250");
        check(|it| it.noted = usize::MAX, "and 18446744073709551615 frames with notes");
        check(|it| it.noted = 1, "2 notes, and 1 frames with notes");
        check(
            |it| it.earlier.user_settings = Some(vec![0; 17 << 20]),
            "bytes of saves and user settings (EARLIER_BYTES_MAX)",
        );
        let bytes = sample().to_bytes();
        let mut writer = Writer::default();
        bytes[FRAME_BYTES..].iter().for_each(|byte| writer.u8(*byte));
        writer.u8(0);
        let words = Recording::from_bytes(&writer.framed(MAGIC, VERSION)).unwrap_err().message;
        assert_eq!(words, "it is damaged: 1 bytes follow its end");
    }

    #[test]
    fn a_recording_of_the_version_before_is_read_and_known_for_one() {
        let bytes = sample().to_bytes();
        let mut writer = Writer::default();
        bytes[FRAME_BYTES..].iter().for_each(|byte| writer.u8(*byte));
        let bytes = writer.framed(MAGIC, VERSION_BEFORE);
        assert_eq!(Recording::from_bytes(&bytes).unwrap(), Recording { old: true, ..sample() });
    }
}
