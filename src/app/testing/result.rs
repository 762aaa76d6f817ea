//! Results of tests and test files, which can be sent between processes. test_file.rs and
//! replay_test.rs create them, output/ shows them.

use super::api_usage::ApiUsage;
use super::coverage::LineCounts;
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};

/// Outcome of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestStatus {
    Passed,
    Failed,
    Skipped,
    /// The test failed, and passed in a retry.
    Flaky,
}

impl TestStatus {
    const ALL: [TestStatus; 4] =
        [TestStatus::Passed, TestStatus::Failed, TestStatus::Skipped, TestStatus::Flaky];

    /// Returns the name of the outcome, for people and programs.
    pub const fn name(self) -> &'static str {
        match self {
            TestStatus::Passed => "passed",
            TestStatus::Failed => "failed",
            TestStatus::Skipped => "skipped",
            TestStatus::Flaky => "flaky",
        }
    }
}

/// A failure with its details.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestFailure {
    /// Full name of the test, or of the item that failed.
    pub name: String,
    /// `file:line` of the failure, if known.
    pub at: Option<String>,
    pub message: String,
    /// `name = value` for each local variable of the failing function.
    pub locals: Vec<String>,
    /// The stack: one line for each function, innermost first.
    pub trace: String,
    pub hint: Option<String>,
    /// True if an error was raised, false if an assertion failed.
    pub is_error: bool,
}

/// Result of one test, or a failure outside of tests.
#[derive(Clone, Debug, PartialEq)]
pub struct TestResult {
    pub status: TestStatus,
    /// Full name. Empty if the test passed and no output needs names.
    pub name: String,
    /// Names of the groups that contain the test, outermost first.
    pub groups: Vec<String>,
    /// `file:line` of the test. Empty if the name is.
    pub at: String,
    pub seconds: f64,
    /// Failure of a failed or flaky test.
    pub failure: Option<TestFailure>,
    /// Why a skipped test did not run to its end, if the suite gives a reason.
    pub reason: Option<String>,
}

impl TestResult {
    /// Creates the result of a failure.
    pub fn failed(failure: TestFailure) -> TestResult {
        TestResult {
            status: TestStatus::Failed,
            name: failure.name.clone(),
            groups: Vec::new(),
            at: failure.at.clone().unwrap_or_default(),
            seconds: 0.0,
            failure: Some(failure),
            reason: None,
        }
    }

    /// Returns the test's name without the names of its groups.
    pub fn name_without_groups(&self) -> &str {
        let groups = self.groups.join(" ");
        let own = self.name.strip_prefix(&groups).unwrap_or(&self.name);
        own.strip_prefix(' ').filter(|_| !groups.is_empty()).unwrap_or(own)
    }

    /// Splits [`TestResult::at`] into file and line.
    pub fn location(&self) -> (&str, u32) {
        let split = self.at.rsplit_once(':');
        let location = split.and_then(|(file, line)| Some((file, line.parse().ok()?)));
        location.unwrap_or((&self.at, 0))
    }

    pub fn write(&self, writer: &mut BlobWriter) {
        let status = TestStatus::ALL.iter().position(|status| *status == self.status);
        writer.u8(status.expect("the list has them all") as u8);
        writer.text(&self.name);
        writer.list(&self.groups, |writer, group| writer.text(group));
        writer.text(&self.at);
        writer.f64(self.seconds);
        let failures: Vec<&TestFailure> = self.failure.iter().collect();
        writer.list(&failures, |writer, failure| write_failure(writer, failure));
        write_option(writer, &self.reason);
    }

    pub fn read(reader: &mut BlobReader) -> Result<TestResult, Error> {
        let status = usize::from(reader.u8()?);
        let status = TestStatus::ALL.get(status).copied();
        Ok(TestResult {
            status: status
                .ok_or_else(|| engine_foundation::error!("a test ended in an unknown way"))?,
            name: text(reader)?,
            groups: reader.list(text)?,
            at: text(reader)?,
            seconds: reader.f64()?,
            failure: reader.list(read_failure)?.pop(),
            reason: reader.list(text)?.pop(),
        })
    }
}

fn text(reader: &mut BlobReader) -> Result<String, Error> {
    reader.text().map(str::to_string)
}

fn write_option(writer: &mut BlobWriter, text: &Option<String>) {
    let texts: Vec<&String> = text.iter().collect();
    writer.list(&texts, |writer, text| writer.text(text));
}

fn write_failure(writer: &mut BlobWriter, failure: &TestFailure) {
    writer.text(&failure.name);
    write_option(writer, &failure.at);
    writer.text(&failure.message);
    writer.list(&failure.locals, |writer, local| writer.text(local));
    writer.text(&failure.trace);
    write_option(writer, &failure.hint);
    writer.u8(u8::from(failure.is_error));
}

fn read_failure(reader: &mut BlobReader) -> Result<TestFailure, Error> {
    Ok(TestFailure {
        name: text(reader)?,
        at: reader.list(text)?.pop(),
        message: text(reader)?,
        locals: reader.list(text)?,
        trace: text(reader)?,
        hint: reader.list(text)?.pop(),
        is_error: reader.flag()?,
    })
}

/// Numbers of tests by outcome. A failure outside of a test counts as a failed test.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct TestCounts {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    pub flaky: usize,
}

impl TestCounts {
    pub fn add(&mut self, status: TestStatus) {
        *match status {
            TestStatus::Passed => &mut self.passed,
            TestStatus::Failed => &mut self.failed,
            TestStatus::Skipped => &mut self.skipped,
            TestStatus::Flaky => &mut self.flaky,
        } += 1;
    }

    pub fn sum(&self) -> usize {
        self.passed + self.failed + self.skipped + self.flaky
    }
}

/// Results of a file, without those of its tests, which are reported one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileOutcome {
    /// Listed tests, if tests are only listed: location and full name of each.
    pub listed: Vec<(String, String)>,
    /// Calls of API functions, if they are counted.
    pub usage: ApiUsage,
    /// Executed lines, if they are counted.
    pub lines: LineCounts,
    pub seconds: f64,
    /// Number of screenshots without a reference.
    pub missing: usize,
}

impl FileOutcome {
    pub fn write(&self, writer: &mut BlobWriter) {
        writer.list(&self.listed, |writer, (at, name)| {
            writer.text(at);
            writer.text(name);
        });
        self.usage.write(writer);
        self.lines.write(writer);
        writer.f64(self.seconds);
        writer.u32(self.missing as u32);
    }

    pub fn read(reader: &mut BlobReader) -> Result<FileOutcome, Error> {
        Ok(FileOutcome {
            listed: reader.list(|reader| Ok((text(reader)?, text(reader)?)))?,
            usage: ApiUsage::read(reader)?,
            lines: LineCounts::read(reader)?,
            seconds: reader.f64()?,
            missing: reader.u32()? as usize,
        })
    }
}

/// Merges the results of a file with those of a retry. A test that failed in one run and passed in
/// another is flaky. `before` and `now` are in the order of the runs.
pub fn merge(before: Vec<TestResult>, now: Vec<TestResult>) -> Vec<TestResult> {
    let mut before: Vec<Option<TestResult>> = before.into_iter().map(Some).collect();
    let mut merged = Vec::new();
    for mut test in now {
        let same = |old: &&mut Option<TestResult>| {
            old.as_ref().is_some_and(|old| (&old.name, &old.at) == (&test.name, &test.at))
        };
        if let Some(old) = before.iter_mut().find(same).and_then(Option::take) {
            use TestStatus::{Failed, Flaky, Passed};
            if matches!((old.status, test.status), (Flaky, _) | (Failed, Passed) | (Passed, Failed))
            {
                test.status = Flaky;
                test.failure = old.failure.or(test.failure);
            }
        }
        merged.push(test);
    }
    // Failures outside of tests that did not occur again.
    for mut test in before.into_iter().flatten() {
        if test.status == TestStatus::Failed || test.status == TestStatus::Flaky {
            test.status = TestStatus::Flaky;
            merged.push(test);
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str, status: TestStatus) -> TestResult {
        let failure =
            TestFailure { name: name.into(), at: Some("a.lua:3".into()), ..TestFailure::default() };
        let failure = (status == TestStatus::Failed).then_some(failure);
        let reason = (status == TestStatus::Skipped).then(|| "later".to_string());
        let (at, groups) = ("a.lua:3".to_string(), vec!["g".to_string()]);
        let name = format!("g {name}");
        TestResult { status, name, groups, at, seconds: 0.5, failure, reason }
    }

    #[test]
    fn results_read_back_equal_and_truncation_is_detected() {
        for status in TestStatus::ALL {
            let mut writer = BlobWriter::default();
            test("x\u{1}\"\n", status).write(&mut writer);
            let bytes = writer.finish();
            let read = TestResult::read(&mut BlobReader::new(&bytes)).unwrap();
            assert_eq!(read, test("x\u{1}\"\n", status));
            for length in 0..bytes.len() {
                assert!(TestResult::read(&mut BlobReader::new(&bytes[..length])).is_err());
            }
        }
        let read = test("deep", TestStatus::Passed);
        assert_eq!((read.name_without_groups(), read.location()), ("deep", ("a.lua", 3)));
    }

    #[test]
    fn a_test_is_flaky_if_a_retry_passes_and_failed_otherwise() {
        use TestStatus::{Failed, Flaky, Passed, Skipped};
        let merged_statuses = |before: &[(&str, TestStatus)], now: &[(&str, TestStatus)]| {
            let list = |of: &[(&str, TestStatus)]| of.iter().map(|(n, s)| test(n, *s)).collect();
            let merged = merge(list(before), list(now));
            merged.iter().map(|test| test.status).collect::<Vec<TestStatus>>()
        };
        assert_eq!(
            merged_statuses(&[("a", Failed), ("b", Passed)], &[("a", Passed), ("b", Passed)]),
            [Flaky, Passed]
        );
        assert_eq!(merged_statuses(&[("a", Failed)], &[("a", Failed)]), [Failed]);
        assert_eq!(merged_statuses(&[("a", Passed)], &[("a", Failed)]), [Flaky]);
        assert_eq!(merged_statuses(&[("a", Flaky)], &[("a", Failed)]), [Flaky]);
        assert_eq!(merged_statuses(&[("a", Skipped)], &[("a", Skipped)]), [Skipped]);
        // The whole file failed, and then its tests ran.
        assert_eq!(merged_statuses(&[("file", Failed)], &[("a", Passed)]), [Passed, Flaky]);
    }
}
