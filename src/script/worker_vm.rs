//! A worker's thread: a separate VM in which a module of the game runs. The channel to the game and
//! the timing are in src/system/workers/.

use super::debugger::WorkerDebugHub;
use super::interrupt::Interrupt;
use super::modules;
use super::report::ErrorReport;
use super::value::ScriptValue;
use super::vm::{Vm, VmConfig};
use engine_foundation::doing;
use engine_foundation::{Error, suggest};
use engine_platform as platform;
use engine_resource::project::{Project, ScriptError};
use engine_resource::settings::Settings;
use engine_resource::store::ResourceStore;
use engine_runtime::{BuildMode, Engine, EngineConfig};
use engine_workers::{ThreadControls, WorkerEnd, WorkerEndpoint, WorkerId, WorkerStart};
use std::sync::Arc;

/// Data from which a worker's VM is created: copies of the game's state.
struct WorkerOrigin {
    module: String,
    project: Project,
    settings: Settings,
    store: ResourceStore,
    build: BuildMode,
    arguments: Vec<String>,
    deterministic: bool,
    frame_index: u64,
    frame_delta: f64,
    frame_total: f64,
    seed: u64,
    seconds: f64,
    /// The tool that may debug the worker.
    debugging: Option<Arc<WorkerDebugHub>>,
}

/// Starts a worker that runs `module`. `seconds`: CPU time between two waits for messages.
pub fn start(
    engine: &mut Engine,
    module: String,
    data: Vec<u8>,
    seconds: Option<f64>,
    turn_frames: u64,
) -> Result<WorkerId, Error> {
    // Reported here, so that the error has the line of the call.
    modules::find(engine, &module).map_err(|why| no_script(&module, why))?;
    let origin = WorkerOrigin {
        module: module.clone(),
        project: engine.game.project.clone(),
        settings: engine.game.settings.clone(),
        store: engine.assets.store.clone(),
        build: engine.game.build,
        arguments: engine.game.arguments.clone(),
        deterministic: engine.game.deterministic,
        frame_index: engine.frame.index,
        frame_delta: engine.frame.delta,
        frame_total: engine.frame.total,
        seed: engine.devices.workers.started(),
        debugging: debug_hub(engine),
        seconds: seconds.unwrap_or_else(|| engine.game.settings.number("limits.worker_seconds")),
    };
    let order = WorkerStart { name: module, data, turn_frames };
    engine.devices.workers.start(order, move |inside| run(origin, inside))
}

/// Returns the hub through which a tool debugs the workers of a game, if there is one.
pub fn debug_hub(engine: &Engine) -> Option<Arc<WorkerDebugHub>> {
    engine.devices.workers.companion.clone().and_then(|it| it.downcast().ok())
}

fn no_script(module: &str, why: ScriptError) -> Error {
    match why {
        ScriptError::Unusable(message) => Error::new(message),
        ScriptError::Missing { tried, near } => {
            let hint = suggest::hint(module, near.iter().map(String::as_str));
            let tried = tried.join(", ");
            engine_foundation::error!("there is no module '{module}'{hint} (looked for {tried})")
        }
    }
}

/// Runs on the worker's own thread.
fn run(origin: WorkerOrigin, inside: WorkerEndpoint) -> WorkerEnd {
    if inside.is_cancelled() {
        return WorkerEnd::Done(Vec::new());
    }
    doing!("When running worker:", &origin.module);
    platform::lower_thread_priority();
    let memory_mib = origin.settings.number("limits.worker_memory_mib");
    let config = VmConfig {
        memory_limit: (memory_mib as usize) << 20,
        jit: origin.settings.boolean("lua.jit"),
        deterministic: origin.deterministic,
        worker: true,
        ..VmConfig::DEFAULT
    };
    let mut engine = Engine::new(EngineConfig {
        project: origin.project,
        settings: origin.settings,
        store: origin.store,
        build: origin.build,
        arguments: origin.arguments,
        seed: origin.seed,
        deterministic: origin.deterministic,
        save_folder: None,
    });
    engine.frame.index = origin.frame_index;
    engine.frame.delta = origin.frame_delta;
    engine.frame.total = origin.frame_total;
    engine.devices.workers.enter(inside.clone());
    let mut vm = match Vm::new(engine, config) {
        Ok(vm) => vm,
        Err(report) => return WorkerEnd::Failed(report.to_string()),
    };
    inside.set_controls(controls(vm.interrupt()));
    if let Some(hub) = origin.debugging {
        vm.join_debugger(hub, &origin.module);
    }
    let module = ScriptValue::Text(origin.module.clone());
    match vm.call_core("run_worker", &[module], origin.seconds) {
        Err(report) => return WorkerEnd::Failed(report.to_string()),
        Ok(ScriptValue::Text(message)) => {
            return WorkerEnd::Failed(ErrorReport::from_message(message).to_string());
        }
        Ok(_) => {}
    }
    let result = vm.engine().devices.workers.take_result();
    WorkerEnd::Done(result.expect("what ran without an error has left its result"))
}

fn controls(interrupt: Arc<Interrupt>) -> ThreadControls {
    let stopped = interrupt.clone();
    ThreadControls {
        stop: Box::new(move || stopped.cancel()),
        renew: Box::new(move || {
            interrupt.renew();
            interrupt.look_at_settings();
        }),
    }
}
