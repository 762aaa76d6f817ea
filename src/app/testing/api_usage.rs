//! API coverage: the number of calls and errors of each API function over all test files of a run.
//! The calls are counted by the dispatcher, the fast forms and lua/test/coverage.lua.

use crate::output_files;
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_script::{ErrorReport, ScriptValue, Vm};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Beginning of the message if the file cannot be written, followed by its name.
pub const WRITE_ERROR: &str = "the API's coverage cannot be written to";

/// Counts of one function.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct CallCounts {
    /// True for a row written in Rust, false for a function in the prelude's Lua.
    row: bool,
    parameters: u64,
    /// True if the function has a fast form, which compiled Lua calls directly.
    hot: bool,
    /// Number of calls through Lua's C interface.
    calls: u64,
    fast_calls: u64,
    errors: u64,
}

/// Counts of every function, by full name.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct ApiUsage(BTreeMap<String, CallCounts>);

impl ApiUsage {
    /// Adds the counts of one file's VM.
    pub fn add(&mut self, vm: &mut Vm) -> Result<(), Box<ErrorReport>> {
        for (module, func, [calls, fast_calls, errors]) in vm.usage() {
            let counts = self.0.entry(format!("{module}.{}", func.name)).or_default();
            counts.row = true;
            counts.parameters = func.params.len() as u64;
            counts.hot = func.fast.is_some();
            counts.calls += calls;
            counts.fast_calls += fast_calls;
            counts.errors += errors;
        }
        let counted = vm.call_core("calls_counted", &[], f64::INFINITY)?;
        let ScriptValue::List(functions) = counted else { return Ok(()) };
        for function in functions {
            let ScriptValue::Table(fields) = function else { continue };
            let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, v)| v);
            let number = |name: &str| match field(name) {
                Some(ScriptValue::Number(number)) => *number as u64,
                _ => 0,
            };
            let Some(ScriptValue::Text(name)) = field("name") else { continue };
            let counts = self.0.entry(name.clone()).or_default();
            counts.parameters = number("parameters");
            counts.calls += number("calls");
            counts.errors += number("errors");
        }
        Ok(())
    }

    /// Adds the counts of another process or file.
    pub fn merge(&mut self, other: ApiUsage) {
        for (name, more) in other.0 {
            let none = CallCounts { calls: 0, fast_calls: 0, errors: 0, ..more };
            let counts = self.0.entry(name).or_insert(none);
            counts.calls += more.calls;
            counts.fast_calls += more.fast_calls;
            counts.errors += more.errors;
        }
    }

    pub fn write(&self, writer: &mut BlobWriter) {
        let all: Vec<_> = self.0.iter().collect();
        writer.list(&all, |writer, (name, counts)| {
            writer.text(name);
            writer.u8(counts.row as u8 | (counts.hot as u8) << 1);
            let CallCounts { parameters, calls, fast_calls, errors, .. } = counts;
            for number in [parameters, calls, fast_calls, errors] {
                writer.u64(*number);
            }
        });
    }

    pub fn read(reader: &mut BlobReader) -> Result<ApiUsage, Error> {
        let all = reader.list(|reader| {
            let (name, flags) = (reader.text()?.to_string(), reader.u8()?);
            let (row, hot) = (flags & 1 != 0, flags & 2 != 0);
            let (parameters, calls) = (reader.u64()?, reader.u64()?);
            let (fast_calls, errors) = (reader.u64()?, reader.u64()?);
            Ok((name, CallCounts { row, parameters, hot, calls, fast_calls, errors }))
        })?;
        Ok(ApiUsage(all.into_iter().collect()))
    }

    /// Returns the counts as JSON: a list of objects under `functions`, sorted by name.
    pub fn json(&self) -> String {
        let mut text = String::from("{\"functions\": [");
        for (i, (name, counts)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let kind = if counts.row { "row" } else { "prelude" };
            let CallCounts { parameters, hot, calls, fast_calls, errors, .. } = counts;
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
        output_files::write(file, self.json().as_bytes()).map_err(|reason| {
            engine_foundation::error!("{WRITE_ERROR} '{}': {reason}", file.display())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_counts_are_written_as_lines_of_json() {
        let mut usage = ApiUsage::default();
        let counts =
            CallCounts { row: true, parameters: 2, calls: 1, errors: 0, ..CallCounts::default() };
        usage.0.insert("World.update".into(), counts);
        let mut more = ApiUsage::default();
        more.0.insert("World.update".into(), CallCounts { calls: 2, errors: 1, ..counts });
        usage.merge(more);
        let mut writer = BlobWriter::default();
        usage.write(&mut writer);
        assert_eq!(ApiUsage::read(&mut BlobReader::new(&writer.finish())).unwrap(), usage);
        assert_eq!(
            usage.json(),
            "{\"functions\": [\n  {\"name\": \"World.update\", \"kind\": \"row\", \"parameters\": \
             2, \"hot\": false, \"calls\": 3, \"fast_calls\": 0, \"errors\": 1}\n]}\n"
        );
    }
}
