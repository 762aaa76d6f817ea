//! Sets of bones by level of detail: the bones of a character that state machines move at a level.
//! The other bones have the pose of the model or that of a script, relative to the bones above
//! them; constraints and ragdolls still move them.
//!
//! A set has a skeleton, clips and masks of its own, so that sampling and blending cost as much as
//! those of a model with so many bones.

use super::character::Character;
use super::faults::warn;
use super::level_of_detail::LEVEL_MAX;
use super::state_machine::{BoundMachine, MachinePools};
use super::{Animations, NONE};
use crate::physics::FieldError;
use crate::unit::{UnitId, Units};
use engine_animation::{
    BONES_MAX, BoneMask, Clip, Pose, PoseEvaluator, RigData, SamplePlayers, Skeleton,
    StateMachineOutput,
};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, error};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Maximum number of sets of bones of a state machine. Units with further ones move all bones.
const BONE_SETS_MAX: usize = 64;

/// Names of the bones at each level from 1 on. Further levels have those of the last list.
pub type BoneSetNames = Vec<Vec<String>>;

/// Reads the field `lod_bones` of the component `animation`.
///
/// # Errors
/// Returns an error if it is no list of lists of names, or if a list is too long.
pub fn read(tree: &SjsonTree) -> Result<BoneSetNames, FieldError> {
    let usage_error = || {
        FieldError::new(format!(
            "'lod_bones' must be 1 to {LEVEL_MAX} lists of names of bones: lod_bones = [ \
             [\"Spine\" \"LeftLeg\" \"RightLeg\"] ]"
        ))
    };
    let SjsonTree::Array(levels) = tree else { return Err(usage_error()) };
    if levels.is_empty() || levels.len() > usize::from(LEVEL_MAX) {
        return Err(usage_error());
    }
    let name = |item: &SjsonTree| match item {
        SjsonTree::String(name) => Ok(name.to_string()),
        _ => Err(usage_error()),
    };
    let level = |level: &SjsonTree| match level {
        SjsonTree::Array(names) if !names.is_empty() && names.len() <= BONES_MAX => {
            names.iter().map(name).collect()
        }
        _ => Err(usage_error()),
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

/// The bones of a set, with the clips and masks of a state machine for them.
#[derive(Debug)]
pub(super) struct BoneSet {
    /// Bones in the skeleton of the model, sorted.
    bones: Vec<u16>,
    skeleton: Skeleton,
    rest: Pose,
    /// Clips of the machine; `None` for those that move none of the bones.
    clips: Vec<Option<Clip>>,
    masks: Vec<BoneMask>,
    /// Number of the pool with the players of the clips, above 0.
    number: usize,
}

/// Memory of the evaluation of a set of bones.
#[derive(Default)]
pub(super) struct BoneSetScratch {
    base: Pose,
    pose: Pose,
}

/// Copies some bones of a pose to a pose of their own.
fn gather(pose: &Pose, bones: &[u16], gathered: &mut Pose) {
    for (index, bone) in bones.iter().enumerate() {
        gathered.copy_bone(index, pose, usize::from(*bone));
    }
}

impl BoneSet {
    fn new(bound: &BoundMachine, bones: Vec<u16>, number: usize) -> Result<BoneSet, Error> {
        let whole = &bound.model.skeleton;
        let skeleton = whole.part(&bones);
        let weights = |mask: &BoneMask| {
            let weights: Vec<f32> =
                bones.iter().map(|bone| mask.weight(usize::from(*bone))).collect();
            BoneMask::new(&weights)
        };
        let clips = bound.clips().map(|clip| clip.of_bones(whole, &skeleton, &bones));
        let clips = clips.collect::<Result<_, Error>>()?;
        let masks = bound.masks.iter().map(weights).collect();
        let rest = Pose::rest(&skeleton);
        Ok(BoneSet { bones, skeleton, rest, clips, masks, number })
    }

    /// Evaluates the pose of an update. Bones that are not in the set have the pose `base`;
    /// `is_edited` is false if that is the rest pose of the model.
    fn evaluate(
        &self,
        (output, players): (&StateMachineOutput, &mut SamplePlayers),
        (pools, evaluator): (&mut MachinePools, &mut PoseEvaluator),
        (base, is_edited): (&Pose, bool),
        scratch: &mut BoneSetScratch,
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

    /// Returns players to their pool.
    fn release(&self, players: &mut SamplePlayers, pools: &mut MachinePools) {
        let BoneSet { skeleton, rest, masks, .. } = self;
        let clip = |index: u16| self.clips.get(usize::from(index))?.as_ref();
        let rig = RigData { skeleton, rest, clip: &clip, masks };
        players.release(&rig, pools.pool(self.number));
    }
}

/// Returns the number of a set, or 0 for all bones.
fn number_of(set: Option<&Arc<BoneSet>>) -> usize {
    set.map_or(0, |set| set.number)
}

/// The sets of bones of a character.
#[derive(Clone, Debug)]
pub(super) struct CharacterBoneSets {
    names: Arc<BoneSetNames>,
    /// Number of the machine that `sets` are for.
    machine: Option<usize>,
    /// Set of each level from 1 on; `None` if it cannot be used.
    sets: Vec<Option<Arc<BoneSet>>>,
    /// Set of the current level; `None` for all bones.
    current: Option<Arc<BoneSet>>,
    /// Players of the last evaluation, and the set with their clips.
    players: SamplePlayers,
    played: Option<Arc<BoneSet>>,
}

impl CharacterBoneSets {
    pub fn new(names: Arc<BoneSetNames>) -> CharacterBoneSets {
        let (sets, players) = (Vec::new(), SamplePlayers::default());
        CharacterBoneSets { names, machine: None, sets, current: None, players, played: None }
    }
}

/// The sets of bones of all state machines.
#[derive(Default)]
pub(super) struct BoneSets {
    /// The sets of each machine, by its number.
    of_machines: HashMap<usize, Vec<Arc<BoneSet>>>,
    /// Lists of bones that cannot be used, with the number of the machine, which the log has.
    reported: HashSet<(usize, Vec<String>)>,
}

impl BoneSets {
    /// Forgets the sets of a replaced machine.
    pub fn remove(&mut self, machine: usize) {
        self.of_machines.remove(&machine);
        self.reported.retain(|(number, _)| *number != machine);
    }

    /// Returns the set of a machine with these bones and those above them. `last_pool` is the
    /// number of the last pool of players.
    fn find(
        &mut self,
        bound: &BoundMachine,
        names: &[String],
        last_pool: &mut usize,
    ) -> Result<Arc<BoneSet>, Error> {
        if let Some(clip) = bound.streamed_clip() {
            return Err(error!("the animation '{clip}' of its state machine is streamed"));
        }
        let bones = bound.model.skeleton.with_parents(names.iter().map(String::as_str))?;
        let sets = self.of_machines.entry(bound.number).or_default();
        if let Some(known) = sets.iter().find(|set| set.bones == bones) {
            return Ok(known.clone());
        }
        if sets.len() >= BONE_SETS_MAX {
            // Those that no character has are not needed.
            sets.retain(|set| Arc::strong_count(set) > 1);
        }
        if sets.len() >= BONE_SETS_MAX {
            return Err(error!(
                "the state machine '{}' has {BONE_SETS_MAX} sets of bones, which is the most \
                 (BONE_SETS_MAX): let units share some",
                bound.name
            ));
        }
        *last_pool += 1;
        let set = Arc::new(BoneSet::new(bound, bones, *last_pool)?);
        sets.push(set.clone());
        Ok(set)
    }

    /// Builds the sets of a character for its state machine, unless it has them.
    pub fn prepare(&mut self, character: &mut Character, units: &Units, last_pool: &mut usize) {
        let Character { unit, machine, bone_sets, .. } = character;
        let (Some(machine), Some(sets)) = (machine, bone_sets.as_deref_mut()) else { return };
        let bound = &machine.bound;
        if sets.machine == Some(bound.number) {
            return;
        }
        sets.machine = Some(bound.number);
        sets.sets.clear();
        for names in &*sets.names {
            let found = self.find(bound, names, last_pool);
            if let Err(error) = &found
                && self.reported.insert((bound.number, names.clone()))
            {
                let location = format!("unit \"{}\"", units.of(*unit).resource.name);
                warn(&location, &format!("'lod_bones' has no effect: {}", error.message));
            }
            sets.sets.push(found.ok());
        }
    }

    /// Chooses the set of bones of a character at its level of detail.
    pub fn choose(&mut self, character: &mut Character, units: &Units, last_pool: &mut usize) {
        if character.bone_sets.is_none() {
            return;
        }
        // They were built before, except for machines of restored snapshots.
        self.prepare(character, units, last_pool);
        let Some(sets) = character.bone_sets.as_deref_mut() else { return };
        let level = usize::from(character.detail.current()).min(sets.names.len());
        let is_active = character.machine.as_ref().is_some_and(|machine| machine.is_active());
        // Clips of scripts are those of whole poses.
        let found = match level.checked_sub(1) {
            Some(index) if is_active && character.playing.is_empty() => {
                sets.sets.get(index).and_then(Option::as_ref)
            }
            _ => None,
        };
        if number_of(sets.current.as_ref()) != number_of(found) {
            sets.current = found.cloned();
        }
    }
}

impl Animations {
    /// Builds the sets of bones of a unit's levels of detail for its state machine, so that no
    /// update has to.
    pub fn prepare_bone_sets(&mut self, unit: UnitId, units: &Units) {
        let Animations { characters, index_of, bone_sets, last_pool, .. } = self;
        let index = index_of.get(unit.row() as usize).copied().unwrap_or(NONE);
        if let Some(character) = characters.get_mut(index as usize) {
            bone_sets.prepare(character, units, last_pool);
        }
    }

    /// Builds the sets of bones of all characters, after a reload.
    pub(super) fn prepare_all_bone_sets(&mut self, units: &Units) {
        let Animations { characters, bone_sets, last_pool, .. } = self;
        characters.iter_mut().for_each(|it| bone_sets.prepare(it, units, last_pool));
    }
}

impl Character {
    /// Lets the character move fewer bones at lower levels of detail.
    pub(super) fn set_bone_sets(&mut self, names: &Arc<BoneSetNames>) {
        self.bone_sets = Some(Box::new(CharacterBoneSets::new(names.clone())));
    }

    /// Returns the number of the set of bones at the current level of detail, or 0 for all bones.
    pub(super) fn bone_set_number(&self) -> usize {
        self.bone_sets.as_ref().map_or(0, |sets| number_of(sets.current.as_ref()))
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
    (pools, evaluator): (&mut MachinePools, &mut PoseEvaluator),
    base: (&Pose, bool),
    (scratch, pose): (&mut BoneSetScratch, &mut Pose),
) -> bool {
    let Some(sets) = sets.as_deref_mut() else { return false };
    let CharacterBoneSets { current, players, played, .. } = sets;
    if number_of(played.as_ref()) != number_of(current.as_ref()) {
        if let Some(played) = played {
            played.release(players, pools);
        }
        played.clone_from(current);
    }
    let Some(set) = current else { return false };
    set.evaluate((output, players), (pools, evaluator), base, scratch, pose);
    true
}

#[cfg(test)]
mod tests {
    use super::super::clip_stream_tests::{self, lines_with};
    use super::super::crowd_tests::{self, Crowd};
    use super::super::state_machine::CharacterMachine;
    use super::*;
    use crate::scene_graph::NodePose;
    use engine_foundation::Vec3;

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
    { weight = 0.5 states = { lean = { clip = "d" additive = true } } }
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
        // Scripts have set a bone of the set, and one outside of it.
        for index in [0, 4] {
            for (node, z) in [(2, -0.3), (11, 0.4)] {
                let position = Vec3::new(0.1, 0.0, z);
                let character = crowd.animations.of_mut(crowd.crowd[index].row()).unwrap();
                character.set_edited(node, &NodePose { position, ..NodePose::IDENTITY });
            }
        }
        let base = crowd.animations.of(crowd.crowd[0].row()).unwrap().base.clone();
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
            let sets = crowd.animations.characters[0].bone_sets.as_ref().unwrap();
            let players = number_of(sets.played.as_ref());
            assert_eq!(players > 0, frame < 30, "players are those of the current set");
            let skeleton = &crowd.animations.characters[0].model.skeleton;
            for (bone, (part, whole)) in part.iter().zip(&whole).enumerate() {
                let in_set = [0, 1, 2, 7].contains(&bone) || frame >= 30;
                let rest = skeleton.rest()[bone];
                let wanted = if in_set { *whole } else { base.transform(bone) };
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
    fn sets_are_equal_on_any_number_of_threads() {
        // With springs, feet, targets and added layers.
        let added = "{ weight = 0.5 states = { lean = { clip = \"d\" additive = true } } }";
        let machine = crowd_tests::MACHINE.replace("FEET", "[\"feet\"]");
        let machine = machine.replace("{ mask = \"top\"", &format!("{added}\n{{ mask = \"top\""));
        let lists = names(&[&["left_foot", "right_foot", "tail_2"], &["head"]]);
        let play = |threads: usize| {
            let mut crowd = Crowd::new(48, threads, &machine);
            for (index, character) in crowd.animations.characters.iter_mut().enumerate() {
                character.set_bone_sets(&lists);
                character.detail.level = Some((index % 3) as u8);
                if index % 5 == 0 {
                    let position = Vec3::new(0.0, 0.1, 0.3);
                    character.set_edited(8, &NodePose { position, ..NodePose::IDENTITY });
                }
            }
            let frame = |frame: usize| {
                let unit = crowd.crowd[frame % 48];
                crowd.disturb(unit);
                let character = crowd.animations.of_mut(unit.row()).unwrap();
                character.detail.level = Some((frame % 4) as u8);
                crowd.step(1.0 / 60.0);
                crowd.hash()
            };
            let hashes: Vec<u64> = (0..150).map(frame).collect();
            let with_sets = crowd.animations.iter().filter(|it| it.bones_in_set().is_some());
            assert!((20..48).contains(&with_sets.count()));
            hashes
        };
        let alone = play(1);
        for threads in [2, 4, 8] {
            assert!(play(threads) == alone, "{threads} threads");
        }
    }

    #[test]
    fn equal_lists_share_a_set_and_replaced_machines_keep_none() {
        let mut crowd = crowd();
        let lists = names(&[&["head", "left_shin", "head"], &["pelvis"], &["left_shin", "head"]]);
        let row = crowd.crowd[5].row();
        crowd.animations.of_mut(row).unwrap().set_bone_sets(&lists);
        crowd.animations.prepare_all_bone_sets(&crowd.units);
        let machine = crowd.animations.characters[0].machine.as_ref().unwrap().bound.number;
        let numbers = |crowd: &Crowd| {
            let sets = crowd.animations.bone_sets.of_machines.get(&machine);
            sets.map_or(vec![], |sets| sets.iter().map(|set| set.number).collect::<Vec<usize>>())
        };
        let before = numbers(&crowd);
        assert_eq!(before.len(), 2);
        set_level(&mut crowd, Some(1));
        crowd.step(0.05);
        assert_eq!(numbers(&crowd), before, "the update builds none");
        // Another machine is replaced: the sets of this one stay, and new characters share them.
        crowd.animations.bone_sets.remove(machine + 1);
        assert_eq!(numbers(&crowd), before);
        crowd.animations.bone_sets.remove(machine);
        assert_eq!(numbers(&crowd), [0_usize; 0]);
    }

    #[test]
    fn a_machine_has_a_limited_number_of_sets() {
        let mut crowd = crowd();
        let chains = [
            ["pelvis", "left_thigh", "left_shin", "left_foot"],
            ["pelvis", "right_thigh", "right_shin", "right_foot"],
            ["pelvis", "tail_1", "tail_2", "tail_3"],
        ];
        let first = crowd.animations.characters[7].clone();
        let build = |crowd: &mut Crowd, index: usize| {
            let [left, right, tail] = [index % 4, index / 4 % 4, index / 16 % 4];
            let mut list = vec![chains[0][left], chains[1][right], chains[2][tail]];
            list.extend((index >= 64).then_some("head"));
            let mut character = first.clone();
            character.set_bone_sets(&names(&[&list[..]]));
            let Crowd { animations: Animations { bone_sets, last_pool, .. }, units, .. } = crowd;
            bone_sets.prepare(&mut character, units, last_pool);
            character
        };
        let is_usable = |it: &Character| it.bone_sets.as_ref().unwrap().sets[0].is_some();
        let users: Vec<Character> =
            (0..BONE_SETS_MAX).map(|index| build(&mut crowd, index)).collect();
        assert!(users.iter().all(is_usable));
        assert!(!is_usable(&build(&mut crowd, BONE_SETS_MAX)));
        let message = "'lod_bones' has no effect: the state machine 'rig' has 64 sets of bones";
        assert_eq!(lines_with(message), 1);
        assert!(!is_usable(&build(&mut crowd, BONE_SETS_MAX)));
        assert_eq!(lines_with(message), 1, "once");
        // Sets that nobody has give way.
        drop(users);
        assert!(is_usable(&build(&mut crowd, BONE_SETS_MAX)));
    }

    #[test]
    fn streamed_animations_are_named() {
        let mut stage = clip_stream_tests::stage(&["dance"], &clip_stream_tests::data());
        let text = "skeleton = \"rig\"\nlayers = [ { states = { a = { clip = \"dance\" } } } ]";
        let machine = engine_animation::compile_state_machine("a", text).unwrap();
        let model = stage.character().model.clone();
        let bound = BoundMachine::new("a", 3, machine, (&model, vec![0])).unwrap();
        let character = stage.animations.of_mut(stage.unit.row()).unwrap();
        character.set_machine(Some(CharacterMachine::new(Arc::new(bound), 0)));
        character.set_bone_sets(&names(&[&["hip"]]));
        character.detail.level = Some(1);
        stage.animations.prepare_bone_sets(stage.unit, &stage.units);
        let message = "unit \"rig\": 'lod_bones' has no effect: the animation 'dance' of its state \
                       machine is streamed";
        assert_eq!(lines_with(message), 1);
        stage.step(0.1);
        assert_eq!(stage.character().bones_in_set(), None);
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
