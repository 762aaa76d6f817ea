//! Format of a recording's file: writing, and reading with checks.

use super::{
    FRAMES_MAX, MAGIC, NOTES_MAX, ObjectDifference, RecordedFailure, RecordedFrame, Recording,
    RecordingOrigin,
};
use super::{PREVIOUS_VERSION, VERSION};
use crate::frame_input::FrameInput;
use crate::recording::saved_state::InitialSaves;
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::error;
use engine_runtime::HashedSystem;

/// Maximum duration of a frame, in seconds: thirty years.
const MEASURED_SECONDS_MAX: f64 = 1e9;

/// Reads a measured duration, in seconds.
fn read_measured(reader: &mut BlobReader) -> Result<f64, Error> {
    let measured = reader.f64()?;
    match (0.0..=MEASURED_SECONDS_MAX).contains(&measured) {
        true => Ok(measured),
        false => Err(error!("it is damaged: a frame took {measured} seconds")),
    }
}

impl RecordedFrame {
    fn read(reader: &mut BlobReader) -> Result<RecordedFrame, Error> {
        let (measured, input) = (read_measured(reader)?, FrameInput::read(reader)?);
        let mut hashes = [0; HashedSystem::COUNT];
        for hash in &mut hashes {
            *hash = reader.u64()?;
        }
        let changes = reader.list(|reader| {
            let (system, object, hash) = (reader.u8()?, reader.u64()?, reader.u32()?);
            match usize::from(system) < HashedSystem::COUNT {
                true => Ok(ObjectDifference { system, object, hash }),
                false => Err(error!("it is damaged: there is no system {system}")),
            }
        })?;
        Ok(RecordedFrame { measured, input, hashes, changes })
    }
}

/// Reads an optional value, stored as a list of at most one item.
fn at_most_one<T>(
    reader: &mut BlobReader,
    read: impl FnMut(&mut BlobReader) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let mut items = reader.list(read)?;
    match items.len() {
        0 | 1 => Ok(items.pop()),
        count => Err(error!("it is damaged: it has {count} ends")),
    }
}

impl RecordedFailure {
    fn read(reader: &mut BlobReader) -> Result<RecordedFailure, Error> {
        let message = reader.text()?.to_string();
        let frame =
            at_most_one(reader, |reader| Ok((read_measured(reader)?, FrameInput::read(reader)?)))?;
        Ok(RecordedFailure { frame, message })
    }
}

impl Recording {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        let origin = &self.origin;
        for text in [&origin.game, &origin.game_version, &origin.engine_version, &origin.boot] {
            writer.text(text);
        }
        writer.u64(origin.content);
        writer.u64(origin.seed);
        writer.u8(u8::from(origin.display));
        origin.input.write(&mut writer);
        writer.list(&origin.arguments, |writer, text| writer.text(text));
        writer.list(&self.frames, |writer, frame| {
            writer.f64(frame.measured);
            frame.input.write(writer);
            for hash in frame.hashes {
                writer.u64(hash);
            }
            writer.list(&frame.changes, |writer, change| {
                writer.u8(change.system);
                writer.u64(change.object);
                writer.u32(change.hash);
            });
        });
        writer.u64(self.frames_with_changes as u64);
        self.initial_saves.write(&mut writer);
        let failures: Vec<_> = self.failure.iter().collect();
        writer.list(&failures, |writer, failure| {
            writer.text(&failure.message);
            let frames: Vec<_> = failure.frame.iter().collect();
            writer.list(&frames, |writer, (measured, input)| {
                writer.f64(*measured);
                input.write(writer);
            });
        });
        writer.into_frame(MAGIC, VERSION)
    }

    /// Reads a recording from an untrusted source.
    ///
    /// # Errors
    /// Returns an error if the data is damaged or holds numbers that no run produces.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Recording, Error> {
        let is_old_version = bytes.get(4..8) == Some(&PREVIOUS_VERSION.to_le_bytes()[..]);
        let version = if is_old_version { PREVIOUS_VERSION } else { VERSION };
        let mut reader = BlobReader::new(unframe(bytes, MAGIC, version)?);
        let mut text = || reader.text().map(str::to_string);
        let (game, game_version) = (text()?, text()?);
        let (engine_version, boot) = (text()?, text()?);
        let (content, seed) = (reader.u64()?, reader.u64()?);
        let display = reader.flag()?;
        let input = FrameInput::read(&mut reader)?;
        let arguments = reader.list(|reader| reader.text().map(str::to_string))?;
        let frames = reader.list(RecordedFrame::read)?;
        let frames_with_changes = reader.u64()?;
        let initial_saves = InitialSaves::read(&mut reader)?;
        let failure = at_most_one(&mut reader, RecordedFailure::read)?;
        reader.end()?;
        let changes: usize = frames.iter().map(|frame| frame.changes.len()).sum();
        let right = frames_with_changes <= frames.len() as u64
            && frames.len() <= FRAMES_MAX
            && changes <= NOTES_MAX
            && frames[frames_with_changes as usize..].iter().all(|frame| frame.changes.is_empty());
        if !right {
            return Err(error!(
                "it is damaged: it has {} frames, {changes} notes, and \
                 {frames_with_changes} frames with notes (FRAMES_MAX, NOTES_MAX)",
                frames.len()
            ));
        }
        let frames_with_changes = frames_with_changes as usize;
        let origin = RecordingOrigin {
            game,
            game_version,
            engine_version,
            content,
            seed,
            boot,
            display,
            input,
            arguments,
        };
        Ok(Recording {
            origin,
            frames,
            frames_with_changes,
            initial_saves,
            failure,
            old: is_old_version,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;
    use engine_foundation::blob::FRAME_BYTES;

    #[test]
    fn a_recording_survives_a_round_trip_and_damage_is_detected() {
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
    fn an_impossible_recording_with_a_valid_checksum_is_refused() {
        let check = |change: fn(&mut Recording), wanted: &str| {
            let mut recording = sample();
            change(&mut recording);
            let message = Recording::from_bytes(&recording.to_bytes()).unwrap_err().message;
            assert!(message.contains(wanted), "{message}");
        };
        check(|it| it.frames[0].measured = f64::NAN, "a frame took NaN seconds");
        check(|it| it.frames[0].measured = 1e300, "a frame took 1000");
        check(|it| it.frames[0].changes[0].system = 250, "there is no system 250");
        check(
            |it| it.frames_with_changes = usize::MAX,
            "and 18446744073709551615 frames with notes",
        );
        check(|it| it.frames_with_changes = 1, "2 notes, and 1 frames with notes");
        check(
            |it| it.initial_saves.user_settings = Some(vec![0; 17 << 20]),
            "bytes of saves and user settings (INITIAL_SAVES_BYTES_MAX)",
        );
        let bytes = sample().to_bytes();
        let mut writer = BlobWriter::default();
        bytes[FRAME_BYTES..].iter().for_each(|byte| writer.u8(*byte));
        writer.u8(0);
        let message =
            Recording::from_bytes(&writer.into_frame(MAGIC, VERSION)).unwrap_err().message;
        assert_eq!(message, "it is damaged: 1 bytes follow its end");
    }

    #[test]
    fn a_recording_of_the_previous_version_is_read_and_marked() {
        let bytes = sample().to_bytes();
        let mut writer = BlobWriter::default();
        bytes[FRAME_BYTES..].iter().for_each(|byte| writer.u8(*byte));
        let bytes = writer.into_frame(MAGIC, PREVIOUS_VERSION);
        assert_eq!(Recording::from_bytes(&bytes).unwrap(), Recording { old: true, ..sample() });
    }
}
