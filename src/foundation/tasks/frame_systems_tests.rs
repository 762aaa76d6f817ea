//! Tests of frame systems: the order derived from reads and writes, refused declarations, and equal
//! results on any number of threads.

use super::frame_systems::FrameSystems;
use super::{ITEMS_MIN, TaskManager, TaskPool};
use crate::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

#[derive(Default)]
struct Game {
    time: f64,
    poses: Vec<f64>,
    nodes: Vec<f64>,
    sounds: Vec<f64>,
    drawn: Vec<f64>,
}

/// Runs the example frame: animation, then the scene graph; sound in parallel; render last.
fn frame(pool: &TaskPool, game: &mut Game, log: &Mutex<Vec<&'static str>>) -> Result<(), Error> {
    let Game { time, poses, nodes, sounds, drawn } = game;
    let note = |name| log.lock().unwrap().push(name);
    pool.frame(ITEMS_MIN, |frame: &mut FrameSystems| {
        let (time, drawn) = (frame.part("time", time), frame.part("seen", drawn));
        let (poses, nodes) = (frame.part("poses", poses), frame.part("nodes", nodes));
        let sounds = frame.part("sounds", sounds);
        let tasks = frame.tasks();
        frame.system("time", time.write(), move |time| {
            note("time");
            *time += 0.5;
        });
        frame.system("animation", (time.read(), poses.write()), move |(time, poses)| {
            note("animation");
            tasks.each_slice("pose", poses, |first, piece| {
                for (i, pose) in piece.iter_mut().enumerate() {
                    *pose = (*pose + (first + i) as f64 * *time).sin();
                }
            })
        });
        frame.system("sound", (time.read(), sounds.write()), move |(time, sounds)| {
            note("sound");
            sounds.push(*time);
        });
        frame.system("scene graph", (poses.read(), nodes.write()), move |(poses, nodes)| {
            note("scene graph");
            let mut sum = 0.0;
            nodes.clear();
            nodes.extend(poses.iter().map(|pose| {
                sum += pose;
                sum
            }));
        });
        let all = (nodes.read(), sounds.read(), drawn.write());
        frame.system("render", all, move |(nodes, sounds, drawn)| {
            note("render");
            drawn.push(nodes[nodes.len() - 1] + sounds[sounds.len() - 1]);
        });
    })
}

fn play(threads: usize, frames: usize) -> Vec<u64> {
    let (pool, log) = (TaskPool::new(Some(threads)), Mutex::new(Vec::new()));
    let mut game = Game { poses: vec![0.25; 2000], ..Game::default() };
    for _ in 0..frames {
        frame(&pool, &mut game, &log).unwrap();
        let ran = std::mem::take(&mut *log.lock().unwrap());
        let at = |name| ran.iter().position(|known| *known == name).unwrap();
        assert_eq!(ran.len(), 5);
        assert!(at("time") == 0 && at("render") == 4 && at("animation") < at("scene graph"));
    }
    game.drawn.iter().map(|number| number.to_bits()).collect()
}

#[test]
fn systems_run_in_dependency_order_on_any_number_of_threads() {
    let alone = play(1, 100);
    for threads in [2, 4, 8] {
        assert!(play(threads, 100) == alone, "{threads} threads");
    }
}

fn count<'scope>(frame: &mut FrameSystems<'scope, '_>, counter: &'scope mut i32) {
    let counter = frame.part("counter", counter);
    frame.system("count", counter.write(), |counter| *counter += 1);
}

#[test]
fn a_small_frame_starts_no_threads() {
    let pool = TaskPool::new(Some(4));
    let mut counter = 0;
    pool.frame(ITEMS_MIN - 1, |frame| count(frame, &mut counter)).unwrap();
    assert!(!pool.has_started());
    pool.frame(ITEMS_MIN, |frame| count(frame, &mut counter)).unwrap();
    assert!(pool.has_started() && pool.tasks(ITEMS_MIN).unwrap().threads() == 4);
    let single = TaskPool::new(Some(1));
    single.frame(ITEMS_MIN, |frame| count(frame, &mut counter)).unwrap();
    assert!(!single.has_started());
    assert_eq!(counter, 3);
}

#[test]
fn systems_that_depend_on_a_failed_one_are_skipped() {
    for threads in [1, 2] {
        let pool = TaskPool::new(Some(threads));
        let (mut a, mut b, mut c) = (1, 1, 1);
        let result = pool.frame(ITEMS_MIN, |frame| {
            let (a, b, c) =
                (frame.part("a", &mut a), frame.part("b", &mut b), frame.part("c", &mut c));
            frame.system("breaks", a.write(), |_| Err(crate::error!("no bones")));
            frame.system("after it", (a.read(), b.write()), |(_, b)| *b = 2);
            frame.system("beside it", c.write(), |c| *c = 2);
        });
        let error = result.unwrap_err();
        assert_eq!(error.message, "no bones");
        assert_eq!(error.contexts, ["When running task: breaks"]);
        assert_eq!((b, c), (1, 2));
    }
}

#[test]
fn a_panic_in_a_system_is_the_error_of_the_frame() {
    super::tests::install_panic_hook();
    let pool = TaskPool::new(Some(2));
    let mut a = 1;
    let error = pool
        .frame(ITEMS_MIN, |frame| {
            let a = frame.part("a", &mut a);
            frame.system("breaks", a.write(), |_| -> () {
                crate::doing!("When moving:", "bird_3");
                panic!("no feathers")
            });
        })
        .unwrap_err();
    assert!(error.message.starts_with("the engine failed: no feathers"), "{error}");
    assert_eq!(error.contexts, ["When running task: breaks", "When moving: bird_3"]);
    assert!(error.is_engine_fault);
}

#[test]
fn a_written_part_is_declared_once() {
    let pool = TaskPool::new(Some(1));
    for both_write in [true, false] {
        let mut a = 1;
        let panic = catch_unwind(AssertUnwindSafe(|| {
            pool.frame(0, |frame| {
                let a = frame.part("bones", &mut a);
                match both_write {
                    true => frame.system("twice", (a.write(), a.write()), |_| ()),
                    false => frame.system("twice", (a.read(), a.write()), |_| ()),
                }
            })
        }));
        let message = *panic.unwrap_err().downcast::<String>().unwrap();
        let wanted = "system 'twice' names the part 'bones' twice, and writes it: name it once";
        assert!(message.contains(wanted), "{message}");
    }
}

#[test]
fn parts_of_another_frame_are_refused() {
    let (outer, inner) = (TaskPool::new(Some(1)), TaskPool::new(Some(1)));
    let mut bones = 1;
    let panic = catch_unwind(AssertUnwindSafe(|| {
        outer.frame(0, |frame| {
            let bones = frame.part("bones", &mut bones);
            let nested = inner.frame(0, |frame| frame.system("thief", bones.write(), |_| ()));
            nested.unwrap();
        })
    }));
    let message = *panic.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("system 'thief' names a part of another frame"), "{message}");
}

#[test]
fn systems_run_with_the_configured_priorities() {
    let mut pool = TaskPool::new(Some(1));
    pool.set_priority("late", 1);
    pool.set_priority("early", 30);
    pool.set_priority("late", 2);
    let order = Mutex::new(Vec::new());
    let (mut a, mut b, mut c) = ((), (), ());
    let note = |name| order.lock().unwrap().push(name);
    pool.frame(0, |frame| {
        let (a, b, c) = (frame.part("a", &mut a), frame.part("b", &mut b), frame.part("c", &mut c));
        frame.system("late", a.write(), move |_| note("late"));
        frame.system("usual", b.write(), move |_| note("usual"));
        frame.system("early", c.write(), move |_| note("early"));
    })
    .unwrap();
    assert_eq!(*order.lock().unwrap(), ["early", "usual", "late"]);
}

#[test]
fn pieces_of_a_slice_have_their_start_index() {
    let tasks = TaskManager::new(1).unwrap();
    let mut items = vec![0; 1000];
    tasks
        .each_slice("count", &mut items, |first, piece| {
            piece.iter_mut().enumerate().for_each(|(i, item)| *item = first + i);
        })
        .unwrap();
    assert!(items.iter().enumerate().all(|(i, item)| i == *item));
}
