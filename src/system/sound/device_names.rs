//! The allowlist of sound device names. The sound library of Linux interprets names: some of its
//! plug-ins start programs and write files. So the library receives only names that it lists
//! itself, and `default` and `null`. Opens nothing.

use engine_foundation::suggest;

/// Names that are always allowed, without being listed.
pub const ALWAYS: [&str; 2] = ["default", "null"];
/// The longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// The most devices that a message lists.
const LISTED_MAX: usize = 12;

/// Rejects a name that no device has, because the library of Linux would take it as an expression.
/// Call this function before the library is opened.
///
/// # Errors
/// Returns a message that names the setting and the remedy.
#[cfg(any(test, target_os = "linux"))]
pub fn check_shape(name: &str) -> Result<(), String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || "_-.:,=+".contains(c);
    let fault = if name.is_empty() {
        "is empty".to_string()
    } else if name.len() > NAME_BYTES_MAX {
        format!("is longer than {NAME_BYTES_MAX} bytes (NAME_BYTES_MAX)")
    } else if let Some(odd) = name.chars().find(|c| !letter(*c)) {
        format!("has {odd:?} in it")
    } else {
        return Ok(());
    };
    Err(format!(
        "sound.device {fault}, which no device's name has: write \"default\", or a name that the \
         system lists"
    ))
}

/// Rejects a name that is not among those that the system lists.
///
/// # Errors
/// Returns a message that lists the available devices.
pub fn check_listed(name: &str, listed: &[String]) -> Result<(), String> {
    if ALWAYS.contains(&name) || listed.iter().any(|known| known == name) {
        return Ok(());
    }
    let others = || listed.iter().map(String::as_str).filter(|known| !ALWAYS.contains(known));
    let all = || ALWAYS.into_iter().chain(others());
    let hint = suggest::hint(name, all());
    let mut known = all().take(LISTED_MAX).collect::<Vec<_>>().join(", ");
    let more = all().count().saturating_sub(LISTED_MAX);
    if more > 0 {
        known += &format!(" and {more} more");
    }
    Err(format!("sound.device: the system has no device '{name}'{hint} (it has {known})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> Vec<String> {
        ["hw:CARD=PCH,DEV=0", "sysdefault:CARD=PCH", "pipewire"].map(String::from).to_vec()
    }

    #[test]
    fn device_names_with_alsa_syntax_are_refused() {
        for (name, fault) in [
            ("tee:null,'|touch PROOF',raw", "has '\\'' in it"),
            ("file:'/tmp/x',raw", "has '\\'' in it"),
            ("file:/tmp/x,raw", "has '/' in it"),
            ("tee:null,|id,raw", "has '|' in it"),
            ("{ type file file x }", "has '{' in it"),
            ("pcm.file{slave.pcm null}", "has '{' in it"),
            ("@args.0", "has '@' in it"),
            ("plug:\"hw:0\"", "has '\"' in it"),
            ("hw:0\0", "has '\\0' in it"),
            ("hw:0\n", "has '\\n' in it"),
            ("$HOME", "has '$' in it"),
            ("", "is empty"),
        ] {
            let message = check_shape(name).unwrap_err();
            let wanted = format!(
                "sound.device {fault}, which no device's name has: write \"default\", or a name \
                 that the system lists"
            );
            assert_eq!(message, wanted);
        }
        assert!(check_shape(&"x".repeat(201)).unwrap_err().contains("(NAME_BYTES_MAX)"));
        for name in listed().iter().map(String::as_str).chain(ALWAYS) {
            assert_eq!(check_shape(name), Ok(()));
        }
    }

    #[test]
    fn only_listed_device_names_are_opened() {
        for name in listed().iter().map(String::as_str).chain(ALWAYS) {
            assert_eq!(check_listed(name, &listed()), Ok(()));
        }
        assert_eq!(check_listed("default", &[]), Ok(()));
        for name in [
            "file:x,raw",
            "plug:null",
            "tee:null,x,raw",
            "hw:0",
            "hw:CARD=PCH,DEV=0 ",
            "HW:CARD=PCH,DEV=0",
            "default,x",
            "null:x",
            "plughw:CARD=PCH,DEV=0",
        ] {
            let message = check_listed(name, &listed()).unwrap_err();
            assert!(
                message.starts_with(&format!("sound.device: the system has no device '{name}'"))
            );
            let all = "(it has default, null, hw:CARD=PCH,DEV=0, sysdefault:CARD=PCH, pipewire)";
            assert!(message.ends_with(all), "{message}");
        }
        let own = ["null", "default", "hw:0"].map(String::from);
        assert!(check_listed("x", &own).unwrap_err().ends_with("(it has default, null, hw:0)"));
        let many: Vec<String> = (0..20).map(|number| format!("hw:{number}")).collect();
        assert!(check_listed("x", &many).unwrap_err().ends_with("hw:9 and 10 more)"));
    }
}
