//! Reading ahead of the chunks of streamed clips: before poses are evaluated, the chunks that
//! characters need now and soon are found, read and, if they take too much memory, released.
//!
//! A game that people play reads on a thread of its own, so that no frame waits for a disk; a pose
//! holds while its chunk is late. A deterministic run reads each chunk when it is needed and waits
//! for it, so that its poses do not depend on the speed of a disk.

use super::animated_model::NamedClip;
use super::character::Character;
use super::clip_stream::ClipStream;
use engine_animation::{ChunkState, Clip, ClipChunks};
use engine_foundation::memory::OwnerScope;
use engine_foundation::{Error, log, panic};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;

/// Memory of the chunks of all streamed clips in bytes, without the first chunk of each, above
/// which chunks that no character needs are released.
pub const STREAM_BYTES_MAX: usize = 32 << 20;
/// Seconds before a chunk is needed in which its reading begins.
const AHEAD_SECONDS: f32 = 1.0;
/// Maximum number of chunks after the current one that are read for a player.
const AHEAD_CHUNKS_MAX: usize = 2;

/// Use of a clip by a character.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClipUse {
    /// Time of the clip in seconds.
    pub time: f32,
    /// Seconds of the clip for each second; negative in reverse.
    pub speed: f32,
    /// Part of the clip that is played: start and end in seconds.
    pub range: [f32; 2],
    pub loops: bool,
}

impl ClipUse {
    /// Returns the chunks after the current one that are needed soon.
    pub fn ahead(&self, chunks: &ClipChunks) -> Vec<usize> {
        let [first, last] = self.range;
        let (mut index, mut position) = (chunks.at(self.time), self.time);
        let mut left = self.speed.abs() * AHEAD_SECONDS;
        let mut found = Vec::new();
        while found.len() < AHEAD_CHUNKS_MAX {
            let (edge, next) = if self.speed >= 0.0 {
                let is_last = index + 1 == chunks.count() || chunks.start(index + 1) > last;
                match is_last {
                    true => (last, self.loops.then(|| (chunks.at(first), first))),
                    false => (chunks.start(index + 1), Some((index + 1, chunks.start(index + 1)))),
                }
            } else {
                match chunks.start(index) <= first {
                    true => (first, self.loops.then(|| (chunks.at(last), last))),
                    false => (chunks.start(index), Some((index - 1, chunks.start(index)))),
                }
            };
            left -= (edge - position).abs();
            let Some(next) = next.filter(|_| left >= 0.0) else { break };
            (index, position) = next;
            found.push(index);
        }
        found
    }
}

impl Character {
    /// Calls a function for each use of a clip in the pose of the current update, which took
    /// `seconds`.
    fn each_clip_use(&self, seconds: f32, mut notify: impl FnMut(&NamedClip, ClipUse)) {
        for it in &self.playing {
            notify(&self.model.clips[usize::from(it.clip)], it.clip_use());
        }
        if let Some(machine) = self.machine.as_ref().filter(|it| it.is_active()) {
            machine.each_clip_use(seconds, notify);
        }
    }
}

/// A chunk that was read.
struct ChunkResult {
    stream: Weak<ClipStream>,
    chunk: usize,
    read: Result<Clip, Error>,
}

/// The thread that reads chunks. Dropping this value ends it.
struct ChunkReader {
    jobs: Option<Sender<(Weak<ClipStream>, usize)>>,
    results: Mutex<Receiver<ChunkResult>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ChunkReader {
    fn start() -> Result<ChunkReader, Error> {
        let (jobs, inbox) = channel::<(Weak<ClipStream>, usize)>();
        let (answer, results) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let ended = stop.clone();
        let work = move || {
            OwnerScope::of_thread("animation");
            for (stream, chunk) in inbox {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                // Nobody needs the chunks of a clip that was replaced.
                let Some(wanted) = stream.upgrade() else { continue };
                let read = panic::contain(|| wanted.read(chunk)).flatten();
                let _ = answer.send(ChunkResult { stream, chunk, read });
            }
        };
        let thread = panic::spawn("animation chunks", work)
            .map_err(|reason| engine_foundation::error!("no thread could be started: {reason}"))?;
        let (results, thread) = (Mutex::new(results), Some(thread));
        Ok(ChunkReader { jobs: Some(jobs), results, stop, thread })
    }
}

impl Drop for ChunkReader {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::warning("the thread that reads animations failed");
        }
    }
}

/// A chunk in memory.
struct ResidentChunk {
    stream: Weak<ClipStream>,
    chunk: usize,
    bytes: usize,
}

/// The chunks of all streamed clips.
pub struct ClipStreams {
    /// True if the model of a character has a streamed clip.
    pub is_used: bool,
    /// Started when the first chunk is read ahead.
    reader: Option<ChunkReader>,
    resident: Vec<ResidentChunk>,
    bytes: usize,
    /// Number of the current update, from 1.
    update: u64,
    /// Chunks that were read, and those that were late, since the last call of `take_counts`.
    counts: [usize; 2],
    has_warned: bool,
    /// Bytes above which chunks are released: [`STREAM_BYTES_MAX`], except in tests.
    limit: usize,
}

impl Default for ClipStreams {
    fn default() -> ClipStreams {
        ClipStreams {
            is_used: false,
            reader: None,
            resident: Vec::new(),
            bytes: 0,
            update: 0,
            counts: [0; 2],
            has_warned: false,
            limit: STREAM_BYTES_MAX,
        }
    }
}

impl ClipStreams {
    /// Reads the chunks that characters need, or begins to. With `waits`, those of their current
    /// poses are in memory afterwards.
    pub fn update(&mut self, characters: &[Character], seconds: f32, waits: bool) {
        if !self.is_used {
            return;
        }
        self.update += 1;
        self.take_results();
        for character in characters.iter().filter(|it| it.is_due) {
            character.each_clip_use(seconds, |clip, it| self.need(clip, &it, waits));
        }
        self.release();
    }

    /// Reads the chunks of a use of a clip.
    fn need(&mut self, clip: &NamedClip, wanted: &ClipUse, waits: bool) {
        let Some(stream) = &clip.stream else { return };
        self.need_chunk(stream, stream.chunks.at(wanted.time), waits);
        // A run that waits needs no reading ahead.
        for chunk in if waits { Vec::new() } else { wanted.ahead(&stream.chunks) } {
            let is_new = stream.note_use(chunk, self.update);
            if is_new && self.bytes < self.limit {
                self.request(stream, chunk);
            }
        }
    }

    /// Reads a chunk of the current pose.
    fn need_chunk(&mut self, stream: &Arc<ClipStream>, chunk: usize, waits: bool) {
        stream.note_use(chunk, self.update);
        let state = stream.chunks.state(chunk);
        match state {
            ChunkState::Resident(_) | ChunkState::Failed => return,
            _ if waits => return self.finish(stream, chunk, stream.read(chunk)),
            ChunkState::Absent | ChunkState::Requested => self.request(stream, chunk),
        }
        if matches!(stream.chunks.state(chunk), ChunkState::Requested) {
            self.counts[1] += 1;
            if stream.warns() {
                log::warning(&format!(
                    "animation '{}': the data of second {:.1} was not read in time, and poses hold \
                     until it is (the counter animation/late_chunks has all of these)",
                    stream.name,
                    stream.chunks.start(chunk)
                ));
            }
        }
    }

    /// Begins to read a chunk that is not in memory. Without a thread, it is read at once.
    fn request(&mut self, stream: &Arc<ClipStream>, chunk: usize) {
        if stream.chunks.state(chunk) != ChunkState::Absent {
            return;
        }
        if self.reader.is_none() {
            self.reader = ChunkReader::start().ok();
        }
        let jobs = self.reader.as_ref().and_then(|reader| reader.jobs.as_ref());
        let sent = jobs.is_some_and(|jobs| jobs.send((Arc::downgrade(stream), chunk)).is_ok());
        match sent {
            true => stream.chunks.set(chunk, ChunkState::Requested),
            false => self.finish(stream, chunk, stream.read(chunk)),
        }
    }

    /// Takes the chunks that were read since the last update.
    fn take_results(&mut self) {
        let Some(reader) = &self.reader else { return };
        let results = reader.results.lock().unwrap_or_else(PoisonError::into_inner);
        let read: Vec<ChunkResult> = results.try_iter().collect();
        drop(results);
        for ChunkResult { stream, chunk, read } in read {
            if let Some(stream) = stream.upgrade() {
                self.finish(&stream, chunk, read);
            }
        }
    }

    /// Keeps a chunk that was read, or reports why it was not.
    fn finish(&mut self, stream: &Arc<ClipStream>, chunk: usize, read: Result<Clip, Error>) {
        let state = match read {
            Ok(clip) if stream.chunks.resident(chunk).is_none() => {
                let bytes = clip.memory_bytes();
                let resident = ResidentChunk { stream: Arc::downgrade(stream), chunk, bytes };
                self.resident.push(resident);
                self.bytes += bytes;
                self.counts[0] += 1;
                ChunkState::Resident(Arc::new(clip))
            }
            Ok(_) => return,
            Err(error) => {
                let (start, end) = stream.head().times(chunk);
                log::error(&format!(
                    "animation '{}': {}: poses hold from second {start:.1} to {end:.1}",
                    stream.name, error.message
                ));
                ChunkState::Failed
            }
        };
        stream.chunks.set(chunk, state);
    }

    /// Releases the chunks of clips that were replaced, and those that were not used for the
    /// longest time if there are too many.
    fn release(&mut self) {
        let bytes = &mut self.bytes;
        self.resident.retain(|it| {
            let is_used = it.stream.strong_count() > 0;
            *bytes -= if is_used { 0 } else { it.bytes };
            is_used
        });
        while self.bytes > self.limit {
            let last_use = |it: &ResidentChunk| {
                it.stream.upgrade().map_or(0, |stream| stream.last_use(it.chunk))
            };
            let oldest = self.resident.iter().enumerate().min_by_key(|(_, it)| last_use(it));
            let Some((index, _)) = oldest.filter(|(_, it)| last_use(it) < self.update) else {
                if !std::mem::replace(&mut self.has_warned, true) {
                    log::warning(&format!(
                        "characters play so many streamed animations that {} MiB of them are in \
                         memory, and {} MiB are the most without reading ahead (STREAM_BYTES_MAX): \
                         use shorter chunks, or fewer animations at once",
                        self.bytes >> 20,
                        STREAM_BYTES_MAX >> 20
                    ));
                }
                return;
            };
            let unused = self.resident.swap_remove(index);
            self.bytes -= unused.bytes;
            if let Some(stream) = unused.stream.upgrade() {
                stream.chunks.set(unused.chunk, ChunkState::Absent);
            }
        }
    }

    /// Returns the number and the bytes of the chunks in memory, without the first chunk of each
    /// clip.
    pub fn resident(&self) -> [usize; 2] {
        [self.resident.len(), self.bytes]
    }

    /// Returns how many chunks were read, and how often one was late, since the last call.
    pub fn take_counts(&mut self) -> [usize; 2] {
        std::mem::take(&mut self.counts)
    }

    /// Sets the bytes above which chunks are released.
    #[cfg(test)]
    pub(super) fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    /// Waits until the thread has read a chunk.
    #[cfg(test)]
    pub(super) fn wait(&mut self) {
        let reader = self.reader.as_ref().expect("a chunk was requested");
        let ChunkResult { stream, chunk, read } =
            reader.results.lock().unwrap().recv().expect("the thread reads");
        self.finish(&stream.upgrade().expect("the clip is used"), chunk, read);
    }
}
