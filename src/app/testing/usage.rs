//! How often each function of the API was called over all test files of a run, and how often it
//! raised. Counting is the dispatcher's, the fast forms' and lua/test/coverage.lua's.

use crate::app::output_files;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::script::{Report, Value, Vm};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// What is said where the file cannot be written, before its name.
pub const FAULT: &str = "the API's coverage cannot be written to";

/// One function's figures.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Figures {
    /// Written in Rust, as a row; otherwise in the prelude's Lua.
    row: bool,
    parameters: u64,
    /// Has a form that compiled Lua calls directly.
    hot: bool,
    /// Through Lua's own interface.
    calls: u64,
    fast_calls: u64,
    errors: u64,
}

/// The figures of every function, by its full name.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Usage(BTreeMap<String, Figures>);

impl Usage {
    /// Adds what one file's VM counted.
    pub fn add(&mut self, vm: &mut Vm) -> Result<(), Box<Report>> {
        for (module, func, [calls, fast_calls, errors]) in vm.usage() {
            let figures = self.0.entry(format!("{module}.{}", func.name)).or_default();
            figures.row = true;
            figures.parameters = func.params.len() as u64;
            figures.hot = func.fast.is_some();
            figures.calls += calls;
            figures.fast_calls += fast_calls;
            figures.errors += errors;
        }
        let counted = vm.call_core("calls_counted", &[], f64::INFINITY)?;
        let Value::List(functions) = counted else { return Ok(()) };
        for function in functions {
            let Value::Table(fields) = function else { continue };
            let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, v)| v);
            let number = |name: &str| match field(name) {
                Some(Value::Number(number)) => *number as u64,
                _ => 0,
            };
            let Some(Value::Text(name)) = field("name") else { continue };
            let figures = self.0.entry(name.clone()).or_default();
            figures.parameters = number("parameters");
            figures.calls += number("calls");
            figures.errors += number("errors");
        }
        Ok(())
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: Usage) {
        for (name, more) in other.0 {
            let none = Figures { calls: 0, fast_calls: 0, errors: 0, ..more };
            let figures = self.0.entry(name).or_insert(none);
            figures.calls += more.calls;
            figures.fast_calls += more.fast_calls;
            figures.errors += more.errors;
        }
    }

    pub fn write(&self, writer: &mut Writer) {
        let all: Vec<_> = self.0.iter().collect();
        writer.list(&all, |writer, (name, figures)| {
            writer.text(name);
            writer.u8(figures.row as u8 | (figures.hot as u8) << 1);
            let Figures { parameters, calls, fast_calls, errors, .. } = figures;
            for number in [parameters, calls, fast_calls, errors] {
                writer.u64(*number);
            }
        });
    }

    pub fn read(reader: &mut Reader) -> Result<Usage, Error> {
        let all = reader.list(|reader| {
            let (name, flags) = (reader.text()?.to_string(), reader.u8()?);
            let (row, hot) = (flags & 1 != 0, flags & 2 != 0);
            let (parameters, calls) = (reader.u64()?, reader.u64()?);
            let (fast_calls, errors) = (reader.u64()?, reader.u64()?);
            Ok((name, Figures { row, parameters, hot, calls, fast_calls, errors }))
        })?;
        Ok(Usage(all.into_iter().collect()))
    }

    /// The figures as JSON: a list of objects under `functions`, sorted by name.
    pub fn json(&self) -> String {
        let mut text = String::from("{\"functions\": [");
        for (i, (name, figures)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let kind = if figures.row { "row" } else { "prelude" };
            let Figures { parameters, hot, calls, fast_calls, errors, .. } = figures;
            write!(
                text,
                "{comma}\n  {{\"name\": \"{name}\", \"kind\": \"{kind}\", \
                 \"parameters\": {parameters}, \"hot\": {hot}, \"calls\": {calls}, \
                 \"fast_calls\": {fast_calls}, \"errors\": {errors}}}"
            )
            .expect("a string can be written to");
        }
        text + "\n]}\n"
    }

    /// Writes the JSON to a file.
    pub fn write_json(&self, file: &Path) -> Result<(), Error> {
        output_files::write(file, self.json().as_bytes())
            .map_err(|reason| crate::error!("{FAULT} '{}': {reason}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_a_line_of_json_each() {
        let mut usage = Usage::default();
        let figures =
            Figures { row: true, parameters: 2, calls: 1, errors: 0, ..Figures::default() };
        usage.0.insert("World.update".into(), figures);
        let mut more = Usage::default();
        more.0.insert("World.update".into(), Figures { calls: 2, errors: 1, ..figures });
        usage.merge(more);
        let mut writer = Writer::default();
        usage.write(&mut writer);
        assert_eq!(Usage::read(&mut Reader::new(&writer.finish())).unwrap(), usage);
        assert_eq!(
            usage.json(),
            "{\"functions\": [\n  {\"name\": \"World.update\", \"kind\": \"row\", \"parameters\": \
             2, \"hot\": false, \"calls\": 3, \"fast_calls\": 0, \"errors\": 1}\n]}\n"
        );
    }
}
