//! The systems of a frame as tasks: what each reads and writes is said where it is added, and the
//! graph follows from that. Knows neither which systems there are nor what they work on.
//!
//! Systems that touch the same part run in the order in which they were added, unless both only
//! read it; all others may run at once. So a result is that of running them one by one, on any
//! number of threads. A system is given what it said and nothing else: what it did not say, it
//! cannot reach, and as each depends on earlier ones alone there are no circles.

use std::marker::PhantomData;

use super::pool::priority;
use super::{Graph, Outcome, Scope, Task, TaskId, Tasks};
use crate::insist;

/// Systems of one frame.
pub const SYSTEMS_MAX: usize = 64;
/// Parts that they work on.
pub const PARTS_MAX: usize = 64;

/// One frame's systems while they are added. Made by [`Pool::frame`](super::Pool::frame).
pub struct Systems<'scope, 'env: 'scope> {
    graph: Graph<'scope, 'env>,
    tasks: &'env Tasks,
    priorities: &'env [(String, u8)],
    parts: Vec<Uses>,
    systems: Vec<Added>,
}

/// Who uses a part, as bits of systems.
struct Uses {
    name: &'static str,
    /// The last that writes it.
    writer: u64,
    /// Those that read it after that.
    readers: u64,
}

struct Added {
    task: TaskId,
    /// Every system that has to end before this one begins.
    before: u64,
}

/// Which part of which frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PartId {
    frame: u32,
    index: u32,
}

/// Something that systems work on: one field of a world, one array.
pub struct Part<'scope, T> {
    id: PartId,
    value: *mut T,
    lives: PhantomData<&'scope mut T>,
}

impl<T> Clone for Part<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Part<'_, T> {}

/// A part that a system reads: it gets `&T`.
pub struct Read<'scope, T>(Part<'scope, T>);

/// A part that a system changes: it gets `&mut T`.
pub struct Write<'scope, T>(Part<'scope, T>);

impl<'scope, T> Part<'scope, T> {
    pub fn read(self) -> Read<'scope, T> {
        Read(self)
    }

    pub fn write(self) -> Write<'scope, T> {
        Write(self)
    }
}

// SAFETY: `Systems` hands the values out so that nobody else has them while one has `&mut`.
unsafe impl<T: Send + Sync> Send for Read<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Write<'_, T> {}

/// What a system reads and writes: `Read`, `Write`, or a tuple of them.
pub trait Access: Send {
    /// What the system is given.
    type Given<'a>;
    /// Calls `each` with every part, and whether it is written.
    fn parts(&self, each: &mut dyn FnMut(PartId, bool));
    /// # Safety
    /// Until the end of `'a` nobody else writes what is given, or uses what is given as `&mut`.
    unsafe fn give<'a>(self) -> Self::Given<'a>;
}

impl<T: Send + Sync + 'static> Access for Read<'_, T> {
    type Given<'a> = &'a T;
    fn parts(&self, each: &mut dyn FnMut(PartId, bool)) {
        each(self.0.id, false);
    }
    unsafe fn give<'a>(self) -> &'a T {
        // SAFETY: as the caller promised; the value outlives the frame's scope.
        unsafe { &*self.0.value }
    }
}

impl<T: Send + Sync + 'static> Access for Write<'_, T> {
    type Given<'a> = &'a mut T;
    fn parts(&self, each: &mut dyn FnMut(PartId, bool)) {
        each(self.0.id, true);
    }
    unsafe fn give<'a>(self) -> &'a mut T {
        // SAFETY: as the caller promised; the value outlives the frame's scope.
        unsafe { &mut *self.0.value }
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Access),*> Access for ($($name,)*) {
            type Given<'a> = ($($name::Given<'a>,)*);
            #[allow(non_snake_case)]
            fn parts(&self, each: &mut dyn FnMut(PartId, bool)) {
                let ($($name,)*) = self;
                $($name.parts(each);)*
            }
            #[allow(non_snake_case)]
            unsafe fn give<'a>(self) -> Self::Given<'a> {
                let ($($name,)*) = self;
                // SAFETY: as the caller promised.
                unsafe { ($($name.give(),)*) }
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

impl<'scope, 'env: 'scope> Systems<'scope, 'env> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        priorities: &'env [(String, u8)],
    ) -> Systems<'scope, 'env> {
        let (parts, systems) = (Vec::new(), Vec::new());
        Systems { graph: scope.graph(), tasks: scope.tasks, priorities, parts, systems }
    }

    /// For a system that cuts its own work into pieces: [`Tasks::each_slice`].
    pub fn tasks(&self) -> &'env Tasks {
        self.tasks
    }

    /// Names something that systems work on.
    pub fn part<T: Send + Sync + 'static>(
        &mut self,
        name: &'static str,
        value: &'scope mut T,
    ) -> Part<'scope, T> {
        insist!(self.parts.len() < PARTS_MAX, "part '{name}' is one too many: at most {PARTS_MAX}");
        self.parts.push(Uses { name, writer: 0, readers: 0 });
        let id = PartId { frame: self.graph.number(), index: self.parts.len() as u32 - 1 };
        Part { id, value, lives: PhantomData }
    }

    /// Adds a system: its name, what it reads and writes, and what it does with that. An error that
    /// it returns, or a panic, ends the frame with that error; systems that come after it and touch
    /// what it wrote are left out.
    pub fn system<A, F, O>(&mut self, name: &'static str, access: A, work: F)
    where
        A: Access + 'scope,
        F: for<'a> FnOnce(A::Given<'a>) -> O + Send + 'scope,
        O: Outcome,
    {
        insist!(self.systems.len() < SYSTEMS_MAX, "system '{name}' is one too many");
        let before = self.note_uses(name, &access);
        let task = Task { priority: priority(self.priorities, name), ..Task::from(name) };
        let task = self.graph.add(task, move || {
            // SAFETY: every other system that touches these parts, and is not only reading what
            // this one only reads, has ended or begins after this one's end, by `depend`.
            work(unsafe { access.give() })
        });
        self.depend(task, before);
        let earlier = bits(before).fold(before, |all, i| all | self.systems[i].before);
        self.systems.push(Added { task, before: earlier });
    }

    /// Notes what the next system uses: the systems that have to end before it.
    fn note_uses(&mut self, name: &'static str, access: &impl Access) -> u64 {
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

    /// Lets a task wait for several systems, but for those that others of them wait for.
    fn depend(&mut self, task: TaskId, before: u64) {
        let implied = bits(before).fold(0, |all, i| all | self.systems[i].before);
        let needed = before & !implied;
        if needed.count_ones() <= 1 {
            if let Some(only) = bits(needed).next() {
                self.graph.depends_on(task, self.systems[only].task);
            }
            return;
        }
        // A task has one dependency and one parent: each of these stands for one system.
        let all = self.graph.add_empty("several systems");
        for i in bits(needed) {
            let one = self.graph.add_empty("one of them");
            self.graph.depends_on(one, self.systems[i].task);
            self.graph.add_child(all, one);
        }
        self.graph.depends_on(task, all);
    }

    pub(super) fn into_graph(self) -> Graph<'scope, 'env> {
        self.graph
    }
}

fn bits(set: u64) -> impl Iterator<Item = usize> {
    super::board::bits(set).map(|bit| bit as usize)
}
