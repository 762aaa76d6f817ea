//! Output formats of a test run, in one table: views for people, formats for programs. Each
//! receives the same results, by test and by file, in the order of the files.

mod dots;
mod github;
mod json;
mod junit;
mod output_sink;
mod passed_names;
mod plain;
mod spec;
mod tap;

use super::result::{TestCounts, TestResult};
use engine_foundation::terminal::{escape_line as printable, is_terminal};

pub use output_sink::{OutputFailure, OutputSink};
pub use passed_names::PassedNames;

/// A row of the table: one output format.
pub struct OutputFormat {
    /// Value of `--output`.
    pub name: &'static str,
    pub doc: &'static str,
    /// True for formats read by programs: no other output may appear between its lines.
    pub strict: bool,
    /// True if the format shows the names of passing tests.
    pub names: bool,
    create: fn(OutputSink) -> Box<dyn OutputWriter>,
}

/// All formats.
pub static OUTPUTS: [OutputFormat; 7] = [
    OutputFormat {
        name: "plain",
        doc: "One line per file, then the failures",
        strict: false,
        names: false,
        create: |sink| Box::new(plain::PlainOutput::new(sink)),
    },
    OutputFormat {
        name: "spec",
        doc: "Every test by name, in its groups",
        strict: false,
        names: true,
        create: |sink| Box::new(spec::Spec::new(sink)),
    },
    OutputFormat {
        name: "dots",
        doc: "One character per test, then the failures",
        strict: false,
        names: false,
        create: |sink| Box::new(dots::Dots::new(sink)),
    },
    OutputFormat {
        name: "tap",
        doc: "The Test Anything Protocol, version 13",
        strict: true,
        names: true,
        create: |sink| Box::new(tap::Tap::new(sink)),
    },
    OutputFormat {
        name: "junit",
        doc: "JUnit's XML",
        strict: true,
        names: true,
        create: |sink| Box::new(junit::Junit::new(sink)),
    },
    OutputFormat {
        name: "json",
        doc: "JSON, one object per line",
        strict: true,
        names: true,
        create: |sink| Box::new(json::JsonOutput { sink }),
    },
    OutputFormat {
        name: "github",
        doc: "Like plain, with annotations for GitHub",
        strict: false,
        names: false,
        create: |sink| Box::new(github::GitHub::new(sink)),
    },
];

impl OutputFormat {
    /// Returns the format of a name.
    pub fn by_name(name: &str) -> Option<&'static OutputFormat> {
        OUTPUTS.iter().find(|output| output.name == name)
    }

    /// Returns the default format: dots on a terminal, plain for a file or pipe.
    pub fn default_format() -> &'static OutputFormat {
        let name = if is_terminal() { "dots" } else { "plain" };
        OutputFormat::by_name(name).expect("the table has both")
    }

    pub fn create_writer(&self, sink: OutputSink) -> Box<dyn OutputWriter> {
        (self.create)(sink)
    }
}

/// Total results of all files.
#[derive(Debug, Default)]
pub struct Summary {
    pub files: usize,
    pub counts: TestCounts,
    /// Failed and flaky tests.
    pub failures: Vec<TestResult>,
    /// Skipped tests with a reason.
    pub skipped: Vec<TestResult>,
    /// The slowest tests, slowest first.
    pub slowest: Vec<TestResult>,
    pub seconds: f64,
    /// Seed of the shuffled order, if it was shuffled.
    pub seed: Option<u64>,
    pub coverage: Option<String>,
}

/// Writer of one output format.
pub trait OutputWriter {
    /// Begins the output, before the files run. The argument is their number.
    fn begin(&mut self, _files: usize) {}
    fn test(&mut self, _file: &str, _test: &TestResult) {}
    /// Reports a finished file with the counts of its tests.
    fn file(&mut self, _file: &str, _counts: TestCounts, _seconds: f64) {}
    fn end(&mut self, summary: &Summary);
}

/// Returns the message and the hint of a failed test as one text.
fn message(test: &TestResult) -> String {
    let Some(failure) = &test.failure else { return String::new() };
    let hint = failure.hint.iter().map(|hint| format!("\n{hint}"));
    failure.message.clone() + &hint.collect::<String>()
}

/// Returns the location of a test's failure, or the location of the test if that is unknown.
fn failed_at(test: &TestResult) -> &str {
    let at = test.failure.as_ref().and_then(|failure| failure.at.as_deref());
    at.unwrap_or(&test.at)
}

#[cfg(test)]
mod tests {
    use super::super::result::{TestFailure, TestStatus};
    use super::*;
    use engine_foundation::terminal::controls_terminal;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Returns the output for two files with names that need escaping in every format.
    pub fn hostile(name: &str, colour: bool, live: bool) -> String {
        let buffer = Buffer::default();
        let sink = OutputSink::new(Box::new(buffer.clone()), colour, live);
        let mut view = OutputFormat::by_name(name).unwrap().create_writer(sink);
        let failure = TestFailure {
            name: "a \"b\" <c> & ]]> # \\ d\n\u{1}\u{1b}[31m\u{9b}1m\u{202e}".into(),
            at: Some("spec/x y%.lua:7".into()),
            message: "ex\"pected\nnot ok 1\n...\n]]>\0 \u{fffe}é".into(),
            locals: vec!["a = 1".into()],
            trace: "spec/x.lua:7: in main chunk".into(),
            hint: Some("try: that".into()),
            is_error: false,
        };
        let mut failed = TestResult::failed(failure);
        failed.groups = vec!["a \"b\"".into()];
        failed.seconds = 0.25;
        let plain = |name: &str, status| TestResult {
            status,
            name: format!("group {name}"),
            groups: vec!["group".into()],
            at: "b.lua:1".into(),
            seconds: 0.125,
            failure: None,
            reason: None,
        };
        view.begin(2);
        view.test("spec/x y%.lua", &failed);
        view.file("spec/x y%.lua", TestCounts { failed: 1, ..TestCounts::default() }, 0.3);
        let passed = plain("adds", TestStatus::Passed);
        view.test("b.lua", &passed);
        let mut skipped = plain("waits", TestStatus::Skipped);
        skipped.reason = Some("no \"net\" <yet> # & \u{1b}[31m\nok 9".into());
        view.test("b.lua", &skipped);
        let mut flaky = plain("jumps", TestStatus::Flaky);
        flaky.failure = failed.failure.clone();
        view.test("b.lua", &flaky);
        let counts = TestCounts { passed: 1, failed: 0, skipped: 1, flaky: 1 };
        view.file("b.lua", counts, 0.4);
        view.end(&Summary {
            files: 2,
            counts: TestCounts { passed: 1, failed: 1, skipped: 1, flaky: 1 },
            failures: vec![failed.clone(), flaky],
            skipped: vec![skipped],
            slowest: vec![failed, passed],
            seconds: 0.75,
            seed: Some(4),
            coverage: Some("coverage: 1 %".into()),
        });
        drop(view);
        let bytes = buffer.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn control_characters_are_escaped_and_letters_are_unchanged() {
        assert_eq!(printable("a\x1b[31m\té\0"), "a\\u{1b}[31m\té\\u{0}");
    }

    #[test]
    fn no_format_passes_terminal_escapes_of_a_test() {
        for output in &OUTPUTS {
            let text = hostile(output.name, false, false);
            let bad = text.chars().find(|c| controls_terminal(*c) || *c == '\0');
            assert_eq!(bad, None, "{}: {text}", output.name);
            assert!(hostile(output.name, true, true).len() >= text.len());
        }
    }

    #[test]
    fn dots_print_one_character_per_test_and_progress_on_a_terminal() {
        let text = hostile("dots", false, false);
        assert!(text.starts_with("F.s~\n\nskipped  group waits: no \"net\""), "{text}");
        let live = hostile("dots", false, true);
        assert!(live.contains("0 of 2 files, 1 failed"), "{live}");
    }

    #[test]
    fn spec_prints_each_group_once_above_its_tests() {
        let text = hostile("spec", false, false);
        let reason = "no \"net\" <yet> # & \\u{1b}[31m\\nok 9";
        let wanted = format!(
            "b.lua\n  group\n    ok      adds (0.125 s)\n    skipped waits: {reason}\n    flaky   \
             jumps"
        );
        assert!(text.contains(&wanted), "{text}");
    }

    #[test]
    fn tap_prints_the_plan_and_one_line_per_test() {
        let text = hostile("tap", false, false);
        assert!(
            text.starts_with("TAP version 13\nnot ok 1 - spec/x y%.lua: a \"b\" <c>"),
            "{text}"
        );
        let reason = "no \"net\" <yet> \\# & \\u{1b}[31m\\nok 9";
        let wanted =
            format!("\nok 2 - b.lua: group adds\nok 3 - b.lua: group waits # SKIP {reason}\n");
        assert!(text.contains(&wanted), "{text}");
        assert!(text.contains("& ]]> \\# \\\\ d\\n"), "{text}");
        assert!(text.ends_with("\n1..4\n"), "{text}");
        // Lines of a block are indented, so that none can be taken for a line of the protocol.
        let lines = text.lines().filter(|line| !line.starts_with("  "));
        assert_eq!(lines.count(), 6, "{text}");
    }

    #[test]
    fn github_prints_one_annotation_per_failure() {
        let text = hostile("github", false, false);
        let wanted = "::error file=spec/x y%25.lua,line=7,title=a \"b\" <c> & ]]> # \\ d";
        assert!(text.contains(wanted), "{text}");
        assert!(text.contains("::ex\"pected%0Anot ok 1%0A...%0A]]>"), "{text}");
        assert!(
            text.contains("::warning file=spec/x y%25.lua,line=7,title=flaky%3A group"),
            "{text}"
        );
    }

    #[test]
    fn junit_escapes_text_and_counts_results() {
        let text = hostile("junit", false, false);
        assert!(
            text.contains("<testsuites tests=\"4\" failures=\"1\" errors=\"0\" time=\"0.750\">")
        );
        assert!(
            text.contains("<skipped message=\"no &quot;net&quot; &lt;yet&gt; # &amp; "),
            "{text}"
        );
        assert!(text.contains("name=\"a &quot;b&quot; &lt;c&gt; &amp; ]]&gt; # \\ d\\n\\u{1}"));
        assert!(text.contains("ex&quot;pected&#10;not ok 1&#10;...&#10;]]&gt;"), "{text}");
        assert!(!text.contains('\u{fffe}') && !text.contains("]]>"), "{text}");
        let (opened, closed) =
            (text.matches("<testcase").count(), text.matches("</testcase>").count());
        assert_eq!((opened, closed), (4, 4));
    }

    #[test]
    fn every_format_shows_why_a_test_was_skipped() {
        for output in &OUTPUTS {
            let text = hostile(output.name, false, false);
            assert!(text.contains("group waits") || text.contains("skipped waits"), "{text}");
            assert!(text.contains("yet"), "{}: {text}", output.name);
        }
        let plain = hostile("plain", false, false);
        assert!(plain.contains("\nskipped  group waits: no \"net\" <yet> # & "), "{plain}");
    }

    #[test]
    fn every_line_of_json_is_an_object() {
        let text = hostile("json", false, false);
        for line in text.lines() {
            let tree = engine_foundation::sjson::parse_bytes(line.as_bytes()).unwrap().to_tree();
            assert!(matches!(tree, engine_foundation::sjson::SjsonTree::Object(_)), "{line}");
        }
        assert_eq!(text.lines().count(), 8);
        assert!(text.contains(
            "\"name\":\"a \\\"b\\\" <c> & ]]> # \\\\ d\\n\\u0001\\u001b[31m\\u009b1m\\u202e\""
        ));
        assert!(text.contains("\"reason\":\"no \\\"net\\\" <yet> # & "), "{text}");
    }
}
