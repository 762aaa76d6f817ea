//! The harness of the reload tests: a game with files that are edited while it runs.

use crate::start::start;
use engine::app::{self, App, GameLaunch};
use engine::script::ScriptValue;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Script that runs one step of the test in every frame, each as its own file.
const MAIN: &str = "local n = 0 function update() n = n + 1 require('step' .. n) end";

static GAMES: AtomicU32 = AtomicU32::new(0);

/// A running game in its own folder.
pub struct Game {
    folder: PathBuf,
    app: App,
    steps: u32,
    /// Time limit of a reload, in seconds of CPU time.
    pub budget: f64,
}

/// Result of a reload.
#[derive(Debug)]
pub struct ReloadResult(pub ScriptValue);

impl ReloadResult {
    fn field(&self, name: &str) -> &ScriptValue {
        let ScriptValue::Table(fields) = &self.0 else { panic!("not a table: {:?}", self.0) };
        let found = fields.iter().find(|(key, _)| key == name);
        found.map_or(&ScriptValue::Nil, |(_, value)| value)
    }

    pub fn ok(&self) -> bool {
        *self.field("ok") == ScriptValue::Boolean(true)
    }

    pub fn number(&self, name: &str) -> f64 {
        match self.field(name) {
            ScriptValue::Number(number) => *number,
            other => panic!("{name} is {other:?}"),
        }
    }

    pub fn text(&self, name: &str) -> &str {
        match self.field(name) {
            ScriptValue::Text(text) => text,
            other => panic!("{name} is {other:?} in {:?}", self.0),
        }
    }

    /// Returns the closures that kept their old bodies, as `m.lua:3 x2`.
    pub fn kept(&self) -> Vec<String> {
        let ScriptValue::List(list) = self.field("kept_closures") else { return Vec::new() };
        let items = list.iter().map(|item| {
            let item = ReloadResult(item.clone());
            format!("{} x{}", item.text("location"), item.number("count"))
        });
        items.collect()
    }
}

impl Game {
    /// Starts a game of these files. `main.lua` is the harness's own unless it is among them.
    pub fn start(files: &[(&str, &str)]) -> Game {
        let number = GAMES.fetch_add(1, Ordering::SeqCst);
        let name = format!("engine-reload-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("main.lua"), MAIN).unwrap();
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let app = start(GameLaunch::headless(app::Game::Folder(folder.clone())));
        Game { folder, app, steps: 0, budget: 10.0 }
    }

    /// Plays a frame, and runs this code in its `update`.
    pub fn step(&mut self, code: &str) -> Result<(), String> {
        self.steps += 1;
        fs::write(self.folder.join(format!("step{}.lua", self.steps)), code).unwrap();
        self.app.frame(1.0 / 60.0).map_err(|report| report.to_string())
    }

    /// Swaps in files as a frame does after they were saved, and reports the changes to the game.
    pub fn swap(&mut self, files: &[(&str, &str)]) {
        self.swap_without(files, &[]);
    }

    /// Swaps in files and removes others. Returns true if any file waits to be fixed.
    pub fn swap_without(&mut self, files: &[(&str, &str)], removed: &[&str]) -> bool {
        let text = |chunk: &&str| ScriptValue::Text(chunk.to_string());
        let removed: Vec<ScriptValue> = removed.iter().map(text).collect();
        let names = files.iter().map(|(chunk, _)| text(chunk)).chain(removed.clone()).collect();
        let (names, removed) = (ScriptValue::List(names), ScriptValue::List(removed));
        let none = || ScriptValue::List(Vec::new());
        let arguments = [list_of(files), names, removed, none(), none()];
        let swapped = self.app.vm().call_core("swap", &arguments, 10.0);
        swapped.unwrap_or_else(|report| panic!("{report}")) == ScriptValue::Boolean(true)
    }

    /// Plays a frame without a step of the test.
    pub fn frame(&mut self) {
        self.app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
    }

    pub fn app(&mut self) -> &mut App {
        &mut self.app
    }

    /// Reloads files, and returns the result even on failure.
    pub fn try_reload(&mut self, files: &[(&str, &str)]) -> ReloadResult {
        let files = list_of(files);
        let result = self.app.vm().call_core("reload_files", &[files], self.budget);
        ReloadResult(result.unwrap_or_else(|report| panic!("{report}")))
    }

    /// Reloads files, which must succeed.
    pub fn reload(&mut self, files: &[(&str, &str)]) -> ReloadResult {
        let result = self.try_reload(files);
        assert!(result.ok(), "{}", result.text("report"));
        result
    }
}

fn list_of(files: &[(&str, &str)]) -> ScriptValue {
    let text = |text: &str| ScriptValue::Text(text.to_string());
    let file = |(chunk, new): &(&str, &str)| {
        ScriptValue::Table(vec![("chunk".into(), text(chunk)), ("text".into(), text(new))])
    };
    ScriptValue::List(files.iter().map(file).collect())
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
