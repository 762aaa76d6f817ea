//! When a picture that stands still is drawn again: that of a game which an error stopped. Knows no
//! renderer: times and what happened come in.

/// So many pictures are drawn at once: the last one of the game comes back from the renderer, and
/// letters are made, while the first of them are shown.
const FIRST: u32 = 4;
/// How long a picture stands at least while the player only uses devices over it.
const USED_SECONDS: f64 = 0.1;
/// How long it stands at most: whatever spoiled it without a word is mended then.
const STANDING_SECONDS: f64 = 1.0;

/// What happened since it was last asked.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct News {
    /// Something that is to be seen at once: the window changed, or somebody asks for a picture.
    pub changed: bool,
    /// Keys, mouse and the like were used.
    pub used: bool,
}

/// The pictures that were drawn of something that stands still.
#[derive(Clone, Debug, Default)]
pub struct Redraws {
    count: u32,
    /// When the newest was drawn.
    drawn: f64,
    used: bool,
}

impl Redraws {
    /// Whether a picture is due now, in seconds of any clock. It counts as drawn then.
    pub fn is_due(&mut self, now: f64, news: News) -> bool {
        self.used |= news.used;
        let stood = now - self.drawn;
        let due = self.count < FIRST
            || news.changed
            || self.used && stood >= USED_SECONDS
            || stood >= STANDING_SECONDS;
        if due {
            (self.count, self.drawn, self.used) = (self.count.saturating_add(1), now, false);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pictures are drawn of so many looks, a hundred a second.
    fn drawn(looks: u32, news: impl Fn(u32) -> News) -> usize {
        let mut redraws = Redraws::default();
        let due = |look: &u32| redraws.is_due(f64::from(*look) / 100.0, news(*look));
        (0..looks).filter(due).count()
    }

    #[test]
    fn what_stands_still_is_drawn_at_first_and_once_a_second() {
        assert_eq!(drawn(4, |_| News::default()), 4);
        assert_eq!(drawn(500, |_| News::default()), 4 + 4);
    }

    #[test]
    fn devices_have_it_drawn_ten_times_a_second_and_a_change_at_once() {
        let used = drawn(500, |_| News { used: true, ..News::default() });
        assert!((50..56).contains(&used), "{used}");
        assert_eq!(drawn(500, |_| News { changed: true, ..News::default() }), 500);
        // One move of the mouse is seen, although a picture had just been drawn.
        assert_eq!(drawn(50, |look| News { used: look == 5, ..News::default() }), 5);
    }
}
