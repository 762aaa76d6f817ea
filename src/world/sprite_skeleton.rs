//! The component `skeleton`: the pictures of two-dimensional models, which follow the bones of a
//! character. Stores the pictures and colours of all units; the poses are those of the component
//! `animation`. The transfer to the renderer is in src/engine/sprite_skeleton_draws.rs.

use super::animation::{Skin, skeleton_of};
use super::instance_table::{flag, set_hidden};
use super::sprite::SpritePlacement;
use super::unit::UnitId;
use engine_animation::{ModelMatrix, Pose, model_matrices};
use engine_foundation::hash::StateHash;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Mat4, Vec4, error};
use engine_frame_packet::scene::DrawSlot;
use engine_models::sprite_skeleton::{SpritePart, SpriteSkeletonData};
use engine_models::{MeshNumber, Model};
use engine_textures::TextureNumber;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of skeletons of all units together.
pub const SKELETONS_MAX: usize = 1 << 16;

/// No skeleton.
const NONE: u32 = u32::MAX;

/// A part with its texture and its mesh.
#[derive(Clone, PartialEq, Debug)]
pub struct RigPart {
    pub texture: TextureNumber,
    pub part: SpritePart,
    /// Mesh that bones deform, and the index of its skin.
    pub mesh: Option<(MeshNumber, u32)>,
}

/// Pictures of a two-dimensional model, which all of its units share.
#[derive(Clone, PartialEq, Debug)]
pub struct SpriteRig {
    /// Name of the model.
    pub model: String,
    pub sprite_skeleton: Arc<SpriteSkeletonData>,
    /// Parts of all slots, then those of all skins.
    pub parts: Vec<RigPart>,
    /// Index of the first part of each slot, and of each skin.
    slot_first: Vec<u32>,
    skin_first: Vec<u32>,
    pub skins: Vec<Skin>,
    /// Matrix of each bone at rest.
    pub rest: Vec<ModelMatrix>,
    /// Values of the slots at rest.
    pub values: Vec<f32>,
}

impl SpriteRig {
    /// Creates the pictures of a model. `find` returns the texture with a name.
    ///
    /// # Errors
    /// Returns an error if the model has no pictures, or a texture does not exist.
    pub fn new(
        model: &Model,
        mut find: impl FnMut(&str) -> Result<TextureNumber, Error>,
    ) -> Result<SpriteRig, Error> {
        let Some(sprite_skeleton) = model.data.sprite_skeleton.clone() else {
            return Err(error!(
                "the model '{0}' is not two-dimensional: its file would be {0}.skeleton",
                model.name
            ));
        };
        let (mut parts, mut fault) = (Vec::new(), None);
        sprite_skeleton.each_part(|part| {
            let texture = find(&part.texture).unwrap_or_else(|error| {
                let message = format!("part '{}': {}", part.name, error.message);
                fault.get_or_insert(error!("the skeleton '{}': {message}", model.name));
                TextureNumber::MISSING
            });
            let mesh = part.mesh.map(|(mesh, skin)| (model.meshes[mesh as usize], skin));
            parts.push(RigPart { texture, part: part.clone(), mesh });
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        let mut first = 0;
        let mut begin = |count: usize| {
            first += count as u32;
            first - count as u32
        };
        let slot_first = sprite_skeleton.slots.iter().map(|slot| begin(slot.parts.len())).collect();
        let skin_first = sprite_skeleton.skins.iter().map(|skin| begin(skin.parts.len())).collect();
        let skeleton = skeleton_of(&model.data)?;
        let mut rest = Vec::new();
        model_matrices(&skeleton, &Pose::rest(&skeleton), &mut rest);
        let colors = sprite_skeleton.slots.iter().zip(0u16..).flat_map(|(slot, order)| {
            let [red, green, blue, alpha] = slot.color;
            [red, green, blue, alpha, f32::from(order)]
        });
        let shown = sprite_skeleton.slots.iter().map(|slot| f32::from(slot.part));
        let values = colors.chain(shown).collect();
        let skins = model.data.skins.iter().map(Skin::read).collect();
        let model = model.name.clone();
        Ok(SpriteRig { model, sprite_skeleton, parts, slot_first, skin_first, skins, rest, values })
    }

    /// Returns the index of the part that a slot shows with a skin. `part` is an index from 0.
    pub fn find_part(&self, slot: usize, part: usize, skin: Option<u16>) -> Option<u32> {
        let skin = skin
            .map(usize::from)
            .and_then(|skin| Some((skin, self.sprite_skeleton.skins.get(skin)?)));
        if let Some((skin, replaced)) = skin {
            let key = (slot as u16, part as u16);
            let found = replaced.parts.binary_search_by_key(&key, |(slot, part, _)| (*slot, *part));
            if let Ok(found) = found {
                return Some(self.skin_first[skin] + found as u32);
            }
        }
        let slot_parts = &self.sprite_skeleton.slots.get(slot)?.parts;
        (part < slot_parts.len()).then(|| self.slot_first[slot] + part as u32)
    }

    /// Returns the index of a skin.
    ///
    /// # Errors
    /// Returns an error that suggests a similar name.
    pub fn find_skin(&self, name: &str) -> Result<u16, Error> {
        let found = self.sprite_skeleton.skins.iter().position(|skin| skin.name == name);
        found.map(|index| index as u16).ok_or_else(|| {
            let names = self.sprite_skeleton.skins.iter().map(|skin| skin.name.as_str());
            match self.sprite_skeleton.skins.is_empty() {
                true => error!("the skeleton '{}' has no skins", self.model),
                false => error!(
                    "the skeleton '{}' has no skin '{name}'{}",
                    self.model,
                    hint(name, names)
                ),
            }
        })
    }

    /// Returns the index of a slot.
    ///
    /// # Errors
    /// Returns an error that suggests a similar name.
    pub fn find_slot(&self, name: &str) -> Result<usize, Error> {
        self.sprite_skeleton.slot(name).ok_or_else(|| {
            let names = self.sprite_skeleton.slots.iter().map(|slot| slot.name.as_str());
            error!("the skeleton '{}' has no slot '{name}'{}", self.model, hint(name, names))
        })
    }

    /// Returns the transform of the unit square of pictures (0, 0 to 1, 1 in the plane of x and z)
    /// to the bone of a part. `texels` is the size of its texture.
    pub fn square_to_bone(&self, part: &SpritePart, texels: [f32; 2]) -> ModelMatrix {
        let size = match part.size {
            [width, height] if width > 0.0 => [width, height],
            _ => texels.map(|side| side / self.sprite_skeleton.pixels_per_metre),
        };
        let [width, height] = [size[0] * part.scale[0], size[1] * part.scale[1]];
        let (sine, cosine) = engine_foundation::deterministic_math::sin_cos(part.rotation);
        let (right, up) = match self.sprite_skeleton.upright {
            true => (Vec4::X, Vec4::Z),
            false => (Vec4::X, Vec4::Y),
        };
        let toward = if self.sprite_skeleton.upright { Vec4::Y } else { Vec4::NEG_Z };
        let across = (right * cosine + up * sine) * width;
        let along = (up * cosine - right * sine) * height;
        let at = right * part.position[0] + up * part.position[1];
        let corner = at - across * part.pivot[0] - along * part.pivot[1];
        let matrix = Mat4::from_cols(across, toward, along, corner + Vec4::W);
        ModelMatrix::from_columns(matrix.to_cols_array())
    }
}

/// A skeleton as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct SkeletonComponent {
    pub name: String,
    /// `None` until the reference is resolved.
    pub rig: Option<Arc<SpriteRig>>,
    pub skin: Option<String>,
    pub placement: SpritePlacement,
    pub visible: bool,
    pub group: u8,
}

/// Picture of a slot as it was last sent to the renderer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShownPart {
    /// Index of the part in the rig; `None` if the slot is empty.
    pub part: Option<u32>,
    pub color: [u8; 4],
    /// Position in the drawing order.
    pub order: u16,
}

/// A slot of a unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SlotInstance {
    pub draw: DrawSlot,
    /// Colour that a script multiplies with those of the skeleton.
    pub tint: [u8; 4],
    pub shown: ShownPart,
    /// Transform of the picture that is shown to its bone.
    pub local: ModelMatrix,
}

impl SlotInstance {
    pub fn new(draw: DrawSlot) -> SlotInstance {
        SlotInstance {
            draw,
            tint: [255; 4],
            shown: ShownPart { part: None, color: [0; 4], order: 0 },
            local: ModelMatrix::IDENTITY,
        }
    }
}

/// The skeleton of a unit.
#[derive(Clone, Debug)]
pub struct SpriteSkeleton {
    pub unit: UnitId,
    pub rig: Arc<SpriteRig>,
    /// Index of the skin.
    pub skin: Option<u16>,
    pub placement: SpritePlacement,
    /// Bits of [`flag`].
    pub flags: u8,
    pub group: u8,
    pub slots: Vec<SlotInstance>,
}

impl SpriteSkeleton {
    pub fn is_visible(&self) -> bool {
        self.flags & flag::ANY_HIDDEN == 0
    }
}

/// The skeletons of all units.
#[derive(Default)]
pub struct SpriteSkeletons {
    skeletons: Vec<Option<SpriteSkeleton>>,
    free: Vec<u32>,
    /// Index of the skeleton of each unit's row, or [`NONE`].
    index_of: Vec<u32>,
    /// Indices of the skeletons with changes for the renderer.
    pub changed: Vec<u32>,
}

impl SpriteSkeletons {
    /// Returns the skeleton of a unit, if it has one.
    pub fn of(&self, row: u32) -> Option<&SpriteSkeleton> {
        let index = *self.index_of.get(row as usize)?;
        self.skeletons.get(index as usize)?.as_ref()
    }

    /// Returns the skeleton of a unit for changes; all of its data is sent to the renderer again.
    pub fn change(&mut self, row: u32) -> Option<&mut SpriteSkeleton> {
        let index = *self.index_of.get(row as usize)?;
        self.record(index, flag::NEW);
        self.skeletons.get_mut(index as usize)?.as_mut()
    }

    /// Returns the skeleton with an index of [`SpriteSkeletons::changed`].
    pub fn at(&self, index: u32) -> Option<&SpriteSkeleton> {
        self.skeletons.get(index as usize)?.as_ref()
    }

    /// Returns all skeletons.
    pub fn iter(&self) -> impl Iterator<Item = &SpriteSkeleton> {
        self.skeletons.iter().flatten()
    }

    /// Returns the number of skeletons.
    pub fn count(&self) -> usize {
        self.skeletons.len() - self.free.len()
    }

    /// Refuses another skeleton if there are too many.
    ///
    /// # Errors
    /// Returns an error that names the limit.
    pub fn check_room(&self) -> Result<(), Error> {
        match self.count() < SKELETONS_MAX {
            true => Ok(()),
            false => Err(error!(
                "there is no room for one more skeleton (SKELETONS_MAX is {SKELETONS_MAX}): \
                 destroy units that are not needed"
            )),
        }
    }

    /// Adds the skeleton of a unit. The caller has checked that there is room.
    pub fn add(&mut self, mut skeleton: SpriteSkeleton) {
        let row = skeleton.unit.row() as usize;
        if self.index_of.len() <= row {
            self.index_of.resize(row + 1, NONE);
        }
        skeleton.flags &= !flag::LISTED;
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.skeletons.push(None);
                self.skeletons.len() as u32 - 1
            }
        };
        self.index_of[row] = index;
        self.skeletons[index as usize] = Some(skeleton);
        self.record(index, flag::NEW);
    }

    /// Writes the skin, the colours and the layer of a unit's skeleton into a hash of its state.
    pub fn write_state(&self, row: u32, hash: &mut StateHash) {
        let Some(skeleton) = self.of(row) else { return };
        let skin = skeleton
            .skin
            .and_then(|skin| skeleton.rig.sprite_skeleton.skins.get(usize::from(skin)));
        hash.write_bytes(skin.map_or("", |skin| &skin.name).as_bytes());
        hash.write_u64(skeleton.placement.layer as u64);
        let tints = skeleton.slots.iter().map(|slot| slot.tint);
        for tint in tints.chain([skeleton.placement.tint]) {
            hash.write_u64(u32::from_le_bytes(tint).into());
        }
    }

    /// Removes the skeleton of a unit and returns it.
    pub fn remove(&mut self, row: u32) -> Option<SpriteSkeleton> {
        let slot = self.index_of.get_mut(row as usize)?;
        let index = std::mem::replace(slot, NONE);
        let removed = self.skeletons.get_mut(index as usize)?.take()?;
        self.free.push(index);
        Some(removed)
    }

    /// Takes a changed skeleton out of the table for its transfer: the bits of its changes, and the
    /// skeleton. [`SpriteSkeletons::put_back`] returns it.
    pub fn take_change(&mut self, index: u32) -> Option<(u8, SpriteSkeleton)> {
        let slot = self.skeletons.get_mut(index as usize)?;
        let flags = slot.as_ref()?.flags;
        // Another skeleton can have taken the index after the change was listed.
        if flags & flag::LISTED == 0 {
            return None;
        }
        let mut taken = slot.take()?;
        taken.flags &= !(flag::LISTED | flag::NEW);
        Some((flags, taken))
    }

    pub fn put_back(&mut self, index: u32, skeleton: SpriteSkeleton) {
        self.skeletons[index as usize] = Some(skeleton);
    }

    /// Records a change of a skeleton: with [`flag::NEW`] of all its data, with 0 of its pose.
    fn record(&mut self, index: u32, flags: u8) {
        let Some(Some(skeleton)) = self.skeletons.get_mut(index as usize) else { return };
        let is_listed = skeleton.flags & flag::LISTED != 0;
        skeleton.flags |= flags | flag::LISTED;
        if !is_listed {
            self.changed.push(index);
        }
    }

    /// Records that the pose of a unit has changed.
    pub fn note_posed(&mut self, row: u32) {
        if let Some(index) = self.index_of.get(row as usize).copied() {
            self.record(index, 0);
        }
    }

    /// Records that units moved.
    pub fn note_moved(&mut self, rows: &[u32]) {
        if self.count() > 0 {
            rows.iter().for_each(|row| self.note_posed(*row));
        }
    }

    /// Sets or clears a reason why the skeleton of a unit is hidden, for one group or for all.
    pub fn hide(&mut self, row: u32, group: Option<u8>, reason: u8, hidden: bool) {
        let Some(index) = self.index_of.get(row as usize).copied() else { return };
        let Some(Some(skeleton)) = self.skeletons.get_mut(index as usize) else { return };
        if group.is_none_or(|group| group == skeleton.group)
            && set_hidden(&mut skeleton.flags, reason, hidden)
        {
            self.record(index, flag::NEW);
        }
    }

    /// Records a change of all data of the skeletons for which `is_stale` returns true.
    pub fn mark_stale(&mut self, is_stale: impl Fn(&SpriteSkeleton) -> bool) {
        for index in 0..self.skeletons.len() {
            if self.skeletons[index].as_ref().is_some_and(&is_stale) {
                self.record(index as u32, flag::NEW);
            }
        }
    }

    /// Lets all skeletons that a material draws be drawn without it.
    pub fn forget_material(&mut self, material: engine_foundation::Handle) {
        let has = |it: &SpriteSkeleton| it.placement.material == Some(material);
        self.mark_stale(has);
        for skeleton in self.skeletons.iter_mut().flatten().filter(|it| has(it)) {
            skeleton.placement.material = None;
        }
    }

    /// Returns the units of a model that is reloaded, with the number of draw slots that each needs
    /// in addition.
    pub fn added_slots(&self, rig: &SpriteRig) -> impl Iterator<Item = (UnitId, usize)> {
        let units = self.iter().filter(move |it| it.rig.model == rig.model);
        units.map(move |skeleton| {
            let is_new = |name: &str| skeleton.rig.sprite_skeleton.slot(name).is_none();
            let added = rig.sprite_skeleton.slots.iter().filter(|slot| is_new(&slot.name)).count();
            (skeleton.unit, added)
        })
    }

    /// Replaces the pictures of the units of a reloaded model. Slots of the same names keep their
    /// tints, and the skin is found by its name. `take` returns a draw slot in the scene of a
    /// unit, and `end` ends one. Returns the names of the skins of units that do not exist any
    /// more.
    pub fn reload(
        &mut self,
        rig: &Arc<SpriteRig>,
        mut take: impl FnMut(UnitId) -> DrawSlot,
        mut end: impl FnMut(UnitId, DrawSlot),
    ) -> BTreeSet<String> {
        let mut lost = BTreeSet::new();
        self.mark_stale(|it| it.rig.model == rig.model);
        for skeleton in self.skeletons.iter_mut().flatten() {
            if skeleton.rig.model != rig.model {
                continue;
            }
            let old = std::mem::replace(&mut skeleton.rig, rig.clone());
            let skin =
                skeleton.skin.and_then(|skin| old.sprite_skeleton.skins.get(usize::from(skin)));
            skeleton.skin = skin.and_then(|skin| rig.find_skin(&skin.name).ok());
            if let (Some(skin), None) = (skin, skeleton.skin) {
                lost.insert(skin.name.clone());
            }
            let mut before: Vec<Option<SlotInstance>> =
                skeleton.slots.drain(..).map(Some).collect();
            for slot in &rig.sprite_skeleton.slots {
                let known =
                    old.sprite_skeleton.slot(&slot.name).and_then(|index| before[index].take());
                let kept = known.unwrap_or_else(|| SlotInstance::new(take(skeleton.unit)));
                skeleton.slots.push(kept);
            }
            before.into_iter().flatten().for_each(|slot| end(skeleton.unit, slot.draw));
        }
        lost
    }
}

/// Multiplies colours: numbers from 0 to 1, and two colours of bytes.
pub fn multiply_colors(values: &[f32], tints: [[u8; 4]; 2]) -> [u8; 4] {
    std::array::from_fn(|part| {
        let value = values.get(part).copied().unwrap_or(1.0);
        let tint = tints.iter().map(|tint| f32::from(tint[part]) / 255.0).product::<f32>();
        (value * tint * 255.0 + 0.5).clamp(0.0, 255.0) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::{HandleKind, Slots, Vec3};
    use engine_models::sprite_skeleton::SpriteSkin;

    fn rig(upright: bool) -> SpriteRig {
        let sprite_skeleton = SpriteSkeletonData {
            pixels_per_metre: 10.0,
            upright,
            slots: Vec::new(),
            skins: Vec::new(),
        };
        SpriteRig {
            model: "hero".to_string(),
            sprite_skeleton: Arc::new(sprite_skeleton),
            parts: Vec::new(),
            slot_first: Vec::new(),
            skin_first: Vec::new(),
            skins: Vec::new(),
            rest: Vec::new(),
            values: Vec::new(),
        }
    }

    #[test]
    fn a_picture_lies_in_the_plane_of_its_skeleton() {
        let part = SpritePart {
            name: "arm".to_string(),
            texture: "arm".to_string(),
            position: [1.0, 2.0],
            rotation: std::f32::consts::FRAC_PI_2,
            scale: [1.0, 2.0],
            pivot: [0.5, 0.0],
            size: [0.0; 2],
            mesh: None,
        };
        let check = |upright: bool, corner: [f32; 3], wanted: [f32; 3]| {
            let matrix = rig(upright).square_to_bone(&part, [20.0, 10.0]);
            let found = Vec3::from_array(matrix.transform_point(corner));
            assert!(found.distance(Vec3::from_array(wanted)) < 1e-5, "{found} for {corner:?}");
        };
        // 2 metres wide and 2 metres high, a quarter turn around the middle of its lower edge.
        check(false, [0.5, 0.0, 0.0], [1.0, 2.0, 0.0]);
        check(false, [1.0, 0.0, 0.0], [1.0, 3.0, 0.0]);
        check(false, [0.5, 0.0, 1.0], [-1.0, 2.0, 0.0]);
        check(true, [1.0, 0.0, 0.0], [1.0, 0.0, 3.0]);
        check(true, [0.5, 0.0, 1.0], [-1.0, 0.0, 2.0]);
    }

    #[test]
    fn skins_tints_and_layers_are_parts_of_the_state() {
        let mut rig = rig(false);
        let skin = SpriteSkin { name: "ice".to_string(), parts: Vec::new() };
        rig.sprite_skeleton = Arc::new(SpriteSkeletonData {
            skins: vec![skin],
            ..SpriteSkeletonData::clone(&rig.sprite_skeleton)
        });
        let unit = UnitId(Slots::new(HandleKind::Unit, 1).add(()).unwrap());
        let mut skeletons = SpriteSkeletons::default();
        skeletons.add(SpriteSkeleton {
            unit,
            rig: Arc::new(rig),
            skin: None,
            placement: SpritePlacement::DEFAULT,
            flags: 0,
            group: 0,
            slots: vec![SlotInstance::new(DrawSlot(3))],
        });
        let state = |skeletons: &SpriteSkeletons| {
            let mut hash = StateHash::new(0);
            skeletons.write_state(unit.row(), &mut hash);
            hash.finish()
        };
        let mut before = state(&skeletons);
        let changes: [fn(&mut SpriteSkeleton); 4] = [
            |it| it.skin = Some(0),
            |it| it.placement.layer = -2,
            |it| it.placement.tint = [1, 2, 3, 4],
            |it| it.slots[0].tint[2] = 7,
        ];
        for change in changes {
            change(skeletons.change(unit.row()).unwrap());
            let after = state(&skeletons);
            assert_ne!(after, before);
            before = after;
        }
        // The state of the renderer is no part of it.
        skeletons.change(unit.row()).unwrap().slots[0].shown.order = 5;
        assert_eq!(state(&skeletons), before);
    }

    #[test]
    fn colors_are_multiplied() {
        assert_eq!(multiply_colors(&[1.0, 0.5, 0.0, 1.0], [[255; 4]; 2]), [255, 128, 0, 255]);
        assert_eq!(multiply_colors(&[1.0; 4], [[128, 255, 0, 255], [128; 4]]), [64, 128, 0, 128]);
        assert_eq!(multiply_colors(&[], [[255; 4]; 2]), [255; 4]);
    }
}
