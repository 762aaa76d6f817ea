//! Settings that are saved while the game is played: those that can act at once do, and whoever
//! saved them is told which ones act at the next start. What the settings are is in
//! src/resource/settings.rs.

use super::{App, apply_collection, apply_priorities, apply_time_step, window_opening};
use crate::engine::Engine;
use crate::foundation::{Error, log};
use crate::resource::settings::{FILE, SETTINGS, Setting, Settings};
use crate::system::platform;
use crate::system::window::Wish;

impl App {
    /// Takes the settings of the game's folder again: whether any acts now. What is wrong with them
    /// is told, and then all stay as they were.
    pub(super) fn take_settings(&mut self) -> bool {
        let engine = self.vm.engine();
        let Some(folder) = engine.project.folder() else { return false };
        let before = engine.settings.clone();
        let taken = Settings::read(folder, platform::NAME)
            .and_then(|saved| take(engine, &saved).map(|changed| (saved, changed)));
        let (saved, changed) = match taken {
            Ok(taken) => taken,
            Err(error) => {
                engine.settings = before;
                // They were applied at the start, and can be again.
                let _ = apply_priorities(engine);
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

/// Takes over what acts at once: every setting that is another one than before.
fn take(engine: &mut Engine, saved: &Settings) -> Result<Vec<&'static Setting>, Error> {
    saved.bundle_exclude()?;
    let differs =
        |setting: &&Setting| saved.value(setting.key) != engine.settings.value(setting.key);
    let changed: Vec<&'static Setting> = SETTINGS.iter().filter(differs).collect();
    for setting in changed.iter().filter(|setting| setting.live) {
        engine.settings.take(setting.key, saved);
    }
    let any = |prefix: &str| changed.iter().any(|setting| setting.key.starts_with(prefix));
    if any("tasks.priorities.") {
        apply_priorities(engine)?;
    }
    // Only where the file says something new: the game may have set its own.
    if any("time_step") {
        apply_time_step(engine)?;
    }
    if any("collector.") {
        apply_collection(engine);
    }
    if any("sound.mixed_voices") {
        engine.sounds.voices.mixed_max = saved.number("sound.mixed_voices") as usize;
    }
    if any("window.") {
        apply_window(engine, |key| any(key))?;
    }
    Ok(changed)
}

fn apply_window(engine: &mut Engine, changed: impl Fn(&str) -> bool) -> Result<(), Error> {
    let opening = window_opening(&engine.settings, &engine.project)?;
    let window = &mut engine.window;
    if changed("window.title") {
        window.wish(Wish::Title(opening.title));
    }
    if changed("window.width") || changed("window.height") {
        window.wish(Wish::Size(opening.width, opening.height));
    }
    if changed("window.fullscreen") {
        window.wish(Wish::Fullscreen(opening.fullscreen));
    }
    if changed("window.resizable") {
        window.wish(Wish::Resizable(opening.resizable));
    }
    if changed("window.vsync") {
        window.vsync = opening.vsync;
    }
    Ok(())
}
