//! AppImages: one file that runs on most Linux systems without being installed. It is the runtime
//! of type 2, a program that mounts the rest of the file and starts `AppRun` in it, and an image
//! with the game. The user names the file of the runtime; the engine has none.
//!
//! Source: the AppImage specification, "AppImage Format" and "AppDir".

use super::archive::{Archive, Content, squashfs_image};
use super::game_files::GameFiles;
use super::linux;
use engine_foundation::file_access::{self, readers};
use engine_foundation::{Error, error};
use engine_resource::executable_file::{self, ExecutableFormat};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The mark of a runtime of type 2, which is at [`MARK_AT`].
const MARK: &[u8] = b"AI\x02";
const MARK_AT: usize = 8;

/// The program in front of the image.
pub struct AppImageRuntime {
    path: PathBuf,
    bytes: Vec<u8>,
    architecture: String,
}

impl AppImageRuntime {
    /// Reads a runtime.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, if it is no runtime of type 2, or if something
    /// is behind the program, such as the image of an AppImage.
    pub fn read(path: &Path) -> Result<AppImageRuntime, Error> {
        let display_path = path.display();
        let bytes = file_access::read_named(path, &readers::APPIMAGE_RUNTIME)
            .map_err(|reason| error!("the runtime '{display_path}' cannot be read: {reason}"))?;
        let found = executable_file::inspect(&mut Cursor::new(&bytes)).ok().flatten();
        let found = found.filter(|found| found.format == ExecutableFormat::Elf);
        let is_marked = bytes.get(MARK_AT..).is_some_and(|rest| rest.starts_with(MARK));
        let Some(found) = found.filter(|_| is_marked) else {
            return Err(error!(
                "'{display_path}' is no runtime of AppImages: download a file such as \
                 runtime-x86_64 from the project type2-runtime"
            ));
        };
        let end = found.image_end.unwrap_or(0);
        if end != bytes.len() as u64 {
            let problem = match end {
                // Its headers are incomplete.
                0 => "is cut short",
                end if end > bytes.len() as u64 => "is cut short",
                _ => "has more behind its program, as a complete AppImage has",
            };
            return Err(error!(
                "the runtime '{display_path}' {problem}: download the runtime alone again"
            ));
        }
        let architecture = found.architectures.into_iter().next().unwrap_or_default();
        Ok(AppImageRuntime { path: path.to_path_buf(), bytes, architecture })
    }

    /// Checks that the runtime is for the processor of the engine.
    ///
    /// # Errors
    /// Returns an error if it is for another one.
    pub fn check_architecture(&self, of_engine: &str) -> Result<(), Error> {
        if self.architecture == of_engine {
            return Ok(());
        }
        Err(error!(
            "the runtime '{}' is for {}, and the engine is for {of_engine}: download the runtime \
             for {of_engine}",
            self.path.display(),
            self.architecture
        ))
    }
}

/// Returns the files of the image, and its links.
pub fn files(game: &GameFiles) -> (Archive, Vec<(String, String)>) {
    let (id, program) = (&game.settings.app_id, &game.settings.file_name);
    let mut files = Archive::default();
    files.add_program(format!("usr/bin/{program}"), game.program.clone());
    linux::add_desktop_files(&mut files, game, "usr/share/", program);
    game.licenses.add_to(&mut files, &format!("usr/share/licenses/{id}/"));
    let mut links = vec![
        ("AppRun".to_string(), format!("usr/bin/{program}")),
        (format!("{id}.desktop"), format!("usr/share/applications/{id}.desktop")),
    ];
    // Programs that list AppImages show the largest one that is common.
    let sides = game.icon_pictures.iter().map(|(side, _)| *side);
    if let Some(side) = sides.filter(|side| *side <= 256).max() {
        let picture = format!("usr/share/icons/hicolor/{side}x{side}/apps/{id}.png");
        links.push((format!("{id}.png"), picture));
        links.push((".DirIcon".to_string(), format!("{id}.png")));
    }
    (files, links)
}

/// Returns the AppImage of a game.
///
/// # Errors
/// Returns an error if a file cannot be read, or if the image would be too large.
pub fn image(runtime: &AppImageRuntime, game: &GameFiles) -> std::io::Result<Content> {
    let (files, links) = files(game);
    let mut bytes = runtime.bytes.clone();
    bytes.extend(squashfs_image(&files, &links)?);
    Ok(Content::bytes(bytes))
}

#[cfg(test)]
#[path = "appimage_tests.rs"]
pub(crate) mod tests;
