//! Functions of the prelude that ask the parser about a script: where statements and functions
//! begin, and what names mean there. The debugger uses them (lua/debug/breakpoints.lua).

use crate::api_row::{ModuleRows, func, more};
use crate::argument::TextArgument;
use crate::describe_value::ENGINE_CHUNK;
use crate::lint;
use crate::lint::debug_names::{ConditionCalls, NameKind};
use crate::prelude::{self, PreludeFile};
use crate::value::ScriptValue;
use engine_runtime::Engine;
use std::collections::HashMap;

pub static CORE: ModuleRows = more(
    "core",
    &[
        func(
            "statement_starts",
            statement_starts,
            &[("text", "")],
            "Returns the lines of a script on which statements begin and the byte before the first \
             of them, in turns; nil if the script is not understood.",
        )
        .pure(),
        func(
            "named_functions",
            named_functions,
            &[("text", "")],
            "Returns the functions of a script that have names: the name, the line and the byte of \
             the body, in turns; nil if the script is not understood.",
        )
        .pure(),
        func(
            "condition_names",
            condition_names,
            &[("text", "")],
            "Returns the names that an expression reads, after true if it calls functions, or \
             'library' if these are of Lua's library and return; nil if it is no expression.",
        )
        .pure(),
        func(
            "name_kinds",
            name_kinds,
            &[("text", ""), ("wanted", "lines: a byte of the text, and names")],
            "Returns for each line the kinds of its names, as letters: local, upvalue, hidden, \
             global; nil if the script is not understood.",
        )
        .pure(),
        func(
            "engine_source",
            engine_source,
            &[("chunk", "")],
            "Returns the text of a file of the prelude by the name of its chunk, or nil.",
        )
        .pure(),
        func(
            "engine_chunks",
            engine_chunks,
            &[],
            "Returns the names of the chunks of all files of the prelude.",
        )
        .pure(),
    ],
);

fn engine_source(_: &mut Engine, chunk: TextArgument) -> ScriptValue {
    let name = chunk.as_str().strip_prefix(ENGINE_CHUNK).unwrap_or_default().trim();
    let is_named = |file: &&PreludeFile| file.name == name;
    let file = prelude::FILES.iter().chain([&prelude::LAST]).find(is_named);
    file.map_or(ScriptValue::Nil, |file| ScriptValue::Text(file.text.to_string()))
}

fn engine_chunks(_: &mut Engine) -> ScriptValue {
    let files = prelude::FILES.iter().chain([&prelude::LAST]);
    let name = |file: &PreludeFile| ScriptValue::Text(format!("{ENGINE_CHUNK} {}", file.name));
    ScriptValue::List(files.map(name).collect())
}

fn statement_starts(_: &mut Engine, script: TextArgument) -> ScriptValue {
    let Some(starts) = lint::statements(script.as_str()) else { return ScriptValue::Nil };
    let (mut line, mut at, mut last) = (1, 0, 0);
    let mut found = Vec::new();
    for start in starts {
        line += script.as_str()[at..start].bytes().filter(|byte| *byte == b'\n').count();
        at = start;
        if line > last {
            found.extend([line, start].map(|number| ScriptValue::Number(number as f64)));
            last = line;
        }
    }
    ScriptValue::List(found)
}

fn named_functions(_: &mut Engine, script: TextArgument) -> ScriptValue {
    let text = script.as_str();
    let Some(functions) = lint::debug_names::named_functions(text) else { return ScriptValue::Nil };
    let (mut line, mut at) = (1, 0);
    let mut found = Vec::new();
    for function in functions {
        line += text[at..function.body].bytes().filter(|byte| *byte == b'\n').count();
        at = function.body;
        found.push(ScriptValue::Text(function.name));
        found.extend([line, at].map(|number| ScriptValue::Number(number as f64)));
    }
    ScriptValue::List(found)
}

fn condition_names(_: &mut Engine, expression: TextArgument) -> ScriptValue {
    match lint::debug_names::condition_names(expression.as_str()) {
        Some(condition) => {
            let names = condition.names.into_iter().map(ScriptValue::Text);
            let calls = match condition.calls {
                ConditionCalls::None => ScriptValue::Boolean(false),
                ConditionCalls::Library => ScriptValue::Text("library".to_string()),
                ConditionCalls::Any => ScriptValue::Boolean(true),
            };
            ScriptValue::List(std::iter::once(calls).chain(names).collect())
        }
        None => ScriptValue::Nil,
    }
}

fn name_kinds(_: &mut Engine, script: TextArgument, wanted: TextArgument) -> ScriptValue {
    let (mut positions, mut lines) = (HashMap::new(), Vec::new());
    for line in wanted.as_str().lines() {
        let mut parts = line.split(' ').map(str::to_string);
        let at = parts.next().and_then(|at| at.parse::<usize>().ok()).unwrap_or(usize::MAX);
        lines.push(at);
        positions.insert(at, parts.collect());
    }
    let Some(kinds) = lint::debug_names::kinds_of(script.as_str(), &positions) else {
        return ScriptValue::Nil;
    };
    let letter = |kind: &NameKind| match kind {
        NameKind::Local => 'l',
        NameKind::Upvalue => 'u',
        NameKind::Hidden => 'h',
        NameKind::Global => 'g',
    };
    let letters = |at: &usize| {
        kinds.get(at).map_or_else(String::new, |kinds| kinds.iter().map(letter).collect())
    };
    ScriptValue::List(lines.iter().map(|at| ScriptValue::Text(letters(at))).collect())
}
