//! The appearance of a game that the debugger has stopped: the window shows its last frame with a
//! banner, sounds pause if the settings say so, and tools see the line.

use crate::display::{Display, PausedDisplay};
use engine_foundation::sjson::SjsonTree;
use engine_runtime::Engine;
use engine_window::WindowChange;

/// Maximum length of a location in the banner, in characters.
const LOCATION_MAX: usize = 200;

/// A game whose script is stopped, or may be.
#[derive(Default)]
pub struct StoppedGame {
    /// The reason and the location of the stop.
    reason: String,
    location: String,
    /// True while the script is stopped.
    is_stopped: bool,
    display: Option<PausedDisplay>,
}

fn text<'a>(tree: &'a SjsonTree, key: &str) -> &'a str {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text,
        _ => "",
    }
}

/// Returns the location of a stop by the frame in its event: `units/orc.lua:12`.
pub fn location_of(event: &SjsonTree) -> String {
    let frame = match event.get("frames") {
        Some(SjsonTree::Array(frames)) => frames.first(),
        _ => None,
    };
    let Some(frame) = frame else { return "a function of the engine".to_string() };
    let file: String = text(frame, "file").chars().take(LOCATION_MAX).collect();
    match (file.as_str(), frame.get("line")) {
        ("", _) => "a function of the engine".to_string(),
        (file, Some(SjsonTree::Number(line))) => format!("{file}:{line}"),
        (file, _) => file.to_string(),
    }
}

impl StoppedGame {
    /// Notes why and at which line the script stops, from the event that says so.
    pub fn note(&mut self, event: &SjsonTree) {
        self.location = location_of(event);
        self.reason = match text(event, "reason") {
            "breakpoint" => "by a breakpoint",
            "function" => "by the breakpoint of a function",
            "data" => "by a value that has changed",
            "error" if text(event, "kind") == "warning" => "by a warning",
            "error" => "by an error",
            _ => "after a step or a pause",
        }
        .to_string();
        // Another stop may follow, whose banner is another one.
        self.display = None;
    }

    /// Returns the text over the last frame.
    fn banner(&self) -> String {
        let StoppedGame { reason, location, .. } = self;
        format!(
            "Stopped {reason} at {location}. Continue in the debugger; closing the window ends \
             the stop."
        )
    }

    /// Returns the line at which the script is stopped.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Begins the stop, if it has not begun.
    pub fn begin(&mut self, engine: &Engine) {
        if !self.is_stopped {
            self.is_stopped = true;
            self.hold_sound(engine);
        }
    }

    /// Holds the sound of the game, if the settings say so.
    pub fn hold_sound(&self, engine: &Engine) {
        engine.devices.sounds.hold(engine.game.settings.boolean("debugger.pauses_sound"));
    }

    /// Ends the stop.
    pub fn end(&mut self, engine: &Engine) {
        self.is_stopped = false;
        self.display = None;
        engine.devices.sounds.hold(false);
    }

    /// Shows the last frame with the banner. `changes` are those of the window since the last call.
    pub fn show(&mut self, display: &mut Display, engine: &mut Engine, changes: &[WindowChange]) {
        let banner = if self.display.is_none() { self.banner() } else { String::new() };
        let paused = self.display.get_or_insert_with(|| display.begin_pause(engine, banner));
        display.show_paused(engine, paused, changes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::json;

    #[test]
    fn the_banner_has_the_reason_of_a_stop() {
        for (event, wanted) in [
            (r#"{"reason": "breakpoint"}"#, "Stopped by a breakpoint at"),
            (r#"{"reason": "function"}"#, "Stopped by the breakpoint of a function at"),
            (r#"{"reason": "data"}"#, "Stopped by a value that has changed at"),
            (r#"{"reason": "error", "kind": "caught"}"#, "Stopped by an error at"),
            (r#"{"reason": "error", "kind": "warning"}"#, "Stopped by a warning at"),
            (r#"{"reason": "step"}"#, "Stopped after a step or a pause at"),
        ] {
            let mut stopped = StoppedGame::default();
            stopped.note(&json::read(event).expect("JSON"));
            assert!(stopped.banner().starts_with(wanted), "{}", stopped.banner());
        }
    }

    #[test]
    fn a_stop_has_the_line_of_its_innermost_function() {
        let check = |event: &str, wanted: &str| {
            let event = json::read(event).expect("JSON");
            assert_eq!(location_of(&event), wanted);
        };
        check(r#"{"frames": [{"file": "a/b.lua", "line": 7}, {"file": "c.lua"}]}"#, "a/b.lua:7");
        check(r#"{"frames": [{"file": "a.lua"}]}"#, "a.lua");
        check(r#"{"frames": [{"name": "wait"}]}"#, "a function of the engine");
        check(r#"{"frames": []}"#, "a function of the engine");
        let long = format!(r#"{{"frames": [{{"file": "{}", "line": 1}}]}}"#, "x".repeat(5000));
        check(&long, &format!("{}:1", "x".repeat(LOCATION_MAX)));
    }
}
