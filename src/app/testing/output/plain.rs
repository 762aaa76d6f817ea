//! The plain view: a line for each file, the failures, the slowest tests, the sums. The other views
//! for people end as it does.

use super::paper::{GREEN, GREY, RED, YELLOW};
use super::{Paper, Summary, View, printable};
use crate::app::testing::result::{Counts, Status, TestResult};

pub struct Plain {
    paper: Paper,
}

impl Plain {
    pub fn new(paper: Paper) -> Plain {
        Plain { paper }
    }
}

impl View for Plain {
    fn file(&mut self, file: &str, counts: Counts, seconds: f64) {
        file_line(&mut self.paper, file, counts, seconds);
    }

    fn end(&mut self, summary: &Summary) {
        ending(&mut self.paper, summary);
    }
}

/// A file is done.
pub fn file_line(paper: &mut Paper, path: &str, counts: Counts, seconds: f64) {
    let word = match counts.failed {
        0 => paper.paint(GREEN, "ok    "),
        _ => paper.paint(RED, "FAILED"),
    };
    let mut parts = vec![format!("{} passed", counts.passed)];
    let others = [(counts.failed, "failed"), (counts.skipped, "skipped"), (counts.flaky, "flaky")];
    for (count, name) in others.into_iter().filter(|(count, _)| *count > 0) {
        parts.push(format!("{count} {name}"));
    }
    let figures = paper.paint(GREY, &format!("{}, {seconds:.3} s", parts.join(", ")));
    paper.line(&format!("{word}  {}  {figures}", printable(path)));
}

/// What failed, the slowest tests, the sums.
pub fn ending(paper: &mut Paper, summary: &Summary) {
    // Those that failed stand last, nearest to the sums.
    let failed = |test: &&TestResult| test.status == Status::Failed;
    for test in summary.noted.iter().filter(|test| !failed(test)) {
        noted(paper, test);
    }
    for test in summary.noted.iter().filter(failed) {
        noted(paper, test);
    }
    if !summary.slowest.is_empty() {
        paper.line("\nThe slowest tests:");
        for test in &summary.slowest {
            let (name, at) = (printable(&test.name), printable(&test.at));
            let at = paper.paint(GREY, &at);
            paper.line(&format!("  {:.3} s  {name}  {at}", test.seconds));
        }
    }
    sums(paper, summary);
}

/// A test that failed or is flaky.
fn noted(paper: &mut Paper, test: &TestResult) {
    let Some(failure) = &test.failure else { return };
    let word = match test.status {
        Status::Flaky => paper.paint(YELLOW, "FLAKY"),
        _ => paper.paint(RED, "FAILED"),
    };
    paper.line(&format!("\n{word} {}", printable(&failure.name)));
    if let Some(at) = &failure.at {
        paper.line(&format!("  {}", printable(at)));
    }
    for line in failure.message.lines().chain(failure.hint.as_deref()) {
        paper.line(&format!("  {}", printable(line)));
    }
    let locals = failure.locals.iter().map(|local| format!("local {local}"));
    let trace = failure.trace.lines().map(str::to_string);
    for line in locals.chain(trace) {
        let line = paper.paint(GREY, &format!("    {}", printable(&line)));
        paper.line(&line);
    }
}

/// The sums; the last line is for programs too and stands alone.
fn sums(paper: &mut Paper, summary: &Summary) {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let Summary { files, counts, seconds, .. } = summary;
    let tests = counts.sum();
    let shuffled = summary.seed.map(|seed| format!(", shuffled with --seed {seed}"));
    paper.line(&format!(
        "\n{files} file{}, {tests} test{} in {seconds:.3} s{}",
        plural(*files),
        plural(tests),
        shuffled.unwrap_or_default()
    ));
    if let Some(words) = &summary.coverage {
        paper.line(words);
    }
    let Counts { passed, failed, skipped, flaky } = counts;
    let flaky = if *flaky > 0 { format!(", {flaky} flaky") } else { String::new() };
    paper.line(&format!("{passed} passed, {failed} failed, {skipped} skipped{flaky}"));
    paper.flush();
}
