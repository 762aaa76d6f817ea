//! What the console's commands and `Application.console_send` need of the run: messages to tools,
//! wishes, what is loaded, how pictures are drawn. The commands themselves are the prelude's
//! (lua/commands.lua).

use super::profiler::{Tables, table};
use crate::engine::Engine;
use crate::foundation::suggest;
use crate::resource::settings::SETTINGS;
use crate::script::arg::Text;
use crate::script::ret::Expected;
use crate::script::row::{Module, func, module};
use crate::script::value::Value;
use crate::system::tools::json;
use crate::system::tools::outbox::Wish;
use std::collections::BTreeSet;

pub static CORE: Module = module(
    "core",
    "Tools for the prelude.",
    "assert(core == nil)",
    &[
        func("console_send", console_send, &[("text", "")], "Sends JSON to who follows the game.")
            .pure(),
        func("wish_pause", wish_pause, &[], "Has the run stand, or go on."),
        func("wish_refresh", wish_refresh, &[], "Takes what changed in the game's folder."),
        func("wish_reload", wish_reload, &[("kind", "")], "Takes the resources of a kind again."),
        func("loaded_resources", loaded_resources, &[], "What is kept: name, kind, bytes.").pure(),
        func("render_settings", render_settings, &[], "The renderer's: name and value.").pure(),
    ],
);

fn console_send(engine: &mut Engine, text: Text) {
    engine.outbox.send(text.as_str().to_string());
}

fn wish_pause(engine: &mut Engine) {
    engine.outbox.wish(Wish::Pause);
}

fn wish_refresh(engine: &mut Engine) {
    engine.outbox.wish(Wish::Refresh);
}

fn wish_reload(engine: &mut Engine, kind: Text) -> Expected<bool> {
    let kind = kind.as_str();
    let index = engine.store.index();
    let kinds: BTreeSet<&str> =
        index.entries.iter().map(|entry| entry.resource.kind.as_str()).collect();
    if !kinds.contains(kind) {
        let hint = suggest::hint(kind, kinds);
        return Expected(Err(format!("the game has no resource of the kind '{kind}'{hint}")));
    }
    engine.outbox.wish(Wish::Reload(kind.to_string()));
    Expected(Ok(true))
}

fn render_settings(engine: &mut Engine) -> Tables {
    let keys = SETTINGS.iter().map(|row| row.key).filter(|key| key.starts_with("render."));
    let rows = keys.map(|key| {
        let value = json::write(engine.settings.value(key));
        table([("name", Value::Text(key.to_string())), ("value", Value::Text(value))])
    });
    let adapter = match engine.picture.adapter.as_str() {
        "" => "none, for nothing is drawn",
        adapter => adapter,
    };
    let adapter =
        table([("name", Value::Text("adapter".into())), ("value", Value::Text(adapter.into()))]);
    Tables([adapter].into_iter().chain(rows).collect())
}

fn loaded_resources(engine: &mut Engine) -> Tables {
    let store = &engine.store;
    let mut names: Vec<_> = store.index().entries.iter().map(|entry| &entry.resource).collect();
    names.dedup();
    let kept = names.into_iter().filter_map(|name| Some((name, store.kept_bytes(name)?)));
    let rows = kept.map(|(name, bytes)| {
        table([
            ("name", Value::Text(name.to_string())),
            ("kind", Value::Text(name.kind.clone())),
            ("bytes", Value::Number(bytes as f64)),
        ])
    });
    Tables(rows.collect())
}
