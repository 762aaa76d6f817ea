//! Saves and user settings of earlier runs. A recording includes them, and a replay keeps them in
//! memory.

use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::file_access::{self, readers};
use engine_resource::save::Saves;
use engine_runtime::{OpenedGame, USER_SETTINGS};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Maximum total size of the saves and user settings that a recording includes.
pub const INITIAL_SAVES_BYTES_MAX: usize = 16 << 20;

/// Saves and user settings as they were before the game ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialSaves {
    /// Contents of the saves, by name.
    pub saves: BTreeMap<String, Vec<u8>>,
    /// Contents of the user settings, if there are any.
    pub user_settings: Option<Vec<u8>>,
}

impl InitialSaves {
    /// Reads the saves and user settings of a game.
    ///
    /// # Errors
    /// Returns an error if they cannot be read or exceed [`INITIAL_SAVES_BYTES_MAX`].
    pub fn of(game: &mut OpenedGame) -> Result<InitialSaves, Error> {
        let unread =
            |noun: &str, reason| engine_foundation::error!("the {noun} cannot be read: {reason}");
        let saves =
            game.saves.files(INITIAL_SAVES_BYTES_MAX).map_err(|why| unread("saves", why))?;
        let folder = game.save_folder.as_ref();
        let read = |folder: &PathBuf| {
            file_access::read_named(&folder.join(USER_SETTINGS), &readers::USER_SETTINGS)
        };
        let user_settings = match folder.map(read) {
            None => game.user_settings.clone(),
            Some(Ok(bytes)) => Some(bytes),
            Some(Err(refusal)) if refusal.is_missing() => None,
            Some(Err(reason)) => return Err(unread("user settings", reason.to_string())),
        };
        let fits = |saves: &BTreeMap<String, Vec<u8>>| {
            let files = saves.values().chain(&user_settings);
            files.map(Vec::len).sum::<usize>() <= INITIAL_SAVES_BYTES_MAX
        };
        match saves.filter(fits) {
            Some(saves) => Ok(InitialSaves { saves, user_settings }),
            None => Err(engine_foundation::error!(
                "the saves and user settings have more than {} MiB (INITIAL_SAVES_BYTES_MAX)",
                INITIAL_SAVES_BYTES_MAX >> 20
            )),
        }
    }

    /// Passes the files to a game without a save folder, before it runs.
    pub fn restore(&self, game: &mut OpenedGame) {
        game.saves = Saves::in_memory(self.saves.clone(), game.settings.text("version"));
        game.user_settings = self.user_settings.clone();
    }

    pub fn write(&self, writer: &mut BlobWriter) {
        let saves: Vec<_> = self.saves.iter().collect();
        writer.list(&saves, |writer, (name, bytes)| {
            writer.text(name);
            writer.bytes(bytes);
        });
        let settings: Vec<_> = self.user_settings.iter().collect();
        writer.list(&settings, |writer, bytes| writer.bytes(bytes));
    }

    pub fn read(reader: &mut BlobReader) -> Result<InitialSaves, Error> {
        let saves = reader.list(|reader| {
            let name = reader.text()?.to_string();
            Ok((name, reader.bytes()?.to_vec()))
        })?;
        let mut settings = reader.list(|reader| Ok(reader.bytes()?.to_vec()))?;
        let bytes = saves.iter().map(|(_, bytes)| bytes.len());
        let bytes: usize = bytes.chain(settings.iter().map(Vec::len)).sum();
        if bytes > INITIAL_SAVES_BYTES_MAX || settings.len() > 1 {
            return Err(engine_foundation::error!(
                "it is damaged: it has {bytes} bytes of saves and user settings \
                 (INITIAL_SAVES_BYTES_MAX)"
            ));
        }
        Ok(InitialSaves { saves: saves.into_iter().collect(), user_settings: settings.pop() })
    }
}
