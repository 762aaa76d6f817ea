//! Recordings: the log of a run that lets it be played again, with a hash of each system's state
//! after each frame, and of each object that changed in it. A recording holds no absolute path and
//! no clock, so it replays equal from another folder, in another process, at another pace.

mod form;

use super::earlier::Earlier;
use super::given::Given;
use super::output_files;
use crate::engine::{Engine, SYSTEMS, State};
use crate::error;
use crate::foundation::Error;
use crate::foundation::file_access::{self, Refusal, readers};
use crate::script::Report;
use std::collections::HashMap;
use std::path::Path;

const MAGIC: [u8; 4] = *b"EREC";
/// Of the file's format, and of what is hashed: another engine's hashes would differ.
const VERSION: u32 = 5;
/// The version before, whose hashes of physics are made of less; it is played again, too.
const VERSION_BEFORE: u32 = 4;
/// The most frames of a recording: more than nine hours at 60 frames a second.
pub const FRAMES_MAX: usize = 2_000_000;
/// The most changes of objects that a recording notes, 52 MB of it: a thousand things that move all
/// the time fill it in more than a minute, ten in more than two hours. Frames beyond have the
/// hashes of systems alone.
pub const NOTES_MAX: usize = 4_000_000;
/// How many objects of a system are named where a replay differs.
const NAMED_MAX: usize = 8;

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

/// An object whose state is another one than in the frame before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Note {
    /// Its place in [`SYSTEMS`].
    pub system: u8,
    pub object: u64,
    /// Half of the hash of its state, never 0; 0 where the object is gone.
    pub hash: u32,
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
    /// The objects that changed, of the first [`Recording::noted`] frames.
    pub notes: Vec<Note>,
}

/// The error that ended a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What went into the frame that failed; `None` where the game failed when it started.
    pub frame: Option<(f64, Given)>,
    /// The first line of the error's message.
    pub words: String,
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub origin: Origin,
    pub frames: Vec<Frame>,
    /// Of how many frames the objects are known.
    pub noted: usize,
    /// What the game found of earlier runs.
    pub earlier: Earlier,
    /// How it ended, where an error ended it.
    pub failure: Option<Failure>,
    /// Whether it is of the version before, which other hashes are expected of.
    pub old: bool,
}

/// The newest state of every object, by its system and number: the hash, and the frame that it was
/// seen in last.
#[derive(Default)]
struct Known(HashMap<(u8, u64), (u32, usize)>);

impl Known {
    /// Takes a frame's state in: what is another than before.
    fn update(&mut self, state: &State, frame: usize) -> Vec<Note> {
        let mut notes = Vec::new();
        for one in &state.objects {
            let hash = half(one.hash);
            let known = self.0.insert((one.system, one.object), (hash, frame));
            if known.is_none_or(|(old, _)| old != hash) {
                notes.push(Note { system: one.system, object: one.object, hash });
            }
        }
        if self.0.len() > state.objects.len() {
            let first_gone = notes.len();
            self.0.retain(|(system, object), (_, seen)| {
                let lives = *seen == frame;
                if !lives {
                    notes.push(Note { system: *system, object: *object, hash: 0 });
                }
                lives
            });
            notes[first_gone..].sort_by_key(|note| (note.system, note.object));
        }
        notes
    }

    /// Takes in what was noted of a frame.
    fn apply(&mut self, notes: &[Note], frame: usize) {
        for note in notes {
            match note.hash {
                0 => _ = self.0.remove(&(note.system, note.object)),
                hash => _ = self.0.insert((note.system, note.object), (hash, frame)),
            }
        }
    }

    /// The objects of a system that are not in this state as they are known, in words.
    fn differences(&self, system: usize, state: &State, engine: &Engine) -> Vec<String> {
        let own = |one: &&crate::engine::ObjectState| usize::from(one.system) == system;
        let mut words = Vec::new();
        for one in state.objects.iter().filter(own) {
            let name = || engine.state_name(system, one.object);
            match self.0.get(&(one.system, one.object)) {
                None => words.push(format!("{}, which the recording has not", name())),
                Some((hash, _)) if *hash != half(one.hash) => words.push(name()),
                Some(_) => {}
            }
        }
        let there = |object| state.objects.iter().filter(own).any(|one| one.object == object);
        let known = self.0.keys().filter(|(of, _)| usize::from(*of) == system);
        let mut gone: Vec<u64> = known.map(|(_, object)| *object).collect();
        gone.retain(|object| !there(*object));
        gone.sort_unstable();
        let gone = gone.into_iter().map(|object| engine.state_name(system, object));
        words.extend(gone.map(|name| format!("{name}, which is not there now")));
        words
    }
}

/// Half of a hash, never 0.
fn half(hash: u64) -> u32 {
    (hash as u32).max(1)
}

/// The first line of an error's message, without addresses, which no other process has.
fn first_line(report: &Report) -> String {
    let line = report.message.lines().next().unwrap_or_default();
    let mut parts = line.split("0x");
    let mut words = parts.next().unwrap_or_default().to_string();
    for part in parts {
        words += "0x";
        words += part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    words
}

/// A run that is being recorded.
pub struct Recorder {
    pub recording: Recording,
    known: Known,
    notes: usize,
}

impl Recorder {
    pub fn new(origin: Origin, earlier: Earlier) -> Recorder {
        let (frames, noted, failure) = (Vec::new(), 0, None);
        let recording = Recording { origin, frames, noted, earlier, failure, old: false };
        Recorder { recording, known: Known::default(), notes: 0 }
    }

    /// Notes the frame that was just played.
    pub fn add(&mut self, measured: f64, given: Given, engine: &mut Engine) -> Result<(), Error> {
        let Recording { frames, noted, .. } = &mut self.recording;
        if frames.len() == FRAMES_MAX {
            return Err(error!("a recording has at most {FRAMES_MAX} frames (FRAMES_MAX)"));
        }
        let state = engine.take_state();
        let mut notes = Vec::new();
        if *noted == frames.len() {
            notes = self.known.update(&state, *noted);
            self.notes += notes.len();
            match self.notes > NOTES_MAX {
                true => notes.clear(),
                false => *noted += 1,
            }
        }
        frames.push(Frame { measured, given, hashes: state.hashes, notes });
        Ok(())
    }

    /// Notes the error that ends the run, and what went into the frame that it was met in.
    pub fn fail(&mut self, frame: Option<(f64, Given)>, report: &Report) {
        self.recording.failure = Some(Failure { frame, words: first_line(report) });
    }
}

/// A recording that is played again.
pub struct Replay {
    pub recording: Recording,
    next: usize,
    known: Known,
    /// Whether the error that ends the recording was met.
    has_failed: bool,
}

impl Replay {
    pub fn new(recording: Recording) -> Replay {
        Replay { recording, next: 0, known: Known::default(), has_failed: false }
    }

    /// How many frames were compared.
    pub fn played(&self) -> usize {
        self.next
    }

    /// The seconds that the next frame took, and what went into it; `None` where the recording has
    /// ended.
    pub fn frame(&self) -> Option<(f64, Given)> {
        let Recording { frames, failure, .. } = &self.recording;
        match frames.get(self.next) {
            Some(frame) => Some((frame.measured, frame.given.clone())),
            None if self.next > frames.len() || self.has_failed => None,
            None => failure.as_ref().and_then(|failure| failure.frame.clone()),
        }
    }

    /// Whether the next frame is the last one that comes to its end.
    pub fn is_last(&self) -> bool {
        self.next + 1 == self.recording.frames.len()
    }

    /// Whether an error is the one that ended the recording; the words say how not. `started` is
    /// false for the game's start.
    pub fn fail(&mut self, started: bool, report: &Report) -> Result<(), String> {
        let Recording { frames, failure, .. } = &self.recording;
        let place = self.place(started);
        let words = first_line(report);
        match failure {
            Some(known) if self.next == frames.len() && known.frame.is_some() == started => {
                if known.words != words {
                    return Err(format!(
                        "the replay fails {place}, as the recording does, with another error\n  \
                         {words}\n  the recording's was: {}",
                        known.words
                    ));
                }
                self.has_failed = true;
                Ok(())
            }
            _ => Err(format!("the replay fails {place}, and the recording does not: {words}")),
        }
    }

    fn place(&self, started: bool) -> String {
        match started {
            true => format!("in frame {}", self.next + 1),
            false => "when the game starts".to_string(),
        }
    }

    /// Whether the error that ends the recording was met.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// What is missing where the recording's end was come to.
    pub fn end(&self) -> Result<(), String> {
        match &self.recording.failure {
            Some(failure) if !self.has_failed => {
                let at = match failure.frame {
                    Some(_) => format!("in frame {}", self.recording.frames.len() + 1),
                    None => "when the game starts".to_string(),
                };
                Err(format!(
                    "the recording ends with an error {at}, which the replay does not meet: {}",
                    failure.words
                ))
            }
            _ => Ok(()),
        }
    }

    /// Whether the frame that was just played came out as the recorded one; the words say where
    /// not.
    pub fn check(&mut self, engine: &mut Engine) -> Result<(), String> {
        let at = self.next;
        self.next += 1;
        let Some(frame) = self.recording.frames.get(at) else { return self.end() };
        self.known.apply(&frame.notes, at);
        let state = engine.take_state();
        let differs = |system: &usize| frame.hashes[*system] != state.hashes[*system];
        let systems: Vec<usize> = (0..SYSTEMS.len()).filter(differs).collect();
        if systems.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = systems.iter().map(|system| SYSTEMS[*system]).collect();
        let (number, names) = (at + 1, names.join(", "));
        let mut words = format!("the replay differs from the recording in frame {number}: {names}");
        let Recording { noted, old, .. } = self.recording;
        if old {
            words += "\n  an engine before this one made it, which compared less of physics";
        }
        if at >= noted {
            words += &format!("\n  which objects is known of the first {noted} frames alone");
            return Err(words);
        }
        for system in systems {
            let differences = self.known.differences(system, &state, engine);
            let more = differences.len().saturating_sub(NAMED_MAX);
            for difference in differences.iter().take(NAMED_MAX) {
                words += &format!("\n  {}: {difference}", SYSTEMS[system]);
            }
            if more > 0 {
                words += &format!("\n  {}: and {more} more", SYSTEMS[system]);
            }
        }
        Err(words)
    }
}

/// The words of a replay that differs, where the game is not what it was.
pub fn changed_since(words: &str) -> String {
    let (first, rest) = words.split_at(words.find('\n').unwrap_or(words.len()));
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
        Recording::of_read(path, file_access::read_named(path, &readers::RECORDING))
    }

    /// Reads a recording by its path from a game's folder.
    pub fn read_in(root: &Path, path: &str) -> Result<Recording, Error> {
        let read = file_access::read(root, path, &readers::TEST_RECORDING);
        Recording::of_read(&root.join(path), read)
    }

    fn of_read(path: &Path, read: Result<Vec<u8>, Refusal>) -> Result<Recording, Error> {
        let shown = path.display();
        let bytes =
            read.map_err(|reason| error!("the recording '{shown}' cannot be read: {reason}"))?;
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
pub mod tests {
    use super::*;
    use crate::engine::ObjectState;
    use crate::system::input::{Event, KEYBOARD, What};
    use crate::system::window::Change;

    pub fn sample() -> Recording {
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
        let notes = vec![Note { system: 2, object: 7, hash: 9 }];
        let frame =
            Frame { measured: 0.016, given: given.clone(), hashes: [1; SYSTEMS.len()], notes };
        let saves = [("best.1.save".to_string(), vec![1, 2])].into();
        let earlier = Earlier { saves, user_settings: Some(b"loud = true".to_vec()) };
        let failure = Some(Failure { frame: Some((0.5, given)), words: "boom".into() });
        let beyond = Frame { notes: Vec::new(), ..frame.clone() };
        let frames = vec![frame.clone(), frame, beyond];
        Recording { origin, frames, noted: 2, earlier, failure, old: false }
    }

    #[test]
    fn the_error_at_the_end_is_compared_without_addresses() {
        let report = |words: &str| Report::of_words(words);
        let mut recorder = Recorder::new(sample().origin, Earlier::default());
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
    fn objects_are_noted_when_they_come_change_and_go_and_at_no_other_time() {
        let state = |objects: &[(u64, u64)]| State {
            objects: objects
                .iter()
                .map(|(object, hash)| ObjectState { system: 2, object: *object, hash: *hash })
                .collect(),
            ..State::default()
        };
        let (mut written, mut read) = (Known::default(), Known::default());
        let frames: [&[(u64, u64)]; 4] =
            [&[(1, 10), (2, 20)], &[(1, 10), (2, 20)], &[(1, 11), (3, 30)], &[]];
        let mut counts = Vec::new();
        for (at, objects) in frames.iter().enumerate() {
            let notes = written.update(&state(objects), at);
            counts.push(notes.len());
            read.apply(&notes, at);
            let hashes = |known: &Known| {
                let mut all: Vec<_> =
                    known.0.iter().map(|(key, (hash, _))| (*key, *hash)).collect();
                all.sort_unstable();
                all
            };
            assert_eq!(hashes(&written), hashes(&read));
        }
        assert_eq!(counts, [2, 0, 3, 2]);
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
