//! The block `package` of settings.sjson: what packages are called, and what stores and desktops
//! know about the game. Checks each value against the rules of all platforms, and names file and
//! line of an invalid one.

use super::categories::{self, Category};
use super::file_names;
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Error, error};
use engine_resource::settings::{FILE, Settings};
use std::path::Path;

/// Maximum length of an identifier in bytes. Names of files are made of it.
pub const APP_ID_BYTES_MAX: usize = 80;
/// Maximum length of a title in characters.
pub const TITLE_CHARACTERS_MAX: usize = 100;
/// Maximum length of a summary in characters.
pub const SUMMARY_CHARACTERS_MAX: usize = 200;
/// Maximum number of items of each list.
pub const LIST_ITEMS_MAX: usize = 100;
/// Maximum number in a version: a word of the version resource of Windows.
pub const VERSION_NUMBER_MAX: u32 = 65535;

/// The checked settings of a package.
#[derive(Clone, Debug, PartialEq)]
pub struct PackageSettings {
    /// Identifier in reverse order of a domain: `com.example.Yard`.
    pub app_id: String,
    pub title: String,
    /// Base of file names: letters, digits, `-` and `_`.
    pub file_name: String,
    /// One to three numbers.
    pub version: Vec<u32>,
    /// The setting that has the version.
    pub version_key: &'static str,
    /// Empty if it is unknown.
    pub author: String,
    pub email: String,
    pub website: String,
    pub summary: String,
    pub description: String,
    /// SPDX expression.
    pub license: String,
    /// Paths in the game's folder.
    pub license_files: Vec<String>,
    /// Path in the game's folder; empty if there is no icon.
    pub icon: String,
    pub categories: Vec<&'static Category>,
    /// Language tags, at least one.
    pub languages: Vec<String>,
    /// Width and height of the window at the first start, in logical pixels. `None` if it fills the
    /// screen.
    pub window_size: Option<(u32, u32)>,
    /// Notes for the game's author about what is missing.
    pub notes: Vec<String>,
}

impl PackageSettings {
    /// Reads and checks the settings of a game's folder for a platform. `folder_name` is the name
    /// of the folder, which names games without a name.
    ///
    /// # Errors
    /// Returns an error if the settings cannot be read, or if a value is invalid.
    pub fn read(
        folder: &Path,
        platform: &str,
        folder_name: &str,
    ) -> Result<PackageSettings, Error> {
        let settings = Settings::read(folder, platform)?;
        let text = match file_access::read(folder, FILE, &readers::SETTINGS) {
            Ok(bytes) => bytes,
            Err(refusal) if refusal.is_missing() => Vec::new(),
            Err(reason) => return Err(error!("{FILE} cannot be read: {reason}")),
        };
        SettingsReader { settings: &settings, text: &text, platform }.read(folder_name)
    }

    /// Returns the version as text: `1.2.0`.
    pub fn version_text(&self) -> String {
        let numbers: Vec<String> = self.version.iter().map(u32::to_string).collect();
        numbers.join(".")
    }

    /// Returns the version as the four numbers of Windows.
    pub fn version_numbers(&self) -> [u16; 4] {
        let mut numbers = [0; 4];
        for (number, value) in numbers.iter_mut().zip(&self.version) {
            *number = u16::try_from(*value).expect("it was checked against VERSION_NUMBER_MAX");
        }
        numbers
    }
}

struct SettingsReader<'a> {
    settings: &'a Settings,
    /// The file, to find the lines of values.
    text: &'a [u8],
    platform: &'a str,
}

impl SettingsReader<'_> {
    /// Returns an error at the line of a key, or of an item of its list.
    fn error(&self, key: &str, item: Option<usize>, message: &str) -> Error {
        match self.line(key, item) {
            Some(line) => error!("{FILE}:{line}: {message}"),
            // The value is a default, or is derived from one.
            None => error!("{FILE}: {message}"),
        }
    }

    fn line(&self, key: &str, item: Option<usize>) -> Option<usize> {
        let document = sjson::parse_bytes(self.text).ok()?;
        let root = document.root();
        let blocks = [root.get(self.platform), Some(root)];
        let value = blocks
            .into_iter()
            .flatten()
            .find_map(|block| key.split('.').try_fold(block, |value, part| value.get(part)))?;
        let item = item.and_then(|item| value.items()?.nth(item));
        Some(item.unwrap_or(value).line())
    }

    /// Returns a text, or that of another key if it is empty, with the key that it is from.
    fn text_or(&self, key: &'static str, other: &'static str) -> (&str, &'static str) {
        match self.settings.text(key) {
            "" => (self.settings.text(other), other),
            text => (text, key),
        }
    }

    fn read(&self, folder_name: &str) -> Result<PackageSettings, Error> {
        let mut notes = Vec::new();
        let title = self.title(folder_name)?;
        let file_name = self.file_name(&title, folder_name)?;
        let text = |key| self.settings.text(key).trim().to_string();
        let author = text("package.author");
        if author.contains(['<', '>', '@']) {
            let message = format!(
                "'package.author' is '{author}': write a name without < > @, and the address as \
                 package.email"
            );
            return Err(self.error("package.author", None, &message));
        }
        let (email, website) = (text("package.email"), text("package.website"));
        if !email.is_empty() && !is_email(&email) {
            let message = format!("'package.email' is '{email}', which is no address of mail");
            return Err(self.error("package.email", None, &message));
        }
        if !website.is_empty() && !is_website(&website) {
            let message = format!(
                "'package.website' is '{website}': write an address such as https://example.com"
            );
            return Err(self.error("package.website", None, &message));
        }
        let app_id = self.app_id(&file_name, &mut notes)?;
        let (version, version_key) = self.version()?;
        self.check_reports([&email, &website], &mut notes)?;
        let mut summary = text("package.summary");
        if summary.chars().count() > SUMMARY_CHARACTERS_MAX {
            let message = format!(
                "'package.summary' has more than {SUMMARY_CHARACTERS_MAX} letters \
                 (SUMMARY_CHARACTERS_MAX): write the rest as package.description"
            );
            return Err(self.error("package.summary", None, &message));
        }
        if summary.is_empty() {
            notes.push("package.summary is not set: lists of programs show 'A game'".to_string());
            summary = "A game".to_string();
        }
        let mut description = text("package.description");
        if description.is_empty() {
            description = format!("{}.", summary.trim_end_matches('.'));
        }
        Ok(PackageSettings {
            app_id,
            title,
            file_name,
            version,
            version_key,
            author,
            email,
            website,
            summary,
            description,
            license: self.license()?,
            license_files: self.license_files()?,
            icon: self.icon(&mut notes)?,
            categories: self.categories()?,
            languages: self.languages()?,
            window_size: self.window_size(),
            notes,
        })
    }

    fn window_size(&self) -> Option<(u32, u32)> {
        let side = |key| self.settings.number(key) as u32;
        let is_window = self.settings.text("window.fullscreen") == "off";
        is_window.then(|| (side("window.width"), side("window.height")))
    }

    /// Checks the address of crash reports, and notes if there is none.
    fn check_reports(&self, others: [&str; 2], notes: &mut Vec<String>) -> Result<(), Error> {
        const KEY: &str = "error_window.address";
        let address = self.settings.text(KEY).trim();
        if !address.is_empty() && !is_email(address) && !is_website(address) {
            let message = format!(
                "'{KEY}' is '{address}': write an address of mail, or of the web with https://"
            );
            return Err(self.error(KEY, None, &message));
        }
        if address.is_empty() && others.into_iter().all(str::is_empty) {
            let note = "players have no address for crash reports: set error_window.address or \
                        package.email";
            notes.push(note.to_string());
        }
        Ok(())
    }

    fn title(&self, folder_name: &str) -> Result<String, Error> {
        let (title, key) = self.text_or("package.title", "name");
        let title = match title.trim() {
            "" => folder_name,
            title => title,
        };
        let count = title.chars().count();
        if count > TITLE_CHARACTERS_MAX {
            let message = format!(
                "the title has {count} letters, and packages have at most {TITLE_CHARACTERS_MAX} \
                 (TITLE_CHARACTERS_MAX): shorten it, or set package.title"
            );
            return Err(self.error(key, None, &message));
        }
        Ok(title.to_string())
    }

    fn file_name(&self, title: &str, folder_name: &str) -> Result<String, Error> {
        let named = self.settings.text("package.file_name");
        let derived = || {
            let names = [title, folder_name].map(file_names::slug);
            names.into_iter().find(|name| !name.is_empty())
        };
        let name = match named {
            "" => derived().ok_or_else(|| {
                let message = format!(
                    "no file can be named after the title '{title}': set package.file_name, with \
                     letters from a to z"
                );
                self.error("package.title", None, &message)
            })?,
            name => name.to_string(),
        };
        let key = if named.is_empty() { "package.title" } else { "package.file_name" };
        file_names::check(&name).map_err(|problem| {
            self.error(key, None, &format!("'package.file_name': '{name}' {problem}"))
        })?;
        Ok(name)
    }

    fn app_id(&self, file_name: &str, notes: &mut Vec<String>) -> Result<String, Error> {
        let app_id = self.settings.text("package.id");
        if app_id.is_empty() {
            let mut part: String = file_name.chars().filter(char::is_ascii_alphanumeric).collect();
            if !part.starts_with(|c: char| c.is_ascii_alphabetic()) {
                part.insert_str(0, "game");
            }
            let app_id = format!("local.{part}");
            notes.push(format!(
                "package.id is not set: '{app_id}' is used; choose one before you publish the game"
            ));
            return Ok(app_id);
        }
        if app_id.len() > APP_ID_BYTES_MAX {
            let message = format!(
                "'package.id' has {} bytes, more than {APP_ID_BYTES_MAX} (APP_ID_BYTES_MAX)",
                app_id.len()
            );
            return Err(self.error("package.id", None, &message));
        }
        let is_part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphabetic())
                && part.chars().all(|c| c.is_ascii_alphanumeric())
        };
        if !app_id.contains('.') || !app_id.split('.').all(is_part) {
            let message = format!(
                "'package.id' is '{app_id}': write parts of letters and digits with dots between \
                 them, each beginning with a letter, such as com.example.Yard"
            );
            return Err(self.error("package.id", None, &message));
        }
        Ok(app_id.to_string())
    }

    /// Returns the version and its key.
    fn version(&self) -> Result<(Vec<u32>, &'static str), Error> {
        let (version, key) = self.text_or("package.version", "version");
        let numbers = parse_version(version).ok_or_else(|| {
            let message = format!(
                "'{key}' is '{version}', which stores refuse: packages need one to three numbers \
                 of at most {VERSION_NUMBER_MAX}, such as 1.2.0 (package.version sets them apart \
                 from version)"
            );
            self.error(key, None, &message)
        })?;
        Ok((numbers, key))
    }

    fn license(&self) -> Result<String, Error> {
        let license = self.settings.text("package.license").trim();
        let is_valid = |c: char| c.is_ascii_alphanumeric() || "-.+() ".contains(c);
        match license {
            "" => Ok("LicenseRef-proprietary".to_string()),
            license if license.chars().all(is_valid) => Ok(license.to_string()),
            license => {
                let message = format!(
                    "'package.license' is '{license}': write an SPDX expression, such as MIT or \
                     CC-BY-4.0"
                );
                Err(self.error("package.license", None, &message))
            }
        }
    }

    /// Returns the texts of a list.
    fn texts(&self, key: &str) -> Result<Vec<&str>, Error> {
        let items = self.settings.list(key);
        if items.len() > LIST_ITEMS_MAX {
            let message = format!(
                "'{key}' has {} items, more than {LIST_ITEMS_MAX} (LIST_ITEMS_MAX)",
                items.len()
            );
            return Err(self.error(key, None, &message));
        }
        let text = |(at, item): (usize, &'_ SjsonTree)| match item {
            SjsonTree::String(_) => Ok(()),
            _ => Err(self.error(key, Some(at), &format!("'{key}' can contain only texts"))),
        };
        items.iter().enumerate().try_for_each(text)?;
        let texts = items.iter().filter_map(|item| match item {
            SjsonTree::String(text) => Some(text.as_str()),
            _ => None,
        });
        Ok(texts.collect())
    }

    fn license_files(&self) -> Result<Vec<String>, Error> {
        const KEY: &str = "package.license_files";
        let paths = self.texts(KEY)?;
        for (at, path) in paths.iter().enumerate() {
            if !is_path(path) {
                let message = format!("'{KEY}': '{path}' is no path in the game's folder");
                return Err(self.error(KEY, Some(at), &message));
            }
        }
        Ok(paths.into_iter().map(str::to_string).collect())
    }

    fn icon(&self, notes: &mut Vec<String>) -> Result<String, Error> {
        let icon = self.settings.text("package.icon");
        if icon.is_empty() {
            notes.push("package.icon is not set: desktops show a picture of their own".to_string());
            return Ok(String::new());
        }
        let is_png = icon.to_ascii_lowercase().ends_with(".png");
        if !is_path(icon) || !is_png {
            let message =
                format!("'package.icon' is '{icon}': name a PNG picture in the game's folder");
            return Err(self.error("package.icon", None, &message));
        }
        Ok(icon.to_string())
    }

    fn categories(&self) -> Result<Vec<&'static Category>, Error> {
        const KEY: &str = "package.categories";
        let names = self.texts(KEY)?;
        let category = |(at, name): (usize, &&str)| {
            categories::find(name)
                .map_err(|message| self.error(KEY, Some(at), &format!("'{KEY}': {message}")))
        };
        names.iter().enumerate().map(category).collect()
    }

    fn languages(&self) -> Result<Vec<String>, Error> {
        const KEY: &str = "package.languages";
        let tags = self.texts(KEY)?;
        if tags.is_empty() {
            return Err(self.error(KEY, None, &format!("'{KEY}' is empty: name one language")));
        }
        for (at, tag) in tags.iter().enumerate() {
            if !is_language(tag) {
                let message = format!("'{KEY}': '{tag}' is no language tag, such as en or pt-BR");
                return Err(self.error(KEY, Some(at), &message));
            }
        }
        Ok(tags.into_iter().map(str::to_string).collect())
    }
}

/// Returns the line of a file's name in the list of licences or as the icon, as `settings.sjson:3`.
pub fn location(folder: &Path, platform: &str, key: &str, item: Option<usize>) -> String {
    let text = file_access::read(folder, FILE, &readers::SETTINGS).unwrap_or_default();
    let settings = Settings::defaults();
    let reader = SettingsReader { settings: &settings, text: &text, platform };
    match reader.line(key, item) {
        Some(line) => format!("{FILE}:{line}"),
        None => FILE.to_string(),
    }
}

/// Parses one to three numbers without leading zeros.
fn parse_version(text: &str) -> Option<Vec<u32>> {
    let number = |part: &str| {
        let is_number = !part.is_empty()
            && part.chars().all(|c| c.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'));
        let number = part.parse().ok().filter(|number| *number <= VERSION_NUMBER_MAX);
        number.filter(|_| is_number)
    };
    let numbers: Option<Vec<u32>> = text.split('.').map(number).collect();
    numbers.filter(|numbers| numbers.len() <= 3)
}

fn is_email(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(c);
    let is_host = |host: &str| {
        host.contains('.')
            && host.split('.').all(|part| !part.is_empty() && !part.starts_with('-'))
            && host.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c))
    };
    let parts = text.split_once('@');
    parts.is_some_and(|(name, host)| {
        !name.is_empty() && name.chars().all(is_letter) && is_host(host)
    })
}

fn is_website(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&()*+,;=%".contains(c);
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphanumeric()) && rest.chars().all(is_letter)
    })
}

/// Returns true if a path leads to a file in the folder, judged by its text.
fn is_path(path: &str) -> bool {
    !path.is_empty() && !path.contains(['\\', ':']) && file_access::stays_inside(path)
}

/// Returns true for language tags (RFC 5646) of a language, a script and a region.
fn is_language(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let first = parts.next().unwrap_or_default();
    (2..=3).contains(&first.len())
        && first.chars().all(|c| c.is_ascii_lowercase())
        && tag.len() <= 35
        && parts.all(|part| {
            (2..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
#[path = "settings_tests.rs"]
pub(crate) mod tests;
