//! Tests of a game's strings that reach an interpreter: the sound library, the terminal, the file
//! system (docs/security.md, "Strings that reach other interpreters").

use crate::bad_input::{Game, check_in_order, run_result, scratch};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Returns true if a terminal would interpret a character.
fn controls_terminal(c: char) -> bool {
    (c.is_control() && !"\n\t\0".contains(c))
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[track_caller]
fn check_escaped(text: &str, of: &str) {
    let found = text.chars().find(|c| controls_terminal(*c));
    assert_eq!(found, None, "{of}: {text:?}");
}

/// Source of a library that replaces libasound: it lists three devices, and writes the name of each
/// opened device to a file.
const FAKE_LIBASOUND: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int snd_lib_error_set_handler(void *handler) { return 0; }
int snd_pcm_open(void **pcm, const char *name, int stream, int mode) {
  FILE *file = fopen(getenv("OPENED"), "a");
  fprintf(file, "%s\n", name);
  fclose(file);
  return -2;
}
int snd_pcm_set_params(void *pcm, int f, int a, int c, int r, int s, int l) { return -1; }
long snd_pcm_writei(void *pcm, const void *samples, unsigned long frames) { return -1; }
int snd_pcm_recover(void *pcm, int code, int silent) { return -1; }
int snd_pcm_close(void *pcm) { return 0; }
const char *snd_strerror(int code) { return "it is a fake"; }
static const char *names[] = { "hw:CARD=Fake,DEV=0", "own", "hw:CARD=Mic,DEV=0", 0 };
static const char *directions[] = { "Output", 0, "Input" };
int snd_device_name_hint(int card, const char *kind, void ***hints) {
  *hints = (void **)names;
  return card == -1 && !strcmp(kind, "pcm") ? 0 : -1;
}
char *snd_device_name_get_hint(const void *hint, const char *id) {
  for (int i = 0; names[i]; i++) {
    if (hint != names[i]) continue;
    if (!strcmp(id, "NAME")) return strdup(names[i]);
    if (!strcmp(id, "IOID") && directions[i]) return strdup(directions[i]);
  }
  return 0;
}
int snd_device_name_free_hint(void **hints) { return 0; }
"#;

/// Builds that library and returns its folder.
fn fake_libasound(folder: &Path) -> PathBuf {
    let library = folder.join("library");
    std::fs::create_dir(&library).unwrap();
    std::fs::write(library.join("fake.c"), FAKE_LIBASOUND).unwrap();
    let outcome = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "libasound.so.2", "fake.c"])
        .current_dir(&library)
        .status();
    assert!(outcome.expect("the engine is built with a C compiler").success());
    library
}

/// Starts a game with sound and with a sound device in its settings, for long enough to open the
/// device.
fn start_with_device(base: &Path, number: usize, device: &str) -> (Game, Child) {
    let quoted = device.replace('\\', "\\\\").replace('"', "\\\"");
    let game = Game {
        folder: base.join(format!("{number}/game")),
        saves: base.join(format!("{number}/saves")),
    };
    let game = game
        .with("main.lua", "")
        .with("settings.sjson", format!("sound = {{ device = \"{quoted}\" }}"));
    let mut command = game.command(&["--headless", "--realtime", "--frames", "90"]);
    // Without the confinement, which would hide a name that gets through.
    command.args(["--audio", "device", "--unconfined"]).current_dir(&game.folder);
    command.env("OPENED", base.join(format!("{number}/opened")));
    let library = base.join("library");
    if library.exists() {
        command.env("LD_LIBRARY_PATH", library);
    }
    let child = command.spawn().unwrap();
    (game, child)
}

#[cfg(target_os = "linux")]
#[test]
fn only_listed_devices_reach_the_sound_library() {
    let base = scratch("devices");
    fake_libasound(&base);
    let refused = "no sound is heard: sound.device";
    let rows = [
        ("default", "default\n", "no sound is heard: no device 'default': it is a fake"),
        ("null", "null\n", "no device 'null': it is a fake"),
        ("hw:CARD=Fake,DEV=0", "hw:CARD=Fake,DEV=0\n", "no device 'hw:CARD=Fake,DEV=0'"),
        ("own", "own\n", "no device 'own'"),
        ("tee:null,'|touch PROOF',raw", "", "has '\\'' in it, which no device's name has"),
        ("file:'PROOF',raw", "", refused),
        ("file:PROOF,raw", "", "the system has no device 'file:PROOF,raw' (it has default, null, "),
        ("plug:file", "", "hw:CARD=Fake,DEV=0, own)"),
        ("{ type file slave.pcm null file PROOF }", "", refused),
        ("@pcm.default", "", refused),
        ("hw:CARD=Mic,DEV=0", "", "the system has no device 'hw:CARD=Mic,DEV=0'"),
        ("hw:0", "", "the system has no device 'hw:0'"),
        ("default,file=PROOF", "", refused),
    ];
    let played =
        rows.iter().enumerate().map(|(i, row)| (i, row, start_with_device(&base, i, row.0)));
    let played: Vec<_> = played.collect();
    for (i, (device, opened, message), (game, child)) in played {
        let result = crate::bad_input::run_result(child.wait_with_output().unwrap());
        assert_eq!(result.code, Some(0), "{device}: {}", result.err);
        assert!(result.err.contains(message), "{device}: {}", result.err);
        let found = std::fs::read_to_string(base.join(format!("{i}/opened"))).unwrap_or_default();
        let first: String = found.split_inclusive('\n').take(1).collect();
        assert_eq!(&first, opened, "{device}");
        assert!(!game.folder.join("PROOF").exists(), "{device}");
    }
}

/// Uses the system's own library, if installed: tests the effects of ALSA's plug-ins.
#[cfg(target_os = "linux")]
#[test]
fn sound_device_name_cannot_start_programs_or_write_files() {
    let base = scratch("attack");
    let devices =
        ["tee:null,'|touch PROOF',raw", "file:'PROOF',raw", "file:PROOF,raw", "default", "null"];
    let config = "pcm.!default { type file slave.pcm null file \"|touch PROOF\" format raw }\n\
                  pcm.!null { type file slave.pcm null file \"|touch PROOF\" format raw }\n";
    let played = devices.iter().enumerate().map(|(i, device)| {
        // Files that the library reads as settings, in locations where a game could put them.
        for name in [".asoundrc", "asound.conf", "alsa.conf", "asoundrc", ".config/alsa/asoundrc"] {
            let path = base.join(format!("{i}/game")).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, config).unwrap();
        }
        (device, start_with_device(&base, i, device))
    });
    let played: Vec<_> = played.collect();
    for (device, (game, child)) in played {
        let result = crate::bad_input::run_result(child.wait_with_output().unwrap());
        assert_eq!(result.code, Some(0), "{device}: {}", result.err);
        assert!(!game.folder.join("PROOF").exists(), "{device}");
    }
}

const ESCAPES: &str = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{202e}\u{8}";

#[test]
fn game_output_and_names_cannot_control_the_terminal() {
    let main = format!(
        "print(\"p{ESCAPES}\") Script.warn(\"w{ESCAPES}\") print(pcall(require, \"m{ESCAPES}\"))
local function named() error(\"e{ESCAPES}\") end
Script.context(\"c{ESCAPES}\", \"d{ESCAPES}\", named)"
    );
    let game = Game::new("steering", &main)
        .with("settings.sjson", "id = \"steering\"")
        .with("wrong.lua", format!("-- {ESCAPES}\nreturn ) '{ESCAPES}'"))
        .with(
            "tests/a_test.lua",
            format!("it(\"t{ESCAPES}\", function() error(\"x{ESCAPES}\") end)"),
        );
    #[cfg(unix)]
    let game = game.with(&format!("n{ESCAPES}.png"), "no picture").with("textures/b.png", ESCAPES);
    let result = game.play(&["--realtime"]);
    assert_eq!(result.code, Some(1), "{}", result.err);
    check_in_order(&result.out, &["p\\u{1b}]0;owned\\u{7}\\u{1b}[2J\\u{9b}31m\\u{202e}\\u{8}\n"]);
    check_in_order(&result.err, &["warning: main.lua:1: w\\u{1b}]0;owned", "e\\u{1b}]0;owned"]);
    check_escaped(&result.out, "run's output");
    check_escaped(&result.err, "run's errors");
    let log = std::fs::read_to_string(game.saves.join("steering/logs/game.log")).unwrap();
    check_in_order(&log, &["p\\u{1b}]0;owned", "e\\u{1b}]0;owned"]);
    check_escaped(&log, "the log's file");
    let folder = game.folder.to_str().unwrap();
    let odd = format!("x{ESCAPES}");
    let commands: &[&[&str]] = &[
        &["check", folder],
        &["test", folder],
        &["test", folder, "--output", "spec"],
        &["test", folder, "--output", "junit"],
        &["test", folder, "--output", "json"],
        &["test", folder, "--output", "tap", "--jobs", "2"],
        &["test", folder, "--output", "github"],
        &["test", folder, "--list"],
        &["explain", folder, &odd],
        &["explain", folder, "textures/b"],
        &["report", folder, "--log"],
        &["compile", folder, "--bundle", "--out", &odd],
        &["run", &odd],
        &["run", folder, "--boot", &odd, "--headless", "--frames", "1"],
        &["new", &odd],
        &["docs", &odd],
        &["console", &odd],
        &[&odd],
    ];
    for arguments in commands {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        command
            .args(*arguments)
            .env("ENGINE_QUIET", "1")
            .env("ENGINE_SAVE_DIR", &game.saves)
            .stdin(Stdio::null());
        command.current_dir(game.folder.parent().unwrap());
        let result = crate::bad_input::run_result(command.output().unwrap());
        assert!(!(result.out.is_empty() && result.err.is_empty()), "{arguments:?}");
        check_escaped(&result.out, &format!("{arguments:?}"));
        check_escaped(&result.err, &format!("{arguments:?}"));
    }
}

/// Tests a release's report, which is written next to the saves.
#[test]
fn crash_report_escapes_control_characters() {
    let game =
        Game::new("steering_report", &format!("print(\"p{ESCAPES}\") error(\"e{ESCAPES}\")"))
            .with("settings.sjson", "id = \"yard\"");
    let bundle = game.folder.with_file_name("game.bundle");
    let outcome = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args([Path::new("compile"), &game.folder, Path::new("--bundle"), Path::new("--out")])
        .arg(&bundle)
        .output();
    assert!(outcome.unwrap().status.success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command.arg("run").arg(&bundle).args(["--headless", "--frames", "1"]);
    let result = crate::bad_input::run_result(
        command.env("ENGINE_QUIET", "1").env("ENGINE_SAVE_DIR", &game.saves).output().unwrap(),
    );
    check_in_order(&result.err, &["e\\u{1b}]0;owned", "the report is in "]);
    let entries = std::fs::read_dir(game.saves.join("yard")).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    let report = paths.find(|path| path.to_string_lossy().contains("crash-")).unwrap();
    let text = std::fs::read_to_string(report).unwrap();
    check_in_order(&text, &["e\\u{1b}]0;owned", "p\\u{1b}]0;owned"]);
    check_escaped(&text, "the crash report");
}

#[test]
fn id_cannot_escape_the_save_folder() {
    let main =
        "Application.set_user_setting(\"volume\", 1) print((Application.save_user_settings()))
print((Save.write(\"slot\", 1)))";
    for (i, id) in ["..", ".", "...."].into_iter().enumerate() {
        let game = Game::new(&format!("id_{i}"), main);
        let game = game.with("settings.sjson", format!("id = \"{id}\""));
        let result = game.play(&[]);
        let message = format!("settings.sjson: 'id' is '{id}', which names no folder for saves: ");
        check_in_order(&result.err, &[&message, "begins with a letter or digit"]);
        assert_eq!((result.code, game.saves.exists()), (Some(1), false), "{id}");
    }
    for (i, (id, folder)) in
        [("../x", "_x"), ("a/../../b", "a_.._.._b"), ("/etc", "_etc")].into_iter().enumerate()
    {
        let game = Game::new(&format!("id_kept_{i}"), main);
        let game = game.with("settings.sjson", format!("id = \"{id}\""));
        assert_eq!(game.play(&[]).out, "true\ntrue\n", "{id}");
        let entries = std::fs::read_dir(&game.saves).unwrap();
        let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [folder], "{id}");
    }
}

/// Other programs read their own folders next to the saves: services that are started, for example.
#[test]
#[cfg(target_os = "linux")]
fn game_cannot_use_another_programs_folder() {
    let main = "print((Save.write(\"slot\", 1)))";
    for (i, id) in ["dbus-1", "applications", "systemd", "engine"].into_iter().enumerate() {
        let game = Game::new(&format!("id_foreign_{i}"), main);
        let game = game.with("settings.sjson", format!("id = \"{id}\""));
        let data = game.folder.with_file_name(format!("data_{i}"));
        let mut command = game.command(&["--headless", "--frames", "1"]);
        command.env_remove("ENGINE_SAVE_DIR").env("XDG_DATA_HOME", &data);
        let result = run_result(command.output().expect("the engine starts"));
        assert_eq!(result.out, "true\n", "{id}: {}", result.err);
        let names = |folder: &std::path::Path| -> Vec<_> {
            let entries = std::fs::read_dir(folder).unwrap();
            entries.map(|entry| entry.unwrap().file_name()).collect()
        };
        assert_eq!(names(&data), ["engine"], "{id}");
        assert_eq!(names(&data.join("engine")), ["games"], "{id}");
        assert_eq!(names(&data.join("engine/games")), [id]);
        std::fs::remove_dir_all(&data).unwrap();
    }
}

#[test]
fn settings_texts_are_printable_single_lines() {
    for (i, (settings, message)) in [
        ("name = \"a\\nb\"", "settings.sjson:1: 'name' has '\\n' in it"),
        ("version = \"\\u001b[31m\"", "settings.sjson:1: 'version' has '\\u{1b}' in it"),
        (
            "boot_script = \"../main\"",
            "the module's name '../main' must have a name between its dots",
        ),
        ("boot_script = \"/etc/passwd\"", "must have a name between its dots"),
        ("window = { title = \"a\\u0000b\" }", "'window.title' has '\\0' in it"),
        ("linux = { id = \"\u{202e}\" }", "'id' has '\\u{202e}' in it"),
    ]
    .into_iter()
    .enumerate()
    {
        let game = Game::new(&format!("texts_{i}"), "").with("settings.sjson", settings);
        let result = game.play(&[]);
        check_in_order(&result.err, &[message]);
        assert_eq!(result.code, Some(1), "{settings}");
    }
    for boot in ["../../x", "/etc/passwd", "a/../b", "..", ""] {
        let result = Game::new("boots", "").play(&["--boot", boot]);
        check_in_order(&result.err, &["the module's name '"]);
        assert_eq!(result.code, Some(1), "{boot}");
    }
}
