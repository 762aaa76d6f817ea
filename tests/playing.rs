//! Files that are saved while a game is played, as its programmer meets it: the session of the
//! manual, what is broken, what is deleted and replaced, ten thousand files at once, two engines on
//! one folder, a disk that takes no more.

#[path = "playing/storm.rs"]
mod storm;

use engine::app::{self, App, Opening};
use engine::engine::Build;
use engine::packet::Packet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const MANUAL: &str = include_str!("../docs/hot_reload.md");

/// Nothing takes as long, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with a game, removed at the test's end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, files: &[(&str, &str)]) -> Scratch {
        let folder =
            std::env::temp_dir().join(format!("engine-playing-{}-{name}", std::process::id()));
        // What an earlier process of this number left.
        let _ = fs::remove_dir_all(&folder);
        let scratch = Scratch(folder);
        files.iter().for_each(|(path, text)| scratch.save(path, text));
        scratch
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.join("game").join(path)
    }

    /// Saves as most editors do: beside the file, and then in its place.
    fn save(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        let beside = self.0.join("beside");
        fs::write(&beside, bytes).expect("it can be written");
        fs::rename(&beside, path).expect("it can be renamed");
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        command.arg("run").arg(self.path("")).current_dir(&self.0);
        command.env("ENGINE_SAVE_DIR", self.0.join("saves")).stdin(Stdio::null());
        command
    }

    fn play(&self) -> Playing {
        let mut command = self.command();
        command.args(["--headless", "--realtime"]);
        Playing::start(command)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A game that is played by a process of its own.
struct Playing {
    process: Child,
    lines: Receiver<String>,
    said: Vec<String>,
}

impl Playing {
    fn start(mut command: Command) -> Playing {
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let (send, lines) = channel();
        let streams: [Box<dyn Read + Send>; 2] = [
            Box::new(process.stdout.take().expect("it is piped")),
            Box::new(process.stderr.take().expect("it is piped")),
        ];
        for stream in streams {
            let send = send.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if send.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Playing { process, lines, said: Vec::new() }
    }

    /// Waits until a line has these words in it.
    #[track_caller]
    fn hears(&mut self, wanted: &str) -> String {
        let began = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(began.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.contains(wanted) {
                        return line;
                    }
                }
                Err(_) => panic!("no line has '{wanted}' in it:\n{}", self.said.join("\n")),
            }
        }
    }

    /// Waits until each of these words was in a line, in whatever order.
    #[track_caller]
    fn hears_all(&mut self, wanted: &[&str]) {
        let from = self.said.len();
        for words in wanted {
            if !self.said[from..].iter().any(|line| line.contains(words)) {
                self.hears(words);
            }
        }
    }

    /// How it is after a while in which nothing should happen to it.
    #[track_caller]
    fn goes_on(&mut self) {
        let status = self.process.try_wait().expect("it is ours");
        assert!(status.is_none(), "the game ended:\n{}", self.said.join("\n"));
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        // A test that failed leaves none behind.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const SHIP: &str = "local M, hits = {}, 0
function M.words(frames)
  hits = hits + 1
  return 'one, ' .. (hits == frames and 'nothing is lost' or 'the count is lost')
end
return M
";

const MAIN: &str = "local ship, frames, last = require 'ship', 0, nil
function init() print('ready') end
function update()
  frames = frames + 1
  local words = ship.words(frames)
  if words ~= last then last = words print(words) end
end
function on_reload(names) print('on_reload: ' .. table.concat(names, ', ')) end
";

/// The lines of the manual's session: what is heard, in its order.
fn session() -> Vec<&'static str> {
    let (_, rest) = MANUAL.split_once("## A session").expect("the manual has one");
    let (_, block) = rest.split_once("```\n").expect("it has a block");
    let (block, _) = block.split_once("```").expect("the block has an end");
    block.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn the_session_of_the_manual() {
    let scratch = Scratch::new("session", &[("main.lua", MAIN), ("ship.lua", SHIP)]);
    let mut game = scratch.play();
    let lines = session();
    let mut lines = lines.into_iter();
    let mut hear = |game: &mut Playing, count: usize| {
        // Standard output and standard error come by two ways.
        game.hears_all(&lines.by_ref().take(count).collect::<Vec<_>>());
    };
    hear(&mut game, 2);
    scratch.save("ship.lua", SHIP.replace("one", "two"));
    hear(&mut game, 3);
    scratch.save("ship.lua", SHIP.replace("return 'one", "return return 'one"));
    hear(&mut game, 3);
    scratch.save("ship.lua", SHIP.replace("one", "three"));
    hear(&mut game, 3);
    scratch.save("main.lua", MAIN.replace("'ready'", "'ready to go'"));
    hear(&mut game, 3);
    scratch.save("settings.sjson", "name = \"Yard\"\nlimits = { update_seconds = 1 }\n");
    hear(&mut game, 2);
    scratch.save("settings.sjson", "limits = { update_second = 1 }\n");
    hear(&mut game, 1);
    assert_eq!(lines.next(), None, "all of the session was heard");
    game.goes_on();
}

/// Asks for everything in each frame and tells what changes.
const ASKS: &str = "local last = {}
local function tell(what, words)
  if words ~= last[what] then last[what] = words print(what .. ': ' .. words) end
end
local function ask(what, fn, ...)
  local ok, value = pcall(fn, ...)
  tell(what, ok and (type(value) == 'table' and value.v or tostring(value)) or value)
end
function init() print('ready') end
function update()
  ask('config', Application.data, 'config', 'level')
  ask('text', Application.data, 'text', 'a/words')
  ask('picture', function() Texture.unload('ship') Texture.load('ship') return 'a picture' end)
end
function on_reload(names) print('reloaded: ' .. table.concat(names, ', ')) end
";

fn picture(red: u8) -> Vec<u8> {
    engine::resource::image::encode_png(2, 2, &[red, 0, 0, 255].repeat(4))
}

#[test]
fn what_is_broken_keeps_the_old_one_and_tells_file_line_and_cause() {
    let files = [("main.lua", ASKS), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("broken", &files);
    scratch.save("ship.png", picture(255));
    let mut game = scratch.play();
    game.hears("config: one");
    game.hears("text: one");
    game.hears("picture: a picture");
    scratch.save("level.config", "v = \"two\"\nw = [1, 2\n");
    game.hears("error: level.config:2:5: list is not closed");
    scratch.save("ship.png", "GIF89a, and not a PNG");
    game.hears("error: ship.png: ");
    scratch.save("a/words.txt", [b'o', 0xff]);
    game.hears("error: a/words.txt:1: the file is not UTF-8");
    // All of them are told until they are mended, and the game has the old ones.
    scratch.save("level.config", "v = \"three\"");
    game.hears_all(&["level.config is mended", "config: three"]);
    scratch.save("a/words.txt", "four");
    game.hears_all(&["a/words.txt is mended", "text: four"]);
    assert!(!game.said.iter().any(|line| line.contains("could not be compiled")));
    // Deleted, and there again as something broken: whoever asks hears why.
    fs::remove_file(scratch.path("ship.png")).expect("it is there");
    game.hears("picture: ");
    scratch.save("ship.png", "nothing");
    let words = game.hears("texture 'ship' could not be compiled: ship.png: ");
    assert!(words.starts_with("picture: "), "{words}");
    scratch.save("ship.png", picture(9));
    game.hears_all(&["ship.png is mended", "picture: a picture"]);
}

#[test]
fn what_is_broken_is_told_once_and_not_at_every_save_of_another() {
    let files = [("main.lua", ASKS), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("once", &files);
    scratch.save("ship.png", picture(255));
    scratch.save("broken.config", "x = [");
    let mut game = scratch.play();
    game.hears("text: one");
    scratch.save("level.config", "v = ");
    game.hears("error: level.config:1:1: ");
    for round in 0..5 {
        scratch.save("a/words.txt", format!("round {round}"));
        game.hears(&format!("text: round {round}"));
    }
    scratch.save("level.config", "v = \"two\"");
    game.hears("config: two");
    // Broken once more, it is told once more.
    scratch.save("level.config", "v = ");
    game.hears("error: level.config:1:1: ");
    for file in ["broken.config:1:5: ", "level.config:1:1: "] {
        let told = game.said.iter().filter(|line| line.starts_with(&format!("error: {file}")));
        let wanted = if file.starts_with('b') { 1 } else { 2 };
        assert_eq!(told.count(), wanted, "{file}:\n{}", game.said.join("\n"));
    }
}

#[test]
fn a_broken_script_that_is_deleted_or_renamed_does_not_stop_every_reload() {
    let files = [("main.lua", MAIN), ("ship.lua", SHIP), ("other.lua", SHIP)];
    let scratch = Scratch::new("gone", &files);
    let mut game = scratch.play();
    game.hears("one, nothing is lost");
    for round in 0..2 {
        scratch.save("ship.lua", "local M = = 1");
        game.hears("In ship.lua:1");
        match round {
            0 => fs::remove_file(scratch.path("ship.lua")).expect("it is there"),
            _ => {
                fs::rename(scratch.path("ship.lua"), scratch.path("ship.old")).expect("it is there")
            }
        }
        let words = MAIN.replace("require 'ship'", "require 'other'");
        scratch.save("main.lua", words.replace("on_reload: ", &format!("round {round}: ")));
        game.hears(&format!("round {round}: "));
        scratch.save("ship.lua", SHIP);
        game.hears(&format!("round {round}: ship.lua"));
    }
    game.goes_on();
}

#[test]
fn a_file_that_is_away_for_a_moment_harms_nothing() {
    let main = "function update() if Application.data('text', 'a') ~= last then
  last = Application.data('text', 'a') print('a: ' .. last) end end";
    let scratch = Scratch::new("away", &[("main.lua", main), ("a.txt", "0")]);
    let mut game = scratch.play();
    game.hears("a: 0");
    for round in 1..10 {
        // As vim does it, on a busy disk.
        fs::rename(scratch.path("a.txt"), scratch.path("a.txt~")).expect("it is there");
        std::thread::sleep(Duration::from_millis(15));
        fs::write(scratch.path("a.txt"), round.to_string()).expect("it can be written");
        game.hears(&format!("a: {round}"));
    }
    game.goes_on();
    assert!(!game.said.iter().any(|line| line.contains("error")), "{}", game.said.join("\n"));
}

#[test]
fn where_the_folder_cannot_be_written_to_the_users_cache_has_the_data() {
    let main = "print(Application.data('text', 'a'))";
    let scratch = Scratch::new("cache", &[("main.lua", main), ("a.txt", "it is there")]);
    // A file where the engine's folder would be: nobody can write in it, the superuser included.
    scratch.save(".engine", "");
    let run = |home: &str| {
        let mut command = scratch.command();
        command.args(["--headless", "--frames", "1"]);
        for name in ["XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
            command.env(name, scratch.path(home));
        }
        let run = command.output().expect("the engine starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
        (run.status.code(), text(run.stdout), text(run.stderr))
    };
    let (code, out, err) = run("../home");
    assert_eq!(code, Some(0), "{out}{err}");
    let told = "the game's folder is not written to: its data is in ";
    assert!(out.starts_with(told) && out.ends_with("\nit is there\n"), "{out}{err}");
    assert!(!err.contains("could not be compiled"), "{err}");
    // A link leads nobody out of the folder, not even to find whether it can be written to.
    #[cfg(unix)]
    {
        fs::remove_file(scratch.path(".engine")).expect("it is there");
        fs::create_dir(scratch.path("../other")).expect("it can be made");
        let link = std::os::unix::fs::symlink("../other", scratch.path(".engine"));
        link.expect("it can be made");
        let (code, out, err) = run("../home");
        assert_eq!(code, Some(1), "{out}{err}");
        assert!(
            err.contains(".engine is a link, and compiled data stays here: remove it"),
            "{err}"
        );
        let inside = fs::read_dir(scratch.path("../other")).expect("it is there");
        assert_eq!(inside.count(), 0, "nothing was written");
        fs::remove_file(scratch.path(".engine")).expect("it is there");
        scratch.save(".engine", "");
    }
    // Nowhere at all: whoever asks hears why.
    let (code, out, err) = run(".engine/home");
    assert_eq!(code, Some(1), "{out}{err}");
    let words =
        "there is no text 'a': resources could not be compiled: nothing can be written into ";
    assert!(err.contains(words), "{err}");
}

#[test]
fn files_are_deleted_renamed_and_replaced_by_folders() {
    let files = [("main.lua", ASKS), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("moved", &files);
    scratch.save("ship.png", picture(255));
    let mut game = scratch.play();
    game.hears("text: one");
    fs::rename(scratch.path("a"), scratch.path("b")).expect("it can be renamed");
    game.hears("there is no text 'a/words'");
    fs::rename(scratch.path("b"), scratch.path("a")).expect("it can be renamed");
    game.hears("text: one");
    fs::remove_file(scratch.path("a/words.txt")).expect("it is there");
    fs::create_dir(scratch.path("a/words.txt")).expect("it can be made");
    game.hears("there is no text 'a/words'");
    fs::remove_dir(scratch.path("a/words.txt")).expect("it is there");
    scratch.save("a/words.txt", "two");
    game.hears("text: two");
    // A folder that comes whole, and one of links that lead in a circle.
    #[cfg(unix)]
    std::os::unix::fs::symlink(scratch.path(""), scratch.path("a/again")).expect("it can be made");
    scratch.save("a/words.txt", "three");
    game.hears("text: three");
    game.goes_on();
}

#[test]
fn ten_thousand_files_are_touched_at_once() {
    let files = [("main.lua", ASKS), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("many", &files);
    scratch.save("ship.png", picture(255));
    for folder in 0..10 {
        fs::create_dir_all(scratch.path(&format!("many/{folder}"))).expect("it can be made");
    }
    let many = |text: &str| {
        for i in 0..10_000 {
            let path = scratch.path(&format!("many/{}/t{i}.txt", i % 10));
            fs::write(path, format!("{text}{i}")).expect("it can be written");
        }
    };
    many("old ");
    let mut game = scratch.play();
    game.hears("text: one");
    many("new ");
    // What comes after the storm is seen, too.
    game.hears("reloaded: many/");
    scratch.save("a/words.txt", "two");
    game.hears("text: two");
    game.goes_on();
}

#[test]
fn two_engines_play_one_folder() {
    let files = [("main.lua", ASKS), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("two", &files);
    scratch.save("ship.png", picture(255));
    let mut games = [scratch.play(), scratch.play()];
    games.iter_mut().for_each(|game| _ = game.hears("picture: a picture"));
    for round in 0..10 {
        scratch.save("a/words.txt", format!("round {round}"));
        scratch.save("ship.png", picture(round));
        for game in &mut games {
            game.hears(&format!("text: round {round}"));
        }
    }
    for game in &mut games {
        game.goes_on();
        let told = game.said.iter().find(|line| line.contains("damaged") || line.contains("error"));
        assert_eq!(told, None, "{}", game.said.join("\n"));
    }
}

/// No file may be longer than some bytes: a write fails as it does on a full disk.
#[cfg(unix)]
#[test]
fn a_disk_that_is_full_while_a_game_is_compiled_leaves_what_was_there() {
    let files = [("main.lua", ASKS), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("full", &files);
    scratch.save("ship.png", picture(255));
    let once = |limited: bool| {
        let engine = scratch.command();
        let mut command = Command::new("sh");
        let limit = if limited { "ulimit -f 0; " } else { "" };
        command.args(["-c", &format!("trap '' XFSZ; {limit}exec \"$0\" \"$@\"")]);
        command.arg(engine.get_program()).args(engine.get_args());
        command.args(["--headless", "--frames", "2"]).current_dir(&scratch.0);
        command.env("ENGINE_SAVE_DIR", scratch.0.join("saves"));
        let output = command.output().expect("every system has a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = once(false);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("text: one"), "{out}");
    scratch.save("a/words.txt", "two");
    let (code, out, err) = once(true);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(err.contains(" cannot be written: "), "{err}");
    assert!(out.contains("text: one"), "the old data runs: {out}{err}");
    // With room again, all is as it should be.
    let (code, out, err) = once(false);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("text: two"), "{out}");
}

#[test]
fn without_a_driver_it_is_said_what_to_install_and_what_needs_no_picture_is_played() {
    let main = "function shutdown() print('played') end";
    let scratch = Scratch::new("driver", &[("main.lua", main)]);
    let run = |arguments: &[&str]| {
        let mut command = scratch.command();
        command.args(["--headless", "--frames", "2"]).args(arguments);
        // Where drivers are looked for there is none.
        command.env("VK_DRIVER_FILES", scratch.path("none.json"));
        command.env("VK_ICD_FILENAMES", scratch.path("none.json"));
        command.env("WGPU_BACKEND", "vulkan");
        let run = command.output().expect("the engine starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
        (run.status.code(), text(run.stdout), text(run.stderr))
    };
    let check = |arguments: &[&str], code: i32, played: &str, words: &str| {
        let (found, out, err) = run(arguments);
        assert_eq!((found, out.as_str()), (Some(code), played), "{arguments:?}: {err}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    };
    check(&["--renderer", "null"], 0, "played\n", "");
    let words = "no software adapter was found: no graphics driver answers. Install one (on Debian \
                 and Ubuntu: apt install mesa-vulkan-drivers), or run with --renderer null";
    check(&["--renderer", "software"], 1, "", words);
    let words =
        "no graphics card can be drawn with: no graphics driver answers. Install its driver";
    check(&["--renderer", "gpu"], 1, "", words);
    // Nobody asked for a certain one: the game is played, and the picture is missing.
    let words = "nothing can be drawn: nothing to draw with was found: no graphics driver answers";
    check(&["--screenshot", "shot.png"], 1, "played\n", words);
}

#[test]
fn drivers_do_not_complain_where_there_is_no_wayland() {
    let scratch = Scratch::new("quiet", &[("main.lua", "function update() end")]);
    let mut command = scratch.command();
    command.args(["--headless", "--frames", "2", "--renderer", "software"]);
    for name in ["XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    let run = command.output().expect("the engine starts");
    let err = String::from_utf8_lossy(&run.stderr);
    // Without any driver there is one line of ours.
    let own = err.is_empty() || err.starts_with("error: no software adapter was found");
    assert!(own && !err.contains("XDG_RUNTIME_DIR"), "{err}");
}

/// The game in this very process, with a watcher, as if somebody saw it.
fn seen(scratch: &Scratch) -> App {
    let mut app = App::open(Opening {
        game: app::Game::Folder(scratch.path("")),
        build: Build::Development,
        arguments: Vec::new(),
        seed: 0,
        deterministic: true,
        boot: None,
        forget: true,
        sandbox: true,
        coverage: false,
        lines: false,
        store: None,
        watch: true,
        threads: None,
        sound: engine::system::sound::Destination::Null,
    })
    .unwrap_or_else(|error| panic!("{error}"));
    app.start().unwrap_or_else(|report| panic!("{report}"));
    app.vm().engine().picture.is_shown = true;
    app
}

/// Plays frames until what is told over the picture has these words in it, or is nothing.
#[track_caller]
fn plays_until(app: &mut App, wanted: Option<&str>) -> usize {
    let began = Instant::now();
    loop {
        app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
        let engine = app.vm().engine();
        let views = engine.take_packet(Packet::default()).views.len();
        let told = engine.refusals();
        let is_so = match wanted {
            Some(words) => told.iter().any(|line| line.contains(words)),
            None => told.is_empty(),
        };
        if is_so {
            return views;
        }
        assert!(began.elapsed() < PATIENCE, "not {wanted:?}: {told:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_refused_is_told_over_the_picture_until_it_is_mended() {
    let scratch = Scratch::new("told", &[("main.lua", MAIN), ("ship.lua", SHIP)]);
    scratch.save("settings.sjson", "name = \"Yard\"");
    let mut app = seen(&scratch);
    assert_eq!(plays_until(&mut app, None), 0, "the game itself shows nothing");
    scratch.save("ship.lua", SHIP.replace("return 'one", "return return 'one"));
    assert_eq!(plays_until(&mut app, Some("In ship.lua:4")), 1);
    // Something else that is fine does not hide it.
    scratch.save("words.txt", "fine");
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(300) {
        plays_until(&mut app, Some("In ship.lua:4"));
    }
    scratch.save("ship.lua", SHIP);
    plays_until(&mut app, None);
    scratch.save("ship.png", "nothing");
    plays_until(&mut app, Some("ship.png: "));
    scratch.save("ship.png", picture(1));
    plays_until(&mut app, None);
    scratch.save("settings.sjson", "nmae = \"Yard\"");
    plays_until(&mut app, Some("unknown setting 'nmae', did you mean 'name'?"));
    scratch.save("settings.sjson", "collector = { milliseconds = 3 }\ntime_step = [\"no\"]");
    plays_until(&mut app, Some("'time_step': "));
    assert_eq!(app.vm().engine().collection.milliseconds, 1.0, "all or nothing");
    scratch.save("settings.sjson", "collector = { milliseconds = 3 }\nwindow = { width = 300 }");
    plays_until(&mut app, None);
    assert_eq!(app.vm().engine().collection.milliseconds, 3.0);
    assert_eq!(app.vm().engine().window.pixels.0, 300);
}
