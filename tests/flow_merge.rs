//! Two branches of a git repository edit the same graph as the editor does, and are merged: by git
//! alone, and by the merge driver. A merge that cannot be right is named by `engine check`.

use super::game_folder::{GameFolder, combined_output};
use engine::foundation::sjson::parse;
use engine::system::flow::edit_text;
use std::fs;

const GRAPH: &str = "graphs/door.flow";

const BASE: &str = "// The door of the vault.
variables = { hits = { type = \"number\" value = 0 } }
nodes = {
  // a hard hit
  a1 = { type = \"event.custom\" name = \"hit\" }
  c1 = { type = \"variable.add\" variable = \"hits\" }
  e1 = { type = \"number.greater_or_equal\" inputs = { a = { wire = \"c1.value\" } b = 3 } }
  g1 = { type = \"flow.branch\" inputs = { condition = { wire = \"e1.result\" } } }
  t1 = { type = \"event.raise\" name = \"open\" }
}
events = {
  \"a1.out > c1.in\" = true
  \"c1.out > g1.in\" = true
  \"g1.true > t1.in\" = true
}
positions = { a1 = [0, 0] c1 = [17, 0] e1 = [34, 8] g1 = [51, 0] t1 = [68, 0] }
";

/// Replacements in the text of a graph.
type Edits<'a> = &'a [(&'a str, &'a str)];

struct Repository(GameFolder);

impl Repository {
    /// Creates a repository with the graph. Returns `None` if there is no git.
    fn new(name: &str, has_driver: bool) -> Option<Repository> {
        let folder = GameFolder::new("flow_merge", name);
        if folder.program("git", &["--version"]).output().is_err() {
            eprintln!("SKIPPED: git is not installed");
            return None;
        }
        folder.write("main.lua", "");
        folder.write(GRAPH, BASE);
        let repository = Repository(folder);
        repository.git("init -q -b main .");
        repository.git("config user.email test@example.com");
        repository.git("config user.name Test");
        repository.git("config commit.gpgsign false");
        if has_driver {
            let (code, _, errors) = repository.0.engine(&["merge", "--install"]);
            assert_eq!((code, errors.as_str()), (0, ""));
        }
        repository.commit("base");
        Some(repository)
    }

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

    /// Creates a branch from main, on which the editor saves a changed graph.
    fn branch(&self, name: &str, edits: Edits) {
        self.git(&format!("checkout -q -b {name} main"));
        let mut wanted = BASE.to_string();
        for (old, new) in edits {
            assert_eq!(wanted.matches(old).count(), 1, "{old}");
            wanted = wanted.replace(old, new);
        }
        let tree = parse(&wanted).unwrap().to_tree();
        self.0.write(GRAPH, edit_text(BASE, "", &tree).unwrap());
        self.commit(name);
    }

    fn read(&self) -> String {
        fs::read_to_string(self.0.join(GRAPH)).unwrap()
    }

    fn check(&self) -> String {
        let (_, out, errors) = self.0.engine(&["check", "."]);
        out + &errors
    }
}

/// A delay before the door opens, and another name of its event.
const ANNA: Edits = &[
    ("t1 = { type", "k1 = { type = \"flow.delay\" }\n t1 = { type"),
    ("\"g1.true > t1.in\" = true", "\"g1.true > k1.in\" = true \"k1.out > t1.in\" = true"),
    ("t1 = [68, 0]", "t1 = [85, 0] k1 = [68, 0]"),
];

/// Light hits are printed, and five open the door.
const BEN: Edits = &[
    ("g1 = { type", "f1 = { type = \"debug.print\" inputs = { value = \"hit\" } }\n g1 = { type"),
    ("\"c1.out > g1.in\" = true", "\"c1.out > g1.in\" = true \"g1.false > f1.in\" = true"),
    ("b = 3", "b = 5"),
];

#[test]
fn branches_that_edit_one_graph_merge_by_its_structure() {
    let Some(repository) = Repository::new("driver", true) else { return };
    repository.branch("anna", ANNA);
    repository.branch("ben", BEN);
    repository.git("checkout -q main");
    repository.git("merge -q anna");
    repository.git("merge --no-edit ben");
    let merged = repository.read();
    for part in ["flow.delay", "debug.print", "b = 5", "k1.out > t1.in", "g1.false > f1.in"] {
        assert_eq!(merged.matches(part).count(), 1, "{part} in {merged}");
    }
    for comment in ["// The door of the vault.", "// a hard hit"] {
        assert!(merged.contains(comment), "{comment} in {merged}");
    }
    assert!(!merged.contains("g1.true > t1.in"), "{merged}");
    let checked = repository.check();
    assert!(checked.contains("no errors") && !checked.contains("error:"), "{checked}");
    // People read the change entry by entry.
    let difference = repository.git("diff HEAD~1 HEAD");
    assert!(difference.contains("+nodes.f1.type = \"debug.print\""), "{difference}");
    assert!(difference.contains("+nodes.e1.inputs.b = 5"), "{difference}");
}

#[test]
fn branches_that_add_nodes_merge_without_a_driver() {
    let Some(repository) = Repository::new("plain", false) else { return };
    repository.branch("anna", ANNA);
    // Positions are on one line here, which git alone cannot merge: nothing is placed.
    let printed: Edits = &[
        (
            "c1 = { type",
            "b1 = { type = \"debug.print\" inputs = { value = \"hit\" } }\n c1 = { type",
        ),
        ("\"a1.out > c1.in\" = true", "\"a1.out > b1.in\" = true \"a1.out > c1.in\" = true"),
        ("b = 3", "b = 5"),
    ];
    repository.branch("ben", printed);
    repository.git("checkout -q main");
    repository.git("merge -q anna");
    repository.git("merge --no-edit ben");
    let merged = repository.read();
    for part in ["flow.delay", "debug.print", "b = 5", "k1.out > t1.in", "a1.out > b1.in"] {
        assert_eq!(merged.matches(part).count(), 1, "{part} in {merged}");
    }
    let checked = repository.check();
    assert!(checked.contains("no errors") && !checked.contains("error:"), "{checked}");
}

#[test]
fn merges_that_leave_foreign_ids_are_named() {
    let Some(repository) = Repository::new("foreign", true) else { return };
    repository.branch("anna", ANNA);
    // Carl removes the node that Anna wires to, and copies another one by hand under its id.
    let removed: Edits = &[
        ("  t1 = { type = \"event.raise\" name = \"open\" }\n", ""),
        ("  \"g1.true > t1.in\" = true\n", ""),
        (" t1 = [68, 0]", ""),
    ];
    repository.branch("carl", removed);
    repository.git("checkout -q main");
    repository.git("merge -q anna");
    repository.git("merge --no-edit carl");
    let checked = repository.check();
    let message = "node k1: leads to the node 't1', which does not exist";
    assert_eq!(checked.matches(message).count(), 1, "{checked}");
    // Both sides of a conflict, and its marks, in one file.
    let text = BASE.replace("  t1 =", "  a1 = { type = \"event.spawned\" }\n  t1 =");
    repository.0.write(GRAPH, &text);
    let checked = repository.check();
    assert!(checked.contains("graphs/door.flow:9:") && checked.contains("'a1'"), "{checked}");
    let text = BASE.replace("  t1 =", "<<<<<<< HEAD\n  t1 =");
    repository.0.write(GRAPH, &text);
    let checked = repository.check();
    assert!(checked.contains("graphs/door.flow:9:"), "{checked}");
}
