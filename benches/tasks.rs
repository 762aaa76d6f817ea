//! Task manager benchmarks: the cost of a task, a frame's graph, tasks on one core compared with
//! plain calls, a heavy job on several threads compared with threads started in each frame, and the
//! cost of workers.
//!
//!     cargo bench -- tasks

#[expect(dead_code, reason = "tests/tasks.rs asks more of them")]
mod particles;

use std::time::Instant;

use crate::allocator::allocations;
use crate::run::Run;
use crate::spine::game::Game;
use crate::table::{Group, Row, median, named, row};
use engine::foundation::Vec3;
use engine::foundation::tasks::frame_systems::SystemPart;
use engine::foundation::tasks::{TaskManager, TaskPool, split};
use engine::platform::ThreadClock;
use engine::world::scene_graph::{NO_NODE, NodePose, SceneGraph};
use particles::{Particles, Piece};

pub fn run(run: &mut Run) {
    run.part("cost", cost);
    run.part("systems", systems);
    run.part("plain", particle_updates);
    run.part("heavy", || uneven_updates("heavy", PARTICLES));
    run.part("heavier", || uneven_updates("heavier", 4 * PARTICLES));
    run.part("scene", scene);
    run.part("workers", workers);
}

fn manager(workers: usize) -> TaskManager {
    TaskManager::new(workers).expect("the machine gives threads")
}

/// Returns the real time of `f` in seconds.
fn wall(f: impl FnOnce()) -> f64 {
    let before = Instant::now();
    f();
    before.elapsed().as_secs_f64()
}

/// Returns the seconds of this thread's CPU time that `f` takes.
fn cpu(f: impl FnOnce()) -> f64 {
    let clock = ThreadClock::of_this_thread();
    let before = clock.seconds();
    f();
    clock.seconds() - before
}

/// Adds, releases, runs and awaits `n` empty tasks.
fn empty_tasks(tasks: &TaskManager, n: usize) {
    let result = tasks.scope(|scope| {
        let mut graph = scope.graph();
        for i in 0..n {
            graph.add("nothing", move || {
                std::hint::black_box(i);
            });
        }
        graph.run().finish()
    });
    result.expect("nothing fails");
}

/// Runs a frame of 100 tasks: ten phases, each of nine tasks and one that waits for all nine. The
/// tasks of the next phase depend on that one.
fn frame(tasks: &TaskManager, work: bool) {
    let result = tasks.scope(|scope| {
        let mut graph = scope.graph();
        let mut last = None;
        for _ in 0..10 {
            let phase = graph.add_empty("phase");
            for _ in 0..9 {
                let task = match work {
                    true => graph.add("task", || ()),
                    false => graph.add_empty("task"),
                };
                graph.add_child(phase, task);
                if let Some(last) = last {
                    graph.depends_on(task, last);
                }
            }
            last = Some(phase);
        }
        graph.run().finish()
    });
    result.expect("nothing fails");
}

/// Returns the median of the results of `measure`, after a warm-up.
fn median_of(rounds: usize, mut measure: impl FnMut() -> f64) -> f64 {
    for _ in 0..rounds / 10 {
        measure();
    }
    median((0..rounds).map(|_| measure()).collect())
}

fn cost() -> Group {
    const N: usize = 1000;
    let mut rows = Vec::new();
    for workers in [0, 1] {
        let tasks = manager(workers);
        let task = median_of(1000, || wall(|| empty_tasks(&tasks, N)) / N as f64 * 1e9);
        rows.push(named(format!("a task, {workers} workers"), task, "ns", Some(300.0)));
        if workers == 0 {
            let task = median_of(1000, || cpu(|| empty_tasks(&tasks, N)) / N as f64 * 1e9);
            rows.push(row("  in CPU time", task, "ns", None));
        }
        for (work, label) in [(false, "without work"), (true, "that do nothing")] {
            let time = median_of(2000, || wall(|| frame(&tasks, work)) * 1e6);
            let label = format!("a frame of 100 tasks {label}, {workers} workers");
            rows.push(named(label, time, "us", Some(40.0)));
        }
        let count = allocations(|| {
            for _ in 0..1000 {
                frame(&tasks, true);
                empty_tasks(&tasks, N);
            }
        });
        rows.push(named(
            format!("allocations a frame, {workers} workers"),
            count as f64 / 1000.0,
            "",
            Some(0.0),
        ));
    }
    Group {
        name: "cost",
        title: "The cost of tasks",
        workload: "A task: 1,000 closures that do nothing, from the first add to the end of the \
                   wait, a thousandth of it; median of 1,000 rounds, wall time. A frame: ten \
                   phases, each of nine tasks that depend on the phase before, and their parent; \
                   median of 2,000 rounds. Allocations: in 1,000 frames of both, after those.",
        rows,
    }
}

/// Runs a frame of empty systems, each of which reads the data that the one before it wrote.
fn chain(pool: &TaskPool, items: usize, parts: &mut [u64; 10]) {
    let done = pool.frame(items, |frame| {
        let mut last: Option<SystemPart<u64>> = None;
        for part in parts {
            let own = frame.part("part", part);
            match last {
                None => frame.system("system", own.write(), |own| *own = own.wrapping_add(1)),
                Some(last) => frame.system("system", (last.read(), own.write()), |(last, own)| {
                    *own = own.wrapping_add(*last)
                }),
            }
            last = Some(own);
        }
    });
    done.expect("nothing fails");
}

fn systems() -> Group {
    let pool = TaskPool::new(Some(2));
    let mut parts = [0; 10];
    let mut rows = Vec::new();
    for (items, label) in [(1, "a small frame, on one thread"), (1000, "a large frame, on two")] {
        let time = median_of(2000, || wall(|| chain(&pool, items, &mut parts)) * 1e6);
        rows.push(row(label, time, "us", None));
    }
    Group {
        name: "systems",
        title: "The cost of the systems of a frame",
        workload: "Ten systems, each of which reads what the one before it wrote, and adds two \
                   numbers: their graph from what they read and write, released, run and waited \
                   for; median of 2,000 rounds, wall time.",
        rows,
    }
}

/// Measures the scene graph's update of a crowd that moves in every frame.
fn scene() -> Group {
    const UNITS: u32 = 30_000;
    let parents = [NO_NODE, 0, 1];
    let mut rows = Vec::new();
    let mut alone = 0.0;
    for threads in [1, 2] {
        let (pool, mut graph) = (TaskPool::new(Some(threads)), SceneGraph::default());
        for unit in 0..UNITS {
            graph.add(unit, &parents, &[NodePose::IDENTITY; 3]).expect("there is room");
        }
        let (mut moved, mut frame) = (Vec::new(), 0.0);
        let mut fastest = f64::MAX;
        let middle = median_of(400, || {
            frame += 1.0;
            for unit in 0..UNITS {
                graph.set_local_position(unit, 0, Vec3::new(frame, unit as f32, 0.0));
            }
            moved.clear();
            let update = || graph.update(|_| true, &mut moved, &pool).expect("nothing fails");
            let time = wall(update) * 1e3;
            fastest = fastest.min(time);
            time
        });
        assert_eq!(moved.len(), UNITS as usize);
        if threads == 1 {
            alone = fastest;
        }
        let note = format!("{:.2} times as fast; median {middle:.3} ms", alone / fastest);
        rows.push(Row { note, ..named(format!("on {threads} threads"), fastest, "ms", None) });
    }
    Group {
        name: "scene",
        title: "The scene graph: world poses of 90,000 nodes",
        workload: "30,000 units of three nodes in a row, each of which was moved: their world \
                   poses; 400 rounds, wall time: the fastest, with the median next to it.",
        rows,
    }
}

fn workers() -> Group {
    const MESSAGES: f64 = 1000.0;
    let mut rows = Vec::new();
    let mut game = Game::open("workers", &["start"], true);
    let (mut calls, mut readies) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        let call = wall(|| game.call("init"));
        readies.push((call + wall(|| game.call("render"))) * 1e3);
        calls.push(call * 1e6);
    }
    rows.push(row("Worker.start, in the game's frame", median(calls), "us", None));
    rows.push(row("until the worker's first message arrives", median(readies), "ms", None));
    for (argument, label) in [("number", "a number"), ("table", "a table of 100 tables")] {
        let mut game = Game::open("workers", &[argument], true);
        let one = median_of(20, || wall(|| game.call("render")) / MESSAGES * 1e6);
        let many = median_of(20, || wall(|| game.call("init")) / MESSAGES * 1e6);
        rows.push(named(format!("{label}, there and back"), one, "us", None));
        rows.push(named(format!("{label}, there and back, 1,000 under way"), many, "us", None));
    }
    Group {
        name: "workers",
        title: "The cost of workers",
        workload: "Start: a worker with an empty module, 50 times, the median: the call itself, \
                   and until its first message has been waited for (a thread, a Lua with the whole \
                   library in it, the module). Messages: sent back by the worker, 1,000 one after \
                   the other, or all sent first; a thousandth of that, the median of 20 rounds. \
                   The tables have three fields each.",
        rows,
    }
}

const DT: f32 = 1.0 / 60.0;
/// Number of particles in the workload of benches/tasks/particles.rs.
const PARTICLES: usize = 80_000;

/// Updates all particles, each slice as a task.
fn by_tasks(tasks: &TaskManager, particles: &mut Particles, pieces: impl Iterator<Item = usize>) {
    let mut rest = particles.all();
    let result = tasks.scope(|scope| {
        let mut graph = scope.graph();
        for n in pieces {
            let (piece, others) = rest.split_at(n);
            rest = others;
            graph.add("particles", move || piece.update(DT));
        }
        graph.run().finish()
    });
    result.expect("particles do not fail");
}

/// Returns the sizes of the slices for `threads` threads.
fn sizes(n: usize, threads: usize) -> impl Iterator<Item = usize> {
    split(n, threads).map(|piece| piece.len())
}

fn by_calls(particles: &mut Particles, pieces: impl Iterator<Item = usize>) {
    let mut rest = particles.all();
    for n in pieces {
        let (piece, others) = rest.split_at(n);
        rest = others;
        piece.update(DT);
    }
}

/// Updates all particles on threads that are started for this update. The calling thread does its
/// part, too.
fn by_forks(particles: &mut Particles, n: usize, threads: usize) {
    let step = n / threads;
    std::thread::scope(|scope| {
        let mut rest: Piece = particles.all();
        for _ in 1..threads {
            let (piece, others) = rest.split_at(step);
            rest = others;
            scope.spawn(move || piece.update(DT));
        }
        rest.update(DT);
    });
}

fn particle_updates() -> Group {
    let tasks = manager(0);
    let mut rows = Vec::new();
    // With one thread, a job is one slice. The other rows show the cost of more slices.
    for (threads, target, label) in [
        (1, Some(1.01), "in one piece"),
        (2, Some(1.01), "in 10 pieces of 19 us"),
        (8, None, "in 40 pieces of 5 us"),
    ] {
        let (mut by_task, mut by_call) = (Particles::new(PARTICLES), Particles::new(PARTICLES));
        let ratio = median_of(1000, || {
            let called = cpu(|| by_calls(&mut by_call, sizes(PARTICLES, threads)));
            cpu(|| by_tasks(&tasks, &mut by_task, sizes(PARTICLES, threads))) / called
        });
        assert!(by_task == by_call, "tasks and calls give the same particles");
        rows.push(named(format!("tasks / plain calls, {label}"), ratio, "x", target));
    }
    Group {
        name: "plain",
        title: "One core: tasks against plain calls",
        workload: "The update of 80,000 particles (see the next group), without workers, against \
                   the same pieces updated by plain calls: CPU time, both in turn, 1,000 times, \
                   the median of the ratios.",
        rows,
    }
}

/// Milliseconds of updates: the fastest, and the median.
struct Times {
    fastest: f64,
    median: f64,
}

fn uneven_updates(name: &'static str, particles_of_each: usize) -> Group {
    const ROUNDS: usize = 400;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = vec![1, 2, 3, 4];
    counts.retain(|threads| *threads <= cores + 2);
    let managers: Vec<_> = counts.iter().map(|threads| manager(threads - 1)).collect();
    let (n, all) = (counts.len(), particles_of_each);
    let mut particles: Vec<_> = (0..2 * n + 1).map(|_| Particles::new(all)).collect();
    let mut times = vec![Vec::new(); 2 * n + 1];
    for _ in 0..ROUNDS {
        times[2 * n].push(wall(|| by_calls(&mut particles[2 * n], sizes(all, 1))));
        for (i, threads) in counts.iter().enumerate() {
            let (tasks, mine) = (&managers[i], &mut particles[i]);
            times[i].push(wall(|| by_tasks(tasks, mine, sizes(all, *threads))));
            let mine = &mut particles[n + i];
            times[n + i].push(wall(|| by_forks(mine, all, *threads)));
        }
    }
    let same = particles.windows(2).all(|two| two[0] == two[1]);
    assert!(same, "every way and every number of threads gives the same particles");
    let times: Vec<_> = times
        .into_iter()
        .map(|times| Times {
            fastest: times.iter().copied().fold(f64::MAX, f64::min) * 1e3,
            median: median(times) * 1e3,
        })
        .collect();
    let alone = &times[2 * n];
    let line = |name: String, times: &Times, target| {
        let gain = alone.fastest / times.fastest;
        let median_gain = alone.median / times.median;
        let note = format!(
            "{gain:.2} times as fast; median {:.3} ms, {median_gain:.2} times",
            times.median
        );
        Row { note, ..named(name, times.fastest, "ms", target) }
    };
    let target = (all == PARTICLES).then_some(0.6);
    let mut rows = vec![line("plain calls".to_string(), alone, target)];
    for (i, threads) in counts.iter().enumerate() {
        let target = (*threads == 2).then_some(alone.fastest / 1.8);
        rows.push(line(format!("tasks on {threads} threads"), &times[i], target));
    }
    for (i, threads) in counts.iter().enumerate() {
        let name = format!("threads made for each update, {threads}");
        rows.push(line(name, &times[n + i], None));
    }
    Group {
        name,
        title: match all {
            PARTICLES => "80,000 particles: tasks against threads made each frame",
            _ => "320,000 particles: the same, where waking a thread weighs less",
        },
        workload: "Attraction to a centre, drag, colour by speed, bouncing off a whisker; \
                   structure of arrays, 20 bytes a particle. Threads count the one that waits and \
                   helps; tasks are cut into five pieces a thread, forked threads into one. All \
                   ways in turn, 400 times, wall time: the fastest, with the median next to it, \
                   which shows other load of the machine. Results are compared bit for bit.",
        rows,
    }
}
