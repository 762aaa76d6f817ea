//! The clipboard: the desktop's, or one of the game's own where runs must be equal or there is no
//! desktop.

use crate::foundation::fault;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

/// How long a game waits for the program that has the clipboard. Most answer within a millisecond;
/// one that hangs would hold the game for as long.
const PATIENCE: Duration = Duration::from_millis(500);

/// The most bytes that are put there or taken from there.
pub const CLIPBOARD_BYTES_MAX: usize = 16 << 20;

/// A clipboard.
pub enum Clipboard {
    /// Nobody else sees it.
    Own(String),
    /// The desktop's, not opened yet.
    Desktop,
    Open(Opened),
}

/// The desktop's clipboard.
pub struct Opened {
    clipboard: arboard::Clipboard,
    /// What a program was asked for that has not answered yet.
    asked: Option<Receiver<Result<String, arboard::Error>>>,
}

impl Default for Clipboard {
    fn default() -> Clipboard {
        Clipboard::Own(String::new())
    }
}

impl Clipboard {
    fn open(&mut self) -> Result<(), String> {
        if matches!(self, Clipboard::Desktop) {
            let clipboard = arboard::Clipboard::new().map_err(|reason| words(&reason))?;
            *self = Clipboard::Open(Opened { clipboard, asked: None });
        }
        Ok(())
    }

    /// The text that is there, "" where it is none; the words where the desktop refuses.
    pub fn text(&mut self) -> Result<String, String> {
        self.open()?;
        let text = match self {
            Clipboard::Own(text) => return Ok(text.clone()),
            Clipboard::Open(opened) => match opened.ask() {
                Some(Ok(text)) => text,
                Some(Err(arboard::Error::ContentNotAvailable)) => String::new(),
                Some(Err(reason)) => return Err(words(&reason)),
                None => {
                    let what = "the program that has put something there does not answer";
                    return Err(format!("the clipboard cannot be used: {what}"));
                }
            },
            Clipboard::Desktop => unreachable!("it was opened"),
        };
        match text.len() > CLIPBOARD_BYTES_MAX {
            true => Err(format!("there are more than {} MiB in it", CLIPBOARD_BYTES_MAX >> 20)),
            false => Ok(text),
        }
    }

    /// Puts a text there.
    pub fn set_text(&mut self, text: &str) -> Result<(), String> {
        self.open()?;
        match self {
            Clipboard::Own(own) => *own = text.to_string(),
            Clipboard::Open(Opened { clipboard, .. }) => {
                clipboard.set_text(text).map_err(|reason| words(&reason))?;
            }
            Clipboard::Desktop => unreachable!("it was opened"),
        }
        Ok(())
    }
}

impl Opened {
    /// The text that is there, as the desktop gives it; none where nobody answers in time. What is
    /// asked for is waited for by a thread, which ends when the desktop's own patience does.
    fn ask(&mut self) -> Option<Result<String, arboard::Error>> {
        if cfg!(any(windows, target_os = "macos")) {
            // The desktop itself keeps the text there.
            return Some(self.clipboard.get_text());
        }
        if let Some(asked) = &self.asked
            && matches!(asked.try_recv(), Err(TryRecvError::Empty))
        {
            return None;
        }
        let (send, answer) = channel();
        let read = move || {
            let text = arboard::Clipboard::new().and_then(|mut clipboard| clipboard.get_text());
            // The game may have ended meanwhile.
            let _ = send.send(text);
        };
        let thread = fault::spawn("clipboard", read);
        if thread.is_err() {
            return Some(self.clipboard.get_text());
        }
        match answer.recv_timeout(PATIENCE) {
            Ok(text) => Some(text),
            Err(_) => {
                self.asked = Some(answer);
                None
            }
        }
    }
}

fn words(reason: &arboard::Error) -> String {
    let what = match reason {
        arboard::Error::ConversionFailure => "what is there is no text that can be read (UTF-8)",
        _ => return format!("the clipboard cannot be used: {reason}"),
    };
    format!("the clipboard cannot be used: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_games_own_clipboard_gives_back_what_was_put_there() {
        let mut clipboard = Clipboard::default();
        assert_eq!(clipboard.text(), Ok(String::new()));
        clipboard.set_text("käse").unwrap();
        assert_eq!(clipboard.text(), Ok("käse".to_string()));
    }
}
