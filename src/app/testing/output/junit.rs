//! JUnit's XML, as build servers read it: a suite for each file, a case for each test.

use super::{Paper, Summary, View, failed_at, message, printable};
use crate::app::testing::result::{Counts, Status, TestResult};

pub struct Junit {
    paper: Paper,
    /// The cases of the running file.
    cases: String,
    /// The files that are done: the sums stand before them.
    suites: String,
}

impl Junit {
    pub fn new(paper: Paper) -> Junit {
        Junit { paper, cases: String::new(), suites: String::new() }
    }
}

/// Text for XML 1.0, which has no form for most control characters: they are shown as escapes.
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

/// The same, of several lines.
fn lines(text: &str) -> String {
    text.lines().map(|line| escaped(line) + "\n").collect()
}

impl View for Junit {
    fn test(&mut self, file: &str, test: &TestResult) {
        let class = file.trim_end_matches(".lua").replace('/', ".");
        let (path, line) = test.place();
        self.cases += &format!(
            "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{line}\" \
             time=\"{:.6}\">",
            escaped(&test.name),
            escaped(&class),
            escaped(path),
            test.seconds
        );
        let words = message(test);
        let all = || {
            let failure = test.failure.as_ref();
            let trace = failure.map_or("", |failure| &failure.trace);
            let locals = failure.map_or(&[][..], |failure| &failure.locals);
            let locals: String = locals.iter().map(|local| format!("local {local}\n")).collect();
            lines(&format!("{}\n{words}\n{locals}{trace}", failed_at(test)))
        };
        self.cases += &match test.status {
            Status::Passed => String::new(),
            Status::Skipped => "\n      <skipped/>\n    ".to_string(),
            Status::Failed => format!(
                "\n      <failure message=\"{}\">{}</failure>\n    ",
                escaped(&words),
                all()
            ),
            // What build servers know of a test that was run again.
            Status::Flaky => format!(
                "\n      <flakyFailure message=\"{}\" type=\"flaky\">{}</flakyFailure>\n    ",
                escaped(&words),
                all()
            ),
        };
        self.cases += "</testcase>\n";
    }

    fn file(&mut self, file: &str, counts: Counts, seconds: f64) {
        let Counts { failed, skipped, .. } = counts;
        self.suites += &format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" \
             skipped=\"{skipped}\" time=\"{seconds:.3}\">\n{}  </testsuite>\n",
            escaped(file),
            counts.sum(),
            std::mem::take(&mut self.cases)
        );
    }

    fn end(&mut self, summary: &Summary) {
        let Counts { failed, skipped, .. } = summary.counts;
        self.paper.text(&format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" \
             failures=\"{failed}\" skipped=\"{skipped}\" time=\"{:.3}\">\n{}</testsuites>\n",
            summary.counts.sum(),
            summary.seconds,
            self.suites
        ));
        self.paper.flush();
    }
}
