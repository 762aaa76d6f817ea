//! Snapshots of the characters of a world, which are part of those of its physics. Restored
//! characters continue exactly as the original ones did, bit for bit.

use super::ragdoll::CharacterRagdoll;
use super::{Animations, Character, take_poses};
use crate::WorldId;
use crate::physics::{ActorId, PhysicsTables};
use crate::scene_graph::NodePose;
use crate::unit::{UnitId, Units};
use crate::unit_resource::UnitResource;
use engine_animation::Pose;
use engine_foundation::Error;
use engine_foundation::memory::limit;
use std::sync::Arc;

/// Estimated bytes of a snapshot per bone, with the players of clips and the state of constraints.
const BONE_BYTES: usize = 512;

/// A kept character.
#[derive(Debug)]
struct KeptCharacter {
    character: Character,
    /// Local pose of the unit's first node.
    root: NodePose,
    /// Actors of a running ragdoll.
    ragdoll: Vec<Option<ActorId>>,
    /// Resource that the unit was spawned from.
    resource: Arc<UnitResource>,
}

/// The characters of a world at a time.
#[derive(Debug)]
pub struct AnimationSnapshot {
    characters: Vec<KeptCharacter>,
}

impl Animations {
    /// Takes a snapshot of the characters of a world.
    ///
    /// # Errors
    /// Returns an error if there is no memory for it.
    pub fn snapshot(
        &mut self,
        world: WorldId,
        units: &mut Units,
        physics: &PhysicsTables,
    ) -> Result<AnimationSnapshot, Error> {
        self.take_edited(units);
        let of_world = |it: &&Character| units.is_in(it.unit.row(), world);
        let kept = self.characters.iter().filter(of_world);
        let bones = |it: &Character| it.model.skeleton.bone_count();
        limit::check_room(kept.clone().map(bones).sum::<usize>() * BONE_BYTES)?;
        let keep = |character: &Character| KeptCharacter {
            root: units.scene.local(character.unit.row(), 0),
            ragdoll: physics.ragdoll_body_actors(character.unit).to_vec(),
            character: character.clone(),
            resource: units.of(character.unit).resource.clone(),
        };
        Ok(AnimationSnapshot { characters: kept.map(keep).collect() })
    }

    /// Takes the poses of the nodes that scripts have set since the last update.
    pub(super) fn take_edited(&mut self, units: &mut Units) {
        for edited in units.scene.take_edited() {
            self.note_edited(edited, units);
        }
    }

    /// Restores a snapshot, after that of the physics was restored. Characters that were destroyed
    /// since then stay destroyed, and characters that were created since then do not change.
    pub fn restore(
        &mut self,
        kept: &AnimationSnapshot,
        units: &mut Units,
        physics: &mut PhysicsTables,
    ) {
        self.take_edited(units);
        for kept in &kept.characters {
            let unit = kept.character.unit;
            let Some(index) = self.index_of.get(unit.row() as usize).copied() else { continue };
            let Some(living) = self.characters.get(index as usize) else { continue };
            if living.unit != unit {
                continue;
            }
            let mut restored = self.restored(kept, living, units, physics);
            units.scene.set_local(unit.row(), 0, &kept.root);
            show_base(&restored, units);
            let is_eager = physics.has_inner_actors(unit);
            units.scene.set_animated_pose(unit.row(), &restored.animated_pose(is_eager));
            if !std::mem::replace(&mut restored.is_listed, true) {
                self.changed.push(unit.row());
            }
            self.characters[index as usize] = restored;
            self.prepare_bone_sets(unit, units);
        }
        // The state machines and the set poses are those of the snapshot.
        units.scene.take_edited();
        self.order.note_reload();
    }

    /// Returns a kept character with the current data of its unit, its model and its state machine.
    fn restored(
        &self,
        kept: &KeptCharacter,
        living: &Character,
        units: &Units,
        physics: &mut PhysicsTables,
    ) -> Character {
        let mut it = kept.character.clone();
        it.is_listed = living.is_listed;
        it.has_inner_parts = living.has_inner_parts;
        let respawned = !Arc::ptr_eq(&kept.resource, &units.of(it.unit).resource);
        let base = respawned.then(|| carried_base(kept, living, units));
        let (before, model) = (it.model.clone(), &living.model);
        let is_same = before.skeleton == model.skeleton
            && before.morphs == model.morphs
            && before.sprite_skeleton == model.sprite_skeleton;
        let grown = before.clips.iter().zip(&model.clips);
        let is_grown = before.clips.len() <= model.clips.len()
            && grown.into_iter().all(|(before, now)| Arc::ptr_eq(before, now));
        if !is_same {
            it.reload(model, living.nodes.clone());
            take_poses(&mut it, &units.of(living.unit).resource, Some(&before.skeleton));
        } else if !is_grown {
            it.reload_clips(model);
        }
        it.model = model.clone();
        if let Some(base) = base {
            it.take_unit(base, living);
        }
        if !is_same {
            it.reset_pose();
        }
        if let Some(machine) = &it.machine {
            let key = (machine.bound.name.clone(), model.name.clone());
            let current = self.machines.get(&key);
            if let Some(current) = current.filter(|current| !Arc::ptr_eq(current, &machine.bound)) {
                it.reload_machine(&current.clone());
            }
        }
        restore_ragdoll(&mut it, &kept.ragdoll, physics);
        it
    }
}

/// Returns the poses that the scripts of a kept character have set, over those of the unit's
/// current file, and true if these are not the poses of the model.
fn carried_base(kept: &KeptCharacter, living: &Character, units: &Units) -> (Pose, bool) {
    let of_file = |character: &Character, resource: &UnitResource| {
        let (model, nodes) = (character.model.clone(), character.nodes.clone());
        let mut of_file = Character::new(character.unit, model, nodes);
        take_poses(&mut of_file, resource, None);
        of_file
    };
    let before = of_file(&kept.character, &kept.resource);
    let now = of_file(living, &units.of(living.unit).resource);
    let (mut base, mut is_edited) = (now.base, now.is_edited);
    for (bone, name) in before.model.skeleton.names().iter().enumerate() {
        let set = kept.character.base.transform(bone);
        if set != before.base.transform(bone)
            && let Some(bone) = now.model.skeleton.find(name)
        {
            base.set(usize::from(bone), &set);
            is_edited = true;
        }
    }
    (base, is_edited)
}

impl Character {
    /// Takes over the fields of the file of a unit that was spawned again: its nodes, levels of
    /// detail, the description of its ragdoll, and its state machine if that is another one.
    fn take_unit(&mut self, (base, is_edited): (Pose, bool), living: &Character) {
        self.nodes = living.nodes.clone();
        (self.base, self.is_edited) = (base, is_edited);
        (self.detail.near, self.detail.size) = (living.detail.near, living.detail.size);
        self.bone_sets = living.bone_sets.clone();
        let name = |it: &Character| it.machine.as_ref().map(|machine| machine.bound.name.clone());
        if name(self) != name(living) {
            self.machine = living.machine.clone();
        }
        match (&mut self.ragdoll, &living.ragdoll) {
            // Its bodies ended when the unit was spawned again.
            (Some(ragdoll), Some(now)) => _ = ragdoll.replace(now.shared.clone()),
            (ragdoll, Some(now)) => {
                *ragdoll = Some(Box::new(CharacterRagdoll::new(now.shared.clone())));
            }
            (ragdoll, None) => *ragdoll = None,
        }
        self.mark_moved();
    }
}

/// Ends bodies that the kept ragdoll does not have, and a ragdoll whose bodies are gone.
fn restore_ragdoll(
    character: &mut Character,
    kept: &[Option<ActorId>],
    physics: &mut PhysicsTables,
) {
    let unit: UnitId = character.unit;
    if physics.ragdoll_body_actors(unit) == kept {
        return;
    }
    physics.end_ragdoll(unit, 0, "a restored snapshot");
    if let Some(ragdoll) = &mut character.ragdoll {
        ragdoll.end_at_once();
    }
    character.mark_outdated();
}

/// Sets the nodes that no animation moves to the poses that scripts had set.
fn show_base(character: &Character, units: &mut Units) {
    let row = character.unit.row();
    for (bone, node) in character.nodes.iter().enumerate() {
        let Some(node) = node.map(usize::from).filter(|_| character.animated_bone(bone).is_none())
        else {
            continue;
        };
        let pose = character.base_pose(bone);
        if node < units.scene.count(row) && units.scene.local(row, node) != pose {
            units.scene.set_local(row, node, &pose);
        }
    }
}
