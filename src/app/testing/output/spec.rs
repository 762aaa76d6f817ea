//! Output as a specification: every test by its name, under the names of its groups.

use super::output_sink::{GREEN, GREY, RED, YELLOW};
use super::{OutputSink, OutputWriter, Summary, plain, printable};
use crate::testing::result::{TestCounts, TestResult, TestStatus};

pub struct Spec {
    sink: OutputSink,
    file: String,
    /// The groups of the last test. Their names are already written.
    groups: Vec<String>,
}

impl Spec {
    pub fn new(sink: OutputSink) -> Spec {
        Spec { sink, file: String::new(), groups: Vec::new() }
    }
}

impl OutputWriter for Spec {
    fn test(&mut self, file: &str, test: &TestResult) {
        if self.file != file {
            self.file = file.to_string();
            self.groups.clear();
            self.sink.line(&printable(file));
        }
        let known = self.groups.iter().zip(&test.groups).take_while(|(a, b)| a == b).count();
        for (depth, group) in test.groups.iter().enumerate().skip(known) {
            self.sink.line(&format!("{}{}", "  ".repeat(depth + 1), printable(group)));
        }
        self.groups.clone_from(&test.groups);
        let (colour, word) = match test.status {
            TestStatus::Passed => (GREEN, "ok     "),
            TestStatus::Failed => (RED, "FAILED "),
            TestStatus::Skipped => (YELLOW, "skipped"),
            TestStatus::Flaky => (YELLOW, "flaky  "),
        };
        let seconds = match test.status {
            TestStatus::Skipped => String::new(),
            _ => self.sink.paint(GREY, &format!(" ({:.3} s)", test.seconds)),
        };
        let (word, indent) = (self.sink.paint(colour, word), "  ".repeat(test.groups.len() + 1));
        let reason = test.reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
        let name = printable(&format!("{}{reason}", test.name_without_groups()));
        self.sink.line(&format!("{indent}{word} {name}{seconds}"));
    }

    fn file(&mut self, _: &str, _: TestCounts, _: f64) {
        self.sink.flush();
    }

    fn end(&mut self, summary: &Summary) {
        plain::write_ending(&mut self.sink, summary);
    }
}
