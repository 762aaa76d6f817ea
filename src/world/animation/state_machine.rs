//! State machines of characters: the resource kind `state_machine`, a machine bound to the clips of
//! a model, and the state of one character.

use super::Animations;
use super::animated_model::{AnimatedModel, ClipOrigin, NamedClip};
use super::animation_resource::{model_name, refer_clip};
use super::clip_stream::ClipStream;
use super::clip_streams::ClipUse;
use super::constraints::{
    BoundConstraints, CharacterConstraints, ConstraintScratch, ConstraintUpdate, RemovedConstraints,
};
use super::events::{EventOrigin, cue_errors, refer_to_cue};
use super::kept_indices::KeptIndices;
use engine_animation::constraints::ModelPose;
use engine_animation::{
    BoneMask, Clip, ClipInfo, ClipPlayer, EventCue, LayerInfo, PlayerPool, Pose, PoseEvaluator,
    RigData, RigidTransform, STATE_MACHINE_VERSION, SamplePlayers, SentEvent, StateMachine,
    StateMachineOutput, StateMachineState, WeightEvaluator, compile_state_machine,
    read_state_machine,
};
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, error, log};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{ResourceKind, SourceForm, compiler, kind_names};
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use std::sync::Arc;

/// Seconds in which the pose of a replaced machine fades into that of its reloaded version.
pub(super) const RELOAD_SECONDS: f32 = 0.3;

/// The resource kind of state machines.
pub static STATE_MACHINE: ResourceKind = ResourceKind {
    name: kind_names::STATE_MACHINE,
    doc: "A state machine of animations: states with clips, transitions by events, variables and \
          layers",
    extensions: &[("state_machine", SourceForm::Own)],
    version: STATE_MACHINE_VERSION,
    framed: true,
    reload: &[ReloadStep::StateMachines, ReloadStep::UnitResources],
    compile: compiler(|compiling| {
        let text = std::str::from_utf8(&compiling.bytes)
            .map_err(|_| error!("{}: it is not text in UTF-8", compiling.path))?;
        let machine = compile_state_machine(&compiling.path, text)?;
        compiling.refer(kind_names::MODEL, model_name(machine.skeleton()));
        machine.sent_events().iter().for_each(|event| refer_to_cue(compiling, &event.cue));
        machine.clips().iter().for_each(|clip| refer_clip(compiling, &clip.name));
        Ok(machine.write())
    }),
    validate: |bytes| read_state_machine(bytes).map(drop),
};

/// A state machine whose clips, masks and constraints were found in a model.
#[derive(Clone, PartialEq, Debug)]
pub struct BoundMachine {
    /// Name of the resource.
    pub name: String,
    pub machine: StateMachine,
    pub constraints: BoundConstraints,
    pub(super) model: Arc<AnimatedModel>,
    /// Number of the pool with the players of its clips.
    pub(super) number: usize,
    /// Indices of scripts if a reload has moved them.
    pub(super) kept: Option<Box<KeptIndices>>,
    /// Clips in the order of the machine.
    clips: Vec<Arc<NamedClip>>,
    pub(super) infos: Vec<ClipInfo>,
    /// Cues of the events of each clip.
    pub(super) clip_cues: Vec<Vec<EventCue>>,
    pub(super) masks: Vec<BoneMask>,
    /// Bones that a clip or a constraint moves, sorted.
    moved: Vec<u16>,
    has_root_motion: bool,
}

impl BoundMachine {
    /// Finds the bones of a machine in a model. `clips` has the index of each of its clips in the
    /// table of the model. `number` is that of no other machine.
    ///
    /// # Errors
    /// Returns an error that names the file and the line if the model lacks a bone, with a line for
    /// each.
    pub fn new(
        name: &str,
        number: usize,
        machine: StateMachine,
        (model, clips): (&Arc<AnimatedModel>, Vec<u16>),
    ) -> Result<BoundMachine, Error> {
        if let Some(error) = Error::several(BoundMachine::bone_errors(&machine, model)) {
            return Err(error);
        }
        let masks = machine.bind(&model.skeleton)?;
        let constraints = BoundConstraints::new(&machine, &model.skeleton)?;
        let clips: Vec<Arc<NamedClip>> =
            clips.iter().map(|clip| model.clips[usize::from(*clip)].clone()).collect();
        let info = |named: &Arc<NamedClip>| {
            let clip = &named.clip;
            ClipInfo {
                seconds: clip.seconds,
                loops: clip.repeats_in_states(),
                beats: clip.beats().to_vec(),
                events: clip.events().iter().map(|it| (it.time, it.name.clone())).collect(),
                additive: clip.is_additive(),
            }
        };
        let infos = clips.iter().map(info).collect();
        let cues = |named: &Arc<NamedClip>| {
            let events = named.clip.events();
            events.iter().map(|event| event.cue.clone()).collect()
        };
        let clip_cues = clips.iter().map(cues).collect();
        let animated = clips.iter().flat_map(|named| &named.bones);
        let mut moved: Vec<u16> = animated.copied().chain(constraints.bones()).collect();
        moved.sort_unstable();
        moved.dedup();
        let has_root_motion = clips.iter().any(|named| named.clip.has_root_motion());
        let bound = BoundMachine {
            name: name.to_string(),
            machine,
            constraints,
            model: model.clone(),
            number,
            kept: None,
            clips,
            infos,
            clip_cues,
            masks,
            moved,
            has_root_motion,
        };
        bound.named_clips().try_for_each(|clip| clip.check_cues(|cue| model.check_cue(cue)))?;
        if bound.moved.is_empty() && !bound.has_ragdolls() && model.has_no_animation() {
            log::warning(&format!(
                "state machine '{name}' moves nothing: it has no clips and no constraints, and \
                 the model '{}' has neither animations nor skins",
                model.name
            ));
        }
        Ok(bound)
    }

    /// Returns the errors of a machine that names bones which a model does not have: in masks,
    /// constraints and events of states.
    pub(super) fn bone_errors(machine: &StateMachine, model: &AnimatedModel) -> Vec<Error> {
        let mut errors = machine.bone_errors(&model.skeleton);
        if errors.is_empty() {
            errors.extend(BoundConstraints::new(machine, &model.skeleton).err());
        }
        errors.extend(cue_errors(machine, |cue| model.check_cue(cue)));
        errors
    }

    /// Returns a clip of the machine.
    fn clip(&self, index: u16) -> Option<&Clip> {
        self.clips.get(usize::from(index)).map(|named| &named.clip)
    }

    /// Returns the clips in the order of the machine.
    pub(super) fn clips(&self) -> impl Iterator<Item = &Clip> {
        self.clips.iter().map(|named| &named.clip)
    }

    /// Returns the clips in the order of the machine, with their names.
    pub(super) fn named_clips(&self) -> impl Iterator<Item = &NamedClip> {
        self.clips.iter().map(|named| &**named)
    }

    /// Returns the name of a streamed clip of the machine, if it has one.
    pub(super) fn streamed_clip(&self) -> Option<&str> {
        let streamed = self.clips.iter().find(|named| named.stream.is_some());
        streamed.map(|named| named.name.as_str())
    }

    /// Returns true if a clip of the machine is streamed.
    pub(super) fn has_streams(&self) -> bool {
        self.streamed_clip().is_some()
    }

    /// Returns the bones that a clip or a constraint of the machine moves, sorted.
    pub(super) fn moved_bones(&self) -> &[u16] {
        &self.moved
    }
}

impl Animations {
    /// Returns the name of the model with the skeleton of a state machine, as its file names it;
    /// `None` if a character has used the machine.
    ///
    /// # Errors
    /// Returns an error if the machine cannot be read.
    pub fn skeleton_of_unused(
        &self,
        machine: &str,
        store: &mut ResourceStore,
    ) -> Result<Option<String>, Error> {
        if self.machines.keys().any(|(used, _)| used == machine) {
            return Ok(None);
        }
        let bytes = store.read(&ResourceName::new(kind_names::STATE_MACHINE, machine))?;
        let read = read_state_machine(&bytes)?;
        Ok(Some(model_name(read.skeleton()).to_string()))
    }

    /// Returns the number of characters that play the animation of a file, or whose state machine
    /// can.
    pub fn users_of_animation(&self, name: &str) -> usize {
        let is_it = |clip: &NamedClip| clip.origin == ClipOrigin::Animation && clip.name == name;
        let users = self.characters.iter().filter(|character| {
            let machine = character.machine.as_ref();
            let clips = &character.model.clips;
            let mut playing =
                character.playing().iter().filter_map(|it| clips.get(usize::from(it.clip)));
            machine.is_some_and(|it| it.bound.named_clips().any(is_it))
                || playing.any(|clip| is_it(clip))
        });
        users.count()
    }

    /// Returns the numbers of characters whose state machine has this name: those with the version
    /// of the file, and those with a previous one.
    pub fn users_of_machine(&self, name: &str, store: &mut ResourceStore) -> [usize; 2] {
        let resource = ResourceName::new(kind_names::STATE_MACHINE, name);
        let bytes = if store.has(&resource) { store.read(&resource).ok() } else { None };
        let current = bytes.and_then(|bytes| read_state_machine(&bytes).ok());
        let mut counts = [0; 2];
        for machine in self.characters.iter().filter_map(|it| it.machine.as_ref()) {
            if machine.bound.name == name {
                counts[usize::from(current.as_ref() != Some(&machine.bound.machine))] += 1;
            }
        }
        counts
    }
}

/// Unused players of the clips of all machines, for one thread.
#[derive(Default)]
pub struct MachinePools(Vec<PlayerPool>);

impl MachinePools {
    /// Returns the pool with the number of a machine.
    pub(super) fn pool(&mut self, number: usize) -> &mut PlayerPool {
        if self.0.len() <= number {
            self.0.resize_with(number + 1, PlayerPool::default);
        }
        &mut self.0[number]
    }
}

/// The state machine of a character.
#[derive(Clone, Debug)]
pub struct CharacterMachine {
    pub bound: Arc<BoundMachine>,
    pub state: StateMachineState,
    pub constraints: CharacterConstraints,
    /// False if the machine stands still and does not affect the pose.
    pub enabled: bool,
    /// False if the model was reloaded with another skeleton, to which the machine is not bound.
    fits: bool,
    pub(super) output: StateMachineOutput,
    sent: Vec<SentEvent>,
    players: SamplePlayers,
    /// The version before a reload, while its pose fades out.
    replaced: Option<Box<ReplacedMachine>>,
}

/// The version of a machine before a reload. It goes on until its pose has faded out, so that the
/// pose does not jump if states, masks or weights are others.
#[derive(Clone, Debug)]
struct ReplacedMachine {
    machine: CharacterMachine,
    /// Index in it of each constraint of the reloaded version.
    constraints: Vec<Option<usize>>,
    elapsed: f32,
}

impl ReplacedMachine {
    /// Returns the part of the pose that is its, from 1 to 0.
    fn share(&self) -> f32 {
        let part = self.elapsed / RELOAD_SECONDS;
        1.0 - part * part * (3.0 - 2.0 * part)
    }

    /// Fades the weights of constraints in from those of this version; new ones from 0.
    fn fade_constraints(&self, weights: &mut [f32]) {
        let (share, before) = (self.share(), &self.machine.output.constraints);
        for (weight, known) in weights.iter_mut().zip(&self.constraints) {
            let known = known.and_then(|index| before.get(index)).copied().unwrap_or(0.0);
            *weight += (known - *weight) * share;
        }
    }
}

impl CharacterMachine {
    /// Creates the state of a character at the beginning of each layer.
    pub fn new(bound: Arc<BoundMachine>, seed: u32) -> CharacterMachine {
        CharacterMachine {
            state: StateMachineState::new(&bound.machine, seed),
            constraints: CharacterConstraints::new(&bound.constraints),
            bound,
            enabled: true,
            fits: true,
            output: StateMachineOutput::default(),
            sent: Vec::new(),
            players: SamplePlayers::default(),
            replaced: None,
        }
    }

    /// Moves the machine on. Returns true if the pose of a replaced version has faded out.
    pub fn advance(&mut self, seconds: f32) -> bool {
        let CharacterMachine { bound, state, output, sent, replaced, .. } = self;
        state.update(&bound.machine, &bound.infos, seconds, sent, output);
        let Some(before) = replaced else { return false };
        before.elapsed += seconds;
        before.machine.advance(seconds);
        before.machine.sent.clear();
        let is_over = before.elapsed >= RELOAD_SECONDS;
        if is_over {
            *replaced = None;
        } else {
            before.fade_constraints(&mut output.constraints);
        }
        is_over
    }

    /// Returns the version before a reload, and the part of the pose that is its.
    pub(super) fn replaced(&mut self) -> Option<(&mut CharacterMachine, f32)> {
        let replaced = self.replaced.as_mut()?;
        let share = replaced.share();
        Some((&mut replaced.machine, share))
    }

    /// Returns true if the machine, or the version that fades out, has constraints.
    pub(super) fn has_constraints(&self) -> bool {
        let before = self.replaced.as_ref();
        !self.bound.constraints.is_empty()
            || before.is_some_and(|it| !it.machine.bound.constraints.is_empty())
    }

    /// Applies the constraints to a pose, with those that a reload has removed and that fade out.
    /// `update` has no weights.
    pub(super) fn apply_constraints(
        &mut self,
        rig: &mut ModelPose,
        update: &ConstraintUpdate,
        scratch: &mut ConstraintScratch,
    ) {
        let CharacterMachine { bound, constraints, output, replaced, .. } = self;
        let removed = replaced.as_mut().map(|replaced| {
            let share = replaced.share();
            let ReplacedMachine { machine, constraints: kept, .. } = &mut **replaced;
            RemovedConstraints {
                bound: &machine.bound.constraints,
                state: &mut machine.constraints,
                weights: &machine.output.constraints,
                share,
                kept,
            }
        });
        let update = ConstraintUpdate { weights: &output.constraints, ..*update };
        constraints.apply(&bound.constraints, rig, &update, (removed, scratch));
    }

    /// Returns the bones that the machine, and the version that fades out, move.
    pub(super) fn moved_bones(&self) -> impl Iterator<Item = &u16> {
        let replaced = self.replaced.iter().flat_map(|it| it.machine.bound.moved_bones());
        self.bound.moved_bones().iter().chain(replaced)
    }

    /// Passes the events that states and clips have sent since the last call to `notify`, with the
    /// index of the layer.
    pub fn take_events(&mut self, mut notify: impl FnMut(EventOrigin, u16)) {
        for event in self.sent.drain(..) {
            notify(EventOrigin::Machine(self.bound.clone(), event.source), event.layer);
        }
    }

    /// Returns the samples and weights of the last update.
    pub fn output(&self) -> &StateMachineOutput {
        &self.output
    }

    /// Returns the clips in the pose of the last update.
    pub(super) fn sampled_clips(&self) -> impl Iterator<Item = &Clip> {
        self.output.samples.iter().filter_map(|sample| self.bound.clip(sample.clip))
    }

    /// Calls a function for each use of a streamed clip in the pose of the last update, which took
    /// `seconds`.
    pub(super) fn each_clip_use(
        &self,
        seconds: f32,
        mut notify: impl FnMut(&Arc<ClipStream>, ClipUse),
    ) {
        for sample in &self.output.samples {
            let Some(named) = self.bound.clips.get(usize::from(sample.clip)) else { continue };
            let Some(stream) = &named.stream else { continue };
            let length = named.clip.seconds;
            let moved = sample.time - sample.from + sample.loops as f32 * length;
            let speed = if seconds > 0.0 { moved / seconds } else { 1.0 };
            let (time, loops) = (sample.time, sample.wraps);
            let held = self.players.player(sample).and_then(ClipPlayer::chunk);
            notify(stream, ClipUse { time, speed, range: [0.0, length], loops, held });
        }
    }

    /// Sends an event by index. Returns true if a layer has a transition for it.
    #[inline]
    pub fn send_event(&mut self, event: u16) -> bool {
        self.state.send_event(&self.bound.machine, event, &mut self.sent)
    }

    /// Returns the activity of a layer, with the length of its state also before its pose begins:
    /// until the next update, a state that an event has begun has no track.
    pub fn layer_info(&self, layer: u16) -> Option<LayerInfo<'_>> {
        let info = self.state.layer_info(&self.bound.machine, layer)?;
        if info.seconds > 0.0 {
            return Some(info);
        }
        let seconds = self.state.current_seconds(&self.bound.machine, &self.bound.infos, layer);
        Some(LayerInfo { seconds, ..info })
    }

    /// Returns the movement of the root in the last update.
    pub fn root_delta(&self) -> RigidTransform {
        let bound = &*self.bound;
        match bound.has_root_motion {
            true => self.output.root_delta(&|index| bound.clip(index), &bound.masks),
            false => RigidTransform::IDENTITY,
        }
    }

    #[inline]
    pub(super) fn prefetch(&self) {
        self.players.prefetch();
    }

    /// Evaluates the pose of the last update.
    pub fn evaluate(
        &mut self,
        pools: &mut MachinePools,
        evaluator: &mut PoseEvaluator,
        base: &Pose,
        pose: &mut Pose,
    ) {
        let CharacterMachine { bound, output, players, .. } = self;
        let bound: &BoundMachine = bound;
        let clip = |index: u16| bound.clip(index);
        let skeleton = &bound.model.skeleton;
        let rig = RigData { skeleton, rest: base, clip: &clip, masks: &bound.masks };
        players.evaluate(output, &rig, pools.pool(bound.number), evaluator, pose);
    }

    /// Returns the players to their pool, while a set of bones is evaluated in place of all.
    pub(super) fn release_players(&mut self, pools: &mut MachinePools) {
        let CharacterMachine { bound, players, .. } = self;
        let bound: &BoundMachine = bound;
        let (skeleton, rest) = (&bound.model.skeleton, &bound.model.rest);
        let clip = |index: u16| bound.clip(index);
        let rig = RigData { skeleton, rest, clip: &clip, masks: &bound.masks };
        players.release(&rig, pools.pool(bound.number));
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
        let mask = |mask: u16, target: usize| {
            let mask = bound.masks.get(usize::from(mask));
            let bone = model.morph_bones.get(target).copied().map_or(0, usize::from);
            mask.and_then(|mask| mask.find_weight(bone)).unwrap_or(1.0)
        };
        let mixed = model.mixed_weights();
        evaluator.evaluate(output, (base, mixed), mask, weights, |sample, base, sampled| {
            match players.player(sample) {
                Some(player) => player.sample_weights(base, sampled),
                None => {
                    sampled.clear();
                    sampled.extend_from_slice(base);
                }
            }
        });
    }

    /// Stops the machine if it was bound to another skeleton than that of the model.
    pub(super) fn check_model(&mut self, model: &Arc<AnimatedModel>) {
        let known = &self.bound.model;
        self.fits = Arc::ptr_eq(known, model) || known.skeleton == model.skeleton;
        if !self.fits {
            self.replaced = None;
        }
    }

    /// Returns true if the pose depends on nothing but the samples of the last update: no
    /// constraint has an effect, or keeps a state.
    pub(super) fn can_merge(&self) -> bool {
        let weights = &self.output.constraints;
        self.is_active()
            && self.replaced.is_none()
            && self.bound.constraints.is_stateless()
            && weights.iter().all(|weight| *weight <= 0.0)
    }

    /// Returns true if the machine affects the pose.
    pub(super) fn is_active(&self) -> bool {
        self.enabled && self.fits
    }

    /// Adds the states of all layers, of springs and of feet to a list of numbers.
    pub fn save(&self, numbers: &mut Vec<f64>) {
        self.state.save(numbers);
        self.constraints.save(numbers);
    }

    /// Replaces the states by those of a list that [`CharacterMachine::save`] wrote. In a list
    /// without springs and feet, these begin again.
    ///
    /// # Errors
    /// Returns an error and changes nothing if the list is not of this state machine.
    pub fn load(&mut self, numbers: &[f64]) -> Result<(), Error> {
        let mut state = self.state.clone();
        let rest = state.load(&self.bound.machine, numbers)?;
        self.constraints.load(rest)?;
        (self.state, self.replaced) = (state, None);
        Ok(())
    }

    /// Replaces the machine by its reloaded version. Variables, states and targets of the same
    /// names are kept, and the pose of the previous version fades out. The events of the previous
    /// version were taken before.
    pub fn reload(&mut self, bound: Arc<BoundMachine>) {
        let mut constraints = self.constraints.clone();
        let is_same_skeleton = self.bound.model.skeleton == bound.model.skeleton;
        constraints.reload(&self.bound.constraints, &bound.constraints, is_same_skeleton);
        let next = CharacterMachine {
            state: self.state.migrate(&self.bound.machine, &bound.machine),
            constraints,
            enabled: self.enabled,
            // Without the last samples, which name clips of the replaced machine.
            ..CharacterMachine::new(bound, 0)
        };
        let mut machine = std::mem::replace(self, next);
        machine.replaced = None;
        // Nobody reads ahead for streamed clips that fade out.
        let is_shown = machine.is_active()
            && !machine.output.samples.is_empty()
            && !machine.bound.has_streams()
            && is_same_skeleton;
        self.replaced = is_shown.then(|| {
            let constraints = self.bound.constraints.find_in(&machine.bound.constraints);
            Box::new(ReplacedMachine { machine, constraints, elapsed: 0.0 })
        });
    }

    pub fn write_state(&self, hash: &mut StateHash) {
        hash.write_bytes(self.bound.name.as_bytes());
        hash.write_u64(u64::from(self.enabled));
        self.state.add_to_hash(hash);
        self.constraints.write_state(hash);
        if let Some(ReplacedMachine { machine, elapsed, .. }) = self.replaced.as_deref() {
            hash.write_f32(*elapsed);
            machine.write_state(hash);
        }
    }
}
