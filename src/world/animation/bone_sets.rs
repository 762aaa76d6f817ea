//! Sets of bones by level of detail: the bones of a character that state machines move at a level.
//! The other bones stay as in the model, relative to the bones above them.
//!
//! A set has a skeleton, clips and masks of its own, so that sampling and blending cost as much as
//! those of a model with so many bones.

use super::character::Character;
use super::level_of_detail::LEVEL_MAX;
use super::state_machine::{BoundMachine, MachinePools};
use crate::physics::FieldError;
use engine_animation::{
    BONES_MAX, BoneMask, Clip, Pose, PoseEvaluator, RigData, SamplePlayers, Skeleton,
    StateMachineOutput,
};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, log};
use std::collections::HashMap;
use std::sync::Arc;

/// Names of the bones at each level from 1 on. Further levels have those of the last list.
pub type BoneSetNames = Vec<Vec<String>>;

/// Reads the field `lod_bones` of the component `animation`.
///
/// # Errors
/// Returns an error if it is no list of lists of names, or if a list is too long.
pub fn read(tree: &SjsonTree) -> Result<BoneSetNames, FieldError> {
    let must = || {
        FieldError::new(format!(
            "'lod_bones' must be 1 to {LEVEL_MAX} lists of names of bones: lod_bones = [ \
             [\"Spine\" \"LeftLeg\" \"RightLeg\"] ]"
        ))
    };
    let SjsonTree::Array(levels) = tree else { return Err(must()) };
    if levels.is_empty() || levels.len() > usize::from(LEVEL_MAX) {
        return Err(must());
    }
    let name = |item: &SjsonTree| match item {
        SjsonTree::String(name) => Ok(name.to_string()),
        _ => Err(must()),
    };
    let level = |level: &SjsonTree| match level {
        SjsonTree::Array(names) if !names.is_empty() && names.len() <= BONES_MAX => {
            names.iter().map(name).collect()
        }
        _ => Err(must()),
    };
    levels.iter().map(level).collect()
}

/// Checks the field for the compiler of units.
pub(super) fn check(tree: &SjsonTree, _: bool) -> Result<(), FieldError> {
    read(tree).map(drop)
}

/// Checks that a skeleton has the bones.
///
/// # Errors
/// Returns an error that suggests a similar name.
pub(super) fn check_bones(names: &BoneSetNames, skeleton: &Skeleton) -> Result<(), Error> {
    for level in names {
        skeleton.with_parents(level.iter().map(String::as_str)).map_err(|error| Error {
            message: format!("'lod_bones': {}", error.message),
            ..error
        })?;
    }
    Ok(())
}

/// A state machine for some of the bones of its model.
#[derive(Debug)]
pub(super) struct PartialMachine {
    /// Bones in the skeleton of the model, sorted.
    bones: Vec<u16>,
    skeleton: Skeleton,
    rest: Pose,
    /// Clips of the machine; `None` for those that move none of the bones.
    clips: Vec<Option<Clip>>,
    masks: Vec<BoneMask>,
    /// Number of the pool with the players of the clips.
    number: usize,
}

/// Memory of the evaluation of a part.
#[derive(Default)]
pub(super) struct PartScratch {
    base: Pose,
    pose: Pose,
}

/// Returns the bones of a pose as a pose of their own.
fn gather(pose: &Pose, bones: &[u16], part: &mut Pose) {
    for (index, bone) in bones.iter().enumerate() {
        part.copy_bone(index, pose, usize::from(*bone));
    }
}

impl PartialMachine {
    fn new(bound: &BoundMachine, names: &[String], number: usize) -> Result<PartialMachine, Error> {
        let whole = &bound.model.skeleton;
        let bones = whole.with_parents(names.iter().map(String::as_str))?;
        let skeleton = whole.part(&bones);
        let weights = |mask: &BoneMask| {
            let weights: Vec<f32> =
                bones.iter().map(|bone| mask.weight(usize::from(*bone))).collect();
            BoneMask::new(&weights)
        };
        let clips = bound.clips().map(|clip| clip.of_bones(whole, &skeleton, &bones)).collect();
        let masks = bound.masks.iter().map(weights).collect();
        let rest = Pose::rest(&skeleton);
        Ok(PartialMachine { bones, skeleton, rest, clips, masks, number })
    }

    /// Evaluates the pose of an update. Bones that are not in the set have the pose `base`;
    /// `is_edited` is false if that is the rest pose of the model.
    fn evaluate(
        &self,
        (output, players): (&StateMachineOutput, &mut SamplePlayers),
        (pools, evaluator): (&mut MachinePools, &mut PoseEvaluator),
        (base, is_edited): (&Pose, bool),
        scratch: &mut PartScratch,
        pose: &mut Pose,
    ) {
        if is_edited {
            scratch.base.clone_from(&self.rest);
            gather(base, &self.bones, &mut scratch.base);
        }
        let rest = if is_edited { &scratch.base } else { &self.rest };
        let clip = |index: u16| self.clips.get(usize::from(index))?.as_ref();
        let rig = RigData { skeleton: &self.skeleton, rest, clip: &clip, masks: &self.masks };
        players.evaluate(output, &rig, pools.pool(self.number), evaluator, &mut scratch.pose);
        pose.clone_from(base);
        for (index, bone) in self.bones.iter().enumerate() {
            pose.copy_bone(usize::from(*bone), &scratch.pose, index);
        }
    }
}

/// A set of a level: not needed yet, without effect, or a machine of its bones.
#[derive(Clone, Debug)]
enum SetState {
    Unknown,
    Unusable,
    Ready(Arc<PartialMachine>),
}

/// The sets of bones of a character.
#[derive(Clone, Debug)]
pub(super) struct CharacterBoneSets {
    names: Arc<BoneSetNames>,
    /// Number of the machine that `sets` are for.
    machine: usize,
    sets: Vec<SetState>,
    /// Set of the current level.
    current: Option<Arc<PartialMachine>>,
    players: SamplePlayers,
}

impl CharacterBoneSets {
    pub fn new(names: Arc<BoneSetNames>) -> CharacterBoneSets {
        let (sets, players) = (Vec::new(), SamplePlayers::default());
        CharacterBoneSets { names, machine: 0, sets, current: None, players }
    }

    /// Returns true if a character with other sets, or none, has the same bones now.
    fn is_like(&self, other: Option<&CharacterBoneSets>) -> bool {
        let other = other.and_then(|other| other.current.as_ref());
        match (&self.current, other) {
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            (None, None) => true,
            _ => false,
        }
    }
}

/// The machines for sets of bones, by the number of the whole machine and the names of the bones.
#[derive(Default)]
pub(super) struct PartialMachines(HashMap<(usize, Vec<String>), Arc<PartialMachine>>);

impl PartialMachines {
    /// Forgets all machines, after a reload.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn find(
        &mut self,
        bound: &BoundMachine,
        names: &[String],
        numbers: &mut usize,
    ) -> Result<Arc<PartialMachine>, Error> {
        let key = (bound.number, names.to_vec());
        if let Some(known) = self.0.get(&key) {
            return Ok(known.clone());
        }
        *numbers += 1;
        let part = Arc::new(PartialMachine::new(bound, names, *numbers)?);
        self.0.insert(key, part.clone());
        Ok(part)
    }

    /// Chooses the set of bones of a character at its level of detail. `numbers` is the last number
    /// of a machine.
    pub fn choose(&mut self, character: &mut Character, numbers: &mut usize) {
        let Some(sets) = &mut character.bone_sets else { return };
        let machine = character.machine.as_ref().filter(|it| it.is_active());
        let level = usize::from(character.detail.current()).min(sets.names.len());
        let found = match machine {
            // Clips of scripts and chunks of streams are those of whole poses.
            Some(machine) if level > 0 && character.playing.is_empty() => {
                let bound = &machine.bound;
                if sets.machine != bound.number || sets.sets.is_empty() {
                    sets.machine = bound.number;
                    sets.sets = vec![SetState::Unknown; sets.names.len()];
                }
                let names = &sets.names[level - 1];
                let state = &mut sets.sets[level - 1];
                if matches!(state, SetState::Unknown) {
                    *state = match bound.has_streams() {
                        true => SetState::Unusable,
                        false => match self.find(bound, names, numbers) {
                            Ok(part) => SetState::Ready(part),
                            Err(error) => {
                                let message = &error.message;
                                log::warn(&format!("'lod_bones' of '{}'", bound.name), message);
                                SetState::Unusable
                            }
                        },
                    };
                }
                match state {
                    SetState::Ready(part) => Some(part.clone()),
                    _ => None,
                }
            }
            _ => None,
        };
        let is_same = match (&sets.current, &found) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            // Players are those of the clips of a set.
            (sets.current, sets.players) = (found, SamplePlayers::default());
        }
    }
}

impl Character {
    /// Lets the character move fewer bones at lower levels of detail.
    pub(super) fn set_bone_sets(&mut self, names: &Arc<BoneSetNames>) {
        self.bone_sets = Some(Box::new(CharacterBoneSets::new(names.clone())));
    }

    /// Returns true if another character has the same set of bones at its level of detail.
    pub(super) fn has_same_bones(&self, other: &Character) -> bool {
        match (&self.bone_sets, &other.bone_sets) {
            (None, None) => true,
            (Some(ours), theirs) => ours.is_like(theirs.as_deref()),
            (None, Some(theirs)) => theirs.current.is_none(),
        }
    }

    /// Returns the number of bones that the state machine moves at the current level; `None` if
    /// these are all bones.
    pub fn bones_in_set(&self) -> Option<usize> {
        Some(self.bone_sets.as_ref()?.current.as_ref()?.bones.len())
    }
}

/// Evaluates the pose of a state machine for the set of bones of the current level. Returns false
/// if that has all bones. `base` is the pose of bones that are not in the set, and false if that is
/// the rest pose of the model.
pub(super) fn evaluate_set(
    sets: &mut Option<Box<CharacterBoneSets>>,
    output: &StateMachineOutput,
    working: (&mut MachinePools, &mut PoseEvaluator),
    base: (&Pose, bool),
    (scratch, pose): (&mut PartScratch, &mut Pose),
) -> bool {
    let Some(sets) = sets.as_deref_mut() else { return false };
    let Some(part) = &sets.current else { return false };
    part.evaluate((output, &mut sets.players), working, base, scratch, pose);
    true
}

#[cfg(test)]
mod tests {
    use super::super::crowd_tests::Crowd;
    use super::*;
    use engine_foundation::hash::StateHash;

    fn names(levels: &[&[&str]]) -> Arc<BoneSetNames> {
        let level = |level: &&[&str]| level.iter().map(|name| name.to_string()).collect();
        Arc::new(levels.iter().map(level).collect())
    }

    const MACHINE: &str = r#"
skeleton = "rig"
variables = { speed = { value = 2 min = 0 max = 4 } }
masks = { top = { head = 1 } }
layers = [
    { states = {
        move = {
            blend = [
                { clip = "a" weight = "match(speed, 0)" }
                { clip = "b" weight = "match(speed, 4)" }
            ]
            on = { swing = { to = "swing" blend = 0.4 } }
        }
        swing = { clip = "c" }
    } }
    { mask = "top" weight = "speed / 4" states = { nod = { clip = "c" } } }
]
"#;

    /// A crowd whose first half has sets of bones.
    fn crowd() -> Crowd {
        let mut crowd = Crowd::new(8, 1, MACHINE);
        let lists = names(&[&["left_shin", "head"], &["pelvis"]]);
        for index in 0..4 {
            let row = crowd.crowd[index].row();
            crowd.animations.of_mut(row).unwrap().set_bone_sets(&lists);
        }
        crowd
    }

    fn set_level(crowd: &mut Crowd, level: Option<u8>) {
        crowd.animations.characters.iter_mut().for_each(|it| it.detail.level = level);
    }

    #[test]
    fn bones_outside_the_set_stay_and_the_others_move_alike() {
        let mut crowd = crowd();
        let all = |crowd: &Crowd, index: usize| {
            let character = crowd.animations.of(crowd.crowd[index].row()).unwrap();
            let bones = 0..character.model.skeleton.bone_count();
            let pose = &character.pose.current().pose;
            let shown: Vec<_> = bones.map(|bone| pose.transform(bone)).collect();
            (shown, character.bones_in_set())
        };
        let mut bent = 0.0_f32;
        for frame in 0..40 {
            // Halfway, an event begins a cross-fade.
            if frame == 10 {
                for character in &mut crowd.animations.characters {
                    let machine = character.machine.as_mut().unwrap();
                    machine.send_event(0);
                }
            }
            set_level(&mut crowd, Some(if frame < 30 { 1 } else { 0 }));
            crowd.step(0.05);
            let ((part, count), (whole, none)) = (all(&crowd, 0), all(&crowd, 4));
            assert_eq!((count, none), ((frame < 30).then_some(4), None), "frame {frame}");
            let skeleton = &crowd.animations.characters[0].model.skeleton;
            for (bone, (part, whole)) in part.iter().zip(&whole).enumerate() {
                let in_set = [0, 1, 2, 7].contains(&bone) || frame >= 30;
                let rest = skeleton.rest()[bone];
                let wanted = if in_set { *whole } else { rest };
                let turned = part.rotation.dot(wanted.rotation).abs();
                assert!(turned > 1.0 - 1e-5, "frame {frame}, bone {bone}: {turned}");
                assert!(part.position.distance(wanted.position) < 1e-5);
                bent = bent.max(whole.rotation.angle_between(rest.rotation));
            }
        }
        assert!(bent > 0.2, "the bones outside of the set would have moved");
    }

    #[test]
    fn characters_with_other_bones_show_no_common_pose() {
        let mut crowd = crowd();
        for character in &mut crowd.animations.characters {
            character.set_merge_options(Some(crate::animation::MergeOptions::DEFAULT));
        }
        set_level(&mut crowd, Some(0));
        crowd.step(0.05);
        assert_eq!(crowd.animations.merges.followers.len(), 7, "all are equal");
        set_level(&mut crowd, Some(1));
        // Each is evaluated in every second update.
        let counts = [0.05; 4].map(|seconds| {
            crowd.step(seconds);
            let followers = &crowd.animations.merges.followers;
            let apart = followers.iter().all(|(follower, leader)| (*follower < 4) == (*leader < 4));
            assert!(apart, "{followers:?}");
            followers.len()
        });
        assert!(counts.iter().any(|count| *count > 0), "{counts:?}");
    }

    #[test]
    fn the_set_is_part_of_the_state_hash() {
        let mut crowd = crowd();
        let hash = |crowd: &Crowd| {
            let mut hash = StateHash::new(0);
            crowd.animations.characters[0].write_state(&mut hash);
            hash.finish()
        };
        crowd.step(0.0);
        let before = hash(&crowd);
        set_level(&mut crowd, Some(1));
        crowd.step(0.0);
        assert_ne!(before, hash(&crowd));
    }

    #[test]
    fn lists_are_checked() {
        let read = |text: &str| {
            let text = format!("a = {text}");
            let tree = engine_foundation::sjson::parse(&text).unwrap().to_tree();
            read(tree.get("a").unwrap())
        };
        assert_eq!(read("[[\"a\" \"b\"] [\"a\"]]").unwrap().len(), 2);
        for text in ["true", "[]", "[\"a\"]", "[[]]", "[[1]]", "[[\"a\"][\"a\"][\"a\"][\"a\"]]"] {
            assert!(read(text).is_err(), "{text}");
        }
        let crowd = crowd();
        let skeleton = &crowd.animations.characters[0].model.skeleton;
        check_bones(&names(&[&["tail_3"]]), skeleton).unwrap();
        let error = check_bones(&names(&[&["head"], &["haed"]]), skeleton).unwrap_err();
        let wanted = "'lod_bones': the model has no bone 'haed', did you mean 'head'?";
        assert_eq!(error.message, wanted);
    }
}
