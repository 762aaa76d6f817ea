//! Packages for Windows: a zip archive with one program, which has the game in it.

use super::archive::{Archive, Content};
use super::game_files::GameFiles;
use super::icon::Icon;
use super::pe_resources::{self, VersionInfo, WindowsResources};
use super::settings::PackageSettings;
use engine_foundation::{Error, error};

/// Returns the executable with the icon, the version and the manifest of a game.
///
/// # Errors
/// Returns an error if the engine's executable is not suitable. The message does not name the file.
pub fn executable(
    engine: &[u8],
    settings: &PackageSettings,
    icon: Option<&Icon>,
) -> Result<Vec<u8>, Error> {
    let icon = icon.map(Icon::windows_pictures).unwrap_or_default();
    let version = VersionInfo {
        numbers: settings.version_numbers(),
        version: settings.version_text(),
        title: settings.title.clone(),
        author: settings.author.clone(),
        file: program_name(settings),
    };
    pe_resources::write(engine, &WindowsResources { icon: &icon, version: &version })
        .map_err(|error| error!("resources cannot be added: {}", error.message))
}

/// Returns the name of the program's file.
pub fn program_name(settings: &PackageSettings) -> String {
    format!("{}.exe", settings.file_name)
}

/// Returns the files of the zip archive, below its one folder.
pub fn portable(game: &GameFiles, program: Content) -> Archive {
    let mut archive = Archive::default();
    archive.add_program(program_name(&game.settings), program);
    game.licenses.add_to(&mut archive, "licenses/");
    archive
}
