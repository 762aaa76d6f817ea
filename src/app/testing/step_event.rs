//! Events of a suite's step, read from the plain data that lua/test/test_api.lua creates.

use super::result::{TestFailure, TestResult, TestStatus};
use super::screenshot::{ExpectedScreenshot, TOLERANCE};
use engine_script::ScriptValue;

/// A request of a test to the driver.
#[derive(Clone, PartialEq, Debug)]
pub enum DriverRequest {
    Frames(u64),
    Seconds(f64),
    Boot,
    /// Simulate that the player asks the game to end.
    Close,
    /// Replace the source of a script and reload it.
    Reload {
        file: String,
        text: String,
    },
    /// Simulate input before the next frame.
    Input(ScriptValue),
    /// Inject a fault from now on; `None` ends all faults.
    Fault(Option<FaultKind>),
    /// Compare the newest frame with a reference.
    Screenshot(ExpectedScreenshot),
}

/// A fault that a test can inject.
#[derive(Clone, PartialEq, Debug)]
pub enum FaultKind {
    DiskFull,
    /// The file of this path appears to be missing.
    MissingFile(String),
    /// The graphics device is lost once.
    DeviceLost,
}

/// The event of one step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepEvent {
    Test(TestResult),
    /// A test that would run: `file:line` and the full name.
    Listed {
        at: String,
        name: String,
    },
    /// A failure outside of a test: in a file, a hook or a describe block.
    Error(TestFailure),
    Request(DriverRequest),
    Done,
}

impl StepEvent {
    /// Reads a step's value. A value of any other form is a bug of the test library.
    pub fn read(value: &ScriptValue) -> Result<StepEvent, String> {
        if matches!(value, ScriptValue::Text(word) if word == "passed") {
            return Ok(StepEvent::Test(EventFields(value).test(TestStatus::Passed)));
        }
        let fields = EventFields(value);
        let event = match fields.text("kind").unwrap_or_default() {
            "test" => {
                let status = match fields.text("status") {
                    Some("success") => TestStatus::Passed,
                    Some("pending") => TestStatus::Skipped,
                    _ => TestStatus::Failed,
                };
                Some(StepEvent::Test(fields.test(status)))
            }
            "listed" => {
                Some(StepEvent::Listed { at: fields.location(), name: fields.owned("name") })
            }
            "file_error" | "hook_error" => Some(StepEvent::Error(fields.failure())),
            "request" => fields.request().map(StepEvent::Request),
            "done" => Some(StepEvent::Done),
            _ => None,
        };
        event.ok_or_else(|| format!("the test library said something unknown: {value:?}"))
    }
}

/// Reader of the fields of an event.
struct EventFields<'a>(&'a ScriptValue);

impl<'a> EventFields<'a> {
    fn get(&self, key: &str) -> Option<&'a ScriptValue> {
        let ScriptValue::Table(entries) = self.0 else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        match self.get(key) {
            Some(ScriptValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn owned(&self, key: &str) -> String {
        self.text(key).unwrap_or_default().to_string()
    }

    fn number(&self, key: &str) -> f64 {
        match self.get(key) {
            Some(ScriptValue::Number(number)) => *number,
            _ => 0.0,
        }
    }

    fn list(&self, key: &str) -> Vec<String> {
        let Some(ScriptValue::List(items)) = self.get(key) else { return Vec::new() };
        let texts = items.iter().filter_map(|item| match item {
            ScriptValue::Text(text) => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the source location of the test or hook.
    fn location(&self) -> String {
        format!("{}:{}", self.owned("path"), self.number("line"))
    }

    fn test(&self, status: TestStatus) -> TestResult {
        TestResult {
            status,
            name: self.owned("name"),
            groups: self.list("groups"),
            at: self.text("path").map(|_| self.location()).unwrap_or_default(),
            seconds: 0.0,
            failure: (status == TestStatus::Failed).then(|| self.failure()),
            reason: match status {
                TestStatus::Skipped => self.text("message").map(str::to_string),
                _ => None,
            },
        }
    }

    fn request(&self) -> Option<DriverRequest> {
        Some(match self.text("request")? {
            "frames" => DriverRequest::Frames(self.number("amount") as u64),
            "seconds" => DriverRequest::Seconds(self.number("amount")),
            "boot" => DriverRequest::Boot,
            "close" => DriverRequest::Close,
            "input" => DriverRequest::Input(self.get("events")?.clone()),
            "reload" => {
                DriverRequest::Reload { file: self.owned("file"), text: self.owned("text") }
            }
            "fault" => DriverRequest::Fault(match self.text("fault")? {
                "disk full" => Some(FaultKind::DiskFull),
                "missing file" => Some(FaultKind::MissingFile(self.owned("file"))),
                "device lost" => Some(FaultKind::DeviceLost),
                _ => None,
            }),
            "screenshot" => {
                let tolerance = match self.get("tolerance") {
                    Some(ScriptValue::Number(number)) => *number,
                    _ => TOLERANCE,
                };
                let is_picture = self.get("picture") == Some(&ScriptValue::Boolean(true));
                let picture = is_picture.then_some(tolerance);
                DriverRequest::Screenshot(ExpectedScreenshot { name: self.owned("name"), picture })
            }
            _ => return None,
        })
    }

    fn failure(&self) -> TestFailure {
        let written = self.text("path").map(|_| self.location());
        let name = self.text("name").filter(|name| !name.is_empty());
        TestFailure {
            name: name.or(self.text("path")).unwrap_or("(no name)").to_string(),
            at: self.text("at").map(str::to_string).or(written),
            message: self.owned("message"),
            locals: self.list("locals"),
            trace: self.owned("trace"),
            hint: self.text("hint").map(str::to_string),
            is_error: self.text("status") == Some("error"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: &[(&str, &str)]) -> ScriptValue {
        let entry =
            |(key, value): &(&str, &str)| (key.to_string(), ScriptValue::Text(value.to_string()));
        ScriptValue::Table(entries.iter().map(entry).collect())
    }

    #[test]
    fn only_a_failed_test_has_a_failure() {
        let failed = table(&[("kind", "test"), ("status", "error"), ("name", "a"), ("at", "f:3")]);
        let StepEvent::Test(TestResult {
            status: TestStatus::Failed, failure: Some(failure), ..
        }) = StepEvent::read(&failed).unwrap()
        else {
            panic!("{failed:?}");
        };
        assert_eq!((failure.name.as_str(), failure.at.as_deref()), ("a", Some("f:3")));
        assert!(failure.is_error);
        let failed = table(&[("kind", "test"), ("status", "failure"), ("name", "a")]);
        let Ok(StepEvent::Test(test)) = StepEvent::read(&failed) else { panic!("{failed:?}") };
        assert!(!test.failure.unwrap().is_error);
        let skipped = table(&[("kind", "test"), ("status", "pending")]);
        let Ok(StepEvent::Test(test)) = StepEvent::read(&skipped) else { panic!("{skipped:?}") };
        assert_eq!((test.status, test.failure, test.reason), (TestStatus::Skipped, None, None));
        let why = table(&[("kind", "test"), ("status", "pending"), ("message", "no adapter")]);
        let Ok(StepEvent::Test(test)) = StepEvent::read(&why) else { panic!("{why:?}") };
        assert_eq!(test.reason.as_deref(), Some("no adapter"));
    }

    #[test]
    fn a_malformed_event_is_an_error_with_a_message() {
        let message =
            StepEvent::read(&table(&[("kind", "request"), ("request", "x")])).unwrap_err();
        assert!(message.starts_with("the test library said something unknown"), "{message}");
        assert!(StepEvent::read(&ScriptValue::Nil).is_err());
    }
}
