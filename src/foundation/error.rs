//! The error type for failures outside of the engine (files, devices, data): a message for people,
//! and the context in which it was created. Faults of the engine itself are `assert!`s instead.

use super::context;

/// An error message that names the subject, the conflict and the remedy, and the engine's context.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// A description of the failure and its remedy.
    pub message: String,
    /// The engine's activities when the error occurred, outermost first.
    pub contexts: Vec<String>,
    /// True if the engine itself failed: the error was a panic.
    pub is_engine_fault: bool,
    /// True for a temporary failure of the machine: the same operation may succeed later.
    pub is_transient: bool,
}

impl Error {
    /// Creates an error with this thread's context lines.
    pub fn new(message: impl Into<String>) -> Error {
        let (is_engine_fault, is_transient) = (false, false);
        Error { message: message.into(), contexts: context::lines(), is_engine_fault, is_transient }
    }

    /// Returns one error for several errors of a file, with a line for each of the first
    /// [`LISTED_MAX`]. Equal ones are one. Each message begins with the path of the file and a
    /// colon, so that [`messages`] can separate them again. Returns `None` without errors.
    pub fn several(errors: Vec<Error>) -> Option<Error> {
        let mut lines: Vec<&str> = Vec::new();
        for error in &errors {
            // Whether there are more than are listed is all that counts.
            if lines.len() > LISTED_MAX {
                break;
            }
            if !lines.contains(&error.message.as_str()) {
                lines.push(&error.message);
            }
        }
        let more = lines.len().saturating_sub(LISTED_MAX);
        let mut message = lines[..lines.len() - more].join("\n");
        if more > 0 {
            let path = message.split(':').next().unwrap_or_default().to_string();
            // How many there are is unknown: readers stop when the list is full.
            message += &format!("\n{path}: {MORE_ERRORS}");
        }
        let first = errors.into_iter().next()?;
        Some(Error { message, ..first })
    }
}

/// The last message of an error for more errors than are listed.
pub const MORE_ERRORS: &str = "and more errors";
/// Maximum number of messages of an error for several errors, without the last.
pub const LISTED_MAX: usize = 32;

/// Returns the messages of an error for several errors of a file, and other messages as they are.
pub fn messages(message: &str) -> Vec<&str> {
    let Some((path, _)) = message.split_once(':') else { return vec![message] };
    let is_path = !path.contains(|c: char| c.is_whitespace());
    let begins =
        |at: usize| message[at + 1..].strip_prefix(path).is_some_and(|it| it.starts_with(':'));
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in message.match_indices('\n').filter(|(at, _)| is_path && begins(*at)) {
        parts.push(&message[start..at]);
        start = at + 1;
    }
    parts.push(&message[start..]);
    parts
}

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        for line in &self.contexts {
            writeln!(out, "{line}")?;
        }
        write!(out, "{}", self.message)
    }
}

impl std::error::Error for Error {}

/// Creates an [`Error`] from a format string, as `format!` creates a string.
#[macro_export]
macro_rules! error {
    ($($arguments:tt)*) => { $crate::Error::new(format!($($arguments)*)) };
}

/// Formats the failure of an assertion: one line per context, outermost first, then the assertion,
/// then its message and its source location, indented.
pub fn assertion(test: &str, message: &str, file: &str, line: u32) -> String {
    let mut text = String::new();
    for context in context::lines() {
        text += &format!("{context}\n");
    }
    text += &format!("Assertion failed: {test}\n");
    for part in message.lines() {
        text += &format!("    {part}\n");
    }
    text + &format!("    In {file}:{line}\n")
}

/// Asserts a condition that only a fault of the engine itself can break. A failure includes the
/// context lines.
#[macro_export]
macro_rules! insist {
    ($test:expr, $($arguments:tt)+) => {
        if !$test {
            let message = format!($($arguments)+);
            let test = stringify!($test);
            panic!("{}", $crate::error::assertion(test, &message, file!(), line!()));
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doing;

    #[test]
    fn an_assertion_prints_contexts_condition_message_and_location() {
        doing!("When spawning level:", "big_world");
        doing!("When spawning unit:", "big_bird");
        doing!("When applying material:", "feathers");
        let message = "Texture not loaded: yellow_feathers";
        let text = assertion("texture != NULL", message, "material_manager.cpp", 1337);
        assert_eq!(
            text,
            "When spawning level: big_world\n\
             When spawning unit: big_bird\n\
             When applying material: feathers\n\
             Assertion failed: texture != NULL\n    \
                 Texture not loaded: yellow_feathers\n    \
                 In material_manager.cpp:1337\n"
        );
    }

    #[test]
    fn insist_panics_with_the_failed_expression() {
        let texture: Option<u32> = None;
        let panic = std::panic::catch_unwind(|| insist!(texture.is_some(), "none for {}", "hat"));
        let text = *panic.unwrap_err().downcast::<String>().unwrap();
        let wanted = "Assertion failed: texture.is_some()\n    none for hat\n    In src/foundation";
        assert!(text.starts_with(wanted), "{text}");
    }

    #[test]
    fn several_errors_are_one_and_are_separated_again() {
        let errors = |texts: &[&str]| texts.iter().map(|text| error!("{text}")).collect();
        assert_eq!(Error::several(Vec::new()), None);
        let all = ["a/b.x:1: no\n  caret", "a/b.x: it is: wrong", "a/b.x:7: no"];
        let one = Error::several(errors(&[all[0], all[1], all[0], all[2]])).unwrap();
        assert_eq!(messages(&one.message), all);
        let many: Vec<String> = (0..40).map(|line| format!("b.x:{line}: no")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let one = Error::several(errors(&many)).unwrap();
        let parts = messages(&one.message);
        assert_eq!((parts.len(), parts[32]), (33, "b.x: and more errors"));
        for text in ["", "none", "a b: c\na b: d", "a.x:1: b\nc.x:1: d", "a.x:1: b\na.xy:1: d"] {
            assert_eq!(messages(text), [text]);
        }
    }

    #[test]
    fn an_error_carries_the_context_in_which_it_was_created() {
        let error = {
            doing!("When loading:", "main.lua");
            error!("no such file: {}", "x")
        };
        assert_eq!(error.to_string(), "When loading: main.lua\nno such file: x");
    }
}
