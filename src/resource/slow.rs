//! Which resources take long to compile, told while they do: a small source can ask for very much
//! work, and nobody knows which one it is while nothing goes on.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What the threads of a compile are at.
pub struct SlowWatch {
    after: Duration,
    busy: Mutex<Busy>,
    ended: Condvar,
}

struct Busy {
    /// How many threads have not ended.
    threads: usize,
    compiling: Vec<Item>,
}

struct Item {
    path: String,
    began: Instant,
    told: bool,
}

/// A thread that compiles; it has ended when this is dropped.
pub struct Worker<'a>(&'a SlowWatch);

/// A source that is being compiled, until this is dropped.
pub struct Compiling<'a>(&'a SlowWatch, String);

impl SlowWatch {
    /// For so many threads; what is compiled for longer than `after` is told, once.
    pub fn new(threads: usize, after: Duration) -> SlowWatch {
        let busy = Busy { threads, compiling: Vec::new() };
        SlowWatch { after, busy: Mutex::new(busy), ended: Condvar::new() }
    }

    fn busy<R>(&self, f: impl FnOnce(&mut Busy) -> R) -> R {
        // A thread that panicked left whole items.
        f(&mut self.busy.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stands for the calling thread, which is one of them.
    pub fn worker(&self) -> Worker<'_> {
        Worker(self)
    }

    /// Tells what takes long, until all threads have ended.
    pub fn tell(&self, tell: impl Fn(&str)) {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        while busy.threads > 0 {
            let now = Instant::now();
            let slow = |item: &&mut Item| !item.told && now - item.began >= self.after;
            for item in busy.compiling.iter_mut().filter(slow) {
                item.told = true;
                let seconds = (now - item.began).as_secs_f64();
                tell(&format!(
                    "{} takes long to compile, {seconds:.0} seconds so far: it asks for very much",
                    item.path
                ));
            }
            let waited = self.ended.wait_timeout(busy, self.after);
            busy = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Worker<'_> {
    /// Begins to compile a source.
    pub fn compiling(&self, path: &str) -> Compiling<'_> {
        let item = Item { path: path.to_string(), began: Instant::now(), told: false };
        self.0.busy(|busy| busy.compiling.push(item));
        Compiling(self.0, path.to_string())
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.0.busy(|busy| busy.threads -= 1);
        self.0.ended.notify_all();
    }
}

impl Drop for Compiling<'_> {
    fn drop(&mut self) {
        self.0.busy(|busy| {
            if let Some(at) = busy.compiling.iter().position(|item| item.path == self.1) {
                busy.compiling.swap_remove(at);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_is_told_once_and_nothing_else() {
        let watch = SlowWatch::new(1, Duration::from_millis(20));
        let told = Mutex::new(Vec::<String>::new());
        std::thread::scope(|scope| {
            let worker = watch.worker();
            drop(worker.compiling("quick.unit"));
            let _slow = worker.compiling("slow.unit");
            scope.spawn(|| watch.tell(|words| told.lock().unwrap().push(words.to_string())));
            while told.lock().unwrap().is_empty() {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(60));
        });
        let told = told.into_inner().unwrap();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("slow.unit takes long to compile, "), "{told:?}");
        assert!(told[0].ends_with(" seconds so far: it asks for very much"), "{told:?}");
    }

    #[test]
    fn threads_that_panic_do_not_keep_it_waiting() {
        let watch = SlowWatch::new(1, Duration::from_secs(60));
        let panicked = std::thread::scope(|scope| {
            scope.spawn(|| watch.tell(|_| {}));
            let thread = scope.spawn(|| {
                let worker = watch.worker();
                let _compiling = worker.compiling("bad.unit");
                panic!("while it compiles");
            });
            thread.join().is_err()
        });
        assert!(panicked);
    }
}
