//! The names of tests that passed, a line each: what busted's `log-success` writes, and
//! `exclude-names-file` reads.

use super::{Paper, Summary, View, printable};
use crate::app::testing::result::{Counts, Status, TestResult};

pub struct Names {
    pub paper: Paper,
}

impl View for Names {
    fn test(&mut self, _: &str, test: &TestResult) {
        if matches!(test.status, Status::Passed | Status::Flaky) {
            self.paper.line(&printable(&test.name));
        }
    }

    fn file(&mut self, _: &str, _: Counts, _: f64) {
        self.paper.flush();
    }

    fn end(&mut self, _: &Summary) {
        self.paper.flush();
    }
}
