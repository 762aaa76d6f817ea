//! The Lua module `Stats`: counters, their histories and alarms. Compiled Lua increments a counter
//! directly through the address of its value (lua/debug/stats.lua).

use crate::api_row::{ModuleRows, func, hidden, module};
use crate::argument::{Integer, TextArgument};
use crate::return_value::ExpectedResult;
use crate::value::ScriptValue;
use engine_foundation::{Error, counters, suggest};
use engine_runtime::Engine;
use mlua::ffi::*;
use std::ffi::{CStr, c_int};

const NAME: (&str, &str) = ("name", "the name of a counter, in the form of a path");

pub static STATS: ModuleRows = module(
    "Stats",
    "Counters: numbers that are summed during a frame and reset to zero for the next one. The \
     engine counts many things itself (draw calls, voices, memory, the milliseconds of every scope \
     of the `Profiler`), and a game can define more. `graph` in the console draws them, and \
     `engine run --stats-export` writes them all to a file.",
    r#"local alive = Stats.counter("enemies/alive")
for _ = 1, 3 do
  alive.value = alive.value + 1
end
assert(alive.value == 3)
Stats.watch("enemies/alive")
assert(#Stats.history("enemies/alive") == 0, "no frame has ended since")
Stats.unwatch("enemies/alive")"#,
    &hidden([
        func("value", value, &[NAME], "Returns the total of a counter in the last complete frame.")
            .pure(),
        func(
            "names",
            names,
            &[("prefix", "the start of the names; all names if left out")],
            "Returns the names of all counters, sorted.",
        )
        .pure(),
        func(
            "watch",
            watch,
            &[NAME],
            "Records the values of a counter from now on, for `Stats.history`. Each `Stats.watch` \
             needs one `Stats.unwatch`.",
        )
        .pure(),
        func(
            "unwatch",
            unwatch,
            &[NAME],
            "Ends one `Stats.watch`. The last one removes the history.",
        )
        .pure(),
        func(
            "history",
            history,
            &[
                NAME,
                (
                    "frames",
                    "the maximum number of frames; 1024, the most that are kept, if left out",
                ),
            ],
            "Returns the values of a watched counter in the last frames, oldest first.",
        )
        .pure(),
    ]),
);

pub static CORE: ModuleRows = module(
    "core",
    "Statistics for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "stat_number",
            stat_number,
            &[("name", "")],
            "Returns a counter's number, or nil and the reason.",
        )
        .pure(),
        func("stat_name", stat_name, &[("number", "")], "Returns the name of a counter's number.")
            .pure(),
        func("stat_frames", stat_frames, &[], "Returns the number of frames that were counted.")
            .pure(),
        func(
            "set_alarm",
            set_alarm,
            &[("name", ""), ("limit", "")],
            "Sets an alarm. Returns true, or nil and the reason.",
        )
        .pure(),
        func(
            "remove_alarm",
            remove_alarm,
            &[("name", "")],
            "Removes an alarm. Returns true if there was one.",
        )
        .pure(),
        func(
            "take_alarms",
            take_alarms,
            &[],
            "Returns the counters that rose above their limits: name, value, limit.",
        )
        .pure(),
    ],
);

/// Name and function, for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] = &[(c"stat_base", stat_base)];

fn number_of(name: &str) -> Result<u32, Error> {
    counters::find(name).ok_or_else(|| {
        let hint = suggest::hint(name, counters::names());
        engine_foundation::error!("there is no counter '{name}'{hint}")
    })
}

fn value(_: &mut Engine, name: TextArgument) -> Result<f64, Error> {
    number_of(name.as_str()).map(counters::newest)
}

fn names(_: &mut Engine, prefix: Option<TextArgument>) -> Vec<String> {
    let prefix = prefix.as_ref().map_or("", TextArgument::as_str);
    let known = counters::names().into_iter().filter(|name| name.starts_with(prefix));
    let mut names: Vec<_> = known.map(str::to_string).collect();
    names.sort();
    names
}

fn watch(_: &mut Engine, name: TextArgument) -> Result<(), Error> {
    counters::watch(counters::counter(name.as_str())?)
}

fn unwatch(_: &mut Engine, name: TextArgument) -> Result<(), Error> {
    let number = number_of(name.as_str())?;
    if counters::history(number, 1).is_none() {
        return Err(engine_foundation::error!(
            "'{}' is not watched: call Stats.watch first",
            name.as_str()
        ));
    }
    counters::unwatch(number);
    Ok(())
}

fn history(
    _: &mut Engine,
    name: TextArgument,
    frames: Option<Integer>,
) -> Result<ScriptValue, Error> {
    let count = match frames.map(|frames| frames.0) {
        None => counters::HISTORY_FRAMES,
        Some(frames) if frames >= 0 => frames as usize,
        Some(frames) => {
            return Err(engine_foundation::error!(
                "argument #2 'frames' must be zero or more, got {frames}"
            ));
        }
    };
    let name = name.as_str();
    let values = counters::history(number_of(name)?, count);
    let values = values.ok_or_else(|| {
        engine_foundation::error!("'{name}' has no history: call Stats.watch(\"{name}\") before")
    })?;
    Ok(ScriptValue::List(values.into_iter().map(ScriptValue::Number).collect()))
}

fn stat_number(_: &mut Engine, name: TextArgument) -> ExpectedResult<f64> {
    ExpectedResult(counters::counter(name.as_str()).map(f64::from).map_err(|error| error.message))
}

fn stat_name(_: &mut Engine, number: f64) -> String {
    counters::name_of(number as u32).to_string()
}

fn set_alarm(_: &mut Engine, name: TextArgument, limit: f64) -> ExpectedResult<bool> {
    let set = counters::counter(name.as_str())
        .and_then(|number| counters::set_alarm(number, limit))
        .map(|()| true);
    ExpectedResult(set.map_err(|error| error.message))
}

fn remove_alarm(_: &mut Engine, name: TextArgument) -> bool {
    counters::find(name.as_str()).is_some_and(counters::remove_alarm)
}

fn take_alarms(_: &mut Engine) -> ScriptValue {
    let alarms = counters::take_alarms().into_iter().map(|alarm| {
        let name = ScriptValue::Text(alarm.name.to_string());
        ScriptValue::List(vec![
            name,
            ScriptValue::Number(alarm.value),
            ScriptValue::Number(alarm.limit),
        ])
    });
    ScriptValue::List(alarms.collect())
}

fn stat_frames(_: &mut Engine) -> f64 {
    counters::frames() as f64
}

/// `stat_base()`: returns the address of counter 0 in this thread's array.
unsafe extern "C-unwind" fn stat_base(l: *mut lua_State) -> c_int {
    // SAFETY: pushes a plain value.
    unsafe { lua_pushlightuserdata(l, counters::address(0).cast()) };
    1
}
