//! State machine of one character: its variables, its current states, and the tracks that it plays.
//! An event changes the current state at once; the pose follows in the next update.

use super::data::*;
use super::expression::{finite, least, most};
use super::playback::WEIGHT_MAX;
use engine_foundation::hash::StateHash;
use engine_foundation::random::next_random;

/// Maximum number of states of a layer that contribute to its pose at the same time. If there are
/// more, the one with the least weight is dropped.
pub const TRACKS_MAX: usize = 8;

/// Properties of a clip that a state machine needs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClipInfo {
    /// Length. A clip whose length is not above 0 is a pose.
    pub seconds: f32,
    /// True if states without a setting of their own repeat it.
    pub loops: bool,
    /// Times in seconds, in ascending order.
    pub beats: Vec<f32>,
    /// Times in seconds, and names.
    pub events: Vec<(f32, String)>,
    /// True if the clip has differences from a reference pose.
    pub additive: bool,
}

/// Source of an event that a state machine sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventSource {
    /// Index in [`StateMachine::sent_events`].
    State(u16),
    /// Index in [`StateMachine::clips`], and index of the clip's event.
    Clip { clip: u16, event: u16 },
}

/// Event that a state machine sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentEvent {
    pub layer: u16,
    pub source: EventSource,
}

/// Cross-fade of a track over the older ones.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Fade {
    pub elapsed: f32,
    pub settings: FadeSettings,
}

impl Fade {
    pub fn is_running(&self) -> bool {
        self.elapsed < self.settings.seconds
    }

    /// Returns the part of the cross-fade that is over, from 0 to 1.
    pub fn progress(&self) -> f32 {
        match self.is_running() {
            true => most(self.elapsed / self.settings.seconds, 0.0),
            false => 1.0,
        }
    }
}

/// State whose pose is part of that of the layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Track {
    pub state: u16,
    /// Distinguishes the tracks of a character over time.
    pub serial: u16,
    /// Index of the chosen clip.
    pub choice: u8,
    /// True if the end was reached.
    pub finished: bool,
    /// Fraction of the length, from 0 to 1.
    pub phase: f32,
    /// Length in the latest update.
    pub seconds: f32,
    pub fade: Fade,
}

/// Transition whose pose has not begun. Its target is the current state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pending {
    pub mode: TransitionMode,
    pub settings: FadeSettings,
}

/// State of a layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LayerState {
    pub current: u16,
    /// Index of the clip that the current state chose.
    pub choice: u8,
    pub pending: Option<Pending>,
    /// Oldest first. Only `count` of them are in use.
    pub tracks: [Track; TRACKS_MAX],
    pub count: u8,
}

/// State machine of one character.
#[derive(Clone, PartialEq, Debug)]
pub struct StateMachineState {
    pub(super) variables: Vec<f32>,
    /// Values of the variables in the latest update; empty before the first one.
    pub(super) before: Vec<f32>,
    pub(super) layers: Vec<LayerState>,
    pub(super) seed: u32,
    pub(super) next_serial: u16,
    /// False until the enter events of the initial states have been sent.
    pub(super) started: bool,
}

/// Description of a layer's activity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayerInfo<'a> {
    /// Name of the current state.
    pub state: &'a str,
    /// Time in the state in seconds; 0 while the pose waits for its transition.
    pub time: f32,
    /// Length of the state in seconds.
    pub seconds: f32,
    /// Fraction of the length, from 0 to 1.
    pub normalized_time: f32,
    /// Name of the previous state, and the part of the cross-fade from it, from 0 to 1.
    pub transition: Option<(&'a str, f32)>,
    /// True while the pose waits for the end or a beat of the previous state.
    pub waits: bool,
}

impl StateMachineState {
    /// Creates the state of a character at the beginning of each layer.
    pub fn new(machine: &StateMachine, seed: u32) -> StateMachineState {
        let mut state = StateMachineState {
            variables: machine.variables.iter().map(|variable| variable.value).collect(),
            before: Vec::new(),
            layers: Vec::with_capacity(machine.layers.len()),
            seed,
            next_serial: 0,
            started: false,
        };
        for layer in &machine.layers {
            let (current, choice) =
                settle(machine, layer.initial, &state.variables, &mut state.seed);
            state.layers.push(LayerState::new(current, choice, state.next_serial));
            state.next_serial += 1;
        }
        state
    }

    /// Returns the value of a variable.
    #[inline]
    pub fn variable(&self, index: u16) -> Option<f32> {
        self.variables.get(usize::from(index)).copied()
    }

    /// Returns the values of all variables.
    pub fn variables(&self) -> &[f32] {
        &self.variables
    }

    /// Sets a variable, limited to its range. Returns false and changes nothing if there is no such
    /// variable, or if the value is NaN.
    #[inline]
    pub fn set_variable(&mut self, machine: &StateMachine, index: u16, value: f32) -> bool {
        let index = usize::from(index);
        let Some(variable) = machine.variables.get(index) else { return false };
        let Some(target) = self.variables.get_mut(index) else { return false };
        if value.is_nan() {
            return false;
        }
        *target = least(most(value, variable.min), variable.max);
        true
    }

    /// Returns the seed of the random choices.
    pub fn seed(&self) -> u32 {
        self.seed
    }

    pub fn set_seed(&mut self, seed: u32) {
        self.seed = seed;
    }

    /// Returns the index of the current state of a layer.
    pub fn current_state(&self, layer: u16) -> Option<u16> {
        self.layers.get(usize::from(layer)).map(|layer| layer.current)
    }

    /// Sends the enter events of the initial states, once.
    pub(super) fn start(&mut self, machine: &StateMachine, sent: &mut Vec<SentEvent>) {
        if !std::mem::replace(&mut self.started, true) {
            for (index, layer) in self.layers.iter().enumerate() {
                send_change(machine, index as u16, None, layer.current, sent);
            }
        }
    }

    /// Sends an event to all layers. The current states change at once; their exit and enter
    /// events are added to `sent`. Returns false if no layer has a transition for the event.
    pub fn send_event(
        &mut self,
        machine: &StateMachine,
        event: u16,
        sent: &mut Vec<SentEvent>,
    ) -> bool {
        if event == END_EVENT {
            return false;
        }
        self.start(machine, sent);
        let mut taken = false;
        for (index, layer) in self.layers.iter_mut().enumerate() {
            let choices = (&self.variables[..], &mut self.seed);
            taken |= layer.take_transition(machine, event, index as u16, choices, sent);
        }
        taken
    }

    /// Returns the length of the current state of a layer in seconds, also before its pose begins.
    /// `clips` are those of the machine.
    pub fn current_seconds(&self, machine: &StateMachine, clips: &[ClipInfo], layer: u16) -> f32 {
        let Some(layer) = self.layers.get(usize::from(layer)) else { return 0.0 };
        let state = &machine.states[usize::from(layer.current)];
        let length = |clip: &StateClip| {
            let seconds = clips.get(usize::from(clip.clip)).map_or(0.0, |info| info.seconds);
            if seconds > 0.0 && seconds.is_finite() { seconds } else { 0.0 }
        };
        if matches!(state.kind, StateKind::RandomClip | StateKind::ClipChoice) {
            return state.clips.get(usize::from(layer.choice)).map_or(0.0, length);
        }
        let most_weight = if state.additive { 1.0 } else { WEIGHT_MAX };
        let (mut sum, mut seconds) = (0.0, 0.0);
        for clip in &state.clips {
            let weight = machine.table.value_or(clip.weight, &self.variables, 1.0);
            let weight = least(most(weight, 0.0), most_weight);
            sum += weight;
            seconds += weight * length(clip);
        }
        match sum > 0.0 {
            true => seconds / sum,
            // The first clip is shown.
            false => state.clips.first().map_or(0.0, length),
        }
    }

    /// Returns the activity of a layer.
    pub fn layer_info<'a>(&self, machine: &'a StateMachine, layer: u16) -> Option<LayerInfo<'a>> {
        let layer = self.layers.get(usize::from(layer))?;
        let name = |state: u16| machine.states[usize::from(state)].name.as_str();
        let tracks = layer.tracks();
        let top = tracks.last()?;
        if let Some(pending) = layer.pending {
            let waits =
                matches!(pending.mode, TransitionMode::WaitUntilEnd | TransitionMode::SyncBeatWait);
            return Some(LayerInfo {
                state: name(layer.current),
                time: 0.0,
                seconds: 0.0,
                normalized_time: 0.0,
                transition: Some((name(top.state), 0.0)),
                waits,
            });
        }
        let fading = tracks.len() > 1 && top.fade.is_running();
        let previous = fading.then(|| tracks[tracks.len() - 2]);
        Some(LayerInfo {
            state: name(layer.current),
            time: top.phase * top.seconds,
            seconds: top.seconds,
            normalized_time: top.phase,
            transition: previous.map(|track| (name(track.state), top.fade.progress())),
            waits: false,
        })
    }

    /// Adds everything that affects later updates to a hash.
    pub fn add_to_hash(&self, hash: &mut StateHash) {
        for variable in &self.variables {
            hash.write_f32(*variable);
        }
        self.each_number(|number| hash.write_f64(number));
        hash.write_f64(f64::from(self.seed));
    }
}

impl LayerState {
    pub fn new(current: u16, choice: u8, serial: u16) -> LayerState {
        let fade =
            Fade { elapsed: 0.0, settings: FadeSettings { seconds: 0.0, ..FadeSettings::DEFAULT } };
        let track = Track {
            state: current,
            serial,
            choice,
            finished: false,
            phase: 0.0,
            seconds: 0.0,
            fade,
        };
        LayerState { current, choice, pending: None, tracks: [track; TRACKS_MAX], count: 1 }
    }

    pub fn tracks(&self) -> &[Track] {
        &self.tracks[..usize::from(self.count)]
    }

    pub fn top(&self) -> &Track {
        &self.tracks[usize::from(self.count) - 1]
    }

    /// Returns true if a transition of a priority can begin now.
    fn can_begin(&self, priority: i8) -> bool {
        let running = match self.pending {
            Some(pending) => Some(pending.settings),
            None => Some(self.top().fade).filter(Fade::is_running).map(|fade| fade.settings),
        };
        running.is_none_or(|running| match running.interruption {
            Interruption::Always => true,
            Interruption::Higher => priority > running.priority,
            Interruption::Never => false,
        })
    }

    /// Takes the first transition of the current state for an event whose condition holds.
    pub fn take_transition(
        &mut self,
        machine: &StateMachine,
        event: u16,
        layer: u16,
        (variables, seed): (&[f32], &mut u32),
        sent: &mut Vec<SentEvent>,
    ) -> bool {
        let found = machine.routes(self.current, event).find(|transition| {
            let holds = machine.table.value_or(transition.condition, variables, 1.0) != 0.0;
            holds && self.can_begin(transition.fade.priority)
        });
        let Some(transition) = found else { return false };
        let (next, choice) = settle(machine, transition.target, variables, seed);
        send_change(machine, layer, Some(self.current), next, sent);
        (self.current, self.choice) = (next, choice);
        self.pending = Some(Pending { mode: transition.mode, settings: transition.fade });
        true
    }

    /// Adds a track on top. If there are too many, the one with the least weight is dropped.
    pub fn push_track(&mut self, track: Track) {
        if usize::from(self.count) == TRACKS_MAX {
            let weights = self.track_weights();
            let mut least = 0;
            for index in 1..TRACKS_MAX {
                if weights[index] < weights[least] {
                    least = index;
                }
            }
            self.tracks.copy_within(least + 1.., least);
            self.count -= 1;
        }
        self.tracks[usize::from(self.count)] = track;
        self.count += 1;
    }

    /// Drops the tracks below one whose cross-fade is complete.
    pub fn drop_covered_tracks(&mut self) {
        let covering = self.tracks().iter().rposition(|track| !track.fade.is_running());
        if let Some(first) = covering
            && first > 0
        {
            self.tracks.copy_within(first..usize::from(self.count), 0);
            self.count -= first as u8;
        }
    }

    /// Returns the weight of each track. Their sum is 1.
    pub fn track_weights(&self) -> [f32; TRACKS_MAX] {
        let mut weights = [0.0; TRACKS_MAX];
        let mut left = 1.0;
        for index in (0..usize::from(self.count)).rev() {
            let fade = self.tracks[index].fade;
            // Nothing is below the oldest track.
            let part = if index == 0 { 1.0 } else { fade.settings.curve.weight(fade.progress()) };
            weights[index] = left * part;
            left *= 1.0 - part;
        }
        weights
    }
}

/// Follows choices of states to a state, and chooses its clip.
pub(super) fn settle(
    machine: &StateMachine,
    target: u16,
    variables: &[f32],
    seed: &mut u32,
) -> (u16, u8) {
    let mut state = target;
    for _ in 0..=SELECTION_DEPTH_MAX {
        let StateKind::Selection { random, targets } = &machine.states[usize::from(state)].kind
        else {
            break;
        };
        let weight = |index: usize| machine.table.value_or(targets[index].1, variables, 1.0);
        let chosen = match random {
            true => random_index(targets.len(), weight, seed),
            false => first_index(targets.len(), weight),
        };
        state = targets[chosen].0;
    }
    let State { kind, clips, .. } = &machine.states[usize::from(state)];
    let weight = |index: usize| machine.table.value_or(clips[index].weight, variables, 1.0);
    let choice = match kind {
        StateKind::RandomClip => random_index(clips.len(), weight, seed),
        StateKind::ClipChoice => first_index(clips.len(), weight),
        _ => 0,
    };
    (state, choice as u8)
}

/// Returns the first index whose condition is not 0, or the last index.
fn first_index(count: usize, condition: impl Fn(usize) -> f32) -> usize {
    (0..count).find(|index| condition(*index) != 0.0).unwrap_or(count - 1)
}

/// Returns a random index. If no weight is above 0, returns the first index.
fn random_index(count: usize, weight: impl Fn(usize) -> f32, seed: &mut u32) -> usize {
    let weight = |index: usize| f64::from(most(finite(weight(index)), 0.0));
    let sum: f64 = (0..count).map(weight).sum();
    let (next, part) = next_random(*seed);
    *seed = next;
    let mut left = part * sum;
    for index in 0..count {
        let weight = weight(index);
        if left < weight {
            return index;
        }
        left -= weight;
    }
    (0..count).rev().find(|index| weight(*index) > 0.0).unwrap_or(0)
}

/// Sends the exit events of the state and groups that are left, and the enter events of those that
/// begin.
pub(super) fn send_change(
    machine: &StateMachine,
    layer: u16,
    from: Option<u16>,
    to: u16,
    sent: &mut Vec<SentEvent>,
) {
    let mut send = |events: &[u16]| {
        sent.extend(
            events.iter().map(|event| SentEvent { layer, source: EventSource::State(*event) }),
        );
    };
    let to = &machine.states[usize::from(to)];
    let from = from.map(|from| &machine.states[usize::from(from)]);
    let old = from.map_or(&[][..], |state| &state.groups);
    let common = old.iter().zip(&to.groups).take_while(|(a, b)| a == b).count();
    if let Some(state) = from {
        send(&state.exit);
    }
    for group in old[common..].iter().rev() {
        send(&machine.groups[usize::from(*group)].exit);
    }
    for group in &to.groups[common..] {
        send(&machine.groups[usize::from(*group)].enter);
    }
    send(&to.enter);
}
