//! The manual page, `engine docs --man`: all commands and their flags, in the format of man.

use super::command_table::{CommandEntry, commands};
use engine_app::exit;
use engine_foundation::utc_date;
use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Environment variables that players and makers of packages need, and what they do.
const VARIABLES: &[(&str, &str)] = &[
    ("ENGINE_SAVE_DIR", "Folder for the saves of all games, instead of the platform's own."),
    ("ENGINE_QUIET", "With the value 1, runs without a window print no summary."),
    ("ENGINE_UNCONFINED", "With the value 1, the system does not confine games to their files."),
];

/// Exit codes and their meaning.
const EXIT_CODES: &[(i32, &str)] = &[
    (exit::SUCCESS, "Success."),
    (exit::FAILED, "The game or a test failed."),
    (exit::USAGE, "The command line is wrong."),
    (exit::NO_TESTS, "There was nothing to do."),
    (exit::ENGINE, "The engine failed."),
    (exit::SNAPSHOT, "Only pictures without a reference failed."),
];

/// Returns the page.
pub fn text() -> String {
    let epoch = std::env::var("SOURCE_DATE_EPOCH").ok();
    page(
        &commands(),
        &date(epoch.as_deref(), || {
            let file = std::env::current_exe().and_then(std::fs::metadata);
            file.and_then(|file| file.modified()).ok()
        }),
    )
}

/// Returns the date of the page: that of the variable SOURCE_DATE_EPOCH, which has the seconds from
/// 1970 for reproducible packages, or that on which the engine was built. Empty if it is unknown.
fn date(epoch: Option<&str>, built: impl FnOnce() -> Option<SystemTime>) -> String {
    let seconds = epoch.and_then(|text| text.trim().parse().ok());
    let named = seconds.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    let text = named.or_else(built).map(utc_date::text).unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_string()
}

fn page(commands: &[CommandEntry], date: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut out = format!(
        ".TH ENGINE 1 \"{date}\" \"engine {version}\" \"User Commands\"\n\
         .SH NAME\nengine \\- play games that are written in Lua\n\
         .SH SYNOPSIS\n.B engine\n.I command\n[\\fIoptions\\fR]\n\
         .br\n.B engine \\-\\-version\n[\\fB\\-\\-verbose\\fR]\n\
         .SH DESCRIPTION\nA game is a folder with a main.lua. The engine plays, checks, tests and \
         packages it.\n\
         .B engine docs \\-\\-open\nshows the manual in a browser.\n.SH COMMANDS\n"
    );
    for command in commands {
        let (name, usage) = (escaped(&command.name), escaped(&command.usage));
        let _ = writeln!(out, ".SS engine {name} {usage}\n{}.", line(&command.about));
        for flag in &command.flags {
            let _ = write!(out, ".TP\n\\fB\\-\\-{}\\fR", escaped(&flag.long));
            if let Some(value) = &flag.value {
                let _ = write!(out, " \\fI{}\\fR", escaped(value));
            }
            let _ = writeln!(out, "\n{}.", line(&flag.about));
            if !flag.values.is_empty() {
                let _ = writeln!(out, "Values: {}.", escaped(&flag.values.join(", ")));
            }
        }
    }
    out += ".SH ENVIRONMENT\n";
    for (name, about) in VARIABLES {
        let _ = writeln!(out, ".TP\n.B {}\n{}", escaped(name), line(about));
    }
    out += ".SH EXIT STATUS\n";
    for (code, about) in EXIT_CODES {
        let _ = writeln!(out, ".TP\n.B {code}\n{}", line(about));
    }
    out
}

/// Returns a text without characters that the format interprets, or that its programs read as
/// Latin-1.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out += "\\e",
            '-' => out += "\\-",
            c if c.is_ascii() => out.push(c),
            c => {
                let _ = write!(out, "\\[u{:04X}]", u32::from(c));
            }
        }
    }
    out
}

/// Returns a text that can begin a line, where a period or an apostrophe would begin a request.
fn line(text: &str) -> String {
    let text = escaped(text);
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_table::FlagEntry;

    #[test]
    fn page_escapes_characters_of_the_format() {
        let flag = FlagEntry {
            long: "no-tools".to_string(),
            short: None,
            value: Some("A\\B…".to_string()),
            values: vec!["x-y".to_string()],
            about: ".luarc.json is ignored".to_string(),
        };
        let run = CommandEntry {
            name: "run".to_string(),
            about: "'Play' a game".to_string(),
            usage: "[OPTIONS]".to_string(),
            flags: vec![flag],
            values: Vec::new(),
        };
        let page = page(&[run], "2026-11-29");
        let wanted = ".SS engine run [OPTIONS]\n\\&'Play' a game.\n.TP\n\\fB\\-\\-no\\-tools\\fR \
                      \\fIA\\eB\\[u2026]\\fR\n\\&.luarc.json is ignored.\nValues: x\\-y.\n";
        assert!(page.contains(wanted), "{page}");
        assert!(page.starts_with(".TH ENGINE 1 \"2026-11-29\" \"engine "), "{page}");
    }

    #[test]
    fn date_is_that_of_the_variable_or_of_the_build() {
        let built = || UNIX_EPOCH.checked_add(Duration::from_secs(951_782_400));
        assert_eq!(date(Some("86400"), built), "1970-01-02");
        for epoch in [None, Some(""), Some("-1"), Some("99999999999999999999")] {
            assert_eq!(date(epoch, built), "2000-02-29", "{epoch:?}");
        }
        assert_eq!(date(None, || None), "");
    }
}
