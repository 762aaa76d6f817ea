//! The systems of a frame as tasks. Each system declares the parts that it reads and writes, and
//! the task graph is derived from these declarations. Knows no specific systems and none of their
//! data.
//!
//! Systems that touch the same part run in the order in which they were added, unless both only
//! read it. All others may run in parallel. So the result is the same as running them one by one,
//! on any number of threads. A system receives only its declared parts, and cannot reach others.
//! Systems depend only on earlier ones, so no cycles exist.

use std::marker::PhantomData;

use super::frame_pool::priority;
use super::{Task, TaskGraph, TaskId, TaskManager, TaskOutcome, TaskScope};
use crate::insist;

/// Maximum number of systems in one frame.
pub const SYSTEMS_MAX: usize = 64;
/// Maximum number of parts that the systems of a frame use.
pub const PARTS_MAX: usize = 64;

/// A builder for one frame's systems. Created by [`TaskPool::frame`](super::TaskPool::frame).
pub struct FrameSystems<'scope, 'env: 'scope> {
    graph: TaskGraph<'scope, 'env>,
    tasks: &'env TaskManager,
    priorities: &'env [(String, u8)],
    parts: Vec<PartUsers>,
    systems: Vec<AddedSystem>,
}

/// The users of a part, as bit sets of systems.
struct PartUsers {
    name: &'static str,
    /// The last system that writes the part.
    writer: u64,
    /// The systems that read the part after the write by `writer`.
    readers: u64,
}

struct AddedSystem {
    task: TaskId,
    /// Bit set of all systems that must end before this one starts.
    before: u64,
}

/// The identity of a part: its frame and its index.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PartId {
    frame: u32,
    index: u32,
}

/// Data that systems work on, such as one field of a world or one array.
pub struct SystemPart<'scope, T> {
    id: PartId,
    value: *mut T,
    lifetimes: PhantomData<&'scope mut T>,
}

impl<T> Clone for SystemPart<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SystemPart<'_, T> {}

/// Read access to a part: the system receives `&T`.
pub struct ReadPart<'scope, T>(SystemPart<'scope, T>);

/// Write access to a part: the system receives `&mut T`.
pub struct WritePart<'scope, T>(SystemPart<'scope, T>);

impl<'scope, T> SystemPart<'scope, T> {
    pub fn read(self) -> ReadPart<'scope, T> {
        ReadPart(self)
    }

    pub fn write(self) -> WritePart<'scope, T> {
        WritePart(self)
    }
}

// SAFETY: `FrameSystems` ensures that no other system uses a value while one system has `&mut`.
unsafe impl<T: Send + Sync> Send for ReadPart<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for WritePart<'_, T> {}

/// The access of a system to its parts: `ReadPart`, `WritePart`, or a tuple of them.
pub trait SystemAccess: Send {
    /// The references that the system receives.
    type Borrowed<'a>;
    /// Calls `each` with every part, and with true if the part is written.
    fn parts(&self, each: &mut dyn FnMut(PartId, bool));
    /// Returns the references.
    ///
    /// # Safety
    /// Until the end of `'a`, no other code may write the referenced values, or use the values that
    /// are returned as `&mut`.
    unsafe fn borrow<'a>(self) -> Self::Borrowed<'a>;
}

impl<T: Send + Sync + 'static> SystemAccess for ReadPart<'_, T> {
    type Borrowed<'a> = &'a T;
    fn parts(&self, each: &mut dyn FnMut(PartId, bool)) {
        each(self.0.id, false);
    }
    unsafe fn borrow<'a>(self) -> &'a T {
        // SAFETY: the caller upholds the contract, and the value outlives the frame's scope.
        unsafe { &*self.0.value }
    }
}

impl<T: Send + Sync + 'static> SystemAccess for WritePart<'_, T> {
    type Borrowed<'a> = &'a mut T;
    fn parts(&self, each: &mut dyn FnMut(PartId, bool)) {
        each(self.0.id, true);
    }
    unsafe fn borrow<'a>(self) -> &'a mut T {
        // SAFETY: the caller upholds the contract, and the value outlives the frame's scope.
        unsafe { &mut *self.0.value }
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: SystemAccess),*> SystemAccess for ($($name,)*) {
            type Borrowed<'a> = ($($name::Borrowed<'a>,)*);
            #[allow(non_snake_case)]
            fn parts(&self, each: &mut dyn FnMut(PartId, bool)) {
                let ($($name,)*) = self;
                $($name.parts(each);)*
            }
            #[allow(non_snake_case)]
            unsafe fn borrow<'a>(self) -> Self::Borrowed<'a> {
                let ($($name,)*) = self;
                // SAFETY: the caller upholds the contract.
                unsafe { ($($name.borrow(),)*) }
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);

impl<'scope, 'env: 'scope> FrameSystems<'scope, 'env> {
    pub(super) fn new(
        scope: &'scope TaskScope<'scope, 'env>,
        priorities: &'env [(String, u8)],
    ) -> FrameSystems<'scope, 'env> {
        let (parts, systems) = (Vec::new(), Vec::new());
        FrameSystems { graph: scope.graph(), tasks: scope.tasks, priorities, parts, systems }
    }

    /// Returns the task manager, for a system that splits its own work:
    /// [`TaskManager::each_slice`].
    pub fn tasks(&self) -> &'env TaskManager {
        self.tasks
    }

    /// Adds data that systems work on, under a name.
    pub fn part<T: Send + Sync + 'static>(
        &mut self,
        name: &'static str,
        value: &'scope mut T,
    ) -> SystemPart<'scope, T> {
        insist!(self.parts.len() < PARTS_MAX, "part '{name}' is one too many: at most {PARTS_MAX}");
        self.parts.push(PartUsers { name, writer: 0, readers: 0 });
        let id = PartId { frame: self.graph.number(), index: self.parts.len() as u32 - 1 };
        SystemPart { id, value, lifetimes: PhantomData }
    }

    /// Adds a system: its name, its parts, and its work on these parts. If the work returns an
    /// error or panics, the frame ends with that error. Later systems that touch parts that it
    /// writes are skipped.
    pub fn system<A, F, O>(&mut self, name: &'static str, access: A, work: F)
    where
        A: SystemAccess + 'scope,
        F: for<'a> FnOnce(A::Borrowed<'a>) -> O + Send + 'scope,
        O: TaskOutcome,
    {
        insist!(self.systems.len() < SYSTEMS_MAX, "system '{name}' is one too many");
        let before = self.record_uses(name, &access);
        let task = Task { priority: priority(self.priorities, name), ..Task::from(name) };
        let task = self.graph.add(task, move || {
            // SAFETY: `depend` orders all other systems that touch these parts, except where both
            // only read a part. Each of them has ended or starts after this one's end.
            work(unsafe { access.borrow() })
        });
        self.depend(task, before);
        let earlier = set_bits(before).fold(before, |all, i| all | self.systems[i].before);
        self.systems.push(AddedSystem { task, before: earlier });
    }

    /// Records the parts of the next system. Returns the systems that must end before it.
    fn record_uses(&mut self, name: &'static str, access: &impl SystemAccess) -> u64 {
        let (mut before, mut read, mut written) = (0, 0u64, 0u64);
        let (own, frame) = (1u64 << self.systems.len(), self.graph.number());
        access.parts(&mut |PartId { frame: of, index }, writes| {
            insist!(of == frame, "system '{name}' names a part of another frame");
            let (bit, part) = (1u64 << index, &mut self.parts[index as usize]);
            insist!(
                written & bit == 0 && (!writes || read & bit == 0),
                "system '{name}' names the part '{}' twice, and writes it: name it once",
                part.name
            );
            before |= part.writer;
            if writes {
                written |= bit;
                before |= part.readers;
                (part.writer, part.readers) = (own, 0);
            } else {
                read |= bit;
                part.readers |= own;
            }
        });
        before & !own
    }

    /// Makes a task depend on several systems, without those on which the others depend already.
    fn depend(&mut self, task: TaskId, before: u64) {
        let implied = set_bits(before).fold(0, |all, i| all | self.systems[i].before);
        let needed = before & !implied;
        if needed.count_ones() <= 1 {
            if let Some(only) = set_bits(needed).next() {
                self.graph.depends_on(task, self.systems[only].task);
            }
            return;
        }
        // A task has one dependency and one parent, so each of these empty tasks represents one
        // system.
        let all = self.graph.add_empty("several systems");
        for i in set_bits(needed) {
            let one = self.graph.add_empty("one of them");
            self.graph.depends_on(one, self.systems[i].task);
            self.graph.add_child(all, one);
        }
        self.graph.depends_on(task, all);
    }

    pub(super) fn into_graph(self) -> TaskGraph<'scope, 'env> {
        self.graph
    }
}

fn set_bits(set: u64) -> impl Iterator<Item = usize> {
    super::scheduler::set_bits(set).map(|bit| bit as usize)
}
