//! Lines and columns as the editor counts them. Those of the adapter and the game begin at 1.

use engine_foundation::sjson::SjsonTree;

/// How the editor counts: from 1, as the protocol says, unless it asks for 0.
#[derive(Default)]
pub struct Positions {
    lines_from_zero: bool,
    columns_from_zero: bool,
}

impl Positions {
    /// Returns how an editor counts, from the arguments of `initialize`.
    pub fn of_editor(arguments: &SjsonTree) -> Positions {
        let is_off = |key: &str| arguments.get(key) == Some(&SjsonTree::Bool(false));
        Positions {
            lines_from_zero: is_off("linesStartAt1"),
            columns_from_zero: is_off("columnsStartAt1"),
        }
    }

    /// Converts the arguments of a request.
    pub fn read_request(&self, arguments: &mut SjsonTree) {
        self.shift(arguments, 1.0);
    }

    /// Converts the body of a response or an event.
    pub fn write_message(&self, body: &mut SjsonTree) {
        self.shift(body, -1.0);
    }

    fn shift(&self, tree: &mut SjsonTree, by: f64) {
        if !self.lines_from_zero && !self.columns_from_zero {
            return;
        }
        match tree {
            SjsonTree::Array(items) => items.iter_mut().for_each(|item| self.shift(item, by)),
            SjsonTree::Object(entries) => {
                for (key, value) in entries {
                    let is_counted = match key.as_str() {
                        "line" | "endLine" => self.lines_from_zero,
                        "column" | "endColumn" => self.columns_from_zero,
                        _ => false,
                    };
                    match value {
                        // A function without a file has the line 0.
                        SjsonTree::Number(number) if is_counted => {
                            *number = (*number + by).max(0.0)
                        }
                        _ => self.shift(value, by),
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::json;

    #[test]
    fn lines_and_columns_begin_where_the_editor_wants() {
        let read = |text: &str| json::read(text).expect("JSON");
        let body = r#"{"frames": [{"line": 3, "column": 1, "name": "line"}, {"line": 0}],
            "range": {"line": 4, "endLine": 5, "endColumn": 9}, "count": 2}"#;
        let check = |arguments: &str, wanted: &str| {
            let positions = Positions::of_editor(&read(arguments));
            let mut shifted = read(body);
            positions.write_message(&mut shifted);
            assert_eq!(shifted, read(wanted), "{arguments}");
        };
        check("{}", body);
        check(r#"{"linesStartAt1": true, "columnsStartAt1": 0}"#, body);
        let wanted = r#"{"frames": [{"line": 2, "column": 0, "name": "line"}, {"line": 0}],
            "range": {"line": 3, "endLine": 4, "endColumn": 8}, "count": 2}"#;
        check(r#"{"linesStartAt1": false, "columnsStartAt1": false}"#, wanted);
        let wanted = r#"{"frames": [{"line": 2, "column": 1, "name": "line"}, {"line": 0}],
            "range": {"line": 3, "endLine": 4, "endColumn": 9}, "count": 2}"#;
        check(r#"{"linesStartAt1": false}"#, wanted);
        let mut arguments = read(r#"{"breakpoints": [{"line": 0}, {"line": "x"}], "column": 4}"#);
        let positions = Positions::of_editor(&read(r#"{"linesStartAt1": false}"#));
        positions.read_request(&mut arguments);
        let wanted = read(r#"{"breakpoints": [{"line": 1}, {"line": "x"}], "column": 4}"#);
        assert_eq!(arguments, wanted);
    }
}
