//! JSON lines: an object for the beginning, each test, each file and the end, by its `event`.

use super::{Paper, Summary, View};
use crate::app::testing::result::{Counts, TestResult};
use crate::script::emit::json::quote;

pub struct Json {
    pub paper: Paper,
}

/// An object under construction.
struct Line(String);

impl Line {
    fn new(event: &str) -> Line {
        Line(String::from("{")).text("event", event)
    }

    fn key(&mut self, key: &str) {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        quote(&mut self.0, key);
        self.0.push(':');
    }

    fn text(mut self, key: &str, value: &str) -> Line {
        self.key(key);
        quote(&mut self.0, value);
        self
    }

    fn number(mut self, key: &str, value: f64) -> Line {
        self.key(key);
        self.0 += &value.to_string();
        self
    }

    fn list(mut self, key: &str, values: &[String]) -> Line {
        self.key(key);
        self.0.push('[');
        for (i, value) in values.iter().enumerate() {
            if i > 0 {
                self.0.push(',');
            }
            quote(&mut self.0, value);
        }
        self.0.push(']');
        self
    }

    fn counts(self, counts: Counts) -> Line {
        let Counts { passed, failed, skipped, flaky } = counts;
        let line = self.number("passed", passed as f64).number("failed", failed as f64);
        line.number("skipped", skipped as f64).number("flaky", flaky as f64)
    }

    fn end(self) -> String {
        self.0 + "}"
    }
}

/// Of a time, no more than the microseconds that it is good for.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

impl View for Json {
    fn begin(&mut self, files: usize) {
        let version = env!("CARGO_PKG_VERSION");
        let line = Line::new("begin").text("engine", version).number("files", files as f64);
        self.paper.line(&line.end());
    }

    fn test(&mut self, file: &str, test: &TestResult) {
        let (path, line) = test.place();
        let mut object = Line::new("test")
            .text("status", test.status.word())
            .text("file", file)
            .text("path", path)
            .number("line", line.into())
            .text("name", &test.name)
            .list("groups", &test.groups)
            .number("seconds", rounded(test.seconds));
        if let Some(failure) = &test.failure {
            object = object
                .text("at", failure.at.as_deref().unwrap_or_default())
                .text("message", &failure.message)
                .list("locals", &failure.locals)
                .text("trace", &failure.trace)
                .text("hint", failure.hint.as_deref().unwrap_or_default());
        }
        self.paper.line(&object.end());
    }

    fn file(&mut self, file: &str, counts: Counts, seconds: f64) {
        let line = Line::new("file").text("file", file).counts(counts);
        self.paper.line(&line.number("seconds", rounded(seconds)).end());
        self.paper.flush();
    }

    fn end(&mut self, summary: &Summary) {
        let line = Line::new("end").number("files", summary.files as f64).counts(summary.counts);
        let mut line = line.number("seconds", rounded(summary.seconds));
        if let Some(seed) = summary.seed {
            line = line.number("seed", seed as f64);
        }
        self.paper.line(&line.end());
        self.paper.flush();
    }
}
