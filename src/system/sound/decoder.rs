//! Background decoding: of whole recordings, and of the beginnings of streams, which are decoded
//! while they play. The game's thread sends requests and collects answers; it never waits.

use super::clip::{self, DecodedClip, SoundClipData};
use super::clip_cache::ClipKey;
use super::voices::ClipStart;
use engine_foundation::{Error, log, panic};
use kira::sound::streaming::StreamingSoundHandle;
use kira::sound::{FromFileError, Sound, SoundData};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The most recordings that are decoded while they play: each has a thread of its own.
pub const STREAMS_MAX: usize = 32;

/// A recording that is decoded while it plays.
pub struct DecodedStream {
    pub sound: Box<dyn Sound>,
    pub handle: StreamingSoundHandle<FromFileError>,
}

/// Result of a request to the decoder.
pub enum DecodeResult {
    Whole(ClipKey, Result<DecodedClip, String>),
    Stream(u64, Result<DecodedStream, String>),
}

enum DecodeRequest {
    Whole(ClipKey, SoundClipData),
    Stream(u64, SoundClipData, Box<ClipStart>),
}

/// The game's ends of the channels to both decoder threads. Streams have a thread of their own, so
/// that music does not wait until a hundred files are decoded.
pub struct Decoder {
    clip_requests: Sender<DecodeRequest>,
    streams: Sender<DecodeRequest>,
    results: Receiver<DecodeResult>,
    /// Number of streams requested so far; it numbers the answers.
    tickets: u64,
    /// Number of streams that exist.
    stream_count: Arc<AtomicU32>,
}

/// A stream's slot among the [`STREAMS_MAX`], until it is released or dropped.
pub struct StreamSlot {
    stream_count: Arc<AtomicU32>,
    released: AtomicBool,
}

impl StreamSlot {
    /// Releases the slot. The mixer keeps an ended sound until it receives another one, so the slot
    /// is released earlier.
    pub fn release(&self) {
        if !self.released.swap(true, Ordering::Relaxed) {
            self.stream_count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.release();
    }
}

impl Default for Decoder {
    fn default() -> Decoder {
        let (result_sender, results) = channel();
        let clip_requests = thread("sound decoder", result_sender.clone());
        let streams = thread("sound streams", result_sender);
        Decoder { clip_requests, streams, results, tickets: 0, stream_count: Arc::default() }
    }
}

impl Decoder {
    /// Requests the decoding of a whole recording.
    pub fn decode(&self, key: ClipKey, file: &SoundClipData) {
        // If the receiver is gone, the decoder has panicked, and its message was logged.
        let _ = self.clip_requests.send(DecodeRequest::Whole(key, file.clone()));
    }

    /// Requests a recording that is decoded while it plays. Returns the number of the answer and
    /// the stream's slot, or `None` if all slots are taken.
    pub fn stream(&mut self, file: &SoundClipData, start: &ClipStart) -> Option<(u64, StreamSlot)> {
        if self.streams() >= STREAMS_MAX {
            return None;
        }
        self.tickets += 1;
        let start = Box::new(start.clone());
        let _ = self.streams.send(DecodeRequest::Stream(self.tickets, file.clone(), start));
        self.stream_count.fetch_add(1, Ordering::Relaxed);
        Some((
            self.tickets,
            StreamSlot {
                stream_count: self.stream_count.clone(),
                released: AtomicBool::new(false),
            },
        ))
    }

    /// Returns the number of streams that exist.
    pub fn streams(&self) -> usize {
        self.stream_count.load(Ordering::Relaxed) as usize
    }

    /// Returns the results since the last call.
    pub fn take(&self) -> Vec<DecodeResult> {
        self.results.try_iter().collect()
    }
}

/// Starts a thread that executes requests one after the other.
fn thread(name: &str, results: Sender<DecodeResult>) -> Sender<DecodeRequest> {
    let (requests, requests_received) = channel::<DecodeRequest>();
    let run = move || {
        while let Ok(request) = requests_received.recv() {
            let result_sender = match request {
                DecodeRequest::Whole(key, file) => {
                    DecodeResult::Whole(key, contained(|| clip::decode(&file)))
                }
                DecodeRequest::Stream(ticket, file, start) => {
                    DecodeResult::Stream(ticket, contained(|| open_stream(&file, &start)))
                }
            };
            // If there is no receiver, the game has ended.
            let _ = results.send(result_sender);
        }
    };
    if let Err(reason) = panic::spawn(name, run) {
        log::error(&format!("recordings cannot be decoded: {reason}"));
    }
    requests
}

/// Runs a decoder; a panic fails only that recording.
fn contained<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    panic::contain(decode).unwrap_or_else(|Error { message, .. }| Err(message))
}

/// Opens a recording that is decoded while it plays, at its own volume.
fn open_stream(file: &SoundClipData, start: &ClipStart) -> Result<DecodedStream, String> {
    let mut data = clip::stream(file)?
        .start_position(start.seconds.min(file.seconds()))
        .playback_rate(f64::from(start.mix.rate));
    if let Some((from, to)) = start.repeat {
        data = data.loop_region(from..to);
    }
    let (sound, handle) = data.into_sound().map_err(|reason| reason.to_string())?;
    Ok(DecodedStream { sound, handle })
}
