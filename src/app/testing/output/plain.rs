//! The plain output: one line for each file, the failures, the slowest tests, the totals. The other
//! views for people have the same ending.

use super::output_sink::{GREEN, GREY, RED, YELLOW};
use super::{OutputSink, OutputWriter, Summary, printable};
use crate::testing::result::{TestCounts, TestResult, TestStatus};

pub struct PlainOutput {
    sink: OutputSink,
}

impl PlainOutput {
    pub fn new(sink: OutputSink) -> PlainOutput {
        PlainOutput { sink }
    }
}

impl OutputWriter for PlainOutput {
    fn file(&mut self, file: &str, counts: TestCounts, seconds: f64) {
        write_file_line(&mut self.sink, file, counts, seconds);
    }

    fn end(&mut self, summary: &Summary) {
        write_ending(&mut self.sink, summary);
    }
}

/// Writes the line of a finished file.
pub fn write_file_line(sink: &mut OutputSink, path: &str, counts: TestCounts, seconds: f64) {
    let word = match counts.failed {
        0 => sink.paint(GREEN, "ok    "),
        _ => sink.paint(RED, "FAILED"),
    };
    let mut parts = vec![match counts.sum() {
        0 => "no tests".to_string(),
        _ => format!("{} passed", counts.passed),
    }];
    let others = [(counts.failed, "failed"), (counts.skipped, "skipped"), (counts.flaky, "flaky")];
    for (count, name) in others.into_iter().filter(|(count, _)| *count > 0) {
        parts.push(format!("{count} {name}"));
    }
    let results = sink.paint(GREY, &format!("{}, {seconds:.3} s", parts.join(", ")));
    sink.line(&format!("{word}  {}  {results}", printable(path)));
}

/// Writes the reasons of skipped tests, the failures, the slowest tests and the totals.
pub fn write_ending(sink: &mut OutputSink, summary: &Summary) {
    if !summary.skipped.is_empty() {
        sink.line("");
    }
    for test in &summary.skipped {
        let word = sink.paint(YELLOW, "skipped");
        let reason = test.reason.as_deref().unwrap_or_default();
        let at = sink.paint(GREY, &printable(&test.at));
        sink.line(&format!("{word}  {}  {at}", printable(&format!("{}: {reason}", test.name))));
    }
    // Failed tests come last, next to the totals.
    let failed = |test: &&TestResult| test.status == TestStatus::Failed;
    for test in summary.failures.iter().filter(|test| !failed(test)) {
        write_failure(sink, test);
    }
    for test in summary.failures.iter().filter(failed) {
        write_failure(sink, test);
    }
    if !summary.slowest.is_empty() {
        sink.line("\nThe slowest tests:");
        for test in &summary.slowest {
            let (name, at) = (printable(&test.name), printable(&test.at));
            let at = sink.paint(GREY, &at);
            sink.line(&format!("  {:.3} s  {name}  {at}", test.seconds));
        }
    }
    write_totals(sink, summary);
}

/// Writes a failed or flaky test.
fn write_failure(sink: &mut OutputSink, test: &TestResult) {
    let Some(failure) = &test.failure else { return };
    let word = match test.status {
        TestStatus::Flaky => sink.paint(YELLOW, "FLAKY"),
        _ => sink.paint(RED, "FAILED"),
    };
    sink.line(&format!("\n{word} {}", printable(&failure.name)));
    if let Some(at) = &failure.at {
        sink.line(&format!("  {}", printable(at)));
    }
    for line in failure.message.lines().chain(failure.hint.as_deref()) {
        sink.line(&format!("  {}", printable(line)));
    }
    let locals = failure.locals.iter().map(|local| format!("local {local}"));
    let trace = failure.trace.lines().map(str::to_string);
    for line in locals.chain(trace) {
        let line = sink.paint(GREY, &format!("    {}", printable(&line)));
        sink.line(&line);
    }
}

/// Writes the totals. The last line is also for programs and contains nothing else.
fn write_totals(sink: &mut OutputSink, summary: &Summary) {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let Summary { files, counts, seconds, .. } = summary;
    let tests = counts.sum();
    let shuffled = summary.seed.map(|seed| format!(", shuffled with --seed {seed}"));
    sink.line(&format!(
        "\n{files} file{}, {tests} test{} in {seconds:.3} s{}",
        plural(*files),
        plural(tests),
        shuffled.unwrap_or_default()
    ));
    if let Some(coverage) = &summary.coverage {
        sink.line(coverage);
    }
    let TestCounts { passed, failed, skipped, flaky } = counts;
    let flaky = if *flaky > 0 { format!(", {flaky} flaky") } else { String::new() };
    sink.line(&format!("{passed} passed, {failed} failed, {skipped} skipped{flaky}"));
    sink.flush();
}
