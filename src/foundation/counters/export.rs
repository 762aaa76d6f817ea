//! The values of all counters in all frames of a run, as a CSV or JSON table.

use super::registry::name_of;
use crate::json::quoted;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Maximum number of nonzero values that are kept: 15 minutes at 60 frames per second for 300
/// counters.
pub const EXPORT_VALUES_MAX: usize = 1 << 24;

/// The file format of an exported table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExportFormat {
    /// One row for each frame, one column for each counter.
    Csv,
    /// An object with one array for each counter: `{"frames": 300, "counters": {"name":
    /// [values]}}`.
    Json,
}

impl ExportFormat {
    /// Returns the format for a file's extension.
    pub fn of(file: &str) -> Option<ExportFormat> {
        match file.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "csv" => Some(ExportFormat::Csv),
            "json" => Some(ExportFormat::Json),
            _ => None,
        }
    }
}

#[derive(Default)]
pub struct CounterExport {
    /// Index in `values` of each frame's first value.
    frames: Vec<u32>,
    values: Vec<(u32, f64)>,
    /// Number of frames that did not fit.
    dropped: u64,
}

/// Formats a number for both formats. NaN and infinities become an empty string.
fn format_value(value: f64) -> String {
    if value.is_finite() { format!("{value}") } else { String::new() }
}

impl CounterExport {
    /// Records the values of a frame.
    pub fn record_frame(&mut self, newest: &[f64]) {
        if self.values.len() + newest.len() > EXPORT_VALUES_MAX {
            self.dropped += 1;
            return;
        }
        self.frames.push(self.values.len() as u32);
        let nonzero = newest.iter().enumerate().filter(|(_, value)| **value != 0.0);
        self.values.extend(nonzero.map(|(number, value)| (number as u32, *value)));
    }

    fn frame(&self, at: usize) -> &[(u32, f64)] {
        let end = self.frames.get(at + 1).map_or(self.values.len(), |end| *end as usize);
        &self.values[self.frames[at] as usize..end]
    }

    /// Returns the table, and the number of frames that are missing from it.
    pub fn write(&self, form: ExportFormat) -> (String, u64) {
        // Columns are sorted by name. The order of counter numbers differs between runs if a
        // program counts on several threads.
        let mut columns = BTreeMap::new();
        for (number, _) in &self.values {
            columns.entry(name_of(*number)).or_insert(*number);
        }
        let text = match form {
            ExportFormat::Csv => self.csv(&columns),
            ExportFormat::Json => self.json(&columns),
        };
        (text, self.dropped)
    }

    fn csv(&self, columns: &BTreeMap<&str, u32>) -> String {
        let quoted = |name: &&str| {
            // Spreadsheet programs would read these names as formulas.
            let mark = if name.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
            match name.contains([',', '"']) {
                true => format!("\"{mark}{}\"", name.replace('"', "\"\"")),
                false => format!("{mark}{name}"),
            }
        };
        let names: Vec<_> = columns.keys().map(quoted).collect();
        let mut text =
            format!("frame{}\n", names.iter().map(|it| format!(",{it}")).collect::<String>());
        let mut column_of = BTreeMap::new();
        for (at, number) in columns.values().enumerate() {
            column_of.insert(*number, at);
        }
        for at in 0..self.frames.len() {
            let mut row = vec![0.0; columns.len()];
            for (number, value) in self.frame(at) {
                row[column_of[number]] = *value;
            }
            write!(text, "{}", at + 1).expect("a string can be written to");
            for value in row {
                write!(text, ",{}", format_value(value)).expect("a string can be written to");
            }
            text.push('\n');
        }
        text
    }

    fn json(&self, columns: &BTreeMap<&str, u32>) -> String {
        let mut series: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for at in 0..self.frames.len() {
            for (number, value) in self.frame(at) {
                let series = series.entry(*number).or_default();
                series.resize(at, 0.0);
                series.push(*value);
            }
        }
        let each = columns.iter().map(|(name, number)| {
            let mut values = series.remove(number).unwrap_or_default();
            values.resize(self.frames.len(), 0.0);
            let cells = values.iter().map(|value| format_value(*value));
            let cells: Vec<_> =
                cells.map(|word| if word.is_empty() { "null".into() } else { word }).collect();
            format!("{}: [{}]", quoted(name), cells.join(", "))
        });
        let each: Vec<_> = each.collect();
        format!(
            "{{\"frames\": {}, \"counters\": {{\n{}\n}}}}\n",
            self.frames.len(),
            each.join(",\n")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::counter;

    fn example() -> CounterExport {
        let (a, b) = (counter("tests/export a").unwrap(), counter("tests/export, \"b\"").unwrap());
        let mut export = CounterExport::default();
        let mut frame = vec![0.0; a.max(b) as usize + 1];
        for values in [[1.0, 0.0], [0.0, 2.5], [f64::NAN, 0.0]] {
            (frame[a as usize], frame[b as usize]) = (values[0], values[1]);
            export.record_frame(&frame);
        }
        export
    }

    #[test]
    fn csv_has_a_row_per_frame_and_a_column_per_counter() {
        let (text, dropped) = example().write(ExportFormat::Csv);
        let expected = "frame,tests/export a,\"tests/export, \"\"b\"\"\"\n1,1,0\n2,0,2.5\n3,,0\n";
        assert_eq!((text.as_str(), dropped), (expected, 0));
    }

    #[test]
    fn csv_never_contains_a_name_that_is_a_formula() {
        let columns = ["=1+1", "@a, b", "a=b"].into_iter().zip([1, 2, 3]).collect();
        assert_eq!(CounterExport::default().csv(&columns), "frame,'=1+1,\"'@a, b\",a=b\n");
    }

    #[test]
    fn json_has_an_array_per_counter() {
        let expected = "{\"frames\": 3, \"counters\": {\n\"tests/export a\": [1, 0, null],\n\
                        \"tests/export, \\\"b\\\"\": [0, 2.5, 0]\n}}\n";
        assert_eq!(example().write(ExportFormat::Json).0, expected);
    }

    #[test]
    fn the_file_extension_selects_the_format() {
        assert_eq!(
            (ExportFormat::of("a.csv"), ExportFormat::of("b.JSON")),
            (Some(ExportFormat::Csv), Some(ExportFormat::Json))
        );
        assert_eq!((ExportFormat::of("a"), ExportFormat::of("a.txt")), (None, None));
    }
}
