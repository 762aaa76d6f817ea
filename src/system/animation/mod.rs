//! Skeletal animation: clips of keys that are stored in the order in which they are needed, players
//! that hold the keys around the current time, poses and their blending, and the matrices for
//! skinning. Uses only + - * / and square roots, so that results have equal bits on every machine.
//! Knows no files, units or scripts.
//!
//! The stream of keys follows Niklas Frykholm, "Low Level Animation" (Bitsquid, 2009), and departs
//! from it in two ways. A constant curve is one value beside the stream, in place of two keys in
//! it: about 20 bytes, which no player has to read again. Curves with keys at regular times, as
//! recorded motion has them, are keyframes beside the stream: all of their keys are needed at the
//! same time, so that they are stored without a time and a number of their curve.

mod additive;
mod animation_data;
mod bit_stream;
mod bone_scales;
mod chunk_player;
mod clip;
#[cfg(test)]
mod clip_chunk_tests;
mod clip_chunks;
mod clip_data;
mod clip_describe;
mod clip_events;
#[cfg(test)]
mod clip_feature_tests;
mod clip_retarget;
mod clip_settings;
mod clip_uniform_data;
mod compile;
mod compile_check;
mod compile_chunks;
#[cfg(test)]
mod compile_error_tests;
mod compile_measure;
mod compile_search;
mod constant_track;
pub mod constraints;
mod dispatch;
mod key_reduction;
mod keyed_player;
#[cfg(test)]
mod keyed_tests;
mod lanes;
mod movement_stack;
mod numbers;
mod palette;
#[cfg(target_arch = "x86_64")]
mod palette_wide;
mod player;
mod pose;
mod pose_layers;
mod quantization;
pub mod ragdoll;
mod rest_tracks;
mod retarget;
mod rigid_transform;
mod root_motion;
mod skeleton;
mod skeleton_data;
mod source;
mod source_range;
mod state_machine;
#[cfg(test)]
mod tests;
mod uniform_fit;
mod uniform_group;
mod uniform_layout;
mod uniform_plan;
mod uniform_search;
mod uniform_state;
#[cfg(test)]
mod uniform_tests;
mod uniform_track;

pub use additive::{AdditiveReference, additive_rest};
pub use animation_data::{ANIMATION_VERSION, AnimationData, AnimationHead};
pub use clip::{Clip, ClipStats, MORPH_TARGETS_MAX};
pub use clip_chunks::{ChunkState, ClipChunks};
pub use clip_data::{VERSION as CLIP_VERSION, read as read_clip};
pub use clip_events::{BEATS_MAX, ClipEvent, ClipStep, EVENTS_MAX, EventCue, rounded_seconds};
pub use clip_settings::{
    AdditiveSettings, AnimationFile, CLIP_SETTING_KEYS, parse_animation_file,
    parse_animation_file_over, read_clip_setting,
};
pub use compile::{
    ClipSettings, CompiledClip, FailedCompile, KeyForm, compile, compile_settings, source_pose,
    source_weights,
};
pub use movement_stack::{STACK_MAX, StackedFade, stack_movement};
pub use palette::{ModelMatrix, PaletteEntry, model_matrices, palette};
pub use player::ClipPlayer;
pub use pose::{BlendSum, Pose};
pub use retarget::{UnmatchedBones, retarget, unmatched_bones};
pub use rigid_transform::RigidTransform;
pub use root_motion::RootMotion;
pub use skeleton::{BONES_MAX, BoneTransform, Skeleton};
pub use source::{SourceClip, SourceInterpolation, SourceTrack, TrackProperty};
pub use source_range::cut as cut_clip;
pub use state_machine::{
    BoneMask, CHOICE_PART, ClipInfo, ClipReference, ConstraintDescription, ConstraintKind, Curve,
    EventSource, EventSummary, FACE_UP_VARIABLE, FadeSettings, Interruption, LAYERS_MAX, Layer,
    LayerInfo, LayerOutput, Mask, ParameterForm, ParameterRow, PlayerPool, PoseEvaluator,
    RagdollOutput, RigData, STATE_MACHINE_VERSION, Sample, SampleMode, SamplePlayers, SentEvent,
    State, StateEvent, StateKind, StateMachine, StateMachineOutput, StateMachineState,
    StateMachineSummary, StateSummary, StateTime, Transition, TransitionMode, TransitionSummary,
    Variable, WeightEvaluator, compile_state_machine, read_state_machine,
};
