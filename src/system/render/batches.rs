//! Batches: the retained objects of every Gui, kept by key in one array for each Gui, and what is
//! drawn of them. Knows no graphics interface; the renderer copies the array's dirty ranges to the
//! adapter, the recorder counts them.
//!
//! Layers draw in ascending order; within a layer batches draw in the order of their first object,
//! retained ones before those of the frame. An object's place is an order number that it keeps as
//! long as it keeps its key.

use super::table::{Map, RangeList};
use crate::foundation::Mat4;
use crate::packet::gui::{Batch, BatchKey, Change, GuiFrame, Instance, Moved, Space};
use std::ops::Range;

/// The fewest instances that a batch has room for.
const ROOM_MIN: u32 = 4;
/// Fewer wasted instances than this are not worth moving others.
const WASTE_MIN: u32 = 256;

/// One draw call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Draw {
    pub gui: u64,
    pub key: BatchKey,
    /// From the Gui's own array, or from the frame's immediate instances.
    pub retained: bool,
    /// The first instance in that array, and how many there are. Ended ones among them are empty.
    pub first: u32,
    pub count: u32,
    /// Which paints may be among them: see [`paints_of`].
    pub paints: u32,
}

/// The bits of the paints in instances, and bit 16 where any takes the nearest texel.
pub fn paints_of(instances: &[Instance]) -> u32 {
    let bits = |word: u32| 1 << (word & 15) | (word & Instance::NEAREST) << 12;
    instances.iter().fold(0, |all, instance| all | bits(instance.paint))
}

/// One Gui.
#[derive(Default)]
pub struct Gui {
    pub space: Space,
    pub pose: Mat4,
    pub transforms: Vec<Mat4>,
    pub retained: Retained,
    /// Its part of [`DrawList::draws`], where `packet` is the newest packet's number.
    draws: Range<usize>,
    packet: u64,
}

/// What one packet draws.
#[derive(Default)]
pub struct DrawList {
    pub draws: Vec<Draw>,
    /// How many immediate instances there are, in the order of the packet's Guis and batches.
    pub immediate: u32,
    /// Whether any Gui sent transforms, or one that had some is gone.
    pub transforms_changed: bool,
}

/// Every Gui.
#[derive(Default)]
pub struct Guis {
    pub guis: Map<u64, Gui>,
    packet: u64,
    scratch: Vec<Draw>,
}

impl Guis {
    /// Takes over what a packet says of Guis, and lists what it draws.
    pub fn apply(&mut self, ended: &[u64], frames: &[GuiFrame], list: &mut DrawList) {
        self.packet += 1;
        list.draws.clear();
        list.immediate = 0;
        list.transforms_changed = false;
        for gui in ended {
            let gone = self.guis.remove(gui);
            list.transforms_changed |= gone.is_some_and(|gui| !gui.transforms.is_empty());
        }
        for frame in frames {
            let gui = self.guis.entry(frame.gui).or_default();
            gui.space = frame.space;
            gui.pose = frame.pose;
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

    /// The retained objects of a Gui that is there.
    pub fn retained(&mut self, gui: u64) -> &mut Retained {
        &mut self.guis.get_mut(&gui).expect("a Gui of this packet").retained
    }

    /// What the newest packet draws of a Gui. One that the packet does not name shows what it
    /// retained, listed in `spare`.
    pub fn draws<'a>(&self, gui: u64, list: &'a DrawList, spare: &'a mut Vec<Draw>) -> &'a [Draw] {
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

/// Lists the batches of a frame.
fn add_immediate(gui: u64, batches: &[Batch], list: &mut DrawList) {
    for batch in batches {
        let (first, count) = (list.immediate, batch.instances.len() as u32);
        if count > 0 {
            let (key, paints) = (batch.key, paints_of(&batch.instances));
            list.draws.push(Draw { gui, key, retained: false, first, count, paints });
        }
        list.immediate += count;
    }
}

/// Sorts by layer and keeps the order otherwise. Mostly it is sorted already.
fn sort(draws: &mut [Draw], scratch: &mut Vec<Draw>) {
    if !draws.is_sorted_by_key(|draw| draw.key.layer) {
        scratch.clear();
        scratch.extend_from_slice(draws);
        scratch.sort_by_key(|draw| draw.key.layer);
        draws.copy_from_slice(scratch);
    }
}

/// One retained object.
struct Object {
    /// Its place in the order of all objects of the Gui; 0: the slot is free.
    order: u64,
    batch: u32,
    /// What it is drawn with; 0: what never moves.
    source: u32,
    /// Its first instance, counted from the batch's first, how many it may have, and has.
    start: u32,
    room: u32,
    count: u32,
    /// Its new instances among the packet's, where they did not fit into its room.
    pending: Option<u32>,
}

/// The objects of one key.
struct Objects {
    key: BatchKey,
    /// Its first instance in the array, its room, and how much of that is used.
    start: u32,
    room: u32,
    used: u32,
    /// How many of the used are of objects that are gone.
    dead: u32,
    living: u32,
    /// Objects by their slot and order, in order; those whose order does not fit are gone.
    objects: Vec<(u32, u64)>,
    /// The first that may still be there.
    first: usize,
    rebuild: bool,
    /// Every paint that there has been.
    paints: u32,
}

/// The retained objects of one Gui.
#[derive(Default)]
pub struct Retained {
    instances: Vec<Instance>,
    /// Which instances have changed since [`Retained::clean`].
    dirty: RangeList,
    batches: Vec<Option<Objects>>,
    free_batches: Vec<u32>,
    by_key: Map<BatchKey, u32>,
    objects: Vec<Object>,
    free_objects: Vec<u32>,
    by_number: Map<u64, u32>,
    /// Batches in the order in which they draw, and whether that must be found anew.
    order: Vec<u32>,
    order_stale: bool,
    rebuild: Vec<u32>,
    last_order: u64,
    /// How many instances of the array belong to no batch.
    waste: u32,
}

impl Retained {
    /// Every instance, whatever it belongs to.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// What has changed, in ascending order without overlaps.
    pub fn dirty(&mut self) -> &[Range<u32>] {
        self.dirty.settle()
    }

    /// Whoever copies changes has nothing yet.
    pub fn all_dirty(&mut self) {
        self.dirty.clear();
        self.dirty.add(0..self.instances.len() as u32);
    }

    /// What has changed is known.
    pub fn clean(&mut self) {
        self.dirty.clear();
    }

    /// Adds a draw for each batch, in order.
    fn list(&self, gui: u64, draws: &mut Vec<Draw>) {
        for index in &self.order {
            let batch = self.batches[*index as usize].as_ref().expect("the order is fresh");
            let Objects { key, start: first, used: count, paints, .. } = *batch;
            draws.push(Draw { gui, key, retained: true, first, count, paints });
        }
    }

    fn apply(&mut self, frame: &GuiFrame) {
        for change in &frame.changes {
            match *change {
                Change::Put { object, key, source, first, count } => {
                    let new = &frame.instances[first as usize..(first + count) as usize];
                    self.put(object, key, source, first, new);
                }
                Change::End { object } => self.end(object),
                Change::Reset => self.reset(),
                Change::Move { first, count } => {
                    self.rebuild(&frame.instances);
                    self.follow(&frame.moved[first as usize..(first + count) as usize]);
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

    /// `first`: where the new instances are in the packet.
    fn put(&mut self, number: u64, key: BatchKey, with: u32, first: u32, source: &[Instance]) {
        let known = self.by_number.get(&number).copied();
        let (slot, new) = match known {
            Some(slot) if self.batch(self.objects[slot as usize].batch).key == key => (slot, false),
            Some(_) => {
                self.end(number);
                (self.begin_last(number, key), true)
            }
            None => (self.begin_last(number, key), true),
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
        let had = if object.pending.take().is_some() { object.room } else { object.count };
        let end = at + count.max(had) as usize;
        self.instances[at..at + count as usize].copy_from_slice(source);
        self.instances[at + count as usize..end].fill(Instance::default());
        object.count = count;
        self.dirty.add(at as u32..end as u32);
    }

    fn batch(&self, index: u32) -> &Objects {
        self.batches[index as usize].as_ref().expect("an object has a batch")
    }

    /// A new object, last in its batch, with room for nothing yet.
    fn begin_last(&mut self, number: u64, key: BatchKey) -> u32 {
        self.last_order += 1;
        let order = self.last_order;
        let slot = self.begin(number, key, order);
        let batch = self.objects[slot as usize].batch;
        let batch = self.batches[batch as usize].as_mut().expect("it was found");
        batch.objects.push((slot, order));
        slot
    }

    /// A new object, which its batch does not list yet.
    fn begin(&mut self, number: u64, key: BatchKey, order: u64) -> u32 {
        let index = match self.by_key.get(&key) {
            Some(index) => *index,
            None => self.begin_batch(key),
        };
        let (start, room, count) = (0, 0, 0);
        let object = Object { order, batch: index, source: 0, start, room, count, pending: None };
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

    fn begin_batch(&mut self, key: BatchKey) -> u32 {
        let start = self.instances.len() as u32;
        self.instances.resize((start + ROOM_MIN) as usize, Instance::default());
        let batch = Objects {
            key,
            start,
            room: ROOM_MIN,
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
        self.instances[at as usize..(at + object.room) as usize].fill(Instance::default());
        self.dirty.add(at..at + object.room);
        batch.dead += object.room;
        // Another batch may now be the one with the first object.
        self.order_stale |= batch.objects[batch.first].1 == order;
        let gone = batch.objects.len() as u32 - batch.living;
        let wasteful = batch.dead.max(gone) > WASTE_MIN
            && (batch.dead > batch.used / 2 || gone > batch.living);
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
        *self = Retained { last_order, ..Retained::default() };
        self.order_stale = true;
    }

    /// Has the objects of sources that were moved follow them. They keep their order.
    fn follow(&mut self, moved: &[Moved]) {
        let of: Map<u32, &Moved> = moved.iter().map(|moved| (moved.source, moved)).collect();
        let known = self.by_number.iter().filter_map(|(number, slot)| {
            let object = &self.objects[*slot as usize];
            of.contains_key(&object.source).then_some((object.order, *number, *slot))
        });
        let mut followers: Vec<(u64, u64, u32)> = known.collect();
        followers.sort_unstable();
        let mut instances: Vec<Instance> = Vec::new();
        for (order, number, slot) in followers {
            let object = &mut self.objects[slot as usize];
            let moved = of[&object.source];
            let source = if moved.ended { 0 } else { moved.source };
            object.source = source;
            let (index, count) = (object.batch as usize, object.count);
            let batch = self.batches[index].as_mut().expect("an object has a batch");
            let (material, texture) = (moved.to.material, moved.to.texture);
            let key = BatchKey { material, texture, ..batch.key };
            let at = batch.start + object.start;
            let shown = &mut self.instances[at as usize..(at + count) as usize];
            if key == batch.key {
                shown.iter_mut().for_each(|instance| *instance = moved.follow(instance));
                batch.paints |= paints_of(shown);
                self.dirty.add(at..at + count);
                continue;
            }
            let first = instances.len() as u32;
            instances.extend(shown.iter().map(|instance| moved.follow(instance)));
            self.unlist(index, order);
            self.end(number);
            let slot = self.begin(number, key, order);
            let object = &mut self.objects[slot as usize];
            (object.source, object.pending, object.count) = (source, Some(first), count);
            self.list_again(slot, &instances[first as usize..]);
        }
        self.rebuild(&instances);
        self.order_stale = true;
    }

    /// Takes an object that is about to end off its batch's list: it will have the same order in
    /// another batch.
    fn unlist(&mut self, index: usize, order: u64) {
        let batch = self.batches[index].as_mut().expect("an object has a batch");
        let at = batch.objects.partition_point(|(_, known)| *known < order);
        batch.objects.remove(at);
        batch.first -= usize::from(at < batch.first);
    }

    /// Lists an object at its place among the others of its batch, which is then put together anew.
    fn list_again(&mut self, slot: u32, instances: &[Instance]) {
        let Object { order, batch: index, .. } = self.objects[slot as usize];
        let batch = self.batches[index as usize].as_mut().expect("an object has a batch");
        let at = batch.objects.partition_point(|(_, known)| *known < order);
        batch.objects.insert(at, (slot, order));
        batch.first = batch.first.min(at);
        batch.paints |= paints_of(instances);
        if !std::mem::replace(&mut batch.rebuild, true) {
            self.rebuild.push(index);
        }
    }

    fn rebuild(&mut self, source: &[Instance]) {
        for index in std::mem::take(&mut self.rebuild) {
            self.rebuild_batch(index, source);
        }
    }

    /// Puts a batch's living objects side by side, each with the room that it needs.
    fn rebuild_batch(&mut self, index: u32, source: &[Instance]) {
        let batch = self.batches[index as usize].as_mut().expect("ended ones are not rebuilt");
        let objects = &mut self.objects;
        batch.objects.retain(|(slot, order)| objects[*slot as usize].order == *order);
        let mut new = Vec::with_capacity(batch.used as usize);
        for (slot, _) in &batch.objects {
            let object = &mut objects[*slot as usize];
            let start = new.len() as u32;
            if let Some(first) = object.pending.take() {
                // What grew once grows again; a new object has what it needs.
                let spare = if object.room == 0 { 0 } else { object.count / 4 };
                object.room = object.count + spare;
                new.extend_from_slice(&source[first as usize..(first + object.count) as usize]);
            } else {
                let at = (batch.start + object.start) as usize;
                new.extend_from_slice(&self.instances[at..at + object.count as usize]);
            }
            object.start = start;
            new.resize((start + object.room) as usize, Instance::default());
        }
        let used = new.len() as u32;
        (batch.used, batch.dead, batch.first, batch.rebuild) = (used, 0, 0, false);
        if used > batch.room {
            self.waste += batch.room;
            batch.start = self.instances.len() as u32;
            batch.room = used + used / 2;
            let end = (batch.start + batch.room) as usize;
            self.instances.resize(end, Instance::default());
        }
        let at = batch.start as usize;
        self.instances[at..at + used as usize].copy_from_slice(&new);
        self.dirty.add(batch.start..batch.start + used);
    }

    /// Moves the batches together, over what belongs to none.
    fn compact(&mut self) {
        let mut instances = Vec::with_capacity(self.instances.len() - self.waste as usize);
        for batch in self.batches.iter_mut().flatten() {
            let old = batch.start as usize;
            batch.start = instances.len() as u32;
            instances.extend_from_slice(&self.instances[old..old + batch.room as usize]);
        }
        self.instances = instances;
        self.waste = 0;
        self.all_dirty();
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
#[path = "batches_tests.rs"]
mod tests;
