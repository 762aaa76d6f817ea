//! The plain output with GitHub's workflow commands, which become annotations at the failed lines.

use super::{OutputSink, OutputWriter, Summary, failed_at, message, plain, printable};
use crate::testing::result::{TestCounts, TestResult, TestStatus};

pub struct GitHub {
    sink: OutputSink,
}

impl GitHub {
    pub fn new(sink: OutputSink) -> GitHub {
        GitHub { sink }
    }
}

/// Escapes the value of a command: line ends and percent signs.
fn value(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(printable).collect();
    lines.join("\n").replace('%', "%25").replace('\n', "%0A")
}

/// Escapes a property of a command, in which colons and commas are separators.
fn property(text: &str) -> String {
    value(text).replace(':', "%3A").replace(',', "%2C")
}

impl OutputWriter for GitHub {
    fn test(&mut self, _: &str, test: &TestResult) {
        let (command, word) = match test.status {
            TestStatus::Failed => ("error", ""),
            TestStatus::Flaky => ("warning", "flaky: "),
            TestStatus::Passed | TestStatus::Skipped => return,
        };
        let at = failed_at(test);
        let split = at.rsplit_once(':').filter(|(_, line)| line.parse::<u32>().is_ok());
        let (file, line) = split.unwrap_or((at, "1"));
        let (file, title) = (property(file), property(&format!("{word}{}", test.name)));
        let message = value(&message(test));
        self.sink.line(&format!("::{command} file={file},line={line},title={title}::{message}"));
    }

    fn file(&mut self, file: &str, counts: TestCounts, seconds: f64) {
        plain::write_file_line(&mut self.sink, file, counts, seconds);
    }

    fn end(&mut self, summary: &Summary) {
        plain::write_ending(&mut self.sink, summary);
    }
}
