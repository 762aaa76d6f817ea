//! A game of benches/lua in the engine's own VM.

use engine::engine::{Build, Engine, Start};
use engine::resource::project::Project;
use engine::resource::settings::Settings;
use engine::resource::store::Store;
use engine::script::{Config, Report, Value, Vm};
use std::path::Path;

/// More seconds of CPU time than any workload needs.
const BUDGET: f64 = 600.0;

/// A booted VM whose module was loaded.
pub struct Game {
    pub vm: Vm,
}

impl Game {
    /// Loads `module` with the game's arguments; nothing of it was called yet.
    pub fn open(module: &str, arguments: &[&str], jit: bool) -> Game {
        Game::open_with(module, arguments, Config { jit, ..Config::DEFAULT })
    }

    /// The same, in a VM that is made otherwise.
    pub fn open_with(module: &str, arguments: &[&str], config: Config) -> Game {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/lua");
        let engine = Engine::new(Start {
            project: Project::open(&folder).expect("benches/lua is there"),
            settings: Settings::defaults(),
            store: Store::default(),
            build: Build::Development,
            arguments: arguments.iter().map(|word| word.to_string()).collect(),
            seed: 1,
            deterministic: false,
            save_folder: None,
        });
        let vm = Vm::new(engine, config);
        let mut game = Game { vm: vm.unwrap_or_else(|report| failed(module, &report)) };
        let module = Value::Text(module.to_string());
        game.core("boot", &[module]);
        game
    }

    /// Calls the game's function of that name, as a frame does.
    pub fn call(&mut self, name: &str) {
        self.core(name, &[]);
    }

    fn core(&mut self, name: &str, arguments: &[Value]) {
        if let Err(report) = self.vm.call_core(name, arguments, BUDGET) {
            failed(name, &report);
        }
    }
}

fn failed(what: &str, report: &Report) -> ! {
    panic!("{what}: {report}");
}
