//! What a game finds of earlier runs: saves and user settings. A recording takes them along, and
//! they are kept in memory while it is played again.

use crate::engine::{Engine, USER_SETTINGS};
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::foundation::file_access::{self, readers};
use crate::resource::save::Saves;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The most that a recording takes along of both together.
pub const EARLIER_BYTES_MAX: usize = 16 << 20;

/// The files of both, as they were before the game ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Earlier {
    /// Of the saves, by name.
    pub saves: BTreeMap<String, Vec<u8>>,
    /// Of the user settings, where there are any.
    pub user_settings: Option<Vec<u8>>,
}

impl Earlier {
    /// What is there for an engine's game.
    ///
    /// # Errors
    /// It cannot be read, or is more than [`EARLIER_BYTES_MAX`].
    pub fn of(engine: &mut Engine) -> Result<Earlier, Error> {
        let unread = |what: &str, reason| crate::error!("the {what} cannot be read: {reason}");
        let saves = engine.saves.files(EARLIER_BYTES_MAX).map_err(|why| unread("saves", why))?;
        let folder = engine.save_folder.as_ref();
        let read = |folder: &PathBuf| {
            file_access::read_named(&folder.join(USER_SETTINGS), &readers::USER_SETTINGS)
        };
        let user_settings = match folder.map(read) {
            None => engine.user_settings.clone(),
            Some(Ok(bytes)) => Some(bytes),
            Some(Err(refusal)) if refusal.is_missing() => None,
            Some(Err(reason)) => return Err(unread("user settings", reason.to_string())),
        };
        let fits = |saves: &BTreeMap<String, Vec<u8>>| {
            let files = saves.values().chain(&user_settings);
            files.map(Vec::len).sum::<usize>() <= EARLIER_BYTES_MAX
        };
        match saves.filter(fits) {
            Some(saves) => Ok(Earlier { saves, user_settings }),
            None => Err(crate::error!(
                "the saves and user settings have more than {} MiB (EARLIER_BYTES_MAX)",
                EARLIER_BYTES_MAX >> 20
            )),
        }
    }

    /// Gives it to an engine that has no save folder, before its game runs.
    pub fn give(&self, engine: &mut Engine) {
        engine.saves = Saves::of_files(self.saves.clone(), engine.settings.text("version"));
        engine.user_settings = self.user_settings.clone();
    }

    pub fn write(&self, writer: &mut Writer) {
        let saves: Vec<_> = self.saves.iter().collect();
        writer.list(&saves, |writer, (name, bytes)| {
            writer.text(name);
            writer.bytes(bytes);
        });
        let settings: Vec<_> = self.user_settings.iter().collect();
        writer.list(&settings, |writer, bytes| writer.bytes(bytes));
    }

    pub fn read(reader: &mut Reader) -> Result<Earlier, Error> {
        let saves = reader.list(|reader| {
            let name = reader.text()?.to_string();
            Ok((name, reader.bytes()?.to_vec()))
        })?;
        let mut settings = reader.list(|reader| Ok(reader.bytes()?.to_vec()))?;
        let bytes = saves.iter().map(|(_, bytes)| bytes.len());
        let bytes: usize = bytes.chain(settings.iter().map(Vec::len)).sum();
        if bytes > EARLIER_BYTES_MAX || settings.len() > 1 {
            return Err(crate::error!(
                "it is damaged: it has {bytes} bytes of saves and user settings \
                 (EARLIER_BYTES_MAX)"
            ));
        }
        Ok(Earlier { saves: saves.into_iter().collect(), user_settings: settings.pop() })
    }
}
