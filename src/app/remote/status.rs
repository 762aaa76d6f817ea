//! The status of a game for tools, also of one that the debugger has stopped.

use super::stopped_game::location_of;
use super::{IncomingCall, Refusal};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_remote::VERSION;
use engine_runtime::Engine;
use std::path::Path;

/// The part of a game's status that its engine does not know.
pub struct StatusFacts<'a> {
    /// The game's folder.
    pub folder: &'a Path,
    pub paused: bool,
    pub problem: Option<String>,
    /// The line at which the debugger has stopped a script.
    pub stopped: Option<&'a str>,
    pub clients: usize,
    pub refused: u64,
    pub dropped: u64,
}

/// Returns the reply to `status`.
pub fn status(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let worker = call.state.link.workers.stop().map(|event| location_of(&event));
    let facts = StatusFacts {
        folder: &call.state.folder,
        paused: call.state.is_paused(),
        problem: call.state.problem.clone(),
        stopped: worker.as_deref(),
        clients: call.clients,
        refused: call.state.link.server.refused(),
        dropped: call.dropped,
    };
    Ok(Some(status_of(call.app.vm.engine(), &facts)))
}

/// Returns the status of a game as tools get it.
pub fn status_of(engine: &Engine, facts: &StatusFacts) -> SjsonTree {
    let name = match engine.game.settings.text("name") {
        "" => engine.game.project.folder_name(),
        name => name.to_string(),
    };
    let (width, height) = engine.devices.window.pixels;
    let folder = std::path::absolute(facts.folder);
    let folder = folder.map_or(String::new(), |folder| folder.to_string_lossy().into_owned());
    let problem = facts.problem.clone().map_or(SjsonTree::Null, SjsonTree::String);
    json::object([
        ("game", json::text(name)),
        ("folder", json::text(folder)),
        ("version", SjsonTree::Number(f64::from(VERSION))),
        ("engine", json::text(env!("CARGO_PKG_VERSION"))),
        ("build", json::text(engine.game.build.name())),
        ("deterministic", SjsonTree::Bool(engine.game.deterministic)),
        ("frame", SjsonTree::Number(engine.frame.index as f64)),
        ("seconds", SjsonTree::Number(engine.frame.total)),
        ("paused", SjsonTree::Bool(facts.paused)),
        ("problem", problem),
        ("stopped", facts.stopped.map_or(SjsonTree::Null, json::text)),
        ("sound_held", SjsonTree::Bool(engine.devices.sounds.is_held())),
        ("draws", SjsonTree::Bool(engine.drawing.builder.is_shown)),
        ("size", json::numbers([f64::from(width), f64::from(height)])),
        ("scale", SjsonTree::Number(engine.devices.window.scale)),
        ("worlds", json::count(engine.worlds.slots.len())),
        ("units", json::count(engine.worlds.units.slots.len())),
        ("clients", json::count(facts.clients)),
        ("refused", SjsonTree::Number(facts.refused as f64)),
        ("dropped", SjsonTree::Number(facts.dropped as f64)),
    ])
}
