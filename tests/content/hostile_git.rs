//! Repositories whose settings name programs, and files of git's that are no plain files: no
//! program starts, and nothing waits.

use super::game;
use crate::game_folder::{GameFolder, combined_output};
use std::fs;

fn git(folder: &GameFolder, arguments: &str) -> String {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let mut command = folder.program("git", &arguments);
    let (code, out) = combined_output(command.env("GIT_CONFIG_GLOBAL", "/dev/null"));
    assert_eq!(code, Some(0), "git {arguments:?}: {out}");
    out
}

/// Creates a repository with one commit. Returns `None` if there is no git.
fn repository(name: &str) -> Option<GameFolder> {
    let folder = game(name);
    if folder.program("git", &["--version"]).output().is_err() {
        eprintln!("SKIPPED: git is not installed");
        return None;
    }
    git(&folder, "init -q -b main .");
    git(&folder, "config user.email test@example.com");
    git(&folder, "config user.name Test");
    git(&folder, "config commit.gpgsign false");
    folder.write("data.sjson", "a = 1\n");
    git(&folder, "add -A");
    git(&folder, "commit -q -m base");
    Some(folder)
}

#[cfg(unix)]
#[test]
fn missing_objects_are_not_fetched_by_a_program() {
    let Some(folder) = repository("git_promisor") else { return };
    let base = git(&folder, "rev-parse HEAD:data.sjson");
    for (name, text) in [("left", "a = 1\nleft = 1\n"), ("right", "a = 2\n")] {
        git(&folder, &format!("checkout -q -b {name} main"));
        folder.write("data.sjson", text);
        git(&folder, &format!("commit -q -a -m {name}"));
    }
    git(&folder, "merge -q -s ours left -m both");
    let object = format!(".git/objects/{}/{}", &base[..2], base[2..].trim());
    fs::remove_file(folder.join(&object)).expect("the object is a file of its own");
    let proof = folder.join("program_ran");
    git(&folder, "config extensions.partialClone evil");
    git(&folder, "config remote.evil.url .");
    git(&folder, "config remote.evil.promisor true");
    let config = folder.join(".git/config");
    let settings = fs::read_to_string(&config).expect("git has settings");
    let program = format!("[remote \"evil\"]\n\tuploadpack = \"touch {};\"\n", proof.display());
    fs::write(&config, settings + &program).expect("they are written");
    let (code, out, errors) = folder.engine(&["merge", "--verify"]);
    assert_ne!(code, 0, "{out}{errors}");
    assert!(!proof.exists(), "git started a program of the repository: {out}{errors}");
    // Git itself would start it.
    let mut command = folder.program("git", &["show", &format!("main:{}", "data.sjson")]);
    combined_output(&mut command);
    assert!(proof.exists(), "the repository of this test is harmless");
}

#[cfg(unix)]
#[test]
fn pipe_named_as_attributes_stops_nothing() {
    let folder = game("git_pipe");
    let (code, out) = combined_output(&mut folder.program("mkfifo", &[".gitattributes"]));
    assert_eq!(code, Some(0), "{out}");
    let (code, out, errors) = folder.engine(&["check", ".", "--unconfined"]);
    assert_eq!(code, 0, "{out}{errors}");
}

#[test]
fn lines_of_people_stay_in_attributes() {
    let Some(folder) = repository("git_attributes") else { return };
    let own = "# engine merge --install\r\n*.sjson merge=engine diff=engine\r\nmine.txt text\r\n";
    folder.write(".gitattributes", own);
    for _ in 0..2 {
        assert_eq!(folder.engine(&["merge", "--install"]).0, 0);
        let text = fs::read_to_string(folder.join(".gitattributes")).expect("it is written");
        assert!(text.starts_with("mine.txt text\r\n# engine merge --install\r\n"), "{text}");
        assert_eq!(text.matches("*.sjson").count(), 1, "{text}");
        assert!(text.lines().count() == text.matches("\r\n").count(), "{text}");
    }
}

#[test]
fn file_whose_name_begins_with_a_dash_is_merged() {
    let Some(folder) = repository("git_dash") else { return };
    assert_eq!(folder.engine(&["merge", "--install"]).0, 0);
    folder.write("-x.json", "{ \"a\": 1, \"b\": 1 }\n");
    git(&folder, "add -A");
    git(&folder, "commit -q -m dash");
    for (name, text) in [("one", "{ \"a\": 2, \"b\": 1 }\n"), ("two", "{ \"a\": 1, \"b\": 2 }\n")] {
        git(&folder, &format!("checkout -q -b {name} main"));
        folder.write("-x.json", text);
        git(&folder, &format!("commit -q -a -m {name}"));
    }
    git(&folder, "merge -q one");
    let merged = fs::read_to_string(folder.join("-x.json")).expect("it exists");
    assert_eq!(merged, "{ \"a\": 2, \"b\": 2 }\n");
}
