//! Sprite skeletons: the pictures of a two-dimensional model. Each slot is attached to a bone, has
//! a position in the drawing order, and shows one of its parts. Skins replace the pictures of
//! parts. Stores no textures, only their names. Draws nothing.

use super::data::ModelData;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::{Error, error};
use std::collections::HashSet;

/// Maximum number of slots of a skeleton.
pub const SKELETON_SLOTS_MAX: usize = 128;
/// Maximum number of parts of all slots and skins of a skeleton.
pub const SKELETON_PARTS_MAX: usize = 8192;
/// Maximum number of skins of a skeleton.
pub const SKELETON_SKINS_MAX: usize = 256;

/// Number of animated values of a slot that are mixed when animations are blended: red, green,
/// blue, alpha, and the position in the drawing order.
pub const SLOT_MIXED_VALUES: usize = 5;
/// Index of the position in the drawing order among the mixed values of a slot.
pub const SLOT_ORDER_VALUE: usize = 4;

/// Maximum number of parts of a slot that a description names.
const PARTS_SHOWN: usize = 8;

/// Stored in place of the mesh of a part that is a rectangle.
const NO_MESH: u32 = u32::MAX;

/// Pictures of a model that consists of bones.
#[derive(Clone, PartialEq, Debug)]
pub struct SpriteSkeletonData {
    /// Number of texels per metre, for parts without a size.
    pub pixels_per_metre: f32,
    /// True if the pictures are in the plane of x and z, and false for that of x and y.
    pub upright: bool,
    /// Slots in the drawing order at rest, the farthest first.
    pub slots: Vec<SpriteSlot>,
    pub skins: Vec<SpriteSkin>,
}

/// A slot: the location of one picture.
#[derive(Clone, PartialEq, Debug)]
pub struct SpriteSlot {
    /// Name, unique among the slots.
    pub name: String,
    /// Index of the node that carries the slot.
    pub bone: u16,
    /// Colour at rest that is multiplied with the picture: red, green, blue (sRGB) and alpha, 0
    /// to 1.
    pub color: [f32; 4],
    /// Part at rest: its index from 1, or 0 if the slot is empty.
    pub part: u16,
    pub parts: Vec<SpritePart>,
}

/// A part: one picture that a slot can show.
#[derive(Clone, PartialEq, Debug)]
pub struct SpritePart {
    /// Name, unique among the parts of the slot.
    pub name: String,
    /// Name of a texture or of a frame of a sheet.
    pub texture: String,
    /// Transform from the picture to the bone: the position in metres, the angle in radians,
    /// counterclockwise, and the scale.
    pub position: [f32; 2],
    pub rotation: f32,
    pub scale: [f32; 2],
    /// Point of the picture that is at the position: 0, 0 is the bottom left, 1, 1 the top right.
    pub pivot: [f32; 2],
    /// Width and height in metres; 0 derives them from the number of texels.
    pub size: [f32; 2],
    /// Mesh that several bones deform, and its skin: indices into the model. `None` if the
    /// picture is a rectangle.
    pub mesh: Option<(u32, u32)>,
}

/// A skin: other pictures for some of the parts.
#[derive(Clone, PartialEq, Debug)]
pub struct SpriteSkin {
    /// Name, unique among the skins.
    pub name: String,
    /// Slot and part that are replaced, both indices from 0, in ascending order.
    pub parts: Vec<(u16, u16, SpritePart)>,
}

fn write_floats(writer: &mut BlobWriter, values: &[f32]) {
    values.iter().for_each(|value| writer.u32(value.to_bits()));
}

fn floats<const N: usize>(reader: &mut BlobReader) -> Result<[f32; N], Error> {
    let mut out = [0.0; N];
    for slot in &mut out {
        *slot = reader.finite()?;
    }
    Ok(out)
}

fn index(reader: &mut BlobReader) -> Result<u16, Error> {
    let number = reader.u32()?;
    u16::try_from(number).map_err(|_| error!("it is damaged: {number} is no index"))
}

impl SpritePart {
    fn write(&self, writer: &mut BlobWriter) {
        writer.text(&self.name);
        writer.text(&self.texture);
        for pair in [self.position, self.scale, self.pivot, self.size] {
            write_floats(writer, &pair);
        }
        write_floats(writer, &[self.rotation]);
        let (mesh, skin) = self.mesh.unwrap_or((NO_MESH, NO_MESH));
        writer.u32(mesh);
        writer.u32(skin);
    }

    fn read(reader: &mut BlobReader) -> Result<SpritePart, Error> {
        let (name, texture) = (reader.text()?.to_string(), reader.text()?.to_string());
        let [px, py, sx, sy, x, y, width, height, rotation] = floats(reader)?;
        let (mesh, skin) = (reader.u32()?, reader.u32()?);
        Ok(SpritePart {
            name,
            texture,
            position: [px, py],
            rotation,
            scale: [sx, sy],
            pivot: [x, y],
            size: [width, height],
            mesh: (mesh != NO_MESH).then_some((mesh, skin)),
        })
    }
}

impl SpriteSkeletonData {
    /// Returns the index of a slot.
    pub fn slot(&self, name: &str) -> Option<usize> {
        self.slots.iter().position(|slot| slot.name == name)
    }

    /// Returns the number of animated values that are mixed when animations are blended. The part
    /// of each slot follows: a number that is chosen instead.
    pub fn mixed_values(&self) -> usize {
        self.slots.len() * SLOT_MIXED_VALUES
    }

    /// Returns the number of the first mixed value of a slot.
    pub fn first_value(&self, slot: usize) -> usize {
        slot * SLOT_MIXED_VALUES
    }

    /// Returns the number of the value that chooses the part of a slot.
    pub fn part_value(&self, slot: usize) -> usize {
        self.mixed_values() + slot
    }

    /// Returns the part that a slot shows with a skin. `part` is an index from 0.
    pub fn part(&self, slot: usize, part: usize, skin: Option<usize>) -> Option<&SpritePart> {
        let replaced = skin.and_then(|skin| {
            let parts = &self.skins.get(skin)?.parts;
            let key = (slot as u16, part as u16);
            let found = parts.binary_search_by_key(&key, |(slot, part, _)| (*slot, *part)).ok()?;
            Some(&parts[found].2)
        });
        replaced.or_else(|| self.slots.get(slot)?.parts.get(part))
    }

    /// Calls a function for all parts, those of the skins last.
    pub fn each_part<'a>(&'a self, mut each: impl FnMut(&'a SpritePart)) {
        self.slots.iter().flat_map(|slot| &slot.parts).for_each(&mut each);
        self.skins.iter().flat_map(|skin| &skin.parts).for_each(|(_, _, part)| each(part));
    }

    /// Returns the description of the slots and skins, as lines of text. `bones` are the names of
    /// the bones.
    pub fn describe(&self, bones: &[&str]) -> String {
        let mut text = format!("  bones: {}\n", bones.join(", "));
        for slot in &self.slots {
            let bone = bones.get(usize::from(slot.bone)).copied().unwrap_or_default();
            let names = slot.parts.iter().take(PARTS_SHOWN).map(|part| part.name.as_str());
            let names: Vec<&str> = names.collect();
            let more = if slot.parts.len() > names.len() { ", …" } else { "" };
            let meshes = slot.parts.iter().filter(|part| part.mesh.is_some()).count();
            let deformed = if meshes > 0 { format!(", {meshes} deformed") } else { String::new() };
            text += &format!(
                "  slot {} on {bone}: {} parts ({}{more}){deformed}\n",
                slot.name,
                slot.parts.len(),
                names.join(", ")
            );
        }
        for skin in &self.skins {
            text += &format!("  skin {}: {} parts\n", skin.name, skin.parts.len());
        }
        text
    }

    /// Appends the compiled form.
    pub(crate) fn write(&self, writer: &mut BlobWriter) {
        write_floats(writer, &[self.pixels_per_metre]);
        writer.u8(u8::from(self.upright));
        writer.list(&self.slots, |writer, slot| {
            writer.text(&slot.name);
            writer.u32(slot.bone.into());
            write_floats(writer, &slot.color);
            writer.u32(slot.part.into());
            writer.list(&slot.parts, |writer, part| part.write(writer));
        });
        writer.list(&self.skins, |writer, skin| {
            writer.text(&skin.name);
            writer.list(&skin.parts, |writer, (slot, part, replaced)| {
                writer.u32((*slot).into());
                writer.u32((*part).into());
                replaced.write(writer);
            });
        });
    }

    /// Reads the compiled form. [`SpriteSkeletonData::check`] checks it.
    pub(crate) fn read(reader: &mut BlobReader) -> Result<SpriteSkeletonData, Error> {
        let (pixels_per_metre, upright) = (reader.finite()?, reader.flag()?);
        let slots = reader.list_at_most((SKELETON_SLOTS_MAX, "SKELETON_SLOTS_MAX"), |reader| {
            let (name, bone) = (reader.text()?.to_string(), index(reader)?);
            let (color, part) = (floats(reader)?, index(reader)?);
            let most = (SKELETON_PARTS_MAX, "SKELETON_PARTS_MAX");
            let parts = reader.list_at_most(most, SpritePart::read)?;
            Ok(SpriteSlot { name, bone, color, part, parts })
        })?;
        let skins = reader.list_at_most((SKELETON_SKINS_MAX, "SKELETON_SKINS_MAX"), |reader| {
            let name = reader.text()?.to_string();
            let parts = reader
                .list_at_most((SKELETON_PARTS_MAX, "SKELETON_PARTS_MAX"), |reader| {
                    Ok((index(reader)?, index(reader)?, SpritePart::read(reader)?))
                })?;
            Ok(SpriteSkin { name, parts })
        })?;
        Ok(SpriteSkeletonData { pixels_per_metre, upright, slots, skins })
    }

    /// Checks that the data could come from a file.
    pub(crate) fn check(&self, model: &ModelData) -> Result<(), Error> {
        let damaged = |noun: &str| Err(error!("it is damaged: {noun}"));
        if self.pixels_per_metre.is_nan() || self.pixels_per_metre <= 0.0 {
            return damaged("its number of texels per metre is not valid");
        }
        let mut count = 0;
        self.each_part(|_| count += 1);
        if count > SKELETON_PARTS_MAX {
            return damaged("it has too many parts");
        }
        let mut names = HashSet::new();
        for slot in &self.slots {
            let mut parts = HashSet::new();
            let unique = names.insert(&slot.name)
                && slot.parts.iter().all(|part| parts.insert(part.name.as_str()));
            let inside = usize::from(slot.bone) < model.nodes.len()
                && usize::from(slot.part) <= slot.parts.len()
                && slot.color.iter().all(|part| (0.0..=1.0).contains(part));
            if !unique || !inside {
                return damaged(&format!("slot '{}' is not valid", slot.name));
            }
        }
        let mut skins = HashSet::new();
        for skin in &self.skins {
            let replaces = |(slot, part, _): &(u16, u16, SpritePart)| {
                let slot = self.slots.get(usize::from(*slot));
                slot.is_some_and(|slot| usize::from(*part) < slot.parts.len())
            };
            let sorted = skin.parts.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1));
            if !skins.insert(&skin.name) || !sorted || !skin.parts.iter().all(replaces) {
                return damaged(&format!("skin '{}' is not valid", skin.name));
            }
        }
        let mut wrong = None;
        self.each_part(|part| {
            let exists = part.mesh.is_none_or(|(mesh, skin)| {
                let skinned = model.meshes.get(mesh as usize).map(|mesh| !mesh.joints.is_empty());
                skinned == Some(true) && (skin as usize) < model.skins.len()
            });
            let sized = part.size.iter().all(|side| *side >= 0.0);
            if part.texture.is_empty() || !exists || !sized {
                wrong = Some(part.name.clone());
            }
        });
        wrong.map_or(Ok(()), |part| damaged(&format!("part '{part}' is not valid")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::primitives;
    use super::*;
    use std::sync::Arc;

    fn part(name: &str, texture: &str) -> SpritePart {
        SpritePart {
            name: name.to_string(),
            texture: texture.to_string(),
            position: [0.5, -0.25],
            rotation: 0.125,
            scale: [1.0, -1.0],
            pivot: [0.5, 0.0],
            size: [0.0, 0.0],
            mesh: None,
        }
    }

    fn model() -> ModelData {
        let mut model = primitives::model("core/models/cube").expect("the engine has it");
        let slot = SpriteSlot {
            name: "head".to_string(),
            bone: 0,
            color: [1.0, 0.5, 0.25, 1.0],
            part: 2,
            parts: vec![part("calm", "a"), part("angry", "b")],
        };
        let skin = SpriteSkin { name: "ice".to_string(), parts: vec![(0, 1, part("angry", "c"))] };
        let data = SpriteSkeletonData {
            pixels_per_metre: 100.0,
            upright: true,
            slots: vec![slot],
            skins: vec![skin],
        };
        model.sprite_skeleton = Some(Arc::new(data));
        model
    }

    #[test]
    fn a_sprite_skeleton_is_read_as_it_was_written() {
        let model = model();
        let bytes = model.write(&[]);
        assert_eq!(ModelData::read(&bytes).unwrap().sprite_skeleton, model.sprite_skeleton);
    }

    #[test]
    fn skins_replace_the_parts_that_they_name() {
        let model = model();
        let data = model.sprite_skeleton.as_ref().unwrap();
        let texture = |part: usize, skin: Option<usize>| {
            data.part(0, part, skin).map(|part| part.texture.as_str())
        };
        assert_eq!([texture(0, None), texture(1, None)], [Some("a"), Some("b")]);
        assert_eq!([texture(0, Some(0)), texture(1, Some(0))], [Some("a"), Some("c")]);
        assert_eq!([texture(2, Some(0)), texture(1, Some(9))], [None, Some("b")]);
    }

    #[test]
    fn sprite_skeletons_that_no_file_makes_are_refused() {
        let refused = |change: fn(&mut SpriteSkeletonData), wanted: &str| {
            let mut model = model();
            change(Arc::make_mut(model.sprite_skeleton.as_mut().unwrap()));
            let message = ModelData::read(&model.write(&[])).unwrap_err().message;
            assert!(message.contains(wanted), "{message} does not contain {wanted}");
        };
        refused(|data| data.pixels_per_metre = 0.0, "texels per metre is not valid");
        refused(|data| data.slots[0].bone = 7, "slot 'head' is not valid");
        refused(|data| data.slots[0].part = 3, "slot 'head' is not valid");
        refused(|data| data.slots[0].color[1] = 2.0, "slot 'head' is not valid");
        refused(|data| data.slots.push(data.slots[0].clone()), "slot 'head' is not valid");
        refused(|data| data.slots[0].parts[1].name = "calm".into(), "slot 'head' is not valid");
        refused(|data| data.skins[0].parts[0].1 = 2, "skin 'ice' is not valid");
        refused(|data| data.skins.push(data.skins[0].clone()), "skin 'ice' is not valid");
        refused(|data| data.slots[0].parts[0].texture.clear(), "part 'calm' is not valid");
        refused(|data| data.slots[0].parts[0].mesh = Some((0, 0)), "part 'calm' is not valid");
        refused(|data| data.slots[0].parts[0].size[0] = -1.0, "part 'calm' is not valid");
    }
}
