//! Data of a state machine: variables, masks, layers, states and transitions. Names are resolved
//! into indices. All characters with this machine share it.

use super::constraint_description::ConstraintDescription;
use super::expression::{Expression, ExpressionTable};
use crate::clip_events::EventCue;

/// Maximum number of variables of a state machine.
pub const VARIABLES_MAX: usize = 256;
/// Maximum number of different events that a state machine handles or sends.
pub const EVENTS_MAX: usize = 1024;
/// Maximum number of different clips of a state machine.
pub const CLIPS_MAX: usize = 4096;
/// Maximum number of clips of one state.
pub const STATE_CLIPS_MAX: usize = 32;
/// Maximum number of masks.
pub const MASKS_MAX: usize = 64;
/// Maximum number of bones that a mask or a constraint names.
pub const MASK_BONES_MAX: usize = 512;
/// Maximum number of constraints.
pub const CONSTRAINTS_MAX: usize = 64;
/// Maximum number of layers.
pub const LAYERS_MAX: usize = 16;
/// Maximum number of states of all layers, after groups have been expanded.
pub const STATES_MAX: usize = 4096;
/// Maximum nesting depth of groups.
pub const GROUP_DEPTH_MAX: usize = 8;
/// Maximum number of transitions, after groups have been expanded.
pub const TRANSITIONS_MAX: usize = 1 << 14;
/// Maximum number of pairs of a state and a transition that can leave it.
pub const ROUTES_MAX: usize = 1 << 17;
/// Maximum number of steps from a random or conditional choice of states to a state.
pub const SELECTION_DEPTH_MAX: usize = 16;
/// Maximum length of a cross-fade in seconds.
pub const BLEND_SECONDS_MAX: f32 = 60.0;
/// Range of variables that have no range in the file: from its negative to this number.
pub const VARIABLE_ABS_MAX: f32 = 1e9;

/// Variable that the engine sets while a character is a ragdoll: 1 while it lies on its back, and 0
/// otherwise.
pub const FACE_UP_VARIABLE: &str = "ragdoll_face_up";

/// Variable that a game sets, and that expressions read.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    pub name: String,
    /// Initial value.
    pub value: f32,
    pub min: f32,
    pub max: f32,
}

/// Clip that a state machine plays, with the first line of the file that names it.
#[derive(Clone, PartialEq, Debug)]
pub struct ClipReference {
    pub name: String,
    pub line: u32,
}

/// Mask of bones: weights from 0 to 1, which also apply to descendants without a weight.
#[derive(Clone, PartialEq, Debug)]
pub struct Mask {
    pub name: String,
    pub bones: Vec<MaskBone>,
}

/// Weight of a bone in a mask.
#[derive(Clone, PartialEq, Debug)]
pub struct MaskBone {
    pub bone: String,
    pub weight: f32,
    pub line: u32,
}

/// Shape of a cross-fade over time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Curve {
    Linear,
    /// Starts and ends slowly.
    Smooth,
    /// Starts slowly.
    EaseIn,
    /// Ends slowly.
    EaseOut,
}

impl Curve {
    pub const ALL: [(&'static str, Curve); 4] = [
        ("linear", Curve::Linear),
        ("smooth", Curve::Smooth),
        ("ease_in", Curve::EaseIn),
        ("ease_out", Curve::EaseOut),
    ];

    /// Returns the weight at a part of the cross-fade, both from 0 to 1.
    #[inline]
    pub fn weight(self, part: f32) -> f32 {
        match self {
            Curve::Linear => part,
            Curve::Smooth => part * part * (3.0 - 2.0 * part),
            Curve::EaseIn => part * part,
            Curve::EaseOut => part * (2.0 - part),
        }
    }
}

/// Start of the pose of the next state, in relation to that of the previous one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransitionMode {
    /// At once, at the beginning of the next state.
    Immediate,
    /// When the previous state ends, or repeats.
    WaitUntilEnd,
    /// At once, in the same part of the interval between two beats, in the interval that is
    /// nearest to the same percentage. Without beats, as `SyncPercentage`.
    SyncBeatClosest,
    /// At the next beat of the previous state, at the first beat of the next one. Without beats, as
    /// `Immediate`.
    SyncBeatWait,
    /// At once, at the same percentage.
    SyncPercentage,
    /// At once, at the percentage that is left of the previous state.
    SyncInversePercentage,
}

impl TransitionMode {
    pub const ALL: [(&'static str, TransitionMode); 6] = [
        ("immediate", TransitionMode::Immediate),
        ("wait_until_end", TransitionMode::WaitUntilEnd),
        ("sync_beat_closest", TransitionMode::SyncBeatClosest),
        ("sync_beat_wait", TransitionMode::SyncBeatWait),
        ("sync_percentage", TransitionMode::SyncPercentage),
        ("sync_inverse_percentage", TransitionMode::SyncInversePercentage),
    ];
}

/// Transitions that can begin while another one still waits or cross-fades.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interruption {
    Always,
    /// Those of a higher priority.
    Higher,
    Never,
}

impl Interruption {
    pub const ALL: [(&'static str, Interruption); 3] = [
        ("always", Interruption::Always),
        ("higher", Interruption::Higher),
        ("never", Interruption::Never),
    ];
}

/// Cross-fade from the pose of a state to that of the next one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FadeSettings {
    /// Seconds, from 0 to [`BLEND_SECONDS_MAX`].
    pub seconds: f32,
    pub curve: Curve,
    pub interruption: Interruption,
    /// Among transitions for the same event, that of the highest priority is taken.
    pub priority: i8,
}

impl FadeSettings {
    pub const DEFAULT: FadeSettings = FadeSettings {
        seconds: 0.2,
        curve: Curve::Smooth,
        interruption: Interruption::Always,
        priority: 0,
    };
}

/// Transition to a state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transition {
    /// Index of the event, or `None` for a transition at the end of the state.
    pub event: Option<u16>,
    /// Index of the next state, or of a choice of states.
    pub target: u16,
    /// The transition is taken only if this expression is not 0.
    pub condition: Option<Expression>,
    pub mode: TransitionMode,
    pub fade: FadeSettings,
    pub line: u32,
}

/// Clip of a state with its weight. Without an expression, the weight is 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StateClip {
    pub clip: u16,
    pub weight: Option<Expression>,
}

/// Event that states and groups send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateEvent {
    pub name: String,
    pub cue: EventCue,
    /// The first line that sends it.
    pub line: u32,
}

/// Event that a state sends when its time passes a position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimedEvent {
    /// Index in the list of sent events.
    pub event: u16,
    /// Seconds from the beginning, or a fraction from 0 to 1.
    pub time: f32,
    pub is_fraction: bool,
}

/// Kind of a state.
#[derive(Clone, PartialEq, Debug)]
pub enum StateKind {
    /// Adds nothing to the pose.
    Empty,
    /// Plays all of its clips, weighted, at the same fraction of their lengths.
    Blend,
    /// Plays one of its clips, chosen at random by their weights when the state begins.
    RandomClip,
    /// Plays the first of its clips whose weight is not 0 when the state begins.
    ClipChoice,
    /// Shows its clips at a fraction from 0 to 1 of their lengths.
    Time(Expression),
    /// Physics moves the bones: all of them, or those of a mask.
    Ragdoll { mask: Option<u16> },
    /// Continues to one of other states: at random by weight, or the first whose condition is not
    /// 0. It is never the current state.
    Selection { random: bool, targets: Vec<(u16, Option<Expression>)> },
}

/// State of a layer.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    /// Name, after the names of its groups: `combat/swing`.
    pub name: String,
    pub line: u32,
    pub kind: StateKind,
    /// True if the clips have positions in a blend space: each weight is a match function of its
    /// axes.
    pub is_space: bool,
    pub clips: Vec<StateClip>,
    /// Factors of the playback rate: those of the state and of its groups.
    pub speeds: Vec<Expression>,
    /// `None`: as the first clip.
    pub looping: Option<bool>,
    /// True if the clips are added to the layers below.
    pub additive: bool,
    /// Constraints that are in effect while the state is.
    pub constraints: Vec<u16>,
    /// Sent events.
    pub enter: Vec<u16>,
    pub exit: Vec<u16>,
    pub events: Vec<TimedEvent>,
    /// Groups of the state, outermost first.
    pub groups: Vec<u16>,
    /// Range of the list of routes.
    pub(super) routes: (u32, u32),
}

/// Group of states, with the events that it sends.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    pub name: String,
    pub enter: Vec<u16>,
    pub exit: Vec<u16>,
}

/// Event of a state and its transition. Event [`END_EVENT`] is the end of the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    pub event: u16,
    pub transition: u16,
}

/// Number of the route at the end of a state.
pub const END_EVENT: u16 = u16::MAX;

/// Layer: a set of states of which one is current.
#[derive(Clone, PartialEq, Debug)]
pub struct Layer {
    pub name: String,
    /// State in which the layer begins, or a choice of states.
    pub initial: u16,
    /// `None`: 1.
    pub weight: Option<Expression>,
    pub mask: Option<u16>,
    /// Constraints that are always in effect.
    pub constraints: Vec<u16>,
    /// First state of the layer, and the one after its last.
    pub states: (u16, u16),
}

/// Compiled state machine.
#[derive(Clone, PartialEq, Debug)]
pub struct StateMachine {
    /// Source file, for messages.
    pub(super) path: String,
    pub(super) skeleton: String,
    pub(super) variables: Vec<Variable>,
    /// Events that transitions handle, or that the file lists.
    pub(super) events: Vec<String>,
    /// Events that states send.
    pub(super) sent_events: Vec<StateEvent>,
    pub(super) clips: Vec<ClipReference>,
    pub(super) masks: Vec<Mask>,
    pub(super) constraints: Vec<ConstraintDescription>,
    pub(super) layers: Vec<Layer>,
    pub(super) states: Vec<State>,
    pub(super) groups: Vec<Group>,
    pub(super) transitions: Vec<Transition>,
    pub(super) routes: Vec<Route>,
    pub(super) table: ExpressionTable,
}

impl StateMachine {
    /// Returns the path of the source file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the name of the skeleton's resource.
    pub fn skeleton(&self) -> &str {
        &self.skeleton
    }

    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns the names of the events that the machine handles.
    pub fn events(&self) -> &[String] {
        &self.events
    }

    /// Returns the events that states send. Events of the same name can have different cues.
    pub fn sent_events(&self) -> &[StateEvent] {
        &self.sent_events
    }

    pub fn clips(&self) -> &[ClipReference] {
        &self.clips
    }

    /// Returns the state with an index. Panics if there is none.
    pub fn state(&self, index: u16) -> &State {
        &self.states[usize::from(index)]
    }

    /// Returns the line of an expression that has divided by zero: once for each line, the first in
    /// the file before the others. `None` if there is no further one.
    pub fn take_zero_division(&self) -> Option<u32> {
        self.table.take_zero_division()
    }

    /// Returns the line of an expression that has exceeded the range of numbers, once for each
    /// line.
    pub fn take_overflow(&self) -> Option<u32> {
        self.table.take_overflow()
    }

    pub fn masks(&self) -> &[Mask] {
        &self.masks
    }

    pub fn constraints(&self) -> &[ConstraintDescription] {
        &self.constraints
    }

    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    pub fn states(&self) -> &[State] {
        &self.states
    }

    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Returns the index of an event for `send_event`.
    pub fn find_event(&self, name: &str) -> Option<u16> {
        self.events.iter().position(|known| known == name).map(|index| index as u16)
    }

    /// Returns the index of a variable.
    pub fn find_variable(&self, name: &str) -> Option<u16> {
        self.variables.iter().position(|known| known.name == name).map(|index| index as u16)
    }

    /// Returns the index of a layer.
    pub fn find_layer(&self, name: &str) -> Option<u16> {
        self.layers.iter().position(|known| known.name == name).map(|index| index as u16)
    }

    /// Returns the index of a state of a layer by its full name.
    pub fn find_state(&self, layer: u16, name: &str) -> Option<u16> {
        let (first, end) = self.layers.get(usize::from(layer))?.states;
        (first..end).find(|state| self.states[usize::from(*state)].name == name)
    }

    /// Returns true if physics moves all bones of a layer in a state of it.
    pub(super) fn is_ragdoll_of_layer(&self, state: u16, layer: u16) -> bool {
        let layer_mask = self.layers[usize::from(layer)].mask;
        match &self.states[usize::from(state)].kind {
            StateKind::Ragdoll { mask } => mask.is_none() || *mask == layer_mask,
            _ => false,
        }
    }

    /// Returns the transitions of a state for an event, in the order in which they are tried.
    pub(super) fn routes(&self, state: u16, event: u16) -> impl Iterator<Item = &Transition> {
        let (start, end) = self.states[usize::from(state)].routes;
        let routes = &self.routes[start as usize..end as usize];
        let first = routes.partition_point(|route| route.event < event);
        let same = routes[first..].iter().take_while(move |route| route.event == event);
        same.map(|route| &self.transitions[usize::from(route.transition)])
    }
}
