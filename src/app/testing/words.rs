//! What a test run says to people: a line for each file, the failures, the sums.

use super::Counts;
use super::event::Failure;
use super::file::Outcome;
use std::io::{IsTerminal, Write};

/// Where the words go, and whether in colour.
pub struct Words {
    colour: bool,
}

const RED: &str = "31";
const GREEN: &str = "32";
const GREY: &str = "90";

impl Words {
    /// Standard output: with colour on a terminal, unless `NO_COLOR` is set.
    pub fn new() -> Words {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Words { colour: std::io::stdout().is_terminal() && !plain }
    }

    /// A closed pipe takes the words along, and the run still has its exit code.
    pub fn line(&self, text: &str) {
        let _ = writeln!(std::io::stdout(), "{text}");
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{colour}m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }

    /// A file is done.
    pub fn file(&self, path: &str, outcome: &Outcome, seconds: f64) {
        let Counts { passed, failed, skipped } = outcome.counts;
        let word = match failed {
            0 => self.paint(GREEN, "ok    "),
            _ => self.paint(RED, "FAILED"),
        };
        let mut parts = vec![format!("{passed} passed")];
        let mut part = |count: usize, name: &str| {
            if count > 0 {
                parts.push(format!("{count} {name}"));
            }
        };
        part(failed, "failed");
        part(skipped, "skipped");
        let (path, parts) = (printable(path), parts.join(", "));
        let figures = self.paint(GREY, &format!("{parts}, {seconds:.3} s"));
        self.line(&format!("{word}  {path}  {figures}"));
    }

    /// Everything that failed, after the last file.
    pub fn failures(&self, failures: &[Failure]) {
        for failure in failures {
            self.line(&format!("\n{} {}", self.paint(RED, "FAILED"), printable(&failure.name)));
            if let Some(at) = &failure.at {
                self.line(&format!("  {}", printable(at)));
            }
            for line in failure.message.lines().chain(failure.hint.as_deref()) {
                self.line(&format!("  {}", printable(line)));
            }
            let locals = failure.locals.iter().map(|local| format!("local {local}"));
            let trace = failure.trace.lines().map(str::to_string);
            for line in locals.chain(trace) {
                self.line(&self.paint(GREY, &format!("    {}", printable(&line))));
            }
        }
    }

    /// The sums; the last line is for programs too and stands alone.
    pub fn sums(&self, files: usize, counts: Counts, seconds: f64, seed: Option<u64>) {
        let Counts { passed, failed, skipped } = counts;
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let tests = passed + failed + skipped;
        let shuffled = seed.map(|seed| format!(", shuffled with --seed {seed}"));
        self.line(&format!(
            "\n{files} file{}, {tests} test{} in {seconds:.3} s{}",
            plural(files),
            plural(tests),
            shuffled.unwrap_or_default()
        ));
        self.line(&format!("{passed} passed, {failed} failed, {skipped} skipped"));
    }
}

/// Control characters as escapes: what a test prints into a message must not steer the terminal.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_letters_stay() {
        assert_eq!(printable("a\x1b[31m\té\0"), "a\\u{1b}[31m\té\\u{0}");
    }
}
