//! The view of dots: a character for each test as it ends, and, where someone watches, how far the
//! run is.

use super::paper::{GREEN, GREY, RED, YELLOW};
use super::{Paper, Summary, View, plain};
use crate::app::testing::result::{Counts, Status, TestResult};

/// Characters in a line.
const WIDTH: usize = 60;

pub struct Dots {
    paper: Paper,
    column: usize,
    /// The line of dots so far, to be shown again after the progress was written over it.
    row: String,
    files: usize,
    done: usize,
    failed: usize,
}

impl Dots {
    pub fn new(paper: Paper) -> Dots {
        Dots { paper, column: 0, row: String::new(), files: 0, done: 0, failed: 0 }
    }

    /// Shows the row with the progress behind it.
    fn progress(&mut self) {
        if self.paper.live {
            let failed = match self.failed {
                0 => String::new(),
                count => format!(", {count} failed"),
            };
            let words = format!("  {} of {} files{failed}", self.done, self.files);
            let words = self.paper.paint(GREY, &words);
            self.paper.text(&format!("\r\x1b[2K{}{words}", self.row));
        }
        self.paper.flush();
    }
}

impl View for Dots {
    fn begin(&mut self, files: usize) {
        self.files = files;
    }

    fn test(&mut self, _: &str, test: &TestResult) {
        let (colour, dot) = match test.status {
            Status::Passed => (GREEN, "."),
            Status::Failed => (RED, "F"),
            Status::Skipped => (YELLOW, "s"),
            Status::Flaky => (YELLOW, "~"),
        };
        if self.column == WIDTH {
            let end =
                if self.paper.live { format!("\r\x1b[2K{}\n", self.row) } else { "\n".into() };
            self.paper.text(&end);
            self.row.clear();
            self.column = 0;
        }
        self.column += 1;
        self.failed += (test.status == Status::Failed) as usize;
        let dot = self.paper.paint(colour, dot);
        self.row += &dot;
        match self.paper.live {
            true => self.progress(),
            false => self.paper.text(&dot),
        }
    }

    fn file(&mut self, _: &str, _: Counts, _: f64) {
        self.done += 1;
        self.progress();
    }

    fn end(&mut self, summary: &Summary) {
        if self.paper.live {
            self.paper.text(&format!("\r\x1b[2K{}", self.row));
        }
        self.paper.text("\n");
        plain::ending(&mut self.paper, summary);
    }
}
