//! Where an output is written: a terminal, a pipe, a file.

use std::io::{ErrorKind, Write};
use std::sync::{Arc, Mutex};

/// What was not written, of outputs that share it.
#[derive(Clone, Default)]
pub struct Loss(Arc<Mutex<Option<String>>>);

impl Loss {
    /// Why something is missing, if it is. A pipe that somebody closed is no loss.
    pub fn reason(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(|poison| poison.into_inner()).clone()
    }

    fn note(&self, written: std::io::Result<()>) {
        let lost = written.err().filter(|reason| reason.kind() != ErrorKind::BrokenPipe);
        if let Some(reason) = lost {
            let mut kept = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
            kept.get_or_insert_with(|| reason.to_string());
        }
    }
}

/// Something to write on.
pub struct Paper {
    out: Box<dyn Write>,
    loss: Loss,
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
        Paper { out, loss: Loss::default(), colour, live }
    }

    /// Has what is not written noted.
    pub fn noting(self, loss: &Loss) -> Paper {
        Paper { loss: loss.clone(), ..self }
    }

    pub fn text(&mut self, text: &str) {
        let written = self.out.write_all(text.as_bytes());
        self.loss.note(written);
    }

    pub fn line(&mut self, text: &str) {
        self.text(&format!("{text}\n"));
    }

    /// Has everything seen now.
    pub fn flush(&mut self) {
        let written = self.out.flush();
        self.loss.note(written);
    }

    pub fn paint(&self, colour: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{colour}m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }
}
