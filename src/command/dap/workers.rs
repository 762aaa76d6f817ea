//! The threads that the editor sees: the game's scripts, its coroutines, and its workers. While a
//! worker is stopped, the coroutines are those of its script.

use super::responses::{items, number, text};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;

/// The number of the thread of the game's scripts, outside of coroutines.
const MAIN: f64 = 1.0;
/// The threads of workers have the numbers after this one: those of coroutines are below.
const WORKERS: f64 = 2000.0;
/// Threads from this number on are not workers, but graphs.
const WORKERS_END: f64 = 1_000_000.0;

/// Returns the thread of scripts outside of coroutines.
pub fn main_thread() -> SjsonTree {
    json::object([("id", SjsonTree::Number(MAIN)), ("name", json::text("main"))])
}

/// Returns the number of the thread of a worker, or of the game for 0.
pub fn thread(worker: f64) -> f64 {
    if worker >= 1.0 { WORKERS + worker } else { MAIN }
}

/// Returns the number of the worker whose thread a request names.
pub fn number_of(arguments: &SjsonTree) -> Option<SjsonTree> {
    let thread = number(arguments, "threadId");
    let is_worker = thread > WORKERS && thread < WORKERS_END;
    is_worker.then(|| SjsonTree::Number((thread - WORKERS).floor()))
}

/// Returns true if a request names the thread of a script that runs while another one is stopped.
pub fn runs(arguments: &SjsonTree, stopped_worker: f64) -> bool {
    match number_of(arguments) {
        Some(worker) => worker != SjsonTree::Number(stopped_worker),
        None => stopped_worker >= 1.0 && number(arguments, "threadId") == MAIN,
    }
}

/// Returns all threads from the coroutines and workers in an answer of the game.
pub fn threads(tree: &SjsonTree, stopped_worker: f64) -> Vec<SjsonTree> {
    let mut found = Vec::new();
    let coroutines = items(tree, "coroutines").iter();
    let is_main = |it: &SjsonTree| number(it, "coroutine") == MAIN;
    if stopped_worker >= 1.0 || coroutines.len() == 0 {
        found.push(main_thread());
    }
    for it in coroutines {
        if stopped_worker < 1.0 || !is_main(it) {
            let id = SjsonTree::Number(number(it, "coroutine"));
            found.push(json::object([("id", id), ("name", json::text(text(it, "name")))]));
        }
    }
    found.extend(items(tree, "workers").iter().map(|it| {
        let id = SjsonTree::Number(thread(number(it, "worker")));
        json::object([("id", id), ("name", json::text(format!("worker {}", text(it, "name"))))])
    }));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(tree: &str, stopped_worker: f64) -> Vec<f64> {
        let tree = json::read(tree).expect("JSON");
        threads(&tree, stopped_worker).iter().map(|it| number(it, "id")).collect()
    }

    #[test]
    fn threads_are_the_game_coroutines_and_workers() {
        let workers = r#"{"workers": [{"worker": 3, "name": "a"}]}"#;
        assert_eq!(ids(workers, 0.0), [1.0, 2003.0]);
        let stopped = r#"{"coroutines": [{"coroutine": 1}, {"coroutine": 2}],
            "workers": [{"worker": 3, "name": "a"}]}"#;
        assert_eq!(ids(stopped, 0.0), [1.0, 2.0, 2003.0]);
        assert_eq!(ids(stopped, 3.0), [1.0, 2.0, 2003.0]);
        let of = |thread: f64| json::object([("threadId", SjsonTree::Number(thread))]);
        assert_eq!(number_of(&of(2003.0)), Some(SjsonTree::Number(3.0)));
        assert_eq!(number_of(&of(1_000_000.0)), None);
        assert!(runs(&of(1.0), 3.0) && runs(&of(2002.0), 3.0) && !runs(&of(2003.0), 3.0));
        assert!(!runs(&of(1.0), 0.0) && runs(&of(2003.0), 0.0) && !runs(&of(5.0), 3.0));
    }
}
