//! Lua from remote tools: runs it in the game's VM, and completes names. A tool can do the same as
//! a script and no more.

use super::message_table::{boolean, number, text};
use super::{IncomingCall, Refusal};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{log, panic};
use engine_script::docgen::ApiModel;
use engine_script::docgen::model::first_sentence;
use engine_script::{ErrorReport, ScriptValue};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Default time limit of evaluated Lua, in CPU seconds.
const EVAL_SECONDS: f64 = 0.5;
/// Time limit of the engine's own Lua functions called for a tool, in CPU seconds.
pub const INSPECT_SECONDS: f64 = 0.5;
/// Maximum number of signatures in one completion.
const SIGNATURES_MAX: usize = 20;

/// Signature and description of every function of the API, by full name.
static SIGNATURES: OnceLock<HashMap<String, (String, String)>> = OnceLock::new();

/// Generates the signatures on another thread, which takes some milliseconds.
pub fn prepare() {
    let make = || {
        SIGNATURES.get_or_init(|| {
            let api = ApiModel::new();
            let of = api.functions().chain(&api.globals).map(|function| {
                let doc = first_sentence(&function.doc);
                (function.path(), (function.signature(), doc))
            });
            of.collect()
        });
    };
    if SIGNATURES.get().is_none() {
        // If the thread cannot be started, completions show only names.
        let _ = panic::spawn("tools-words", make);
    }
}

/// Evaluates Lua source and returns its values.
pub fn eval(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let code = text(call.fields, "text").unwrap_or_default().to_string();
    let seconds = number(call.fields, "seconds").unwrap_or(EVAL_SECONDS);
    let arguments = [ScriptValue::Text(code), ScriptValue::Boolean(boolean(call.fields, "data"))];
    call.state.needs_redraw = true;
    let (before, _) = log::lines_after(u64::MAX);
    let outcome = match call.app.vm.call_core("tool_eval", &arguments, seconds) {
        Ok(answer) => check_answer(object(&answer)),
        Err(mut report) => Err(timeout_refusal(&mut report, seconds)),
    };
    // The client may not follow the log.
    let logged = ("logged".to_string(), lines_since(before));
    match outcome {
        Ok(SjsonTree::Object(entries)) => {
            Ok(Some(SjsonTree::Object(entries.into_iter().chain([logged]).collect())))
        }
        Ok(other) => Ok(Some(other)),
        Err(mut refusal) => {
            refusal.more.push(logged);
            Err(refusal)
        }
    }
}

/// Returns the lines logged after the first `count` lines.
pub fn lines_since(count: u64) -> SjsonTree {
    let lines = log::lines_after(count).1;
    json::texts(lines.into_iter().map(|(level, text)| match level {
        log::LogLevel::Info => text,
        level => format!("{}: {text}", level.name()),
    }))
}

/// Runs Lua source and discards its values.
pub fn run(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let code = text(call.fields, "script").unwrap_or_default().to_string();
    let arguments = [ScriptValue::Text(code), ScriptValue::Boolean(false)];
    call.state.needs_redraw = true;
    match call.app.vm.call_core("tool_eval", &arguments, EVAL_SECONDS) {
        Ok(answer) => check_answer(object(&answer)).map(|_| Some(json::object([]))),
        Err(mut report) => Err(timeout_refusal(&mut report, EVAL_SECONDS)),
    }
}

/// Returns the result of an evaluation, or a refusal if the source is not valid Lua.
fn check_answer(answer: SjsonTree) -> Result<SjsonTree, Refusal> {
    match answer.get("problem") {
        Some(SjsonTree::String(problem)) => Err(Refusal::of(problem.clone())),
        _ => Ok(answer),
    }
}

/// Returns the refusal for an error of a tool's Lua. For a timeout, the message names the limit of
/// the message, because the limits in the game's settings do not apply.
fn timeout_refusal(report: &mut ErrorReport, seconds: f64) -> Refusal {
    if report.stopped && report.message.contains(CPU_TIME) {
        let message = format!("ran for {seconds} {CPU_TIME} without an end");
        report.message = format!("stopped: this {message} ('eval' allows more with 'seconds')");
    }
    refusal(report)
}

/// Text by which the message of a timeout is recognized. It must match the text of the VM.
const CPU_TIME: &str = "seconds of CPU time";

/// Converts a table from the prelude. An empty Lua table becomes an empty list for keys that hold
/// lists.
pub fn object(value: &ScriptValue) -> SjsonTree {
    let mut tree = value.to_tree();
    if let SjsonTree::Object(entries) = &mut tree {
        for (key, value) in entries {
            if ["values", "words", "held"].contains(&key.as_str())
                && *value == SjsonTree::Object(Vec::new())
            {
                *value = SjsonTree::Array(Vec::new());
            }
        }
    }
    tree
}

/// Returns the refusal for an error, with its stack.
pub fn refusal(report: &ErrorReport) -> Refusal {
    let mut more = vec![("report".to_string(), json::text(report.to_string()))];
    if let Some(location) = &report.location {
        let line = SjsonTree::Number(f64::from(location.line));
        more.push((
            "place".to_string(),
            json::object([("file", json::text(&location.file)), ("line", line)]),
        ));
    }
    more.push(("stopped".to_string(), SjsonTree::Bool(report.stopped)));
    Refusal { message: report.message.clone(), more }
}

/// Returns the completions of a name.
pub fn complete(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let before = text(call.fields, "text").unwrap_or_default().to_string();
    let arguments = [ScriptValue::Text(before.clone())];
    let answer = call.app.vm.call_core("tool_complete", &arguments, INSPECT_SECONDS);
    let tree = answer.map(|value| object(&value)).map_err(|report| refusal(&report))?;
    let Some(SjsonTree::String(start)) = tree.get("start") else {
        return Err(Refusal::of("nothing can be completed there"));
    };
    let completions = match tree.get("words") {
        Some(SjsonTree::Array(completions)) => completions.clone(),
        _ => Vec::new(),
    };
    let module = before[..before.len() - start.len()].trim_end_matches(['.', ':']);
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let module = module.rsplit(|c| !name(c)).next().unwrap_or_default();
    let names = completions.iter().filter_map(|word| match word {
        SjsonTree::String(word) if module.is_empty() => Some(word.clone()),
        SjsonTree::String(word) => Some(format!("{module}.{word}")),
        _ => None,
    });
    let paths: Vec<String> = names.take(SIGNATURES_MAX).collect();
    let known = SIGNATURES.get();
    let signatures = paths.iter().filter_map(|path| known?.get(path)).map(|(signature, doc)| {
        json::object([("signature", json::text(signature)), ("words", json::text(doc))])
    });
    Ok(Some(json::object([
        ("start", json::text(start)),
        ("words", SjsonTree::Array(completions)),
        ("signatures", SjsonTree::Array(signatures.collect())),
    ])))
}
