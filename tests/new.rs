//! Tests of `engine new` from a newcomer's view: the created game runs, passes its tests and has
//! settings that editors can read. If a game cannot be created, a message says why.

mod bounce;

use crate::game_folder::GameFolder;
use std::ffi::OsStr;
use std::fs;

fn scratch(name: &str) -> GameFolder {
    GameFolder::new("new", name)
}

fn check_refused(folder: &GameFolder, argument: &str, message: &str) {
    let (code, out, err) = folder.engine(&["new", argument]);
    assert_eq!((code, out.as_str()), (1, ""), "{argument}: {err}");
    assert_eq!(err, format!("error: {message}\n"), "{argument}");
}

#[test]
fn new_game_runs_deterministically() {
    let scratch = scratch("play");
    let (code, out, err) = scratch.engine(&["new", "games/my yard"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let program = env!("CARGO_BIN_EXE_engine");
    assert_eq!(
        out,
        format!(
            "Made the game \"my yard\". Next:\n\n  cd \"games/my yard\"\n  {program} run .\n  \
             {program} test .\n"
        )
    );
    let play =
        |more: &[&str]| scratch.engine(&[&["run", "games/my yard", "--headless"], more].concat());
    let (code, out, err) = play(&["--frames", "150", "--record", "a.recording"]);
    assert_eq!((code, out.as_str()), (0, ""));
    assert_eq!(err, "engine: recorded 150 frames in a.recording\n");
    let (code, _, err) = play(&["--replay", "a.recording"]);
    assert_eq!(code, 0, "{err}");
    // The folder for saves is created before the game starts. This game saves nothing.
    let mut folders = vec![scratch.join("saves")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            assert!(path.is_dir(), "the game saves nothing, and {} is there", path.display());
            folders.push(path);
        }
    }
}

#[test]
fn new_game_is_named_after_its_folder() {
    let scratch = scratch("name");
    assert_eq!(scratch.engine(&["new", "yard"]).0, 0);
    let read = |file: &str| fs::read_to_string(scratch.join("yard").join(file)).unwrap();
    assert!(read("README.md").starts_with("# yard\n"));
    let settings = read("settings.sjson");
    assert!(settings.contains("\nname = \"yard\"\nid = \"yard\" "), "{settings}");
    for file in ["main.lua", "settings.sjson", "README.md"] {
        assert!(!read(file).contains("game_template"), "{file}");
    }
}

#[test]
fn new_game_passes_its_tests() {
    let scratch = scratch("test");
    assert_eq!(scratch.engine(&["new", "yard"]).0, 0);
    let (code, out, err) = scratch.engine(&["test", "yard"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.ends_with("5 passed, 0 failed, 0 skipped\n"), "{out}");
}

#[test]
fn template_in_the_repository_runs() {
    let scratch = scratch("template");
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/game_template");
    let (code, out, err) = scratch.engine(&["run", template, "--headless", "--frames", "1"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "");
}

#[test]
fn template_sound_matches_its_generator() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/game_template/sounds/bounce.wav");
    assert!(
        fs::read(file).unwrap() == bounce::wav(),
        "write {file} again: see tests/new/bounce.rs"
    );
}

#[test]
fn empty_folder_or_git_repository_is_accepted() {
    let folder = scratch("empty");
    fs::create_dir(folder.join("empty")).unwrap();
    assert_eq!(folder.engine(&["new", "empty"]).0, 0);
    fs::create_dir_all(folder.join("cloned/.git")).unwrap();
    assert_eq!(folder.engine(&["new", "cloned"]).0, 0);
    let here = scratch("here");
    let (code, out, _) = here.engine(&["new", "."]);
    assert_eq!(code, 0);
    assert!(!out.contains("cd "), "{out}");
    assert!(here.join("main.lua").is_file());
}

#[test]
fn invalid_target_is_refused_without_changes() {
    let scratch = scratch("refused");
    fs::create_dir(scratch.join("full")).unwrap();
    fs::write(scratch.join("full/notes.txt"), "mine").unwrap();
    fs::write(scratch.join("file"), "mine").unwrap();
    check_refused(
        &scratch,
        "full",
        "the folder 'full' is not empty ('notes.txt' is in it): give the name of a new folder",
    );
    check_refused(&scratch, "file", "there is a file 'file' already: give another name");
    check_refused(
        &scratch,
        "a*b",
        "the name \"a*b\" has '*' in it: use letters, digits, spaces, '-', '_' and '.', because \
         the game is named like its folder",
    );
    check_refused(
        &scratch,
        "nowhere/..",
        "'nowhere/..' does not end in a name: give the folder to create",
    );
    let (code, _, err) = scratch.engine(&["new", "file/game"]);
    assert_eq!(code, 1);
    assert!(err.contains("file/game"), "{err}");
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 2);
    assert_eq!(fs::read_dir(scratch.join("full")).unwrap().count(), 1);
}

#[test]
fn game_name_is_required() {
    let scratch = scratch("usage");
    for arguments in [&["new"][..], &["new", ""], &["new", "a", "b"]] {
        let (code, _, err) = scratch.engine(arguments);
        assert_eq!(code, 2, "{arguments:?}");
        assert!(err.contains("<DIR>"), "{err}");
    }
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn unwritable_folder_is_reported_with_its_reason() {
    let scratch = scratch("read-only");
    // No user can create a folder there.
    let (code, _, err) = scratch.engine(&["new", "/proc/game"]);
    assert_eq!(code, 1);
    assert!(err.starts_with("error: the folder '/proc/game' cannot be made: "), "{err}");
}

#[cfg(unix)]
#[test]
fn non_utf8_name_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = scratch("utf8");
    let (code, _, err) = scratch.engine(&[OsStr::new("new"), OsStr::from_bytes(b"a\xff")]);
    assert_eq!(code, 1);
    assert_eq!(
        err,
        "error: the name 'a\u{fffd}' is not valid UTF-8: give the folder another name\n"
    );
}

#[test]
fn definitions_are_rewritten_only_for_another_engine() {
    let scratch = scratch("definitions");
    assert_eq!(scratch.engine(&["new", "yard"]).0, 0);
    let own = scratch.join("yard/.engine");
    assert_eq!(fs::read_to_string(own.join(".gitignore")).unwrap(), "*\n");
    let all = || {
        let files = fs::read_dir(own.join("definitions")).unwrap();
        let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        texts.collect::<String>()
    };
    for part in ["function Timer.after(", "function Application.quit(", "---@class Vector3"] {
        assert!(all().contains(part), "{part}");
    }
    let play = ["run", "yard", "--headless", "--frames", "1"];
    fs::write(own.join("definitions/mark.lua"), "").unwrap();
    assert_eq!(scratch.engine(&play).0, 0);
    assert!(own.join("definitions/mark.lua").exists(), "the same engine leaves them");
    fs::write(own.join("definitions/written_by.txt"), "engine 0.0.1").unwrap();
    assert_eq!(scratch.engine(&play).0, 0);
    assert!(!own.join("definitions/mark.lua").exists(), "another engine's are replaced");
    assert!(all().contains("function Timer.after("));
}

/// Editors' own definition of a library is disabled only if games lack the library, or if the
/// engine has a definition of it.
#[test]
fn editor_settings_disable_unavailable_libraries() {
    let scratch = scratch("libraries");
    assert_eq!(scratch.engine(&["new", "yard"]).0, 0);
    let yard = scratch.join("yard");
    let settings = fs::read_to_string(yard.join(".luarc.json")).unwrap();
    let name = |line: &str| line.trim().strip_suffix(": \"disable\"").map(str::to_string);
    let lines = settings.lines().filter_map(|line| name(line.trim_end_matches(',')));
    let off: Vec<String> = lines.map(|name| name.trim_matches('"').to_string()).collect();
    assert!(off.len() >= 6, "{off:?}");
    let library = fs::read_to_string(yard.join(".engine/definitions/library.lua")).unwrap();
    let here = |name: &&String| library.contains(&format!("\n{name} = {{}}"));
    let removed = off.iter().filter(|name| !here(name));
    let checks: String = removed.map(|name| format!("assert({name} == nil, '{name}')\n")).collect();
    assert!(checks.contains("assert(io == nil") && !checks.contains("assert(os == nil"));
    assert!(library.contains("\nfunction require(name) end"));
    fs::write(yard.join("main.lua"), checks).unwrap();
    let (code, out, err) = scratch.engine(&["run", "yard", "--headless", "--frames", "1"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn editor_settings_of_examples_are_those_of_new_games() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(root.join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let examples: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    assert!(examples.len() >= 4, "{examples:?}");
    for file in [".emmyrc.json", ".luarc.json"] {
        let wanted = fs::read_to_string(root.join("game_template").join(file)).unwrap();
        for example in &examples {
            let path = example.join(file);
            assert_eq!(fs::read_to_string(&path).ok(), Some(wanted.clone()), "{}", path.display());
        }
    }
}

/// Editors must not offer names that suites do not have.
#[test]
fn suite_definitions_match_the_test_library() {
    let scratch = scratch("suite_functions");
    assert_eq!(scratch.engine(&["new", "yard"]).0, 0);
    let yard = scratch.join("yard");
    let text = fs::read_to_string(yard.join(".engine/definitions/tests.lua")).unwrap();
    let calls = text.lines().filter_map(|line| line.strip_prefix("function ")?.split('(').next());
    let paths: Vec<&str> = calls.chain(["test", "match._", "spy", "assert.is.equal"]).collect();
    assert!(paths.len() > 40, "{paths:?}");
    let checks: String = paths
        .iter()
        .map(|path| format!("  assert(type({path}) ~= \"nil\", \"{path}\")\n"))
        .collect();
    // A missing assertion is reported only when it is called.
    let assertions = paths.iter().filter(|path| path.starts_with("assert."));
    let called = |path: &&str| format!("  check(pcall({path}))\n");
    let calls: String = assertions.map(called).collect();
    let suite = format!(
        "local function check(_, message)\n  \
         assert(not tostring(message):find('unknown', 1, true), message)\nend\n\
         it('knows its functions', function()\n{checks}{calls}end)\n"
    );
    fs::write(yard.join("tests/functions_test.lua"), suite).unwrap();
    let (code, out, err) = scratch.engine(&["test", "yard"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn unwritable_definitions_give_one_warning() {
    let scratch = scratch("warning");
    assert_eq!(scratch.engine(&["new", "yard"]).0, 0);
    fs::remove_dir_all(scratch.join("yard/.engine")).unwrap();
    fs::write(scratch.join("yard/.engine"), "a file in the way").unwrap();
    let (code, _, err) = scratch.engine(&["run", "yard", "--headless", "--frames", "1"]);
    assert_eq!(code, 0);
    let warnings: Vec<&str> = err.lines().filter(|line| line.contains("definitions")).collect();
    let message = "warning: .engine/definitions: the definitions for editors are not written: ";
    assert!(warnings.len() == 1 && warnings[0].starts_with(message), "{err}");
}

#[test]
fn editor_files_are_strict_json() {
    let scratch = scratch("json");
    assert_eq!(scratch.engine(&["new", "yard"]).0, 0);
    let files = [
        ".emmyrc.json",
        ".luarc.json",
        ".vscode/extensions.json",
        ".vscode/launch.json",
        ".vscode/settings.json",
        ".vscode/tasks.json",
    ];
    for file in files {
        let text = fs::read_to_string(scratch.join("yard").join(file)).unwrap();
        assert_eq!(json::check(&text), Ok(()), "{file}");
    }
    let luarc = fs::read_to_string(scratch.join("yard/.luarc.json")).unwrap();
    assert!(luarc.contains("\"workspace.library\": [\".engine/definitions\"]"));
    assert!(scratch.join("yard/.engine/definitions").is_dir());
}

/// Strict JSON (RFC 8259): no comments, no trailing commas, one value.
mod json {
    /// Returns the byte offset at which a text stops being JSON.
    pub fn check(text: &str) -> Result<(), usize> {
        let bytes = text.as_bytes();
        let at = spaces(bytes, value(bytes, spaces(bytes, 0))?);
        if at == bytes.len() { Ok(()) } else { Err(at) }
    }

    fn spaces(bytes: &[u8], at: usize) -> usize {
        at + bytes[at..].iter().take_while(|byte| b" \t\r\n".contains(byte)).count()
    }

    fn value(bytes: &[u8], at: usize) -> Result<usize, usize> {
        match bytes.get(at) {
            Some(b'{') => items(bytes, at + 1, b'}', |at| {
                let at = spaces(bytes, string(bytes, at)?);
                if bytes.get(at) != Some(&b':') {
                    return Err(at);
                }
                value(bytes, spaces(bytes, at + 1))
            }),
            Some(b'[') => items(bytes, at + 1, b']', |at| value(bytes, at)),
            Some(b'"') => string(bytes, at),
            _ => ["true", "false", "null"]
                .iter()
                .find(|word| bytes[at..].starts_with(word.as_bytes()))
                .map(|word| at + word.len())
                .map_or_else(|| number(bytes, at), Ok),
        }
    }

    fn items(
        bytes: &[u8],
        at: usize,
        end: u8,
        item: impl Fn(usize) -> Result<usize, usize>,
    ) -> Result<usize, usize> {
        let mut at = spaces(bytes, at);
        if bytes.get(at) == Some(&end) {
            return Ok(at + 1);
        }
        loop {
            at = spaces(bytes, item(at)?);
            match bytes.get(at) {
                Some(b',') => at = spaces(bytes, at + 1),
                Some(byte) if *byte == end => return Ok(at + 1),
                _ => return Err(at),
            }
        }
    }

    fn string(bytes: &[u8], at: usize) -> Result<usize, usize> {
        if bytes.get(at) != Some(&b'"') {
            return Err(at);
        }
        let mut at = at + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') if bytes.get(at + 1).is_some_and(|b| br#""\/bfnrtu"#.contains(b)) => {
                    at += 2
                }
                Some(b'\\') | None => return Err(at),
                Some(byte) if *byte < b' ' => return Err(at),
                Some(_) => at += 1,
            }
        }
    }

    fn number(bytes: &[u8], at: usize) -> Result<usize, usize> {
        let length =
            bytes[at..].iter().take_while(|byte| b"+-.eE0123456789".contains(byte)).count();
        let text = std::str::from_utf8(&bytes[at..at + length]).map_err(|_| at)?;
        text.parse::<f64>().map(|_| at + length).map_err(|_| at)
    }

    #[test]
    fn json_check_refuses_almost_json() {
        for text in ["{}", "[1, -2.5e3]", "{\"a\": [true, null, \"\\n\"]}\n"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for text in ["", "{a: 1}", "[1,]", "{\"a\": 1,}", "[1] // x", "{\"a\" = 1}", "\"a", "[1 2]"]
        {
            assert!(check(text).is_err(), "{text}");
        }
    }
}

#[test]
fn every_template_runs_and_passes_its_tests() {
    let scratch = scratch("templates");
    for template in ["2d", "3d", "platformer", "empty"] {
        let (code, _, err) = scratch.engine(&["new", template, "--template", template]);
        assert_eq!((code, err.as_str()), (0, ""), "{template}");
        let (code, out, err) = scratch.engine(&["run", template, "--headless", "--frames", "30"]);
        assert_eq!((code, err.as_str()), (0, ""), "{template}: {out}");
        let (code, out, err) = scratch.engine(&["test", template]);
        assert_eq!(code, 0, "{template}: {out}{err}");
    }
    let (code, _, err) = scratch.engine(&["new", "other", "--template", "4d"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("[possible values: 2d, 3d, platformer, empty]"), "{err}");
}
