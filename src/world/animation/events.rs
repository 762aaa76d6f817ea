//! Events that characters have sent: those of the last update, and those that wait for a script.
//! Scripts are notified by src/script/api/unit/animation_events.rs; sounds and effects are played
//! by src/engine/animation_events.rs.

use super::animated_model::{AnimatedModel, ClipOrigin, NamedClip};
use super::state_machine::BoundMachine;
use crate::WorldId;
use crate::unit::UnitId;
use engine_animation::{ClipEvent, EventCue, EventSource, StateEvent, StateMachine};
use engine_foundation::hash::StateHash;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_resource::resource_kind::{CompileContext, kind_names};
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of events of a world that wait for a script. The oldest ones are dropped.
pub const EVENTS_MAX: usize = 1 << 14;

/// The description of an event that a character sent: its name and its cue.
#[derive(Clone, PartialEq, Debug)]
pub enum EventOrigin {
    /// An event of a state machine, or of a clip that it plays.
    Machine(Arc<BoundMachine>, EventSource),
    /// An event of a clip that a script plays: index of the clip in the model, and of the event in
    /// the clip.
    Clip { model: Arc<AnimatedModel>, clip: u16, event: u16 },
}

impl EventOrigin {
    /// Returns the name of the event.
    pub fn name(&self) -> &str {
        match self {
            EventOrigin::Machine(machine, source) => machine.event(*source).0,
            EventOrigin::Clip { model, clip, event } => {
                &model.clips[usize::from(*clip)].clip.events()[usize::from(*event)].name
            }
        }
    }

    /// Returns the sound and the effect that the event plays.
    pub fn cue(&self) -> &EventCue {
        match self {
            EventOrigin::Machine(machine, source) => machine.event(*source).1,
            EventOrigin::Clip { model, clip, event } => {
                &model.clips[usize::from(*clip)].clip.events()[usize::from(*event)].cue
            }
        }
    }
}

/// An event that a character has sent.
#[derive(Clone, PartialEq, Debug)]
pub struct AnimationEvent {
    pub world: WorldId,
    pub unit: UnitId,
    /// Layer of the state machine or of the clip, from 0.
    pub layer: u16,
    pub origin: EventOrigin,
}

/// Number of events that are kept for tools.
const RECENT_MAX: usize = 256;

/// Events of a world that scripts have not taken yet.
struct WorldQueue {
    world: WorldId,
    /// The oldest first.
    waiting: VecDeque<AnimationEvent>,
    /// True if a script has taken events. Without one, the oldest events are dropped silently:
    /// callbacks have got them.
    is_read: bool,
    /// Number of events that were dropped since a script last took events.
    dropped: u64,
}

/// The events of all characters.
#[derive(Default)]
pub struct AnimationEvents {
    /// Events of the last update of a world.
    fresh: Vec<AnimationEvent>,
    /// Queues of the worlds whose characters have sent events, the first that did so first.
    queues: Vec<WorldQueue>,
    /// Numbers of events that were sent and dropped since the last call of
    /// [`AnimationEvents::take_counts`].
    counts: [u64; 2],
    /// Number of all events that were sent.
    total: u64,
    /// The last of them, for tools.
    recent: VecDeque<AnimationEvent>,
}

impl WorldQueue {
    fn new(world: WorldId) -> WorldQueue {
        WorldQueue { world, waiting: VecDeque::new(), is_read: false, dropped: 0 }
    }
}

impl AnimationEvents {
    /// Begins an update of a world: the events of the last one are no longer fresh.
    pub(super) fn begin_update(&mut self) {
        self.fresh.clear();
    }

    /// Adds an event.
    pub(super) fn send(&mut self, event: AnimationEvent) {
        let known = self.queues.iter().position(|queue| queue.world == event.world);
        let index = known.unwrap_or(self.queues.len());
        if known.is_none() {
            self.queues.push(WorldQueue::new(event.world));
        }
        let queue = &mut self.queues[index];
        if queue.waiting.len() == EVENTS_MAX {
            queue.waiting.pop_front();
            queue.dropped += u64::from(queue.is_read);
            self.counts[1] += u64::from(queue.is_read);
        }
        queue.waiting.push_back(event.clone());
        self.counts[0] += 1;
        self.total += 1;
        if self.recent.len() == RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(event.clone());
        self.fresh.push(event);
    }

    /// Returns the events of the last update.
    pub fn fresh(&self) -> &[AnimationEvent] {
        &self.fresh
    }

    /// Returns the last events for tools, each with its number among all events.
    pub fn recent(&self) -> impl Iterator<Item = (u64, &AnimationEvent)> {
        let first = self.total - self.recent.len() as u64;
        (first..).zip(&self.recent)
    }

    /// Returns the events of a world's characters since the last call, the oldest first, and the
    /// number of those that were dropped after the first call.
    pub fn take(&mut self, world: WorldId) -> (Vec<AnimationEvent>, u64) {
        let known = self.queues.iter().position(|queue| queue.world == world);
        let index = known.unwrap_or(self.queues.len());
        if known.is_none() {
            self.queues.push(WorldQueue::new(world));
        }
        let queue = &mut self.queues[index];
        queue.is_read = true;
        (queue.waiting.drain(..).collect(), std::mem::take(&mut queue.dropped))
    }

    /// Drops the events of a released world.
    pub fn forget_world(&mut self, world: WorldId) {
        self.fresh.retain(|event| event.world != world);
        self.queues.retain(|queue| queue.world != world);
        // Numbers follow from the positions.
        self.recent.clear();
    }

    /// Returns the numbers of events that were sent and dropped since the last call.
    pub fn take_counts(&mut self) -> [u64; 2] {
        std::mem::take(&mut self.counts)
    }

    /// Writes the state that must be equal in every run. Without events, writes nothing.
    pub fn write_state(&self, hash: &mut StateHash) {
        if self.total == 0 {
            return;
        }
        hash.write_u64(self.total);
        for WorldQueue { waiting, is_read, dropped, .. } in &self.queues {
            hash.write_u64(waiting.len() as u64);
            hash.write_u64(u64::from(*is_read) << 63 | *dropped);
        }
    }
}

/// Lists the resources of a cue as references of a resource that is compiled.
pub(crate) fn refer_to_cue(compiling: &mut CompileContext, cue: &EventCue) {
    if let Some(sound) = &cue.sound {
        compiling.refer(kind_names::SOUND, sound);
    }
    if let Some(effect) = &cue.effect {
        compiling.refer(kind_names::PARTICLES, effect);
    }
}

impl BoundMachine {
    /// Returns the name and the cue of an event that the machine sends.
    fn event(&self, source: EventSource) -> (&str, &EventCue) {
        match source {
            EventSource::State(index) => {
                let event = &self.machine.sent_events()[usize::from(index)];
                (&event.name, &event.cue)
            }
            EventSource::Clip { clip, event } => {
                let (clip, event) = (usize::from(clip), usize::from(event));
                (&self.infos[clip].events[event].1, &self.clip_cues[clip][event])
            }
        }
    }

    /// Checks the cues of the events that the machine and its clips can send.
    ///
    /// # Errors
    /// Returns the errors of `check` for events of states, with the file and the event, or those
    /// for events of a clip.
    pub fn check_cues(
        &self,
        mut check: impl FnMut(&EventCue) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Some(error) = Error::several(cue_errors(&self.machine, &mut check)) {
            return Err(error);
        }
        self.named_clips().try_for_each(|clip| clip.check_cues(&mut check))
    }
}

/// Returns the errors of `check` for the events that states of a machine send, with the file and
/// the event.
pub(super) fn cue_errors(
    machine: &StateMachine,
    mut check: impl FnMut(&EventCue) -> Result<(), Error>,
) -> Vec<Error> {
    let mut error = |StateEvent { name, cue, line }: &StateEvent| {
        let Error { message, .. } = check(cue).err()?;
        Some(error!("{}:{line}: event '{name}': {message}", machine.path()))
    };
    machine.sent_events().iter().filter_map(&mut error).collect()
}

impl NamedClip {
    /// Checks the cues of the clip's events.
    ///
    /// # Errors
    /// Returns the errors of `check`, each with the file or the clip, and the event.
    pub fn check_cues(
        &self,
        mut check: impl FnMut(&EventCue) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let error = |ClipEvent { name, time, cue, line }: &ClipEvent| {
            let error = check(cue).err()?;
            let source = match &self.origin {
                ClipOrigin::Animation => {
                    let line = if *line > 0 { format!(":{line}") } else { String::new() };
                    format!("{}.{}{line}", self.name, kind_names::ANIMATION)
                }
                ClipOrigin::Own | ClipOrigin::Model(_) => format!("animation '{}'", self.name),
            };
            Some(error!("{source}: event '{name}' at {time} s: {}", error.message))
        };
        match Error::several(self.clip.events().iter().filter_map(error).collect()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl AnimatedModel {
    /// Checks that the model has the bone of a cue.
    ///
    /// # Errors
    /// Returns an error that suggests a similar name.
    pub fn check_cue(&self, cue: &EventCue) -> Result<(), Error> {
        let Some(bone) = cue.bone.as_ref().filter(|bone| self.skeleton.find(bone).is_none()) else {
            return Ok(());
        };
        let names = self.skeleton.names().iter().map(String::as_str);
        Err(error!("the model '{}' has no bone '{bone}'{}", self.name, hint(bone, names)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::{HandleKind, Slots};
    use engine_models::Model;
    use engine_models::data::{ModelData, ModelNode};

    #[test]
    fn events_wait_per_world_and_the_oldest_are_dropped() {
        let node = ModelNode {
            name: "hip".to_string(),
            parent: None,
            position: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            scale: [1.0; 3],
            mesh: None,
            camera: None,
            light: None,
            skin: None,
            extras: None,
        };
        let data = ModelData { nodes: vec![node], ..ModelData::default() };
        let (name, meshes, materials) = ("rig".to_string(), vec![], vec![]);
        let model = AnimatedModel::read(&Model { name, data, meshes, materials }).unwrap();
        let model = Arc::new(model);
        let mut worlds = Slots::new(HandleKind::World, 2);
        let [one, other] = [0, 1].map(|_| WorldId(worlds.add(()).unwrap()));
        let mut units = Slots::new(HandleKind::Unit, 1);
        let unit = UnitId(units.add(()).unwrap());
        let event = |world, layer| {
            let origin = EventOrigin::Clip { model: model.clone(), clip: 0, event: 0 };
            AnimationEvent { world, unit, layer, origin }
        };
        let mut events = AnimationEvents::default();
        let state = |events: &AnimationEvents| {
            let mut hash = StateHash::new(0);
            events.write_state(&mut hash);
            hash.finish()
        };
        let empty = state(&events);
        events.send(event(other, 7));
        assert_ne!(state(&events), empty);
        for count in 0..EVENTS_MAX + 2 {
            events.begin_update();
            events.send(event(one, (count % 1000) as u16));
        }
        assert_eq!(events.fresh().len(), 1, "those of the last update");
        let numbers: Vec<u64> = events.recent().map(|(number, _)| number).collect();
        assert_eq!((numbers.len(), numbers[255]), (RECENT_MAX, EVENTS_MAX as u64 + 2));
        assert_eq!(events.take_counts(), [EVENTS_MAX as u64 + 3, 0], "nobody has asked for them");
        assert_eq!(events.take_counts(), [0, 0]);
        let (taken, dropped) = events.take(one);
        assert_eq!((taken.len(), taken[0].layer, dropped), (EVENTS_MAX, 2, 0));
        assert_eq!(events.take(one), (vec![], 0));
        for _ in 0..EVENTS_MAX + 2 {
            events.send(event(one, 0));
        }
        assert_eq!(events.take_counts(), [EVENTS_MAX as u64 + 2, 2]);
        assert_eq!((events.take(one).1, events.take(one).1), (2, 0));
        let (taken, _) = events.take(other);
        assert_eq!((taken.len(), taken[0].layer), (1, 7), "worlds do not displace each other");
        events.begin_update();
        events.send(event(one, 0));
        events.send(event(other, 0));
        events.forget_world(other);
        assert_eq!(events.fresh().len(), 1);
        assert!(events.take(other).0.is_empty());
        assert_eq!(events.take(one).0.len(), 1);
    }
}
