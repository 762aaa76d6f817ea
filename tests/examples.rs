//! Tests of the games of examples/ from a reader's view: each compiles, passes its suites, replays
//! its recordings in another folder, and has a picture. One is played in a real window.

use engine::resource::image::decode;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the names of all examples, in order.
pub fn examples() -> Vec<String> {
    let folder = root().join("examples");
    let entries = fs::read_dir(folder).expect("the folder can be read").map(|e| e.expect("it can"));
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().into_string().expect("a name is text")).collect();
    names.sort();
    names
}

/// A copy of an example in the test's own folder, removed on drop.
struct Copied(PathBuf);

impl Copied {
    fn new(name: &str, test: &str) -> Copied {
        let id = std::process::id();
        let folder = std::env::temp_dir().join(format!("engine-examples-{id}-{test}-{name}"));
        let _ = fs::remove_dir_all(&folder);
        copy(&root().join("examples").join(name), &folder.join("elsewhere"));
        Copied(folder)
    }

    fn game(&self) -> PathBuf {
        self.0.join("elsewhere")
    }

    /// Runs the engine on the copy. Returns exit code, standard output and standard error.
    fn engine<A: AsRef<OsStr>>(&self, arguments: &[A]) -> (Option<i32>, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_engine"))
            .args(arguments)
            .current_dir(&self.0)
            .env("ENGINE_QUIET", "1")
            .env("ENGINE_SAVE_DIR", self.0.join("saves"))
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .output()
            .expect("the engine starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Copies a folder without the engine's own data, which has names that begin with a dot.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a scratch folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("its entries can be read");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        } else if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a scratch file can be written");
        }
    }
}

/// Returns the files of a folder with an extension, by name. Empty if the folder does not exist.
fn files(folder: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(ending)).collect()
}

/// Runs `check` for all examples in parallel.
fn each(check: impl Fn(&str) + Sync) {
    let names = examples();
    assert!(!names.is_empty(), "examples/ is empty");
    std::thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| check(name));
        }
    });
}

#[test]
fn every_example_passes_its_suites_and_recordings() {
    each(|name| {
        let copied = Copied::new(name, "suites");
        let (code, out, err) = copied.engine(&["check", "elsewhere"]);
        assert_eq!(code, Some(0), "engine check examples/{name}: {out}\n{err}");
        let (code, out, err) = copied.engine(&["test", "elsewhere", "--output", "tap"]);
        assert_eq!(code, Some(0), "engine test examples/{name}: {out}\n{err}");
        let suites = files(&copied.game().join("tests"), "_test.lua");
        assert!(!suites.is_empty(), "examples/{name}/tests has no suite");
        let recordings = files(&copied.game().join("recordings"), ".recording");
        assert!(!recordings.is_empty(), "examples/{name}/recordings has no recording");
        // Such a test compares the state hashes of each frame.
        for recording in recordings {
            let replayed = format!("recordings/{recording} replays as it was recorded");
            let line = out.lines().find(|line| line.contains(&replayed));
            let passed = line.is_some_and(|line| line.starts_with("ok ") && !line.contains('#'));
            assert!(passed, "examples/{name}: '{replayed}' is not in:\n{out}");
        }
    });
}

/// Returns the targets of a page's links with this prefix, as in `![a picture](picture.png)`.
fn links<'a>(page: &'a str, before: &str) -> Vec<&'a str> {
    let targets = page.split(before).skip(1).filter_map(|after| after.split_once("]("));
    targets.filter_map(|(_, after)| after.split_once(')')).map(|(target, _)| target).collect()
}

#[test]
fn every_example_has_a_readme_with_picture() {
    const PICTURE_BYTES_MAX: u64 = 250 * 1024;
    let first = fs::read_to_string(root().join("README.md")).expect("it is there");
    each(|name| {
        let folder = root().join("examples").join(name);
        let page = fs::read_to_string(folder.join("README.md")).expect("an example has a page");
        let pictures = links(&page, "![");
        assert!(pictures.contains(&"picture.png"), "examples/{name}/README.md: {pictures:?}");
        for picture in pictures {
            let file = folder.join(picture);
            let bytes = fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            assert!(decode(&bytes, "png").is_ok(), "{} is no PNG", file.display());
            assert!(bytes.len() as u64 <= PICTURE_BYTES_MAX, "{} is too large", file.display());
        }
        let expected = format!("examples/{name}/picture.png");
        assert!(
            links(&first, "![").contains(&expected.as_str()),
            "README.md does not show {expected}"
        );
        let expected = format!("examples/{name}/README.md");
        assert!(
            links(&first, "[").contains(&expected.as_str()),
            "README.md does not link {expected}"
        );
    });
}

#[cfg(target_os = "linux")]
mod window {
    use super::{Copied, fs};
    use crate::window::console_and_errors::{ask, connect};
    use crate::window::display::{Display, GameProcess};
    use engine::foundation::json;
    use engine::foundation::sjson::SjsonTree;
    use engine::system::remote::client::RemoteClient;
    use std::time::{Duration, Instant};

    /// Waits until the game has played a number of frames more.
    fn wait_for_frames(client: &mut RemoteClient, count: f64) {
        let frame = |client: &mut RemoteClient| match ask(client, "status").get("frame") {
            Some(SjsonTree::Number(frame)) => *frame,
            other => panic!("{}", json::write(other.unwrap_or(&SjsonTree::Null))),
        };
        let (first, began) = (frame(client), Instant::now());
        while frame(client) < first + count {
            assert!(began.elapsed() < Duration::from_secs(120), "the game does not play");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn windowed_run_replays_headless() {
        let Some(display) = Display::start() else { return };
        let copied = Copied::new("crowd", "window");
        let arguments = ["--renderer", "null", "--audio", "null", "--record", "played.recording"];
        let mut game = GameProcess::run(&display, &copied.game(), &copied.0, &arguments);
        game.wait_for_line("engine: tools: ");
        game.take_focus(&display, "Crowd");
        let mut client = connect(&copied.game());
        let mut click = |x: &str, y: &str| {
            display.tool(&["mousemove", "--window", &game.window, x, y]);
            // Earlier input is handled in its own frames.
            wait_for_frames(&mut client, 6.0);
            display.tool(&["click", "1"]);
            wait_for_frames(&mut client, 6.0);
        };
        // A tower next to a burrow, another one by its number, and the button for the next wave.
        click("144", "320");
        display.tool(&["key", "3"]);
        click("272", "336");
        click("1140", "680");
        // At least four seconds of the game.
        wait_for_frames(&mut client, 240.0);
        game.interrupt();
        assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));

        let replay = ["run", "elsewhere", "--headless", "--replay", "played.recording"];
        let replay = [&replay[..], &["--stats-export", "stats.json"]].concat();
        let (code, out, err) = copied.engine(&replay);
        assert_eq!(code, Some(0), "{out}\n{err}");
        // Beetles appeared and were shot at, so the simulated input reached the game.
        let stats = fs::read_to_string(copied.0.join("stats.json")).expect("it was written");
        for counter in ["\"crowd/alive\"", "\"crowd/shots\""] {
            assert!(stats.contains(counter), "{counter} was zero all the time");
        }
    }
}
