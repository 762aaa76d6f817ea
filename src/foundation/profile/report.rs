//! The profiler's rows as a table of text, and the interface through which anything else can have
//! them. After the profiler of Enginuity part 3 (Richard Fine).

use super::tree::Row;

/// What is given the rows of a frame, in their order.
pub trait Handler {
    fn begin_output(&mut self);
    fn sample(&mut self, row: &Row);
    fn end_output(&mut self);
}

/// Hands rows to a handler.
pub fn output(rows: &[Row], handler: &mut dyn Handler) {
    handler.begin_output();
    for row in rows {
        handler.sample(row);
    }
    handler.end_output();
}

/// The handler that writes the table.
#[derive(Default)]
pub struct Text(pub String);

impl Text {
    fn line(&mut self, [min, average, max, calls, name]: [&str; 5]) {
        self.0 += &format!("{min:>5} : {average:>5} : {max:>5} : {calls:>3} : {name}\n");
    }
}

impl Handler for Text {
    fn begin_output(&mut self) {
        self.0 += "  Min :   Avg :   Max :   # : Profile Name\n";
        self.0 += "--------------------------------------------\n";
    }

    fn sample(&mut self, row: &Row) {
        let percent = |share: f64| format!("{share:3.1}");
        let name = format!("{}{}", " ".repeat(row.parents as usize), row.name);
        let (min, average, max) = (percent(row.min), percent(row.average), percent(row.max));
        self.line([&min, &average, &max, &format!("{:3}", row.calls), &name]);
    }

    fn end_output(&mut self) {
        self.0 += "\n";
    }
}

/// The tables of all threads that did something: that of the one that plays the frames, then each
/// other's below its name.
pub fn report() -> String {
    let mut text = Text::default();
    for (at, thread) in super::threads().iter().enumerate() {
        if at > 0 && thread.rows.is_empty() {
            continue;
        }
        if at > 0 {
            text.0 += &format!("{}:\n", thread.name);
        }
        output(&thread.rows, &mut text);
    }
    let lost = super::lost();
    if lost > 0 {
        text.0 += &format!("{lost} scopes were left out: they lay too deep, or were too many\n");
    }
    text.0
}
