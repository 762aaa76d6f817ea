//! Tests of what the command line says about itself: its version, completions of shells, the
//! manual page, and the list of what newer engines have changed.

use crate::game_folder::{GameFolder, outcome};
use std::process::Command;

#[test]
fn version_has_target_features_and_commit_if_asked() {
    let folder = GameFolder::new("command_line", "version");
    let version = format!("engine {}\n", env!("CARGO_PKG_VERSION"));
    for arguments in [&["--version"][..], &["-V"]] {
        assert_eq!(folder.engine(arguments), (0, version.clone(), String::new()));
    }
    let (code, out, err) = folder.engine(&["--version", "--verbose"]);
    assert_eq!((code, &*err), (0, ""));
    let names: Vec<&str> =
        out.lines().skip(1).filter_map(|it| Some(it.split_once(": ")?.0)).collect();
    assert!(out.starts_with(&version), "{out}");
    assert_eq!(names, ["target", "profile", "features", "commit"], "{out}");
    assert!(out.contains(std::env::consts::ARCH), "{out}");
    // Neither is ignored where it means nothing.
    for arguments in [&["--verbose"][..], &["--version", "docs"], &["--verbose", "docs"], &["--"]] {
        let (code, out, err) = folder.engine(arguments);
        assert_eq!((code, &*out), (2, ""), "{arguments:?} {err}");
        assert!(err.contains("Usage: engine"), "{arguments:?} {err}");
    }
}

/// Returns the completions that bash offers for the last of these texts.
fn completed(script: &str, typed: &[&str]) -> String {
    let quoted: Vec<String> = typed.iter().map(|text| format!("'{text}'")).collect();
    let all = format!(
        "{script}\nCOMP_WORDS=({}) COMP_CWORD={}\n_engine\necho \"${{COMPREPLY[*]}}\"",
        quoted.join(" "),
        typed.len() - 1
    );
    let (code, out, err) = outcome(Command::new("bash").args(["-c", &all]));
    assert_eq!((code, &*err), (0, ""), "{typed:?}");
    out.trim_end().to_string()
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let folder = GameFolder::new("command_line", "completions");
    let (code, script, err) = folder.engine(&["completions", "bash"]);
    assert_eq!((code, &*err), (0, ""));
    let check = |typed: &[&str], wanted: &str| assert_eq!(completed(&script, typed), wanted);
    check(&["engine", "up"], "upgrade-project");
    check(&["engine", "run", "--head"], "--headless");
    check(&["engine", "run", "--renderer", "s"], "software");
    check(&["engine", "completions", ""], "bash fish zsh");
    // Names of files come from bash itself.
    check(&["engine", "run", "--record", "x"], "");
    check(&["engine", "run", "gam"], "");
    for shell in ["fish", "zsh"] {
        let (code, script, _) = folder.engine(&["completions", shell]);
        assert!(code == 0 && script.contains("upgrade-project"), "{script}");
    }
    assert_eq!(folder.engine(&["completions", "csh"]).0, 2);
}

#[test]
fn manual_page_names_every_command() {
    let folder = GameFolder::new("command_line", "man");
    let (code, page, err) = folder.engine(&["docs", "--man"]);
    assert_eq!((code, &*err), (0, ""));
    assert!(page.starts_with(".TH ENGINE 1 "), "{page}");
    for command in ["check", "package", "run", "undo", "upgrade\\-project"] {
        assert!(page.contains(&format!("\n.SS engine {command} ")), "{command}");
    }
    // No line is an unknown request of the format.
    let known = [".TH ", ".SH ", ".SS ", ".TP", ".B ", ".I ", ".br"];
    let requests = page.lines().filter(|line| line.starts_with(['.', '\'']));
    let unknown: Vec<&str> =
        requests.filter(|line| !known.iter().any(|it| line.starts_with(it))).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert_eq!(folder.engine(&["docs", "--man", "physics"]).0, 2);
}

#[test]
fn upgrade_lists_uses_of_changed_names() {
    let folder = GameFolder::new("command_line", "upgrade");
    folder.write("game/main.lua", "function update()\n  Gui.texture_size('a')\nend\n");
    folder.write("game/settings.sjson", "render = { less_on_processor = true }\n");
    folder.write("game/tests/a_test.lua", "-- contest.mended\ntest.mend()\n");
    let (code, out, err) = folder.engine(&["upgrade-project", "game"]);
    let version = env!("CARGO_PKG_VERSION");
    let wanted = format!(
        "main.lua:2: 'Gui.texture_size' is changed: it returns width and height, and no Vector2\n\
         settings.sjson:1: 'less_on_processor' is replaced: write render.quality = \"high\" \
         instead of false\n\
         tests/a_test.lua:2: 'test.mend' is renamed: test.clear_fault\n\
         3 to look at for engine {version}\n"
    );
    assert_eq!((code, out, err), (0, wanted, String::new()));
    folder.write("other/main.lua", "");
    let nothing = format!("nothing to change for engine {version}\n");
    assert_eq!(folder.engine(&["upgrade-project", "other"]), (0, nothing, String::new()));
    assert_eq!(folder.engine(&["upgrade-project", "lost"]).0, 1);
}
