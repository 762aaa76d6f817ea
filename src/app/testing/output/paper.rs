//! Where an output is written: a terminal, a pipe, a file.

use std::io::Write;

/// Something to write on.
pub struct Paper {
    out: Box<dyn Write>,
    colour: bool,
    /// Someone watches: lines may be written over.
    pub live: bool,
}

pub const RED: &str = "31";
pub const GREEN: &str = "32";
pub const YELLOW: &str = "33";
pub const GREY: &str = "90";

impl Paper {
    pub fn new(out: Box<dyn Write>, colour: bool, live: bool) -> Paper {
        Paper { out, colour, live }
    }

    /// A closed pipe takes the words along, and the run still has its exit code.
    pub fn text(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes());
    }

    pub fn line(&mut self, text: &str) {
        self.text(&format!("{text}\n"));
    }

    /// Has everything seen now.
    pub fn flush(&mut self) {
        let _ = self.out.flush();
    }

    pub fn paint(&self, colour: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{colour}m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }
}
