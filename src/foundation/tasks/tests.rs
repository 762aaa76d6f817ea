//! Tests of the task manager through its public interface, with threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use super::*;
use crate::doing;
use crate::error;
use crate::panic;

/// Names of tasks, in the order in which the tasks ran.
#[derive(Default)]
struct Log(Mutex<Vec<&'static str>>);

impl Log {
    fn write(&self, name: &'static str) {
        self.0.lock().unwrap().push(name);
    }

    fn names(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

pub(super) fn tasks(workers: usize) -> TaskManager {
    TaskManager::new(workers).unwrap()
}

/// Returns the message of the panic that `f` ends with.
pub(super) fn panic_message(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("it should have panicked");
    *panic.downcast::<String>().unwrap()
}

/// Installs a hook that stores panics as the engine's own hook does, and keeps the test library's
/// hook.
pub(super) fn install_panic_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            panic::store_panic(info);
            before(info);
        }));
    });
}

#[test]
fn the_example_frame_graph_runs_in_order() {
    let log = Log::default();
    let tasks = tasks(0);
    let result = tasks.scope(|scope| {
        let mut graph = scope.graph();
        let render = graph.add("render", || log.write("render"));
        let scene_graph = graph.add("scene_graph", || log.write("scene_graph"));
        let animation = graph.add("animation", || log.write("animation"));
        let gui = graph.add("gui", || log.write("gui"));
        let sound = graph.add("sound", || log.write("sound"));
        graph.depends_on(scene_graph, animation);
        let before_render = graph.add_empty("before render");
        graph.add_child(before_render, scene_graph);
        graph.add_child(before_render, gui);
        graph.depends_on(render, before_render);
        let done = graph.add_empty("done");
        graph.add_child(done, render);
        graph.add_child(done, sound);
        let running = graph.run();
        running.wait(done)?;
        assert!(running.is_complete(render));
        running.finish()
    });
    assert_eq!(result, Ok(()));
    assert_eq!(log.names(), ["animation", "gui", "sound", "scene_graph", "render"]);
}

#[test]
fn tasks_run_by_priority_and_then_in_order_of_addition() {
    let log = Log::default();
    let tasks = tasks(0);
    let result = tasks.scope(|scope| {
        let mut graph = scope.graph();
        for (name, priority) in [("a", 3), ("b", 31), ("c", 3), ("d", 0), ("e", 31), ("f", 15)] {
            let task = Task { name, priority, ..Task::DEFAULT };
            graph.add(task, || log.write(name));
        }
        graph.run().finish()
    });
    assert_eq!(result, Ok(()));
    assert_eq!(log.names(), ["b", "e", "f", "a", "c", "d"]);
}

#[test]
fn results_of_frames_do_not_depend_on_the_number_of_workers() {
    const FRAMES: usize = 2000;
    let frames = |workers| {
        let tasks = tasks(workers);
        let mut positions: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let mut heights = vec![0.0f32; 1000];
        for frame in 0..FRAMES {
            let highest = Mutex::new(0.0f32);
            let result = tasks.scope(|scope| {
                let mut graph = scope.graph();
                let moved = graph.add_slices("move", &mut positions, move |first, piece| {
                    for (i, position) in piece.iter_mut().enumerate() {
                        *position = (*position * 1.01 + (first + i) as f32).sin() + frame as f32;
                    }
                });
                let rest = graph.add_slices("rise", &mut heights, |_, piece| {
                    piece.iter_mut().for_each(|height| *height = height.mul_add(0.5, 1.0));
                });
                let both = graph.add_empty("both");
                graph.add_child(both, moved);
                graph.add_child(both, rest);
                let last = graph.add("last", || *highest.lock().unwrap() += 1.0);
                graph.depends_on(last, both);
                graph.run().finish()
            });
            assert_eq!(result, Ok(()));
            assert_eq!(highest.into_inner().unwrap(), 1.0);
        }
        (positions, heights)
    };
    let alone = frames(0);
    for workers in [1, 2, 7] {
        assert!(alone == frames(workers), "with {workers} workers the numbers differ");
    }
}

#[test]
fn finished_frames_leave_no_tasks() {
    let tasks = tasks(1);
    let frame = || {
        let result = tasks.scope(|scope| {
            let mut graph = scope.graph();
            for i in 0..100u64 {
                graph.add("piece", move || assert!(std::hint::black_box(i) < 100));
            }
            graph.run().finish()
        });
        assert_eq!(result, Ok(()));
        tasks.shared.slot_and_task_counts()
    };
    let first = frame();
    assert_eq!(first, (101, 0));
    for _ in 0..1000 {
        assert_eq!(frame(), first);
    }
}

#[test]
fn a_scope_inside_a_task_runs_only_its_own_tasks() {
    for workers in [0, 1, 3] {
        let tasks = tasks(workers);
        let (deepest, leaves) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let result = tasks.scope(|scope| {
            let (tasks, deepest, leaves) = (&tasks, &deepest, &leaves);
            let mut graph = scope.graph();
            for _ in 0..500 {
                graph.add("outer", move || {
                    thread_local!(static DEPTH: AtomicUsize = const { AtomicUsize::new(0) });
                    let depth = DEPTH.with(|depth| depth.fetch_add(1, Ordering::Relaxed)) + 1;
                    deepest.fetch_max(depth, Ordering::Relaxed);
                    let result = tasks.scope(|scope| {
                        let mut graph = scope.graph();
                        for _ in 0..4 {
                            graph.add("inner", || {
                                leaves.fetch_add(1, Ordering::Relaxed);
                            });
                        }
                        graph.run().finish()
                    });
                    DEPTH.with(|depth| depth.fetch_sub(1, Ordering::Relaxed));
                    result
                });
            }
            graph.run().finish()
        });
        assert_eq!(result, Ok(()));
        assert_eq!((deepest.into_inner(), leaves.into_inner()), (1, 2000));
    }
}

#[test]
fn a_task_for_a_main_thread_runs_only_there() {
    let tasks = tasks(2);
    let _update = tasks.register(&[ThreadAffinity::Update]);
    let ready = TaskEvent::default();
    let finished = TaskEvent::default();
    let (update, render) = (Mutex::new(None), Mutex::new(None));
    let here = || Some(std::thread::current().id());
    let render_thread = std::thread::scope(|threads| {
        let thread = threads.spawn(|| {
            let _render = tasks.register(&[ThreadAffinity::Render]);
            tasks.signal(&ready);
            tasks.do_work_while_waiting_for(&finished);
            std::thread::current().id()
        });
        tasks.do_work_while_waiting_for(&ready);
        for _ in 0..200 {
            let result = tasks.scope(|scope| {
                let mut graph = scope.graph();
                let task = Task { name: "r", affinity: ThreadAffinity::Render, ..Task::DEFAULT };
                let first = graph.add(task, || *render.lock().unwrap() = here());
                let task = Task { name: "u", affinity: ThreadAffinity::Update, ..Task::DEFAULT };
                let second = graph.add(task, || *update.lock().unwrap() = here());
                graph.depends_on(second, first);
                graph.run().finish()
            });
            assert_eq!(result, Ok(()));
            assert_eq!(*update.lock().unwrap(), Some(std::thread::current().id()));
        }
        tasks.signal(&finished);
        thread.join().unwrap()
    });
    assert_eq!(*render.lock().unwrap(), Some(render_thread));
}

#[test]
fn a_panic_fails_the_graph_and_skips_dependent_tasks() {
    install_panic_hook();
    for workers in [0, 2] {
        let log = Log::default();
        let tasks = tasks(workers);
        let mut waited = Ok(());
        let result = tasks.scope(|scope| {
            let mut graph = scope.graph();
            let group = graph.add_empty("group");
            let bad = graph.add("bad", || {
                doing!("When spawning unit:", "big_bird");
                std::hint::black_box(None::<()>).expect("no feathers")
            });
            graph.add_child(group, bad);
            let after = graph.add("after", || log.write("after"));
            graph.depends_on(after, group);
            let long_after = graph.add("long after", || log.write("long after"));
            graph.depends_on(long_after, after);
            let fine = graph.add("fine", || log.write("fine"));
            let late = graph.add("late", || -> Result<(), Error> { Err(error!("too late")) });
            graph.depends_on(late, fine);
            let running = graph.run();
            assert_eq!(running.wait(fine), Ok(()));
            assert!(running.wait(late).is_err());
            waited = running.wait(long_after);
            Ok(())
        });
        let error = result.unwrap_err();
        assert_eq!(log.names(), ["fine"]);
        assert_eq!(error.contexts, ["When running task: bad", "When spawning unit: big_bird"]);
        let end = " (1 more of its graph's tasks failed)";
        let rest = error.message.strip_suffix(end).expect(&error.message);
        assert!(rest.starts_with("the engine failed: no feathers (src/foundation/"), "{rest}");
        assert_eq!(waited, Err(error));
        // The task manager continues to work.
        assert_eq!(tasks.scope(|scope| scope.graph().run().finish()), Ok(()));
        assert_eq!(tasks.shared.slot_and_task_counts().1, 0);
    }
}

#[test]
fn a_scope_ends_after_its_tasks_also_when_it_fails_or_panics() {
    let tasks = tasks(1);
    for panics in [false, true] {
        let ran = AtomicUsize::new(0);
        let end = catch_unwind(AssertUnwindSafe(|| {
            tasks.scope(|scope| -> Result<(), Error> {
                let mut graph = scope.graph();
                for _ in 0..50 {
                    graph.add("t", || {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                }
                graph.run();
                assert!(!panics, "the scope panics");
                Err(error!("given up"))
            })
        }));
        assert_eq!(ran.load(Ordering::Relaxed), 50);
        match end {
            Ok(result) => assert_eq!(result.unwrap_err().message, "given up"),
            Err(panic) => assert_eq!(panic.downcast_ref(), Some(&"the scope panics")),
        }
    }
}

#[test]
fn unrun_tasks_are_dropped_once() {
    let (tasks, held) = (tasks(1), Arc::new(()));
    let result = tasks.scope(|scope| {
        let mut dropped = scope.graph();
        let kept = held.clone();
        dropped.add("never", move || assert!(Arc::strong_count(&kept) == 0));
        drop(dropped);
        assert_eq!(Arc::strong_count(&held), 1);
        let mut graph = scope.graph();
        let fails = graph.add("fails", || Err(error!("no")));
        let kept = held.clone();
        let skipped = graph.add("skipped", move || assert!(Arc::strong_count(&kept) == 0));
        graph.depends_on(skipped, fails);
        graph.run().finish()
    });
    assert_eq!(result.unwrap_err().message, "no");
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_job_is_split_by_threads_and_each_piece_runs_once() {
    for (workers, pieces) in [(0, 1), (1, 10)] {
        let (tasks, sum, calls) = (tasks(workers), AtomicUsize::new(0), AtomicUsize::new(0));
        let (sum_of, count) = (&sum, &calls);
        let result = tasks.scope(|scope| {
            let mut graph = scope.graph();
            graph.add_split("sum", 1003, move |range| {
                sum_of.fetch_add(range.sum(), Ordering::Relaxed);
                count.fetch_add(1, Ordering::Relaxed);
            });
            graph.run().finish()
        });
        assert_eq!(result, Ok(()));
        assert_eq!((sum.into_inner(), calls.into_inner()), (1003 * 1002 / 2, pieces));
    }
}

#[test]
fn there_is_one_worker_for_each_core_without_a_main_thread() {
    assert_eq!(workers_for(1, 2), 0);
    assert_eq!(workers_for(2, 1), 1);
    assert_eq!(workers_for(8, 2), 6);
    assert_eq!(workers_for(200, 2), WORKERS_MAX);
}

/// Checks the panic message of building and releasing a graph of "a", "b" and "c".
fn check(wrong: impl for<'s, 'e> FnOnce(&mut TaskGraph<'s, 'e>, [TaskId; 3]), part: &str) {
    let tasks = tasks(0);
    let message = panic_message(|| {
        let result = tasks.scope(|scope| {
            let mut graph = scope.graph();
            let ids = ["a", "b", "c"].map(|name| graph.add(name, || ()));
            wrong(&mut graph, ids);
            graph.run().finish()
        });
        assert_eq!(result, Ok(()));
    });
    assert!(message.contains(part), "{message}");
    assert_eq!(tasks.shared.slot_and_task_counts().1, 0);
}

#[test]
fn invalid_graphs_are_refused_with_task_names() {
    check(|graph, [a, ..]| graph.depends_on(a, a), "task 'a' depends on itself");
    check(|graph, [a, ..]| graph.add_child(a, a), "task 'a' cannot be its own child");
    check(
        |graph, [a, b, c]| {
            graph.add_child(a, b);
            graph.add_child(b, c);
            graph.depends_on(a, c);
        },
        "task 'a' depends on 'c', which is its own child: put what 'a' does afterwards into a \
         separate task, and let that depend on 'a'",
    );
    check(
        |graph, [a, b, c]| {
            graph.add_child(a, b);
            graph.add_child(b, c);
            graph.depends_on(c, a);
        },
        "task 'c' depends on 'a', whose child it is: 'a' is complete only after 'c', so both would \
         wait forever",
    );
    check(
        |graph, [a, b, c]| {
            graph.depends_on(a, b);
            graph.add_child(b, c);
            graph.depends_on(c, a);
        },
        "these tasks would wait for each other forever: 'a' depends on 'b', which has the child \
         'c', which depends on 'a'",
    );
    check(
        |graph, [a, b, c]| {
            graph.depends_on(a, b);
            graph.depends_on(a, c);
        },
        "task 'a' depends on 'b' and cannot depend on 'c' as well: make both children of an empty \
         task, and depend on that",
    );
    check(
        |graph, [a, b, c]| {
            graph.add_child(a, c);
            graph.add_child(b, c);
        },
        "task 'c' cannot be a child of 'b': it is one of 'a'",
    );
    check(
        |graph, [a, b, c]| {
            graph.add_child(a, b);
            graph.add_child(b, c);
            graph.add_child(c, a);
        },
        "task 'a' cannot be a child of 'c', its own descendant",
    );
    check(
        |graph, _| {
            graph.add(Task { name: "d", priority: 32, ..Task::DEFAULT }, || ());
        },
        "task 'd' has priority 32; the highest is 31",
    );
    check(
        |graph, _| {
            graph.add(Task { name: "d", affinity: ThreadAffinity::Render, ..Task::DEFAULT }, || ());
        },
        "task 'd' is for the render thread alone, and no thread is registered as that",
    );
    check(
        |graph, _| (0..TASKS_MAX).for_each(|_| _ = graph.add("e", || ())),
        "task 'e' is one too many: a graph has at most 16384 tasks; give each task more to do",
    );
}

#[test]
fn a_task_of_another_graph_is_refused() {
    let tasks = tasks(0);
    let message = panic_message(|| {
        let result = tasks.scope(|scope| {
            let (mut one, mut two) = (scope.graph(), scope.graph());
            let (a, b) = (one.add("a", || ()), two.add("b", || ()));
            one.depends_on(a, b);
            Ok(())
        });
        assert_eq!(result, Ok(()));
    });
    assert!(message.contains("tasks depend only on tasks of their own graph"), "{message}");
}

#[test]
fn misuse_inside_a_task_is_refused() {
    install_panic_hook();
    let tasks = tasks(0);
    let _both = tasks.register(&[ThreadAffinity::Update, ThreadAffinity::Render]);
    let result = tasks.scope(|scope| {
        let mut graph = scope.graph();
        graph.add("outer", || {
            tasks.scope(|scope| {
                let mut graph = scope.graph();
                let task = Task { name: "r", affinity: ThreadAffinity::Render, ..Task::DEFAULT };
                graph.add(task, || ());
                graph.run().finish()
            })
        });
        graph.run().finish()
    });
    let message = "task 'r' is for the render thread alone, and was released inside another task";
    assert!(result.unwrap_err().message.contains(message));
    let result = tasks.scope(|scope| {
        let mut graph = scope.graph();
        graph.add("waits", || tasks.do_work_while_waiting_for(&TaskEvent::default()));
        graph.run().finish()
    });
    let error = result.unwrap_err();
    assert!(error.message.contains("a task waits for an event: let it depend on a task"));
    assert_eq!(error.contexts, ["When running task: waits"]);
}

#[test]
fn limits_of_open_tasks_and_of_workers_are_enforced() {
    let tasks = tasks(0);
    let message = panic_message(|| {
        let result = tasks.scope(|scope| {
            for _ in 0..2 {
                let mut graph = scope.graph();
                (1..TASKS_MAX).for_each(|_| _ = graph.add("e", || ()));
                graph.run();
            }
            Ok(())
        });
        assert_eq!(result, Ok(()));
    });
    assert!(
        message.contains("16384 more tasks were released: at most 16384 can be open"),
        "{message}"
    );
    assert_eq!(tasks.shared.slot_and_task_counts(), (TASKS_MAX, 0));
    let message = panic_message(|| drop(TaskManager::new(WORKERS_MAX + 1)));
    assert!(message.contains("33 workers: at most 32 are useful"), "{message}");
}

#[test]
fn a_thread_is_registered_once_for_its_lifetime() {
    let tasks = tasks(0);
    let update = tasks.register(&[ThreadAffinity::Update]);
    let message = panic_message(|| drop(tasks.register(&[ThreadAffinity::Render])));
    assert!(message.contains("this thread is registered already"), "{message}");
    std::thread::scope(|threads| {
        let other = || panic_message(|| drop(tasks.register(&[ThreadAffinity::Update])));
        let message = threads.spawn(other).join().unwrap();
        assert!(message.contains("another thread is the update thread already"), "{message}");
    });
    drop(update);
    drop(tasks.register(&[ThreadAffinity::Update, ThreadAffinity::Render]));
}

#[test]
fn spinning_and_sleeping_threads_are_both_notified() {
    const WORKERS: usize = 2;
    // The first duration is far longer than the whole test. A thread that is not called within it
    // was never called.
    for watch in [Duration::from_secs(60), Duration::ZERO] {
        let tasks = TaskManager::watching(WORKERS, watch).unwrap();
        for _ in 0..200 {
            // Each task blocks its thread until all three threads have arrived.
            let meeting = Barrier::new(WORKERS + 1);
            let result = tasks.scope(|scope| {
                let mut graph = scope.graph();
                for _ in 0..=WORKERS {
                    graph.add("meets", || {
                        meeting.wait();
                    });
                }
                graph.run().finish()
            });
            assert_eq!((result, tasks.shared.spin_misses()), (Ok(()), 0));
        }
        let parked = tasks.shared.parked();
        assert!(watch.is_zero() || parked == 0, "who watches for so long is parked: {parked:b}");
    }
}
