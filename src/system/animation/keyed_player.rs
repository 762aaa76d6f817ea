//! Player of the tracks that have keys at times of their own: the two keys around the current time
//! for each track (the active list), and a cursor into the stream of keys. Until the next key is
//! due, only the active list is accessed.

use super::clip::{Clip, Key};
use super::lanes::Lanes;
use super::pose::PoseGroup;
use super::source::TrackProperty;
use engine_foundation::Vec4;

/// Bits of a group whose four bones have tracks.
const ALL_LANES: u8 = 0b1111;

#[cfg(test)]
thread_local! {
    /// Number of times that players of this thread did more than to look at their active lists.
    pub static MOVES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Keys around the current time, for one property of four bones. `N` is 4 for rotations and 3 for
/// positions and scales.
#[derive(Clone, PartialEq, Debug)]
struct ActiveGroup<const N: usize> {
    /// Index of the group of the pose.
    group: u32,
    /// Bones of the group that have a track, as bits.
    tracked: u8,
    from: [Lanes; N],
    to: [Lanes; N],
    /// Time of `from` in seconds.
    start: Lanes,
    /// 1 / seconds between the keys; 0 if `from` is held.
    rate: Lanes,
}

impl<const N: usize> ActiveGroup<N> {
    /// Returns a group whose bones have no tracks.
    fn empty(group: u32) -> ActiveGroup<N> {
        let (held, never) = ([Lanes::ZERO; N], Lanes::ZERO);
        ActiveGroup { group, tracked: 0, from: held, to: held, start: never, rate: never }
    }

    #[inline(always)]
    fn sample(&self, time: Lanes) -> [Lanes; N] {
        let part = ((time - self.start) * self.rate).clamp_to_unit();
        let mut sampled = self.from;
        for (value, to) in sampled.iter_mut().zip(&self.to) {
            *value = *value + (*to - *value) * part;
        }
        sampled
    }

    /// Writes the values of the bones that have a track.
    #[inline(always)]
    fn write(&self, time: Lanes, values: &mut [Lanes; N]) {
        let sampled = self.sample(time);
        if self.tracked == ALL_LANES {
            *values = sampled;
            return;
        }
        for lane in (0..4).filter(|lane| self.tracked & 1 << lane != 0) {
            for (value, sampled) in values.iter_mut().zip(&sampled) {
                value.0[lane] = sampled.0[lane];
            }
        }
    }

    fn set(&mut self, lane: usize, values: [Vec4; 2], start: f32, rate: f32) {
        for (axis, (from, to)) in self.from.iter_mut().zip(&mut self.to).enumerate() {
            (from.0[lane], to.0[lane]) = (values[0][axis], values[1][axis]);
        }
        (self.start.0[lane], self.rate.0[lane]) = (start, rate);
    }

    fn advance(&mut self, lane: usize, value: Vec4, start: f32, rate: f32) {
        for axis in 0..N {
            self.from[axis].0[lane] = self.to[axis].0[lane];
            self.to[axis].0[lane] = value[axis];
        }
        (self.start.0[lane], self.rate.0[lane]) = (start, rate);
    }
}

/// Location of a track in the active list: index of the group and lane.
#[derive(Clone, Copy, PartialEq, Debug)]
struct TrackSlot {
    group: u32,
    lane: u8,
}

/// Player of the tracks with keys at times of their own.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KeyedPlayer {
    rotations: Vec<ActiveGroup<4>>,
    positions: Vec<ActiveGroup<3>>,
    scales: Vec<ActiveGroup<3>>,
    weights: Vec<ActiveGroup<1>>,
    /// Number of morph targets.
    weight_count: usize,
    /// The lanes of each group of weights that have tracks, one bit each.
    weight_lanes: Vec<u8>,
    slots: Vec<TrackSlot>,
    /// Tick of the second key of each track.
    end_ticks: Vec<u16>,
    /// Offset of the next key in the stream.
    offset: usize,
    /// Time in seconds from which the next key is needed; infinite after the last key.
    next_due: f32,
    /// Time in seconds from which the keys of the active list are the current ones.
    valid_from: f32,
    /// Length of a tick of the clip in seconds.
    tick_seconds: f32,
}

impl KeyedPlayer {
    /// Moves to the start of a clip. Allocates only what the clips before did not need.
    pub fn restart(&mut self, clip: &Clip) {
        let player = self;
        set_groups(&mut player.rotations, clip, TrackProperty::Rotation);
        set_groups(&mut player.positions, clip, TrackProperty::Position);
        set_groups(&mut player.scales, clip, TrackProperty::Scale);
        let weight_groups = clip.weight_count().div_ceil(4);
        player.weights.clear();
        player.weights.extend(
            (0..weight_groups as u32)
                .map(|group| ActiveGroup { tracked: ALL_LANES, ..ActiveGroup::empty(group) }),
        );
        player.weight_count = clip.weight_count();
        player.weight_lanes.clear();
        player.weight_lanes.resize(weight_groups, 0);
        player.slots.clear();
        player.end_ticks.clear();
        player.end_ticks.resize(clip.tracks.len(), 0);
        player.tick_seconds = clip.tick_seconds();
        for track in &clip.tracks {
            let wanted = u32::from(track.bone) / 4;
            let group = match track.property {
                TrackProperty::Rotation => {
                    player.rotations.binary_search_by_key(&wanted, |it| it.group)
                }
                TrackProperty::Position => {
                    player.positions.binary_search_by_key(&wanted, |it| it.group)
                }
                TrackProperty::Scale => player.scales.binary_search_by_key(&wanted, |it| it.group),
                TrackProperty::Weight => Ok(wanted as usize),
            };
            let group = group.expect("each track has a group") as u32;
            let lane = (track.bone % 4) as u8;
            player.slots.push(TrackSlot { group, lane });
            if track.property == TrackProperty::Weight {
                player.weight_lanes[group as usize] |= 1 << lane;
            }
        }
        player.jump(clip, 0);
    }

    /// Moves to a time in seconds, which is within the clip.
    #[inline]
    pub fn seek(&mut self, clip: &Clip, time: f32) {
        if time < self.valid_from || time >= self.next_due {
            self.move_to(clip, time);
        }
    }

    fn move_to(&mut self, clip: &Clip, time: f32) {
        #[cfg(test)]
        MOVES.set(MOVES.get() + 1);
        let tick_seconds = self.tick_seconds;
        let reached = |tick: u16| f32::from(tick) * tick_seconds <= time;
        let nearest = clip.jump_frames.partition_point(|frame| reached(frame.tick)) - 1;
        let frame = &clip.jump_frames[nearest];
        if time < self.valid_from || frame.offset as usize > self.offset {
            self.jump(clip, nearest);
        }
        while self.next_due <= time {
            self.read_key(clip);
        }
    }

    /// Writes the values of the bones that have tracks.
    #[inline(always)]
    pub fn sample(&self, time: f32, groups: &mut [PoseGroup]) {
        let time = Lanes::splat(time);
        for active in &self.rotations {
            active.write(time, &mut groups[active.group as usize].rotation);
        }
        for active in &self.positions {
            active.write(time, &mut groups[active.group as usize].position);
        }
        for active in &self.scales {
            active.write(time, &mut groups[active.group as usize].scale);
        }
    }

    /// Writes the weights of the morph targets that have tracks, and 0 for those beyond the end of
    /// `weights`.
    pub fn sample_weights(&self, time: f32, weights: &mut Vec<f32>) {
        if self.weight_count > weights.len() {
            weights.resize(self.weight_count, 0.0);
        }
        let time = Lanes::splat(time);
        for active in &self.weights {
            let [sampled] = active.sample(time);
            let start = active.group as usize * 4;
            for (lane, value) in sampled.0.into_iter().enumerate() {
                if self.weight_lanes[active.group as usize] & 1 << lane != 0 {
                    weights[start + lane] = value;
                }
            }
        }
    }

    /// Loads a jump frame.
    fn jump(&mut self, clip: &Clip, number: usize) {
        let frame = &clip.jump_frames[number];
        self.valid_from = 0.0;
        for (track, [from, to]) in frame.keys.iter().enumerate() {
            let values = [clip.restore(*from), clip.restore(*to)];
            let (start, rate) = self.interval(clip, track, from.tick, to.tick);
            let TrackSlot { group, lane } = self.slots[track];
            let (group, lane) = (group as usize, usize::from(lane));
            match clip.tracks[track].property {
                TrackProperty::Rotation => self.rotations[group].set(lane, values, start, rate),
                TrackProperty::Position => self.positions[group].set(lane, values, start, rate),
                TrackProperty::Scale => self.scales[group].set(lane, values, start, rate),
                TrackProperty::Weight => self.weights[group].set(lane, values, start, rate),
            }
            self.end_ticks[track] = to.tick;
            self.valid_from = self.valid_from.max(start);
        }
        self.offset = frame.offset as usize;
        self.find_next_due(clip);
    }

    /// Moves the next key of the stream into the active list.
    fn read_key(&mut self, clip: &Clip) {
        let Some((Key { track, tick, value }, next)) = clip.key_at(self.offset) else {
            self.next_due = f32::INFINITY;
            return;
        };
        let index = usize::from(track);
        let value = clip.restore(Key { track, tick, value });
        let (start, rate) = self.interval(clip, index, self.end_ticks[index], tick);
        let TrackSlot { group, lane } = self.slots[index];
        let (group, lane) = (group as usize, usize::from(lane));
        match clip.tracks[index].property {
            TrackProperty::Rotation => self.rotations[group].advance(lane, value, start, rate),
            TrackProperty::Position => self.positions[group].advance(lane, value, start, rate),
            TrackProperty::Scale => self.scales[group].advance(lane, value, start, rate),
            TrackProperty::Weight => self.weights[group].advance(lane, value, start, rate),
        }
        self.valid_from = self.valid_from.max(start);
        self.end_ticks[index] = tick;
        self.offset = next;
        self.find_next_due(clip);
    }

    /// The next key is needed at the time of the second key of its track.
    #[inline]
    fn find_next_due(&mut self, clip: &Clip) {
        self.next_due = match clip.track_at(self.offset) {
            Some(track) => f32::from(self.end_ticks[usize::from(track)]) * self.tick_seconds,
            None => f32::INFINITY,
        };
    }

    /// Returns the start in seconds and the rate of an interval between two keys.
    fn interval(&self, clip: &Clip, track: usize, from: u16, to: u16) -> (f32, f32) {
        let start = f32::from(from) * self.tick_seconds;
        let seconds = f32::from(to.saturating_sub(from)) * self.tick_seconds;
        let held = clip.tracks[track].step || seconds <= 0.0;
        (start, if held { 0.0 } else { 1.0 / seconds })
    }
}

/// Replaces the groups by those of a property of a clip.
fn set_groups<const N: usize>(
    groups: &mut Vec<ActiveGroup<N>>,
    clip: &Clip,
    property: TrackProperty,
) {
    groups.clear();
    for track in clip.tracks.iter().filter(|track| track.property == property) {
        let group = u32::from(track.bone) / 4;
        if groups.last().is_none_or(|last| last.group != group) {
            groups.push(ActiveGroup::empty(group));
        }
        let last = groups.last_mut().expect("the group was added");
        last.tracked |= 1 << (track.bone % 4);
    }
}
