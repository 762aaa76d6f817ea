//! Findings of a check: a message for people, and its parts for programs.

use std::collections::HashSet;

/// The part of the check that found a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckRule {
    /// A file that cannot be compiled, or whose name is invalid.
    Compile,
    /// A reference to a resource that does not exist.
    Reference,
    /// A resource without a variant that every game can use.
    Variant,
    /// Names that differ in upper and lower case alone.
    Name,
    /// A part of a model that is left out, or drawn otherwise than intended.
    Model,
    /// A clip whose settings contradict its motion.
    Animation,
    /// A tile of a map that no tile set has.
    Tilemap,
    /// A finding of the lint of scripts.
    Script,
    /// A unit, model or level that cannot be spawned.
    Spawn,
    /// An error that was logged while resources were spawned.
    Log,
    /// A resource that nothing uses.
    Unused,
    /// Git merges the game's files by lines, although their attributes name the engine's driver.
    Merge,
    /// An entry of the table of redirects without an effect, or a name that uses one.
    Redirect,
}

impl CheckRule {
    /// Returns the name in outputs for programs.
    pub fn name(self) -> &'static str {
        match self {
            CheckRule::Compile => "compile",
            CheckRule::Reference => "reference",
            CheckRule::Variant => "variant",
            CheckRule::Name => "name",
            CheckRule::Model => "model",
            CheckRule::Animation => "animation",
            CheckRule::Tilemap => "tilemap",
            CheckRule::Script => "script",
            CheckRule::Spawn => "spawn",
            CheckRule::Log => "log",
            CheckRule::Unused => "unused",
            CheckRule::Merge => "merge",
            CheckRule::Redirect => "redirect",
        }
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckFinding {
    pub rule: CheckRule,
    /// True if the game works in spite of it.
    pub is_warning: bool,
    /// Path of the file in the game's folder, if the finding belongs to one.
    pub file: Option<String>,
    /// Line in the file, from 1.
    pub line: Option<usize>,
    /// The message with its location, for people.
    pub text: String,
    /// The platform, if the finding is not one of the platform that the check runs on.
    pub platform: Option<&'static str>,
    /// Properties of the preferred variants, joined by dots; empty without any.
    pub variant: String,
}

impl CheckFinding {
    /// Creates an error from a text that can begin with `path:line: `.
    pub fn error(rule: CheckRule, text: String) -> CheckFinding {
        let (file, line) = location(&text);
        let (platform, variant) = (None, String::new());
        CheckFinding { rule, is_warning: false, file, line, text, platform, variant }
    }

    /// Creates a warning, as [`CheckFinding::error`].
    pub fn warning(rule: CheckRule, text: String) -> CheckFinding {
        CheckFinding { is_warning: true, ..CheckFinding::error(rule, text) }
    }

    /// Returns the text without the location at its start.
    pub fn message(&self) -> &str {
        let Some(file) = &self.file else { return &self.text };
        let Some(rest) = self.text.strip_prefix(file.as_str()) else { return &self.text };
        let is_digit = |c: char| c.is_ascii_digit() || c == ':';
        let rest = rest.trim_start_matches(is_digit);
        rest.strip_prefix(' ').unwrap_or(&self.text)
    }
}

/// Returns the file and the line at the start of a text such as `a/b.unit:3: message`.
fn location(text: &str) -> (Option<String>, Option<usize>) {
    let Some((start, _)) = text.split_once(": ") else { return (None, None) };
    let mut parts = start.split(':');
    let path = parts.next().unwrap_or_default();
    let line = parts.next().and_then(|line| line.parse().ok());
    let is_file = |name: &str| name.contains('.') && !name.starts_with('.');
    let is_path = path.rsplit('/').next().is_some_and(is_file) && !path.contains(" and ");
    match is_path && !path.contains('\'') {
        true => (Some(path.to_string()), line),
        false => (None, None),
    }
}

/// Returns the findings with different texts, in order.
pub fn unique(findings: Vec<CheckFinding>) -> Vec<CheckFinding> {
    let mut visited = HashSet::new();
    findings.into_iter().filter(|finding| visited.insert(finding.text.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_read_from_the_start_of_a_text() {
        let check = |text: &str, file: Option<&str>, line: Option<usize>, message: &str| {
            let finding = CheckFinding::error(CheckRule::Compile, text.to_string());
            assert_eq!((finding.file.as_deref(), finding.line), (file, line), "{text}");
            assert_eq!(finding.message(), message);
        };
        check("a/b.unit:3: it is: wrong", Some("a/b.unit"), Some(3), "it is: wrong");
        check("a/b.wgsl:3:7: it is wrong", Some("a/b.wgsl"), Some(3), "it is wrong");
        check("a/b.png: it is cut short", Some("a/b.png"), None, "it is cut short");
        for text in ["it is wrong", "there is: nothing", "'a.b': c", "a.png and a.jpg are: both"] {
            check(text, None, None, text);
        }
    }

    #[test]
    fn equal_texts_are_one_finding() {
        let finding = |text: &str| CheckFinding::warning(CheckRule::Name, text.to_string());
        let found = unique(vec![finding("a"), finding("b"), finding("a")]);
        assert_eq!(found, [finding("a"), finding("b")]);
    }
}
