//! Sink for an output: a terminal, a pipe or a file.

use std::io::{ErrorKind, Write};
use std::sync::{Arc, Mutex};

/// First write error of the outputs that share this value.
#[derive(Clone, Default)]
pub struct OutputFailure(Arc<Mutex<Option<String>>>);

impl OutputFailure {
    /// Returns the reason why output is missing, if any is. A closed pipe does not count.
    pub fn reason(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(|poison| poison.into_inner()).clone()
    }

    fn record(&self, written: std::io::Result<()>) {
        let lost = written.err().filter(|reason| reason.kind() != ErrorKind::BrokenPipe);
        if let Some(reason) = lost {
            let mut kept = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
            kept.get_or_insert_with(|| reason.to_string());
        }
    }
}

/// Destination of an output's text.
pub struct OutputSink {
    out: Box<dyn Write>,
    loss: OutputFailure,
    colour: bool,
    /// True on a terminal, where lines may be overwritten.
    pub live: bool,
}

pub const RED: &str = "31";
pub const GREEN: &str = "32";
pub const YELLOW: &str = "33";
pub const GREY: &str = "90";

impl OutputSink {
    pub fn new(out: Box<dyn Write>, colour: bool, live: bool) -> OutputSink {
        OutputSink { out, loss: OutputFailure::default(), colour, live }
    }

    /// Sets the value in which write errors are noted.
    pub fn with_loss(self, loss: &OutputFailure) -> OutputSink {
        OutputSink { loss: loss.clone(), ..self }
    }

    pub fn text(&mut self, text: &str) {
        let written = self.out.write_all(text.as_bytes());
        self.loss.record(written);
    }

    pub fn line(&mut self, text: &str) {
        self.text(&format!("{text}\n"));
    }

    /// Flushes all text written so far.
    pub fn flush(&mut self) {
        let written = self.out.flush();
        self.loss.record(written);
    }

    pub fn paint(&self, colour: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{colour}m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }
}
