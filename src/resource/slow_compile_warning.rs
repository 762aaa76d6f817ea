//! Monitor of slow compiles: reports resources that take long to compile while their compile runs.
//! A small source can request a large amount of work, and without a report the developer cannot see
//! which source delays the compile.

use super::image::{EXTENSIONS, stated_size};
use engine_foundation::file_access::{self, readers};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tracks the sources that the threads of a compile work on.
pub struct SlowCompileMonitor {
    after: Duration,
    progress: Mutex<CompileInProgress>,
    ended: Condvar,
}

struct CompileInProgress {
    /// Number of threads that have not ended.
    threads: usize,
    compiling: Vec<CompileSlot>,
}

struct CompileSlot {
    path: String,
    began: Instant,
    warned: bool,
}

/// A compile thread. Dropping the guard marks the thread as ended.
pub struct CompileWorkerGuard<'a>(&'a SlowCompileMonitor);

/// A source that is being compiled. Dropping the guard marks its compile as finished.
pub struct CompilingGuard<'a>(&'a SlowCompileMonitor, String);

impl SlowCompileMonitor {
    /// Creates a monitor for this many threads. A source that takes longer than `after` is reported
    /// once.
    pub fn new(threads: usize, after: Duration) -> SlowCompileMonitor {
        let progress = CompileInProgress { threads, compiling: Vec::new() };
        SlowCompileMonitor { after, progress: Mutex::new(progress), ended: Condvar::new() }
    }

    fn with_progress<R>(&self, f: impl FnOnce(&mut CompileInProgress) -> R) -> R {
        // A thread that panicked left the list in a consistent state.
        f(&mut self.progress.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the guard of the calling thread, which is one of the counted threads.
    pub fn worker(&self) -> CompileWorkerGuard<'_> {
        CompileWorkerGuard(self)
    }

    /// Reports slow sources until all threads have ended. `describe` returns the amount of a
    /// source, if it is known.
    pub fn warn_until_done(&self, describe: impl Fn(&str) -> Option<String>, warn: impl Fn(&str)) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        while progress.threads > 0 {
            let now = Instant::now();
            let slow = |slot: &&mut CompileSlot| !slot.warned && now - slot.began >= self.after;
            for slot in progress.compiling.iter_mut().filter(slow) {
                slot.warned = true;
                let seconds = (now - slot.began).as_secs_f64();
                let amount = describe(&slot.path).map_or(String::new(), |text| format!(": {text}"));
                warn(&format!(
                    "{} takes long to compile, {seconds:.0} seconds so far{amount}",
                    slot.path
                ));
            }
            let waited = self.ended.wait_timeout(progress, self.after);
            progress = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl CompileWorkerGuard<'_> {
    /// Marks the start of a source's compile.
    pub fn compiling(&self, path: &str) -> CompilingGuard<'_> {
        let slot = CompileSlot { path: path.to_string(), began: Instant::now(), warned: false };
        self.0.with_progress(|progress| progress.compiling.push(slot));
        CompilingGuard(self.0, path.to_string())
    }
}

impl Drop for CompileWorkerGuard<'_> {
    fn drop(&mut self) {
        self.0.with_progress(|progress| progress.threads -= 1);
        self.0.ended.notify_all();
    }
}

impl Drop for CompilingGuard<'_> {
    fn drop(&mut self) {
        self.0.with_progress(|progress| {
            if let Some(at) = progress.compiling.iter().position(|slot| slot.path == self.1) {
                progress.compiling.swap_remove(at);
            }
        });
    }
}

/// Returns the size of a source that is a picture, which takes longer the more texels it has.
pub fn picture_size(root: &Path, path: &str) -> Option<String> {
    let ending = path.rsplit_once('.')?.1.to_ascii_lowercase();
    if !EXTENSIONS.contains(&&ending[..]) {
        return None;
    }
    let bytes = file_access::read(root, path, &readers::SOURCE).ok()?;
    let (width, height) = stated_size(&bytes)?;
    Some(format!("the picture has {width} x {height} texels"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_compiles_are_reported_once() {
        let watch = SlowCompileMonitor::new(1, Duration::from_millis(20));
        let warned = Mutex::new(Vec::<String>::new());
        std::thread::scope(|scope| {
            let worker = watch.worker();
            drop(worker.compiling("quick.unit"));
            let _slow = worker.compiling("slow.unit");
            scope.spawn(|| {
                watch.warn_until_done(
                    |path| Some(format!("{path} is large")),
                    |message| warned.lock().unwrap().push(message.to_string()),
                )
            });
            while warned.lock().unwrap().is_empty() {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(60));
        });
        let warned = warned.into_inner().unwrap();
        assert_eq!(warned.len(), 1, "{warned:?}");
        assert!(warned[0].starts_with("slow.unit takes long to compile, "), "{warned:?}");
        assert!(warned[0].ends_with(" seconds so far: slow.unit is large"), "{warned:?}");
    }

    #[test]
    fn a_panicking_thread_does_not_block_the_warning() {
        let watch = SlowCompileMonitor::new(1, Duration::from_secs(60));
        let panicked = std::thread::scope(|scope| {
            scope.spawn(|| watch.warn_until_done(|_| None, |_| {}));
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
