//! The native functions of the prelude, in its `core` table. Games never see them, so they take
//! what they get; their words are for the prelude's authors.

use crate::engine::{Engine, Kept, USER_SETTINGS};
use crate::foundation::file_access::{self, readers};
use crate::foundation::files::{self, disk};
use crate::foundation::{Error, hash, log, sjson, suggest};
use crate::resource::project::NoScript;
use crate::script::arg::{Bytes, Integer, Text};
use crate::script::chunk::Chunk;
use crate::script::cx::{Cx, REFUSED_WHILE_RELOADING};
use crate::script::emit::standard;
use crate::script::modules;
use crate::script::outline;
use crate::script::pattern::{self, Capture, Fault};
use crate::script::ret::{Expected, Ret};
use crate::script::row::{Module, func, module};
use crate::script::types::{Shape, Type};
use crate::script::value::Value;
use mlua::ffi::*;
use std::ffi::c_int;
use std::io::ErrorKind;
use std::path::PathBuf;

pub static CORE: Module = module(
    "core",
    "What the prelude needs of the engine.",
    "assert(core == nil)",
    &[
        func("place", place, &[], "The innermost line of the game's own code, as main.lua:12.")
            .pure(),
        func(
            "nearest",
            nearest,
            &[("word", ""), ("names", "")],
            "The name that was meant, or nil.",
        )
        .pure(),
        func("absent", absent, &[("name", "")], "Why games lack a library of Lua's, or nil.")
            .pure(),
        func("no_reload_words", no_reload_words, &[], "Why something is not done while reloading.")
            .pure(),
        func("read_script", read_script, &[("module", "")], "Text and chunk name of a module.")
            .pure(),
        func(
            "load_script",
            load_script,
            &[("module", "")],
            "The chunk of a module's script in a bundle, and its path; nothing if there is none.",
        )
        .pure(),
        func(
            "outline",
            script_outline,
            &[("text", "")],
            "What hot reload needs of a script: its text with `capture` calls, what it writes to.",
        )
        .pure(),
        func(
            "scripts_can_change",
            scripts_can_change,
            &[],
            "Whether a script may be reloaded: not in a bundle whose scripts have no variants.",
        )
        .pure(),
        func("log", write_log, &[("level", ""), ("text", "")], "Writes a line to the log.").pure(),
        func("warn", warn, &[("text", "")], "Warns, once for each place.").pure(),
        func("holds_errors", holds_errors, &[], "Whether errors were logged while a test ran.")
            .pure(),
        func(
            "keep_frames",
            keep_frames,
            &[("packets", "")],
            "Keeps what frames show for tests; their packets, too.",
        )
        .pure(),
        func("take_errors", take_errors, &[], "The errors that were logged while a test ran.")
            .pure(),
        func(
            "match",
            find,
            &[("subject", ""), ("pattern", ""), ("init", ""), ("budget", "")],
            "First and last position, and captures; nil; or false and what is wrong.",
        )
        .pure(),
        func(
            "match_limit",
            match_limit,
            &[("pattern", ""), ("steps", "")],
            "The longest subject that LuaJIT's own matcher may have.",
        )
        .pure(),
        func(
            "find_plain",
            find_plain,
            &[("subject", ""), ("needle", ""), ("init", "")],
            "The position of a literal string, or nil.",
        )
        .pure(),
        func(
            "clock",
            clock,
            &[],
            "Seconds since 1970: the wall's, or the game's own if deterministic.",
        )
        .pure(),
        func(
            "load_user_settings",
            load_user_settings,
            &[],
            "The saved settings, or nil and why not.",
        )
        .pure(),
        func(
            "save_user_settings",
            save_user_settings,
            &[("tree", ""), ("set_aside", "")],
            "Writes them for good; keeps the file that is there under another name before.",
        )
        .when_full(),
        func(
            "set_collection",
            set_collection,
            &[("milliseconds", ""), ("ceiling", "")],
            "What the collector may take.",
        ),
        func("hash32", hash32, &[("text", "")], "MurmurHash2 of a name, seed 0.").pure(),
        func("hash64", hash64, &[("text", "")], "MurmurHash64A of it: high and low half.").pure(),
        func(
            "finish_worker",
            super::worker::finish,
            &[("result", "")],
            "Keeps the result of a worker: the words where it is no data.",
        ),
        func("has_main_world", has_main_world, &[], "Whether the main world was asked for.").pure(),
    ],
);

fn place(_: &mut Engine) -> String {
    crate::script::place()
}

fn nearest(_: &mut Engine, word: Text, names: Value) -> Value {
    let Value::List(names) = names else { return Value::Nil };
    let names = names.iter().filter_map(|name| match name {
        Value::Text(name) => Some(name.as_str()),
        _ => None,
    });
    suggest::nearest(word.as_str(), names).map_or(Value::Nil, |name| Value::Text(name.to_string()))
}

fn absent(_: &mut Engine, name: Text) -> Value {
    standard::absence(name.as_str()).map_or(Value::Nil, text)
}

fn no_reload_words(_: &mut Engine) -> String {
    REFUSED_WHILE_RELOADING.to_string()
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

fn read_script(engine: &mut Engine, module: Text) -> Value {
    let module = module.as_str();
    let table = |entries: Vec<(&str, Value)>| {
        Value::Table(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
    };
    match modules::find(engine, module) {
        Ok(script) => table(vec![("chunk", text(script.chunk)), ("text", text(script.text))]),
        Err(NoScript::Unusable(words)) => table(vec![("problem", text(words))]),
        Err(NoScript::Missing { tried, near }) => {
            let hint = suggest::hint(module, near.iter().map(String::as_str));
            let tried = tried.join(", ");
            let words = match engine.project.variant_words(module) {
                Some(why) => format!("there is no module '{module}': {why}"),
                None => format!("there is no module '{module}'{hint} (looked for {tried})"),
            };
            table(vec![("missing", text(words))])
        }
    }
}

fn load_script(engine: &mut Engine, module: Text) -> Chunk {
    let found = modules::find_in_bundle(engine, module.as_str());
    // Reports leave out what has such a name: the usual way refuses it.
    Chunk(found.filter(|(path, _)| !path.starts_with("[engine]")))
}

/// The expression that hands top-level locals to the recorder: a field of the strings' metatable,
/// so that no name of the game's is taken and no argument of its chunk.
const CAPTURE: &str = r#"("")["\27capture"]"#;

fn script_outline(_: &mut Engine, script: Text) -> Value {
    let script = script.as_str();
    let Some(outline) = outline::outline(script) else { return Value::Nil };
    let list = |names: &[String]| Value::List(names.iter().map(text).collect());
    let written = outline.foreign().into_iter().map(|(module, path)| {
        let module = module.map_or(Value::Nil, text);
        Value::Table(vec![("module".to_string(), module), ("path".to_string(), list(&path))])
    });
    let written = Value::List(written.collect());
    let made = outline::instrument(script, &outline, CAPTURE).map_or(Value::Nil, text);
    let calls = outline.calls().into_iter().map(|root| root.map_or(Value::Boolean(false), text));
    let calls = Value::List(calls.collect());
    let dynamic = Value::Boolean(outline.dynamic);
    let fields = [("text", made), ("written", written), ("calls", calls), ("dynamic", dynamic)];
    Value::Table(fields.map(|(name, value)| (name.to_string(), value)).to_vec())
}

fn scripts_can_change(engine: &mut Engine) -> bool {
    engine.store.scripts_can_change()
}

fn write_log(_: &mut Engine, level: Text, words: Bytes) {
    let level = match level.as_str() {
        "error" => log::Level::Error,
        "warning" => log::Level::Warning,
        _ => log::Level::Info,
    };
    log::write(level, &String::from_utf8_lossy(words.as_slice()));
}

fn holds_errors(_: &mut Engine) -> bool {
    log::holds_errors()
}

fn keep_frames(engine: &mut Engine, packets: bool) {
    engine.keep_frames(if packets { Kept::Packets } else { Kept::Words });
}

fn take_errors(_: &mut Engine) -> Value {
    Value::List(log::take_errors().into_iter().map(Value::Text).collect())
}

fn warn(_: &mut Engine, words: Text) {
    let place = crate::script::place();
    log::warn(if place.is_empty() { "engine" } else { &place }, words.as_str());
}

/// What a pattern found in a subject.
enum Found {
    Nothing,
    /// Positions from 1, then captures.
    Match(f64, f64, Vec<Piece>),
    /// The words, or none where the budget is spent.
    Fault(Option<String>),
}

enum Piece {
    Text(Bytes, usize, usize),
    Position(f64),
}

impl Ret for Found {
    const TYPES: &'static [Type] = &[Type { rest: true, ..Type::new("any", Shape::Boxed) }];
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        // SAFETY: the subject stays on the stack during the call; room for 32 captures is made.
        unsafe {
            if lua_checkstack(l, 40) == 0 {
                return Err("the Lua stack is full".into());
            }
            match self {
                Found::Nothing => lua_pushnil(l),
                Found::Match(first, last, pieces) => {
                    lua_pushnumber(l, first);
                    lua_pushnumber(l, last);
                    for piece in &pieces {
                        match piece {
                            Piece::Position(at) => lua_pushnumber(l, *at),
                            Piece::Text(subject, start, end) => {
                                let bytes = &subject.as_slice()[*start..*end];
                                lua_pushlstring(l, bytes.as_ptr().cast(), bytes.len());
                            }
                        }
                    }
                    return Ok(2 + pieces.len() as c_int);
                }
                Found::Fault(words) => {
                    lua_pushboolean(l, 0);
                    match words {
                        Some(words) => {
                            lua_pushlstring(l, words.as_ptr().cast(), words.len());
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

fn find(_: &mut Engine, subject: Bytes, pattern: Bytes, init: Integer, budget: f64) -> Found {
    let mut budget = budget as u64;
    let init = (init.0.max(1) - 1) as usize;
    match pattern::find(subject.as_slice(), pattern.as_slice(), init, &mut budget) {
        Ok(None) => Found::Nothing,
        Ok(Some(found)) => {
            let piece = |capture: &Capture| match capture {
                Capture::Span { start, end } => Piece::Text(subject, *start, *end),
                Capture::Position(at) => Piece::Position((at + 1) as f64),
            };
            let pieces = found.captures().iter().map(piece).collect();
            Found::Match((found.start + 1) as f64, found.end as f64, pieces)
        }
        Err(Fault::OutOfSteps) => Found::Fault(None),
        Err(fault) => Found::Fault(Some(fault.to_string())),
    }
}

fn match_limit(_: &mut Engine, pattern: Bytes, steps: f64) -> f64 {
    pattern::direct_bytes_max(pattern.as_slice(), steps) as f64
}

fn find_plain(_: &mut Engine, subject: Bytes, needle: Bytes, init: Integer) -> Value {
    let init = (init.0.max(1) - 1) as usize;
    let found = pattern::find_plain(subject.as_slice(), needle.as_slice(), init);
    found.map_or(Value::Nil, |at| Value::Number((at + 1) as f64))
}

fn clock(engine: &mut Engine) -> f64 {
    engine.clock()
}

/// What a file that could not be read is renamed to, before the first save takes its place.
const BROKEN_USER_SETTINGS: &str = "user_settings.broken.sjson";

fn load_user_settings(engine: &mut Engine) -> Expected<Value> {
    let path = match &engine.save_folder {
        Some(folder) => folder.join(USER_SETTINGS),
        None => PathBuf::from(USER_SETTINGS),
    };
    let read = match (&engine.save_folder, &engine.user_settings) {
        (Some(_), _) => file_access::read_named(&path, &readers::USER_SETTINGS),
        (None, Some(bytes)) => Ok(bytes.clone()),
        (None, None) => return Expected(Ok(Value::Nil)),
    };
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(refusal) if refusal.is_missing() => return Expected(Ok(Value::Nil)),
        Err(reason) => {
            return Expected(Err(format!("{} cannot be read: {reason}", path.display())));
        }
    };
    Expected(match sjson::parse_bytes(&bytes) {
        Ok(document) => Ok(Value::from_tree(&document.to_tree())),
        Err(fault) => Err(fault.in_file(&path.display().to_string())),
    })
}

fn save_user_settings(
    engine: &mut Engine,
    tree: Value,
    set_aside: bool,
) -> Result<Expected<bool>, Error> {
    let text = sjson::write(&tree.to_tree()).map_err(|fault| Error::new(fault.to_string()))?;
    if engine.saves.is_pretending() {
        let reason = std::io::Error::from(ErrorKind::StorageFull);
        return Ok(Expected(Err(format!("{USER_SETTINGS} cannot be written: {reason}"))));
    }
    let Some(folder) = &engine.save_folder else { return Ok(Expected(Ok(true))) };
    let path = folder.join(USER_SETTINGS);
    if set_aside
        && let Err(reason) = disk::rename(&path, &folder.join(BROKEN_USER_SETTINGS))
        && !matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
    {
        let words = format!("{} cannot be renamed: {reason}", path.display());
        return Ok(Expected(Err(words)));
    }
    let written = files::write_safely(&path, text.as_bytes());
    let words = |reason| format!("{} cannot be written: {reason}", path.display());
    Ok(Expected(written.map(|()| true).map_err(words)))
}

fn set_collection(engine: &mut Engine, milliseconds: f64, ceiling: f64) {
    engine.collection.milliseconds = milliseconds;
    engine.collection.ceiling_mib = ceiling;
}

fn hash32(_: &mut Engine, text: Bytes) -> f64 {
    hash::murmur32(text.as_slice(), 0).into()
}

fn hash64(_: &mut Engine, text: Bytes) -> (f64, f64) {
    let hash = hash::murmur64a(text.as_slice(), 0);
    ((hash >> 32) as f64, (hash & 0xffff_ffff) as f64)
}

fn has_main_world(engine: &mut Engine) -> bool {
    engine.main_world.is_some()
}
