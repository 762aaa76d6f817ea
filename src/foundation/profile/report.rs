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
    fn line(&mut self, [min, average, max, calls, name]: [&str; 5]) {
        self.0 += &format!("{min:>5} : {average:>5} : {max:>5} : {calls:>3} : {name}\n");
    }
}

impl RowVisitor for TextReport {
    fn begin_output(&mut self) {
        self.0 += "  Min :   Avg :   Max :   # : Profile Name\n";
        self.0 += "--------------------------------------------\n";
    }

    fn sample(&mut self, row: &ProfileRow) {
        let percent = |share: f64| format!("{share:3.1}");
        let name = format!("{}{}", " ".repeat(row.parents as usize), row.name);
        let (min, average, max) = (percent(row.min), percent(row.average), percent(row.max));
        self.line([&min, &average, &max, &format!("{:3}", row.calls), &name]);
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
