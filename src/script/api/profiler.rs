//! The Lua module `Profiler`: profiling results for scripts. The scopes themselves are opened and
//! closed by the prelude (lua/debug/profiler.lua) through the functions of `CORE` or, in compiled
//! code, through their addresses.

use crate::api_row::{ModuleRows, func, hidden, module};
use crate::argument::{Integer, TextArgument};
use crate::context::ScriptContext;
use crate::return_value::{ExpectedResult, ReturnValue};
use crate::sampler::{self, SampleCount, ScriptSamples};
use crate::types::{ApiType, ValueShape};
use crate::value::ScriptValue;
use engine_foundation::{Error, profile, suggest};
use engine_platform::ThreadClock;
use engine_runtime::Engine;
use mlua::ffi::*;
use std::ffi::{CStr, c_int};

pub static PROFILER: ModuleRows = module(
    "Profiler",
    "Measures where a frame's time goes. A scope is the work between `Profiler.start` and \
     `Profiler.stop`. Scopes can be nested, and the engine opens scopes around those of the game. \
     In a release nothing is measured, and both functions do nothing.",
    r#"Profiler.start("enemies")
for _ = 1, 10 do
  Profiler.start("think")
  Profiler.stop("think")
end
Profiler.stop("enemies")
assert(type(Profiler.report()) == "string")"#,
    &hidden([
        func(
            "report",
            report,
            &[],
            "Returns the table of all scopes as text. Each row has the smallest, average and \
             largest share of a frame in percent without nested scopes, the number of times that \
             the scope was opened in the last frame, and its name.",
        )
        .pure(),
        func(
            "scopes",
            scopes,
            &[],
            "Returns the same as tables, each before its nested scopes: `name`, `thread`, \
             `parents` (the number of scopes around it), `calls` and `milliseconds` of the last \
             frame, `own_milliseconds` without nested scopes, and `min`, `average` and `max` \
             percent. Times differ from run to run.",
        )
        .pure(),
        func(
            "reset",
            reset,
            &[("name", "the name of a scope; all scopes if left out")],
            "Resets averages and extremes. The start of a game is rarely typical for the rest.",
        )
        .pure(),
    ]),
);

pub static CORE: ModuleRows = module(
    "core",
    "The profiler for the prelude.",
    "assert(core == nil)",
    &[
        func("profiles", profiles, &[], "Returns true if scopes are measured.").pure(),
        func(
            "profile_name",
            profile_name,
            &[("name", "")],
            "Returns a scope's number, or nil and the reason.",
        )
        .pure(),
        func("profile_begin", profile_begin, &[("number", "")], "Opens a scope.").pure(),
        func(
            "profile_end",
            profile_end,
            &[("number", "")],
            "Closes a scope. Returns 0, or a number for the error.",
        )
        .pure(),
        func("profile_open", profile_open, &[], "Returns the innermost open scope of a script.")
            .pure(),
        func("sampling", sampling, &[("on", "")], "Starts or stops sampling the scripts.").pure(),
        func("sampled", sampled, &[], "Returns the samples so far; nil if sampling is off.").pure(),
    ],
);

/// Name and function, for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] =
    &[(c"profile_natives", profile_natives), (c"work_done", work_done)];

/// A list of tables.
pub struct TableList(pub Vec<ScriptValue>);

impl ReturnValue for TableList {
    const TYPES: &'static [ApiType] = &[ApiType::new("table[]", ValueShape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { ScriptValue::List(self.0).push(l, cx) }
    }
}

/// Creates a table from named values.
pub fn table<const N: usize>(entries: [(&str, ScriptValue); N]) -> ScriptValue {
    ScriptValue::Table(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn report(_: &mut Engine) -> String {
    profile::report()
}

fn scopes(_: &mut Engine) -> TableList {
    let threads = profile::threads().into_iter();
    let rows = threads.flat_map(|thread| {
        thread.rows.into_iter().map(move |row| {
            table([
                ("name", ScriptValue::Text(row.name.to_string())),
                ("thread", ScriptValue::Text(thread.name.clone())),
                ("parents", ScriptValue::Number(row.parents.into())),
                ("calls", ScriptValue::Number(row.calls.into())),
                ("milliseconds", ScriptValue::Number(row.seconds * 1e3)),
                ("own_milliseconds", ScriptValue::Number(row.own_seconds * 1e3)),
                ("min", ScriptValue::Number(row.min)),
                ("average", ScriptValue::Number(row.average)),
                ("max", ScriptValue::Number(row.max)),
            ])
        })
    });
    TableList(rows.collect())
}

fn reset(_: &mut Engine, name: Option<TextArgument>) -> Result<(), Error> {
    let name = name.as_ref().map(TextArgument::as_str);
    if profile::reset(name) || !profile::is_enabled() {
        return Ok(());
    }
    let Some(name) = name else { return Ok(()) };
    let threads = profile::threads();
    let known = threads.iter().flat_map(|thread| &thread.rows).map(|row| row.name);
    Err(engine_foundation::error!("no scope '{name}' was ever open{}", suggest::hint(name, known)))
}

fn profiles(_: &mut Engine) -> bool {
    profile::is_enabled()
}

fn profile_name(_: &mut Engine, name: TextArgument) -> ExpectedResult<f64> {
    let (name, most) = (name.as_str(), profile::NAME_BYTES_MAX);
    if name.is_empty() || name.len() > most {
        let length = name.len();
        return ExpectedResult(Err(format!("must have 1 to {most} bytes, got {length}")));
    }
    let most = profile::SCOPES_MAX;
    let number = profile::name_id(name).map(f64::from);
    ExpectedResult(number.ok_or_else(|| {
        format!("is one name too many, {most} are known (SCOPES_MAX): use names that do not change")
    }))
}

fn profile_begin(_: &mut Engine, number: Integer) {
    profile::begin_script(number.0 as u32);
}

fn profile_end(_: &mut Engine, number: Integer) -> f64 {
    f64::from(profile::end_script(number.0 as u32) as u32)
}

fn profile_open(_: &mut Engine) -> ScriptValue {
    profile::open_script().map_or(ScriptValue::Nil, |name| ScriptValue::Text(name.to_string()))
}

/// Starts or stops sampling the scripts of the calling VM. Stopping returns the samples.
struct SamplingSwitch(bool);

impl ReturnValue for SamplingSwitch {
    const TYPES: &'static [ApiType] = ExpectedResult::<ScriptValue>::TYPES;
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        let outcome = match self.0 {
            true => sampler::begin(cx, false).map(|()| ScriptValue::Boolean(true)),
            false => sampler::end(cx).map(|samples| samples_table(&samples)),
        };
        // SAFETY: as the caller promised.
        unsafe { ExpectedResult(outcome.map_err(|error| error.message)).push(l, cx) }
    }
}

fn sampling(_: &mut Engine, on: bool) -> SamplingSwitch {
    SamplingSwitch(on)
}

/// The samples so far, while sampling is on.
struct SamplerReport;

impl ReturnValue for SamplerReport {
    const TYPES: &'static [ApiType] = &[ApiType::new("table", ValueShape::Boxed).or_nil()];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        let value = cx.samples.as_deref().map_or(ScriptValue::Nil, samples_table);
        // SAFETY: as the caller promised.
        unsafe { value.push(l, cx) }
    }
}

fn sampled(_: &mut Engine) -> SamplerReport {
    SamplerReport
}

/// Converts samples into tables.
fn samples_table(samples: &ScriptSamples) -> ScriptValue {
    let row = |(name, count): (String, SampleCount)| {
        table([
            ("name", ScriptValue::Text(name)),
            ("samples", ScriptValue::Number(count.samples as f64)),
            ("allocated_bytes", ScriptValue::Number(count.allocated_bytes as f64)),
            ("engine_calls", ScriptValue::Number(count.engine_calls as f64)),
        ])
    };
    let lists = samples.tables().map(|(name, rows)| {
        (name.to_string(), ScriptValue::List(rows.into_iter().map(row).collect()))
    });
    let mut all = lists.to_vec();
    all.push(("samples".to_string(), ScriptValue::Number(samples.count() as f64)));
    all.push(("text".to_string(), ScriptValue::Text(samples.report())));
    ScriptValue::Table(all)
}

extern "C" fn begin(number: u32) {
    profile::begin_script(number);
}

extern "C" fn end(number: u32) -> u32 {
    profile::end_script(number) as u32
}

/// `work_done()`: returns the number of engine calls, the number of allocations, the bytes
/// allocated, and this thread's CPU time in seconds. Allocates nothing.
unsafe extern "C-unwind" fn work_done(l: *mut lua_State) -> c_int {
    // SAFETY: pushes four numbers.
    unsafe {
        let work = ScriptContext::of(l).work();
        lua_pushnumber(l, work.engine_calls as f64);
        lua_pushnumber(l, work.allocations as f64);
        lua_pushnumber(l, work.allocated_bytes as f64);
        lua_pushnumber(l, ThreadClock::of_this_thread().seconds());
    }
    4
}

/// `profile_natives()`: returns the addresses of `begin` and `end`, for compiled Lua.
unsafe extern "C-unwind" fn profile_natives(l: *mut lua_State) -> c_int {
    // SAFETY: pushes plain values.
    unsafe {
        lua_pushlightuserdata(l, begin as extern "C" fn(u32) as *mut _);
        lua_pushlightuserdata(l, end as extern "C" fn(u32) -> u32 as *mut _);
    }
    2
}
