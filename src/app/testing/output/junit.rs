//! JUnit XML for build servers: one suite for each file, one case for each test. The elements and
//! attributes are those of Jenkins' schema (junit-10.xsd of its xUnit plugin). It has no place for
//! the file and line of a test that passed.

use super::{OutputSink, OutputWriter, Summary, failed_at, message};
use crate::testing::result::{TestCounts, TestResult, TestStatus};
use engine_foundation::xml::{escape_for_display, escape_lines_for_display};

pub struct Junit {
    sink: OutputSink,
    /// XML of the current file's cases.
    cases: String,
    /// Number of raised errors in the current file, and in all files.
    errors: usize,
    all_errors: usize,
    /// XML of the finished files. It is kept because the totals precede it.
    suites: String,
}

impl Junit {
    pub fn new(sink: OutputSink) -> Junit {
        let (cases, suites) = (String::new(), String::new());
        Junit { sink, cases, errors: 0, all_errors: 0, suites }
    }
}

/// Escapes a text of several lines.
fn lines(text: &str) -> String {
    text.lines().map(|line| escape_for_display(line) + "\n").collect()
}

impl OutputWriter for Junit {
    fn test(&mut self, file: &str, test: &TestResult) {
        let class = file.trim_end_matches(".lua").replace('/', ".");
        self.cases += &format!(
            "    <testcase name=\"{}\" classname=\"{}\" time=\"{:.6}\">",
            escape_for_display(&test.name),
            escape_for_display(&class),
            test.seconds
        );
        let message = message(test);
        let all = || {
            let failure = test.failure.as_ref();
            let trace = failure.map_or("", |failure| &failure.trace);
            let locals = failure.map_or(&[][..], |failure| &failure.locals);
            let locals: String = locals.iter().map(|local| format!("local {local}\n")).collect();
            lines(&format!("{}\n{message}\n{locals}{trace}", failed_at(test)))
        };
        self.cases += &match test.status {
            TestStatus::Passed => String::new(),
            TestStatus::Skipped => match &test.reason {
                Some(reason) => {
                    format!("\n      <skipped message=\"{}\"/>\n    ", escape_for_display(reason))
                }
                None => "\n      <skipped/>\n    ".to_string(),
            },
            TestStatus::Failed => {
                let is_error = test.failure.as_ref().is_some_and(|failure| failure.is_error);
                self.errors += usize::from(is_error);
                let tag = if is_error { "error" } else { "failure" };
                format!(
                    "\n      <{tag} message=\"{}\">{}</{tag}>\n    ",
                    escape_lines_for_display(&message),
                    all()
                )
            }
            // The element by which build servers recognize a retried test.
            TestStatus::Flaky => format!(
                "\n      <flakyFailure message=\"{}\" type=\"flaky\">{}</flakyFailure>\n    ",
                escape_lines_for_display(&message),
                all()
            ),
        };
        self.cases += "</testcase>\n";
    }

    fn file(&mut self, file: &str, counts: TestCounts, seconds: f64) {
        let TestCounts { failed, skipped, .. } = counts;
        let errors = std::mem::take(&mut self.errors).min(failed);
        self.all_errors += errors;
        let failures = failed - errors;
        self.suites += &format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" \
             errors=\"{errors}\" skipped=\"{skipped}\" time=\"{seconds:.3}\">\n{}  </testsuite>\n",
            escape_for_display(file),
            counts.sum(),
            std::mem::take(&mut self.cases)
        );
    }

    fn end(&mut self, summary: &Summary) {
        self.sink.text(&format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" \
             failures=\"{}\" errors=\"{}\" time=\"{:.3}\">\n{}</testsuites>\n",
            summary.counts.sum(),
            summary.counts.failed.saturating_sub(self.all_errors),
            self.all_errors,
            summary.seconds,
            self.suites
        ));
        self.sink.flush();
    }
}
