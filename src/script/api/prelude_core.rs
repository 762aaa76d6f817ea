//! The native functions of the prelude, in its `core` table. Games never call them, so they do not
//! validate their arguments for users; their error messages are for the prelude's authors.

use crate::api_row::{ModuleRows, func, module};
use crate::argument::{ByteArgument, Integer, TextArgument};
use crate::bundle_chunk::BundleChunk;
use crate::callbacks::CALLBACKS;
use crate::context::{REFUSED_WHILE_RELOADING, ScriptContext};
use crate::docgen::standard_library;
use crate::modules;
use crate::pattern::{self, Capture, PatternError};
use crate::return_value::{ExpectedResult, ReturnValue};
use crate::source_scanner;
use crate::types::{ApiType, ValueShape};
use crate::value::ScriptValue;
use engine_foundation::atomic_file::{self, disk};
use engine_foundation::file_access::{self, readers};
use engine_foundation::{Error, hash, log, sjson, suggest};
use engine_resource::project::ScriptError;
use engine_runtime::{Engine, FrameRetention, RestartOnSave, USER_SETTINGS};
use mlua::ffi::*;
use std::ffi::c_int;
use std::io::ErrorKind;
use std::path::PathBuf;

pub static CORE: ModuleRows = module(
    "core",
    "Native functions of the engine, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "location",
            script_location,
            &[],
            "Returns the innermost line of the game's own code, such as main.lua:12.",
        )
        .pure(),
        func(
            "nearest",
            nearest,
            &[("word", ""), ("names", "")],
            "Returns the most similar name, or nil.",
        )
        .pure(),
        func(
            "absent",
            absent,
            &[("name", "")],
            "Returns why games lack one of Lua's libraries, or nil.",
        )
        .pure(),
        func(
            "callback_names",
            callback_names,
            &[],
            "Returns the names of the functions of a game that the engine calls.",
        )
        .pure(),
        func(
            "no_reload_message",
            no_reload_message,
            &[],
            "Returns the message for calls that are refused while reloading.",
        )
        .pure(),
        func(
            "read_script",
            read_script,
            &[("module", "")],
            "Returns the text and the chunk name of a module.",
        )
        .pure(),
        func(
            "scripts_in",
            scripts_in,
            &[("folder", "")],
            "Returns the names of the scripts below a folder, sorted; in a bundle, too.",
        )
        .pure(),
        func(
            "load_script",
            load_script,
            &[("module", "")],
            "Returns the chunk of a module's script in a bundle, and its path; nothing if there is \
             none.",
        )
        .pure(),
        func(
            "outline",
            script_outline,
            &[("text", "")],
            "Returns the data of a script for hot reload: its text with `capture` calls, what it \
             writes to.",
        )
        .pure(),
        func(
            "scripts_can_change",
            scripts_can_change,
            &[],
            "Returns true if a script may be reloaded: not in a bundle whose scripts have no \
             variants.",
        )
        .pure(),
        func("log", write_log, &[("level", ""), ("text", "")], "Writes a line to the log.").pure(),
        func("warn", warn, &[("text", "")], "Logs a warning, once for each location.").pure(),
        func(
            "init_changed",
            init_changed,
            &[("location", ""), ("is_new", "")],
            "Reports a reloaded `init`, or restarts the game because of it.",
        ),
        func(
            "has_captured_errors",
            has_captured_errors,
            &[],
            "Returns true if errors were logged while a test ran.",
        )
        .pure(),
        func(
            "keep_frames",
            keep_frames,
            &[("packets", "")],
            "Keeps the output of frames for tests, including packets if set.",
        )
        .pure(),
        func(
            "take_errors",
            take_errors,
            &[],
            "Returns the errors that were logged while a test ran.",
        )
        .pure(),
        func(
            "match",
            find,
            &[("subject", ""), ("pattern", ""), ("init", ""), ("budget", "")],
            "Returns first and last position, and captures; nil; or false and the error.",
        )
        .pure(),
        func(
            "match_limit",
            match_limit,
            &[("pattern", ""), ("steps", "")],
            "Returns the maximum length of a subject for LuaJIT's own matcher.",
        )
        .pure(),
        func(
            "find_plain",
            find_plain,
            &[("subject", ""), ("needle", ""), ("init", "")],
            "Returns the position of a literal string, or nil.",
        )
        .pure(),
        func(
            "clock",
            clock,
            &[],
            "Returns the seconds since 1970: of the system's clock, or of the game's if \
             deterministic.",
        )
        .pure(),
        func(
            "load_user_settings",
            load_user_settings,
            &[],
            "Returns the saved settings, or nil and the reason.",
        )
        .pure(),
        func(
            "save_user_settings",
            save_user_settings,
            &[("tree", ""), ("set_aside", "")],
            "Saves the settings durably. Can first keep the existing file under another name.",
        )
        .when_full(),
        func(
            "set_collection",
            set_collection,
            &[("milliseconds", ""), ("ceiling", "")],
            "Sets the limits of the garbage collector.",
        ),
        func("hash32", hash32, &[("text", "")], "Returns the MurmurHash2 of a name, seed 0.")
            .pure(),
        func(
            "hash64",
            hash64,
            &[("text", "")],
            "Returns the MurmurHash64A of a name: the high and the low half.",
        )
        .pure(),
        func(
            "finish_worker",
            crate::api::worker::finish,
            &[("result", "")],
            "Stores the result of a worker, or the message if it is not data.",
        ),
        func("has_main_world", has_main_world, &[], "Returns true if the main world exists.")
            .pure(),
    ],
);

fn script_location(_: &mut Engine) -> String {
    crate::script_location()
}

fn nearest(_: &mut Engine, word: TextArgument, names: ScriptValue) -> ScriptValue {
    let ScriptValue::List(names) = names else { return ScriptValue::Nil };
    let names = names.iter().filter_map(|name| match name {
        ScriptValue::Text(name) => Some(name.as_str()),
        _ => None,
    });
    suggest::nearest(word.as_str(), names)
        .map_or(ScriptValue::Nil, |name| ScriptValue::Text(name.to_string()))
}

fn absent(_: &mut Engine, name: TextArgument) -> ScriptValue {
    standard_library::absence(name.as_str()).map_or(ScriptValue::Nil, text)
}

fn callback_names(_: &mut Engine) -> ScriptValue {
    ScriptValue::List(CALLBACKS.iter().map(|callback| text(callback.name)).collect())
}

fn no_reload_message(_: &mut Engine) -> String {
    REFUSED_WHILE_RELOADING.to_string()
}

fn text(text: impl Into<String>) -> ScriptValue {
    ScriptValue::Text(text.into())
}

fn read_script(engine: &mut Engine, module: TextArgument) -> ScriptValue {
    let module = module.as_str();
    let table = |entries: Vec<(&str, ScriptValue)>| {
        ScriptValue::Table(
            entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect(),
        )
    };
    match modules::find(engine, module) {
        Ok(script) => table(vec![("chunk", text(script.chunk)), ("text", text(script.text))]),
        Err(ScriptError::Unusable(message)) => table(vec![("problem", text(message))]),
        Err(ScriptError::Missing { tried, near }) => {
            let hint = suggest::hint(module, near.iter().map(String::as_str));
            let tried = tried.join(", ");
            let message = match engine.game.project.variant_name_message(module) {
                Some(why) => format!("there is no module '{module}': {why}"),
                None => format!("there is no module '{module}'{hint} (looked for {tried})"),
            };
            table(vec![("missing", text(message))])
        }
    }
}

fn scripts_in(engine: &mut Engine, folder: TextArgument) -> Vec<String> {
    modules::scripts_in(engine, folder.as_str())
}

fn load_script(engine: &mut Engine, module: TextArgument) -> BundleChunk {
    let found = modules::find_in_bundle(engine, module.as_str());
    // Reports leave out chunks with this name. The usual loader refuses it.
    BundleChunk(found.filter(|(path, _)| !path.starts_with("[engine]")))
}

/// The expression that passes top-level locals to the recorder: a field of the strings' metatable.
/// It uses no name of the game and no argument of the chunk.
const CAPTURE: &str = r#"("")["\27capture"]"#;

fn script_outline(_: &mut Engine, script: TextArgument) -> ScriptValue {
    let script = script.as_str();
    let Some(outline) = source_scanner::outline(script) else { return ScriptValue::Nil };
    let list = |names: &[String]| ScriptValue::List(names.iter().map(text).collect());
    let written = outline.foreign().into_iter().map(|(module, path)| {
        let module = module.map_or(ScriptValue::Nil, text);
        ScriptValue::Table(vec![("module".to_string(), module), ("path".to_string(), list(&path))])
    });
    let written = ScriptValue::List(written.collect());
    let instrumented =
        source_scanner::instrument(script, &outline, CAPTURE).map_or(ScriptValue::Nil, text);
    let calls =
        outline.call_roots().into_iter().map(|root| root.map_or(ScriptValue::Boolean(false), text));
    let calls = ScriptValue::List(calls.collect());
    let dynamic = ScriptValue::Boolean(outline.dynamic);
    let fields =
        [("text", instrumented), ("written", written), ("calls", calls), ("dynamic", dynamic)];
    ScriptValue::Table(fields.map(|(name, value)| (name.to_string(), value)).to_vec())
}

fn scripts_can_change(engine: &mut Engine) -> bool {
    engine.assets.store.scripts_can_change()
}

fn write_log(_: &mut Engine, level: TextArgument, message: ByteArgument) {
    let level = match level.as_str() {
        "error" => log::LogLevel::Error,
        "warning" => log::LogLevel::Warning,
        _ => log::LogLevel::Info,
    };
    log::write(level, &String::from_utf8_lossy(message.as_slice()));
}

/// Restarts the game because a reload changed `init`, or added it, if the run asks for that.
/// Otherwise warns that it is not called before the next start.
fn init_changed(engine: &mut Engine, location: TextArgument, is_new: bool) {
    let location = location.as_str();
    if engine.game.restart_on_save == RestartOnSave::Init {
        log::info(&format!("{location}: `init` was saved: the game restarts"));
        engine.frame.restart = true;
        return;
    }
    if engine.game.restart_on_save == RestartOnSave::Any {
        // The game restarts in any case.
        return;
    }
    let restart = match engine.game.restart_key_label() {
        Some(key) if engine.devices.window.is_open => format!("{key} restarts the game"),
        _ => "Application.restart() restarts the game".to_string(),
    };
    log::warning(&match is_new {
        true => format!(
            "{location}: `init` is new, and the game has started without it: it is called at the \
             next start ({restart}; on_reload can do it now)"
        ),
        false => format!(
            "{location}: `init` has run already, and is not called again by a reload: what was \
             changed in it acts at the next start ({restart}; on_reload can do it now)"
        ),
    });
}

fn has_captured_errors(_: &mut Engine) -> bool {
    log::has_captured_errors()
}

fn keep_frames(engine: &mut Engine, packets: bool) {
    engine.drawing.keep_frames(if packets {
        FrameRetention::Packets
    } else {
        FrameRetention::Text
    });
}

fn take_errors(_: &mut Engine) -> ScriptValue {
    ScriptValue::List(log::take_errors().into_iter().map(ScriptValue::Text).collect())
}

fn warn(_: &mut Engine, message: TextArgument) {
    let location = crate::script_location();
    log::warn(if location.is_empty() { "engine" } else { &location }, message.as_str());
}

/// The result of a pattern search in a subject.
enum PatternMatch {
    Nothing,
    /// Positions from 1, then captures.
    Match(f64, f64, Vec<PatternValue>),
    /// The error message, or `None` if the step budget is used up.
    Fault(Option<String>),
}

enum PatternValue {
    Text(ByteArgument, usize, usize),
    Position(f64),
}

impl ReturnValue for PatternMatch {
    const TYPES: &'static [ApiType] =
        &[ApiType { rest: true, ..ApiType::new("any", ValueShape::Boxed) }];
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: the subject stays on the stack during the call; room for 32 captures is made.
        unsafe {
            if lua_checkstack(l, 40) == 0 {
                return Err("the Lua stack is full".into());
            }
            match self {
                PatternMatch::Nothing => lua_pushnil(l),
                PatternMatch::Match(first, last, pieces) => {
                    lua_pushnumber(l, first);
                    lua_pushnumber(l, last);
                    for piece in &pieces {
                        match piece {
                            PatternValue::Position(at) => lua_pushnumber(l, *at),
                            PatternValue::Text(subject, start, end) => {
                                let bytes = &subject.as_slice()[*start..*end];
                                lua_pushlstring(l, bytes.as_ptr().cast(), bytes.len());
                            }
                        }
                    }
                    return Ok(2 + pieces.len() as c_int);
                }
                PatternMatch::Fault(message) => {
                    lua_pushboolean(l, 0);
                    match message {
                        Some(message) => {
                            lua_pushlstring(l, message.as_ptr().cast(), message.len());
                        }
                        None => lua_pushnil(l),
                    }
                    return Ok(2);
                }
            }
        }
        Ok(1)
    }
}

fn find(
    _: &mut Engine,
    subject: ByteArgument,
    pattern: ByteArgument,
    init: Integer,
    budget: f64,
) -> PatternMatch {
    let mut budget = budget as u64;
    let init = (init.0.max(1) - 1) as usize;
    match pattern::find(subject.as_slice(), pattern.as_slice(), init, &mut budget) {
        Ok(None) => PatternMatch::Nothing,
        Ok(Some(found)) => {
            let piece = |capture: &Capture| match capture {
                Capture::Span { start, end } => PatternValue::Text(subject, *start, *end),
                Capture::Position(at) => PatternValue::Position((at + 1) as f64),
            };
            let pieces = found.captures().iter().map(piece).collect();
            PatternMatch::Match((found.start + 1) as f64, found.end as f64, pieces)
        }
        Err(PatternError::OutOfSteps) => PatternMatch::Fault(None),
        Err(error) => PatternMatch::Fault(Some(error.to_string())),
    }
}

fn match_limit(_: &mut Engine, pattern: ByteArgument, steps: f64) -> f64 {
    pattern::direct_bytes_max(pattern.as_slice(), steps) as f64
}

fn find_plain(
    _: &mut Engine,
    subject: ByteArgument,
    needle: ByteArgument,
    init: Integer,
) -> ScriptValue {
    let init = (init.0.max(1) - 1) as usize;
    let found = pattern::find_plain(subject.as_slice(), needle.as_slice(), init);
    found.map_or(ScriptValue::Nil, |at| ScriptValue::Number((at + 1) as f64))
}

fn clock(engine: &mut Engine) -> f64 {
    engine.frame.clock(&engine.game)
}

/// The name to which an unreadable settings file is renamed before the first save replaces it.
const BROKEN_USER_SETTINGS: &str = "user_settings.broken.sjson";

fn load_user_settings(engine: &mut Engine) -> ExpectedResult<ScriptValue> {
    let path = match &engine.game.save_folder {
        Some(folder) => folder.join(USER_SETTINGS),
        None => PathBuf::from(USER_SETTINGS),
    };
    let read = match (&engine.game.save_folder, &engine.game.user_settings) {
        (Some(_), _) => file_access::read_named(&path, &readers::USER_SETTINGS),
        (None, Some(bytes)) => Ok(bytes.clone()),
        (None, None) => return ExpectedResult(Ok(ScriptValue::Nil)),
    };
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(refusal) if refusal.is_missing() => return ExpectedResult(Ok(ScriptValue::Nil)),
        Err(reason) => {
            return ExpectedResult(Err(format!("{} cannot be read: {reason}", path.display())));
        }
    };
    ExpectedResult(match sjson::parse_bytes(&bytes) {
        Ok(document) => Ok(ScriptValue::from_tree(&document.to_tree())),
        Err(error) => Err(error.in_file(&path.display().to_string())),
    })
}

fn save_user_settings(
    engine: &mut Engine,
    tree: ScriptValue,
    set_aside: bool,
) -> Result<ExpectedResult<bool>, Error> {
    let text = sjson::write(&tree.to_tree()).map_err(|error| Error::new(error.to_string()))?;
    if engine.game.saves.is_simulating_full_disk() {
        let reason = std::io::Error::from(ErrorKind::StorageFull);
        return Ok(ExpectedResult(Err(format!("{USER_SETTINGS} cannot be written: {reason}"))));
    }
    let Some(folder) = &engine.game.save_folder else { return Ok(ExpectedResult(Ok(true))) };
    let path = folder.join(USER_SETTINGS);
    if set_aside
        && let Err(reason) = disk::rename(&path, &folder.join(BROKEN_USER_SETTINGS))
        && !matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
    {
        let message = format!("{} cannot be renamed: {reason}", path.display());
        return Ok(ExpectedResult(Err(message)));
    }
    let written = atomic_file::write_durably(&path, text.as_bytes());
    let message = |reason| format!("{} cannot be written: {reason}", path.display());
    Ok(ExpectedResult(written.map(|()| true).map_err(message)))
}

fn set_collection(engine: &mut Engine, milliseconds: f64, ceiling: f64) {
    engine.frame.collection.milliseconds = milliseconds;
    engine.frame.collection.ceiling_mib = ceiling;
}

fn hash32(_: &mut Engine, text: ByteArgument) -> f64 {
    hash::murmur32(text.as_slice(), 0).into()
}

fn hash64(_: &mut Engine, text: ByteArgument) -> (f64, f64) {
    let hash = hash::murmur64a(text.as_slice(), 0);
    ((hash >> 32) as f64, (hash & 0xffff_ffff) as f64)
}

fn has_main_world(engine: &mut Engine) -> bool {
    engine.worlds.main.is_some()
}
