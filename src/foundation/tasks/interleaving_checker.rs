//! An interleaving checker: tries every order in which threads can take the scheduler's lock, for
//! small graphs. Each operation that a thread does under the lock is one step of a simulated thread
//! here, and all interleavings of these steps are explored. In every state, the checker verifies
//! that each task runs once and after its dependencies, and that no thread sleeps while it could
//! run a task. It also verifies that every order ends.
//!
//! Locks and condition variables come from the standard library and are not checked here. The
//! transfer of closures between threads is ensured by the lock, and covered by the stress tests.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;

use super::graph::link;
use super::scheduler::{NextAction, Runner, Scheduler, TaskEnd, TaskKey, WaitReason};
use super::task::{NONE, Task, TaskClosure, TaskRecord, ThreadAffinity};
use crate::Error;

static SET: AtomicBool = AtomicBool::new(true);
static UNSET: AtomicBool = AtomicBool::new(false);

/// A task of a graph. Parent and dependency are indices into the graph, or `NO`.
#[derive(Clone, Copy)]
struct GraphPlan {
    parent: usize,
    dependency: usize,
    affinity: ThreadAffinity,
    priority: u8,
    kind: TaskShape,
}

#[derive(Clone, Copy, PartialEq)]
enum TaskShape {
    Empty,
    Work,
    Fails,
    /// Runs another graph of the test case, and waits for it.
    Nested(usize),
}

const NO: usize = usize::MAX;
const WORK: GraphPlan = GraphPlan {
    parent: NO,
    dependency: NO,
    affinity: ThreadAffinity::Any,
    priority: Task::DEFAULT.priority,
    kind: TaskShape::Work,
};

fn depends_on(dependency: usize) -> GraphPlan {
    GraphPlan { dependency, ..WORK }
}

fn child(parent: usize) -> GraphPlan {
    GraphPlan { parent, ..WORK }
}

fn nested(graph: usize) -> GraphPlan {
    GraphPlan { kind: TaskShape::Nested(graph), ..WORK }
}

/// An action of a main thread.
#[derive(Clone, Copy)]
enum ThreadAction {
    /// Releases a graph and waits for all of its tasks.
    Graph(usize),
    /// Releases a graph and waits for one of its tasks.
    Task(usize, usize),
    /// Waits for all tasks of a graph that was released before.
    Rest(usize),
    WaitForEvent,
    Signal,
}

struct CheckCase {
    graphs: Vec<Vec<GraphPlan>>,
    /// Affinities of each main thread, and its actions in order.
    mains: Vec<(u8, Vec<ThreadAction>)>,
    workers: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum CheckRun {
    Not,
    Begun,
    Ended,
}

#[derive(Clone)]
enum SearchFrame {
    /// In the loop of `TaskThreads::run_tasks`.
    Loop { runner: Runner<'static>, finished: Option<TaskEnd>, event: bool },
    /// In a task. `waited` is true if the thread has waited for the task's nested graph.
    Job { graph: usize, task: usize, slot: u32, waited: bool },
}

#[derive(Clone)]
struct ModelThread {
    mask: u8,
    next_act: usize,
    frames: Vec<SearchFrame>,
    worker: bool,
}

#[derive(Clone)]
struct ModelState {
    scheduler: Scheduler,
    threads: Vec<ModelThread>,
    runs: Vec<Vec<CheckRun>>,
    /// Keys of each released graph's tasks in the scheduler, the root first.
    keys: Vec<Vec<TaskKey>>,
    event: bool,
}

fn root_slot(keys: &[TaskKey]) -> u32 {
    keys[0].slot
}

impl ModelState {
    fn new(case: &CheckCase) -> ModelState {
        let mut scheduler = Scheduler::new();
        let workers = (0..case.workers).map(|_| ModelThread {
            mask: ThreadAffinity::Any.bit(),
            next_act: 0,
            frames: vec![SearchFrame::Loop {
                runner: Runner {
                    thread_slot: None,
                    mask: ThreadAffinity::Any.bit(),
                    only: NONE,
                    awaits: WaitReason::Stop,
                },
                finished: None,
                event: false,
            }],
            worker: true,
        });
        let main = |(mask, _): &(u8, Vec<ThreadAction>)| ModelThread {
            mask: *mask,
            next_act: 0,
            frames: Vec::new(),
            worker: false,
        };
        scheduler.registered = ThreadAffinity::Update.bit() | ThreadAffinity::Render.bit();
        ModelState {
            scheduler,
            threads: workers.chain(case.mains.iter().map(main)).collect(),
            runs: case.graphs.iter().map(|graph| vec![CheckRun::Not; graph.len()]).collect(),
            keys: vec![Vec::new(); case.graphs.len()],
            event: false,
        }
    }

    /// Returns true if the thread can take a step. Otherwise it sleeps or has ended.
    fn is_ready(&self, thread: &ModelThread, case: &CheckCase) -> bool {
        match thread.frames.last() {
            Some(SearchFrame::Loop {
                runner: Runner { thread_slot: Some(thread_slot), .. },
                ..
            }) => !self.scheduler.is_asleep(*thread_slot),
            Some(_) => true,
            None => !thread.worker && thread.next_act < self.acts(thread, case).len(),
        }
    }

    fn acts<'a>(&self, thread: &ModelThread, case: &'a CheckCase) -> &'a [ThreadAction] {
        let main = case.mains.iter().find(|main| main.0 == thread.mask);
        &main.expect("main threads differ in their affinities").1
    }

    fn release(&mut self, graph: usize, case: &CheckCase, nested: bool) {
        let mut records = vec![TaskRecord::new(Task::DEFAULT, None, 0)];
        let record_index = |task: usize| if task == NO { NONE } else { task as u32 + 1 };
        for (i, plan) in case.graphs[graph].iter().enumerate() {
            let closure = NonNull::<fn()>::dangling().as_ptr();
            let work = (plan.kind != TaskShape::Empty).then(|| TaskClosure::new(closure));
            let task = Task { affinity: plan.affinity, priority: plan.priority, name: "" };
            records.push(TaskRecord {
                parent: record_index(plan.parent),
                dependency: record_index(plan.dependency),
                ..TaskRecord::new(task, work, i as u32 + 1)
            });
        }
        for plan in case.graphs[graph].iter().filter(|plan| plan.parent != NO) {
            records[plan.parent + 1].open_work_items += 1;
        }
        link(&mut records);
        let mut keys = Vec::new();
        assert!(self.scheduler.release(&records, nested, &mut keys));
        self.keys[graph] = keys;
    }

    /// Performs the thread's next step.
    fn act(&mut self, at: usize, case: &CheckCase) {
        match self.threads[at].frames.last().cloned() {
            None => self.next_act(at, case),
            Some(SearchFrame::Job { graph, task, slot, waited }) => {
                let kind = case.graphs[graph][task].kind;
                if let (TaskShape::Nested(inner), false) = (kind, waited) {
                    self.release(inner, case, true);
                    let Some(SearchFrame::Job { waited, .. }) = self.threads[at].frames.last_mut()
                    else {
                        unreachable!()
                    };
                    *waited = true;
                    let root = self.keys[inner][0];
                    self.wait(at, WaitReason::Task(root), root_slot(&self.keys[inner]));
                    return;
                }
                assert_eq!(self.runs[graph][task], CheckRun::Begun);
                self.runs[graph][task] = CheckRun::Ended;
                let failed = kind == TaskShape::Fails;
                let error = failed.then(|| Box::new(Error::new(format!("{graph} {task}"))));
                self.threads[at].frames.pop();
                let Some(SearchFrame::Loop { finished, .. }) = self.threads[at].frames.last_mut()
                else {
                    unreachable!()
                };
                *finished = Some(TaskEnd { slot, error });
                self.step(at, case);
            }
            Some(SearchFrame::Loop { .. }) => self.step(at, case),
        }
        self.scheduler.take_calls();
    }

    fn next_act(&mut self, at: usize, case: &CheckCase) {
        let act = self.acts(&self.threads[at], case)[self.threads[at].next_act];
        self.threads[at].next_act += 1;
        match act {
            ThreadAction::Graph(graph) => {
                self.release(graph, case, false);
                self.wait(at, WaitReason::Task(self.keys[graph][0]), NONE);
            }
            ThreadAction::Task(graph, task) => {
                self.release(graph, case, false);
                self.wait(at, WaitReason::Task(self.keys[graph][task + 1]), NONE);
            }
            ThreadAction::Rest(graph) => self.wait(at, WaitReason::Task(self.keys[graph][0]), NONE),
            ThreadAction::WaitForEvent => self.wait(at, WaitReason::Event(&UNSET), NONE),
            ThreadAction::Signal => {
                self.event = true;
                self.scheduler.call_event_waiters();
            }
        }
    }

    fn wait(&mut self, at: usize, awaits: WaitReason<'static>, only: u32) {
        let event = matches!(awaits, WaitReason::Event(_));
        let thread = &mut self.threads[at];
        let runner = Runner { thread_slot: None, mask: thread.mask, only, awaits };
        thread.frames.push(SearchFrame::Loop { runner, finished: None, event });
    }

    fn step(&mut self, at: usize, case: &CheckCase) {
        let set = if self.event { &SET } else { &UNSET };
        let Some(SearchFrame::Loop { runner, finished, event }) =
            self.threads[at].frames.last_mut()
        else {
            unreachable!()
        };
        if *event {
            runner.awaits = WaitReason::Event(set);
        }
        match self.scheduler.step(runner, finished.take()) {
            NextAction::Done => {
                self.threads[at].frames.pop();
            }
            NextAction::Sleep(thread_slot) => {
                let sleeps = |thread: &ModelThread| {
                    let thread_slot_of = |frame: &SearchFrame| match frame {
                        SearchFrame::Loop { runner, .. } => runner.thread_slot,
                        SearchFrame::Job { .. } => None,
                    };
                    thread.frames.iter().any(|frame| thread_slot_of(frame) == Some(thread_slot))
                };
                assert_eq!(self.threads.iter().filter(|thread| sleeps(thread)).count(), 1);
            }
            NextAction::Run(job) => {
                let key = |keys: &Vec<TaskKey>| {
                    let same = |key: &TaskKey| key.slot == job.slot && self.scheduler.is_open(*key);
                    keys.iter().position(same)
                };
                let mut found = self.keys.iter().map(key).enumerate();
                let (graph, task) = found.find_map(|(g, task)| Some((g, task? - 1))).unwrap();
                self.begin(at, graph, task, job.skip, case);
                self.threads[at].frames.push(SearchFrame::Job {
                    graph,
                    task,
                    slot: job.slot,
                    waited: job.skip,
                });
            }
        }
    }

    fn begin(&mut self, at: usize, graph: usize, task: usize, skip: bool, case: &CheckCase) {
        let plans = &case.graphs[graph];
        let thread = &self.threads[at];
        let plan = plans[task];
        assert_eq!(self.runs[graph][task], CheckRun::Not, "a task ran twice");
        assert!(thread.mask & plan.affinity.bit() != 0, "a task ran on a wrong thread");
        if plan.dependency != NO {
            self.assert_complete(graph, plan.dependency, plans);
        }
        let failed = plan.dependency != NO && fails(plans, plan.dependency);
        assert_eq!(skip, failed, "what depends on a failed task is skipped, and nothing else");
        self.runs[graph][task] = CheckRun::Begun;
    }

    fn assert_complete(&self, graph: usize, task: usize, plans: &[GraphPlan]) {
        let empty = plans[task].kind == TaskShape::Empty;
        assert!(empty || self.runs[graph][task] == CheckRun::Ended, "a task began too early");
        if empty && plans[task].dependency != NO {
            self.assert_complete(graph, plans[task].dependency, plans);
        }
        for (i, plan) in plans.iter().enumerate() {
            if plan.parent == task {
                self.assert_complete(graph, i, plans);
            }
        }
    }

    /// Asserts that no thread sleeps while it could run a task, unless another thread is about to
    /// look for tasks.
    fn assert_nobody_idle(&self, case: &CheckCase) {
        let looks = |thread: &ModelThread| {
            matches!(thread.frames.last(), Some(SearchFrame::Loop { .. }))
                && self.is_ready(thread, case)
        };
        if self.threads.iter().any(looks) {
            return;
        }
        let mut records = self.scheduler.records.clone();
        for thread in &self.threads {
            if let Some(SearchFrame::Loop { runner, .. }) = thread.frames.last() {
                let mut queue = self.scheduler.queue.clone();
                let task = queue.take(&mut records, runner.mask, runner.only);
                assert_eq!(task, None, "a thread sleeps while there is a task that it could run");
            }
        }
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.event.hash(&mut hasher);
        for runs in &self.runs {
            for run in runs {
                (*run as u8).hash(&mut hasher);
            }
        }
        for thread in &self.threads {
            (thread.next_act, thread.frames.len()).hash(&mut hasher);
            for frame in &thread.frames {
                match frame {
                    SearchFrame::Loop { runner, .. } => {
                        (runner.thread_slot, runner.only).hash(&mut hasher)
                    }
                    SearchFrame::Job { graph, task, waited, .. } => {
                        (graph, task, waited).hash(&mut hasher)
                    }
                }
            }
        }
        let mut queued = Vec::new();
        self.scheduler.queue.list_into(&self.scheduler.records, &mut queued);
        queued.sort_by_key(|slot| self.scheduler.records[*slot as usize].ready_at);
        (queued, self.scheduler.asleep).hash(&mut hasher);
        for record in &self.scheduler.records {
            (record.generation, record.open_work_items, record.order, record.next, record.skip)
                .hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Returns true if a task's own work, a child or its dependency fails. In the last case the task is
/// skipped.
fn fails(plans: &[GraphPlan], task: usize) -> bool {
    let plan = plans[task];
    let child = |i: &usize| plans[*i].parent == task;
    plan.kind == TaskShape::Fails
        || (plan.dependency != NO && fails(plans, plan.dependency))
        || (0..plans.len()).filter(child).any(|child| fails(plans, child))
}

/// Explores all interleavings.
fn check(case: &CheckCase) {
    let mut visited = HashSet::new();
    let mut stack = vec![ModelState::new(case)];
    while let Some(state) = stack.pop() {
        if !visited.insert(state.hash()) {
            continue;
        }
        state.assert_nobody_idle(case);
        let mut ends = true;
        for at in 0..state.threads.len() {
            if state.is_ready(&state.threads[at], case) {
                ends = false;
                let mut next = state.clone();
                next.act(at, case);
                stack.push(next);
            }
        }
        if ends {
            finish(state, case);
        }
    }
}

/// Checks a state in which no thread can continue: all main threads must have ended, and workers
/// must end when the scheduler stops.
fn finish(mut state: ModelState, case: &CheckCase) {
    for thread in state.threads.iter().filter(|thread| !thread.worker) {
        let at_end = thread.frames.is_empty();
        assert!(at_end, "a main thread waits forever: {:?}", state.runs);
    }
    assert_eq!(state.scheduler.open, 0);
    for (graph, runs) in case.graphs.iter().zip(&state.runs) {
        for (plan, run) in graph.iter().zip(runs) {
            let wanted =
                if plan.kind == TaskShape::Empty { CheckRun::Not } else { CheckRun::Ended };
            assert_eq!(*run, wanted);
        }
    }
    state.scheduler.end();
    for at in 0..case.workers {
        state.step(at, case);
        assert!(state.threads[at].frames.is_empty(), "a worker does not end");
    }
}

const UPDATE: u8 = ThreadAffinity::Update.bit() | ThreadAffinity::Any.bit();
const RENDER: u8 = ThreadAffinity::Render.bit() | ThreadAffinity::Any.bit();

fn one_main(graphs: Vec<Vec<GraphPlan>>, acts: Vec<ThreadAction>, workers: usize) -> CheckCase {
    CheckCase { graphs, mains: vec![(UPDATE, acts)], workers }
}

#[test]
fn every_interleaving_of_the_frame_graph_ends() {
    // animation -> scene_graph; {scene_graph, gui} -> render; done = {render, sound}
    let empty = GraphPlan { kind: TaskShape::Empty, ..WORK };
    let scene_graph = GraphPlan { parent: 3, ..depends_on(0) };
    let render = GraphPlan { parent: 6, ..depends_on(3) };
    let frame = vec![WORK, scene_graph, child(3), empty, render, child(6), empty];
    for workers in 0..4 {
        check(&one_main(vec![frame.clone()], vec![ThreadAction::Graph(0)], workers));
    }
}

#[test]
fn every_interleaving_of_two_graphs_reuses_slots_correctly() {
    let chain = vec![WORK, depends_on(0), depends_on(1), WORK];
    let fan = vec![GraphPlan { kind: TaskShape::Empty, ..WORK }, child(0), child(0), depends_on(0)];
    let acts = vec![ThreadAction::Task(0, 1), ThreadAction::Rest(0), ThreadAction::Graph(1)];
    for workers in 0..3 {
        check(&one_main(vec![chain.clone(), fan.clone()], acts.clone(), workers));
    }
}

#[test]
fn every_interleaving_of_two_main_threads_keeps_affinities() {
    let for_render = GraphPlan { affinity: ThreadAffinity::Render, ..depends_on(0) };
    let for_update = GraphPlan { affinity: ThreadAffinity::Update, ..depends_on(0) };
    let graphs = vec![vec![WORK, for_render, for_update], vec![WORK, for_render], vec![WORK]];
    for workers in 0..2 {
        // The render thread must stay as long as it may be needed.
        let update = vec![ThreadAction::Graph(0), ThreadAction::Signal];
        let render = vec![ThreadAction::Graph(1), ThreadAction::WaitForEvent];
        let mut mains = vec![(UPDATE, update), (RENDER, render)];
        let mut graphs = graphs.clone();
        // A worker in addition to a third thread would create hundreds of thousands of states.
        match workers {
            0 => mains.push((ThreadAffinity::Any.bit(), vec![ThreadAction::Graph(2)])),
            _ => graphs.truncate(2),
        }
        check(&CheckCase { graphs, mains, workers });
    }
}

#[test]
fn every_interleaving_of_nested_graphs_ends() {
    let two = vec![nested(1), nested(2)];
    let graphs = vec![two, vec![WORK, depends_on(0)], vec![WORK, nested(3)], vec![WORK, WORK]];
    for workers in 0..3 {
        check(&one_main(graphs.clone(), vec![ThreadAction::Graph(0)], workers));
    }
}

#[test]
fn every_interleaving_of_a_failing_graph_skips_the_same_tasks() {
    let fails = GraphPlan { kind: TaskShape::Fails, parent: 1, ..WORK };
    let join = GraphPlan { kind: TaskShape::Empty, ..WORK };
    let graph = vec![fails, join, child(1), depends_on(1), depends_on(3), WORK];
    for workers in 0..3 {
        check(&one_main(vec![graph.clone()], vec![ThreadAction::Graph(0)], workers));
    }
}

#[test]
fn a_woken_worker_that_leaves_wakes_another() {
    // The update thread is called for the task that becomes ready after task 0 of the second graph.
    // It finds that the task for which it waits is complete.
    let urgent = GraphPlan { priority: 31, ..depends_on(0) };
    let graphs = vec![vec![WORK, urgent], vec![WORK, depends_on(0), depends_on(0)]];
    let update = vec![ThreadAction::Task(0, 0), ThreadAction::Rest(0)];
    let mains = vec![(UPDATE, update), (RENDER, vec![ThreadAction::Graph(1)])];
    check(&CheckCase { graphs, mains, workers: 2 });
}

#[test]
fn a_thread_waiting_in_a_task_is_not_woken_for_other_graphs() {
    let graphs = vec![vec![nested(1), WORK, depends_on(1), depends_on(1)], vec![WORK]];
    check(&one_main(graphs, vec![ThreadAction::Graph(0)], 3));
}

#[test]
fn spinning_threads_are_notified_before_sleeping_ones() {
    let case = one_main(vec![vec![WORK], vec![WORK]], vec![ThreadAction::Graph(0)], 3);
    let mut state = ModelState::new(&case);
    (0..3).for_each(|worker| state.step(worker, &case));
    // The workers take seats in order, and the last one still watches.
    (0..2).for_each(|thread_slot| state.scheduler.set_parked(thread_slot, true));
    for (graph, called) in [(0, 2), (1, 0)] {
        state.release(graph, &case, false);
        assert_eq!(state.scheduler.take_calls(), 1 << called);
    }
}
