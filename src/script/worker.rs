//! A worker's thread: a VM of its own, in which a module of the game's runs. What it shares with
//! the game, and how it keeps time, is the workers' own matter (src/system/workers/).

use super::interrupt::Interrupt;
use super::modules;
use super::report::Report;
use super::value::Value;
use super::vm::{Config, Vm};
use crate::doing;
use crate::engine::{Build, Engine, FrameTime, Start};
use crate::foundation::{Error, suggest};
use crate::resource::project::{NoScript, Project};
use crate::resource::settings::Settings;
use crate::resource::store::Store;
use crate::system::platform;
use crate::system::workers::{Controls, End, Inside, Order, WorkerId};
use std::sync::Arc;

/// What a worker's VM is made of: copies of what the game has.
struct Origin {
    module: String,
    project: Project,
    settings: Settings,
    store: Store,
    build: Build,
    arguments: Vec<String>,
    deterministic: bool,
    frame: FrameTime,
    seed: u64,
    seconds: f64,
}

/// Starts a worker that runs `module`. `seconds`: of CPU time, between two waits for messages.
pub fn start(
    engine: &mut Engine,
    module: String,
    data: Vec<u8>,
    seconds: Option<f64>,
    turn_frames: u64,
) -> Result<WorkerId, Error> {
    // Said here, where the line is that asks for it.
    modules::find(engine, &module).map_err(|why| no_script(&module, why))?;
    let origin = Origin {
        module: module.clone(),
        project: engine.project.clone(),
        settings: engine.settings.clone(),
        store: engine.store.clone(),
        build: engine.build,
        arguments: engine.arguments.clone(),
        deterministic: engine.deterministic,
        frame: engine.frame.clone(),
        seed: engine.workers.started(),
        seconds: seconds.unwrap_or_else(|| engine.settings.number("limits.worker_seconds")),
    };
    let order = Order { name: module, data, turn_frames };
    engine.workers.start(order, move |inside| run(origin, inside))
}

fn no_script(module: &str, why: NoScript) -> Error {
    match why {
        NoScript::Unusable(words) => Error::new(words),
        NoScript::Missing { tried, near } => {
            let hint = suggest::hint(module, near.iter().map(String::as_str));
            let tried = tried.join(", ");
            crate::error!("there is no module '{module}'{hint} (looked for {tried})")
        }
    }
}

/// Runs on the worker's own thread.
fn run(origin: Origin, inside: Inside) -> End {
    if inside.is_cancelled() {
        return End::Done(Vec::new());
    }
    doing!("When running worker:", &origin.module);
    platform::let_others_go_first();
    let memory_mib = origin.settings.number("limits.worker_memory_mib");
    let config = Config {
        memory_limit: (memory_mib as usize) << 20,
        jit: origin.settings.boolean("lua.jit"),
        deterministic: origin.deterministic,
        worker: true,
        ..Config::DEFAULT
    };
    let mut engine = Engine::new(Start {
        project: origin.project,
        settings: origin.settings,
        store: origin.store,
        build: origin.build,
        arguments: origin.arguments,
        seed: origin.seed,
        deterministic: origin.deterministic,
        save_folder: None,
    });
    engine.frame = origin.frame;
    engine.workers.enter(inside.clone());
    let mut vm = match Vm::new(engine, config) {
        Ok(vm) => vm,
        Err(report) => return End::Failed(report.to_string()),
    };
    inside.set_controls(controls(vm.interrupt()));
    let module = Value::Text(origin.module.clone());
    match vm.call_core("run_worker", &[module], origin.seconds) {
        Err(report) => return End::Failed(report.to_string()),
        Ok(Value::Text(words)) => return End::Failed(Report::of_words(words).to_string()),
        Ok(_) => {}
    }
    let result = vm.engine().workers.take_result();
    End::Done(result.expect("what ran without an error has left its result"))
}

fn controls(interrupt: Arc<Interrupt>) -> Controls {
    let stopped = interrupt.clone();
    Controls {
        stop: Box::new(move || stopped.cancel()),
        renew: Box::new(move || interrupt.renew()),
    }
}
