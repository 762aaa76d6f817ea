//! Errors that stop a script before its stack is unwound.

use super::super::context::ScriptContext;
use super::super::report;
use super::super::value::ScriptValue;
use super::call_core;
use mlua::ffi::*;
use std::ffi::c_int;

/// `debug_stop_at_errors(uncaught, caught)`: sets if errors that the game does not catch, and those
/// that it catches, stop the script before the stack is unwound.
pub unsafe extern "C-unwind" fn stop_at_errors(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes booleans.
    unsafe {
        if let Some(debugger) = &mut ScriptContext::of(l).debugger {
            debugger.stops_at_errors = lua_toboolean(l, 1) != 0;
            debugger.stops_at_caught_errors = lua_toboolean(l, 2) != 0;
        }
    }
    0
}

/// `debug_report(message, level, is_warning)`: returns the report of an error that the game
/// catches, or of a warning, with the stack from a level outwards.
pub unsafe extern "C-unwind" fn debug_report(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a string, a number and a boolean; nothing below raises.
    unsafe {
        let cx = ScriptContext::of(l);
        let (level, is_warning) = (lua_tonumber(l, 2) as c_int, lua_toboolean(l, 3) != 0);
        cx.memory.begin_lenient();
        let message = report::error_text(l, 1, cx);
        // The report of an error that is raised takes these.
        let (contexts, fault) = (cx.error_contexts.clone(), cx.engine_fault.clone());
        let text = report::capture(l, cx, &message, level).to_string();
        (cx.error_contexts, cx.engine_fault) = (contexts, fault);
        let text = if is_warning { as_warning(&text) } else { text };
        lua_pushlstring(l, text.as_ptr().cast(), text.len());
        cx.memory.end_lenient();
    }
    1
}

/// Returns a report whose title says that it is one of a warning.
fn as_warning(report: &str) -> String {
    let title = report.split_inclusive('\n').position(|line| line.starts_with("Error: "));
    let retitled = |(i, line): (usize, &str)| match line.strip_prefix("Error: ") {
        Some(rest) if Some(i) == title => format!("Warning: {rest}"),
        _ => line.to_string(),
    };
    report.split_inclusive('\n').enumerate().map(retitled).collect()
}

/// Stops the script at an error that the game does not catch, before the stack is unwound, if a
/// tool asks for that.
///
/// # Safety
/// `l` is a live state in the handler of an error. Nothing of the context is borrowed.
pub unsafe fn error_raised(l: *mut lua_State, message: &str) {
    // SAFETY: as the caller promised.
    unsafe {
        let cx = ScriptContext::of(l);
        let stops = cx.debugger.as_ref().is_some_and(|it| it.stops_at_errors && !it.is_paused());
        let stopped = cx.report.as_ref().is_some_and(|report| report.stopped);
        // Without room on the stack, no function can be called.
        if stops && !stopped && !cx.reloading && !message.contains("stack overflow") {
            let report = cx.report.as_ref().map_or_else(String::new, |report| report.to_string());
            let texts = [message.to_string(), report].map(ScriptValue::Text);
            call_core(l, c"debugger_error", &texts);
        }
    }
}

/// Stops the script at an error that the game catches, before the stack is unwound, if a tool asks
/// for that.
///
/// # Safety
/// `l` is a live state in the handler of `pcall`, with the error's value at 1. Nothing of the
/// context is borrowed.
pub unsafe fn error_caught(l: *mut lua_State) {
    // SAFETY: as the caller promised.
    unsafe {
        let cx = ScriptContext::of(l);
        let stops = cx.debugger.as_ref().is_some_and(|it| {
            it.stops_at_caught_errors && !it.is_paused() && !cx.interrupt.is_stopping()
        });
        if !stops || cx.reloading {
            return;
        }
        let message = report::error_text(l, 1, cx);
        if !message.contains("stack overflow") {
            let texts = [message, String::new()].map(ScriptValue::Text);
            call_core(l, c"debugger_error", &texts);
        }
    }
}

/// `debug_uncaught(message)`: stops the script at an error that the engine catches for the game,
/// before the stack is unwound, if a tool asks for that: one of a function that a graph calls.
pub unsafe extern "C-unwind" fn debug_uncaught(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a string, in the handler of an error; nothing of the context is
    // borrowed.
    unsafe {
        let cx = ScriptContext::of(l);
        let stops = cx
            .debugger
            .as_ref()
            .is_some_and(|it| it.stops_at_errors && !it.is_paused() && !cx.interrupt.is_stopping());
        if !stops || cx.reloading {
            return 0;
        }
        let message = report::error_text(l, 1, cx);
        if !message.contains("stack overflow") {
            let texts = [message, String::new(), "uncaught".to_string()].map(ScriptValue::Text);
            call_core(l, c"debugger_error", &texts);
        }
    }
    0
}
