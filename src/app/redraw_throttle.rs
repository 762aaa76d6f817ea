//! Throttle for redrawing a still frame, such as the error report of a stopped game. It does not
//! know the renderer: the caller passes times and triggers.

/// Number of frames drawn without a throttle at first. During them the last frame of the game
/// returns from the renderer and glyphs are rasterized.
const UNTHROTTLED_FRAMES: u32 = 4;
/// Minimum time between two redraws, in seconds, while the player only uses devices.
const ACTIVE_SECONDS: f64 = 0.1;
/// Maximum time between two redraws, in seconds. It repairs window content that was damaged without
/// a notification.
const IDLE_SECONDS: f64 = 1.0;

/// Events since the last check.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct RedrawTrigger {
    /// An immediate redraw is needed: the window changed, or a frame was requested.
    pub changed: bool,
    /// Keys, the mouse or other devices were used.
    pub used: bool,
}

/// State of the throttle of a still frame.
#[derive(Clone, Debug, Default)]
pub struct RedrawThrottle {
    count: u32,
    /// Time of the last redraw.
    last_redraw: f64,
    used: bool,
}

impl RedrawThrottle {
    /// Returns true if a redraw is due at time `now`, in seconds of any clock. The redraw counts as
    /// done then.
    pub fn is_due(&mut self, now: f64, trigger: RedrawTrigger) -> bool {
        self.used |= trigger.used;
        let elapsed = now - self.last_redraw;
        let due = self.count < UNTHROTTLED_FRAMES
            || trigger.changed
            || self.used && elapsed >= ACTIVE_SECONDS
            || elapsed >= IDLE_SECONDS;
        if due {
            (self.count, self.last_redraw, self.used) = (self.count.saturating_add(1), now, false);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of redraws in `looks` checks, at a hundred checks a second.
    fn drawn(looks: u32, trigger: impl Fn(u32) -> RedrawTrigger) -> usize {
        let mut redraws = RedrawThrottle::default();
        let due = |look: &u32| redraws.is_due(f64::from(*look) / 100.0, trigger(*look));
        (0..looks).filter(due).count()
    }

    #[test]
    fn an_idle_display_is_drawn_once_a_second() {
        assert_eq!(drawn(4, |_| RedrawTrigger::default()), 4);
        assert_eq!(drawn(500, |_| RedrawTrigger::default()), 4 + 4);
    }

    #[test]
    fn input_redraws_ten_times_a_second_and_a_change_immediately() {
        let used = drawn(500, |_| RedrawTrigger { used: true, ..RedrawTrigger::default() });
        assert!((50..56).contains(&used), "{used}");
        assert_eq!(
            drawn(500, |_| RedrawTrigger { changed: true, ..RedrawTrigger::default() }),
            500
        );
        // A single mouse move is drawn, although a redraw had just happened.
        assert_eq!(
            drawn(50, |look| RedrawTrigger { used: look == 5, ..RedrawTrigger::default() }),
            5
        );
    }
}
