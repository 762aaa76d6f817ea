//! Saves while the disk fails and the power is lost: every operation fails in turn, and every state
//! that a loss of power can leave is opened again. Nothing that was confirmed is lost.

use super::*;
use crate::foundation::files::disk;
use crate::foundation::files::simulation::{Model, Operation, Running};
use crate::foundation::log;
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

/// What a test does with the saves: content for the slot `a`, or its end.
#[derive(Clone, Copy)]
enum Step {
    Write(&'static str),
    Delete,
}

/// New saves, changed ones, more than are kept, one that is removed and written again.
const STEPS: &[Step] = &[
    Step::Write("one"),
    Step::Write("two"),
    Step::Write("three"),
    Step::Write("four"),
    Step::Write("five"),
    Step::Delete,
    Step::Write("six"),
];

fn slot() -> Slot {
    Slot::new("a").unwrap()
}

fn run(saves: &mut Saves, step: Step) -> Result<(), String> {
    match step {
        Step::Write(content) => saves.write(&slot(), content.as_bytes(), 1.0, Version::NotNewer),
        Step::Delete => saves.delete(&slot()),
    }
}

/// The content of the save, if there is one; fails if it is there and cannot be read.
fn content(saves: &mut Saves) -> Option<String> {
    if !saves.exists(&slot()).unwrap() {
        return None;
    }
    let loaded = saves.read(&slot(), Version::NotNewer, |_| Ok(())).unwrap();
    Some(String::from_utf8(loaded.content).unwrap())
}

/// The content after a step.
fn after(step: Step) -> Option<String> {
    match step {
        Step::Write(content) => Some(content.to_string()),
        Step::Delete => None,
    }
}

#[test]
fn an_operation_that_fails_leaves_the_save_as_it_was_or_as_it_should_be() {
    const KINDS: [ErrorKind; 3] =
        [ErrorKind::StorageFull, ErrorKind::PermissionDenied, ErrorKind::Other];
    let scratch = Scratch::new("operations");
    let (mut faults, mut refused) = (0, 0);
    for (at, step) in STEPS.iter().enumerate() {
        // One more each time, until the step has no operation of that number.
        for nth in 0.. {
            let folder = scratch.0.join(format!("{at}-{nth}/saves"));
            fs::create_dir(folder.parent().unwrap()).unwrap();
            let disk = Running::below(folder.parent().unwrap());
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
            // The last flush of a deletion can fail when all files are gone.
            let deleted = matches!(step, Step::Delete) && done.is_err() && found.is_none();
            assert!(found == wanted || deleted, "step {at}, operation {nth}: {done:?}, {found:?}");
            if let Err(words) = done {
                refused += 1;
                let names_it = ["the save \"a\" cannot be ", "the saves cannot be listed: "];
                assert!(names_it.iter().any(|start| words.starts_with(start)), "{words}");
            }
            // The disk works again: so does the save, here and after a restart.
            run(&mut saves, Step::Write("after")).unwrap();
            assert_eq!(content(&mut saves).as_deref(), Some("after"));
            drop(saves);
            let mut saves = Saves::new(Some(folder.clone()), "1");
            assert_eq!(content(&mut saves).as_deref(), Some("after"));
            drop(disk);
            let left = fs::read_dir(&folder).unwrap().flatten();
            let left = left.filter(|entry| entry.path().extension().is_some_and(|e| e == "tmp"));
            // Only where the removal of the half-written file is what failed.
            assert!(left.count() <= 1, "step {at}, operation {nth}");
        }
    }
    assert!(faults > 60 && refused > 40, "{faults} faults, {refused} refused");
}

#[test]
fn an_operation_that_fails_while_reading_gives_words_or_an_older_save_with_words() {
    let scratch = Scratch::new("reading");
    let disk = Running::below(&scratch.0);
    let mut saves = Saves::new(Some(scratch.0.join("saves")), "1");
    for text in ["one", "two"] {
        run(&mut saves, Step::Write(text)).unwrap();
    }
    for nth in 0.. {
        disk.fail(nth, ErrorKind::Other);
        let read = saves.read(&slot(), Version::NotNewer, |_| Ok(()));
        let listed = disk.repair();
        match read {
            Ok(loaded) if loaded.recovered.is_none() => assert_eq!(loaded.content, b"two"),
            Ok(loaded) => assert_eq!(loaded.content, b"one"),
            Err(words) => assert!(words.contains("a fault of the test"), "{words}"),
        }
        assert_eq!(content(&mut saves).as_deref(), Some("two"), "operation {nth}");
        if !listed {
            assert!(nth > 4, "reading has more operations than {nth}");
            break;
        }
    }
    // No memory is no damage: an older save must not take the place of a good one.
    let opened = disk_operations_of_a_listing(&disk, &mut saves);
    disk.fail(opened, ErrorKind::OutOfMemory);
    let read = saves.read(&slot(), Version::NotNewer, |_| Ok(()));
    assert!(disk.repair());
    assert!(read.unwrap_err().starts_with("the save \"a\" cannot be read: "));
}

/// The number of operations before the newest save is opened.
fn disk_operations_of_a_listing(disk: &Running, saves: &mut Saves) -> usize {
    (0..)
        .find(|nth| {
            disk.fail(*nth, ErrorKind::Other);
            let listed = saves.exists(&slot());
            disk.repair();
            listed.is_ok()
        })
        .expect("the range has no end")
}

/// The content that was confirmed when so many operations of a record were done.
struct Confirmed {
    operations: usize,
    content: Option<String>,
}

/// Loses the power after each operation of a record, and before the first: each state that is left
/// has what was confirmed by then, or what was being written.
fn lose_power_everywhere(root: &Path, record: &[Operation], confirmed: &[Confirmed]) -> usize {
    let folder = root.with_extension("after");
    let mut disk = Model::default();
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
fn a_loss_of_power_at_any_moment_loses_nothing_that_was_confirmed() {
    let scratch = Scratch::new("power");
    let root = scratch.0.join("disk");
    fs::create_dir(&root).unwrap();
    let disk = Running::below(&root);
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

/// The thread of `Save.write_async` confirms by its answers.
#[test]
fn a_loss_of_power_loses_nothing_that_the_thread_confirmed() {
    let scratch = Scratch::new("power_thread");
    let root = scratch.0.join("disk");
    fs::create_dir(&root).unwrap();
    let disk = Running::below(&root);
    let mut saves = Saves::new(Some(root.join("saves")), "1");
    let mut confirmed = Vec::new();
    for text in ["one", "two", "three", "four"] {
        let bytes = text.as_bytes().to_vec();
        let request = saves.begin_write(slot(), bytes, 1.0, Version::NotNewer, Some(0)).unwrap();
        assert_eq!(saves.poll(request, 0), Some(Busy::Done(true)));
        let operations = disk.record().len();
        confirmed.push(Confirmed { operations, content: Some(text.to_string()) });
    }
    let record = disk.record();
    drop(disk);
    assert!(lose_power_everywhere(&root, &record, &confirmed) > 60);
}

/// Plays the record of a disk, loses the power at its end in every way, and expects this save.
fn lose_power_at_the_end(root: &Path, record: &[Operation], wanted: Option<&str>, nth: usize) {
    let folder = root.with_extension("after");
    let mut model = Model::default();
    record.iter().for_each(|operation| model.apply(operation));
    model.lose_power(root, &folder, &mut |state| {
        let mut saves = Saves::new(Some(folder.join("saves")), "1");
        let found = content(&mut saves);
        assert_eq!(found.as_deref(), wanted, "operation {nth}, {state}");
    });
}

/// A folder whose name could not be flushed must not be taken for flushed by the next write.
#[test]
fn a_loss_of_power_after_a_fault_loses_nothing_that_was_confirmed() {
    let scratch = Scratch::new("power_fault");
    for nth in 0.. {
        let root = scratch.0.join(format!("disk-{nth}"));
        fs::create_dir(&root).unwrap();
        let disk = Running::below(&root);
        let mut saves = Saves::new(Some(root.join("saves")), "1");
        disk.fail(nth, ErrorKind::Other);
        let first = run(&mut saves, Step::Write("one"));
        if !disk.repair() {
            break;
        }
        // What was refused does not turn up later.
        let wanted = first.is_ok().then_some("one");
        lose_power_at_the_end(&root, &disk.record(), wanted, nth);
        run(&mut saves, Step::Write("two")).unwrap();
        let record = disk.record();
        drop(disk);
        lose_power_at_the_end(&root, &record, Some("two"), nth);
    }
}

/// A process that was killed left a folder for saves whose name was never flushed.
#[test]
fn a_folder_that_another_process_left_is_flushed_before_a_save_is_confirmed() {
    let scratch = Scratch::new("power_folder");
    let mut refused = 0;
    for nth in 0.. {
        let root = scratch.0.join(format!("disk-{nth}"));
        fs::create_dir(&root).unwrap();
        let disk = Running::below(&root);
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
    // The look at what is there, the folder's name, the file, its flush, its name, their flush.
    assert!(refused >= 4, "{refused} refused");
}
