//! The chunks of a streamed clip: clips of parts of its time, one after another, of which only
//! those around the current time have to be in memory. The first one always is.

use super::clip::Clip;
use super::skeleton::Skeleton;
use engine_foundation::{Error, error};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Least and largest length of a chunk in seconds, as the settings of a clip have it.
pub const CHUNK_SECONDS: (f32, f32) = (0.25, 60.0);
/// Length of a chunk in seconds without a setting.
pub const CHUNK_SECONDS_DEFAULT: f32 = 4.0;
/// Maximum number of chunks of a clip: more than 600 seconds of the shortest ones.
pub const CHUNKS_MAX: usize = 1 << 12;

/// State of a chunk.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum ChunkState {
    /// It is not in memory.
    #[default]
    Absent,
    /// It is being read.
    Requested,
    Resident(Arc<Clip>),
    /// It cannot be read. Players hold the pose before it.
    Failed,
}

/// The chunks of a clip for one skeleton, shared by all players of the clip.
#[derive(Debug)]
pub struct ClipChunks {
    /// Start of each chunk in seconds, ascending. The first one is 0.
    starts: Vec<f32>,
    /// Skeleton of the chunks, for their players.
    skeleton: Skeleton,
    first: Arc<Clip>,
    states: Mutex<Vec<ChunkState>>,
}

impl PartialEq for ClipChunks {
    /// Compares the first chunks. Other ones need not be in memory, and do not count.
    fn eq(&self, other: &ClipChunks) -> bool {
        self.starts == other.starts && self.first == other.first && self.skeleton == other.skeleton
    }
}

/// Checks the starts of the chunks of a clip.
///
/// # Errors
/// Fails if they are not ascending from 0 on, or are not within the clip.
pub fn check_starts(starts: &[f32], seconds: f32) -> Result<(), Error> {
    let ascending = starts.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = starts.len() < 2 || starts.last().is_some_and(|last| *last < seconds);
    match starts.first() == Some(&0.0) && ascending && inside && starts.len() <= CHUNKS_MAX {
        true => Ok(()),
        false => Err(error!("it is damaged: the times of the chunks are not valid")),
    }
}

impl ClipChunks {
    /// Creates the chunks of a clip, of which only the first one is in memory. The starts were
    /// checked with [`check_starts`].
    pub fn new(starts: Vec<f32>, first: Clip, skeleton: Skeleton) -> ClipChunks {
        let states = Mutex::new(vec![ChunkState::Absent; starts.len()]);
        let first = Arc::new(first);
        let chunks = ClipChunks { starts, skeleton, first, states };
        chunks.set(0, ChunkState::Resident(chunks.first.clone()));
        chunks
    }

    fn states(&self) -> MutexGuard<'_, Vec<ChunkState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of chunks.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the start of a chunk in seconds.
    pub fn start(&self, index: usize) -> f32 {
        self.starts[index]
    }

    /// Returns the chunk of a time in seconds.
    pub fn at(&self, time: f32) -> usize {
        self.starts.partition_point(|start| *start <= time).saturating_sub(1)
    }

    pub fn first(&self) -> &Arc<Clip> {
        &self.first
    }

    pub(super) fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Returns the state of a chunk.
    pub fn state(&self, index: usize) -> ChunkState {
        self.states()[index].clone()
    }

    /// Sets the state of a chunk. The first one stays in memory.
    pub fn set(&self, index: usize, state: ChunkState) {
        let state = if index == 0 { ChunkState::Resident(self.first.clone()) } else { state };
        self.states()[index] = state;
    }

    /// Returns a chunk if it is in memory.
    pub fn resident(&self, index: usize) -> Option<Arc<Clip>> {
        match &self.states()[index] {
            ChunkState::Resident(clip) => Some(clip.clone()),
            _ => None,
        }
    }

    /// Returns true if a chunk is in memory.
    pub fn is_resident(&self, index: usize) -> bool {
        matches!(self.states()[index], ChunkState::Resident(_))
    }

    /// Returns true if a chunk is neither in memory nor being read, and can be read.
    pub fn is_absent(&self, index: usize) -> bool {
        matches!(self.states()[index], ChunkState::Absent)
    }

    /// Returns the chunks that are in memory, in order.
    pub fn all_resident(&self) -> Vec<Arc<Clip>> {
        (0..self.count()).filter_map(|index| self.resident(index)).collect()
    }
}

impl Clip {
    /// Returns the chunks of a streamed clip; `None` if the clip is in memory as a whole.
    pub fn chunks(&self) -> Option<&Arc<ClipChunks>> {
        self.chunks.as_ref()
    }

    /// Returns this clip, which has no tracks, with chunks.
    pub(super) fn with_chunks(self, chunks: ClipChunks) -> Clip {
        Clip { chunks: Some(Arc::new(chunks)), ..self }
    }

    /// Returns true if the clip can be a chunk that begins at `start` of a clip, with the next one,
    /// or the end, at `end`.
    pub(super) fn is_chunk_of(&self, clip: &Clip, start: f32, end: f32) -> bool {
        self.bones == clip.bones
            && self.features.additive == clip.features.additive
            && self.seconds == end - start
            && !self.has_root_motion()
            && self.events().is_empty()
            && self.beats().is_empty()
    }
}
