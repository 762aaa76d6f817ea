//! The Lua module `Worker`: long jobs that run in parallel to the frames, in separate VMs, and
//! messages to and from them.

use crate::api_row::{ModuleRows, func, hidden, module};
use crate::argument::{Argument, ArgumentError, TextArgument};
use crate::context::ScriptContext;
use crate::return_value::{ExpectedResult, ReturnValue};
use crate::serialize::SerializedValue;
use crate::types::{ApiType, ValueShape};
use crate::value::ScriptValue;
use crate::worker_vm;
use engine_foundation::Error;
use engine_platform as platform;
use engine_runtime::Engine;
use engine_workers::{TURN_FRAMES_MAX, WorkerEnd, WorkerId};
use mlua::ffi::*;
use std::ffi::c_int;

const WORKER: (&str, &str) = ("worker", "a worker; inside one, `Worker.parent()`");

pub static MODULE: ModuleRows = module(
    "Worker",
    "Long jobs in parallel to the frames: generating a level, searching for a path, reading large \
     data. A worker runs a module of the game in a separate Lua state on a separate thread. It \
     shares nothing with the game: plain data (booleans, numbers, strings, tables, vectors) is \
     copied to it and back.",
    r#"-- scripts/generate_level.lua would end in: return function(data) … return level end
local function begin(data)
  return Worker.start("scripts/generate_level", data)
end
local function look(worker)
  if Worker.status(worker) ~= "running" then
    return Worker.result(worker)
  end
end
assert(not pcall(begin, { seed = 7 }), "this game has no such module")"#,
    &hidden([
        func(
            "start",
            start,
            &[
                ("module", "the module's name, as for `require`; slashes can replace its dots"),
                ("data", "argument of the module's function"),
                (
                    "options",
                    "`seconds`: maximum CPU time between two messages that it waits for (default: \
                     `limits.worker_seconds`); `frames`: in deterministic runs, the number of \
                     frames that each of its turns takes (default: 1)",
                ),
            ],
            "Starts a worker. The module must return a function. The return value of this function \
             is the worker's result.",
        ),
        func(
            "send",
            send,
            &[WORKER, ("message", "plain data, not nil")],
            "Sends a copy of a message.",
        ),
        func(
            "receive",
            receive,
            &[WORKER],
            "Returns the next message that has arrived, or nil. Messages arrive in order.",
        )
        .when_full(),
        func(
            "wait",
            wait,
            &[WORKER],
            "Waits for the next message. Returns nil if none will come: the worker has ended, or \
             waits for a message itself.",
        )
        .when_full(),
        func(
            "status",
            status,
            &[("worker", "a worker")],
            "Returns the status of a worker: \"running\", \"done\" or \"failed\".",
        )
        .pure(),
        func(
            "progress",
            progress,
            &[("worker", "a worker")],
            "Returns the progress that a worker reported by `Worker.set_progress`, from 0 to 1.",
        )
        .pure(),
        func(
            "result",
            result,
            &[("worker", "a worker that is not running")],
            "Returns the result of a worker's function, or nil and the error with its stack. The \
             worker is then removed, with the messages that were not received.",
        )
        .returns(&["value that the function returned, or nil", "problem the error, with its stack"])
        .when_full(),
        func(
            "cancel",
            cancel,
            &[("worker", "a worker, running or not")],
            "Stops a worker at once. The worker is then removed, with its messages and its result.",
        )
        .when_full(),
        func(
            "parent",
            parent,
            &[],
            "Inside a worker, returns the game that started it, for `send`, `receive` and `wait`. \
             In the game itself, returns nil.",
        )
        .pure(),
        func(
            "set_progress",
            set_progress,
            &[("progress", "from 0 to 1")],
            "Inside a worker, reports its progress. In the game itself, this has no effect.",
        ),
    ]),
);

/// The options of `Worker.start`.
#[derive(Default)]
struct WorkerOptions {
    seconds: Option<f64>,
    frames: Option<u64>,
}

/// Maximum of the option `seconds`, in seconds of CPU time.
const SECONDS_MAX: f64 = 86_400.0;

impl Argument for WorkerOptions {
    const TYPE: ApiType = ApiType::new("table", ValueShape::Boxed);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<WorkerOptions, ArgumentError> {
        // SAFETY: as the caller promised.
        let entries = match unsafe { ScriptValue::read(l, i, cx) }? {
            ScriptValue::Table(entries) => entries,
            _ => return Err(ArgumentError::Type),
        };
        let mut options = WorkerOptions::default();
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("seconds", ScriptValue::Number(seconds))
                    if (0.01..=SECONDS_MAX).contains(&seconds) =>
                {
                    options.seconds = Some(seconds);
                }
                ("frames", ScriptValue::Number(frames))
                    if frames.fract() == 0.0
                        && (1.0..=TURN_FRAMES_MAX as f64).contains(&frames) =>
                {
                    options.frames = Some(frames as u64);
                }
                ("seconds", _) => {
                    let message = format!("option 'seconds' must be 0.01 to {SECONDS_MAX}");
                    return Err(ArgumentError::Message(message));
                }
                ("frames", _) => {
                    let most = TURN_FRAMES_MAX;
                    let message = format!("option 'frames' must be a whole number, 1 to {most}");
                    return Err(ArgumentError::Message(message));
                }
                _ => {
                    let hint = engine_foundation::suggest::hint(&key, ["seconds", "frames"]);
                    return Err(ArgumentError::Message(format!(
                        "has the unknown option '{key}'{hint}"
                    )));
                }
            }
        }
        Ok(options)
    }
}

/// A message, which must not be nil.
struct MessageArgument(SerializedValue);

impl Argument for MessageArgument {
    const TYPE: ApiType = SerializedValue::TYPE;
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<MessageArgument, ArgumentError> {
        // SAFETY: as the caller promised.
        let packed = unsafe { SerializedValue::read(l, i, cx) }?;
        match packed.is_nil() {
            true => {
                Err(ArgumentError::Message("must not be nil, which means no message".to_string()))
            }
            false => Ok(MessageArgument(packed)),
        }
    }
}

/// A received message, or nil.
struct ReceivedMessage(Option<SerializedValue>);

impl ReturnValue for ReceivedMessage {
    const TYPES: &'static [ApiType] = &[SerializedValue::TYPES[0].or_nil()];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { self.0.unwrap_or_else(SerializedValue::nil).push(l, cx) }
    }
}

/// The outcome of a worker: its result, or nil and the message of its failure.
struct WorkerResult(WorkerEnd);

impl ReturnValue for WorkerResult {
    const TYPES: &'static [ApiType] =
        &[SerializedValue::TYPES[0].or_nil(), ApiType::new("string", ValueShape::Text).or_nil()];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.0 {
                WorkerEnd::Done(result) => SerializedValue(result).push(l, cx),
                WorkerEnd::Failed(message) => ExpectedResult::<bool>(Err(message)).push(l, cx),
            }
        }
    }
}

/// The return value of a worker's function, or the reason why it is not data. For the prelude.
pub struct ReturnedData(Result<SerializedValue, String>);

impl Argument for ReturnedData {
    const TYPE: ApiType = SerializedValue::TYPE;
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<ReturnedData, ArgumentError> {
        // SAFETY: as the caller promised.
        match unsafe { SerializedValue::read(l, i, cx) } {
            Err(ArgumentError::Message(message)) => Ok(ReturnedData(Err(message))),
            Err(wrong) => Err(wrong),
            Ok(packed) => Ok(ReturnedData(Ok(packed))),
        }
    }
}

/// Stores the result of the calling worker. Returns an error message if the result is not data.
pub fn finish(engine: &mut Engine, result: ReturnedData) -> ScriptValue {
    match result.0 {
        Ok(packed) => engine.devices.workers.set_result(packed.0),
        Err(message) => return ScriptValue::Text(message),
    }
    ScriptValue::Nil
}

fn start(
    engine: &mut Engine,
    module: TextArgument,
    data: Option<SerializedValue>,
    options: Option<WorkerOptions>,
) -> Result<WorkerId, Error> {
    let module = module.as_str().replace('/', ".");
    let WorkerOptions { seconds, frames } = options.unwrap_or_default();
    let data = data.unwrap_or_else(SerializedValue::nil).0;
    worker_vm::start(engine, module, data, seconds, frames.unwrap_or(1))
}

fn send(engine: &mut Engine, worker: WorkerId, message: MessageArgument) -> Result<(), Error> {
    engine.devices.workers.send(worker, message.0.0).map_err(Error::new)
}

fn receive(engine: &mut Engine, worker: WorkerId) -> Result<ReceivedMessage, Error> {
    let came = engine.devices.workers.receive(worker).map_err(Error::new)?;
    Ok(ReceivedMessage(came.map(SerializedValue)))
}

fn wait(engine: &mut Engine, worker: WorkerId) -> Result<ReceivedMessage, Error> {
    let hub = worker_vm::debug_hub(engine);
    let is_stopped = || hub.as_ref().is_some_and(|hub| hub.is_worker_stopped());
    let view = engine.devices.worker_stop_view.clone();
    let mut was_shown = false;
    loop {
        let came = engine.devices.workers.wait(worker, &is_stopped).map_err(Error::new)?;
        let waits = came.is_none() && is_stopped() && platform::end_requested().is_none();
        let Some(view) = view.as_ref().filter(|_| waits || was_shown) else {
            return Ok(ReceivedMessage(came.map(SerializedValue)));
        };
        view(engine);
        if !waits {
            return Ok(ReceivedMessage(came.map(SerializedValue)));
        }
        was_shown = true;
    }
}

fn status(engine: &mut Engine, worker: WorkerId) -> Result<String, Error> {
    let status = engine.devices.workers.status(worker).map_err(Error::new)?;
    Ok(status.name().to_string())
}

fn progress(engine: &mut Engine, worker: WorkerId) -> Result<f64, Error> {
    engine.devices.workers.progress(worker).map_err(Error::new)
}

fn result(engine: &mut Engine, worker: WorkerId) -> Result<WorkerResult, Error> {
    let end =
        engine.devices.workers.result(worker, &crate::script_location()).map_err(Error::new)?;
    end.map(WorkerResult).ok_or_else(|| {
        engine_foundation::error!(
            "the worker is still running: call Worker.status first, or Worker.cancel it"
        )
    })
}

fn cancel(engine: &mut Engine, worker: WorkerId) -> Result<(), Error> {
    engine.devices.workers.cancel(worker, &crate::script_location()).map_err(Error::new)
}

/// The handle of a worker's parent, the game; nil in the game itself.
struct ParentWorker(Option<WorkerId>);

impl ReturnValue for ParentWorker {
    const TYPES: &'static [ApiType] = &[WorkerId::TYPES[0].or_nil()];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.0 {
                Some(parent) => parent.push(l, cx),
                None => ScriptValue::Nil.push(l, cx),
            }
        }
    }
}

fn parent(engine: &mut Engine) -> ParentWorker {
    ParentWorker(engine.devices.workers.parent())
}

fn set_progress(engine: &mut Engine, progress: f64) -> Result<(), Error> {
    if !(0.0..=1.0).contains(&progress) {
        return Err(engine_foundation::error!(
            "argument #1 'progress' must be 0 to 1, got {progress}"
        ));
    }
    engine.devices.workers.set_progress(progress);
    Ok(())
}
