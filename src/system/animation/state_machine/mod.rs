//! State machines: states that play and blend clips, and transitions between them by event. The
//! compiler reads `.state_machine` text; the runtime advances the state of one character and lists
//! the samples of its pose. Knows no files, units or scripts.
//!
//! An event changes the current state at once, and the pose follows by a cross-fade.

mod clip_weights;
mod compiled;
mod constraint_description;
mod data;
mod describe;
mod evaluate;
mod evaluate_weights;
mod explain;
mod expression;
mod expression_parser;
mod expression_text;
mod findings;
mod mask;
mod match_weight;
mod merging;
mod playback;
mod players;
mod root_output;
mod runtime;
mod save;
mod source;
mod source_blend_space;
mod source_events;
mod source_fields;
mod source_states;
mod source_transitions;
#[cfg(test)]
mod tests;
mod track_clock;

pub use compiled::{STATE_MACHINE_VERSION, read_state_machine};
pub use constraint_description::{
    ConstraintDescription, ConstraintKind, ParameterForm, ParameterRow,
};
pub use data::{
    ClipReference, Curve, FACE_UP_VARIABLE, FadeSettings, Interruption, LAYERS_MAX, Layer, Mask,
    State, StateEvent, StateKind, StateMachine, Transition, TransitionMode, Variable,
};
pub use evaluate::PoseEvaluator;
pub use evaluate_weights::{CHOICE_PART, WeightEvaluator};
pub use explain::{EventSummary, StateMachineSummary, StateSummary, TransitionSummary};
pub use mask::BoneMask;
pub use merging::StateTime;
pub use playback::{LayerOutput, RagdollOutput, Sample, SampleMode, StateMachineOutput};
pub use players::{PlayerPool, RigData, SamplePlayers};
pub use runtime::{ClipInfo, EventSource, LayerInfo, SentEvent, StateMachineState};
pub use source::compile_state_machine;
