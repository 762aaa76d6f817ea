//! The Lua module `Save`: data that a game keeps between runs. Files, generations and the writer
//! thread are in resource/save; serialization of values is in script/serialize.rs.

use crate::api_row::{ModuleRows, func, module};
use crate::argument::{Argument, ArgumentError, Integer, TextArgument};
use crate::context::ScriptContext;
use crate::return_value::{ExpectedResult, ReturnValue};
use crate::serialize::{self, SerializedValue};
use crate::types::{ApiType, ValueShape};
use crate::value::ScriptValue;
use engine_foundation::Error;
use engine_resource::save::{
    ListedSave, LoadedSave, NewerVersions, RequestProgress, SaveResult, SaveSlot,
};
use engine_runtime::Engine;
use mlua::ffi::*;
use std::ffi::c_int;

const SLOT: (&str, &str) =
    ("slot", "the save's name: 1 to 64 letters, digits, spaces, _ - and .; case-sensitive");
const VALUE: (&str, &str) = ("value", "the value to save, anything but nil");
const WRITE_OPTIONS: (&str, &str) =
    ("options", "`newer = true`: also overwrite a save of a newer version of the game");
const READ_OPTIONS: (&str, &str) =
    ("options", "`newer = true`: also read a save of a newer version of the game");
const REQUEST: (&str, &str) = ("request", "result of `write_async` or `read_async`");

pub static SAVE: ModuleRows = module(
    "Save",
    "Values that a game keeps between runs, by name. Booleans, numbers, strings of any bytes, \
     tables, vectors, matrices, colours, ids and boxes are restored exactly. Functions, objects \
     with a metatable, handles and tables that contain themselves are refused with the path to the \
     value. A completed save survives, whenever the process ends. Three generations are kept, and \
     the newest valid one is read.",
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
            "Writes a save. Returns true when it is safely on the disk. Otherwise returns nil and \
             the reason, and the previous save is unchanged. A table that is reached twice is \
             written twice.",
        )
        .returns(&["ok true, or nil on failure", "reason why it failed"])
        .when_full(),
        func(
            "read",
            read,
            &[SLOT, READ_OPTIONS],
            "Reads a save. Returns the value, or nil and the reason. If the newest generation was \
             damaged and an earlier one was read, the third result says so.",
        )
        .returns(&[
            "value of the save, or nil",
            "reason why there is none",
            "repair says that an earlier generation was read",
        ])
        .pure(),
        func(
            "write_async",
            write_async,
            &[SLOT, VALUE, WRITE_OPTIONS],
            "Starts to write a save with the current value, and returns the number of the request. \
             Requests are processed in order, and all of them complete before the game ends.",
        ),
        func(
            "read_async",
            read_async,
            &[SLOT, READ_OPTIONS],
            "Starts to read a save, and returns the number of the request.",
        ),
        func(
            "status",
            status,
            &[REQUEST],
            "Returns the status of a request: \"busy\", \"done\" or \"failed\". In deterministic \
             runs it is busy in the frame in which it started, and never later.",
        )
        .pure(),
        func("progress", progress, &[REQUEST], "Returns the progress of a request, from 0 to 1.")
            .pure(),
        func(
            "result",
            result,
            &[REQUEST],
            "Returns the results of a request that is not busy, in the form of `Save.write` or \
             `Save.read`. The request is then forgotten.",
        )
        .returns(&[
            "value as of `Save.write` or `Save.read`",
            "reason why there is none",
            "repair says that an earlier generation was read",
        ])
        .when_full(),
        func(
            "list",
            list,
            &[],
            "Returns the existing saves, by name: tables with `slot`, `size` in bytes, `version` \
             of the game that wrote the save, and `time` as from `os.time`. If a save cannot be \
             read, `problem` is the reason, and version and time may be missing. Only the \
             beginnings of the files are read.",
        )
        .returns(&["saves by name, or nil", "reason why there are none"])
        .pure(),
        func(
            "exists",
            exists,
            &[SLOT],
            "Returns true if a save of that name exists, valid or not.",
        )
        .returns(&["exists or nil if it cannot be found out", "reason why not"])
        .pure(),
        func(
            "delete",
            delete,
            &[SLOT],
            "Deletes a save with all its generations. Returns true, or nil and the reason.",
        )
        .returns(&["ok true, or nil on failure", "reason why it failed"])
        .when_full(),
    ],
);

impl Argument for SaveSlot {
    const TYPE: ApiType = ApiType::new("string", ValueShape::Boxed);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<SaveSlot, ArgumentError> {
        // SAFETY: as the caller promised.
        let name = unsafe { TextArgument::read(l, i, cx) }?;
        SaveSlot::new(name.as_str()).map_err(ArgumentError::Message)
    }
}

/// A value to be saved, which must not be nil.
struct SavedValue(SerializedValue);

impl Argument for SavedValue {
    const TYPE: ApiType = SerializedValue::TYPE;
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<SavedValue, ArgumentError> {
        // SAFETY: as the caller promised.
        let packed = unsafe { SerializedValue::read(l, i, cx) }?;
        match packed.is_nil() {
            true => Err(ArgumentError::Message(
                "must not be nil: Save.delete removes a save".to_string(),
            )),
            false => Ok(SavedValue(packed)),
        }
    }
}

/// The options for reading and writing.
struct SaveOptions {
    version: NewerVersions,
}

impl SaveOptions {
    const DEFAULT: SaveOptions = SaveOptions { version: NewerVersions::NotNewer };
}

impl Argument for SaveOptions {
    const TYPE: ApiType = ApiType::new("table", ValueShape::Boxed);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<SaveOptions, ArgumentError> {
        // SAFETY: as the caller promised.
        let entries = match unsafe { ScriptValue::read(l, i, cx) }? {
            ScriptValue::Table(entries) => entries,
            _ => return Err(ArgumentError::Type),
        };
        let mut options = SaveOptions::DEFAULT;
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("newer", ScriptValue::Boolean(true)) => options.version = NewerVersions::Any,
                ("newer", ScriptValue::Boolean(false)) => options.version = NewerVersions::NotNewer,
                ("newer", _) => {
                    return Err(ArgumentError::Message(
                        "option 'newer' must be a boolean".to_string(),
                    ));
                }
                _ => {
                    let hint = engine_foundation::suggest::hint(&key, ["newer"]);
                    return Err(ArgumentError::Message(format!(
                        "has the unknown option '{key}'{hint}"
                    )));
                }
            }
        }
        Ok(options)
    }
}

/// The result of reading a save: the content and a note if it had to be recovered, or the reason of
/// the failure.
struct SaveReadResult(Result<LoadedSave, String>);

impl ReturnValue for SaveReadResult {
    const TYPES: &'static [ApiType] = &[
        SerializedValue::TYPES[0].or_nil(),
        ApiType::new("string", ValueShape::Text).or_nil(),
        ApiType::new("string", ValueShape::Text).or_nil(),
    ];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            let loaded = match self.0 {
                Ok(loaded) => loaded,
                Err(message) => return ExpectedResult::<bool>(Err(message)).push(l, cx),
            };
            let count = SerializedValue(loaded.content).push(l, cx)?;
            let Some(message) = loaded.recovered else { return Ok(count) };
            lua_pushnil(l);
            Ok(count + 1 + message.push(l, cx)?)
        }
    }
}

impl SaveReadResult {
    /// Converts an answer of the writer thread; a successful write becomes true.
    fn of_answer(answer: SaveResult) -> SaveReadResult {
        SaveReadResult(answer.map(|loaded| {
            loaded.unwrap_or_else(|| LoadedSave {
                content: serialize::TRUE.to_vec(),
                recovered: None,
            })
        }))
    }
}

/// A list of saves, an array in Lua.
struct SaveList(Vec<ListedSave>);

impl ReturnValue for SaveList {
    const TYPES: &'static [ApiType] = &[ApiType::new("table[]", ValueShape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        let table = |one: ListedSave| {
            let mut entries = vec![
                ("slot".to_string(), ScriptValue::Text(one.slot.name().to_string())),
                ("size".to_string(), ScriptValue::Number(one.size as f64)),
            ];
            if let Some((version, time)) = one.head {
                entries.push(("version".to_string(), ScriptValue::Text(version)));
                entries.push(("time".to_string(), ScriptValue::Number(time.floor())));
            }
            entries.extend(
                one.problem.map(|message| ("problem".to_string(), ScriptValue::Text(message))),
            );
            ScriptValue::Table(entries)
        };
        // SAFETY: as the caller promised.
        unsafe { ScriptValue::List(self.0.into_iter().map(table).collect()).push(l, cx) }
    }
}

fn version(options: Option<SaveOptions>) -> NewerVersions {
    options.unwrap_or(SaveOptions::DEFAULT).version
}

fn write(
    engine: &mut Engine,
    slot: SaveSlot,
    value: SavedValue,
    options: Option<SaveOptions>,
) -> ExpectedResult<bool> {
    let time = engine.frame.clock(&engine.game);
    let written = engine.game.saves.write(&slot, &value.0.0, time, version(options));
    ExpectedResult(written.map(|()| true))
}

fn read(engine: &mut Engine, slot: SaveSlot, options: Option<SaveOptions>) -> SaveReadResult {
    SaveReadResult(engine.game.saves.read(&slot, version(options), serialize::check_save))
}

/// Returns the frame in which an operation that begins now completes. In deterministic runs this is
/// the next frame; otherwise it is not fixed.
fn ready_frame(engine: &Engine) -> Option<u64> {
    engine.game.deterministic.then_some(engine.frame.index + 1)
}

fn write_async(
    engine: &mut Engine,
    slot: SaveSlot,
    value: SavedValue,
    options: Option<SaveOptions>,
) -> Result<u64, Error> {
    let (time, ready) = (engine.frame.clock(&engine.game), ready_frame(engine));
    let begun = engine.game.saves.begin_write(slot, value.0.0, time, version(options), ready);
    begun.map_err(Error::new)
}

fn read_async(
    engine: &mut Engine,
    slot: SaveSlot,
    options: Option<SaveOptions>,
) -> Result<u64, Error> {
    let ready = ready_frame(engine);
    engine
        .game
        .saves
        .begin_read(slot, version(options), serialize::check_save, ready)
        .map_err(Error::new)
}

fn poll(engine: &mut Engine, request: Integer) -> Result<(u64, RequestProgress), Error> {
    let number = u64::try_from(request.0).unwrap_or(0);
    let busy = engine.game.saves.poll(number, engine.frame.index).ok_or_else(|| {
        engine_foundation::error!(
            "argument #1 'request': there is no request {}: its result was already read, or it \
             never existed",
            request.0
        )
    })?;
    Ok((number, busy))
}

fn status(engine: &mut Engine, request: Integer) -> Result<String, Error> {
    let status = match poll(engine, request)?.1 {
        RequestProgress::Yes(_) => "busy",
        RequestProgress::Done(true) => "done",
        RequestProgress::Done(false) => "failed",
    };
    Ok(status.to_string())
}

fn progress(engine: &mut Engine, request: Integer) -> Result<f64, Error> {
    Ok(match poll(engine, request)?.1 {
        RequestProgress::Yes(part) => part,
        RequestProgress::Done(_) => 1.0,
    })
}

fn result(engine: &mut Engine, request: Integer) -> Result<SaveReadResult, Error> {
    let (number, busy) = poll(engine, request)?;
    if matches!(busy, RequestProgress::Yes(_)) {
        return Err(engine_foundation::error!(
            "argument #1 'request': request {number} is still busy: call Save.status first"
        ));
    }
    let answer = engine.game.saves.take(number);
    Ok(SaveReadResult::of_answer(answer.expect("a request that is done has an answer")))
}

fn list(engine: &mut Engine) -> ExpectedResult<SaveList> {
    ExpectedResult(engine.game.saves.list().map(SaveList))
}

fn exists(engine: &mut Engine, slot: SaveSlot) -> ExpectedResult<bool> {
    ExpectedResult(engine.game.saves.exists(&slot))
}

fn delete(engine: &mut Engine, slot: SaveSlot) -> ExpectedResult<bool> {
    ExpectedResult(engine.game.saves.delete(&slot).map(|()| true))
}
