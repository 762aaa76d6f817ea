//! The dots output: one character for each test as it ends and, on a terminal, the progress of the
//! run.

use super::output_sink::{GREEN, GREY, RED, YELLOW};
use super::{OutputSink, OutputWriter, Summary, plain};
use crate::testing::result::{TestCounts, TestResult, TestStatus};
use std::time::{Duration, Instant};

/// Number of characters in a line.
const WIDTH: usize = 60;

pub struct Dots {
    sink: OutputSink,
    column: usize,
    files: usize,
    done: usize,
    failed: usize,
    /// Time of the last progress update.
    shown: Option<Instant>,
}

/// Minimum time between two progress updates.
const PERIOD: Duration = Duration::from_millis(50);

impl Dots {
    pub fn new(sink: OutputSink) -> Dots {
        Dots { sink, column: 0, files: 0, done: 0, failed: 0, shown: None }
    }

    /// Shows the progress after the dots. The cursor stays at the position of the next dot.
    fn progress(&mut self) {
        if !self.sink.live || self.shown.is_some_and(|shown| shown.elapsed() < PERIOD) {
            return;
        }
        self.shown = Some(Instant::now());
        let failed = match self.failed {
            0 => String::new(),
            count => format!(", {count} failed"),
        };
        let text = format!("  {} of {} files{failed}", self.done, self.files);
        let text = self.sink.paint(GREY, &text);
        self.sink.text(&format!("\x1b7{text}\x1b8"));
        self.sink.flush();
    }

    /// Ends the line and erases the progress.
    fn end_line(&mut self) {
        self.sink.text(if self.sink.live { "\x1b[K\n" } else { "\n" });
        self.column = 0;
    }
}

impl OutputWriter for Dots {
    fn begin(&mut self, files: usize) {
        (self.files, self.done, self.failed) = (files, 0, 0);
    }

    fn test(&mut self, _: &str, test: &TestResult) {
        let (colour, dot) = match test.status {
            TestStatus::Passed => (GREEN, "."),
            TestStatus::Failed => (RED, "F"),
            TestStatus::Skipped => (YELLOW, "s"),
            TestStatus::Flaky => (YELLOW, "~"),
        };
        if self.column == WIDTH {
            self.end_line();
        }
        self.column += 1;
        self.failed += (test.status == TestStatus::Failed) as usize;
        let dot = self.sink.paint(colour, dot);
        let clear = if self.sink.live { "\x1b[K" } else { "" };
        self.sink.text(&format!("{clear}{dot}"));
        self.progress();
    }

    fn file(&mut self, _: &str, _: TestCounts, _: f64) {
        self.done += 1;
        self.progress();
    }

    fn end(&mut self, summary: &Summary) {
        self.end_line();
        plain::write_ending(&mut self.sink, summary);
    }
}
