//! JSON lines: one object for the beginning, each test, each file and the end, identified by
//! `event`.

use super::{OutputSink, OutputWriter, Summary};
use crate::testing::result::{TestCounts, TestResult};
use engine_foundation::json::{self, count, text, texts};
use engine_foundation::sjson::SjsonTree;

pub struct JsonOutput {
    pub sink: OutputSink,
}

type JsonFields = Vec<(String, SjsonTree)>;

/// Returns the fields of an event.
fn event<const N: usize>(event: &str, fields: [(&str, SjsonTree); N]) -> JsonFields {
    let mut all = vec![("event".to_string(), text(event))];
    add(&mut all, fields);
    all
}

fn add<const N: usize>(fields: &mut JsonFields, more: [(&str, SjsonTree); N]) {
    fields.extend(more.map(|(key, value)| (key.to_string(), value)));
}

fn add_counts(fields: &mut JsonFields, counts: TestCounts) {
    let TestCounts { passed, failed, skipped, flaky } = counts;
    let counts = [("passed", passed), ("failed", failed), ("skipped", skipped), ("flaky", flaky)];
    add(fields, counts.map(|(key, value)| (key, count(value))));
}

impl JsonOutput {
    fn line(&mut self, fields: JsonFields) {
        self.sink.line(&json::write(&SjsonTree::Object(fields)));
    }
}

/// Rounds a time to microseconds, which is its precision.
fn rounded(seconds: f64) -> SjsonTree {
    SjsonTree::Number((seconds * 1e6).round() / 1e6)
}

impl OutputWriter for JsonOutput {
    fn begin(&mut self, files: usize) {
        let version = text(env!("CARGO_PKG_VERSION"));
        self.line(event("begin", [("engine", version), ("files", count(files))]));
    }

    fn test(&mut self, file: &str, test: &TestResult) {
        let (path, line) = test.location();
        let mut fields = event(
            "test",
            [
                ("status", text(test.status.name())),
                ("file", text(file)),
                ("path", text(path)),
                ("line", SjsonTree::Number(line.into())),
                ("name", text(&test.name)),
                ("groups", texts(&test.groups)),
                ("seconds", rounded(test.seconds)),
            ],
        );
        if let Some(reason) = &test.reason {
            add(&mut fields, [("reason", text(reason))]);
        }
        if let Some(failure) = &test.failure {
            let more = [
                ("at", text(failure.at.as_deref().unwrap_or_default())),
                ("message", text(&failure.message)),
                ("locals", texts(&failure.locals)),
                ("trace", text(&failure.trace)),
                ("hint", text(failure.hint.as_deref().unwrap_or_default())),
            ];
            add(&mut fields, more);
        }
        self.line(fields);
    }

    fn file(&mut self, file: &str, counts: TestCounts, seconds: f64) {
        let mut fields = event("file", [("file", text(file))]);
        add_counts(&mut fields, counts);
        add(&mut fields, [("seconds", rounded(seconds))]);
        self.line(fields);
        self.sink.flush();
    }

    fn end(&mut self, summary: &Summary) {
        let mut fields = event("end", [("files", count(summary.files))]);
        add_counts(&mut fields, summary.counts);
        add(&mut fields, [("seconds", rounded(summary.seconds))]);
        if let Some(seed) = summary.seed {
            add(&mut fields, [("seed", SjsonTree::Number(seed as f64))]);
        }
        self.line(fields);
        self.sink.flush();
    }
}
