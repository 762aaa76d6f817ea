//! Player of a clip: the two rows and the keys around the current time, and cursors into the rows
//! and the stream of keys. Until the next row or key is due, only the player itself is accessed.

use super::clip::Clip;
use super::constant_track::ConstantLayout;
use super::dispatch::dispatched_to;
use super::keyed_player::KeyedPlayer;
use super::pose::Pose;
use super::row_layout::RowLayout;
use super::row_state::RowState;
use super::skeleton::Skeleton;
use std::sync::Arc;

/// Player of one clip. The clip is passed to each call and must always be the same.
///
/// Forward playback reads each row and each key once. Reverse playback has no stream of its own: as
/// long as the time is within the current rows and keys, only the active list is accessed; each
/// time that it passes the start of one, the nearest earlier saved state is loaded and the rows
/// after it are read, on average half of those in [`super::ClipSettings::jump_seconds`]: the cost
/// of a seek for each row. More saved states make reverse playback cheaper. The compiled form is
/// not larger: the states are computed when it is read.
#[derive(Clone, PartialEq, Debug)]
pub struct ClipPlayer {
    /// The two rows around the current time; empty if the clip has no rows.
    rows: RowState,
    /// Time between the rows: 0 at the first, 1 at the second.
    row_part: f32,
    rows_per_second: f32,
    /// Current time in seconds.
    time: f32,
    row_layout: Arc<RowLayout>,
    constants: Arc<ConstantLayout>,
    /// `None` if all tracks are rows or constant.
    keyed: Option<Box<KeyedPlayer>>,
}

impl ClipPlayer {
    /// Creates a player at the start of a clip for characters with this skeleton. Bones without
    /// tracks keep their rest transform, and no difference in additive clips. Panics if clip and
    /// skeleton have different numbers of bones.
    pub fn new(clip: &Clip, skeleton: &Skeleton) -> ClipPlayer {
        assert_eq!(clip.bone_count(), skeleton.bone_count(), "a clip is made for one skeleton");
        ClipPlayer {
            rows: clip.rows.states.first(),
            row_part: 0.0,
            rows_per_second: match clip.rows.count {
                0 => 0.0,
                count => (count - 1) as f32 / clip.seconds,
            },
            time: 0.0,
            row_layout: clip.rows.layout.clone(),
            constants: clip.constants.layout.clone(),
            keyed: (!clip.tracks.is_empty()).then(|| Box::new(KeyedPlayer::new(clip, skeleton))),
        }
    }

    /// Lets the processor load the memory of the player before it is used.
    #[inline]
    pub fn prefetch(&self) {
        self.rows.prefetch();
    }

    /// Returns the current time in seconds.
    pub fn time(&self) -> f32 {
        self.time
    }

    /// Returns the number of the second of the two rows around the current time.
    #[cfg(test)]
    pub(crate) fn row(&self) -> u32 {
        self.rows.row
    }

    /// Moves to a time in seconds, limited to the clip; NaN is 0. Forward in time, only the rows
    /// and keys between are read. Backward beyond the start of a current key, the nearest earlier
    /// saved state is loaded first. The result depends on the time alone.
    pub fn seek(&mut self, clip: &Clip, time: f32) {
        let time = if time > 0.0 { time.min(clip.seconds) } else { 0.0 };
        if clip.rows.count > 0 {
            self.seek_row(clip, time);
        }
        if let Some(keyed) = &mut self.keyed {
            keyed.seek(clip, time);
        }
        self.time = time;
    }

    /// Moves to the two rows around a time.
    #[inline]
    fn seek_row(&mut self, clip: &Clip, time: f32) {
        let rows = &clip.rows;
        let position = time * self.rows_per_second;
        // Numbers of rows are small enough for exact conversions.
        let before = (position as u32).min(rows.count - 2);
        self.row_part = (position - before as f32).min(1.0);
        let wanted = before + 1;
        if wanted == self.rows.row {
            return;
        }
        let nearest = (before / rows.state_rows) as usize;
        if wanted < self.rows.row || rows.states.row(nearest) > self.rows.row {
            self.rows.load(&rows.states, nearest);
        }
        while self.rows.row < wanted {
            self.rows.read_row(rows);
        }
    }

    /// Writes the pose at the current time. Rotations are not normalized. Bones without a track are
    /// as in `base`: the pose below the clip, or [`super::additive_rest`] for additive clips.
    pub fn sample(&self, base: &Pose, pose: &mut Pose) {
        write_pose(self, base, pose);
    }

    /// Writes the weights of the morph targets at the current time. Targets without tracks keep
    /// those of `rest`, and 0 beyond its end.
    pub fn sample_weights(&self, rest: &[f32], weights: &mut Vec<f32>) {
        weights.clear();
        weights.extend_from_slice(rest);
        if let Some(keyed) = &self.keyed {
            keyed.sample_weights(self.time, weights);
        }
    }
}

dispatched_to! { write_pose_with: fn write_pose(player: &ClipPlayer, base: &Pose, pose: &mut Pose) }

/// Writes the pose at the current time. `WIDE`: the processor has AVX2.
#[inline(always)]
fn write_pose_with<const WIDE: bool>(player: &ClipPlayer, base: &Pose, pose: &mut Pose) {
    pose.groups.clear();
    pose.groups.extend_from_slice(&base.groups);
    player.constants.write(&mut pose.groups);
    player.rows.sample::<WIDE>(&player.row_layout, player.row_part, &mut pose.groups);
    if let Some(keyed) = &player.keyed {
        keyed.sample(player.time, &mut pose.groups);
    }
}
