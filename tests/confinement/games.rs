//! Tests of confined games and their tests: the results of attacks that have escaped the script
//! sandbox, and the state of the process as seen from outside.

use super::{folder_content, is_available, scratch};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn engine(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", folder.join("saves"));
    command.env("XDG_CACHE_HOME", folder.join("cache")).env_remove("ENGINE_UNCONFINED");
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        engine(folder, arguments).output().expect("the engine starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code(), text(&stdout) + &text(&stderr))
}

/// A suite with the whole Lua library and thus native code, as if it had escaped the script
/// sandbox.
const ESCAPED_SUITE: &str = r#"
local function refuses(reason, outcome, message, code)
  assert.equals(nil, outcome)
  assert.is_true(code == 13 or code == 1, tostring(message))
end
it("reads nothing outside", function()
  refuses(nil, io.open("../outside/secret.txt"))
  refuses(nil, io.open("link.txt"))
  refuses(nil, io.open(".env"))
end)
it("writes nothing outside, and nothing into the game", function()
  refuses(nil, io.open("../outside/new.txt", "w"))
  refuses(nil, io.open("../outside/secret.txt", "a"))
  refuses(nil, io.open("main.lua", "w"))
  refuses(nil, io.open("../beside.txt", "w"))
  refuses(nil, os.remove("../outside/secret.txt"))
  assert.equals(nil, (os.rename("../outside/secret.txt", ".engine/secret.txt")))
end)
it("starts nothing", function()
  assert.not_equals(0, (os.execute("touch PROOF; touch .engine/PROOF")))
  local pipe = io.popen("touch .engine/PROOF; echo started")
  assert.equals("", pipe and pipe:read("*a") or "")
  local ffi = require "ffi"
  ffi.cdef "int execve(const char *, char *const *, char *const *); int fork(void);"
  assert.equals(-1, ffi.C.execve("/bin/true", nil, nil))
  assert.equals(1, ffi.errno())
end)
it("starts nothing through a library that starts programs for its strings", function()
  local ffi = require "ffi"
  local found, sound = pcall(ffi.load, "libasound.so.2")
  if not found then return end
  ffi.cdef "int snd_pcm_open(void **, const char *, int, int); int snd_pcm_set_params(void *, int, int, unsigned, unsigned, int, unsigned); long snd_pcm_writei(void *, const void *, unsigned long); int snd_pcm_close(void *);"
  local pcm = ffi.new("void *[1]")
  for _, name in ipairs { "tee:null,'|touch .engine/HEARD',raw", "file:'../outside/secret.txt',raw" } do
    if sound.snd_pcm_open(pcm, name, 0, 0) == 0 then
      sound.snd_pcm_set_params(pcm[0], 2, 3, 2, 48000, 1, 40000)
      sound.snd_pcm_writei(pcm[0], ffi.new("char[4096]"), 1024)
      sound.snd_pcm_close(pcm[0])
    end
  end
end)
it("reads the game, and keeps what the engine keeps", function()
  assert.equals("x = 1\n", io.open("main.lua"):read("*a"))
  local file = assert(io.open(".engine/kept.txt", "w"))
  file:write("kept")
  file:close()
  assert.is_true(os.remove(".engine/kept.txt"))
end)
"#;

fn escaped_game(name: &str) -> PathBuf {
    let folder = scratch(name);
    let game = folder.join("game");
    fs::write(game.join("main.lua"), "x = 1\n").expect("it can be written");
    fs::write(game.join("attack_test.lua"), ESCAPED_SUITE).expect("it can be written");
    std::os::unix::fs::symlink("../outside/secret.txt", game.join("link.txt")).expect("a link");
    std::os::unix::fs::symlink("../outside/secret.txt", game.join(".env")).expect("a link");
    folder
}

#[test]
fn escaped_game_stays_confined() {
    if !is_available() {
        return;
    }
    let folder = escaped_game("broken_out");
    let before = folder_content(&folder.join("outside"));
    let (code, output) = run(&folder, &["test", "game", "--no-sandbox", "--confined"]);
    assert!(code == Some(0) && output.contains("5 passed"), "{output}");
    assert_eq!(folder_content(&folder.join("outside")), before);
    let proofs = ["game/PROOF", "game/.engine/PROOF", "game/.engine/HEARD", "beside.txt"];
    assert!(!proofs.iter().any(|proof| folder.join(proof).exists()));
    // Without the confinement the same attacks succeed, so they are real.
    let (code, output) =
        run(&folder, &["test", "game", "--no-sandbox", "--confined", "--unconfined"]);
    assert!(code == Some(1) && output.contains("2 passed, 3 failed"), "{output}");
    assert!(folder.join("game/PROOF").exists() && folder.join("outside/new.txt").exists());
}

/// A game that plays until it is stopped.
struct Running(Child);

impl Running {
    fn start(folder: &Path, arguments: &[&str], set: &[(&str, &str)]) -> Running {
        fs::write(folder.join("game/main.lua"), "").expect("it can be written");
        let all = [&["run", "game", "--headless", "--realtime", "--threads", "3"], arguments];
        let mut command = engine(folder, &all.concat());
        command.envs(set.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().expect("the engine starts"))
    }

    /// Returns a line of each thread's status in /proc, once the log has a line.
    fn threads(&self, folder: &Path, line: &str) -> Vec<String> {
        let log = folder.join("saves/game/logs/game.log");
        // The last line about it, in each case.
        let ends = ["confinement: no programs are started\n", "confinement: off, "];
        let is_complete = |text: String| ends.iter().any(|end| text.contains(end));
        let began = Instant::now();
        while !fs::read_to_string(&log).is_ok_and(is_complete) {
            assert!(began.elapsed() < Duration::from_secs(60), "no log in {}", log.display());
            std::thread::sleep(Duration::from_millis(10));
        }
        let tasks = fs::read_dir(format!("/proc/{}/task", self.0.id())).expect("it runs");
        let statuses = tasks.flatten().filter_map(|task| {
            // A thread may have ended in the meantime.
            let status = fs::read_to_string(task.path().join("status")).ok()?;
            status.lines().find(|it| it.starts_with(line)).map(str::to_string)
        });
        statuses.collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_thread_is_confined_and_logged() {
    if !is_available() {
        return;
    }
    let folder = scratch("threads");
    let playing = Running::start(&folder, &[], &[]);
    for (line, expected) in [("Seccomp:", "Seccomp:\t2"), ("NoNewPrivs:", "NoNewPrivs:\t1")] {
        let found = playing.threads(&folder, line);
        assert!(found.len() > 1 && found.iter().all(|status| status == expected), "{found:?}");
    }
    drop(playing);
    let log = fs::read_to_string(folder.join("saves/game/logs/game.log")).expect("it was there");
    // The complete line, without exceptions after it.
    let files = log.split("confinement: files are limited (Landlock ").nth(1);
    let version =
        files.and_then(|rest| rest.lines().next()?.strip_suffix(')')?.parse::<u32>().ok());
    assert!(version.is_some_and(|version| version >= 6), "{log}");
    assert!(log.contains("confinement: no programs are started\n"), "{log}");
}

#[test]
fn only_the_user_can_disable_confinement() {
    let variable = [("ENGINE_UNCONFINED", "1")];
    for (name, arguments, set) in
        [("flag", &["--unconfined"][..], &[][..]), ("variable", &[][..], &variable[..])]
    {
        let folder = scratch(&format!("off_{name}"));
        let playing = Running::start(&folder, arguments, set);
        let found = playing.threads(&folder, "Seccomp:");
        assert!(found.iter().all(|status| status == "Seccomp:\t0"), "{name}: {found:?}");
        let log = fs::read_to_string(folder.join("saves/game/logs/game.log")).expect("it is there");
        assert!(log.contains("confinement: off, as the user wants it"), "{log}");
    }
    let folder = scratch("off_settings");
    fs::write(folder.join("game/main.lua"), "").expect("it can be written");
    fs::write(folder.join("game/settings.sjson"), "unconfined = true").expect("it can be written");
    let (code, output) = run(&folder, &["run", "game", "--headless", "--frames", "1"]);
    assert!(code == Some(1) && output.contains("unknown setting 'unconfined'"), "{output}");
    for command in ["run", "test", "check", "compile", "console", "explain", "font"] {
        let (_, help) = run(&folder, &[command, "--help"]);
        assert!(help.contains("--unconfined") && help.contains("ENGINE_UNCONFINED=1"), "{help}");
    }
}

#[test]
fn busted_outputs_are_written_only_in_the_folder() {
    for jobs in ["1", "2"] {
        let folder = scratch(&format!("busted_{jobs}"));
        let busted = "return { default = { ['log-success'] = 'passed.txt', coverage = true } }";
        fs::write(folder.join("game/.busted"), busted).expect("it can be written");
        fs::write(folder.join("game/own.lua"), "return 1").expect("it can be written");
        for name in ["a", "b"] {
            let suite = format!("it('{name}', function() require('own') end)");
            fs::write(folder.join(format!("game/{name}_test.lua")), suite).expect("the same");
        }
        let before = folder_content(&folder.join("outside"));
        let (code, output) = run(&folder, &["test", "game", "--jobs", jobs]);
        assert_eq!(code, Some(0), "{output}");
        let passed = fs::read_to_string(folder.join("game/passed.txt")).expect("it is there");
        assert_eq!(passed, "a\nb\n");
        let lines = fs::read_to_string(folder.join("game/lcov.info")).expect("it is there");
        assert!(lines.contains("own.lua"), "{lines}");
        fs::remove_file(folder.join("game/passed.txt")).expect("it can be removed");
        for file in ["../outside/secret.txt", "/tmp/engine_secret.txt", ".git/hooks/x"] {
            fs::create_dir_all(folder.join("game/.git/hooks")).expect("it can be made");
            let busted = format!("return {{ default = {{ ['log-success'] = '{file}' }} }}");
            fs::write(folder.join("game/.busted"), busted).expect("it can be written");
            let (code, output) = run(&folder, &["test", "game", "--jobs", jobs]);
            assert!(code.is_some_and(|code| code != 0) && output.contains(file), "{output}");
        }
        assert_eq!(folder_content(&folder.join("outside")), before);
        assert!(!Path::new("/tmp/engine_secret.txt").exists());
        assert!(!folder.join("game/.git/hooks/x").exists());
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "one row for each file that a command names")]
fn command_line_outputs_can_be_anywhere() {
    let folder = scratch("named");
    let game = "function render() Gui.rect(Application.main_gui(), Vector3(1, 1, 1), \
                Vector2(9, 9), Color(255, 0, 0)) end";
    fs::write(folder.join("game/main.lua"), game).expect("it can be written");
    fs::write(folder.join("game/a_test.lua"), "it('a', function() end)").expect("the same");
    for name in ["run.recording", "trace.json", "a.csv"] {
        fs::write(folder.join("outside").join(name), "old").expect("it can be written");
    }
    let (code, output) = run(
        &folder,
        &[
            "run",
            "game",
            "--headless",
            "--frames",
            "3",
            "--record",
            "outside/run.recording",
            "--trace",
            "outside/trace.json",
            "--stats-export",
            "outside/a.csv",
            "--audio-out",
            "outside/a.wav",
        ],
    );
    assert_eq!(code, Some(0), "{output}");
    let (code, output) =
        run(&folder, &["run", "game", "--headless", "--replay", "outside/run.recording"]);
    assert!(code == Some(0) && output.contains("replayed 3 frames"), "{output}");
    let (code, output) = run(
        &folder,
        &[
            "test",
            "game",
            "--coverage=outside/lcov.info",
            "--api-coverage",
            "outside/api.json",
            "--output",
            "junit",
            "--output-file",
            "outside/junit.xml",
        ],
    );
    assert_eq!(code, Some(0), "{output}");
    let (code, output) =
        run(&folder, &["compile", "game", "--bundle", "--out", "outside/a.bundle"]);
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = run(&folder, &["run", "outside/a.bundle", "--headless", "--frames", "1"]);
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = run(&folder, &["compile", "game", "--out", "outside/data"]);
    assert!(code == Some(0) && folder.join("outside/data").is_dir(), "{output}");
    let mut names: Vec<_> = fs::read_dir(folder.join("outside"))
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    let expected = [
        "a.bundle",
        "a.csv",
        "a.wav",
        "api.json",
        "data",
        "folder",
        "junit.xml",
        "lcov.info",
        "run.recording",
        "secret.txt",
        "trace.json",
    ];
    assert_eq!(names, expected, "and nothing half-written");
    for (name, begins) in [("a.wav", "RIFF"), ("junit.xml", "<?xml"), ("trace.json", "{")] {
        let bytes = fs::read(folder.join("outside").join(name)).expect("it is there");
        assert!(bytes.starts_with(begins.as_bytes()), "{name}");
    }
    // A file that cannot be written is reported as without the confinement.
    let (code, output) =
        run(&folder, &["run", "game", "--headless", "--frames", "1", "--record", "no/such/file"]);
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("no/such/file cannot be written: "), "{output}");
}
