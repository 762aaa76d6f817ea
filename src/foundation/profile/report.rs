//! The profiler's rows as a text table, and the interface for other output formats. After the
//! profiler of Enginuity part 3 (Richard Fine).

use super::tree::ProfileRow;

/// A visitor that receives the rows of a frame, in order.
pub trait RowVisitor {
    fn begin_output(&mut self);
    fn sample(&mut self, row: &ProfileRow);
    fn end_output(&mut self);
}

/// Passes rows to a visitor.
pub fn output(rows: &[ProfileRow], visitor: &mut dyn RowVisitor) {
    visitor.begin_output();
    for row in rows {
        visitor.sample(row);
    }
    visitor.end_output();
}

/// A visitor that formats the rows as a text table.
#[derive(Default)]
pub struct TextReport(pub String);

impl TextReport {
    fn line(&mut self, [min, average, max]: [f64; 3], [average_ms, max_ms]: [f64; 2], rest: &str) {
        self.0 += &format!(
            "{min:>5.1} : {average:>5.1} : {max:>5.1} : {average_ms:>8.3} : {max_ms:>8.3} : \
             {rest}\n"
        );
    }
}

impl RowVisitor for TextReport {
    fn begin_output(&mut self) {
        self.0 += "Min % : Avg % : Max % :   Avg ms :   Max ms :   # : Profile Name\n";
        self.0 += "----------------------------------------------------------------\n";
    }

    fn sample(&mut self, row: &ProfileRow) {
        let name = format!("{}{}", " ".repeat(row.parents as usize), row.name);
        let milliseconds = [row.average_seconds, row.max_seconds].map(|seconds| seconds * 1e3);
        let rest = format!("{:>3} : {name}", row.calls);
        self.line([row.min, row.average, row.max], milliseconds, &rest);
    }

    fn end_output(&mut self) {
        self.0 += "\n";
    }
}

/// Returns the tables of all active threads. The table of the thread that plays the frames comes
/// first. The others follow, each below its thread's name.
pub fn report() -> String {
    let mut text = TextReport::default();
    for (at, thread) in super::threads().iter().enumerate() {
        if at > 0 && thread.rows.is_empty() {
            continue;
        }
        if at > 0 {
            text.0 += &format!("{}:\n", thread.name);
        }
        output(&thread.rows, &mut text);
    }
    let lost = super::dropped_scopes();
    if lost > 0 {
        text.0 +=
            &format!("{lost} scopes were ignored: they were nested too deep, or were too many\n");
    }
    text.0
}
