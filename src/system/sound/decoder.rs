//! Decoding beside the game: recordings as a whole, and the beginnings of those that are decoded
//! while they play. The game's thread asks, and takes what came; it waits for nothing.

use super::voices::Start;
use super::wave::{self, Wave, WaveFile};
use super::waves::WaveKey;
use crate::foundation::{Error, fault, log};
use kira::sound::streaming::StreamingSoundHandle;
use kira::sound::{FromFileError, Sound, SoundData};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The most recordings that are decoded while they play: each has a thread of its own.
pub const STREAMS_MAX: usize = 32;

/// A recording that is decoded while it plays.
pub struct Stream {
    pub sound: Box<dyn Sound>,
    pub handle: StreamingSoundHandle<FromFileError>,
}

/// What was decoded.
pub enum Answer {
    Whole(WaveKey, Result<Wave, String>),
    Stream(u64, Result<Stream, String>),
}

enum Request {
    Whole(WaveKey, WaveFile),
    Stream(u64, WaveFile, Box<Start>),
}

/// The game's ends of both threads. Streams have one of their own, for music does not wait until a
/// hundred files are decoded.
pub struct Decoder {
    wholes: Sender<Request>,
    streams: Sender<Request>,
    answers: Receiver<Answer>,
    /// Streams were asked for so often.
    tickets: u64,
    /// How many streams there are.
    places: Arc<AtomicU32>,
}

/// A stream's place among the [`STREAMS_MAX`], until it leaves it or is dropped.
pub struct Place {
    taken: Arc<AtomicU32>,
    left: AtomicBool,
}

impl Place {
    /// Gives the place back. The mixer keeps what has ended until it is given something new.
    pub fn leave(&self) {
        if !self.left.swap(true, Ordering::Relaxed) {
            self.taken.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Default for Decoder {
    fn default() -> Decoder {
        let (answer, answers) = channel();
        let wholes = thread("sound decoder", answer.clone());
        let streams = thread("sound streams", answer);
        Decoder { wholes, streams, answers, tickets: 0, places: Arc::default() }
    }
}

impl Decoder {
    /// Has a recording decoded as a whole.
    pub fn decode(&self, key: WaveKey, file: &WaveFile) {
        // A decoder that is gone has panicked; its words were told.
        let _ = self.wholes.send(Request::Whole(key, file.clone()));
    }

    /// Has a recording begun that is decoded while it plays: the number of its answer, and its
    /// place. `None` where all places are taken.
    pub fn stream(&mut self, file: &WaveFile, start: &Start) -> Option<(u64, Place)> {
        if self.streams() >= STREAMS_MAX {
            return None;
        }
        self.tickets += 1;
        let start = Box::new(start.clone());
        let _ = self.streams.send(Request::Stream(self.tickets, file.clone(), start));
        self.places.fetch_add(1, Ordering::Relaxed);
        Some((self.tickets, Place { taken: self.places.clone(), left: AtomicBool::new(false) }))
    }

    /// How many streams there are.
    pub fn streams(&self) -> usize {
        self.places.load(Ordering::Relaxed) as usize
    }

    /// What came since this was asked last.
    pub fn take(&self) -> Vec<Answer> {
        self.answers.try_iter().collect()
    }
}

/// A thread that does what it is asked, one after the other.
fn thread(name: &str, answers: Sender<Answer>) -> Sender<Request> {
    let (requests, asked) = channel::<Request>();
    let run = move || {
        while let Ok(request) = asked.recv() {
            let answer = match request {
                Request::Whole(key, file) => Answer::Whole(key, contained(|| wave::decode(&file))),
                Request::Stream(ticket, file, start) => {
                    Answer::Stream(ticket, contained(|| begin(&file, &start)))
                }
            };
            // The game has ended where nobody takes it.
            let _ = answers.send(answer);
        }
    };
    if let Err(reason) = fault::spawn(name, run) {
        log::error(&format!("recordings cannot be decoded: {reason}"));
    }
    requests
}

/// A panic while one recording is decoded costs that recording alone.
fn contained<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    fault::contain(decode).unwrap_or_else(|Error { message, .. }| Err(message))
}

/// Begins to decode a recording, its volume left alone.
fn begin(file: &WaveFile, start: &Start) -> Result<Stream, String> {
    let mut data = wave::stream(file)?
        .start_position(start.seconds.min(file.seconds()))
        .playback_rate(f64::from(start.mix.rate));
    if let Some((from, to)) = start.repeat {
        data = data.loop_region(from..to);
    }
    let (sound, handle) = data.into_sound().map_err(|reason| reason.to_string())?;
    Ok(Stream { sound, handle })
}
