//! Licence texts in packages: of the engine, its libraries and its fonts, and of the game.

use super::archive::{Archive, Content};
use super::settings::{self, PackageSettings};
use engine_foundation::file_access::{self, readers};
use engine_foundation::{Error, error};
use std::path::Path;

/// Texts of the engine, each with the name of its file.
pub const ENGINE_TEXTS: &[(&str, &str)] = &[
    ("engine-apache.txt", include_str!("../../LICENSE-APACHE")),
    ("engine-fonts.txt", include_str!("../../core/fonts/OFL.txt")),
    ("engine-libraries.txt", include_str!("../../packaging/licenses/libraries.txt")),
    ("engine-mit.txt", include_str!("../../LICENSE-MIT")),
];

/// Licence texts of a package, each with the name of its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LicenseTexts {
    pub texts: Vec<(String, Vec<u8>)>,
}

impl LicenseTexts {
    /// Reads the texts that the settings name, and adds those of the engine.
    ///
    /// # Errors
    /// Returns an error with the line of the settings if a file is missing or cannot be read.
    pub fn read(
        folder: &Path,
        platform: &str,
        settings: &PackageSettings,
    ) -> Result<LicenseTexts, Error> {
        let mut texts = Vec::new();
        for (at, path) in settings.license_files.iter().enumerate() {
            let text = file_access::read(folder, path, &readers::LICENSE).map_err(|reason| {
                let key = "package.license_files";
                let location = settings::location(folder, platform, key, Some(at));
                error!("{location}: '{key}': {}", reason.message(path))
            })?;
            // The number keeps files of the same name in different folders apart.
            let name = path.rsplit('/').next().unwrap_or(path);
            texts.push((format!("game-{}-{}", at + 1, ascii_name(name)), text));
        }
        for (name, text) in ENGINE_TEXTS {
            texts.push((name.to_string(), text.as_bytes().to_vec()));
        }
        Ok(LicenseTexts { texts })
    }

    /// Adds the texts to a folder of an archive. `folder` ends in `/`.
    pub fn add_to(&self, archive: &mut Archive, folder: &str) {
        for (name, text) in &self.texts {
            archive.add(format!("{folder}{name}"), Content::bytes(text.clone()));
        }
    }

    /// Returns all texts of the game, one after the other.
    pub fn game_text(&self) -> String {
        let texts = self.texts.iter().filter(|(name, _)| name.starts_with("game-"));
        let texts = texts.map(|(_, text)| String::from_utf8_lossy(text).into_owned());
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Returns a file's name with other characters than letters, digits, dots and `-` replaced by `_`,
/// cut at the start.
fn ascii_name(name: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let name: String = name.chars().map(|c| if is_kept(c) { c } else { '_' }).collect();
    name[name.len().saturating_sub(30)..].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_license_files_are_short_and_plain() {
        assert_eq!(ascii_name("OFL.txt"), "OFL.txt");
        assert_eq!(ascii_name("Lizenz für alle.txt"), "Lizenz_f_r_alle.txt");
        assert_eq!(ascii_name(&format!("{}.txt", "é".repeat(80))).len(), 30);
    }

    #[test]
    fn texts_of_all_linked_libraries_are_listed() {
        // The lock has more, for tests and other systems. These are on every desktop.
        let texts =
            ENGINE_TEXTS.iter().find(|(name, _)| *name == "engine-libraries.txt").unwrap().1;
        for library in ["luajit-src", "libmimalloc-sys", "wgpu", "winit", "rapier3d", "kira"] {
            let line = |line: &str| line.starts_with(&format!("{library} "));
            assert!(texts.lines().any(line), "{library}: run packaging/licenses.py");
        }
        assert!(texts.contains("Mike Pall"));
    }
}
