//! The way of an object into the arrays: its batch where the Gui is immediate, a change where it is
//! retained. This runs tens of thousands of times a frame.

use super::{
    BATCHES_MAX, Gui, GuiId, Guis, INSTANCES_MAX, Mode, Object, Refused, Source, SourceNumber,
    number,
};
use crate::foundation::handle::Stale;
use crate::foundation::{Handle, Mat4};
use crate::packet::gui::{Batch, BatchKey, Change, Instance};
use std::hash::{BuildHasherDefault, Hasher};

/// What an object is: it is changed and destroyed as that alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Rect,
    Bitmap,
    Triangle,
    Text,
    /// Everything else: lines, circles, polygons, …
    Shape,
}

impl What {
    pub const fn name(self) -> &'static str {
        match self {
            What::Rect => "rect",
            What::Bitmap => "bitmap",
            What::Triangle => "triangle",
            What::Text => "text",
            What::Shape => "shape",
        }
    }
}

/// What decides on the batch, as far as scripts change it: one look tells that an object goes where
/// the one before it went.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Like {
    layer: i32,
    source: u32,
    clip: Option<[i32; 4]>,
}

/// An object on its way: where to, and as what.
#[derive(Clone, Copy)]
pub struct Thing<'a> {
    pub gui: GuiId,
    /// The object of a retained Gui that is changed, as scripts name it; 0: a new one.
    pub object: f64,
    pub what: What,
    pub layer: i32,
    /// Where its own plane is (`_3d` forms).
    pub pose: Option<&'a Mat4>,
}

/// A part of an object that has a source of its own.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    pub source: SourceNumber,
    pub instances: &'a [Instance],
}

/// The most parts of one object: pages of fonts in one text.
pub const PARTS_MAX: usize = 16;

/// Above the bits of a handle: which part of an object.
const PART_SHIFT: u32 = 48;

/// Mixes the few numbers of a key; made for speed, keys come from no enemy.
#[derive(Clone, Copy, Default)]
pub(super) struct KeyHasher(u64);

pub(super) type KeyHashes = BuildHasherDefault<KeyHasher>;

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }
    fn write_u64(&mut self, word: u64) {
        // The multiplier of FxHash: 2^64 divided by pi.
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }
    fn write_i32(&mut self, word: i32) {
        self.write_u64(word as u32 as u64);
    }
    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
    fn finish(&self) -> u64 {
        // The table takes its place from the highest bits and from the lowest.
        self.0 ^ self.0 >> 32
    }
}

impl Guis {
    /// Draws one quadrilateral, or makes or changes the object that it is: the object's number, 0
    /// in an immediate Gui. `make` gives it, of its source.
    ///
    /// # Errors
    /// The Gui is gone, the object is not one that it could be, or a limit is reached.
    #[inline(always)]
    pub fn put_one(
        &mut self,
        thing: Thing,
        source: SourceNumber,
        make: impl FnOnce(&Source) -> Instance,
    ) -> Result<f64, Refused> {
        let Some(gui) = self.guis.get_mut(thing.gui.0) else { return Err(Refused) };
        let Some(of) = self.sources.get(source.0 as usize) else {
            return self.refuse("the engine lost what it draws with: its number is unknown");
        };
        let mut instance = make(of);
        if let Some(transform) = gui.pen.transform() {
            for i in [0, 2, 4, 6] {
                let corner = [instance.corners[i], instance.corners[i + 1]];
                [instance.corners[i], instance.corners[i + 1]] = transform.apply(corner);
            }
        }
        let usual = thing.pose.is_none() && self.shadow.is_none();
        if usual && gui.making.mode == Mode::Retained && thing.object != 0.0 {
            return self.change_one(thing, source, instance);
        }
        if !(usual && gui.making.mode == Mode::Immediate && thing.object == 0.0) {
            return self.put_moved(thing, &mut [(source, vec![instance])]);
        }
        self.counters.objects += 1;
        let like = Like { layer: thing.layer, source: source.0, clip: gui.pen.clip() };
        if gui.last != Some(like)
            && let Err(words) = gui.find_batch(of, like)
        {
            return self.refuse(words);
        }
        let instances = &mut gui.batches[gui.last_batch].instances;
        if instances.len() >= INSTANCES_MAX {
            return self.refuse(too_many());
        }
        instances.push(instance);
        Ok(0.0)
    }

    /// The place where `count` more quadrilaterals of a key go, shown for this frame, whatever the
    /// Gui's mode. Its transforms and clips do not touch them.
    ///
    /// # Errors
    /// The Gui is gone, or a limit is reached.
    pub fn room(
        &mut self,
        gui: GuiId,
        key: BatchKey,
        count: usize,
    ) -> Result<&mut Vec<Instance>, String> {
        let Some(gui) = self.guis.get_mut(gui.0) else { return Err("the Gui is gone".into()) };
        let index = match gui.found.get(&key) {
            Some(found) => *found as usize,
            None => gui.add_batch(key)?,
        };
        let instances = &mut gui.batches[index].instances;
        if instances.len() + count > INSTANCES_MAX {
            return Err(too_many());
        }
        Ok(instances)
    }

    /// Changes an object that is one quadrilateral to another one.
    fn change_one(
        &mut self,
        thing: Thing,
        source: SourceNumber,
        instance: Instance,
    ) -> Result<f64, Refused> {
        let fits = Handle::from_number(thing.object).and_then(|handle| {
            let object = self.objects.get(handle)?;
            let same = object.gui == thing.gui.0 && object.what == thing.what;
            (same && object.transform == 0 && object.parts == 1).then_some(handle)
        });
        let Some(handle) = fits else {
            return self.put_moved(thing, &mut [(source, vec![instance])]);
        };
        let gui = self.guis.get_mut(thing.gui.0).expect("the caller found it");
        let first = gui.instances.len();
        if first >= INSTANCES_MAX {
            return self.refuse(too_many());
        }
        self.counters.objects += 1;
        let key = gui.key(&self.sources[source.0 as usize], thing.layer);
        gui.instances.push(instance);
        gui.changes.push(Change::Put {
            object: number(handle),
            key,
            source: source.0,
            first: first as u32,
            count: 1,
        });
        Ok(thing.object)
    }

    /// The same as [`Guis::put_one`] of an object of several quadrilaterals of one source.
    #[inline(always)]
    pub fn put_each(
        &mut self,
        thing: Thing,
        source: SourceNumber,
        each: impl ExactSizeIterator<Item = Instance>,
    ) -> Result<f64, Refused> {
        let Some(gui) = self.guis.get_mut(thing.gui.0) else { return Err(Refused) };
        let plain = gui.making.mode == Mode::Immediate
            && thing.object == 0.0
            && thing.pose.is_none()
            && self.shadow.is_none();
        if !plain {
            let instances: Vec<Instance> = each.collect();
            return self.put(thing, &[Part { source, instances: &instances }]);
        }
        self.counters.objects += 1;
        let like = Like { layer: thing.layer, source: source.0, clip: gui.pen.clip() };
        if gui.last != Some(like)
            && let Err(words) = gui.find_batch(&self.sources[source.0 as usize], like)
        {
            return self.refuse(words);
        }
        let instances = &mut gui.batches[gui.last_batch].instances;
        if instances.len() + each.len() > INSTANCES_MAX {
            return self.refuse(too_many());
        }
        let first = instances.len();
        instances.extend(each);
        if let Some(moved) = gui.pen.transform().copied() {
            move_all(&moved, &mut gui.batches[gui.last_batch].instances[first..]);
        }
        Ok(0.0)
    }

    /// The same of an object of several quadrilaterals, in parts with a source each.
    pub fn put(&mut self, thing: Thing, parts: &[Part]) -> Result<f64, Refused> {
        let Some(gui) = self.guis.get_mut(thing.gui.0) else { return Err(Refused) };
        let moved = gui.pen.transform().copied();
        let plain = gui.making.mode == Mode::Immediate
            && thing.object == 0.0
            && thing.pose.is_none()
            && self.shadow.is_none();
        if !plain {
            let mut own = Vec::with_capacity(parts.len());
            for part in parts {
                let mut instances = part.instances.to_vec();
                moved.iter().for_each(|moved| move_all(moved, &mut instances));
                own.push((part.source, instances));
            }
            return self.put_moved(thing, &mut own);
        }
        self.counters.objects += 1;
        for part in parts {
            let like = Like { layer: thing.layer, source: part.source.0, clip: gui.pen.clip() };
            let of = &self.sources[part.source.0 as usize];
            if gui.last != Some(like)
                && let Err(words) = gui.find_batch(of, like)
            {
                return self.refuse(words);
            }
            let instances = &mut gui.batches[gui.last_batch].instances;
            if instances.len() + part.instances.len() > INSTANCES_MAX {
                return self.refuse(too_many());
            }
            let first = instances.len();
            instances.extend_from_slice(part.instances);
            moved.iter().for_each(|moved| move_all(moved, &mut instances[first..]));
        }
        Ok(0.0)
    }

    /// What is not the quickest case: retained objects, planes of their own, a shadow copy.
    fn put_moved(
        &mut self,
        thing: Thing,
        parts: &mut [(SourceNumber, Vec<Instance>)],
    ) -> Result<f64, Refused> {
        self.counters.objects += 1;
        let gui = self.guis.get_mut(thing.gui.0).expect("the caller found it");
        if gui.making.mode == Mode::Immediate {
            if thing.object != 0.0 {
                return self.refuse(
                    "this Gui is immediate: it keeps no objects, draw them in each frame instead",
                );
            }
            return self.put_immediate(thing, parts);
        }
        self.put_retained(thing, parts)
    }

    fn put_immediate(
        &mut self,
        thing: Thing,
        parts: &mut [(SourceNumber, Vec<Instance>)],
    ) -> Result<f64, Refused> {
        let gui = self.guis.get_mut(thing.gui.0).expect("the caller found it");
        if let Some(pose) = thing.pose {
            if gui.transforms.len() + 1 >= Instance::TRANSFORMS_MAX as usize {
                return self.refuse(too_many_transforms());
            }
            gui.transforms.push(*pose);
            let transform = gui.transforms.len() as u32;
            set_transform(parts, transform);
        }
        for (source, instances) in parts.iter() {
            let like = Like { layer: thing.layer, source: source.0, clip: gui.pen.clip() };
            let found = gui.find_batch(&self.sources[source.0 as usize], like);
            let found = found.and_then(|()| {
                let batch = &mut gui.batches[gui.last_batch].instances;
                if batch.len() + instances.len() > INSTANCES_MAX {
                    return Err(too_many());
                }
                batch.extend_from_slice(instances);
                Ok(())
            });
            if let Err(words) = found {
                return self.refuse(words);
            }
        }
        if let Some(shadow) = &mut self.shadow {
            gui.seen.push(shadow.see(&thing, &self.sources, parts));
        }
        Ok(0.0)
    }

    fn put_retained(
        &mut self,
        thing: Thing,
        parts: &mut [(SourceNumber, Vec<Instance>)],
    ) -> Result<f64, Refused> {
        let before = match thing.object {
            0.0 => None,
            object => Some(self.object(thing, object)?),
        };
        let gui = self.guis.get_mut(thing.gui.0).expect("the caller found it");
        let count: usize = parts.iter().map(|(_, instances)| instances.len()).sum();
        if gui.instances.len() + count > INSTANCES_MAX || parts.len() > PARTS_MAX {
            return self.refuse(too_many());
        }
        let kept = before.map_or(0, |(_, object)| object.transform);
        let transform = match thing.pose {
            None => {
                gui.transforms_free.extend((kept > 0).then_some(kept));
                0
            }
            Some(_) if kept > 0 => kept,
            Some(pose) => match gui.transforms_free.pop() {
                Some(free) => free,
                None if gui.transforms.len() + 1 >= Instance::TRANSFORMS_MAX as usize => {
                    return self.refuse(too_many_transforms());
                }
                None => {
                    gui.transforms.push(*pose);
                    gui.transforms.len() as u16
                }
            },
        };
        if let Some(pose) = thing.pose {
            gui.transforms[usize::from(transform) - 1] = *pose;
            gui.transforms_changed = true;
            set_transform(parts, transform.into());
        }
        let object =
            Object { gui: thing.gui.0, what: thing.what, transform, parts: parts.len() as u8 };
        let handle = match before {
            Some((handle, _)) => {
                *self.objects.get_mut(handle).expect("it was found above") = object;
                handle
            }
            None => match self.objects.add(object) {
                Some(handle) => handle,
                None => {
                    return self.refuse(format!(
                        "the Guis have {} objects already (OBJECTS_MAX): destroy some first",
                        super::OBJECTS_MAX
                    ));
                }
            },
        };
        gui.change(
            number(handle),
            before.map_or(0, |(_, object)| object.parts),
            parts,
            |source| &self.sources[source.0 as usize],
            thing.layer,
        );
        if let Some(shadow) = &mut self.shadow {
            let seen = shadow.see(&thing, &self.sources, parts);
            shadow.keep(number(thing.gui.0), number(handle), seen);
        }
        Ok(handle.to_number())
    }

    /// The object that a script's number names, where it fits what is to be done with it.
    fn object(&mut self, thing: Thing, object: f64) -> Result<(Handle, Object), Refused> {
        let handle = Handle::from_number(object);
        let found = handle.and_then(|handle| Some((handle, *self.objects.get(handle)?)));
        let Some((handle, found)) = found else {
            let stale = handle.map_or(Stale::Never, |handle| self.objects.stale(handle));
            return self.refuse(match stale {
                Stale::Gone { frame, place, .. } => {
                    let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
                    format!("this object of a Gui was destroyed in frame {frame}{at}")
                }
                Stale::Reused => "this object of a Gui was destroyed long ago".to_string(),
                Stale::Never => {
                    // What scripts' calls pass on for numbers that no object can have.
                    let number = match (0.0..1e18).contains(&object) {
                        true => object.to_string(),
                        false => "this".to_string(),
                    };
                    format!("{number} is no object of a Gui: retained Guis return their numbers")
                }
            });
        };
        if found.gui != thing.gui.0 {
            return self.refuse("this object belongs to another Gui");
        }
        if found.what != thing.what {
            let (is, asked) = (found.what.name(), thing.what.name());
            return self.refuse(format!("this object is a {is} and no {asked}"));
        }
        Ok((handle, found))
    }

    /// Ends an object of a retained Gui; `frame` and `place` are for the words of stale numbers.
    pub fn destroy_object(
        &mut self,
        gui: GuiId,
        what: What,
        object: f64,
        (frame, place): (u64, &str),
    ) -> Result<(), Refused> {
        if self.gui(gui).making.mode == Mode::Immediate {
            return self.refuse("this Gui is immediate: what it shows ends with the frame");
        }
        let thing = Thing { gui, object, what, layer: 0, pose: None };
        let (handle, found) = self.object(thing, object)?;
        self.objects.remove(handle, what.name(), frame, place);
        let one = self.gui(gui);
        if found.transform > 0 {
            one.transforms_free.push(found.transform);
        }
        for part in 0..found.parts {
            let object = number(handle) | u64::from(part) << PART_SHIFT;
            one.changes.push(Change::End { object });
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.end(number(handle));
        }
        Ok(())
    }
}

#[cold]
fn too_many() -> String {
    format!("more than {INSTANCES_MAX} quadrilaterals are drawn at once (INSTANCES_MAX)")
}

#[cold]
fn too_many_transforms() -> String {
    format!(
        "a Gui has {} objects with a pose of their own already: use another Gui for more",
        Instance::TRANSFORMS_MAX - 1
    )
}

fn move_all(moved: &super::Affine, instances: &mut [Instance]) {
    for corners in instances.iter_mut().map(|instance| &mut instance.corners) {
        for i in [0, 2, 4, 6] {
            [corners[i], corners[i + 1]] = moved.apply([corners[i], corners[i + 1]]);
        }
    }
}

fn set_transform(parts: &mut [(SourceNumber, Vec<Instance>)], transform: u32) {
    for instance in parts.iter_mut().flat_map(|(_, instances)| instances) {
        instance.paint = instance.paint & 0xffff | transform << 16;
    }
}

impl Gui {
    fn key(&self, of: &Source, layer: i32) -> BatchKey {
        BatchKey { layer, material: of.material, texture: of.texture, clip: self.pen.clip() }
    }

    /// Makes `last_batch` the batch of an object, a new one where there is none.
    #[inline(never)]
    fn find_batch(&mut self, of: &Source, like: Like) -> Result<(), String> {
        let key = self.key(of, like.layer);
        if self.batches.get(self.last_batch).is_none_or(|batch| batch.key != key) {
            self.last_batch = match self.found.get(&key) {
                Some(found) => *found as usize,
                None => self.add_batch(key)?,
            };
        }
        self.last = Some(like);
        Ok(())
    }

    fn add_batch(&mut self, key: BatchKey) -> Result<usize, String> {
        if self.batches.len() >= BATCHES_MAX {
            return Err(format!(
                "a Gui has {BATCHES_MAX} batches in this frame already (BATCHES_MAX): use fewer \
                 layers, clips and large textures"
            ));
        }
        let instances = self.spare.remove(&key).unwrap_or_default();
        self.batches.push(Batch { key, instances });
        self.found.insert(key, self.batches.len() as u32 - 1);
        Ok(self.batches.len() - 1)
    }

    /// Has an object be its parts from now on.
    fn change<'a>(
        &mut self,
        object: u64,
        parts_before: u8,
        parts: &[(SourceNumber, Vec<Instance>)],
        source: impl Fn(SourceNumber) -> &'a Source,
        layer: i32,
    ) {
        for (i, (of, instances)) in parts.iter().enumerate() {
            let key = self.key(source(*of), layer);
            let (first, count) = (self.instances.len() as u32, instances.len() as u32);
            self.instances.extend_from_slice(instances);
            let object = object | (i as u64) << PART_SHIFT;
            self.changes.push(Change::Put { object, key, source: of.0, first, count });
        }
        for i in parts.len() as u64..u64::from(parts_before) {
            self.changes.push(Change::End { object: object | i << PART_SHIFT });
        }
    }

    /// Forgets what was drawn in this frame, and keeps the room.
    pub(super) fn forget_batches(&mut self) {
        for mut batch in self.batches.drain(..) {
            batch.instances.clear();
            self.spare.insert(batch.key, batch.instances);
        }
        self.found.clear();
        self.last = None;
        self.last_batch = 0;
    }
}
