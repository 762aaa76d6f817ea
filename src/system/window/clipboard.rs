//! The clipboard: the desktop's, or one of the game's own where runs must be equal or there is no
//! desktop.

/// The most bytes that are put there or taken from there.
pub const CLIPBOARD_BYTES_MAX: usize = 16 << 20;

/// A clipboard.
pub enum Clipboard {
    /// Nobody else sees it.
    Own(String),
    /// The desktop's, not opened yet.
    Desktop,
    Open(arboard::Clipboard),
}

impl Default for Clipboard {
    fn default() -> Clipboard {
        Clipboard::Own(String::new())
    }
}

impl Clipboard {
    fn open(&mut self) -> Result<(), String> {
        if matches!(self, Clipboard::Desktop) {
            let opened = arboard::Clipboard::new();
            *self = Clipboard::Open(opened.map_err(|reason| words(&reason))?);
        }
        Ok(())
    }

    /// The text that is there, "" where it is none; the words where the desktop refuses.
    pub fn text(&mut self) -> Result<String, String> {
        self.open()?;
        let text = match self {
            Clipboard::Own(text) => return Ok(text.clone()),
            Clipboard::Open(clipboard) => match clipboard.get_text() {
                Ok(text) => text,
                Err(arboard::Error::ContentNotAvailable) => String::new(),
                Err(reason) => return Err(words(&reason)),
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
            Clipboard::Open(clipboard) => {
                clipboard.set_text(text).map_err(|reason| words(&reason))?;
            }
            Clipboard::Desktop => unreachable!("it was opened"),
        }
        Ok(())
    }
}

fn words(reason: &arboard::Error) -> String {
    format!("the clipboard cannot be used: {reason}")
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
