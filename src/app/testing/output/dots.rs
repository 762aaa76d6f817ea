//! The view of dots: a character for each test as it ends, and, where someone watches, how far the
//! run is.

use super::paper::{GREEN, GREY, RED, YELLOW};
use super::{Paper, Summary, View, plain};
use crate::app::testing::result::{Counts, Status, TestResult};
use std::time::{Duration, Instant};

/// Characters in a line.
const WIDTH: usize = 60;

pub struct Dots {
    paper: Paper,
    column: usize,
    files: usize,
    done: usize,
    failed: usize,
    /// When the progress was shown last.
    shown: Option<Instant>,
}

/// The progress is not shown more often than this.
const PERIOD: Duration = Duration::from_millis(50);

impl Dots {
    pub fn new(paper: Paper) -> Dots {
        Dots { paper, column: 0, files: 0, done: 0, failed: 0, shown: None }
    }

    /// Shows the progress behind the dots; the cursor stays where the next dot comes.
    fn progress(&mut self) {
        if !self.paper.live || self.shown.is_some_and(|shown| shown.elapsed() < PERIOD) {
            return;
        }
        self.shown = Some(Instant::now());
        let failed = match self.failed {
            0 => String::new(),
            count => format!(", {count} failed"),
        };
        let words = format!("  {} of {} files{failed}", self.done, self.files);
        let words = self.paper.paint(GREY, &words);
        self.paper.text(&format!("\x1b7{words}\x1b8"));
        self.paper.flush();
    }

    /// Ends the line, without the progress.
    fn end_line(&mut self) {
        self.paper.text(if self.paper.live { "\x1b[K\n" } else { "\n" });
        self.column = 0;
    }
}

impl View for Dots {
    fn begin(&mut self, files: usize) {
        (self.files, self.done, self.failed) = (files, 0, 0);
    }

    fn test(&mut self, _: &str, test: &TestResult) {
        let (colour, dot) = match test.status {
            Status::Passed => (GREEN, "."),
            Status::Failed => (RED, "F"),
            Status::Skipped => (YELLOW, "s"),
            Status::Flaky => (YELLOW, "~"),
        };
        if self.column == WIDTH {
            self.end_line();
        }
        self.column += 1;
        self.failed += (test.status == Status::Failed) as usize;
        let dot = self.paper.paint(colour, dot);
        let clear = if self.paper.live { "\x1b[K" } else { "" };
        self.paper.text(&format!("{clear}{dot}"));
        self.progress();
    }

    fn file(&mut self, _: &str, _: Counts, _: f64) {
        self.done += 1;
        self.progress();
    }

    fn end(&mut self, summary: &Summary) {
        self.end_line();
        plain::ending(&mut self.paper, summary);
    }
}
