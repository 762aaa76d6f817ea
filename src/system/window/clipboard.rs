//! Clipboard: that of the desktop, or a private one if runs must be reproducible or there is no
//! desktop.

use super::DesktopClipboard;

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

impl Default for Clipboard {
    fn default() -> Clipboard {
        Clipboard::Own(String::new())
    }
}

impl Clipboard {
    fn open(&mut self) -> Result<(), String> {
        if matches!(self, Clipboard::Desktop) {
            *self = Clipboard::Open(DesktopClipboard::open()?);
        }
        Ok(())
    }

    /// Returns the text in the clipboard, "" if it contains none, or the desktop's reason if it
    /// refuses.
    pub fn text(&mut self) -> Result<String, String> {
        self.open()?;
        let text = match self {
            Clipboard::Own(text) => return Ok(text.clone()),
            Clipboard::Open(opened) => opened.text()?,
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
            Clipboard::Open(opened) => opened.set_text(text)?,
            Clipboard::Desktop => unreachable!("it was opened"),
        }
        Ok(())
    }
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
