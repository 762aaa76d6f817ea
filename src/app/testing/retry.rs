//! Retries of failed files. A test that fails and passes in another attempt is flaky.

use super::RunAborted;
use super::result::{FileOutcome, TestResult, TestStatus, merge};
use super::test_file::OnTestResult;

/// Runs a file, and up to `retries` times again while something in it fails, each time in a new
/// engine. Tests are reported once, after the last attempt.
pub fn with_retries(
    retries: u32,
    on_test: OnTestResult,
    mut run_once: impl FnMut(OnTestResult) -> Result<FileOutcome, RunAborted>,
) -> Result<FileOutcome, RunAborted> {
    if retries == 0 {
        return run_once(on_test);
    }
    let mut previous: Option<Vec<TestResult>> = None;
    let mut retries_left = retries;
    loop {
        let mut tests = Vec::new();
        let outcome = run_once(&mut |test| tests.push(test))?;
        let merged = match previous.take() {
            Some(before) => merge(before, tests),
            None => tests,
        };
        let failed = merged.iter().any(|test| test.status == TestStatus::Failed);
        if !failed || retries_left == 0 {
            merged.into_iter().for_each(on_test);
            return Ok(outcome);
        }
        retries_left -= 1;
        previous = Some(merged);
    }
}
