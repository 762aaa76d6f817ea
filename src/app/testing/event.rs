//! What a step of a suite says, read from the plain data that lua/test/engine.lua makes.

use crate::script::Value;

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Passed,
    Failed,
    Skipped,
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

/// What a test asks the driver for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Request {
    Frames(u64),
    Seconds(f64),
    Boot,
}

/// One step's news.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Test {
        status: Status,
        failure: Option<Failure>,
    },
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
            return Ok(Event::Test { status: Status::Passed, failure: None });
        }
        let fields = Fields(value);
        let request = |kind: &str| match kind {
            "frames" => Some(Request::Frames(fields.number("amount") as u64)),
            "seconds" => Some(Request::Seconds(fields.number("amount"))),
            "boot" => Some(Request::Boot),
            _ => None,
        };
        let event = match fields.text("kind").unwrap_or_default() {
            "test" => Some(Event::test(&fields)),
            "listed" => Some(Event::Listed { at: fields.place(), name: fields.owned("name") }),
            "file_error" | "hook_error" => Some(Event::Error(fields.failure())),
            "request" => fields.text("request").and_then(request).map(Event::Request),
            "done" => Some(Event::Done),
            _ => None,
        };
        event.ok_or_else(|| format!("the test library said something unknown: {value:?}"))
    }

    fn test(fields: &Fields) -> Event {
        let skipped = fields.text("status") == Some("pending");
        let status = if skipped { Status::Skipped } else { Status::Failed };
        let failure = (status == Status::Failed).then(|| fields.failure());
        Event::Test { status, failure }
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

    /// Where the test or hook was written.
    fn place(&self) -> String {
        format!("{}:{}", self.owned("path"), self.number("line"))
    }

    fn failure(&self) -> Failure {
        let locals = match self.get("locals") {
            Some(Value::List(locals)) => locals.iter(),
            _ => [].iter(),
        };
        let locals = locals.filter_map(|local| match local {
            Value::Text(local) => Some(local.clone()),
            _ => None,
        });
        let written = self.text("path").map(|_| self.place());
        let name = self.text("name").filter(|name| !name.is_empty());
        Failure {
            name: name.or(self.text("path")).unwrap_or("(no name)").to_string(),
            at: self.text("at").map(str::to_string).or(written),
            message: self.owned("message"),
            locals: locals.collect(),
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
        let Event::Test { status: Status::Failed, failure: Some(failure) } =
            Event::read(&failed).unwrap()
        else {
            panic!("{failed:?}");
        };
        assert_eq!((failure.name.as_str(), failure.at.as_deref()), ("a", Some("f:3")));
        let skipped = table(&[("kind", "test"), ("status", "pending")]);
        let wanted = Event::Test { status: Status::Skipped, failure: None };
        assert_eq!(Event::read(&skipped), Ok(wanted));
    }

    #[test]
    fn an_event_of_another_shape_is_a_fault_with_words() {
        let words = Event::read(&table(&[("kind", "request"), ("request", "x")])).unwrap_err();
        assert!(words.starts_with("the test library said something unknown"), "{words}");
        assert!(Event::read(&Value::Nil).is_err());
    }
}
