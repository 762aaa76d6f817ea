//! The merge driver in real sessions of git, in repositories that these tests make: merge, rebase,
//! cherry-pick, stash, octopus; renames, removals, and work trees without the driver.

use super::game;
use crate::game_folder::{GameFolder, combined_output};
use std::fs;

/// A game in a repository with the driver.
struct Repository(GameFolder);

const LEVEL: &str = "levels/yard.level";

impl Repository {
    /// Creates a repository with one commit. Returns `None` if there is no git.
    fn new(name: &str) -> Option<Repository> {
        let folder = game(name);
        if folder.program("git", &["--version"]).output().is_err() {
            eprintln!("SKIPPED: git is not installed");
            return None;
        }
        let repository = Repository(folder);
        repository.git("init -q -b main .");
        repository.git("config user.email test@example.com");
        repository.git("config user.name Test");
        repository.git("config commit.gpgsign false");
        repository.level("box", "[0, 0, 0]", "");
        let (code, out, errors) = repository.0.engine(&["merge", "--install"]);
        assert_eq!((code, errors.as_str()), (0, ""), "{out}");
        assert!(out.contains("Each clone needs `engine merge --install` once."), "{out}");
        repository.commit("base");
        Some(repository)
    }

    /// Runs git. Returns true if it succeeded, and its output.
    fn try_git(&self, arguments: &str) -> (bool, String) {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let mut command = self.0.program("git", &arguments);
        command.env("GIT_EDITOR", "true").env("GIT_CONFIG_GLOBAL", "/dev/null");
        let (code, out) = combined_output(&mut command);
        (code == Some(0), out)
    }

    fn git(&self, arguments: &str) -> String {
        let (is_done, out) = self.try_git(arguments);
        assert!(is_done, "git {arguments}: {out}");
        out
    }

    fn commit(&self, message: &str) {
        self.git("add -A");
        self.git(&format!("commit -q -m {message}"));
    }

    /// Writes the level: the unit of the box, its position, and another entry.
    fn level(&self, unit: &str, position: &str, more: &str) {
        self.0.write(LEVEL, level(unit, position, more));
    }

    fn read(&self) -> String {
        fs::read_to_string(self.0.join(LEVEL)).unwrap()
    }

    /// Creates a branch from main with one change of the level.
    fn branch(&self, name: &str, unit: &str, position: &str, more: &str) {
        self.git(&format!("checkout -q -b {name} main"));
        self.level(unit, position, more);
        self.commit(name);
    }
}

fn level(unit: &str, position: &str, more: &str) -> String {
    format!(
        "units = {{\n  a = {{ unit = \"units/{unit}\" position = {position} }}   // a\n{more}}}\n"
    )
}

#[test]
fn a_merge_combines_changes_of_one_line() {
    let Some(repository) = Repository::new("git_merge") else { return };
    repository.branch("left", "box", "[1, 0, 0]", "  b = { unit = \"units/box\" }\n");
    repository.branch("right", "crate", "[0, 0, 0]", "  c = { unit = \"units/box\" }\n");
    repository.0.write("units/crate.unit", "");
    repository.git("add -A");
    repository.git("commit -q -m crate");
    repository.git("checkout -q left");
    repository.git("merge -q right");
    let both = "  b = { unit = \"units/box\" }\n  c = { unit = \"units/box\" }\n";
    assert_eq!(repository.read(), level("crate", "[1, 0, 0]", both));
    let (code, out, _) = repository.0.engine(&["merge", "--verify"]);
    assert_eq!((code, out.as_str()), (0, "1 merged file, 0 differ\n"));
    // A merge that somebody did by hand is found.
    repository.level("box", "[9, 9, 9]", "");
    repository.git("commit -q -a --amend -m byhand");
    let (code, out, _) = repository.0.engine(&["merge", "--verify", "HEAD"]);
    assert_eq!(code, 1);
    assert!(out.contains("levels/yard.level: the commit differs"), "{out}");
}

#[test]
fn verification_takes_a_commit_or_a_folder() {
    let Some(repository) = Repository::new("git_verify") else { return };
    repository.branch("left", "box", "[1, 0, 0]", "");
    repository.branch("right", "box", "[0, 0, 0]", "  c = { unit = \"units/box\" }\n");
    repository.git("checkout -q left");
    repository.git("merge -q right");
    let verify = |commit: &str| {
        let (code, out, errors) = repository.0.engine(&["merge", "--verify", commit]);
        (code, out + &errors)
    };
    for text in [".", "levels", "HEAD", "left"] {
        let (code, output) = verify(text);
        assert_eq!((code, output.as_str()), (0, "1 merged file, 0 differ\n"), "{text}");
    }
    for text in ["nobody", "HEAD~99", "--all"] {
        let (code, out, errors) = repository.0.engine(&["merge", &format!("--verify={text}")]);
        let output = out + &errors;
        let message = format!("error: '{text}' is no commit of this repository, and no folder");
        assert!(code == 1 && output.contains(&message), "{output}");
        assert!(!output.contains("usage:"), "{output}");
    }
    let outside = GameFolder::new("content", "git_verify_outside");
    outside.write("main.lua", "");
    let (code, _, errors) = outside.engine(&["merge", "--verify", "."]);
    assert!(code == 1 && errors.contains("'.' is in no work tree of git"), "{errors}");
    let (code, _, errors) = outside.engine(&["merge", "--verify"]);
    assert!(code == 1 && errors.contains("is in no work tree of git"), "{errors}");
}

#[test]
fn branches_that_were_merged_both_ways_are_not_verified() {
    let Some(repository) = Repository::new("git_crossed") else { return };
    repository.branch("left", "box", "[1, 0, 0]", "");
    repository.branch("right", "box", "[0, 0, 0]", "  c = { unit = \"units/box\" }\n");
    repository.git("merge -q left");
    repository.git("checkout -q left");
    // The same two commits again: now the branches have two newest common ancestors.
    repository.git("merge -q right~1");
    repository.git("commit -q --allow-empty -m more");
    repository.git("merge -q -s ours right");
    let (code, out, errors) = repository.0.engine(&["merge", "--verify"]);
    assert_eq!((code, errors.as_str()), (1, ""), "{out}");
    assert!(out.contains("HEAD have 2 newest common ancestors"), "{out}");
}

#[test]
fn a_merge_that_leaves_a_name_without_resource_is_found() {
    let Some(repository) = Repository::new("git_dangling") else { return };
    repository.branch("use", "box", "[0, 0, 0]", "  b = { unit = \"units/box\" }\n");
    repository.git("checkout -q -b rename main");
    assert_eq!(repository.0.engine(&["mv", ".", "units/box", "units/chest"]).0, 0);
    repository.commit("renamed");
    repository.git("merge -q use");
    // The old name still means the unit.
    let (code, out, errors) = repository.0.engine(&["merge", "--verify"]);
    assert_eq!(code, 0, "{out}{errors}");
    fs::remove_file(repository.0.join("redirects.sjson")).unwrap();
    let (code, out, _) = repository.0.engine(&["merge", "--verify"]);
    assert_eq!(code, 1);
    assert!(out.contains("levels/yard.level:3: there is no model or unit 'units/box'"), "{out}");
}

#[test]
fn in_a_merge_the_other_branch_wins() {
    let Some(repository) = Repository::new("git_theirs") else { return };
    repository.branch("mine", "box", "[1, 0, 0]", "");
    repository.branch("theirs", "box", "[2, 0, 0]", "");
    repository.git("checkout -q mine");
    let out = repository.git("merge -q theirs");
    assert!(
        out.contains("a.position: left has [1, 0, 0], right has [2, 0, 0]: right wins"),
        "{out}"
    );
    assert_eq!(repository.read(), level("box", "[2, 0, 0]", ""));
}

#[test]
fn in_a_rebase_the_own_commit_wins() {
    let Some(repository) = Repository::new("git_rebase") else { return };
    repository.branch("mine", "box", "[1, 0, 0]", "");
    repository.git("checkout -q main");
    repository.level("crate", "[2, 0, 0]", "");
    repository.commit("upstream");
    repository.git("checkout -q mine");
    repository.git("rebase -q main");
    assert_eq!(repository.read(), level("crate", "[1, 0, 0]", ""));
}

#[test]
fn a_cherry_pick_and_a_stash_combine_changes() {
    let Some(repository) = Repository::new("git_pick") else { return };
    repository.branch("other", "crate", "[0, 0, 0]", "");
    repository.git("checkout -q main");
    repository.level("box", "[3, 0, 0]", "");
    repository.commit("own");
    repository.git("cherry-pick other");
    assert_eq!(repository.read(), level("crate", "[3, 0, 0]", ""));
    // Changes that are not committed yet.
    repository.level("crate", "[3, 0, 0]", "  z = { unit = \"units/box\" }\n");
    repository.git("stash -q");
    repository.level("crate", "[4, 0, 0]", "");
    repository.commit("later");
    repository.git("stash pop -q");
    let more = "  z = { unit = \"units/box\" }\n";
    assert_eq!(repository.read(), level("crate", "[4, 0, 0]", more));
}

/// Git's strategy for several branches does not ask drivers: it merges lines, or gives up. Merged
/// one after the other, the branches are merged by structure.
#[test]
fn an_octopus_gives_up_where_merges_of_two_do_not() {
    let Some(repository) = Repository::new("git_octopus") else { return };
    for (name, unit, position, more) in [
        ("one", "crate", "[0, 0, 0]", ""),
        ("two", "box", "[5, 0, 0]", ""),
        ("three", "box", "[0, 0, 0]", "  n = { unit = \"units/box\" }\n"),
    ] {
        repository.branch(name, unit, position, more);
    }
    repository.git("checkout -q main");
    let (is_done, out) = repository.try_git("merge -q one two three");
    assert!(!is_done && out.contains("Merge with strategy octopus failed"), "{out}");
    repository.git("reset -q --hard main");
    for branch in ["one", "two", "three"] {
        repository.git(&format!("merge -q {branch}"));
    }
    let more = "  n = { unit = \"units/box\" }\n";
    assert_eq!(repository.read(), level("crate", "[5, 0, 0]", more));
}

#[test]
fn renames_and_changes_come_together() {
    let Some(repository) = Repository::new("git_rename") else { return };
    repository.branch("edit", "crate", "[0, 0, 0]", "");
    repository.git("checkout -q -b move main");
    let (code, _, errors) = repository.0.engine(&["mv", ".", "levels/yard", "levels/garden"]);
    assert_eq!(code, 0, "{errors}");
    let status = repository.git("status --short");
    assert_eq!(status, "R  levels/yard.level -> levels/garden.level\n?? redirects.sjson\n");
    // An undo takes back what is staged, too.
    assert_eq!(repository.0.engine(&["undo", "."]).0, 0);
    assert_eq!(repository.git("status --short"), "");
    assert_eq!(repository.0.engine(&["mv", ".", "levels/yard", "levels/garden"]).0, 0);
    // Git takes it for a rename only if most of its lines stay.
    let more = "  z = { unit = \"units/box\" }\n";
    repository.0.write("levels/garden.level", level("box", "[0, 0, 0]", more));
    repository.commit("moved");
    repository.git("merge -q edit");
    let merged = fs::read_to_string(repository.0.join("levels/garden.level")).unwrap();
    assert_eq!(merged, level("crate", "[0, 0, 0]", more));
}

#[test]
fn git_decides_about_removed_files_without_the_driver() {
    let Some(repository) = Repository::new("git_removed") else { return };
    repository.branch("edit", "crate", "[0, 0, 0]", "");
    repository.git("checkout -q -b remove main");
    fs::remove_file(repository.0.join(LEVEL)).unwrap();
    repository.commit("removed");
    let (is_done, out) = repository.try_git("merge -q edit");
    assert!(!is_done && out.contains("CONFLICT (modify/delete)"), "{out}");
}

#[test]
fn a_broken_file_is_merged_by_lines() {
    let Some(repository) = Repository::new("git_broken") else { return };
    repository.branch("left", "box", "[1, 0, 0]", "  x = {\n");
    repository.branch("right", "box", "[2, 0, 0]", "");
    repository.git("checkout -q left");
    let (is_done, out) = repository.try_git("merge -q right");
    assert!(!is_done, "{out}");
    assert!(out.contains("merged by lines, with 1 conflict, because"), "{out}");
    assert!(repository.read().contains("<<<<<<< "), "{}", repository.read());
}

#[test]
fn differences_name_paths() {
    let Some(repository) = Repository::new("git_diff") else { return };
    repository.level("box", "[8, 0, 0]", "");
    let out = repository.git("diff");
    assert!(out.contains("\n+units.a.position = [8, 0, 0]\n"), "{out}");
    repository.0.write("old.level", level("box", "[0, 0, 0]", ""));
    let (code, out, _) = repository.0.engine(&["diff", "old.level", LEVEL, "--exit-code"]);
    assert_eq!(code, 1);
    assert_eq!(out, "units.a.position\n  - [0, 0, 0]\n  + [8, 0, 0]\n");
    let (code, _, _) = repository.0.engine(&["diff", "old.level", LEVEL, "--html", "d.html"]);
    assert_eq!(code, 0);
    assert!(fs::read_to_string(repository.0.join("d.html")).unwrap().contains("units.a.position"));
    let tool = repository.git("config difftool.engine-page.cmd");
    let arguments = "' diff --page --path=\"$MERGED\" -- \"$LOCAL\" \"$REMOTE\"\n";
    assert!(tool.ends_with(arguments), "{tool}");
}

#[test]
fn a_clone_without_the_driver_is_warned() {
    let Some(repository) = Repository::new("git_clone") else { return };
    let check = |repository: &Repository| repository.0.engine(&["check", ".", "--unconfined"]);
    assert!(!check(&repository).2.contains("no merge driver"));
    repository.git("config --remove-section merge.engine");
    let (code, out, errors) = check(&repository);
    let all = out + &errors;
    assert_eq!(code, 0, "{all}");
    assert!(
        all.contains(".gitattributes: git has no merge driver 'engine' in this clone"),
        "{all}"
    );
}

#[test]
fn a_file_with_a_merge_conflict_does_not_move() {
    let Some(repository) = Repository::new("git_conflict") else { return };
    for (branch, number) in [("left", 1), ("right", 2)] {
        repository.git(&format!("checkout -q -b {branch} main"));
        repository.0.write("game/enemy.lua", format!("return {{ {number} }}\n"));
        repository.commit(branch);
    }
    let (is_done, out) = repository.try_git("merge -q left");
    assert!(!is_done, "{out}");
    let unmerged = repository.git("ls-files -u");
    assert_eq!(unmerged.lines().count(), 3, "{unmerged}");
    let (code, _, errors) = repository.0.engine(&["mv", ".", "game/enemy", "game/foe"]);
    assert_eq!(code, 1);
    assert_eq!(
        errors,
        "error: game/enemy.lua: it has a merge conflict in git: resolve that first, and `git add` \
         it\n"
    );
    assert_eq!(repository.git("ls-files -u"), unmerged);
    assert!(repository.0.join("game/enemy.lua").exists());
}

#[test]
fn markers_of_merges_by_lines_name_the_branches() {
    let Some(repository) = Repository::new("git_labels") else { return };
    for (branch, value) in [("left", 1), ("right", 2)] {
        repository.git(&format!("checkout -q -b {branch} main"));
        repository.0.write(LEVEL, format!("units = {{ broken = {value}\n"));
        repository.commit(branch);
    }
    let (is_done, out) = repository.try_git("merge left");
    assert!(!is_done, "{out}");
    let text = repository.read();
    let is_new = text.contains("<<<<<<< HEAD\n") && text.contains(">>>>>>> left\n");
    // Before version 2.44, git does not pass the names.
    let is_old = text.contains("<<<<<<< left\n") && text.contains(">>>>>>> right\n");
    assert!(is_new || is_old, "{text}");
}

#[test]
fn a_check_asks_for_ids_in_merged_data() {
    let Some(repository) = Repository::new("git_ids") else { return };
    let list = "a = [1, 2]\nitems = [\n  { id = 1 }\n  { name = \"b\" }\n]\n";
    repository.0.write("data/shop.config", list);
    repository.0.write("data/ids.config", "items = [{ id = 1 }, { id = 2 }]\n");
    let (_, out, errors) = repository.0.engine(&["check", "."]);
    let all = format!("{out}{errors}");
    let warning = "data/shop.config:2: this list has objects without an id of their own, and \
                   merges compare them: give each an id";
    assert_eq!(all.matches(warning).count(), 1, "{all}");
    assert!(!all.contains("data/ids.config"), "{all}");
}
