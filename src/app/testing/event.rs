//! What a step of a suite says, read from the plain data that lua/test/engine.lua makes.

use super::result::{Failure, Status, TestResult};
use super::screenshot::{TOLERANCE, Wanted};
use crate::script::Value;

/// What a test asks the driver for.
#[derive(Clone, PartialEq, Debug)]
pub enum Request {
    Frames(u64),
    Seconds(f64),
    Boot,
    /// The player asks the game to end.
    Close,
    /// A script has another text from now on.
    Reload {
        file: String,
        text: String,
    },
    /// What the player does before the next frame.
    Input(Value),
    /// Something of the outside fails from now on; `None` ends all that.
    Fault(Option<Fault>),
    /// What is shown is to be what it was.
    Screenshot(Wanted),
}

/// What can be made to fail.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    DiskFull,
    /// The file of this path is as if it were not there.
    MissingFile(String),
    /// The graphics adapter fails, once.
    DeviceLost,
}

/// One step's news.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Test(TestResult),
    /// What would be run: `file:line` and the full name.
    Listed {
        at: String,
        name: String,
    },
    /// Something outside of a test failed: a file, a hook, a describe block.
    Error(Failure),
    Request(Request),
    Done,
}

impl Event {
    /// Reads a step's value. What has another shape is a fault of the test library.
    pub fn read(value: &Value) -> Result<Event, String> {
        if matches!(value, Value::Text(word) if word == "passed") {
            return Ok(Event::Test(Fields(value).test(Status::Passed)));
        }
        let fields = Fields(value);
        let event = match fields.text("kind").unwrap_or_default() {
            "test" => {
                let status = match fields.text("status") {
                    Some("success") => Status::Passed,
                    Some("pending") => Status::Skipped,
                    _ => Status::Failed,
                };
                Some(Event::Test(fields.test(status)))
            }
            "listed" => Some(Event::Listed { at: fields.place(), name: fields.owned("name") }),
            "file_error" | "hook_error" => Some(Event::Error(fields.failure())),
            "request" => fields.request().map(Event::Request),
            "done" => Some(Event::Done),
            _ => None,
        };
        event.ok_or_else(|| format!("the test library said something unknown: {value:?}"))
    }
}

/// The fields of an event.
struct Fields<'a>(&'a Value);

impl<'a> Fields<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        let Value::Table(entries) = self.0 else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        match self.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn owned(&self, key: &str) -> String {
        self.text(key).unwrap_or_default().to_string()
    }

    fn number(&self, key: &str) -> f64 {
        match self.get(key) {
            Some(Value::Number(number)) => *number,
            _ => 0.0,
        }
    }

    fn list(&self, key: &str) -> Vec<String> {
        let Some(Value::List(items)) = self.get(key) else { return Vec::new() };
        let texts = items.iter().filter_map(|item| match item {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    }

    /// Where the test or hook was written.
    fn place(&self) -> String {
        format!("{}:{}", self.owned("path"), self.number("line"))
    }

    fn test(&self, status: Status) -> TestResult {
        TestResult {
            status,
            name: self.owned("name"),
            groups: self.list("groups"),
            at: self.text("path").map(|_| self.place()).unwrap_or_default(),
            seconds: 0.0,
            failure: (status == Status::Failed).then(|| self.failure()),
        }
    }

    fn request(&self) -> Option<Request> {
        Some(match self.text("request")? {
            "frames" => Request::Frames(self.number("amount") as u64),
            "seconds" => Request::Seconds(self.number("amount")),
            "boot" => Request::Boot,
            "close" => Request::Close,
            "input" => Request::Input(self.get("events")?.clone()),
            "reload" => Request::Reload { file: self.owned("file"), text: self.owned("text") },
            "fault" => Request::Fault(match self.text("fault")? {
                "disk full" => Some(Fault::DiskFull),
                "missing file" => Some(Fault::MissingFile(self.owned("file"))),
                "device lost" => Some(Fault::DeviceLost),
                _ => None,
            }),
            "screenshot" => {
                let tolerance = match self.get("tolerance") {
                    Some(Value::Number(number)) => *number,
                    _ => TOLERANCE,
                };
                let is_picture = self.get("picture") == Some(&Value::Boolean(true));
                let picture = is_picture.then_some(tolerance);
                Request::Screenshot(Wanted { name: self.owned("name"), picture })
            }
            _ => return None,
        })
    }

    fn failure(&self) -> Failure {
        let written = self.text("path").map(|_| self.place());
        let name = self.text("name").filter(|name| !name.is_empty());
        Failure {
            name: name.or(self.text("path")).unwrap_or("(no name)").to_string(),
            at: self.text("at").map(str::to_string).or(written),
            message: self.owned("message"),
            locals: self.list("locals"),
            trace: self.owned("trace"),
            hint: self.text("hint").map(str::to_string),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: &[(&str, &str)]) -> Value {
        let entry = |(key, value): &(&str, &str)| (key.to_string(), Value::Text(value.to_string()));
        Value::Table(entries.iter().map(entry).collect())
    }

    #[test]
    fn a_failed_test_has_its_failure_and_a_skipped_one_has_none() {
        let failed = table(&[("kind", "test"), ("status", "error"), ("name", "a"), ("at", "f:3")]);
        let Event::Test(TestResult { status: Status::Failed, failure: Some(failure), .. }) =
            Event::read(&failed).unwrap()
        else {
            panic!("{failed:?}");
        };
        assert_eq!((failure.name.as_str(), failure.at.as_deref()), ("a", Some("f:3")));
        let skipped = table(&[("kind", "test"), ("status", "pending")]);
        let Ok(Event::Test(test)) = Event::read(&skipped) else { panic!("{skipped:?}") };
        assert_eq!((test.status, test.failure), (Status::Skipped, None));
    }

    #[test]
    fn an_event_of_another_shape_is_a_fault_with_words() {
        let words = Event::read(&table(&[("kind", "request"), ("request", "x")])).unwrap_err();
        assert!(words.starts_with("the test library said something unknown"), "{words}");
        assert!(Event::read(&Value::Nil).is_err());
    }
}
