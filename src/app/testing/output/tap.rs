//! The Test Anything Protocol, version 13: testanything.org. Details of a failure follow the test's
//! line in a YAML block.

use super::{OutputSink, OutputWriter, Summary, failed_at, message, printable};
use crate::testing::result::{TestCounts, TestResult, TestStatus};
use engine_foundation::json::quoted;

pub struct Tap {
    sink: OutputSink,
    count: usize,
}

impl Tap {
    pub fn new(sink: OutputSink) -> Tap {
        Tap { sink, count: 0 }
    }

    /// Writes the YAML block after a line. A JSON string is also a valid YAML string.
    fn block(&mut self, test: &TestResult) {
        let Some(failure) = &test.failure else { return };
        let severity = if test.status == TestStatus::Flaky { "comment" } else { "fail" };
        self.sink.line("  ---");
        self.sink.line(&format!("  message: {}", quoted(&message(test))));
        self.sink.line(&format!("  severity: {severity}"));
        self.sink.line(&format!("  at: {}", quoted(failed_at(test))));
        let locals: Vec<String> = failure.locals.iter().map(|local| quoted(local)).collect();
        self.sink.line(&format!("  locals: [{}]", locals.join(", ")));
        self.sink.line(&format!("  trace: {}", quoted(&failure.trace)));
        self.sink.line("  ...");
    }
}

/// Escapes a description: it must contain no line end and no directive.
fn description(text: &str) -> String {
    printable(&text.replace('\\', "\\\\").replace('#', "\\#").replace('\t', " "))
}

impl OutputWriter for Tap {
    fn begin(&mut self, _: usize) {
        self.sink.line("TAP version 13");
    }

    fn test(&mut self, file: &str, test: &TestResult) {
        self.count += 1;
        let ok = if test.status == TestStatus::Failed { "not ok" } else { "ok" };
        let reason = test.reason.as_ref().map_or(String::new(), |why| format!(" {why}"));
        let skip = match test.status {
            TestStatus::Skipped => format!(" # SKIP{}", description(&reason)),
            _ => String::new(),
        };
        let (count, file, name) = (self.count, description(file), description(&test.name));
        self.sink.line(&format!("{ok} {count} - {file}: {name}{skip}"));
        self.block(test);
    }

    fn file(&mut self, _: &str, _: TestCounts, _: f64) {
        self.sink.flush();
    }

    fn end(&mut self, _: &Summary) {
        let count = self.count;
        self.sink.line(&format!("1..{count}"));
        self.sink.flush();
    }
}
