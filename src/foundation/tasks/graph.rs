//! A graph of tasks while it is built: nothing of it runs yet, so nothing can be added too late.
//! When it is released it is checked: a graph that could never end is refused by name.

use std::sync::atomic::{AtomicU32, Ordering};

use super::TASKS_MAX;
use super::arena::Arena;
use super::board::Key;
use super::record::{Affinity, NONE, Outcome, Record, Task, Work};
use super::scope::{Running, Scope};
use super::split::split;
use crate::insist;

/// A task of one graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskId {
    graph: u32,
    task: u32,
}

/// What a graph is made of; used again for later graphs.
#[derive(Default)]
pub(super) struct Parts {
    pub arena: Arena,
    /// The first is the root, an empty task whose children are those without another parent.
    records: Vec<Record>,
    /// The tasks' places on the board, once released.
    pub keys: Vec<Key>,
    /// For the check.
    left: Vec<u32>,
    ready: Vec<u32>,
    /// The next in a list of parts.
    pub next: Option<Box<Parts>>,
}

/// Collects tasks; [`run`](Graph::run) lets them go. A graph that is dropped instead runs nothing.
#[must_use = "nothing runs before `run`"]
pub struct Graph<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    number: u32,
    /// There until the graph is released.
    parts: Option<Box<Parts>>,
}

/// Each graph gets the next number, so that a task of another one is noticed.
static NUMBER: AtomicU32 = AtomicU32::new(0);

impl<'scope, 'env> Graph<'scope, 'env> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        mut parts: Box<Parts>,
    ) -> Graph<'scope, 'env> {
        parts.arena.clear();
        parts.records.clear();
        parts.records.push(Record::new("the whole graph".into(), None, 0));
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Graph { scope, number, parts: Some(parts) }
    }

    /// No other graph has it.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    fn parts(&mut self) -> &mut Parts {
        self.parts.as_mut().expect("the graph is not yet released")
    }

    /// Adds a task. Its work may borrow what lives longer than the scope; an error that it returns,
    /// or a panic, ends the graph with that error.
    pub fn add<F, O>(&mut self, task: impl Into<Task>, work: F) -> TaskId
    where
        F: FnOnce() -> O + Send + 'scope,
        O: Outcome,
    {
        let closure = self.parts().arena.place(work);
        self.push(task.into(), Some(Work::new(closure)))
    }

    /// Adds a task without work, for [`add_child`](Graph::add_child): it is complete when its
    /// children are, and so stands for several tasks where one is due.
    pub fn add_empty(&mut self, name: &'static str) -> TaskId {
        self.push(name.into(), None)
    }

    /// Adds a task with a child for each piece of `0..n`, see [`split`]. What the work captures is
    /// copied for each piece.
    pub fn add_split<F, O>(&mut self, task: impl Into<Task>, n: usize, work: F) -> TaskId
    where
        F: Fn(std::ops::Range<usize>) -> O + Copy + Send + 'scope,
        O: Outcome,
    {
        let task = task.into();
        let parent = self.push(task, None);
        for piece in split(n, self.scope.tasks.threads()) {
            let child = self.add(task, move || work(piece));
            self.add_child(parent, child);
        }
        parent
    }

    /// Adds a task with a child for each piece of `items`, see [`split`]. The work gets a piece and
    /// the index of its first item.
    pub fn add_slices<T, F, O>(
        &mut self,
        task: impl Into<Task>,
        mut items: &'scope mut [T],
        work: F,
    ) -> TaskId
    where
        T: Send,
        F: Fn(usize, &mut [T]) -> O + Copy + Send + 'scope,
        O: Outcome,
    {
        let task = task.into();
        let parent = self.push(task, None);
        for piece in split(items.len(), self.scope.tasks.threads()) {
            let (slice, rest) = items.split_at_mut(piece.len());
            items = rest;
            let child = self.add(task, move || work(piece.start, slice));
            self.add_child(parent, child);
        }
        parent
    }

    fn push(&mut self, task: Task, work: Option<Work>) -> TaskId {
        let (name, priority, most) = (task.name, task.priority, super::PRIORITY_MAX);
        insist!(priority <= most, "task '{name}' has priority {priority}; the highest is {most}");
        let number = self.number;
        let records = &mut self.parts().records;
        let order = records.len() as u32;
        insist!(
            records.len() < TASKS_MAX,
            "task '{name}' is one too many: a graph has at most {TASKS_MAX} tasks; give each task \
             more to do"
        );
        records.push(Record::new(task, work, order));
        TaskId { graph: number, task: order }
    }

    /// The task's place in the graph.
    fn place(&self, id: TaskId) -> u32 {
        insist!(
            id.graph == self.number,
            "a task of another graph was named: tasks depend only on tasks of their own graph; \
             wait for the other graph first"
        );
        id.task
    }

    /// `parent` is complete only when `child` is, too. A task has at most one parent. Its children
    /// may run before, beside or after its own work.
    pub fn add_child(&mut self, parent: TaskId, child: TaskId) {
        let (parent, child) = (self.place(parent), self.place(child));
        let records = &mut self.parts().records;
        let name = |task: u32| records[task as usize].name;
        insist!(parent != child, "task '{}' cannot be its own child", name(child));
        let old = records[child as usize].parent;
        if old != NONE {
            let (child, parent, old) = (name(child), name(parent), name(old));
            insist!(false, "task '{child}' cannot be a child of '{parent}': it is one of '{old}'");
        }
        if ancestors(records, parent).any(|ancestor| ancestor == child) {
            let (child, parent) = (name(child), name(parent));
            insist!(false, "task '{child}' cannot be a child of '{parent}', its own descendant");
        }
        records[child as usize].parent = parent;
        records[parent as usize].open_work_items += 1;
    }

    /// The own work of `task` begins only when `dependency` is complete, children and all. The
    /// children of `task` are not held back by it. A task has at most one dependency: for several,
    /// make them children of an empty task.
    pub fn depends_on(&mut self, task: TaskId, dependency: TaskId) {
        let (task, dependency) = (self.place(task), self.place(dependency));
        let records = &mut self.parts().records;
        let name = |task: u32| records[task as usize].name;
        insist!(task != dependency, "task '{}' depends on itself", name(task));
        let old = records[task as usize].dependency;
        if old != NONE {
            let (task, old, dependency) = (name(task), name(old), name(dependency));
            insist!(
                false,
                "task '{task}' depends on '{old}' and cannot depend on '{dependency}' as well: \
                 make both children of an empty task, and depend on that"
            );
        }
        records[task as usize].dependency = dependency;
    }

    /// Lets the tasks run.
    ///
    /// # Panics
    /// If the graph could never end: a task depends on its own descendant or ancestor, or
    /// dependencies go round in a circle; if a task is for a thread that is not registered; if
    /// there would be more than [`TASKS_MAX`] tasks in all graphs together.
    pub fn run(mut self) -> Running<'scope, 'env> {
        let parts = self.parts();
        link(&mut parts.records);
        if let Err(words) = check(&parts.records, &mut parts.left, &mut parts.ready) {
            insist!(false, "{words}");
        }
        let parts = self.parts.as_mut().expect("the graph is released once");
        if parts.records.iter().any(|record| record.affinity != Affinity::Any) {
            self.scope.check_affinities(&parts.records);
        }
        if !self.scope.tasks.shared.release(&parts.records, &mut parts.keys) {
            let n = parts.records.len();
            insist!(false, "{n} more tasks were released: at most {TASKS_MAX} can be open at once");
        }
        let parts = self.parts.take().expect("the graph is released once");
        let keys = std::ptr::from_ref(parts.keys.as_slice());
        self.scope.keep(parts);
        Running { scope: self.scope, number: self.number, keys }
    }
}

impl TaskId {
    /// Its place in the graph `number`.
    pub(super) fn in_graph(self, number: u32) -> u32 {
        insist!(self.graph == number, "a task of another graph was named: ask that one");
        self.task
    }
}

impl Drop for Graph<'_, '_> {
    fn drop(&mut self) {
        let Some(mut parts) = self.parts.take() else { return };
        for record in &mut parts.records {
            if let Some(work) = record.work.take() {
                // SAFETY: the closure lies in `parts.arena`, and the graph was never released.
                unsafe { work.discard() };
            }
        }
        self.scope.tasks.shared.give_parts(parts);
    }
}

fn ancestors(records: &[Record], task: u32) -> impl Iterator<Item = u32> {
    let parent = |task: &u32| {
        let parent = records[*task as usize].parent;
        (parent != NONE).then_some(parent)
    };
    std::iter::successors(Some(task), parent)
}

/// Puts the tasks without a parent under the root, and each task into its dependency's list, in the
/// order in which they were added.
pub(super) fn link(records: &mut [Record]) {
    for task in (1..records.len()).rev() {
        if records[task].parent == NONE {
            records[task].parent = 0;
            records[0].open_work_items += 1;
        }
        let dependency = records[task].dependency;
        if dependency != NONE {
            let dependency = &mut records[dependency as usize];
            let next = std::mem::replace(&mut dependency.first_dependent, task as u32);
            records[task].next_dependent = next;
        }
    }
}

/// Whether all tasks of a linked graph would come to an end; otherwise says which do not, and why.
/// `left` and `ready` are room to work in.
fn check(records: &[Record], left: &mut Vec<u32>, ready: &mut Vec<u32>) -> Result<(), String> {
    for record in records.iter().filter(|record| record.dependency != NONE) {
        let name = |task: u32| records[task as usize].name;
        let (task, dependency) = (record.name, name(record.dependency));
        if ancestors(records, record.dependency).any(|ancestor| ancestor == record.order) {
            return Err(format!(
                "task '{task}' depends on '{dependency}', which is its own child: put what \
                 '{task}' does afterwards into a task of its own, and let that depend on '{task}'"
            ));
        }
        if ancestors(records, record.order).any(|ancestor| ancestor == record.dependency) {
            return Err(format!(
                "task '{task}' depends on '{dependency}', whose child it is: '{dependency}' is \
                 complete only after '{task}', so both would wait for ever"
            ));
        }
    }
    // Runs the graph without its work.
    left.clear();
    left.extend(records.iter().map(|record| record.open_work_items));
    ready.clear();
    let free = records.iter().filter(|record| record.dependency == NONE);
    ready.extend(free.map(|record| record.order));
    let mut complete = 0;
    while let Some(task) = ready.pop() {
        let mut at = task;
        while at != NONE {
            let record = &records[at as usize];
            left[at as usize] -= 1;
            if left[at as usize] > 0 {
                break;
            }
            complete += 1;
            let mut dependent = record.first_dependent;
            while dependent != NONE {
                ready.push(dependent);
                dependent = records[dependent as usize].next_dependent;
            }
            at = record.parent;
        }
    }
    if complete == records.len() { Ok(()) } else { Err(circle(records, left)) }
}

/// The words for a circle, when the tasks with `left` above zero never come to an end.
fn circle(records: &[Record], left: &[u32]) -> String {
    let stuck = |record: &&Record| left[record.order as usize] > 0;
    // What an incomplete task waits for: its dependency, or else a child that is incomplete.
    let cause = |record: &Record| -> usize {
        let dependency = record.dependency;
        if dependency != NONE && left[dependency as usize] > 0 {
            return dependency as usize;
        }
        let child = |child: &&Record| child.parent == record.order && stuck(child);
        records.iter().find(child).expect("an open work item is a child's").order as usize
    };
    // From the root, so many steps end within the circle.
    let start = records.iter().fold(0, |at, _| cause(&records[at]));
    let mut words =
        format!("these tasks would wait for each other for ever: '{}'", { records[start].name });
    let mut at = start;
    loop {
        let next = cause(&records[at]);
        let how =
            if records[at].dependency == next as u32 { "depends on" } else { "has the child" };
        words += &format!(" {how} '{}'", records[next].name);
        at = next;
        if at == start {
            return words;
        }
        words += ", which";
    }
}
