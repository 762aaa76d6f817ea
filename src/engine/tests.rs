//! Set-up of unit tests: an engine without a window.

use super::{BuildMode, Engine, EngineConfig};
use engine_foundation::tasks::TaskPool;
use engine_resource::project::Project;
use engine_resource::settings::Settings;
use engine_resource::store::ResourceStore;
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of engines created so far: tests that run in parallel use different folders.
static CREATED: AtomicU32 = AtomicU32::new(0);

/// Returns an engine with one thread and without a window, with a game that does nothing.
pub fn engine() -> Engine {
    let number = CREATED.fetch_add(1, Ordering::Relaxed);
    let root = std::env::temp_dir().join(format!("engine-{}-unit-{number}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("main.lua"), "").unwrap();
    let mut engine = Engine::new(EngineConfig {
        project: Project::open(&root).unwrap(),
        settings: Settings::defaults(),
        store: ResourceStore::default(),
        build: BuildMode::Test,
        arguments: Vec::new(),
        seed: 0,
        deterministic: true,
        save_folder: None,
    });
    std::fs::remove_dir_all(&root).unwrap();
    engine.devices.tasks = TaskPool::new(Some(1));
    engine
}
