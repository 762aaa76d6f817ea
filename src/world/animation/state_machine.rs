//! State machines of characters: the resource kind `state_machine`, a machine bound to the clips of
//! a model, and the state of one character.

use super::animated_model::AnimatedModel;
use super::animation_resource::refer_clip;
use super::events::{EventOrigin, refer_to_cue};
use super::morph::MeshMorphs;
use engine_animation::{
    BoneMask, ClipInfo, ClipPlayer, EventCue, Pose, PoseEvaluator, STATE_MACHINE_VERSION,
    SampleMode, SentEvent, StateMachine, StateMachineOutput, StateMachineState, WeightEvaluator,
    compile_state_machine, read_state_machine,
};
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, error};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{ResourceKind, SourceForm, kind_names};
use std::sync::Arc;

/// Maximum number of players that a character keeps for clips that it does not play.
const IDLE_PLAYERS_MAX: usize = 8;

/// The resource kind of state machines.
pub static STATE_MACHINE: ResourceKind = ResourceKind {
    name: kind_names::STATE_MACHINE,
    doc: "A state machine of animations: states with clips, transitions by events, variables and \
          layers",
    extensions: &[("state_machine", SourceForm::Own)],
    version: STATE_MACHINE_VERSION,
    framed: true,
    reload: &[ReloadStep::StateMachines, ReloadStep::UnitResources],
    compile: |compiling| {
        let text = std::str::from_utf8(&compiling.bytes)
            .map_err(|_| error!("{}: it is not text in UTF-8", compiling.path))?;
        let machine = compile_state_machine(&compiling.path, text)?;
        machine.sent_events().iter().for_each(|event| refer_to_cue(compiling, &event.cue));
        machine.clips().iter().for_each(|clip| refer_clip(compiling, &clip.name));
        Ok(machine.write())
    },
    validate: |bytes| read_state_machine(bytes).map(drop),
};

/// A state machine whose clips, masks and constraints were found in a model.
#[derive(Clone, PartialEq, Debug)]
pub struct BoundMachine {
    /// Name of the resource.
    pub name: String,
    pub machine: StateMachine,
    /// Index in the model of each clip of the machine.
    clips: Vec<u16>,
    pub(super) infos: Vec<ClipInfo>,
    /// Cues of the events of each clip.
    pub(super) clip_cues: Vec<Vec<EventCue>>,
    pub(super) masks: Vec<BoneMask>,
}

impl BoundMachine {
    /// Finds the bones of a machine in a model. `clips` has the index of each of its clips in the
    /// table of the model.
    ///
    /// # Errors
    /// Returns an error that names the file and the line if the model lacks a bone.
    pub fn new(
        name: &str,
        machine: StateMachine,
        model: &AnimatedModel,
        clips: Vec<u16>,
    ) -> Result<BoundMachine, Error> {
        if let Some(constraint) = machine.constraints().first() {
            return Err(error!(
                "{}:{}: constraints of state machines are not applied yet: remove '{}'",
                machine.path(),
                constraint.line,
                constraint.name
            ));
        }
        let masks = machine.bind(&model.skeleton)?;
        let info = |index: &u16| {
            let clip = &model.clips[usize::from(*index)].clip;
            ClipInfo {
                seconds: clip.seconds,
                loops: clip.is_looping(),
                beats: clip.beats().to_vec(),
                events: clip.events().iter().map(|it| (it.time, it.name.clone())).collect(),
                additive: clip.is_additive(),
            }
        };
        let infos = clips.iter().map(info).collect();
        let cues = |clip: &u16| {
            let events = model.clips[usize::from(*clip)].clip.events();
            events.iter().map(|event| event.cue.clone()).collect()
        };
        let clip_cues = clips.iter().map(cues).collect();
        let bound =
            BoundMachine { name: name.to_string(), machine, clips, infos, clip_cues, masks };
        bound.check_cues(model)?;
        Ok(bound)
    }
}

/// A player of a clip, for one track of the state machine.
#[derive(Clone, Debug)]
struct TrackPlayer {
    track: u16,
    /// Index of the clip in the model.
    clip: u16,
    is_used: bool,
    player: ClipPlayer,
}

/// The state machine of a character.
#[derive(Clone, Debug)]
pub struct CharacterMachine {
    pub bound: Arc<BoundMachine>,
    pub state: StateMachineState,
    /// False if the machine stands still and does not affect the pose.
    pub enabled: bool,
    output: StateMachineOutput,
    sent: Vec<SentEvent>,
    players: Vec<TrackPlayer>,
}

impl CharacterMachine {
    /// Creates the state of a character at the beginning of each layer.
    pub fn new(bound: Arc<BoundMachine>, seed: u32) -> CharacterMachine {
        CharacterMachine {
            state: StateMachineState::new(&bound.machine, seed),
            bound,
            enabled: true,
            output: StateMachineOutput::default(),
            sent: Vec::new(),
            players: Vec::new(),
        }
    }

    /// Moves the machine on. Events that its states and clips send are passed to `notify` with the
    /// index of the layer.
    pub fn advance(&mut self, seconds: f32, mut notify: impl FnMut(EventOrigin, u16)) {
        let CharacterMachine { bound, state, output, sent, .. } = self;
        state.update(&bound.machine, &bound.infos, seconds, sent, output);
        for event in sent.drain(..) {
            notify(EventOrigin::Machine(bound.clone(), event.source), event.layer);
        }
    }

    /// Returns the samples and weights of the last update.
    pub fn output(&self) -> &StateMachineOutput {
        &self.output
    }

    /// Sends an event by index. Returns true if a layer has a transition for it.
    pub fn send_event(&mut self, event: u16) -> bool {
        self.state.send_event(&self.bound.machine, event, &mut self.sent)
    }

    /// Evaluates the pose of the last update.
    pub fn evaluate(
        &mut self,
        model: &AnimatedModel,
        evaluator: &mut PoseEvaluator,
        base: &Pose,
        pose: &mut Pose,
    ) {
        let CharacterMachine { bound, output, players, .. } = self;
        players.iter_mut().for_each(|it| it.is_used = false);
        evaluator.evaluate(output, &bound.masks, base, pose, |_, sample, sampled| {
            let clip = bound.clips[usize::from(sample.clip)];
            let base = if sample.mode == SampleMode::Add { &model.no_difference } else { base };
            // A reload can remove a clip from the model.
            let Some(named) = model.clips.get(usize::from(clip)) else {
                return sampled.clone_from(base);
            };
            let index = player_for(players, (sample.track, clip), model);
            let player = &mut players[index].player;
            player.seek(&named.clip, sample.time);
            player.sample(base, sampled);
        });
        let idle = players.iter().filter(|it| !it.is_used).count();
        if idle > IDLE_PLAYERS_MAX {
            players.retain(|it| it.is_used);
        }
    }

    /// Evaluates the weights of morph targets of the last update, after the pose.
    pub fn evaluate_weights(
        &mut self,
        model: &AnimatedModel,
        evaluator: &mut WeightEvaluator,
        base: &[f32],
        weights: &mut Vec<f32>,
    ) {
        let CharacterMachine { bound, output, players, .. } = self;
        let bones = |target: usize| {
            let of = |it: &&MeshMorphs| target < usize::from(it.first) + it.rest.len();
            model.morphs.iter().find(of).map_or(0, |it| usize::from(it.bone))
        };
        let mask = |mask: u16, target: usize| {
            let mask = bound.masks.get(usize::from(mask));
            mask.and_then(|mask| mask.find_weight(bones(target))).unwrap_or(1.0)
        };
        evaluator.evaluate(output, base, mask, weights, |sample, base, sampled| {
            let clip = bound.clips[usize::from(sample.clip)];
            let plays = |it: &&TrackPlayer| it.track == sample.track && it.clip == clip;
            match players.iter().find(plays) {
                Some(it) => it.player.sample_weights(base, sampled),
                None => {
                    sampled.clear();
                    sampled.extend_from_slice(base);
                }
            }
        });
    }

    /// Returns true if a clip that contributes to the pose moves a bone.
    pub fn moves(&self, model: &AnimatedModel, bone: u16) -> bool {
        self.enabled
            && self.output.samples.iter().any(|sample| {
                let clip = self.bound.clips[usize::from(sample.clip)];
                let clip = model.clips.get(usize::from(clip));
                clip.is_some_and(|clip| clip.bones.binary_search(&bone).is_ok())
            })
    }

    /// Ends the players of all clips. The next evaluation creates them for the current clips.
    pub fn forget_players(&mut self) {
        self.players.clear();
    }

    /// Replaces the machine by its reloaded version. Variables and states of the same names are
    /// kept.
    pub fn reload(&mut self, bound: Arc<BoundMachine>) {
        self.state = self.state.migrate(&self.bound.machine, &bound.machine);
        self.bound = bound;
        self.sent.clear();
        self.players.clear();
    }

    pub fn write_state(&self, hash: &mut StateHash) {
        hash.write_bytes(self.bound.name.as_bytes());
        hash.write_u64(u64::from(self.enabled));
        self.state.add_to_hash(hash);
    }
}

/// Returns the index of a player for a track and a clip: the one that played it before, an idle one
/// of the same clip, or a new one.
fn player_for(
    players: &mut Vec<TrackPlayer>,
    (track, clip): (u16, u16),
    model: &AnimatedModel,
) -> usize {
    let idle = |it: &TrackPlayer| it.clip == clip && !it.is_used;
    let found = players.iter().position(|it| idle(it) && it.track == track);
    let index = found.or_else(|| players.iter().position(idle)).unwrap_or_else(|| {
        let data = &model.clips[usize::from(clip)].clip;
        let player = ClipPlayer::new(data, &model.skeleton);
        players.push(TrackPlayer { track, clip, is_used: true, player });
        players.len() - 1
    });
    (players[index].track, players[index].is_used) = (track, true);
    index
}
