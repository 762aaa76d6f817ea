//! Sounds and particle effects that characters play at their events. The events themselves are in
//! src/world/animation/events.rs.

use super::{Assets, Engine, Worlds};
use engine_foundation::{Error, Mat4, error, log, scope};
use engine_particles::pose::EffectTransform;
use engine_particles::{EffectStage, NodeLink, OrphanPolicy};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_sound::voices::TriggerDesc;
use engine_world::animation::{AnimatedModel, AnimationEvent, BoundMachine, EventCue};

/// Where a cue is played.
struct CueLocation {
    /// Index of the node that follows the bone.
    node: u16,
    /// Transform of the bone in the world.
    bone: EffectTransform,
    /// Position of the bone, rotation of the unit, and scale 1.
    start: EffectTransform,
}

impl Worlds {
    /// Checks that the sounds and effects of a state machine's events exist, and loads the effects.
    ///
    /// # Errors
    /// Returns an error that names the file and the event.
    pub(super) fn check_event_cues(
        &mut self,
        assets: &mut Assets,
        machine: &BoundMachine,
    ) -> Result<(), Error> {
        machine.check_cues(|cue| self.check_event_cue(assets, cue))
    }

    /// Checks that the sounds, effects and bones of a clip's events exist, and loads the effects.
    ///
    /// # Errors
    /// Returns an error that names the file or the animation, and the event.
    pub(super) fn check_clip_cues(
        &mut self,
        assets: &mut Assets,
        model: &AnimatedModel,
        clip: u16,
    ) -> Result<(), Error> {
        model.clips[usize::from(clip)].check_cues(|cue| {
            model.check_cue(cue)?;
            self.check_event_cue(assets, cue)
        })
    }

    fn check_event_cue(&mut self, assets: &mut Assets, cue: &EventCue) -> Result<(), Error> {
        if let Some(sound) = &cue.sound {
            let resource = ResourceName::new(kind_names::SOUND, sound);
            if !assets.store.has(&resource) {
                return Err(error!("{}", assets.store.missing_message(&resource)));
            }
        }
        match &cue.effect {
            Some(effect) => self.find_particles(assets, effect).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Returns where the cue of an event is played; `None` if the unit has no character.
    fn cue_location(&mut self, event: &AnimationEvent, cue: &EventCue) -> Option<CueLocation> {
        let row = event.unit.row();
        let root = self.units.scene.world(row, 0);
        let character = self.animations.of(row)?;
        let (node, bone) = match &cue.bone {
            None => (0, root),
            Some(name) => {
                let bone = usize::from(character.model.skeleton.find(name)?);
                let node = character.nodes.get(bone).copied().flatten().unwrap_or(0);
                let matrix = character.matrices().get(bone);
                let matrix = matrix
                    .map_or(Mat4::IDENTITY, |matrix| Mat4::from_cols_array(&matrix.to_columns()));
                (node, root * matrix)
            }
        };
        let bone = EffectTransform::of(&bone);
        let rotation = EffectTransform::of(&root).rotation;
        let start = EffectTransform { position: bone.position, rotation, scale: 1.0 };
        Some(CueLocation { node, bone, start })
    }
}

impl Engine {
    /// Plays the sounds and effects of the events that characters sent in the last update of a
    /// world.
    pub(super) fn play_event_cues(&mut self) {
        if self.worlds.animations.events.fresh().is_empty() {
            return;
        }
        scope!("animation_events");
        for index in 0..self.worlds.animations.events.fresh().len() {
            let event = &self.worlds.animations.events.fresh()[index];
            if event.origin.cue().is_empty() {
                continue;
            }
            let event = event.clone();
            if let Err(error) = self.play_event_cue(&event) {
                let message = format!("event '{}': {}", event.origin.name(), error.message);
                log::warn("animation events", &message);
            }
        }
    }

    fn play_event_cue(&mut self, event: &AnimationEvent) -> Result<(), Error> {
        let (cue, world) = (event.origin.cue(), event.world);
        let Some(location) = self.worlds.cue_location(event, cue) else { return Ok(()) };
        let CueLocation { node, bone, start } = location;
        if let Some(sound) = &cue.sound
            && !self.worlds.world(world).flags.no_sound
        {
            let sound_world = self.devices.sounds.world(world.0);
            let trigger = TriggerDesc {
                position: Some(start.position),
                owner: cue.link.then(|| (event.unit.0, node.into())),
                ..TriggerDesc::new(sound, sound_world.0)
            };
            self.devices.sounds.trigger(&mut self.assets.store, &trigger)?;
        }
        if let Some(effect) = &cue.effect {
            let (worlds, assets) = (&mut self.worlds, &mut self.assets);
            let stage = EffectStage::World;
            let id = worlds.create_particles(assets, &self.devices, world, stage, effect, start)?;
            if cue.link {
                let (unit, node, orphaned) = (event.unit.0, node.into(), OrphanPolicy::Stop);
                let pose = start.in_parent_space(&bone.inverse());
                worlds.particles.effect(id).link = Some(NodeLink { unit, node, pose, orphaned });
            }
        }
        Ok(())
    }
}
