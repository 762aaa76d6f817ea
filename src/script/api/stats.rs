//! `Stats`: counters, their histories and alarms. Counting itself is compiled Lua's, through the
//! address of a counter's number (lua/stats.lua).

use crate::engine::Engine;
use crate::foundation::{Error, counters, suggest};
use crate::script::arg::{Integer, Text};
use crate::script::ret::Expected;
use crate::script::row::{Module, func, module};
use crate::script::value::Value;
use mlua::ffi::*;
use std::ffi::{CStr, c_int};

const NAME: (&str, &str) = ("name", "a counter's, like a path");

pub static STATS: Module = module(
    "Stats",
    "Counters: numbers that are added up during a frame and begin at zero in the next. The engine \
     counts much by itself (draw calls, voices, memory, the milliseconds of every scope of the \
     `Profiler`); a game counts what it wants. `graph` in the console draws them, and `engine run \
     --stats-export` writes them all to a file.",
    r#"local alive = Stats.counter("enemies/alive")
for _ = 1, 3 do
  alive.value = alive.value + 1
end
assert(alive.value == 3)
Stats.watch("enemies/alive")
assert(#Stats.history("enemies/alive") == 0, "no frame has ended since")
Stats.unwatch("enemies/alive")"#,
    &[
        func("value", value, &[NAME], "What a counter came to in the last whole frame.").pure(),
        func(
            "names",
            names,
            &[("prefix", "how the names begin; all if left out")],
            "The names of all counters, sorted.",
        )
        .pure(),
        func(
            "watch",
            watch,
            &[NAME],
            "Keeps the values of a counter from now on, for `Stats.history`. Each `Stats.watch` \
             goes with one `Stats.unwatch`.",
        )
        .pure(),
        func(
            "unwatch",
            unwatch,
            &[NAME],
            "Ends one `Stats.watch`. With the last one the history goes.",
        )
        .pure(),
        func(
            "history",
            history,
            &[NAME, ("frames", "how many at most; 1024, the most that are kept, if left out")],
            "The values of a watched counter in the last frames, oldest first.",
        )
        .pure(),
    ],
);

pub static CORE: Module = module(
    "core",
    "Statistics for the prelude.",
    "assert(core == nil)",
    &[
        func("stat_number", stat_number, &[("name", "")], "A counter's number, or why not.").pure(),
        func("stat_name", stat_name, &[("number", "")], "The name of a number.").pure(),
        func("set_alarm", set_alarm, &[("name", ""), ("limit", "")], "True, or nil and why not.")
            .pure(),
        func("remove_alarm", remove_alarm, &[("name", "")], "Whether there was one.").pure(),
        func("take_alarms", take_alarms, &[], "What rose above its limit: name, value, limit.")
            .pure(),
    ],
);

/// For the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] = &[(c"stat_base", stat_base)];

fn number_of(name: &str) -> Result<u32, Error> {
    counters::find(name).ok_or_else(|| {
        let hint = suggest::hint(name, counters::names());
        crate::error!("there is no counter '{name}'{hint}")
    })
}

fn value(_: &mut Engine, name: Text) -> Result<f64, Error> {
    number_of(name.as_str()).map(counters::newest)
}

fn names(_: &mut Engine, prefix: Option<Text>) -> Vec<String> {
    let prefix = prefix.as_ref().map_or("", Text::as_str);
    let known = counters::names().into_iter().filter(|name| name.starts_with(prefix));
    let mut names: Vec<_> = known.map(str::to_string).collect();
    names.sort();
    names
}

fn watch(_: &mut Engine, name: Text) -> Result<(), Error> {
    counters::watch(counters::counter(name.as_str())?)
}

fn unwatch(_: &mut Engine, name: Text) -> Result<(), Error> {
    let number = number_of(name.as_str())?;
    if counters::history(number, 1).is_none() {
        return Err(crate::error!("'{}' is not watched: call Stats.watch first", name.as_str()));
    }
    counters::unwatch(number);
    Ok(())
}

fn history(_: &mut Engine, name: Text, frames: Option<Integer>) -> Result<Value, Error> {
    let count = match frames.map(|frames| frames.0) {
        None => counters::HISTORY_FRAMES,
        Some(frames) if frames >= 0 => frames as usize,
        Some(frames) => {
            return Err(crate::error!("argument #2 'frames' must be zero or more, got {frames}"));
        }
    };
    let name = name.as_str();
    let values = counters::history(number_of(name)?, count);
    let values = values.ok_or_else(|| {
        crate::error!("'{name}' has no history: call Stats.watch(\"{name}\") before")
    })?;
    Ok(Value::List(values.into_iter().map(Value::Number).collect()))
}

fn stat_number(_: &mut Engine, name: Text) -> Expected<f64> {
    Expected(counters::counter(name.as_str()).map(f64::from).map_err(|error| error.message))
}

fn stat_name(_: &mut Engine, number: f64) -> String {
    counters::name_of(number as u32).to_string()
}

fn set_alarm(_: &mut Engine, name: Text, limit: f64) -> Expected<bool> {
    let set = counters::counter(name.as_str())
        .and_then(|number| counters::set_alarm(number, limit))
        .map(|()| true);
    Expected(set.map_err(|error| error.message))
}

fn remove_alarm(_: &mut Engine, name: Text) -> bool {
    counters::find(name.as_str()).is_some_and(counters::remove_alarm)
}

fn take_alarms(_: &mut Engine) -> Value {
    let alarms = counters::take_alarms().into_iter().map(|alarm| {
        let name = Value::Text(alarm.name.to_string());
        Value::List(vec![name, Value::Number(alarm.value), Value::Number(alarm.limit)])
    });
    Value::List(alarms.collect())
}

/// `stat_base()`: the address of counter 0 in this thread's array.
unsafe extern "C-unwind" fn stat_base(l: *mut lua_State) -> c_int {
    // SAFETY: pushes a plain value.
    unsafe { lua_pushlightuserdata(l, counters::address(0).cast()) };
    1
}
