//! Tests of saves when memory runs out: every allocation of a write, a read and a deletion fails in
//! turn, in a separate process, which may abort. Confirmed data still exists afterwards.

use super::allocator::{fail_after, stop_failing};
use engine::resource::save::{NewerVersions, SaveSlot, Saves};
use engine_test_support::test_path;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Environment variable of the child process with the number of the failing allocation.
const NUMBER: &str = "ENGINE_TEST_ALLOCATION";
/// Environment variable of the child process with the folder of the save.
const FOLDER: &str = "ENGINE_TEST_FOLDER";
/// Printed before the result of the work.
const RESULT_PREFIX: &str = "answer: ";
/// The contents saved before: as many generations as are kept.
const BEFORE: [u8; 3] = [b'l', b'm', b'n'];
const NEWEST: u8 = b'n';
/// The content that is written while an allocation fails.
const WRITTEN: u8 = b'o';

/// The operation during which an allocation fails.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Work {
    Write,
    WriteOnThread,
    Read,
    Delete,
}

fn slot() -> SaveSlot {
    SaveSlot::new("a").unwrap()
}

fn content(letter: u8) -> Vec<u8> {
    vec![letter; 100_000]
}

fn saves(folder: &Path) -> Saves {
    Saves::new(Some(folder.to_path_buf()), "1")
}

/// Performs the operation while an allocation fails, and prints the result.
fn run_with_failing_allocation(work: Work) {
    let number: i64 = std::env::var(NUMBER).unwrap().parse().unwrap();
    let mut saves = saves(Path::new(&std::env::var_os(FOLDER).unwrap()));
    let (bytes, version) = (content(WRITTEN), NewerVersions::NotNewer);
    let mut older = false;
    fail_after(number);
    let done = match work {
        Work::Write => saves.write(&slot(), &bytes, 1.0, version),
        Work::WriteOnThread => {
            saves.begin_write(slot(), bytes, 1.0, version, Some(0)).and_then(|request| {
                saves.poll(request, 0);
                saves.take(request).expect("it was waited for").map(|_| ())
            })
        }
        // A lack of memory is not damage, for which an older save would be used.
        Work::Read => saves.read(&slot(), version, |_| Ok(())).map(|loaded| {
            older = loaded.content.first() != Some(&NEWEST);
        }),
        Work::Delete => saves.delete(&slot()),
    };
    let reached = stop_failing();
    let answer = match done {
        Ok(()) if older => "older",
        Ok(()) => "done",
        Err(_) => "refused",
    };
    println!("{RESULT_PREFIX}{answer} {reached}");
}

/// Returns the first byte of the existing save, or `None` without a save. All bytes of a save are
/// the same.
fn saved(folder: &Path) -> Option<u8> {
    let mut saves = saves(folder);
    if !saves.exists(&slot()).unwrap() {
        return None;
    }
    let loaded =
        saves.read(&slot(), NewerVersions::NotNewer, |_| Ok(())).expect("a save can be read");
    assert!(loaded.content == content(loaded.content[0]));
    Some(loaded.content[0])
}

/// Lets every allocation of an operation fail in turn. `test` is the name of the calling test,
/// which runs again in the child process.
fn fail_each_allocation(test: &str, work: Work) {
    if std::env::var_os(NUMBER).is_some() {
        return run_with_failing_allocation(work);
    }
    let name = format!("engine-memory-{}-{work:?}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let expected = match work {
        Work::Write | Work::WriteOnThread => Some(WRITTEN),
        Work::Read => Some(NEWEST),
        Work::Delete => None,
    };
    let (mut done, mut refused, mut aborted) = (0, 0, 0);
    for number in 0.. {
        let _ = fs::remove_dir_all(&folder);
        let mut saves = saves(&folder);
        for letter in BEFORE {
            saves.write(&slot(), &content(letter), 1.0, NewerVersions::NotNewer).unwrap();
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            &test_path(module_path!(), test),
            "--nocapture",
            "--test-threads=1",
        ]);
        // Reading the debug information for a backtrace takes ten times as long as all the rest.
        command.env("RUST_BACKTRACE", "0").env(NUMBER, number.to_string()).env(FOLDER, &folder);
        let ended = command.stderr(Stdio::null()).output().unwrap();
        let out = String::from_utf8(ended.stdout).unwrap();
        let answer = out.lines().find_map(|line| Some(line.split_once(RESULT_PREFIX)?.1));
        let found = saved(&folder);
        let describe = || format!("{work:?}, allocation {number}: {answer:?}, found {found:?}");
        assert!(found == expected || found == Some(NEWEST), "{}", describe());
        match answer {
            Some("done false") => {
                assert!(found == expected, "{}", describe());
                break;
            }
            // Confirmed data exists.
            Some("done true") => {
                assert!(found == expected, "{}", describe());
                done += 1;
            }
            // Refused data does not exist. A deletion may have reached its last flush.
            Some("refused true") => {
                assert!(found == Some(NEWEST) || work == Work::Delete, "{}", describe());
                refused += 1;
            }
            None => aborted += 1,
            Some(_) => panic!("{}", describe()),
        }
    }
    let _ = fs::remove_dir_all(&folder);
    eprintln!("{work:?}: {done} did no harm, {refused} refused, {aborted} ended the process");
    // Copies of the content are refused with a message; failed small allocations abort a Rust
    // program. Two threads share the counter, so the number of the copy differs between runs.
    let has_copies = matches!(work, Work::Write | Work::Read);
    assert!(refused >= 1 || !has_copies, "{refused} refused");
    assert!(aborted >= 5, "{aborted} ended the process");
}

#[test]
fn failed_allocation_in_write_loses_no_save() {
    fail_each_allocation("failed_allocation_in_write_loses_no_save", Work::Write);
}

#[test]
fn failed_allocation_in_async_write_loses_no_save() {
    fail_each_allocation("failed_allocation_in_async_write_loses_no_save", Work::WriteOnThread);
}

#[test]
fn failed_allocation_in_read_returns_no_older_save() {
    fail_each_allocation("failed_allocation_in_read_returns_no_older_save", Work::Read);
}

#[test]
fn failed_allocation_in_delete_leaves_newest_save_or_none() {
    fail_each_allocation("failed_allocation_in_delete_leaves_newest_save_or_none", Work::Delete);
}
