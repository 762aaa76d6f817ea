//! Tries every order in which threads can take the board's lock, for small graphs: each thing that
//! a thread does under the lock is one step of a simulated thread here, and all interleavings of
//! these steps are walked through. Checked in every state: each task runs once, after what it
//! depends on; nobody sleeps beside work that he could do; and every order comes to an end.
//!
//! Locks and condition variables themselves are the standard library's; that closures reach other
//! threads whole is the lock's doing, and the stress tests'.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;

use super::board::{Awaits, Board, Finished, Key, Runner, Step};
use super::graph::link;
use super::record::{Affinity, NONE, Record, Task, Work};
use crate::foundation::Error;

static SET: AtomicBool = AtomicBool::new(true);
static UNSET: AtomicBool = AtomicBool::new(false);

/// A task of a graph: parent and dependency by index in it, if any.
#[derive(Clone, Copy)]
struct Plan {
    parent: usize,
    dependency: usize,
    affinity: Affinity,
    priority: u8,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Empty,
    Work,
    Fails,
    /// Runs another graph of the case, and waits for it.
    Nested(usize),
}

const NO: usize = usize::MAX;
const WORK: Plan = Plan {
    parent: NO,
    dependency: NO,
    affinity: Affinity::Any,
    priority: Task::DEFAULT.priority,
    kind: Kind::Work,
};

fn after(dependency: usize) -> Plan {
    Plan { dependency, ..WORK }
}

fn child(parent: usize) -> Plan {
    Plan { parent, ..WORK }
}

fn nested(graph: usize) -> Plan {
    Plan { kind: Kind::Nested(graph), ..WORK }
}

/// What a main thread does, in order.
#[derive(Clone, Copy)]
enum Act {
    /// Releases a graph and waits for all of it.
    Graph(usize),
    /// Releases a graph and waits for one of its tasks.
    Task(usize, usize),
    /// Waits for all of a graph that was released before.
    Rest(usize),
    WaitForEvent,
    Signal,
}

struct Case {
    graphs: Vec<Vec<Plan>>,
    /// Affinities of each main thread, and its acts.
    mains: Vec<(u8, Vec<Act>)>,
    workers: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Run {
    Not,
    Begun,
    Ended,
}

#[derive(Clone)]
enum Frame {
    /// In the loop of `Shared::run_tasks`.
    Loop { runner: Runner<'static>, finished: Option<Finished>, event: bool },
    /// In a task; whether its nested graph has been waited for, if it has one.
    Job { graph: usize, task: usize, slot: u32, waited: bool },
}

#[derive(Clone)]
struct Thread {
    mask: u8,
    next_act: usize,
    frames: Vec<Frame>,
    worker: bool,
}

#[derive(Clone)]
struct State {
    board: Board,
    threads: Vec<Thread>,
    runs: Vec<Vec<Run>>,
    /// Each graph's tasks on the board, once it is released; the root first.
    keys: Vec<Vec<Key>>,
    event: bool,
}

fn root_slot(keys: &[Key]) -> u32 {
    keys[0].slot
}

impl State {
    fn new(case: &Case) -> State {
        let mut board = Board::new();
        let workers = (0..case.workers).map(|_| Thread {
            mask: Affinity::Any.bit(),
            next_act: 0,
            frames: vec![Frame::Loop {
                runner: Runner {
                    seat: None,
                    mask: Affinity::Any.bit(),
                    only: NONE,
                    awaits: Awaits::Stop,
                },
                finished: None,
                event: false,
            }],
            worker: true,
        });
        let main = |(mask, _): &(u8, Vec<Act>)| Thread {
            mask: *mask,
            next_act: 0,
            frames: Vec::new(),
            worker: false,
        };
        board.registered = Affinity::Update.bit() | Affinity::Render.bit();
        State {
            board,
            threads: workers.chain(case.mains.iter().map(main)).collect(),
            runs: case.graphs.iter().map(|graph| vec![Run::Not; graph.len()]).collect(),
            keys: vec![Vec::new(); case.graphs.len()],
            event: false,
        }
    }

    /// Whether the thread can do something; if not, it sleeps or is at its end.
    fn is_ready(&self, thread: &Thread, case: &Case) -> bool {
        match thread.frames.last() {
            Some(Frame::Loop { runner: Runner { seat: Some(seat), .. }, .. }) => {
                !self.board.is_asleep(*seat)
            }
            Some(_) => true,
            None => !thread.worker && thread.next_act < self.acts(thread, case).len(),
        }
    }

    fn acts<'a>(&self, thread: &Thread, case: &'a Case) -> &'a [Act] {
        let main = case.mains.iter().find(|main| main.0 == thread.mask);
        &main.expect("main threads differ in their affinities").1
    }

    fn release(&mut self, graph: usize, case: &Case, nested: bool) {
        let mut records = vec![Record::new(Task::DEFAULT, None, 0)];
        let place = |task: usize| if task == NO { NONE } else { task as u32 + 1 };
        for (i, plan) in case.graphs[graph].iter().enumerate() {
            let closure = NonNull::<fn()>::dangling().as_ptr();
            let work = (plan.kind != Kind::Empty).then(|| Work::new(closure));
            let task = Task { affinity: plan.affinity, priority: plan.priority, name: "" };
            records.push(Record {
                parent: place(plan.parent),
                dependency: place(plan.dependency),
                ..Record::new(task, work, i as u32 + 1)
            });
        }
        for plan in case.graphs[graph].iter().filter(|plan| plan.parent != NO) {
            records[plan.parent + 1].open_work_items += 1;
        }
        link(&mut records);
        let mut keys = Vec::new();
        assert!(self.board.release(&records, nested, &mut keys));
        self.keys[graph] = keys;
    }

    /// The next thing that the thread does.
    fn act(&mut self, at: usize, case: &Case) {
        match self.threads[at].frames.last().cloned() {
            None => self.next_act(at, case),
            Some(Frame::Job { graph, task, slot, waited }) => {
                let kind = case.graphs[graph][task].kind;
                if let (Kind::Nested(inner), false) = (kind, waited) {
                    self.release(inner, case, true);
                    let Some(Frame::Job { waited, .. }) = self.threads[at].frames.last_mut() else {
                        unreachable!()
                    };
                    *waited = true;
                    let root = self.keys[inner][0];
                    self.wait(at, Awaits::Task(root), root_slot(&self.keys[inner]));
                    return;
                }
                assert_eq!(self.runs[graph][task], Run::Begun);
                self.runs[graph][task] = Run::Ended;
                let failed = kind == Kind::Fails;
                let error = failed.then(|| Box::new(Error::new(format!("{graph} {task}"))));
                self.threads[at].frames.pop();
                let Some(Frame::Loop { finished, .. }) = self.threads[at].frames.last_mut() else {
                    unreachable!()
                };
                *finished = Some(Finished { slot, error });
                self.step(at, case);
            }
            Some(Frame::Loop { .. }) => self.step(at, case),
        }
        self.board.take_calls();
    }

    fn next_act(&mut self, at: usize, case: &Case) {
        let act = self.acts(&self.threads[at], case)[self.threads[at].next_act];
        self.threads[at].next_act += 1;
        match act {
            Act::Graph(graph) => {
                self.release(graph, case, false);
                self.wait(at, Awaits::Task(self.keys[graph][0]), NONE);
            }
            Act::Task(graph, task) => {
                self.release(graph, case, false);
                self.wait(at, Awaits::Task(self.keys[graph][task + 1]), NONE);
            }
            Act::Rest(graph) => self.wait(at, Awaits::Task(self.keys[graph][0]), NONE),
            Act::WaitForEvent => self.wait(at, Awaits::Event(&UNSET), NONE),
            Act::Signal => {
                self.event = true;
                self.board.call_event_waiters();
            }
        }
    }

    fn wait(&mut self, at: usize, awaits: Awaits<'static>, only: u32) {
        let event = matches!(awaits, Awaits::Event(_));
        let thread = &mut self.threads[at];
        let runner = Runner { seat: None, mask: thread.mask, only, awaits };
        thread.frames.push(Frame::Loop { runner, finished: None, event });
    }

    fn step(&mut self, at: usize, case: &Case) {
        let set = if self.event { &SET } else { &UNSET };
        let Some(Frame::Loop { runner, finished, event }) = self.threads[at].frames.last_mut()
        else {
            unreachable!()
        };
        if *event {
            runner.awaits = Awaits::Event(set);
        }
        match self.board.step(runner, finished.take()) {
            Step::Done => {
                self.threads[at].frames.pop();
            }
            Step::Sleep(seat) => {
                let sleeps = |thread: &Thread| {
                    let seat_of = |frame: &Frame| match frame {
                        Frame::Loop { runner, .. } => runner.seat,
                        Frame::Job { .. } => None,
                    };
                    thread.frames.iter().any(|frame| seat_of(frame) == Some(seat))
                };
                assert_eq!(self.threads.iter().filter(|thread| sleeps(thread)).count(), 1);
            }
            Step::Run(job) => {
                let key = |keys: &Vec<Key>| {
                    let same = |key: &Key| key.slot == job.slot && self.board.is_open(*key);
                    keys.iter().position(same)
                };
                let mut found = self.keys.iter().map(key).enumerate();
                let (graph, task) = found.find_map(|(g, task)| Some((g, task? - 1))).unwrap();
                self.begin(at, graph, task, job.skip, case);
                self.threads[at].frames.push(Frame::Job {
                    graph,
                    task,
                    slot: job.slot,
                    waited: job.skip,
                });
            }
        }
    }

    fn begin(&mut self, at: usize, graph: usize, task: usize, skip: bool, case: &Case) {
        let plans = &case.graphs[graph];
        let thread = &self.threads[at];
        let plan = plans[task];
        assert_eq!(self.runs[graph][task], Run::Not, "a task ran twice");
        assert!(thread.mask & plan.affinity.bit() != 0, "a task ran on a wrong thread");
        if plan.dependency != NO {
            self.assert_complete(graph, plan.dependency, plans);
        }
        let failed = plan.dependency != NO && fails(plans, plan.dependency);
        assert_eq!(skip, failed, "what depends on a failed task is skipped, and nothing else");
        self.runs[graph][task] = Run::Begun;
    }

    fn assert_complete(&self, graph: usize, task: usize, plans: &[Plan]) {
        let empty = plans[task].kind == Kind::Empty;
        assert!(empty || self.runs[graph][task] == Run::Ended, "a task began too early");
        if empty && plans[task].dependency != NO {
            self.assert_complete(graph, plans[task].dependency, plans);
        }
        for (i, plan) in plans.iter().enumerate() {
            if plan.parent == task {
                self.assert_complete(graph, i, plans);
            }
        }
    }

    /// Nobody sleeps beside a task that he could do, unless someone is about to look for tasks.
    fn assert_nobody_idle(&self, case: &Case) {
        let looks = |thread: &Thread| {
            matches!(thread.frames.last(), Some(Frame::Loop { .. })) && self.is_ready(thread, case)
        };
        if self.threads.iter().any(looks) {
            return;
        }
        let mut records = self.board.records.clone();
        for thread in &self.threads {
            if let Some(Frame::Loop { runner, .. }) = thread.frames.last() {
                let mut queue = self.board.queue.clone();
                let task = queue.take(&mut records, runner.mask, runner.only);
                assert_eq!(task, None, "a thread sleeps beside a task that it could run");
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
                    Frame::Loop { runner, .. } => (runner.seat, runner.only).hash(&mut hasher),
                    Frame::Job { graph, task, waited, .. } => {
                        (graph, task, waited).hash(&mut hasher)
                    }
                }
            }
        }
        let mut queued = Vec::new();
        self.board.queue.list_into(&self.board.records, &mut queued);
        queued.sort_by_key(|slot| self.board.records[*slot as usize].ready_at);
        (queued, self.board.asleep).hash(&mut hasher);
        for record in &self.board.records {
            (record.generation, record.open_work_items, record.order, record.next, record.skip)
                .hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Whether a task's own work, a child or (then it is skipped) its dependency fails.
fn fails(plans: &[Plan], task: usize) -> bool {
    let plan = plans[task];
    let child = |i: &usize| plans[*i].parent == task;
    plan.kind == Kind::Fails
        || (plan.dependency != NO && fails(plans, plan.dependency))
        || (0..plans.len()).filter(child).any(|child| fails(plans, child))
}

/// Walks through all orders.
fn check(case: &Case) {
    let mut seen = HashSet::new();
    let mut stack = vec![State::new(case)];
    while let Some(state) = stack.pop() {
        if !seen.insert(state.hash()) {
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

/// Nobody can go on: all main threads must be at their ends, and workers end when told to.
fn finish(mut state: State, case: &Case) {
    for thread in state.threads.iter().filter(|thread| !thread.worker) {
        let at_end = thread.frames.is_empty();
        assert!(at_end, "a main thread waits for ever: {:?}", state.runs);
    }
    assert_eq!(state.board.open, 0);
    for (graph, runs) in case.graphs.iter().zip(&state.runs) {
        for (plan, run) in graph.iter().zip(runs) {
            let wanted = if plan.kind == Kind::Empty { Run::Not } else { Run::Ended };
            assert_eq!(*run, wanted);
        }
    }
    state.board.end();
    for at in 0..case.workers {
        state.step(at, case);
        assert!(state.threads[at].frames.is_empty(), "a worker does not end");
    }
}

const UPDATE: u8 = Affinity::Update.bit() | Affinity::Any.bit();
const RENDER: u8 = Affinity::Render.bit() | Affinity::Any.bit();

fn one_main(graphs: Vec<Vec<Plan>>, acts: Vec<Act>, workers: usize) -> Case {
    Case { graphs, mains: vec![(UPDATE, acts)], workers }
}

#[test]
fn every_order_of_the_frame_graph_ends_at_zero_to_three_workers() {
    // animation -> scene_graph; {scene_graph, gui} -> render; done = {render, sound}
    let empty = Plan { kind: Kind::Empty, ..WORK };
    let scene_graph = Plan { parent: 3, ..after(0) };
    let render = Plan { parent: 6, ..after(3) };
    let frame = vec![WORK, scene_graph, child(3), empty, render, child(6), empty];
    for workers in 0..4 {
        check(&one_main(vec![frame.clone()], vec![Act::Graph(0)], workers));
    }
}

#[test]
fn every_order_of_two_graphs_in_turn_reuses_places_and_seats_rightly() {
    let chain = vec![WORK, after(0), after(1), WORK];
    let fan = vec![Plan { kind: Kind::Empty, ..WORK }, child(0), child(0), after(0)];
    let acts = vec![Act::Task(0, 1), Act::Rest(0), Act::Graph(1)];
    for workers in 0..3 {
        check(&one_main(vec![chain.clone(), fan.clone()], acts.clone(), workers));
    }
}

#[test]
fn every_order_of_two_main_threads_ends_and_keeps_affinities() {
    let for_render = Plan { affinity: Affinity::Render, ..after(0) };
    let for_update = Plan { affinity: Affinity::Update, ..after(0) };
    let graphs = vec![vec![WORK, for_render, for_update], vec![WORK, for_render], vec![WORK]];
    for workers in 0..2 {
        // The render thread stays as long as it may be needed.
        let update = vec![Act::Graph(0), Act::Signal];
        let render = vec![Act::Graph(1), Act::WaitForEvent];
        let mut mains = vec![(UPDATE, update), (RENDER, render)];
        let mut graphs = graphs.clone();
        // A worker beside a third thread would make hundreds of thousands of states.
        match workers {
            0 => mains.push((Affinity::Any.bit(), vec![Act::Graph(2)])),
            _ => graphs.truncate(2),
        }
        check(&Case { graphs, mains, workers });
    }
}

#[test]
fn every_order_of_nested_graphs_ends() {
    let two = vec![nested(1), nested(2)];
    let graphs = vec![two, vec![WORK, after(0)], vec![WORK, nested(3)], vec![WORK, WORK]];
    for workers in 0..3 {
        check(&one_main(graphs.clone(), vec![Act::Graph(0)], workers));
    }
}

#[test]
fn every_order_of_a_graph_with_a_failure_skips_the_same_tasks() {
    let fails = Plan { kind: Kind::Fails, parent: 1, ..WORK };
    let join = Plan { kind: Kind::Empty, ..WORK };
    let graph = vec![fails, join, child(1), after(1), after(3), WORK];
    for workers in 0..3 {
        check(&one_main(vec![graph.clone()], vec![Act::Graph(0)], workers));
    }
}

#[test]
fn who_was_called_to_help_and_leaves_instead_calls_another() {
    // The update thread, called for what becomes ready after task 0 of the second graph, finds that
    // what it waits for is complete.
    let urgent = Plan { priority: 31, ..after(0) };
    let graphs = vec![vec![WORK, urgent], vec![WORK, after(0), after(0)]];
    let update = vec![Act::Task(0, 0), Act::Rest(0)];
    let mains = vec![(UPDATE, update), (RENDER, vec![Act::Graph(1)])];
    check(&Case { graphs, mains, workers: 2 });
}

#[test]
fn who_waits_inside_a_task_is_not_called_for_other_graphs() {
    let graphs = vec![vec![nested(1), WORK, after(1), after(1)], vec![WORK]];
    check(&one_main(graphs, vec![Act::Graph(0)], 3));
}

#[test]
fn who_watches_is_called_before_those_who_have_to_be_woken() {
    let case = one_main(vec![vec![WORK], vec![WORK]], vec![Act::Graph(0)], 3);
    let mut state = State::new(&case);
    (0..3).for_each(|worker| state.step(worker, &case));
    // They sit in order, and the last still watches.
    (0..2).for_each(|seat| state.board.set_parked(seat, true));
    for (graph, called) in [(0, 2), (1, 0)] {
        state.release(graph, &case, false);
        assert_eq!(state.board.take_calls(), 1 << called);
    }
}
