//! Snapshots of the characters of a world, which are part of those of its physics. Restored
//! characters continue exactly as the original ones did, bit for bit.

use super::{Animations, Character, bone_nodes};
use crate::WorldId;
use crate::physics::{ActorId, PhysicsTables};
use crate::scene_graph::NodePose;
use crate::unit::{UnitId, Units};
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
        }
        // The state machines and the set poses are those of the snapshot.
        units.scene.take_edited();
        self.order.note_reload();
    }

    /// Returns a kept character with the current data of its model and its state machine.
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
        let model = &living.model;
        let grown = it.model.clips.iter().zip(&model.clips);
        let is_grown = it.model.clips.len() <= model.clips.len()
            && grown.into_iter().all(|(before, now)| Arc::ptr_eq(before, now));
        if it.model.skeleton != model.skeleton {
            it.reload(model, bone_nodes(model, units, it.unit));
        } else if !is_grown {
            it.reload_clips(model);
        }
        it.model = model.clone();
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
