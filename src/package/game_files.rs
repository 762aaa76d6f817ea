//! The parts of a game that packages of all formats share.

use super::archive::Content;
use super::file_names;
use super::licenses::LicenseTexts;
use super::settings::PackageSettings;

/// Parts of a package.
pub struct GameFiles {
    pub settings: PackageSettings,
    pub licenses: LicenseTexts,
    /// Pictures of the icon as PNG, with their widths. Empty without an icon.
    pub icon_pictures: Vec<(u32, Vec<u8>)>,
    /// The executable with the bundle of the game.
    pub program: Content,
}

impl GameFiles {
    pub fn debian_name(&self) -> String {
        file_names::debian_name(&self.settings.file_name)
    }
}
