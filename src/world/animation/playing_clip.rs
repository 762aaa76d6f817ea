//! A clip that a character plays on one of its layers: its options, its time and its fades, and the
//! events that it passes. Layers and poses are in character.rs.

use super::animated_model::AnimatedModel;
use super::clip_streams::ClipUse;
use engine_animation::{Clip, ClipPlayer, Curve, RigidTransform, StackedFade};
use engine_foundation::hash::StateHash;

/// Maximum number of clips that a character plays at once.
pub const PLAYING_MAX: usize = 16;

/// Options of a clip that starts to play.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlayOptions {
    /// Layer, from 0. Higher layers replace lower ones for the bones of their clips.
    pub layer: u8,
    /// Seconds in which the clip replaces those that its layer plays.
    pub blend: f32,
    pub loops: bool,
    /// Speed; 1 is the speed of the clip, and negative numbers play backward.
    pub speed: f32,
    /// Part of the clip that is played: start and end in seconds.
    pub range: [f32; 2],
    /// True to add the difference of the clip from the rest pose to the clips below. Clips that are
    /// differences are always added.
    pub adds: bool,
}

impl PlayOptions {
    /// The whole clip once, at once and at its own speed, on the lowest layer.
    pub fn once(seconds: f32) -> PlayOptions {
        let (layer, blend, loops, speed) = (0, 0.0, false, 1.0);
        PlayOptions { layer, blend, loops, speed, range: [0.0, seconds], adds: false }
    }
}

/// Movement of a clip's time in an update. Its end is the time of the clip.
#[derive(Clone, Copy, PartialEq, Debug)]
struct TimeStep {
    /// Time before the update in seconds.
    from: f32,
    /// Number of times that the end was crossed; negative in reverse.
    loops: i32,
    /// Seconds since the clip reached its end within the update; otherwise 0.
    stopped: f32,
}

/// A clip that a character plays.
#[derive(Clone, Debug)]
pub struct PlayingClip {
    /// Number of the clip, unique in the character.
    pub id: u32,
    /// Index of the clip in the model.
    pub clip: u16,
    pub options: PlayOptions,
    /// Seconds from the start of the clip.
    pub time: f32,
    /// Seconds since the clip started.
    age: f32,
    /// Seconds of the fade-out: those that have passed, and their total.
    ending: Option<[f32; 2]>,
    step: TimeStep,
    pub(super) player: ClipPlayer,
}

impl PlayingClip {
    pub(super) fn new(id: u32, clip: u16, options: PlayOptions, player: ClipPlayer) -> PlayingClip {
        let [start, end] = options.range;
        let time = if options.speed < 0.0 { end } else { start };
        let step = TimeStep { from: time, loops: 0, stopped: 0.0 };
        PlayingClip { id, clip, options, time, age: 0.0, ending: None, step, player }
    }

    /// Returns the share of this clip against those below it, from 0 to 1.
    pub fn share(&self) -> f32 {
        let fade_in = match self.options.blend > 0.0 {
            true => (self.age / self.options.blend).min(1.0),
            false => 1.0,
        };
        let fade_out = match self.ending {
            Some([passed, total]) if total > 0.0 => 1.0 - (passed / total).min(1.0),
            Some(_) => 0.0,
            None => 1.0,
        };
        fade_in * fade_out
    }

    /// Returns true if the clip changes the pose below it, and replaces no other clip.
    pub fn is_added(&self, model: &AnimatedModel) -> bool {
        self.options.adds || model.clips[usize::from(self.clip)].clip.is_additive()
    }

    /// Lets the clip fade out in a number of seconds. Does nothing if it fades out already.
    pub(super) fn end(&mut self, seconds: f32) {
        self.ending.get_or_insert([0.0, seconds]);
    }

    /// Returns true until the clip has faded out.
    pub(super) fn is_alive(&self) -> bool {
        self.ending.is_none_or(|[passed, total]| passed < total)
    }

    pub(super) fn advance(&mut self, seconds: f32) {
        self.age += seconds;
        if let Some([passed, _]) = &mut self.ending {
            *passed += seconds;
        }
        let from = self.time;
        let time = from + seconds * self.options.speed;
        let loops = self.set_time(time);
        let rest = (time - self.time) / self.options.speed;
        let stopped = if self.has_finished() && rest > 0.0 { rest.min(seconds) } else { 0.0 };
        self.step = match time.is_finite() {
            true => TimeStep { from, loops, stopped },
            false => TimeStep { from: self.time, loops: 0, stopped: 0.0 },
        };
    }

    /// Returns the fades at the end of the last update.
    pub(super) fn stacked(&self) -> StackedFade {
        StackedFade {
            rise: (self.age, self.options.blend),
            curve: Curve::Linear,
            fall: self.ending.map(|[passed, total]| (passed, total)),
            stopped: self.step.stopped,
        }
    }

    /// Returns the use of the clip in the current pose.
    pub(super) fn clip_use(&self) -> ClipUse {
        let PlayOptions { speed, range, loops, .. } = self.options;
        ClipUse { time: self.time, speed, range, loops, held: self.player.chunk() }
    }

    /// Returns the movement of the root in the last update.
    pub(super) fn root_delta(&self, clip: &Clip) -> RigidTransform {
        let TimeStep { from, loops, .. } = self.step;
        clip.root_delta_in(self.options.range, from, self.time, loops)
    }

    /// Sets the time: inside the range, or at its other end if the clip loops. Returns the number
    /// of times that the end was crossed; negative in reverse.
    pub(super) fn set_time(&mut self, time: f32) -> i32 {
        let [start, end] = self.options.range;
        let seconds = end - start;
        if !(seconds > 0.0 && time.is_finite()) {
            self.time = start;
        } else if self.options.loops && !(start..=end).contains(&time) {
            let rest = (time - start) % seconds;
            let rest = if rest < 0.0 { (rest + seconds).min(seconds) } else { rest };
            self.time = rest + start;
            return ((time - start - rest) / seconds).round() as i32;
        } else {
            self.time = time.clamp(start, end);
        }
        0
    }

    /// Returns true if the clip has been played to its end.
    pub(super) fn has_finished(&self) -> bool {
        let [start, end] = self.options.range;
        let last = if self.options.speed < 0.0 { start } else { end };
        !self.options.loops && self.time == last
    }

    /// Appends the indices of the events that the clip passed in the last update.
    fn append_events(&self, clip: &Clip, found: &mut Vec<u16>) {
        let TimeStep { from, loops, .. } = self.step;
        let [start, end] = self.options.range;
        if loops == 0 || (start == 0.0 && end == clip.seconds) {
            return clip.append_events(from, self.time, loops, found);
        }
        // A part of the clip: from here to its end, and from its other end on.
        let (last, first) = if loops > 0 { (end, start) } else { (start, end) };
        clip.append_events(from, last, 0, found);
        for _ in 1..loops.unsigned_abs().min(1 + REPEATED_EVENTS_MAX) {
            clip.append_events(first, last, 0, found);
        }
        clip.append_events(first, self.time, 0, found);
    }

    pub(super) fn write_state(&self, model: &AnimatedModel, hash: &mut StateHash) {
        hash.write_u64(u64::from(self.id));
        hash.write_u64(model.clips[usize::from(self.clip)].hash);
        let PlayOptions { layer, blend, loops, speed, range: [start, end], adds } = self.options;
        hash.write_u64(u64::from(adds) << 63 | u64::from(layer) << 1 | u64::from(loops));
        for number in [self.time, self.age, speed, blend, start, end] {
            hash.write_f32(number);
        }
        let [passed, total] = self.ending.unwrap_or([-1.0; 2]);
        hash.write_f32(passed);
        hash.write_f32(total);
    }
}

/// Maximum number of whole repetitions of a part of a clip in one update whose events are sent.
const REPEATED_EVENTS_MAX: u32 = 4;

/// Calls `notify` for each event that clips passed in the last update, with the clip and the index
/// of the event. In each layer, the clip that was started last sends its events, and those that are
/// added: a clip that fades out is silent, so that two walks do not step twice. `found` is memory
/// for reuse.
pub(super) fn each_event(
    playing: &[PlayingClip],
    model: &AnimatedModel,
    found: &mut Vec<u16>,
    mut notify: impl FnMut(&PlayingClip, u16),
) {
    let mut sending = [false; PLAYING_MAX];
    let mut replaced = None;
    for (it, sends) in playing.iter().zip(&mut sending).rev() {
        let is_added = it.is_added(model);
        *sends = it.ending.is_none() && (is_added || replaced != Some(it.options.layer));
        if !is_added {
            replaced = Some(it.options.layer);
        }
    }
    for (it, _) in playing.iter().zip(sending).filter(|(_, sends)| *sends) {
        let clip = &model.clips[usize::from(it.clip)].clip;
        if clip.events().is_empty() {
            continue;
        }
        found.clear();
        it.append_events(clip, found);
        found.drain(..).for_each(|event| notify(it, event));
    }
}
