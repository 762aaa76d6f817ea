//! A game's settings: the table of all keys with types, ranges, defaults and descriptions, and the
//! validation of settings.sjson against the table. The effects of the settings are implemented
//! elsewhere.

use super::glob::{self, Glob};
use engine_foundation::error;
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::{self, SjsonTree, SjsonValue, ValueKind};
use engine_foundation::terminal::controls_terminal;
use engine_foundation::{Error, suggest};
use std::path::Path;

/// Maximum length of a setting's text in bytes.
pub const TEXT_BYTES_MAX: usize = 1000;

/// Name of the settings file in the game's folder. The file may be missing.
pub const FILE: &str = "settings.sjson";

/// Type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingType {
    Text,
    Boolean,
    /// A number, with its minimum and maximum.
    Number(f64, f64),
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A list of names and numbers.
    List,
    /// An object with arbitrary names as keys, defined by the game.
    Free,
}

/// One key of the settings table.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Key path, with its parts joined by dots.
    pub key: &'static str,
    pub kind: SettingType,
    /// Default value, as written in the file.
    pub default: &'static str,
    pub doc: &'static str,
    /// True if a change takes effect as soon as the file is saved while the game runs; false if it
    /// takes effect at the next start.
    pub live: bool,
}

impl Setting {
    /// Marks the setting as live.
    const fn live(self) -> Setting {
        Setting { live: true, ..self }
    }
}

const fn setting(
    key: &'static str,
    kind: SettingType,
    default: &'static str,
    doc: &'static str,
) -> Setting {
    Setting { key, kind, default, doc, live: false }
}

/// All settings. The reference, the validation and the defaults are derived from this table.
pub const SETTINGS: &[Setting] = &[
    setting(
        "name",
        SettingType::Text,
        "\"\"",
        "The game's name, shown to people. If empty, the folder's name.",
    ),
    setting(
        "id",
        SettingType::Text,
        "\"\"",
        "The name of the folder for saves and user settings. If empty, it is derived from `name`. \
         Never change it after a release.",
    ),
    setting(
        "version",
        SettingType::Text,
        "\"0.1.0\"",
        "The game's version, for crash reports and saves. An older version does not read the saves \
         of a newer one.",
    ),
    setting("boot_script", SettingType::Text, "\"main\"", "The module that starts the game."),
    setting(
        "log.files",
        SettingType::Number(0.0, 100.0),
        "5",
        "The number of log files kept in `logs` of the save folder, each at most 4 MiB. Only runs \
         that are paced by the clock are logged. 0: none.",
    ),
    setting(
        "lua.jit",
        SettingType::Boolean,
        "true",
        "If true, scripts are compiled to machine code while they run.",
    ),
    setting(
        "limits.lua_memory_mib",
        SettingType::Number(16.0, 65536.0),
        "1024",
        "The maximum memory of scripts, in MiB. More is an error.",
    ),
    setting(
        "limits.engine_memory_mib",
        SettingType::Number(16.0, 65536.0),
        "2048",
        "The maximum memory that the engine holds for the game, in MiB, without that of scripts: \
         resources, units, pending saves, workers. More is an error.",
    ),
    setting(
        "limits.update_seconds",
        SettingType::Number(0.05, 3600.0),
        "2",
        "The maximum CPU time of one callback, in seconds. A callback that takes longer is stopped \
         with an error.",
    )
    .live(),
    setting(
        "limits.init_seconds",
        SettingType::Number(0.05, 3600.0),
        "10",
        "The maximum CPU time for loading the boot script and for `init`, in seconds.",
    )
    .live(),
    setting(
        "limits.worker_seconds",
        SettingType::Number(0.05, 86400.0),
        "10",
        "The maximum CPU time of a worker between two messages that it waits for, in seconds. The \
         option `seconds` of Worker.start sets it for one worker.",
    )
    .live(),
    setting(
        "limits.worker_memory_mib",
        SettingType::Number(16.0, 65536.0),
        "256",
        "The maximum memory of the scripts of one worker, in MiB. More is an error in that worker.",
    )
    .live(),
    setting(
        "collector.milliseconds",
        SettingType::Number(0.05, 1000.0),
        "1",
        "The time for Lua's garbage collector at the end of each frame, in milliseconds.",
    )
    .live(),
    setting(
        "collector.ceiling_mib",
        SettingType::Number(0.0, 65536.0),
        "0",
        "The heap size above which the collector works harder, in MiB. 0: twice the size of the \
         live objects, plus 64 MiB.",
    )
    .live(),
    setting(
        "tasks.priorities.physics",
        SettingType::Number(0.0, 31.0),
        "15",
        "The priority of the task that moves actors, among the tasks of an update. 31 runs first.",
    )
    .live(),
    setting(
        "tasks.priorities.scene_graph",
        SettingType::Number(0.0, 31.0),
        "15",
        "The priority of the task that computes the transforms of units' nodes. 31 runs first.",
    )
    .live(),
    setting(
        "tasks.priorities.sprites",
        SettingType::Number(0.0, 31.0),
        "15",
        "The priority of the task that plays the frames of sprites. 31 runs first.",
    )
    .live(),
    setting(
        "tasks.priorities.particles",
        SettingType::Number(0.0, 31.0),
        "15",
        "The priority of the task that moves particles. 31 runs first.",
    )
    .live(),
    setting(
        "physics.gravity",
        SettingType::Number(-1000.0, 1000.0),
        "9.81",
        "The downward acceleration by gravity in new worlds, in metres per second squared.",
    ),
    setting(
        "physics.steps_per_second",
        SettingType::Number(10.0, 1000.0),
        "60",
        "The number of physics steps per second in new worlds. Frames between two steps are \
         interpolated.",
    ),
    setting(
        "console.key",
        SettingType::Text,
        "\"grave\"",
        "The name of the key that opens and closes the console. \"\": no console.",
    ),
    setting(
        "time_step",
        SettingType::List,
        "[\"smoothing\", 11, 2, 0.1]",
        "The policy that computes the time step of a frame, as for \
         Application.set_time_step_policy.",
    )
    .live(),
    setting(
        "window.title",
        SettingType::Text,
        "\"\"",
        "The title of the window. If empty, the game's name.",
    )
    .live(),
    setting(
        "window.width",
        SettingType::Number(1.0, 16384.0),
        "1280",
        "The initial width of the window, in logical pixels (the units of Guis).",
    )
    .live(),
    setting(
        "window.height",
        SettingType::Number(1.0, 16384.0),
        "720",
        "The initial height of the window, in logical pixels.",
    )
    .live(),
    setting(
        "window.fullscreen",
        SettingType::Choice(&["off", "borderless", "exclusive"]),
        "\"off\"",
        "The fullscreen mode of the window, as for Window.set_fullscreen.",
    )
    .live(),
    setting(
        "window.vsync",
        SettingType::Choice(&["on", "off", "adaptive", "mailbox"]),
        "\"on\"",
        "The synchronization of frames with the monitor, as for Window.set_vsync.",
    )
    .live(),
    setting(
        "window.resizable",
        SettingType::Boolean,
        "true",
        "If true, the player can change the window's size.",
    )
    .live(),
    setting(
        "window.monitor",
        SettingType::Number(0.0, 64.0),
        "0",
        "The number of the monitor that the window opens on, from 1. 0: the desktop chooses.",
    ),
    setting(
        "render.smooth_edges",
        SettingType::Boolean,
        "true",
        "If true, worlds are drawn with four samples per pixel (MSAA).",
    )
    .live(),
    setting(
        "render.shadow_texels",
        SettingType::Number(0.0, 8192.0),
        "2048",
        "The width and height of each shadow map of a sun, in texels. Shadow maps of spot lights \
         have half of it. 0: no shadows.",
    )
    .live(),
    setting(
        "render.shadow_distance",
        SettingType::Number(1.0, 10000.0),
        "100",
        "The distance from the camera up to which suns cast shadows, in metres. A shorter distance \
         makes shadows finer.",
    )
    .live(),
    setting(
        "render.shadow_maps",
        SettingType::Number(1.0, 4.0),
        "3",
        "The number of shadow maps (cascades) that share the shadow distance. The nearest is the \
         finest.",
    )
    .live(),
    setting(
        "render.less_on_processor",
        SettingType::Boolean,
        "true",
        "If true, and a software adapter draws in a window, worlds have one sample per pixel, and \
         shadows use one map of at most 512 x 512 texels. This overrides the other settings. If \
         false, a frame takes very long with such an adapter.",
    )
    .live(),
    setting(
        "sound.mixer",
        SettingType::Text,
        "\"main\"",
        "The mixer whose buses sounds play on. If there is no mixer `main`, the buses are effects, \
         music, voice and interface.",
    ),
    setting(
        "sound.mixed_voices",
        SettingType::Number(1.0, 512.0),
        "64",
        "The maximum number of recordings that are mixed at the same time: the most important and \
         loudest. The others continue unheard.",
    )
    .live(),
    setting(
        "sound.device",
        SettingType::Text,
        "\"default\"",
        "The output device for sound: `default`, `null`, or a name that the system lists (on \
         Linux, an ALSA name).",
    ),
    setting(
        "input.actions",
        SettingType::Free,
        "{}",
        "The game's actions and their bindings, as for Input.set_actions.",
    ),
    setting(
        "input.pads_in_background",
        SettingType::Boolean,
        "false",
        "If true, pads are read even if the window does not have the focus, for example without a \
         desktop.",
    )
    .live(),
    setting(
        "textures.nearest",
        SettingType::Boolean,
        "false",
        "If true, textures without a filter in their own settings are drawn with hard-edged \
         texels, for pixel art.",
    ),
    setting(
        "bundle.exclude",
        SettingType::List,
        "[\"**/*_test.lua\", \"**/*_spec.lua\", \"**/*.golden/**\", \"**/*.recording\", \
         \"spec/**\", \"test/**\", \"tests/**\"]",
        "The files that bundles exclude, as patterns of their paths: `*` matches any part of a \
         name, `**/` any folders. The default excludes tests.",
    )
    .live(),
    setting(
        "user_settings",
        SettingType::Free,
        "{}",
        "The defaults of the game's user settings (Application.user_setting).",
    ),
];

/// Platforms that can have an override block. Keys in the block of the current platform take
/// precedence.
pub const PLATFORMS: &[&str] = &["linux", "windows", "macos"];

/// The settings of a game, complete with defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    /// All keys, as a nested tree.
    pub tree: SjsonTree,
}

impl Settings {
    /// Returns the default settings.
    pub fn defaults() -> Settings {
        let mut tree = SjsonTree::Object(Vec::new());
        for setting in SETTINGS {
            set_value(&mut tree, setting.key, default_of(setting));
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

    /// Parses settings from the file's bytes.
    pub fn parse(bytes: Vec<u8>, platform: &str) -> Result<Settings, Error> {
        let document =
            sjson::parse_bytes(&bytes).map_err(|error| Error::new(error.in_file(FILE)))?;
        let mut settings = Settings::defaults();
        let root = document.root();
        if root.kind() != ValueKind::Object {
            return Err(error_at(&root, "the settings must be `key = value` lines".to_string()));
        }
        settings.apply_block(&root, "", PLATFORMS)?;
        for name in PLATFORMS {
            if let Some(block) = root.get(name) {
                if block.kind() != ValueKind::Object {
                    return Err(error_at(&block, format!("'{name}' must be a block of settings")));
                }
                let mut own = settings.clone();
                own.apply_block(&block, "", &[])?;
                if *name == platform {
                    settings = own;
                }
            }
        }
        Ok(settings)
    }

    fn apply_block(
        &mut self,
        block: &SjsonValue,
        prefix: &str,
        except: &[&str],
    ) -> Result<(), Error> {
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
                set_value(&mut self.tree, &key, value.to_tree());
            } else if SETTINGS.iter().any(|setting| setting.key.starts_with(&inner)) {
                if value.kind() != ValueKind::Object {
                    let message = format!("'{key}' must be a block: {key} = {{ … }}");
                    return Err(error_at(&value, message));
                }
                self.apply_block(&value, &key, &[])?;
            } else {
                let hint = suggest::hint(name, known_names(prefix).iter().map(String::as_str));
                let message = format!("unknown setting '{key}'{hint}");
                return Err(error!("{FILE}:{}: {message}", entry.line()));
            }
        }
        Ok(())
    }

    /// Returns the value of a key. The key must be in the table.
    pub fn value(&self, key: &str) -> &SjsonTree {
        let mut tree = &self.tree;
        for part in key.split('.') {
            tree = tree.get(part).unwrap_or_else(|| panic!("there is no setting '{key}'"));
        }
        tree
    }

    /// Returns the value of a number. The key must be in the table.
    pub fn number(&self, key: &str) -> f64 {
        match self.value(key) {
            SjsonTree::Number(number) => *number,
            other => panic!("setting '{key}' is no number: {other:?}"),
        }
    }

    /// Returns the value of a text.
    pub fn text(&self, key: &str) -> &str {
        match self.value(key) {
            SjsonTree::String(text) => text,
            other => panic!("setting '{key}' is no text: {other:?}"),
        }
    }

    /// Returns the value of a boolean.
    pub fn boolean(&self, key: &str) -> bool {
        match self.value(key) {
            SjsonTree::Bool(value) => *value,
            other => panic!("setting '{key}' is no boolean: {other:?}"),
        }
    }

    /// Copies the value of a key from other settings.
    pub fn take(&mut self, key: &str, from: &Settings) {
        set_value(&mut self.tree, key, from.value(key).clone());
    }

    /// Returns the patterns of files that bundles exclude.
    pub fn bundle_exclude(&self) -> Result<Vec<Glob>, Error> {
        let exclude_error = |message: &str| error!("{FILE}: 'bundle.exclude': {message}");
        let glob = |item: &SjsonTree| match item {
            SjsonTree::String(text) => Glob::new(text).map_err(|message| exclude_error(&message)),
            _ => Err(exclude_error("it can contain only texts")),
        };
        let patterns = self.list("bundle.exclude");
        glob::check_count(patterns.len()).map_err(|message| exclude_error(&message))?;
        patterns.iter().map(glob).collect()
    }

    /// Returns the items of a list.
    pub fn list(&self, key: &str) -> &[SjsonTree] {
        match self.value(key) {
            SjsonTree::Array(items) => items,
            other => panic!("setting '{key}' is no list: {other:?}"),
        }
    }
}

fn default_of(setting: &Setting) -> SjsonTree {
    let text = format!("value = {}", setting.default);
    let document = sjson::parse(&text).expect("the table's defaults are SJSON");
    document.root().get("value").expect("there is one").to_tree()
}

/// Returns the names that are valid at a level, for suggestions.
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

fn error_at(value: &SjsonValue, message: String) -> Error {
    error!("{FILE}:{}: {message}", value.line())
}

fn check(setting: &Setting, value: &SjsonValue) -> Result<(), Error> {
    let key = setting.key;
    let type_message = |expected: &str| {
        Err(error_at(value, format!("'{key}' must be {expected}, got {}", value.kind())))
    };
    match setting.kind {
        SettingType::Text => match value.as_str() {
            Some(text) => check_text(key, text).map_err(|message| error_at(value, message)),
            None => type_message("text in quotes"),
        },
        SettingType::Boolean if value.kind() != ValueKind::Bool => type_message("true or false"),
        SettingType::Free if value.kind() != ValueKind::Object => type_message("a block: { … }"),
        SettingType::Choice(known) => match value.as_str() {
            Some(word) if known.contains(&word) => Ok(()),
            Some(word) => {
                let hint = suggest::hint(word, known.iter().copied());
                let known = known.join(", ");
                let message = format!("'{key}' cannot be '{word}'{hint} (there are {known})");
                Err(error_at(value, message))
            }
            None => type_message("text in quotes"),
        },
        SettingType::List if value.kind() != ValueKind::Array => type_message("a list: [ … ]"),
        SettingType::Number(min, max) => match value.as_f64() {
            Some(number) if (min..=max).contains(&number) => Ok(()),
            Some(number) => {
                Err(error_at(value, format!("'{key}' must be {min} to {max}, got {number}")))
            }
            None => type_message("a number"),
        },
        _ => Ok(()),
    }
}

/// Refuses text that is not one line of letters, because the text is passed to windows, terminals
/// and files.
fn check_text(key: &str, text: &str) -> Result<(), String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!(
            "'{key}' must have at most {TEXT_BYTES_MAX} bytes (TEXT_BYTES_MAX), got {}",
            text.len()
        ));
    }
    match text.chars().find(|c| c.is_control() || controls_terminal(*c)) {
        None => Ok(()),
        Some(invalid) => {
            Err(format!("'{key}' has {invalid:?} in it: write it as one line of letters"))
        }
    }
}

/// Stores a value at a dotted key, and creates missing blocks on the path.
fn set_value(tree: &mut SjsonTree, key: &str, value: SjsonTree) {
    let SjsonTree::Object(entries) = tree else {
        panic!("'{key}' leads through a value that is not a block")
    };
    let (name, rest) = key.split_once('.').map_or((key, None), |(name, rest)| (name, Some(rest)));
    let at = entries.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        entries.push((name.to_string(), SjsonTree::Object(Vec::new())));
        entries.len() - 1
    });
    match rest {
        Some(rest) => set_value(&mut entries[at].1, rest, value),
        None => entries[at].1 = value,
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
