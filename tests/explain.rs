//! `engine explain`, as it is shown in the manual's page of resources; and that page's table of
//! types.

use engine::app::kinds::KINDS;
use std::fs;
use std::process::Command;

const MANUAL: &str = include_str!("../docs/resources.md");

#[test]
fn the_manual_shows_what_explain_says_of_the_example_with_eight_candidates() {
    let folder = std::env::temp_dir().join(format!("engine-explain-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("signs")).unwrap();
    fs::write(folder.join("main.lua"), "print(Application.data('text', 'signs/door'))").unwrap();
    for name in ["door.txt", "door.fr.txt", "door.fr.noblood.txt", "door.withkittens.txt"] {
        fs::write(folder.join("signs").join(name), name).unwrap();
    }
    let explain = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        let output = command.arg("explain").arg(&folder).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let prefer = ["--prefer", "withkittens,noblood,fr", "--platform", "linux"];
    let told = explain(&[&["signs/door.text"], &prefer[..]].concat());
    assert!(MANUAL.contains(&format!("```\n{told}```\n")), "docs/resources.md lacks:\n{told}");
    let hash = explain(&["5c1bee3af924a5df"]);
    assert_eq!(hash, "5c1bee3af924a5df is signs/door.text, made of signs/door.txt\n");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_type_and_every_ending_is_in_the_manual() {
    for kind in KINDS.0 {
        let endings: Vec<_> =
            kind.extensions.iter().map(|(name, _)| format!("`.{name}`")).collect();
        let row = format!("| `{}` | {} | {} |\n", kind.name, kind.words, endings.join(" "));
        assert!(MANUAL.contains(&row), "docs/resources.md lacks:\n{row}");
    }
}
