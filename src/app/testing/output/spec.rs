//! The view of a specification: every test by its name, under the names of its groups.

use super::paper::{GREEN, GREY, RED, YELLOW};
use super::{Paper, Summary, View, plain, printable};
use crate::app::testing::result::{Counts, Status, TestResult};

pub struct Spec {
    paper: Paper,
    file: String,
    /// The groups of the last test, whose names stand there already.
    groups: Vec<String>,
}

impl Spec {
    pub fn new(paper: Paper) -> Spec {
        Spec { paper, file: String::new(), groups: Vec::new() }
    }
}

impl View for Spec {
    fn test(&mut self, file: &str, test: &TestResult) {
        if self.file != file {
            self.file = file.to_string();
            self.groups.clear();
            self.paper.line(&printable(file));
        }
        let known = self.groups.iter().zip(&test.groups).take_while(|(a, b)| a == b).count();
        for (depth, group) in test.groups.iter().enumerate().skip(known) {
            self.paper.line(&format!("{}{}", "  ".repeat(depth + 1), printable(group)));
        }
        self.groups.clone_from(&test.groups);
        let (colour, word) = match test.status {
            Status::Passed => (GREEN, "ok     "),
            Status::Failed => (RED, "FAILED "),
            Status::Skipped => (YELLOW, "skipped"),
            Status::Flaky => (YELLOW, "flaky  "),
        };
        let seconds = match test.status {
            Status::Skipped => String::new(),
            _ => self.paper.paint(GREY, &format!(" ({:.3} s)", test.seconds)),
        };
        let (word, indent) = (self.paper.paint(colour, word), "  ".repeat(test.groups.len() + 1));
        self.paper.line(&format!("{indent}{word} {}{seconds}", printable(test.own_name())));
    }

    fn file(&mut self, _: &str, _: Counts, _: f64) {
        self.paper.flush();
    }

    fn end(&mut self, summary: &Summary) {
        plain::ending(&mut self.paper, summary);
    }
}
