//! A graph of tasks under construction. No task runs yet, so no task can be added too late. The
//! graph is checked when it is released: a graph that could never end is refused with the names of
//! its tasks.

use std::sync::atomic::{AtomicU32, Ordering};

use super::TASKS_MAX;
use super::arena::Arena;
use super::partition::split;
use super::scheduler::TaskKey;
use super::scope::{RunningGraph, TaskScope};
use super::task::{NONE, Task, TaskClosure, TaskOutcome, TaskRecord, ThreadAffinity};
use crate::insist;

/// A task of one graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskId {
    graph: u32,
    task: u32,
}

/// The buffers of a graph, which are reused for later graphs.
#[derive(Default)]
pub(super) struct GraphBuffers {
    pub arena: Arena,
    /// The tasks. The first is the root, an empty task that is the parent of all tasks without
    /// another parent.
    records: Vec<TaskRecord>,
    /// Keys of the tasks in the scheduler, after release.
    pub keys: Vec<TaskKey>,
    /// Scratch buffers for the check.
    remaining: Vec<u32>,
    ready: Vec<u32>,
    /// The next element in a list of buffers.
    pub next: Option<Box<GraphBuffers>>,
}

/// A builder that collects tasks. [`run`](TaskGraph::run) starts them. If a graph is dropped
/// instead, nothing runs.
#[must_use = "nothing runs before `run`"]
pub struct TaskGraph<'scope, 'env> {
    scope: &'scope TaskScope<'scope, 'env>,
    number: u32,
    /// The buffers; `None` after release.
    buffers: Option<Box<GraphBuffers>>,
}

/// The number of the next graph. Each graph has its own number, so that a task of another graph is
/// detected.
static NUMBER: AtomicU32 = AtomicU32::new(0);

impl<'scope, 'env> TaskGraph<'scope, 'env> {
    pub(super) fn new(
        scope: &'scope TaskScope<'scope, 'env>,
        mut buffers: Box<GraphBuffers>,
    ) -> TaskGraph<'scope, 'env> {
        buffers.arena.clear();
        buffers.records.clear();
        buffers.records.push(TaskRecord::new("the whole graph".into(), None, 0));
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        TaskGraph { scope, number, buffers: Some(buffers) }
    }

    /// Returns the number of the graph, which no other graph has.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    fn buffers(&mut self) -> &mut GraphBuffers {
        self.buffers.as_mut().expect("the graph is not yet released")
    }

    /// Adds a task. Its work may borrow data that outlives the scope. If the work returns an error
    /// or panics, the graph ends with that error.
    pub fn add<F, O>(&mut self, task: impl Into<Task>, work: F) -> TaskId
    where
        F: FnOnce() -> O + Send + 'scope,
        O: TaskOutcome,
    {
        let closure = self.buffers().arena.store(work);
        self.push(task.into(), Some(TaskClosure::new(closure)))
    }

    /// Adds a task without work, for [`add_child`](TaskGraph::add_child). It is complete when its
    /// children are complete, so it can represent several tasks where one is needed.
    pub fn add_empty(&mut self, name: &'static str) -> TaskId {
        self.push(name.into(), None)
    }

    /// Adds a task with a child for each piece of `0..n`, see [`split`]. The captured values of the
    /// work are copied for each piece.
    pub fn add_split<F, O>(&mut self, task: impl Into<Task>, n: usize, work: F) -> TaskId
    where
        F: Fn(std::ops::Range<usize>) -> O + Copy + Send + 'scope,
        O: TaskOutcome,
    {
        let task = task.into();
        let parent = self.push(task, None);
        for piece in split(n, self.scope.tasks.threads()) {
            let child = self.add(task, move || work(piece));
            self.add_child(parent, child);
        }
        parent
    }

    /// Adds a task with a child for each piece of `items`, see [`split`]. The work receives a piece
    /// and the index of its first item.
    pub fn add_slices<T, F, O>(
        &mut self,
        task: impl Into<Task>,
        mut items: &'scope mut [T],
        work: F,
    ) -> TaskId
    where
        T: Send,
        F: Fn(usize, &mut [T]) -> O + Copy + Send + 'scope,
        O: TaskOutcome,
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

    fn push(&mut self, task: Task, work: Option<TaskClosure>) -> TaskId {
        let (name, priority, highest) = (task.name, task.priority, super::PRIORITY_MAX);
        insist!(
            priority <= highest,
            "task '{name}' has priority {priority}; the highest is {highest}"
        );
        let number = self.number;
        let records = &mut self.buffers().records;
        let order = records.len() as u32;
        insist!(
            records.len() < TASKS_MAX,
            "task '{name}' is one too many: a graph has at most {TASKS_MAX} tasks; give each task \
             more to do"
        );
        records.push(TaskRecord::new(task, work, order));
        TaskId { graph: number, task: order }
    }

    /// Returns the index of a task in the graph.
    fn index_of(&self, id: TaskId) -> u32 {
        insist!(
            id.graph == self.number,
            "a task of another graph was named: tasks depend only on tasks of their own graph; \
             wait for the other graph first"
        );
        id.task
    }

    /// Makes `child` a child of `parent`: `parent` is complete only when `child` is complete. A
    /// task has at most one parent. Its children may run before, in parallel with or after its own
    /// work.
    pub fn add_child(&mut self, parent: TaskId, child: TaskId) {
        let (parent, child) = (self.index_of(parent), self.index_of(child));
        let records = &mut self.buffers().records;
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

    /// Makes `task` depend on `dependency`: the own work of `task` starts only when `dependency` is
    /// complete, including its children. The children of `task` do not wait for it. A task has at
    /// most one dependency: for several, make them children of an empty task.
    pub fn depends_on(&mut self, task: TaskId, dependency: TaskId) {
        let (task, dependency) = (self.index_of(task), self.index_of(dependency));
        let records = &mut self.buffers().records;
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

    /// Starts the tasks.
    ///
    /// # Panics
    /// Panics if the graph could never end, because a task depends on its own descendant or
    /// ancestor, or because dependencies form a cycle. Panics if a task is for a thread that is not
    /// registered, or if all graphs together would have more than [`TASKS_MAX`] tasks.
    pub fn run(mut self) -> RunningGraph<'scope, 'env> {
        let buffers = self.buffers();
        link(&mut buffers.records);
        if let Err(message) = check(&buffers.records, &mut buffers.remaining, &mut buffers.ready) {
            insist!(false, "{message}");
        }
        let buffers = self.buffers.as_mut().expect("the graph is released once");
        if buffers.records.iter().any(|record| record.affinity != ThreadAffinity::Any) {
            self.scope.check_affinities(&buffers.records);
        }
        if !self.scope.tasks.shared.release(&buffers.records, &mut buffers.keys) {
            let n = buffers.records.len();
            insist!(false, "{n} more tasks were released: at most {TASKS_MAX} can be open at once");
        }
        let buffers = self.buffers.take().expect("the graph is released once");
        let keys = std::ptr::from_ref(buffers.keys.as_slice());
        self.scope.keep(buffers);
        RunningGraph { scope: self.scope, number: self.number, keys }
    }
}

impl TaskId {
    /// Returns the index of the task in the graph `number`.
    pub(super) fn in_graph(self, number: u32) -> u32 {
        insist!(self.graph == number, "a task of another graph was named: ask that one");
        self.task
    }
}

impl Drop for TaskGraph<'_, '_> {
    fn drop(&mut self) {
        let Some(mut buffers) = self.buffers.take() else { return };
        for record in &mut buffers.records {
            if let Some(work) = record.work.take() {
                // SAFETY: the closure is in `buffers.arena`, and the graph was never released.
                unsafe { work.discard() };
            }
        }
        self.scope.tasks.shared.return_buffers(buffers);
    }
}

fn ancestors(records: &[TaskRecord], task: u32) -> impl Iterator<Item = u32> {
    let parent = |task: &u32| {
        let parent = records[*task as usize].parent;
        (parent != NONE).then_some(parent)
    };
    std::iter::successors(Some(task), parent)
}

/// Attaches the tasks without a parent to the root, and adds each task to its dependency's list, in
/// the order in which the tasks were added.
pub(super) fn link(records: &mut [TaskRecord]) {
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

/// Checks that all tasks of a linked graph would end. Otherwise returns a message with the tasks
/// that would not, and the reason. `remaining` and `ready` are scratch buffers.
fn check(
    records: &[TaskRecord],
    remaining: &mut Vec<u32>,
    ready: &mut Vec<u32>,
) -> Result<(), String> {
    for record in records.iter().filter(|record| record.dependency != NONE) {
        let name = |task: u32| records[task as usize].name;
        let (task, dependency) = (record.name, name(record.dependency));
        if ancestors(records, record.dependency).any(|ancestor| ancestor == record.order) {
            return Err(format!(
                "task '{task}' depends on '{dependency}', which is its own child: put what \
                 '{task}' does afterwards into a separate task, and let that depend on '{task}'"
            ));
        }
        if ancestors(records, record.order).any(|ancestor| ancestor == record.dependency) {
            return Err(format!(
                "task '{task}' depends on '{dependency}', whose child it is: '{dependency}' is \
                 complete only after '{task}', so both would wait forever"
            ));
        }
    }
    // Simulates the graph without its work.
    remaining.clear();
    remaining.extend(records.iter().map(|record| record.open_work_items));
    ready.clear();
    let free = records.iter().filter(|record| record.dependency == NONE);
    ready.extend(free.map(|record| record.order));
    let mut complete = 0;
    while let Some(task) = ready.pop() {
        let mut at = task;
        while at != NONE {
            let record = &records[at as usize];
            remaining[at as usize] -= 1;
            if remaining[at as usize] > 0 {
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
    if complete == records.len() { Ok(()) } else { Err(describe_cycle(records, remaining)) }
}

/// Returns the message for a cycle, if the tasks with `remaining` above zero never end.
fn describe_cycle(records: &[TaskRecord], remaining: &[u32]) -> String {
    let stuck = |record: &&TaskRecord| remaining[record.order as usize] > 0;
    // Returns the task that an incomplete task waits for: its dependency, or else an incomplete
    // child.
    let cause = |record: &TaskRecord| -> usize {
        let dependency = record.dependency;
        if dependency != NONE && remaining[dependency as usize] > 0 {
            return dependency as usize;
        }
        let child = |child: &&TaskRecord| child.parent == record.order && stuck(child);
        records.iter().find(child).expect("an open work item is a child's").order as usize
    };
    // As many steps as there are tasks, starting at the root, always end within the cycle.
    let start = records.iter().fold(0, |at, _| cause(&records[at]));
    let mut message =
        format!("these tasks would wait for each other forever: '{}'", { records[start].name });
    let mut at = start;
    loop {
        let next = cause(&records[at]);
        let how =
            if records[at].dependency == next as u32 { "depends on" } else { "has the child" };
        message += &format!(" {how} '{}'", records[next].name);
        at = next;
        if at == start {
            return message;
        }
        message += ", which";
    }
}
