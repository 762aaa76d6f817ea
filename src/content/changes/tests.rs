//! Tests of changes as one: errors in the middle, kills at every step, undo, hostile folders.

use super::journal::STEPS_LEFT;
use super::*;
use crate::game_for_tests::TestGame;
use engine_foundation::atomic_file::disk_simulation::SimulationGuard;
use std::fs;
use std::io::ErrorKind;

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
        expected: vec![("b.lua".to_string(), content_hash(b"names a.x"))],
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
    assert_eq!(undoable(&game.root).as_deref(), Some("mv a d"));
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
    assert_eq!(message, "b.lua: the file has changed since 'mv a d': nothing was undone");
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
    refused(absent, "gone.lua: No such file or directory (os error 2)");
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
    let count = fs::read_dir(game.root.join(".engine/undo")).unwrap().count();
    assert_eq!(count, RECORDS_MAX);
}
