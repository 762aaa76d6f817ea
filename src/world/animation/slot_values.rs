//! Animated values of the slots of two-dimensional models: colours, positions in the drawing order,
//! and parts. They are evaluated like the weights of morph targets. Colours and positions are mixed
//! when animations are blended; the parts are those of the animation with the largest share.

use super::animated_model::AnimatedModel;
use super::character::Character;
use super::morph::MeshMorphs;
use engine_models::cutout::{CutoutData, CutoutSlot, SLOT_MIXED_VALUES, SLOT_ORDER_VALUE};

/// Names of the mixed values of a slot.
const VALUE_NAMES: [&str; SLOT_MIXED_VALUES] = ["red", "green", "blue", "alpha", "order"];

/// Largest error of a colour in a clip: half a step of 8 bits.
const COLOR_TOLERANCE: f32 = 1.0 / 512.0;
/// Largest error of a part and of a position in the drawing order, which are whole or half numbers.
const CHOICE_TOLERANCE: f32 = 1.0 / 64.0;

/// Returns the largest errors of the values of all slots in a clip, in the order of their numbers.
pub fn slot_tolerances(cutout: &CutoutData) -> Vec<f32> {
    let mut tolerances = vec![CHOICE_TOLERANCE; cutout.part_value(cutout.slots.len())];
    for (value, tolerance) in tolerances.iter_mut().enumerate().take(cutout.mixed_values()) {
        if value % SLOT_MIXED_VALUES != SLOT_ORDER_VALUE {
            *tolerance = COLOR_TOLERANCE;
        }
    }
    tolerances
}

/// Returns the values of all slots, in the order of their numbers.
pub(super) fn values_of(cutout: &CutoutData) -> Vec<MeshMorphs> {
    let slots = || cutout.slots.iter().enumerate();
    let mixed = slots().map(|(index, slot)| {
        let [red, green, blue, alpha] = slot.color;
        MeshMorphs {
            bone: slot.bone,
            mesh: None,
            first: cutout.first_value(index) as u16,
            names: VALUE_NAMES.map(|value| format!("{}.{value}", slot.name)).to_vec(),
            rest: vec![red, green, blue, alpha, index as f32],
        }
    });
    let parts = slots().map(|(index, slot)| MeshMorphs {
        bone: slot.bone,
        mesh: None,
        first: cutout.part_value(index) as u16,
        names: vec![format!("{}.part", slot.name)],
        rest: vec![f32::from(slot.part)],
    });
    mixed.chain(parts).collect()
}

/// Returns the index from 1 of a part in the reloaded version of a slot, or `None` if it does not
/// exist any more. An empty slot stays empty.
fn carried_part(old: &CutoutSlot, new: &CutoutSlot, part: usize) -> Option<usize> {
    let Some(index) = part.checked_sub(1) else { return Some(0) };
    let name = &old.parts.get(index)?.name;
    new.parts.iter().position(|known| known.name == *name).map(|index| index + 1)
}

/// Sets the parts that a script has chosen in the weights of a reloaded model. Parts are found by
/// their names, because their numbers can differ.
pub(super) fn carry_parts(
    (old_values, old): (&[f32], &CutoutData),
    (new_values, new): (&mut [f32], &CutoutData),
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
        self.cutout.as_ref().map_or(usize::MAX, |cutout| cutout.mixed_values())
    }
}

impl Character {
    /// Returns the current values of the slots of a two-dimensional model.
    pub fn slot_values(&self) -> &[f32] {
        &self.weights.current
    }

    /// Returns the part that a slot shows: its index from 1, or 0 if the slot is empty.
    pub fn slot_part(&self, slot: usize) -> usize {
        let cutout = self.model.cutout.as_ref();
        let value = cutout.map(|cutout| cutout.part_value(slot));
        value.and_then(|value| self.weights.current.get(value)).map_or(0, |part| part_index(*part))
    }

    /// Sets the part of a slot, an index from 1 or 0, which it shows while no animation changes it.
    pub fn set_slot_part(&mut self, slot: usize, part: usize) {
        let Some(cutout) = self.model.cutout.clone() else { return };
        self.set_morph_weight(cutout.part_value(slot) as u16, part as f32);
    }
}

/// Returns the index from 1 that the value of a part means.
pub fn part_index(value: f32) -> usize {
    // The stored numbers of animations are exact within a small part of 1.
    (value + 0.5).max(0.0) as usize
}
