//! Update of a character's state machine: starts pending transitions, advances the tracks, collects
//! the events that they pass, and lists the samples that make up the pose.

use super::super::movement_stack::{STACK_MAX, StackedFade, changed_stack_weights};
use super::clip_weights::{Change, ClipWeights};
use super::data::*;
use super::expression::{least, most};
use super::runtime::*;
use super::track_clock::{Boundary, Clock, closest_beat_phase, first_beat_phase, next_beat};

/// Maximum time step of an update in seconds. A longer one counts as this long.
pub const UPDATE_SECONDS_MAX: f32 = 60.0;
/// Maximum number of transitions at the ends of states in one update of a layer.
const END_TRANSITIONS_MAX: usize = 4;
/// Maximum weight of a clip before weights are divided by their sum.
pub(super) const WEIGHT_MAX: f32 = 1e6;

/// Contribution of a sample to the pose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SampleMode {
    /// Part of the mean of the layer.
    Mean,
    /// The clip has differences from a reference pose, which are added.
    Add,
    /// The difference of the sampled pose from the rest pose is added.
    AddFromRest,
}

/// Sample of a clip.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Index in [`StateMachine::clips`].
    pub clip: u16,
    pub layer: u16,
    /// Number of the track. Samples of the same track and clip in consecutive updates can share a
    /// player.
    pub track: u16,
    pub mode: SampleMode,
    /// Seconds, from 0 to the clip's length.
    pub time: f32,
    /// Time before the update in seconds.
    pub from: f32,
    /// Number of times that the end was crossed in the update; negative in reverse.
    pub loops: i32,
    /// True if the start of the clip follows its end.
    pub wraps: bool,
    /// Above 0. Relative to the other samples of the layer, or, if added, absolute.
    pub weight: f32,
}

/// Step of a clip in an update, for root motion. Those whose weight gets 0 in the update are among
/// them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClipTimeStep {
    /// Index in [`StateMachine::clips`].
    pub clip: u16,
    /// Number of the track.
    track: u16,
    /// Time before the update in seconds.
    pub from: f32,
    /// Time after it.
    pub time: f32,
    /// Number of times that the end was crossed; negative in reverse.
    pub loops: i32,
    /// Mean weight in the layer while the clip moves.
    pub weight: f32,
}

/// Pose of a layer over those below.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayerOutput {
    /// Weight of the layer: 0 to 1. Added samples are scaled by it, too.
    pub weight: f32,
    /// Part of the layer that its mean covers: 0 to 1. The rest is that of empty states.
    pub coverage: f32,
    /// Index in [`StateMachine::masks`].
    pub mask: Option<u16>,
    /// First sample of the layer, and the one after its last.
    pub samples: (u32, u32),
    /// Mean weight of the layer in the update, for its steps.
    pub steps_weight: f32,
    /// Mean part of the layer that its steps cover.
    pub steps_coverage: f32,
    /// First step of the layer, and the one after its last.
    pub steps: (u32, u32),
}

/// Weight of the bones that physics moves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RagdollOutput {
    pub layer: u16,
    /// Index in [`StateMachine::masks`]: the mask of the state or else of the layer. `None` is all
    /// bones.
    pub mask: Option<u16>,
    /// 0 to 1.
    pub weight: f32,
}

/// Result of an update. Can be reused for other characters.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StateMachineOutput {
    /// Samples of all layers, in the order of the layers.
    pub samples: Vec<Sample>,
    /// Steps of all clips that are part of the means of layers, in the order of the layers.
    pub steps: Vec<ClipTimeStep>,
    pub layers: Vec<LayerOutput>,
    pub ragdolls: Vec<RagdollOutput>,
    /// Weight of each constraint of the machine: 0 to 1.
    pub constraints: Vec<f32>,
    /// States whose clips have weights that sum to 0, so that the first clip is shown.
    pub without_weights: Vec<u16>,
    /// Weights of the constraints of the layer in work.
    layer_constraints: Vec<f32>,
}

/// Data of an update that all layers share.
pub(super) struct Update<'a> {
    pub(super) machine: &'a StateMachine,
    pub(super) clips: &'a [ClipInfo],
    pub(super) variables: &'a [f32],
    /// Values of the variables in the previous update.
    pub(super) before: &'a [f32],
    /// Seconds of the update.
    pub(super) dt: f32,
    pub(super) layer: u16,
    pub(super) seed: &'a mut u32,
    pub(super) next_serial: &'a mut u16,
    pub(super) sent: &'a mut Vec<SentEvent>,
    pub(super) output: &'a mut StateMachineOutput,
}

impl StateMachineState {
    /// Advances all layers by `dt` seconds; NaN and negative times count as 0. Adds the events that
    /// were passed to `sent`, and replaces `output`. `clips` has an entry for each clip of the
    /// machine; a missing entry counts as a clip without length.
    pub fn update(
        &mut self,
        machine: &StateMachine,
        clips: &[ClipInfo],
        dt: f32,
        sent: &mut Vec<SentEvent>,
        output: &mut StateMachineOutput,
    ) {
        let dt = if dt > 0.0 { least(dt, UPDATE_SECONDS_MAX) } else { 0.0 };
        output.samples.clear();
        output.steps.clear();
        output.layers.clear();
        output.ragdolls.clear();
        output.without_weights.clear();
        output.constraints.clear();
        output.constraints.resize(machine.constraints.len(), 0.0);
        self.start(machine, sent);
        if self.before.len() != self.variables.len() {
            self.before.clone_from(&self.variables);
        }
        let StateMachineState { variables, before, layers, seed, next_serial, .. } = self;
        for (index, layer) in layers.iter_mut().enumerate() {
            let mut update = Update {
                machine,
                clips,
                variables,
                before,
                dt,
                layer: index as u16,
                seed,
                next_serial,
                sent,
                output,
            };
            layer.advance(&mut update, dt);
        }
        self.before.copy_from_slice(&self.variables);
    }
}

impl LayerState {
    fn advance(&mut self, update: &mut Update, dt: f32) {
        let first = (update.output.samples.len(), update.output.steps.len());
        let waits = |mode: TransitionMode| {
            matches!(mode, TransitionMode::WaitUntilEnd | TransitionMode::SyncBeatWait)
        };
        if self.pending.is_some_and(|pending| !waits(pending.mode)) {
            self.start_pending(update);
        }
        for track in &mut self.tracks[..usize::from(self.count)] {
            track.fade.elapsed = least(track.fade.elapsed + dt, BLEND_SECONDS_MAX);
        }
        let top = usize::from(self.count) - 1;
        let mut fades = [StackedFade::WHOLE; TRACKS_MAX];
        for (track, fade) in self.tracks[..top].iter_mut().zip(&mut fades) {
            let boundary = track.advance(update, dt, false, false);
            *fade = track.stacked(boundary);
        }
        let on_beat = |pending: Option<Pending>| {
            pending.is_some_and(|it| it.mode == TransitionMode::SyncBeatWait)
        };
        let mut boundary = self.tracks[top].advance(update, dt, true, on_beat(self.pending));
        fades[top] = self.tracks[top].stacked(boundary);
        for _ in 0..END_TRANSITIONS_MAX {
            let left = match self.pending {
                Some(Pending { mode: TransitionMode::WaitUntilEnd, .. }) => boundary.repeat,
                Some(Pending { mode: TransitionMode::SyncBeatWait, .. }) => boundary.beat,
                Some(_) => None,
                None => boundary.end.filter(|_| self.take_end_transition(update)),
            };
            let Some(left) = left else { break };
            let is_full = usize::from(self.count) == TRACKS_MAX;
            self.start_pending(update);
            let top = usize::from(self.count) - 1;
            self.tracks[top].fade.elapsed = left;
            boundary = self.tracks[top].advance(update, left, true, false);
            if is_full {
                // Another track was dropped.
                for (fade, track) in fades.iter_mut().zip(&self.tracks) {
                    *fade = track.stacked(Boundary { end: None, repeat: None, beat: None });
                }
            }
            fades[top] = self.tracks[top].stacked(boundary);
        }
        let coverage = self.weigh_steps(update, first.1, (&fades, dt));
        self.drop_covered_tracks();
        self.write_output(update, first, coverage);
    }

    /// Scales the steps of the layer from `first` on by the mean weights of their tracks in an
    /// update of `dt` seconds. Returns the mean part of the layer that they cover.
    fn weigh_steps(
        &self,
        update: &mut Update,
        first: usize,
        (fades, dt): (&[StackedFade; TRACKS_MAX], f32),
    ) -> f32 {
        let steps = &mut update.output.steps[first..];
        let tracks = self.tracks();
        let (mut moves, mut is_physics) = ([false; TRACKS_MAX], [false; TRACKS_MAX]);
        for (index, track) in tracks.iter().enumerate() {
            moves[index] = steps.iter().any(|step| step.track == track.serial);
            is_physics[index] = update.machine.is_ragdoll_of_layer(track.state, update.layer);
        }
        let sum = |weights: &[f32; STACK_MAX], counts: &[bool; TRACKS_MAX]| -> f32 {
            let counted = weights.iter().zip(counts).filter(|it| *it.1);
            counted.map(|it| it.0).sum()
        };
        // The movement below physics is that of the clips alone, at each moment of a fade.
        let without_physics = |weights: &mut [f32; STACK_MAX]| {
            let (mean, physics) = (sum(weights, &moves), sum(weights, &is_physics));
            if physics > 0.0 {
                let part = if mean > 0.0 { least(mean + physics, 1.0) / mean } else { 0.0 };
                for (weight, moves) in weights.iter_mut().zip(moves) {
                    *weight *= if moves { part } else { 1.0 };
                }
            }
        };
        let weights = changed_stack_weights(&fades[..tracks.len()], dt, without_physics);
        for step in steps {
            let track = tracks.iter().position(|track| track.serial == step.track);
            step.weight *= track.map_or(0.0, |track| weights.moving[track]);
        }
        least(sum(&weights.all, &moves), 1.0)
    }

    fn take_end_transition(&mut self, update: &mut Update) -> bool {
        let choices = (update.variables, &mut *update.seed);
        self.take_transition(update.machine, END_EVENT, update.layer, choices, update.sent)
    }

    /// Begins the pose of the current state.
    fn start_pending(&mut self, update: &mut Update) {
        let Some(pending) = self.pending.take() else { return };
        let from = *self.top();
        let mut track = Track {
            state: self.current,
            serial: *update.next_serial,
            choice: self.choice,
            finished: false,
            phase: 0.0,
            seconds: 0.0,
            fade: Fade { elapsed: 0.0, settings: pending.settings },
        };
        *update.next_serial = update.next_serial.wrapping_add(1);
        track.phase = match pending.mode {
            TransitionMode::Immediate | TransitionMode::WaitUntilEnd => {
                // A state that plays backward begins at its end.
                if update.speed(track.state) < 0.0 { 1.0 } else { 0.0 }
            }
            TransitionMode::SyncPercentage => from.phase,
            TransitionMode::SyncInversePercentage => 1.0 - from.phase,
            TransitionMode::SyncBeatClosest => {
                let (old, new) = (update.main_clip(&from), update.main_clip(&track));
                closest_beat_phase(old, new, from.phase)
            }
            TransitionMode::SyncBeatWait => first_beat_phase(update.main_clip(&track)),
        };
        self.push_track(track);
    }

    /// Scales the samples of the layer from `first` on by the weights of their tracks, and adds the
    /// layer to the output.
    fn write_output(
        &mut self,
        update: &mut Update,
        (first, first_step): (usize, usize),
        steps_coverage: f32,
    ) {
        let machine = update.machine;
        let layer = &machine.layers[usize::from(update.layer)];
        let weight = machine.table.value_or(layer.weight, update.variables, 1.0);
        let weight = least(most(weight, 0.0), 1.0);
        let output = &mut *update.output;
        let weights = self.track_weights();
        let tracks = &self.tracks[..usize::from(self.count)];
        let means = parts_of_mean(tracks, &output.samples[first..]);
        let mut kept = first;
        for index in first..output.samples.len() {
            let mut sample = output.samples[index];
            let track = tracks.iter().position(|track| track.serial == sample.track);
            sample.weight *= track.map_or(0.0, |track| weights[track]);
            if sample.weight > 0.0 && weight > 0.0 {
                output.samples[kept] = sample;
                kept += 1;
            }
        }
        output.samples.truncate(kept);
        output.layer_constraints.clear();
        output.layer_constraints.resize(machine.constraints.len(), 0.0);
        let (mut mean, mut physics) = (0.0, 0.0);
        for ((track, part), has_mean) in tracks.iter().zip(weights).zip(means) {
            let state = &machine.states[usize::from(track.state)];
            match &state.kind {
                StateKind::Empty | StateKind::Selection { .. } => {}
                StateKind::Ragdoll { mask } => {
                    if machine.is_ragdoll_of_layer(track.state, update.layer) {
                        physics += part;
                    }
                    let mask = mask.or(layer.mask);
                    let (layer, weight) = (update.layer, part * weight);
                    output.ragdolls.push(RagdollOutput { layer, mask, weight });
                }
                // Differences alone cover nothing.
                _ if has_mean => mean += part,
                _ => {}
            }
            for constraint in &state.constraints {
                output.layer_constraints[usize::from(*constraint)] += part;
            }
        }
        for constraint in &layer.constraints {
            output.layer_constraints[usize::from(*constraint)] = 1.0;
        }
        for (sum, part) in output.constraints.iter_mut().zip(&output.layer_constraints) {
            *sum = most(*sum, least(*part, 1.0) * weight);
        }
        // While physics takes over, the pose below is not mixed with that of the lower layers.
        let coverage = if mean > 0.0 { least(mean + physics, 1.0) } else { 0.0 };
        let samples = (first as u32, kept as u32);
        let before = match layer.weight {
            Some(expression) if update.before != update.variables => {
                let before = machine.table.evaluate_with::<false>(expression, update.before);
                least(most(before, 0.0), 1.0)
            }
            _ => weight,
        };
        let steps = (first_step as u32, output.steps.len() as u32);
        output.layers.push(LayerOutput {
            weight,
            coverage,
            mask: layer.mask,
            samples,
            steps_weight: (weight + before) * 0.5,
            steps_coverage,
            steps,
        });
    }
}

/// Returns which tracks have samples that are part of the mean of their layer.
fn parts_of_mean(tracks: &[Track], samples: &[Sample]) -> [bool; TRACKS_MAX] {
    let mut means = [false; TRACKS_MAX];
    for (has_mean, track) in means.iter_mut().zip(tracks) {
        let is_mean = |it: &Sample| it.mode == SampleMode::Mean && it.track == track.serial;
        *has_mean = samples.iter().any(is_mean);
    }
    means
}

static WITHOUT_CLIP: ClipInfo =
    ClipInfo { seconds: 0.0, loops: false, beats: vec![], events: vec![], additive: false };

impl<'a> Update<'a> {
    pub(super) fn clip(&self, clip: u16) -> &'a ClipInfo {
        self.clips.get(usize::from(clip)).unwrap_or(&WITHOUT_CLIP)
    }

    /// Returns the clip of a track with the greatest weight.
    fn main_clip(&self, track: &Track) -> &'a ClipInfo {
        let state = &self.machine.states[usize::from(track.state)];
        if state.clips.is_empty() {
            return &WITHOUT_CLIP;
        }
        self.clip(state.clips[self.clip_weights(state, track.choice).main].clip)
    }

    /// Sends the events of a state and of its main clip that a clock passes.
    fn send_passed(&mut self, state: &State, main: usize, seconds: f32, clock: &Clock) {
        let clip_index = state.clips[main].clip;
        let clip = self.clip(clip_index);
        let (layer, clip_seconds) = (self.layer, length(clip));
        // Nobody sees the animations of a layer without weight.
        let weight = self.machine.layers[usize::from(layer)].weight;
        let is_visible = || self.machine.table.value_or(weight, self.variables, 1.0) > 0.0;
        let clip_events =
            if clip.events.is_empty() || !is_visible() { &[] } else { &clip.events[..] };
        if state.events.is_empty() && clip_events.is_empty() {
            return;
        }
        let sent = &mut *self.sent;
        clock.each_range(|range| {
            for event in &state.events {
                let phase = event_phase(event.time, event.is_fraction, seconds);
                if range.contains(phase) {
                    sent.push(SentEvent { layer, source: EventSource::State(event.event) });
                }
            }
            for (index, (time, _)) in clip_events.iter().enumerate() {
                if range.contains(event_phase(*time, false, clip_seconds)) {
                    let source = EventSource::Clip { clip: clip_index, event: index as u16 };
                    sent.push(SentEvent { layer, source });
                }
            }
        });
    }
}

/// Returns the time of an event as a fraction of a length. Without a length it is 0.
fn event_phase(time: f32, is_fraction: bool, seconds: f32) -> f32 {
    match (is_fraction, seconds > 0.0) {
        (true, _) => time,
        (_, true) => time / seconds,
        _ => 0.0,
    }
}

/// Returns the length of a clip in seconds, which is finite.
pub(super) fn length(clip: &ClipInfo) -> f32 {
    if clip.seconds > 0.0 && clip.seconds.is_finite() { clip.seconds } else { 0.0 }
}

impl Track {
    /// Returns the fade of the track at the end of an update, with the boundary that it reached.
    fn stacked(&self, boundary: Boundary) -> StackedFade {
        let Fade { elapsed, settings } = self.fade;
        let rise = (elapsed, settings.seconds);
        let stopped = boundary.end.unwrap_or(0.0);
        StackedFade { rise, curve: settings.curve, fall: None, stopped }
    }

    /// Advances by `dt` seconds and lists the samples. `sends`: events that are passed are sent.
    fn advance(&mut self, update: &mut Update, dt: f32, sends: bool, on_beat: bool) -> Boundary {
        let machine = update.machine;
        let state = &machine.states[usize::from(self.state)];
        if state.clips.is_empty() {
            return Boundary::without_time(dt);
        }
        let found = update.clip_weights(state, self.choice);
        let (main, seconds) = (found.main, found.seconds);
        if found.is_empty {
            update.output.without_weights.push(self.state);
        }
        self.seconds = seconds;
        let change = update.change(self, seconds, dt);
        let (clock, boundary) = match state.kind {
            StateKind::Time(expression) => {
                let value = machine.table.evaluate(expression, update.variables);
                let clock = Clock::scrubbed(self.phase, least(most(value, 0.0), 1.0));
                (clock, Boundary::without_time(dt))
            }
            _ => {
                let first = match state.kind {
                    StateKind::RandomClip | StateKind::ClipChoice => main,
                    _ => 0,
                };
                let clip_loops = update.clip(state.clips[first].clip).loops;
                let loops = state.looping.unwrap_or(clip_loops);
                let start = (self.phase, self.finished);
                let clock = Clock::new(start, change.speed(), seconds, dt, loops);
                let mut boundary = clock.boundary(dt);
                if on_beat {
                    let clip = update.clip(state.clips[main].clip);
                    boundary.beat = next_beat(clip, &clock, dt);
                }
                (clock, boundary)
            }
        };
        if sends {
            update.send_passed(state, main, seconds, &clock);
        }
        self.phase = clock.phase();
        self.finished = clock.is_finished();
        self.list(update, (&found, &change), &clock);
        boundary
    }

    /// Lists the steps and the samples of the clips, with their weights now and before.
    fn list(&self, update: &mut Update, (found, change): (&ClipWeights, &Change), clock: &Clock) {
        let state = &update.machine.states[usize::from(self.state)];
        let step_weights = update.step_weights(state, found, change);
        for (clip, weight) in state.clips.iter().zip(step_weights) {
            let info = update.clip(clip.clip);
            if weight > 0.0 {
                update.output.steps.push(ClipTimeStep {
                    clip: clip.clip,
                    track: self.serial,
                    time: self.phase * length(info),
                    from: clock.start() * length(info),
                    loops: clock.loops(),
                    weight,
                });
            }
        }
        for (clip, weight) in state.clips.iter().zip(&found.weights) {
            if *weight > 0.0 {
                let info = update.clip(clip.clip);
                let mode = match (info.additive, state.additive) {
                    (true, _) => SampleMode::Add,
                    (_, true) => SampleMode::AddFromRest,
                    _ => SampleMode::Mean,
                };
                update.output.samples.push(Sample {
                    clip: clip.clip,
                    layer: update.layer,
                    track: self.serial,
                    mode,
                    time: self.phase * length(info),
                    from: clock.start() * length(info),
                    loops: clock.loops(),
                    wraps: clock.wraps(),
                    weight: *weight,
                });
            }
        }
    }
}
