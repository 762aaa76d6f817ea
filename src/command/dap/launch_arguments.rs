//! The arguments of `launch` and `attach`: their types, and the folder that they name.

use super::paths::GamePaths;
use super::responses::text;
use engine_app::content;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;

/// The type of an argument, and how messages call it.
#[derive(Clone, Copy)]
enum ArgumentType {
    Text,
    Texts,
    Boolean,
}

/// All arguments that the adapter knows.
const ARGUMENTS: [(&str, ArgumentType); 8] = [
    ("folder", ArgumentType::Text),
    ("cwd", ArgumentType::Text),
    ("headless", ArgumentType::Boolean),
    ("arguments", ArgumentType::Texts),
    ("engineArguments", ArgumentType::Texts),
    ("suite", ArgumentType::Text),
    ("test", ArgumentType::Text),
    ("stopOnEntry", ArgumentType::Boolean),
];

impl ArgumentType {
    fn name(self) -> &'static str {
        match self {
            ArgumentType::Text => "a text",
            ArgumentType::Texts => "a list of texts, such as [\"--seed\", \"7\"]",
            ArgumentType::Boolean => "true or false",
        }
    }

    fn has(self, value: &SjsonTree) -> bool {
        let is_text = |value: &SjsonTree| matches!(value, SjsonTree::String(_));
        match (self, value) {
            (_, SjsonTree::Null) | (ArgumentType::Boolean, SjsonTree::Bool(_)) => true,
            (ArgumentType::Text, value) => is_text(value),
            (ArgumentType::Texts, SjsonTree::Array(items)) => items.iter().all(is_text),
            _ => false,
        }
    }
}

/// Checks the types of the arguments. Those that an editor adds for itself are left out.
///
/// # Errors
/// Returns a message about the first argument of another type.
pub fn check(arguments: &SjsonTree) -> Result<(), String> {
    for (name, wanted) in ARGUMENTS {
        if let Some(value) = arguments.get(name).filter(|value| !wanted.has(value)) {
            let value: String = json::write(value).chars().take(100).collect();
            return Err(format!("'{name}' must be {}, and it is {value}", wanted.name()));
        }
    }
    Ok(())
}

/// Returns the folder that the arguments name.
pub fn folder(arguments: &SjsonTree) -> &str {
    match (text(arguments, "folder"), text(arguments, "cwd")) {
        ("", "") => ".",
        ("", folder) | (folder, _) => folder,
    }
}

/// Checks that a folder has a game, or that the arguments name the script that starts one:
/// otherwise the engine would compile all that is in it first.
///
/// # Errors
/// Returns what is missing.
pub fn check_launch(paths: &GamePaths, engine_arguments: &[String]) -> Result<(), String> {
    let names_script = |argument: &String| argument == "--boot" || argument.starts_with("--boot=");
    match engine_arguments.iter().any(names_script) {
        true => Ok(()),
        false => content::check_folder(paths.folder()).map_err(|error| error.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_another_type_are_refused() {
        let checked = |text: &str| check(&json::read(text).expect("JSON"));
        for right in [
            "{}",
            r#"{"folder": "a", "headless": true, "arguments": [], "test": null, "other": 5}"#,
            r#"{"engineArguments": ["--seed", "7"], "stopOnEntry": false}"#,
        ] {
            assert_eq!(checked(right), Ok(()), "{right}");
        }
        for (wrong, wanted) in [
            (r#"{"folder": 5}"#, "'folder' must be a text, and it is 5"),
            (r#"{"headless": "yes"}"#, "'headless' must be true or false, and it is \"yes\""),
            (
                r#"{"engineArguments": "--seed"}"#,
                "'engineArguments' must be a list of texts, such as [\"--seed\", \"7\"], and it is \
                 \"--seed\"",
            ),
            (
                r#"{"arguments": ["a", 5]}"#,
                "'arguments' must be a list of texts, such as [\"--seed\", \"7\"], and it is \
                 [\"a\",5]",
            ),
        ] {
            assert_eq!(checked(wrong), Err(wanted.to_string()), "{wrong}");
        }
    }

    #[test]
    fn the_folder_is_the_first_that_is_named() {
        let of = |text: &str| folder(&json::read(text).expect("JSON")).to_string();
        assert_eq!(of(r#"{"folder": "a", "cwd": "b"}"#), "a");
        assert_eq!(of(r#"{"folder": "", "cwd": "b"}"#), "b");
        assert_eq!(of("{}"), ".");
    }
}
