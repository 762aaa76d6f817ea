//! JUnit XML for build servers: one suite for each file, one case for each test.

use super::{OutputSink, OutputWriter, Summary, failed_at, message, printable};
use crate::testing::result::{TestCounts, TestResult, TestStatus};

pub struct Junit {
    sink: OutputSink,
    /// XML of the current file's cases.
    cases: String,
    /// XML of the finished files. It is kept because the totals precede it.
    suites: String,
}

impl Junit {
    pub fn new(sink: OutputSink) -> Junit {
        Junit { sink, cases: String::new(), suites: String::new() }
    }
}

/// Escapes a text for XML 1.0, which cannot represent most control characters: they are shown as
/// escape sequences.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in printable(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// Escapes a text of several lines.
fn lines(text: &str) -> String {
    text.lines().map(|line| escaped(line) + "\n").collect()
}

impl OutputWriter for Junit {
    fn test(&mut self, file: &str, test: &TestResult) {
        let class = file.trim_end_matches(".lua").replace('/', ".");
        let (path, line) = test.location();
        self.cases += &format!(
            "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{line}\" \
             time=\"{:.6}\">",
            escaped(&test.name),
            escaped(&class),
            escaped(path),
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
            TestStatus::Skipped => "\n      <skipped/>\n    ".to_string(),
            TestStatus::Failed => format!(
                "\n      <failure message=\"{}\">{}</failure>\n    ",
                escaped(&message),
                all()
            ),
            // The element by which build servers recognize a retried test.
            TestStatus::Flaky => format!(
                "\n      <flakyFailure message=\"{}\" type=\"flaky\">{}</flakyFailure>\n    ",
                escaped(&message),
                all()
            ),
        };
        self.cases += "</testcase>\n";
    }

    fn file(&mut self, file: &str, counts: TestCounts, seconds: f64) {
        let TestCounts { failed, skipped, .. } = counts;
        self.suites += &format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" \
             skipped=\"{skipped}\" time=\"{seconds:.3}\">\n{}  </testsuite>\n",
            escaped(file),
            counts.sum(),
            std::mem::take(&mut self.cases)
        );
    }

    fn end(&mut self, summary: &Summary) {
        let TestCounts { failed, skipped, .. } = summary.counts;
        self.sink.text(&format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" \
             failures=\"{failed}\" skipped=\"{skipped}\" time=\"{:.3}\">\n{}</testsuites>\n",
            summary.counts.sum(),
            summary.seconds,
            self.suites
        ));
        self.sink.flush();
    }
}
