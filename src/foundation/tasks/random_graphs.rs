//! Tests with random graphs. Each graph must run in an order that its dependencies allow, on any
//! number of workers, or must be refused. A slow and simple implementation of the rules decides
//! which.

use std::sync::atomic::{AtomicU32, Ordering};

use super::TaskManager;
use super::tests::{panic_message, tasks};
use crate::random::Random;

/// A random graph: each task's parent and dependency.
struct Drawn {
    parents: Vec<Option<usize>>,
    dependencies: Vec<Option<usize>>,
    empty: Vec<bool>,
}

impl Drawn {
    fn draw(random: &mut Random) -> Drawn {
        let n = random.range_i64(1, 40) as usize;
        let (mut parents, mut dependencies, mut empty) = (vec![None; n], vec![None; n], vec![]);
        for task in 0..n {
            empty.push(random.range_i64(0, 3) == 0);
            let other = |random: &mut Random| random.range_i64(0, n as i64 - 1) as usize;
            let (parent, dependency) = (other(random), other(random));
            if parent < task && random.range_i64(0, 1) == 0 {
                parents[task] = Some(parent);
            }
            // Most dependencies are earlier tasks. Otherwise nearly every graph would have a cycle.
            let later = random.range_i64(0, 60) == 0;
            if dependency < task || (later && dependency > task) {
                dependencies[task] = Some(dependency);
            }
        }
        Drawn { parents, dependencies, empty }
    }

    fn is_within(&self, task: usize, ancestor: usize) -> bool {
        std::iter::successors(Some(task), |task| self.parents[*task]).any(|at| at == ancestor)
    }

    /// Returns true if the graph should be refused, by a slow and simple method.
    fn is_refused(&self) -> bool {
        let n = self.parents.len();
        let pairs = || (0..n).filter_map(|task| Some((task, self.dependencies[task]?)));
        if pairs().any(|(task, on)| self.is_within(on, task) || self.is_within(task, on)) {
            return true;
        }
        let mut ran = vec![false; n];
        let complete = |ran: &[bool], task| (0..n).all(|t| ran[t] || !self.is_within(t, task));
        for _ in 0..n {
            for task in 0..n {
                ran[task] |= self.dependencies[task].is_none_or(|on| complete(&ran, on));
            }
        }
        ran.contains(&false)
    }

    /// Runs the graph, and checks that each task's work began after all of its dependencies had
    /// ended.
    fn run(&self, tasks: &TaskManager) {
        let n = self.parents.len();
        let clock = AtomicU32::new(1);
        let begun: Vec<_> = (0..n).map(|_| AtomicU32::new(0)).collect();
        let ended: Vec<_> = (0..n).map(|_| AtomicU32::new(0)).collect();
        let now = || clock.fetch_add(1, Ordering::SeqCst);
        let result = tasks.scope(|scope| {
            let mut graph = scope.graph();
            let (begun, ended, now) = (&begun, &ended, &now);
            let add = |task: usize| {
                let work = move || {
                    assert_eq!(begun[task].swap(now(), Ordering::SeqCst), 0, "it ran twice");
                    ended[task].store(now(), Ordering::SeqCst);
                };
                if self.empty[task] { graph.add_empty("t") } else { graph.add("t", work) }
            };
            let ids: Vec<_> = (0..n).map(add).collect();
            for task in 0..n {
                if let Some(parent) = self.parents[task] {
                    graph.add_child(ids[parent], ids[task]);
                }
                if let Some(dependency) = self.dependencies[task] {
                    graph.depends_on(ids[task], ids[dependency]);
                }
            }
            graph.run().finish()
        });
        assert_eq!(result, Ok(()));
        for task in (0..n).filter(|task| !self.empty[*task]) {
            let begun = begun[task].load(Ordering::SeqCst);
            assert!(begun > 0, "task {task} never ran");
            let Some(dependency) = self.dependencies[task] else { continue };
            for (t, ended) in ended.iter().enumerate() {
                if self.is_within(t, dependency) && !self.empty[t] {
                    assert!(ended.load(Ordering::SeqCst) < begun, "{task} ran before {t}");
                }
            }
        }
    }
}

#[test]
fn random_graphs_run_in_order_or_are_refused() {
    let managers = [0, 1, 2, 7].map(tasks);
    let mut random = Random::seed(1);
    let (mut ran, mut refused) = (0, 0);
    for _ in 0..300 {
        let drawn = Drawn::draw(&mut random);
        if drawn.is_refused() {
            refused += 1;
            let panic_message = panic_message(|| drawn.run(&managers[0]));
            let known = ["own child", "forever"].iter().any(|part| panic_message.contains(part));
            assert!(known, "{panic_message}");
        } else {
            ran += 1;
            managers.iter().for_each(|tasks| drawn.run(tasks));
        }
    }
    assert!(ran > 100 && refused > 100, "{ran} ran, {refused} were refused");
}
