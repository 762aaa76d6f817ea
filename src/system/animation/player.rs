//! Player of a clip: the two keyframes and the keys around the current time, and cursors into the
//! keyframes and the stream of keys. Until the next keyframe or key is due, only the player itself
//! is accessed.

use super::chunk_player::ChunkPlayer;
use super::clip::Clip;
use super::constant_track::ConstantLayout;
use super::dispatch::dispatched_to;
use super::keyed_player::KeyedPlayer;
use super::pose::Pose;
use super::skeleton::Skeleton;
use super::uniform_layout::UniformLayout;
use super::uniform_state::UniformState;
use std::sync::Arc;

/// Player of one clip. The clip is passed to each call and must always be the same.
///
/// Forward playback reads each keyframe and each key once. Reverse playback has no stream of its
/// own: as long as the time is within the current keyframes and keys, only the active list is
/// accessed; each time that it passes the start of one, the nearest earlier saved state is loaded
/// and the keyframes after it are read, on average half of those in
/// [`super::ClipSettings::jump_seconds`]: the cost of a seek for each keyframe. More saved states
/// make reverse playback cheaper. The compiled form is not larger: the states are computed when it
/// is read.
#[derive(Clone, PartialEq, Debug)]
pub struct ClipPlayer {
    /// The two keyframes around the current time; empty if the clip has no keyframes.
    keyframes: UniformState,
    /// Time between the keyframes: 0 at the first, 1 at the second.
    keyframe_part: f32,
    keyframes_per_second: f32,
    /// Current time in seconds.
    time: f32,
    uniform_layout: Arc<UniformLayout>,
    constants: Arc<ConstantLayout>,
    /// `None` if no clip so far had tracks that are neither uniform nor constant.
    keyed: Option<Box<KeyedPlayer>>,
    /// True if the clip has such tracks.
    has_keys: bool,
    /// `None` if the clip is not streamed.
    chunk: Option<Box<ChunkPlayer>>,
}

impl ClipPlayer {
    /// Creates a player at the start of a clip for characters with this skeleton. Bones without
    /// tracks keep their rest transform, and no difference in additive clips. Panics if clip and
    /// skeleton have different numbers of bones.
    pub fn new(clip: &Clip, skeleton: &Skeleton) -> ClipPlayer {
        assert_eq!(clip.bone_count(), skeleton.bone_count(), "a clip is made for one skeleton");
        let mut player = ClipPlayer {
            keyframes: UniformState::default(),
            keyframe_part: 0.0,
            keyframes_per_second: 0.0,
            time: 0.0,
            uniform_layout: clip.keyframes.layout.clone(),
            constants: clip.constants.layout.clone(),
            keyed: None,
            has_keys: false,
            chunk: clip.chunks().map(|chunks| Box::new(ChunkPlayer::new(chunks))),
        };
        player.restart(clip);
        player
    }

    /// Moves to the start of a clip of the same skeleton: of one without chunks, or of a chunk. The
    /// head of a streamed clip has no tracks. Allocates only what the clips before did not need.
    pub(crate) fn restart(&mut self, clip: &Clip) {
        self.keyframes.restart(&clip.keyframes.states);
        self.keyframe_part = 0.0;
        self.keyframes_per_second = match clip.keyframes.count {
            0 => 0.0,
            count => (count - 1) as f32 / clip.seconds,
        };
        self.time = 0.0;
        self.uniform_layout.clone_from(&clip.keyframes.layout);
        self.constants.clone_from(&clip.constants.layout);
        self.has_keys = !clip.tracks.is_empty();
        if self.has_keys {
            self.keyed.get_or_insert_default().restart(clip);
        }
    }

    /// Returns the player of the tracks that are neither uniform nor constant.
    #[inline(always)]
    fn keys(&self) -> Option<&KeyedPlayer> {
        self.keyed.as_deref().filter(|_| self.has_keys)
    }

    /// Returns a player of a streamed clip that nobody uses to the start. It keeps no chunk but the
    /// first one, which is always in memory.
    pub(crate) fn release_chunk(&mut self, clip: &Clip) {
        if let (Some(chunk), Some(chunks)) = (&mut self.chunk, clip.chunks()) {
            chunk.restart(chunks);
        }
    }

    /// Lets the processor load the memory of the player before it is used.
    #[inline]
    pub fn prefetch(&self) {
        self.keyframes.prefetch();
        if let Some(chunk) = &self.chunk {
            chunk.player.prefetch();
        }
    }

    /// Returns the number of the chunk of a streamed clip that the player holds.
    pub fn chunk(&self) -> Option<usize> {
        self.chunk.as_ref().map(|chunk| chunk.index)
    }

    /// Returns the current time in seconds.
    pub fn time(&self) -> f32 {
        self.time
    }

    /// Returns the number of the second of the two keyframes around the current time.
    #[cfg(test)]
    pub(crate) fn keyframe(&self) -> u32 {
        self.keyframes.keyframe
    }

    /// Moves to a time in seconds, limited to the clip; NaN is 0. Forward in time, only the
    /// keyframes and keys between are read. Backward beyond the start of a current key, the nearest
    /// earlier saved state is loaded first. The result depends on the time alone.
    pub fn seek(&mut self, clip: &Clip, time: f32) {
        let time = if time > 0.0 { time.min(clip.seconds) } else { 0.0 };
        if clip.keyframes.count > 0 {
            self.seek_keyframe(clip, time);
        }
        if let Some(keyed) = self.keyed.as_mut().filter(|_| self.has_keys) {
            keyed.seek(clip, time);
        }
        if let (Some(chunk), Some(chunks)) = (&mut self.chunk, clip.chunks()) {
            chunk.seek(chunks, time);
        }
        self.time = time;
    }

    /// Moves to the two keyframes around a time.
    #[inline]
    fn seek_keyframe(&mut self, clip: &Clip, time: f32) {
        let keyframes = &clip.keyframes;
        let position = time * self.keyframes_per_second;
        // Numbers of keyframes are small enough for exact conversions.
        let before = (position as u32).min(keyframes.count - 2);
        self.keyframe_part = (position - before as f32).min(1.0);
        let wanted = before + 1;
        if wanted == self.keyframes.keyframe {
            return;
        }
        let nearest = (before / keyframes.state_keyframes) as usize;
        if wanted < self.keyframes.keyframe
            || keyframes.states.keyframe(nearest) > self.keyframes.keyframe
        {
            self.keyframes.load(&keyframes.states, nearest);
        }
        while self.keyframes.keyframe < wanted {
            self.keyframes.read_keyframe(keyframes);
        }
    }

    /// Writes the pose at the current time. Rotations are not normalized. Bones without a track are
    /// as in `base`: the pose below the clip, or [`super::additive_rest`] for additive clips.
    pub fn sample(&self, base: &Pose, pose: &mut Pose) {
        if let Some(chunk) = &self.chunk {
            return chunk.player.sample(base, pose);
        }
        write_pose(self, base, pose);
    }

    /// Writes the pose at the current time over that of other clips, `below`. Bones that the clip
    /// keeps at rest are as in `rest`, and bones without any track as in `below`.
    pub fn sample_over(&self, clip: &Clip, (below, rest): (&Pose, &Pose), pose: &mut Pose) {
        self.sample(below, pose);
        clip.copy_rests(rest, pose);
    }

    /// Writes the weights of the morph targets at the current time. Targets without tracks keep
    /// those of `rest`, and 0 beyond its end.
    pub fn sample_weights(&self, rest: &[f32], weights: &mut Vec<f32>) {
        if let Some(chunk) = &self.chunk {
            return chunk.player.sample_weights(rest, weights);
        }
        weights.clear();
        weights.extend_from_slice(rest);
        if let Some(keyed) = self.keys() {
            keyed.sample_weights(self.time, weights);
        }
    }
}

dispatched_to! { write_pose_with: fn write_pose(player: &ClipPlayer, base: &Pose, pose: &mut Pose) }

/// Writes the pose at the current time. `WIDE`: the processor has AVX2.
#[inline(always)]
fn write_pose_with<const WIDE: bool>(player: &ClipPlayer, base: &Pose, pose: &mut Pose) {
    player.uniform_layout.write_base(base, pose);
    player.constants.write(&mut pose.groups);
    player.keyframes.sample::<WIDE>(&player.uniform_layout, player.keyframe_part, &mut pose.groups);
    if let Some(keyed) = player.keys() {
        keyed.sample(player.time, &mut pose.groups);
    }
}
