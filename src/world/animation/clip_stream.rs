//! A streamed clip in the resources of a game, for one skeleton: reads its chunks.

use engine_animation::{AnimationHead, Clip, ClipChunks, Skeleton};
use engine_foundation::blob::FRAME_BYTES;
use engine_foundation::memory::limit;
use engine_foundation::{Error, error};
use engine_resource::data_pieces::DataPieces;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
    /// Number of the last update that needed each chunk, shifted by 1 bit, and 1 if it needed the
    /// chunk for a current pose.
    used: Vec<AtomicU64>,
    /// Update before which no chunk is read, after a temporary failure.
    retry_update: AtomicU64,
    /// True if a late chunk was reported.
    has_warned: AtomicBool,
    /// True if a temporary failure was reported.
    has_failed: AtomicBool,
}

/// Returns true if the data may be valid: reading it again can succeed later.
pub fn is_temporary(error: &Error) -> bool {
    error.is_transient || error.is_engine_fault || limit::is_shortage(error)
}

/// Animation of which the head was read.
pub enum OpenedAnimation {
    /// It is in chunks.
    Streamed(Box<AnimationHead>),
    /// It has to be read as a whole.
    Whole,
}

/// Reads the head of an animation, if it is in chunks. Damaged data is kept.
///
/// # Errors
/// Returns an error if the data is damaged or cannot be read.
pub fn open(pieces: &DataPieces) -> Result<OpenedAnimation, Error> {
    let all = pieces.byte_count();
    let start = pieces.read(0..all.min(FRAME_BYTES as u64))?;
    let bytes = AnimationHead::byte_count(&start)?;
    if bytes >= all {
        return Ok(OpenedAnimation::Whole);
    }
    if bytes > HEAD_BYTES_MAX {
        return Err(error!("it is damaged: its head is larger than 64 MiB (HEAD_BYTES_MAX)"));
    }
    let head = AnimationHead::read(&pieces.read(0..bytes)?)?;
    match head.is_streamed() && head.total_bytes() == all {
        true => Ok(OpenedAnimation::Streamed(Box::new(head))),
        false => Err(error!("it is cut short or too long: {all} bytes")),
    }
}

impl ClipStream {
    /// Opens a streamed clip for a skeleton, with its first chunk, which [`read_chunk`] has read.
    /// Returns the clip, too.
    ///
    /// # Errors
    /// Returns an error if the clip does not fit the skeleton.
    pub fn new(
        name: &str,
        (pieces, head, first): (DataPieces, AnimationHead, Clip),
        skeleton: &Skeleton,
    ) -> Result<(Clip, ClipStream), Error> {
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
            retry_update: AtomicU64::new(0),
            has_warned: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
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

    /// Returns the bytes of memory that a chunk is expected to take: those of the first one.
    pub fn chunk_bytes(&self) -> usize {
        self.chunks.first().memory_bytes()
    }

    /// Notes that an update needs a chunk, for a current pose or soon. Returns false if the update
    /// has noted it before.
    pub fn note_use(&self, chunk: usize, update: u64, is_current: bool) -> bool {
        let noted = update << 1 | u64::from(is_current);
        self.used[chunk].fetch_max(noted, Ordering::Relaxed) >> 1 != update
    }

    /// Returns the number of the last update that needed a chunk.
    pub fn last_use(&self, chunk: usize) -> u64 {
        self.used[chunk].load(Ordering::Relaxed) >> 1
    }

    /// Returns how urgent the reading of a chunk is: true if the last use was for a current pose,
    /// and its update.
    pub fn urgency(&self, chunk: usize) -> (bool, u64) {
        let noted = self.used[chunk].load(Ordering::Relaxed);
        (noted & 1 == 1, noted >> 1)
    }

    /// Returns true if an update may read chunks.
    pub fn may_read(&self, update: u64) -> bool {
        self.retry_update.load(Ordering::Relaxed) <= update
    }

    /// Prevents reading before an update.
    pub fn delay_until(&self, update: u64) {
        self.retry_update.store(update, Ordering::Relaxed);
    }

    /// Notes that a chunk was late. Returns true for the first one.
    pub fn take_first_late(&self) -> bool {
        !self.has_warned.swap(true, Ordering::Relaxed)
    }

    /// Notes a temporary failure. Returns true for the first one.
    pub fn take_first_failure(&self) -> bool {
        !self.has_failed.swap(true, Ordering::Relaxed)
    }
}

/// Reads a chunk of an animation, for its own skeleton.
///
/// # Errors
/// Returns an error if it cannot be read, or is damaged.
pub fn read_chunk(pieces: &DataPieces, head: &AnimationHead, chunk: usize) -> Result<Clip, Error> {
    let bytes = pieces.read(head.range(chunk));
    let read = bytes.and_then(|bytes| head.read_chunk(chunk, &bytes));
    read.map_err(|error| pieces.refuse(error))
}
