//! Environment in which both engines play: a virtual display, the folders of the games, and the
//! commands that start them. It does not know the workloads.

use super::gui_textures;
use crate::child_process::{ResourceUsage, run_command};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A virtual display in memory, which ends on drop.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// Starts the display. Returns a message if that is impossible.
    fn open() -> Result<Display, String> {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x720x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|reason| match reason.kind() {
                ErrorKind::NotFound => "is not installed (on Debian: apt install xvfb)".to_string(),
                _ => format!("cannot be started: {reason}"),
            })?;
        // The server prints the number of its display as soon as it is ready.
        let out = server.stdout.take().expect("it was piped");
        let mut line = String::new();
        let read = BufReader::new(out).read_line(&mut line);
        if read.is_err() || line.trim().is_empty() {
            server.wait().expect("it is ours");
            return Err("ends at once".to_string());
        }
        Ok(Display { server, name: format!(":{}", line.trim()) })
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // An error means that the server has already ended.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Environment variable with which Mesa accepts and drops all drawing, for OpenGL only.
const DROPS: &str = "GALLIUM_NOOP";

/// Handling of draw calls.
#[derive(Clone, Copy, PartialEq)]
pub enum Drawing {
    /// The processor renders.
    Real,
    /// The driver accepts and drops everything, so only the cost of issuing draw calls remains.
    Dropped,
}

/// A game for both engines, in separate folders.
pub struct Game {
    pub love: PathBuf,
    pub engine: PathBuf,
}

pub struct Environment {
    scratch: PathBuf,
    display: Option<Display>,
    /// LÖVE's version, if LÖVE can be run.
    pub love: Option<String>,
    /// Number of processes for each result, which is their median.
    pub runs: usize,
}

impl Environment {
    /// Opens the environment and reports missing programs.
    pub fn open(runs: usize) -> Environment {
        let scratch = std::env::temp_dir().join(format!("engine-peers-{}", std::process::id()));
        // A leftover of an earlier process with the same id.
        let _ = fs::remove_dir_all(&scratch);
        fs::create_dir_all(&scratch).expect("the temporary folder can be written to");
        let display = Display::open()
            .inspect_err(|message| {
                println!("Xvfb {message}: the engine plays without a window, LÖVE does not play");
            })
            .ok();
        let love = display.as_ref().and_then(|_| love_version());
        Environment { scratch, display, love, runs }
    }

    /// Returns true if windows can be opened.
    pub fn has_display(&self) -> bool {
        self.display.is_some()
    }

    /// Copies a game of benches/peers to the scratch folder.
    pub fn add_game(&self, name: &str) -> Game {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches");
        let peers = sources.join("peers");
        let game = Game { love: self.folder(name, "love"), engine: self.folder(name, "engine") };
        for file in ["conf.lua", "measure.lua"] {
            copy(&peers.join(file), &game.love);
        }
        copy(&peers.join("settings.sjson"), &game.engine);
        copy_all(&peers.join(name).join("love"), &game.love);
        match name {
            // Another benchmark plays this game, too.
            "gui" => copy(&sources.join("gui/main.lua"), &game.engine),
            _ => copy_all(&peers.join(name).join("engine"), &game.engine),
        }
        if ["gui", "calls"].contains(&name) {
            gui_textures::write(&game.engine);
        }
        // Files that both engines use.
        for folder in [&game.love, &game.engine] {
            copy_all(&peers.join(name), folder);
        }
        game
    }

    fn folder(&self, name: &str, side: &str) -> PathBuf {
        let folder = self.scratch.join(name).join(side);
        fs::create_dir_all(&folder).expect("the temporary folder can be written to");
        folder
    }

    /// Returns the path of a file in the scratch folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// Returns a command on the virtual display, if there is one. The process writes only into the
    /// scratch folder.
    pub fn process(&self, program: &Path, drawing: Drawing) -> Command {
        let mut command = Command::new(program);
        command.stdin(Stdio::null()).current_dir(&self.scratch);
        for name in ["DISPLAY", "WAYLAND_DISPLAY", DROPS, "WGPU_BACKEND"] {
            command.env_remove(name);
        }
        command.env("ENGINE_SAVE_DIR", self.file("saves")).env("XDG_DATA_HOME", self.file("data"));
        command.envs([("ALSOFT_DRIVERS", "null"), ("SDL_AUDIODRIVER", "dummy")]);
        if let Some(display) = &self.display {
            command.env("DISPLAY", &display.name);
        }
        if drawing == Drawing::Dropped {
            command.env(DROPS, "1");
        }
        command
    }

    pub fn love(&self, folder: &Path, arguments: &[String], drawing: Drawing) -> Command {
        let mut command = self.process(Path::new("love"), drawing);
        command.arg(folder).args(arguments);
        command
    }

    /// Returns the command of `engine run` in a window. It is drawn by the processor, or with
    /// OpenGL by LÖVE's driver, which drops it. Without a display that driver is unavailable.
    pub fn engine(&self, game: &Path, flags: &[&str], drawing: Drawing) -> Command {
        let mut command = self.process(Path::new(env!("CARGO_BIN_EXE_engine")), drawing);
        command.arg("run").arg(game).args(["--audio", "null", "--renderer"]);
        match (drawing, self.has_display()) {
            (Drawing::Real, true) => command.arg("software"),
            (Drawing::Real, false) => command.args(["software", "--headless"]),
            (Drawing::Dropped, true) => command.arg("gpu").env("WGPU_BACKEND", "gl"),
            (Drawing::Dropped, false) => command.args(["null", "--headless"]),
        };
        command.args(flags);
        command
    }

    /// Runs a command to its end. Returns its resource usage and its standard output.
    pub fn run(&self, mut command: Command) -> (ResourceUsage, String) {
        let (out, error) = (self.file("out.txt"), self.file("error.txt"));
        let file = |path: &Path| File::create(path).expect("the folder can be written to");
        command.stdout(file(&out)).stderr(file(&error));
        let used = run_command(&mut command);
        let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let used = used.unwrap_or_else(|status| {
            let (out, error) = (read(&out), read(&error));
            panic!("{command:?} ended with status {status}:\n{out}\n{error}");
        });
        (used, read(&out))
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        // The operating system cleans up remaining files.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// Returns LÖVE's version as LÖVE prints it. Reports if LÖVE is missing.
fn love_version() -> Option<String> {
    let output = Command::new("love").arg("--version").stdin(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success());
    let Some(output) = output else {
        println!("LÖVE is not installed (on Debian: apt install love): the engine plays alone");
        return None;
    };
    let version = String::from_utf8_lossy(&output.stdout);
    Some(version.split_whitespace().nth(1).unwrap_or("of no version").to_string())
}

fn copy(file: &Path, folder: &Path) {
    let name = file.file_name().expect("it is a file");
    let copied = fs::copy(file, folder.join(name));
    copied.unwrap_or_else(|reason| panic!("{}: {reason}", file.display()));
}

/// Copies the files of a folder, without its subfolders.
fn copy_all(from: &Path, to: &Path) {
    let entries =
        fs::read_dir(from).unwrap_or_else(|reason| panic!("{}: {reason}", from.display()));
    for entry in entries.flatten().filter(|entry| entry.path().is_file()) {
        copy(&entry.path(), to);
    }
}
