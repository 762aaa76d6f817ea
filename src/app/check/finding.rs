//! Findings of a check: a message for people, and its parts for programs.

use std::collections::{HashMap, HashSet};

/// Maximum number of files that a finding names of those with the same cause.
const NAMED_MAX: usize = 3;
/// Maximum number of parts of a message that are searched for its cause.
const PARTS_MAX: usize = 16;

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
pub(super) fn location(text: &str) -> (Option<String>, Option<usize>) {
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

/// Returns the end of a message that begins with a location in another file, such as the state
/// machine of a unit.
fn cause(finding: &CheckFinding) -> Option<&str> {
    let file = finding.file.as_deref().filter(|_| finding.rule == CheckRule::Spawn)?;
    let parts = finding.text.match_indices(": ");
    let mut ends = parts.map(|(at, colon)| &finding.text[at + colon.len()..]).take(PARTS_MAX);
    // The same line of a script can fail for each unit for a reason of its own.
    let is_cause = |path: String| path != file && !path.ends_with(".lua");
    ends.find(|end| location(end).0.is_some_and(is_cause))
}

/// Merges the errors of resources that have the same cause in another file. The first one says
/// which other files have it.
pub fn merge_causes(findings: Vec<CheckFinding>) -> Vec<CheckFinding> {
    let mut merged: Vec<(CheckFinding, Vec<String>)> = Vec::new();
    let mut known = HashMap::new();
    for finding in findings {
        let key = cause(&finding)
            .map(|cause| (cause.to_string(), finding.platform, finding.variant.clone()));
        match key.as_ref().and_then(|key| known.get(key).copied()) {
            Some(first) => {
                let (first, others): &mut (CheckFinding, Vec<String>) = &mut merged[first];
                let new = finding.file.filter(|file| first.file.as_ref() != Some(file));
                others.extend(new);
            }
            None => {
                known.extend(key.map(|key| (key, merged.len())));
                merged.push((finding, Vec::new()));
            }
        }
    }
    let with_others = |(mut finding, others): (CheckFinding, Vec<String>)| {
        if !others.is_empty() {
            let names = others[..others.len().min(NAMED_MAX)].join(", ");
            let more = if others.len() > NAMED_MAX { ", …" } else { "" };
            let noun = if others.len() == 1 { "file" } else { "files" };
            let count = others.len();
            finding.text += &format!(" (the same for {count} other {noun}: {names}{more})");
        }
        finding
    };
    merged.into_iter().map(with_others).collect()
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
    fn errors_with_a_cause_in_another_file_are_merged() {
        let finding = |number: usize, message: &str| {
            let text = format!("units/u{number}.unit: spawning it: {message}");
            CheckFinding::error(CheckRule::Spawn, text)
        };
        let cause = "component 'a': machine 'b' could not be compiled: b.state_machine:3: no c";
        let own = "component 'a': there is no model 'b'";
        let mut findings: Vec<CheckFinding> = (1..=5).map(|unit| finding(unit, cause)).collect();
        findings.insert(1, finding(7, own));
        findings.push(finding(8, own));
        let texts: Vec<String> = merge_causes(findings).into_iter().map(|it| it.text).collect();
        let files = "units/u2.unit, units/u3.unit, units/u4.unit, …";
        let first =
            format!("units/u1.unit: spawning it: {cause} (the same for 4 other files: {files})");
        let wanted = [
            first,
            format!("units/u7.unit: spawning it: {own}"),
            format!("units/u8.unit: spawning it: {own}"),
        ];
        assert_eq!(texts, wanted);
        let one = merge_causes(vec![finding(1, cause), finding(1, cause), finding(2, cause)]);
        assert!(one[0].text.ends_with(" (the same for 1 other file: units/u2.unit)"), "{one:?}");
        let mut other = finding(2, cause);
        other.platform = Some("windows");
        assert_eq!(merge_causes(vec![finding(1, cause), other]).len(), 2);
    }

    #[test]
    fn equal_texts_are_one_finding() {
        let finding = |text: &str| CheckFinding::warning(CheckRule::Name, text.to_string());
        let found = unique(vec![finding("a"), finding("b"), finding("a")]);
        assert_eq!(found, [finding("a"), finding("b")]);
    }
}
