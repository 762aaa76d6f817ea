//! Live settings: settings saved while the game is played. Those that can take effect at once do.
//! The others are reported, because they take effect at the next start. The settings themselves are
//! defined in src/resource/settings_table.rs.

use super::window_options;
use super::{App, apply_collection, apply_flow_limits, apply_priorities, apply_time_step};
use engine_foundation::{Error, log};
use engine_resource::settings::{FILE, SETTINGS, Setting, Settings};
use engine_runtime::{Engine, OpenedGame};
use engine_window::{Window, WindowCommand};

impl App {
    /// Reloads the settings of the game's folder. Returns true if any setting took effect. Errors
    /// are reported, and then all settings stay as they were.
    pub(super) fn reload_settings(&mut self) -> bool {
        let engine = self.vm.engine();
        let Some(folder) = engine.game.project.folder() else { return false };
        let before = engine.game.settings.clone();
        let taken = Settings::read(folder, &engine.game.source_platform)
            .and_then(|saved| apply_changed(engine, &saved).map(|changed| (saved, changed)));
        let (saved, changed) = match taken {
            Ok(taken) => taken,
            Err(error) => {
                engine.game.settings = before;
                // The old priorities were applied at the start, so this cannot fail now.
                let _ = apply_priorities(&engine.game.settings, &mut engine.devices.tasks);
                log::error(&format!("{}: all settings stay as they were", error.message));
                return false;
            }
        };
        self.init_seconds = saved.number("limits.init_seconds");
        self.update_seconds = saved.number("limits.update_seconds");
        let keys = |live: bool| {
            let keys = changed.iter().filter(|setting| setting.live == live);
            keys.map(|setting| setting.key).collect::<Vec<_>>().join(", ")
        };
        for (keys, when) in [(keys(true), "acts now"), (keys(false), "acts at the next start")] {
            if !keys.is_empty() {
                let when =
                    if keys.contains(", ") { when.replacen("acts", "act", 1) } else { when.into() };
                log::info(&format!("{FILE}: {keys} {when}"));
            }
        }
        changed.iter().any(|setting| setting.live)
    }
}

/// Applies every changed setting that can take effect at once, and returns all changed settings.
fn apply_changed(engine: &mut Engine, saved: &Settings) -> Result<Vec<&'static Setting>, Error> {
    saved.bundle_exclude()?;
    let differs =
        |setting: &&Setting| saved.value(setting.key) != engine.game.settings.value(setting.key);
    let changed: Vec<&'static Setting> = SETTINGS.iter().filter(differs).collect();
    for setting in changed.iter().filter(|setting| setting.live) {
        engine.game.settings.take(setting.key, saved);
    }
    let any = |prefix: &str| changed.iter().any(|setting| setting.key.starts_with(prefix));
    if any("tasks.priorities.") {
        apply_priorities(&engine.game.settings, &mut engine.devices.tasks)?;
    }
    // Only if the file changes the value: the game may have set its own policy.
    if any("time_step") {
        apply_time_step(&engine.game.settings, &mut engine.frame)?;
    }
    if any("collector.") {
        apply_collection(&engine.game.settings, &mut engine.frame);
    }
    if any("limits.flow_") {
        apply_flow_limits(&engine.game.settings, engine.worlds.flow.get_mut());
    }
    if any("sound.mixed_voices") {
        engine.devices.sounds.voices.mixed_max = saved.number("sound.mixed_voices") as usize;
    }
    if any("window.") {
        apply_window(&engine.game, &mut engine.devices.window, |key| any(key))?;
    }
    Ok(changed)
}

fn apply_window(
    game: &OpenedGame,
    window: &mut Window,
    changed: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    let opening = window_options(&game.settings, &game.project)?;
    if changed("window.title") {
        window.push_command(WindowCommand::Title(opening.title));
    }
    if changed("window.width") || changed("window.height") {
        window.push_command(WindowCommand::Size(opening.width, opening.height));
    }
    if changed("window.fullscreen") {
        window.push_command(WindowCommand::Fullscreen(opening.fullscreen));
    }
    if changed("window.resizable") {
        window.push_command(WindowCommand::Resizable(opening.resizable));
    }
    if changed("window.vsync") {
        window.vsync = opening.vsync;
    }
    if changed("window.design") || changed("window.scaling") {
        window.design = opening.design;
    }
    window.bar_color = opening.bar_color;
    Ok(())
}
