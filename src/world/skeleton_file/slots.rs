//! The blocks `slots` and `skins` of a `.skeleton` file: the pictures of the bones.

use super::SkeletonSource;
use super::bones::{self, Plane};
use super::errors::FileErrors;
use super::fields::{Block, COORDINATE_MAX};
use super::sheets::Sheets;
use super::skin_mesh::{self, PartShape};
use engine_foundation::color_source::ColorKey;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::sjson::{ObjectEntry, SjsonValue, ValueKind};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_models::data::ModelData;
use engine_models::sprite_skeleton::{
    SKELETON_PARTS_MAX, SKELETON_SKINS_MAX, SKELETON_SLOTS_MAX, SpritePart, SpriteSkeletonData,
    SpriteSkin, SpriteSlot,
};
use engine_resource::resource_kind::{CompileContext, kind_names};
use std::collections::BTreeMap;

/// The colour of a slot.
pub const SLOT_COLOR: ColorKey = ColorKey { key: "color", linear_key: "", has_alpha: true };

const PART_KEYS: [&str; 9] =
    ["texture", "sheet", "frame", "position", "rotation", "scale", "pivot", "size", "mesh"];
const SLOT_KEYS: [&str; 13] = [
    "bone", "color", "part", "parts", "texture", "sheet", "frame", "position", "rotation", "scale",
    "pivot", "size", "mesh",
];
const SKIN_PARTS: (usize, &str) = (SKELETON_PARTS_MAX, "SKELETON_PARTS_MAX");

/// Keys of the transform of a part.
const MOVING_KEYS: [&str; 5] = ["position", "rotation", "scale", "pivot", "size"];

/// A part that is read.
struct PartOutline<'k> {
    /// Description for messages.
    subject: String,
    /// Name of its mesh, if it has one.
    title: String,
    bone: u16,
    keys: &'k [&'k str],
    /// The part that it replaces in a skin: fields that are left out are those of this part.
    replaced: Option<&'k SpritePart>,
}

/// Reader of the slots and skins of a file.
pub struct SlotReader<'a, 'c, 's> {
    pub path: &'a str,
    pub compiling: &'c mut CompileContext<'s>,
    pub sheets: &'c mut Sheets,
    pub plane: Plane,
    /// Sheet of parts that name a frame and no sheet.
    pub default_sheet: Option<&'a str>,
    pub model: &'c mut ModelData,
    /// Indices of the bones by their names.
    bones: BTreeMap<String, u16>,
    count: usize,
    errors: &'c FileErrors,
}

impl<'a, 'c, 's> SlotReader<'a, 'c, 's> {
    pub fn new(
        path: &'a str,
        compiling: &'c mut CompileContext<'s>,
        sheets: &'c mut Sheets,
        (plane, default_sheet, errors): (Plane, Option<&'a str>, &'c FileErrors),
        model: &'c mut ModelData,
    ) -> SlotReader<'a, 'c, 's> {
        let (bones, count) = (bones::by_name(&model.nodes), 0);
        SlotReader { path, compiling, sheets, plane, default_sheet, model, bones, count, errors }
    }

    /// Reads the slots and the skins.
    ///
    /// # Errors
    /// Returns an error that names the line if a block cannot be read at all. Those of single slots
    /// and skins are kept.
    pub fn read(
        &mut self,
        root: &Block<'a>,
        source: &mut SkeletonSource,
    ) -> Result<SpriteSkeletonData, Error> {
        let mut data = SpriteSkeletonData {
            pixels_per_metre: 1.0 / self.plane.metres_per_texel,
            upright: self.plane.upright,
            slots: Vec::new(),
            skins: Vec::new(),
        };
        for entry in root.named("slots", (SKELETON_SLOTS_MAX, "SKELETON_SLOTS_MAX"))? {
            if self.errors.is_full() {
                break;
            }
            let before = self.errors.count();
            let slot = self.slot(&entry, source);
            let placeholder = || SpriteSlot {
                name: entry.key.to_string(),
                bone: 0,
                color: [1.0; 4],
                part: 0,
                parts: Vec::new(),
            };
            data.slots.push(self.errors.keep(slot).unwrap_or_else(placeholder));
            if self.errors.count() > before {
                source.failed_slots.push(entry.key.to_string());
            }
        }
        if data.slots.is_empty() {
            return Err(error!(
                "{}: the skeleton has no slots, which show its pictures: slots = {{ head = {{ \
                 texture = \"units/head\" }} }}, or sheet = \"units/hero\"",
                self.path
            ));
        }
        for entry in root.named("skins", (SKELETON_SKINS_MAX, "SKELETON_SKINS_MAX"))? {
            let skin = self.skin(&entry, &data, &source.failed_slots);
            data.skins.extend(self.errors.keep(skin));
        }
        Ok(data)
    }

    fn slot(
        &mut self,
        entry: &ObjectEntry<'a>,
        source: &mut SkeletonSource,
    ) -> Result<SpriteSlot, Error> {
        let name = entry.key;
        let block = Block::open(self.path, format!("slot '{name}'"), entry.value, &SLOT_KEYS)?;
        let bone_name = block.text("bone")?.unwrap_or(name);
        let bone = self.bones.get(bone_name).copied().ok_or_else(|| {
            let near = hint(bone_name, self.bones.keys().map(String::as_str));
            let remedy = if near.is_empty() { ": name one by bone = \"…\"" } else { "" };
            let message = format!("has no bone '{bone_name}'{near}{remedy}");
            block.error_at(entry.value, &message)
        });
        let mut slot = SpriteSlot {
            name: name.to_string(),
            bone: self.errors.keep(bone).unwrap_or(0),
            color: block.color(SLOT_COLOR.key)?.unwrap_or([1.0; 4]),
            part: 0,
            parts: Vec::new(),
        };
        let before = self.errors.count();
        for part in block.named("parts", SKIN_PARTS)? {
            if self.errors.is_full() {
                break;
            }
            let read = self.part(&mut slot, (part.key, part.value), &PART_KEYS);
            self.errors.keep(read);
        }
        if self.errors.count() > before {
            return Ok(slot);
        }
        if let Some(sheet) = block.resource("sheet")?.filter(|_| entry.value.get("frame").is_none())
        {
            self.frames(&block, &mut slot, sheet)?;
            source.frame_slots.push((name.to_string(), sheet.to_string()));
        } else if PART_KEYS.iter().any(|key| entry.value.get(key).is_some()) {
            // A slot with a single part has its fields beside its own.
            self.part(&mut slot, (name, entry.value), &SLOT_KEYS)?;
        }
        if slot.parts.is_empty() {
            return Err(block.error_at(
                entry.value,
                "has no picture: add texture = \"units/head\", or parts = { … }",
            ));
        }
        slot.part = match block.text("part")? {
            None => 1,
            Some(part) => find_part(&block, &slot, part)?,
        };
        Ok(slot)
    }

    /// Adds the frames of a sheet as parts.
    fn frames(&mut self, block: &Block, slot: &mut SpriteSlot, sheet: &str) -> Result<(), Error> {
        if block.value.get("texture").is_some() || block.value.get("mesh").is_some() {
            return Err(block.error_at(
                block.value,
                "shows the frames of a sheet: leave out 'texture' and 'mesh'",
            ));
        }
        self.compiling.refer(kind_names::SHEET, sheet);
        let plain = self.transform(block, None)?;
        let found = self.sheets.read(self.compiling, sheet);
        let found = found.map_err(|fault| {
            block.error_at(block.value, &format!("has no frames: {}", fault.message))
        })?;
        let frames: Vec<String> = found.frames.iter().map(|(frame, _)| frame.clone()).collect();
        for frame in frames {
            let texture = format!("{sheet}/{frame}");
            self.push(block, slot, SpritePart { name: frame, texture, ..plain.clone() })?;
        }
        Ok(())
    }

    /// Adds a part to a slot.
    fn part(
        &mut self,
        slot: &mut SpriteSlot,
        (name, value): (&str, SjsonValue<'a>),
        keys: &[&str],
    ) -> Result<(), Error> {
        let subject = format!("part '{name}' of slot '{}'", slot.name);
        let title = format!("{}/{name}", slot.name);
        let outline = PartOutline { subject, title, bone: slot.bone, keys, replaced: None };
        let part = self.read_part(&outline, (name, value))?;
        let block = Block { path: self.path, subject: format!("slot '{}'", slot.name), value };
        self.push(&block, slot, part)
    }

    fn push(
        &mut self,
        block: &Block,
        slot: &mut SpriteSlot,
        part: SpritePart,
    ) -> Result<(), Error> {
        if slot.parts.iter().any(|known| known.name == part.name) {
            let message = format!("has two parts '{}': rename one", part.name);
            return Err(block.error_at(block.value, &message));
        }
        self.count_part(block)?;
        slot.parts.push(part);
        Ok(())
    }

    fn count_part(&mut self, block: &Block) -> Result<(), Error> {
        self.count += 1;
        match self.count > SKELETON_PARTS_MAX {
            true => Err(block.error_at(
                block.value,
                &format!(
                    "has a part too many: a skeleton has at most {SKELETON_PARTS_MAX} with those \
                     of its skins (SKELETON_PARTS_MAX)"
                ),
            )),
            false => Ok(()),
        }
    }

    /// Reads a part. A text is the name of its texture.
    fn read_part(
        &mut self,
        outline: &PartOutline,
        (name, value): (&str, SjsonValue<'a>),
    ) -> Result<SpritePart, Error> {
        let PartOutline { subject, title, bone, keys, replaced } = outline;
        if value.kind() == ValueKind::String {
            let texture = value.as_str().unwrap_or_default();
            let block = Block { path: self.path, subject: subject.clone(), value };
            if texture.is_empty() || texture.contains('\0') {
                return Err(block.error_at(value, "names no texture: use \"units/head\""));
            }
            self.compiling.refer(kind_names::TEXTURE, texture);
            let known = replaced.cloned().unwrap_or_else(plain_part);
            return Ok(SpritePart {
                name: name.to_string(),
                texture: texture.to_string(),
                ..known
            });
        }
        let block = Block::open(self.path, subject.clone(), value, keys)?;
        let texture = self.texture(&block, *replaced)?;
        let mut part = self.transform(&block, *replaced)?;
        (part.name, part.texture) = (name.to_string(), texture);
        if let Some(mesh) = value.get("mesh") {
            let mesh =
                Block::open(self.path, format!("the mesh of {subject}"), mesh, &skin_mesh::KEYS)?;
            let shape = PartShape {
                title,
                part: &part,
                bone: *bone,
                plane: self.plane,
                bones: &self.bones,
            };
            part.mesh = Some(skin_mesh::add(self.model, &mesh, &shape)?);
        } else if part.mesh.is_some() && MOVING_KEYS.iter().any(|key| value.get(key).is_some()) {
            return Err(block.error_at(
                value,
                "moves a part with a mesh: write its 'mesh' again, or leave out its transform",
            ));
        }
        Ok(part)
    }

    /// Returns the name of the texture of a part.
    fn texture(&mut self, block: &Block, replaced: Option<&SpritePart>) -> Result<String, Error> {
        let texture = block.resource("texture")?;
        let (sheet, frame) = (block.resource("sheet")?, block.resource("frame")?);
        match (texture, sheet.or(self.default_sheet), frame) {
            (Some(_), _, Some(_)) => Err(block.error_at(
                block.value,
                "has a texture and a frame of a sheet: take one of them out",
            )),
            (Some(texture), _, None) => {
                self.compiling.refer(kind_names::TEXTURE, texture);
                Ok(texture.to_string())
            }
            (None, Some(sheet), Some(frame)) => {
                self.compiling.refer(kind_names::SHEET, sheet);
                let frames = self.sheets.read(self.compiling, sheet);
                let frames = frames.map_err(|fault| {
                    block.error_at(block.value, &format!("has no frame: {}", fault.message))
                })?;
                if !frames.frames.iter().any(|(known, _)| known == frame) {
                    let near = hint(frame, frames.frames.iter().map(|(known, _)| known.as_str()));
                    let message =
                        format!("has the frame '{frame}', which the sheet '{sheet}' lacks{near}");
                    return Err(block.error_at(block.value, &message));
                }
                Ok(format!("{sheet}/{frame}"))
            }
            (None, None, Some(_)) => Err(block
                .error_at(block.value, "has a frame and no sheet: add sheet = \"units/puppet\"")),
            (None, _, None) => replaced.map(|part| part.texture.clone()).ok_or_else(|| {
                block.error_at(block.value, "has no picture: add texture = \"units/head\"")
            }),
        }
    }

    /// Reads the transform of a part: its fields, or those of another part.
    fn transform(&self, block: &Block, replaced: Option<&SpritePart>) -> Result<SpritePart, Error> {
        let known = replaced.cloned().unwrap_or_else(plain_part);
        let metres = |pair: [f32; 2]| pair.map(|number| number * self.plane.metres_per_texel);
        let size = block.pair("size", COORDINATE_MAX)?;
        if let Some([width, height]) = size.filter(|size| size.iter().any(|side| *side <= 0.0)) {
            let message = format!("has the size [{width}, {height}]: both must be above 0 texels");
            return Err(block.error_at(block.value, &message));
        }
        Ok(SpritePart {
            position: block.pair("position", COORDINATE_MAX)?.map_or(known.position, metres),
            rotation: block.angle("rotation")?.map_or(known.rotation, f32::to_radians),
            scale: block.scale("scale")?.unwrap_or(known.scale),
            pivot: block.pair("pivot", COORDINATE_MAX)?.unwrap_or(known.pivot),
            size: size.map_or(known.size, metres),
            ..known
        })
    }

    /// Reads a skin: blocks of slots with the parts that it replaces.
    fn skin(
        &mut self,
        entry: &ObjectEntry<'a>,
        data: &SpriteSkeletonData,
        failed_slots: &[String],
    ) -> Result<SpriteSkin, Error> {
        let skin = entry.key;
        let block = Block::open(self.path, format!("skin '{skin}'"), entry.value, &[])?;
        let mut parts: Vec<(u16, u16, SpritePart)> = Vec::new();
        for of_slot in block.entries()? {
            if self.errors.is_full() {
                break;
            }
            if failed_slots.iter().any(|failed| failed == of_slot.key) {
                continue;
            }
            let read = self.skin_slot(&block, &of_slot, data, &mut parts);
            self.errors.keep(read);
        }
        parts.sort_compact_by_key(|(slot, part, _)| (*slot, *part));
        Ok(SpriteSkin { name: skin.to_string(), parts })
    }

    /// Reads the parts of a slot that a skin replaces.
    fn skin_slot(
        &mut self,
        block: &Block<'a>,
        of_slot: &ObjectEntry<'a>,
        data: &SpriteSkeletonData,
        parts: &mut Vec<(u16, u16, SpritePart)>,
    ) -> Result<(), Error> {
        let skin = block.subject.clone();
        let name = of_slot.key;
        let slot = data.slot(name).ok_or_else(|| {
            let near = hint(name, data.slots.iter().map(|slot| slot.name.as_str()));
            block.error_at(of_slot.value, &format!("has no slot '{name}'{near}"))
        })?;
        let known = &data.slots[slot];
        let subject = format!("{skin} in slot '{name}'");
        // A text replaces the only part of the slot.
        let named: Vec<(&str, SjsonValue)> = match (of_slot.value.as_str(), &known.parts[..]) {
            (Some(_), [only]) => vec![(only.name.as_str(), of_slot.value)],
            (Some(_), _) => {
                let block = Block { path: self.path, subject, value: of_slot.value };
                let message = "names one texture, and the slot has several parts: write a \
                                   block with their names";
                return Err(block.error_at(of_slot.value, message));
            }
            (None, _) => {
                let block = Block::open(self.path, subject.clone(), of_slot.value, &[])?;
                block.entries()?.iter().map(|part| (part.key, part.value)).collect()
            }
        };
        for (part, value) in named {
            let block = Block { path: self.path, subject: skin.clone(), value };
            let index = find_part(&block, known, part)? - 1;
            let replaced = &known.parts[usize::from(index)];
            self.count_part(&block)?;
            let outline = PartOutline {
                subject: format!("part '{part}' of slot '{name}' in {skin}"),
                title: format!("{skin}/{name}/{part}"),
                bone: known.bone,
                keys: &PART_KEYS,
                replaced: Some(replaced),
            };
            let replaced = self.read_part(&outline, (part, value))?;
            parts.push((slot as u16, index, replaced));
        }
        Ok(())
    }
}

/// A part without a picture, at its bone.
fn plain_part() -> SpritePart {
    SpritePart {
        name: String::new(),
        texture: String::new(),
        position: [0.0; 2],
        rotation: 0.0,
        scale: [1.0; 2],
        pivot: [0.5; 2],
        size: [0.0; 2],
        mesh: None,
    }
}

/// Returns the index of a part from 1, or 0 for an empty name.
///
/// # Errors
/// Returns an error that suggests a similar name.
pub fn find_part(block: &Block, slot: &SpriteSlot, part: &str) -> Result<u16, Error> {
    if part.is_empty() {
        return Ok(0);
    }
    let found = slot.parts.iter().position(|known| known.name == part);
    found.map(|index| index as u16 + 1).ok_or_else(|| {
        let near = hint(part, slot.parts.iter().map(|known| known.name.as_str()));
        let message = format!("has the part '{part}', which slot '{}' lacks{near}", slot.name);
        block.error_at(block.value, &message)
    })
}
