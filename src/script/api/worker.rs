//! `Worker`: long jobs beside the frames, in VMs of their own, and messages to and from them.

use crate::engine::Engine;
use crate::foundation::Error;
use crate::script::arg::{Arg, Text, Wrong};
use crate::script::cx::Cx;
use crate::script::pack::Packed;
use crate::script::ret::{Expected, Ret};
use crate::script::row::{Module, func, module};
use crate::script::types::{Shape, Type};
use crate::script::value::Value;
use crate::script::worker;
use crate::system::workers::{End, TURN_FRAMES_MAX, WorkerId};
use mlua::ffi::*;
use std::ffi::c_int;

const WORKER: (&str, &str) = ("worker", "a worker; inside one, `Worker.parent()`");

pub static MODULE: Module = module(
    "Worker",
    "Long jobs beside the frames: making a level, searching a way, reading much data. A worker \
     runs a module of the game in a Lua of its own, on a thread of its own. It shares nothing with \
     the game: plain data (booleans, numbers, strings, tables, vectors) goes to it and comes back.",
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
    &[
        func(
            "start",
            start,
            &[
                ("module", "the module's name, as for `require`; slashes will do for its dots"),
                ("data", "what the module's function gets"),
                (
                    "options",
                    "`seconds`: CPU time that it may use between two messages that it waits for \
                     (limits.worker_seconds); `frames`: in deterministic runs, how many frames \
                     each of its turns takes (1)",
                ),
            ],
            "Starts a worker. The module must return a function; what that returns is the \
             worker's result.",
        ),
        func(
            "send",
            send,
            &[WORKER, ("message", "plain data, but nil")],
            "Sends a copy of a message.",
        ),
        func(
            "receive",
            receive,
            &[WORKER],
            "The next message that has arrived, or nil. Messages arrive in their order.",
        )
        .when_full(),
        func(
            "wait",
            wait,
            &[WORKER],
            "Waits for the next message. Nil where none will come: the worker has ended, or waits \
             for a message itself.",
        )
        .when_full(),
        func(
            "status",
            status,
            &[("worker", "a worker")],
            "How a worker is: \"running\", \"done\" or \"failed\".",
        )
        .pure(),
        func(
            "progress",
            progress,
            &[("worker", "a worker")],
            "How far a worker said it is (`Worker.set_progress`), from 0 to 1.",
        )
        .pure(),
        func(
            "result",
            result,
            &[("worker", "a worker that is not running")],
            "What a worker's function returned; or nil and how it failed, with its stack. The \
             worker is gone after this, with the messages that were not received.",
        )
        .when_full(),
        func(
            "cancel",
            cancel,
            &[("worker", "a worker, running or not")],
            "Stops a worker at once, whatever it is doing. The worker is gone after this, with its \
             messages and its result.",
        )
        .when_full(),
        func(
            "parent",
            parent,
            &[],
            "Inside a worker: the game that started it, for `send`, `receive` and `wait`. Nil in \
             the game itself.",
        )
        .pure(),
        func(
            "set_progress",
            set_progress,
            &[("progress", "from 0 to 1")],
            "Inside a worker: says how far it is. In the game itself nobody asks.",
        ),
    ],
);

/// The options of `Worker.start`.
#[derive(Default)]
struct Options {
    seconds: Option<f64>,
    frames: Option<u64>,
}

/// The most CPU time that can be given.
const SECONDS_MAX: f64 = 86_400.0;

impl Arg for Options {
    const TYPE: Type = Type::new("table", Shape::Boxed);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Options, Wrong> {
        // SAFETY: as the caller promised.
        let entries = match unsafe { Value::read(l, i, cx) }? {
            Value::Table(entries) => entries,
            _ => return Err(Wrong::Type),
        };
        let mut options = Options::default();
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("seconds", Value::Number(seconds)) if (0.01..=SECONDS_MAX).contains(&seconds) => {
                    options.seconds = Some(seconds);
                }
                ("frames", Value::Number(frames))
                    if frames.fract() == 0.0
                        && (1.0..=TURN_FRAMES_MAX as f64).contains(&frames) =>
                {
                    options.frames = Some(frames as u64);
                }
                ("seconds", _) => {
                    let words = format!("option 'seconds' must be 0.01 to {SECONDS_MAX}");
                    return Err(Wrong::Words(words));
                }
                ("frames", _) => {
                    let most = TURN_FRAMES_MAX;
                    let words = format!("option 'frames' must be a whole number, 1 to {most}");
                    return Err(Wrong::Words(words));
                }
                _ => {
                    let hint = crate::foundation::suggest::hint(&key, ["seconds", "frames"]);
                    return Err(Wrong::Words(format!("has the unknown option '{key}'{hint}")));
                }
            }
        }
        Ok(options)
    }
}

/// A message, which nil is not.
struct Message(Packed);

impl Arg for Message {
    const TYPE: Type = Packed::TYPE;
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Message, Wrong> {
        // SAFETY: as the caller promised.
        let packed = unsafe { Packed::read(l, i, cx) }?;
        match packed.is_nil() {
            true => Err(Wrong::Words("must not be nil: that stands for no message".to_string())),
            false => Ok(Message(packed)),
        }
    }
}

/// A message that came, or nil.
struct Came(Option<Packed>);

impl Ret for Came {
    const TYPES: &'static [Type] = &[Packed::TYPES[0].or_nil()];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { self.0.unwrap_or_else(Packed::nil).push(l, cx) }
    }
}

/// What a worker came to: its result; or nil and the words of its failure.
struct Ended(End);

impl Ret for Ended {
    const TYPES: &'static [Type] =
        &[Packed::TYPES[0].or_nil(), Type::new("string", Shape::Text).or_nil()];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.0 {
                End::Done(result) => Packed(result).push(l, cx),
                End::Failed(words) => Expected::<bool>(Err(words)).push(l, cx),
            }
        }
    }
}

/// What a worker's function returned, or why that is no data. For the prelude.
pub struct Returned(Result<Packed, String>);

impl Arg for Returned {
    const TYPE: Type = Packed::TYPE;
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Returned, Wrong> {
        // SAFETY: as the caller promised.
        match unsafe { Packed::read(l, i, cx) } {
            Err(Wrong::Words(words)) => Ok(Returned(Err(words))),
            Err(wrong) => Err(wrong),
            Ok(packed) => Ok(Returned(Ok(packed))),
        }
    }
}

/// Keeps the result of the worker that this is: the words where it is no data.
pub fn finish(engine: &mut Engine, result: Returned) -> Value {
    match result.0 {
        Ok(packed) => engine.workers.set_result(packed.0),
        Err(words) => return Value::Text(words),
    }
    Value::Nil
}

fn start(
    engine: &mut Engine,
    module: Text,
    data: Option<Packed>,
    options: Option<Options>,
) -> Result<WorkerId, Error> {
    let module = module.as_str().replace('/', ".");
    let Options { seconds, frames } = options.unwrap_or_default();
    let data = data.unwrap_or_else(Packed::nil).0;
    worker::start(engine, module, data, seconds, frames.unwrap_or(1))
}

fn send(engine: &mut Engine, worker: WorkerId, message: Message) -> Result<(), Error> {
    engine.workers.send(worker, message.0.0).map_err(Error::new)
}

fn receive(engine: &mut Engine, worker: WorkerId) -> Result<Came, Error> {
    let came = engine.workers.receive(worker).map_err(Error::new)?;
    Ok(Came(came.map(Packed)))
}

fn wait(engine: &mut Engine, worker: WorkerId) -> Result<Came, Error> {
    let came = engine.workers.wait(worker).map_err(Error::new)?;
    Ok(Came(came.map(Packed)))
}

fn status(engine: &mut Engine, worker: WorkerId) -> Result<String, Error> {
    let status = engine.workers.status(worker).map_err(Error::new)?;
    Ok(status.name().to_string())
}

fn progress(engine: &mut Engine, worker: WorkerId) -> Result<f64, Error> {
    engine.workers.progress(worker).map_err(Error::new)
}

fn result(engine: &mut Engine, worker: WorkerId) -> Result<Ended, Error> {
    let end = engine.workers.result(worker, &crate::script::place()).map_err(Error::new)?;
    end.map(Ended).ok_or_else(|| {
        crate::error!("the worker is still running: ask Worker.status first, or Worker.cancel it")
    })
}

fn cancel(engine: &mut Engine, worker: WorkerId) -> Result<(), Error> {
    engine.workers.cancel(worker, &crate::script::place()).map_err(Error::new)
}

/// The game of a worker, or nil.
struct Parent(Option<WorkerId>);

impl Ret for Parent {
    const TYPES: &'static [Type] = &[WorkerId::TYPES[0].or_nil()];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.0 {
                Some(parent) => parent.push(l, cx),
                None => Value::Nil.push(l, cx),
            }
        }
    }
}

fn parent(engine: &mut Engine) -> Parent {
    Parent(engine.workers.parent())
}

fn set_progress(engine: &mut Engine, progress: f64) -> Result<(), Error> {
    if !(0.0..=1.0).contains(&progress) {
        return Err(crate::error!("argument #1 'progress' must be 0 to 1, got {progress}"));
    }
    engine.workers.set_progress(progress);
    Ok(())
}
