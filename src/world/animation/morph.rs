//! Morph targets of characters: their weights, which scripts set and clips animate. The targets of
//! all meshes of a model have one numbering.

use super::animated_model::AnimatedModel;
use super::character::Character;
use super::model_clips::{MorphRange, morph_ranges};
use super::playing_clip::PlayingClip;
use super::slot_values::carry_parts;
use engine_animation::{CHOICE_PART, Clip, WeightEvaluator};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_models::{MeshNumber, Model};
use std::collections::HashMap;

/// Maximum absolute weight of a morph target.
pub const MORPH_WEIGHT_MAX: f32 = 1000.0;

/// Morph targets of a mesh of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct MeshMorphs {
    /// Bone of the node with the mesh.
    pub bone: u16,
    /// `None` if the model is not loaded for drawing.
    pub mesh: Option<MeshNumber>,
    /// Number of the first target.
    pub first: u16,
    /// Name of each target. Targets of several meshes can have the same name.
    pub names: Vec<String>,
    /// Initial weight of each target.
    pub rest: Vec<f32>,
}

/// Weights of the morph targets of a character.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MorphWeights {
    /// Weights of targets that no clip animates.
    pub(super) base: Vec<f32>,
    /// Weights of the last evaluation.
    pub(super) current: Vec<f32>,
}

/// Memory of an evaluation, reused for all characters of a thread.
#[derive(Default)]
pub struct MorphScratch {
    below: Vec<f32>,
    sampled: Vec<f32>,
    zeros: Vec<f32>,
    evaluator: WeightEvaluator,
}

/// Returns the morph targets of a model.
pub fn morphs_of(model: &Model) -> Vec<MeshMorphs> {
    let morphs = |range: MorphRange| {
        let MorphRange { node, mesh, first, count } = range;
        let data = &model.data.meshes[mesh as usize];
        let count = usize::from(count);
        let unnamed = || (1..=count).map(|number| format!("target_{number}")).collect();
        let has_names = data.target_names.len() == count;
        let has_weights = data.target_weights.len() == count;
        MeshMorphs {
            bone: node,
            mesh: model.meshes.get(mesh as usize).copied(),
            first,
            names: if has_names { data.target_names.clone() } else { unnamed() },
            rest: if has_weights { data.target_weights.clone() } else { vec![0.0; count] },
        }
    };
    morph_ranges(&model.data).into_iter().map(morphs).collect()
}

impl MorphWeights {
    /// Creates the weights of a model at rest.
    pub fn new(model: &AnimatedModel) -> MorphWeights {
        let rest: Vec<f32> = model.morphs.iter().flat_map(|it| it.rest.iter().copied()).collect();
        MorphWeights { base: rest.clone(), current: rest }
    }

    /// Returns the weights of a reloaded model. Targets of the same names keep the weights that
    /// were set, those of the same mesh if there are several.
    pub(super) fn carried(&self, old: &AnimatedModel, new: &AnimatedModel) -> MorphWeights {
        let (mut of_mesh, mut of_any) = (HashMap::new(), HashMap::new());
        for morphs in &old.morphs {
            let node = &old.skeleton.names()[usize::from(morphs.bone)];
            let set = &self.base[usize::from(morphs.first)..];
            for ((name, rest), weight) in morphs.names.iter().zip(&morphs.rest).zip(set) {
                let weight = (weight != rest).then_some(*weight);
                of_mesh.entry((node, name)).or_insert(weight);
                of_any.entry(name).or_insert(weight);
            }
        }
        let mut weights = MorphWeights::new(new);
        for morphs in &new.morphs {
            let node = &new.skeleton.names()[usize::from(morphs.bone)];
            for (name, target) in morphs.names.iter().zip(usize::from(morphs.first)..) {
                let known = of_mesh.get(&(node, name)).or_else(|| of_any.get(name));
                let Some(weight) = known.copied().flatten() else { continue };
                weights.base[target] = weight;
                weights.current[target] = weight;
            }
        }
        if let (Some(before), Some(after)) = (&old.sprite_skeleton, &new.sprite_skeleton) {
            carry_parts((&self.base, before), (&mut weights.base, after));
            weights.current.clone_from(&weights.base);
        }
        weights
    }

    /// Returns the weights of a mesh.
    pub fn of(&self, morphs: &MeshMorphs) -> &[f32] {
        let first = usize::from(morphs.first);
        self.current.get(first..first + morphs.rest.len()).unwrap_or_default()
    }
}

impl AnimatedModel {
    /// Returns the names of the morph targets of all meshes, in the order of their numbers.
    pub fn morph_names(&self) -> impl Iterator<Item = &str> {
        // The values of slots are no morph targets of meshes.
        let morphs = self.morphs.iter().filter(|_| self.sprite_skeleton.is_none());
        morphs.flat_map(|it| it.names.iter().map(String::as_str))
    }

    /// Returns the numbers of the morph targets with a name: one, or one of each mesh that has it.
    ///
    /// # Errors
    /// Returns an error that suggests a similar name.
    pub fn find_morphs(&self, name: &str) -> Result<Vec<u16>, Error> {
        let named = self.morph_names().zip(0..).filter(|(known, _)| *known == name);
        let found: Vec<u16> = named.map(|(_, number)| number).collect();
        match found.is_empty() {
            false => Ok(found),
            true if self.morphs.is_empty() || self.sprite_skeleton.is_some() => {
                Err(error!("the model '{}' has no morph targets", self.name))
            }
            true => Err(error!(
                "the model '{}' has no morph target '{name}'{}",
                self.name,
                hint(name, self.morph_names())
            )),
        }
    }
}

impl Character {
    /// Returns the current weight of a morph target; `None` if there is no such target.
    pub fn morph_weight(&self, target: u16) -> Option<f32> {
        self.weights.current.get(usize::from(target)).copied()
    }

    /// Returns the weight of a morph target after the last evaluation; `None` if no clip in the
    /// pose animates it.
    pub fn animated_morph(&self, target: u16) -> Option<f32> {
        let animates = |clip: &Clip| usize::from(target) < clip.weight_count();
        let clips = self.playing.iter().map(|it| &self.model.clips[usize::from(it.clip)].clip);
        let machine = self.machine.as_ref().filter(|machine| machine.is_active());
        let sampled = machine.into_iter().flat_map(|machine| machine.sampled_clips());
        clips.chain(sampled).any(animates).then(|| self.morph_weight(target)).flatten()
    }

    /// Sets the weight of a morph target while no clip animates it. Returns false if there is no
    /// such target.
    pub fn set_morph_weight(&mut self, target: u16, weight: f32) -> bool {
        let index = usize::from(target);
        let Some(base) = self.weights.base.get_mut(index) else { return false };
        *base = weight;
        self.weights.current[index] = weight;
        self.mark_outdated();
        true
    }

    /// Evaluates the weights of the morph targets. The clips were moved to their times before.
    pub(super) fn evaluate_weights(&mut self, scratch: &mut MorphScratch) {
        if self.weights.base.is_empty() {
            return;
        }
        let (model, playing) = (self.model.clone(), &self.playing);
        let MorphWeights { base, current } = &mut self.weights;
        match self.machine.as_mut().filter(|machine| machine.is_active()) {
            None => current.clone_from(base),
            Some(machine) => {
                machine.evaluate_weights(&model, &mut scratch.evaluator, base, current);
            }
        }
        scratch.zeros.clear();
        scratch.zeros.resize(base.len(), 0.0);
        for layer in playing.chunk_by(|a, b| a.options.layer == b.options.layer) {
            scratch.add_layer(layer, &model, base, current);
        }
    }
}

impl MorphScratch {
    /// Blends the clips of a layer over the weights of the layers below it. `base` has the weights
    /// that no clip animates.
    fn add_layer(
        &mut self,
        clips: &[PlayingClip],
        model: &AnimatedModel,
        base: &[f32],
        weights: &mut [f32],
    ) {
        self.below.clear();
        self.below.extend_from_slice(weights);
        for it in clips {
            let share = it.share();
            let is_additive = model.clips[usize::from(it.clip)].clip.is_additive();
            let reference = match (is_additive, it.options.adds) {
                (true, _) => &self.zeros[..],
                (_, true) => base,
                _ => &self.below,
            };
            it.player.sample_weights(reference, &mut self.sampled);
            let is_added = it.is_added(model);
            let mixed = model.mixed_weights().min(weights.len());
            if !is_added && share >= CHOICE_PART {
                let chosen = weights[mixed..].iter_mut().zip(self.sampled.iter().skip(mixed));
                chosen.for_each(|(weight, sampled)| *weight = *sampled);
            }
            let rows = weights[..mixed].iter_mut().zip(&self.sampled).zip(reference);
            for ((weight, sampled), reference) in rows {
                *weight += match is_added {
                    true => (sampled - reference) * share,
                    false => (sampled - *weight) * share,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::character_evaluation::PoseContext;
    use super::super::model_clips::compile_clips;
    use super::super::{Character, PlayOptions};
    use super::*;
    use crate::WorldId;
    use crate::scene_graph::NodePose;
    use crate::unit::Units;
    use crate::unit_resource::UnitResource;
    use engine_animation::BONES_MAX;
    use engine_foundation::hash::StateHash;
    use engine_foundation::sjson::SjsonTree;
    use engine_foundation::{HandleKind, Slots};
    use engine_models::data::{
        AnimationChannel, AnimationData, ChannelTarget, KeyInterpolation, ModelData,
    };
    use engine_models::primitives;
    use std::sync::Arc;

    /// A cube with two morph targets, and two animations of them.
    fn model() -> Model {
        let mut data: ModelData = primitives::model("core/models/cube").expect("the engine has it");
        data.meshes[0].targets = vec![Vec::new(); 2];
        data.meshes[0].target_names = vec!["smile".to_string(), "frown".to_string()];
        data.meshes[0].target_weights = vec![0.0, 0.25];
        let animation = |name: &str, ends: [f32; 2]| AnimationData {
            name: name.to_string(),
            channels: vec![AnimationChannel {
                node: 0,
                track: ChannelTarget::Weights,
                between: KeyInterpolation::Linear,
                times: vec![0.0, 1.0],
                values: vec![0.0, 0.0, ends[0], ends[1]],
            }],
        };
        data.animations = vec![animation("smile", [1.0, 0.0]), animation("frown", [0.0, 1.0])];
        compile_clips(&mut data).unwrap();
        Model { name: "face".to_string(), data, meshes: vec![], materials: vec![] }
    }

    fn character() -> Character {
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = WorldId(worlds.add(()).unwrap());
        let resource = Arc::new(UnitResource {
            name: "face".to_string(),
            node_names: vec!["root".to_string()],
            node_hashes: Vec::new(),
            parents: vec![crate::scene_graph::NO_NODE],
            poses: vec![NodePose::IDENTITY],
            parts: Vec::new(),
            flow: None,
            body_hash: 0,
            data: SjsonTree::Object(Vec::new()),
            bases: Vec::new(),
            duplicate_names: Vec::new(),
            template: Default::default(),
        });
        let mut units = Units::default();
        let unit = units.spawn(world, &resource, &NodePose::IDENTITY).unwrap();
        let model = Arc::new(AnimatedModel::read(&model()).unwrap());
        Character::new(unit, model, vec![None].into())
    }

    fn step(character: &mut Character, seconds: f32) -> [f32; 2] {
        character.advance(seconds);
        let context = PoseContext { seconds, ground: None };
        character.evaluate(&mut Default::default(), &context);
        [0, 1].map(|target| character.morph_weight(target).unwrap())
    }

    #[track_caller]
    fn assert_near(found: [f32; 2], wanted: [f32; 2]) {
        let near = |index: usize| (found[index] - wanted[index]).abs() < 5e-3;
        assert!(near(0) && near(1), "{found:?} is not {wanted:?}");
    }

    #[test]
    fn clips_animate_weights_and_blend() {
        let mut character = character();
        assert_near(step(&mut character, 0.1), [0.0, 0.25]);
        let once = PlayOptions::once(1.0);
        let smile = character.model.find_clip("smile").unwrap();
        let frown = character.model.find_clip("frown").unwrap();
        character.play(smile, once).unwrap();
        assert_near(step(&mut character, 0.5), [0.5, 0.0]);
        assert_near(step(&mut character, 0.5), [1.0, 0.0]);
        character.play(frown, PlayOptions { blend: 1.0, speed: 0.0, ..once }).unwrap();
        assert_near(step(&mut character, 0.25), [0.75, 0.0]);
        character.stop(None, 0.0);
        assert_near(step(&mut character, 0.1), [0.0, 0.25]);
    }

    #[test]
    fn set_weights_stay_and_are_part_of_the_state() {
        let hash = |character: &Character| {
            let mut hash = StateHash::new(0);
            character.write_state(&mut hash);
            hash.finish()
        };
        let mut character = character();
        let before = hash(&character);
        let [smile] = character.model.find_morphs("smile").unwrap()[..] else { panic!() };
        assert!(character.set_morph_weight(smile, 0.5));
        assert_eq!(character.morph_weight(smile), Some(0.5));
        assert_ne!(hash(&character), before);
        assert_near(step(&mut character, 0.1), [0.5, 0.25]);
        assert!(!character.set_morph_weight(2, 1.0));
        let message = character.model.find_morphs("smil").unwrap_err().message;
        assert_eq!(message, "the model 'face' has no morph target 'smil', did you mean 'smile'?");
        assert!(usize::from(character.model.morphs[0].bone) < BONES_MAX);
    }

    #[test]
    fn reloads_keep_set_weights_by_name() {
        let mut character = character();
        assert!(character.set_morph_weight(1, 0.75));
        let mut new = model();
        let mesh = &mut new.data.meshes[0];
        mesh.target_names = vec!["frown".to_string(), "smile".to_string()];
        mesh.target_weights = vec![0.1, 0.5];
        character.reload(&Arc::new(AnimatedModel::read(&new).unwrap()), vec![None].into());
        assert_near(step(&mut character, 0.1), [0.75, 0.5]);
    }
}
