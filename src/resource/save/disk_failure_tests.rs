//! Tests of saves under disk errors and power loss. Every operation fails in turn, and every state
//! that a power loss can leave is opened again. No confirmed save may be lost.

use super::*;
use engine_foundation::atomic_file::disk;
use engine_foundation::atomic_file::disk_simulation::{DiskModel, Operation, SimulationGuard};
use engine_foundation::log;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let process = std::process::id();
        let folder = std::env::temp_dir().join(format!("engine-faults-{process}-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        log::set_silent(true);
        Scratch(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A test's operation on the saves: content for the slot `a`, or its deletion.
#[derive(Clone, Copy)]
enum Step {
    Write(&'static str),
    Delete,
}

/// New saves, changed saves, more than are kept, and a save that is removed and written again.
const STEPS: &[Step] = &[
    Step::Write("one"),
    Step::Write("two"),
    Step::Write("three"),
    Step::Write("four"),
    Step::Write("five"),
    Step::Delete,
    Step::Write("six"),
];

fn slot() -> SaveSlot {
    SaveSlot::new("a").unwrap()
}

fn run(saves: &mut Saves, step: Step) -> Result<(), String> {
    match step {
        Step::Write(content) => {
            saves.write(&slot(), content.as_bytes(), 1.0, NewerVersions::NotNewer)
        }
        Step::Delete => saves.delete(&slot()),
    }
}

/// Returns the content of the save if it exists; panics if it exists and cannot be read.
fn content(saves: &mut Saves) -> Option<String> {
    if !saves.exists(&slot()).unwrap() {
        return None;
    }
    let loaded = saves.read(&slot(), NewerVersions::NotNewer, |_| Ok(())).unwrap();
    Some(String::from_utf8(loaded.content).unwrap())
}

/// Returns the expected content after a step.
fn after(step: Step) -> Option<String> {
    match step {
        Step::Write(content) => Some(content.to_string()),
        Step::Delete => None,
    }
}

#[test]
fn a_failed_operation_leaves_the_old_or_the_new_save() {
    const KINDS: [ErrorKind; 3] =
        [ErrorKind::StorageFull, ErrorKind::PermissionDenied, ErrorKind::Other];
    let scratch = Scratch::new("operations");
    let (mut faults, mut refused) = (0, 0);
    for (at, step) in STEPS.iter().enumerate() {
        // The failing operation advances by one each time, until the step has no operation with
        // that number.
        for nth in 0.. {
            let folder = scratch.0.join(format!("{at}-{nth}/saves"));
            fs::create_dir(folder.parent().unwrap()).unwrap();
            let disk = SimulationGuard::below(folder.parent().unwrap());
            let mut saves = Saves::new(Some(folder.clone()), "1");
            STEPS[..at].iter().for_each(|step| run(&mut saves, *step).unwrap());
            let before = content(&mut saves);
            disk.fail(nth, KINDS[nth % KINDS.len()]);
            let done = run(&mut saves, *step);
            if !disk.repair() {
                done.unwrap();
                break;
            }
            faults += 1;
            let wanted = if done.is_ok() { after(*step) } else { before.clone() };
            let found = content(&mut saves);
            // The last flush of a deletion can fail after all files are gone.
            let deleted = matches!(step, Step::Delete) && done.is_err() && found.is_none();
            assert!(found == wanted || deleted, "step {at}, operation {nth}: {done:?}, {found:?}");
            if let Err(message) = done {
                refused += 1;
                let names_it = ["the save \"a\" cannot be ", "the saves cannot be listed: "];
                assert!(names_it.iter().any(|start| message.starts_with(start)), "{message}");
            }
            // The disk works again, so saves must work again, both here and after a restart.
            run(&mut saves, Step::Write("after")).unwrap();
            assert_eq!(content(&mut saves).as_deref(), Some("after"));
            drop(saves);
            let mut saves = Saves::new(Some(folder.clone()), "1");
            assert_eq!(content(&mut saves).as_deref(), Some("after"));
            drop(disk);
            let left = fs::read_dir(&folder).unwrap().flatten();
            let left = left.filter(|entry| entry.path().extension().is_some_and(|e| e == "tmp"));
            // Only if the removal of the half-written file is the operation that failed.
            assert!(left.count() <= 1, "step {at}, operation {nth}");
        }
    }
    assert!(faults > 60 && refused > 40, "{faults} faults, {refused} refused");
}

#[test]
fn a_read_error_gives_a_message_or_an_older_save() {
    let scratch = Scratch::new("reading");
    let disk = SimulationGuard::below(&scratch.0);
    let mut saves = Saves::new(Some(scratch.0.join("saves")), "1");
    for text in ["one", "two"] {
        run(&mut saves, Step::Write(text)).unwrap();
    }
    for nth in 0.. {
        disk.fail(nth, ErrorKind::Other);
        let read = saves.read(&slot(), NewerVersions::NotNewer, |_| Ok(()));
        let listed = disk.repair();
        match read {
            Ok(loaded) if loaded.recovered.is_none() => assert_eq!(loaded.content, b"two"),
            Ok(loaded) => assert_eq!(loaded.content, b"one"),
            Err(message) => assert!(message.contains("a fault of the test"), "{message}"),
        }
        assert_eq!(content(&mut saves).as_deref(), Some("two"), "operation {nth}");
        if !listed {
            assert!(nth > 4, "reading has more operations than {nth}");
            break;
        }
    }
    // A lack of memory is not damage: an older save must not replace a valid one.
    let opened = disk_operations_of_a_listing(&disk, &mut saves);
    disk.fail(opened, ErrorKind::OutOfMemory);
    let read = saves.read(&slot(), NewerVersions::NotNewer, |_| Ok(()));
    assert!(disk.repair());
    assert!(read.unwrap_err().starts_with("the save \"a\" cannot be read: "));
}

/// Returns the number of operations before the newest save is opened.
fn disk_operations_of_a_listing(disk: &SimulationGuard, saves: &mut Saves) -> usize {
    (0..)
        .find(|nth| {
            disk.fail(*nth, ErrorKind::Other);
            let listed = saves.exists(&slot());
            disk.repair();
            listed.is_ok()
        })
        .expect("the range has no end")
}

/// The content that was confirmed after this many operations of a record.
struct Confirmed {
    operations: usize,
    content: Option<String>,
}

/// Simulates a power loss before the first and after each operation of a record. Each resulting
/// state must have the content that was confirmed by then, or the content that was being written.
fn lose_power_everywhere(root: &Path, record: &[Operation], confirmed: &[Confirmed]) -> usize {
    let folder = root.with_extension("after");
    let mut disk = DiskModel::default();
    let mut states = 0;
    for count in 0..=record.len() {
        let settled = confirmed.iter().rposition(|one| one.operations <= count);
        let settled = settled.map(|at| &confirmed[at].content);
        let next = confirmed.iter().find(|one| one.operations > count).map(|one| &one.content);
        disk.lose_power(root, &folder, &mut |state| {
            states += 1;
            let mut saves = Saves::new(Some(folder.join("saves")), "1");
            let found = content(&mut saves);
            let good = Some(&found) == settled
                || Some(&found) == next
                || (settled.is_none() && found.is_none());
            assert!(good, "after {count} operations, {state}: {found:?} is there");
            run(&mut saves, Step::Write("after")).unwrap();
            assert_eq!(content(&mut saves).as_deref(), Some("after"), "{count}, {state}");
        });
        if let Some(operation) = record.get(count) {
            disk.apply(operation);
        }
    }
    let _ = fs::remove_dir_all(&folder);
    states
}

#[test]
fn a_power_loss_loses_no_confirmed_save() {
    let scratch = Scratch::new("power");
    let root = scratch.0.join("disk");
    fs::create_dir(&root).unwrap();
    let disk = SimulationGuard::below(&root);
    let mut saves = Saves::new(Some(root.join("saves")), "1");
    let mut confirmed = Vec::new();
    for step in STEPS {
        run(&mut saves, *step).unwrap();
        confirmed.push(Confirmed { operations: disk.record().len(), content: after(*step) });
    }
    let record = disk.record();
    drop(disk);
    let states = lose_power_everywhere(&root, &record, &confirmed);
    assert!(states > 100, "only {states} states were tried");
}

/// The thread of `Save.write_async` confirms a write by its answer.
#[test]
fn a_power_loss_loses_no_save_confirmed_by_the_thread() {
    let scratch = Scratch::new("power_thread");
    let root = scratch.0.join("disk");
    fs::create_dir(&root).unwrap();
    let disk = SimulationGuard::below(&root);
    let mut saves = Saves::new(Some(root.join("saves")), "1");
    let mut confirmed = Vec::new();
    for text in ["one", "two", "three", "four"] {
        let bytes = text.as_bytes().to_vec();
        let request =
            saves.begin_write(slot(), bytes, 1.0, NewerVersions::NotNewer, Some(0)).unwrap();
        assert_eq!(saves.poll(request, 0), Some(RequestProgress::Done(true)));
        let operations = disk.record().len();
        confirmed.push(Confirmed { operations, content: Some(text.to_string()) });
    }
    let record = disk.record();
    drop(disk);
    assert!(lose_power_everywhere(&root, &record, &confirmed) > 60);
}

/// Replays the record of a disk, simulates every possible power loss at its end, and expects this
/// save.
fn lose_power_at_the_end(root: &Path, record: &[Operation], wanted: Option<&str>, nth: usize) {
    let folder = root.with_extension("after");
    let mut model = DiskModel::default();
    record.iter().for_each(|operation| model.apply(operation));
    model.lose_power(root, &folder, &mut |state| {
        let mut saves = Saves::new(Some(folder.join("saves")), "1");
        let found = content(&mut saves);
        assert_eq!(found.as_deref(), wanted, "operation {nth}, {state}");
    });
}

/// If the flush of a folder's name failed, the next write must not assume that the name was
/// flushed.
#[test]
fn a_power_loss_after_a_failure_loses_no_confirmed_save() {
    let scratch = Scratch::new("power_fault");
    for nth in 0.. {
        let root = scratch.0.join(format!("disk-{nth}"));
        fs::create_dir(&root).unwrap();
        let disk = SimulationGuard::below(&root);
        let mut saves = Saves::new(Some(root.join("saves")), "1");
        disk.fail(nth, ErrorKind::Other);
        let first = run(&mut saves, Step::Write("one"));
        if !disk.repair() {
            break;
        }
        // Refused content must not appear later.
        let wanted = first.is_ok().then_some("one");
        lose_power_at_the_end(&root, &disk.record(), wanted, nth);
        run(&mut saves, Step::Write("two")).unwrap();
        let record = disk.record();
        drop(disk);
        lose_power_at_the_end(&root, &record, Some("two"), nth);
    }
}

/// A killed process left a folder for saves, and the name of the folder was never flushed.
#[test]
fn an_existing_folder_is_flushed_before_confirmation() {
    let scratch = Scratch::new("power_folder");
    let mut refused = 0;
    for nth in 0.. {
        let root = scratch.0.join(format!("disk-{nth}"));
        fs::create_dir(&root).unwrap();
        let disk = SimulationGuard::below(&root);
        disk::create_folder(&root.join("saves")).unwrap();
        let mut saves = Saves::new(Some(root.join("saves")), "1");
        disk.fail(nth, ErrorKind::Other);
        let first = run(&mut saves, Step::Write("one"));
        let reached = disk.repair();
        let record = disk.record();
        drop(disk);
        match first {
            Ok(()) => lose_power_at_the_end(&root, &record, Some("one"), nth),
            Err(_) => refused += 1,
        }
        if !reached {
            break;
        }
    }
    // The listing of the folder, the folder's name, the file, its flush, its name, the flush of the
    // folder.
    assert!(refused >= 4, "{refused} refused");
}
