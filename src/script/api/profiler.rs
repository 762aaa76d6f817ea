//! `Profiler`: what was measured, for scripts. The scopes themselves are opened and closed by the
//! prelude (lua/profiler.lua) through the functions of `CORE`, or, in compiled code, through their
//! addresses.

use crate::engine::Engine;
use crate::foundation::{Error, profile, suggest};
use crate::script::arg::{Integer, Text};
use crate::script::cx::Cx;
use crate::script::ret::{Expected, Ret};
use crate::script::row::{Module, func, module};
use crate::script::sampler::{self, Met, Samples};
use crate::script::types::{Shape, Type};
use crate::script::value::Value;
use crate::system::platform::ThreadClock;
use mlua::ffi::*;
use std::ffi::{CStr, c_int};

pub static PROFILER: Module = module(
    "Profiler",
    "Where a frame's time goes. A scope is what happens between `Profiler.start` and \
     `Profiler.stop`; scopes lie inside each other, and the engine has some of its own around \
     them. In a release nothing is measured, and both functions do nothing.",
    r#"Profiler.start("enemies")
for _ = 1, 10 do
  Profiler.start("think")
  Profiler.stop("think")
end
Profiler.stop("enemies")
assert(type(Profiler.report()) == "string")"#,
    &[
        func(
            "report",
            report,
            &[],
            "The table of all scopes: the least, average and greatest share of a frame in percent \
             without what lies inside, how often each was opened in the last frame, and its name.",
        )
        .pure(),
        func(
            "scopes",
            scopes,
            &[],
            "The same as tables, each before those inside of it: `name`, `thread`, `parents` (how \
             many scopes it lies in), `calls` and `milliseconds` of the last frame, \
             `own_milliseconds` without what lies inside, and `min`, `average` and `max` percent. \
             Times differ from run to run.",
        )
        .pure(),
        func(
            "reset",
            reset,
            &[("name", "a scope; all of them if left out")],
            "Forgets averages and extremes: what a game does while it starts is rarely like the \
             rest.",
        )
        .pure(),
    ],
);

pub static CORE: Module = module(
    "core",
    "The profiler for the prelude.",
    "assert(core == nil)",
    &[
        func("profiles", profiles, &[], "Whether scopes are measured.").pure(),
        func("profile_name", profile_name, &[("name", "")], "A scope's number, or why not.").pure(),
        func("profile_begin", profile_begin, &[("number", "")], "Opens a scope.").pure(),
        func("profile_end", profile_end, &[("number", "")], "Closes one: 0, or what is wrong.")
            .pure(),
        func("profile_open", profile_open, &[], "The innermost open scope of a script's.").pure(),
        func("sampling", sampling, &[("on", "")], "Asks scripts where they are, or no longer.")
            .pure(),
        func("sampled", sampled, &[], "Where they were met; nil where nobody asks.").pure(),
    ],
);

/// For the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] =
    &[(c"profile_natives", profile_natives), (c"work_done", work_done)];

/// Tables in a list.
pub struct Tables(pub Vec<Value>);

impl Ret for Tables {
    const TYPES: &'static [Type] = &[Type::new("table[]", Shape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Value::List(self.0).push(l, cx) }
    }
}

/// A table of what is named.
pub fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Table(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn report(_: &mut Engine) -> String {
    profile::report()
}

fn scopes(_: &mut Engine) -> Tables {
    let threads = profile::threads().into_iter();
    let rows = threads.flat_map(|thread| {
        thread.rows.into_iter().map(move |row| {
            table([
                ("name", Value::Text(row.name.to_string())),
                ("thread", Value::Text(thread.name.clone())),
                ("parents", Value::Number(row.parents.into())),
                ("calls", Value::Number(row.calls.into())),
                ("milliseconds", Value::Number(row.seconds * 1e3)),
                ("own_milliseconds", Value::Number(row.own_seconds * 1e3)),
                ("min", Value::Number(row.min)),
                ("average", Value::Number(row.average)),
                ("max", Value::Number(row.max)),
            ])
        })
    });
    Tables(rows.collect())
}

fn reset(_: &mut Engine, name: Option<Text>) -> Result<(), Error> {
    let name = name.as_ref().map(Text::as_str);
    if profile::reset(name) || !profile::is_enabled() {
        return Ok(());
    }
    let Some(name) = name else { return Ok(()) };
    let threads = profile::threads();
    let known = threads.iter().flat_map(|thread| &thread.rows).map(|row| row.name);
    Err(crate::error!("no scope '{name}' was ever open{}", suggest::hint(name, known)))
}

fn profiles(_: &mut Engine) -> bool {
    profile::is_enabled()
}

fn profile_name(_: &mut Engine, name: Text) -> Expected<f64> {
    let (name, most) = (name.as_str(), profile::NAME_BYTES_MAX);
    if name.is_empty() || name.len() > most {
        let length = name.len();
        return Expected(Err(format!("must have 1 to {most} bytes, got {length}")));
    }
    let most = profile::SCOPES_MAX;
    let number = profile::name_id(name).map(f64::from);
    Expected(number.ok_or_else(|| {
        format!("is one name too many, {most} are known (SCOPES_MAX): use names that do not change")
    }))
}

fn profile_begin(_: &mut Engine, number: Integer) {
    profile::begin_script(number.0 as u32);
}

fn profile_end(_: &mut Engine, number: Integer) -> f64 {
    f64::from(profile::end_script(number.0 as u32) as u32)
}

fn profile_open(_: &mut Engine) -> Value {
    profile::open_script().map_or(Value::Nil, |name| Value::Text(name.to_string()))
}

/// Begins to sample the scripts of the calling VM, or ends it: what was met then.
struct Sampling(bool);

impl Ret for Sampling {
    const TYPES: &'static [Type] = Expected::<Value>::TYPES;
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        let outcome = match self.0 {
            true => sampler::begin(cx, false).map(|()| Value::Boolean(true)),
            false => sampler::end(cx).map(|samples| met(&samples)),
        };
        // SAFETY: as the caller promised.
        unsafe { Expected(outcome.map_err(|error| error.message)).push(l, cx) }
    }
}

fn sampling(_: &mut Engine, on: bool) -> Sampling {
    Sampling(on)
}

/// What was met so far.
struct Sampled;

impl Ret for Sampled {
    const TYPES: &'static [Type] = &[Type::new("table", Shape::Boxed).or_nil()];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        let value = cx.samples.as_deref().map_or(Value::Nil, met);
        // SAFETY: as the caller promised.
        unsafe { value.push(l, cx) }
    }
}

fn sampled(_: &mut Engine) -> Sampled {
    Sampled
}

/// Samples as tables.
fn met(samples: &Samples) -> Value {
    let row = |(name, met): (String, Met)| {
        table([
            ("name", Value::Text(name)),
            ("samples", Value::Number(met.samples as f64)),
            ("allocated_bytes", Value::Number(met.allocated_bytes as f64)),
            ("engine_calls", Value::Number(met.engine_calls as f64)),
        ])
    };
    let lists = samples
        .tables()
        .map(|(name, rows)| (name.to_string(), Value::List(rows.into_iter().map(row).collect())));
    let mut all = lists.to_vec();
    all.push(("samples".to_string(), Value::Number(samples.count() as f64)));
    all.push(("text".to_string(), Value::Text(samples.report())));
    Value::Table(all)
}

extern "C" fn begin(number: u32) {
    profile::begin_script(number);
}

extern "C" fn end(number: u32) -> u32 {
    profile::end_script(number) as u32
}

/// `work_done()`: engine calls, allocations, bytes that were allocated, and seconds of this
/// thread's CPU time. Allocates nothing.
unsafe extern "C-unwind" fn work_done(l: *mut lua_State) -> c_int {
    // SAFETY: pushes four numbers.
    unsafe {
        let work = Cx::of(l).work();
        lua_pushnumber(l, work.engine_calls as f64);
        lua_pushnumber(l, work.allocations as f64);
        lua_pushnumber(l, work.allocated_bytes as f64);
        lua_pushnumber(l, ThreadClock::of_this_thread().seconds());
    }
    4
}

/// `profile_natives()`: the addresses of `begin` and `end`, for compiled Lua.
unsafe extern "C-unwind" fn profile_natives(l: *mut lua_State) -> c_int {
    // SAFETY: pushes plain values.
    unsafe {
        lua_pushlightuserdata(l, begin as extern "C" fn(u32) as *mut _);
        lua_pushlightuserdata(l, end as extern "C" fn(u32) -> u32 as *mut _);
    }
    2
}
