//! Tests of changes as one: errors in the middle, kills at every step, undo, hostile folders.

use super::steps::STEPS_LEFT;
use super::*;
use crate::game_for_tests::TestGame;
use engine_foundation::atomic_file::disk::SYNCS_FILE_SYSTEMS;
use engine_foundation::atomic_file::disk_simulation::{DiskModel, Operation, SimulationGuard};
use engine_foundation::atomic_file::write_durably;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

const FILES: &[(&str, &str)] =
    &[("a/x.lua", "old x"), ("a/y.lua", "y"), ("b.lua", "names a.x"), ("c.lua", "c")];

fn change() -> ChangeSet {
    ChangeSet {
        title: "mv a d".to_string(),
        changes: vec![
            FileChange::Move {
                from: "a/x.lua".to_string(),
                to: "d/e/x.lua".to_string(),
                bytes: Some(b"new x".to_vec()),
            },
            FileChange::Move {
                from: "a/y.lua".to_string(),
                to: "d/y.lua".to_string(),
                bytes: None,
            },
            FileChange::Write { path: "b.lua".to_string(), bytes: b"names d.e.x".to_vec() },
            FileChange::Remove { path: "c.lua".to_string() },
            FileChange::Create { path: "f/n.lua".to_string(), bytes: b"n".to_vec() },
        ],
        expected_hashes: vec![("b.lua".to_string(), content_hash(b"names a.x"))],
    }
}

fn after() -> Vec<(String, String)> {
    let files =
        [("b.lua", "names d.e.x"), ("d/e/x.lua", "new x"), ("d/y.lua", "y"), ("f/n.lua", "n")];
    files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect()
}

#[test]
fn a_change_is_applied_and_undone_as_one() {
    let game = TestGame::new(FILES);
    let before = game.files();
    apply(&game.root, &change()).unwrap();
    assert_eq!(game.files(), after());
    assert!(!game.root.join("a").exists(), "an empty folder is removed");
    assert_eq!(undoable(&game.root).unwrap().as_deref(), Some("mv a d"));
    let undone = undo(&game.root).unwrap().unwrap();
    assert_eq!(undone.title, "mv a d");
    let back = [("d/y.lua", "a/y.lua"), ("d/e/x.lua", "a/x.lua")];
    let moves: Vec<_> = undone.moves.iter().map(|(from, to)| (&from[..], &to[..])).collect();
    assert!(back.iter().all(|row| moves.contains(row)) && moves.len() == 2, "{moves:?}");
    assert_eq!(game.files(), before);
    assert_eq!(undo(&game.root).unwrap(), None);
}

#[test]
fn a_process_killed_at_any_step_leaves_all_or_nothing() {
    let mut kills = 0;
    loop {
        let game = TestGame::new(FILES);
        let before = game.files();
        STEPS_LEFT.set(Some(kills));
        let applied = apply(&game.root, &change());
        STEPS_LEFT.set(None);
        // The next command completes the change, or finds that it had not begun.
        recover(&game.root).unwrap();
        let files = game.files();
        assert!(files == before || files == after(), "{kills}: {files:?}");
        assert_eq!(recover(&game.root).unwrap(), None);
        // A recovery that is killed, too, is completed by the next one.
        if applied.is_ok() {
            assert_eq!(files, after());
            break;
        }
        kills += 1;
    }
    assert!(kills > 10, "only {kills} steps");
}

#[test]
fn a_disk_that_fails_in_the_middle_changes_nothing() {
    for nth in 0..200 {
        let game = TestGame::new(FILES);
        let before = game.files();
        let disk = SimulationGuard::below(&game.root);
        disk.fail(nth, ErrorKind::StorageFull);
        let applied = apply(&game.root, &change());
        let was_reached = disk.repair();
        if !was_reached {
            applied.unwrap();
            assert!(nth > 20, "only {nth} operations");
            return;
        }
        let files = game.files();
        match applied {
            // Some operations may fail, such as the removal of a leftover.
            Ok(()) => assert_eq!(files, after(), "{nth}"),
            Err(_) => {
                recover(&game.root).unwrap();
                assert!(files == before || game.files() == after(), "{nth}: {files:?}");
            }
        }
    }
    panic!("the change has too many operations");
}

#[test]
fn files_that_changed_since_the_plan_stop_the_change() {
    let game = TestGame::new(FILES);
    fs::write(game.root.join("b.lua"), "edited").unwrap();
    let before = game.files();
    let message = apply(&game.root, &change()).unwrap_err().message;
    assert_eq!(message, "b.lua: the file has changed since it was read: try again");
    assert_eq!(game.files(), before);
}

#[test]
fn an_undo_refuses_files_that_changed_later() {
    let game = TestGame::new(FILES);
    apply(&game.root, &change()).unwrap();
    fs::write(game.root.join("b.lua"), "edited").unwrap();
    let message = undo(&game.root).unwrap_err().message;
    assert!(
        message.starts_with("b.lua: the file has changed since 'mv a d': nothing was undone (`"),
        "{message}"
    );
}

#[test]
fn a_change_that_cannot_be_undone_is_forgotten() {
    let game = TestGame::new(FILES);
    let write = |text: &str| {
        let bytes = text.as_bytes().to_vec();
        let changes = vec![FileChange::Write { path: "b.lua".to_string(), bytes }];
        ChangeSet { title: text.to_string(), changes, ..ChangeSet::default() }
    };
    apply(&game.root, &write("one")).unwrap();
    apply(&game.root, &write("two")).unwrap();
    fs::write(game.root.join("b.lua"), "edited").unwrap();
    assert!(undo(&game.root).is_err());
    assert_eq!(forgettable(&game.root).unwrap().as_deref(), Some("two"));
    assert_eq!(forget(&game.root).unwrap().as_deref(), Some("two"));
    assert_eq!(fs::read_to_string(game.root.join("b.lua")).unwrap(), "edited");
    // A damaged record blocks those before it until it is forgotten.
    fs::write(game.root.join("b.lua"), "one").unwrap();
    apply(&game.root, &write("three")).unwrap();
    fs::write(game.root.join(".engine/undo/2/journal"), "[").unwrap();
    assert!(undo(&game.root).is_err());
    assert_eq!(forget(&game.root).unwrap().as_deref(), Some("the damaged .engine/undo/2"));
    fs::write(game.root.join("b.lua"), "one").unwrap();
    assert_eq!(undo(&game.root).unwrap().unwrap().title, "one");
    assert_eq!(fs::read_to_string(game.root.join("b.lua")).unwrap(), "names a.x");
    assert_eq!((forget(&game.root).unwrap(), forgettable(&game.root).unwrap()), (None, None));
}

/// Runs a function with the disk of a game and with the one that a loss of power leaves.
fn with_disks<R>(run: impl FnOnce(&TestGame, &TestGame, &SimulationGuard) -> R) -> R {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Flushes of a disk in memory take no time.
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = parent.join(format!("engine-{}-content-power-{number}", std::process::id()));
    let [disk, after_loss] = ["disk", "after"].map(|name| TestGame { root: folder.join(name) });
    fs::create_dir_all(&disk.root).unwrap();
    let simulation = SimulationGuard::below(&disk.root);
    let put = |path: &str, text: &str| {
        write_durably(&disk.root.join(path), text.as_bytes()).unwrap();
    };
    put(".engine/.gitignore", "*\n");
    FILES.iter().for_each(|(path, text)| put(path, text));
    let result = run(&disk, &after_loss, &simulation);
    fs::remove_dir_all(folder).unwrap();
    result
}

#[test]
fn a_power_loss_at_any_time_leaves_all_or_nothing() {
    let mut states = 0;
    with_disks(|disk, after_loss, simulation| {
        let begin = simulation.record().len();
        apply(&disk.root, &change()).unwrap();
        let record = simulation.record();
        let mut model = DiskModel::default();
        record[..begin].iter().for_each(|operation| model.apply(operation));
        let before = TestGame::new(FILES).files();
        for count in begin..=record.len() {
            model.lose_power(&disk.root, &after_loss.root, &mut |state| {
                states += 1;
                recover(&after_loss.root)
                    .unwrap_or_else(|error| panic!("{count}, {state}: {error}"));
                let files = after_loss.files();
                let is_whole = files == after() || files == before && count < record.len();
                assert!(is_whole, "{count}, {state}: {files:?}");
            });
            if let Some(operation) = record.get(count) {
                model.apply(operation);
            }
        }
    });
    assert!(states > 100, "only {states} states");
}

#[test]
fn a_change_that_is_taken_back_stays_so_without_power() {
    let before = TestGame::new(FILES).files();
    let (mut taken_back, mut is_end) = (0, false);
    for nth in 0..200 {
        with_disks(|disk, after_loss, simulation| {
            simulation.fail(nth, ErrorKind::StorageFull);
            let applied = apply(&disk.root, &change());
            is_end = !simulation.repair();
            let is_taken_back =
                applied.is_err_and(|error| error.message.ends_with("nothing was changed"));
            if !is_taken_back {
                return;
            }
            taken_back += 1;
            let mut model = DiskModel::default();
            simulation.record().iter().for_each(|operation| model.apply(operation));
            model.lose_power(&disk.root, &after_loss.root, &mut |state| {
                recover(&after_loss.root).unwrap_or_else(|error| panic!("{nth}, {state}: {error}"));
                assert_eq!(after_loss.files(), before, "{nth}, {state}");
            });
        });
        if is_end {
            break;
        }
    }
    assert!(is_end && taken_back > 20, "{taken_back}");
}

#[test]
fn many_files_are_flushed_at_once() {
    let game = TestGame::new(FILES);
    let simulation = SimulationGuard::below(&game.root);
    let create = |at: usize| FileChange::Create { path: format!("n{at}/x"), bytes: vec![1] };
    let changes = (0..50).map(create).collect();
    apply(&game.root, &ChangeSet { changes, ..ChangeSet::default() }).unwrap();
    let record = simulation.record();
    let count = |is: fn(&Operation) -> bool| record.iter().filter(|it| is(it)).count();
    let whole = count(|it| matches!(it, Operation::SyncFileSystem(_)));
    let alone = count(|it| matches!(it, Operation::SyncFile(_)));
    match SYNCS_FILE_SYSTEMS {
        // The contents, then the names. The file of contents and the journal are flushed alone.
        true => assert_eq!((whole, alone), (2, 2)),
        false => assert_eq!((whole, alone), (0, 52)),
    }
}

#[test]
fn invalid_changes_are_refused_before_the_first_file() {
    let refused = |change: FileChange, wanted: &str| {
        let game = TestGame::new(FILES);
        let set = ChangeSet { changes: vec![change], ..ChangeSet::default() };
        let before = game.files();
        assert_eq!(apply(&game.root, &set).unwrap_err().message, wanted);
        assert_eq!(game.files(), before);
    };
    let create = |path: &str| FileChange::Create { path: path.to_string(), bytes: Vec::new() };
    refused(create("../x"), "'../x' is not a path in the game's folder");
    refused(create("/etc/x"), "'/etc/x' is not a path in the game's folder");
    refused(create(".engine/x"), "'.engine/x' is not a path in the game's folder");
    refused(create("b.lua"), "b.lua: the file exists already: choose another name");
    let absent = FileChange::Remove { path: "gone.lua".to_string() };
    refused(absent, "gone.lua: there is no such file");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_links_or_to_read_only_files() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let game = TestGame::new(FILES);
    let outside = TestGame::new(&[("victim.lua", "kept")]);
    symlink(&outside.root, game.root.join("out")).unwrap();
    let message = |change: FileChange| {
        let set = ChangeSet { changes: vec![change], ..ChangeSet::default() };
        apply(&game.root, &set).unwrap_err().message
    };
    let through = message(FileChange::Remove { path: "out/victim.lua".to_string() });
    assert!(through.contains("is a link"), "{through}");
    let into = FileChange::Create { path: "out/new.lua".to_string(), bytes: Vec::new() };
    assert!(message(into).contains("is a link"));
    fs::set_permissions(game.root.join("b.lua"), fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(
        message(FileChange::Write { path: "b.lua".to_string(), bytes: Vec::new() }),
        "b.lua: the file is read-only: allow writing to it first"
    );
    assert_eq!(outside.files(), [("victim.lua".to_string(), "kept".to_string())]);
}

#[test]
fn a_hostile_journal_is_refused() {
    let game = TestGame::new(FILES);
    let before = game.files();
    let folder = game.root.join(".engine/change");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("contents"), "four").unwrap();
    for (journal, wanted) in [
        ("steps = [[\"remove\" \"../x\" \"\" 0 0 0 0]]", "leads out"),
        ("steps = [[\"move\" \"b.lua\" \"/etc/x\" 0 0 0 0]]", "leads out"),
        ("steps = [[\"write\" \"b.lua\" \"\" 0 9 0 0]]", "not in its file"),
        ("steps = [[\"write\" \"b.lua\" \"\" -1 1e300 0 0]]", "not in its file"),
        ("steps = [[\"remove\" \"a/.git/config\" \"\" 0 0 0 0]]", "into a hidden one"),
        ("steps = [[\"move\" \"b.lua\" \"a/.git/x\" 0 0 0 0]]", "into a hidden one"),
        ("steps = [[\"remove\" \"a\" \"\" 0 0 0 0]]", "'a' is not a plain file"),
        ("steps = [[\"move\" \"a\" \"z\" 0 0 0 0]]", "'a' is not a plain file"),
        ("steps = [[\"burn\" \"b.lua\" \"\" 0 0 0 0]]", "incomplete or unknown"),
        ("steps = [[\"move\"]]", "incomplete or unknown"),
        ("x = 1", "no steps"),
        ("[", "not closed"),
    ] {
        fs::write(folder.join("journal"), journal).unwrap();
        let message = recover(&game.root).unwrap_err().message;
        assert!(message.contains(wanted), "{message}");
    }
    assert_eq!(game.files(), before);
}

#[test]
fn old_records_are_removed() {
    let game = TestGame::new(FILES);
    for turn in 0..RECORDS_MAX + 3 {
        let bytes = format!("{turn}").into_bytes();
        let changes = vec![FileChange::Write { path: "b.lua".to_string(), bytes }];
        apply(&game.root, &ChangeSet { changes, ..ChangeSet::default() }).unwrap();
    }
    let count = || fs::read_dir(game.root.join(".engine/undo")).unwrap().count();
    assert_eq!(count(), RECORDS_MAX);
    // Each undo removes its own record, and no other.
    for left in (0..RECORDS_MAX).rev() {
        assert!(undo(&game.root).unwrap().is_some());
        assert_eq!(count(), left);
    }
    assert_eq!(fs::read_to_string(game.root.join("b.lua")).unwrap(), "2");
    assert_eq!(undo(&game.root).unwrap(), None);
}

#[test]
fn an_undo_that_is_killed_at_any_step_is_completed_once() {
    for kills in 0.. {
        let game = TestGame::new(FILES);
        let before = game.files();
        apply(&game.root, &change()).unwrap();
        STEPS_LEFT.set(Some(kills));
        let undone = undo(&game.root);
        STEPS_LEFT.set(None);
        assert_eq!(undoable(&game.root).unwrap().is_some(), undone.is_err(), "{kills}");
        if undone.is_ok() {
            assert_eq!(game.files(), before);
            assert!(kills > 10, "only {kills} steps");
            return;
        }
        // The next undo completes it, or begins again if it had not begun.
        assert_eq!(undo(&game.root).unwrap().unwrap().title, "mv a d", "{kills}");
        assert_eq!(game.files(), before, "{kills}");
        assert_eq!(undo(&game.root).unwrap(), None, "{kills}");
    }
}

#[test]
fn a_recovery_keeps_files_that_were_edited_since() {
    let game = TestGame::new(FILES);
    let bytes = b"new".to_vec();
    let changes = vec![FileChange::Write { path: "b.lua".to_string(), bytes }];
    // Killed after the commit, before the file changes.
    STEPS_LEFT.set(Some(3));
    let set = ChangeSet { title: "mv x y".to_string(), changes, ..ChangeSet::default() };
    apply(&game.root, &set).unwrap_err();
    STEPS_LEFT.set(None);
    assert_eq!(interrupted(&game.root).unwrap().as_deref(), Some("mv x y"));
    fs::write(game.root.join("b.lua"), "a day of work").unwrap();
    let before = game.files();
    assert_eq!(
        recover(&game.root).unwrap_err().message,
        "'mv x y' was interrupted, and cannot be completed: b.lua: the file was edited since the \
         change began: repair that, or remove .engine/change to keep all files as they are"
    );
    assert_eq!(undo(&game.root).unwrap_err().message, recover(&game.root).unwrap_err().message);
    assert_eq!(game.files(), before);
    fs::write(game.root.join("b.lua"), "names a.x").unwrap();
    assert_eq!(recover(&game.root).unwrap().as_deref(), Some("mv x y"));
    assert_eq!(fs::read_to_string(game.root.join("b.lua")).unwrap(), "new");
}

#[test]
fn a_change_that_could_not_be_taken_back_is_refused() {
    let game = TestGame::new(FILES);
    // A file with a hole takes no space on the disk.
    let large = fs::File::create(game.root.join("large.png")).unwrap();
    large.set_len((1 << 30) + 1).unwrap();
    let changes = vec![FileChange::Remove { path: "large.png".to_string() }];
    let set = ChangeSet { changes, ..ChangeSet::default() };
    assert_eq!(
        apply(&game.root, &set).unwrap_err().message,
        "the contents of the change are larger than 1 GiB (SOURCE_BYTES_MAX): change fewer files \
         at once"
    );
    assert!(game.root.join("large.png").exists() && !game.root.join(".engine/change").exists());
}

/// Plants an interrupted change with one step and the contents "four".
#[cfg(unix)]
fn plant(folder: &Path, step: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("contents"), "four").unwrap();
    fs::write(folder.join("journal"), format!("title = \"t\"\nsteps = [[{step}]]")).unwrap();
}

#[cfg(unix)]
#[test]
fn a_planted_journal_does_not_go_through_links() {
    use std::os::unix::fs::symlink;
    let outside = TestGame::new(&[("secret.txt", "secret"), ("1/journal", "kept")]);
    let kept = outside.files();
    for step in [
        "\"move\" \"out/secret.txt\" \"stolen.txt\" 0 0 0 0",
        "\"move\" \"b.lua\" \"out/b.lua\" 0 0 0 0",
        "\"write\" \"out/secret.txt\" \"\" 0 4 0 0",
        "\"create\" \"out/new.lua\" \"\" 0 4 0 0",
        "\"remove\" \"out/secret.txt\" \"\" 0 0 0 0",
        "\"write\" \"link.lua\" \"\" 0 4 0 0",
    ] {
        let game = TestGame::new(FILES);
        symlink(&outside.root, game.root.join("out")).unwrap();
        symlink(outside.root.join("secret.txt"), game.root.join("link.lua")).unwrap();
        plant(&game.root.join(".engine/change"), step);
        let message = recover(&game.root).unwrap_err().message;
        assert!(message.contains("is a link"), "{step}: {message}");
        assert!(!game.root.join("stolen.txt").exists() && game.root.join("b.lua").exists());
        assert_eq!(outside.files(), kept);
    }
}

#[cfg(unix)]
#[test]
fn no_folders_are_created_or_removed_through_links() {
    use super::journal::read_journal;
    use super::steps::{flush_folders, remove_empty_folders, remove_new_folders};
    use std::os::unix::fs::symlink;
    let outside = TestGame::new(&[]);
    fs::create_dir_all(outside.root.join("empty/inner")).unwrap();
    for step in [
        "\"move\" \"gone.unit\" \"out/made/outside/b.unit\" 0 0 0 0",
        "\"move\" \"b.lua\" \"out/made/outside/b.unit\" 0 0 0 0",
        "\"create\" \"out/made/outside/b.unit\" \"\" 0 4 0 0",
        "\"move\" \"out/empty/inner/gone\" \"b.unit\" 0 0 0 0",
        // The step seems to be done.
        "\"remove\" \"out/empty/inner/gone\" \"\" 0 0 0 0",
    ] {
        let game = TestGame::new(FILES);
        symlink(&outside.root, game.root.join("out")).unwrap();
        plant(&game.root.join(".engine/change"), step);
        fs::write(game.root.join(".engine/change/0.old"), "").unwrap();
        let message = recover(&game.root).unwrap_err().message;
        assert!(message.contains("is a link"), "{step}: {message}");
        assert!(!outside.root.join("made").exists(), "{step}");
        assert!(outside.root.join("empty/inner").exists(), "{step}");
        // Also if it fails at another place before.
        let steps = &read_journal(&game.root, ".engine/change").unwrap().steps;
        remove_empty_folders(&game.root, steps);
        remove_new_folders(&game.root, steps);
        assert!(flush_folders(&game.root, steps).is_err());
        assert!(outside.root.join("empty/inner").exists(), "{step}");
    }
    // A missing file that moves needs no folder.
    let game = TestGame::new(FILES);
    plant(&game.root.join(".engine/change"), "\"move\" \"gone\" \"made/b.unit\" 0 0 0 0");
    recover(&game.root).unwrap();
    assert!(!game.root.join("made").exists());
}

#[cfg(unix)]
#[test]
fn contents_and_records_are_not_read_or_removed_through_links() {
    use std::os::unix::fs::symlink;
    let outside = TestGame::new(&[("secret.txt", "secret"), ("1/journal", "kept")]);
    let kept = outside.files();
    let secret = outside.root.join("secret.txt");
    let create = "\"create\" \"n.lua\" \"\" 0 4 0 0";
    let check = |prepare: &dyn Fn(&Path)| {
        let game = TestGame::new(FILES);
        prepare(&game.root);
        let messages = [
            undo(&game.root).unwrap_err().message,
            apply(&game.root, &change()).unwrap_err().message,
        ];
        assert!(messages.iter().any(|message| message.contains("is a link")), "{messages:?}");
        assert!(!game.root.join("n.lua").exists());
        assert_eq!(outside.files(), kept);
    };
    check(&|root: &Path| {
        plant(&root.join(".engine/change"), create);
        fs::remove_file(root.join(".engine/change/contents")).unwrap();
        symlink(&secret, root.join(".engine/change/contents")).unwrap();
    });
    check(&|root: &Path| symlink(&outside.root, root.join(".engine")).unwrap());
    check(&|root: &Path| {
        fs::create_dir_all(root.join(".engine")).unwrap();
        symlink(&outside.root, root.join(".engine/undo")).unwrap();
    });
    check(&|root: &Path| {
        fs::create_dir_all(root.join(".engine/undo")).unwrap();
        symlink(&outside.root, root.join(".engine/undo/7")).unwrap();
    });
    // A removed file of a record.
    let game = TestGame::new(FILES);
    plant(&game.root.join(".engine/undo/1"), "\"remove\" \"n.lua\" \"\" 0 0 0 0");
    symlink(&secret, game.root.join(".engine/undo/1/0.old")).unwrap();
    let message = undo(&game.root).unwrap_err().message;
    assert!(message.contains("is a link") && !game.root.join("n.lua").exists(), "{message}");
}

#[test]
fn one_command_changes_a_game_at_a_time() {
    let game = TestGame::new(FILES);
    let lock = super::lock::ChangeLock::take(&game.root).unwrap();
    let busy = "another engine command changes this game: wait until it has ended, and try again";
    let before = game.files();
    assert_eq!(apply(&game.root, &change()).unwrap_err().message, busy);
    assert_eq!(undo(&game.root).unwrap_err().message, busy);
    fs::create_dir_all(game.root.join(".engine/change")).unwrap();
    assert_eq!(recover(&game.root).unwrap_err().message, busy);
    assert!(game.root.join(".engine/change").exists(), "the folder of the other command stays");
    assert_eq!(game.files(), before);
    drop(lock);
    apply(&game.root, &change()).unwrap();
    assert_eq!(game.files(), after());
}
