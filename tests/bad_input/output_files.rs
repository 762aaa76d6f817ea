//! Tests of output files that the command line names, and of obstacles in their locations: devices,
//! pipes, links, missing folders, a full disk, a signal during writing.
#![cfg(unix)]

use crate::bad_input::{Game, check_in_order, run_result, scratch};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GAME: &str = "function update() Profiler.start(\"x\") Profiler.stop(\"x\") end";

/// Creates a game with a test, in its own folder.
fn game(name: &str) -> Game {
    Game::new(name, GAME).with("tests/a_test.lua", "it(\"a\", function() end)")
}

/// Returns the command lines that write a file, with its extension.
fn writers(folder: &str) -> Vec<(Vec<&str>, &'static str)> {
    let run = ["run", folder, "--headless", "--frames", "2"];
    let of_run = [
        ("--record", ""),
        ("--screenshot", ".png"),
        ("--film", ".png"),
        ("--audio-out", ".wav"),
        ("--profile-trace", ".json"),
        ("--profile-flame", ".svg"),
        ("--profile-folded", ".txt"),
        ("--profile-script-stacks", ".txt"),
        ("--stats-export", ".csv"),
    ];
    let mut all: Vec<_> =
        of_run.map(|(flag, ending)| ([&run[..], &[flag]].concat(), ending)).into();
    all.push((vec!["test", folder, "--output", "junit", "--output-file"], ".xml"));
    all.push((vec!["test", folder, "--coverage="], ".info"));
    all.push((vec!["test", folder, "--api-coverage"], ".json"));
    all.push((vec!["compile", folder, "--bundle", "--out"], ".bundle"));
    all
}

/// Runs a writer, which must not block. Returns exit code and standard error.
fn run_writer(arguments: &[&str], file: &Path) -> (Option<i32>, String) {
    let mut command = Command::new("timeout");
    command.args(["60", env!("CARGO_BIN_EXE_engine")]);
    let (last, before) = arguments.split_last().unwrap();
    command.args(before);
    match *last {
        "--film" => command.arg(last).arg(format!("{}@1-8", file.display())),
        last if last.ends_with('=') => command.arg(format!("{last}{}", file.display())),
        last => command.arg(last).arg(file),
    };
    let saves = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad_input/written_saves");
    let run = command
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", saves)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let run = run_result(run);
    (run.code, run.err)
}

#[test]
fn only_regular_files_are_overwritten() {
    let game = game("no_plain_file");
    let base = scratch("no_plain_file_out");
    fs::write(base.join("victim"), "kept").unwrap();
    for (arguments, ending) in writers(game.folder.to_str().unwrap()) {
        let pipe = base.join(format!("pipe{ending}"));
        if !pipe.exists() {
            assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        }
        let link = base.join(format!("link{ending}"));
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(base.join("victim"), &link).unwrap();
        for (path, noun) in [(&pipe, "a pipe"), (&link, "a link")] {
            let before = fs::symlink_metadata(path).unwrap().file_type();
            let (code, err) = run_writer(&arguments, path);
            let message = format!("it is {noun}, and only plain files are written");
            assert!(err.contains(&message) && code == Some(1), "{arguments:?}: {code:?} {err}");
            assert_eq!(fs::symlink_metadata(path).unwrap().file_type(), before, "{arguments:?}");
        }
        assert_eq!(fs::read(base.join("victim")).unwrap(), b"kept", "{arguments:?}");
    }
    // Devices have their own names, none of which ends in .wav.
    for flag in ["--record", "--screenshot", "--film", "--profile-trace"] {
        let folder = game.folder.to_str().unwrap();
        for device in ["/dev/full", "/dev/null"] {
            let arguments = ["run", folder, "--headless", "--frames", "2", flag];
            let (code, err) = run_writer(&arguments, Path::new(device));
            let message = format!("{device} cannot be written: it is a device");
            assert!(err.contains(&message) && code == Some(1), "{flag}: {err}");
        }
    }
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn missing_output_folder_is_not_created() {
    let game = game("no_folder");
    let base = scratch("no_folder_out");
    for (arguments, ending) in writers(game.folder.to_str().unwrap()) {
        let file = base.join(format!("new/deep/file{ending}"));
        let (code, err) = run_writer(&arguments, &file);
        let message =
            format!("there is no folder '{}': make it first", base.join("new/deep").display());
        assert!(err.contains(&message) && code == Some(1), "{arguments:?}: {code:?} {err}");
        assert_eq!(fs::read_dir(&base).unwrap().count(), 0, "{arguments:?}");
    }
}

#[test]
fn invalid_output_is_refused_before_the_game_starts() {
    let game = Game::new("refused_early", "print(\"played\")");
    let result = game.play(&["--record", "/nowhere/x.recording"]);
    assert_eq!((result.code, result.out.as_str()), (Some(1), ""));
    check_in_order(
        &result.err,
        &["/nowhere/x.recording cannot be written: there is no folder '/nowhere'"],
    );
}

/// Runs the engine with file sizes limited to `blocks` blocks of 512 bytes, which a writer sees as
/// a full disk.
fn on_full_disk(blocks: u32, folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_engine")]).args(arguments);
    command
        .current_dir(folder)
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", folder.join("saves"));
    let result = run_result(command.stdin(Stdio::null()).output().unwrap());
    (result.code, result.err)
}

#[test]
fn full_disk_is_reported_as_failure() {
    let game = game("full_disk");
    let base = game.folder.parent().unwrap();
    let run = ["run", "game", "--headless", "--frames", "60", "--audio-out", "out.wav"];
    // The compiled data is small, and already exists.
    assert_eq!(
        run_result(game.command(&["--headless", "--frames", "1"]).output().unwrap()).code,
        Some(0)
    );
    let (code, err) = on_full_disk(100, base, &run);
    check_in_order(
        &err,
        &["error: out.wav cannot be written: ", "out.wav lacks the end of the run"],
    );
    assert_eq!(code, Some(1), "{err}");
    // All data is written at the end.
    let short = ["run", "game", "--headless", "--frames", "1", "--audio-out", "out.wav"];
    let (code, err) = on_full_disk(1, base, &short);
    check_in_order(&err, &["out.wav cannot be written: "]);
    assert_eq!(code, Some(1), "{err}");
    let many = "for i = 1, 2000 do it('test number ' .. i, function() end) end";
    let game = game.with("tests/b_test.lua", many);
    let base = game.folder.parent().unwrap();
    let test = ["test", "game", "--output", "junit", "--output-file", "out.xml", "--no-config"];
    let (code, err) = on_full_disk(100, base, &test);
    check_in_order(&err, &["the output cannot be written to 'out.xml': "]);
    assert_eq!(code, Some(1), "{err}");
}

#[test]
fn lost_output_fails_but_closed_pipe_does_not() {
    let engine = |arguments: &str, to: &str| {
        let script = format!("\"$0\" {arguments} {to}");
        let mut command = Command::new("bash");
        command.args(["-o", "pipefail", "-c", &script]).arg(env!("CARGO_BIN_EXE_engine"));
        run_result(command.output().unwrap())
    };
    let full = engine("docs --json", "> /dev/full");
    check_in_order(
        &full.err,
        &["error: standard output cannot be written: No space left on device"],
    );
    assert_eq!(full.code, Some(1), "{}", full.err);
    let closed = engine("docs --json", "| true");
    assert_eq!((closed.code, closed.err.as_str()), (Some(0), ""));
}

/// Creates a game with a bundle that takes a while to write.
fn large_game(name: &str) -> Game {
    let text = vec![b'a'; 24 << 20];
    Game::new(name, "").with("data/large.txt", text)
}

fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "tmp")).collect()
}

#[test]
fn interrupted_bundle_leaves_no_files() {
    let game = large_game("half_bundle");
    let base = game.folder.parent().unwrap();
    let mut stopped = 0;
    for signal in ["TERM", "INT", "HUP"] {
        let child = Command::new(env!("CARGO_BIN_EXE_engine"))
            .args(["compile", "game", "--bundle", "--out", "out.bundle"])
            .current_dir(base)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let kill = |signal: &str| {
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status()
        };
        let began = Instant::now();
        while leftovers(base).is_empty() && !base.join("out.bundle").exists() {
            assert!(began.elapsed() < Duration::from_secs(60), "nothing is written");
            std::thread::sleep(Duration::from_micros(200));
        }
        kill(signal).unwrap();
        let run = run_result(child.wait_with_output().unwrap());
        assert_eq!(leftovers(base), Vec::<PathBuf>::new(), "{signal}: {}", run.err);
        if run.code != Some(0) {
            check_in_order(
                &run.err,
                &["out.bundle cannot be written: the process was asked to end"],
            );
            assert_eq!((run.code, base.join("out.bundle").exists()), (Some(1), false));
            stopped += 1;
        }
        let _ = fs::remove_file(base.join("out.bundle"));
    }
    println!("{stopped} of 3 were stopped before their end");
    // A full disk.
    let (code, err) =
        on_full_disk(20_000, base, &["compile", "game", "--bundle", "--out", "out.bundle"]);
    check_in_order(&err, &["out.bundle cannot be written: "]);
    assert_eq!((code, leftovers(base)), (Some(1), Vec::new()), "{err}");
}

#[test]
fn test_output_stays_in_the_tested_folder() {
    let test = |name: &str, config: &str, link: Option<(&str, &str)>| {
        let game = Game::new(name, "").with("spec/a_spec.lua", "it('a', function() end)");
        let game = game.with(".busted", config);
        let base = game.folder.parent().unwrap();
        fs::write(base.join("victim"), "kept").unwrap();
        if let Some((at, to)) = link {
            std::os::unix::fs::symlink(base.join(to), game.folder.join(at)).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        let run = run_result(command.arg("test").arg(&game.folder).output().unwrap());
        assert_eq!(fs::read_to_string(base.join("victim")).unwrap(), "kept", "{name}");
        assert_eq!(fs::read_dir(base).unwrap().count(), 2, "{name}: something is beside the game");
        (run.code, run.err)
    };
    let log = |file: &str| format!("return {{ default = {{ [\"log-success\"] = \"{file}\" }} }}");
    for (i, file) in ["../victim", "/tmp/engine-victim", "a/../../victim"].into_iter().enumerate() {
        let (code, err) = test(&format!("log_{i}"), &log(file), None);
        // The rest of the message comes from the operating system, or from the broker process.
        check_in_order(
            &err,
            &["cannot be written to", "which 'log-success' of the .busted file names: "],
        );
        assert_eq!(code, Some(1), "{err}");
    }
    let (code, err) = test("log_link", &log("passed.txt"), Some(("passed.txt", "victim")));
    check_in_order(&err, &["passed.txt', which 'log-success' of the .busted file names: "]);
    assert_eq!(code, Some(1), "{err}");
    let coverage = "return { default = { coverage = true } }";
    let (code, err) = test("coverage_link", coverage, Some(("lcov.info", "victim")));
    check_in_order(&err, &["lcov.info': it is a link, and only plain files are written"]);
    assert_eq!(code, Some(1), "{err}");
    assert_eq!(test("log_good", &log("passed.txt"), None).0, Some(0));
}
