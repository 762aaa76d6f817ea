//! Saves while the memory ends: every allocation of a write fails in turn, in a process of its own,
//! which may abort. What was confirmed is there afterwards.

use engine::resource::save::{Saves, Slot, Version};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

/// The allocator of this test program.
struct Failing;

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// The allocations that succeed before one fails; negative while none is to fail.
static LEFT: AtomicI64 = AtomicI64::new(i64::MIN);

impl Failing {
    /// Whether the allocation that begins now is the one that fails.
    fn fails(&self) -> bool {
        LEFT.load(SeqCst) >= 0 && LEFT.fetch_sub(1, SeqCst) == 0
    }
}

// SAFETY: it is the system's allocator, which may give null at any time.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        if self.fails() { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(block, layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match self.fails() {
            true => std::ptr::null_mut(),
            // SAFETY: as the caller promised.
            false => unsafe { System.realloc(block, layout, size) },
        }
    }
}

/// Names the number of the allocation that fails, and the folder, in the process that writes.
const NUMBER: &str = "ENGINE_TEST_ALLOCATION";
const FOLDER: &str = "ENGINE_TEST_FOLDER";
/// Printed before what came of the write.
const ANSWER: &str = "answer: ";

fn slot() -> Slot {
    Slot::new("a").unwrap()
}

fn content(letter: u8) -> Vec<u8> {
    vec![letter; 100_000]
}

/// Writes a save while an allocation fails, and prints how that ended.
fn write_short_of_memory(threaded: bool) {
    let number: i64 = std::env::var(NUMBER).unwrap().parse().unwrap();
    let mut saves = Saves::new(Some(PathBuf::from(std::env::var_os(FOLDER).unwrap())), "1");
    let bytes = content(b'n');
    let version = Version::NotNewer;
    LEFT.store(number, SeqCst);
    let written = match threaded {
        false => saves.write(&slot(), &bytes, 1.0, version),
        true => saves.begin_write(slot(), bytes, 1.0, version, Some(0)).and_then(|request| {
            saves.poll(request, 0);
            saves.take(request).expect("it was waited for").map(|_| ())
        }),
    };
    let reached = LEFT.swap(i64::MIN, SeqCst) < 0;
    println!("{ANSWER}{} {}", if written.is_ok() { "saved" } else { "refused" }, reached);
}

fn read(folder: &Path) -> Vec<u8> {
    let mut saves = Saves::new(Some(folder.to_path_buf()), "1");
    saves.read(&slot(), Version::NotNewer, |_| Ok(())).expect("a save can be read").content
}

/// Has every allocation of a write fail in turn. `test` is the name of the test that calls it,
/// which runs again in the process that writes.
fn every_allocation(test: &str, threaded: bool) {
    if std::env::var_os(NUMBER).is_some() {
        return write_short_of_memory(threaded);
    }
    let name = format!("engine-memory-{}-{threaded}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let (mut saved, mut refused, mut aborted) = (0, 0, 0);
    for number in 0.. {
        let _ = fs::remove_dir_all(&folder);
        let mut saves = Saves::new(Some(folder.clone()), "1");
        saves.write(&slot(), &content(b'o'), 1.0, Version::NotNewer).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
        command.env(NUMBER, number.to_string()).env(FOLDER, &folder);
        let ended = command.stderr(Stdio::null()).output().unwrap();
        let out = String::from_utf8(ended.stdout).unwrap();
        let answer = out.lines().find_map(|line| Some(line.split_once(ANSWER)?.1));
        let found = read(&folder);
        let (old, new) = (found == content(b'o'), found == content(b'n'));
        assert!(old || new, "allocation {number}: what is there is neither save");
        match answer {
            Some("saved false") => {
                assert!(new);
                break;
            }
            Some("saved true") => {
                assert!(new, "allocation {number} failed: what was confirmed is lost");
                saved += 1;
            }
            Some("refused true") => {
                assert!(old, "allocation {number} failed: what was refused is there");
                refused += 1;
            }
            None => aborted += 1,
            Some(other) => panic!("allocation {number}: {other}"),
        }
    }
    let _ = fs::remove_dir_all(&folder);
    eprintln!("allocations: {saved} did no harm, {refused} refused, {aborted} ended the process");
    // The copy of the content is refused with words; small ones end a Rust program.
    assert!(refused >= 1 && aborted >= 10, "{refused} refused, {aborted} ended the process");
}

#[test]
fn an_allocation_that_fails_loses_nothing_that_was_saved() {
    let name = "allocations::an_allocation_that_fails_loses_nothing_that_was_saved";
    every_allocation(name, false);
}

#[test]
fn an_allocation_that_fails_on_the_thread_loses_nothing_that_was_saved() {
    let name = "allocations::an_allocation_that_fails_on_the_thread_loses_nothing_that_was_saved";
    every_allocation(name, true);
}
