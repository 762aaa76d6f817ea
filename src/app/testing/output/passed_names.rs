//! Names of passing tests, one per line: the format that busted's `log-success` writes and
//! `exclude-names-file` reads.

use super::{OutputSink, OutputWriter, Summary, printable};
use crate::testing::result::{TestCounts, TestResult, TestStatus};

pub struct PassedNames {
    pub sink: OutputSink,
}

impl OutputWriter for PassedNames {
    fn test(&mut self, _: &str, test: &TestResult) {
        if matches!(test.status, TestStatus::Passed | TestStatus::Flaky) {
            self.sink.line(&printable(&test.name));
        }
    }

    fn file(&mut self, _: &str, _: TestCounts, _: f64) {
        self.sink.flush();
    }

    fn end(&mut self, _: &Summary) {
        self.sink.flush();
    }
}
