//! The endpoint file, by which tools find a running game: `.engine/session.json` in the game's
//! folder, with the port and the token of the run. A reader of this file can do in the game
//! whatever a script can, so only its owner may read it.

use super::private_file;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::file_access::{self, readers};
use engine_foundation::json;
use engine_foundation::own_folder::{self, NAME as FOLDER};
use engine_foundation::sjson::SjsonTree;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "session.json";

/// Address, token and process of a running game.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointFile {
    pub version: u32,
    pub port: u16,
    pub token: String,
    /// Process id of the game.
    pub process: u32,
}

/// Returns the path of the endpoint file in a game's folder.
pub fn path(game: &Path) -> PathBuf {
    game.join(FOLDER).join(NAME)
}

impl EndpointFile {
    /// Returns the address of the page for a browser.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    fn text(&self) -> String {
        let tree = json::object([
            ("version", SjsonTree::Number(f64::from(self.version))),
            ("port", SjsonTree::Number(f64::from(self.port))),
            ("token", json::text(&self.token)),
            ("process", SjsonTree::Number(f64::from(self.process))),
            ("page", json::text(self.address())),
        ]);
        format!("{}\n", json::write(&tree))
    }

    /// Writes the file atomically, so that a reader never sees half of it.
    pub fn write(&self, game: &Path) -> io::Result<()> {
        let own = own_folder::create(game)?;
        private_file::write(&own, NAME, &self.text())
    }

    /// Reads the endpoint file of a game's folder.
    ///
    /// # Errors
    /// Returns an error if no game of that folder runs with tools.
    pub fn read(game: &Path) -> Result<EndpointFile, Error> {
        let path = path(game);
        let file = format!("{FOLDER}/{NAME}");
        let text = match file_access::read_text(game, &file, &readers::SESSION) {
            Ok(text) => text,
            Err(refusal) if refusal.is_missing() => {
                return Err(error!(
                    "no game that runs in {} lets tools in: start it with `engine run --tools {}`",
                    game.display(),
                    game.display()
                ));
            }
            Err(reason) => return Err(error!("{} cannot be read: {reason}", path.display())),
        };
        let damaged = |message: &str| error!("{}: {message}: remove it", path.display());
        let tree = json::read(&text).map_err(|message| damaged(&message))?;
        let number = |key: &str| match tree.get(key) {
            Some(SjsonTree::Number(number)) => Ok(*number),
            _ => Err(damaged(&format!("it has no number '{key}'"))),
        };
        let Some(SjsonTree::String(token)) = tree.get("token") else {
            return Err(damaged("it has no text 'token'"));
        };
        let port = number("port")?;
        if port.fract() != 0.0 || !(1.0..=65535.0).contains(&port) {
            return Err(damaged("its 'port' is not a port number"));
        }
        Ok(EndpointFile {
            version: number("version")? as u32,
            port: port as u16,
            token: token.clone(),
            process: number("process")? as u32,
        })
    }

    /// Removes the file if it is still this run's: another run of the game may have written its
    /// own.
    pub fn remove(&self, game: &Path) {
        if EndpointFile::read(game).is_ok_and(|found| found == *self) {
            // If the file cannot be removed, a connection attempt fails instead.
            let _ = fs::remove_file(path(game));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let name = format!("engine-session-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn session(token: &str) -> EndpointFile {
        EndpointFile { version: 1, port: 4000, token: token.into(), process: std::process::id() }
    }

    #[test]
    fn an_endpoint_file_is_removed_only_by_its_run() {
        let game = scratch("found");
        assert!(EndpointFile::read(&game).unwrap_err().message.starts_with("no game that runs in"));
        session("old").write(&game).unwrap();
        session("new").write(&game).unwrap();
        assert_eq!(EndpointFile::read(&game).unwrap(), session("new"));
        let names = fs::read_dir(game.join(FOLDER)).unwrap().count();
        assert_eq!(names, 2, "the session and what ignores it");
        session("old").remove(&game);
        assert!(path(&game).exists());
        session("new").remove(&game);
        assert!(!path(&game).exists());
        fs::remove_dir_all(&game).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn an_endpoint_file_is_private_and_links_are_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let game = scratch("rights");
        session("x").write(&game).unwrap();
        let mode = fs::metadata(path(&game)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::remove_dir_all(game.join(FOLDER)).unwrap();
        let elsewhere = scratch("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, game.join(FOLDER)).unwrap();
        assert!(session("x").write(&game).unwrap_err().to_string().contains("is a link"));
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        fs::remove_dir_all(&game).unwrap();
        fs::remove_dir_all(&elsewhere).unwrap();
    }

    #[test]
    fn a_damaged_file_is_reported() {
        let game = scratch("damaged");
        fs::create_dir_all(game.join(FOLDER)).unwrap();
        let check = |text: &str, wanted: &str| {
            fs::write(path(&game), text).unwrap();
            let message = EndpointFile::read(&game).unwrap_err().message;
            assert!(message.contains(wanted), "{message}");
        };
        check("{", "remove it");
        check("{}", "no text 'token'");
        check("{\"token\": \"x\", \"port\": 0}", "its 'port' is not a port number");
        check("{\"token\": \"x\", \"port\": 1}", "no number 'version'");
        fs::remove_dir_all(&game).unwrap();
    }
}
