//! Batches of Gui draws: the retained objects of every Gui, stored by key in one array for each
//! Gui, and the draw calls that show them. Knows no graphics API; the renderer copies the
//! array's dirty ranges to the adapter, and the recorder counts them.
//!
//! Layers draw in ascending order. Within a layer, batches draw in the order of their first object,
//! retained ones before those of the frame. An object's position is an order number, which it keeps
//! as long as it keeps its key.

use super::numeric_map::{DirtyRanges, NumberMap};
use engine_foundation::Mat4;
use engine_frame_packet::gui::{
    GuiBatchKey, GuiFrame, GuiSpace, MaskFrame, MovedSource, ObjectChange, QuadBatch, QuadInstance,
    paint,
};
use std::ops::Range;

/// The fewest instances that a batch has room for.
const CAPACITY_MIN: u32 = 4;
/// Below this number of wasted instances, moving others is not worth the cost.
const WASTE_MIN: u32 = 256;

/// One draw call of a Gui.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GuiDraw {
    pub gui: u64,
    pub key: GuiBatchKey,
    /// True if the instances are in the Gui's own array; otherwise they are in the frame's
    /// immediate instances.
    pub retained: bool,
    /// The first instance in that array, and the number of instances. Ended instances among them
    /// are empty.
    pub first: u32,
    pub count: u32,
    /// The paints that may occur: see [`paints_of`].
    pub paints: u32,
}

/// The bits of an atlas's layer, or of a gradient.
const LAYER_BITS: u32 = (QuadInstance::LAYERS_MAX - 1) << 5;

/// Returns the bits of the paints in instances, bit 16 if any uses the nearest texel, bit 17 if any
/// is a triangle with colors at its corners, and bit 18 if any may have a gradient.
pub fn paints_of(instances: &[QuadInstance]) -> u32 {
    const SHAPES: u32 = 1 << paint::BOX | 1 << paint::ELLIPSE | 1 << paint::ARC;
    let bits = |word: u32| {
        let kind = 1 << (word & 15);
        let has_gradient = kind & SHAPES != 0 && word & LAYER_BITS != 0;
        kind | (word & QuadInstance::NEAREST) << 12
            | (word & QuadInstance::MESH) << 2
            | u32::from(has_gradient) << 18
    };
    instances.iter().fold(0, |all, instance| all | bits(instance.paint))
}

/// The state of one Gui.
#[derive(Default)]
pub struct GuiBatches {
    pub space: GuiSpace,
    pub pose: Mat4,
    pub transforms: Vec<Mat4>,
    /// The masks of the newest packet.
    pub masks: Vec<MaskFrame>,
    pub retained: RetainedGui,
    /// The Gui's part of [`DrawList::draws`], valid if `packet` is the newest packet's number.
    draws: Range<usize>,
    packet: u64,
}

/// The draw calls of one packet.
#[derive(Default)]
pub struct DrawList {
    pub draws: Vec<GuiDraw>,
    /// Number of immediate instances, in the order of the packet's Guis and batches.
    pub immediate: u32,
    /// True if any Gui sent transforms, or if a Gui with transforms was removed.
    pub transforms_changed: bool,
}

/// The state of every Gui.
#[derive(Default)]
pub struct GuiBatchTable {
    pub guis: NumberMap<u64, GuiBatches>,
    packet: u64,
    scratch: Vec<GuiDraw>,
}

impl GuiBatchTable {
    /// Applies a packet's changes of Guis, and lists its draw calls.
    pub fn apply(&mut self, ended: &[u64], frames: &[GuiFrame], list: &mut DrawList) {
        self.packet += 1;
        list.draws.clear();
        list.immediate = 0;
        list.transforms_changed = false;
        for gui in ended {
            let removed = self.guis.remove(gui);
            list.transforms_changed |= removed.is_some_and(|gui| !gui.transforms.is_empty());
        }
        for frame in frames {
            let gui = self.guis.entry(frame.gui).or_default();
            gui.space = frame.space;
            gui.pose = frame.pose;
            gui.masks.clone_from(&frame.masks);
            if !frame.transforms.is_empty() {
                gui.transforms.clone_from(&frame.transforms);
                list.transforms_changed = true;
            }
            if !frame.changes.is_empty() {
                gui.retained.apply(frame);
            }
            gui.packet = self.packet;
            let first = list.draws.len();
            gui.retained.list(frame.gui, &mut list.draws);
            if !frame.batches.is_empty() {
                add_immediate(frame.gui, &frame.batches, list);
                sort(&mut list.draws[first..], &mut self.scratch);
            }
            gui.draws = first..list.draws.len();
        }
    }

    /// Returns the retained objects of a Gui, which must exist.
    pub fn retained(&mut self, gui: u64) -> &mut RetainedGui {
        &mut self.guis.get_mut(&gui).expect("a Gui of this packet").retained
    }

    /// Returns the newest packet's draw calls of a Gui. A Gui that the packet does not name shows
    /// its retained objects, listed in `spare`.
    pub fn draws<'a>(
        &self,
        gui: u64,
        list: &'a DrawList,
        spare: &'a mut Vec<GuiDraw>,
    ) -> &'a [GuiDraw] {
        spare.clear();
        match self.guis.get(&gui) {
            None => &[],
            Some(it) if it.packet == self.packet => &list.draws[it.draws.clone()],
            Some(it) => {
                it.retained.list(gui, spare);
                spare
            }
        }
    }
}

/// Lists the immediate batches of a frame.
fn add_immediate(gui: u64, batches: &[QuadBatch], list: &mut DrawList) {
    for batch in batches {
        let (first, count) = (list.immediate, batch.instances.len() as u32);
        if count > 0 {
            let (key, paints) = (batch.key, paints_of(&batch.instances));
            list.draws.push(GuiDraw { gui, key, retained: false, first, count, paints });
        }
        list.immediate += count;
    }
}

/// Sorts by layer, with a stable order within a layer. The draws are usually sorted already.
fn sort(draws: &mut [GuiDraw], scratch: &mut Vec<GuiDraw>) {
    if !draws.is_sorted_by_key(|draw| draw.key.layer) {
        scratch.clear();
        scratch.extend_from_slice(draws);
        scratch.sort_by_key(|draw| draw.key.layer);
        draws.copy_from_slice(scratch);
    }
}

/// One retained object.
struct BatchedObject {
    /// Order number among all objects of the Gui; 0: the slot is free.
    order: u64,
    batch: u32,
    /// Source that the object is drawn with; 0: a source that never moves.
    source: u32,
    /// First instance, relative to the batch's first; capacity and number of instances.
    start: u32,
    room: u32,
    count: u32,
    /// Index of its new instances among the packet's, if they did not fit into its room.
    pending: Option<u32>,
}

/// The objects of one key.
struct KeyObjects {
    key: GuiBatchKey,
    /// First instance in the array, capacity, and number of used instances.
    start: u32,
    room: u32,
    used: u32,
    /// Number of used instances that belong to ended objects.
    dead: u32,
    living: u32,
    /// Objects by their slot and order, in order. An object has ended if its order differs from the
    /// slot's.
    objects: Vec<(u32, u64)>,
    /// Index of the first object that may still exist.
    first: usize,
    rebuild: bool,
    /// All paints that ever occurred.
    paints: u32,
}

/// The retained objects of one Gui.
#[derive(Default)]
pub struct RetainedGui {
    instances: Vec<QuadInstance>,
    /// Instances that have changed since [`RetainedGui::mark_clean`].
    dirty: DirtyRanges,
    batches: Vec<Option<KeyObjects>>,
    free_batches: Vec<u32>,
    by_key: NumberMap<GuiBatchKey, u32>,
    objects: Vec<BatchedObject>,
    free_objects: Vec<u32>,
    by_number: NumberMap<u64, u32>,
    /// Batches in drawing order; `order_stale` is true if the order must be computed again.
    order: Vec<u32>,
    order_stale: bool,
    rebuild: Vec<u32>,
    last_order: u64,
    /// Number of instances of the array that belong to no batch.
    waste: u32,
}

impl RetainedGui {
    /// Returns all instances of the array, including unused ones.
    pub fn instances(&self) -> &[QuadInstance] {
        &self.instances
    }

    /// Returns the changed ranges, in ascending order without overlaps.
    pub fn dirty_ranges(&mut self) -> &[Range<u32>] {
        self.dirty.merge_all()
    }

    /// Marks all instances as changed, because the copy is empty.
    pub fn mark_all_dirty(&mut self) {
        self.dirty.clear();
        self.dirty.add(0..self.instances.len() as u32);
    }

    /// Marks all changes as copied.
    pub fn mark_clean(&mut self) {
        self.dirty.clear();
    }

    /// Adds a draw for each batch, in order.
    fn list(&self, gui: u64, draws: &mut Vec<GuiDraw>) {
        for index in &self.order {
            let batch = self.batches[*index as usize].as_ref().expect("the order is fresh");
            let KeyObjects { key, start: first, used: count, paints, .. } = *batch;
            draws.push(GuiDraw { gui, key, retained: true, first, count, paints });
        }
    }

    fn apply(&mut self, frame: &GuiFrame) {
        for change in &frame.changes {
            match *change {
                ObjectChange::Set { object, key, source, first, count } => {
                    let new = &frame.instances[first as usize..(first + count) as usize];
                    self.set_object(object, key, source, first, new);
                }
                ObjectChange::End { object } => self.end(object),
                ObjectChange::Reset => self.reset(),
                ObjectChange::Move { first, count } => {
                    self.rebuild(&frame.instances);
                    self.move_instance(&frame.moved[first as usize..(first + count) as usize]);
                }
            }
        }
        self.rebuild(&frame.instances);
        if self.waste > WASTE_MIN && self.waste as usize > self.instances.len() / 2 {
            self.compact();
        }
        if self.order_stale {
            self.find_order();
        }
    }

    /// Sets the instances of an object. `first`: index of the new instances in the packet.
    fn set_object(
        &mut self,
        number: u64,
        key: GuiBatchKey,
        with: u32,
        first: u32,
        source: &[QuadInstance],
    ) {
        let known = self.by_number.get(&number).copied();
        let (slot, new) = match known {
            Some(slot) if self.batch(self.objects[slot as usize].batch).key == key => (slot, false),
            Some(_) => {
                self.end(number);
                (self.append_object(number, key), true)
            }
            None => (self.append_object(number, key), true),
        };
        let count = source.len() as u32;
        let object = &mut self.objects[slot as usize];
        object.source = with;
        let index = object.batch;
        let batch = self.batches[index as usize].as_mut().expect("an object has a batch");
        batch.paints |= paints_of(source);
        if new && !batch.rebuild && batch.room - batch.used >= count {
            object.start = batch.used;
            object.room = count;
            batch.used += count;
        }
        if object.room < count {
            object.pending = Some(first);
            object.count = count;
            if !std::mem::replace(&mut batch.rebuild, true) {
                self.rebuild.push(index);
            }
            return;
        }
        let at = (batch.start + object.start) as usize;
        let previous_count =
            if object.pending.take().is_some() { object.room } else { object.count };
        let end = at + count.max(previous_count) as usize;
        self.instances[at..at + count as usize].copy_from_slice(source);
        self.instances[at + count as usize..end].fill(QuadInstance::default());
        object.count = count;
        self.dirty.add(at as u32..end as u32);
    }

    fn batch(&self, index: u32) -> &KeyObjects {
        self.batches[index as usize].as_ref().expect("an object has a batch")
    }

    /// Adds an object at the end of its batch, without room for instances yet.
    fn append_object(&mut self, number: u64, key: GuiBatchKey) -> u32 {
        self.last_order += 1;
        let order = self.last_order;
        let slot = self.begin(number, key, order);
        let batch = self.objects[slot as usize].batch;
        let batch = self.batches[batch as usize].as_mut().expect("it was found");
        batch.objects.push((slot, order));
        slot
    }

    /// Adds an object, which is not in its batch's list yet.
    fn begin(&mut self, number: u64, key: GuiBatchKey, order: u64) -> u32 {
        let index = match self.by_key.get(&key) {
            Some(index) => *index,
            None => self.begin_batch(key),
        };
        let (start, room, count) = (0, 0, 0);
        let object =
            BatchedObject { order, batch: index, source: 0, start, room, count, pending: None };
        let slot = match self.free_objects.pop() {
            Some(slot) => {
                self.objects[slot as usize] = object;
                slot
            }
            None => {
                self.objects.push(object);
                self.objects.len() as u32 - 1
            }
        };
        self.by_number.insert(number, slot);
        self.batches[index as usize].as_mut().expect("it was found").living += 1;
        slot
    }

    fn begin_batch(&mut self, key: GuiBatchKey) -> u32 {
        let start = self.instances.len() as u32;
        self.instances.resize((start + CAPACITY_MIN) as usize, QuadInstance::default());
        let batch = KeyObjects {
            key,
            start,
            room: CAPACITY_MIN,
            used: 0,
            dead: 0,
            living: 0,
            objects: Vec::new(),
            first: 0,
            rebuild: false,
            paints: 0,
        };
        let index = self.free_batches.pop().unwrap_or_else(|| {
            self.batches.push(None);
            self.batches.len() as u32 - 1
        });
        self.batches[index as usize] = Some(batch);
        self.by_key.insert(key, index);
        self.order_stale = true;
        index
    }

    fn end(&mut self, number: u64) {
        let Some(slot) = self.by_number.remove(&number) else { return };
        self.free_objects.push(slot);
        let object = &mut self.objects[slot as usize];
        let order = std::mem::replace(&mut object.order, 0);
        let index = object.batch;
        let batch = self.batches[index as usize].as_mut().expect("an object has a batch");
        batch.living -= 1;
        if batch.living == 0 {
            self.end_batch(index);
            return;
        }
        let at = batch.start + object.start;
        self.instances[at as usize..(at + object.room) as usize].fill(QuadInstance::default());
        self.dirty.add(at..at + object.room);
        batch.dead += object.room;
        // The first object has ended, so the order of the batches may change.
        self.order_stale |= batch.objects[batch.first].1 == order;
        let ended_count = batch.objects.len() as u32 - batch.living;
        let wasteful = batch.dead.max(ended_count) > WASTE_MIN
            && (batch.dead > batch.used / 2 || ended_count > batch.living);
        if wasteful && !std::mem::replace(&mut batch.rebuild, true) {
            self.rebuild.push(index);
        }
    }

    fn end_batch(&mut self, index: u32) {
        let batch = self.batches[index as usize].take().expect("it was there");
        self.waste += batch.room;
        self.by_key.remove(&batch.key);
        self.free_batches.push(index);
        self.rebuild.retain(|other| *other != index);
        self.order_stale = true;
    }

    fn reset(&mut self) {
        let last_order = self.last_order;
        *self = RetainedGui { last_order, ..RetainedGui::default() };
        self.order_stale = true;
    }

    /// Makes objects follow their moved sources. The objects keep their order.
    fn move_instance(&mut self, moved: &[MovedSource]) {
        let of: NumberMap<u32, &MovedSource> =
            moved.iter().map(|moved| (moved.source, moved)).collect();
        let known = self.by_number.iter().filter_map(|(number, slot)| {
            let object = &self.objects[*slot as usize];
            of.contains_key(&object.source).then_some((object.order, *number, *slot))
        });
        let mut followers: Vec<(u64, u64, u32)> = known.collect();
        followers.sort_unstable();
        let mut instances: Vec<QuadInstance> = Vec::new();
        for (order, number, slot) in followers {
            let object = &mut self.objects[slot as usize];
            let moved = of[&object.source];
            let source = if moved.ended { 0 } else { moved.source };
            object.source = source;
            let (index, count) = (object.batch as usize, object.count);
            let batch = self.batches[index].as_mut().expect("an object has a batch");
            let (material, texture) = (moved.to.material, moved.to.texture);
            let key = GuiBatchKey { material, texture, ..batch.key };
            let at = batch.start + object.start;
            let object_instances = &mut self.instances[at as usize..(at + count) as usize];
            if key == batch.key {
                object_instances
                    .iter_mut()
                    .for_each(|instance| *instance = moved.move_instance(instance));
                batch.paints |= paints_of(object_instances);
                self.dirty.add(at..at + count);
                continue;
            }
            let first = instances.len() as u32;
            instances.extend(object_instances.iter().map(|instance| moved.move_instance(instance)));
            self.unlist(index, order);
            self.end(number);
            let slot = self.begin(number, key, order);
            let object = &mut self.objects[slot as usize];
            (object.source, object.pending, object.count) = (source, Some(first), count);
            self.reinsert(slot, &instances[first as usize..]);
        }
        self.rebuild(&instances);
        self.order_stale = true;
    }

    /// Removes an object that is about to end from its batch's list, because it will have the same
    /// order in another batch.
    fn unlist(&mut self, index: usize, order: u64) {
        let batch = self.batches[index].as_mut().expect("an object has a batch");
        let at = batch.objects.partition_point(|(_, known)| *known < order);
        batch.objects.remove(at);
        batch.first -= usize::from(at < batch.first);
    }

    /// Inserts an object into its batch's list by order. The batch is then rebuilt.
    fn reinsert(&mut self, slot: u32, instances: &[QuadInstance]) {
        let BatchedObject { order, batch: index, .. } = self.objects[slot as usize];
        let batch = self.batches[index as usize].as_mut().expect("an object has a batch");
        let at = batch.objects.partition_point(|(_, known)| *known < order);
        batch.objects.insert(at, (slot, order));
        batch.first = batch.first.min(at);
        batch.paints |= paints_of(instances);
        if !std::mem::replace(&mut batch.rebuild, true) {
            self.rebuild.push(index);
        }
    }

    fn rebuild(&mut self, source: &[QuadInstance]) {
        for index in std::mem::take(&mut self.rebuild) {
            self.rebuild_batch(index, source);
        }
    }

    /// Rebuilds a batch: its living objects become adjacent, each with the room that it needs.
    fn rebuild_batch(&mut self, index: u32, source: &[QuadInstance]) {
        let batch = self.batches[index as usize].as_mut().expect("ended ones are not rebuilt");
        let objects = &mut self.objects;
        batch.objects.retain(|(slot, order)| objects[*slot as usize].order == *order);
        let mut new = Vec::with_capacity(batch.used as usize);
        for (slot, _) in &batch.objects {
            let object = &mut objects[*slot as usize];
            let start = new.len() as u32;
            if let Some(first) = object.pending.take() {
                // An object that grew once grows again and gets spare room; a new object gets what
                // it needs.
                let spare = if object.room == 0 { 0 } else { object.count / 4 };
                object.room = object.count + spare;
                new.extend_from_slice(&source[first as usize..(first + object.count) as usize]);
            } else {
                let at = (batch.start + object.start) as usize;
                new.extend_from_slice(&self.instances[at..at + object.count as usize]);
            }
            object.start = start;
            new.resize((start + object.room) as usize, QuadInstance::default());
        }
        let used = new.len() as u32;
        (batch.used, batch.dead, batch.first, batch.rebuild) = (used, 0, 0, false);
        if used > batch.room {
            self.waste += batch.room;
            batch.start = self.instances.len() as u32;
            batch.room = used + used / 2;
            let end = (batch.start + batch.room) as usize;
            self.instances.resize(end, QuadInstance::default());
        }
        let at = batch.start as usize;
        self.instances[at..at + used as usize].copy_from_slice(&new);
        self.dirty.add(batch.start..batch.start + used);
    }

    /// Moves the batches together, and removes the unused gaps.
    fn compact(&mut self) {
        let mut instances = Vec::with_capacity(self.instances.len() - self.waste as usize);
        for batch in self.batches.iter_mut().flatten() {
            let old = batch.start as usize;
            batch.start = instances.len() as u32;
            instances.extend_from_slice(&self.instances[old..old + batch.room as usize]);
        }
        self.instances = instances;
        self.waste = 0;
        self.mark_all_dirty();
    }

    fn find_order(&mut self) {
        self.order_stale = false;
        self.order.clear();
        for (index, batch) in self.batches.iter_mut().enumerate() {
            let Some(batch) = batch else { continue };
            let objects = &self.objects;
            while batch.objects[batch.first].1
                != objects[batch.objects[batch.first].0 as usize].order
            {
                batch.first += 1;
            }
            self.order.push(index as u32);
        }
        let batches = &self.batches;
        self.order.sort_by_key(|index| {
            let batch = batches[*index as usize].as_ref().expect("only living ones are listed");
            (batch.key.layer, batch.objects[batch.first].1)
        });
    }
}

#[cfg(test)]
#[path = "gui_batches_tests.rs"]
mod tests;
