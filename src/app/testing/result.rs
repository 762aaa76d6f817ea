//! What came of tests and of their files, in a form that crosses from process to process. Who runs
//! tests makes it (file.rs, recording.rs), who tells people reads it (output/).

use super::coverage::Lines;
use super::usage::Usage;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Passed,
    Failed,
    Skipped,
    /// It failed, and passed when it was run again.
    Flaky,
}

impl Status {
    const ALL: [Status; 4] = [Status::Passed, Status::Failed, Status::Skipped, Status::Flaky];

    /// The word by which people and programs know it.
    pub const fn word(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
            Status::Flaky => "flaky",
        }
    }
}

/// What went wrong, with everything that helps to find it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// The test's full name, or what failed in its stead.
    pub name: String,
    /// `file:line` where it happened, as far as that is known.
    pub at: Option<String>,
    pub message: String,
    /// `name = value` for each local of the failing function.
    pub locals: Vec<String>,
    /// One line for each function, innermost first.
    pub trace: String,
    pub hint: Option<String>,
}

/// What came of one test, or of something outside of tests that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct TestResult {
    pub status: Status,
    /// The full name. Empty where the test passed and no output wants names.
    pub name: String,
    /// The names of the groups that the test stands in, outermost first.
    pub groups: Vec<String>,
    /// `file:line` where the test is written; empty as the name.
    pub at: String,
    pub seconds: f64,
    /// Of a failed or flaky test.
    pub failure: Option<Failure>,
}

impl TestResult {
    /// Something that failed, by its failure alone.
    pub fn failed(failure: Failure) -> TestResult {
        TestResult {
            status: Status::Failed,
            name: failure.name.clone(),
            groups: Vec::new(),
            at: failure.at.clone().unwrap_or_default(),
            seconds: 0.0,
            failure: Some(failure),
        }
    }

    /// The test's name without those of its groups.
    pub fn own_name(&self) -> &str {
        let groups = self.groups.join(" ");
        let own = self.name.strip_prefix(&groups).unwrap_or(&self.name);
        own.strip_prefix(' ').filter(|_| !groups.is_empty()).unwrap_or(own)
    }

    /// The file and line of [`TestResult::at`].
    pub fn place(&self) -> (&str, u32) {
        let split = self.at.rsplit_once(':');
        let place = split.and_then(|(file, line)| Some((file, line.parse().ok()?)));
        place.unwrap_or((&self.at, 0))
    }

    pub fn write(&self, writer: &mut Writer) {
        let status = Status::ALL.iter().position(|status| *status == self.status);
        writer.u8(status.expect("the list has them all") as u8);
        writer.text(&self.name);
        writer.list(&self.groups, |writer, group| writer.text(group));
        writer.text(&self.at);
        writer.f64(self.seconds);
        let failures: Vec<&Failure> = self.failure.iter().collect();
        writer.list(&failures, |writer, failure| write_failure(writer, failure));
    }

    pub fn read(reader: &mut Reader) -> Result<TestResult, Error> {
        let status = usize::from(reader.u8()?);
        let status = Status::ALL.get(status).copied();
        Ok(TestResult {
            status: status.ok_or_else(|| crate::error!("a test ended in an unknown way"))?,
            name: text(reader)?,
            groups: reader.list(text)?,
            at: text(reader)?,
            seconds: reader.f64()?,
            failure: reader.list(read_failure)?.pop(),
        })
    }
}

fn text(reader: &mut Reader) -> Result<String, Error> {
    reader.text().map(str::to_string)
}

fn write_failure(writer: &mut Writer, failure: &Failure) {
    let option = |text: &Option<String>| text.iter().cloned().collect::<Vec<String>>();
    writer.text(&failure.name);
    writer.list(&option(&failure.at), |writer, at| writer.text(at));
    writer.text(&failure.message);
    writer.list(&failure.locals, |writer, local| writer.text(local));
    writer.text(&failure.trace);
    writer.list(&option(&failure.hint), |writer, hint| writer.text(hint));
}

fn read_failure(reader: &mut Reader) -> Result<Failure, Error> {
    Ok(Failure {
        name: text(reader)?,
        at: reader.list(text)?.pop(),
        message: text(reader)?,
        locals: reader.list(text)?,
        trace: text(reader)?,
        hint: reader.list(text)?.pop(),
    })
}

/// Tests, by how they ended. What fails outside of a test counts as a failed one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    pub flaky: usize,
}

impl Counts {
    pub fn add(&mut self, status: Status) {
        *match status {
            Status::Passed => &mut self.passed,
            Status::Failed => &mut self.failed,
            Status::Skipped => &mut self.skipped,
            Status::Flaky => &mut self.flaky,
        } += 1;
    }

    pub fn sum(&self) -> usize {
        self.passed + self.failed + self.skipped + self.flaky
    }
}

/// What came of a file, beside its tests, which are told one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Where tests are only listed: place and full name of each.
    pub listed: Vec<(String, String)>,
    /// The calls of the API's functions, where they are counted.
    pub usage: Usage,
    /// The lines that ran, where they are counted.
    pub lines: Lines,
    pub seconds: f64,
    /// How many screenshots had nothing to be compared with.
    pub missing: usize,
}

impl Outcome {
    pub fn write(&self, writer: &mut Writer) {
        writer.list(&self.listed, |writer, (at, name)| {
            writer.text(at);
            writer.text(name);
        });
        self.usage.write(writer);
        self.lines.write(writer);
        writer.f64(self.seconds);
        writer.u32(self.missing as u32);
    }

    pub fn read(reader: &mut Reader) -> Result<Outcome, Error> {
        Ok(Outcome {
            listed: reader.list(|reader| Ok((text(reader)?, text(reader)?)))?,
            usage: Usage::read(reader)?,
            lines: Lines::read(reader)?,
            seconds: reader.f64()?,
            missing: reader.u32()? as usize,
        })
    }
}

/// What is known of a file's tests after it was run once more: a test that failed in one run and
/// passed in another is flaky. `before` and `now` are in the order of the runs.
pub fn merge(before: Vec<TestResult>, now: Vec<TestResult>) -> Vec<TestResult> {
    let mut before: Vec<Option<TestResult>> = before.into_iter().map(Some).collect();
    let mut merged = Vec::new();
    for mut test in now {
        let same = |old: &&mut Option<TestResult>| {
            old.as_ref().is_some_and(|old| (&old.name, &old.at) == (&test.name, &test.at))
        };
        if let Some(old) = before.iter_mut().find(same).and_then(Option::take) {
            use Status::{Failed, Flaky, Passed};
            if matches!((old.status, test.status), (Flaky, _) | (Failed, Passed) | (Passed, Failed))
            {
                test.status = Flaky;
                test.failure = old.failure.or(test.failure);
            }
        }
        merged.push(test);
    }
    // What failed outside of a test, and did not do so again.
    for mut test in before.into_iter().flatten() {
        if test.status == Status::Failed || test.status == Status::Flaky {
            test.status = Status::Flaky;
            merged.push(test);
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str, status: Status) -> TestResult {
        let failure =
            Failure { name: name.into(), at: Some("a.lua:3".into()), ..Failure::default() };
        let failure = (status == Status::Failed).then_some(failure);
        let (at, groups) = ("a.lua:3".to_string(), vec!["g".to_string()]);
        TestResult { status, name: format!("g {name}"), groups, at, seconds: 0.5, failure }
    }

    #[test]
    fn a_result_is_read_as_it_was_written_and_no_cut_goes_unnoticed() {
        for status in Status::ALL {
            let mut writer = Writer::default();
            test("x\u{1}\"\n", status).write(&mut writer);
            let bytes = writer.finish();
            let read = TestResult::read(&mut Reader::new(&bytes)).unwrap();
            assert_eq!(read, test("x\u{1}\"\n", status));
            for length in 0..bytes.len() {
                assert!(TestResult::read(&mut Reader::new(&bytes[..length])).is_err());
            }
        }
        let read = test("deep", Status::Passed);
        assert_eq!((read.own_name(), read.place()), ("deep", ("a.lua", 3)));
    }

    #[test]
    fn what_failed_and_passed_is_flaky_and_what_fails_again_has_failed() {
        use Status::{Failed, Flaky, Passed, Skipped};
        let words = |before: &[(&str, Status)], now: &[(&str, Status)]| {
            let list = |of: &[(&str, Status)]| of.iter().map(|(n, s)| test(n, *s)).collect();
            let merged = merge(list(before), list(now));
            merged.iter().map(|test| test.status).collect::<Vec<Status>>()
        };
        assert_eq!(
            words(&[("a", Failed), ("b", Passed)], &[("a", Passed), ("b", Passed)]),
            [Flaky, Passed]
        );
        assert_eq!(words(&[("a", Failed)], &[("a", Failed)]), [Failed]);
        assert_eq!(words(&[("a", Passed)], &[("a", Failed)]), [Flaky]);
        assert_eq!(words(&[("a", Flaky)], &[("a", Failed)]), [Flaky]);
        assert_eq!(words(&[("a", Skipped)], &[("a", Skipped)]), [Skipped]);
        // The whole file failed, and then its tests ran.
        assert_eq!(words(&[("file", Failed)], &[("a", Passed)]), [Passed, Flaky]);
    }
}
