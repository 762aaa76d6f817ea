//! A game whose files are edited while it runs: the harness of the reload tests.

use engine::app::{self, App, Opening};
use engine::engine::Build;
use engine::script::Value;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs one step of the test in every frame, as a file of its own.
const MAIN: &str = "local n = 0 function update() n = n + 1 require('step' .. n) end";

static GAMES: AtomicU32 = AtomicU32::new(0);

/// A running game in a folder of its own.
pub struct Game {
    folder: PathBuf,
    app: App,
    steps: u32,
    /// Seconds of CPU time that a reload may take.
    pub budget: f64,
}

/// What a reload answered.
#[derive(Debug)]
pub struct Answer(pub Value);

impl Answer {
    fn field(&self, name: &str) -> &Value {
        let Value::Table(fields) = &self.0 else { panic!("not a table: {:?}", self.0) };
        let found = fields.iter().find(|(key, _)| key == name);
        found.map_or(&Value::Nil, |(_, value)| value)
    }

    pub fn ok(&self) -> bool {
        *self.field("ok") == Value::Boolean(true)
    }

    pub fn number(&self, name: &str) -> f64 {
        match self.field(name) {
            Value::Number(number) => *number,
            other => panic!("{name} is {other:?}"),
        }
    }

    pub fn text(&self, name: &str) -> &str {
        match self.field(name) {
            Value::Text(text) => text,
            other => panic!("{name} is {other:?} in {:?}", self.0),
        }
    }

    /// The closures that kept their old bodies, as `m.lua:3 x2`.
    pub fn kept(&self) -> Vec<String> {
        let Value::List(list) = self.field("kept_closures") else { return Vec::new() };
        let items = list.iter().map(|item| {
            let item = Answer(item.clone());
            format!("{} x{}", item.text("place"), item.number("count"))
        });
        items.collect()
    }
}

impl Game {
    /// Starts a game of these files; `main.lua` is the harness's own unless it is among them.
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
        let mut app = App::open(Opening {
            game: app::Game::Folder(folder.clone()),
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
            watch: false,
            threads: None,
            sound: engine::system::sound::Destination::Null,
        })
        .unwrap_or_else(|error| panic!("{error}"));
        app.start().unwrap_or_else(|report| panic!("{report}"));
        Game { folder, app, steps: 0, budget: 10.0 }
    }

    /// Plays a frame, whose `update` runs this code.
    pub fn step(&mut self, code: &str) -> Result<(), String> {
        self.steps += 1;
        fs::write(self.folder.join(format!("step{}.lua", self.steps)), code).unwrap();
        self.app.frame(1.0 / 60.0).map_err(|report| report.to_string())
    }

    /// Swaps files in as the frame does when they were saved, and tells the game.
    pub fn swap(&mut self, files: &[(&str, &str)]) {
        self.swap_without(files, &[]);
    }

    /// The same where others were removed. Whether any waits to be mended.
    pub fn swap_without(&mut self, files: &[(&str, &str)], gone: &[&str]) -> bool {
        let text = |chunk: &&str| Value::Text(chunk.to_string());
        let gone: Vec<Value> = gone.iter().map(text).collect();
        let names = files.iter().map(|(chunk, _)| text(chunk)).chain(gone.clone()).collect();
        let arguments = [list_of(files), Value::List(names), Value::List(gone)];
        let swapped = self.app.vm().call_core("swap", &arguments, 10.0);
        swapped.unwrap_or_else(|report| panic!("{report}")) == Value::Boolean(true)
    }

    /// Plays a frame without a step of the test's.
    pub fn frame(&mut self) {
        self.app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
    }

    pub fn app(&mut self) -> &mut App {
        &mut self.app
    }

    /// Reloads files, whatever comes of it.
    pub fn try_reload(&mut self, files: &[(&str, &str)]) -> Answer {
        let files = list_of(files);
        let answer = self.app.vm().call_core("reload_files", &[files], self.budget);
        Answer(answer.unwrap_or_else(|report| panic!("{report}")))
    }

    /// Reloads files, which must work.
    pub fn reload(&mut self, files: &[(&str, &str)]) -> Answer {
        let answer = self.try_reload(files);
        assert!(answer.ok(), "{}", answer.text("report"));
        answer
    }
}

fn list_of(files: &[(&str, &str)]) -> Value {
    let text = |text: &str| Value::Text(text.to_string());
    let file = |(chunk, new): &(&str, &str)| {
        Value::Table(vec![("chunk".into(), text(chunk)), ("text".into(), text(new))])
    };
    Value::List(files.iter().map(file).collect())
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
