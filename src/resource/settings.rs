//! A game's settings: the validation of settings.sjson against the table of all keys, which is in
//! settings_table.rs. The effects of the settings are implemented elsewhere.

pub use super::settings_table::SETTINGS;

use super::glob::{self, Glob};
use super::variant::Platforms;
use engine_foundation::color_source;
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
    /// A list of a width and a height in whole numbers, each at most this; or an empty list.
    Size(u32),
    /// A color without alpha.
    Color,
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
        let platforms = own_platforms(&root)?;
        let names: Vec<&str> = platforms.names().collect();
        settings.apply_block(&root, "", &names)?;
        for name in &names {
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

    /// Returns the platforms of the game in a folder. Broken settings, which are reported when the
    /// game is opened, name none.
    pub fn platforms_of(folder: &Path) -> Platforms {
        let read = file_access::read(folder, FILE, &readers::SETTINGS).ok();
        let platforms = read.and_then(|bytes| {
            let document = sjson::parse_bytes(&bytes).ok()?;
            own_platforms(&document.root()).ok()
        });
        platforms.unwrap_or_default()
    }

    /// Returns the platforms of the game.
    pub fn platforms(&self) -> Platforms {
        let names = self.list("platforms").iter().filter_map(|name| match name {
            SjsonTree::String(name) => Some(name.clone()),
            _ => None,
        });
        Platforms::with_own(names.collect()).unwrap_or_default()
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
                let known = known_names(prefix, except);
                let hint = suggest::hint(name, known.iter().map(String::as_str));
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
        self.globs("bundle.exclude")
    }

    /// Returns the patterns of paths in a list.
    pub fn globs(&self, key: &str) -> Result<Vec<Glob>, Error> {
        let list_error = |message: &str| error!("{FILE}: '{key}': {message}");
        let glob = |item: &SjsonTree| match item {
            SjsonTree::String(text) => Glob::new(text).map_err(|message| list_error(&message)),
            _ => Err(list_error("it can contain only texts")),
        };
        let patterns = self.list(key);
        glob::check_count(patterns.len()).map_err(|message| list_error(&message))?;
        patterns.iter().map(glob).collect()
    }

    /// Returns a width and a height; `None` if the list is empty.
    pub fn size(&self, key: &str) -> Option<(u32, u32)> {
        match size_of(self.value(key)).as_deref() {
            Some([width, height]) => Some((*width, *height)),
            _ => None,
        }
    }

    /// Returns a color as sRGB from 0 to 1.
    pub fn color(&self, key: &str) -> [f32; 3] {
        let color = color_source::read(self.value(key), "").expect("it was checked");
        [color.red, color.green, color.blue].map(|part| part / 255.0)
    }

    /// Returns the items of a list.
    pub fn list(&self, key: &str) -> &[SjsonTree] {
        match self.value(key) {
            SjsonTree::Array(items) => items,
            other => panic!("setting '{key}' is no list: {other:?}"),
        }
    }
}

/// Returns the sides of a size; none of an empty list. Returns `None` for anything else.
fn size_of(tree: &SjsonTree) -> Option<Vec<u32>> {
    let SjsonTree::Array(items) = tree else { return None };
    let side = |item: &SjsonTree| match item {
        SjsonTree::Number(number) if number.fract() == 0.0 && *number >= 0.0 => {
            Some(number.min(f64::from(u32::MAX)) as u32)
        }
        _ => None,
    };
    let sides: Option<Vec<u32>> = items.iter().map(side).collect();
    sides.filter(|sides| sides.is_empty() || sides.len() == 2)
}

fn default_of(setting: &Setting) -> SjsonTree {
    let text = format!("value = {}", setting.default);
    let document = sjson::parse(&text).expect("the table's defaults are SJSON");
    document.root().get("value").expect("there is one").to_tree()
}

/// Returns the platforms of a game by the root of its settings: the setting `platforms` says which
/// blocks there are.
fn own_platforms(root: &SjsonValue) -> Result<Platforms, Error> {
    let Some(list) = root.get("platforms") else { return Ok(Platforms::default()) };
    let mut names = Vec::new();
    for item in list.items().into_iter().flatten() {
        let Some(name) = item.as_str() else {
            return Err(error_at(&item, "'platforms' can contain only texts".to_string()));
        };
        let inner = format!("{name}.");
        if SETTINGS.iter().any(|it| it.key == name || it.key.starts_with(&inner)) {
            let message = format!(
                "'platforms': '{name}' is the name of settings: choose another name for the \
                 platform"
            );
            return Err(error_at(&item, message));
        }
        names.push(name.to_string());
    }
    Platforms::with_own(names).map_err(|message| error_at(&list, format!("'platforms': {message}")))
}

/// Returns the names that are valid at a level, for suggestions. `platforms` have blocks at the
/// outermost level.
fn known_names(prefix: &str, platforms: &[&str]) -> Vec<String> {
    let inner = if prefix.is_empty() { String::new() } else { format!("{prefix}.") };
    let keys = SETTINGS.iter().filter_map(|setting| setting.key.strip_prefix(&inner));
    let mut names: Vec<String> =
        keys.map(|rest| rest.split('.').next().unwrap_or(rest).to_string()).collect();
    if prefix.is_empty() {
        names.extend(platforms.iter().map(|name| name.to_string()));
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
        SettingType::Size(max) => match size_of(&value.to_tree()) {
            Some(sides) if sides.iter().all(|side| (1..=max).contains(side)) => Ok(()),
            Some(_) => Err(error_at(value, format!("the sides of '{key}' must be 1 to {max}"))),
            None => type_message("a list of two whole numbers: [1280, 720]"),
        },
        SettingType::Color => color_source::read(&value.to_tree(), "")
            .map(drop)
            .map_err(|message| error_at(value, format!("'{key}' {message}"))),
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
