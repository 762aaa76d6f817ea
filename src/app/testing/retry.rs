//! Running a file again where it failed: what passes then is flaky.

use super::Stop;
use super::file::Tell;
use super::result::{Outcome, Status, TestResult, merge};

/// Runs a file up to `more` times again, for as long as something in it fails, each time in a fresh
/// engine. Tests are told once, after the last time.
pub fn with_retries(
    more: u32,
    tell: Tell,
    mut once: impl FnMut(Tell) -> Result<Outcome, Stop>,
) -> Result<Outcome, Stop> {
    if more == 0 {
        return once(tell);
    }
    let mut known: Option<Vec<TestResult>> = None;
    let mut left = more;
    loop {
        let mut tests = Vec::new();
        let outcome = once(&mut |test| tests.push(test))?;
        let merged = match known.take() {
            Some(before) => merge(before, tests),
            None => tests,
        };
        let failed = merged.iter().any(|test| test.status == Status::Failed);
        if !failed || left == 0 {
            merged.into_iter().for_each(tell);
            return Ok(outcome);
        }
        left -= 1;
        known = Some(merged);
    }
}
