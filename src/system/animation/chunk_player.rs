//! Player of a streamed clip: that of the chunk around the current time.

use super::clip::Clip;
use super::clip_chunks::ClipChunks;
use super::player::ClipPlayer;
use std::sync::Arc;

/// Player of the chunks of a clip. If a chunk is not in memory when it is needed, the player holds
/// the pose of the last one, and a new player that of the start.
#[derive(Clone, PartialEq, Debug)]
pub struct ChunkPlayer {
    /// Number of the chunk.
    pub index: usize,
    chunk: Arc<Clip>,
    pub player: ClipPlayer,
}

impl ChunkPlayer {
    /// Creates a player at the start of a clip.
    pub fn new(chunks: &ClipChunks) -> ChunkPlayer {
        let chunk = chunks.first().clone();
        ChunkPlayer { index: 0, player: ClipPlayer::new(&chunk, chunks.skeleton()), chunk }
    }

    /// Moves to a time of the clip in seconds.
    pub fn seek(&mut self, chunks: &ClipChunks, time: f32) {
        let wanted = chunks.at(time);
        if wanted != self.index {
            let Some(chunk) = chunks.resident(wanted) else { return };
            self.player.restart(&chunk);
            (self.index, self.chunk) = (wanted, chunk);
        }
        self.player.seek(&self.chunk, time - chunks.start(wanted));
    }

    /// Returns to the start of the clip: the pose is that of a new player, also if the chunk of
    /// the next time cannot be read.
    pub fn restart(&mut self, chunks: &ClipChunks) {
        self.chunk.clone_from(chunks.first());
        self.player.restart(&self.chunk);
        self.index = 0;
    }
}
