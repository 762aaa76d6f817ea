//! The desktop's browser: the check of addresses, and opening them. Knows no game.

use crate::broker;
use engine_foundation::Error;
use engine_foundation::error;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// Maximum length of an address in bytes.
pub const ADDRESS_BYTES_MAX: usize = 2048;
/// Allowlist of prefixes for addresses that games may open. Other schemes could start programs or
/// show files.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];
/// Minimum time between two opened addresses: a game in a loop must not fill the desktop.
const PAUSE: Duration = Duration::from_secs(1);

/// Checks that a game may open an address.
pub fn check(address: &str) -> Result<(), Error> {
    if address.len() > ADDRESS_BYTES_MAX {
        let length = address.len();
        return Err(error!("has {length} bytes, and {ADDRESS_BYTES_MAX} is the most"));
    }
    let has_scheme = |scheme: &str| {
        let head = address.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme)) && address.len() > scheme.len()
    };
    if !SCHEMES.into_iter().any(has_scheme) {
        let head: String = address.chars().take(40).collect();
        return Err(error!(
            "must begin with http://, https:// or mailto: and continue after that, got '{}'",
            head.escape_default()
        ));
    }
    check_mail_fields(address)?;
    // These are the characters of RFC 3986.
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    match address.chars().find(|c| !is_allowed(*c)) {
        None => Ok(()),
        Some(other) => Err(error!(
            "has '{}', which no address can have: write it as % and two digits for each byte",
            other.escape_default()
        )),
    }
}

/// Refuses mail fields other than the usual text fields, because some programs attach a file that a
/// field names.
fn check_mail_fields(address: &str) -> Result<(), Error> {
    const KNOWN: [&str; 6] = ["to", "cc", "bcc", "subject", "body", "in-reply-to"];
    let is_mail = address.get(..7).is_some_and(|head| head.eq_ignore_ascii_case("mailto:"));
    if !is_mail {
        return Ok(());
    }
    let (receivers, fields) = address.split_once('?').unwrap_or((address, ""));
    // Commas separate recipients.
    check_breaks("its receivers", receivers, &FIELD_BREAKS[..QUOTES])?;
    if fields.is_empty() {
        return Ok(());
    }
    for field in fields.split(['&', '?']) {
        let name = field.split('=').next().unwrap_or_default();
        if !KNOWN.iter().any(|known| name.eq_ignore_ascii_case(known)) {
            return Err(error!(
                "has the field '{}', and a mail may have {}",
                name.escape_default(),
                KNOWN.join(", ")
            ));
        }
        let name = format!("the field '{}'", name.escape_default());
        check_breaks(&name, field, &FIELD_BREAKS)?;
    }
    Ok(())
}

/// Quotes and commas: plain, encoded, and encoded twice. Desktop scripts pass a mail to Thunderbird
/// as one text, `subject='…',body='…'`. There, these characters end a field and start another one,
/// such as `attachment`.
const FIELD_BREAKS: [&str; 9] = ["'", "\"", "%27", "%22", "%2527", "%2522", ",", "%2C", "%252C"];
/// Number of quotes in `FIELD_BREAKS`; they come first.
const QUOTES: usize = 6;

fn check_breaks(part: &str, text: &str, breaks: &[&str]) -> Result<(), Error> {
    let contains = |wanted: &str| {
        text.as_bytes().windows(wanted.len()).any(|it| it.eq_ignore_ascii_case(wanted.as_bytes()))
    };
    match breaks.iter().find(|wanted| contains(wanted)) {
        None => Ok(()),
        Some(found) => Err(error!(
            "has {found} in {part} of a mail, which some mail programs take for its end: leave \
             it out"
        )),
    }
}

/// Opens a checked address with the desktop's browser. The error is the reason why it was not
/// opened.
pub fn open_checked(address: &str) -> Result<(), String> {
    static OPENED: Mutex<Option<Instant>> = Mutex::new(None);
    // A confined process cannot start programs. Its broker opens the address and checks it again.
    if let Some(answer) = broker::open_address(address) {
        return answer;
    }
    let mut opened = OPENED.lock().map_err(|_| "the browser cannot be asked".to_string())?;
    if opened.is_some_and(|opened| opened.elapsed() < PAUSE) {
        return Err("an address was opened less than a second ago".to_string());
    }
    let result = open(address, |_| {});
    // On a busy machine, starting the program takes long, and its window appears later.
    *opened = Some(Instant::now());
    result.map_err(|(program, reason)| format!("no browser was opened ({program}: {reason})"))
}

/// Opens an address with the desktop's handler. The error names the program that failed to start.
/// `on_failure` is called if a started program fails.
pub fn open(
    address: &str,
    on_failure: impl FnOnce(&'static str) + Send + 'static,
) -> Result<(), (&'static str, io::Error)> {
    let (program, arguments): (_, &[&str]) = match std::env::consts::OS {
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        "macos" => ("open", &[]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    // The program must not find files in the folder in which the game was started.
    command.current_dir(neutral_folder());
    command.args(arguments).arg(address).stdin(Stdio::null());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|reason| (program, reason))?;
    thread::spawn(move || {
        if !child.wait().is_ok_and(|status| status.success()) {
            on_failure(program);
        }
    });
    Ok(())
}

/// Returns a folder of the system to which no game can have written.
fn neutral_folder() -> std::path::PathBuf {
    match std::env::var_os("SystemRoot").filter(|_| cfg!(windows)) {
        Some(folder) => folder.into(),
        None => "/".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_and_mail_addresses_are_opened() {
        let mail = "mailto:a@b.org?subject=Hello%20you&body=One;%20two&CC=c@d.org";
        for address in ["https://example.org/a?b=c#d", "HTTP://example.org", "mailto:a@b.org", mail]
        {
            assert!(check(address).is_ok(), "{address}");
        }
        for (address, message) in [
            ("file:///etc/passwd", "must begin with http://, https:// or mailto: and continue"),
            ("", "must begin with"),
            ("https://", "must begin with"),
            ("-version", "must begin with"),
            ("javascript:alert(1)", "must begin with"),
            ("https://a b", "has ' ', which no address can have"),
            ("https://a\"&calc", "has '\\\"', which no address can have"),
            ("https://a\n", "has '\\n', which no address can have"),
            ("https://käse.de", "has '\\u{e4}', which no address can have"),
            ("mailto:a@b.org?attach=/etc/passwd", "has the field 'attach', and a mail may have to"),
            ("MAILTO:?subject=a&attachment=x", "has the field 'attachment', and a mail may have"),
            ("mailto:a@b.org?subject=a?attach=x", "has the field 'attach', and a mail may have"),
            ("mailto:a@b.org?%61ttach=x", "has the field '%61ttach', and a mail may have"),
        ] {
            let found = check(address).unwrap_err().message;
            assert!(found.starts_with(message), "{address}: {found}");
        }
        let long = format!("https://{}", "a".repeat(ADDRESS_BYTES_MAX));
        assert_eq!(check(&long).unwrap_err().message, "has 2056 bytes, and 2048 is the most");
    }

    #[test]
    fn mail_fields_cannot_inject_program_arguments() {
        for breaks in ["'", ",", "%27", "%2C", "%2c", "%22", "%2527", "%252c", "%2522"] {
            for address in [
                format!("mailto:a@b.org?subject=a{breaks}attachment=/etc/passwd"),
                format!("MAILTO:?to=a@b.org&body=a&body={breaks}"),
            ] {
                let found = check(&address).unwrap_err().message;
                let shown = breaks.to_uppercase();
                assert!(found.starts_with(&format!("has {shown} in the field '")), "{found}");
            }
        }
        for quote in ["'", "%27", "%22", "%2527"] {
            for rest in ["", "?subject=a"] {
                let found = check(&format!("mailto:a@b.org{quote}{rest}")).unwrap_err().message;
                assert!(found.starts_with(&format!("has {quote} in its receivers")), "{found}");
            }
        }
        // Commas separate recipients before the fields, and web addresses may contain them, too.
        for address in ["mailto:a@b.org,c@d.org?subject=a", "https://example.org/?a='b',%22c%27"] {
            assert!(check(address).is_ok(), "{address}");
        }
    }
}
