//! The desktop's browser: which addresses may be opened in it, and opening them. Knows no game.

use crate::error;
use crate::foundation::Error;
use crate::system::platform::broker;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// The longest address that is opened.
pub const ADDRESS_BYTES_MAX: usize = 2048;
/// How addresses that games may open begin. Others would start programs, or show files.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];
/// How long it takes at least from one to the next: a game in a loop must not fill the desktop.
const PAUSE: Duration = Duration::from_secs(1);

/// Checks an address that a game wants opened.
pub fn check(address: &str) -> Result<(), Error> {
    if address.len() > ADDRESS_BYTES_MAX {
        let length = address.len();
        return Err(error!("has {length} bytes, and {ADDRESS_BYTES_MAX} is the most"));
    }
    let begins = |scheme: &str| {
        let head = address.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme)) && address.len() > scheme.len()
    };
    if !SCHEMES.into_iter().any(begins) {
        let head: String = address.chars().take(40).collect();
        return Err(error!(
            "must begin with http://, https:// or mailto: and go on after that, got '{}'",
            head.escape_default()
        ));
    }
    // Those of RFC 3986.
    let known = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    match address.chars().find(|c| !known(*c)) {
        None => Ok(()),
        Some(other) => Err(error!(
            "has '{}', which no address can have: write it as % and two digits for each byte",
            other.escape_default()
        )),
    }
}

/// Has the desktop open an address that was checked; the words say why it does not.
pub fn open_checked(address: &str) -> Result<(), String> {
    static OPENED: Mutex<Option<Instant>> = Mutex::new(None);
    // A confined process starts no programs: its broker does, and checks the address once more.
    if let Some(answer) = broker::open_address(address) {
        return answer;
    }
    let mut opened = OPENED.lock().map_err(|_| "the browser cannot be asked".to_string())?;
    if opened.is_some_and(|opened| opened.elapsed() < PAUSE) {
        return Err("an address was opened less than a second ago".to_string());
    }
    *opened = Some(Instant::now());
    open(address, |_| {})
        .map_err(|(program, reason)| format!("no browser was opened ({program}: {reason})"))
}

/// Has the desktop open an address. The error names the program that was asked to; `failed` hears
/// of one that was started and could not.
pub fn open(
    address: &str,
    failed: impl FnOnce(&'static str) + Send + 'static,
) -> Result<(), (&'static str, io::Error)> {
    let (program, arguments): (_, &[&str]) = match std::env::consts::OS {
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        "macos" => ("open", &[]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(address).stdin(Stdio::null());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|reason| (program, reason))?;
    thread::spawn(move || {
        if !child.wait().is_ok_and(|status| status.success()) {
            failed(program);
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_and_of_mail_are_opened() {
        for address in ["https://example.org/a?b=c#d", "HTTP://example.org", "mailto:a@b.org"] {
            assert!(check(address).is_ok(), "{address}");
        }
        for (address, words) in [
            ("file:///etc/passwd", "must begin with http://, https:// or mailto: and go on"),
            ("", "must begin with"),
            ("https://", "must begin with"),
            ("-version", "must begin with"),
            ("javascript:alert(1)", "must begin with"),
            ("https://a b", "has ' ', which no address can have"),
            ("https://a\"&calc", "has '\\\"', which no address can have"),
            ("https://a\n", "has '\\n', which no address can have"),
            ("https://käse.de", "has '\\u{e4}', which no address can have"),
        ] {
            let found = check(address).unwrap_err().message;
            assert!(found.starts_with(words), "{address}: {found}");
        }
        let long = format!("https://{}", "a".repeat(ADDRESS_BYTES_MAX));
        assert_eq!(check(&long).unwrap_err().message, "has 2056 bytes, and 2048 is the most");
    }
}
