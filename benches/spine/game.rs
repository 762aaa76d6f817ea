//! A game of benches/lua in the engine's own VM.

use engine::engine::{BuildMode, Engine, EngineConfig};
use engine::resource::project::Project;
use engine::resource::settings::Settings;
use engine::resource::store::ResourceStore;
use engine::script::{ErrorReport, ScriptValue, Vm, VmConfig};
use std::path::Path;

/// Time limit in seconds of CPU time, more than any workload needs.
const BUDGET: f64 = 600.0;

/// A booted VM with a loaded module.
pub struct Game {
    pub vm: Vm,
}

impl Game {
    /// Loads `module` with the game's arguments. None of its functions is called yet.
    pub fn open(module: &str, arguments: &[&str], jit: bool) -> Game {
        Game::open_with(module, arguments, VmConfig { jit, ..VmConfig::DEFAULT })
    }

    /// Loads `module` in a VM with another configuration.
    pub fn open_with(module: &str, arguments: &[&str], config: VmConfig) -> Game {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/lua");
        let engine = Engine::new(EngineConfig {
            project: Project::open(&folder).expect("benches/lua is there"),
            settings: Settings::defaults(),
            store: ResourceStore::default(),
            build: BuildMode::Development,
            arguments: arguments.iter().map(|word| word.to_string()).collect(),
            seed: 1,
            deterministic: false,
            save_folder: None,
        });
        let vm = Vm::new(engine, config);
        let mut game = Game { vm: vm.unwrap_or_else(|report| failed(module, &report)) };
        let module = ScriptValue::Text(module.to_string());
        game.core("boot", &[module]);
        game
    }

    /// Calls the game's function of that name, as a frame does.
    pub fn call(&mut self, name: &str) {
        self.core(name, &[]);
    }

    fn core(&mut self, name: &str, arguments: &[ScriptValue]) {
        if let Err(report) = self.vm.call_core(name, arguments, BUDGET) {
            failed(name, &report);
        }
    }
}

fn failed(action: &str, report: &ErrorReport) -> ! {
    panic!("{action}: {report}");
}
