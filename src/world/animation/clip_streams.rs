//! Reading ahead of the chunks of streamed clips: before poses are evaluated, the chunks that
//! characters need now and soon are found, read and, if they take too much memory, released.
//!
//! A game that people play reads on a thread of its own, so that no frame waits for a disk; a pose
//! holds while its chunk is late. A deterministic run reads each chunk when it is needed and waits
//! for it, so that its poses do not depend on the speed of a disk.

use super::Animations;
use super::animated_model::AnimatedModel;
use super::character::Character;
use super::chunk_reader::{ChunkJob, ChunkReader, ChunkResult};
use super::clip_stream::{ClipStream, is_temporary};
use crate::scene_graph::NodePose;
use engine_animation::{ChunkState, Clip, ClipChunks};
use engine_foundation::{Error, error, log};
use std::sync::{Arc, Weak};

/// Memory of the chunks of all streamed clips in bytes, above which chunks that no character needs
/// are released, and nothing is read ahead. It does not include the first chunk of each clip, and
/// the last chunk that a script has sampled.
pub const STREAM_BYTES_MAX: usize = 32 << 20;
/// Maximum number of streamed clips that are open at once: each has an open file, and its first
/// chunk is in memory. A clip counts once for each skeleton that plays it.
pub const STREAMS_MAX: usize = 256;
/// Updates of worlds between two attempts to read a stream after a temporary failure.
const RETRY_UPDATES: u64 = 60;
/// Updates of worlds after which a chunk that nobody needs is not read any more. At the coarsest
/// level of detail, a character notes its use in each eighth update of its world.
const JOB_UPDATES: u64 = 64;
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
    /// Number of the chunk that the player holds.
    pub held: Option<usize>,
}

impl ClipUse {
    /// Returns the chunks after the current one that are needed soon.
    pub fn ahead(&self, chunks: &ClipChunks) -> [Option<usize>; AHEAD_CHUNKS_MAX] {
        let [first, last] = self.range;
        let (mut index, mut position) = (chunks.at(self.time), self.time);
        let mut left = self.speed.abs() * AHEAD_SECONDS;
        let mut found = [None; AHEAD_CHUNKS_MAX];
        for slot in &mut found {
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
            *slot = Some(index);
        }
        found
    }
}

impl Character {
    /// Calls a function for each use of a streamed clip in the pose of the current update, which
    /// took `seconds`.
    fn each_clip_use(&self, seconds: f32, mut notify: impl FnMut(&Arc<ClipStream>, ClipUse)) {
        for it in &self.playing {
            if let Some(stream) = &self.model.clips[usize::from(it.clip)].stream {
                notify(stream, it.clip_use());
            }
        }
        if let Some(machine) = self.machine.as_ref().filter(|it| it.is_active()) {
            machine.each_clip_use(seconds, notify);
        }
    }
}

/// A chunk in memory.
struct ResidentChunk {
    stream: Weak<ClipStream>,
    chunk: usize,
    bytes: usize,
}

/// The last chunk that a script has sampled and that was not in memory.
struct SampledChunk {
    stream: Weak<ClipStream>,
    chunk: usize,
    clip: Arc<Clip>,
}

/// The chunks of all streamed clips.
pub struct ClipStreams {
    /// True if the model of a character has a streamed clip.
    pub is_used: bool,
    /// Started when the first chunk is read ahead.
    reader: Option<ChunkReader>,
    /// True if the thread cannot be started.
    has_no_thread: bool,
    /// The streams that exist, and maybe some that do not any more.
    open: Vec<Weak<ClipStream>>,
    sampled: Option<SampledChunk>,
    resident: Vec<ResidentChunk>,
    bytes: usize,
    /// Bytes that the requested chunks are expected to take.
    requested_bytes: usize,
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
            has_no_thread: false,
            open: Vec::new(),
            sampled: None,
            resident: Vec::new(),
            bytes: 0,
            requested_bytes: 0,
            update: 0,
            counts: [0; 2],
            has_warned: false,
            limit: STREAM_BYTES_MAX,
        }
    }
}

impl ClipStreams {
    /// Checks that another stream may be opened.
    ///
    /// # Errors
    /// Fails if there are [`STREAMS_MAX`].
    pub fn check_room(&mut self) -> Result<(), Error> {
        self.open.retain(|it| it.strong_count() > 0);
        match self.open.len() < STREAMS_MAX {
            true => Ok(()),
            false => Err(error!(
                "{STREAMS_MAX} streamed animations are in use, which is the most at once \
                 (STREAMS_MAX); each one counts for each skeleton that plays it"
            )),
        }
    }

    /// Adds a stream, for which there is room.
    pub fn add(&mut self, stream: &Arc<ClipStream>) {
        self.is_used = true;
        self.open.push(Arc::downgrade(stream));
    }

    /// Reads the chunks that characters need, or begins to. With `waits`, those of their current
    /// poses are in memory afterwards.
    pub fn update(&mut self, characters: &mut [Character], seconds: f32, waits: bool) {
        if !self.is_used {
            return;
        }
        self.update += 1;
        self.take_results();
        self.drop_old_jobs();
        for character in characters.iter_mut().filter(|it| it.is_due) {
            // Players of clips that were replaced have no pose to hold.
            let waits = std::mem::take(&mut character.has_new_streams) || waits;
            character.each_clip_use(seconds, |stream, it| self.need(stream, &it, waits));
        }
        self.release(characters, seconds);
    }

    /// Reads the chunks of a use of a clip.
    fn need(&mut self, stream: &Arc<ClipStream>, wanted: &ClipUse, waits: bool) {
        let chunk = stream.chunks.at(wanted.time);
        stream.note_use(chunk, self.update, true);
        if wanted.held != Some(chunk) {
            self.need_chunk(stream, chunk, waits);
        }
        // A run that waits needs no reading ahead.
        if waits {
            return;
        }
        for chunk in wanted.ahead(&stream.chunks).into_iter().flatten() {
            let is_new = stream.note_use(chunk, self.update, false);
            let bytes = self.bytes + self.requested_bytes + stream.chunk_bytes();
            if is_new && bytes <= self.limit {
                self.request(stream, chunk);
            }
        }
    }

    /// Reads a chunk of the current pose that its player does not hold.
    fn need_chunk(&mut self, stream: &Arc<ClipStream>, chunk: usize, waits: bool) {
        match stream.chunks.state(chunk) {
            ChunkState::Resident(_) | ChunkState::Failed => return,
            _ if !stream.may_read(self.update) => return,
            _ if waits => return self.finish(stream, chunk, stream.read(chunk)),
            ChunkState::Absent | ChunkState::Requested => self.request(stream, chunk),
        }
        if matches!(stream.chunks.state(chunk), ChunkState::Requested) {
            self.counts[1] += 1;
            if stream.take_first_late() {
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
        if !stream.chunks.is_absent(chunk) || !stream.may_read(self.update) {
            return;
        }
        if self.reader.is_none() && !self.has_no_thread {
            self.keep_reader(ChunkReader::start());
        }
        let Some(reader) = &self.reader else {
            return self.finish(stream, chunk, stream.read(chunk));
        };
        let bytes = stream.chunk_bytes();
        reader.add(ChunkJob { stream: Arc::downgrade(stream), chunk, bytes });
        self.requested_bytes += bytes;
        stream.chunks.set(chunk, ChunkState::Requested);
    }

    /// Keeps the thread, or reports why there is none.
    pub(super) fn keep_reader(&mut self, started: Result<ChunkReader, Error>) {
        match started {
            Ok(reader) => self.reader = Some(reader),
            Err(error) => {
                self.has_no_thread = true;
                log::warning(&format!(
                    "streamed animations: {}: frames wait for their data",
                    error.message
                ));
            }
        }
    }

    /// Takes the chunks that were read since the last update.
    fn take_results(&mut self) {
        let Some(reader) = &self.reader else { return };
        for result in reader.take_results() {
            self.take_result(result);
        }
    }

    fn take_result(&mut self, ChunkResult { job, read }: ChunkResult) {
        self.requested_bytes -= job.bytes;
        if let (Some(stream), Some(read)) = (job.stream.upgrade(), read) {
            self.finish(&stream, job.chunk, read);
        }
    }

    /// Ends the requests of chunks that nobody needs any more.
    fn drop_old_jobs(&mut self) {
        if self.requested_bytes == 0 {
            return;
        }
        let Some(reader) = &self.reader else { return };
        for job in reader.remove_old(self.update.saturating_sub(JOB_UPDATES)) {
            self.requested_bytes -= job.bytes;
            if let Some(stream) = job.stream.upgrade()
                && stream.chunks.state(job.chunk) == ChunkState::Requested
            {
                stream.chunks.set(job.chunk, ChunkState::Absent);
            }
        }
    }

    /// Keeps a chunk that was read, or reports why it was not.
    pub(super) fn finish(
        &mut self,
        stream: &Arc<ClipStream>,
        chunk: usize,
        read: Result<Clip, Error>,
    ) {
        // An update that waited may have read it, too.
        if stream.chunks.is_resident(chunk) {
            return;
        }
        let state = match read {
            Ok(clip) => {
                let bytes = clip.memory_bytes();
                let resident = ResidentChunk { stream: Arc::downgrade(stream), chunk, bytes };
                self.resident.push(resident);
                self.bytes += bytes;
                self.counts[0] += 1;
                ChunkState::Resident(Arc::new(clip))
            }
            Err(error) => self.report(stream, chunk, &error),
        };
        stream.chunks.set(chunk, state);
    }

    /// Reports that a chunk could not be read, and returns its state.
    fn report(&self, stream: &ClipStream, chunk: usize, error: &Error) -> ChunkState {
        let (name, reason) = (&stream.name, &error.message);
        if is_temporary(error) {
            stream.delay_until(self.update + RETRY_UPDATES);
            if stream.take_first_failure() {
                let text = "poses hold until it can be read, which is tried again";
                log::error(&format!("animation '{name}': {reason}: {text}"));
            }
            return ChunkState::Absent;
        }
        let (start, end) = stream.head().times(chunk);
        log::error(&format!(
            "animation '{name}': {reason}: poses hold from second {start:.1} to {end:.1}"
        ));
        ChunkState::Failed
    }

    /// Returns the chunk of a time of a clip that need not play, and the time in it. A chunk that
    /// is not in memory is read at once.
    ///
    /// # Errors
    /// Fails if it cannot be read, or is damaged.
    fn chunk_at(&mut self, stream: &Arc<ClipStream>, time: f32) -> Result<(Arc<Clip>, f32), Error> {
        let chunk = stream.chunks.at(time);
        let time = time - stream.chunks.start(chunk);
        if let Some(clip) = stream.chunks.resident(chunk) {
            return Ok((clip, time));
        }
        let is_same = |it: &&SampledChunk| {
            it.chunk == chunk && std::ptr::eq(it.stream.as_ptr(), Arc::as_ptr(stream))
        };
        if let Some(sampled) = self.sampled.as_ref().filter(is_same) {
            return Ok((sampled.clip.clone(), time));
        }
        let clip = stream.read(chunk).map_err(|error| Error {
            message: format!("animation '{}': {}", stream.name, error.message),
            ..error
        })?;
        let clip = Arc::new(clip);
        self.sampled =
            Some(SampledChunk { stream: Arc::downgrade(stream), chunk, clip: clip.clone() });
        Ok((clip, time))
    }

    /// Notes the uses of the characters whose poses the current update does not evaluate: those of
    /// other worlds, and those that their level of detail leaves out.
    fn note_uses(&self, characters: &[Character], seconds: f32) {
        for character in characters.iter().filter(|it| !it.is_due) {
            character.each_clip_use(seconds, |stream, it| {
                let current = stream.chunks.at(it.time);
                for chunk in [Some(current), it.held].into_iter().flatten() {
                    stream.note_use(chunk, self.update, true);
                }
                for chunk in it.ahead(&stream.chunks).into_iter().flatten() {
                    stream.note_use(chunk, self.update, false);
                }
            });
        }
    }

    /// Releases the chunks of clips that were replaced, and those that were not used for the
    /// longest time if there are too many. Those that a character plays, or needs soon, are kept.
    fn release(&mut self, characters: &[Character], seconds: f32) {
        let bytes = &mut self.bytes;
        self.resident.retain(|it| {
            let is_used = it.stream.strong_count() > 0;
            *bytes -= if is_used { 0 } else { it.bytes };
            is_used
        });
        if self.bytes > self.limit {
            self.note_uses(characters, seconds);
            self.release_oldest();
        }
    }

    /// Releases the chunks that were not used for the longest time, down to the limit.
    fn release_oldest(&mut self) {
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

    /// Returns the bytes that the requested chunks are expected to take.
    #[cfg(test)]
    pub(super) fn requested_bytes(&self) -> usize {
        self.requested_bytes
    }

    /// Waits until the thread has read a chunk.
    #[cfg(test)]
    pub(super) fn wait(&mut self) {
        let reader = self.reader.as_ref().expect("a chunk was requested");
        let result = reader.wait();
        self.take_result(result);
    }
}

impl Animations {
    /// Returns the pose of a bone at a time of a clip in seconds. Of a clip of differences, it is
    /// the difference. A chunk of a streamed clip that is not in memory is read at once.
    ///
    /// # Errors
    /// Fails if the chunk cannot be read, or is damaged.
    pub fn sample(
        &mut self,
        model: &AnimatedModel,
        clip: u16,
        bone: usize,
        time: f32,
    ) -> Result<NodePose, Error> {
        let named = &model.clips[usize::from(clip)];
        let Some(stream) = &named.stream else {
            return Ok(model.sample(&named.clip, bone, time));
        };
        let (chunk, time) = self.streams.chunk_at(stream, time)?;
        Ok(model.sample(&chunk, bone, time))
    }
}
