//! A game's settings: the one table of keys, with types, ranges, defaults and words, and the
//! reading of settings.sjson against it. Knows nothing of what the settings do.

use super::glob::{self, Glob};
use crate::error;
use crate::foundation::file_access::{self, readers};
use crate::foundation::sjson::{self, Kind, Tree, Value};
use crate::foundation::terminal::steers;
use crate::foundation::{Error, suggest};
use std::path::Path;

/// The longest text of a setting, in bytes.
pub const TEXT_BYTES_MAX: usize = 1000;

/// The file's name in the game's folder. It may be missing.
pub const FILE: &str = "settings.sjson";

/// What a key can hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Type {
    Text,
    Boolean,
    /// With the least and the greatest value.
    Number(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Names and numbers.
    Words,
    /// Anything with names as keys: the game's own.
    Free,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Parts joined by dots.
    pub key: &'static str,
    pub kind: Type,
    /// As it would stand in the file.
    pub default: &'static str,
    pub words: &'static str,
    /// Whether it acts at once where it is saved while the game is played; at the next start
    /// otherwise.
    pub live: bool,
}

impl Setting {
    /// The same, acting at once.
    const fn live(self) -> Setting {
        Setting { live: true, ..self }
    }
}

const fn setting(
    key: &'static str,
    kind: Type,
    default: &'static str,
    words: &'static str,
) -> Setting {
    Setting { key, kind, default, words, live: false }
}

/// Every key there is. Reference, checks and defaults come from here.
pub const SETTINGS: &[Setting] = &[
    setting("name", Type::Text, "\"\"", "The game's name, for people. The folder's name if empty."),
    setting(
        "id",
        Type::Text,
        "\"\"",
        "Names the folder for saves and user settings. Made from the name if empty; keep it for \
         ever.",
    ),
    setting(
        "version",
        Type::Text,
        "\"0.1.0\"",
        "The game's version, for crash reports; an older one does not read a newer one's saves.",
    ),
    setting("boot_script", Type::Text, "\"main\"", "The module that starts the game."),
    setting(
        "log.files",
        Type::Number(0.0, 100.0),
        "5",
        "How many log files are kept in `logs` of the save folder, of 4 MiB at most, of runs that \
         are paced by the clock; 0: none.",
    ),
    setting("lua.jit", Type::Boolean, "true", "Compile scripts to machine code while they run."),
    setting(
        "limits.lua_memory_mib",
        Type::Number(16.0, 65536.0),
        "1024",
        "Memory that scripts may hold, in MiB. More is an error.",
    ),
    setting(
        "limits.engine_memory_mib",
        Type::Number(16.0, 65536.0),
        "2048",
        "Memory that the engine may hold for the game, beside that of scripts, in MiB: resources, \
         units, saves on their way, workers. More is an error.",
    ),
    setting(
        "limits.update_seconds",
        Type::Number(0.05, 3600.0),
        "2",
        "CPU time of one callback, in seconds, after which it is stopped with an error.",
    )
    .live(),
    setting(
        "limits.init_seconds",
        Type::Number(0.05, 3600.0),
        "10",
        "The same for loading the boot script and for `init`.",
    )
    .live(),
    setting(
        "limits.worker_seconds",
        Type::Number(0.05, 86400.0),
        "10",
        "CPU time of a worker between two messages that it waits for; `seconds` of Worker.start is \
         for one.",
    )
    .live(),
    setting(
        "limits.worker_memory_mib",
        Type::Number(16.0, 65536.0),
        "256",
        "Memory that the scripts of one worker may hold, in MiB. More is an error in that worker.",
    )
    .live(),
    setting(
        "collector.milliseconds",
        Type::Number(0.05, 1000.0),
        "1",
        "Time for Lua's garbage collector at the end of each frame.",
    )
    .live(),
    setting(
        "collector.ceiling_mib",
        Type::Number(0.0, 65536.0),
        "0",
        "Above this heap the collector works harder. 0: twice what is alive, plus 64 MiB.",
    )
    .live(),
    setting(
        "tasks.priorities.physics",
        Type::Number(0.0, 31.0),
        "15",
        "How early the system that moves actors runs among the tasks of an update, 31 first.",
    )
    .live(),
    setting(
        "tasks.priorities.scene_graph",
        Type::Number(0.0, 31.0),
        "15",
        "The same for the one that computes where the nodes of units are.",
    )
    .live(),
    setting(
        "tasks.priorities.sprites",
        Type::Number(0.0, 31.0),
        "15",
        "The same for the one that plays the frames of sprites.",
    )
    .live(),
    setting(
        "tasks.priorities.particles",
        Type::Number(0.0, 31.0),
        "15",
        "The same for the one that moves particles.",
    )
    .live(),
    setting(
        "physics.gravity",
        Type::Number(-1000.0, 1000.0),
        "9.81",
        "How fast things fall in new worlds, in metres a second for each second.",
    ),
    setting(
        "physics.steps_per_second",
        Type::Number(10.0, 1000.0),
        "60",
        "How often a second the physics of new worlds is computed; pictures show what is between.",
    ),
    setting(
        "console.key",
        Type::Text,
        "\"grave\"",
        "The key that opens and closes the console, by its name; \"\": there is no console.",
    ),
    setting(
        "time_step",
        Type::Words,
        "[\"smoothing\", 11, 2, 0.1]",
        "How the step of a frame is made, as for Application.set_time_step_policy.",
    )
    .live(),
    setting(
        "window.title",
        Type::Text,
        "\"\"",
        "The words in the window's bar. The game's name if empty.",
    )
    .live(),
    setting(
        "window.width",
        Type::Number(1.0, 16384.0),
        "1280",
        "The width that the window opens with, in logical pixels: those of Guis.",
    )
    .live(),
    setting(
        "window.height",
        Type::Number(1.0, 16384.0),
        "720",
        "The height that the window opens with, in logical pixels.",
    )
    .live(),
    setting(
        "window.fullscreen",
        Type::Choice(&["off", "borderless", "exclusive"]),
        "\"off\"",
        "How the window stands on the screen, as for Window.set_fullscreen.",
    )
    .live(),
    setting(
        "window.vsync",
        Type::Choice(&["on", "off", "adaptive", "mailbox"]),
        "\"on\"",
        "When a picture is shown, as for Window.set_vsync.",
    )
    .live(),
    setting(
        "window.resizable",
        Type::Boolean,
        "true",
        "Whether the player can change the window's size.",
    )
    .live(),
    setting(
        "window.monitor",
        Type::Number(0.0, 64.0),
        "0",
        "The monitor that the window opens on, from 1. 0: where the desktop puts it.",
    ),
    setting(
        "render.smooth_edges",
        Type::Boolean,
        "true",
        "Whether worlds are drawn with four samples for each pixel.",
    )
    .live(),
    setting(
        "render.shadow_texels",
        Type::Number(0.0, 8192.0),
        "2048",
        "Texels on a side of each shadow map of a sun; those of spots have half as many. 0: there \
         are no shadows.",
    )
    .live(),
    setting(
        "render.shadow_distance",
        Type::Number(1.0, 10000.0),
        "100",
        "Up to how many metres before the camera suns cast shadows. Less makes them finer.",
    )
    .live(),
    setting(
        "render.shadow_maps",
        Type::Number(1.0, 4.0),
        "3",
        "In how many shadow maps that distance is cut: the nearest is the finest.",
    )
    .live(),
    setting(
        "render.less_on_processor",
        Type::Boolean,
        "true",
        "Where the processor draws in a window: worlds have one sample for each pixel, and shadows \
         come from one map of at most 512 texels a side, whatever else is set. Without it a frame \
         takes very long there.",
    )
    .live(),
    setting(
        "sound.mixer",
        Type::Text,
        "\"main\"",
        "The mixer whose buses sounds play on. Where there is no `main`, there are the buses \
         effects, music, voice and interface.",
    ),
    setting(
        "sound.mixed_voices",
        Type::Number(1.0, 512.0),
        "64",
        "How many recordings are mixed at once: the most important and loudest. The others go on \
         unheard.",
    )
    .live(),
    setting(
        "sound.device",
        Type::Text,
        "\"default\"",
        "The device that sound goes to: `default`, `null`, or one that the system lists \
         (on Linux, ALSA).",
    ),
    setting(
        "input.actions",
        Type::Free,
        "{}",
        "The game's actions and what they are bound to, as for Input.set_actions.",
    ),
    setting(
        "input.pads_in_background",
        Type::Boolean,
        "false",
        "Whether pads are heard while the window has not the focus, as where no desktop gives it.",
    )
    .live(),
    setting(
        "textures.nearest",
        Type::Boolean,
        "false",
        "Textures whose own settings name no filter show hard-edged texels: for pixel art.",
    ),
    setting(
        "bundle.exclude",
        Type::Words,
        "[\"**/*_test.lua\", \"**/*_spec.lua\", \"**/*.golden/**\", \"**/*.recording\", \
         \"spec/**\", \"test/**\", \"tests/**\"]",
        "Files that are not in bundles, by patterns of their paths: `*` stands for any part of a \
         name, `**/` for any folders. Tests are left out so.",
    )
    .live(),
    setting(
        "user_settings",
        Type::Free,
        "{}",
        "Defaults of the game's own user settings (Application.user_setting).",
    ),
];

/// The platforms that can have a block of their own, whose keys win there.
pub const PLATFORMS: &[&str] = &["linux", "windows", "macos"];

/// What a game's settings say, complete with defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    /// All keys, nested.
    pub tree: Tree,
}

impl Settings {
    /// The defaults alone.
    pub fn defaults() -> Settings {
        let mut tree = Tree::Object(Vec::new());
        for setting in SETTINGS {
            put(&mut tree, setting.key, default_of(setting));
        }
        Settings { tree }
    }

    /// Reads the settings of a game's folder, for a platform.
    pub fn read(folder: &Path, platform: &str) -> Result<Settings, Error> {
        match file_access::read(folder, FILE, &readers::SETTINGS) {
            Ok(bytes) => Settings::parse(bytes, platform),
            Err(refusal) if refusal.is_missing() => Ok(Settings::defaults()),
            Err(reason) => Err(error!("{FILE} cannot be read: {reason}")),
        }
    }

    /// Reads settings from the file's bytes.
    pub fn parse(bytes: Vec<u8>, platform: &str) -> Result<Settings, Error> {
        let document =
            sjson::parse_bytes(&bytes).map_err(|fault| Error::new(fault.in_file(FILE)))?;
        let mut settings = Settings::defaults();
        let root = document.root();
        if root.kind() != Kind::Object {
            return Err(fault(&root, "the settings must be `key = value` lines".to_string()));
        }
        settings.take_block(&root, "", PLATFORMS)?;
        for name in PLATFORMS {
            if let Some(block) = root.get(name) {
                if block.kind() != Kind::Object {
                    return Err(fault(&block, format!("'{name}' must be a block of settings")));
                }
                let mut own = settings.clone();
                own.take_block(&block, "", &[])?;
                if *name == platform {
                    settings = own;
                }
            }
        }
        Ok(settings)
    }

    fn take_block(&mut self, block: &Value, prefix: &str, except: &[&str]) -> Result<(), Error> {
        for entry in block.entries().into_iter().flatten() {
            let name = entry.key;
            if prefix.is_empty() && except.contains(&name) {
                continue;
            }
            let key = if prefix.is_empty() { name.to_string() } else { format!("{prefix}.{name}") };
            let value = entry.value;
            let inner = format!("{key}.");
            if let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) {
                check(setting, &value)?;
                put(&mut self.tree, &key, value.to_tree());
            } else if SETTINGS.iter().any(|setting| setting.key.starts_with(&inner)) {
                if value.kind() != Kind::Object {
                    let words = format!("'{key}' must be a block: {key} = {{ … }}");
                    return Err(fault(&value, words));
                }
                self.take_block(&value, &key, &[])?;
            } else {
                let hint = suggest::hint(name, known_names(prefix).iter().map(String::as_str));
                let words = format!("unknown setting '{key}'{hint}");
                return Err(error!("{FILE}:{}: {words}", entry.line()));
            }
        }
        Ok(())
    }

    /// The value of a key. The key must be in the table.
    pub fn value(&self, key: &str) -> &Tree {
        let mut tree = &self.tree;
        for part in key.split('.') {
            tree = tree.get(part).unwrap_or_else(|| panic!("there is no setting '{key}'"));
        }
        tree
    }

    /// A number's value. The key must be in the table.
    pub fn number(&self, key: &str) -> f64 {
        match self.value(key) {
            Tree::Number(number) => *number,
            other => panic!("setting '{key}' is no number: {other:?}"),
        }
    }

    /// A text's value.
    pub fn text(&self, key: &str) -> &str {
        match self.value(key) {
            Tree::String(text) => text,
            other => panic!("setting '{key}' is no text: {other:?}"),
        }
    }

    /// A boolean's value.
    pub fn boolean(&self, key: &str) -> bool {
        match self.value(key) {
            Tree::Bool(value) => *value,
            other => panic!("setting '{key}' is no boolean: {other:?}"),
        }
    }

    /// Takes the value of a key over from other settings.
    pub fn take(&mut self, key: &str, from: &Settings) {
        put(&mut self.tree, key, from.value(key).clone());
    }

    /// The files that bundles leave out.
    pub fn bundle_exclude(&self) -> Result<Vec<Glob>, Error> {
        let fault = |words: &str| error!("{FILE}: 'bundle.exclude': {words}");
        let glob = |item: &Tree| match item {
            Tree::String(text) => Glob::new(text).map_err(|words| fault(&words)),
            _ => Err(fault("only texts can stand in it")),
        };
        let patterns = self.list("bundle.exclude");
        glob::check_count(patterns.len()).map_err(|words| fault(&words))?;
        patterns.iter().map(glob).collect()
    }

    /// A list's items.
    pub fn list(&self, key: &str) -> &[Tree] {
        match self.value(key) {
            Tree::Array(items) => items,
            other => panic!("setting '{key}' is no list: {other:?}"),
        }
    }
}

fn default_of(setting: &Setting) -> Tree {
    let text = format!("value = {}", setting.default);
    let document = sjson::parse(&text).expect("the table's defaults are SJSON");
    document.root().get("value").expect("there is one").to_tree()
}

/// The names that can stand at a level, for suggestions.
fn known_names(prefix: &str) -> Vec<String> {
    let inner = if prefix.is_empty() { String::new() } else { format!("{prefix}.") };
    let keys = SETTINGS.iter().filter_map(|setting| setting.key.strip_prefix(&inner));
    let mut names: Vec<String> =
        keys.map(|rest| rest.split('.').next().unwrap_or(rest).to_string()).collect();
    if prefix.is_empty() {
        names.extend(PLATFORMS.iter().map(|name| name.to_string()));
    }
    names.dedup();
    names
}

fn fault(value: &Value, words: String) -> Error {
    error!("{FILE}:{}: {words}", value.line())
}

fn check(setting: &Setting, value: &Value) -> Result<(), Error> {
    let key = setting.key;
    let must =
        |what: &str| Err(fault(value, format!("'{key}' must be {what}, got {}", value.kind())));
    match setting.kind {
        Type::Text => match value.as_str() {
            Some(text) => check_text(key, text).map_err(|words| fault(value, words)),
            None => must("text in quotes"),
        },
        Type::Boolean if value.kind() != Kind::Bool => must("true or false"),
        Type::Free if value.kind() != Kind::Object => must("a block: { … }"),
        Type::Choice(known) => match value.as_str() {
            Some(word) if known.contains(&word) => Ok(()),
            Some(word) => {
                let hint = suggest::hint(word, known.iter().copied());
                let known = known.join(", ");
                let words = format!("'{key}' cannot be '{word}'{hint} (there are {known})");
                Err(fault(value, words))
            }
            None => must("text in quotes"),
        },
        Type::Words if value.kind() != Kind::Array => must("a list: [ … ]"),
        Type::Number(min, max) => match value.as_f64() {
            Some(number) if (min..=max).contains(&number) => Ok(()),
            Some(number) => {
                Err(fault(value, format!("'{key}' must be {min} to {max}, got {number}")))
            }
            None => must("a number"),
        },
        _ => Ok(()),
    }
}

/// Refuses a text that is not one line of letters: it goes on to windows, terminals and files.
fn check_text(key: &str, text: &str) -> Result<(), String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!(
            "'{key}' must have at most {TEXT_BYTES_MAX} bytes (TEXT_BYTES_MAX), got {}",
            text.len()
        ));
    }
    match text.chars().find(|c| c.is_control() || steers(*c)) {
        None => Ok(()),
        Some(odd) => Err(format!("'{key}' has {odd:?} in it: write it as one line of letters")),
    }
}

/// Puts a value at a dotted key, making the blocks on the way.
fn put(tree: &mut Tree, key: &str, value: Tree) {
    let Tree::Object(entries) = tree else {
        panic!("'{key}' leads through something that is no block")
    };
    let (name, rest) = key.split_once('.').map_or((key, None), |(name, rest)| (name, Some(rest)));
    let at = entries.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        entries.push((name.to_string(), Tree::Object(Vec::new())));
        entries.len() - 1
    });
    match rest {
        Some(rest) => put(&mut entries[at].1, rest, value),
        None => entries[at].1 = value,
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
