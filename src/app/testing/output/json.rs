//! JSON lines: one object for the beginning, each test, each file and the end, identified by
//! `event`.

use super::{OutputSink, OutputWriter, Summary};
use crate::testing::result::{TestCounts, TestResult};
use engine_script::docgen::json::quote;

pub struct JsonOutput {
    pub sink: OutputSink,
}

/// An object under construction.
struct JsonObject(String);

impl JsonObject {
    fn new(event: &str) -> JsonObject {
        JsonObject(String::from("{")).text("event", event)
    }

    fn key(&mut self, key: &str) {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        quote(&mut self.0, key);
        self.0.push(':');
    }

    fn text(mut self, key: &str, value: &str) -> JsonObject {
        self.key(key);
        quote(&mut self.0, value);
        self
    }

    fn number(mut self, key: &str, value: f64) -> JsonObject {
        self.key(key);
        self.0 += &value.to_string();
        self
    }

    fn list(mut self, key: &str, values: &[String]) -> JsonObject {
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

    fn counts(self, counts: TestCounts) -> JsonObject {
        let TestCounts { passed, failed, skipped, flaky } = counts;
        let line = self.number("passed", passed as f64).number("failed", failed as f64);
        line.number("skipped", skipped as f64).number("flaky", flaky as f64)
    }

    fn end(self) -> String {
        self.0 + "}"
    }
}

/// Rounds a time to microseconds, which is its precision.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

impl OutputWriter for JsonOutput {
    fn begin(&mut self, files: usize) {
        let version = env!("CARGO_PKG_VERSION");
        let line = JsonObject::new("begin").text("engine", version).number("files", files as f64);
        self.sink.line(&line.end());
    }

    fn test(&mut self, file: &str, test: &TestResult) {
        let (path, line) = test.location();
        let mut object = JsonObject::new("test")
            .text("status", test.status.name())
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
        self.sink.line(&object.end());
    }

    fn file(&mut self, file: &str, counts: TestCounts, seconds: f64) {
        let line = JsonObject::new("file").text("file", file).counts(counts);
        self.sink.line(&line.number("seconds", rounded(seconds)).end());
        self.sink.flush();
    }

    fn end(&mut self, summary: &Summary) {
        let line =
            JsonObject::new("end").number("files", summary.files as f64).counts(summary.counts);
        let mut line = line.number("seconds", rounded(summary.seconds));
        if let Some(seed) = summary.seed {
            line = line.number("seed", seed as f64);
        }
        self.sink.line(&line.end());
        self.sink.flush();
    }
}
