//! Submission of objects into the packet's arrays: a batch for immediate Guis, a change for
//! retained ones. This code runs tens of thousands of times a frame.

use super::{
    BATCHES_MAX, DrawRefused, Gui, GuiId, GuiMode, Guis, INSTANCES_MAX, RetainedObject,
    SourceNumber, TextureSource, number,
};
use engine_foundation::handle::StaleHandle;
use engine_foundation::{Handle, Mat4};
use engine_frame_packet::gui::{GuiBatchKey, MaskUse, ObjectChange, QuadBatch, QuadInstance};
use engine_frame_packet::material::BlendMode;

/// Type of a primitive. An object can be changed and destroyed only as its own type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrimitiveKind {
    Rect,
    Bitmap,
    Triangle,
    Text,
    /// All other shapes: lines, circles, polygons, …
    Shape,
}

impl PrimitiveKind {
    pub const fn name(self) -> &'static str {
        match self {
            PrimitiveKind::Rect => "rect",
            PrimitiveKind::Bitmap => "bitmap",
            PrimitiveKind::Triangle => "triangle",
            PrimitiveKind::Text => "text",
            PrimitiveKind::Shape => "shape",
        }
    }
}

/// Properties that select the batch and that scripts can change. One comparison shows that an
/// object uses the same batch as the previous object.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct BatchHint {
    layer: i32,
    source: u32,
    clip: Option<[i32; 4]>,
    blend: Option<BlendMode>,
    mask: MaskUse,
}

/// Request to draw an object: its Gui, type, layer and pose.
#[derive(Clone, Copy)]
pub struct DrawRequest<'a> {
    pub gui: GuiId,
    /// Script number of the retained object to change; 0 creates a new object.
    pub object: f64,
    pub primitive: PrimitiveKind,
    pub layer: i32,
    /// Pose of the object's plane (`_3d` forms).
    pub pose: Option<&'a Mat4>,
    /// Blend mode of the object; `None` for that of the Gui, or of the material.
    pub blend: Option<BlendMode>,
}

/// Part of an object with a separate source.
#[derive(Clone, Copy)]
pub struct SourcePart<'a> {
    pub source: SourceNumber,
    pub instances: &'a [QuadInstance],
}

/// Maximum number of parts of one object: font pages in one text.
pub const PARTS_MAX: usize = 16;

/// Bit position of the part's index, above the bits of a handle.
const PART_SHIFT: u32 = 48;

impl Guis {
    /// Draws one quad, or creates or changes a retained object of one quad. Returns the object's
    /// number, 0 in an immediate Gui. `make` builds the quad from its source.
    ///
    /// # Errors
    /// Returns an error if the Gui does not exist, the object does not match the request, or a
    /// limit is reached.
    #[inline(always)]
    pub fn submit_quad(
        &mut self,
        request: DrawRequest,
        source: SourceNumber,
        make: impl FnOnce(&TextureSource) -> QuadInstance,
    ) -> Result<f64, DrawRefused> {
        let Some(gui) = self.guis.get_mut(request.gui.0) else { return Err(DrawRefused) };
        let Some(of) = self.sources.get(source.0 as usize) else {
            return self.refuse("the engine lost what it draws with: its number is unknown");
        };
        let mut instance = make(of);
        if let Some(transform) = gui.transform_stack.transform() {
            move_all(transform, std::slice::from_mut(&mut instance));
        }
        let usual = request.pose.is_none() && self.shadow.is_none();
        if usual && gui.desc.mode == GuiMode::Retained && request.object != 0.0 {
            return self.change_one(request, source, instance);
        }
        if !(usual && gui.draws_at_once(&request)) {
            return self.submit_general(request, &mut [(source, vec![instance])]);
        }
        self.counters.objects += 1;
        match gui.batch_for(of, (&request, source), 1) {
            Ok(instances) => instances.push(instance),
            Err(message) => return self.refuse(message),
        }
        Ok(0.0)
    }

    /// Returns the array that `count` more quads of a key are appended to. They are shown for this
    /// frame in any mode of the Gui, and ignore its transforms and clips.
    ///
    /// # Errors
    /// Returns an error if the Gui does not exist or a limit is reached.
    pub fn reserve_quads(
        &mut self,
        gui: GuiId,
        key: GuiBatchKey,
        count: usize,
    ) -> Result<&mut Vec<QuadInstance>, String> {
        let Some(gui) = self.guis.get_mut(gui.0) else { return Err("the Gui is gone".into()) };
        let index = gui.batch_index(key)?;
        gui.batch_with_room(index, count)
    }

    /// Makes the next quads of a source on a layer of an immediate Gui a new batch, which is drawn
    /// after all batches of the layer so far.
    pub fn begin_batch(&mut self, gui: GuiId, layer: i32, source: SourceNumber) {
        let source = self.sources.get(source.0 as usize);
        let (Some(gui), Some(source)) = (self.guis.get_mut(gui.0), source) else { return };
        let key = gui.key(source, layer, None);
        gui.batch_indices.remove(&key);
        (gui.last, gui.last_batch) = (None, usize::MAX);
    }

    /// Replaces the quad of a retained object that consists of one quad.
    fn change_one(
        &mut self,
        request: DrawRequest,
        source: SourceNumber,
        instance: QuadInstance,
    ) -> Result<f64, DrawRefused> {
        let fits = Handle::from_number(request.object).and_then(|handle| {
            let object = self.objects.get(handle)?;
            let same = object.gui == request.gui.0 && object.kind == request.primitive;
            (same && object.transform == 0 && object.parts == 1).then_some(handle)
        });
        let Some(handle) = fits else {
            return self.submit_general(request, &mut [(source, vec![instance])]);
        };
        let gui = self.guis.get_mut(request.gui.0).expect("the caller found it");
        let first = gui.instances.len();
        if first >= INSTANCES_MAX {
            return self.refuse(too_many_quads());
        }
        self.counters.objects += 1;
        let key = gui.key(&self.sources[source.0 as usize], request.layer, request.blend);
        gui.instances.push(instance);
        gui.changes.push(ObjectChange::Set {
            object: number(handle),
            key,
            source: source.0,
            first: first as u32,
            count: 1,
        });
        Ok(request.object)
    }

    /// Draws an object of several quads with one source, as [`Guis::submit_quad`] does for one.
    #[inline(always)]
    pub fn submit_quads(
        &mut self,
        request: DrawRequest,
        source: SourceNumber,
        each: impl ExactSizeIterator<Item = QuadInstance>,
    ) -> Result<f64, DrawRefused> {
        let Some(gui) = self.guis.get_mut(request.gui.0) else { return Err(DrawRefused) };
        if !(gui.draws_at_once(&request) && self.shadow.is_none()) {
            let instances: Vec<QuadInstance> = each.collect();
            return self.submit_parts(request, &[SourcePart { source, instances: &instances }]);
        }
        self.counters.objects += 1;
        let moved = gui.transform_stack.transform().copied();
        let of = &self.sources[source.0 as usize];
        match gui.batch_for(of, (&request, source), each.len()) {
            Ok(instances) => append_moved(instances, moved.as_ref(), each),
            Err(message) => return self.refuse(message),
        }
        Ok(0.0)
    }

    /// Draws an object of several parts, each with its own source, as [`Guis::submit_quad`] does
    /// for one quad.
    pub fn submit_parts(
        &mut self,
        request: DrawRequest,
        parts: &[SourcePart],
    ) -> Result<f64, DrawRefused> {
        let Some(gui) = self.guis.get_mut(request.gui.0) else { return Err(DrawRefused) };
        let moved = gui.transform_stack.transform().copied();
        if !(gui.draws_at_once(&request) && self.shadow.is_none()) {
            let mut own = Vec::with_capacity(parts.len());
            for part in parts {
                let mut instances = part.instances.to_vec();
                moved.iter().for_each(|moved| move_all(moved, &mut instances));
                own.push((part.source, instances));
            }
            return self.submit_general(request, &mut own);
        }
        self.counters.objects += 1;
        for part in parts {
            let of = &self.sources[part.source.0 as usize];
            match gui.batch_for(of, (&request, part.source), part.instances.len()) {
                Ok(instances) => {
                    append_moved(instances, moved.as_ref(), part.instances.iter().copied());
                }
                Err(message) => return self.refuse(message),
            }
        }
        Ok(0.0)
    }

    /// Handles the slower cases: retained objects, objects with a pose, and shadow copies.
    fn submit_general(
        &mut self,
        request: DrawRequest,
        parts: &mut [(SourceNumber, Vec<QuadInstance>)],
    ) -> Result<f64, DrawRefused> {
        self.counters.objects += 1;
        let gui = self.guis.get_mut(request.gui.0).expect("the caller found it");
        if gui.desc.mode == GuiMode::Immediate {
            if request.object != 0.0 {
                return self.refuse(
                    "this Gui is immediate: it keeps no objects, draw them in each frame instead",
                );
            }
            return self.submit_immediate(request, parts);
        }
        self.submit_retained(request, parts)
    }

    fn submit_immediate(
        &mut self,
        request: DrawRequest,
        parts: &mut [(SourceNumber, Vec<QuadInstance>)],
    ) -> Result<f64, DrawRefused> {
        let gui = self.guis.get_mut(request.gui.0).expect("the caller found it");
        if let Some(pose) = request.pose {
            if gui.transforms.len() + 1 >= QuadInstance::TRANSFORMS_MAX as usize {
                return self.refuse(too_many_transforms());
            }
            gui.transforms.push(*pose);
            let transform = gui.transforms.len() as u32;
            set_transform(parts, transform);
        }
        for (source, instances) in parts.iter() {
            let of = &self.sources[source.0 as usize];
            match gui.batch_for(of, (&request, *source), instances.len()) {
                Ok(batch) => batch.extend_from_slice(instances),
                Err(message) => return self.refuse(message),
            }
        }
        if let Some(shadow) = &mut self.shadow {
            gui.drawn.push(shadow.describe(&request, &self.sources, parts));
        }
        Ok(0.0)
    }

    fn submit_retained(
        &mut self,
        request: DrawRequest,
        parts: &mut [(SourceNumber, Vec<QuadInstance>)],
    ) -> Result<f64, DrawRefused> {
        let previous = match request.object {
            0.0 => None,
            object => Some(self.object(request, object)?),
        };
        let gui = self.guis.get_mut(request.gui.0).expect("the caller found it");
        let count: usize = parts.iter().map(|(_, instances)| instances.len()).sum();
        if gui.instances.len() + count > INSTANCES_MAX || parts.len() > PARTS_MAX {
            return self.refuse(too_many_quads());
        }
        let previous_slot = previous.map_or(0, |(_, object)| object.transform);
        let transform = match request.pose {
            None => {
                gui.transforms_free.extend((previous_slot > 0).then_some(previous_slot));
                0
            }
            Some(_) if previous_slot > 0 => previous_slot,
            Some(pose) => match gui.transforms_free.pop() {
                Some(free) => free,
                None if gui.transforms.len() + 1 >= QuadInstance::TRANSFORMS_MAX as usize => {
                    return self.refuse(too_many_transforms());
                }
                None => {
                    gui.transforms.push(*pose);
                    gui.transforms.len() as u16
                }
            },
        };
        if let Some(pose) = request.pose {
            gui.transforms[usize::from(transform) - 1] = *pose;
            gui.transforms_changed = true;
            set_transform(parts, transform.into());
        }
        let object = RetainedObject {
            gui: request.gui.0,
            kind: request.primitive,
            transform,
            parts: parts.len() as u8,
        };
        let handle = match previous {
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
            previous.map_or(0, |(_, object)| object.parts),
            parts,
            |source| &self.sources[source.0 as usize],
            &request,
        );
        if let Some(shadow) = &mut self.shadow {
            let drawn_object = shadow.describe(&request, &self.sources, parts);
            shadow.record(number(request.gui.0), number(handle), drawn_object);
        }
        Ok(handle.to_number())
    }

    /// Returns the object with a script's number if it matches the request.
    fn object(
        &mut self,
        request: DrawRequest,
        object: f64,
    ) -> Result<(Handle, RetainedObject), DrawRefused> {
        let handle = Handle::from_number(object);
        let found = handle.and_then(|handle| Some((handle, *self.objects.get(handle)?)));
        let Some((handle, found)) = found else {
            let stale = handle.map_or(StaleHandle::Never, |handle| self.objects.stale(handle));
            return self.refuse(match stale {
                StaleHandle::Destroyed { frame, location, .. } => {
                    let at =
                        if location.is_empty() { String::new() } else { format!(" at {location}") };
                    format!("this object of a Gui was destroyed in frame {frame}{at}")
                }
                StaleHandle::LongAgo => "this object of a Gui was destroyed long ago".to_string(),
                StaleHandle::Never => {
                    // Scripts can pass numbers that no object can have.
                    let number = match (0.0..1e18).contains(&object) {
                        true => object.to_string(),
                        false => "this".to_string(),
                    };
                    format!(
                        "{number} is not an object of a Gui: retained Guis return their numbers"
                    )
                }
            });
        };
        if found.gui != request.gui.0 {
            return self.refuse("this object belongs to another Gui");
        }
        if found.kind != request.primitive {
            let (is, requested) = (found.kind.name(), request.primitive.name());
            return self.refuse(format!("this object is a {is}, not a {requested}"));
        }
        Ok((handle, found))
    }

    /// Destroys an object of a retained Gui. Errors about stale numbers mention `frame` and
    /// `location`.
    pub fn destroy_object(
        &mut self,
        gui: GuiId,
        primitive: PrimitiveKind,
        object: f64,
        (frame, location): (u64, &str),
    ) -> Result<(), DrawRefused> {
        if self.gui(gui).desc.mode == GuiMode::Immediate {
            return self.refuse("this Gui is immediate: what it shows ends with the frame");
        }
        let request = DrawRequest { gui, object, primitive, layer: 0, pose: None, blend: None };
        let (handle, found) = self.object(request, object)?;
        self.objects.remove(handle, primitive.name(), frame, location);
        let one = self.gui(gui);
        if found.transform > 0 {
            one.transforms_free.push(found.transform);
        }
        for part in 0..found.parts {
            let object = number(handle) | u64::from(part) << PART_SHIFT;
            one.changes.push(ObjectChange::End { object });
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.end(number(handle));
        }
        Ok(())
    }
}

#[cold]
fn too_many_quads() -> String {
    format!("more than {INSTANCES_MAX} quadrilaterals are drawn at once (INSTANCES_MAX)")
}

#[cold]
fn too_many_transforms() -> String {
    format!(
        "a Gui already has {} objects with their own pose: use another Gui for more",
        QuadInstance::TRANSFORMS_MAX - 1
    )
}

#[inline]
fn move_all(moved: &super::Affine2, instances: &mut [QuadInstance]) {
    for instance in instances {
        let corners = &mut instance.corners;
        for i in [0, 2, 4] {
            [corners[i], corners[i + 1]] = moved.apply([corners[i], corners[i + 1]]);
        }
        // A triangle of a mesh has colors there.
        if instance.paint & QuadInstance::MESH == 0 {
            [corners[6], corners[7]] = moved.apply([corners[6], corners[7]]);
        }
    }
}

/// Appends quads to a batch, and moves them by the Gui's transform.
#[inline(always)]
fn append_moved(
    batch: &mut Vec<QuadInstance>,
    moved: Option<&super::Affine2>,
    quads: impl Iterator<Item = QuadInstance>,
) {
    let first = batch.len();
    batch.extend(quads);
    moved.iter().for_each(|moved| move_all(moved, &mut batch[first..]));
}

fn set_transform(parts: &mut [(SourceNumber, Vec<QuadInstance>)], transform: u32) {
    for instance in parts.iter_mut().flat_map(|(_, instances)| instances) {
        instance.paint = instance.paint & 0xffff | transform << 16;
    }
}

impl Gui {
    fn key(&self, of: &TextureSource, layer: i32, blend: Option<BlendMode>) -> GuiBatchKey {
        let stack = &self.transform_stack;
        GuiBatchKey {
            layer,
            material: of.material,
            texture: of.texture,
            clip: stack.clip(),
            blend: blend.or(stack.blend()),
            mask: stack.mask(),
        }
    }

    /// Returns true if an object only has to be appended to its batch.
    #[inline(always)]
    fn draws_at_once(&self, request: &DrawRequest) -> bool {
        self.desc.mode == GuiMode::Immediate && request.object == 0.0 && request.pose.is_none()
    }

    /// Returns the array of the batch for an object on a layer, with room for `count` more quads.
    #[inline(always)]
    fn batch_for(
        &mut self,
        of: &TextureSource,
        (request, source): (&DrawRequest, SourceNumber),
        count: usize,
    ) -> Result<&mut Vec<QuadInstance>, String> {
        let stack = &self.transform_stack;
        let like = BatchHint {
            layer: request.layer,
            source: source.0,
            clip: stack.clip(),
            blend: request.blend.or(stack.blend()),
            mask: stack.mask(),
        };
        if self.last != Some(like) {
            self.find_batch(of, like)?;
        }
        self.batch_with_room(self.last_batch, count)
    }

    #[inline(always)]
    fn batch_with_room(
        &mut self,
        index: usize,
        count: usize,
    ) -> Result<&mut Vec<QuadInstance>, String> {
        let instances = &mut self.batches[index].instances;
        match instances.len() + count > INSTANCES_MAX {
            true => Err(too_many_quads()),
            false => Ok(instances),
        }
    }

    /// Sets `last_batch` to the batch of an object, and creates the batch if it does not exist.
    #[inline(never)]
    fn find_batch(&mut self, of: &TextureSource, like: BatchHint) -> Result<(), String> {
        let key = self.key(of, like.layer, like.blend);
        if self.batches.get(self.last_batch).is_none_or(|batch| batch.key != key) {
            self.last_batch = self.batch_index(key)?;
        }
        self.last = Some(like);
        Ok(())
    }

    fn batch_index(&mut self, key: GuiBatchKey) -> Result<usize, String> {
        match self.batch_indices.get(&key) {
            Some(found) => Ok(*found as usize),
            None => self.add_batch(key),
        }
    }

    fn add_batch(&mut self, key: GuiBatchKey) -> Result<usize, String> {
        if self.batches.len() >= BATCHES_MAX {
            return Err(format!(
                "a Gui has {BATCHES_MAX} batches in this frame already (BATCHES_MAX): use fewer \
                 layers, clips and large textures"
            ));
        }
        let instances = self.spare.remove(&key).unwrap_or_default();
        self.batches.push(QuadBatch { key, instances });
        self.batch_indices.insert(key, self.batches.len() as u32 - 1);
        Ok(self.batches.len() - 1)
    }

    /// Records the changed parts of a retained object, and the end of parts that it no longer has.
    fn change<'a>(
        &mut self,
        object: u64,
        parts_before: u8,
        parts: &[(SourceNumber, Vec<QuadInstance>)],
        source: impl Fn(SourceNumber) -> &'a TextureSource,
        request: &DrawRequest,
    ) {
        for (i, (of, instances)) in parts.iter().enumerate() {
            let key = self.key(source(*of), request.layer, request.blend);
            let (first, count) = (self.instances.len() as u32, instances.len() as u32);
            self.instances.extend_from_slice(instances);
            let object = object | (i as u64) << PART_SHIFT;
            self.changes.push(ObjectChange::Set { object, key, source: of.0, first, count });
        }
        for i in parts.len() as u64..u64::from(parts_before) {
            self.changes.push(ObjectChange::End { object: object | i << PART_SHIFT });
        }
    }

    /// Clears the batches of this frame and keeps their arrays for reuse.
    pub(super) fn forget_batches(&mut self) {
        for mut batch in self.batches.drain(..) {
            batch.instances.clear();
            self.spare.insert(batch.key, batch.instances);
        }
        self.batch_indices.clear();
        self.last = None;
        self.last_batch = 0;
    }
}
