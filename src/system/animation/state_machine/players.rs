//! Players of the samples of characters, and a pool from which characters with the same clips take
//! them, so that transitions do not allocate.

use super::super::clip::Clip;
use super::super::lanes::prefetch;
use super::super::player::ClipPlayer;
use super::super::pose::Pose;
use super::super::skeleton::{BoneTransform, Skeleton};
use super::evaluate::PoseEvaluator;
use super::mask::BoneMask;
use super::playback::{Sample, SampleMode, StateMachineOutput};

/// Maximum number of unused players that a pool keeps for a clip.
pub const POOLED_PLAYERS_MAX: usize = 64;

/// Unused players, for one skeleton and the clips of one state machine.
#[derive(Clone, Debug, Default)]
pub struct PlayerPool {
    /// Players of each clip.
    free: Vec<Vec<ClipPlayer>>,
    /// Pose that changes nothing if it is added: the rest pose of clips of differences.
    identity: Pose,
}

/// Player of a sample.
#[derive(Clone, Debug)]
struct SamplePlayer {
    layer: u16,
    track: u16,
    clip: u16,
    /// `None` if the clip does not exist.
    player: Option<ClipPlayer>,
}

impl SamplePlayer {
    fn plays(&self, sample: &Sample) -> bool {
        (self.layer, self.track, self.clip) == (sample.layer, sample.track, sample.clip)
    }
}

/// Players of the samples of a character.
#[derive(Clone, Debug, Default)]
pub struct SamplePlayers {
    /// In the order of the samples.
    players: Vec<SamplePlayer>,
}

/// Data that all characters with the same skeleton and state machine share.
#[derive(Clone, Copy)]
pub struct RigData<'a> {
    pub skeleton: &'a Skeleton,
    pub rest: &'a Pose,
    /// Returns a clip of the state machine by its number. A clip that does not exist shows the rest
    /// pose. All of them are of this skeleton.
    pub clip: &'a dyn Fn(u16) -> Option<&'a Clip>,
    /// Masks of the state machine.
    pub masks: &'a [BoneMask],
}

impl PlayerPool {
    /// Returns the number of unused players.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.free.iter().map(Vec::len).sum()
    }

    fn take(&mut self, rig: &RigData, clip: u16) -> Option<ClipPlayer> {
        let index = usize::from(clip);
        let clip = (rig.clip)(clip)?;
        let free = self.free.get_mut(index).and_then(Vec::pop);
        Some(free.unwrap_or_else(|| ClipPlayer::new(clip, rig.skeleton)))
    }

    fn put_back(&mut self, rig: &RigData, clip: u16, mut player: ClipPlayer) {
        let index = usize::from(clip);
        let Some(clip) = (rig.clip)(clip) else { return };
        if self.free.len() <= index {
            self.free.resize_with(index + 1, Vec::new);
        }
        if self.free[index].len() < POOLED_PLAYERS_MAX {
            player.release_chunk(clip);
            self.free[index].push(player);
        }
    }
}

impl SamplePlayers {
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.players.is_empty()
    }

    /// Lets the processor load the list of players, which [`SamplePlayers::prefetch`] reads.
    #[inline]
    pub fn prefetch_list(&self) {
        prefetch(&self.players);
    }

    /// Lets the processor load the memory of all players before it is used.
    #[inline]
    pub fn prefetch(&self) {
        self.players.iter().filter_map(|it| it.player.as_ref()).for_each(ClipPlayer::prefetch);
    }

    /// Returns the player of a sample of the last evaluation.
    pub fn player(&self, sample: &Sample) -> Option<&ClipPlayer> {
        let found = self.players.iter().find(|player| player.plays(sample));
        found.and_then(|found| found.player.as_ref())
    }

    /// Returns all players to the pool.
    pub fn release(&mut self, rig: &RigData, pool: &mut PlayerPool) {
        self.truncate(0, rig, pool);
    }

    /// Returns the players from a number on to the pool.
    pub(super) fn truncate(&mut self, count: usize, rig: &RigData, pool: &mut PlayerPool) {
        for unused in self.players.drain(count.min(self.players.len())..) {
            if let Some(player) = unused.player {
                pool.put_back(rig, unused.clip, player);
            }
        }
    }

    /// Finds a player for each sample: that of the previous frame, one of the pool, or a new one.
    fn assign(&mut self, output: &StateMachineOutput, rig: &RigData, pool: &mut PlayerPool) {
        for (index, sample) in output.samples.iter().enumerate() {
            let rest = self.players.get(index..).unwrap_or_default();
            match rest.iter().position(|player| player.plays(sample)) {
                Some(found) => self.players.swap(index, index + found),
                None => {
                    let Sample { layer, track, clip, .. } = *sample;
                    let player = pool.take(rig, clip);
                    self.players.push(SamplePlayer { layer, track, clip, player });
                    let last = self.players.len() - 1;
                    self.players.swap(index, last);
                }
            }
        }
        self.truncate(output.samples.len(), rig, pool);
    }

    /// Writes the pose of a character into `pose`. Allocates only while the pool grows, and while
    /// chunks of streamed clips need more memory than those before.
    pub fn evaluate(
        &mut self,
        output: &StateMachineOutput,
        rig: &RigData,
        pool: &mut PlayerPool,
        evaluator: &mut PoseEvaluator,
        pose: &mut Pose,
    ) {
        self.assign(output, rig, pool);
        self.prefetch();
        if pool.identity.groups.len() != rig.rest.groups.len() {
            let bones = vec![BoneTransform::IDENTITY; rig.rest.groups.len() * 4];
            pool.identity = Pose::new(&bones);
        }
        evaluator.evaluate(output, rig.masks, rig.rest, pose, |index, sample, sampled| {
            let base = if sample.mode == SampleMode::Add { &pool.identity } else { rig.rest };
            let SamplePlayer { clip, player, .. } = &mut self.players[index];
            match ((rig.clip)(*clip), player) {
                (Some(clip), Some(player)) => {
                    player.seek(clip, sample.time);
                    player.sample(base, sampled);
                }
                _ => {
                    sampled.groups.clear();
                    sampled.groups.extend_from_slice(&base.groups);
                }
            }
        });
    }
}
