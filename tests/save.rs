//! Tests of saves from outside: a game killed at any moment loses nothing that was reported as
//! saved; damaged files; saves of a newer game; full disks.

use crate::game_folder::GameFolder;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A folder with a game in its subfolder `game`.
struct Scratch(GameFolder);

impl Scratch {
    fn new(name: &str, main: &str) -> Scratch {
        let scratch = Scratch(GameFolder::new("save", name));
        scratch.write("game/main.lua", main);
        scratch
    }

    fn write(&self, name: &str, text: &str) {
        self.0.write(name, text);
    }

    /// Returns the folder of the game's saves.
    fn saves(&self) -> PathBuf {
        self.0.join("saves/game/saves")
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.saves()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn command(&self) -> Command {
        self.0.command(&["run", "game", "--headless", "--no-watch"])
    }

    /// Plays one frame with arguments for the game. Returns standard output and standard error.
    #[track_caller]
    fn play(&self, arguments: &[&str]) -> (String, String) {
        let mut command = self.command();
        command.args(["--frames", "1", "--"]).args(arguments);
        run(command)
    }
}

#[track_caller]
fn run(mut command: Command) -> (String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    (out, err)
}

/// Script that writes two saves in turn, one synchronously and one by request, and prints a line
/// after each success. At its start it prints the existing saves.
const WRITER: &str = r#"
local function content(n)
  return { n = n, at = Vector3(n, 0, 0), text = ("x"):rep(n * 7919 % 300000) }
end

local function found(slot)
  local save, problem, recovered = Save.read(slot)
  local n = save and save.n or 0
  local whole = not save or (#save.text == #content(n).text and save.at == Vector3(n, 0, 0))
  print("found", slot, n, whole, not save and Save.exists(slot) and problem or "", recovered or "")
  return n
end

local n, request = 0, nil

function init()
  n = math.max(found("now"), found("later"))
  print("ready")
end

function update()
  if request then
    assert(Save.result(request))
    print("saved", "later", n)
  end
  n = n + 1
  assert(Save.write("now", content(n)))
  print("saved", "now", n)
  request = Save.write_async("later", content(n))
end
"#;

/// Returns the number at the end of the last complete line with this prefix.
fn last_number(lines: &[String], start: &str) -> Option<u64> {
    let last = lines.iter().rev().find(|line| line.starts_with(start))?;
    last[start.len()..].split('\t').next()?.parse().ok()
}

/// Starts the game and kills it after it has saved `saves` times and `delay` has passed. Returns
/// the lines that it printed.
fn play_and_kill(scratch: &Scratch, saves: u64, delay: Duration) -> Vec<String> {
    let mut game = scratch.command().stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(game.stdout.take().unwrap());
    let (sender, hears) = channel();
    let reader = std::thread::spawn(move || {
        let mut lines = Vec::new();
        let mut line = String::new();
        while out.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
            lines.push(line.trim_end_matches('\n').to_string());
            if line == "ready\n" || line.starts_with("saved") {
                // The receiver is gone once enough lines have arrived.
                let _ = sender.send(());
            }
            line.clear();
        }
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        lines
    });
    for _ in 0..=saves {
        hears.recv_timeout(Duration::from_secs(60)).expect("the game begins, and goes on saving");
    }
    std::thread::sleep(delay);
    game.kill().unwrap();
    game.wait().unwrap();
    reader.join().unwrap()
}

/// Default number of kills. The full run has a thousand:
/// `ENGINE_SAVE_KILLS=1000 cargo test --test all save::`.
const KILLS: u64 = 100;

#[test]
fn killed_game_loses_no_confirmed_save() {
    let kills = std::env::var("ENGINE_SAVE_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let scratch = Scratch::new("killed", WRITER);
    let (mut reported, mut random) = ([0, 0], 0x9e37_79b9_7f4a_7c15u64);
    let mut saved = 0;
    for kill in 0..kills {
        // xorshift: the moments are the same in every run, as far as the machine's timing allows.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let delay = Duration::from_micros(random % 5000);
        let lines = play_and_kill(&scratch, random >> 32 & 3, delay);
        for (slot, reported) in ["now", "later"].iter().zip(&mut reported) {
            let start = format!("found\t{slot}\t");
            let found = last_number(&lines, &start).expect("the game tells what it finds");
            let line = lines.iter().find(|line| line.starts_with(&start)).unwrap();
            assert_eq!(*line, format!("{start}{found}\ttrue\t\t"), "kill {kill}");
            assert!(
                found >= *reported,
                "kill {kill}: {slot} {reported} was saved, {found} is there"
            );
            let last = last_number(&lines, &format!("saved\t{slot}\t"));
            saved += last.map_or(0, |last| last - found);
            *reported = last.unwrap_or(found);
        }
    }
    // Some kills must hit the middle of a write, otherwise the test shows nothing.
    let leftovers = scratch.files().iter().filter(|name| name.ends_with(".tmp")).count();
    assert!(leftovers > 0, "none of {kills} kills met a write");
    assert!(saved > kills, "{kills} kills of a game that saved only {saved} times");
    // A kill between writing the new file and removing the old one leaves an extra file, which the
    // next write removes.
    scratch.play(&[]);
    let whole = scratch.files().iter().filter(|name| name.ends_with(".save")).count();
    assert_eq!(whole, 6, "{:?}", scratch.files());
    eprintln!("{kills} kills, {saved} saves, {leftovers} writes cut off, nothing lost");
}

/// Script that performs the action of its first argument on the save "auto".
const TOOL: &str = r#"
local what, value, option = Application.argv()
function init()
  if what == "write" then
    print(Save.write("auto", { value = value, fill = ("x"):rep(tonumber(option or 0)) }))
  elseif what == "read" then
    local save, problem, recovered = Save.read("auto", { newer = value == "newer" })
    print(save and save.value, problem, recovered)
  elseif what == "begin" then
    Save.write_async("auto", { value = value })
  elseif what == "list" then
    for _, save in ipairs(Save.list()) do
      print(save.slot, save.version, save.problem)
    end
  end
end
"#;

#[test]
fn corrupted_save_falls_back_to_the_previous_one() {
    let scratch = Scratch::new("damaged", TOOL);
    assert_eq!(scratch.play(&["write", "old"]).0, "true\n");
    assert_eq!(scratch.play(&["write", "new"]).0, "true\n");
    assert_eq!(scratch.files(), ["auto.1.save", "auto.2.save"]);
    let newest = scratch.saves().join("auto.2.save");
    let whole = fs::read(&newest).unwrap();
    let check = |bytes: &[u8], reason: &str| {
        fs::write(&newest, bytes).unwrap();
        let message = format!(
            "the newest save \"auto\" cannot be used ({reason}): this is one kept before it"
        );
        let (out, err) = scratch.play(&["read"]);
        assert_eq!(out, format!("old\tnil\t{message}\n"));
        assert_eq!(err, format!("warning: auto.1.save: {message}\n"));
    };
    check(&whole[..10], "it is cut short: 10 bytes");
    let length = whole.len();
    let cut = format!("it is cut short or too long: {} bytes of {length}", length - 1);
    check(&whole[..length - 1], &cut);
    let mut flipped = whole.clone();
    flipped[length - 3] ^= 16;
    check(&flipped, "it is damaged: its checksum does not match its content");
    check(b"", "it is cut short: 0 bytes");
    fs::write(&newest, &whole).unwrap();
    assert_eq!(scratch.play(&["read"]), ("new\tnil\tnil\n".to_string(), String::new()));
}

#[test]
fn save_from_newer_version_names_both_versions() {
    let scratch = Scratch::new("newer", TOOL);
    scratch.write("game/settings.sjson", "version = \"2.10\"");
    assert_eq!(scratch.play(&["write", "new"]).0, "true\n");
    scratch.write("game/settings.sjson", "version = \"2.9.1\"");
    let why = "it was written by version 2.10 of the game, and this is version 2.9.1: update the \
               game";
    let message = format!("the save \"auto\" cannot be read: {why}");
    assert_eq!(scratch.play(&["read"]).0, format!("nil\t{message}\tnil\n"));
    assert_eq!(scratch.play(&["list"]).0, format!("auto\t2.10\t{why}\n"));
    let message = format!(
        "the save \"auto\" cannot be written: the existing one would be lost, and {why}, or \
         Save.delete(\"auto\") first"
    );
    assert_eq!(scratch.play(&["write", "older"]).0, format!("nil\t{message}\n"));
    assert_eq!(scratch.play(&["read", "newer"]).0, "new\tnil\tnil\n");
}

#[test]
fn pending_save_is_finished_at_exit() {
    let scratch = Scratch::new("begun", TOOL);
    assert_eq!(scratch.play(&["begin", "later"]), (String::new(), String::new()));
    assert_eq!(scratch.play(&["read"]).0, "later\tnil\tnil\n");
}

/// A disk that is full while a save is written, simulated by a limit of 64 KiB on file sizes.
#[cfg(unix)]
#[test]
fn full_disk_keeps_the_existing_save() {
    let scratch = Scratch::new("full", TOOL);
    assert_eq!(scratch.play(&["write", "small"]).0, "true\n");
    let mut limited = Command::new("sh");
    let engine = scratch.command();
    // The signal is ignored, so that the write fails as on a full disk.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\""]);
    limited.arg(engine.get_program()).args(engine.get_args());
    limited.args(["--frames", "1", "--", "write", "large", "1000000"]);
    limited
        .current_dir(&scratch.0)
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", scratch.0.join("saves"));
    let (out, _) = run(limited);
    assert!(out.starts_with("nil\tthe save \"auto\" cannot be written: "), "{out}");
    assert_eq!(scratch.files(), ["auto.1.save"], "nothing is left beside it");
    assert_eq!(scratch.play(&["read"]).0, "small\tnil\tnil\n");
    // A file in place of the folder for saves.
    fs::remove_dir_all(scratch.saves()).unwrap();
    fs::write(scratch.saves(), "").unwrap();
    let (out, _) = scratch.play(&["write", "x"]);
    assert!(out.starts_with("nil\tthe saves cannot be listed: "), "{out}");
    let (out, _) = scratch.play(&["read"]);
    assert!(out.starts_with("nil\tthe saves cannot be listed: "), "{out}");
}

#[test]
fn missing_save_folder_gives_a_warning() {
    let scratch = Scratch::new("homeless", TOOL);
    let mut command = scratch.command();
    command.args(["--frames", "1", "--", "write", "x"]);
    for variable in ["ENGINE_SAVE_DIR", "XDG_DATA_HOME", "HOME", "USERPROFILE", "APPDATA"] {
        command.env_remove(variable);
    }
    let (out, err) = run(command);
    assert_eq!(out, "true\n");
    let message = "warning: saves and user settings are lost at the end of this run: there is no \
                 home folder: set HOME, or ENGINE_SAVE_DIR\n";
    assert_eq!(err, message);
}
