//! The Test Anything Protocol, version 13: testanything.org. What went wrong stands in a block of
//! YAML behind the test's line.

use super::{Paper, Summary, View, failed_at, message, printable};
use crate::app::testing::result::{Counts, Status, TestResult};
use crate::script::emit::json::quote;

pub struct Tap {
    paper: Paper,
    count: usize,
}

impl Tap {
    pub fn new(paper: Paper) -> Tap {
        Tap { paper, count: 0 }
    }

    /// The block behind a line. A string of JSON is one of YAML, too.
    fn block(&mut self, test: &TestResult) {
        let Some(failure) = &test.failure else { return };
        let quoted = |text: &str| {
            let mut quoted = String::new();
            quote(&mut quoted, text);
            quoted
        };
        let severity = if test.status == Status::Flaky { "comment" } else { "fail" };
        self.paper.line("  ---");
        self.paper.line(&format!("  message: {}", quoted(&message(test))));
        self.paper.line(&format!("  severity: {severity}"));
        self.paper.line(&format!("  at: {}", quoted(failed_at(test))));
        let locals: Vec<String> = failure.locals.iter().map(|local| quoted(local)).collect();
        self.paper.line(&format!("  locals: [{}]", locals.join(", ")));
        self.paper.line(&format!("  trace: {}", quoted(&failure.trace)));
        self.paper.line("  ...");
    }
}

/// A description: no line's end, no directive.
fn description(text: &str) -> String {
    printable(&text.replace('\\', "\\\\").replace('#', "\\#").replace('\t', " "))
}

impl View for Tap {
    fn begin(&mut self, _: usize) {
        self.paper.line("TAP version 13");
    }

    fn test(&mut self, file: &str, test: &TestResult) {
        self.count += 1;
        let ok = if test.status == Status::Failed { "not ok" } else { "ok" };
        let skip = if test.status == Status::Skipped { " # SKIP" } else { "" };
        let (count, file, name) = (self.count, description(file), description(&test.name));
        self.paper.line(&format!("{ok} {count} - {file}: {name}{skip}"));
        self.block(test);
    }

    fn file(&mut self, _: &str, _: Counts, _: f64) {
        self.paper.flush();
    }

    fn end(&mut self, _: &Summary) {
        let count = self.count;
        self.paper.line(&format!("1..{count}"));
        self.paper.flush();
    }
}
