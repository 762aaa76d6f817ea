//! Time of a track: one step from a phase to the next one, with repetitions, ends and beats. A
//! phase is a fraction of a length, from 0 to 1.

use super::super::clip_events::LOOPS_MAX;
use super::runtime::ClipInfo;

/// Maximum number of repetitions in one step whose events are sent.
pub const REPEATED_EVENTS_MAX: u32 = 8;
/// Maximum change of a phase per second. Shorter lengths play slower.
const PHASE_RATE_MAX: f32 = 1e6;

/// Moments of a step, each as the seconds from that moment to the end of the step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Boundary {
    /// The state ended.
    pub end: Option<f32>,
    /// The state ended or repeated.
    pub repeat: Option<f32>,
    pub beat: Option<f32>,
}

impl Boundary {
    /// Returns the moments of a state without a time of its own: nothing has to be waited for.
    pub fn without_time(dt: f32) -> Boundary {
        Boundary { end: None, repeat: Some(dt), beat: Some(dt) }
    }
}

/// Range of phases that were passed, with or without its ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PhaseRange {
    from: f32,
    to: f32,
    with_from: bool,
    with_to: bool,
}

impl PhaseRange {
    pub fn contains(&self, phase: f32) -> bool {
        let after = phase > self.from || self.with_from && phase == self.from;
        let before = phase < self.to || self.with_to && phase == self.to;
        after && before
    }
}

/// Step of a track's time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Clock {
    /// Phase before the step.
    from: f32,
    /// Phase after the step.
    to: f32,
    /// Change of the phase per second.
    rate: f32,
    /// Number of times that the end was passed.
    repeats: u32,
    /// Seconds since the end, or since the first repetition.
    since_end: Option<f32>,
    loops: bool,
    /// True if there is no length: the events are sent once.
    is_pose: bool,
    was_finished: bool,
}

impl Clock {
    /// Computes a step of `dt` seconds of a state with a length of `seconds`, from a phase.
    /// `was_finished`: the end was reached before.
    pub fn new(
        (phase, was_finished): (f32, bool),
        speed: f32,
        seconds: f32,
        dt: f32,
        loops: bool,
    ) -> Clock {
        let mut clock = Clock {
            from: phase,
            to: phase,
            rate: 0.0,
            repeats: 0,
            since_end: None,
            loops,
            is_pose: seconds <= 0.0,
            was_finished,
        };
        if clock.is_pose {
            // It has ended as soon as it begins.
            clock.to = if loops { 0.0 } else { 1.0 };
            clock.since_end = Some(dt);
            return clock;
        }
        clock.rate = (speed / seconds).clamp(-PHASE_RATE_MAX, PHASE_RATE_MAX);
        let next = phase + clock.rate * dt;
        let backward = clock.rate < 0.0;
        if (0.0..1.0).contains(&next) || next == 1.0 && backward {
            clock.to = next;
            clock.was_finished = false;
            return clock;
        }
        let beyond = if backward { -next } else { next - 1.0 };
        let since_end = beyond / clock.rate.abs();
        let since_end = if since_end.is_finite() { since_end.clamp(0.0, dt) } else { dt };
        if clock.rate == 0.0 {
            // Stopped at its end.
            clock.since_end = (!loops).then_some(dt);
        } else if loops {
            let whole = next.floor();
            clock.to = (next - whole).clamp(0.0, 1.0);
            clock.repeats = (whole.abs() as u32).clamp(1, u32::MAX);
            clock.since_end = Some(since_end);
            clock.was_finished = false;
        } else {
            clock.to = if backward { 0.0 } else { 1.0 };
            clock.since_end = Some(if was_finished { dt } else { since_end });
        }
        clock
    }

    /// Returns a step to a phase that an expression determines.
    pub fn scrubbed(from: f32, to: f32) -> Clock {
        let (rate, loops) = (to - from, false);
        let (is_pose, was_finished) = (false, false);
        Clock { from, to, rate, repeats: 0, since_end: None, loops, is_pose, was_finished }
    }

    /// Returns the phase before the step.
    pub fn start(&self) -> f32 {
        self.from
    }

    /// Returns the number of times that the end was passed; negative in reverse.
    pub fn loops(&self) -> i32 {
        let repeats = self.repeats.min(LOOPS_MAX as u32) as i32;
        if self.rate < 0.0 { -repeats } else { repeats }
    }

    /// Returns true if the start follows the end.
    pub fn wraps(&self) -> bool {
        self.loops
    }

    /// Returns the phase after the step.
    pub fn phase(&self) -> f32 {
        self.to
    }

    /// Returns true if the end was reached. A pose that repeats is finished, too, so that its
    /// events are sent once.
    pub fn is_finished(&self) -> bool {
        self.is_pose || self.since_end.is_some() && !self.loops
    }

    pub fn boundary(&self, dt: f32) -> Boundary {
        let end = self.since_end.filter(|_| !self.loops);
        // No end can come if the clip does not move.
        let repeat = if self.rate == 0.0 { Some(dt) } else { self.since_end };
        Boundary { end, repeat, beat: Some(dt) }
    }

    /// Calls `visit` for each range of phases that the step passes, in the order of time.
    pub fn each_range(&self, mut visit: impl FnMut(PhaseRange)) {
        let Clock { from, to, rate, .. } = *self;
        if self.was_finished {
            return;
        }
        let range = |from: f32, to: f32, with_from: bool, with_to: bool| PhaseRange {
            from,
            to,
            with_from,
            with_to,
        };
        if self.is_pose {
            visit(range(0.0, 1.0, true, true));
            return;
        }
        if rate == 0.0 {
            return;
        }
        let forward = rate > 0.0;
        if self.repeats == 0 {
            let ends = self.since_end.is_some();
            match forward {
                true => visit(range(from, to, true, ends)),
                false => visit(range(to, from, ends, true)),
            }
            return;
        }
        match forward {
            true => visit(range(from, 1.0, true, true)),
            false => visit(range(0.0, from, true, true)),
        }
        for _ in 0..(self.repeats - 1).min(REPEATED_EVENTS_MAX) {
            visit(range(0.0, 1.0, true, true));
        }
        match forward {
            true => visit(range(0.0, to, true, false)),
            false => visit(range(to, 1.0, false, true)),
        }
    }
}

/// Returns the beats of a clip as phases.
fn beat_phases(clip: &ClipInfo) -> impl ExactSizeIterator<Item = f32> + Clone + '_ {
    let seconds = clip.seconds;
    clip.beats.iter().map(move |beat| {
        let phase = if seconds > 0.0 { beat / seconds } else { 0.0 };
        if phase > 0.0 && phase <= 1.0 { phase } else { 0.0 }
    })
}

/// Returns the phase of the first beat, or 0.
pub fn first_beat_phase(clip: &ClipInfo) -> f32 {
    beat_phases(clip).next().unwrap_or(0.0)
}

/// Returns the seconds from the next beat to the end of the step, if the step passes a beat. If no
/// beat can come, because there are none or the clip does not move, returns the whole step.
pub fn next_beat(clip: &ClipInfo, clock: &Clock, dt: f32) -> Option<f32> {
    if clip.beats.is_empty() || clock.rate == 0.0 {
        return Some(dt);
    }
    let nearest = beat_phases(clip).filter_map(|beat| {
        let mut distance = if clock.rate > 0.0 { beat - clock.from } else { clock.from - beat };
        if distance < 0.0 {
            if !clock.loops {
                return None;
            }
            distance += 1.0;
        }
        Some(distance / clock.rate.abs())
    });
    let nearest = nearest.fold(f32::INFINITY, |least, it| if it < least { it } else { least });
    match nearest <= dt {
        true => Some(dt - nearest),
        // Without another beat, the end is the last one.
        false => clock.since_end.filter(|_| !clock.loops),
    }
}

/// Returns the phase in clip `new` in the same part of an interval between beats as `phase` in clip
/// `old`, in the interval that is nearest to `phase`. Without beats, returns `phase`.
pub fn closest_beat_phase(old: &ClipInfo, new: &ClipInfo, phase: f32) -> f32 {
    if old.beats.is_empty() || new.beats.is_empty() {
        return phase;
    }
    let (start, length) = interval_at(old, phase);
    let part = if length > 0.0 { wrap(phase - start) / length } else { 0.0 };
    let mut best = (f32::INFINITY, phase);
    let count = new.beats.len();
    for index in 0..count {
        let (start, length) = interval(new, index);
        let candidate = wrap(start + length * part);
        let distance = wrap(candidate - phase);
        let distance = if distance > 0.5 { 1.0 - distance } else { distance };
        if distance < best.0 {
            best = (distance, candidate);
        }
    }
    best.1
}

/// Returns the start and the length of the interval between a beat and the next one, over the end.
fn interval(clip: &ClipInfo, index: usize) -> (f32, f32) {
    let mut beats = beat_phases(clip).skip(index);
    let start = beats.next().unwrap_or(0.0);
    let next = beats.next().unwrap_or_else(|| first_beat_phase(clip) + 1.0);
    (start, if next > start { next - start } else { 0.0 })
}

/// Returns the start and the length of the interval that contains a phase.
fn interval_at(clip: &ClipInfo, phase: f32) -> (f32, f32) {
    let before = beat_phases(clip).take_while(|beat| *beat <= phase).count();
    interval(clip, if before == 0 { clip.beats.len() - 1 } else { before - 1 })
}

/// Returns the fraction of a phase.
fn wrap(phase: f32) -> f32 {
    phase - phase.floor()
}
