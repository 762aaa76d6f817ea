//! The file by which tools find a running game: `.engine/session.json` in its folder, with the port
//! and the token of the run. Whoever can read it can do in the game whatever a script can, so
//! nobody but its owner can.

use super::json;
use crate::error;
use crate::foundation::Error;
use crate::foundation::file_access::{self, readers};
use crate::foundation::sjson::Tree;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The engine's own folder in a game's folder. It ignores itself in Git.
const FOLDER: &str = ".engine";
const NAME: &str = "session.json";

/// Where a running game is to be found.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    pub version: u32,
    pub port: u16,
    pub token: String,
    /// The process.
    pub process: u32,
}

/// The file of a game's folder.
pub fn path(game: &Path) -> PathBuf {
    game.join(FOLDER).join(NAME)
}

impl Session {
    /// Where a browser finds the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    fn text(&self) -> String {
        let tree = json::object([
            ("version", Tree::Number(f64::from(self.version))),
            ("port", Tree::Number(f64::from(self.port))),
            ("token", json::text(&self.token)),
            ("process", Tree::Number(f64::from(self.process))),
            ("page", json::text(self.address())),
        ]);
        format!("{}\n", json::write(&tree))
    }

    /// Writes it, so that nobody ever reads half of it.
    pub fn write(&self, game: &Path) -> io::Result<()> {
        let own = game.join(FOLDER);
        // A link could lead out of the game's folder, and a game must not make the engine write
        // there.
        if fs::symlink_metadata(&own).is_ok_and(|found| found.is_symlink()) {
            return Err(io::Error::other(format!("{FOLDER} is a link: remove it")));
        }
        fs::create_dir_all(&own)?;
        match File::create_new(own.join(".gitignore")) {
            Ok(mut file) => file.write_all(b"*\n")?,
            Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => {}
            Err(reason) => return Err(reason),
        }
        let beside = own.join(format!("{NAME}.{}.new", self.process));
        // One that is left of a process of the same number is replaced, with its rights.
        let _ = fs::remove_file(&beside);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&beside).and_then(|mut file| {
            file.write_all(self.text().as_bytes())?;
            fs::rename(&beside, path(game))
        });
        if written.is_err() {
            // It is of no use half written; that it cannot be removed changes nothing.
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// Reads the one of a game's folder.
    ///
    /// # Errors
    /// Where no game of that folder runs with tools.
    pub fn read(game: &Path) -> Result<Session, Error> {
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
        let damaged = |words: &str| error!("{}: {words}: remove it", path.display());
        let tree = json::read(&text).map_err(|words| damaged(&words))?;
        let number = |key: &str| match tree.get(key) {
            Some(Tree::Number(number)) => Ok(*number),
            _ => Err(damaged(&format!("it has no number '{key}'"))),
        };
        let Some(Tree::String(token)) = tree.get("token") else {
            return Err(damaged("it has no text 'token'"));
        };
        let port = number("port")?;
        if port.fract() != 0.0 || !(1.0..=65535.0).contains(&port) {
            return Err(damaged("its 'port' is none"));
        }
        Ok(Session {
            version: number("version")? as u32,
            port: port as u16,
            token: token.clone(),
            process: number("process")? as u32,
        })
    }

    /// Removes the file, if it is still this run's: another run of the game may have written its
    /// own.
    pub fn remove(&self, game: &Path) {
        if Session::read(game).is_ok_and(|found| found == *self) {
            // Where it cannot be removed, whoever connects finds nobody there.
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

    fn session(token: &str) -> Session {
        Session { version: 1, port: 4000, token: token.into(), process: std::process::id() }
    }

    #[test]
    fn a_session_is_found_and_only_its_own_run_removes_it() {
        let game = scratch("found");
        assert!(Session::read(&game).unwrap_err().message.starts_with("no game that runs in"));
        session("old").write(&game).unwrap();
        session("new").write(&game).unwrap();
        assert_eq!(Session::read(&game).unwrap(), session("new"));
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
    fn only_its_owner_can_read_it_and_a_link_is_not_followed() {
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
    fn a_damaged_file_says_what_is_wrong() {
        let game = scratch("damaged");
        fs::create_dir_all(game.join(FOLDER)).unwrap();
        let check = |text: &str, wanted: &str| {
            fs::write(path(&game), text).unwrap();
            let words = Session::read(&game).unwrap_err().message;
            assert!(words.contains(wanted), "{words}");
        };
        check("{", "remove it");
        check("{}", "no text 'token'");
        check("{\"token\": \"x\", \"port\": 0}", "its 'port' is none");
        check("{\"token\": \"x\", \"port\": 1}", "no number 'version'");
        fs::remove_dir_all(&game).unwrap();
    }
}
