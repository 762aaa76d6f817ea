//! Native functions for the console's commands and `Application.console_send`: messages to tools,
//! commands for the run, loaded resources, render settings. The commands themselves are in the
//! prelude (lua/debug/commands.lua).

use crate::api::profiler::{TableList, table};
use crate::api_row::{ModuleRows, func, module};
use crate::argument::TextArgument;
use crate::return_value::ExpectedResult;
use crate::value::ScriptValue;
use engine_foundation::json;
use engine_foundation::suggest;
use engine_remote::outbox::ConsoleCommand;
use engine_resource::settings::SETTINGS;
use engine_runtime::Engine;
use std::collections::BTreeSet;

pub static CORE: ModuleRows = module(
    "core",
    "Native functions for tools, for the prelude.",
    "assert(core == nil)",
    &[
        func("console_send", console_send, &[("text", "")], "Sends JSON to the connected tools.")
            .pure(),
        func("request_pause", request_pause, &[], "Pauses or resumes the run."),
        func("wish_refresh", request_refresh, &[], "Reloads what changed in the game's folder."),
        func("wish_reload", request_reload, &[("kind", "")], "Reloads the resources of a kind."),
        func(
            "loaded_resources",
            loaded_resources,
            &[],
            "Returns the resources in memory: name, kind, bytes.",
        )
        .pure(),
        func(
            "render_settings",
            render_settings,
            &[],
            "Returns the renderer's settings: name and value.",
        )
        .pure(),
    ],
);

fn console_send(engine: &mut Engine, text: TextArgument) {
    engine.devices.outbox.send(text.as_str().to_string());
}

fn request_pause(engine: &mut Engine) {
    engine.devices.outbox.push_command(ConsoleCommand::Pause);
}

fn request_refresh(engine: &mut Engine) {
    engine.devices.outbox.push_command(ConsoleCommand::Refresh);
}

fn request_reload(engine: &mut Engine, kind: TextArgument) -> ExpectedResult<bool> {
    let kind = kind.as_str();
    let index = engine.assets.store.index();
    let kinds: BTreeSet<&str> =
        index.entries.iter().map(|entry| entry.resource.kind.as_str()).collect();
    if !kinds.contains(kind) {
        let hint = suggest::hint(kind, kinds);
        return ExpectedResult(Err(format!("the game has no resource of the kind '{kind}'{hint}")));
    }
    engine.devices.outbox.push_command(ConsoleCommand::Reload(kind.to_string()));
    ExpectedResult(Ok(true))
}

fn render_settings(engine: &mut Engine) -> TableList {
    let keys = SETTINGS.iter().map(|row| row.key).filter(|key| key.starts_with("render."));
    let rows = keys.map(|key| {
        let value = json::write(engine.game.settings.value(key));
        table([("name", ScriptValue::Text(key.to_string())), ("value", ScriptValue::Text(value))])
    });
    let adapter = match engine.drawing.builder.adapter.as_str() {
        "" => "none, because nothing is drawn",
        adapter => adapter,
    };
    let adapter = table([
        ("name", ScriptValue::Text("adapter".into())),
        ("value", ScriptValue::Text(adapter.into())),
    ]);
    TableList([adapter].into_iter().chain(rows).collect())
}

fn loaded_resources(engine: &mut Engine) -> TableList {
    let store = &engine.assets.store;
    let mut names: Vec<_> = store.index().entries.iter().map(|entry| &entry.resource).collect();
    names.dedup();
    let kept = names.into_iter().filter_map(|name| Some((name, store.kept_bytes(name)?)));
    let rows = kept.map(|(name, bytes)| {
        table([
            ("name", ScriptValue::Text(name.to_string())),
            ("kind", ScriptValue::Text(name.kind.clone())),
            ("bytes", ScriptValue::Number(bytes as f64)),
        ])
    });
    TableList(rows.collect())
}
