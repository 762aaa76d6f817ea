//! The plain view with GitHub's workflow commands, which become annotations at the lines that
//! failed.

use super::{Paper, Summary, View, failed_at, message, plain, printable};
use crate::app::testing::result::{Counts, Status, TestResult};

pub struct GitHub {
    paper: Paper,
}

impl GitHub {
    pub fn new(paper: Paper) -> GitHub {
        GitHub { paper }
    }
}

/// The value of a command: its ends of lines and percent signs are written as such.
fn value(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(printable).collect();
    lines.join("\n").replace('%', "%25").replace('\n', "%0A")
}

/// A property of a command, in which colons and commas mean something.
fn property(text: &str) -> String {
    value(text).replace(':', "%3A").replace(',', "%2C")
}

impl View for GitHub {
    fn test(&mut self, _: &str, test: &TestResult) {
        let (command, word) = match test.status {
            Status::Failed => ("error", ""),
            Status::Flaky => ("warning", "flaky: "),
            Status::Passed | Status::Skipped => return,
        };
        let at = failed_at(test);
        let split = at.rsplit_once(':').filter(|(_, line)| line.parse::<u32>().is_ok());
        let (file, line) = split.unwrap_or((at, "1"));
        let (file, title) = (property(file), property(&format!("{word}{}", test.name)));
        let message = value(&message(test));
        self.paper.line(&format!("::{command} file={file},line={line},title={title}::{message}"));
    }

    fn file(&mut self, file: &str, counts: Counts, seconds: f64) {
        plain::file_line(&mut self.paper, file, counts, seconds);
    }

    fn end(&mut self, summary: &Summary) {
        plain::ending(&mut self.paper, summary);
    }
}
