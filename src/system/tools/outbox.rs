//! What a game has for tools, and what its console asks of the run: noted while a frame is played,
//! taken at the place of the frame where tools are answered. Knows no connection.

/// The most messages of one frame; what is more is dropped and counted.
pub const SENT_MAX: usize = 256;
/// And the most bytes of them all.
pub const SENT_BYTES_MAX: usize = 4 << 20;

/// What a command of the console wants of the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// To stand, or to go on where it stands.
    Pause,
    /// What changed in the folder.
    Refresh,
    /// The resources of a kind again.
    Reload(String),
}

/// What waits until it is taken.
#[derive(Default)]
pub struct Outbox {
    /// Whether anybody follows what the game sends; nothing is kept otherwise.
    pub is_heard: bool,
    messages: Vec<String>,
    bytes: usize,
    dropped: usize,
    wishes: Vec<Wish>,
}

impl Outbox {
    /// Keeps a message, where somebody hears it and there is room.
    pub fn send(&mut self, message: String) {
        if !self.is_heard {
            return;
        }
        if self.messages.len() >= SENT_MAX || self.bytes + message.len() > SENT_BYTES_MAX {
            self.dropped += 1;
            return;
        }
        self.bytes += message.len();
        self.messages.push(message);
    }

    /// What was sent since the last time, and how much more did not fit.
    pub fn take(&mut self) -> (Vec<String>, usize) {
        self.bytes = 0;
        (std::mem::take(&mut self.messages), std::mem::take(&mut self.dropped))
    }

    /// Wishes something, once.
    pub fn wish(&mut self, wish: Wish) {
        if !self.wishes.contains(&wish) {
            self.wishes.push(wish);
        }
    }

    pub fn take_wishes(&mut self) -> Vec<Wish> {
        std::mem::take(&mut self.wishes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_hears_is_not_kept_and_what_does_not_fit_is_counted() {
        let mut outbox = Outbox::default();
        outbox.send("unheard".to_string());
        assert_eq!(outbox.take(), (Vec::new(), 0));
        outbox.is_heard = true;
        for _ in 0..SENT_MAX + 3 {
            outbox.send("{}".to_string());
        }
        let (messages, dropped) = outbox.take();
        assert_eq!((messages.len(), dropped), (SENT_MAX, 3));
        outbox.send("x".repeat(SENT_BYTES_MAX + 1));
        outbox.send("y".to_string());
        assert_eq!(outbox.take(), (vec!["y".to_string()], 1));
    }

    #[test]
    fn a_wish_is_there_once() {
        let mut outbox = Outbox::default();
        outbox.wish(Wish::Refresh);
        outbox.wish(Wish::Refresh);
        outbox.wish(Wish::Reload("unit".to_string()));
        assert_eq!(outbox.take_wishes(), [Wish::Refresh, Wish::Reload("unit".to_string())]);
        assert!(outbox.take_wishes().is_empty());
    }
}
