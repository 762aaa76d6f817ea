//! The clipboard of the desktop. Other programs own its content, and some do not answer.

use arboard::Error;
use engine_foundation::panic;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

/// Maximum time that a game waits for the program that owns the clipboard. Most programs answer
/// within a millisecond; one that hangs would block the game for as long.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Opened clipboard of the desktop.
pub struct DesktopClipboard {
    clipboard: arboard::Clipboard,
    /// Request that a program has not answered yet.
    pending_answer: Option<Receiver<Result<String, Error>>>,
}

impl DesktopClipboard {
    /// Opens the clipboard, or returns the desktop's reason.
    pub fn open() -> Result<DesktopClipboard, String> {
        let clipboard = arboard::Clipboard::new().map_err(|reason| error_message(&reason))?;
        Ok(DesktopClipboard { clipboard, pending_answer: None })
    }

    /// Returns the text in the clipboard, "" if it contains none, or the desktop's reason if it
    /// refuses.
    pub fn text(&mut self) -> Result<String, String> {
        match self.read_desktop() {
            Some(Ok(text)) => Ok(text),
            Some(Err(Error::ContentNotAvailable)) => Ok(String::new()),
            Some(Err(reason)) => Err(error_message(&reason)),
            None => {
                let explanation = "the program that owns its content does not answer";
                Err(format!("the clipboard cannot be used: {explanation}"))
            }
        }
    }

    /// Puts a text into the clipboard.
    pub fn set_text(&mut self, text: &str) -> Result<(), String> {
        self.clipboard.set_text(text).map_err(|reason| error_message(&reason))
    }

    /// Returns the desktop's answer, or `None` if no program answers in time. A separate thread
    /// waits for the answer and ends when the desktop's own timeout does.
    fn read_desktop(&mut self) -> Option<Result<String, Error>> {
        if cfg!(any(windows, target_os = "macos")) {
            // The desktop itself stores the text on these systems.
            return Some(self.clipboard.get_text());
        }
        if let Some(pending_answer) = &self.pending_answer
            && matches!(pending_answer.try_recv(), Err(TryRecvError::Empty))
        {
            return None;
        }
        let (send, answer) = channel();
        let read = move || {
            let text = arboard::Clipboard::new().and_then(|mut clipboard| clipboard.get_text());
            // The receiver may be gone if the game has ended.
            let _ = send.send(text);
        };
        let thread = panic::spawn("clipboard", read);
        if thread.is_err() {
            return Some(self.clipboard.get_text());
        }
        match answer.recv_timeout(TIMEOUT) {
            Ok(text) => Some(text),
            Err(_) => {
                self.pending_answer = Some(answer);
                None
            }
        }
    }
}

fn error_message(reason: &Error) -> String {
    let explanation = match reason {
        Error::ConversionFailure => "its content is not readable text (UTF-8)",
        _ => return format!("the clipboard cannot be used: {reason}"),
    };
    format!("the clipboard cannot be used: {explanation}")
}
