//! A streamed clip in the resources of a game, for one skeleton: reads its chunks.

use engine_animation::{AnimationHead, Clip, ClipChunks, Skeleton};
use engine_foundation::blob::FRAME_BYTES;
use engine_foundation::{Error, error};
use engine_resource::data_pieces::DataPieces;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Largest head of an animation in bytes.
pub const HEAD_BYTES_MAX: u64 = 64 << 20;

/// The chunks of a clip in a file or a bundle.
#[derive(Debug)]
pub struct ClipStream {
    /// Name of the animation.
    pub name: String,
    pub chunks: Arc<ClipChunks>,
    pieces: DataPieces,
    head: AnimationHead,
    /// Skeleton of the characters, which need not be that of the animation.
    skeleton: Skeleton,
    /// Number of the last update that needed each chunk.
    used: Vec<AtomicU64>,
    /// True if a late chunk was reported.
    has_warned: AtomicBool,
    /// The last chunk that a script has read without playing it.
    sampled: Mutex<Option<(usize, Arc<Clip>)>>,
}

/// Animation of which the head was read.
pub enum OpenedAnimation {
    /// It is in chunks.
    Streamed(AnimationHead),
    /// It has to be read as a whole.
    Whole,
}

/// Reads the head of an animation, if it is in chunks.
///
/// # Errors
/// Returns an error if the data is damaged.
pub fn open(pieces: &DataPieces) -> Result<OpenedAnimation, Error> {
    let all = pieces.byte_count();
    let start = pieces.read(0..all.min(FRAME_BYTES as u64))?;
    let bytes = AnimationHead::byte_count(&start).map_err(|error| pieces.refuse(error))?;
    if bytes >= all {
        return Ok(OpenedAnimation::Whole);
    }
    if bytes > HEAD_BYTES_MAX {
        let message = "it is damaged: its head is larger than 64 MiB (HEAD_BYTES_MAX)";
        return Err(pieces.refuse(error!("{message}")));
    }
    let head =
        AnimationHead::read(&pieces.read(0..bytes)?).map_err(|error| pieces.refuse(error))?;
    match head.is_streamed() && head.total_bytes() == all {
        true => Ok(OpenedAnimation::Streamed(head)),
        false => Err(pieces.refuse(error!("it is cut short or too long: {all} bytes"))),
    }
}

impl ClipStream {
    /// Opens a streamed clip for a skeleton. Its first chunk is read. Returns the clip, too.
    ///
    /// # Errors
    /// Returns an error if the first chunk is damaged, or the clip does not fit the skeleton.
    pub fn new(
        name: &str,
        (pieces, head): (DataPieces, AnimationHead),
        skeleton: &Skeleton,
    ) -> Result<(Clip, ClipStream), Error> {
        let first = read_chunk(&pieces, &head, 0)?;
        let clip = head.fit(head.data.fit_clip(&first, skeleton)?, skeleton)?;
        let chunks = clip.chunks().expect("the head of a streamed clip has chunks").clone();
        let used = (0..chunks.count()).map(|_| AtomicU64::new(0)).collect();
        let stream = ClipStream {
            name: name.to_string(),
            chunks,
            pieces,
            head,
            skeleton: skeleton.clone(),
            used,
            has_warned: AtomicBool::new(false),
            sampled: Mutex::new(None),
        };
        Ok((clip, stream))
    }

    /// Returns the head of the animation.
    pub fn head(&self) -> &AnimationHead {
        &self.head
    }

    /// Reads a chunk.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or is damaged.
    pub fn read(&self, chunk: usize) -> Result<Clip, Error> {
        let clip = read_chunk(&self.pieces, &self.head, chunk)?;
        self.head.data.fit_clip(&clip, &self.skeleton)
    }

    /// Returns the chunk of a time, which is read if it is not in memory, and the time in it. A
    /// chunk that cannot be read is replaced by the first one.
    pub fn chunk_at(&self, time: f32) -> (Arc<Clip>, f32) {
        let index = self.chunks.at(time);
        let time = time - self.chunks.start(index);
        if let Some(chunk) = self.chunks.resident(index) {
            return (chunk, time);
        }
        let mut sampled = self.sampled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, chunk)) = sampled.as_ref().filter(|(known, _)| *known == index) {
            return (chunk.clone(), time);
        }
        let chunk = match self.read(index) {
            Ok(chunk) => Arc::new(chunk),
            Err(_) => return (self.chunks.first().clone(), 0.0),
        };
        *sampled = Some((index, chunk.clone()));
        (chunk, time)
    }

    /// Notes that an update needs a chunk. Returns false if it has been noted before.
    pub fn note_use(&self, chunk: usize, update: u64) -> bool {
        self.used[chunk].swap(update, Ordering::Relaxed) != update
    }

    /// Returns the number of the last update that needed a chunk.
    pub fn last_use(&self, chunk: usize) -> u64 {
        self.used[chunk].load(Ordering::Relaxed)
    }

    /// Returns true at the first call.
    pub fn warns(&self) -> bool {
        !self.has_warned.swap(true, Ordering::Relaxed)
    }
}

fn read_chunk(pieces: &DataPieces, head: &AnimationHead, chunk: usize) -> Result<Clip, Error> {
    let bytes = pieces.read(head.range(chunk))?;
    head.read_chunk(chunk, &bytes).map_err(|error| pieces.refuse(error))
}
