//! Tests of `engine explain`, with the output shown in the manual's page of resources; and of that
//! page's table of types.

use engine::app::resource_kinds::KINDS;
use std::fs;
use std::process::Command;

const MANUAL: &str = include_str!("../docs/resources.md");

#[test]
fn manual_shows_actual_explain_output() {
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
    let output = explain(&[&["signs/door.text"], &prefer[..]].concat());
    assert!(MANUAL.contains(&format!("```\n{output}```\n")), "docs/resources.md lacks:\n{output}");
    let hash = explain(&["5c1bee3af924a5df"]);
    assert_eq!(hash, "5c1bee3af924a5df is signs/door.text, compiled from signs/door.txt\n");
    fs::remove_dir_all(folder).unwrap();
}

/// Runs the command in a game's folder with these empty files, and returns its output.
fn explain(name: &str, files: &[&str], arguments: &[&str]) -> String {
    let folder = std::env::temp_dir().join(format!("engine-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for file in files {
        fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
        fs::write(folder.join(file), "").unwrap();
    }
    fs::write(folder.join("main.lua"), "local id = IdString64('some_words')").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    let output = command.arg("explain").arg(&folder).args(arguments).output().unwrap();
    fs::remove_dir_all(folder).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn file_excluded_on_platform_is_listed_with_reason() {
    let files = ["a/door.txt", "a/door.fr.txt", "a/door.android.txt", "a/door.windows.txt"];
    let output = explain("left-out", &files, &["a/door.text", "--platform", "android"]);
    let left_out = "\nLeft out on android:\n  \
                    a/door.fr.txt (there are files for android)\n  \
                    a/door.txt (there are files for android)\n  \
                    a/door.windows.txt (it is for windows)\n";
    assert!(output.contains(left_out), "{output}");
    let output = explain("left-in", &files[..2], &["a/door.text", "--platform", "android"]);
    assert!(!output.contains("Left out"), "{output}");
}

#[test]
fn hash_of_name_type_property_or_string_is_resolved() {
    use engine::foundation::hash::{IdString32, IdString64};
    let check = |text: &str, meaning: &str| {
        for hash in [IdString64::new(text).to_string(), IdString32::new(text).to_string()] {
            let output = explain("hashes", &["units/barrel.fr.txt"], &[&hash]);
            assert_eq!(output, format!("{hash} is \"{text}\": {meaning}\n"));
        }
    };
    check("units/barrel", "the name of units/barrel.text");
    check("texture", "a type");
    check("fr", "a property of units/barrel.fr.txt");
    check("some_words", "a string in main.lua");
    let output = explain("no-hash", &[], &["0123456789abcdef"]);
    let message = "error: 0123456789abcdef is the hash of no resource or string of this game\n";
    assert_eq!(output, message);
}

#[test]
fn short_hash_of_name_in_data_is_resolved() {
    use engine::foundation::hash::IdString32;
    let folder = std::env::temp_dir().join(format!("engine-inside-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let sound = "parameters = { ground = \"clay\" }\n\
                 play = { switch = \"ground\" cases = { clay = \"sounds/step\" } }\n";
    for (path, text) in [
        ("main.lua", ""),
        ("chest.unit", "nodes = { hinge = {} }"),
        ("steps.sound", sound),
        ("game.mixer", "buses = { crowd = {} }"),
    ] {
        fs::write(folder.join(path), text).unwrap();
    }
    let check = |text: &str, meaning: &str| {
        let hash = IdString32::new(text).to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        let output = command.arg("explain").arg(&folder).arg(&hash).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(printed, format!("{hash} is \"{text}\": {meaning}\n"), "{output:?}");
    };
    check("hinge", "a node of chest.unit");
    check("ground", "a parameter of steps.sound");
    check("clay", "a value of a parameter of steps.sound");
    check("crowd", "a bus of game.mixer");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn all_files_that_use_a_resource_are_listed() {
    let folder = std::env::temp_dir().join(format!("engine-users-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    for (path, text) in [
        ("main.lua", "local name = \"units/\" .. kind\n"),
        ("units/box.unit", ""),
        ("units/heir.unit", "inherit = \"units/box\"\n"),
        ("levels/yard.level", "units = { one = { unit = \"units/box\" } }\n"),
        (
            "graphs/door.flow",
            "nodes = { s = { type = \"unit.spawn\" inputs = { resource = \
          \"units/box\" } } }\n",
        ),
        ("tests/box_test.lua", "it('spawns', function() World.spawn_unit(w, 'units/box') end)\n"),
        ("settings.sjson", "content = { roots = [\"units/box\"] }\n"),
        ("other.lua", "return 1\n"),
    ] {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let engine = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        let output = command.args(arguments).current_dir(&folder).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let explained = engine(&["explain", ".", "units/box.unit"]);
    let (_, named_by) = explained.split_once("\nNamed by:\n").unwrap();
    let named_by: Vec<&str> = named_by.lines().map(str::trim).collect();
    let used = engine(&["deps", ".", "units/box.unit", "--used-by"]);
    for file in [
        "graphs/door.flow",
        "levels/yard.level",
        "main.lua",
        "tests/box_test.lua",
        "units/heir.unit",
    ] {
        assert!(named_by.contains(&file), "{file}\n{explained}");
        assert!(used.contains(file), "{file}\n{used}");
    }
    assert!(!named_by.contains(&"other.lua"), "{explained}");
    assert!(named_by.is_sorted(), "{explained}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_type_and_extension_is_in_the_manual() {
    for kind in KINDS.0 {
        let endings: Vec<_> =
            kind.extensions.iter().map(|(name, _)| format!("`.{name}`")).collect();
        let row = format!("| `{}` | {} | {} |\n", kind.name, kind.doc, endings.join(" "));
        assert!(MANUAL.contains(&row), "docs/resources.md lacks:\n{row}");
    }
}

#[test]
fn name_without_type_or_misspelled_is_resolved() {
    let folder = std::env::temp_dir().join(format!("engine-explained-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("a")).unwrap();
    for (path, text) in [
        ("main.lua", ""),
        ("a/door.txt", "x"),
        ("a/both.txt", "x"),
        ("a/both.config", "x = 1"),
        ("a/broken.config", "x = ["),
        ("a/step.v.txt", "x"),
    ] {
        fs::write(folder.join(path), text).unwrap();
    }
    let explain = |argument: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        let output = command.arg("explain").arg(&folder).arg(argument).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let errors = text(&output.stderr);
        // Errors of other files are counted.
        let others = "the game has 1 other error: engine check ";
        assert!(errors.contains(others) && !errors.contains("list is not closed"), "{errors}");
        let errors = errors.lines().filter(|line| !line.starts_with(others)).collect();
        (output.status.code(), text(&output.stdout), errors)
    };
    let check = |argument: &str, expected: &str| {
        let (code, out, err): (_, _, String) = explain(argument);
        assert_eq!((code, err.as_str()), (Some(1), expected), "{out}");
    };
    for argument in ["a/door", "a/door.text", "a/door.txt"] {
        let (code, out, err) = explain(argument);
        assert_eq!(code, Some(0), "{err}");
        assert!(out.starts_with("a/door.text (") && out.contains("a/door.txt  <- serves"), "{out}");
    }
    check("a/both", "error: 'a/both' is the name of several resources: a/both.config, a/both.text");
    check("a/dor", "error: there is no text 'a/dor', did you mean 'a/door'?");
    check("a/dor.text", "error: there is no text 'a/dor', did you mean 'a/door'?");
    check(
        "a/bth",
        "error: no resource is called 'a/bth', did you mean 'a/both.config' or \
                    'a/both.text'?",
    );
    check(
        "zebra",
        "error: no resource of this game is called 'zebra': give it with its type, as \
                    textures/wall.texture",
    );
    let (_, _, err) = explain("a/door.texure");
    assert!(err.starts_with("error: there is no type 'texure', did you mean 'texture'?"), "{err}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    let output = command.arg("explain").arg(&folder).arg("a/broken").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let message =
        "error: config 'a/broken' could not be compiled: a/broken.config:1:5: list is not";
    assert!(errors.starts_with(message) && errors.lines().count() == 1, "{errors}");
    fs::remove_dir_all(folder).unwrap();
}
