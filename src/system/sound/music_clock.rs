//! Music clocks: bars and beats in sound time. Plain arithmetic.

use engine_foundation::hash::IdString32;

/// The most clocks at once.
pub const CLOCKS_MAX: usize = 16;

/// A running clock.
#[derive(Clone, Debug, PartialEq)]
pub struct MusicClock {
    pub id: IdString32,
    pub name: String,
    /// Start, in seconds of sound time.
    pub start: f64,
    pub beats_per_minute: f64,
    pub beats_per_bar: f64,
    /// The last bar for which an event was sent, from 1; 0 before the first.
    pub last_bar: u64,
}

/// The grid on which a sound begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockGrid {
    Beat,
    Bar,
}

impl MusicClock {
    fn beat_seconds(&self) -> f64 {
        60.0 / self.beats_per_minute
    }

    fn seconds_of(&self, grid: ClockGrid) -> f64 {
        match grid {
            ClockGrid::Beat => self.beat_seconds(),
            ClockGrid::Bar => self.beat_seconds() * self.beats_per_bar,
        }
    }

    /// Returns the bar, from 1, and the beat in it, from 1 with its fraction, at a time.
    pub fn position(&self, time: f64) -> (f64, f64) {
        let beats = ((time - self.start) / self.beat_seconds()).max(0.0);
        // The tolerance counts a boundary as reached if rounding misses it by a billionth.
        let bar = (beats / self.beats_per_bar + 1e-9).floor();
        (bar + 1.0, (beats - bar * self.beats_per_bar).max(0.0) + 1.0)
    }

    /// Returns the time of the first beat or bar at `time` or later.
    pub fn next(&self, grid: ClockGrid, time: f64) -> f64 {
        let period = self.seconds_of(grid);
        let count = ((time - self.start) / period - 1e-9).ceil().max(0.0);
        self.start + count * period
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_beats_are_quantized_to_their_grid() {
        let clock = MusicClock {
            id: IdString32::new("music"),
            name: "music".to_string(),
            start: 10.0,
            beats_per_minute: 120.0,
            beats_per_bar: 4.0,
            last_bar: 0,
        };
        assert_eq!(clock.position(10.0), (1.0, 1.0));
        assert_eq!(clock.position(11.75), (1.0, 4.5));
        assert_eq!(clock.position(12.0), (2.0, 1.0));
        assert_eq!(clock.position(9.0), (1.0, 1.0));
        assert_eq!(clock.next(ClockGrid::Bar, 10.1), 12.0);
        assert_eq!(clock.next(ClockGrid::Beat, 10.1), 10.5);
        assert_eq!(clock.next(ClockGrid::Bar, 12.0), 12.0);
        assert_eq!(clock.next(ClockGrid::Bar, 3.0), 10.0);
    }
}
