//! Recordings: the log of a run that lets it be replayed, with a hash of each system's state after
//! each frame, and of each object that changed in it. A recording holds no absolute path and no
//! clock time, so it replays identically in another folder, in another process, at another pace.

mod file_format;
pub mod saved_state;

use super::frame_input::FrameInput;
use super::output_files;
use engine_foundation::Error;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::file_access::{self, AccessError, readers};
use engine_runtime::{Engine, FrameState, HashedSystem};
use engine_script::ErrorReport;
use saved_state::InitialSaves;
use std::collections::HashMap;
use std::path::Path;

const MAGIC: [u8; 4] = *b"EREC";
/// Version of the file format and of the hashed state. Hashes of another version would differ.
const VERSION: u32 = 5;
/// The previous version. Its physics hashes cover less state, and its recordings can still be
/// replayed.
const PREVIOUS_VERSION: u32 = 4;
/// Maximum number of frames of a recording: more than nine hours at 60 frames a second.
pub const FRAMES_MAX: usize = 2_000_000;
/// Maximum number of object changes that a recording notes (52 MB). A thousand constantly moving
/// objects reach it after more than a minute, ten after more than two hours. Later frames have only
/// the hashes of systems.
pub const NOTES_MAX: usize = 4_000_000;
/// Maximum number of objects named per system if a replay differs.
const NAMED_MAX: usize = 8;

/// The conditions under which a replay repeats the recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingOrigin {
    /// The game's id and version, from its settings.
    pub game: String,
    pub game_version: String,
    pub engine_version: String,
    /// Hash of all the game's resources. If it changed, the message of a differing replay mentions
    /// this.
    pub content: u64,
    pub seed: u64,
    pub boot: String,
    /// True if a window was open and reported its changes.
    pub display: bool,
    /// Input before the start of the game.
    pub input: FrameInput,
    pub arguments: Vec<String>,
}

/// An object with a state that differs from the previous frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObjectDifference {
    /// Number of its system in [`HashedSystem::ALL`].
    pub system: u8,
    pub object: u64,
    /// Half of the hash of its state, never 0. 0 if the object no longer exists.
    pub hash: u32,
}

/// One frame: its input, and the hashes of its result.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFrame {
    /// Measured duration, in seconds.
    pub measured: f64,
    /// Input of devices and the window.
    pub input: FrameInput,
    /// One hash for each of [`HashedSystem::ALL`].
    pub hashes: [u64; HashedSystem::COUNT],
    /// The objects that changed. Present only in the first [`Recording::frames_with_changes`]
    /// frames.
    pub changes: Vec<ObjectDifference>,
}

/// The error that ended a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFailure {
    /// Duration and input of the frame that failed, or `None` if the game failed at its start.
    pub frame: Option<(f64, FrameInput)>,
    /// The first line of the error's message.
    pub message: String,
}

/// A recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub origin: RecordingOrigin,
    pub frames: Vec<RecordedFrame>,
    /// Number of frames with noted object changes.
    pub frames_with_changes: usize,
    /// Saves and user settings of earlier runs.
    pub initial_saves: InitialSaves,
    /// The error that ended the run, if any.
    pub failure: Option<RecordedFailure>,
    /// True if the recording has the previous version, with other hashes.
    pub old: bool,
}

/// Newest known state of every object, by system and object number: the hash, and the last frame in
/// which the object existed.
#[derive(Default)]
struct KnownHashes(HashMap<(u8, u64), (u32, usize)>);

impl KnownHashes {
    /// Updates the hashes from a frame's state and returns the differences to the frame before.
    fn update(&mut self, state: &FrameState, frame: usize) -> Vec<ObjectDifference> {
        let mut changes = Vec::new();
        for one in &state.objects {
            let hash = truncate_hash(one.hash);
            let (system, object) = (one.system as u8, one.object);
            let known = self.0.insert((system, object), (hash, frame));
            if known.is_none_or(|(old, _)| old != hash) {
                changes.push(ObjectDifference { system, object, hash });
            }
        }
        if self.0.len() > state.objects.len() {
            let first_removed = changes.len();
            self.0.retain(|(system, object), (_, last_frame)| {
                let lives = *last_frame == frame;
                if !lives {
                    changes.push(ObjectDifference { system: *system, object: *object, hash: 0 });
                }
                lives
            });
            changes[first_removed..].sort_by_key(|change| (change.system, change.object));
        }
        changes
    }

    /// Applies the recorded differences of a frame.
    fn apply(&mut self, changes: &[ObjectDifference], frame: usize) {
        for change in changes {
            match change.hash {
                0 => _ = self.0.remove(&(change.system, change.object)),
                hash => _ = self.0.insert((change.system, change.object), (hash, frame)),
            }
        }
    }

    /// Returns a message for each object of a system that differs from the known hashes.
    fn differences(
        &self,
        system: HashedSystem,
        state: &FrameState,
        engine: &Engine,
    ) -> Vec<String> {
        let own = |one: &&engine_runtime::ObjectState| one.system == system;
        let mut messages = Vec::new();
        for one in state.objects.iter().filter(own) {
            let name = || engine.state_name(system, one.object);
            match self.0.get(&(system as u8, one.object)) {
                None => messages.push(format!("{}, which the recording does not have", name())),
                Some((hash, _)) if *hash != truncate_hash(one.hash) => messages.push(name()),
                Some(_) => {}
            }
        }
        let there = |object| state.objects.iter().filter(own).any(|one| one.object == object);
        let known = self.0.keys().filter(|(of, _)| *of == system as u8);
        let mut missing: Vec<u64> = known.map(|(_, object)| *object).collect();
        missing.retain(|object| !there(*object));
        missing.sort_compact();
        let missing = missing.into_iter().map(|object| engine.state_name(system, object));
        messages.extend(missing.map(|name| format!("{name}, which does not exist now")));
        messages
    }
}

/// Returns half of a hash, never 0.
fn truncate_hash(hash: u64) -> u32 {
    (hash as u32).max(1)
}

/// Returns the first line of an error's message without memory addresses, which differ in each
/// process.
fn first_line(report: &ErrorReport) -> String {
    let line = report.message.lines().next().unwrap_or_default();
    let mut parts = line.split("0x");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        text += "0x";
        text += part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    text
}

/// A recording in progress.
pub struct Recorder {
    pub recording: Recording,
    known: KnownHashes,
    change_count: usize,
}

impl Recorder {
    pub fn new(origin: RecordingOrigin, initial_saves: InitialSaves) -> Recorder {
        let (frames, frames_with_changes, failure) = (Vec::new(), 0, None);
        let recording =
            Recording { origin, frames, frames_with_changes, initial_saves, failure, old: false };
        Recorder { recording, known: KnownHashes::default(), change_count: 0 }
    }

    /// Records the frame that was just played.
    pub fn add(
        &mut self,
        measured: f64,
        input: FrameInput,
        engine: &mut Engine,
    ) -> Result<(), Error> {
        let Recording { frames, frames_with_changes, .. } = &mut self.recording;
        if frames.len() == FRAMES_MAX {
            return Err(error!("a recording has at most {FRAMES_MAX} frames (FRAMES_MAX)"));
        }
        let state = engine.take_state();
        let mut changes = Vec::new();
        if *frames_with_changes == frames.len() {
            changes = self.known.update(&state, *frames_with_changes);
            self.change_count += changes.len();
            match self.change_count > NOTES_MAX {
                true => changes.clear(),
                false => *frames_with_changes += 1,
            }
        }
        frames.push(RecordedFrame { measured, input, hashes: state.hashes, changes });
        Ok(())
    }

    /// Records the error that ends the run, with the duration and input of the frame in which it
    /// occurred.
    pub fn fail(&mut self, frame: Option<(f64, FrameInput)>, report: &ErrorReport) {
        self.recording.failure = Some(RecordedFailure { frame, message: first_line(report) });
    }
}

/// A replay in progress.
pub struct Replay {
    pub recording: Recording,
    next: usize,
    known: KnownHashes,
    /// True if the error that ends the recording has occurred.
    has_failed: bool,
}

impl Replay {
    pub fn new(recording: Recording) -> Replay {
        Replay { recording, next: 0, known: KnownHashes::default(), has_failed: false }
    }

    /// Returns the number of frames compared.
    pub fn played(&self) -> usize {
        self.next
    }

    /// Returns the duration and the input of the next frame, or `None` at the end of the recording.
    pub fn frame(&self) -> Option<(f64, FrameInput)> {
        let Recording { frames, failure, .. } = &self.recording;
        match frames.get(self.next) {
            Some(frame) => Some((frame.measured, frame.input.clone())),
            None if self.next > frames.len() || self.has_failed => None,
            None => failure.as_ref().and_then(|failure| failure.frame.clone()),
        }
    }

    /// Returns true if the next frame is the last complete one.
    pub fn is_last(&self) -> bool {
        self.next + 1 == self.recording.frames.len()
    }

    /// Compares an error with the one that ended the recording, and returns a message if they
    /// differ. `started` is false if the game failed at its start.
    pub fn fail(&mut self, started: bool, report: &ErrorReport) -> Result<(), String> {
        let Recording { frames, failure, .. } = &self.recording;
        let location = self.failure_location(started);
        let message = first_line(report);
        match failure {
            Some(known) if self.next == frames.len() && known.frame.is_some() == started => {
                if known.message != message {
                    return Err(format!(
                        "the replay fails {location}, as the recording does, with another error\n  \
                         {message}\n  the recording's was: {}",
                        known.message
                    ));
                }
                self.has_failed = true;
                Ok(())
            }
            _ => Err(format!("the replay fails {location}, and the recording does not: {message}")),
        }
    }

    fn failure_location(&self, started: bool) -> String {
        match started {
            true => format!("in frame {}", self.next + 1),
            false => "when the game starts".to_string(),
        }
    }

    /// Returns true if the error that ends the recording has occurred.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Returns a message if the recording ends with an error that did not occur in the replay.
    pub fn end(&self) -> Result<(), String> {
        match &self.recording.failure {
            Some(failure) if !self.has_failed => {
                let at = match failure.frame {
                    Some(_) => format!("in frame {}", self.recording.frames.len() + 1),
                    None => "when the game starts".to_string(),
                };
                Err(format!(
                    "the recording ends with an error {at}, which the replay does not reach: {}",
                    failure.message
                ))
            }
            _ => Ok(()),
        }
    }

    /// Compares the frame that was just played with the recorded one, and returns a message with
    /// the differences if there are any.
    pub fn check(&mut self, engine: &mut Engine) -> Result<(), String> {
        let at = self.next;
        self.next += 1;
        let Some(frame) = self.recording.frames.get(at) else { return self.end() };
        self.known.apply(&frame.changes, at);
        let state = engine.take_state();
        let differs = |system: &HashedSystem| {
            frame.hashes[*system as usize] != state.hashes[*system as usize]
        };
        let systems: Vec<HashedSystem> = HashedSystem::ALL.into_iter().filter(differs).collect();
        if systems.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = systems.iter().map(|system| system.name()).collect();
        let (number, names) = (at + 1, names.join(", "));
        let mut message =
            format!("the replay differs from the recording in frame {number}: {names}");
        let Recording { frames_with_changes, old: is_old_version, .. } = self.recording;
        if is_old_version {
            message += "\n  an older engine made it, which compared less of physics";
        }
        if at >= frames_with_changes {
            message += &format!(
                "\n  which objects differ is known only for the first {frames_with_changes} frames"
            );
            return Err(message);
        }
        for system in systems {
            let differences = self.known.differences(system, &state, engine);
            let more = differences.len().saturating_sub(NAMED_MAX);
            for difference in differences.iter().take(NAMED_MAX) {
                message += &format!("\n  {}: {difference}", system.name());
            }
            if more > 0 {
                message += &format!("\n  {}: and {more} more", system.name());
            }
        }
        Err(message)
    }
}

/// Adds to the message of a differing replay that the game's files changed.
pub fn changed_since(message: &str) -> String {
    let (first, rest) = message.split_at(message.find('\n').unwrap_or(message.len()));
    format!("{first} (the game's files changed since the recording){rest}")
}

impl Recording {
    /// Writes the recording to a file.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let shown = path.display();
        output_files::write(path, &self.to_bytes())
            .map_err(|reason| error!("the recording '{shown}' cannot be written: {reason}"))
    }

    /// Reads a recording.
    pub fn read(path: &Path) -> Result<Recording, Error> {
        Recording::from_read(path, file_access::read_named(path, &readers::RECORDING))
    }

    /// Reads a recording by its path relative to a game's folder.
    pub fn read_in(root: &Path, path: &str) -> Result<Recording, Error> {
        let read = file_access::read(root, path, &readers::TEST_RECORDING);
        Recording::from_read(&root.join(path), read)
    }

    fn from_read(path: &Path, read: Result<Vec<u8>, AccessError>) -> Result<Recording, Error> {
        let shown = path.display();
        let bytes =
            read.map_err(|reason| error!("the recording '{shown}' cannot be read: {reason}"))?;
        Recording::from_bytes(&bytes)
            .map_err(|reason| error!("the recording '{shown}' cannot be used: {}", reason.message))
    }

    /// Checks that a game is the recorded one. The error message names both.
    pub fn check_game(&self, game: &str, game_version: &str) -> Result<(), Error> {
        let RecordingOrigin { game: its, game_version: its_version, engine_version, .. } =
            &self.origin;
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
pub mod tests {
    use super::*;
    use engine_input::{EventKind, InputEvent, KEYBOARD};
    use engine_runtime::ObjectState;
    use engine_window::WindowChange;

    pub fn sample() -> Recording {
        let origin = RecordingOrigin {
            game: "yard".into(),
            game_version: "1.0".into(),
            engine_version: env!("CARGO_PKG_VERSION").into(),
            content: 7,
            seed: 3,
            boot: "main".into(),
            display: true,
            input: FrameInput { events: Vec::new(), changes: vec![WindowChange::Opened] },
            arguments: vec!["--hard".into()],
        };
        let event = InputEvent { device: KEYBOARD, age: 0.0, kind: EventKind::Text("a".into()) };
        let input = FrameInput { events: vec![event], changes: vec![WindowChange::Focus(true)] };
        let changes = vec![ObjectDifference { system: 2, object: 7, hash: 9 }];
        let frame = RecordedFrame {
            measured: 0.016,
            input: input.clone(),
            hashes: [1; HashedSystem::COUNT],
            changes,
        };
        let saves = [("best.1.save".to_string(), vec![1, 2])].into();
        let initial_saves = InitialSaves { saves, user_settings: Some(b"loud = true".to_vec()) };
        let failure = Some(RecordedFailure { frame: Some((0.5, input)), message: "boom".into() });
        let beyond = RecordedFrame { changes: Vec::new(), ..frame.clone() };
        let frames = vec![frame.clone(), frame, beyond];
        Recording { origin, frames, frames_with_changes: 2, initial_saves, failure, old: false }
    }

    #[test]
    fn the_final_error_is_compared_without_addresses() {
        let report = |message: &str| ErrorReport::from_message(message);
        let mut recorder = Recorder::new(sample().origin, InitialSaves::default());
        recorder.fail(None, &report("no table: 0x7f01 here\nmore"));
        let mut replay = Replay::new(recorder.recording.clone());
        assert!(replay.end().unwrap_err().contains("when the game starts, which the replay does"));
        assert_eq!(replay.fail(false, &report("no table: 0x7f02 here")), Ok(()));
        assert_eq!((replay.end(), replay.frame()), (Ok(()), None));
        let mut replay = Replay::new(recorder.recording);
        let other = replay.fail(false, &report("no chair")).unwrap_err();
        assert!(other.ends_with("no chair\n  the recording's was: no table: 0x here"), "{other}");
        let later = replay.fail(true, &report("no chair")).unwrap_err();
        assert_eq!(later, "the replay fails in frame 1, and the recording does not: no chair");
    }

    #[test]
    fn only_changes_of_objects_are_recorded() {
        let state = |objects: &[(u64, u64)]| FrameState {
            objects: objects
                .iter()
                .map(|&(object, hash)| ObjectState { system: HashedSystem::Worlds, object, hash })
                .collect(),
            ..FrameState::default()
        };
        let (mut written, mut read) = (KnownHashes::default(), KnownHashes::default());
        let frames: [&[(u64, u64)]; 4] =
            [&[(1, 10), (2, 20)], &[(1, 10), (2, 20)], &[(1, 11), (3, 30)], &[]];
        let mut counts = Vec::new();
        for (at, objects) in frames.iter().enumerate() {
            let changes = written.update(&state(objects), at);
            counts.push(changes.len());
            read.apply(&changes, at);
            let hashes = |known: &KnownHashes| {
                let mut all: Vec<_> =
                    known.0.iter().map(|(key, (hash, _))| (*key, *hash)).collect();
                all.sort_compact();
                all
            };
            assert_eq!(hashes(&written), hashes(&read));
        }
        assert_eq!(counts, [2, 0, 3, 2]);
    }

    #[test]
    fn a_recording_of_another_game_or_version_is_refused() {
        let message = |game, version| sample().check_game(game, version).unwrap_err().message;
        assert_eq!(
            message("cave", "1.0"),
            "the recording is of the game 'yard', and this one is 'cave'"
        );
        let wanted = "the recording is of version 1.0 of the game, and this one is version 2.0";
        assert_eq!(message("yard", "2.0"), wanted);
        assert!(sample().check_game("yard", "1.0").is_ok());
    }
}
