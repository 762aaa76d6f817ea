//! Transfer of two-dimensional skeletons to the renderer: each slot is a draw of one square with a
//! part of a texture, as for sprites, or of a mesh that bones deform.

use super::{Assets, Worlds};
use engine_frame_packet::scene::{
    DrawChange, DrawMesh, DrawTransform, SceneFrame, flag as draw_flag,
};
use engine_models::sprite_skeleton::{SKELETON_SLOTS_MAX, SLOT_ORDER_VALUE, SpriteSkeletonData};
use engine_textures::TextureNumber;
use engine_world::animation::{Character, ModelMatrix, palette, part_index};
use engine_world::instance_table::flag;
use engine_world::render_scenes::scene_of;
use engine_world::sprite::{SpriteAlpha, SpriteSettings};
use engine_world::sprite_skeleton::{
    ShownPart, SlotInstance, SpriteRig, SpriteSkeleton, multiply_colors,
};
use engine_world::unit::UnitId;
use std::sync::Arc;

/// Bits of the sequence of a draw for the position of its slot in the drawing order.
const ORDER_BITS: u32 = SKELETON_SLOTS_MAX.trailing_zeros();

/// Pose of a skeleton in the current frame.
struct SkeletonPose<'a> {
    /// Transform of the unit's first node in the world.
    root: ModelMatrix,
    matrices: &'a [ModelMatrix],
    /// Values of the slots.
    values: &'a [f32],
}

/// Returns the position of each slot in the drawing order.
fn drawing_order(
    sprite_skeleton: &SpriteSkeletonData,
    values: &[f32],
) -> [u16; SKELETON_SLOTS_MAX] {
    let mut slots: [u16; SKELETON_SLOTS_MAX] = std::array::from_fn(|slot| slot as u16);
    let count = sprite_skeleton.slots.len().min(SKELETON_SLOTS_MAX);
    let value = |slot: u16| values[sprite_skeleton.first_value(slot.into()) + SLOT_ORDER_VALUE];
    let is_sorted = slots[..count].is_sorted_by(|a, b| value(*a) <= value(*b));
    if is_sorted {
        return slots;
    }
    slots[..count].sort_unstable_by(|a, b| value(*a).total_cmp(&value(*b)).then(a.cmp(b)));
    let mut positions = [0; SKELETON_SLOTS_MAX];
    for (position, slot) in (0..).zip(&slots[..count]) {
        positions[usize::from(*slot)] = position;
    }
    positions
}

/// Returns the pose of a skeleton: that of its character, or at rest if it has none, or none with
/// the current version of the model.
fn pose_of<'a>(
    rig: &'a Arc<SpriteRig>,
    character: Option<&'a Character>,
    root: ModelMatrix,
) -> SkeletonPose<'a> {
    let is_current = |it: &&Character| {
        it.model
            .sprite_skeleton
            .as_ref()
            .is_some_and(|sprite_skeleton| Arc::ptr_eq(sprite_skeleton, &rig.sprite_skeleton))
    };
    match character.filter(is_current) {
        Some(character) if !character.matrices().is_empty() => {
            let (matrices, values) = (character.matrices(), character.slot_values());
            SkeletonPose { root, matrices, values }
        }
        Some(character) => {
            SkeletonPose { root, matrices: &rig.rest, values: character.slot_values() }
        }
        None => SkeletonPose { root, matrices: &rig.rest, values: &rig.values },
    }
}

impl SkeletonPose<'_> {
    /// Returns the picture of a slot.
    fn shown(&self, skeleton: &SpriteSkeleton, slot: usize, order: u16) -> ShownPart {
        let SpriteSkeleton { rig, skin, placement, slots, .. } = skeleton;
        let part = part_index(self.values[rig.sprite_skeleton.part_value(slot)]);
        let part = part.checked_sub(1).and_then(|part| rig.find_part(slot, part, *skin));
        let first = rig.sprite_skeleton.first_value(slot);
        let color = &self.values[first..first + 4];
        ShownPart { part, color: multiply_colors(color, [slots[slot].tint, placement.tint]), order }
    }

    /// Returns the transform of the draw of a slot. A mesh has the space of the unit's first node.
    fn transform(&self, rig: &SpriteRig, slot: usize, of: &SlotInstance) -> DrawTransform {
        let mesh = of.shown.part.and_then(|part| rig.parts[part as usize].mesh);
        let matrix = match mesh {
            Some(_) => self.root,
            None => {
                let bone = &self.matrices[usize::from(rig.sprite_skeleton.slots[slot].bone)];
                self.root.concatenate(bone).concatenate(&of.local)
            }
        };
        DrawTransform(matrix.0.map(|row| row.0))
    }
}

impl Worlds {
    /// Calls `each` for the slots of all skeletons with a picture: the draw slot, the row of the
    /// unit, and the texture.
    pub(super) fn skeleton_owners(
        &self,
        mut each: impl FnMut(engine_frame_packet::scene::DrawSlot, u32, TextureNumber),
    ) {
        for skeleton in self.scenes.skeletons.iter() {
            for slot in &skeleton.slots {
                let part = slot.shown.part.and_then(|part| skeleton.rig.parts.get(part as usize));
                if let Some(part) = part {
                    each(slot.draw, skeleton.unit.row(), part.texture);
                }
            }
        }
    }

    /// Places the textures of new skeletons, before textures are sent to the renderer.
    pub(super) fn assign_skeleton_textures(&mut self, assets: &mut Assets) {
        for at in 0..self.scenes.skeletons.changed.len() {
            let index = self.scenes.skeletons.changed[at];
            let Some(skeleton) = self.scenes.skeletons.at(index) else { continue };
            if skeleton.flags & flag::NEW != 0 {
                for part in &skeleton.rig.parts {
                    assets.assign_scene_texture(part.texture, skeleton.placement.lit);
                }
            }
        }
    }

    /// Sends changed skeletons to the scenes.
    pub(super) fn send_skeletons(&mut self, assets: &mut Assets) {
        let mut changed = std::mem::take(&mut self.scenes.skeletons.changed);
        for index in changed.drain(..) {
            let taken = self.scenes.skeletons.take_change(index);
            let Some((flags, mut skeleton)) = taken else { continue };
            self.send_skeleton(assets, (index, flags & flag::NEW != 0), &mut skeleton);
            self.scenes.skeletons.put_back(index, skeleton);
        }
        // Keeps the allocation of the list.
        changed.append(&mut self.scenes.skeletons.changed);
        self.scenes.skeletons.changed = changed;
    }

    fn send_skeleton(
        &mut self,
        assets: &mut Assets,
        (index, is_new): (u32, bool),
        skeleton: &mut SpriteSkeleton,
    ) {
        // One that is shown again is sent with all of its data.
        if !is_new && !skeleton.is_visible() {
            return;
        }
        let row = skeleton.unit.row();
        let Some(world) = self.world_of_row(row) else { return };
        let root = self.units.scene.world(row, 0).to_cols_array();
        let rig = skeleton.rig.clone();
        let character = self.animations.of(row);
        let pose = pose_of(&rig, character, ModelMatrix::from_columns(root));
        let order = drawing_order(&rig.sprite_skeleton, pose.values);
        let frame = &mut scene_of(&mut self.scenes.worlds, world).frame;
        let count = skeleton.slots.len();
        for (slot, order) in order.into_iter().enumerate().take(count) {
            let shown = pose.shown(skeleton, slot, order);
            let before = skeleton.slots[slot].shown;
            if is_new || shown != before {
                skeleton.slots[slot].shown = shown;
                let sequence = index << ORDER_BITS | u32::from(shown.order);
                send_slot(assets, frame, (&mut *skeleton, slot, sequence), &pose);
            } else if shown.part.is_some() || slot == 0 {
                // The first slot has the distance of the whole skeleton, also without a picture.
                frame.moved.push(skeleton.slots[slot].draw);
                frame.poses.push(pose.transform(&rig, slot, &skeleton.slots[slot]));
            }
            send_palette(assets, frame, (&*rig, &skeleton.slots[slot]), &pose);
        }
    }

    /// Returns the skeleton of a unit for changes.
    pub fn skeleton_mut(&mut self, unit: UnitId) -> Option<&mut SpriteSkeleton> {
        self.scenes.skeletons.change(unit.row())
    }
}

/// Sends a slot with all of its data.
fn send_slot(
    assets: &mut Assets,
    frame: &mut SceneFrame,
    (skeleton, slot, sequence): (&mut SpriteSkeleton, usize, u32),
    pose: &SkeletonPose,
) {
    let rig = skeleton.rig.clone();
    let shown = skeleton.slots[slot].shown;
    let part = shown.part.map(|part| &rig.parts[part as usize]);
    let placement = skeleton.placement;
    let settings = SpriteSettings { placement, ..SpriteSettings::DEFAULT };
    let mut draw = DrawMesh {
        slot: skeleton.slots[slot].draw,
        mesh: assets.sprite_mesh(),
        surfaces: (frame.surfaces.len() as u32, 0),
        flags: 0,
        tint: shown.color,
        range: placement.range,
        order: Some(placement.layer),
        sequence,
        sorted_with: Some(skeleton.slots[0].draw),
        ..DrawMesh::DEFAULT
    };
    if let Some(part) = part {
        let placed = assets.assign_scene_texture(part.texture, placement.lit);
        skeleton.slots[slot].local = rig.square_to_bone(&part.part, placed.size);
        frame.surfaces.push(assets.picture_surface(&placement, SpriteAlpha::Blend, &placed));
        draw.surfaces.1 = 1;
        draw.part = super::sprite_draws::part_of(&settings, &placed);
        if let Some((mesh, _)) = part.mesh {
            draw.mesh = assets.models.entry(mesh).slot;
        }
        if skeleton.is_visible() && shown.color[3] > 0 {
            draw.flags = draw_flag::VISIBLE | draw_flag::CASTS_SHADOW;
        }
    }
    draw.pose = pose.transform(&rig, slot, &skeleton.slots[slot]);
    frame.changes.push(DrawChange::Set(draw));
}

/// Sends the pose of the mesh that a slot shows.
fn send_palette(
    assets: &Assets,
    frame: &mut SceneFrame,
    (rig, slot): (&SpriteRig, &SlotInstance),
    pose: &SkeletonPose,
) {
    let mesh = slot.shown.part.and_then(|part| rig.parts[part as usize].mesh);
    let Some((mesh, skin)) = mesh else { return };
    let shape = &assets.models.entry(mesh).shape;
    let (Some(bounded), Some(skin)) = (&shape.skin, rig.skins.get(skin as usize)) else { return };
    frame.add_palette(slot.draw, bounded, skin.joints.len(), |out| {
        palette(pose.matrices, &skin.joints, out);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_models::sprite_skeleton::SpriteSlot;

    fn sprite_skeleton(count: usize) -> SpriteSkeletonData {
        let slot = |index: usize| SpriteSlot {
            name: format!("slot_{index}"),
            bone: 0,
            color: [1.0; 4],
            part: 0,
            parts: Vec::new(),
        };
        let slots = (0..count).map(slot).collect();
        SpriteSkeletonData { pixels_per_metre: 100.0, upright: false, slots, skins: Vec::new() }
    }

    #[test]
    fn slots_are_drawn_in_the_order_of_their_values() {
        let sprite_skeleton = sprite_skeleton(4);
        let order = |values: [f32; 4]| {
            let values: Vec<f32> =
                values.into_iter().flat_map(|order| [1.0, 1.0, 1.0, 1.0, order]).collect();
            drawing_order(&sprite_skeleton, &values)[..4].to_vec()
        };
        assert_eq!(order([0.0, 1.0, 2.0, 3.0]), [0, 1, 2, 3]);
        // The first slot moves by two places.
        assert_eq!(order([2.5, 1.0, 2.0, 3.0]), [2, 0, 1, 3]);
        assert_eq!(order([0.0, 1.0, 2.0, -0.5]), [1, 2, 3, 0]);
        assert_eq!(order([1.0, 1.0, 1.0, f32::NAN])[..3], [0, 1, 2], "equal ones keep their order");
    }
}
