//! Animated values of the slots of two-dimensional models: colours, positions in the drawing order,
//! and parts. They are evaluated like the weights of morph targets. Colours and positions are mixed
//! when animations are blended; the parts are those of the animation with the largest share.

use super::animated_model::AnimatedModel;
use super::character::Character;
use super::morph::MeshMorphs;
use engine_models::sprite_skeleton::{
    SLOT_MIXED_VALUES, SLOT_ORDER_VALUE, SpriteSkeletonData, SpriteSlot,
};

/// Names of the mixed values of a slot.
const VALUE_NAMES: [&str; SLOT_MIXED_VALUES] = ["red", "green", "blue", "alpha", "order"];

/// Largest error of a colour in a clip: half a step of 8 bits.
const COLOR_TOLERANCE: f32 = 1.0 / 512.0;
/// Largest error of a part and of a position in the drawing order, which are whole or half numbers.
const CHOICE_TOLERANCE: f32 = 1.0 / 64.0;

/// Returns the largest errors of the values of all slots in a clip, in the order of their numbers.
pub fn slot_tolerances(sprite_skeleton: &SpriteSkeletonData) -> Vec<f32> {
    let mut tolerances =
        vec![CHOICE_TOLERANCE; sprite_skeleton.part_value(sprite_skeleton.slots.len())];
    for (value, tolerance) in tolerances.iter_mut().enumerate().take(sprite_skeleton.mixed_values())
    {
        if value % SLOT_MIXED_VALUES != SLOT_ORDER_VALUE {
            *tolerance = COLOR_TOLERANCE;
        }
    }
    tolerances
}

/// Returns the values of all slots, in the order of their numbers.
pub(super) fn values_of(sprite_skeleton: &SpriteSkeletonData) -> Vec<MeshMorphs> {
    let slots = || sprite_skeleton.slots.iter().enumerate();
    let mixed = slots().map(|(index, slot)| {
        let [red, green, blue, alpha] = slot.color;
        MeshMorphs {
            bone: slot.bone,
            mesh: None,
            first: sprite_skeleton.first_value(index) as u16,
            names: VALUE_NAMES.map(|value| format!("{}.{value}", slot.name)).to_vec(),
            rest: vec![red, green, blue, alpha, index as f32],
        }
    });
    let parts = slots().map(|(index, slot)| MeshMorphs {
        bone: slot.bone,
        mesh: None,
        first: sprite_skeleton.part_value(index) as u16,
        names: vec![format!("{}.part", slot.name)],
        rest: vec![f32::from(slot.part)],
    });
    mixed.chain(parts).collect()
}

/// Returns the index from 1 of a part in the reloaded version of a slot, or `None` if it does not
/// exist any more. An empty slot stays empty.
fn carried_part(old: &SpriteSlot, new: &SpriteSlot, part: usize) -> Option<usize> {
    let Some(index) = part.checked_sub(1) else { return Some(0) };
    let name = &old.parts.get(index)?.name;
    new.parts.iter().position(|known| known.name == *name).map(|index| index + 1)
}

/// Sets the parts that a script has chosen in the weights of a reloaded model. Parts are found by
/// their names, because their numbers can differ.
pub(super) fn carry_parts(
    (old_values, old): (&[f32], &SpriteSkeletonData),
    (new_values, new): (&mut [f32], &SpriteSkeletonData),
) {
    for (index, slot) in new.slots.iter().enumerate() {
        let Some(before) = old.slot(&slot.name) else { continue };
        let value = old_values[old.part_value(before)];
        let target = &mut new_values[new.part_value(index)];
        *target = f32::from(slot.part);
        if value == f32::from(old.slots[before].part) {
            continue;
        }
        if let Some(part) = carried_part(&old.slots[before], slot, part_index(value)) {
            *target = part as f32;
        }
    }
}

impl AnimatedModel {
    /// Returns the number of the weights that are mixed when animations are blended. Further ones
    /// are chosen from one of them.
    pub(super) fn mixed_weights(&self) -> usize {
        self.sprite_skeleton
            .as_ref()
            .map_or(usize::MAX, |sprite_skeleton| sprite_skeleton.mixed_values())
    }
}

impl Character {
    /// Returns the current values of the slots of a two-dimensional model.
    pub fn slot_values(&self) -> &[f32] {
        &self.weights.current
    }

    /// Returns the part that a slot shows: its index from 1, or 0 if the slot is empty.
    pub fn slot_part(&self, slot: usize) -> usize {
        let sprite_skeleton = self.model.sprite_skeleton.as_ref();
        let value = sprite_skeleton.map(|sprite_skeleton| sprite_skeleton.part_value(slot));
        value.and_then(|value| self.weights.current.get(value)).map_or(0, |part| part_index(*part))
    }

    /// Sets the part of a slot, an index from 1 or 0, which it shows while no animation changes it.
    pub fn set_slot_part(&mut self, slot: usize, part: usize) {
        let Some(sprite_skeleton) = self.model.sprite_skeleton.clone() else { return };
        self.set_morph_weight(sprite_skeleton.part_value(slot) as u16, part as f32);
    }
}

/// Returns the index from 1 that the value of a part means.
pub fn part_index(value: f32) -> usize {
    // The stored numbers of animations are exact within a small part of 1.
    (value + 0.5).max(0.0) as usize
}
