//! `Save`: what a game keeps from run to run. Files, generations and the thread are
//! resource/save; how a value becomes bytes is script/pack.rs.

use crate::engine::Engine;
use crate::foundation::Error;
use crate::resource::save::{Answer, Busy, Listed, Loaded, Slot, Version};
use crate::script::arg::{Arg, Integer, Text, Wrong};
use crate::script::cx::Cx;
use crate::script::pack::{self, Packed};
use crate::script::ret::{Expected, Ret};
use crate::script::row::{Module, func, module};
use crate::script::types::{Shape, Type};
use crate::script::value::Value;
use mlua::ffi::*;
use std::ffi::c_int;

const SLOT: (&str, &str) =
    ("slot", "the save's name: 1 to 64 letters, digits, spaces, _ - and .; capitals count");
const VALUE: (&str, &str) = ("value", "what to save, anything but nil");
const WRITE_OPTIONS: (&str, &str) =
    ("options", "`newer = true`: write also over a save of a newer version of the game");
const READ_OPTIONS: (&str, &str) =
    ("options", "`newer = true`: read also a save of a newer version of the game");
const REQUEST: (&str, &str) = ("request", "what write_async or read_async gave");

pub static SAVE: Module = module(
    "Save",
    "What a game keeps from run to run, by name. Booleans, numbers, strings of any bytes, tables, \
     vectors, matrices, colours, ids and boxes come back as they were; functions, objects with a \
     metatable, handles and tables that lead back to themselves are refused by name. What was said \
     to be saved is there, whenever the process ends; three generations are kept, and the newest \
     good one is read.",
    r#"assert(Save.write("slot 1", { level = 3, position = Vector3(1, 2, 0) }))
local game, problem = Save.read("slot 1")
assert(game and game.level == 3, problem)
for _, save in ipairs(Save.list()) do
  print(save.slot, save.size, save.version, os.date("%c", save.time))
end
assert(Save.delete("slot 1"))"#,
    &[
        func(
            "write",
            write,
            &[SLOT, VALUE, WRITE_OPTIONS],
            "Writes a save. Gives true when it is on the disk for good, or nil and why it could \
             not be written; then the one before is as it was. A table that is reached twice is \
             written twice.",
        )
        .when_full(),
        func(
            "read",
            read,
            &[SLOT, READ_OPTIONS],
            "Reads a save. Gives the value, or nil and why there is none. Where the newest was \
             damaged and one kept before it had to be taken, the third result says so.",
        )
        .pure(),
        func(
            "write_async",
            write_async,
            &[SLOT, VALUE, WRITE_OPTIONS],
            "Begins to write a save, as it is now, and gives the number of the request. Requests \
             are done in their order, all of them before the game ends.",
        ),
        func(
            "read_async",
            read_async,
            &[SLOT, READ_OPTIONS],
            "Begins to read a save, and gives the number of the request.",
        ),
        func(
            "status",
            status,
            &[REQUEST],
            "How a request is: \"busy\", \"done\" or \"failed\". In deterministic runs it is busy \
             in the frame that began it, and never later.",
        )
        .pure(),
        func("progress", progress, &[REQUEST], "How far a request is, from 0 to 1.").pure(),
        func(
            "result",
            result,
            &[REQUEST],
            "What came of a request, once it is not busy: as `Save.write` and `Save.read` have it. \
             The request is forgotten by this.",
        )
        .when_full(),
        func(
            "list",
            list,
            &[],
            "The saves that are there, by name: tables with `slot`, `size` in bytes, `version` of \
             the game that wrote it, and `time` as from `os.time`. Where one cannot be read, \
             `problem` says why, and version and time may be missing. Only the beginnings of the \
             files are looked at.",
        )
        .pure(),
        func("exists", exists, &[SLOT], "Whether there is a save of that name, good or not.")
            .pure(),
        func(
            "delete",
            delete,
            &[SLOT],
            "Removes a save with all its generations. Gives true, or nil and why not.",
        )
        .when_full(),
    ],
);

impl Arg for Slot {
    const TYPE: Type = Type::new("string", Shape::Boxed);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Slot, Wrong> {
        // SAFETY: as the caller promised.
        let name = unsafe { Text::read(l, i, cx) }?;
        Slot::new(name.as_str()).map_err(Wrong::Words)
    }
}

/// A value to be saved, which nil is not.
struct Content(Packed);

impl Arg for Content {
    const TYPE: Type = Packed::TYPE;
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Content, Wrong> {
        // SAFETY: as the caller promised.
        let packed = unsafe { Packed::read(l, i, cx) }?;
        match packed.is_nil() {
            true => Err(Wrong::Words("must not be nil: Save.delete removes a save".to_string())),
            false => Ok(Content(packed)),
        }
    }
}

/// The options of reading and writing.
struct Options {
    version: Version,
}

impl Options {
    const DEFAULT: Options = Options { version: Version::NotNewer };
}

impl Arg for Options {
    const TYPE: Type = Type::new("table", Shape::Boxed);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Options, Wrong> {
        // SAFETY: as the caller promised.
        let entries = match unsafe { Value::read(l, i, cx) }? {
            Value::Table(entries) => entries,
            _ => return Err(Wrong::Type),
        };
        let mut options = Options::DEFAULT;
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("newer", Value::Boolean(true)) => options.version = Version::Any,
                ("newer", Value::Boolean(false)) => options.version = Version::NotNewer,
                ("newer", _) => {
                    return Err(Wrong::Words("option 'newer' must be a boolean".to_string()));
                }
                _ => {
                    let hint = crate::foundation::suggest::hint(&key, ["newer"]);
                    return Err(Wrong::Words(format!("has the unknown option '{key}'{hint}")));
                }
            }
        }
        Ok(options)
    }
}

/// What was read, or why not, and how it had to be recovered.
struct Read(Result<Loaded, String>);

impl Ret for Read {
    const TYPES: &'static [Type] = &[
        Packed::TYPES[0].or_nil(),
        Type::new("string", Shape::Text).or_nil(),
        Type::new("string", Shape::Text).or_nil(),
    ];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            let loaded = match self.0 {
                Ok(loaded) => loaded,
                Err(words) => return Expected::<bool>(Err(words)).push(l, cx),
            };
            let count = Packed(loaded.content).push(l, cx)?;
            let Some(words) = loaded.recovered else { return Ok(count) };
            lua_pushnil(l);
            Ok(count + 1 + words.push(l, cx)?)
        }
    }
}

impl Read {
    /// For a write, true.
    fn of_answer(answer: Answer) -> Read {
        Read(answer.map(|loaded| {
            loaded.unwrap_or_else(|| Loaded { content: pack::TRUE.to_vec(), recovered: None })
        }))
    }
}

/// The list of saves, an array in Lua.
struct List(Vec<Listed>);

impl Ret for List {
    const TYPES: &'static [Type] = &[Type::new("table[]", Shape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        let table = |one: Listed| {
            let mut entries = vec![
                ("slot".to_string(), Value::Text(one.slot.name().to_string())),
                ("size".to_string(), Value::Number(one.size as f64)),
            ];
            if let Some((version, time)) = one.head {
                entries.push(("version".to_string(), Value::Text(version)));
                entries.push(("time".to_string(), Value::Number(time.floor())));
            }
            entries.extend(one.problem.map(|words| ("problem".to_string(), Value::Text(words))));
            Value::Table(entries)
        };
        // SAFETY: as the caller promised.
        unsafe { Value::List(self.0.into_iter().map(table).collect()).push(l, cx) }
    }
}

fn version(options: Option<Options>) -> Version {
    options.unwrap_or(Options::DEFAULT).version
}

fn write(
    engine: &mut Engine,
    slot: Slot,
    value: Content,
    options: Option<Options>,
) -> Expected<bool> {
    let time = engine.clock();
    let written = engine.saves.write(&slot, &value.0.0, time, version(options));
    Expected(written.map(|()| true))
}

fn read(engine: &mut Engine, slot: Slot, options: Option<Options>) -> Read {
    Read(engine.saves.read(&slot, version(options), pack::check_save))
}

/// The frame in which what is begun now is done: where runs must be equal, the next one.
fn ready_frame(engine: &Engine) -> Option<u64> {
    engine.deterministic.then_some(engine.frame.index + 1)
}

fn write_async(
    engine: &mut Engine,
    slot: Slot,
    value: Content,
    options: Option<Options>,
) -> Result<u64, Error> {
    let (time, ready) = (engine.clock(), ready_frame(engine));
    let begun = engine.saves.begin_write(slot, value.0.0, time, version(options), ready);
    begun.map_err(Error::new)
}

fn read_async(engine: &mut Engine, slot: Slot, options: Option<Options>) -> Result<u64, Error> {
    let ready = ready_frame(engine);
    engine.saves.begin_read(slot, version(options), pack::check_save, ready).map_err(Error::new)
}

fn poll(engine: &mut Engine, request: Integer) -> Result<(u64, Busy), Error> {
    let number = u64::try_from(request.0).unwrap_or(0);
    let busy = engine.saves.poll(number, engine.frame.index).ok_or_else(|| {
        crate::error!(
            "argument #1 'request': there is no request {}: its result was asked for already, or \
             it never was one",
            request.0
        )
    })?;
    Ok((number, busy))
}

fn status(engine: &mut Engine, request: Integer) -> Result<String, Error> {
    let status = match poll(engine, request)?.1 {
        Busy::Yes(_) => "busy",
        Busy::Done(true) => "done",
        Busy::Done(false) => "failed",
    };
    Ok(status.to_string())
}

fn progress(engine: &mut Engine, request: Integer) -> Result<f64, Error> {
    Ok(match poll(engine, request)?.1 {
        Busy::Yes(part) => part,
        Busy::Done(_) => 1.0,
    })
}

fn result(engine: &mut Engine, request: Integer) -> Result<Read, Error> {
    let (number, busy) = poll(engine, request)?;
    if matches!(busy, Busy::Yes(_)) {
        return Err(crate::error!(
            "argument #1 'request': request {number} is still busy: ask Save.status first"
        ));
    }
    let answer = engine.saves.take(number);
    Ok(Read::of_answer(answer.expect("a request that is done has an answer")))
}

fn list(engine: &mut Engine) -> Expected<List> {
    Expected(engine.saves.list().map(List))
}

fn exists(engine: &mut Engine, slot: Slot) -> Expected<bool> {
    Expected(engine.saves.exists(&slot))
}

fn delete(engine: &mut Engine, slot: Slot) -> Expected<bool> {
    Expected(engine.saves.delete(&slot).map(|()| true))
}
