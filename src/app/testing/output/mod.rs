//! What a test run says, in the forms of one table: views for people, formats for programs. Each is
//! told the same, test by test and file by file, in the order of the files.

mod dots;
mod github;
mod json;
mod junit;
mod names;
mod paper;
mod plain;
mod spec;
mod tap;

use super::result::{Counts, TestResult};
use crate::foundation::terminal::{escape_line as printable, is_watched};

pub use names::Names;
pub use paper::{Loss, Paper};

/// One form of output.
pub struct Output {
    /// As `--output` takes it.
    pub name: &'static str,
    pub words: &'static str,
    /// For programs: nothing else may stand between its lines.
    pub strict: bool,
    /// Whether it shows the names of tests that passed.
    pub names: bool,
    make: fn(Paper) -> Box<dyn View>,
}

/// Every form.
pub static OUTPUTS: [Output; 7] = [
    Output {
        name: "plain",
        words: "A line for each file, then what failed",
        strict: false,
        names: false,
        make: |paper| Box::new(plain::Plain::new(paper)),
    },
    Output {
        name: "spec",
        words: "Every test by its name, in its groups",
        strict: false,
        names: true,
        make: |paper| Box::new(spec::Spec::new(paper)),
    },
    Output {
        name: "dots",
        words: "A character for each test, then what failed",
        strict: false,
        names: false,
        make: |paper| Box::new(dots::Dots::new(paper)),
    },
    Output {
        name: "tap",
        words: "The Test Anything Protocol, version 13",
        strict: true,
        names: true,
        make: |paper| Box::new(tap::Tap::new(paper)),
    },
    Output {
        name: "junit",
        words: "JUnit's XML",
        strict: true,
        names: true,
        make: |paper| Box::new(junit::Junit::new(paper)),
    },
    Output {
        name: "json",
        words: "JSON, an object in each line",
        strict: true,
        names: true,
        make: |paper| Box::new(json::Json { paper }),
    },
    Output {
        name: "github",
        words: "As plain, and annotations for GitHub's pages",
        strict: false,
        names: false,
        make: |paper| Box::new(github::GitHub::new(paper)),
    },
];

impl Output {
    /// The form of that name.
    pub fn named(name: &str) -> Option<&'static Output> {
        OUTPUTS.iter().find(|output| output.name == name)
    }

    /// What is used where nobody chose: dots for someone who watches, plain for a file or pipe.
    pub fn usual() -> &'static Output {
        let name = if is_watched() { "dots" } else { "plain" };
        Output::named(name).expect("the table has both")
    }

    pub fn view(&self, paper: Paper) -> Box<dyn View> {
        (self.make)(paper)
    }
}

/// What came of all files together.
#[derive(Debug, Default)]
pub struct Summary {
    pub files: usize,
    pub counts: Counts,
    /// Tests that failed, and those that are flaky.
    pub noted: Vec<TestResult>,
    /// The slowest tests, first the slowest.
    pub slowest: Vec<TestResult>,
    pub seconds: f64,
    /// Where the order was shuffled: by which seed.
    pub seed: Option<u64>,
    pub coverage: Option<String>,
}

/// A form at work.
pub trait View {
    /// Before anything else: how many files will run.
    fn begin(&mut self, _files: usize) {}
    fn test(&mut self, _file: &str, _test: &TestResult) {}
    /// A file is done, which had these tests.
    fn file(&mut self, _file: &str, _counts: Counts, _seconds: f64) {}
    fn end(&mut self, summary: &Summary);
}

/// What went wrong with a test in one text: message and hint.
fn message(test: &TestResult) -> String {
    let Some(failure) = &test.failure else { return String::new() };
    let hint = failure.hint.iter().map(|hint| format!("\n{hint}"));
    failure.message.clone() + &hint.collect::<String>()
}

/// Where a test failed, or else where it is written.
fn failed_at(test: &TestResult) -> &str {
    let at = test.failure.as_ref().and_then(|failure| failure.at.as_deref());
    at.unwrap_or(&test.at)
}

#[cfg(test)]
mod tests {
    use super::super::result::{Failure, Status};
    use super::*;
    use crate::foundation::terminal::steers;
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

    /// A run of two files with names that no format likes.
    pub fn hostile(name: &str, colour: bool, live: bool) -> String {
        let buffer = Buffer::default();
        let paper = Paper::new(Box::new(buffer.clone()), colour, live);
        let mut view = Output::named(name).unwrap().view(paper);
        let failure = Failure {
            name: "a \"b\" <c> & ]]> # \\ d\n\u{1}\u{1b}[31m\u{9b}1m\u{202e}".into(),
            at: Some("spec/x y%.lua:7".into()),
            message: "ex\"pected\nnot ok 1\n...\n]]>\0 \u{fffe}é".into(),
            locals: vec!["a = 1".into()],
            trace: "spec/x.lua:7: in main chunk".into(),
            hint: Some("try: that".into()),
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
        };
        view.begin(2);
        view.test("spec/x y%.lua", &failed);
        view.file("spec/x y%.lua", Counts { failed: 1, ..Counts::default() }, 0.3);
        let passed = plain("adds", Status::Passed);
        view.test("b.lua", &passed);
        view.test("b.lua", &plain("waits", Status::Skipped));
        let mut flaky = plain("jumps", Status::Flaky);
        flaky.failure = failed.failure.clone();
        view.test("b.lua", &flaky);
        let counts = Counts { passed: 1, failed: 0, skipped: 1, flaky: 1 };
        view.file("b.lua", counts, 0.4);
        view.end(&Summary {
            files: 2,
            counts: Counts { passed: 1, failed: 1, skipped: 1, flaky: 1 },
            noted: vec![failed.clone(), flaky],
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
    fn control_characters_are_shown_and_letters_stay() {
        assert_eq!(printable("a\x1b[31m\té\0"), "a\\u{1b}[31m\té\\u{0}");
    }

    #[test]
    fn no_form_lets_a_test_steer_the_terminal() {
        for output in &OUTPUTS {
            let text = hostile(output.name, false, false);
            let bad = text.chars().find(|c| steers(*c) || *c == '\0');
            assert_eq!(bad, None, "{}: {text}", output.name);
            assert!(hostile(output.name, true, true).len() >= text.len());
        }
    }

    #[test]
    fn dots_show_a_character_for_each_test_and_progress_where_someone_watches() {
        let text = hostile("dots", false, false);
        assert!(text.starts_with("F.s~\n\nFLAKY a \"b\""), "{text}");
        let live = hostile("dots", false, true);
        assert!(live.contains("0 of 2 files, 1 failed"), "{live}");
    }

    #[test]
    fn spec_shows_groups_once_and_tests_under_them() {
        let text = hostile("spec", false, false);
        let wanted =
            "b.lua\n  group\n    ok      adds (0.125 s)\n    skipped waits\n    flaky   jumps";
        assert!(text.contains(wanted), "{text}");
    }

    #[test]
    fn tap_has_a_line_for_each_test_and_the_plan() {
        let text = hostile("tap", false, false);
        assert!(
            text.starts_with("TAP version 13\nnot ok 1 - spec/x y%.lua: a \"b\" <c>"),
            "{text}"
        );
        assert!(text.contains("\nok 2 - b.lua: group adds\nok 3 - b.lua: group waits # SKIP\n"));
        assert!(text.contains("& ]]> \\# \\\\ d\\n"), "{text}");
        assert!(text.ends_with("\n1..4\n"), "{text}");
        // What is in a block is indented, so that it is never taken for a line of the protocol.
        let lines = text.lines().filter(|line| !line.starts_with("  "));
        assert_eq!(lines.count(), 6, "{text}");
    }

    #[test]
    fn github_has_an_annotation_for_each_failure() {
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
    fn junit_escapes_and_counts() {
        let text = hostile("junit", false, false);
        assert!(
            text.contains("<testsuites tests=\"4\" failures=\"1\" skipped=\"1\" time=\"0.750\">")
        );
        assert!(text.contains("name=\"a &quot;b&quot; &lt;c&gt; &amp; ]]&gt; # \\ d\\n\\u{1}"));
        assert!(text.contains("ex&quot;pected\\nnot ok 1"), "{text}");
        assert!(!text.contains('\u{fffe}') && !text.contains("]]>"), "{text}");
        let (opened, closed) =
            (text.matches("<testcase").count(), text.matches("</testcase>").count());
        assert_eq!((opened, closed), (4, 4));
    }

    #[test]
    fn every_line_of_json_is_an_object() {
        let text = hostile("json", false, false);
        for line in text.lines() {
            let tree = crate::foundation::sjson::parse_bytes(line.as_bytes()).unwrap().to_tree();
            assert!(matches!(tree, crate::foundation::sjson::Tree::Object(_)), "{line}");
        }
        assert_eq!(text.lines().count(), 8);
        assert!(text.contains(
            "\"name\":\"a \\\"b\\\" <c> & ]]> # \\\\ d\\n\\u0001\\u001b[31m\\u009b1m\\u202e\""
        ));
    }
}
