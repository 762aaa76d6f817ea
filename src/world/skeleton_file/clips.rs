//! The block `clips` of a `.skeleton` file: keys of bones and slots, and the settings that
//! `.animation` files have, too. The tags of sheets are clips of their own.

use super::bones::{self, Plane};
use super::curves::{ChannelKeys, CurveKey, KeyCurve, channel_keys, read_keys};
use super::errors::FileErrors;
use super::fields::{ANGLE_MAX, Block, COORDINATE_MAX, color_of, numbers, scale_of};
use super::sheets::{Sheets, TagFrames, frames_of};
use super::slots::find_part;
use super::{SkeletonClip, SkeletonSource};
use engine_animation::{AnimationFile, CLIP_SETTING_KEYS, read_clip_setting};
use engine_foundation::sjson::{ObjectEntry, SjsonValue};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_models::data::{
    AnimationChannel, AnimationData, ChannelTarget, KeyInterpolation, ModelData,
};
use engine_models::sprite_skeleton::{SKELETON_SLOTS_MAX, SLOT_ORDER_VALUE, SpriteSkeletonData};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Maximum number of clips of a file, with those of the tags of sheets.
pub const SKELETON_CLIPS_MAX: usize = 1024;
/// Maximum number of keys of all curves of a file, after Bézier curves and turns were divided.
pub const SKELETON_KEYS_MAX: usize = 1 << 20;
/// Largest turn of a piece of a rotation in degrees, so that quaternions turn the same way.
const TURN_MAX: f32 = 60.0;

const CLIP_KEYS: [&str; 2] = ["bones", "slots"];
const BONE_TRACKS: [&str; 3] = ["rotation", "position", "scale"];
const SLOT_TRACKS: [&str; 4] = ["part", "color", "order", "tag"];

/// Reads the clips of a file into its source.
///
/// # Errors
/// Returns an error that names the line if the block cannot be read at all. Those of single bones,
/// slots and settings are kept.
pub fn read(
    root: &Block,
    (plane, errors): (Plane, &FileErrors),
    sheets: &Sheets,
    source: &mut SkeletonSource,
) -> Result<(), Error> {
    let limit = (SKELETON_CLIPS_MAX, "SKELETON_CLIPS_MAX");
    let bones = bones::by_name(&source.model.nodes);
    let keys = Cell::new(0);
    for entry in root.named("clips", limit)? {
        let reader = ClipReader {
            path: root.path,
            bones: &bones,
            key_count: &keys,
            sprite_skeleton: sprite_skeleton_of(&source.model),
            plane,
            sheets,
            frame_slots: &source.frame_slots,
            failed_slots: &source.failed_slots,
            errors,
        };
        if errors.is_full() {
            break;
        }
        let clip = errors.keep(reader.clip(&entry));
        source.clips.extend(clip);
    }
    add_tags(root.path, sheets, source, &keys)?;
    match source.clips.len() > SKELETON_CLIPS_MAX {
        true => Err(error!(
            "{}: the skeleton has {} clips with the tags of its sheets: {SKELETON_CLIPS_MAX} is \
             the most (SKELETON_CLIPS_MAX)",
            root.path,
            source.clips.len()
        )),
        false => Ok(()),
    }
}

fn sprite_skeleton_of(model: &ModelData) -> &SpriteSkeletonData {
    model.sprite_skeleton.as_ref().expect("slots were read before clips")
}

/// Adds the tags of sheets: a clip for each, or keys of the clip of the same name.
fn add_tags(
    path: &str,
    sheets: &Sheets,
    source: &mut SkeletonSource,
    keys: &Cell<usize>,
) -> Result<(), Error> {
    for (name, sheet) in &source.frame_slots {
        let sprite_skeleton = sprite_skeleton_of(&source.model);
        let slot = sprite_skeleton.slot(name).expect("it was read");
        let value = sprite_skeleton.part_value(slot) as u32;
        let frames = sheets.get(sheet).expect("it was read");
        for tag in &frames.tags {
            let shown = frames_of(frames, tag);
            let shown = shown.map_err(|message| error!("{path}: the sheet '{sheet}' {message}"))?;
            let known = source.clips.iter_mut().find(|clip| clip.animation.name == tag.name);
            let clip = match known {
                Some(clip) => clip,
                None => {
                    if tag.name.is_empty() || tag.name.contains(['/', '#', '\0']) {
                        return Err(error!(
                            "{path}: the sheet '{sheet}' has the tag '{}', which cannot be the \
                             name of a clip: rename it without '/' and '#'",
                            tag.name
                        ));
                    }
                    let mut clip = SkeletonClip::new(&tag.name);
                    clip.file.settings.looping = Some(shown.loops);
                    source.clips.push(clip);
                    source.clips.last_mut().expect("it was added")
                }
            };
            clip.file.settings.looping.get_or_insert(shown.loops);
            let is_keyed =
                |it: &AnimationChannel| it.track == ChannelTarget::Slot && it.node == value;
            if !clip.animation.channels.iter().any(is_keyed) {
                count_keys(keys, shown.frames.len()).map_err(|message| {
                    error!("{path}: the tag '{}' of the sheet '{sheet}' {message}", tag.name)
                })?;
                clip.animation.channels.push(tag_channel(value, &shown));
            }
        }
    }
    Ok(())
}

/// Counts the keys of a curve with those before it. The error continues a sentence that begins
/// with the curve.
fn count_keys(sum: &Cell<usize>, count: usize) -> Result<(), String> {
    sum.set(sum.get() + count);
    match sum.get() > SKELETON_KEYS_MAX {
        true => Err(format!(
            "has a key too many: the curves of a skeleton have at most {SKELETON_KEYS_MAX} keys \
             after they were divided (SKELETON_KEYS_MAX): use fewer turns and Bézier curves"
        )),
        false => Ok(()),
    }
}

/// Returns the channel that shows the frames of a tag.
fn tag_channel(value: u32, shown: &TagFrames) -> AnimationChannel {
    let part = |frame: usize| frame as f32 + 1.0;
    let mut times: Vec<f32> = shown.frames.iter().map(|(time, _)| *time).collect();
    let mut values: Vec<f32> = shown.frames.iter().map(|(_, frame)| part(*frame)).collect();
    // The last frame stays until the end.
    if let Some(last) = values.last().copied() {
        times.push(shown.seconds);
        values.push(last);
    }
    let (track, between) = (ChannelTarget::Slot, KeyInterpolation::Step);
    AnimationChannel { node: value, track, between, times, values }
}

/// Reader of one clip.
struct ClipReader<'s, 'a> {
    path: &'a str,
    /// Indices of the bones by their names.
    bones: &'s BTreeMap<String, u16>,
    /// Number of the keys of the file so far.
    key_count: &'s Cell<usize>,
    sprite_skeleton: &'s SpriteSkeletonData,
    plane: Plane,
    sheets: &'s Sheets,
    frame_slots: &'s [(String, String)],
    failed_slots: &'s [String],
    errors: &'s FileErrors,
}

impl<'a> ClipReader<'_, 'a> {
    fn clip(&self, entry: &ObjectEntry<'a>) -> Result<SkeletonClip, Error> {
        let name = entry.key;
        let known: Vec<&str> = CLIP_KEYS.into_iter().chain(CLIP_SETTING_KEYS).collect();
        let block = Block::open(self.path, format!("clip '{name}'"), entry.value, &known)?;
        let mut clip = SkeletonClip::new(name);
        let before = self.errors.count();
        for setting in block.entries()?.iter().filter(|it| !CLIP_KEYS.contains(&it.key)) {
            self.errors.keep(read_clip_setting(self.path, &mut clip.file, setting));
        }
        let channels = &mut clip.animation.channels;
        for bone in block.named("bones", (engine_animation::BONES_MAX, "BONES_MAX"))? {
            if !self.errors.is_full() {
                self.errors.keep(self.bone(&block, &bone, channels));
            }
        }
        let slots = block.named("slots", (SKELETON_SLOTS_MAX, "SKELETON_SLOTS_MAX"))?;
        for slot in slots {
            let has_failed = self.failed_slots.iter().any(|failed| failed == slot.key);
            if !has_failed && !self.errors.is_full() {
                self.errors.keep(self.slot(&block, &slot, &mut clip));
            }
        }
        if self.errors.count() > before || !self.failed_slots.is_empty() {
            return Ok(clip);
        }
        let is_tag = self.frame_slots.iter().any(|(_, sheet)| {
            let tags = self.sheets.get(sheet).map_or(&[][..], |sheet| &sheet.tags);
            tags.iter().any(|tag| tag.name == name)
        });
        if clip.animation.channels.is_empty() && !is_tag {
            return Err(block.error_at(
                entry.value,
                "has no keys: add bones = { … } or slots = { … }, or name it as a tag",
            ));
        }
        Ok(clip)
    }

    fn bone(
        &self,
        clip: &Block<'a>,
        entry: &ObjectEntry<'a>,
        channels: &mut Vec<AnimationChannel>,
    ) -> Result<(), Error> {
        let name = entry.key;
        let bone = *self.bones.get(name).ok_or_else(|| {
            let near = hint(name, self.bones.keys().map(String::as_str));
            clip.error_at(
                entry.value,
                &format!("moves the bone '{name}', which does not exist{near}"),
            )
        })?;
        let subject = format!("bone '{name}' in {}", clip.subject);
        let block = Block::open(self.path, subject, entry.value, &BONE_TRACKS)?;
        let mut add =
            |track: ChannelTarget, between: KeyInterpolation, times: Vec<f32>, values: Vec<f32>| {
                channels.push(AnimationChannel {
                    node: u32::from(bone),
                    track,
                    between,
                    times,
                    values,
                });
            };
        let plane = self.plane;
        let degrees = |value: SjsonValue| match value.as_f32().filter(|it| it.abs() <= ANGLE_MAX) {
            Some(angle) => Ok([angle]),
            None => Err(format!("must be an angle from -{ANGLE_MAX} to {ANGLE_MAX} degrees")),
        };
        let turns =
            |from: &[f32; 1], to: &[f32; 1]| ((to[0] - from[0]).abs() / TURN_MAX).ceil() as usize;
        if let Some(keys) = self.keys(&block, "rotation", KeyCurve::Linear, degrees, turns)? {
            let values = keys.values.iter().flat_map(|[angle]| plane.rotation(*angle));
            add(ChannelTarget::Rotation, keys.between, keys.times, values.collect());
        }
        let pair = |value: SjsonValue| {
            let found = numbers::<2>(value, COORDINATE_MAX);
            found.ok_or_else(|| format!("must be two numbers of at most {COORDINATE_MAX} texels"))
        };
        if let Some(keys) = self.keys(&block, "position", KeyCurve::Linear, pair, |_, _| 1)? {
            let values = keys.values.iter().flat_map(|at| plane.position(*at));
            add(ChannelTarget::Position, keys.between, keys.times, values.collect());
        }
        let scale = |value: SjsonValue| {
            let found = scale_of(value);
            found.ok_or_else(|| format!("must be one or two numbers of at most {COORDINATE_MAX}"))
        };
        if let Some(keys) = self.keys(&block, "scale", KeyCurve::Linear, scale, |_, _| 1)? {
            let values = keys.values.iter().flat_map(|scale| plane.scale(*scale));
            add(ChannelTarget::Scale, keys.between, keys.times, values.collect());
        }
        Ok(())
    }

    /// Reads the keys of a curve as those of a channel. `None` if there are none.
    fn keys<const N: usize>(
        &self,
        block: &Block<'a>,
        key: &str,
        default: KeyCurve,
        read: impl Fn(SjsonValue) -> Result<[f32; N], String>,
        pieces: impl Fn(&[f32; N], &[f32; N]) -> usize,
    ) -> Result<Option<ChannelKeys<N>>, Error> {
        let keys: Vec<CurveKey<N>> = read_keys(block, key, default, read)?;
        if keys.is_empty() {
            return Ok(None);
        }
        let found = channel_keys(&keys, pieces).map_err(|fault| fault.message);
        let counted = found.and_then(|keys| {
            count_keys(self.key_count, keys.times.len())?;
            Ok(Some(keys))
        });
        counted.map_err(|message| {
            let value = block.value.get(key).unwrap_or(block.value);
            error!("{}:{}: '{key}' of {} {message}", self.path, value.line(), block.subject)
        })
    }

    fn slot(
        &self,
        clip: &Block<'a>,
        entry: &ObjectEntry<'a>,
        into: &mut SkeletonClip,
    ) -> Result<(), Error> {
        let name = entry.key;
        let slot = self.sprite_skeleton.slot(name).ok_or_else(|| {
            let near = hint(name, self.sprite_skeleton.slots.iter().map(|slot| slot.name.as_str()));
            clip.error_at(
                entry.value,
                &format!("changes the slot '{name}', which does not exist{near}"),
            )
        })?;
        let subject = format!("slot '{name}' in {}", clip.subject);
        let block = Block::open(self.path, subject, entry.value, &SLOT_TRACKS)?;
        let mut add = |value: usize, keys: ChannelKeys<1>| {
            into.animation.channels.push(AnimationChannel {
                node: value as u32,
                track: ChannelTarget::Slot,
                between: keys.between,
                times: keys.times,
                values: keys.values.into_iter().flatten().collect(),
            });
        };
        let part = |value: SjsonValue| {
            let name = value.as_str().ok_or("must be the name of a part in quotes, or \"\"")?;
            let found = find_part(&block, &self.sprite_skeleton.slots[slot], name);
            found.map(|index| [f32::from(index)]).map_err(|_| self.missing_part(slot, name))
        };
        if let Some(mut keys) = self.keys(&block, "part", KeyCurve::Step, part, |_, _| 1)? {
            // Parts cannot be mixed.
            keys.between = KeyInterpolation::Step;
            add(self.sprite_skeleton.part_value(slot), keys);
        }
        if let Some(keys) = self.keys(&block, "color", KeyCurve::Linear, color_of, |_, _| 1)? {
            for part in 0..4 {
                let values = keys.values.iter().map(|color| [color[part]]).collect();
                let (between, times) = (keys.between, keys.times.clone());
                add(
                    self.sprite_skeleton.first_value(slot) + part,
                    ChannelKeys { between, times, values },
                );
            }
        }
        let most = SKELETON_SLOTS_MAX as f32;
        let order = |value: SjsonValue| {
            let moved = value.as_f32().filter(|it| it.fract() == 0.0 && it.abs() <= most);
            let moved = moved.ok_or_else(|| format!("must be a whole number of at most {most}"))?;
            // Between the slots at rest, so that no two slots have the same position.
            let between = if moved == 0.0 { 0.0 } else { 0.5f32.copysign(moved) };
            Ok([slot as f32 + moved + between])
        };
        if let Some(keys) = self.keys(&block, "order", KeyCurve::Step, order, |_, _| 1)? {
            add(self.sprite_skeleton.first_value(slot) + SLOT_ORDER_VALUE, keys);
        }
        if let Some(tag) = block.text("tag")? {
            self.tag(&block, (slot, tag), into)?;
        }
        Ok(())
    }

    fn missing_part(&self, slot: usize, part: &str) -> String {
        let slot = &self.sprite_skeleton.slots[slot];
        let near = hint(part, slot.parts.iter().map(|known| known.name.as_str()));
        format!("is the part '{part}', which slot '{}' lacks{near}", slot.name)
    }

    /// Adds the frames of a tag of the slot's sheet.
    fn tag(
        &self,
        block: &Block<'a>,
        (slot, tag): (usize, &str),
        into: &mut SkeletonClip,
    ) -> Result<(), Error> {
        if block.value.get("part").is_some() {
            return Err(
                block.error_at(block.value, "has a tag and keys of parts: take one of them out")
            );
        }
        let name = &self.sprite_skeleton.slots[slot].name;
        let sheet = self.frame_slots.iter().find(|(slot, _)| slot == name);
        let sheet = sheet.and_then(|(_, sheet)| Some((sheet, self.sheets.get(sheet)?)));
        let (sheet, frames) = sheet.ok_or_else(|| {
            block.error_at(block.value, "has a tag, and the slot has no 'sheet' with tags")
        })?;
        let found = frames.tags.iter().find(|known| known.name == tag).ok_or_else(|| {
            let near = hint(tag, frames.tags.iter().map(|known| known.name.as_str()));
            block.error_at(
                block.value,
                &format!("has the tag '{tag}', which the sheet '{sheet}' lacks{near}"),
            )
        })?;
        let shown = frames_of(frames, found)
            .and_then(|shown| count_keys(self.key_count, shown.frames.len()).map(|()| shown));
        let shown = shown.map_err(|message| block.error_at(block.value, &message))?;
        into.file.settings.looping.get_or_insert(shown.loops);
        into.animation
            .channels
            .push(tag_channel(self.sprite_skeleton.part_value(slot) as u32, &shown));
        Ok(())
    }
}

impl SkeletonClip {
    fn new(name: &str) -> SkeletonClip {
        let animation = AnimationData { name: name.to_string(), channels: Vec::new() };
        SkeletonClip { animation, file: AnimationFile::default() }
    }
}
