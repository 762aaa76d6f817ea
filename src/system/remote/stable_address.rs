//! The stable address of a game's tool page: a port and a token that stay the same between the runs
//! of a game's folder, so that an open page finds the next run. They are kept in a private file of
//! the user, never in the game's folder: that folder may come from somebody else, and who knows the
//! token can control the game.

use super::{private_file, proof, token};
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, error, json, log};
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Name of the file in the folder of a game's saves.
pub const FILE: &str = "tools.json";
/// The most addresses in the file: one for each folder from which games of this id were run. The
/// folder that was added first is forgotten first.
pub const ADDRESSES_MAX: usize = 16;
/// Time after which a game gets a new address. It limits how long a token that somebody has seen is
/// of use.
pub const ADDRESS_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The range of ports: below the ports that systems give to outgoing connections.
const PORTS: std::ops::Range<u16> = 20_000..30_000;
/// Number of ports to try before the system chooses one.
const ATTEMPTS: usize = 16;

/// One address of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAddress {
    /// The game's folder.
    folder: String,
    port: u16,
    token: String,
    /// Seconds since 1970 at which the token was drawn.
    created: f64,
}

impl StoredAddress {
    fn is_fresh(&self, now: f64) -> bool {
        (0.0..ADDRESS_LIFETIME.as_secs_f64()).contains(&(now - self.created))
    }
}

/// Opens the port of a game's folder and returns it with its token. `state_folder` is a private
/// folder of the user; without one, the address is a new one.
///
/// # Errors
/// Returns an error if no port can be opened.
pub(super) fn open(
    state_folder: Option<&Path>,
    game: &Path,
) -> Result<(TcpListener, String), Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |it| it.as_secs_f64());
    let Some(state_folder) = state_folder else { return open_new() };
    let folder = fs::canonicalize(game).unwrap_or_else(|_| game.to_path_buf());
    let folder = folder.to_string_lossy().into_owned();
    let mut known = match read(state_folder) {
        Ok(known) => known,
        Err(message) => {
            let path = state_folder.join(FILE);
            let path = path.display();
            log::warning(&format!("{path}: {message}: the page of tools gets a new address"));
            Vec::new()
        }
    };
    if let Some(stored) = known.iter().find(|it| it.folder == folder && it.is_fresh(now)) {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, stored.port)) {
            Ok(listener) => return Ok((listener, stored.token.clone())),
            // Another run of this game keeps the address.
            Err(_) if proof::is_known_by_server(&stored.token, stored.port, &token()) => {
                return open_new();
            }
            // Another program listens there. It may have been sent the token.
            Err(_) => {}
        }
    }
    let (listener, token) = open_new()?;
    let port = listener.local_addr().map_err(|reason| error!("{reason}"))?.port();
    known.retain(|it| it.folder != folder);
    known.push(StoredAddress { folder, port, token: token.clone(), created: now.floor() });
    let forgotten = known.len().saturating_sub(ADDRESSES_MAX);
    if let Err(reason) = write(state_folder, &known[forgotten..]) {
        let path = state_folder.join(FILE);
        let path = path.display();
        log::note(&format!("{path}: {reason}: the page of tools has another address in each run"));
    }
    Ok((listener, token))
}

/// Opens a random port, with a new token.
fn open_new() -> Result<(TcpListener, String), Error> {
    let refused = |reason: io::Error| error!("no port can be opened for tools: {reason}");
    for _ in 0..ATTEMPTS {
        let random = u32::from_str_radix(&token()[..8], 16).expect("a token is a number");
        let port = PORTS.start + (random % u32::from(PORTS.end - PORTS.start)) as u16;
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return Ok((listener, token()));
        }
    }
    Ok((TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(refused)?, token()))
}

/// Reads the addresses of a state folder. A missing file has none.
///
/// # Errors
/// Returns a message if the file is damaged, or not a regular file of a small size.
pub fn read(state_folder: &Path) -> Result<Vec<StoredAddress>, String> {
    let path = state_folder.join(FILE);
    let bytes = match file_access::read_named(&path, &readers::TOOL_ADDRESSES) {
        Ok(bytes) => bytes,
        Err(refusal) if refusal.is_missing() => return Ok(Vec::new()),
        Err(refusal) => return Err(refusal.message(FILE)),
    };
    let text = String::from_utf8(bytes).map_err(|_| "the file is not text".to_string())?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<StoredAddress>, String> {
    let tree = json::read(text)?;
    let Some(SjsonTree::Array(rows)) = tree.get("addresses") else {
        return Err("the file has no list 'addresses'".to_string());
    };
    if rows.len() > ADDRESSES_MAX {
        return Err(format!("the file has more than {ADDRESSES_MAX} addresses (ADDRESSES_MAX)"));
    }
    let address = |row: &SjsonTree| -> Option<StoredAddress> {
        let SjsonTree::String(folder) = row.get("folder")? else { return None };
        let SjsonTree::String(token) = row.get("token")? else { return None };
        let SjsonTree::Number(port) = row.get("port")? else { return None };
        let SjsonTree::Number(created) = row.get("created")? else { return None };
        let is_token = proof::is_nonce(token);
        let is_port = port.fract() == 0.0 && (1024.0..=65535.0).contains(port);
        (is_token && is_port).then(|| StoredAddress {
            folder: folder.clone(),
            port: *port as u16,
            token: token.clone(),
            created: *created,
        })
    };
    let rows: Option<Vec<StoredAddress>> = rows.iter().map(address).collect();
    rows.ok_or_else(|| "an address in the file lacks a folder, port, token or date".to_string())
}

/// Replaces the addresses of a state folder.
///
/// # Errors
/// Returns an error if the folder cannot be written.
pub fn write(state_folder: &Path, addresses: &[StoredAddress]) -> io::Result<()> {
    let row = |it: &StoredAddress| {
        json::object([
            ("folder", json::text(&it.folder)),
            ("port", SjsonTree::Number(f64::from(it.port))),
            ("token", json::text(&it.token)),
            ("created", SjsonTree::Number(it.created)),
        ])
    };
    let rows = SjsonTree::Array(addresses.iter().map(row).collect());
    let text = json::write(&json::object([("addresses", rows)]));
    match private_file::write(state_folder, FILE, &format!("{text}\n")) {
        Err(reason) if reason.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(state_folder)?;
            private_file::write(state_folder, FILE, &format!("{text}\n"))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::RemoteServer;
    use super::*;
    use std::path::PathBuf;

    /// A state folder and a game's folder.
    struct Folders(PathBuf);

    impl Folders {
        fn new(name: &str) -> Folders {
            let name = format!("engine-{}-address-{name}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(folder.join("game")).unwrap();
            Folders(folder)
        }

        fn open(&self) -> (u16, String) {
            let (listener, token) = self.listen();
            (listener.local_addr().unwrap().port(), token)
        }

        fn listen(&self) -> (TcpListener, String) {
            open(Some(&self.0.join("state")), &self.0.join("game")).unwrap()
        }

        fn stored(&self) -> Vec<StoredAddress> {
            read(&self.0.join("state")).unwrap()
        }
    }

    impl Drop for Folders {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_runs_of_a_game_have_the_same_address() {
        let folders = Folders::new("same");
        let first = folders.open();
        assert_eq!(folders.open(), first);
        assert!(PORTS.contains(&first.0) && first.1.len() == 32);
        let other = open(Some(&folders.0.join("state")), &folders.0).unwrap();
        assert_ne!(other.1, first.1, "another folder has an address of its own");
        assert_eq!((folders.open(), folders.stored().len()), (first, 2));
        let new = open(None, &folders.0.join("game")).unwrap();
        assert_ne!(new.1, folders.open().1, "without a state folder it is a new one");
    }

    #[cfg(unix)]
    #[test]
    fn the_file_of_addresses_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folders = Folders::new("rights");
        folders.open();
        let mode = fs::metadata(folders.0.join("state").join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_port_taken_by_another_program_is_replaced_with_its_token() {
        let folders = Folders::new("taken");
        let (stranger, token) = folders.listen();
        let second = folders.open();
        assert!(second.1 != token && second.0 != stranger.local_addr().unwrap().port());
        drop(stranger);
        assert_eq!(folders.open(), second, "the new address is kept");
    }

    #[test]
    fn a_second_run_leaves_the_address_to_the_first() {
        let folders = Folders::new("second");
        let (state, game) = (folders.0.join("state"), folders.0.join("game"));
        let server = RemoteServer::open(game, Some(&state)).unwrap();
        let stored = folders.stored();
        let (port, token) = folders.open();
        assert!(port != server.port() && token != stored[0].token);
        assert_eq!(folders.stored(), stored);
        drop(server);
        assert_eq!(folders.open(), (stored[0].port, stored[0].token.clone()));
    }

    #[test]
    fn an_old_address_is_replaced() {
        let folders = Folders::new("old");
        let first = folders.open();
        let mut stored = folders.stored();
        for age in [ADDRESS_LIFETIME.as_secs_f64() + 1.0, -100.0] {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
            stored[0].created = now - age;
            write(&folders.0.join("state"), &stored).unwrap();
            assert_ne!(folders.open().1, first.1);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_addresses_that_is_no_regular_file_is_refused() {
        let folders = Folders::new("pipe");
        let state = folders.0.join("state");
        fs::create_dir_all(state.join(FILE)).unwrap();
        assert!(read(&state).is_err(), "a folder");
        fs::remove_dir(state.join(FILE)).unwrap();
        let large = fs::File::create(state.join(FILE)).unwrap();
        large.set_len(1 << 30).unwrap();
        assert!(read(&state).unwrap_err().contains("64 KiB"), "a sparse file");
    }

    #[test]
    fn a_damaged_file_is_replaced_with_a_warning() {
        let check = |text: &str, wanted: &str| {
            assert!(parse(text).unwrap_err().contains(wanted), "{text}: {:?}", parse(text));
        };
        let row = |token: &str, port: &str| {
            let rest = "\"folder\": \"/x\", \"created\": 1";
            format!("{{\"addresses\": [{{{rest}, \"token\": \"{token}\", \"port\": {port}}}]}}")
        };
        check("{", "line 1");
        check("{}", "no list 'addresses'");
        check(&row("short", "20000"), "lacks a folder, port, token or date");
        check(&row(&"0".repeat(32), "80"), "lacks a folder, port, token or date");
        check(&row(&"0".repeat(32), "2000.5"), "lacks a folder, port, token or date");
        let many = vec!["0"; ADDRESSES_MAX + 1].join(",");
        check(&format!("{{\"addresses\": [{many}]}}"), "ADDRESSES_MAX");
        assert!(parse(&row(&"0".repeat(32), "20000")).is_ok());
        let folders = Folders::new("damaged");
        fs::create_dir_all(folders.0.join("state")).unwrap();
        fs::write(folders.0.join("state").join(FILE), "{").unwrap();
        let first = folders.open();
        assert_eq!(folders.open(), first);
    }
}
