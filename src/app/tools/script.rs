//! Lua from tools: run in the game's VM, and names completed. What a script can do there, a tool
//! can; no more.

use super::messages::{number, text, truth};
use super::{Call, Refusal};
use crate::foundation::sjson::Tree;
use crate::foundation::{fault, log};
use crate::script::emit::Api;
use crate::script::emit::model::first_sentence;
use crate::script::{Report, Value};
use crate::system::tools::json;
use std::collections::HashMap;
use std::sync::OnceLock;

/// CPU seconds that a text may take, where it does not say.
const EVAL_SECONDS: f64 = 0.5;
/// CPU seconds for what the engine's own functions do for a tool.
pub const LOOK_SECONDS: f64 = 0.5;
/// The most signatures of one completion.
const SIGNATURES_MAX: usize = 20;

/// Every function that games have, by its name: how it is called, and what it does.
static SIGNATURES: OnceLock<HashMap<String, (String, String)>> = OnceLock::new();

/// Has the signatures made, which takes some milliseconds, beside the game.
pub fn prepare() {
    let make = || {
        SIGNATURES.get_or_init(|| {
            let api = Api::new();
            let of = api.functions().chain(&api.globals).map(|function| {
                let doc = first_sentence(&function.doc);
                (function.path(), (function.signature(), doc))
            });
            of.collect()
        });
    };
    if SIGNATURES.get().is_none() {
        // Without a thread for it, completions show names alone.
        let _ = fault::spawn("tools-words", make);
    }
}

/// Runs a text.
pub fn eval(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let words = text(call.fields, "text").unwrap_or_default().to_string();
    let seconds = number(call.fields, "seconds").unwrap_or(EVAL_SECONDS);
    let arguments = [Value::Text(words), Value::Boolean(truth(call.fields, "data"))];
    call.state.redraw = true;
    let (before, _) = log::lines_after(u64::MAX);
    let outcome = match call.app.vm.call_core("tool_eval", &arguments, seconds) {
        Ok(answer) => answered(object(&answer)),
        Err(mut report) => Err(too_long(&mut report, seconds)),
    };
    // Not everybody who asks follows the log.
    let logged = ("logged".to_string(), lines_since(before));
    match outcome {
        Ok(Tree::Object(entries)) => {
            Ok(Some(Tree::Object(entries.into_iter().chain([logged]).collect())))
        }
        Ok(other) => Ok(Some(other)),
        Err(mut refusal) => {
            refusal.more.push(logged);
            Err(refusal)
        }
    }
}

/// What was logged since so many lines were.
fn lines_since(count: u64) -> Tree {
    let lines = log::lines_after(count).1;
    json::texts(lines.into_iter().map(|(level, text)| match level {
        log::Level::Info => text,
        level => format!("{}: {text}", level.name()),
    }))
}

/// Runs a text for what it does.
pub fn run(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let words = text(call.fields, "script").unwrap_or_default().to_string();
    let arguments = [Value::Text(words), Value::Boolean(false)];
    call.state.redraw = true;
    match call.app.vm.call_core("tool_eval", &arguments, EVAL_SECONDS) {
        Ok(answer) => answered(object(&answer)).map(|_| Some(json::object([]))),
        Err(mut report) => Err(too_long(&mut report, EVAL_SECONDS)),
    }
}

/// What came of a text: it may be no Lua.
fn answered(answer: Tree) -> Result<Tree, Refusal> {
    match answer.get("problem") {
        Some(Tree::String(problem)) => Err(Refusal::of(problem.clone())),
        _ => Ok(answer),
    }
}

/// An error of a tool's Lua. Where it was stopped, the game's settings are not what limited it.
fn too_long(report: &mut Report, seconds: f64) -> Refusal {
    if report.stopped && report.message.contains(CPU_TIME) {
        let words = format!("ran for {seconds} {CPU_TIME} without an end");
        report.message = format!("stopped: this {words} ('eval' takes more in 'seconds')");
    }
    refusal(report)
}

/// In the words of whoever stops a script for its time; its settings are not what limits a tool.
const CPU_TIME: &str = "seconds of CPU time";

/// What the prelude gives: a table. Its lists are lists, also empty ones.
pub fn object(value: &Value) -> Tree {
    let mut tree = value.to_tree();
    if let Tree::Object(entries) = &mut tree {
        for (key, value) in entries {
            if ["values", "words", "held"].contains(&key.as_str())
                && *value == Tree::Object(Vec::new())
            {
                *value = Tree::Array(Vec::new());
            }
        }
    }
    tree
}

/// An error with its stack.
pub fn refusal(report: &Report) -> Refusal {
    let mut more = vec![("report".to_string(), json::text(report.to_string()))];
    if let Some(place) = &report.place {
        let line = Tree::Number(f64::from(place.line));
        more.push((
            "place".to_string(),
            json::object([("file", json::text(&place.file)), ("line", line)]),
        ));
    }
    more.push(("stopped".to_string(), Tree::Bool(report.stopped)));
    Refusal { message: report.message.clone(), more }
}

/// What a name could go on with.
pub fn complete(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let before = text(call.fields, "text").unwrap_or_default().to_string();
    let arguments = [Value::Text(before.clone())];
    let answer = call.app.vm.call_core("tool_complete", &arguments, LOOK_SECONDS);
    let tree = answer.map(|value| object(&value)).map_err(|report| refusal(&report))?;
    let Some(Tree::String(start)) = tree.get("start") else {
        return Err(Refusal::of("nothing can be completed there"));
    };
    let words = match tree.get("words") {
        Some(Tree::Array(words)) => words.clone(),
        _ => Vec::new(),
    };
    let module = before[..before.len() - start.len()].trim_end_matches(['.', ':']);
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let module = module.rsplit(|c| !name(c)).next().unwrap_or_default();
    let names = words.iter().filter_map(|word| match word {
        Tree::String(word) if module.is_empty() => Some(word.clone()),
        Tree::String(word) => Some(format!("{module}.{word}")),
        _ => None,
    });
    let paths: Vec<String> = names.take(SIGNATURES_MAX).collect();
    let known = SIGNATURES.get();
    let signatures = paths.iter().filter_map(|path| known?.get(path)).map(|(signature, doc)| {
        json::object([("signature", json::text(signature)), ("words", json::text(doc))])
    });
    Ok(Some(json::object([
        ("start", json::text(start)),
        ("words", Tree::Array(words)),
        ("signatures", Tree::Array(signatures.collect())),
    ])))
}
