//! The table of a drawn component, for example all meshes of all units. A linked list that begins
//! at the unit's row connects the instances of a unit. This module stores what the instances of
//! every drawn component have: their unit and node, their place in the renderer, and the reasons
//! why they are hidden. Knows no meshes and no sprites.

use super::unit::UnitId;
use engine_foundation::error;
use engine_foundation::{Error, Handle, HandleKind, Slots};
use engine_frame_packet::scene::DrawSlot;
use std::ops::{Deref, DerefMut};

/// Bits of [`Instance::flags`].
pub mod flag {
    /// Reasons why an instance is hidden: itself, its unit, its group.
    pub const HIDDEN: u8 = 1;
    pub const UNIT_HIDDEN: u8 = 2;
    pub const GROUP_HIDDEN: u8 = 4;
    pub const CASTS_SHADOWS: u8 = 8;
    /// The renderer does not have the instance yet, or needs all of its data again.
    pub const NEW: u8 = 16;
    /// The instance is in the list of changes.
    pub const LISTED: u8 = 32;
    pub const ANY_HIDDEN: u8 = HIDDEN | UNIT_HIDDEN | GROUP_HIDDEN;
}

/// Maximum number of visibility groups of one unit.
pub const GROUPS_MAX: usize = 32;
/// The instance is in no group.
pub const NO_GROUP: u8 = u8::MAX;

/// No instance: the end of a linked list.
const NONE: u32 = u32::MAX;

/// Sets or clears a reason why something is hidden. Returns true if this changes the flags.
pub fn set_hidden(flags: &mut u8, reason: u8, hidden: bool) -> bool {
    let changed = if hidden { *flags | reason } else { *flags & !reason };
    std::mem::replace(flags, changed) != changed
}

/// An instance of a component, with the component's own data, which it dereferences to.
#[derive(Debug)]
pub struct Instance<T> {
    /// Row of the unit.
    pub unit: u32,
    /// Index of the unit's node that the instance is attached to, from 0.
    pub node: u16,
    /// Bits of [`flag`].
    pub flags: u8,
    /// Visibility group of the unit that the instance belongs to.
    pub group: u8,
    pub draw: DrawSlot,
    /// Next instance of the same unit.
    next: u32,
    own: T,
}

impl<T> Instance<T> {
    /// Creates an instance that the renderer does not have yet.
    pub fn new(
        unit: UnitId,
        node: u16,
        group: u8,
        (visible, draw): (bool, DrawSlot),
        own: T,
    ) -> Self {
        let flags = flag::NEW | flag::LISTED | if visible { 0 } else { flag::HIDDEN };
        Instance { unit: unit.row(), node, flags, group, draw, next: NONE, own }
    }
}

impl<T> Deref for Instance<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.own
    }
}

impl<T> DerefMut for Instance<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.own
    }
}

/// All instances of one component.
pub struct InstanceTable<T> {
    pub slots: Slots<Instance<T>>,
    /// First instance of each unit, by row.
    first: Vec<u32>,
    /// Slots of the instances with changes for the renderer.
    pub changed: Vec<u32>,
    /// Limit of instances, its name, and the plural of the component.
    limit: (usize, &'static str, &'static str),
}

impl<T> InstanceTable<T> {
    /// Creates a table. `limit` is the limit of instances, its name, and the component's plural.
    pub fn new(kind: HandleKind, limit: (usize, &'static str, &'static str)) -> InstanceTable<T> {
        let (slots, first, changed) = (Slots::new(kind, limit.0), Vec::new(), Vec::new());
        InstanceTable { slots, first, changed, limit }
    }

    /// Returns an error if there is no room for more instances.
    pub fn check_room(&self, count: usize) -> Result<(), Error> {
        let (limit, limit_name, plural) = self.limit;
        match self.slots.len() + count > limit {
            true => Err(error!(
                "there is no room for {count} more {plural} ({limit_name} is {limit}): destroy \
                 units that are not needed"
            )),
            false => Ok(()),
        }
    }

    /// Adds an instance at the beginning of its unit's list. The caller has checked that there is
    /// room.
    pub fn push_front(&mut self, instance: Instance<T>) -> Handle {
        let row = instance.unit as usize;
        if self.first.len() <= row {
            self.first.resize(row + 1, NONE);
        }
        let next = self.first[row];
        let handle = self.slots.add(Instance { next, ..instance });
        let handle = handle.expect("there is room, it was looked at");
        self.first[row] = handle.index() as u32;
        self.changed.push(handle.index() as u32);
        handle
    }

    /// Adds an instance at the end of its unit's list. The caller has checked that there is room.
    pub fn push_back(&mut self, instance: Instance<T>) -> Handle {
        let row = instance.unit;
        let last = self.of_unit(row).last();
        let handle = self.push_front(instance);
        if let Some(last) = last {
            let first = std::mem::replace(&mut self.at_mut(handle.index()).next, NONE);
            self.first[row as usize] = first;
            self.at_mut(last).next = handle.index() as u32;
        }
        handle
    }

    /// Removes one instance from its unit.
    pub fn remove(&mut self, id: Handle, frame: u64, location: &str) -> Option<Instance<T>> {
        let (at, instance) = (id.index(), self.slots.get(id)?);
        let (row, next) = (instance.unit, instance.next);
        let before = self
            .of_unit(row)
            .find(|slot| self.slots.at(*slot).is_some_and(|other| other.next as usize == at));
        match before {
            Some(before) => self.at_mut(before).next = next,
            None => self.first[row as usize] = next,
        }
        self.slots.remove(id, "", frame, location)
    }

    /// Destroys the instances of a unit; `end` is called for each.
    pub fn destroy(
        &mut self,
        row: u32,
        frame: u64,
        location: &str,
        mut end: impl FnMut(&Instance<T>),
    ) {
        let Some(first) = self.first.get_mut(row as usize) else { return };
        let mut at = std::mem::replace(first, NONE);
        while at != NONE {
            let handle = self.slots.handle_at(at as usize).expect("lists hold living instances");
            let instance = self.slots.remove(handle, "", frame, location).expect("it lives");
            end(&instance);
            at = instance.next;
        }
    }

    /// Returns the slot of a unit's first instance.
    #[inline(always)]
    pub fn first_of(&self, row: u32) -> Option<usize> {
        self.first.get(row as usize).filter(|slot| **slot != NONE).map(|slot| *slot as usize)
    }

    /// Returns the slot of the next instance of the same unit.
    #[inline(always)]
    pub fn next_of(&self, slot: usize) -> Option<usize> {
        let next = self.slots.at(slot).map_or(NONE, |instance| instance.next);
        (next != NONE).then_some(next as usize)
    }

    /// Returns the slots of a unit's instances, in order.
    pub fn of_unit(&self, row: u32) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.first_of(row), |slot| self.next_of(*slot))
    }

    /// Returns the live instance in a slot.
    pub fn at_mut(&mut self, slot: usize) -> &mut Instance<T> {
        self.slots.at_mut(slot).expect("lists hold living instances")
    }

    /// Returns a live instance. Handles are checked at the interface, so the instance exists.
    #[inline(always)]
    pub fn get(&self, id: Handle) -> &Instance<T> {
        self.slots.get(id).expect("the handle was checked where it came in")
    }

    /// Returns a live instance for changes; all of its data is sent to the renderer again.
    pub fn get_changed(&mut self, id: Handle) -> &mut Instance<T> {
        self.record_change(id.index(), flag::NEW);
        self.at_mut(id.index())
    }

    /// Records a change of an instance: with [`flag::NEW`] a change of all its data, with 0 a
    /// change of its pose.
    #[inline(always)]
    pub fn record_change(&mut self, slot: usize, flags: u8) {
        if let Some(instance) = self.slots.at_mut(slot) {
            let listed = instance.flags & flag::LISTED != 0;
            instance.flags |= flags | flag::LISTED;
            if !listed {
                self.changed.push(slot as u32);
            }
        }
    }

    /// Takes a change from the instance in a slot: its flags, and the instance. `None` if the slot
    /// was used again after it was listed, and the new instance has no change anymore.
    #[inline(always)]
    pub fn take_change(&mut self, slot: u32) -> Option<(u8, &Instance<T>)> {
        let instance = self.slots.at_mut(slot as usize)?;
        let flags = instance.flags;
        instance.flags &= !(flag::LISTED | flag::NEW);
        (flags & flag::LISTED != 0).then_some((flags, instance))
    }

    /// Records that units moved.
    pub fn note_moved(&mut self, rows: &[u32]) {
        if self.slots.is_empty() {
            return;
        }
        for row in rows {
            let mut next = self.first_of(*row);
            while let Some(slot) = next {
                self.record_change(slot, 0);
                next = self.next_of(slot);
            }
        }
    }

    /// Sets or clears a reason why a unit's instances are hidden, for one group or for all.
    pub fn hide(&mut self, row: u32, group: Option<u8>, reason: u8, hidden: bool) {
        let mut next = self.first_of(row);
        while let Some(slot) = next {
            let instance = self.at_mut(slot);
            if group.is_none_or(|group| group == instance.group)
                && set_hidden(&mut instance.flags, reason, hidden)
            {
                self.record_change(slot, flag::NEW);
            }
            next = self.next_of(slot);
        }
    }
}
