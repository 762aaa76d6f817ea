//! Clipboard: that of the desktop, or a private one if runs must be reproducible or there is no
//! desktop.

use engine_foundation::panic;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

/// Maximum time that a game waits for the program that owns the clipboard. Most programs answer
/// within a millisecond; one that hangs would block the game for as long.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Maximum number of bytes that are written to the clipboard or read from it.
pub const CLIPBOARD_BYTES_MAX: usize = 16 << 20;

/// Clipboard of the desktop or of the game.
pub enum Clipboard {
    /// Private clipboard that no other program sees.
    Own(String),
    /// Clipboard of the desktop, not opened yet.
    Desktop,
    Open(DesktopClipboard),
}

/// Opened clipboard of the desktop.
pub struct DesktopClipboard {
    clipboard: arboard::Clipboard,
    /// Request that a program has not answered yet.
    pending_answer: Option<Receiver<Result<String, arboard::Error>>>,
}

impl Default for Clipboard {
    fn default() -> Clipboard {
        Clipboard::Own(String::new())
    }
}

impl Clipboard {
    fn open(&mut self) -> Result<(), String> {
        if matches!(self, Clipboard::Desktop) {
            let clipboard = arboard::Clipboard::new().map_err(|reason| error_message(&reason))?;
            *self = Clipboard::Open(DesktopClipboard { clipboard, pending_answer: None });
        }
        Ok(())
    }

    /// Returns the text in the clipboard, "" if it contains none, or the desktop's reason if it
    /// refuses.
    pub fn text(&mut self) -> Result<String, String> {
        self.open()?;
        let text = match self {
            Clipboard::Own(text) => return Ok(text.clone()),
            Clipboard::Open(opened) => match opened.read_desktop() {
                Some(Ok(text)) => text,
                Some(Err(arboard::Error::ContentNotAvailable)) => String::new(),
                Some(Err(reason)) => return Err(error_message(&reason)),
                None => {
                    let explanation = "the program that owns its content does not answer";
                    return Err(format!("the clipboard cannot be used: {explanation}"));
                }
            },
            Clipboard::Desktop => unreachable!("it was opened"),
        };
        match text.len() > CLIPBOARD_BYTES_MAX {
            true => Err(format!("there are more than {} MiB in it", CLIPBOARD_BYTES_MAX >> 20)),
            false => Ok(text),
        }
    }

    /// Puts a text into the clipboard.
    pub fn set_text(&mut self, text: &str) -> Result<(), String> {
        self.open()?;
        match self {
            Clipboard::Own(own) => *own = text.to_string(),
            Clipboard::Open(DesktopClipboard { clipboard, .. }) => {
                clipboard.set_text(text).map_err(|reason| error_message(&reason))?;
            }
            Clipboard::Desktop => unreachable!("it was opened"),
        }
        Ok(())
    }
}

impl DesktopClipboard {
    /// Returns the desktop's answer, or `None` if no program answers in time. A separate thread
    /// waits for the answer and ends when the desktop's own timeout does.
    fn read_desktop(&mut self) -> Option<Result<String, arboard::Error>> {
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

fn error_message(reason: &arboard::Error) -> String {
    let explanation = match reason {
        arboard::Error::ConversionFailure => "its content is not readable text (UTF-8)",
        _ => return format!("the clipboard cannot be used: {reason}"),
    };
    format!("the clipboard cannot be used: {explanation}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_games_own_clipboard_returns_the_copied_text() {
        let mut clipboard = Clipboard::default();
        assert_eq!(clipboard.text(), Ok(String::new()));
        clipboard.set_text("käse").unwrap();
        assert_eq!(clipboard.text(), Ok("käse".to_string()));
    }
}
